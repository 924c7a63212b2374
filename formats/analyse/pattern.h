/*
 * pattern.h - regular expressions of PCRE2, with limits on time and memory.
 *
 * A pattern comes from the command line, a name from the trace: neither may make a match take long,
 * as POSIX's regcomp does, for minutes, with a pattern of 480 bytes.
 */
#ifndef ANALYSE_PATTERN_H
#define ANALYSE_PATTERN_H

#include <stddef.h>

typedef struct pattern pattern;

typedef enum pattern_result {
    PATTERN_DIFFERS,
    PATTERN_MATCHES,
    PATTERN_TOO_HARD,  /* a limit was reached */
    PATTERN_NO_MEMORY, /* memory was refused */
} pattern_result;

/* NULL on failure: the message is set, and the column, from 1 on, where the pattern is wrong; if
 * memory was refused the message is empty. */
pattern *pattern_new(const char *text, char *message, size_t room, size_t *column);
void pattern_free(pattern *p);

/* Whether the pattern matches anywhere in the text. */
pattern_result pattern_match(const pattern *p, const char *text, size_t size);

#endif
