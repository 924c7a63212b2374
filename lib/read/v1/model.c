#include "read/v1/model.h"

#include <string.h>

#include "core/head.h"
#include "core/times.h"

/* Go 1.21's stwReasonStrings: reasons of a stop-the-world by kind. */
static const char *const stw_reasons[] = {
    "unknown",
    "GC mark termination",
    "GC sweep termination",
    "write heap dump",
    "goroutine profile",
    "goroutine profile cleanup",
    "all goroutines stack trace",
    "read mem stats",
    "AllThreadsSyscall",
    "GOMAXPROCS",
    "start trace",
    "stop trace",
    "CountPagesInUse (test)",
    "ReadMetricsSlow (test)",
    "ReadMemStatsSlow (test)",
    "PageCachePagesLeaked (test)",
    "ResetDebugLog (test)",
};

const char *gotrace_stw_reason(int version, uint64_t kind)
{
    if (version < GT_FIRST_STW_REASON)
        return kind == 0 ? "mark termination" : kind == 1 ? "sweep termination" : "unknown";
    return stw_reasons[kind < sizeof stw_reasons / sizeof *stw_reasons ? kind : 0];
}

static void set_text(const gotrace_reader *reader, gotrace_event *out, uint64_t string)
{
    out->text_size = 0;
    out->text = gotrace_reader_string(reader, string, &out->text_size);
}

/* Reads the message of a log from the file, because it is not in a table. */
static bool load_message(gotrace_reader *reader, const gt_event *e, gotrace_event *out)
{
    void *message = reader->message;
    size_t got;
    if (!gt_grow(&reader->heap, &message, &reader->message_capacity, e->data_size + (size_t)1, 1))
        return gt_fail_memory(reader);
    reader->message = message;
    if (gt_read_bytes(reader, e->offset + e->data_at, reader->message, e->data_size, &got) < 0)
        return gt_fail(reader);
    out->message = reader->message;
    out->message_size = got;
    return true;
}

/* What only transitions have. */
typedef struct changed {
    uint64_t subject, cause, start_stack;
} changed;

/* Sets the members of a transition. Returns those of its head. */
static inline gt_head fill_transition(const gt_event *e, const gt_v1_shape *shape,
                                      const gt_effect *effect, uint8_t resource, int64_t proc,
                                      changed *out)
{
    gt_head states = GT_HEAD_OF(from, effect->from) | GT_HEAD_OF(to, effect->to);
    if (resource == GOTRACE_RESOURCE_PROC) {
        out->subject = (uint64_t)proc;
        return states;
    }
    out->subject = effect->goroutine ? effect->goroutine->id : e->goroutine;
    if (effect->to == GOTRACE_STATE_RUNNING && effect->from != GOTRACE_STATE_RUNNING)
        out->cause = effect->cause;
    if (shape->start)
        out->start_stack = e->args[shape->start - 1];
    bool was_there = shape->action == GT_ACTION_CREATE &&
                     effect->from == GOTRACE_STATE_UNDETERMINED;
    bool initial = was_there || shape->does->initial;
    return states | GT_HEAD_OF(flags, initial ? GOTRACE_EVENT_INITIAL : 0);
}

/* The mode is 0 or 1; others have no meaning. */
static gotrace_kind kind_of_region(uint64_t mode)
{
    return mode == 0   ? GOTRACE_KIND_REGION_BEGIN
           : mode == 1 ? GOTRACE_KIND_REGION_END
                       : GOTRACE_KIND_NONE;
}

/* A sample without a proc has proc -1. */
static void set_sample(gotrace_event *out)
{
    out->lane = (int64_t)out->args[1];
    out->proc = out->args[1] == UINT64_MAX ? GOTRACE_NO_PROC : out->lane;
}

/* Fields that depend on more than the type, of an event whose shape is detailed. */
static bool fill_details(gotrace_reader *reader, const gt_event *e, const gt_v1_shape *shape,
                         const gt_effect *effect, gotrace_event *out)
{
    if (shape->task)
        out->subject = e->args[shape->task - 1];
    if (shape->parent)
        out->value = e->args[shape->parent - 1];
    if (shape->string)
        set_text(reader, out, e->args[shape->string - 1]);
    switch ((gt_action)shape->action) {
    case GT_ACTION_METRIC: out->value = out->args[0]; break;
    case GT_ACTION_RANGE_BEGIN:
        if (shape->range == GOTRACE_RANGE_STW)
            out->reason = gotrace_stw_reason(reader->summary.version, e->args[0]);
        break;
    case GT_ACTION_TASK_END: set_text(reader, out, effect->ended_name); break;
    case GT_ACTION_REGION: out->kind = (uint8_t)kind_of_region(e->args[1]); break;
    case GT_ACTION_LOG: return load_message(reader, e, out);
    case GT_ACTION_SAMPLE: set_sample(out); break;
    case GT_ACTION_UNKNOWN: /* the row is sufficient */
    case GT_ACTION_NONE:
    case GT_ACTION_CREATE:
    case GT_ACTION_START:
    case GT_ACTION_STOP:
    case GT_ACTION_WAKE:
    case GT_ACTION_EXIT:
    case GT_ACTION_FOUND:
    case GT_ACTION_SYSCALL:
    case GT_ACTION_PROC_START:
    case GT_ACTION_PROC_STOP:
    case GT_ACTION_RANGE_END:
    case GT_ACTION_TASK_BEGIN: break;
    }
    return true;
}

/* The goroutine leaves a state, or makes a short system call. Returns whether the end of the state
 * is selected, and it lasted as long as wanted. */
GT_INLINE bool lasted(gotrace_reader *reader, const gt_event *e, gt_goroutine *g, uint8_t state)
{
    const gt_wanted *w = &reader->wanted;
    int64_t began = g->began;
    bool known = reader->states->started && state != GOTRACE_STATE_UNDETERMINED;
    g->began = known ? e->ticks : GOTRACE_NO_TIME;
    if (!gt_is_lasting(w, state) || began == GOTRACE_NO_TIME)
        return w->from >> state & 1;
    reader->since = began;
    /* In a damaged trace a state may end before it began: it took no time. */
    if (w->least[state] == 0)
        return true;
    return gt_time_between(began, e->ticks) >= w->least_ticks[state] &&
           gt_time_between(gt_time_of(reader, began), gt_time_of(reader, e->ticks)) >=
               w->least[state];
}

void gt_model_set_since(const gotrace_reader *reader, gotrace_event *out)
{
    if (reader->since != GOTRACE_NO_TIME)
        out->since = gt_time_of(reader, reader->since);
}

/* A transition of a goroutine whose kind is not wanted. */
static bool wants_change(const gotrace_reader *reader, const gt_event *e, const gt_v1_shape *shape,
                         const gt_effect *effect, bool long_enough)
{
    const gt_wanted *w = &reader->wanted;
    gt_goroutine *g = effect->goroutine;
    bool creates = shape->action == GT_ACTION_CREATE;
    if (!g || shape->does->initial || (creates && effect->from == GOTRACE_STATE_UNDETERMINED) ||
        (gt_is_lasting(w, GOTRACE_STATE_RUNNING) && !reader->states->started))
        return true;
    bool created = creates && effect->from == GOTRACE_STATE_NOT_EXIST;
    uint64_t stack = created ? g->start_stack : g->id == e->goroutine ? e->stack : 0;
    bool starts = !g->shown_start && stack != 0 && gt_shows_start(reader, stack);
    g->shown_start = g->shown_start || starts;
    return starts || created ||
           (effect->from != effect->to && (long_enough || w->into >> effect->to & 1));
}

static uint8_t kind_of(const gt_event *e, const gt_v1_shape *shape)
{
    if (e->flags & GOTRACE_EVENT_FUTILE)
        return GOTRACE_KIND_NONE;
    if (e->flags & GT_EVENT_BLOCKS)
        return GOTRACE_KIND_TRANSITION;
    return shape->action == GT_ACTION_REGION ? (uint8_t)kind_of_region(e->args[1]) : shape->kind;
}

bool gt_model_wants(gotrace_reader *reader, const gt_event *e, const gt_effect *effect)
{
    const gt_wanted *w = &reader->wanted;
    const gt_v1_shape *shape = &reader->index.shapes[e->type];
    uint8_t kind = kind_of(e, shape);
    bool change = kind == GOTRACE_KIND_TRANSITION && shape->resource != GOTRACE_RESOURCE_PROC;
    bool long_enough = false, suspect = effect->suspect || e->flags & GOTRACE_EVENT_SUSPECT;
    reader->since = GOTRACE_NO_TIME;
    if (change && effect->goroutine && effect->from != effect->to)
        long_enough = w->lasting ? lasted(reader, e, effect->goroutine, effect->from)
                                 : w->from >> effect->from & 1;
    else if (kind == GOTRACE_KIND_SYSCALL)
        long_enough = gt_is_lasting(w, GOTRACE_STATE_RUNNING) &&
                      lasted(reader, e, reader->states->current.g, GOTRACE_STATE_RUNNING);
    if (suspect || gt_wants_kind(w, kind))
        return true;
    if (!change || !gt_wants_changes(w))
        return long_enough;
    return wants_change(reader, e, shape, effect, long_enough);
}

bool gt_model_wants_change(gotrace_reader *reader, const gt_event *e, const gt_effect *effect)
{
    const gt_wanted *w = &reader->wanted;
    gt_goroutine *g = effect->goroutine;
    uint8_t from = effect->from, to = effect->to;
    if (!g || !reader->states->started || from == to || !g->shown_start)
        return gt_model_wants(reader, e, effect);
    reader->since = GOTRACE_NO_TIME;
    bool long_enough = w->lasting ? lasted(reader, e, g, from) : w->from >> from & 1;
    return long_enough || w->into >> to & 1;
}

bool gt_model_fill(gotrace_reader *reader, const gt_event *e, const gt_effect *effect,
                   gotrace_event *out)
{
    const gt_v1_shape *shape = &reader->index.shapes[e->type];
    bool futile = e->flags & GOTRACE_EVENT_FUTILE; /* no effect and no meaning */
    bool blocks = e->flags & GT_EVENT_BLOCKS;
    uint8_t kind = blocks ? GOTRACE_KIND_TRANSITION : shape->kind;
    uint8_t resource = blocks ? GOTRACE_RESOURCE_GOROUTINE : shape->resource;
    const gt_proc_state *place = gt_states_proc(reader->states, e);
    /* Set field by field: clearing the whole struct first takes longer than the rest. */
    out->time = gt_time_of(reader, e->ticks);
    out->ticks = (uint64_t)e->ticks;
    out->offset = e->offset;
    out->proc = place->id;
    out->lane = effect->lane ? (int64_t)effect->lane : place->id;
    out->thread = place->thread;
    out->generation = out->generation_index = 0;
    out->goroutine = e->goroutine;
    out->value = 0;
    out->stack = e->stack;
    out->args = e->args;
    out->metric = shape->does->metric;
    out->reason = shape->kind == GOTRACE_KIND_TRANSITION && !futile ? shape->does->text : NULL;
    out->text = out->message = NULL;
    out->text_size = out->message_size = 0;
    out->since = GOTRACE_NO_TIME;
    gt_head head = GT_HEAD_OF(type, e->type) | GT_HEAD_OF(range, shape->range) |
                   GT_HEAD_OF(arg_count, shape->slots) |
                   GT_HEAD_OF(flags, e->flags & (uint8_t)~GT_EVENT_BLOCKS) |
                   GT_HEAD_OF(flags, effect->suspect ? GOTRACE_EVENT_SUSPECT : 0) |
                   GT_HEAD_OF(flags, effect->no_begin ? GOTRACE_EVENT_NO_BEGIN : 0);
    if (!futile)
        head |= GT_HEAD_OF(kind, kind) | GT_HEAD_OF(resource, resource);
    changed change = {0};
    if (!futile && kind == GOTRACE_KIND_TRANSITION)
        head |= fill_transition(e, shape, effect, resource, place->id, &change);
    out->subject = change.subject;
    out->start_stack = change.start_stack;
    out->cause = change.cause;
    gt_head_set(out, head);
    return futile || !shape->detailed || fill_details(reader, e, shape, effect, out);
}

static gt_brief_type brief_type_of(const gt_v1_shape *shape, unsigned type)
{
    bool transition = shape->kind == GOTRACE_KIND_TRANSITION;
    bool goroutine = transition && shape->resource != GOTRACE_RESOURCE_PROC;
    bool initial = goroutine && shape->does->initial;
    return (gt_brief_type){.head = GT_HEAD_OF(type, type) | GT_HEAD_OF(kind, shape->kind) |
                                   GT_HEAD_OF(resource, shape->resource) |
                                   GT_HEAD_OF(flags, initial ? GOTRACE_EVENT_INITIAL : 0),
                           .reason = shape->does->text,
                           .fits = (transition || shape->kind == GOTRACE_KIND_SYSCALL) &&
                                   !shape->detailed,
                           .transition = transition,
                           .goroutine = goroutine,
                           .creates = goroutine && shape->action == GT_ACTION_CREATE,
                           .start = goroutine ? shape->start : 0,
                           .given = shape->does->text ? GOTRACE_BRIEF_REASON : GOTRACE_BRIEF_CAUSE};
}

void gt_model_begin(gotrace_reader *reader)
{
    for (unsigned type = 0; type < 64; type++)
        if (reader->index.shapes[type].does)
            reader->index.brief_types[type] = brief_type_of(&reader->index.shapes[type], type);
}
