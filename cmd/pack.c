#include "cmd/pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

/* Pieces of at least half a frame are compressed directly, without buffering. */
enum { FRAME = 256 * 1024, LARGE = FRAME / 2 };

/* Level 1 comes closest to the speed at which the output is produced; with the default level a
 * timeline takes longer and is not smaller. A large output uses a faster level, with half of the
 * compression. */
enum { LEVEL = 1, LEVEL_OF_LARGE = -3 };

struct pack {
    gotrace_write_fn write;
    void *ctx;
    z_stream gzip;
    bool is_gzip;
    ZSTD_CCtx *zstd;
    bool begun;      /* at least one frame was written */
    size_t buffered; /* bytes in plain */
    char *plain;     /* zstd: buffered bytes, less than a frame; FRAME bytes */
    char *packed;    /* one frame, or a piece of the gzip member */
    size_t capacity;
};

static bool begin_zstd(pack *p, bool large)
{
    int level = large ? LEVEL_OF_LARGE : LEVEL;
    p->capacity = ZSTD_compressBound(FRAME);
    p->plain = malloc(FRAME);
    p->packed = malloc(p->capacity);
    p->zstd = ZSTD_createCCtx();
    return p->plain && p->packed && p->zstd &&
           !ZSTD_isError(ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_checksumFlag, 1)) &&
           !ZSTD_isError(ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_compressionLevel, level));
}

static bool begin_gzip(pack *p)
{
    enum { GZIP_HEADER = 16, MEMORY = 8 }; /* zlib.h: deflateInit2, and its default */
    p->capacity = FRAME;
    p->packed = malloc(p->capacity);
    p->is_gzip = p->packed &&
                 deflateInit2(&p->gzip, Z_BEST_SPEED, Z_DEFLATED, MAX_WBITS + GZIP_HEADER, MEMORY,
                              Z_DEFAULT_STRATEGY) == Z_OK;
    return p->is_gzip;
}

pack *pack_new(packing how, bool large, gotrace_write_fn write, void *ctx)
{
    pack *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->write = write;
    p->ctx = ctx;
    if (how == PACKING_GZIP ? begin_gzip(p) : begin_zstd(p, large))
        return p;
    pack_free(p);
    return NULL;
}

/* Compress a piece of at most FRAME bytes; with flush Z_FINISH, also write the end. */
static bool deflate_piece(pack *p, const void *bytes, size_t size, int flush)
{
    p->gzip.next_in = (z_const Bytef *)bytes;
    p->gzip.avail_in = (uInt)size;
    do {
        p->gzip.next_out = (Bytef *)p->packed;
        p->gzip.avail_out = (uInt)p->capacity;
        /* All memory was allocated at the start, so it cannot fail. */
        deflate(&p->gzip, flush);
        size_t packed = p->capacity - p->gzip.avail_out;
        if (packed > 0 && !p->write(p->ctx, p->packed, packed))
            return false;
    } while (p->gzip.avail_out == 0);
    return true;
}

static bool write_frame(pack *p, const void *bytes, size_t size)
{
    size_t packed = ZSTD_compress2(p->zstd, p->packed, p->capacity, bytes, size);
    if (ZSTD_isError(packed)) {
        errno = ENOMEM; /* the buffer is large enough for any frame */
        return false;
    }
    p->begun = true;
    return p->write(p->ctx, p->packed, packed);
}

static bool write_buffered(pack *p)
{
    size_t size = p->buffered;
    p->buffered = 0;
    return size == 0 || write_frame(p, p->plain, size);
}

/* Compress a piece of at most FRAME bytes, or buffer it. */
static bool add_piece(pack *p, const void *bytes, size_t size)
{
    if ((size >= LARGE || size > FRAME - p->buffered) && !write_buffered(p))
        return false;
    if (size >= LARGE)
        return write_frame(p, bytes, size);
    memcpy(p->plain + p->buffered, bytes, size);
    p->buffered += size;
    return true;
}

bool pack_write(pack *p, const void *bytes, size_t size)
{
    const char *rest = bytes;
    bool done = true;
    while (done && size > 0) {
        size_t piece = size < FRAME ? size : FRAME;
        done = p->is_gzip ? deflate_piece(p, rest, piece, Z_NO_FLUSH) : add_piece(p, rest, piece);
        rest += piece;
        size -= piece;
    }
    return done;
}

bool pack_end(pack *p)
{
    if (p->is_gzip)
        return deflate_piece(p, "", 0, Z_FINISH);
    return write_buffered(p) && (p->begun || write_frame(p, "", 0));
}

void pack_free(pack *p)
{
    if (!p)
        return;
    if (p->is_gzip)
        deflateEnd(&p->gzip);
    ZSTD_freeCCtx(p->zstd);
    free(p->plain);
    free(p->packed);
    free(p);
}
