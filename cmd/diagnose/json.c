/* json.c - a diagnosis as JSON Lines: a finding each. Times are ns. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/diagnose/report.h"
#include "cmd/names.h"

static void json_name(const diagnose_report *r, const char *key, uint32_t name)
{
    if (name == 0)
        return;
    out_printf(r->out, ",\"%s\":", key);
    names_write_json(r->out, r->names, name);
}

static void json_count(const diagnose_report *r, const char *key, uint64_t value)
{
    if (value == 0)
        return;
    out_printf(r->out, ",\"%s\":", key);
    out_json_u64(r->out, value);
}

static void json_cycle(const diagnose_report *r, const finding *f)
{
    out *o = r->out;
    out_printf(o, ",\"length\":%zu,\"cycle\":[", f->deadlock.length);
    for (size_t n = 0; n < f->deadlock.length && n < MOST_IN_CYCLE; n++) {
        const waiter *w = &f->deadlock.cycle[n];
        out_str(o, n > 0 ? ",{\"goroutine\":" : "{\"goroutine\":");
        out_json_u64(o, w->goroutine);
        json_name(r, "waits_for", w->waits_for);
        out_printf(o, ",\"since\":%" PRId64, w->since);
        names_write_json_stack(o, r->names, w->stack);
        out_char(o, '}');
    }
    out_char(o, ']');
}

static void json_evidence(const diagnose_report *r, const finding *f)
{
    out *o = r->out;
    out_printf(o, ",\"evidence\":{\"count\":%" PRIu64, f->count);
    json_name(r, "function", f->function);
    json_name(r, f->cause == FINDING_STOP ? "reason" : "other_function", f->other);
    json_count(r, "longest_ns", (uint64_t)f->longest);
    if (f->longest)
        out_printf(o, ",\"at\":%" PRId64, f->at);
    json_count(r, "goroutine", f->goroutine);
    json_count(r, "period_ns", (uint64_t)f->period);
    if (f->rate > 0)
        out_printf(o, ",\"%s\":%.3f", f->cause == FINDING_CHANNEL ? "goroutines" : "per_second",
                   f->rate);
    if (f->waiting > 0)
        out_printf(o, ",\"waiting\":%.3f,\"busy\":%.4f", f->waiting, f->level);
    if (f->cause == FINDING_LOCK && f->during_share > 0)
        out_printf(o, ",\"meanwhile\":\"%s\",\"meanwhile_share\":%.4f",
                   describe_activity(f->during), f->during_share);
    if (f->deadlock.length > 0)
        json_cycle(r, f);
    else if (f->stack)
        names_write_json_stack(o, r->names, f->stack);
    out_char(o, '}');
}

static bool json_finding(const diagnose_report *r, const finding *f)
{
    out *o = r->out;
    bool failed;
    char *command = diagnose_command(r, f, &failed);
    out_printf(o, "{\"kind\":\"finding\",\"id\":\"%s\",\"title\":\"%s\",\"share\":%.4f",
               finding_ids[f->cause], finding_titles[f->cause], f->share);
    out_printf(o, ",\"least\":%g,\"of\":\"%s\",\"ns\":%" PRId64, finding_least_shares[f->cause],
               finding_bases[f->of], f->ns);
    if (r->all)
        out_printf(o, ",\"reported\":%s", f->reported ? "true" : "false");
    json_evidence(r, f);
    out_str(o, ",\"command\":");
    if (command)
        out_json_string(o, command, strlen(command));
    else
        out_str(o, "null");
    out_str(o, ",\"file\":");
    out_json_string(o, r->file, strlen(r->file));
    out_str(o, "}\n");
    free(command);
    return !failed;
}

bool diagnose_json(const diagnose_report *r)
{
    const diagnosis *d = r->d;
    bool done = true;
    if (d->count == 0) {
        out_printf(r->out,
                   "{\"kind\":\"finding\",\"id\":null,\"share\":0,\"busy\":%.4f,\"runnable\":%.4f,"
                   "\"gc\":%.4f,\"file\":",
                   d->busy, d->ready, d->gc);
        out_json_string(r->out, r->file, strlen(r->file));
        out_str(r->out, "}\n");
    }
    for (size_t i = 0; done && i < (r->all ? FINDING_CAUSE_COUNT : d->count); i++)
        done = json_finding(r, &d->list[i]);
    return done;
}
