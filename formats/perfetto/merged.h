/*
 * merged.h - what --detail merges, and its state (detail.c).
 *
 * All events pass detail.c when they are closed. One that may be merged is announced by
 * perfetto_detail.merged before it is opened; all others are written as they are.
 */
#ifndef PERFETTO_MERGED_H
#define PERFETTO_MERGED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/common/idmap.h"

/* What --detail merges, by the order of the tallies: name of a merged slice that mostly has these,
 * and annotation with their number (and, with "_ns", their sum). */
#define PERFETTO_MERGED(X)                                                                         \
    X(RUNNABLE, "mostly runnable", "runnable")                                                     \
    X(RUNNING, "mostly running", "running")                                                        \
    X(WAITING, "mostly waiting", "waiting")                                                        \
    X(SYSCALL, "mostly in syscall", "in_syscall")                                                  \
    X(RUN, "short runs", "runs")                                                                   \
    X(THREAD, "short slices", "slices")                                                            \
    X(UNBLOCK, "unblocks", "unblocks")                                                             \
    X(CREATE, "goroutines created", "goroutines_created")                                          \
    X(CALL, "syscalls", "syscalls")                                                                \
    X(GC, "short GC work", "gc")                                                                   \
    X(REGION, "short regions", "regions")                                                          \
    X(LOG, "logs", "logs")                                                                         \
    X(TASK, "short tasks", "tasks")                                                                \
    X(GOROUTINE, "short goroutines", "goroutines")

enum {
    MERGED_NONE = 0,
#define PERFETTO_NUMBER(kind, name, annotation) MERGED_##kind,
    PERFETTO_MERGED(PERFETTO_NUMBER) MERGED_COUNT,
#undef PERFETTO_NUMBER
};

/* What is merged instead of written at once (detail.c). */
typedef struct perfetto_detail {
    int64_t least;   /* ns; slices as long are shown. 0: no --detail */
    idmap tracks;    /* by number */
    unsigned merged; /* what the next slice or instant is; MERGED_NONE: it is written at once */
    /* The open event. */
    unsigned type; /* SLICE_BEGIN, ... */
    uint64_t track;
    size_t body;     /* mark of its fields after the track; 0: it is not to be examined */
    size_t rest;     /* mark of what its packet has without interned data */
    bool has_data;   /* there are interned data before it */
    int64_t written; /* time of the packet before */
    void *taken;     /* the fields of an event, once they are removed from the output */
    size_t room;     /* bytes of that */
    /* Memory to be used again: detail.c. */
    void *spare_slices, *spare_fields;
} perfetto_detail;

#endif
