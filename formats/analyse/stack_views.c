/* stack_views.c - how many frames make the rows of a table look different. */
#include "formats/analyse/stack_views.h"

#include <stdlib.h>

/* A row, to be sorted. */
typedef struct viewed {
    const stacks *s;
    const stack_row *row;
    size_t index;
    bool folds;
} viewed;

/* How two rows differ. */
typedef struct difference {
    int order;      /* of the rows */
    size_t need[2]; /* the frames from the innermost on that show it, of each row */
    bool functions; /* the functions that are shown differ */
} difference;

/* The index of the frame that is shown for the n-th one and those that are folded with it. */
static size_t shown_frame(const viewed *v, size_t n)
{
    return v->folds ? stacks_run_end(v->s, v->row->stack, n) : n;
}

static uint32_t function_at(const viewed *v, size_t n)
{
    return stacks_frame_at(v->s, v->row->stack, n)->function;
}

/* By lines and by what is folded. */
static difference compare_lines(const viewed *x, const viewed *y, size_t m, size_t n)
{
    for (size_t i = 0; i < m && i < n; i++) {
        const stacks_frame *a = stacks_frame_at(x->s, x->row->stack, i);
        const stacks_frame *b = stacks_frame_at(y->s, y->row->stack, i);
        if (a != b) /* each frame is stored once */
            return (difference){a < b ? -1 : 1, {i + 1, i + 1}, false};
    }
    return (difference){(m > n) - (m < n), {m, n}, false};
}

/* Compares the stacks of rows by group, by the functions that are shown, and by what else
 * differs. */
static difference compare_stacks(const viewed *x, const viewed *y)
{
    const size_t m = stacks_depth(x->s, x->row->stack), n = stacks_depth(y->s, y->row->stack);
    size_t i = 0, j = 0;
    if (x->row->group != y->row->group)
        return (difference){x->row->group < y->row->group ? -1 : 1, {0, 0}, true};
    for (; i < m && j < n; i++, j++) {
        i = shown_frame(x, i);
        j = shown_frame(y, j);
        const uint32_t a = function_at(x, i), b = function_at(y, j);
        if (a != b)
            return (difference){a < b ? -1 : 1, {i + 1, j + 1}, true};
    }
    if (i < m || j < n)
        return (difference){i < m ? 1 : -1, {i + 1, j + 1}, true};
    return compare_lines(x, y, m, n);
}

static int by_frames(const void *a, const void *b)
{
    return compare_stacks(a, b).order;
}

static void widen(const viewed *v, stack_view *view, size_t frames)
{
    const size_t depth = stacks_depth(v->s, v->row->stack);
    frames = frames < STACK_MOST_FRAMES ? frames : STACK_MOST_FRAMES;
    frames = frames < depth ? frames : depth;
    view->frames = frames > view->frames ? frames : view->frames;
}

/* Shows the first STACK_FRAMES frames. */
static void view_first(const viewed *v, stack_view *view)
{
    const size_t depth = stacks_depth(v->s, v->row->stack);
    size_t end = 0;
    for (size_t n = 0; n < STACK_FRAMES && end < depth; n++)
        end = shown_frame(v, end) + 1;
    view->folds = v->folds;
    widen(v, view, end);
}

/* Rows that begin alike are neighbours. Those of the same functions show all frames, and as many as
 * the one of them that needs most. */
static void view_rows(const viewed *sorted, size_t count, stack_view *views)
{
    for (size_t i = 0; i < count; i++)
        view_first(&sorted[i], &views[sorted[i].index]);
    for (size_t i = 1; i < count; i++) {
        const viewed *v = &sorted[i], *before = v - 1;
        const difference d = compare_stacks(before, v);
        widen(before, &views[before->index], d.need[0]);
        widen(v, &views[v->index], d.need[1]);
        if (d.functions)
            continue;
        views[before->index].lines = views[v->index].lines = true;
        views[before->index].folds = views[v->index].folds = false;
        widen(v, &views[v->index], views[before->index].frames);
    }
    for (size_t i = count; i-- > 1;) {
        const viewed *v = &sorted[i], *before = v - 1;
        if (!compare_stacks(before, v).functions)
            widen(before, &views[before->index], views[v->index].frames);
    }
}

stack_view *stack_views(const stacks *s, const stack_row *rows, size_t count, bool folds,
                        bool *failed)
{
    stack_view *views = calloc(count + 1, sizeof *views);
    viewed *sorted = calloc(count + 1, sizeof *sorted);
    if (views && sorted) {
        for (size_t i = 0; i < count; i++)
            sorted[i] = (viewed){s, &rows[i], i, folds};
        qsort(sorted, count, sizeof *sorted, by_frames);
        view_rows(sorted, count, views);
    } else {
        *failed = true;
        free(views);
        views = NULL;
    }
    free(sorted);
    return views;
}
