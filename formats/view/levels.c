/* levels.c - see levels.h; the nodes of level 0. */
#include "formats/view/levels.h"

#include <errno.h>
#include <unistd.h>

#include "formats/common/spool.h"
#include "formats/common/vector.h"
#include "formats/view/node.h"

void levels_init(levels *l)
{
    *l = (levels){.fd = -1,
                  .node = 1,
                  .most_items = LEVEL_ITEMS,
                  .most_above = LEVEL_ABOVE,
                  .most_sums = LEVEL_SUMS,
                  .most_listed = LISTED_MOST};
    for (size_t n = 0; n < LEVELS_MOST; n++)
        l->level[n].begin = INT64_MIN;
}

void levels_free(levels *l)
{
    for (size_t n = 0; n < LEVELS_MOST; n++) {
        free(l->level[n].items);
        free(l->level[n].sums);
        free(l->level[n].nodes);
    }
    free(l->tracks);
    free(l->track_of);
    free(l->order);
    free(l->own.bytes.bytes);
    free(l->own.list);
    free(l->less.bytes.bytes);
    free(l->less.list);
    if (l->fd >= 0)
        close(l->fd);
}

/* ---- what is being filled ---------------------------------------------------------------------
 */

static bool is_crowded(const levels *l, const level *of)
{
    return of->count >= l->most_above || of->sum_count >= l->most_sums;
}

static bool add_track(levels *l, level_place *place, const level_item *item)
{
    level_track *list = vector_room(l->tracks, &l->track_room, l->track_count, sizeof *list);
    if (!list)
        return levels_fail(l, ENOMEM);
    l->tracks = list;
    *place = (level_place){l->node, (uint32_t)l->track_count};
    list[l->track_count++] = (level_track){.id = item->id, .kind = item->kind};
    return true;
}

/* Counts the item in its track of the node of level 0. */
static inline bool count_in_track(levels *l, level_place *place, const level_item *item)
{
    if (place->node != l->node && !add_track(l, place, item))
        return false;
    level_track *t = &l->tracks[place->track];
    t->count++;
    t->group = item->group | (t->group & ~TRACK_GROUP);
    l->track_of[l->level[0].count] = place->track;
    return true;
}

static bool make_room(levels *l, level *of)
{
    level_item *items = l->error ? NULL
                                 : vector_room(of->items, &of->room, of->count, sizeof *items);
    uint32_t *numbers = l->track_of;
    if (items)
        of->items = items;
    if (items && of == l->level)
        numbers = vector_fit(numbers, &l->track_of_room, of->room, sizeof *numbers);
    if (!items || (of == l->level && !numbers))
        return levels_fail(l, ENOMEM);
    l->track_of = numbers;
    return true;
}

static bool add_sums(levels *l, level *to, const level_sums *several, uint64_t *number)
{
    level_sums *sums = vector_room(to->sums, &to->sum_room, to->sum_count, sizeof *sums);
    if (!sums)
        return levels_fail(l, ENOMEM);
    to->sums = sums;
    *number = to->sum_count;
    sums[to->sum_count++] = *several;
    return true;
}

void levels_add(levels *l, level_place *place, const level_item *item, const level_sums *several)
{
    size_t n = 0;
    while (n < LEVELS_MOST - 1 && item->begin < l->level[n].begin)
        n++;
    level *to = &l->level[n];
    if ((l->error || to->count == to->room) && !make_room(l, to))
        return;
    level_item *made = &to->items[to->count];
    *made = *item;
    made->several = several != NULL;
    if ((n == 0 && !count_in_track(l, place, item)) ||
        (several && !add_sums(l, to, several, &made->other)))
        return;
    to->count++;
    l->crowded |= n > 0 && is_crowded(l, to);
}

static void empty_level(level *of, int64_t now)
{
    of->count = of->sum_count = 0;
    of->begin = now;
}

/* ---- nodes of level 0 -------------------------------------------------------------------------
 */

/* By kind and id, ascending, and of those in the order in which they began: a goroutine may end,
 * and another one get its id. */
static int compare_tracks(const void *left, const void *right, void *tracks)
{
    const uint32_t first = *(const uint32_t *)left, second = *(const uint32_t *)right;
    const level_track *a = (const level_track *)tracks + first;
    const level_track *b = (const level_track *)tracks + second;
    if (a->kind != b->kind)
        return a->kind - b->kind;
    return a->id != b->id ? (a->id > b->id) - (a->id < b->id) : (first > second) - (first < second);
}

/* Sets the order of the items, by track, in which each keeps theirs, and that of the tracks after
 * it. Returns the latter, of which the n-th begins at starts[n]. */
static uint32_t *sort_items(levels *l)
{
    const level *of = &l->level[0];
    uint32_t *order = vector_fit(l->order, &l->order_room, of->count + 2 * l->track_count + 1,
                                 sizeof *order);
    if (!order) {
        levels_fail(l, ENOMEM);
        return NULL;
    }
    l->order = order;
    uint32_t *starts = order + of->count, *tracks = starts + l->track_count, at = 0;
    for (size_t n = 0; n < l->track_count; n++) {
        starts[n] = at;
        at += l->tracks[n].count;
        tracks[n] = (uint32_t)n;
    }
    for (size_t n = 0; n < of->count; n++)
        order[starts[l->track_of[n]]++] = (uint32_t)n;
    qsort_r(tracks, l->track_count, sizeof *tracks, compare_tracks, l->tracks);
    return tracks;
}

/* Items of one track are far apart, and reading one from memory takes longer than all else. */
enum { FETCHED_AHEAD = 16 };

static void put_items(const levels *l, node_writer *own, node_writer *less, uint32_t first,
                      uint32_t end)
{
    const level *of = &l->level[0];
    view_stretch s;
    for (uint32_t n = first; n < end; n++) {
        const size_t later = n + FETCHED_AHEAD;
        __builtin_prefetch(&of->items[l->order[later < of->count ? later : n]]);
        level_stretch(of, &of->items[l->order[n]], &s);
        node_put(own, &s);
        if (less)
            node_put(less, &s);
    }
}

/* Writes what is stored of the n-th of the tracks, and of those after it with the same id. ends:
 * where in the order their items end. Returns how many there are. */
static size_t put_track(levels *l, node_writer *own, node_writer *less, const uint32_t *tracks,
                        size_t n, const uint32_t *ends)
{
    const level_track *t = &l->tracks[tracks[n]];
    uint32_t group = 0;
    uint64_t items = 0;
    size_t count = 0;
    for (; n + count < l->track_count; count++) {
        const level_track *same = &l->tracks[tracks[n + count]];
        if (same->kind != t->kind || same->id != t->id)
            break;
        group = same->group | (group & ~TRACK_GROUP);
        items += same->count;
    }
    if (items <= FEW_STRETCHES || t->kind >= VIEW_WAKES)
        less = NULL;
    node_begin_track(own, t->kind, t->id, group);
    if (less)
        node_begin_track(less, t->kind, t->id, group);
    for (size_t i = n; i < n + count; i++)
        put_items(l, own, less, ends[tracks[i]] - l->tracks[tracks[i]].count, ends[tracks[i]]);
    node_end_track(own);
    if (less)
        node_end_track(less);
    return count;
}

static void end_lowest(levels *l, int64_t now)
{
    level *of = &l->level[0];
    view_node node = {.begin = of->begin, .end = now, .shift = node_shift(of->begin, now)};
    const uint32_t *tracks = sort_items(l), *ends = l->order + of->count;
    node_writer own = {.levels = l, .node = &node, .to = &l->own};
    node_writer less = {.levels = l, .node = &node, .to = &l->less, .less = true, .waits = true};
    if (!tracks)
        return;
    node_begin(&own);
    node_begin(&less);
    for (size_t n = 0; n < l->track_count;)
        n += put_track(l, &own, &less, tracks, n, ends);
    node_end(&own, &node.own);
    node_end(&less, &node.less);
    levels_add_node(l, 0, &node);
    empty_level(of, now);
    l->track_count = 0;
    l->node++;
}

/* ---- all levels -------------------------------------------------------------------------------
 */

static size_t without_parent(const level *of)
{
    return of->node_count - of->with_parent;
}

static void end_above(levels *l, size_t n, int64_t now)
{
    level *of = &l->level[n];
    node_merge(l, n, now);
    if (!l->error)
        empty_level(of, now);
}

void levels_end_node(levels *l, int64_t now)
{
    if (l->error)
        return;
    size_t top = 0;
    for (size_t n = 1; n < LEVELS_MOST - 1; n++)
        if (is_crowded(l, &l->level[n]))
            top = n;
    end_lowest(l, now);
    for (size_t n = 1; n < LEVELS_MOST - 1 && !l->error; n++)
        if (n <= top || without_parent(&l->level[n - 1]) >= LEVEL_CHILDREN)
            end_above(l, n, now);
        else
            break;
    l->crowded = false;
}

void levels_end(levels *l, int64_t now)
{
    size_t top = 0;
    if (l->error)
        return;
    end_lowest(l, now);
    for (size_t n = 1; n < LEVELS_MOST; n++)
        if (l->level[n].count > 0 || l->level[n].node_count > 0)
            top = n;
    for (size_t n = 1; n < LEVELS_MOST && !l->error; n++)
        if (n <= top || without_parent(&l->level[n - 1]) > 1)
            end_above(l, n, now);
}
