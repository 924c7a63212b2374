/* each.c - goroutines, regions and tasks as JSON Lines, with the names of `goread-v2 -summary`. */
#include "cmd/stat/each.h"

#include <inttypes.h>
#include <string.h>

#include "cmd/names.h"

static void each_parts(out *o, const stacks *names, const times *t, bool ranges)
{
    bool first = true;
    out_printf(o, ",\"%s\":{", time_columns[ranges ? TIME_RANGE : TIME_BLOCK].member);
    for (size_t i = 0; i < t->count; i++) {
        if (t->parts[i].is_range != ranges)
            continue;
        if (!first)
            out_char(o, ',');
        first = false;
        names_write_json(o, names, t->parts[i].name);
        out_printf(o, ":%" PRId64, t->parts[i].ns);
    }
    out_char(o, '}');
}

static void each_times(out *o, const stacks *names, const times *t)
{
    for (unsigned i = 0; i < TIME_COUNT; i++)
        if (time_columns[i].label)
            out_printf(o, ",\"%s\":%" PRId64, time_columns[i].member, times_of(t, i));
    each_parts(o, names, t, false);
    each_parts(o, names, t, true);
    out_str(o, "}\n");
}

/* null: it is not in the trace. */
static void each_time(out *o, const char *member, int64_t base, int64_t time)
{
    if (time == STATES_NEVER)
        out_printf(o, ",\"%s\":null", member);
    else
        out_printf(o, ",\"%s\":%" PRId64, member, states_go_time(base, time));
}

/* Begins an object. */
static out *each_begin(const each_rows *e, const char *kind)
{
    out_printf(e->out, "{\"kind\":\"%s\",\"file\":", kind);
    out_json_string(e->out, e->file, strlen(e->file));
    return e->out;
}

static void each_goroutine(void *ctx, const stacks *names, const stat_goroutine *g, int64_t base,
                           int64_t ended)
{
    out *o = each_begin(ctx, "goroutine");
    out_str(o, ",\"id\":");
    out_json_u64(o, g->g.id);
    out_str(o, ",\"name\":");
    names_write_json(o, names, g->g.function);
    names_write_json_label(o, names, g->g.label);
    each_time(o, "created", base, g->g.created);
    each_time(o, "started", base, g->g.started);
    each_time(o, "ended", base, ended);
    each_times(o, names, &g->times);
}

static void each_region(void *ctx, const stacks *names, const stat_goroutine *g, const region *r,
                        int64_t base, int64_t ended)
{
    out *o = each_begin(ctx, "region");
    out_str(o, ",\"goroutine\":");
    out_json_u64(o, g->g.id);
    out_str(o, ",\"task\":");
    out_json_u64(o, r->task);
    out_str(o, ",\"name\":");
    names_write_json(o, names, r->name);
    each_time(o, "begin", base, r->begin);
    each_time(o, "end", base, ended);
    each_times(o, names, &r->before);
}

static void each_task(void *ctx, const stacks *names, const stat_task *task, int64_t base)
{
    out *o = each_begin(ctx, "task");
    out_str(o, ",\"id\":");
    out_json_u64(o, task->id);
    out_str(o, ",\"name\":");
    names_write_json(o, names, task->name);
    if (task->parent) {
        out_str(o, ",\"parent\":");
        out_json_u64(o, task->parent);
    }
    each_time(o, "begin", base, task->begin);
    each_time(o, "end", base, task->ended);
    out_printf(o, ",\"logs\":%" PRIu64 ",\"regions\":%" PRIu64 "}\n", task->logs, task->regions);
}

statistics_each each_to(each_rows *e)
{
    return (statistics_each){.ctx = e,
                             .in_order = true,
                             .goroutine = each_goroutine,
                             .region = each_region,
                             .task = each_task};
}
