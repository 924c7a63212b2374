/*
 * state.h - tracks goroutines, procs, the GC, tasks and regions, and checks the rules.
 *
 * The rules are those of Go's reader. An event that breaks one is accepted as recorded, so that one
 * fault is reported once. Source: Go 1.21, internal/trace/parser.go, postProcessTrace.
 */
#ifndef GT_STATE_H
#define GT_STATE_H

#include "read/v1/order.h"

/* The effect of an event, for model.c. */
typedef struct gt_effect {
    gt_goroutine *goroutine; /* the one that changed; NULL: none */
    uint8_t from, to;        /* gotrace_state, for transitions only */
    bool suspect;
    uint32_t lane;       /* where Go's reader shows it, 0: on its proc */
    uint64_t cause;      /* of a run: offset of the event that made it possible */
    uint64_t ended_name; /* UserTaskEnd: the task's name, a string id */
} gt_effect;

gt_states *gt_states_new(gotrace_reader *reader, gt_goroutines *goroutines);

/* Handles an event. False if reading cannot continue. */
bool gt_states_step(gotrace_reader *reader, gt_states *states, const gt_event *event,
                    gt_effect *effect);

/* The current proc and thread of an event. */
void gt_states_place(const gt_states *states, const gt_event *event, int64_t *proc,
                     int64_t *thread);

void gt_states_free(gotrace_reader *reader, gt_states *states);

#endif
