/* thrift.c - Thrift's compact protocol. */
#include "formats/parquet/thrift.h"

#include <stdlib.h>
#include <string.h>

uint8_t *buffer_reserve(byte_buffer *b, size_t size)
{
    enum { LEAST = 256 };
    if (size > b->room - b->size) {
        size_t room = b->room ? b->room : LEAST;
        while (room - b->size < size)
            room *= 2;
        uint8_t *data = b->failed ? NULL : realloc(b->data, room);
        if (!data) {
            b->failed = true;
            return NULL;
        }
        b->data = data;
        b->room = room;
    }
    return b->data + b->size;
}

void buffer_add(byte_buffer *b, const void *data, size_t size)
{
    uint8_t *at = size > 0 ? buffer_reserve(b, size) : NULL;
    if (at) {
        memcpy(at, data, size);
        b->size += size;
    }
}

void buffer_varint(byte_buffer *b, uint64_t value)
{
    uint8_t encoded[10];
    size_t size = 0;
    for (; value >= 0x80; value >>= 7)
        encoded[size++] = (uint8_t)(value | 0x80);
    encoded[size++] = (uint8_t)value;
    buffer_add(b, encoded, size);
}

void buffer_number(byte_buffer *b, uint64_t value, size_t size)
{
    uint8_t encoded[8];
    for (size_t i = 0; i < size; i++)
        encoded[i] = (uint8_t)(value >> 8 * i);
    buffer_add(b, encoded, size);
}

void buffer_free(byte_buffer *b)
{
    free(b->data);
    *b = (byte_buffer){0};
}

static uint64_t zigzag(int64_t value)
{
    return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static void put_byte(thrift *t, unsigned value)
{
    buffer_number(t->to, value, 1);
}

static void put_field(thrift *t, int id, int type)
{
    int *last = &t->last[t->depth - 1];
    int step = id - *last;
    *last = id;
    if (step > 0 && step < 16) {
        put_byte(t, (unsigned)(step << 4 | type));
    } else {
        put_byte(t, (unsigned)type);
        buffer_varint(t->to, zigzag(id));
    }
}

void thrift_int(thrift *t, int id, int type, int64_t value)
{
    put_field(t, id, type);
    if (type == THRIFT_I8)
        put_byte(t, (uint8_t)value);
    else
        buffer_varint(t->to, zigzag(value));
}

void thrift_bool(thrift *t, int id, bool value)
{
    put_field(t, id, value ? THRIFT_TRUE : THRIFT_FALSE);
}

void thrift_text(thrift *t, int id, const void *text, size_t size)
{
    put_field(t, id, THRIFT_TEXT);
    buffer_varint(t->to, size);
    buffer_add(t->to, text, size);
}

void thrift_begin_item(thrift *t)
{
    t->last[t->depth++] = 0;
}

void thrift_begin(thrift *t, int id)
{
    put_field(t, id, THRIFT_STRUCT);
    thrift_begin_item(t);
}

void thrift_end(thrift *t)
{
    put_byte(t, 0);
    t->depth--;
}

void thrift_list(thrift *t, int id, int type, size_t count)
{
    enum { SHORT = 15 };
    put_field(t, id, THRIFT_LIST);
    put_byte(t, (unsigned)((count < SHORT ? count : (size_t)SHORT) << 4 | (unsigned)type));
    if (count >= SHORT)
        buffer_varint(t->to, count);
}

void thrift_item_int(thrift *t, int64_t value)
{
    buffer_varint(t->to, zigzag(value));
}

void thrift_item_text(thrift *t, const char *text)
{
    buffer_varint(t->to, strlen(text));
    buffer_add(t->to, text, strlen(text));
}
