/*
 * longest.h - the longest of many durations, with bounded memory.
 *
 * Of equal ones the earlier are kept, so that the result does not depend on how they are stored.
 */
#ifndef ANALYSE_LONGEST_H
#define ANALYSE_LONGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct longest_item {
    int64_t ns;
    uint64_t order; /* of the calls of longest_add, from 0 */
    size_t slot;    /* where the caller stores more about it: below the number of items */
} longest_item;

typedef struct longest {
    longest_item *items; /* a heap: the shortest first */
    size_t count, room;
    uint64_t most, added;
} longest;

/* most: how many are kept. */
void longest_init(longest *l, uint64_t most);
void longest_free(longest *l);

/* Adds a duration. Returns whether it is kept; *slot is then where the caller stores what belongs
 * to it, in place of one that is not kept any more. *failed is set if memory is refused. */
bool longest_add(longest *l, int64_t ns, size_t *slot, bool *failed);

/* Orders the items from the longest on, or (in_order) as they were added. Nothing can be added
 * afterwards. */
void longest_sort(longest *l, bool in_order);

#endif
