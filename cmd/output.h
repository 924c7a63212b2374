/*
 * output.h - where a result goes: standard output, or a file that appears whole or not at all.
 *
 * A file appears when it is complete and all went well (new_file.h). What is no regular file
 * (/dev/null, a named pipe) is written to where it is. Symbolic links are followed, also where
 * nothing is at their end yet; in a folder that all may write to, what somebody else put there to
 * lead elsewhere is not. What a terminal would act on is shown escaped on one. Every write is
 * checked; the first one that fails is reported when the output is closed.
 */
#ifndef OUTPUT_H
#define OUTPUT_H

#include "formats/formats.h"
#include "formats/common/packing.h"

typedef struct output {
    out out;
    bool large;               /* set beforehand: many bytes for what they tell (pack.h) */
    packing packing;          /* set beforehand; NONE: as the ending of the path says */
    bool several;             /* output_next was called */
    struct output_file *file; /* NULL until output_open */
} output;

/* Open path (NULL or "-": standard output). binary data, and what is compressed, is refused to a
 * terminal. Returns EXIT_SOUND, or an exit status after a diagnostic. */
int output_open(output *o, const char *path, bool binary);

/* The path at which OUT is made where nothing is yet: at the end of its symbolic links. The kernel
 * would follow them and create a file, but an empty one. NULL with errno set if it is a loop, or
 * leads to what somebody else put into a shared folder (*foreign). */
char *output_path(const char *path, bool *foreign);

/* Write no more than that, to all files together: a write that would go beyond fails. */
void output_limit(uint64_t bytes);

/* Whether SIGPIPE is to end the program when the reader of standard output goes away. */
void output_end_with_pipe(bool ends);

/* Go on in another file, opened in the same way. All of them appear when output_close keeps them,
 * or none does. */
int output_next(output *o, const char *path);

/* Whether anything was written so far. */
bool output_has_bytes(const output *o);

/* Write what is left, close, and let the file appear if keep. Returns EXIT_SOUND, or
 * EXIT_SYSTEM after a diagnostic. Does nothing where nothing was opened. */
int output_close(output *o, bool keep);

#endif
