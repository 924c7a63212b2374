/*
 * condition.h - conditions on rows: task("checkout").p99 > +10%.
 *
 *   KIND[("NAME")].FIGURE OP LIMIT
 *
 * OP is >, >=, < or <=. LIMIT is a change ("+10%", "-5%", "10%"; with a sign also a time, such as
 * +5ms, or a number), or without a sign and % the new value itself. NAME is a task type, region
 * type, function or reason; of a stack it may also be its innermost functions, as they are written:
 * "sync.(*Mutex).Lock < main.lookup".
 */
#ifndef DIFF_CONDITION_H
#define DIFF_CONDITION_H

#include "formats/diff/diff.h"

typedef struct diff_condition {
    const char *text; /* borrowed, as all other texts */
    diff_kind kind;
    diff_figure figure;
    bool named;
    const char *name; /* within text; a backslash is before each '"' and '\' of the name */
    size_t name_size;
    bool below, or_equal; /* <, <= */
    bool change, percent; /* a change, in percent of the old value */
    double limit;         /* in the unit of the figure; a share of the old value */
} diff_condition;

/* False: the message says what is wrong. */
bool diff_condition_parse(diff_condition *c, const char *text, char *message, size_t room);

/* Whether the condition is about the row. */
bool diff_condition_is_about(const diff_condition *c, const diff_table *t, const diff_row *r);

/* Whether it holds. A change that is not significant does not count; a value does. */
bool diff_condition_holds(const diff_condition *c, const diff_row *r);

#endif
