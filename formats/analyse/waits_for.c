/* waits_for.c - see waits_for.h. */
#include "formats/analyse/waits_for.h"

#include <inttypes.h>
#include <stdio.h>

/* A message may also be about a file, with any name. */
#define OBJECT "%*[a-z -]0x%*x"

/* The number in a text that has the whole format; 0: it has not. */
static uint64_t scan(const char *message, size_t size, const char *format)
{
    char text[128];
    uint64_t id = 0;
    int end = 0;
    if (size >= sizeof text)
        return 0;
    memcpy(text, message, size);
    text[size] = '\0';
    sscanf(text, format, &id, &end);
    return (size_t)end == size ? id : 0;
}

uint64_t waits_for_goroutine(const char *message, size_t size)
{
    const uint64_t holder = scan(message, size, OBJECT WAITS_FOR_HOLDER "%" SCNu64 "%n");
    return holder ? holder : scan(message, size, WAITS_FOR_END "%" SCNu64 "%n");
}

uint64_t waits_for_waiter(const char *message, size_t size)
{
    return scan(message, size, OBJECT WAITS_FOR_WAITER "%" SCNu64 "%n");
}
