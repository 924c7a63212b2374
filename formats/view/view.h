/*
 * view.h - an index of one trace, from which any part of it is shown at once.
 *
 * One reading of the trace writes, to a temporary file without a name, what each goroutine, proc,
 * thread, task, range and metric does over time: its track. A track is a sequence of stretches of
 * time that do not overlap. Stretches are stored once as they are, and then in levels of detail, in
 * which those that are too short to be seen are one stretch with their sums (tree.h). So the
 * stretches of any track in any window of time are read from a few places of the file, as many as
 * there are pixels. Memory depends on live goroutines, open tasks and regions, and different names
 * and stacks, not on the size of the trace.
 *
 * Threads: one thread builds the index with view_build; any number of others may ask for what there
 * is so far, between view_lock and view_unlock.
 */
#ifndef VIEW_H
#define VIEW_H

#include "formats/analyse/doing.h"
#include "gotrace.h"

/* What a track is of, and its id. */
typedef enum view_kind {
    VIEW_GOROUTINE, /* its id; group: the name of the function where it starts, 0: not known */
    VIEW_PROC,      /* its id; `other` is the goroutine that runs, or is in a system call there */
    VIEW_THREAD, /* its id: DO_RUN: it runs the proc `other`; DO_SYSCALL: it is in a system call of
                  * the goroutine `other`, without a proc */
    VIEW_TASK,   /* its id; group: its type, a name; `other` is its parent */
    VIEW_REGION, /* of the goroutine of that id, outermost; `reason` is its name, `other` its task
                  */
    VIEW_REGION_2, /* in such a one, */
    VIEW_REGION_3,
    VIEW_REGION_4, /* and so on; deeper ones are not shown */
    VIEW_RANGE,    /* a gotrace_range: the GC's cycles, stop-the-worlds; `reason`: of a stop */
    VIEW_METRIC,   /* a gotrace_metric; `other` is its value, of several the highest one */
    VIEW_GROUP,    /* all goroutines of a group: what they do, in sums that may exceed the time, in
                    * stretches that may overlap */
    VIEW_TASKS,    /* all tasks of a type; DO_RUN is the sum of those that are open */
    VIEW_ALL,      /* 0: all goroutines, in the same way */
    VIEW_WAKES,    /* of the goroutine of that id: it made `other` runnable; they take no time */
    VIEW_SAMPLES,  /* 0: CPU samples, which take no time; `other`: the goroutine */
    VIEW_KINDS
} view_kind;

/* What a track does for some time: one interval, or several that are too short to be seen, with the
 * time between them. */
typedef struct view_stretch {
    int64_t begin, end;   /* ns since the start of the trace */
    uint64_t count;       /* of intervals */
    int64_t ns[DO_KINDS]; /* the time in each state, an activity_kind */
    int64_t longest, longest_begin;
    uint64_t other;  /* of the longest one; see view_kind; of a goroutine: who began it, 0: none */
    uint32_t reason; /* of the longest one: a name, 0: none */
    uint32_t stack;  /* of the longest one: where it began */
    uint8_t state;   /* of the longest one, an activity_kind */
    bool summed;     /* it is not just one interval of the track */
} view_stretch;

/* Whether the id of such a track is that of a goroutine. */
static inline bool view_is_of_goroutine(view_kind kind)
{
    return kind == VIEW_GOROUTINE || kind == VIEW_WAKES ||
           (kind >= VIEW_REGION && kind <= VIEW_REGION_4);
}

typedef struct view view;

/* from: when the shown times begin, to until; pixel: the time that is too short to be seen, ns;
 * 0: everything is seen. */
typedef struct view_window {
    int64_t from, until, pixel;
} view_window;

typedef struct view_track {
    view_kind kind;
    uint64_t id;
    uint32_t group;
} view_track;

/* A track in a window, with the sums of what begins or ends in it, as far as it can be seen. */
typedef struct view_listed {
    view_track track;
    int64_t begin, end; /* of the first and last of its stretches that have a part in the window */
    uint64_t count;
    int64_t ns[DO_KINDS];
} view_listed;

/* Returns NULL if memory is refused. */
view *view_new(void);
void view_free(view *v);

/* Reads the trace to its end: GOTRACE_END or GOTRACE_ERROR. threads: more than 1 reads in a thread.
 */
gotrace_status view_build(view *v, gotrace_reader *reader, size_t threads);

/* Whether the index failed: error is ENOMEM, or the errno of the temporary file. It then has what
 * was stored before. */
bool view_failed(const view *v, int *error);

/* While the index is built, nothing else may be called than between these two. */
void view_lock(view *v);
void view_unlock(view *v);

/* How far it is: the times from the start of the trace to the last event that was read. */
typedef struct view_progress {
    int64_t begin, end;
    uint64_t events;
    bool complete;
    uint64_t file_size; /* bytes of the temporary file */
} view_progress;

view_progress view_progress_of(const view *v);

/* The names of groups, reasons, types and functions, and the stacks. */
const stacks *view_names(const view *v);

/* The label of a goroutine, a name (labels.h); 0: it has none. */
uint32_t view_label(const view *v, uint64_t id);

/* Calls `each` for the stretches of the track that have a part in the window, in the order of their
 * begin; false from it ends that. Returns false, with errno, if memory or reading the file failed,
 * as the next two. */
typedef bool view_each_stretch(void *ctx, const view_stretch *s);
bool view_stretches(view *v, const view_track *track, const view_window *window,
                    view_each_stretch *each, void *ctx);

/* Finds the group of the track that has a stretch at that time; 0: not known, or none. Returns
 * false if reading the file failed. */
bool view_group_of(view *v, view_kind kind, uint64_t id, int64_t time, uint32_t *group);

/* Calls `each` for the tracks of that kind, of one group (UINT32_MAX: of all), that have a stretch
 * in the window, in the order of their ids. Tracks that begin and end in less than a pixel may be
 * missing. Memory is bounded: of many tracks, some are found at a time. Returns false if memory or
 * reading the file failed. */
typedef bool view_each_track(void *ctx, const view_listed *t);
bool view_list(view *v, view_kind kind, uint32_t group, const view_window *window,
               view_each_track *each, void *ctx);

#endif
