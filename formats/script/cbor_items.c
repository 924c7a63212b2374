/* cbor_items.c - reads the items of a CBOR script, with libcbor's streaming decoder. */
#include "formats/script/cbor_items.h"

#include <cbor.h>
#include <math.h>
#include <string.h>

/* Limits when items are skipped: nesting of arrays, maps and chunked strings, and tags before one
 * item. */
enum { DEEPEST = 16, MOST_TAGS = 16 };

/* Maximum size of a head. */
enum { HEAD_MAX = 9 };

/* Limit for a search within a map, in bytes. */
#define LOOK_AHEAD_MAX SCRIPT_TEXT_MAX

/* An error after which the next item cannot be found. */
#define malformed(job, ...) ((job)->unreadable = true, script_fail(job, __VA_ARGS__))

/* ---- callbacks of libcbor -------------------------------------------------------------------- */

/* Context of the callbacks: the item being read. */
typedef struct item_found {
    script_item *item;
    bool tag;
    uint64_t number; /* the last tag */
} item_found;

static void found_head(void *ctx, item_kind kind, bool open, uint64_t value)
{
    script_item *item = ((item_found *)ctx)->item;
    item->kind = kind;
    item->open = open;
    item->value = value;
}

static void found_string(void *ctx, item_kind kind, const unsigned char *bytes, size_t size)
{
    script_item *item = ((item_found *)ctx)->item;
    found_head(ctx, kind, false, size);
    item->bytes = (const char *)bytes;
    item->size = size;
}

static void found_word(void *ctx, const char *word)
{
    found_string(ctx, ITEM_WORD, (const unsigned char *)word, strlen(word));
}

static void found_real(void *ctx, double real)
{
    found_head(ctx, ITEM_REAL, false, 0);
    ((item_found *)ctx)->item->real = real;
}

static void found_tag(void *ctx, uint64_t tag)
{
    item_found *found = ctx;
    found->tag = true;
    found->number = tag;
}

#define NUMBER(bits)                                                                               \
    static void found_number_##bits(void *ctx, uint##bits##_t value)                               \
    {                                                                                              \
        found_head(ctx, ITEM_NUMBER, false, value);                                                \
    }                                                                                              \
    static void found_negative_##bits(void *ctx, uint##bits##_t value)                             \
    {                                                                                              \
        found_head(ctx, ITEM_NEGATIVE, false, value);                                              \
    }
NUMBER(8)
NUMBER(16)
NUMBER(32)
NUMBER(64)

#define STRING(name, kind)                                                                         \
    static void found_##name(void *ctx, const unsigned char *bytes, size_t size)                   \
    {                                                                                              \
        found_string(ctx, kind, bytes, size);                                                      \
    }                                                                                              \
    static void found_open_##name(void *ctx)                                                       \
    {                                                                                              \
        found_head(ctx, kind, true, 0);                                                            \
    }
STRING(bytes, ITEM_BYTES)
STRING(text, ITEM_TEXT)

#define COLLECTION(name, kind)                                                                     \
    static void found_##name(void *ctx, size_t count)                                              \
    {                                                                                              \
        found_head(ctx, kind, false, count);                                                       \
    }                                                                                              \
    static void found_open_##name(void *ctx)                                                       \
    {                                                                                              \
        found_head(ctx, kind, true, 0);                                                            \
    }
COLLECTION(array, ITEM_ARRAY)
COLLECTION(map, ITEM_MAP)

static void found_float(void *ctx, float real)
{
    found_real(ctx, (double)real);
}

static void found_undefined(void *ctx)
{
    found_word(ctx, "undefined");
}

static void found_null(void *ctx)
{
    found_word(ctx, "null");
}

static void found_boolean(void *ctx, bool value)
{
    found_word(ctx, value ? "true" : "false");
}

static void found_break(void *ctx)
{
    found_head(ctx, ITEM_BREAK, false, 0);
}

static const struct cbor_callbacks callbacks = {
    .uint8 = found_number_8,
    .uint16 = found_number_16,
    .uint32 = found_number_32,
    .uint64 = found_number_64,
    .negint8 = found_negative_8,
    .negint16 = found_negative_16,
    .negint32 = found_negative_32,
    .negint64 = found_negative_64,
    .byte_string = found_bytes,
    .byte_string_start = found_open_bytes,
    .string = found_text,
    .string_start = found_open_text,
    .array_start = found_array,
    .indef_array_start = found_open_array,
    .map_start = found_map,
    .indef_map_start = found_open_map,
    .tag = found_tag,
    .float2 = found_float,
    .float4 = found_float,
    .float8 = found_real,
    .undefined = found_undefined,
    .null = found_null,
    .boolean = found_boolean,
    .indef_break = found_break,
};

/* ---- heads ---------------------------------------------------------------------------------- */

/* The offset in the script of the byte `ahead` bytes after the read position. */
static uint64_t offset_at(const script_job *job, size_t ahead)
{
    return job->in.before + job->in.at + ahead;
}

/* Reads more of the script, because the item `ahead` bytes after the read position needs `needed`
 * bytes. GOTRACE_END if the script ends before the item begins. */
static gotrace_status read_more(script_job *job, size_t ahead, bool tagged, size_t needed)
{
    const script_input *in = &job->in;
    size_t held = in->end - in->at - ahead;
    /* Libcbor adds a string's length to the size of its head, which can overflow. */
    if (needed <= held || (needed > HEAD_MAX && needed - HEAD_MAX > job->string_limit))
        return malformed(job, offset_at(job, ahead), "a string of more than %llu bytes",
                         (unsigned long long)job->string_limit);
    gotrace_status status = script_fill(job);
    if (status != GOTRACE_END || (held == 0 && !tagged))
        return status;
    return malformed(job, offset_at(job, ahead + held), "the script is cut off within an item");
}

/* Whether the tag is 2 or 3: the following byte string is a big-endian number n, or -1 - n. */
static bool makes_number(const item_found *found)
{
    return found->number == 2 || found->number == 3;
}

/* Libcbor 0.8 rejects tags 6 to 20. */
static bool is_short_tag(const script_job *job, size_t ahead)
{
    unsigned char first = (unsigned char)job->in.buffer[job->in.at + ahead];
    return first >= 0xc0 && first <= 0xd7;
}

/* Reads the head *ahead bytes after the read position, and advances *ahead beyond it. */
static gotrace_status read_head(script_job *job, size_t *ahead, script_item *item)
{
    const script_input *in = &job->in;
    item_found found = {.item = item};
    for (unsigned tags = 0;;) {
        struct cbor_decoder_result result = cbor_stream_decode(
            (const unsigned char *)in->buffer + in->at + *ahead, in->end - in->at - *ahead,
            &callbacks, &found);
        if (result.status == CBOR_DECODER_NEDATA) {
            gotrace_status status = read_more(job, *ahead, tags > 0, result.required);
            if (status != GOTRACE_OK)
                return status;
            continue;
        }
        item->offset = offset_at(job, *ahead);
        if (result.status == CBOR_DECODER_ERROR && is_short_tag(job, *ahead)) {
            result.read = 1;
            found_tag(&found, (unsigned char)in->buffer[in->at + *ahead] & 0x1f);
        } else if (result.status == CBOR_DECODER_ERROR) {
            return malformed(job, item->offset, "byte 0x%02x does not begin a CBOR item",
                             (unsigned char)in->buffer[in->at + *ahead]);
        }
        *ahead += result.read;
        if (!found.tag && tags > 0 && item->kind == ITEM_BREAK)
            return malformed(job, item->offset, "a break after a tag");
        if (!found.tag && tags > 0 && item->kind == ITEM_BYTES && makes_number(&found))
            item->kind = ITEM_BIG;
        if (!found.tag)
            return GOTRACE_EVENT;
        found.tag = false;
        if (++tags > MOST_TAGS)
            return malformed(job, item->offset, "more than %d tags before an item", MOST_TAGS);
    }
}

gotrace_status item_next(script_job *job, script_item *item)
{
    size_t ahead = 0;
    gotrace_status status = read_head(job, &ahead, item);
    job->in.at += ahead;
    return status;
}

gotrace_status item_value(script_job *job, script_item *item)
{
    gotrace_status status = item_next(job, item);
    if (status == GOTRACE_END)
        return malformed(job, offset_at(job, 0), "the script is cut off: an item is missing");
    if (status == GOTRACE_EVENT && item->kind == ITEM_BREAK)
        return malformed(job, item->offset, "a break where an item is expected");
    return status == GOTRACE_EVENT ? GOTRACE_OK : status;
}

gotrace_status item_list_next(script_job *job, item_list *list, script_item *item)
{
    if (!list->open) {
        if (list->left == 0)
            return GOTRACE_END;
        list->left--;
        return item_value(job, item) == GOTRACE_OK ? GOTRACE_EVENT : GOTRACE_ERROR;
    }
    gotrace_status status = item_next(job, item);
    if (status == GOTRACE_END)
        return malformed(job, offset_at(job, 0), "the script is cut off: a break is missing");
    return status == GOTRACE_EVENT && item->kind == ITEM_BREAK ? GOTRACE_END : status;
}

/* ---- search and skip ------------------------------------------------------------------------- */

/* Reads the head of an item within a map. */
static gotrace_status read_head_within(script_job *job, size_t *ahead, script_item *item)
{
    gotrace_status status = read_head(job, ahead, item);
    if (status == GOTRACE_END)
        return malformed(job, offset_at(job, *ahead), "the script is cut off within an event");
    if (status == GOTRACE_EVENT && *ahead > LOOK_AHEAD_MAX)
        return malformed(job, item->offset, "a map of more than %zu bytes", LOOK_AHEAD_MAX);
    return status;
}

/* Skips the content of an item whose head was read: GOTRACE_EVENT, or an error. */
static gotrace_status skip_item(script_job *job, size_t *ahead, script_item item)
{
    item_list lists[DEEPEST];
    size_t depth = 0;
    for (;;) {
        bool holds = item.open || item.kind == ITEM_ARRAY || item.kind == ITEM_MAP;
        if (item.kind == ITEM_BREAK) {
            if (depth == 0 || !lists[depth - 1].open)
                return malformed(job, item.offset, "a break where an item is expected");
            depth--;
        } else if (holds && depth == DEEPEST) {
            return malformed(job, item.offset, "items nested more than %d deep", DEEPEST);
        } else if (holds) {
            /* A pair is two items. For larger values 2 * value would overflow, but no script has
             * 2^63 bytes. */
            uint64_t items = item.kind == ITEM_MAP && item.value <= INT64_MAX ? 2 * item.value
                                                                              : item.value;
            lists[depth++] = (item_list){item.open, items};
        }
        while (depth > 0 && !lists[depth - 1].open && lists[depth - 1].left == 0)
            depth--;
        if (depth == 0)
            return GOTRACE_EVENT;
        lists[depth - 1].left--;
        if (read_head_within(job, ahead, &item) < 0)
            return GOTRACE_ERROR;
    }
}

gotrace_status item_skip_from(script_job *job, const script_item *item)
{
    size_t ahead = 0;
    script_item again;
    job->in.at = (size_t)(item->offset - job->in.before);
    gotrace_status status = read_head(job, &ahead, &again);
    if (status == GOTRACE_EVENT)
        status = skip_item(job, &ahead, again);
    job->in.at += ahead;
    return status == GOTRACE_EVENT ? GOTRACE_OK : GOTRACE_ERROR;
}

gotrace_status item_find(script_job *job, const script_item *map, const char *name,
                         script_item *found)
{
    size_t ahead = 0;
    for (uint64_t pairs = 0; map->open || pairs < map->value; pairs++) {
        if (read_head_within(job, &ahead, found) < 0)
            return GOTRACE_ERROR;
        if (map->open && found->kind == ITEM_BREAK)
            return GOTRACE_END;
        if (item_is(found, name))
            return read_head_within(job, &ahead, found);
        /* Skip the name, then the value. */
        if (skip_item(job, &ahead, *found) < 0 || read_head_within(job, &ahead, found) < 0 ||
            skip_item(job, &ahead, *found) < 0)
            return GOTRACE_ERROR;
    }
    return GOTRACE_END;
}

/* ---- items ---------------------------------------------------------------------------------- */

bool item_is(const script_item *item, const char *text)
{
    return item->kind == ITEM_TEXT && !item->open && item->size == strlen(text) &&
           memcmp(item->bytes, text, item->size) == 0;
}

item_shown item_show(const script_item *item)
{
    static const char *const kinds[] = {
        [ITEM_BYTES] = "a byte string", [ITEM_TEXT] = "text in pieces",
        [ITEM_ARRAY] = "an array",      [ITEM_MAP] = "a map",
        [ITEM_BREAK] = "a break",       [ITEM_BIG] = "a number in pieces",
    };
    item_shown shown;
    char *text = shown.text;
    size_t room = sizeof shown.text;
    if (item->kind == ITEM_NUMBER)
        snprintf(text, room, "%llu", (unsigned long long)item->value);
    else if (item->kind == ITEM_NEGATIVE && item->value == UINT64_MAX)
        snprintf(text, room, "-18446744073709551616");
    else if (item->kind == ITEM_NEGATIVE)
        snprintf(text, room, "-%llu", (unsigned long long)item->value + 1);
    else if (item->kind == ITEM_REAL)
        snprintf(text, room, isnan(item->real) ? "NaN" : "%.10g", item->real);
    else if (item->kind == ITEM_BIG && !item->open)
        snprintf(text, room, "a %zu-byte number", item->size);
    else if (item->kind == ITEM_WORD)
        snprintf(text, room, "%s", item->bytes);
    else if (item->kind == ITEM_TEXT && !item->open)
        snprintf(text, room, "\"%s\"", script_show(item->bytes, item->size).text);
    else
        snprintf(text, room, "%s", kinds[item->kind]);
    return shown;
}
