/* input.h - a trace to be read, and what was found wrong with it. */
#ifndef INPUT_H
#define INPUT_H

#include "cmd/verb.h"

/* What was found in one file, and how it is told. */
typedef struct findings {
    const char *file;
    const char *cut; /* the file whose compressed data is cut off or damaged */
    out *json;       /* problems go here as JSON Lines; NULL: to standard error */
    bool kept_only;  /* that goes to a file, which is not kept when the work fails */
    uint64_t limit;  /* at most so many of a severity are reported; 0: all */
    bool explain;    /* say for each rule, once, what it wants */
    bool verbose;
    uint64_t errors, warnings, notes; /* found, told or not */
    uint64_t by_class[8];             /* of the errors */
    bool explained[GOTRACE_RULE_COUNT];
    bool recovered;      /* the verdict is on what there was, not on what was made of it */
    gotrace_error last;  /* what was added last */
    gotrace_error fatal; /* the first that ended the reading, if rule is not NONE */
} findings;

/* Add a problem and tell of it; twice the same in a row counts once (a handle's last error may
 * have been reported as a problem already). */
void findings_add(findings *f, const gotrace_error *problem);

/* Say how many were not told. */
void findings_end(const findings *f);

/* The exit status that the findings ask for. */
int findings_status(const findings *f);

/* The verdict on the trace in a word or three. */
const char *findings_verdict(const findings *f);

typedef struct input {
    const char *name; /* for messages */
    findings found;
    gotrace_config config;
    gotrace_source *source;
    gotrace_reader *reader;
    double begun;            /* human_clock */
    bool loses;              /* a problem was met behind which something is lost */
    gotrace_source *damaged; /* what source was recovered from, or NULL */
    int recovered;           /* its file, if there is a damaged */
} input;

/* Open the file (NULL or "-": standard input). False after the reason was added to found; close
 * it all the same. */
bool input_open(input *in, session *s, const char *path);

/* Open the file as input_open does, and a reader on it. */
bool input_open_reader(input *in, session *s, const char *path);

/* The same, and where the trace is damaged so that a part of it could not be read, recover what
 * there is (recovery.h): the reader is on that then. With --no-recover it is on what stands before
 * the damage. */
bool input_open_trace(input *in, session *s, const char *path);

/* Close, and end the findings. Returns the exit status that they ask for. */
int input_close(input *in);

/* The file itself, whether or not it is what is read. */
static inline const gotrace_source *input_file(const input *in)
{
    return in->damaged ? in->damaged : in->source;
}

/* The one FILE of a verb that takes at most one, or NULL. */
const char *input_path(const session *s);

#endif
