/* doing.h - what a goroutine does at a time. */
#ifndef ANALYSE_DOING_H
#define ANALYSE_DOING_H

#include "formats/analyse/stacks.h"

/* What a goroutine does at a time. Those from DO_LOCK on are waits, by what is waited for. */
typedef enum activity_kind {
    DO_RUN,
    DO_ASSIST, /* runs, in a mark assist */
    DO_RUNNABLE,
    DO_SYSCALL,
    DO_LOCK,    /* a Mutex or RWMutex */
    DO_JOIN,    /* a WaitGroup */
    DO_COND,    /* a Cond */
    DO_CHANNEL, /* a channel or select */
    DO_NETWORK,
    DO_SLEEP,
    DO_GC, /* the garbage collector */
    DO_OTHER,
    DO_KINDS
} activity_kind;

/* Whether another goroutine ends such a wait. */
#define DO_FOR_OTHERS (1U << DO_LOCK | 1U << DO_JOIN | 1U << DO_COND | 1U << DO_CHANNEL)

/* What a wait for that reason (a name), which begins at that stack, is for. */
uint8_t doing_of_wait(const stacks *names, uint32_t reason, uint32_t stack);

#endif
