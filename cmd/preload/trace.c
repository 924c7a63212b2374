/*
 * trace.c - records of the threads of a program: memory that is shared with `gotrace record`, and
 * the slot of each thread.
 */
#include "cmd/preload/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cmd/preload/real.h"

enum { FD_KINDS = 1 << 16 };

_Atomic uint32_t trace_waiters[TRACE_WAITERS];

static ring *shared; /* NULL: this process is not recorded */
static uint32_t image;
static pthread_key_t end_key;
static _Atomic uint8_t fd_kinds[FD_KINDS]; /* 0: unknown */

/* What a thread knows of itself. */
typedef struct self {
    ring_slot *slot;
    trace_stacks *stacks;
    _Atomic uint32_t *waiters; /* that it has increased */
    bool blocked;              /* in a call that waits */
    bool ended;                /* it has no slot, and gets none */
} self;

static _Thread_local self me __attribute__((tls_model("initial-exec")));

/* ---- records --------------------------------------------------------------------------------- */

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void wake_recorder(void)
{
    atomic_fetch_add_explicit(&shared->pulse, 1, memory_order_release);
    REAL(syscall)(SYS_futex, &shared->pulse, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static bool is_full(const ring_slot *slot)
{
    return slot->head - atomic_load_explicit(&slot->tail, memory_order_acquire) >= RING_RECORDS;
}

/* Waits until `record` has taken some. Recording ends if it no longer exists. */
static void wait_for_room(const ring_slot *slot)
{
    const struct timespec pause = {.tv_nsec = 50000};
    int error = errno;
    while (is_full(slot) && !shared->closed) {
        wake_recorder();
        REAL(syscall)(SYS_nanosleep, &pause, NULL);
        if (kill(shared->recorder, 0) < 0 && errno == ESRCH)
            shared->closed = 1;
    }
    errno = error;
}

/* Writes a record. The slot is busy. */
static void put(ring_slot *slot, ring_record record)
{
    if (UNLIKELY(is_full(slot)))
        wait_for_room(slot);
    if (UNLIKELY(atomic_load_explicit(&shared->closed, memory_order_relaxed)))
        return;
    uint64_t head = atomic_load_explicit(&slot->head, memory_order_relaxed);
    record.time = now();
    slot->records[head % RING_RECORDS] = record;
    atomic_store_explicit(&slot->head, head + 1, memory_order_release);
    if (UNLIKELY(head % (RING_RECORDS / 2) == 0)) {
        int error = errno;
        wake_recorder();
        errno = error;
    }
}

static void set_busy(ring_slot *slot, uint32_t busy)
{
    atomic_store_explicit(&slot->busy, busy, memory_order_release);
    atomic_signal_fence(memory_order_seq_cst);
}

/* ---- slots ----------------------------------------------------------------------------------- */

static void set_used(uint32_t slots)
{
    uint32_t used = atomic_load_explicit(&shared->used, memory_order_relaxed);
    while (used < slots && !atomic_compare_exchange_weak(&shared->used, &used, slots))
        continue;
}

static ring_slot *take_slot(void)
{
    for (uint32_t i = 0; i < RING_SLOTS; i++) {
        ring_slot *slot = &shared->slots[i];
        uint32_t expected = RING_FREE;
        if (atomic_load_explicit(&slot->state, memory_order_relaxed) == RING_FREE &&
            atomic_compare_exchange_strong(&slot->state, &expected, RING_RESERVED)) {
            slot->image = image;
            set_used(i + 1);
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
static void attach(void)
{
    int error = errno;
    me.ended = true; /* against signal handlers */
    ring_slot *slot = take_slot();
    if (slot) {
        pthread_setspecific(end_key, slot);
        set_busy(slot, 1);
        put(slot, (ring_record){.type = RING_ATTACH, .object = (uint64_t)gettid()});
        me.slot = slot;
        me.ended = false;
        set_busy(slot, 0);
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
    if (!shared || atomic_load_explicit(&shared->closed, memory_order_relaxed))
        return NULL;
    if (UNLIKELY(!me.slot)) {
        if (!me.ended)
            attach();
        if (!me.slot)
            return NULL;
    }
    ring_slot *slot = me.slot;
    if (atomic_load_explicit(&slot->busy, memory_order_relaxed))
        return NULL; /* in a signal handler */
    set_busy(slot, 1);
    if (UNLIKELY(me.blocked))
        resume(slot, RING_INTERRUPTED);
    return slot;
}

/* ---- stacks ---------------------------------------------------------------------------------- */

static void put_frames(ring_slot *slot, uint16_t stack)
{
    const uint64_t *pcs;
    unsigned depth = trace_stack_frames(me.stacks, stack, &pcs);
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
    uint16_t stack = trace_stack(&me.stacks, (uintptr_t)leaf, frame, shared->stacks, &added);
    if (added)
        put_frames(slot, stack);
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
    set_busy(slot, 0);
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
    ring_slot *slot = me.slot;
    if (!recorded || !slot || !me.blocked)
        return;
    set_busy(slot, 1);
    resume(slot, result);
    set_busy(slot, 0);
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
    set_busy(slot, 0);
}

/* ---- threads --------------------------------------------------------------------------------- */

__attribute__((noinline)) ring_slot *trace_create(void *routine, void *arg)
{
    ring_slot *slot = enter();
    if (!slot)
        return NULL;
    ring_slot *created = take_slot();
    if (created) {
        created->routine = routine;
        created->arg = arg;
        put(slot, (ring_record){.type = RING_CREATE,
                                .flags = (uint16_t)(created - shared->slots),
                                .stack = stack_of(slot, LEAF, FRAME),
                                .object = (uintptr_t)routine});
    }
    set_busy(slot, 0);
    return created;
}

void trace_not_created(ring_slot *slot)
{
    finish_slot(slot);
}

void trace_start(ring_slot *slot)
{
    pthread_setspecific(end_key, slot);
    set_busy(slot, 1);
    put(slot, (ring_record){.type = RING_START, .object = (uint64_t)gettid()});
    me.slot = slot;
    set_busy(slot, 0);
}

/* The thread ends, also by pthread_exit or cancellation. */
static void end_thread(void *slot)
{
    if (!shared || me.slot != slot)
        return;
    uint64_t thread = (uint64_t)pthread_self();
    set_busy(slot, 1);
    resume(slot, RING_INTERRUPTED);
    put(slot, (ring_record){.type = RING_END, .object = thread});
    me.slot = NULL;
    me.ended = true;
    set_busy(slot, 0);
    trace_stacks_free(me.stacks);
    me.stacks = NULL;
    finish_slot(slot);
}

void trace_stop(void)
{
    shared = NULL;
    me = (self){.ended = true};
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
    if (!shared || fd < 0 || fd >= FD_KINDS)
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

/* ---- the process ----------------------------------------------------------------------------- */

static ring *map_ring(void)
{
    const char *path = getenv(RING_VARIABLE);
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0)
        return NULL;
    struct stat status;
    void *memory = MAP_FAILED;
    if (fstat(fd, &status) == 0 && status.st_size == (off_t)sizeof(ring))
        memory = mmap(NULL, sizeof(ring), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    REAL(close)(fd);
    return memory == MAP_FAILED ? NULL : memory;
}

/* The program may have ended when `record` needs its mapped files. */
static void save_maps(void)
{
    char *maps = shared->maps[image];
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    ssize_t n = 1;
    for (size_t used = 0; fd >= 0 && n > 0 && used < RING_MAPS - 1; used += (size_t)n)
        n = REAL(read)(fd, maps + used, RING_MAPS - 1 - used);
    REAL(close)(fd);
}

__attribute__((constructor(101))) static void begin(void)
{
    int error = errno;
    trace_find_all();
    ring *memory = map_ring();
    if (memory && (memory->size != sizeof *memory || memory->pid != getpid() || memory->closed ||
                   memory->images == RING_IMAGES)) {
        munmap(memory, sizeof *memory);
        memory = NULL;
    }
    if (memory && pthread_key_create(&end_key, end_thread) == 0) {
        pthread_atfork(NULL, NULL, trace_stop);
        image = atomic_fetch_add(&memory->images, 1);
        shared = memory;
        save_maps();
        attach();
    }
    errno = error;
}

/* The C library's entry of a program, which is passed main. */
typedef int main_fn(int, char **, char **);
int __libc_start_main(main_fn *, int, char **, main_fn *, void (*)(void), void (*)(void), void *);

EXPORT int __libc_start_main(main_fn *program, int argc, char **argv, main_fn *init,
                             void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
    if (shared)
        shared->mains[image] = (uintptr_t)program;
    return REAL(__libc_start_main)(program, argc, argv, init, fini, rtld_fini, stack_end);
}
