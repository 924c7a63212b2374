/* reduce.c - find a small trace for which a command still fails in the same way. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/diag.h"
#include "cmd/input.h"
#include "cmd/memory.h"
#include "cmd/names.h"
#include "cmd/reduce/reduce.h"
#include "cmd/repair/verdict.h"
#include "formats/analyse/pattern.h"

enum { NO_STATUS = UINT16_MAX, LINE = 200 };

typedef struct reduce_options {
    settings common;
    const char *test, *said;
    uint64_t status;
    int64_t timeout; /* ns */
    bool any;
} reduce_options;

typedef struct reducing {
    const reduce_options *set;
    trial trial;
    pattern *said;    /* NULL: whatever is said */
    char first[LINE]; /* line that the command prints on the trace as it is */
    int status;       /* that the command must have */
    bool broken;      /* the command cannot be run, or the pattern is too hard */
} reducing;

static bool run(reducing *p, const void *bytes, size_t size)
{
    if (trial_run(&p->trial, bytes, size))
        return true;
    p->broken = p->broken || !trial_signal();
    return false;
}

static bool says(reducing *p)
{
    pattern_result result = p->said ? pattern_match(p->said, p->trial.text, p->trial.text_size)
                                    : PATTERN_MATCHES;
    return result == PATTERN_MATCHES;
}

static bool holds(void *ctx, const void *bytes, size_t size)
{
    reducing *p = ctx;
    return run(p, bytes, size) && p->trial.status == p->status && says(p);
}

static bool stops(void *ctx)
{
    return ((const reducing *)ctx)->broken || trial_signal();
}

static void show_step(void *ctx, const char *name, size_t size)
{
    if (((const reducing *)ctx)->set->common.verbose)
        diag_note("%zu bytes; leaving out or shortening: %s", size, name);
}

/* Copies the first line that is not empty of what the command printed. */
static void copy_line(char line[LINE], const trial *t)
{
    size_t at = 0, size = 0;
    while (at < t->text_size && t->text[at] == '\n')
        at++;
    while (at + size < t->text_size && t->text[at + size] != '\n' && size < LINE - 1)
        size++;
    size = names_cut(t->text + at, size, LINE - 1);
    memcpy(line, t->text + at, size);
    line[size] = '\0';
}

static bool is_hex(char c)
{
    return strchr("0123456789abcdefABCDEF", c) && c;
}

/* The end of a number, decimal or hexadecimal with 0x; the text itself if there is none. */
static const char *after_number(const char *text)
{
    bool hex = text[0] == '0' && text[1] == 'x';
    if (text[0] < '0' || text[0] > '9')
        return text;
    for (text += hex ? 2 : 0; hex ? is_hex(*text) : *text >= '0' && *text <= '9';)
        text++;
    return text;
}

/* Whether two lines differ only in their numbers. */
static bool are_alike(const char *a, const char *b)
{
    while (*a && *b) {
        const char *a_end = after_number(a), *b_end = after_number(b);
        bool numbers = a_end > a && b_end > b;
        if (!numbers && *a != *b)
            return false;
        a = numbers ? a_end : a + 1;
        b = numbers ? b_end : b + 1;
    }
    return *a == *b;
}

/* The command still ends with the same status, which may have another cause now. Its output shows
 * whether it has. */
static void note_change(const reducing *p)
{
    char line[LINE];
    copy_line(line, &p->trial);
    if (p->said || are_alike(p->first, line))
        return;
    diag_note("the command prints '%s' on the trace and '%s' on the result, which may show another "
              "fault: require the message with --stderr REGEX",
              p->first, line);
}

/* Run the command on the trace as it is. Returns an exit status. */
static int run_first(reducing *p, const uint8_t *bytes, size_t size, const char *name)
{
    if (!run(p, bytes, size)) {
        if (trial_signal())
            diag_error("interrupted before the command ended on %s: nothing is written", name);
        return EXIT_SYSTEM;
    }
    if (p->set->status == NO_STATUS)
        p->status = p->trial.status;
    if (p->set->status == NO_STATUS && (p->status == 126 || p->status == 127)) {
        diag_error("--test: the shell cannot run '%s'", p->set->test);
        return EXIT_USAGE;
    }
    if (p->trial.status != p->status) {
        diag_error("--status %d: the command ends with status %d on %s", p->status, p->trial.status,
                   name);
        return EXIT_USAGE;
    }
    if (!says(p)) {
        diag_error("--stderr: what the command prints on %s does not match", name);
        return EXIT_USAGE;
    }
    copy_line(p->first, &p->trial);
    return EXIT_SOUND;
}

/* The command may end in another way than before on the same trace: then a candidate may have been
 * taken or left out by chance. */
static bool ends_again(reducing *p, const void *bytes, size_t size, const char *name,
                       const char *which)
{
    if (holds(p, bytes, size) || stops(p))
        return true;
    if (p->trial.status == p->status)
        diag_warning(name, "--test: run again on the %s, the command prints something else", which);
    else
        diag_warning(name,
                     "--test: run again on the %s, the command ends with status %d instead of %d",
                     which, p->trial.status, p->status);
    return false;
}

static int write_result(session *s, reducing *p, const reduce_result *result, const char *name)
{
    bool again = ends_again(p, result->bytes, result->size, name, "result");
    if (again && !stops(p))
        note_change(p);
    out_bytes(&s->output.out, result->bytes, result->size);
    int status = output_close(&s->output, true);
    return status == EXIT_SOUND && !again ? EXIT_DAMAGED : status;
}

static int search(session *s, reducing *p, input *in, const reduce_job *job)
{
    gotrace_error error = {.rule = GOTRACE_RULE_NONE};
    reduce_result result = {.bytes = NULL};
    /* The search may take long: a file that cannot be written is noticed before it. */
    int status = output_open(&s->output, s->set->output, true);
    if (status != EXIT_SOUND)
        return status;
    ends_again(p, job->bytes, job->size, in->name, "same trace");
    if (reduce_trace(job, &result, &error) < 0) {
        findings_add(&in->found, &error);
        status = EXIT_SYSTEM;
    } else if (p->broken) {
        status = EXIT_SYSTEM;
    } else {
        status = write_result(s, p, &result, in->name);
        diag_note("%zu of %zu bytes, status %d, %llu test%s%s", result.size, job->size, p->status,
                  (unsigned long long)result.tests, result.tests == 1 ? "" : "s",
                  trial_signal() ? ", interrupted" : "");
    }
    output_close(&s->output, false); /* if the result was not written */
    free(result.bytes);
    return status;
}

static int reduce_bytes(session *s, reducing *p, input *in, const uint8_t *bytes, size_t size)
{
    verdict v;
    gotrace_error error = {.rule = GOTRACE_RULE_NONE};
    gotrace_config config = input_quiet(in);
    if (!verdict_of(bytes, size, &config, &v, &error)) {
        findings_add(&in->found, &error);
        return EXIT_SYSTEM;
    }
    int status = run_first(p, bytes, size, in->name);
    if (status != EXIT_SOUND)
        return status;
    return search(s, p, in,
                  &(reduce_job){.bytes = bytes,
                                .size = size,
                                .config = &config,
                                .sound = v.sound && !p->set->any,
                                .holds = holds,
                                .stops = stops,
                                .step = show_step,
                                .ctx = p});
}

static int reduce_input(session *s, reducing *p, input *in)
{
    gotrace_error error = {.rule = GOTRACE_RULE_NONE};
    uint64_t size = gotrace_source_size(in->source), limit = parts_limit(&in->config);
    size_t got = 0;
    uint8_t *bytes = size <= limit ? malloc((size_t)size + 1) : NULL;
    if (!bytes)
        fill_error(&error, size <= limit ? GOTRACE_RULE_SYSTEM_MEMORY : GOTRACE_RULE_SYSTEM_LIMIT,
                   GOTRACE_NO_OFFSET, "the trace of %llu bytes does not fit into memory",
                   (unsigned long long)size);
    int status = EXIT_SYSTEM;
    if (bytes && gotrace_source_read(in->source, 0, bytes, (size_t)size, &got, &error) >= 0)
        status = reduce_bytes(s, p, in, bytes, got);
    else
        findings_add(&in->found, &error);
    free(bytes);
    return status;
}

/* Returns an exit status. */
static int parse(reducing *p)
{
    const reduce_options *set = p->set;
    char why[120];
    size_t column = 0;
    if (!set->test) {
        diag_error("--test COMMAND is missing");
        return EXIT_USAGE;
    }
    if (set->common.sandbox) {
        diag_error("--sandbox: reduce runs a command, which a sandbox does not allow");
        return EXIT_USAGE;
    }
    if (set->status > 255 && set->status != NO_STATUS) {
        diag_error("--status takes an exit status, 0 to 255");
        return EXIT_USAGE;
    }
    p->status = (int)set->status;
    if (!set->said || (p->said = pattern_new(set->said, why, sizeof why, &column)))
        return EXIT_SOUND;
    if (!why[0]) {
        memory_report_refused();
        return EXIT_SYSTEM;
    }
    diag_error("--stderr: column %zu of the regular expression: %s", column, why);
    return EXIT_USAGE;
}

static int run_reduce(session *s)
{
    reducing p = {.set = (const reduce_options *)s->set};
    int status = parse(&p);
    if (status == EXIT_SOUND) {
        input in;
        bool opened = input_open(&in, s, input_path(s));
        /* What is wrong with the trace is what the command is tested with. */
        if (opened && trial_open(&p.trial, p.set->test, p.set->timeout))
            status = reduce_input(s, &p, &in);
        else if (opened)
            status = EXIT_SYSTEM;
        trial_close(&p.trial);
        int found = input_close(&in);
        status = found > status ? found : status;
    }
    pattern_free(p.said);
    return status;
}

static const reduce_options defaults = {.status = NO_STATUS, .timeout = INT64_C(10000000000)};

static const option_spec options[] = {
    {0, "test", OPTION_WORD, "COMMAND", offsetof(reduce_options, test), NULL,
     "run COMMAND on each trace, with its path"},
    {0, "status", OPTION_NUMBER, "N", offsetof(reduce_options, status), NULL,
     "COMMAND must end with status N (as on FILE)"},
    {0, "stderr", OPTION_WORD, "REGEX", offsetof(reduce_options, said), NULL,
     "what COMMAND prints on standard error must match"},
    {0, "timeout", OPTION_SECONDS, "SECONDS", offsetof(reduce_options, timeout), NULL,
     "end COMMAND after SECONDS, with status 124 (10)"},
    {0, "any", OPTION_FLAG, NULL, offsetof(reduce_options, any), NULL,
     "also try traces that are not valid"},
    {.name = NULL},
};

const verb verb_reduce = {
    .name = "reduce",
    .args = "[FILE]",
    .max_args = 1,
    .input = "FILE",
    .summary = "find a small trace for which a command still fails",
    .details = "For authors of parsers. The command is run by a shell, with the path of a\n"
               "trace as its last argument. If FILE is a valid trace, OUT is too. SIGINT ends\n"
               "the search, and writes the smallest trace found so far.",
    .options = options,
    .defaults = &defaults,
    .options_size = sizeof(reduce_options),
    .limited = true,
    .run = run_reduce,
};
