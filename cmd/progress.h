/*
 * progress.h - one line on a terminal for work that lasts: bytes, rate, time left.
 *
 * It appears after a second, is redrawn ten times a second, and is gone when the work is.
 */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* Begin to watch work on something of that name (borrowed until progress_end). */
void progress_begin(const char *name);

/* The work writes: *written bytes so far (borrowed until progress_end). What it comes to is shown.
 */
void progress_output(const uint64_t *written);

/* done of total bytes; total 0 where it is not known. Cheap enough for every block. */
void progress_update(uint64_t done, uint64_t total);

/* What the output comes to, if the rest gives as much as what was read: 0 where that is not known.
 */
uint64_t progress_expected(uint64_t written, uint64_t done, uint64_t total);

/* Take the line away before something else is written to the terminal; it comes back. */
void progress_clear(void);
void progress_end(void);

/* No progress, whatever standard error is. */
void progress_off(void);

#endif
