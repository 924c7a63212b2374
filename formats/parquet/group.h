/* group.h - the columns of a row group, and how they are encoded; used by the writer alone. */
#ifndef PARQUET_GROUP_H
#define PARQUET_GROUP_H

#include <assert.h>
#include <zstd.h>

#include "core/lookup.h"
#include "formats/common/out.h"
#include "formats/parquet/column.h"
#include "formats/parquet/thrift.h"

/* A text of a row group. */
typedef struct group_text {
    size_t first, size; /* in the bytes of the group's texts */
} group_text;

/* Rows that are collected, column by column. */
typedef struct group {
    size_t count, room; /* rows */
    union {
        int64_t *ints;
        uint32_t *texts; /* numbers from 1 on; 0: null */
        void *memory;
    } columns[PARQUET_MOST_COLUMNS];
    byte_buffer text; /* of the texts */
    group_text *texts;
    size_t text_count, text_room;
    gt_lookup lookup; /* of the texts */
} group;

void group_free(group *g, size_t count);

/* Memory for encoding, which is used again for each column. */
typedef struct scratch {
    ZSTD_CCtx *zstd;
    int64_t *values;    /* that are not null */
    uint32_t *indices;  /* of the values, in the dictionary */
    int64_t *different; /* values */
    uint64_t *keys;     /* for sorting */
    uint32_t *slots;    /* hash table: indices of different values + 1 */
    uint32_t *numbers;  /* from one numbering to another */
    size_t number_room;
    byte_buffer page, packed;
    uint16_t *order;  /* in which the rows are written: their numbers */
    uint16_t *before; /* room for sorting */
    uint8_t *levels;  /* a bit for each cell of a column, set if it is not null */
} scratch;

static_assert(PARQUET_GROUP_ROWS - 1 <= UINT16_MAX, "the number of a row");

bool scratch_init(scratch *s);
void scratch_free(scratch *s);

/* What the footer says of a column of a row group. */
typedef struct chunk {
    uint64_t nulls, values;          /* values: nulls too */
    uint64_t size, packed_size;      /* of the pages with their headers */
    uint64_t dictionary_at, data_at; /* offsets; dictionary_at 0: none */
    int encoding;                    /* of the values */
    bool bounded;                    /* there is a least and a greatest value: */
    int64_t least, greatest;         /* integers */
    const uint8_t *low, *high;       /* texts, of the group */
    size_t low_size, high_size;
} chunk;

enum {
    ENCODING_PLAIN = 0,
    ENCODING_RLE = 3,
    ENCODING_DELTA = 5,
    ENCODING_DICTIONARY = 8,
};

/* Finds the order of the rows, by the columns that have one: rows that are equal in these remain as
 * they came. For the calls of group_encode. */
void group_order(scratch *s, const group *g, const parquet_column *columns, size_t count);

/* Encodes a column of at least one row and writes its pages at *offset of the output, which moves.
 * False if memory was refused. */
bool group_encode(scratch *s, const group *g, const parquet_column *column, size_t index, out *o,
                  uint64_t *offset, chunk *c);

#endif
