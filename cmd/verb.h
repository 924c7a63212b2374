/*
 * verb.h - what a verb of the program is: one constant row that tells all about itself.
 *
 * Dispatch, --help, completion and the test that compares man pages with --help read these rows,
 * so that nothing about a verb stands anywhere else. To add a verb, write cmd/verbs/NAME.c with its
 * row, declare it below and list it in verbs.c.
 */
#ifndef VERB_H
#define VERB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmd/output.h"

/* Exit statuses, the same for every verb. */
enum {
    EXIT_SOUND = 0,   /* done, and the trace is sound */
    EXIT_DAMAGED = 1, /* the trace is damaged or invalid; what could be done was done */
    EXIT_USAGE = 2,   /* the command line or the script is wrong */
    EXIT_SYSTEM = 3,  /* a file could not be read or written, or memory ran out */
};

/* What the options of a command line say. */
typedef struct settings {
    bool help, quiet, verbose, json, zstd, gzip, no_system, thread_runs, strict, force;
    uint64_t max_errors;
    uint64_t frequency;           /* --frequency; 0: not told */
    const char *output;           /* -o; NULL: standard output */
    const char *format;           /* --format; NULL: the verb's first */
    const char *level;            /* --level; NULL: the first */
    const char *to;               /* --to NAME */
    const char *until;            /* --to TIME */
    const char *from;             /* --from */
    const char *only;             /* --only */
    const char *by;               /* --by; NULL: the first */
    const char *go;               /* --go, of merge and gen; NULL: not told */
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
    OPTION_SIZE,   /* the same, of bytes: K, M and G are 1024, 1024^2 and 1024^3 of them */
    OPTION_TEXT,   /* const char * */
    OPTION_CHOICE, /* const char *, one of the row's choices */
    OPTION_TIME,   /* const char *, not a file's name */
    OPTION_TARGET, /* of --to: a name or, if it starts with a digit, a time */
} option_type;

/* An option, as data. */
typedef struct option_spec {
    char letter;      /* short form, or 0 */
    const char *name; /* long form, without dashes; NULL ends a table */
    option_type type;
    const char *value;               /* what its value is called, "N"; NULL for a flag */
    size_t field;                    /* offset in settings */
    const char *(*choice)(size_t n); /* of a choice: the n-th, NULL past the last */
    const char *summary;
} option_spec;

/* One run of the program. */
typedef struct session {
    const struct verb *verb;
    settings set;
    const char *const *files; /* what stands on the command line beside options, NULL at the end */
    size_t file_count;
    bool explain;  /* tell with each problem what its rule wants */
    output output; /* opened by the verb, closed and checked by main */
    out *report;   /* where --json puts problems, once the verb opened it; NULL: standard error */
} session;

typedef struct verb {
    const char *name;
    const char *args; /* beside options, as in the synopsis: "[FILE ...]" */
    size_t max_args;
    const char *input;          /* which of them is read, standard input without it; NULL: none */
    const char *summary;        /* a phrase */
    const char *details;        /* sentences, in lines of at most 78 columns; NULL for none */
    const option_spec *options; /* its own; common_options are understood too */
    bool limited;               /* it reads a trace or a script: limit_options are understood too */
    int (*run)(session *s);     /* returns an exit status */
} verb;

extern const verb verb_validate, verb_info, verb_print, verb_convert, verb_dump, verb_synth,
    verb_split, verb_merge, verb_repair, verb_gen, verb_mutate, verb_version, verb_help;

extern const verb *const verbs[]; /* NULL at the end */
const verb *verb_by_name(const char *name);

/* The options that every verb has. */
extern const option_spec common_options[];

#endif
