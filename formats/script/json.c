/*
 * json.c - event scripts as a JSON document and as JSON Lines.
 *
 *   {"trace":"go 1.19","records":[
 *   {"event":"Batch","p":0,"ticks":4401266346462},
 *   {"event":"String","id":1,"data":"main.main"},
 *   {"event":"Stack","id":1,"frames":[[4943680,1,2,12]]}]}
 *
 * JSON Lines are the same without "records" and its brackets. A document is checked as a whole and
 * then read record by record. JSON Lines are read line by line and can be longer than memory.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/script/json_parse.h"
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

/* ---- reading: values ----------------------------------------------------------------------- */

typedef struct json_reader {
    json_tree tree;
    const json_value *object; /* the current record or header */
    json_place place;         /* of that object */
} json_reader;

/* Reports an error of json_parse, in a line or in a document. */
static gotrace_status fail_json(script_job *job, json_place place, bool is_line, json_error *error)
{
    if (error->text[0] == '\0')
        return GOTRACE_ERROR;
    for (char *c = error->text; *c; c++)
        *c = *c < ' ' || *c > '~' ? '?' : *c;
    json_place_move(&place, error->at);
    if (error->fault == JSON_CUT && is_line)
        script_fail(job, place.line,
                    "the line ends within an event; JSON Lines have each event on one line");
    else if (error->fault == JSON_TOO_BIG)
        script_fail(job, place.line, "%s: write numbers above %lld as strings", error->text,
                    (long long)INT64_MAX);
    else if (error->fault == JSON_NOT_UTF8)
        script_fail(job, place.line, "%s: bytes that are not UTF-8 go into \"data_hex\"",
                    error->text);
    else
        script_fail(job, place.line, "%s", error->text);
    job->error.column = place.column - 1;
    return GOTRACE_ERROR;
}

/* A value for use in a message: its text if that is short, else its kind. */
typedef struct json_shown {
    char text[64];
} json_shown;

/* "1.5", "1000.0", "1e30": with as many digits as needed to be exact. */
static void show_real(char *text, size_t size, double real)
{
    int used = snprintf(text, size, "%.17g", real);
    char *power = strchr(text, 'e');
    if (!power && !strchr(text, '.'))
        snprintf(text + used, size - (size_t)used, ".0");
    else if (power)
        snprintf(power + 1, size - (size_t)(power + 1 - text), "%d", atoi(power + 1));
}

static json_shown show_value(const json_value *value)
{
    static const char *const kinds[] = {
        [JSON_OBJECT] = "an object", [JSON_ARRAY] = "an array", [JSON_TRUE] = "true",
        [JSON_FALSE] = "false",      [JSON_NULL] = "null",
    };
    json_shown shown = {""};
    if (value->kind == JSON_STRING)
        snprintf(shown.text, sizeof shown.text, "\"%s\"",
                 script_show(value->bytes, value->size).text);
    else if (value->kind == JSON_INTEGER)
        snprintf(shown.text, sizeof shown.text, "%" PRId64, value->integer);
    else if (value->kind == JSON_REAL)
        show_real(shown.text, sizeof shown.text, value->real);
    else
        snprintf(shown.text, sizeof shown.text, "%s", kinds[value->kind]);
    return shown;
}

static gotrace_status fail_value(script_job *job, const json_value *name, const json_value *value,
                                 const char *expected)
{
    return script_fail(job, job->record.line, "%s: %s found, %s expected",
                       script_show(name->bytes, name->size).text, show_value(value).text, expected);
}

/* Sets the position of the current object: a record or the header. */
static void set_object(script_job *job, const json_value *object)
{
    json_place_move(&job->json->place, object->at);
    job->json->object = object;
    job->column = job->json->place.column;
    script_record_reset(job, job->json->place.line);
}

/* Sets the position of the error to the value of that member. */
static gotrace_status fail_member(script_job *job, const json_value *member)
{
    json_place place = job->json->place;
    if (job->error.error.class_ != GOTRACE_CLASS_SYSTEM) {
        json_place_move(&place, member[1].at);
        job->error.line = place.line;
        job->error.column = place.column;
    }
    return GOTRACE_ERROR;
}

/* The same, and recovers to continue with the next member. */
static gotrace_status next_member(script_job *job, const json_value *member)
{
    fail_member(job, member);
    return script_recover(job);
}

/* An integer, or a string with an integer. */
static gotrace_status read_number(script_job *job, const json_value *name, const json_value *value,
                                  uint64_t *number)
{
    if (value->kind == JSON_INTEGER && value->integer >= 0) {
        *number = (uint64_t)value->integer;
        return GOTRACE_OK;
    }
    if (value->kind == JSON_STRING &&
        script_number(job, job->record.line, value->bytes, value->size, number) == GOTRACE_OK)
        return GOTRACE_OK;
    return fail_value(job, name, value, "a whole number from 0 to 18446744073709551615");
}

static size_t elements(const json_value *array)
{
    size_t count = 0;
    for (const json_value *e = array + 1; e < json_after(array); e = json_after(e))
        count++;
    return count;
}

/* An array of arrays of `width` numbers each; passes each row to `take`. */
static gotrace_status read_rows(script_job *job, const json_value *name, size_t width,
                                script_row take)
{
    const json_value *rows = name + 1;
    uint64_t numbers[4];
    if (rows->kind != JSON_ARRAY)
        return fail_value(job, name, rows, "an array of arrays");
    for (const json_value *row = rows + 1; row < json_after(rows); row = json_after(row)) {
        if (row->kind != JSON_ARRAY)
            return fail_value(job, name, row, "an array of numbers");
        size_t count = elements(row);
        if (count != width)
            return script_fail(job, job->record.line,
                               "%.*s: an array of %zu found, of %zu expected", (int)name->size,
                               name->bytes, count, width);
        const json_value *number = row + 1;
        for (size_t j = 0; j < width; j++, number = json_after(number))
            if (read_number(job, name, number, &numbers[j]) != GOTRACE_OK)
                return GOTRACE_ERROR;
        if (take(job, job->record.line, numbers) != GOTRACE_OK)
            return GOTRACE_ERROR;
    }
    return GOTRACE_OK;
}

/* Pairs of hexadecimal digits. */
static gotrace_status read_hex(script_job *job, const char *digits, size_t size)
{
    uint64_t line = job->record.line;
    char bytes[256];
    for (size_t i = 0, used = 0; i < size; i += 2) {
        unsigned high = script_digit(digits[i]), low = script_digit(digits[i + 1]);
        if (high > 15 || low > 15)
            return script_fail(job, line,
                               "pairs of hexadecimal digits expected after a name with \"_hex\"");
        bytes[used++] = (char)(high << 4 | low);
        if (used < sizeof bytes && i + 2 < size)
            continue;
        if (script_record_bytes(job, line, bytes, used) != GOTRACE_OK)
            return GOTRACE_ERROR;
        used = 0;
    }
    return GOTRACE_OK;
}

static gotrace_status read_data(script_job *job, const json_value *name)
{
    const json_value *value = name + 1;
    script_record *record = &job->record;
    if (value->kind != JSON_STRING)
        return fail_value(job, name, value, "a string");
    if (record->has_data)
        return script_fail(job, record->line, "a record has both \"data\" and \"data_hex\"");
    record->has_data = true;
    return json_is(name, "data") ? script_record_bytes(job, record->line, value->bytes, value->size)
                                 : read_hex(job, value->bytes, value->size);
}

/* ---- reading: events by meaning -------------------------------------------------------------- */

/* Bytes of an event, as text or (the name ends in "hex") as digits, appended to the record's
 * data. */
static gotrace_status read_bytes(script_job *job, const json_value *value, bool hex,
                                 script_token *token)
{
    size_t before = job->record.data_size;
    gotrace_status status = hex ? read_hex(job, value->bytes, value->size)
                                : script_record_bytes(job, job->record.line, value->bytes,
                                                      value->size);
    size_t size = job->record.data_size - before;
    *token = (script_token){size > 0 ? job->record.data + before : "", size, true};
    return status;
}

typedef gotrace_status taker(script_job *job, uint64_t line, const char *name, size_t size,
                             script_token value);

/* A number or a string; a string may consist of hexadecimal digits. */
static gotrace_status read_scalar(script_job *job, const json_value *name, bool hex, taker *take)
{
    const json_value *value = name + 1;
    char number[64];
    script_token token = {number, 0, false};
    size_t size = name->size - (hex ? strlen("_hex") : 0);
    int used = 0;
    if (value->kind == JSON_INTEGER)
        used = snprintf(number, sizeof number, "%" PRId64, value->integer);
    else if (value->kind == JSON_REAL && value->real > -1e15 && value->real < 1e15)
        used = snprintf(number, sizeof number, "%.6f", value->real);
    else if (value->kind == JSON_TRUE || value->kind == JSON_FALSE)
        used = snprintf(number, sizeof number, "%s", value->kind == JSON_TRUE ? "true" : "false");
    else if (value->kind != JSON_STRING)
        return fail_value(job, name, value, "a number, a string or a stack");
    token.size = (size_t)used;
    if (value->kind == JSON_STRING && read_bytes(job, value, hex, &token) != GOTRACE_OK)
        return GOTRACE_ERROR;
    return take(job, job->record.line, name->bytes, size, token);
}

/* A frame, as a string or as {"hex":"..."}. */
static gotrace_status read_text_frame(script_job *job, const json_value *name,
                                      const json_value *frame)
{
    script_token token;
    const json_value *digits = json_member(frame, "hex");
    bool hex = digits && digits[1].kind == JSON_STRING && frame->span == 3;
    if (!hex && frame->kind != JSON_STRING)
        return fail_value(job, name, frame, "a frame \"function file:line\"");
    return read_bytes(job, hex ? digits + 1 : frame, hex, &token) == GOTRACE_OK
               ? script_event_value(job, job->record.line, name->bytes, name->size, token)
               : GOTRACE_ERROR;
}

static bool ends_in_hex(const json_value *name)
{
    size_t end = strlen("_hex");
    return name->size > end && memcmp(name->bytes + name->size - end, "_hex", end) == 0;
}

static bool is_name_or_level(const json_value *name)
{
    return json_is(name, "event") || json_is(name, "raw");
}

static gotrace_status read_stack(script_job *job, const json_value *name)
{
    const json_value *stack = name + 1;
    gotrace_status status = script_event_frames(job, job->record.line, name->bytes, name->size);
    for (const json_value *f = stack + 1; f < json_after(stack); f = json_after(f))
        if (status == GOTRACE_OK)
            status = read_text_frame(job, name, f);
    return status;
}

static gotrace_status read_event(script_job *job, const json_value *object, const json_value *event)
{
    if (script_event_begin(job, job->record.line, event[1].bytes, event[1].size) != GOTRACE_OK &&
        next_member(job, event) != GOTRACE_OK)
        return GOTRACE_ERROR;
    for (const json_value *m = object + 1; m < json_after(object); m = json_after(m + 1)) {
        if (is_name_or_level(m))
            continue;
        gotrace_status status = m[1].kind == JSON_ARRAY
                                    ? read_stack(job, m)
                                    : read_scalar(job, m, ends_in_hex(m), script_event_value);
        if (status != GOTRACE_OK && next_member(job, m) != GOTRACE_OK)
            return GOTRACE_ERROR;
    }
    return script_event_end(job);
}

/* ---- reading: records ------------------------------------------------------------------------ */

static gotrace_status read_member(script_job *job, const json_value *name)
{
    script_record *record = &job->record;
    if (is_name_or_level(name))
        return GOTRACE_OK;
    if (json_is(name, "data") || json_is(name, "data_hex"))
        return read_data(job, name);
    if (json_is(name, "frames")) {
        record->has_frames = true;
        return read_rows(job, name, job->frame_values, script_record_frame);
    }
    if (json_is(name, "pad"))
        return read_rows(job, name, 2, script_record_pad);
    if (json_is(name, "form")) {
        record->has_form = true;
        return read_number(job, name, name + 1, &record->form);
    }
    uint64_t *slot;
    if (script_record_arg(job, record->line, name->bytes, name->size, &slot) != GOTRACE_OK)
        return GOTRACE_ERROR;
    return read_number(job, name, name + 1, slot);
}

static gotrace_status fail_of_member(script_job *job, const json_value *member,
                                     const char *expected)
{
    fail_value(job, member, member + 1, expected);
    return fail_member(job, member);
}

static gotrace_status read_record(script_job *job, const json_value *object)
{
    set_object(job, object);
    uint64_t line = job->record.line;
    if (object->kind != JSON_OBJECT)
        return script_fail(job, line, "%s found, an event expected: {\"event\":...}",
                           show_value(object).text);
    const json_value *event = json_member(object, "event"), *raw = json_member(object, "raw");
    if (!event)
        return script_fail(job, line, "an object without \"event\"");
    if (event[1].kind != JSON_STRING)
        return fail_of_member(job, event, "an event's name in quotes");
    bool meaning = script_is_meaning(job), is_raw = raw && raw[1].kind == JSON_TRUE;
    if (raw && !is_raw && !(meaning && raw[1].kind == JSON_FALSE))
        return fail_of_member(job, raw, meaning ? "true or false" : "true");
    if (meaning && !is_raw)
        return read_event(job, object, event);
    if (meaning && script_event_raw(job, line) != GOTRACE_OK)
        return GOTRACE_ERROR;
    if (script_record_name(job, event[1].bytes, event[1].size) != GOTRACE_OK)
        return next_member(job, event);
    for (const json_value *m = object + 1; m < json_after(object); m = json_after(m + 1))
        if (read_member(job, m) != GOTRACE_OK && next_member(job, m) != GOTRACE_OK)
            return GOTRACE_ERROR;
    return script_record_end(job);
}

/* ---- reading: entry point -------------------------------------------------------------------- */

/* The text of the first object of the script. */
typedef struct json_text {
    char *bytes;
    size_t size, capacity;
    size_t depth; /* number of open objects and arrays */
    bool in_string, escaped;
} json_text;

/* Makes room in the copy. The memory limit applies to the document, not to the copy. */
static bool make_room(const script_job *job, json_text *text, size_t size)
{
    const gotrace_allocator *a = &job->allocator;
    size_t need = text->size + size, capacity = 2 * need;
    if (need <= text->capacity)
        return true;
    char *bytes = a->resize(a->ctx, text->bytes, text->capacity, capacity);
    if (!bytes)
        return false;
    text->bytes = bytes;
    text->capacity = capacity;
    return true;
}

/* Consumes bytes of the input. */
static void pass(script_input *in, size_t size)
{
    const char *end = in->buffer + in->at + size;
    for (const char *p = in->buffer + in->at; (p = memchr(p, '\n', (size_t)(end - p))); p++)
        in->line++;
    in->at += size;
}

/* The number of bytes up to the end of the object or, because a string must not contain one, up to
 * a line end in a string; size if the object continues. */
static size_t find_end(json_text *text, const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        char c = bytes[i];
        if (text->in_string && c == '\n')
            return i + 1;
        if (text->escaped)
            text->escaped = false;
        else if (c == '"')
            text->in_string = !text->in_string;
        else if (text->in_string)
            text->escaped = c == '\\';
        else if (c == '{' || c == '[')
            text->depth++;
        else if ((c == '}' || c == ']') && --text->depth == 0)
            return i + 1;
    }
    return size;
}

/* Reads the text of the first object: a document, or the first line of JSON Lines. */
static gotrace_status read_text(script_job *job, json_text *text)
{
    script_input *in = &job->in;
    gotrace_status status;
    size_t size, used;
    do {
        status = in->at < in->end ? GOTRACE_OK : script_fill(job);
        if (status != GOTRACE_OK)
            return status == GOTRACE_END ? GOTRACE_OK : status;
        const char *bytes = in->buffer + in->at;
        size = in->end - in->at;
        used = find_end(text, bytes, size);
        if (text->size + used > job->memory_limit)
            return script_fail_system(job, GOTRACE_RULE_SYSTEM_LIMIT,
                                      "a JSON document of more than %llu bytes, the limit; JSON "
                                      "Lines can be longer",
                                      (unsigned long long)job->memory_limit);
        const char *zero = memchr(bytes, '\0', used);
        if (zero) {
            pass(in, (size_t)(zero - bytes));
            return script_fail(job, in->line, "a zero byte, which JSON does not permit");
        }
        if (!make_room(job, text, used))
            return script_fail_system(job, GOTRACE_RULE_SYSTEM_MEMORY, "out of memory");
        memcpy(text->bytes + text->size, bytes, used);
        text->size += used;
        pass(in, used);
    } while (used == size);
    return GOTRACE_OK;
}

/* The value at a position of a text that was parsed before. */
static gotrace_status read_element(script_job *job, const char *at, const char *end)
{
    json_reader *reader = job->json;
    json_error error;
    if (json_parse(job, &reader->tree, at, (size_t)(end - at), JSON_ELEMENT, &error) < 0)
        return fail_json(job, reader->place, false, &error);
    return read_record(job, reader->tree.values);
}

/* Checks that only white space follows, on the line or in the whole script. */
static gotrace_status read_blank(script_job *job, bool whole)
{
    script_input *in = &job->in;
    gotrace_status status = GOTRACE_OK;
    while (in->at < in->end || (status = script_fill(job)) == GOTRACE_OK) {
        const char *found = in->buffer + in->at;
        if (!strchr(" \t\r\n", *found) || *found == '\0')
            return script_fail(job, in->line, "\"%s\" found, nothing expected after %s",
                               script_show(found, 1).text,
                               whole ? "the document" : "the first object of JSON Lines");
        pass(in, 1);
        if (*found == '\n' && !whole)
            return GOTRACE_OK;
    }
    return status == GOTRACE_END ? GOTRACE_OK : status;
}

/* {"trace":"go 1.N"}, which may also contain the level and the events. */
static gotrace_status read_header(script_job *job, const json_value *first)
{
    static const char go[] = "go 1.";
    set_object(job, first);
    uint64_t line = job->record.line;
    for (const json_value *m = first + 1; m < json_after(first); m = json_after(m + 1)) {
        bool known = json_is(m, "trace") || json_is(m, "records") || json_is(m, "events");
        if (!known && read_scalar(job, m, false, script_head_value) != GOTRACE_OK &&
            next_member(job, m) != GOTRACE_OK)
            return GOTRACE_ERROR;
    }
    script_record_reset(job, line);
    const json_value *trace = json_member(first, "trace");
    if (!trace)
        return script_fail_head(job, line);
    const json_value *version = trace + 1;
    if (version->kind != JSON_STRING || version->size < strlen(go) ||
        memcmp(version->bytes, go, strlen(go)) != 0)
        return fail_of_member(job, trace, "\"go 1.N\"");
    if (script_version(job, line, version->bytes + strlen(go), version->size - strlen(go)) ==
        GOTRACE_OK)
        return GOTRACE_OK;
    return fail_member(job, trace);
}

/* Recovers after an error in a record, to continue with the next one. */
static gotrace_status next_record(script_job *job)
{
    gotrace_status status = script_recover(job);
    script_event_skip(job);
    return status;
}

/* Reads the records of an array, in a text that was parsed before. */
static gotrace_status read_records(script_job *job, const char *array, const char *end)
{
    static const char separators[] = " \t\r\n,";
    const char *at = array + 1;
    for (;;) {
        while (strchr(separators, *at))
            at++;
        if (*at == ']')
            return GOTRACE_OK;
        if (read_element(job, at, end) != GOTRACE_OK && next_record(job) != GOTRACE_OK)
            return GOTRACE_ERROR;
        at = job->json->tree.end;
    }
}

static gotrace_status read_document(script_job *job, const json_text *text)
{
    const json_value *document = job->json->tree.values;
    if (read_blank(job, true) != GOTRACE_OK || read_header(job, document) != GOTRACE_OK)
        return GOTRACE_ERROR;
    bool meaning = script_is_meaning(job);
    const json_value *list = json_member(document, meaning ? "events" : "records");
    const json_value *other = json_member(document, meaning ? "records" : "events");
    if (other) {
        script_head_list(job, job->json->place.line, !meaning);
        return fail_member(job, other);
    }
    if (list[1].kind != JSON_ARRAY)
        return fail_of_member(job, list, "an array of events");
    return read_records(job, list[1].at, text->bytes + text->size);
}

static bool is_blank(const char *s, size_t size)
{
    while (size > 0 && (*s == ' ' || *s == '\t' || *s == '\r'))
        s++, size--;
    return size == 0;
}

static gotrace_status read_lines(script_job *job)
{
    json_reader *reader = job->json;
    char *line;
    size_t size;
    uint64_t number;
    bool cut = false;
    if (read_blank(job, false) != GOTRACE_OK || read_header(job, reader->tree.values) != GOTRACE_OK)
        return GOTRACE_ERROR;
    gotrace_status status;
    while ((status = script_line(job, &line, &size, &number)) == GOTRACE_EVENT) {
        /* Skip the other lines of an event that was spread over several. */
        cut = cut && *line != '{';
        if (cut || is_blank(line, size))
            continue;
        json_error error;
        reader->place = (json_place){line, number, 1};
        status = json_parse(job, &reader->tree, line, size, JSON_ALONE, &error);
        cut = status != GOTRACE_OK && error.fault == JSON_CUT;
        status = status == GOTRACE_OK ? read_record(job, reader->tree.values)
                                      : fail_json(job, reader->place, true, &error);
        if (status != GOTRACE_OK && next_record(job) != GOTRACE_OK)
            return GOTRACE_ERROR;
    }
    return status == GOTRACE_END ? GOTRACE_OK : status;
}

static gotrace_status read_script(script_job *job, json_text *text)
{
    json_reader *reader = job->json;
    json_error error;
    if (read_text(job, text) != GOTRACE_OK)
        return GOTRACE_ERROR;
    reader->place = (json_place){text->bytes, 1, 1};
    if (json_parse(job, &reader->tree, text->bytes, text->size, JSON_SKIM, &error) < 0)
        return fail_json(job, reader->place, false, &error);
    const json_value *first = reader->tree.values;
    return json_member(first, "records") || json_member(first, "events") ? read_document(job, text)
                                                                         : read_lines(job);
}

gotrace_status script_json_read(script_job *job)
{
    json_reader reader = {.object = NULL};
    json_text text = {.bytes = NULL};
    job->json = &reader;
    gotrace_status status = read_script(job, &text);
    json_free(job, &reader.tree);
    script_release(job, text.bytes, text.capacity, 1);
    return status;
}
