/*
 * text.h - recognises text of the traced program in a trace.
 *
 * A program that traces to standard error or standard output mixes its log lines, or the report of
 * its end, into the trace. Text is a run of characters with the end of a line, or of the file, and
 * with words: bytes of a trace, including its tables of strings, are hardly ever that. In 3.2 MB of
 * sound traces there is no such run from any byte on; with one space between words there is one,
 * and without any there are 167. Only inline functions, for the program too.
 */
#ifndef GT_TEXT_H
#define GT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    GT_TEXT_LEAST = 16, /* bytes */
    GT_TEXT_SPACES = 2, /* between words */
    GT_TEXT_LOOK = 512, /* bytes of a text that are examined */
    GT_TEXT_QUOTE = 61, /* room for the quoted part of its first line */
};

/* The size of the printable character or white space at p, which is not the end; 0: there is none.
 */
static inline size_t gt_text_char(const uint8_t *p, const uint8_t *end)
{
    if (*p < 0x80)
        return (*p >= ' ' && *p != 0x7f) || (*p >= '\t' && *p <= '\r') || *p == 0x1b;
    size_t size = *p >= 0xc2 && *p < 0xe0 ? 2
                  : (*p & 0xf0) == 0xe0   ? 3
                  : (*p & 0xf8) == 0xf0   ? 4
                                          : 0;
    if (size > (size_t)(end - p))
        return 0;
    for (size_t i = 1; i < size; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    return size;
}

/* The size of the run of characters at p. */
static inline size_t gt_text_run(const uint8_t *p, const uint8_t *end)
{
    const uint8_t *start = p;
    for (size_t size; p < end && (size = gt_text_char(p, end)) != 0;)
        p += size;
    return (size_t)(p - start);
}

/* Whether a text begins at p. at_end: the file ends at `end`. */
static inline bool gt_text_begins(const uint8_t *p, const uint8_t *end, bool at_end)
{
    if ((size_t)(end - p) > GT_TEXT_LOOK) {
        end = p + GT_TEXT_LOOK;
        at_end = false;
    }
    if (p == end || gt_text_char(p, end) == 0)
        return false;
    const uint8_t *stop = p + gt_text_run(p, end);
    unsigned spaces = 0;
    bool line = at_end && stop == end;
    for (const uint8_t *q = p; q < stop; q++) {
        line = line || *q == '\n';
        spaces += *q == ' ' && q > p && q + 1 < stop && q[-1] > ' ' && q[1] > ' ';
    }
    return line && spaces >= GT_TEXT_SPACES && stop - p >= GT_TEXT_LEAST;
}

/* Quote the beginning of the first line that is not empty. Bytes that a terminal may interpret are
 * replaced by "?". */
static inline void gt_text_quote(const uint8_t *p, const uint8_t *end, char quote[GT_TEXT_QUOTE])
{
    size_t n = 0;
    while (p < end && *p <= ' ')
        p++;
    for (; p < end && n + 1 < GT_TEXT_QUOTE && *p != '\n' && *p != '\r' && *p != '\0'; p++)
        quote[n++] = *p >= ' ' && *p < 0x7f ? (char)*p : '?';
    quote[n] = '\0';
}

#endif
