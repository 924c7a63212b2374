/*
 * where.h - parse an expression of the command line, and report what is wrong with it.
 */
#ifndef CMD_WHERE_H
#define CMD_WHERE_H

#include <pthread.h>

#include "cmd/asked.h"
#include "cmd/input.h"
#include "formats/analyse/places.h"

/* The names and reasons in an expression, for all traces. */
typedef struct where_names {
    struct where_name {
        asked_name name;
        moment_kind kind;
    } * names;
    size_t count;
    bool stopped; /* a trace was not read to its end */
    pthread_mutex_t lock;
} where_names;

/* Parse an expression, which is borrowed. where: what messages begin with, "" or "--where: ".
 * Returns an exit status, after a diagnostic if it is not EXIT_SOUND; free the expression in any
 * case. */
int where_open(expression *x, const char *text, const char *where);

/* Collect the names. False: memory was refused; call where_names_free in any case. */
bool where_names_init(where_names *w, const expression *x);
void where_names_free(where_names *w);

/* For find_job: adds those of a trace. Several threads may call it. */
void where_named(void *ctx, const stacks *names, moment_kind kind, uint32_t name);

/* A trace was searched. */
void where_names_end(where_names *w, const find_job *job);

/* Print a note on each name that no trace has. */
void where_names_report(where_names *w);

/* Find the moments of an input with a reader of its own, whose problems the other one reports.
 * Returns an exit status, after a diagnostic if it is not EXIT_SOUND. */
int where_find(places *found, find_job *job, input *in);

/* Report why finding moments failed, if it did. Returns an exit status. */
int where_finish(const find_job *job, const char *where);

#endif
