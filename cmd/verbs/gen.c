/* gen.c - generate a synthetic trace. */
#include <string.h>

#include "cmd/diag.h"
#include "cmd/options.h"
#include "cmd/versions.h"
#include "cmd/gen/job.h"

typedef struct gen_options {
    settings common;
    uint64_t seed, events, procs, goroutines;
    const char *go, *profile, *defect; /* NULL: not given */
    bool cover;
} gen_options;

/* Writes are collected in the buffer of the output. */
static bool write_buffered(void *ctx, const void *bytes, size_t size)
{
    out *o = ctx;
    out_bytes(o, bytes, size);
    return !o->failed;
}

static gotrace_rule rule_of(const char *id)
{
    int rule = 0;
    while (strcmp(gotrace_rule_describe((gotrace_rule)rule)->id, id) != 0)
        rule++;
    return (gotrace_rule)rule;
}

static gotrace_status write_defect(session *s, gen_job job, const gotrace_config *config,
                                   gotrace_error *error)
{
    const gen_options *set = (const gen_options *)s->set;
    gen_planted planted;
    gotrace_rule rule = rule_of(set->defect);
    if (gen_write_defect(&job, rule, write_buffered, &s->output.out, config, &planted, error) < 0)
        return GOTRACE_ERROR;
    if (!s->set->quiet)
        fprintf(stderr, "gotrace: at 0x%llx of this trace of go 1.%d: %s [%s]\n",
                (unsigned long long)planted.offset, planted.version, planted.what, set->defect);
    return GOTRACE_OK;
}

static int run_gen(session *s)
{
    const gen_options *set = (const gen_options *)s->set;
    int version = set->go ? version_of_release(set->go) : set->defect ? 0 : GEN_NEWEST;
    if (set->go && version == 0) {
        version_unknown("go", set->go, "", version_number);
        return EXIT_USAGE;
    }
    gen_job job = {.seed = set->seed,
                   .version = version,
                   .events = set->events,
                   .procs = set->procs,
                   .goroutines = set->goroutines,
                   .profile = set->profile,
                   .cover = set->cover};
    int status = output_open(&s->output, s->set->output, true);
    if (status != EXIT_SOUND)
        return status;
    gotrace_config config = {0};
    gotrace_error error = {0};
    gotrace_status written = set->defect
                                 ? write_defect(s, job, &config, &error)
                                 : gen_write(&job, write_buffered, &s->output.out, &config, &error);
    if (written < 0) {
        /* A failed write is reported when the output is closed. */
        if (!s->output.out.failed)
            diag_error("%s", error.message);
        return error.class_ == GOTRACE_CLASS_USAGE ? EXIT_USAGE : EXIT_SYSTEM;
    }
    return EXIT_SOUND;
}

static const gen_options defaults = {.events = 100000, .procs = 8, .goroutines = 200};

static const option_spec options[] = {
    {0, "seed", OPTION_NUMBER, "N", offsetof(gen_options, seed), NULL,
     "random seed; each gives another trace (0)"},
    {0, "go", OPTION_TEXT, "VERSION", offsetof(gen_options, go), version_number,
     "write the trace of that Go version (1.26)"},
    {0, "events", OPTION_NUMBER, "N", offsetof(gen_options, events), NULL,
     "number of events, at least (100000)"},
    {0, "procs", OPTION_NUMBER, "N", offsetof(gen_options, procs), NULL, "number of procs (8)"},
    {0, "goroutines", OPTION_NUMBER, "N", offsetof(gen_options, goroutines), NULL,
     "largest number of goroutines at a time (200)"},
    {0, "profile", OPTION_CHOICE, "NAME", offsetof(gen_options, profile), gen_profile_name,
     "what the simulated program does (mixed)"},
    {0, "cover", OPTION_FLAG, NULL, offsetof(gen_options, cover), NULL,
     "write each event of the version at least once"},
    {0, "defect", OPTION_CHOICE, "RULE", offsetof(gen_options, defect), gen_defect_name,
     "violate that rule of validate in one place"},
    {.name = NULL},
};

const verb verb_gen = {
    .name = "gen",
    .args = "",
    .summary = "generate a synthetic trace",
    .details = "The same options produce the same bytes on every machine.",
    .options = options,
    .defaults = &defaults,
    .options_size = sizeof(gen_options),
    .run = run_gen,
};
