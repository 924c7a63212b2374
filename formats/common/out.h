/* out.h - buffered output with one sticky error. */
#ifndef OUT_H
#define OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "gotrace.h"

/* Buffered output. Callers need not check each call: after the first failure all output is dropped,
 * and out_flush returns false. */
typedef struct out_thread out_thread;

enum {
    /* Bytes that are written at once. Into a file whose blocks are all of this size and begin at
     * multiples of it, the kernel writes in two thirds of the time. */
    OUT_BLOCK = 256 * 1024,
    /* Size of each buffer. A producer of its own blocks (out_swap) ends what it has begun in the
     * rest. */
    OUT_BUFFER = OUT_BLOCK + 64 * 1024,
};

typedef struct out {
    gotrace_write_fn write;
    void *ctx;
    char *buffer;
    size_t used, capacity;
    /* Bytes passed to write or to the thread so far. Any thread may read it, to show progress. */
    _Atomic uint64_t written;
    bool failed;
    int error; /* errno of a failure other than of write: memory or a temporary file */
    bool threaded;
    out_thread *thread; /* NULL if there is none */
} out;

bool out_init(out *o, gotrace_write_fn write, void *ctx);
/* Writes the buffered bytes. False if this or any earlier write failed. */
bool out_flush(out *o);
void out_free(out *o);

/* From the first full buffer on, calls write in a separate thread while the caller produces the
 * next bytes. Failures show when the buffer is full again, or in out_flush. */
void out_write_in_thread(out *o);
/* Waits until the thread has written everything passed to it. Required before anything else uses
 * the destination. False if this or any earlier write failed. */
bool out_wait(out *o);

/* out_thread.c: starts the thread, which may fail; exchanges the full buffer for an empty one; ends
 * the thread. */
void out_use_thread(out *o);
bool out_thread_take(out *o);
void out_thread_free(out_thread *thread);

/* Passes the first OUT_BLOCK bytes of a buffer of OUT_BUFFER bytes, which the output owns from then
 * on, and returns another one in exchange: the one that was o->buffer, unchanged. No other bytes
 * may be buffered (o->used is 0). */
char *out_swap(out *o, char *buffer);

/* Marks the output as failed for a reason other than a failed write. */
void out_fail(out *o, int error);

/* The part of out_bytes for bytes that do not fit into the buffer. */
void out_overflow(out *o, const void *bytes, size_t size);

/* Inline because most output is constant and short: the compiler then copies it with one or two
 * moves. */
static inline void out_bytes(out *o, const void *bytes, size_t size)
{
    if (size > o->capacity - o->used) {
        out_overflow(o, bytes, size);
    } else if (size > 0) {
        memcpy(o->buffer + o->used, bytes, size);
        o->used += size;
    }
}

static inline void out_str(out *o, const char *s)
{
    out_bytes(o, s, strlen(s));
}

static inline void out_char(out *o, char c)
{
    out_bytes(o, &c, 1);
}

void out_decimal(out *o, uint64_t v);

static inline void out_u64(out *o, uint64_t v)
{
    if (v < 10 && o->used < o->capacity)
        o->buffer[o->used++] = (char)('0' + v);
    else
        out_decimal(o, v);
}

void out_i64(out *o, int64_t v);
void out_hex(out *o, uint64_t v);
void out_printf(out *o, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD; script/json.c preserves
 * them. */
void out_json_string(out *o, const char *s, size_t size);
/* The same without the quotes, for strings written in several pieces. */
void out_json_text(out *o, const char *s, size_t size);
/* A JSON number, or a string if it is above 2^63-1, which most JSON readers cannot represent. */
void out_json_u64(out *o, uint64_t v);
/* A Go string literal, as fmt's %q writes it. */
void out_go_quoted(out *o, const char *s, size_t size);
/* The same without the quotes, for strings written in several pieces. */
void out_go_text(out *o, const char *s, size_t size);
/* A wall-clock time, counted from 1970, in the local time zone, in Go's layout RFC3339Nano. */
void out_wall_clock(out *o, uint64_t seconds, uint64_t nanoseconds);

#endif
