/*
 * faults.h - separates a fault from its consequences.
 *
 * A record that is lost or altered leaves goroutines, procs and threads in states that later events
 * do not fit. The first such events are reported; others soon after are consequences, which are
 * counted and summarised in one note.
 */
#ifndef GT_FAULTS_H
#define GT_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "gotrace.h"

typedef struct gt_faults {
    bool open;            /* a fault was reported; later problems may be consequences */
    uint8_t age;          /* v2: number of generations that ended since */
    uint8_t forgotten;    /* v1: twice the number of times that a fault was forgotten */
    int64_t last;         /* v1: ticks of the last event that did not fit */
    unsigned reported[2]; /* problems of classes INCONSISTENT and CLOCKS reported since the fault */
    unsigned tables[2];   /* missing entries and missing tables reported in this trace */
    uint64_t more, offset; /* number of consequences, and offset of the first */
    uint64_t damaged;      /* 1 + offset of the last unreadable record; 0: none */
} gt_faults;

/* Whether a problem with that rule is a consequence; if so it is counted, otherwise the caller must
 * report it. now: v1: ticks of the previous event; gap: ticks after which a fault is forgotten. */
bool gt_faults_follows(gt_faults *faults, gotrace_rule rule, uint64_t offset, int64_t now,
                       int64_t gap);

/* v2: call at the end of a generation. The next generation begins with new statuses, which may
 * contradict states that follow from the fault. True: the fault is over; call gt_faults_close. */
bool gt_faults_generation(gt_faults *faults);

/* Ends the fault. Returns the number of its consequences, with *offset set to that of the first. */
uint64_t gt_faults_close(gt_faults *faults, uint64_t *offset);

#endif
