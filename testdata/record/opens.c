/*
 * opens.c - a library to be preloaded: the paths of files that a program opens, in the file
 * $OPENED. For tests/record.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int open_function(const char *path, int flags, mode_t mode);

static int note(const char *function, const char *path, int flags, mode_t mode)
{
    open_function *real = (open_function *)dlsym(RTLD_NEXT, function);
    const char *opened = getenv("OPENED");
    const int fd = opened ? real(opened, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    if (fd >= 0) {
        char line[4096];
        const size_t size = strnlen(path, sizeof line - 1);
        memcpy(line, path, size);
        line[size] = '\n';
        (void)!write(fd, line, size + 1);
        close(fd);
    }
    return real(path, flags, mode);
}

#define OPEN(name)                                                                                 \
    int name(const char *path, int flags, ...)                                                     \
    {                                                                                              \
        va_list rest;                                                                              \
        va_start(rest, flags);                                                                     \
        const mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, mode_t) : 0;            \
        va_end(rest);                                                                              \
        return note(#name, path, flags, mode);                                                     \
    }

OPEN(open)
OPEN(open64)
