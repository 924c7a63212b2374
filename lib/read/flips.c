#include "read/flips.h"

#include "read/reader.h"

enum {
    MOST_SEARCHES = 24,
    LEAST_GAIN = 256, /* bytes that become readable */
};

/* Bytes read to compare candidates: a second or less. */
static const uint64_t most_read = (uint64_t)32 << 20;

gotrace_status gt_read_bytes(gotrace_reader *reader, uint64_t offset, void *buffer, size_t size,
                             size_t *got)
{
    const gt_flips *f = &reader->flips;
    gotrace_status status = gt_source_read(reader->source, offset, buffer, size, got,
                                           &reader->error);
    for (size_t i = 0; status >= 0 && i < f->count; i++)
        if (f->list[i].offset >= offset && f->list[i].offset - offset < *got)
            ((uint8_t *)buffer)[f->list[i].offset - offset] ^= f->list[i].mask;
    return status;
}

bool gt_flips_begin(gotrace_reader *reader, uint64_t offset)
{
    enum { LEAST_TRIALS = 4 };
    gt_flips *f = &reader->flips;
    if (f->off || f->count == GT_MOST_FLIPS || f->searches == MOST_SEARCHES || offset < f->tried ||
        reader->summary.size * LEAST_TRIALS > most_read - f->read)
        return false;
    f->searches++;
    f->tried = offset + 1;
    return true;
}

/* ---- trials ---------------------------------------------------------------------------------- */

typedef struct trial {
    uint64_t reach; /* offset up to which the first pass reads */
    uint64_t problems, warnings;
    uint64_t most;      /* reading stops after so many problems */
    uint64_t from, end; /* offsets of the corrected bytes, and of some after them */
    bool contradicted;  /* there is a problem: another correction is right, or none */
} trial;

static bool count_problem(void *ctx, const gotrace_error *problem)
{
    trial *t = ctx;
    t->problems += problem->severity >= GOTRACE_PROBLEM;
    t->warnings += problem->severity == GOTRACE_WARNING;
    if (problem->severity >= GOTRACE_PROBLEM && problem->offset >= t->from &&
        problem->offset < t->end)
        t->contradicted = true;
    return t->problems <= t->most && !t->contradicted;
}

static bool is_better(const trial *a, const trial *b)
{
    if (a->contradicted)
        return false;
    if (a->reach != b->reach)
        return a->reach > b->reach;
    return a->problems != b->problems ? a->problems < b->problems : a->warnings < b->warnings;
}

/* Whether a trial failed for a reason that concerns the caller. */
static bool is_refused(const gotrace_reader *reader, const gotrace_error *e)
{
    return !reader->stopped &&
           (e->limit == GOTRACE_LIMIT_MEMORY || e->rule == GOTRACE_RULE_SYSTEM_MEMORY ||
            e->rule == GOTRACE_RULE_SYSTEM_READ || e->rule == GOTRACE_RULE_SYSTEM_WRITE);
}

static void read_trial(gotrace_reader *other, trial *t, const trial *best)
{
    t->reach = 0;
    t->most = UINT64_MAX;
    if (gotrace_reader_index(other) < 0)
        return;
    t->reach = other->summary.size - other->summary.unread_bytes;
    if (!other->v2 && !other->index.has_frequency && t->reach == other->summary.size)
        t->reach = 0; /* the trace is cut off, not altered */
    if (t->reach < best->reach)
        return;
    if (t->reach == best->reach)
        t->most = best->problems;
    if (t->problems > t->most)
        return;
    if (gotrace_reader_check(other) != GOTRACE_END && !other->stopped)
        t->reach = 0;
}

/* Reads the trace with a candidate, or without. False on failure. */
static bool try(gotrace_reader *reader, const gotrace_flip *candidate, uint64_t damage,
                const trial *best, trial *t)
{
    enum { NEAR = 64, RECORD = 12 }; /* bytes: after the damage; that a record has before a bit */
    gotrace_config config = reader->config;
    *t = (trial){.most = UINT64_MAX};
    if (candidate) {
        t->from = (candidate->offset < damage ? candidate->offset : damage) - RECORD;
        t->end = damage + NEAR;
    }
    config.on_problem = count_problem;
    config.on_progress = NULL;
    config.callback_ctx = t;
    config.every_problem = true;
    config.threads = 1;
    gotrace_reader *other = gt_open_helper(reader, &config);
    if (!other)
        return false;
    other->flips = (gt_flips){.count = reader->flips.count, .off = true, .trial = true};
    for (size_t i = 0; i < reader->flips.count; i++)
        other->flips.list[i] = reader->flips.list[i];
    if (candidate)
        other->flips.list[other->flips.count++] = *candidate;
    read_trial(other, t, best);
    bool refused = is_refused(other, gotrace_reader_error(other));
    if (refused)
        gt_fail_as(reader, gotrace_reader_error(other));
    gotrace_reader_close(other);
    reader->flips.read += reader->summary.size;
    return !refused;
}

gt_flip_result gt_flips_choose(gotrace_reader *reader, const gt_candidates *c, uint64_t offset,
                               bool ends)
{
    gt_flips *f = &reader->flips;
    const gotrace_flip *found = NULL;
    trial best = {.reach = offset + LEAST_GAIN - 1}, now;
    if (best.reach >= reader->summary.size)
        best.reach = reader->summary.size - 1;
    if (c->count == 0)
        return GT_FLIP_NONE;
    if (!ends) {
        const trial none = {.problems = UINT64_MAX};
        if (!try(reader, NULL, offset, &none, &best))
            return GT_FLIP_FAILED;
        best.warnings = 0; /* there have to be fewer problems */
    }
    for (size_t i = 0; i < c->count && reader->summary.size <= most_read - f->read; i++) {
        if (!try(reader, &c->list[i], offset, &best, &now))
            return GT_FLIP_FAILED;
        if (!is_better(&now, &best))
            continue;
        best = now;
        found = &c->list[i];
        if (best.reach == reader->summary.size && best.problems == 0 && best.warnings == 0)
            break;
    }
    if (!found)
        return GT_FLIP_NONE;
    f->list[f->count++] = *found;
    f->tried = found->offset;
    return GT_FLIP_FOUND;
}
