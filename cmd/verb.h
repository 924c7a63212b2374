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

#include "cmd/exit_status.h"
#include "cmd/output.h"

enum { USUAL_MAX_ERRORS = 20 }; /* reported per file */

/* The values of an OPTION_LIST, in order. */
enum { TEXT_LIST_MOST = 32 };

typedef struct text_list {
    const char *items[TEXT_LIST_MOST];
    size_t count;
} text_list;

/* The values of the common and the limit options. Every verb has a struct of its own options that
 * begins with these. */
typedef struct settings {
    bool help, quiet, verbose, zstd, gzip, sandbox;
    const char *output;                   /* -o; NULL: standard output */
    const char *also_reads, *also_writes; /* other files that options name; NULL: none */
    text_list also_reads_all;             /* the same, of an option that may be given again */
    gotrace_limits limits;
    uint64_t max_output;
    uint64_t threads; /* 0: the number of processors allowed */
} settings;

typedef enum option_type {
    OPTION_FLAG,    /* bool */
    OPTION_NUMBER,  /* uint64_t */
    OPTION_COUNT,   /* the same, not 0 */
    OPTION_SIZE,    /* the same in bytes; K, M and G are 1024, 1024^2 and 1024^3 */
    OPTION_TIME,    /* int64_t in ns, not 0: "100us" */
    OPTION_SECONDS, /* the same; a number without a unit is one of seconds: "0.5" */
    OPTION_TEXT,    /* const char * */
    OPTION_CHOICE,  /* const char *, one of the row's choices */
    OPTION_WORD,    /* const char *; completion offers no files */
    OPTION_LIST,    /* text_list: it may be given several times */
    OPTION_TARGET,  /* const char *, a format; the time that --to took before --until is an error */
} option_type;

/* An option, as data. */
typedef struct option_spec {
    char letter;      /* short form, or 0 */
    const char *name; /* long form, without dashes; NULL ends a table */
    option_type type;
    const char *value;               /* name of its value, "N"; NULL for a flag */
    size_t field;                    /* offset in the verb's struct of options, or in settings */
    const char *(*choice)(size_t n); /* of a choice: returns the n-th, NULL past the last */
    const char *summary;
} option_spec;

/* One run of the program. */
typedef struct session {
    const struct verb *verb;
    settings *set;            /* the start of the verb's struct of options */
    const char *const *files; /* arguments that are not options, NULL at the end */
    size_t file_count;
    size_t first_count;  /* of a verb with two lists: the files before "--"; SIZE_MAX: there is none
                          */
    bool explain;        /* report what each violated rule requires */
    uint64_t max_errors; /* at most this many problems of each severity are reported; 0: all */
    output output;       /* opened by the verb, closed and checked by main */
    out *report;         /* destination of problems with --json, NULL until the verb opens it:
                            standard error */
    int program_status;  /* exit status of a program that was run, if all else is sound */
} session;

typedef struct verb {
    const char *name;
    const char *args; /* arguments after the options, as in the synopsis: "[FILE ...]" */
    size_t max_args;
    size_t words;      /* the first arguments are words, such as an expression, and not files */
    bool two_lists;    /* the first "--" is between two lists of files, and options may follow it */
    const char *input; /* the argument that is read, standard input without it; NULL: none */
    const char *summary;        /* an imperative phrase */
    const char *details;        /* sentences, in lines of at most 78 columns; NULL: none */
    const option_spec *options; /* own options; common_options are accepted too */
    const void *defaults;       /* its struct of options; NULL: all zero */
    size_t options_size;        /* of that struct */
    bool limited;               /* it reads a trace or a script: limit_options are accepted too */
    unsigned serving;       /* threads for clients that connect to it; it enters the sandbox when it
                               listens; 0: it does not serve */
    int (*run)(session *s); /* returns an exit status */
} verb;

extern const verb verb_validate, verb_info, verb_diagnose, verb_diff, verb_stat, verb_why,
    verb_find, verb_print, verb_convert, verb_dump, verb_synth, verb_split, verb_merge, verb_repair,
    verb_cut, verb_reduce, verb_anonymize, verb_gen, verb_mutate, verb_record, verb_version,
    verb_help, verb_view;

extern const verb *const verbs[]; /* NULL at the end */
const verb *verb_by_name(const char *name);

/* The options of every verb. */
extern const option_spec common_options[];

#endif
