/*
 * cbor_read.c - reads event scripts in CBOR, item by item. cbor.c describes the format.
 */
#include <string.h>

#include "formats/script/cbor_items.h"
#include "formats/script/meaning.h"
#include "formats/common/utf8.h"

/* ---- values ----------------------------------------------------------------------- */

static gotrace_status fail_value(script_job *job, const char *name, const script_item *item,
                                 const char *expected)
{
    return script_fail(job, item->offset, "%s: %s found, %s expected", name, item_show(item).text,
                       expected);
}

/* An integer, or a text with an integer, as in JSON. */
static gotrace_status take_number(script_job *job, const char *name, const script_item *item,
                                  uint64_t *number)
{
    if (item->kind == ITEM_NUMBER) {
        *number = item->value;
        return GOTRACE_OK;
    }
    if (item->kind == ITEM_TEXT && !item->open &&
        script_number(job, item->offset, item->bytes, item->size, number) == GOTRACE_OK)
        return GOTRACE_OK;
    return fail_value(job, name, item, "a whole number from 0 to 18446744073709551615");
}

/* An array of arrays of `width` numbers each; passes each row to `take`. */
static gotrace_status take_rows(script_job *job, const char *name, const script_item *rows,
                                size_t width, script_row take)
{
    uint64_t numbers[4];
    script_item item;
    gotrace_status status;
    if (rows->kind != ITEM_ARRAY)
        return fail_value(job, name, rows, "an array of arrays");
    item_list list = item_list_of(rows);
    while ((status = item_list_next(job, &list, &item)) == GOTRACE_EVENT) {
        if (item.kind != ITEM_ARRAY)
            return fail_value(job, name, &item, "an array of numbers");
        uint64_t offset = item.offset;
        size_t count = 0;
        item_list row = item_list_of(&item);
        while (count <= width && (status = item_list_next(job, &row, &item)) == GOTRACE_EVENT) {
            if (count < width && take_number(job, name, &item, &numbers[count]) != GOTRACE_OK)
                return GOTRACE_ERROR;
            count++;
        }
        if (status < 0)
            return status;
        if (count != width)
            return script_fail(job, offset, "%s: an array of %s%zu found, of %zu expected", name,
                               count > width ? "more than " : "", count > width ? width : count,
                               width);
        if (take(job, job->record.line, numbers) != GOTRACE_OK)
            return GOTRACE_ERROR;
    }
    return status == GOTRACE_END ? GOTRACE_OK : status;
}

/* A string of definite length, or one chunk. */
static gotrace_status take_bytes(script_job *job, const script_item *item)
{
    if (item->kind == ITEM_TEXT && utf8_valid_prefix(item->bytes, item->size) != item->size)
        return script_fail(job, item->offset, "text that is not UTF-8; use a byte string");
    return script_record_bytes(job, item->offset, item->bytes, item->size);
}

/* A string, possibly chunked. */
static gotrace_status take_string(script_job *job, const char *name, const script_item *item)
{
    if (!item->open)
        return take_bytes(job, item);
    script_item piece;
    gotrace_status status;
    item_kind kind = item->kind;
    item_list pieces = item_list_of(item);
    while ((status = item_list_next(job, &pieces, &piece)) == GOTRACE_EVENT) {
        if (piece.kind != kind || piece.open)
            return fail_value(job, name, &piece, "a piece of the same kind of string");
        if (take_bytes(job, &piece) != GOTRACE_OK)
            return GOTRACE_ERROR;
    }
    return status == GOTRACE_END ? GOTRACE_OK : status;
}

static bool is_string(const script_item *item)
{
    return item->kind == ITEM_TEXT || item->kind == ITEM_BYTES;
}

static gotrace_status take_data(script_job *job, const script_item *item)
{
    if (!is_string(item))
        return fail_value(job, "data", item, "text or a byte string");
    if (job->record.has_data)
        return script_fail(job, item->offset, "a record has data twice");
    job->record.has_data = true;
    return take_string(job, "data", item);
}

static gotrace_status take_frames(script_job *job, const script_item *item)
{
    if (job->record.has_frames)
        return script_fail(job, item->offset, "a record has frames twice");
    job->record.has_frames = true;
    return take_rows(job, "frames", item, job->frame_values, script_record_frame);
}

/* ---- a record --------------------------------------------------------------------- */

static gotrace_status take_form(script_job *job, const script_item *item)
{
    if (job->record.has_form)
        return script_fail(job, item->offset, "a record has its form twice");
    job->record.has_form = true;
    return take_number(job, "form", item, &job->record.form);
}

/* Checks the name in a map; its value follows. */
static gotrace_status check_name(script_job *job, const script_item *name)
{
    if (name->kind == ITEM_TEXT && !name->open)
        return GOTRACE_OK;
    return script_fail(job, name->offset, "%s found, a name expected", item_show(name).text);
}

/* If the name read last is one of a deviation, reads its value and returns GOTRACE_EVENT. */
static gotrace_status read_deviation(script_job *job, const script_item *name)
{
    bool is_form = item_is(name, "form");
    script_item item;
    if (!is_form && !item_is(name, "pad"))
        return GOTRACE_END;
    if (item_value(job, &item) != GOTRACE_OK)
        return GOTRACE_ERROR;
    gotrace_status status = is_form ? take_form(job, &item)
                                    : take_rows(job, "pad", &item, 2, script_record_pad);
    return status == GOTRACE_OK ? GOTRACE_EVENT : status;
}

static gotrace_status read_deviations(script_job *job, const script_item *map)
{
    script_item name;
    gotrace_status status;
    item_list members = item_list_of(map);
    while ((status = item_list_next(job, &members, &name)) == GOTRACE_EVENT) {
        if (check_name(job, &name) != GOTRACE_OK)
            return GOTRACE_ERROR;
        status = read_deviation(job, &name);
        if (status == GOTRACE_END)
            return script_fail(job, name.offset, "%s found, \"form\" or \"pad\" expected",
                               item_show(&name).text);
        if (status < 0)
            return status;
    }
    return status == GOTRACE_END ? GOTRACE_OK : status;
}

/* The event code or name at the start of a record's array. */
static gotrace_status read_event(script_job *job, item_list *list)
{
    script_item item;
    gotrace_status status = item_list_next(job, list, &item);
    if (status == GOTRACE_END)
        return script_fail(job, job->record.line, "an empty array, an event expected");
    if (status < 0)
        return status;
    if (item.kind == ITEM_NUMBER)
        return script_record_code(job, item.offset, item.value);
    if (item.kind == ITEM_TEXT && !item.open)
        return script_record_name(job, item.bytes, item.size);
    return fail_value(job, "event", &item, "an event's code or name");
}

/* The arguments in a record's array. Missing ones are detected at the end of the record. */
static gotrace_status read_args(script_job *job, item_list *list)
{
    script_record *record = &job->record;
    const script_shape *shape = record->shape;
    uint64_t *values = record->values + (GOTRACE_MAX_ARGS - shape->arg_count);
    gotrace_status status = GOTRACE_EVENT;
    for (size_t i = 0; i < shape->arg_count && status == GOTRACE_EVENT; i++) {
        script_item item;
        if (shape->args[i]->kind == GOTRACE_ARG_COUNT)
            continue;
        status = item_list_next(job, list, &item);
        if (status != GOTRACE_EVENT)
            break;
        if (take_number(job, shape->args[i]->name, &item, &values[i]) != GOTRACE_OK)
            return GOTRACE_ERROR;
        record->seen |= 1u << i;
    }
    return status;
}

/* After the arguments: frames or data, then deviations. */
static gotrace_status read_rest(script_job *job, item_list *list)
{
    script_item item;
    unsigned flags = job->record.shape->spec->flags;
    gotrace_status status = item_list_next(job, list, &item);
    if (status == GOTRACE_EVENT && item.kind != ITEM_MAP &&
        flags & (GOTRACE_SPEC_FRAMES | GOTRACE_SPEC_DATA)) {
        status = flags & GOTRACE_SPEC_FRAMES ? take_frames(job, &item) : take_data(job, &item);
        if (status == GOTRACE_OK)
            status = item_list_next(job, list, &item);
    }
    if (status == GOTRACE_EVENT && item.kind == ITEM_MAP) {
        status = read_deviations(job, &item);
        if (status == GOTRACE_OK)
            status = item_list_next(job, list, &item);
    }
    if (status == GOTRACE_EVENT)
        return script_fail(job, item.offset, "%s: %s found, the record's end expected",
                           job->record.shape->spec->name, item_show(&item).text);
    return status;
}

static gotrace_status read_array(script_job *job, const script_item *array)
{
    item_list list = item_list_of(array);
    if (read_event(job, &list) != GOTRACE_OK)
        return GOTRACE_ERROR;
    gotrace_status status = read_args(job, &list);
    if (status == GOTRACE_EVENT)
        status = read_rest(job, &list);
    return status == GOTRACE_END ? script_record_end(job) : status;
}

static bool is_word(const script_item *item, const char *word)
{
    return item->kind == ITEM_WORD && strcmp(item->bytes, word) == 0;
}

/* "raw", which must be true. */
static gotrace_status read_raw(script_job *job)
{
    script_item item;
    if (item_value(job, &item) != GOTRACE_OK)
        return GOTRACE_ERROR;
    return is_word(&item, "true") ? GOTRACE_OK : fail_value(job, "raw", &item, "true");
}

static gotrace_status read_member(script_job *job, const script_item *name, bool *has_event)
{
    script_item item;
    uint64_t *slot;
    gotrace_status status = read_deviation(job, name);
    if (status != GOTRACE_END)
        return status == GOTRACE_EVENT ? GOTRACE_OK : status;
    if (item_is(name, "raw"))
        return read_raw(job);
    bool is_event = item_is(name, "event"), is_data = item_is(name, "data");
    bool is_frames = item_is(name, "frames");
    if (is_event && *has_event)
        return script_fail(job, name->offset, "a record has \"event\" twice");
    *has_event = *has_event || is_event;
    if (!is_event && !is_data && !is_frames &&
        script_record_arg(job, name->offset, name->bytes, name->size, &slot) != GOTRACE_OK)
        return GOTRACE_ERROR;
    if (item_value(job, &item) != GOTRACE_OK)
        return GOTRACE_ERROR;
    if (is_event)
        return GOTRACE_OK;
    if (is_data)
        return take_data(job, &item);
    if (is_frames)
        return take_frames(job, &item);
    const script_shape *shape = job->record.shape;
    ptrdiff_t index = slot - (job->record.values + (GOTRACE_MAX_ARGS - shape->arg_count));
    return take_number(job, shape->args[index]->name, &item, slot);
}

/* Finds the event's name, which other members may precede, and passes it to start. */
static gotrace_status find_event(script_job *job, const script_item *map,
                                 gotrace_status (*start)(script_job *job, uint64_t offset,
                                                         const char *name, size_t size))
{
    script_item item;
    gotrace_status status = item_find(job, map, "event", &item);
    if (status == GOTRACE_END)
        return script_fail(job, map->offset, "a map without \"event\"");
    if (status < 0)
        return status;
    if (item.kind != ITEM_TEXT || item.open)
        return fail_value(job, "event", &item, "an event's name");
    return start(job, map->offset, item.bytes, item.size);
}

static gotrace_status begin_record(script_job *job, uint64_t offset, const char *name, size_t size)
{
    (void)offset;
    return script_record_name(job, name, size);
}

/* A record in the form of a map. */
static gotrace_status read_map(script_job *job, const script_item *map)
{
    script_item item;
    gotrace_status status;
    bool has_event = false;
    item_list members = item_list_of(map);
    if (find_event(job, map, begin_record) != GOTRACE_OK)
        return GOTRACE_ERROR;
    while ((status = item_list_next(job, &members, &item)) == GOTRACE_EVENT)
        if (check_name(job, &item) != GOTRACE_OK ||
            read_member(job, &item, &has_event) != GOTRACE_OK)
            return GOTRACE_ERROR;
    return status == GOTRACE_END ? script_record_end(job) : status;
}

/* ---- events by meaning, and the header ------------------------------------------------------- */

/* Copy of a name while its value is read. Longer names are unknown; their beginning is enough for
 * the message. */
typedef struct name_copy {
    char text[64];
    size_t size;
    uint64_t offset;
} name_copy;

static name_copy copy_name(const script_item *item)
{
    name_copy name = {.offset = item->offset};
    name.size = item->size < sizeof name.text - 1 ? item->size : sizeof name.text - 1;
    memcpy(name.text, item->bytes, name.size);
    return name;
}

typedef gotrace_status taker(script_job *job, uint64_t offset, const char *name, size_t size,
                             script_token value);

/* A number or a string. */
static gotrace_status take_scalar(script_job *job, const name_copy *name, const script_item *item,
                                  taker *take)
{
    char number[32];
    script_token token = {number, 0, false};
    size_t before = job->record.data_size;
    int size = 0;
    if (is_string(item)) {
        if (take_string(job, name->text, item) != GOTRACE_OK)
            return GOTRACE_ERROR;
        size_t added = job->record.data_size - before;
        token = (script_token){added > 0 ? job->record.data + before : "", added, true};
        return take(job, name->offset, name->text, name->size, token);
    }
    if (item->kind == ITEM_BIG)
        return fail_value(job, name->text, item, "one of 64 bits");
    if (item->kind == ITEM_NUMBER)
        size = snprintf(number, sizeof number, "%llu", (unsigned long long)item->value);
    else if (item->kind == ITEM_NEGATIVE && item->value < UINT64_MAX)
        size = snprintf(number, sizeof number, "-%llu", (unsigned long long)item->value + 1);
    else if (item->kind == ITEM_REAL && item->real > -1e15 && item->real < 1e15)
        size = snprintf(number, sizeof number, "%.6f", item->real);
    else if (is_word(item, "true") || is_word(item, "false"))
        size = snprintf(number, sizeof number, "%s", item->bytes);
    else
        return script_fail(job, item->offset,
                           "%s: %s found, a number, a string or a stack expected",
                           script_show(name->text, name->size).text, item_show(item).text);
    token.size = (size_t)size;
    return take(job, name->offset, name->text, name->size, token);
}

static gotrace_status take_stack(script_job *job, const name_copy *name, const script_item *array)
{
    script_item item;
    gotrace_status status;
    item_list frames = item_list_of(array);
    if (script_event_frames(job, name->offset, name->text, name->size) != GOTRACE_OK)
        return GOTRACE_ERROR;
    while ((status = item_list_next(job, &frames, &item)) == GOTRACE_EVENT) {
        if (!is_string(&item))
            return fail_value(job, name->text, &item, "a frame \"function file:line\"");
        if (take_scalar(job, name, &item, script_event_value) != GOTRACE_OK)
            return GOTRACE_ERROR;
    }
    return status == GOTRACE_END ? GOTRACE_OK : status;
}

static gotrace_status read_values(script_job *job, const script_item *map)
{
    script_item item;
    gotrace_status status;
    bool has_event = false;
    item_list members = item_list_of(map);
    while ((status = item_list_next(job, &members, &item)) == GOTRACE_EVENT) {
        if (check_name(job, &item) != GOTRACE_OK)
            return GOTRACE_ERROR;
        bool is_event = item_is(&item, "event"), is_raw = item_is(&item, "raw");
        const name_copy name = copy_name(&item);
        if (is_event && has_event)
            return script_fail(job, item.offset, "an event has \"event\" twice");
        has_event = has_event || is_event;
        if (item_value(job, &item) != GOTRACE_OK)
            return GOTRACE_ERROR;
        if (is_event || is_raw)
            continue;
        if ((item.kind == ITEM_ARRAY
                 ? take_stack(job, &name, &item)
                 : take_scalar(job, &name, &item, script_event_value)) != GOTRACE_OK)
            return GOTRACE_ERROR;
    }
    return status == GOTRACE_END ? script_event_end(job) : status;
}

/* A map at level meaning: a raw record if it has "raw", else an event. */
static gotrace_status read_meaning(script_job *job, const script_item *map)
{
    script_item raw;
    gotrace_status status = item_find(job, map, "raw", &raw);
    if (status < 0)
        return status;
    if (status == GOTRACE_EVENT && !is_word(&raw, "true") && !is_word(&raw, "false"))
        return fail_value(job, "raw", &raw, "true or false");
    if (status == GOTRACE_EVENT && is_word(&raw, "true"))
        return script_event_raw(job, map->offset) == GOTRACE_OK ? read_map(job, map)
                                                                : GOTRACE_ERROR;
    return find_event(job, map, script_event_begin) == GOTRACE_OK ? read_values(job, map)
                                                                  : GOTRACE_ERROR;
}

/* The record or event whose head was read. At level meaning an array is a raw record. */
static gotrace_status read_record(script_job *job, const script_item *item)
{
    bool meaning = job->by_meaning;
    script_record_reset(job, item->offset);
    if (item->kind == ITEM_MAP)
        return meaning ? read_meaning(job, item) : read_map(job, item);
    if (item->kind != ITEM_ARRAY)
        return script_fail(job, item->offset, "%s found, an event expected: an array or a map",
                           item_show(item).text);
    if (meaning && script_event_raw(job, item->offset) != GOTRACE_OK)
        return GOTRACE_ERROR;
    return read_array(job, item);
}

/* Reads an event. After an error continues with the next one, if the items are well-formed up to
 * there. */
static gotrace_status read_next(script_job *job, const script_item *item)
{
    script_input *in = &job->in;
    const script_item head = *item;
    in->marked = job->options.report != NULL;
    in->mark = (size_t)(head.offset - in->before);
    job->in_list = true;
    gotrace_status status = read_record(job, &head);
    if (status != GOTRACE_OK && script_recover(job) == GOTRACE_OK) {
        script_event_skip(job);
        status = item_skip_from(job, &head);
    }
    in->marked = false;
    if (status != GOTRACE_OK)
        return status;
    job->in_list = false;
    job->index++;
    return status;
}

/* ---- entry point ----------------------------------------------------------------------------- */

/* The map at the start of the script. */
typedef struct cbor_header {
    name_copy version; /* the text after "go 1."; size 0 until it is read */
    bool has_list;     /* the map contains the events */
} cbor_header;

static gotrace_status read_version(script_job *job, cbor_header *header)
{
    static const char go[] = "go 1.";
    script_item item;
    if (item_value(job, &item) != GOTRACE_OK)
        return GOTRACE_ERROR;
    if (item.kind != ITEM_TEXT || item.open || item.size <= strlen(go) ||
        memcmp(item.bytes, go, strlen(go)) != 0)
        return fail_value(job, "trace", &item, "\"go 1.N\"");
    if (header->version.size > 0)
        return script_fail(job, item.offset, "the version of the trace is specified twice");
    item.bytes += strlen(go);
    item.size -= strlen(go);
    header->version = copy_name(&item);
    return GOTRACE_OK;
}

/* The header was read completely. */
static gotrace_status end_header(script_job *job, const cbor_header *header)
{
    script_record_reset(job, header->version.offset);
    return script_version(job, header->version.offset, header->version.text, header->version.size);
}

/* The member with the events, which must be the last one. */
static gotrace_status read_list(script_job *job, cbor_header *header, const script_item *name)
{
    script_item item;
    gotrace_status status;
    bool is_events = item_is(name, "events");
    const char *shown = is_events ? "events" : "records";
    if (header->version.size == 0)
        return script_fail(job, name->offset,
                           "\"%s\" before \"trace\", which determines their format", shown);
    uint64_t offset = name->offset;
    header->has_list = true;
    if (end_header(job, header) != GOTRACE_OK ||
        script_head_list(job, offset, is_events) != GOTRACE_OK ||
        item_value(job, &item) != GOTRACE_OK)
        return GOTRACE_ERROR;
    if (item.kind != ITEM_ARRAY)
        return fail_value(job, shown, &item, "an array of events");
    item_list records = item_list_of(&item);
    while ((status = item_list_next(job, &records, &item)) == GOTRACE_EVENT)
        if (read_next(job, &item) != GOTRACE_OK)
            return GOTRACE_ERROR;
    return status == GOTRACE_END ? GOTRACE_OK : status;
}

/* A member of the header, after its name. */
static gotrace_status read_head_member(script_job *job, cbor_header *header,
                                       const script_item *name)
{
    script_item item;
    if (check_name(job, name) != GOTRACE_OK)
        return GOTRACE_ERROR;
    if (header->has_list)
        return script_fail(job, name->offset, "%s found, nothing expected behind the events",
                           item_show(name).text);
    if (item_is(name, "trace"))
        return read_version(job, header);
    if (item_is(name, "records") || item_is(name, "events"))
        return read_list(job, header, name);
    const name_copy kept = copy_name(name);
    if (item_value(job, &item) != GOTRACE_OK)
        return GOTRACE_ERROR;
    bool is_whole = !item.open && item.kind != ITEM_ARRAY && item.kind != ITEM_MAP;
    gotrace_status status = take_scalar(job, &kept, &item, script_head_value);
    return status != GOTRACE_OK && is_whole ? script_recover(job) : status;
}

/* {"trace": "go 1.N"}, which may also contain the level and the events. */
static gotrace_status read_header(script_job *job, bool *has_list)
{
    script_item item;
    cbor_header header = {.has_list = false};
    gotrace_status status = item_value(job, &item);
    if (status != GOTRACE_OK)
        return status;
    uint64_t start = item.offset;
    if (item.kind != ITEM_MAP)
        return script_fail(job, start,
                           "%s found, a map expected: a script starts with "
                           "{\"trace\": \"go 1.N\"",
                           item_show(&item).text);
    item_list members = item_list_of(&item);
    script_record_reset(job, start);
    while ((status = item_list_next(job, &members, &item)) == GOTRACE_EVENT)
        if (read_head_member(job, &header, &item) != GOTRACE_OK)
            return GOTRACE_ERROR;
    *has_list = header.has_list;
    if (status < 0 || *has_list)
        return status < 0 ? status : GOTRACE_OK;
    if (header.version.size == 0)
        return script_fail_head(job, start);
    return end_header(job, &header);
}

gotrace_status script_cbor_read(script_job *job)
{
    script_item item;
    gotrace_status status;
    bool has_list = false;
    job->binary = true;
    if (read_header(job, &has_list) != GOTRACE_OK)
        return GOTRACE_ERROR;
    while ((status = item_next(job, &item)) == GOTRACE_EVENT) {
        if (has_list)
            return script_fail(job, item.offset, "%s found, nothing expected after the document",
                               item_show(&item).text);
        if (read_next(job, &item) != GOTRACE_OK)
            return GOTRACE_ERROR;
    }
    return status == GOTRACE_END ? GOTRACE_OK : status;
}
