#include "formats/analyse/longest.h"

#include <stdlib.h>

#include "formats/common/vector.h"

void longest_init(longest *l, uint64_t most)
{
    *l = (longest){.most = most};
}

void longest_free(longest *l)
{
    free(l->items);
    *l = (longest){0};
}

/* Whether a goes before b: it is shorter, or as long but later. */
static bool is_less(const longest_item *a, const longest_item *b)
{
    return a->ns != b->ns ? a->ns < b->ns : a->order > b->order;
}

static void move_up(longest *l, size_t at, const longest_item *item)
{
    for (; at > 0 && is_less(item, &l->items[(at - 1) / 2]); at = (at - 1) / 2)
        l->items[at] = l->items[(at - 1) / 2];
    l->items[at] = *item;
}

static void move_down(longest *l, size_t at, const longest_item *item)
{
    for (size_t child; (child = 2 * at + 1) < l->count; at = child) {
        if (child + 1 < l->count && is_less(&l->items[child + 1], &l->items[child]))
            child++;
        if (!is_less(&l->items[child], item))
            break;
        l->items[at] = l->items[child];
    }
    l->items[at] = *item;
}

bool longest_add(longest *l, int64_t ns, size_t *slot, bool *failed)
{
    longest_item item = {.ns = ns, .order = l->added++, .slot = l->count};
    if (l->count < l->most) {
        longest_item *items = vector_room(l->items, &l->room, l->count, sizeof *items);
        if (!items) {
            *failed = true;
            return false;
        }
        l->items = items;
        move_up(l, l->count++, &item);
    } else if (l->count > 0 && is_less(&l->items[0], &item)) {
        item.slot = l->items[0].slot;
        move_down(l, 0, &item);
    } else {
        return false;
    }
    *slot = item.slot;
    return true;
}

static int compare_ns(const void *left, const void *right)
{
    return is_less(left, right) ? 1 : -1;
}

static int compare_order(const void *left, const void *right)
{
    const longest_item *a = left, *b = right;
    return a->order < b->order ? -1 : a->order > b->order;
}

void longest_sort(longest *l, bool in_order)
{
    if (l->count > 1)
        qsort(l->items, l->count, sizeof *l->items, in_order ? compare_order : compare_ns);
}
