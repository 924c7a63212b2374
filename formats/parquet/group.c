/* group.c - encodes the columns of a row group. */
#include "formats/parquet/group.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "core/malloc.h"

enum {
    MOST_DIFFERENT = PARQUET_GROUP_ROWS / 2, /* values of a dictionary of integers */
    SLOTS = 2 * MOST_DIFFERENT,
    LONGEST_BOUND = 256 /* bytes of a text that bounds a column */
};

void group_free(group *g, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(g->columns[i].memory);
    buffer_free(&g->text);
    free(g->texts);
    gt_lookup_free(&g->lookup, gt_malloc());
    *g = (group){0};
}

/* With these parameters of zstd, numbers are 5% smaller than at level 4 in the same time. */
static bool set_parameters(ZSTD_CCtx *zstd)
{
    static const struct {
        ZSTD_cParameter name;
        int value;
    } list[] = {{ZSTD_c_strategy, ZSTD_greedy},
                {ZSTD_c_minMatch, 5},
                {ZSTD_c_searchLog, 3},
                {ZSTD_c_hashLog, 17},
                {ZSTD_c_chainLog, 17}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (ZSTD_isError(ZSTD_CCtx_setParameter(zstd, list[i].name, list[i].value)))
            return false;
    return true;
}

bool scratch_init(scratch *s)
{
    *s = (scratch){.zstd = ZSTD_createCCtx(),
                   .values = malloc(PARQUET_GROUP_ROWS * sizeof *s->values),
                   .indices = malloc(PARQUET_GROUP_ROWS * sizeof *s->indices),
                   .different = malloc(PARQUET_GROUP_ROWS * sizeof *s->different),
                   .keys = malloc(PARQUET_GROUP_ROWS * sizeof *s->keys),
                   .slots = malloc(SLOTS * sizeof *s->slots),
                   .order = malloc(PARQUET_GROUP_ROWS * sizeof *s->order),
                   .before = malloc(PARQUET_GROUP_ROWS * sizeof *s->before),
                   .levels = malloc(PARQUET_GROUP_ROWS / 8),
                   .numbers = malloc(MOST_DIFFERENT * sizeof *s->numbers),
                   .number_room = MOST_DIFFERENT};
    return s->zstd && set_parameters(s->zstd) && s->values && s->indices && s->different &&
           s->keys && s->slots && s->order && s->before && s->levels && s->numbers;
}

void scratch_free(scratch *s)
{
    ZSTD_freeCCtx(s->zstd);
    free(s->values);
    free(s->indices);
    free(s->different);
    free(s->keys);
    free(s->slots);
    free(s->order);
    free(s->before);
    free(s->levels);
    free(s->numbers);
    buffer_free(&s->page);
    buffer_free(&s->packed);
}

/* ---- order ------------------------------------------------------------------------------------
 */

/* Sorts numbers by their keys, and leaves those of equal keys as they are: by one byte after
 * another from the lowest on, without those in which all keys are equal, which are most. temporary:
 * room for as many. Returns which of both is sorted. */
static uint16_t *sort_numbers(const uint64_t *keys, uint16_t *numbers, uint16_t *temporary,
                              size_t count)
{
    enum { BITS = 64, DIGITS = 256 };
    uint64_t varies = 0;
    for (size_t i = 0; i < count; i++)
        varies |= keys[i] ^ keys[0];
    for (int shift = 0; shift < BITS; shift += 8) {
        uint32_t counts[DIGITS] = {0}, sum = 0;
        if ((varies >> shift & 0xff) == 0)
            continue;
        for (size_t i = 0; i < count; i++)
            counts[keys[i] >> shift & 0xff]++;
        for (size_t i = 0; i < DIGITS; i++) {
            sum += counts[i];
            counts[i] = sum - counts[i];
        }
        for (size_t i = 0; i < count; i++)
            temporary[counts[keys[numbers[i]] >> shift & 0xff]++] = numbers[i];
        uint16_t *sorted = temporary;
        temporary = numbers;
        numbers = sorted;
    }
    return numbers;
}

/* An integer as an unsigned one that is in the same order. */
static uint64_t key_of(int64_t value)
{
    return (uint64_t)value ^ (uint64_t)INT64_MIN;
}

/* Sorts the rows by a column: texts are grouped, nulls are first. */
static void sort_rows(scratch *s, const group *g, const parquet_column *column, size_t index)
{
    for (size_t i = 0; i < g->count; i++)
        s->keys[i] = column->type == PARQUET_TEXT ? g->columns[index].texts[i]
                                                  : key_of(g->columns[index].ints[i]);
    uint16_t *sorted = sort_numbers(s->keys, s->order, s->before, g->count);
    if (sorted != s->order) {
        s->before = s->order;
        s->order = sorted;
    }
}

void group_order(scratch *s, const group *g, const parquet_column *columns, size_t count)
{
    enum { KEYS = 2 };
    for (size_t i = 0; i < g->count; i++)
        s->order[i] = (uint16_t)i;
    for (unsigned key = KEYS; key > 0; key--)
        for (size_t i = 0; i < count; i++)
            if (columns[i].order == key)
                sort_rows(s, g, &columns[i], i);
}

/* ---- pages ------------------------------------------------------------------------------------
 */

/* Compresses s->page into s->packed, and empties it; returns the size, or 0 if memory was refused.
 */
static size_t compress_page(scratch *s)
{
    size_t plain = s->page.size;
    s->packed.size = s->page.size = 0;
    uint8_t *room = buffer_reserve(&s->packed, ZSTD_compressBound(plain));
    if (s->page.failed || s->packed.failed || !room)
        return 0;
    size_t packed = ZSTD_compress2(s->zstd, room, s->packed.room, s->page.data, plain);
    return ZSTD_isError(packed) ? 0 : packed;
}

/* Compresses s->page and writes it with its header. values: of the page, nulls too. */
static bool write_page(scratch *s, bool dictionary, size_t values, out *o, uint64_t *offset,
                       chunk *c)
{
    size_t plain = s->page.size, packed = compress_page(s);
    if (packed == 0)
        return false;
    thrift t = {.to = &s->page};
    thrift_begin_item(&t);
    thrift_int(&t, 1, THRIFT_I32, dictionary ? 2 : 0);
    thrift_int(&t, 2, THRIFT_I32, (int64_t)plain);
    thrift_int(&t, 3, THRIFT_I32, (int64_t)packed);
    thrift_begin(&t, dictionary ? 7 : 5);
    thrift_int(&t, 1, THRIFT_I32, (int64_t)values);
    thrift_int(&t, 2, THRIFT_I32, dictionary ? ENCODING_PLAIN : c->encoding);
    if (!dictionary) {
        thrift_int(&t, 3, THRIFT_I32, ENCODING_RLE); /* definition levels */
        thrift_int(&t, 4, THRIFT_I32, ENCODING_RLE); /* repetition levels: there are none */
    }
    thrift_end(&t);
    thrift_end(&t);
    if (s->page.failed)
        return false;
    *(dictionary ? &c->dictionary_at : &c->data_at) = *offset;
    out_bytes(o, s->page.data, s->page.size);
    out_bytes(o, s->packed.data, packed);
    *offset += s->page.size + packed;
    c->size += s->page.size + plain;
    c->packed_size += s->page.size + packed;
    s->page.size = 0;
    return true;
}

/* Which rows are not null, one bit each, after the size: a run of equal ones, or packed as
 * s->levels has them. */
static void put_levels(scratch *s, const chunk *c)
{
    enum { SIZE = 4 };
    byte_buffer *made = &s->packed; /* not in use */
    size_t size = (c->values + 7) / 8;
    made->size = 0;
    if (c->nulls == 0 || c->nulls == c->values) {
        buffer_varint(made, c->values << 1);
        buffer_number(made, c->nulls == 0, 1);
    } else {
        buffer_varint(made, size << 1 | 1);
        buffer_add(made, s->levels, size);
    }
    buffer_number(&s->page, made->size, SIZE);
    buffer_add(&s->page, made->data, made->size);
}

/* The indices of a dictionary with that many values. */
static void put_indices(scratch *s, size_t count, size_t different)
{
    byte_buffer *page = &s->page;
    size_t width = different <= 1 << 8 ? 1 : 2;
    buffer_number(page, 8 * width, 1);
    if (count == 0)
        return;
    if (different == 1) {
        buffer_varint(page, (uint64_t)count << 1);
        buffer_number(page, 0, width);
        return;
    }
    size_t padded = (count + 7) / 8 * 8;
    buffer_varint(page, padded / 8 << 1 | 1);
    uint8_t *to = buffer_reserve(page, padded * width);
    if (!to)
        return;
    /* Loops that the compiler can vectorise. */
    if (width == 1) {
        for (size_t i = 0; i < count; i++)
            to[i] = (uint8_t)s->indices[i];
    } else {
        for (size_t i = 0; i < count; i++) {
            to[2 * i] = (uint8_t)s->indices[i];
            to[2 * i + 1] = (uint8_t)(s->indices[i] >> 8);
        }
    }
    memset(to + count * width, 0, (padded - count) * width);
    page->size += padded * width;
}

/* ---- integers ---------------------------------------------------------------------------------
 */

/* Gathers the values that are not null in the order of the rows, and marks them; without branches,
 * which the nulls of a column make unpredictable. Returns how many there are. */
static inline size_t gather_cells(scratch *s, const int64_t *cells, size_t count, bool optional)
{
    size_t used = 0;
    for (size_t i = 0; i < count; i += 8) {
        unsigned byte = 0;
        for (size_t k = i; k < i + 8 && k < count; k++) {
            int64_t cell = cells[s->order[k]];
            unsigned present = !optional | (cell != PARQUET_NULL);
            s->values[used] = cell;
            used += present;
            byte |= present << (k - i);
        }
        s->levels[i / 8] = (uint8_t)byte;
    }
    return used;
}

/* The bounds of values: those of a dictionary are the same, and fewer. */
static void find_bounds(const int64_t *values, size_t count, const parquet_column *column, chunk *c)
{
    /* Unsigned integers are compared as signed ones with the highest bit inverted. */
    const uint64_t flip = column->type == PARQUET_UNSIGNED ? (uint64_t)INT64_MIN : 0;
    int64_t least = INT64_MAX, greatest = INT64_MIN;
    for (size_t i = 0; i < count; i++) {
        int64_t key = (int64_t)((uint64_t)values[i] ^ flip);
        least = key < least ? key : least;
        greatest = key > greatest ? key : greatest;
    }
    c->bounded = count > 0;
    c->least = (int64_t)((uint64_t)least ^ flip);
    c->greatest = (int64_t)((uint64_t)greatest ^ flip);
}

static uint32_t *slot_of(scratch *s, uint64_t seed, int64_t value)
{
    size_t slot = gt_hash(seed, (uint64_t)value) % SLOTS;
    while (s->slots[slot] != 0 && s->different[s->slots[slot] - 1] != value)
        slot = (slot + 1) % SLOTS;
    return &s->slots[slot];
}

/* Numbers the different values in ascending order, which compresses better than the order in which
 * they occur. Returns how many there are; 0: too many for a dictionary. */
static size_t number_values(scratch *s, size_t count)
{
    const size_t most = count / 2 < MOST_DIFFERENT ? count / 2 + 1 : (size_t)MOST_DIFFERENT;
    const uint64_t seed = gt_hash_seed();
    size_t different = 0;
    memset(s->slots, 0, SLOTS * sizeof *s->slots);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && s->values[i] == s->values[i - 1]) {
            s->indices[i] = s->indices[i - 1];
            continue;
        }
        uint32_t *slot = slot_of(s, seed, s->values[i]);
        if (*slot == 0) {
            if (different == most)
                return 0;
            s->different[different++] = s->values[i];
            *slot = (uint32_t)different;
        }
        s->indices[i] = *slot - 1;
    }
    uint16_t *numbers = s->before; /* has room for twice as many */
    for (size_t i = 0; i < different; i++) {
        s->keys[i] = key_of(s->different[i]);
        numbers[i] = (uint16_t)i;
    }
    numbers = sort_numbers(s->keys, numbers, numbers + MOST_DIFFERENT, different);
    for (size_t i = 0; i < different; i++) {
        s->different[i] = (int64_t)key_of((int64_t)s->keys[numbers[i]]);
        s->numbers[numbers[i]] = (uint32_t)i;
    }
    for (size_t i = 0; i < count; i++)
        s->indices[i] = s->numbers[s->indices[i]];
    return different;
}

/* How the differences of a block are stored: as bytes above a base. */
typedef struct step_range {
    int64_t base;
    unsigned width; /* bytes */
} step_range;

static unsigned bytes_of(uint64_t value)
{
    unsigned bytes = 0;
    while (bytes < sizeof value && value >> 8 * bytes)
        bytes++;
    return bytes;
}

/* The base is the least difference only if no 0, -2^7, -2^15, ... is below it: equal differences
 * then have equal bytes in most blocks, which zstd finds. */
static step_range range_of(const int64_t *steps, size_t count)
{
    int64_t least = INT64_MAX, greatest = INT64_MIN, base = 0;
    for (size_t i = 0; i < count; i++) {
        least = steps[i] < least ? steps[i] : least;
        greatest = steps[i] > greatest ? steps[i] : greatest;
    }
    for (unsigned bits = 7; base > least; bits += 8)
        base = bits < 63 ? -(INT64_C(1) << bits) : INT64_MIN;
    return (step_range){base, bytes_of((uint64_t)greatest - (uint64_t)base)};
}

/* Differences in whole bytes, because zstd then finds more than it saves to pack bits. */
static void put_miniblock(byte_buffer *page, const int64_t *steps, size_t count, size_t size,
                          const step_range *as)
{
    /* Each number is stored with all its bytes; the next one replaces the highest. */
    uint8_t *to = buffer_reserve(page, size * as->width + sizeof *steps);
    if (!to)
        return;
    for (size_t i = 0; i < count; i++) {
        uint64_t above = htole64((uint64_t)steps[i] - (uint64_t)as->base);
        memcpy(to + i * as->width, &above, sizeof above);
    }
    memset(to + count * as->width, 0, (size - count) * as->width);
    page->size += size * as->width;
}

enum { BLOCK = 512, MINIBLOCK = 32, MINIBLOCKS = BLOCK / MINIBLOCK };

/* same: how all blocks of the page are stored; NULL: each in as few bytes as are possible, but two
 * of one or two, because numbers of changing size hide repetitions. */
static void put_block(byte_buffer *page, const int64_t *steps, size_t count, const step_range *same)
{
    step_range as[MINIBLOCKS], all = same ? *same : range_of(steps, count);
    buffer_varint(page, (uint64_t)all.base << 1 ^ (uint64_t)(all.base >> 63));
    for (size_t m = 0, at = 0; m < MINIBLOCKS; m++, at += MINIBLOCK) {
        as[m] = (step_range){all.base, at < count ? all.width : 0};
        if (all.width > 2 && at < count && !same) {
            uint64_t bits = 0;
            for (size_t i = at; i < count && i < at + MINIBLOCK; i++)
                bits |= (uint64_t)steps[i] - (uint64_t)all.base;
            as[m].width = bits >> 16 ? bytes_of(bits) : 2;
        }
        buffer_number(page, 8 * as[m].width, 1);
    }
    for (size_t m = 0, at = 0; at < count; m++, at += MINIBLOCK)
        put_miniblock(page, steps + at, count - at < MINIBLOCK ? count - at : (size_t)MINIBLOCK,
                      MINIBLOCK, &as[m]);
}

/* DELTA_BINARY_PACKED. ids: what repeats is far apart. */
static void put_delta(scratch *s, size_t count, bool ids)
{
    enum { WIDEST = 4 };
    byte_buffer *page = &s->page;
    const int64_t *v = s->values;
    int64_t *steps = (int64_t *)s->keys; /* no longer needed */
    size_t left = count > 0 ? count - 1 : 0;
    int64_t first = count > 0 ? v[0] : 0;
    buffer_varint(page, BLOCK);
    buffer_varint(page, MINIBLOCKS);
    buffer_varint(page, count);
    buffer_varint(page, (uint64_t)first << 1 ^ (uint64_t)(first >> 63));
    for (size_t i = 0; i < left; i++)
        steps[i] = (int64_t)((uint64_t)v[i + 1] - (uint64_t)v[i]);
    step_range all = ids ? range_of(steps, left) : (step_range){0};
    for (size_t at = 0; at < left; at += BLOCK)
        put_block(page, steps + at, left - at < BLOCK ? left - at : (size_t)BLOCK,
                  ids && all.width <= WIDEST ? &all : NULL);
}

static void put_dictionary(scratch *s, size_t different)
{
    for (size_t i = 0; i < different; i++)
        buffer_number(&s->page, (uint64_t)s->different[i], 8);
}

/* Whether the values are smaller as differences than with their dictionary, which is possible if it
 * is long. */
static bool prefers_delta(scratch *s, size_t count, size_t different)
{
    enum { LONG = 8 }; /* times as many values */
    if (different < count / LONG)
        return false;
    put_dictionary(s, different);
    size_t dictionary = compress_page(s);
    put_indices(s, count, different);
    size_t indices = compress_page(s);
    put_delta(s, count, false);
    size_t delta = compress_page(s);
    return dictionary && indices && delta && delta < dictionary + indices;
}

/* Gathers the values, with their numbers in a dictionary; returns how many are in it, 0: it is
 * none.
 */
static size_t number_ints(scratch *s, const int64_t *cells, const parquet_column *column, chunk *c)
{
    size_t count = column->optional ? gather_cells(s, cells, c->values, true)
                                    : gather_cells(s, cells, c->values, false);
    bool steps = column->type == PARQUET_TIME || column->type == PARQUET_ID;
    size_t different = 0;
    c->nulls = c->values - count;
    if (steps)
        find_bounds(s->values, count, column, c);
    if (count == 0 || (steps && c->least != c->greatest))
        return 0;
    different = number_values(s, count);
    if (different > 0)
        find_bounds(s->different, different, column, c);
    else
        find_bounds(s->values, count, column, c);
    return different > 0 && prefers_delta(s, count, different) ? 0 : different;
}

/* ---- texts ------------------------------------------------------------------------------------
 */

static int compare_texts(const group *g, uint32_t a, uint32_t b)
{
    const group_text *x = &g->texts[a - 1], *y = &g->texts[b - 1];
    int order = memcmp(g->text.data + x->first, g->text.data + y->first,
                       x->size < y->size ? x->size : y->size);
    return order ? order : (x->size > y->size) - (x->size < y->size);
}

static void put_text(byte_buffer *page, const group *g, uint32_t number)
{
    const group_text *text = &g->texts[number - 1];
    buffer_number(page, text->size, 4);
    buffer_add(page, g->text.data + text->first, text->size);
}

static bool reserve_numbers(scratch *s, size_t count)
{
    if (count <= s->number_room)
        return true;
    uint32_t *numbers = realloc(s->numbers, count * sizeof *numbers);
    if (!numbers)
        return false;
    s->numbers = numbers;
    s->number_room = count;
    return true;
}

/* Numbers the texts of the column in the order in which they occur; returns how many there are, or
 * 0 if they do not repeat. */
static size_t number_texts(scratch *s, const group *g, const uint32_t *texts, chunk *c)
{
    size_t different = 0, used = 0;
    uint32_t low = 0, high = 0;
    memset(s->numbers, 0, (g->text_count + 1) * sizeof *s->numbers);
    s->numbers[0] = UINT32_MAX; /* null, which is overwritten */
    memset(s->levels, 0, (g->count + 7) / 8);
    for (size_t i = 0; i < g->count; i++) {
        uint32_t text = texts[s->order[i]];
        if (s->numbers[text] == 0) {
            s->different[different++] = text;
            s->numbers[text] = (uint32_t)different;
            low = low && compare_texts(g, low, text) <= 0 ? low : text;
            high = high && compare_texts(g, high, text) >= 0 ? high : text;
        }
        s->indices[used] = s->numbers[text] - 1;
        used += text != 0;
        s->levels[i / 8] |= (uint8_t)((text != 0) << i % 8);
    }
    c->nulls = g->count - used;
    const group_text *least = low ? &g->texts[low - 1] : NULL;
    const group_text *greatest = high ? &g->texts[high - 1] : NULL;
    if (least && least->size <= LONGEST_BOUND && greatest->size <= LONGEST_BOUND) {
        c->bounded = true;
        c->low = g->text.data + least->first;
        c->low_size = least->size;
        c->high = g->text.data + greatest->first;
        c->high_size = greatest->size;
    }
    return different <= used / 2 + 1 ? different : 0;
}

static void put_texts(scratch *s, const group *g, const uint32_t *texts)
{
    for (size_t i = 0; i < g->count; i++)
        if (texts[s->order[i]])
            put_text(&s->page, g, texts[s->order[i]]);
}

/* ---- columns ----------------------------------------------------------------------------------
 */

bool group_encode(scratch *s, const group *g, const parquet_column *column, size_t index, out *o,
                  uint64_t *offset, chunk *c)
{
    bool is_text = column->type == PARQUET_TEXT;
    const int64_t *ints = g->columns[index].ints;
    const uint32_t *texts = g->columns[index].texts;
    *c = (chunk){.values = g->count};
    s->page.size = 0;
    if (is_text && !reserve_numbers(s, g->text_count + 1))
        return false;
    size_t different = is_text ? number_texts(s, g, texts, c) : number_ints(s, ints, column, c);
    size_t count = c->values - c->nulls;
    c->encoding = different > 0 ? ENCODING_DICTIONARY : is_text ? ENCODING_PLAIN : ENCODING_DELTA;
    if (different > 0) {
        for (size_t i = 0; is_text && i < different; i++)
            put_text(&s->page, g, (uint32_t)s->different[i]);
        if (!is_text)
            put_dictionary(s, different);
        if (!write_page(s, true, different, o, offset, c))
            return false;
    }
    if (column->optional)
        put_levels(s, c);
    if (different > 0)
        put_indices(s, count, different);
    else if (is_text)
        put_texts(s, g, texts);
    else
        put_delta(s, count, column->type == PARQUET_ID);
    return write_page(s, false, c->values, o, offset, c);
}
