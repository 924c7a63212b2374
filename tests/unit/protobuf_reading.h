/* protobuf_reading.h - reads protocol buffers, for tests of what writes them. */
#ifndef PROTOBUF_READING_H
#define PROTOBUF_READING_H

#include <string.h>

#include "formats/common/protobuf.h"
#include "support.h"

/* An assertion for hot loops: Check writes a record for each of its own assertions. */
#define MUST(what)                                                                                 \
    do {                                                                                           \
        if (!(what))                                                                               \
            ck_abort_msg("%s", #what);                                                             \
    } while (0)

typedef struct message {
    const uint8_t *at, *end;
} message;

typedef struct field {
    unsigned number, type;
    uint64_t value;
    message content;
} field;

static inline uint64_t take_varint(message *m)
{
    uint64_t value = 0;

    for (unsigned shift = 0;; shift += 7) {
        MUST(m->at < m->end && shift < 70);
        value |= (uint64_t)(*m->at & 0x7f) << shift;
        if (*m->at++ < 0x80)
            return value;
    }
}

/* Takes the next field of the message; false at its end. */
static inline bool take(message *m, field *f)
{
    if (m->at == m->end)
        return false;
    uint64_t tag = take_varint(m);
    *f = (field){.number = (unsigned)(tag >> 3), .type = (unsigned)tag & 7};
    if (f->type == PROTOBUF_VARINT) {
        f->value = take_varint(m);
        return true;
    }
    MUST(f->type == PROTOBUF_FIXED64 || f->type == PROTOBUF_BYTES);
    uint64_t size = f->type == PROTOBUF_FIXED64 ? 8 : take_varint(m);
    MUST(size <= (uint64_t)(m->end - m->at));
    f->content = (message){m->at, m->at + size};
    if (f->type == PROTOBUF_FIXED64)
        memcpy(&f->value, m->at, sizeof f->value);
    m->at += size;
    return true;
}

#endif
