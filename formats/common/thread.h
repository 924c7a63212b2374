/* thread.h - a thread beside the one that began. */
#ifndef THREAD_H
#define THREAD_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

/* Begin one; false where there can be none. Signals are for the thread that knows when they must
 * wait: this one gets none. */
static inline bool thread_begin(pthread_t *thread, void *(*run)(void *), void *arg)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool begun = pthread_create(thread, NULL, run, arg) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return begun;
}

#endif
