/*
 * samples.c - signals that take samples of what a thread executes, after each period of its
 * processor time; and interposed functions, so that programs do not change how they are handled.
 */
#include "cmd/preload/real.h"
#include "cmd/preload/trace.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Programs use the first signals of real time, and the C library those before. */
enum { SAMPLE = 63 };

static bool takes_samples(void)
{
    const ring *shared = trace_ring();
    return shared && shared->sample_ns;
}

static void take(int number, siginfo_t *info, void *context)
{
    const int error = errno;
    (void)number;
    if (info->si_code == SI_TIMER)
        trace_sample(context, 1 + (unsigned)info->si_overrun);
    errno = error;
}

bool trace_samples_begin(void)
{
    struct sigaction before;
    REAL(sigaction)(SAMPLE, NULL, &before);
    if (before.sa_sigaction != take && before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
        return false;
    /* The unwinder initialises itself when it is first used: not in a handler that interrupts that.
     */
    trace_start_routine(__builtin_frame_address(0));
    struct sigaction action = {.sa_sigaction = take,
                               .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    sigset_t one;
    sigfillset(&action.sa_mask);
    REAL(sigaction)(SAMPLE, &action, NULL);
    sigemptyset(&one);
    sigaddset(&one, SAMPLE);
    REAL(pthread_sigmask)(SIG_UNBLOCK, &one, NULL);
    return true;
}

int trace_timer_new(uint32_t period_ns)
{
    const struct timespec period = {(time_t)(period_ns / 1000000000),
                                    (long)(period_ns % 1000000000)};
    const struct itimerspec times = {period, period};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SAMPLE};
    int timer = -1;
    event._sigev_un._tid = gettid();
    if (REAL(syscall)(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &timer) != 0)
        return -1;
    REAL(syscall)(SYS_timer_settime, timer, 0, &times, NULL);
    return timer;
}

void trace_timer_end(int timer)
{
    if (timer >= 0)
        REAL(syscall)(SYS_timer_delete, timer);
}

EXPORT int sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
    if (number != SAMPLE || !takes_samples())
        return REAL(sigaction)(number, action, before);
    if (before)
        *before = (struct sigaction){.sa_handler = SIG_DFL};
    return 0;
}

EXPORT __sighandler_t signal(int number, __sighandler_t handler)
{
    return number == SAMPLE && takes_samples() ? SIG_DFL : REAL(signal)(number, handler);
}

#define MASKING(name)                                                                              \
    EXPORT int name(int how, const sigset_t *set, sigset_t *before)                                \
    {                                                                                              \
        sigset_t others;                                                                           \
        if (set && how != SIG_UNBLOCK && takes_samples()) {                                        \
            others = *set;                                                                         \
            sigdelset(&others, SAMPLE);                                                            \
            set = &others;                                                                         \
        }                                                                                          \
        return REAL(name)(how, set, before);                                                       \
    }

MASKING(pthread_sigmask)
MASKING(sigprocmask)
