/* profile.c - charges the intervals of goroutines to stacks. */
#include "formats/analyse/profile.h"

#include <stdlib.h>
#include <string.h>

#include "core/malloc.h"
#include "formats/analyse/histogram.h"
#include "formats/common/vector.h"
#include "formats/common/functions.h"

/* An interval that counts only if the goroutine never runs. */
struct profile_pending {
    profile *profile;
    uint32_t stack, reason;
    uint8_t state;
    int64_t ns;
};

typedef struct profile_goroutine {
    goroutine g;
    profile_part own;
    bool there; /* its current state began on a selected proc and thread, and generation */
} profile_goroutine;

enum { NONE = PROFILE_COUNT, RECENT_REASONS = 64 };

/* The profile of Go that has the waits for a reason. */
typedef struct wait_kind {
    uint32_t reason;
    uint8_t kind; /* profile_kind, or NONE */
} wait_kind;

struct profiles {
    profile *of_kind[PROFILE_COUNT + 1]; /* NULL: not made; NONE is not */
    profile *of_all;    /* wall, else offcpu, which is a part of it: copy_offcpu; NULL: neither */
    unsigned go_states; /* 1 << state: some of its intervals may be in one of Go's */
    const profile_options *options;
    uint32_t by_function, by_state; /* 0: samples do not differ by it; else all bits are set */
    stacks *stacks;
    wait_kind recent[RECENT_REASONS]; /* by reason */
    bool v1;
    bool failed; /* memory was refused */
    bool all;    /* everything is included */
    bool there;  /* what is added is of a selected proc and thread, and generation */
    bool shares; /* of the intervals of another analysis: it has states and selector */
    states own_states;
    selector own_selector;
    const states *states;
    selector *selector;
};

typedef struct profiles run;

const char *profile_name(size_t n)
{
    static const char *const names[] = {
#define PROFILE_NAME(name, text) #text,
        PROFILE_KINDS(PROFILE_NAME)
#undef PROFILE_NAME
    };
    return n < PROFILE_COUNT ? names[n] : NULL;
}

profile_kind profile_kind_of(const char *name)
{
    profile_kind kind = name ? 0 : PROFILE_WALL;
    while (name && strcmp(profile_name(kind), name) != 0)
        kind++;
    return kind;
}

const char *profile_state(const profile *p, const profile_sample *s, size_t *size)
{
    const char *name = s->reason ? stacks_text(p->stacks, s->reason, size) : NULL;
    if (name)
        return name;
    name = gotrace_state_name((gotrace_state)s->state);
    *size = strlen(name);
    return name;
}

void profile_free(profile *p)
{
    if (p->owns_stacks)
        stacks_free(p->stacks);
    free(p->samples);
    free(p->traces);
    gt_lookup_free(&p->lookup, gt_malloc());
}

void profile_divide(profile *p, const char *name)
{
    profile_trace *list = vector_room(p->traces, &p->trace_room, p->trace_count, sizeof *list);
    if (!list) {
        p->failed = true;
        return;
    }
    p->traces = list;
    list[p->trace_count++] = (profile_trace){stacks_name(p->stacks, name, strlen(name)), p->count};
    /* No sample is found any more. */
    gt_lookup_free(&p->lookup, gt_malloc());
    memset(p->recent, 0xff, sizeof p->recent);
}

/* ---- samples ----------------------------------------------------------------------------------
 */

/* The key of a sample is passed in parts: a processor waits for a struct that is written in parts
 * and read as a whole. */
static inline bool is_sample(const profile_sample *s, uint32_t stack, uint32_t function,
                             uint32_t reason, uint8_t state)
{
    return s->stack == stack && s->function == function && s->reason == reason && s->state == state;
}

/* Finds or makes a sample; NULL if memory is refused. */
static profile_sample *search_sample(profile *p, uint32_t stack, uint32_t function, uint32_t reason,
                                     uint8_t state)
{
    if (!gt_lookup_reserve(&p->lookup, gt_malloc()))
        return NULL;
    size_t slot;
    uint64_t seed = p->lookup.seed;
    uint64_t hash = gt_hash(seed, (uint64_t)stack << 32 | function);
    hash = gt_hash_add(seed, hash, (uint64_t)reason << 32 | state);
    uint32_t number = gt_lookup_first(&p->lookup, hash, &slot);
    while (number && !is_sample(&p->samples[number - 1], stack, function, reason, state))
        number = gt_lookup_next(&p->lookup, hash, &slot);
    if (number)
        return &p->samples[number - 1];
    profile_sample *samples = vector_room(p->samples, &p->room, p->count, sizeof *samples);
    if (!samples)
        return NULL;
    p->samples = samples;
    samples[p->count++] = (profile_sample){
        .stack = stack, .function = function, .reason = reason, .state = state};
    gt_lookup_put(&p->lookup, slot, hash, (uint32_t)p->count);
    return &samples[p->count - 1];
}

/* Where the number of a sample with that key is, if it was added to last. */
static inline uint32_t *recent_number(profile *p, uint32_t stack, uint32_t function,
                                      uint32_t reason, uint8_t state)
{
    const uint32_t mixed = (stack + function * 31) * 8 + reason * 64 + state;
    return &p->recent[mixed % PROFILE_RECENT];
}

static inline void add_value(profile_sample *s, int64_t ns)
{
    s->count++;
    s->ns = sum_of_times(s->ns, ns);
}

/* Adds the time of a sample to the one with its key. */
__attribute__((noinline)) static void add_to_any(run *r, profile *p, const profile_sample *more)
{
    profile_sample *s = search_sample(p, more->stack, more->function, more->reason, more->state);
    if (!s) {
        r->failed = true;
        return;
    }
    *recent_number(p, s->stack, s->function, s->reason, s->state) = (uint32_t)(s - p->samples);
    add_value(s, more->ns);
}

/* Adds to a sample; reason: 0 unless the goroutine waits. There are two for each interval, and most
 * are of samples that were found before: the search takes longer than all else. */
static inline void add_to_sample(run *r, profile *p, uint32_t stack, uint32_t function,
                                 uint32_t reason, uint8_t state, int64_t ns)
{
    function &= r->by_function;
    reason &= r->by_state;
    state &= (uint8_t)r->by_state;
    const uint32_t number = *recent_number(p, stack, function, reason, state);
    if (number < p->count && is_sample(&p->samples[number], stack, function, reason, state))
        add_value(&p->samples[number], ns);
    else
        add_to_any(
            r, p,
            &(profile_sample){
                .stack = stack, .function = function, .reason = reason, .state = state, .ns = ns});
}

/* Whether the goroutine that starts at a function is one of the runtime. */
static bool is_system(const run *r, uint32_t function)
{
    size_t size;
    const char *name = stacks_text(r->stacks, function, &size);
    return function_is_system(name, size);
}

/* Whether a stretch of the time of a goroutine that starts at that function counts. */
static bool is_included(run *r, uint64_t id, uint32_t function, uint32_t stack)
{
    return r->there && selector_interval(r->selector, id, function, stack) &&
           !(r->options->no_system && is_system(r, function));
}

/* Adds to the sample of a stack, in the state of an interval; the reason counts if it is a wait. */
static inline void add_all(run *r, profile *p, const goroutine *g, uint32_t stack,
                           const interval *i, int64_t ns)
{
    add_to_sample(r, p, stack, g->function, i->state == GOTRACE_STATE_WAITING ? i->reason : 0,
                  i->state, ns);
}

/* The same, if it is included. */
__attribute__((noinline)) static void add_included(run *r, profile *p, const goroutine *g,
                                                   uint32_t stack, const interval *i, int64_t ns)
{
    if (is_included(r, g->id, g->function, stack))
        add_all(r, p, g, stack, i, ns);
}

static void add(run *r, profile *p, const goroutine *g, uint32_t stack, const interval *i,
                int64_t ns)
{
    if (r->all)
        add_all(r, p, g, stack, i, ns);
    else
        add_included(r, p, g, stack, i, ns);
}

/* ---- the profiles of Go -----------------------------------------------------------------------
 */

/* The profile of Go that has the waits for a reason; NONE: none. Go 1.21 counts waiting for assists
 * as sync. */
static uint8_t kind_of_wait(const run *r, uint32_t reason)
{
    if (stacks_name_is(r->stacks, reason, "network"))
        return PROFILE_NET;
    if (reason_is_sync(r->stacks, reason) ||
        (r->v1 && stacks_name_is(r->stacks, reason, "GC mark assist wait for work")))
        return PROFILE_SYNC;
    return NONE;
}

/* The same; texts are compared once for most reasons. */
static uint8_t recent_kind_of_wait(run *r, uint32_t reason)
{
    wait_kind *recent = &r->recent[reason % RECENT_REASONS];
    if (recent->reason != reason)
        *recent = (wait_kind){reason, kind_of_wait(r, reason)};
    return recent->kind;
}

/* The profile of Go that has the interval; NONE: none. Go 1.21 demands a stack and the usual next
 * state, and as what made a goroutine runnable another one. */
static uint8_t kind_of(run *r, const interval *i)
{
    bool usual = !r->v1 || (i->stack && i->next == GOTRACE_STATE_RUNNABLE);
    switch (i->state) {
    case GOTRACE_STATE_WAITING: return usual ? recent_kind_of_wait(r, i->reason) : NONE;
    case GOTRACE_STATE_SYSCALL: return usual ? PROFILE_SYSCALL : NONE;
    case GOTRACE_STATE_RUNNABLE:
        return !r->v1 || (i->stack && i->reason == 0 && i->next == GOTRACE_STATE_RUNNING)
                   ? PROFILE_SCHED
                   : NONE;
    default: return NONE; /* execution is in none of Go's */
    }
}

/* The states whose intervals may be in a profile, if it is one of Go's. */
static unsigned go_states_of(profile_kind kind)
{
    return kind == PROFILE_NET || kind == PROFILE_SYNC ? 1U << GOTRACE_STATE_WAITING
           : kind == PROFILE_SYSCALL                   ? 1U << GOTRACE_STATE_SYSCALL
           : kind == PROFILE_SCHED                     ? 1U << GOTRACE_STATE_RUNNABLE
                                                       : 0;
}

/* Keeps an interval from before the first run. */
static void keep_pending(run *r, profile *p, profile_part *own, const interval *i, int64_t ns)
{
    if (!r->there)
        return;
    profile_pending *list = vector_room(own->pending, &own->pending_room, own->pending_count,
                                        sizeof *list);
    if (!list) {
        r->failed = true;
        return;
    }
    own->pending = list;
    list[own->pending_count++] = (profile_pending){
        .profile = p, .stack = i->stack, .reason = i->reason, .state = i->state, .ns = ns};
}

/* Go 1.27 counts nothing before the first run of a goroutine, but everything if it never runs. It
 * begins to count when it learns of a state. */
static void charge_as_go(run *r, profile_part *own, const goroutine *g, const interval *i)
{
    int64_t ns = i->end - i->begin;
    bool is_open = i->next == GOTRACE_STATE_UNDETERMINED;
    if (i->next == i->state)
        return;
    if (i->next == GOTRACE_STATE_RUNNING && g->started == STATES_NEVER)
        own->pending_count = 0;
    profile *p = r->of_kind[kind_of(r, i)];
    if (!p || ns == 0 || (is_open && !r->options->open))
        return;
    if (r->v1 || g->started != STATES_NEVER || is_open)
        add(r, p, g, i->stack, i, ns);
    else if (i->next != GOTRACE_STATE_RUNNING)
        keep_pending(r, p, own, i, ns);
}

/* ---- the other profiles -----------------------------------------------------------------------
 */

/* Spreads a run over its CPU samples; without any it belongs to the stack where it ended. */
static void charge_run(run *r, profile *p, profile_part *own, const goroutine *g, const interval *i)
{
    int64_t ns = own->ran + i->end - i->begin, count = (int64_t)own->sample_count;
    for (int64_t n = 0; n < count; n++)
        add(r, p, g, own->samples[n], i, ns / count + (n < ns % count));
    if (count == 0 && ns > 0)
        add(r, p, g, own->stopped, i, ns);
    own->sample_count = 0;
    own->ran = 0;
}

/* The stack of the event, if it is that of the goroutine. */
static uint32_t own_stack(const run *r, const goroutine *g, const gotrace_event *e)
{
    return e ? stacks_of(r->stacks, start_stack_of(e, g->id)) : 0;
}

/* A system call of v1 that did not block, or the run until then: it is a part of the run. */
static bool is_within_run(const interval *i, const gotrace_event *e)
{
    return e && e->kind == GOTRACE_KIND_SYSCALL &&
           (i->state == GOTRACE_STATE_RUNNING || i->next == GOTRACE_STATE_RUNNING);
}

/* The interval is part of these profiles from the beginning on. stack: of the goroutine, at its
 * end; 0: not known. */
static void charge(run *r, profile_part *own, const goroutine *g, const interval *i, uint32_t stack)
{
    profile *p = r->of_all;
    const int64_t ns = i->end - i->begin;
    const bool runs = i->state == GOTRACE_STATE_RUNNING;
    if (i->next == GOTRACE_STATE_UNDETERMINED && !r->options->open)
        return;
    if (stack && (runs || own->stopped == 0))
        own->stopped = stack;
    if (!runs && ns > 0)
        add(r, p, g, own->stopped, i, ns);
    else if (runs && p->kind == PROFILE_WALL)
        charge_run(r, p, own, g, i);
}

/* offcpu, if wall was made: its samples of all states but one. */
static bool copy_offcpu(const run *r)
{
    profile *to = r->of_kind[PROFILE_OFFCPU];
    const profile *wall = r->of_kind[PROFILE_WALL];
    for (size_t i = 0; to && wall && i < wall->count; i++) {
        const profile_sample *from = &wall->samples[i];
        if (from->state == GOTRACE_STATE_RUNNING)
            continue;
        profile_sample *made = search_sample(to, from->stack, from->function, from->reason,
                                             from->state);
        if (!made)
            return false;
        *made = *from;
    }
    return true;
}

/* Keeps a CPU sample until the run ends. */
static void keep_sample(run *r, profile_part *own, uint32_t stack)
{
    uint32_t *list = vector_room(own->samples, &own->sample_room, own->sample_count, sizeof *list);
    if (!list) {
        r->failed = true;
        return;
    }
    own->samples = list;
    list[own->sample_count++] = stack;
}

void profiles_sample(profiles *r, profile_part *own, const goroutine *g, const gotrace_event *e)
{
    profile *cpu = r->of_kind[PROFILE_CPU];
    uint32_t stack = stacks_of(r->stacks, e->stack);
    if (states_place_of(r->states) != STATES_INSIDE)
        return;
    r->there = !selector_has_places(r->selector) || selector_is_there(r->selector, e);
    const uint32_t function = g ? g->function : 0;
    if (cpu && (r->all || is_included(r, e->goroutine, function, stack)))
        add_to_sample(r, cpu, stack, function, 0, GOTRACE_STATE_RUNNING, PROFILE_SAMPLE_NS);
    if (r->of_kind[PROFILE_WALL] && g && g->current.state == GOTRACE_STATE_RUNNING)
        keep_sample(r, own, stack);
}

/* ---- the pass ---------------------------------------------------------------------------------
 */

void profiles_goroutine(profiles *r, profile_part *own, const goroutine *g, const gotrace_event *e)
{
    own->stopped = own_stack(r, g, e);
}

/* profiles_interval, for the profiles of Go. */
static inline void add_go_interval(run *r, profile_part *own, const goroutine *g, const interval *i)
{
    if (r->go_states >> i->state & 1 ||
        (i->next == GOTRACE_STATE_RUNNING && g->started == STATES_NEVER))
        charge_as_go(r, own, g, i);
}

void profiles_interval(profiles *r, profile_part *own, const goroutine *g, const interval *i,
                       bool there, const gotrace_event *e)
{
    r->there = there;
    add_go_interval(r, own, g, i);
    if (!r->of_all)
        return;
    if (is_within_run(i, e))
        own->ran += i->end - i->begin;
    else
        charge(r, own, g, i,
               i->state == GOTRACE_STATE_RUNNING || own->stopped == 0 ? own_stack(r, g, e) : 0);
}

void profiles_goroutine_end(profiles *r, profile_part *own, const goroutine *g)
{
    r->there = true;
    for (size_t i = 0; i < own->pending_count; i++) {
        const profile_pending *kept = &own->pending[i];
        const interval waited = {.state = kept->state, .reason = kept->reason};
        add(r, kept->profile, g, kept->stack, &waited, kept->ns);
    }
    profile_part_free(own);
}

void profile_part_free(profile_part *own)
{
    free(own->pending);
    free(own->samples);
    *own = (profile_part){0};
}

static void state_begins(void *ctx, goroutine *g, const gotrace_event *e)
{
    ((profile_goroutine *)g)->there = selector_is_there(((run *)ctx)->selector, e);
}

static void goroutine_begins(void *ctx, goroutine *g, const gotrace_event *e)
{
    profiles_goroutine(ctx, &((profile_goroutine *)g)->own, g, e);
    ((profile_goroutine *)g)->there = true;
    if (selector_has_places(((run *)ctx)->selector))
        state_begins(ctx, g, e);
}

static void interval_ends(void *ctx, goroutine *g, const interval *i, const gotrace_event *e)
{
    profile_goroutine *made = (profile_goroutine *)g;
    profiles_interval(ctx, &made->own, g, i, made->there, e);
}

static void goroutine_ends(void *ctx, goroutine *g, int64_t time, const gotrace_event *e)
{
    (void)time;
    (void)e;
    profiles_goroutine_end(ctx, &((profile_goroutine *)g)->own, g);
}

profiles *profiles_begin(profile *list, size_t count, const profile_options *options, int version,
                         stacks *names)
{
    run *r = calloc(1, sizeof *r);
    const states_user user = {r, goroutine_begins, interval_ends, goroutine_ends, NULL};
    if (!r)
        return NULL;
    *r = (run){.options = options, .stacks = names, .v1 = version < GOTRACE_FIRST_V2};
    for (size_t i = 0; i < count; i++) {
        list[i].stacks = names;
        r->of_kind[list[i].kind] = &list[i];
        r->go_states |= go_states_of(list[i].kind);
    }
    r->of_all = r->of_kind[PROFILE_WALL] ? r->of_kind[PROFILE_WALL] : r->of_kind[PROFILE_OFFCPU];
    r->by_function = options->without & PROFILE_FUNCTION ? 0 : UINT32_MAX;
    r->by_state = options->without & PROFILE_STATE ? 0 : UINT32_MAX;
    r->recent[0].kind = NONE; /* of the empty name */
    states_init(&r->own_states, GOTRACE_FIRST_V2, names, sizeof(profile_goroutine), &user);
    selector_init(&r->own_selector, options->select, version, names->source, names);
    if (selector_has_places(&r->own_selector))
        r->own_states.user.changed = state_begins;
    states_restrict(&r->own_states, r->own_selector.range.from, r->own_selector.range.until);
    r->states = &r->own_states;
    r->selector = &r->own_selector;
    r->all = !options->no_system && !selector_has(r->selector, SELECT_OF_PARTS);
    return r;
}

void profiles_share(profiles *r, const states *followed, selector *applied)
{
    selector_end(&r->own_selector, NULL);
    states_free(&r->own_states);
    r->states = followed;
    r->selector = applied;
    r->shares = true;
}

bool profiles_failed(const profiles *r)
{
    return r->failed || r->states->failed || r->stacks->failed || r->selector->failed;
}

/* A goroutine enters or leaves a region, which may be selected. */
static void divide(run *r, const gotrace_event *e)
{
    goroutine *g = states_goroutine(&r->own_states, e->goroutine);
    if (g)
        states_divide(&r->own_states, g, e);
}

/* An event that is not just a change of a goroutine's state. */
static void add_other(run *r, const gotrace_event *e)
{
    if (selector_divides(&r->own_selector, e))
        divide(r, e);
    if (e->kind == GOTRACE_KIND_SAMPLE) {
        goroutine *g = states_goroutine(&r->own_states, e->goroutine);
        profiles_sample(r, g ? &((profile_goroutine *)g)->own : NULL, g, e);
    }
}

static inline void add_event(run *r, const gotrace_event *e)
{
    if (!states_step(&r->own_states, e, interval_ends, NULL))
        add_other(r, e);
    selector_event(&r->own_selector, e);
}

static void set_durations(run *r)
{
    int64_t from = r->states->from > 0 ? r->states->from : 0;
    for (size_t i = 0; i < PROFILE_COUNT; i++)
        if (r->of_kind[i])
            r->of_kind[i]->duration = sum_of_times(
                r->of_kind[i]->duration, r->states->time > from ? r->states->time - from : 0);
}

/* The events have ended, which are followed here. Returns whether all is sound. */
static bool end_states(run *r)
{
    size_t cursor = 0;
    uint64_t id;
    void *value;
    if (!profiles_failed(r) && !r->own_selector.too_hard) {
        set_durations(r);
        states_end(&r->own_states);
    }
    bool failed = profiles_failed(r);
    /* Goroutines are left only if memory was refused. */
    while (idmap_next(&r->own_states.goroutines, &cursor, &id, &value))
        profile_part_free(&((profile_goroutine *)value)->own);
    selector_end(&r->own_selector, r->options->select);
    states_free(&r->own_states);
    return !failed;
}

bool profiles_end(profiles *r)
{
    bool sound = r->shares ? !r->failed : end_states(r);
    sound = sound && copy_offcpu(r);
    free(r);
    return sound;
}

/* Refused memory leaves everything consistent, so it is not looked for after each event. */
enum { EVENTS_BETWEEN_CHECKS = 1024 };

static gotrace_status read_events(profiles *r, feed *f)
{
    const gotrace_event *e;
    gotrace_status status;
    size_t count = 0;
    while ((status = feed_next(f, &e)) == GOTRACE_EVENT) {
        add_event(r, e);
        if (++count % EVENTS_BETWEEN_CHECKS == 0 &&
            (profiles_failed(r) || r->own_selector.too_hard || selector_stopped(&r->own_selector)))
            return GOTRACE_END;
    }
    return status;
}

gotrace_status profile_make(profile *p, gotrace_reader *reader, const profile_options *options)
{
    feed f;
    gotrace_status status = GOTRACE_END;
    if (!p->stacks && !p->failed)
        *p = (profile){
            .kind = options->kind, .stacks = stacks_new(options->detail), .owns_stacks = true};
    if (!p->stacks || p->failed) {
        p->failed = true;
        return GOTRACE_END;
    }
    /* If indexing fails, reading reports the same error. */
    gotrace_reader_index(reader);
    feed_init(&f, reader, false, options->threads);
    stacks_begin(p->stacks, &f);
    profiles *r = profiles_begin(p, 1, options, gotrace_reader_summary(reader)->version, p->stacks);
    if (r)
        status = read_events(r, &f);
    p->failed = !r;
    if (r && !profiles_end(r))
        p->failed = true;
    feed_free(&f);
    return status;
}
