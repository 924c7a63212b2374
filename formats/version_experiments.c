/*
 * version_experiments.c - what experiments write beside their events: batches of their own data.
 *
 * They are no events, so that no reader of events tells of them. Where there is an event of an
 * experiment, the source is searched for them, record by record.
 */
#include <stdlib.h>

#include "version.h"

struct experiment_batch {
    uint64_t generation, experiment, offset;
    int64_t thread;
    size_t size;
};

static bool remember(version_converter *c, const gotrace_record *r)
{
    if (c->batch_count == c->batch_capacity) {
        size_t capacity = c->batch_capacity ? 2 * c->batch_capacity : 16;
        struct experiment_batch *more = realloc(c->batches, capacity * sizeof *more);
        if (!more)
            return version_no_memory(c);
        c->batches = more;
        c->batch_capacity = capacity;
    }
    c->batches[c->batch_count++] =
        (struct experiment_batch){.generation = r->args[1],
                                  .experiment = r->args[0],
                                  .offset = r->offset + r->size - r->data_size,
                                  .thread = r->args[2] == UINT64_MAX ? GOTRACE_NO_THREAD
                                                                     : (int64_t)r->args[2],
                                  .size = r->data_size};
    return true;
}

/* Look at all records. Damage was told by the reader: what stands before it counts. */
static bool search(version_converter *c, gotrace_decoder *decoder)
{
    enum { WINDOW = 64 * 1024 };
    gotrace_record record;
    gotrace_status status;
    uint64_t offset = 0;
    size_t got;
    char *window = malloc(WINDOW);
    if (!window)
        return version_no_memory(c);
    while ((status = gotrace_decoder_next(decoder, &record)) >= 0 && status != GOTRACE_END &&
           c->status >= 0) {
        if (status == GOTRACE_EVENT && c->doing[record.spec->code] == DO_EXPERIMENT_DATA)
            remember(c, &record);
        if (status != GOTRACE_NEED_INPUT)
            continue;
        if (gotrace_source_read(c->job->source, offset, window, WINDOW, &got, c->error) < 0) {
            version_fail(c, c->error);
            break;
        }
        offset += got;
        if (got > 0)
            gotrace_decoder_feed(decoder, window, got);
        else
            gotrace_decoder_finish(decoder);
    }
    free(window);
    return c->status >= 0;
}

static bool find_batches(version_converter *c)
{
    gotrace_decoder *decoder;
    gotrace_config config = {.limits = c->job->config->limits};
    if (gotrace_decoder_new(&config, &decoder, c->error) < 0)
        return version_fail(c, c->error);
    bool done = search(c, decoder);
    gotrace_decoder_free(decoder);
    c->searched = true;
    if (c->specs[DO_EXPERIMENT_DATA])
        return done;
    c->losses->counts[LOST_EXPERIMENT_DATA] += c->batch_count;
    c->batch_count = 0;
    return done;
}

static bool copy(version_converter *c, const struct experiment_batch *b)
{
    char *data = malloc(b->size ? b->size : 1);
    size_t got;
    if (!data)
        return version_no_memory(c);
    gotrace_happening h = {.spec = c->specs[DO_EXPERIMENT_DATA],
                           .proc = GOTRACE_NO_PROC,
                           .thread = b->thread,
                           .args = &b->experiment,
                           .arg_count = 1,
                           .data = data,
                           .data_size = b->size};
    bool done = gotrace_source_read(c->job->source, b->offset, data, b->size, &got, c->error) >= 0
                    ? version_hand_over(c, &h)
                    : version_fail(c, c->error);
    free(data);
    return done;
}

bool version_experiment_data(version_converter *c)
{
    bool first = !c->searched;
    if (first && !find_batches(c))
        return false;
    /* A generation without an event of the experiment is over before this is called. */
    for (size_t i = 0; first && i < c->batch_count; i++)
        if (c->batches[i].generation < c->e->generation)
            version_lose(c, LOST_EXPERIMENT_DATA);
    for (size_t i = 0; i < c->batch_count; i++)
        if (c->batches[i].generation == c->e->generation && !copy(c, &c->batches[i]))
            return false;
    return true;
}
