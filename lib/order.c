#include "order.h"

#include <string.h>

#include "waits.h"

/* A cursor that is ready to be looked at, by its first event's time (until 1.6: its number). */
typedef struct heap_entry {
    int64_t key;
    uint32_t cursor;
} heap_entry;

struct gt_order {
    gt_goroutines *goroutines;
    gt_cursor *cursors; /* one a proc, then one of samples or (until 1.6) ends of system calls */
    bool *forced;       /* by cursor: take its event though it is not ready */
    uint32_t count, sorted; /* sorted: the cursor that reads from the spill */
    gt_spill *rows;
    heap_entry *heap;
    size_t heap_count;
    uint32_t current; /* the cursor being read, not in the heap; GT_NONE if none */
    gt_waits waits;
    uint64_t gc_seq;
    uint32_t gc_parked;
    gt_event ahead; /* merged, waiting for earlier ends of system calls */
    bool has_ahead, merged_all;
    int64_t last_ticks;
    uint64_t last_offset;
    bool any;
    gt_table in_place; /* offsets of ends that were given where they stood, not yet passed */
};

/* ---- what an event needs, and what it does ------------------------------------------------- */

enum { FREE = 0, CREATE, FOUND, START, START_LOCAL, BLOCK, YIELD, WAKE, WAKE_LOCAL, GC };

static const uint8_t rule_of[64] = {
    [GT_V1_GoCreate] = CREATE,          [GT_V1_GoWaiting] = FOUND,
    [GT_V1_GoInSyscall] = FOUND,        [GT_V1_GoStart] = START,
    [GT_V1_GoStartLabel] = START,       [GT_V1_GoStartLocal] = START_LOCAL,
    [GT_V1_GoBlock] = BLOCK,            [GT_V1_GoBlockSend] = BLOCK,
    [GT_V1_GoBlockRecv] = BLOCK,        [GT_V1_GoBlockSelect] = BLOCK,
    [GT_V1_GoBlockSync] = BLOCK,        [GT_V1_GoBlockCond] = BLOCK,
    [GT_V1_GoBlockNet] = BLOCK,         [GT_V1_GoSleep] = BLOCK,
    [GT_V1_GoSysBlock] = BLOCK,         [GT_V1_GoBlockGC] = BLOCK,
    [GT_V1_GoSched] = YIELD,            [GT_V1_GoPreempt] = YIELD,
    [GT_V1_GoUnblock] = WAKE,           [GT_V1_GoSysExit] = WAKE,
    [GT_V1_GoUnblockLocal] = WAKE_LOCAL, [GT_V1_GoSysExitLocal] = WAKE_LOCAL,
    [GT_V1_GCStart] = GC,
};

/* GT_ANY_SEQ in seq: any will do; it is then kept (step 0) or raised by one (step 1). */
typedef struct need {
    uint64_t seq;
    uint8_t status, next;
    uint8_t step;
} need;

static const char *const status_names[] = {"not there", "runnable", "running", "waiting"};

static need need_of(uint8_t rule, const gt_event *e)
{
    switch (rule) {
    case CREATE: return (need){0, GT_DEAD, GT_RUNNABLE, 1};
    case FOUND: return (need){1, GT_RUNNABLE, GT_WAITING, 1};
    case START: return (need){e->args[1], GT_RUNNABLE, GT_RUNNING, 1};
    case START_LOCAL: return (need){GT_ANY_SEQ, GT_RUNNABLE, GT_RUNNING, 1};
    case BLOCK: return (need){GT_ANY_SEQ, GT_RUNNING, GT_WAITING, 0};
    case YIELD: return (need){GT_ANY_SEQ, GT_RUNNING, GT_RUNNABLE, 0};
    case WAKE: return (need){e->args[1], GT_WAITING, GT_RUNNABLE, 1};
    default: return (need){GT_ANY_SEQ, GT_WAITING, GT_RUNNABLE, 1};
    }
}

static uint64_t subject_of(uint8_t rule, const gt_event *e)
{
    return rule == CREATE || rule >= WAKE ? e->args[0] : e->goroutine;
}

/* ---- the heap of cursors ------------------------------------------------------------------- */

static void heap_push(gt_order *o, int64_t key, uint32_t cursor)
{
    size_t i = o->heap_count++;
    while (i > 0 && key < o->heap[(i - 1) / 2].key) {
        o->heap[i] = o->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    o->heap[i] = (heap_entry){key, cursor};
}

static uint32_t heap_pop(gt_order *o)
{
    uint32_t top = o->heap[0].cursor;
    heap_entry moved = o->heap[--o->heap_count];
    size_t i = 0, child;
    while ((child = 2 * i + 1) < o->heap_count) {
        if (child + 1 < o->heap_count && o->heap[child + 1].key < o->heap[child].key)
            child++;
        if (moved.key <= o->heap[child].key)
            break;
        o->heap[i] = o->heap[child];
        i = child;
    }
    o->heap[i] = moved;
    return top;
}

/* ---- cursors ------------------------------------------------------------------------------- */

/* The next row of the spill as the head of its cursor. */
static bool advance_rows(gotrace_reader *reader, gt_order *o, gt_cursor *c)
{
    const gt_row *row = gt_spill_peek(o->rows);
    c->has_head = row != NULL;
    if (!row)
        return true;
    if (reader->summary.version < 7)
        c->head = (gt_event){.ticks = (int64_t)row->b,
                             .seq = (uint64_t)row->key,
                             .offset = row->offset,
                             .goroutine = row->a,
                             .args = {row->a, (uint64_t)row->key, row->b},
                             .proc = (uint32_t)row->c,
                             .type = GT_V1_GoSysExit,
                             .flags = GOTRACE_EVENT_MOVED};
    else
        c->head = (gt_event){.ticks = row->key,
                             .offset = row->offset,
                             .goroutine = row->b,
                             .args = {(uint64_t)row->key, row->a, row->b},
                             .stack = row->c,
                             .proc = GT_NONE,
                             .type = GT_V1_CPUSample};
    return gt_spill_advance(o->rows, &reader->error) || gt_fail(reader);
}

static bool advance(gotrace_reader *reader, gt_order *o, gt_cursor *c)
{
    if (c == &o->cursors[o->sorted])
        return advance_rows(reader, o, c);
    if (!gt_cursor_advance(reader, c))
        return false;
    /* Until 1.6 the ends of system calls come from the spill. */
    while (reader->summary.version < 7 && c->has_head && c->head.type == GT_V1_GoSysExit)
        if (!gt_cursor_advance(reader, c))
            return false;
    return true;
}

static int64_t key_of(const gotrace_reader *reader, const gt_cursor *c)
{
    return reader->summary.version < 7 ? (int64_t)c->head.seq : c->head.ticks;
}

static bool open_cursors(gotrace_reader *reader, gt_order *o)
{
    enum { ALL_WINDOWS = 8 << 20, LEAST = 1024 };
    size_t procs = reader->index.proc_count, window = reader->config.window;
    if (window == 0)
        window = 64 * 1024;
    if (procs && window > ALL_WINDOWS / procs)
        window = ALL_WINDOWS / procs;
    if (window < LEAST)
        window = LEAST;
    for (uint32_t i = 0; i < o->count; i++) {
        gt_cursor *c = &o->cursors[i];
        if (i == o->sorted) {
            if (!gt_spill_rewind(o->rows, &reader->error))
                return gt_fail(reader);
            c->proc = GT_NONE;
            if (!advance_rows(reader, o, c))
                return false;
        } else if (reader->index.procs[i].first_run != GT_NONE) {
            if (!gt_cursor_open(reader, c, i, window))
                return false;
            while (reader->summary.version < 7 && c->has_head && c->head.type == GT_V1_GoSysExit)
                if (!gt_cursor_advance(reader, c))
                    return false;
        }
        if (c->has_head)
            heap_push(o, key_of(reader, c), i);
    }
    return true;
}

gt_order *gt_order_new(gotrace_reader *reader, gt_goroutines *goroutines)
{
    gt_order *o = gt_calloc(&reader->heap, 1, sizeof *o);
    if (!o) {
        gt_fail_memory(reader);
        return NULL;
    }
    bool old = reader->summary.version < 7;
    o->goroutines = goroutines;
    o->count = (uint32_t)reader->index.proc_count + 1;
    o->sorted = o->count - 1;
    o->rows = old ? &reader->index.exits : &reader->index.samples;
    o->current = GT_NONE;
    gt_table_init(&o->in_place, &reader->heap);
    o->cursors = gt_calloc(&reader->heap, o->count, sizeof *o->cursors);
    o->forced = gt_calloc(&reader->heap, o->count, sizeof *o->forced);
    o->heap = gt_calloc(&reader->heap, o->count, sizeof *o->heap);
    if (!o->cursors || !o->forced || !o->heap ||
        !gt_waits_init(&o->waits, &reader->heap, o->count)) {
        gt_fail_memory(reader);
    } else if (open_cursors(reader, o)) {
        if (old || gt_spill_rewind(&reader->index.exits, &reader->error))
            return o;
        gt_fail(reader);
    }
    gt_order_free(reader, o);
    return NULL;
}

void gt_order_free(gotrace_reader *reader, gt_order *o)
{
    if (!o)
        return;
    for (uint32_t i = 0; o->cursors && i < o->count; i++)
        if (o->cursors[i].window)
            gt_cursor_close(reader, &o->cursors[i]);
    gt_free(&reader->heap, o->cursors, o->count * sizeof *o->cursors);
    gt_free(&reader->heap, o->forced, o->count * sizeof *o->forced);
    gt_free(&reader->heap, o->heap, o->count * sizeof *o->heap);
    gt_waits_free(&o->waits);
    gt_table_free(&o->in_place);
    gt_free(&reader->heap, o, sizeof *o);
}

/* ---- merging, 1.7 and later ---------------------------------------------------------------- */

static bool no_goroutine(gotrace_reader *reader, const gt_order *o)
{
    if (!o->goroutines->limited)
        return gt_fail_memory(reader);
    gt_error_set(&reader->error, GOTRACE_RULE_SYSTEM_LIMIT, GT_NOWHERE,
                 "more than %llu goroutines at a time, the limit set",
                 (unsigned long long)o->goroutines->limit);
    return gt_fail(reader);
}

/* Whoever waits for the goroutine to be as it is now goes back into the heap. */
static void wake(gotrace_reader *reader, gt_order *o, uint64_t id, uint32_t *parked, uint64_t seq,
                 uint8_t status)
{
    uint32_t cursor;
    const uint64_t wanted[2] = {seq, GT_ANY_SEQ};
    for (int i = 0; i < 2 && *parked; i++)
        if (gt_waits_wake(&o->waits, id, wanted[i], status, &cursor)) {
            --*parked;
            heap_push(o, key_of(reader, &o->cursors[cursor]), cursor);
        }
}

static bool report_order(gotrace_reader *reader, const gt_event *e, const need *n, uint64_t id,
                         uint64_t seq, uint8_t status)
{
    const char *name = gotrace_event_spec_of(reader->summary.version, e->type)->name;
    if (n->seq == GT_ANY_SEQ)
        return gt_report(reader, GOTRACE_RULE_ORDER_SEQUENCE, GT_AT(e->offset),
                         "%s needs goroutine %llu %s, but it is %s and nothing is left that "
                         "could change that",
                         name, (unsigned long long)id, status_names[n->status],
                         status_names[status]);
    return gt_report(reader, GOTRACE_RULE_ORDER_SEQUENCE, GT_AT(e->offset),
                     "%s needs goroutine %llu %s at sequence number %llu, but it is %s at %llu "
                     "and nothing is left that could change that",
                     name, (unsigned long long)id, status_names[n->status],
                     (unsigned long long)n->seq, status_names[status], (unsigned long long)seq);
}

enum taken { TAKEN, PARKED, FAILED };

/* GC cycles are numbered through. */
static enum taken take_gc(gotrace_reader *reader, gt_order *o, uint32_t cursor)
{
    const gt_event *e = &o->cursors[cursor].head;
    if (e->args[0] != o->gc_seq) {
        if (!o->forced[cursor]) {
            if (!gt_waits_park(&o->waits, cursor, e->ticks, UINT64_MAX, e->args[0], GT_DEAD))
                return gt_fail_memory(reader), FAILED;
            o->gc_parked++;
            return PARKED;
        }
        if (!gt_report(reader, GOTRACE_RULE_ORDER_SEQUENCE, GT_AT(e->offset),
                       "GCStart has sequence number %llu, but %llu is the next and nothing is "
                       "left that could change that",
                       (unsigned long long)e->args[0], (unsigned long long)o->gc_seq))
            return FAILED;
    }
    o->gc_seq = e->args[0] + 1;
    wake(reader, o, UINT64_MAX, &o->gc_parked, o->gc_seq, GT_DEAD);
    return TAKEN;
}

/* Take the cursor's first event if it is ready, else let the cursor wait. */
static enum taken take(gotrace_reader *reader, gt_order *o, uint32_t cursor)
{
    const gt_event *e = &o->cursors[cursor].head;
    uint8_t rule = rule_of[e->type];
    if (rule == FREE)
        return TAKEN;
    if (rule == GC)
        return take_gc(reader, o, cursor);
    need n = need_of(rule, e);
    uint64_t id = subject_of(rule, e);
    gt_goroutine *g = gt_goroutine_get(o->goroutines, id);
    if (!g)
        return no_goroutine(reader, o), FAILED;
    if ((n.seq != GT_ANY_SEQ && n.seq != g->seq) || n.status != g->status) {
        if (!o->forced[cursor]) {
            if (!gt_waits_park(&o->waits, cursor, e->ticks, id, n.seq, n.status))
                return gt_fail_memory(reader), FAILED;
            g->parked++;
            return PARKED;
        }
        if (!report_order(reader, e, &n, id, g->seq, g->status))
            return FAILED;
    }
    g->seq = (n.seq == GT_ANY_SEQ ? g->seq : n.seq) + n.step;
    g->status = n.next;
    if (g->parked)
        wake(reader, o, id, &g->parked, g->seq, g->status);
    return TAKEN;
}

/* Nothing is ready, yet events are left: the trace contradicts itself. Believe the first events of
 * all cursors that wait, in the order of their time. */
static void force_all(gotrace_reader *reader, gt_order *o)
{
    for (uint32_t i = 0; i < o->count; i++) {
        if (!o->waits.waits[i].parked)
            continue;
        const gt_event *e = &o->cursors[i].head;
        uint8_t rule = rule_of[e->type];
        gt_goroutine *g =
            rule == GC ? NULL : gt_goroutine_find(o->goroutines, subject_of(rule, e));
        if (g)
            g->parked = 0;
        o->forced[i] = true;
        heap_push(o, key_of(reader, &o->cursors[i]), i);
    }
    o->gc_parked = 0;
    gt_waits_clear(&o->waits);
}

static bool check_time(gotrace_reader *reader, gt_order *o, const gt_event *e)
{
    bool falls = o->any && e->ticks < o->last_ticks;
    if (falls) {
        uint64_t by = (uint64_t)o->last_ticks - (uint64_t)e->ticks;
        if (!gt_report(reader, GOTRACE_RULE_TIME_ORDER, GT_AT(e->offset),
                       "%s has a time stamp %llu ticks (%.0f ns) before that of the event that "
                       "the sequence puts before it, at 0x%llx",
                       gotrace_event_spec_of(reader->summary.version, e->type)->name,
                       (unsigned long long)by, (double)by * reader->ns_per_tick,
                       (unsigned long long)o->last_offset))
            return false;
    }
    o->any = true;
    o->last_ticks = e->ticks;
    o->last_offset = e->offset;
    return true;
}

/* The cursor to look at next: the current one as long as it is the earliest. */
static bool choose(gotrace_reader *reader, gt_order *o)
{
    if (o->current != GT_NONE) {
        int64_t key = key_of(reader, &o->cursors[o->current]);
        if (o->heap_count == 0 || key <= o->heap[0].key)
            return true;
        heap_push(o, key, o->current);
    } else if (o->heap_count == 0) {
        if (o->waits.parked == 0)
            return false;
        force_all(reader, o);
    }
    o->current = heap_pop(o);
    return true;
}

static uint8_t full_type(uint8_t type)
{
    switch (type) {
    case GT_V1_GoStartLocal: return GT_V1_GoStart;
    case GT_V1_GoUnblockLocal: return GT_V1_GoUnblock;
    case GT_V1_GoSysExitLocal: return GT_V1_GoSysExit;
    default: return type;
    }
}

/* Hand over the head of a cursor and decode its next one. */
static bool pop(gotrace_reader *reader, gt_order *o, uint32_t cursor, gt_event *e)
{
    gt_cursor *c = &o->cursors[cursor];
    *e = c->head;
    e->type = full_type(e->type);
    o->forced[cursor] = false;
    if (!advance(reader, o, c))
        return false;
    if (!c->has_head)
        o->current = GT_NONE;
    else if (e->type == GT_V1_GoSysCall && c->head.type == GT_V1_GoSysBlock)
        e->flags |= GT_EVENT_BLOCKS;
    return true;
}

/* Until 1.6: by sequence number alone. */
static bool merge_by_number(gotrace_reader *reader, gt_order *o, gt_event *e, bool *got)
{
    *got = choose(reader, o);
    if (!*got)
        return true;
    uint32_t cursor = o->current;
    if (!pop(reader, o, cursor, e))
        return false;
    const gt_cursor *c = &o->cursors[cursor];
    if (c->has_head && (int64_t)c->head.seq < (int64_t)e->seq &&
        !gt_report(reader, GOTRACE_RULE_ORDER_GLOBAL, GT_AT(c->head.offset),
                   "sequence number %llu comes after %llu on the same proc",
                   (unsigned long long)c->head.seq, (unsigned long long)e->seq))
        return false;
    return check_time(reader, o, e);
}

/* The real time of a system call's end against when it began to block. */
static bool check_exit(gotrace_reader *reader, gt_order *o, const gt_event *e)
{
    if (e->type != GT_V1_GoSysBlock && e->type != GT_V1_GoInSyscall &&
        (e->type != GT_V1_GoSysExit || e->args[2] == 0))
        return true;
    gt_goroutine *g = gt_goroutine_get(o->goroutines, e->goroutine);
    if (!g)
        return no_goroutine(reader, o);
    if (e->type != GT_V1_GoSysExit) {
        g->blocked = e->ticks;
        return true;
    }
    if (g->blocked == 0)
        return gt_report(reader, GOTRACE_RULE_GO_SYSEXIT, GT_AT(e->offset),
                         "goroutine %llu leaves a system call that it never entered",
                         (unsigned long long)g->id);
    if ((int64_t)e->args[2] < g->blocked)
        return gt_report(reader, GOTRACE_RULE_TIME_SYSCALL, GT_AT(e->offset),
                         "goroutine %llu left its system call %llu ticks before it blocked in it",
                         (unsigned long long)g->id,
                         (unsigned long long)((uint64_t)g->blocked - e->args[2]));
    return true;
}

static bool merge(gotrace_reader *reader, gt_order *o, gt_event *e, bool *got)
{
    if (reader->summary.version < 7)
        return merge_by_number(reader, o, e, got);
    for (;;) {
        *got = choose(reader, o);
        if (!*got)
            return true;
        uint32_t cursor = o->current;
        switch (take(reader, o, cursor)) {
        case FAILED: return false;
        case PARKED: o->current = GT_NONE; continue;
        case TAKEN: break;
        }
        return pop(reader, o, cursor, e) && check_time(reader, o, e) && check_exit(reader, o, e);
    }
}

/* ---- ends of system calls ------------------------------------------------------------------ */

/* Is the merged event the place of an end that belongs elsewhere? One whose real time is the time
 * of the event stays, and its row is passed over later. */
static bool stays(gotrace_reader *reader, gt_order *o, gt_event *e, bool *here)
{
    *here = e->type != GT_V1_GoSysExit || e->args[2] == 0 || reader->summary.version < 7;
    if (*here || (int64_t)e->args[2] != e->ticks)
        return true;
    *here = true;
    return gt_table_put(&o->in_place, e->offset, NULL, 0, 0) || gt_fail_memory(reader);
}

/* The next end of a system call that has to go before the event ahead. */
static bool earlier_exit(gotrace_reader *reader, gt_order *o, gt_event *e, bool *got)
{
    const gt_row *row;
    *got = false;
    while ((row = gt_spill_peek(&reader->index.exits)) &&
           (!o->has_ahead || row->key < o->ahead.ticks)) {
        *got = !o->in_place.entries || !gt_table_find(&o->in_place, row->offset);
        if (*got)
            *e = (gt_event){.ticks = row->key,
                            .offset = row->offset,
                            .goroutine = row->a,
                            .args = {row->a, row->b, (uint64_t)row->key},
                            .proc = (uint32_t)row->c,
                            .type = GT_V1_GoSysExit,
                            .flags = GOTRACE_EVENT_MOVED};
        if (!gt_spill_advance(&reader->index.exits, &reader->error))
            return gt_fail(reader);
        if (*got)
            return true;
    }
    if (o->in_place.entries && (!row || row->key > o->ahead.ticks)) {
        gt_table_free(&o->in_place);
        gt_table_init(&o->in_place, &reader->heap);
    }
    return true;
}

bool gt_order_next(gotrace_reader *reader, gt_order *o, gt_event *e, bool *got)
{
    if (reader->summary.version < 7)
        return merge(reader, o, e, got);
    while (!o->has_ahead && !o->merged_all) {
        bool here = false;
        if (!merge(reader, o, &o->ahead, &o->has_ahead))
            return false;
        o->merged_all = !o->has_ahead;
        if (o->has_ahead && !stays(reader, o, &o->ahead, &here))
            return false;
        o->has_ahead = o->has_ahead && here;
    }
    if (!earlier_exit(reader, o, e, got))
        return false;
    if (!*got && o->has_ahead) {
        *e = o->ahead;
        o->has_ahead = false;
        *got = true;
    }
    return true;
}
