/*
 * columns.h - the columns of figures, each described once: stat as text and JSON, the HTML report
 * and the Parquet tables have a column for each row of these tables.
 */
#ifndef ANALYSE_COLUMNS_H
#define ANALYSE_COLUMNS_H

#include "formats/analyse/histogram.h"

/*
 * Where the time of a goroutine or region went, in nanoseconds:
 * X(a, b, TIME, member, label, place, heading).
 *
 * member: the name in JSON and Parquet. label: the name in text; NULL: text and JSON show it by
 * reason instead. place: of the column in the report, which has the sum of the times of that place;
 * 0: none. heading: of that column, with the first time of it.
 */
#define TIME_COLUMNS(X, a, b)                                                                      \
    X(a, b, TOTAL, total_ns, "total", 1, "Total time")                                             \
    X(a, b, EXEC, exec_ns, "execution", 2, "Execution")                                            \
    X(a, b, SCHED_WAIT, sched_wait_ns, "scheduler wait", 3, "Scheduler wait")                      \
    X(a, b, SYSCALL, syscall_ns, "system call", 5, "System calls")                                 \
    X(a, b, SYSCALL_BLOCK, syscall_block_ns, "system call, blocked", 5, "")                        \
    X(a, b, BLOCK, block_ns, NULL, 4, "Blocked")                                                   \
    X(a, b, UNKNOWN, unknown_ns, "unknown", 6, "Unknown")                                          \
    X(a, b, RANGE, range_ns, NULL, 0, "")

enum {
#define TIME_NUMBER(a, b, time, member, label, place, heading) TIME_##time,
    TIME_COLUMNS(TIME_NUMBER, , ) TIME_COUNT,
#undef TIME_NUMBER
    TIME_RECORDED = TIME_BLOCK, /* those from here on follow from others */
};

typedef struct time_column {
    const char *member, *label;
    unsigned place;
} time_column;

extern const time_column time_columns[TIME_COUNT];

/*
 * What is shown of values that a goroutine, wait, ... has: X(member, label, heading, value), where
 * value follows from a histogram *h and that many values that are 0 and not in it (zeros). The
 * member is in JSON; text has the label, and the report the heading. J(member, value): in JSON
 * alone.
 */
#define VALUE_COLUMNS(X, J)                                                                        \
    X(sum, "sum", "Sum", h->sum)                                                                   \
    J(min, zeros ? 0 : h->min)                                                                     \
    X(median, "median", "Median", histogram_quantile(h, 0.5, zeros))                               \
    J(p90, histogram_quantile(h, 0.9, zeros))                                                      \
    X(p99, "99%", "99 %", histogram_quantile(h, 0.99, zeros))                                      \
    X(max, "max", "Longest", h->max)

typedef struct value_column {
    const char *member, *label; /* label NULL: in JSON alone */
    int64_t (*value)(const histogram *h, uint64_t zeros);
} value_column;

extern const value_column value_columns[]; /* a member NULL ends them */

#endif
