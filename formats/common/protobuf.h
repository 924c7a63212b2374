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

#include <endian.h>
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
/* The same for at least OUT_BLOCK bytes. They are not copied, except for the last ones, which
 * remain here. */
void protobuf_flush_block(protobuf *w);

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
    enum { CONTINUES = 0x80 };

    if (v >> 28) {
        for (; v >= CONTINUES; v >>= 7)
            *at++ = (uint8_t)(v | CONTINUES);
        *at++ = (uint8_t)v;
        return at;
    }
    /* The length is 1 to 4 bytes and hard to predict, so all four are stored without a branch. It
     * is the number of bits divided by 7, rounded up. */
    uint32_t low = (uint32_t)v;
    unsigned length = ((unsigned)(31 - __builtin_clz(low | 1)) * 9 + 73) / 64;
    uint32_t bytes = (low & 0x7f) | (low & 0x3f80) << 1 | (low & 0x1fc000) << 2 |
                     (low & 0xfe00000) << 3;
    bytes |= 0x80808080 & ((UINT32_C(1) << 8 * (length - 1)) - 1);
    bytes = htole32(bytes);
    memcpy(at, &bytes, sizeof bytes);
    return at + length;
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

/* A varint field, encoded once and written often: at most seven bytes with the tag, and their
 * number in the highest byte. 0 writes nothing. */
typedef uint64_t protobuf_field;

/* protobuf_field_of what takes more than two bytes. */
protobuf_field protobuf_field_long(unsigned field, uint64_t v);

static inline protobuf_field protobuf_field_of(unsigned field, uint64_t v)
{
    uint64_t tag = field << 3 | PROTOBUF_VARINT;

    if (tag < 0x80 && v < 0x80)
        return tag | v << 8 | (uint64_t)2 << 56;
    return protobuf_field_long(field, v);
}

/* The value of a field. */
uint64_t protobuf_field_value(protobuf_field field);

/* Writes eight bytes; those after the field are to be overwritten. */
static inline uint8_t *protobuf_put_field(uint8_t *at, protobuf_field field)
{
    uint64_t bytes = htole64(field);

    memcpy(at, &bytes, sizeof bytes);
    return at + (field >> 56);
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

static inline uint8_t *protobuf_put_fixed64(uint8_t *at, unsigned field, uint64_t v)
{
    at = protobuf_put_tag(at, field, PROTOBUF_FIXED64);
    v = htole64(v);
    memcpy(at, &v, sizeof v);
    return at + sizeof v;
}

static inline void protobuf_fixed64(protobuf *w, unsigned field, uint64_t v)
{
    protobuf_room(w, PROTOBUF_NUMBER);
    protobuf_end(w, protobuf_put_fixed64(protobuf_at(w), field, v));
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
