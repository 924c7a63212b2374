/* json_head.c - see json_head.h. */
#include "formats/script/json_head.h"

#include <string.h>

/* ---- input ----------------------------------------------------------------------------------- */

void json_consume(script_input *in, size_t size)
{
    const char *at = in->buffer + in->at, *end = at + size, *newline;
    for (; (newline = memchr(at, '\n', (size_t)(end - at))); at = newline + 1) {
        in->line++;
        in->column = 1;
    }
    for (; at < end; at++)
        in->column += ((unsigned char)*at & 0xc0) != 0x80;
    in->at += size;
}

gotrace_status json_skip_space(script_job *job, char *next)
{
    script_input *in = &job->in;
    gotrace_status status = GOTRACE_OK;
    for (;;) {
        size_t at = in->at;
        while (at < in->end && json_is_space(in->buffer[at]))
            at++;
        json_consume(in, at - in->at);
        *next = at < in->end ? in->buffer[at] : '\0';
        if (at < in->end || (status = script_fill(job)) != GOTRACE_OK)
            return status == GOTRACE_END ? GOTRACE_OK : status;
    }
}

/* ---- the object ------------------------------------------------------------------------------ */

typedef struct json_scan {
    size_t depth;         /* number of objects and arrays around the position */
    bool quoted, escaped; /* within a string; after its backslash */
    bool in_array;        /* within an array that is a member of the object */
} json_scan;

/* The next bracket that begins or ends the object or one of its members; end if there is none. */
static const char *next_bracket(json_scan *scan, const char *at, const char *end)
{
    for (; at < end; at++) {
        char c = *at;
        if (scan->quoted) {
            scan->quoted = c != '"' || scan->escaped;
            scan->escaped = c == '\\' && !scan->escaped;
        } else if (c == '"') {
            scan->quoted = true;
        } else if (c == '{' || c == '[') {
            if (scan->depth++ < 2)
                return at;
        } else if (c == '}' || c == ']') {
            if (--scan->depth < 2)
                return at;
        }
    }
    return end;
}

/* Consumes bytes, which become text if they are not in an array. */
static gotrace_status take(script_job *job, json_head *head, size_t size, bool in_array)
{
    script_input *in = &job->in;
    const char *bytes = in->buffer + in->at, *zero = memchr(bytes, '\0', size);
    /* Jansson may skip a zero byte without counting it. */
    if (zero) {
        json_consume(in, (size_t)(zero - bytes));
        return script_fail(job, in->line, "a zero byte, which JSON does not permit");
    }
    if (!in_array) {
        size_t room = head->capacity - head->size, taken = size < room ? size : room;
        memcpy(head->text + head->size, bytes, taken);
        head->size += taken;
        head->too_large = taken < size;
    }
    json_consume(in, size);
    return GOTRACE_OK;
}

/* An array begins at the read position. */
static gotrace_status begin_gap(script_job *job, json_head *head)
{
    const script_input *in = &job->in;
    void *gaps = head->gaps;
    gotrace_status status = script_grow(job, &gaps, &head->gap_capacity, head->gap_count + 2,
                                        sizeof *head->gaps);
    head->gaps = gaps;
    if (status != GOTRACE_OK)
        return status;
    head->gaps[head->gap_count++] = (json_gap){.at = head->text + head->size,
                                               .start = in->before + in->at,
                                               .start_line = in->line,
                                               .start_column = in->column};
    head->gaps[head->gap_count] = (json_gap){.at = NULL};
    return GOTRACE_OK;
}

static void end_gap(const script_input *in, json_head *head)
{
    json_gap *gap = &head->gaps[head->gap_count - 1];
    gap->line = in->line;
    gap->column = in->column;
}

/* Reads up to the next bracket, and that bracket, or what the buffer has. */
static gotrace_status read_piece(script_job *job, json_head *head, json_scan *scan)
{
    const script_input *in = &job->in;
    const char *at = in->buffer + in->at, *end = in->buffer + in->end;
    const char *bracket = next_bracket(scan, at, end);
    if (take(job, head, (size_t)(bracket - at), scan->in_array) != GOTRACE_OK)
        return GOTRACE_ERROR;
    if (bracket == end)
        return GOTRACE_OK;
    if (scan->in_array)
        end_gap(in, head);
    gotrace_status status = take(job, head, 1, false);
    scan->in_array = scan->depth == 2 && *bracket == '[';
    return scan->in_array ? begin_gap(job, head) : status;
}

gotrace_status json_head_read(script_job *job, json_head *head)
{
    const script_input *in = &job->in;
    json_scan scan = {.depth = 0};
    void *text = NULL;
    gotrace_status status = script_grow(job, &text, &head->capacity, JSON_HEAD_MAX, 1);
    head->text = text;
    head->place = (json_place){.at = text, .line = in->line, .column = in->column};
    while (status == GOTRACE_OK) {
        status = in->at < in->end ? GOTRACE_OK : script_fill(job);
        if (status == GOTRACE_OK)
            status = read_piece(job, head, &scan);
        if (scan.depth == 0 || head->too_large)
            break;
    }
    head->place.end = head->text + head->size;
    head->place.gaps = head->gaps;
    return status == GOTRACE_END ? GOTRACE_OK : status;
}

const json_gap *json_head_gap(const json_head *head, json_t *object, const json_t *array)
{
    const json_gap *gap = head->gaps;
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value)
    {
        if (value == array)
            break;
        gap += json_is_array(value);
    }
    return gap;
}

void json_head_free(script_job *job, json_head *head)
{
    script_release(job, head->text, head->capacity, 1);
    script_release(job, head->gaps, head->gap_capacity, sizeof *head->gaps);
    json_memory_free(&head->memory);
}
