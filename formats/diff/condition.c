#include "formats/diff/condition.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *skip_spaces(const char *at)
{
    return at + strspn(at, " \t");
}

/* The number of the word of that length; -1: there is none. */
static int find_word(const char *at, size_t size, const char *(*word)(size_t n))
{
    for (int n = 0; word((size_t)n); n++)
        if (strlen(word((size_t)n)) == size && strncmp(word((size_t)n), at, size) == 0)
            return n;
    return -1;
}

/* The kinds that have rows. */
static const char *row_kind(size_t n)
{
    return n < DIFF_SAMPLE ? diff_kind_name(n) : NULL;
}

static const char *figure_name(size_t n)
{
    return n < DIFF_FIGURE_COUNT ? diff_figures[n].name : NULL;
}

static void join(char *message, size_t room, const char *before, const char *(*word)(size_t n),
                 unsigned set)
{
    size_t used = (size_t)snprintf(message, room, "%s", before);
    const char *comma = "";
    for (size_t n = 0; word(n) && used < room; n++)
        if (set >> n & 1) {
            used += (size_t)snprintf(message + used, room - used, "%s%s", comma, word(n));
            comma = ", ";
        }
}

/* ("NAME"). Returns what follows; NULL: it is not one. */
static const char *parse_name(diff_condition *c, const char *at)
{
    if (*at != '(')
        return at;
    at = skip_spaces(at + 1);
    if (*at != '"')
        return NULL;
    c->named = true;
    c->name = ++at;
    while (*at && *at != '"')
        at += at[0] == '\\' && at[1] ? 2 : 1;
    c->name_size = (size_t)(at - c->name);
    if (*at != '"')
        return NULL;
    at = skip_spaces(at + 1);
    return *at == ')' ? at + 1 : NULL;
}

static bool parse_figure(diff_condition *c, const char **at, char *message, size_t room)
{
    const size_t size = strspn(*at, "abcdefghijklmnopqrstuvwxyz0123456789");
    const int figure = find_word(*at, size, figure_name);
    const unsigned known = diff_figures_of(c->kind);
    if (figure < 0 || !(known >> figure & 1)) {
        char before[64];
        snprintf(before, sizeof before, "%s has the figures ", diff_kind_name(c->kind));
        join(message, room, before, figure_name, known);
        return false;
    }
    c->figure = (diff_figure)figure;
    *at = skip_spaces(*at + size);
    return true;
}

/* The factor of a unit after a number; 0: it is not one of the figure's. */
static double factor_of(diff_unit of, const char *unit)
{
    static const struct {
        const char *name;
        double factor;
    } durations[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    static const struct {
        const char *name;
        double factor;
    } sizes[] = {{"", 1}, {"B", 1}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}};
    if (of == UNIT_NS || of == UNIT_NS_PER_SECOND) {
        for (size_t i = 0; i < sizeof durations / sizeof *durations; i++)
            if (strcmp(unit, durations[i].name) == 0)
                return durations[i].factor;
        return 0;
    }
    if (of == UNIT_BYTES)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            if (strcmp(unit, sizes[i].name) == 0)
                return sizes[i].factor;
    return *unit == '\0' ? 1 : 0;
}

/* [+-]NUMBER and % or a unit. */
static bool parse_limit(diff_condition *c, const char *at)
{
    char *end, unit[4] = "";
    const bool sign = *at == '+' || *at == '-';
    const char *digits = at + sign;
    if (*digits < '0' || *digits > '9')
        return false;
    c->limit = strtod(at, &end);
    const char *after = skip_spaces(end);
    const size_t size = strcspn(after, " \t");
    if (size >= sizeof unit || *skip_spaces(after + size) || !isfinite(c->limit))
        return false;
    memcpy(unit, after, size);
    c->percent = strcmp(unit, "%") == 0;
    c->change = sign || c->percent;
    const double factor = c->percent ? 0.01 : factor_of(diff_figures[c->figure].unit, unit);
    c->limit *= factor;
    return factor > 0;
}

bool diff_condition_parse(diff_condition *c, const char *text, char *message, size_t room)
{
    const char *at = skip_spaces(text);
    const size_t size = strspn(at, "abcdefghijklmnopqrstuvwxyz");
    const int kind = find_word(at, size, row_kind);
    *c = (diff_condition){.text = text};
    if (kind < 0) {
        join(message, room, "it begins with one of ", row_kind, ~0U);
        return false;
    }
    c->kind = (diff_kind)kind;
    at = parse_name(c, at + size);
    snprintf(message, room,
             "the name is in quotes and parentheses, and a figure follows: "
             "task(\"checkout\").p99");
    if (!at || *at++ != '.')
        return false;
    if (!parse_figure(c, &at, message, room))
        return false;
    snprintf(message, room, "after the figure there is >, >=, < or <=");
    if (*at != '<' && *at != '>')
        return false;
    c->below = *at++ == '<';
    c->or_equal = *at == '=';
    at = skip_spaces(at + c->or_equal);
    const char *unit[] = {[UNIT_PER_SECOND] = "3 (per second)",
                          [UNIT_NS] = "20ms",
                          [UNIT_NS_PER_SECOND] = "20ms (a second)",
                          [UNIT_NUMBER] = "3",
                          [UNIT_SHARE] = "0.25",
                          [UNIT_BYTES] = "64MB"};
    snprintf(message, room, "the limit is a change, such as +10%%, or a value, such as %s",
             unit[diff_figures[c->figure].unit]);
    return parse_limit(c, at);
}

/* ---- rows -------------------------------------------------------------------------------------
 */

/* Moves on in the name by that text, if it continues so. */
static bool continues(const char **at, const char *end, const char *text, size_t size)
{
    const char *from = *at;
    for (size_t i = 0; i < size; i++) {
        if (from < end && *from == '\\')
            from++;
        if (from >= end || *from++ != text[i])
            return false;
    }
    *at = from;
    return true;
}

static bool is_name(const diff_condition *c, const stacks *names, uint32_t name)
{
    size_t size;
    const char *text = stacks_text(names, name, &size), *at = c->name,
               *end = c->name + c->name_size;
    return continues(&at, end, text, size) && at == end;
}

/* Whether these are the innermost functions of the stack. */
static bool is_stack(const diff_condition *c, const stacks *names, uint32_t stack)
{
    static const char between[] = " < ";
    const char *at = c->name, *end = c->name + c->name_size;
    for (size_t i = 0; i < stacks_depth(names, stack); i++) {
        size_t size;
        const char *text = stacks_text(names, stacks_frame_at(names, stack, i)->function, &size);
        if ((i > 0 && !continues(&at, end, between, sizeof between - 1)) ||
            !continues(&at, end, text, size))
            return false;
        if (at == end)
            return true;
    }
    return false;
}

bool diff_condition_is_about(const diff_condition *c, const diff_table *t, const diff_row *r)
{
    const diff_subject *of = &t->subjects[r->subject].of;
    if (of->kind != c->kind || r->figure != c->figure)
        return false;
    if (!c->named)
        return of->kind != DIFF_SCHED || of->name == 0;
    return is_name(c, t->names, of->name) || (of->stack && is_stack(c, t->names, of->stack));
}

bool diff_condition_holds(const diff_condition *c, const diff_row *r)
{
    const double old = r->sides[DIFF_OLD].value, new = r->sides[DIFF_NEW].value;
    const double value = c->percent ? diff_row_change(r) : c->change ? new - old : new;
    if (isnan(value) || (c->change && !r->significant))
        return false;
    if (c->or_equal && value == c->limit)
        return true;
    return c->below ? value < c->limit : value > c->limit;
}
