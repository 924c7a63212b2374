/*
 * flips.h - corrects a flipped bit that makes records unreadable.
 *
 * Where a record or a batch header does not fit the format, the bits before it are tried: one that
 * makes the bytes after it readable is a candidate. The candidates are compared by reading the
 * trace with each, by another reader. The one with which most can be read, and with the fewest
 * problems, is applied to all bytes that are read from then on, and the fault is reported with it.
 */
#ifndef GT_FLIPS_H
#define GT_FLIPS_H

#include "gotrace_experimental.h"

enum {
    GT_MOST_FLIPS = 16,      /* corrected in a trace */
    GT_MOST_CANDIDATES = 32, /* compared for a place */
    GT_FLIP_RECORDS = 16,    /* records up to the unreadable one in which bits are tried */
    GT_FLIP_TAIL = 12,       /* bytes of the unreadable one */
    GT_FLIP_REACH = 48,      /* records after it that have to be readable, ... */
    GT_FLIP_NEAR = 12,       /* ... or, where other damage is near, so many */
};

typedef struct gt_flips {
    gotrace_flip list[GT_MOST_FLIPS];
    size_t count;
    unsigned searches; /* so far */
    uint64_t tried;    /* 1 + the highest offset of a place for which they were */
    uint64_t read;     /* bytes read for that */
    uint64_t replayed; /* the first pass is repeated: what it finds before this was reported */
    bool off;          /* no bits are tried: this reader helps another one */
    bool trial;        /* this reader compares a candidate: all problems count, also after a cut */
    bool mends;        /* the problem that is reported next is corrected */
} gt_flips;

typedef struct gt_candidates {
    gotrace_flip list[GT_MOST_CANDIDATES];
    size_t count;
} gt_candidates;

typedef enum gt_flip_result { GT_FLIP_NONE, GT_FLIP_FOUND, GT_FLIP_FAILED } gt_flip_result;

/* gt_source_read, with the corrected bits. */
gotrace_status gt_read_bytes(gotrace_reader *reader, uint64_t offset, void *buffer, size_t size,
                             size_t *got);

/* Whether bits may be tried for damage at that offset. Counts it as a search. */
bool gt_flips_begin(gotrace_reader *reader, uint64_t offset);

static inline void gt_candidates_add(gt_candidates *c, uint64_t offset, uint8_t mask)
{
    if (c->count < GT_MOST_CANDIDATES)
        c->list[c->count++] = (gotrace_flip){.offset = offset, .mask = mask};
}

/* Chooses the best candidate for damage at that offset, and adds it to reader->flips. ends: nothing
 * from there on can be read without it. */
gt_flip_result gt_flips_choose(gotrace_reader *reader, const gt_candidates *candidates,
                               uint64_t offset, bool ends);

#endif
