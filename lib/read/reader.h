/*
 * reader.h - the inside of gotrace_reader, shared by the parts of the reading pipeline:
 *
 *   index.c       first pass: skim the file, find batches, tables, footer
 *   cursor.c      second pass: the events of one proc, through a small window
 *   order.c       merge the procs' events into one order
 *   state.c       follow goroutines, procs, GC, tasks; check what the order claims
 *   model.c       say what an event means, as a gotrace_event
 *   reader.c      the public face
 *
 * Each part sees only those above it in this list, and gt_report.
 */
#ifndef GT_READER_H
#define GT_READER_H

#include "core/errors.h"
#include "core/events.h"
#include "core/spill.h"
#include "read/tables.h"
#include "core/wire.h"
#include "read/faults.h"

#define GT_NONE UINT32_MAX

enum { GT_CLASSES = GOTRACE_CLASS_USAGE + 1 };

/* A stretch of the file that holds batches of one proc and nothing of another's. */
typedef struct gt_run {
    uint64_t offset, end;
    uint64_t batch;  /* index of its first batch in file order */
    uint64_t record; /* index of its first record */
    uint32_t next;   /* the proc's next run, or GT_NONE */
} gt_run;

typedef struct gt_proc_index {
    gotrace_proc_summary summary;
    uint32_t first_run, last_run;
} gt_proc_index;

/* What the first pass finds. */
typedef struct gt_index {
    gt_v1_shape shapes[64];
    gt_run *runs;
    size_t run_count, run_capacity;
    gt_proc_index *procs;
    size_t proc_count, proc_capacity;
    gt_table proc_by_id; /* entry.count: index in procs */
    uint32_t *by_id;     /* indices in procs by ascending id; NULL until the pass is complete */
    gt_table strings, stacks;
    gt_table timers;  /* goroutines that run timers (until 1.13) */
    gt_spill exits;   /* ends of system calls by their real time (until 1.6: by sequence number) */
    gt_spill samples; /* CPU samples by their own time */
    uint64_t longest_record; /* bytes that the values of any record can take */
    uint64_t frequency;
    bool has_frequency;
} gt_index;

typedef struct gt_order gt_order;
typedef struct gt_states gt_states;
struct gt_v2;

struct gotrace_reader {
    gt_heap heap;
    gotrace_source *source;
    gotrace_config config;
    char *spool_dir;       /* config's, copied; NULL if it has none */
    gotrace_limits limits; /* with defaults filled in */
    gotrace_error error;   /* why reading ended */
    gotrace_summary summary;
    uint64_t problems[GT_CLASSES];    /* by gotrace_class */
    gotrace_event event;              /* handed out last */
    gotrace_goroutine goroutine;      /* handed out last */
    const gt_table *strings, *stacks; /* of what is being read */
    struct gt_v2 *v2;                 /* from 1.22 on; the following is then unused */
    gt_index index;
    gt_order *order;
    gt_states *states;
    char *message; /* of the last log */
    size_t message_capacity;
    uint64_t progress_done, progress_total;
    double ns_per_tick;
    int64_t first_ticks, last_ticks;
    enum { GT_FRESH, GT_INDEXED, GT_READING, GT_ENDED, GT_FAILED } stage;
    gt_faults faults;
    bool stopped; /* on_problem said so */
    bool quiet;   /* a preparing pass: problems are not reported */
    /* What waits for a lost event does so only where the trace is damaged; see gt_examine. */
    bool exact;           /* this reader finds that out: events wait for as long as it takes */
    bool examined;        /* it is known */
    int64_t damaged_from; /* v1: ticks of the first event that waits in vain, INT64_MAX: none */
};

/* Clocks of threads differ by less in most traces. What waits for longer than that waits for an
 * event that is lost or altered, or the clocks are far apart. */
enum { GT_PATIENCE_NS = 2000 };

/* Find out where the trace is damaged: read all of it with another reader, which lets events wait
 * for as long as it takes, as Go's does. v1: in damaged_from; v2: in each generation. False when
 * reading cannot go on. */
bool gt_examine(gotrace_reader *reader) __attribute__((cold));

/* Report a problem: count it and call on_problem. Returns false if reading has to stop. Cold, so
 * that the code for problems is separate from the code for every event. */
bool gt_report(gotrace_reader *reader, gotrace_rule rule, gt_place place, const char *format, ...)
    __attribute__((format(printf, 4, 5), cold));

/* No further problem follows from the last fault: sum up what did. */
bool gt_end_fault(gotrace_reader *reader) __attribute__((cold));

/* Reading cannot go on; reader->error has been set. Returns false for `return gt_fail(reader)`. */
bool gt_fail(gotrace_reader *reader) __attribute__((cold));
bool gt_fail_memory(gotrace_reader *reader) __attribute__((cold));

/* Count bytes as read and call on_progress regularly. */
void gt_progress(gotrace_reader *reader, uint64_t bytes);

/* Second pass: read `size` bytes that the first pass has seen. */
bool gt_read_again(gotrace_reader *reader, uint64_t offset, uint8_t *into, size_t size);

/* First pass. False when reading cannot go on at all; a damaged file is indexed up to the damage.
 */
bool gt_index_build(gotrace_reader *reader);
void gt_index_free(gt_index *index);

#endif
