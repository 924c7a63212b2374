/*
 * diag.h - diagnostics on standard error, one per line, in the style of compilers.
 *
 *   gotrace: error: MESSAGE
 *   FILE:0xOFFSET: warning: MESSAGE [rule-id]
 *   SCRIPT:LINE:COLUMN: error: MESSAGE [rule-id]
 *
 * Colours are used on terminals only (and never with NO_COLOR). Control characters and bytes that
 * are not UTF-8 are escaped, so that no file name and no string of a trace can affect the terminal.
 */
#ifndef DIAG_H
#define DIAG_H

#include "formats/script/scripts.h"

/* Initialise from the terminal and the environment. */
void diag_init(void);

/* Print errors only. */
void diag_quiet(bool quiet);

/* Write the diagnostics of this thread to o (NULL: standard error), which is borrowed and may be
 * that of several threads. Returns where they were written before. */
out *diag_capture(out *o);
/* Where the diagnostics of this thread are written. */
out *diag_captured(void);

/* From now on each diagnostic, quiet or not, is also passed to the observer: its place, "FILE" or
 * "FILE:0xOFFSET", and "error: MESSAGE [rule-id]" in printable UTF-8. NULL: no longer. Call it
 * while there is one thread; it is called by any. */
typedef void diag_observer(void *ctx, const char *place, gotrace_severity severity,
                           const char *line);
void diag_observe(diag_observer *observer, void *ctx);

/* Diagnostics without a file. */
void diag_error(const char *message, ...) __attribute__((format(printf, 1, 2)));
void diag_note(const char *message, ...) __attribute__((format(printf, 1, 2)));

/* Print the part of a text around an offset, and a caret below it. */
void diag_excerpt(const char *text, size_t at);

/* Print a problem of a file at its offset. */
void diag_problem(const char *file, const gotrace_error *error);

/* Print an error of a script with its line and column; 0: the whole script, or the whole line. */
void diag_script(const char *file, const script_error *where);

/* Print a warning about a file: the work was done, but the result is probably not what was
 * wanted. */
void diag_warning(const char *file, const char *message, ...) __attribute__((format(printf, 2, 3)));

/* Print a note to the diagnostic before it. */
void diag_problem_note(const char *file, uint64_t offset, const char *message, ...)
    __attribute__((format(printf, 3, 4)));

#endif
