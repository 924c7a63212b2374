/*
 * window.c - v2: limit rebuilding to a part of the trace.
 *
 * Rebuilding reads the whole trace several times. If only a few of many generations violate rules,
 * a trace of these and of the generations that they must fit is rebuilt instead: the generation
 * before, which determines the initial states, the one after, and on both sides the nearest one
 * with GC events, since GC cycles are numbered consecutively. The result replaces them in the whole
 * trace, which is then examined; if it is not sound, the whole trace is rebuilt.
 */
#include "cmd/repair/repair.h"

/* Limit of generations searched for GC events. */
enum { FAR = 16 };

static bool has_gc(const repair *layout, const repair_generation *g)
{
    return repair_gc_of(layout, g->number).first > 0;
}

/* Choose the window [first, end) of the list; empty if nothing is broken. */
static void choose_window(const repair *layout, const repair_generations *g, repair_window *w)
{
    size_t broken = 0, last = 0;
    while (broken < g->count && !g->list[broken].broken)
        broken++;
    for (size_t i = broken; i < g->count; i++)
        last = g->list[i].broken ? i : last;
    w->first = w->end = 0;
    if (broken == g->count)
        return;
    size_t first = broken > 0 ? broken - 1 : 0, end = last + 2 < g->count ? last + 2 : g->count;
    /* The generation before may be the cause. */
    if (first > 0 && repair_blames_before(&g->list[broken]))
        first--;
    for (size_t i = 0; i < FAR && first > 0 && !has_gc(layout, &g->list[first]); i++)
        first--;
    for (size_t i = 0; i < FAR && end < g->count && !has_gc(layout, &g->list[end - 1]); i++)
        end++;
    w->first = first;
    w->end = end;
}

static size_t bytes_of(const repair_generations *g, size_t first, size_t end)
{
    return end > first ? g->list[end - 1].end - g->list[first].begin : 0;
}

/* Append generations of `from`, with their offsets adjusted. */
static bool put_moved(repair *r, const repair_generations *from, size_t first, size_t end,
                      size_t less, size_t more)
{
    for (size_t i = first; i < end; i++) {
        repair_generation moved = from->list[i];
        moved.begin = moved.begin - less + more;
        moved.end = moved.end - less + more;
        if (!repair_generation_put(r, moved))
            return false;
    }
    return true;
}

bool repair_window_open(repair *r, const parts_bytes *image, repair_window *w)
{
    const repair_generations *g = &r->generations;
    repair layout;
    *w = (repair_window){.first = 0};
    if (g->count == 0)
        return true;
    bool done = repair_lay_out(r, image, &layout);
    if (done)
        choose_window(&layout, g, w);
    parts_drop(r->memory, layout.batches, layout.capacity, sizeof *layout.batches);
    size_t size = bytes_of(g, w->first, w->end);
    /* A window of nearly all generations saves nothing. */
    if (!done || w->end <= w->first || size > image->count - image->count / 4)
        return done;
    w->whole = r->generations;
    r->generations = (repair_generations){.count = 0};
    w->open = true;
    return repair_put(r, &w->image, image->bytes, PARTS_HEADER) &&
           repair_put(r, &w->image, image->bytes + w->whole.list[w->first].begin, size) &&
           repair_complete(r, &w->image) &&
           put_moved(r, &w->whole, w->first, w->end, w->whole.list[w->first].begin, PARTS_HEADER);
}

bool repair_window_insert(repair *r, const parts_bytes *image, const repair_window *w,
                          parts_bytes *whole)
{
    const repair_generations *before = &w->whole;
    repair_generations own = r->generations;
    size_t begin = before->list[w->first].begin, end = before->list[w->end - 1].end;
    r->generations = (repair_generations){.count = 0};
    bool done = repair_put(r, whole, image->bytes, begin) &&
                put_moved(r, before, 0, w->first, 0, 0) &&
                repair_put(r, whole, w->image.bytes + PARTS_HEADER,
                           w->image.count - PARTS_HEADER) &&
                put_moved(r, &own, 0, own.count, PARTS_HEADER, begin) &&
                put_moved(r, before, w->end, before->count, end, whole->count) &&
                repair_put(r, whole, image->bytes + end, image->count - end) &&
                repair_complete(r, whole);
    repair_generations_drop(r, &own);
    return done;
}

void repair_window_close(repair *r, repair_window *w, bool inserted)
{
    if (w->open && !inserted) {
        repair_generations_drop(r, &r->generations);
        r->generations = w->whole;
    } else if (w->open) {
        repair_generations_drop(r, &w->whole);
    }
    repair_drop(r, &w->image);
    *w = (repair_window){.first = 0};
}
