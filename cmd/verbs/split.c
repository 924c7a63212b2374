/* split.c - split a trace into files in a folder. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/diag.h"
#include "cmd/folder.h"
#include "cmd/input.h"
#include "cmd/new_file.h"
#include "cmd/parts/parts.h"

typedef struct split_options {
    settings common;
    const char *by; /* NULL: not given */
    bool force;
} split_options;

typedef struct splitting {
    session *session;
    bool force;
    const char *folder;
    char name[256]; /* of the whole trace */
    int status;     /* EXIT_SOUND unless a part could not be opened */
    bool opened;
    uint64_t count;
} splitting;

/* The paths of this part and of the one before: messages about the previous output use its path. */
static char paths[2][PATH_MAX];

static out *next_part(void *ctx, const char *part)
{
    splitting *p = ctx;
    session *s = p->session;
    char *path = paths[p->count % 2];
    int length = snprintf(path, PATH_MAX, "%s/%s.%s.trace%s", p->folder, p->name, part,
                          packing_ending(s->output.packing));
    if (length < 0 || length >= PATH_MAX) {
        diag_error("the path of part %s is too long [system.write]", part);
        p->status = EXIT_SYSTEM;
    } else if (!folder_may_write(path, p->force)) {
        p->status = EXIT_USAGE;
    } else {
        p->status = p->opened ? output_next(&s->output, path) : output_open(&s->output, path, true);
    }
    p->opened = p->opened || p->status == EXIT_SOUND;
    p->count += p->status == EXIT_SOUND;
    return p->status == EXIT_SOUND ? &s->output.out : NULL;
}

static parts_by by_of(const char *name)
{
    size_t n = 0;
    while (strcmp(parts_by_name(n), name) != 0)
        n++;
    return (parts_by)n;
}

static int run_split(session *s)
{
    const split_options *set = (const split_options *)s->set;
    if (!set->by || !s->set->output) {
        diag_error(set->by ? "the output folder is missing: specify -o DIR"
                           : "the kind of parts is missing: specify --by proc, thread or "
                             "generation");
        return EXIT_USAGE;
    }
    if (!folder_is_valid(s->set->output))
        return EXIT_USAGE;
    input in;
    splitting p = {.session = s, .force = set->force, .folder = s->set->output};
    folder_stem(p.name, sizeof p.name, input_path(s));
    bool opened = input_open(&in, s, input_path(s));
    if (opened && !folder_make(p.folder)) {
        p.status = EXIT_SYSTEM;
    } else if (opened) {
        parts_split_job job = {.source = in.source,
                               .config = &in.config,
                               .by = by_of(set->by),
                               .next = next_part,
                               .ctx = &p};
        gotrace_error error = {.rule = GOTRACE_RULE_NONE};
        if (parts_split(&job, &error) < 0)
            findings_add(&in.found, &error);
    }
    bool verbose = in.found.verbose && p.opened;
    int status = input_close(&in);
    if (p.status != EXIT_SOUND)
        status = p.status;
    int written = output_close(&s->output, status == EXIT_SOUND || status == EXIT_DAMAGED);
    status = written == EXIT_SOUND ? status : written;
    bool kept = p.opened && status != EXIT_USAGE && status != EXIT_SYSTEM;
    new_file_folders_end(kept);
    if (verbose && kept)
        diag_note("%llu parts in '%s'", (unsigned long long)p.count, p.folder);
    return status;
}

static const option_spec options[] = {
    {0, "by", OPTION_CHOICE, "WHAT", offsetof(split_options, by), parts_by_name,
     "write one part for each"},
    {'o', "output", OPTION_TEXT, "DIR", offsetof(split_options, common.output), NULL,
     "write to the folder DIR, created if necessary"},
    {0, "force", OPTION_FLAG, NULL, offsetof(split_options, force), NULL, "replace existing parts"},
    {0, "zstd", OPTION_FLAG, NULL, offsetof(split_options, common.zstd), NULL,
     "compress the parts with zstd"},
    {0, "gzip", OPTION_FLAG, NULL, offsetof(split_options, common.gzip), NULL,
     "compress the parts with gzip"},
    {.name = NULL},
};

const verb verb_split = {
    .name = "split",
    .args = "[FILE]",
    .max_args = 1,
    .input = "FILE",
    .summary = "split a trace by proc, thread or generation",
    .details = "Each part is a trace with the strings and stacks that it refers to. 'gotrace\n"
               "merge' merges them again.",
    .options = options,
    .options_size = sizeof(split_options),
    .limited = true,
    .run = run_split,
};
