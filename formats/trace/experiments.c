/*
 * experiments.c - copies the data batches of experiments (formats/common/experiments.h). The source
 * is searched for them at the first event of an experiment.
 */
#include <stdlib.h>

#include "formats/trace/version.h"

/* The target's row for a data batch. */
static const gotrace_event_spec *batch_row(const version_converter *c)
{
    const gotrace_event_spec *row = gotrace_event_spec_of(c->to, GOTRACE_V2_ExperimentalBatch);
    return version_is_v2(c->to) ? row : NULL;
}

static bool find_batches(version_converter *c)
{
    c->searched = true;
    if (experiments_exist(gotrace_reader_summary(c->reader)) &&
        experiments_find(&c->experiments, c->job->source, c->job->config->limits, c->error) < 0)
        return version_fail(c, c->error);
    if (batch_row(c))
        return true;
    c->losses->counts[LOST_EXPERIMENT_DATA] += c->experiments.count;
    c->experiments.count = 0;
    return true;
}

static bool copy(version_converter *c, const experiment_batch *b)
{
    char *data = experiments_read(b, c->job->source, c->error);
    if (!data)
        return version_fail(c, c->error);
    gotrace_event_data h = {.spec = batch_row(c),
                            .proc = GOTRACE_NO_PROC,
                            .thread = b->thread,
                            .args = &b->experiment,
                            .arg_count = 1,
                            .data = data,
                            .data_size = b->size};
    bool done = version_write_event(c, &h);
    free(data);
    return done;
}

bool version_experiment_data(version_converter *c)
{
    if (!c->searched && !find_batches(c))
        return false;
    const experiment_batch *batches;
    size_t before = c->experiments.next;
    size_t count = experiments_of(&c->experiments, c->reader, c->raw->generation_index, &batches);
    /* This is called only for generations with an event of an experiment; the batches of those
     * skipped are lost. */
    c->losses->counts[LOST_EXPERIMENT_DATA] += c->experiments.next - count - before;
    for (size_t i = 0; i < count; i++)
        if (!copy(c, &batches[i]))
            return false;
    return true;
}
