/*
 * script.h - what the event scripts share: reading input, putting a record together, errors.
 *
 * A script carries the raw records of a trace. Its dresses (text.c, json.c,
 * cbor.c) turn bytes into calls of script_record_*; script.c knows the event table and the
 * encoder.
 */
#ifndef SCRIPT_H
#define SCRIPT_H

#include "formats/formats.h"
#include "formats/script/json_place.h"

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
    bool marked; /* bytes from mark on are kept, to be read again */
    size_t mark;
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

typedef struct script_job script_job;

/* What a script by meaning needs: see meaning.h. */
typedef struct script_meaning script_meaning;

struct script_job {
    script_input in;
    const gotrace_config *config;
    gotrace_allocator allocator;
    uint64_t memory_used, memory_limit;
    gotrace_write_fn write;
    void *ctx;
    bool binary; /* places in the script are bytes: what is called a line is the byte's offset */
    gotrace_encoder *encoder; /* of raw records; NULL until there are any */
    int version;              /* 0 until it is read from the script */
    size_t frame_values;
    uint64_t frame_limit, string_limit;
    uint64_t data_limit; /* bytes of the data of a record, or of all strings of an event */
    script_shape shapes[SCRIPT_CODES];
    const script_shape *names[256]; /* the shapes by a hash of their names */
    script_record record;
    uint8_t *widths;
    size_t width_capacity;
    uint64_t events;         /* records written */
    script_meaning *meaning; /* NULL: the header sets no level, which is raw then */
    script_options options;
    script_error error; /* the latest one */
    script_error first_error;
    uint64_t errors;  /* that were finished */
    bool faulty;      /* the event being put together had an error and is not written */
    bool judged;      /* level meaning: what an error in the event leaves in doubt is known */
    bool reported;    /* the latest error follows from one that was reported */
    bool hopeless;    /* what follows the latest error cannot be judged */
    uint64_t column;  /* JSON: of the record being put together; else 0 */
    json_place place; /* JSON: where that record is */
    bool in_list;     /* CBOR: the error is in an event, whose index this is */
    uint64_t index;
};

/* Fill the job's error (rule usage) and return GOTRACE_ERROR. */
gotrace_status script_fail(script_job *job, uint64_t line, const char *message, ...)
    __attribute__((format(printf, 3, 4)));

/* The same with an error of the library. */
gotrace_status script_fail_as(script_job *job, uint64_t line, const gotrace_error *error);

/* Put text before an error's message. */
void script_put_first(gotrace_error *error, const char *text, ...)
    __attribute__((format(printf, 2, 3)));

/* The job's error is complete: count and report it. */
void script_finish_error(script_job *job);

/* After an error: report it and go on (GOTRACE_OK), with the event marked as faulty, or stop
 * (GOTRACE_ERROR) because nobody asked for more errors or no more can be found. */
gotrace_status script_recover(script_job *job);

/* The same where not the script is at fault: system.memory, system.limit, system.read. */
gotrace_status script_fail_system(script_job *job, gotrace_rule rule, const char *message, ...)
    __attribute__((format(printf, 3, 4)));

/* The job's error, cleared but for the rule's row and the place. */
gotrace_error *script_error_of(script_job *job, gotrace_rule rule, uint64_t line);

/* Characters of a script as a message may show them: short, printable, on one line. */
typedef struct script_shown {
    char text[48];
} script_shown;
script_shown script_show(const char *s, size_t size);

/* A growing array within the job's memory limit; fails with rule system.memory or .limit. */
gotrace_status script_grow(script_job *job, void **array, size_t *capacity, size_t need,
                           size_t element);

/* Free such an array. */
void script_release(script_job *job, void *array, size_t capacity, size_t element);

/* The name, if it is near to what was found and nearer than best (which may be NULL); else best. */
const char *script_near(const char *found, size_t size, const char *best, const char *name);

/* Names for a message: "a, b, c"; zeroed memory is an empty list. */
typedef struct script_names {
    char text[160];
} script_names;
void script_list(script_names *list, const char *name);
/* What is before such a list of an event's arguments. */
const char *script_are(const script_names *arguments);

/* Fail because the version has no event of that name, or the record's event no such argument. */
gotrace_status script_fail_event(script_job *job, const char *name, size_t size);
gotrace_status script_fail_arg(script_job *job, uint64_t line, const char *name, size_t size);

/* Write to the job's output (ctx is the job), unless the script had an error. */
bool script_write(void *ctx, const void *bytes, size_t size);

/* Read more input after what is in the buffer; GOTRACE_END when there is no more. */
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

/* The script's version is known, and all else that its header says: a raw script's encoder is
 * opened. */
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
/* Takes a row of numbers: a frame, of job->frame_values, or which varint is padded, and to how many
 * bytes. */
typedef gotrace_status (*script_row)(script_job *job, uint64_t line, const uint64_t *row);

gotrace_status script_record_frame(script_job *job, uint64_t line, const uint64_t *row);
gotrace_status script_record_pad(script_job *job, uint64_t line, const uint64_t *row);
gotrace_status script_record_end(script_job *job);

/* What a record deviates in from the way its version's tracer writes it. */
bool script_odd_form(const gotrace_record *record, int version);
/* The next varint from *n on that takes odd many bytes: its index, or false if there is none. */
bool script_odd_width(const gotrace_record *record, int version, size_t *n);

/* ---- by meaning ---------------------------------------------------------------------------- */

/* No event of a script by meaning says more: its own arguments, two times, a context, a message and
 * two stacks. */
enum { SCRIPT_VALUES = GOTRACE_MAX_ARGS + 8 };

typedef enum script_kind {
    SCRIPT_UNSIGNED,
    SCRIPT_SIGNED, /* of 64 bits, two's complement */
    SCRIPT_WORD,   /* a name of ours */
    SCRIPT_STRING, /* bytes of the trace */
    SCRIPT_STACK,  /* frames, innermost first */
} script_kind;

typedef struct script_value {
    const char *name;
    script_kind kind;
    uint64_t number;
    const char *bytes; /* of a word (terminated) or a string */
    size_t size;
    const gotrace_frame *frames;
    size_t frame_count;
} script_value;

/* A frame in the making, as text; zeroed memory is an empty one. */
typedef struct script_frame_text {
    char *bytes;
    size_t size, capacity;
} script_frame_text;

/* An event (or the header, whose name is empty) as a dress writes it: stacks come last. */
struct script_event {
    const char *name;
    script_value values[SCRIPT_VALUES];
    size_t count;
    script_frame_text *text; /* room for a frame; out of memory: see script_frame_write */
};

/* A frame as text: "main.work /src/main.go:42 @0x46f2a0". False when memory is refused. */
bool script_frame_write(script_frame_text *text, const gotrace_frame *frame);

/* The other way round. The frame's names point into s, which is changed. */
gotrace_status script_frame_read(script_job *job, uint64_t line, char *s, size_t size,
                                 gotrace_frame *frame);

/* A time of a script: nanoseconds, and billionths of one. */
typedef struct script_time {
    uint64_t ns, part;
} script_time;

/* Ticks at a frequency (1 to 2^63 - 1) in that time, and whether they are below 2^64. */
uint64_t script_ticks(script_time time, uint64_t frequency);
bool script_ticks_fit(script_time time, uint64_t frequency);

/* The other way round, of a frequency up to 10^9. */
uint64_t script_ns(uint64_t ticks, uint64_t frequency);

/* "-14848.25"; false if it is none. */
bool script_time_read(const char *s, size_t size, script_time *time, bool *negative);

/* States by name, as scripts have them: of a goroutine (or else a proc) by its number on the wire,
 * NULL where there is none. */
const char *script_state_name(bool of_goroutine, uint64_t number);

/* How a tracer is called in a script: NULL past the last. */
const char *script_tracer_name(size_t tracer);

extern const script_format script_text, script_json, script_jsonl, script_cbor;

gotrace_status script_text_read(script_job *job);
gotrace_status script_json_read(script_job *job);
gotrace_status script_cbor_read(script_job *job);

#endif
