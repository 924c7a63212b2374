/* moment_states.c - follows those moments that are states of goroutines. */
#include "formats/analyse/moments_run.h"

#include <string.h>

#include "gotrace_experimental.h"

/* ---- goroutines -------------------------------------------------------------------------------
 */

/* Whether the goroutine's function does not change any more. */
static inline bool is_named(const find_run *r, const find_goroutine *own)
{
    return own->g.named || r->no_functions;
}

/* How much of what decides on the goroutine's moments is known. */
static inline uint8_t foreseeable(const find_run *r, const find_goroutine *own)
{
    return is_named(r, own)      ? FORESEEN_FINALLY
           : r->states.beginning ? FORESEEN_BY_ID
                                 : FORESEEN_SO_FAR;
}

/* The verdicts on the moments of a goroutine, by kind. */
typedef struct verdicts {
    uint8_t of[MOMENT_STATE_COUNT];
} verdicts;

static verdicts determine(find_run *r, const find_goroutine *own, unsigned known)
{
    verdicts v;
    for (size_t i = 0; i < MOMENT_STATE_COUNT; i++) {
        const moment m = {.kind = (uint8_t)i, .goroutine = own->g.id, .function = own->g.function};
        v.of[i] = (uint8_t)search_foresee(&r->search, &m, known);
    }
    return v;
}

/* The same, determined once for the goroutines that start in a function: they differ only if the
 * expression names their id. Each verdict is two bits that are not 0. */
static verdicts of_function(find_run *r, const find_goroutine *own)
{
    enum { BITS = 2, MASK = (1 << BITS) - 1 };
    const unsigned known = KNOWN_GOROUTINE | KNOWN_FUNCTION;
    uint8_t *packed = search_names_goroutine(&r->search, own->g.id)
                          ? NULL
                          : matcher_verdict(&r->by_function, own->g.function);
    verdicts v;
    if (!packed)
        return determine(r, own, known);
    if (*packed == 0) {
        v = determine(r, own, known);
        for (size_t i = 0; i < MOMENT_STATE_COUNT; i++)
            *packed |= (uint8_t)((v.of[i] + 1U) << (i * BITS));
    }
    for (size_t i = 0; i < MOMENT_STATE_COUNT; i++)
        v.of[i] = (uint8_t)((*packed >> (i * BITS) & MASK) - 1);
    return v;
}

/* Which moments of the goroutine are found, as far as its function and id decide. */
static void foresee(find_run *r, find_goroutine *own)
{
    bool none = true;
    const uint8_t level = foreseeable(r, own);
    const verdicts v = level == FORESEEN_BY_ID ? determine(r, own, KNOWN_GOROUTINE)
                                               : of_function(r, own);
    memcpy(own->verdicts, v.of, sizeof own->verdicts);
    for (size_t i = 0; i < MOMENT_STATE_COUNT; i++)
        none = none && v.of[i] == VERDICT_FALSE;
    own->foreseen = none && level == FORESEEN_BY_ID ? FORESEEN_FINALLY : level;
}

static void goroutine_begins(void *ctx, goroutine *g, const gotrace_event *e)
{
    find_run *r = ctx;
    bool here = e->kind == GOTRACE_KIND_TRANSITION && e->from == GOTRACE_STATE_NOT_EXIST;
    ((find_goroutine *)g)->created = here ? r->now : time_of(r, g->created);
    ((find_goroutine *)g)->since = GOTRACE_NO_TIME;
    memset(((find_goroutine *)g)->verdicts, VERDICT_UNKNOWN, MOMENT_STATE_COUNT);
}

static void state_changed(void *ctx, goroutine *g, const gotrace_event *e)
{
    find_run *r = ctx;
    find_goroutine *own = (find_goroutine *)g;
    /* The reader has a short system call of v1 as one event: the run after it begins then. */
    bool call_ended = e == &r->states.end;
    own->since = r->states.beginning || (e->from == GOTRACE_STATE_UNDETERMINED && !call_ended)
                     ? GOTRACE_NO_TIME
                 : call_ended ? r->now
                              : e->time;
    if (!own->continues) {
        own->begin = r->now;
        own->cut = false;
    }
    own->known = true;
    own->continues = false;
    if (own->g.current.state == GOTRACE_STATE_WAITING)
        search_saw(&r->search, MOMENT_WAIT, own->g.current.reason);
    if (r->by_goroutine && own->foreseen < foreseeable(r, own))
        foresee(r, own);
}

static bool kind_of(uint8_t state, uint8_t *kind)
{
    switch (state) {
    case GOTRACE_STATE_RUNNING: *kind = MOMENT_RUN; return true;
    case GOTRACE_STATE_RUNNABLE: *kind = MOMENT_SCHED; return true;
    case GOTRACE_STATE_WAITING: *kind = MOMENT_WAIT; return true;
    case GOTRACE_STATE_SYSCALL: *kind = MOMENT_SYSCALL; return true;
    default: return false; /* not a state of a goroutine that exists */
    }
}

/* A moment that is a state of a goroutine ends now. A run has the stack and the reason with which
 * it ended. */
static void offer_state(find_run *r, const find_goroutine *own, uint8_t kind,
                        const gotrace_event *e)
{
    const interval *i = &own->g.current;
    if (own->verdicts[kind] == VERDICT_FALSE)
        return;
    if (own->verdicts[kind] == VERDICT_TRUE && r->job->only_number) {
        search_count(&r->search, (moment_kind)kind);
        return;
    }
    moment m = {.kind = kind,
                .begun = !own->cut,
                .ended = e != NULL,
                .begin = own->begin,
                .end = r->now,
                .goroutine = own->g.id,
                .function = own->g.function};
    if (kind == MOMENT_RUN) {
        bool own_event = e && e->goroutine == own->g.id;
        m.stack = own_event && r->needs_stacks ? stack_of(r, e) : 0;
        m.name = e && r->needs_reasons ? stacks_reason(r->stacks, e->reason) : 0;
    } else {
        m.stack = i->stack;
        m.name = i->reason;
        m.cause = kind == MOMENT_SCHED ? i->cause : 0;
    }
    search_offer(&r->search, &m);
}

static void state_ends(void *ctx, goroutine *g, const interval *i, const gotrace_event *e)
{
    find_run *r = ctx;
    find_goroutine *own = (find_goroutine *)g;
    if (i->next == i->state) {
        if (!own->known) {
            own->begin = time_of(r, i->begin);
            own->cut = true;
        }
        own->continues = true;
        return;
    }
    uint8_t kind;
    if (!kind_of(i->state, &kind) || !wants(r, MOMENT_BIT(kind)) || is_short(r, kind, own->begin))
        return;
    offer_state(r, own, kind, e);
}

/* ---- states that were not returned -------------------------------------------------------------
 */

/* The reader returns only what ends a state that lasted long enough, and what begins one that needs
 * its stack. So the state that ends now may have begun without an event. */
static void set_state(find_goroutine *own, uint8_t state, int64_t since)
{
    own->g.current.state = state;
    own->g.current.stack = own->g.current.reason = 0;
    own->g.current.cause = 0;
    own->begin = since;
    own->cut = own->continues = false;
    own->known = true;
}

static inline bool changes_goroutine(const gotrace_event *e)
{
    return e->kind == GOTRACE_KIND_TRANSITION && e->resource == GOTRACE_RESOURCE_GOROUTINE &&
           e->from != e->to;
}

/* Before an event that ends a state. */
static void find_state(const find_run *r, find_goroutine *own, const gotrace_event *e)
{
    uint8_t from = e->kind == GOTRACE_KIND_SYSCALL ? GOTRACE_STATE_RUNNING : e->from;
    bool known = e->since != GOTRACE_NO_TIME;
    /* In a damaged trace, two states of a goroutine may begin at the same time. */
    if (own->g.current.state == from && (!known || own->since == e->since))
        return;
    set_state(own, from, known ? e->since : r->now);
}

static void begin_state(find_run *r, find_goroutine *own, const gotrace_event *e, uint8_t state,
                        uint32_t reason)
{
    set_state(own, state, r->now);
    own->since = e->time;
    own->g.current.cause = e->goroutine;
    own->g.current.reason = reason;
    own->g.current.stack = r->needs_stacks ? stack_of(r, e) : 0;
    if (state == GOTRACE_STATE_WAITING)
        search_saw(&r->search, MOMENT_WAIT, reason);
}

/* Whether the event does not show where its goroutine starts. */
static bool names_nothing(find_run *r, const gotrace_event *e)
{
    uint64_t stack = states_start_stack(e);
    return stack == 0 ||
           stacks_root(r->stacks, stacks_of(r->stacks, e->generation_index, stack)) == 0;
}

/* v1: a short system call, of which all is wanted. It is a run, a call of no duration, and a run.
 */
static bool pass_call(find_run *r, find_goroutine *own, const gotrace_event *e)
{
    if (!r->all_states || !(is_named(r, own) || names_nothing(r, e)) ||
        own->g.current.state != GOTRACE_STATE_RUNNING)
        return false;
    offer_state(r, own, MOMENT_RUN, e);
    begin_state(r, own, e, GOTRACE_STATE_SYSCALL, 0);
    offer_state(r, own, MOMENT_SYSCALL, e);
    set_state(own, GOTRACE_STATE_RUNNING, r->now);
    return true;
}

static bool pass_change(find_run *r, find_goroutine *own, const gotrace_event *e)
{
    uint8_t kind;
    uint32_t reason = e->reason && (r->needs_reasons || e->to == GOTRACE_STATE_WAITING)
                          ? stacks_reason(r->stacks, e->reason)
                          : 0;
    if (!(is_named(r, own) || names_nothing(r, e)) || e->to == GOTRACE_STATE_NOT_EXIST ||
        !kind_of(e->from, &kind) || (reason && reason == r->states.forever))
        return false;
    if (wants(r, MOMENT_BIT(kind)) &&
        (e->since == GOTRACE_NO_TIME || !is_short(r, kind, e->since))) {
        if (!r->all_states)
            find_state(r, own, e);
        if (own->g.current.state != e->from)
            return false;
        if (!is_short(r, kind, own->begin))
            offer_state(r, own, kind, e);
    }
    begin_state(r, own, e, e->to, reason);
    return true;
}

bool moment_states_pass(find_run *r, const gotrace_event *e)
{
    bool call = e->kind == GOTRACE_KIND_SYSCALL; /* v1: short */
    bool created = e->from == GOTRACE_STATE_NOT_EXIST && !(e->flags & GOTRACE_EVENT_SUSPECT);
    if (created || (!call && !changes_goroutine(e)))
        return false;
    find_goroutine *own = goroutine_of(r, call ? e->goroutine : e->subject);
    if (!own || r->states.beginning || own->g.current.state == GOTRACE_STATE_UNDETERMINED)
        return false;
    if (call ? pass_call(r, own, e) : pass_change(r, own, e))
        return true;
    if (!r->all_states)
        find_state(r, own, e);
    return false;
}

void moment_states_end(find_run *r)
{
    size_t cursor = 0;
    uint64_t id;
    void *value;
    while (r->states.goroutines.count > 0 &&
           idmap_next(&r->states.goroutines, &cursor, &id, &value)) {
        find_goroutine *own = value;
        const gotrace_goroutine *g = gotrace_reader_goroutine(r->feed.reader, id);
        bool unknown = own->since == GOTRACE_NO_TIME;
        if (own->g.current.state == GOTRACE_STATE_UNDETERMINED ||
            (g && g->state == own->g.current.state && (unknown || g->since == own->since)))
            continue;
        set_state(own, g ? g->state : GOTRACE_STATE_NOT_EXIST, g ? g->since : r->now);
    }
}

states_user moment_states_user(find_run *r, void (*ends)(void *ctx, goroutine *g, int64_t time,
                                                         const gotrace_event *e))
{
    return (states_user){r, goroutine_begins, state_ends, ends, state_changed};
}
