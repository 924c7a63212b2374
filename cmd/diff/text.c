/* text.c - a comparison for people: the verdict, how certain it is, and a row for each figure. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/diff/report.h"
#include "cmd/human.h"
#include "cmd/names.h"
#include "formats/common/plural.h"

enum { CELL = 32 };

/* ---- values -----------------------------------------------------------------------------------
 */

void diff_format_value(char *text, size_t room, diff_unit unit, double value)
{
    char number[CELL];
    if (isnan(value)) {
        snprintf(text, room, "-");
        return;
    }
    switch (unit) {
    case UNIT_PER_SECOND: snprintf(text, room, value < 100 ? "%.3g/s" : "%.0f/s", value); break;
    case UNIT_NS:
    case UNIT_NS_PER_SECOND:
        human_duration(number, sizeof number, value < 0x1p62 ? (int64_t)value : INT64_MAX);
        snprintf(text, room, unit == UNIT_NS ? "%s" : "%s/s", number);
        break;
    case UNIT_NUMBER: snprintf(text, room, "%.10g", value); break;
    case UNIT_SHARE: snprintf(text, room, "%.1f %%", 100 * value); break;
    case UNIT_BYTES:
        human_bytes(number, sizeof number, value < 0x1p62 ? (uint64_t)value : INT64_MAX);
        snprintf(text, room, "%s", number);
        break;
    }
}

void diff_format_change(char *text, size_t room, const diff_row *row)
{
    const double old = row->sides[DIFF_OLD].value, new = row->sides[DIFF_NEW].value;
    const double change = diff_row_change(row);
    if (isnan(old) || old <= 0)
        snprintf(text, room, "new");
    else if (isnan(new) || new <= 0)
        snprintf(text, room, "gone");
    else if (change >= 9)
        snprintf(text, room, "x%.3g", new / old);
    else
        snprintf(text, room, "%+.0f %%", 100 * change);
}

static void write_value(out *o, const diff_table *t, diff_unit unit, const diff_value *v,
                        size_t runs)
{
    char text[CELL], spread[CELL] = "";
    (void)t;
    diff_format_value(text, sizeof text, unit, v->value);
    if (runs > 1 && v->value > 0)
        snprintf(spread, sizeof spread, " +-%.0f%%", 100 * v->spread / v->value);
    out_printf(o, "%12s%-7s", text, spread);
}

void diff_write_subject(out *o, const diff_table *t, const diff_row *row, stack_view view)
{
    const diff_subject *of = &t->subjects[row->subject].of;
    out_printf(o, "%s ", diff_kind_name(of->kind));
    if (of->name || of->kind == DIFF_BLOCK) {
        names_write(o, t->names, of->name);
        out_char(o, ' ');
    }
    out_str(o, diff_figures[row->figure].name);
    if (of->kind == DIFF_BLOCK || of->kind == DIFF_SYSCALL) {
        out_str(o, ": ");
        names_write_frames(o, t->names, of->stack, view);
    }
}

/* ---- the first lines --------------------------------------------------------------------------
 */

static bool is_span(const diff_table *t, const diff_row *r)
{
    const uint8_t kind = t->subjects[r->subject].of.kind;
    return r->significant && (kind == DIFF_TASK || kind == DIFF_REGION);
}

/* Of which the sentence is: a latency of tasks if there is one. The rows are in order of time. */
static const diff_row *most_important(const diff_table *t)
{
    static const uint8_t wanted[] = {DIFF_P99, DIFF_P50, DIFF_MEAN, DIFF_COUNT};
    const diff_row *first = NULL, *span = NULL;
    for (size_t i = 0; i < t->row_count; i++) {
        const diff_row *r = &t->rows[i];
        first = first || !r->significant ? first : r;
        span = span || !is_span(t, r) ? span : r;
    }
    for (size_t k = 0; span && k < sizeof wanted; k++)
        for (const diff_row *r = span; r < t->rows + t->row_count && r->subject == span->subject;
             r++)
            if (r->figure == wanted[k] && r->significant)
                return r;
    return first;
}

/* Whether some tasks have become faster (1), slower (2), or both (3). */
static unsigned directions(const diff_table *t)
{
    unsigned found = 0;
    for (size_t i = 0; i < t->row_count; i++)
        if (is_span(t, &t->rows[i]) && diff_figures[t->rows[i].figure].unit == UNIT_NS)
            found |= diff_row_change(&t->rows[i]) < 0 ? 1 : 2;
    return found;
}

void diff_write_verdict(const diff_report *r, out *o)
{
    static const char *const faster[] = {"NEW differs", "NEW is faster", "NEW is slower",
                                         "NEW is faster in some tasks and slower in others"};
    const diff_table *t = r->t;
    const diff_row *row = most_important(t);
    char old[CELL], new[CELL], change[CELL];
    if (!row) {
        out_printf(o, "no significant difference in %zu row%s", t->tested, plural(t->tested));
        return;
    }
    const diff_unit unit = diff_figures[row->figure].unit;
    diff_format_value(old, sizeof old, unit, row->sides[DIFF_OLD].value);
    diff_format_value(new, sizeof new, unit, row->sides[DIFF_NEW].value);
    diff_format_change(change, sizeof change, row);
    out_printf(o, "%s: ", faster[directions(t)]);
    diff_write_subject(o, t, row, (stack_view){.frames = STACK_FRAMES, .folds = true});
    out_printf(o, " %s -> %s (%s)", old, new, change);
}

void diff_write_side(out *o, const diff_side *side)
{
    char text[CELL];
    human_duration(text, sizeof text, side->duration);
    out_printf(o, "%zu trace%s, %s", side->runs, plural(side->runs), text);
}

/* How many traces a side are needed for one row of so many to be significant. */
static size_t runs_needed(size_t tested)
{
    size_t runs = DIFF_LEAST_RUNS;
    while (runs < 64 && rank_test_least(runs, runs) * (double)tested > DIFF_ALPHA)
        runs++;
    return runs;
}

void diff_write_test(const diff_report *r, out *o)
{
    const diff_table *t = r->t;
    const size_t old = t->sides[DIFF_OLD].runs, new = t->sides[DIFF_NEW].runs;
    const double least = rank_test_least(old, new);
    if (t->parts)
        out_printf(o,
                   "One trace a side: a hint, from %d parts of each. What differs between runs of "
                   "one program is not seen; %d traces a side or more show it.",
                   DIFF_PARTS, DIFF_LEAST_RUNS);
    else if (least > DIFF_ALPHA)
        out_printf(o,
                   "With %zu and %zu traces no row can have p < %g (the least is %.2g): %d a side "
                   "are needed.",
                   old, new, DIFF_ALPHA, least, DIFF_LEAST_RUNS);
    else if (least * (double)t->tested > DIFF_ALPHA)
        out_printf(o, "If one row of %zu differs, that is seen with %zu traces a side.", t->tested,
                   runs_needed(t->tested));
}

static void write_head(const diff_report *r)
{
    const diff_table *t = r->t;
    out *o = r->out;
    diff_write_verdict(r, o);
    out_str(o, "\nold: ");
    diff_write_side(o, &t->sides[DIFF_OLD]);
    out_str(o, "; new: ");
    diff_write_side(o, &t->sides[DIFF_NEW]);
    out_printf(o, "; %zu of %zu tested row%s differ%s, of %zu\n", t->significant, t->tested,
               plural(t->tested), t->significant == 1 ? "s" : "", t->row_count);
    const size_t before = o->used;
    diff_write_test(r, o);
    if (o->used != before)
        out_char(o, '\n');
}

/* ---- rows -------------------------------------------------------------------------------------
 */

const diff_row **diff_shown(const diff_report *r, size_t *count, bool *failed)
{
    const diff_table *t = r->t;
    const diff_row **list = calloc(t->row_count + 1, sizeof *list);
    *count = 0;
    if (!list) {
        *failed = true;
        return NULL;
    }
    for (size_t i = 0; i < t->row_count && (r->top == 0 || *count < r->top); i++)
        if (r->all || t->rows[i].significant)
            list[(*count)++] = &t->rows[i];
    return list;
}

stack_view *diff_views(const diff_report *r, const diff_row *const *rows, size_t count,
                       bool *failed)
{
    stack_row *list = calloc(count + 1, sizeof *list);
    if (!list) {
        *failed = true;
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        const diff_subject *of = &r->t->subjects[rows[i]->subject].of;
        list[i].stack = of->stack;
        /* Rows of different figures and reasons look different. */
        list[i].group = of->name * DIFF_FIGURE_COUNT + rows[i]->figure;
    }
    stack_view *views = stack_views(r->t->names, list, count, true, failed);
    free(list);
    return views;
}

static void write_row(const diff_report *r, const diff_row *row, stack_view view)
{
    const diff_table *t = r->t;
    char change[CELL], p[CELL] = "";
    const diff_unit unit = diff_figures[row->figure].unit;
    for (unsigned side = 0; side < DIFF_SIDES; side++)
        write_value(r->out, t, unit, &row->sides[side], t->sides[side].runs);
    diff_format_change(change, sizeof change, row);
    if (row->tested)
        snprintf(p, sizeof p, row->q < 0.001 ? "<0.001" : "%.3f", row->q);
    out_printf(r->out, "%8s %7s  %s", change, row->tested ? p : "-",
               r->all && row->significant ? "* " : "");
    diff_write_subject(r->out, t, row, view);
    out_char(r->out, '\n');
}

bool diff_text(const diff_report *r)
{
    size_t count;
    bool failed = false;
    const diff_row **rows = diff_shown(r, &count, &failed);
    stack_view *views = rows ? diff_views(r, rows, count, &failed) : NULL;
    if (!failed) {
        const size_t all = r->all ? r->t->row_count : r->t->significant;
        write_head(r);
        if (count)
            out_printf(r->out, "\n%12s%-7s%12s%-7s%8s %7s\n", "old", "", "new", "", "change", "q");
        for (size_t i = 0; i < count; i++)
            write_row(r, rows[i], views[i]);
        if (count < all)
            out_printf(r->out, "and %zu more row%s: --top 0\n", all - count, plural(all - count));
    }
    free(views);
    free(rows);
    return !failed;
}

size_t diff_write_failed(out *o, const diff_table *t, const diff_condition *list, size_t count,
                         bool json)
{
    size_t failed = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < t->row_count; k++) {
            const diff_row *r = &t->rows[k];
            if (!diff_condition_is_about(&list[i], t, r) || !diff_condition_holds(&list[i], r))
                continue;
            failed++;
            if (json) {
                out_str(o, "{\"kind\":\"failed\",\"condition\":");
                out_json_string(o, list[i].text, strlen(list[i].text));
                out_str(o, "}\n");
                break;
            }
            char old[CELL], new[CELL], change[CELL];
            const diff_unit unit = diff_figures[r->figure].unit;
            diff_format_value(old, sizeof old, unit, r->sides[DIFF_OLD].value);
            diff_format_value(new, sizeof new, unit, r->sides[DIFF_NEW].value);
            diff_format_change(change, sizeof change, r);
            out_str(o, "failed: ");
            out_str(o, list[i].text);
            out_str(o, ": ");
            diff_write_subject(o, t, r, (stack_view){.frames = STACK_FRAMES, .folds = true});
            out_printf(o, " %s -> %s (%s)\n", old, new, change);
        }
    return failed;
}
