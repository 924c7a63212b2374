/*
 * objects.c - what a thread waits for, in words.
 */
#include "cmd/record/record.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/analyse/waits_for.h"

enum { TEXT = DESCRIPTOR_TEXT + 128 }; /* bytes: also for nouns and numbers */

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

/* "descriptor 7: /tmp/x" */
static int put_fd(const source *s, const ring_record *wait, char *text)
{
    const descriptor *d = descriptors_of(s, wait);
    const int size = sprintf(text, "descriptor %" PRIu32, ring_fd(wait->object));
    return d ? size + descriptor_put(d, text + size) : size;
}

static int put_system(const char *noun, uint64_t id, char *text)
{
    return sprintf(text, "%s %" PRIu32 " of System V", noun, (uint32_t)id);
}

/* Of kinds that have no address. Returns the number of bytes; 0: there is nothing to be said. */
static int describe_fd(const source *s, const ring_record *wait, char *text)
{
    const bool is_system = wait->object & RING_OF_SYSTEM,
               is_fd = !is_system && ring_fd(wait->object) <= INT32_MAX;
    switch ((ring_kind)wait->kind) {
    case RING_NETWORK: return is_fd ? put_fd(s, wait, text) : 0;
    case RING_RECEIVE:
    case RING_SEND:
        return is_system ? put_system("message queue", wait->object, text)
               : is_fd   ? put_fd(s, wait, text)
                         : 0;
    case RING_FILE_LOCK:
        return is_fd ? sprintf(text, "lock of ") + put_fd(s, wait, text + strlen("lock of ")) : 0;
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
