/*
 * objects.c - what a thread waits for, in words.
 */
#include "cmd/record/record.h"

#include <inttypes.h>
#include <stdio.h>

#include "formats/analyse/waits_for.h"

enum { TEXT = 128 }; /* bytes: for nouns and numbers */

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
    if (noun && other)
        size += sprintf(text + size, WAITS_FOR_HOLDER "%" PRIu64, other->number);
    else if (noun && t->holder)
        size += sprintf(text + size, " held by thread %" PRIu64, t->holder);
    if (size > 0 && wait->flags)
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
