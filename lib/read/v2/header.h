/*
 * header.h - the header of a batch of v2, or the end of a generation.
 */
#ifndef GT_V2_HEADER_H
#define GT_V2_HEADER_H

#include "read/v2/v2.h"

enum { GT_V2_HEADER_MAX = 1 + 5 * GT_VARINT_MAX };

typedef enum gt_v2_header_result {
    GT_HEADER_READ,
    GT_HEADER_NONE,      /* the first byte begins no header */
    GT_HEADER_CUT_OFF,   /* the bytes end within it */
    GT_HEADER_TOO_LARGE, /* a number exceeds ten bytes or 64 bits */
} gt_v2_header_result;

typedef struct gt_v2_header {
    uint8_t type; /* EventBatch, ExperimentalBatch or EndOfGeneration, which has no numbers */
    uint64_t experiment, generation, thread, time, size;
    size_t size_at; /* where in the header the size is */
    size_t length;  /* of the header */
} gt_v2_header;

/* Reads a header from n bytes, at least one. */
static inline gt_v2_header_result gt_v2_parse_header(const uint8_t *bytes, size_t n, int version,
                                                     gt_v2_header *h)
{
    const uint8_t *p = bytes + 1;
    *h = (gt_v2_header){.type = bytes[0], .length = 1};
    if (h->type == GOTRACE_V2_EndOfGeneration && version >= GOTRACE_FIRST_GENERATION_END)
        return GT_HEADER_READ;
    bool experiment = h->type == GOTRACE_V2_ExperimentalBatch &&
                      version >= GOTRACE_FIRST_EXPERIMENTS;
    if (h->type != GOTRACE_V2_EventBatch && !experiment)
        return GT_HEADER_NONE;
    uint64_t *numbers[] = {&h->experiment, &h->generation, &h->thread, &h->time, &h->size};
    for (unsigned i = experiment ? 0 : 1; i < 5; i++) {
        h->size_at = (size_t)(p - bytes);
        int used = gt_varint(&p, bytes + n, numbers[i]);
        if (used <= 0)
            return used < 0 ? GT_HEADER_TOO_LARGE : GT_HEADER_CUT_OFF;
    }
    h->length = (size_t)(p - bytes);
    return GT_HEADER_READ;
}

#endif
