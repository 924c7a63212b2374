/* verb_convert.c - a trace as something else: another tool's format, or an event script. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "diag.h"
#include "options.h"
#include "records.h"

/* Everything that --to takes: formats first, then scripts. */
static const char *target_name(size_t n)
{
    size_t count = 0;
    while (formats[count])
        count++;
    return n < count ? formats[n]->name : script_name(n - count);
}

static const script_format *script_by_path(const char *path)
{
    size_t size = strlen(path);
    if (size > 4 && strcasecmp(path + size - 4, ".zst") == 0)
        size -= 4;
    for (size_t i = 0; script_formats[i]; i++)
        for (const char *const *e = script_formats[i]->extensions; e && *e; e++)
            if (size > strlen(*e) && strncasecmp(path + size - strlen(*e), *e, strlen(*e)) == 0)
                return script_formats[i];
    return NULL;
}

/* Find what to convert to among formats, else among scripts; false after a diagnostic. */
static bool choose(const session *s, const format **target, const script_format **script)
{
    const char *to = s->set.to, *path = s->set.output;
    char known[256];
    options_join(known, sizeof known, target_name);
    *target = to ? format_by_name(to) : path ? format_by_path(path) : NULL;
    *script = *target ? NULL : to ? script_by_name(to) : path ? script_by_path(path) : NULL;
    if (*target || *script)
        return true;
    if (to && strncmp(to, "go1.", 4) == 0) {
        diag_error("--to %s: writing another version of the trace is not available; --to takes: %s",
                   to, known);
    } else if (to) {
        options_unknown("to", to, target_name);
    } else if (path) {
        diag_error("'%s' does not tell by its ending what to convert to; --to takes: %s", path,
                   known);
    } else {
        diag_error("what to convert to is missing: give --to (%s) or -o OUT", known);
    }
    return false;
}

static const char *const views[] = {"proc", "goroutine", "thread", NULL};

static const char *view_name(size_t n)
{
    return views[n];
}

/* The view that --by names; the first without it. */
static view_by view_of(const session *s)
{
    view_by by = BY_PROC;
    while (s->set.by && strcmp(views[by], s->set.by) != 0)
        by++;
    return by;
}

/* The size that --split names; 0 if it is none. */
static uint64_t part_size(const char *text)
{
    static const char units[] = "KMG";
    enum { LEAST = 64 * 1024 };
    char *end;
    errno = 0;
    unsigned long long size = strtoull(text, &end, 10);
    const char *unit = *end ? strchr(units, *end & ~0x20) : NULL;
    unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    bool whole = text[0] >= '0' && text[0] <= '9' && errno == 0 && end[unit ? 1 : 0] == '\0';
    return whole && size <= UINT64_MAX >> shift && size << shift >= LEAST ? size << shift : 0;
}

/* Whether the options suit what is converted to; false after a diagnostic. */
static bool suits(const session *s, const format *target)
{
    if (s->set.by && !(target && target->views)) {
        diag_error("--by is for --to chrome");
        return false;
    }
    if (!s->set.split)
        return true;
    if (!(target && target->views)) {
        diag_error("--split is for --to chrome");
        return false;
    }
    if (!s->set.output || strcmp(s->set.output, "-") == 0) {
        diag_error("--split needs -o OUT, after which the parts are named");
        return false;
    }
    if (part_size(s->set.split) == 0) {
        diag_error(
            "--split takes a size, 64K or more (K, M and G are 1024, 1024^2 and 1024^3 bytes), "
            "not '%s'",
            s->set.split);
        return false;
    }
    return true;
}

/* The parts that a timeline is split into. */
typedef struct parts {
    session *session;
    uint64_t count;
    char *path; /* of the last one */
    bool failed;
} parts;

/* The next one's name: its number stands before the ending. */
static bool name_part(parts *p)
{
    const char *path = p->session->set.output, *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t size = strlen(name);
    if (size > 4 && strcasecmp(name + size - 4, ".zst") == 0)
        size -= 4;
    size_t stem = size;
    while (stem > 0 && name[stem - 1] != '.')
        stem--;
    stem = stem > 1 ? stem - 1 : size;
    free(p->path);
    if (asprintf(&p->path, "%.*s-%llu%s", (int)(name - path + (ptrdiff_t)stem), path,
                 (unsigned long long)++p->count, name + stem) < 0)
        p->path = NULL;
    return p->path != NULL;
}

static bool next_part(void *ctx)
{
    parts *p = ctx;
    p->failed = !name_part(p) ||
                output_next(&p->session->output, p->path, p->session->set.zstd) != EXIT_SOUND;
    return !p->failed;
}

static int convert(session *s, const format *target)
{
    parts p = {.session = s};
    if (s->set.split && !name_part(&p)) {
        diag_error("out of memory [system.memory]");
        return EXIT_SYSTEM;
    }
    int status = output_open(&s->output, s->set.split ? p.path : s->set.output, s->set.zstd,
                             target->binary);
    if (status != EXIT_SOUND) {
        free(p.path);
        return status;
    }
    input in;
    if (input_open_reader(&in, s, input_path(s))) {
        const char *slash = strrchr(in.name, '/');
        convert_job job = {.reader = in.reader,
                           .out = &s->output.out,
                           .name = slash ? slash + 1 : in.name,
                           .by = view_of(s),
                           .part_size = s->set.split ? part_size(s->set.split) : 0,
                           .next_part = next_part,
                           .ctx = &p};
        if (target->run(&job) == GOTRACE_ERROR)
            findings_add(&in.found, gotrace_reader_error(in.reader));
    }
    status = input_close(&in);
    /* Without a next part to write to, what there is so far is not kept. */
    if (p.failed)
        status = EXIT_SYSTEM;
    free(p.path);
    return status;
}

static int run(session *s)
{
    const format *target;
    const script_format *script;
    if (!choose(s, &target, &script) || !suits(s, target))
        return EXIT_USAGE;
    return target ? convert(s, target) : records_dump(s, script);
}

static const option_spec options[] = {
    {0, "to", OPTION_TEXT, "NAME", offsetof(settings, to), target_name,
     "what to convert to; without it, by OUT's ending"},
    {0, "by", OPTION_CHOICE, "VIEW", offsetof(settings, by), view_name,
     "chrome: a row a proc, goroutine or thread (proc)"},
    {0, "split", OPTION_TEXT, "SIZE", offsetof(settings, split), NULL,
     "chrome: parts of that size (100M): OUT-1.json, ..."},
    {.name = NULL},
};

const verb verb_convert = {
    .name = "convert",
    .args = "[FILE]",
    .max_args = 1,
    .input = "FILE",
    .summary = "convert a trace to what other programs read",
    .details =
        "perfetto and chrome are timelines: open them at https://ui.perfetto.dev. The others\n"
        "are event scripts, as dump writes them.",
    .options = options,
    .run = run,
};
