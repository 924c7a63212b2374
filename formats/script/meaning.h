/*
 * meaning.h - scripts by meaning: what their dresses and the library's writer have between
 * them. head.c has the header, meaning.c an event.
 */
#ifndef SCRIPT_MEANING_H
#define SCRIPT_MEANING_H

#include "formats/script/follow.h"

/* A value as a script has it: characters, which were in quotes or not. Where they were, they are
 * the last of the record's data. */
typedef struct script_token {
    const char *bytes;
    size_t size;
    bool quoted;
} script_token;

/* Bytes of the record's data. */
typedef struct script_span {
    size_t at, size;
} script_span;

/* Where an event happens, or what a Sync says, by name. */
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
    SCRIPT_COMMON /* so many there are */
};

struct script_meaning {
    size_t capacity; /* of this, in bytes */

    /* The header. */
    bool is_given, is_raw; /* the level was given as raw */
    const char *other;     /* a member that only a script by meaning has, or NULL */
    gotrace_writer_options options;
    uint64_t start;  /* ticks at time 0 */
    uint64_t procs;  /* GOMAXPROCS at the beginning, or 0 */
    bool has_clocks; /* those of time 0 */

    gotrace_writer *writer; /* NULL until the first event */
    size_t raw_dropped;     /* bytes of the raw encoder's header, which the writer has written */
    uint64_t now;           /* ticks of the event */
    idmap threads;          /* v2: of a proc, the thread that had it last */
    script_follow follow;
    uint64_t latest, late; /* ticks: of the event before; added since a time ran back */

    /* The event being put together; its strings and frames lie in the record's data. */
    bool open, raw_record, unknown; /* unknown: no event has its name */
    uint64_t line;
    const gotrace_event_spec *spec;                 /* NULL: Sync */
    const gotrace_arg_spec *args[GOTRACE_MAX_ARGS]; /* passed to the writer */
    size_t arg_count;
    const gotrace_arg_spec *stack; /* the argument for where it happened, or NULL */
    unsigned seen, common_seen;    /* a bit for each */
    uint64_t values[GOTRACE_MAX_ARGS];
    script_span strings[GOTRACE_MAX_ARGS];
    uint64_t common[SCRIPT_COMMON]; /* times are in ticks */
    bool has_data;
    script_span data;
    script_span *texts[2]; /* frames: of where it happened, of where a goroutine starts */
    size_t text_counts[2], text_capacities[2];
    gotrace_frame *frames;
    size_t frame_capacity;
};

/* The header: its values, one after another, before the version is known. */
gotrace_status script_head_value(script_job *job, uint64_t line, const char *name, size_t size,
                                 script_token value);
/* The member with the events, once the version is known: "events", or else "records". */
gotrace_status script_head_list(script_job *job, uint64_t line, bool is_events);
/* Fail because JSON or CBOR lacks the version. */
gotrace_status script_fail_head(script_job *job, uint64_t line);
/* The header is complete. */
gotrace_status script_head_end(script_job *job, uint64_t line);

/* Whether the header said so. */
static inline bool script_is_meaning(const script_job *job)
{
    return job->meaning && !job->meaning->is_raw;
}

/* Whether what is put together is an event by meaning, not a raw record. */
static inline bool script_is_event(const script_job *job)
{
    return script_is_meaning(job) && !job->meaning->raw_record;
}

/* An event: its name, then what it says in any order, then its end. */
gotrace_status script_event_begin(script_job *job, uint64_t line, const char *name, size_t size);
gotrace_status script_event_value(script_job *job, uint64_t line, const char *name, size_t size,
                                  script_token value);
gotrace_status script_event_end(script_job *job);

/* After an error no more of the event is read. */
void script_event_skip(script_job *job);

/* An array follows under that name: refused, unless the event has a stack there, whose frames are
 * to be told as values of that name. */
gotrace_status script_event_frames(script_job *job, uint64_t line, const char *name, size_t size);

/* A record among the events: it is put together as in a raw script. */
gotrace_status script_event_raw(script_job *job, uint64_t line);

/* A number with a sign, and a time in ticks. */
gotrace_status script_signed(script_job *job, uint64_t line, const char *name, script_token value,
                             uint64_t *number);
gotrace_status script_when(script_job *job, uint64_t line, const char *name, script_token value,
                           uint64_t *ticks);

gotrace_status script_meaning_finish(script_job *job);
void script_meaning_free(script_job *job);

#endif
