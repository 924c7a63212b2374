/*
 * inject.c - calls functions in a thread of another process, with ptrace(2).
 *
 * The thread is in a system call, and is stopped there. It then executes the function, on a stack
 * of its own, and returns to the instruction of that system call, where it is stopped again. So no
 * code of the process is changed, and no signal is needed. In the end it has the registers that it
 * had, and the kernel goes on with the system call, as after any stop.
 */
#include "cmd/record/record.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined __x86_64__

enum {
    PAUSE_NS = 50000, /* between looks at the thread */
    AREA = 1 << 18,   /* bytes: strings, the stack, and zeros for unwinders, which go beyond it */
    ZEROS = 4096,
    EXTENDED = 1 << 16, /* room for the registers of XSAVE, which have 11 KiB with AMX */
    SIZE_OF_SYSCALL = 2,
    DIRECTION_FLAG = 0x400,
    TRAP_FLAG = 0x100,
    ERESTARTNOHAND = 514, /* of the kernel: start again, or EINTR if a handler was called */
};

#define PATIENCE_NS UINT64_C(10000000000) /* for disks that are slow, and other calls of dlopen */

struct injection {
    pid_t pid, tid;
    struct user_regs_struct saved;
    char extended[EXTENDED];
    size_t extended_size;
    uint64_t mask;  /* of signals */
    uint64_t area;  /* 0: none */
    uint64_t limit; /* time */
    int held;       /* a signal for the thread; 0: none */
    bool stopped;
    bool changed; /* it has not the registers that it had */
    const char *why;
};

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

const char *inject_why(const injection *i)
{
    return i->why;
}

/* ---- stops ----------------------------------------------------------------------------------- */

/* Waits until the thread stops. False: it has ended, or does not stop until that time. */
static bool wait_for_stop(injection *i, uint64_t limit, int *status)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    pid_t got;
    while ((got = waitpid(i->tid, status, __WALL | WNOHANG)) == 0 || (got < 0 && errno == EINTR)) {
        if (now() > limit) {
            i->why = "the thread in which the library is loaded waits for something";
            return false;
        }
        nanosleep(&pause, NULL);
    }
    i->stopped = got == i->tid && WIFSTOPPED(*status);
    if (i->stopped)
        return true;
    i->why = "it has ended";
    i->tid = 0;
    return false;
}

static void go_on(injection *i, enum __ptrace_request how, int number)
{
    i->stopped = false;
    ptrace(how, i->tid, NULL, number);
}

static bool is_stop(int status, int event, int number)
{
    return status >> 16 == event && WSTOPSIG(status) == number;
}

/* The thread stops because of a signal that is not blocked: one that stops the process, or one of
 * an exception. False: there was an exception. One that was only sent is sent again at the end. */
static bool hold_signal(injection *i, int status)
{
    siginfo_t info;
    if (status >> 16 == PTRACE_EVENT_STOP)
        return true;
    if (ptrace(PTRACE_GETSIGINFO, i->tid, NULL, &info) < 0)
        return false;
    if (info.si_code > 0) {
        i->why = "it failed while the library was being loaded";
        return false;
    }
    i->held = WSTOPSIG(status);
    return true;
}

static bool get_registers(const injection *i, struct user_regs_struct *r)
{
    struct iovec v = {r, sizeof *r};
    return ptrace(PTRACE_GETREGSET, i->tid, NT_PRSTATUS, &v) == 0 && v.iov_len == sizeof *r;
}

static bool set_registers(const injection *i, struct user_regs_struct *r)
{
    struct iovec v = {r, sizeof *r};
    return ptrace(PTRACE_SETREGSET, i->tid, NT_PRSTATUS, &v) == 0;
}

/* ---- begin and end --------------------------------------------------------------------------- */

bool inject_waits(int64_t number, uint64_t second)
{
    switch (number) {
    case SYS_read:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_accept:
    case SYS_accept4:
    case SYS_poll:
    case SYS_ppoll:
    case SYS_select:
    case SYS_pselect6:
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
    case SYS_epoll_pwait2:
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
    case SYS_pause:
    case SYS_rt_sigsuspend:
    case SYS_rt_sigtimedwait:
    case SYS_wait4:
    case SYS_waitid: return true;
    case SYS_futex: return ((int)second & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET;
    default: return false;
    }
}

/* The thread is interrupted. Signals that it gets before are not held up. */
static bool interrupt(injection *i, uint64_t limit)
{
    int status;
    ptrace(PTRACE_INTERRUPT, i->tid, NULL, NULL);
    if (i->stopped)
        go_on(i, PTRACE_CONT, 0);
    while (wait_for_stop(i, limit, &status)) {
        if (is_stop(status, PTRACE_EVENT_STOP, SIGTRAP))
            return true;
        const bool is_signal = status >> 16 == 0 && WSTOPSIG(status) != (SIGTRAP | 0x80) &&
                               !i->changed;
        go_on(i, PTRACE_CONT, is_signal ? WSTOPSIG(status) : 0);
    }
    return false;
}

/* Some system calls fail with EINTR if the thread is stopped, see signal(7). */
static void let_restart(struct user_regs_struct *r)
{
    if ((int64_t)r->rax == -EINTR && inject_waits((int64_t)r->orig_rax, r->rsi))
        r->rax = (uint64_t)-ERESTARTNOHAND;
}

/* The thread goes on as if nothing had happened. */
static void let_go(injection *i)
{
    struct iovec v = {i->extended, i->extended_size};
    if (i->changed) {
        ptrace(PTRACE_SETREGSET, i->tid, NT_X86_XSTATE, &v);
        ptrace(PTRACE_SETSIGMASK, i->tid, sizeof i->mask, &i->mask);
    }
    let_restart(&i->saved);
    set_registers(i, &i->saved);
    ptrace(PTRACE_DETACH, i->tid, NULL, NULL);
    if (i->held)
        syscall(SYS_tgkill, i->pid, i->tid, i->held);
}

injection *inject_begin(pid_t pid, pid_t tid, int *error)
{
    injection *i = calloc(1, sizeof *i);
    *error = i ? 0 : ENOMEM;
    if (!i)
        return NULL;
    i->pid = pid;
    i->tid = tid;
    i->limit = now() + PATIENCE_NS;
    struct iovec v = {i->extended, sizeof i->extended};
    if (ptrace(PTRACE_SEIZE, tid, NULL, PTRACE_O_TRACESYSGOOD) < 0) {
        *error = errno;
    } else if (interrupt(i, i->limit)) {
        if (get_registers(i, &i->saved) && ptrace(PTRACE_GETREGSET, tid, NT_X86_XSTATE, &v) == 0 &&
            ptrace(PTRACE_GETSIGMASK, tid, sizeof i->mask, &i->mask) == 0) {
            i->extended_size = v.iov_len;
            return i;
        }
        ptrace(PTRACE_DETACH, tid, NULL, NULL);
    }
    free(i);
    return NULL;
}

/* The system call instruction. */
static uint64_t gadget_of(const injection *i)
{
    return i->saved.rip - SIZE_OF_SYSCALL;
}

bool inject_is_waiting(const injection *i, uint64_t *pc)
{
    uint8_t code[SIZE_OF_SYSCALL];
    *pc = i->saved.rip;
    return inject_waits((int64_t)i->saved.orig_rax, i->saved.rsi) &&
           inject_read(i, gadget_of(i), code, sizeof code) == sizeof code && code[0] == 0x0f &&
           code[1] == 0x05;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* The thread, which is not in a system call, executes with these registers until it is about to
 * execute the system call of the gadget with that stack pointer. */
static bool run(injection *i, struct user_regs_struct *r, uint64_t sp)
{
    bool enters = false;
    int status;
    i->changed = true;
    r->orig_rax = UINT64_MAX; /* no system call is to be started again */
    if (!set_registers(i, r)) {
        i->why = strerror(errno);
        return false;
    }
    for (;;) {
        go_on(i, PTRACE_SYSCALL, 0);
        if (!wait_for_stop(i, i->limit, &status))
            return false;
        if (!is_stop(status, 0, SIGTRAP | 0x80)) {
            if (!hold_signal(i, status))
                return false;
            continue;
        }
        enters = !enters;
        if (enters && get_registers(i, r) && r->rip == i->saved.rip && r->rsp == sp)
            return true;
    }
}

/* The system call that the thread is about to execute is executed. */
static bool finish(injection *i, struct user_regs_struct *r)
{
    int status;
    do {
        go_on(i, PTRACE_SYSCALL, 0);
        if (!wait_for_stop(i, i->limit, &status))
            return false;
        if (!is_stop(status, 0, SIGTRAP | 0x80) && !hold_signal(i, status))
            return false;
    } while (!is_stop(status, 0, SIGTRAP | 0x80));
    return get_registers(i, r);
}

static bool call_system(injection *i, const uint64_t a[6], long number, uint64_t *result)
{
    struct user_regs_struct r = i->saved;
    r.rip = gadget_of(i);
    r.rax = (uint64_t)number;
    r.rdi = a[0];
    r.rsi = a[1];
    r.rdx = a[2];
    r.r10 = a[3];
    r.r8 = a[4];
    r.r9 = a[5];
    if (!run(i, &r, r.rsp) || !finish(i, &r))
        return false;
    *result = r.rax;
    return true;
}

static bool write_memory(injection *i, uint64_t to, const void *bytes, size_t size)
{
    const struct iovec from = {(void *)(uintptr_t)bytes, size}, at = {(void *)to, size};
    if (process_vm_writev(i->pid, &from, 1, &at, 1, 0) == (ssize_t)size)
        return true;
    i->why = "its memory cannot be written to";
    return false;
}

size_t inject_read(const injection *i, uint64_t from, void *bytes, size_t size)
{
    const struct iovec to = {bytes, size}, at = {(void *)from, size};
    const ssize_t n = process_vm_readv(i->pid, &to, 1, &at, 1, 0);
    return n < 0 ? 0 : (size_t)n;
}

bool inject_write_int(injection *i, uint64_t to, int value)
{
    return write_memory(i, to, &value, sizeof value);
}

bool inject_prepare(injection *i)
{
    const uint64_t exceptions = UINT64_C(1) << (SIGSEGV - 1) | UINT64_C(1) << (SIGBUS - 1) |
                                UINT64_C(1) << (SIGILL - 1) | UINT64_C(1) << (SIGFPE - 1) |
                                UINT64_C(1) << (SIGTRAP - 1) | UINT64_C(1) << (SIGSYS - 1);
    uint64_t mask = ~exceptions;
    const uint64_t a[6] = {0,          AREA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                           UINT64_MAX, 0};
    i->changed = true;
    if (ptrace(PTRACE_SETSIGMASK, i->tid, sizeof mask, &mask) < 0 ||
        !call_system(i, a, SYS_mmap, &i->area) || (int64_t)i->area < 0) {
        i->why = i->why ? i->why : "memory is refused";
        i->area = 0;
        return false;
    }
    return true;
}

bool inject_call(injection *i, uint64_t function, uint64_t first, uint64_t second, const char *text,
                 uint64_t *result)
{
    struct user_regs_struct r = i->saved;
    const uint64_t top = i->area + AREA - ZEROS, to = gadget_of(i);
    if (!write_memory(i, top - sizeof to, &to, sizeof to) ||
        (text && !write_memory(i, i->area, text, strlen(text) + 1)))
        return false;
    r.rip = function;
    r.rsp = top - sizeof to;
    r.rbp = top + ZEROS / 2;
    r.rdi = first == INJECT_TEXT ? i->area : first;
    r.rsi = second == INJECT_TEXT ? i->area : second;
    r.rax = 0;
    r.eflags &= ~(uint64_t)(DIRECTION_FLAG | TRAP_FLAG);
    if (!run(i, &r, top))
        return false;
    *result = r.orig_rax; /* what the function has returned: that system call is left out */
    r.orig_rax = UINT64_MAX;
    return set_registers(i, &r) && finish(i, &r);
}

void inject_end(injection *i)
{
    uint64_t result;
    const uint64_t a[6] = {i->area, AREA};
    if (i->tid && i->area && !i->why)
        call_system(i, a, SYS_munmap, &result);
    if (i->tid && (!i->changed || interrupt(i, UINT64_MAX)))
        let_go(i);
    free(i);
}

#endif
