/* rank_test.h - whether two samples differ, without an assumption about their distribution. */
#ifndef DIFF_RANK_TEST_H
#define DIFF_RANK_TEST_H

#include <stddef.h>

/* Up to so many values of both samples together the test is exact. */
enum { RANK_EXACT = 20 };

/* The two-sided p-value of the Mann-Whitney U test: twice the probability of the smaller tail, at
 * most 1. Equal values share the mean of their ranks. Exact up to RANK_EXACT values, with ties too;
 * with more, the normal approximation with corrections for ties and continuity. 1 if a sample is
 * empty. Both samples are sorted. Below 0 if memory is refused. */
double rank_test(double *a, size_t a_count, double *b, size_t b_count);

/* The least p-value that is possible with so many values a side. */
double rank_test_least(size_t a_count, size_t b_count);

/* Benjamini and Hochberg's procedure. p: ascending; each becomes the least rate of false
 * discoveries with which it counts as one. */
void rank_test_adjust(double *p, size_t count);

#endif
