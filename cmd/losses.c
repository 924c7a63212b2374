#include "cmd/losses.h"

#include <inttypes.h>
#include <string.h>

#include "cmd/diag.h"

static void file_member(const losses *l)
{
    out_str(l->json, "\"file\":");
    out_json_string(l->json, l->file, strlen(l->file));
    out_char(l->json, ',');
}

static void member(out *o, const char *name, uint64_t value)
{
    out_printf(o, ",\"%s\":%" PRIu64, name, value);
}

static void report_json(const losses *l, const repair_finding *f)
{
    out *o = l->json;
    out_char(o, '{');
    if (l->type)
        out_printf(o, "\"type\":\"%s\",", l->type);
    file_member(l);
    out_printf(o, "\"trace\":%u,\"kind\":\"%s\"", f->trace, repair_kind_name(f->kind));
    if (f->offset != GOTRACE_NO_OFFSET)
        member(o, "offset", f->offset);
    member(o, "count", f->count);
    if (f->first_generation > 0) {
        member(o, "first_generation", f->first_generation);
        member(o, "last_generation", f->last_generation);
    }
    out_str(o, ",\"message\":");
    out_json_string(o, f->message, strlen(f->message));
    out_str(o, "}\n");
}

void losses_report(losses *l, const repair_finding *f)
{
    uint64_t before = l->found[f->kind]++;
    if (l->json)
        report_json(l, f);
    else if (before < l->limit || l->limit == 0)
        diag_problem_note(l->file, f->offset, "%s [%s]", f->message, repair_kind_name(f->kind));
}

void losses_end(const losses *l, const repair_totals *t)
{
    if (l->json) {
        out_char(l->json, '{');
        if (l->total) {
            out_printf(l->json, "\"type\":\"%s\",", l->total);
            file_member(l);
        }
        out_printf(l->json, "\"traces\":%u,\"written\":%u", t->traces, t->written);
        member(l->json, "events", t->events);
        member(l->json, "bytes_lost", t->bytes_lost);
        member(l->json, "added", t->added);
        member(l->json, "dropped", t->dropped);
        out_printf(l->json, ",\"identical\":%s,\"sound\":%s}\n", t->identical ? "true" : "false",
                   t->sound ? "true" : "false");
        return;
    }
    for (unsigned kind = 0; kind < REPAIR_KIND_COUNT; kind++)
        if (l->limit != 0 && l->found[kind] > l->limit)
            diag_problem_note(l->file, GOTRACE_NO_OFFSET, "%" PRIu64 " more [%s]",
                              l->found[kind] - l->limit, repair_kind_name((repair_kind)kind));
}
