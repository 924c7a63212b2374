/*
 * user.h - problems with events of the user's code: tasks, regions, mark assists.
 *
 * An end without a begin began before the trace if that is possible. If not, the event is returned
 * with GOTRACE_EVENT_NO_BEGIN, and reported once for each place in the code.
 */
#ifndef GT_USER_H
#define GT_USER_H

#include "read/assume.h"
#include "read/handle.h"

/* An event of the user's code. */
typedef struct gt_user {
    gt_place place;
    int64_t time; /* ns since the first event */
    uint64_t goroutine, stack;
} gt_user;

/* As gt_report, and the problem has the place in the code. */
bool gt_report_user(gotrace_reader *reader, gotrace_rule rule, const gt_user *of,
                    const char *format, ...) __attribute__((format(printf, 4, 5), cold));

/* Reports an end that has no begin. what: of the same events of a place. Nothing is reported if a
 * part of the trace is lost, which may have the begin. assumed: NULL if the state is known. False
 * if reading must stop. */
bool gt_report_no_begin(gotrace_reader *reader, gt_assumptions *assumed, const gt_user *of,
                        const char *what, const char *format, ...)
    __attribute__((format(printf, 5, 6), cold));

/* Whether GT_ASSUME_NO_BEGIN holds. */
bool gt_no_begin_holds(const gotrace_reader *reader, const gt_assumption *assumption);

/* A task begins. False if memory is refused. */
bool gt_task_begins(gotrace_reader *reader, uint64_t id);

/* A task ends. False if memory is refused. */
bool gt_task_ends(gotrace_reader *reader, uint64_t id);

/* Whether a task has ended and not begun again. */
static inline bool gt_task_has_ended(const gotrace_reader *reader, uint64_t id)
{
    return gt_map_get(&reader->ended_tasks, id / 64) >> id % 64 & 1;
}

/* Takes over which tasks ended in a piece; call gt_task_begins for those that are open after it. */
bool gt_adopt_ended_tasks(gotrace_reader *reader, const gotrace_reader *alone);

#endif
