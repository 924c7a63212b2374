/* thrift.h - writes Thrift's compact protocol, in which Parquet stores its metadata. */
#ifndef PARQUET_THRIFT_H
#define PARQUET_THRIFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Growing bytes. */
typedef struct byte_buffer {
    uint8_t *data;
    size_t size, room;
    bool failed; /* memory was refused; what follows is dropped */
} byte_buffer;

/* Room for that many more; NULL if memory is refused. The caller adds to size what it uses. */
uint8_t *buffer_reserve(byte_buffer *b, size_t size);
void buffer_add(byte_buffer *b, const void *data, size_t size);
void buffer_varint(byte_buffer *b, uint64_t value);
/* Little-endian, the lowest `size` bytes of the value. */
void buffer_number(byte_buffer *b, uint64_t value, size_t size);
void buffer_free(byte_buffer *b);

/* Types of fields and of the items of lists. */
enum {
    THRIFT_TRUE = 1,
    THRIFT_FALSE = 2,
    THRIFT_I8 = 3,
    THRIFT_I16 = 4,
    THRIFT_I32 = 5,
    THRIFT_I64 = 6,
    THRIFT_TEXT = 8,
    THRIFT_LIST = 9,
    THRIFT_STRUCT = 12,
};

enum { THRIFT_DEPTH = 8 };

/* A writer; zeroed except for to. Fields of a struct are written by ascending id. */
typedef struct thrift {
    byte_buffer *to;
    unsigned depth;
    int last[THRIFT_DEPTH]; /* id of the last field of each open struct */
} thrift;

void thrift_int(thrift *t, int id, int type, int64_t value);
void thrift_bool(thrift *t, int id, bool value);
void thrift_text(thrift *t, int id, const void *text, size_t size);
/* A field that is a struct: thrift_end ends it. */
void thrift_begin(thrift *t, int id);
/* Begins a struct that is an item of a list, or the whole message. */
void thrift_begin_item(thrift *t);
void thrift_end(thrift *t);
/* A list, whose items follow. */
void thrift_list(thrift *t, int id, int type, size_t count);
void thrift_item_int(thrift *t, int64_t value);
void thrift_item_text(thrift *t, const char *text);

#endif
