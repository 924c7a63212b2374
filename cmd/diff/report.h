/* report.h - write a comparison: as text, JSON Lines, a page for a browser, and a profile. */
#ifndef CMD_DIFF_REPORT_H
#define CMD_DIFF_REPORT_H

#include "formats/analyse/stack_views.h"
#include "formats/common/out.h"
#include "formats/diff/condition.h"
#include "formats/diff/diff.h"

typedef struct diff_report {
    out *out;
    const diff_table *t;
    bool all;     /* also rows that do not differ */
    uint64_t top; /* at most so many rows; 0: all */
} diff_report;

/* False: memory was refused. */
bool diff_text(const diff_report *r);
bool diff_json(const diff_report *r);
bool diff_html(const diff_report *r);
bool diff_pprof(const diff_report *r);

/* The verdict in one sentence, without an end of line. */
void diff_write_verdict(const diff_report *r, out *o);
/* "4 traces, 12.3 s" of a side. */
void diff_write_side(out *o, const diff_side *side);
/* How certain it is, as sentences. */
void diff_write_test(const diff_report *r, out *o);
/* What a row is about: "task checkout p99"; view: of its stack. */
void diff_write_subject(out *o, const diff_table *t, const diff_row *row, stack_view view);
/* A value with its unit, and "-" if there is none. */
void diff_format_value(char *text, size_t room, diff_unit unit, double value);
void diff_format_change(char *text, size_t room, const diff_row *row);

/* The rows that are shown, to be freed; *failed: memory was refused. */
const diff_row **diff_shown(const diff_report *r, size_t *count, bool *failed);
/* How the stacks of these rows are shown; the same. */
stack_view *diff_views(const diff_report *r, const diff_row *const *rows, size_t count,
                       bool *failed);

/* Write the failed conditions. Returns how many. */
size_t diff_write_failed(out *o, const diff_table *t, const diff_condition *list, size_t count,
                         bool json);

#endif
