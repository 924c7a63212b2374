/* mutate.c - write variants of traces, each with a JSON file that describes the changes. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/diag.h"
#include "cmd/folder.h"
#include "cmd/gen/defect.h"
#include "cmd/input.h"
#include "cmd/mutate/mutate.h"
#include "cmd/new_file.h"
#include "cmd/gen/job.h"

typedef struct mutate_options {
    settings common;
    uint64_t seed, count;
    const char *broken; /* a rule; NULL: not given */
    bool keep_valid, raw, force;
} mutate_options;

typedef struct mutating {
    session *session;
    const mutate_options *set;
    const char *folder;
    packing packing;  /* of the traces */
    const char *name; /* of the current trace */
    char stem[256];
    mutate_job job;
} mutating;

/* Load the whole trace; NULL after adding the error to the findings. */
static uint8_t *load(input *in, size_t *size)
{
    uint64_t all = gotrace_source_size(in->source), limit = parts_limit(&in->config);
    gotrace_error error = {.rule = GOTRACE_RULE_NONE};
    uint8_t *bytes = all <= limit ? malloc((size_t)all + 1) : NULL;
    *size = 0;
    if (!bytes) {
        fill_error(&error, all <= limit ? GOTRACE_RULE_SYSTEM_MEMORY : GOTRACE_RULE_SYSTEM_LIMIT,
                   GOTRACE_NO_OFFSET, "the trace of %llu bytes does not fit into memory",
                   (unsigned long long)all);
    } else if (gotrace_source_read(in->source, 0, bytes, (size_t)all, size, &error) < 0) {
        free(bytes);
        bytes = NULL;
    }
    if (!bytes)
        findings_add(&in->found, &error);
    return bytes;
}

/* The part of a variant's name between stem and seed. */
static const char *kind_of(const mutating *p)
{
    return p->job.mode == MUTATE_BREAK ? mutate_verdict(&p->job) : mutate_mode_name(p->job.mode);
}

/* Opens the trace (found is NULL) or its description. */
static int open_file(const mutating *p, const char *path, const verdict *found)
{
    session *s = p->session;
    if (!folder_may_write(path, p->set->force))
        return EXIT_USAGE;
    s->output.packing = found ? PACKING_NONE : p->packing;
    return found ? output_next(&s->output, path) : output_open(&s->output, path, true);
}

static void write_description(const mutating *p, const mutate_variant *v, const verdict *found)
{
    char trace[PATH_MAX];
    snprintf(trace, sizeof trace, "%s.%s.%llu.trace%s", p->stem, kind_of(p),
             (unsigned long long)p->job.seed, packing_ending(p->packing));
    mutate_describe(&p->session->output.out, p->name, trace, &p->job, v, found);
}

/* Both files appear, or none. */
static int write_variant(const mutating *p, const mutate_variant *v, const verdict *found)
{
    output *o = &p->session->output;
    char paths[2][PATH_MAX];
    int status = EXIT_SOUND;
    for (unsigned i = 0; i < 2 && status == EXIT_SOUND; i++) {
        int length = snprintf(paths[i], sizeof paths[i], "%s/%s.%s.%llu.%s%s", p->folder, p->stem,
                              kind_of(p), (unsigned long long)p->job.seed, i ? "json" : "trace",
                              i ? "" : packing_ending(p->packing));
        if (length < 0 || length >= PATH_MAX) {
            diag_error("the path of a variant is too long [system.write]");
            status = EXIT_SYSTEM;
        } else {
            status = open_file(p, paths[i], i ? found : NULL);
        }
        if (status == EXIT_SOUND && i == 0)
            out_bytes(&o->out, v->bytes, v->size);
        else if (status == EXIT_SOUND)
            write_description(p, v, found);
    }
    int closed = output_close(o, status == EXIT_SOUND);
    return closed > status ? closed : status;
}

static int mutate_one(mutating *p, mutate *m, const gotrace_config *config, findings *problems)
{
    mutate_variant variant;
    gotrace_error error = {.rule = GOTRACE_RULE_NONE};
    verdict found;
    gotrace_status status = mutate_make(m, &p->job, &variant, &error);
    if (status == GOTRACE_OK && !verdict_of(variant.bytes, variant.size, config, &found, &error))
        status = GOTRACE_ERROR;
    if (status == GOTRACE_OK)
        return write_variant(p, &variant, &found);
    if (status == GOTRACE_END) { /* nothing to change */
        diag_error("%s: %s [%s]", p->name, error.message, gotrace_rule_describe(error.rule)->id);
        return EXIT_DAMAGED;
    }
    findings_add(problems, &error);
    return EXIT_SYSTEM;
}

static int mutate_file(mutating *p, const char *path)
{
    input in;
    size_t size = 0;
    int status = EXIT_SOUND;
    uint8_t *bytes = NULL;
    mutate *m = NULL;
    folder_stem(p->stem, sizeof p->stem, path);
    if (input_open(&in, p->session, path))
        bytes = load(&in, &size);
    p->name = in.name;
    gotrace_config config = {.limits = in.config.limits, .spool_dir = in.config.spool_dir};
    gotrace_error error = {.rule = GOTRACE_RULE_NONE};
    if (bytes && mutate_new(bytes, size, &config, &m, &error) < 0)
        findings_add(&in.found, &error);
    for (uint64_t i = 0; m && i < p->set->count && status == EXIT_SOUND; i++) {
        p->job.seed = p->set->seed + i;
        status = mutate_one(p, m, &config, &in.found);
    }
    mutate_free(m);
    free(bytes);
    int found = input_close(&in);
    return found > status ? found : status;
}

static int run_mutate(session *s)
{
    const mutate_options *set = (const mutate_options *)s->set;
    mutating p = {.session = s,
                  .set = set,
                  .folder = s->set->output ? s->set->output : ".",
                  .packing = s->output.packing};
    if (set->keep_valid + set->raw + (set->broken != NULL) > 1) {
        diag_error("--keep-valid, --break and --raw exclude each other");
        return EXIT_USAGE;
    }
    if (!folder_is_valid(p.folder))
        return EXIT_USAGE;
    if (set->broken) {
        p.job.mode = MUTATE_BREAK;
        while (strcmp(gotrace_rule_describe(p.job.rule)->id, set->broken) != 0)
            p.job.rule++;
    } else {
        p.job.mode = set->raw ? MUTATE_RAW : set->keep_valid ? MUTATE_KEEP : MUTATE_ANY;
    }
    if (!folder_make(p.folder))
        return EXIT_SYSTEM;
    int status = EXIT_SOUND;
    for (size_t i = 0; i < (s->file_count ? s->file_count : 1); i++) {
        int one = mutate_file(&p, s->file_count ? s->files[i] : NULL);
        status = one > status ? one : status;
        if (one >= EXIT_USAGE)
            break;
    }
    new_file_folders_end(status == EXIT_SOUND);
    return status;
}

static const mutate_options defaults = {.count = 1};

static const option_spec options[] = {
    {0, "seed", OPTION_NUMBER, "N", offsetof(mutate_options, seed), NULL,
     "number of the first variant (0)"},
    {'n', "count", OPTION_NUMBER, "COUNT", offsetof(mutate_options, count), NULL,
     "number of variants per trace (1)"},
    {0, "keep-valid", OPTION_FLAG, NULL, offsetof(mutate_options, keep_valid), NULL,
     "make only changes that keep a sound trace sound"},
    {0, "break", OPTION_CHOICE, "RULE", offsetof(mutate_options, broken), gen_defect_name,
     "violate that rule of validate, and no other"},
    {0, "raw", OPTION_FLAG, NULL, offsetof(mutate_options, raw), NULL,
     "damage bytes at random positions"},
    {'o', "output", OPTION_TEXT, "DIR", offsetof(mutate_options, common.output), NULL,
     "write to the folder DIR, created if necessary (.)"},
    {0, "force", OPTION_FLAG, NULL, offsetof(mutate_options, force), NULL,
     "replace existing files"},
    {0, "zstd", OPTION_FLAG, NULL, offsetof(mutate_options, common.zstd), NULL,
     "compress the traces with zstd"},
    {0, "gzip", OPTION_FLAG, NULL, offsetof(mutate_options, common.gzip), NULL,
     "compress the traces with gzip"},
    {.name = NULL},
};

const verb verb_mutate = {
    .name = "mutate",
    .args = "[FILE ...]",
    .max_args = SIZE_MAX,
    .input = "FILE",
    .summary = "write variants of traces, to test trace parsers",
    .details = "A variant is a trace and a JSON file with the changes and the expected verdict.\n"
               "Without --keep-valid, --break or --raw, records, batches and tables are changed\n"
               "at random.",
    .options = options,
    .defaults = &defaults,
    .options_size = sizeof(mutate_options),
    .limited = true,
    .run = run_mutate,
};
