/* text.c - a critical path for people: what it consists of, and a timeline. */
#include <inttypes.h>
#include <stdlib.h>

#include "cmd/human.h"
#include "cmd/names.h"
#include "cmd/why/why.h"
#include "formats/common/plural.h"

/* Rows of a timeline if --top is not given; columns of the title of a sum and of a level; levels
 * beyond which rows are not indented further, so that the output stays proportional to the number
 * of rows. */
enum { USUAL_TOP = 50, TITLE = 26, INDENT = 2, MOST_INDENTED = 20 };

static void text_duration(out *o, int64_t ns)
{
    char text[WHY_DURATION];
    human_duration(text, sizeof text, ns);
    out_printf(o, " %11s", text);
}

static void text_share(out *o, int64_t ns, const path_interval *i)
{
    int64_t total = i->end - i->begin;
    out_printf(o, " %6.1f%%", total > 0 ? 100.0 * (double)ns / (double)total : 0.0);
}

static void text_goroutine(out *o, const paths *p, uint64_t id, uint32_t function)
{
    if (id == 0) {
        out_str(o, "no goroutine");
        return;
    }
    out_str(o, "goroutine ");
    out_u64(o, id);
    if (function) {
        out_char(o, ' ');
        names_write(o, p->stacks, function);
    }
    names_write_label(o, p->stacks, states_label_in(&p->labels, id));
}

/* ---- the interval -----------------------------------------------------------------------------
 */

/* " 1.000 s, from 2.000 s to 3.000 s" */
static void text_times(out *o, int64_t begin, int64_t end)
{
    char total[WHY_DURATION], from[WHY_DURATION], to[WHY_DURATION];
    human_duration(total, sizeof total, end - begin);
    human_duration(from, sizeof from, begin);
    human_duration(to, sizeof to, end);
    out_printf(o, " %s, from %s to %s", total, from, to);
}

static void text_heading(out *o, const paths *p, const path_interval *i)
{
    if (p->query.kind == PATH_TASK) {
        out_printf(o, "task %" PRIu64 " ", i->id);
        names_write(o, p->stacks, i->name);
        out_str(o, i->ended ? ", which ends on " : ", on ");
    } else if (p->query.kind == PATH_REGION) {
        out_str(o, "region ");
        names_write(o, p->stacks, i->name);
        out_str(o, " of ");
    }
    text_goroutine(o, p, i->goroutine, i->function);
    out_char(o, ':');
    text_times(o, i->begin, i->end);
    if (i->begin != i->whole_begin || i->end != i->whole_end) {
        out_str(o, ", of");
        text_times(o, i->whole_begin, i->whole_end);
    }
    out_str(o, i->begun ? "" : "; it began before the trace");
    out_str(o, i->ended ? "\n" : "; it did not end\n");
}

static void text_sum(out *o, const path_interval *i, int64_t ns, uint64_t count)
{
    text_duration(o, ns);
    text_share(o, ns, i);
    if (count)
        out_printf(o, " %8" PRIu64 " part%s", count, plural(count));
    out_char(o, '\n');
}

static bool text_sums(out *o, const paths *p, const path_interval *i, const path_sums *sums,
                      int indent)
{
    bool failed = false;
    path_reason *reasons = why_reasons(sums, &failed);
    for (size_t k = 0; k < PATH_PART_KINDS; k++) {
        if (sums->counts[k] == 0)
            continue;
        out_printf(o, "%*s%-*s", indent, "", TITLE - indent, path_part_titles[k]);
        text_sum(o, i, sums->ns[k], sums->counts[k]);
        for (size_t n = 0; k == PATH_WAITING && reasons && n < sums->reasons.count; n++) {
            size_t size, room = (size_t)(TITLE - indent - INDENT);
            names_text(p->stacks, reasons[n].reason, &size);
            out_printf(o, "%*s", indent + INDENT, "");
            names_write(o, p->stacks, reasons[n].reason);
            out_printf(o, "%*s", size < room ? (int)(room - size) : 0, "");
            text_sum(o, i, reasons[n].ns, 0);
        }
    }
    free(reasons);
    return !failed;
}

/* What the interval consists of, and then what its waits for others do. */
static bool text_all_sums(out *o, const paths *p, const path_interval *i)
{
    bool done = text_sums(o, p, i, &p->own, INDENT);
    if (p->divided == 0)
        return done;
    char divided[WHY_DURATION];
    human_duration(divided, sizeof divided, p->divided);
    out_printf(o, "  what others did in %s of these waits:\n", divided);
    return text_sums(o, p, i, &p->others, 2 * INDENT) && done;
}

/* ---- rows -------------------------------------------------------------------------------------
 */

static void text_at(out *o, const paths *p, const char *before, uint32_t stack)
{
    if (stack == 0)
        return;
    out_str(o, before);
    names_write_stack(o, p->stacks, stack);
}

static void text_reason(out *o, const paths *p, uint32_t reason)
{
    if (reason == 0)
        return;
    out_str(o, " (");
    names_write(o, p->stacks, reason);
    out_char(o, ')');
}

/* The goroutine that ended a state. */
static void text_cause(out *o, const path_part *row, const char *before)
{
    if (row->cause == 0)
        return;
    out_str(o, before);
    if (row->cause == row->goroutine)
        out_str(o, "itself");
    else
        out_printf(o, "goroutine %" PRIu64, row->cause);
}

static void text_waits_for(out *o, const paths *p, const path_part *row)
{
    if (row->waits_for == 0)
        return;
    out_str(o, " for ");
    names_write(o, p->stacks, row->waits_for);
}

static void text_state(out *o, const paths *p, const path_part *row)
{
    out_str(o, path_part_titles[row->kind]);
    switch (row->kind) {
    case PATH_EXECUTION:
    case PATH_ASSIST: text_at(o, p, " until ", row->stack); break;
    case PATH_SCHEDULING:
        text_reason(o, p, row->reason);
        if (row->cause != row->goroutine)
            text_cause(o, row, ", made runnable by ");
        text_at(o, p, " at ", row->stack);
        break;
    case PATH_WAITING:
        text_reason(o, p, row->reason);
        text_waits_for(o, p, row);
        text_at(o, p, " at ", row->stack);
        text_cause(o, row, row->spans && !row->waits_for ? ", for " : ", ended by ");
        break;
    default: text_at(o, p, " at ", row->stack);
    }
}

void why_full_stack(out *o, const stacks *s, uint32_t stack)
{
    enum { COLUMN = 36 };
    for (size_t n = 0; n < stacks_depth(s, stack); n++) {
        const stacks_frame *frame = stacks_frame_at(s, stack, n);
        out_printf(o, "%*s", COLUMN, "");
        names_write(o, s, frame->function);
        out_str(o, " ");
        names_write(o, s, frame->file);
        out_printf(o, ":%" PRIu64 "\n", frame->line);
    }
}

static void text_indent(out *o, uint32_t depth)
{
    out_printf(o, "  %*s", (int)(INDENT * (depth < MOST_INDENTED ? depth : MOST_INDENTED)), "");
    if (depth > MOST_INDENTED)
        out_printf(o, "[%" PRIu32 "] ", depth);
}

static void text_row(out *o, const paths *p, const path_interval *i, const path_part *row)
{
    text_duration(o, row->begin - i->begin);
    text_duration(o, row->end - row->begin);
    if (row->spans)
        out_printf(o, " %7s", "");
    else
        text_share(o, row->end - row->begin, i);
    text_indent(o, row->depth);
    text_goroutine(o, p, row->goroutine, row->function);
    out_str(o, ": ");
    text_state(o, p, row);
    out_char(o, '\n');
}

/* Rows of one wait that follow each other and are not shown. What is in a wait that is not shown
 * belongs to that wait. */
typedef struct omitted {
    uint64_t count;
    int64_t begin, end;
    uint32_t depth;
} omitted;

static void text_omitted(out *o, const path_interval *i, omitted *rest)
{
    if (rest->count) {
        text_duration(o, rest->begin - i->begin);
        text_duration(o, rest->end - rest->begin);
        text_share(o, rest->end - rest->begin, i);
        text_indent(o, rest->depth);
        out_printf(o, "(%" PRIu64 " shorter part%s)\n", rest->count, plural(rest->count));
    }
    rest->count = 0;
}

static void omit_row(out *o, const path_interval *i, omitted *rest, const path_part *row)
{
    if (rest->count && row->depth > rest->depth)
        return;
    if (row->depth != rest->depth)
        text_omitted(o, i, rest);
    if (rest->count++ == 0)
        *rest = (omitted){.count = 1, .begin = row->begin, .depth = row->depth};
    rest->end = row->end;
}

/* Choose the longest rows. A wait is at least as long as each row in it and is before them, so it
 * is shown if one of them is. */
static bool choose_rows(paths *p, uint64_t top, longest *chosen)
{
    bool failed = false;
    size_t slot;
    longest_init(chosen, top);
    for (uint64_t n = 0; top && n < p->parts.count && !failed; n++) {
        const path_part *row = paths_part(p, n);
        if (!row)
            break;
        longest_add(chosen, row->end - row->begin, &slot, &failed);
    }
    longest_sort(chosen, true);
    return !failed;
}

bool why_text(out *o, paths *p, const path_interval *i, const why_view *view)
{
    const uint64_t top = view->top == WHY_USUAL ? USUAL_TOP : view->top;
    longest chosen = {0};
    omitted rest = {0};
    size_t next = 0;
    text_heading(o, p, i);
    bool done = text_all_sums(o, p, i) && choose_rows(p, top, &chosen);
    if (done && p->parts.count > 0)
        out_printf(o, " %11s %11s %7s\n", "after", "duration", "share");
    for (uint64_t n = 0; done && n < p->parts.count; n++) {
        const path_part *at = paths_part(p, n);
        if (!at)
            break;
        path_part row = *at;
        if (top && !(next < chosen.count && chosen.items[next].order == n)) {
            omit_row(o, i, &rest, &row);
            continue;
        }
        next++;
        text_omitted(o, i, &rest);
        text_row(o, p, i, &row);
        if (view->stacks)
            why_full_stack(o, p->stacks, row.stack);
    }
    text_omitted(o, i, &rest);
    longest_free(&chosen);
    return done;
}
