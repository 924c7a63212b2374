/* input.h - open a trace, and collect the problems found in it. */
#ifndef INPUT_H
#define INPUT_H

#include "cmd/findings.h"
#include "cmd/verb.h"
#include "formats/common/gaps.h"

typedef struct input {
    const char *name; /* for messages */
    findings found;
    gotrace_config config;
    gotrace_source *source;
    gotrace_reader *reader;
    out *messages; /* diag_captured of the thread that opened it */
    double begun;  /* human_clock */
    bool loses;    /* there is a problem after which data is lost */
    /* While the problems of a reader are collected instead of added to found: recovery_check. */
    bool collects;
    gotrace_error *collected;
    size_t collected_count, collected_room;
    gotrace_source *damaged; /* the damaged source, if source was recovered from it, or NULL */
    uint64_t lost_bytes;     /* that the recovery could not read */
    int recovered;           /* file descriptor of the recovered trace, if damaged is set */
    ticks_gap *gaps;         /* when what is lost was recorded */
    size_t gap_count;
} input;

/* Open a file (NULL or "-": standard input). On failure the reason is added to found and false is
 * returned; call input_close in any case. */
bool input_open(input *in, session *s, const char *path);

/* Call input_open and open a reader on the file. */
bool input_open_reader(input *in, session *s, const char *path);

/* Add the problems that were collected to found, or (not add) forget them; collect no more. */
void input_end_collecting(input *in, bool add);

/* A second reader of the trace, which reports no problem again, or NULL after the error message. */
gotrace_reader *input_read_again(const input *in);

/* Close such a reader. If the system failed it, which the first reader does not report, that is
 * added to the findings, and false is returned. */
bool input_end_again(input *in, gotrace_reader *reader);

/* The configuration of passes that report neither problems nor progress. */
gotrace_config input_quiet(const input *in);

/* Close, and report the rest of the findings. Returns the exit status for them. */
int input_close(input *in);

/* The same in two steps: between them the trace can be read again. */
int input_report(input *in);
void input_free(input *in);

/* The original file, whether or not it was recovered. */
static inline const gotrace_source *input_file(const input *in)
{
    return in->damaged ? in->damaged : in->source;
}

/* The FILE of a verb that takes at most one, or NULL. */
const char *input_path(const session *s);

#endif
