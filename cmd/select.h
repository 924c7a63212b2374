/*
 * select.h - the options that select a part of a trace, the same for every verb that has them.
 *
 * A verb has a select_options in its struct of options, and SELECT_OPTIONS in its table. Then:
 *
 *   select_open     parse the options
 *   select_begin    before a trace is read: find its range of times
 *   select_finish   afterwards: report if nothing was selected, or why it failed
 *   selection_free
 */
#ifndef CMD_SELECT_H
#define CMD_SELECT_H

#include "cmd/input.h"
#include "formats/analyse/selector.h"

/* The texts of the options by criterion; NULL: not given. */
typedef struct select_options {
    const char *texts[SELECT_COUNT];
} select_options;

/* The rows of the options; member is a select_options in the struct of options of the verb. Each
 * row ends with a comma. SELECT_SUBJECT_OPTIONS are those that do not name what is explained. */
/* clang-format off */
#define SELECT_ROW(options, member, by, name, value, summary)                                      \
    {0, name, OPTION_WORD, value,                                                                  \
     offsetof(options, member.texts) + SELECT_##by * sizeof(const char *), NULL, summary},
#define SELECT_SUBJECT_OPTIONS(options, member)                                                    \
    SELECT_TIMES(SELECT_ROW, options, member)                                                      \
    SELECT_FUNCTIONS(SELECT_ROW, options, member)                                                  \
    SELECT_PLACES(SELECT_ROW, options, member)
#define SELECT_OPTIONS(options, member) SELECT_CRITERIA(SELECT_ROW, options, member)
/* clang-format on */

/* Parse the options. Returns an exit status, after a diagnostic if it is not EXIT_SOUND; free the
 * selection in any case. */
int select_open(selection *what, const select_options *options);

/* Refuse criteria other than these (1 << SELECT_*): "--task is for profiles". False after a
 * diagnostic. */
bool select_supports(const selection *what, unsigned criteria, const char *others);

/* Prepare the selection for a trace that was opened. Returns an exit status. */
int select_begin(select_job *job, const selection *what, const select_options *options,
                 const input *in);

/* Find the goroutines that the selection selects, with a reader of its own, whose problems the
 * other one reports. ids: free its ranges; span: NULL, or the times from the first to the last
 * event at a listed place. Returns an exit status; see select_finish too. */
int select_goroutines(select_job *job, input *in, select_ids *ids, select_range *span);

/* Whether the time range is before or after the trace, which was read; text: what to report. */
bool select_is_outside(const select_job *job, const select_options *options, const input *in,
                       char *text, size_t room);

/* The options that are given, as text. */
void select_given(const select_options *options, char *text, size_t room);

/* Report how it ended. Returns an exit status. */
int select_finish(const select_job *job, const select_options *options, const input *in);

#endif
