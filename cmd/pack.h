/*
 * pack.h - compressed output.
 *
 * zstd: consecutive frames, one per buffer, each with a checksum; any decoder reads them as one
 * file. With one frame per buffer instead of one stream, libzstd does not copy its input, which
 * saves a fifth of its time on a timeline; a stream would be 3 % smaller.
 *
 * gzip: one member, because not every decoder reads a second one.
 */
#ifndef PACK_H
#define PACK_H

#include <stdbool.h>
#include <stddef.h>

#include <gotrace.h>

#include "formats/common/packing.h"

typedef struct pack pack;

/* Create a compressor that passes compressed bytes to write. large: the output is large for its
 * content, so zstd uses a level with a third less work. Returns NULL if memory runs out. */
pack *pack_new(packing how, bool large, gotrace_write_fn write, void *ctx);

/* Compress, or buffer until there is more. Returns false with errno set if write fails or memory
 * runs out. */
bool pack_write(pack *p, const void *bytes, size_t size);

/* Write buffered data and the end; without any data, an empty frame or member. */
bool pack_end(pack *p);

void pack_free(pack *p);

#endif
