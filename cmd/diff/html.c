/* html.c - a comparison as one page for a browser, in the look of the report. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/diff/report.h"
#include "formats/html/html.h"

enum { CELL = 32 };

/* The text that is written to the output `text` goes to the page, so that it cannot become markup.
 */
typedef struct page {
    const diff_report *r;
    out *o;
    out text;
} page;

static bool write_escaped(void *ctx, const void *bytes, size_t size)
{
    html_text(ctx, bytes, size, SIZE_MAX);
    return true;
}

static void put_head(page *p)
{
    out *o = p->o;
    out_printf(o,
               "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
               "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
               "style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'\">\n"
               "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
               "<meta name=\"color-scheme\" content=\"light dark\">\n<title>gotrace diff</title>\n"
               "<style>",
               html_style_hash, html_script_hash);
    out_bytes(o, html_style, html_style_size);
    out_str(o, "</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#main\">To the table</a>\n"
               "<header>\n<h1>");
    diff_write_verdict(p->r, &p->text);
    out_flush(&p->text);
    out_str(o, "</h1>\n<p>Two sets of execution traces of a Go program, compared by gotrace.");
    out_char(o, ' ');
    diff_write_test(p->r, &p->text);
    out_flush(&p->text);
    out_str(o, "</p>\n<dl class=\"facts\">");
    for (unsigned side = 0; side < DIFF_SIDES; side++) {
        out_printf(o, "<div><dt>%s<dd>", side == DIFF_OLD ? "Old" : "New");
        diff_write_side(o, &p->r->t->sides[side]);
        out_str(o, "</div>");
    }
    out_printf(o,
               "<div><dt>Rows that differ<dd>%zu of %zu tested</div></dl>\n</header>\n"
               "<main id=\"main\">\n",
               p->r->t->significant, p->r->t->tested);
}

static void put_number(out *o, double key, const char *text)
{
    if (isfinite(key))
        out_printf(o, "<td class=\"n\" data-v=\"%.6g\">", key);
    else
        out_str(o, "<td class=\"n\" data-v=\"1e18\">");
    html_text(o, text, strlen(text), HTML_NAME);
}

static void put_row(page *p, const diff_row *row, stack_view view)
{
    char text[CELL];
    out_str(p->o, "<tr><td>");
    diff_write_subject(&p->text, p->r->t, row, view);
    out_flush(&p->text);
    for (unsigned side = 0; side < DIFF_SIDES; side++) {
        const double value = row->sides[side].value;
        diff_format_value(text, sizeof text, diff_figures[row->figure].unit, value);
        put_number(p->o, isnan(value) ? 0 : value, text);
    }
    diff_format_change(text, sizeof text, row);
    put_number(p->o, diff_row_change(row), text);
    snprintf(text, sizeof text, row->tested ? "%.4f" : "-", row->q);
    put_number(p->o, row->q, text);
    out_str(p->o, row->significant ? "<td>yes</tr>\n" : "<td>no</tr>\n");
}

bool diff_html(const diff_report *r)
{
    static const char *const columns[] = {"Figure", "#Old",    "#New", "#Change",
                                          "#q",     "Differs", NULL};
    page p = {.r = r, .o = r->out};
    size_t count;
    bool failed = !out_init(&p.text, write_escaped, r->out);
    const diff_row **rows = failed ? NULL : diff_shown(r, &count, &failed);
    stack_view *views = rows ? diff_views(r, rows, count, &failed) : NULL;
    if (!failed) {
        put_head(&p);
        html_table(p.o, "Differences, in the order of the time that changed", "sorts filters",
                   columns);
        for (size_t i = 0; i < count; i++)
            put_row(&p, rows[i], views[i]);
        html_table_end(p.o);
        out_str(p.o, "</main>\n<script>");
        out_bytes(p.o, html_script, html_script_size);
        out_str(p.o, "</script>\n</body>\n</html>\n");
    }
    out_free(&p.text);
    free(views);
    free(rows);
    return !failed;
}
