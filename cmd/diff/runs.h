/* runs.h - what is read of a trace for a comparison: the whole trace, and its parts. */
#ifndef CMD_DIFF_RUNS_H
#define CMD_DIFF_RUNS_H

#include "cmd/input.h"
#include "formats/diff/diff.h"

typedef struct file_runs {
    diff_run whole, parts; /* parts: if they are needed */
} file_runs;

/* Reads the trace with that reader, to its end: GOTRACE_END or GOTRACE_ERROR. select: NULL: all. */
gotrace_status file_runs_read(file_runs *runs, const input *in, gotrace_reader *reader,
                              size_t threads, select_job *select);

/* Reads it again, in parts. Returns an exit status, after a diagnostic if it is not EXIT_SOUND. */
int file_runs_read_parts(file_runs *runs, input *in, size_t threads, const select_job *select);

/* Whether memory was refused, after a diagnostic. */
bool file_runs_report_refused(const diff_run *run);

/* Adds the trace to a side, and frees what was read of it. */
void file_runs_move(file_runs *runs, diff_table *t, unsigned side);

void file_runs_free(file_runs *runs);

#endif
