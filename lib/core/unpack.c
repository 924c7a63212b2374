#include "core/unpack.h"

#include <stddef.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

struct gt_unpacker {
    gt_heap *heap;
    gt_packing packing;
    ZSTD_DCtx *zstd;
    z_stream gzip;
    bool has_gzip; /* gzip was initialized */
    bool open;     /* within a frame or member */
    bool begun;    /* one frame or member ended */
};

gt_packing gt_packing_of(const uint8_t *p, size_t n)
{
    /* A gzip member begins with two magic bytes and the compression method, which is always 8. */
    if (n >= 2 && p[0] == 0x1f && p[1] == 0x8b && (n == 2 || p[2] == 8))
        return GT_GZIP;
    if (n < 4)
        return GT_PLAIN;
    uint32_t magic = p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
    /* pzstd begins with a skippable frame, which has one of 16 magic numbers. */
    bool is_zstd = magic == ZSTD_MAGICNUMBER ||
                   (magic & ZSTD_MAGIC_SKIPPABLE_MASK) == ZSTD_MAGIC_SKIPPABLE_START;
    return is_zstd ? GT_ZSTD : GT_PLAIN;
}

/* zlib's free function does not pass the size. */
typedef union block {
    size_t size;
    max_align_t align;
} block;

static voidpf allocate(voidpf heap, uInt count, uInt size)
{
    if (size != 0 && count > (SIZE_MAX - sizeof(block)) / size)
        return Z_NULL;
    size_t all = sizeof(block) + (size_t)count * size;
    block *b = gt_resize(heap, NULL, 0, all);
    if (!b)
        return Z_NULL;
    b->size = all;
    return b + 1;
}

static void release(voidpf heap, voidpf memory)
{
    block *b = (block *)memory - 1;
    gt_free(heap, b, b->size);
}

gt_unpacker *gt_unpacker_new(gt_packing packing, gt_heap *heap)
{
    gt_unpacker *u = gt_calloc(heap, 1, sizeof *u);
    if (!u)
        return NULL;
    u->heap = heap;
    u->packing = packing;
    if (packing == GT_ZSTD) {
        /* The only memory outside the heap: zstd's stable interface takes no allocator. Zstd's
         * default window limit bounds its size. */
        u->zstd = ZSTD_createDCtx();
    } else {
        enum { GZIP_ALONE = 16 }; /* accept only gzip, not zlib or raw data: zlib.h, inflateInit2 */
        u->gzip = (z_stream){.zalloc = allocate, .zfree = release, .opaque = heap};
        u->has_gzip = inflateInit2(&u->gzip, MAX_WBITS + GZIP_ALONE) == Z_OK;
    }
    if (u->zstd || u->has_gzip)
        return u;
    gt_unpacker_free(u);
    return NULL;
}

void gt_unpacker_free(gt_unpacker *u)
{
    if (!u)
        return;
    ZSTD_freeDCtx(u->zstd);
    if (u->has_gzip)
        inflateEnd(&u->gzip);
    gt_free(u->heap, u, sizeof *u);
}

static const char *name_of(const gt_unpacker *u)
{
    return u->packing == GT_ZSTD ? "zstd" : "gzip";
}

static gotrace_rule rule_of(const gt_unpacker *u)
{
    return u->packing == GT_ZSTD ? GOTRACE_RULE_SYSTEM_ZSTD : GOTRACE_RULE_SYSTEM_GZIP;
}

static gotrace_status damaged(const gt_unpacker *u, const char *why, gotrace_error *error)
{
    return gt_error_set(error, rule_of(u), GT_NO_PLACE, "the %s data is damaged: %s", name_of(u),
                        why);
}

static gotrace_status unpack_zstd(gt_unpacker *u, gt_unpack_buffers *b, gotrace_error *error)
{
    ZSTD_inBuffer in = {b->in, b->in_size, b->in_used};
    ZSTD_outBuffer out = {b->out, b->out_size, b->out_used};
    /* Between two frames, a call without input would start the next frame. */
    while (in.pos < in.size || u->open) {
        size_t in_before = in.pos, out_before = out.pos;
        size_t left = ZSTD_decompressStream(u->zstd, &out, &in);
        b->in_used = in.pos;
        b->out_used = out.pos;
        if (ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation)
            return gt_error_set(error, GOTRACE_RULE_SYSTEM_MEMORY, GT_NO_PLACE, "out of memory");
        if (ZSTD_isError(left))
            return damaged(u, ZSTD_getErrorName(left), error);
        u->open = left != 0;
        if (out.pos == out.size || (in.pos == in_before && out.pos == out_before))
            break;
    }
    return GOTRACE_OK;
}

/* Between gzip members, or after the last: skips padding of zeros, as gzip(1) does. */
static bool begin_member(gt_unpacker *u, gt_unpack_buffers *b)
{
    while (u->begun && b->in_used < b->in_size && b->in[b->in_used] == 0)
        b->in_used++;
    if (b->in_used == b->in_size)
        return false;
    inflateReset(&u->gzip);
    u->open = true;
    return true;
}

static gotrace_status unpack_gzip(gt_unpacker *u, gt_unpack_buffers *b, gotrace_error *error)
{
    z_stream *z = &u->gzip;
    while ((u->open || begin_member(u, b)) && b->out_used < b->out_size) {
        /* The buffer sizes fit into uInt. */
        z->next_in = (z_const Bytef *)b->in + b->in_used;
        z->avail_in = (uInt)(b->in_size - b->in_used);
        z->next_out = b->out + b->out_used;
        z->avail_out = (uInt)(b->out_size - b->out_used);
        int result = inflate(z, Z_NO_FLUSH);
        b->in_used = b->in_size - z->avail_in;
        b->out_used = b->out_size - z->avail_out;
        if (result == Z_BUF_ERROR)
            break;
        if (result == Z_MEM_ERROR)
            return gt_error_memory(error, u->heap);
        if (result != Z_OK && result != Z_STREAM_END)
            return damaged(u, z->msg ? z->msg : "it needs a dictionary", error);
        u->open = result != Z_STREAM_END;
        u->begun = u->begun || !u->open;
    }
    return GOTRACE_OK;
}

gotrace_status gt_unpack(gt_unpacker *u, gt_unpack_buffers *b, gotrace_error *error)
{
    return u->packing == GT_ZSTD ? unpack_zstd(u, b, error) : unpack_gzip(u, b, error);
}

bool gt_unpack_is_open(const gt_unpacker *u)
{
    return u->open;
}

void gt_unpack_cut_off(const gt_unpacker *u, gotrace_error *error)
{
    gt_error_set(error, rule_of(u), GT_NO_PLACE, "the %s data is cut off", name_of(u));
}
