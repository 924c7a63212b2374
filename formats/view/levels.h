/* levels.h - store the stretches of tracks in the nodes of tree.h. */
#ifndef VIEW_LEVELS_H
#define VIEW_LEVELS_H

#include "formats/view/tree.h"

void levels_init(levels *l);
void levels_free(levels *l);

/* Stores a stretch of a track, which ends not before those that were stored earlier. several: its
 * sums, else it is one interval. */
void levels_add(levels *l, level_place *place, const level_item *item, const level_sums *several);

/* Whether a node is full: call levels_end_node. */
static inline bool levels_full(const levels *l)
{
    return l->level[0].count >= l->most_items || l->level[0].sum_count >= l->most_sums ||
           l->crowded;
}

/* Ends the node of level 0, and those above it that are full. No stretch that is added later ends
 * before that time. */
void levels_end_node(levels *l, int64_t now);

/* The trace has ended: makes the root. */
void levels_end(levels *l, int64_t now);

#endif
