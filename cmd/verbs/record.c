/* record.c - record a program's threads as goroutines. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "cmd/diag.h"
#include "cmd/record/record.h"
#include "cmd/verb.h"
#include "cmd/versions.h"

typedef struct record_options {
    settings common;
    const char *go; /* NULL: the newest version */
    bool stacks, no_stacks, follow_forks, separate, pid_suffix;
    int64_t duration; /* ns; 0: until the program ends */
    int64_t flight;   /* ns; 0: the whole trace is written */
    int64_t sample;   /* samples a second; 0: none */
    uint64_t pid;     /* of a process that runs already; 0: a program is started */
} record_options;

/* What is recorded. */
typedef struct recording {
    processes processes;
    program program;
    char *path; /* of the trace */
} recording;

static uint64_t end_time(const record_options *set)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    const uint64_t now = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
    return set->duration ? now + (uint64_t)set->duration : UINT64_MAX;
}

/* The program's process exists, and waits, or it runs already. */
static int record_program(session *s, recording *r)
{
    const record_options *set = (const record_options *)s->set;
    int status = output_open(&s->output, r->path, true);
    if (status == EXIT_SOUND)
        status = processes_add_program(&r->processes, r->program.pid, r->path, &s->output);
    if (status != EXIT_SOUND) {
        program_cancel(&r->program);
        return status;
    }
    if (set->flight)
        signals_keep_snapshot();
    status = set->pid ? attach_begin(&r->program, r->processes.shared, r->processes.fd)
                      : program_start(&r->program);
    if (status != EXIT_SOUND)
        return status;
    return processes_follow(&r->processes, &r->program, end_time(set));
}

/* PROGRAM.trace, to be freed. */
static char *default_output(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *name = NULL;
    return asprintf(&name, "%s.trace", slash ? slash + 1 : path) < 0 ? NULL : name;
}

/* The path with the number of the process, to be freed. */
static char *with_pid(const char *path, pid_t pid)
{
    char *name = NULL;
    return asprintf(&name, "%s.%d", path, (int)pid) < 0 ? NULL : name;
}

enum { MOST_SAMPLES = 10000 }; /* a second of processor time */

static int check_options(const session *s, int *version)
{
    const record_options *set = (const record_options *)s->set;
    if (s->file_count == 0 && !set->pid) {
        diag_error("the program is missing: gotrace record [OPTION ...] -- PROGRAM [ARG ...]");
        return EXIT_USAGE;
    }
    if (set->pid && s->file_count > 0) {
        diag_error("--pid and a program exclude each other");
        return EXIT_USAGE;
    }
    if (set->pid && set->follow_forks) {
        diag_error("--pid and --follow-forks exclude each other: children of a process that runs "
                   "already are not recorded");
        return EXIT_USAGE;
    }
    if (set->pid > INT32_MAX) {
        diag_error("--pid: %llu is no process id", (unsigned long long)set->pid);
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
    if (set->separate && !set->follow_forks) {
        diag_error("--separate: add --follow-forks, or there are no child processes to record");
        return EXIT_USAGE;
    }
    if (set->sample > MOST_SAMPLES) {
        diag_error("--sample: at most %d a second", MOST_SAMPLES);
        return EXIT_USAGE;
    }
    if (set->sample && *version < GOTRACE_FIRST_V2) {
        diag_error("--sample: only traces of 1.22 and later can have samples of this recorder");
        return EXIT_USAGE;
    }
    return EXIT_SOUND;
}

enum { SCRIPT_LINE = 256 }; /* bytes of the first line that are read. Source: binfmts.h */

/* Whether the file is a script: reads the path of its interpreter. Source: Linux,
 * fs/binfmt_script.c. */
static bool has_interpreter(const char *path, char interpreter[SCRIPT_LINE])
{
    char line[SCRIPT_LINE];
    FILE *file = fopen(path, "re");
    bool script = file && fgets(line, sizeof line, file) && strncmp(line, "#!", 2) == 0;
    if (file)
        fclose(file);
    if (!script)
        return false;
    const char *name = line + 2 + strspn(line + 2, " \t");
    snprintf(interpreter, SCRIPT_LINE, "%.*s", (int)strcspn(name, " \t\n"), name);
    return true;
}

/* Whether the trace would replace the program, or the interpreter of a script. */
static bool is_program(const recording *r)
{
    enum { MOST_SCRIPTS = 6 }; /* a script may be the interpreter of another one */
    struct stat trace, file;
    char path[SCRIPT_LINE];
    const char *name = r->program.path;
    if (stat(r->path, &trace) != 0)
        return false;
    for (int i = 0; i < MOST_SCRIPTS && stat(name, &file) == 0; i++) {
        if (trace.st_dev == file.st_dev && trace.st_ino == file.st_ino)
            return true;
        if (!S_ISREG(file.st_mode) || !has_interpreter(name, path))
            return false;
        name = path;
    }
    return false;
}

/* Prepares a recording to that path. */
static int prepare(session *s, recording *r, const char *base)
{
    const record_options *set = (const record_options *)s->set;
    processes *p = &r->processes;
    p->stacks = !set->no_stacks;
    p->separate = set->separate;
    p->flight_ns = (uint64_t)set->flight;
    p->sample_ns = set->sample ? (uint32_t)(1000000000 / set->sample) : 0;
    p->attaches = set->pid;
    p->path = base;
    /* The ending of a path with a number does not say it. */
    p->packing = s->output.packing ? s->output.packing : packing_of_path(base, NULL);
    s->output.packing = p->packing;
    if (!processes_open(p, set->follow_forks) ||
        (!set->pid && !program_prepare(&r->program, p->shared, p->fd)))
        return EXIT_SYSTEM;
    r->path = set->pid_suffix ? with_pid(base, r->program.pid) : strdup(base);
    if (r->path && !is_program(r))
        return EXIT_SOUND;
    program_cancel(&r->program);
    if (r->path) {
        diag_error("-o %s: this is the program, which the trace would replace; name another file",
                   r->path);
        return EXIT_USAGE;
    }
    diag_error("out of memory [system.memory]");
    return EXIT_SYSTEM;
}

static int run_record(session *s)
{
    recording r = {.processes = {.fd = -1}};
    int status = check_options(s, &r.processes.version);
    if (status != EXIT_SOUND)
        return status;
    const pid_t pid = (pid_t)((const record_options *)s->set)->pid;
    status = pid ? attach_find(&r.program, pid) : program_find(&r.program, s->files);
    if (status != EXIT_SOUND) {
        program_free(&r.program);
        return status;
    }
    char *name = s->set->output ? strdup(s->set->output) : default_output(r.program.path);
    status = name ? prepare(s, &r, name) : EXIT_SYSTEM;
    if (status == EXIT_SOUND)
        status = record_program(s, &r);
    processes_close(&r.processes);
    /* The program may go on after the trace, which is written now. */
    const int written = output_close(&s->output, status == EXIT_SOUND);
    status = status == EXIT_SOUND ? written : status;
    if (r.program.pid && !pid)
        program_wait(&r.program);
    if (status == EXIT_SOUND && !pid)
        s->program_status = program_exit_status(&r.program);
    program_free(&r.program);
    free(r.path);
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
    {0, "duration", OPTION_SECONDS, "SECONDS", offsetof(record_options, duration), NULL,
     "write the trace after that time; the program goes on"},
    {0, "pid", OPTION_COUNT, "PID", offsetof(record_options, pid), NULL,
     "record a process that runs already, until a signal"},
    {0, "flight", OPTION_SECONDS, "SECONDS", offsetof(record_options, flight), NULL,
     "write only the last seconds, also at SIGUSR2"},
    {0, "sample", OPTION_NUMBER, "HZ", offsetof(record_options, sample), NULL,
     "CPU samples for each second of processor time"},
    {0, "follow-forks", OPTION_FLAG, NULL, offsetof(record_options, follow_forks), NULL,
     "record child processes too"},
    {0, "separate", OPTION_FLAG, NULL, offsetof(record_options, separate), NULL,
     "with --follow-forks: each child to OUT.PROGRAM.PID"},
    {0, "pid-suffix", OPTION_FLAG, NULL, offsetof(record_options, pid_suffix), NULL,
     "write the program's own trace to OUT.PID"},
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
               "status is that of the program. With --pid there is no PROGRAM: the library is\n"
               "loaded into a process, which goes on when recording ends, and the status is 0.",
    .options = options,
    .options_size = sizeof(record_options),
    .run = run_record,
};
