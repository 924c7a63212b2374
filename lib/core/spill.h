/*
 * spill.h - external sorting: many rows sorted by a key, in bounded memory.
 *
 * Some events are in the file far from their place in the order: ends of system calls, CPU samples,
 * parts of futile wake-ups. Their number is unbounded, so they are written as sorted runs to a
 * temporary file, which are merged when read.
 */
#ifndef GT_SPILL_H
#define GT_SPILL_H

#include "core/errors.h"

typedef struct gt_row {
    int64_t key; /* rows are sorted by key, then by offset */
    uint64_t offset;
    uint64_t a, b, c;
} gt_row;

typedef struct gt_spill_run gt_spill_run;

typedef struct gt_spill {
    gt_heap *heap;
    const gotrace_config *config;
    gt_row *rows; /* being collected; if there are few, they stay in memory */
    size_t count, capacity;
    uint64_t total;
    int fd;       /* -1: nothing spilled */
    bool is_fork; /* rows and fd belong to another spill */
    gt_spill_run *runs;
    size_t run_count, run_capacity;
    size_t *order; /* heap of runs by their first row */
    size_t live;
    size_t next; /* reading from memory */
    bool sorted;
} gt_spill;

void gt_spill_init(gt_spill *spill, gt_heap *heap, const gotrace_config *config);

/* Adds a row. False with *error set if memory or disk space is refused. */
bool gt_spill_add(gt_spill *spill, const gt_row *row, gotrace_error *error);

/* Call after the last row: moves to the first one. May be called again to read once more. */
bool gt_spill_rewind(gt_spill *spill, gotrace_error *error);

/* Moves to the first row that has that key or a greater one. */
bool gt_spill_seek(gt_spill *spill, int64_t key, gotrace_error *error);

/* Makes *fork read the rows of a spill that was rewound, independently of it. The spill must exist
 * until the fork is freed. */
bool gt_spill_fork(gt_spill *fork, const gt_spill *spill, gt_heap *heap, gotrace_error *error);

/* The current row, or NULL at the end. */
const gt_row *gt_spill_peek(const gt_spill *spill);

/* Moves to the next row. */
bool gt_spill_advance(gt_spill *spill, gotrace_error *error);

void gt_spill_free(gt_spill *spill);

#endif
