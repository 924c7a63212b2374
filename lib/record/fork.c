/*
 * fork.c - the recorders of a process that is forked.
 *
 * A child has the recorders too, but not the threads that write their output, and another thread
 * may be in the middle of an event. So a child records nothing, and does not change the file of
 * its parent.
 */
#include "record/record.h"

#include "record/crash.h"

static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t all_once = PTHREAD_ONCE_INIT;
static gotrace_recorder *all;

/* So that no other thread has a lock which the child needs. */
static void before_fork(void)
{
    pthread_mutex_lock(&all_lock);
    for (gotrace_recorder *r = all; r; r = r->next) {
        pthread_mutex_lock(&r->world);
        pthread_mutex_lock(&r->lock);
    }
}

static void after_fork(void)
{
    for (gotrace_recorder *r = all; r; r = r->next) {
        pthread_mutex_unlock(&r->lock);
        pthread_mutex_unlock(&r->world);
    }
    pthread_mutex_unlock(&all_lock);
}

static void after_fork_in_child(void)
{
    for (gotrace_recorder *r = all; r; r = r->next) {
        r->forked = true;
        atomic_store(&r->era, 0);
        atomic_store(&r->attention, 0);
        if (r->crash)
            gt_crash_leave(r->crash);
    }
    after_fork();
}

static void watch_forks(void)
{
    pthread_atfork(before_fork, after_fork, after_fork_in_child);
}

void gt_rec_enlist(gotrace_recorder *r)
{
    pthread_once(&all_once, watch_forks);
    pthread_mutex_lock(&all_lock);
    r->next = all;
    all = r;
    pthread_mutex_unlock(&all_lock);
}

void gt_rec_delist(const gotrace_recorder *r)
{
    pthread_mutex_lock(&all_lock);
    gotrace_recorder **at = &all;
    while (*at != r)
        at = &(*at)->next;
    *at = r->next;
    pthread_mutex_unlock(&all_lock);
}
