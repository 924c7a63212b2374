/* thread.h - a thread that receives no signals, and calls in which no thread is cancelled. Inline,
 * so that formats and cmd can use it. */
#ifndef GT_THREAD_H
#define GT_THREAD_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

/* Starts a thread; false on failure. All signals are blocked in it: the calling thread handles
 * them. Its stack is small, because it counts as memory of the process. */
static inline bool gt_thread_begin(pthread_t *thread, void *(*run)(void *), void *arg)
{
    enum { STACK_SIZE = 1 << 20 };
    sigset_t all, before;
    pthread_attr_t attr;
    if (pthread_attr_init(&attr) != 0)
        return false;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool begun = pthread_attr_setstacksize(&attr, STACK_SIZE) == 0 &&
                 pthread_create(thread, &attr, run, arg) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    return begun;
}

/* From here the thread is not cancelled: it may wait with a lock, or call a function of the user.
 * Returns what gt_thread_allow_cancel takes. */
static inline int gt_thread_hold_cancel(void)
{
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    return before;
}

static inline void gt_thread_allow_cancel(int before)
{
    pthread_setcancelstate(before, &(int){0});
}

#endif
