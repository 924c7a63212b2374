/* node.c - see node.h. */
#include "formats/view/node.h"

#include <errno.h>
#include <unistd.h>

#include "formats/common/spool.h"
#include "formats/common/vector.h"

enum { FLUSHED = 64 * 1024, READ_AHEAD = 16 * 1024 };

bool levels_fail(levels *l, int error)
{
    if (l->error == 0)
        l->error = error;
    return false;
}

void level_stretch(const level *of, const level_item *item, view_stretch *s)
{
    s->begin = item->begin;
    s->end = item->end;
    s->other = item->other;
    s->reason = item->reason;
    s->stack = item->stack;
    s->state = item->state;
    s->summed = item->several;
    if (!item->several)
        return;
    const level_sums *sums = &of->sums[item->other];
    s->count = sums->count;
    memcpy(s->ns, sums->ns, sizeof s->ns);
    s->longest = 0;
    s->longest_begin = s->begin;
    s->other = 0;
}

/* ---- writing ----------------------------------------------------------------------------------
 */

static void append(levels *l, const void *bytes, size_t size)
{
    if (l->error || size == 0)
        return;
    if (l->fd < 0 && (l->fd = spool_file(NULL)) < 0) {
        levels_fail(l, errno);
        return;
    }
    if (!spool_write_file(&l->fd, bytes, size))
        levels_fail(l, errno ? errno : EIO);
    l->written += size;
}

static void flush(node_writer *w)
{
    append(w->levels, w->to->bytes.bytes, w->to->bytes.size);
    w->flushed += w->to->bytes.size;
    w->to->bytes.size = 0;
}

static bool put_stretch(void *ctx, const view_stretch *s)
{
    node_writer *w = ctx;
    if (w->stretches++ == 0)
        w->first = s->begin;
    w->last = s->end;
    stretch_put(&w->to->bytes, &w->time, s);
    return true;
}

void node_begin(node_writer *w)
{
    w->to->bytes.size = 0;
    w->to->count = 0;
    w->merger = (stretch_merger){.shift = w->node->shift, .each = put_stretch, .ctx = w};
}

void node_begin_track(node_writer *w, uint8_t kind, uint64_t id, uint32_t group)
{
    w->kind = kind;
    w->before = w->to->bytes.size;
    w->track = (node_track){id, (uint32_t)(w->flushed + w->before), group};
    w->time = w->node->begin;
    w->stretches = 0;
    w->merger.highest = kind == VIEW_METRIC;
}

void node_put(node_writer *w, const view_stretch *s)
{
    if (w->less)
        stretch_merge(&w->merger, s);
    else
        put_stretch(w, s);
}

/* Whether it can be omitted where there is less detail: it has nothing before or after the node,
 * and is too short to be seen. */
static bool is_invisible(const node_writer *w)
{
    return w->less && w->stretches == 1 && (w->track.group & TRACK_BEGINS) &&
           (w->track.group & TRACK_ENDS) &&
           (uint64_t)w->last - (uint64_t)w->first < (uint64_t)1 << w->node->shift;
}

void node_end_track(node_writer *w)
{
    node_buffers *to = w->to;
    if (w->less)
        stretch_merge_end(&w->merger);
    if (w->stretches == 0 || is_invisible(w)) {
        to->bytes.size = w->before;
        return;
    }
    node_track *list = to->bytes.failed ? NULL
                                        : vector_room(to->list, &to->room, to->count, sizeof *list);
    if (!list) {
        levels_fail(w->levels, ENOMEM);
        return;
    }
    to->list = list;
    list[to->count++] = w->track;
    w->counts[w->kind]++;
    if (w->flushed + to->bytes.size > UINT32_MAX - FLUSHED)
        levels_fail(w->levels, EFBIG);
    if (to->bytes.size >= FLUSHED && !w->waits)
        flush(w);
}

void node_end(node_writer *w, node_directory *made)
{
    flush(w);
    *made = (node_directory){.bytes = w->levels->written - w->flushed,
                             .list = w->levels->written,
                             .size = (uint32_t)w->flushed};
    for (size_t k = 0; k < VIEW_KINDS; k++)
        made->first[k + 1] = made->first[k] + w->counts[k];
    append(w->levels, w->to->list, w->to->count * sizeof *w->to->list);
}

void levels_add_node(levels *l, size_t n, const view_node *node)
{
    level *of = &l->level[n];
    view_node *nodes = l->error
                           ? NULL
                           : vector_room(of->nodes, &of->node_room, of->node_count, sizeof *nodes);
    if (!nodes) {
        levels_fail(l, ENOMEM);
        return;
    }
    of->nodes = nodes;
    nodes[of->node_count++] = *node;
}

/* ---- reading ----------------------------------------------------------------------------------
 */

bool levels_read(levels *l, uint64_t offset, void *to, size_t size)
{
    for (unsigned char *at = to; size > 0;) {
        const ssize_t got = pread(l->fd, at, size, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return levels_fail(l, got < 0 ? errno : EIO);
        at += got;
        offset += (uint64_t)got;
        size -= (size_t)got;
    }
    return true;
}

const unsigned char *node_read(levels *l, node_buffer *buffer, uint64_t offset, size_t size)
{
    if (size <= buffer->size && offset >= buffer->offset &&
        offset - buffer->offset <= buffer->size - size)
        return buffer->bytes + (offset - buffer->offset);
    const uint64_t left = offset < l->written ? l->written - offset : 0;
    const size_t wanted = size > READ_AHEAD ? size : READ_AHEAD < left ? READ_AHEAD : (size_t)left;
    unsigned char *bytes = vector_fit(buffer->bytes, &buffer->room, wanted ? wanted : 1, 1);
    if (!bytes) {
        levels_fail(l, ENOMEM);
        return NULL;
    }
    *buffer = (node_buffer){bytes, buffer->room, offset, 0};
    if (size > left || !levels_read(l, offset, bytes, wanted))
        return NULL;
    buffer->size = wanted;
    return bytes;
}

void node_open(node_cursor *c, levels *l, const node_directory *of, view_kind first_kind,
               view_kind last_kind)
{
    *c = (node_cursor){.levels = l,
                       .of = of,
                       .kind = (uint8_t)first_kind,
                       .next = of->first[first_kind],
                       .end = of->first[last_kind + 1]};
}

bool node_next(node_cursor *c)
{
    const node_directory *of = c->of;
    if (c->next >= c->end) {
        c->kind = VIEW_KINDS;
        return true;
    }
    const bool last = c->next + 1 == of->first[VIEW_KINDS];
    const unsigned char *at = node_read(c->levels, &c->list,
                                        of->list + (uint64_t)c->next * sizeof c->track,
                                        (last ? 1 : 2) * sizeof c->track);
    node_track both[2];
    if (!at)
        return false;
    memcpy(both, at, (last ? 1 : 2) * sizeof *both);
    c->track = both[0];
    c->size = (last ? of->size : both[1].at) - both[0].at;
    while (c->next >= of->first[c->kind + 1])
        c->kind++;
    c->next++;
    return true;
}

const unsigned char *node_bytes(node_cursor *c)
{
    return node_read(c->levels, &c->bytes, c->of->bytes + c->track.at, c->size);
}

void node_close(node_cursor *c)
{
    free(c->list.bytes);
    free(c->bytes.bytes);
}

/* The first track of a kind with an id that is not less. False on failure. */
static bool find_place(levels *l, const node_directory *of, view_kind kind, uint64_t id,
                       uint32_t *place)
{
    uint32_t low = of->first[kind], high = of->first[kind + 1];
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        node_track t;
        if (!levels_read(l, of->list + (uint64_t)middle * sizeof t, &t, sizeof t))
            return false;
        *(t.id < id ? &low : &high) = t.id < id ? middle + 1 : middle;
    }
    *place = low;
    return true;
}

bool node_open_at(node_cursor *c, levels *l, const node_directory *of, view_kind kind, uint64_t id)
{
    node_open(c, l, of, kind, kind);
    return id == 0 || find_place(l, of, kind, id, &c->next);
}

bool node_find(levels *l, const node_directory *of, view_kind kind, uint64_t id, node_found *found)
{
    node_track both[2];
    uint32_t n;
    if (!find_place(l, of, kind, id, &n) || n == of->first[kind + 1])
        return false;
    const bool last = n + 1 == of->first[VIEW_KINDS];
    if (!levels_read(l, of->list + (uint64_t)n * sizeof *both, both,
                     (last ? 1 : 2) * sizeof *both) ||
        both[0].id != id)
        return false;
    *found = (node_found){.offset = of->bytes + both[0].at,
                          .size = (last ? of->size : both[1].at) - both[0].at,
                          .group = both[0].group};
    return true;
}
