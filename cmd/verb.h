/*
 * verb.h - a verb of the program, described by one constant row.
 *
 * Dispatch, --help, completion and the test that compares manual pages with --help read these rows;
 * a verb is described nowhere else. To add a verb, write cmd/verbs/NAME.c with its row, declare it
 * below and list it in verbs.c.
 */
#ifndef VERB_H
#define VERB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmd/output.h"

/* Exit statuses, the same for every verb. */
enum {
    EXIT_SOUND = 0,   /* success, and the trace is sound */
    EXIT_DAMAGED = 1, /* the trace is damaged or invalid; what could be done was done */
    EXIT_USAGE = 2,   /* the command line or the script is wrong */
    EXIT_SYSTEM = 3,  /* a file could not be read or written, or memory ran out */
};

/* The values of the options on the command line. */
typedef struct settings {
    bool help, quiet, verbose, json, zstd, gzip, no_system, thread_runs, strict, force;
    uint64_t max_errors;
    uint64_t frequency;           /* --frequency; 0: not given */
    const char *output;           /* -o; NULL: standard output */
    const char *format;           /* --format; NULL: the first of the verb's */
    const char *level;            /* --level; NULL: the first */
    const char *to;               /* --to */
    const char *until;            /* --until */
    const char *from;             /* --from */
    const char *only;             /* --only */
    const char *by;               /* --by; NULL: the first */
    const char *go;               /* --go of merge and gen; NULL: not given */
    const char *split;            /* --split; NULL: one file */
    const char *completion;       /* --completion */
    const char *profile, *defect; /* of gen */
    const char *broken;           /* --break */
    uint64_t count;               /* of mutate */
    uint64_t seed, events, procs, goroutines;
    bool cover;
    gotrace_limits limits;
    uint64_t max_output;
    bool sandbox;
    bool no_recover;
    bool all;             /* of repair */
    bool keep_valid, raw; /* of mutate */
} settings;

typedef enum option_type {
    OPTION_FLAG,   /* bool */
    OPTION_NUMBER, /* uint64_t */
    OPTION_COUNT,  /* the same, not 0 */
    OPTION_SIZE,   /* the same in bytes; K, M and G are 1024, 1024^2 and 1024^3 */
    OPTION_TEXT,   /* const char * */
    OPTION_CHOICE, /* const char *, one of the row's choices */
    OPTION_TIME,   /* const char *; completion offers no files */
    OPTION_TARGET, /* const char *, a format; the time that --to took before --until is an error */
} option_type;

/* An option, as data. */
typedef struct option_spec {
    char letter;      /* short form, or 0 */
    const char *name; /* long form, without dashes; NULL ends a table */
    option_type type;
    const char *value;               /* name of its value, "N"; NULL for a flag */
    size_t field;                    /* offset in settings */
    const char *(*choice)(size_t n); /* of a choice: returns the n-th, NULL past the last */
    const char *summary;
} option_spec;

/* One run of the program. */
typedef struct session {
    const struct verb *verb;
    settings set;
    const char *const *files; /* arguments that are not options, NULL at the end */
    size_t file_count;
    bool explain;  /* report what each violated rule requires */
    output output; /* opened by the verb, closed and checked by main */
    out *report;   /* destination of problems with --json, NULL until the verb opens it: standard
                      error */
} session;

typedef struct verb {
    const char *name;
    const char *args; /* arguments after the options, as in the synopsis: "[FILE ...]" */
    size_t max_args;
    const char *input;   /* the argument that is read, standard input without it; NULL: none */
    const char *summary; /* an imperative phrase */
    const char *details; /* sentences, in lines of at most 78 columns; NULL: none */
    const option_spec *options; /* own options; common_options are accepted too */
    bool limited;               /* it reads a trace or a script: limit_options are accepted too */
    int (*run)(session *s);     /* returns an exit status */
} verb;

extern const verb verb_validate, verb_info, verb_print, verb_convert, verb_dump, verb_synth,
    verb_split, verb_merge, verb_repair, verb_gen, verb_mutate, verb_version, verb_help;

extern const verb *const verbs[]; /* NULL at the end */
const verb *verb_by_name(const char *name);

/* The options of every verb. */
extern const option_spec common_options[];

#endif
