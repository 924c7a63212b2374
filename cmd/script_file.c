#include "script_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "progress.h"

enum { PIECE = 128 * 1024 };

typedef struct script_file {
    int fd;
    bool begun, ended;  /* the magic was looked at; the file came to its end */
    ZSTD_DStream *zstd; /* NULL: not compressed */
    bool frame_open;    /* zstd wants more of the frame */
    ZSTD_inBuffer in;   /* what was read of the file and is not used yet */
    uint64_t done, total;
    char piece[PIECE];
} script_file;

/* Read more of the file behind what is there. */
static bool fill(script_file *s)
{
    if (s->in.pos > 0) {
        memmove(s->piece, s->piece + s->in.pos, s->in.size - s->in.pos);
        s->in.size -= s->in.pos;
        s->in.pos = 0;
    }
    ssize_t n;
    do
        n = read(s->fd, s->piece + s->in.size, PIECE - s->in.size);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return false;
    s->ended = n == 0;
    s->in.size += (size_t)n;
    s->done += (uint64_t)n;
    progress_update(s->done, s->total);
    return true;
}

static bool begin(script_file *s)
{
    static const unsigned char magic[4] = {0x28, 0xb5, 0x2f, 0xfd};
    s->begun = true;
    while (s->in.size < sizeof magic && !s->ended)
        if (!fill(s))
            return false;
    if (s->in.size < sizeof magic || memcmp(s->piece, magic, sizeof magic) != 0)
        return true;
    s->zstd = ZSTD_createDStream();
    if (!s->zstd)
        errno = ENOMEM;
    return s->zstd != NULL;
}

static ssize_t read_plain(script_file *s, char *buffer, size_t size)
{
    if (s->in.pos == s->in.size && !s->ended && !fill(s))
        return -1;
    size_t n = s->in.size - s->in.pos;
    n = n < size ? n : size;
    memcpy(buffer, s->piece + s->in.pos, n);
    s->in.pos += n;
    return (ssize_t)n;
}

static ssize_t read_zstd(script_file *s, char *buffer, size_t size)
{
    ZSTD_outBuffer plain = {buffer, size, 0};
    while (plain.pos == 0) {
        if (s->in.pos == s->in.size && !s->ended && !fill(s))
            return -1;
        bool dry = s->in.pos == s->in.size;
        if (dry && s->ended && !s->frame_open)
            return 0;
        size_t left = ZSTD_decompressStream(s->zstd, &plain, &s->in);
        if (ZSTD_isError(left) || (dry && s->ended && left > 0 && plain.pos == 0)) {
            /* Damaged, or cut off in the middle of a frame. */
            errno = EBADMSG;
            return -1;
        }
        s->frame_open = left > 0;
    }
    return (ssize_t)plain.pos;
}

static ssize_t input_read(void *cookie, char *buffer, size_t size)
{
    script_file *s = cookie;
    if (!s->begun && !begin(s))
        return -1;
    return s->zstd ? read_zstd(s, buffer, size) : read_plain(s, buffer, size);
}

static int input_close(void *cookie)
{
    script_file *s = cookie;
    ZSTD_freeDStream(s->zstd);
    int closed = close(s->fd);
    free(s);
    return closed;
}

FILE *script_file_open(int fd)
{
    struct stat file;
    script_file *s = malloc(sizeof *s);
    if (!s)
        return NULL;
    *s = (script_file){.fd = fd};
    s->in.src = s->piece;
    if (fstat(fd, &file) == 0 && S_ISREG(file.st_mode))
        s->total = (uint64_t)file.st_size;
    FILE *stream = fopencookie(s, "r",
                               (cookie_io_functions_t){.read = input_read, .close = input_close});
    if (!stream)
        free(s);
    return stream;
}
