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

#include "formats.h"

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
    /* A field's tag and a number never take more: so much is made free before one is put down. */
    PROTOBUF_NUMBER = 24,
};

/* False when memory is refused. */
bool protobuf_init(protobuf *w, out *o);
void protobuf_free(protobuf *w);

/* Hand over all bytes. No message may be open. */
void protobuf_flush(protobuf *w);

/* Give up: memory was refused, here or to somebody whose data would have been written. */
void protobuf_fail(protobuf *w);

/* Make room for size bytes beyond the used ones; false, with everything dropped, if there is no
 * memory. The first PROTOBUF_NUMBER bytes of the buffer can be written to in any case. */
bool protobuf_grow(protobuf *w, size_t size);

/* Close a message whose length takes more than one byte. */
void protobuf_close_long(protobuf *w, size_t mark);

/* A string field. Bytes that are not UTF-8, which protobuf does not allow, become U+FFFD. */
void protobuf_string(protobuf *w, unsigned field, const char *s, size_t size);

static inline void protobuf_room(protobuf *w)
{
    if (w->capacity - w->used < PROTOBUF_NUMBER)
        protobuf_grow(w, PROTOBUF_NUMBER);
}

/* A varint where room was made. */
static inline void protobuf_put_varint(protobuf *w, uint64_t v)
{
    uint8_t *to = w->bytes + w->used;

    while (v >= 0x80) {
        *to++ = (uint8_t)(v | 0x80);
        v >>= 7;
    }
    *to++ = (uint8_t)v;
    w->used = (size_t)(to - w->bytes);
}

static inline void protobuf_put_tag(protobuf *w, unsigned field, unsigned type)
{
    protobuf_put_varint(w, field << 3 | type);
}

/* Fields of type uint32, uint64, int32, int64, bool and enum. */
static inline void protobuf_uint(protobuf *w, unsigned field, uint64_t v)
{
    protobuf_room(w);
    protobuf_put_tag(w, field, PROTOBUF_VARINT);
    protobuf_put_varint(w, v);
}

static inline void protobuf_fixed64(protobuf *w, unsigned field, uint64_t v)
{
    protobuf_room(w);
    protobuf_put_tag(w, field, PROTOBUF_FIXED64);
    for (int i = 0; i < 8; i++)
        w->bytes[w->used++] = (uint8_t)(v >> 8 * i);
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
    protobuf_room(w);
    protobuf_put_tag(w, field, PROTOBUF_BYTES);
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
