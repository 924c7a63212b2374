/*
 * text.c - event scripts as text, in the style of Go's raw text format:
 *
 *   Trace Go1.19
 *   Batch p=0 ticks=4401266346462
 *   ProcStart dt=7 thread=5
 *   String id=1
 *           data="main.main"
 *   Stack id=1 nframes=1
 *           pc=4943680 func=1 file=2 line=12
 *
 * From 1.22 on it is Go's raw text, as `go tool trace -d=wire` prints it.
 */
#include <errno.h>
#include <string.h>

#include "formats/script/meaning.h"
#include "formats/common/utf8.h"

/* ---- writing ------------------------------------------------------------------------------- */

static const char *const frame_names_all[] = {"pc=", " func=", " file=", " line="};

static void text_begin(out *o, int version)
{
    out_str(o, "Trace Go1.");
    out_i64(o, version);
    out_char(o, '\n');
}

static void write_deviations(out *o, int version, const gotrace_record *record)
{
    if (script_odd_form(record, version)) {
        out_str(o, " form=");
        out_u64(o, record->form);
    }
    const char *before = " pad=";
    for (size_t n = 0; script_odd_width(record, version, &n); n++) {
        out_str(o, before);
        out_u64(o, n);
        out_char(o, ':');
        out_u64(o, record->widths[n]);
        before = ",";
    }
}

static void text_record(out *o, int version, const gotrace_record *record, bool first)
{
    (void)first;
    const gotrace_event_spec *spec = record->spec;
    size_t n = 0;
    out_str(o, spec->name);
    for (size_t i = 0; i < spec->arg_count; i++) {
        if (version < spec->args[i].since || version > spec->args[i].until)
            continue;
        out_char(o, ' ');
        out_str(o, spec->args[i].name);
        out_char(o, '=');
        out_u64(o, record->args[n++]);
    }
    write_deviations(o, version, record);
    size_t per_frame = gotrace_frame_values(version);
    for (size_t i = 0; n < record->arg_count; n++, i = (i + 1) % per_frame) {
        if (i == 0)
            out_bytes(o, "\n\t", 2);
        out_str(o, frame_names_all[i]);
        out_u64(o, record->args[n]);
    }
    /* Go omits empty data. */
    if (spec->flags & GOTRACE_SPEC_DATA && (version < GOTRACE_FIRST_V2 || record->data_size > 0)) {
        out_str(o, "\n\tdata=");
        out_go_quoted(o, record->data, record->data_size);
    }
    out_char(o, '\n');
}

static void write_number(out *o, const script_value *value)
{
    if (value->kind == SCRIPT_SIGNED)
        out_i64(o, (int64_t)value->number);
    else
        out_u64(o, value->number);
}

static void write_stack(out *o, const script_value *value, script_frame_text *text)
{
    for (size_t i = 0; i < value->frame_count; i++) {
        if (!script_frame_write(text, &value->frames[i]))
            out_fail(o, ENOMEM);
        out_bytes(o, "\n\t", 2);
        out_str(o, value->name);
        out_char(o, '=');
        out_go_quoted(o, text->bytes, text->size);
    }
}

static void write_values(out *o, const script_event *event)
{
    for (size_t i = 0; i < event->count; i++) {
        const script_value *value = &event->values[i];
        if (value->kind == SCRIPT_STACK) {
            write_stack(o, value, event->text);
            continue;
        }
        out_char(o, ' ');
        out_str(o, value->name);
        out_char(o, '=');
        if (value->kind == SCRIPT_STRING)
            out_go_quoted(o, value->bytes, value->size);
        else if (value->kind == SCRIPT_WORD)
            out_str(o, value->bytes);
        else
            write_number(o, value);
    }
    out_char(o, '\n');
}

static void text_head(out *o, int version, const script_event *head)
{
    out_str(o, "Trace Go1.");
    out_i64(o, version);
    write_values(o, head);
}

static void text_event(out *o, const script_event *event, bool first)
{
    (void)first;
    out_str(o, event->name);
    write_values(o, event);
}

static void text_end(out *o)
{
    (void)o;
}

static const char *const text_extensions[] = {".txt", ".script", NULL};

const script_format script_text = {
    .name = "text",
    .extensions = text_extensions,
    .summary = "one event per line, in the style of Go's raw text",
    .begin = text_begin,
    .record = text_record,
    .end = text_end,
    .head = text_head,
    .event = text_event,
};

/* ---- reading ------------------------------------------------------------------------------- */

/* The unread part of a line. */
typedef struct text_line {
    const char *at, *end;
    uint64_t number;
} text_line;

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\v' || c == '\f';
}

/* Skips blanks and a comment; false at the end of the line. */
static bool more_in(text_line *line)
{
    while (line->at < line->end && is_space(*line->at))
        line->at++;
    if (line->at < line->end && *line->at == '#')
        line->at = line->end;
    return line->at < line->end;
}

/* The end of the current token. */
static const char *token_end(const text_line *line)
{
    const char *p = line->at;
    while (p < line->end && !is_space(*p) && *p != '#')
        p++;
    return p;
}

/* The value of exactly `count` digits in that base; false if there are fewer. */
static bool escape_digits(text_line *line, unsigned base, unsigned count, uint32_t *value)
{
    if ((size_t)(line->end - line->at) < count)
        return false;
    *value = 0;
    for (; count > 0; count--) {
        unsigned digit = script_digit(*line->at++);
        if (digit >= base)
            return false;
        *value = *value * base + digit;
    }
    return true;
}

/* The part of an escape after the backslash. \x and \nnn are bytes, \u and \U runes. */
static gotrace_status read_escape(script_job *job, text_line *line)
{
    static const char letters[] = "abfnrtv\\\"'", meant[] = "\a\b\f\n\r\t\v\\\"'";
    const char *start = line->at;
    char c = line->at < line->end ? *line->at++ : '\0';
    const char *letter = c ? strchr(letters, c) : NULL;
    uint32_t value = 0;
    bool ok = true, is_rune = false;
    if (letter) {
        value = (unsigned char)meant[letter - letters];
    } else if (c == 'x') {
        ok = escape_digits(line, 16, 2, &value);
    } else if (c >= '0' && c <= '7') {
        line->at--;
        ok = escape_digits(line, 8, 3, &value) && value < 256;
    } else {
        is_rune = true;
        ok = (c == 'u' && escape_digits(line, 16, 4, &value)) ||
             (c == 'U' && escape_digits(line, 16, 8, &value));
        ok = ok && value < 0x110000 && (value < 0xd800 || value > 0xdfff);
    }
    if (!ok)
        return script_fail(job, line->number,
                           "\"\\%s\" is not an escape of a Go string; a backslash itself is \\\\",
                           script_show(start, start < line->end).text);
    char bytes[4];
    size_t size = 1;
    if (is_rune)
        size = utf8_encode(bytes, value);
    else
        bytes[0] = (char)value;
    return script_record_bytes(job, line->number, bytes, size);
}

/* A Go string in double quotes, appended to the record's data. */
static gotrace_status read_quoted(script_job *job, text_line *line)
{
    if (line->at == line->end || *line->at != '"')
        return script_fail(job, line->number, "\"%s\" found, a string in double quotes expected",
                           script_show(line->at, (size_t)(line->end - line->at)).text);
    line->at++;
    while (line->at < line->end && *line->at != '"') {
        const char *plain = line->at;
        while (line->at < line->end && *line->at != '"' && *line->at != '\\')
            line->at++;
        gotrace_status status = script_record_bytes(job, line->number, plain,
                                                    (size_t)(line->at - plain));
        if (status == GOTRACE_OK && line->at < line->end && *line->at == '\\') {
            line->at++;
            status = read_escape(job, line);
        }
        if (status != GOTRACE_OK)
            return status;
    }
    if (line->at == line->end)
        return script_fail(job, line->number,
                           "a string without its closing quote: it has to end on its line (a line "
                           "feed in it is \\n)");
    line->at++;
    return GOTRACE_OK;
}

/* "I:W,I:W": varint I of the record takes W bytes. */
static gotrace_status read_pads(script_job *job, uint64_t line, const char *s, const char *end)
{
    while (s <= end) {
        const char *stop = memchr(s, ',', (size_t)(end - s));
        if (!stop)
            stop = end;
        const char *colon = memchr(s, ':', (size_t)(stop - s));
        uint64_t pad[2];
        if (!colon)
            return script_fail(job, line, "\"%s\" found, I:W expected (varint I takes W bytes)",
                               script_show(s, (size_t)(stop - s)).text);
        if (script_number(job, line, s, (size_t)(colon - s), &pad[0]) != GOTRACE_OK ||
            script_number(job, line, colon + 1, (size_t)(stop - colon - 1), &pad[1]) !=
                GOTRACE_OK ||
            script_record_pad(job, line, pad) != GOTRACE_OK)
            return GOTRACE_ERROR;
        s = stop + 1;
    }
    return GOTRACE_OK;
}

/* Recovers after an error in an attribute, to continue with the next one; if the attribute has a
 * quote, with the next line, because the end of the string is unknown. */
static gotrace_status next_attribute(script_job *job, text_line *line, const char *start)
{
    line->at = start;
    const char *end = token_end(line);
    line->at = memchr(start, '"', (size_t)(end - start)) ? line->end : end;
    return script_recover(job);
}

/* An attribute "name=value" on the event's own line. */
static gotrace_status read_attribute(script_job *job, text_line *line)
{
    script_record *record = &job->record;
    const char *name = line->at, *end = token_end(line);
    const char *equals = memchr(name, '=', (size_t)(end - name));
    if (!equals)
        return script_fail(job, line->number, "%s: \"%s\" found, an argument name=value expected",
                           record->shape->spec->name, script_show(name, (size_t)(end - name)).text);
    size_t size = (size_t)(equals - name), value_size = (size_t)(end - equals - 1);
    line->at = equals + 1;
    if (size == 4 && memcmp(name, "data", 4) == 0) {
        if (record->has_data)
            return script_fail(job, line->number, "a record has data twice");
        record->has_data = true;
        return read_quoted(job, line);
    }
    line->at = end;
    if (size == 3 && memcmp(name, "pad", 3) == 0)
        return read_pads(job, line->number, equals + 1, end);
    uint64_t *slot = &record->form;
    if (size == 4 && memcmp(name, "form", 4) == 0) {
        if (record->has_form)
            return script_fail(job, line->number, "a record has its form twice");
        record->has_form = true;
    } else if (script_record_arg(job, line->number, name, size, &slot) != GOTRACE_OK) {
        return GOTRACE_ERROR;
    }
    if (script_number(job, line->number, equals + 1, value_size, slot) == GOTRACE_OK)
        return GOTRACE_OK;
    script_shown found = script_show(equals + 1, value_size);
    script_shown arg = script_show(name, size);
    return script_fail(job, line->number,
                       "%s: %s=%s found, a whole number from 0 to 18446744073709551615 expected",
                       record->shape->spec->name, arg.text, found.text);
}

static gotrace_status read_attributes(script_job *job, text_line *line)
{
    while (more_in(line)) {
        const char *start = line->at;
        if (read_attribute(job, line) != GOTRACE_OK &&
            next_attribute(job, line, start) != GOTRACE_OK)
            return GOTRACE_ERROR;
    }
    return GOTRACE_OK;
}

/* The value after "name=" of an event by meaning, or of the header. */
static gotrace_status read_token(script_job *job, text_line *line, script_token *token)
{
    const char *end = token_end(line);
    *token = (script_token){line->at, (size_t)(end - line->at), false};
    if (line->at == line->end || *line->at != '"') {
        line->at = end;
        return GOTRACE_OK;
    }
    size_t before = job->record.data_size;
    if (read_quoted(job, line) != GOTRACE_OK)
        return GOTRACE_ERROR;
    size_t size = job->record.data_size - before;
    *token = (script_token){size > 0 ? job->record.data + before : "", size, true};
    return GOTRACE_OK;
}

/* The rest of the line: passes each attribute to take. */
static gotrace_status read_values(script_job *job, text_line *line,
                                  gotrace_status (*take)(script_job *job, uint64_t line,
                                                         const char *name, size_t size,
                                                         script_token value))
{
    while (more_in(line)) {
        script_token token;
        const char *name = line->at, *end = token_end(line);
        const char *equals = memchr(name, '=', (size_t)(end - name));
        gotrace_status status = GOTRACE_OK;
        line->at = equals ? equals + 1 : end;
        if (!equals || equals == name) {
            /* A second word without a name is part of the same mistake: "t = 5", or a bare
             * string. */
            if (!job->faulty)
                status = script_fail(job, line->number,
                                     "\"%s\" found, %sname=value without spaces expected",
                                     script_show(name, (size_t)(end - name)).text,
                                     job->version == 0 ? "\"Trace Go1.N\" and " : "");
        } else if (read_token(job, line, &token) != GOTRACE_OK) {
            line->at = line->end;
            status = GOTRACE_ERROR;
        } else {
            status = take(job, line->number, name, (size_t)(equals - name), token);
        }
        if (status != GOTRACE_OK && script_recover(job) != GOTRACE_OK)
            return GOTRACE_ERROR;
    }
    return GOTRACE_OK;
}

/* A continuation line of a Stack: the values of a frame, in any order. */
static gotrace_status read_frame(script_job *job, text_line *line)
{
    static const char *const names[] = {"pc", "func", "file", "line"};
    uint64_t values[4];
    unsigned seen = 0, all = (1u << job->frame_values) - 1;
    while (more_in(line)) {
        const char *name = line->at, *end = token_end(line);
        const char *equals = memchr(name, '=', (size_t)(end - name));
        size_t size = equals ? (size_t)(equals - name) : 0, i = 0;
        while (i < job->frame_values &&
               (strlen(names[i]) != size || memcmp(names[i], name, size) != 0))
            i++;
        if (i == job->frame_values || seen & 1u << i)
            return script_fail(job, line->number, "\"%s\" found, %s of a frame expected",
                               script_show(name, (size_t)(end - name)).text,
                               job->frame_values == 1 ? "pc" : "pc, func, file and line");
        if (script_number(job, line->number, equals + 1, (size_t)(end - equals - 1), &values[i]) !=
            GOTRACE_OK)
            return GOTRACE_ERROR;
        seen |= 1u << i;
        line->at = end;
    }
    if (seen != all)
        return script_fail(job, line->number, "a frame lacks one of %s",
                           job->frame_values == 1 ? "pc" : "pc, func, file and line");
    job->record.has_frames = true;
    return script_record_frame(job, line->number, values);
}

/* Whether the line continues the record before it: it starts with an attribute. */
static bool is_continuation(const text_line *line)
{
    return memchr(line->at, '=', (size_t)(token_end(line) - line->at)) != NULL;
}

static gotrace_status read_continuation(script_job *job, text_line *line)
{
    script_record *record = &job->record;
    if (script_is_event(job) && job->meaning->open)
        return read_values(job, line, script_event_value);
    if (!record->shape && job->faulty)
        return GOTRACE_OK;
    if (!record->shape)
        return script_fail(job, line->number, "\"%s\" found, an event's name expected",
                           script_show(line->at, (size_t)(token_end(line) - line->at)).text);
    if (record->shape->spec->flags & GOTRACE_SPEC_FRAMES)
        return read_frame(job, line);
    return read_attributes(job, line);
}

/* Whether the line is a raw record: "raw NAME ...". Skips "raw". */
static bool takes_raw(text_line *line)
{
    static const char raw[] = "raw";
    const char *end = token_end(line);
    if ((size_t)(end - line->at) != strlen(raw) || memcmp(line->at, raw, strlen(raw)) != 0)
        return false;
    line->at = end;
    more_in(line);
    return true;
}

static gotrace_status read_event(script_job *job, text_line *line)
{
    const char *end = token_end(line);
    bool meaning = job->by_meaning, raw = takes_raw(line);
    if (meaning && !raw) {
        const char *name = line->at;
        line->at = end;
        if (script_event_begin(job, line->number, name, (size_t)(end - name)) != GOTRACE_OK &&
            script_recover(job) != GOTRACE_OK)
            return GOTRACE_ERROR;
        return read_values(job, line, script_event_value);
    }
    if (meaning && script_event_raw(job, line->number) != GOTRACE_OK)
        return GOTRACE_ERROR;
    end = token_end(line);
    script_record_reset(job, line->number);
    if (script_record_name(job, line->at, (size_t)(end - line->at)) != GOTRACE_OK)
        return GOTRACE_ERROR;
    line->at = end;
    return read_attributes(job, line);
}

/* Fails because the script does not begin with a header. */
static gotrace_status fail_header(script_job *job, const text_line *line, const char *start)
{
    size_t size = (size_t)(line->end - start);
    if (size > 5 && memcmp(start, "go 1.", 5) == 0)
        return script_fail(
            job, line->number,
            "this is a trace, not a script: \"gotrace dump\" converts it to a script");
    if (size > 1 && (memcmp(start, "\xff\xfe", 2) == 0 || memcmp(start, "\xfe\xff", 2) == 0))
        return script_fail(job, line->number, "this is UTF-16; a script is UTF-8");
    return script_fail(job, line->number,
                       "\"%s\" found; a script begins with \"Trace Go1.N\", such as \"Trace Go1.26 "
                       "level=meaning\"",
                       script_show(start, size).text);
}

/* "Trace Go1.N" and, at level meaning, the clock. */
static gotrace_status read_header(script_job *job, text_line *line)
{
    static const char trace[] = "Trace", go[] = "Go1.";
    const char *start = line->at, *end = token_end(line);
    bool ok = (size_t)(end - start) == strlen(trace) && memcmp(start, trace, strlen(trace)) == 0;
    line->at = end;
    if (!ok || !more_in(line))
        return fail_header(job, line, start);
    const char *version = line->at;
    end = token_end(line);
    line->at = end;
    if ((size_t)(end - version) <= strlen(go) || memcmp(version, go, strlen(go)) != 0)
        return fail_header(job, line, start);
    if (read_values(job, line, script_head_value) != GOTRACE_OK)
        return GOTRACE_ERROR;
    script_record_reset(job, line->number);
    return script_version(job, line->number, version + strlen(go),
                          (size_t)(end - version) - strlen(go));
}

/* The current record is complete. */
static gotrace_status end_record(script_job *job)
{
    script_record *record = &job->record;
    if (script_is_event(job))
        return job->meaning->open ? script_event_end(job) : GOTRACE_OK;
    if (!record->shape)
        return GOTRACE_OK;
    if (job->version >= GOTRACE_FIRST_V2 && record->shape->spec->flags & GOTRACE_SPEC_DATA)
        record->has_data = true; /* omitted data is empty */
    return script_record_end(job);
}

/* Whether the line is a file marker of a txtar archive, "-- NAME --", with any name or that one. Go
 * keeps test traces in such archives. */
static bool is_marker(const text_line *line, const char *name)
{
    static const char begin[] = "-- ", end[] = " --";
    size_t size = (size_t)(line->end - line->at), around = strlen(begin) + strlen(end);
    if (size <= around || memcmp(line->at, begin, strlen(begin)) != 0 ||
        memcmp(line->end - strlen(end), end, strlen(end)) != 0)
        return false;
    text_line inside = {line->at + strlen(begin), line->end - strlen(end), line->number};
    while (inside.at < inside.end && is_space(*inside.at))
        inside.at++;
    while (inside.at < inside.end && is_space(inside.end[-1]))
        inside.end--;
    size = (size_t)(inside.end - inside.at);
    return !name || (size == strlen(name) && memcmp(inside.at, name, size) == 0);
}

/* The position of a line in an archive. */
typedef enum text_place {
    TEXT_ALONE = 0, /* not an archive */
    TEXT_BEFORE,    /* in a file before the trace */
    TEXT_TRACE,     /* in the trace */
    TEXT_AFTER,     /* after the trace */
} text_place;

/* The position of this line, given that of the line before. A marker belongs to no file. */
static text_place place_of(const script_job *job, const text_line *line, text_place place,
                           bool *marker)
{
    *marker = is_marker(line, NULL) && (place != TEXT_ALONE || job->version == 0);
    if (!*marker)
        return place;
    if (place == TEXT_TRACE)
        return TEXT_AFTER;
    return is_marker(line, "trace") ? TEXT_TRACE : TEXT_BEFORE;
}

static gotrace_status read_line(script_job *job, text_line *line)
{
    if (!more_in(line))
        return GOTRACE_OK;
    if (job->version == 0)
        return read_header(job, line);
    if (is_continuation(line))
        return read_continuation(job, line);
    if (end_record(job) != GOTRACE_OK && script_recover(job) != GOTRACE_OK)
        return GOTRACE_ERROR;
    return read_event(job, line);
}

gotrace_status script_text_read(script_job *job)
{
    text_line line;
    text_place place = TEXT_ALONE;
    bool marker;
    char *start;
    size_t size;
    gotrace_status status;
    script_record_reset(job, 0);
    while ((status = script_line(job, &start, &size, &line.number)) == GOTRACE_EVENT) {
        line.at = start;
        line.end = start + size;
        place = place_of(job, &line, place, &marker);
        if (place == TEXT_AFTER)
            break;
        if (marker || place == TEXT_BEFORE)
            continue;
        bool is_header = job->version == 0;
        if (read_line(job, &line) != GOTRACE_OK && (is_header || script_recover(job) != GOTRACE_OK))
            return GOTRACE_ERROR;
    }
    if (status < 0)
        return status;
    if (place == TEXT_BEFORE)
        return script_fail(job, line.number, "an archive of files, but none is named \"trace\"");
    if (job->version == 0)
        return script_fail(job, line.number,
                           "the script is empty: its first line has to be \"Trace Go1.N\"");
    if (end_record(job) != GOTRACE_OK && script_recover(job) != GOTRACE_OK)
        return GOTRACE_ERROR;
    return GOTRACE_OK;
}
