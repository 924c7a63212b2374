/* functions.h - properties of functions by name. */
#ifndef FUNCTIONS_H
#define FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>

/* Writes the short name of a function: without the directories of its package path, and without the
 * element for a module version: "bar.(*Server).Serve.func1" for
 * "github.com/foo/bar/v2.(*Server).Serve.func1". Types in brackets are not shortened. Writes at
 * most room bytes, not terminated; returns how many. */
size_t function_short(char *dst, size_t room, const char *name, size_t size);

/* Whether goroutines that start at this function belong to the runtime, by the rule of Go's
 * tools. */
bool function_is_system(const char *name, size_t size);

#endif
