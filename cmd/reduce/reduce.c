/* reduce.c - delta debugging over the pieces of a trace. */
#include "cmd/reduce/reduce.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/repair/verdict.h"

bool reduce_stops(const reduce *r)
{
    return r->failed || r->job->stops(r->job->ctx);
}

static bool is_sound(reduce *r, const void *bytes, size_t size)
{
    verdict v;
    gotrace_error error = {.rule = GOTRACE_RULE_NONE};
    return verdict_of(bytes, size, r->job->config, &v, &error) && v.sound;
}

bool reduce_try(reduce *r, const void *bytes, size_t size)
{
    reduce_result *best = r->best;
    if (size > best->size || reduce_stops(r) || (r->job->sound && !is_sound(r, bytes, size)))
        return false;
    best->tests++;
    if (!r->job->holds(r->job->ctx, bytes, size))
        return false;
    memcpy(best->bytes, bytes, size);
    best->size = size;
    return true;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

/* The best trace in pieces, and the list of those that are left. */
typedef struct pieces {
    mutate *m;
    uint8_t *bytes; /* of the trace, which the pieces refer to */
    mutate_piece *list;
    size_t count;
} pieces;

static void drop_pieces(pieces *p)
{
    mutate_free(p->m);
    free(p->bytes);
    free(p->list);
    *p = (pieces){.count = 0};
}

static bool fail(reduce *r)
{
    if (r->error->rule == GOTRACE_RULE_NONE)
        fill_error(r->error, GOTRACE_RULE_SYSTEM_MEMORY, GOTRACE_NO_OFFSET, "out of memory");
    r->failed = true;
    return false;
}

static bool take_pieces(reduce *r, pieces *p)
{
    *p = (pieces){.bytes = malloc(r->best->size + 1)};
    if (!p->bytes)
        return fail(r);
    memcpy(p->bytes, r->best->bytes, r->best->size);
    if (mutate_new(p->bytes, r->best->size, r->job->config, &p->m, r->error) < 0) {
        p->m = NULL;
        return fail(r);
    }
    memcpy(p->m->header, p->bytes, p->m->header_size);
    p->count = p->m->original.count;
    p->list = malloc((p->count + 1) * sizeof *p->list);
    if (!p->list)
        return fail(r);
    if (p->count > 0)
        memcpy(p->list, p->m->original.list, p->count * sizeof *p->list);
    return true;
}

/* The pieces without [begin, end), ready to be joined. */
static bool set_pieces(reduce *r, pieces *p, size_t begin, size_t end)
{
    mutate *m = p->m;
    size_t left = p->count - (end - begin);
    mutate_forget(m);
    m->error = r->error;
    if (!mutate_grow(m, &m->now.list, &m->now.capacity, left + 1, sizeof *p->list))
        return fail(r);
    if (begin > 0)
        memcpy(m->now.list, p->list, begin * sizeof *p->list);
    if (p->count > end)
        memcpy(m->now.list + begin, p->list + end, (p->count - end) * sizeof *p->list);
    m->now.count = left;
    return true;
}

static bool try_pieces(reduce *r, pieces *p)
{
    if (!mutate_assemble(p->m))
        return fail(r);
    return reduce_try(r, p->m->result.bytes, p->m->result.count);
}

/* ---- leaving out ----------------------------------------------------------------------------- */

typedef enum level { GENERATIONS, BATCHES, RECORDS } level;

/* The generation of a batch; of other pieces that of the batch before. */
static uint64_t generation_of(pieces *p, size_t at, uint64_t before)
{
    mutate_record record;
    size_t n = p->list[at].spec->code == GOTRACE_V2_ExperimentalBatch;
    return p->list[at].spec->code != GOTRACE_V2_EndOfGeneration &&
                   mutate_open(p->m, &p->list[at], &record) && record.record.arg_count > n
               ? record.values[n]
               : before;
}

static bool is_head(const pieces *p, const mutate_piece *piece)
{
    if (!piece->spec)
        return false;
    return piece->spec->code == (p->m->v2 ? GOTRACE_V2_EventBatch : GOTRACE_V1_Batch) ||
           (p->m->v2 && (piece->spec->code == GOTRACE_V2_ExperimentalBatch ||
                         piece->spec->code == GOTRACE_V2_EndOfGeneration));
}

/* Where units of that level begin, in order; starts[count] is the end. NULL without memory. */
static size_t *find_units(pieces *p, level by, size_t *count)
{
    size_t *starts = malloc((p->count + 1) * sizeof *starts);
    uint64_t generation = 0;
    *count = 0;
    for (size_t i = 0; starts && i < p->count; i++) {
        bool head = is_head(p, &p->list[i]);
        uint64_t now = head && by == GENERATIONS && p->m->v2 ? generation_of(p, i, generation)
                                                             : generation;
        bool begins = i == 0 || by == RECORDS || (head && (by == BATCHES || now != generation));
        generation = now;
        if (begins)
            starts[(*count)++] = i;
    }
    if (starts)
        starts[*count] = p->count;
    return starts;
}

/* Remove units [begin, end). */
static void remove_units(pieces *p, size_t *starts, size_t *count, size_t begin, size_t end)
{
    size_t from = starts[begin], size = starts[end] - from;
    memmove(p->list + from, p->list + from + size, (p->count - from - size) * sizeof *p->list);
    p->count -= size;
    for (size_t i = end; i <= *count; i++)
        starts[i - (end - begin)] = starts[i] - size;
    *count -= end - begin;
}

/* Leave out units, half of them at once at first, in the end one; of few units of a small trace
 * also every range. */
static void leave_out(reduce *r, level by)
{
    enum { FEW = 48, SMALL = 4096 };
    pieces p;
    size_t count = 0;
    size_t *starts = take_pieces(r, &p) ? find_units(&p, by, &count) : NULL;
    if (!starts)
        fail(r);
    for (size_t size = count; starts && size > 0 && !reduce_stops(r);) {
        bool every = count <= FEW && r->best->size <= SMALL;
        size_t step = every ? 1 : size;
        for (size_t i = 0; i < count && !reduce_stops(r);) {
            size_t end = i + size < count ? i + size : count;
            if (set_pieces(r, &p, starts[i], starts[end]) && try_pieces(r, &p))
                remove_units(&p, starts, &count, i, end);
            else
                i += step;
        }
        size_t fewer = size - 1 < count ? size - 1 : count;
        size = every ? fewer : size / 2;
    }
    free(starts);
    drop_pieces(&p);
}

/* ---- making smaller -------------------------------------------------------------------------- */

/* One record of the pieces, to be changed. False if it is none. */
static bool open_record(reduce *r, pieces *p, size_t at, mutate_record *record)
{
    return set_pieces(r, p, 0, 0) && mutate_open(p->m, &p->m->now.list[at], record);
}

/* Writes the changed record, and takes the trace if the test holds. */
static bool try_record(reduce *r, pieces *p, size_t at, mutate_record *record)
{
    if (!mutate_close(p->m, &p->m->now.list[at], record) || !try_pieces(r, p))
        return false;
    drop_pieces(p);
    return take_pieces(r, p);
}

/* Shorten a string or a message: to nothing, to a half, ... by one byte. */
static void shorten_data(reduce *r, pieces *p, size_t at)
{
    mutate_record record;
    for (size_t cut = SIZE_MAX; cut > 0 && !reduce_stops(r); cut /= 2) {
        if (at >= p->count || !open_record(r, p, at, &record) || record.record.data_size == 0)
            return;
        size_t size = record.record.data_size;
        cut = cut < size ? cut : size;
        record.record.data_size = size - cut;
        record.record.widths = NULL;
        if (try_record(r, p, at, &record))
            cut = SIZE_MAX;
    }
}

/* Drop frames of a stack, the outermost first. */
static void shorten_stack(reduce *r, pieces *p, size_t at)
{
    for (size_t left = 0; !reduce_stops(r); left = left ? 2 * left : 1) {
        mutate_record record;
        if (at >= p->count || !open_record(r, p, at, &record))
            return;
        size_t each = gotrace_frame_values(p->m->version), frames = 0;
        if (record.record.arg_count > record.fixed)
            frames = (record.record.arg_count - record.fixed) / each;
        if (left >= frames)
            return;
        record.values[record.fixed - 1] = left;
        record.record.arg_count = record.fixed + left * each;
        record.record.widths = NULL;
        if (try_record(r, p, at, &record))
            return;
    }
}

/* Make a number smaller: 0, 1, a half. */
static void lower_number(reduce *r, pieces *p, size_t at, size_t n)
{
    mutate_record record;
    for (uint64_t tried = 0; !reduce_stops(r);) {
        if (at >= p->count || !open_record(r, p, at, &record) || n >= record.record.arg_count)
            return;
        uint64_t value = record.values[n];
        uint64_t less = tried == 0 ? 0 : tried == 1 ? 1 : value - (value >> (tried - 1));
        if (tried > 65 || less >= value) {
            if (tried > 1 || value == 0)
                return;
            tried++;
            continue;
        }
        record.values[n] = less;
        record.record.widths = NULL;
        tried = try_record(r, p, at, &record) ? 0 : tried + 1;
    }
}

/* Write the numbers of a record in as few bytes as possible. */
static void narrow_numbers(reduce *r, pieces *p, size_t at)
{
    mutate_record record;
    size_t size = p->list[at].size;
    if (!open_record(r, p, at, &record) || record.record.width_count == 0)
        return;
    memset(p->m->widths, 1, record.record.width_count);
    if (mutate_close(p->m, &p->m->now.list[at], &record) && p->m->now.list[at].size < size &&
        try_pieces(r, p)) {
        drop_pieces(p);
        take_pieces(r, p);
    }
}

static void make_smaller(reduce *r, void (*change)(reduce *r, pieces *p, size_t at))
{
    pieces p;
    if (take_pieces(r, &p))
        for (size_t i = 0; i < p.count && !reduce_stops(r); i++)
            if (p.list[i].spec)
                change(r, &p, i);
    drop_pieces(&p);
}

static void lower_numbers(reduce *r, pieces *p, size_t at)
{
    size_t count = 0;
    mutate_record record;
    if (open_record(r, p, at, &record))
        count = record.record.arg_count;
    /* The size of a batch is corrected anyway. */
    if (is_head(p, &p->list[at]) && p->m->v2 && count > 0)
        count--;
    for (size_t n = 0; n < count && !reduce_stops(r); n++)
        lower_number(r, p, at, n);
}

/* ---- all ------------------------------------------------------------------------------------- */

static void shorten_strings(reduce *r)
{
    make_smaller(r, shorten_data);
}

static void shorten_stacks(reduce *r)
{
    make_smaller(r, shorten_stack);
}

static void lower_all(reduce *r)
{
    make_smaller(r, narrow_numbers);
    make_smaller(r, lower_numbers);
}

static void drop_generations(reduce *r)
{
    leave_out(r, GENERATIONS);
}

static void drop_batches(reduce *r)
{
    leave_out(r, BATCHES);
}

static void drop_records(reduce *r)
{
    leave_out(r, RECORDS);
}

gotrace_status reduce_trace(const reduce_job *job, reduce_result *result, gotrace_error *error)
{
    static const struct {
        const char *name;
        void (*run)(reduce *r);
    } steps[] = {{"generations", drop_generations}, {"time", reduce_cut_time},
                 {"batches", drop_batches},         {"goroutines", reduce_cut_goroutines},
                 {"events", drop_records},          {"strings", shorten_strings},
                 {"stacks", shorten_stacks},        {"numbers", lower_all}};
    reduce r = {.job = job, .best = result, .error = error};
    *result = (reduce_result){.bytes = malloc(job->size + 1), .size = job->size};
    if (!result->bytes)
        return fail(&r) ? GOTRACE_OK : GOTRACE_ERROR;
    memcpy(result->bytes, job->bytes, job->size);
    for (size_t before = SIZE_MAX; result->size < before && !reduce_stops(&r);) {
        before = result->size;
        for (size_t i = 0; i < sizeof steps / sizeof *steps && !reduce_stops(&r); i++) {
            if (job->step)
                job->step(job->ctx, steps[i].name, result->size);
            steps[i].run(&r);
        }
    }
    return r.failed ? GOTRACE_ERROR : GOTRACE_END;
}
