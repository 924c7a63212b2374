/*
 * follow.h - the state after the events of a script by meaning so far, for error messages: the last
 * event of each goroutine and its line, where goroutines run, and which ids are doubtful because of
 * an earlier error.
 */
#ifndef SCRIPT_FOLLOW_H
#define SCRIPT_FOLLOW_H

#include "formats/common/idmap.h"
#include "formats/script/script.h"

enum { SCRIPT_ENDED = 1024 };

typedef struct script_follow {
    idmap goroutines;                  /* last event of each; includes the goroutines in ended */
    idmap running;                     /* goroutine by proc (v1) or thread (v2) */
    idmap doubts;                      /* ids mentioned by an event with an error */
    uint64_t ended[SCRIPT_ENDED];      /* ring of the last goroutines that ended */
    uint64_t ended_count, latest_line; /* their number; line of the latest event */
    bool all_in_doubt;
    char start[40]; /* start function of the goroutine created by the current event */
} script_follow;

void script_follow_init(script_follow *f);
void script_follow_free(script_follow *f);

/* Sets the name of the start function for script_follow_event; NULL: none. */
void script_follow_start(script_follow *f, const gotrace_frame *frame);

/* Updates the state after an event was written. False if memory is refused. */
bool script_follow_event(script_job *job, script_follow *f, const gotrace_event_data *h,
                         uint64_t line);

/* Adds to a message, after each goroutine number, the last event of that goroutine. */
void script_follow_explain(const script_job *job, const script_follow *f, gotrace_error *error);

/* Kind of a doubtful id. */
typedef enum script_doubt {
    DOUBT_PROC,
    DOUBT_THREAD,
    DOUBT_GOROUTINE,
    DOUBT_TASK,
} script_doubt;

/* Marks an id as doubtful: refusals that concern it are not reported. */
void script_doubt_id(script_follow *f, script_doubt kind, uint64_t id);

/* Marks all ids of an event as doubtful, because it is omitted (whole) or was refused. */
void script_doubt_event(const script_job *job, script_follow *f, const gotrace_event_data *h,
                        bool whole);

/* Whether the event mentions a doubtful id. */
bool script_in_doubt(const script_job *job, const script_follow *f, const gotrace_event_data *h);

#endif
