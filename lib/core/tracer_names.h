/*
 * tracer_names.h - the names that the tracer adds to the string table of every generation (v2),
 * even without references: reasons why goroutines stop and wait, and what workers of the GC do.
 *
 * Source: traceRegisterLabelsAndReasons. Only inline functions, for the program too.
 */
#ifndef GT_TRACER_NAMES_H
#define GT_TRACER_NAMES_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* gotrace's recorder adds this name to every generation, or to a trace of 1.7 to 1.21. */
#define GT_RECORDER_NAME "gotrace record"

static inline bool gt_is_recorder_name(const void *bytes, size_t size)
{
    return size == sizeof GT_RECORDER_NAME - 1 && memcmp(bytes, GT_RECORDER_NAME, size) == 0;
}

static inline int gt_compare_tracer_names(const void *key, const void *name)
{
    return strcmp(key, *(const char *const *)name);
}

static inline bool gt_is_tracer_name(const void *bytes, size_t size)
{
    static const char *const names[] = {
        "GC (dedicated)",
        "GC (fractional)",
        "GC (idle)",
        "GC background sweeper wait",
        "GC mark assist wait for work",
        "GC weak to strong wait",
        "Not worker",
        "chan receive",
        "chan send",
        "forever",
        GT_RECORDER_NAME,
        "network",
        "preempted",
        "runtime.Gosched",
        "select",
        "sleep",
        "sync",
        "sync.(*Cond).Wait",
        "synctest",
        "system goroutine wait",
        "unspecified",
        "wait for debug call",
        "wait until GC ends",
    };
    char name[32];
    if (size >= sizeof name)
        return false;
    memcpy(name, bytes, size);
    name[size] = '\0';
    return bsearch(name, names, sizeof names / sizeof *names, sizeof *names,
                   gt_compare_tracer_names);
}

#endif
