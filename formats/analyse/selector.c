/* selector.c - follows goroutines, regions and tasks, as far as a selection needs them: no states,
 * which print, for example, would follow for nothing. */
#include "formats/analyse/selector.h"
#include "gotrace_experimental.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/analyse/states.h"
#include "formats/common/vector.h"

/* What a region is in. */
enum { OF_TASK = 1, OF_REGION = 2 };

typedef struct selected_goroutine {
    uint8_t *regions; /* open ones: what they are in */
    size_t depth, room;
    size_t in_task, in_region; /* of these, listed ones */
    bool inherits;             /* it was created in a region of a listed task */
    bool named, starts;        /* starts: its start function matches; named: that is final */
} selected_goroutine;

void selector_init(selector *s, const select_job *job, int version, const feed *source,
                   stacks *names)
{
    *s = (selector){.what = job ? job->what : NULL,
                    .range = {INT64_MIN, INT64_MAX},
                    .source = source,
                    .stacks = names,
                    .beginning = version < GOTRACE_FIRST_V2,
                    .has_starts = version >= FIRST_START_STACK};
    if (job) {
        s->range = job->range;
        s->stop = job->stop;
    }
    idmap_init(&s->goroutines, sizeof(selected_goroutine));
    idmap_init(&s->tasks, 0);
    matcher_init(&s->function, s->what ? s->what->function : NULL, names);
}

void selector_end(selector *s, select_job *job)
{
    size_t cursor = 0, size;
    uint64_t id;
    void *value;
    if (job) {
        job->count = s->count;
        job->failed = job->failed || s->failed;
        job->too_hard = job->too_hard || s->too_hard;
        const char *name = s->too_hard ? stacks_text(s->stacks, s->hard, &size) : NULL;
        if (name)
            snprintf(job->name, sizeof job->name, "%.*s", (int)(size < 60 ? size : 60), name);
    }
    while (idmap_next(&s->goroutines, &cursor, &id, &value))
        free(((selected_goroutine *)value)->regions);
    idmap_free(&s->goroutines);
    idmap_free(&s->tasks);
    matcher_free(&s->function);
}

/* ---- functions --------------------------------------------------------------------------------
 */

static bool matched(selector *s, bool matches)
{
    s->failed = s->failed || s->function.failed;
    s->too_hard = s->function.too_hard;
    s->hard = s->function.hard;
    return matches;
}

static bool name_matches(selector *s, uint32_t name)
{
    return matched(s, !selector_ends(s) && matcher_name(&s->function, name));
}

/* Whether a frame of the stack matches. */
static bool stack_matches(selector *s, uint32_t stack)
{
    return matched(s, matcher_stack(&s->function, stack));
}

static uint32_t stack_of(selector *s, uint64_t id)
{
    uint32_t stack = stacks_of(s->stacks, id);
    s->failed = s->failed || s->stacks->failed;
    return stack;
}

static bool event_stack_matches(selector *s, const gotrace_event *e)
{
    return stack_matches(s, stack_of(s, e->stack)) ||
           (s->has_starts && stack_matches(s, stack_of(s, gotrace_event_start_stack(e))));
}

/* ---- goroutines -------------------------------------------------------------------------------
 */

static selected_goroutine *goroutine_of(selector *s, uint64_t id)
{
    selected_goroutine *g = idmap_insert(&s->goroutines, id);
    s->failed = s->failed || !g;
    return g;
}

static void forget_goroutine(selector *s, uint64_t id)
{
    selected_goroutine *g = idmap_find(&s->goroutines, id);
    if (!g)
        return;
    free(g->regions);
    idmap_remove(&s->goroutines, id);
}

/* Whether the subject of an event is a goroutine or a proc: one whose state changes, or that a
 * range is about. */
static gotrace_resource subject_kind(const selector *s, const gotrace_event *e)
{
    bool ranges = e->kind == GOTRACE_KIND_RANGE_BEGIN || e->kind == GOTRACE_KIND_RANGE_END ||
                  e->kind == GOTRACE_KIND_RANGE_ACTIVE;
    if (e->kind == GOTRACE_KIND_TRANSITION)
        return (gotrace_resource)e->resource;
    /* Until 1.21 a range has no subject. */
    if (ranges && s->source->generation != 0)
        return gotrace_range_spec_of((gotrace_range)e->range)->subject;
    return GOTRACE_RESOURCE_NONE;
}

/* A goroutine is created: it belongs to the task of its creator's innermost region, as in Go's
 * summaries. */
static void create(selector *s, const gotrace_event *e)
{
    const selected_goroutine *creator = e->goroutine ? idmap_find(&s->goroutines, e->goroutine)
                                                     : NULL;
    bool inherits = creator && (creator->depth > 0 ? creator->regions[creator->depth - 1] & OF_TASK
                                                   : creator->inherits);
    forget_goroutine(s, e->subject);
    selected_goroutine *g = inherits ? goroutine_of(s, e->subject) : NULL;
    if (g)
        g->inherits = true;
}

/* A transition of a goroutine may have the stack in which it starts. */
static void find_start(selector *s, const gotrace_event *e)
{
    uint64_t id = start_stack_of(e, e->subject);
    if (id == 0)
        return;
    selected_goroutine *g = goroutine_of(s, e->subject);
    if (!g || g->named)
        return;
    uint32_t name = stacks_root(s->stacks, stack_of(s, id));
    if (name) {
        g->starts = name_matches(s, name);
        g->named = !s->beginning;
    }
}

/* ---- tasks and regions ------------------------------------------------------------------------
 */

static bool is_listed_task(const selector *s, uint64_t task)
{
    return task != 0 &&
           (select_has_id(&s->what->ids[SELECT_TASK], task) || idmap_find(&s->tasks, task));
}

static bool is_listed_name(const selector *s, select_by by, const gotrace_event *e)
{
    const gotrace_details *details = gotrace_event_details(e);
    return select_has_name(&s->what->names[by], details->text, details->text_size);
}

/* Whether it is an event of a listed task: it begins or ends, has a log or a region. */
static bool is_of_task(const selector *s, const gotrace_event *e)
{
    switch ((gotrace_kind)e->kind) {
    case GOTRACE_KIND_TASK_BEGIN:
    case GOTRACE_KIND_TASK_END:
        return is_listed_task(s, e->subject) || is_listed_name(s, SELECT_TASK, e);
    case GOTRACE_KIND_REGION_BEGIN:
    case GOTRACE_KIND_REGION_END:
    case GOTRACE_KIND_LOG: return is_listed_task(s, e->subject);
    case GOTRACE_KIND_NONE:
    case GOTRACE_KIND_TRANSITION:
    case GOTRACE_KIND_SYSCALL:
    case GOTRACE_KIND_METRIC:
    case GOTRACE_KIND_LABEL:
    case GOTRACE_KIND_RANGE_BEGIN:
    case GOTRACE_KIND_RANGE_END:
    case GOTRACE_KIND_RANGE_ACTIVE:
    case GOTRACE_KIND_SYNC:
    case GOTRACE_KIND_EXPERIMENT:
    case GOTRACE_KIND_SAMPLE: break; /* they have no task */
    }
    return false;
}

static bool is_of_region(const selector *s, const gotrace_event *e)
{
    return (e->kind == GOTRACE_KIND_REGION_BEGIN || e->kind == GOTRACE_KIND_REGION_END) &&
           is_listed_name(s, SELECT_REGION, e);
}

static void begin_region(selector *s, const gotrace_event *e)
{
    selected_goroutine *g = e->goroutine ? goroutine_of(s, e->goroutine) : NULL;
    uint8_t *regions = g ? vector_room(g->regions, &g->room, g->depth, 1) : NULL;
    if (!g)
        return;
    if (!regions) {
        s->failed = true;
        return;
    }
    bool of_task = is_of_task(s, e), of_region = is_of_region(s, e);
    g->regions = regions;
    regions[g->depth++] = (of_task ? OF_TASK : 0) | (of_region ? OF_REGION : 0);
    g->in_task += of_task;
    g->in_region += of_region;
}

static void end_region(selector *s, const gotrace_event *e)
{
    selected_goroutine *g = e->goroutine ? idmap_find(&s->goroutines, e->goroutine) : NULL;
    if (!g || g->depth == 0)
        return;
    uint8_t was = g->regions[--g->depth];
    g->in_task -= was & OF_TASK ? 1 : 0;
    g->in_region -= was & OF_REGION ? 1 : 0;
}

static void begin_task(selector *s, const gotrace_event *e)
{
    if (!is_listed_name(s, SELECT_TASK, e))
        idmap_remove(&s->tasks, e->subject);
    else if (!idmap_insert(&s->tasks, e->subject))
        s->failed = true;
}

/* ---- events -----------------------------------------------------------------------------------
 */

static bool changes_goroutine(const gotrace_event *e)
{
    return e->kind == GOTRACE_KIND_TRANSITION && e->resource == GOTRACE_RESOURCE_GOROUTINE &&
           e->subject != 0;
}

/* What the event itself has already. */
static void follow_before(selector *s, const gotrace_event *e)
{
    unsigned given = s->what->given;
    if (changes_goroutine(e) && e->from == GOTRACE_STATE_NOT_EXIST)
        create(s, e);
    if ((given & SELECT_BIT(SELECT_FUNCTION)) && changes_goroutine(e) && e->from != e->to)
        find_start(s, e);
    if (states_beginning_ends(e))
        s->beginning = false;
    if (e->kind == GOTRACE_KIND_TASK_BEGIN && (given & SELECT_BIT(SELECT_TASK)))
        begin_task(s, e);
    if (e->kind == GOTRACE_KIND_REGION_BEGIN &&
        (given & (SELECT_BIT(SELECT_TASK) | SELECT_BIT(SELECT_REGION))))
        begin_region(s, e);
}

/* What only the next event no longer has. */
static void follow_after(selector *s, const gotrace_event *e)
{
    if (e->flags & GOTRACE_EVENT_NO_BEGIN)
        return;
    if (e->kind == GOTRACE_KIND_REGION_END)
        end_region(s, e);
    else if (e->kind == GOTRACE_KIND_TASK_END)
        idmap_remove(&s->tasks, e->subject);
    else if (changes_goroutine(e) && e->to == GOTRACE_STATE_NOT_EXIST)
        forget_goroutine(s, e->subject);
}

/* What the event itself satisfies, whatever its goroutine. */
typedef struct own_matches {
    bool function, task, region;
} own_matches;

/* Whether a goroutine (0: none) satisfies what the event itself does not. */
static bool holds(const selector *s, uint64_t id, own_matches own)
{
    unsigned given = s->what->given;
    const selected_goroutine *g = id ? idmap_find(&s->goroutines, id) : NULL;
    if ((given & SELECT_BIT(SELECT_GOROUTINE)) &&
        !select_has_id(&s->what->ids[SELECT_GOROUTINE], id))
        return false;
    if ((given & SELECT_BIT(SELECT_FUNCTION)) && !own.function && !(g && g->starts))
        return false;
    if ((given & SELECT_BIT(SELECT_TASK)) && !own.task && !(g && (g->inherits || g->in_task > 0)))
        return false;
    return !(given & SELECT_BIT(SELECT_REGION)) || own.region || (g && g->in_region > 0);
}

static bool is_on_proc(const selector *s, const gotrace_event *e)
{
    const select_ids *ids = &s->what->ids[SELECT_PROC];
    return (e->proc >= 0 && select_has_id(ids, (uint64_t)e->proc)) ||
           (subject_kind(s, e) == GOTRACE_RESOURCE_PROC && (int64_t)e->subject >= 0 &&
            select_has_id(ids, e->subject));
}

bool selector_is_there(const selector *s, const gotrace_event *e)
{
    unsigned given = s->what->given;
    if ((given & SELECT_BIT(SELECT_PROC)) && !is_on_proc(s, e))
        return false;
    if ((given & SELECT_BIT(SELECT_THREAD)) &&
        (e->thread < 0 || !select_has_id(&s->what->ids[SELECT_THREAD], (uint64_t)e->thread)))
        return false;
    return !(given & SELECT_BIT(SELECT_GENERATION)) ||
           select_has_id(&s->what->ids[SELECT_GENERATION], s->source->generation);
}

static bool happens_where(const selector *s, const gotrace_event *e)
{
    return e->time >= s->range.from && e->time < s->range.until && selector_is_there(s, e);
}

static bool is_selected(selector *s, const gotrace_event *e)
{
    unsigned given = s->what->given;
    if (!happens_where(s, e))
        return false;
    if (!(given & SELECT_OF_GOROUTINES))
        return true;
    own_matches own = {.function = (given & SELECT_BIT(SELECT_FUNCTION)) &&
                                   event_stack_matches(s, e),
                       .task = (given & SELECT_BIT(SELECT_TASK)) && is_of_task(s, e),
                       .region = (given & SELECT_BIT(SELECT_REGION)) && is_of_region(s, e)};
    uint64_t subject = subject_kind(s, e) == GOTRACE_RESOURCE_GOROUTINE ? e->subject : 0;
    return holds(s, e->goroutine, own) ||
           (subject && subject != e->goroutine && holds(s, subject, own));
}

/* Passes the goroutines that satisfy the criteria at the event to add. */
static void add_goroutines(selector *s, const gotrace_event *e)
{
    unsigned given = s->what->given;
    bool changes = changes_goroutine(e), has_function = given & SELECT_BIT(SELECT_FUNCTION);
    /* A goroutine that changes the state of a proc need not run on it. */
    if ((given & SELECT_BIT(SELECT_PROC)) &&
        !(e->proc >= 0 && select_has_id(&s->what->ids[SELECT_PROC], (uint64_t)e->proc)))
        return;
    /* The stack of an event that reports a state is that of the subject. */
    bool own_stack = has_function &&
                     !(changes && (e->flags & GOTRACE_EVENT_INITIAL) && e->subject != e->goroutine);
    own_matches own = {.function = own_stack && stack_matches(s, stack_of(s, e->stack)),
                       .task = (given & SELECT_BIT(SELECT_TASK)) && is_of_task(s, e),
                       .region = (given & SELECT_BIT(SELECT_REGION)) && is_of_region(s, e)};
    if (e->goroutine && holds(s, e->goroutine, own))
        s->add(s->ctx, e->goroutine);
    if (!changes || e->subject == e->goroutine)
        return;
    /* Of what happens to it elsewhere, only its start is on the event's proc and thread. */
    if ((given & (SELECT_BIT(SELECT_PROC) | SELECT_BIT(SELECT_THREAD))) &&
        e->to != GOTRACE_STATE_RUNNING)
        return;
    uint64_t start = start_stack_of(e, e->subject);
    bool starts = has_function && (gotrace_event_start_stack(e) == 0 || s->has_starts) && start &&
                  stack_matches(s, stack_of(s, start));
    if (holds(s, e->subject, (own_matches){.function = starts}))
        s->add(s->ctx, e->subject);
}

bool selector_follow(selector *s, const gotrace_event *e)
{
    bool follows = s->what->given & (SELECT_OF_GOROUTINES & ~SELECT_BIT(SELECT_GOROUTINE));
    if (follows)
        follow_before(s, e);
    bool selected = is_selected(s, e) && !selector_ends(s);
    if (s->add && happens_where(s, e))
        add_goroutines(s, e);
    if (follows)
        follow_after(s, e);
    s->count += selected;
    return selected;
}

void selector_add_goroutines(selector *s, void (*add)(void *ctx, uint64_t id), void *ctx)
{
    size_t cursor = 0;
    uint64_t id;
    void *value;
    s->add = add;
    s->ctx = ctx;
    /* What is on a proc, or in a generation, is seen from the next events. */
    if (s->what->given & SELECT_OF_PLACES)
        return;
    while (idmap_next(&s->goroutines, &cursor, &id, &value))
        if (holds(s, id, (own_matches){0}))
            add(ctx, id);
}

bool selector_stretch(selector *s, uint64_t id, uint32_t function, uint32_t stack)
{
    own_matches own = {.function = selector_has(s, SELECT_BIT(SELECT_FUNCTION)) &&
                                   (name_matches(s, function) || stack_matches(s, stack))};
    return holds(s, id, own);
}
