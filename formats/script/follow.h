/*
 * follow.h - what a script by meaning has said so far, for its error messages: what each
 * goroutine did last and at which line, where goroutines run, and what is in doubt because of an
 * earlier error.
 */
#ifndef SCRIPT_FOLLOW_H
#define SCRIPT_FOLLOW_H

#include "formats/common/idmap.h"
#include "formats/script/script.h"

enum { SCRIPT_ENDED = 1024 };

typedef struct script_follow {
    idmap goroutines;                  /* what each did last; ended ones too, see ended */
    idmap running;                     /* by proc (v1) or thread (v2): the goroutine there */
    idmap doubts;                      /* ids that an event with an error mentions */
    uint64_t ended[SCRIPT_ENDED];      /* the last goroutines that ended, a ring */
    uint64_t ended_count, latest_line; /* of the latest event */
    bool all_in_doubt;
    char start[40]; /* of the event at hand: the function that a new goroutine starts with */
} script_follow;

void script_follow_init(script_follow *f);
void script_follow_free(script_follow *f);

/* Keep the function's name for script_follow_event; NULL: the event has none. */
void script_follow_start(script_follow *f, const gotrace_frame *frame);

/* The event was written. False when memory is refused. */
bool script_follow_event(script_job *job, script_follow *f, const gotrace_event_data *h,
                         uint64_t line);

/* Add to a message, after each goroutine that it mentions, what that one did last. */
void script_follow_explain(const script_job *job, const script_follow *f, gotrace_error *error);

/* What an id in doubt is of. */
typedef enum script_doubt {
    DOUBT_PROC,
    DOUBT_THREAD,
    DOUBT_GOROUTINE,
    DOUBT_TASK,
} script_doubt;

/* An event with an error mentions the id: what is refused because of it is not reported. */
void script_doubt_id(script_follow *f, script_doubt kind, uint64_t id);

/* All that an event mentions is in doubt: it is left out (whole), or it was refused. */
void script_doubt_event(const script_job *job, script_follow *f, const gotrace_event_data *h,
                        bool whole);

/* Whether something that an event mentions is in doubt. */
bool script_in_doubt(const script_job *job, const script_follow *f, const gotrace_event_data *h);

#endif
