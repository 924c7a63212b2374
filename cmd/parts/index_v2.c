/* index_v2.c - index the batches of a v2 file by their headers, and read its tables. */
#include "cmd/parts/parts.h"

enum { HEADER_MAX = 1 + 5 * 10 };

bool parts_varint(const uint8_t **p, const uint8_t *end, uint64_t *value)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 70 && *p < end; shift += 7) {
        uint8_t byte = *(*p)++;
        v |= (uint64_t)(byte & 0x7f) << (shift < 64 ? shift : 0);
        if (byte < 0x80) {
            *value = v;
            return shift < 63 || byte < 2;
        }
    }
    return false;
}

typedef struct v2_index {
    const parts_scan *scan;
    uint64_t at, size, generation;
    uint64_t given; /* position of the last progress report */
} v2_index;

static void damage(const v2_index *x, gotrace_rule rule, const char *what)
{
    gotrace_error error = {0};
    fill_error(&error, rule, x->at, "%s", what);
    x->scan->problem(x->scan->ctx, x->scan->number, &error);
}

static parts_kind kind_of(int version, bool experiment, uint64_t size, uint8_t first)
{
    if (experiment || size == 0)
        return PARTS_EVENTS;
    switch (first) {
    case GOTRACE_V2_Strings: return PARTS_STRINGS;
    case GOTRACE_V2_Stacks: return PARTS_STACKS;
    case GOTRACE_V2_CPUSamples: return PARTS_SAMPLES;
    case GOTRACE_V2_Frequency: return version < GOTRACE_FIRST_SYNC ? PARTS_SYNC : PARTS_EVENTS;
    case GOTRACE_V2_Sync: return version >= GOTRACE_FIRST_SYNC ? PARTS_SYNC : PARTS_EVENTS;
    default: return PARTS_EVENTS;
    }
}

static bool add(v2_index *x, const parts_batch *batch, gotrace_error *error)
{
    const parts_scan *s = x->scan;
    enum { STEP = 1 << 20 };
    if (x->at - x->given > STEP && s->config && s->config->on_progress) {
        x->given = x->at;
        s->config->on_progress(s->config->callback_ctx, x->at, x->size);
    }
    if (!parts_grow(s->memory, &s->batches->list, &s->batches->capacity, s->batches->count + 1,
                    sizeof *batch, error))
        return false;
    s->batches->list[s->batches->count] = *batch;
    s->batches->list[s->batches->count].offset = x->at;
    s->batches->list[s->batches->count++].input = s->number;
    x->at += batch->size;
    return true;
}

/* Index one batch by its header. Returns false if the rest cannot be read; *error is set if a
 * system call failed. */
static bool index_batch(v2_index *x, gotrace_error *error)
{
    uint8_t header[HEADER_MAX + 1];
    size_t got = 0;
    int version = x->scan->input->version;
    if (gotrace_source_read(x->scan->input->source, x->at, header, sizeof header, &got, error) < 0)
        return false;
    const uint8_t *p = header + 1, *end = header + got;
    if (header[0] == GOTRACE_V2_EndOfGeneration && version >= GOTRACE_FIRST_GENERATION_END &&
        x->generation != 0)
        return add(x, &(parts_batch){.size = 1, .generation = x->generation, .kind = PARTS_END},
                   error);
    bool experiment = header[0] == GOTRACE_V2_ExperimentalBatch &&
                      version >= GOTRACE_FIRST_EXPERIMENTS;
    if (header[0] != GOTRACE_V2_EventBatch && !experiment) {
        damage(x, GOTRACE_RULE_BATCH_HEADER, "no batch here; the rest is not read");
        return false;
    }
    uint64_t v[5] = {0}; /* experiment, generation, thread, time, size */
    for (unsigned i = experiment ? 0 : 1; i < 5; i++) {
        if (!parts_varint(&p, end, &v[i])) {
            damage(x, p == end ? GOTRACE_RULE_WIRE_TRUNCATED : GOTRACE_RULE_WIRE_VARINT,
                   "the header of a batch is incomplete; the rest is not read");
            return false;
        }
    }
    uint64_t before = (uint64_t)(p - header);
    if (v[4] > PARTS_MAX_BATCH || v[4] > x->size - x->at - before) {
        damage(x, v[4] > PARTS_MAX_BATCH ? GOTRACE_RULE_BATCH_HEADER : GOTRACE_RULE_WIRE_TRUNCATED,
               "the size of a batch is larger than possible; the rest is not read");
        return false;
    }
    x->generation = v[1];
    return add(x,
               &(parts_batch){.size = before + v[4],
                              .generation = v[1],
                              .owner = v[2],
                              .time = v[3],
                              .last = v[3],
                              .kind = (uint8_t)kind_of(version, experiment, v[4], *p)},
               error);
}

gotrace_status parts_index_v2(const parts_scan *scan, gotrace_error *error)
{
    v2_index x = {
        .scan = scan, .at = PARTS_HEADER, .size = gotrace_source_size(scan->input->source)};
    error->rule = GOTRACE_RULE_NONE;
    while (x.at < x.size && index_batch(&x, error))
        ;
    return error->rule == GOTRACE_RULE_NONE ? GOTRACE_OK : GOTRACE_ERROR;
}

/* A copy of the same clocks begins no generation. */
bool parts_begins_again(int version, const parts_batch *sync, const parts_batch *b)
{
    return version >= GOTRACE_FIRST_GENERATION_END && b->kind == PARTS_SYNC &&
           b->time != sync->time;
}

/* ---- tables --------------------------------------------------------------------------------- */

typedef struct loading {
    const parts_scan *scan;
    parts_table *table;
} loading;

static gotrace_status load_record(void *ctx, const gotrace_record *record, gotrace_error *error)
{
    loading *l = ctx;
    unsigned code = record->spec->code;
    if (code != GOTRACE_V2_String && code != GOTRACE_V2_Stack)
        return GOTRACE_OK;
    return parts_table_add(l->table, l->scan->memory, record, error) ? GOTRACE_OK : GOTRACE_ERROR;
}

gotrace_status parts_load(const parts_scan *scan, const parts_batch *batch, parts_table *table,
                          gotrace_error *error)
{
    loading l = {scan, table};
    if (parts_walk(scan->walker, scan->input->source, batch->offset, batch->size, load_record, &l,
                   error) < 0) {
        if (error->class_ == GOTRACE_CLASS_SYSTEM)
            return GOTRACE_ERROR;
        scan->problem(scan->ctx, scan->number, error);
    }
    return GOTRACE_OK;
}
