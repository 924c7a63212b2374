/* why.h - critical paths, one by one or in total, as text, as JSON Lines, and as tracks of a
 * timeline. */
#ifndef CMD_WHY_H
#define CMD_WHY_H

#include "formats/analyse/path_total.h"
#include "formats/common/out.h"
#include "formats/perfetto/options.h"

/* Bytes of a duration as text. */
enum { WHY_DURATION = 24 };

/* How text is written. */
typedef struct why_view {
    uint64_t top; /* rows at most; 0: all; WHY_USUAL: a usual number */
    bool stacks;  /* show whole stacks */
} why_view;

#define WHY_USUAL UINT64_MAX

/* "task", "region" or "goroutine". */
const char *why_kind_name(path_kind kind);

/* Write the path that was walked last. Return false if memory is refused. */
bool why_text(out *o, paths *p, const path_interval *i, const why_view *view);
bool why_json(out *o, paths *p, const path_interval *i);

/* The same of the tables of all paths in total. */
bool why_total_text(out *o, const paths *p, const path_totals *t, const why_view *view);
bool why_total_json(out *o, const paths *p, const path_totals *t);

/* Write a line for each frame of a stack. */
void why_full_stack(out *o, const stacks *s, uint32_t stack);

/* The waits by reason, the longest first, to be freed; NULL if there are none or (*failed) memory
 * is refused. */
path_reason *why_reasons(const path_sums *sums, bool *failed);

/* The paths as tracks. */
typedef struct why_timeline {
    perfetto_tracks tracks; /* for the job */
    paths *p;
    out text; /* of the current slice */
    char *name;
    size_t interval;          /* of the next track */
    uint64_t row;             /* of the next slice */
    perfetto_window *windows; /* the time of the paths */
    size_t window_count;
    bool failed; /* memory was refused */
} why_timeline;

bool why_timeline_init(why_timeline *t, paths *p);
void why_timeline_free(why_timeline *t);

#endif
