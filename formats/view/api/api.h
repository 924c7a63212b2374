/*
 * api.h - the questions that a page asks of an index (view.h), and the answers.
 *
 * A question is a name with arguments, an answer a few kilobytes of JSON or, of windows, of compact
 * binary data: gotrace-view(1) documents both. There is no HTTP here: cmd/view/server.h passes
 * questions on.
 *
 * Threads: all functions may be called by any thread at the same time, while the index is built.
 */
#ifndef VIEW_API_H
#define VIEW_API_H

#include "formats/common/gaps.h"
#include "formats/common/out.h"
#include "formats/diagnose/diagnosis.h"
#include "formats/view/view.h"

/* The first part of the paths of all questions; another version of the interface has another one.
 */
#define VIEW_API_PATH "/api/1/"

typedef struct view_api view_api;

/* The index is borrowed; file is the name of the trace, which may have any bytes, and is copied.
 * Returns NULL if memory is refused. */
view_api *view_api_new(view *index, const char *file);
void view_api_free(view_api *a);

/* The interface of several traces that are shown together, with questions of its own. compared: the
 * first one is from before a change, the second one from after it. The traces are borrowed. */
view_api *view_api_new_of(view_api *const *traces, size_t count, bool compared);

/* The version of the trace, "1.26", a constant. */
void view_api_set_version(view_api *a, const char *version);

/* The time of the wall clock at time 0 of the trace, in ns since 1970. */
void view_api_set_clock(view_api *a, int64_t ns);

/* The gaps of a damaged trace, as gaps_find returns them. Borrowed until view_api_free. */
void view_api_set_gaps(view_api *a, const time_gap *gaps, size_t count);

/* How much of the trace was read, as a gotrace_progress_fn gets it. */
void view_api_set_read(view_api *a, uint64_t done, uint64_t total);

/* Adds a problem of the trace in the words of `validate`, without the name of the file. */
void view_api_add_problem(view_api *a, const char *message);

/* Nothing more will be read. failure: why the index is not complete, or NULL. */
void view_api_end(view_api *a, const char *failure);

/* The diagnosis, once the trace was read. Both are borrowed until view_api_free. */
void view_api_set_diagnosis(view_api *a, const diagnosis *d, const stacks *names);

/* There will be none. why: a constant. */
void view_api_fail_diagnosis(view_api *a, const char *why);

/* What writes the differences of the traces, as JSON Lines, in any thread, at any time until
 * view_api_free. False: memory is refused. */
typedef bool view_write_diff(const void *ctx, out *o);
void view_api_set_diff(view_api *a, view_write_diff *write, const void *ctx);

/* An argument of a question: "from=12" of the query of a URL, decoded. value: NULL without a '='.
 */
typedef struct view_argument {
    const char *name, *value;
} view_argument;

enum { VIEW_ARGUMENTS_MOST = 16 };

typedef struct view_reply {
    unsigned status;  /* of HTTP: 200, or 400 or 404, and then bytes have the reason in JSON */
    const char *type; /* of the content: "application/json" */
    char *bytes;      /* to be freed */
    size_t size;
} view_reply;

/* Answers the question of that name ("window"). Returns false if memory is refused or the temporary
 * file cannot be read; the reply is then empty. */
bool view_api_answer(view_api *a, const char *question, const view_argument *arguments,
                     size_t count, view_reply *reply);

#endif
