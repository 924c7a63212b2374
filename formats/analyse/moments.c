/* moments.c - follows the moments of a trace. */
#include "formats/analyse/moments.h"

#include <stdlib.h>

#include "formats/analyse/search.h"
#include "formats/analyse/states.h"
#include "formats/common/vector.h"

typedef struct open_region {
    uint32_t name, stack;
    int64_t begin;
} open_region;

typedef struct find_goroutine {
    goroutine g;
    int64_t created;
    int64_t begin; /* of its state */
    bool cut;      /* the state began before the trace */
    open_region *regions;
    size_t region_count, region_room;
} find_goroutine;

typedef struct open_task {
    uint64_t goroutine;
    uint32_t name, function, stack;
    int64_t begin;
} open_task;

/* A stop-the-world, a GC cycle, or a level: active if depth is not 0. */
typedef struct open_moment {
    moment m;
    size_t depth;
} open_moment;

typedef struct find_run {
    find_job *job;
    const expression *what;
    feed feed;
    stacks *stacks;
    search search;
    states states;
    int64_t now;                      /* of the event */
    int64_t least[MOMENT_KIND_COUNT]; /* search_least */
    idmap tasks;                      /* open_task */
    idmap alive;      /* goroutines, if their number is wanted: uint32_t, by what function each is
                         counted */
    uint64_t *counts; /* of those that a term's pattern matches, by number of the term */
    bool by_function; /* a term has one */
    open_moment stop, cycle;
    open_moment *levels; /* by number of a term */
} find_run;

static inline bool wants(const find_run *r, unsigned kinds)
{
    return r->what->kinds & kinds;
}

static uint32_t function_of(const find_run *r, uint64_t id)
{
    const goroutine *g = states_goroutine(&r->states, id);
    return g ? g->function : 0;
}

static uint32_t label_of(const find_run *r, uint64_t id)
{
    const goroutine *g = states_goroutine(&r->states, id);
    return g ? g->label : 0;
}

static inline uint32_t stack_of(find_run *r, const gotrace_event *e)
{
    return stacks_of(r->stacks, e->stack);
}

/* A time of states.h, which in v1 may be later than that of the event. */
static int64_t time_of(const find_run *r, int64_t time)
{
    return time > r->now ? r->now : time;
}

/* ---- goroutines -------------------------------------------------------------------------------
 */

static void goroutine_begins(void *ctx, goroutine *g, const gotrace_event *e)
{
    const find_run *r = ctx;
    find_goroutine *own = (find_goroutine *)g;
    own->cut = e->from != GOTRACE_STATE_NOT_EXIST;
    own->created = own->begin = own->cut ? time_of(r, g->created) : r->now;
}

static bool kind_of(uint8_t state, uint8_t *kind)
{
    switch (state) {
    case GOTRACE_STATE_RUNNING: *kind = MOMENT_RUN; return true;
    case GOTRACE_STATE_RUNNABLE: *kind = MOMENT_SCHED; return true;
    case GOTRACE_STATE_WAITING: *kind = MOMENT_WAIT; return true;
    case GOTRACE_STATE_SYSCALL: *kind = MOMENT_SYSCALL; return true;
    default: return false; /* not a state of a goroutine that exists */
    }
}

/* A moment that is a state of a goroutine ends now. A run has the stack and the reason with which
 * it ended. */
static void offer_state(find_run *r, const find_goroutine *own, uint8_t kind,
                        const gotrace_event *e)
{
    const interval *i = &own->g.current;
    moment m = {.kind = kind,
                .begun = !own->cut,
                .ended = e != NULL,
                .begin = own->begin,
                .end = r->now,
                .goroutine = own->g.id,
                .function = own->g.function,
                .label = own->g.label};
    if (kind == MOMENT_RUN) {
        m.stack = e && e->goroutine == own->g.id ? stack_of(r, e) : 0;
        m.name = e ? stacks_reason(r->stacks, gotrace_event_reason(e)) : 0;
    } else {
        m.stack = i->stack;
        m.name = i->reason;
        m.cause = kind == MOMENT_SCHED ? i->cause : 0;
    }
    search_offer(&r->search, &m);
}

/* Whether a moment of a state that ends now is too short. */
static inline bool is_short(const find_run *r, uint8_t kind, int64_t begin)
{
    return begin <= r->now && (uint64_t)r->now - (uint64_t)begin < (uint64_t)r->least[kind];
}

static void state_ends(void *ctx, goroutine *g, const interval *i, const gotrace_event *e)
{
    find_run *r = ctx;
    find_goroutine *own = (find_goroutine *)g;
    uint8_t kind;
    if (i->next == i->state) /* it was only reported again */
        return;
    if (i->state == GOTRACE_STATE_WAITING)
        search_saw(&r->search, MOMENT_WAIT, i->reason);
    if (kind_of(i->state, &kind) && wants(r, MOMENT_BIT(kind)) && !is_short(r, kind, own->begin))
        offer_state(r, own, kind, e);
    own->begin = r->now;
    own->cut = false;
}

/* ---- regions ----------------------------------------------------------------------------------
 */

static void region_ends(find_run *r, const find_goroutine *own, const open_region *region,
                        bool begun, bool ended)
{
    search_offer(&r->search, &(moment){.kind = MOMENT_REGION,
                                       .begun = begun,
                                       .ended = ended,
                                       .begin = region->begin,
                                       .end = r->now,
                                       .goroutine = own->g.id,
                                       .function = own->g.function,
                                       .label = own->g.label,
                                       .stack = region->stack,
                                       .name = region->name});
}

/* Regions that are open end with their goroutine, and so does a wait forever, which is no moment.
 */
static void goroutine_ends(void *ctx, goroutine *g, int64_t time, const gotrace_event *e)
{
    find_run *r = ctx;
    find_goroutine *own = (find_goroutine *)g;
    (void)time;
    if (g->current.state == GOTRACE_STATE_WAITING)
        search_saw(&r->search, MOMENT_WAIT, g->current.reason);
    while (own->region_count > 0)
        region_ends(r, own, &own->regions[--own->region_count], true, e != NULL);
    free(own->regions);
    own->regions = NULL;
}

static void region_event(find_run *r, const gotrace_event *e)
{
    find_goroutine *own = (find_goroutine *)states_goroutine(&r->states, e->goroutine);
    if (!own)
        return;
    if (e->kind == GOTRACE_KIND_REGION_END) {
        open_region before = {.name = stacks_name(r->stacks, gotrace_event_details(e)->text,
                                                  gotrace_event_details(e)->text_size),
                              .stack = stack_of(r, e),
                              .begin = own->created};
        bool begun = own->region_count > 0;
        region_ends(r, own, begun ? &own->regions[--own->region_count] : &before, begun, true);
        return;
    }
    open_region *list = vector_room(own->regions, &own->region_room, own->region_count,
                                    sizeof *list);
    if (!list) {
        r->job->failed = true;
        return;
    }
    own->regions = list;
    list[own->region_count++] = (open_region){
        stacks_name(r->stacks, gotrace_event_details(e)->text, gotrace_event_details(e)->text_size),
        stack_of(r, e), r->now};
}

/* The function may have become known meanwhile, or the goroutine may have ended. */
static uint32_t function_at_end(const find_run *r, uint64_t id, uint32_t before)
{
    uint32_t now = function_of(r, id);
    return now ? now : before;
}

/* ---- tasks and logs ---------------------------------------------------------------------------
 */

static void task_ends(find_run *r, uint64_t id, const open_task *task, bool begun, bool ended)
{
    search_offer(&r->search,
                 &(moment){.kind = MOMENT_TASK,
                           .begun = begun,
                           .ended = ended,
                           .begin = task->begin,
                           .end = r->now,
                           .goroutine = task->goroutine,
                           .function = function_at_end(r, task->goroutine, task->function),
                           .label = label_of(r, task->goroutine),
                           .stack = task->stack,
                           .name = task->name,
                           .id = id});
}

static void task_event(find_run *r, const gotrace_event *e)
{
    const open_task *open = idmap_find(&r->tasks, e->subject);
    open_task made = {.goroutine = e->goroutine,
                      .name = stacks_name(r->stacks, gotrace_event_details(e)->text,
                                          gotrace_event_details(e)->text_size),
                      .function = function_of(r, e->goroutine),
                      .stack = stack_of(r, e)};
    if (e->kind == GOTRACE_KIND_TASK_END) {
        task_ends(r, e->subject, open ? open : &made, open, true);
        if (open)
            idmap_remove(&r->tasks, e->subject);
        return;
    }
    open_task *task = idmap_insert(&r->tasks, e->subject);
    if (!task) {
        r->job->failed = true;
        return;
    }
    made.begin = r->now;
    *task = made;
}

static void log_event(find_run *r, const gotrace_event *e)
{
    search_offer(&r->search,
                 &(moment){.kind = MOMENT_LOG,
                           .begun = true,
                           .ended = true,
                           .begin = r->now,
                           .end = r->now,
                           .goroutine = e->goroutine,
                           .function = function_of(r, e->goroutine),
                           .label = label_of(r, e->goroutine),
                           .stack = stack_of(r, e),
                           .name = stacks_name(r->stacks, gotrace_event_details(e)->text,
                                               gotrace_event_details(e)->text_size),
                           .message = gotrace_event_details(e)->message,
                           .message_size = gotrace_event_details(e)->message_size});
}

static void end_tasks(find_run *r)
{
    uint64_t *ids = wants(r, MOMENT_BIT(MOMENT_TASK)) ? idmap_sorted_keys(&r->tasks) : NULL;
    for (size_t i = 0; ids && i < r->tasks.count; i++)
        task_ends(r, ids[i], idmap_find(&r->tasks, ids[i]), true, false);
    if (!ids && r->tasks.count > 0)
        r->job->failed = true;
    free(ids);
}

/* ---- the whole program ------------------------------------------------------------------------
 */

/* The beginning of a moment that the event begins. */
static moment moment_of(find_run *r, moment_kind kind, const gotrace_event *e)
{
    return (moment){.kind = (uint8_t)kind,
                    .begun = true,
                    .begin = r->now,
                    .goroutine = e->goroutine,
                    .function = function_of(r, e->goroutine),
                    .label = label_of(r, e->goroutine),
                    .stack = stack_of(r, e)};
}

static void open_ends(find_run *r, open_moment *open, bool ended)
{
    open->depth = 0;
    open->m.ended = ended;
    open->m.end = r->now;
    open->m.function = function_at_end(r, open->m.goroutine, open->m.function);
    search_offer(&r->search, &open->m);
}

/* A stop-the-world or a GC cycle. Until 1.9 each proc reports the stop: the first and the last one
 * count. */
static void range_event(find_run *r, moment_kind kind, open_moment *open, const gotrace_event *e)
{
    bool active = open->depth > 0;
    if (e->kind != GOTRACE_KIND_RANGE_END) {
        open->depth = active && !r->states.v1 ? 1 : open->depth + 1;
        if (active)
            return;
        open->m = moment_of(r, kind, e);
        open->m.name = kind == MOMENT_STW ? states_stop_reason(&r->states, gotrace_event_reason(e))
                                          : 0;
        if (e->kind == GOTRACE_KIND_RANGE_ACTIVE) {
            open->m.begun = false;
            open->m.begin = time_of(r, r->states.sync);
        }
        return;
    }
    if (!active) {
        open->m = moment_of(r, kind, e);
        open->m.name = kind == MOMENT_STW ? states_stop_reason(&r->states, gotrace_event_reason(e))
                                          : 0;
        open->m.begun = false;
        open->m.begin = 0;
    }
    if (open->depth <= 1)
        open_ends(r, open, true);
    else
        open->depth--;
}

/* The level of a term changed: the moments are those in which its comparison holds. */
static void set_term(find_run *r, size_t number, uint64_t value, const gotrace_event *e)
{
    const expression_term *t = &r->what->terms[number];
    open_moment *open = &r->levels[number];
    bool holds = t->compare == COMPARE_GE ? value >= t->bound : value > t->bound;
    if (holds && open->depth == 0) {
        open->m = moment_of(r, t->kind, e);
        open->m.term = number;
        open->depth = 1;
    }
    if (holds && value > open->m.value)
        open->m.value = value;
    if (!holds && open->depth > 0)
        open_ends(r, open, true);
}

/* The same of all terms of a kind, without those that have a pattern. */
static void set_level(find_run *r, moment_kind kind, uint64_t value, const gotrace_event *e)
{
    for (size_t i = 0; i < r->what->term_count; i++)
        if (r->what->terms[i].kind == kind && r->what->terms[i].pattern == 0)
            set_term(r, i, value, e);
}

/* A goroutine that was counted by one function is counted by another one now; 0: by none. */
static void count_by(find_run *r, uint32_t before, uint32_t now, const gotrace_event *e)
{
    for (size_t i = 0; before != now && i < r->what->term_count; i++) {
        const expression_term *t = &r->what->terms[i];
        if (t->kind != MOMENT_GOROUTINES || t->pattern == 0)
            continue;
        const bool was = search_matches(&r->search, t->pattern, before);
        const bool is = search_matches(&r->search, t->pattern, now);
        r->counts[i] += (uint64_t)is - (uint64_t)was;
        if (is != was)
            set_term(r, i, r->counts[i], e);
    }
}

static void count_goroutine(find_run *r, const gotrace_event *e)
{
    const size_t count = r->alive.count;
    const bool exists = e->to != GOTRACE_STATE_NOT_EXIST;
    if (e->subject == 0)
        return;
    uint32_t *by = exists ? idmap_insert(&r->alive, e->subject) : idmap_find(&r->alive, e->subject);
    const uint32_t before = by ? *by : 0;
    uint32_t now = exists && r->by_function ? function_of(r, e->subject) : 0;
    /* One that blocks forever is not followed, and still exists. */
    now = exists && now == 0 ? before : now;
    if (by)
        *by = now;
    r->job->failed = r->job->failed || (exists && !by);
    if (!exists)
        idmap_remove(&r->alive, e->subject);
    if (r->alive.count != count)
        set_level(r, MOMENT_GOROUTINES, r->alive.count, e);
    count_by(r, before, now, e);
}

/* An event ends the time since the one before it, of whatever proc and thread. */
static void silence_ends(find_run *r, int64_t time)
{
    const int64_t begin = r->now;
    r->now = time;
    if (time > begin && !is_short(r, MOMENT_SILENCE, begin))
        search_offer(
            &r->search,
            &(moment){
                .kind = MOMENT_SILENCE, .begun = true, .ended = true, .begin = begin, .end = time});
}

/* ---- the pass ---------------------------------------------------------------------------------
 */

static void range_of(find_run *r, const gotrace_event *e)
{
    if (e->range == GOTRACE_RANGE_STW && wants(r, MOMENT_BIT(MOMENT_STW)))
        range_event(r, MOMENT_STW, &r->stop, e);
    else if (e->range == GOTRACE_RANGE_GC && wants(r, MOMENT_BIT(MOMENT_GC)))
        range_event(r, MOMENT_GC, &r->cycle, e);
}

static void add_event(find_run *r, const gotrace_event *e)
{
    /* The time of a sync is not one at which the program did something, and the sync that ends a
     * trace is later than its end. */
    if (e->kind != GOTRACE_KIND_SYNC && wants(r, MOMENT_BIT(MOMENT_SILENCE)))
        silence_ends(r, e->time);
    else if (e->kind != GOTRACE_KIND_SYNC)
        r->now = e->time;
    states_step(&r->states, e, state_ends, NULL);
    if (e->flags & GOTRACE_EVENT_NO_BEGIN)
        return;
    switch ((gotrace_kind)e->kind) {
    case GOTRACE_KIND_TRANSITION:
        if (e->resource == GOTRACE_RESOURCE_GOROUTINE && wants(r, MOMENT_BIT(MOMENT_GOROUTINES)))
            count_goroutine(r, e);
        break;
    case GOTRACE_KIND_METRIC:
        if (gotrace_event_metric(e) == GOTRACE_METRIC_HEAP_ALLOCATED)
            set_level(r, MOMENT_HEAP, gotrace_event_value(e), e);
        break;
    case GOTRACE_KIND_RANGE_BEGIN:
    case GOTRACE_KIND_RANGE_END:
    case GOTRACE_KIND_RANGE_ACTIVE: range_of(r, e); break;
    case GOTRACE_KIND_TASK_BEGIN:
    case GOTRACE_KIND_TASK_END:
        if (wants(r, MOMENT_BIT(MOMENT_TASK)))
            task_event(r, e);
        break;
    case GOTRACE_KIND_REGION_BEGIN:
    case GOTRACE_KIND_REGION_END:
        if (wants(r, MOMENT_BIT(MOMENT_REGION)))
            region_event(r, e);
        break;
    case GOTRACE_KIND_LOG:
        if (wants(r, MOMENT_BIT(MOMENT_LOG)))
            log_event(r, e);
        break;
    case GOTRACE_KIND_NONE:
    case GOTRACE_KIND_SYSCALL:
    case GOTRACE_KIND_LABEL:
    case GOTRACE_KIND_SYNC:
    case GOTRACE_KIND_EXPERIMENT:
    case GOTRACE_KIND_SAMPLE: break;
    }
}

enum {
    RANGES = 1U << GOTRACE_KIND_RANGE_BEGIN | 1U << GOTRACE_KIND_RANGE_END |
             1U << GOTRACE_KIND_RANGE_ACTIVE
};

static bool has_failed(find_run *r)
{
    if (r->states.failed)
        r->job->failed = true;
    return search_failed(&r->search);
}

/* Whether all events are needed: for the states of goroutines, where they start, or silences. */
static bool needs_all(const find_run *r)
{
    return !r->job->counts ||
           wants(r, MOMENT_STATES | MOMENT_BIT(MOMENT_REGION) | MOMENT_BIT(MOMENT_SILENCE) |
                        MOMENT_BIT(MOMENT_GOROUTINES)) ||
           search_tests(&r->search, OP_FUNCTION);
}

/* The kinds of the events that the moments need if not all are needed. */
static uint32_t kinds_of(const find_run *r)
{
    static const uint32_t kinds_of[MOMENT_KIND_COUNT] = {
        [MOMENT_STW] = RANGES,
        [MOMENT_GC] = RANGES,
        [MOMENT_TASK] = 1U << GOTRACE_KIND_TASK_BEGIN | 1U << GOTRACE_KIND_TASK_END,
        [MOMENT_LOG] = 1U << GOTRACE_KIND_LOG,
        [MOMENT_HEAP] = 1U << GOTRACE_KIND_METRIC,
    };
    uint32_t kinds = 1U << GOTRACE_KIND_SYNC;
    for (size_t i = 0; i < MOMENT_KIND_COUNT; i++)
        kinds |= wants(r, MOMENT_BIT(i)) ? kinds_of[i] : 0;
    return kinds;
}

static gotrace_status read_events(find_run *r)
{
    /* Memory and files are looked at after so many events. */
    enum { INTERVAL = 256 };
    const gotrace_event *e;
    gotrace_status status;
    if (!needs_all(r))
        gotrace_reader_select(r->feed.reader, kinds_of(r));
    for (size_t n = 0; (status = feed_next(&r->feed, &e)) == GOTRACE_EVENT; n++) {
        add_event(r, e);
        if (r->search.ends || r->job->too_hard ||
            (n % INTERVAL == 0 && (has_failed(r) || (r->job->stop && *r->job->stop))))
            return GOTRACE_END;
    }
    return status;
}

/* What is active ends with the trace. */
static void end_moments(find_run *r)
{
    int64_t end = gotrace_reader_summary(r->feed.reader)->duration;
    r->now = end > r->now ? end : r->now;
    states_end(&r->states);
    end_tasks(r);
    if (r->stop.depth > 0)
        open_ends(r, &r->stop, false);
    if (r->cycle.depth > 0)
        open_ends(r, &r->cycle, false);
    for (size_t i = 0; i < r->what->term_count; i++)
        if (r->levels[i].depth > 0)
            open_ends(r, &r->levels[i], false);
    search_finish(&r->search);
    has_failed(r);
}

static bool run_init(find_run *r)
{
    const states_user user = {r, goroutine_begins, state_ends, goroutine_ends, NULL};
    r->stacks = stacks_new(STACKS_BY_ADDRESS);
    r->levels = calloc(r->what->term_count + 1, sizeof *r->levels);
    r->counts = calloc(r->what->term_count + 1, sizeof *r->counts);
    if (!r->stacks || !r->levels || !r->counts)
        return false;
    for (size_t i = 0; i < r->what->term_count; i++)
        r->by_function |= r->what->terms[i].kind == MOMENT_GOROUTINES && r->what->terms[i].pattern;
    stacks_begin(r->stacks, &r->feed);
    states_init(&r->states, gotrace_reader_summary(r->feed.reader)->version, r->stacks,
                sizeof(find_goroutine), &user);
    if (!search_init(&r->search, r->job, r->stacks))
        return false;
    for (size_t i = 0; i < MOMENT_KIND_COUNT; i++)
        r->least[i] = search_least(&r->search, (moment_kind)i);
    return true;
}

static void run_free(find_run *r)
{
    size_t cursor = 0;
    uint64_t id;
    void *value;
    /* Goroutines are left if reading ended early. */
    while (r->states.goroutines.count > 0 &&
           idmap_next(&r->states.goroutines, &cursor, &id, &value))
        free(((find_goroutine *)value)->regions);
    states_free(&r->states);
    idmap_free(&r->tasks);
    idmap_free(&r->alive);
    search_free(&r->search);
    free(r->levels);
    free(r->counts);
    stacks_free(r->stacks);
}

gotrace_status moments_find(find_job *job, gotrace_reader *reader)
{
    find_run r = {.job = job, .what = job->what};
    gotrace_status status = GOTRACE_END;
    /* If indexing fails, reading reports the same error. */
    gotrace_reader_index(reader);
    feed_init(&r.feed, reader, job->in_order, job->threads);
    idmap_init(&r.tasks, sizeof(open_task));
    idmap_init(&r.alive, sizeof(uint32_t));
    if (run_init(&r)) {
        status = read_events(&r);
        if (!r.search.ends && !has_failed(&r))
            end_moments(&r);
    } else {
        job->failed = true;
    }
    job->stopped = r.search.ends;
    run_free(&r);
    feed_free(&r.feed);
    return status;
}
