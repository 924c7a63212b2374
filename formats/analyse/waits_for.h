/*
 * waits_for.h - what a goroutine waits for, in logs that `gotrace record` writes.
 */
#ifndef ANALYSE_WAITS_FOR_H
#define ANALYSE_WAITS_FOR_H

#include <string.h>

#include "gotrace.h"

/* The category of the goroutine's last event before it waits. Its message ends with the number of a
 * goroutine after one of these texts, if the wait does not end without that one. */
#define WAITS_FOR        "waits for"
#define WAITS_FOR_HOLDER " held by goroutine "
#define WAITS_FOR_END    "the end of goroutine "

/* The category of a log of the holder, with whose release the wait of a goroutine has not ended.
 * The message ends with its number. */
#define WAITS_FOR_RELEASED "released"
#define WAITS_FOR_WAITER   ", still waited for by goroutine "

static inline bool waits_for_is(const gotrace_event *e, const char *category)
{
    const gotrace_details *d = gotrace_event_details(e);
    return d->text_size == strlen(category) && memcmp(d->text, category, d->text_size) == 0;
}

/* The goroutine with which such a message ends; 0: none. */
uint64_t waits_for_goroutine(const char *message, size_t size);
uint64_t waits_for_waiter(const char *message, size_t size);

#endif
