/* json.c - a comparison as JSON Lines: the verdict, then a row each. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "cmd/diff/report.h"
#include "cmd/names.h"

/* null: there is no value, or no number. */
static void json_number(out *o, const char *key, double value)
{
    if (isfinite(value))
        out_printf(o, ",\"%s\":%.17g", key, value);
    else
        out_printf(o, ",\"%s\":null", key);
}

static const char *unit_name(diff_unit unit)
{
    static const char *const names[] = {
        [UNIT_PER_SECOND] = "per_second",
        [UNIT_NS] = "ns",
        [UNIT_NS_PER_SECOND] = "ns_per_second",
        [UNIT_NUMBER] = "number",
        [UNIT_SHARE] = "share",
        [UNIT_BYTES] = "bytes",
    };
    return names[unit];
}

static void json_row(const diff_report *r, const diff_row *row)
{
    const diff_table *t = r->t;
    const diff_change *subject = &t->subjects[row->subject];
    out *o = r->out;
    out_printf(
        o, "{\"kind\":\"difference\",\"of\":\"%s\",\"name\":", diff_kind_name(subject->of.kind));
    names_write_json(o, t->names, subject->of.name);
    out_printf(o, ",\"figure\":\"%s\",\"unit\":\"%s\"", diff_figures[row->figure].name,
               unit_name(diff_figures[row->figure].unit));
    json_number(o, "old", row->sides[DIFF_OLD].value);
    json_number(o, "new", row->sides[DIFF_NEW].value);
    json_number(o, "old_spread", row->sides[DIFF_OLD].spread);
    json_number(o, "new_spread", row->sides[DIFF_NEW].spread);
    json_number(o, "change", diff_row_change(row));
    json_number(o, "changed_ns_per_second", subject->ns);
    json_number(o, "p", row->tested ? row->p : NAN);
    json_number(o, "q", row->tested ? row->q : NAN);
    out_printf(o, ",\"significant\":%s", row->significant ? "true" : "false");
    if (subject->of.stack)
        names_write_json_stack(o, t->names, subject->of.stack);
    out_str(o, "}\n");
}

static void json_side(out *o, const char *name, const diff_side *side)
{
    out_printf(o, ",\"%s\":{\"traces\":%zu,\"duration_ns\":%" PRId64 "}", name, side->runs,
               side->duration);
}

static void json_verdict(const diff_report *r)
{
    const diff_table *t = r->t;
    out *o = r->out;
    out_printf(o, "{\"kind\":\"verdict\",\"rows\":%zu,\"tested\":%zu,\"significant\":%zu",
               t->row_count, t->tested, t->significant);
    json_side(o, "old", &t->sides[DIFF_OLD]);
    json_side(o, "new", &t->sides[DIFF_NEW]);
    out_printf(o, ",\"test\":\"%s\"", t->parts ? "parts" : "traces");
    json_number(o, "least_p",
                t->parts ? rank_test_least(DIFF_PARTS, DIFF_PARTS)
                         : rank_test_least(t->sides[DIFF_OLD].runs, t->sides[DIFF_NEW].runs));
    out_str(o, "}\n");
}

bool diff_json(const diff_report *r)
{
    size_t count;
    bool failed = false;
    const diff_row **rows = diff_shown(r, &count, &failed);
    if (rows)
        json_verdict(r);
    for (size_t i = 0; rows && i < count; i++)
        json_row(r, rows[i]);
    free(rows);
    return !failed;
}
