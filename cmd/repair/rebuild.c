/* rebuild.c - pass the events of a trace that violates rules to a writer. */
#include "cmd/repair/rebuild.h"

#include <inttypes.h>
#include <stdlib.h>

/* The first error is kept: if writing fails, the writer knows only that. */
static bool fail(rebuild *t, const gotrace_error *error)
{
    if (t->r->error->rule == GOTRACE_RULE_NONE)
        *t->r->error = *error;
    t->failed = true;
    return false;
}

static bool write_bytes(void *ctx, const void *bytes, size_t size)
{
    rebuild *t = ctx;
    return repair_put(t->r, t->written, bytes, size);
}

/* The value of an id; NULL if memory runs out, in which case t has failed. */
static void *note(rebuild *t, idmap *map, uint64_t id)
{
    void *value = idmap_insert(map, id);
    t->failed = t->failed || !value;
    return value;
}

/* A status without a thread, passed when its generation ends. */
typedef struct deferred_status {
    const gotrace_event_spec *spec;
    uint64_t args[GOTRACE_MAX_ARGS];
    size_t arg_count;
    uint64_t stack;
} deferred_status;

/* A pending event: its time, and its place in rebuild.pending, where later ones follow. */
typedef struct queue_entry {
    uint64_t ticks;
    size_t place;
} queue_entry;

enum { MAX_PENDING = 1 << 20 };

/* ---- times, strings and stacks -------------------------------------------------------------- */

/* The batch that contains the offset, or NULL. */
static repair_batch *batch_of(rebuild *t, uint64_t offset)
{
    size_t low = 0, high = t->layout.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (t->layout.batches[middle].end <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    repair_batch *b = low < t->layout.count ? &t->layout.batches[low] : NULL;
    return b && b->body <= offset && b->kind == PARTS_EVENTS && !b->is_experiment ? b : NULL;
}

/* The time of an event, which in v2 is that in its record: the reader raises times of events that
 * had to wait. Events of a batch come in order, so that each record is read once: b->late is the
 * offset reached, b->last its time. */
static uint64_t event_ticks(rebuild *t, const gotrace_event *e)
{
    bool sampled = e->type == GOTRACE_V2_CPUSample;
    repair_batch *b = repair_is_v2(t->r) && !sampled ? batch_of(t, e->offset) : NULL;
    repair_record record;
    if (!b)
        return carry_ticks(&t->carry, gotrace_reader_raw(t->carry.reader)->ticks);
    if (b->late == 0 || b->late > e->offset) {
        b->late = b->body;
        b->last = b->time;
    }
    const uint8_t *bytes = t->image->bytes;
    while (b->late <= e->offset &&
           repair_read_record(t->r, bytes + b->late, bytes + b->end, &record)) {
        b->last += record.args[0];
        if (b->late == e->offset)
            break;
        b->late += record.size;
    }
    uint64_t ticks = b->last;
    if (b->late == e->offset)
        b->last -= record.args[0]; /* the record is read again */
    return ticks;
}

bool rebuild_at(rebuild *t, uint64_t ticks, int64_t place)
{
    bool other = place != t->place;
    if (ticks > t->now)
        t->now = ticks;
    else if (other)
        t->now++;
    t->place = place;
    return gotrace_writer_at(t->writer, t->now) >= 0 || fail(t, gotrace_writer_error(t->writer));
}

/* Find what is needed of each row for each event. */
static void init_rows(rebuild *t)
{
    const gotrace_arg_spec *args[GOTRACE_MAX_ARGS];
    int version = t->r->version;
    carry_init(&t->carry, version);
    for (unsigned code = 0; code < 256; code++) {
        const gotrace_event_spec *spec = t->r->specs[code];
        rebuild_row *row = &t->rows[code];
        if (!spec)
            continue;
        row->subject = gotrace_writer_args(spec, version, args) > 0 &&
                       args[0]->kind == GOTRACE_ARG_GOROUTINE;
        const gotrace_semantics *does = row_semantics(spec, version);
        row->starts = !repair_is_v2(t->r) && does->other.to == GOTRACE_STATE_RUNNING;
        row->exits = !repair_is_v2(t->r) && does->other.from == GOTRACE_STATE_SYSCALL;
    }
}

/* Whether strings, stacks and arguments could be carried over. */
static bool carried(rebuild *t)
{
    if (t->carry.failed && !t->failed)
        fail(t, gotrace_writer_error(t->writer));
    return !t->failed;
}

/* ---- events --------------------------------------------------------------------------------- */

/* Note an event on a thread, with the thread's proc. */
static void note_thread(rebuild *t, int64_t thread, int64_t proc)
{
    uint64_t *active = note(t, &t->active, (uint64_t)thread);
    int64_t *last = proc != GOTRACE_NO_PROC ? note(t, &t->last, (uint64_t)proc) : NULL;
    if (active)
        *active = ++t->passed;
    if (last)
        *last = thread;
}

/* v2: note what the writer does not keep. before: the thread's state before the event; idle: the
 * proc that became idle, or GOTRACE_NO_PROC. */
static void note_event(rebuild *t, const gotrace_event_data *h, m_state before, int64_t idle)
{
    const gotrace_semantics *does = h->spec->semantics;
    m_state m = rebuild_thread(t, h->thread);
    if (idle != GOTRACE_NO_PROC)
        t->idle = idle;
    if (row_is_gc(h->spec)) {
        t->gc_on = does->kind != GOTRACE_KIND_RANGE_END;
        t->gc_seen = true;
    }
    if (does->self.to == GOTRACE_STATE_NOT_EXIST)
        note(t, &t->ended, before.g != 0 ? before.g : h->goroutine);
    if (h->thread != GOTRACE_NO_THREAD)
        note_thread(t, h->thread, m.has_p ? m.p : before.p);
}

/* The proc that becomes idle by an event before it is written. */
static int64_t find_idle(const rebuild *t, const gotrace_event_data *h, m_state m)
{
    const gotrace_semantics *does = h->spec->semantics;
    if (does->resource != GOTRACE_RESOURCE_PROC)
        return GOTRACE_NO_PROC;
    if (does->status) {
        bool known = rebuild_proc(t, (int64_t)h->args[0]).state != GOTRACE_STATE_UNDETERMINED;
        return !known && h->args[1] == STATUS_P_IDLE ? (int64_t)h->args[0] : GOTRACE_NO_PROC;
    }
    if (does->proc.to != GOTRACE_STATE_IDLE)
        return GOTRACE_NO_PROC;
    return h->arg_count > 0 ? (int64_t)h->args[0] : m.p;
}

static bool pass_v2(rebuild *t, const gotrace_event_data *h)
{
    /* A context that the writer does not know is taken from the event. */
    m_state before = rebuild_thread(t, h->thread);
    if (!before.has_p && h->spec->semantics->kind != GOTRACE_KIND_SAMPLE)
        before.p = h->proc;
    int64_t idle = find_idle(t, h, before);
    if (gotrace_writer_event(t->writer, h) < 0)
        return false;
    note_event(t, h, before, idle);
    return true;
}

/* The end of a system call has its time as an argument, which does not precede the events before
 * it: their times may have been raised. */
static bool pass_v1(rebuild *t, const gotrace_event_data *h)
{
    gotrace_event_data raised = *h;
    const uint64_t args[2] = {h->arg_count > 0 ? h->args[0] : 0, t->now};
    if (t->rows[h->spec->code].exits && h->arg_count == 2 && h->args[1] != 0 && h->args[1] < t->now)
        raised.args = args;
    return gotrace_writer_event(t->writer, &raised) >= 0;
}

bool rebuild_pass(rebuild *t, const gotrace_event_data *h)
{
    if (t->failed)
        return false;
    if (repair_is_v2(t->r) ? pass_v2(t, h) : pass_v1(t, h))
        return !t->failed;
    const gotrace_error *error = gotrace_writer_error(t->writer);
    if (error->class_ == GOTRACE_CLASS_SYSTEM)
        return fail(t, error);
    return false;
}

/* The reader returns up to three events for a v2 record; true for the one of the record's type. */
static bool is_record(const rebuild *t, const gotrace_event *e)
{
    return !repair_is_v2(t->r) || e->type == 0 ||
           (e->offset < t->image->count && t->image->bytes[e->offset] == e->type);
}

/* Events that a writer would accept, but that Go's reader rejects: goroutine 0 or -1, a thread with
 * two goroutines. */
static bool is_impossible(const rebuild *t, const gotrace_event_data *h)
{
    if (h->spec->semantics->kind == GOTRACE_KIND_SAMPLE || !t->rows[h->spec->code].subject)
        return false;
    if (h->args[0] == 0 || h->args[0] == UINT64_MAX)
        return true;
    if (!repair_is_v2(t->r) || !row_is_goroutine_status(h->spec) ||
        (h->args[2] != STATUS_G_RUNNING && h->args[2] != STATUS_G_IN_SYSCALL))
        return false;
    m_state m = rebuild_thread(t, (int64_t)h->args[1]);
    g_state g = rebuild_goroutine(t, h->args[0]);
    if (g.placed && (uint64_t)g.place != h->args[1])
        return true; /* it would run on two threads */
    if (h->args[2] == STATUS_G_RUNNING && (!m.has_p || h->thread != (int64_t)h->args[1]))
        return true; /* a running goroutine's status needs its own thread and a proc */
    return m.g != 0 && m.g != h->args[0];
}

static void drop(rebuild *t, const gotrace_event_data *h, bool possible)
{
    if (row_is_status(h->spec) || t->dropped++ > 0)
        return;
    if (possible)
        t->why = *gotrace_writer_error(t->writer);
    else
        fill_error(&t->why, GOTRACE_RULE_CONTEXT, GOTRACE_NO_OFFSET,
                   "%s: goroutine %" PRId64 " cannot be there", h->spec->name, (int64_t)h->args[0]);
}

/* Defer a status to the end of its generation, so that no event is delayed by it. */
static bool defer_status(rebuild *t, const gotrace_event *e, const gotrace_event_spec *spec)
{
    if (!parts_grow(t->r->memory, &t->deferred, &t->deferred_capacity, t->deferred_count + 1,
                    sizeof *t->deferred, t->r->error)) {
        t->failed = true;
        return false;
    }
    deferred_status *h = &t->deferred[t->deferred_count++];
    *h = (deferred_status){.spec = spec, .stack = carry_stack(&t->carry, e->stack)};
    h->arg_count = carry_args(&t->carry, e, spec, h->args);
    return carried(t);
}

static bool pass_deferred(rebuild *t)
{
    for (size_t i = 0; i < t->deferred_count && !t->failed; i++) {
        const deferred_status *w = &t->deferred[i];
        gotrace_event_data h = {.spec = w->spec,
                                .proc = GOTRACE_NO_PROC,
                                .thread = GOTRACE_NO_THREAD,
                                .args = w->args,
                                .arg_count = w->arg_count,
                                .stack = w->stack};
        if (row_is_goroutine_status(w->spec) &&
            rebuild_goroutine(t, w->args[0]).state != GOTRACE_STATE_UNDETERMINED)
            continue;
        rebuild_pass(t, &h);
    }
    t->deferred_count = 0;
    return !t->failed;
}

/* Pass the data of experiments, which are not events. */
static bool pass_experiments(rebuild *t, uint64_t generation)
{
    for (; t->experiments < t->layout.count; t->experiments++) {
        const repair_batch *b = &t->layout.batches[t->experiments];
        if (b->generation > generation)
            break;
        if (!b->is_experiment || b->generation < generation)
            continue;
        gotrace_event_data h = {
            .spec = gotrace_event_spec_of(t->r->version, GOTRACE_V2_ExperimentalBatch),
            .proc = GOTRACE_NO_PROC,
            .thread = b->owner == UINT64_MAX ? GOTRACE_NO_THREAD : (int64_t)b->owner,
            .args = &b->experiment,
            .arg_count = 1,
            .data = (const char *)t->image->bytes + b->body,
            .data_size = b->end - b->body};
        if (h.spec && !rebuild_pass(t, &h) && t->failed)
            return false;
    }
    return true;
}

/* The time of a generation's first batch. */
static uint64_t begin_of(rebuild *t, const gotrace_event *e, uint64_t *generation)
{
    size_t i = t->begun;
    *generation = 0;
    while (i < t->layout.count && t->layout.batches[i].offset < e->offset)
        i++;
    if (e->offset == 0 || i == t->layout.count)
        return t->now;
    uint64_t least = t->layout.batches[i].time;
    *generation = t->layout.batches[i].generation;
    for (; i < t->layout.count && t->layout.batches[i].generation == *generation; i++)
        if (t->layout.batches[i].kind != PARTS_END && t->layout.batches[i].time < least)
            least = t->layout.batches[i].time;
    t->begun = i;
    return least;
}

static bool pass_pending(rebuild *t, size_t left);

static repair_generation *generation_of(const rebuild *t, uint64_t number)
{
    const repair_generations *g = &t->r->generations;
    size_t low = 0, high = g->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (g->list[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < g->count && g->list[low].number == number ? &g->list[low] : NULL;
}

/* An empty generation gets no number of its own. Events added or dropped in a kept generation do
 * not count. */
static void begin_generation(rebuild *t, uint64_t number)
{
    repair_generation *before = t->generation;
    repair_generation *now = t->generation = generation_of(t, number);
    t->gc_seen = false;
    if (before) {
        uint64_t last = repair_gc_of(&t->layout, before->number).last;
        t->gc_last = last > t->gc_last ? last : t->gc_last;
    }
    if (before && before->kept) {
        t->added = t->counted.added;
        t->dropped = t->counted.dropped;
        t->why = t->counted.why;
    }
    t->counted = (repair_changes){.added = t->added, .dropped = t->dropped, .why = t->why};
    if (now)
        now->written = gotrace_writer_generation(t->writer);
    if (now && before && before->written == now->written)
        before->written = 0;
}

/* If the next generation is kept, reach the states in which it begins. */
static bool end_generation(rebuild *t, uint64_t next)
{
    const repair_generation *g = t->generation, *other = generation_of(t, next);
    if (!pass_pending(t, 0) || !pass_deferred(t))
        return false;
    return !g || g->kept || !other || !other->kept || rebuild_match_next(t, next);
}

static bool sync(rebuild *t, const gotrace_event *e)
{
    gotrace_clocks clocks = {carry_ticks(&t->carry, gotrace_event_details(e)->args[0]),
                             gotrace_event_details(e)->args[1], gotrace_event_details(e)->args[2],
                             gotrace_event_details(e)->args[3]};
    uint64_t generation, begin = begin_of(t, e, &generation);
    if (!end_generation(t, generation) || !rebuild_at(t, begin, t->place))
        return false;
    if (gotrace_writer_advance(t->writer, e->flags & GOTRACE_EVENT_CLOCKS ? &clocks : NULL) < 0)
        return fail(t, gotrace_writer_error(t->writer));
    begin_generation(t, generation);
    carry_forget(&t->carry);
    return pass_experiments(t, generation);
}

/* Pass an event, after the events that it requires. */
static bool pass_one(rebuild *t, gotrace_event_data *h, uint64_t ticks)
{
    if (!rebuild_at(t, ticks, repair_is_v2(t->r) ? h->thread : h->proc))
        return false;
    bool possible = !is_impossible(t, h);
    rebuild_keep_alive(t, h);
    t->first_try = true;
    if (possible && (rebuild_pass(t, h) || t->failed))
        return !t->failed;
    /* v1: the first attempt may end a range, the second change what runs. */
    int tries = repair_is_v2(t->r) ? 1 : 2;
    for (int i = 0; i < tries && possible && rebuild_prepare(t, h); i++)
        if (t->failed || rebuild_pass(t, h))
            return !t->failed;
    if (!t->failed)
        drop(t, h, possible);
    return !t->failed;
}

static int compare_entries(const void *a, const void *b)
{
    const queue_entry *x = a, *y = b;
    if (x->ticks != y->ticks)
        return x->ticks < y->ticks ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* Pending events are encoded as varints: there may be a million. The sign of an id is its lowest
 * bit, so that "none" is a small number too. */
static uint64_t rotate(int64_t id)
{
    return (uint64_t)id << 1 | (uint64_t)id >> 63;
}

static bool pack_event(rebuild *t, const gotrace_event_data *h)
{
    const uint64_t fields[] = {h->spec->code, rotate(h->proc), rotate(h->thread), h->goroutine,
                               h->stack,      h->arg_count,    h->data_size};
    bool done = true;
    for (size_t i = 0; done && i < sizeof fields / sizeof *fields; i++)
        done = repair_put_varint(t->r, &t->pending, fields[i]);
    for (size_t i = 0; done && i < h->arg_count; i++)
        done = repair_put_varint(t->r, &t->pending, h->args[i]);
    t->failed = !done || !repair_put(t->r, &t->pending, h->data, h->data_size);
    return !t->failed;
}

/* Decode the event at p into *h and args; returns where it ends. */
static const uint8_t *unpack_event(const rebuild *t, const uint8_t *p, gotrace_event_data *h,
                                   uint64_t *args)
{
    const uint8_t *end = t->pending.bytes + t->pending.count;
    uint64_t fields[7] = {0};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        parts_varint(&p, end, &fields[i]);
    *h = (gotrace_event_data){.spec = t->r->specs[fields[0]],
                              .proc = (int64_t)(fields[1] >> 1 | fields[1] << 63),
                              .thread = (int64_t)(fields[2] >> 1 | fields[2] << 63),
                              .goroutine = fields[3],
                              .stack = fields[4],
                              .args = args,
                              .arg_count = fields[5],
                              .data_size = fields[6]};
    for (size_t i = 0; i < h->arg_count; i++)
        parts_varint(&p, end, &args[i]);
    h->data = h->data_size > 0 ? (const char *)p : NULL;
    return p + h->data_size;
}

/* Move the queue's entries from `first` on, and their events, to the front. */
static bool keep_pending(rebuild *t, size_t first)
{
    parts_bytes kept = {0};
    gotrace_event_data h;
    uint64_t args[GOTRACE_MAX_ARGS];
    t->queue_count -= first;
    memmove(t->queue, t->queue + first, t->queue_count * sizeof *t->queue);
    for (size_t i = 0; i < t->queue_count && !t->failed; i++) {
        const uint8_t *from = t->pending.bytes + t->queue[i].place;
        t->queue[i].place = kept.count;
        t->failed = !repair_put(t->r, &kept, from,
                                (size_t)(unpack_event(t, from, &h, args) - from));
    }
    repair_drop(t->r, &t->pending);
    t->pending = kept;
    return !t->failed;
}

/* Pass the earliest pending events until `left` remain. */
static bool pass_pending(rebuild *t, size_t left)
{
    size_t count = t->queue_count > left ? t->queue_count - left : 0;
    gotrace_event_data h;
    uint64_t args[GOTRACE_MAX_ARGS] = {0};
    if (count == 0)
        return true;
    qsort(t->queue, t->queue_count, sizeof *t->queue, compare_entries);
    for (size_t i = 0; i < count; i++) {
        unpack_event(t, t->pending.bytes + t->queue[i].place, &h, args);
        if (!pass_one(t, &h, t->queue[i].ticks))
            return false;
    }
    return keep_pending(t, count);
}

static bool enqueue(rebuild *t, const gotrace_event_data *h, uint64_t ticks)
{
    if (t->queue_count == MAX_PENDING && !pass_pending(t, MAX_PENDING / 2))
        return false;
    if (!parts_grow(t->r->memory, &t->queue, &t->queue_capacity, t->queue_count + 1,
                    sizeof *t->queue, t->r->error)) {
        t->failed = true;
        return false;
    }
    t->queue[t->queue_count++] = (queue_entry){ticks, t->pending.count};
    return pack_event(t, h);
}

static void note_time(rebuild *t, uint64_t ticks)
{
    uint64_t early = ticks < t->latest ? t->latest - ticks : 0;
    t->early += early > 0;
    t->most_early = early > t->most_early ? early : t->most_early;
    t->latest += early == 0 ? ticks - t->latest : 0;
}

static bool pass(rebuild *t, const gotrace_event *e)
{
    const gotrace_event_spec *spec = t->r->specs[e->type];
    if (!spec)
        return true;
    if (row_is_status(spec) && e->thread == GOTRACE_NO_THREAD)
        return defer_status(t, e, spec);
    /* A writer does not follow the effects of futile wake-ups on states. */
    if (t->r->rebuilt_before && !repair_is_v2(t->r) && e->type == GOTRACE_V1_FutileWakeup) {
        if (t->dropped++ == 0)
            fill_error(&t->why, GOTRACE_RULE_CONTEXT, GOTRACE_NO_OFFSET,
                       "FutileWakeup: the wake-up before it was rewritten");
        return true;
    }
    t->events++;
    uint64_t args[GOTRACE_MAX_ARGS] = {0}, ticks = event_ticks(t, e);
    note_time(t, ticks);
    /* v1: strings are written to the proc's buffer, at the current time. */
    if (!t->sorted && !rebuild_at(t, ticks, repair_is_v2(t->r) ? e->thread : e->proc))
        return false;
    gotrace_event_data h = carry_event(&t->carry, e, spec, args);
    if (!carried(t))
        return false;
    return t->sorted ? enqueue(t, &h, ticks) : pass_one(t, &h, ticks);
}

static bool note_start(rebuild *t, uint64_t id, uint64_t ticks)
{
    uint64_t *last = note(t, &t->starts, id);
    if (last && ticks > *last)
        *last = ticks;
    return last != NULL;
}

/* TimerGoroutine gives a goroutine special permissions, so it is passed first. */
static bool pass_timer(rebuild *t, const repair_record *record)
{
    gotrace_event_data h = {.spec = record->spec, .args = record->args, .arg_count = 1};
    return rebuild_pass(t, &h) || !t->failed;
}

/* v1: collect what must be known before events are passed: timers, and each goroutine's last
 * start. */
static bool read_ahead(rebuild *t)
{
    const uint8_t *p = t->image->bytes + PARTS_HEADER, *end = t->image->bytes + t->image->count;
    size_t step = t->r->version < 7; /* index of the time delta */
    uint64_t now = 0;
    repair_record record;
    for (; repair_read_record(t->r, p, end, &record); p += record.size) {
        unsigned code = record.spec->code;
        if (code == GOTRACE_V1_Batch)
            now = record.args[record.arg_count - 1];
        else if (record.spec->flags & GOTRACE_SPEC_TIMED)
            now += record.args[step];
        bool done = true;
        if (t->rows[code].starts)
            done = note_start(t, record.args[step + 1], now);
        else if (code == GOTRACE_V1_TimerGoroutine)
            done = pass_timer(t, &record);
        if (!done)
            return false;
        repair_release(t->r, record.size);
    }
    return true;
}

static gotrace_status next_event(rebuild *t, const gotrace_event **e)
{
    gotrace_status status = gotrace_reader_next(t->reader, e);
    t->carry.frequency = gotrace_reader_summary(t->reader)->frequency;
    if (status == GOTRACE_ERROR)
        fail(t, gotrace_reader_error(t->reader));
    return status;
}

static bool pass_all(rebuild *t)
{
    const gotrace_event *e;
    gotrace_writer_options options = {.generation_ticks = UINT64_MAX, .equal_ticks = true};
    gotrace_status status = next_event(t, &e);
    options.frequency = t->carry.frequency;
    if (status < 0)
        return false;
    if (gotrace_writer_new(t->r->version, &options, write_bytes, t, t->r->job->config, &t->writer,
                           t->r->error) < 0)
        return false;
    t->carry.reader = t->reader;
    t->carry.writer = t->writer;
    if (!repair_is_v2(t->r) && !read_ahead(t))
        return false;
    for (; status == GOTRACE_EVENT; status = next_event(t, &e)) {
        bool done = repair_is_v2(t->r) && e->type == 0 ? sync(t, e)
                                                       : !is_record(t, e) || pass(t, e);
        if (!done)
            return false;
    }
    if (status != GOTRACE_END || !pass_pending(t, 0) || !pass_deferred(t))
        return false;
    return gotrace_writer_finish(t->writer) >= 0 || fail(t, gotrace_writer_error(t->writer));
}

bool repair_rebuild(repair *r, const parts_bytes *image, bool sorted, parts_bytes *written,
                    repair_rebuilt *result)
{
    rebuild *t = calloc(1, sizeof *t);
    verdict_listener listener = {.v = &result->image};
    gotrace_config config = verdict_config(r->job->config, &listener);
    if (!t) {
        fill_error(r->error, GOTRACE_RULE_SYSTEM_MEMORY, GOTRACE_NO_OFFSET, "out of memory");
        return false;
    }
    if (repair_is_v2(r)) {
        config.on_problem = NULL;
        config.every_problem = false;
    }
    t->r = r;
    t->image = image;
    t->sorted = sorted;
    t->written = written;
    init_rows(t);
    idmap_init(&t->ended, sizeof(bool));
    idmap_init(&t->last, sizeof(int64_t));
    idmap_init(&t->active, sizeof(uint64_t));
    idmap_init(&t->starts, sizeof(uint64_t));
    bool done = (!repair_is_v2(r) || repair_lay_out(r, image, &t->layout)) &&
                repair_source(r, image->bytes, image->count, &config, &t->source) >= 0 &&
                gotrace_reader_open(t->source, &config, &t->reader, r->error) >= 0 && pass_all(t);
    done = done && repair_complete(r, written);
    /* note() does not set the error. */
    if (!done && r->error->rule == GOTRACE_RULE_NONE)
        fill_error(r->error, GOTRACE_RULE_SYSTEM_MEMORY, GOTRACE_NO_OFFSET, "out of memory");
    if (t->reader) {
        result->image.events = gotrace_reader_summary(t->reader)->events;
        result->image.timed_records = gotrace_reader_summary(t->reader)->timed_records;
    }
    gotrace_writer_free(t->writer);
    gotrace_reader_close(t->reader);
    gotrace_source_close(t->source);
    idmap_free(&t->ended);
    idmap_free(&t->last);
    idmap_free(&t->active);
    idmap_free(&t->starts);
    carry_free(&t->carry);
    parts_drop(r->memory, t->layout.batches, t->layout.capacity, sizeof *t->layout.batches);
    parts_drop(r->memory, t->deferred, t->deferred_capacity, sizeof *t->deferred);
    repair_drop(r, &t->pending);
    parts_drop(r->memory, t->queue, t->queue_capacity, sizeof *t->queue);
    result->changes = (repair_changes){.events = t->events,
                                       .added = t->added,
                                       .dropped = t->dropped,
                                       .why = t->why,
                                       .early = sorted ? 0 : t->early,
                                       .most_early = t->most_early};
    free(t);
    return done;
}
