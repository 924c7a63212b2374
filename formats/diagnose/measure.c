/* measure.c - the pass over a trace that measures. */
#include "formats/diagnose/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/analyse/waits_for.h"
#include "formats/common/vector.h"
#include "formats/diagnose/run.h"

enum {
    /* Go looks every 10 ms for what has run for 10 ms, and interrupts it (sysmon in
     * runtime/proc.go): there is an event every 20 ms while a goroutine runs (66 of 72 times
     * without an event in a loop of Go 1.22 took 20 to 21 ms, one 24), unless the process is
     * stopped. */
    SILENCE = 22 * 1000 * 1000, /* ns */
    MOST_SILENCES = 1 << 16,
    /* Longer than it usually takes to wake a thread for a goroutine that is runnable. */
    WAKE_UP = 200 * 1000, /* ns */
    FIRST_PREEMPTED = 14, /* Go 1.14 interrupts loops too */
};

/* ---- sums over all goroutines -----------------------------------------------------------------
 */

static void end_waste(pass *p)
{
    if (p->waste_begin != STATES_NEVER && p->settled - p->waste_begin > WAKE_UP)
        p->m->wasted_ns = sum_of_times(p->m->wasted_ns, p->waste);
    p->waste_begin = STATES_NEVER;
    p->waste = 0;
}

/* Adds as many times ns to a sum. */
static void add_product(int64_t *sum, uint64_t count, int64_t ns)
{
    int64_t product;
    if (count > INT64_MAX || __builtin_mul_overflow((int64_t)count, ns, &product))
        product = INT64_MAX;
    *sum = sum_of_times(*sum, product);
}

/* Adds the time until now, in which as many goroutines ran and were runnable. */
static void settle(pass *p)
{
    const int64_t now = now_of(p), ns = now - p->settled;
    if (ns <= 0)
        return;
    const uint64_t idle = p->procs > p->running ? p->procs - p->running : 0;
    const bool wasted = p->runnable && idle && p->stop_depth == 0;
    add_product(&p->m->procs_ns, p->procs, ns);
    if (wasted && p->waste_begin == STATES_NEVER)
        p->waste_begin = p->settled;
    if (wasted)
        add_product(&p->waste, idle < p->runnable ? idle : p->runnable, ns);
    else
        end_waste(p);
    if (p->runnable && p->procs && idle == 0 && p->stop_depth == 0)
        add_product(&p->m->saturated_ns, p->runnable, ns);
    p->settled = now;
}

static inline void count_state(pass *p, measured *g, uint8_t state)
{
    const bool was = g->counted != 0;
    const bool is = state == GOTRACE_STATE_RUNNING || state == GOTRACE_STATE_RUNNABLE;
    if (!was && !is)
        return;
    settle(p);
    if (was)
        (*(g->counted == GOTRACE_STATE_RUNNING ? &p->running : &p->runnable))--;
    if (is)
        (*(state == GOTRACE_STATE_RUNNING ? &p->running : &p->runnable))++;
    g->counted = is ? state : 0;
}

/* ---- silences ---------------------------------------------------------------------------------
 */

static void add_silence(pass *p, int64_t begin, int64_t ns, bool due)
{
    measures *m = p->m;
    if (due) {
        states_advance(&p->states, begin);
        settle(p);
        /* What ran or waited then does so as if that time did not exist. */
        m->silent_ns = sum_of_times(m->silent_ns, ns);
    }
    if (m->silence_count >= MOST_SILENCES)
        return;
    silence *list = vector_room(m->silences, &m->silence_room, m->silence_count, sizeof *list);
    if (!list) {
        m->failed = true;
        return;
    }
    m->silences = list;
    list[m->silence_count++] = (silence){begin, ns, due};
}

/* Whether something would have happened if the process had not been stopped. */
static bool is_due(const pass *p)
{
    if (p->stop_depth > 0)
        return false;
    return p->interrupts && p->of_go ? p->running + p->runnable > 0
                                     : p->runnable > 0 && p->running < p->procs;
}

static inline void look_for_silence(pass *p, const gotrace_event *e)
{
    const int64_t until = p->states.until < STATES_LATEST ? p->states.until : STATES_LATEST;
    const int64_t time = e->time < until ? e->time : until;
    if (time <= p->last)
        return;
    if (time - p->last > SILENCE && p->m->events > 0)
        add_silence(p, p->last, time - p->last, is_due(p));
    p->last = time;
}

/* ---- goroutines -------------------------------------------------------------------------------
 */

static stage *find_stage(pass *p, measured *g)
{
    stage *s = stat_figure(&p->m->stages, g->g.function, sizeof *s);
    if (!s) {
        p->m->failed = true;
        return NULL;
    }
    if (!s->seen) {
        size_t size;
        const char *name = stacks_text(p->m->stacks, g->g.function, &size);
        s->seen = true;
        s->system = function_is_system(name, size);
        p->of_go |= s->system;
        s->chosen = p->function.pattern && matcher_name(&p->function, g->g.function);
    }
    return g->stage = s;
}

static inline stage *stage_of(pass *p, measured *g)
{
    return g->stage && g->stage->function == g->g.function ? g->stage : find_stage(p, g);
}

static void goroutine_begins(void *ctx, goroutine *g, const gotrace_event *e)
{
    pass *p = ctx;
    measured *own = (measured *)g;
    own->made = e->kind == GOTRACE_KIND_TRANSITION && e->from == GOTRACE_STATE_NOT_EXIST;
    own->now = own->made ? now_of(p) : p->states.sync;
    own->sweeps = STATES_NEVER;
    if (!own->made)
        return;
    own->creator = stacks_of(p->m->stacks, e->stack);
    count_state(p, own, e->to);
}

/* Adds the time of a state that is not a wait; returns what kind it is. */
static uint8_t add_execution(pass *p, measured *g, const interval *i, int64_t ns)
{
    if (i->state == GOTRACE_STATE_RUNNABLE) {
        g->ready = sum_of_times(g->ready, ns);
        return DO_RUNNABLE;
    }
    g->ran = sum_of_times(g->ran, ns);
    /* An idle worker takes a proc for which the program has nothing. */
    if (g->worker && g->worker != WORKER_IDLE &&
        (g->g.function == 0 || g->g.function == p->worker_function))
        p->m->worker_ns = sum_of_times(p->m->worker_ns, ns);
    return g->assists ? DO_ASSIST : DO_RUN;
}

/* Whether what the goroutine does counts as a task's. */
static inline bool is_chosen(const pass *p, const measured *g, const stage *s)
{
    return (!p->function.pattern || s->chosen) &&
           (g->tasks > 0 || (p->function.pattern && !p->task));
}

/* For which goroutine it waits; 0: not known. */
static uint64_t holder_of(const pass *p, const measured *g)
{
    size_t size;
    const char *text = stacks_text(p->m->stacks, g->waits_for, &size);
    return g->waits_for ? waits_for_goroutine(text, size) : 0;
}

static void add_waiter(pass *p, const measured *g, bool ended)
{
    const waiter made = {.goroutine = g->g.id,
                         .holder = holder_of(p, g),
                         .since = g->since,
                         .until = p->states.time,
                         .ended = ended,
                         .stack = g->g.current.stack,
                         .waits_for = g->waits_for};
    if (!made.holder || g->g.current.place == STATES_AFTER)
        return;
    waiter *list = vector_room(p->m->waiters, &p->m->waiter_room, p->m->waiter_count, sizeof *list);
    if (!list) {
        p->m->failed = true;
        return;
    }
    p->m->waiters = list;
    list[p->m->waiter_count++] = made;
}

/* Nobody has ended the wait: the process has ended, in a trace of several. The first of its
 * goroutines that ends may be in a cycle. */
static void look_for_cycle(pass *p, const measured *g)
{
    enum { MOST = 64 }; /* of a damaged trace any event may come here */
    const measured *next = g;
    size_t length = 0;
    do {
        next = find(p, holder_of(p, next));
        length++;
    } while (next && next != g && next->waits_for && length < MOST);
    if (next != g)
        return;
    for (; length > 0; length--) {
        add_waiter(p, g, true);
        g = find(p, holder_of(p, g));
    }
}

static inline void interval_ends(void *ctx, goroutine *g, const interval *i, const gotrace_event *e)
{
    pass *p = ctx;
    measured *own = (measured *)g;
    const int64_t now = now_of(p), ns = time_since(p, own->now);
    const bool waits = i->state == GOTRACE_STATE_WAITING || i->state == GOTRACE_STATE_SYSCALL;
    if (e && i->next != i->state) {
        if (own->waits_for && e->goroutine == 0)
            look_for_cycle(p, own);
        own->waits_for = i->next == GOTRACE_STATE_WAITING ? own->log : 0;
        own->since = p->states.time;
    }
    own->log = 0;
    if (i->state < GOTRACE_STATE_RUNNABLE)
        return;
    /* Its first status shows where it starts, too. */
    if (!own->stage && !g->named && e)
        states_find_function(&p->states, g, e);
    stage *s = stage_of(p, own);
    if (!s)
        return;
    own->chosen = is_chosen(p, own, s);
    const uint8_t kind = s->system && waits ? DO_OTHER
                         : waits            ? measure_wait(p, own, i, ns, e)
                                            : add_execution(p, own, i, ns);
    s->ns[kind] = sum_of_times(s->ns[kind], ns);
    if (own->chosen)
        s->task_ns[kind] = sum_of_times(s->task_ns[kind], ns);
    /* After a system call the goroutine goes on without a switch. */
    if (kind == DO_RUN && i->next != i->state && i->next != GOTRACE_STATE_SYSCALL)
        s->runs++;
    own->past[own->past_at] = (past_state){own->now, now, i->stack, kind};
    own->past_at = (uint8_t)((own->past_at + 1) % PAST);
    own->now = now;
    count_state(p, own, i->next);
}

static void add_alive(pass *p, stage *s, const blocked *b)
{
    const int64_t origin = p->states.from > 0 ? p->states.from : 0;
    const int64_t whole = p->states.time - origin, age = b->created - origin;
    const size_t nth = whole > 0 ? (size_t)((double)age / (double)whole * AGE_PARTS) : 0;
    s->ages[nth < AGE_PARTS ? nth : AGE_PARTS - 1]++;
    majority_add(&s->creator, b->creator, 1);
    majority_add(&s->last_stack, b->stack, 1);
}

static void add_blocked(pass *p, const blocked *made)
{
    blocked *list = vector_room(p->blocked, &p->blocked_room, p->blocked_count, sizeof *list);
    if (!list) {
        p->m->failed = true;
        return;
    }
    p->blocked = list;
    list[p->blocked_count++] = *made;
}

static void goroutine_ends(void *ctx, goroutine *g, int64_t time, const gotrace_event *e)
{
    pass *p = ctx;
    measured *own = (measured *)g;
    stage *s = stage_of(p, own);
    const blocked b = {s, g->created, own->creator, g->current.stack};
    count_state(p, own, 0);
    if (!e && own->waits_for)
        add_waiter(p, own, false);
    if (!s)
        return;
    s->created += own->made;
    if (s->chosen && !p->task) {
        p->m->tasks++;
        majority_add(&p->m->task, s->function, time - g->created);
    }
    const bool forever = e && g->current.state == GOTRACE_STATE_WAITING;
    if (e && !forever)
        s->ended++;
    else
        s->alive++;
    if (forever && own->made)
        add_blocked(p, &b);
    else if (!e && own->made)
        add_alive(p, s, &b);
}

/* ---- tasks ------------------------------------------------------------------------------------
 */

/* Divides what the goroutine does where something begins or ends for it. */
static measured *divide(pass *p, uint64_t id, const gotrace_event *e)
{
    measured *g = find(p, id);
    if (g)
        states_divide(&p->states, &g->g, e);
    return g;
}

/* The goroutine has that task from now on, or no longer. */
static void set_owner(pass *p, open_task *t, uint64_t id, const gotrace_event *e)
{
    measured *g = t->goroutine == id ? NULL : divide(p, t->goroutine, e);
    if (t->goroutine == id)
        return;
    if (g && g->tasks)
        g->tasks--;
    g = divide(p, id, e);
    if (g)
        g->tasks++;
    t->goroutine = g ? id : 0;
}

static bool is_wanted(const pass *p, const gotrace_event *e)
{
    const gotrace_details *d = gotrace_event_details(e);
    return !p->task ||
           (strlen(p->task) == d->text_size && memcmp(p->task, d->text, d->text_size) == 0);
}

static void task_begins(pass *p, const gotrace_event *e)
{
    const gotrace_details *d = gotrace_event_details(e);
    open_task *t = is_wanted(p, e) ? idmap_insert(&p->tasks, e->subject) : NULL;
    if (!t) {
        p->m->failed |= is_wanted(p, e);
        return;
    }
    *t = (open_task){.begin = now_of(p), .name = stacks_name(p->m->stacks, d->text, d->text_size)};
    p->m->tasks += !p->function.pattern || p->task;
    set_owner(p, t, e->goroutine, e);
}

static void add_task(pass *p, const open_task *t)
{
    majority_add(&p->m->task, t->name, time_since(p, t->begin));
}

static void task_ends(pass *p, const gotrace_event *e)
{
    open_task *t = idmap_find(&p->tasks, e->subject);
    if (!t)
        return;
    set_owner(p, t, 0, e);
    add_task(p, t);
    idmap_remove(&p->tasks, e->subject);
}

/* A task that another goroutine works on is that one's. */
static void region_begins(pass *p, const gotrace_event *e)
{
    open_task *t = e->subject ? idmap_find(&p->tasks, e->subject) : NULL;
    if (t && e->goroutine)
        set_owner(p, t, e->goroutine, e);
}

/* ---- the garbage collector, stops -------------------------------------------------------------
 */

static void metric(pass *p, const gotrace_event *e)
{
    const uint64_t value = gotrace_event_value(e);
    switch (gotrace_event_metric(e)) {
    case GOTRACE_METRIC_GOMAXPROCS:
        settle(p);
        p->procs = value < UINT32_MAX ? value : UINT32_MAX;
        p->procs_told = true;
        break;
    case GOTRACE_METRIC_HEAP_GOAL: p->goal = value; break;
    case GOTRACE_METRIC_HEAP_ALLOCATED:
        if (p->cycle_ended)
            p->live = value;
        p->cycle_ended = false;
        break;
    case GOTRACE_METRIC_NONE: break;
    }
}

/* Traces of `gotrace record` have no GOMAXPROCS. */
static void count_proc(pass *p, const gotrace_event *e)
{
    const bool was = e->from > GOTRACE_STATE_NOT_EXIST, is = e->to > GOTRACE_STATE_NOT_EXIST;
    if (p->procs_told || was == is)
        return;
    settle(p);
    if (is)
        p->procs++;
    else if (p->procs > 0)
        p->procs--;
}

static void cycle(pass *p, const gotrace_event *e)
{
    if (e->kind == GOTRACE_KIND_RANGE_END) {
        p->cycle_ended = true;
    } else if (e->kind == GOTRACE_KIND_RANGE_BEGIN) {
        p->m->cycles++;
        if (p->live && p->goal) {
            p->m->live_sum += p->live;
            p->m->goal_sum += p->goal;
            p->m->live_count++;
        }
        p->live = 0;
    }
}

static void assist(pass *p, const gotrace_event *e)
{
    const bool active = e->kind == GOTRACE_KIND_RANGE_ACTIVE;
    measured *g = divide(p, active ? e->subject : e->goroutine, e);
    if (g)
        g->assists = e->kind != GOTRACE_KIND_RANGE_END;
}

static void sweep(pass *p, const gotrace_event *e)
{
    measured *g = find(p, e->goroutine);
    if (g && e->kind == GOTRACE_KIND_RANGE_BEGIN)
        g->sweeps = now_of(p);
    if (!g || e->kind != GOTRACE_KIND_RANGE_END || g->sweeps == STATES_NEVER)
        return;
    p->m->sweep_ns = sum_of_times(p->m->sweep_ns, time_since(p, g->sweeps));
    g->sweeps = STATES_NEVER;
}

static void stop_begins(pass *p, const gotrace_event *e)
{
    settle(p);
    if (p->stop_depth++ > 0)
        return;
    p->stop_begin = now_of(p);
    p->stop_by = e->goroutine;
    p->stop_reason = states_stop_reason(&p->states, gotrace_event_reason(e));
}

static void stop_ends(pass *p)
{
    settle(p);
    if (p->stop_depth == 0 || --p->stop_depth > 0)
        return;
    stop_measure *s = &p->m->stops;
    const int64_t ns = time_since(p, p->stop_begin);
    if (stacks_name_is(p->m->stacks, p->stop_reason, "start trace") ||
        stacks_name_is(p->m->stacks, p->stop_reason, "stop trace"))
        return;
    s->count++;
    s->ns = sum_of_times(s->ns, ns);
    majority_add(&s->reason, p->stop_reason, ns);
    if (ns <= s->longest)
        return;
    s->longest = ns;
    s->longest_at = p->states.time - ns;
    s->by = p->stop_by;
}

/* Other kinds of ranges do not matter here. */
static void range(pass *p, const gotrace_event *e)
{
    if (e->range == GOTRACE_RANGE_GC)
        cycle(p, e);
    else if (e->range == GOTRACE_RANGE_SWEEP)
        sweep(p, e);
    else if (e->range == GOTRACE_RANGE_MARK_ASSIST)
        assist(p, e);
    else if (e->range == GOTRACE_RANGE_STW && e->kind == GOTRACE_KIND_RANGE_END)
        stop_ends(p);
    else if (e->range == GOTRACE_RANGE_STW)
        stop_begins(p, e);
}

static void label(pass *p, const gotrace_event *e)
{
    measured *g = find(p, e->goroutine);
    if (g)
        g->worker = worker_of_label(e);
}

static void log_event(pass *p, const gotrace_event *e)
{
    const gotrace_details *d = gotrace_event_details(e);
    measured *g = find(p, e->goroutine);
    const uint64_t id = waits_for_is(e, WAITS_FOR_RELEASED)
                            ? waits_for_waiter(d->message, d->message_size)
                            : 0;
    measured *other = id ? find(p, id) : NULL;
    if (other)
        other->waits_for = 0;
    if (g)
        g->log = waits_for_is(e, WAITS_FOR) ? stacks_name(p->m->stacks, d->message, d->message_size)
                                            : 0;
}

/* ---- the pass ---------------------------------------------------------------------------------
 */

/* An event that is not just a change of a goroutine's state. */
static void add_other(pass *p, const gotrace_event *e)
{
    if (e->flags & GOTRACE_EVENT_NO_BEGIN)
        return;
    switch ((gotrace_kind)e->kind) {
    case GOTRACE_KIND_TRANSITION:
        if (e->resource == GOTRACE_RESOURCE_GOROUTINE && gotrace_event_details(e)->text)
            label(p, e);
        else if (e->resource == GOTRACE_RESOURCE_PROC)
            count_proc(p, e);
        break;
    case GOTRACE_KIND_METRIC: metric(p, e); break;
    case GOTRACE_KIND_LABEL: label(p, e); break;
    case GOTRACE_KIND_RANGE_BEGIN:
    case GOTRACE_KIND_RANGE_END:
    case GOTRACE_KIND_RANGE_ACTIVE: range(p, e); break;
    case GOTRACE_KIND_TASK_BEGIN: task_begins(p, e); break;
    case GOTRACE_KIND_TASK_END: task_ends(p, e); break;
    case GOTRACE_KIND_REGION_BEGIN: region_begins(p, e); break;
    case GOTRACE_KIND_LOG: log_event(p, e); break;
    case GOTRACE_KIND_REGION_END:
    case GOTRACE_KIND_SYNC:
    case GOTRACE_KIND_SAMPLE:
    case GOTRACE_KIND_NONE:
    case GOTRACE_KIND_SYSCALL:
    case GOTRACE_KIND_EXPERIMENT: break;
    }
}

static bool has_failed(pass *p)
{
    return p->m->failed |= p->states.failed | p->m->stacks->failed | p->function.failed;
}

/* Refused memory leaves everything consistent, so it is not looked for after each event. */
enum { EVENTS_BETWEEN_CHECKS = 1024 };

bool measures_event(measuring *p, const gotrace_event *e)
{
    if (e->kind != GOTRACE_KIND_SYNC) {
        look_for_silence(p, e);
        p->m->events++;
    }
    if (!states_step(&p->states, e, interval_ends, NULL))
        add_other(p, e);
    return p->m->events % EVENTS_BETWEEN_CHECKS != 0 || !(has_failed(p) || p->function.too_hard);
}

static int compare_waiters(const void *left, const void *right)
{
    const waiter *a = left, *b = right;
    if (a->goroutine != b->goroutine)
        return a->goroutine < b->goroutine ? -1 : 1;
    return (a->since > b->since) - (a->since < b->since);
}

/* Sorts them, once each. */
static void sort_waiters(measures *m)
{
    size_t kept = 0;
    if (m->waiter_count > 0)
        qsort(m->waiters, m->waiter_count, sizeof *m->waiters, compare_waiters);
    for (size_t i = 0; i < m->waiter_count; i++)
        if (kept == 0 || m->waiters[kept - 1].goroutine != m->waiters[i].goroutine)
            m->waiters[kept++] = m->waiters[i];
    m->waiter_count = kept;
}

/* Adds up what is known of each start function. */
static void add_up(pass *p)
{
    measures *m = p->m;
    size_t cursor = 0;
    uint64_t id;
    void *value;
    while (idmap_next(&p->tasks, &cursor, &id, &value))
        add_task(p, value);
    for (size_t i = 0; i < p->blocked_count; i++)
        add_alive(p, p->blocked[i].stage, &p->blocked[i]);
    for (size_t i = 0; i < m->stages.count; i++) {
        stage *s = m->stages.items[i];
        for (size_t k = 0; k < DO_KINDS; k++) {
            s->alive_ns = sum_of_times(s->alive_ns, s->ns[k]);
            if (s->system)
                continue;
            m->ns[k] = sum_of_times(m->ns[k], s->ns[k]);
            m->task_ns[k] = sum_of_times(m->task_ns[k], s->task_ns[k]);
        }
    }
}

measuring *measures_begin(measures *m, gotrace_reader *reader, const select_job *select,
                          const char *task)
{
    const select_range *wanted = &select->range;
    const gotrace_summary *summary = gotrace_reader_summary(reader);
    pass *p = malloc(sizeof *p);
    m->failed |= !p;
    if (!p)
        return NULL;
    *p = (pass){.m = m,
                .task = task,
                .waste_begin = STATES_NEVER,
                .last = wanted->from > 0 ? wanted->from : 0};
    const states_user user = {p, goroutine_begins, interval_ends, goroutine_ends, NULL};
    m->version = summary->version;
    m->chosen = task || select->what->function;
    m->of_function = select->what->function && !task;
    p->interrupts = m->version >= FIRST_PREEMPTED &&
                    (m->version >= GOTRACE_FIRST_V2 || !summary->writer ||
                     strcmp(summary->writer, "Go") == 0);
    states_init(&p->states, m->version, m->stacks, sizeof(measured), &user);
    states_restrict(&p->states, wanted->from, wanted->until);
    p->settled = p->last;
    p->worker_function = stacks_name(m->stacks, "runtime.gcBgMarkWorker",
                                     strlen("runtime.gcBgMarkWorker"));
    idmap_init(&p->tasks, sizeof(open_task));
    matcher_init(&p->function, select->what->function, m->stacks);
    return p;
}

void measures_end(measuring *p, select_job *select)
{
    measures *m = p->m;
    if (!has_failed(p)) {
        settle(p);
        end_waste(p);
        m->begin = select->range.from > 0 ? select->range.from : 0;
        /* Events of v1 that take no time may be later than the last one that does. */
        m->end = p->states.time > p->last ? p->states.time : p->last;
        m->duration = m->end > m->begin + m->silent_ns ? m->end - m->begin - m->silent_ns : 0;
        states_end(&p->states);
        sort_waiters(m);
        add_up(p);
        has_failed(p);
    }
    if (p->function.too_hard) {
        size_t size;
        const char *name = stacks_text(m->stacks, p->function.hard, &size);
        snprintf(select->name, sizeof select->name, "%.*s", (int)(size < 60 ? size : 60), name);
        select->too_hard = true;
    }
    matcher_free(&p->function);
    free(p->blocked);
    idmap_free(&p->tasks);
    states_free(&p->states);
    free(p);
}

gotrace_status measures_read(measures *m, gotrace_reader *reader, size_t threads,
                             select_job *select, const char *task)
{
    const gotrace_event *e;
    gotrace_status status = GOTRACE_END;
    feed events;
    /* If indexing fails, reading reports the same error. */
    gotrace_reader_index(reader);
    measuring *p = measures_begin(m, reader, select, task);
    if (!p)
        return GOTRACE_END;
    feed_init(&events, reader, false, threads);
    stacks_begin(m->stacks, &events);
    while ((status = feed_next(&events, &e)) == GOTRACE_EVENT && measures_event(p, e))
        ;
    measures_end(p, select);
    feed_free(&events);
    return status == GOTRACE_ERROR ? GOTRACE_ERROR : GOTRACE_END;
}

measures *measures_new(stacks *names)
{
    measures *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    m->owns_stacks = !names;
    m->stacks = names ? names : stacks_new(STACKS_BY_LINE);
    idmap_init(&m->waits, sizeof(wait_figure));
    if (m->stacks)
        return m;
    measures_free(m);
    return NULL;
}

void measures_free(measures *m)
{
    if (!m)
        return;
    if (m->stacks && m->owns_stacks)
        stacks_free(m->stacks);
    figures_free(&m->stages, NULL);
    idmap_free(&m->waits);
    free(m->silences);
    free(m->waiters);
    free(m);
}
