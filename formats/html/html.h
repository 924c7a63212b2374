/* html.h - the report as one HTML file: what its parts share. */
#ifndef HTML_H
#define HTML_H

#include "formats/analyse/activity.h"
#include "formats/analyse/profile.h"
#include "formats/analyse/figure_rows.h"
#include "formats/diagnose/describe.h"
#include "formats/diagnose/diagnosis.h"
#include "formats/diagnose/measure.h"
#include "formats/formats.h"

/* What bounds the size of the file: rows of tables, frames of a flame graph, bytes of a name, and
 * bytes of all names of flame graphs, after which they are cut to HTML_SHORT_NAME. */
enum {
    HTML_FUNCTIONS = 300,
    HTML_STACKS = 50,
    HTML_SPANS = 100,
    HTML_PROCS = 128,
    HTML_TRACES = 20,
    HTML_PROFILE_FUNCTIONS = 20,
    HTML_NAME = 100,
    HTML_NAMES = 300000,
    HTML_SHORT_NAME = 16,
    HTML_TIMELINE = 3 * 1024 * 1024, /* bytes of the data of the timeline */
};

/* What is of each trace, beside its trace_figure. */
typedef struct html_trace {
    activity activity;
    diagnosis diagnosis;
    uint64_t problems;
    int64_t origin; /* where the time range begins */
    bool diagnosed; /* else the report is about a part of the program */
    bool recovered; /* the trace is damaged */
    bool cut;       /* reading failed: the end of the trace is missing */
} html_trace;

/* A report on one trace, or on the sum of several. */
typedef struct html {
    out *out;
    const selection *what; /* what the report is about; NULL: everything */
    statistics *s;
    html_trace *traces; /* as many as s has */
    size_t trace_room;
    html_trace *trace; /* the one that is read, or written now */
    profile profiles[PROFILE_COUNT];
    measuring *measuring;
    bool whole;              /* of all goroutines: it has what concerns the whole program */
    bool hard;               /* matching a name of a trace reached a limit */
    bool failed;             /* memory was refused, or, with */
    int error;               /* the errno, a temporary file failed */
    unsigned char *timeline; /* its data; none: of several traces, or of a part of one */
    size_t timeline_size, timeline_room;
} html;

static inline bool html_is_several(const html *h)
{
    return h->s->trace_count > 1;
}

/* The figures of the trace that is written now. */
static inline const trace_figure *html_figure(const html *h)
{
    return &h->s->traces[h->trace - h->traces];
}

/* ---- assets.c: the style sheet, the script, and what the Content-Security-Policy calls them ----
 */
extern const char html_style[], html_script[];
extern const size_t html_style_size, html_script_size;
extern const char html_style_hash[], html_script_hash[];

/* ---- elements.c ---- */

/* Text of a trace, which cannot become markup: what is not printable is escaped as in Go, and what
 * has a meaning in HTML by references. At most `most` bytes of it; "..." shows that more follow. */
void html_text(out *o, const char *text, size_t size, size_t most);
/* The same within a JSON string in an element <script>. */
void html_json_text(out *o, const char *text, size_t size, size_t most);
void html_name(html *h, uint32_t name);
/* What follows the function of a goroutine with that label; 0: nothing. */
void html_label(html *h, uint32_t label);
/* The innermost frames of a stack. */
void html_stack(html *h, uint32_t stack);
void html_frames(html *h, uint32_t stack, stack_view view);
void html_duration(out *o, int64_t ns);
/* With commas between thousands. */
void html_count(out *o, uint64_t count);
void html_bytes(out *o, uint64_t bytes);
void html_share(out *o, double share);
/* The name of a file as a word for the shell, and of all files. */
void html_file(html *h, size_t trace);
void html_files(html *h);
/* Calls put for each trace, at most HTML_TRACES times; of several, each is in an element that can
 * be opened. */
void html_each_trace(html *h, void (*put)(html *h));
/* The options that select what the report is about, as words for the shell. */
void html_selection(html *h);
/* The options that select a time of a trace with some of what is before and after it. */
void html_window(html *h, size_t trace, int64_t begin, int64_t ns);

/* ---- cells of tables ---- */
void html_cell_time(out *o, int64_t ns);
void html_cell_count(out *o, uint64_t count);
void html_cell_id(out *o, uint64_t id);
/* The head of a table: columns, of which those that begin with '#' are numbers; NULL ends them.
 * class: "sorts" and "filters" if the script lets the user do that, or "plain". */
void html_table(out *o, const char *caption, const char *class, const char *const *columns);
void html_table_end(out *o);
/* A sentence if not all rows are shown. Returns how many are. section: of stat. */
size_t html_rows(html *h, size_t count, size_t most, const char *section);
/* A bar that shows a share. */
void html_bar(out *o, double share);

/* Whether the timeline shows the place of a finding. Times of damaged traces may be anything. */
static inline bool html_has_place(const finding *f)
{
    const int64_t most = INT64_MAX / 8;
    return describe_has(f, FACT_LONGEST) && f->at >= 0 && f->at < most && f->longest < most;
}

/* ---- timeline.c ---- */

/* Makes its data, for which the trace is read once more. Returns an errno, 0: done. */
int html_make_timeline(html *h, const convert_job *job);
void html_timeline(html *h);

/* ---- diagnosis.c, charts.c, tables.c, flames.c: sections ---- */
void html_diagnosis(html *h);
void html_traces(html *h);
void html_overview(html *h);
bool html_has_procs(const html *h);
void html_procs(html *h);
void html_histogram(out *o, const char *caption, const histogram *const *list, size_t count);
void html_utilization(html *h);
void html_goroutines(html *h);
void html_scheduling(html *h);
void html_waits(html *h);
void html_collector(html *h);
void html_spans(html *h);
void html_flames(html *h);

#endif
