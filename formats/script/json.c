/*
 * json.c - event scripts as a JSON document and as JSON Lines: writing.
 *
 *   {"trace":"go 1.19","records":[
 *   {"event":"Batch","p":0,"ticks":4401266346462},
 *   {"event":"String","id":1,"data":"main.main"},
 *   {"event":"Stack","id":1,"frames":[[4943680,1,2,12]]}]}
 *
 * JSON Lines are the same without "records" and its brackets.
 */
#include <errno.h>
#include <string.h>

#include "formats/script/meaning.h"
#include "formats/common/utf8.h"

/* ---- writing ------------------------------------------------------------------------------- */

static void json_begin(out *o, int version)
{
    out_printf(o, "{\"trace\":\"go 1.%d\",\"records\":[\n", version);
}

static void jsonl_begin(out *o, int version)
{
    out_printf(o, "{\"trace\":\"go 1.%d\"}\n", version);
}

static void json_end(out *o)
{
    out_str(o, "\n]}\n");
}

static void jsonl_end(out *o)
{
    (void)o;
}

/* Most JSON readers cannot represent integers above 2^63 - 1, which are written as strings. */
static void write_number(out *o, uint64_t v)
{
    if (v <= INT64_MAX) {
        out_u64(o, v);
    } else {
        out_char(o, '"');
        out_u64(o, v);
        out_char(o, '"');
    }
}

static void write_frames(out *o, const uint64_t *values, size_t count, size_t per_frame)
{
    out_str(o, ",\"frames\":[");
    for (size_t i = 0; i < count; i++) {
        if (i % per_frame == 0)
            out_str(o, i ? "],[" : "[");
        else
            out_char(o, ',');
        write_number(o, values[i]);
    }
    out_str(o, count ? "]]" : "]");
}

static void write_hex(out *o, const char *s, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    out_char(o, '"');
    for (size_t i = 0; i < size; i++) {
        out_char(o, digits[(unsigned char)s[i] >> 4]);
        out_char(o, digits[(unsigned char)s[i] & 15]);
    }
    out_char(o, '"');
}

/* A string with its key; the key changes if the string is not UTF-8. */
static void write_bytes(out *o, const char *key, const char *s, size_t size)
{
    bool hex = utf8_valid_prefix(s, size) < size;
    out_str(o, ",\"");
    out_str(o, key);
    out_str(o, hex ? "_hex\":" : "\":");
    if (hex)
        write_hex(o, s, size);
    else
        out_json_string(o, s, size);
}

static void write_record(out *o, int version, const gotrace_record *record)
{
    const gotrace_event_spec *spec = record->spec;
    size_t n = 0;
    out_str(o, "{\"event\":\"");
    out_str(o, spec->name);
    out_char(o, '"');
    for (size_t i = 0; i < spec->arg_count; i++) {
        if (version < spec->args[i].since || version > spec->args[i].until)
            continue;
        /* The count of frames is implied by the frames. */
        uint64_t value = record->args[n++];
        if (spec->args[i].kind == GOTRACE_ARG_COUNT)
            continue;
        out_str(o, ",\"");
        out_str(o, spec->args[i].name);
        out_str(o, "\":");
        write_number(o, value);
    }
    if (spec->flags & GOTRACE_SPEC_FRAMES)
        write_frames(o, record->args + n, record->arg_count - n, gotrace_frame_values(version));
    if (spec->flags & GOTRACE_SPEC_DATA)
        write_bytes(o, "data", record->data, record->data_size);
    if (script_odd_form(record, version)) {
        out_str(o, ",\"form\":");
        out_u64(o, record->form);
    }
    const char *before = ",\"pad\":[[", *after = "";
    for (size_t i = 0; script_odd_width(record, version, &i); i++) {
        out_str(o, before);
        out_u64(o, i);
        out_char(o, ',');
        out_u64(o, record->widths[i]);
        before = "],[";
        after = "]]";
    }
    out_str(o, after);
    out_char(o, '}');
}

static void json_record(out *o, int version, const gotrace_record *record, bool first)
{
    if (!first)
        out_str(o, ",\n");
    write_record(o, version, record);
}

static void jsonl_record(out *o, int version, const gotrace_record *record, bool first)
{
    (void)first;
    write_record(o, version, record);
    out_char(o, '\n');
}

static void write_stack(out *o, const script_value *value, script_frame_text *text)
{
    for (size_t i = 0; i < value->frame_count; i++) {
        if (!script_frame_write(text, &value->frames[i]))
            out_fail(o, ENOMEM);
        out_str(o, i ? "," : "[");
        if (utf8_valid_prefix(text->bytes, text->size) == text->size) {
            out_json_string(o, text->bytes, text->size);
        } else {
            out_str(o, "{\"hex\":");
            write_hex(o, text->bytes, text->size);
            out_char(o, '}');
        }
    }
    out_char(o, ']');
}

static void write_value(out *o, const script_value *value, script_frame_text *text)
{
    if (value->kind == SCRIPT_STRING) {
        write_bytes(o, value->name, value->bytes, value->size);
        return;
    }
    out_str(o, ",\"");
    out_str(o, value->name);
    out_str(o, "\":");
    switch (value->kind) {
    case SCRIPT_UNSIGNED: write_number(o, value->number); break;
    case SCRIPT_SIGNED: out_i64(o, (int64_t)value->number); break;
    case SCRIPT_WORD: out_json_string(o, value->bytes, strlen(value->bytes)); break;
    case SCRIPT_STACK: write_stack(o, value, text); break;
    case SCRIPT_STRING: break;
    }
}

static void write_values(out *o, const script_event *event)
{
    for (size_t i = 0; i < event->count; i++)
        write_value(o, &event->values[i], event->text);
}

static void json_head(out *o, int version, const script_event *head)
{
    out_printf(o, "{\"trace\":\"go 1.%d\"", version);
    write_values(o, head);
    out_str(o, ",\"events\":[\n");
}

static void jsonl_head(out *o, int version, const script_event *head)
{
    out_printf(o, "{\"trace\":\"go 1.%d\"", version);
    write_values(o, head);
    out_str(o, "}\n");
}

static void json_event(out *o, const script_event *event, bool first)
{
    out_str(o, first ? "{\"event\":\"" : ",\n{\"event\":\"");
    out_str(o, event->name);
    out_char(o, '"');
    write_values(o, event);
    out_char(o, '}');
}

static void jsonl_event(out *o, const script_event *event, bool first)
{
    (void)first;
    json_event(o, event, true);
    out_char(o, '\n');
}

static const char *const json_extensions[] = {".json", NULL};
static const char *const jsonl_extensions[] = {".jsonl", ".ndjson", NULL};

const script_format script_json = {
    .name = "json",
    .extensions = json_extensions,
    .summary = "one JSON document",
    .begin = json_begin,
    .record = json_record,
    .end = json_end,
    .head = json_head,
    .event = json_event,
    .schema = script_schema_json,
};

const script_format script_jsonl = {
    .name = "jsonl",
    .extensions = jsonl_extensions,
    .summary = "JSON Lines: one object per event",
    .begin = jsonl_begin,
    .record = jsonl_record,
    .end = jsonl_end,
    .head = jsonl_head,
    .event = jsonl_event,
};
