#include "cmd/script_file.h"

#include <errno.h>
#include <stdlib.h>

#include "cmd/progress.h"

typedef struct script_file {
    gotrace_source *source;
    uint64_t offset;
} script_file;

static ssize_t input_read(void *cookie, char *buffer, size_t size)
{
    script_file *s = cookie;
    size_t got;
    gotrace_error error = {.os_error = EIO};
    if (gotrace_source_read(s->source, s->offset, buffer, size, &got, &error) < 0) {
        errno = error.os_error;
        return -1;
    }
    s->offset += got;
    progress_update(s->offset, gotrace_source_size(s->source));
    return (ssize_t)got;
}

static int input_seek(void *cookie, off64_t *offset, int whence)
{
    script_file *s = cookie;
    if (whence != SEEK_SET || *offset < 0) {
        errno = EINVAL;
        return -1;
    }
    s->offset = (uint64_t)*offset;
    return 0;
}

static int input_close(void *cookie)
{
    free(cookie);
    return 0;
}

FILE *script_file_open(gotrace_source *source)
{
    script_file *s = malloc(sizeof *s);
    if (!s)
        return NULL;
    *s = (script_file){.source = source};
    FILE *stream = fopencookie(
        s, "r",
        (cookie_io_functions_t){.read = input_read, .seek = input_seek, .close = input_close});
    if (!stream)
        free(s);
    return stream;
}
