#include "read/handle.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/times.h"

static void count_problem(gotrace_reader *reader, const gotrace_error *problem)
{
    gotrace_summary *summary = &reader->summary;
    if (problem->severity == GOTRACE_NOTE)
        summary->notes++;
    else if (problem->severity == GOTRACE_WARNING)
        summary->warnings++;
    else
        summary->problems++;
    if (problem->severity >= GOTRACE_PROBLEM)
        reader->problems[problem->class_]++;
}

static bool follows_from_fault(gotrace_reader *reader, gotrace_rule rule, uint64_t offset)
{
    enum { GAP_NS = 1000000000 };
    if (reader->config.every_problem)
        return false;
    /* In v2 a fault ends with a generation. */
    int64_t gap = reader->v2 || reader->ns_per_tick <= 0
                      ? 0
                      : gt_time((double)GAP_NS / reader->ns_per_tick);
    bool follows = gt_faults_follows(&reader->faults, rule, offset, reader->last_ticks, gap);
    reader->summary.consequences += follows;
    return follows;
}

static void copy_code_place(gotrace_error *problem, const gotrace_error *where)
{
    problem->time = where->time;
    problem->goroutine = where->goroutine;
    problem->line = where->line;
    memcpy(problem->function, where->function, sizeof problem->function);
    memcpy(problem->file, where->file, sizeof problem->file);
}

bool gt_report(gotrace_reader *reader, gotrace_rule rule, gt_place place, const char *format, ...)
{
    char message[sizeof((gotrace_error *)0)->message];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return gt_report_in_code(reader, rule, place, NULL, message);
}

bool gt_report_in_code(gotrace_reader *reader, gotrace_rule rule, gt_place place,
                       const gotrace_error *where, const char *message)
{
    if (reader->quiet || place.offset < reader->reported)
        return true;
    /* Go writes strings and stacks that nothing refers to. */
    if (rule == GOTRACE_RULE_TABLE_UNUSED && !reader->config.every_problem)
        return true;
    if (follows_from_fault(reader, rule, place.offset))
        return true;
    gotrace_error problem;
    gt_error_set(&problem, rule, place, "%s", message);
    if (where)
        copy_code_place(&problem, where);
    count_problem(reader, &problem);
    if (reader->config.on_problem &&
        !reader->config.on_problem(reader->config.callback_ctx, &problem)) {
        reader->error = problem;
        reader->stopped = true;
        reader->stage = GT_FAILED;
        return false;
    }
    return true;
}

bool gt_end_fault(gotrace_reader *reader)
{
    uint64_t offset, more = gt_faults_close(&reader->faults, &offset);
    bool quiet = reader->quiet;
    reader->quiet = false; /* these were counted before */
    bool go_on = more == 0 ||
                 gt_report(reader, GOTRACE_RULE_ORDER_CONSEQUENCE, GT_AT(offset),
                           "%llu more inconsistenc%s from here on may follow from the same damage; "
                           "the events keep their times and are accepted as recorded",
                           (unsigned long long)more, more == 1 ? "y" : "ies");
    reader->quiet = quiet;
    return go_on;
}

bool gt_fail(gotrace_reader *reader)
{
    if (reader->stage != GT_FAILED) {
        reader->stage = GT_FAILED;
        count_problem(reader, &reader->error);
    }
    return false;
}

bool gt_fail_memory(gotrace_reader *reader)
{
    gt_error_memory(&reader->error, &reader->heap);
    return gt_fail(reader);
}

void gt_progress(gotrace_reader *reader, uint64_t bytes)
{
    enum { STEP = 1 << 20 };
    uint64_t before = reader->progress_done;
    reader->progress_done += bytes;
    if (reader->config.on_progress && before / STEP != reader->progress_done / STEP)
        reader->config.on_progress(reader->config.callback_ctx, reader->progress_done,
                                   reader->progress_total);
}

bool gt_read_again(gotrace_reader *reader, uint64_t offset, uint8_t *into, size_t size)
{
    size_t got;
    if (gt_read_bytes(reader, offset, into, size, &got) < 0)
        return gt_fail(reader);
    if (got < size) {
        gt_error_set(&reader->error, GOTRACE_RULE_SYSTEM_READ, GT_AT(offset + got),
                     "the file became shorter while it was read");
        return gt_fail(reader);
    }
    return true;
}

gotrace_status gt_read_bytes(gotrace_reader *reader, uint64_t offset, void *buffer, size_t size,
                             size_t *got)
{
    return gt_source_read(reader->source, offset, buffer, size, got, &reader->error);
}
