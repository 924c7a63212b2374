#include "formats/diff/rank_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Ranks are doubled, so that those of ties are whole numbers: their sum is at most this. */
enum { MOST_SUM = RANK_EXACT * (RANK_EXACT + 1) };

typedef struct ties {
    size_t sizes[RANK_EXACT]; /* of the groups of equal values, ascending */
    size_t count;
} ties;

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* What the test needs of both samples together. */
typedef struct ranking {
    ties ties;    /* of at most RANK_EXACT values */
    double sum;   /* of the doubled ranks of a */
    double cubes; /* sum of t^3 - t over the groups of t equal values */
} ranking;

static ranking rank(const double *a, size_t a_count, const double *b, size_t b_count)
{
    ranking r = {.sum = 0};
    size_t i = 0, k = 0;
    while (i < a_count || k < b_count) {
        const size_t first = i + k, before = i;
        const double value = k == b_count || (i < a_count && a[i] < b[k]) ? a[i] : b[k];
        while (i < a_count && a[i] == value)
            i++;
        while (k < b_count && b[k] == value)
            k++;
        const double size = (double)(i + k - first);
        r.sum += (double)(i - before) * (2 * (double)first + size + 1);
        r.cubes += size * size * size - size;
        if (r.ties.count < RANK_EXACT)
            r.ties.sizes[r.ties.count++] = i + k - first;
    }
    return r;
}

static double choose(size_t n, size_t k)
{
    double ways = 1;
    for (size_t i = 1; i <= k; i++)
        ways = ways * (double)(n - k + i) / (double)i;
    return ways;
}

/* ways[n][sum]: in how many ways n of the values of the groups so far have that sum of ranks. */
typedef double rank_ways[RANK_EXACT + 1][MOST_SUM + 1];

static void add_group(rank_ways *ways, size_t most, size_t first, size_t size)
{
    const size_t rank = 2 * first + size + 1;
    for (size_t n = most + 1; n-- > 0;)
        for (size_t taken = 1; taken <= size && taken <= n; taken++) {
            const double factor = choose(size, taken);
            for (size_t sum = taken * rank; sum <= MOST_SUM; sum++)
                (*ways)[n][sum] += factor * (*ways)[n - taken][sum - taken * rank];
        }
}

static double exact(const ranking *r, size_t a_count)
{
    rank_ways *ways = calloc(1, sizeof *ways);
    double below = 0, above = 0, all = 0;
    size_t first = 0;
    if (!ways)
        return -1;
    (*ways)[0][0] = 1;
    for (size_t i = 0; i < r->ties.count; i++) {
        add_group(ways, a_count, first, r->ties.sizes[i]);
        first += r->ties.sizes[i];
    }
    for (size_t sum = 0; sum <= MOST_SUM; sum++) {
        const double n = (*ways)[a_count][sum];
        all += n;
        below += (double)sum <= r->sum ? n : 0;
        above += (double)sum >= r->sum ? n : 0;
    }
    free(ways);
    return fmin(1, 2 * fmin(below, above) / all);
}

static double approximate(const ranking *r, double a, double b)
{
    const double n = a + b, u = r->sum / 2 - a * (a + 1) / 2;
    const double variance = a * b / 12 * (n + 1 - r->cubes / (n * (n - 1)));
    const double distance = fabs(u - a * b / 2) - 0.5;
    return variance <= 0 || distance <= 0 ? 1 : erfc(distance / sqrt(2 * variance));
}

double rank_test(double *a, size_t a_count, double *b, size_t b_count)
{
    if (a_count == 0 || b_count == 0)
        return 1;
    qsort(a, a_count, sizeof *a, ascending);
    qsort(b, b_count, sizeof *b, ascending);
    const ranking r = rank(a, a_count, b, b_count);
    return a_count + b_count <= RANK_EXACT ? exact(&r, a_count)
                                           : approximate(&r, (double)a_count, (double)b_count);
}

double rank_test_least(size_t a_count, size_t b_count)
{
    return a_count == 0 || b_count == 0 ? 1 : fmin(1, 2 / choose(a_count + b_count, a_count));
}

void rank_test_adjust(double *p, size_t count)
{
    double least = 1;
    for (size_t i = count; i-- > 0;) {
        least = fmin(least, p[i] * (double)count / (double)(i + 1));
        p[i] = least;
    }
}
