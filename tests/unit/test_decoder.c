/* test_decoder.c - the streaming decoder: input in pieces, damage, limits, memory. */
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "core/wire.h"

/* ---- output of a decoder as comparable bytes ------------------------------------------------- */

static void note(blob *log, uint64_t v)
{
    blob_write(log, &v, sizeof v);
}

static void note_record(blob *log, const gotrace_record *r)
{
    note(log, r->spec->code);
    note(log, r->offset);
    note(log, r->length);
    note(log, r->index);
    note(log, r->form);
    note(log, r->arg_count);
    blob_write(log, r->args, r->arg_count * sizeof *r->args);
    note(log, r->width_count);
    blob_write(log, r->widths, r->width_count);
    note(log, r->data_size);
    blob_write(log, r->data, r->data_size);
}

static void note_error(blob *log, const gotrace_error *e)
{
    note(log, e->rule);
    note(log, e->offset);
    note(log, e->batch);
    note(log, e->event);
    blob_write(log, e->message, strlen(e->message));
}

/* Skipped problems are part of the output. */
static bool note_problem(void *ctx, const gotrace_error *problem)
{
    note_error(ctx, problem);
    return true;
}

/* Size of the next piece. mode 0: everything; 1 to 17: that number of bytes; above: random, with
 * mode as the seed. */
static size_t piece(unsigned mode, uint64_t *state)
{
    if (mode == 0)
        return SIZE_MAX;
    return mode <= 17 ? mode : random_next(state) % 300;
}

/* Decode bytes in pieces of that mode, and append the output to log. */
static gotrace_status decode(const uint8_t *bytes, size_t size, unsigned mode, blob *log)
{
    gotrace_decoder *d;
    const gotrace_record *record;
    gotrace_status status;
    gotrace_config config = {0};
    config.on_problem = note_problem;
    config.callback_ctx = log;
    uint64_t state = mode + 1;
    ck_assert_int_eq(gotrace_decoder_new(&config, &d, NULL), GOTRACE_OK);
    size_t at = 0;
    for (;;) {
        status = gotrace_decoder_next(d, &record);
        if (status == GOTRACE_EVENT) {
            note_record(log, record);
        } else if (status == GOTRACE_NEED_INPUT && at < size) {
            size_t n = piece(mode, &state);
            if (n > size - at)
                n = size - at;
            /* a copy, so that sanitizers detect reads past its end */
            uint8_t *copy = malloc(n + 1);
            memcpy(copy, bytes + at, n);
            copy[n] = 0xff;
            at += n;
            ck_assert_int_eq(gotrace_decoder_feed(d, copy, n), GOTRACE_OK);
            while ((status = gotrace_decoder_next(d, &record)) == GOTRACE_EVENT)
                note_record(log, record);
            free(copy);
            if (status != GOTRACE_NEED_INPUT)
                break;
        } else if (status == GOTRACE_NEED_INPUT) {
            gotrace_decoder_finish(d);
        } else {
            break;
        }
    }
    if (status == GOTRACE_ERROR)
        note_error(log, gotrace_decoder_error(d));
    ck_assert_int_eq(gotrace_decoder_next(d, &record), status);
    gotrace_decoder_free(d);
    return status;
}

static void same_logs(const blob *a, const blob *b, const char *what, size_t at)
{
    ck_assert_msg(a->size == b->size && (a->size == 0 || memcmp(a->bytes, b->bytes, a->size) == 0),
                  "%s, %zu: another cut says otherwise", what, at);
}

/* Input in pieces gives the same output as the whole input. */
static gotrace_status same_in_pieces(const uint8_t *bytes, size_t size, unsigned mode,
                                     const char *what, size_t at)
{
    blob whole = {0}, cut = {0};
    gotrace_status status = decode(bytes, size, 0, &whole);
    ck_assert_int_eq(decode(bytes, size, mode, &cut), status);
    same_logs(&whole, &cut, what, at);
    ck_assert(status == GOTRACE_END || status == GOTRACE_ERROR);
    blob_free(&whole);
    blob_free(&cut);
    return status;
}

/* ---- varints -------------------------------------------------------------------------------- */

/* Decode a header and a Frequency record with that varint. */
static gotrace_status decode_number(const uint8_t *varint, size_t size, uint64_t *value,
                                    gotrace_rule *rule)
{
    blob bytes = {0};
    gotrace_decoder *d;
    const gotrace_record *record;
    blob_write(&bytes, "go 1.11 trace\0\0", GT_HEADER_SIZE);
    blob_write(&bytes, "\x02", 1);
    blob_write(&bytes, varint, size);
    ck_assert_int_eq(gotrace_decoder_new(NULL, &d, NULL), GOTRACE_OK);
    ck_assert_int_eq(gotrace_decoder_feed(d, bytes.bytes, bytes.size), GOTRACE_OK);
    gotrace_decoder_finish(d);
    gotrace_status status = gotrace_decoder_next(d, &record);
    *value = status == GOTRACE_EVENT ? record->args[0] : 0;
    *rule = gotrace_decoder_error(d)->rule;
    if (status == GOTRACE_EVENT) {
        ck_assert_uint_eq(record->widths[0], size);
        ck_assert_int_eq(gotrace_decoder_next(d, &record), GOTRACE_END);
    }
    gotrace_decoder_free(d);
    blob_free(&bytes);
    return status;
}

START_TEST(varint_edges)
{
    uint64_t value;
    gotrace_rule rule;
    for (unsigned bit = 0; bit < 64; bit++)
        for (int d = -1; d <= 1; d++) {
            uint64_t v = ((uint64_t)1 << bit) + (uint64_t)d;
            uint8_t bytes[10];
            size_t n = 0;
            for (uint64_t rest = v; n == 0 || rest > 0; rest >>= 7)
                bytes[n++] = (uint8_t)(rest | 0x80);
            bytes[n - 1] &= 0x7f;
            ck_assert_int_eq(decode_number(bytes, n, &value, &rule), GOTRACE_EVENT);
            ck_assert_uint_eq(value, v);
        }
    uint8_t all[10] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01};
    ck_assert_int_eq(decode_number(all, 10, &value, &rule), GOTRACE_EVENT);
    ck_assert_uint_eq(value, UINT64_MAX);
}
END_TEST

START_TEST(varint_padded)
{
    uint64_t value;
    gotrace_rule rule;
    uint8_t bytes[10] = {0x85, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00};
    ck_assert_int_eq(decode_number(bytes, 10, &value, &rule), GOTRACE_EVENT);
    ck_assert_uint_eq(value, 5);
}
END_TEST

START_TEST(varint_too_long)
{
    uint64_t value;
    gotrace_rule rule;
    uint8_t eleven[11] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00};
    ck_assert_int_eq(decode_number(eleven, 11, &value, &rule), GOTRACE_ERROR);
    ck_assert_int_eq(rule, GOTRACE_RULE_WIRE_VARINT);
    uint8_t wide[10] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02};
    ck_assert_int_eq(decode_number(wide, 10, &value, &rule), GOTRACE_ERROR);
    ck_assert_int_eq(rule, GOTRACE_RULE_WIRE_VARINT);
    ck_assert_int_eq(decode_number(wide, 5, &value, &rule), GOTRACE_ERROR);
    ck_assert_int_eq(rule, GOTRACE_RULE_WIRE_TRUNCATED);
}
END_TEST

/* ---- input in pieces ------------------------------------------------------------------------- */

START_TEST(all_divisions_agree)
{
    trace_file *files = traces_load(8000);
    for (trace_file *f = files; f->path[0]; f++) {
        blob whole = {0};
        gotrace_status status = decode(f->content.bytes, f->content.size, 0, &whole);
        ck_assert_msg(status == GOTRACE_END, "%s: does not decode", f->path);
        for (unsigned mode = 1; mode <= 20; mode++) {
            blob cut = {0};
            ck_assert_int_eq(decode(f->content.bytes, f->content.size, mode, &cut), status);
            same_logs(&whole, &cut, f->path, mode);
            blob_free(&cut);
        }
        blob_free(&whole);
    }
    traces_free(files);
}
END_TEST

/* A file of another kind is recognised by its first KiB, however it is divided. */
START_TEST(foreign_in_pieces)
{
    static const char begin[] = "[{\"ph\":\"X\",", end[] = "\"ts\":1}]";
    uint8_t text[1034]; /* the end is just after the first KiB */
    memset(text, ' ', sizeof text);
    memcpy(text, begin, sizeof begin - 1);
    memcpy(text + sizeof text - sizeof end, end, sizeof end - 1);
    for (unsigned mode = 1; mode < 60; mode++)
        ck_assert_int_eq(same_in_pieces(text, sizeof text, mode, "JSON", mode), GOTRACE_ERROR);
}
END_TEST

/* The same for every record of a v2 version: in pieces, truncated, and with each bit flipped. */
START_TEST(v2_records)
{
    blob trace = {0}, whole = {0};
    trace_of_all(v2_versions[_i], &trace);
    ck_assert_int_eq(decode(trace.bytes, trace.size, 0, &whole), GOTRACE_END);
    for (unsigned mode = 1; mode <= 40; mode++) {
        blob cut = {0};
        ck_assert_int_eq(decode(trace.bytes, trace.size, mode, &cut), GOTRACE_END);
        same_logs(&whole, &cut, "all of v2", mode);
        blob_free(&cut);
    }
    blob_free(&whole);
    for (size_t size = GT_HEADER_SIZE; size < trace.size; size += SWEEP_STEP)
        same_in_pieces(trace.bytes, size, 3, "all of v2, cut off", size);
    for (size_t bit = 0; bit < 8 * trace.size; bit += SWEEP_STEP) {
        trace.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        same_in_pieces(trace.bytes, trace.size, (unsigned)(bit % 18), "all of v2, a bit flipped",
                       bit);
        trace.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    blob_free(&trace);
}
END_TEST

/* A truncated input gives the records before the cut, then one error. */
START_TEST(truncation_at_every_byte)
{
    trace_file *files = traces_load(1200);
    for (trace_file *f = files; f->path[0]; f++)
        for (size_t size = 0; size < f->content.size; size += SWEEP_STEP) {
            gotrace_status status = same_in_pieces(f->content.bytes, size, 3, f->path, size);
            if (size < GT_HEADER_SIZE)
                ck_assert_int_eq(status, GOTRACE_ERROR);
        }
    traces_free(files);
}
END_TEST

START_TEST(every_bit_flipped)
{
    trace_file *files = traces_load(900);
    for (trace_file *f = files; f->path[0]; f++)
        for (size_t bit = 0; bit < 8 * f->content.size; bit += SWEEP_STEP) {
            f->content.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
            same_in_pieces(f->content.bytes, f->content.size, 7, f->path, bit);
            f->content.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
    traces_free(files);
}
END_TEST

/* Random bytes after a header of each version. */
START_TEST(random_bytes)
{
    uint64_t state = 42;
    size_t count;
    const int *versions = gotrace_versions(&count);
    for (int round = 0; round < 2000; round++) {
        uint8_t bytes[160];
        memset(bytes, 0, GT_HEADER_SIZE);
        sprintf((char *)bytes, "go 1.%d trace", versions[(size_t)round % count]);
        for (size_t i = GT_HEADER_SIZE; i < sizeof bytes; i++)
            bytes[i] = (uint8_t)(random_next(&state) >> 32);
        same_in_pieces(bytes, sizeof bytes, 1, "random bytes", (size_t)round);
    }
}
END_TEST

/* ---- rules ---------------------------------------------------------------------------------- */

typedef struct bad_case {
    int version;
    const char *bytes; /* after the header */
    size_t size;
    gotrace_rule rule;
    uint64_t offset;
    bool goes_on; /* reported as a problem; decoding continues */
} bad_case;

#define BYTES(s) (s), sizeof(s) - 1

static const bad_case bad_cases[] = {
    {26, BYTES("\x00"), GOTRACE_RULE_WIRE_TYPE, 16, false},
    {19, BYTES("\x3f\x01"), GOTRACE_RULE_WIRE_TYPE, 16, false},
    {19, BYTES("\x32\x01"), GOTRACE_RULE_WIRE_TYPE, 16, false},
    {19, BYTES("\x41"), GOTRACE_RULE_WIRE_TRUNCATED, 16, false},
    {19, BYTES("\x41\x00\x80"), GOTRACE_RULE_WIRE_TRUNCATED, 16, false},
    /* GoCreate: its length ends inside a value, exceeds the trace, exceeds the maximum */
    {19, BYTES("\xcd\x03\x01\x02\x80\x01"), GOTRACE_RULE_WIRE_LENGTH, 16, false},
    {19, BYTES("\xcd\x04\x01\x02"), GOTRACE_RULE_WIRE_TRUNCATED, 16, false},
    {19, BYTES("\xcd\xff\xff\x7f\x01"), GOTRACE_RULE_WIRE_LENGTH, 16, false},
    {19, BYTES("\xcd\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), GOTRACE_RULE_WIRE_LENGTH, 16,
     false},
    /* an eleven-byte varint inside a length */
    {19, BYTES("\xcd\x0c\x01\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00"),
     GOTRACE_RULE_WIRE_VARINT, 19, false},
    /* GoCreate with three and with five values, ProcStop with two */
    {19, BYTES("\xcd\x03\x01\x02\x03"), GOTRACE_RULE_EVENT_ARITY, 16, true},
    {19, BYTES("\xcd\x05\x01\x02\x03\x04\x05"), GOTRACE_RULE_EVENT_ARITY, 16, true},
    {19, BYTES("\x46\x01\x02"), GOTRACE_RULE_EVENT_ARITY, 16, true},
    {19, BYTES("\xc6\x00"), GOTRACE_RULE_EVENT_ARITY, 16, true},
    /* String: empty, too long; UserLog's message too long */
    {19, BYTES("\x25\x01\x00"), GOTRACE_RULE_STRING_LENGTH, 16, false},
    {19, BYTES("\x25\x01\xc1\x84\x3d"), GOTRACE_RULE_STRING_LENGTH, 16, false},
    {19, BYTES("\x25\x01\xc0\x84\x3d"), GOTRACE_RULE_WIRE_TRUNCATED, 16, false},
    {19, BYTES("\xf0\x04\x01\x01\x01\x00\xc1\x84\x3d"), GOTRACE_RULE_LOG_LENGTH, 16, false},
    /* Stack: fewer and more frames than its count, more than the maximum, no count */
    {19, BYTES("\xc3\x06\x01\x02\x01\x01\x01\x01"), GOTRACE_RULE_STACK_FRAMES, 16, true},
    {19, BYTES("\xc3\x07\x01\x01\x01\x01\x01\x01\x01"), GOTRACE_RULE_STACK_FRAMES, 16, true},
    {19, BYTES("\xc3\x04\x01\x80\x89\x7a"), GOTRACE_RULE_STACK_FRAMES, 16, true},
    {19, BYTES("\xc3\x0b\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), GOTRACE_RULE_STACK_FRAMES,
     16, true},
    {19, BYTES("\x03\x01"), GOTRACE_RULE_EVENT_ARITY, 16, true},
    /* v2: code 0, codes of later versions, codes between events and experiments, codes after them
     */
    {19, BYTES("\x00"), GOTRACE_RULE_WIRE_TYPE, 16, false},
    {22, BYTES("\x2d\x01\x01\x01"), GOTRACE_RULE_WIRE_TYPE, 16, false},
    {23, BYTES("\x32"), GOTRACE_RULE_WIRE_TYPE, 16, false},
    {25, BYTES("\x34"), GOTRACE_RULE_WIRE_TYPE, 16, false},
    {26, BYTES("\x35"), GOTRACE_RULE_WIRE_TYPE, 16, false},
    {26, BYTES("\x7f"), GOTRACE_RULE_WIRE_TYPE, 16, false},
    {22, BYTES("\x80\x00\x00\x00\x00"), GOTRACE_RULE_WIRE_TYPE, 16, false},
    {26, BYTES("\x89\x00"), GOTRACE_RULE_WIRE_TYPE, 16, false},
    {26, BYTES("\xff"), GOTRACE_RULE_WIRE_TYPE, 16, false},
    {26, BYTES("\x34\x10\x01\x80"), GOTRACE_RULE_WIRE_TRUNCATED, 17, false},
    {22, BYTES("\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02"), GOTRACE_RULE_WIRE_VARINT, 17,
     false},
    /* Stack: count too large, missing frames, an invalid number */
    {22, BYTES("\x03\x01\xe9\x07"), GOTRACE_RULE_STACK_FRAMES, 16, false},
    {22, BYTES("\x03\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), GOTRACE_RULE_STACK_FRAMES, 16,
     false},
    {22, BYTES("\x03\x01\x02\x01\x01\x01\x01\x01"), GOTRACE_RULE_WIRE_TRUNCATED, 16, false},
    {22, BYTES("\x03\x01\xe8\x07\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"),
     GOTRACE_RULE_WIRE_VARINT, 20, false},
    /* String and ExperimentalBatch: too long, truncated */
    {22, BYTES("\x05\x01\xc1\x84\x3d"), GOTRACE_RULE_STRING_LENGTH, 16, false},
    {22, BYTES("\x05\x01\xc0\x84\x3d"), GOTRACE_RULE_WIRE_TRUNCATED, 16, false},
    {23, BYTES("\x31\x01\x01\x01\x01\x81\x80\x04"), GOTRACE_RULE_BATCH_HEADER, 16, false},
    {23, BYTES("\x31\x01\x01\x01\x01\x80\x80\x04"), GOTRACE_RULE_WIRE_TRUNCATED, 16, false},
};

START_TEST(rules)
{
    const bad_case *c = &bad_cases[_i];
    blob bytes = {0}, log = {0};
    gotrace_decoder *d;
    const gotrace_record *record;
    char header[GT_HEADER_SIZE + 1] = "";
    sprintf(header, "go 1.%d trace", c->version);
    blob_write(&bytes, header, GT_HEADER_SIZE);
    blob_write(&bytes, c->bytes, c->size);
    if (c->goes_on)
        blob_write(&bytes, "\x02\x07", 2);
    ck_assert_int_eq(gotrace_decoder_new(NULL, &d, NULL), GOTRACE_OK);
    ck_assert_int_eq(gotrace_decoder_feed(d, bytes.bytes, bytes.size), GOTRACE_OK);
    gotrace_decoder_finish(d);
    gotrace_status status = gotrace_decoder_next(d, &record);
    if (c->offset > GT_HEADER_SIZE && status == GOTRACE_EVENT)
        status = gotrace_decoder_next(d, &record);
    ck_assert_int_eq(status, c->goes_on ? GOTRACE_EVENT : GOTRACE_ERROR);
    if (c->goes_on) {
        ck_assert_str_eq(record->spec->name, "Frequency");
        ck_assert_uint_eq(record->index, 1);
    }
    const gotrace_error *error = gotrace_decoder_error(d);
    ck_assert_int_eq(error->rule, c->rule);
    ck_assert_uint_eq(error->offset, c->offset);
    ck_assert_uint_gt(strlen(error->message), 10);
    gotrace_decoder_free(d);
    decode(bytes.bytes, bytes.size, 1, &log);
    blob_free(&log);
    blob_free(&bytes);
}
END_TEST

typedef struct header_case {
    const char *header;
    gotrace_rule rule;
    const char *says;
} header_case;

static const header_case header_cases[] = {
    {"", GOTRACE_RULE_HEADER_SHORT, "empty"},
    {"go 1.11 trac", GOTRACE_RULE_HEADER_SHORT, "12 of 16"},
    {"\x89PNG\r\n\x1a\n", GOTRACE_RULE_HEADER_FOREIGN, "it is a PNG image"},
    /* the format is recognised by bytes after the size of a header */
    {"404 page not found\n", GOTRACE_RULE_HEADER_FOREIGN, "answer of a server"},
    {"[{\"name\": \"main.main\", \"ph\": \"B\", \"ts\": 1}]", GOTRACE_RULE_HEADER_FOREIGN,
     "a Chrome timeline"},
    {"hello, world, how are you?", GOTRACE_RULE_HEADER_MAGIC, "not a Go trace"},
    {"go 1.6 trace\0\0\0", GOTRACE_RULE_HEADER_VERSION, "1.5, 1.7"},
    {"go 1.20 trace\0\0", GOTRACE_RULE_HEADER_VERSION, "1.20"},
    {"go 2.0 trace\0\0\0", GOTRACE_RULE_HEADER_VERSION, "2.0"},
    {"go 1.24 trace\0\0", GOTRACE_RULE_HEADER_VERSION, "1.22, 1.23, 1.25, 1.26"},
    {"go 1.27 trace\0\0", GOTRACE_RULE_HEADER_VERSION, "1.27"},
};

START_TEST(headers)
{
    const header_case *c = &header_cases[_i];
    size_t size = strlen(c->header);
    if (size < GT_HEADER_SIZE && strstr(c->header, "trace"))
        size = GT_HEADER_SIZE;
    for (size_t step = 1; step <= 16; step += 15) {
        gotrace_decoder *d;
        const gotrace_record *record;
        gotrace_status status = GOTRACE_NEED_INPUT;
        ck_assert_int_eq(gotrace_decoder_new(NULL, &d, NULL), GOTRACE_OK);
        for (size_t at = 0; at < size && status == GOTRACE_NEED_INPUT; at += step) {
            size_t n = size - at < step ? size - at : step;
            ck_assert_int_eq(gotrace_decoder_feed(d, c->header + at, n), GOTRACE_OK);
            status = gotrace_decoder_next(d, &record);
        }
        gotrace_decoder_finish(d);
        ck_assert_int_eq(gotrace_decoder_next(d, &record), GOTRACE_ERROR);
        ck_assert_int_eq(gotrace_decoder_error(d)->rule, c->rule);
        ck_assert_msg(strstr(gotrace_decoder_error(d)->message, c->says), "%s",
                      gotrace_decoder_error(d)->message);
        ck_assert_int_eq(gotrace_decoder_version(d), 0);
        gotrace_decoder_free(d);
    }
}
END_TEST

static bool stop(void *ctx, const gotrace_error *problem)
{
    *(gotrace_rule *)ctx = problem->rule;
    return false;
}

START_TEST(a_problem_can_stop)
{
    gotrace_decoder *d;
    const gotrace_record *record;
    gotrace_config config = {0};
    gotrace_rule seen = GOTRACE_RULE_NONE;
    config.on_problem = stop;
    config.callback_ctx = &seen;
    ck_assert_int_eq(gotrace_decoder_new(&config, &d, NULL), GOTRACE_OK);
    ck_assert_int_eq(gotrace_decoder_feed(d, "go 1.19 trace\0\0\0\x46\x01\x02\x02\x07", 21),
                     GOTRACE_OK);
    ck_assert_int_eq(gotrace_decoder_next(d, &record), GOTRACE_ERROR);
    ck_assert_int_eq(seen, GOTRACE_RULE_EVENT_ARITY);
    ck_assert_int_eq(gotrace_decoder_next(d, &record), GOTRACE_ERROR);
    gotrace_decoder_free(d);
}
END_TEST

START_TEST(feeding_too_early)
{
    gotrace_decoder *d;
    const gotrace_record *record;
    ck_assert_int_eq(gotrace_decoder_new(NULL, &d, NULL), GOTRACE_OK);
    ck_assert_int_eq(gotrace_decoder_next(d, &record), GOTRACE_NEED_INPUT);
    ck_assert_int_eq(gotrace_decoder_feed(d, NULL, 0), GOTRACE_OK);
    ck_assert_int_eq(gotrace_decoder_feed(d, "go 1.", 5), GOTRACE_OK);
    ck_assert_int_eq(gotrace_decoder_feed(d, "19 trace", 8), GOTRACE_ERROR);
    ck_assert_int_eq(gotrace_decoder_error(d)->rule, GOTRACE_RULE_USAGE);
    gotrace_decoder_free(d);

    ck_assert_int_eq(gotrace_decoder_new(NULL, &d, NULL), GOTRACE_OK);
    gotrace_decoder_finish(d);
    ck_assert_int_eq(gotrace_decoder_feed(d, "go 1.", 5), GOTRACE_ERROR);
    gotrace_decoder_free(d);
    gotrace_decoder_free(NULL);
}
END_TEST

/* ---- memory --------------------------------------------------------------------------------- */

/* Decode in pieces of 5 bytes; true if no allocation failed. */
static bool decode_with(const trace_file *f, failing_allocator *a)
{
    gotrace_decoder *d;
    const gotrace_record *record;
    gotrace_error error = {0};
    gotrace_config config = failing_config(a);
    if (gotrace_decoder_new(&config, &d, &error) != GOTRACE_OK) {
        ck_assert_int_eq(error.rule, GOTRACE_RULE_SYSTEM_MEMORY);
        return false;
    }
    gotrace_status status = GOTRACE_NEED_INPUT;
    for (size_t at = 0; at < f->content.size && status == GOTRACE_NEED_INPUT; at += 5) {
        size_t n = f->content.size - at < 5 ? f->content.size - at : 5;
        ck_assert_int_eq(gotrace_decoder_feed(d, f->content.bytes + at, n), GOTRACE_OK);
        while ((status = gotrace_decoder_next(d, &record)) == GOTRACE_EVENT)
            ;
    }
    if (status == GOTRACE_ERROR)
        ck_assert_int_eq(gotrace_decoder_error(d)->rule, GOTRACE_RULE_SYSTEM_MEMORY);
    gotrace_decoder_free(d);
    return status != GOTRACE_ERROR;
}

START_TEST(memory_refused)
{
    trace_file *files = traces_load(2500);
    for (trace_file *f = files; f->path[0]; f++)
        for (uint64_t n = 0;; n++) {
            failing_allocator a = {.fail_at = n};
            bool done = decode_with(f, &a);
            ck_assert_int_eq(a.bytes, 0);
            ck_assert_uint_lt(n, 100);
            if (done)
                break;
        }
    traces_free(files);
}
END_TEST

/* Every record of a v2 version, with each allocation failing once. */
START_TEST(v2_memory_refused)
{
    trace_file file = {.path = "all of v2"};
    trace_of_all(v2_versions[_i], &file.content);
    for (uint64_t n = 0;; n++) {
        failing_allocator a = {.fail_at = n};
        bool done = decode_with(&file, &a);
        ck_assert_int_eq(a.bytes, 0);
        ck_assert_uint_lt(n, 100);
        if (done)
            break;
    }
    blob_free(&file.content);
}
END_TEST

/* The longest stack, byte by byte: the time is linear, because decoded bytes are not decoded again.
 */
START_TEST(v2_longest_stack)
{
    enum { FRAMES = 1000, VALUES = 4 * FRAMES };
    gotrace_decoder *d;
    const gotrace_record *record;
    blob bytes = {0};
    blob_write(&bytes, "go 1.22 trace\0\0\0\x03\x01\xe8\x07", 20);
    for (int i = 0; i < VALUES; i++)
        blob_write(&bytes, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10);
    ck_assert_int_eq(gotrace_decoder_new(NULL, &d, NULL), GOTRACE_OK);
    gotrace_status status = GOTRACE_NEED_INPUT;
    for (size_t at = 0; at < bytes.size; at++) {
        ck_assert_int_eq(status, GOTRACE_NEED_INPUT);
        ck_assert_int_eq(gotrace_decoder_feed(d, bytes.bytes + at, 1), GOTRACE_OK);
        status = gotrace_decoder_next(d, &record);
    }
    ck_assert_int_eq(status, GOTRACE_EVENT);
    ck_assert_uint_eq(record->arg_count, 2 + VALUES);
    ck_assert_uint_eq(record->width_count, 2 + VALUES);
    ck_assert_uint_eq(record->args[1 + VALUES], UINT64_MAX);
    gotrace_decoder_free(d);
    blob_free(&bytes);
}
END_TEST

/* A string of the maximum length, byte by byte, is held once, and within a configured limit. */
START_TEST(memory_limit)
{
    enum { LONG = 1000000 };
    char *text = malloc(LONG);
    memset(text, 'x', LONG);
    for (int limited = 0; limited <= 1; limited++) {
        gotrace_decoder *d;
        const gotrace_record *record;
        gotrace_config config = {0};
        config.limits = &(gotrace_limits){.memory = limited ? 100000 : 4000000};
        ck_assert_int_eq(gotrace_decoder_new(&config, &d, NULL), GOTRACE_OK);
        ck_assert_int_eq(gotrace_decoder_feed(d, "go 1.19 trace\0\0\0\x25\x01\xc0\x84\x3d", 21),
                         GOTRACE_OK);
        gotrace_status status = gotrace_decoder_next(d, &record);
        for (size_t at = 0; at < LONG && status == GOTRACE_NEED_INPUT; at++) {
            gotrace_decoder_feed(d, text + at, 1);
            status = gotrace_decoder_next(d, &record);
        }
        ck_assert_int_eq(status, limited ? GOTRACE_ERROR : GOTRACE_EVENT);
        if (limited)
            ck_assert_int_eq(gotrace_decoder_error(d)->rule, GOTRACE_RULE_SYSTEM_LIMIT);
        else
            ck_assert_uint_eq(record->data_size, LONG);
        gotrace_decoder_free(d);
    }
    free(text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("decoder");
    TCase *cases = tcase_create("decoder");
    tcase_add_test(cases, varint_edges);
    tcase_add_test(cases, varint_padded);
    tcase_add_test(cases, varint_too_long);
    tcase_add_test(cases, all_divisions_agree);
    tcase_add_test(cases, foreign_in_pieces);
    tcase_add_loop_test(cases, v2_records, 0, 4);
    tcase_add_test(cases, truncation_at_every_byte);
    tcase_add_test(cases, every_bit_flipped);
    tcase_add_test(cases, random_bytes);
    tcase_add_loop_test(cases, rules, 0, sizeof bad_cases / sizeof bad_cases[0]);
    tcase_add_loop_test(cases, headers, 0, sizeof header_cases / sizeof header_cases[0]);
    tcase_add_test(cases, a_problem_can_stop);
    tcase_add_test(cases, feeding_too_early);
    tcase_add_test(cases, memory_refused);
    tcase_add_loop_test(cases, v2_memory_refused, 0, 4);
    tcase_add_test(cases, v2_longest_stack);
    tcase_add_test(cases, memory_limit);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
