/*
 * process.c - which memory a process writes to: the program's first process, or one that runs
 * already, gets a ring from `gotrace record`; if children are recorded, each takes one of those
 * that are ready, by storing its pid, which a kill cannot interrupt. A process notices that it is a
 * child, however it was created, by a page that the kernel clears (MADV_WIPEONFORK).
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cmd/preload/real.h"
#include "cmd/preload/trace.h"

trace_process *trace_here;

static ring_session *session;
static ring *inherited;   /* the last ring of this process or, in a new child, of its parent */
static uintptr_t program; /* address of main; 0: unknown */
static bool wipes;        /* the kernel sets *trace_here to zero in a child */

/* ---- `record` -------------------------------------------------------------------------------- */

void trace_pulse(void)
{
    atomic_fetch_add_explicit(&session->pulse, 1, memory_order_release);
    REAL(syscall)(SYS_futex, &session->pulse, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Reads a file as text, which is truncated to the size. */
static void read_file(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t used = 0;
    ssize_t n = fd < 0 ? 0 : 1;
    for (; n > 0 && used < size - 1; used += (size_t)n)
        if ((n = REAL(read)(fd, text + used, size - 1 - used)) < 0)
            break;
    if (fd >= 0)
        REAL(close)(fd);
    text[used] = '\0';
}

void trace_read_name(char name[RING_NAME_SIZE])
{
    char text[RING_NAME_SIZE + 1];
    read_file("/proc/self/comm", text, sizeof text);
    memset(name, 0, RING_NAME_SIZE);
    char *line_end = strrchr(text, '\n'); /* a name may have others */
    if (line_end)
        memcpy(name, text, (size_t)(line_end - text));
}

/* Not by its pid, which another process may have got. */
bool trace_recorder_lives(void)
{
    return !session->closed &&
           !(atomic_load_explicit(&session->owner, memory_order_relaxed) & FUTEX_OWNER_DIED);
}

/* The memory of that path; NULL: there is none of that size. */
static void *map(const char *path, size_t size)
{
    struct stat status;
    void *memory = MAP_FAILED;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    if (fstat(fd, &status) == 0 && status.st_size == (off_t)size)
        memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    REAL(close)(fd);
    return memory == MAP_FAILED ? NULL : memory;
}

/* ---- processes ------------------------------------------------------------------------------- */

/* As `record` sees it: /proc is that of its name space until a container mounts another. */
static int32_t find_pid(void)
{
    char text[16];
    ssize_t n = readlink("/proc/self", text, sizeof text - 1);
    if (n <= 0)
        return getpid();
    text[n] = '\0';
    return atoi(text);
}

/* The number of the process; RING_PROCESSES: it has none. */
static uint32_t find_number(int32_t pid)
{
    uint32_t i = 0;
    while (i < RING_PROCESSES && session->pids[i] != pid)
        i++;
    return i;
}

static uint32_t try_to_take(int32_t pid)
{
    for (uint32_t i = 0; i < RING_PROCESSES; i++) {
        int32_t expected = RING_READY;
        if (atomic_compare_exchange_strong(&session->pids[i], &expected, pid))
            return i;
    }
    return RING_PROCESSES;
}

/* Takes a ring for the process; waits until `record` has prepared one. */
static uint32_t take_number(int32_t pid)
{
    enum { PAUSES = 5000 };
    const struct timespec pause = {.tv_nsec = 1000000};
    uint32_t number = RING_PROCESSES;
    for (unsigned i = 0; i < PAUSES && !session->closed && trace_recorder_lives(); i++) {
        number = try_to_take(pid);
        trace_pulse();
        if (number < RING_PROCESSES || find_number(RING_NONE) == RING_PROCESSES)
            break;
        REAL(syscall)(SYS_nanosleep, &pause, NULL);
    }
    if (number == RING_PROCESSES && !session->closed)
        atomic_fetch_add(&session->missed, 1);
    return number;
}

static bool replace_pid(uint32_t number, int32_t pid, int32_t by)
{
    return number < RING_PROCESSES &&
           atomic_compare_exchange_strong(&session->pids[number], &pid, by);
}

/* The number of this process, see trace_spawned. */
static uint32_t number_of(int32_t pid)
{
    uint32_t number = find_number(pid);
    if (number < RING_PROCESSES || !session->follows)
        return number;
    number = find_number(RING_RESERVED_BY_PARENT(pid));
    if (replace_pid(number, RING_RESERVED_BY_PARENT(pid), pid))
        return number;
    number = take_number(pid);
    if (number < RING_PROCESSES)
        replace_pid(find_number(RING_RESERVED_BY_PARENT(pid)), RING_RESERVED_BY_PARENT(pid),
                    RING_READY);
    return number;
}

/* Sets image to the number of the program in the ring. NULL: it cannot be recorded there. */
static ring *map_ring(uint32_t number, uint32_t *image)
{
    char path[48];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)session->recorder,
             (int)session->fds[number]);
    ring *memory = map(path, sizeof *memory);
    *image = memory ? atomic_load(&memory->images) : 0;
    if (memory && (memory->size != sizeof *memory || memory->closed || *image >= RING_IMAGES)) {
        munmap(memory, sizeof *memory);
        memory = NULL;
    }
    return memory;
}

/* Begins recording, if the process has a ring. */
static ring_attached join(void)
{
    int32_t pid = find_pid();
    uint32_t number = number_of(pid), image;
    ring *memory = number < RING_PROCESSES ? map_ring(number, &image) : NULL;
    if (!memory) {
        if (number < RING_PROCESSES && !session->closed)
            atomic_fetch_add(&session->missed, 1);
        return RING_NO_SESSION;
    }
    const ring_attached result = trace_prepare_process(memory, image);
    if (result != RING_ATTACHED) {
        munmap(memory, sizeof *memory);
        return result;
    }
    if (image == 0)
        memory->parent = getppid();
    memory->mains[image] = program;
    read_file("/proc/self/maps", memory->maps[image], RING_MAPS);
    inherited = memory;
    trace_here->pid = pid;
    trace_here->image = image;
    atomic_store(&memory->images, image + 1);
    session->executes[number][0] = '\0';
    trace_here->ring = memory; /* last: other threads may see it now */
    return result;
}

/* A ring that the process uses no more is replaced by memory of its own: functions that were
 * interrupted, by a signal handler that forks, or in other threads, still write to it. */
static void leave(ring *old)
{
    ring *own = old ? mmap(NULL, sizeof *own, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                    : MAP_FAILED;
    if (own != MAP_FAILED)
        mremap(own, sizeof *own, sizeof *own, MREMAP_MAYMOVE | MREMAP_FIXED, old);
}

void trace_forked(void)
{
    int error = errno;
    *trace_here = (trace_process){.known = true};
    trace_forget_parent();
    leave(inherited);
    inherited = NULL;
    if (session->follows && !session->closed && join() == RING_ATTACHED)
        trace_begin_process();
    errno = error;
}

/* Around fork. `record` waits for a child whose parent has ended. If fork fails, it waits in vain,
 * which is bounded. */
static void before_fork(void)
{
    atomic_fetch_add(&session->forks, 1);
}

static void after_fork(void)
{
    if (!wipes)
        trace_here->known = false;
    trace_notice_fork();
    atomic_fetch_sub(&session->forks, 1);
}

/* Not a child by vfork, which has the memory of its parent. */
static bool is_recorded(int32_t pid)
{
    const ring *shared = trace_ring();
    return shared && trace_here->pid == pid;
}

/* ---- exec ------------------------------------------------------------------------------------ */

/* The path may be no string at all: then it is for the kernel to report that. */
static void put_path(uint32_t number, const char *path)
{
    char *to = session->executes[number];
    const bool is_string = access(path, F_OK) == 0 || errno != EFAULT;
    const size_t size = is_string ? strnlen(path, RING_PATH - 1) : 0;
    memcpy(to, path, size);
    to[size] = '\0';
}

bool trace_execute(const char *path)
{
    int error = errno;
    int32_t pid = find_pid();
    uint32_t number = session && !session->closed ? number_of(pid) : RING_PROCESSES;
    if (number < RING_PROCESSES)
        put_path(number, path);
    errno = error;
    return is_recorded(pid);
}

/* A child by vfork has taken a ring to execute the program. */
void trace_not_executed(void)
{
    int error = errno;
    int32_t pid = find_pid();
    uint32_t number = session ? find_number(pid) : RING_PROCESSES;
    if (number < RING_PROCESSES) {
        session->executes[number][0] = '\0';
        if (pid != trace_here->pid)
            session->pids[number] = RING_READY;
    }
    errno = error;
}

/* Reserves a ring for the new process, in case that it does not look for one, so that `record` can
 * warn. It is this process's until the name of the program is there: the new one may have ended,
 * and `record` frees the ring of a process that has. If the new process looks for a ring at the
 * same time, it takes this one; or it has another, and whoever sees both gives this one back. */
void trace_spawned(pid_t pid, const char *path)
{
    int error = errno;
    int32_t own = RING_RESERVED_BY_PARENT(find_pid()), reserved = RING_RESERVED_BY_PARENT(pid);
    uint32_t number = RING_PROCESSES;
    if (session && session->follows && !session->closed && find_number(pid) == RING_PROCESSES)
        number = take_number(own);
    if (number < RING_PROCESSES) {
        put_path(number, path);
        if (replace_pid(number, own, reserved) && find_number(pid) < RING_PROCESSES) {
            session->executes[number][0] = '\0';
            replace_pid(number, reserved, RING_READY);
        }
    }
    errno = error;
}

/* ---- the beginning of a program -------------------------------------------------------------- */

/* What the process knows of itself. False: memory is refused. */
static bool know_process(void)
{
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    if (trace_here)
        return true;
    trace_process *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                               0);
    if (page == MAP_FAILED)
        return false;
    wipes = madvise(page, size, MADV_WIPEONFORK) == 0;
    page->known = true;
    pthread_atfork(before_fork, NULL, after_fork);
    trace_here = page;
    return true;
}

static ring_session *open_session(const char *path)
{
    ring_session *opened = path ? map(path, sizeof *opened) : NULL;
    if (opened && (opened->size != sizeof *opened || opened->closed ||
                   (!opened->follows && opened->pids[0] != find_pid()))) {
        munmap(opened, sizeof *opened);
        return NULL;
    }
    return opened;
}

__attribute__((constructor(101))) static void begin(void)
{
    int error = errno;
    trace_find_all();
    trace_find_libc();
    session = open_session(getenv(RING_VARIABLE));
    if (session && know_process() && join() == RING_ATTACHED)
        trace_begin_process();
    errno = error;
}

/* ---- a process that runs already ------------------------------------------------------------- */

static ring_attached attach(const char *path)
{
    ring *before = trace_ring();
    if (before && !before->closed && trace_recorder_lives())
        return RING_IS_RECORDED;
    ring_session *opened = open_session(path);
    if (!opened)
        return RING_NO_SESSION;
    if (before)
        before->closed = 1;
    session = opened; /* the last one stays mapped: other threads may use it */
    if (!know_process())
        return RING_NO_RESOURCES;
    trace_here->attached = true;
    trace_fds_changed(0, UINT_MAX);
    const ring_attached result = join();
    if (result == RING_ATTACHED) {
        leave(before);
        trace_patch();
    }
    return result;
}

/* Called by `record`, in a thread of the process, on a stack of its own: the thread records nothing
 * here. */
EXPORT int gotrace_attach(const char *path);
int gotrace_attach(const char *path)
{
    int error = errno, state;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state); /* there is nothing to return to */
    const ring_attached result = attach(path);
    pthread_setcancelstate(state, NULL);
    errno = error;
    return (int)result;
}

/* ---- the end --------------------------------------------------------------------------------- */

/* The system call that ends the process. What the thread did before is known with this record. */
#define EXITING(name)                                                                              \
    EXPORT _Noreturn void name(int status)                                                         \
    {                                                                                              \
        if (is_recorded(find_pid()))                                                               \
            trace_call(RING_NO_WAIT, 0);                                                           \
        REAL(name)(status);                                                                        \
        __builtin_unreachable();                                                                   \
    }

EXITING(_exit)
EXITING(_Exit)

/* The C library calls it in exit, and then a function of its own for the system call of this name,
 * which is that of the stack. Functions that are called after this one may still end it. */
__attribute__((destructor)) static void exit_group(void)
{
    if (is_recorded(find_pid()))
        trace_call(RING_NO_WAIT, 0);
    atomic_signal_fence(memory_order_seq_cst); /* no tail call: this is the leaf of the stack */
}

/* The C library's entry of a program, which is passed main. */
typedef int main_fn(int, char **, char **);
int __libc_start_main(main_fn *, int, char **, main_fn *, void (*)(void), void (*)(void), void *);

EXPORT int __libc_start_main(main_fn *entry, int argc, char **argv, main_fn *init,
                             void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
    program = (uintptr_t)entry;
    if (trace_here && trace_here->ring)
        trace_here->ring->mains[trace_here->image] = program;
    return REAL(__libc_start_main)(entry, argc, argv, init, fini, rtld_fini, stack_end);
}
