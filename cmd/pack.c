#include "pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/* What is at least half a frame needs not be gathered. */
enum { FRAME = 256 * 1024, LARGE = FRAME / 2 };

/* The level comes closest to keeping up with what makes the output: by the usual one a timeline
 * takes longer and is not smaller. What is large does without half of the gain to keep up, too. */
enum { LEVEL = 1, LEVEL_OF_LARGE = -3 };

struct pack {
    gotrace_write_fn write;
    void *ctx;
    ZSTD_CCtx *zstd;
    bool begun;   /* a frame was written */
    size_t kept;  /* bytes of plain */
    char *plain;  /* what is less than a frame; FRAME bytes */
    char *packed; /* one frame */
    size_t capacity;
};

pack *pack_new(bool large, gotrace_write_fn write, void *ctx)
{
    pack *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    int level = large ? LEVEL_OF_LARGE : LEVEL;
    p->write = write;
    p->ctx = ctx;
    p->capacity = ZSTD_compressBound(FRAME);
    p->plain = malloc(FRAME);
    p->packed = malloc(p->capacity);
    p->zstd = ZSTD_createCCtx();
    if (p->plain && p->packed && p->zstd &&
        !ZSTD_isError(ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_checksumFlag, 1)) &&
        !ZSTD_isError(ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_compressionLevel, level)))
        return p;
    pack_free(p);
    return NULL;
}

static bool write_frame(pack *p, const void *bytes, size_t size)
{
    size_t packed = ZSTD_compress2(p->zstd, p->packed, p->capacity, bytes, size);
    if (ZSTD_isError(packed)) {
        errno = ENOMEM; /* there is room enough for any frame */
        return false;
    }
    p->begun = true;
    return p->write(p->ctx, p->packed, packed);
}

static bool write_kept(pack *p)
{
    size_t size = p->kept;
    p->kept = 0;
    return size == 0 || write_frame(p, p->plain, size);
}

bool pack_write(pack *p, const void *bytes, size_t size)
{
    const char *rest = bytes;
    while (size > 0) {
        size_t piece = size < FRAME ? size : FRAME;
        if (piece >= LARGE || piece > FRAME - p->kept) {
            if (!write_kept(p))
                return false;
        }
        if (piece >= LARGE) {
            if (!write_frame(p, rest, piece))
                return false;
        } else {
            memcpy(p->plain + p->kept, rest, piece);
            p->kept += piece;
        }
        rest += piece;
        size -= piece;
    }
    return true;
}

bool pack_end(pack *p)
{
    return write_kept(p) && (p->begun || write_frame(p, "", 0));
}

void pack_free(pack *p)
{
    if (!p)
        return;
    ZSTD_freeCCtx(p->zstd);
    free(p->plain);
    free(p->packed);
    free(p);
}
