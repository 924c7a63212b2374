#include "cmd/diff/runs.h"

#include "cmd/memory.h"

bool file_runs_report_refused(const diff_run *run)
{
    if (run->failed)
        memory_report_refused();
    return run->failed;
}

gotrace_status file_runs_read(file_runs *runs, const input *in, gotrace_reader *reader,
                              size_t threads, select_job *select)
{
    return diff_run_read(&runs->whole, reader, in->name, threads,
                         select && select->what->given ? select : NULL, 0);
}

int file_runs_read_parts(file_runs *runs, input *in, size_t threads, const select_job *select)
{
    select_job again = *select;
    gotrace_reader *reader = input_read_again(in);
    if (!reader)
        return EXIT_SYSTEM;
    diff_run_read(&runs->parts, reader, in->name, threads, &again, runs->whole.duration);
    const bool done = input_end_again(in, reader);
    return file_runs_report_refused(&runs->parts) || !done ? EXIT_SYSTEM : EXIT_SOUND;
}

void file_runs_move(file_runs *runs, diff_table *t, unsigned side)
{
    if (runs->whole.names)
        diff_table_add(t, &runs->whole, side);
    if (runs->parts.names)
        diff_table_add(t, &runs->parts, side);
    file_runs_free(runs);
}

void file_runs_free(file_runs *runs)
{
    diff_run_free(&runs->whole);
    diff_run_free(&runs->parts);
}
