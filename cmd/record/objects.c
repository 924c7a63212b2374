/*
 * objects.c - what a thread waits for, in words.
 */
#include "cmd/record/record.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "formats/analyse/waits_for.h"

enum { TEXT = RING_FD_SIZE + 128 }; /* bytes: for the name of a file, nouns and numbers */

thread *objects_thread(const source *s, uint64_t tid)
{
    for (size_t i = 0; i < s->count; i++) {
        thread *t = s->threads[i];
        if (t->rec && t->tid == tid && t->state != THREAD_ENDED)
            return t;
    }
    return NULL;
}

/* The thread that is joined. It may not have begun. That of a thread which has ended may be the
 * pthread_t of another one, which is created later. */
static const thread *joined(const source *s, uint64_t self)
{
    for (size_t i = 0; i < s->count; i++) {
        const thread *t = s->threads[i];
        if (t->number && t->self == self && t->state != THREAD_ENDED)
            return t;
    }
    return NULL;
}

static const char *noun_of(uint8_t kind)
{
    switch ((ring_kind)kind) {
    case RING_MUTEX: return "mutex";
    case RING_READ_LOCK:
    case RING_WRITE_LOCK: return "read-write lock";
    case RING_COND: return "condition variable";
    case RING_SEM: return "semaphore";
    case RING_BARRIER: return "barrier";
    case RING_FUTEX: return "futex";
    case RING_JOIN:
    case RING_SLEEP:
    case RING_POLL:
    case RING_SIGNAL:
    case RING_NETWORK:
    case RING_RECEIVE:
    case RING_SEND:
    case RING_FILE_LOCK:
    case RING_SYSTEM_SEM:
    case RING_FILE:
    case RING_CHILD:
    case RING_NO_WAIT: break;
    }
    return NULL;
}

/* ---- file descriptors ------------------------------------------------------------------------ */

void objects_name_fd(source *s, const ring_record *part)
{
    if (part->flags >= s->fd_count) {
        const size_t count = 2U * part->flags + 16;
        void *grown = reallocarray(s->fds, count, sizeof *s->fds);
        if (!grown) {
            s->failed = true;
            return;
        }
        s->fds = grown;
        memset(s->fds[s->fd_count], 0, (count - s->fd_count) * sizeof *s->fds);
        s->fd_count = count;
    }
    char *bytes = s->fds[part->flags];
    if (part->kind == 0)
        memset(bytes, 0, RING_FD_SIZE);
    memcpy(bytes + part->kind * sizeof part->object, &part->object, sizeof part->object);
}

const char *objects_queue(const source *s, const ring_record *call)
{
    static const char nameless[] = "anon_inode:"; /* the same for all of that type */
    if ((call->kind != RING_RECEIVE && call->kind != RING_SEND) || call->object >= s->fd_count)
        return NULL;
    const char *bytes = s->fds[call->object];
    return bytes[0] == RING_FD_LINK && strncmp(bytes + 1, nameless, strlen(nameless)) != 0
               ? bytes + 1
               : NULL;
}

static int put_address(char *text, const char bytes[RING_FD_SIZE - 1])
{
    union {
        struct sockaddr any;
        struct sockaddr_in in;
        struct sockaddr_in6 in6;
        struct sockaddr_un un;
    } a;
    char host[INET6_ADDRSTRLEN];
    _Static_assert(sizeof a < RING_FD_SIZE, "an address has room");
    memcpy(&a, bytes, sizeof a);
    if (a.any.sa_family == AF_INET && inet_ntop(AF_INET, &a.in.sin_addr, host, sizeof host))
        return sprintf(text, "%s:%u", host, ntohs(a.in.sin_port));
    if (a.any.sa_family == AF_INET6 && inet_ntop(AF_INET6, &a.in6.sin6_addr, host, sizeof host))
        return sprintf(text, "[%s]:%u", host, ntohs(a.in6.sin6_port));
    if (a.any.sa_family == AF_UNIX && a.un.sun_path[0])
        return sprintf(text, "%.*s", (int)sizeof a.un.sun_path, a.un.sun_path);
    if (a.any.sa_family == AF_UNIX) /* an abstract name */
        return sprintf(text, "@%.*s", (int)sizeof a.un.sun_path - 1, a.un.sun_path + 1);
    return sprintf(text, "a socket of family %u", a.any.sa_family);
}

/* "descriptor 7: /tmp/x" */
static int put_fd(const source *s, uint64_t fd, char *text)
{
    const char *bytes = fd < s->fd_count ? s->fds[fd] : "";
    int size = sprintf(text, "descriptor %" PRIu64, fd);
    switch (bytes[0]) {
    case RING_FD_LINK: return size + sprintf(text + size, ": %.*s", RING_FD_SIZE - 1, bytes + 1);
    case RING_FD_PEER:
        size += sprintf(text + size, ": ");
        return size + put_address(text + size, bytes + 1);
    case RING_FD_OWN:
        size += sprintf(text + size, ": at ");
        return size + put_address(text + size, bytes + 1);
    default: return size;
    }
}

static int put_system(const char *noun, uint64_t id, char *text)
{
    return sprintf(text, "%s %" PRIu32 " of System V", noun, (uint32_t)id);
}

/* Of kinds that have no address. Returns the number of bytes; 0: there is nothing to be said. */
static int describe_fd(const source *s, const ring_record *wait, char *text)
{
    const bool is_system = wait->object >> 32 == 1, is_fd = wait->object <= INT32_MAX;
    switch ((ring_kind)wait->kind) {
    case RING_NETWORK: return is_fd ? put_fd(s, wait->object, text) : 0;
    case RING_RECEIVE:
    case RING_SEND:
        return is_system ? put_system("message queue", wait->object, text)
               : is_fd   ? put_fd(s, wait->object, text)
                         : 0;
    case RING_FILE_LOCK:
        return is_fd
                   ? sprintf(text, "lock of ") + put_fd(s, wait->object, text + strlen("lock of "))
                   : 0;
    case RING_SYSTEM_SEM: return is_system ? put_system("semaphores", wait->object, text) : 0;
    default: return 0;
    }
}

/* ---- logs ------------------------------------------------------------------------------------ */

/* Writes what the thread begins to wait for. Returns the number of bytes; 0: it is not known. */
static int describe(const source *s, const thread *t, const ring_record *wait, char text[TEXT])
{
    const thread *other = wait->kind == RING_JOIN ? joined(s, wait->object)
                          : t->holder             ? objects_thread(s, t->holder)
                                                  : NULL;
    const char *noun = noun_of(wait->kind);
    int size = 0;
    if (wait->kind == RING_JOIN && other)
        size = sprintf(text, WAITS_FOR_END "%" PRIu64, other->number);
    else if (noun)
        size = sprintf(text, "%s 0x%" PRIx64, noun, wait->object);
    else
        size = describe_fd(s, wait, text);
    if (noun && other)
        size += sprintf(text + size, WAITS_FOR_HOLDER "%" PRIu64, other->number);
    else if (noun && t->holder)
        size += sprintf(text + size, " held by thread %" PRIu64, t->holder);
    if (size > 0 && wait->flags & RING_TIMED)
        size += sprintf(text + size, ", with a time-out");
    return size;
}

void objects_log_wait(const source *s, thread *t, const ring_record *wait)
{
    char text[TEXT];
    t->held_by = t->holder;
    if (describe(s, t, wait, text) > 0)
        gotrace_rec_log(t->rec, 0, WAITS_FOR, text, NULL, 0);
}

/* If it is known that a thread goes on, nothing has to be said. */
void objects_log_release(const source *s, const thread *by, uint64_t object)
{
    char text[TEXT];
    for (size_t i = 0; i < s->count; i++) {
        thread *t = s->threads[i];
        if (t->state != THREAD_WAITS || t->wait.object != object || t->held_by != by->tid ||
            t->first < t->end)
            continue;
        sprintf(text, "%s 0x%" PRIx64 WAITS_FOR_WAITER "%" PRIu64, noun_of(t->wait.kind), object,
                t->number);
        gotrace_rec_log(by->rec, 0, WAITS_FOR_RELEASED, text, NULL, 0);
        t->held_by = 0;
    }
}
