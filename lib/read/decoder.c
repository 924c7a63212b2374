/*
 * decoder.c - the streaming decoder: from bytes in pieces of any size to records in file order.
 *
 * A record that lies completely in the current piece is decoded in place. One that crosses pieces
 * is collected in `held`, which never receives bytes beyond the record; so whether a record is
 * complete does not depend on where the pieces end.
 */
#include <string.h>

#include "core/errors.h"
#include "core/foreign.h"
#include "core/sized.h"
#include "core/wire.h"

/* Maximum size of a record with at most that many values, including first byte and length. */
#define SMALL_VALUES 5
#define SMALL_RECORD (2 + SMALL_VALUES * GT_VARINT_MAX)

struct gotrace_decoder {
    gt_heap heap;
    gotrace_problem_fn on_problem;
    void *callback_ctx;
    uint64_t max_string, max_frames;
    uint64_t max_length;     /* maximum size of the values of a v1 record */
    const uint8_t *at, *end; /* unread part of the current piece */
    bool finished;           /* no more pieces follow */
    bool delivered_held;     /* the last record returned is in held */
    uint8_t *held;
    size_t held_size, held_capacity;
    uint64_t wanted; /* number of bytes that held needs to continue */
    uint64_t *args;
    size_t args_capacity;
    uint8_t *widths;
    size_t widths_capacity;
    int version; /* 0 before the header is read */
    bool is_v2;
    gt_v1_shape shapes[64];
    gt_v2_shape v2_shapes[GT_CODES];
    const gotrace_event_spec *specs[GT_CODES];
    gt_place place;        /* of the next record */
    gotrace_status status; /* GOTRACE_END and GOTRACE_ERROR are permanent */
    gotrace_error error;
    gotrace_record record; /* the last one returned */
};

static gotrace_status new_decoder(const gotrace_config *config, gotrace_decoder **decoder,
                                  gotrace_error *error)
{
    gt_heap heap;
    gt_heap_init(&heap, config);
    gotrace_decoder *d = gt_calloc(&heap, 1, sizeof *d);
    if (!d)
        return gt_error_memory(error, &heap);
    d->heap = heap;
    d->record.size = sizeof d->record;
    d->on_problem = config->on_problem;
    d->callback_ctx = config->callback_ctx;
    gotrace_limits limits = gt_limits(config);
    d->max_string = limits.string_bytes;
    d->max_frames = limits.frames;
    /* Id, count, and four values per frame, of at most ten bytes each. */
    d->max_length = (2 + 4 * d->max_frames) * GT_VARINT_MAX;
    d->place = (gt_place){0, GOTRACE_NO_OFFSET, 0};
    d->at = d->end = (const uint8_t *)"";
    *decoder = d;
    return GOTRACE_OK;
}

gotrace_status gotrace_decoder_new(const gotrace_config *config, gotrace_decoder **decoder,
                                   gotrace_error *error)
{
    gt_call call;
    *decoder = NULL;
    gotrace_status status = gt_call_begin(&call, config);
    if (status == GOTRACE_OK)
        status = new_decoder(&call.config, decoder, &call.error);
    return gt_call_end(&call, status, error);
}

void gotrace_decoder_free(gotrace_decoder *decoder)
{
    if (!decoder)
        return;
    gt_heap heap = decoder->heap;
    gt_free(&heap, decoder->held, decoder->held_capacity);
    gt_free(&heap, decoder->args, decoder->args_capacity * sizeof *decoder->args);
    gt_free(&heap, decoder->widths, decoder->widths_capacity);
    gt_free(&heap, decoder, sizeof *decoder);
}

int gotrace_decoder_version(const gotrace_decoder *decoder)
{
    return decoder->version;
}

const gotrace_error *gotrace_decoder_error(const gotrace_decoder *decoder)
{
    return &decoder->error;
}

gotrace_status gotrace_decoder_feed(gotrace_decoder *d, const void *bytes, size_t size)
{
    if (d->status < 0)
        return d->status;
    if (d->finished || d->at != d->end)
        return d->status = gt_error_set(&d->error, GOTRACE_RULE_USAGE, GT_NO_PLACE, "%s",
                                        d->finished
                                            ? "bytes fed to a decoder after gotrace_decoder_finish"
                                            : "bytes fed to a decoder that has not consumed the "
                                              "last ones");
    if (size > 0) {
        d->at = bytes;
        d->end = d->at + size;
    }
    return GOTRACE_OK;
}

void gotrace_decoder_finish(gotrace_decoder *d)
{
    d->finished = true;
}

/* ---- records that cross pieces --------------------------------------------------------------- */

/* Moves bytes into held until it has `size` of them or the piece is used up. It may have more. */
static bool collect(gotrace_decoder *d, uint64_t size)
{
    if (d->held_size >= size)
        return true;
    size_t left = (size_t)(d->end - d->at);
    size_t take = size - d->held_size < left ? (size_t)(size - d->held_size) : left;
    if (take == 0)
        return true;
    void *held = d->held;
    if (!gt_grow(&d->heap, &held, &d->held_capacity, d->held_size + take, 1))
        return false;
    d->held = held;
    memcpy(d->held + d->held_size, d->at, take);
    d->held_size += take;
    d->at += take;
    return true;
}

static gotrace_status fail_memory(gotrace_decoder *d)
{
    d->status = gt_error_memory(&d->error, &d->heap);
    d->error.offset = d->place.offset;
    return d->status;
}

/* Makes room for the values that n bytes can contain, and for two lengths. */
static bool make_room(gotrace_decoder *d, size_t n)
{
    if (n <= d->args_capacity && n + 2 <= d->widths_capacity)
        return true;
    void *args = d->args, *widths = d->widths;
    bool ok = gt_grow(&d->heap, &args, &d->args_capacity, n, sizeof *d->args);
    d->args = args;
    ok = ok && gt_grow(&d->heap, &widths, &d->widths_capacity, n + 2, 1);
    d->widths = widths;
    return ok;
}

static gotrace_status read_header(gotrace_decoder *d)
{
    if (!collect(d, GT_HEADER_SIZE))
        return fail_memory(d);
    if (d->held_size < GT_HEADER_SIZE && !d->finished)
        return GOTRACE_NEED_INPUT;
    int version = gt_wire_header(d->held, d->held_size, &d->error);
    if (version == 0) {
        /* Recognising a file of another kind may need more bytes; the result must not depend on the
         * size of the pieces. */
        if (d->error.rule == GOTRACE_RULE_HEADER_MAGIC ||
            d->error.rule == GOTRACE_RULE_HEADER_FOREIGN) {
            if (!collect(d, GT_FOREIGN_LOOK))
                return fail_memory(d);
            if (d->held_size < GT_FOREIGN_LOOK && !d->finished)
                return GOTRACE_NEED_INPUT;
            gt_wire_header(d->held, d->held_size, &d->error);
        }
        return d->status = GOTRACE_ERROR;
    }
    d->version = version;
    d->is_v2 = gt_is_v2(version);
    gt_v1_shapes_init(d->shapes, version);
    if (d->is_v2)
        gt_v2_shapes_init(d->v2_shapes, version);
    for (unsigned code = 0; code < GT_CODES; code++)
        d->specs[code] = gotrace_event_spec_of(version, code);
    d->held_size = 0;
    d->place.offset = GT_HEADER_SIZE;
    return make_room(d, SMALL_RECORD) ? GOTRACE_OK : fail_memory(d);
}

/* ---- errors ---------------------------------------------------------------------------------- */

static gotrace_status fail_wire(gotrace_decoder *d, gt_wire_status status, const gt_frame *frame,
                                const uint8_t *start)
{
    gt_place place = d->place;
    const gotrace_event_spec *spec = d->specs[frame->type];
    const char *name = spec ? spec->name : "";
    switch (status) {
    case GT_WIRE_TYPE:
        gt_error_set(&d->error, GOTRACE_RULE_WIRE_TYPE, place,
                     "event type %u is unknown in go 1.%d", frame->type, d->version);
        break;
    case GT_WIRE_STRING_LENGTH:
        gt_error_set(&d->error, GOTRACE_RULE_STRING_LENGTH, place,
                     "a string of %llu bytes; %d to %llu are allowed",
                     (unsigned long long)frame->data_size, d->is_v2 ? 0 : 1,
                     (unsigned long long)d->max_string);
        break;
    case GT_WIRE_LOG_LENGTH:
        gt_error_set(&d->error, GOTRACE_RULE_LOG_LENGTH, place,
                     "a log message of %llu bytes; at most %llu are allowed",
                     (unsigned long long)frame->data_size, (unsigned long long)d->max_string);
        break;
    case GT_WIRE_BATCH_LENGTH:
        gt_error_set(&d->error, GOTRACE_RULE_BATCH_HEADER, place,
                     "a batch of an experiment of %llu bytes; at most %d are allowed",
                     (unsigned long long)frame->data_size, GT_BATCH_MAX);
        break;
    case GT_WIRE_FRAMES:
        gt_error_set(&d->error, GOTRACE_RULE_STACK_FRAMES, place,
                     "a stack of %llu frames; at most %llu are allowed",
                     (unsigned long long)frame->frames, (unsigned long long)d->max_frames);
        break;
    default:
        place.offset += (uint64_t)(frame->bad - start);
        gt_error_set(&d->error, GOTRACE_RULE_WIRE_VARINT, place,
                     "a number of the %s record at 0x%llx has more than ten bytes or 64 bits", name,
                     (unsigned long long)d->place.offset);
        break;
    }
    return d->status = GOTRACE_ERROR;
}

static gotrace_status fail_length(gotrace_decoder *d, const gt_frame *frame)
{
    gt_error_set(&d->error, GOTRACE_RULE_WIRE_LENGTH, d->place,
                 "a %s record of %llu bytes; no record has more than %llu",
                 d->specs[frame->type]->name, (unsigned long long)frame->length,
                 (unsigned long long)d->max_length);
    return d->status = GOTRACE_ERROR;
}

/* The input ends within a record. */
static gotrace_status fail_truncated(gotrace_decoder *d, const gt_frame *frame)
{
    const gotrace_event_spec *spec = d->specs[frame->type];
    gt_error_set(&d->error, GOTRACE_RULE_WIRE_TRUNCATED, d->place,
                 "the trace ends within a %s record: %zu byte%s of it there, at least %llu "
                 "needed",
                 spec ? spec->name : "", d->held_size, gt_plural(d->held_size),
                 (unsigned long long)frame->size);
    return d->status = GOTRACE_ERROR;
}

/* Reports a record with a known end and wrong content. True: continue after it. */
static bool skip_record(gotrace_decoder *d)
{
    if (!d->on_problem || d->on_problem(d->callback_ctx, &d->error))
        return true;
    d->status = GOTRACE_ERROR;
    return false;
}

/* ---- values --------------------------------------------------------------------------------- */

/* Decodes the values from *p to end into args, and their sizes after *width. Returns NULL, or the
 * varint that does not end before end; *status is -1 if it is too long. */
static const uint8_t *read_values(gotrace_decoder *d, const uint8_t *p, const uint8_t *end,
                                  size_t *arg_count, uint8_t **width, int *status)
{
    uint64_t *arg = d->args;
    uint8_t *w = *width;
    while (p < end) {
        const uint8_t *start = p;
        /* Most values take one byte. */
        if (*p < 0x80) {
            *arg++ = *p++;
            *w++ = 1;
            continue;
        }
        int used = gt_varint(&p, end, arg);
        if (used <= 0) {
            *status = used;
            return start;
        }
        arg++;
        *w++ = (uint8_t)used;
    }
    *arg_count = (size_t)(arg - d->args);
    *width = w;
    return NULL;
}

static uint8_t width_between(const uint8_t *from, const uint8_t *to)
{
    return (uint8_t)(to - from);
}

/* Checks the number of values; sets the error if it is wrong. */
static bool check_arity(gotrace_decoder *d, const gotrace_record *record)
{
    if (d->is_v2)
        return true; /* v2 records are read according to their type */
    size_t want = d->shapes[record->spec->code].values;
    if (!(record->spec->flags & GOTRACE_SPEC_FRAMES)) {
        if (record->arg_count == want)
            return true;
        gt_error_set(&d->error, GOTRACE_RULE_EVENT_ARITY, d->place,
                     "%s has %zu value%s, %zu are expected in go 1.%d", record->spec->name,
                     record->arg_count, gt_plural(record->arg_count), want, d->version);
        return false;
    }
    if (record->arg_count < want) {
        gt_error_set(&d->error, GOTRACE_RULE_EVENT_ARITY, d->place,
                     "%s has %zu value%s, at least %zu are expected", record->spec->name,
                     record->arg_count, gt_plural(record->arg_count), want);
        return false;
    }
    uint64_t frames = record->args[1];
    if (frames > d->max_frames) {
        gt_error_set(&d->error, GOTRACE_RULE_STACK_FRAMES, d->place,
                     "a stack of %llu frames; at most %llu are allowed", (unsigned long long)frames,
                     (unsigned long long)d->max_frames);
        return false;
    }
    size_t per_frame = gotrace_frame_values(d->version);
    if (record->arg_count - want == frames * per_frame)
        return true;
    gt_error_set(&d->error, GOTRACE_RULE_STACK_FRAMES, d->place,
                 "a stack says %llu frame%s, but has %zu value%s instead of %llu for that",
                 (unsigned long long)frames, gt_plural(frames), record->arg_count - want,
                 gt_plural(record->arg_count - want), (unsigned long long)(frames * per_frame));
    return false;
}

/* Sets the members that every record has. One by one, because gcc clears a whole struct with a
 * string instruction that takes longer than decoding. */
static inline void deliver(gotrace_decoder *d, unsigned type, unsigned form,
                           const uint8_t *widths_end)
{
    gotrace_record *record = &d->record;
    record->spec = d->specs[type];
    record->offset = d->place.offset;
    record->index = d->place.event;
    record->args = d->args;
    record->form = (uint8_t)form;
    record->widths = d->widths;
    record->width_count = (size_t)(widths_end - d->widths);
}

/* Fills d->record from its parts. GOTRACE_OK: skip the record. */
static gotrace_status decode(gotrace_decoder *d, const uint8_t *start, const gt_frame *frame)
{
    gotrace_record *record = &d->record;
    size_t room = (size_t)(frame->values_end - frame->values);
    if (!make_room(d, room))
        return fail_memory(d);

    uint8_t *width = d->widths;
    if (frame->form == 3 && frame->type != GOTRACE_V1_String) /* never in v2 */
        *width++ = width_between(start + 1, frame->values);
    size_t arg_count = 0;
    int status = 0;
    const uint8_t *bad = read_values(d, frame->values, frame->values_end, &arg_count, &width,
                                     &status);
    if (bad && status < 0) {
        gt_frame at = *frame;
        at.bad = bad;
        return fail_wire(d, GT_WIRE_VARINT, &at, start);
    }
    if (bad) {
        gt_error_set(&d->error, GOTRACE_RULE_WIRE_LENGTH, d->place,
                     "the length of the %s record is %llu bytes, but a value goes on beyond that",
                     d->specs[frame->type]->name, (unsigned long long)frame->length);
        return d->status = GOTRACE_ERROR;
    }
    if (frame->data)
        *width++ = width_between(frame->values_end, frame->data);

    record->length = frame->size;
    deliver(d, frame->type, frame->form, width);
    record->arg_count = arg_count;
    record->data = (const char *)frame->data;
    record->data_size = (size_t)frame->data_size;
    return check_arity(d, record) ? GOTRACE_EVENT : GOTRACE_OK;
}

/* Decodes `count` values from p on, without bounds checks, into args, and their sizes from *width
 * on. Returns their end, or NULL if one is too long. */
static inline const uint8_t *read_small(const gotrace_decoder *d, const uint8_t *p, unsigned count,
                                        uint8_t **width)
{
    uint64_t *arg = d->args;
    uint8_t *w = *width;
    for (; count > 0; count--) {
        if (*p < 0x80) {
            *arg++ = *p++;
            *w++ = 1;
            continue;
        }
        int used = gt_varint(&p, d->end, arg++);
        if (used < 0)
            return NULL;
        *w++ = (uint8_t)used;
    }
    *width = w;
    return p;
}

/* Returns the record from d->at to end. */
static inline bool deliver_small(gotrace_decoder *d, const uint8_t *end, unsigned type,
                                 unsigned form, unsigned values, const uint8_t *widths_end)
{
    gotrace_record *record = &d->record;
    record->length = (uint64_t)(end - d->at);
    deliver(d, type, form, widths_end);
    record->arg_count = values;
    record->data = NULL;
    record->data_size = 0;
    d->at = end;
    d->place.offset += record->length;
    d->place.event++;
    return true;
}

/* Fast path for most records of a trace, which halves the time: a record without data or frames, in
 * the form its tracer writes, completely in the current piece. Returns false, without effect, for
 * anything else and for all errors. */
static bool decode_small(gotrace_decoder *d)
{
    const uint8_t *p = d->at;
    if (d->end - p < SMALL_RECORD || d->held_size > 0)
        return false;
    unsigned type = *p & 0x3f, form = *p >> 6;
    const gt_v1_shape *shape = &d->shapes[type];
    if (shape->values == 0 || shape->values > SMALL_VALUES || form != shape->inlined ||
        (shape->flags & (GOTRACE_SPEC_DATA | GOTRACE_SPEC_FRAMES)))
        return false;
    p++;
    uint8_t *width = d->widths;
    const uint8_t *end = NULL;
    if (form == 3) {
        *width++ = 1;
        end = p + 1 + *p;
        p++;
    }
    p = read_small(d, p, shape->values, &width);
    if (!p || (end && p != end))
        return false;
    d->place.batch +=
        type ==
        GOTRACE_V1_Batch; /* starts from GOTRACE_NO_OFFSET (UINT64_MAX), so the first batch is 0 */
    return deliver_small(d, p, type, form, shape->values, width);
}

/* The same for v2. */
static bool decode_small_v2(gotrace_decoder *d)
{
    const uint8_t *p = d->at;
    if (d->end - p < SMALL_RECORD || d->held_size > 0)
        return false;
    unsigned type = *p++;
    const gt_v2_shape *shape = &d->v2_shapes[type];
    if (!shape->exists || shape->values > SMALL_VALUES ||
        (shape->flags & (GOTRACE_SPEC_DATA | GOTRACE_SPEC_FRAMES)))
        return false;
    uint8_t *width = d->widths;
    p = read_small(d, p, shape->values, &width);
    if (!p)
        return false;
    d->place.batch += type == GOTRACE_V2_EventBatch;
    return deliver_small(d, p, type, 0, shape->values, width);
}

/* ---- the next record ------------------------------------------------------------------------ */

static gt_wire_status frame_of(const gotrace_decoder *d, const uint8_t *p, size_t n,
                               gt_frame *frame)
{
    if (d->is_v2)
        return gt_wire_frame_v2(d->v2_shapes, d->max_string, d->max_frames, p, n, frame);
    return gt_wire_frame(d->shapes, d->version, d->max_string, p, n, frame);
}

/* Finds the next record: GOTRACE_OK with its parts, which start at *start. */
static gotrace_status locate(gotrace_decoder *d, const uint8_t **start, gt_frame *frame)
{
    gt_wire_status status = GT_WIRE_MORE;
    if (d->held_size == 0) {
        *start = d->at;
        status = frame_of(d, d->at, (size_t)(d->end - d->at), frame);
        if (status == GT_WIRE_OK && frame->length <= d->max_length) {
            d->at += frame->size;
            return GOTRACE_OK;
        }
        if (d->at == d->end)
            return d->finished ? (d->status = GOTRACE_END) : GOTRACE_NEED_INPUT;
    } else {
        *frame = (gt_frame){.size = d->wanted};
    }
    while (status == GT_WIRE_MORE && frame->length <= d->max_length) {
        if (!collect(d, frame->size))
            return fail_memory(d);
        *start = d->held;
        bool complete = d->held_size == frame->size;
        if (!complete && !d->finished) {
            d->wanted = frame->size;
            return GOTRACE_NEED_INPUT;
        }
        status = frame_of(d, d->held, d->held_size, frame);
        if (!complete && status == GT_WIRE_MORE)
            return fail_truncated(d, frame);
    }
    if (status != GT_WIRE_OK && status != GT_WIRE_MORE)
        return fail_wire(d, status, frame, *start);
    if (frame->length > d->max_length)
        return fail_length(d, frame);
    d->delivered_held = true;
    return GOTRACE_OK;
}

/* Whether the record begins a batch. */
static bool is_batch(const gotrace_decoder *d, unsigned type)
{
    return d->is_v2 ? type == GOTRACE_V2_EventBatch || type == GOTRACE_V2_ExperimentalBatch
                    : type == GOTRACE_V1_Batch;
}

gotrace_status gotrace_decoder_next(gotrace_decoder *d, const gotrace_record **record)
{
    *record = &d->record;
    if (d->status != GOTRACE_OK)
        return d->status;
    if (d->version == 0) {
        gotrace_status status = read_header(d);
        if (status != GOTRACE_OK)
            return status;
    }
    for (;;) {
        if (d->delivered_held) {
            d->held_size = 0;
            d->delivered_held = false;
        }
        if (d->is_v2 ? decode_small_v2(d) : decode_small(d))
            return GOTRACE_EVENT;
        const uint8_t *start = d->at;
        gt_frame frame;
        gotrace_status status = locate(d, &start, &frame);
        if (status != GOTRACE_OK)
            return status;
        if (is_batch(d, frame.type))
            d->place.batch++;
        status = decode(d, start, &frame);
        if (status < 0 || (status == GOTRACE_OK && !skip_record(d)))
            return d->status;
        d->place.offset += frame.size;
        d->place.event++;
        if (status == GOTRACE_EVENT)
            return status;
    }
}
