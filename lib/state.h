/*
 * state.h - follow what goroutines, procs, the GC, tasks and regions do, and check it.
 *
 * The rules are those of Go's reader; after one is broken the event is believed, so that one fault
 * is reported once. Source: Go 1.21, internal/trace/parser.go, postProcessTrace.
 */
#ifndef GT_STATE_H
#define GT_STATE_H

#include "order.h"

/* What an event did, for model.c. */
typedef struct gt_effect {
    gt_goroutine *goroutine; /* the one that changed; NULL if none */
    uint8_t from, to;        /* gotrace_state; equal where nothing changed */
    int64_t lane;
    int64_t proc;   /* id, GOTRACE_NO_PROC */
    int64_t thread;
    uint64_t cause; /* offset of what made a run possible */
    uint64_t ended_name; /* UserTaskEnd: the task's name, a string's id */
    bool suspect;
} gt_effect;

gt_states *gt_states_new(gotrace_reader *reader, gt_goroutines *goroutines);

/* Follow an event. False when reading cannot go on. */
bool gt_states_step(gotrace_reader *reader, gt_states *states, const gt_event *event,
                    gt_effect *effect);

/* The same for an event of a futile wake-up, which changes nothing: only where it happened. */
void gt_states_pass(gotrace_reader *reader, gt_states *states, const gt_event *event,
                    gt_effect *effect);

/* The event has been delivered: a goroutine that it ended can be forgotten. */
bool gt_states_settle(gotrace_reader *reader, gt_states *states, const gt_event *event,
                      const gt_effect *effect);

void gt_states_free(gotrace_reader *reader, gt_states *states);

#endif
