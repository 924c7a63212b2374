/*
 * search.h - tests moments with an expression, and passes on those that satisfy it.
 *
 * The queries of the expression, one for each during (EXPR), have higher numbers than the query
 * they are in. The times that a query finds are known only when the trace has ended; until then a
 * moment whose verdict depends on them is stored.
 */
#ifndef ANALYSE_SEARCH_H
#define ANALYSE_SEARCH_H

#include "formats/analyse/longest.h"
#include "formats/analyse/matcher.h"
#include "formats/analyse/moment.h"
#include "formats/analyse/timeset.h"
#include "formats/common/big_array.h"

typedef struct search {
    find_job *job;
    stacks *stacks;
    uint32_t *names;       /* of the terms */
    matcher *matchers;     /* of the patterns */
    timeset *found;        /* by number of a query: what it found */
    size_t resolved;       /* queries from here on have found all */
    unsigned named;        /* MOMENT_BIT: kinds of which names are collected */
    matcher_verdicts seen; /* the kinds that have a name, by its number */
    big_array stored;      /* moments that may satisfy a query */
    longest longest;       /* of the moments that satisfy the expression, if the job wants them */
    big_array ranked;      /* these moments, and some that are not among them any more */
    uint64_t *places;      /* in ranked, by the slot of one of the longest */
    size_t place_room;
    bool ends; /* no more moments are wanted */
} search;

/* The job and the stacks are borrowed. False: memory was refused; call search_free in any case,
 * which does nothing to a search of zeros. */
bool search_init(search *s, find_job *job, stacks *names);
void search_free(search *s);

/* No moment of that kind that is shorter satisfies a query. */
int64_t search_least(search *s, moment_kind kind);

/* Whether the expression, with its durings, has such a test. */
bool search_tests(const search *s, op_code code);

/* Whether the pattern of that number, from 1 on, matches a name. */
bool search_matches(search *s, size_t number, uint32_t name);

/* A moment of that kind has that name. */
void search_note_name(search *s, moment_kind kind, uint32_t name);

static inline void search_saw(search *s, moment_kind kind, uint32_t name)
{
    if (s->named & MOMENT_BIT(kind))
        search_note_name(s, kind, name);
}

/* A moment ended. One that seems to begin after its end begins at its end. */
void search_offer(search *s, moment *m);

/* The trace has ended: tests what was stored. */
void search_finish(search *s);

/* Whether the search cannot go on; the job then has the reason. */
bool search_failed(search *s);

#endif
