/*
 * encoder.c - writes events as Go's v2 tracers do: a buffer per thread, tables per generation.
 *
 * Source: Go 1.22 to 1.27, runtime/trace*.go: traceWriter.refill, .event and .ensure,
 * traceStringTable.put and .writeString, traceStackTable.dump, traceReadCPU, traceSyncBatch (until
 * 1.24 traceFrequency) and traceAdvance.
 */
#include <string.h>

#include "write/encoder.h"

/* Room that tracers require for a batch header: type, generation, thread, ticks, size. */
#define HEADER_ROOM (2 + 4 * GT_VARINT_MAX)
#define FRAMES_MAX  128
#define STRING_MAX  1024

/* ---- buffers -------------------------------------------------------------------------------- */

gotrace_status gt_v2_flush(gotrace_encoder *e, gt_v2_buffer *buffer)
{
    if (buffer->used == 0)
        return GOTRACE_OK;
    const uint8_t *body = buffer->length + GT_VARINT_MAX;
    gt_put_wide(buffer->length, (uint64_t)(buffer->bytes + buffer->used - body), GT_VARINT_MAX);
    gotrace_status status = gt_encoder_pass(e, buffer->bytes, buffer->used);
    buffer->used = 0;
    return status;
}

void gt_v2_buffer_free(gotrace_encoder *e, gt_v2_buffer *buffer)
{
    gt_free(&e->heap, buffer->bytes, buffer->capacity);
    *buffer = (gt_v2_buffer){0};
}

void gt_encoder_free_v2(gotrace_encoder *e)
{
    gt_v2_buffer_free(e, &e->string_buffer);
    gt_v2_buffer_free(e, &e->stack_buffer);
    gt_v2_buffer_free(e, &e->sample_buffer);
    gt_v2_buffer_free(e, &e->other_buffer);
    gt_pcs_clear(e);
}

/* Extends the memory for that many more bytes. Most threads of a trace with many write little. */
static bool extend(gotrace_encoder *e, gt_v2_buffer *buffer, size_t size)
{
    if (buffer->capacity - buffer->used >= size)
        return true;
    size_t length = buffer->used ? (size_t)(buffer->length - buffer->bytes) : 0;
    void *bytes = buffer->bytes;
    bool ok = gt_grow(&e->heap, &bytes, &buffer->capacity, buffer->used + size, 1);
    buffer->bytes = bytes;
    buffer->length = buffer->bytes ? buffer->bytes + length : NULL;
    if (!ok)
        gt_encoder_fail_memory(e);
    return ok;
}

static void begin_batch(const gotrace_encoder *e, gt_v2_buffer *buffer, uint64_t thread,
                        uint64_t ticks)
{
    if (ticks < buffer->last_ticks)
        ticks = buffer->last_ticks;
    buffer->last_ticks = ticks;
    uint8_t *p = buffer->bytes;
    *p++ = GOTRACE_V2_EventBatch;
    p = gt_put(p, e->generation);
    p = gt_put(p, thread);
    p = gt_put(p, ticks);
    buffer->length = p;
    buffer->used = (size_t)(p - buffer->bytes) + GT_VARINT_MAX;
}

uint8_t *gt_v2_refill(gotrace_encoder *e, gt_v2_buffer *buffer, uint64_t thread, uint64_t ticks,
                      size_t size)
{
    bool full = buffer->used > 0 && GT_V2_BUFFER_CAPACITY - buffer->used < size;
    if (full && gt_v2_flush(e, buffer) != GOTRACE_OK)
        return NULL;
    if (!extend(e, buffer, size + (buffer->used == 0 ? HEADER_ROOM : 0)))
        return NULL;
    if (buffer->used == 0)
        begin_batch(e, buffer, thread, ticks);
    return buffer->bytes + buffer->used;
}

/* ---- tables --------------------------------------------------------------------------------- */

/* Makes room in the buffer of a table; its batches begin with a marker record. */
static uint8_t *table_room(gotrace_encoder *e, gt_v2_buffer *buffer, unsigned marker,
                           uint64_t ticks, size_t size)
{
    if (buffer->used > 0 && GT_V2_BUFFER_CAPACITY - buffer->used < 1 + size &&
        gt_v2_flush(e, buffer) != GOTRACE_OK)
        return NULL;
    bool fresh = buffer->used == 0;
    uint8_t *p = gt_v2_room(e, buffer, GT_V2_NO_THREAD, ticks, 1 + size);
    if (p && fresh)
        *p++ = (uint8_t)marker;
    return p;
}

/* Writes the record of a string before its first use. */
static gotrace_status write_string(gotrace_encoder *e, uint64_t ticks, size_t number)
{
    gt_entry *entry = &e->strings.entries[number];
    if (entry->id != 0)
        return GOTRACE_OK;
    uint8_t *p = table_room(e, &e->string_buffer, GOTRACE_V2_Strings, ticks,
                            2 + 2 * GT_VARINT_MAX + entry->size);
    if (!p)
        return e->status;
    entry->id = number + 1;
    *p++ = GOTRACE_V2_String;
    p = gt_put(p, entry->id);
    p = gt_put(p, entry->size);
    memcpy(p, gt_intern_bytes(&e->strings, entry), entry->size);
    gt_v2_commit(&e->string_buffer, p + entry->size);
    return GOTRACE_OK;
}

gotrace_status gt_v2_string(gotrace_encoder *e, uint64_t ticks, const char *bytes, size_t size,
                            uint64_t *id)
{
    size_t number;
    *id = 0;
    if (size == 0)
        return GOTRACE_OK;
    if (size > STRING_MAX)
        size = STRING_MAX;
    if (gt_encoder_intern_string(e, bytes, size, &number) != GOTRACE_OK ||
        write_string(e, ticks, number) != GOTRACE_OK)
        return e->status;
    *id = number + 1;
    return GOTRACE_OK;
}

static gotrace_status frame_name(gotrace_encoder *e, uint64_t ticks, const char *name, size_t size,
                                 uint64_t *id)
{
    gotrace_status status = gt_encoder_intern_name(e, name, size, id);
    return status == GOTRACE_OK && *id != 0 ? write_string(e, ticks, (size_t)*id - 1) : status;
}

gotrace_status gt_v2_stack(gotrace_encoder *e, uint64_t ticks, const gotrace_frame *frames,
                           size_t count, uint64_t *id)
{
    *id = 0;
    if (count == 0)
        return GOTRACE_OK;
    size_t limit = e->max_frames < FRAMES_MAX ? (size_t)e->max_frames : FRAMES_MAX;
    if (count > limit)
        count = limit;
    gt_stack_frame *frame = gt_encoder_frames(e, count);
    if (!frame)
        return e->status;
    for (size_t i = 0; i < count; i++) {
        frame[i] = (gt_stack_frame){.pc = gotrace_frame_pc(&frames[i]), .line = frames[i].line};
        if (frame_name(e, ticks, frames[i].function, frames[i].function_size, &frame[i].function) <
                0 ||
            frame_name(e, ticks, frames[i].file, frames[i].file_size, &frame[i].file) < 0)
            return e->status;
    }
    return gt_encoder_intern_stack(e, frame, count, id);
}

static gotrace_status dump_stacks(gotrace_encoder *e, uint64_t ticks)
{
    if (!gt_pcs_claim(e))
        return e->status;
    for (size_t i = 0; i < e->stacks.count; i++) {
        const gt_entry *stack = &e->stacks.entries[i];
        gt_stack_frame frame;
        size_t count = stack->size / sizeof frame, at = stack->offset;
        uint8_t *p = table_room(e, &e->stack_buffer, GOTRACE_V2_Stacks, ticks,
                                1 + (2 + 4 * count) * GT_VARINT_MAX);
        if (!p)
            return e->status;
        *p++ = GOTRACE_V2_Stack;
        p = gt_put(p, stack->id);
        p = gt_put(p, count);
        for (size_t k = 0; k < count; k++, at += sizeof frame) {
            memcpy(&frame, e->stacks.pool + at, sizeof frame);
            if (!gt_pcs_of(e, at, &frame.pc))
                return e->status;
            p = gt_put(p, frame.pc);
            p = gt_put(p, frame.function);
            p = gt_put(p, frame.file);
            p = gt_put(p, frame.line);
        }
        gt_v2_commit(&e->stack_buffer, p);
    }
    gt_pcs_clear(e);
    return gt_v2_flush(e, &e->stack_buffer);
}

gotrace_status gt_v2_sample(gotrace_encoder *e, uint64_t ticks, const uint64_t *args, size_t count)
{
    uint8_t *p = table_room(e, &e->sample_buffer, GOTRACE_V2_CPUSamples, ticks,
                            2 + 5 * GT_VARINT_MAX);
    if (!p)
        return e->status;
    *p++ = GOTRACE_V2_CPUSample;
    for (size_t i = 0; i < count; i++)
        p = gt_put(p, args[i]);
    gt_v2_commit(&e->sample_buffer, p);
    return GOTRACE_OK;
}

/* ---- generations ---------------------------------------------------------------------------- */

gotrace_status gt_v2_experiment(gotrace_encoder *e, uint64_t experiment, uint64_t thread,
                                uint64_t ticks, const char *data, size_t size)
{
    uint8_t header[1 + 5 * GT_VARINT_MAX], *p = header;
    *p++ = GOTRACE_V2_ExperimentalBatch;
    p = gt_put(p, experiment);
    p = gt_put(p, e->generation);
    p = gt_put(p, thread);
    p = gt_put(p, ticks);
    p = gt_put_wide(p, size, GT_VARINT_MAX);
    if (gt_encoder_pass(e, header, (size_t)(p - header)) != GOTRACE_OK)
        return e->status;
    return gt_encoder_pass(e, data, size);
}

gotrace_status gt_v2_sync(gotrace_encoder *e, uint64_t ticks, uint64_t frequency,
                          const gotrace_clocks *clocks)
{
    bool snapshot = e->version >= GOTRACE_FIRST_SYNC;
    gt_v2_buffer *buffer = &e->other_buffer;
    buffer->last_ticks = 0;
    if (snapshot)
        ticks = clocks->ticks > 0 ? clocks->ticks - 1 : 0;
    uint8_t *p = gt_v2_room(e, buffer, GT_V2_NO_THREAD, ticks, 3 + 5 * GT_VARINT_MAX);
    if (!p)
        return e->status;
    if (snapshot)
        *p++ = GOTRACE_V2_Sync;
    *p++ = GOTRACE_V2_Frequency;
    p = gt_put(p, frequency);
    if (snapshot) {
        *p++ = GOTRACE_V2_ClockSnapshot;
        p = gt_put(p, clocks->ticks - buffer->last_ticks);
        p = gt_put(p, clocks->monotonic_ns);
        p = gt_put(p, clocks->wall_seconds);
        p = gt_put(p, clocks->wall_nanoseconds);
    }
    gt_v2_commit(buffer, p);
    return gt_v2_flush(e, buffer);
}

gotrace_status gt_v2_end_generation(gotrace_encoder *e, uint64_t ticks)
{
    if (gt_v2_flush(e, &e->sample_buffer) != GOTRACE_OK || dump_stacks(e, ticks) != GOTRACE_OK ||
        gt_v2_flush(e, &e->string_buffer) != GOTRACE_OK)
        return e->status;
    const uint8_t end = GOTRACE_V2_EndOfGeneration;
    if (e->version >= GOTRACE_FIRST_GENERATION_END && gt_encoder_pass(e, &end, 1) != GOTRACE_OK)
        return e->status;
    e->earlier_strings += e->strings.count;
    e->earlier_stacks += e->stacks.count;
    gt_intern_clear(&e->heap, &e->strings);
    gt_intern_clear(&e->heap, &e->stacks);
    e->generation++;
    return GOTRACE_OK;
}
