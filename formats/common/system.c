/* system.c - leaving out the goroutines of the runtime, for whatever shows goroutines. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/narrow.h"

/* Until then a goroutine is created with an address instead of a stack. */
enum { VERSION_WITH_START_STACK = 7 };

/* Known facts of a goroutine; zero for an unknown one. */
enum { NOT_KNOWN, OF_PROGRAM, OF_SYSTEM, CREATED = 4 };

/* Keep the name of the function where a goroutine from before the trace starts. */
static void keep_start(system_goroutines *s, uint64_t id, const gotrace_frame *start)
{
    enum { MOST = 1 << 14, LONGEST = 1024 };

    if (s->starts.count >= MOST || start->function_size == 0 || start->function[0] == '\0' ||
        idmap_find(&s->starts, id))
        return;
    size_t size = start->function_size < LONGEST ? start->function_size : LONGEST;
    char *name = strndup(start->function, size);
    char **kept = name ? idmap_insert(&s->starts, id) : NULL;
    if (kept)
        *kept = name;
    else
        free(name);
    s->failed = s->failed || !kept;
}

/* By the function of a stack where the goroutine starts: its outermost. The name of that of a
 * goroutine from before, if one is given, is kept. */
static uint8_t given_by_stack(system_goroutines *s, gotrace_reader *reader, uint64_t stack,
                              uint64_t before)
{
    enum { FRAMES = 1000 };
    size_t depth = gotrace_reader_stack_depth(reader, stack);
    gotrace_frame frames[FRAMES];

    if (depth == 0 || depth > FRAMES || gotrace_reader_stack(reader, stack, frames, depth) != depth)
        return NOT_KNOWN;
    const gotrace_frame *start = &frames[depth - 1];
    if (before)
        keep_start(s, before, start);
    /* Until 1.21 threads of other languages have none. */
    if (start->function_size == 0)
        return s->version < GOTRACE_FIRST_V2 ? OF_SYSTEM : NOT_KNOWN;
    return function_is_system(start->function, start->function_size) ? OF_SYSTEM : OF_PROGRAM;
}

/* Whether the event tells of its subject for the first time, where statuses are told: after that it
 * has its track, and only who leaves goroutines out wants to know more. */
static bool is_first(const gotrace_event *e)
{
    return e->kind == GOTRACE_KIND_TRANSITION && e->resource == GOTRACE_RESOURCE_GOROUTINE &&
           (e->from == GOTRACE_STATE_NOT_EXIST || (e->flags & GOTRACE_EVENT_INITIAL));
}

static void learn(system_goroutines *s, gotrace_reader *reader, const gotrace_event *e)
{
    bool subject = e->kind == GOTRACE_KIND_TRANSITION && e->resource == GOTRACE_RESOURCE_GOROUTINE;
    bool created = subject && (e->from == GOTRACE_STATE_NOT_EXIST || e->start_stack != 0);
    /* In v2 a thread of another language that calls Go has a goroutine made for it. */
    bool foreign = created && e->to == GOTRACE_STATE_SYSCALL && s->version >= GOTRACE_FIRST_V2;
    bool ran = subject && e->to == GOTRACE_STATE_RUNNING;
    bool status = subject && (e->flags & GOTRACE_EVENT_INITIAL);
    uint64_t id = created || status || ran ? e->subject : e->goroutine;
    uint64_t stack = created ? e->start_stack : ran && !status ? 0 : e->stack;

    if (s->version < GOTRACE_FIRST_V2 && (!created || s->version < VERSION_WITH_START_STACK))
        return;
    if (id == 0 || e->kind == GOTRACE_KIND_SAMPLE || !(stack != 0 || created || ran))
        return;
    uint8_t *of = idmap_insert(&s->goroutines, id);
    if (!of)
        s->failed = true;
    else if (created || *of == NOT_KNOWN || *of == CREATED)
        *of = (uint8_t)((foreign ? OF_SYSTEM
                                 : given_by_stack(s, reader, stack,
                                                  s->ahead && !created && !*of ? id : 0)) |
                        (created ? CREATED : *of));
}

/* Goroutines that were created are described again before they end. */
static void forget(system_goroutines *s, const gotrace_event *e)
{
    if (e->kind != GOTRACE_KIND_TRANSITION || e->resource != GOTRACE_RESOURCE_GOROUTINE ||
        e->to != GOTRACE_STATE_NOT_EXIST)
        return;
    const uint8_t *of = idmap_find(&s->goroutines, e->subject);
    if (of && (*of & CREATED))
        idmap_remove(&s->goroutines, e->subject);
}

/* In v2 a goroutine from before the trace may be named long after it is first seen: so the trace is
 * read once more, before; most of them are named soon. */
static void look_ahead(system_goroutines *s, const convert_job *job)
{
    enum { SOON = 1 << 18 };
    gotrace_config config = job->config ? *job->config : (gotrace_config){0};
    gotrace_reader *reader;
    gotrace_status status = GOTRACE_EVENT;
    gotrace_event e;

    config.on_problem = NULL;
    config.on_progress = NULL;
    s->failed = gotrace_reader_open(job->source, &config, &reader, NULL) != GOTRACE_OK;
    if (s->failed)
        return;
    s->ahead = true;
    for (uint64_t n = 0; !s->failed && (s->left_out || n < SOON); n++) {
        status = gotrace_reader_next(reader, &e);
        if (status != GOTRACE_EVENT)
            break;
        learn(s, reader, &e);
        forget(s, &e);
    }
    s->ahead = false;
    s->complete = status == GOTRACE_END;
    /* Without it the timeline would differ. The reader of the trace reports the limit. */
    if (status == GOTRACE_ERROR && gotrace_reader_error(reader)->rule == GOTRACE_RULE_SYSTEM_MEMORY)
        s->failed = true;
    gotrace_reader_close(reader);
}

void system_goroutines_init(system_goroutines *s, const convert_job *job, bool given_apart)
{
    *s = (system_goroutines){.left_out = job->no_system, .reader = job->reader};
    s->asked = given_apart || s->left_out;
    s->version = gotrace_reader_summary(job->reader)->version;
    idmap_init(&s->goroutines, sizeof(uint8_t));
    idmap_init(&s->starts, sizeof(char *));
    if (s->asked && s->version >= GOTRACE_FIRST_V2 && job->source)
        look_ahead(s, job);
}

void system_goroutines_free(system_goroutines *s)
{
    size_t cursor = 0;
    uint64_t id;
    void *name;

    while (idmap_next(&s->starts, &cursor, &id, &name))
        free(*(char **)name);
    idmap_free(&s->starts);
    idmap_free(&s->goroutines);
}

const char *system_goroutines_start(const system_goroutines *s, uint64_t id)
{
    char *const *name = idmap_find(&s->starts, id);

    return name ? *name : NULL;
}

bool system_goroutines_is(const system_goroutines *s, uint64_t id)
{
    const uint8_t *of = id ? idmap_find(&s->goroutines, id) : NULL;

    /* One that never runs nor waits for anything that is told. Go's tools take whoever has no name
     * for the runtime's. */
    if (!of)
        return id && s->complete;
    return (*of & ~CREATED) == OF_SYSTEM;
}

/* Whether the event is about one of them alone; of a transition, of its subject. */
static bool is_theirs(const system_goroutines *s, const gotrace_event *e)
{
    switch ((gotrace_kind)e->kind) {
    case GOTRACE_KIND_TRANSITION:
        return e->resource == GOTRACE_RESOURCE_GOROUTINE && system_goroutines_is(s, e->subject);
    case GOTRACE_KIND_RANGE_BEGIN:
    case GOTRACE_KIND_RANGE_END:
    case GOTRACE_KIND_RANGE_ACTIVE:
        /* Cycles and stops of the world are everyone's. The end of a sweep may be that of one
         * which began before it was known by whom. */
        if (e->range == GOTRACE_RANGE_MARK_ASSIST)
            return s->acts ||
                   (e->kind == GOTRACE_KIND_RANGE_ACTIVE && system_goroutines_is(s, e->subject));
        return e->range == GOTRACE_RANGE_SWEEP && e->kind == GOTRACE_KIND_RANGE_BEGIN && s->acts;
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
    return s->acts;
}

bool system_goroutines_skip(system_goroutines *s, const gotrace_event *e)
{
    if (!s->asked)
        return false;
    if (s->left_out || s->version < GOTRACE_FIRST_V2 || is_first(e))
        learn(s, s->reader, e);
    s->acts = s->left_out && system_goroutines_is(s, e->goroutine);
    bool theirs = s->left_out && is_theirs(s, e);
    forget(s, e);
    return theirs;
}
