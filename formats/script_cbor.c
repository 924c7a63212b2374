/*
 * script_cbor.c - event scripts as CBOR (RFC 8949): what a JSON document says, shorter. In
 * diagnostic notation:
 *
 *   55799({"trace": "go 1.19", "records": [_
 *     [1, 0, 4401266346462],                    / Batch p=0 ticks=4401266346462 /
 *     [37, 1, "main.main"],                     / String id=1 /
 *     [3, 1, [[4943680, 1, 2, 12]]],            / Stack id=1 /
 *     [14, 2973, 19, 1, {"form": 3}],           / GoStart dt=2973 g=19 seq=1 form=3 /
 *     {"event": "GoEnd", "dt": 250}]})
 *
 * The event's code and its arguments in their order are what is written, because most of a script
 * is records; names are read as well. Without "records" the records follow as items of their own.
 */
#include <cbor.h>
#include <string.h>

#include "cbor_items.h"
#include "script.h"
#include "utf8.h"

#define SELF_DESCRIBED 55799

/* ---- writing ------------------------------------------------------------------------------- */

/* Room for the head of an item. */
enum { HEAD = 9 };

static void write_number(out *o, uint64_t v)
{
    unsigned char head[HEAD];
    out_bytes(o, head, cbor_encode_uint(v, head, sizeof head));
}

static void write_text(out *o, const char *s, size_t size)
{
    unsigned char head[HEAD];
    out_bytes(o, head, cbor_encode_string_start(size, head, sizeof head));
    out_bytes(o, s, size);
}

static void write_name(out *o, const char *name)
{
    write_text(o, name, strlen(name));
}

static void write_array(out *o, size_t count)
{
    unsigned char head[HEAD];
    out_bytes(o, head, cbor_encode_array_start(count, head, sizeof head));
}

static void write_map(out *o, size_t count)
{
    unsigned char head[HEAD];
    out_bytes(o, head, cbor_encode_map_start(count, head, sizeof head));
}

static void begin(out *o, int version)
{
    unsigned char head[HEAD];
    char go[16];
    snprintf(go, sizeof go, "go 1.%d", version);
    out_bytes(o, head, cbor_encode_tag(SELF_DESCRIBED, head, sizeof head));
    write_map(o, 2);
    write_name(o, "trace");
    write_name(o, go);
    write_name(o, "records");
    out_bytes(o, head, cbor_encode_indef_array_start(head, sizeof head));
}

static void end(out *o)
{
    unsigned char head[HEAD];
    out_bytes(o, head, cbor_encode_break(head, sizeof head));
}

static void write_frames(out *o, const uint64_t *values, size_t count, size_t per_frame)
{
    write_array(o, count / per_frame);
    for (size_t i = 0; i < count; i++) {
        if (i % per_frame == 0)
            write_array(o, per_frame);
        write_number(o, values[i]);
    }
}

static void write_data(out *o, const char *data, size_t size)
{
    unsigned char head[HEAD];
    if (utf8_valid_prefix(data, size) == size) {
        write_text(o, data, size);
        return;
    }
    out_bytes(o, head, cbor_encode_bytestring_start(size, head, sizeof head));
    out_bytes(o, data, size);
}

/* How many pads there are to be told. */
static size_t count_pads(int version, const gotrace_record *record)
{
    size_t count = 0;
    for (size_t n = 0; script_odd_width(record, version, &n); n++)
        count++;
    return count;
}

static void write_deviations(out *o, int version, const gotrace_record *record, bool odd_form,
                             size_t pads)
{
    write_map(o, (size_t)odd_form + (pads > 0));
    if (odd_form) {
        write_name(o, "form");
        write_number(o, record->form);
    }
    if (pads == 0)
        return;
    write_name(o, "pad");
    write_array(o, pads);
    for (size_t n = 0; script_odd_width(record, version, &n); n++) {
        write_array(o, 2);
        write_number(o, n);
        write_number(o, record->widths[n]);
    }
}

static void write_record(out *o, int version, const gotrace_record *record, bool first)
{
    (void)first;
    const gotrace_event_spec *spec = record->spec;
    const gotrace_arg_spec *args[GOTRACE_MAX_ARGS];
    unsigned char plain[(2 + GOTRACE_MAX_ARGS) * HEAD];
    size_t used = 0, arg_count = gotrace_event_args(spec, version, args), told = 0;
    bool has_frames = spec->flags & GOTRACE_SPEC_FRAMES, has_data = spec->flags & GOTRACE_SPEC_DATA;
    bool odd_form = script_odd_form(record, version);
    size_t pads = count_pads(version, record);
    /* How many frames there are, the frames say. */
    for (size_t i = 0; i < arg_count; i++)
        told += args[i]->kind != GOTRACE_ARG_COUNT;
    used += cbor_encode_array_start(1 + told + has_frames + has_data + (odd_form || pads > 0),
                                    plain, HEAD);
    used += cbor_encode_uint(spec->code, plain + used, HEAD);
    for (size_t i = 0; i < arg_count; i++)
        if (args[i]->kind != GOTRACE_ARG_COUNT)
            used += cbor_encode_uint(record->args[i], plain + used, HEAD);
    out_bytes(o, plain, used);
    if (has_frames)
        write_frames(o, record->args + arg_count, record->arg_count - arg_count,
                     gotrace_frame_values(version));
    if (has_data)
        write_data(o, record->data, record->data_size);
    if (odd_form || pads > 0)
        write_deviations(o, version, record, odd_form, pads);
}

static const char *const extensions[] = {".cbor", NULL};

const script_format script_cbor = {
    .name = "cbor",
    .extensions = extensions,
    .summary = "CBOR",
    .binary = true,
    .begin = begin,
    .record = write_record,
    .end = end,
};

/* ---- reading: values ----------------------------------------------------------------------- */

static gotrace_status fail_value(script_job *job, const char *name, const script_item *item,
                                 const char *expected)
{
    return script_fail(job, item->offset, "%s: %s found, %s expected", name, item_show(item).text,
                       expected);
}

/* A whole number; in text too, as it can stand in JSON. */
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

/* Arrays of `width` numbers each, in an array: each row goes to `take`. */
static gotrace_status take_rows(script_job *job, const char *name, const script_item *rows,
                                size_t width,
                                gotrace_status (*take)(script_job *job, const uint64_t *row))
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
        if (take(job, numbers) != GOTRACE_OK)
            return GOTRACE_ERROR;
    }
    return status == GOTRACE_END ? GOTRACE_OK : status;
}

static gotrace_status take_frame(script_job *job, const uint64_t *row)
{
    for (size_t i = 0; i < job->frame_values; i++)
        if (script_record_value(job, job->record.line, row[i]) != GOTRACE_OK)
            return GOTRACE_ERROR;
    return GOTRACE_OK;
}

static gotrace_status take_pad(script_job *job, const uint64_t *row)
{
    return script_record_pad(job, row[0], row[1]);
}

/* A string, or one of its pieces. */
static gotrace_status take_bytes(script_job *job, const script_item *item)
{
    if (item->kind == ITEM_TEXT && utf8_valid_prefix(item->bytes, item->size) != item->size)
        return script_fail(job, item->offset,
                           "text that is not UTF-8: other bytes go into a byte string");
    return script_record_bytes(job, item->offset, item->bytes, item->size);
}

static gotrace_status take_data(script_job *job, const script_item *item)
{
    if (item->kind != ITEM_TEXT && item->kind != ITEM_BYTES)
        return fail_value(job, "data", item, "text or a byte string");
    if (job->record.has_data)
        return script_fail(job, item->offset, "a record has data twice");
    job->record.has_data = true;
    if (!item->open)
        return take_bytes(job, item);
    script_item piece;
    gotrace_status status;
    item_kind kind = item->kind;
    item_list pieces = item_list_of(item);
    while ((status = item_list_next(job, &pieces, &piece)) == GOTRACE_EVENT) {
        if (piece.kind != kind || piece.open)
            return fail_value(job, "data", &piece, "a piece of the same kind of string");
        if (take_bytes(job, &piece) != GOTRACE_OK)
            return GOTRACE_ERROR;
    }
    return status == GOTRACE_END ? GOTRACE_OK : status;
}

static gotrace_status take_frames(script_job *job, const script_item *item)
{
    if (job->record.has_frames)
        return script_fail(job, item->offset, "a record has frames twice");
    job->record.has_frames = true;
    return take_rows(job, "frames", item, job->frame_values, take_frame);
}

/* ---- reading: a record --------------------------------------------------------------------- */

static gotrace_status take_form(script_job *job, const script_item *item)
{
    if (job->record.has_form)
        return script_fail(job, item->offset, "a record has its form twice");
    job->record.has_form = true;
    return take_number(job, "form", item, &job->record.form);
}

/* A map's name, whose value follows. */
static gotrace_status check_name(script_job *job, const script_item *name)
{
    if (name->kind == ITEM_TEXT && !name->open)
        return GOTRACE_OK;
    return script_fail(job, name->offset, "%s found, a name expected", item_show(name).text);
}

/* The value behind a name that was read last, where that is one of a deviation: GOTRACE_EVENT if it
 * was. */
static gotrace_status read_deviation(script_job *job, const script_item *name)
{
    bool is_form = item_is(name, "form");
    script_item item;
    if (!is_form && !item_is(name, "pad"))
        return GOTRACE_END;
    if (item_value(job, &item) != GOTRACE_OK)
        return GOTRACE_ERROR;
    gotrace_status status = is_form ? take_form(job, &item)
                                    : take_rows(job, "pad", &item, 2, take_pad);
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

/* The event that a record's array begins with. */
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

/* The arguments of a record's array; those that it lacks are noticed at the record's end. */
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

/* What stands behind the arguments: frames or data, then how the record deviates. */
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

static gotrace_status read_member(script_job *job, const script_item *name, bool *has_event)
{
    script_item item;
    uint64_t *slot;
    gotrace_status status = read_deviation(job, name);
    if (status != GOTRACE_END)
        return status == GOTRACE_EVENT ? GOTRACE_OK : status;
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

static gotrace_status read_map(script_job *job, const script_item *map)
{
    script_item item;
    bool has_event = false;
    item_list members = item_list_of(map);
    /* Other members may stand before it. */
    gotrace_status status = item_find(job, map, "event", &item);
    if (status == GOTRACE_END)
        return script_fail(job, map->offset, "a map without \"event\"");
    if (status < 0)
        return status;
    if (item.kind != ITEM_TEXT || item.open)
        return fail_value(job, "event", &item, "an event's name");
    if (script_record_name(job, item.bytes, item.size) != GOTRACE_OK)
        return GOTRACE_ERROR;
    while ((status = item_list_next(job, &members, &item)) == GOTRACE_EVENT)
        if (check_name(job, &item) != GOTRACE_OK ||
            read_member(job, &item, &has_event) != GOTRACE_OK)
            return GOTRACE_ERROR;
    return status == GOTRACE_END ? script_record_end(job) : status;
}

/* The record whose head was read. */
static gotrace_status read_record(script_job *job, const script_item *item)
{
    script_record_reset(job, item->offset);
    if (item->kind == ITEM_ARRAY)
        return read_array(job, item);
    if (item->kind == ITEM_MAP)
        return read_map(job, item);
    return script_fail(job, item->offset, "%s found, an event expected: an array or a map",
                       item_show(item).text);
}

/* ---- reading: the whole -------------------------------------------------------------------- */

static gotrace_status read_version(script_job *job)
{
    static const char go[] = "go 1.";
    script_item item;
    if (item_value(job, &item) != GOTRACE_OK)
        return GOTRACE_ERROR;
    if (item.kind != ITEM_TEXT || item.open || item.size < strlen(go) ||
        memcmp(item.bytes, go, strlen(go)) != 0)
        return fail_value(job, "trace", &item, "\"go 1.N\"");
    return script_version(job, item.offset, item.bytes + strlen(go), item.size - strlen(go));
}

static gotrace_status read_records(script_job *job)
{
    script_item item;
    gotrace_status status;
    if (item_value(job, &item) != GOTRACE_OK)
        return GOTRACE_ERROR;
    if (item.kind != ITEM_ARRAY)
        return fail_value(job, "records", &item, "an array of events");
    item_list records = item_list_of(&item);
    while ((status = item_list_next(job, &records, &item)) == GOTRACE_EVENT)
        if (read_record(job, &item) != GOTRACE_OK)
            return GOTRACE_ERROR;
    return status == GOTRACE_END ? GOTRACE_OK : status;
}

/* {"trace": "go 1.N"}, which can hold the records too. */
static gotrace_status read_header(script_job *job, bool *has_records)
{
    script_item item;
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
    while ((status = item_list_next(job, &members, &item)) == GOTRACE_EVENT) {
        bool is_trace = item_is(&item, "trace"), is_records = item_is(&item, "records");
        if (!is_trace && !is_records)
            return script_fail(job, item.offset,
                               "%s found, \"trace\" or \"records\" expected: a script starts with "
                               "{\"trace\": \"go 1.N\"",
                               item_show(&item).text);
        if (is_records && (*has_records || !job->encoder))
            return script_fail(job, item.offset, "\"records\" %s",
                               *has_records ? "twice"
                                            : "before \"trace\", which says how they are");
        *has_records = *has_records || is_records;
        if ((is_trace ? read_version(job) : read_records(job)) != GOTRACE_OK)
            return GOTRACE_ERROR;
    }
    if (status == GOTRACE_END && !job->encoder)
        return script_fail(job, start, "the script lacks \"trace\": \"go 1.N\"");
    return status == GOTRACE_END ? GOTRACE_OK : status;
}

gotrace_status script_cbor_read(script_job *job)
{
    script_item item;
    gotrace_status status;
    bool has_records = false;
    job->binary = true;
    if (read_header(job, &has_records) != GOTRACE_OK)
        return GOTRACE_ERROR;
    while ((status = item_next(job, &item)) == GOTRACE_EVENT) {
        if (has_records)
            return script_fail(job, item.offset, "%s found, nothing expected after the document",
                               item_show(&item).text);
        if (read_record(job, &item) != GOTRACE_OK)
            return GOTRACE_ERROR;
    }
    return status == GOTRACE_END ? GOTRACE_OK : status;
}
