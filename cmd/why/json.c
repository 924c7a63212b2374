/* json.c - critical paths as JSON Lines: one of kind "path", then its rows. Times are ns. */
#include <inttypes.h>
#include <stdlib.h>

#include "cmd/names.h"
#include "cmd/why/why.h"

const char *why_kind_name(path_kind kind)
{
    static const char *const names[] = {
        [PATH_TASK] = "task", [PATH_REGION] = "region", [PATH_GOROUTINE] = "goroutine"};
    return names[kind];
}

static int compare_reasons(const void *left, const void *right)
{
    const path_reason *a = left, *b = right;
    if (a->ns != b->ns)
        return a->ns < b->ns ? 1 : -1;
    return a->reason < b->reason ? -1 : 1;
}

path_reason *why_reasons(const path_sums *sums, bool *failed)
{
    const idmap *reasons = &sums->reasons;
    path_reason *list = reasons->count ? malloc(reasons->count * sizeof *list) : NULL;
    size_t cursor = 0, count = 0;
    uint64_t key;
    void *value;
    *failed = reasons->count && !list;
    while (list && idmap_next(reasons, &cursor, &key, &value))
        list[count++] = *(const path_reason *)value;
    if (count > 1)
        qsort(list, count, sizeof *list, compare_reasons);
    return list;
}

static void json_goroutine(out *o, const paths *p, uint64_t id, uint32_t function)
{
    out_str(o, ",\"goroutine\":");
    if (id)
        out_json_u64(o, id);
    else
        out_str(o, "null");
    out_str(o, ",\"function\":");
    names_write_json(o, p->stacks, function);
    names_write_json_label(o, p->stacks, states_label_in(&p->labels, id));
}

/* Members of an object, without a comma before the first. */
static bool json_sums(out *o, const paths *p, const path_sums *sums)
{
    static const char *const members[PATH_PART_KINDS] = {
        [PATH_EXECUTION] = "exec_ns",        [PATH_ASSIST] = "gc_assist_ns",
        [PATH_SCHEDULING] = "sched_wait_ns", [PATH_SYSCALL] = "syscall_ns",
        [PATH_UNKNOWN] = "unknown_ns",
    };
    bool failed;
    path_reason *reasons = why_reasons(sums, &failed);
    for (size_t k = 0; k < PATH_PART_KINDS; k++)
        if (members[k])
            out_printf(o, "\"%s\":%" PRId64 ",", members[k], sums->ns[k]);
    out_str(o, "\"block_ns\":{");
    for (size_t n = 0; reasons && n < sums->reasons.count; n++) {
        if (n)
            out_char(o, ',');
        names_write_json(o, p->stacks, reasons[n].reason);
        out_printf(o, ":%" PRId64, reasons[n].ns);
    }
    out_char(o, '}');
    free(reasons);
    return !failed;
}

static bool json_path(out *o, const paths *p, const path_interval *i)
{
    out_printf(o, "{\"kind\":\"path\",\"of\":\"%s\"", why_kind_name(p->query.kind));
    if (p->query.kind != PATH_GOROUTINE) {
        out_str(o, ",\"name\":");
        names_write_json(o, p->stacks, i->name);
        out_str(o, ",\"task\":");
        out_json_u64(o, i->id);
    }
    json_goroutine(o, p, i->goroutine, i->function);
    out_printf(o, ",\"begin\":%" PRId64 ",\"end\":%" PRId64 ",\"begun\":%s,\"ended\":%s", i->begin,
               i->end, i->begun ? "true" : "false", i->ended ? "true" : "false");
    out_printf(o, ",\"whole_begin\":%" PRId64 ",\"whole_end\":%" PRId64, i->whole_begin,
               i->whole_end);
    out_printf(o, ",\"total_ns\":%" PRId64 ",", i->end - i->begin);
    bool done = json_sums(o, p, &p->own);
    out_str(o, ",\"others\":{");
    done = json_sums(o, p, &p->others) && done;
    out_printf(o, "},\"rows\":%" PRIu64 "}\n", p->parts.count);
    return done;
}

static void json_row(out *o, const paths *p, const path_part *row)
{
    out_printf(o, "{\"kind\":\"%s\",\"depth\":%" PRIu32, row->spans ? "wait" : "part", row->depth);
    out_printf(o, ",\"begin\":%" PRId64 ",\"end\":%" PRId64 ",\"ns\":%" PRId64, row->begin,
               row->end, row->end - row->begin);
    json_goroutine(o, p, row->goroutine, row->function);
    out_printf(o, ",\"state\":\"%s\",\"reason\":", path_part_names[row->kind]);
    if (row->reason)
        names_write_json(o, p->stacks, row->reason);
    else
        out_str(o, "null");
    out_str(o, ",\"cause\":");
    if (row->cause)
        out_json_u64(o, row->cause);
    else
        out_str(o, "null");
    out_str(o, ",\"waits_for\":");
    if (row->waits_for)
        names_write_json(o, p->stacks, row->waits_for);
    else
        out_str(o, "null");
    names_write_json_stack(o, p->stacks, row->stack);
    out_str(o, "}\n");
}

bool why_json(out *o, paths *p, const path_interval *i)
{
    bool done = json_path(o, p, i);
    for (uint64_t n = 0; done && n < p->parts.count; n++) {
        const path_part *row = paths_part(p, n);
        if (!row)
            break;
        json_row(o, p, row);
    }
    return done;
}
