#include "cmd/human.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

double human_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void human_bytes(char *dst, size_t size, uint64_t bytes)
{
    static const char *const units[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
    if (bytes < 1000) {
        snprintf(dst, size, "%" PRIu64 " B", bytes);
        return;
    }
    double value = (double)bytes / 1000.0;
    size_t unit = 0;
    /* A value that would be rounded to four digits uses the next unit. */
    while (value >= 999.5) {
        value /= 1000.0;
        unit++;
    }
    snprintf(dst, size, "%.*f %s", value < 9.95 ? 1 : 0, value, units[unit]);
}

void human_duration(char *dst, size_t size, int64_t ns)
{
    double value = (double)ns;
    if (ns < 1000)
        snprintf(dst, size, "%" PRId64 " ns", ns);
    else if (ns < 1000000)
        snprintf(dst, size, "%.3f us", value / 1e3);
    else if (ns < 1000000000)
        snprintf(dst, size, "%.3f ms", value / 1e6);
    else
        snprintf(dst, size, "%.3f s", value / 1e9);
}
