/*
 * progress.h - a progress line on the terminal: bytes, rate, remaining time; of several files, how
 * many are done.
 *
 * It appears after a second, is redrawn ten times a second, and is removed at the end and before
 * other output to the terminal.
 */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gotrace.h"

/* From now on also passes what progress_update is called with, in the same thread. NULL: no longer.
 * Call it while there is one thread. */
void progress_observe(gotrace_progress_fn observer, void *ctx);

/* Start the progress of work on a file (name is borrowed until progress_end). */
void progress_begin(const char *name);

/* Also show the expected size of the output; *written is the number of bytes so far (borrowed until
 * progress_end). */
void progress_output(const _Atomic uint64_t *written);

/* Report that done of total bytes (0: unknown) are read. Cheap enough to be called for every
 * block. */
void progress_update(uint64_t done, uint64_t total);

/* The expected size of the output, assuming a constant ratio; 0 if unknown. */
uint64_t progress_expected(uint64_t written, uint64_t done, uint64_t total);

/* Remove the line before other output to the terminal; it appears again. */
void progress_clear(void);
void progress_end(void);

/* Work on several files: done of count are complete. Call it before the first one and after each,
 * in one thread. */
void progress_files(size_t done, size_t count);
/* Show progress of files as a whole only: several are read at a time. */
void progress_files_only(void);

/* Never show progress. */
void progress_off(void);

#endif
