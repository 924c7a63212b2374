/*
 * path_total.h - critical paths in total: what the time of all intervals that were kept went into.
 *
 * Rows of the paths are added up by their stack, whose innermost frame is the state: its function
 * is named "execution" or "waiting (sync)". Each of these divides the sum of the intervals:
 *
 *   PATH_OWN      what their goroutines did themselves: waits are whole
 *   PATH_LEAVES   the parts of the paths: waits for goroutines are divided
 *   PATH_NESTED   the parts, each with the waits around it: the stacks of the wait, of the wait of
 *                 the goroutine that ended it, and so on, are one stack
 *
 * Memory depends on the number of different stacks; of nested ones there is a limit.
 */
#ifndef ANALYSE_PATH_TOTAL_H
#define ANALYSE_PATH_TOTAL_H

#include "formats/analyse/path.h"
#include "formats/analyse/profile.h"

enum { PATH_OWN, PATH_LEAVES, PATH_NESTED, PATH_TABLES };

/* Waits that are nested deeper than that, or beyond so many different stacks all waits but the
 * first one, are a frame "...". */
enum { PATH_MOST_NESTED = 64, PATH_MOST_STACKS = 1 << 17 };

typedef struct path_totals_options {
    stacks_detail detail;
    bool nested;        /* make PATH_NESTED, and not the others */
    size_t most_nested; /* stacks */
} path_totals_options;

typedef struct path_total {
    int64_t ns;
    uint64_t parts;
    uint32_t stack;  /* without the frame of the state; 0: none. Only waits and system calls have
                      * one, see path_totals.stacks */
    uint32_t reason; /* of a wait: a name of the paths' stacks */
    uint8_t kind;    /* PATH_EXECUTION, ... */
} path_total;

/* By number of the stack with the frame of the state; those without parts are not used. */
typedef struct path_table {
    path_total *rows;
    size_t room;
} path_table;

typedef struct path_totals {
    path_totals_options options;
    paths *paths;
    stacks *stacks;
    path_table tables[PATH_TABLES];
    uint64_t count;            /* intervals */
    int64_t ns;                /* their sum */
    int64_t shortest, longest; /* of them */
    int64_t begin, end;        /* from the first to the last time */
    int64_t divided;           /* ns of waits for goroutines, which are divided */
    bool failed;               /* memory was refused */
    /* Frames in stacks: */
    uint32_t *known; /* by number of the frame in those of the paths; 0: not made yet */
    size_t known_room;
    uint32_t states[PATH_PART_KINDS];
    idmap reasons; /* uint32_t, of waits by reason */
    /* Those of the current row, the outermost first. */
    uint32_t *frames, *reversed;
    size_t frame_count, frame_room, reversed_room;
    size_t ends[PATH_MOST_NESTED]; /* frames up to the wait at that depth */
    struct {
        uint64_t goroutine; /* 0: the last row is not a wait */
        uint32_t stack;
    } waited[PATH_MOST_NESTED + 1]; /* where the last row at that depth waits */
} path_totals;

/* Walks the paths of all intervals, until they fail (paths_failed). False if memory was refused.
 * Free it in any case. */
bool path_totals_make(path_totals *t, paths *p, const path_totals_options *options);
void path_totals_free(path_totals *t);

/* A row of a table, with the sum of all rows of its state and reason. */
typedef struct path_total_row {
    path_total total;
    uint32_t number; /* of the stack with the frame of the state */
    uint32_t state;  /* that frame's function: a name */
    int64_t state_ns;
    uint64_t state_parts;
} path_total_row;

/* The rows of a table: by state and reason, and of each by stack, the longest first; to be freed.
 * NULL: there are none, or memory was refused (*failed). */
path_total_row *path_totals_rows(const path_totals *t, unsigned table, size_t *count, bool *failed);

/* Makes a profile of nested totals, which has their stacks from then on. False if memory was
 * refused. */
bool path_totals_profile(path_totals *t, profile *made);

#endif
