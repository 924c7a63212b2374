/*
 * handle.h - what all stages of reading share: the struct of a gotrace_reader, problems, failures,
 * progress. reader.c is the public interface; the stages are, each using only those above it (for
 * v2 see v2/v2.h):
 *
 *   v1/index.c    first pass: finds batches, tables and footer
 *   v1/cursor.c   second pass: decodes the events of one proc, through a small window
 *   v1/order.c    merges the events of all procs into one order
 *   v1/state.c    tracks goroutines, procs, GC and tasks; checks the rules
 *   v1/model.c    the events that are returned
 *   v1/reading.c  applies one stage after the other to each event
 *   v1/ahead.c    checks later parts of the trace in other threads
 */
#ifndef GT_HANDLE_H
#define GT_HANDLE_H

#include "core/errors.h"
#include "core/events.h"
#include "core/source.h"
#include "core/spill.h"
#include "read/block.h"
#include "read/tables.h"
#include "core/wire.h"
#include "read/faults.h"
#include "read/goroutines.h"

#define GT_NONE UINT32_MAX

enum { GT_CLASSES = GOTRACE_CLASS_USAGE + 1 };

/* A range of the file with a batch, or several small ones, of one proc. */
typedef struct gt_run {
    uint64_t offset, end;
    uint64_t batch;  /* index of its first batch in file order */
    uint64_t record; /* index of its first record */
    int64_t first;   /* time of its first event; INT64_MAX: unknown */
    uint32_t next;   /* next run of the proc, or GT_NONE */
} gt_run;

typedef struct gt_proc_index {
    gotrace_proc_summary summary;
    uint32_t first_run, last_run;
} gt_proc_index;

/* The result of the first pass. */
typedef struct gt_index {
    gt_v1_shape shapes[64];
    gt_run *runs;
    size_t run_count, run_capacity;
    gt_proc_index *procs;
    size_t proc_count, proc_capacity;
    gt_table proc_by_id; /* entry.count: index in procs */
    uint32_t *by_id;     /* indexes in procs by ascending id; NULL until the pass is complete */
    gt_tables tables;
    gt_table timers;  /* goroutines that run timers (until 1.13) */
    gt_spill exits;   /* ends of system calls by their real time (until 1.6: by sequence number) */
    gt_spill samples; /* CPU samples by their own time */
    uint64_t longest_record; /* maximum size of the values of a record */
    uint64_t frequency;
    bool has_frequency;
    gotrace_error damage; /* the first record whose values cannot be read, or rule NONE */
} gt_index;

typedef struct gt_order gt_order;
typedef struct gt_states gt_states;
typedef struct gt_reading gt_reading;
struct gt_v2;
struct gt_pieces;

struct gotrace_reader {
    gt_heap heap;
    gotrace_source *source;
    gotrace_config config;
    char *spool_dir;       /* copy of config.spool_dir, or NULL */
    gotrace_limits limits; /* with defaults filled in */
    gotrace_error error;   /* why reading ended */
    gotrace_summary summary;
    uint64_t problems[GT_CLASSES]; /* by gotrace_class */
    uint32_t kinds;                /* 1 << gotrace_kind of the events that are returned */
    gt_block *own;                 /* of gotrace_reader_next; NULL before the first call */
    size_t own_next;               /* in it: the next event to return */
    gt_block *blocks;              /* of gotrace_reader_next_block */
    bool keeps_raw;                /* of the events of these blocks */
    gotrace_goroutine goroutine;   /* the last one returned */
    gt_tables *tables;             /* of the current generation or of the trace */
    struct gt_v2 *v2;              /* from 1.22 on; the following fields are then unused */
    gt_index index;
    gt_order *order;
    gt_states *states;
    gt_reading *reading;
    struct gt_pieces *pieces; /* v1: spans of time; NULL: one for all of the trace */
    uint64_t progress_done, progress_total;
    double ns_per_tick;
    int64_t first_ticks, last_ticks;
    enum { GT_FRESH, GT_INDEXED, GT_READING, GT_ENDED, GT_FAILED } stage;
    gt_faults faults;
    uint64_t reported; /* the first pass is repeated: what is before this was reported */
    size_t adopted;    /* number of pieces that were checked ahead; see ahead.h */
    bool stopped;      /* on_problem returned false */
    bool quiet;        /* preliminary pass: problems are not reported */
    /* See user.h. */
    gt_map ended_tasks;   /* that did not begin again: id / 64 to a bit set */
    gt_map ends_reported; /* places of ends without a begin that were reported; value 1 */
    bool incomplete;      /* v2: a generation is missing */
};

/* gotrace_config.window, or its default. */
static inline size_t gt_window(const gotrace_reader *reader)
{
    return reader->config.window ? reader->config.window : 64 * 1024;
}

/* Reports a problem: counts it and calls on_problem. Returns false if reading must stop. Cold, so
 * that its code is separate from the code for every event. */
bool gt_report(gotrace_reader *reader, gotrace_rule rule, gt_place place, const char *format, ...)
    __attribute__((format(printf, 4, 5), cold));

/* The same; the problem has the place in the code of `where`, if that is not NULL. */
bool gt_report_in_code(gotrace_reader *reader, gotrace_rule rule, gt_place place,
                       const gotrace_error *where, const char *message) __attribute__((cold));

/* Ends the last fault: reports a summary of its consequences. */
bool gt_end_fault(gotrace_reader *reader) __attribute__((cold));

/* Call when reading cannot continue; reader->error must be set. Returns false. */
bool gt_fail(gotrace_reader *reader) __attribute__((cold));
bool gt_fail_memory(gotrace_reader *reader) __attribute__((cold));

/* gt_source_read; a failure is in reader->error. */
gotrace_status gt_read_bytes(gotrace_reader *reader, uint64_t offset, void *buffer, size_t size,
                             size_t *got);

/* Counts bytes as read and calls on_progress at intervals. */
void gt_progress(gotrace_reader *reader, uint64_t bytes);

/* Second pass: reads `size` bytes that the first pass has read before. */
bool gt_read_again(gotrace_reader *reader, uint64_t offset, uint8_t *into, size_t size);

#endif
