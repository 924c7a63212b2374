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

/* Parameters of zstd with which numbers are 5% smaller than at level 4 in the same time. */
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
                   .sorted = malloc((size_t)2 * MOST_DIFFERENT * sizeof *s->sorted),
                   .slots = malloc(SLOTS * sizeof *s->slots),
                   .order = malloc(PARQUET_GROUP_ROWS * sizeof *s->order),
                   .before = malloc(PARQUET_GROUP_ROWS * sizeof *s->before),
                   .levels = malloc(PARQUET_GROUP_ROWS / 8),
                   .numbers = malloc(MOST_DIFFERENT * sizeof *s->numbers),
                   .number_room = MOST_DIFFERENT};
    return s->zstd && set_parameters(s->zstd) && s->values && s->indices && s->different &&
           s->sorted && s->slots && s->order && s->before && s->levels && s->numbers;
}

void scratch_free(scratch *s)
{
    ZSTD_freeCCtx(s->zstd);
    free(s->values);
    free(s->indices);
    free(s->different);
    free(s->sorted);
    free(s->slots);
    free(s->order);
    free(s->before);
    free(s->levels);
    free(s->numbers);
    buffer_free(&s->page);
    buffer_free(&s->packed);
}

/* The row that is written as the i-th. */
static inline size_t row_at(const scratch *s, bool has_order, size_t i)
{
    return has_order ? s->order[i] : i;
}

/* ---- pages ------------------------------------------------------------------------------------
 */

/* Compresses s->page into s->packed; returns the size, or 0 if memory was refused. */
static size_t compress_page(scratch *s)
{
    s->packed.size = 0;
    uint8_t *room = buffer_reserve(&s->packed, ZSTD_compressBound(s->page.size));
    if (s->page.failed || !room)
        return 0;
    size_t packed = ZSTD_compress2(s->zstd, room, s->packed.room, s->page.data, s->page.size);
    return ZSTD_isError(packed) ? 0 : packed;
}

/* Compresses s->page and writes it with its header. values: of the page, nulls too. */
static bool write_page(scratch *s, bool dictionary, size_t values, out *o, uint64_t *offset,
                       chunk *c)
{
    size_t plain = s->page.size;
    size_t packed = compress_page(s);
    if (packed == 0)
        return false;
    /* The page is compressed: its memory can be used for the header. */
    s->page.size = 0;
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
        thrift_int(&t, 4, THRIFT_I32,
                   ENCODING_RLE); /* repetition levels, of which there are none */
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

/* Which rows are not null, one bit each: a run of equal ones, or packed as s->levels has them. */
static void put_levels(scratch *s, const chunk *c)
{
    enum { SIZE = 4 };
    size_t count = c->values;
    byte_buffer *page = &s->page;
    size_t start = page->size;
    buffer_number(page, 0, SIZE);
    if (c->nulls == 0 || c->nulls == count) {
        buffer_varint(page, (uint64_t)count << 1);
        buffer_number(page, c->nulls == 0, 1);
    } else {
        size_t size = (count + 7) / 8;
        buffer_varint(page, (uint64_t)size << 1 | 1);
        buffer_add(page, s->levels, size);
    }
    if (page->failed)
        return;
    size_t end = page->size;
    page->size = start;
    buffer_number(page, end - start - SIZE, SIZE);
    page->size = end;
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
static inline size_t gather_cells(scratch *s, const int64_t *cells, size_t count, bool has_order,
                                  bool optional)
{
    size_t used = 0;
    for (size_t i = 0; i < count; i += 8) {
        unsigned byte = 0;
        for (size_t k = i; k < i + 8 && k < count; k++) {
            int64_t cell = cells[row_at(s, has_order, k)];
            unsigned present = !optional | (cell != PARQUET_NULL);
            s->values[used] = cell;
            used += present;
            byte |= present << (k - i);
        }
        s->levels[i / 8] = (uint8_t)byte;
    }
    return used;
}

static size_t gather(scratch *s, const int64_t *cells, const parquet_column *column, chunk *c)
{
    size_t used, count = c->values;
    if (s->has_order)
        used = column->optional ? gather_cells(s, cells, count, true, true)
                                : gather_cells(s, cells, count, true, false);
    else
        used = column->optional ? gather_cells(s, cells, count, false, true)
                                : gather_cells(s, cells, count, false, false);
    c->nulls = count - used;
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

/* Sorts by one byte after another, from the lowest on; those in which all values are equal are
 * skipped, which are most. temporary: room for as many. Returns which of both is sorted. */
static int64_t *sort_values(int64_t *values, int64_t *temporary, size_t count)
{
    enum { BYTES = 8, DIGITS = 256 };
    uint32_t counts[BYTES][DIGITS] = {{0}};
    for (size_t i = 0; i < count; i++) {
        uint64_t key = (uint64_t)values[i] ^ (uint64_t)INT64_MIN;
        for (int b = 0; b < BYTES; b++)
            counts[b][key >> 8 * b & 0xff]++;
    }
    for (int b = 0; b < BYTES; b++) {
        uint64_t first = (uint64_t)values[0] ^ (uint64_t)INT64_MIN;
        if (counts[b][first >> 8 * b & 0xff] == count)
            continue;
        for (uint32_t i = 0, sum = 0; i < DIGITS; i++) {
            uint32_t own = counts[b][i];
            counts[b][i] = sum;
            sum += own;
        }
        for (size_t i = 0; i < count; i++) {
            uint64_t key = (uint64_t)values[i] ^ (uint64_t)INT64_MIN;
            temporary[counts[b][key >> 8 * b & 0xff]++] = values[i];
        }
        int64_t *sorted = temporary;
        temporary = values;
        values = sorted;
    }
    return values;
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
    if (different <= 1)
        return different;
    /* The slots compare by the old numbering. */
    memcpy(s->sorted, s->different, different * sizeof *s->sorted);
    int64_t *sorted = sort_values(s->sorted, s->sorted + MOST_DIFFERENT, different);
    for (size_t i = 0; i < different; i++)
        s->numbers[*slot_of(s, seed, sorted[i]) - 1] = (uint32_t)i;
    memcpy(s->different, sorted, different * sizeof *sorted);
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
    int64_t *steps = s->sorted; /* no longer needed */
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
    s->page.size = 0;
    put_indices(s, count, different);
    size_t indices = compress_page(s);
    s->page.size = 0;
    put_delta(s, count, false);
    size_t delta = compress_page(s);
    s->page.size = 0;
    return dictionary && indices && delta && delta < dictionary + indices;
}

static bool encode_ints(scratch *s, const int64_t *ints, const parquet_column *column, out *o,
                        uint64_t *offset, chunk *c)
{
    size_t count = gather(s, ints, column, c);
    bool steps = column->type == PARQUET_TIME || column->type == PARQUET_ID;
    if (steps)
        find_bounds(s->values, count, column, c);
    steps = steps && c->least != c->greatest;
    size_t different = count == 0 || steps ? 0 : number_values(s, count);
    if (different > 0)
        find_bounds(s->different, different, column, c);
    else if (!steps)
        find_bounds(s->values, count, column, c);
    if (different > 0 && prefers_delta(s, count, different))
        different = 0;
    c->encoding = different > 0 ? ENCODING_DICTIONARY : ENCODING_DELTA;
    if (different > 0) {
        put_dictionary(s, different);
        if (!write_page(s, true, different, o, offset, c))
            return false;
    }
    if (column->optional)
        put_levels(s, c);
    if (different > 0)
        put_indices(s, count, different);
    else
        put_delta(s, count, column->type == PARQUET_ID);
    return write_page(s, false, c->values, o, offset, c);
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

/* Numbers the texts of the column in the order in which they occur; returns how many there are. */
static size_t number_texts(scratch *s, const group *g, const uint32_t *texts, chunk *c)
{
    size_t different = 0, used = 0;
    uint32_t low = 0, high = 0;
    memset(s->numbers, 0, (g->text_count + 1) * sizeof *s->numbers);
    s->numbers[0] = UINT32_MAX; /* null, which is overwritten */
    memset(s->levels, 0, (g->count + 7) / 8);
    for (size_t i = 0; i < g->count; i++) {
        uint32_t text = texts[row_at(s, s->has_order, i)];
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
    if (low && g->texts[low - 1].size <= LONGEST_BOUND &&
        g->texts[high - 1].size <= LONGEST_BOUND) {
        c->bounded = true;
        c->low = g->text.data + g->texts[low - 1].first;
        c->low_size = g->texts[low - 1].size;
        c->high = g->text.data + g->texts[high - 1].first;
        c->high_size = g->texts[high - 1].size;
    }
    return different;
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

static bool encode_texts(scratch *s, const group *g, const uint32_t *texts,
                         const parquet_column *column, out *o, uint64_t *offset, chunk *c)
{
    if (!reserve_numbers(s, g->text_count + 1))
        return false;
    size_t different = number_texts(s, g, texts, c), count = g->count - c->nulls;
    bool repeats = different > 0 && different <= count / 2 + 1;
    c->encoding = repeats ? ENCODING_DICTIONARY : ENCODING_PLAIN;
    if (repeats) {
        for (size_t i = 0; i < different; i++)
            put_text(&s->page, g, (uint32_t)s->different[i]);
        if (!write_page(s, true, different, o, offset, c))
            return false;
    }
    if (column->optional)
        put_levels(s, c);
    if (repeats)
        put_indices(s, count, different);
    for (size_t i = 0; !repeats && i < g->count; i++) {
        uint32_t text = texts[row_at(s, s->has_order, i)];
        if (text)
            put_text(&s->page, g, text);
    }
    return write_page(s, false, g->count, o, offset, c);
}

/* ---- the order of the rows --------------------------------------------------------------------
 */

/* The key by which a cell is sorted, as small as possible: texts are grouped, nulls are first. */
static uint64_t key_of(const group *g, const parquet_column *column, size_t index, int64_t least,
                       size_t row)
{
    if (column->type == PARQUET_TEXT)
        return g->columns[index].texts[row];
    int64_t cell = g->columns[index].ints[row];
    return cell == PARQUET_NULL ? 0 : (uint64_t)cell - (uint64_t)least + 1;
}

/* Sorts s->order by a column, and leaves rows of equal cells as they are: by one byte after another
 * from the lowest on, without those in which all keys are equal. */
static void sort_rows(scratch *s, const group *g, const parquet_column *column, size_t index)
{
    enum { BITS = 64, DIGITS = 256 };
    int64_t least = INT64_MAX;
    for (size_t i = 0; i < g->count && column->type != PARQUET_TEXT; i++) {
        int64_t cell = g->columns[index].ints[i];
        least = cell < least && cell != PARQUET_NULL ? cell : least;
    }
    const uint64_t first = key_of(g, column, index, least, 0);
    uint64_t varies = 0;
    for (size_t i = 0; i < g->count; i++)
        varies |= key_of(g, column, index, least, i) ^ first;
    for (int shift = 0; shift < BITS; shift += 8) {
        uint32_t counts[DIGITS] = {0};
        if ((varies >> shift & 0xff) == 0)
            continue;
        for (size_t i = 0; i < g->count; i++)
            counts[key_of(g, column, index, least, i) >> shift & 0xff]++;
        for (uint32_t i = 0, sum = 0; i < DIGITS; i++) {
            uint32_t own = counts[i];
            counts[i] = sum;
            sum += own;
        }
        uint16_t *sorted = s->before;
        for (size_t i = 0; i < g->count; i++) {
            uint16_t row = s->order[i];
            sorted[counts[key_of(g, column, index, least, row) >> shift & 0xff]++] = row;
        }
        s->before = s->order;
        s->order = sorted;
        s->has_order = true;
    }
}

void group_order(scratch *s, const group *g, const parquet_column *columns, size_t count)
{
    enum { KEYS = 2 };
    s->has_order = false;
    for (size_t i = 0; i < g->count; i++)
        s->order[i] = (uint16_t)i;
    for (unsigned key = KEYS; key > 0 && g->count > 0; key--)
        for (size_t i = 0; i < count; i++)
            if (columns[i].order == key)
                sort_rows(s, g, &columns[i], i);
}

bool group_encode(scratch *s, const group *g, const parquet_column *column, size_t index, out *o,
                  uint64_t *offset, chunk *c)
{
    *c = (chunk){.values = g->count};
    s->page.size = 0;
    if (column->type == PARQUET_TEXT)
        return encode_texts(s, g, g->columns[index].texts, column, o, offset, c);
    return encode_ints(s, g->columns[index].ints, column, o, offset, c);
}
