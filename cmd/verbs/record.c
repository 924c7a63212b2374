/* record.c - record a program's threads as goroutines. */
#include <linux/futex.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cmd/diag.h"
#include "cmd/record/record.h"
#include "cmd/verb.h"
#include "cmd/versions.h"

typedef struct record_options {
    settings common;
    const char *go; /* NULL: the newest version */
    bool stacks, no_stacks;
    uint64_t duration; /* seconds; 0: until the program ends */
    uint64_t flight;   /* seconds; 0: the whole trace is written */
} record_options;

enum {
    PERIOD_NS = 10000000, /* records are taken at least so often */
    AHEAD_NS = 5000000,   /* and replayed so much later, see replay.c */
    SECOND_NS = 1000000000,
};

/* What is recorded. */
typedef struct recording {
    source source;
    program program;
    replay *replay;
    uint64_t end; /* when recording ends */
    const char *output;
    unsigned snapshots; /* number of */
} recording;

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * SECOND_NS + (uint64_t)t.tv_nsec;
}

/* Waits until a ring is half full, the program ends, or some milliseconds. */
static void wait_for_records(ring *shared)
{
    const struct timespec period = {.tv_nsec = PERIOD_NS};
    syscall(SYS_futex, &shared->pulse, FUTEX_WAIT, shared->pulse, &period, NULL, 0);
}

static void take_records(void *ctx)
{
    source_take(&((recording *)ctx)->source);
}

static bool write_snapshot(void *file, const void *bytes, size_t size)
{
    return fwrite(bytes, 1, size, file) == size;
}

/* Writes what is kept to OUT.1, OUT.2, ...; each appears when it is complete. */
static void take_snapshot(recording *r)
{
    char *path = NULL, *part = NULL;
    bool good = asprintf(&path, "%s.%u", r->output, ++r->snapshots) > 0 &&
                asprintf(&part, "%s.part", path) > 0;
    FILE *file = good ? fopen(part, "we") : NULL;
    good = file && replay_snapshot(r->replay, write_snapshot, file);
    if (file && fclose(file) != 0)
        good = false;
    if (!good || rename(part, path) < 0) {
        diag_error("%s: cannot write a snapshot: %s [system.write]", path ? path : r->output,
                   strerror(errno));
        if (part)
            unlink(part);
    }
    free(path);
    free(part);
}

static void follow(recording *r)
{
    ring *shared = r->source.shared;
    while (!program_ended(&r->program) && !shared->closed && now() < r->end) {
        wait_for_records(shared);
        uint64_t safe = source_take(&r->source);
        if (safe > AHEAD_NS)
            replay_until(r->replay, safe - AHEAD_NS);
        if (program_wants_snapshot())
            take_snapshot(r);
    }
    shared->closed = 1;
    source_take(&r->source);
    replay_until(r->replay, UINT64_MAX);
}

static void note_losses(const recording *r)
{
    const ring *shared = r->source.shared;
    if (shared->images == 0)
        diag_warning(r->output,
                     "the program did not load libgotrace-preload.so: nothing was recorded");
    if (shared->lost > 0)
        diag_warning(r->output, "%u threads were not recorded: at most %d can be at a time",
                     (unsigned)shared->lost, RING_SLOTS);
}

static int record_program(session *s, recording *r, int version)
{
    const record_options *set = (const record_options *)s->set;
    if (!source_open(&r->source, !set->no_stacks)) {
        diag_error("cannot create shared memory: %s [system.memory]", strerror(errno));
        return EXIT_SYSTEM;
    }
    r->source.names.pause = take_records;
    r->source.names.pause_ctx = r;
    if (!(r->replay = replay_new(&r->source, version, set->flight * SECOND_NS, &s->output.out)))
        return EXIT_SYSTEM;
    int status = EXIT_SYSTEM;
    if (set->flight)
        program_keep_snapshot_signal();
    if (program_start(&r->program, r->source.shared, r->source.fd)) {
        r->end = set->duration ? now() + set->duration * SECOND_NS : UINT64_MAX;
        follow(r);
        status = EXIT_SOUND;
    }
    int ended = replay_end(r->replay);
    if (status == EXIT_SOUND)
        note_losses(r);
    return ended == EXIT_SOUND ? status : ended;
}

/* PROGRAM.trace, to be freed. */
static char *default_output(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *name = NULL;
    return asprintf(&name, "%s.trace", slash ? slash + 1 : path) < 0 ? NULL : name;
}

static int check_options(const session *s, int *version)
{
    const record_options *set = (const record_options *)s->set;
    if (s->file_count == 0) {
        diag_error("the program is missing: gotrace record [OPTION ...] -- PROGRAM [ARG ...]");
        return EXIT_USAGE;
    }
    if (set->stacks && set->no_stacks) {
        diag_error("--stacks and --no-stacks exclude each other");
        return EXIT_USAGE;
    }
    if (s->set->output && strcmp(s->set->output, "-") == 0) {
        diag_error("-o -: standard output is the program's; name a file");
        return EXIT_USAGE;
    }
    size_t count;
    const int *versions = gotrace_versions(&count);
    *version = set->go ? version_of_release(set->go) : versions[count - 1];
    if (*version == 0) {
        version_unknown("go", set->go, "", version_number);
        return EXIT_USAGE;
    }
    if (set->flight && *version < GOTRACE_FIRST_V2) {
        diag_error("--flight: only traces of 1.22 and later can be cut");
        return EXIT_USAGE;
    }
    return EXIT_SOUND;
}

static int run_record(session *s)
{
    recording r = {.source = {.fd = -1}};
    int version, status = check_options(s, &version);
    if (status != EXIT_SOUND)
        return status;
    if (!program_find(&r.program, s->files)) {
        program_free(&r.program);
        return EXIT_SYSTEM;
    }
    char *name = s->set->output ? NULL : default_output(r.program.path);
    r.output = name ? name : s->set->output;
    status = output_open(&s->output, r.output, true);
    if (status == EXIT_SOUND)
        status = record_program(s, &r, version);
    source_close(&r.source);
    /* The trace is complete now, but the program may go on. */
    if (r.program.pid)
        program_wait(&r.program);
    if (status == EXIT_SOUND)
        s->program_status = program_exit_status(&r.program);
    program_free(&r.program);
    free(name);
    return status;
}

static const option_spec options[] = {
    {0, "go", OPTION_TEXT, "1.N", offsetof(record_options, go), version_number,
     "version of the trace; default: the newest"},
    {0, "stacks", OPTION_FLAG, NULL, offsetof(record_options, stacks), NULL,
     "record the callers of these functions (default)"},
    {0, "no-stacks", OPTION_FLAG, NULL, offsetof(record_options, no_stacks), NULL,
     "record only which functions wait"},
    {0, "duration", OPTION_COUNT, "SECONDS", offsetof(record_options, duration), NULL,
     "end the trace after that time; the program goes on"},
    {0, "flight", OPTION_COUNT, "SECONDS", offsetof(record_options, flight), NULL,
     "write only the last seconds, also at SIGUSR2"},
    {.name = NULL},
};

const verb verb_record = {
    .name = "record",
    .args = "-- PROGRAM [ARG ...]",
    .max_args = SIZE_MAX,
    .input = NULL,
    .summary = "run a program, and record its threads as goroutines",
    .details = "The program is not changed, but must be linked dynamically. The trace is\n"
               "written to PROGRAM.trace in the current folder if -o is not given. The exit\n"
               "status is that of the program.",
    .options = options,
    .options_size = sizeof(record_options),
    .run = run_record,
};
