/*
 * gotrace_experimental.h - parts of libgotrace that are not stable: they may change or disappear in
 * any release. The SONAME does not change with them, so rebuild a program that uses them with each
 * release. The functions have the symbol version GOTRACE_EXPERIMENTAL.
 */
#ifndef GOTRACE_EXPERIMENTAL_H
#define GOTRACE_EXPERIMENTAL_H

#include "gotrace.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------------------
 * The semantics of events
 */

/* A change of state: gotrace_state before and after. to UNDETERMINED: no change. Fixed. */
typedef struct gotrace_change {
    uint8_t from, to;
} gotrace_change;

/* What an event needs its thread (v2) to have. */
enum {
    GOTRACE_NEEDS_THREAD = 1, /* to be known; each of the others implies it */
    GOTRACE_NEEDS_PROC = 2,
    GOTRACE_NEEDS_NO_PROC = 4,
    GOTRACE_NEEDS_GOROUTINE = 8,
    GOTRACE_NEEDS_NO_GOROUTINE = 16,
};

/* Whose event a v1 event is. */
enum {
    GOTRACE_CONTEXT_RUNNING = 0, /* of the goroutine that runs on its proc, if one does */
    GOTRACE_CONTEXT_SUBJECT,     /* of the goroutine that its first argument names */
    GOTRACE_CONTEXT_NONE,        /* of no goroutine */
};

/* The role of a v1 event in a futile wake-up: a goroutine was unblocked and ran, found nothing to
 * do and blocked again. */
enum {
    GOTRACE_FUTILE_NO = 0,
    GOTRACE_FUTILE_FIRST, /* one begins, of the goroutine in the first argument */
    GOTRACE_FUTILE_GOES_ON,
    GOTRACE_FUTILE_MARK, /* the wake-up was futile */
    GOTRACE_FUTILE_LAST, /* it ends */
};

/* What an event means, what it requires and what it changes: gotrace_event_spec.semantics. Sources:
 * v1 Go 1.21's internal/trace/parser.go and order.go, v2 Go 1.27's internal/trace/order.go. */
typedef struct gotrace_semantics {
    uint8_t kind;         /* gotrace_kind */
    uint8_t resource;     /* gotrace_resource: of a transition */
    uint8_t range;        /* gotrace_range: of a range's begin, end or activity */
    uint8_t metric;       /* gotrace_metric: of a metric */
    uint8_t needs;        /* v2: GOTRACE_NEEDS_* */
    uint8_t context;      /* v1: GOTRACE_CONTEXT_* */
    uint8_t full;         /* v1: a local form: code of the form with a sequence number; else 0 */
    gotrace_change self;  /* of the goroutine in whose context it happens */
    gotrace_change other; /* of the goroutine that its first argument names */
    gotrace_change proc;  /* of the proc that its first argument names, else of its own */
    bool numbered;        /* v2: has a sequence number, one more than that of its subject */
    bool after_steal;     /* v2: if its thread has a proc in a system call, that is taken before */
    bool status;          /* v2: reports a state that was reached earlier */
    bool initial;         /* v1: reports what was so when tracing started */
    bool forever;         /* v1: the goroutine cannot become runnable again */
    bool started;         /* v1: what was so when tracing started has been reported */
    uint8_t futile;       /* v1: GOTRACE_FUTILE_* */
    const char *text;     /* of a transition: its reason; or NULL */
} gotrace_semantics;

/* A row of GOTRACE_RANGE_ROWS. */
typedef struct gotrace_range_spec {
    const char *name, *go_name; /* for people; in Go's reader of v2 */
    gotrace_resource owner;     /* whose it is; NONE: the whole program's */
    gotrace_resource subject;   /* what the subject of its events is in v2 */
    gotrace_rule rules[2]; /* broken by an end while none is active, and by a begin while one is */
} gotrace_range_spec;

/* Never NULL: a range that is not in this header is named "unknown" and is the whole program's. */
GOTRACE_API const gotrace_range_spec *gotrace_range_spec_of(gotrace_range range);

/* ---------------------------------------------------------------------------------------------
 * Damage
 */

/* Find out, before an event is read, whether reading will lose records or tables, besides what
 * gotrace_reader_index (which is called first) reports, or whether times are altered so much that
 * events are far from their place: then *damage is the first such place, otherwise its rule is
 * GOTRACE_RULE_NONE. It is not reported before gotrace_reader_next reads it. After
 * gotrace_reader_check has returned GOTRACE_END, this takes time only if there is a sign of damage.
 * Returns GOTRACE_OK or GOTRACE_ERROR. */
GOTRACE_API gotrace_status gotrace_reader_find_damage(gotrace_reader *reader,
                                                      gotrace_error *damage);

/* ---------------------------------------------------------------------------------------------
 * The state that a writer tracks
 */

/* The state of a goroutine, a proc or a thread after the last event that was written. What events
 * took for granted counts too: a goroutine that was unblocked without being known was waiting
 * before.
 *
 * UNDETERMINED: the writer does not know it. NOT_EXIST: it has ended (v1 only; in v2, where an id
 * can be used again, a goroutine that ended is not known). Places that do not apply are set to
 * GOTRACE_NO_PROC, GOTRACE_NO_THREAD or goroutine 0; NULL: not wanted. Threads exist in v2 only. */
GOTRACE_API gotrace_state gotrace_writer_goroutine(const gotrace_writer *writer, uint64_t id,
                                                   int64_t *proc, int64_t *thread);
GOTRACE_API gotrace_state gotrace_writer_proc(const gotrace_writer *writer, int64_t id,
                                              int64_t *thread, uint64_t *goroutine);
/* Returns false if the thread is unknown. */
GOTRACE_API bool gotrace_writer_thread(const gotrace_writer *writer, int64_t id, int64_t *proc,
                                       uint64_t *goroutine);

#ifdef __cplusplus
}
#endif

#endif
