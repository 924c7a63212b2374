/* merge.h - shared by the files that implement merge. */
#ifndef PARTS_MERGE_H
#define PARTS_MERGE_H

#include "cmd/parts/intern.h"

/* Limit of open files: there may be more parts than a process may open. */
enum { PARTS_OPEN = 32 };

typedef struct merge_part {
    parts_input in;    /* in.source is NULL while the part is closed */
    bool reopenable;   /* can be closed and reopened */
    bool probed;       /* has a header, or needs none */
    bool same;         /* its ids are those of the trace, in the current generation */
    uint64_t used;     /* time of the last use, in units of parts_merge.clock */
    size_t first, end; /* range of its batches, before they are sorted */
    parts_batch key;   /* batch of its earliest event; size 0: none */
    uint32_t position; /* rank among the parts, independent of the order of the arguments */
} merge_part;

struct parts_merge {
    parts_merge_job job;
    parts_memory memory;
    int version;
    uint64_t frequency; /* v1 */
    merge_part *parts;
    size_t part_capacity;
    uint32_t *positions; /* rank -> index of the part */
    size_t position_capacity;
    uint32_t open[PARTS_OPEN];
    size_t open_count;
    uint64_t clock; /* number of calls of merge_source */
    parts_batches batches;
    parts_walker walker;
    parts_shape shape;
    parts_intern strings, stacks;
    /* Used while writing. */
    out *o;
    gotrace_error *error;
    merge_part *part;   /* current */
    parts_entry *entry; /* current string or stack */
    uint64_t *args;
    size_t arg_capacity;
    parts_bytes bytes;
    uint64_t now; /* v2: ticks in the batch that is being rewritten */
    parts_pack pack;
};

/* Open the part's source. */
bool merge_source(parts_merge *m, uint32_t part, gotrace_error *error);

/* The arguments for indexing a part. */
parts_scan merge_scan(parts_merge *m, uint32_t part);

/* Check whether the indexed parts belong to one trace; the reason is passed to the job's misfit.
 * False if memory runs out or a file cannot be read. */
bool merge_fit(parts_merge *m, bool *fit, gotrace_error *error);

/* Pass a message to the job's misfit. */
void merge_report(const parts_merge *m, const char *text, ...)
    __attribute__((format(printf, 2, 3)));

#endif
