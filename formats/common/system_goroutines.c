#include "formats/common/system_goroutines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/functions.h"
#include "formats/common/rows_by_meaning.h"

/* Facts about a goroutine; 0 for an unknown one. CREATED is a flag: the trace contains its
 * creation. */
enum { NOT_KNOWN, OF_PROGRAM, OF_SYSTEM, CREATED = 4 };

/* Keeps the name of the start function of a goroutine that existed before the trace. */
static void keep_start(system_goroutines *s, uint64_t id, const gotrace_frame *start)
{
    enum { MOST = 1 << 14, LONGEST = 1024 };

    if (s->starts.count >= MOST || start->function_size == 0 || start->function[0] == '\0' ||
        idmap_find(&s->starts, id))
        return;
    size_t size = start->function_size < LONGEST ? start->function_size : LONGEST;
    char *name = strndup(start->function, size);
    char **slot = name ? idmap_insert(&s->starts, id) : NULL;
    if (slot)
        *slot = name;
    else
        free(name);
    s->failed = s->failed || !slot;
}

/* Classifies a goroutine by the outermost frame of a stack, where it starts. If before is not 0, it
 * is the id of a goroutine that existed before the trace, and the function name is kept for it. */
static uint8_t classify_by_stack(system_goroutines *s, const feed *source, uint64_t stack,
                                 uint64_t before)
{
    gotrace_frame start;

    if (!feed_outermost(source, stack, &start))
        return NOT_KNOWN;
    if (before)
        keep_start(s, before, &start);
    /* Before 1.22, threads of other languages have no start function. */
    if (start.function_size == 0)
        return s->version < GOTRACE_FIRST_V2 ? OF_SYSTEM : NOT_KNOWN;
    return function_is_system(start.function, start.function_size) ? OF_SYSTEM : OF_PROGRAM;
}

/* The same for a start stack. Many goroutines may have the same. */
static uint8_t classify_by_start(system_goroutines *s, const feed *source, const gotrace_event *e)
{
    const uint64_t start = gotrace_event_start_stack(e);
    size_t slot = start % SYSTEM_STACKS;

    if (s->stacks[slot].facts == 0 || s->stacks[slot].stack != start ||
        s->stacks[slot].generation_index != source->generation_index) {
        s->stacks[slot].stack = start;
        s->stacks[slot].generation_index = source->generation_index;
        s->stacks[slot].facts = classify_by_stack(s, source, start, 0);
    }
    return s->stacks[slot].facts;
}

/* Whether the event is the first one of its subject. A goroutine gets its track then; later facts
 * matter only if system goroutines are omitted. */
static bool is_first(const gotrace_event *e)
{
    return e->kind == GOTRACE_KIND_TRANSITION && e->resource == GOTRACE_RESOURCE_GOROUTINE &&
           (e->from == GOTRACE_STATE_NOT_EXIST || (e->flags & GOTRACE_EVENT_INITIAL));
}

static void learn(system_goroutines *s, const feed *source, const gotrace_event *e)
{
    bool subject = e->kind == GOTRACE_KIND_TRANSITION && e->resource == GOTRACE_RESOURCE_GOROUTINE;
    bool created = subject &&
                   (e->from == GOTRACE_STATE_NOT_EXIST || gotrace_event_start_stack(e) != 0);
    /* v2: for a call from a thread of another language into Go the runtime creates a goroutine. */
    bool foreign = created && e->to == GOTRACE_STATE_SYSCALL && s->version >= GOTRACE_FIRST_V2;
    bool ran = subject && e->to == GOTRACE_STATE_RUNNING;
    bool status = subject && (e->flags & GOTRACE_EVENT_INITIAL);
    uint64_t id = created || status || ran ? e->subject : e->goroutine;
    uint64_t stack = start_stack_of(e, id);

    if (s->version < GOTRACE_FIRST_V2 && (!created || s->version < FIRST_START_STACK))
        return;
    if (id == 0 || e->kind == GOTRACE_KIND_SAMPLE || !(stack != 0 || created || ran))
        return;
    uint8_t *facts = idmap_insert(&s->goroutines, id);
    if (!facts)
        s->failed = true;
    else if (created)
        *facts = (foreign ? OF_SYSTEM : classify_by_start(s, source, e)) | CREATED;
    else if (*facts == NOT_KNOWN || *facts == CREATED)
        *facts |= classify_by_stack(s, source, stack, s->reading_ahead && !*facts ? id : 0);
}

/* Drops the facts of a created goroutine when it ends: its id may be used again. */
static void forget(system_goroutines *s, const gotrace_event *e)
{
    if (e->kind != GOTRACE_KIND_TRANSITION || e->resource != GOTRACE_RESOURCE_GOROUTINE ||
        e->to != GOTRACE_STATE_NOT_EXIST)
        return;
    const uint8_t *facts = idmap_find(&s->goroutines, e->subject);
    if (facts && (*facts & CREATED))
        idmap_remove(&s->goroutines, e->subject);
}

/* v2 may name a goroutine that existed before the trace long after its first event, so a second
 * reader reads ahead. Most of them are named early in the trace. */
static void read_ahead(system_goroutines *s, const convert_job *job)
{
    enum { SOON = 1 << 18 };
    gotrace_config config = job->config ? *job->config : (gotrace_config){0};
    gotrace_reader *reader;
    gotrace_status status = GOTRACE_EVENT;
    const gotrace_event *e;
    uint64_t number;

    config.on_problem = NULL;
    config.on_progress = NULL;
    s->failed = gotrace_reader_open(job->source, &config, &reader, NULL) != GOTRACE_OK;
    if (s->failed)
        return;
    feed source;
    feed_init(&source, reader, false, 1);
    s->reading_ahead = true;
    for (uint64_t n = 0; !s->failed && (s->no_system || n < SOON); n++) {
        status = feed_next(&source, &e);
        if (status != GOTRACE_EVENT)
            break;
        learn(s, &source, e);
        forget(s, e);
        processes_learn(&s->processes, e, &number);
    }
    s->reading_ahead = false;
    s->complete = status == GOTRACE_END;
    /* The output would depend on the failure. The reader of the trace reports the limit. */
    if (status == GOTRACE_ERROR && gotrace_reader_error(reader)->rule == GOTRACE_RULE_SYSTEM_MEMORY)
        s->failed = true;
    feed_free(&source);
    gotrace_reader_close(reader);
}

void system_goroutines_init(system_goroutines *s, const convert_job *job, const feed *source,
                            bool needed)
{
    *s = (system_goroutines){.no_system = job->no_system, .source = source};
    if (job->select && (job->select->what->given & SELECT_BIT(SELECT_GOROUTINE))) {
        s->only = &job->select->what->ids[SELECT_GOROUTINE];
        s->count = &job->select->count;
    }
    s->left_out = s->no_system || s->only;
    s->needed = needed || s->left_out;
    s->version = gotrace_reader_summary(job->reader)->version;
    idmap_init(&s->goroutines, sizeof(uint8_t));
    idmap_init(&s->starts, sizeof(char *));
    processes_init(&s->processes);
    if ((needed || s->no_system) && s->version >= GOTRACE_FIRST_V2 && job->source)
        read_ahead(s, job);
}

void system_goroutines_free(system_goroutines *s)
{
    size_t cursor = 0;
    uint64_t id;
    void *name;

    while (idmap_next(&s->starts, &cursor, &id, &name))
        free(*(char **)name);
    idmap_free(&s->starts);
    processes_free(&s->processes);
    idmap_free(&s->goroutines);
}

const char *system_goroutines_start(const system_goroutines *s, uint64_t id)
{
    char *const *name = idmap_find(&s->starts, id);

    return name ? *name : NULL;
}

bool system_goroutines_is(const system_goroutines *s, uint64_t id)
{
    const uint8_t *facts = id ? idmap_find(&s->goroutines, id) : NULL;

    /* No event has a stack of this goroutine. Go's tools count goroutines without a name as system
     * goroutines. */
    if (!facts)
        return id && s->complete;
    return (*facts & ~CREATED) == OF_SYSTEM;
}

static bool is_out(const system_goroutines *s, uint64_t id)
{
    return (s->only && id != 0 && !select_has_id(s->only, id)) ||
           (s->no_system && system_goroutines_is(s, id));
}

/* Whether the event concerns omitted goroutines only; for a transition, its subject. */
static bool is_theirs(const system_goroutines *s, const gotrace_event *e)
{
    switch ((gotrace_kind)e->kind) {
    case GOTRACE_KIND_TRANSITION:
        return e->resource == GOTRACE_RESOURCE_GOROUTINE && is_out(s, e->subject);
    case GOTRACE_KIND_RANGE_BEGIN:
    case GOTRACE_KIND_RANGE_END:
    case GOTRACE_KIND_RANGE_ACTIVE:
        switch (range_owner(e->range)) {
        case GOTRACE_RESOURCE_NONE: return false; /* it concerns all goroutines */
        case GOTRACE_RESOURCE_GOROUTINE:
            return s->current_is_out ||
                   (e->kind == GOTRACE_KIND_RANGE_ACTIVE && is_out(s, e->subject));
        case GOTRACE_RESOURCE_PROC:
            /* It may end one that began before the goroutine was known. */
            return e->kind == GOTRACE_KIND_RANGE_BEGIN && s->current_is_out;
        }
        break;
    case GOTRACE_KIND_METRIC: return false;
    case GOTRACE_KIND_NONE:
    case GOTRACE_KIND_SYSCALL:
    case GOTRACE_KIND_LABEL:
    case GOTRACE_KIND_TASK_BEGIN:
    case GOTRACE_KIND_TASK_END:
    case GOTRACE_KIND_REGION_BEGIN:
    case GOTRACE_KIND_REGION_END:
    case GOTRACE_KIND_LOG:
    case GOTRACE_KIND_SYNC:
    case GOTRACE_KIND_EXPERIMENT:
    case GOTRACE_KIND_SAMPLE: break;
    }
    return s->current_is_out;
}

/* Whether the event is one of a selected goroutine, or about it. */
static bool is_selected(const system_goroutines *s, const gotrace_event *e)
{
    return (e->goroutine != 0 && select_has_id(s->only, e->goroutine)) ||
           (e->kind == GOTRACE_KIND_TRANSITION && e->resource == GOTRACE_RESOURCE_GOROUTINE &&
            select_has_id(s->only, e->subject));
}

bool system_goroutines_skip(system_goroutines *s, const gotrace_event *e)
{
    if (!s->needed)
        return false;
    if (s->no_system || is_first(e))
        learn(s, s->source, e);
    s->current_is_out = s->left_out && is_out(s, e->goroutine);
    bool theirs = s->left_out && is_theirs(s, e);
    if (s->only)
        *s->count += is_selected(s, e);
    forget(s, e);
    return theirs;
}
