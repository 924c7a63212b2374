/*
 * figure_rows.h - the figures of statistics as rows of tables, in the order in which they are
 * shown.
 *
 * Lists are to be freed; NULL: there are none, or memory was refused, which sets *failed.
 */
#ifndef FIGURE_ROWS_H
#define FIGURE_ROWS_H

#include "formats/analyse/stack_views.h"
#include "formats/analyse/statistics.h"

/* By what functions may be ordered: X(name, word). COST: what goroutines do and wait for each
 * other: execution, waiting to run, and for channels and locks; not network, timers and system
 * calls. */
#define FUNCTION_ORDERS(X)                                                                         \
    X(COST, cost)                                                                                  \
    X(TOTAL, total)                                                                                \
    X(EXEC, execution)                                                                             \
    X(SCHED, scheduling)                                                                           \
    X(SYNC, sync)                                                                                  \
    X(BLOCK, blocking)                                                                             \
    X(SYSCALL, syscalls)                                                                           \
    X(GOROUTINES, goroutines)                                                                      \
    X(ALIVE, alive)

typedef enum function_order {
#define FUNCTION_ORDER(name, word) FUNCTIONS_BY_##name,
    FUNCTION_ORDERS(FUNCTION_ORDER) FUNCTION_ORDER_COUNT
#undef FUNCTION_ORDER
} function_order;

/* Its word; NULL after the last. */
const char *function_order_name(size_t n);

/* What the functions are ordered by: nanoseconds, or a number. */
int64_t function_measure(const statistics *s, const function_figure *f, function_order order);

/* Those of which goroutines are counted, the largest measure first; *count: their number. */
function_figure **rows_functions(const statistics *s, function_order order, size_t *count,
                                 bool *failed);
/* Those of which goroutines waited to be run. */
function_figure **rows_latencies(const statistics *s, size_t *count, bool *failed);

typedef struct caused {
    uint8_t cause; /* CAUSE_* */
    const latency_figure *figure;
} caused;

caused *rows_causes(const statistics *s, size_t *count, bool *failed);
/* Those of a state and, if reason is not 0, of a reason. *count: their number. */
stack_figure **rows_stacks(const statistics *s, uint8_t state, uint32_t reason, size_t *count,
                           bool *failed);

/* By index in the list of rows_stacks; folds: see stack_views. */
stack_view *rows_stack_views(const statistics *s, stack_figure *const *list, size_t count,
                             bool folds, bool *failed);
reason_figure **rows_reasons(const statistics *s, uint8_t state, size_t *count, bool *failed);
span_figure **rows_spans(const statistics *s, const figures *f, bool *failed);
stop_figure **rows_stops(const statistics *s, bool *failed);

typedef struct sampled {
    uint32_t function;
    uint64_t self, total; /* samples in the function; samples in it and what it calls */
} sampled;

sampled *rows_sampled(const statistics *s, size_t *count, bool *failed);

/* The reason "network"; 0 if it does not occur. */
uint32_t rows_network(const statistics *s);

#endif
