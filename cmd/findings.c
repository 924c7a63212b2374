#include "cmd/findings.h"

#include <inttypes.h>
#include <string.h>

#include "cmd/diag.h"
#include "cmd/exit_status.h"
#include "cmd/trace_limits.h"

static const char *severity_word(gotrace_severity severity)
{
    switch (severity) {
    case GOTRACE_NOTE: return "note";
    case GOTRACE_WARNING: return "warning";
    case GOTRACE_PROBLEM: return "error";
    case GOTRACE_FATAL: return "fatal";
    }
    return "error";
}

static void json_member(out *o, const char *name, const char *text)
{
    out_printf(o, ",\"%s\":", name);
    out_json_string(o, text, strlen(text));
}

static void report_json(const findings *f, const gotrace_error *e)
{
    const gotrace_rule_info *rule = gotrace_rule_describe(e->rule);
    out *o = f->json;
    out_str(o, "{\"type\":\"problem\"");
    json_member(o, "file", f->file);
    if (e->offset != GOTRACE_NO_OFFSET)
        out_printf(o, ",\"offset\":%" PRIu64, e->offset);
    if (e->batch != GOTRACE_NO_OFFSET)
        out_printf(o, ",\"batch\":%" PRIu64, e->batch);
    if (e->event != GOTRACE_NO_OFFSET)
        out_printf(o, ",\"event\":%" PRIu64, e->event);
    json_member(o, "severity", severity_word(e->severity));
    json_member(o, "class", gotrace_class_name(e->class_));
    json_member(o, "rule", rule->id);
    json_member(o, "message", e->message);
    if (e->function[0]) {
        json_member(o, "function", e->function);
        json_member(o, "source_file", e->file);
        out_printf(o, ",\"line\":%" PRIu64, e->line);
    }
    if (e->goroutine)
        out_printf(o, ",\"goroutine\":%" PRIu64 ",\"time_ns\":%" PRId64, e->goroutine, e->time);
    json_member(o, "wants", rule->wants);
    json_member(o, "source", rule->source);
    out_str(o, "}\n");
}

static void report(findings *f, const gotrace_error *e)
{
    const gotrace_rule_info *rule = gotrace_rule_describe(e->rule);
    diag_problem(f->file, e);
    if (f->verbose && e->batch != GOTRACE_NO_OFFSET && e->event != GOTRACE_NO_OFFSET)
        diag_problem_note(f->file, e->offset, "this is in batch %" PRIu64 ", record %" PRIu64,
                          e->batch, e->event);
    if (f->explain && e->class_ != GOTRACE_CLASS_SYSTEM && e->severity != GOTRACE_NOTE &&
        !f->explained[e->rule])
        diag_problem_note(f->file, e->offset, "rule: %s (%s)", rule->wants, rule->source);
    f->explained[e->rule] = true;
    limits_note(e);
}

void findings_add(findings *f, const gotrace_error *problem)
{
    if (problem->rule == f->last.rule && problem->offset == f->last.offset &&
        problem->event == f->last.event && strcmp(problem->message, f->last.message) == 0)
        return;
    /* A sound trace of Go may have these: only who checks the trace wants to know. */
    if (problem->rule == GOTRACE_RULE_TABLE_UNUSED && !f->explain)
        return;
    /* Truncated compressed data also truncates the trace: report only one problem. */
    if (problem->rule == GOTRACE_RULE_SYSTEM_ZSTD || problem->rule == GOTRACE_RULE_SYSTEM_GZIP)
        f->cut = f->file;
    else if (f->cut == f->file && problem->rule == GOTRACE_RULE_WIRE_TRUNCATED)
        return;
    f->last = *problem;
    uint64_t *count = problem->severity >= GOTRACE_PROBLEM   ? &f->errors
                      : problem->severity == GOTRACE_WARNING ? &f->warnings
                                                             : &f->notes;
    ++*count;
    if (problem->severity >= GOTRACE_PROBLEM)
        f->by_class[problem->class_]++;
    if (problem->severity == GOTRACE_FATAL && f->fatal.rule == GOTRACE_RULE_NONE)
        f->fatal = *problem;
    /* A problem that ends reading is reported even above the limit. */
    if (f->limit && *count > f->limit && problem->severity != GOTRACE_FATAL)
        return;
    if (f->json)
        report_json(f, problem);
    if (!f->json || (f->kept_only && problem->class_ == GOTRACE_CLASS_SYSTEM))
        report(f, problem);
}

static uint64_t beyond(uint64_t count, uint64_t limit)
{
    return limit && count > limit ? count - limit : 0;
}

void findings_end(const findings *f)
{
    uint64_t errors = beyond(f->errors, f->limit), warnings = beyond(f->warnings, f->limit);
    if (f->json)
        return;
    if (errors)
        diag_problem_note(f->file, GOTRACE_NO_OFFSET, "%" PRIu64 " more errors", errors);
    if (warnings)
        diag_problem_note(f->file, GOTRACE_NO_OFFSET, "%" PRIu64 " more warnings", warnings);
}

int findings_status(const findings *f)
{
    if (f->by_class[GOTRACE_CLASS_SYSTEM])
        return EXIT_SYSTEM;
    if (f->by_class[GOTRACE_CLASS_USAGE])
        return EXIT_USAGE;
    return f->errors ? EXIT_DAMAGED : EXIT_SOUND;
}

const char *findings_verdict(const findings *f)
{
    /* The worst first. */
    static const gotrace_class classes[] = {
        GOTRACE_CLASS_SYSTEM,     GOTRACE_CLASS_USAGE,        GOTRACE_CLASS_UNSUPPORTED,
        GOTRACE_CLASS_MALFORMED,  GOTRACE_CLASS_INCONSISTENT, GOTRACE_CLASS_CLOCKS,
        GOTRACE_CLASS_UNFINISHED,
    };
    if (!f->recovered && (f->fatal.rule == GOTRACE_RULE_HEADER_MAGIC ||
                          f->fatal.rule == GOTRACE_RULE_HEADER_FOREIGN ||
                          f->fatal.rule == GOTRACE_RULE_HEADER_SHORT))
        return "not a trace";
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (f->by_class[classes[i]])
            return gotrace_class_name(classes[i]);
    return gotrace_class_name(GOTRACE_CLASS_NONE);
}
