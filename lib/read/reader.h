/* reader.h - what tests need of reader.c, the public interface. */
#ifndef GT_READER_H
#define GT_READER_H

#include "read/handle.h"

/* What gotrace_reader_check does first: prepares reading, and starts the threads that check pieces
 * ahead. GOTRACE_EVENT: it has, or had. */
gotrace_status gt_check_start(gotrace_reader *reader);

#endif
