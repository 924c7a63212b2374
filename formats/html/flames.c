/*
 * flames.c - profiles as flame graphs, which the script draws, and as tables of functions.
 *
 * The samples are sorted by their stacks from the outermost function on, so that the frames of the
 * tree come one after another and need not be stored. Of the frames only the HTML_FRAMES largest
 * are written: a caller is at least as large as what it calls, so they are a tree.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/html/html.h"
#include "formats/common/vector.h"

/* What a frame shows: a name, of a function or, if bit 0 is set, of a state. */
typedef uint64_t frame_key;

/* A frame whose calls are not complete. */
typedef struct open_frame {
    frame_key key;
    int64_t ns;
} open_frame;

typedef struct flames {
    html *h;
    const profile *p;
    const uint32_t *order;           /* of the samples */
    open_frame open[HTML_DEPTH + 1]; /* from the outermost on */
    size_t depth;
    int64_t largest[HTML_FRAMES + 1]; /* a heap whose first item is the least */
    size_t largest_count;
    int64_t least; /* frames up to this value are not written */
    uint64_t written, omitted;
    uint32_t *index; /* + 1 in used, by name */
    uint32_t *used;  /* names */
    size_t used_count, used_room;
    bool writes;
} flames;

/* ---- the frames of a sample -------------------------------------------------------------------
 */

static bool has_state(const profile *p)
{
    return p->kind == PROFILE_OFFCPU || p->kind == PROFILE_WALL;
}

static size_t key_count(const profile *p, const profile_sample *s)
{
    size_t depth = stacks_depth(p->stacks, s->stack);
    depth = depth == 0 ? 1 : depth < HTML_DEPTH ? depth : HTML_DEPTH;
    return depth + has_state(p);
}

/* The n-th frame of a sample, from the outermost on. Deep stacks are cut at their innermost end. */
static frame_key key_at(const profile *p, const profile_sample *s, size_t n)
{
    size_t depth = stacks_depth(p->stacks, s->stack);
    if (n + 1 == key_count(p, s) && has_state(p)) {
        size_t size;
        const char *name = profile_state(p, s, &size);
        return (frame_key)stacks_name(p->stacks, name, size) << 1 | 1;
    }
    return depth ? (frame_key)stacks_frame_at(p->stacks, s->stack, depth - 1 - n)->function << 1
                 : 0;
}

static int by_stack(const void *a, const void *b, void *ctx)
{
    const profile *p = ctx;
    const profile_sample *x = &p->samples[*(const uint32_t *)a];
    const profile_sample *y = &p->samples[*(const uint32_t *)b];
    size_t m = key_count(p, x), n = key_count(p, y);
    for (size_t i = 0; i < m && i < n; i++) {
        frame_key first = key_at(p, x, i), second = key_at(p, y, i);
        if (first != second)
            return first < second ? -1 : 1;
    }
    return (m > n) - (m < n);
}

/* The numbers of the samples in that order; NULL if memory is refused. */
static uint32_t *sort_samples(const profile *p)
{
    uint32_t *order = malloc((p->count + 1) * sizeof *order);
    if (!order)
        return NULL;
    for (size_t i = 0; i < p->count; i++)
        order[i] = (uint32_t)i;
    qsort_r(order, p->count, sizeof *order, by_stack, (void *)p);
    return order;
}

/* ---- the tree ---------------------------------------------------------------------------------
 */

/* Keeps the largest values; the least of them is the first. */
static void keep_largest(flames *f, int64_t ns)
{
    size_t at, next;
    if (f->largest_count <= HTML_FRAMES) {
        at = f->largest_count++;
        for (; at > 0 && f->largest[(at - 1) / 2] > ns; at = (at - 1) / 2)
            f->largest[at] = f->largest[(at - 1) / 2];
        f->largest[at] = ns;
        return;
    }
    if (ns <= f->largest[0])
        return;
    for (at = 0; (next = 2 * at + 1) < f->largest_count; at = next) {
        if (next + 1 < f->largest_count && f->largest[next + 1] < f->largest[next])
            next++;
        if (f->largest[next] >= ns)
            break;
        f->largest[at] = f->largest[next];
    }
    f->largest[at] = ns;
}

/* The index of a name in the list of names, which is written at the end. */
static uint32_t name_index(flames *f, uint32_t name)
{
    if (f->index[name])
        return f->index[name] - 1;
    uint32_t *used = vector_room(f->used, &f->used_room, f->used_count, sizeof *used);
    if (!used) {
        f->h->failed = true;
        return 0;
    }
    f->used = used;
    f->used[f->used_count] = name;
    f->index[name] = (uint32_t)++f->used_count;
    return f->index[name] - 1;
}

/* A frame is complete: the frames that it calls are. */
static void close_frame(flames *f)
{
    const open_frame *frame = &f->open[--f->depth];
    if (f->depth > 0)
        f->open[f->depth - 1].ns = sum_of_times(f->open[f->depth - 1].ns, frame->ns);
    if (!f->writes) {
        keep_largest(f, frame->ns);
        return;
    }
    if (frame->ns <= f->least) {
        f->omitted++;
        return;
    }
    int64_t name = name_index(f, (uint32_t)(frame->key >> 1));
    out_printf(f->h->out, "%s%zu,%" PRId64 ",%" PRId64, f->written++ ? "," : "", f->depth,
               frame->key & 1 ? -1 - name : name, frame->ns);
}

/* Visits all frames, each after those that it calls. */
static void walk(flames *f, bool writes)
{
    f->writes = writes;
    for (size_t i = 0; i < f->p->count; i++) {
        const profile_sample *s = &f->p->samples[f->order[i]];
        size_t count = key_count(f->p, s), common = 0;
        while (common < f->depth && common < count &&
               f->open[common].key == key_at(f->p, s, common))
            common++;
        while (f->depth > common)
            close_frame(f);
        for (; f->depth < count; f->depth++)
            f->open[f->depth] = (open_frame){key_at(f->p, s, f->depth), 0};
        f->open[count - 1].ns = sum_of_times(f->open[count - 1].ns, s->ns);
    }
    while (f->depth > 0)
        close_frame(f);
}

static int64_t sum_of(const profile *p)
{
    int64_t sum = 0;
    for (size_t i = 0; i < p->count; i++)
        sum = sum_of_times(sum, p->samples[i].ns);
    return sum;
}

static void put_tree(flames *f, const profile *p)
{
    uint32_t *order = sort_samples(p);
    if (!order) {
        f->h->failed = true;
        return;
    }
    f->p = p;
    f->order = order;
    f->largest_count = 0;
    f->written = f->omitted = 0;
    walk(f, false);
    f->least = f->largest_count > HTML_FRAMES ? f->largest[0] : 0;
    out_printf(f->h->out, "{\"kind\":\"%s\",\"total\":%" PRId64 ",\"frames\":[",
               profile_name(p->kind), sum_of(p));
    walk(f, true);
    out_printf(f->h->out, "],\"omitted\":%" PRIu64 ",\"least\":%" PRId64 "}", f->omitted, f->least);
    free(order);
}

static void put_names(flames *f)
{
    out *o = f->h->out;
    uint64_t begin = o->written + o->used;
    for (size_t i = 0; i < f->used_count; i++) {
        size_t size;
        const char *text = stacks_text(f->h->s->stacks, f->used[i], &size);
        bool fits = o->written + o->used - begin < HTML_NAMES;
        out_str(o, i ? ",\"" : "\"");
        html_json_text(o, size ? text : "(unknown)", size ? size : strlen("(unknown)"),
                       fits ? HTML_NAME : HTML_SHORT_NAME);
        out_char(o, '"');
    }
}

/* All flame graphs, for the script: frames as level, name and time; a name below 0 is that of a
 * state. */
static void put_data(html *h)
{
    flames *f = calloc(1, sizeof *f);
    /* The names of the states are added while the trees are written. */
    for (unsigned i = 0; i < GOTRACE_STATE_IDLE; i++) {
        const char *name = gotrace_state_name((gotrace_state)i);
        stacks_name(h->s->stacks, name, strlen(name));
    }
    if (f)
        f->index = calloc(h->s->stacks->name_count + 1, sizeof *f->index);
    if (!f || !f->index || h->s->stacks->failed) {
        h->failed = true;
        free(f ? f->index : NULL);
        free(f);
        return;
    }
    f->h = h;
    out_str(h->out, "<script type=\"application/json\" id=\"flames\">{\"profiles\":[");
    for (size_t i = 0, written = 0; i < PROFILE_COUNT && !h->failed; i++) {
        if (h->profiles[i].count == 0)
            continue;
        out_str(h->out, written++ ? ",\n" : "\n");
        put_tree(f, &h->profiles[i]);
    }
    out_str(h->out, "],\n\"names\":[");
    put_names(f);
    out_str(h->out, "]}</script>\n");
    free(f->index);
    free(f->used);
    free(f);
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
    double all = (double)sum_of(p);
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
        html_duration(o, sum_of(p));
        out_printf(o, "</summary>\n<p>%s</p>\n<div class=\"flame\" data-kind=\"%s\"></div>\n",
                   texts[p->kind].explanation, profile_name(p->kind));
        put_functions(h, p);
        out_str(o, "</details>\n");
    }
    if (h->profiles[PROFILE_CPU].count == 0)
        out_str(o,
                h->job->select
                    ? "<p>The selected part of the trace has no CPU samples.</p>\n"
                    : "<p>The trace has no CPU samples, which Go 1.19 and later record while a CPU "
                      "profile is taken.</p>\n");
    put_data(h);
    out_str(o, "</section>\n");
}
