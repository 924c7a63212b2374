/*
 * meaning.h - scripts by meaning: interface between the encodings and the library's writer. head.c
 * handles the header, meaning.c events.
 */
#ifndef SCRIPT_MEANING_H
#define SCRIPT_MEANING_H

#include "formats/script/follow.h"

/* A value in a script: its characters, and whether they were quoted. A quoted value is at the end
 * of the record's data. */
typedef struct script_token {
    const char *bytes;
    size_t size;
    bool quoted;
} script_token;

/* Bytes of the record's data. */
typedef struct script_span {
    size_t at, size;
} script_span;

/* Common values by name: the context of an event, and the values of a Sync. */
enum {
    SCRIPT_ON_P,
    SCRIPT_ON_M,
    SCRIPT_ON_G,
    SCRIPT_T,
    SCRIPT_TICKS,
    SCRIPT_CLOCK_T,
    SCRIPT_CLOCK_TICKS,
    SCRIPT_MONOTONIC,
    SCRIPT_WALL_SECONDS,
    SCRIPT_WALL_NANOSECONDS,
    SCRIPT_COMMON /* number of common values */
};

struct script_meaning {
    size_t capacity; /* size of this allocation, in bytes */

    /* The header. */
    bool has_level;
    const char *other; /* a member that only scripts by meaning have, or NULL */
    gotrace_writer_options options;
    uint64_t start;  /* ticks at time 0 */
    uint64_t procs;  /* initial GOMAXPROCS, or 0 */
    bool has_clocks; /* the clocks at time 0 are given */

    gotrace_writer *writer; /* NULL before the first event */
    size_t raw_dropped;     /* bytes dropped so far of the raw encoder's header */
    uint64_t now;           /* ticks of the current event */
    idmap threads;          /* v2: proc to the thread that had it last */
    script_follow follow;
    uint64_t latest, time_shift; /* ticks: of the last event; shift after a decrease */

    /* The current event. Its strings and frames are in the record's data. */
    bool open, raw_record, unknown; /* unknown: no event has this name */
    uint64_t line;
    const gotrace_event_spec *spec;                 /* NULL: Sync */
    const gotrace_arg_spec *args[GOTRACE_MAX_ARGS]; /* passed to the writer */
    size_t arg_count;
    const gotrace_arg_spec *stack; /* the argument for the event's own stack, or NULL */
    unsigned seen, common_seen;    /* bit sets of the values present */
    uint64_t values[GOTRACE_MAX_ARGS];
    script_span strings[GOTRACE_MAX_ARGS];
    uint64_t common[SCRIPT_COMMON]; /* times are in ticks */
    bool has_data;
    script_span data;
    script_span
        *texts[2]; /* frames of the event's stack, and of the stack where a goroutine starts */
    size_t text_counts[2], text_capacities[2];
    gotrace_frame *frames;
    size_t frame_capacity;
};

/* A value of the header, before the version is known. */
gotrace_status script_head_value(script_job *job, uint64_t line, const char *name, size_t size,
                                 script_token value);
/* The member with the events, after the version is known: "events" or "records". */
gotrace_status script_head_list(script_job *job, uint64_t line, bool is_events);
/* Fails because the version is missing in JSON or CBOR. */
gotrace_status script_fail_head(script_job *job, uint64_t line);
/* Sets the version, after the last value of the header. Creates the encoder of a raw script. */
gotrace_status script_version(script_job *job, uint64_t line, const char *number, size_t size);

/* Whether the current item is an event by meaning, not a raw record. */
static inline bool script_is_event(const script_job *job)
{
    return job->by_meaning && !job->meaning->raw_record;
}

/* An event: begin with its name, then values in any order, then end. */
gotrace_status script_event_begin(script_job *job, uint64_t line, const char *name, size_t size);
gotrace_status script_event_value(script_job *job, uint64_t line, const char *name, size_t size,
                                  script_token value);
gotrace_status script_event_end(script_job *job);

/* Drops the rest of the event after an error. */
void script_event_skip(script_job *job);

/* Call for an array with that name. An error unless the name is that of a stack; its frames follow
 * as values with the same name. */
gotrace_status script_event_frames(script_job *job, uint64_t line, const char *name, size_t size);

/* Begins a raw record among the events; it continues as in a raw script. */
gotrace_status script_event_raw(script_job *job, uint64_t line);

/* A signed number, and a time in ticks. */
gotrace_status script_signed(script_job *job, uint64_t line, const char *name, script_token value,
                             uint64_t *number);
gotrace_status script_when(script_job *job, uint64_t line, const char *name, script_token value,
                           uint64_t *ticks);

gotrace_status script_meaning_finish(script_job *job);
void script_meaning_free(script_job *job);

#endif
