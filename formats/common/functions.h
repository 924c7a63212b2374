/* functions.h - functions by name, and where goroutines start. */
#ifndef FUNCTIONS_H
#define FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "gotrace.h"

/* Before, traces have an address instead of a stack where a goroutine starts. */
enum { FIRST_START_STACK = 7 };

/* The stack whose outermost function is where the goroutine starts, as far as this event shows it;
 * 0: it does not. An event that creates the goroutine has a stack for that; the event's own stack
 * is that of the goroutine in whose context it is or, of a status, of its subject. */
static inline uint64_t start_stack_of(const gotrace_event *e, uint64_t goroutine)
{
    const uint64_t start = gotrace_event_start_stack(e);
    return start                                                             ? start
           : e->goroutine == goroutine || (e->flags & GOTRACE_EVENT_INITIAL) ? e->stack
                                                                             : 0;
}

/* Writes the short name of a function: without the directories of its package path, and without the
 * element for a module version: "bar.(*Server).Serve.func1" for
 * "github.com/foo/bar/v2.(*Server).Serve.func1". Types in brackets are not shortened. Writes at
 * most room bytes, not terminated; returns how many. */
size_t function_short(char *dst, size_t room, const char *name, size_t size);

/* Whether it is one of the packages runtime and internal/poll, which are between what a program
 * calls and its events. */
bool function_is_inner(const char *name, size_t size);

/* Whether goroutines that start at this function belong to the runtime, by the rule of Go's
 * tools. */
bool function_is_system(const char *name, size_t size);

#endif
