/* script_file.h - an event script as a stream. */
#ifndef SCRIPT_FILE_H
#define SCRIPT_FILE_H

#include <stdio.h>

#include <gotrace.h>

/* A stream over what a source has, which stays the caller's. NULL when out of memory. */
FILE *script_file_open(gotrace_source *source);

#endif
