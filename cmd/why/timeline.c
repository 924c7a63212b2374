/* timeline.c - critical paths as tracks of a timeline. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/names.h"
#include "cmd/why/why.h"
#include "formats/common/vector.h"

/* Waits beyond this depth are not shown: viewers do not draw that many rows of a track. */
enum { MOST_NESTED = 100 };

/* Frames that are shown of a stack. With names that are cut (names.h) a text is below the size of
 * the buffer of an out. */
enum { MOST_FRAMES = 32 };

/* Bytes of the name of a track. */
enum { LONGEST = 200 };

static bool discard(void *ctx, const void *bytes, size_t size)
{
    (void)ctx, (void)bytes, (void)size;
    return true;
}

/* "critical path of task 3 request" */
static const char *next_track(void *ctx)
{
    why_timeline *t = ctx;
    const path_interval *i = paths_interval(t->p, t->interval++);
    path_kind kind = t->p->query.kind;
    size_t size;
    free(t->name);
    t->name = NULL;
    if (!i)
        return NULL;
    paths_walk(t->p, i);
    t->row = 0;
    const char *name = names_text(t->p->stacks, i->name, &size);
    int made = kind == PATH_REGION
                   ? asprintf(&t->name, "critical path of region %.*s, goroutine %" PRIu64,
                              (int)names_cut(name, size, LONGEST), name, i->goroutine)
                   : asprintf(&t->name, "critical path of %s %" PRIu64 " %.*s", why_kind_name(kind),
                              i->id, (int)names_cut(name, size, LONGEST), name);
    if (made < 0) {
        t->name = NULL;
        t->failed = true;
    }
    return t->name;
}

static void write_name(out *o, const paths *p, const path_part *row)
{
    out_printf(o, "G%" PRIu64 " %s", row->goroutine, path_part_names[row->kind]);
    if (row->reason) {
        out_str(o, " (");
        names_write(o, p->stacks, row->reason);
        out_char(o, ')');
    }
}

/* The start function, who ended the state, and the stack. */
static void write_details(out *o, const paths *p, const path_part *row)
{
    names_write(o, p->stacks, row->function);
    names_write_label(o, p->stacks, states_label_in(&p->labels, row->goroutine));
    if (row->cause)
        out_printf(o,
                   row->kind == PATH_WAITING ? "; ended by goroutine %" PRIu64
                                             : "; made runnable by goroutine %" PRIu64,
                   row->cause);
    if (row->waits_for) {
        out_str(o, "; for ");
        names_write(o, p->stacks, row->waits_for);
    }
    size_t depth = stacks_depth(p->stacks, row->stack);
    for (size_t n = 0; n < depth && n < MOST_FRAMES; n++) {
        const stacks_frame *frame = stacks_frame_at(p->stacks, row->stack, n);
        out_str(o, n ? " < " : "; at ");
        names_write(o, p->stacks, frame->function);
    }
    if (depth > MOST_FRAMES)
        out_str(o, " < ...");
}

static bool next_slice(void *ctx, perfetto_slice *slice)
{
    why_timeline *t = ctx;
    const path_part *row = NULL;
    while (t->row < t->p->parts.count) {
        row = paths_part(t->p, t->row++);
        if (!row || !row->spans || row->depth < MOST_NESTED)
            break;
        row = NULL;
    }
    if (!row)
        return false;
    t->text.used = 0;
    write_name(&t->text, t->p, row);
    size_t name_size = t->text.used;
    write_details(&t->text, t->p, row);
    *slice = (perfetto_slice){.begin = row->begin,
                              .end = row->end,
                              .name = t->text.buffer,
                              .name_size = name_size,
                              .details = t->text.buffer + name_size,
                              .details_size = t->text.used - name_size};
    return true;
}

/* ---- the time that is shown -------------------------------------------------------------------
 */

static int compare_begins(const void *left, const void *right)
{
    const perfetto_window *a = left, *b = right;
    return a->from < b->from ? -1 : a->from > b->from;
}

static int compare_gaps(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

/* Joins windows, which are sorted, if the time between them is at most that. */
static void join_windows(why_timeline *t, int64_t gap)
{
    size_t last = 0;
    for (size_t n = 1; n < t->window_count; n++) {
        const perfetto_window *w = &t->windows[n];
        if (w->from - t->windows[last].to > gap)
            t->windows[++last] = *w;
        else if (w->to > t->windows[last].to)
            t->windows[last].to = w->to;
    }
    t->window_count = last + 1;
}

/* Joins the windows that are closest to each other, if there are too many: at the beginning of each
 * the timeline has all goroutines. */
static bool limit_windows(why_timeline *t)
{
    enum { MOST = 100 };
    if (t->window_count <= MOST)
        return true;
    size_t count = t->window_count - 1;
    int64_t *gaps = malloc(count * sizeof *gaps);
    if (!gaps)
        return false;
    for (size_t n = 0; n < count; n++)
        gaps[n] = t->windows[n + 1].from - t->windows[n].to;
    qsort(gaps, count, sizeof *gaps, compare_gaps);
    join_windows(t, gaps[count - MOST]);
    free(gaps);
    return true;
}

/* Sets the windows to the time of the paths, with the events that end them. */
static bool find_windows(why_timeline *t)
{
    const path_interval *i;
    size_t room = 0;
    for (size_t n = 0; (i = paths_interval(t->p, n)); n++) {
        perfetto_window *more = vector_room(t->windows, &room, n, sizeof *more);
        if (!more)
            return false;
        t->windows = more;
        t->windows[t->window_count++] = (perfetto_window){.from = i->begin < 0 ? 0 : i->begin,
                                                          .to = i->end + (i->end < INT64_MAX)};
    }
    qsort(t->windows, t->window_count, sizeof *t->windows, compare_begins);
    join_windows(t, 0);
    return limit_windows(t);
}

bool why_timeline_init(why_timeline *t, paths *p)
{
    *t = (why_timeline){.tracks = {t, next_track, next_slice}, .p = p};
    return out_init(&t->text, discard, NULL) && find_windows(t);
}

void why_timeline_free(why_timeline *t)
{
    out_free(&t->text);
    free(t->name);
    free(t->windows);
}
