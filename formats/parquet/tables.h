/*
 * tables.h - the tables that a trace becomes, and their columns; gotrace-parquet(5) describes them.
 *
 * The schema is the same for every version of traces. A column is of the type INT, TIME, ID,
 * UNSIGNED or TEXT, see writer.h, and NEEDED or has nulls (NULLS). By FIRST and THEN the rows of a
 * row group are sorted, because files are smaller if a row resembles the one before: sorted by
 * proc, transitions follow each other as in the batches of the trace. Every table has first of all
 * the name of the trace.
 */
#ifndef PARQUET_TABLES_H
#define PARQUET_TABLES_H

#include "formats/analyse/columns.h"
#include "formats/parquet/writer.h"

/* X(table, C): C(table, column, type, nulls) */
#define PARQUET_TABLES(X, C)                                                                       \
    X(g_transitions, C)                                                                            \
    X(p_transitions, C)                                                                            \
    X(goroutines, C)                                                                               \
    X(stacks, C)                                                                                   \
    X(frames, C)                                                                                   \
    X(ranges, C)                                                                                   \
    X(tasks, C)                                                                                    \
    X(regions, C)                                                                                  \
    X(logs, C)                                                                                     \
    X(samples, C)                                                                                  \
    X(metrics, C)                                                                                  \
    X(trace, C)

#define COLUMNS_OF_g_transitions(C, t)                                                             \
    C(t, trace, TEXT, NEEDED)                                                                      \
    C(t, g, ID, NEEDED)                                                                            \
    C(t, from_state, TEXT, NEEDED)                                                                 \
    C(t, to_state, TEXT, NULLS)                                                                    \
    C(t, reason, TEXT, NULLS)                                                                      \
    C(t, duration_ns, INT, NEEDED)                                                                 \
    C(t, end_time_ns, TIME, NEEDED)                                                                \
    C(t, stack_id, INT, NULLS)                                                                     \
    C(t, src_stack_id, INT, NULLS)                                                                 \
    C(t, src_g, ID, NULLS)                                                                         \
    C(t, src_m, INT, NULLS)                                                                        \
    C(t, src_p, INT, NULLS | FIRST)                                                                \
    C(t, from_reason, TEXT, NULLS)                                                                 \
    C(t, from_stack_id, INT, NULLS)

#define COLUMNS_OF_p_transitions(C, t)                                                             \
    C(t, trace, TEXT, NEEDED)                                                                      \
    C(t, p, INT, NEEDED)                                                                           \
    C(t, from_state, TEXT, NEEDED)                                                                 \
    C(t, to_state, TEXT, NULLS)                                                                    \
    C(t, duration_ns, INT, NEEDED)                                                                 \
    C(t, end_time_ns, TIME, NEEDED)                                                                \
    C(t, src_g, ID, NULLS)                                                                         \
    C(t, src_m, INT, NULLS)                                                                        \
    C(t, src_p, INT, NULLS)

/* Where the time of a goroutine or region went, as stat computes it. */
#define TIME_OF_TABLE(C, t, time, member, label, place, heading) C(t, member, INT, NEEDED)
#define COLUMNS_OF_TIMES(C, t)                                   TIME_COLUMNS(TIME_OF_TABLE, C, t)

#define COLUMNS_OF_goroutines(C, t)                                                                \
    C(t, trace, TEXT, NEEDED)                                                                      \
    C(t, g, INT, NEEDED)                                                                           \
    C(t, function, TEXT, NULLS | FIRST)                                                            \
    C(t, label, TEXT, NULLS)                                                                       \
    C(t, created_ns, TIME, NEEDED | THEN)                                                          \
    C(t, started_ns, TIME, NULLS)                                                                  \
    C(t, ended_ns, TIME, NULLS)                                                                    \
    COLUMNS_OF_TIMES(C, t)

/* A row for each frame of each stack, position 0 is the innermost. */
#define COLUMNS_OF_stacks(C, t)                                                                    \
    C(t, trace, TEXT, NEEDED)                                                                      \
    C(t, stack_id, INT, NEEDED)                                                                    \
    C(t, position, INT, NEEDED)                                                                    \
    C(t, frame_id, INT, NEEDED)

#define COLUMNS_OF_frames(C, t)                                                                    \
    C(t, trace, TEXT, NEEDED)                                                                      \
    C(t, frame_id, INT, NEEDED)                                                                    \
    C(t, function, TEXT, NULLS)                                                                    \
    C(t, file, TEXT, NULLS)                                                                        \
    C(t, line, UNSIGNED, NEEDED)                                                                   \
    C(t, address, UNSIGNED, NEEDED)

#define COLUMNS_OF_ranges(C, t)                                                                    \
    C(t, trace, TEXT, NEEDED)                                                                      \
    C(t, name, TEXT, NEEDED)                                                                       \
    C(t, reason, TEXT, NULLS)                                                                      \
    C(t, start_time_ns, TIME, NULLS)                                                               \
    C(t, end_time_ns, TIME, NULLS)                                                                 \
    C(t, duration_ns, INT, NULLS)                                                                  \
    C(t, g, INT, NULLS)                                                                            \
    C(t, m, INT, NULLS)                                                                            \
    C(t, p, INT, NULLS)                                                                            \
    C(t, stack_id, INT, NULLS)                                                                     \
    C(t, swept_bytes, INT, NULLS)                                                                  \
    C(t, reclaimed_bytes, INT, NULLS)

#define COLUMNS_OF_tasks(C, t)                                                                     \
    C(t, trace, TEXT, NEEDED)                                                                      \
    C(t, task, INT, NEEDED)                                                                        \
    C(t, parent, INT, NULLS)                                                                       \
    C(t, name, TEXT, NEEDED)                                                                       \
    C(t, start_time_ns, TIME, NULLS | FIRST)                                                       \
    C(t, end_time_ns, TIME, NULLS)                                                                 \
    C(t, duration_ns, INT, NULLS)                                                                  \
    C(t, g, INT, NULLS)                                                                            \
    C(t, stack_id, INT, NULLS)                                                                     \
    C(t, logs, INT, NEEDED)                                                                        \
    C(t, regions, INT, NEEDED)

#define COLUMNS_OF_regions(C, t)                                                                   \
    C(t, trace, TEXT, NEEDED)                                                                      \
    C(t, name, TEXT, NEEDED | FIRST)                                                               \
    C(t, task, INT, NULLS)                                                                         \
    C(t, g, INT, NEEDED)                                                                           \
    C(t, start_time_ns, TIME, NULLS | THEN)                                                        \
    C(t, end_time_ns, TIME, NULLS)                                                                 \
    C(t, duration_ns, INT, NULLS)                                                                  \
    C(t, stack_id, INT, NULLS)                                                                     \
    COLUMNS_OF_TIMES(C, t)

/* What happened at one time. */
#define COLUMNS_OF_PLACE(C, t)                                                                     \
    C(t, g, INT, NULLS)                                                                            \
    C(t, m, INT, NULLS)                                                                            \
    C(t, p, INT, NULLS)                                                                            \
    C(t, stack_id, INT, NULLS)

#define COLUMNS_OF_logs(C, t)                                                                      \
    C(t, trace, TEXT, NEEDED)                                                                      \
    C(t, time_ns, TIME, NEEDED)                                                                    \
    C(t, task, INT, NULLS)                                                                         \
    C(t, category, TEXT, NEEDED)                                                                   \
    C(t, message, TEXT, NEEDED)                                                                    \
    COLUMNS_OF_PLACE(C, t)

#define COLUMNS_OF_samples(C, t)                                                                   \
    C(t, trace, TEXT, NEEDED)                                                                      \
    C(t, time_ns, TIME, NEEDED)                                                                    \
    COLUMNS_OF_PLACE(C, t)

#define COLUMNS_OF_metrics(C, t)                                                                   \
    C(t, trace, TEXT, NEEDED)                                                                      \
    C(t, time_ns, TIME, NEEDED)                                                                    \
    C(t, name, TEXT, NEEDED)                                                                       \
    C(t, value, UNSIGNED, NEEDED)                                                                  \
    COLUMNS_OF_PLACE(C, t)

/* One row for each file. Nothing but the verdict is known of one that cannot be read. */
#define COLUMNS_OF_trace(C, t)                                                                     \
    C(t, trace, TEXT, NEEDED)                                                                      \
    C(t, file, TEXT, NEEDED)                                                                       \
    C(t, version, INT, NULLS)                                                                      \
    C(t, start_unix_ns, INT, NULLS)                                                                \
    C(t, duration_ns, INT, NULLS)                                                                  \
    C(t, events, INT, NULLS)                                                                       \
    C(t, goroutines, INT, NULLS)                                                                   \
    C(t, tasks, INT, NULLS)                                                                        \
    C(t, regions, INT, NULLS)                                                                      \
    C(t, logs, INT, NULLS)                                                                         \
    C(t, samples, INT, NULLS)                                                                      \
    C(t, gc_cycles, INT, NULLS)                                                                    \
    C(t, verdict, TEXT, NEEDED)                                                                    \
    C(t, errors, INT, NEEDED)                                                                      \
    C(t, warnings, INT, NEEDED)                                                                    \
    C(t, recovered, INT, NEEDED)                                                                   \
    C(t, lost_bytes, INT, NULLS)

/* TABLE_g_transitions, ..., TABLE_COUNT */
#define TABLE_NUMBER(table, C) TABLE_##table,
enum table_number { PARQUET_TABLES(TABLE_NUMBER, ) TABLE_COUNT };
#undef TABLE_NUMBER

/* The columns of a table: g_transitions_trace, ..., g_transitions_columns */
#define TABLE_COLUMN(table, column, type, nulls) table##_##column,
#define TABLE_COLUMNS(table, C)                  enum table##_column{COLUMNS_OF_##table(C, table) table##_columns};
PARQUET_TABLES(TABLE_COLUMNS, TABLE_COLUMN)
#undef TABLE_COLUMNS
#undef TABLE_COLUMN

typedef struct parquet_table {
    const char *name;
    const parquet_column *columns;
    size_t count;
} parquet_table;

extern const parquet_table parquet_tables[TABLE_COUNT];

#endif
