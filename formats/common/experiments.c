#include "formats/common/experiments.h"

#include <stdlib.h>
#include <string.h>

#include "formats/common/fill_error.h"
#include "formats/common/vector.h"

static gotrace_status no_memory(gotrace_error *error)
{
    fill_error(error, GOTRACE_RULE_SYSTEM_MEMORY, GOTRACE_NO_OFFSET, "out of memory");
    return GOTRACE_ERROR;
}

static bool remember(experiments *x, const gotrace_record *r)
{
    experiment_batch *more = vector_room(x->batches, &x->capacity, x->count, sizeof *more);
    if (!more)
        return false;
    x->batches = more;
    x->batches[x->count++] = (experiment_batch){
        .experiment = r->args[0],
        .offset = r->offset + r->length - r->data_size,
        .thread = r->args[2] == UINT64_MAX ? GOTRACE_NO_THREAD : (int64_t)r->args[2],
        .size = r->data_size};
    return true;
}

/* Reads all records of the source; window holds WINDOW bytes of it at a time. */
enum { WINDOW = 64 * 1024 };

static gotrace_status search(experiments *x, gotrace_source *source, gotrace_decoder *decoder,
                             char *window, gotrace_error *error)
{
    const gotrace_record *record;
    gotrace_status status;
    uint64_t offset = 0;
    size_t got;
    while ((status = gotrace_decoder_next(decoder, &record)) >= 0 && status != GOTRACE_END) {
        if (status == GOTRACE_EVENT && gotrace_decoder_version(decoder) >= GOTRACE_FIRST_V2 &&
            record->spec->code == GOTRACE_V2_ExperimentalBatch && !remember(x, record))
            return no_memory(error);
        if (status != GOTRACE_NEED_INPUT)
            continue;
        if (gotrace_source_read(source, offset, window, WINDOW, &got, error) < 0)
            return GOTRACE_ERROR;
        offset += got;
        if (got > 0)
            gotrace_decoder_feed(decoder, window, got);
        else
            gotrace_decoder_finish(decoder);
    }
    return GOTRACE_OK;
}

gotrace_status experiments_find(experiments *x, gotrace_source *source,
                                const gotrace_limits *limits, gotrace_error *error)
{
    gotrace_decoder *decoder;
    gotrace_config config = {.limits = limits};
    if (gotrace_decoder_new(&config, &decoder, error) < 0)
        return GOTRACE_ERROR;
    char *window = malloc(WINDOW);
    gotrace_status status = window ? search(x, source, decoder, window, error) : no_memory(error);
    free(window);
    gotrace_decoder_free(decoder);
    return status;
}

bool experiments_exist(const gotrace_summary *summary)
{
    return summary->version >= GOTRACE_FIRST_V2 &&
           summary->type_records[GOTRACE_V2_ExperimentalBatch] > 0;
}

/* Where the generation begins; past the last one: where nothing begins. */
static uint64_t offset_of(const gotrace_reader *reader, uint64_t generation_index)
{
    const gotrace_generation_summary *g = gotrace_reader_generation(reader, generation_index);
    return g ? g->offset : UINT64_MAX;
}

size_t experiments_of(experiments *x, const gotrace_reader *reader, uint64_t generation_index,
                      const experiment_batch **batches)
{
    const uint64_t begin = offset_of(reader, generation_index);
    const uint64_t end = offset_of(reader, generation_index + 1);
    while (x->next < x->count && x->batches[x->next].offset < begin)
        x->next++;
    size_t first = x->next;
    while (x->next < x->count && x->batches[x->next].offset < end)
        x->next++;
    *batches = x->batches ? x->batches + first : NULL;
    return x->next - first;
}

char *experiments_read(const experiment_batch *batch, gotrace_source *source, gotrace_error *error)
{
    size_t got;
    char *data = malloc(batch->size ? batch->size : 1);
    if (!data) {
        no_memory(error);
        return NULL;
    }
    if (gotrace_source_read(source, batch->offset, data, batch->size, &got, error) >= 0)
        return data;
    free(data);
    return NULL;
}

void experiments_free(experiments *x)
{
    free(x->batches);
    *x = (experiments){0};
}
