/* mend.c - correct batches that are duplicated, out of place, or have impossible times. */
#include <inttypes.h>
#include <stdlib.h>

#include "formats/common/plural.h"
#include "cmd/repair/repair.h"

/* Batches of one owner, in the order of the file. */
typedef struct batch_list {
    repair_batch **list;
    size_t count;
} batch_list;

/* v2: ticks between which the events of a generation are; low > high: unknown. */
typedef struct frame {
    uint64_t low, high;
} frame;

static int compare_owners(const void *a, const void *b)
{
    const repair_batch *x = *(repair_batch *const *)a, *y = *(repair_batch *const *)b;
    if (x->generation != y->generation)
        return x->generation < y->generation ? -1 : 1;
    if (x->owner != y->owner)
        return x->owner < y->owner ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static int compare_times(const void *a, const void *b)
{
    const repair_batch *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* ---- generations ---------------------------------------------------------------------------- */

/* Correct the generation of a single batch that is surrounded by batches of another generation. */
static void mend_generations(repair *r)
{
    for (size_t i = 0; i < r->count; i++) {
        repair_batch *b = &r->batches[i];
        const repair_batch *before = i > 0 ? b - 1 : NULL, *after = i + 1 < r->count ? b + 1 : NULL;
        bool alone = (!before || before->generation != b->generation) &&
                     (!after || after->generation != b->generation);
        if (!alone || (!before && !after))
            continue;
        const repair_batch *like = before ? before : after;
        bool between = before && after && before->generation == after->generation;
        /* A single batch of the next generation at the end is plausible. */
        if (!between && (b->generation == like->generation + 1 || !before))
            continue;
        if (b->generation == like->generation)
            continue;
        repair_report(r, REPAIR_GENERATION, b->offset, b->generation,
                      "a batch of generation %" PRIu64 " is among those of generation %" PRIu64,
                      b->generation, like->generation);
        b->generation = like->generation;
        b->changed = true;
    }
}

/* From 1.26 on, several generations may have the same number, which readers accept. Here it
 * identifies the generation, so later ones are renumbered. A generation begins with its clocks
 * after the end of the one before; what comes after an end that is misplaced has none. */
static void number_generations(repair *r)
{
    const repair_batch *sync = NULL;
    uint64_t number = 0, more = 0; /* of the last clocks: the number in the file; what is added */
    bool ended = false;
    if (r->version < GOTRACE_FIRST_GENERATION_END)
        return;
    for (size_t i = 0; i < r->count; i++) {
        repair_batch *b = &r->batches[i];
        if (b->kind == PARTS_SYNC) {
            bool again = sync && ended && b->generation == number && b->time != sync->time;
            if (again && more == 0)
                repair_report(r, REPAIR_NUMBER, b->offset, number,
                              "another generation has the number %" PRIu64
                              "; it and later ones get others",
                              number);
            more += again;
            sync = b;
            number = b->generation;
            ended = false;
        }
        ended = ended || b->kind == PARTS_END;
        b->generation += more;
        b->changed = b->changed || more > 0;
    }
}

/* ---- false positives ------------------------------------------------------------------------- */

/* v1: drop batches that were found by searching and whose times are far from those of the others.
 * keep_tables restores their strings and stacks, which are rarely false. */
static void drop_false_batches(repair *r)
{
    uint64_t low = UINT64_MAX, high = 0;
    size_t sure = 0;
    for (size_t i = 0; i < r->count; i++) {
        const repair_batch *b = &r->batches[i];
        if (b->searched || b->end == b->body)
            continue; /* an empty batch is no evidence: its header may be damaged */
        sure++;
        low = b->time < low ? b->time : low;
        high = b->last > high ? b->last : high;
    }
    /* A false batch mostly has a small number as its time, and real times are large. */
    enum { ENOUGH = 2, SPANS = 16 };
    uint64_t span = sure >= ENOUGH ? high - low : 0;
    span = span < UINT64_MAX / 2 / SPANS ? SPANS * span : UINT64_MAX / 2;
    span = span > low / SPANS ? span : low / SPANS;
    for (size_t i = 0; sure >= ENOUGH && i < r->count; i++) {
        repair_batch *b = &r->batches[i];
        if (!b->searched || (b->time >= low - (low < span ? low : span) && b->time <= high + span))
            continue;
        b->dropped = true;
    }
}

/* Restore the strings and stacks of dropped batches that do not overlap with another batch. */
static void keep_tables(repair *r)
{
    const repair_batch *before = NULL;
    size_t next = 0; /* first batch after b that is not dropped */
    for (size_t i = 0; i < r->count; i++) {
        repair_batch *b = &r->batches[i];
        next = next > i ? next : i + 1;
        while (next < r->count && r->batches[next].dropped)
            next++;
        bool alone = before && before->end <= b->offset &&
                     (next == r->count || r->batches[next].offset >= b->end);
        if (b->dropped && alone && (b->contents & REPAIR_HAS_TABLES)) {
            b->dropped = false;
            b->tables = b->changed = true;
            b->kind = PARTS_TABLES;
            b->owner = before->owner;
            b->time = b->last = before->last;
            b->events = 0;
        }
        before = b->dropped ? before : b;
    }
}

/* Report damaged batches and bytes in no batch. */
static void emit_damage(repair *r)
{
    size_t at = r->headless ? 0 : PARTS_HEADER, begin = at;
    for (size_t i = 0; i <= r->count; i++) {
        const repair_batch *b = i < r->count ? &r->batches[i] : NULL;
        if (b && b->dropped)
            continue;
        size_t next = b ? b->offset : r->size;
        if (next > at) {
            repair_report_bytes(r, at, next - at, "in no batch");
            r->totals->bytes_lost += next - at;
        }
        if (!b)
            break;
        if (b->resumed)
            repair_report(
                r, REPAIR_RESUMED, b->offset, b->end - b->offset,
                "the batch at 0x%zx continues after the damage; %zu more byte%s of it kept",
                begin + (size_t)r->base, b->end - b->offset, plural(b->end - b->offset));
        else
            begin = b->offset;
        if (b->cut && !b->tables)
            repair_report(r, REPAIR_TRUNCATED, b->end, b->end - b->offset,
                          "the batch at 0x%zx is damaged or cut off; %zu byte%s of it kept",
                          begin + (size_t)r->base, b->end - b->offset, plural(b->end - b->offset));
        else if (b->resized)
            repair_report(
                r, REPAIR_SIZE, b->offset, b->end - b->body,
                "the size in the header of the batch is wrong; its records have %zu byte%s",
                b->end - b->body, plural(b->end - b->body));
        at = b->end;
    }
}

/* ---- duplicates ------------------------------------------------------------------------------ */

static bool same_batch(repair *r, const repair_batch *a, const repair_batch *b)
{
    size_t size = a->end - a->offset;
    if (size != b->end - b->offset || a->kind != b->kind)
        return false;
    repair_release(r, size);
    return memcmp(r->bytes + a->offset, r->bytes + b->offset, size) == 0;
}

static void drop_duplicates(repair *r, const batch_list *owned)
{
    enum { FAR = 64 }; /* greatest distance between duplicates, in batches of the owner */
    for (size_t i = 0; i < owned->count; i++)
        for (size_t k = i + 1; k < owned->count && k < i + FAR; k++) {
            repair_batch *a = owned->list[i], *b = owned->list[k];
            if (a->dropped || b->dropped || a->kind == PARTS_END || a->end == a->body ||
                a->is_experiment || !same_batch(r, a, b))
                continue;
            b->dropped = true;
            repair_report(r, REPAIR_DUPLICATE, b->offset, b->end - b->offset,
                          "the batch is the one at 0x%" PRIx64 " once more", r->base + a->offset);
        }
}

/* ---- order of batches ------------------------------------------------------------------------ */

static bool is_timed(const repair_batch *b)
{
    return b->kind == PARTS_EVENTS && !b->dropped && !b->is_experiment;
}

static bool rises(const repair_batch *list, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (list[i].time < list[i - 1].last)
            return false;
    return true;
}

/* Sort an owner's batches if their times do not overlap afterwards. */
static bool restore_places(repair *r, const batch_list *timed)
{
    size_t capacity = 0;
    repair_batch *sorted = NULL;
    if (timed->count < 2)
        return true;
    if (!parts_grow(r->memory, &sorted, &capacity, timed->count, sizeof *sorted, r->error))
        return false;
    for (size_t i = 0; i < timed->count; i++)
        sorted[i] = *timed->list[i];
    if (!rises(sorted, timed->count)) {
        qsort(sorted, timed->count, sizeof *sorted, compare_times);
        if (rises(sorted, timed->count)) {
            size_t moved = 0, first = 0;
            for (size_t i = timed->count; i-- > 0;)
                if (timed->list[i]->offset != sorted[i].offset) {
                    moved++;
                    first = timed->list[i]->offset;
                }
            for (size_t i = 0; i < timed->count; i++)
                *timed->list[i] = sorted[i];
            repair_report(r, REPAIR_ORDER, first, moved, "%zu batches are in the wrong order",
                          moved);
        }
    }
    parts_drop(r->memory, sorted, capacity, sizeof *sorted);
    return true;
}

/* ---- times ----------------------------------------------------------------------------------- */

/* The least time delta of a batch that is at least `over`, and its offset. 0: there is none. */
static uint64_t find_step(repair *r, const repair_batch *b, uint64_t over, size_t *where)
{
    const uint8_t *p = r->bytes + b->body, *end = r->bytes + b->end;
    repair_record record;
    uint64_t found = 0;
    repair_release(r, b->end - b->body);
    while (p < end && repair_read_record(r, p, end, &record)) {
        if (record.spec->flags & GOTRACE_SPEC_TIMED) {
            uint64_t dt = record.args[!repair_is_v2(r) && r->version < 7];
            if (dt >> 63 == 0 && dt >= over && (found == 0 || dt < found)) {
                found = dt;
                *where = (size_t)(p - r->bytes);
            }
        }
        p += record.size;
    }
    return found;
}

/* Most altered times differ in one bit. The part of a time delta that is a bit and at least `over`,
 * if that explains it, otherwise `over`. */
static uint64_t flipped_part(uint64_t delta, uint64_t over)
{
    for (uint64_t bit = 1; bit; bit <<= 1)
        if (delta & bit && bit >= over && bit / 2 <= over)
            return bit;
    return over;
}

/* The time between these that differs in one bit, otherwise `other`. */
static uint64_t flipped_back(uint64_t time, uint64_t low, uint64_t high, uint64_t other)
{
    for (uint64_t bit = 1; bit; bit <<= 1)
        if ((time ^ bit) >= low && (time ^ bit) <= high)
            return time ^ bit;
    return other;
}

/* The batch ends after the next one begins: reduce the time delta that is the likely cause. */
static bool shorten(repair *r, repair_batch *b, uint64_t limit)
{
    size_t where = 0;
    uint64_t over = b->last - limit;
    uint64_t step = limit < b->time || b->late != 0 ? 0 : find_step(r, b, over, &where);
    if (step == 0)
        return false;
    b->late = where;
    b->less = flipped_part(step, over);
    b->last -= b->less;
    b->changed = true;
    repair_report(r, REPAIR_CLOCK, where, b->less,
                  "an event is %" PRIu64 " tick%s too late; its time was reduced", b->less,
                  plural(b->less));
    return true;
}

static void move(repair *r, repair_batch *b, uint64_t to)
{
    bool back = to < b->time;
    uint64_t by = back ? b->time - to : to - b->time;
    repair_report(r, REPAIR_CLOCK, b->offset, by, "the batch was moved %s by %" PRIu64 " tick%s",
                  back ? "back" : "on", by, plural(by));
    b->last = to + (b->last - b->time);
    b->time = to;
    b->changed = true;
}

/* Move a batch into its generation if it is farther from it than the generation is long. */
static void move_into(repair *r, repair_batch *b, const frame *f)
{
    uint64_t size = f->high - f->low, length = b->last - b->time;
    bool early = f->low > size && b->time < f->low - size;
    bool late = b->last > f->high && b->last - f->high > size;
    if (late && b->time <= f->high)
        shorten(r, b, f->high);
    else if (early || late)
        move(r, b,
             flipped_back(b->time, f->low, length < size ? f->high - length : f->low, f->low));
}

/* Make an owner's batches follow each other in time. Of two that overlap, change the one that does
 * not fit its other neighbour either. */
static void mend_clocks(repair *r, const batch_list *timed, const frame *f)
{
    for (size_t i = 1; i < timed->count; i++) {
        repair_batch *a = timed->list[i - 1], *b = timed->list[i];
        const repair_batch *before = i > 1 ? timed->list[i - 2] : NULL;
        const repair_batch *after = i + 1 < timed->count ? timed->list[i + 1] : NULL;
        if (b->time >= a->last) {
            /* The whole batch may be too late. */
            if (after && after->time < b->time && after->time >= a->last &&
                b->last - b->time <= after->time - a->last)
                move(r, b, after->time - (b->last - b->time));
            continue;
        }
        uint64_t floor = before ? before->last : 0;
        bool fits_before = b->time >= floor && (!before || b->time >= before->time);
        if (fits_before && b->time >= a->time && shorten(r, a, b->time))
            continue;
        if (fits_before && b->time < a->time && b->time - floor >= a->last - a->time &&
            (before || after)) {
            uint64_t latest = b->time - (a->last - a->time);
            move(r, a, flipped_back(a->time, floor, latest, latest));
            continue;
        }
        uint64_t end = after ? after->time : f->high, size = b->last - b->time;
        move(r, b, flipped_back(b->time, a->last, end > size ? end - size : 0, a->last));
    }
}

/* ---- all steps ------------------------------------------------------------------------------- */

static bool mend_owner(repair *r, const batch_list *owned, batch_list *timed, const frame *f)
{
    drop_duplicates(r, owned);
    timed->count = 0;
    for (size_t i = 0; i < owned->count; i++)
        if (is_timed(owned->list[i]))
            timed->list[timed->count++] = owned->list[i];
    for (size_t i = 0; f->low < f->high && i < timed->count; i++)
        move_into(r, timed->list[i], f);
    if (!restore_places(r, timed))
        return false;
    mend_clocks(r, timed, f);
    return true;
}

/* Go's tracer writes the first strings of a generation before its first event, and its stacks after
 * the last one; other writers may not. Source: Go 1.27, runtime/trace.go, traceAdvance. */
static frame find_frame(const batch_list *generation)
{
    frame f = {.low = UINT64_MAX};
    size_t outside = 0;
    for (size_t i = 0; i < generation->count; i++) {
        const repair_batch *b = generation->list[i];
        if (b->kind == PARTS_STRINGS && b->time < f.low)
            f.low = b->time;
        if (b->kind == PARTS_STACKS && b->time > f.high)
            f.high = b->time;
    }
    for (size_t i = 0; i < generation->count; i++) {
        const repair_batch *b = generation->list[i];
        outside += is_timed(b) && (b->time < f.low || b->time > f.high);
    }
    return outside > 1 || f.low > f.high ? (frame){.low = UINT64_MAX} : f;
}

static bool mend_generation(repair *r, const batch_list *generation, batch_list *timed)
{
    frame f = repair_is_v2(r) ? find_frame(generation) : (frame){.low = UINT64_MAX};
    bool done = true;
    for (size_t i = 0, next; done && i < generation->count; i = next) {
        for (next = i + 1; next < generation->count; next++)
            if (generation->list[next]->owner != generation->list[i]->owner)
                break;
        batch_list owned = {generation->list + i, next - i};
        done = mend_owner(r, &owned, timed, &f);
    }
    return done;
}

/* Keep the first of several batches with clocks in a generation. */
static void drop_second_clocks(repair *r)
{
    for (size_t i = 0; i < r->count; i++) {
        repair_batch *a = &r->batches[i];
        if (a->kind != PARTS_SYNC || a->dropped)
            continue;
        for (size_t k = i + 1; k < r->count && r->batches[k].generation == a->generation; k++)
            if (r->batches[k].kind == PARTS_SYNC)
                r->batches[k].dropped = true;
    }
}

bool repair_mend(repair *r)
{
    size_t room = 0, timed_room = 0;
    batch_list all = {0}, timed = {0};
    bool done = true;
    if (!repair_is_v2(r))
        drop_false_batches(r);
    if (!repair_resume(r))
        return false;
    keep_tables(r);
    emit_damage(r);
    if (repair_is_v2(r)) {
        mend_generations(r);
        number_generations(r);
    }
    if (!parts_grow(r->memory, &all.list, &room, r->count + 1, sizeof *all.list, r->error))
        return false;
    if (!parts_grow(r->memory, &timed.list, &timed_room, r->count + 1, sizeof *timed.list,
                    r->error)) {
        parts_drop(r->memory, all.list, room, sizeof *all.list);
        return false;
    }
    for (size_t i = 0; i < r->count; i++)
        all.list[i] = &r->batches[i];
    qsort(all.list, r->count, sizeof *all.list, compare_owners);
    for (size_t i = 0, next; done && i < r->count; i = next) {
        for (next = i + 1; next < r->count; next++)
            if (all.list[next]->generation != all.list[i]->generation)
                break;
        batch_list generation = {all.list + i, next - i};
        done = mend_generation(r, &generation, &timed);
    }
    if (repair_is_v2(r))
        drop_second_clocks(r);
    repair_report_gaps(r);
    parts_drop(r->memory, all.list, room, sizeof *all.list);
    parts_drop(r->memory, timed.list, timed_room, sizeof *timed.list);
    return done;
}
