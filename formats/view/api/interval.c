/* interval.c - what a track does at a time: the interval, what caused it, and what it caused. */
#include <inttypes.h>

#include "formats/view/api/answer.h"

enum { WAKES_SHOWN = 20 };

/* The interval that is asked for, and the first one after it. */
typedef struct sought {
    int64_t at;
    view_stretch found, next;
    bool has_found, has_next;
} sought;

static bool is_at(const view_stretch *s, int64_t at)
{
    return s->begin <= at && (at < s->end || s->begin == at);
}

/* Of several, one that takes time. */
static bool find_interval(void *ctx, const view_stretch *s)
{
    sought *to = ctx;
    if (is_at(s, to->at) && (!to->has_found || to->found.end == to->found.begin)) {
        to->found = *s;
        to->has_found = true;
    }
    return true;
}

static bool find_next(void *ctx, const view_stretch *s)
{
    sought *to = ctx;
    to->has_next = s->begin == to->found.end && s->end > s->begin;
    to->next = *s;
    return !to->has_next;
}

static int64_t after(int64_t time)
{
    return time < INT64_MAX ? time + 1 : time;
}

static bool find_stretches(view *v, const view_track *t, sought *to)
{
    const view_window own = {to->at, after(to->at), 0};
    if (!view_stretches(v, t, &own, find_interval, to))
        return false;
    const view_window next = {to->found.end, after(to->found.end), 0};
    return !to->has_found || view_stretches(v, t, &next, find_next, to);
}

/* ---- goroutines and procs ---------------------------------------------------------------------
 */

/* A goroutine, and its name, as members of an object. */
static void put_goroutine(answer *q, uint64_t id, int64_t time)
{
    uint32_t group;
    view *v = q->api->index;
    q->failed |= !view_group_of(v, VIEW_GOROUTINE, id, time, &group);
    out_str(q->out, "\"goroutine\":");
    put_id(q->out, id);
    out_str(q->out, ",\"name\":");
    put_name(q->out, view_names(v), q->failed ? 0 : group);
    put_label(q->out, v, id);
}

/* Who made it runnable, or created it. */
static void put_cause(answer *q, const view_track *t, const view_stretch *s)
{
    out_str(q->out, ",\"cause\":");
    if (t->kind != VIEW_GOROUTINE || s->other == 0) {
        out_str(q->out, "null");
        return;
    }
    out_char(q->out, '{');
    put_goroutine(q, s->other, s->begin);
    out_printf(q->out, ",\"stack\":%" PRIu32 "}", s->stack);
}

typedef struct wakes {
    answer *q;
    uint64_t count;
} wakes;

static bool put_wake(void *ctx, const view_stretch *s)
{
    wakes *to = ctx;
    out *o = to->q->out;
    if (to->count++ < WAKES_SHOWN) {
        out_str(o, to->count > 1 ? ",{" : "{");
        put_goroutine(to->q, s->other, s->begin);
        out_printf(o, ",\"time\":%" PRId64 ",\"stack\":%" PRIu32 "}", s->begin, s->stack);
    }
    return true;
}

static void put_wakes(answer *q, const view_track *t, const view_stretch *s)
{
    const view_track own = {.kind = VIEW_WAKES, .id = t->id};
    const view_window w = {s->begin, s->end > s->begin ? s->end : after(s->end), 0};
    wakes to = {.q = q};
    out_str(q->out, ",\"wakes\":[");
    if (t->kind == VIEW_GOROUTINE)
        q->failed |= !view_stretches(q->api->index, &own, &w, put_wake, &to);
    out_printf(q->out, "],\"wake_count\":%" PRIu64, to.count);
}

/* The proc on which a goroutine is in that stretch. */
typedef struct proc_search {
    view *view;
    const view_stretch *of;
    uint64_t goroutine, proc;
    bool found, here, failed;
} proc_search;

static bool compare_stretch(void *ctx, const view_stretch *s)
{
    proc_search *p = ctx;
    p->here = s->begin == p->of->begin && s->other == p->goroutine;
    return !p->here;
}

static bool search_proc(void *ctx, const view_listed *t)
{
    proc_search *p = ctx;
    const view_window w = {p->of->begin, after(p->of->begin), 0};
    p->failed = !view_stretches(p->view, &t->track, &w, compare_stretch, p);
    if (p->here) {
        p->found = true;
        p->proc = t->track.id;
    }
    return !p->failed && !p->found;
}

static void put_proc(answer *q, const view_track *t, const view_stretch *s)
{
    const view_window w = {s->begin, after(s->begin), 0};
    proc_search p = {.view = q->api->index, .of = s, .goroutine = t->id};
    if (t->kind == VIEW_GOROUTINE &&
        (s->state == DO_RUN || s->state == DO_ASSIST || s->state == DO_SYSCALL))
        q->failed |= !view_list(p.view, VIEW_PROC, UINT32_MAX, &w, search_proc, &p) || p.failed;
    if (t->kind == VIEW_THREAD && s->state == DO_RUN) {
        p.found = true;
        p.proc = s->other;
    }
    out_str(q->out, ",\"proc\":");
    if (p.found)
        put_id(q->out, p.proc);
    else
        out_str(q->out, "null");
}

/* The goroutine that is there; the name of the track is then that of the goroutine. */
static bool shows_goroutine(const view_track *t, const view_stretch *s)
{
    return s->other && (t->kind == VIEW_PROC || (t->kind == VIEW_THREAD && s->state != DO_RUN) ||
                        t->kind == VIEW_SAMPLES || t->kind == VIEW_WAKES || t->kind == VIEW_RANGE);
}

/* ---- the answer -------------------------------------------------------------------------------
 */

static void put_times(out *o, const view_stretch *s)
{
    out_printf(o, ",\"count\":%" PRIu64 ",\"ns\":[", s->count);
    for (size_t k = 0; k < DO_KINDS; k++)
        out_printf(o, "%s%" PRId64, k ? "," : "", s->ns[k]);
    out_str(o, "]");
}

static void put_interval(answer *q, view_track *t, const sought *to)
{
    const view_stretch *s = &to->found;
    const stacks *names = view_names(q->api->index);
    out *o = q->out;
    out_printf(o, "{\"begin\":%" PRId64 ",\"end\":%" PRId64 ",\"state\":%u,\"reason\":", s->begin,
               s->end, (unsigned)s->state);
    put_name(o, names, s->reason);
    out_printf(o, ",\"stack\":%" PRIu32 ",\"end_stack\":%" PRIu32, s->stack,
               to->has_next ? to->next.stack : 0);
    if (s->summed)
        put_times(o, s);
    out_str(o, ",\"other\":");
    put_id(o, s->other);
    put_cause(q, t, s);
    put_wakes(q, t, s);
    put_proc(q, t, s);
    out_char(o, ',');
    if (shows_goroutine(t, s)) {
        put_goroutine(q, s->other, s->begin);
    } else {
        q->failed |= !view_group_of(q->api->index, t->kind, t->id, s->begin, &t->group);
        out_str(o, "\"goroutine\":null,\"name\":");
        put_track_name(o, names, t);
        if (view_is_of_goroutine(t->kind))
            put_label(o, q->api->index, t->id);
    }
    out_char(o, '}');
}

void answer_interval(answer *q)
{
    static const char *const needed[] = {"kind", "id", "at"};
    arguments *a = &q->arguments;
    uint64_t kind = 0;
    view_track t = {0};
    sought to = {0};
    for (size_t n = 0; n < sizeof needed / sizeof *needed; n++)
        arguments_need(a, needed[n]);
    arguments_number(a, "kind", 0, VIEW_KINDS - 1, &kind);
    arguments_number(a, "id", 0, UINT64_MAX, &t.id);
    arguments_time(a, "at", &to.at);
    if (!answer_can(q))
        return;
    t.kind = (view_kind)kind;
    view_lock(q->api->index);
    q->failed = !find_stretches(q->api->index, &t, &to);
    if (!q->failed && to.has_found)
        put_interval(q, &t, &to);
    view_unlock(q->api->index);
    if (!to.has_found)
        answer_not_found(q, "the track does nothing at that time");
}
