/*
 * gotrace_record.h - records execution traces from inside a running program: the tracer of a
 * runtime that is written in C, C++ or Rust.
 *
 * The runtime reports what its scheduler does, one call an event; the recorder does what Go's
 * tracer does: it takes the time, keeps a buffer per proc (up to 1.21) or thread (1.22 and later),
 * numbers the events of each goroutine, stores each stack once, and describes what existed before.
 * Until recording starts, calls only keep track of the state, so that it can be described then.
 *
 * Handles: gotrace_recorder, one for each trace that is recorded at a time; gotrace_rec_thread, one
 * for each thread of the system, which only that thread uses; gotrace_rec_proc, the right to run
 * goroutines, which at most one thread has at a time; gotrace_rec_go, a goroutine (fiber, task).
 *
 * Thread-safety: functions that take a gotrace_rec_thread are called by that thread only; the
 * others by any thread. What a scheduler guarantees anyway is assumed: a goroutine or proc changes
 * its state in one thread at a time, and a thread that goes on with it sees what the one before
 * did. No function is a cancellation point (pthread_testcancel(3)), also if it waits; a thread must
 * not be cancelled asynchronously.
 *
 * Cost: an event takes no lock, makes no system call, allocates nothing and writes to no memory
 * that other threads write, unless its buffer is full (64 KiB), a stack or string is new, or the
 * version is 1.5, whose events have a number in common.
 */
#ifndef GOTRACE_RECORD_H
#define GOTRACE_RECORD_H

#include "gotrace.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gotrace_recorder gotrace_recorder;
typedef struct gotrace_rec_thread gotrace_rec_thread;
typedef struct gotrace_rec_proc gotrace_rec_proc;
typedef struct gotrace_rec_go gotrace_rec_go;

/* ---- the recorder ---------------------------------------------------------------------------- */

/* Sets function, file and line of frames[0] and, for functions that were inlined there, of further
 * frames, innermost first; returns their number, at most max (at least 1). The strings must remain
 * valid until the next call. Called when a generation or the trace ends, once for each address that
 * occurs in it, by the thread that ends it; must not call the recorder. Meanwhile events of the
 * next generation are recorded; threads whose buffer is full wait if max_bytes wait for the output,
 * or with a crash file. pc is a return address, as in the stacks that were recorded. */
typedef size_t (*gotrace_resolve_fn)(void *ctx, uint64_t pc, gotrace_frame *frames, size_t max);

/* A clock: ticks, which must not decrease on a thread. Ticks longer than 20 ns (a frequency below
 * 50 MHz) are divided into shorter ones, so that the times of events have their order; this takes
 * an atomic operation for each event. So ticks must not be shorter than the steps of the clock, if
 * it advances by several at once. */
typedef uint64_t (*gotrace_clock_fn)(void *ctx);

/* Takes a stack: sets pcs to return addresses, innermost first; returns their number, at most max.
 * frame: what the event has as pcs. Called by the thread of an event that is recorded, also in
 * signal handlers if gotrace_rec_cpu_sample is called there; must not call the recorder. */
typedef size_t (*gotrace_stack_fn)(void *ctx, const void *frame, uint64_t *pcs, size_t max);

/* What happens when the output is too slow for the events. In all cases the trace is valid. */
typedef enum gotrace_rec_when_full {
    GOTRACE_REC_WAIT = 0, /* events wait for the output, which another thread has to take */
    GOTRACE_REC_CUT,      /* the trace ends: later events are not recorded */
    GOTRACE_REC_DROP,     /* 1.22 and later: the events of the current generation are dropped, which
                             lasts until the output has taken what waits. Not with a crash file */
} gotrace_rec_when_full;

/* Reports a call that no scheduler can make: its function and what is wrong. Called by the thread
 * that made the call, which holds no lock of the recorder. If it returns, the call does nothing. */
typedef void (*gotrace_misuse_fn)(void *ctx, const char *function, const char *message);

typedef struct gotrace_recorder_options {
    size_t size;
    gotrace_resolve_fn resolve; /* NULL: frames have addresses only */
    void *resolve_ctx;
    gotrace_clock_fn clock; /* NULL: the processor's time stamp counter where it runs at a constant
                               rate, divided by 16, else CLOCK_MONOTONIC */
    void *clock_ctx;
    uint64_t frequency;     /* of that clock, in ticks per second */
    uint64_t generation_ns; /* 1.22 and later: duration of a generation; 0: a second, as in Go;
                                UINT64_MAX: until gotrace_recorder_advance */
    uint64_t max_bytes; /* of buffers that wait for the output, or (flight_ns) that are kept; 0: no
                           limit. Each thread and proc has a buffer of 64 KiB besides */
    uint64_t when_full; /* gotrace_rec_when_full: what happens at max_bytes */
    uint64_t flight_ns; /* 1.22 and later: not 0: a flight recorder, which has no output, and keeps
                           the events of that time at least (max_bytes comes first) for
                           gotrace_recorder_snapshot */
    gotrace_misuse_fn on_misuse; /* not NULL: every call is checked, which takes a lock */
    void *misuse_ctx;
    const char *crash_file; /* not NULL: buffers are in this file, see "after a crash" */
    uint64_t crash_bytes;   /* its size, at least 4 MiB; 0: 64 MiB */
    gotrace_stack_fn stack; /* takes stacks, see GOTRACE_REC_FRAMES; NULL: by frame pointers */
    void *stack_ctx;
} gotrace_recorder_options;

/* Creates a recorder. config: allocator, and limits (memory, which includes buffers); NULL is
 * accepted for both. */
GOTRACE_API gotrace_status gotrace_recorder_new(const gotrace_recorder_options *options,
                                                const gotrace_config *config,
                                                gotrace_recorder **recorder, gotrace_error *error);

/* Starts to record a trace of that version. The output is written by a thread of the recorder with
 * `write`; if it is NULL the caller takes it with gotrace_recorder_read. Fails if the last trace
 * has not been stopped, or not been read to its end. */
GOTRACE_API gotrace_status gotrace_recorder_start(gotrace_recorder *recorder, int version,
                                                  gotrace_write_fn write, void *ctx);

/* The same, into a file descriptor, which stays open. */
GOTRACE_API gotrace_status gotrace_recorder_start_fd(gotrace_recorder *recorder, int version,
                                                     int fd);

/* Flight recorder: writes a trace of what is kept, up to now. Called by any thread while recording
 * goes on. If the world is stopped, waits up to a second until it starts; otherwise the current
 * generation is missing. GOTRACE_ERROR if `write` fails, which does not change the recorder's
 * error. */
GOTRACE_API gotrace_status gotrace_recorder_snapshot(gotrace_recorder *recorder,
                                                     gotrace_write_fn write, void *ctx);

/* What the current or last trace lacks, and how often events waited. */
typedef struct gotrace_recorder_losses {
    uint64_t cut;         /* 1: it ends before gotrace_recorder_stop (GOTRACE_REC_CUT) */
    uint64_t waits;       /* times that an event waited (GOTRACE_REC_WAIT) */
    uint64_t generations; /* that a flight recorder, or GOTRACE_REC_DROP, dropped */
    uint64_t samples;     /* CPU samples that were lost */
} gotrace_recorder_losses;

/* At any time, by one thread at a time. Valid until the next call or until the recorder is freed;
 * the numbers are those at the time of the call. */
GOTRACE_API const gotrace_recorder_losses *gotrace_recorder_lost(gotrace_recorder *recorder);

/* Takes the next part of the trace, which is valid until the next call; waits until there is one.
 * GOTRACE_END after the trace was stopped and all of it was read. Called by one thread at a time.
 */
GOTRACE_API gotrace_status gotrace_recorder_read(gotrace_recorder *recorder, const void **bytes,
                                                 size_t *size);

/* 1.22 and later: ends the current generation, unless the world is stopped. Otherwise it does
 * nothing. */
GOTRACE_API gotrace_status gotrace_recorder_advance(gotrace_recorder *recorder);

/* Stops recording. The trace has all events that were recorded before the call. Waits until `write`
 * has all of it. */
GOTRACE_API gotrace_status gotrace_recorder_stop(gotrace_recorder *recorder);

/* The first error: of `write`, of the allocator or of a limit. */
GOTRACE_API const gotrace_error *gotrace_recorder_error(const gotrace_recorder *recorder);

/* Frees the recorder and all handles. No thread may be in a call or begin another.
 *
 * A child process that is forked has a copy of the recorder, which records nothing: its events
 * have no effect, gotrace_recorder_read returns GOTRACE_END and gotrace_recorder_stop GOTRACE_OK at
 * once, and it may be freed. */
GOTRACE_API void gotrace_recorder_free(gotrace_recorder *recorder);

/* ---- after a crash ---------------------------------------------------------------------------
 *
 * With gotrace_recorder_options.crash_file the recorder creates a file (it must not exist) that is
 * mapped into memory, and keeps there its buffers and what explains them. If the process is killed,
 * at any instruction, the file has every event whose call had returned; gotrace_recover or
 * gotrace-repair(1) makes a trace of it. The file has the whole trace, also what was written to
 * the output; when it is full, the trace ends (gotrace_recorder_losses.cut). That of a flight
 * recorder has what a snapshot would have, and older generations make room for newer ones.
 *
 * gotrace_recorder_free removes the file, unless the output failed. It does not outlive a crash of
 * the system, so a file system in memory (/dev/shm) is a good place.
 */

/* Whether it is a crash file, by its first bytes. */
GOTRACE_API bool gotrace_is_crash_file(gotrace_source *file);

/* Makes a trace of a crash file, with the names that resolve finds; NULL: those of the files that
 * the process had mapped, as gotrace_symbols_resolve. The file is from this machine, and was
 * written by the same release of this library; it may be damaged. */
GOTRACE_API gotrace_status gotrace_recover(gotrace_source *file, gotrace_resolve_fn resolve,
                                           void *resolve_ctx, gotrace_write_fn write, void *ctx,
                                           const gotrace_config *config, gotrace_error *error);

/* ---- threads and procs ----------------------------------------------------------------------- */

/* Return NULL if memory is refused. All functions accept NULL for a handle, and do nothing. */
GOTRACE_API gotrace_rec_thread *gotrace_rec_thread_new(gotrace_recorder *recorder, uint64_t id);
GOTRACE_API gotrace_rec_proc *gotrace_rec_proc_new(gotrace_recorder *recorder, uint64_t id);

/* The thread ends; it must have no proc and no goroutine. */
GOTRACE_API void gotrace_rec_thread_end(gotrace_rec_thread *thread);

/* The thread takes an idle proc, or gives up its own. */
GOTRACE_API void gotrace_rec_proc_start(gotrace_rec_thread *thread, gotrace_rec_proc *proc);
GOTRACE_API void gotrace_rec_proc_stop(gotrace_rec_thread *thread);

/* An idle proc is no longer used: its handle has ended, and its id may be used again. A sweep that
 * it has not ended ends when that is started. */
GOTRACE_API void gotrace_rec_proc_free(gotrace_rec_thread *thread, gotrace_rec_proc *proc);

/* ---- goroutines ------------------------------------------------------------------------------
 *
 * pcs, depth: the stack, innermost first, as return addresses; depth 0: none. At most 128 are kept.
 * GOTRACE_REC_CALLERS in the place of both: the recorder takes the stack, if the event is recorded.
 */

/* As a depth: pcs is the address of a frame, whose callers are found by
 * gotrace_recorder_options.stack or, on x86-64 and ARM64, by frame pointers, which the program must
 * have (-fno-omit-frame-pointer). They end at a frame that is not above the one before, or more
 * than 1 MiB above it. */
#define GOTRACE_REC_FRAMES ((size_t)-1)
/* The callers of the function that has this as its last two arguments. The frame is that
 * function's, or that of the function into which the compiler inlines it. */
#define GOTRACE_REC_CALLERS                                                                        \
    gotrace_rec_frame(__builtin_frame_address(0), GOTRACE_REC_LOCAL), GOTRACE_REC_FRAMES

/* Of GOTRACE_REC_CALLERS. A call in the last statement of a function can be a sibling call, before
 * which the function's frame ends. The compiler cannot make one if the call may read a local object
 * of the function: one that exists until the call returns, and whose address is known outside. */
#ifdef __cplusplus
struct gotrace_rec_local {
    char byte;
    const char *address() const
    {
        return &byte;
    }
};
#define GOTRACE_REC_LOCAL gotrace_rec_local().address()
#else
#define GOTRACE_REC_LOCAL (&(char){0})
#endif
__attribute__((always_inline)) static inline const uint64_t *gotrace_rec_frame(const void *frame,
                                                                               const char *local)
{
    __asm__ volatile("" : : "r"(local) : "memory");
    return (const uint64_t *)frame;
}

typedef enum gotrace_rec_reason {
    GOTRACE_REC_BLOCK = 0, /* unspecified */
    GOTRACE_REC_SLEEP,
    GOTRACE_REC_SEND,
    GOTRACE_REC_RECEIVE,
    GOTRACE_REC_SELECT,
    GOTRACE_REC_SYNC, /* mutex */
    GOTRACE_REC_COND,
    GOTRACE_REC_NETWORK,
    GOTRACE_REC_GC,
    GOTRACE_REC_FOREVER,
    GOTRACE_REC_FUTILE =
        128, /* added to another one: the goroutine was woken in vain. Until 1.21 */
} gotrace_rec_reason;

/* The thread creates a goroutine, which is runnable. start_pc: the function that it starts with,
 * at which its stacks end in the trace; 0: unknown. NULL if memory is refused; the goroutine is
 * then missing in traces. Without a current goroutine, it is created by the runtime. */
GOTRACE_API gotrace_rec_go *gotrace_rec_go_create(gotrace_rec_thread *thread, uint64_t id,
                                                  uint64_t start_pc, const uint64_t *pcs,
                                                  size_t depth);

/* The goroutine runs on the thread's proc. */
GOTRACE_API void gotrace_rec_go_start(gotrace_rec_thread *thread, gotrace_rec_go *go);

/* The same, with a label (1.8 and later), as Go's GC workers. */
GOTRACE_API void gotrace_rec_go_start_label(gotrace_rec_thread *thread, gotrace_rec_go *go,
                                            const char *label);

/* The running goroutine ends; its handle is no longer valid. */
GOTRACE_API void gotrace_rec_go_end(gotrace_rec_thread *thread);

/* The running goroutine yields; is preempted; blocks. */
GOTRACE_API void gotrace_rec_go_sched(gotrace_rec_thread *thread, const uint64_t *pcs,
                                      size_t depth);
GOTRACE_API void gotrace_rec_go_preempt(gotrace_rec_thread *thread, const uint64_t *pcs,
                                        size_t depth);
GOTRACE_API void gotrace_rec_go_park(gotrace_rec_thread *thread, gotrace_rec_reason reason,
                                     const uint64_t *pcs, size_t depth);

/* A blocked goroutine becomes runnable. */
GOTRACE_API void gotrace_rec_go_unpark(gotrace_rec_thread *thread, gotrace_rec_go *go,
                                       const uint64_t *pcs, size_t depth);

/* The running goroutine enters a system call. The thread keeps its proc, until it stops it, or
 * another thread takes it. */
GOTRACE_API void gotrace_rec_go_sys_call(gotrace_rec_thread *thread, const uint64_t *pcs,
                                         size_t depth);

/* The thread takes the proc of another one whose goroutine is in a system call. The caller has made
 * sure that the other thread does not leave the call with the proc. */
GOTRACE_API void gotrace_rec_go_sys_block(gotrace_rec_thread *thread, gotrace_rec_thread *from);

/* The thread's goroutine leaves the system call. If the thread has kept its proc, or has one again,
 * the goroutine goes on running; otherwise it is runnable, and can be started on any thread. */
GOTRACE_API void gotrace_rec_go_sys_exit(gotrace_rec_thread *thread);

/* A thread that the runtime did not create calls into it: it has a goroutine from now on, which is
 * in a system call, and which leaves it with gotrace_rec_go_sys_exit. Ends in the system call, and
 * the thread gives up its proc if it has one; its handle is no longer valid. */
GOTRACE_API gotrace_rec_go *gotrace_rec_go_create_sys_call(gotrace_rec_thread *thread, uint64_t id);
GOTRACE_API void gotrace_rec_go_destroy_sys_call(gotrace_rec_thread *thread);

/* ---- coroutines: from 1.23 on one event, before that the events it is equal to ------------------
 */

/* The thread creates a goroutine that is blocked. */
GOTRACE_API gotrace_rec_go *gotrace_rec_go_create_blocked(gotrace_rec_thread *thread, uint64_t id,
                                                          uint64_t start_pc, const uint64_t *pcs,
                                                          size_t depth);

/* The running goroutine blocks, or ends, and a blocked one runs in its place. */
GOTRACE_API void gotrace_rec_go_switch(gotrace_rec_thread *thread, gotrace_rec_go *to);
GOTRACE_API void gotrace_rec_go_switch_destroy(gotrace_rec_thread *thread, gotrace_rec_go *to);

/* ---- memory manager --------------------------------------------------------------------------
 *
 * From 1.22 on these need a proc, and all except sweeps and heap sizes a running goroutine; an
 * event without them is not recorded.
 */

/* The number of procs changes. */
GOTRACE_API void gotrace_rec_gomaxprocs(gotrace_rec_thread *thread, uint64_t procs,
                                        const uint64_t *pcs, size_t depth);

/* A garbage collection begins, ends: one at a time. */
GOTRACE_API void gotrace_rec_gc_start(gotrace_rec_thread *thread, const uint64_t *pcs,
                                      size_t depth);
GOTRACE_API void gotrace_rec_gc_done(gotrace_rec_thread *thread);

/* 1.5: the thread's proc begins, ends a scan of the collector: one at a time, and no stop of the
 * world meanwhile, which has the same records there. */
GOTRACE_API void gotrace_rec_gc_scan_start(gotrace_rec_thread *thread);
GOTRACE_API void gotrace_rec_gc_scan_done(gotrace_rec_thread *thread);

/* Why the world is stopped. Up to 1.20 a trace can have the terminations only. */
typedef enum gotrace_rec_stw {
    GOTRACE_REC_STW_OTHER = 0,
    GOTRACE_REC_STW_MARK_TERMINATION,
    GOTRACE_REC_STW_SWEEP_TERMINATION,
    GOTRACE_REC_STW_HEAP_DUMP,
    GOTRACE_REC_STW_GOROUTINE_PROFILE,
    GOTRACE_REC_STW_GOROUTINE_PROFILE_CLEANUP,
    GOTRACE_REC_STW_ALL_STACKS,
    GOTRACE_REC_STW_READ_MEM_STATS,
    GOTRACE_REC_STW_ALL_THREADS_SYSCALL,
    GOTRACE_REC_STW_GOMAXPROCS,
    GOTRACE_REC_STW_START_TRACE,
    GOTRACE_REC_STW_STOP_TRACE,
} gotrace_rec_stw;

/* The world stops, starts again: one at a time, begun and ended by the same goroutine. */
GOTRACE_API void gotrace_rec_stw_start(gotrace_rec_thread *thread, gotrace_rec_stw why,
                                       const uint64_t *pcs, size_t depth);
GOTRACE_API void gotrace_rec_stw_done(gotrace_rec_thread *thread);

/* The thread's proc begins to sweep; has swept that many bytes; ends, and has reclaimed that many.
 * The events are recorded if anything was swept (up to 1.8 always, without sizes). */
GOTRACE_API void gotrace_rec_sweep_start(gotrace_rec_thread *thread, const uint64_t *pcs,
                                         size_t depth);
GOTRACE_API void gotrace_rec_sweep_span(gotrace_rec_thread *thread, uint64_t bytes,
                                        const uint64_t *pcs, size_t depth);
GOTRACE_API void gotrace_rec_sweep_done(gotrace_rec_thread *thread, uint64_t reclaimed);

/* The running goroutine begins, ends to assist the collector. 1.9 and later. */
GOTRACE_API void gotrace_rec_mark_assist_start(gotrace_rec_thread *thread, const uint64_t *pcs,
                                               size_t depth);
GOTRACE_API void gotrace_rec_mark_assist_done(gotrace_rec_thread *thread);

/* The size of the heap; the size at which the next collection begins; in bytes. */
GOTRACE_API void gotrace_rec_heap_alloc(gotrace_rec_thread *thread, uint64_t bytes);
GOTRACE_API void gotrace_rec_heap_goal(gotrace_rec_thread *thread, uint64_t bytes);

/* ---- what the program says about itself: 1.11 and later ----------------------------------------
 *
 * Texts end with NUL, are used during the call only, and are cut to 1024 bytes. From 1.22 on these
 * need a running goroutine.
 */

/* A task: id and parent (0: none) are the caller's. */
GOTRACE_API void gotrace_rec_task_create(gotrace_rec_thread *thread, uint64_t task, uint64_t parent,
                                         const char *type, const uint64_t *pcs, size_t depth);
GOTRACE_API void gotrace_rec_task_end(gotrace_rec_thread *thread, uint64_t task,
                                      const uint64_t *pcs, size_t depth);

typedef enum gotrace_rec_edge { GOTRACE_REC_BEGIN = 0, GOTRACE_REC_END } gotrace_rec_edge;

/* A region of the running goroutine begins or ends. */
GOTRACE_API void gotrace_rec_region(gotrace_rec_thread *thread, uint64_t task,
                                    gotrace_rec_edge edge, const char *type, const uint64_t *pcs,
                                    size_t depth);

/* A message, which up to 1.21 is cut to 32768 bytes. */
GOTRACE_API void gotrace_rec_log(gotrace_rec_thread *thread, uint64_t task, const char *category,
                                 const char *message, const uint64_t *pcs, size_t depth);

/* 1.22 and later: the running goroutine gets a label. */
GOTRACE_API void gotrace_rec_go_label(gotrace_rec_thread *thread, const char *label);

/* ---- samples, timers ---------------------------------------------------------------------------
 */

/* A CPU sample (1.19 and later) of the calling thread; NULL: it has no handle, or is about to end
 * it. Safe in a signal handler, at any time. Up to 64 frames are kept; when 1024 samples wait to be
 * written, more are lost.
 */
GOTRACE_API void gotrace_rec_cpu_sample(gotrace_recorder *recorder,
                                        const gotrace_rec_thread *thread, const uint64_t *pcs,
                                        size_t depth);

/* The same, of the code that a signal has interrupted. context: the third argument of its handler,
 * a ucontext_t. The stack begins with the function that was interrupted, whose callers are found as
 * with GOTRACE_REC_FRAMES; only what can be read is. x86-64 and ARM64; elsewhere there is no stack.
 */
GOTRACE_API void gotrace_rec_cpu_sample_context(gotrace_recorder *recorder,
                                                const gotrace_rec_thread *thread,
                                                const void *context);

/* Up to 1.21: the goroutine of that id runs timers. Called once for each, before a trace ends; up
 * to 64. */
GOTRACE_API void gotrace_rec_timer_go(gotrace_recorder *recorder, uint64_t id);

#ifdef __cplusplus
}
#endif

#endif
