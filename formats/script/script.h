/*
 * script.h - shared by all script encodings: reading input, building a record, errors.
 *
 * A script contains the raw records of a trace, or its events by meaning. Encodings (text.c,
 * json.c, cbor.c) translate bytes to calls of script_record_*; script.c uses the event table and
 * the encoder.
 */
#ifndef SCRIPT_H
#define SCRIPT_H

#include "formats/script/json_place.h"
#include "formats/script/scripts.h"

/* Maximum line length in text and JSON Lines: a string of the trace has at most 10^6 bytes, and an
 * escape takes at most six characters per byte. */
#define SCRIPT_TEXT_MAX ((size_t)8 << 20)

/* Event codes are smaller than this in every version. */
#define SCRIPT_CODES 256

/* The input buffer. `line` is the line number at position `at`; 0 if the input has no lines. Only a
 * JSON document has a column there. `before` is the number of bytes before the buffer. */
typedef struct script_input {
    FILE *file;
    char *buffer;
    size_t at, end, capacity;
    uint64_t line, column, before;
    bool ended;
    bool marked; /* bytes from mark on stay in the buffer, to be read again */
    size_t mark;
} script_input;

/* A row of the event table for the script's version. */
typedef struct script_shape {
    const gotrace_event_spec *spec; /* NULL: no such event */
    const gotrace_arg_spec *args[GOTRACE_MAX_ARGS];
    size_t arg_count;
} script_shape;

/* A varint with another size than the version's tracer would write. */
typedef struct script_pad {
    uint64_t index, width;
} script_pad;

/* The record being built. */
typedef struct script_record {
    uint64_t line; /* line where it starts; 0: no lines */
    const script_shape *shape;
    unsigned seen; /* bit set of the arguments present */
    bool has_data;
    bool has_frames;
    bool has_form;
    uint64_t form;
    uint64_t *values; /* arguments, ending at GOTRACE_MAX_ARGS, then frames */
    size_t value_count, value_capacity;
    char *data;
    size_t data_size, data_capacity;
    script_pad *pads;
    size_t pad_count, pad_capacity;
} script_record;

typedef struct script_job script_job;

/* State of a script by meaning: see meaning.h. */
typedef struct script_meaning script_meaning;

struct script_job {
    script_input in;
    const gotrace_config *config;
    gotrace_allocator allocator;
    uint64_t memory_used, memory_limit;
    gotrace_write_fn write;
    void *ctx;
    bool binary;              /* positions are byte offsets; "line" then means the offset */
    gotrace_encoder *encoder; /* for raw records; NULL before the first */
    int version;              /* 0 until it is read */
    size_t frame_values;
    uint64_t frame_limit, string_limit;
    uint64_t data_limit; /* maximum size of a record's data, or of all strings of an event */
    script_shape shapes[SCRIPT_CODES];
    const script_shape *names[256]; /* hash table of the shapes by name */
    script_record record;
    uint8_t *widths;
    size_t width_capacity;
    uint64_t events;         /* number of records written */
    bool by_meaning;         /* the level; false: raw */
    script_meaning *meaning; /* NULL: the header has only the version, and the script is raw */
    script_options options;
    script_error error; /* the latest error */
    script_error first_error;
    uint64_t errors;      /* number of errors reported */
    bool faulty;          /* the current event has an error and is not written */
    bool doubts_recorded; /* level meaning: the doubtful ids of the faulty event were recorded */
    bool reported;        /* the latest error follows from one that was reported */
    bool unreadable;      /* reading cannot continue after the latest error */
    uint64_t column;      /* JSON: column of the current record; else 0 */
    json_place place;     /* JSON: position of that record */
    bool in_list;         /* CBOR: the error is in the event with this index */
    uint64_t index;
};

/* Sets the job's error (rule usage) and returns GOTRACE_ERROR. */
gotrace_status script_fail(script_job *job, uint64_t line, const char *message, ...)
    __attribute__((format(printf, 3, 4)));

/* The same with an error of the library. */
gotrace_status script_fail_as(script_job *job, uint64_t line, const gotrace_error *error);

/* Inserts text before an error's message. */
void script_prepend(gotrace_error *error, const char *text, ...)
    __attribute__((format(printf, 2, 3)));

/* Completes the job's error: counts and reports it. */
void script_finish_error(script_job *job);

/* After an error: reports it and continues (GOTRACE_OK) with the event marked as faulty, or stops
 * (GOTRACE_ERROR) because the caller wants only the first error or reading cannot continue. */
gotrace_status script_recover(script_job *job);

/* The same for errors that are not the script's: system.memory, system.limit, system.read. */
gotrace_status script_fail_system(script_job *job, gotrace_rule rule, const char *message, ...)
    __attribute__((format(printf, 3, 4)));

/* The job's error, with only the rule and the position set. */
gotrace_error *script_error_of(script_job *job, gotrace_rule rule, uint64_t line);

/* An excerpt of a script for a message: short, printable, on one line. */
typedef struct script_shown {
    char text[48];
} script_shown;
script_shown script_show(const char *s, size_t size);

/* Grows an array within the job's memory limit; fails with rule system.memory or system.limit. */
gotrace_status script_grow(script_job *job, void **array, size_t *capacity, size_t need,
                           size_t element);

/* Frees such an array. */
void script_release(script_job *job, void *array, size_t capacity, size_t element);

/* Returns name if it is similar to `found` and more so than best (which may be NULL), else best. */
const char *script_nearer_name(const char *found, size_t size, const char *best, const char *name);

/* A list of names for a message: "a, b, c"; all zeros is an empty list. */
typedef struct script_names {
    char text[160];
} script_names;
void script_list(script_names *list, const char *name);
/* The words before such a list of arguments. */
const char *script_arguments_are(const script_names *arguments);

/* Fails because the version has no event with that name, or the record's event no such argument. */
gotrace_status script_fail_event(script_job *job, const char *name, size_t size);
gotrace_status script_fail_arg(script_job *job, uint64_t line, const char *name, size_t size);

/* Writes to the job's output (ctx is the job), unless the script had an error. */
bool script_write(void *ctx, const void *bytes, size_t size);

/* Appends input to the buffer; GOTRACE_END at the end. */
gotrace_status script_fill(script_job *job);

/* Continues at that offset from the start of the script. */
gotrace_status script_seek(script_job *job, uint64_t offset);

/* The next line without its line end: GOTRACE_EVENT or GOTRACE_END. Valid until the next call.
 * *number is its line number. */
gotrace_status script_line(script_job *job, char **line, size_t *size, uint64_t *number);

/* The value of a decimal or hexadecimal digit; 16 for other characters. */
static inline unsigned script_digit(char digit)
{
    unsigned c = (unsigned char)digit;
    if (c - '0' <= 9)
        return c - '0';
    return (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : 16;
}

/* A decimal or, with 0x, hexadecimal number. */
gotrace_status script_number(script_job *job, uint64_t line, const char *s, size_t size,
                             uint64_t *value);

/* Sets the version, and with it the events that a record can be. */
void script_set_version(script_job *job, int version);

/* A record: reset, then its parts in any order (arguments after the name), then end. *slot receives
 * the address for the argument's value. */
void script_record_reset(script_job *job, uint64_t line);
gotrace_status script_record_name(script_job *job, const char *name, size_t size);
gotrace_status script_record_code(script_job *job, uint64_t line, uint64_t code);
gotrace_status script_record_arg(script_job *job, uint64_t line, const char *name, size_t size,
                                 uint64_t **slot);
gotrace_status script_record_bytes(script_job *job, uint64_t line, const char *bytes, size_t size);
/* Handles a row of numbers: a frame (job->frame_values numbers), or a pad (index and width of a
 * varint). */
typedef gotrace_status (*script_row)(script_job *job, uint64_t line, const uint64_t *row);

gotrace_status script_record_frame(script_job *job, uint64_t line, const uint64_t *row);
gotrace_status script_record_pad(script_job *job, uint64_t line, const uint64_t *row);
gotrace_status script_record_end(script_job *job);

/* Deviations of a record from what its version's tracer writes. */
bool script_odd_form(const gotrace_record *record, int version);
/* Finds the next varint from *n on with an unusual size: sets *n to its index, or returns false. */
bool script_odd_width(const gotrace_record *record, int version, size_t *n);

/* ---- by meaning ---------------------------------------------------------------------------- */

/* Maximum number of values of an event by meaning: its arguments, two times, a context, a message
 * and two stacks. */
enum { SCRIPT_VALUES = GOTRACE_MAX_ARGS + 8 };

typedef enum script_kind {
    SCRIPT_UNSIGNED,
    SCRIPT_SIGNED, /* 64 bits, two's complement */
    SCRIPT_WORD,   /* a name defined by gotrace */
    SCRIPT_STRING, /* bytes from the trace */
    SCRIPT_STACK,  /* frames, innermost first */
} script_kind;

typedef struct script_value {
    const char *name;
    script_kind kind;
    uint64_t number;
    const char *bytes; /* of a word (NUL-terminated) or a string */
    size_t size;
    const gotrace_frame *frames;
    size_t frame_count;
} script_value;

/* Buffer for the text of a frame; all zeros is empty. */
typedef struct script_frame_text {
    char *bytes;
    size_t size, capacity;
} script_frame_text;

/* An event (or the header, whose name is empty) as passed to an encoding; stacks come last. */
struct script_event {
    const char *name;
    script_value values[SCRIPT_VALUES];
    size_t count;
    script_frame_text *text; /* buffer for a frame; see script_frame_write for failures */
};

/* A frame as text: "main.work /src/main.go:42 @0x46f2a0". False if memory is refused. */
bool script_frame_write(script_frame_text *text, const gotrace_frame *frame);

/* The reverse. The frame's names point into s, which is modified. */
gotrace_status script_frame_read(script_job *job, uint64_t line, char *s, size_t size,
                                 gotrace_frame *frame);

/* A time in a script: nanoseconds, and billionths of a nanosecond. */
typedef struct script_time {
    uint64_t ns, part;
} script_time;

/* The ticks of a time at a frequency of 1 to 2^63 - 1; and whether they are below 2^64. */
uint64_t script_ticks(script_time time, uint64_t frequency);
bool script_ticks_fit(script_time time, uint64_t frequency);

/* The reverse, for a frequency up to 10^9. */
uint64_t script_ns(uint64_t ticks, uint64_t frequency);

/* Parses a time such as "-14848.25"; false on a syntax error. */
bool script_time_read(const char *s, size_t size, script_time *time, bool *negative);

/* The name in scripts of a state of a goroutine (or else a proc), by its number in the format; NULL
 * if there is none. */
const char *script_state_name(bool of_goroutine, uint64_t number);

/* The name of a tracer in scripts; NULL after the last. */
const char *script_tracer_name(size_t tracer);

extern const script_format script_text, script_json, script_jsonl, script_cbor;

void script_schema_json(out *o);
void script_schema_cddl(out *o);

gotrace_status script_text_read(script_job *job);
gotrace_status script_json_read(script_job *job);
gotrace_status script_cbor_read(script_job *job);

#endif
