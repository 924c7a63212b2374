/*
 * wanted.h - which events gotrace_reader_next returns, if not all.
 */
#ifndef GT_WANTED_H
#define GT_WANTED_H

#include "core/events.h"

/* Whether events of a type are returned. */
typedef enum gt_want {
    GT_WANT_NOT,
    GT_WANT_CHANGE, /* a transition of a goroutine: it depends on the states */
    GT_WANT_SOME,   /* v1: it depends on more */
    GT_WANT_ALL,
} gt_want;

enum { GT_STATES = GOTRACE_STATE_ABANDONED + 1 };

typedef struct gt_wanted {
    bool some; /* not all: */
    uint32_t kinds;
    uint32_t into, from;      /* states: transitions of goroutines into and out of these */
    uint32_t lasting;         /* states of gotrace_reader_select_lasting */
    int64_t least[GT_STATES]; /* ns: the transitions out of the state that end one of that length */
    int64_t least_ticks[GT_STATES]; /* v1: at most as long */
    uint8_t types[GT_CODES];        /* gt_want */
} gt_wanted;

GT_INLINE bool gt_wants_kind(const gt_wanted *w, uint8_t kind)
{
    return w->kinds >> kind & 1;
}

/* Whether transitions of goroutines are wanted whose kind is not. */
GT_INLINE bool gt_wants_changes(const gt_wanted *w)
{
    return w->into | w->from;
}

/* Whether it is one between two states of a goroutine that exists. */
GT_INLINE bool gt_is_between(uint8_t from, uint8_t to)
{
    const unsigned outside = 1U << GOTRACE_STATE_UNDETERMINED | 1U << GOTRACE_STATE_NOT_EXIST;
    return !(outside >> from & 1) && !(outside >> to & 1);
}

GT_INLINE bool gt_is_lasting(const gt_wanted *w, uint8_t state)
{
    return w->lasting >> state & 1;
}

#endif
