/*
 * json_read.c - event scripts as a JSON document and as JSON Lines: reading.
 *
 * Jansson parses one event at a time, so that a script can be larger than memory. A document is
 * read twice: first without the contents of its arrays, because members of the header may follow
 * the events; then the events.
 */
#include <string.h>

#include "formats/script/json_head.h"
#include "formats/script/meaning.h"

/* ---- values ---------------------------------------------------------------------------------- */

enum { JSON_FLAGS = JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES };

/* Reports jansson's error in a text that starts at `place`, after `before` bytes of another. No
 * message: memory was refused. */
static gotrace_status fail_json(script_job *job, json_place place, size_t before, bool is_line,
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
    json_place_to(&place, place.at + ((size_t)error->position - before));
    if (code == json_error_premature_end_of_input && is_line)
        script_fail(job, place.line,
                    "the line ends within an event; JSON Lines have each event on one line");
    else if (code == json_error_numeric_overflow && strncmp(text, "too big integer", 15) == 0)
        script_fail(job, place.line, "%s: write numbers above %lld as strings", text,
                    (long long)INT64_MAX);
    else if (code == json_error_invalid_utf8)
        script_fail(job, place.line, "%s: bytes that are not UTF-8 go into \"data_hex\"", text);
    else
        script_fail(job, place.line, "%s", text);
    /* Of the last character that jansson read. */
    job->error.column = place.column - 1;
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

/* Sets the position of the error to the value of that member. The search takes longer the larger
 * the event is, so after LOCATED errors the position remains that of the event. */
static gotrace_status fail_member(script_job *job, const char *name)
{
    enum { LOCATED = 100 };
    json_place place = job->place;
    bool is_system = job->error.error.class_ == GOTRACE_CLASS_SYSTEM;
    if (!is_system && job->errors < LOCATED && json_place_member(&place, name)) {
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

/* ---- events by meaning ----------------------------------------------------------------------- */

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

/* ---- records --------------------------------------------------------------------------------- */

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
    bool meaning = job->by_meaning;
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

/* ---- header ---------------------------------------------------------------------------------- */

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

/* The first object is followed by something else. */
static gotrace_status fail_after(script_job *job, uint64_t line, const char *found,
                                 const char *after)
{
    return script_fail(job, line, "\"%s\" found, nothing expected after %s",
                       script_show(found, 1).text, after);
}

/* ---- documents ------------------------------------------------------------------------------- */

static json_place place_of(const script_input *in)
{
    return (json_place){in->buffer + in->at, in->buffer + in->end, in->line, in->column, NULL};
}

/* Loads the value at the read position. `before` is what jansson reads first, or NULL; it
 * determines the message if there is no value. NULL after an error. */
static json_t *load_value(script_job *job, json_memory *memory, const char *before, size_t *size)
{
    const size_t flags = JSON_FLAGS | JSON_DECODE_ANY | JSON_DISABLE_EOF_CHECK;
    script_input *in = &job->in;
    for (;;) {
        json_error_t error;
        json_text text = {before, in->buffer + in->at, in->end - in->at, false};
        json_t *value = json_load_text(memory, &text, flags, &error);
        if (!text.ended || in->ended) {
            *size = (size_t)error.position;
            if (!value)
                fail_json(job, place_of(in), before ? strlen(before) : 0, false, &error);
            return value;
        }
        if (in->end - in->at > SCRIPT_TEXT_MAX) {
            script_fail(job, in->line, "an event of more than %zu bytes", SCRIPT_TEXT_MAX);
            job->error.column = in->column;
            return NULL;
        }
        if (script_fill(job) < 0)
            return NULL;
    }
}

/* Reads the events of an array from its first byte on; only_check: without using them. */
static gotrace_status read_events(script_job *job, json_memory *memory, bool only_check)
{
    script_input *in = &job->in;
    size_t size;
    char next;
    if (json_skip_space(job, &next) != GOTRACE_OK)
        return GOTRACE_ERROR;
    if (next == ']')
        return GOTRACE_OK;
    while (next != '\0') {
        json_t *event = load_value(job, memory, NULL, &size);
        if (!event)
            return GOTRACE_ERROR;
        if (!only_check && read_record(job, place_of(in), event) != GOTRACE_OK &&
            next_record(job) != GOTRACE_OK)
            return GOTRACE_ERROR;
        json_consume(in, size);
        if (json_skip_space(job, &next) != GOTRACE_OK)
            return GOTRACE_ERROR;
        if (next != ',')
            break;
        json_consume(in, 1);
        if (json_skip_space(job, &next) != GOTRACE_OK)
            return GOTRACE_ERROR;
    }
    if (next == ']')
        return GOTRACE_OK;
    load_value(job, memory, "[0 ", &size);
    return GOTRACE_ERROR;
}

static gotrace_status read_array(script_job *job, const json_gap *array, bool only_check)
{
    json_memory memory = {0};
    gotrace_status status = script_seek(job, array->start);
    job->in.line = array->start_line;
    job->in.column = array->start_column;
    if (status == GOTRACE_OK)
        status = read_events(job, &memory, only_check);
    json_memory_free(&memory);
    return status;
}

/* The document is malformed. If an array is so, and ends before that position of the document's
 * text, it is the reason for the error. */
static gotrace_status fail_within(script_job *job, const json_head *head, size_t position)
{
    if (job->error.error.class_ == GOTRACE_CLASS_SYSTEM)
        return GOTRACE_ERROR;
    for (size_t i = 0; i < head->gap_count; i++)
        if (head->gaps[i].at < head->text + position &&
            read_array(job, &head->gaps[i], true) != GOTRACE_OK)
            break;
    return GOTRACE_ERROR;
}

static gotrace_status read_document(script_job *job, const json_head *head, json_t *document)
{
    const script_input *in = &job->in;
    char next;
    if (json_skip_space(job, &next) != GOTRACE_OK)
        return GOTRACE_ERROR;
    if (in->at < in->end) {
        fail_after(job, in->line, &next, "the document");
        return fail_within(job, head, head->size + 1);
    }
    if (read_header(job, document) != GOTRACE_OK)
        return GOTRACE_ERROR;
    bool meaning = job->by_meaning;
    const char *list = meaning ? "events" : "records", *other = meaning ? "records" : "events";
    if (json_object_get(document, other)) {
        script_head_list(job, job->place.line, !meaning);
        return fail_member(job, other);
    }
    const json_t *records = json_object_get(document, list);
    if (!json_is_array(records)) {
        fail_value(job, list, records, "an array of events");
        return fail_member(job, list);
    }
    uint64_t last_line = job->in.line;
    gotrace_status status = read_array(job, json_head_gap(head, document, records), false);
    if (status == GOTRACE_OK)
        job->in.line = last_line;
    return status;
}

/* ---- JSON Lines ------------------------------------------------------------------------------ */

/* The number of blanks at the start of a line. */
static size_t count_blanks(const char *line, size_t size)
{
    size_t count = 0;
    while (count < size && json_is_space(line[count]))
        count++;
    return count;
}

static gotrace_status read_lines(script_job *job, json_t *header)
{
    char *line;
    size_t size;
    uint64_t number;
    bool cut = false;
    /* The rest of the line of the header. */
    gotrace_status status = script_line(job, &line, &size, &number);
    size_t blanks = status == GOTRACE_EVENT ? count_blanks(line, size) : 0;
    if (status == GOTRACE_EVENT && blanks < size)
        status = fail_after(job, number, line + blanks, "the first object of JSON Lines");
    if (status < 0 || read_header(job, header) != GOTRACE_OK)
        return GOTRACE_ERROR;
    json_memory memory = {0};
    while ((status = script_line(job, &line, &size, &number)) == GOTRACE_EVENT) {
        /* Skip the other lines of an event that was spread over several. */
        cut = cut && *line != '{';
        if (cut || count_blanks(line, size) == size)
            continue;
        json_error_t error;
        json_text text = {NULL, line, size, false};
        json_place place = {line, line + size, number, 1, NULL};
        json_t *record = json_load_text(&memory, &text, JSON_FLAGS, &error);
        if (record) {
            json_place_to_value(&place);
            status = read_record(job, place, record);
        } else {
            status = fail_json(job, place, 0, true, &error);
        }
        cut = !record && json_error_code(&error) == json_error_premature_end_of_input;
        if (status != GOTRACE_OK && next_record(job) != GOTRACE_OK) {
            status = GOTRACE_ERROR;
            break;
        }
    }
    json_memory_free(&memory);
    return status == GOTRACE_END ? GOTRACE_OK : status;
}

/* ---- entry point ----------------------------------------------------------------------------- */

/* Reads the first object, a document or the first line of JSON Lines. NULL after an error. */
static json_t *read_first(script_job *job, json_head *head)
{
    json_error_t error;
    char next;
    if (json_skip_space(job, &next) != GOTRACE_OK || json_head_read(job, head) != GOTRACE_OK)
        return NULL;
    job->place = head->place;
    json_text text = {NULL, head->text, head->size, false};
    json_t *first = json_load_text(&head->memory, &text, JSON_FLAGS, &error);
    if (first)
        return first;
    if (head->too_large && text.ended)
        script_fail(job, head->place.line, "a header of more than %d bytes", JSON_HEAD_MAX);
    else
        fail_json(job, head->place, 0, false, &error);
    fail_within(job, head, (size_t)error.position + text.ended);
    return NULL;
}

gotrace_status script_json_read(script_job *job)
{
    json_head head = {.size = 0};
    json_t *first = read_first(job, &head);
    gotrace_status status = GOTRACE_ERROR;
    if (first && (json_object_get(first, "records") || json_object_get(first, "events")))
        status = read_document(job, &head, first);
    else if (first)
        status = read_lines(job, first);
    json_head_free(job, &head);
    return status;
}
