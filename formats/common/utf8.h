/*
 * utf8.h - cleans text from traces for formats that require UTF-8.
 *
 * Names and messages in a trace are arbitrary bytes of the traced program.
 */
#ifndef UTF8_H
#define UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decodes the first rune of s into *rune. Returns its size (1 to 4); 0 if s is empty or does not
 * begin with UTF-8 (overlong forms, surrogates and values above U+10FFFF are not UTF-8). */
size_t utf8_decode(const char *s, size_t size, uint32_t *rune);

/* Encodes a rune (not a surrogate, at most U+10FFFF) to dst, which has room for four bytes. Returns
 * its size. */
size_t utf8_encode(char *dst, uint32_t rune);

/* The number of leading bytes of s that are valid UTF-8: size if all of s is. */
size_t utf8_valid_prefix(const char *s, size_t size);

/* Copies s to dst, replacing each byte that is not part of a rune by U+FFFD. dst has room for
 * UTF8_CLEAN_MAX(size) bytes. Returns how many were written. */
#define UTF8_CLEAN_MAX(size) (3 * (size))
size_t utf8_clean(char *dst, const char *s, size_t size);

/* The result of Go's strconv.IsPrint: letters, marks, numbers, punctuation, symbols, and of the
 * spaces only U+0020. */
bool utf8_printable(uint32_t rune);

/* Whether a terminal or viewer may interpret the rune instead of showing it: control characters
 * (such as 0x9b, which is equivalent to ESC [), line and paragraph separators, and characters that
 * change the text direction. */
bool utf8_alters_display(uint32_t rune);

/* Copies s to dst, each byte of a rune that is not printable, or that is not UTF-8, as \xNN. dst is
 * always terminated, and what does not fit its size is left out. */
void utf8_escape(char *dst, size_t size, const char *s);

#endif
