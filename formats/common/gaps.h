/* gaps.h - when something was recorded that is lost in a damaged trace. */
#ifndef GAPS_H
#define GAPS_H

#include <stddef.h>

#include "gotrace.h"

/* Between these ticks something was recorded that is lost; end UINT64_MAX: until the end. */
typedef struct ticks_gap {
    uint64_t begin, end;
} ticks_gap;

/* The same in ns since the first event. */
typedef struct time_gap {
    int64_t begin, end;
} time_gap;

/* The gaps of a trace from begin to end, in the order of their times, so that they do not overlap;
 * to be freed. s: of a reader that has read an event; there is at least one gap. Returns NULL if
 * memory is refused. */
time_gap *gaps_find(const gotrace_summary *s, const ticks_gap *ticks, size_t ticks_count,
                    int64_t begin, int64_t end, size_t *count);

#endif
