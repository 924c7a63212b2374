/* merge.c - the nodes above level 0. */
#include <errno.h>

#include "formats/common/vector.h"
#include "formats/view/node.h"

/* A node below. A track of which it has less detail is read there; in a node of level 0 the others
 * are read as they are. */
typedef struct child {
    const view_node *node;
    node_cursor less, own;
    bool lowest;
} child;

typedef struct merge {
    levels *levels;
    level *of;
    child children[LEVEL_CHILDREN];
    size_t child_count;
    size_t next; /* of the level's items */
    node_writer writer;
} merge;

/* Those in nodes above are in the order of kinds, ids, and times. */
static int compare_items(const void *left, const void *right)
{
    const level_item *a = left, *b = right;
    if (a->kind != b->kind)
        return a->kind - b->kind;
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return (a->begin > b->begin) - (a->begin < b->begin);
}

static bool is_same(const level_item *a, const level_item *b)
{
    return a->kind == b->kind && a->id == b->id;
}

/* The items of the level, as they are. */
static void write_own(merge *m, node_directory *made)
{
    const level *of = m->of;
    view_stretch s;
    node_begin(&m->writer);
    for (size_t n = 0, end; n < of->count; n = end) {
        uint32_t group = 0;
        for (end = n; end < of->count && is_same(&of->items[n], &of->items[end]); end++)
            group = of->items[end].group | (group & ~TRACK_GROUP);
        node_begin_track(&m->writer, of->items[n].kind, of->items[n].id, group);
        for (size_t i = n; i < end; i++) {
            level_stretch(of, &of->items[i], &s);
            node_put(&m->writer, &s);
        }
        node_end_track(&m->writer);
    }
    node_end(&m->writer, made);
}

/* The kinds without less detail are the last ones. */
static const view_kind last_kind = VIEW_WAKES - 1;

static bool open_children(merge *m, const level *below, const view_node *node)
{
    bool done = true;
    for (size_t n = 0; n < node->children; n++) {
        child *c = &m->children[m->child_count++];
        c->node = &below->nodes[node->first + n];
        c->lowest = below == m->levels->level;
        node_open(&c->less, m->levels, &c->node->less, 0, last_kind);
        node_open(&c->own, m->levels, &c->node->own, 0, last_kind);
        done = done && node_next(&c->less) && (!c->lowest || node_next(&c->own));
        if (!c->lowest)
            c->own.kind = VIEW_KINDS;
    }
    return done;
}

/* The track that comes first. */
static void take_first(uint8_t *kind, uint64_t *id, uint8_t other_kind, uint64_t other)
{
    if (other_kind < *kind || (other_kind == *kind && other < *id)) {
        *kind = other_kind;
        *id = other;
    }
}

static bool find_next(const merge *m, uint8_t *kind, uint64_t *id)
{
    *kind = VIEW_KINDS;
    *id = 0;
    for (size_t n = 0; n < m->child_count; n++) {
        take_first(kind, id, m->children[n].less.kind, m->children[n].less.track.id);
        take_first(kind, id, m->children[n].own.kind, m->children[n].own.track.id);
    }
    if (m->next < m->of->count)
        take_first(kind, id, m->of->items[m->next].kind, m->of->items[m->next].id);
    return *kind <= last_kind;
}

static bool is_at(const node_cursor *c, uint8_t kind, uint64_t id)
{
    return c->kind == kind && c->track.id == id;
}

/* The items of the track that begin before that time. */
static void put_items(merge *m, uint8_t kind, uint64_t id, int64_t until)
{
    const level *of = m->of;
    view_stretch s;
    for (; m->next < of->count; m->next++) {
        const level_item *item = &of->items[m->next];
        if (item->kind != kind || item->id != id || item->begin >= until)
            return;
        level_stretch(of, item, &s);
        node_put(&m->writer, &s);
    }
}

/* The stretches of the track in that node, and the items before each. */
static bool put_child(merge *m, child *c, uint8_t kind, uint64_t id)
{
    node_cursor *from = is_at(&c->less, kind, id) ? &c->less : &c->own;
    if (!is_at(from, kind, id))
        return true;
    const unsigned char *at = node_bytes(from), *end = at ? at + from->size : NULL;
    int64_t time = c->node->begin;
    view_stretch s;
    while (at && stretch_get(&at, end, &time, &s)) {
        put_items(m, kind, id, s.begin);
        node_put(&m->writer, &s);
    }
    return at != NULL;
}

/* The flags and the group of the track are those of all that have it. */
static void add_group(uint32_t *group, const node_cursor *c, uint8_t kind, uint64_t id)
{
    if (is_at(c, kind, id))
        *group = c->track.group | (*group & ~TRACK_GROUP);
}

static uint32_t find_group(const merge *m, uint8_t kind, uint64_t id)
{
    uint32_t group = 0;
    for (size_t n = 0; n < m->child_count; n++) {
        add_group(&group, &m->children[n].less, kind, id);
        add_group(&group, &m->children[n].own, kind, id);
    }
    for (size_t i = m->next;
         i < m->of->count && m->of->items[i].kind == kind && m->of->items[i].id == id; i++)
        group = m->of->items[i].group | (group & ~TRACK_GROUP);
    return group;
}

static bool put_track(merge *m, uint8_t kind, uint64_t id)
{
    bool done = true;
    node_begin_track(&m->writer, kind, id, find_group(m, kind, id));
    for (size_t n = 0; done && n < m->child_count; n++) {
        child *c = &m->children[n];
        done = put_child(m, c, kind, id) && (!is_at(&c->less, kind, id) || node_next(&c->less)) &&
               (!is_at(&c->own, kind, id) || node_next(&c->own));
    }
    put_items(m, kind, id, INT64_MAX);
    node_end_track(&m->writer);
    return done;
}

static void write_less(merge *m, node_directory *made)
{
    uint8_t kind;
    uint64_t id;
    m->writer = (node_writer){
        .levels = m->levels, .node = m->writer.node, .to = m->writer.to, .less = true};
    node_begin(&m->writer);
    while (!m->levels->error && find_next(m, &kind, &id))
        if (!put_track(m, kind, id))
            break;
    node_end(&m->writer, made);
}

void node_merge(levels *l, size_t n, int64_t now)
{
    level *of = &l->level[n], *below = &l->level[n - 1];
    const size_t count = below->node_count - below->with_parent;
    view_node node = {.begin = of->begin,
                      .end = now,
                      .shift = node_shift(of->begin, now),
                      .first = below->with_parent,
                      .children = count < LEVEL_CHILDREN ? count : LEVEL_CHILDREN};
    merge m = {.levels = l, .of = of, .writer = {.levels = l, .node = &node, .to = &l->own}};
    if (of->count > 0)
        qsort(of->items, of->count, sizeof *of->items, compare_items);
    write_own(&m, &node.own);
    if (open_children(&m, below, &node))
        write_less(&m, &node.less);
    for (size_t i = 0; i < m.child_count; i++) {
        node_close(&m.children[i].less);
        node_close(&m.children[i].own);
    }
    levels_add_node(l, n, &node);
    if (!l->error)
        below->with_parent += node.children;
}
