/*
 * symbols.c - a process that reads the symbols of files.
 *
 * The files are not trusted: they may be damaged, and may change while they are read. libdw maps
 * them into memory, so that a file that becomes shorter is a signal, and one call may take long. A
 * process of its own can crash, and can be ended at any time.
 */
#include "cmd/record/record.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    MOST_FRAMES = 64,
    MOST_ANSWER = 1 << 20, /* bytes */
    PAUSE_MS = 5,          /* between two calls of waiting.pause */
};

struct symbols {
    helper process;
    char *answer; /* strings of the frames */
    size_t room;
};

/* A list of mapped files, which follows, is added; or an address is resolved. */
typedef struct request {
    uint64_t maps_size; /* 0: an address */
    uint64_t pc, max;
} request;

/* Frames follow, and then their strings. */
typedef struct answer {
    uint64_t count, size; /* size: of all that follows */
} answer;

static bool send_all(int fd, const void *bytes, size_t size)
{
    const char *at = bytes;
    while (size > 0) {
        const ssize_t n = send(fd, at, size, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

/* ---- the process ----------------------------------------------------------------------------- */

static bool read_all(int fd, void *to, size_t size)
{
    return recv(fd, to, size, MSG_WAITALL) == (ssize_t)size;
}

static bool add_maps(gotrace_symbols *table, int fd, size_t size)
{
    char path[32], *text = malloc(size);
    const int file = memfd_create("maps", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    const bool good = text && file >= 0 && read_all(fd, text, size) &&
                      write(file, text, size) == (ssize_t)size &&
                      gotrace_symbols_read_maps(table, path, NULL) == GOTRACE_OK;
    if (file >= 0)
        close(file);
    free(text);
    return good;
}

static bool resolve(gotrace_symbols *table, int fd, const request *r)
{
    gotrace_frame frames[MOST_FRAMES];
    const size_t max = r->max < MOST_FRAMES ? r->max : MOST_FRAMES;
    answer a = {.count = gotrace_symbols_resolve(table, r->pc, frames, max)};
    a.size = a.count * sizeof *frames;
    for (size_t i = 0; i < a.count; i++)
        a.size += frames[i].function_size + frames[i].file_size;
    bool good = send_all(fd, &a, sizeof a) && send_all(fd, frames, a.count * sizeof *frames);
    for (size_t i = 0; i < a.count && good; i++)
        good = send_all(fd, frames[i].function, frames[i].function_size) &&
               send_all(fd, frames[i].file, frames[i].file_size);
    return good;
}

static void serve(int fd)
{
    gotrace_symbols *table;
    request r;
    bool good = gotrace_symbols_new(NULL, &table, NULL) == GOTRACE_OK;
    while (good && read_all(fd, &r, sizeof r))
        good = r.maps_size > 0 ? add_maps(table, fd, r.maps_size) : resolve(table, fd, &r);
}

/* ---- its parent ------------------------------------------------------------------------------ */

symbols *symbols_new(void)
{
    symbols *s = calloc(1, sizeof *s);
    if (s && helper_start(&s->process, "gotrace-symbols", serve))
        return s;
    free(s);
    return NULL;
}

void symbols_free(symbols *s)
{
    if (!s)
        return;
    helper_end(&s->process);
    free(s->answer);
    free(s);
}

bool symbols_read_maps(symbols *s, const char *maps, size_t size)
{
    const request r = {.maps_size = size};
    return size == 0 ||
           (send_all(s->process.fd, &r, sizeof r) && send_all(s->process.fd, maps, size));
}

/* False: the process has ended, or nothing is to be resolved any more. */
static bool receive(const symbols *s, void *to, size_t size, const waiting *w)
{
    char *at = to;
    while (size > 0) {
        struct pollfd state = {.fd = s->process.fd, .events = POLLIN};
        if (poll(&state, 1, PAUSE_MS) <= 0) {
            if (w->stops())
                return false;
            w->pause(w->ctx);
            continue;
        }
        const ssize_t n = recv(s->process.fd, at, size, 0);
        if (n <= 0)
            return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

/* The next string of the answer, of which *left bytes are left. */
static bool take_string(const char **string, size_t size, const char **at, size_t *left)
{
    if (size > *left)
        return false;
    *string = *string ? *at : NULL;
    *at += size;
    *left -= size;
    return true;
}

size_t symbols_resolve(symbols *s, uint64_t pc, gotrace_frame *frames, size_t max, const waiting *w)
{
    const request r = {.pc = pc, .max = max};
    answer a;
    if (!send_all(s->process.fd, &r, sizeof r) || !receive(s, &a, sizeof a, w) || a.count == 0 ||
        a.count > max || a.size > MOST_ANSWER || a.size < a.count * sizeof *frames)
        return 0;
    if (a.size > s->room) {
        char *larger = realloc(s->answer, a.size);
        if (!larger)
            return 0;
        s->answer = larger;
        s->room = a.size;
    }
    if (!receive(s, s->answer, a.size, w))
        return 0;
    const char *at = s->answer + a.count * sizeof *frames;
    size_t left = a.size - a.count * sizeof *frames;
    memcpy(frames, s->answer, a.count * sizeof *frames);
    for (size_t i = 0; i < a.count; i++)
        if (!take_string(&frames[i].function, frames[i].function_size, &at, &left) ||
            !take_string(&frames[i].file, frames[i].file_size, &at, &left))
            return 0;
    return a.count;
}
