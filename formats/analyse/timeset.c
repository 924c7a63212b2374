#include "formats/analyse/timeset.h"

#include <stdlib.h>

#include "formats/common/vector.h"

static bool append(timespans *t, timespan made)
{
    timespan *items = vector_room(t->items, &t->room, t->count, sizeof *items);
    if (!items)
        return false;
    t->items = items;
    items[t->count++] = made;
    return true;
}

/* Joins what is appended with what it touches at the end. */
static bool join(timespans *t, timespan made)
{
    while (t->count > 0 && t->items[t->count - 1].end >= made.begin &&
           t->items[t->count - 1].begin <= made.end) {
        timespan last = t->items[--t->count];
        made.begin = last.begin < made.begin ? last.begin : made.begin;
        made.end = last.end > made.end ? last.end : made.end;
    }
    return append(t, made);
}

void timeset_add(timeset *s, int64_t begin, int64_t end)
{
    bool added = begin == end ? join(&s->instants, (timespan){begin, end})
                              : join(&s->spans, (timespan){begin, end});
    s->failed = s->failed || !added;
}

static int by_begin(const void *a, const void *b)
{
    const timespan *x = a, *y = b;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static void seal(timespans *t)
{
    size_t count = t->count;
    if (count == 0)
        return;
    qsort(t->items, count, sizeof *t->items, by_begin);
    t->count = 0;
    /* There is room: no more are appended than were there. */
    for (size_t i = 0; i < count; i++)
        join(t, t->items[i]);
}

void timeset_seal(timeset *s)
{
    seal(&s->spans);
    seal(&s->instants);
}

/* Whether any has a point in common with begin <= time <= end; with apart: more than one. */
static bool overlaps(const timespans *t, int64_t begin, int64_t end, bool apart)
{
    size_t low = 0, high = t->count;
    /* The first one that ends late enough. */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (t->items[middle].end < begin || (apart && t->items[middle].end == begin))
            low = middle + 1;
        else
            high = middle;
    }
    return low < t->count && (t->items[low].begin < end || (!apart && t->items[low].begin == end));
}

bool timeset_overlaps(const timeset *s, int64_t begin, int64_t end)
{
    return overlaps(&s->spans, begin, end, begin != end) ||
           overlaps(&s->instants, begin, end, false);
}

void timeset_free(timeset *s)
{
    free(s->spans.items);
    free(s->instants.items);
    *s = (timeset){0};
}
