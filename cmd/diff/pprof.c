/* pprof.c - a comparison as a profile: what the old side had is negative, as in a profile that
 * `go tool pprof -diff_base` makes. Values are for each second of trace. */
#include <math.h>

#include "cmd/diff/report.h"
#include "formats/common/vector.h"
#include "formats/profile/options.h"

typedef struct maker {
    const diff_table *table;
    bool refused; /* memory was */
} maker;

static bool add_sample(profile *made, const diff_table *t, const diff_entry *e)
{
    const double runs = (double)t->sides[e->side].runs, sign = e->side == DIFF_OLD ? -1 : 1;
    profile_sample *list = vector_room(made->samples, &made->room, made->count, sizeof *list);
    if (!list)
        return false;
    made->samples = list;
    list[made->count++] = (profile_sample){
        .stack = e->of.stack,
        .reason = e->of.name,
        .state = e->of.kind == DIFF_SAMPLE    ? GOTRACE_STATE_RUNNING
                 : e->of.kind == DIFF_SYSCALL ? GOTRACE_STATE_SYSCALL
                                              : GOTRACE_STATE_WAITING,
        .count = (uint64_t)(int64_t)fmin(fmax(sign * e->values[DIFF_COUNT] / runs, -0x1p62),
                                         0x1p62),
        .ns = (int64_t)fmin(fmax(sign * e->values[DIFF_TIME] / runs, -0x1p62), 0x1p62)};
    return true;
}

static bool make(void *ctx, profile *made, stacks_detail detail)
{
    maker *m = ctx;
    (void)detail;
    *made = (profile){.kind = PROFILE_WALL,
                      .stacks = m->table->names,
                      .duration = 1000000000,
                      .difference = true};
    for (size_t i = 0; i < m->table->entries.count && !m->refused; i++) {
        const diff_entry *e = &m->table->entries.list[i];
        if (!e->is_part &&
            (e->of.kind == DIFF_BLOCK || e->of.kind == DIFF_SYSCALL || e->of.kind == DIFF_SAMPLE))
            m->refused = !add_sample(made, m->table, e);
    }
    return !m->refused;
}

bool diff_pprof(const diff_report *r)
{
    maker m = {.table = r->t};
    const profile_convert_options options = {.make = make, .ctx = &m};
    format_pprof.run(&(convert_job){.out = r->out, .name = "difference", .options = &options});
    return !m.refused;
}
