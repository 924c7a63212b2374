/*
 * script.h - what the event scripts share: reading input, putting a record together, errors.
 *
 * A script carries the raw records of a trace. Its dresses (script_text.c, script_json.c,
 * script_cbor.c) turn bytes into calls of script_record_*; script.c knows the event table and the
 * encoder.
 */
#ifndef SCRIPT_H
#define SCRIPT_H

#include "formats.h"

/* No line of text or of JSON Lines may be longer: a string of the trace has at most 10^6 bytes, and
 * no escape takes more than six characters for one. */
#define SCRIPT_TEXT_MAX ((size_t)8 << 20)

/* The first version of the v2 format. */
#define SCRIPT_V2 22

/* No event of any version has this code or a larger one. */
#define SCRIPT_CODES 256

/* Bytes of a script, read ahead. `line` is the number of the line that starts at, or holds, the
 * byte at `at`; 0 while what is read has no lines. `before` is the number of bytes that lay before
 * the buffer. */
typedef struct script_input {
    FILE *file;
    char *buffer;
    size_t at, end, capacity;
    uint64_t line, before;
    bool ended;
} script_input;

/* A row of the event table as this version has it. */
typedef struct script_shape {
    const gotrace_event_spec *spec; /* NULL: no such event */
    const gotrace_arg_spec *args[GOTRACE_MAX_ARGS];
    size_t arg_count;
} script_shape;

/* A varint that takes other than the bytes that the version's tracer would write. */
typedef struct script_pad {
    uint64_t index, width;
} script_pad;

/* The record being put together. */
typedef struct script_record {
    uint64_t line; /* where it starts; 0 where there are no lines */
    const script_shape *shape;
    unsigned seen; /* a bit for each argument that was given */
    bool has_data;
    bool has_frames;
    bool has_form;
    uint64_t form;
    uint64_t *values; /* the arguments, ending at GOTRACE_MAX_ARGS, then the frames' values */
    size_t value_count, value_capacity;
    char *data;
    size_t data_size, data_capacity;
    script_pad *pads;
    size_t pad_count, pad_capacity;
} script_record;

typedef struct script_job {
    script_input in;
    const gotrace_config *config;
    gotrace_allocator allocator;
    uint64_t memory_used, memory_limit;
    gotrace_write_fn write;
    void *ctx;
    bool binary; /* places in the script are bytes: what is called a line is the byte's offset */
    gotrace_encoder *encoder; /* NULL until the script told the version */
    int version;
    size_t frame_values;
    uint64_t frame_limit, string_limit;
    script_shape shapes[SCRIPT_CODES];
    const script_shape *names[256]; /* the shapes by a hash of their names */
    script_record record;
    uint8_t *widths;
    size_t width_capacity;
    uint64_t events; /* records written */
    script_error *error;
} script_job;

/* Fill the job's error (rule usage) and return GOTRACE_ERROR. */
gotrace_status script_fail(script_job *job, uint64_t line, const char *message, ...)
    __attribute__((format(printf, 3, 4)));

/* The same where not the script is at fault: system.memory, system.limit, system.read. */
gotrace_status script_fail_system(script_job *job, gotrace_rule rule, const char *message, ...)
    __attribute__((format(printf, 3, 4)));

/* Characters of a script as a message may show them: short, printable, on one line. */
typedef struct script_shown {
    char text[48];
} script_shown;
script_shown script_show(const char *s, size_t size);

/* A growing array within the job's memory limit; fails with rule system.memory or .limit. */
gotrace_status script_grow(script_job *job, void **array, size_t *capacity, size_t need,
                           size_t element);

/* Read more input behind what lies in the buffer; GOTRACE_END when there is no more. */
gotrace_status script_fill(script_job *job);

/* The next line without its end: GOTRACE_EVENT, or GOTRACE_END. It lives until the next call;
 * *number is its number. */
gotrace_status script_line(script_job *job, char **line, size_t *size, uint64_t *number);

/* What a digit counts, in decimal and hexadecimal; 16 of other characters. */
static inline unsigned script_digit(char digit)
{
    unsigned c = (unsigned char)digit;
    if (c - '0' <= 9)
        return c - '0';
    return (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : 16;
}

/* A number in decimal or, with 0x, hexadecimal. */
gotrace_status script_number(script_job *job, uint64_t line, const char *s, size_t size,
                             uint64_t *value);

/* The script's version is known: open the encoder. */
gotrace_status script_version(script_job *job, uint64_t line, const char *number, size_t size);

/* A record: reset, then in any order what it holds (arguments after the name), then end. *slot is
 * where the value of the argument goes. */
void script_record_reset(script_job *job, uint64_t line);
gotrace_status script_record_name(script_job *job, const char *name, size_t size);
gotrace_status script_record_code(script_job *job, uint64_t line, uint64_t code);
gotrace_status script_record_arg(script_job *job, uint64_t line, const char *name, size_t size,
                                 uint64_t **slot);
gotrace_status script_record_value(script_job *job, uint64_t line, uint64_t value);
gotrace_status script_record_bytes(script_job *job, uint64_t line, const char *bytes, size_t size);
gotrace_status script_record_pad(script_job *job, uint64_t index, uint64_t width);
gotrace_status script_record_end(script_job *job);

/* What a record deviates in from the way its version's tracer writes it. */
bool script_odd_form(const gotrace_record *record, int version);
/* The next varint from *n on that takes odd many bytes: its index, or false if there is none. */
bool script_odd_width(const gotrace_record *record, int version, size_t *n);

extern const script_format script_text, script_json, script_jsonl, script_cbor;

gotrace_status script_text_read(script_job *job);
gotrace_status script_json_read(script_job *job);
gotrace_status script_cbor_read(script_job *job);

#endif
