/*
 * path.h - the critical path of tasks, regions and goroutines: what each nanosecond went into.
 *
 * paths_read (history.c) records every state of every goroutine, with links to the state before it
 * and to that of the goroutine that caused it, packs them (history_pack.c), and keeps the longest
 * intervals that match. paths_walk (path.c) follows the links of one interval from its end back to
 * its beginning. A path is found backwards, and which goroutines it visits is known only then, so
 * the states of all goroutines are needed; they are in a temporary file if they do not fit in
 * memory.
 *
 * Two passes, the second of which records only the time of the intervals, would not be better:
 * tasks that began before the trace, and most goroutines, need all of it; reading twice takes
 * longer than writing the records; and standard input can be read once.
 */
#ifndef ANALYSE_PATH_H
#define ANALYSE_PATH_H

#include "formats/analyse/longest.h"
#include "formats/analyse/selection.h"
#include "formats/analyse/states.h"
#include "formats/common/big_array.h"

typedef enum path_kind { PATH_TASK, PATH_REGION, PATH_GOROUTINE } path_kind;

enum { PATH_ALL = 100000000 }; /* millionths of a percent */

/* What to look for: an id, or a name (type of a task, name of a region, start function). */
typedef struct path_query {
    path_kind kind;
    const char *name;
    bool has_id; /* the name is a number; regions have none */
    uint64_t id;
    uint64_t slowest;   /* at most this many */
    uint64_t share;     /* not 0: that share of those that match instead, of PATH_ALL; rounded up */
    select_range range; /* intervals match that are at least partly in it */
} path_query;

/* An interval that matches. Times are ns since the start of the trace. */
typedef struct path_interval {
    int64_t begin, end;             /* the part in the time range, whose length counts */
    int64_t whole_begin, whole_end; /* the path is found from its end */
    uint64_t id;                    /* of the task or goroutine; of a region's task */
    uint64_t goroutine;             /* at the end; 0: not known */
    uint32_t name;                  /* of the task or region; the start function of the goroutine */
    uint32_t function;              /* where the goroutine starts */
    uint32_t record;                /* the goroutine's state at the end; 0: not known */
    uint32_t stack;                 /* of the event that ended it */
    bool begun, ended;              /* its begin and its end are in the trace */
} path_interval;

/* Kinds of parts, with their names in JSON and in text. */
#define PATH_PARTS(X)                                                                              \
    X(EXECUTION, "execution", "execution")                                                         \
    X(ASSIST, "gc_assist", "GC mark assist") /* execution, to assist the GC */                     \
    X(SCHEDULING, "scheduling", "scheduling delay")                                                \
    X(SYSCALL, "syscall", "system call")                                                           \
    X(WAITING, "waiting", "waiting")                                                               \
    X(UNKNOWN, "unknown", "unknown")

enum {
#define PATH_NUMBER(name, text, title) PATH_##name,
    PATH_PARTS(PATH_NUMBER) PATH_PART_KINDS
#undef PATH_NUMBER
};
extern const char *const path_part_names[PATH_PART_KINDS];
extern const char *const path_part_titles[PATH_PART_KINDS];

/* A row of a path. The rows that are not `spans` are a partition of the interval. One that spans is
 * a wait, and the rows after it with a greater depth are what the goroutine waited for. */
typedef struct path_part {
    int64_t begin, end;
    uint64_t goroutine;
    uint64_t cause;     /* the goroutine that ended the wait or made it runnable; 0: none */
    uint32_t function;  /* where the goroutine starts */
    uint32_t reason;    /* why it waits or stopped running */
    uint32_t waits_for; /* a name, see waits_for.h; 0: not known */
    uint32_t stack;     /* execution: where it ended; else where the state began */
    uint32_t depth;     /* number of waits around it */
    uint8_t kind;       /* PATH_* */
    bool spans;
} path_part;

/* A name of what the trace has, and how many. */
typedef struct path_name {
    uint32_t name;
    uint64_t count;
} path_name;

typedef struct path_reason {
    uint32_t reason;
    int64_t ns;
} path_reason;

/* What rows add up to, by kind, and their number. */
typedef struct path_sums {
    int64_t ns[PATH_PART_KINDS];
    uint64_t counts[PATH_PART_KINDS];
    idmap reasons; /* path_reason, of waits */
} path_sums;

typedef struct path_level path_level;

typedef struct paths {
    path_query query;
    stacks *stacks;
    big_array history; /* of states, from 1 on */
    longest longest;
    path_interval *intervals; /* by slot of longest */
    size_t interval_room;
    big_array all;    /* path_interval: those that match, if a share of them is kept */
    uint64_t matched; /* intervals that match */
    uint64_t ids;     /* tasks, regions or goroutines in the time range that are selected */
    idmap names;      /* path_name */
    idmap labels;     /* states.labels */
    bool failed;      /* memory was refused */
    /* Of the last walk: */
    int64_t until;    /* the end of the part in the time range */
    big_array parts;  /* path_part, the last first */
    path_sums own;    /* of the rows with depth 0, which are a partition of the interval */
    path_sums others; /* of the other parts, which are a partition of the waits among those rows */
    int64_t divided;  /* ns of these waits */
    idmap functions;  /* start function by goroutine, as far as known */
    path_level *levels;
    size_t level_count, level_room;
} paths;

/* Returns NULL if memory is refused. The query's name is borrowed. */
paths *paths_new(const path_query *query);
void paths_free(paths *p);

/* Reads the trace to its end: GOTRACE_END or GOTRACE_ERROR. threads: more than 1 reads in a
 * thread. The query's range may be set until then.
 *
 * select: NULL, or the criteria that the event must satisfy with which a task, region or goroutine
 * begins, or that which ends it if it began before the trace; of a goroutine that existed before
 * the trace, the first event that changes or reports its state. Its range is not used. */
gotrace_status paths_read(paths *p, gotrace_reader *reader, size_t threads, select_job *select);

/* The n-th interval of those that were kept, the longest first; NULL after the last. */
const path_interval *paths_interval(const paths *p, size_t n);

/* Finds the path of an interval: the part in the time range of the path of the whole interval. */
void paths_walk(paths *p, const path_interval *i);

/* The n-th row of the path, in the order of their begins; NULL on failure. */
const path_part *paths_part(paths *p, uint64_t n);

/* Whether memory was refused or (*error, an errno) a temporary file failed. */
bool paths_failed(const paths *p, int *error);

/* ---- between history.c and path.c -------------------------------------------------------------
 */

/* Who caused a state. */
enum { CAUSE_NONE, CAUSE_SELF, CAUSE_OTHER };

/* A state of a goroutine, from its time until that of the goroutine's next one. */
typedef struct path_state {
    int64_t time;
    uint64_t goroutine;
    uint32_t before; /* the goroutine's state before it; 0: none */
    uint32_t
        cause; /* CAUSE_OTHER: the state that the goroutine had which caused it; 0: not known */
    uint32_t stack, function, reason;
    uint32_t waits_for; /* WAITING: a name, see waits_for.h; 0: not known */
    uint8_t state;      /* gotrace_state */
    uint8_t caused;     /* CAUSE_* */
    bool assist;        /* it executes to assist the GC */
} path_state;

/* How states are stored: about 9 bytes instead of 48. */
extern const big_array_packing path_state_packing;

#endif
