/*
 * path.c - the walk back from the end of an interval.
 *
 * What a goroutine waited for is the path of the goroutine that ended the wait, back to the moment
 * when the wait began. These waits are a stack of levels, so that the depth of a chain costs no
 * recursion. A step goes to a state that was recorded earlier, or, at the end of a level, back to
 * the wait at an earlier time: of all steps at one time, none repeats, so their number is at most
 * that of the states in the interval, also if damaged events make goroutines wait for each other.
 */
#include "formats/analyse/path.h"

#include <errno.h>
#include <string.h>

#include "formats/common/vector.h"

const char *const path_part_names[PATH_PART_KINDS] = {
#define PATH_NAME(name, text, title) [PATH_##name] = text,
    PATH_PARTS(PATH_NAME)
#undef PATH_NAME
};

const char *const path_part_titles[PATH_PART_KINDS] = {
#define PATH_TITLE(name, text, title) [PATH_##name] = title,
    PATH_PARTS(PATH_TITLE)
#undef PATH_TITLE
};

/* Goroutines of a path whose start functions are remembered, because their first states were
 * recorded before the function was known. */
enum { KNOWN_FUNCTIONS = 1 << 16 };

/* A wait that is being explained. */
struct path_level {
    uint32_t wait;      /* the goroutine's state */
    int64_t begin, end; /* begin: not before that of the level around it */
    uint64_t cause;
};

/* Where the walk is: at that time of that state. */
typedef struct position {
    int64_t time;
    int64_t begin; /* of the interval */
    uint32_t record;
    uint32_t stack;     /* where the goroutine was then, if it ran */
    uint64_t cause;     /* who ended that state, if it waited */
    uint64_t goroutine; /* if record is 0 */
} position;

static path_state state_at(paths *p, uint32_t record)
{
    const path_state *state = big_array_at(&p->history, record);
    return state ? *state : (path_state){0};
}

static uint8_t kind_of(const path_state *s)
{
    switch (s->state) {
    case GOTRACE_STATE_RUNNING: return s->assist ? PATH_ASSIST : PATH_EXECUTION;
    case GOTRACE_STATE_RUNNABLE: return PATH_SCHEDULING;
    case GOTRACE_STATE_SYSCALL: return PATH_SYSCALL;
    case GOTRACE_STATE_WAITING: return PATH_WAITING;
    default: return PATH_UNKNOWN;
    }
}

/* The goroutine that caused a state; 0: none. */
static uint64_t cause_of(paths *p, const path_state *s)
{
    if (s->caused == CAUSE_SELF)
        return s->goroutine;
    return s->cause ? state_at(p, s->cause).goroutine : 0;
}

/* ---- parts ------------------------------------------------------------------------------------
 */

/* The function where a goroutine starts, which a later state may know. */
static uint32_t function_of(paths *p, uint64_t id, uint32_t function)
{
    uint32_t *known = idmap_find(&p->functions, id);
    if (function == 0)
        return known ? *known : 0;
    if (known || p->functions.count >= KNOWN_FUNCTIONS)
        return function;
    known = idmap_insert(&p->functions, id);
    if (known)
        *known = function;
    else
        p->failed = true;
    return function;
}

static void add_sum(paths *p, path_sums *sums, const path_part *part)
{
    int64_t ns = part->end - part->begin;
    sums->ns[part->kind] += ns;
    sums->counts[part->kind]++;
    if (part->kind != PATH_WAITING)
        return;
    path_reason *reason = idmap_insert(&sums->reasons, part->reason);
    if (!reason) {
        p->failed = true;
        return;
    }
    reason->reason = part->reason;
    reason->ns += ns;
}

static void clear_sums(path_sums *sums)
{
    idmap_clear(&sums->reasons);
    memset(sums->ns, 0, sizeof sums->ns);
    memset(sums->counts, 0, sizeof sums->counts);
}

static void add_part(paths *p, const path_part *part)
{
    uint32_t function = function_of(p, part->goroutine, part->function);
    path_part *made = part->begin < p->until ? big_array_add(&p->parts) : NULL;
    if (!made)
        return;
    *made = *part;
    made->end = part->end < p->until ? part->end : p->until;
    made->function = function;
    made->depth = (uint32_t)p->level_count;
    if (made->depth == 0) {
        add_sum(p, &p->own, made);
        p->divided += made->spans ? made->end - made->begin : 0;
    } else if (!made->spans) {
        add_sum(p, &p->others, made);
    }
}

/* The time from begin on is in that state. */
static void add_state(paths *p, const position *at, const path_state *s, int64_t begin)
{
    uint8_t kind = kind_of(s);
    path_part part = {.begin = begin,
                      .end = at->time,
                      .goroutine = s->goroutine,
                      .function = s->function,
                      .stack = s->stack,
                      .reason = s->reason,
                      .waits_for = s->waits_for,
                      .kind = kind};
    if (begin >= at->time)
        return;
    if (kind == PATH_EXECUTION || kind == PATH_ASSIST) {
        part.stack = at->stack;
        part.reason = 0;
    } else if (kind == PATH_WAITING) {
        part.cause = at->cause;
    } else if (kind == PATH_SCHEDULING) {
        part.cause = cause_of(p, s);
    }
    add_part(p, &part);
}

/* ---- steps ------------------------------------------------------------------------------------
 */

/* Whether something else than goroutines ends waits for this reason; which goroutine happened to
 * notice it says nothing. */
static bool ends_walk(const paths *p, uint32_t reason)
{
    static const char *const names[] = {"network", "sleep"};
    size_t size;
    const char *text = stacks_text(p->stacks, reason, &size);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == size && memcmp(names[i], text, size) == 0)
            return true;
    return false;
}

static void push_level(paths *p, const path_level *made)
{
    path_level *levels = vector_room(p->levels, &p->level_room, p->level_count, sizeof *levels);
    if (!levels) {
        p->failed = true;
        return;
    }
    p->levels = levels;
    levels[p->level_count++] = *made;
}

/* Goes from a state, at whose beginning the walk is, to the one that explains the time before. */
static void step_back(paths *p, position *at, const path_state *s, int64_t floor)
{
    at->stack = s->stack;
    at->cause = 0;
    at->goroutine = s->goroutine;
    at->record = s->before ? s->before : s->cause; /* created by that goroutine */
    if (s->before == 0)
        return;
    path_state before = state_at(p, s->before);
    if (before.state != GOTRACE_STATE_WAITING)
        return;
    at->cause = cause_of(p, s);
    if (s->cause == 0 || before.time >= at->time || ends_walk(p, before.reason))
        return;
    push_level(p, &(path_level){.wait = s->before,
                                .begin = before.time > floor ? before.time : floor,
                                .end = at->time,
                                .cause = at->cause});
    at->record = s->cause;
}

/* What the goroutine waited for is known back to the beginning of the wait: continue before it. */
static void end_level(paths *p, position *at)
{
    path_level level = p->levels[--p->level_count];
    path_state wait = state_at(p, level.wait);
    add_part(p, &(path_part){.begin = level.begin,
                             .end = level.end,
                             .goroutine = wait.goroutine,
                             .cause = level.cause,
                             .function = wait.function,
                             .reason = wait.reason,
                             .waits_for = wait.waits_for,
                             .stack = wait.stack,
                             .kind = PATH_WAITING,
                             .spans = true});
    at->record = level.wait;
    int64_t floor = p->level_count ? p->levels[p->level_count - 1].begin : at->begin;
    if (wait.time == level.begin && level.begin > floor)
        step_back(p, at, &wait, floor);
}

static void step(paths *p, position *at, int64_t floor)
{
    if (at->record == 0) {
        add_part(p, &(path_part){.begin = floor,
                                 .end = at->time,
                                 .goroutine = at->goroutine,
                                 .kind = PATH_UNKNOWN});
        at->time = floor;
        return;
    }
    path_state s = state_at(p, at->record);
    int64_t begin = s.time > floor ? s.time : floor;
    add_state(p, at, &s, begin);
    at->time = begin < at->time ? begin : at->time;
    if (at->time > floor)
        step_back(p, at, &s, floor);
}

void paths_walk(paths *p, const path_interval *i)
{
    position at = {.time = i->whole_end,
                   .begin = i->begin,
                   .record = i->record,
                   .stack = i->stack,
                   .goroutine = i->goroutine};
    int error;
    big_array_clear(&p->parts);
    clear_sums(&p->own);
    clear_sums(&p->others);
    p->divided = 0;
    idmap_clear(&p->functions);
    p->level_count = 0;
    p->until = i->end;
    function_of(p, i->goroutine, i->function);
    while (!paths_failed(p, &error) && (at.time > i->begin || p->level_count > 0)) {
        int64_t floor = p->level_count ? p->levels[p->level_count - 1].begin : i->begin;
        if (at.time <= floor && p->level_count > 0)
            end_level(p, &at);
        else
            step(p, &at, floor);
    }
}

const path_part *paths_part(paths *p, uint64_t n)
{
    return big_array_at(&p->parts, p->parts.count - 1 - n);
}
