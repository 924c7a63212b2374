/*
 * tracks.c - the tracks of a kind, a page at a time in any order.
 *
 * Of up to ROWS_MOST tracks, all sums are in memory. Of more, only what orders them is (32 bytes
 * each), and the sums of those on the page are read again.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "formats/analyse/histogram.h"
#include "formats/common/vector.h"
#include "formats/view/api/answer.h"

enum {
    ROWS_MOST = 16 * 1024,
    PIXELS = 500,       /* a track may be missing if it is shorter than one of them; */
    PIXELS_MOST = 2000, /* with more, more of the index is read: 70 ms for 1,000, 9 s for 16,000 */
    PAGE_MOST = 1000,
    PAGE = 100 /* if `limit` is missing */
};

typedef enum track_order { BY_COST, BY_BEGIN, BY_ID, BY_NAME } track_order;
static const char *const order_words[] = {"cost", "begin", "id", "name"};

typedef struct ranked {
    uint64_t id;
    int64_t key; /* what is less comes first */
    uint32_t group, name;
    size_t row;
} ranked;

typedef struct track_list {
    const stacks *names;
    unsigned order;
    ranked *list;
    size_t count, room;
    view_listed *rows; /* NULL: there are too many */
    size_t row_count, row_room;
    bool many, failed;
} track_list;

/* What a track costs: the time in which it runs, could run, or waits for a lock. */
static int64_t cost_of(const view_listed *t)
{
    static const uint8_t kinds[] = {DO_RUN, DO_ASSIST, DO_RUNNABLE, DO_LOCK};
    int64_t sum = 0;
    for (size_t n = 0; n < sizeof kinds; n++)
        sum = sum_of_times(sum, t->ns[kinds[n]]);
    return sum;
}

static bool add_row(track_list *l, const view_listed *t)
{
    l->many |= l->row_count == ROWS_MOST;
    if (l->many) {
        free(l->rows);
        l->rows = NULL;
        return true;
    }
    view_listed *rows = vector_room(l->rows, &l->row_room, l->row_count, sizeof *rows);
    if (!rows)
        return false;
    l->rows = rows;
    rows[l->row_count++] = *t;
    return true;
}

static bool add_track(void *ctx, const view_listed *t)
{
    track_list *l = ctx;
    ranked *list = vector_room(l->list, &l->room, l->count, sizeof *list);
    l->list = list ? list : l->list;
    l->failed = !list || !add_row(l, t);
    if (l->failed)
        return false;
    list[l->count] = (ranked){.id = t->track.id,
                              .key = l->order == BY_COST    ? -cost_of(t)
                                     : l->order == BY_BEGIN ? t->begin
                                                            : 0,
                              .group = t->track.group,
                              .name = track_name(l->names, &t->track),
                              .row = l->count};
    l->count++;
    return true;
}

static int compare_names(const stacks *names, uint32_t left, uint32_t right)
{
    size_t a_size, b_size;
    const char *a = stacks_text(names, left, &a_size), *b = stacks_text(names, right, &b_size);
    const int order = memcmp(a, b, a_size < b_size ? a_size : b_size);
    return order ? order : (a_size > b_size) - (a_size < b_size);
}

static int compare(const void *left, const void *right, void *ctx)
{
    const ranked *a = left, *b = right;
    const track_list *l = ctx;
    int order = (a->key > b->key) - (a->key < b->key);
    if (l->order == BY_NAME && a->name != b->name)
        order = compare_names(l->names, a->name, b->name);
    return order ? order : (a->id > b->id) - (a->id < b->id);
}

/* ---- a row ------------------------------------------------------------------------------------
 */

static bool add_sums(void *ctx, const view_stretch *s)
{
    view_listed *t = ctx;
    t->begin = t->count == 0 || s->begin < t->begin ? s->begin : t->begin;
    t->end = t->count == 0 || s->end > t->end ? s->end : t->end;
    t->count += s->count;
    for (size_t k = 0; k < DO_KINDS; k++)
        t->ns[k] = sum_of_times(t->ns[k], s->ns[k]);
    return true;
}

static void put_track(out *o, const view *v, const view_listed *t)
{
    out_str(o, "{\"id\":");
    put_id(o, t->track.id);
    out_printf(o, ",\"group\":%" PRIu32 ",\"name\":", t->track.group);
    put_track_name(o, view_names(v), &t->track);
    if (view_is_of_goroutine(t->track.kind))
        put_label(o, v, t->track.id);
    out_printf(o, ",\"begin\":%" PRId64 ",\"end\":%" PRId64 ",\"count\":%" PRIu64 ",\"ns\":[",
               t->begin, t->end, t->count);
    for (size_t k = 0; k < DO_KINDS; k++)
        out_printf(o, "%s%" PRId64, k ? "," : "", t->ns[k]);
    out_str(o, "]}");
}

static void put_page(answer *q, const track_list *l, view_kind kind, const view_window *w,
                     uint64_t offset, uint64_t limit)
{
    out_printf(q->out, "{\"total\":%zu,\"tracks\":[", l->count);
    for (uint64_t n = offset; n < l->count && n - offset < limit && !q->failed; n++) {
        const ranked *r = &l->list[n];
        view_listed t = {.track = {kind, r->id, r->group}};
        if (l->rows)
            t = l->rows[r->row];
        else
            q->failed = !view_stretches(q->api->index, &t.track, w, add_sums, &t);
        out_str(q->out, n > offset ? "," : "");
        put_track(q->out, q->api->index, &t);
    }
    out_str(q->out, "]}");
}

void answer_tracks(answer *q)
{
    arguments *a = &q->arguments;
    view *v = q->api->index;
    uint64_t kind = 0, group = UINT32_MAX, offset = 0, limit = PAGE;
    track_list l = {0};
    view_lock(v);
    const view_progress p = view_progress_of(v);
    view_unlock(v);
    /* What ends with the trace is in it. */
    view_window w = {.from = p.begin, .until = p.end < INT64_MAX ? p.end + 1 : p.end};
    arguments_need(a, "kind");
    arguments_number(a, "kind", 0, VIEW_KINDS - 1, &kind);
    arguments_number(a, "group", 0, UINT32_MAX, &group);
    arguments_number(a, "offset", 0, UINT64_MAX, &offset);
    arguments_number(a, "limit", 0, PAGE_MOST, &limit);
    arguments_word(a, "sort", order_words, sizeof order_words / sizeof *order_words, &l.order);
    if (!answer_read_window(q, &w, PIXELS, PIXELS_MOST))
        return;
    view_lock(v);
    l.names = view_names(v);
    q->failed = !view_list(v, (view_kind)kind, (uint32_t)group, &w, add_track, &l) || l.failed;
    if (l.count > 1)
        qsort_r(l.list, l.count, sizeof *l.list, compare, &l);
    if (!q->failed)
        put_page(q, &l, (view_kind)kind, &w, offset, limit);
    view_unlock(v);
    free(l.list);
    free(l.rows);
}
