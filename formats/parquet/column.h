/* column.h - columns of a Parquet file: their types, and the limits of a row group. */
#ifndef PARQUET_COLUMN_H
#define PARQUET_COLUMN_H

#include <stdbool.h>
#include <stdint.h>

/* Rows of a row group. Fewer if their texts have more than PARQUET_GROUP_TEXT bytes. */
enum { PARQUET_GROUP_ROWS = 1 << 16, PARQUET_GROUP_TEXT = 4 << 20, PARQUET_MOST_COLUMNS = 32 };

/* Null in a cell of an optional column of integers. */
#define PARQUET_NULL INT64_MIN

typedef enum parquet_type {
    PARQUET_INT,      /* INT64 */
    PARQUET_TIME,     /* INT64 that mostly ascends */
    PARQUET_ID,       /* INT64 that is often near the one before */
    PARQUET_UNSIGNED, /* INT64 with the logical type of an unsigned integer */
    PARQUET_TEXT,     /* UTF-8 */
} parquet_type;

typedef struct parquet_column {
    const char *name;
    uint8_t type;  /* parquet_type */
    bool optional; /* it may have nulls */
    uint8_t order; /* the rows of a row group are sorted: 1: first by this column, 2: then by it */
} parquet_column;

#endif
