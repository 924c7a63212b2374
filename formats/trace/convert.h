/* convert.h - convert a trace to another version of the format. */
#ifndef TRACE_CONVERT_H
#define TRACE_CONVERT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gotrace.h"

enum { VERSION_LOSS_KINDS = 32 };

/* What the target version cannot represent. */
typedef struct version_losses {
    uint64_t counts[VERSION_LOSS_KINDS];
    int source;           /* the version of the input */
    uint64_t events[256]; /* by event code of the input: events without an equivalent */
    uint64_t impossible;  /* events omitted because the recorded state does not allow them */
    gotrace_error first;  /* the reason for the first of them */
} version_losses;

typedef struct version_job {
    gotrace_source *source;
    gotrace_reader *reader; /* an open reader of that source */
    int version;            /* the version to write */
    gotrace_write_fn write;
    void *ctx;
    const gotrace_config *config; /* for the writer, and for a second reader of the source */
} version_job;

/* Writes the whole trace. Returns GOTRACE_END on success, GOTRACE_ERROR when reading or writing
 * failed (the output is then incomplete). */
gotrace_status version_convert(const version_job *job, version_losses *losses,
                               gotrace_error *error);

/* Describes the n-th kind of omitted data ("CPU samples: 3 left out, go 1.11 has none") into text;
 * false after the last. */
bool version_loss(const version_losses *losses, int version, size_t n, char *text, size_t size);

#endif
