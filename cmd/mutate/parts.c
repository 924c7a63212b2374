/* parts.c - decode, rewrite and move pieces of a trace. */
#include <stdlib.h>

#include "cmd/mutate/mutate.h"
#include "cmd/repair/repair.h"

/* ---- memory ---------------------------------------------------------------------------------- */

struct mutate_chunk {
    mutate_chunk *before;
    size_t size;
    uint8_t bytes[];
};

/* Copy bytes to memory that is valid until the next variant. */
static const uint8_t *keep(mutate *m, const void *bytes, size_t size)
{
    if (size > m->memory.limit - m->memory.used) {
        fill_error(m->error, GOTRACE_RULE_SYSTEM_LIMIT, GOTRACE_NO_OFFSET,
                   "the variant needs more than %llu bytes of memory, the limit",
                   (unsigned long long)m->memory.limit);
        m->failed = true;
        return NULL;
    }
    mutate_chunk *chunk = malloc(sizeof *chunk + size);
    if (!chunk) {
        fill_error(m->error, GOTRACE_RULE_SYSTEM_MEMORY, GOTRACE_NO_OFFSET, "out of memory");
        m->failed = true;
        return NULL;
    }
    *chunk = (mutate_chunk){.before = m->chunks, .size = size};
    if (size > 0)
        memcpy(chunk->bytes, bytes, size);
    m->chunks = chunk;
    m->memory.used += size;
    return chunk->bytes;
}

void mutate_forget(mutate *m)
{
    while (m->chunks) {
        mutate_chunk *before = m->chunks->before;
        m->memory.used -= m->chunks->size;
        free(m->chunks);
        m->chunks = before;
    }
}

bool mutate_grow(mutate *m, void *list, size_t *capacity, size_t count, size_t size)
{
    if (parts_grow(&m->memory, list, capacity, count, size, m->error))
        return true;
    m->failed = true;
    return false;
}

/* ---- decoding -------------------------------------------------------------------------------- */

/* Decode the next value, and store its width. */
static bool take(mutate *m, size_t *count, size_t *widths, const uint8_t **p, const uint8_t *end,
                 bool is_value)
{
    const uint8_t *begin = *p;
    uint64_t value;
    if (!parts_varint(p, end, &value) ||
        !mutate_grow(m, &m->widths, &m->width_capacity, *widths + 1, 1))
        return false;
    m->widths[(*widths)++] = (uint8_t)(*p - begin);
    if (!is_value)
        return true;
    /* Space for two copies: mutate_record.record.args and .values. */
    if (!mutate_grow(m, &m->values, &m->value_capacity, 2 * (*count + 1), sizeof *m->values))
        return false;
    m->values[(*count)++] = value;
    return true;
}

bool mutate_open(mutate *m, const mutate_piece *piece, mutate_record *r)
{
    repair_record parsed;
    const uint8_t *end = piece->bytes + piece->size, *p = piece->bytes + 1;
    if (!piece->spec || !repair_record_at(m->version, piece->bytes, end, &parsed) ||
        parsed.size != piece->size)
        return false;
    uint8_t form = m->v2 ? 0 : *piece->bytes >> 6;
    bool has_data = parsed.spec->flags & GOTRACE_SPEC_DATA;
    bool has_length = form == 3 && !(has_data && !(parsed.spec->flags & GOTRACE_SPEC_TIMED));
    size_t count = 0, widths = 0;
    r->fixed = gotrace_event_args(parsed.spec, m->version, r->args);
    if (has_length && !take(m, &count, &widths, &p, end, false))
        return false;
    for (uint64_t i = 0; i < parsed.arg_count + parsed.frame_values; i++)
        if (!take(m, &count, &widths, &p, end, true))
            return false;
    if (has_data && !take(m, &count, &widths, &p, end, false))
        return false;
    r->record = (gotrace_record){.spec = parsed.spec,
                                 .offset = piece->offset,
                                 .length = piece->size,
                                 .args = m->values,
                                 .arg_count = count,
                                 .data = (const char *)parsed.data,
                                 .data_size = parsed.data_size,
                                 .form = form,
                                 .widths = m->widths,
                                 .width_count = widths};
    r->values = NULL;
    if (count > 0) {
        r->values = m->values + count;
        memcpy(r->values, m->values, count * sizeof *m->values);
    }
    return true;
}

/* ---- encoding -------------------------------------------------------------------------------- */

static bool put_record(mutate *m, mutate_piece *piece, const gotrace_record *record,
                       const uint64_t *values)
{
    m->scratch.count = 0;
    if (!parts_put_record(&m->scratch, &m->memory, m->version, record, values, m->error)) {
        m->failed = true;
        return false;
    }
    const uint8_t *bytes = keep(m, m->scratch.bytes, m->scratch.count);
    if (!bytes)
        return false;
    piece->spec = record->spec;
    piece->bytes = bytes;
    piece->size = m->scratch.count;
    return true;
}

bool mutate_close(mutate *m, mutate_piece *piece, mutate_record *r)
{
    return put_record(m, piece, &r->record, r->values);
}

bool mutate_set_record(mutate *m, mutate_piece *piece, const gotrace_event_spec *spec,
                       const uint64_t *values, size_t count, const char *data, size_t data_size)
{
    gotrace_record record = {.spec = spec,
                             .args = values,
                             .arg_count = count,
                             .data = data,
                             .data_size = data_size,
                             .form = gotrace_record_form(spec, m->version)};
    return put_record(m, piece, &record, NULL);
}

/* ---- moving ---------------------------------------------------------------------------------- */

bool mutate_insert(mutate *m, size_t at, const mutate_piece *pieces, size_t count)
{
    mutate_pieces *p = &m->now;
    mutate_piece *copy = malloc(count * sizeof *copy); /* pieces may point into the list */
    if (!copy) {
        fill_error(m->error, GOTRACE_RULE_SYSTEM_MEMORY, GOTRACE_NO_OFFSET, "out of memory");
        m->failed = true;
        return false;
    }
    memcpy(copy, pieces, count * sizeof *copy);
    bool room = mutate_grow(m, &p->list, &p->capacity, p->count + count, sizeof *p->list);
    if (room) {
        memmove(p->list + at + count, p->list + at, (p->count - at) * sizeof *p->list);
        memcpy(p->list + at, copy, count * sizeof *copy);
        p->count += count;
    }
    free(copy);
    return room;
}

void mutate_remove(mutate *m, size_t at, size_t count)
{
    mutate_pieces *p = &m->now;
    memmove(p->list + at, p->list + at + count, (p->count - at - count) * sizeof *p->list);
    p->count -= count;
}

bool mutate_exchange(mutate *m, size_t a, size_t b, size_t c)
{
    if (a == b || b == c)
        return false;
    if (!mutate_insert(m, c, m->now.list + a, b - a))
        return false;
    mutate_remove(m, a, b - a);
    return true;
}

/* ---- finding --------------------------------------------------------------------------------- */

bool mutate_is_named(const mutate_piece *piece, const char *name)
{
    return piece->spec && strcmp(piece->spec->name, name) == 0;
}

bool mutate_is_timed(const mutate_piece *piece)
{
    return piece->spec && (piece->spec->flags & GOTRACE_SPEC_TIMED) &&
           !mutate_is_named(piece, "CPUSample");
}

bool mutate_is_head(const mutate *m, size_t at)
{
    const gotrace_event_spec *spec = m->now.list[at].spec;
    if (!spec)
        return false;
    return spec->code == GOTRACE_V1_Batch ||
           (m->v2 && (spec->code == GOTRACE_V2_ExperimentalBatch ||
                      spec->code == GOTRACE_V2_EndOfGeneration));
}

size_t mutate_next_head(const mutate *m, size_t at)
{
    while (at < m->now.count && !mutate_is_head(m, at))
        at++;
    return at;
}

bool mutate_pick_batch(mutate *m, size_t *begin, size_t *end)
{
    size_t heads = 0;
    for (size_t i = 0; i < m->now.count; i++)
        heads += mutate_is_head(m, i);
    if (heads == 0)
        return false;
    size_t wanted = mutate_below(m, heads);
    *begin = mutate_next_head(m, 0);
    while (wanted-- > 0)
        *begin = mutate_next_head(m, *begin + 1);
    *end = mutate_next_head(m, *begin + 1);
    return true;
}

size_t mutate_pick(mutate *m, bool (*wanted)(const mutate *m, const mutate_piece *piece))
{
    if (m->now.count == 0)
        return SIZE_MAX;
    size_t from = mutate_below(m, m->now.count);
    for (size_t i = 0; i < m->now.count; i++) {
        size_t at = (from + i) % m->now.count;
        if (m->now.list[at].spec && wanted(m, &m->now.list[at]))
            return at;
    }
    return SIZE_MAX;
}

bool mutate_is_record(const mutate *m, const mutate_piece *piece)
{
    (void)m;
    return piece->spec != NULL;
}

/* ---- changes of several modes ---------------------------------------------------------------- */

bool mutate_pad(mutate *m)
{
    enum { WIDEST = 10 };
    size_t at = mutate_pick(m, mutate_is_record);
    mutate_record r;
    if (at == SIZE_MAX || !mutate_open(m, &m->now.list[at], &r) || r.record.width_count == 0)
        return false;
    size_t n = mutate_below(m, r.record.width_count);
    unsigned width = m->widths[n];
    if (width >= WIDEST)
        return false;
    m->widths[n] = (uint8_t)(width + 1 + mutate_below(m, WIDEST - width));
    mutate_set_values(mutate_note(m, "bytes of a number", &m->now.list[at]), width, m->widths[n]);
    return mutate_close(m, &m->now.list[at], &r);
}

bool mutate_text(mutate *m, size_t at, const char *text, size_t size)
{
    mutate_record r;
    if (at == SIZE_MAX || !mutate_open(m, &m->now.list[at], &r))
        return false;
    mutate_set_values(mutate_note(m, "text", &m->now.list[at]), r.record.data_size, size);
    r.record.data = text;
    r.record.data_size = size;
    r.record.widths = NULL;
    return mutate_close(m, &m->now.list[at], &r);
}
