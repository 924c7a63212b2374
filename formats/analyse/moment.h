/*
 * moment.h - a moment, and what is searched for: the types of moments.h and search.h.
 */
#ifndef ANALYSE_MOMENT_H
#define ANALYSE_MOMENT_H

#include "formats/analyse/expression.h"
#include "formats/analyse/selection.h"
#include "formats/analyse/stacks.h"

typedef struct moment {
    uint8_t kind;       /* moment_kind */
    bool begun, ended;  /* in the trace: else it begins or ends with the trace */
    int64_t begin, end; /* equal for a log */
    uint64_t goroutine; /* 0: none */
    uint64_t cause;     /* of sched: the goroutine that made it runnable; 0: none */
    uint64_t id;        /* of a task */
    uint64_t value;     /* of a level: the highest one */
    size_t term;        /* of a level: the number of its term */
    uint32_t function;  /* a name: where the goroutine starts; 0: not known */
    uint32_t label;     /* a name: its own one; 0: none */
    uint32_t stack;
    uint32_t name;       /* reason, name or category; 0: none */
    uint32_t message_of; /* a name: the message, if it is not here: */
    const char *message; /* of a log; valid during the call */
    size_t message_size;
} moment;

typedef struct find_job {
    const expression *what;
    /* A moment was found, of which names has the names. False: no more are wanted. */
    bool (*found)(void *ctx, const stacks *names, const moment *m);
    void *ctx;
    /* Called at the end of the trace, for each name or reason of a moment of a kind of which the
     * expression has one; NULL: not. ctx is named_ctx. */
    void (*named)(void *ctx, const stacks *names, moment_kind kind, uint32_t name);
    void *named_ctx;
    bool stopped;     /* set: found wanted no more, and the trace was not read to its end */
    uint64_t longest; /* only so many of the longest, at the end of the trace; 0: all */
    bool by_duration; /* with longest: from the longest on, else in order */
    const select_range *range; /* only moments that have some time in it; NULL: all */
    size_t threads;
    bool in_order; /* the reader reports problems between the moments: events are read one by one */
    const _Atomic bool *stop; /* NULL, or set by another thread: reading ends, without a result */
    bool counts;              /* function, stack, reason and cause of what is found are not used */
    bool failed;              /* memory was refused */
    int error;                /* errno of the temporary file; 0: none */
    bool too_hard;  /* matching a text of the trace reached a limit; reading ended there */
    size_t hard_at; /* offset of that pattern in the expression */
    char text[64];  /* the beginning of that text */
} find_job;

/* How long it took; the largest number for times of damaged clocks that are further apart. */
static inline int64_t moment_duration(const moment *m)
{
    int64_t ns;
    return __builtin_sub_overflow(m->end, m->begin, &ns) ? INT64_MAX : ns;
}

/* The message of a log. */
static inline const char *moment_message(const stacks *names, const moment *m, size_t *size)
{
    *size = m->message_size;
    return m->message ? m->message : stacks_text(names, m->message_of, size);
}

#endif
