/* parquet.h - state of a conversion to tables; used by this format alone. */
#ifndef PARQUET_PARQUET_H
#define PARQUET_PARQUET_H

#include "formats/analyse/statistics.h"
#include "formats/formats.h"
#include "formats/parquet/tables.h"

/* Cells of texts of one table, by name: valid in one row group. */
typedef struct cell {
    uint32_t group, text;
} cell;

typedef struct open_table {
    parquet_file *file;
    out *out;
    const uint32_t *group; /* the current number */
    cell *cells;           /* by the number of a name */
    size_t room;
} open_table;

/* A range that is active. */
typedef struct open_range {
    int64_t begin; /* PARQUET_NULL: before the trace */
    int64_t goroutine, proc, thread;
    uint32_t reason, stack;
    bool counted; /* it is selected */
} open_range;

enum { STATE_NAMES = GOTRACE_STATE_ABANDONED + 1 };

typedef struct proc_state {
    int64_t since;
    uint8_t state;
} proc_state;

/* The tables, of one trace after another. */
typedef struct tables {
    open_table list[TABLE_COUNT];
    parquet_encoder *encoder;
    uint64_t traces;
    int64_t start; /* wall clock of the only trace; PARQUET_NULL: unknown */
    bool failed;   /* memory was refused */
    /* Of the current trace: */
    const convert_job *job;
    statistics *s;
    uint32_t name; /* of the trace */
    uint32_t states[STATE_NAMES], ranges[GOTRACE_RANGES];
    idmap open[GOTRACE_RANGES]; /* open_range */
    idmap procs;                /* proc_state */
    int64_t time;               /* of the last event, as print has it */
    bool wall, begun;           /* there is a wall clock: */
    uint64_t wall_at;
    int64_t wall_ns, wall_start;
    uint64_t samples, logs, tasks, regions; /* rows */
    int64_t row[trace_columns];             /* of the table of traces */
} tables;

/* The cell of a name that the row group does not yet have. */
int64_t add_name_cell(tables *t, enum table_number table, uint32_t name);

/* The cell of a name; null for 0. */
static inline int64_t name_cell(tables *t, enum table_number table, uint32_t name)
{
    const open_table *own = &t->list[table];
    if (name == 0)
        return 0;
    if (name < own->room && own->cells[name].group == *own->group)
        return own->cells[name].text;
    return add_name_cell(t, table, name);
}

/* The same where null is not possible. */
int64_t text_cell(tables *t, enum table_number table, const char *text, size_t size);

/* A number of a stack, goroutine, or name: 0 is null. */
static inline int64_t id_cell(uint64_t id)
{
    return id ? (int64_t)id : PARQUET_NULL;
}

static inline int64_t proc_cell(int64_t proc)
{
    return proc == GOTRACE_NO_PROC ? PARQUET_NULL : proc;
}

static inline int64_t time_cell(int64_t time)
{
    return time == STATES_NEVER ? PARQUET_NULL : time;
}

static inline uint32_t stack_of(tables *t, const gotrace_event *e)
{
    return stacks_of(t->s->stacks, e->stack);
}

static inline void add_row(tables *t, enum table_number table, const int64_t *cells)
{
    parquet_add(t->list[table].file, cells);
}

/* ---- transitions.c ---- */
void add_g_interval(tables *t, const goroutine *g, const interval *i, const gotrace_event *e);
void add_g_creation(tables *t, const watched_event *w);
void add_p_transition(tables *t, const watched_event *w);
void end_procs(tables *t);

/* ---- events.c ---- */
void add_range(tables *t, const watched_event *w);
void end_ranges(tables *t);
void add_log(tables *t, const gotrace_event *e);
void add_sample(tables *t, const gotrace_event *e);
void add_metric(tables *t, const gotrace_event *e);

/* ---- summaries.c ---- */
extern const statistics_each table_each; /* its ctx is to be set */
void add_stacks(tables *t);
/* Sets the cells of the trace's row that come from its events; the row is added when the verdict is
 * known. */
void fill_trace(tables *t);
void add_trace(tables *t, const convert_job *job, const convert_verdict *v);

#endif
