/*
 * histogram.c - logarithmic buckets: none as long as all values are equal, then a sorted list of
 * those in use, and an array when they are many.
 */
#include "formats/analyse/histogram.h"

#include <stdlib.h>
#include <string.h>

/* Above this number of pairs, a search takes longer than the array costs. */
enum { LEAST_PAIRS = 4, MOST_PAIRS = 64 };

/* The lowest value of a bucket, and their number. */
static int64_t bucket_begin(uint32_t bucket, int64_t *width)
{
    unsigned shift = bucket < HISTOGRAM_EXACT ? 0 : bucket / HISTOGRAM_STEPS - 1;
    *width = (int64_t)1 << shift;
    return (int64_t)(bucket - shift * HISTOGRAM_STEPS) << shift;
}

/* The first pair whose bucket is not lower. */
static size_t find_pair(const histogram *h, uint32_t bucket)
{
    size_t low = 0, high = h->used;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (h->counts.pairs[middle].bucket < bucket)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Replaces the pairs by an array. */
static bool make_array(histogram *h)
{
    histogram_pair *pairs = h->counts.pairs;
    uint32_t *all = calloc(HISTOGRAM_BUCKETS, sizeof *all);
    if (!all)
        return false;
    for (size_t i = 0; i < h->used; i++)
        all[pairs[i].bucket] = pairs[i].count;
    free(pairs);
    h->counts.all = all;
    h->stored = HISTOGRAM_ALL;
    return true;
}

/* The first value that differs: the others share a pair. */
static bool make_pairs(histogram *h)
{
    histogram_pair *pairs = malloc(LEAST_PAIRS * sizeof *pairs);
    if (!pairs)
        return false;
    pairs[0] = (histogram_pair){histogram_bucket(h->min), (uint32_t)h->count};
    h->counts.pairs = pairs;
    h->used = h->count > 0;
    h->capacity = LEAST_PAIRS;
    h->stored = HISTOGRAM_PAIRS;
    return true;
}

static bool grow_pairs(histogram *h)
{
    histogram_pair *pairs = realloc(h->counts.pairs, 2 * (size_t)h->capacity * sizeof *pairs);
    if (!pairs)
        return false;
    h->counts.pairs = pairs;
    h->capacity *= 2;
    return true;
}

static bool add_pair(histogram *h, uint32_t bucket, uint32_t count)
{
    size_t at = find_pair(h, bucket);
    if (at < h->used && h->counts.pairs[at].bucket == bucket) {
        h->counts.pairs[at].count += count;
        return true;
    }
    if (h->used == MOST_PAIRS) {
        if (!make_array(h))
            return false;
        h->counts.all[bucket] += count;
        return true;
    }
    if (h->used == h->capacity && !grow_pairs(h))
        return false;
    histogram_pair *pairs = h->counts.pairs;
    memmove(&pairs[at + 1], &pairs[at], (h->used++ - at) * sizeof *pairs);
    pairs[at] = (histogram_pair){bucket, count};
    return true;
}

bool histogram_add_few(histogram *h, int64_t value)
{
    bool equal = h->count == 0 || (value == h->min && value == h->max);
    if (!equal && h->stored == HISTOGRAM_EQUAL && !make_pairs(h))
        return false;
    if (h->count == 0)
        h->min = value;
    histogram_note(h, value);
    return h->stored == HISTOGRAM_EQUAL || add_pair(h, histogram_bucket(value), 1);
}

/* The n-th bucket in use, ascending, from *cursor on; false past the last. Of HISTOGRAM_VALUES one
 * bucket may come several times. */
static bool next_bucket(const histogram *h, uint32_t *cursor, histogram_pair *pair)
{
    uint32_t end = h->stored == HISTOGRAM_EQUAL ? h->count > 0
                   : h->stored == HISTOGRAM_ALL ? (uint32_t)HISTOGRAM_BUCKETS
                                                : h->used;
    while (h->stored == HISTOGRAM_ALL && *cursor < end && h->counts.all[*cursor] == 0)
        ++*cursor;
    if (*cursor == end)
        return false;
    if (h->stored == HISTOGRAM_PAIRS)
        *pair = h->counts.pairs[*cursor];
    else if (h->stored == HISTOGRAM_ALL)
        *pair = (histogram_pair){*cursor, h->counts.all[*cursor]};
    else if (h->stored == HISTOGRAM_VALUES)
        *pair = (histogram_pair){histogram_bucket(h->counts.values[*cursor]), 1};
    else
        *pair = (histogram_pair){histogram_bucket(h->min), (uint32_t)h->count};
    ++*cursor;
    return true;
}

bool histogram_merge(histogram *h, const histogram *from)
{
    const bool equal = from->stored == HISTOGRAM_EQUAL && h->stored == HISTOGRAM_EQUAL &&
                       (h->count == 0 || (h->min == from->min && h->max == from->max));
    histogram_pair pair;
    uint32_t cursor = 0;
    if (from->count == 0)
        return true;
    if (!equal && h->stored == HISTOGRAM_EQUAL && !make_pairs(h))
        return false;
    while (!equal && next_bucket(from, &cursor, &pair)) {
        if (h->stored == HISTOGRAM_ALL)
            h->counts.all[pair.bucket] += pair.count;
        else if (!add_pair(h, pair.bucket, pair.count))
            return false;
    }
    h->min = h->count == 0 || from->min < h->min ? from->min : h->min;
    h->max = from->max > h->max ? from->max : h->max;
    h->count += from->count;
    h->sum = sum_of_times(h->sum, from->sum);
    return true;
}

int64_t histogram_quantile(const histogram *h, double share, uint64_t zeros)
{
    /* The rank of the value, from 1. */
    uint64_t rank = (uint64_t)(share * (double)(h->count + zeros) + 0.9999999), passed = zeros;
    histogram_pair pair;
    uint32_t cursor = 0;
    int64_t width;
    if (rank <= zeros)
        return 0;
    while (next_bucket(h, &cursor, &pair)) {
        passed += pair.count;
        if (passed < rank)
            continue;
        int64_t value = bucket_begin(pair.bucket, &width);
        value += width / 2;
        return value > h->max ? h->max : value < h->min ? h->min : value;
    }
    return h->max;
}

uint64_t histogram_between(const histogram *h, int64_t from, int64_t to)
{
    uint64_t count = 0;
    histogram_pair pair;
    uint32_t cursor = h->stored == HISTOGRAM_ALL ? histogram_bucket(from) : 0;
    int64_t width;
    while (next_bucket(h, &cursor, &pair)) {
        int64_t begin = bucket_begin(pair.bucket, &width);
        if (begin >= to)
            break;
        count += begin >= from ? pair.count : 0;
    }
    return count;
}

void histogram_free(histogram *h)
{
    if (h->stored == HISTOGRAM_PAIRS)
        free(h->counts.pairs);
    else if (h->stored == HISTOGRAM_ALL)
        free(h->counts.all);
    *h = (histogram){0};
}

/* ---- sets of values ---------------------------------------------------------------------------
 */

enum { LEAST_FEW = 2, MOST_FEW = 4 };

/* Makes room for one more of the few values. */
static bool grow_few(value_set *set)
{
    const int64_t one = set->of.one;
    if (set->stored == VALUES_FEW && set->count != LEAST_FEW)
        return true;
    size_t room = set->stored == VALUES_FEW ? MOST_FEW : LEAST_FEW;
    int64_t *few = realloc(set->stored == VALUES_FEW ? set->of.few : NULL, room * sizeof *few);
    if (!few)
        return false;
    if (set->stored == VALUES_ONE) {
        few[0] = one;
        set->count = 1;
    }
    set->of.few = few;
    set->stored = VALUES_FEW;
    return true;
}

static bool add_few(value_set *set, int64_t value)
{
    if (!grow_few(set))
        return false;
    size_t at = set->count++;
    for (; at > 0 && set->of.few[at - 1] > value; at--)
        set->of.few[at] = set->of.few[at - 1];
    set->of.few[at] = value;
    return true;
}

/* Makes the values a histogram. */
static bool make_more(value_set *set)
{
    if (set->stored == VALUES_MORE)
        return true;
    histogram *more = calloc(1, sizeof *more);
    const histogram values = value_set_histogram(set);
    if (!more || !histogram_merge(more, &values)) {
        free(more);
        return false;
    }
    value_set_free(set);
    set->of.more = more;
    set->stored = VALUES_MORE;
    return true;
}

bool value_set_add_few(value_set *set, int64_t value)
{
    if (value < 0)
        value = 0;
    if (set->stored == VALUES_NONE) {
        set->of.one = value;
        set->stored = VALUES_ONE;
        return true;
    }
    if (set->stored == VALUES_ONE || (set->stored == VALUES_FEW && set->count < MOST_FEW))
        return add_few(set, value);
    return make_more(set) && histogram_add(set->of.more, value);
}

bool value_set_move(value_set *set, value_set *from)
{
    const histogram values = value_set_histogram(from);
    bool done = true;
    if (from->stored == VALUES_MORE)
        done = make_more(set) && histogram_merge(set->of.more, &values);
    for (size_t i = 0; from->stored == VALUES_FEW && i < from->count; i++)
        done = done && value_set_add(set, from->of.few[i]);
    if (from->stored == VALUES_ONE)
        done = value_set_add(set, from->of.one);
    value_set_free(from);
    return done;
}

histogram value_set_histogram(const value_set *set)
{
    const int64_t *few = set->of.few;
    switch (set->stored) {
    case VALUES_ONE: {
        const int64_t one = set->of.one;
        return (histogram){.count = 1, .sum = one, .min = one, .max = one};
    }
    case VALUES_FEW: {
        histogram h = {.count = set->count,
                       .min = few[0],
                       .max = few[set->count - 1],
                       .counts.values = few,
                       .stored = HISTOGRAM_VALUES,
                       .used = set->count};
        for (size_t i = 0; i < set->count; i++)
            h.sum = sum_of_times(h.sum, few[i]);
        return h;
    }
    case VALUES_MORE: return *set->of.more;
    default: return (histogram){0}; /* VALUES_NONE */
    }
}

void value_set_free(value_set *set)
{
    if (set->stored == VALUES_FEW)
        free(set->of.few);
    if (set->stored == VALUES_MORE) {
        histogram_free(set->of.more);
        free(set->of.more);
    }
    set->stored = VALUES_NONE;
}
