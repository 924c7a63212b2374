/*
 * waits_for.h - what a goroutine waits for: the message of a log with the category WAITS_FOR, which
 * is the goroutine's last event before it begins to wait. `gotrace record` writes it.
 */
#ifndef ANALYSE_WAITS_FOR_H
#define ANALYSE_WAITS_FOR_H

#include <string.h>

#include "gotrace.h"

#define WAITS_FOR "waits for"
/* Then the number of the goroutine, with which the message ends, unless the wait ends at some time
 * anyway. */
#define WAITS_FOR_HOLDER " held by goroutine "
#define WAITS_FOR_END    "the end of goroutine "

static inline bool waits_for_is_log(const gotrace_event *e)
{
    const gotrace_details *d = gotrace_event_details(e);
    return d->text_size == strlen(WAITS_FOR) && memcmp(d->text, WAITS_FOR, d->text_size) == 0;
}

/* The goroutine without which the wait does not end, according to the message; 0: none. */
uint64_t waits_for_goroutine(const char *message, size_t size);

#endif
