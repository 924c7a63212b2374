/*
 * trace.c - records of the threads of a process, each in its slot.
 */
#include "cmd/preload/trace.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cmd/preload/real.h"

enum {
    /* What a thread has used is read after a call of that length, and else not sooner than that,
     * because reading takes 0.6 microseconds: redis-server calls 500,000 functions a second. A
     * thread that is preempted is off the processor for longer. */
    LEAST_CALL_NS = 20000,
    LEAST_RUN_NS = 200000,
    LEAST_OFF_NS = 20000,
    /* After a wait of that length it is read how much of it the thread was runnable, which takes
     * 0.7 microseconds, or 2 if it has not been read for long. */
    LEAST_WAIT_NS = 200000,
};

_Atomic uint32_t trace_waiters[TRACE_WAITERS];
static _Atomic uint64_t last_wakes[TRACE_WAITERS]; /* time of the last RING_WAKE, by object */

static _Atomic uint32_t names_set; /* number of names that threads of this program were given */
static char program_name[RING_NAME_SIZE]; /* of threads that were given none */

static pthread_key_t end_key;

/* Of threads that begin. In memory of the process, which others do not change. */
static trace_started starts[RING_SLOTS];

/* What a thread has used. */
typedef struct usage {
    uint64_t time;           /* when that was read; 0: never */
    uint64_t ran;            /* on a processor, ns */
    long waits, preemptions; /* voluntary and other context switches */
} usage;

/* What a thread knows of itself. */
typedef struct self {
    ring_slot *slot;
    trace_stacks *stacks;
    _Atomic uint32_t *waiters; /* that it has increased */
    const void *frame;         /* of the function that writes a record now; NULL: none does */
    uint8_t first;             /* ring_type of the first record, until it is written; 0: it is */
    bool blocked;              /* in a call that waits: RING_BLOCK may be written, RESUME is not */
    bool ended;                /* it has no slot, and gets none */
    uint64_t blocked_at;       /* when the last call began */
    uint32_t names;            /* names_set when its name was read last */
    char name[RING_NAME_SIZE]; /* the last one that was recorded; empty: none */
    usage used;                /* when that was read last */
    int timer;                 /* of samples; -1: none */
    trace_delay delay;
    bool knows_delay; /* `delayed` is valid: it was read, or the thread has just begun */
    uint64_t delayed; /* what was read there last, ns */
    uint64_t off;     /* ns in RING_OFF, runnable, since then */
} self;

static _Thread_local self me __attribute__((tls_model("initial-exec")));

/* Between stores that a signal handler must see in this order. */
static inline void in_order(void)
{
    atomic_signal_fence(memory_order_seq_cst);
}

/* ---- records --------------------------------------------------------------------------------- */

static uint64_t ns_of(struct timespec t)
{
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return ns_of(t);
}

static bool is_full(const ring_slot *slot)
{
    return slot->head - atomic_load_explicit(&slot->tail, memory_order_acquire) >= RING_RECORDS;
}

/* False: it is of the parent, if a signal handler forks while the thread writes a record, or of an
 * earlier recording of the process. */
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

/* Writes a record. The slot is busy. Returns its time; 0: it was not written. */
static uint64_t put_record(ring_slot *slot, ring_record record)
{
    if (UNLIKELY(is_full(slot)))
        wait_for_room(slot);
    const ring *shared = trace_ring();
    if (UNLIKELY(!is_own(shared, slot) ||
                 atomic_load_explicit(&shared->closed, memory_order_relaxed)))
        return 0;
    const void *frame = me.frame;
    in_order();
    uint64_t head = atomic_load_explicit(&slot->head, memory_order_relaxed);
    record.time = now();
    in_order();
    if (UNLIKELY(me.frame != frame)) /* it was given up, and others were written */
        return 0;
    slot->records[head % RING_RECORDS] = record;
    atomic_store_explicit(&slot->head, head + 1, memory_order_release);
    if (UNLIKELY(head % (RING_RECORDS / 2) == 0)) {
        int error = errno;
        trace_pulse();
        errno = error;
    }
    return record.time;
}

static inline void set_busy(ring_slot *slot, const void *frame)
{
    in_order();
    me.frame = frame;
    in_order();
    atomic_store_explicit(&slot->busy, frame != NULL, memory_order_release);
    in_order();
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

static void set_slot(ring_slot *slot, ring_type first)
{
    const ring *shared = trace_ring();
    pthread_setspecific(end_key, slot);
    me.timer = shared && shared->sample_ns ? trace_timer_new(shared->sample_ns) : -1;
    me.first = (uint8_t)first;
    in_order();
    me.slot = slot;
}

/* A thread that no recorded thread created is seen for the first time. */
static void attach(ring *shared)
{
    int error = errno;
    ring_slot *slot = take_slot(shared);
    if (slot) {
        set_slot(slot, RING_ATTACH);
    } else {
        me.ended = true;
        atomic_fetch_add(&shared->lost, 1);
    }
    errno = error;
}

/* ---- time without a record --------------------------------------------------------------------
 */

/* What the thread has used until now. The times of getrusage are those of the last tick. */
static bool read_used(usage *u)
{
    struct rusage counts;
    struct timespec ran;
    int error = errno;
    bool good = clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ran) == 0 &&
                getrusage(RUSAGE_THREAD, &counts) == 0;
    errno = error;
    if (!good)
        return false;
    u->ran = ns_of(ran);
    u->waits = counts.ru_nvcsw;
    u->preemptions = counts.ru_nivcsw;
    return true;
}

/* The thread goes on at that time after a call. */
static inline void see_resumed(uint64_t time)
{
    if (time > me.blocked_at + LEAST_CALL_NS && read_used(&me.used))
        me.used.time = time;
}

/* The thread is about to write a record, and has not waited in a recorded call since what it had
 * used was read last. The slot is busy. */
static void put_off(ring_slot *slot)
{
    const usage before = me.used;
    if (now() < before.time + LEAST_RUN_NS || !read_used(&me.used))
        return;
    me.used.time = now(); /* again: threads are often preempted when a system call returns */
    const uint64_t passed = me.used.time - before.time, ran = me.used.ran - before.ran;
    const long waits = me.used.waits - before.waits;
    if (before.time > 0 && me.used.ran >= before.ran && waits >= 0 && passed > ran + LEAST_OFF_NS) {
        const bool waited = waits > me.used.preemptions - before.preemptions;
        me.off += waited ? 0 : passed - ran;
        put_record(slot, (ring_record){.type = RING_OFF, .flags = waited, .object = passed - ran});
    }
}

/* A wait ends. What was delayed before it is in RING_OFF. */
static void put_delay(ring_slot *slot)
{
    uint64_t ns;
    if (me.delay.fd < 0 || now() < me.blocked_at + LEAST_WAIT_NS)
        return;
    if (me.delay.fd == 0)
        trace_delay_open(&me.delay);
    if (me.delay.fd < 0 || !trace_delay_read(&me.delay, &ns)) {
        trace_delay_close(&me.delay);
        return;
    }
    const uint64_t before = me.delayed + me.off;
    if (me.knows_delay)
        put_record(slot,
                   (ring_record){.type = RING_DELAY, .object = ns > before ? ns - before : 0});
    me.knows_delay = true;
    me.delayed = ns;
    me.off = 0;
}

static void put_name(ring_slot *slot, const char *text)
{
    for (uint8_t i = 0; i < RING_NAME_SIZE / sizeof(uint64_t); i++) {
        ring_record part = {.type = RING_NAME, .kind = i};
        memcpy(&part.object, text + i * sizeof part.object, sizeof part.object);
        put_record(slot, part);
    }
}

static inline bool has_new_name(void)
{
    return me.names != atomic_load_explicit(&names_set, memory_order_relaxed);
}

/* Records the name of the thread if it is another one than before: itself, another thread or the
 * one that created it may have set it. The slot is busy. */
__attribute__((noinline)) static void put_new_name(ring_slot *slot)
{
    char name[RING_NAME_SIZE] = "";
    const uint32_t names = atomic_load(&names_set);
    const char *before = me.name[0] ? me.name : program_name;
    REAL(prctl)(PR_GET_NAME, name);
    if (strncmp(name, before, sizeof name) != 0) {
        put_name(slot, name);
        in_order();
        memcpy(me.name, name, sizeof name);
    }
    in_order();
    me.names = names;
}

/* Ends the wait of the thread. The slot is busy. */
static inline __attribute__((always_inline)) void resume(ring_slot *slot, ring_result result)
{
    _Atomic uint32_t *waiters = me.waiters;
    uint64_t last_wake = 0;
    me.waiters = NULL;
    in_order();
    if (waiters) {
        atomic_fetch_sub(waiters, 1);
        last_wake = last_wakes[waiters - trace_waiters];
    }
    put_delay(slot);
    const uint64_t time = put_record(
        slot, (ring_record){.type = RING_RESUME, .flags = (uint16_t)result, .object = last_wake});
    in_order();
    me.blocked = false;
    see_resumed(time);
    if (UNLIKELY(has_new_name()))
        put_new_name(slot);
}

/* Records which thread it is: one that no interposed function created has its start routine as a
 * stack of one frame, which has a number because the thread has no other stack yet. */
static void put_first(ring_slot *slot)
{
    ring_record first = {.type = me.first, .object = (uint64_t)gettid()};
    if (me.first == RING_ATTACH && (gettid() != getpid() || trace_here->attached)) {
        const uintptr_t routine = trace_start_routine(me.frame);
        first.flags = 1;
        if (routine) {
            first.stack = 1;
            put_record(
                slot, (ring_record){
                          .type = RING_FRAME, .flags = 1, .stack = first.stack, .object = routine});
        }
        char name[RING_NAME_SIZE] = "";
        REAL(prctl)(PR_GET_NAME, name);
        put_name(slot, name);
    }
    const bool good = read_used(&me.used);
    me.knows_delay = me.first == RING_START;
    const uint64_t time = put_record(slot, first);
    me.used.time = good ? time : 0;
    put_record(slot, (ring_record){.type = RING_SELF, .object = (uint64_t)pthread_self()});
}

/* Writes what is to be before the present record. The slot is busy. */
__attribute__((noinline)) static void put_due(ring_slot *slot)
{
    if (me.first) {
        put_first(slot);
        in_order();
        me.first = 0;
    }
    if (me.blocked)
        resume(slot, RING_INTERRUPTED);
}

/* Gives up the record that the thread was writing. */
static void leave(ring *shared)
{
    if (me.slot)
        set_busy(me.slot, NULL);
    me.frame = NULL;
    atomic_fetch_add_explicit(&shared->left, 1, memory_order_relaxed);
}

/* Whether the function that wrote a record was left by a jump: a handler that interrupts it has a
 * frame below its frame, or another stack. */
static bool was_left(const void *frame)
{
    stack_t other;
    if ((uintptr_t)frame < (uintptr_t)me.frame)
        return false;
    int error = errno;
    bool on_other = sigaltstack(NULL, &other) == 0 && other.ss_flags & SS_ONSTACK;
    errno = error;
    return !on_other || (uintptr_t)me.frame - (uintptr_t)other.ss_sp < other.ss_size;
}

void trace_jump(void)
{
    ring *shared = me.frame ? trace_ring() : NULL;
    if (shared && me.frame)
        leave(shared);
}

/* Forgets what the thread recorded in an earlier recording of the process. */
static void forget_recording(void)
{
    _Atomic uint32_t *waiters = me.waiters;
    trace_stacks *stacks = me.stacks;
    me.waiters = NULL;
    me.stacks = NULL;
    in_order();
    if (waiters)
        atomic_fetch_sub(waiters, 1);
    trace_stacks_free(stacks);
    trace_timer_end(me.timer);
    me.blocked = false;
    me.name[0] = '\0';
    me.used.time = 0;
    in_order();
    me.slot = NULL;
}

/* Begins a record of the thread, in a function with that frame; NULL: it is not recorded. */
static ring_slot *enter(const void *frame)
{
    ring *shared = trace_ring();
    if (!shared || atomic_load_explicit(&shared->closed, memory_order_relaxed))
        return NULL;
    if (UNLIKELY(me.frame)) {
        if (!was_left(frame))
            return NULL; /* in a signal handler */
        leave(shared);
    }
    me.frame = frame;
    in_order();
    if (UNLIKELY(me.slot && !is_own(shared, me.slot)))
        forget_recording();
    if (UNLIKELY(!me.slot) && !me.ended)
        attach(shared);
    ring_slot *slot = me.slot;
    if (UNLIKELY(!slot)) {
        me.frame = NULL;
        return NULL;
    }
    atomic_store_explicit(&slot->busy, true, memory_order_release);
    in_order();
    if (UNLIKELY(me.first | me.blocked))
        put_due(slot);
    if (UNLIKELY(has_new_name()))
        put_new_name(slot);
    return slot;
}

/* ---- stacks ---------------------------------------------------------------------------------- */

static void put_frames(ring_slot *slot, uint16_t stack, const uint64_t *pcs, unsigned depth)
{
    for (unsigned i = 0; i < depth; i++)
        put_record(slot, (ring_record){.type = RING_FRAME,
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
    if (added) {
        const uint64_t *pcs;
        const unsigned depth = trace_stack_frames(stacks, stack, &pcs);
        put_frames(slot, stack, pcs, depth);
        trace_stack_recorded(stacks, stack);
    }
    return stack;
}

/* As stack_of; the record is written next. What is off the processor while the stack is found is
 * so before the record: for its first stack a thread allocates memory. */
static uint16_t stack_and_off(ring_slot *slot, void *leaf, const uintptr_t *frame)
{
    const uint16_t stack = stack_of(slot, leaf, frame);
    put_off(slot);
    return stack;
}

/* The functions below are called by interposed functions, and have frame pointers. */
#define LEAF  __builtin_return_address(0)
#define FRAME (*(const uintptr_t *const *)__builtin_frame_address(0))

/* ---- waiting --------------------------------------------------------------------------------- */

/* The thread that has a lock, as the C library notes it: of a read-write lock only a writer. 0: it
 * is not known, or the lock is free by now. */
static uint32_t holder_of(uint8_t kind, uint64_t object)
{
    const void *lock = (const void *)(uintptr_t)object;
    if (kind == RING_MUTEX)
        return (uint32_t)__atomic_load_n(&((const pthread_mutex_t *)lock)->__data.__owner,
                                         __ATOMIC_RELAXED);
    if (kind == RING_READ_LOCK || kind == RING_WRITE_LOCK)
        return (uint32_t)__atomic_load_n(&((const pthread_rwlock_t *)lock)->__data.__cur_writer,
                                         __ATOMIC_RELAXED);
    return 0;
}

/* Whether it is a call for which it is recorded what its file descriptor is: it may wait, or end
 * the wait of another thread. */
static inline bool uses_fd(const ring_record *call)
{
    return ((call->kind >= RING_NETWORK && call->kind <= RING_FILE_LOCK) ||
            (call->kind == RING_NO_WAIT && call->object & (RING_FROM | RING_TO))) &&
           !(call->object & RING_OF_SYSTEM) && ring_fd(call->object) < RING_FDS;
}

static void put_descriptor(ring_slot *slot, int fd, const ring_descriptor *d, size_t size)
{
    const size_t parts = (size + sizeof(uint64_t) - 1) / sizeof(uint64_t);
    for (size_t n = 0; n < parts; n++) {
        ring_record part = {
            .type = RING_FD, .kind = (uint8_t)n, .flags = (uint16_t)fd, .stack = (uint16_t)parts};
        memcpy(&part.object, (const char *)d + n * sizeof part.object, sizeof part.object);
        put_record(slot, part);
    }
    trace_fd_set_named(fd);
}

__attribute__((noinline)) static void put_fd(ring_slot *slot, int fd)
{
    ring_descriptor d;
    const size_t size = trace_fd_describe(fd, &d);
    put_descriptor(slot, fd, &d, size);
}

static bool block(ring_record wait, bool counted, void *leaf, const uintptr_t *frame)
{
    ring_slot *slot = enter(frame);
    if (!slot)
        return false;
    wait.stack = stack_and_off(slot, leaf, frame);
    if (uses_fd(&wait) && UNLIKELY(!trace_fd_is_named((int)ring_fd(wait.object))))
        put_fd(slot, (int)ring_fd(wait.object));
    if (wait.kind == RING_SEM && trace_is_shared((const void *)(uintptr_t)wait.object))
        wait.flags |= RING_SHARED;
    const uint32_t holder = holder_of(wait.kind, wait.object);
    if (holder)
        put_record(slot, (ring_record){.type = RING_HOLDER, .object = holder});
    if (counted) {
        _Atomic uint32_t *waiters = trace_waiters_of(wait.object);
        atomic_fetch_add(waiters, 1);
        me.waiters = waiters;
    }
    me.blocked = true;
    in_order();
    me.blocked_at = put_record(slot, wait);
    set_busy(slot, NULL);
    return true;
}

static ring_record wait_of(ring_kind kind, uint64_t object, bool timed)
{
    return (ring_record){.type = RING_BLOCK,
                         .kind = (uint8_t)kind,
                         .flags = timed ? RING_TIMED : 0,
                         .object = object};
}

__attribute__((noinline)) bool trace_wait(ring_kind kind, uint64_t object, bool timed)
{
    return block(wait_of(kind, object, timed), true, LEAF, FRAME);
}

__attribute__((noinline)) bool trace_call(ring_kind kind, uint64_t object)
{
    return block(wait_of(kind, object, false), false, LEAF, FRAME);
}

void trace_resume(bool recorded, ring_result result)
{
    if (!recorded || !trace_ring()) /* in a child, if a signal handler forks */
        return;
    ring_slot *slot = me.slot;
    if (!slot || !me.blocked)
        return;
    set_busy(slot, __builtin_frame_address(0));
    resume(slot, result);
    set_busy(slot, NULL);
}

void trace_connected(int fd)
{
    ring_descriptor d;
    trace_fd_changed(fd);
    if (fd < 0 || fd >= RING_FDS)
        return;
    ring_slot *slot = enter(__builtin_frame_address(0));
    if (!slot)
        return;
    const size_t size = trace_fd_describe(fd, &d);
    if (d.type == RING_FD_CONNECTED)
        put_descriptor(slot, fd, &d, size);
    set_busy(slot, NULL);
}

__attribute__((noinline)) void trace_wake_slow(uint64_t object, uint16_t count, uint8_t shared)
{
    ring_slot *slot = enter(FRAME);
    if (!slot)
        return;
    const uint64_t time = put_record(slot, (ring_record){.type = RING_WAKE,
                                                         .kind = shared,
                                                         .flags = count,
                                                         .stack = stack_and_off(slot, LEAF, FRAME),
                                                         .object = object});
    if (time)
        last_wakes[trace_waiters_of(object) - trace_waiters] = time;
    set_busy(slot, NULL);
}

/* ---- threads --------------------------------------------------------------------------------- */

/* An unused one of starts, at or after that number; NULL: there is none. In a child, those of
 * threads that its parent was creating remain in use. */
static trace_started *take_start(size_t number)
{
    for (size_t i = 0; i < RING_SLOTS; i++) {
        trace_started *started = &starts[(number + i) % RING_SLOTS];
        if (!atomic_exchange(&started->taken, true))
            return started;
    }
    return NULL;
}

__attribute__((noinline)) trace_started *trace_create(void *routine, void *arg)
{
    ring_slot *slot = enter(FRAME);
    ring *shared = trace_ring();
    if (!slot || !shared)
        return NULL;
    ring_slot *created = take_slot(shared);
    const size_t number = created ? (size_t)(created - shared->slots) : 0;
    trace_started *started = created ? take_start(number) : NULL;
    if (started) {
        started->slot = created;
        started->routine = routine;
        started->arg = arg;
        put_record(slot, (ring_record){.type = RING_CREATE,
                                       .flags = (uint16_t)number,
                                       .stack = stack_and_off(slot, LEAF, FRAME),
                                       .object = (uintptr_t)routine});
    } else if (created) {
        finish_slot(created);
    }
    set_busy(slot, NULL);
    return started; /* if NULL, the thread is seen with its first call */
}

void trace_not_created(trace_started *started)
{
    ring_slot *slot = started->slot;
    started->taken = false;
    finish_slot(slot);
}

void trace_start(trace_started *started, void **routine, void **arg)
{
    *routine = started->routine;
    *arg = started->arg;
    set_slot(started->slot, RING_START);
    started->taken = false;
    ring_slot *slot = enter(__builtin_frame_address(0));
    if (slot)
        set_busy(slot, NULL);
}

/* ---- samples --------------------------------------------------------------------------------- */

void trace_sample(const void *context, unsigned periods)
{
    enum { STACK = RING_STACKS - 1, ROOM = RING_FRAMES + 2 };
    ring *shared = trace_here && trace_here->known ? trace_here->ring : NULL;
    ring_slot *slot = me.slot;
    uint64_t pcs[RING_FRAMES];
    if (!shared || atomic_load_explicit(&shared->closed, memory_order_relaxed)) {
        trace_timer_end(me.timer);
        me.timer = -1;
        return;
    }
    if (!slot || me.frame || me.first || slot->head - slot->tail > RING_RECORDS - ROOM) {
        atomic_fetch_add(&shared->samples_lost, periods);
        return;
    }
    set_busy(slot, __builtin_frame_address(0));
    if (!me.blocked)
        put_off(slot);
    const unsigned depth = trace_interrupted(context, pcs, shared->stacks);
    put_frames(slot, STACK, pcs, depth);
    put_record(slot,
               (ring_record){.type = RING_SAMPLE,
                             .flags = (uint16_t)(periods < RING_PERIODS ? periods : RING_PERIODS),
                             .stack = depth ? STACK : 0});
    set_busy(slot, NULL);
}

/* The thread ends, also by pthread_exit or cancellation. */
static void end_thread(void *slot)
{
    if (!trace_ring() || me.slot != slot)
        return;
    trace_timer_end(me.timer);
    trace_delay_close(&me.delay);
    uint64_t thread = (uint64_t)pthread_self();
    set_busy(slot, __builtin_frame_address(0));
    put_due(slot);
    put_off(slot);
    put_record(slot, (ring_record){.type = RING_END, .object = thread});
    me.slot = NULL;
    me.ended = true;
    set_busy(slot, NULL);
    trace_stacks_free(me.stacks);
    me.stacks = NULL;
    finish_slot(slot);
}

void trace_name_set(void)
{
    atomic_fetch_add(&names_set, 1);
    ring_slot *slot = enter(__builtin_frame_address(0));
    if (slot)
        set_busy(slot, NULL);
}

/* ---- processes ------------------------------------------------------------------------------- */

ring_attached trace_prepare_process(ring *memory, uint32_t image)
{
    static bool has_key;
    if (!has_key && pthread_key_create(&end_key, end_thread) != 0)
        return RING_NO_RESOURCES;
    if (!has_key && trace_here->attached)
        trace_read_name(program_name);
    else if (!has_key)
        REAL(prctl)(PR_GET_NAME, program_name);

    has_key = true;
    memcpy(memory->programs[image], program_name, sizeof program_name);
    return memory->sample_ns && !trace_samples_begin() ? RING_SIGNAL_IS_USED : RING_ATTACHED;
}

void trace_begin_process(void)
{
    ring_slot *slot = enter(__builtin_frame_address(0));
    if (slot)
        set_busy(slot, NULL);
}

void trace_forget_parent(void)
{
    if (!me.frame)
        trace_stacks_free(me.stacks);
    me = (self){.timer = -1};
    for (size_t i = 0; i < TRACE_WAITERS; i++)
        trace_waiters[i] = 0;
    trace_fds_forget();
}
