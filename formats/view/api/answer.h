/*
 * answer.h - what the questions of the API have in common.
 *
 * A question is a function that reads its arguments, looks at the index between view_lock and
 * view_unlock, and writes JSON, or bytes of its own. Ids of goroutines, tasks and so on are JSON
 * strings, because they have 64 bits; times are numbers of ns.
 */
#ifndef VIEW_ANSWER_H
#define VIEW_ANSWER_H

#include <pthread.h>

#include "formats/view/api/arguments.h"
#include "formats/view/stretches.h"

enum {
    ANSWER_MOST = 16 * 1024 * 1024, /* bytes of an answer */
    NAME_SHOWN = 1000,              /* bytes of a name; more are cut */
    FRAMES_SHOWN = 500,             /* of a stack */
    PROBLEMS_SHOWN = 100,
};

typedef struct view_jobs view_jobs; /* of jobs.h */

struct view_api {
    view *index;             /* NULL: it is of several traces */
    char *file;              /* the same */
    view_api *const *traces; /* of that; NULL: of one */
    size_t count;
    bool compared;
    pthread_mutex_t lock; /* of what follows */
    const char *version;  /* NULL: not known yet */
    bool has_clock;
    int64_t clock; /* ns since 1970 at time 0 */
    double read;   /* 0 to 1 */
    char *problems[PROBLEMS_SHOWN];
    uint64_t problem_count; /* also of those that are not kept */
    const time_gap *gaps;
    size_t gap_count;
    bool ended;
    char *failure; /* NULL: none */
    const diagnosis *diagnosis;
    const stacks *diagnosis_names;
    const char *diagnosis_failure; /* NULL: none */
    view_write_diff *write_diff;   /* NULL: not known yet */
    const void *diff;
    view_jobs *jobs; /* NULL: the trace cannot be read again yet; see view_api_set_jobs */
    gotrace_source *source;
    gotrace_config config;
    size_t threads;
};

/* The bytes of an answer. */
typedef struct reply_bytes {
    view_bytes bytes;
    bool too_many;
} reply_bytes;

/* Adds bytes to such ones, ctx. False: they are too many, or memory was refused. */
bool reply_keep(void *ctx, const void *bytes, size_t size);

#define ANSWER_TOO_LARGE "the answer is larger than 16 MiB: ask for less, or for larger pixels"

typedef struct answer {
    view_api *api;
    arguments arguments;
    out *out;
    unsigned status;    /* of HTTP */
    const char *reason; /* why it is not 200, a constant; NULL: what is wrong with an argument */
    bool failed;        /* memory was refused, or the temporary file cannot be read */
} answer;

/* Each answers one question. */
typedef void answer_question(answer *q);
answer_question answer_trace, answer_tracks, answer_window, answer_names, answer_stack,
    answer_interval, answer_path, answer_findings, answer_traces, answer_diff, answer_search,
    answer_stat, answer_flame;

/* Ends the reading of arguments. False: one is wrong, and the question is answered. */
bool answer_can(answer *q);

/* There is no such thing. reason: a constant. */
void answer_not_found(answer *q, const char *reason);

/* Reads the arguments from, until and pixel. The window is what it is in w if they are missing; a
 * pixel is then one of `pixels` parts of it. It is an error if it is one of more than `most`.
 * Returns what answer_can does. */
bool answer_read_window(answer *q, view_window *w, unsigned pixels, unsigned most);

/* Whether the names have that number, or that stack. */
static inline bool names_have(const stacks *names, uint64_t name)
{
    return name <= names->name_count;
}

static inline bool names_have_stack(const stacks *names, uint64_t stack)
{
    return stack <= names->stack_count;
}

/* The bytes of a name that are shown: whole characters. */
size_t name_shown(const char *text, size_t size);

/* Write JSON: a text, or null; a name; the frames of a stack, an array; an id; the name of a track.
 */
void put_text(out *o, const char *text);
void put_name(out *o, const stacks *names, uint32_t name);
void put_frames(out *o, const stacks *names, uint32_t stack);
void put_id(out *o, uint64_t id);
/* ,"label":"..." if the goroutine has one. */
void put_label(out *o, const view *v, uint64_t id);
void put_track_name(out *o, const stacks *names, const view_track *t);

/* The name of a track in names; 0: it has none there. */
uint32_t track_name(const stacks *names, const view_track *t);

#endif
