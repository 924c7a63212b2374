/* keep.c - changes that leave a sound trace sound: another order or encoding, other ids, and
 * changes of events that do not affect states. */
#include "cmd/mutate/mutate.h"
#include "gotrace_experimental.h"

/* ---- owners of batches ----------------------------------------------------------------------- */

typedef struct head {
    uint64_t generation, owner, ticks, seq;
} head;

/* False if the batch has no events: tables, clocks, the end of a generation. */
static bool open_head(mutate *m, size_t at, head *h)
{
    mutate_record r;
    *h = (head){.owner = UINT64_MAX};
    if (at >= m->now.count || !mutate_is_head(m, at) || !mutate_open(m, &m->now.list[at], &r))
        return false;
    for (size_t i = 0; i < r.fixed; i++) {
        switch (r.args[i]->kind) {
        case GOTRACE_ARG_GENERATION: h->generation = r.values[i]; break;
        case GOTRACE_ARG_PROC:
        case GOTRACE_ARG_THREAD: h->owner = r.values[i]; break;
        case GOTRACE_ARG_TICKS: h->ticks = r.values[i]; break;
        case GOTRACE_ARG_SEQ: h->seq = r.values[i]; break;
        default: break;
        }
    }
    if (!m->v2)
        return true;
    return m->now.list[at].spec->code == GOTRACE_V2_EventBatch && at + 1 < m->now.count &&
           mutate_is_timed(&m->now.list[at + 1]);
}

/* Add the ticks and sequence numbers of the records in [from, to). */
static void advance(mutate *m, size_t from, size_t to, head *h)
{
    mutate_record r;
    for (size_t i = from; i < to; i++) {
        if (!(m->now.list[i].spec->flags & GOTRACE_SPEC_TIMED) ||
            !mutate_open(m, &m->now.list[i], &r))
            continue;
        for (size_t k = 0; k < r.fixed; k++) {
            if (r.args[k]->kind == GOTRACE_ARG_DT)
                h->ticks += r.values[k];
            else if (r.args[k]->kind == GOTRACE_ARG_DSEQ)
                h->seq += r.values[k];
        }
    }
}

/* Increase the time delta and sequence delta of the first timed record in [from, to). */
static bool delay(mutate *m, size_t from, size_t to, uint64_t ticks, uint64_t seq)
{
    mutate_record r;
    while (from < to && !(m->now.list[from].spec->flags & GOTRACE_SPEC_TIMED))
        from++;
    if (from == to)
        return true;
    if (!mutate_open(m, &m->now.list[from], &r))
        return false;
    for (size_t k = 0; k < r.fixed; k++) {
        if (r.args[k]->kind == GOTRACE_ARG_DT)
            r.values[k] += ticks;
        else if (r.args[k]->kind == GOTRACE_ARG_DSEQ)
            r.values[k] += seq;
    }
    return mutate_close(m, &m->now.list[from], &r);
}

/* ---- other ids ------------------------------------------------------------------------------- */

typedef struct renaming {
    unsigned kind; /* gotrace_arg_kind; STRING and STACK include the defining records */
    uint64_t from, to, highest;
    bool one_generation;
    uint64_t generation;
} renaming;

/* Whether the n-th value of the record is an id of that kind. */
static bool is_id_of_kind(const mutate *m, const mutate_record *r, size_t n, unsigned kind)
{
    const char *table = kind == GOTRACE_ARG_STRING  ? "String"
                        : kind == GOTRACE_ARG_STACK ? "Stack"
                                                    : NULL;
    if (!table)
        return n < r->fixed && r->args[n]->kind == kind;
    parts_ref ref = kind == GOTRACE_ARG_STRING ? PARTS_REF_STRING : PARTS_REF_STACK;
    return (n == 0 && strcmp(r->record.spec->name, table) == 0) ||
           parts_ref_of(&m->shape, &r->record, n) == ref;
}

typedef bool (*value_fn)(renaming *renaming, uint64_t *value);

/* Call fn for each such value in the trace, or in the generation. */
static bool each_value(mutate *m, renaming *how, value_fn fn)
{
    bool inside = true;
    for (size_t i = 0; i < m->now.count; i++) {
        mutate_record r;
        mutate_piece *piece = &m->now.list[i];
        if (!mutate_open(m, piece, &r))
            continue;
        if (how->one_generation && mutate_is_head(m, i))
            for (size_t n = 0; n < r.fixed; n++)
                if (r.args[n]->kind == GOTRACE_ARG_GENERATION)
                    inside = r.values[n] == how->generation;
        bool changed = false;
        for (size_t n = 0; inside && n < r.record.arg_count; n++)
            if (is_id_of_kind(m, &r, n, how->kind))
                changed |= fn(how, &r.values[n]);
        if (changed && !mutate_close(m, piece, &r))
            return false;
    }
    return true;
}

enum { HIGHEST_ID = INT32_MAX }; /* larger ids mean "none", or are too large for some readers */

static bool find_highest(renaming *how, uint64_t *value)
{
    if (*value > how->highest && *value <= HIGHEST_ID)
        how->highest = *value;
    return false;
}

static bool rename_one(renaming *how, uint64_t *value)
{
    if (*value != how->from)
        return false;
    *value = how->to;
    return true;
}

static const unsigned kinds[] = {GOTRACE_ARG_STRING, GOTRACE_ARG_STACK,  GOTRACE_ARG_GOROUTINE,
                                 GOTRACE_ARG_PROC,   GOTRACE_ARG_THREAD, GOTRACE_ARG_TASK};

/* Pick an id of that kind, and its generation. */
static bool pick_value(mutate *m, renaming *how, const char **name)
{
    for (unsigned tries = 0; tries < 32; tries++) {
        size_t at = mutate_pick(m, mutate_is_record);
        mutate_record r;
        if (at == SIZE_MAX || !mutate_open(m, &m->now.list[at], &r))
            return false;
        for (size_t n = 0; n < r.record.arg_count; n++) {
            /* 0 is "none"; v1's proc 0 also owns tables and samples. */
            bool may_be_0 = m->v2 &&
                            (how->kind == GOTRACE_ARG_PROC || how->kind == GOTRACE_ARG_THREAD);
            if (!is_id_of_kind(m, &r, n, how->kind) || r.values[n] > HIGHEST_ID ||
                (r.values[n] == 0 && !may_be_0))
                continue;
            how->from = r.values[n];
            *name = n < r.fixed ? r.args[n]->name : "frame";
            head h = {0};
            size_t begin = at;
            while (begin > 0 && !mutate_is_head(m, begin))
                begin--;
            open_head(m, begin, &h);
            how->generation = h.generation;
            return true;
        }
    }
    return false;
}

static bool renumber(mutate *m)
{
    static const char *const what[] = {"string renumbered",    "stack renumbered",
                                       "goroutine renumbered", "proc renumbered",
                                       "thread renumbered",    "task renumbered"};
    size_t n = mutate_below(m, sizeof kinds / sizeof kinds[0]);
    renaming how = {.kind = kinds[n], .one_generation = m->v2 && n < 2};
    const char *name;
    if (!pick_value(m, &how, &name) || !each_value(m, &how, find_highest) ||
        how.highest > HIGHEST_ID - 2000)
        return false;
    how.to = how.highest + 1 + mutate_below(m, 1000);
    mutate_change *change = mutate_note(m, what[n], NULL);
    change->argument = name;
    mutate_set_values(change, how.from, how.to);
    return each_value(m, &how, rename_one);
}

/* ---- other clocks ---------------------------------------------------------------------------- */

/* 0: unknown time (v1 GoSysExit). */
static bool shift_one(renaming *how, uint64_t *value)
{
    if (*value == 0)
        return false;
    *value += how->to;
    return true;
}

static bool shift_times(mutate *m)
{
    renaming how = {.kind = GOTRACE_ARG_TICKS, .to = 1 + mutate_below(m, UINT32_MAX)};
    mutate_change *change = mutate_note(m, "all times later", NULL);
    change->from_to = true;
    change->to = how.to;
    return each_value(m, &how, shift_one);
}

static bool change_frequency(mutate *m)
{
    uint64_t factor = 2 + mutate_below(m, 4);
    bool found = false;
    for (size_t i = 0; i < m->now.count; i++) {
        mutate_record r;
        mutate_piece *piece = &m->now.list[i];
        if (!mutate_is_named(piece, "Frequency") || !mutate_open(m, piece, &r) ||
            r.values[0] > UINT32_MAX)
            continue;
        r.values[0] *= factor;
        found = true;
        if (!mutate_close(m, piece, &r))
            return false;
    }
    if (!found)
        return false;
    mutate_set_values(mutate_note(m, "frequency multiplied", NULL), 1, factor);
    return true;
}

/* ---- other batches --------------------------------------------------------------------------- */

/* Exchange adjacent batches of different owners. */
static bool swap_batches(mutate *m)
{
    size_t a, b, c;
    head first, second;
    if (!mutate_pick_batch(m, &a, &b) || b >= m->now.count)
        return false;
    c = mutate_next_head(m, b + 1);
    if (!open_head(m, a, &first) || !open_head(m, b, &second) || first.owner == second.owner ||
        first.generation != second.generation)
        return false;
    mutate_note(m, "batch after the next one", &m->now.list[a]);
    return mutate_exchange(m, a, b, c);
}

static bool set_head(mutate *m, mutate_piece *piece, const head *h)
{
    mutate_record r;
    if (!mutate_open(m, piece, &r))
        return false;
    for (size_t i = 0; i < r.fixed; i++) {
        if (r.args[i]->kind == GOTRACE_ARG_TICKS)
            r.values[i] = h->ticks;
        else if (r.args[i]->kind == GOTRACE_ARG_SEQ)
            r.values[i] = h->seq;
    }
    return mutate_close(m, piece, &r);
}

static bool split_batch(mutate *m)
{
    size_t begin, end;
    head h;
    if (!mutate_pick_batch(m, &begin, &end) || !open_head(m, begin, &h) || end - begin < 3)
        return false;
    size_t at = begin + 2 + mutate_below(m, end - begin - 2);
    for (size_t i = begin + 1; i < end; i++)
        if (!m->now.list[i].spec)
            return false;
    advance(m, begin + 1, at, &h);
    mutate_piece piece = m->now.list[begin];
    piece.offset = m->now.list[at].offset;
    mutate_note(m, "batch cut in two", &m->now.list[at]);
    return set_head(m, &piece, &h) && mutate_insert(m, at, &piece, 1);
}

static bool join_batches(mutate *m)
{
    size_t a, b, c;
    head first, second;
    if (!mutate_pick_batch(m, &a, &b) || b >= m->now.count ||
        m->now.list[m->now.count - 1].spec == NULL)
        return false;
    c = mutate_next_head(m, b + 1);
    if (!open_head(m, a, &first) || !open_head(m, b, &second) || first.owner != second.owner ||
        first.generation != second.generation)
        return false;
    advance(m, a + 1, b, &first);
    if (second.ticks < first.ticks || second.seq < first.seq)
        return false;
    mutate_note(m, "batch joined to the one before", &m->now.list[b]);
    if (!delay(m, b + 1, c, second.ticks - first.ticks, second.seq - first.seq))
        return false;
    mutate_remove(m, b, 1);
    return true;
}

/* ---- other bytes ----------------------------------------------------------------------------- */

static bool is_short(const mutate *m, const mutate_piece *piece)
{
    bool is_string = (piece->spec->flags & GOTRACE_SPEC_DATA) &&
                     !(piece->spec->flags & GOTRACE_SPEC_TIMED);
    return !m->v2 && *piece->bytes >> 6 < 3 && !is_string;
}

/* v1: give a short record a length. */
static bool lengthen(mutate *m)
{
    size_t at = mutate_pick(m, is_short);
    mutate_record r;
    if (at == SIZE_MAX || !mutate_open(m, &m->now.list[at], &r))
        return false;
    mutate_set_values(mutate_note(m, "form", &m->now.list[at]), r.record.form, 3);
    r.record.form = 3;
    r.record.widths = NULL;
    return mutate_close(m, &m->now.list[at], &r);
}

static bool is_text(const mutate *m, const mutate_piece *piece)
{
    return strcmp(piece->spec->name, "String") == 0 ||
           (!m->v2 && strcmp(piece->spec->name, "UserLog") == 0);
}

static bool change_text(mutate *m)
{
    static const char *const texts[] = {"x",
                                        "a name that is longer than most names are",
                                        "\xc3\xa4\xe2\x82\xac",
                                        "\"quoted\\\"",
                                        "\xff\xfe",
                                        "\t\r\n"};
    size_t at = mutate_pick(m, is_text);
    const char *text = texts[mutate_below(m, sizeof texts / sizeof texts[0])];
    return mutate_text(m, at, text, strlen(text));
}

/* ---- events without effect on states --------------------------------------------------------- */

static bool is_harmless(const mutate *m, const mutate_piece *piece)
{
    const gotrace_event_spec *spec = piece->spec;
    (void)m;
    switch (spec->semantics->kind) {
    case GOTRACE_KIND_LOG:
    case GOTRACE_KIND_LABEL: return true;
    case GOTRACE_KIND_METRIC: return spec->args[spec->arg_count - 1].kind == GOTRACE_ARG_BYTES;
    default: return false;
    }
}

/* Duplicate a record at the same time, so that no later event moves. Not in 1.5, where each event
 * has its own sequence number. */
static bool double_harmless(mutate *m)
{
    enum { NO_DSEQ = 7 };
    size_t at = mutate_pick(m, is_harmless);
    mutate_record r;
    if (m->version < NO_DSEQ || at == SIZE_MAX || !mutate_open(m, &m->now.list[at], &r))
        return false;
    mutate_piece piece = m->now.list[at];
    r.values[0] = 0;
    mutate_note(m, "record doubled", &piece);
    return mutate_close(m, &piece, &r) && mutate_insert(m, at + 1, &piece, 1);
}

static bool drop_harmless(mutate *m)
{
    size_t at = mutate_pick(m, is_harmless);
    if (at == SIZE_MAX || m->now.list[m->now.count - 1].spec == NULL)
        return false;
    head h = {0};
    advance(m, at, at + 1, &h);
    mutate_note(m, "record left out", &m->now.list[at]);
    if (!delay(m, at + 1, mutate_next_head(m, at + 1), h.ticks, h.seq))
        return false;
    mutate_remove(m, at, 1);
    return true;
}

/* ---- table of changes ------------------------------------------------------------------------ */

bool mutate_keep(mutate *m)
{
    static bool (*const changes[])(mutate * m) = {
        renumber,     renumber,    renumber,        shift_times,   change_frequency,
        swap_batches, split_batch, join_batches,    mutate_pad,    lengthen,
        change_text,  change_text, double_harmless, drop_harmless,
    };
    return changes[mutate_below(m, sizeof changes / sizeof changes[0])](m);
}
