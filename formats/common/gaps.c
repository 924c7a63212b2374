#include "formats/common/gaps.h"

#include <stdlib.h>

/* A time in ns since the first event, between two others. */
static int64_t time_of(const gotrace_summary *s, uint64_t ticks, int64_t begin, int64_t end)
{
    enum { NANO = 1000000000 };
    __extension__ typedef __int128 wide;
    const wide frequency = s->frequency ? s->frequency : NANO;
    const wide ns = s->version < GOTRACE_FIRST_V2 ? ((wide)ticks - s->start) * NANO / frequency
                                                  : (wide)ticks * NANO / frequency - s->start;
    return ns < begin ? begin : ns > end ? end : (int64_t)ns;
}

static int compare_gaps(const void *a, const void *b)
{
    const time_gap *x = a, *y = b;
    return x->begin != y->begin ? (x->begin > y->begin) - (x->begin < y->begin)
                                : (x->end > y->end) - (x->end < y->end);
}

time_gap *gaps_find(const gotrace_summary *s, const ticks_gap *ticks, size_t ticks_count,
                    int64_t begin, int64_t end, size_t *count)
{
    time_gap *gaps = calloc(ticks_count, sizeof *gaps);
    *count = 0;
    if (!gaps)
        return NULL;
    for (size_t n = 0; n < ticks_count; n++)
        gaps[n] = (time_gap){time_of(s, ticks[n].begin, begin, end),
                             time_of(s, ticks[n].end, begin, end)};
    qsort(gaps, ticks_count, sizeof *gaps, compare_gaps);
    for (size_t n = 0; n < ticks_count; n++) {
        time_gap *last = *count ? &gaps[*count - 1] : NULL;
        if (!last || gaps[n].begin > last->end)
            gaps[(*count)++] = gaps[n];
        else if (gaps[n].end > last->end)
            last->end = gaps[n].end;
    }
    return gaps;
}
