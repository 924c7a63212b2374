/*
 * wanted.h - which events gotrace_reader_next returns, if not all.
 */
#ifndef GT_WANTED_H
#define GT_WANTED_H

#include "core/events.h"

typedef struct gt_wanted {
    bool some; /* not all: */
    uint32_t kinds, states;
} gt_wanted;

GT_INLINE bool gt_wants_kind(const gt_wanted *w, uint8_t kind)
{
    return w->kinds >> kind & 1;
}

/* A transition of a goroutine, whose kind is not wanted. */
GT_INLINE bool gt_wants_change(const gt_wanted *w, uint8_t from, uint8_t to)
{
    return (w->states >> from | w->states >> to) & 1;
}

#endif
