/* waits_for.c - see waits_for.h. */
#include "formats/analyse/waits_for.h"

#include <inttypes.h>
#include <stdio.h>

/* The message may also end with the name of a file, of which nothing is said here. */
uint64_t waits_for_goroutine(const char *message, size_t size)
{
    char text[128];
    uint64_t id = 0;
    int end = 0;
    if (size >= sizeof text)
        return 0;
    memcpy(text, message, size);
    text[size] = '\0';
    if (sscanf(text, "%*[a-z -]0x%*x" WAITS_FOR_HOLDER "%" SCNu64 "%n", &id, &end) < 1)
        sscanf(text, WAITS_FOR_END "%" SCNu64 "%n", &id, &end);
    return (size_t)end == size ? id : 0;
}
