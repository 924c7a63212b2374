/*
 * cbor.c - writes event scripts as CBOR (RFC 8949): shorter than JSON, with the same content. In
 * diagnostic notation:
 *
 *   55799({"trace": "go 1.19", "records": [_
 *     [1, 0, 4401266346462],                    / Batch p=0 ticks=4401266346462 /
 *     [37, 1, "main.main"],                     / String id=1 /
 *     [3, 1, [[4943680, 1, 2, 12]]],            / Stack id=1 /
 *     [14, 2973, 19, 1, {"form": 3}],           / GoStart dt=2973 g=19 seq=1 form=3 /
 *     {"event": "GoEnd", "dt": 250}]})
 *
 * Records are written as arrays of the event's code and its arguments in order, because most of a
 * script is records; maps with names are accepted as input too. Without "records", the records
 * follow as separate items.
 *
 * At level meaning an event is a map; an array is a raw record:
 *
 *   55799({"trace": "go 1.26", "level": "meaning", "frequency": 1000000000, "events": [_
 *     {"event": "GoBlock", "t": 2000, "reason_string": "chan receive",
 *      "stack": ["main.main /src/main.go:11 @0x46f2a0"]}]})
 */
#include <cbor.h>
#include <errno.h>
#include <string.h>

#include "formats/script/script.h"
#include "formats/common/utf8.h"

#define SELF_DESCRIBED 55799

/* Maximum size of the head of an item. */
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

/* Starts a map with that many members; the first one is the version. */
static void write_version(out *o, int version, size_t members)
{
    unsigned char head[HEAD];
    char go[16];
    snprintf(go, sizeof go, "go 1.%d", version);
    out_bytes(o, head, cbor_encode_tag(SELF_DESCRIBED, head, sizeof head));
    write_map(o, members);
    write_name(o, "trace");
    write_name(o, go);
}

/* The last member: an array of indefinite length. */
static void write_list(out *o, const char *name)
{
    unsigned char head[HEAD];
    write_name(o, name);
    out_bytes(o, head, cbor_encode_indef_array_start(head, sizeof head));
}

static void begin(out *o, int version)
{
    write_version(o, version, 2);
    write_list(o, "records");
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

/* The number of pads to write. */
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
    size_t used = 0, arg_count = gotrace_event_args(spec, version, args), given = 0;
    bool has_frames = spec->flags & GOTRACE_SPEC_FRAMES, has_data = spec->flags & GOTRACE_SPEC_DATA;
    bool odd_form = script_odd_form(record, version);
    size_t pads = count_pads(version, record);
    /* The count of frames is implied by the frames. */
    for (size_t i = 0; i < arg_count; i++)
        given += args[i]->kind != GOTRACE_ARG_COUNT;
    used += cbor_encode_array_start(1 + given + has_frames + has_data + (odd_form || pads > 0),
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

static void write_signed(out *o, int64_t v)
{
    unsigned char head[HEAD];
    if (v >= 0)
        write_number(o, (uint64_t)v);
    else
        out_bytes(o, head, cbor_encode_negint(~(uint64_t)v, head, sizeof head));
}

static void write_stack(out *o, const script_value *value, script_frame_text *text)
{
    write_array(o, value->frame_count);
    for (size_t i = 0; i < value->frame_count; i++) {
        if (!script_frame_write(text, &value->frames[i]))
            out_fail(o, ENOMEM);
        write_data(o, text->bytes, text->size);
    }
}

static void write_values(out *o, const script_event *event)
{
    for (size_t i = 0; i < event->count; i++) {
        const script_value *value = &event->values[i];
        write_name(o, value->name);
        switch (value->kind) {
        case SCRIPT_UNSIGNED: write_number(o, value->number); break;
        case SCRIPT_SIGNED: write_signed(o, (int64_t)value->number); break;
        case SCRIPT_WORD: write_name(o, value->bytes); break;
        case SCRIPT_STRING: write_data(o, value->bytes, value->size); break;
        case SCRIPT_STACK: write_stack(o, value, event->text); break;
        }
    }
}

static void write_head(out *o, int version, const script_event *head)
{
    write_version(o, version, head->count + 2);
    write_values(o, head);
    write_list(o, "events");
}

static void write_event(out *o, const script_event *event, bool first)
{
    (void)first;
    write_map(o, event->count + 1);
    write_name(o, "event");
    write_name(o, event->name);
    write_values(o, event);
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
    .head = write_head,
    .event = write_event,
    .schema = script_schema_cddl,
};
