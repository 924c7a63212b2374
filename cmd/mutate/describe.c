/* describe.c - describe the changes of a variant as a line of JSON. */
#include "cmd/mutate/mutate.h"

static void field(out *o, const char *name, const char *value)
{
    out_printf(o, ",\"%s\":", name);
    out_json_string(o, value, strlen(value));
}

static void report_change(out *o, const mutate_change *c)
{
    out_str(o, "{\"what\":");
    out_json_string(o, c->what, strlen(c->what));
    if (c->record)
        field(o, "record", c->record);
    if (c->argument)
        field(o, "argument", c->argument);
    if (c->offset != GOTRACE_NO_OFFSET)
        out_printf(o, ",\"offset\":%llu", (unsigned long long)c->offset);
    if (c->size > 0)
        out_printf(o, ",\"size\":%llu", (unsigned long long)c->size);
    if (c->from_to)
        out_printf(o, ",\"from\":%llu,\"to\":%llu", (unsigned long long)c->from,
                   (unsigned long long)c->to);
    out_char(o, '}');
}

void mutate_describe(out *o, const char *source, const char *trace, const mutate_job *job,
                     const mutate_variant *variant, const verdict *found)
{
    out_str(o, "{\"trace\":");
    out_json_string(o, trace, strlen(trace));
    field(o, "source", source);
    out_printf(o, ",\"seed\":%llu", (unsigned long long)job->seed);
    field(o, "mode", mutate_mode_name(job->mode));
    field(o, "verdict", mutate_verdict(job));
    out_str(o, ",\"changes\":[");
    for (size_t i = 0; i < variant->change_count; i++) {
        if (i > 0)
            out_char(o, ',');
        report_change(o, &variant->changes[i]);
    }
    out_printf(o, "],\"gotrace\":{\"sound\":%s,\"rules\":[", found->sound ? "true" : "false");
    bool first = true;
    for (unsigned i = 0; i < GOTRACE_RULE_LIMIT; i++) {
        if (found->counts[i] == 0)
            continue;
        out_printf(o, "%s\"%s\"", first ? "" : ",", gotrace_rule_describe((gotrace_rule)i)->id);
        first = false;
    }
    out_str(o, "]}}\n");
}
