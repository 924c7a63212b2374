/*
 * script_json.c - event scripts as a JSON document and as JSON Lines.
 *
 *   {"trace":"go 1.19","records":[
 *   {"event":"Batch","p":0,"ticks":4401266346462},
 *   {"event":"String","id":1,"data":"main.main"},
 *   {"event":"Stack","id":1,"frames":[[4943680,1,2,12]]}]}
 *
 * JSON Lines are the same without "records" and its brackets. What is read is taken character by
 * character, without a tree of values: a script can be longer than memory, and all 64 bits of a
 * number count. Members may come in any order.
 */
#include <string.h>

#include "script.h"
#include "utf8.h"

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

/* Most readers of JSON have no whole numbers above 2^63 - 1: these are written as strings. */
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

static void write_data(out *o, const char *data, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    if (utf8_valid_prefix(data, size) == size) {
        out_str(o, ",\"data\":");
        out_json_string(o, data, size);
        return;
    }
    out_str(o, ",\"data_hex\":\"");
    for (size_t i = 0; i < size; i++) {
        out_char(o, digits[(unsigned char)data[i] >> 4]);
        out_char(o, digits[(unsigned char)data[i] & 15]);
    }
    out_char(o, '"');
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
        /* How many frames there are, the frames say. */
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
        write_data(o, record->data, record->data_size);
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

static const char *const json_extensions[] = {".json", NULL};
static const char *const jsonl_extensions[] = {".jsonl", ".ndjson", NULL};

const script_format script_json = {
    .name = "json",
    .extensions = json_extensions,
    .summary = "one JSON document",
    .begin = json_begin,
    .record = json_record,
    .end = json_end,
};

const script_format script_jsonl = {
    .name = "jsonl",
    .extensions = jsonl_extensions,
    .summary = "JSON Lines: one object an event",
    .begin = jsonl_begin,
    .record = jsonl_record,
    .end = jsonl_end,
};

/* ---- reading: characters ------------------------------------------------------------------- */

/* A short string: a name or a number. A longer one is none of those that are known. */
typedef struct json_text {
    char text[40];
    size_t size;
} json_text;

/* Make at least one character available: GOTRACE_END if there is none. */
static inline gotrace_status want_char(script_job *job)
{
    return job->in.at < job->in.end ? GOTRACE_OK : script_fill(job);
}

/* Pass over white space; GOTRACE_END if nothing follows. */
static gotrace_status skip_space(script_job *job)
{
    script_input *in = &job->in;
    gotrace_status status;
    while ((status = want_char(job)) == GOTRACE_OK) {
        char c = in->buffer[in->at];
        if (c == '\n')
            in->line++;
        else if (c != ' ' && c != '\t' && c != '\r')
            break;
        in->at++;
    }
    return status;
}

static gotrace_status fail_found(script_job *job, const char *expected)
{
    script_input *in = &job->in;
    if (in->at == in->end)
        return script_fail(job, in->line, "the script ends where %s was expected", expected);
    size_t size = in->end - in->at;
    const char *end = memchr(in->buffer + in->at, '\n', size);
    if (end)
        size = (size_t)(end - (in->buffer + in->at));
    return script_fail(job, in->line, "\"%s\" found, %s expected",
                       script_show(in->buffer + in->at, size).text, expected);
}

/* The next character but white space, which stays; '\0' at the end. */
static gotrace_status peek(script_job *job, char *c)
{
    gotrace_status status = skip_space(job);
    *c = status == GOTRACE_OK ? job->in.buffer[job->in.at] : '\0';
    return status == GOTRACE_END ? GOTRACE_OK : status;
}

static gotrace_status expect(script_job *job, char c, const char *what)
{
    char found;
    gotrace_status status = peek(job, &found);
    if (status != GOTRACE_OK)
        return status;
    if (found != c)
        return fail_found(job, what);
    job->in.at++;
    return GOTRACE_OK;
}

/* After a value: GOTRACE_EVENT where a comma says that another follows, GOTRACE_OK at the end. */
static gotrace_status next_or(script_job *job, char close, const char *what)
{
    char c;
    gotrace_status status = peek(job, &c);
    if (status != GOTRACE_OK)
        return status;
    if (c != ',' && c != close)
        return fail_found(job, what);
    job->in.at++;
    return c == ',' ? GOTRACE_EVENT : GOTRACE_OK;
}

/* ---- reading: strings and numbers ---------------------------------------------------------- */

/* Into *text, or where that is NULL into the record's data. */
static gotrace_status put_bytes(script_job *job, json_text *text, const char *bytes, size_t size)
{
    if (!text)
        return script_record_bytes(job, bytes, size);
    size_t room = sizeof text->text - text->size;
    if (size > room)
        size = room;
    memcpy(text->text + text->size, bytes, size);
    text->size += size;
    return GOTRACE_OK;
}

static gotrace_status read_hex4(script_job *job, uint32_t *value)
{
    *value = 0;
    for (int i = 0; i < 4; i++) {
        gotrace_status status = want_char(job);
        if (status < 0)
            return status;
        unsigned c = status == GOTRACE_OK ? (unsigned char)job->in.buffer[job->in.at] : 0;
        unsigned digit = c - '0';
        if (digit > 9)
            digit = (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : 16;
        if (digit > 15)
            return fail_found(job, "four hexadecimal digits after \\u");
        *value = *value << 4 | digit;
        job->in.at++;
    }
    return GOTRACE_OK;
}

/* The second half of a pair of surrogates. */
static gotrace_status read_low_surrogate(script_job *job, uint32_t *rune)
{
    uint32_t low = 0;
    for (const char *c = "\\u"; *c; c++) {
        gotrace_status status = want_char(job);
        if (status < 0)
            return status;
        if (status == GOTRACE_END || job->in.buffer[job->in.at] != *c)
            return fail_found(job, "the second half of a surrogate pair");
        job->in.at++;
    }
    gotrace_status status = read_hex4(job, &low);
    if (status == GOTRACE_OK && (low < 0xdc00 || low > 0xdfff))
        return fail_found(job, "the second half of a surrogate pair");
    *rune = 0x10000 + ((*rune - 0xd800) << 10) + (low - 0xdc00);
    return status;
}

static gotrace_status read_unicode(script_job *job, json_text *text)
{
    uint32_t rune;
    gotrace_status status = read_hex4(job, &rune);
    if (status == GOTRACE_OK && rune >= 0xdc00 && rune <= 0xdfff)
        return fail_found(job, "the first half of a surrogate pair before this");
    if (status == GOTRACE_OK && rune >= 0xd800 && rune <= 0xdbff)
        status = read_low_surrogate(job, &rune);
    if (status != GOTRACE_OK)
        return status;
    char utf8[4];
    return put_bytes(job, text, utf8, utf8_encode(utf8, rune));
}

/* What follows a backslash. */
static gotrace_status read_escape(script_job *job, json_text *text)
{
    static const char letters[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
    gotrace_status status = want_char(job);
    if (status < 0)
        return status;
    char c = status == GOTRACE_OK ? job->in.buffer[job->in.at] : '\0';
    const char *letter = c ? strchr(letters, c) : NULL;
    if (!letter && c != 'u')
        return fail_found(job, "an escape of a JSON string");
    job->in.at++;
    return letter ? put_bytes(job, text, &bytes[letter - letters], 1) : read_unicode(job, text);
}

static gotrace_status read_string(script_job *job, json_text *text, const char *what)
{
    script_input *in = &job->in;
    if (expect(job, '"', what) != GOTRACE_OK)
        return GOTRACE_ERROR;
    if (text)
        text->size = 0;
    for (;;) {
        gotrace_status status = want_char(job);
        if (status < 0)
            return status;
        size_t start = in->at;
        while (in->at < in->end && (unsigned char)in->buffer[in->at] >= ' ' &&
               in->buffer[in->at] != '"' && in->buffer[in->at] != '\\')
            in->at++;
        status = put_bytes(job, text, in->buffer + start, in->at - start);
        if (status != GOTRACE_OK)
            return status;
        if (in->at == in->end && !in->ended)
            continue;
        char c = in->at < in->end ? in->buffer[in->at] : '\0';
        if (c != '"' && c != '\\')
            return fail_found(job, "the end of a string");
        in->at++;
        if (c == '"')
            return GOTRACE_OK;
        if (read_escape(job, text) != GOTRACE_OK)
            return GOTRACE_ERROR;
    }
}

static bool is_number_char(char c)
{
    return (c >= '0' && c <= '9') || (c | 32) == 'e' || c == '.' || c == '-' || c == '+';
}

/* A whole number, as it is or in a string; `name` is what it is for. */
static gotrace_status read_number(script_job *job, const char *name, size_t name_size,
                                  uint64_t *value)
{
    script_input *in = &job->in;
    json_text text = {.size = 0};
    char c;
    gotrace_status status = peek(job, &c);
    if (status != GOTRACE_OK)
        return status;
    if (c == '"') {
        status = read_string(job, &text, "a number");
    } else {
        while ((status = want_char(job)) == GOTRACE_OK && is_number_char(in->buffer[in->at])) {
            status = put_bytes(job, &text, in->buffer + in->at, 1);
            in->at++;
        }
        if (text.size == 0 && status >= 0)
            return fail_found(job, "a whole number from 0 to 18446744073709551615");
    }
    if (status < 0)
        return status;
    /* JSON has neither 007 nor 0x7; of what was too long only the start was kept. */
    bool odd = (c != '"' && text.size > 1 && text.text[0] == '0') || text.size == sizeof text.text;
    if (!odd && script_number(job, in->line, text.text, text.size, value) == GOTRACE_OK)
        return GOTRACE_OK;
    return script_fail(job, in->line,
                       "%s: %s found, a whole number from 0 to 18446744073709551615 expected",
                       script_show(name, name_size).text, script_show(text.text, text.size).text);
}

/* ---- reading: a record --------------------------------------------------------------------- */

/* The members of an object that are arguments: whose, is known when all were read. */
typedef struct json_members {
    json_text name[GOTRACE_MAX_ARGS + 1];
    uint64_t value[GOTRACE_MAX_ARGS + 1];
    size_t count;
    json_text event;
    bool has_event, has_pad;
} json_members;

static bool is_text(const json_text *text, const char *s)
{
    return text->size == strlen(s) && memcmp(text->text, s, text->size) == 0;
}

/* Arrays of `width` numbers each, in an array: each number goes to `take`. */
static gotrace_status read_rows(script_job *job, const char *name, size_t width,
                                gotrace_status (*take)(script_job *job, const uint64_t *row))
{
    uint64_t row[4];
    char c;
    if (expect(job, '[', "an array of arrays") != GOTRACE_OK || peek(job, &c) != GOTRACE_OK)
        return GOTRACE_ERROR;
    if (c == ']') {
        job->in.at++;
        return GOTRACE_OK;
    }
    gotrace_status more;
    do {
        if (expect(job, '[', "an array of numbers") != GOTRACE_OK)
            return GOTRACE_ERROR;
        for (size_t i = 0; i < width; i++) {
            if (read_number(job, name, strlen(name), &row[i]) != GOTRACE_OK)
                return GOTRACE_ERROR;
            if (i + 1 < width && expect(job, ',', "a comma and a further number") != GOTRACE_OK)
                return GOTRACE_ERROR;
        }
        if (expect(job, ']', "the end of an array of numbers") != GOTRACE_OK ||
            take(job, row) != GOTRACE_OK)
            return GOTRACE_ERROR;
        more = next_or(job, ']', "a comma, or the end of the array");
    } while (more == GOTRACE_EVENT);
    return more;
}

static gotrace_status take_frame(script_job *job, const uint64_t *row)
{
    for (size_t i = 0; i < job->frame_values; i++)
        if (script_record_value(job, row[i]) != GOTRACE_OK)
            return GOTRACE_ERROR;
    return GOTRACE_OK;
}

static gotrace_status take_pad(script_job *job, const uint64_t *row)
{
    return script_record_pad(job, row[0], row[1]);
}

static gotrace_status fail_twice(script_job *job, const char *name)
{
    return script_fail(job, job->in.line, "a record has \"%s\" twice", name);
}

/* Text as it stands, or in hexadecimal digits, which are turned into bytes in place. */
static gotrace_status read_data(script_job *job, bool hex)
{
    script_record *record = &job->record;
    if (record->has_data)
        return fail_twice(job, "data");
    record->has_data = true;
    uint64_t string_limit = job->string_limit;
    job->string_limit = hex ? 2 * string_limit : string_limit;
    gotrace_status status = read_string(job, NULL, "a string");
    job->string_limit = string_limit;
    if (status != GOTRACE_OK)
        return status;
    size_t size = record->data_size;
    if (!hex) {
        if (utf8_valid_prefix(record->data, size) == size)
            return GOTRACE_OK;
        return script_fail(job, job->in.line, "\"data\" is not UTF-8; bytes go into \"data_hex\"");
    }
    for (size_t i = 0; i < size; i++) {
        unsigned c = (unsigned char)record->data[i], digit = c - '0';
        if (digit > 9)
            digit = (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : 16;
        if (digit > 15 || size % 2 != 0)
            return script_fail(job, job->in.line,
                               "\"data_hex\" is not pairs of hexadecimal digits");
        char *byte = &record->data[i / 2];
        *byte = (char)(i % 2 == 0 ? digit << 4 : (unsigned char)*byte | digit);
    }
    record->data_size = size / 2;
    return GOTRACE_OK;
}

static gotrace_status read_member(script_job *job, const json_text *name, json_members *members)
{
    script_record *record = &job->record;
    if (is_text(name, "event")) {
        if (members->has_event)
            return fail_twice(job, "event");
        members->has_event = true;
        return read_string(job, &members->event, "an event's name");
    }
    if (is_text(name, "frames")) {
        if (record->has_frames)
            return fail_twice(job, "frames");
        record->has_frames = true;
        return read_rows(job, "frames", job->frame_values, take_frame);
    }
    if (is_text(name, "pad")) {
        if (members->has_pad)
            return fail_twice(job, "pad");
        members->has_pad = true;
        return read_rows(job, "pad", 2, take_pad);
    }
    if (is_text(name, "form")) {
        if (record->has_form)
            return fail_twice(job, "form");
        record->has_form = true;
        return read_number(job, "form", 4, &record->form);
    }
    if (is_text(name, "data") || is_text(name, "data_hex"))
        return read_data(job, name->size > 4);
    if (members->count > GOTRACE_MAX_ARGS)
        return script_fail(job, job->in.line, "no event has more than %d arguments",
                           GOTRACE_MAX_ARGS);
    members->name[members->count] = *name;
    return read_number(job, name->text, name->size, &members->value[members->count++]);
}

/* One object. */
static gotrace_status read_record(script_job *job)
{
    json_members members = {.count = 0};
    char c;
    if (expect(job, '{', "an event, {\"event\":...}") != GOTRACE_OK)
        return GOTRACE_ERROR;
    script_record_reset(job, job->in.line);
    if (peek(job, &c) != GOTRACE_OK)
        return GOTRACE_ERROR;
    gotrace_status more = GOTRACE_EVENT;
    if (c == '}') {
        job->in.at++;
        more = GOTRACE_OK;
    }
    while (more == GOTRACE_EVENT) {
        json_text name;
        if (read_string(job, &name, "a member's name in quotes") != GOTRACE_OK ||
            expect(job, ':', "a colon") != GOTRACE_OK ||
            read_member(job, &name, &members) != GOTRACE_OK)
            return GOTRACE_ERROR;
        more = next_or(job, '}', "a comma, or the end of the event");
    }
    if (more != GOTRACE_OK)
        return more;
    if (!members.has_event)
        return script_fail(job, job->record.line, "an object without \"event\"");
    if (script_record_name(job, members.event.text, members.event.size) != GOTRACE_OK)
        return GOTRACE_ERROR;
    for (size_t i = 0; i < members.count; i++)
        if (script_record_arg(job, job->record.line, members.name[i].text, members.name[i].size,
                              members.value[i]) != GOTRACE_OK)
            return GOTRACE_ERROR;
    return script_record_end(job);
}

/* ---- reading: the whole -------------------------------------------------------------------- */

static gotrace_status read_records(script_job *job)
{
    char c;
    if (expect(job, '[', "an array of events") != GOTRACE_OK || peek(job, &c) != GOTRACE_OK)
        return GOTRACE_ERROR;
    if (c == ']') {
        job->in.at++;
        return GOTRACE_OK;
    }
    gotrace_status more;
    do {
        if (read_record(job) != GOTRACE_OK)
            return GOTRACE_ERROR;
        more = next_or(job, ']', "a comma, or the end of the events");
    } while (more == GOTRACE_EVENT);
    return more;
}

/* "go 1.N" */
static gotrace_status read_version(script_job *job)
{
    static const char go[] = "go 1.";
    json_text text;
    uint64_t line = job->in.line;
    if (read_string(job, &text, "\"go 1.N\"") != GOTRACE_OK)
        return GOTRACE_ERROR;
    if (text.size <= strlen(go) || memcmp(text.text, go, strlen(go)) != 0)
        return script_fail(job, line, "\"trace\" is \"%s\", \"go 1.N\" expected",
                           script_show(text.text, text.size).text);
    return script_version(job, line, text.text + strlen(go), text.size - strlen(go));
}

/* Events that come before the version is known: kept as they are, up to the bracket that closes
 * them. Whether they are sound JSON is seen when they are read. */
static gotrace_status keep_records(script_job *job, script_input *kept)
{
    script_input *in = &job->in;
    uint64_t depth = 0;
    bool in_string = false, escaped = false;
    if (skip_space(job) < 0)
        return GOTRACE_ERROR;
    *kept = (script_input){.line = in->line, .ended = true};
    do {
        gotrace_status status = want_char(job);
        if (status == GOTRACE_END)
            return fail_found(job, "the end of the events");
        void *buffer = kept->buffer;
        if (status == GOTRACE_OK)
            status = script_grow(job, &buffer, &kept->capacity, kept->end + 1, 1);
        kept->buffer = buffer;
        if (status != GOTRACE_OK)
            return status;
        char c = in->buffer[in->at++];
        kept->buffer[kept->end++] = c;
        in->line += c == '\n';
        if (in_string) {
            in_string = escaped || c != '"';
            escaped = !escaped && c == '\\';
        } else if (c == '"') {
            in_string = true;
        } else if (c == '[' || c == '{') {
            depth++;
        } else if ((c == ']' || c == '}') && depth > 0) {
            depth--;
        }
    } while (depth > 0);
    return GOTRACE_OK;
}

static gotrace_status read_kept(script_job *job, script_input *kept)
{
    script_input rest = job->in;
    job->in = *kept;
    gotrace_status status = read_records(job);
    *kept = job->in;
    job->in = rest;
    return status;
}

typedef struct json_document {
    script_input kept; /* events that came before the version */
    bool has_records;
} json_document;

static gotrace_status read_top_member(script_job *job, json_document *document)
{
    json_text name;
    if (read_string(job, &name, "\"trace\" or \"records\"") != GOTRACE_OK ||
        expect(job, ':', "a colon") != GOTRACE_OK)
        return GOTRACE_ERROR;
    if (is_text(&name, "trace"))
        return read_version(job);
    if (!is_text(&name, "records"))
        return script_fail(job, job->in.line,
                           "\"%s\" found, \"trace\" or \"records\" expected: a script starts with "
                           "{\"trace\":\"go 1.N\"",
                           script_show(name.text, name.size).text);
    if (document->has_records)
        return script_fail(job, job->in.line, "the script has \"records\" twice");
    document->has_records = true;
    return job->encoder ? read_records(job) : keep_records(job, &document->kept);
}

static gotrace_status read_document(script_job *job, json_document *document)
{
    if (expect(job, '{', "a JSON object") != GOTRACE_OK)
        return GOTRACE_ERROR;
    gotrace_status more;
    do {
        if (read_top_member(job, document) != GOTRACE_OK)
            return GOTRACE_ERROR;
        more = next_or(job, '}', "a comma, or the end of the object");
    } while (more == GOTRACE_EVENT);
    if (more != GOTRACE_OK)
        return more;
    if (!job->encoder)
        return script_fail(job, job->in.line, "the script lacks \"trace\":\"go 1.N\"");
    if (document->kept.buffer && read_kept(job, &document->kept) != GOTRACE_OK)
        return GOTRACE_ERROR;
    gotrace_status status;
    while ((status = skip_space(job)) == GOTRACE_OK) {
        if (document->has_records)
            return fail_found(job, "nothing after the events");
        if (read_record(job) != GOTRACE_OK)
            return GOTRACE_ERROR;
    }
    return status == GOTRACE_END ? GOTRACE_OK : status;
}

gotrace_status script_json_read(script_job *job)
{
    json_document document = {.has_records = false};
    gotrace_status status = read_document(job, &document);
    if (document.kept.buffer)
        job->allocator.resize(job->allocator.ctx, document.kept.buffer, document.kept.capacity, 0);
    return status;
}
