/*
 * output.h - where a result goes: standard output, or a file that appears whole or not at all.
 *
 * A file is written beside its place under a temporary name and renamed when all went well; on
 * failure, and when a signal ends the program, the temporary file is removed. What is no regular
 * file (/dev/null, a named pipe) is written to where it is. In a folder that all may write to, what
 * somebody else put there to lead elsewhere is not followed. What a terminal would act on is shown
 * escaped on one. Every write is checked; the first one
 * that fails is told when the output is closed.
 */
#ifndef OUTPUT_H
#define OUTPUT_H

#include "formats.h"

typedef struct output {
    out out;
    bool large;               /* set beforehand: many bytes for what they tell (pack.h) */
    struct output_file *file; /* NULL until output_open */
} output;

/* Open path (NULL or "-": standard output). binary data, and what is compressed, is refused to a
 * terminal. Returns EXIT_SOUND, or an exit status after a diagnostic. */
int output_open(output *o, const char *path, bool zstd, bool binary);

/* Write no more than that, to all files together: a write that would go beyond fails. */
void output_limit(uint64_t bytes);

/* Go on in another file, opened in the same way. The one so far waits under its temporary name
 * until output_close puts all of them in their places, or takes all of them away. */
int output_next(output *o, const char *path, bool zstd);

/* Remember a folder that was made for the output, to be taken away (if it is empty by then) where a
 * signal ends the program. NULL: no longer. */
void output_folder(const char *path);

/* Whether anything was written so far. */
bool output_has_bytes(const output *o);

/* Write what is left, close, and put the file in its place if keep. Returns EXIT_SOUND, or
 * EXIT_SYSTEM after a diagnostic. Does nothing where nothing was opened. */
int output_close(output *o, bool keep);

#endif
