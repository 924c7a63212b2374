/* build.c - one pass over a trace, which stores what its tracks do. */
#include <errno.h>

#include "formats/analyse/figures.h"
#include "formats/common/vector.h"
#include "formats/view/index.h"
#include "formats/view/levels.h"

enum {
    LANES = VIEW_REGION_4 - VIEW_REGION + 1, /* regions in one another that are shown */
    EVENTS_BETWEEN = 1024,                   /* after so many, others may look at the index */
    FIRST_STEP = 16 * 1024                   /* ns */
};

/* What all goroutines of a group do, or all tasks of a type. */
typedef struct crowd {
    level_place place;
    uint64_t id;
    uint8_t kind;
    uint64_t now[DO_KINDS];  /* how many do that */
    int64_t since[DO_KINDS]; /* until when that is counted in the sums */
    int64_t begin, changed;  /* of the stretch that is being made; when `now` changed last */
    level_sums sums;
    int64_t late_begin; /* of a stretch of those of which it is known late what they did */
    level_sums late;    /* its sums; count: 0: there is none */
} crowd;

typedef struct viewed {
    goroutine g;
    level_place place, wakes, lanes[LANES];
    crowd *crowd;  /* in which it is counted; NULL: in none */
    uint8_t doing; /* activity_kind of its current state */
    bool counted;  /* it is counted as that */
    bool assists;
    bool born;      /* it was created in the trace, and its first stretch is not stored */
    int64_t proc;   /* on which it runs */
    int64_t thread; /* in whose system call it is */
    struct {
        int64_t begin;
        uint64_t task;
        uint32_t name, stack;
    } regions[LANES];
    uint64_t depth; /* of regions */
} viewed;

typedef struct viewed_task {
    level_place place;
    crowd *crowd;
    int64_t begin;
    uint64_t parent;
    uint32_t name, stack;
    bool whole;
} viewed_task;

/* What happens at one place at a time: a proc, thread, range or metric. */
typedef struct viewed_place {
    level_place place;
    int64_t begin; /* STATES_NEVER: nothing */
    uint64_t value;
    uint32_t reason, stack;
    unsigned depth;
} viewed_place;

/* The kind of a wait that was found last for a stack. */
typedef struct known_wait {
    uint32_t reason;
    uint8_t kind;
    bool known;
} known_wait;

typedef struct builder {
    view *view;
    feed feed;
    states states;
    idmap crowds;  /* crowd, by group */
    idmap types;   /* crowd, by type of tasks */
    idmap tasks;   /* viewed_task */
    idmap procs;   /* viewed_place */
    idmap threads; /* the same */
    idmap runs;    /* the same, by proc: value is the thread that runs it; depth: 0: none does */
    viewed_place ranges[GOTRACE_RANGES], metrics[GOTRACE_METRIC_HEAP_GOAL + 1];
    crowd all;
    level_place samples;
    known_wait *waits; /* by stack */
    size_t wait_room;
    int64_t step; /* a stretch of a crowd is about that long, if it changes that often */
} builder;

static void fail(builder *b)
{
    b->view->failed = true;
}

static void store(builder *b, level_place *place, const level_item *item)
{
    levels_add(&b->view->levels, place, item, NULL);
}

/* ---- crowds -----------------------------------------------------------------------------------
 */

static void store_sums(builder *b, crowd *c, int64_t begin, int64_t end, level_sums *sums)
{
    const level_item item = {
        .begin = begin, .end = end, .id = c->id, .kind = c->kind, .group = (uint32_t)c->id};
    if (end > begin)
        levels_add(&b->view->levels, &c->place, &item, sums);
    *sums = (level_sums){0};
}

static void store_late(builder *b, crowd *c)
{
    if (c->late.count)
        store_sums(b, c, c->late_begin, b->states.time, &c->late);
}

static void count_until(crowd *c, unsigned kind, int64_t now)
{
    int64_t product;
    if (now > c->since[kind] && c->now[kind]) {
        if (__builtin_mul_overflow(c->now[kind], now - c->since[kind], &product))
            product = INT64_MAX;
        c->sums.ns[kind] = sum_of_times(c->sums.ns[kind], product);
    }
    c->since[kind] = now;
}

static void store_crowd(builder *b, crowd *c, int64_t end)
{
    for (unsigned k = 0; k < DO_KINDS; k++)
        count_until(c, k, end);
    store_late(b, c);
    store_sums(b, c, c->begin, end, &c->sums);
    c->begin = end;
}

/* A stretch in which all stays the same for long is one of its own. */
static void crowd_until(builder *b, crowd *c, int64_t now)
{
    if (now <= c->changed)
        return;
    if (now - c->changed >= b->step)
        store_crowd(b, c, c->changed);
    c->changed = now;
    if (now - c->begin >= b->step)
        store_crowd(b, c, now);
}

static inline void crowd_change(builder *b, crowd *c, unsigned kind, int change)
{
    crowd_until(b, c, b->states.time);
    count_until(c, kind, b->states.time);
    c->now[kind] += (uint64_t)(int64_t)change;
    c->sums.count++;
}

/* It is known only now that since then one more did that. */
static void add_late(builder *b, crowd *c, unsigned kind, int64_t begin)
{
    if (begin >= b->states.time)
        return;
    if (c->late.count && c->late_begin != begin)
        store_late(b, c);
    c->late_begin = begin;
    c->late.count++;
    c->late.ns[kind] = sum_of_times(c->late.ns[kind], b->states.time - begin);
}

static crowd *find_crowd(builder *b, idmap *map, uint8_t kind, uint32_t id)
{
    crowd *c = idmap_find(map, id);
    if (c)
        return c;
    c = idmap_insert(map, id);
    if (!c) {
        fail(b);
        return NULL;
    }
    c->id = id;
    c->kind = kind;
    c->begin = c->changed = b->states.time;
    return c;
}

/* ---- goroutines -------------------------------------------------------------------------------
 */

static uint8_t find_wait(builder *b, uint32_t reason, uint32_t stack)
{
    known_wait *list = vector_zeroed(b->waits, &b->wait_room, stack, sizeof *list);
    if (!list) {
        fail(b);
        return DO_OTHER;
    }
    b->waits = list;
    if (!list[stack].known || list[stack].reason != reason)
        list[stack] = (known_wait){reason, doing_of_wait(b->view->names, reason, stack), true};
    return list[stack].kind;
}

static uint8_t find_doing(builder *b, const viewed *g)
{
    switch (g->g.current.state) {
    case GOTRACE_STATE_RUNNING: return g->assists ? DO_ASSIST : DO_RUN;
    case GOTRACE_STATE_RUNNABLE: return DO_RUNNABLE;
    case GOTRACE_STATE_SYSCALL: return DO_SYSCALL;
    case GOTRACE_STATE_WAITING: return find_wait(b, g->g.current.reason, g->g.current.stack);
    default: return DO_OTHER;
    }
}

static void uncount(builder *b, viewed *g)
{
    if (!g->counted || !g->crowd)
        return;
    crowd_change(b, g->crowd, g->doing, -1);
    crowd_change(b, &b->all, g->doing, -1);
    g->counted = false;
}

/* Finds the group of the function where it starts. */
static bool find_group(builder *b, viewed *g)
{
    if (!g->crowd || g->crowd->id != g->g.function)
        g->crowd = find_crowd(b, &b->crowds, VIEW_GROUP, g->g.function);
    return g->crowd != NULL;
}

/* Counts it as what it does now. */
static void count(builder *b, viewed *g)
{
    if (!find_group(b, g))
        return;
    crowd_change(b, g->crowd, g->doing, 1);
    crowd_change(b, &b->all, g->doing, 1);
    g->counted = true;
}

/* What it did before its first status, which is known only now. */
static void count_earlier(builder *b, viewed *g, const interval *i)
{
    g->doing = find_doing(b, g);
    if (!find_group(b, g))
        return;
    add_late(b, g->crowd, g->doing, i->begin);
    add_late(b, &b->all, g->doing, i->begin);
}

static viewed *find(builder *b, uint64_t id)
{
    return (viewed *)states_goroutine(&b->states, id);
}

/* The goroutine made another one runnable. */
static void store_wake(builder *b, const gotrace_event *e)
{
    viewed *by = e->goroutine != e->subject ? find(b, e->goroutine) : NULL;
    if (by)
        store(b, &by->wakes,
              &(level_item){.begin = b->states.time,
                            .end = b->states.time,
                            .kind = VIEW_WAKES,
                            .id = by->g.id,
                            .other = e->subject,
                            .stack = stacks_of(b->view->names, e->stack)});
}

/* It begins to be on its proc: another one that is in a system call there has lost it, also if no
 * event says so. */
static void take_proc(builder *b, const viewed *own)
{
    viewed_place *place = own->proc >= 0 ? idmap_insert(&b->procs, (uint64_t)own->proc) : NULL;
    if (!place) {
        b->view->failed |= own->proc >= 0;
        return;
    }
    viewed *g = place->value != own->g.id ? find(b, place->value) : NULL;
    if (g && g->g.current.state == GOTRACE_STATE_SYSCALL && g->proc == own->proc &&
        g->g.current.lost == STATES_NEVER)
        g->g.current.lost = b->states.time;
    place->value = own->g.id;
}

static void begin_state(builder *b, viewed *g, const gotrace_event *e)
{
    const uint8_t state = g->g.current.state;
    g->doing = find_doing(b, g);
    if (state_executes(state))
        g->proc = e->proc;
    /* The status of one that is in a system call comes from any proc. */
    if (state == GOTRACE_STATE_SYSCALL && !g->g.current.whole)
        g->proc = GOTRACE_NO_PROC;
    if (state_executes(state))
        take_proc(b, g);
    if (state == GOTRACE_STATE_SYSCALL)
        g->thread = e->thread;
    if (state == GOTRACE_STATE_RUNNABLE && e->goroutine != 0)
        store_wake(b, e);
    if (state >= GOTRACE_STATE_RUNNABLE)
        count(b, g);
}

static void goroutine_begins(void *ctx, goroutine *g, const gotrace_event *e)
{
    viewed *own = (viewed *)g;
    (void)ctx;
    own->born = e->kind == GOTRACE_KIND_TRANSITION && e->from == GOTRACE_STATE_NOT_EXIST;
    own->proc = GOTRACE_NO_PROC;
    own->thread = GOTRACE_NO_THREAD;
}

static void state_begins(void *ctx, goroutine *g, const gotrace_event *e)
{
    begin_state(ctx, (viewed *)g, e);
}

/* The same stretch of time, where the goroutine is. */
static void store_place(builder *b, idmap *map, int64_t id, const level_item *item, uint8_t kind,
                        int64_t begin, int64_t end)
{
    level_item own = *item;
    viewed_place *place = id >= 0 && end > begin ? idmap_insert(map, (uint64_t)id) : NULL;
    if (!place) {
        b->view->failed |= id >= 0 && end > begin;
        return;
    }
    own.begin = begin;
    own.end = end;
    own.kind = kind;
    own.id = (uint64_t)id;
    own.other = item->id;
    own.group = 0;
    store(b, &place->place, &own);
}

static void interval_ends(void *ctx, goroutine *g, const interval *i, const gotrace_event *e)
{
    builder *b = ctx;
    viewed *own = (viewed *)g;
    if (i->state < GOTRACE_STATE_RUNNABLE)
        return;
    /* Its first status shows where it starts, too. */
    if (g->function == 0 && !g->named && e)
        states_find_function(&b->states, g, e);
    if (own->counted)
        uncount(b, own);
    else
        count_earlier(b, own, i);
    const level_item item = {.begin = i->begin,
                             .end = i->end,
                             .id = g->id,
                             .other = i->whole && i->cause != g->id ? i->cause : 0,
                             .reason = i->reason,
                             .stack = i->stack,
                             .group = g->function | (own->born ? TRACK_BEGINS : 0) |
                                      (i->next == GOTRACE_STATE_NOT_EXIST ? TRACK_ENDS : 0),
                             .kind = VIEW_GOROUTINE,
                             .state = own->doing};
    store(b, &own->place, &item);
    own->born = false;
    if (i->state == GOTRACE_STATE_RUNNING)
        store_place(b, &b->procs, own->proc, &item, VIEW_PROC, i->begin, i->end);
    if (i->state != GOTRACE_STATE_SYSCALL)
        return;
    store_place(b, &b->procs, own->proc, &item, VIEW_PROC, i->begin, i->lost);
    store_place(b, &b->threads, own->thread, &item, VIEW_THREAD, i->lost, i->end);
}

static void end_region(builder *b, viewed *g)
{
    if (g->depth == 0 || --g->depth >= LANES)
        return;
    store(b, &g->lanes[g->depth],
          &(level_item){.begin = g->regions[g->depth].begin,
                        .end = b->states.time,
                        .id = g->g.id,
                        .other = g->regions[g->depth].task,
                        .reason = g->regions[g->depth].name,
                        .stack = g->regions[g->depth].stack,
                        .kind = (uint8_t)(VIEW_REGION + g->depth),
                        .group = g->g.function | TRACK_BEGINS | TRACK_ENDS});
}

static void goroutine_ends(void *ctx, goroutine *g, int64_t time, const gotrace_event *e)
{
    (void)time;
    (void)e;
    uncount(ctx, (viewed *)g);
    while (((viewed *)g)->depth > 0)
        end_region(ctx, (viewed *)g);
}

/* ---- tasks and regions ------------------------------------------------------------------------
 */

static void task_begins(builder *b, const gotrace_event *e)
{
    const gotrace_details *d = gotrace_event_details(e);
    viewed_task *t = idmap_insert(&b->tasks, e->subject);
    if (!t) {
        fail(b);
        return;
    }
    *t = (viewed_task){.begin = b->states.time,
                       .parent = gotrace_event_value(e),
                       .name = stacks_name(b->view->names, d->text, d->text_size),
                       .stack = stacks_of(b->view->names, e->stack),
                       .whole = true};
    t->crowd = find_crowd(b, &b->types, VIEW_TASKS, t->name);
    if (t->crowd)
        crowd_change(b, t->crowd, DO_RUN, 1);
}

static void end_task(builder *b, uint64_t id, viewed_task *t, bool at_event)
{
    if (t->crowd)
        crowd_change(b, t->crowd, DO_RUN, -1);
    store(b, &t->place,
          &(level_item){.begin = t->begin,
                        .end = b->states.time,
                        .id = id,
                        .other = t->parent,
                        .reason = t->name,
                        .stack = t->stack,
                        .kind = VIEW_TASK,
                        .group = t->name | TRACK_BEGINS | (at_event ? TRACK_ENDS : 0)});
}

static void task_ends(builder *b, const gotrace_event *e)
{
    viewed_task *t = idmap_find(&b->tasks, e->subject);
    if (!t)
        return;
    end_task(b, e->subject, t, true);
    idmap_remove(&b->tasks, e->subject);
}

static void region_begins(builder *b, const gotrace_event *e)
{
    const gotrace_details *d = gotrace_event_details(e);
    viewed *g = find(b, e->goroutine);
    if (!g)
        return;
    if (g->depth < LANES) {
        g->regions[g->depth].begin = b->states.time;
        g->regions[g->depth].task = e->subject;
        g->regions[g->depth].name = stacks_name(b->view->names, d->text, d->text_size);
        g->regions[g->depth].stack = stacks_of(b->view->names, e->stack);
    }
    g->depth++;
}

static void region_ends(builder *b, const gotrace_event *e)
{
    viewed *g = find(b, e->goroutine);
    if (g)
        end_region(b, g);
}

/* ---- what is of the whole program -------------------------------------------------------------
 */

static void end_place(builder *b, viewed_place *p, uint8_t kind, uint64_t id)
{
    if (p->begin == STATES_NEVER)
        return;
    store(b, &p->place,
          &(level_item){.begin = p->begin,
                        .end = b->states.time,
                        .id = id,
                        .other = p->value,
                        .reason = p->reason,
                        .stack = p->stack,
                        .kind = kind,
                        .state = kind == VIEW_RANGE ? DO_GC : DO_OTHER});
    p->begin = STATES_NEVER;
}

/* A proc begins to be run by a thread, or is no longer. */
static void proc_changes(builder *b, const gotrace_event *e)
{
    viewed_place *p = idmap_insert(&b->runs, e->subject);
    if (!p) {
        fail(b);
        return;
    }
    if (p->depth && p->begin < b->states.time) {
        viewed_place *thread = idmap_insert(&b->threads, p->value);
        if (thread)
            store(b, &thread->place,
                  &(level_item){.begin = p->begin,
                                .end = b->states.time,
                                .id = p->value,
                                .other = e->subject,
                                .kind = VIEW_THREAD});
        else
            fail(b);
    }
    const bool runs = e->to == GOTRACE_STATE_RUNNING || e->to == GOTRACE_STATE_SYSCALL;
    *p = (viewed_place){
        .begin = b->states.time, .value = (uint64_t)e->thread, .depth = runs && e->thread >= 0};
}

static void metric(builder *b, const gotrace_event *e)
{
    const unsigned which = gotrace_event_metric(e);
    if (which > GOTRACE_METRIC_HEAP_GOAL)
        return;
    end_place(b, &b->metrics[which], VIEW_METRIC, which);
    b->metrics[which].begin = b->states.time;
    b->metrics[which].value = gotrace_event_value(e);
}

/* Divides what the goroutine does where it begins or ends to assist. */
static void assist(builder *b, const gotrace_event *e)
{
    const bool active = e->kind == GOTRACE_KIND_RANGE_ACTIVE;
    const bool assists = e->kind != GOTRACE_KIND_RANGE_END;
    viewed *g = find(b, active ? e->subject : e->goroutine);
    if (!g || g->assists == assists)
        return;
    states_divide(&b->states, &g->g, e);
    g->assists = assists;
    if (g->g.current.state != GOTRACE_STATE_RUNNING)
        return;
    g->g.current.stack = stacks_of(b->view->names, e->stack);
    g->g.current.cause = 0;
    g->doing = find_doing(b, g);
    count(b, g);
}

/* Ranges of the whole program: cycles of the GC, and stop-the-worlds. */
static void range(builder *b, const gotrace_event *e)
{
    viewed_place *p = &b->ranges[e->range];
    if (e->range == GOTRACE_RANGE_MARK_ASSIST)
        assist(b, e);
    if (e->range != GOTRACE_RANGE_GC && e->range != GOTRACE_RANGE_STW)
        return;
    if (e->kind == GOTRACE_KIND_RANGE_END) {
        if (p->depth > 0 && --p->depth == 0)
            end_place(b, p, VIEW_RANGE, e->range);
    } else if (p->depth++ == 0) {
        p->begin = b->states.time;
        p->value = e->goroutine;
        p->stack = stacks_of(b->view->names, e->stack);
        p->reason = e->range == GOTRACE_RANGE_STW
                        ? states_stop_reason(&b->states, gotrace_event_reason(e))
                        : 0;
    }
}

static void sample(builder *b, const gotrace_event *e)
{
    store(b, &b->samples,
          &(level_item){.begin = b->states.time,
                        .end = b->states.time,
                        .kind = VIEW_SAMPLES,
                        .other = e->goroutine,
                        .stack = stacks_of(b->view->names, e->stack)});
}

/* ---- the pass ---------------------------------------------------------------------------------
 */

/* An event that is not just a change of a goroutine's state. */
static void add_other(builder *b, const gotrace_event *e)
{
    if (e->flags & GOTRACE_EVENT_NO_BEGIN)
        return;
    switch ((gotrace_kind)e->kind) {
    case GOTRACE_KIND_METRIC: metric(b, e); break;
    case GOTRACE_KIND_RANGE_BEGIN:
    case GOTRACE_KIND_RANGE_END:
    case GOTRACE_KIND_RANGE_ACTIVE: range(b, e); break;
    case GOTRACE_KIND_TASK_BEGIN: task_begins(b, e); break;
    case GOTRACE_KIND_TASK_END: task_ends(b, e); break;
    case GOTRACE_KIND_REGION_BEGIN: region_begins(b, e); break;
    case GOTRACE_KIND_REGION_END: region_ends(b, e); break;
    case GOTRACE_KIND_SAMPLE: sample(b, e); break;
    case GOTRACE_KIND_TRANSITION:
        if (e->resource == GOTRACE_RESOURCE_PROC)
            proc_changes(b, e);
        break;
    case GOTRACE_KIND_LABEL:
    case GOTRACE_KIND_LOG:
    case GOTRACE_KIND_SYNC:
    case GOTRACE_KIND_NONE:
    case GOTRACE_KIND_SYSCALL:
    case GOTRACE_KIND_EXPERIMENT: break;
    }
}

static void end_node(builder *b)
{
    const level *lowest = &b->view->levels.level[0];
    const size_t before = lowest->node_count;
    levels_end_node(&b->view->levels, b->states.time);
    if (lowest->node_count > before && lowest->nodes[before].shift > 0)
        b->step = (int64_t)1 << lowest->nodes[before].shift;
}

static gotrace_status read_events(builder *b)
{
    view *v = b->view;
    const gotrace_event *e;
    gotrace_status status;
    int error;
    while ((status = feed_next(&b->feed, &e)) == GOTRACE_EVENT) {
        if (!states_step(&b->states, e, interval_ends, state_begins))
            add_other(b, e);
        if (levels_full(&v->levels))
            end_node(b);
        if (++v->progress.events % EVENTS_BETWEEN)
            continue;
        v->progress.end = b->states.time;
        v->failed |= b->states.failed;
        if (view_failed(v, &error))
            return GOTRACE_END;
        view_give_way(v);
    }
    return status;
}

/* Ends what has not ended. */
static void end_all(builder *b)
{
    size_t cursor = 0;
    uint64_t id;
    void *value;
    states_end(&b->states);
    while (idmap_next(&b->tasks, &cursor, &id, &value))
        end_task(b, id, value, false);
    for (cursor = 0; idmap_next(&b->runs, &cursor, &id, &value);)
        proc_changes(b, &(gotrace_event){.subject = id, .thread = GOTRACE_NO_THREAD});
    for (unsigned n = 0; n < GOTRACE_RANGES; n++)
        end_place(b, &b->ranges[n], VIEW_RANGE, n);
    for (unsigned n = 0; n <= GOTRACE_METRIC_HEAP_GOAL; n++)
        end_place(b, &b->metrics[n], VIEW_METRIC, n);
    idmap *const maps[] = {&b->crowds, &b->types};
    for (size_t m = 0; m < 2; m++)
        for (cursor = 0; idmap_next(maps[m], &cursor, &id, &value);) {
            crowd_until(b, value, b->states.time);
            store_crowd(b, value, b->states.time);
        }
    crowd_until(b, &b->all, b->states.time);
    store_crowd(b, &b->all, b->states.time);
    levels_end(&b->view->levels, b->states.time);
    b->view->progress.end = b->states.time;
}

gotrace_status view_build(view *v, gotrace_reader *reader, size_t threads)
{
    builder b = {.view = v, .step = FIRST_STEP, .all = {.kind = VIEW_ALL}};
    const states_user user = {&b, goroutine_begins, interval_ends, goroutine_ends, state_begins};
    /* If indexing fails, reading reports the same error. It takes long, and nothing of the index is
     * used. */
    gotrace_reader_index(reader);
    pthread_mutex_lock(&v->lock);
    feed_init(&b.feed, reader, false, threads);
    stacks_begin(v->names, &b.feed);
    states_init(&b.states, gotrace_reader_summary(reader)->version, v->names, sizeof(viewed),
                &user);
    b.states.labels = &v->labels;
    idmap_init(&b.crowds, sizeof(crowd));
    idmap_init(&b.types, sizeof(crowd));
    idmap_init(&b.tasks, sizeof(viewed_task));
    idmap_init(&b.procs, sizeof(viewed_place));
    idmap_init(&b.threads, sizeof(viewed_place));
    idmap_init(&b.runs, sizeof(viewed_place));
    for (size_t n = 0; n < GOTRACE_RANGES; n++)
        b.ranges[n].begin = STATES_NEVER;
    for (size_t n = 0; n <= GOTRACE_METRIC_HEAP_GOAL; n++)
        b.metrics[n].begin = STATES_NEVER;
    const gotrace_status status = read_events(&b);
    int error;
    v->failed |= b.states.failed;
    if (!view_failed(v, &error))
        end_all(&b);
    v->failed |= b.states.failed;
    v->progress.complete = true;
    free(b.waits);
    idmap_free(&b.crowds);
    idmap_free(&b.types);
    idmap_free(&b.tasks);
    idmap_free(&b.procs);
    idmap_free(&b.threads);
    idmap_free(&b.runs);
    states_free(&b.states);
    feed_free(&b.feed);
    pthread_mutex_unlock(&v->lock);
    return status;
}
