/* fit.c - check that parts belong to one trace, and find missing generations. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/parts/merge.h"

static const char *name_of(const parts_merge *m, uint32_t part)
{
    return m->job.name(m->job.ctx, part);
}

/* ---- v1: one frequency ---------------------------------------------------------------------- */

static void fit_frequency(parts_merge *m, bool *fit)
{
    uint32_t given = UINT32_MAX;
    m->frequency = m->job.frequency;
    for (uint32_t i = 0; i < m->job.count; i++) {
        uint64_t frequency = m->parts[i].in.frequency;
        if (frequency == 0 || frequency == m->frequency)
            continue;
        if (m->frequency == 0) {
            m->frequency = frequency;
            given = i;
            continue;
        }
        merge_report(m,
                     "'%s' does not belong: its clock ticks %" PRIu64
                     " times a second, %s%s%s %" PRIu64 " times",
                     name_of(m, i), frequency,
                     given == UINT32_MAX ? "--frequency specifies" : "that of '",
                     given == UINT32_MAX ? "" : name_of(m, given), given == UINT32_MAX ? "" : "'",
                     m->frequency);
        *fit = false;
    }
}

/* ---- v2: a generation has one clock ---------------------------------------------------------- */

/* The clocks of a generation. */
typedef struct clocks {
    bool given, given_all;
    uint64_t frequency, ticks, monotonic, seconds, nanoseconds;
    uint64_t batch; /* ticks at the start of the batch */
} clocks;

static gotrace_status clock_record(void *ctx, const gotrace_record *record, gotrace_error *error)
{
    clocks *c = ctx;
    (void)error;
    if (record->spec->code == GOTRACE_V2_Frequency) {
        c->frequency = record->args[0];
        c->given = true;
    } else if (record->spec->code == GOTRACE_V2_ClockSnapshot) {
        c->ticks = c->batch + record->args[0];
        c->monotonic = record->args[1];
        c->seconds = record->args[2];
        c->nanoseconds = record->args[3];
        c->given_all = true;
    }
    return GOTRACE_OK;
}

static bool read_clocks(parts_merge *m, const parts_batch *b, clocks *c, gotrace_error *error)
{
    *c = (clocks){.batch = b->time};
    if (!merge_source(m, b->input, error))
        return false;
    if (parts_walk(&m->walker, m->parts[b->input].in.source, b->offset, b->size, clock_record, c,
                   error) != GOTRACE_ERROR)
        return true;
    m->job.problem(m->job.ctx, b->input, error);
    return error->class_ != GOTRACE_CLASS_SYSTEM;
}

/* Whether the ticks and the monotonic time between two generations agree, as they do on one machine
 * without a restart. */
static bool clocks_agree(const clocks *a, const clocks *b)
{
    const double second = 1e9, tolerance = 0.1; /* clocks are read one after another */
    double ticks = ((double)b->ticks - (double)a->ticks) / (double)b->frequency;
    double nanoseconds = ((double)b->monotonic - (double)a->monotonic) / second;
    double apart = ticks - nanoseconds;
    return ticks >= 0 && (apart < 0 ? -apart : apart) <= tolerance + ticks / 100;
}

static int compare_syncs(const void *a, const void *b)
{
    const parts_batch *x = a, *y = b;
    if (x->generation != y->generation)
        return x->generation < y->generation ? -1 : 1;
    if (x->input != y->input)
        return x->input < y->input ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Compare the clocks of batches a and b of different parts; a comes first. */
static void fit_sync(const parts_merge *m, const parts_batch *a, const clocks *was,
                     const parts_batch *b, const clocks *now, bool *fit)
{
    const char *x = name_of(m, a->input), *y = name_of(m, b->input);
    unsigned long long g = b->generation;
    if (a->generation != b->generation) {
        if (was->given_all && now->given_all && now->frequency && !clocks_agree(was, now)) {
            merge_report(m,
                         "'%s' and '%s' do not belong together: the clocks of generation %llu do "
                         "not continue those of generation %llu",
                         x, y, g, (unsigned long long)a->generation);
            *fit = false;
        }
    } else if (was->given && now->given && was->frequency != now->frequency) {
        merge_report(m,
                     "'%s' and '%s' do not belong together: in generation %llu their clocks tick "
                     "%" PRIu64 " and %" PRIu64 " times a second",
                     x, y, g, was->frequency, now->frequency);
        *fit = false;
    } else if (was->given_all && now->given_all &&
               (was->ticks != now->ticks || was->monotonic != now->monotonic ||
                was->seconds != now->seconds || was->nanoseconds != now->nanoseconds)) {
        merge_report(m,
                     "'%s' and '%s' do not belong together: in generation %llu their clocks differ",
                     x, y, g);
        *fit = false;
    }
}

/* Copy the batches of that kind. */
static bool pick(parts_merge *m, parts_kind kind, parts_batches *picked, gotrace_error *error)
{
    for (size_t i = 0; i < m->batches.count; i++) {
        if (m->batches.list[i].kind != kind)
            continue;
        if (!parts_grow(&m->memory, &picked->list, &picked->capacity, picked->count + 1,
                        sizeof *picked->list, error))
            return false;
        picked->list[picked->count++] = m->batches.list[i];
    }
    return true;
}

static void drop(parts_merge *m, parts_batches *picked)
{
    parts_drop(&m->memory, picked->list, picked->capacity, sizeof *picked->list);
}

/* Whether a part has one generation with each number. */
static bool fit_numbers(const parts_merge *m, const parts_batches *syncs)
{
    bool fit = true;
    for (size_t i = 1; i < syncs->count && fit; i++) {
        const parts_batch *b = &syncs->list[i];
        fit = b->input != b[-1].input || b->generation != b[-1].generation ||
              !parts_begins_again(m->version, b - 1, b);
        if (!fit)
            merge_report(m, "'%s' cannot be merged: " PARTS_REPEATED, name_of(m, b->input),
                         b->generation, m->version);
    }
    return fit;
}

static bool fit_clocks(parts_merge *m, bool *fit, gotrace_error *error)
{
    parts_batches syncs = {NULL, 0, 0};
    clocks was = {.given = false}, now;
    bool done = pick(m, PARTS_SYNC, &syncs, error);
    if (done && syncs.count > 0)
        qsort(syncs.list, syncs.count, sizeof *syncs.list, compare_syncs);
    *fit = *fit && (!done || fit_numbers(m, &syncs));
    for (size_t i = 0; i < syncs.count && done && *fit; i++) {
        const parts_batch *b = &syncs.list[i];
        done = read_clocks(m, b, &now, error);
        if (done && i > 0 && b->input != b[-1].input)
            fit_sync(m, b - 1, &was, b, &now, fit);
        was = now;
    }
    drop(m, &syncs);
    return done;
}

/* ---- owners in two parts --------------------------------------------------------------------- */

static int compare_owners(const void *a, const void *b, void *ctx)
{
    const parts_batch *x = a, *y = b;
    (void)ctx;
    if (x->generation != y->generation)
        return x->generation < y->generation ? -1 : 1;
    if (x->owner != y->owner)
        return x->owner < y->owner ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->input != y->input)
        return x->input < y->input ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static gotrace_status last_record(void *ctx, const gotrace_record *record, gotrace_error *error)
{
    (void)error;
    if (record->spec->flags & GOTRACE_SPEC_TIMED)
        *(uint64_t *)ctx += record->args[0];
    return GOTRACE_OK;
}

/* Set b->last; v2 batches do not contain the time of their last event. */
static bool find_last(parts_merge *m, parts_batch *b, gotrace_error *error)
{
    if (m->version < GOTRACE_FIRST_V2)
        return true;
    if (!merge_source(m, b->input, error))
        return false;
    b->last = b->time;
    return parts_walk(&m->walker, m->parts[b->input].in.source, b->offset, b->size, last_record,
                      &b->last, error) != GOTRACE_ERROR ||
           error->class_ != GOTRACE_CLASS_SYSTEM;
}

static void report_twice(const parts_merge *m, const parts_batch *a, const parts_batch *b)
{
    char when[48] = "";
    if (m->version >= GOTRACE_FIRST_V2)
        snprintf(when, sizeof when, " in generation %" PRIu64, b->generation);
    merge_report(m,
                 "'%s' and '%s' do not belong together: both have events of %s %" PRId64
                 "%s at ticks %" PRIu64,
                 name_of(m, a->input), name_of(m, b->input),
                 m->version < GOTRACE_FIRST_V2 ? "proc" : "thread", (int64_t)b->owner, when,
                 b->time);
}

/* A proc or a thread cannot have overlapping batches in two parts. */
static bool fit_owners(parts_merge *m, bool *fit, gotrace_error *error)
{
    enum { GIVEN = 5 };
    parts_batches events = {NULL, 0, 0};
    unsigned given = 0;
    bool done = pick(m, PARTS_EVENTS, &events, error);
    if (done && events.count > 0)
        qsort_r(events.list, events.count, sizeof *events.list, compare_owners, m);
    for (size_t i = 1; i < events.count && done && given < GIVEN; i++) {
        parts_batch *b = &events.list[i], *a = b - 1;
        if (a->generation != b->generation || a->owner != b->owner || a->input == b->input)
            continue;
        done = find_last(m, a, error);
        if (done && (a->last > b->time || a->time == b->time)) {
            report_twice(m, a, b);
            *fit = false;
            given++;
        }
    }
    drop(m, &events);
    return done;
}

/* ---- missing generations --------------------------------------------------------------------- */

static int compare_numbers(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static bool find_gaps(parts_merge *m, gotrace_error *error)
{
    uint64_t *numbers = NULL;
    size_t capacity = 0, count = m->batches.count;
    if (!parts_grow(&m->memory, &numbers, &capacity, count, sizeof *numbers, error))
        return false;
    for (size_t i = 0; i < count; i++)
        numbers[i] = m->batches.list[i].generation;
    if (count > 0)
        qsort(numbers, count, sizeof *numbers, compare_numbers);
    for (size_t i = 1; i < count; i++) {
        uint64_t first = numbers[i - 1] + 1, last = numbers[i] - 1;
        if (numbers[i] <= first)
            continue;
        if (first == last)
            merge_report(m, "a part is missing: no part contains generation %" PRIu64, first);
        else
            merge_report(m,
                         "parts are missing: no part contains generations %" PRIu64 " to %" PRIu64,
                         first, last);
    }
    parts_drop(&m->memory, numbers, capacity, sizeof *numbers);
    return true;
}

bool merge_fit(parts_merge *m, bool *fit, gotrace_error *error)
{
    if (m->version < GOTRACE_FIRST_V2)
        fit_frequency(m, fit);
    else if (!fit_clocks(m, fit, error))
        return false;
    if (!fit_owners(m, fit, error))
        return false;
    return !*fit || m->version < GOTRACE_FIRST_V2 || find_gaps(m, error);
}
