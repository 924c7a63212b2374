/* window.c - the stretches and tracks that have a part in a window of time. */
#include <errno.h>

#include "formats/analyse/histogram.h"
#include "formats/common/vector.h"
#include "formats/view/index.h"
#include "formats/view/node.h"

/* Whether a time has a part in the window, or is in it. */
static bool is_in_window(const view_window *w, int64_t begin, int64_t end)
{
    return begin < w->until && (end > w->from || (end == begin && begin >= w->from));
}

/* Whether what is put together in the node cannot be seen apart in the window. */
static bool is_fine_enough(const view_node *node, const view_window *w)
{
    return node->shift < 63 && (int64_t)1 << node->shift <= w->pixel;
}

/* A failure of one question is not one of the index, and what an index that failed has can be
 * found. */
static int begin_question(view *v)
{
    const int before = v->levels.error;
    v->levels.error = 0;
    return before;
}

static bool end_question(view *v, int before, bool done)
{
    done = done && v->levels.error == 0;
    errno = v->levels.error ? v->levels.error : ENOMEM;
    v->levels.error = before;
    return done;
}

/* ---- nodes ------------------------------------------------------------------------------------
 */

/* Calls `read` for the directories in which stretches of the window are, of the node and those
 * below it: first: of the node. lowest: it is of level 0. Returns false if `read` did. */
typedef bool read_directory(void *ctx, const node_directory *of, const view_node *node,
                            const node_directory *instead);

typedef struct walk {
    view *view;
    const view_window *window;
    read_directory *read;
    void *ctx;
} walk;

static bool walk_node(const walk *w, size_t n, const view_node *node)
{
    const view_node *below = n > 0 ? w->view->levels.level[n - 1].nodes + node->first : NULL;
    if (node->begin > w->window->until || node->end < w->window->from)
        return true;
    if (is_fine_enough(node, w->window))
        return w->read(w->ctx, &node->less, node, n == 0 ? &node->own : NULL);
    bool done = w->read(w->ctx, &node->own, node, NULL);
    for (size_t i = 0; done && i < node->children; i++)
        done = walk_node(w, n - 1, &below[i]);
    return done;
}

/* All nodes without a parent, and so all. */
static bool walk_all(const walk *w)
{
    bool done = true;
    for (size_t n = LEVELS_MOST; done && n-- > 0;) {
        const level *of = &w->view->levels.level[n];
        for (size_t i = of->with_parent; done && i < of->node_count; i++)
            done = walk_node(w, n, &of->nodes[i]);
    }
    return done;
}

/* ---- one track --------------------------------------------------------------------------------
 */

typedef struct search {
    view *view;
    const view_track *track;
    const view_window *window;
    view_each_stretch *each;
    void *ctx;
    view_stretch *found;
    size_t count, room;
    bool moment_found, enough; /* there is a `moment`; `each` wants no more */
    view_stretch moment;       /* that is not passed on yet */
    node_buffer buffer;
    bool failed;
} search;

static bool pass_on_moment(search *s)
{
    s->enough = s->moment_found && !s->each(s->ctx, &s->moment);
    s->moment_found = false;
    return !s->enough;
}

/* What takes no time is found in its order, because all of it is in nodes of level 0. There may be
 * millions: those in one pixel are one, with their number. */
static bool add_moment(search *s, const view_stretch *made)
{
    const int64_t pixel = s->window->pixel;
    if (s->moment_found && pixel > 0 && made->begin / pixel == s->moment.begin / pixel) {
        s->moment.count++;
        s->moment.summed = true;
        return true;
    }
    if (!pass_on_moment(s))
        return false;
    s->moment = *made;
    stretch_complete(&s->moment);
    s->moment_found = true;
    return true;
}

static bool add_found(search *s, const view_stretch *made)
{
    if (!is_in_window(s->window, made->begin, made->end))
        return true;
    if (s->track->kind >= VIEW_WAKES)
        return add_moment(s, made);
    view_stretch *list = vector_room(s->found, &s->room, s->count, sizeof *list);
    if (!list) {
        s->failed = true;
        return false;
    }
    s->found = list;
    list[s->count] = *made;
    stretch_complete(&list[s->count++]);
    return true;
}

/* Adds the stretches of the track in a directory; where they are not in it, in the other one. */
static bool read_track(void *ctx, const node_directory *of, const view_node *node,
                       const node_directory *instead)
{
    search *s = ctx;
    levels *l = &s->view->levels;
    node_found place;
    if (!node_find(l, of, s->track->kind, s->track->id, &place) &&
        (!instead || !node_find(l, instead, s->track->kind, s->track->id, &place)))
        return l->error == 0;
    const unsigned char *at = node_read(l, &s->buffer, place.offset, place.size);
    const unsigned char *const end = at ? at + place.size : NULL;
    int64_t time = node->begin;
    view_stretch made;
    while (at && stretch_get(&at, end, &time, &made))
        if (!add_found(s, &made))
            return false;
    return at != NULL;
}

/* Those in memory, of nodes that have not ended. */
static bool read_items(search *s)
{
    view_stretch made;
    for (size_t n = 0; n < LEVELS_MOST; n++) {
        const level *of = &s->view->levels.level[n];
        for (size_t i = 0; i < of->count; i++) {
            if (of->items[i].id != s->track->id || of->items[i].kind != s->track->kind)
                continue;
            level_stretch(of, &of->items[i], &made);
            if (!add_found(s, &made))
                return false;
        }
    }
    return true;
}

static int compare_found(const void *left, const void *right)
{
    const view_stretch *a = left, *b = right;
    return a->begin != b->begin ? (a->begin > b->begin) - (a->begin < b->begin)
                                : (a->end > b->end) - (a->end < b->end);
}

/* Passes on what was found; what is too short to be seen is put together. */
static void pass_on(const search *s)
{
    const uint64_t pixel = s->window->pixel > 0 ? (uint64_t)s->window->pixel : 0;
    stretch_merger m = {.shift = pixel ? 63 - (unsigned)__builtin_clzll(pixel) : 0,
                        .highest = s->track->kind == VIEW_METRIC,
                        .each = s->each,
                        .ctx = s->ctx};
    bool done = true;
    for (size_t n = 0; done && n < s->count; n++)
        done = pixel ? stretch_merge(&m, &s->found[n]) : s->each(s->ctx, &s->found[n]);
    if (done)
        stretch_merge_end(&m);
}

bool view_stretches(view *v, const view_track *track, const view_window *window,
                    view_each_stretch *each, void *ctx)
{
    /* Moments have no less detail. */
    const view_window exact = {window->from, window->until, 0};
    const bool moments = track->kind >= VIEW_WAKES;
    search s = {.view = v, .track = track, .window = window, .each = each, .ctx = ctx};
    const walk w = {v, moments ? &exact : window, read_track, &s};
    const int before = begin_question(v);
    const bool found = (walk_all(&w) && read_items(&s) && pass_on_moment(&s)) || s.enough;
    const bool done = end_question(v, before, found);
    if (done) {
        if (s.count > 1)
            qsort(s.found, s.count, sizeof *s.found, compare_found);
        pass_on(&s);
    }
    free(s.found);
    free(s.buffer.bytes);
    return done;
}

/* ---- the group of a track ---------------------------------------------------------------------
 */

typedef struct group_search {
    view *view;
    view_kind kind;
    uint64_t id;
    uint32_t group;
} group_search;

/* Ends the walk when the group is found. */
static bool read_group(void *ctx, const node_directory *of, const view_node *node,
                       const node_directory *instead)
{
    group_search *s = ctx;
    node_found place;
    (void)node;
    (void)instead;
    if (node_find(&s->view->levels, of, s->kind, s->id, &place))
        s->group = place.group & TRACK_GROUP;
    return s->group == 0 && s->view->levels.error == 0;
}

static void search_group(group_search *s, int64_t from, int64_t until)
{
    const view_window exact = {from, until, 0};
    walk_all(&(walk){s->view, &exact, read_group, s});
    for (size_t n = 0; s->group == 0 && n < LEVELS_MOST; n++) {
        const level *of = &s->view->levels.level[n];
        for (size_t i = 0; s->group == 0 && i < of->count; i++)
            if (of->items[i].id == s->id && of->items[i].kind == s->kind)
                s->group = of->items[i].group & TRACK_GROUP;
    }
}

bool view_group_of(view *v, view_kind kind, uint64_t id, int64_t time, uint32_t *group)
{
    group_search s = {v, kind, id, 0};
    const int before = begin_question(v);
    search_group(&s, time, time);
    /* Where a goroutine starts may be known only later. */
    if (s.group == 0)
        search_group(&s, INT64_MIN, INT64_MAX);
    *group = s.group;
    return end_question(v, before, true);
}

/* ---- all tracks of a kind ---------------------------------------------------------------------
 */

/* Tracks are found by their ids, less than levels.most_listed at a time: the lowest of those that
 * are left, from `first` to `last`. */
typedef struct listing {
    view *view;
    view_kind kind;
    uint32_t group;
    const view_window *window;
    uint64_t first, last;
    idmap tracks; /* view_listed */
} listing;

/* There are too many: leaves out the higher half. */
static bool list_less(listing *l)
{
    const size_t count = l->tracks.count;
    uint64_t *ids = idmap_sorted_keys(&l->tracks);
    if (!ids)
        return false;
    l->last = ids[count / 2 - 1];
    for (size_t n = count / 2; n < count; n++)
        idmap_remove(&l->tracks, ids[n]);
    free(ids);
    return true;
}

static bool add_listed(listing *l, uint64_t id, uint32_t group, view_stretch *s)
{
    if (id < l->first || id > l->last || !is_in_window(l->window, s->begin, s->end))
        return true;
    view_listed *t = idmap_insert(&l->tracks, id);
    if (!t)
        return false;
    const bool made = t->count == 0;
    stretch_complete(s);
    t->track = (view_track){l->kind, id, group & TRACK_GROUP};
    t->begin = made || s->begin < t->begin ? s->begin : t->begin;
    t->end = made || s->end > t->end ? s->end : t->end;
    t->count += s->count;
    for (size_t k = 0; k < DO_KINDS; k++)
        t->ns[k] = sum_of_times(t->ns[k], s->ns[k]);
    return l->tracks.count < l->view->levels.most_listed || list_less(l);
}

static bool is_listed(const listing *l, uint32_t group)
{
    return l->group == UINT32_MAX || (group & TRACK_GROUP) == l->group;
}

/* Adds the tracks of a directory, except those that are in `before`. */
static bool list_directory(listing *l, const node_directory *of, const view_node *node,
                           const node_directory *before)
{
    node_cursor c;
    levels *from = &l->view->levels;
    bool done = node_open_at(&c, from, of, l->kind, l->first);
    while (done && (done = node_next(&c)) && c.kind != VIEW_KINDS && c.track.id <= l->last) {
        node_found place;
        if (!is_listed(l, c.track.group) ||
            (before && node_find(from, before, l->kind, c.track.id, &place)))
            continue;
        const unsigned char *at = node_bytes(&c), *end = at ? at + c.size : NULL;
        int64_t time = node->begin;
        view_stretch s;
        done = at != NULL;
        while (done && stretch_get(&at, end, &time, &s))
            done = add_listed(l, c.track.id, c.track.group, &s);
    }
    node_close(&c);
    return done;
}

static bool read_list(void *ctx, const node_directory *of, const view_node *node,
                      const node_directory *instead)
{
    return list_directory(ctx, of, node, NULL) &&
           (!instead || list_directory(ctx, instead, node, of));
}

static bool list_items(listing *l)
{
    view_stretch s;
    bool done = true;
    for (size_t n = 0; n < LEVELS_MOST; n++) {
        const level *of = &l->view->levels.level[n];
        for (size_t i = 0; done && i < of->count; i++) {
            if (of->items[i].kind != l->kind || !is_listed(l, of->items[i].group))
                continue;
            level_stretch(of, &of->items[i], &s);
            done = add_listed(l, of->items[i].id, of->items[i].group, &s);
        }
    }
    return done;
}

/* Passes on the tracks that were found. *more: `each` wants more. */
static bool pass_on_listed(const listing *l, view_each_track *each, void *ctx, bool *more)
{
    const size_t count = l->tracks.count;
    uint64_t *ids = count ? idmap_sorted_keys(&l->tracks) : NULL;
    for (size_t n = 0; ids && *more && n < count; n++)
        *more = each(ctx, idmap_find(&l->tracks, ids[n]));
    free(ids);
    return ids || count == 0;
}

bool view_list(view *v, view_kind kind, uint32_t group, const view_window *window,
               view_each_track *each, void *ctx)
{
    listing l = {.view = v, .kind = kind, .group = group, .window = window};
    const walk w = {v, window, read_list, &l};
    const int before = begin_question(v);
    bool done = true, more = true;
    idmap_init(&l.tracks, sizeof(view_listed));
    while (done && more) {
        l.last = UINT64_MAX;
        done = walk_all(&w) && list_items(&l) && pass_on_listed(&l, each, ctx, &more);
        more &= l.last != UINT64_MAX;
        l.first = l.last + 1;
        idmap_clear(&l.tracks);
    }
    idmap_free(&l.tracks);
    return end_question(v, before, done);
}
