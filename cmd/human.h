/* human.h - format figures for people. */
#ifndef HUMAN_H
#define HUMAN_H

#include <stddef.h>
#include <stdint.h>

/* Seconds on the monotonic clock. */
double human_clock(void);

/* "512 B", "1.5 kB", "137 MB": powers of ten, three digits. */
void human_bytes(char *dst, size_t size, uint64_t bytes);

/* "870 ns", "12.5 us", "1.234 s". */
void human_duration(char *dst, size_t size, int64_t ns);

#endif
