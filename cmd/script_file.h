/* script_file.h - a stdio stream over a source. */
#ifndef SCRIPT_FILE_H
#define SCRIPT_FILE_H

#include <stdio.h>

#include <gotrace.h>

/* Open a stream over a source, which remains owned by the caller. NULL if memory runs out. */
FILE *script_file_open(gotrace_source *source);

#endif
