#include "read/v1/ahead.h"

#include "read/user.h"
#include "read/v1/reading.h"

/* The check of a piece by another thread. */
typedef struct job {
    gt_job job;
    const gotrace_reader *of;
    int64_t before, until; /* the last times of the piece before and of this one */
    gt_cursor_place
        *places;     /* of the procs' cursors at the begin, then at the end; in job.reader */
    uint32_t runs[]; /* of each proc: a run before the piece, or the first one */
} job;

/* ---- pieces ---------------------------------------------------------------------------------- */

/* At the begin of each piece some batches are decoded twice: it should have many of each proc. */
static uint64_t size_of_piece(const gotrace_reader *reader)
{
    enum { WINDOWS = 16, LEAST = 64 };
    uint64_t windows = WINDOWS * (uint64_t)reader->index.proc_count;
    return gt_window(reader) * (windows < LEAST ? LEAST : windows);
}

static bool add_end(gotrace_reader *reader, int64_t end)
{
    gt_pieces *p = reader->pieces;
    void *ends = p->ends;
    if (!gt_grow(&reader->heap, &ends, &p->capacity, p->count + 1, sizeof *p->ends))
        return gt_fail_memory(reader);
    p->ends = ends;
    p->ends[p->count++] = end;
    return true;
}

/* Finds the run before the one in which a piece begins, after `before`; starts at one that is not
 * later. Its last events determine which goroutine runs. The first time of a run that begins with a
 * string is unknown. */
static uint32_t find_run(const gt_index *index, uint32_t run, int64_t before)
{
    uint32_t found = run, last = run;
    for (; run != GT_NONE; last = run, run = index->runs[run].next) {
        int64_t first = index->runs[run].first;
        if (first != INT64_MAX && first > before)
            break;
        if (first != INT64_MAX)
            found = last;
    }
    return found;
}

/* The bytes that are decoded from there to the begin of the piece, at most. */
static uint64_t count_ahead(const gt_index *index, uint32_t run, int64_t before)
{
    uint64_t bytes = 0;
    for (; run != GT_NONE; run = index->runs[run].next) {
        int64_t first = index->runs[run].first;
        if (first != INT64_MAX && first > before)
            break;
        bytes += index->runs[run].end - index->runs[run].offset;
    }
    return bytes;
}

/* Goes to the end of a piece. Returns the bytes that are decoded from there to the begin of the
 * next one, and adds to *passed those that are before. */
static uint64_t go_to_end(const gotrace_reader *reader, int64_t end, uint64_t *passed)
{
    const gt_index *index = &reader->index;
    uint32_t *runs = reader->pieces->runs;
    uint64_t ahead = 0;
    for (size_t i = 0; i < index->proc_count; i++) {
        uint32_t found = find_run(index, runs[i], end);
        for (uint32_t run = runs[i]; run != found; run = index->runs[run].next)
            *passed += index->runs[run].end - index->runs[run].offset;
        runs[i] = found;
        ahead += count_ahead(index, found, end);
    }
    return ahead;
}

static void go_to_start(const gotrace_reader *reader)
{
    for (size_t i = 0; i < reader->index.proc_count; i++)
        reader->pieces->runs[i] = reader->index.procs[i].first_run;
}

static bool alloc_pieces(gotrace_reader *reader)
{
    gt_pieces *p = reader->pieces = gt_calloc(&reader->heap, 1, sizeof *p);
    if (p)
        p->runs = gt_calloc(&reader->heap, reader->index.proc_count, sizeof *p->runs);
    return (p && p->runs) || gt_fail_memory(reader);
}

/* A piece ends where a batch begins, after as many bytes in the file. The procs' batches are in the
 * file about in order of time. If they are long, so are the pieces. */
bool gt_pieces_find(gotrace_reader *reader)
{
    enum { MOST_AHEAD = 4 }; /* at most this part of a piece is decoded twice */
    const gt_index *index = &reader->index;
    uint64_t bytes = 0, size = size_of_piece(reader), least = size, passed = 0, before = 0;
    bool by_time = reader->summary.version >= GT_FIRST_NUMBERED, /* not by sequence number */
        futile = reader->summary.type_records[GOTRACE_V1_FutileWakeup];
    if (reader->v2 || !by_time || futile || index->run_count == 0 || reader->summary.size < size)
        return true;
    if (!alloc_pieces(reader))
        return false;
    go_to_start(reader);
    int64_t last = INT64_MIN;
    for (size_t i = 0; i < index->run_count; i++) {
        int64_t first = index->runs[i].first;
        if (bytes >= least && first != INT64_MAX && first > last) {
            uint64_t ahead = go_to_end(reader, first - 1, &passed);
            uint64_t piece = passed + ahead -
                             before; /* its bytes, which may be later in the file */
            least = bytes + size;
            if (piece > 0 && ahead <= piece / MOST_AHEAD) {
                if (!add_end(reader, first - 1))
                    return false;
                last = first;
                before += piece;
                bytes = 0;
                least = size;
            }
        }
        bytes += index->runs[i].end - index->runs[i].offset;
    }
    return add_end(reader, INT64_MAX);
}

int64_t gt_pieces_first_end(const gotrace_reader *reader)
{
    return reader->pieces ? reader->pieces->ends[0] : INT64_MAX;
}

/* ---- checking a piece, on another thread --------------------------------------------------- */

static bool stop_at_problem(void *ctx, const gotrace_error *problem)
{
    (void)ctx, (void)problem;
    return false;
}

static bool begin_piece(const gotrace_reader *reader, gt_job *number)
{
    job *j = (job *)number;
    gt_pieces *p = reader->pieces;
    j->of = reader;
    j->before = p->ends[number->number - 1];
    j->until = p->ends[number->number];
    for (size_t i = 0; i < p->index.proc_count; i++)
        j->runs[i] = p->runs[i] = find_run(&p->index, p->runs[i], j->before);
    return true;
}

/* Opens a reader that has the index of the trace and no state. */
static bool open_alone(gt_ahead *a, job *j)
{
    if (!gt_ahead_open(a, &j->job, stop_at_problem))
        return false;
    const gt_pieces *p = j->of->pieces;
    gotrace_reader *reader = j->job.reader;
    gt_index *index = &reader->index;
    *index = p->index;
    gt_spill_init(&index->exits, &reader->heap, &reader->config);
    gt_spill_init(&index->samples, &reader->heap, &reader->config);
    reader->summary.unread_bytes = j->of->summary.unread_bytes;
    reader->ns_per_tick = j->of->ns_per_tick;
    reader->last_ticks = INT64_MIN;
    gt_goroutines *goroutines = gt_begin_piece(reader);
    if (!gt_spill_fork(&index->exits, &p->index.exits, &reader->heap, &reader->error) ||
        !gt_spill_fork(&index->samples, &p->index.samples, &reader->heap, &reader->error) ||
        !(reader->order = gt_order_alloc(reader, goroutines)) ||
        !(reader->states = gt_states_new(reader, goroutines)) ||
        !(j->places = gt_calloc(&reader->heap, 2 * index->proc_count, sizeof *j->places)))
        return false;
    gt_states_assume(reader->states, &j->job.assumed);
    reader->order->assumed = &j->job.assumed;
    reader->order->first_ticks = p->first_ticks;
    return true;
}

static void close_piece(gt_job *of)
{
    job *j = (job *)of;
    gt_index *index = &of->reader->index;
    gt_order_free(of->reader, of->reader->order);
    of->reader->order = NULL;
    gt_free(&of->reader->heap, j->places, 2 * index->proc_count * sizeof *j->places);
    gt_spill_free(&index->exits);
    gt_spill_free(&index->samples);
    *index = (gt_index){0};
    j->places = NULL;
}

static void save_places(const gotrace_reader *reader, gt_cursor_place *places)
{
    for (size_t i = 0; i < reader->index.proc_count; i++)
        places[i] = gt_cursor_save(&reader->order->cursors[i]);
}

/* Moves the cursors to the begin of the piece. Problems before it are not reported. */
static bool go_to_piece(gotrace_reader *reader, const job *j)
{
    gt_order *o = reader->order;
    reader->quiet = true;
    for (uint32_t i = 0; i < o->sorted; i++) {
        o->cursors[i].until = j->before;
        if (j->runs[i] != GT_NONE && (!gt_cursor_open(reader, &o->cursors[i], i, j->runs[i],
                                                      gt_order_buffers(reader, o, i)) ||
                                      !gt_cursor_skip(reader, &o->cursors[i])))
            return false;
    }
    reader->quiet = false;
    save_places(reader, j->places);
    o->heap.until = j->before;
    return gt_order_seek(reader, o, j->before + 1);
}

static void check_piece(gt_ahead *a, gt_job *of)
{
    job *j = (job *)of;
    if (!open_alone(a, j) || !go_to_piece(of->reader, j))
        return;
    gt_order_continue(of->reader->order, j->until);
    of->sound = gt_check_events(of->reader) && gt_order_is_clean(of->reader->order) &&
                !of->assumed.void_;
    save_places(of->reader, &j->places[of->reader->index.proc_count]);
    gt_order_close(of->reader, of->reader->order);
}

/* ---- comparing the assumptions with the state ---------------------------------------------- */

static gt_goroutine goroutine_of(const gt_goroutines *table, uint64_t id)
{
    const gt_goroutine *g = gt_goroutine_find(table, id);
    return g ? *g : gt_goroutine_initial(table, id);
}

static bool has_region(const gotrace_reader *reader, const gt_goroutine *g, const gt_assumption *x)
{
    return x->depth >= g->region_count
               ? !g->complete
               : gt_region_fits(reader, &g->regions[g->region_count - 1 - x->depth], x->value,
                                x->name);
}

static bool goroutine_holds(const gotrace_reader *reader, const gt_assumption *x)
{
    gt_goroutine g = goroutine_of(reader->order->goroutines, x->id);
    switch ((gt_assumption_kind)x->kind) {
    case GT_ASSUME_STATUS: return g.status == x->value;
    case GT_ASSUME_SEQ: return g.seq == x->value;
    case GT_ASSUME_BLOCKED: return g.blocked != 0 && (int64_t)x->value >= g.blocked;
    case GT_ASSUME_STATE: return g.state == x->value;
    case GT_ASSUME_ASSIST: return g.assisting == x->value;
    case GT_ASSUME_REGION: return has_region(reader, &g, x);
    default: return false; /* see holds */
    }
}

static bool holds(const gotrace_reader *reader, const gt_assumption *x)
{
    const gt_states *s = reader->states;
    switch ((gt_assumption_kind)x->kind) {
    case GT_ASSUME_SWEEP: return s->procs[x->id].sweeping == x->value;
    case GT_ASSUME_PROC_RUNS: return s->procs[x->id].is_running == x->value;
    case GT_ASSUME_ON_PROC: return s->procs[x->id].goroutine == x->value;
    case GT_ASSUME_PROC_STOPS: return s->procs[x->id].stopping == x->value;
    case GT_ASSUME_WORLD_STOPS: return s->stw == x->value;
    case GT_ASSUME_GC: return s->gc == x->value;
    case GT_ASSUME_NEXT_GC: return reader->order->gc_seq == x->value;
    case GT_ASSUME_REPORTED: return gt_map_get(&s->missing, x->id) & x->value;
    case GT_ASSUME_TASK_ENDS: return !gt_task_has_ended(reader, x->id);
    case GT_ASSUME_NO_BEGIN: return gt_no_begin_holds(reader, x);
    default: return goroutine_holds(reader, x);
    }
}

/* Iterates over the goroutines of a table. */
#define EACH_GOROUTINE(table, g)                                                                   \
    for (size_t slot_ = 0; slot_ < (table)->by_id.capacity; slot_++)                               \
        for (gt_goroutine *g = (gt_goroutine *)(uintptr_t)(table)->by_id.slots[slot_].value; g;    \
             g = NULL)

static bool created_are_new(const gt_goroutines *table, const gt_map *created)
{
    EACH_GOROUTINE(table, g)
    {
        if (gt_is_assumed_new(created, g->id))
            return false;
    }
    for (size_t i = 0; i < created->capacity; i++)
        if (created->slots[i].value & gt_map_get(&table->ended, created->slots[i].key))
            return false;
    return true;
}

static bool tasks_are_new(const gt_map *open, const gt_map *created)
{
    for (size_t i = 0; i < open->capacity; i++)
        if (open->slots[i].value && gt_is_assumed_new(created, open->slots[i].key))
            return false;
    return true;
}

static bool cursors_fit(const gt_order *o, const job *j)
{
    for (uint32_t i = 0; i < o->sorted; i++) {
        gt_cursor_place place = gt_cursor_save(&o->cursors[i]);
        if (!gt_places_equal(&place, &j->places[i]))
            return false;
    }
    return true;
}

/* Whether the check of the piece could not have gone differently. */
static bool fits(const gotrace_reader *reader, const job *j)
{
    const gt_goroutines *table = reader->order->goroutines;
    const gt_assumptions *a = &j->job.assumed;
    if (!j->job.sound || reader->order->last_offset == 0 || !reader->states->started ||
        !cursors_fit(reader->order, j) ||
        j->job.reader->order->goroutines->most > reader->limits.goroutines - table->by_id.count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (!holds(reader, &a->list[i]))
            return false;
    return created_are_new(table, &a->created) && tasks_are_new(&reader->states->tasks, &a->tasks);
}

/* ---- taking over the state after a piece ----------------------------------------------------- */

/* Ends goroutines and regions that began before the piece. */
static bool adopt_ends(gt_goroutines *table, const gt_goroutines *alone, const gt_assumptions *a)
{
    for (size_t i = 0; i < a->count; i++) {
        const gt_assumption *x = &a->list[i];
        gt_goroutine *g = gt_goroutine_find(table, x->id);
        if (g && x->kind == GT_ASSUME_REGION)
            g->region_count -= g->region_count > 0;
        else if (g && x->kind == GT_ASSUME_STATE && gt_is_assumed_new(&alone->ended, x->id) &&
                 !gt_goroutine_end(table, g))
            return false;
    }
    for (size_t i = 0; i < alone->ended.capacity; i++) {
        const gt_slot *slot = &alone->ended.slots[i];
        if (slot->value && !gt_map_put(&table->ended, slot->key,
                                       slot->value | gt_map_get(&table->ended, slot->key)))
            return false;
    }
    return true;
}

static bool adopt_regions(gt_heap *heap, gt_goroutine *g, const gt_goroutine *from)
{
    void *regions = g->regions;
    size_t capacity = g->region_capacity;
    if (!gt_grow(heap, &regions, &capacity, g->region_count + (size_t)from->region_count,
                 sizeof *g->regions))
        return false;
    g->regions = regions;
    g->region_capacity = (uint32_t)capacity;
    for (uint32_t i = 0; i < from->region_count; i++)
        g->regions[g->region_count++] = from->regions[i];
    return true;
}

static bool adopt_goroutine(gt_goroutines *table, const gt_goroutines *alone,
                            const gt_goroutine *from)
{
    gt_goroutine *g = gt_goroutine_get(table, from->id);
    if (!g)
        return false;
    bool created = from->contact & GT_CONTACT_CREATED;
    g->seq = from->contact & GT_CONTACT_SEQ ? from->seq : g->seq + from->seq - alone->unknown_seq;
    if (from->status != GT_UNKNOWN)
        g->status = from->status;
    if (from->state != GT_UNKNOWN)
        g->state = from->state;
    if (from->assisting != GT_UNKNOWN)
        g->assisting = from->assisting;
    g->assisted |= from->assisted;
    if (from->blocked != 0)
        g->blocked = from->blocked;
    if (created) {
        g->complete = from->complete;
        g->creator = from->creator;
        g->start_stack = from->start_stack;
        g->created = from->created;
    }
    if (from->since != 0) { /* its state changed */
        g->since = from->since;
        g->shown = from->shown;
        g->cause = from->cause;
        g->last_type = from->last_type;
    }
    g->known |= from->known;
    return adopt_regions(table->heap, g, from);
}

static bool adopt_goroutines(gotrace_reader *reader, const job *j)
{
    gt_goroutines *table = reader->order->goroutines;
    const gt_goroutines *alone = j->job.reader->order->goroutines;
    if (!adopt_ends(table, alone, &j->job.assumed))
        return false;
    EACH_GOROUTINE(alone, g)
    {
        if (!adopt_goroutine(table, alone, g))
            return false;
    }
    return true;
}

static void adopt_known(uint8_t *to, uint8_t from)
{
    if (from != GT_UNKNOWN)
        *to = from;
}

static void adopt_procs(gt_states *s, const gt_states *alone)
{
    for (size_t i = 0; i < s->count; i++) {
        gt_proc_state *p = &s->procs[i];
        const gt_proc_state *from = &alone->procs[i];
        if (from->goroutine != alone->unknown)
            p->goroutine = from->goroutine;
        p->running = gt_goroutine_find(s->goroutines, p->goroutine);
        if (from->is_running != GT_UNKNOWN)
            p->shown = from->shown;
        if (from->thread != GOTRACE_NO_THREAD)
            p->thread = from->thread;
        adopt_known(&p->is_running, from->is_running);
        adopt_known(&p->sweeping, from->sweeping);
        adopt_known(&p->stopping, from->stopping);
    }
    adopt_known(&s->gc, alone->gc);
    adopt_known(&s->stw, alone->stw);
}

static bool adopt_tasks(gotrace_reader *reader, const gotrace_reader *from, const gt_assumptions *a)
{
    gt_states *s = reader->states;
    const gt_states *alone = from->states;
    if (!gt_adopt_ended_tasks(reader, from))
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (a->list[i].kind == GT_ASSUME_TASK_ENDS)
            gt_map_remove(&s->tasks, a->list[i].id);
    for (size_t i = 0; i < alone->tasks.capacity; i++) {
        const gt_slot *slot = &alone->tasks.slots[i];
        if (slot->value &&
            (!gt_map_put(&s->tasks, slot->key, slot->value) || !gt_task_begins(reader, slot->key)))
            return false;
    }
    return true;
}

static void add_counts(gotrace_summary *to, const gotrace_summary *from)
{
    to->goroutines_created += from->goroutines_created;
    to->goroutines_initial += from->goroutines_initial;
    to->goroutines_ended += from->goroutines_ended;
    to->tasks += from->tasks;
    to->regions += from->regions;
    to->logs += from->logs;
    to->events += from->events;
}

static bool adopt_order(gotrace_reader *reader, const job *j)
{
    gt_order *o = reader->order;
    const gt_order *alone = j->job.reader->order;
    if (alone->gc_known)
        o->gc_seq = alone->gc_seq;
    if (alone->last_offset != 0) {
        o->last_offset = alone->last_offset;
        o->last_ticks = alone->last_ticks;
    }
    for (uint32_t i = 0; i < o->sorted; i++)
        gt_cursor_restore(reader, &o->cursors[i], &j->places[o->sorted + i]);
    o->heap.until = j->until;
    return j->until == INT64_MAX || gt_order_seek(reader, o, j->until + 1);
}

/* Does what the reading thread would have done. */
static bool adopt(gotrace_reader *reader, const job *j)
{
    const gotrace_reader *alone = j->job.reader;
    const gt_pieces *p = reader->pieces;
    if (!adopt_goroutines(reader, j) || !adopt_tasks(reader, alone, &j->job.assumed))
        return gt_fail_memory(reader);
    adopt_procs(reader->states, alone->states);
    add_counts(&reader->summary, &alone->summary);
    if (alone->last_ticks != INT64_MIN)
        reader->last_ticks = alone->last_ticks;
    uint64_t done = reader->summary.size + reader->summary.size / p->count * (j->job.number + 1);
    if (done > reader->progress_done)
        gt_progress(reader, done - reader->progress_done);
    return adopt_order(reader, j);
}

/* ---- one piece after another ----------------------------------------------------------------- */

static void count_piece(gt_pieces *p, bool fitted)
{
    if (!gt_ahead_pays(p->ahead, fitted)) {
        gt_ahead_free(p->ahead);
        p->ahead = NULL;
    }
}

/* Takes over the current piece if it was checked ahead. False if reading must stop. */
static bool take(gotrace_reader *reader, bool *taken)
{
    gt_pieces *p = reader->pieces;
    *taken = false;
    if (!gt_order_is_clean(reader->order)) {
        gt_ahead_drop(p->ahead, p->current);
        count_piece(p, false);
        return true;
    }
    gt_job *j = gt_ahead_wait(p->ahead, p->current);
    if (!j)
        return true;
    *taken = fits(reader, (job *)j);
    bool go_on = !*taken || adopt(reader, (job *)j);
    gt_ahead_release(p->ahead, j);
    reader->adopted += *taken;
    count_piece(p, *taken);
    return go_on;
}

bool gt_pieces_next(gotrace_reader *reader, bool *end)
{
    gt_pieces *p = reader->pieces;
    *end = !p || ++p->current == p->count;
    for (bool taken = true; !*end && p->ahead && taken; *end = p->current == p->count) {
        if (!take(reader, &taken))
            return false;
        p->current += taken;
    }
    if (!*end)
        gt_order_continue(reader->order, p->ends[p->current]);
    return true;
}

bool gt_pieces_start(gotrace_reader *reader)
{
    gt_pieces *p = reader->pieces;
    size_t procs = reader->index.proc_count;
    gt_ahead_way way = {sizeof(job), begin_piece, check_piece, close_piece};
    if (!p || p->ahead || p->count < 2 || reader->config.threads < 2)
        return true;
    go_to_start(reader);
    p->index = reader->index;
    p->first_ticks = reader->order->first_ticks;
    way.job_size += (procs + 1) / 2 * (2 * sizeof(uint32_t)); /* jobs are aligned to 8 bytes */
    p->ahead = gt_ahead_start(reader, &way, 1, p->count);
    return p->ahead || gt_fail_memory(reader);
}

void gt_pieces_free(gotrace_reader *reader)
{
    gt_pieces *p = reader->pieces;
    if (!p)
        return;
    gt_ahead_free(p->ahead);
    gt_free(&reader->heap, p->ends, p->capacity * sizeof *p->ends);
    gt_free(&reader->heap, p->runs, p->runs ? reader->index.proc_count * sizeof *p->runs : 0);
    gt_free(&reader->heap, p, sizeof *p);
    reader->pieces = NULL;
}
