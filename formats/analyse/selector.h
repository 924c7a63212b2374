/*
 * selector.h - applies a selection to the events and goroutines of one trace.
 *
 * State is followed from the start of the trace: which goroutine is in which region and task, and
 * where it starts. An event is selected if it is in the time range, on a listed proc, thread and in
 * a listed generation, and if there is one goroutine on which it happens, or whose state it
 * changes, that is listed, starts at a matching function (or the event's stack has one), belongs to
 * a listed task (or the event is one of the task's) and is in a listed region. So a selection
 * changes neither verdicts nor times. An interval of states.h is on the proc and thread, and in the
 * generation, of the event with which it begins (states_user.changed). Memory depends on
 * live goroutines, their open regions, open tasks, and different stacks and names.
 */
#ifndef ANALYSE_SELECTOR_H
#define ANALYSE_SELECTOR_H

#include "formats/analyse/matcher.h"
#include "formats/analyse/selection.h"
#include "formats/analyse/stacks.h"

typedef struct selector {
    const selection *what;
    select_range range;
    const feed *source;
    stacks *stacks;   /* borrowed; needed if there is a --function */
    bool beginning;   /* v1: the goroutines at the beginning are still being reported */
    bool has_starts;  /* events have the stack where a goroutine starts, not a PC */
    idmap goroutines; /* selected_goroutine */
    idmap tasks;      /* open tasks of a listed name */
    matcher function;
    void (*add)(void *ctx, uint64_t id); /* NULL: none */
    void *ctx;                           /* of add */
    uint64_t count;                      /* of selected events */
    bool failed;                         /* memory was refused */
    bool too_hard;            /* matching a name reached a limit; selects nothing from then on */
    uint32_t hard;            /* that name */
    const _Atomic bool *stop; /* of the job */
} selector;

/* version: of the trace. The job is borrowed; NULL: everything is selected. */
void selector_init(selector *s, const select_job *job, int version, const feed *source,
                   stacks *names);

/* Sets the results of the job, if it is not NULL, and frees the selector. If the job is that of
 * several selectors, it failed if one of them did. */
void selector_end(selector *s, select_job *job);

/* selector_event with a selection. */
bool selector_follow(selector *s, const gotrace_event *e);

/* Follows the event, which must be the next one of the trace, and returns whether it is selected.
 */
static inline bool selector_event(selector *s, const gotrace_event *e)
{
    return !s->what || selector_follow(s, e);
}

/* Goroutines as a whole: from now on calls add (which is also called before this returns) for each
 * goroutine that satisfies the criteria in the time range, by its state or because of an event: by
 * a stack of its own, because it is one of a listed task or region, or because the event is on a
 * listed proc or thread. It may be called several times for one goroutine. */
void selector_add_goroutines(selector *s, void (*add)(void *ctx, uint64_t id), void *ctx);

/* selector_interval with a selection of goroutines. */
bool selector_stretch(selector *s, uint64_t id, uint32_t function, uint32_t stack);

/* Whether the goroutine's time has to be divided where the event is: it enters or leaves a
 * region. */
static inline bool selector_divides(const selector *s, const gotrace_event *e)
{
    return (e->kind == GOTRACE_KIND_REGION_BEGIN || e->kind == GOTRACE_KIND_REGION_END) &&
           s->what && (s->what->given & (SELECT_BIT(SELECT_TASK) | SELECT_BIT(SELECT_REGION)));
}

static inline bool selector_has(const selector *s, unsigned criteria)
{
    return s->what && (s->what->given & criteria);
}

/* Whether the event is on a listed proc and thread and in a listed generation. There must be a
 * selection. */
bool selector_is_there(const selector *s, const gotrace_event *e);

/* Whether the place of the event with which a stretch of time begins matters. */
static inline bool selector_has_places(const selector *s)
{
    return selector_has(s, SELECT_OF_PLACES);
}

/* Whether a stretch of the time of the goroutine of that id is selected, apart from the time range:
 * before selector_event gets the event that ends it. function: where the goroutine starts; stack:
 * that of the stretch. */
static inline bool selector_interval(selector *s, uint64_t id, uint32_t function, uint32_t stack)
{
    return !selector_has(s, SELECT_OF_GOROUTINES) || selector_stretch(s, id, function, stack);
}

/* Whether another thread ends the reading. */
static inline bool selector_stopped(const selector *s)
{
    return s->stop && *s->stop;
}

static inline bool selector_ends(const selector *s)
{
    return s->failed || s->too_hard;
}

#endif
