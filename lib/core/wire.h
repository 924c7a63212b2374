/*
 * wire.h - binary encoding: varints, and finding the end of a record.
 *
 * v1: a record is a first byte (type in the low six bits, form in the high two), then values as
 * little-endian base-128 varints. Forms 0 to 2 give the number of inline values; with form 3 a
 * length in bytes comes first. Two types have data: String (id, length, bytes; its form is unused)
 * and UserLog (length and bytes after the record's values).
 *
 * v2: a record is a type byte, then as many varints as the event table gives. The last one of a
 * Stack is the number of frames that follow, of four varints each. String and ExperimentalBatch
 * have data, with its length before it.
 */
#ifndef GT_WIRE_H
#define GT_WIRE_H

#include "core/byte_order.h"
#include "core/events.h"

enum {
    GT_HEADER_SIZE = 16,
    GT_VARINT_MAX = 10,       /* maximum size of a varint; traceBytesPerNumber in the runtime */
    GT_BATCH_MAX = 64 * 1024, /* maximum size of a v2 batch; tracev2.MaxBatchSize */
};

/* Reads a varint at *p. Returns its size and moves *p past it; 0 if it does not end before end; -1
 * if it has more than ten bytes or more than 64 bits. */
static inline int gt_varint(const uint8_t **p, const uint8_t *end, uint64_t *value)
{
    const uint8_t *at = *p;
    uint64_t v = 0;
    for (int i = 0; i < GT_VARINT_MAX; i++) {
        if (at + i >= end)
            return 0;
        uint64_t byte = at[i];
        if (i == GT_VARINT_MAX - 1 && byte > 1)
            return -1;
        v |= (byte & 0x7f) << (7 * i);
        if (byte < 0x80) {
            *p = at + i + 1;
            *value = v;
            return i + 1;
        }
    }
    return -1;
}

/* Reads a varint of at most three bytes, where four can be read. Returns false, without effect, if
 * it is longer. One and two bytes are equally frequent and unpredictable, so there is no branch
 * between them. Larger sizes depend on the kind of value (such as goroutine ids), so that branch is
 * predictable. */
static inline bool gt_varint_short(const uint8_t **p, uint64_t *value)
{
    uint32_t four = gt_load_le32(*p);
    if ((four & 0x8080) != 0x8080) {
        uint32_t second = four >> 7 & 1;
        *p += 1 + second;
        *value = (four & 0x7f) | ((four >> 1 & 0x3f80) & (0 - second));
        return true;
    }
    if (four & 0x800000)
        return false;
    *p += 3;
    *value = (four & 0x7f) | (four >> 1 & 0x3f80) | (four >> 2 & 0x1fc000);
    return true;
}

typedef enum gt_wire_status {
    GT_WIRE_OK = 0,
    GT_WIRE_MORE,          /* the record continues beyond the bytes given */
    GT_WIRE_TYPE,          /* no event of that version has this type */
    GT_WIRE_VARINT,        /* gotrace_rule wire.varint, at frame.bad */
    GT_WIRE_STRING_LENGTH, /* gotrace_rule string.length; frame.data_size is the recorded length */
    GT_WIRE_LOG_LENGTH,    /* gotrace_rule log.length; the same */
    GT_WIRE_BATCH_LENGTH,  /* gotrace_rule batch.header; the same (experimental batch) */
    GT_WIRE_FRAMES,        /* gotrace_rule stack.frames; frame.frames is the recorded number */
} gt_wire_status;

/* The parts of a record in memory. */
typedef struct gt_frame {
    uint8_t type, form;        /* v2: form 0 */
    const uint8_t *values;     /* the first value (String: its id) */
    const uint8_t *values_end; /* after the last one; with form 3, according to the length */
    uint64_t length;           /* form 3: the length field */
    uint64_t frames;           /* v2 Stack: number of frames */
    const uint8_t *data;       /* data, or NULL */
    uint64_t data_size;
    uint64_t size;      /* of the whole record; with GT_WIRE_MORE: minimum needed to continue */
    const uint8_t *bad; /* GT_WIRE_VARINT: the varint */
} gt_frame;

/* Finds the parts of the record at p, of which n bytes are available. Values are not decoded:
 * inline ones are skipped, those of form 3 are skipped by length; the caller must check that they
 * end there. max_string limits the data of String and UserLog. */
gt_wire_status gt_wire_frame(const gt_v1_shape shapes[64], int version, uint64_t max_string,
                             const uint8_t *p, size_t n, gt_frame *frame);

/* The same for v2, where all values are checked. max_frames, at most UINT32_MAX, limits the frames
 * of a Stack; an experimental batch has at most GT_BATCH_MAX bytes. */
gt_wire_status gt_wire_frame_v2(const gt_v2_shape shapes[GT_CODES], uint64_t max_string,
                                uint64_t max_frames, const uint8_t *p, size_t n, gt_frame *frame);

/* Parses a 16-byte header, of which n bytes are available. Returns the version, or sets *error and
 * returns 0: rules header.short, header.magic, header.version. */
int gt_wire_header(const uint8_t *p, size_t n, gotrace_error *error);

#endif
