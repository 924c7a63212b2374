/* rebuild.c - the events of a trace that breaks rules, passed to a writer. */
#include "cmd/repair/rebuild.h"
#include "cmd/semantics.h"

#include <inttypes.h>
#include <stdlib.h>

enum { SECOND = 1000000000 };

static bool fail(rebuild *t, const gotrace_error *error)
{
    *t->r->error = *error;
    t->failed = true;
    return false;
}

static bool write_bytes(void *ctx, const void *bytes, size_t size)
{
    rebuild *t = ctx;
    return repair_put(t->r, t->written, bytes, size);
}

/* The status of a goroutine that no thread reports. */
typedef struct held {
    const gotrace_event_spec *spec;
    uint64_t args[GOTRACE_MAX_ARGS];
    size_t arg_count;
    uint64_t stack;
} held;

/* An event that waits until it is its time. */
typedef struct waiting {
    gotrace_event_data h; /* args is set when it is passed */
    uint64_t args[GOTRACE_MAX_ARGS];
    char *message; /* owned */
} waiting;

/* When that is, and where it waits. */
typedef struct turn {
    uint64_t ticks, number;
    size_t place;
} turn;

enum { MOST_WAITING = 1 << 20 };

/* ---- times, strings and stacks -------------------------------------------------------------- */

/* v2's times are nanoseconds. */
static uint64_t ticks_of(const rebuild *t, uint64_t ticks)
{
    __extension__ typedef unsigned __int128 wide;
    return repair_is_v2(t->r) ? (uint64_t)((wide)ticks * t->frequency / SECOND) : ticks;
}

/* The batch that holds that place, or NULL. */
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

/* When an event of v2 happened as its record says: the reader moves those on that it had to let
 * wait. A batch's events come one after another, so that each is looked at once: in late is how far
 * that came, in last the time. */
static uint64_t recorded_ticks(rebuild *t, const gotrace_event *e)
{
    bool sampled = e->type == GOTRACE_V2_CPUSample;
    repair_batch *b = repair_is_v2(t->r) && !sampled ? batch_of(t, e->offset) : NULL;
    repair_record record;
    if (!b)
        return ticks_of(t, e->ticks);
    if (b->late == 0 || b->late > e->offset) {
        b->late = b->body;
        b->last = b->time;
    }
    const uint8_t *bytes = t->image->bytes;
    while (b->late <= e->offset &&
           repair_record_at(t->r->version, bytes + b->late, bytes + b->end, &record)) {
        b->last += record.args[0];
        if (b->late == e->offset)
            break;
        b->late += record.size;
    }
    uint64_t ticks = b->last;
    if (b->late == e->offset)
        b->last -= record.args[0]; /* it is looked at again */
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

static uint64_t string_of(rebuild *t, int64_t proc, uint64_t id)
{
    size_t size = 0;
    const char *bytes = gotrace_reader_string(t->reader, id, &size);
    uint64_t made = 0;
    if (gotrace_writer_string(t->writer, proc, bytes, bytes ? size : 0, &made) < 0)
        fail(t, gotrace_writer_error(t->writer));
    return made;
}

static uint64_t stack_of(rebuild *t, uint64_t id)
{
    uint64_t made = 0;
    size_t count = gotrace_reader_stack(t->reader, id, t->frames, MOST_FRAMES);
    if (gotrace_writer_stack(t->writer, t->frames, count, &made) < 0)
        fail(t, gotrace_writer_error(t->writer));
    return made;
}

/* The arguments as a writer wants them. */
static size_t args_of(rebuild *t, const gotrace_event *e, const gotrace_event_spec *spec,
                      uint64_t *values)
{
    const gotrace_arg_spec *all[GOTRACE_MAX_ARGS];
    int version = t->r->version;
    size_t count = gotrace_event_args(spec, version, all), n = 0, k = 0;
    if (repair_is_v2(t->r) && spec->code == GOTRACE_V2_CPUSample) {
        values[0] = ticks_of(t, e->ticks);
        memcpy(values + 1, e->args, 3 * sizeof *values);
        return 4;
    }
    if (spec->flags & GOTRACE_SPEC_STACK)
        count--;
    for (size_t i = 0; i < count && k < 4; i++) {
        unsigned kind = all[i]->kind;
        if (kind == GOTRACE_ARG_DSEQ || kind == GOTRACE_ARG_DT)
            continue;
        uint64_t v = e->args[k++];
        if (kind == GOTRACE_ARG_SEQ)
            continue;
        if (kind == GOTRACE_ARG_STRING)
            v = string_of(t, e->proc, v);
        else if (kind == GOTRACE_ARG_STACK || (kind == GOTRACE_ARG_START && version >= 7))
            v = stack_of(t, v);
        values[n++] = v;
    }
    return n;
}

/* ---- events --------------------------------------------------------------------------------- */

/* The value of an id in one of the maps; NULL, and t has failed, if memory is refused. */
static void *note(rebuild *t, idmap *map, uint64_t id)
{
    void *value = idmap_insert(map, id);
    t->failed = t->failed || !value;
    return value;
}

/* The thread did something, with that proc. */
static void note_thread(rebuild *t, int64_t thread, int64_t proc)
{
    uint64_t *active = note(t, &t->active, (uint64_t)thread);
    int64_t *last = proc != GOTRACE_NO_PROC ? note(t, &t->last, (uint64_t)proc) : NULL;
    if (active)
        *active = ++t->passed;
    if (last)
        *last = thread;
}

/* v2: what the writer does not keep of an event that it took. before: what the thread had then;
 * idle: the proc that is idle since, if one is. */
static void note_event(rebuild *t, const gotrace_event_data *h, m_life before, int64_t idle)
{
    const gotrace_semantics *does = &h->spec->semantics;
    m_life m = rebuild_thread(t, h->thread);
    if (idle != GOTRACE_NO_PROC)
        t->idle = idle;
    if (is_gc(h->spec)) {
        t->gc_on = does->kind != GOTRACE_KIND_RANGE_END;
        t->gc_seen = true;
    }
    if (does->self.to == GOTRACE_STATE_NOT_EXIST)
        note(t, &t->ended, before.g != 0 ? before.g : h->goroutine);
    if (h->thread != GOTRACE_NO_THREAD)
        note_thread(t, h->thread, m.has_p ? m.p : before.p);
}

/* The proc that becomes idle by an event that is not written yet. */
static int64_t find_idle(const rebuild *t, const gotrace_event_data *h, m_life m)
{
    const gotrace_semantics *does = &h->spec->semantics;
    if (does->resource != GOTRACE_RESOURCE_PROC)
        return GOTRACE_NO_PROC;
    if (does->status) {
        bool known = rebuild_proc(t, (int64_t)h->args[0]).state != GOTRACE_STATE_UNDETERMINED;
        return !known && h->args[1] == P_IDLE ? (int64_t)h->args[0] : GOTRACE_NO_PROC;
    }
    if (does->proc.to != GOTRACE_STATE_IDLE)
        return GOTRACE_NO_PROC;
    return h->arg_count > 0 ? (int64_t)h->args[0] : m.p;
}

bool rebuild_pass(rebuild *t, const gotrace_event_data *h)
{
    if (t->failed)
        return false;
    /* What was not known of the context is as the event says. */
    bool v2 = repair_is_v2(t->r);
    m_life before = rebuild_thread(t, h->thread);
    if (!before.has_p && h->spec->semantics.kind != GOTRACE_KIND_SAMPLE)
        before.p = h->proc;
    int64_t idle = v2 ? find_idle(t, h, before) : GOTRACE_NO_PROC;
    if (gotrace_writer_event(t->writer, h) >= 0) {
        if (v2)
            note_event(t, h, before, idle);
        return !t->failed;
    }
    const gotrace_error *error = gotrace_writer_error(t->writer);
    if (error->class_ == GOTRACE_CLASS_SYSTEM)
        return fail(t, error);
    return false;
}

/* Of up to three events that one record of v2 stands for, the one that is the record. */
static bool is_record(const rebuild *t, const gotrace_event *e)
{
    return !repair_is_v2(t->r) || e->type == 0 ||
           (e->offset < t->image->count && t->image->bytes[e->offset] == e->type);
}

/* A goroutine of no number (or of -1, which is none for Go's reader), and a thread with two of
 * them, no writer takes for what it is. */
static bool cannot_be(const rebuild *t, const gotrace_event_data *h)
{
    const gotrace_arg_spec *args[GOTRACE_MAX_ARGS];
    bool v2 = repair_is_v2(t->r);
    size_t count = gotrace_writer_args(h->spec, t->r->version, args);
    if (h->spec->semantics.kind == GOTRACE_KIND_SAMPLE || count == 0)
        return false;
    if (args[0]->kind == GOTRACE_ARG_GOROUTINE && (h->args[0] == 0 || h->args[0] == UINT64_MAX))
        return true;
    if (!v2 || !is_goroutine_status(h->spec) ||
        (h->args[2] != G_RUNNING && h->args[2] != G_IN_SYSCALL))
        return false;
    m_life m = rebuild_thread(t, (int64_t)h->args[1]);
    g_life g = rebuild_goroutine(t, h->args[0]);
    if (g.placed && (uint64_t)g.place != h->args[1])
        return true; /* it would be in two places */
    if (h->args[2] == G_RUNNING && (!m.has_p || h->thread != (int64_t)h->args[1]))
        return true; /* the context of what it does says so */
    return m.g != 0 && m.g != h->args[0];
}

static void drop(rebuild *t, const gotrace_event_spec *spec)
{
    if (is_status(spec))
        return;
    if (t->dropped++ == 0)
        t->why = *gotrace_writer_error(t->writer);
}

/* What was silent in a generation is reported at its end, at a time that nothing else is to wait
 * for.
 */
static bool hold(rebuild *t, const gotrace_event *e, const gotrace_event_spec *spec)
{
    if (!parts_grow(t->r->memory, &t->held, &t->held_capacity, t->held_count + 1, sizeof *t->held,
                    t->r->error)) {
        t->failed = true;
        return false;
    }
    held *h = &t->held[t->held_count++];
    *h = (held){.spec = spec, .stack = stack_of(t, e->stack)};
    h->arg_count = args_of(t, e, spec, h->args);
    return !t->failed;
}

static bool pass_held(rebuild *t)
{
    for (size_t i = 0; i < t->held_count && !t->failed; i++) {
        const held *w = &t->held[i];
        gotrace_event_data h = {.spec = w->spec,
                                .proc = GOTRACE_NO_PROC,
                                .thread = GOTRACE_NO_THREAD,
                                .args = w->args,
                                .arg_count = w->arg_count,
                                .stack = w->stack};
        if (is_goroutine_status(w->spec) &&
            rebuild_goroutine(t, w->args[0]).state != GOTRACE_STATE_UNDETERMINED)
            continue;
        rebuild_pass(t, &h);
    }
    t->held_count = 0;
    return !t->failed;
}

/* The data of experiments, which are no events. */
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

/* When a generation begins: with its first batch. */
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

static bool pass_waiting(rebuild *t, size_t left);

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

/* Its number is that of the one before, if nothing happened in that. What is written of one that is
 * kept comes to nothing. */
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
    t->counted = (repair_rebuilt){0, t->added, t->dropped, t->why};
    if (now)
        now->written = gotrace_writer_generation(t->writer);
    if (now && before && before->written == now->written)
        before->written = 0;
}

/* A generation ends: if the next one is kept, things are to stand as it has them. */
static bool end_generation(rebuild *t, uint64_t next)
{
    const repair_generation *g = t->generation, *other = generation_of(t, next);
    if (!pass_waiting(t, 0) || !pass_held(t))
        return false;
    return !g || g->kept || !other || !other->kept || rebuild_border(t, next);
}

static bool sync(rebuild *t, const gotrace_event *e)
{
    gotrace_clocks clocks = {ticks_of(t, e->args[0]), e->args[1], e->args[2], e->args[3]};
    uint64_t generation, begin = begin_of(t, e, &generation);
    if (!end_generation(t, generation) || !rebuild_at(t, begin, t->place))
        return false;
    if (gotrace_writer_advance(t->writer, e->flags & GOTRACE_EVENT_CLOCKS ? &clocks : NULL) < 0)
        return fail(t, gotrace_writer_error(t->writer));
    begin_generation(t, generation);
    return pass_experiments(t, generation);
}

/* Tell it, and what makes it possible. */
static bool pass_one(rebuild *t, gotrace_event_data *h, uint64_t ticks)
{
    if (!rebuild_at(t, ticks, repair_is_v2(t->r) ? h->thread : h->proc))
        return false;
    bool possible = !cannot_be(t, h);
    rebuild_outlive(t, h);
    t->first_try = true;
    if (possible && (rebuild_pass(t, h) || t->failed))
        return !t->failed;
    /* v1: something that lasts may stand in its way, and then who runs. */
    int tries = repair_is_v2(t->r) ? 1 : 2;
    for (int i = 0; i < tries && possible && rebuild_prepare(t, h); i++)
        if (t->failed || rebuild_pass(t, h))
            return !t->failed;
    if (!t->failed)
        drop(t, h->spec);
    return !t->failed;
}

static int compare_turns(const void *a, const void *b)
{
    const turn *x = a, *y = b;
    if (x->ticks != y->ticks)
        return x->ticks < y->ticks ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Tell the earliest of those that wait, and leave so many. Their places are then the last turns'.
 */
static bool pass_waiting(rebuild *t, size_t left)
{
    size_t count = t->turn_count > left ? t->turn_count - left : 0;
    if (count == 0)
        return true;
    qsort(t->turns, t->turn_count, sizeof *t->turns, compare_turns);
    for (size_t i = 0; i < count; i++) {
        waiting *w = &t->waiting[t->turns[i].place];
        w->h.args = w->args;
        if (!pass_one(t, &w->h, t->turns[i].ticks))
            return false;
        free(w->message);
        w->message = NULL;
    }
    /* Behind the turns that are left stand the places that are free. */
    for (size_t i = 0; i < left; i++) {
        turn passed = t->turns[i];
        t->turns[i] = t->turns[count + i];
        t->turns[count + i] = passed;
    }
    t->turn_count = left;
    return true;
}

/* Room for one more. Each place is that of one turn, waiting or not. */
static waiting *next_place(rebuild *t, uint64_t ticks)
{
    if (t->turn_count == t->place_count) {
        gotrace_error *error = t->r->error;
        if (!parts_grow(t->r->memory, &t->waiting, &t->waiting_capacity, t->place_count + 1,
                        sizeof *t->waiting, error) ||
            !parts_grow(t->r->memory, &t->turns, &t->turn_capacity, t->place_count + 1,
                        sizeof *t->turns, error)) {
            t->failed = true;
            return NULL;
        }
        t->waiting[t->place_count].message = NULL;
        t->turns[t->place_count].place = t->place_count;
        t->place_count++;
    }
    turn *next = &t->turns[t->turn_count++];
    next->ticks = ticks;
    next->number = t->numbered++;
    return &t->waiting[next->place];
}

static bool let_wait(rebuild *t, const gotrace_event_data *h, uint64_t ticks)
{
    if (t->turn_count == MOST_WAITING && !pass_waiting(t, MOST_WAITING / 2))
        return false;
    waiting *w = next_place(t, ticks);
    if (!w)
        return false;
    *w = (waiting){.h = *h};
    memcpy(w->args, h->args, sizeof w->args);
    w->h.data = NULL;
    if (h->data_size == 0)
        return true;
    /* A message of v1 lives no longer than its event. */
    char *copy = malloc(h->data_size);
    if (!copy) {
        fill_error(t->r->error, GOTRACE_RULE_SYSTEM_MEMORY, GOTRACE_NO_OFFSET, "out of memory");
        t->failed = true;
        return false;
    }
    w->h.data = memcpy(copy, h->data, h->data_size);
    w->message = copy;
    return true;
}

static bool pass(rebuild *t, const gotrace_event *e)
{
    const gotrace_event_spec *spec = gotrace_event_spec_of(t->r->version, e->type);
    if (!spec)
        return true;
    if (is_status(spec) && e->thread == GOTRACE_NO_THREAD)
        return hold(t, e, spec);
    /* What futile wake-ups change to states is more than a writer looks at. */
    if (t->r->again && !repair_is_v2(t->r) && e->type == GOTRACE_V1_FutileWakeup) {
        t->dropped++;
        return true;
    }
    t->events++;
    uint64_t args[GOTRACE_MAX_ARGS] = {0}, ticks = recorded_ticks(t, e);
    bool data = (spec->flags & GOTRACE_SPEC_DATA) != 0;
    /* Strings of v1 stand in the proc's buffer, and take its time. */
    if (!t->sorted && !rebuild_at(t, ticks, repair_is_v2(t->r) ? e->thread : e->proc))
        return false;
    gotrace_event_data h = {.spec = spec,
                            .proc = e->flags & GOTRACE_EVENT_MOVED ? GOTRACE_NO_PROC : e->proc,
                            .thread = e->thread,
                            .goroutine = e->goroutine,
                            .args = args,
                            .stack = stack_of(t, e->stack),
                            .data = data ? e->message : NULL,
                            .data_size = data ? e->message_size : 0};
    h.arg_count = args_of(t, e, spec, args);
    if (t->failed)
        return false;
    return t->sorted ? let_wait(t, &h, ticks) : pass_one(t, &h, ticks);
}

/* v1: note when goroutines start for the last time, before any event is passed. */
static bool note_starts(rebuild *t)
{
    const uint8_t *p = t->image->bytes + PARTS_HEADER, *end = t->image->bytes + t->image->count;
    size_t step = t->r->version < 7; /* where the difference of times stands */
    uint64_t now = 0;
    repair_record record;
    for (; !repair_is_v2(t->r) && repair_record_at(t->r->version, p, end, &record);
         p += record.size) {
        unsigned code = record.spec->code;
        if (code == GOTRACE_V1_Batch)
            now = record.args[record.arg_count - 1];
        else if (record.spec->flags & GOTRACE_SPEC_TIMED)
            now += record.args[step];
        if (semantics_of(t->r->version, record.spec)->other.to != GOTRACE_STATE_RUNNING)
            continue;
        uint64_t *last = idmap_insert(&t->starts, record.args[step + 1]);
        if (!last) {
            fill_error(t->r->error, GOTRACE_RULE_SYSTEM_MEMORY, GOTRACE_NO_OFFSET, "out of memory");
            return false;
        }
        *last = now > *last ? now : *last;
    }
    return true;
}

/* v1: goroutines that run timers may do more than others. */
static bool pass_timers(rebuild *t)
{
    const uint8_t *p = t->image->bytes + PARTS_HEADER, *end = t->image->bytes + t->image->count;
    repair_record record;
    if (repair_is_v2(t->r))
        return true;
    for (; repair_record_at(t->r->version, p, end, &record); p += record.size) {
        if (record.spec->code != GOTRACE_V1_TimerGoroutine)
            continue;
        gotrace_event_data h = {.spec = record.spec, .args = record.args, .arg_count = 1};
        if (!rebuild_pass(t, &h) && t->failed)
            return false;
    }
    return true;
}

static gotrace_status next_event(rebuild *t, gotrace_event *e)
{
    gotrace_status status = gotrace_reader_next(t->reader, e);
    t->frequency = gotrace_reader_summary(t->reader)->frequency;
    if (status == GOTRACE_ERROR)
        fail(t, gotrace_reader_error(t->reader));
    return status;
}

static bool pass_all(rebuild *t)
{
    gotrace_event e;
    gotrace_writer_options options = {.generation_ticks = UINT64_MAX, .equal_ticks = true};
    gotrace_status status = next_event(t, &e);
    options.frequency = t->frequency;
    if (status < 0)
        return false;
    if (gotrace_writer_new(t->r->version, &options, write_bytes, t, t->r->job->config, &t->writer,
                           t->r->error) < 0)
        return false;
    if (!pass_timers(t) || !note_starts(t))
        return false;
    for (; status == GOTRACE_EVENT; status = next_event(t, &e)) {
        bool done = repair_is_v2(t->r) && e.type == 0 ? sync(t, &e)
                                                      : !is_record(t, &e) || pass(t, &e);
        if (!done)
            return false;
    }
    if (status != GOTRACE_END || !pass_waiting(t, 0) || !pass_held(t))
        return false;
    return gotrace_writer_finish(t->writer) >= 0 || fail(t, gotrace_writer_error(t->writer));
}

bool repair_rebuild(repair *r, const parts_bytes *image, bool sorted, parts_bytes *written,
                    repair_rebuilt *result)
{
    rebuild *t = calloc(1, sizeof *t);
    gotrace_config config = {.allocator = r->job->config->allocator,
                             .limits = r->job->config->limits,
                             .spool_dir = r->job->config->spool_dir};
    if (!t) {
        fill_error(r->error, GOTRACE_RULE_SYSTEM_MEMORY, GOTRACE_NO_OFFSET, "out of memory");
        return false;
    }
    t->r = r;
    t->image = image;
    t->sorted = sorted;
    t->written = written;
    idmap_init(&t->ended, sizeof(bool));
    idmap_init(&t->last, sizeof(int64_t));
    idmap_init(&t->active, sizeof(uint64_t));
    idmap_init(&t->starts, sizeof(uint64_t));
    bool done = (!repair_is_v2(r) || repair_lay_out(r, image, &t->layout)) &&
                gotrace_source_memory(image->bytes, image->count, &config, &t->source, r->error) >=
                    0 &&
                gotrace_reader_open(t->source, &config, &t->reader, r->error) >= 0 && pass_all(t);
    /* Where it could not be noted where something is, nobody said so yet. */
    if (!done && r->error->rule == GOTRACE_RULE_NONE)
        fill_error(r->error, GOTRACE_RULE_SYSTEM_MEMORY, GOTRACE_NO_OFFSET, "out of memory");
    gotrace_writer_free(t->writer);
    gotrace_reader_close(t->reader);
    gotrace_source_close(t->source);
    idmap_free(&t->ended);
    idmap_free(&t->last);
    idmap_free(&t->active);
    idmap_free(&t->starts);
    parts_drop(r->memory, t->layout.batches, t->layout.capacity, sizeof *t->layout.batches);
    parts_drop(r->memory, t->held, t->held_capacity, sizeof *t->held);
    for (size_t i = 0; i < t->place_count; i++)
        free(t->waiting[i].message);
    parts_drop(r->memory, t->waiting, t->waiting_capacity, sizeof *t->waiting);
    parts_drop(r->memory, t->turns, t->turn_capacity, sizeof *t->turns);
    *result = (repair_rebuilt){t->events, t->added, t->dropped, t->why};
    free(t);
    return done;
}
