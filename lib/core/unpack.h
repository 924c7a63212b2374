/*
 * unpack.h - decompression of zstd and gzip as streams, known by their first bytes.
 */
#ifndef GT_UNPACK_H
#define GT_UNPACK_H

#include "core/errors.h"

typedef enum gt_packing { GT_PLAIN, GT_ZSTD, GT_GZIP } gt_packing;

enum { GT_MAGIC = 4 }; /* bytes that gt_packing_of needs */

gt_packing gt_packing_of(const uint8_t *bytes, size_t size);

typedef struct gt_unpacker gt_unpacker;

/* A stream, compressed as GT_ZSTD or GT_GZIP; NULL when memory is refused. */
gt_unpacker *gt_unpacker_new(gt_packing packing, gt_heap *heap);
void gt_unpacker_free(gt_unpacker *u);

/* Bytes that come in (used of size are done with) and room for those that come out. */
typedef struct gt_unpack_buffers {
    const uint8_t *in;
    size_t in_size, in_used;
    uint8_t *out;
    size_t out_size, out_used;
} gt_unpack_buffers;

/* Decompress until all of `in` is used or `out` is full. Returns GOTRACE_ERROR where the data is
 * damaged: what came before is in `out`. *error has no place. */
gotrace_status gt_unpack(gt_unpacker *u, gt_unpack_buffers *b, gotrace_error *error);

/* Whether more has to come: the stream is within a frame of zstd or a member of gzip. */
bool gt_unpack_is_open(const gt_unpacker *u);

/* Fill *error for a stream that ends there. */
void gt_unpack_cut_off(const gt_unpacker *u, gotrace_error *error);

#endif
