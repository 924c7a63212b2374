/* histogram.c - logarithmic buckets: a sorted list of those in use, an array when they are many. */
#include "formats/analyse/histogram.h"

#include <string.h>

#include "formats/analyse/vector.h"

/* Above this number of pairs, a search takes longer than the array costs. */
enum { MOST_PAIRS = 64 };

static uint32_t bucket_of(int64_t value)
{
    enum { LOW_BITS = 7 }; /* of HISTOGRAM_EXACT */
    if (value < HISTOGRAM_EXACT)
        return value < 0 ? 0 : (uint32_t)value;
    unsigned shift = 64U - LOW_BITS - (unsigned)__builtin_clzll((uint64_t)value);
    return shift * HISTOGRAM_STEPS + (uint32_t)(value >> shift);
}

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
        if (h->pairs[middle].bucket < bucket)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Replaces the pairs by an array. */
static bool make_array(histogram *h)
{
    h->all = calloc(HISTOGRAM_BUCKETS, sizeof *h->all);
    if (!h->all)
        return false;
    for (size_t i = 0; i < h->used; i++)
        h->all[h->pairs[i].bucket] = h->pairs[i].count;
    free(h->pairs);
    h->pairs = NULL;
    h->used = h->capacity = 0;
    return true;
}

static bool add_pair(histogram *h, uint32_t bucket)
{
    size_t at = find_pair(h, bucket);
    if (at < h->used && h->pairs[at].bucket == bucket) {
        h->pairs[at].count++;
        return true;
    }
    if (h->used == MOST_PAIRS) {
        if (!make_array(h))
            return false;
        h->all[bucket]++;
        return true;
    }
    histogram_pair *pairs = vector_room(h->pairs, &h->capacity, h->used, sizeof *pairs);
    if (!pairs)
        return false;
    h->pairs = pairs;
    memmove(&pairs[at + 1], &pairs[at], (h->used++ - at) * sizeof *pairs);
    pairs[at] = (histogram_pair){bucket, 1};
    return true;
}

bool histogram_add(histogram *h, int64_t value)
{
    if (value < 0)
        value = 0;
    if (h->count == 0 || value < h->min)
        h->min = value;
    if (value > h->max)
        h->max = value;
    h->count++;
    h->sum = sum_of_times(h->sum, value);
    uint32_t bucket = bucket_of(value);
    if (!h->all)
        return add_pair(h, bucket);
    h->all[bucket]++;
    return true;
}

/* The n-th bucket in use, ascending, from *cursor on; false past the last. */
static bool next_bucket(const histogram *h, uint32_t *cursor, histogram_pair *pair)
{
    if (!h->all) {
        if (*cursor == h->used)
            return false;
        *pair = h->pairs[(*cursor)++];
        return true;
    }
    while (*cursor < HISTOGRAM_BUCKETS && h->all[*cursor] == 0)
        ++*cursor;
    if (*cursor == HISTOGRAM_BUCKETS)
        return false;
    *pair = (histogram_pair){*cursor, h->all[*cursor]};
    ++*cursor;
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
    uint32_t cursor = 0;
    int64_t width;
    while (next_bucket(h, &cursor, &pair)) {
        int64_t begin = bucket_begin(pair.bucket, &width);
        if (begin >= from && begin < to)
            count += pair.count;
    }
    return count;
}

void histogram_free(histogram *h)
{
    free(h->all);
    free(h->pairs);
    *h = (histogram){0};
}
