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
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    MOST_FRAMES = 64,
    MOST_ANSWER = 1 << 20, /* bytes */
    PAUSE_MS = 5,          /* between two calls of waiting.pause */
};

struct symbols {
    pid_t pid;
    int fd;
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

/* The signals of a terminal are not for this process, and nobody looks for its core. */
static void begin_process(int fd)
{
    const struct rlimit none = {0, 0};
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "gotrace-symbols");
    setrlimit(RLIMIT_CORE, &none);
    if (fd > STDERR_FILENO + 1)
        close_range(STDERR_FILENO + 1, (unsigned)fd - 1, 0);
    close_range((unsigned)fd + 1, ~0U, 0);
}

_Noreturn static void serve(int fd, pid_t parent)
{
    gotrace_symbols *table;
    request r;
    begin_process(fd);
    bool good = getppid() == parent && gotrace_symbols_new(NULL, &table, NULL) == GOTRACE_OK;
    while (good && read_all(fd, &r, sizeof r))
        good = r.maps_size > 0 ? add_maps(table, fd, r.maps_size) : resolve(table, fd, &r);
    _exit(0);
}

/* ---- its parent ------------------------------------------------------------------------------ */

symbols *symbols_new(void)
{
    int ends[2];
    symbols *s = calloc(1, sizeof *s);
    const pid_t own = getpid();
    if (!s || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) {
        free(s);
        return NULL;
    }
    s->pid = fork();
    if (s->pid == 0)
        serve(ends[1], own);
    close(ends[1]);
    s->fd = ends[0];
    if (s->pid > 0)
        return s;
    close(s->fd);
    free(s);
    return NULL;
}

void symbols_free(symbols *s)
{
    if (!s)
        return;
    close(s->fd);
    kill(s->pid, SIGKILL);
    while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    free(s->answer);
    free(s);
}

bool symbols_read_maps(symbols *s, const char *maps, size_t size)
{
    const request r = {.maps_size = size};
    return size == 0 || (send_all(s->fd, &r, sizeof r) && send_all(s->fd, maps, size));
}

/* False: the process has ended, or nothing is to be resolved any more. */
static bool receive(const symbols *s, void *to, size_t size, const waiting *w)
{
    char *at = to;
    while (size > 0) {
        struct pollfd state = {.fd = s->fd, .events = POLLIN};
        if (poll(&state, 1, PAUSE_MS) <= 0) {
            if (w->stops())
                return false;
            w->pause(w->ctx);
            continue;
        }
        const ssize_t n = recv(s->fd, at, size, 0);
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
    if (!send_all(s->fd, &r, sizeof r) || !receive(s, &a, sizeof a, w) || a.count == 0 ||
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
