/* history.c - the states of all goroutines, and the tasks, regions and goroutines that match. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/analyse/path.h"
#include "formats/analyse/selector.h"
#include "formats/analyse/waits_for.h"
#include "formats/common/vector.h"

typedef struct open_region {
    uint32_t name;
    uint64_t task;
    int64_t begin;
    bool selected; /* its beginning is */
} open_region;

typedef struct path_goroutine {
    goroutine g;
    uint32_t record;       /* of its state; 0: none yet */
    uint32_t waits_for;    /* a name: of its last event, if that was such a log; else 0 */
    bool assists, created; /* created: in the trace */
    bool selected;         /* its first event is */
    open_region *regions;
    size_t region_count, region_room;
} path_goroutine;

typedef struct open_task {
    uint32_t name;
    uint64_t goroutine; /* that began it */
    int64_t begin;
    bool selected; /* its beginning is */
} open_task;

typedef struct run {
    paths *p;
    feed feed;
    states states;
    selector selector;
    bool selected; /* the current event is */
    uint64_t made; /* a goroutine that the current event is the first one of; 0: none */
    idmap tasks;   /* open_task */
    /* The goroutine that ended last, which may cause a change by the same event. */
    uint64_t ended;
    uint32_t ended_record;
    int64_t ended_time;
    idmap forever; /* the states (uint32_t) of goroutines that wait forever, for tasks */
} run;

/* ---- states -----------------------------------------------------------------------------------
 */

static path_goroutine *goroutine_of(const run *r, uint64_t id)
{
    return (path_goroutine *)states_goroutine(&r->states, id);
}

/* The state of the goroutine that caused g's. */
static uint32_t record_of_cause(const run *r, const goroutine *g)
{
    const path_goroutine *cause = goroutine_of(r, g->current.cause);
    if (cause)
        return cause->record;
    return r->ended == g->current.cause && r->ended_time == r->states.time ? r->ended_record : 0;
}

/* Part of states_step, which is expanded once. */
static inline __attribute__((always_inline)) void add_state(run *r, path_goroutine *own,
                                                            int64_t time)
{
    const interval *now = &own->g.current;
    uint32_t cause = 0;
    uint8_t caused = CAUSE_NONE;
    /* What caused a state that began before the trace is not known. */
    if (now->whole && now->cause && (own->record || own->created)) {
        caused = now->cause == own->g.id ? CAUSE_SELF : CAUSE_OTHER;
        cause = caused == CAUSE_OTHER ? record_of_cause(r, &own->g) : 0;
    }
    if (r->p->history.count > UINT32_MAX - 1) {
        r->p->history.error = EOVERFLOW;
        return;
    }
    path_state *made = big_array_add(&r->p->history);
    if (!made)
        return;
    *made = (path_state){.time = time < r->states.time ? time : r->states.time,
                         .goroutine = own->g.id,
                         .before = own->record,
                         .cause = cause,
                         .stack = now->stack,
                         .function = own->g.function,
                         .reason = now->reason,
                         .waits_for = now->state == GOTRACE_STATE_WAITING ? own->waits_for : 0,
                         .state = now->state,
                         .caused = caused,
                         .assist = own->assists};
    own->record = (uint32_t)(r->p->history.count - 1);
    own->waits_for = 0;
}

static inline void state_changed(void *ctx, goroutine *g, const gotrace_event *e)
{
    (void)e;
    path_goroutine *own = (path_goroutine *)g;
    add_state(ctx, own, own->record ? g->current.begin : g->created);
}

/* An assist divides a run into parts. */
static void assist_event(run *r, const gotrace_event *e)
{
    bool active = e->kind == GOTRACE_KIND_RANGE_ACTIVE, begins = e->kind != GOTRACE_KIND_RANGE_END;
    path_goroutine *own = goroutine_of(r, active ? e->subject : e->goroutine);
    if (!own || own->assists == begins)
        return;
    own->assists = begins;
    if (own->g.current.state != GOTRACE_STATE_RUNNING)
        return;
    interval kept = own->g.current;
    own->g.current.stack = stacks_of(r->p->stacks, e->stack);
    own->g.current.cause = 0;
    add_state(r, own, r->states.time);
    own->g.current = kept;
}

static void log_event(run *r, const gotrace_event *e)
{
    const gotrace_details *details = gotrace_event_details(e);
    path_goroutine *own = goroutine_of(r, e->goroutine);
    if (own)
        own->waits_for = waits_for_is(e, WAITS_FOR)
                             ? stacks_name(r->p->stacks, details->message, details->message_size)
                             : 0;
}

/* ---- intervals --------------------------------------------------------------------------------
 */

static bool is_name(const run *r, uint32_t name)
{
    size_t size;
    const char *text = stacks_text(r->p->stacks, name, &size);
    const char *wanted = r->p->query.name;
    return strlen(wanted) == size && memcmp(text, wanted, size) == 0;
}

static void count_name(run *r, uint32_t name)
{
    path_name *counted = idmap_insert(&r->p->names, name);
    if (!counted) {
        r->p->failed = true;
        return;
    }
    counted->name = name;
    counted->count++;
}

/* Makes the length of an interval a positive number; clocks of damaged traces go anywhere. */
static void bound_length(path_interval *i)
{
    int64_t ns;
    if (i->begin > i->end)
        i->begin = i->end;
    if (__builtin_sub_overflow(i->end, i->begin, &ns))
        i->begin = i->end - INT64_MAX;
}

/* Restricts an interval to the time range; false if no part of it is there. */
static bool restrict_interval(path_interval *i, const select_range *range)
{
    i->whole_begin = i->begin;
    i->whole_end = i->end;
    if (i->begin >= range->until || (i->end <= range->from && i->begin < range->from))
        return false;
    i->begin = i->begin < range->from ? range->from : i->begin;
    i->end = i->end > range->until ? range->until : i->end;
    return true;
}

/* Keeps an interval if it is one of the longest. */
static void keep_interval(paths *p, const path_interval *i)
{
    size_t slot;
    if (!longest_add(&p->longest, i->end - i->begin, &slot, &p->failed))
        return;
    path_interval *list = vector_room(p->intervals, &p->interval_room, slot, sizeof *list);
    if (!list) {
        p->failed = true;
        return;
    }
    p->intervals = list;
    list[slot] = *i;
}

/* Keeps the share of those that match, whose number is known now. */
static void keep_share(paths *p)
{
    const uint64_t all = PATH_ALL, share = p->query.share;
    p->longest.most = p->matched / all * share + (p->matched % all * share + all - 1) / all;
    for (uint64_t n = 0; n < p->all.count && !p->failed; n++) {
        const path_interval *i = big_array_at(&p->all, n);
        if (!i)
            return;
        keep_interval(p, i);
    }
    big_array_clear(&p->all);
}

/* An interval of the kind that is wanted ended. */
static void add_interval(run *r, path_interval *made, bool selected)
{
    paths *p = r->p;
    bound_length(made);
    if (!selected || !restrict_interval(made, &p->query.range))
        return;
    p->ids++;
    count_name(r, made->name);
    if (!(p->query.has_id && made->id == p->query.id) && !is_name(r, made->name))
        return;
    p->matched++;
    path_interval *stored = p->query.share ? big_array_add(&p->all) : NULL;
    if (stored)
        *stored = *made;
    else if (!p->query.share)
        keep_interval(p, made);
}

/* Sets where an interval ends: at the current state of that goroutine. */
static void set_end(const run *r, path_interval *made, const path_goroutine *own,
                    const gotrace_event *e)
{
    made->end = r->states.time;
    made->ended = e != NULL;
    if (own) {
        made->goroutine = own->g.id;
        made->function = own->g.function;
        made->record = own->record;
    }
    if (e)
        made->stack = stacks_of(r->p->stacks, e->stack);
}

/* ---- tasks ------------------------------------------------------------------------------------
 */

static void task_begins(run *r, const gotrace_event *e)
{
    const gotrace_details *details = gotrace_event_details(e);
    open_task *task = idmap_insert(&r->tasks, e->subject);
    if (!task) {
        r->p->failed = true;
        return;
    }
    *task = (open_task){.name = stacks_name(r->p->stacks, details->text, details->text_size),
                        .goroutine = e->goroutine,
                        .begin = r->states.time,
                        .selected = r->selected};
}

static void task_ends(run *r, const gotrace_event *e)
{
    const gotrace_details *details = gotrace_event_details(e);
    const open_task *task = idmap_find(&r->tasks, e->subject);
    /* One that began before the trace began with it: at 0. */
    path_interval made = {
        .id = e->subject,
    };
    if (task) {
        made.name = task->name;
        made.begin = task->begin;
        made.begun = true;
    } else {
        made.name = stacks_name(r->p->stacks, details->text, details->text_size);
    }
    set_end(r, &made, goroutine_of(r, e->goroutine), e);
    add_interval(r, &made, task ? task->selected : r->selected);
    if (task)
        idmap_remove(&r->tasks, e->subject);
}

/* The trace ends: so do the tasks, on the goroutine that began them. */
static void end_tasks(run *r)
{
    uint64_t *ids = idmap_sorted_keys(&r->tasks);
    if (!ids && r->tasks.count > 0)
        r->p->failed = true;
    for (size_t i = 0; ids && i < r->tasks.count; i++) {
        const open_task *task = idmap_find(&r->tasks, ids[i]);
        path_interval made = {
            .id = ids[i], .name = task->name, .begin = task->begin, .begun = true};
        set_end(r, &made, goroutine_of(r, task->goroutine), NULL);
        const uint32_t *record = idmap_find(&r->forever, task->goroutine);
        if (record) {
            made.goroutine = task->goroutine;
            made.record = *record;
        }
        add_interval(r, &made, task->selected);
    }
    free(ids);
}

/* ---- regions ----------------------------------------------------------------------------------
 */

static void region_begins(run *r, const gotrace_event *e)
{
    const gotrace_details *details = gotrace_event_details(e);
    path_goroutine *own = goroutine_of(r, e->goroutine);
    if (!own)
        return;
    open_region *list = vector_room(own->regions, &own->region_room, own->region_count,
                                    sizeof *list);
    if (!list) {
        r->p->failed = true;
        return;
    }
    own->regions = list;
    list[own->region_count++] = (open_region){
        .name = stacks_name(r->p->stacks, details->text, details->text_size),
        .task = e->subject,
        .begin = r->states.time,
        .selected = r->selected};
}

/* Regions nest: the innermost one ends. One that began before the trace began with the goroutine's
 * first state. */
static void region_ends(run *r, const gotrace_event *e)
{
    const gotrace_details *details = gotrace_event_details(e);
    path_goroutine *own = goroutine_of(r, e->goroutine);
    if (!own)
        return;
    path_interval made = {.id = e->subject, .begin = own->g.created};
    bool selected = r->selected;
    if (own->region_count > 0) {
        const open_region *open = &own->regions[--own->region_count];
        made = (path_interval){
            .id = open->task, .name = open->name, .begin = open->begin, .begun = true};
        selected = open->selected;
    } else {
        made.name = stacks_name(r->p->stacks, details->text, details->text_size);
    }
    set_end(r, &made, own, e);
    add_interval(r, &made, selected);
}

static void end_regions(run *r, path_goroutine *own)
{
    for (; own->region_count > 0; own->region_count--) {
        const open_region *open = &own->regions[own->region_count - 1];
        path_interval made = {
            .id = open->task, .name = open->name, .begin = open->begin, .begun = true};
        set_end(r, &made, own, NULL);
        add_interval(r, &made, open->selected);
    }
}

/* ---- goroutines -------------------------------------------------------------------------------
 */

static void goroutine_ends(void *ctx, goroutine *g, int64_t time, const gotrace_event *e)
{
    run *r = ctx;
    path_goroutine *own = (path_goroutine *)g;
    (void)time;
    r->ended = g->id;
    r->ended_record = own->record;
    r->ended_time = r->states.time;
    if (r->p->query.kind == PATH_REGION)
        end_regions(r, own);
    if (r->p->query.kind == PATH_TASK && e && g->current.state == GOTRACE_STATE_WAITING) {
        uint32_t *record = idmap_insert(&r->forever, g->id);
        if (record)
            *record = own->record;
        else
            r->p->failed = true;
    }
    if (r->p->query.kind == PATH_GOROUTINE) {
        path_interval made = {
            .id = g->id, .name = g->function, .begin = g->created, .begun = own->created};
        set_end(r, &made, own, e);
        /* The event may be that of another goroutine. */
        if (e && e->goroutine != g->id)
            made.stack = 0;
        add_interval(r, &made, own->selected);
    }
    free(own->regions);
}

static void goroutine_begins(void *ctx, goroutine *g, const gotrace_event *e)
{
    ((run *)ctx)->made = g->id;
    ((path_goroutine *)g)->created = e->kind == GOTRACE_KIND_TRANSITION &&
                                     e->from == GOTRACE_STATE_NOT_EXIST;
}

static void interval_ends(void *ctx, goroutine *g, const interval *i, const gotrace_event *e)
{
    (void)ctx, (void)g, (void)i, (void)e;
}

/* ---- the pass ---------------------------------------------------------------------------------
 */

/* An event that is not just a change of a goroutine's state. */
static void add_other(run *r, const gotrace_event *e)
{
    const path_kind wanted = r->p->query.kind;
    if (e->flags & GOTRACE_EVENT_NO_BEGIN)
        return;
    switch ((gotrace_kind)e->kind) {
    case GOTRACE_KIND_RANGE_BEGIN:
    case GOTRACE_KIND_RANGE_END:
    case GOTRACE_KIND_RANGE_ACTIVE:
        if (e->range == GOTRACE_RANGE_MARK_ASSIST)
            assist_event(r, e);
        break;
    case GOTRACE_KIND_TASK_BEGIN:
        if (wanted == PATH_TASK)
            task_begins(r, e);
        break;
    case GOTRACE_KIND_TASK_END:
        if (wanted == PATH_TASK)
            task_ends(r, e);
        break;
    case GOTRACE_KIND_REGION_BEGIN:
        if (wanted == PATH_REGION)
            region_begins(r, e);
        break;
    case GOTRACE_KIND_REGION_END:
        if (wanted == PATH_REGION)
            region_ends(r, e);
        break;
    case GOTRACE_KIND_LOG: log_event(r, e); break;
    case GOTRACE_KIND_NONE:
    case GOTRACE_KIND_TRANSITION:
    case GOTRACE_KIND_SYSCALL:
    case GOTRACE_KIND_METRIC:
    case GOTRACE_KIND_LABEL:
    case GOTRACE_KIND_SYNC:
    case GOTRACE_KIND_EXPERIMENT:
    case GOTRACE_KIND_SAMPLE: break;
    }
}

static inline void add_event(run *r, const gotrace_event *e)
{
    const bool change = states_step(&r->states, e, interval_ends, state_changed);
    r->selected = selector_event(&r->selector, e);
    path_goroutine *made = r->made ? goroutine_of(r, r->made) : NULL;
    if (made)
        made->selected = r->selected;
    r->made = 0;
    if (!change)
        add_other(r, e);
}

/* Nothing can be continued: the pass ends. */
static bool has_failed(run *r)
{
    if (r->states.failed || r->p->stacks->failed || r->selector.failed)
        r->p->failed = true;
    int error;
    return paths_failed(r->p, &error);
}

/* A failure leaves everything consistent, so it is not looked for after each event. */
enum { EVENTS_BETWEEN_CHECKS = 1024 };

static gotrace_status read_events(run *r)
{
    const gotrace_event *e;
    gotrace_status status;
    size_t count = 0;
    while ((status = feed_next(&r->feed, &e)) == GOTRACE_EVENT) {
        add_event(r, e);
        if (++count % EVENTS_BETWEEN_CHECKS == 0 && (has_failed(r) || r->selector.too_hard))
            return GOTRACE_END;
    }
    return status;
}

static void run_free(run *r)
{
    size_t cursor = 0;
    uint64_t id;
    void *value;
    /* Goroutines are left only if the pass failed. */
    while (idmap_next(&r->states.goroutines, &cursor, &id, &value))
        free(((path_goroutine *)value)->regions);
    states_free(&r->states);
    idmap_free(&r->tasks);
    idmap_free(&r->forever);
    feed_free(&r->feed);
}

gotrace_status paths_read(paths *p, gotrace_reader *reader, size_t threads, select_job *select)
{
    run r = {.p = p};
    const states_user user = {&r, goroutine_begins, interval_ends, goroutine_ends, state_changed};
    /* If indexing fails, reading reports the same error. */
    gotrace_reader_index(reader);
    feed_init(&r.feed, reader, false, threads);
    stacks_begin(p->stacks, &r.feed);
    int version = gotrace_reader_summary(reader)->version;
    states_init(&r.states, version, p->stacks, sizeof(path_goroutine), &user);
    r.states.labels = &p->labels;
    selector_init(&r.selector, select, version, &r.feed, p->stacks);
    r.selector.range = (select_range){INT64_MIN, INT64_MAX};
    idmap_init(&r.tasks, sizeof(open_task));
    idmap_init(&r.forever, sizeof(uint32_t));
    gotrace_status status = read_events(&r);
    if (!has_failed(&r)) {
        end_tasks(&r);
        states_end(&r.states);
        if (!has_failed(&r) && p->query.share)
            keep_share(p);
        longest_sort(&p->longest, false);
    }
    selector_end(&r.selector, select);
    run_free(&r);
    return status;
}

paths *paths_new(const path_query *query)
{
    paths *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->query = *query;
    big_array_init(&p->history, sizeof(path_state), &path_state_packing);
    big_array_init(&p->parts, sizeof(path_part), NULL);
    big_array_init(&p->all, sizeof(path_interval), NULL);
    longest_init(&p->longest, query->slowest);
    idmap_init(&p->names, sizeof(path_name));
    idmap_init(&p->labels, sizeof(uint32_t));
    idmap_init(&p->own.reasons, sizeof(path_reason));
    idmap_init(&p->others.reasons, sizeof(path_reason));
    idmap_init(&p->functions, sizeof(uint32_t));
    p->stacks = stacks_new(STACKS_BY_ADDRESS);
    /* Number 0 of a state means none. */
    path_state *none = p->stacks ? big_array_add(&p->history) : NULL;
    if (!none) {
        paths_free(p);
        return NULL;
    }
    *none = (path_state){0};
    return p;
}

void paths_free(paths *p)
{
    if (!p)
        return;
    big_array_free(&p->history);
    big_array_free(&p->parts);
    big_array_free(&p->all);
    longest_free(&p->longest);
    idmap_free(&p->names);
    idmap_free(&p->labels);
    idmap_free(&p->own.reasons);
    idmap_free(&p->others.reasons);
    idmap_free(&p->functions);
    stacks_free(p->stacks);
    free(p->intervals);
    free(p->levels);
    free(p);
}

const path_interval *paths_interval(const paths *p, size_t n)
{
    return n < p->longest.count ? &p->intervals[p->longest.items[n].slot] : NULL;
}

bool paths_failed(const paths *p, int *error)
{
    *error = p->history.error ? p->history.error : p->parts.error ? p->parts.error : p->all.error;
    return p->failed || *error;
}
