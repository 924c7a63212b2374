/* moments.c - follows the moments of a trace. */
#include "formats/analyse/moments.h"

#include <stdlib.h>
#include <string.h>

#include "formats/analyse/search.h"
#include "formats/analyse/states.h"
#include "formats/analyse/vector.h"

typedef struct open_region {
    uint32_t name, stack;
    int64_t begin;
} open_region;

typedef struct find_goroutine {
    goroutine g;
    int64_t created;
    int64_t begin;  /* of its state */
    int64_t since;  /* when the last change that was returned took effect, in the time of events;
                       GOTRACE_NO_TIME: before the trace */
    bool known;     /* begin is set */
    bool cut;       /* the state began before the trace */
    bool continues; /* the next change is none: the state was only reported again */
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

typedef struct run {
    find_job *job;
    const expression *what;
    feed feed;
    stacks *stacks;
    search search;
    states states;
    bool all_states;                  /* all changes of goroutines are looked at */
    int64_t now;                      /* of the event */
    int64_t least[MOMENT_KIND_COUNT]; /* search_least */
    idmap tasks;                      /* open_task */
    idmap alive;                      /* goroutines, if their number is wanted */
    open_moment stop, cycle;
    open_moment *levels; /* by number of a term */
} run;

static bool wants(const run *r, unsigned kinds)
{
    return r->what->kinds & kinds;
}

/* Whether a moment of a state that ends now is too short. */
static bool is_short(const run *r, uint8_t kind, int64_t begin)
{
    return begin <= r->now && (uint64_t)r->now - (uint64_t)begin < (uint64_t)r->least[kind];
}

/* ---- goroutines -------------------------------------------------------------------------------
 */

static find_goroutine *goroutine_of(const run *r, uint64_t id)
{
    return (find_goroutine *)states_goroutine(&r->states, id);
}

static uint32_t function_of(const run *r, uint64_t id)
{
    const find_goroutine *g = goroutine_of(r, id);
    return g ? g->g.function : 0;
}

static uint32_t stack_of(run *r, const gotrace_event *e)
{
    return stacks_of(r->stacks, e->generation_index, e->stack);
}

/* A time of states.h, which may be before the trace. */
static int64_t time_of(const run *r, int64_t time)
{
    return time < 0 ? 0 : time > r->now ? r->now : time;
}

static void goroutine_begins(void *ctx, goroutine *g, const gotrace_event *e)
{
    const run *r = ctx;
    bool here = e->kind == GOTRACE_KIND_TRANSITION && e->from == GOTRACE_STATE_NOT_EXIST;
    ((find_goroutine *)g)->created = here ? r->now : time_of(r, g->created);
    ((find_goroutine *)g)->since = GOTRACE_NO_TIME;
}

static void state_changed(void *ctx, goroutine *g, const gotrace_event *e)
{
    run *r = ctx;
    find_goroutine *own = (find_goroutine *)g;
    own->since = r->states.beginning || e->from == GOTRACE_STATE_UNDETERMINED ? GOTRACE_NO_TIME
                                                                              : e->time;
    if (!own->continues) {
        own->begin = r->now;
        own->cut = false;
    }
    own->known = true;
    own->continues = false;
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

/* A run has the stack and the reason with which it ended. */
static void state_ends(void *ctx, goroutine *g, const interval *i, const gotrace_event *e)
{
    run *r = ctx;
    find_goroutine *own = (find_goroutine *)g;
    if (i->next == i->state) {
        if (!own->known) {
            own->begin = time_of(r, i->begin);
            own->cut = true;
        }
        own->continues = true;
        return;
    }
    uint8_t kind;
    if (!kind_of(i->state, &kind) || !wants(r, MOMENT_BIT(kind)) || is_short(r, kind, own->begin))
        return;
    moment m = {.kind = kind,
                .begun = !own->cut,
                .ended = e != NULL,
                .begin = own->begin,
                .end = r->now,
                .goroutine = g->id,
                .function = g->function};
    if (m.kind == MOMENT_RUN) {
        bool own_event = e && e->goroutine == g->id;
        m.stack = own_event ? stack_of(r, e) : 0;
        m.name = e ? stacks_reason(r->stacks, e->reason) : 0;
    } else {
        m.stack = i->stack;
        m.name = i->reason;
        m.cause = m.kind == MOMENT_SCHED ? i->cause : 0;
    }
    search_offer(&r->search, &m);
}

/* ---- regions ----------------------------------------------------------------------------------
 */

static void region_ends(run *r, const find_goroutine *own, const open_region *region, bool begun,
                        bool ended)
{
    search_offer(&r->search, &(moment){.kind = MOMENT_REGION,
                                       .begun = begun,
                                       .ended = ended,
                                       .begin = region->begin,
                                       .end = r->now,
                                       .goroutine = own->g.id,
                                       .function = own->g.function,
                                       .stack = region->stack,
                                       .name = region->name});
}

/* Regions that are open end with their goroutine. */
static void goroutine_ends(void *ctx, goroutine *g, int64_t time, const gotrace_event *e)
{
    run *r = ctx;
    find_goroutine *own = (find_goroutine *)g;
    (void)time;
    while (own->region_count > 0)
        region_ends(r, own, &own->regions[--own->region_count], true, e != NULL);
    free(own->regions);
    own->regions = NULL;
}

static void region_event(run *r, const gotrace_event *e)
{
    find_goroutine *own = goroutine_of(r, e->goroutine);
    if (!own)
        return;
    if (e->kind == GOTRACE_KIND_REGION_END) {
        open_region before = {.name = stacks_name(r->stacks, e->text, e->text_size),
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
    list[own->region_count++] = (open_region){stacks_name(r->stacks, e->text, e->text_size),
                                              stack_of(r, e), r->now};
}

/* The function may have become known meanwhile, or the goroutine may have ended. */
static uint32_t function_at_end(const run *r, uint64_t id, uint32_t before)
{
    uint32_t now = function_of(r, id);
    return now ? now : before;
}

/* ---- tasks and logs ---------------------------------------------------------------------------
 */

static void task_ends(run *r, uint64_t id, const open_task *task, bool begun, bool ended)
{
    search_offer(&r->search,
                 &(moment){.kind = MOMENT_TASK,
                           .begun = begun,
                           .ended = ended,
                           .begin = task->begin,
                           .end = r->now,
                           .goroutine = task->goroutine,
                           .function = function_at_end(r, task->goroutine, task->function),
                           .stack = task->stack,
                           .name = task->name,
                           .id = id});
}

static void task_event(run *r, const gotrace_event *e)
{
    const open_task *open = idmap_find(&r->tasks, e->subject);
    open_task made = {.goroutine = e->goroutine,
                      .name = stacks_name(r->stacks, e->text, e->text_size),
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

static void log_event(run *r, const gotrace_event *e)
{
    search_offer(&r->search, &(moment){.kind = MOMENT_LOG,
                                       .begun = true,
                                       .ended = true,
                                       .begin = r->now,
                                       .end = r->now,
                                       .goroutine = e->goroutine,
                                       .function = function_of(r, e->goroutine),
                                       .stack = stack_of(r, e),
                                       .name = stacks_name(r->stacks, e->text, e->text_size),
                                       .message = e->message,
                                       .message_size = e->message_size});
}

static void end_tasks(run *r)
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
static moment moment_of(run *r, moment_kind kind, const gotrace_event *e)
{
    return (moment){.kind = (uint8_t)kind,
                    .begun = true,
                    .begin = r->now,
                    .goroutine = e->goroutine,
                    .function = function_of(r, e->goroutine),
                    .stack = stack_of(r, e)};
}

static void open_ends(run *r, open_moment *open, bool ended)
{
    open->depth = 0;
    open->m.ended = ended;
    open->m.end = r->now;
    open->m.function = function_at_end(r, open->m.goroutine, open->m.function);
    search_offer(&r->search, &open->m);
}

/* A stop-the-world or a GC cycle. Until 1.9 each proc reports the stop: the first and the last one
 * count. */
static void range_event(run *r, moment_kind kind, open_moment *open, const gotrace_event *e)
{
    bool active = open->depth > 0;
    if (e->kind != GOTRACE_KIND_RANGE_END) {
        open->depth = active && !r->states.v1 ? 1 : open->depth + 1;
        if (active)
            return;
        open->m = moment_of(r, kind, e);
        open->m.name = kind == MOMENT_STW ? states_stop_reason(&r->states, e->reason) : 0;
        if (e->kind == GOTRACE_KIND_RANGE_ACTIVE) {
            open->m.begun = false;
            open->m.begin = time_of(r, r->states.sync);
        }
        return;
    }
    if (!active) {
        open->m = moment_of(r, kind, e);
        open->m.name = kind == MOMENT_STW ? states_stop_reason(&r->states, e->reason) : 0;
        open->m.begun = false;
        open->m.begin = 0;
    }
    if (open->depth <= 1)
        open_ends(r, open, true);
    else
        open->depth--;
}

/* A level changed: the moments are those in which a comparison holds. */
static void set_level(run *r, moment_kind kind, uint64_t value, const gotrace_event *e)
{
    for (size_t i = 0; i < r->what->term_count; i++) {
        const expression_term *t = &r->what->terms[i];
        open_moment *open = &r->levels[i];
        if (t->kind != kind)
            continue;
        bool holds = t->compare == COMPARE_GE ? value >= t->bound : value > t->bound;
        if (holds && open->depth == 0) {
            open->m = moment_of(r, kind, e);
            open->m.term = i;
            open->depth = 1;
        }
        if (holds && value > open->m.value)
            open->m.value = value;
        if (!holds && open->depth > 0)
            open_ends(r, open, true);
    }
}

static void count_goroutine(run *r, const gotrace_event *e)
{
    size_t before = r->alive.count;
    if (e->subject == 0)
        return;
    if (e->to == GOTRACE_STATE_NOT_EXIST)
        idmap_remove(&r->alive, e->subject);
    else if (!idmap_insert(&r->alive, e->subject))
        r->job->failed = true;
    if (r->alive.count != before)
        set_level(r, MOMENT_GOROUTINES, r->alive.count, e);
}

/* ---- states that were not returned -------------------------------------------------------------
 */

/* The reader returns only what ends a state that lasted long enough, and what begins one that needs
 * its stack. So the state that ends now may have begun without an event. */
static void set_state(find_goroutine *own, uint8_t state, int64_t since)
{
    own->g.current.state = state;
    own->g.current.stack = own->g.current.reason = 0;
    own->g.current.cause = 0;
    own->begin = since;
    own->cut = own->continues = false;
    own->known = true;
}

static inline bool changes_goroutine(const gotrace_event *e)
{
    return e->kind == GOTRACE_KIND_TRANSITION && e->resource == GOTRACE_RESOURCE_GOROUTINE &&
           e->from != e->to;
}

/* Before an event that ends a state. */
static void find_state(const run *r, find_goroutine *own, const gotrace_event *e)
{
    uint8_t from = e->kind == GOTRACE_KIND_SYSCALL ? GOTRACE_STATE_RUNNING : e->from;
    bool known = e->since != GOTRACE_NO_TIME;
    if (known ? own->since != e->since : own->g.current.state != from)
        set_state(own, from, known ? e->since : r->now);
}

/* Whether the event only begins a state, as most of those that are returned: nothing that is wanted
 * ends, and the goroutine goes on. */
static bool only_begins(const run *r, const find_goroutine *own, const gotrace_event *e)
{
    uint8_t kind;
    if (!own->g.named || e->to == GOTRACE_STATE_NOT_EXIST || !kind_of(e->from, &kind))
        return false;
    return !wants(r, MOMENT_BIT(kind)) ||
           (e->since != GOTRACE_NO_TIME && is_short(r, kind, e->since));
}

/* Returns whether nothing else is to be done. What states_event would do in addition is of no use
 * here, and takes longer than to read the event. */
static bool begin_state(run *r, const gotrace_event *e)
{
    bool call = e->kind == GOTRACE_KIND_SYSCALL; /* v1: short */
    bool created = e->from == GOTRACE_STATE_NOT_EXIST && !(e->flags & GOTRACE_EVENT_SUSPECT);
    if (r->all_states || created || (!call && !changes_goroutine(e)))
        return false;
    find_goroutine *own = goroutine_of(r, call ? e->goroutine : e->subject);
    if (!own || r->states.beginning || own->g.current.state == GOTRACE_STATE_UNDETERMINED)
        return false;
    uint32_t reason = e->reason ? stacks_reason(r->stacks, e->reason) : 0;
    if (call || !only_begins(r, own, e) || (reason && reason == r->states.forever)) {
        find_state(r, own, e);
        return false;
    }
    set_state(own, e->to, r->now);
    own->since = e->time;
    own->g.current.cause = e->goroutine;
    own->g.current.reason = reason;
    own->g.current.stack = stack_of(r, e);
    return true;
}

/* Which states goroutines are in at the end of the trace. */
static void find_last_states(run *r)
{
    size_t cursor = 0;
    uint64_t id;
    void *value;
    while (r->states.goroutines.count > 0 &&
           idmap_next(&r->states.goroutines, &cursor, &id, &value)) {
        find_goroutine *own = value;
        const gotrace_goroutine *g = gotrace_reader_goroutine(r->feed.reader, id);
        bool unknown = own->since == GOTRACE_NO_TIME;
        if (own->g.current.state == GOTRACE_STATE_UNDETERMINED ||
            (g && (unknown ? g->state == own->g.current.state : g->since == own->since)))
            continue;
        set_state(own, g ? g->state : GOTRACE_STATE_NOT_EXIST, g ? g->since : r->now);
    }
}

/* ---- the pass ---------------------------------------------------------------------------------
 */

static bool is_metric(const gotrace_event *e, const char *name)
{
    return e->text_size == strlen(name) && memcmp(e->text, name, e->text_size) == 0;
}

static void range_of(run *r, const gotrace_event *e)
{
    if (e->range == GOTRACE_RANGE_STW && wants(r, MOMENT_BIT(MOMENT_STW)))
        range_event(r, MOMENT_STW, &r->stop, e);
    else if (e->range == GOTRACE_RANGE_GC && wants(r, MOMENT_BIT(MOMENT_GC)))
        range_event(r, MOMENT_GC, &r->cycle, e);
}

static void add_event(run *r, const gotrace_event *e)
{
    r->now = e->time;
    if (!begin_state(r, e))
        states_event(&r->states, e);
    else if (!wants(r, MOMENT_BIT(MOMENT_GOROUTINES)))
        return;
    switch ((gotrace_kind)e->kind) {
    case GOTRACE_KIND_TRANSITION:
        if (e->resource == GOTRACE_RESOURCE_GOROUTINE && wants(r, MOMENT_BIT(MOMENT_GOROUTINES)))
            count_goroutine(r, e);
        break;
    case GOTRACE_KIND_METRIC:
        if (is_metric(e, "heap allocated"))
            set_level(r, MOMENT_HEAP, e->value, e);
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

static bool has_failed(run *r)
{
    if (r->states.failed || r->feed.failed)
        r->job->failed = true;
    return search_failed(&r->search);
}

/* Whether the states of goroutines or where they start are needed. */
static bool needs_goroutines(const run *r)
{
    if (!r->job->counts || wants(r, MOMENT_STATES | MOMENT_BIT(MOMENT_REGION)))
        return true;
    for (size_t i = 0; i < r->what->query_count; i++)
        for (size_t n = 0; n < r->what->queries[i].count; n++)
            if (r->what->queries[i].code[n].code == OP_FUNCTION)
                return true;
    return false;
}

/* Whether no state is too short. */
static bool wants_all_states(const run *r)
{
    for (size_t i = 0; i < MOMENT_KIND_COUNT; i++)
        if (MOMENT_BIT(i) & MOMENT_STATES && (!wants(r, MOMENT_BIT(i)) || r->least[i] > 0))
            return false;
    return true;
}

/* Restricts reading to the events that the moments need. Without some transitions the states of
 * goroutines are not right, but those that are wanted are, and where they start is. */
static void select_events(const run *r)
{
    static const uint32_t kinds_of[MOMENT_KIND_COUNT] = {
        [MOMENT_STW] = RANGES,
        [MOMENT_GC] = RANGES,
        [MOMENT_TASK] = 1U << GOTRACE_KIND_TASK_BEGIN | 1U << GOTRACE_KIND_TASK_END,
        [MOMENT_REGION] = 1U << GOTRACE_KIND_REGION_BEGIN | 1U << GOTRACE_KIND_REGION_END,
        [MOMENT_LOG] = 1U << GOTRACE_KIND_LOG,
        [MOMENT_GOROUTINES] = 1U << GOTRACE_KIND_TRANSITION,
        [MOMENT_HEAP] = 1U << GOTRACE_KIND_METRIC,
    };
    /* The beginnings of states that are needed for their stacks. A goroutine that blocks forever
     * ends its regions. */
    static const uint32_t begins_of[MOMENT_KIND_COUNT] = {
        [MOMENT_SCHED] = 1U << GOTRACE_STATE_RUNNABLE,
        [MOMENT_WAIT] = 1U << GOTRACE_STATE_WAITING,
        [MOMENT_SYSCALL] = 1U << GOTRACE_STATE_SYSCALL,
        [MOMENT_REGION] = 1U << GOTRACE_STATE_WAITING,
    };
    static const gotrace_state state_of[MOMENT_KIND_COUNT] = {
        [MOMENT_RUN] = GOTRACE_STATE_RUNNING,
        [MOMENT_SCHED] = GOTRACE_STATE_RUNNABLE,
        [MOMENT_WAIT] = GOTRACE_STATE_WAITING,
        [MOMENT_SYSCALL] = GOTRACE_STATE_SYSCALL,
    };
    uint32_t kinds = 1U << GOTRACE_KIND_SYNC;
    uint32_t changes = 1U << GOTRACE_STATE_UNDETERMINED | 1U << GOTRACE_STATE_NOT_EXIST;
    /* states_beginning_ends */
    if (r->states.v1)
        kinds |= 1U << GOTRACE_KIND_METRIC;
    /* v1: short system calls take no time. */
    if (wants(r, MOMENT_BIT(MOMENT_SYSCALL)) && r->least[MOMENT_SYSCALL] == 0)
        kinds |= 1U << GOTRACE_KIND_SYSCALL;
    for (size_t i = 0; i < MOMENT_KIND_COUNT; i++) {
        kinds |= wants(r, MOMENT_BIT(i)) ? kinds_of[i] : 0;
        changes |= wants(r, MOMENT_BIT(i)) ? begins_of[i] : 0;
    }
    if (r->all_states)
        changes |= 1U << GOTRACE_STATE_RUNNING;
    if (r->all_states && r->states.v1)
        kinds |= 1U << GOTRACE_KIND_SYSCALL;
    gotrace_reader_select(r->feed.reader, kinds, needs_goroutines(r) ? changes : 0);
    for (size_t i = 0; i < MOMENT_KIND_COUNT && !r->all_states; i++)
        if (MOMENT_BIT(i) & MOMENT_STATES && wants(r, MOMENT_BIT(i)))
            gotrace_reader_select_lasting(r->feed.reader, state_of[i], r->least[i]);
}

static gotrace_status read_events(run *r)
{
    /* Memory and files are looked at after so many events. */
    enum { INTERVAL = 256 };
    const gotrace_event *e;
    gotrace_status status;
    select_events(r);
    for (size_t n = 0; (status = feed_next(&r->feed, &e)) == GOTRACE_EVENT; n++) {
        add_event(r, e);
        if (r->search.ends || r->job->too_hard || (n % INTERVAL == 0 && has_failed(r)))
            return GOTRACE_END;
        if (r->states.begun)
            feed_begin(&r->feed, r->job->threads > 1);
    }
    return status;
}

/* What is active ends with the trace. */
static void end_moments(run *r)
{
    int64_t end = gotrace_reader_summary(r->feed.reader)->duration;
    r->now = end > r->now ? end : r->now;
    if (!r->all_states)
        find_last_states(r);
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

static bool run_init(run *r)
{
    const states_user user = {r, goroutine_begins, state_ends, goroutine_ends, state_changed};
    r->stacks = stacks_new();
    r->levels = calloc(r->what->term_count + 1, sizeof *r->levels);
    if (!r->stacks || !r->levels)
        return false;
    stacks_begin(r->stacks, &r->feed);
    states_init(&r->states, gotrace_reader_summary(r->feed.reader)->version, r->stacks,
                sizeof(find_goroutine), &user);
    if (!search_init(&r->search, r->job, r->stacks))
        return false;
    for (size_t i = 0; i < MOMENT_KIND_COUNT; i++)
        r->least[i] = search_least(&r->search, (moment_kind)i);
    r->all_states = wants_all_states(r);
    return true;
}

static void run_free(run *r)
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
    stacks_free(r->stacks);
}

gotrace_status moments_find(find_job *job, gotrace_reader *reader)
{
    run r = {.job = job, .what = job->what};
    gotrace_status status = GOTRACE_END;
    /* If indexing fails, reading reports the same error. */
    gotrace_reader_index(reader);
    feed_init(&r.feed, reader);
    idmap_init(&r.tasks, sizeof(open_task));
    idmap_init(&r.alive, 0);
    if (run_init(&r)) {
        status = read_events(&r);
        if (!r.search.ends && !has_failed(&r))
            end_moments(&r);
    } else {
        job->failed = true;
    }
    run_free(&r);
    feed_free(&r.feed);
    return status;
}
