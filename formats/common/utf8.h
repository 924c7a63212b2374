/*
 * utf8.h - text of unknown origin made fit for formats that demand UTF-8.
 *
 * Names and messages in a trace are bytes of the traced program: nothing promises that they are
 * valid text.
 */
#ifndef UTF8_H
#define UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the first rune of s (1 to 4), which goes into *rune; 0 if they are not UTF-8 (overlong
 * forms, surrogates and what lies above U+10FFFF are not), or if size is 0. */
size_t utf8_decode(const char *s, size_t size, uint32_t *rune);

/* Write a rune (not a surrogate, at most U+10FFFF) to dst, which has room for four bytes; returns
 * how many it takes. */
size_t utf8_encode(char *dst, uint32_t rune);

/* Leading bytes of s that are UTF-8: size if all of it is. */
size_t utf8_valid_prefix(const char *s, size_t size);

/* Copy s to dst, each byte that is not part of a rune becoming U+FFFD. dst has room for
 * UTF8_CLEAN_MAX(size) bytes; returns how many were written. */
#define UTF8_CLEAN_MAX(size) (3 * (size))
size_t utf8_clean(char *dst, const char *s, size_t size);

/* Whether Go's strconv.IsPrint says so: letters, marks, numbers, punctuation, symbols, and of the
 * spaces the one of ASCII. */
bool utf8_printable(uint32_t rune);

/* Whether a terminal, or whoever shows text, would act on it instead of showing it: control
 * characters (0x9b is one, and begins sequences as ESC [ does), ends of lines and paragraphs, and
 * what changes the direction in which text runs. */
bool utf8_acts(uint32_t rune);

#endif
