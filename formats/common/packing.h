/* packing.h - compression of the output, selected by the ending of the file name. */
#ifndef PACKING_H
#define PACKING_H

#include <stddef.h>

typedef enum packing { PACKING_NONE, PACKING_ZSTD, PACKING_GZIP } packing;

/* The compression for a path's ending. *stem (may be NULL) is set to the length of the path without
 * that ending. */
packing packing_of_path(const char *path, size_t *stem);

/* ".zst", ".gz" or "". */
const char *packing_ending(packing p);

#endif
