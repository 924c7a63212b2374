/* stack_views.c - how many frames make the rows of a table look different. */
#include "formats/analyse/stack_views.h"

#include <stdlib.h>

/* Compares the stacks of rows by group, by functions, and by what else differs. *common: the
 * number of innermost frames that have the same functions; if all have, those that are the same. */
static int compare_stacks(const stacks *s, const stack_row *x, const stack_row *y, size_t *common,
                          bool *functions)
{
    const size_t m = stacks_depth(s, x->stack), n = stacks_depth(s, y->stack);
    const size_t least = m < n ? m : n;
    *common = 0;
    *functions = true;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    for (size_t i = 0; i < least; i++, ++*common) {
        const uint32_t a = stacks_frame_at(s, x->stack, i)->function;
        const uint32_t b = stacks_frame_at(s, y->stack, i)->function;
        if (a != b)
            return a < b ? -1 : 1;
    }
    if (m != n)
        return m < n ? -1 : 1;
    *functions = false;
    for (*common = 0; *common < least; ++*common) {
        const stacks_frame *a = stacks_frame_at(s, x->stack, *common);
        const stacks_frame *b = stacks_frame_at(s, y->stack, *common);
        if (a != b) /* each frame is stored once */
            return a < b ? -1 : 1;
    }
    return 0;
}

/* A row, to be sorted. */
typedef struct viewed {
    const stacks *s;
    const stack_row *row;
    size_t index;
} viewed;

static int by_frames(const void *a, const void *b)
{
    const viewed *x = a, *y = b;
    size_t common;
    bool functions;
    return compare_stacks(x->s, x->row, y->row, &common, &functions);
}

static void widen(const viewed *v, stack_view *view, size_t frames)
{
    const size_t depth = stacks_depth(v->s, v->row->stack);
    frames = frames < STACK_MOST_FRAMES ? frames : STACK_MOST_FRAMES;
    frames = frames < depth ? frames : depth;
    view->frames = frames > view->frames ? frames : view->frames;
}

/* Rows that begin alike are neighbours. Those of the same functions show as many frames as the one
 * of them that needs most. */
static void view_rows(const viewed *sorted, size_t count, stack_view *views)
{
    for (size_t i = 0; i < count; i++)
        widen(&sorted[i], &views[sorted[i].index], STACK_FRAMES);
    for (size_t i = 1; i < count; i++) {
        const viewed *v = &sorted[i], *before = v - 1;
        size_t common;
        bool functions;
        compare_stacks(v->s, before->row, v->row, &common, &functions);
        widen(before, &views[before->index], common + 1);
        widen(v, &views[v->index], common + 1);
        if (functions)
            continue;
        views[before->index].lines = views[v->index].lines = true;
        widen(v, &views[v->index], views[before->index].frames);
    }
    for (size_t i = count; i-- > 1;) {
        const viewed *v = &sorted[i], *before = v - 1;
        size_t common;
        bool functions;
        compare_stacks(v->s, before->row, v->row, &common, &functions);
        if (!functions)
            widen(before, &views[before->index], views[v->index].frames);
    }
}

stack_view *stack_views(const stacks *s, const stack_row *rows, size_t count, bool *failed)
{
    stack_view *views = calloc(count + 1, sizeof *views);
    viewed *sorted = calloc(count + 1, sizeof *sorted);
    if (views && sorted) {
        for (size_t i = 0; i < count; i++)
            sorted[i] = (viewed){s, &rows[i], i};
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
