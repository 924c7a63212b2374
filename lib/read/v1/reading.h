/*
 * reading.h - reads the events of v1 in order: follows their states, and returns them in blocks.
 */
#ifndef GT_READING_H
#define GT_READING_H

#include "read/handle.h"

/* Makes reader->reading. False if memory is refused. */
bool gt_reading_new(gotrace_reader *reader);
void gt_reading_free(gotrace_reader *reader);

/* Begins to read up to those ticks; the file is indexed. False if reading cannot continue. */
bool gt_reading_start(gotrace_reader *reader, int64_t until);
void gt_reading_end(gotrace_reader *reader);

/* Puts the next events into an empty block, as long as that has room. True: there are no more. */
bool gt_reading_fill(gotrace_reader *reader, gt_block *block);

/* Applies all events that the order returns. False if reading cannot continue. */
bool gt_check_events(gotrace_reader *reader);

/* Makes a reader ready for gt_check_events from a place where nothing is known of goroutines;
 * order and states are up to the caller. */
gt_goroutines *gt_begin_piece(gotrace_reader *reader);

/* Those that are alive; NULL: this is not v1. */
const gt_goroutines *gt_reading_goroutines(const gotrace_reader *reader);

#endif
