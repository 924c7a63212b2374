/*
 * state.h - follow what goroutines, procs, the GC, tasks and regions do, and check it.
 *
 * The rules are those of Go's reader; after one is broken the event is believed, so that one fault
 * is reported once. Source: Go 1.21, internal/trace/parser.go, postProcessTrace.
 */
#ifndef GT_STATE_H
#define GT_STATE_H

#include "read/v1/order.h"

/* What an event did, for model.c. */
typedef struct gt_effect {
    gt_goroutine *goroutine; /* the one that changed; NULL if none */
    uint8_t from, to;        /* gotrace_state; set for transitions alone */
    bool suspect;
    uint32_t lane;       /* where Go's reader shows it, 0: on its proc */
    uint64_t cause;      /* of a run: offset of what made it possible */
    uint64_t ended_name; /* UserTaskEnd: the task's name, a string's id */
} gt_effect;

gt_states *gt_states_new(gotrace_reader *reader, gt_goroutines *goroutines);

/* Follow an event. False when reading cannot go on. */
bool gt_states_step(gotrace_reader *reader, gt_states *states, const gt_event *event,
                    gt_effect *effect);

/* The proc and thread that an event happened on, as they are now. */
void gt_states_place(const gt_states *states, const gt_event *event, int64_t *proc,
                     int64_t *thread);

void gt_states_free(gotrace_reader *reader, gt_states *states);

#endif
