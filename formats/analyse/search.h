/*
 * search.h - tests moments with an expression, and passes on those that satisfy it.
 *
 * The queries of the expression, one for each during (EXPR), have higher numbers than the query
 * they are in. The times that a query finds are known only when the trace has ended; until then a
 * moment whose verdict depends on them is stored.
 */
#ifndef ANALYSE_SEARCH_H
#define ANALYSE_SEARCH_H

#include "formats/analyse/matcher.h"
#include "formats/analyse/moments.h"
#include "formats/analyse/timeset.h"
#include "formats/common/big_array.h"

enum { SEARCH_FEW = 8 };

typedef struct search {
    find_job *job;
    stacks *stacks;
    uint32_t *names;                 /* of the terms */
    matcher *matchers;               /* of the patterns */
    timeset *found;                  /* by number of a query: what it found */
    size_t resolved;                 /* queries from here on have found all */
    uint64_t goroutines[SEARCH_FEW]; /* that the expression names, if they are at most so many */
    size_t goroutine_count;
    unsigned named;        /* MOMENT_BIT: kinds of which names are collected */
    matcher_verdicts seen; /* the kinds that have a name, by its number */
    big_array stored;      /* moments that may satisfy a query */
    bool ends;             /* no more moments are wanted */
} search;

/* The job and the stacks are borrowed. False: memory was refused; call search_free in any case,
 * which does nothing to a search of zeros. */
bool search_init(search *s, find_job *job, stacks *names);
void search_free(search *s);

/* No moment of that kind that is shorter satisfies a query. */
int64_t search_least(search *s, moment_kind kind);

/* What is known of a moment in addition to its kind. */
enum {
    KNOWN_GOROUTINE = 1,
    KNOWN_FUNCTION = 2,
    KNOWN_STACK = 4,
    KNOWN_NAME = 8,
};

/* The verdict on a moment of which only that is known: FALSE if no query can be satisfied, TRUE if
 * the expression is, and nothing else of it matters. */
verdict search_foresee(search *s, const moment *m, unsigned known);

/* Whether the expression, with its durings, has such a test. */
bool search_tests(const search *s, op_code code);

/* Whether the expression may have a test for that goroutine. */
bool search_names_goroutine(const search *s, uint64_t id);

/* Whether a term of the kinds in the set has a name or reason. */
bool search_tests_names(const search *s, unsigned kinds);

/* A moment of that kind has that name. */
void search_note_name(search *s, moment_kind kind, uint32_t name);

static inline void search_saw(search *s, moment_kind kind, uint32_t name)
{
    if (s->named & MOMENT_BIT(kind))
        search_note_name(s, kind, name);
}

/* A moment was found of which only the kind is set, for users that count moments. */
void search_count(search *s, moment_kind kind);

/* A moment ended. One that seems to begin after its end begins at its end. */
void search_offer(search *s, moment *m);

/* The trace has ended: tests what was stored. */
void search_finish(search *s);

/* Whether the search cannot go on; the job then has the reason. */
bool search_failed(search *s);

#endif
