/* any.c - changes of records, batches and tables that need not leave the trace sound. */
#include "cmd/mutate/mutate.h"

#include <stdio.h>

/* ---- values ---------------------------------------------------------------------------------- */

static const uint64_t edges[] = {0,
                                 1,
                                 2,
                                 127,
                                 128,
                                 1023,
                                 1024,
                                 1025,
                                 65535,
                                 65536,
                                 65537,
                                 1000000,
                                 1000001,
                                 INT32_MAX,
                                 (uint64_t)INT32_MAX + 1,
                                 UINT32_MAX,
                                 (uint64_t)UINT32_MAX + 1,
                                 (uint64_t)1 << 53,
                                 INT64_MAX,
                                 (uint64_t)INT64_MAX + 1,
                                 UINT64_MAX - 1,
                                 UINT64_MAX};
enum { EDGES = sizeof edges / sizeof edges[0] };

/* A value of the same kind from elsewhere in the trace. */
static bool borrowed(mutate *m, unsigned kind, uint64_t *value)
{
    for (unsigned tries = 0; tries < 16; tries++) {
        mutate_record r;
        size_t at = mutate_pick(m, mutate_is_record);
        if (at == SIZE_MAX || !mutate_open(m, &m->now.list[at], &r))
            return false;
        for (size_t i = 0; i < r.fixed && i < r.record.arg_count; i++)
            if (r.args[i]->kind == kind) {
                *value = r.values[i];
                return true;
            }
    }
    return false;
}

static uint64_t other_value(mutate *m, unsigned kind, uint64_t value)
{
    uint64_t other;
    switch (mutate_below(m, 6)) {
    case 0: return value + 1;
    case 1: return value - 1;
    case 2: return edges[mutate_below(m, EDGES)];
    case 3: return value ^ (uint64_t)1 << mutate_below(m, 64);
    case 4: return mutate_below(m, 64);
    default: return borrowed(m, kind, &other) ? other : value + 2;
    }
}

static bool change_value(mutate *m)
{
    size_t at = mutate_pick(m, mutate_is_record);
    mutate_record r;
    if (at == SIZE_MAX || !mutate_open(m, &m->now.list[at], &r) || r.record.arg_count == 0)
        return false;
    size_t n = mutate_below(m, r.record.arg_count);
    bool is_frame = n >= r.fixed;
    uint64_t from = r.values[n], to;
    to = other_value(m, is_frame ? GOTRACE_ARG_VALUE : r.args[n]->kind, from);
    mutate_piece *piece = &m->now.list[at];
    if (to == from || !mutate_open(m, piece, &r)) /* borrowed() may have opened another record */
        return false;
    mutate_change *change = mutate_note(m, "value", piece);
    change->argument = is_frame ? "frame" : r.args[n]->name;
    mutate_set_values(change, from, to);
    r.values[n] = to;
    /* A changed size is kept, not corrected. */
    piece->exact |= mutate_is_head(m, at);
    return mutate_close(m, piece, &r);
}

/* ---- records --------------------------------------------------------------------------------- */

/* Change a record's type; the arguments that both types have are kept. */
static bool change_type(mutate *m)
{
    uint64_t values[GOTRACE_MAX_ARGS] = {0};
    const gotrace_arg_spec *args[GOTRACE_MAX_ARGS];
    size_t at = mutate_pick(m, mutate_is_record);
    const gotrace_event_spec *spec = gotrace_event_spec_of(m->version,
                                                           mutate_below(m, m->v2 ? 140 : 64));
    mutate_record r;
    if (at == SIZE_MAX || !spec || !mutate_open(m, &m->now.list[at], &r) || spec == r.record.spec ||
        (spec->flags & GOTRACE_SPEC_FRAMES))
        return false;
    size_t count = gotrace_event_args(spec, m->version, args);
    for (size_t i = 0; i < count && i < r.record.arg_count; i++)
        values[i] = r.values[i];
    mutate_set_values(mutate_note(m, "type", &m->now.list[at]), r.record.spec->code, spec->code);
    bool has_data = spec->flags & GOTRACE_SPEC_DATA;
    return mutate_set_record(m, &m->now.list[at], spec, values, count, has_data ? "other" : NULL,
                             has_data ? 5 : 0);
}

/* Insert a record of any type, with values that occur in the trace. */
static bool insert_record(mutate *m)
{
    uint64_t values[GOTRACE_MAX_ARGS];
    const gotrace_arg_spec *args[GOTRACE_MAX_ARGS];
    size_t at = mutate_pick(m, mutate_is_record);
    const gotrace_event_spec *spec = gotrace_event_spec_of(m->version,
                                                           mutate_below(m, m->v2 ? 140 : 64));
    if (at == SIZE_MAX || !spec || (spec->flags & GOTRACE_SPEC_FRAMES))
        return false;
    size_t count = gotrace_event_args(spec, m->version, args);
    for (size_t i = 0; i < count; i++) {
        bool step = args[i]->kind == GOTRACE_ARG_DT || args[i]->kind == GOTRACE_ARG_DSEQ;
        values[i] = step ? 1 : other_value(m, args[i]->kind, 0);
    }
    mutate_piece piece = {.offset = m->now.list[at].offset};
    bool has_data = spec->flags & GOTRACE_SPEC_DATA;
    if (!mutate_set_record(m, &piece, spec, values, count, has_data ? "new" : NULL,
                           has_data ? 3 : 0) ||
        !mutate_insert(m, at + 1, &piece, 1))
        return false;
    mutate_note(m, "record added", &piece);
    return true;
}

static bool drop_record(mutate *m)
{
    size_t at = mutate_pick(m, mutate_is_record);
    if (at == SIZE_MAX)
        return false;
    mutate_note(m, "record left out", &m->now.list[at]);
    mutate_remove(m, at, 1);
    return true;
}

static bool double_record(mutate *m)
{
    size_t at = mutate_pick(m, mutate_is_record);
    if (at == SIZE_MAX)
        return false;
    mutate_note(m, "record doubled", &m->now.list[at]);
    return mutate_insert(m, at + 1, &m->now.list[at], 1);
}

static bool swap_records(mutate *m)
{
    size_t at = mutate_pick(m, mutate_is_record);
    if (at == SIZE_MAX || at + 1 >= m->now.count)
        return false;
    mutate_note(m, "record after the next one", &m->now.list[at]);
    return mutate_exchange(m, at, at + 1, at + 2);
}

static bool move_record(mutate *m)
{
    size_t at = mutate_pick(m, mutate_is_record), to = mutate_pick(m, mutate_is_record);
    if (at == SIZE_MAX || at == to)
        return false;
    mutate_set_values(mutate_note(m, "record moved", &m->now.list[at]), m->now.list[at].offset,
                      m->now.list[to].offset);
    return at < to ? mutate_exchange(m, at, at + 1, to) : mutate_exchange(m, to, at, at + 1);
}

/* ---- batches --------------------------------------------------------------------------------- */

static void note_batch(mutate *m, const char *what, size_t begin, size_t end)
{
    mutate_change *change = mutate_note(m, what, &m->now.list[begin]);
    for (size_t i = begin + 1; i < end; i++)
        change->size += m->now.list[i].size;
}

static bool drop_batch(mutate *m)
{
    size_t begin, end;
    if (!mutate_pick_batch(m, &begin, &end))
        return false;
    note_batch(m, "batch left out", begin, end);
    mutate_remove(m, begin, end - begin);
    return true;
}

static bool double_batch(mutate *m)
{
    size_t begin, end;
    if (!mutate_pick_batch(m, &begin, &end))
        return false;
    note_batch(m, "batch doubled", begin, end);
    return mutate_insert(m, end, m->now.list + begin, end - begin);
}

static bool move_batch(mutate *m)
{
    size_t a, b, c, d;
    if (!mutate_pick_batch(m, &a, &b) || !mutate_pick_batch(m, &c, &d) || a == c)
        return false;
    note_batch(m, "batch moved", a, b);
    m->variant->changes[m->variant->change_count - 1].from_to = true;
    m->variant->changes[m->variant->change_count - 1].from = m->now.list[a].offset;
    m->variant->changes[m->variant->change_count - 1].to = m->now.list[c].offset;
    return a < c ? mutate_exchange(m, a, b, d) : mutate_exchange(m, c, a, b);
}

/* Drop the header: its records become part of the batch before. */
static bool drop_head(mutate *m)
{
    size_t begin, end;
    if (!mutate_pick_batch(m, &begin, &end))
        return false;
    mutate_note(m, "batch joined to the one before", &m->now.list[begin]);
    mutate_remove(m, begin, 1);
    return true;
}

static bool double_head(mutate *m)
{
    size_t begin, end, at = mutate_pick(m, mutate_is_record);
    if (at == SIZE_MAX || !mutate_pick_batch(m, &begin, &end))
        return false;
    mutate_note(m, "batch cut in two", &m->now.list[at]);
    return mutate_insert(m, at + 1, m->now.list + begin, 1);
}

static bool cut_off(mutate *m)
{
    size_t at = mutate_pick(m, mutate_is_record);
    if (at == SIZE_MAX || at == 0)
        return false;
    note_batch(m, "all removed from here on", at, m->now.count);
    mutate_remove(m, at, m->now.count - at);
    return true;
}

/* ---- tables and others ----------------------------------------------------------------------- */

static bool has_data(const mutate *m, const mutate_piece *piece)
{
    (void)m;
    return piece->spec->flags & GOTRACE_SPEC_DATA;
}

static bool change_data(mutate *m)
{
    static char large[1025];
    static const char *const texts[] = {"", "\xff\xfe", "a\0b", "runtime.main", "GC", "\x1b[31m"};
    static const uint8_t sizes[] = {0, 2, 3, 12, 2, 5};
    size_t at = mutate_pick(m, has_data), n = mutate_below(m, 7);
    return n < 6 ? mutate_text(m, at, texts[n], sizes[n]) : mutate_text(m, at, large, sizeof large);
}

static bool has_frames(const mutate *m, const mutate_piece *piece)
{
    (void)m;
    return piece->spec->flags & GOTRACE_SPEC_FRAMES;
}

/* Make a stack's frame count one larger or smaller than its number of frames. */
static bool change_frames(mutate *m)
{
    size_t at = mutate_pick(m, has_frames), per = gotrace_frame_values(m->version);
    mutate_record r;
    if (at == SIZE_MAX || !mutate_open(m, &m->now.list[at], &r) ||
        r.record.arg_count < r.fixed + per)
        return false;
    mutate_set_values(mutate_note(m, "frames", &m->now.list[at]), r.values[1], r.values[1] - 1);
    r.record.widths = NULL;
    if (mutate_chance(m, 2))
        r.values[1]--; /* the frame itself is kept */
    else
        r.record.arg_count -= per;
    return mutate_close(m, &m->now.list[at], &r);
}

static bool change_version(mutate *m)
{
    size_t count;
    const int *versions = gotrace_versions(&count);
    int version = versions[mutate_below(m, count)];
    if (version == m->version || m->header_size < PARTS_HEADER)
        return false;
    mutate_set_values(mutate_note(m, "version", NULL), (uint64_t)m->version, (uint64_t)version);
    memset(m->header, 0, sizeof m->header);
    char header[PARTS_HEADER + 1] = "";
    snprintf(header, sizeof header, "go 1.%d trace", version);
    memcpy(m->header, header, sizeof m->header);
    return true;
}

/* ---- table of changes ------------------------------------------------------------------------ */

static const struct {
    unsigned weight;
    bool (*change)(mutate *m);
} changes[] = {
    {16, change_value}, {4, change_type},  {4, insert_record}, {4, drop_record},
    {3, double_record}, {4, swap_records}, {3, move_record},   {2, drop_batch},
    {2, double_batch},  {2, move_batch},   {1, drop_head},     {1, double_head},
    {1, cut_off},       {2, change_data},  {2, change_frames}, {1, change_version},
    {1, mutate_pad},
};

enum { CHANGES = sizeof changes / sizeof changes[0] };

bool mutate_any(mutate *m)
{
    unsigned sum = 0;
    if (!m->version)
        return false;
    for (size_t i = 0; i < CHANGES; i++)
        sum += changes[i].weight;
    unsigned n = mutate_below(m, sum);
    size_t i = 0;
    for (; n >= changes[i].weight; i++)
        n -= changes[i].weight;
    return changes[i].change(m);
}
