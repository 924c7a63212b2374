/* mutate.c - split a trace into pieces, change them, and join them. */
#include "cmd/mutate/mutate.h"

#include <stdlib.h>

#include "cmd/repair/repair.h"

const char *mutate_mode_name(mutate_mode mode)
{
    static const char *const names[] = {
        [MUTATE_ANY] = "any",
        [MUTATE_KEEP] = "keep-valid",
        [MUTATE_BREAK] = "break",
        [MUTATE_RAW] = "raw",
    };
    return names[mode];
}

const char *mutate_verdict(const mutate_job *job)
{
    switch (job->mode) {
    case MUTATE_KEEP: return "valid";
    case MUTATE_BREAK: return gotrace_rule_describe(job->rule)->id;
    default: return "unknown";
    }
}

/* ---- splitting into pieces ------------------------------------------------------------------- */

/* Bytes from the first invalid record on are a single piece. */
static bool split_pieces(mutate *m)
{
    mutate_pieces *p = &m->original;
    const uint8_t *at = m->bytes + m->header_size, *end = m->bytes + m->size;
    repair_record record;
    while (at < end) {
        bool is_record = m->version && repair_record_at(m->version, at, end, &record);
        mutate_piece piece = {.spec = is_record ? record.spec : NULL,
                              .bytes = at,
                              .size = is_record ? record.size : (size_t)(end - at),
                              .offset = (uint64_t)(at - m->bytes)};
        if (!mutate_grow(m, &p->list, &p->capacity, p->count + 1, sizeof *p->list))
            return false;
        p->list[p->count++] = piece;
        at += piece.size;
    }
    return true;
}

gotrace_status mutate_new(const void *bytes, size_t size, const gotrace_config *config,
                          mutate **mutation, gotrace_error *error)
{
    mutate *m = calloc(1, sizeof *m);
    *mutation = NULL;
    if (!m) {
        fill_error(error, GOTRACE_RULE_SYSTEM_MEMORY, GOTRACE_NO_OFFSET, "out of memory");
        return GOTRACE_ERROR;
    }
    m->bytes = bytes;
    m->size = size;
    m->config = config;
    m->memory.limit = parts_limit(config);
    m->version = parts_header_at(bytes, size);
    m->v2 = m->version >= GOTRACE_FIRST_V2;
    m->header_size = m->version ? PARTS_HEADER : 0;
    m->error = error;
    if (m->version)
        parts_shape_init(&m->shape, m->version);
    if (!split_pieces(m)) {
        mutate_free(m);
        return GOTRACE_ERROR;
    }
    *mutation = m;
    return GOTRACE_OK;
}

void mutate_free(mutate *m)
{
    if (!m)
        return;
    mutate_forget(m);
    free(m->original.list);
    free(m->now.list);
    free(m->values);
    free(m->widths);
    free(m->scratch.bytes);
    free(m->result.bytes);
    free(m);
}

/* ---- joining --------------------------------------------------------------------------------- */

/* Correct the size of a v2 batch. */
static bool correct_size(mutate *m, size_t head)
{
    enum { SIZE = 3 };
    mutate_piece *piece = &m->now.list[head];
    uint64_t size = 0;
    mutate_record record;
    if (!m->v2 || piece->exact || piece->spec->code != GOTRACE_V2_EventBatch)
        return true;
    for (size_t i = head + 1, end = mutate_next_head(m, head + 1); i < end; i++)
        size += m->now.list[i].size;
    if (!mutate_open(m, piece, &record) || record.values[SIZE] == size)
        return !m->failed;
    record.values[SIZE] = size;
    return mutate_close(m, piece, &record);
}

bool mutate_assemble(mutate *m)
{
    for (size_t i = mutate_next_head(m, 0); i < m->now.count; i = mutate_next_head(m, i + 1))
        if (!correct_size(m, i))
            return false;
    uint64_t size = m->header_size;
    for (size_t i = 0; i < m->now.count; i++)
        size += m->now.list[i].size;
    parts_bytes *b = &m->result;
    b->count = 0;
    if (!mutate_grow(m, &b->bytes, &b->capacity, (size_t)size + 1, 1))
        return false;
    memcpy(b->bytes, m->header, m->header_size);
    b->count = m->header_size;
    for (size_t i = 0; i < m->now.count; i++) {
        memcpy(b->bytes + b->count, m->now.list[i].bytes, m->now.list[i].size);
        b->count += m->now.list[i].size;
    }
    return true;
}

/* ---- variants -------------------------------------------------------------------------------- */

mutate_change *mutate_note(mutate *m, const char *what, const mutate_piece *piece)
{
    mutate_variant *v = m->variant;
    if (v->change_count == MUTATE_MAX_CHANGES)
        v->change_count--;
    mutate_change *change = &v->changes[v->change_count++];
    *change = (mutate_change){.what = what, .offset = GOTRACE_NO_OFFSET};
    if (piece) {
        change->offset = piece->offset;
        change->size = piece->size;
        change->record = piece->spec ? piece->spec->name : NULL;
    }
    return change;
}

/* Reset to the original pieces. */
static bool reset_pieces(mutate *m)
{
    const mutate_pieces *p = &m->original;
    mutate_forget(m);
    if (!mutate_grow(m, &m->now.list, &m->now.capacity, p->count, sizeof *p->list))
        return false;
    if (p->count > 0)
        memcpy(m->now.list, p->list, p->count * sizeof *p->list);
    m->now.count = p->count;
    memcpy(m->header, m->bytes, m->header_size);
    return true;
}

enum { MAX_ATTEMPTS = 40 }; /* limit of attempts without a change */

static bool fits(const mutate *m)
{
    return m->most == 0 || m->result.count <= m->most;
}

/* Make one to four changes, rarely more than two. */
static bool change_any(mutate *m)
{
    unsigned wanted = 1;
    while (wanted < 4 && mutate_chance(m, 3))
        wanted++;
    for (unsigned tries = 0; tries < MAX_ATTEMPTS && wanted > 0 && !m->failed; tries++)
        wanted -= mutate_any(m);
    return !m->failed && mutate_assemble(m);
}

/* Whether the variant is sound. If not, which is rare (events at the same time whose order
 * changes), the caller undoes the change. */
static bool is_sound(mutate *m, bool *sound)
{
    verdict found;
    *sound = false;
    if (!mutate_assemble(m))
        return false;
    if (!verdict_of(m->result.bytes, m->result.count, m->config, &found, m->error)) {
        m->failed = true;
        return false;
    }
    *sound = found.sound;
    return true;
}

/* Make changes, and drop those that make the trace unsound. Each has its own seed, so that it can
 * be repeated. */
static bool change_keep(mutate *m)
{
    uint64_t kept[MUTATE_MAX_CHANGES], seed = m->random;
    size_t count = 0, wanted = 1 + splitmix_below(&seed, 4);
    for (unsigned tries = 0; tries < MAX_ATTEMPTS && count < wanted && !m->failed; tries++) {
        bool sound = false;
        kept[count] = splitmix_next(&seed);
        m->variant->change_count = 0;
        if (!reset_pieces(m))
            return false;
        bool changed = true;
        for (size_t i = 0; i <= count; i++) {
            m->random = kept[i];
            changed = mutate_keep(m);
        }
        if (!changed)
            continue;
        if (!is_sound(m, &sound))
            return false;
        count += sound;
        m->variant->undone += !sound;
    }
    if (m->failed || !reset_pieces(m))
        return false;
    m->variant->change_count = 0;
    for (size_t i = 0; i < count; i++) {
        m->random = kept[i];
        mutate_keep(m);
    }
    bool sound;
    return is_sound(m, &sound);
}

static gotrace_status nothing(mutate *m, const char *why)
{
    fill_error(m->error, GOTRACE_RULE_USAGE, GOTRACE_NO_OFFSET, "%s", why);
    return GOTRACE_END;
}

/* Without known records, only bytes can be changed. */
static gotrace_status no_trace(mutate *m)
{
    verdict was;
    if (!verdict_of(m->bytes, m->size, m->config, &was, m->error))
        return GOTRACE_ERROR;
    fill_error(m->error, was.first.rule, GOTRACE_NO_OFFSET, "%s", was.first.message);
    return GOTRACE_END;
}

static gotrace_status make_keep(mutate *m)
{
    verdict was;
    if (!verdict_of(m->bytes, m->size, m->config, &was, m->error))
        return GOTRACE_ERROR;
    if (!was.sound)
        return nothing(m, "--keep-valid needs a sound trace; this one is not");
    if (!change_keep(m))
        return GOTRACE_ERROR;
    return m->variant->change_count > 0
               ? GOTRACE_OK
               : nothing(m, "the trace contains nothing that can be changed");
}

bool mutate_keep_sound(mutate *m)
{
    verdict was;
    if (!verdict_of(m->bytes, m->size, m->config, &was, m->error)) {
        m->failed = true;
        return false;
    }
    if (!was.sound) {
        nothing(m, "--break needs a sound trace; this one is not");
        return false;
    }
    if (mutate_chance(m, 2) ? !mutate_assemble(m) : !change_keep(m)) {
        m->failed = true;
        return false;
    }
    return true;
}

gotrace_status mutate_make(mutate *m, const mutate_job *job, mutate_variant *variant,
                           gotrace_error *error)
{
    gotrace_status status = GOTRACE_OK;
    *variant = (mutate_variant){.change_count = 0};
    m->variant = variant;
    m->error = error;
    m->failed = false;
    m->most = job->most;
    m->random = job->seed;
    if (!reset_pieces(m))
        return GOTRACE_ERROR;
    if (!m->version && job->mode != MUTATE_RAW)
        return no_trace(m);
    switch (job->mode) {
    case MUTATE_ANY: status = change_any(m) ? GOTRACE_OK : GOTRACE_ERROR; break;
    case MUTATE_RAW: status = mutate_raw(m) ? GOTRACE_OK : GOTRACE_ERROR; break;
    case MUTATE_KEEP: status = make_keep(m); break;
    case MUTATE_BREAK: status = mutate_break(m, job->rule); break;
    }
    if (status == GOTRACE_OK && (variant->change_count == 0 || !fits(m)))
        status = nothing(m, "the trace contains nothing that can be changed");
    variant->bytes = m->result.bytes;
    variant->size = m->result.count;
    return status;
}
