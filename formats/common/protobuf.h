/*
 * protobuf.h - a streaming writer of protocol buffers.
 *
 * Messages are built in one buffer, which goes to an `out` whenever a top-level message is
 * complete. A nested message is opened with one byte for its length; it is moved only if the length
 * needs more. Callers need not check each call: when an allocation fails all later output is
 * dropped, and the `out` is marked as failed.
 */
#ifndef PROTOBUF_H
#define PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "formats/common/out.h"

typedef struct protobuf {
    out *out;
    uint8_t *bytes;
    size_t used, capacity;
    bool failed;
} protobuf;

enum {
    PROTOBUF_VARINT = 0,
    PROTOBUF_FIXED64 = 1,
    PROTOBUF_BYTES = 2,
    /* Room for a tag and a number, plus four bytes that are written unconditionally. Reserved
     * before each field. */
    PROTOBUF_NUMBER = 24,
    PROTOBUF_LEAST = 4096,
};

/* False if memory is refused. */
bool protobuf_init(protobuf *w, out *o);
void protobuf_free(protobuf *w);

/* Passes all bytes to the out. No message may be open. */
void protobuf_flush(protobuf *w);

/* Marks the output as failed because memory was refused, here or where the data was made. */
void protobuf_fail(protobuf *w);

/* Makes room for size bytes after the used ones. If memory is refused, drops the output and returns
 * false; the first PROTOBUF_LEAST bytes of the buffer are writable even then. */
bool protobuf_grow(protobuf *w, size_t size);

/* Closes a message whose length takes more than one byte. */
void protobuf_close_long(protobuf *w, size_t mark);

/* A string field. Bytes that are not UTF-8, which protobuf does not allow, become U+FFFD. */
void protobuf_string(protobuf *w, unsigned field, const char *s, size_t size);

static inline void protobuf_room(protobuf *w, size_t size)
{
    if (w->capacity - w->used < size)
        protobuf_grow(w, size);
}

/* The protobuf_put_* functions require room and return the end of what they wrote. They store
 * through a local pointer, because the compiler must assume that a store through w->bytes changes
 * *w. */
static inline uint8_t *protobuf_put_varint(uint8_t *at, uint64_t v)
{
    if (v >> 28) {
        for (; v >= 0x80; v >>= 7)
            *at++ = (uint8_t)(v | 0x80);
        *at++ = (uint8_t)v;
        return at;
    }
    /* The length is 1 to 4 bytes and hard to predict, so all four are stored without a branch. */
    at[0] = (uint8_t)((v & 0x7f) | (v > 0x7f ? 0x80 : 0));
    at[1] = (uint8_t)((v >> 7 & 0x7f) | (v > 0x3fff ? 0x80 : 0));
    at[2] = (uint8_t)((v >> 14 & 0x7f) | (v > 0x1fffff ? 0x80 : 0));
    at[3] = (uint8_t)(v >> 21);
    return at + 1 + (v > 0x7f) + (v > 0x3fff) + (v > 0x1fffff);
}

static inline uint8_t *protobuf_put_tag(uint8_t *at, unsigned field, unsigned type)
{
    unsigned tag = field << 3 | type;

    if (tag < 0x80) {
        *at = (uint8_t)tag;
        return at + 1;
    }
    return protobuf_put_varint(at, tag);
}

static inline uint8_t *protobuf_put_uint(uint8_t *at, unsigned field, uint64_t v)
{
    return protobuf_put_varint(protobuf_put_tag(at, field, PROTOBUF_VARINT), v);
}

/* The address of the next byte. */
static inline uint8_t *protobuf_at(const protobuf *w)
{
    return w->bytes + w->used;
}

static inline void protobuf_end(protobuf *w, const uint8_t *at)
{
    w->used = (size_t)(at - w->bytes);
}

/* Fields of type uint32, uint64, int32, int64, bool and enum. */
static inline void protobuf_uint(protobuf *w, unsigned field, uint64_t v)
{
    protobuf_room(w, PROTOBUF_NUMBER);
    protobuf_end(w, protobuf_put_uint(protobuf_at(w), field, v));
}

static inline void protobuf_fixed64(protobuf *w, unsigned field, uint64_t v)
{
    protobuf_room(w, PROTOBUF_NUMBER);
    uint8_t *at = protobuf_put_tag(protobuf_at(w), field, PROTOBUF_FIXED64);
    for (unsigned i = 0; i < 8; i++)
        at[i] = (uint8_t)(v >> 8 * i);
    protobuf_end(w, at + 8);
}

static inline void protobuf_double(protobuf *w, unsigned field, double v)
{
    uint64_t bits;

    memcpy(&bits, &v, sizeof bits);
    protobuf_fixed64(w, field, bits);
}

/* Opens a nested message; returns the mark for protobuf_close. */
static inline size_t protobuf_open(protobuf *w, unsigned field)
{
    protobuf_room(w, PROTOBUF_NUMBER);
    protobuf_end(w, protobuf_put_tag(protobuf_at(w), field, PROTOBUF_BYTES));
    return w->used++;
}

static inline void protobuf_close(protobuf *w, size_t mark)
{
    size_t size = w->used - mark - 1;

    if (size < 0x80)
        w->bytes[mark] = (uint8_t)size;
    else
        protobuf_close_long(w, mark);
}

#endif
