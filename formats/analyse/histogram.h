/*
 * histogram.h - how often values occur, in logarithmic buckets.
 *
 * Values below 128 have a bucket each; larger ones share it with those that differ by less than one
 * in 64, so that a quantile differs from the exact one by less than 0.8 %. Memory is proportional
 * to the number of different buckets, and at most 15 KB; equal values need only the struct.
 */
#ifndef ANALYSE_HISTOGRAM_H
#define ANALYSE_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    HISTOGRAM_STEPS = 64, /* buckets of an octave */
    HISTOGRAM_EXACT = 2 * HISTOGRAM_STEPS,
    HISTOGRAM_BUCKETS = HISTOGRAM_EXACT + (63 - 7) * HISTOGRAM_STEPS,
};

typedef struct histogram_pair {
    uint32_t bucket, count;
} histogram_pair;

/* How the counts of buckets are stored. */
enum { HISTOGRAM_EQUAL, HISTOGRAM_PAIRS, HISTOGRAM_ALL, HISTOGRAM_VALUES };

typedef struct histogram {
    uint64_t count;
    int64_t sum, min, max;
    union {
        histogram_pair *pairs; /* those that are not 0, ascending */
        uint32_t *all;         /* one for each bucket */
        const int64_t *values; /* all, ascending: of a value_set, to be read only */
    } counts;
    uint8_t stored;         /* HISTOGRAM_EQUAL: not at all, because all values are equal */
    uint8_t used, capacity; /* of pairs; of values */
} histogram;

/* The sum of times that are not negative; the largest value if it is larger. Clocks of damaged
 * traces have any value. */
static inline int64_t sum_of_times(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static inline uint32_t histogram_bucket(int64_t value)
{
    enum { LOW_BITS = 7 }; /* of HISTOGRAM_EXACT */
    if (value < 0)
        return 0;
    const uint64_t exact = HISTOGRAM_EXACT - 1;
    const unsigned shift = 64U - LOW_BITS - (unsigned)__builtin_clzll((uint64_t)value | exact);
    return shift * HISTOGRAM_STEPS + (uint32_t)(value >> shift);
}

/* Adds a value to what does not depend on buckets. Before the first one, min is set to it. */
static inline void histogram_note(histogram *h, int64_t value)
{
    if (value < h->min)
        h->min = value;
    if (value > h->max)
        h->max = value;
    h->count++;
    h->sum = sum_of_times(h->sum, value);
}

/* histogram_add of a value that is not negative, while there is no array. */
bool histogram_add_few(histogram *h, int64_t value);

/* Adds a value; negative ones, which clocks of damaged traces cause, count as 0. False if memory is
 * refused. Inline, because there is one for each state of a goroutine. */
static inline bool histogram_add(histogram *h, int64_t value)
{
    if (value < 0)
        value = 0;
    if (h->stored != HISTOGRAM_ALL)
        return histogram_add_few(h, value);
    histogram_note(h, value);
    h->counts.all[histogram_bucket(value)]++;
    return true;
}

/* Adds the values of another one. */
bool histogram_merge(histogram *h, const histogram *from);

/* The value below which that share of the values is, if there are also that many zeros; 0 if there
 * are no values. */
int64_t histogram_quantile(const histogram *h, double share, uint64_t zeros);

/* The number of values v with from <= v < to. Exact where from and to are powers of two. */
uint64_t histogram_between(const histogram *h, int64_t from, int64_t to);

void histogram_free(histogram *h);

/* Values of which there are often few, in 16 bytes and those of the values: of many names, of which
 * most are rare. */
enum { VALUES_NONE, VALUES_ONE, VALUES_FEW, VALUES_MORE };

typedef struct value_set {
    union {
        int64_t one;
        int64_t *few; /* ascending */
        histogram *more;
    } of;
    uint32_t name;  /* of the owner, who has no room for it elsewhere */
    uint8_t kind;   /* the same */
    uint8_t stored; /* VALUES_* */
    uint8_t count;  /* of few */
} value_set;

/* value_set_add, while there are less than two values. */
bool value_set_add_few(value_set *set, int64_t value);

/* As histogram_add. */
static inline bool value_set_add(value_set *set, int64_t value)
{
    return set->stored == VALUES_MORE ? histogram_add(set->of.more, value)
                                      : value_set_add_few(set, value);
}

/* Adds the values of another one, which is empty afterwards. False if memory is refused. */
bool value_set_move(value_set *set, value_set *from);

/* The histogram of the values. It is the set's: it is not freed, and valid until the next value. */
histogram value_set_histogram(const value_set *set);

void value_set_free(value_set *set);

#endif
