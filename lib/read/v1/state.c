#include "read/v1/state.h"

#include <stdio.h>
#include <string.h>

#include "core/semantics.h"
#include "read/user.h"

gt_states *gt_states_new(gotrace_reader *reader, gt_goroutines *goroutines)
{
    gt_states *s = gt_calloc(&reader->heap, 1, sizeof *s);
    if (!s) {
        gt_fail_memory(reader);
        return NULL;
    }
    s->current.reader = reader;
    s->current.states = s;
    s->goroutines = goroutines;
    s->count = reader->index.proc_count + 1;
    s->tasks.heap = s->missing.heap = &reader->heap;
    s->procs = gt_calloc(&reader->heap, s->count, sizeof *s->procs);
    if (!s->procs) {
        gt_fail_memory(reader);
        gt_states_free(reader, s);
        return NULL;
    }
    for (size_t i = 0; i < s->count; i++) {
        s->procs[i].id = i < reader->index.proc_count ? reader->index.procs[i].summary.proc
                                                      : GOTRACE_NO_PROC;
        s->procs[i].thread = GOTRACE_NO_THREAD;
        s->procs[i].shown_id = gt_shown_proc(s->procs[i].id);
    }
    return s;
}

void gt_states_assume(gt_states *s, gt_assumptions *assumed)
{
    s->assumed = assumed;
    s->started = true;
    s->gc = s->stw = GT_UNKNOWN;
    s->unknown = s->goroutines->unknown_seq;
    for (size_t i = 0; i < s->count; i++) {
        gt_proc_state *p = &s->procs[i];
        p->is_running = p->sweeping = p->stopping = GT_UNKNOWN;
        p->goroutine = s->unknown;
    }
}

void gt_states_free(gotrace_reader *reader, gt_states *s)
{
    if (!s)
        return;
    gt_free(&reader->heap, s->procs, s->count * sizeof *s->procs);
    gt_map_free(&s->tasks);
    gt_map_free(&s->missing);
    gt_free(&reader->heap, s, sizeof *s);
}

/* ---- reporting ----------------------------------------------------------------------------- */

#define BROKEN(s, rule, ...)                                                                       \
    ((s)->effect->flags |= GOTRACE_EVENT_SUSPECT,                                                  \
     gt_report((s)->reader, rule, gt_event_place((s)->e), __VA_ARGS__))

/* The same for an event of the user's code. */
#define USER_BROKEN(s, rule, ...)                                                                  \
    ((s)->effect->flags |= GOTRACE_EVENT_SUSPECT,                                                  \
     gt_report_user((s)->reader, rule, &(gt_user)OF_USER(s), __VA_ARGS__))

#define OF_USER(s)                                                                                 \
    {                                                                                              \
        gt_event_place((s)->e), gt_time_of((s)->reader, (s)->e->ticks), (s)->e->goroutine,         \
            (s)->e->stack                                                                          \
    }

static const gt_v1_shape *shape_of(const gt_step *s)
{
    return &s->reader->index.shapes[s->e->type];
}

static const char *name_of(const gt_step *s)
{
    return gotrace_event_spec_of(s->reader->summary.version, s->e->type)->name;
}

static bool check(gt_step *s, bool good, gotrace_rule rule, const char *what)
{
    return good || BROKEN(s, rule, "%s: %s", name_of(s), what);
}

/* For %llu. */
static unsigned long long id(uint64_t n)
{
    return n;
}

/* ---- assumptions, in a piece of a trace ------------------------------------------------------ */

static void assume(gt_step *s, gt_assumption assumption)
{
    s->states->assumed->void_ |= !gt_assume(s->states->assumed, assumption);
}

__attribute__((cold)) static bool assume_state(gt_step *s, gt_goroutine *g, uint8_t state)
{
    if (g->state != GT_UNKNOWN)
        return false;
    assume(s, (gt_assumption){.kind = GT_ASSUME_STATE, .id = g->id, .value = state});
    g->state = state;
    return true;
}

/* Whether the goroutine is in that state. */
GT_INLINE bool is_in(gt_step *s, gt_goroutine *g, uint8_t state)
{
    return g->state == state || assume_state(s, g, state);
}

static uint64_t number_of_proc(const gt_step *s)
{
    return (uint64_t)(s->p - s->states->procs);
}

__attribute__((cold)) static bool assume_on_proc(gt_step *s, uint64_t goroutine)
{
    if (!s->states->assumed || s->p->goroutine != s->states->unknown)
        return false;
    assume(s,
           (gt_assumption){.kind = GT_ASSUME_ON_PROC, .id = number_of_proc(s), .value = goroutine});
    s->p->goroutine = goroutine;
    return true;
}

/* Whether that goroutine runs on the proc; 0: none. */
GT_INLINE bool is_on_proc(gt_step *s, uint64_t goroutine)
{
    return s->p->goroutine == goroutine || assume_on_proc(s, goroutine);
}

/* Whether something goes on. */
static bool goes_on(gt_step *s, uint8_t *state, bool wanted, gt_assumption_kind kind, uint64_t of)
{
    if (*state == GT_UNKNOWN) {
        assume(s, (gt_assumption){.kind = (uint8_t)kind, .id = of, .value = wanted});
        *state = wanted;
    }
    return *state;
}

/* ---- goroutines ---------------------------------------------------------------------------- */

static gt_goroutine *find_slowly(gt_step *s, uint64_t goroutine)
{
    gt_goroutine *g = gt_goroutine_get(s->states->goroutines, goroutine);
    if (!g && s->states->goroutines->limited) {
        gt_error_limit(&s->reader->error, GOTRACE_LIMIT_GOROUTINES, gt_event_place(s->e),
                       s->reader->limits.goroutines);
        gt_fail(s->reader);
    } else if (!g) {
        gt_fail_memory(s->reader);
    }
    return g;
}

/* Usually the one that runs on the proc, or that order.c has found. */
GT_INLINE gt_goroutine *find(gt_step *s, uint64_t goroutine)
{
    gt_goroutine *g = s->p->running;
    if (g && g->id == goroutine && goroutine != UINT64_MAX)
        return g;
    g = s->e->subject;
    if (g && g->id == goroutine && goroutine != UINT64_MAX)
        return g;
    return find_slowly(s, goroutine);
}

GT_INLINE void change(gt_step *s, gt_goroutine *g, uint8_t state, uint8_t shown)
{
    s->effect->goroutine = g;
    s->effect->from = g->shown;
    s->effect->to = shown;
    g->state = state;
    g->shown = shown;
    g->since = s->e->ticks;
}

/* Sets the state of a goroutine to the one that the row leaves. */
GT_INLINE void change_as_stated(gt_step *s, gt_goroutine *g, const gotrace_semantics *does)
{
    change(s, g, gt_next_of(does), gt_change_of(does).to);
}

static bool report_state(gt_step *s, const gt_goroutine *g)
{
    const char *is = gt_status_name(g->state);
    const char *wanted = gt_status_name(shape_of(s)->status);
    switch ((gt_action)shape_of(s)->action) {
    case GT_ACTION_START:
        return BROKEN(s, GOTRACE_RULE_GO_START,
                      "goroutine %llu starts, but it is %s; it has to be %s", id(g->id), is,
                      wanted);
    case GT_ACTION_WAKE:
        return BROKEN(s, GOTRACE_RULE_GO_UNBLOCK,
                      "goroutine %llu is unblocked, but it is %s; it has to be %s", id(g->id), is,
                      wanted);
    case GT_ACTION_EXIT:
        return BROKEN(s, GOTRACE_RULE_GO_SYSEXIT,
                      "goroutine %llu leaves a system call, but it is %s; it has to be %s in one",
                      id(g->id), is, wanted);
    default:
        return BROKEN(s, GOTRACE_RULE_GO_INITIAL, "%s: goroutine %llu is %s, it has to be %s",
                      name_of(s), id(g->id), is, wanted);
    }
}

/* Checks that the goroutine is in the state that the row requires. */
GT_INLINE bool check_state(gt_step *s, gt_goroutine *g, const gotrace_semantics *does)
{
    return is_in(s, g, gt_status_of(gt_change_of(does).from)) || report_state(s, g);
}

/* A goroutine's events must occur while it runs, on its proc. Source: Go's checkRunning. */
static bool report_running(gt_step *s)
{
    const gt_event *e = s->e;
    if (s->g->state != GT_RUNNING)
        return BROKEN(s, GOTRACE_RULE_GO_RUNNING, "%s: goroutine %llu is %s, it has to be running",
                      name_of(s), id(e->goroutine), gt_status_name(s->g->state));
    if (!is_on_proc(s, e->goroutine))
        return BROKEN(s, GOTRACE_RULE_GO_RUNNING,
                      "%s: proc %lld runs goroutine %llu, it has to run %llu", name_of(s),
                      (long long)s->p->id, id(s->p->goroutine), id(e->goroutine));
    return BROKEN(s, GOTRACE_RULE_GO_RUNNING, "%s outside of any goroutine", name_of(s));
}

static inline bool check_running(gt_step *s, bool scheduler_may)
{
    return (is_in(s, s->g, GT_RUNNING) && is_on_proc(s, s->e->goroutine) &&
            (scheduler_may || s->e->goroutine != 0)) ||
           report_running(s);
}

/* The goroutine stops running, and the proc is free. */
GT_INLINE bool stop(gt_step *s, const gotrace_semantics *does)
{
    if (does->self.to == GOTRACE_STATE_NOT_EXIST)
        s->reader->summary.goroutines_ended++;
    if (!check_running(s, false))
        return false;
    if (does->self.to != GOTRACE_STATE_SYSCALL) /* else it is the call in which it blocks */
        s->g->last_type = s->e->type;
    change_as_stated(s, s->g, does);
    s->p->goroutine = 0;
    s->p->running = NULL;
    return true;
}

static bool create(gt_step *s, const gotrace_semantics *does)
{
    const gt_event *e = s->e;
    if (!check_running(s, true))
        return false;
    gt_goroutine *made = find(s, e->args[0]);
    if (!made)
        return false;
    if (s->states->assumed && !(made->contact & GT_CONTACT_CREATED))
        s->states->assumed->void_ = true;
    if (made->known &&
        !BROKEN(s, GOTRACE_RULE_GO_CREATE, "goroutine %llu is created, but %s", id(made->id),
                made->state == GT_DEAD ? "it existed before" : "it already exists"))
        return false;
    bool initial = !s->states->started && e->goroutine == 0;
    s->effect->flags |= initial ? GOTRACE_EVENT_INITIAL : 0;
    made->shown = initial ? GOTRACE_STATE_UNDETERMINED : GOTRACE_STATE_NOT_EXIST;
    made->known = true;
    made->complete = !initial;
    made->creator = e->goroutine;
    made->start_stack = e->args[1];
    made->created = e->ticks;
    made->last_type = e->type;
    made->cause = initial ? 0 : e->offset;
    change_as_stated(s, made, does);
    s->reader->summary.goroutines_created += !initial;
    s->reader->summary.goroutines_initial += initial;
    return true;
}

GT_INLINE bool start(gt_step *s, const gotrace_semantics *does)
{
    const gt_event *e = s->e;
    if (!check_state(s, s->g, does))
        return false;
    if (!is_on_proc(s, 0) &&
        !BROKEN(s, GOTRACE_RULE_GO_START,
                "goroutine %llu starts on proc %lld, which is running goroutine %llu",
                id(e->goroutine), (long long)s->p->id, id(s->p->goroutine)))
        return false;
    change_as_stated(s, s->g, does);
    s->effect->cause = s->effect->from == GOTRACE_STATE_RUNNING ? 0 : s->g->cause;
    s->g->cause = 0;
    s->g->last_type = 0;
    s->p->goroutine = e->goroutine;
    s->p->running = s->g;
    return true;
}

GT_INLINE bool unblock(gt_step *s, const gotrace_semantics *does)
{
    const gt_event *e = s->e;
    bool timer = s->reader->index.timers.entries &&
                 gt_table_find(&s->reader->index.timers, e->goroutine);
    if (timer)
        s->effect->flags |= GOTRACE_EVENT_TIMER;
    if (!is_in(s, s->g, GT_RUNNING) &&
        !BROKEN(s, GOTRACE_RULE_GO_UNBLOCK,
                "goroutine %llu unblocks goroutine %llu, but is %s itself; it has to be running",
                id(e->goroutine), id(e->args[0]), gt_status_name(s->g->state)))
        return false;
    if (!timer && !is_on_proc(s, e->goroutine) &&
        !BROKEN(s, GOTRACE_RULE_GO_UNBLOCK,
                "goroutine %llu unblocks %llu on proc %lld, which runs goroutine %llu",
                id(e->goroutine), id(e->args[0]), (long long)s->p->id, id(s->p->goroutine)))
        return false;
    gt_goroutine *woken = find(s, e->args[0]);
    if (!woken)
        return false;
    if (!check_state(s, woken, does))
        return false;
    if (woken->last_type == GOTRACE_V1_GoBlockNet && !timer)
        s->effect->flags |= GOTRACE_EVENT_NETWORK;
    woken->last_type = e->type;
    woken->known = true;
    woken->cause = e->offset;
    change_as_stated(s, woken, does);
    return true;
}

static bool found(gt_step *s, const gotrace_semantics *does)
{
    if (!check_state(s, s->g, does))
        return false;
    change_as_stated(s, s->g, does);
    s->g->last_type = s->e->type;
    return true;
}

/* The proc's next event shows whether the call blocks. */
static bool syscall_enter(gt_step *s)
{
    if (!check_running(s, false))
        return false;
    s->g->last_type = s->e->type;
    if (s->e->flags & GT_EVENT_BLOCKS)
        change(s, s->g, GT_RUNNING, GOTRACE_STATE_SYSCALL);
    return true;
}

static bool syscall_exit(gt_step *s, const gotrace_semantics *does)
{
    if (!check_state(s, s->g, does))
        return false;
    s->g->last_type = s->e->type;
    s->g->cause = s->e->offset;
    change_as_stated(s, s->g, does);
    return true;
}

/* ---- procs and the GC ---------------------------------------------------------------------- */

static void change_proc(gt_step *s)
{
    s->p->is_running = shape_of(s)->to == GOTRACE_STATE_RUNNING;
    s->effect->from = s->p->shown;
    s->effect->to = s->p->shown = shape_of(s)->to;
}

/* Whether the proc is running. */
static bool proc_runs(gt_step *s, bool wanted)
{
    return goes_on(s, &s->p->is_running, wanted, GT_ASSUME_PROC_RUNS, number_of_proc(s));
}

static bool proc_start(gt_step *s)
{
    if (!check(s, !proc_runs(s, false), GOTRACE_RULE_PROC_START, "the proc is running already"))
        return false;
    s->p->thread = (int64_t)s->e->args[0];
    change_proc(s);
    return true;
}

static bool proc_stop(gt_step *s)
{
    if (!check(s, proc_runs(s, true), GOTRACE_RULE_PROC_STOP, "the proc is not running"))
        return false;
    if (!is_on_proc(s, 0) &&
        !BROKEN(s, GOTRACE_RULE_PROC_STOP, "proc %lld stops while it runs goroutine %llu",
                (long long)s->p->id, id(s->p->goroutine)))
        return false;
    s->p->goroutine = 0;
    s->p->running = NULL;
    change_proc(s);
    return true;
}

/* A range's state, and the messages for a begin while it is active and an end while it is not; NULL
 * if that is allowed. */
typedef struct range_state {
    uint8_t *going;
    const char *still, *none;
    gt_assumption_kind kind;
    uint64_t of;
} range_state;

static range_state range_of(gt_step *s)
{
    switch ((gotrace_range)shape_of(s)->range) {
    case GOTRACE_RANGE_NONE: break;
    case GOTRACE_RANGE_GC:
        return (range_state){&s->states->gc, "the last cycle has not ended", "no cycle was started",
                             GT_ASSUME_GC, 0};
    case GOTRACE_RANGE_STW: /* until 1.9 each proc has its own */
        if (s->reader->summary.version < GT_FIRST_STW_KIND)
            return (range_state){&s->p->stopping, "the last one has not ended", "none was started",
                                 GT_ASSUME_PROC_STOPS, number_of_proc(s)};
        return (range_state){&s->states->stw, "the last one has not ended", "none was started",
                             GT_ASSUME_WORLD_STOPS, 0};
    case GOTRACE_RANGE_SWEEP:
        return (range_state){&s->p->sweeping, "the proc's last sweep has not ended",
                             "the proc has not started to sweep", GT_ASSUME_SWEEP,
                             number_of_proc(s)};
    case GOTRACE_RANGE_MARK_ASSIST: /* one may be active when tracing starts */
        return (range_state){&s->g->assisting, "the goroutine's last assist has not ended", NULL,
                             GT_ASSUME_ASSIST, s->g->id};
    }
    return (range_state){0}; /* see test_semantics */
}

static bool check_stw_kind(gt_step *s)
{
    int version = s->reader->summary.version;
    return version < GT_FIRST_STW_KIND || version >= GT_FIRST_STW_REASON || s->e->args[0] <= 1 ||
           BROKEN(s, GOTRACE_RULE_STW_KIND, "STWStart is of kind %llu", id(s->e->args[0]));
}

/* An assist may be active when tracing starts, if nothing is known of its goroutine. */
static void set_no_begin(gt_step *s, bool no_begin)
{
    s->effect->flags |= no_begin ? GOTRACE_EVENT_NO_BEGIN : 0;
}

static bool assist(gt_step *s, bool begins, bool was)
{
    bool no_begin = !begins && !was && (s->g->complete || s->g->assisted);
    set_no_begin(s, no_begin);
    s->g->assisted = true;
    return !no_begin ||
           gt_report_no_begin(s->reader, s->states->assumed, &(gt_user)OF_USER(s), name_of(s),
                              "a mark assist ends, but none is active, and none can have begun "
                              "before the trace");
}

static bool range(gt_step *s, bool begins)
{
    gotrace_range which = shape_of(s)->range;
    if (which == GOTRACE_RANGE_STW && begins && !check_stw_kind(s))
        return false;
    range_state state = range_of(s);
    const char *wrong = begins ? state.still : state.none;
    bool was = goes_on(s, state.going, !begins, state.kind, state.of);
    bool good = !wrong ||
                check(s, was != begins, gotrace_range_spec_of(which)->rules[begins], wrong);
    if (which == GOTRACE_RANGE_MARK_ASSIST && good)
        good = assist(s, begins, was);
    else
        set_no_begin(s, !begins && !was);
    *state.going = begins;
    return good;
}

/* ---- tasks and regions --------------------------------------------------------------------- */

static bool task_create(gt_step *s)
{
    uint64_t task = s->e->args[0];
    if (gt_map_get(&s->states->tasks, task) &&
        !USER_BROKEN(s, GOTRACE_RULE_TASK_CREATE,
                     "task %llu is created while one of that id goes on", id(task)))
        return false;
    if (s->states->assumed)
        s->states->assumed->void_ |= !gt_assume_new(&s->states->assumed->tasks, task);
    s->reader->summary.tasks++;
    /* The id 2^64-1 cannot be stored with 1 added, and has no name. */
    uint64_t name = s->e->args[2] == UINT64_MAX ? 0 : s->e->args[2];
    return (gt_map_put(&s->states->tasks, task, name + 1) && gt_task_begins(s->reader, task)) ||
           gt_fail_memory(s->reader);
}

static bool task_end(gt_step *s)
{
    uint64_t task = s->e->args[0], name = gt_map_get(&s->states->tasks, task);
    s->effect->ended_name = name ? name - 1 : 0;
    gt_map_remove(&s->states->tasks, task);
    if (!name && gt_task_has_ended(s->reader, task)) {
        set_no_begin(s, true);
        return gt_report_no_begin(s->reader, s->states->assumed, &(gt_user)OF_USER(s), "task",
                                  "task %llu ends twice", id(task));
    }
    if (s->states->assumed && !name)
        assume(s, (gt_assumption){.kind = GT_ASSUME_TASK_ENDS, .id = task});
    return gt_task_ends(s->reader, task) || gt_fail_memory(s->reader);
}

static bool same_string(const gotrace_reader *reader, uint64_t x, uint64_t y)
{
    size_t xn = 0, yn = 0;
    const char *xs = gotrace_reader_string(reader, x, &xn);
    const char *ys = gotrace_reader_string(reader, y, &yn);
    return x == y || (xn == yn && (xn == 0 || memcmp(xs, ys, xn) == 0));
}

static bool region_start(gt_step *s)
{
    gt_goroutine *g = s->g;
    void *regions = g->regions;
    size_t capacity = g->region_capacity;
    if (!gt_grow(&s->reader->heap, &regions, &capacity, g->region_count + (size_t)1,
                 sizeof *g->regions))
        return gt_fail_memory(s->reader);
    g->regions = regions;
    g->region_capacity = (uint32_t)capacity;
    g->regions[g->region_count++] = (gt_region){s->e->args[0], s->e->args[2]};
    s->reader->summary.regions++;
    return true;
}

bool gt_region_fits(const gotrace_reader *reader, const gt_region *region, uint64_t task,
                    uint64_t name)
{
    return region->task == task && same_string(reader, region->name, name);
}

/* The name of a region, at most 40 bytes, in a message. */
static const char *region_name(const gt_step *s, uint64_t string, int *size)
{
    size_t bytes = 0;
    const char *name = gotrace_reader_string(s->reader, string, &bytes);
    *size = (int)(bytes < 40 ? bytes : 40);
    return name ? name : "";
}

static bool report_no_region(gt_step *s)
{
    int size;
    const char *name = region_name(s, s->e->args[2], &size);
    char what[48];
    set_no_begin(s, true);
    snprintf(what, sizeof what, "region %.*s", size, name);
    return gt_report_no_begin(s->reader, s->states->assumed, &(gt_user)OF_USER(s), what,
                              "region \"%.*s\" ends, but is not open: it ends twice, another "
                              "goroutine began it, or its begin is lost",
                              size, name);
}

static bool is_open(const gt_step *s, uint64_t task, uint64_t name)
{
    for (uint32_t i = 0; i < s->g->region_count; i++)
        if (gt_region_fits(s->reader, &s->g->regions[i], task, name))
            return true;
    return false;
}

/* It began before the trace, or before this piece; or not at all. */
static bool end_outer_region(gt_step *s)
{
    gt_goroutine *g = s->g;
    if (g->complete)
        return report_no_region(s);
    if (s->states->assumed && !(g->contact & GT_CONTACT_CREATED))
        assume(s, (gt_assumption){.kind = GT_ASSUME_REGION,
                                  .id = g->id,
                                  .value = s->e->args[0],
                                  .name = s->e->args[2],
                                  .depth = g->outer_ends++});
    return true;
}

static bool region_end(gt_step *s)
{
    gt_goroutine *g = s->g;
    if (g->region_count == 0)
        return end_outer_region(s);
    const gt_region *inner = &g->regions[g->region_count - 1];
    bool fits = gt_region_fits(s->reader, inner, s->e->args[0], s->e->args[2]);
    bool no_begin = !fits && !is_open(s, s->e->args[0], s->e->args[2]);
    set_no_begin(s, no_begin);
    g->region_count -= !no_begin;
    if (fits)
        return true;
    int ended_size, inner_size;
    const char *ended = region_name(s, s->e->args[2], &ended_size);
    const char *open = region_name(s, inner->name, &inner_size);
    return USER_BROKEN(s, GOTRACE_RULE_REGION_END,
                       "goroutine %llu ends region \"%.*s\" of task %llu, but the innermost one is "
                       "\"%.*s\" of task %llu",
                       id(g->id), ended_size, ended, id(s->e->args[0]), inner_size, open,
                       id(inner->task));
}

static bool region(gt_step *s)
{
    switch (s->e->args[1]) {
    case 0: return region_start(s);
    case 1: return region_end(s);
    default:
        return USER_BROKEN(s, GOTRACE_RULE_REGION_MODE, "UserRegion has mode %llu",
                           id(s->e->args[1]));
    }
}

/* ---- references to tables ------------------------------------------------------------------ */

static bool report_missing(gt_step *s, uint64_t wanted, uint64_t bit)
{
    /* Tables come last, so a trace that is cut off lacks them. */
    if (!s->reader->index.has_frequency || s->reader->summary.unread_bytes)
        return true;
    uint64_t seen = gt_map_get(&s->states->missing, wanted);
    if (seen & bit)
        return true;
    if (!gt_map_put(&s->states->missing, wanted, seen | bit))
        return gt_fail_memory(s->reader);
    if (s->states->assumed) {
        assume(s, (gt_assumption){.kind = GT_ASSUME_REPORTED, .id = wanted, .value = bit});
        return true;
    }
    return gt_report(s->reader, bit == 1 ? GOTRACE_RULE_STRING_MISSING : GOTRACE_RULE_STACK_MISSING,
                     gt_event_place(s->e), "%s refers to %s %llu, which is not in the trace",
                     name_of(s), bit == 1 ? "string" : "stack", id(wanted));
}

static inline bool refer(gt_step *s, const gt_table *table, uint64_t wanted, uint64_t bit)
{
    return wanted == 0 || gt_table_find(table, wanted) || report_missing(s, wanted, bit);
}

static bool refer_args(gt_step *s)
{
    const gt_index *index = &s->reader->index;
    const gt_v1_shape *shape = shape_of(s);
    return (!shape->string || refer(s, &index->tables.strings, s->e->args[shape->string - 1], 1)) &&
           (!shape->start || refer(s, &index->tables.stacks, s->e->args[shape->start - 1], 2));
}

/* ---- one event ----------------------------------------------------------------------------- */

GT_INLINE bool act(gt_step *s, const gotrace_semantics *does)
{
    switch (gt_action_of(does)) {
    case GT_ACTION_UNKNOWN: /* no event has it: see test_semantics */
    case GT_ACTION_NONE:
    case GT_ACTION_SAMPLE: return true;
    case GT_ACTION_CREATE: return create(s, does);
    case GT_ACTION_START: return start(s, does);
    case GT_ACTION_STOP: return stop(s, does);
    case GT_ACTION_WAKE: return unblock(s, does);
    case GT_ACTION_EXIT: return syscall_exit(s, does);
    case GT_ACTION_FOUND: return found(s, does);
    case GT_ACTION_SYSCALL: return syscall_enter(s);
    case GT_ACTION_PROC_START: return proc_start(s);
    case GT_ACTION_PROC_STOP: return proc_stop(s);
    case GT_ACTION_RANGE_BEGIN: return range(s, true);
    case GT_ACTION_RANGE_END: return range(s, false);
    case GT_ACTION_METRIC: s->states->started |= does->started; return true;
    case GT_ACTION_TASK_BEGIN: return task_create(s);
    case GT_ACTION_TASK_END: return task_end(s);
    case GT_ACTION_REGION: return region(s);
    case GT_ACTION_LOG: s->reader->summary.logs++; return true;
    }
    return true;
}

/* A case for each row, so that the row is a compile-time constant. */
GT_INLINE bool dispatch(gt_step *s)
{
    switch (s->e->type) {
#define E(code, name, since, flags, args, summary, row)
#define T(code, name, since, flags, args, summary, row)                                            \
    case code: {                                                                                   \
        static const gotrace_semantics does = {STRIP row};                                         \
        return act(s, &does);                                                                      \
    }
#define STRIP(...) __VA_ARGS__
#include "events_v1.def"
#undef STRIP
#undef E
#undef T
    default: return true; /* structural records are not events */
    }
}

bool gt_states_step(gotrace_reader *reader, gt_states *states, const gt_event *e, gt_effect *effect)
{
    gt_step *s = &states->current;
    bool refers = reader->index.shapes[e->type].refers;
    s->e = e;
    s->effect = effect;
    effect->goroutine = NULL;
    effect->from = effect->to = GOTRACE_STATE_UNDETERMINED;
    effect->cause = 0;
    effect->flags = 0;
    s->p = gt_states_proc(states, e);
    s->g = find(s, e->goroutine);
    if (!s->g)
        return false;
    s->g->known = true;
    return dispatch(s) && (!refers || refer_args(s)) &&
           (e->stack == 0 || refer(s, &reader->index.tables.stacks, e->stack, 2));
}
