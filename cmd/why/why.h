/* why.h - critical paths as text, as JSON Lines, and as tracks of a timeline. */
#ifndef CMD_WHY_H
#define CMD_WHY_H

#include "formats/analyse/path.h"
#include "formats/common/out.h"
#include "formats/perfetto/options.h"

/* "task", "region" or "goroutine". */
const char *why_kind_name(path_kind kind);

/* Write the path that was walked last. top: show at most that many rows; 0: all. full: show whole
 * stacks. Return false if memory is refused. */
bool why_text(out *o, paths *p, const path_interval *i, uint64_t top, bool full);
bool why_json(out *o, paths *p, const path_interval *i);

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
