/*
 * trace.h - what the interposed functions report.
 *
 * All functions preserve errno and may be called in signal handlers. An event in a handler that
 * interrupts the writing of another is not recorded.
 */
#ifndef PRELOAD_TRACE_H
#define PRELOAD_TRACE_H

#include "cmd/preload/ring.h"

#define EXPORT      __attribute__((visibility("default")))
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

enum { TRACE_WAITERS = 1024 };

/* Threads that wait for an object, by its hash: whoever releases an object reports it only if a
 * thread may wait for it. */
extern _Atomic uint32_t trace_waiters[TRACE_WAITERS];

static inline _Atomic uint32_t *trace_waiters_of(uint64_t object)
{
    return &trace_waiters[(object * UINT64_C(0x9e3779b97f4a7c15)) >> 54];
}

/* A wait for another thread begins, or a call that may block; whether it was recorded. The stack
 * begins with the function that calls this one. */
bool trace_wait(ring_kind kind, uint64_t object);
bool trace_call(ring_kind kind, uint64_t object);
/* It has ended. */
void trace_resume(bool recorded, ring_result result);

/* Threads that wait for the object are about to be woken. */
void trace_wake_slow(uint64_t object, uint16_t count);
#define trace_wake(object, count)                                                                  \
    do {                                                                                           \
        uint64_t object_ = (uint64_t)(uintptr_t)(object);                                          \
        if (UNLIKELY(atomic_load_explicit(trace_waiters_of(object_), memory_order_relaxed)))       \
            trace_wake_slow(object_, (count));                                                     \
    } while (0)

/* A thread is about to be created; NULL: it is not recorded. */
ring_slot *trace_create(void *routine, void *arg);
void trace_not_created(ring_slot *slot);
/* The created thread begins. */
void trace_start(ring_slot *slot);

/* The kind of a read or write from its file descriptor. */
ring_kind trace_fd_kind(int fd, ring_kind pipe);
/* The descriptor is something else now. */
void trace_fd_changed(int fd);

/* In a process without threads but this one: nothing is recorded in it. */
void trace_stop(void);

/* ---- stack.c --------------------------------------------------------------------------------- */

typedef struct trace_stacks trace_stacks;

/* The number of the stack that begins with leaf, and goes on at the frame of that function. Sets
 * *added if its frames have to be recorded. 0: there is no memory. */
uint16_t trace_stack(trace_stacks **stacks, uint64_t leaf, const uintptr_t *frame, bool callers,
                     bool *added);
/* The frames of a stack. */
unsigned trace_stack_frames(const trace_stacks *stacks, uint16_t stack, const uint64_t **pcs);
void trace_stacks_free(trace_stacks *stacks);

#endif
