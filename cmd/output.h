/*
 * output.h - write a result to standard output, or to a file that appears complete or not at all.
 *
 * A file appears when it is complete and everything succeeded (new_file.h). A path that is not a
 * regular file (/dev/null, a named pipe) is written in place. Symbolic links are followed, also if
 * their target does not exist; in a folder that everyone may write to, links of other users are
 * rejected. Characters that affect a terminal are escaped on a terminal. Every write is checked;
 * the first failure is reported when the output is closed.
 */
#ifndef OUTPUT_H
#define OUTPUT_H

#include "formats/common/out.h"
#include "formats/common/packing.h"

typedef struct output {
    out out;
    bool large;      /* set before output_open: the output is large for its content (pack.h) */
    packing packing; /* set before output_open; NONE: by the ending of the path */
    unsigned group;  /* set before output_open: files of different groups appear independently */
    bool several;    /* output_next was called */
    struct output_file *file; /* NULL until output_open */
} output;

/* Open path (NULL or "-": standard output). Binary and compressed data is rejected if the output is
 * a terminal. Returns EXIT_SOUND, or an exit status after a diagnostic. */
int output_open(output *o, const char *path, bool binary);

/* Returns the path that OUT creates, the target of its symbolic links. (The kernel would follow
 * them too, but create an empty file.) NULL with errno set for a loop, or if a link is another
 * user's in a shared folder (*foreign). */
char *output_path(const char *path, bool *foreign);

/* Whether an output that is open is the one that path names. */
bool output_is_taken(const output *o, const char *path);

/* Let the new file of an output that is open appear at another path of the same folder. False if
 * memory is refused. */
bool output_move(output *o, const char *path);

/* Limit the bytes written to all files together; a write beyond the limit fails. */
void output_limit(uint64_t bytes);

/* Set whether SIGPIPE ends the program when the reader of standard output exits. */
void output_end_with_pipe(bool ends);
bool output_ends_with_pipe(void);

/* Continue in another file, opened in the same way. All files appear when output_close keeps them,
 * or none. */
int output_next(output *o, const char *path);

/* Write buffered data and close one of several outputs that are open in a group; output_commit lets
 * them appear. Returns as output_close does. */
int output_end(output *o, bool keep);

/* Let all outputs of the group that were ended appear, if keep, or discard them. Returns
 * EXIT_SOUND, or EXIT_SYSTEM after a diagnostic; then none appears. */
int output_commit(unsigned group, bool keep);

/* Whether anything was written, or could not be. */
bool output_has_bytes(const output *o);

/* Write buffered data, close, and let the file appear if keep. Returns EXIT_SOUND, or EXIT_SYSTEM
 * after a diagnostic. Does nothing if nothing was opened. */
int output_close(output *o, bool keep);

#endif
