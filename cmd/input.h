/* input.h - open a trace and collect the problems found in it. */
#ifndef INPUT_H
#define INPUT_H

#include "cmd/verb.h"

/* The problems of one file, and how to report them. */
typedef struct findings {
    const char *file;
    const char *cut; /* the file, if its compressed data is truncated or damaged */
    out *json;       /* destination of problems as JSON Lines; NULL: standard error */
    bool kept_only;  /* json is the output file, which is discarded if the work fails */
    uint64_t limit;  /* at most this many of each severity are reported; 0: all */
    bool explain;    /* print for each rule, once, what it requires */
    bool verbose;
    uint64_t errors, warnings, notes; /* found, reported or not */
    uint64_t by_class[8];             /* errors by class */
    bool explained[GOTRACE_RULE_LIMIT];
    bool recovered;      /* the trace was recovered; the verdict is on the damaged file */
    gotrace_error last;  /* the last problem */
    gotrace_error fatal; /* the first problem that ended reading, if rule is not NONE */
} findings;

/* Count and report a problem. If it is equal to the last one it is ignored: the last error of a
 * handle may have been reported as a problem already. */
void findings_add(findings *f, const gotrace_error *problem);

/* Report how many problems were not reported. */
void findings_end(const findings *f);

/* Returns the exit status for the findings. */
int findings_status(const findings *f);

/* Returns the verdict, one to three words. */
const char *findings_verdict(const findings *f);

typedef struct input {
    const char *name; /* for messages */
    findings found;
    gotrace_config config;
    gotrace_source *source;
    gotrace_reader *reader;
    out *messages;           /* diag_captured of the thread that opened it */
    double begun;            /* human_clock */
    bool loses;              /* there is a problem after which data is lost */
    gotrace_source *damaged; /* the damaged source, if source was recovered from it, or NULL */
    uint64_t lost_bytes;     /* that the recovery could not read */
    int recovered;           /* file descriptor of the recovered trace, if damaged is set */
} input;

/* Open a file (NULL or "-": standard input). On failure the reason is added to found and false is
 * returned; call input_close in any case. */
bool input_open(input *in, session *s, const char *path);

/* Call input_open and open a reader on the file. */
bool input_open_reader(input *in, session *s, const char *path);

/* Call input_open_reader. If a part of the trace cannot be read because of damage, recover it
 * (recovery.h); the reader then reads the recovered trace. With no_recover it reads the data before
 * the damage. */
bool input_open_trace(input *in, session *s, const char *path, bool no_recover);

/* A second reader of the trace, which reports no problem again, or NULL after the error message. */
gotrace_reader *input_read_again(const input *in);

/* The configuration of passes that report neither problems nor progress. */
gotrace_config input_quiet(const input *in);

/* The row of --no-recover, a bool in the struct of options of a verb that opens traces so. */
/* clang-format off */
#define NO_RECOVER_OPTION(options, member)                                                         \
    {0, "no-recover", OPTION_FLAG, NULL, offsetof(options, member), NULL,                          \
     "read only the data before damage"}
/* clang-format on */

/* Close, and report the rest of the findings. Returns the exit status for them. */
int input_close(input *in);

/* The original file, whether or not it was recovered. */
static inline const gotrace_source *input_file(const input *in)
{
    return in->damaged ? in->damaged : in->source;
}

/* The FILE of a verb that takes at most one, or NULL. */
const char *input_path(const session *s);

#endif
