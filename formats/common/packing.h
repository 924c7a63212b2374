/* packing.h - how output is compressed, and the endings of file names that say so. */
#ifndef PACKING_H
#define PACKING_H

#include <stddef.h>

typedef enum packing { PACKING_NONE, PACKING_ZSTD, PACKING_GZIP } packing;

/* The compression that a path's ending asks for. *stem (may be NULL) is the length of the path
 * without that ending. */
packing packing_of_path(const char *path, size_t *stem);

/* ".zst", ".gz" or "". */
const char *packing_ending(packing p);

#endif
