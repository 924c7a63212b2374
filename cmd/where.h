/*
 * where.h - parse an expression of the command line, and report what is wrong with it.
 */
#ifndef CMD_WHERE_H
#define CMD_WHERE_H

#include "cmd/input.h"
#include "formats/analyse/places.h"

/* Parse an expression, which is borrowed. where: what messages begin with, "" or "--where: ".
 * Returns an exit status, after a diagnostic if it is not EXIT_SOUND; free the expression in any
 * case. */
int where_open(expression *x, const char *text, const char *where);

/* Find the moments of an input with a reader of its own, whose problems the other one reports.
 * Returns an exit status, after a diagnostic if it is not EXIT_SOUND. */
int where_find(places *found, find_job *job, input *in);

/* Report why finding moments failed, if it did. Returns an exit status. */
int where_finish(const find_job *job, const char *where);

#endif
