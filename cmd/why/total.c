/* total.c - critical paths in total, as text and as JSON Lines. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/human.h"
#include "cmd/names.h"
#include "cmd/why/why.h"
#include "formats/analyse/histogram.h"
#include "formats/analyse/stack_views.h"
#include "formats/common/plural.h"

/* Stacks that a table shows if --top is not given; columns of a state, at least and at most. */
enum { USUAL_TOP = 10, LEAST_TITLE = 26, MOST_TITLE = 46 };

/* A table that is being written. */
typedef struct total_table {
    out *o;
    const stacks *stacks;
    int64_t ns; /* of all rows */
    path_total_row *rows;
    size_t count;
    size_t *shown; /* by row: 1 + the index of its view; 0: its stack is not shown */
    stack_view *views;
    int title; /* columns of a state */
    bool full; /* whole stacks */
} total_table;

static const char *table_name(unsigned table)
{
    return table == PATH_OWN ? "own" : "leaf";
}

/* Whether the rows of that kind differ by their stacks. */
static bool has_stacks(const path_total *total)
{
    return total->kind == PATH_WAITING || total->kind == PATH_SYSCALL;
}

/* ---- text -------------------------------------------------------------------------------------
 */

/* "the 3 slowest of 90 tasks: 1.234 s in total, from 400.000 ms to 420.000 ms each" */
static void text_heading(out *o, const paths *p, const path_totals *t)
{
    char text[3][WHY_DURATION];
    const char *kind = why_kind_name(p->query.kind);
    human_duration(text[0], sizeof text[0], t->ns);
    human_duration(text[1], sizeof text[1], t->shortest);
    human_duration(text[2], sizeof text[2], t->longest);
    if (p->matched > t->count && t->count == 1)
        out_printf(o, "the slowest of %" PRIu64 " %ss", p->matched, kind);
    else if (p->matched > t->count)
        out_printf(o, "the %" PRIu64 " slowest of %" PRIu64 " %ss", t->count, p->matched, kind);
    else
        out_printf(o, "%s%" PRIu64 " %s%s", t->count > 1 ? "all " : "", t->count, kind,
                   plural(t->count));
    out_printf(o, ": %s", text[0]);
    if (t->count > 1)
        out_printf(o, " in total, from %s to %s each", text[1], text[2]);
    out_char(o, '\n');
}

static void text_figures(const total_table *t, int64_t ns, uint64_t parts)
{
    char text[WHY_DURATION];
    human_duration(text, sizeof text, ns);
    out_printf(t->o, " %11s %6.1f%% %8" PRIu64 " part%s", text,
               t->ns > 0 ? 100.0 * (double)ns / (double)t->ns : 0.0, parts, plural(parts));
}

/* After the figures of a row. */
static void text_stack(const total_table *t, size_t n)
{
    const path_total *total = &t->rows[n].total;
    const stack_view *view = &t->views[t->shown[n] - 1];
    out_str(t->o, total->parts == 1 ? "   " : "  ");
    out_str(t->o, total->stack ? "at " : "");
    names_write_frames(t->o, t->stacks, total->stack, *view);
    out_char(t->o, '\n');
    if (t->full)
        why_full_stack(t->o, t->stacks, total->stack);
}

static void text_state_name(const total_table *t, uint32_t state)
{
    size_t size;
    names_text(t->stacks, state, &size);
    out_str(t->o, "    ");
    names_write(t->o, t->stacks, state);
    out_printf(t->o, "%*s", size < (size_t)t->title ? t->title - (int)size : 0, "");
}

/* The rows of one state, from the first on. Returns the first one of the next state. */
static size_t text_state(const total_table *t, size_t first)
{
    const path_total_row *rows = t->rows;
    path_total rest = {0};
    size_t end = first, omitted = 0;
    while (end < t->count && rows[end].state == rows[first].state)
        end++;
    text_state_name(t, rows[first].state);
    text_figures(t, rows[first].state_ns, rows[first].state_parts);
    if (end - first == 1 && t->shown[first]) {
        text_stack(t, first);
        return end;
    }
    out_char(t->o, '\n');
    for (size_t n = first; end - first > 1 && n < end; n++) {
        if (!t->shown[n]) {
            rest.ns = sum_of_times(rest.ns, rows[n].total.ns);
            rest.parts += rows[n].total.parts;
            omitted++;
            continue;
        }
        out_printf(t->o, "    %*s", t->title, "");
        text_figures(t, rows[n].total.ns, rows[n].total.parts);
        text_stack(t, n);
    }
    if (omitted > 0) {
        out_printf(t->o, "    %*s", t->title, "");
        text_figures(t, rest.ns, rest.parts);
        out_printf(t->o, "%s(%zu other stack%s)\n", rest.parts == 1 ? "   " : "  ", omitted,
                   plural(omitted));
    }
    return end;
}

/* Chooses the longest rows that have stacks. of, list: room for all rows. */
static bool choose_stacks(total_table *t, uint64_t top, size_t *of, stack_row *list)
{
    longest chosen;
    size_t slot;
    bool failed = false;
    longest_init(&chosen, top);
    for (size_t n = 0; n < t->count; n++)
        if (has_stacks(&t->rows[n].total) &&
            longest_add(&chosen, t->rows[n].total.ns, &slot, &failed))
            of[slot] = n;
    for (size_t k = 0; k < chosen.count; k++) {
        const size_t n = of[chosen.items[k].slot];
        t->shown[n] = k + 1;
        list[k] = (stack_row){.group = t->rows[n].state, .stack = t->rows[n].total.stack};
    }
    if (!failed)
        t->views = stack_views(t->stacks, list, chosen.count, true, &failed);
    longest_free(&chosen);
    return !failed;
}

static void find_title(total_table *t)
{
    size_t size;
    t->title = LEAST_TITLE;
    for (size_t n = 0; n < t->count; n++) {
        names_text(t->stacks, t->rows[n].state, &size);
        const int title = size < MOST_TITLE ? (int)size : MOST_TITLE;
        t->title = title > t->title ? title : t->title;
    }
}

static bool text_table(out *o, const path_totals *from, unsigned which, uint64_t top, bool full)
{
    bool failed;
    total_table t = {.o = o, .stacks = from->stacks, .ns = from->ns, .full = full};
    t.rows = path_totals_rows(from, which, &t.count, &failed);
    t.shown = calloc(t.count + 1, sizeof *t.shown);
    size_t *of = calloc(t.count + 1, sizeof *of);
    stack_row *list = calloc(t.count + 1, sizeof *list);
    bool done = !failed && t.shown && of && list && choose_stacks(&t, top, of, list);
    find_title(&t);
    for (size_t n = 0; done && n < t.count;)
        n = text_state(&t, n);
    free(t.rows);
    free(t.shown);
    free(t.views);
    free(of);
    free(list);
    return done;
}

bool why_total_text(out *o, const paths *p, const path_totals *t, const why_view *view)
{
    const uint64_t top = view->top == WHY_USUAL ? USUAL_TOP : view->top;
    text_heading(o, p, t);
    out_str(o, "  what they did themselves:\n");
    bool done = text_table(o, t, PATH_OWN, top ? top : UINT64_MAX, view->stacks);
    if (t->divided == 0)
        return done;
    out_str(o,
            "  the same time, with waits divided into what the goroutines that ended them did:\n");
    return done && text_table(o, t, PATH_LEAVES, top ? top : UINT64_MAX, view->stacks);
}

/* ---- JSON -------------------------------------------------------------------------------------
 */

static void json_row(out *o, const paths *p, const path_totals *t, unsigned table,
                     const path_total *row)
{
    out_printf(o, "{\"kind\":\"%s\",\"state\":\"%s\",\"reason\":", table_name(table),
               path_part_names[row->kind]);
    if (row->reason)
        names_write_json(o, p->stacks, row->reason);
    else
        out_str(o, "null");
    out_printf(o, ",\"ns\":%" PRId64 ",\"parts\":%" PRIu64, row->ns, row->parts);
    names_write_json_stack(o, t->stacks, row->stack);
    out_str(o, "}\n");
}

static bool json_table(out *o, const paths *p, const path_totals *t, unsigned table)
{
    size_t count;
    bool failed;
    path_total_row *rows = path_totals_rows(t, table, &count, &failed);
    for (size_t n = 0; n < count; n++)
        json_row(o, p, t, table, &rows[n].total);
    free(rows);
    return !failed;
}

bool why_total_json(out *o, const paths *p, const path_totals *t)
{
    out_printf(o,
               "{\"kind\":\"total\",\"of\":\"%s\",\"count\":%" PRIu64 ",\"matched\":%" PRIu64
               ",\"total_ns\":%" PRId64 ",\"shortest_ns\":%" PRId64 ",\"longest_ns\":%" PRId64
               ",\"divided_ns\":%" PRId64 "}\n",
               why_kind_name(p->query.kind), t->count, p->matched, t->ns, t->shortest, t->longest,
               t->divided);
    return json_table(o, p, t, PATH_OWN) && json_table(o, p, t, PATH_LEAVES);
}
