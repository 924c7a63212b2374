/* writer.c - files of row groups, and the thread that encodes them. */
#include "formats/parquet/writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/malloc.h"
#include "core/thread.h"
#include "formats/common/ring.h"
#include "formats/common/utf8.h"
#include "formats/parquet/group.h"
#include "formats/common/vector.h"

static const char magic[] = "PAR1";
enum {
    MAGIC_SIZE = 4,
    NEWEST = 64 /* rows: they stay in the first cache while they are spread over the columns */
};

struct parquet_file {
    parquet_encoder *encoder;
    out *out;
    const parquet_column *columns;
    size_t count;
    int64_t *newest; /* rows that are not yet in the group, one after another */
    size_t newest_count;
    group group;     /* that is being collected */
    uint32_t number; /* of that group */
    uint64_t metadata_count;
    byte_buffer metadata; /* pairs, encoded */
    bool failed;          /* memory was refused, in the caller's thread */
    /* Used by the thread that encodes: */
    uint64_t offset, rows, groups;
    byte_buffer footer; /* the row groups, encoded */
    bool lost;          /* memory was refused there */
};

struct parquet_encoder {
    scratch scratch;
    bool threaded;
    pthread_t thread;
    ring ring; /* of one place: */
    parquet_file *file;
    group group;                       /* of the file */
    pthread_mutex_t lock;              /* of the spare memory */
    void *spare[PARQUET_MOST_COLUMNS]; /* memory of columns of full row groups, to be used again */
    size_t spare_count;
};

/* ---- encoding ---------------------------------------------------------------------------------
 */

static void put_bounds(thrift *t, const parquet_column *column, const chunk *c)
{
    thrift_begin(t, 12);
    thrift_int(t, 3, THRIFT_I64, (int64_t)c->nulls);
    if (c->bounded && column->type == PARQUET_TEXT) {
        thrift_text(t, 5, c->high, c->high_size);
        thrift_text(t, 6, c->low, c->low_size);
    } else if (c->bounded) {
        uint8_t encoded[2][8];
        for (int i = 0; i < 8; i++) {
            encoded[0][i] = (uint8_t)((uint64_t)c->greatest >> 8 * i);
            encoded[1][i] = (uint8_t)((uint64_t)c->least >> 8 * i);
        }
        thrift_text(t, 5, encoded[0], 8);
        thrift_text(t, 6, encoded[1], 8);
    }
    thrift_end(t);
}

enum { TYPE_INT64 = 2, TYPE_BYTES = 6, CODEC_ZSTD = 6 };

static int physical_type(const parquet_column *column)
{
    return column->type == PARQUET_TEXT ? TYPE_BYTES : TYPE_INT64;
}

static void put_chunk(thrift *t, const parquet_column *column, const chunk *c)
{
    thrift_begin_item(t);
    thrift_int(t, 2, THRIFT_I64, 0); /* the metadata is only in the footer */
    thrift_begin(t, 3);
    thrift_int(t, 1, THRIFT_I32, physical_type(column));
    thrift_list(t, 2, THRIFT_I32, 3);
    thrift_item_int(t, ENCODING_PLAIN);
    thrift_item_int(t, ENCODING_RLE);
    thrift_item_int(t, c->encoding);
    thrift_list(t, 3, THRIFT_TEXT, 1);
    thrift_item_text(t, column->name);
    thrift_int(t, 4, THRIFT_I32, CODEC_ZSTD);
    thrift_int(t, 5, THRIFT_I64, (int64_t)c->values);
    thrift_int(t, 6, THRIFT_I64, (int64_t)c->size);
    thrift_int(t, 7, THRIFT_I64, (int64_t)c->packed_size);
    thrift_int(t, 9, THRIFT_I64, (int64_t)c->data_at);
    if (c->dictionary_at)
        thrift_int(t, 11, THRIFT_I64, (int64_t)c->dictionary_at);
    put_bounds(t, column, c);
    thrift_end(t);
    thrift_end(t);
}

/* Encodes a row group, writes it, and adds it to the footer. */
static void encode_group(scratch *s, parquet_file *f, const group *g)
{
    thrift t = {.to = &f->footer};
    uint64_t begin = f->offset, size = 0;
    group_order(s, g, f->columns, f->count);
    thrift_begin_item(&t);
    thrift_list(&t, 1, THRIFT_STRUCT, f->count);
    for (size_t i = 0; i < f->count && !f->lost; i++) {
        chunk c;
        f->lost = !group_encode(s, g, &f->columns[i], i, f->out, &f->offset, &c);
        put_chunk(&t, &f->columns[i], &c);
        size += c.size;
    }
    thrift_int(&t, 2, THRIFT_I64, (int64_t)size);
    thrift_int(&t, 3, THRIFT_I64, (int64_t)g->count);
    thrift_int(&t, 5, THRIFT_I64, (int64_t)begin);
    thrift_int(&t, 6, THRIFT_I64, (int64_t)(f->offset - begin));
    thrift_end(&t);
    f->rows += g->count;
    f->groups++;
}

/* ---- memory of columns ------------------------------------------------------------------------
 */

static void *take_spare(parquet_encoder *e)
{
    pthread_mutex_lock(&e->lock);
    void *spare = e->spare_count > 0 ? e->spare[--e->spare_count] : NULL;
    pthread_mutex_unlock(&e->lock);
    return spare;
}

/* Frees a row group; the columns of a full one are kept, because getting as much memory from the
 * system again takes longer than to fill it. */
static void free_group(parquet_encoder *e, group *g, size_t columns)
{
    pthread_mutex_lock(&e->lock);
    for (size_t i = 0; i < columns && g->room == PARQUET_GROUP_ROWS; i++)
        if (e->spare_count < PARQUET_MOST_COLUMNS) {
            e->spare[e->spare_count++] = g->columns[i].memory;
            g->columns[i].memory = NULL;
        }
    pthread_mutex_unlock(&e->lock);
    group_free(g, columns);
}

/* ---- the thread -------------------------------------------------------------------------------
 */

static void *encode_groups(void *arg)
{
    parquet_encoder *e = arg;
    size_t place;
    while (ring_take(&e->ring, &place)) {
        if (!e->file->lost)
            encode_group(&e->scratch, e->file, &e->group);
        free_group(e, &e->group, e->file->count);
        ring_done(&e->ring);
    }
    return NULL;
}

parquet_encoder *parquet_encoder_new(bool threaded)
{
    parquet_encoder *e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    if (!scratch_init(&e->scratch)) {
        scratch_free(&e->scratch);
        free(e);
        return NULL;
    }
    pthread_mutex_init(&e->lock, NULL);
    ring_init(&e->ring, 1, 1);
    e->threaded = threaded && gt_thread_begin(&e->thread, encode_groups, e);
    return e;
}

/* Waits until everything is written. */
static void wait_for_encoder(parquet_encoder *e)
{
    if (e->threaded)
        ring_wait_all(&e->ring);
}

void parquet_encoder_free(parquet_encoder *e)
{
    if (!e)
        return;
    if (e->threaded) {
        ring_end(&e->ring);
        pthread_join(e->thread, NULL);
    }
    pthread_mutex_destroy(&e->lock);
    ring_free(&e->ring);
    scratch_free(&e->scratch);
    while (e->spare_count > 0)
        free(e->spare[--e->spare_count]);
    free(e);
}

/* Passes the row group on, and begins another one. */
static void pass_group(parquet_file *f)
{
    parquet_encoder *e = f->encoder;
    if (e->threaded) {
        ring_reserve(&e->ring);
        e->group = f->group;
        e->file = f;
        ring_pass(&e->ring);
    } else {
        if (!f->lost)
            encode_group(&e->scratch, f, &f->group);
        free_group(e, &f->group, f->count);
    }
    f->group = (group){0};
    f->number++;
}

/* ---- rows -------------------------------------------------------------------------------------
 */

parquet_file *parquet_begin(parquet_encoder *e, out *o, const parquet_column *columns, size_t count)
{
    parquet_file *f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    *f = (parquet_file){.encoder = e, .out = o, .columns = columns, .count = count, .number = 1};
    f->newest = malloc(NEWEST * count * sizeof *f->newest);
    if (!f->newest) {
        free(f);
        return NULL;
    }
    out_bytes(o, magic, MAGIC_SIZE);
    f->offset = MAGIC_SIZE;
    return f;
}

const uint32_t *parquet_group(const parquet_file *f)
{
    return &f->number;
}

/* Makes room for the newest rows. */
static bool reserve_rows(parquet_file *f)
{
    enum { LEAST = 256, GROWTH = 4 };
    group *g = &f->group;
    if (f->newest_count <= g->room - g->count)
        return true;
    size_t room = g->room ? GROWTH * g->room : (size_t)LEAST;
    if (f->number > 1)
        room = PARQUET_GROUP_ROWS; /* like the group before */
    room = room < PARQUET_GROUP_ROWS ? room : (size_t)PARQUET_GROUP_ROWS;
    for (size_t i = 0; i < f->count; i++) {
        /* All columns have the same memory, so that they can use each other's. */
        void *old = g->columns[i].memory;
        void *made = room == PARQUET_GROUP_ROWS ? take_spare(f->encoder) : NULL;
        if (made && g->room > 0) {
            memcpy(made, old, g->count * sizeof(int64_t));
            free(old);
        } else if (!made) {
            made = realloc(old, room * sizeof(int64_t));
        }
        if (!made)
            return false;
        g->columns[i].memory = made;
    }
    g->room = room;
    return true;
}

/* Moves the newest rows to the columns. */
static void spread_rows(parquet_file *f)
{
    group *g = &f->group;
    size_t rows = f->newest_count, columns = f->count;
    if (rows == 0)
        return; /* perhaps before the first row, when there is no memory for rows yet */
    if (!reserve_rows(f)) {
        f->failed = true;
        rows = 0;
    }
    f->newest_count = 0;
    for (size_t i = 0; i < columns; i++) {
        const int64_t *from = f->newest + i;
        if (f->columns[i].type == PARQUET_TEXT) {
            uint32_t *to = g->columns[i].texts + g->count;
            for (size_t k = 0; k < rows; k++)
                to[k] = (uint32_t)from[k * columns];
        } else {
            int64_t *to = g->columns[i].ints + g->count;
            for (size_t k = 0; k < rows; k++)
                to[k] = from[k * columns];
        }
    }
    g->count += rows;
}

void parquet_add(parquet_file *f, const int64_t *cells)
{
    memcpy(f->newest + f->newest_count++ * f->count, cells, f->count * sizeof *cells);
    if (f->newest_count < NEWEST && f->group.text.size <= PARQUET_GROUP_TEXT)
        return;
    spread_rows(f);
    if (f->group.count == PARQUET_GROUP_ROWS || f->group.text.size > PARQUET_GROUP_TEXT)
        pass_group(f);
}

static bool same_text(const group *g, uint32_t number, const char *text, size_t size)
{
    const group_text *own = &g->texts[number - 1];
    return own->size == size && memcmp(g->text.data + own->first, text, size) == 0;
}

/* Adds the text that ends the bytes of the group, unless it is known; 0 if memory is refused. */
static uint32_t find_or_add(group *g, size_t first)
{
    size_t slot, size = g->text.size - first;
    const char *text = (const char *)g->text.data + first;
    if (!gt_lookup_reserve(&g->lookup, gt_malloc()))
        return 0;
    uint64_t hash = gt_hash_bytes(g->lookup.seed, text, size);
    uint32_t number = gt_lookup_first(&g->lookup, hash, &slot);
    while (number && !same_text(g, number, text, size))
        number = gt_lookup_next(&g->lookup, hash, &slot);
    if (number) {
        g->text.size = first;
        return number;
    }
    group_text *texts = vector_room(g->texts, &g->text_room, g->text_count, sizeof *texts);
    if (!texts)
        return 0;
    g->texts = texts;
    g->texts[g->text_count++] = (group_text){first, size};
    gt_lookup_put(&g->lookup, slot, hash, (uint32_t)g->text_count);
    return (uint32_t)g->text_count;
}

int64_t parquet_text(parquet_file *f, const char *text, size_t size)
{
    group *g = &f->group;
    size_t first = g->text.size;
    uint8_t *room = buffer_reserve(&g->text, UTF8_CLEAN_MAX(size) + 1);
    uint32_t number = 0;
    if (room) {
        g->text.size += utf8_clean((char *)room, text, size);
        number = find_or_add(g, first);
    }
    if (number == 0) {
        g->text.size = first;
        f->failed = true;
    }
    return number;
}

void parquet_metadata(parquet_file *f, const char *key, const char *value)
{
    thrift t = {.to = &f->metadata};
    thrift_begin_item(&t);
    thrift_text(&t, 1, key, strlen(key));
    thrift_text(&t, 2, value, strlen(value));
    thrift_end(&t);
    f->metadata_count++;
}

/* ---- the footer -------------------------------------------------------------------------------
 */

static void put_column(thrift *t, const parquet_column *column)
{
    enum { UTF8 = 0, UINT_64 = 14, STRING = 1, INTEGER = 10, BITS = 64 };
    thrift_begin_item(t);
    thrift_int(t, 1, THRIFT_I32, physical_type(column));
    thrift_int(t, 3, THRIFT_I32, column->optional);
    thrift_text(t, 4, column->name, strlen(column->name));
    if (column->type == PARQUET_TEXT) {
        thrift_int(t, 6, THRIFT_I32, UTF8);
        thrift_begin(t, 10);
        thrift_begin(t, STRING);
        thrift_end(t);
        thrift_end(t);
    } else if (column->type == PARQUET_UNSIGNED) {
        thrift_int(t, 6, THRIFT_I32, UINT_64);
        thrift_begin(t, 10);
        thrift_begin(t, INTEGER);
        thrift_int(t, 1, THRIFT_I8, BITS);
        thrift_bool(t, 2, false);
        thrift_end(t);
        thrift_end(t);
    }
    thrift_end(t);
}

static void put_footer(const parquet_file *f, byte_buffer *to)
{
    static const char name[] = "schema";
    thrift t = {.to = to};
    thrift_begin_item(&t);
    thrift_int(&t, 1, THRIFT_I32, 2); /* of the format */
    thrift_list(&t, 2, THRIFT_STRUCT, f->count + 1);
    thrift_begin_item(&t);
    thrift_text(&t, 4, name, strlen(name));
    thrift_int(&t, 5, THRIFT_I32, (int64_t)f->count);
    thrift_end(&t);
    for (size_t i = 0; i < f->count; i++)
        put_column(&t, &f->columns[i]);
    thrift_int(&t, 3, THRIFT_I64, (int64_t)f->rows);
    thrift_list(&t, 4, THRIFT_STRUCT, f->groups);
    buffer_add(to, f->footer.data, f->footer.size);
    if (f->metadata_count > 0) {
        thrift_list(&t, 5, THRIFT_STRUCT, f->metadata_count);
        buffer_add(to, f->metadata.data, f->metadata.size);
    }
    char created[64];
    int size = snprintf(created, sizeof created, "gotrace version %s", gotrace_version());
    thrift_text(&t, 6, created, (size_t)size);
    /* Bounds are in the order of the column's type. */
    thrift_list(&t, 7, THRIFT_STRUCT, f->count);
    for (size_t i = 0; i < f->count; i++) {
        thrift_begin_item(&t);
        thrift_begin(&t, 1);
        thrift_end(&t);
        thrift_end(&t);
    }
    thrift_end(&t);
}

void parquet_end(parquet_file *f, bool keep)
{
    if (keep)
        spread_rows(f);
    if (keep && f->group.count > 0)
        pass_group(f);
    wait_for_encoder(f->encoder);
    group_free(&f->group, f->count);
    byte_buffer footer = {0};
    if (keep)
        put_footer(f, &footer);
    size_t size = footer.size;
    buffer_number(&footer, size, 4);
    if (f->failed || f->lost || f->footer.failed || f->metadata.failed || footer.failed) {
        out_fail(f->out, ENOMEM);
    } else if (keep) {
        out_bytes(f->out, footer.data, footer.size);
        out_bytes(f->out, magic, MAGIC_SIZE);
    }
    buffer_free(&footer);
    buffer_free(&f->footer);
    buffer_free(&f->metadata);
    free(f->newest);
    free(f);
}
