#include "read/v1/order.h"

#include <string.h>

#include "core/times.h"

/* ---- requirements and effects of events ------------------------------------------------------ */

/* Changes of a goroutine that other procs may observe are numbered: 0 its creation, 1 its initial
 * state, then as recorded in the events, except local forms. */
static gt_order_rule rule_of(const gt_v1_shape *shape, unsigned code)
{
    bool numbered = shape->does->other.to != 0;
    bool first = shape->action == GT_ACTION_CREATE, second = shape->action == GT_ACTION_FOUND;
    bool any = !numbered || shape->full != code;
    return (gt_order_rule){.any = any ? UINT64_MAX : 0,
                           .arg = any || first || second ? 0 : UINT64_MAX,
                           .constant = second,
                           .status = shape->status,
                           .next = shape->next,
                           .step = numbered,
                           .of_subject = numbered && shape->context_arg == 0};
}

static void init_rules(gt_order *o, const gt_v1_shape shapes[64])
{
    for (unsigned code = 0; code < 64; code++)
        if (shapes[code].rule && !(shapes[code].rule & GT_RULE_GC))
            o->rules[code] = rule_of(&shapes[code], code);
}

static uint64_t subject_of(const gt_order_rule *rule, const gt_event *e)
{
    return rule->of_subject ? e->args[0] : e->goroutine;
}

/* ---- the heap of cursors ------------------------------------------------------------------- */

static void heap_push(gt_order *o, gt_cursor *c)
{
    gt_cursor_heap_push(&o->heap, gt_cursor_key(c), c);
}

static uint32_t number_of(const gt_order *o, const gt_cursor *c)
{
    return (uint32_t)(c - o->cursors);
}

/* ---- cursors ------------------------------------------------------------------------------- */

/* Makes the next row of the spill the head of its cursor. */
static bool advance_rows(gotrace_reader *reader, gt_order *o, gt_cursor *c)
{
    const gt_row *row = gt_spill_peek(o->rows);
    c->has_head = row != NULL;
    if (!row)
        return true;
    c->head = c->head == c->events ? c->events + 1 : c->events;
    if (reader->summary.version < GT_FIRST_NUMBERED)
        *c->head = (gt_event){.ticks = (int64_t)row->b,
                              .seq = (uint64_t)row->key,
                              .offset = row->offset,
                              .record = GOTRACE_NO_OFFSET,
                              .batch = GOTRACE_NO_OFFSET,
                              .goroutine = row->a,
                              .args = {row->a, (uint64_t)row->key, row->b},
                              .proc = (uint32_t)row->c,
                              .type = GOTRACE_V1_GoSysExit,
                              .flags = GOTRACE_EVENT_MOVED};
    else
        *c->head = (gt_event){.ticks = row->key,
                              .offset = row->offset,
                              .record = GOTRACE_NO_OFFSET,
                              .batch = GOTRACE_NO_OFFSET,
                              .goroutine = row->b,
                              .args = {(uint64_t)row->key, row->a, row->b},
                              .stack = row->c,
                              .proc = GT_NONE,
                              .type = GOTRACE_V1_CPUSample};
    return gt_spill_advance(o->rows, &reader->error) || gt_fail(reader);
}

static inline bool advance(gotrace_reader *reader, gt_order *o, gt_cursor *c)
{
    return c->proc == GT_NONE ? advance_rows(reader, o, c) : gt_cursor_advance(reader, c);
}

/* Divides a fixed amount of memory among the procs' cursors. */
static void divide_memory(const gotrace_reader *reader, size_t *window, uint32_t *half)
{
    enum { ALL_WINDOWS = 8 << 20, LEAST_WINDOW = 1024, ALL_EVENTS = 2 << 20, MOST_EVENTS = 64 };
    size_t procs = reader->index.proc_count + 1;
    size_t events = ALL_EVENTS / (2 * sizeof(gt_event)) / procs;
    *half = events < 1 ? 1 : events > MOST_EVENTS ? MOST_EVENTS : (uint32_t)events;
    *window = gt_window(reader);
    if (*window > ALL_WINDOWS / procs)
        *window = ALL_WINDOWS / procs;
    if (*window < LEAST_WINDOW)
        *window = LEAST_WINDOW;
}

gt_buffers gt_order_buffers(const gotrace_reader *reader, const gt_order *o, uint32_t cursor)
{
    gt_buffers buffers;
    divide_memory(reader, &buffers.window, &buffers.half);
    buffers.events = &o->events[(size_t)cursor * 2 * buffers.half];
    return buffers;
}

static void peek_exit(gotrace_reader *reader, gt_order *o)
{
    const gt_row *row = gt_spill_peek(&reader->index.exits);
    o->next_exit = row ? row->key : INT64_MAX;
}

bool gt_order_seek(gotrace_reader *reader, gt_order *o, int64_t ticks)
{
    if (!gt_spill_seek(o->rows, ticks, &reader->error) ||
        (o->rows != &reader->index.exits &&
         !gt_spill_seek(&reader->index.exits, ticks, &reader->error)))
        return gt_fail(reader);
    peek_exit(reader, o);
    return advance_rows(reader, o, &o->cursors[o->sorted]);
}

void gt_order_continue(gt_order *o, int64_t until)
{
    int64_t before = o->heap.until;
    o->heap.until = until;
    o->heap.entries[0].key = until;
    for (uint32_t i = 0; i < o->count; i++) {
        gt_cursor *c = &o->cursors[i];
        c->until = until;
        if (c->has_head && gt_cursor_key(c) > before && gt_cursor_key(c) <= until)
            heap_push(o, c);
    }
}

static bool open_cursors(gotrace_reader *reader, gt_order *o, int64_t until)
{
    if (!gt_order_seek(reader, o, INT64_MIN))
        return false;
    for (uint32_t i = 0; i < o->sorted; i++) {
        uint32_t run = reader->index.procs[i].first_run;
        o->cursors[i].until = until;
        if (run != GT_NONE &&
            !gt_cursor_open(reader, &o->cursors[i], i, run, gt_order_buffers(reader, o, i)))
            return false;
    }
    o->heap.until = o->heap.entries[0].key = until;
    for (uint32_t i = 0; i < o->count; i++)
        if (o->cursors[i].has_head && gt_cursor_key(&o->cursors[i]) <= until)
            heap_push(o, &o->cursors[i]);
    o->first_ticks = o->heap.entries[0].key;
    return true;
}

gt_order *gt_order_alloc(gotrace_reader *reader, gt_goroutines *goroutines)
{
    gt_order *o = gt_calloc(&reader->heap, 1, sizeof *o);
    if (!o) {
        gt_fail_memory(reader);
        return NULL;
    }
    bool old = reader->summary.version < GT_FIRST_NUMBERED;
    o->goroutines = goroutines;
    init_rules(o, reader->index.shapes);
    o->count = (uint32_t)reader->index.proc_count + 1;
    o->sorted = o->count - 1;
    o->rows = old ? &reader->index.exits : &reader->index.samples;
    o->last_ticks = INT64_MIN;
    o->max_wait = INT64_MAX;
    gt_table_init(&o->in_place, &reader->heap);
    size_t window;
    uint32_t half;
    divide_memory(reader, &window, &half);
    o->event_count = (size_t)o->count * 2 * half;
    o->events = gt_calloc(&reader->heap, o->event_count, sizeof *o->events);
    o->cursors = gt_calloc(&reader->heap, o->count, sizeof *o->cursors);
    if (!o->events || !o->cursors ||
        !gt_cursor_heap_open(&reader->heap, &o->heap, o->count, INT64_MIN) ||
        !gt_waits_init(&o->waits, &reader->heap, o->count)) {
        gt_fail_memory(reader);
        gt_order_free(reader, o);
        return NULL;
    }
    o->cursors[o->sorted] = (gt_cursor){
        .events = gt_order_buffers(reader, o, o->sorted).events, .with_seq = old, .proc = GT_NONE};
    return o;
}

gt_order *gt_order_new(gotrace_reader *reader, gt_goroutines *goroutines, int64_t until)
{
    gt_order *o = gt_order_alloc(reader, goroutines);
    if (o && !open_cursors(reader, o, until)) {
        gt_order_free(reader, o);
        return NULL;
    }
    return o;
}

void gt_order_close(gotrace_reader *reader, gt_order *o)
{
    for (uint32_t i = 0; o->cursors && i < o->count; i++)
        gt_cursor_close(reader, &o->cursors[i]);
}

void gt_order_free(gotrace_reader *reader, gt_order *o)
{
    if (!o)
        return;
    gt_order_close(reader, o);
    gt_free(&reader->heap, o->events, o->event_count * sizeof *o->events);
    gt_free(&reader->heap, o->cursors, o->count * sizeof *o->cursors);
    gt_cursor_heap_close(&reader->heap, &o->heap);
    gt_waits_free(&o->waits);
    gt_table_free(&o->in_place);
    gt_free(&reader->heap, o, sizeof *o);
}

/* ---- merge, 1.7 and later -------------------------------------------------------------------- */

static bool no_goroutine(gotrace_reader *reader, const gt_order *o)
{
    if (!o->goroutines->limited)
        return gt_fail_memory(reader);
    gt_error_limit(&reader->error, GOTRACE_LIMIT_GOROUTINES, GT_NO_PLACE, o->goroutines->limit);
    return gt_fail(reader);
}

/* Puts the earliest cursor that waits for this state of the goroutine back into the heap. */
static void wake(gt_order *o, uint64_t id, uint32_t *parked, uint64_t seq, uint8_t status)
{
    uint32_t cursor;
    const uint64_t wanted[2] = {seq, GT_ANY_SEQ};
    for (int i = 0; i < 2 && *parked; i++)
        if (gt_waits_wake(&o->waits, id, wanted[i], status, &cursor)) {
            --*parked;
            heap_push(o, &o->cursors[cursor]);
        }
}

/* In a trace that is cut off, the last events of other procs are missing: this is reported as one
 * fault. */
static bool report_cut(gotrace_reader *reader, const gt_event *e)
{
    bool go_on = gt_report(reader, GOTRACE_RULE_ORDER_CUT, gt_event_place(e),
                           "%s waits for an event that was cut off; from here on events are taken "
                           "in order of time, and further inconsistencies are not reported",
                           gotrace_event_spec_of(reader->summary.version, e->type)->name);
    reader->quiet = true;
    return go_on;
}

static bool report_order(gotrace_reader *reader, const gt_event *e, const gt_order_rule *rule,
                         uint64_t want, const gt_goroutine *g)
{
    if (reader->summary.unread_bytes || !reader->index.has_frequency)
        return report_cut(reader, e);
    const char *name = gotrace_event_spec_of(reader->summary.version, e->rule & GT_RULE_CODE)->name;
    unsigned long long id = g->id;
    if (rule->any)
        return gt_report(reader, GOTRACE_RULE_ORDER_SEQUENCE, gt_event_place(e),
                         "%s: goroutine %llu must be %s, but it is %s, and no remaining event "
                         "changes that",
                         name, id, gt_status_name(rule->status), gt_status_name(g->status));
    return gt_report(reader, GOTRACE_RULE_ORDER_SEQUENCE, gt_event_place(e),
                     "%s: goroutine %llu must be %s at sequence number %llu, but it is %s at "
                     "%llu, and no remaining event changes that",
                     name, id, gt_status_name(rule->status), (unsigned long long)want,
                     gt_status_name(g->status), (unsigned long long)g->seq);
}

enum taken { TAKEN, PARKED, FAILED };

static void assume(gt_order *o, gt_assumption_kind kind, uint64_t id, uint64_t value)
{
    o->assumed->void_ |= !gt_assume(
        o->assumed, (gt_assumption){.kind = (uint8_t)kind, .id = id, .value = value});
}

/* In addition to the states of goroutines: what GCStart waits for. */
enum { GC_CYCLE = GT_WAITING + 1 };

/* GC cycles are numbered consecutively. */
static enum taken take_gc(gotrace_reader *reader, gt_order *o, gt_cursor *c)
{
    const gt_event *e = c->head;
    if (o->assumed && !o->gc_known) {
        assume(o, GT_ASSUME_NEXT_GC, 0, e->args[0]);
        o->gc_known = true;
        o->gc_seq = e->args[0];
    }
    if (e->args[0] != o->gc_seq) {
        if (!c->forced) {
            if (!gt_waits_park(&o->waits, number_of(o, c), e->ticks, UINT64_MAX, e->args[0],
                               GC_CYCLE))
                return gt_fail_memory(reader), FAILED;
            o->gc_parked++;
            return PARKED;
        }
        if (!gt_report(reader, GOTRACE_RULE_ORDER_SEQUENCE, gt_event_place(e),
                       "GCStart has sequence number %llu, but %llu is the next, and no "
                       "remaining event changes that",
                       (unsigned long long)e->args[0], (unsigned long long)o->gc_seq))
            return FAILED;
    }
    o->gc_seq = e->args[0] + 1;
    wake(o, UINT64_MAX, &o->gc_parked, o->gc_seq, GC_CYCLE);
    return TAKEN;
}

/* Whether the event is ready if the goroutine was in a suitable state before this piece. Of that it
 * assumes no more than the event requires. */
static bool becomes_ready(gt_order *o, gt_goroutine *g, const gt_order_rule *rule, uint64_t want)
{
    bool seq_fits = want == g->seq, seq_known = g->contact & GT_CONTACT_SEQ;
    if ((g->status != GT_UNKNOWN && g->status != rule->status) || (seq_known && !seq_fits))
        return false;
    if (rule->status == GT_DEAD) { /* it is created */
        if (g->status != GT_UNKNOWN || g->state != GT_UNKNOWN || seq_known ||
            g->seq != o->goroutines->unknown_seq)
            return false;
        o->assumed->void_ |= !gt_assume_new(&o->assumed->created, g->id);
        g->contact |= GT_CONTACT_CREATED | GT_CONTACT_SEQ;
        g->assisting = false;
        g->state = GT_DEAD;
        return true;
    }
    if (g->status == GT_UNKNOWN)
        assume(o, GT_ASSUME_STATUS, g->id, rule->status);
    if (!seq_fits)
        assume(o, GT_ASSUME_SEQ, g->id, want - (g->seq - o->goroutines->unknown_seq));
    g->contact |= seq_fits ? 0 : GT_CONTACT_SEQ;
    return true;
}

/* The event is not ready: parks its cursor or, if it cannot become ready, reports the problem. */
static enum taken not_ready(gotrace_reader *reader, gt_order *o, gt_cursor *c, gt_goroutine *g,
                            const gt_order_rule *rule, uint64_t want)
{
    const gt_event *e = c->head;
    if (o->assumed && becomes_ready(o, g, rule, want))
        return TAKEN;
    if (c->forced)
        return report_order(reader, e, rule, want, g) ? TAKEN : FAILED;
    if (!gt_waits_park(&o->waits, number_of(o, c), e->ticks, g->id, rule->any ? GT_ANY_SEQ : want,
                       rule->status))
        return gt_fail_memory(reader), FAILED;
    g->parked++;
    return PARKED;
}

/* Accepts the cursor's head if it is ready, else parks the cursor. */
GT_INLINE enum taken take(gotrace_reader *reader, gt_order *o, gt_cursor *c)
{
    gt_event *e = c->head;
    e->subject = NULL;
    if (e->rule == 0)
        return TAKEN;
    if (e->rule & GT_RULE_GC)
        return take_gc(reader, o, c);
    const gt_order_rule *rule = &o->rules[e->rule & GT_RULE_CODE];
    uint64_t id = subject_of(rule, e);
    gt_goroutine *g = c->running;
    if (!g || g->id != id || id == UINT64_MAX) {
        g = gt_goroutine_get(o->goroutines, id);
        if (!g)
            return no_goroutine(reader, o), FAILED;
        if (!rule->of_subject)
            c->running = g;
    }
    uint64_t want = (g->seq & rule->any) | (e->args[1] & rule->arg) | rule->constant;
    if (want != g->seq || rule->status != g->status) {
        enum taken taken = not_ready(reader, o, c, g, rule, want);
        if (taken != TAKEN)
            return taken;
    }
    g->seq = want + rule->step;
    g->status = rule->next;
    if (g->parked)
        wake(o, id, &g->parked, g->seq, g->status);
    e->subject = g;
    return TAKEN;
}

/* The clocks of most machines differ by less. */
enum { MOST_WAIT_NS = 2000 };

/* Forces the earliest waiting event: what it waits for does not occur. From then on events wait no
 * longer than for differing clocks: each loss would delay all events that follow on the proc, and a
 * program with callbacks from C can have many before 1.22 (traces/unsound: with this, 13 of 243
 * events are out of order; without it, 61). */
static void force_earliest(const gotrace_reader *reader, gt_order *o)
{
    gt_cursor *c = &o->cursors[gt_waits_release(&o->waits)];
    const gt_event *e = c->head;
    o->max_wait = gt_time((double)MOST_WAIT_NS / reader->ns_per_tick);
    if (e->rule & GT_RULE_GC)
        o->gc_parked--;
    else
        gt_goroutine_find(o->goroutines, subject_of(&o->rules[e->rule & GT_RULE_CODE], e))
            ->parked--;
    c->forced = true;
    heap_push(o, c);
}

static inline bool waits_in_vain(const gt_order *o, const gt_cursor *c)
{
    return o->waits.parked_count &&
           gt_time_between(gt_waits_earliest(&o->waits), c->head->ticks) > o->max_wait;
}

/* ---- the next event ------------------------------------------------------------------------ */

__attribute__((cold)) static bool report_time(gotrace_reader *reader, const gt_order *o,
                                              const gt_event *e)
{
    int64_t by = gt_time_between(e->ticks, o->last_ticks);
    int64_t ns = gt_time((double)by * reader->ns_per_tick + 0.5);
    return gt_report(
        reader, GOTRACE_RULE_TIME_ORDER, gt_event_place(e),
        "%s has a time stamp %s%lld tick%s (%lld ns) before that of the event that the "
        "sequence puts before it, at 0x%llx",
        gotrace_event_spec_of(reader->summary.version, e->type)->name,
        by == GT_TIME_LAST || ns == GT_TIME_LAST ? "at least " : "", (long long)by,
        gt_plural((uint64_t)by), (long long)ns, (unsigned long long)o->last_offset);
}

static inline bool check_time(gotrace_reader *reader, gt_order *o, const gt_event *e)
{
    if (e->ticks < o->last_ticks && !report_time(reader, o, e))
        return false;
    o->last_ticks = e->ticks;
    o->last_offset = e->offset;
    return true;
}

/* Selects the next cursor: the current one while it is the earliest. False if there is none. */
GT_INLINE bool choose(const gotrace_reader *reader, gt_order *o)
{
    gt_cursor *c = o->current;
    if (c) {
        int64_t key = gt_cursor_key(c);
        if (key <= o->heap.entries[0].key)
            return true;
        if (key <= o->heap.until) {
            o->current = gt_cursor_heap_replace(&o->heap, key, c);
            return true;
        }
        o->current = NULL;
    }
    if (o->heap.count == 0) {
        if (o->heap.until < INT64_MAX || o->assumed || o->waits.parked_count == 0)
            return false;
        force_earliest(reader, o);
    }
    o->current = gt_cursor_heap_pop(&o->heap);
    return true;
}

/* Returns the head of the current cursor and advances it. */
GT_INLINE bool pop(gotrace_reader *reader, gt_order *o)
{
    gt_cursor *c = o->current;
    c->forced = false;
    if (!advance(reader, o, c))
        return false;
    if (!c->has_head)
        o->current = NULL;
    return true;
}

/* Until 1.6: by sequence number only. */
static bool merge_by_number(gotrace_reader *reader, gt_order *o, gt_event **event)
{
    *event = NULL;
    if (!choose(reader, o))
        return true;
    gt_cursor *c = o->current;
    gt_event *e = *event = c->head;
    e->subject = NULL;
    if (!pop(reader, o))
        return false;
    /* With equal numbers the order is undefined, and with it later findings. */
    if (o->last_offset != 0 && e->seq == o->last_seq &&
        !gt_report(reader, GOTRACE_RULE_ORDER_GLOBAL, gt_event_place(e),
                   "sequence number %lld is that of the event at 0x%llx too", (long long)e->seq,
                   (unsigned long long)o->last_offset))
        return false;
    o->last_seq = e->seq;
    if (c->has_head && gt_cursor_key(c) < (int64_t)e->seq &&
        !gt_report(reader, GOTRACE_RULE_ORDER_GLOBAL, gt_event_place(c->head),
                   "sequence number %lld comes after %lld on the same proc",
                   (long long)gt_cursor_key(c), (long long)e->seq))
        return false;
    return check_time(reader, o, e);
}

/* Checks that a goroutine leaves a system call after it blocked in it; records when it blocks. */
static bool check_exit(gotrace_reader *reader, gt_order *o, const gt_event *e)
{
    gt_goroutine *g = e->subject;
    if (reader->index.shapes[e->type].action != GT_ACTION_EXIT) {
        g->blocked = e->ticks;
        return true;
    }
    if (e->args[2] == 0)
        return true;
    if (g->blocked == 0 && o->assumed && !(g->contact & GT_CONTACT_CREATED)) {
        assume(o, GT_ASSUME_BLOCKED, g->id, e->args[2]);
        return true;
    }
    if (g->blocked == 0)
        return gt_report(reader, GOTRACE_RULE_GO_SYSEXIT, gt_event_place(e),
                         "goroutine %llu leaves a system call that it never entered",
                         (unsigned long long)g->id);
    if ((int64_t)e->args[2] < g->blocked)
        return gt_report(reader, GOTRACE_RULE_TIME_SYSCALL, gt_event_place(e),
                         "goroutine %llu left its system call %llu tick%s before it blocked in it",
                         (unsigned long long)g->id,
                         (unsigned long long)((uint64_t)g->blocked - e->args[2]),
                         gt_plural((uint64_t)g->blocked - e->args[2]));
    return true;
}

GT_INLINE bool merge(gotrace_reader *reader, gt_order *o, gt_event **event)
{
    for (;;) {
        *event = NULL;
        if (!choose(reader, o))
            return true;
        if (waits_in_vain(o, o->current)) {
            force_earliest(reader, o);
            choose(reader, o);
        }
        gt_event *e = o->current->head;
        switch (take(reader, o, o->current)) {
        case FAILED: return false;
        case PARKED: o->current = NULL; continue;
        case TAKEN: break;
        }
        *event = e;
        if (!pop(reader, o) || !check_time(reader, o, e))
            return false;
        return !(e->rule & GT_RULE_SYSCALL) || check_exit(reader, o, e);
    }
}

/* ---- ends of system calls ------------------------------------------------------------------ */

/* Whether the event is an end of a system call that belongs to another place. If its real time
 * equals its timestamp, the event stays, and its row is skipped later. */
static bool is_moved(gotrace_reader *reader, gt_order *o, const gt_event *e, bool *elsewhere)
{
    *elsewhere = e->args[2] != 0 && (int64_t)e->args[2] != e->ticks;
    if (e->args[2] == 0 || *elsewhere)
        return true;
    return gt_table_put(&o->in_place, e->offset, NULL, 0, 0) || gt_fail_memory(reader);
}

/* Whether an end of a system call at that time precedes the event `ahead`, or (without one) the
 * events that are held back. At the end of the trace it may be INT64_MAX. */
static inline bool is_earlier(const gt_order *o, int64_t ticks)
{
    return o->ahead ? ticks < o->ahead->ticks : ticks <= o->heap.until;
}

/* The next end of a system call that precedes other events; NULL if there is none. A time
 * before the first event is damaged, and must not move the start of the trace. */
static bool earlier_exit(gotrace_reader *reader, gt_order *o, gt_event **event)
{
    const gt_row *row;
    *event = NULL;
    while (!*event && (row = gt_spill_peek(&reader->index.exits)) && is_earlier(o, row->key)) {
        if (!o->in_place.entries || !gt_table_find(&o->in_place, row->offset)) {
            o->exit = (gt_event){.ticks = row->key < o->first_ticks ? o->first_ticks : row->key,
                                 .offset = row->offset,
                                 .record = GOTRACE_NO_OFFSET,
                                 .batch = GOTRACE_NO_OFFSET,
                                 .goroutine = row->a,
                                 .args = {row->a, row->b, (uint64_t)row->key},
                                 .proc = (uint32_t)row->c,
                                 .type = GOTRACE_V1_GoSysExit,
                                 .flags = GOTRACE_EVENT_MOVED};
            *event = &o->exit;
        }
        if (!gt_spill_advance(&reader->index.exits, &reader->error))
            return gt_fail(reader);
    }
    peek_exit(reader, o);
    if (o->in_place.entries && o->ahead && o->next_exit > o->ahead->ticks) {
        gt_table_free(&o->in_place);
        gt_table_init(&o->in_place, &reader->heap);
    }
    return true;
}

/* Whether there are only ends of system calls left before the events that are held back. */
static bool is_clean_end(const gotrace_reader *reader, const gt_order *o)
{
    return gt_order_is_clean(o) && o->next_exit <= o->heap.until &&
           gt_spill_peek(&reader->index.exits) != NULL;
}

GT_INLINE bool next(gotrace_reader *reader, gt_order *o, gt_event **event)
{
    gt_event *ahead = o->ahead;
    while (!ahead) {
        bool elsewhere = false;
        if (!merge(reader, o, &ahead))
            return false;
        if (!ahead || !(ahead->rule & GT_RULE_SYSCALL) ||
            reader->index.shapes[ahead->type].action != GT_ACTION_EXIT)
            break;
        if (!is_moved(reader, o, ahead, &elsewhere))
            return false;
        if (elsewhere)
            ahead = NULL;
    }
    if (ahead ? o->next_exit < ahead->ticks : is_clean_end(reader, o)) {
        o->ahead = ahead;
        if (!earlier_exit(reader, o, event))
            return false;
        if (*event)
            return true;
    }
    *event = ahead;
    o->ahead = NULL;
    return true;
}

bool gt_order_next(gotrace_reader *reader, gt_order *o, gt_event **event)
{
    return reader->summary.version < GT_FIRST_NUMBERED ? merge_by_number(reader, o, event)
                                                       : next(reader, o, event);
}

bool gt_order_each(gotrace_reader *reader, gt_order *o, gt_each_fn *each, void *ctx)
{
    gt_event *e;
    if (reader->summary.version < GT_FIRST_NUMBERED) {
        while (merge_by_number(reader, o, &e))
            if (!e || !each(reader, e, ctx))
                return !e;
        return false;
    }
    while (next(reader, o, &e))
        if (!e || !each(reader, e, ctx))
            return !e;
    return false;
}
