/* encoder.c - writes the header, single records as specified, and the output buffer. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/sized.h"
#include "write/encoder.h"

#define OUT_CAPACITY   ((size_t)64 << 10)
#define FORM_OF_TRACER 0xff

/* Maximum size of a record without data and with the table's values only, including first byte and
 * length. */
#define SMALL_RECORD (2 + GOTRACE_MAX_ARGS * GT_VARINT_MAX)

/* ---- canonical encoding ---------------------------------------------------------------------- */

uint8_t gotrace_record_form(const gotrace_event_spec *spec, int version)
{
    version = gotrace_release_version(version);
    if (gt_is_v2(version))
        return 0;
    if (spec->flags & GOTRACE_SPEC_FRAMES)
        return 3;
    if ((spec->flags & GOTRACE_SPEC_DATA) && !(spec->flags & GOTRACE_SPEC_TIMED))
        return 0;
    int above = version < GT_FIRST_NUMBERED ? -2 : -1;
    for (size_t i = 0; i < spec->arg_count; i++)
        above += spec->args[i].since <= version && version <= spec->args[i].until;
    return (uint8_t)(above < 3 ? above : 3);
}

uint8_t gotrace_record_width(const gotrace_event_spec *spec, int version, size_t n)
{
    bool padded;
    if (gt_is_v2(version))
        padded = (spec->code == GOTRACE_V2_EventBatch && n == 3) ||
                 (spec->code == GOTRACE_V2_ExperimentalBatch && n == 4);
    else
        padded = version >= GT_FIRST_STW_REASON && (spec->flags & GOTRACE_SPEC_FRAMES) && n == 0;
    return padded ? GT_VARINT_MAX : 0;
}

/* ---- errors and output ---------------------------------------------------------------------- */

gotrace_status gt_encoder_fail_memory(gotrace_encoder *e)
{
    return e->status = gt_error_memory(&e->error, &e->heap);
}

const gotrace_error *gotrace_encoder_error(const gotrace_encoder *encoder)
{
    return &encoder->error;
}

static gotrace_status pass(gotrace_encoder *e, const void *bytes, size_t size)
{
    if (size == 0)
        return GOTRACE_OK;
    errno = 0;
    if (e->write(e->ctx, bytes, size))
        return GOTRACE_OK;
    static const char said[] = "the trace was not written";
    if (errno)
        gt_error_system(&e->error, GOTRACE_RULE_SYSTEM_WRITE, errno, "%s", said);
    else
        gt_error_set(&e->error, GOTRACE_RULE_SYSTEM_WRITE, GT_NO_PLACE, "%s", said);
    return e->status = GOTRACE_ERROR;
}

gotrace_status gt_encoder_flush_out(gotrace_encoder *e)
{
    gotrace_status status = pass(e, e->out, e->out_used);
    e->out_used = 0;
    return status;
}

gotrace_status gt_encoder_pass(gotrace_encoder *e, const void *bytes, size_t size)
{
    gotrace_status status = gt_encoder_flush_out(e);
    return status == GOTRACE_OK ? pass(e, bytes, size) : status;
}

/* Makes room for size bytes after those in out; false with the error set on failure. */
static bool make_room(gotrace_encoder *e, size_t size)
{
    if (size <= e->out_capacity - e->out_used)
        return true;
    if (gt_encoder_flush_out(e) != GOTRACE_OK)
        return false;
    if (size <= e->out_capacity)
        return true;
    void *out = e->out;
    if (size < OUT_CAPACITY)
        size = OUT_CAPACITY;
    bool grown = gt_grow(&e->heap, &out, &e->out_capacity, size, 1);
    e->out = out;
    if (!grown)
        gt_encoder_fail_memory(e);
    return grown;
}

/* ---- opening and closing -------------------------------------------------------------------- */

static gotrace_status write_header(gotrace_encoder *e)
{
    char header[32] = "";
    snprintf(header, sizeof header, "go 1.%d trace", e->version);
    return pass(e, header, GT_HEADER_SIZE);
}

static void init_table(gotrace_encoder *e)
{
    const gotrace_arg_spec *args[GOTRACE_MAX_ARGS];
    gt_v1_shapes_init(e->shapes, e->version);
    for (unsigned code = 0; code < GT_CODES; code++) {
        e->specs[code] = gotrace_event_spec_of(e->version, code);
        if (e->specs[code])
            e->values[code] = (uint8_t)gotrace_event_args(e->specs[code], e->version, args);
    }
}

gotrace_status gotrace_encoder_new(int version, gotrace_write_fn write, void *ctx,
                                   const gotrace_config *config, gotrace_encoder **encoder,
                                   gotrace_error *error)
{
    gt_call call;
    *encoder = NULL;
    gotrace_status status = gt_call_begin(&call, config);
    if (status == GOTRACE_OK)
        status = gt_encoder_new(version, write, ctx, &call.config, encoder, &call.error);
    return gt_call_end(&call, status, error);
}

gotrace_status gt_encoder_new(int version, gotrace_write_fn write, void *ctx,
                              const gotrace_config *config, gotrace_encoder **encoder,
                              gotrace_error *error)
{
    int release = version;
    version = gotrace_release_version(release);
    if (version == 0)
        return gt_error_set(error, GOTRACE_RULE_HEADER_VERSION, GT_NO_PLACE,
                            "the trace version of Go 1.%d is unknown", release);
    gt_heap heap;
    gt_heap_init(&heap, config);
    gotrace_encoder *e = gt_calloc(&heap, 1, sizeof *e);
    if (!e)
        return gt_error_memory(error, &heap);
    gotrace_limits limits = gt_limits(config);
    e->heap = heap;
    e->write = write;
    e->ctx = ctx;
    e->version = version;
    e->max_string = limits.string_bytes;
    e->max_frames = limits.frames;
    e->max_strings = limits.strings;
    e->max_stacks = limits.stacks;
    e->max_procs = limits.procs;
    init_table(e);
    gt_encoder_init_events(e);
    if (write_header(e) != GOTRACE_OK) {
        *error = e->error;
        gotrace_encoder_free(e);
        return GOTRACE_ERROR;
    }
    *encoder = e;
    return GOTRACE_OK;
}

void gotrace_encoder_free(gotrace_encoder *encoder)
{
    if (!encoder)
        return;
    gt_encoder_free_events(encoder);
    gt_heap heap = encoder->heap;
    gt_free(&heap, encoder->out, encoder->out_capacity);
    gt_free(&heap, encoder, sizeof *encoder);
}

/* ---- single records ------------------------------------------------------------------------- */

static gotrace_status fail_record(gotrace_encoder *e, gotrace_rule rule, const char *name,
                                  const char *format, unsigned long long found,
                                  unsigned long long wanted)
{
    char text[160];
    gt_place place = {GOTRACE_NO_OFFSET, GOTRACE_NO_OFFSET, e->records};
    snprintf(text, sizeof text, format, found, wanted);
    return e->status = gt_error_set(&e->error, rule, place, "%s %s", name, text);
}

/* Checks the number of values: as the type requires, plus those of the frames. */
static gotrace_status check_count(gotrace_encoder *e, const gotrace_record *record)
{
    const gotrace_event_spec *spec = record->spec;
    size_t count = record->arg_count, want = e->values[spec->code];
    if (spec->flags & GOTRACE_SPEC_FRAMES) {
        size_t per_frame = gotrace_frame_values(e->version);
        if (count >= want && record->args[1] > e->max_frames)
            return fail_record(e, GOTRACE_RULE_STACK_FRAMES, spec->name,
                               "has %llu frames; at most %llu are allowed", record->args[1],
                               e->max_frames);
        if (count >= want)
            want += (size_t)record->args[1] * per_frame;
    }
    if (count != want)
        return fail_record(e, GOTRACE_RULE_EVENT_ARITY, spec->name,
                           "has %llu values; %llu are expected", count, want);
    return GOTRACE_OK;
}

/* Checks whether the record may have data, and its length. */
static gotrace_status check_data(gotrace_encoder *e, const gotrace_record *record)
{
    const gotrace_event_spec *spec = record->spec;
    bool v2 = gt_is_v2(e->version);
    size_t size = record->data_size;
    if (!(spec->flags & GOTRACE_SPEC_DATA))
        return size == 0 ? GOTRACE_OK
                         : fail_record(e, GOTRACE_RULE_USAGE, spec->name,
                                       "has %llu-byte data; %llu bytes are expected", size, 0);
    if (v2 && spec->code == GOTRACE_V2_ExperimentalBatch) {
        if (size > GT_BATCH_MAX)
            return fail_record(e, GOTRACE_RULE_BATCH_HEADER, spec->name,
                               "has %llu bytes; at most %llu are allowed", size, GT_BATCH_MAX);
    } else if (spec->flags & GOTRACE_SPEC_TIMED) {
        if (size > e->max_string)
            return fail_record(e, GOTRACE_RULE_LOG_LENGTH, spec->name,
                               "has a %llu-byte message; at most %llu are allowed", size,
                               e->max_string);
    } else if (size > e->max_string || (size == 0 && !v2)) {
        return fail_record(e, GOTRACE_RULE_STRING_LENGTH, spec->name,
                           v2 ? "has %llu bytes; at most %llu are allowed"
                              : "has %llu bytes; 1 to %llu are allowed",
                           size, e->max_string);
    }
    return GOTRACE_OK;
}

/* Checks that the version has the form, and that it can bind_unknown the values. */
static gotrace_status check_form(gotrace_encoder *e, const gotrace_record *record, unsigned form)
{
    const gotrace_event_spec *spec = record->spec;
    if (gt_is_v2(e->version))
        return form == 0 ? GOTRACE_OK
                         : fail_record(e, GOTRACE_RULE_USAGE, spec->name,
                                       "has form %llu; from go 1.%llu on there is only form 0",
                                       form, GOTRACE_FIRST_V2);
    unsigned least = e->version < GT_FIRST_NUMBERED ? 2 : 1;
    if (form > 3)
        return fail_record(e, GOTRACE_RULE_USAGE, spec->name,
                           "has form %llu; 0 to %llu are possible", form, 3);
    if (form < 3 && spec->code != GOTRACE_V1_String && record->arg_count != form + least)
        return fail_record(e, GOTRACE_RULE_USAGE, spec->name,
                           "has %llu values; its form holds %llu", record->arg_count, form + least);
    return GOTRACE_OK;
}

/* The size of the n-th varint, whose value is v; 0 with the error set if the value does not fit. */
static unsigned width_of(gotrace_encoder *e, const gotrace_record *record, size_t n, uint64_t v)
{
    unsigned least = gt_varint_size(v), width = record->widths ? record->widths[n] : 0;
    if (width == 0) {
        unsigned usual = gotrace_record_width(record->spec, e->version, n);
        return usual > least ? usual : least;
    }
    if (width >= least && width <= GT_VARINT_MAX)
        return width;
    fail_record(e, GOTRACE_RULE_USAGE, record->spec->name,
                "has a number with a width of %llu; %llu to 10 bytes are possible", width, least);
    return 0;
}

/* Writes any record to out, followed by its data. */
static gotrace_status write_record(gotrace_encoder *e, const gotrace_record *record, unsigned form)
{
    const gotrace_event_spec *spec = record->spec;
    bool has_length = form == 3 && spec->code != GOTRACE_V1_String; /* never in v2 */
    bool has_data = spec->flags & GOTRACE_SPEC_DATA;
    size_t varints = record->arg_count + has_length + has_data;
    if (record->widths && record->width_count != varints)
        return fail_record(e, GOTRACE_RULE_USAGE, spec->name, "has %llu widths; %llu are expected",
                           record->width_count, varints);
    if (!make_room(e, 1 + varints * GT_VARINT_MAX))
        return e->status;

    size_t n = has_length;
    uint64_t length = 0;
    for (size_t i = 0; i < record->arg_count; i++, n++) {
        unsigned width = width_of(e, record, n, record->args[i]);
        if (width == 0)
            return e->status;
        length += width;
    }
    uint8_t *p = e->out + e->out_used;
    *p++ = (uint8_t)(spec->code | form << 6);
    if (has_length) {
        unsigned width = width_of(e, record, 0, length);
        if (width == 0)
            return e->status;
        p = gt_put_wide(p, length, width);
    }
    n = has_length;
    for (size_t i = 0; i < record->arg_count; i++, n++)
        p = gt_put_wide(p, record->args[i], width_of(e, record, n, record->args[i]));
    if (has_data) {
        unsigned width = width_of(e, record, n, record->data_size);
        if (width == 0)
            return e->status;
        p = gt_put_wide(p, record->data_size, width);
    }
    e->out_used = (size_t)(p - e->out);
    if (record->data_size > 0) {
        if (record->data_size > e->out_capacity - e->out_used)
            return gt_encoder_pass(e, record->data, record->data_size);
        memcpy(e->out + e->out_used, record->data, record->data_size);
        e->out_used += record->data_size;
    }
    return GOTRACE_OK;
}

/* Writes a record in the usual encoding, without computing its size first. */
static void write_small(gotrace_encoder *e, const gotrace_record *record, unsigned form)
{
    uint8_t *p = e->out + e->out_used;
    *p++ = (uint8_t)(record->spec->code | form << 6);
    uint8_t *length = p;
    p += form == 3;
    for (size_t i = 0; i < record->arg_count; i++)
        p = gt_put(p, record->args[i]);
    if (form == 3)
        *length = (uint8_t)(p - length - 1);
    e->out_used = (size_t)(p - e->out);
}

/* Whether such records have all numbers in minimal size. */
static bool is_small(const gotrace_encoder *e, const gotrace_event_spec *spec)
{
    return !(spec->flags & (GOTRACE_SPEC_DATA | GOTRACE_SPEC_FRAMES)) &&
           !(gt_is_v2(e->version) && spec->code == GOTRACE_V2_EventBatch);
}

gotrace_status gotrace_encoder_record(gotrace_encoder *e, const gotrace_record *record)
{
    gotrace_record whole;
    if (e->status < 0)
        return e->status;
    if (!gt_sized_is_whole(&gt_sized_record, record->size)) {
        if (gt_sized_take(&gt_sized_record, &whole, record, &e->error) < 0)
            return e->status = GOTRACE_ERROR;
        record = &whole;
    }
    const gotrace_event_spec *spec = record->spec;
    if (e->finished || !spec || e->specs[spec->code] != spec)
        return fail_record(e, GOTRACE_RULE_USAGE, spec ? spec->name : "a record",
                           e->finished ? "comes after the trace was finished"
                                       : "is not of a type that version 1.%llu has",
                           (unsigned long long)e->version, 0);
    unsigned usual = gt_is_v2(e->version) ? 0 : e->shapes[spec->code].inlined;
    unsigned form = record->form == FORM_OF_TRACER ? usual : record->form;
    if (check_count(e, record) != GOTRACE_OK || check_form(e, record, form) != GOTRACE_OK ||
        check_data(e, record) != GOTRACE_OK)
        return e->status;
    gotrace_status status = GOTRACE_OK;
    if (!record->widths && form == usual && is_small(e, spec)) {
        if (!make_room(e, SMALL_RECORD))
            return e->status;
        write_small(e, record, form);
    } else {
        status = write_record(e, record, form);
    }
    e->records += status == GOTRACE_OK;
    return status;
}
