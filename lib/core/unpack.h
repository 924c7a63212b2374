/*
 * unpack.h - streaming decompression of zstd and gzip.
 */
#ifndef GT_UNPACK_H
#define GT_UNPACK_H

#include "core/errors.h"

typedef enum gt_packing { GT_PLAIN, GT_ZSTD, GT_GZIP } gt_packing;

enum { GT_MAGIC = 4 }; /* number of bytes that gt_packing_of needs */

gt_packing gt_packing_of(const uint8_t *bytes, size_t size);

typedef struct gt_unpacker gt_unpacker;

/* A stream of type GT_ZSTD or GT_GZIP; NULL if memory is refused. */
gt_unpacker *gt_unpacker_new(gt_packing packing, gt_heap *heap);
void gt_unpacker_free(gt_unpacker *u);

/* Input, and room for output; the used fields count the bytes consumed and produced. */
typedef struct gt_unpack_buffers {
    const uint8_t *in;
    size_t in_size, in_used;
    uint8_t *out;
    size_t out_size, out_used;
} gt_unpack_buffers;

/* Decompresses until all of `in` is used or `out` is full. Returns GOTRACE_ERROR if the data is
 * damaged; the output before the damage is in `out`. *error has no position. */
gotrace_status gt_unpack(gt_unpacker *u, gt_unpack_buffers *b, gotrace_error *error);

/* Whether the stream is incomplete: within a zstd frame or a gzip member. */
bool gt_unpack_is_open(const gt_unpacker *u);

/* Fills *error for a stream that ends here. */
void gt_unpack_cut_off(const gt_unpacker *u, gotrace_error *error);

#endif
