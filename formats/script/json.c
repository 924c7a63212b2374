/*
 * json.c - event scripts as a JSON document and as JSON Lines.
 *
 *   {"trace":"go 1.19","records":[
 *   {"event":"Batch","p":0,"ticks":4401266346462},
 *   {"event":"String","id":1,"data":"main.main"},
 *   {"event":"Stack","id":1,"frames":[[4943680,1,2,12]]}]}
 *
 * JSON Lines are the same without "records" and its brackets. Both are read with jansson: a
 * document as one tree of values, JSON Lines as a small tree per line, so that they may be larger
 * than memory.
 */
#include <errno.h>
#include <string.h>

#include "formats/script/json_load.h"
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

enum { JSON_FLAGS = JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES };

/* Reports jansson's error, in a line or in a document. No text: memory was refused. */
static gotrace_status fail_json(script_job *job, uint64_t line, bool is_line,
                                const json_error_t *error)
{
    enum json_error_code code = json_error_code(error);
    if (code == json_error_out_of_memory || error->text[0] == '\0')
        return script_fail_system(job, GOTRACE_RULE_SYSTEM_MEMORY, "out of memory");
    char text[JSON_ERROR_TEXT_LENGTH];
    size_t size = 0;
    for (; error->text[size]; size++)
        text[size] = error->text[size] < ' ' || error->text[size] > '~' ? '?' : error->text[size];
    text[size] = '\0';
    if (code == json_error_premature_end_of_input && is_line)
        script_fail(job, line,
                    "the line ends within an event; JSON Lines have each event on one line");
    else if (code == json_error_numeric_overflow && strncmp(text, "too big integer", 15) == 0)
        script_fail(job, line, "%s: write numbers above %lld as strings", text,
                    (long long)INT64_MAX);
    else if (code == json_error_invalid_utf8)
        script_fail(job, line, "%s: bytes that are not UTF-8 go into \"data_hex\"", text);
    else
        script_fail(job, line, "%s", text);
    job->error.column = error->column > 0 ? (uint64_t)error->column : 0;
    return GOTRACE_ERROR;
}

/* A value for use in a message: its text if that is short, else its kind. */
typedef struct json_shown {
    char text[64];
} json_shown;

static json_shown show_value(const json_t *value)
{
    static const char *const kinds[] = {
        [JSON_OBJECT] = "an object", [JSON_ARRAY] = "an array", [JSON_TRUE] = "true",
        [JSON_FALSE] = "false",      [JSON_NULL] = "null",
    };
    json_shown shown = {""};
    json_type type = json_typeof(value);
    if (type == JSON_STRING)
        snprintf(shown.text, sizeof shown.text, "\"%s\"",
                 script_show(json_string_value(value), json_string_length(value)).text);
    else if (type == JSON_INTEGER || type == JSON_REAL)
        json_dumpb(value, shown.text, sizeof shown.text - 1, JSON_ENCODE_ANY);
    else
        snprintf(shown.text, sizeof shown.text, "%s", kinds[type]);
    return shown;
}

static gotrace_status fail_value(script_job *job, const char *name, const json_t *value,
                                 const char *expected)
{
    return script_fail(job, job->record.line, "%s: %s found, %s expected",
                       script_show(name, strlen(name)).text, show_value(value).text, expected);
}

/* Sets the position of the current object: a record or the header. */
static void set_place(script_job *job, json_place place)
{
    job->place = place;
    job->column = place.column;
    script_record_reset(job, place.line);
}

/* Sets the position of the error to the value of that member. */
static gotrace_status fail_member(script_job *job, const char *name)
{
    json_place place = job->place;
    bool is_system = job->error.error.class_ == GOTRACE_CLASS_SYSTEM;
    if (!is_system && json_place_member(&place, name)) {
        job->error.line = place.line;
        job->error.column = place.column;
    }
    return GOTRACE_ERROR;
}

/* The same, and recovers to continue with the next member. */
static gotrace_status next_member(script_job *job, const char *name)
{
    fail_member(job, name);
    return script_recover(job);
}

/* An integer, or a string with an integer. */
static gotrace_status read_number(script_job *job, const char *name, const json_t *value,
                                  uint64_t *number)
{
    if (json_is_integer(value) && json_integer_value(value) >= 0) {
        *number = (uint64_t)json_integer_value(value);
        return GOTRACE_OK;
    }
    if (json_is_string(value) && script_number(job, job->record.line, json_string_value(value),
                                               json_string_length(value), number) == GOTRACE_OK)
        return GOTRACE_OK;
    return fail_value(job, name, value, "a whole number from 0 to 18446744073709551615");
}

/* An array of arrays of `width` numbers each; passes each row to `take`. */
static gotrace_status read_rows(script_job *job, const char *name, const json_t *rows, size_t width,
                                script_row take)
{
    uint64_t numbers[4];
    size_t i;
    const json_t *row;
    if (!json_is_array(rows))
        return fail_value(job, name, rows, "an array of arrays");
    json_array_foreach(rows, i, row)
    {
        if (!json_is_array(row))
            return fail_value(job, name, row, "an array of numbers");
        if (json_array_size(row) != width)
            return script_fail(job, job->record.line, "%s: an array of %zu found, of %zu expected",
                               name, json_array_size(row), width);
        for (size_t j = 0; j < width; j++)
            if (read_number(job, name, json_array_get(row, j), &numbers[j]) != GOTRACE_OK)
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

static gotrace_status read_data(script_job *job, const char *name, const json_t *value)
{
    script_record *record = &job->record;
    if (!json_is_string(value))
        return fail_value(job, name, value, "a string");
    if (record->has_data)
        return script_fail(job, record->line, "a record has both \"data\" and \"data_hex\"");
    record->has_data = true;
    const char *data = json_string_value(value);
    size_t size = json_string_length(value);
    return strcmp(name, "data") == 0 ? script_record_bytes(job, record->line, data, size)
                                     : read_hex(job, data, size);
}

/* ---- reading: events by meaning -------------------------------------------------------------- */

/* Bytes of an event, as text or (the name ends in "hex") as digits, appended to the record's
 * data. */
static gotrace_status read_bytes(script_job *job, const json_t *value, bool hex,
                                 script_token *token)
{
    const char *bytes = json_string_value(value);
    size_t before = job->record.data_size, size = json_string_length(value);
    gotrace_status status = hex ? read_hex(job, bytes, size)
                                : script_record_bytes(job, job->record.line, bytes, size);
    size = job->record.data_size - before;
    *token = (script_token){size > 0 ? job->record.data + before : "", size, true};
    return status;
}

typedef gotrace_status taker(script_job *job, uint64_t line, const char *name, size_t size,
                             script_token value);

/* A number or a string; a string may consist of hexadecimal digits. */
static gotrace_status read_scalar(script_job *job, const char *name, const json_t *value, bool hex,
                                  taker *take)
{
    char number[64];
    script_token token = {number, 0, false};
    size_t size = strlen(name) - (hex ? strlen("_hex") : 0);
    if (json_is_integer(value)) {
        token.size = (size_t)snprintf(number, sizeof number, "%lld",
                                      (long long)json_integer_value(value));
    } else if (json_is_real(value) && json_real_value(value) > -1e15 &&
               json_real_value(value) < 1e15) {
        token.size = (size_t)snprintf(number, sizeof number, "%.6f", json_real_value(value));
    } else if (json_is_boolean(value)) {
        token.size = (size_t)snprintf(number, sizeof number, "%s",
                                      json_is_true(value) ? "true" : "false");
    } else if (!json_is_string(value)) {
        return fail_value(job, name, value, "a number, a string or a stack");
    } else if (read_bytes(job, value, hex, &token) != GOTRACE_OK) {
        return GOTRACE_ERROR;
    }
    return take(job, job->record.line, name, size, token);
}

/* A frame, as a string or as {"hex":"..."}. */
static gotrace_status read_text_frame(script_job *job, const char *name, const json_t *frame)
{
    script_token token;
    const json_t *digits = json_object_get(frame, "hex");
    bool hex = json_object_size(frame) == 1 && json_is_string(digits);
    if (!hex && !json_is_string(frame))
        return fail_value(job, name, frame, "a frame \"function file:line\"");
    return read_bytes(job, hex ? digits : frame, hex, &token) == GOTRACE_OK
               ? script_event_value(job, job->record.line, name, strlen(name), token)
               : GOTRACE_ERROR;
}

static bool ends_in_hex(const char *name)
{
    size_t size = strlen(name), end = strlen("_hex");
    return size > end && strcmp(name + size - end, "_hex") == 0;
}

static gotrace_status read_event(script_job *job, json_t *object, const json_t *event)
{
    const char *name;
    json_t *value, *frame;
    size_t i;
    if (script_event_begin(job, job->record.line, json_string_value(event),
                           json_string_length(event)) != GOTRACE_OK &&
        next_member(job, "event") != GOTRACE_OK)
        return GOTRACE_ERROR;
    json_object_foreach(object, name, value)
    {
        if (strcmp(name, "event") == 0 || strcmp(name, "raw") == 0)
            continue;
        gotrace_status status = json_is_array(value)
                                    ? script_event_frames(job, job->record.line, name, strlen(name))
                                    : read_scalar(job, name, value, ends_in_hex(name),
                                                  script_event_value);
        json_array_foreach(value, i, frame)
        {
            if (status == GOTRACE_OK)
                status = read_text_frame(job, name, frame);
        }
        if (status != GOTRACE_OK && next_member(job, name) != GOTRACE_OK)
            return GOTRACE_ERROR;
    }
    return script_event_end(job);
}

/* ---- reading: records ------------------------------------------------------------------------ */

static gotrace_status read_member(script_job *job, const char *name, const json_t *value)
{
    script_record *record = &job->record;
    if (strcmp(name, "event") == 0 || strcmp(name, "raw") == 0)
        return GOTRACE_OK;
    if (strcmp(name, "data") == 0 || strcmp(name, "data_hex") == 0)
        return read_data(job, name, value);
    if (strcmp(name, "frames") == 0) {
        record->has_frames = true;
        return read_rows(job, name, value, job->frame_values, script_record_frame);
    }
    if (strcmp(name, "pad") == 0)
        return read_rows(job, name, value, 2, script_record_pad);
    if (strcmp(name, "form") == 0) {
        record->has_form = true;
        return read_number(job, name, value, &record->form);
    }
    uint64_t *slot;
    if (script_record_arg(job, record->line, name, strlen(name), &slot) != GOTRACE_OK)
        return GOTRACE_ERROR;
    return read_number(job, name, value, slot);
}

static gotrace_status read_record(script_job *job, json_place place, json_t *object)
{
    const char *name;
    json_t *value;
    uint64_t line = place.line;
    set_place(job, place);
    if (!json_is_object(object))
        return script_fail(job, line, "%s found, an event expected: {\"event\":...}",
                           show_value(object).text);
    const json_t *event = json_object_get(object, "event");
    if (!event)
        return script_fail(job, line, "an object without \"event\"");
    if (!json_is_string(event)) {
        fail_value(job, "event", event, "an event's name in quotes");
        return fail_member(job, "event");
    }
    const json_t *raw = json_object_get(object, "raw");
    bool meaning = script_is_meaning(job);
    if (raw && !(meaning ? json_is_boolean(raw) : json_is_true(raw))) {
        fail_value(job, "raw", raw, meaning ? "true or false" : "true");
        return fail_member(job, "raw");
    }
    if (meaning && !json_is_true(raw))
        return read_event(job, object, event);
    if (meaning && script_event_raw(job, line) != GOTRACE_OK)
        return GOTRACE_ERROR;
    if (script_record_name(job, json_string_value(event), json_string_length(event)) != GOTRACE_OK)
        return next_member(job, "event");
    json_object_foreach(object, name, value)
    {
        if (read_member(job, name, value) != GOTRACE_OK && next_member(job, name) != GOTRACE_OK)
            return GOTRACE_ERROR;
    }
    return script_record_end(job);
}

/* ---- reading: entry point -------------------------------------------------------------------- */

/* Feeds the first object of the script to jansson. The bytes passed last stay in the input until
 * jansson needs more, because the object may end within them. */
typedef struct json_source {
    script_job *job;
    size_t given;    /* number of bytes passed last */
    uint64_t before; /* number of bytes passed before those */
    bool failed;     /* the job's error has the reason */
    char *text;      /* copy of all bytes passed, for the positions of errors */
    size_t capacity;
    json_memory memory; /* of the object */
} json_source;

/* Makes room in the copy. The memory limit applies to the document, not to the copy. */
static bool make_room(json_source *source, size_t size)
{
    const gotrace_allocator *a = &source->job->allocator;
    size_t need = (size_t)source->before + size, capacity = 2 * need;
    if (need <= source->capacity)
        return true;
    char *text = a->resize(a->ctx, source->text, source->capacity, capacity);
    if (!text)
        return false;
    source->text = text;
    source->capacity = capacity;
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

static size_t give(void *buffer, size_t size, void *ctx)
{
    json_source *source = ctx;
    script_job *job = source->job;
    script_input *in = &job->in;
    pass(in, source->given);
    source->before += source->given;
    source->given = 0;
    gotrace_status status = in->at < in->end ? GOTRACE_OK : script_fill(job);
    if (size > in->end - in->at)
        size = in->end - in->at;
    if (status == GOTRACE_OK && source->before + size > job->memory_limit)
        status = script_fail_system(job, GOTRACE_RULE_SYSTEM_LIMIT,
                                    "a JSON document of more than %llu bytes, the limit; JSON "
                                    "Lines can be longer",
                                    (unsigned long long)job->memory_limit);
    /* Jansson may skip a zero byte without counting it. */
    else if (status == GOTRACE_OK && memchr(in->buffer + in->at, '\0', size))
        status = script_fail(job, in->line, "a zero byte, which JSON does not permit");
    else if (status == GOTRACE_OK && !make_room(source, size))
        status = script_fail_system(job, GOTRACE_RULE_SYSTEM_MEMORY, "out of memory");
    source->failed = status < 0;
    if (status != GOTRACE_OK)
        return 0;
    memcpy(buffer, in->buffer + in->at, size);
    memcpy(source->text + source->before, buffer, size);
    source->given = size;
    return size;
}

/* Reads the first object: a document, or the first line of JSON Lines. NULL after an error. */
static json_t *read_first(script_job *job, json_source *source)
{
    json_error_t error;
    json_t *first = json_load_from(&source->memory, give, source,
                                   JSON_FLAGS | JSON_DISABLE_EOF_CHECK, &error);
    if (first) {
        /* Jansson counts in an int. */
        uint32_t used = (uint32_t)error.position - (uint32_t)source->before;
        used = used < source->given ? used : (uint32_t)source->given;
        pass(&job->in, used);
        job->place = (json_place){source->text, source->text + source->before + used, 1, 1};
        json_place_to_value(&job->place);
    } else if (!source->failed) {
        fail_json(job, (uint64_t)(error.line > 0 ? error.line : 0), false, &error);
    }
    return first;
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
static gotrace_status read_header(script_job *job, json_t *first)
{
    static const char go[] = "go 1.";
    const char *name;
    json_t *value;
    uint64_t line = job->place.line;
    set_place(job, job->place);
    json_object_foreach(first, name, value)
    {
        bool known = strcmp(name, "trace") == 0 || strcmp(name, "records") == 0 ||
                     strcmp(name, "events") == 0;
        if (!known && read_scalar(job, name, value, false, script_head_value) != GOTRACE_OK &&
            next_member(job, name) != GOTRACE_OK)
            return GOTRACE_ERROR;
    }
    script_record_reset(job, line);
    const json_t *trace = json_object_get(first, "trace");
    if (!trace)
        return script_fail_head(job, line);
    const char *version = json_string_value(trace);
    if (!version || strncmp(version, go, strlen(go)) != 0)
        fail_value(job, "trace", trace, "\"go 1.N\"");
    else if (script_version(job, line, version + strlen(go),
                            json_string_length(trace) - strlen(go)) == GOTRACE_OK)
        return GOTRACE_OK;
    return fail_member(job, "trace");
}

/* Recovers after an error in a record, to continue with the next one. */
static gotrace_status next_record(script_job *job)
{
    gotrace_status status = script_recover(job);
    script_event_skip(job);
    return status;
}

static gotrace_status read_document(script_job *job, json_t *document)
{
    const json_t *records;
    size_t i;
    json_t *record;
    if (read_blank(job, true) != GOTRACE_OK)
        return GOTRACE_ERROR;
    json_place place = job->place;
    if (read_header(job, document) != GOTRACE_OK)
        return GOTRACE_ERROR;
    bool meaning = script_is_meaning(job);
    const char *list = meaning ? "events" : "records", *other = meaning ? "records" : "events";
    if (json_object_get(document, other)) {
        script_head_list(job, place.line, !meaning);
        return fail_member(job, other);
    }
    records = json_object_get(document, list);
    if (!json_is_array(records)) {
        fail_value(job, list, records, "an array of events");
        return fail_member(job, list);
    }
    json_place_member(&place, list);
    json_place_enter(&place);
    json_array_foreach(records, i, record)
    {
        json_place_to_value(&place);
        if (read_record(job, place, record) != GOTRACE_OK && next_record(job) != GOTRACE_OK)
            return GOTRACE_ERROR;
        json_place_skip(&place);
    }
    return GOTRACE_OK;
}

static bool is_blank(const char *s, size_t size)
{
    while (size > 0 && (*s == ' ' || *s == '\t' || *s == '\r'))
        s++, size--;
    return size == 0;
}

static gotrace_status read_lines(script_job *job, json_t *header)
{
    char *line;
    size_t size;
    uint64_t number;
    bool cut = false;
    if (read_blank(job, false) != GOTRACE_OK || read_header(job, header) != GOTRACE_OK)
        return GOTRACE_ERROR;
    json_memory memory = {0};
    gotrace_status status;
    while ((status = script_line(job, &line, &size, &number)) == GOTRACE_EVENT) {
        /* Skip the other lines of an event that was spread over several. */
        cut = cut && *line != '{';
        if (cut || is_blank(line, size))
            continue;
        json_error_t error;
        json_t *record = json_load_bytes(&memory, line, size, JSON_FLAGS, &error);
        json_place place = {line, line + size, number, 1};
        json_place_to_value(&place);
        status = record ? read_record(job, place, record) : fail_json(job, number, true, &error);
        cut = !record && json_error_code(&error) == json_error_premature_end_of_input;
        json_memory_clear(&memory);
        if (status != GOTRACE_OK && next_record(job) != GOTRACE_OK) {
            status = GOTRACE_ERROR;
            break;
        }
    }
    json_memory_free(&memory);
    return status == GOTRACE_END ? GOTRACE_OK : status;
}

gotrace_status script_json_read(script_job *job)
{
    json_source source = {.job = job};
    json_t *first = read_first(job, &source);
    gotrace_status status = GOTRACE_ERROR;
    if (first && (json_object_get(first, "records") || json_object_get(first, "events")))
        status = read_document(job, first);
    else if (first)
        status = read_lines(job, first);
    json_memory_free(&source.memory);
    script_release(job, source.text, source.capacity, 1);
    return status;
}
