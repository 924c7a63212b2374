/* profile.c - charges the intervals of goroutines to stacks. */
#include "formats/analyse/profile.h"

#include <stdlib.h>
#include <string.h>

#include "core/malloc.h"
#include "formats/analyse/histogram.h"
#include "formats/analyse/vector.h"
#include "formats/common/functions.h"

/* An interval that counts only if the goroutine never runs. */
typedef struct pending {
    profile *profile;
    uint32_t stack, reason;
    uint8_t state;
    int64_t ns;
} pending;

typedef struct profile_goroutine {
    goroutine g;
    uint32_t stopped; /* the stack where it stopped running, or where it starts */
    pending *pending;
    size_t pending_count, pending_room;
    uint32_t *samples; /* stacks of the CPU samples of the current run */
    size_t sample_count, sample_room;
    bool there; /* its current state began on a selected proc and thread, and generation */
} profile_goroutine;

struct profiles {
    profile *list;
    size_t count;
    const profile_options *options;
    stacks *stacks;
    bool v1;
    bool failed; /* memory was refused */
    bool there;  /* what is added is of a selected proc and thread, and generation */
    states states;
    selector selector;
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
    gt_lookup_free(&p->lookup, gt_malloc());
}

/* ---- samples ----------------------------------------------------------------------------------
 */

static bool same_sample(const profile_sample *a, const profile_sample *b)
{
    return a->stack == b->stack && a->function == b->function && a->reason == b->reason &&
           a->state == b->state;
}

/* The sample with the key of another one; NULL if memory is refused. */
static profile_sample *sample_of(profile *p, const profile_sample *key)
{
    if (!gt_lookup_reserve(&p->lookup, gt_malloc()))
        return NULL;
    size_t slot;
    uint64_t seed = p->lookup.seed;
    uint64_t hash = gt_hash(seed, (uint64_t)key->stack << 32 | key->function);
    hash = gt_hash_add(seed, hash, (uint64_t)key->reason << 32 | key->state);
    uint32_t number = gt_lookup_first(&p->lookup, hash, &slot);
    while (number && !same_sample(&p->samples[number - 1], key))
        number = gt_lookup_next(&p->lookup, hash, &slot);
    if (number)
        return &p->samples[number - 1];
    profile_sample *samples = vector_room(p->samples, &p->room, p->count, sizeof *samples);
    if (!samples)
        return NULL;
    p->samples = samples;
    samples[p->count++] = *key;
    gt_lookup_put(&p->lookup, slot, hash, (uint32_t)p->count);
    return &samples[p->count - 1];
}

/* g: NULL if it is not known. */
static void add_of(run *r, profile *p, uint64_t id, const goroutine *g, uint32_t stack,
                   uint8_t state, uint32_t reason, int64_t ns)
{
    profile_sample key = {.stack = stack,
                          .function = g ? g->function : 0,
                          .reason = state == GOTRACE_STATE_WAITING ? reason : 0,
                          .state = state};
    size_t size;
    const char *name = stacks_text(r->stacks, key.function, &size);
    if (!r->there || !selector_interval(&r->selector, id, key.function, stack))
        return;
    if (r->options->no_system && function_is_system(name, size))
        return;
    profile_sample *s = sample_of(p, &key);
    if (!s) {
        r->failed = true;
        return;
    }
    s->count++;
    s->ns = sum_of_times(s->ns, ns);
}

static void add(run *r, profile *p, const goroutine *g, uint32_t stack, uint8_t state,
                uint32_t reason, int64_t ns)
{
    add_of(r, p, g->id, g, stack, state, reason, ns);
}

/* ---- the profiles of Go -----------------------------------------------------------------------
 */

/* Go 1.21 counts waiting for assists too. */
static bool is_sync(const run *r, uint32_t reason)
{
    return reason_is_sync(r->stacks, reason) ||
           (r->v1 && stacks_name_is(r->stacks, reason, "GC mark assist wait for work"));
}

/* Whether the interval is of the kind. Go 1.21 demands a stack and the usual next state, and as
 * what made a goroutine runnable another one. */
static bool is_of_kind(const run *r, profile_kind kind, const interval *i)
{
    bool usual = !r->v1 || (i->stack && i->next == GOTRACE_STATE_RUNNABLE);
    switch (kind) {
    case PROFILE_NET:
        return i->state == GOTRACE_STATE_WAITING && usual &&
               stacks_name_is(r->stacks, i->reason, "network");
    case PROFILE_SYNC: return i->state == GOTRACE_STATE_WAITING && usual && is_sync(r, i->reason);
    case PROFILE_SYSCALL: return i->state == GOTRACE_STATE_SYSCALL && usual;
    case PROFILE_SCHED:
        return i->state == GOTRACE_STATE_RUNNABLE &&
               (!r->v1 || (i->stack && i->reason == 0 && i->next == GOTRACE_STATE_RUNNING));
    default: return false;
    }
}

/* Keeps an interval from before the first run. */
static void keep_pending(run *r, profile *p, profile_goroutine *g, const interval *i, int64_t ns)
{
    if (!r->there)
        return;
    pending *list = vector_room(g->pending, &g->pending_room, g->pending_count, sizeof *list);
    if (!list) {
        r->failed = true;
        return;
    }
    g->pending = list;
    list[g->pending_count++] = (pending){
        .profile = p, .stack = i->stack, .reason = i->reason, .state = i->state, .ns = ns};
}

/* Go 1.27 counts nothing before the first run of a goroutine, but everything if it never runs. */
static void charge_as_go(run *r, profile *p, profile_goroutine *g, const interval *i)
{
    int64_t ns = i->end - i->begin;
    bool is_open = i->next == GOTRACE_STATE_UNDETERMINED;
    if (i->next == GOTRACE_STATE_RUNNING && g->g.started == STATES_NEVER)
        g->pending_count = 0;
    if (!is_of_kind(r, p->kind, i) || ns == 0 || (is_open && !r->options->open))
        return;
    if (r->v1 || g->g.started != STATES_NEVER || is_open)
        add(r, p, &g->g, i->stack, i->state, i->reason, ns);
    else if (i->next != GOTRACE_STATE_RUNNING)
        keep_pending(r, p, g, i, ns);
}

/* ---- the other profiles -----------------------------------------------------------------------
 */

/* Spreads a run over its CPU samples; without any it belongs to the stack where it ended. */
static void charge_run(run *r, profile *p, profile_goroutine *g, const interval *i)
{
    int64_t ns = i->end - i->begin, count = (int64_t)g->sample_count;
    for (int64_t n = 0; n < count; n++)
        add(r, p, &g->g, g->samples[n], i->state, 0, ns / count + (n < ns % count));
    if (count == 0 && ns > 0)
        add(r, p, &g->g, g->stopped, i->state, 0, ns);
    g->sample_count = 0;
}

/* The stack of the event, if it is that of the goroutine. */
static uint32_t own_stack(const run *r, const goroutine *g, const gotrace_event *e)
{
    bool own = e && (e->goroutine == g->id || (e->flags & GOTRACE_EVENT_INITIAL));
    uint64_t id = !e ? 0 : e->start_stack ? e->start_stack : own ? e->stack : 0;
    return stacks_of(r->stacks, e ? e->generation_index : 0, id);
}

static void charge(run *r, profile *p, profile_goroutine *g, const interval *i,
                   const gotrace_event *e)
{
    int64_t ns = i->end - i->begin;
    bool runs = i->state == GOTRACE_STATE_RUNNING;
    if (i->next == GOTRACE_STATE_UNDETERMINED && !r->options->open)
        return;
    uint32_t stack = own_stack(r, &g->g, e);
    if ((runs || g->stopped == 0) && stack)
        g->stopped = stack;
    if (runs && p->kind == PROFILE_WALL)
        charge_run(r, p, g, i);
    else if (!runs && ns > 0)
        add(r, p, &g->g, g->stopped, i->state, i->reason, ns);
}

/* Keeps a CPU sample until the run ends. */
static void keep_sample(run *r, profile_goroutine *g, uint32_t stack)
{
    uint32_t *list = vector_room(g->samples, &g->sample_room, g->sample_count, sizeof *list);
    if (!list) {
        r->failed = true;
        return;
    }
    g->samples = list;
    list[g->sample_count++] = stack;
}

static void add_sample(run *r, profile *p, const gotrace_event *e)
{
    profile_goroutine *g = (void *)states_goroutine(&r->states, e->goroutine);
    uint32_t stack = stacks_of(r->stacks, e->generation_index, e->stack);
    if (states_place_of(&r->states) != STATES_INSIDE)
        return;
    r->there = !selector_has_places(&r->selector) || selector_is_there(&r->selector, e);
    if (p->kind == PROFILE_CPU)
        add_of(r, p, e->goroutine, g ? &g->g : NULL, stack, GOTRACE_STATE_RUNNING, 0,
               PROFILE_SAMPLE_NS);
    else if (p->kind == PROFILE_WALL && g && g->g.current.state == GOTRACE_STATE_RUNNING)
        keep_sample(r, g, stack);
}

/* ---- the pass ---------------------------------------------------------------------------------
 */

static void state_begins(void *ctx, goroutine *g, const gotrace_event *e)
{
    ((profile_goroutine *)g)->there = selector_is_there(&((run *)ctx)->selector, e);
}

static void goroutine_begins(void *ctx, goroutine *g, const gotrace_event *e)
{
    ((profile_goroutine *)g)->stopped = own_stack(ctx, g, e);
    if (selector_has_places(&((run *)ctx)->selector))
        state_begins(ctx, g, e);
}

static void interval_ends(void *ctx, goroutine *g, const interval *i, const gotrace_event *e)
{
    run *r = ctx;
    r->there = !selector_has_places(&r->selector) || ((profile_goroutine *)g)->there;
    /* Go begins to count when it learns of a state; the others have it from the beginning on. */
    for (size_t n = 0; n < r->count; n++) {
        profile *p = &r->list[n];
        if (p->kind >= PROFILE_OFFCPU && p->kind != PROFILE_CPU)
            charge(r, p, (profile_goroutine *)g, i, e);
        else if (p->kind < PROFILE_OFFCPU && i->next != i->state)
            charge_as_go(r, p, (profile_goroutine *)g, i);
    }
}

static void free_goroutine(profile_goroutine *g)
{
    free(g->pending);
    free(g->samples);
}

static void goroutine_ends(void *ctx, goroutine *g, int64_t time, const gotrace_event *e)
{
    run *r = ctx;
    profile_goroutine *own = (profile_goroutine *)g;
    (void)time;
    (void)e;
    r->there = true;
    for (size_t i = 0; i < own->pending_count; i++) {
        const pending *kept = &own->pending[i];
        add(r, kept->profile, g, kept->stack, kept->state, kept->reason, kept->ns);
    }
    free_goroutine(own);
}

profiles *profiles_begin(profile *list, size_t count, const profile_options *options, int version,
                         stacks *names)
{
    run *r = calloc(1, sizeof *r);
    const states_user user = {r, goroutine_begins, interval_ends, goroutine_ends, NULL};
    if (!r)
        return NULL;
    *r = (run){.list = list, .count = count, .options = options, .stacks = names};
    r->v1 = version < GOTRACE_FIRST_V2;
    for (size_t i = 0; i < count; i++)
        list[i].stacks = names;
    states_init(&r->states, GOTRACE_FIRST_V2, names, sizeof(profile_goroutine), &user);
    selector_init(&r->selector, options->select, version, names);
    if (selector_has_places(&r->selector))
        r->states.user.changed = state_begins;
    states_restrict(&r->states, r->selector.range.from, r->selector.range.until);
    return r;
}

static bool has_failed(const run *r)
{
    return r->failed || r->states.failed || r->stacks->failed || r->selector.failed;
}

/* A goroutine enters or leaves a region, which may be selected. */
static void divide(run *r, const gotrace_event *e)
{
    goroutine *g = states_goroutine(&r->states, e->goroutine);
    if (g)
        states_divide(&r->states, g, e);
}

bool profiles_event(profiles *r, const gotrace_event *e)
{
    states_event(&r->states, e);
    if (selector_divides(&r->selector, e))
        divide(r, e);
    for (size_t i = 0; e->kind == GOTRACE_KIND_SAMPLE && i < r->count; i++)
        add_sample(r, &r->list[i], e);
    selector_event(&r->selector, e);
    return !has_failed(r) && !r->selector.too_hard;
}

bool profiles_end(profiles *r)
{
    size_t cursor = 0;
    uint64_t id;
    void *value;
    if (!has_failed(r) && !r->selector.too_hard) {
        int64_t from = r->states.from > 0 ? r->states.from : 0;
        for (size_t i = 0; i < r->count; i++)
            r->list[i].duration = r->states.time > from ? r->states.time - from : 0;
        states_end(&r->states);
    }
    bool failed = has_failed(r);
    /* Goroutines are left only if memory was refused. */
    while (idmap_next(&r->states.goroutines, &cursor, &id, &value))
        free_goroutine(value);
    selector_end(&r->selector, r->options->select);
    states_free(&r->states);
    free(r);
    return !failed;
}

static gotrace_status read_events(profiles *r, feed *f, size_t threads)
{
    const gotrace_event *e;
    gotrace_status status;
    while ((status = feed_next(f, &e)) == GOTRACE_EVENT) {
        if (!profiles_event(r, e))
            return GOTRACE_END;
        if (threads > 1 && r->states.begun)
            feed_begin_thread(f);
    }
    return status;
}

gotrace_status profile_make(profile *p, gotrace_reader *reader, const profile_options *options)
{
    feed f;
    gotrace_status status = GOTRACE_END;
    *p = (profile){.kind = options->kind, .stacks = stacks_new(), .owns_stacks = true};
    if (!p->stacks) {
        p->failed = true;
        return GOTRACE_END;
    }
    /* If indexing fails, reading reports the same error. */
    gotrace_reader_index(reader);
    feed_init(&f, reader);
    stacks_begin(p->stacks, &f);
    profiles *r = profiles_begin(p, 1, options, gotrace_reader_summary(reader)->version, p->stacks);
    if (r)
        status = read_events(r, &f, options->threads);
    p->failed = !r || f.failed;
    if (r && !profiles_end(r))
        p->failed = true;
    feed_free(&f);
    return status;
}
