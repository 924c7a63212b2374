/*
 * experiments.h - what experiments write beside their events: batches of their own data.
 *
 * They are no events, so that no reader of events tells of them: the source is searched for them,
 * record by record.
 */
#ifndef EXPERIMENTS_H
#define EXPERIMENTS_H

#include "formats/formats.h"

typedef struct experiment_batch {
    uint64_t generation, experiment;
    uint64_t offset; /* of the data */
    int64_t thread;  /* or GOTRACE_NO_THREAD */
    size_t size;
} experiment_batch;

typedef struct experiments {
    experiment_batch *batches; /* in the order of the file */
    size_t count, capacity;
    size_t next; /* the first that was not asked for yet */
} experiments;

/* Find those of a source. Damage is the reader's to tell: what stands before it counts. *x is all
 * zeros before, and to be freed in any case. Fails where the system or a limit says no. */
gotrace_status experiments_find(experiments *x, gotrace_source *source,
                                const gotrace_limits *limits, gotrace_error *error);

/* The batches of a generation; how many. Generations are asked for in the order of the file: the
 * batches of those left out are skipped, and no batch comes twice. */
size_t experiments_of(experiments *x, uint64_t generation, const experiment_batch **batches);

/* The data of one, to be freed; NULL if there is no memory or the source cannot be read. */
char *experiments_read(const experiment_batch *batch, gotrace_source *source, gotrace_error *error);

void experiments_free(experiments *x);

#endif
