/*
 * diff.h - two sides of traces, compared by their figures.
 *
 *   diff_run_read     the figures of a trace, as entries: one for each task type, stack, ...
 *   diff_table_add    adds them to one side of a table
 *   diff_table_finish compares the sides: a row for each figure
 *
 * The unit of evidence is a run of the program: the events of one run are not independent. With
 * several traces a side the test is of one value for each trace. With one trace a side, each trace
 * is cut into DIFF_PARTS parts of equal time, which have a value each; what differs from run to run
 * is not seen then, so that a change must also be larger than it usually is between two runs of one
 * program (diff_figures[].least).
 */
#ifndef DIFF_H
#define DIFF_H

#include "formats/analyse/statistics.h"
#include "formats/diff/rank_test.h"

/* What rows are about, with its name in conditions and JSON. */
#define DIFF_KINDS(X)                                                                              \
    X(TASK, task)           /* tasks of one type */                                                \
    X(REGION, region)       /* regions of one type */                                              \
    X(SCHED, sched)         /* from runnable to running: of all goroutines, of a start function */ \
    X(BLOCK, block)         /* waits for one reason at one stack */                                \
    X(SYSCALL, syscall)     /* system calls at one stack */                                        \
    X(GC, gc)               /* the garbage collector */                                            \
    X(STOP, stop)           /* stops of the world for one reason */                                \
    X(GOROUTINE, goroutine) /* goroutines of one start function */                                 \
    X(CPU, cpu)             /* CPU samples in one function */                                      \
    X(SILENCE, silence)     /* times without an event */                                           \
    X(SAMPLE, sample)       /* CPU samples at one stack: has no rows */

typedef enum diff_kind {
#define DIFF_KIND(name, word) DIFF_##name,
    DIFF_KINDS(DIFF_KIND) DIFF_KIND_COUNT
#undef DIFF_KIND
} diff_kind;

/* Its name; NULL after the last. */
const char *diff_kind_name(size_t n);

typedef enum diff_unit {
    UNIT_PER_SECOND, /* of the trace */
    UNIT_NS,
    UNIT_NS_PER_SECOND,
    UNIT_NUMBER,
    UNIT_SHARE, /* from 0 to 1 */
    UNIT_BYTES
} diff_unit;

/*
 * X(name, word, unit, least): least: with one trace a side, the ratio of the larger to the smaller
 * value from which on a change counts. Of 561 pairs of recordings of one program each, 2 % of the
 * rows are then reported: see bench/RESULTS.md.
 */
#define DIFF_FIGURES(X)                                                                            \
    X(COUNT, count, PER_SECOND, 2.2)                                                               \
    X(MEAN, mean, NS, 2.0)                                                                         \
    X(P50, p50, NS, 2.5)                                                                           \
    X(P99, p99, NS, 3.0)                                                                           \
    X(TIME, time, NS_PER_SECOND, 2.5)                                                              \
    X(RUNNING, running, NS_PER_SECOND, 2.0)                                                        \
    X(RUNNABLE, runnable, NS_PER_SECOND, 3.0)                                                      \
    X(BLOCKED, blocked, NS_PER_SECOND, 2.0)                                                        \
    X(SYSCALLS, syscalls, NS_PER_SECOND, 3.0)                                                      \
    X(ALIVE, alive, NUMBER, 2.0)                                                                   \
    X(SHARE, share, SHARE, 2.0)                                                                    \
    X(ASSISTS, assists, SHARE, 2.0)                                                                \
    X(HEAP, heap, BYTES, 1.5)

typedef enum diff_figure {
#define DIFF_FIGURE(name, word, unit, least) DIFF_##name,
    DIFF_FIGURES(DIFF_FIGURE) DIFF_FIGURE_COUNT
#undef DIFF_FIGURE
} diff_figure;

typedef struct diff_figure_spec {
    const char *name;
    diff_unit unit;
    double least;
} diff_figure_spec;

extern const diff_figure_spec diff_figures[DIFF_FIGURE_COUNT];

/* The figures of which a kind has rows, as 1 << DIFF_*. */
unsigned diff_figures_of(diff_kind kind);

/* What a row is about. name: a task type, a reason, a start function; 0: none. */
typedef struct diff_subject {
    uint8_t kind; /* diff_kind */
    uint32_t name, stack;
} diff_subject;

/* The figures of a subject in one trace, or in a part of it. */
typedef struct diff_entry {
    diff_subject of;
    uint32_t subject; /* in a table: its index */
    uint32_t column;  /* the trace, or the part of it */
    uint8_t side;
    bool is_part;
    double events;                    /* of which the values are made */
    double values[DIFF_FIGURE_COUNT]; /* NAN: there is none */
} diff_entry;

typedef struct diff_entries {
    diff_entry *list;
    size_t count, room;
} diff_entries;

/* A trace, or parts of it. */
typedef struct diff_run {
    stacks *names; /* of the entries; NULL: there was nothing to read */
    diff_entries entries;
    int64_t duration;
    bool parts;  /* entries are of parts, which are their columns */
    bool failed; /* memory was refused */
} diff_run;

enum { DIFF_PARTS = 16 };

/* Reads a trace to its end: GOTRACE_END or GOTRACE_ERROR. duration: 0, or that of the trace, which
 * is then cut into parts, whose numbers are the columns of the entries. Free the run in any case.
 */
gotrace_status diff_run_read(diff_run *run, gotrace_reader *reader, const char *name,
                             size_t threads, select_job *select, int64_t duration);
void diff_run_free(diff_run *run);

/* ---- comparison -------------------------------------------------------------------------------
 */

enum { DIFF_OLD, DIFF_NEW, DIFF_SIDES };

typedef struct diff_side {
    size_t runs;
    int64_t duration; /* of all */
} diff_side;

typedef struct diff_value {
    double value;  /* of a trace, or the median of several; NAN: there is none */
    double spread; /* the largest distance of a trace from it */
} diff_value;

typedef struct diff_row {
    uint32_t subject;
    uint8_t figure; /* diff_figure */
    bool tested;    /* there are enough events */
    bool significant;
    diff_value sides[DIFF_SIDES];
    double p, q; /* q: corrected for the number of tests */
} diff_row;

/* The time of a subject that changed, by which rows are ordered. */
typedef struct diff_change {
    diff_subject of;
    double ns;        /* per second of trace, at least 0 */
    bool significant; /* one of its rows is */
    size_t first;     /* in the list of entries */
} diff_change;

typedef struct diff_table {
    stacks *names;
    diff_side sides[DIFF_SIDES];
    bool parts;           /* there is one trace a side, and values of parts are tested */
    diff_entries entries; /* ordered by subject and column */
    diff_change *subjects;
    size_t subject_count, subject_room;
    gt_lookup lookup; /* of subjects */
    diff_row *rows;   /* those of subjects with more time that changed first */
    size_t row_count, row_room;
    size_t tested, significant; /* rows */
    bool failed;                /* memory was refused */
} diff_table;

bool diff_table_init(diff_table *t);
/* Adds a trace, or its parts, to a side. */
void diff_table_add(diff_table *t, const diff_run *run, unsigned side);
/* Makes the rows. */
void diff_table_finish(diff_table *t);
void diff_table_free(diff_table *t);

/* The change, relative to the old value; INFINITY if that is 0. */
double diff_row_change(const diff_row *r);

/* How many traces a side are the fewest with which a row can have p < 0.05. */
enum { DIFF_LEAST_RUNS = 4 };
#define DIFF_ALPHA 0.05

/* With several traces a side, the ratio of the values from which on a change is worth a row. */
#define DIFF_LEAST_CHANGE 1.01

#endif
