/*
 * order.c - one order of the events of all threads, and their effects on goroutines, procs and
 * threads.
 *
 * The earliest event is next if it is ready: the goroutine or proc that it starts, unblocks or
 * takes has the state and sequence number that the event requires. An event that is not ready waits
 * for exactly that. If a rule is broken, this is reported and the event is accepted as recorded.
 * Source: Go 1.27, internal/trace/order.go and reader.go.
 */
#include <stdio.h>
#include <string.h>

#include "read/v2/ahead.h"
#include "read/v2/follow.h"

/* ---- the heap of cursors ------------------------------------------------------------------- */

static void heap_push(struct gt_v2 *v2, gt_v2_cursor *c)
{
    gt_cursor_heap_push(&v2->order.heap, c->head->time, c);
}

/* ---- waiting ------------------------------------------------------------------------------- */

void gt_v2_wake_parked(struct gt_v2 *v2, uint64_t id, uint64_t seq, uint8_t what)
{
    uint32_t cursor;
    if (gt_waits_wake(&v2->order.waits, id, seq, what, &cursor))
        heap_push(v2, &v2->cursors.list[cursor]);
}

/* In a generation that is cut off, threads lack their last events, and others wait for these: one
 * fault. */
static bool report_cut(gotrace_reader *reader, const struct gt_v2 *v2, const gt_v2_event *e)
{
    if (v2->index.generations[v2->current].summary.complete || reader->quiet)
        return true;
    bool go_on = gt_report(reader, GOTRACE_RULE_ORDER_CUT,
                           (gt_place){e->offset, e->batch, GOTRACE_NO_OFFSET},
                           "%s waits for an event that was cut off; from here on events are taken "
                           "in order of time, and further inconsistencies are not reported",
                           gt_v2_spec(reader->summary.version, e->type)->name);
    reader->quiet = true;
    return go_on;
}

/* Whether and when a waiting event is accepted depends on more than one generation. */
static bool void_assumptions(struct gt_v2 *v2)
{
    v2->assumed->void_ = true;
    return false;
}

/* Nothing is ready, but events are left: what they wait for does not occur. Forces the earliest. */
static bool force(gotrace_reader *reader, struct gt_v2 *v2)
{
    if (v2->assumed)
        return void_assumptions(v2);
    gt_v2_cursor *c = &v2->cursors.list[gt_waits_release(&v2->order.waits)];
    c->forced = true;
    heap_push(v2, c);
    return report_cut(reader, v2, c->head);
}

/* ---- generations --------------------------------------------------------------------------- */

/* The generation begins, or (NULL) the trace ends. */
static bool put_sync(gotrace_reader *reader, struct gt_v2 *v2, int64_t time, const gt_generation *g)
{
    uint64_t clocks[4] = {0};
    bool has_clocks = g && g->summary.has_clocks;
    if (has_clocks) {
        clocks[0] = (uint64_t)gt_v2_ns(g->summary.clock_ticks, v2->ns_per_tick);
        clocks[1] = g->summary.monotonic_ns;
        clocks[2] = g->summary.wall_seconds;
        clocks[3] = g->summary.wall_nanoseconds;
    }
    gotrace_event *event = gt_v2_put_outside(reader, v2, 0, time, clocks, 4);
    if (!event)
        return true;
    event->offset = g ? g->summary.offset : 0;
    event->flags = has_clocks ? GOTRACE_EVENT_CLOCKS : 0;
    event->subject = v2->generation;
    if (event->given == GOTRACE_GIVEN_DETAILS)
        ((gotrace_details *)(uintptr_t)event->extra.details)->value = v2->current;
    return !v2->output.block->failed;
}

static bool report_unused(gotrace_reader *reader, struct gt_v2 *v2, const gt_generation *g)
{
    uint64_t strings = gt_unused(&v2->tables.strings), stacks = gt_unused(&v2->tables.stacks);
    char unused[2][40] = {"", ""};
    if (strings)
        snprintf(unused[0], sizeof unused[0], "%llu string%s", (unsigned long long)strings,
                 gt_plural(strings));
    if (stacks)
        snprintf(unused[1], sizeof unused[1], "%llu stack%s", (unsigned long long)stacks,
                 gt_plural(stacks));
    return (strings == 0 && stacks == 0) ||
           gt_report(reader, GOTRACE_RULE_TABLE_UNUSED, GT_AT(g->summary.offset),
                     "nothing refers to %s%s%s of generation %llu", unused[0],
                     strings && stacks ? " and " : "", unused[1],
                     (unsigned long long)g->summary.generation);
}

/* Reports problems of the finished generation that Go's reader accepts. */
static bool report_generation(gotrace_reader *reader, struct gt_v2 *v2, const gt_generation *g)
{
    gt_v2_disorder *b = &v2->output.disorder;
    uint64_t warnings = reader->summary.warnings;
    if (b->count &&
        !gt_report(reader, GOTRACE_RULE_CLOCK_BACK, GT_AT(b->offset),
                   "%llu event%s earlier than the event that caused %s (by up to %lld ns)%s",
                   (unsigned long long)b->count,
                   b->count == 1 ? " has a timestamp" : "s have timestamps",
                   b->count == 1 ? "it" : "them", (long long)b->most,
                   b->count == 1 ? "" : "; this is the first"))
        return false;
    v2->clock_warnings += reader->summary.warnings - warnings;
    *b = (gt_v2_disorder){.latest = INT64_MIN}; /* generations may overlap */
    if (gt_faults_generation(&reader->faults) && !gt_end_fault(reader))
        return false;
    bool whole = g->summary.complete;
    return !whole || report_unused(reader, v2, g);
}

/* Whether a generation's clock shows an earlier time than that of the one before; their ticks may
 * have different lengths. */
static bool is_trace_clock_back(const gotrace_generation_summary *before,
                                const gotrace_generation_summary *now)
{
    __extension__ typedef unsigned __int128 wide;
    return (wide)now->clock_ticks * before->frequency < (wide)before->clock_ticks * now->frequency;
}

bool gt_v2_check_clocks(gotrace_reader *reader, const gt_generation *g)
{
    if (g == reader->v2->index.generations)
        return true;
    const gotrace_generation_summary *now = &g->summary, *before = &g[-1].summary;
    if (!now->has_clocks || !before->has_clocks)
        return true;
    const char *clock = is_trace_clock_back(before, now)           ? "trace's"
                        : now->monotonic_ns < before->monotonic_ns ? "monotonic"
                        : now->wall_seconds < before->wall_seconds ||
                                (now->wall_seconds == before->wall_seconds &&
                                 now->wall_nanoseconds < before->wall_nanoseconds)
                            ? "wall"
                            : NULL;
    return !clock ||
           gt_report(reader, GOTRACE_RULE_CLOCK_BACK, GT_AT(now->offset),
                     "generation %llu begins before generation %llu, according to the %s clock",
                     (unsigned long long)now->generation, (unsigned long long)before->generation,
                     clock);
}

static size_t problem_count(const gotrace_reader *reader)
{
    const gotrace_summary *s = &reader->summary;
    return (size_t)(s->notes + s->warnings + s->problems);
}

/* Loads a generation and opens its cursors. */
static bool enter_generation(gotrace_reader *reader, struct gt_v2 *v2, gt_generation *g)
{
    v2->generation = g->summary.generation;
    if (!gt_v2_load(reader, v2, g))
        return false;
    if (v2->assumed)
        v2->assumed->loaded = problem_count(reader);
    else if (!gt_v2_check_clocks(reader, g))
        return false;
    if (!gt_v2_open_cursors(reader, v2, g))
        return false;
    for (size_t i = 0; i < v2->cursors.count; i++)
        if (v2->cursors.list[i].has_head)
            heap_push(v2, &v2->cursors.list[i]);
    if (v2->initial == 0 && v2->order.heap.count)
        v2->initial = v2->generation;
    return put_sync(reader, v2, gt_v2_ns(g->summary.begin, v2->ns_per_tick), g);
}

/* Moves to the next generation, or to the end of the trace. */
static bool next_generation(gotrace_reader *reader, struct gt_v2 *v2, bool *end)
{
    if (v2->entered) {
        if (v2->current < v2->index.generation_count &&
            !report_generation(reader, v2, &v2->index.generations[v2->current]))
            return false;
        gt_v2_close_cursors(reader, v2);
        v2->current++;
    }
    v2->entered = true;
    if (v2->ahead && !gt_v2_ahead_take(reader, v2->ahead))
        return false;
    *end = v2->current > v2->index.generation_count;
    if (*end)
        return true;
    if (v2->current == v2->index.generation_count) {
        v2->generation = 0;
        return put_sync(reader, v2, v2->output.last_time, NULL);
    }
    return enter_generation(reader, v2, &v2->index.generations[v2->current]);
}

/* ---- samples ------------------------------------------------------------------------------- */

/* Whether any remaining event, including waiting ones, is not later than that time. */
static bool comes_first(const struct gt_v2 *v2, int64_t time)
{
    return (v2->order.heap.count && v2->order.heap.entries[0].key <= time) ||
           (v2->order.current && v2->order.current->head->time <= time) ||
           (v2->order.waits.parked_count && gt_waits_earliest(&v2->order.waits) <= time);
}

/* False if a sample is left, but others come first. */
static bool put_sample(gotrace_reader *reader, struct gt_v2 *v2)
{
    const gt_v2_sample *s = &v2->tables.samples[v2->tables.next_sample];
    if (comes_first(v2, s->time))
        return false;
    v2->tables.next_sample++;
    const uint64_t args[3] = {s->m, s->p, s->g};
    gotrace_event *event = gt_v2_put_outside(reader, v2, GOTRACE_V2_CPUSample, s->time, args, 3);
    if (!event)
        return true;
    event->offset = s->offset;
    event->goroutine = s->g;
    event->stack = gt_shown_stack(s->stack);
    event->proc = s->p == GT_V2_NO_ID ? GOTRACE_NO_PROC : gt_shown_proc((int64_t)s->p);
    event->thread = s->m == GT_V2_NO_ID ? GOTRACE_NO_THREAD : (int64_t)s->m;
    return true;
}

/* ---- the next event ------------------------------------------------------------------------ */

/* The current cursor ended, or waits. */
__attribute__((noinline)) static gt_v2_cursor *choose_other(gotrace_reader *reader,
                                                            struct gt_v2 *v2, bool *ok)
{
    if (v2->order.heap.count == 0 && v2->order.waits.parked_count == 0)
        return NULL;
    if (v2->order.heap.count == 0 && !force(reader, v2)) {
        *ok = false;
        return NULL;
    }
    return v2->order.current = gt_cursor_heap_pop(&v2->order.heap);
}

/* Selects the next cursor: the same as before while it is the earliest. NULL at the end, and (with
 * *ok false) if reading must stop. */
GT_INLINE gt_v2_cursor *choose(gotrace_reader *reader, struct gt_v2 *v2, bool *ok)
{
    gt_v2_cursor *c = v2->order.current;
    *ok = true;
    if (!c)
        return choose_other(reader, v2, ok);
    int64_t key = c->head->time;
    if (v2->order.heap.entries[0].key >= key)
        return c;
    return v2->order.current = gt_cursor_heap_replace(&v2->order.heap, key, c);
}

/* Tables are written last: up to 1.25 only they show whether a generation is cut off. */
static bool report_no_table(gotrace_reader *reader, struct gt_v2 *v2, const gt_v2_event *e,
                            const char *what)
{
    gt_generation *g = &v2->index.generations[v2->current];
    g->summary.complete = false;
    return gt_report(reader, GOTRACE_RULE_GENERATION_END, GT_AT(e->offset),
                     "generation %llu has no %s, though its events refer to them: it is cut off",
                     (unsigned long long)g->summary.generation, what);
}

static bool report_reference(gotrace_reader *reader, struct gt_v2 *v2, const gt_v2_event *e,
                             const gt_uses *uses, uint64_t id)
{
    /* Tables come last, so a generation that is cut off lacks them. */
    if (v2->current < v2->index.generation_count &&
        !v2->index.generations[v2->current].summary.complete)
        return true;
    const char *what = uses == &v2->tables.strings ? "string" : "stack";
    if (uses->count == 0)
        return report_no_table(reader, v2, e, uses == &v2->tables.strings ? "strings" : "stacks");
    return gt_report(reader, GOTRACE_RULE_TABLE_REFERENCE, GT_AT(e->offset),
                     "%s refers to %s %llu, which is not in the generation",
                     gt_v2_spec(reader->summary.version, e->type)->name, what,
                     (unsigned long long)id);
}

/* Source: validateTableIDs. */
GT_INLINE bool check_references(gotrace_reader *reader, struct gt_v2 *v2, const gt_v2_event *e)
{
    const gt_v2_shape *shape = &v2->shapes[e->type];
    for (unsigned left = shape->refers; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctz(left);
        gt_uses *uses = shape->stacks >> i & 1 ? &v2->tables.stacks : &v2->tables.strings;
        if (e->args[i] && !gt_use(uses, e->args[i]) &&
            !report_reference(reader, v2, e, uses, e->args[i]))
            return false;
    }
    return true;
}

/* Not for samples: they are taken independently of other events, so their times say nothing about
 * the clocks. */
static inline void check_time_order(struct gt_v2 *v2, const gt_v2_event *e)
{
    gt_v2_disorder *b = &v2->output.disorder;
    if (e->time >= b->latest) {
        b->latest = e->time;
        return;
    }
    int64_t by = (int64_t)((uint64_t)b->latest - (uint64_t)e->time);
    if (by >= 0 && by <= v2->rounding)
        return;
    if (b->count++ == 0)
        b->offset = e->offset;
    if (by > b->most || by < 0)
        b->most = by < 0 ? INT64_MAX : by;
}

/* Handles the earliest event that is ready, and puts what is to be returned of it into the block.
 * *none: nothing is left. */
__attribute__((always_inline)) static inline bool advance(gotrace_reader *reader, struct gt_v2 *v2,
                                                          bool *none)
{
    gt_v2_cursor *c;
    bool ok;
    *none = false;
    while ((c = choose(reader, v2, &ok))) {
        gt_followed followed = gt_v2_follow(v2, c);
        if (followed == GT_FOLLOW_FAILED)
            return false;
        if (followed == GT_FOLLOW_WAIT) {
            v2->order.current = NULL;
            continue;
        }
        c->forced = false;
        check_time_order(v2, c->head);
        if (!check_references(reader, v2, c->head) || !gt_v2_cursor_advance(reader, c))
            return false;
        if (!c->has_head)
            v2->order.current = NULL;
        return true;
    }
    *none = true;
    return ok;
}

/* Handles the next sample or event of a generation. *none: nothing is left of it. */
GT_INLINE bool step(gotrace_reader *reader, struct gt_v2 *v2, bool *none)
{
    *none = false;
    return (v2->tables.next_sample < v2->tables.sample_count && put_sample(reader, v2)) ||
           advance(reader, v2, none);
}

/* Handles the events of a generation up to the next sample. */
static bool step_to_sample(gotrace_reader *reader, struct gt_v2 *v2, bool *none)
{
    while (!*none && v2->tables.next_sample == v2->tables.sample_count)
        if (!advance(reader, v2, none))
            return false;
    return true;
}

static bool is_within(const struct gt_v2 *v2)
{
    return v2->entered && v2->current < v2->index.generation_count;
}

bool gt_v2_fill(gotrace_reader *reader, gt_block *block, bool *end)
{
    struct gt_v2 *v2 = reader->v2;
    bool good = true;
    *end = false;
    v2->output.block = block;
    v2->output.kinds = reader->kinds;
    for (bool none = !is_within(v2); good && !*end && gt_block_has_room(block);) {
        const size_t before = block->count;
        if (!none)
            good = step(reader, v2, &none);
        else if (block->count > 0)
            break;
        else if ((good = next_generation(reader, v2, end)))
            none = !is_within(v2);
        if (!good)
            block->count = before;
    }
    block->public.generation = v2->generation;
    block->public.generation_index = v2->current;
    return good;
}

bool gt_v2_check_alone(gotrace_reader *reader)
{
    struct gt_v2 *v2 = reader->v2;
    gt_generation *g = &v2->index.generations[0];
    v2->output.kinds = 0;
    v2->entered = true;
    if (!enter_generation(reader, v2, g))
        return false;
    for (bool none = false; !none;) {
        if (atomic_load_explicit(v2->assumed->stop, memory_order_relaxed))
            return void_assumptions(v2);
        if (!step_to_sample(reader, v2, &none) || (!none && !step(reader, v2, &none)))
            return false;
    }
    if (problem_count(reader) != v2->assumed->loaded)
        return void_assumptions(v2);
    return report_generation(reader, v2, g);
}

bool gt_v2_check(gotrace_reader *reader)
{
    struct gt_v2 *v2 = reader->v2;
    v2->output.kinds = 0;
    for (bool end = false; !end;) {
        bool none = !is_within(v2);
        while (!none)
            if (!step_to_sample(reader, v2, &none) || (!none && !step(reader, v2, &none)))
                return false;
        if (!next_generation(reader, v2, &end))
            return false;
    }
    return true;
}
