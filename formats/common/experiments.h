/*
 * experiments.h - the data batches of experiments.
 *
 * Data batches are not events, so gotrace_reader does not return them: the records of the source
 * are searched for them.
 */
#ifndef EXPERIMENTS_H
#define EXPERIMENTS_H

#include "gotrace.h"

typedef struct experiment_batch {
    uint64_t experiment;
    uint64_t offset; /* of the data */
    int64_t thread;  /* or GOTRACE_NO_THREAD */
    size_t size;
} experiment_batch;

typedef struct experiments {
    experiment_batch *batches; /* in file order */
    size_t count, capacity;
    size_t next; /* the first one not yet returned by experiments_of */
} experiments;

/* Whether there are data batches in a trace that is indexed. To find them, all records are read. */
bool experiments_exist(const gotrace_summary *summary);

/* Finds the data batches of a source. Damage is not an error here (the reader reports it): the
 * batches before it are found. *x must be all zeros, and must be freed even on failure. Fails on
 * errors of the system and when a limit is exceeded. */
gotrace_status experiments_find(experiments *x, gotrace_source *source,
                                const gotrace_limits *limits, gotrace_error *error);

/* Sets *batches to the batches of a generation of the reader's trace (its index: numbers may occur
 * twice) and returns how many there are. Callers pass generations in file order: batches of skipped
 * generations are skipped too, and no batch is returned twice. */
size_t experiments_of(experiments *x, const gotrace_reader *reader, uint64_t generation_index,
                      const experiment_batch **batches);

/* The data of a batch, to be freed by the caller; NULL without memory or if the source cannot be
 * read. */
char *experiments_read(const experiment_batch *batch, gotrace_source *source, gotrace_error *error);

void experiments_free(experiments *x);

#endif
