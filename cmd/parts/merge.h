/* merge.h - what the files that put a trace together share. */
#ifndef PARTS_MERGE_H
#define PARTS_MERGE_H

#include "cmd/parts/intern.h"

/* Files open at a time: there may be more parts than a process may open. */
enum { PARTS_OPEN = 32 };

typedef struct merge_part {
    parts_input in;    /* its source is NULL while it is closed */
    bool again;        /* it can be closed and opened again */
    bool probed;       /* it has a header, or needs none */
    bool same;         /* its ids are those of the trace, in the generation at hand */
    uint64_t used;     /* when its source was wanted last */
    size_t first, end; /* its batches, until they are sorted */
    parts_batch key;   /* the earliest of its events; of size 0: there are none */
    uint32_t position; /* among the parts, whatever order they were named in */
} merge_part;

struct parts_merge {
    parts_merge_job job;
    parts_memory memory;
    int version;
    uint64_t frequency; /* v1 */
    merge_part *parts;
    size_t part_capacity;
    uint32_t *positions; /* the parts by position */
    size_t position_capacity;
    uint32_t open[PARTS_OPEN];
    size_t open_count;
    uint64_t clock; /* counts wishes for sources */
    parts_batches batches;
    parts_walker walker;
    parts_shape shape;
    parts_intern strings, stacks;
    /* While something is written. */
    out *o;
    gotrace_error *error;
    merge_part *part;   /* the one at hand */
    parts_entry *entry; /* the string or stack at hand */
    uint64_t *args;
    size_t arg_capacity;
    parts_bytes bytes;
    uint64_t now; /* v2: ticks, in the batch that is made anew */
    parts_pack pack;
};

/* Have the part's source open. */
bool merge_source(parts_merge *m, uint32_t part, gotrace_error *error);

/* What an index is made with. */
parts_scan merge_scan(parts_merge *m, uint32_t part);

/* Check whether the indexed parts belong together; the reason is reported. Returns false if memory
 * runs out or a file cannot be read. */
bool merge_fit(parts_merge *m, bool *fit, gotrace_error *error);

/* Report a sentence to the job's misfit. */
void merge_report(const parts_merge *m, const char *text, ...)
    __attribute__((format(printf, 2, 3)));

#endif
