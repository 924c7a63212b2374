/*
 * trace.h - what the interposed functions report.
 *
 * All functions preserve errno and may be called in signal handlers. An event in a handler that
 * interrupts the writing of another is not recorded. A handler may also jump out of that, with
 * siglongjmp: at every instruction, what is written so far is valid.
 */
#ifndef PRELOAD_TRACE_H
#define PRELOAD_TRACE_H

#include <stddef.h>
#include <sys/types.h>

#include "cmd/preload/ring.h"

#define EXPORT      __attribute__((visibility("default")))
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

enum { TRACE_WAITERS = 1024 };

/* Threads that wait for an object, by its hash: whoever releases an object reports it only if a
 * thread may wait for it. A thread that begins to wait between that test and the release is shown
 * as unblocked by itself. */
extern _Atomic uint32_t trace_waiters[TRACE_WAITERS];

static inline _Atomic uint32_t *trace_waiters_of(uint64_t object)
{
    return &trace_waiters[(object * UINT64_C(0x9e3779b97f4a7c15)) >> 54];
}

/* A wait for another thread begins, or a call that may block; whether it was recorded. The stack
 * begins with the function that calls this one. timed: it ends at some time. */
bool trace_wait(ring_kind kind, uint64_t object, bool timed);
bool trace_call(ring_kind kind, uint64_t object);
/* It has ended. */
void trace_resume(bool recorded, ring_result result);
/* A socket is connected now, unless that is not complete; less than 0: none is. */
void trace_connected(int fd);

/* Threads that wait for the object are about to be woken. shared: see RING_WAKE. */
void trace_wake_slow(uint64_t object, uint16_t count, uint8_t shared);
#define trace_wake(object, count)                                                                  \
    do {                                                                                           \
        uint64_t object_ = (uint64_t)(uintptr_t)(object);                                          \
        if (UNLIKELY(atomic_load_explicit(trace_waiters_of(object_), memory_order_relaxed)))       \
            trace_wake_slow(object_, (count), 0);                                                  \
    } while (0)

/* What the C library stores in a semaphore: its value and, above, the number of waiting threads of
 * all processes that share it, if they do. Source: glibc, struct new_sem
 * (sysdeps/nptl/internaltypes.h); on 32-bit machines it is another one. */
typedef struct trace_sem {
    uint64_t data;
    int shared;
} trace_sem;

static inline bool trace_is_shared(const trace_sem *s)
{
    return sizeof(void *) == sizeof(uint64_t) && s->shared != 0;
}

/* What a created thread is to run. */
typedef struct trace_started {
    ring_slot *slot;
    void *routine, *arg;
    atomic_bool taken;
} trace_started;

/* A thread is about to be created; NULL: it is not recorded. */
trace_started *trace_create(void *routine, void *arg);
void trace_not_created(trace_started *started);
/* The created thread begins. */
void trace_start(trace_started *started, void **routine, void **arg);

/* Of a signal handler that interrupts the thread, with all signals blocked: what it executes, after
 * so many periods. */
void trace_sample(const void *context, unsigned periods);

/* A thread of the process was given a name: it records that with its next record. */
void trace_name_set(void);

/* The thread is about to jump, perhaps out of a signal handler that interrupted the writing of a
 * record: that is given up. If it goes on nevertheless, its record may be lost. */
void trace_jump(void);

/* The process is about to be recorded in that memory. */
ring_attached trace_prepare_process(ring *memory, uint32_t image);
/* It is: the calling thread, its first, begins. */
void trace_begin_process(void);
/* In a child: forgets what the thread was doing in the parent. */
void trace_forget_parent(void);

/* ---- process.c ------------------------------------------------------------------------------- */

/* What a process knows of itself. It lies in memory that is zero in a child, however the child was
 * created. */
typedef struct trace_process {
    ring *_Atomic ring; /* NULL: the process is not recorded */
    uint32_t image;     /* number of the program that it executes */
    int32_t pid;
    bool attached; /* the process ran when the library was loaded or recording began */
    bool known;    /* false: a child that was not yet noticed */
} trace_process;

extern trace_process *trace_here; /* NULL: the library is not initialised, or not used */

/* In a child: takes a ring, or is not recorded. */
void trace_forked(void);

static inline void trace_notice_fork(void)
{
    if (UNLIKELY(trace_here && !trace_here->known))
        trace_forked();
}

/* The memory of this process; NULL: it is not recorded. */
static inline ring *trace_ring(void)
{
    trace_notice_fork();
    return trace_here ? atomic_load_explicit(&trace_here->ring, memory_order_acquire) : NULL;
}

/* The name of the first thread. */
void trace_read_name(char name[RING_NAME_SIZE]);
/* Wakes `record`. */
void trace_pulse(void);
/* Whether `record` still reads. */
bool trace_recorder_lives(void);

/* The process is about to execute a program; it has failed to. False: it is not recorded, or it is
 * a child by vfork, which has the memory of its parent. */
bool trace_execute(const char *path);
void trace_not_executed(void);
/* A process was created that executes a program. */
void trace_spawned(pid_t pid, const char *path);

/* ---- descriptors.c --------------------------------------------------------------------------- */

/* The kind of a read or write from its file descriptor. */
ring_kind trace_fd_kind(int fd, ring_kind pipe);
/* Whether calls on the descriptor never wait. Always false if the process is not recorded. */
bool trace_is_nonblocking(int fd);
/* The descriptor, or those from the first to the last, are something else now. */
void trace_fd_changed(int fd);
void trace_fds_changed(unsigned first, unsigned last);

/* Whether what the descriptor, below RING_FDS, is was recorded. */
bool trace_fd_is_named(int fd);
/* What it is, for RING_FD. Returns the number of bytes that are used. */
size_t trace_fd_describe(int fd, ring_descriptor *d);
/* That was recorded. */
void trace_fd_set_named(int fd);
/* In a child: nothing was recorded. */
void trace_fds_forget(void);

/* ---- samples.c ------------------------------------------------------------------------------- */

/* For each process: signals are handled that take samples. False: the process handles them. */
bool trace_samples_begin(void);
/* For the calling thread: one after each period of processor time. Returns the timer; -1: none. */
int trace_timer_new(uint32_t period_ns);
void trace_timer_end(int timer);

/* ---- delay.c --------------------------------------------------------------------------------- */

/* What is needed to read the delay of a thread. */
typedef struct trace_delay {
    int fd; /* 0: not opened yet; -1: it is not known */
    uint64_t device, number;
} trace_delay;

/* For the calling thread. */
void trace_delay_open(trace_delay *d);
/* How long the thread could run and did not. False: it is not known any more. */
bool trace_delay_read(const trace_delay *d, uint64_t *ns);
void trace_delay_close(trace_delay *d);

/* ---- stack.c --------------------------------------------------------------------------------- */

typedef struct trace_stacks trace_stacks;

trace_stacks *trace_stacks_new(void); /* NULL: there is no memory */
/* The number of the stack that begins with leaf, and goes on at the frame of that function. Sets
 * *added if its frames have to be recorded. */
uint16_t trace_stack(trace_stacks *stacks, uint64_t leaf, const uintptr_t *frame, bool callers,
                     bool *added);
/* The frames of a stack. Once they are recorded, it is known. */
unsigned trace_stack_frames(const trace_stacks *stacks, uint16_t stack, const uint64_t **pcs);
void trace_stack_recorded(trace_stacks *stacks, uint16_t stack);
void trace_stacks_free(trace_stacks *stacks);
/* The stack that a signal has interrupted: its handler's third argument. Returns the depth. */
unsigned trace_interrupted(const void *context, uint64_t pcs[RING_FRAMES], bool callers);
/* The start routine of this thread, which is in the function of that frame; 0: unknown. */
uintptr_t trace_start_routine(const uintptr_t *frame);
/* To be called before. */
void trace_find_libc(void);

/* ---- patch.c --------------------------------------------------------------------------------- */

/* Makes all objects that the process has loaded call the functions of this library. */
void trace_patch(void);

#endif
