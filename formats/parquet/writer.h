/*
 * writer.h - writes Parquet files: tables of integers and texts, in bounded memory.
 *
 * Rows are collected until a row group is full. Its columns are then encoded and compressed, by
 * another thread while the caller collects the next rows, and written. A column of a row group is
 * a dictionary page and one data page, or a data page alone:
 *
 *   dictionary   if values repeat; the indices have whole bytes, because zstd then finds more
 *   delta        times, which ascend; ids of what is busy; and other integers if it is smaller;
 *                in whole bytes, and so that equal differences have equal bytes
 *   plain        texts that do not repeat
 *
 * Each has its smallest and largest value and the number of nulls, from which readers find the row
 * groups that they can skip.
 */
#ifndef PARQUET_WRITER_H
#define PARQUET_WRITER_H

#include "formats/common/out.h"
#include "formats/parquet/column.h"

/* Encodes the row groups of any number of files, one after another. */
typedef struct parquet_encoder parquet_encoder;

/* threaded: in a thread of its own, if one can be started. NULL if memory is refused. */
parquet_encoder *parquet_encoder_new(bool threaded);
void parquet_encoder_free(parquet_encoder *e);

typedef struct parquet_file parquet_file;

/* Encoder, columns and output are borrowed; until parquet_end, nothing else may use the output.
 * NULL if memory is refused. */
parquet_file *parquet_begin(parquet_encoder *e, out *o, const parquet_column *columns,
                            size_t count);

/* Where the number of the row group is that is being collected, which is 1 at first. */
const uint32_t *parquet_group(const parquet_file *f);

/* The cell of a text, which is valid for the row group that is being collected; never 0, which is
 * null. Bytes that are not UTF-8 become U+FFFD. */
int64_t parquet_text(parquet_file *f, const char *text, size_t size);

/* Appends a row: a cell for each column. */
void parquet_add(parquet_file *f, const int64_t *cells);

/* A pair of the file's key-value metadata; before parquet_end. */
void parquet_metadata(parquet_file *f, const char *key, const char *value);

/* Writes the rest and the footer, and frees the file. The output is marked as failed if memory was
 * refused. keep: false if the file is discarded. */
void parquet_end(parquet_file *f, bool keep);

#endif
