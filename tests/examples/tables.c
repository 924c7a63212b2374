/*
 * tables.c - print the library's tables of events and rules in the language of manual pages (mdoc):
 *
 *   tables events       the event table of v1 in gotrace-format(5)
 *   tables events-v2    that of v2
 *   tables script       the events of scripts of level meaning in gotrace-script(5), of v1
 *   tables script-v2    those of v2
 *   tables rules        the section RULES of gotrace(1)
 */
#include <gotrace.h>
#include <stdio.h>
#include <string.h>

/* The first and the last version of each format. */
enum { V1_FIRST = 5, V1_LAST = 21, V2_FIRST = GOTRACE_FIRST_V2, V2_LAST = 26 };

/* Print a range of versions, unless it is that of the format. */
static void print_versions(int first, int since, int until)
{
    if (since > first)
        printf(" Po from 1.%d Pc", since);
    if (until < 255)
        printf(" Po until 1.%d Pc", until);
}

/* Print the arguments after the deltas of sequence number and time. */
static void print_args(const gotrace_event_spec *spec, int first)
{
    for (size_t i = 0; i < spec->arg_count; i++) {
        const gotrace_arg_spec *arg = &spec->args[i];
        if (arg->kind == GOTRACE_ARG_DSEQ || arg->kind == GOTRACE_ARG_DT)
            continue;
        printf(" Ar %s", arg->name);
        print_versions(first, arg->since > spec->since ? arg->since : first, arg->until);
    }
    if (spec->flags & GOTRACE_SPEC_FRAMES)
        printf(" Ar frames");
    if (spec->flags & GOTRACE_SPEC_DATA)
        printf(" Ar data");
}

static void print_events(int first, int last)
{
    for (unsigned code = 0; code < 256; code++) {
        const gotrace_event_spec *spec = gotrace_event_spec_of(last, code);
        if (!spec)
            continue;
        printf(".It %u Sy %s", code, spec->name);
        print_args(spec, first);
        if (spec->since > first)
            printf(" No \\(em from 1.%d", spec->since);
        printf("\n%s\n", spec->summary);
    }
}

/* Whether the argument occurs in scripts of level meaning in some version; synth sets the others.
 */
static bool is_in_scripts(const gotrace_event_spec *spec, const gotrace_arg_spec *arg)
{
    size_t version_count;
    const int *versions = gotrace_versions(&version_count);
    if (arg->kind == GOTRACE_ARG_TICKS)
        return false;
    for (size_t v = 0; v < version_count; v++) {
        const gotrace_arg_spec *args[GOTRACE_MAX_ARGS];
        if (gotrace_event_spec_of(versions[v], spec->code) != spec)
            continue;
        size_t count = gotrace_writer_args(spec, versions[v], args);
        for (size_t i = 0; i < count; i++)
            if (args[i] == arg)
                return true;
    }
    return arg->kind == GOTRACE_ARG_STACK;
}

/* The notation of a value. */
static const char *value_of(const gotrace_arg_spec *arg)
{
    switch ((gotrace_arg_kind)arg->kind) {
    case GOTRACE_ARG_STRING: return "\\(dqTEXT\\(dq";
    case GOTRACE_ARG_START:
    case GOTRACE_ARG_STACK: return "\\(dqFRAME\\(dq";
    case GOTRACE_ARG_PSTATUS:
    case GOTRACE_ARG_GSTATUS: return "STATE";
    default: return "N";
    }
}

static void print_script_events(int first, int last)
{
    for (unsigned code = 0; code < 256; code++) {
        const gotrace_event_spec *spec = gotrace_event_spec_of(last, code);
        if (!spec || !(spec->flags & (GOTRACE_SPEC_TIMED | GOTRACE_SPEC_ANYWHERE)))
            continue;
        printf(".It Sy %s", spec->name);
        for (size_t i = 0; i < spec->arg_count; i++) {
            const gotrace_arg_spec *arg = &spec->args[i];
            if (!is_in_scripts(spec, arg))
                continue;
            printf(" No %s=%s", arg->name, value_of(arg));
            print_versions(first, arg->since > spec->since ? arg->since : first, arg->until);
        }
        if (spec->flags & GOTRACE_SPEC_DATA)
            printf(" No data=\\(dqTEXT\\(dq");
        if (spec->since > first)
            printf(" No \\(em from 1.%d", spec->since);
        printf("\n%s\n", spec->summary);
    }
}

static const char *severity_name(gotrace_severity severity)
{
    switch (severity) {
    case GOTRACE_NOTE: return "note";
    case GOTRACE_WARNING: return "warning";
    case GOTRACE_PROBLEM: return "error";
    case GOTRACE_FATAL: return "fatal";
    }
    return "";
}

static void print_rules(void)
{
    const gotrace_rule_info *info;
    for (size_t n = 1; (info = gotrace_rule_at(n)); n++) {
        printf(".It Sy %s Pq %s, %s\n%s\n(%s)\n", info->id, gotrace_class_name(info->class_),
               severity_name(info->severity), info->wants, info->source);
    }
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "events") == 0) {
        print_events(V1_FIRST, V1_LAST);
    } else if (argc == 2 && strcmp(argv[1], "events-v2") == 0) {
        print_events(V2_FIRST, V2_LAST);
    } else if (argc == 2 && strcmp(argv[1], "script") == 0) {
        print_script_events(V1_FIRST, V1_LAST);
    } else if (argc == 2 && strcmp(argv[1], "script-v2") == 0) {
        print_script_events(V2_FIRST, V2_LAST);
    } else if (argc == 2 && strcmp(argv[1], "rules") == 0) {
        print_rules();
    } else {
        fprintf(stderr, "usage: tables events|events-v2|script|script-v2|rules\n");
        return 2;
    }
    return fflush(stdout) != 0;
}
