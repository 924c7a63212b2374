/*
 * flames.c - profiles as flame graphs, which the script draws, and as tables of functions.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/analyse/flames.h"
#include "formats/html/html.h"

static void put_names(html *h, const flames *f)
{
    out *o = h->out;
    uint64_t begin = o->written + o->used;
    size_t count;
    const uint32_t *names = flames_names(f, &count);
    for (size_t i = 0; i < count; i++) {
        size_t size;
        const char *text = stacks_text(h->s->stacks, names[i], &size);
        bool fits = o->written + o->used - begin < HTML_NAMES;
        out_str(o, i ? ",\"" : "\"");
        html_json_text(o, size ? text : "(unknown)", size ? size : strlen("(unknown)"),
                       fits ? HTML_NAME : HTML_SHORT_NAME);
        out_char(o, '"');
    }
}

/* All flame graphs, for the script. */
static void put_data(html *h)
{
    flames *f = flames_new(h->out, h->s->stacks);
    if (!f) {
        h->failed = true;
        return;
    }
    out_str(h->out, "<script type=\"application/json\" id=\"flames\">{\"profiles\":[");
    for (size_t i = 0, written = 0; i < PROFILE_COUNT && !h->failed; i++) {
        if (h->profiles[i].count == 0)
            continue;
        out_str(h->out, written++ ? ",\n" : "\n");
        h->failed |= !flames_put(f, &h->profiles[i]);
    }
    out_str(h->out, "],\n\"names\":[");
    put_names(h, f);
    out_str(h->out, "]}</script>\n");
    flames_free(f);
}

/* ---- tables of functions ----------------------------------------------------------------------
 */

typedef struct function_time {
    uint32_t name;
    int64_t self, total; /* in the function; in it and in what it calls */
} function_time;

/* Adds the samples to each function of their stacks once. last: the sample that was added last. */
static void add_functions(const profile *p, function_time *by_name, uint32_t *last)
{
    for (uint32_t i = 0; i < p->count; i++) {
        const profile_sample *s = &p->samples[i];
        size_t depth = stacks_depth(p->stacks, s->stack);
        for (size_t n = 0; n < depth || n == 0; n++) {
            uint32_t name = depth ? stacks_frame_at(p->stacks, s->stack, n)->function : 0;
            if (n == 0)
                by_name[name].self = sum_of_times(by_name[name].self, s->ns);
            if (last[name] != i + 1)
                by_name[name].total = sum_of_times(by_name[name].total, s->ns);
            last[name] = i + 1;
        }
    }
}

static bool is_longer(const function_time *a, const function_time *b)
{
    return a->self != b->self ? a->self > b->self : a->total > b->total;
}

/* The functions with the most time, in that order. Returns their number. */
static size_t find_longest(const function_time *by_name, size_t names, function_time *list)
{
    size_t count = 0;
    for (size_t i = 0; i < names; i++) {
        function_time made = by_name[i];
        made.name = (uint32_t)i;
        size_t at = count;
        if (made.total == 0 || (at == HTML_PROFILE_FUNCTIONS && !is_longer(&made, &list[at - 1])))
            continue;
        at -= at == HTML_PROFILE_FUNCTIONS;
        count = at + 1;
        for (; at > 0 && is_longer(&made, &list[at - 1]); at--)
            list[at] = list[at - 1];
        list[at] = made;
    }
    return count;
}

static void put_functions(html *h, const profile *p)
{
    static const char *const columns[] = {
        "Function", "#Self", "#Share of all", "#With what it calls", "#Share of all", NULL};
    size_t names = h->s->stacks->name_count + 1;
    function_time *by_name = calloc(names, sizeof *by_name), list[HTML_PROFILE_FUNCTIONS];
    uint32_t *last = calloc(names, sizeof *last);
    double all = (double)flames_sum(p);
    if (by_name && last) {
        add_functions(p, by_name, last);
        size_t count = find_longest(by_name, names, list);
        html_table(h->out, "Functions with the most time of their own", "sorts", columns);
        for (size_t i = 0; i < count; i++) {
            out_str(h->out, "<tr><td class=\"name\">");
            html_name(h, list[i].name);
            html_cell_time(h->out, list[i].self);
            out_printf(h->out, "<td class=\"n\" data-v=\"%" PRId64 "\">", list[i].self);
            html_share(h->out, (double)list[i].self / all);
            html_cell_time(h->out, list[i].total);
            out_printf(h->out, "<td class=\"n\" data-v=\"%" PRId64 "\">", list[i].total);
            html_share(h->out, (double)list[i].total / all);
            out_str(h->out, "</tr>\n");
        }
        html_table_end(h->out);
    } else {
        h->failed = true;
    }
    free(by_name);
    free(last);
}

/* ---- the section ------------------------------------------------------------------------------
 */

static const struct {
    const char *title, *explanation;
} texts[PROFILE_COUNT] = {
    [PROFILE_WALL] =
        {"All time (wall)",
         "What goroutines do and wait for; the innermost frame is the state. Goroutines "
         "overlap, so the sum exceeds the length of the trace."},
    [PROFILE_CPU] = {"CPU samples (cpu)", "Where the program computes; a sample is 10 ms."},
    [PROFILE_OFFCPU] = {"Not running (offcpu)",
                        "Where goroutines stopped running, and what they waited for."},
    [PROFILE_SYNC] = {"Channels and locks (sync)",
                      "Where goroutines wait for channels, select and the locks of package sync."},
    [PROFILE_NET] = {"Network (net)", "Where goroutines wait for the network."},
    [PROFILE_SYSCALL] = {"System calls (syscall)", "Which system calls take the time."},
    [PROFILE_SCHED] = {"Scheduler (sched)",
                       "Time that goroutines wait for a proc, by what made them runnable."},
};

static const profile_kind shown[PROFILE_COUNT] = {PROFILE_WALL, PROFILE_CPU,     PROFILE_OFFCPU,
                                                  PROFILE_SYNC, PROFILE_SYSCALL, PROFILE_NET,
                                                  PROFILE_SCHED};

void html_flames(html *h)
{
    out *o = h->out;
    size_t count = 0;
    out_str(
        o,
        "<section id=\"profiles\">\n<h2>Flame graphs</h2>\n<p>Time by stack: a frame is as wide as "
        "its share of the time, and what it calls is below it. What is still going on at the end "
        "of "
        "the trace does not count.</p>\n<noscript><p>The flame graphs need scripts; the tables "
        "below do not.</p></noscript>\n");
    for (size_t i = 0; i < PROFILE_COUNT && !h->failed; i++) {
        const profile *p = &h->profiles[shown[i]];
        if (p->count == 0)
            continue;
        out_printf(o, "<details class=\"profile\"%s>\n<summary>%s: ", count++ ? "" : " open",
                   texts[p->kind].title);
        html_duration(o, flames_sum(p));
        out_printf(o, "</summary>\n<p>%s</p>\n<div class=\"flame\" data-kind=\"%s\"></div>\n",
                   texts[p->kind].explanation, profile_name(p->kind));
        put_functions(h, p);
        out_str(o, "</details>\n");
    }
    if (h->profiles[PROFILE_CPU].count == 0)
        out_str(o,
                h->what
                    ? "<p>The selected part of the trace has no CPU samples.</p>\n"
                    : "<p>The trace has no CPU samples, which Go 1.19 and later record while a CPU "
                      "profile is taken.</p>\n");
    put_data(h);
    out_str(o, "</section>\n");
}
