/*
 * time.c - conversion between times of scripts by meaning (nanoseconds since the script's time 0)
 * and ticks of the tracer's clock. Exact, or rounded to the nearest.
 */
#include "formats/script/script.h"

#define SECOND ((uint64_t)1000000000)

uint64_t script_ticks(script_time time, uint64_t frequency)
{
    /* A nanosecond has frequency / 10^9 ticks: integer part and remainder. */
    uint64_t whole = frequency / SECOND, left = frequency % SECOND;
    uint64_t seconds = time.ns / SECOND, ns = time.ns % SECOND;
    uint64_t of_part = time.part * whole;
    uint64_t billionths = ns * left + of_part % SECOND + time.part * left / SECOND;
    return seconds * frequency + ns * whole + of_part / SECOND + (billionths + SECOND / 2) / SECOND;
}

uint64_t script_ns(uint64_t ticks, uint64_t frequency)
{
    return ticks / frequency * SECOND + (ticks % frequency * SECOND + frequency / 2) / frequency;
}

bool script_time_read(const char *s, size_t size, script_time *time, bool *negative)
{
    size_t i = 0, digits = 0;
    *time = (script_time){0, 0};
    *negative = size > 0 && s[0] == '-';
    i += *negative;
    for (; i < size && s[i] >= '0' && s[i] <= '9'; i++, digits++) {
        unsigned digit = (unsigned)(s[i] - '0');
        if (time->ns > (UINT64_MAX / 2 - digit) / 10)
            return false;
        time->ns = time->ns * 10 + digit;
    }
    if (i == size || s[i] != '.')
        return digits > 0 && i == size;
    uint64_t unit = SECOND / 10;
    for (i++; i < size && s[i] >= '0' && s[i] <= '9'; i++, digits++, unit /= 10)
        time->part += unit * (unsigned)(s[i] - '0');
    return digits > 0 && i == size;
}

bool script_ticks_fit(script_time time, uint64_t frequency)
{
    /* Less than a second has fewer ticks than the frequency, which fits. */
    return time.ns < SECOND || time.ns / SECOND < (UINT64_MAX / 2) / frequency;
}
