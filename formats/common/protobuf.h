/*
 * protobuf.h - a streaming writer of protocol buffers.
 *
 * Messages are built in one buffer and handed to an `out` when a whole one stands there. A nested
 * message is opened with room for a length of one byte; only if it turns out longer is it moved.
 * Writers need not check each call: when memory is refused everything is dropped from then on,
 * and the `out` is told that it has failed.
 */
#ifndef PROTOBUF_H
#define PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "formats/formats.h"

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
    /* A field's tag and a number never take more, and four bytes that are put down in any case: so
     * much is made free before one is. */
    PROTOBUF_NUMBER = 24,
    PROTOBUF_LEAST = 4096,
};

/* False when memory is refused. */
bool protobuf_init(protobuf *w, out *o);
void protobuf_free(protobuf *w);

/* Hand over all bytes. No message may be open. */
void protobuf_flush(protobuf *w);

/* Give up: memory was refused, here or to somebody whose data would have been written. */
void protobuf_fail(protobuf *w);

/* Make room for size bytes beyond the used ones; false, with everything dropped, if there is no
 * memory. The first PROTOBUF_LEAST bytes of the buffer can be written to in any case. */
bool protobuf_grow(protobuf *w, size_t size);

/* Close a message whose length takes more than one byte. */
void protobuf_close_long(protobuf *w, size_t mark);

/* A string field. Bytes that are not UTF-8, which protobuf does not allow, become U+FFFD. */
void protobuf_string(protobuf *w, unsigned field, const char *s, size_t size);

static inline void protobuf_room(protobuf *w, size_t size)
{
    if (w->capacity - w->used < size)
        protobuf_grow(w, size);
}

/* Where room was made: what is put down ends where these say. Bytes are stored through a pointer of
 * its own, for to the compiler each of them might be a part of the writer. */
static inline uint8_t *protobuf_put_varint(uint8_t *at, uint64_t v)
{
    if (v >> 28) {
        for (; v >= 0x80; v >>= 7)
            *at++ = (uint8_t)(v | 0x80);
        *at++ = (uint8_t)v;
        return at;
    }
    /* Of one to four bytes the length cannot be foreseen: so all four are put down. */
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

/* Where the next byte goes. */
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

/* Open a nested message; what it returns is for protobuf_close. */
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
