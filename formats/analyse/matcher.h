/*
 * matcher.h - which functions and stacks of a trace a regular expression matches.
 *
 * Each name and each stack is matched once.
 */
#ifndef ANALYSE_MATCHER_H
#define ANALYSE_MATCHER_H

#include "formats/analyse/pattern.h"
#include "formats/analyse/stacks.h"

/* Verdicts by number: 0 unknown, else 1 + whether the pattern matches. */
typedef struct matcher_verdicts {
    uint8_t *by_number;
    size_t room;
} matcher_verdicts;

/* The place of a verdict; NULL if memory is refused. */
uint8_t *matcher_verdict(matcher_verdicts *v, uint32_t number);

typedef struct matcher {
    const pattern *pattern;
    const stacks *stacks;
    matcher_verdicts names, of_stacks;
    bool failed;   /* memory was refused */
    bool too_hard; /* matching a name reached a limit; nothing matches from then on */
    uint32_t hard; /* that name */
} matcher;

/* Both are borrowed. */
void matcher_init(matcher *m, const pattern *p, const stacks *names);
void matcher_free(matcher *m);

/* Whether a name matches; 0 does not. */
bool matcher_name(matcher *m, uint32_t name);
/* Whether the function of a frame matches. */
bool matcher_stack(matcher *m, uint32_t stack);

#endif
