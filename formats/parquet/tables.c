/* tables.c - the columns of the tables, as the writer needs them. */
#include "formats/parquet/tables.h"

enum { NEEDED, NULLS, FIRST = 1 << 1, THEN = 2 << 1 };

#define COLUMN(table, column, type, nulls) {#column, PARQUET_##type, (nulls)&NULLS, (nulls) >> 1},
#define COLUMNS(table, C)                                                                          \
    static const parquet_column columns_of_##table[] = {COLUMNS_OF_##table(C, table)};             \
    _Static_assert(sizeof columns_of_##table / sizeof *columns_of_##table <= PARQUET_MOST_COLUMNS, \
                   "a row group has room for the columns");
PARQUET_TABLES(COLUMNS, COLUMN)
#undef COLUMNS
#undef COLUMN

const parquet_table parquet_tables[TABLE_COUNT] = {
#define TABLE(table, C) {#table, columns_of_##table, table##_columns},
    PARQUET_TABLES(TABLE, )
#undef TABLE
};
