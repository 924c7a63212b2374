/* out.c - buffered output with one sticky error. */
#include "formats/common/out.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "formats/common/utf8.h"

enum { OUT_NUMBER = 32 /* size of the longest number */ };

static const char hex_digits[] = "0123456789abcdef";

bool out_init(out *o, gotrace_write_fn write, void *ctx)
{
    *o = (out){.write = write, .ctx = ctx, .buffer = malloc(OUT_BUFFER)};
    o->capacity = o->buffer ? OUT_BLOCK : 0;
    if (!o->buffer)
        out_fail(o, ENOMEM);
    return !o->failed;
}

void out_fail(out *o, int error)
{
    o->failed = true;
    if (o->error == 0)
        o->error = error;
}

static void out_pass(out *o, const char *bytes, size_t size)
{
    if (size == 0 || o->failed)
        return;
    if (o->write(o->ctx, bytes, size))
        o->written += size;
    else
        o->failed = true;
}

/* Empties the buffer. Its bytes now belong to the thread or have been written. */
static bool out_empty(out *o)
{
    if (!o->thread)
        out_pass(o, o->buffer, o->used);
    else if (!o->failed && out_thread_take(o))
        o->written += o->used;
    else
        o->failed = true;
    o->used = 0;
    return !o->failed;
}

bool out_flush(out *o)
{
    out_empty(o);
    return out_wait(o);
}

void out_write_in_thread(out *o)
{
    o->threaded = true;
}

void out_free(out *o)
{
    out_thread_free(o->thread);
    free(o->buffer);
    *o = (out){.failed = true};
}

/* Begins to use the thread. Output that fits into one buffer does not need it. */
static void begin_thread(out *o)
{
    if (o->threaded && !o->thread && !o->failed) {
        out_use_thread(o);
        o->threaded = o->thread != NULL;
    }
}

char *out_swap(out *o, char *buffer)
{
    char *other = o->buffer;

    begin_thread(o);
    o->buffer = buffer;
    o->used = OUT_BLOCK;
    out_empty(o);
    return other;
}

void out_overflow(out *o, const void *bytes, size_t size)
{
    if (o->failed) { /* there may be no buffer */
        o->used = 0;
        return;
    }
    begin_thread(o);
    const char *rest = bytes;
    while (size > o->capacity - o->used) {
        size_t part = o->capacity - o->used;
        memcpy(o->buffer + o->used, rest, part);
        o->used += part;
        if (!out_empty(o))
            return;
        rest += part;
        size -= part;
    }
    memcpy(o->buffer + o->used, rest, size);
    o->used += size;
}

/* The number of decimal digits of v. */
static unsigned decimal_length(uint64_t v)
{
    unsigned length = 1;

    for (;; length += 4, v /= 10000) {
        if (v < 10)
            return length;
        if (v < 100)
            return length + 1;
        if (v < 1000)
            return length + 2;
        if (v < 10000)
            return length + 3;
    }
}

/* Writes v so that it ends just before end. Two digits per division, because most of what print
 * writes is numbers. */
static void put_decimal(char *end, uint64_t v)
{
    static const char pairs[] =
        "00010203040506070809101112131415161718192021222324252627282930313233"
        "34353637383940414243444546474849505152535455565758596061626364656667"
        "6869707172737475767778798081828384858687888990919293949596979899";
    while (v >= 100) {
        end -= 2;
        memcpy(end, pairs + 2 * (v % 100), 2);
        v /= 100;
    }
    if (v >= 10)
        memcpy(end - 2, pairs + 2 * v, 2);
    else
        end[-1] = (char)('0' + v);
}

void out_decimal(out *o, uint64_t v)
{
    char digits[OUT_NUMBER];
    unsigned length = decimal_length(v);

    if (o->capacity - o->used >= length) {
        o->used += length;
        put_decimal(o->buffer + o->used, v);
    } else {
        put_decimal(digits + length, v);
        out_overflow(o, digits, length);
    }
}

void out_i64(out *o, int64_t v)
{
    if (v < 0)
        out_char(o, '-');
    out_u64(o, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

void out_hex(out *o, uint64_t v)
{
    char digits[OUT_NUMBER];
    size_t at = sizeof digits;

    do {
        digits[--at] = hex_digits[v & 15];
        v >>= 4;
    } while (v != 0);
    out_bytes(o, digits + at, sizeof digits - at);
}

void out_printf(out *o, const char *template, ...)
{
    char small[512];
    va_list list, again;

    va_start(list, template);
    va_copy(again, list);
    int size = vsnprintf(small, sizeof small, template, list);
    va_end(list);
    if (size < 0) {
        out_fail(o, EINVAL);
    } else if ((size_t)size < sizeof small) {
        out_bytes(o, small, (size_t)size);
    } else {
        char *large = malloc((size_t)size + 1);
        if (large && vsnprintf(large, (size_t)size + 1, template, again) == size)
            out_bytes(o, large, (size_t)size);
        else
            out_fail(o, ENOMEM);
        free(large);
    }
    va_end(again);
}

/* A backslash and a letter. */
static void out_escape(out *o, char letter)
{
    char escape[2] = {'\\', letter};
    out_bytes(o, escape, sizeof escape);
}

/* An escape with a code of that many hexadecimal digits. */
static void out_escape_hex(out *o, char letter, uint32_t code, int digits)
{
    out_escape(o, letter);
    for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4)
        out_char(o, hex_digits[code >> shift & 15]);
}

static void out_json_control(out *o, uint32_t rune)
{
    switch (rune) {
    case '\b': out_escape(o, 'b'); break;
    case '\f': out_escape(o, 'f'); break;
    case '\n': out_escape(o, 'n'); break;
    case '\r': out_escape(o, 'r'); break;
    case '\t': out_escape(o, 't'); break;
    case '"': out_escape(o, '"'); break;
    case '\\': out_escape(o, '\\'); break;
    default: out_escape_hex(o, 'u', rune, 4); break;
    }
}

void out_json_text(out *o, const char *s, size_t size)
{
    size_t start = 0, at = 0;

    while (at < size) {
        uint32_t rune = (unsigned char)s[at];
        size_t length = 1;
        bool shown = rune >= 0x20 && rune < 0x7f && rune != '"' && rune != '\\';
        if (rune >= 0x80) {
            length = utf8_decode(s + at, size - at, &rune);
            shown = length > 0 && !utf8_alters_display(rune);
        }
        if (shown) {
            at += length;
            continue;
        }
        out_bytes(o, s + start, at - start);
        if (length == 0)
            out_str(o, "\xef\xbf\xbd");
        else
            out_json_control(o, rune);
        at += length > 0 ? length : 1;
        start = at;
    }
    if (start < size)
        out_bytes(o, s + start, size - start);
}

void out_json_string(out *o, const char *s, size_t size)
{
    out_char(o, '"');
    out_json_text(o, s, size);
    out_char(o, '"');
}

void out_json_u64(out *o, uint64_t v)
{
    const char *quote = v > INT64_MAX ? "\"" : "";
    out_str(o, quote);
    out_u64(o, v);
    out_str(o, quote);
}

static void out_go_escaped(out *o, uint32_t rune)
{
    switch (rune) {
    case '\a': out_escape(o, 'a'); break;
    case '\b': out_escape(o, 'b'); break;
    case '\f': out_escape(o, 'f'); break;
    case '\n': out_escape(o, 'n'); break;
    case '\r': out_escape(o, 'r'); break;
    case '\t': out_escape(o, 't'); break;
    case '\v': out_escape(o, 'v'); break;
    case '"': out_escape(o, '"'); break;
    case '\\': out_escape(o, '\\'); break;
    default:
        if (rune < ' ' || rune == 0x7f)
            out_escape_hex(o, 'x', rune, 2);
        else if (rune < 0x10000)
            out_escape_hex(o, 'u', rune, 4);
        else
            out_escape_hex(o, 'U', rune, 8);
        break;
    }
}

void out_go_text(out *o, const char *s, size_t size)
{
    size_t start = 0, at = 0;

    while (at < size) {
        uint32_t rune = 0;
        size_t length = utf8_decode(s + at, size - at, &rune);
        if (length > 0 && rune != '"' && rune != '\\' && utf8_printable(rune)) {
            at += length;
            continue;
        }
        out_bytes(o, s + start, at - start);
        if (length == 0) {
            out_escape_hex(o, 'x', (unsigned char)s[at], 2);
            length = 1;
        } else {
            out_go_escaped(o, rune);
        }
        at += length;
        start = at;
    }
    if (start < size)
        out_bytes(o, s + start, size - start);
}

void out_go_quoted(out *o, const char *s, size_t size)
{
    out_char(o, '"');
    out_go_text(o, s, size);
    out_char(o, '"');
}

void out_wall_clock(out *o, uint64_t seconds, uint64_t nanoseconds)
{
    const int64_t second = 1000000000;
    int64_t ns = (int64_t)nanoseconds % second;
    uint64_t carried = (uint64_t)((int64_t)nanoseconds / second);

    if (ns < 0) {
        ns += second;
        carried--;
    }
    /* Unsigned, because times of a damaged trace may overflow. */
    time_t at = (time_t)(seconds + carried);
    struct tm tm;
    if (!localtime_r(&at, &tm)) {
        out_printf(o, "%" PRId64 "s", (int64_t)at);
        return;
    }
    out_printf(o, "%04" PRId64 "-%02d-%02dT%02d:%02d:%02d", (int64_t)tm.tm_year + 1900,
               tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
    if (ns > 0) {
        int digits = 9;
        for (; ns % 10 == 0; ns /= 10)
            digits--;
        out_printf(o, ".%0*" PRId64, digits, ns);
    }
    long minutes = labs(tm.tm_gmtoff / 60);
    if (tm.tm_gmtoff == 0)
        out_char(o, 'Z');
    else
        out_printf(o, "%c%02ld:%02ld", tm.tm_gmtoff <= -60 ? '-' : '+', minutes / 60, minutes % 60);
}
