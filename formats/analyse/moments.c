/* moments.c - follows the moments of a trace. */
#include "formats/analyse/moments.h"

#include <stdlib.h>
#include <string.h>

#include "formats/analyse/moments_run.h"
#include "formats/analyse/vector.h"
#include "gotrace_experimental.h"

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
                                       .stack = region->stack,
                                       .name = region->name});
}

/* Regions that are open end with their goroutine. */
static void goroutine_ends(void *ctx, goroutine *g, int64_t time, const gotrace_event *e)
{
    find_run *r = ctx;
    find_goroutine *own = (find_goroutine *)g;
    (void)time;
    while (own->region_count > 0)
        region_ends(r, own, &own->regions[--own->region_count], true, e != NULL);
    free(own->regions);
    own->regions = NULL;
}

static void region_event(find_run *r, const gotrace_event *e)
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
                           .stack = task->stack,
                           .name = task->name,
                           .id = id});
}

static void task_event(find_run *r, const gotrace_event *e)
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

static void log_event(find_run *r, const gotrace_event *e)
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
static void set_level(find_run *r, moment_kind kind, uint64_t value, const gotrace_event *e)
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

static void count_goroutine(find_run *r, const gotrace_event *e)
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
    /* The sync that ends a trace is later than its end. */
    if (e->kind != GOTRACE_KIND_SYNC)
        r->now = e->time;
    if (!moment_states_pass(r, e))
        states_event(&r->states, e);
    else if (!wants(r, MOMENT_BIT(MOMENT_GOROUTINES)))
        return;
    if (e->flags & GOTRACE_EVENT_NO_BEGIN)
        return;
    switch ((gotrace_kind)e->kind) {
    case GOTRACE_KIND_TRANSITION:
        if (e->resource == GOTRACE_RESOURCE_GOROUTINE && wants(r, MOMENT_BIT(MOMENT_GOROUTINES)))
            count_goroutine(r, e);
        break;
    case GOTRACE_KIND_METRIC:
        if (e->metric == GOTRACE_METRIC_HEAP_ALLOCATED)
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

static bool has_failed(find_run *r)
{
    if (r->states.failed || r->feed.failed)
        r->job->failed = true;
    return search_failed(&r->search);
}

/* Whether the states of goroutines or where they start are needed. */
static bool needs_goroutines(const find_run *r)
{
    return !r->job->counts ||
           wants(r, MOMENT_STATES | MOMENT_BIT(MOMENT_REGION) | MOMENT_BIT(MOMENT_GOROUTINES)) ||
           search_tests(&r->search, OP_FUNCTION);
}

/* Whether no state is too short. */
static bool wants_all_states(const find_run *r)
{
    for (size_t i = 0; i < MOMENT_STATE_COUNT; i++)
        if (!wants(r, MOMENT_BIT(i)) || r->least[i] > 0)
            return false;
    return true;
}

/* Determines what of the events is needed. */
static void plan(find_run *r)
{
    const search *s = &r->search;
    bool regions = wants(r, MOMENT_BIT(MOMENT_REGION)), of_states = wants(r, MOMENT_STATES);
    bool all = false;
    for (size_t i = 0; i < MOMENT_KIND_COUNT; i++)
        r->least[i] = search_least(&r->search, (moment_kind)i);
    for (size_t i = 0; i < MOMENT_STATE_COUNT; i++)
        all = all || (wants(r, MOMENT_BIT(i)) && r->least[i] == 0);
    r->no_functions = r->states.v1 && gotrace_reader_summary(r->feed.reader)->stacks == 0;
    r->needs_stacks = !r->job->counts || search_tests(s, OP_STACK);
    r->needs_reasons = !r->job->counts || search_tests_names(s, MOMENT_STATES);
    r->by_goroutine = of_states && !regions &&
                      (search_tests(s, OP_FUNCTION) || search_tests(s, OP_GOROUTINE) ||
                       (all && r->job->only_number));
    r->all_states = wants_all_states(r);
    r->job->part_named = search_tests(s, OP_FUNCTION) || search_tests(s, OP_GOROUTINE) ||
                         search_tests(s, OP_STACK);
}

/* Restricts reading to the events that the moments need. Without some transitions the states of
 * goroutines are not right, but those that are wanted are, and where they start is. */
static void select_events(const find_run *r)
{
    static const uint32_t kinds_of[MOMENT_KIND_COUNT] = {
        [MOMENT_STW] = RANGES,
        [MOMENT_GC] = RANGES,
        [MOMENT_TASK] = 1U << GOTRACE_KIND_TASK_BEGIN | 1U << GOTRACE_KIND_TASK_END,
        [MOMENT_REGION] = 1U << GOTRACE_KIND_REGION_BEGIN | 1U << GOTRACE_KIND_REGION_END,
        [MOMENT_LOG] = 1U << GOTRACE_KIND_LOG,
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
    /* Waits need them, to know which last forever, and so do states at the beginning. */
    if (r->job->counts && !r->needs_stacks && !r->states.beginning)
        changes &= ~(begins_of[MOMENT_SCHED] | begins_of[MOMENT_SYSCALL]);
    if (r->all_states)
        changes |= 1U << GOTRACE_STATE_RUNNABLE | 1U << GOTRACE_STATE_RUNNING |
                   1U << GOTRACE_STATE_SYSCALL;
    if (r->all_states && r->states.v1)
        kinds |= 1U << GOTRACE_KIND_SYSCALL;
    gotrace_reader_select(r->feed.reader, kinds, needs_goroutines(r) ? changes : 0);
    for (size_t i = 0; i < MOMENT_KIND_COUNT && !r->all_states; i++)
        if (MOMENT_BIT(i) & MOMENT_STATES && wants(r, MOMENT_BIT(i)))
            gotrace_reader_select_lasting(r->feed.reader, state_of[i], r->least[i]);
}

/* The next event. Without a thread the feed adds nothing. */
static inline gotrace_status next_event(find_run *r, const gotrace_event **e)
{
    return r->job->threads > 1 ? feed_next(&r->feed, e) : gotrace_reader_next(r->feed.reader, e);
}

static gotrace_status read_events(find_run *r)
{
    /* Memory and files are looked at after so many events. */
    enum { INTERVAL = 256 };
    const gotrace_event *e;
    gotrace_status status;
    bool beginning = r->states.beginning;
    select_events(r);
    for (size_t n = 0; (status = next_event(r, &e)) == GOTRACE_EVENT; n++) {
        add_event(r, e);
        if (beginning && !r->states.beginning)
            select_events(r);
        beginning = r->states.beginning;
        if (r->search.ends || r->job->too_hard || (n % INTERVAL == 0 && has_failed(r)))
            return GOTRACE_END;
        if (r->job->threads > 1 && !r->feed.begun && r->states.begun && !beginning)
            feed_begin(&r->feed, true);
    }
    return status;
}

/* What is active ends with the trace. */
static void end_moments(find_run *r)
{
    int64_t end = gotrace_reader_summary(r->feed.reader)->duration;
    r->now = end > r->now ? end : r->now;
    if (!r->all_states)
        moment_states_end(r);
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
    const states_user user = moment_states_user(r, goroutine_ends);
    r->stacks = stacks_new(STACKS_BY_ADDRESS);
    r->levels = calloc(r->what->term_count + 1, sizeof *r->levels);
    if (!r->stacks || !r->levels)
        return false;
    stacks_begin(r->stacks, &r->feed);
    states_init(&r->states, gotrace_reader_summary(r->feed.reader)->version, r->stacks,
                sizeof(find_goroutine), &user);
    if (!search_init(&r->search, r->job, r->stacks))
        return false;
    plan(r);
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
    free(r->by_function.by_number);
    free(r->levels);
    stacks_free(r->stacks);
}

gotrace_status moments_find(find_job *job, gotrace_reader *reader)
{
    find_run r = {.job = job, .what = job->what};
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
    job->stopped = r.search.ends;
    run_free(&r);
    feed_free(&r.feed);
    return status;
}
