/* merge.c - open parts and merge them. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/parts/merge.h"

/* ---- sources -------------------------------------------------------------------------------- */

void merge_report(const parts_merge *m, const char *text, ...)
{
    char message[512];
    va_list args;
    va_start(args, text);
    vsnprintf(message, sizeof message, text, args);
    va_end(args);
    m->job.misfit(m->job.ctx, message);
}

/* Close the least recently used source that can be reopened. */
static void close_one(parts_merge *m)
{
    size_t oldest = m->open_count;
    for (size_t i = 0; i < m->open_count; i++)
        if (oldest == m->open_count || m->parts[m->open[i]].used < m->parts[m->open[oldest]].used)
            oldest = i;
    if (oldest == m->open_count)
        return;
    merge_part *part = &m->parts[m->open[oldest]];
    gotrace_source_close(part->in.source);
    part->in.source = NULL;
    m->open[oldest] = m->open[--m->open_count];
}

bool merge_source(parts_merge *m, uint32_t number, gotrace_error *error)
{
    merge_part *part = &m->parts[number];
    part->used = ++m->clock;
    if (part->in.source)
        return true;
    if (m->open_count == PARTS_OPEN)
        close_one(m);
    part->in.source = m->job.open(m->job.ctx, number, &part->reopenable, error);
    /* A pipe cannot be reopened. */
    if (part->in.source && part->reopenable)
        m->open[m->open_count++] = number;
    return part->in.source != NULL;
}

static void problem(void *ctx, uint32_t number, const gotrace_error *found)
{
    const parts_merge *m = ctx;
    m->job.problem(m->job.ctx, number, found);
}

parts_scan merge_scan(parts_merge *m, uint32_t part)
{
    return (parts_scan){.input = &m->parts[part].in,
                        .number = part,
                        .walker = &m->walker,
                        .batches = &m->batches,
                        .memory = &m->memory,
                        .config = m->job.config,
                        .problem = problem,
                        .ctx = m};
}

/* ---- opening -------------------------------------------------------------------------------- */

/* Read all headers and determine the version. */
static bool probe_parts(parts_merge *m, bool *fit, gotrace_error *error)
{
    m->version = m->job.version;
    uint32_t given = 0;
    for (uint32_t i = 0; i < m->job.count; i++) {
        merge_part *part = &m->parts[i];
        if (!merge_source(m, i, error))
            return false;
        part->probed = parts_input_probe(&part->in, m->job.config, error) == GOTRACE_OK;
        if (!part->probed) {
            if (error->class_ == GOTRACE_CLASS_SYSTEM)
                return false;
            problem(m, i, error);
            *fit = false;
        } else if (!part->in.bare && m->version == 0) {
            m->version = part->in.version;
            given = i;
        } else if (!part->in.bare && m->version != part->in.version) {
            merge_report(m, "'%s' does not belong: it is a trace of go 1.%d, %s%s%s go 1.%d",
                         m->job.name(m->job.ctx, i), part->in.version,
                         m->job.version ? "--go specifies" : "'",
                         m->job.version ? "" : m->job.name(m->job.ctx, given),
                         m->job.version ? "" : "' is one of", m->version);
            *fit = false;
        }
    }
    return true;
}

/* Batches without a header get the version of the other parts. */
static bool check_bare(parts_merge *m, gotrace_error *error)
{
    for (uint32_t i = 0; i < m->job.count; i++) {
        parts_input *in = &m->parts[i].in;
        if (!in->bare)
            continue;
        if (m->version == 0 || m->version >= GOTRACE_FIRST_V2) {
            fill_error(error, GOTRACE_RULE_USAGE, GOTRACE_NO_OFFSET,
                       m->version ? "'%.100s' begins with a batch in the format of go 1.5 to 1.21; "
                                    "the others have version 1.%d"
                                  : "'%.100s' has no header: specify its version with --go",
                       m->job.name(m->job.ctx, i), m->version);
            return false;
        }
        in->version = m->version;
    }
    return true;
}

static int compare_keys(const parts_batch *x, const parts_batch *y)
{
    if (x->generation != y->generation)
        return x->generation < y->generation ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->owner != y->owner)
        return x->owner < y->owner ? -1 : 1;
    return x->size < y->size ? -1 : x->size > y->size;
}

static void find_key(parts_merge *m, merge_part *part)
{
    for (size_t i = part->first; i < part->end; i++) {
        const parts_batch *b = &m->batches.list[i];
        if (b->kind == PARTS_EVENTS && (part->key.size == 0 || compare_keys(b, &part->key) < 0))
            part->key = *b;
    }
}

static int compare_parts(const void *a, const void *b, void *ctx)
{
    const parts_merge *m = ctx;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    int order = compare_keys(&m->parts[i].key, &m->parts[k].key);
    return order ? order : i < k ? -1 : i > k;
}

/* The result does not depend on the order of the arguments. */
static bool order_parts(parts_merge *m, gotrace_error *error)
{
    size_t count = m->job.count;
    if (!parts_grow(&m->memory, &m->positions, &m->position_capacity, count, sizeof *m->positions,
                    error))
        return false;
    for (uint32_t i = 0; i < count; i++)
        m->positions[i] = i;
    if (count > 0)
        qsort_r(m->positions, count, sizeof *m->positions, compare_parts, m);
    for (uint32_t i = 0; i < count; i++)
        m->parts[m->positions[i]].position = i;
    return true;
}

static bool index_parts(parts_merge *m, gotrace_error *error)
{
    if (!parts_walker_init(&m->walker, m->version, NULL, error))
        return false;
    parts_shape_init(&m->shape, m->version);
    for (uint32_t i = 0; i < m->job.count; i++) {
        parts_scan scan = merge_scan(m, i);
        m->parts[i].first = m->batches.count;
        if (!merge_source(m, i, error) || parts_input_index(&scan, error) < 0)
            return false;
        m->parts[i].end = m->batches.count;
        find_key(m, &m->parts[i]);
    }
    return order_parts(m, error);
}

gotrace_status parts_merge_open(const parts_merge_job *job, parts_merge **merge, bool *fit,
                                gotrace_error *error)
{
    parts_merge *m = *merge = calloc(1, sizeof *m);
    *fit = true;
    if (!m) {
        fill_error(error, GOTRACE_RULE_SYSTEM_MEMORY, GOTRACE_NO_OFFSET, "out of memory");
        return GOTRACE_ERROR;
    }
    m->job = *job;
    m->memory.limit = parts_limit(job->config);
    m->error = error;
    if (job->count > UINT32_MAX ||
        !parts_grow(&m->memory, &m->parts, &m->part_capacity, job->count, sizeof *m->parts, error))
        return GOTRACE_ERROR;
    memset(m->parts, 0, m->part_capacity * sizeof *m->parts);
    if (!probe_parts(m, fit, error))
        return GOTRACE_ERROR;
    if (!*fit)
        return GOTRACE_OK;
    if (!check_bare(m, error) || !index_parts(m, error) || !merge_fit(m, fit, error))
        return GOTRACE_ERROR;
    return GOTRACE_OK;
}

void parts_merge_close(parts_merge *m)
{
    if (!m)
        return;
    for (size_t i = 0; m->parts && i < m->job.count; i++) {
        parts_input_free(&m->parts[i].in, &m->memory);
        gotrace_source_close(m->parts[i].in.source);
    }
    parts_intern_free(&m->strings, &m->memory);
    parts_intern_free(&m->stacks, &m->memory);
    parts_walker_free(&m->walker);
    free(m->batches.list);
    free(m->positions);
    free(m->parts);
    free(m->args);
    free(m->bytes.bytes);
    free(m);
}
