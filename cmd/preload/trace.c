/*
 * trace.c - records of the threads of a process, each in its slot.
 */
#include "cmd/preload/trace.h"

#include <errno.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cmd/preload/real.h"

enum { FD_KINDS = 1 << 16 };

_Atomic uint32_t trace_waiters[TRACE_WAITERS];

static pthread_key_t end_key;
static _Atomic uint8_t fd_kinds[FD_KINDS]; /* 0: unknown */

/* What a thread knows of itself. */
typedef struct self {
    ring_slot *slot;
    trace_stacks *stacks;
    _Atomic uint32_t *waiters; /* that it has increased */
    bool blocked;              /* in a call that waits */
    bool ended;                /* it has no slot, and gets none */
    bool busy;                 /* as the slot, which in a child is the parent's */
} self;

static _Thread_local self me __attribute__((tls_model("initial-exec")));

/* ---- records --------------------------------------------------------------------------------- */

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static bool is_full(const ring_slot *slot)
{
    return slot->head - atomic_load_explicit(&slot->tail, memory_order_acquire) >= RING_RECORDS;
}

/* False: it is of the parent, if a signal handler forks while the thread writes a record. */
static bool is_own(const ring *shared, const ring_slot *slot)
{
    return shared && slot >= shared->slots && slot < shared->slots + RING_SLOTS;
}

/* Waits until `record` has taken some. Recording ends if it no longer exists. */
static void wait_for_room(const ring_slot *slot)
{
    enum { PAUSES = 20 };
    const struct timespec pause = {.tv_nsec = 50000};
    ring *shared = trace_ring();
    int error = errno;
    for (unsigned i = 1; is_own(shared, slot) && is_full(slot) && !shared->closed; i++) {
        trace_pulse();
        REAL(syscall)(SYS_nanosleep, &pause, NULL);
        if (i % PAUSES == 0 && !trace_recorder_lives())
            shared->closed = 1;
    }
    errno = error;
}

/* Writes a record. The slot is busy. */
static void put(ring_slot *slot, ring_record record)
{
    if (UNLIKELY(is_full(slot)))
        wait_for_room(slot);
    const ring *shared = trace_ring();
    if (UNLIKELY(!shared || atomic_load_explicit(&shared->closed, memory_order_relaxed)))
        return;
    uint64_t head = atomic_load_explicit(&slot->head, memory_order_relaxed);
    record.time = now();
    slot->records[head % RING_RECORDS] = record;
    atomic_store_explicit(&slot->head, head + 1, memory_order_release);
    if (UNLIKELY(head % (RING_RECORDS / 2) == 0)) {
        int error = errno;
        trace_pulse();
        errno = error;
    }
}

static void set_busy(ring_slot *slot, bool busy)
{
    atomic_signal_fence(memory_order_seq_cst);
    me.busy = busy;
    atomic_store_explicit(&slot->busy, busy, memory_order_release);
    atomic_signal_fence(memory_order_seq_cst);
}

/* ---- slots ----------------------------------------------------------------------------------- */

static void set_used(ring *shared, uint32_t slots)
{
    uint32_t used = atomic_load_explicit(&shared->used, memory_order_relaxed);
    while (used < slots && !atomic_compare_exchange_weak(&shared->used, &used, slots))
        continue;
}

static ring_slot *take_slot(ring *shared)
{
    for (uint32_t i = 0; i < RING_SLOTS; i++) {
        ring_slot *slot = &shared->slots[i];
        uint32_t expected = RING_FREE;
        if (atomic_load_explicit(&slot->state, memory_order_relaxed) == RING_FREE &&
            atomic_compare_exchange_strong(&slot->state, &expected, RING_RESERVED)) {
            slot->image = trace_here->image;
            set_used(shared, i + 1);
            atomic_store_explicit(&slot->state, RING_TAKEN, memory_order_release);
            return slot;
        }
    }
    return NULL;
}

static void finish_slot(ring_slot *slot)
{
    atomic_store_explicit(&slot->state, RING_FINISHED, memory_order_release);
}

/* A thread that no recorded thread created is seen for the first time. */
static void attach(ring *shared)
{
    int error = errno;
    me.ended = true; /* against signal handlers */
    ring_slot *slot = take_slot(shared);
    if (slot) {
        pthread_setspecific(end_key, slot);
        set_busy(slot, true);
        put(slot, (ring_record){.type = RING_ATTACH, .object = (uint64_t)gettid()});
        me.slot = slot;
        me.ended = false;
        set_busy(slot, false);
    } else {
        atomic_fetch_add(&shared->lost, 1);
    }
    errno = error;
}

/* Ends the wait of the thread, if it is in one. The slot is busy. */
static void resume(ring_slot *slot, ring_result result)
{
    if (!me.blocked)
        return;
    me.blocked = false;
    if (me.waiters)
        atomic_fetch_sub(me.waiters, 1);
    me.waiters = NULL;
    put(slot, (ring_record){.type = RING_RESUME, .flags = (uint16_t)result});
}

/* Begins a record of the thread; NULL: it is not recorded. */
static ring_slot *enter(void)
{
    ring *shared = trace_ring();
    if (!shared || atomic_load_explicit(&shared->closed, memory_order_relaxed))
        return NULL;
    if (UNLIKELY(!me.slot)) {
        if (!me.ended)
            attach(shared);
        if (!me.slot)
            return NULL;
    }
    ring_slot *slot = me.slot;
    if (atomic_load_explicit(&slot->busy, memory_order_relaxed))
        return NULL; /* in a signal handler */
    set_busy(slot, true);
    if (UNLIKELY(me.blocked))
        resume(slot, RING_INTERRUPTED);
    return slot;
}

/* ---- stacks ---------------------------------------------------------------------------------- */

static void put_frames(ring_slot *slot, const trace_stacks *stacks, uint16_t stack)
{
    const uint64_t *pcs;
    unsigned depth = trace_stack_frames(stacks, stack, &pcs);
    for (unsigned i = 0; i < depth; i++)
        put(slot, (ring_record){.type = RING_FRAME,
                                .kind = (uint8_t)i,
                                .flags = (uint16_t)depth,
                                .stack = stack,
                                .object = pcs[i]});
}

/* The stack of a function of this library: leaf is an address in it, frame that of its frame. */
static uint16_t stack_of(ring_slot *slot, void *leaf, const uintptr_t *frame)
{
    bool added;
    const ring *shared = trace_ring();
    if (!shared)
        return 0;
    trace_stacks *stacks = me.stacks; /* a child has others, if a signal handler forks now */
    atomic_signal_fence(memory_order_seq_cst);
    if (!stacks && !(stacks = me.stacks = trace_stacks_new()))
        return 0;
    uint16_t stack = trace_stack(stacks, (uintptr_t)leaf, frame, shared->stacks, &added);
    if (added)
        put_frames(slot, stacks, stack);
    return stack;
}

/* The functions below are called by interposed functions, and have frame pointers. */
#define LEAF  __builtin_return_address(0)
#define FRAME (*(const uintptr_t *const *)__builtin_frame_address(0))

/* ---- waiting --------------------------------------------------------------------------------- */

static bool block(ring_kind kind, uint64_t object, bool counted, void *leaf, const uintptr_t *frame)
{
    ring_slot *slot = enter();
    if (!slot)
        return false;
    if (counted) {
        me.waiters = trace_waiters_of(object);
        atomic_fetch_add(me.waiters, 1);
    }
    put(slot, (ring_record){.type = RING_BLOCK,
                            .kind = (uint8_t)kind,
                            .stack = stack_of(slot, leaf, frame),
                            .object = object});
    me.blocked = true;
    set_busy(slot, false);
    return true;
}

__attribute__((noinline)) bool trace_wait(ring_kind kind, uint64_t object)
{
    return block(kind, object, true, LEAF, FRAME);
}

__attribute__((noinline)) bool trace_call(ring_kind kind, uint64_t object)
{
    return block(kind, object, false, LEAF, FRAME);
}

void trace_resume(bool recorded, ring_result result)
{
    if (!recorded || !trace_ring()) /* in a child, if a signal handler forks */
        return;
    ring_slot *slot = me.slot;
    if (!slot || !me.blocked)
        return;
    set_busy(slot, true);
    resume(slot, result);
    set_busy(slot, false);
}

__attribute__((noinline)) void trace_wake_slow(uint64_t object, uint16_t count)
{
    ring_slot *slot = enter();
    if (!slot)
        return;
    put(slot, (ring_record){.type = RING_WAKE,
                            .flags = count,
                            .stack = stack_of(slot, LEAF, FRAME),
                            .object = object});
    set_busy(slot, false);
}

/* ---- threads --------------------------------------------------------------------------------- */

__attribute__((noinline)) ring_slot *trace_create(void *routine, void *arg)
{
    ring_slot *slot = enter();
    ring *shared = trace_ring();
    if (!slot || !shared)
        return NULL;
    ring_slot *created = take_slot(shared);
    if (created) {
        created->routine = routine;
        created->arg = arg;
        put(slot, (ring_record){.type = RING_CREATE,
                                .flags = (uint16_t)(created - shared->slots),
                                .stack = stack_of(slot, LEAF, FRAME),
                                .object = (uintptr_t)routine});
    }
    set_busy(slot, false);
    return created;
}

void trace_not_created(ring_slot *slot)
{
    finish_slot(slot);
}

void trace_start(ring_slot *slot)
{
    pthread_setspecific(end_key, slot);
    set_busy(slot, true);
    put(slot, (ring_record){.type = RING_START, .object = (uint64_t)gettid()});
    me.slot = slot;
    set_busy(slot, false);
}

/* The thread ends, also by pthread_exit or cancellation. */
static void end_thread(void *slot)
{
    if (!trace_ring() || me.slot != slot)
        return;
    uint64_t thread = (uint64_t)pthread_self();
    set_busy(slot, true);
    resume(slot, RING_INTERRUPTED);
    put(slot, (ring_record){.type = RING_END, .object = thread});
    me.slot = NULL;
    me.ended = true;
    set_busy(slot, false);
    trace_stacks_free(me.stacks);
    me.stacks = NULL;
    finish_slot(slot);
}

/* ---- processes ------------------------------------------------------------------------------- */

bool trace_begin_process(void)
{
    static bool has_key;
    if (!has_key && pthread_key_create(&end_key, end_thread) != 0)
        return false;
    has_key = true;
    attach(trace_here->ring);
    return true;
}

void trace_forget_parent(void)
{
    if (!me.busy)
        trace_stacks_free(me.stacks);
    me = (self){.slot = NULL};
    for (size_t i = 0; i < TRACE_WAITERS; i++)
        trace_waiters[i] = 0;
}

/* ---- file descriptors ------------------------------------------------------------------------ */

static ring_kind find_fd_kind(int fd)
{
    struct stat status;
    int error = errno;
    bool good = fstat(fd, &status) == 0;
    errno = error;
    if (!good)
        return RING_FILE;
    switch (status.st_mode & S_IFMT) {
    case S_IFSOCK: return RING_NETWORK;
    case S_IFIFO:
    case 0: /* eventfd, timerfd, ... */ return RING_RECEIVE;
    default: return RING_FILE;
    }
}

ring_kind trace_fd_kind(int fd, ring_kind pipe)
{
    if (!trace_ring() || fd < 0 || fd >= FD_KINDS)
        return RING_FILE;
    ring_kind kind = atomic_load_explicit(&fd_kinds[fd], memory_order_relaxed);
    if (UNLIKELY(kind == 0)) {
        kind = find_fd_kind(fd);
        atomic_store_explicit(&fd_kinds[fd], (uint8_t)kind, memory_order_relaxed);
    }
    return kind == RING_RECEIVE ? pipe : kind;
}

void trace_fd_changed(int fd)
{
    if (fd >= 0 && fd < FD_KINDS)
        atomic_store_explicit(&fd_kinds[fd], 0, memory_order_relaxed);
}
