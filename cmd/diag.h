/*
 * diag.h - what the program says on standard error, one line each, as compilers do.
 *
 *   gotrace: error: MESSAGE
 *   FILE:0xOFFSET: warning: MESSAGE [rule-id]
 *   SCRIPT:LINE:COLUMN: error: MESSAGE [rule-id]
 *
 * Colours are for terminals only (and never with NO_COLOR set); control characters and bytes that
 * are not UTF-8 are shown escaped, so that no file name and no string of a trace can act on the
 * terminal.
 */
#ifndef DIAG_H
#define DIAG_H

#include "formats/formats.h"

/* Look at the terminal and the environment. quiet: errors only. */
void diag_init(void);
void diag_quiet(bool quiet);

/* About the program's work, without a file. */
void diag_error(const char *message, ...) __attribute__((format(printf, 1, 2)));
void diag_note(const char *message, ...) __attribute__((format(printf, 1, 2)));

/* About a file: severity, message and rule are the error's, the place is its offset. */
void diag_problem(const char *file, const gotrace_error *error);

/* About a line of a script, or a character of it (line or column 0: about all of the script, or of
 * the line). */
void diag_script(const char *file, const script_error *where);

/* About a file: the work was done, and is probably not what was wanted. */
void diag_warning(const char *file, const char *message, ...) __attribute__((format(printf, 2, 3)));

/* A remark that belongs to the problem before it. */
void diag_problem_note(const char *file, uint64_t offset, const char *message, ...)
    __attribute__((format(printf, 3, 4)));

/* Copy s, made fit for a terminal, to dst (always terminated; cut at size). */
void diag_escape(char *dst, size_t size, const char *s);

#endif
