/*
 * selection.h - which part of a trace is asked for: the criteria, as the user writes them.
 *
 * A criterion is a list, of which one item must match; all criteria must match. A selection does
 * not depend on a trace: selector.h applies it to one.
 */
#ifndef ANALYSE_SELECTION_H
#define ANALYSE_SELECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/analyse/pattern.h"
#include "gotrace.h"

/* The criteria, with the name of the option, its value, and what it selects. X also gets the other
 * two arguments. */
#define SELECT_CRITERIA(X, a, b)                                                                   \
    SELECT_TIMES(X, a, b)                                                                          \
    X(a, b, GOROUTINE, "goroutine", "IDS", "only these goroutines: 7,10-12")                       \
    SELECT_FUNCTIONS(X, a, b)                                                                      \
    X(a, b, TASK, "task", "LIST", "only these user tasks: ids or names")                           \
    X(a, b, REGION, "region", "LIST", "only in user regions of these names")                       \
    SELECT_PLACES(X, a, b)
#define SELECT_FUNCTIONS(X, a, b)                                                                  \
    X(a, b, FUNCTION, "function", "REGEX", "only where a function of the stack matches")
/* The time range: */
#define SELECT_TIMES(X, a, b)                                                                      \
    X(a, b, FROM, "from", "TIME", "start at TIME: 1.5s, or 2026-11-22T10:00:00Z")                  \
    X(a, b, UNTIL, "until", "TIME", "end at TIME")
/* Where an event happens, or that with which a stretch of time begins: */
#define SELECT_PLACES(X, a, b)                                                                     \
    X(a, b, PROC, "proc", "IDS", "only on these procs")                                            \
    X(a, b, THREAD, "thread", "IDS", "only on these threads")                                      \
    X(a, b, GENERATION, "generation", "IDS", "only in these generations")

typedef enum select_by {
#define SELECT_NUMBER(a, b, name, option, value, summary) SELECT_##name,
    SELECT_CRITERIA(SELECT_NUMBER, , ) SELECT_COUNT
#undef SELECT_NUMBER
} select_by;

#define SELECT_BIT(by) (1U << (by))
#define SELECT_TIME    (SELECT_BIT(SELECT_FROM) | SELECT_BIT(SELECT_UNTIL))

/* Criteria of goroutines, which intervals of time have too. */
#define SELECT_OF_GOROUTINES                                                                       \
    (SELECT_BIT(SELECT_GOROUTINE) | SELECT_BIT(SELECT_FUNCTION) | SELECT_BIT(SELECT_TASK) |        \
     SELECT_BIT(SELECT_REGION))

/* Where something happens. */
#define SELECT_OF_PLACES                                                                           \
    (SELECT_BIT(SELECT_PROC) | SELECT_BIT(SELECT_THREAD) | SELECT_BIT(SELECT_GENERATION))

/* All that restrict what is shown to a part of the program. */
#define SELECT_OF_PARTS (SELECT_OF_GOROUTINES | SELECT_OF_PLACES)

/* The name of its option; NULL after the last. */
const char *select_option(size_t by);

/* A time since the start of the trace, or of the wall clock. */
typedef struct select_time {
    bool wall;
    int64_t ns;                   /* since the start */
    int64_t seconds, nanoseconds; /* wall: since 1970 */
} select_time;

typedef struct select_ids {
    uint64_t (*ranges)[2]; /* first and last id, ascending, without overlaps */
    size_t count;
} select_ids;

typedef struct select_names {
    char **names; /* sorted */
    size_t count;
} select_names;

typedef struct selection {
    unsigned given;                  /* 1 << SELECT_* */
    const char *texts[SELECT_COUNT]; /* borrowed; NULL: not given */
    select_time from, until;
    select_ids ids[SELECT_COUNT];
    select_names names[SELECT_COUNT];
    pattern *function;
} selection;

/* Parses the texts of the criteria, NULL for those that are not given; they are borrowed. False:
 * the message says what is wrong; it is empty if memory was refused. Free the selection in any
 * case. */
bool selection_parse(selection *s, const char *const texts[SELECT_COUNT], char *message,
                     size_t room);
void selection_free(selection *s);

/* Parses one time. */
bool select_time_parse(const char *text, select_time *time);

bool select_has_id(const select_ids *ids, uint64_t id);
bool select_has_name(const select_names *names, const char *name, size_t size);

/* A range of times of one trace: from <= time < until. */
typedef struct select_range {
    int64_t from, until; /* INT64_MIN, INT64_MAX: not restricted */
} select_range;

/* A selection for one trace, and what became of it. */
typedef struct select_job {
    const selection *what; /* NULL: everything */
    select_range range;
    uint64_t count; /* of selected events */
    bool failed;    /* memory was refused */
    bool too_hard;  /* matching a name of the trace reached a limit; reading ended there */
    char name[64];  /* the beginning of that name */
    bool writes;    /* what is selected is written, not shown */
    const _Atomic bool *stop; /* NULL, or set by another thread: reading ends, without a result */
} select_job;

typedef enum select_status {
    SELECT_OK,
    SELECT_NO_CLOCK,  /* the trace does not contain the wall clock */
    SELECT_NO_TIME,   /* the range is empty */
    SELECT_NO_MEMORY, /* memory was refused */
} select_status;

/* The wall clock at one time of a trace. */
typedef struct select_clock {
    int64_t time;                 /* ns since the start */
    int64_t seconds, nanoseconds; /* since 1970 */
} select_clock;

/* Reads the beginning of a trace for the clock by which times are converted. */
select_status selection_clock(gotrace_source *source, const gotrace_config *config,
                              select_clock *clock);

/* Finds the range of a trace, of whose source the beginning is read if a time is one of the wall
 * clock. */
select_status selection_range(const selection *s, gotrace_source *source,
                              const gotrace_config *config, select_range *range);

#endif
