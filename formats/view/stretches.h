/*
 * stretches.h - stretches of time of one track as bytes, and with less detail.
 *
 * Each begins with a byte: its state, and what follows. Times are differences to the stretch
 * before. All numbers are varints.
 */
#ifndef VIEW_STRETCHES_H
#define VIEW_STRETCHES_H

#include "formats/view/view.h"

/* A growing buffer of bytes. */
typedef struct view_bytes {
    unsigned char *bytes;
    size_t size, room;
    bool failed; /* memory was refused; nothing is added from then on */
} view_bytes;

/* Appends a stretch. *time is the end of the one before, or where the node begins; it becomes that
 * of this one. */
void stretch_put(view_bytes *to, int64_t *time, const view_stretch *s);

/* Reads the stretch at *at. Returns false at the end. */
bool stretch_get(const unsigned char **at, const unsigned char *end, int64_t *time,
                 view_stretch *s);

/* Inside of the index, what follows from the other members of one interval is not set: count, ns
 * and longest. This sets them. */
static inline void stretch_complete(view_stretch *s)
{
    if (s->summed)
        return;
    memset(s->ns, 0, sizeof s->ns);
    s->count = 1;
    s->longest = s->ns[s->state] = s->end > s->begin ? s->end - s->begin : 0;
    s->longest_begin = s->begin;
}

/* Adds a later stretch to one. highest: instead of the longest interval, that of the highest
 * `other` counts. */
void stretch_add(view_stretch *sum, const view_stretch *s, bool highest);

/* Makes one stretch of those that begin in the same 2^shift ns, and are shorter than that. */
typedef struct stretch_merger {
    unsigned shift;
    bool highest; /* see stretch_add */
    view_stretch sum;
    bool has_sum;
    view_each_stretch *each; /* gets the result */
    void *ctx;
    bool ends; /* it returned false */
} stretch_merger;

/* Both return false if `each` did. */
bool stretch_merge(stretch_merger *m, const view_stretch *s);
bool stretch_merge_end(stretch_merger *m);

/* The smallest shift with 2^shift >= ns. */
static inline unsigned shift_of_time(int64_t ns)
{
    return ns <= 1 ? 0 : 64 - (unsigned)__builtin_clzll((uint64_t)ns - 1);
}

#endif
