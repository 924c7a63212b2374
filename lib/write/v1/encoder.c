/*
 * encoder.c - writes events as v1's tracers do: a buffer per proc, which is written as a batch when
 * it is full; strings at their first use; stacks and footer at the end.
 *
 * Source: traceEvent(Locked), traceString, traceStackTable.dump and readTrace0 in runtime/trace.go
 * of Go 1.5, libgo and Go 1.19; for versions between, Go 1.7 (no batch header before the first
 * event, stacks without batches) and 1.19.
 */
#include <string.h>

#include "write/encoder.h"

/* Room that tracers require before an event: type, length, two deltas, three more values. */
#define EVENT_ROOM (2 + 5 * GT_VARINT_MAX)
/* Size of a batch header: type, proc, sequence number, ticks. */
#define HEADER_ROOM (1 + 3 * GT_VARINT_MAX)
/* Go's readers reject more, and the largest possible record still fits into a buffer of gccgo. */
#define FRAMES_MAX 1000

/* Size of a buffer less its header: link, last ticks, position (1.5: link, last sequence, last
 * ticks, slice), and room for a stack of 128 PCs (gccgo: 128 locations of 48 bytes). */
#define CAPACITY_1_5   (65536 - 48 - 128 * 8)
#define CAPACITY_GO    (65536 - 24 - 128 * 8)
#define CAPACITY_GCCGO (65536 - 24 - 128 * 48)

#define EARLY   GT_TRACER_HEADER_WITH_EVENT
#define BATCHED GT_TRACER_STACK_BATCHES
#define LATE                                                                                       \
    (GT_TRACER_STACK_BATCHES | GT_TRACER_RAISES | GT_TRACER_FREQUENCY_BATCHED |                    \
     GT_TRACER_STACK_ESTIMATE | GT_TRACER_STACK_PAD)

static const gt_tracer tracers[] = {
    {GOTRACE_TRACER_GO, 5, EARLY | GT_TRACER_FREQUENCY_LAST | GT_TRACER_STACK_ESTIMATE,
     CAPACITY_1_5},
    {GOTRACE_TRACER_GO, 7, EARLY, CAPACITY_GO},
    {GOTRACE_TRACER_GO, 11, BATCHED, CAPACITY_GO},
    {GOTRACE_TRACER_GO, 19, BATCHED | GT_TRACER_RAISES, CAPACITY_GO},
    {GOTRACE_TRACER_GO, 21, LATE, CAPACITY_GO},
    {GOTRACE_TRACER_GCCGO, 11, BATCHED, CAPACITY_GCCGO},
    {GOTRACE_TRACER_GO_2023, 19, LATE, CAPACITY_GO},
};

static const gt_tracer *find_tracer(int version, unsigned tracer)
{
    const gt_tracer *found = NULL;
    for (size_t i = 0; i < sizeof tracers / sizeof tracers[0]; i++)
        if (tracers[i].tracer == tracer && tracers[i].since <= version &&
            (tracer == GOTRACE_TRACER_GO || tracers[i].since == version))
            found = &tracers[i];
    return found;
}

void gt_encoder_init_events(gotrace_encoder *e)
{
    e->generation = 1;
    e->tracer = gt_is_v2(e->version) ? NULL : find_tracer(e->version, GOTRACE_TRACER_GO);
}

void gt_encoder_free_events(gotrace_encoder *e)
{
    for (size_t i = 0; i < e->procs.count; i++)
        gt_free(&e->heap, e->buffers[i].bytes, e->buffers[i].capacity);
    gt_free(&e->heap, e->buffers, e->buffer_capacity * sizeof *e->buffers);
    gt_free(&e->heap, e->frames, e->frame_capacity * sizeof(gt_stack_frame));
    gt_encoder_free_v2(e);
    gt_intern_free(&e->heap, &e->procs);
    gt_intern_free(&e->heap, &e->strings);
    gt_intern_free(&e->heap, &e->stacks);
}

static bool does(const gotrace_encoder *e, unsigned flag)
{
    return e->tracer->flags & flag;
}

static gotrace_status fail_usage(gotrace_encoder *e, const char *what)
{
    return e->status = gt_error_set(&e->error, GOTRACE_RULE_USAGE, GT_NO_PLACE, "%s", what);
}

static gotrace_status fail_limit(gotrace_encoder *e, gotrace_limit which, uint64_t limit)
{
    return e->status = gt_error_limit(&e->error, which, GT_NO_PLACE, limit);
}

static gotrace_status check_open(gotrace_encoder *e)
{
    if (e->status == GOTRACE_OK && e->finished)
        fail_usage(e, "a call to an encoder that has finished its trace");
    return e->status;
}

/* Every by-event function begins with this check. */
static gotrace_status check_by_event(gotrace_encoder *e)
{
    if (check_open(e) == GOTRACE_OK && !e->tracer)
        fail_usage(e, "traces of go 1.22 and later can only be written record by record");
    return e->status;
}

gotrace_status gt_encoder_tracer(gotrace_encoder *e, gotrace_tracer tracer)
{
    if (check_by_event(e) != GOTRACE_OK)
        return e->status;
    const gt_tracer *found = find_tracer(e->version, tracer);
    if (!found)
        return fail_usage(e, "that tracer never wrote traces of this version");
    if (e->procs.count > 0 || e->stacks.count > 0)
        return fail_usage(e, "the tracer can only be chosen before the first event");
    e->tracer = found;
    return GOTRACE_OK;
}

/* ---- buffers -------------------------------------------------------------------------------- */

__attribute__((noinline)) static gt_buffer *seek_buffer(gotrace_encoder *e, int64_t proc,
                                                        uint32_t *near)
{
    size_t number;
    if (gt_intern_find(&e->procs, &proc, sizeof proc, &number)) {
        *near = (uint32_t)number + 1;
        return &e->buffers[number];
    }
    if (e->procs.count >= e->max_procs) {
        fail_limit(e, GOTRACE_LIMIT_PROCS, e->max_procs);
        return NULL;
    }
    void *buffers = e->buffers;
    bool ok = gt_grow(&e->heap, &buffers, &e->buffer_capacity, e->procs.count + 1,
                      sizeof *e->buffers);
    e->buffers = buffers;
    if (!ok || !gt_intern_put(&e->heap, &e->procs, &proc, sizeof proc, &number)) {
        gt_encoder_fail_memory(e);
        return NULL;
    }
    e->buffers[number] = (gt_buffer){.proc = proc};
    return &e->buffers[number];
}

/* The buffer of a proc, created if necessary; NULL with the error set on failure. */
static inline gt_buffer *buffer_of(gotrace_encoder *e, int64_t proc)
{
    uint32_t *near = &e->near[(uint64_t)proc % (sizeof e->near / sizeof e->near[0])];
    if (*near && e->buffers[*near - 1].proc == proc)
        return &e->buffers[*near - 1];
    return seek_buffer(e, proc, near);
}

static gotrace_status flush_buffer(gotrace_encoder *e, gt_buffer *buffer)
{
    if (buffer->used == 0)
        return GOTRACE_OK;
    gotrace_status status = gt_encoder_pass(e, buffer->bytes, buffer->used);
    buffer->used = 0;
    return status;
}

static size_t room_in(const gotrace_encoder *e, const gt_buffer *buffer)
{
    return e->tracer->capacity - buffer->used;
}

/* Extends the buffer's memory for that many more bytes, up to its capacity. In traces with many
 * procs few buffers are filled, so they grow as needed. */
static bool extend(gotrace_encoder *e, gt_buffer *buffer, size_t size)
{
    size_t room = room_in(e, buffer);
    void *bytes = buffer->bytes;
    bool ok = gt_grow(&e->heap, &bytes, &buffer->capacity,
                      buffer->used + (size < room ? size : room), 1);
    buffer->bytes = bytes;
    if (!ok)
        gt_encoder_fail_memory(e);
    return ok;
}

/* Writes the header of a batch that begins at that time. */
static void begin_batch(const gotrace_encoder *e, gt_buffer *buffer, uint64_t ticks, uint64_t seq)
{
    if (buffer->header == GT_HEADER_GIVEN || buffer->header == GT_HEADER_FIXED) {
        ticks = buffer->header_ticks;
    } else if (does(e, GT_TRACER_RAISES) && ticks > 0) {
        ticks--;
        if (ticks < buffer->last_ticks)
            ticks = buffer->last_ticks;
    }
    if (buffer->header == GT_HEADER_GIVEN)
        buffer->header = GT_HEADER_OF_EVENT;
    uint8_t *p = buffer->bytes;
    *p++ = GOTRACE_V1_Batch | 1 << 6;
    p = gt_put(p, buffer->proc == GT_PROC_SAMPLES ? 0 : (uint64_t)buffer->proc);
    if (e->version < GT_FIRST_NUMBERED)
        p = gt_put(p, seq);
    p = gt_put(p, ticks);
    buffer->used = (size_t)(p - buffer->bytes);
    buffer->last_ticks = ticks;
    buffer->last_seq = seq;
}

static gotrace_status reserve_slow(gotrace_encoder *e, gt_buffer *buffer, size_t size,
                                   uint64_t ticks, uint64_t seq)
{
    bool full = room_in(e, buffer) < size;
    if (full && flush_buffer(e, buffer) != GOTRACE_OK)
        return e->status;
    if (!extend(e, buffer, HEADER_ROOM + size))
        return e->status;
    if (buffer->used == 0 && buffer->header != GT_HEADER_NONE)
        begin_batch(e, buffer, ticks, seq);
    return GOTRACE_OK;
}

/* Makes room for size bytes in a proc's buffer; begins a new batch if it has none. The caller must
 * cut data that exceeds a whole buffer. */
static inline gotrace_status reserve(gotrace_encoder *e, gt_buffer *buffer, size_t size,
                                     uint64_t ticks, uint64_t seq)
{
    if (buffer->used > 0 && buffer->capacity - buffer->used >= size && room_in(e, buffer) >= size)
        return GOTRACE_OK;
    return reserve_slow(e, buffer, size, ticks, seq);
}

gotrace_status gt_encoder_batch_ticks(gotrace_encoder *e, int64_t proc, uint64_t ticks)
{
    if (check_by_event(e) != GOTRACE_OK)
        return e->status;
    gt_buffer *buffer = buffer_of(e, proc);
    if (!buffer)
        return e->status;
    buffer->header_ticks = ticks;
    if (!does(e, GT_TRACER_HEADER_WITH_EVENT))
        buffer->header = GT_HEADER_GIVEN;
    return GOTRACE_OK;
}

gotrace_status gt_encoder_flush(gotrace_encoder *e, int64_t proc)
{
    size_t number;
    if (check_by_event(e) != GOTRACE_OK || !gt_intern_find(&e->procs, &proc, sizeof proc, &number))
        return e->status;
    return flush_buffer(e, &e->buffers[number]);
}

/* Writes the length and as many bytes as fit: tracers cut data that exceeds a buffer. */
static void put_data(const gotrace_encoder *e, gt_buffer *buffer, const char *data, size_t size)
{
    size_t room = room_in(e, buffer);
    if (size + gt_varint_size(size) > room)
        size = room - gt_varint_size(room);
    uint8_t *p = gt_put(buffer->bytes + buffer->used, size);
    if (size > 0)
        memcpy(p, data, size);
    buffer->used = (size_t)(p - buffer->bytes) + size;
}

/* ---- events --------------------------------------------------------------------------------- */

static gotrace_status record_timer(gotrace_encoder *e, uint64_t goroutine)
{
    if (e->timer_count == GT_TIMERS_MAX)
        return e->status = gt_error_set(&e->error, GOTRACE_RULE_SYSTEM_LIMIT, GT_NO_PLACE,
                                        "more than %d goroutines run timers", GT_TIMERS_MAX);
    e->timers[e->timer_count++] = goroutine;
    return GOTRACE_OK;
}

/* The ticks of the next event in the buffer. Readers, Go's too, take them as signed numbers. */
static inline gotrace_status next_ticks(gotrace_encoder *e, const gt_buffer *buffer,
                                        uint64_t *ticks)
{
    if (does(e, GT_TRACER_RAISES) && *ticks <= buffer->last_ticks) {
        if (buffer->last_ticks == INT64_MAX)
            return e->status = gt_error_set(&e->error, GOTRACE_RULE_USAGE, GT_NO_PLACE,
                                            "no later time than %lld ticks can be written",
                                            (long long)INT64_MAX);
        *ticks = buffer->last_ticks + 1;
    }
    if (e->clamps && *ticks < buffer->last_ticks)
        *ticks = buffer->last_ticks;
    if (*ticks >= buffer->last_ticks)
        return GOTRACE_OK;
    return e->status = gt_error_set(&e->error, GOTRACE_RULE_USAGE, GT_NO_PLACE,
                                    "ticks decrease from %llu to %llu on proc %lld",
                                    (unsigned long long)buffer->last_ticks,
                                    (unsigned long long)*ticks, (long long)buffer->proc);
}

gotrace_status gt_encoder_event(gotrace_encoder *e, int64_t proc, const gotrace_event_spec *spec,
                                uint64_t ticks, uint64_t seq, const uint64_t *args,
                                size_t arg_count, uint64_t stack, const char *data,
                                size_t data_size)
{
    if (spec->code == GOTRACE_V1_TimerGoroutine)
        return record_timer(e, args[0]);
    gt_buffer *buffer = buffer_of(
        e, e->shapes[spec->code].action == GT_ACTION_SAMPLE ? GT_PROC_SAMPLES : proc);
    if (!buffer || next_ticks(e, buffer, &ticks) != GOTRACE_OK)
        return e->status;
    size_t extra = spec->flags & GOTRACE_SPEC_DATA ? GT_VARINT_MAX + data_size : 0;
    if (reserve(e, buffer, EVENT_ROOM + extra, ticks, seq) != GOTRACE_OK ||
        next_ticks(e, buffer, &ticks) != GOTRACE_OK)
        return e->status;

    uint8_t *start = buffer->bytes + buffer->used, *p = start;
    unsigned form = e->shapes[spec->code].inlined;
    *p++ = (uint8_t)(spec->code | form << 6);
    p += form == 3;
    if (e->version < GT_FIRST_NUMBERED)
        p = gt_put(p, seq - buffer->last_seq);
    p = gt_put(p, ticks - buffer->last_ticks);
    for (size_t i = 0; i < arg_count; i++)
        p = gt_put(p, args[i]);
    if (spec->flags & GOTRACE_SPEC_STACK)
        p = gt_put(p, stack);
    if (form == 3)
        start[1] = (uint8_t)(p - start - 2);
    buffer->used = (size_t)(p - buffer->bytes);
    buffer->last_ticks = e->event_ticks = ticks;
    buffer->last_seq = seq;
    if (spec->flags & GOTRACE_SPEC_DATA)
        put_data(e, buffer, data, data_size);
    return GOTRACE_OK;
}

/* ---- strings and stacks --------------------------------------------------------------------- */

gotrace_status gt_encoder_intern_string(gotrace_encoder *e, const char *bytes, size_t size,
                                        size_t *number)
{
    if (gt_intern_find(&e->strings, bytes, size, number))
        return GOTRACE_OK;
    if (e->strings.count >= e->max_strings)
        return fail_limit(e, GOTRACE_LIMIT_STRINGS, e->max_strings);
    if (size > e->max_string)
        return fail_limit(e, GOTRACE_LIMIT_STRING_BYTES, e->max_string);
    return gt_intern_put(&e->heap, &e->strings, bytes, size, number) ? GOTRACE_OK
                                                                     : gt_encoder_fail_memory(e);
}

/* The id of a string in the table; writes its record to the buffer if that was not done before. */
static gotrace_status string_id(gotrace_encoder *e, gt_buffer *buffer, uint64_t ticks,
                                size_t number, uint64_t *id)
{
    gt_entry *entry = &e->strings.entries[number];
    if (entry->id == 0) {
        size_t room = 1 + 2 * GT_VARINT_MAX + entry->size;
        if (reserve(e, buffer, room, ticks, buffer->last_seq) != GOTRACE_OK)
            return e->status;
        entry->id = ++e->last_string;
        uint8_t *p = buffer->bytes + buffer->used;
        *p++ = GOTRACE_V1_String;
        p = gt_put(p, entry->id);
        buffer->used = (size_t)(p - buffer->bytes);
        put_data(e, buffer, (const char *)gt_intern_bytes(&e->strings, entry), entry->size);
    }
    *id = entry->id;
    return GOTRACE_OK;
}

gotrace_status gt_encoder_string(gotrace_encoder *e, int64_t proc, uint64_t ticks,
                                 const char *bytes, size_t size, uint64_t *id)
{
    *id = 0;
    if (check_by_event(e) != GOTRACE_OK || size == 0)
        return e->status;
    if (e->version < GT_FIRST_NUMBERED)
        return fail_usage(e, "traces of go 1.5 have no strings");
    size_t number;
    gt_buffer *buffer = buffer_of(e, proc);
    if (!buffer || gt_encoder_intern_string(e, bytes, size, &number) != GOTRACE_OK)
        return e->status;
    if (ticks < buffer->last_ticks)
        ticks = buffer->last_ticks;
    return string_id(e, buffer, ticks, number, id);
}

gotrace_status gt_encoder_intern_name(gotrace_encoder *e, const char *name, size_t size,
                                      uint64_t *number)
{
    *number = 0;
    if (!name || size == 0)
        return GOTRACE_OK;
    size_t kept = size < GT_NAME_MAX ? size : GT_NAME_MAX, found = 0;
    gotrace_status status = gt_encoder_intern_string(e, name + (size - kept), kept, &found);
    *number = found + 1;
    return status;
}

gt_stack_frame *gt_encoder_frames(gotrace_encoder *e, size_t count)
{
    void *kept = e->frames;
    bool grown = gt_grow(&e->heap, &kept, &e->frame_capacity, count, sizeof(gt_stack_frame));
    e->frames = kept;
    if (!grown)
        gt_encoder_fail_memory(e);
    return grown ? e->frames : NULL;
}

gotrace_status gt_encoder_intern_stack(gotrace_encoder *e, const gt_stack_frame *frames,
                                       size_t count, uint64_t *id)
{
    size_t number, size = count * sizeof *frames;
    if (!gt_intern_find(&e->stacks, frames, size, &number)) {
        if (e->stacks.count >= e->max_stacks)
            return fail_limit(e, GOTRACE_LIMIT_STACKS, e->max_stacks);
        if (!gt_intern_put(&e->heap, &e->stacks, frames, size, &number))
            return gt_encoder_fail_memory(e);
        e->stacks.entries[number].id = number + 1;
    }
    *id = e->stacks.entries[number].id;
    return GOTRACE_OK;
}

gotrace_status gt_encoder_repeat_stack(gotrace_encoder *e, uint64_t *id)
{
    if (e->stacks.count >= e->max_stacks)
        return fail_limit(e, GOTRACE_LIMIT_STACKS, e->max_stacks);
    if (!gt_intern_repeat(&e->heap, &e->stacks, *id - 1))
        return gt_encoder_fail_memory(e);
    *id = e->stacks.entries[e->stacks.count - 1].id = e->stacks.count;
    return GOTRACE_OK;
}

gotrace_status gt_encoder_stack(gotrace_encoder *e, const gotrace_frame *frames, size_t count,
                                uint64_t *id)
{
    *id = 0;
    if (check_by_event(e) != GOTRACE_OK || count == 0)
        return e->status;
    uint64_t limit = e->max_frames < FRAMES_MAX ? e->max_frames : FRAMES_MAX;
    if (count > limit)
        return fail_limit(e, GOTRACE_LIMIT_FRAMES, limit);
    gt_stack_frame *frame = gt_encoder_frames(e, count);
    if (!frame)
        return e->status;
    for (size_t i = 0; i < count; i++) {
        frame[i] = (gt_stack_frame){.pc = gotrace_frame_pc(&frames[i])};
        if (e->version < GT_FIRST_NUMBERED)
            continue;
        frame[i].line = frames[i].line;
        if (gt_encoder_intern_name(e, frames[i].function, frames[i].function_size,
                                   &frame[i].function) < 0 ||
            gt_encoder_intern_name(e, frames[i].file, frames[i].file_size, &frame[i].file) < 0)
            return e->status;
    }
    return gt_encoder_intern_stack(e, frame, count, id);
}

/* ---- the footer ----------------------------------------------------------------------------- */

/* The id of a frame's name; its record precedes that of the stack. */
static gotrace_status name_id(gotrace_encoder *e, gt_buffer *buffer, uint64_t name, uint64_t *id)
{
    *id = 0;
    return name == 0 ? GOTRACE_OK : string_id(e, buffer, 0, (size_t)name - 1, id);
}

/* Writes a stack of the table. body has room for the longest. */
static gotrace_status dump_stack(gotrace_encoder *e, gt_buffer *buffer, const gt_entry *stack,
                                 uint8_t *body)
{
    gt_stack_frame frame;
    size_t count = stack->size / sizeof frame;
    uint8_t *p = gt_put(body, stack->id);
    p = gt_put(p, count);
    for (size_t i = 0; i < count; i++) {
        memcpy(&frame, gt_intern_bytes(&e->stacks, stack) + i * sizeof frame, sizeof frame);
        p = gt_put(p, frame.pc);
        if (e->version < GT_FIRST_NUMBERED)
            continue;
        uint64_t function, file;
        if (name_id(e, buffer, frame.function, &function) != GOTRACE_OK ||
            name_id(e, buffer, frame.file, &file) != GOTRACE_OK)
            return e->status;
        p = gt_put(p, function);
        p = gt_put(p, file);
        p = gt_put(p, frame.line);
    }
    size_t size = (size_t)(p - body), room = 1 + GT_VARINT_MAX + size;
    if (does(e, GT_TRACER_STACK_ESTIMATE))
        room = e->version < GT_FIRST_NUMBERED ? 1 + (3 + count) * GT_VARINT_MAX
                                              : 1 + GT_VARINT_MAX + (2 + 4 * count) * GT_VARINT_MAX;
    if (reserve(e, buffer, room, 0, 0) != GOTRACE_OK)
        return e->status;
    p = buffer->bytes + buffer->used;
    *p++ = GOTRACE_V1_Stack | 3 << 6;
    p = gt_put_wide(p, size, does(e, GT_TRACER_STACK_PAD) ? GT_VARINT_MAX : gt_varint_size(size));
    memcpy(p, body, size);
    buffer->used = (size_t)(p - buffer->bytes) + size;
    return GOTRACE_OK;
}

/* Writes frequency and timer goroutines at p; returns the end. */
static uint8_t *put_frequency(const gotrace_encoder *e, uint8_t *p, uint64_t frequency)
{
    *p++ = GOTRACE_V1_Frequency;
    p = gt_put(p, frequency);
    if (e->version < GT_FIRST_NUMBERED)
        *p++ = 0;
    for (size_t i = 0; i < e->timer_count; i++) {
        *p++ = GOTRACE_V1_TimerGoroutine;
        p = gt_put(p, e->timers[i]);
        if (e->version < GT_FIRST_NUMBERED)
            *p++ = 0;
    }
    return p;
}

static gotrace_status write_bare_frequency(gotrace_encoder *e, uint64_t frequency)
{
    uint8_t bytes[(1 + GT_TIMERS_MAX) * (2 + GT_VARINT_MAX)];
    return gt_encoder_pass(e, bytes, (size_t)(put_frequency(e, bytes, frequency) - bytes));
}

/* Writes frequency and stacks; stacks use a buffer of their own. */
static gotrace_status write_footer(gotrace_encoder *e, uint64_t frequency, gt_buffer *buffer,
                                   uint8_t *body)
{
    bool batched = does(e, GT_TRACER_FREQUENCY_BATCHED);
    bool last = does(e, GT_TRACER_FREQUENCY_LAST);
    uint64_t id;
    if (!batched && !last && write_bare_frequency(e, frequency) != GOTRACE_OK)
        return e->status;
    if (reserve(e, buffer, (1 + GT_TIMERS_MAX) * (2 + GT_VARINT_MAX), 0, 0) != GOTRACE_OK)
        return e->status;
    if (batched) {
        uint8_t *end = put_frequency(e, buffer->bytes + buffer->used, frequency);
        buffer->used = (size_t)(end - buffer->bytes);
    }
    for (size_t i = 0; i < e->stacks.count; i++)
        if (dump_stack(e, buffer, &e->stacks.entries[i], body) != GOTRACE_OK)
            return e->status;
    for (size_t i = 0; i < e->strings.count; i++) /* those that no stack has */
        if (string_id(e, buffer, 0, i, &id) != GOTRACE_OK)
            return e->status;
    if (flush_buffer(e, buffer) != GOTRACE_OK)
        return e->status;
    return last ? write_bare_frequency(e, frequency) : GOTRACE_OK;
}

/* Tracers write the buffers of procs in order of id, then the global one, then samples. */
static uint64_t buffer_rank(const gt_buffer *buffer)
{
    if (buffer->proc >= 0)
        return (uint64_t)buffer->proc;
    return buffer->proc == GT_PROC_SAMPLES ? UINT64_MAX : UINT64_MAX - 1;
}

/* Heap sort, because qsort may allocate. */
static void sift_down(gt_buffer *buffers, size_t at, size_t count)
{
    gt_buffer moved = buffers[at];
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        child += child + 1 < count &&
                 buffer_rank(&buffers[child + 1]) > buffer_rank(&buffers[child]);
        if (buffer_rank(&moved) >= buffer_rank(&buffers[child]))
            break;
        buffers[at] = buffers[child];
    }
    buffers[at] = moved;
}

static void sort_buffers(gt_buffer *buffers, size_t count)
{
    for (size_t i = count / 2; i > 0; i--)
        sift_down(buffers, i - 1, count);
    while (count > 1) {
        gt_buffer greatest = buffers[0];
        buffers[0] = buffers[--count];
        buffers[count] = greatest;
        sift_down(buffers, 0, count);
    }
}

gotrace_status gotrace_encoder_finish(gotrace_encoder *e)
{
    return gt_encoder_finish(e, 0, 0);
}

gotrace_status gt_encoder_finish(gotrace_encoder *e, uint64_t frequency, uint64_t ticks)
{
    if ((frequency == 0 ? check_open(e) : check_by_event(e)) != GOTRACE_OK)
        return e->status;
    sort_buffers(e->buffers, e->procs.count);
    e->finished = true; /* the buffers are no longer in the order of their table */
    for (size_t i = 0; i < e->procs.count; i++)
        if (flush_buffer(e, &e->buffers[i]) != GOTRACE_OK)
            return e->status;
    if (frequency != 0) {
        gt_buffer buffer = {
            .header = does(e, GT_TRACER_STACK_BATCHES) ? GT_HEADER_FIXED : GT_HEADER_NONE,
            .header_ticks = ticks,
        };
        size_t size = (2 + 4 * FRAMES_MAX) * GT_VARINT_MAX;
        uint8_t *body = gt_calloc(&e->heap, 1, size);
        gotrace_status status = body ? write_footer(e, frequency, &buffer, body)
                                     : gt_encoder_fail_memory(e);
        gt_free(&e->heap, body, size);
        gt_free(&e->heap, buffer.bytes, buffer.capacity);
        if (status != GOTRACE_OK)
            return status;
    }
    return gt_encoder_flush_out(e);
}
