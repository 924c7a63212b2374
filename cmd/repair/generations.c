/*
 * generations.c - v2: choose the generations that are copied unchanged, and combine them with the
 * rebuilt ones.
 *
 * A generation has its own tables, clocks, sequence numbers and initial statuses. It depends on the
 * one before only through the statuses and the numbers of GC cycles. So a generation that is sound
 * when it is read on its own is kept; if the one before is rebuilt, that is made to end with
 * matching statuses (boundary.c). */
#include <inttypes.h>
#include <stdlib.h>

#include "cmd/repair/repair.h"
#include "formats/common/rows_by_meaning.h"

/* ---- list of generations --------------------------------------------------------------------- */

bool repair_generation_put(repair *r, repair_generation generation)
{
    repair_generations *g = &r->generations;
    if (!parts_grow(r->memory, &g->list, &g->capacity, g->count + 1, sizeof *g->list, r->error))
        return false;
    g->list[g->count++] = generation;
    return true;
}

bool repair_generations_copy(const repair *r, repair_generations *copy)
{
    const repair_generations *g = &r->generations;
    *copy = (repair_generations){.count = 0};
    if (g->count == 0)
        return true;
    if (!parts_grow(r->memory, &copy->list, &copy->capacity, g->count, sizeof *g->list, r->error))
        return false;
    memcpy(copy->list, g->list, g->count * sizeof *g->list);
    copy->count = g->count;
    return true;
}

void repair_generations_drop(const repair *r, repair_generations *g)
{
    parts_drop(r->memory, g->list, g->capacity, sizeof *g->list);
    *g = (repair_generations){.count = 0};
}

/* ---- choosing generations -------------------------------------------------------------------- */

/* Mark the generation that contains the problem. */
static void mark_broken(void *ctx, const gotrace_error *problem)
{
    repair_generations *g = ctx;
    size_t low = 0, high = g->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (g->list[middle].end <= problem->offset)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < g->count)
        g->list[low].broken = true;
    for (size_t i = 0; low == g->count && i < g->count; i++)
        g->list[i].broken = true;
}

bool repair_generations_examine(repair *r, const parts_bytes *image, repair_generations *g,
                                verdict *v)
{
    for (size_t i = 0; i < g->count; i++)
        g->list[i].broken = false;
    return repair_examine(r, image->bytes, image->count, mark_broken, g, v);
}

/* Whether a generation is sound on its own. */
static bool stands_alone(repair *r, const parts_bytes *image, repair_generation *g)
{
    parts_bytes alone = {0};
    verdict v = {.sound = false};
    bool done = repair_put(r, &alone, image->bytes, PARTS_HEADER) &&
                repair_put(r, &alone, image->bytes + g->begin, g->end - g->begin) &&
                repair_complete(r, &alone) &&
                repair_examine(r, alone.bytes, alone.count, NULL, NULL, &v);
    g->kept = v.sound;
    repair_drop(r, &alone);
    return done;
}

bool repair_blames_before(const repair_generation *g)
{
    return g[0].whole || !g[-1].whole;
}

static bool blame_before(const repair_generations *g, size_t i)
{
    return i > 0 && g->list[i - 1].kept && repair_blames_before(&g->list[i]);
}

bool repair_generations_keep(repair *r, const parts_bytes *image)
{
    enum { MANY = 256 };
    repair_generations *g = &r->generations;
    verdict v;
    if (g->count == 1) /* there is nothing else to keep */
        g->count = 0;
    if (g->count == 0)
        return true;
    if (!repair_generations_examine(r, image, g, &v))
        return false;
    size_t broken = 0;
    for (size_t i = 0; i < g->count; i++)
        broken += g->list[i].broken;
    if (g->count > MANY && broken > g->count / 2) /* beyond what damage does: rebuild everything */
        g->count = 0;
    for (size_t i = 0; i < g->count; i++) {
        g->list[i].kept = !g->list[i].broken;
        if (g->list[i].broken && !stands_alone(r, image, &g->list[i]))
            return false;
    }
    /* A broken generation after one that will be rebuilt may be sound: the rebuilt one will end
     * with matching statuses. */
    for (size_t i = g->count; i-- > 1;)
        if (g->list[i].broken && !g->list[i - 1].kept && !g->list[i - 1].broken)
            g->list[i].broken = false;
    repair_generations_blame(g, g);
    return true;
}

/* Of consecutive broken generations only the first is rebuilt: the others may just follow from it.
 */
bool repair_generations_blame(repair_generations *g, const repair_generations *broken)
{
    bool less = false;
    for (size_t i = 0; i < g->count; i++) {
        bool follows = i > 0 && broken->list[i - 1].broken;
        if (!broken->list[i].broken || !g->list[i].kept || follows)
            continue;
        g->list[blame_before(g, i) ? i - 1 : i].kept = false;
        less = true;
    }
    return less;
}

/* ---- generations of an image ----------------------------------------------------------------- */

repair_batch *repair_first_batch(const repair *layout, uint64_t generation)
{
    size_t low = 0, high = layout->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (layout->batches[middle].generation < generation)
            low = middle + 1;
        else
            high = middle;
    }
    return layout->batches + low;
}

static uint64_t gc_number(const repair_record *record)
{
    return row_is_gc(record->spec) ? record->args[1] : 0;
}

static bool has_edge(const repair_record *record, gotrace_kind edge)
{
    return record->spec->semantics->kind == edge;
}

static void add_gc(const repair *layout, const repair_batch *b, repair_gc *gc)
{
    const uint8_t *p = layout->bytes + b->body, *end = layout->bytes + b->end;
    repair_record record;
    if (b->kind != PARTS_EVENTS || b->is_experiment)
        return;
    repair_release(layout, b->end - b->body);
    for (; repair_read_record(layout, p, end, &record); p += record.size) {
        uint64_t number = gc_number(&record);
        if (number == 0)
            continue;
        if (gc->first == 0 || number < gc->first) {
            gc->first = number;
            gc->on = !has_edge(&record, GOTRACE_KIND_RANGE_BEGIN);
        }
        gc->last = number > gc->last ? number : gc->last;
        if (!has_edge(&record, GOTRACE_KIND_RANGE_END) && number > gc->last_on)
            gc->last_on = number;
    }
}

repair_gc repair_gc_of(const repair *layout, uint64_t generation)
{
    repair_gc gc = {.first = 0};
    const repair_batch *b = repair_first_batch(layout, generation);
    const repair_batch *end = layout->batches + layout->count;
    for (; b < end && b->generation == generation; b++)
        add_gc(layout, b, &gc);
    return gc;
}

/* ---- combining ------------------------------------------------------------------------------- */

/* Combines batches of the image and of the rebuilt trace. */
typedef struct splice {
    repair *r;
    repair image, written;
    uint64_t gc;               /* number of the last GC event so far; 0: none */
    uint64_t more;             /* added to the GC numbers that the writer assigned */
    uint64_t fill, fill_after; /* number of GC events to insert after the one with that number */
    parts_bytes *into, body;
} splice;

/* Write a GC event with its final number, followed by GCActive events for the missing numbers. */
static bool put_gc(splice *s, const repair_record *record)
{
    repair *r = s->r;
    uint64_t number = record->args[1] + s->more;
    bool fill = record->args[1] == s->fill_after && !has_edge(record, GOTRACE_KIND_RANGE_END);
    uint8_t code = (uint8_t)record->spec->code;
    if (record->args[1] > s->fill_after)
        number += s->fill;
    for (uint64_t i = 0, count = fill ? s->fill : 0; i <= count; i++, code = GOTRACE_V2_GCActive) {
        bool done = repair_put(r, &s->body, &code, 1) &&
                    repair_put_varint(r, &s->body, i == 0 ? record->args[0] : 0) &&
                    repair_put_varint(r, &s->body, number + i);
        for (size_t k = 2; done && i == 0 && k < record->arg_count; k++)
            done = repair_put_varint(r, &s->body, record->args[k]);
        if (!done)
            return false;
    }
    return true;
}

/* Copy the records, with final numbers of GC events. */
static bool put_records(splice *s, const repair_batch *b)
{
    const uint8_t *p = s->written.bytes + b->body, *end = s->written.bytes + b->end, *from = p;
    repair_record record;
    s->body.count = 0;
    bool changes = (s->more != 0 || s->fill > 0) && b->kind == PARTS_EVENTS;
    for (; changes && repair_read_record(s->r, p, end, &record); p += record.size) {
        if (gc_number(&record) == 0)
            continue;
        if (!repair_put(s->r, &s->body, from, (size_t)(p - from)) || !put_gc(s, &record))
            return false;
        from = p + record.size;
    }
    return repair_put(s->r, &s->body, from, (size_t)(end - from));
}

/* Copy a batch of the rebuilt trace into the given generation. */
static bool put_written_batch(splice *s, const repair_batch *b, uint64_t generation)
{
    repair *r = s->r;
    const uint8_t *bytes = s->written.bytes;
    if (b->kind == PARTS_END || (b->generation == generation && s->more == 0 && s->fill == 0))
        return repair_put(r, s->into, bytes + b->offset, b->end - b->offset);
    if (b->is_experiment)
        return repair_put_experiment(r, s->into, b, bytes + b->body, generation);
    return put_records(s, b) &&
           repair_put_v2_header(r, s->into, generation, b->owner, b->time, s->body.count) &&
           repair_put(r, s->into, s->body.bytes, s->body.count);
}

/* Copy the clocks of the image; those of the rebuilt trace were rounded to ns. */
static bool put_own_clocks(splice *s, uint64_t generation)
{
    const repair_batch *b = repair_first_batch(&s->image, generation);
    const repair_batch *end = s->image.batches + s->image.count;
    for (; b < end && b->generation == generation; b++)
        if (b->kind == PARTS_SYNC)
            return repair_put(s->r, s->into, s->image.bytes + b->offset, b->end - b->offset);
    return true;
}

static bool put_written(splice *s, const repair_generation *g)
{
    static const uint8_t end = GOTRACE_V2_EndOfGeneration;
    const repair *w = &s->written;
    if (g->written == 0)
        return put_own_clocks(s, g->number) &&
               (s->r->version < GOTRACE_FIRST_GENERATION_END || repair_put(s->r, s->into, &end, 1));
    const repair_batch *b = repair_first_batch(w, g->written), *last = w->batches + w->count;
    for (; b < last && b->generation == g->written; b++)
        if (!(b->kind == PARTS_SYNC ? put_own_clocks(s, g->number)
                                    : put_written_batch(s, b, g->number)))
            return false;
    return true;
}

/* Number the GC cycles so that they continue the generation before and lead to the next kept one.
 * The first cycles can have any number; otherwise GCActive events fill the gap. */
static void number_gc(splice *s, const repair_generations *g, size_t i)
{
    enum { MOST = 1000, FAR = 16 };
    repair_gc own = repair_gc_of(&s->written, g->list[i].written), next = {.first = 0};
    s->more = s->fill = 0;
    s->fill_after = own.last_on;
    if (g->list[i].written == 0 || own.first == 0)
        return;
    for (size_t k = i + 1; k < g->count && k <= i + FAR && g->list[k].kept && next.first == 0; k++)
        next = repair_gc_of(&s->image, g->list[k].number);
    uint64_t wanted = next.first > 0
                          ? next.first - 1
                          : 0; /* number of the last GC event that the next generation requires */
    if (s->gc > 0)
        s->more = s->gc + 1 - own.first;
    else if (wanted > own.last)
        s->more = wanted - own.last;
    s->gc = own.last + s->more;
    if (own.last_on > 0 && wanted > s->gc && wanted - s->gc <= MOST) {
        s->fill = wanted - s->gc;
        s->gc = wanted;
    }
}

static bool splice_all(splice *s, const parts_bytes *image, repair_generations *g)
{
    if (!repair_put(s->r, s->into, image->bytes, PARTS_HEADER))
        return false;
    for (size_t i = 0; i < g->count; i++) {
        repair_generation *now = &g->list[i];
        size_t begin = s->into->count;
        bool done;
        if (now->kept) {
            uint64_t last = repair_gc_of(&s->image, now->number).last;
            s->gc = last > 0 ? last : s->gc;
            done = repair_put(s->r, s->into, image->bytes + now->begin, now->end - now->begin);
        } else {
            number_gc(s, g, i);
            done = put_written(s, now);
            now->rebuilt = true;
            now->whole = false;
        }
        if (!done)
            return false;
        now->begin = begin;
        now->end = s->into->count;
    }
    return true;
}

bool repair_lay_out(const repair *r, const parts_bytes *trace, repair *layout)
{
    *layout = (repair){.job = r->job,
                       .bytes = trace->bytes,
                       .size = trace->count,
                       .memory = r->memory,
                       .store = r->store,
                       .quiet = true,
                       .totals = r->totals,
                       .error = r->error};
    repair_set_version(layout, r->version);
    return repair_scan(layout);
}

bool repair_splice(repair *r, const parts_bytes *image, const parts_bytes *written,
                   parts_bytes *spliced, repair_generations *g)
{
    splice s = {.r = r, .into = spliced};
    bool done = repair_lay_out(r, image, &s.image) && repair_lay_out(r, written, &s.written) &&
                splice_all(&s, image, g) && repair_complete(r, spliced);
    parts_drop(r->memory, s.image.batches, s.image.capacity, sizeof *s.image.batches);
    parts_drop(r->memory, s.written.batches, s.written.capacity, sizeof *s.written.batches);
    repair_drop(r, &s.body);
    return done;
}
