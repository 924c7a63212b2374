/*
 * path.c - what each nanosecond of a goroutine went into, from the index.
 *
 * The walk is that of formats/analyse/path.c, from the end back to the beginning: while the
 * goroutine waited, it follows the one that ended the wait. The states are those of the index,
 * loaded some at a time; the walk never goes forward in time.
 *
 * The result is that of `gotrace why`, with these exceptions: where the goroutine ended, the stack
 * is not known; of several states that take no time at the same time, the index does not know the
 * order; a goroutine that got the id of one that had ended continues it if it was not created by
 * another one.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "formats/common/idmap.h"
#include "formats/common/vector.h"
#include "formats/view/api/answer.h"

enum {
    PARTS_MOST = 10000,
    STATES_MOST = 1000 * 1000, /* loaded, 40 bytes each */
    LOADS_MOST = 20000,
    EVENTS_LOADED = 64 * 1024, /* in about the time of which states are loaded at once */
    NO_STATE = UINT8_MAX       /* it is not known what the goroutine did */
};

typedef struct past_state {
    int64_t begin, end;
    uint64_t other;
    uint32_t reason, stack;
    uint8_t state; /* activity_kind */
} past_state;

/* What a goroutine does, the last first. */
typedef struct history {
    bool known;
    uint64_t goroutine;
    uint32_t group;
    int64_t loaded; /* those that begin from then on */
    bool at_loaded; /* and not all that take no time then */
    bool all;       /* there are no others in the time */
    past_state *list;
    size_t count, room;
    size_t current; /* the walk does not return to a later one */
} history;

/* A wait that is being explained. */
typedef struct level {
    history *of;
    size_t wait;
    int64_t begin, end;
} level;

typedef struct path_row {
    history *of;
    int64_t begin, end;
    uint32_t reason, stack, depth;
    uint8_t state;
    bool spans;
} path_row;

typedef struct path_walk {
    view *view;
    int64_t from, until;
    int64_t step;    /* ns of which states are loaded at once */
    idmap histories; /* of goroutines */
    size_t loads, states;
    level *levels;
    size_t level_count, level_room;
    path_row *parts; /* the last first */
    size_t part_count, part_room;
    bool failed, too_long;
} path_walk;

/* Where the walk is. */
typedef struct place {
    history *of;
    size_t n;     /* of its states */
    bool unknown; /* before that state, or without one */
    int64_t time;
    uint32_t stack; /* where the goroutine was then, if it ran */
} place;

static bool is_wait(uint8_t kind)
{
    return kind >= DO_LOCK;
}

/* ---- states -----------------------------------------------------------------------------------
 */

typedef struct loading {
    path_walk *p;
    history *h;
    int64_t from, until;
    size_t first; /* of those that are loaded */
    bool earlier; /* one began before `from` */
} loading;

static bool load_state(void *ctx, const view_stretch *s)
{
    loading *l = ctx;
    history *h = l->h;
    const bool takes_no_time = s->begin == s->end;
    /* What begins at `until` or later was loaded before, except what was left out then. */
    if (s->begin >= l->until && !(s->begin == l->until && takes_no_time && h->at_loaded))
        return true;
    past_state *list = vector_room(h->list, &h->room, h->count, sizeof *list);
    if (!list) {
        l->p->failed = true;
        return false;
    }
    h->list = list;
    list[h->count++] = (past_state){.begin = s->begin,
                                    .end = s->end,
                                    .other = s->other,
                                    .reason = s->reason,
                                    .stack = s->stack,
                                    .state = s->state};
    l->earlier |= s->begin < l->from;
    return true;
}

static void reverse(past_state *list, size_t count)
{
    for (size_t n = 0; n < count / 2; n++) {
        const past_state kept = list[n];
        list[n] = list[count - 1 - n];
        list[count - 1 - n] = kept;
    }
}

static int64_t earlier(int64_t time, int64_t ns, int64_t least)
{
    int64_t result;
    return __builtin_sub_overflow(time, ns, &result) || result < least ? least : result;
}

/* Loads the states before those that are known, at least one if there is one. */
static void load_states(path_walk *p, history *h)
{
    const view_track t = {.kind = VIEW_GOROUTINE, .id = h->goroutine};
    const size_t before = h->count;
    for (int64_t step = p->step; !h->all && h->count == before && !p->failed; step *= 2) {
        loading l = {.p = p, .h = h, .until = h->loaded, .first = h->count};
        l.from = earlier(h->loaded, step, p->from);
        const view_window w = {l.from, h->at_loaded ? h->loaded + 1 : h->loaded, 0};
        view_lock(p->view);
        p->failed |= w.from < w.until && !view_stretches(p->view, &t, &w, load_state, &l);
        view_unlock(p->view);
        if (h->count > l.first)
            reverse(h->list + l.first, h->count - l.first);
        h->loaded = l.earlier ? h->list[h->count - 1].begin : l.from;
        h->at_loaded = l.earlier;
        h->all = h->loaded <= p->from;
        p->loads++;
        step = step > INT64_MAX / 4 ? INT64_MAX / 4 : step;
    }
    p->states += h->count - before;
    p->too_long |= p->states > STATES_MOST || p->loads > LOADS_MOST;
}

static bool has_state(path_walk *p, history *h, size_t n)
{
    while (n >= h->count && !h->all && !p->failed)
        load_states(p, h);
    return n < h->count;
}

/* Whether both are one state, which the goroutine's status divides. For what it waits may be known
 * only from then on. */
static bool is_divided(const past_state *before, const past_state *s)
{
    return before->end == s->begin &&
           (before->state == s->state || (is_wait(before->state) && is_wait(s->state)));
}

/* The n-th state, as a whole. */
static past_state state_at(path_walk *p, history *h, size_t n)
{
    while (has_state(p, h, n + 1)) {
        past_state *const s = &h->list[n], *const before = s + 1;
        if (!is_divided(before, s))
            break;
        s->begin = before->begin;
        h->count--;
        memmove(before, before + 1, (h->count - n - 1) * sizeof *before);
    }
    return h->list[n];
}

/* The history of a goroutine, until after that time if it is not known yet. */
static history *find_history(path_walk *p, uint64_t id, int64_t time)
{
    history *h = idmap_insert(&p->histories, id);
    if (!h) {
        p->failed = true;
        return NULL;
    }
    if (h->known)
        return h;
    *h = (history){.known = true, .goroutine = id, .loaded = time < INT64_MAX ? time + 1 : time};
    view_lock(p->view);
    p->failed |= !view_group_of(p->view, VIEW_GOROUTINE, id, time, &h->group);
    view_unlock(p->view);
    return h;
}

/* Goes to the state of a goroutine at that time; false if it has none. */
static bool enter(path_walk *p, place *at, uint64_t id, int64_t time)
{
    history *h = find_history(p, id, time);
    if (!h)
        return false;
    while (has_state(p, h, h->current) && h->list[h->current].begin > time)
        h->current++;
    if (h->current >= h->count || h->list[h->current].end < time)
        return false;
    at->of = h;
    at->n = h->current;
    at->unknown = false;
    return true;
}

/* ---- parts ------------------------------------------------------------------------------------
 */

static void add_part(path_walk *p, const path_row *made)
{
    if (made->begin >= p->until || p->failed)
        return;
    path_row *list = vector_room(p->parts, &p->part_room, p->part_count, sizeof *list);
    if (!list) {
        p->failed = true;
        return;
    }
    p->parts = list;
    path_row *added = &list[p->part_count++];
    *added = *made;
    added->end = made->end < p->until ? made->end : p->until;
    added->depth = (uint32_t)p->level_count;
    p->too_long |= p->part_count >= PARTS_MOST;
}

static bool runs(uint8_t kind)
{
    return kind == DO_RUN || kind == DO_ASSIST;
}

static void add_state(path_walk *p, const place *at, const past_state *s, int64_t begin)
{
    if (begin < at->time)
        add_part(p, &(path_row){.of = at->of,
                                .begin = begin,
                                .end = at->time,
                                .reason = runs(s->state) ? 0 : s->reason,
                                .stack = runs(s->state) ? at->stack : s->stack,
                                .state = s->state});
}

/* ---- steps ------------------------------------------------------------------------------------
 */

/* Whether something else than goroutines ends waits for this reason. */
static bool ends_walk(const path_walk *p, uint32_t reason)
{
    view_lock(p->view);
    const stacks *names = view_names(p->view);
    const bool ends = stacks_name_is(names, reason, "network") ||
                      stacks_name_is(names, reason, "sleep");
    view_unlock(p->view);
    return ends;
}

static void push_level(path_walk *p, const level *made)
{
    level *list = vector_room(p->levels, &p->level_room, p->level_count, sizeof *list);
    if (!list) {
        p->failed = true;
        return;
    }
    p->levels = list;
    list[p->level_count++] = *made;
}

/* Also where several states are at one time, the walk ends. */
static void pass(history *h, size_t n)
{
    h->current = h->current > n ? h->current : n;
}

/* Goes from a state, at whose beginning the walk is, to the one that explains the time before. */
static void step_back(path_walk *p, place *at, past_state s, int64_t floor)
{
    history *const own = at->of;
    const bool has = has_state(p, own, at->n + 1);
    const past_state before = has ? state_at(p, own, at->n + 1) : (past_state){0};
    at->stack = s.stack;
    at->unknown = !has || before.end < s.begin;
    if (at->unknown) {
        /* Created by that goroutine. */
        if (s.other)
            enter(p, at, s.other, at->time);
        return;
    }
    const size_t wait = ++at->n;
    pass(own, wait);
    if (!is_wait(before.state) || s.other == 0 || before.begin >= at->time ||
        ends_walk(p, before.reason) || !enter(p, at, s.other, at->time))
        return;
    push_level(p, &(level){.of = own,
                           .wait = wait,
                           .begin = before.begin > floor ? before.begin : floor,
                           .end = at->time});
}

static void add_wait(path_walk *p, const level *l, int64_t begin)
{
    const past_state *wait = &l->of->list[l->wait];
    add_part(p, &(path_row){.of = l->of,
                            .begin = begin,
                            .end = l->end,
                            .reason = wait->reason,
                            .stack = wait->stack,
                            .state = wait->state,
                            .spans = true});
}

/* What the goroutine waited for is known back to the beginning of the wait: continue before it. */
static void end_level(path_walk *p, place *at)
{
    const level l = p->levels[--p->level_count];
    const past_state wait = state_at(p, l.of, l.wait);
    add_wait(p, &l, l.begin);
    at->of = l.of;
    at->n = l.wait;
    at->unknown = false;
    pass(l.of, l.wait);
    const int64_t floor = p->level_count ? p->levels[p->level_count - 1].begin : p->from;
    if (wait.begin == l.begin && l.begin > floor)
        step_back(p, at, wait, floor);
}

/* It is not known what the goroutine did, back to its state before that. */
static void step_unknown(path_walk *p, place *at, int64_t floor)
{
    const bool has = has_state(p, at->of, at->n + 1);
    const int64_t end = has ? at->of->list[at->n + 1].end : floor;
    const int64_t begin = end > floor ? end : floor;
    if (begin < at->time)
        add_part(p, &(path_row){.of = at->of, .begin = begin, .end = at->time, .state = NO_STATE});
    at->time = begin < at->time ? begin : at->time;
    at->unknown = !has;
    at->n += has;
    at->stack = 0;
    pass(at->of, at->n);
}

static void step(path_walk *p, place *at, int64_t floor)
{
    if (at->unknown) {
        step_unknown(p, at, floor);
        return;
    }
    const past_state s = state_at(p, at->of, at->n);
    const int64_t begin = s.begin > floor ? s.begin : floor;
    add_state(p, at, &s, begin);
    at->time = begin < at->time ? begin : at->time;
    if (at->time > floor)
        step_back(p, at, s, floor);
}

/* ---- the walk ---------------------------------------------------------------------------------
 */

static bool keep_end(void *ctx, const view_stretch *s)
{
    int64_t *end = ctx;
    *end = s->end > *end ? s->end : *end;
    return true;
}

/* Begins at the end of the goroutine's state at the end of the time: if that is a wait, what ended
 * it explains it. Returns false if there is no such state. */
static bool begin_walk(path_walk *p, place *at, uint64_t id)
{
    const view_track t = {.kind = VIEW_GOROUTINE, .id = id};
    const view_window w = {p->until - 1, p->until, 0};
    int64_t end = INT64_MIN;
    view_lock(p->view);
    p->failed = !view_stretches(p->view, &t, &w, keep_end, &end);
    view_unlock(p->view);
    history *h = !p->failed && end != INT64_MIN ? find_history(p, id, end) : NULL;
    size_t n = 0;
    while (h && has_state(p, h, n) && h->list[n].begin >= p->until)
        n++;
    if (!h || n >= h->count)
        return false;
    *at = (place){.of = h, .n = n, .time = end};
    if (n > 0) {
        const past_state next = h->list[n - 1];
        at->n = n - 1;
        if (!is_divided(&h->list[n], &next))
            step_back(p, at, next, p->from);
    }
    return true;
}

static void walk(path_walk *p, uint64_t id)
{
    place at;
    if (!begin_walk(p, &at, id))
        return;
    while (!p->failed && !p->too_long && (at.time > p->from || p->level_count > 0)) {
        const int64_t floor = p->level_count ? p->levels[p->level_count - 1].begin : p->from;
        if (at.time <= floor && p->level_count > 0)
            end_level(p, &at);
        else
            step(p, &at, floor);
    }
    /* The waits whose beginning was not reached. */
    while (p->level_count > 0 && !p->failed) {
        const level l = p->levels[--p->level_count];
        add_wait(p, &l, at.time);
    }
}

/* ---- the answer -------------------------------------------------------------------------------
 */

static void put_part(out *o, const view *v, const path_row *x)
{
    const stacks *names = view_names(v);
    out_str(o, "{\"goroutine\":");
    put_id(o, x->of->goroutine);
    out_str(o, ",\"name\":");
    put_name(o, names, x->of->group);
    put_label(o, v, x->of->goroutine);
    out_printf(o, ",\"begin\":%" PRId64 ",\"end\":%" PRId64 ",\"depth\":%" PRIu32, x->begin, x->end,
               x->depth);
    out_str(o, x->spans ? ",\"spans\":true,\"state\":" : ",\"spans\":false,\"state\":");
    if (x->state == NO_STATE)
        out_str(o, "null");
    else
        out_u64(o, x->state);
    out_str(o, ",\"reason\":");
    put_name(o, names, x->reason);
    out_printf(o, ",\"stack\":%" PRIu32 "}", x->stack);
}

static void put_parts(answer *q, const path_walk *p)
{
    view_lock(p->view);
    out_printf(q->out, "{\"complete\":%s,\"parts\":[", p->too_long ? "false" : "true");
    for (size_t n = p->part_count; n-- > 0;) {
        put_part(q->out, p->view, &p->parts[n]);
        out_str(q->out, n ? "," : "");
    }
    out_str(q->out, "]}");
    view_unlock(p->view);
}

static void free_walk(path_walk *p)
{
    size_t cursor = 0;
    uint64_t id;
    void *value;
    while (idmap_next(&p->histories, &cursor, &id, &value))
        free(((history *)value)->list);
    idmap_free(&p->histories);
    free(p->levels);
    free(p->parts);
}

/* The time in which about EVENTS_LOADED events are. */
static int64_t find_step(view *v)
{
    view_lock(v);
    const view_progress at = view_progress_of(v);
    view_unlock(v);
    const double ns = (double)at.end - (double)at.begin;
    const double step = at.events ? ns / (double)at.events * EVENTS_LOADED : 0;
    return step < 1 ? 1 : step < 1e18 ? (int64_t)step : (int64_t)1e18;
}

void answer_path(answer *q)
{
    static const char *const needed[] = {"goroutine", "from", "until"};
    arguments *a = &q->arguments;
    uint64_t id = 0;
    path_walk p = {.view = q->api->index};
    for (size_t n = 0; n < sizeof needed / sizeof *needed; n++)
        arguments_need(a, needed[n]);
    arguments_number(a, "goroutine", 0, UINT64_MAX, &id);
    arguments_time(a, "from", &p.from);
    arguments_time(a, "until", &p.until);
    if (p.until <= p.from)
        arguments_reject(a, "until", "a time after `from`, which is %" PRId64, p.from);
    if (!answer_can(q))
        return;
    p.step = find_step(p.view);
    idmap_init(&p.histories, sizeof(history));
    walk(&p, id);
    q->failed = p.failed;
    if (!p.failed)
        put_parts(q, &p);
    free_walk(&p);
}
