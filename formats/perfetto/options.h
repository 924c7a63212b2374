/* options.h - the options of the Perfetto format alone. */
#ifndef PERFETTO_OPTIONS_H
#define PERFETTO_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A slice of an added track. */
typedef struct perfetto_slice {
    int64_t begin, end; /* ns */
    const char *name, *details;
    size_t name_size, details_size; /* details_size 0: none */
} perfetto_slice;

/* Tracks that are shown above those of the trace. */
typedef struct perfetto_tracks {
    void *ctx;
    /* Goes to the next track. Returns its name, which is valid until the next call; NULL after the
     * last. */
    const char *(*next_track)(void *ctx);
    /* Sets the next slice of the track, in the order of their begins; those in others follow
     * these. False after the last. */
    bool (*next_slice)(void *ctx, perfetto_slice *slice);
} perfetto_tracks;

/* A time range in ns: from <= t < to; to 0: until the end. */
typedef struct perfetto_window {
    int64_t from, to;
} perfetto_window;

typedef struct perfetto_options {
    bool thread_runs;              /* threads show each run of a goroutine instead of the proc */
    int64_t detail;                /* ns: what is shorter is merged with its neighbours; 0: all */
    const perfetto_tracks *tracks; /* added ones; NULL: none */
    /* Only these time ranges are written, instead of that of the job: disjoint, in ascending order.
     * What is open between two of them ends and begins again. NULL: that of the job. */
    const perfetto_window *windows;
    size_t window_count;
} perfetto_options;

#endif
