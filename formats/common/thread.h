/* thread.h - starts a thread that receives no signals. */
#ifndef THREAD_H
#define THREAD_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

/* Starts a thread; false on failure. All signals are blocked in it: the calling thread handles
 * them. */
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
