/* anonymize.c - replace the names in a trace by pseudonyms. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "cmd/anonymize/anonymize.h"
#include "cmd/diag.h"
#include "cmd/input.h"
#include "cmd/memory.h"

enum { LONGEST_KEY = 4096, RANDOM_KEY = 32 };

typedef struct anonymize_options {
    settings common; /* also_reads: the key; also_writes: the map */
    const char *keep;
    bool all, drop_logs;
} anonymize_options;

typedef struct key {
    size_t size;
    uint8_t bytes[LONGEST_KEY + 1];
} key;

/* Returns an exit status, after a diagnostic if it is not EXIT_SOUND. */
static int read_key(key *k, const char *path)
{
    FILE *file = fopen(path, "re");
    k->size = file ? fread(k->bytes, 1, sizeof k->bytes, file) : 0;
    bool failed = !file || ferror(file);
    if (failed)
        diag_error("%s: cannot read the key: %s [system.read]", path, strerror(errno));
    if (file)
        fclose(file);
    if (failed)
        return EXIT_SYSTEM;
    if (k->size == 0 || k->size > LONGEST_KEY) {
        diag_error("%s: a key has 1 to %d bytes, and this file has %s", path, LONGEST_KEY,
                   k->size ? "more" : "none");
        return EXIT_USAGE;
    }
    return EXIT_SOUND;
}

static int get_key(key *k, const char *path)
{
    if (path)
        return read_key(k, path);
    k->size = RANDOM_KEY;
    if (getrandom(k->bytes, k->size, 0) == (ssize_t)k->size)
        return EXIT_SOUND;
    diag_error("cannot make a random key: %s [system.read]", strerror(errno));
    return EXIT_SYSTEM;
}

static int get_pattern(pattern **keep, const char *text)
{
    char why[120];
    size_t column = 0;
    if (!text || (*keep = pattern_new(text, why, sizeof why, &column)))
        return EXIT_SOUND;
    if (!why[0]) {
        memory_report_refused();
        return EXIT_SYSTEM;
    }
    diag_error("--keep: column %zu of the regular expression: %s", column, why);
    return EXIT_USAGE;
}

static int open_map(const session *s, output *map, const char *path)
{
    if (output_is_taken(&s->output, path)) {
        diag_error("the trace and the map are the same file: use -o and --map with two names");
        return EXIT_USAGE;
    }
    return output_open(map, path, false);
}

/* The map appears after the trace, and neither if the map cannot be written. */
static int close_files(session *s, output *map, bool keep)
{
    keep = keep && (!map->file || out_flush(&map->out));
    int closed = output_close(&s->output, keep);
    int map_closed = output_close(map, keep && closed == EXIT_SOUND);
    return closed == EXIT_SOUND ? map_closed : closed;
}

static int write_files(session *s, names *n, input *in)
{
    const anonymize_options *set = (const anonymize_options *)s->set;
    const char *map_path = set->common.also_writes;
    output map = {.group = s->output.group + 1};
    anonymize_job job = {.source = in->source,
                         .version = gotrace_reader_summary(in->reader)->version,
                         .config = &in->config,
                         .names = n,
                         .drop_logs = set->drop_logs,
                         .to = &s->output.out};
    int status = output_open(&s->output, set->common.output, true);
    if (status == EXIT_SOUND && map_path) {
        status = open_map(s, &map, map_path);
        job.map = &map.out;
    }
    if (status != EXIT_SOUND)
        return status;
    gotrace_error error = {.rule = GOTRACE_RULE_NONE};
    if (anonymize_write(&job, &error) < 0) {
        findings_add(&in->found, &error);
        status = EXIT_SYSTEM;
    }
    if (n->too_hard)
        diag_warning(in->name, "a name was too hard to match with --keep, and was replaced");
    int closed = close_files(s, &map, status == EXIT_SOUND);
    return status == EXIT_SOUND ? closed : status;
}

static int run_anonymize(session *s)
{
    const anonymize_options *set = (const anonymize_options *)s->set;
    static names n;
    static key k;
    pattern *keep = NULL;
    int status = get_key(&k, set->common.also_reads);
    if (status == EXIT_SOUND)
        status = get_pattern(&keep, set->keep);
    if (status == EXIT_SOUND) {
        input in;
        names_init(&n, k.bytes, k.size);
        n.keep = keep;
        n.all = set->all;
        if (input_open_reader(&in, s, input_path(s)))
            status = write_files(s, &n, &in);
        int found = input_close(&in);
        status = status == EXIT_SOUND ? found : status;
    }
    pattern_free(keep);
    return status;
}

static const option_spec options[] = {
    {0, "key", OPTION_TEXT, "FILE", offsetof(anonymize_options, common.also_reads), NULL,
     "key of the pseudonyms (a new random one)"},
    {0, "keep", OPTION_WORD, "REGEX", offsetof(anonymize_options, keep), NULL,
     "keep names that match the regular expression"},
    {0, "all", OPTION_FLAG, NULL, offsetof(anonymize_options, all), NULL,
     "also replace names of Go and its standard library"},
    {0, "drop-logs", OPTION_FLAG, NULL, offsetof(anonymize_options, drop_logs), NULL,
     "remove the messages of logs"},
    {0, "map", OPTION_TEXT, "OUT", offsetof(anonymize_options, common.also_writes), NULL,
     "write the pseudonyms and their names to OUT as JSON"},
    {'o', "output", OPTION_TEXT, "OUT", offsetof(anonymize_options, common.output), NULL,
     "write the trace to OUT (standard output)"},
    {0, "zstd", OPTION_FLAG, NULL, offsetof(anonymize_options, common.zstd), NULL,
     "compress the trace with zstd"},
    {0, "gzip", OPTION_FLAG, NULL, offsetof(anonymize_options, common.gzip), NULL,
     "compress the trace with gzip"},
    {.name = NULL},
};

const verb verb_anonymize = {
    .name = "anonymize",
    .args = "[FILE]",
    .max_args = 1,
    .input = "FILE",
    .summary = "replace the names in a trace by pseudonyms",
    .details = "Functions, files, tasks, regions and logs get pseudonyms that depend on the name\n"
               "and on a key, and program counters change. Everything else stays as it is.",
    .options = options,
    .options_size = sizeof(anonymize_options),
    .limited = true,
    .run = run_anonymize,
};
