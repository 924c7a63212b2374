/*
 * faults.h - one fault and what follows from it.
 *
 * A record that is lost or altered leaves goroutines, procs and threads in states that later events
 * do not fit. The first such events are reported; the others that come soon after are consequences,
 * which are counted and summed up in one note.
 */
#ifndef GT_FAULTS_H
#define GT_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "gotrace.h"

typedef struct gt_faults {
    bool open;             /* a fault was reported, and what comes may follow from it */
    uint8_t age;           /* v2: generations that ended since */
    uint8_t forgotten;     /* v1: twice the times that it was */
    int64_t last;          /* v1: ticks of the last event that did not fit */
    unsigned reported[2];  /* of classes INCONSISTENT and CLOCKS, since the fault */
    uint64_t more, offset; /* consequences, and where the first is */
    uint64_t damaged;      /* 1 + offset of the last record that could not be read; 0: none */
} gt_faults;

/* Whether a problem of that rule is a consequence: then it is counted. Otherwise it is to be
 * reported. now: v1: ticks of the event before; gap: ticks after which a fault is forgotten. */
bool gt_faults_follows(gt_faults *faults, gotrace_rule rule, uint64_t offset, int64_t now,
                       int64_t gap);

/* v2: a generation has ended. Its states are stated anew at the beginning of the next, which may
 * contradict what is known only from the fault. True: the fault is over; see gt_faults_close. */
bool gt_faults_generation(gt_faults *faults);

/* The fault is over: forget it. Returns the number of its consequences, *offset of the first. */
uint64_t gt_faults_close(gt_faults *faults, uint64_t *offset);

#endif
