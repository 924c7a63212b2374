/*
 * encoder.h - shared by the parts of the encoder: encoder.c (records, output), v1/encoder.c
 * (buffers and footer of v1), v2/encoder.c (buffers and tables of v2), encoder_tables.c (strings
 * and stacks by content) and encoder_pcs.c (the PCs of frames).
 */
#ifndef GT_ENCODER_H
#define GT_ENCODER_H

#include "core/errors.h"
#include "core/lookup.h"
#include "core/map.h"
#include "core/wire.h"

/* ---- a table of different byte strings, numbered in the order they were first seen ---------- */

typedef struct gt_entry {
    uint64_t hash;
    size_t offset, size; /* in the pool */
    uint64_t id;         /* for its owner; 0 until set */
} gt_entry;

typedef struct gt_intern {
    gt_entry *entries;
    size_t count, capacity;
    gt_lookup lookup; /* index of an entry plus one */
    uint8_t *pool;
    size_t pool_size, pool_capacity;
} gt_intern;

/* Sets *number to that of the byte string, which is added if it is new; false if memory is refused.
 */
bool gt_intern_put(gt_heap *heap, gt_intern *table, const void *bytes, size_t size, size_t *number);
/* Adds the byte string with that number once more; false if memory is refused. */
bool gt_intern_repeat(gt_heap *heap, gt_intern *table, size_t number);
/* Whether the byte string is in the table; sets *number. */
bool gt_intern_find(const gt_intern *table, const void *bytes, size_t size, size_t *number);
void gt_intern_free(gt_heap *heap, gt_intern *table);
/* Removes all entries. Frees the memory if most of it was unused. */
void gt_intern_clear(gt_heap *heap, gt_intern *table);

static inline const uint8_t *gt_intern_bytes(const gt_intern *table, const gt_entry *entry)
{
    return table->pool + entry->offset;
}

/* ---- the encoder ---------------------------------------------------------------------------- */

/* The differences between tracers: one row of v1/encoder.c. */
typedef struct gt_tracer {
    uint8_t tracer;    /* gotrace_tracer */
    uint8_t since;     /* first version that it writes this way */
    uint8_t flags;     /* GT_TRACER_* */
    uint32_t capacity; /* size of a buffer: 64 KiB less its header */
} gt_tracer;

enum {
    GT_TRACER_HEADER_WITH_EVENT = 1,  /* a batch's header has the time of its first event */
    GT_TRACER_RAISES = 2,             /* all timestamps of a buffer differ */
    GT_TRACER_FREQUENCY_LAST = 4,     /* frequency after the stacks, else before them */
    GT_TRACER_STACK_BATCHES = 8,      /* buffers of stacks begin with a batch header */
    GT_TRACER_FREQUENCY_BATCHED = 16, /* the frequency is in the first of these batches */
    GT_TRACER_STACK_ESTIMATE = 32,    /* room for a stack is reserved by an estimate */
    GT_TRACER_STACK_PAD = 64,         /* the length of a stack is padded to ten bytes */
};

/* The time in the next batch header of a buffer. */
typedef enum gt_header {
    GT_HEADER_OF_EVENT = 0, /* the time of its first event, or shortly before */
    GT_HEADER_GIVEN,        /* header_ticks, once */
    GT_HEADER_FIXED,        /* header_ticks, always */
    GT_HEADER_NONE,         /* no header */
} gt_header;

/* The buffer of a proc. */
typedef struct gt_buffer {
    int64_t proc; /* GT_PROC_SAMPLES: buffer of samples, written with proc 0 */
    uint8_t *bytes;
    size_t used, capacity;
    uint64_t last_ticks, last_seq;
    uint64_t header_ticks;
    gt_header header;
} gt_buffer;

/* Tracers record up to 64 goroutines that run timers. */
#define GT_TIMERS_MAX 64

/* Tracers keep at most this many bytes at the end of the name of a function or file. */
#define GT_NAME_MAX 1024

/* A frame in the table of stacks; function and file are numbers of strings plus one, 0 for none. */
typedef struct gt_stack_frame {
    uint64_t pc, function, file, line;
} gt_stack_frame;

/* v2: the PCs of frames in a generation (encoder_pcs.c). */
typedef struct gt_pcs {
    gt_map owners;    /* PC to the position in the stack pool, plus one, of a frame that has it */
    gt_intern frames; /* frames written with another PC than their own; an entry's id is that PC */
    uint64_t spare;   /* the last PC given to a frame whose usual one is in use */
} gt_pcs;

/* A buffer of v2: events of a thread, or a table. */
typedef struct gt_v2_buffer {
    uint8_t *bytes;
    size_t used, capacity;
    uint8_t *length; /* position of the batch size */
    uint64_t last_ticks;
    bool stamped; /* an event has last_ticks */
} gt_v2_buffer;

struct gotrace_encoder {
    gt_heap heap;
    gotrace_write_fn write;
    void *ctx;
    int version;
    gt_v1_shape shapes[64];
    const gotrace_event_spec *specs[GT_CODES];
    uint8_t values[GT_CODES]; /* number of values of a record, without frames */
    uint64_t max_string, max_frames, max_strings, max_stacks, max_procs;
    gotrace_status status; /* GOTRACE_ERROR is permanent */
    gotrace_error error;
    bool finished;
    uint64_t records; /* written by gotrace_encoder_record */

    uint8_t *out; /* records and footer before they are passed to write */
    size_t out_used, out_capacity;

    const gt_tracer *tracer; /* NULL in v2 */
    gt_intern procs;         /* numbers are indexes of buffers */
    gt_buffer *buffers;
    size_t buffer_capacity;
    uint32_t near[64]; /* cache by the low bits of a proc's number: index of its buffer plus one */
    gt_intern strings; /* an entry's id is set when its record is written */
    uint64_t last_string;
    gt_intern stacks;       /* an entry's bytes are its frames; its id is its number plus one */
    gt_stack_frame *frames; /* of the current stack */
    size_t frame_capacity;
    gt_pcs pcs;                               /* v2: of the current generation */
    uint64_t earlier_strings, earlier_stacks; /* v2: their number in all earlier generations */
    uint64_t timers[GT_TIMERS_MAX];
    size_t timer_count;
    uint64_t event_ticks; /* ticks of the last event, as written */
    bool clamps;          /* decreasing ticks are clamped to the last ones, not rejected */

    uint64_t generation;                      /* v2: the current one */
    gt_v2_buffer string_buffer, stack_buffer; /* v2 */
    gt_v2_buffer sample_buffer, other_buffer; /* other_buffer: for batches of a single record */
};

/* Minimal size of v. */
static inline unsigned gt_varint_size(uint64_t v)
{
    return (unsigned)(70 - __builtin_clzll(v | 1)) / 7;
}

/* Writes v at p in minimal size; returns the end. */
static inline uint8_t *gt_put(uint8_t *p, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        *p++ = (uint8_t)(0x80 | v);
    *p++ = (uint8_t)v;
    return p;
}

/* Writes v at p in `width` bytes, which must suffice; returns the end. */
static inline uint8_t *gt_put_wide(uint8_t *p, uint64_t v, unsigned width)
{
    for (; width > 1; width--, v >>= 7)
        *p++ = (uint8_t)(0x80 | v);
    *p++ = (uint8_t)v;
    return p;
}

gotrace_status gt_encoder_fail_memory(gotrace_encoder *encoder);

/* Passes the bytes in out to write. */
gotrace_status gt_encoder_flush_out(gotrace_encoder *encoder);
/* Passes bytes to write, after those in out. */
gotrace_status gt_encoder_pass(gotrace_encoder *encoder, const void *bytes, size_t size);

/* The number of a string in the table; adds it if it is new. */
gotrace_status gt_encoder_intern_string(gotrace_encoder *encoder, const char *bytes, size_t size,
                                        size_t *number);
/* The same for a name, cut as tracers do; number plus one, or 0 for no name. */
gotrace_status gt_encoder_intern_name(gotrace_encoder *encoder, const char *name, size_t size,
                                      uint64_t *number);
/* Memory for that many frames, until the next call; NULL with the error set on failure. */
gt_stack_frame *gt_encoder_frames(gotrace_encoder *encoder, size_t count);
gotrace_status gt_encoder_intern_stack(gotrace_encoder *encoder, const gt_stack_frame *frames,
                                       size_t count, uint64_t *id);
/* Adds the stack with that id once more, and sets the other id. */
gotrace_status gt_encoder_repeat_stack(gotrace_encoder *encoder, uint64_t *id);

/* ---- v1, by event (write/v1/encoder.c) ----------------------------------------------------- */

/* Instead of a proc: the tracers' buffer of CPU samples, whose batches have proc 0. Events of type
 * CPUSample are written to it for any proc. */
#define GT_PROC_SAMPLES (INT64_MIN + 1)

/* Write an event as the tracer does, up to 1.21. Events of a proc, in order of their ticks, go to
 * the buffer of the proc, which is written as one batch when it has no room for another event,
 * exactly where that version's tracer flushes (64 KiB less the buffer's header).
 *
 * The event and the number of its arguments are those of the event table: the record's arguments
 * without deltas of sequence and time and without the final stack id, which is passed separately.
 * seq is used in 1.5 only. ticks must not decrease (they are increased where that version's tracer
 * does so: in 1.19 and later to one more than the last). */
gotrace_status gt_encoder_event(gotrace_encoder *encoder, int64_t proc,
                                const gotrace_event_spec *spec, uint64_t ticks, uint64_t seq,
                                const uint64_t *args, size_t arg_count, uint64_t stack,
                                const char *data, size_t data_size);

/* Select a tracer of the version; allowed before the first event. */
gotrace_status gt_encoder_tracer(gotrace_encoder *encoder, gotrace_tracer tracer);

/* In 1.11 and later a batch begins at its own time, shortly before its first event. Sets this time
 * for the next batch of the proc. The default is the time of its first event (in 1.19 and later one
 * tick before it, because timestamps must differ). */
gotrace_status gt_encoder_batch_ticks(gotrace_encoder *encoder, int64_t proc, uint64_t ticks);

/* Write the buffer of a proc now, as tracers do when a proc is removed or tracing stops. */
gotrace_status gt_encoder_flush(gotrace_encoder *encoder, int64_t proc);

/* Returns the id of a string; its record is written to the buffer of proc the first time (1.7 and
 * later). */
gotrace_status gt_encoder_string(gotrace_encoder *encoder, int64_t proc, uint64_t ticks,
                                 const char *bytes, size_t size, uint64_t *id);

/* Returns the id of a stack: frames innermost first, of which pc, line, function and file are used;
 * a frame without a PC gets that of gotrace_frame_pc. Stacks are written by gt_encoder_finish, as
 * by the tracers. */
gotrace_status gt_encoder_stack(gotrace_encoder *encoder, const gotrace_frame *frames, size_t count,
                                uint64_t *id);

/* Write buffered data, then (frequency not 0) the footer in the version's order: frequency, timer
 * goroutines (from TimerGoroutine events) and the stack table, in 1.11 and later in batches of proc
 * 0 that begin at ticks. Afterwards the encoder can only be freed. */
gotrace_status gt_encoder_finish(gotrace_encoder *encoder, uint64_t frequency, uint64_t ticks);

/* ---- v2: program counters (encoder_pcs.c) ---------------------------------------------------- */

/* Call when all stacks of the generation are known: assigns PCs to frames. False with the error set
 * if memory is refused. */
bool gt_pcs_claim(gotrace_encoder *encoder);
/* The PC to write for a frame in the stack pool; call after gt_pcs_claim. False as above. */
bool gt_pcs_of(gotrace_encoder *encoder, size_t at, uint64_t *pc);
/* Call at the end of the generation. */
void gt_pcs_clear(gotrace_encoder *encoder);

/* ---- v2, by event (write/v2/encoder.c) ----------------------------------------------------- */

/* Thread id of events without a thread. */
#define GT_V2_NO_THREAD UINT64_MAX

/* 64 KiB less the buffer's header: link, last ticks, position, position of the length. */
#define GT_V2_BUFFER_CAPACITY (65536 - 32)

/* The slow path of gt_v2_room: the buffer has no room or no batch. */
uint8_t *gt_v2_refill(gotrace_encoder *encoder, gt_v2_buffer *buffer, uint64_t thread,
                      uint64_t ticks, size_t size);

/* Makes room for size bytes in a buffer. If it has none, writes the buffer and begins a batch at
 * that time. Returns the address, or NULL with the error set. */
static inline uint8_t *gt_v2_room(gotrace_encoder *encoder, gt_v2_buffer *buffer, uint64_t thread,
                                  uint64_t ticks, size_t size)
{
    if (buffer->used > 0 && buffer->capacity - buffer->used >= size &&
        GT_V2_BUFFER_CAPACITY - buffer->used >= size)
        return buffer->bytes + buffer->used;
    return gt_v2_refill(encoder, buffer, thread, ticks, size);
}

/* Commits bytes written to that room, up to end. */
static inline void gt_v2_commit(gt_v2_buffer *buffer, const uint8_t *end)
{
    buffer->used = (size_t)(end - buffer->bytes);
}

/* Writes a buffer as a batch. */
gotrace_status gt_v2_flush(gotrace_encoder *encoder, gt_v2_buffer *buffer);
void gt_v2_buffer_free(gotrace_encoder *encoder, gt_v2_buffer *buffer);

/* Begins the record of an event: type and time. equal: the event may have the same tick as the last
 * one; otherwise it gets a later tick, as in Go's tracers. event_ticks is set to its tick. Returns
 * the address for count arguments, followed by gt_v2_commit; NULL with the error set on failure. */
static inline uint8_t *gt_v2_event(gotrace_encoder *encoder, gt_v2_buffer *buffer, uint64_t thread,
                                   unsigned code, uint64_t ticks, bool equal, size_t count)
{
    uint64_t least = buffer->last_ticks + (buffer->stamped && !equal);
    if (ticks < least)
        ticks = least;
    /* A batch begins one tick before its first event, because their timestamps must differ. */
    uint8_t *p = gt_v2_room(encoder, buffer, thread, ticks > 0 ? ticks - 1 : 0,
                            1 + (count + 1) * GT_VARINT_MAX);
    if (!p)
        return NULL;
    *p++ = (uint8_t)code;
    p = gt_put(p, ticks - buffer->last_ticks);
    buffer->last_ticks = encoder->event_ticks = ticks;
    buffer->stamped = true;
    return p;
}

/* Ids of this generation. The record of a string is written at its first use. */
gotrace_status gt_v2_string(gotrace_encoder *encoder, uint64_t ticks, const char *bytes,
                            size_t size, uint64_t *id);
gotrace_status gt_v2_stack(gotrace_encoder *encoder, uint64_t ticks, const gotrace_frame *frames,
                           size_t count, uint64_t *id);
gotrace_status gt_v2_sample(gotrace_encoder *encoder, uint64_t ticks, const uint64_t *args,
                            size_t count);

/* A data batch of an experiment. */
gotrace_status gt_v2_experiment(gotrace_encoder *encoder, uint64_t experiment, uint64_t thread,
                                uint64_t ticks, const char *data, size_t size);

/* The clocks of a generation: up to 1.24 the frequency, later also the clock snapshot. */
gotrace_status gt_v2_sync(gotrace_encoder *encoder, uint64_t ticks, uint64_t frequency,
                          const gotrace_clocks *clocks);

/* Writes samples and tables of the generation and (from 1.26) its end; begins the next one. */
gotrace_status gt_v2_end_generation(gotrace_encoder *encoder, uint64_t ticks);

void gt_encoder_free_v2(gotrace_encoder *encoder);

/* gotrace_encoder_new with a config and an error of the library. */
gotrace_status gt_encoder_new(int version, gotrace_write_fn write, void *ctx,
                              const gotrace_config *config, gotrace_encoder **encoder,
                              gotrace_error *error);

/* Called by gt_encoder_new and gotrace_encoder_free. */
void gt_encoder_init_events(gotrace_encoder *encoder);
void gt_encoder_free_events(gotrace_encoder *encoder);

#endif
