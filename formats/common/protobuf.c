/* protobuf.c - a streaming writer of protocol buffers. */
#include "formats/common/protobuf.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/utf8.h"

bool protobuf_init(protobuf *w, out *o)
{
    *w = (protobuf){.out = o, .bytes = malloc(OUT_BUFFER)};
    w->capacity = w->bytes ? OUT_BUFFER : 0;
    if (!w->bytes)
        protobuf_fail(w);
    return w->bytes;
}

void protobuf_free(protobuf *w)
{
    free(w->bytes);
    *w = (protobuf){.failed = true};
}

void protobuf_flush(protobuf *w)
{
    if (!w->failed)
        out_bytes(w->out, w->bytes, w->used);
    w->used = 0;
}

void protobuf_flush_block(protobuf *w)
{
    /* A message made the buffer larger, or part of one is in that of the out. */
    if (w->failed || w->capacity != OUT_BUFFER || w->out->used > 0) {
        protobuf_flush(w);
        return;
    }
    size_t rest = w->used - OUT_BLOCK;
    memcpy(w->out->buffer, w->bytes + OUT_BLOCK, rest);
    w->bytes = (uint8_t *)out_swap(w->out, (char *)w->bytes);
    w->used = rest;
}

void protobuf_fail(protobuf *w)
{
    w->failed = true;
    w->used = 0;
    w->out->failed = true;
    errno = ENOMEM;
}

bool protobuf_grow(protobuf *w, size_t size)
{
    size_t capacity = w->capacity;

    while (capacity - w->used < size && capacity <= SIZE_MAX / 2)
        capacity *= 2;
    uint8_t *bytes = capacity - w->used < size || w->failed ? NULL : realloc(w->bytes, capacity);
    if (!bytes) {
        protobuf_fail(w);
        return false;
    }
    w->bytes = bytes;
    w->capacity = capacity;
    return true;
}

protobuf_field protobuf_field_long(unsigned field, uint64_t v)
{
    uint8_t bytes[PROTOBUF_NUMBER] = {0};
    uint64_t size = (uint64_t)(protobuf_put_uint(bytes, field, v) - bytes), made;

    memcpy(&made, bytes, sizeof made);
    return le64toh(made) | size << 56;
}

uint64_t protobuf_field_value(protobuf_field field)
{
    unsigned size = (unsigned)(field >> 56), at = 0, shift = 0;
    uint64_t value = 0;

    while (at < size && field >> 8 * at & 0x80)
        at++;
    for (at++; at < size; at++, shift += 7)
        value |= (field >> 8 * at & 0x7f) << shift;
    return value;
}

void protobuf_close_long(protobuf *w, size_t mark)
{
    /* After a failure the mark may be beyond `used`. */
    if (w->failed)
        return;
    size_t size = w->used - mark - 1, extra = 0;
    for (size_t rest = size >> 7; rest; rest >>= 7)
        extra++;
    if (w->capacity - w->used < extra && !protobuf_grow(w, extra))
        return;
    memmove(w->bytes + mark + 1 + extra, w->bytes + mark + 1, size);
    /* Write the length in as few bytes as possible. */
    uint8_t *at = w->bytes + mark;
    size_t rest = size;
    for (; rest >= 0x80; rest >>= 7)
        *at++ = (uint8_t)(rest | 0x80);
    *at = (uint8_t)rest;
    w->used += extra;
}

void protobuf_string(protobuf *w, unsigned field, const char *s, size_t size)
{
    bool clean = size == 0 || utf8_valid_prefix(s, size) == size;
    size_t most = clean ? size : UTF8_CLEAN_MAX(size);

    if (w->capacity - w->used < most + PROTOBUF_NUMBER && !protobuf_grow(w, most + PROTOBUF_NUMBER))
        return;
    if (clean) {
        uint8_t *at = protobuf_put_tag(protobuf_at(w), field, PROTOBUF_BYTES);
        at = protobuf_put_varint(at, size);
        if (size > 0)
            memcpy(at, s, size);
        protobuf_end(w, at + size);
    } else {
        size_t mark = protobuf_open(w, field);
        w->used += utf8_clean((char *)w->bytes + w->used, s, size);
        protobuf_close(w, mark);
    }
}
