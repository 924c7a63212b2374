/*
 * encoder.h - what the parts of the encoder share: encoder.c (records, output), write/v1/encoder.c
 * (the buffers and footer of v1's tracers), write/v2/encoder.c (the buffers and tables of v2's),
 * encoder_tables.c (strings and stacks by content) and encoder_pcs.c (the PCs of frames).
 */
#ifndef GT_ENCODER_H
#define GT_ENCODER_H

#include "core/errors.h"
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
    uint32_t *slots; /* index of an entry plus one, 0 for none; slot_count is a power of two */
    size_t slot_count;
    uint64_t seed; /* of the hash, 0 until there are slots */
    uint8_t *pool;
    size_t pool_size, pool_capacity;
} gt_intern;

/* The number of those bytes, which are added if they are new; false when memory is refused. */
bool gt_intern_put(gt_heap *heap, gt_intern *table, const void *bytes, size_t size, size_t *number);
/* Whether they are there already. */
bool gt_intern_find(const gt_intern *table, const void *bytes, size_t size, size_t *number);
void gt_intern_free(gt_heap *heap, gt_intern *table);
/* Remove all entries, and keep the memory unless they used little of it. */
void gt_intern_clear(gt_heap *heap, gt_intern *table);

static inline const uint8_t *gt_intern_bytes(const gt_intern *table, const gt_entry *entry)
{
    return table->pool + entry->offset;
}

/* ---- the encoder ---------------------------------------------------------------------------- */

/* How a tracer differs from the others: one row of write/v1/encoder.c. */
typedef struct gt_tracer {
    uint8_t tracer;    /* gotrace_tracer */
    uint8_t since;     /* the first version whose traces it writes so */
    uint8_t flags;     /* GT_TRACER_* */
    uint32_t capacity; /* bytes of a buffer: 64 KiB less its header */
} gt_tracer;

enum {
    GT_TRACER_HEADER_WITH_EVENT = 1,  /* a batch's header has the time of its first event */
    GT_TRACER_RAISES = 2,             /* no two stamps of a buffer are equal */
    GT_TRACER_FREQUENCY_LAST = 4,     /* frequency after the stacks, else before them */
    GT_TRACER_STACK_BATCHES = 8,      /* the stacks' buffers begin with a batch header */
    GT_TRACER_FREQUENCY_BATCHED = 16, /* the frequency is in the first of these batches */
    GT_TRACER_STACK_ESTIMATE = 32,    /* room for a stack is asked for before its size is known */
    GT_TRACER_STACK_PAD = 64,         /* the length of a stack takes ten bytes */
};

/* What a buffer's next batch header says. */
typedef enum gt_header {
    GT_HEADER_OF_EVENT = 0, /* the time of what opens it, or shortly before */
    GT_HEADER_GIVEN,        /* header_ticks, this time */
    GT_HEADER_FIXED,        /* header_ticks, each time */
    GT_HEADER_NONE,         /* there is no header */
} gt_header;

/* The buffer of a proc. */
typedef struct gt_buffer {
    int64_t proc; /* GOTRACE_PROC_SAMPLES: that of the samples, which says proc 0 */
    uint8_t *bytes;
    size_t used, capacity;
    uint64_t last_ticks, last_seq;
    uint64_t header_ticks;
    gt_header header;
} gt_buffer;

/* The tracers keep up to 64 goroutines that run timers. */
#define GT_TIMERS_MAX 64

/* The tracers keep that much of the end of a function's or a file's name. */
#define GT_NAME_MAX 1024

/* A frame as the stack table keeps it; function and file are numbers of strings plus one, 0 for
 * none. */
typedef struct gt_stack_frame {
    uint64_t pc, function, file, line;
} gt_stack_frame;

/* v2: which frame has a PC in a generation (encoder_pcs.c). */
typedef struct gt_pcs {
    gt_map owners;    /* a PC -> where in the stacks' pool a frame that has it begins, plus one */
    gt_intern frames; /* those that get another PC than their own; an entry's id is that PC */
    uint64_t spare;   /* the last PC given to a frame whose usual one is taken */
} gt_pcs;

/* A buffer of v2: of a thread's events, or of a table. */
typedef struct gt_v2_buffer {
    uint8_t *bytes;
    size_t used, capacity;
    uint8_t *length; /* where the batch's size goes */
    uint64_t last_ticks;
    bool stamped; /* something happened at last_ticks */
} gt_v2_buffer;

struct gotrace_encoder {
    gt_heap heap;
    gotrace_write_fn write;
    void *ctx;
    int version;
    gt_v1_shape shapes[64];
    const gotrace_event_spec *specs[GT_CODES];
    uint8_t values[GT_CODES]; /* that a record has, frames aside */
    uint64_t max_string, max_frames, max_strings, max_stacks, max_procs;
    gotrace_status status; /* GOTRACE_ERROR stays */
    gotrace_error error;
    bool finished;
    uint64_t records; /* written by gotrace_encoder_record */

    uint8_t *out; /* records and footer on their way to write */
    size_t out_used, out_capacity;

    const gt_tracer *tracer; /* NULL in v2, which is not written by event */
    gt_intern procs;         /* numbers are indexes of buffers */
    gt_buffer *buffers;
    size_t buffer_capacity;
    uint32_t near[64]; /* by the low bits of a proc's number: that of its buffer, plus one */
    gt_intern strings; /* an entry's id is set when its record was written */
    uint64_t last_string;
    gt_intern stacks;       /* an entry's id is its number plus one; its bytes are the frames */
    gt_stack_frame *frames; /* of the stack being looked up */
    size_t frame_capacity;
    gt_pcs pcs;                               /* v2: of the generation being written */
    uint64_t earlier_strings, earlier_stacks; /* v2: how many all generations before have */
    uint64_t timers[GT_TIMERS_MAX];
    size_t timer_count;
    uint64_t event_ticks; /* that the last event got */
    bool clamps;          /* ticks that fall are written as the last ones, not refused */

    uint64_t generation;                      /* v2: the one being written */
    gt_v2_buffer string_buffer, stack_buffer; /* v2 */
    gt_v2_buffer sample_buffer, other_buffer; /* the latter of what stands alone in a batch */
};

/* Bytes that v takes. */
static inline unsigned gt_varint_size(uint64_t v)
{
    return (unsigned)(70 - __builtin_clzll(v | 1)) / 7;
}

/* Write v at p in as few bytes as it takes; returns the end. */
static inline uint8_t *gt_put(uint8_t *p, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        *p++ = (uint8_t)(0x80 | v);
    *p++ = (uint8_t)v;
    return p;
}

/* Write v at p in that many bytes, which are enough; returns the end. */
static inline uint8_t *gt_put_wide(uint8_t *p, uint64_t v, unsigned width)
{
    for (; width > 1; width--, v >>= 7)
        *p++ = (uint8_t)(0x80 | v);
    *p++ = (uint8_t)v;
    return p;
}

gotrace_status gt_encoder_fail_memory(gotrace_encoder *encoder);

/* Room for size bytes behind what is in out; false (and the error is set) if there is none. */
bool gt_encoder_room(gotrace_encoder *encoder, size_t size);
/* Hand over what is in out. */
gotrace_status gt_encoder_flush_out(gotrace_encoder *encoder);
/* Hand over bytes, after what is in out. */
gotrace_status gt_encoder_pass(gotrace_encoder *encoder, const void *bytes, size_t size);

/* The number of a string in the table. */
gotrace_status gt_encoder_intern_string(gotrace_encoder *encoder, const char *bytes, size_t size,
                                        size_t *number);
/* A name as the tracers keep it; number plus one, or 0 for no name. */
gotrace_status gt_encoder_intern_name(gotrace_encoder *encoder, const char *name, size_t size,
                                      uint64_t *number);
/* gotrace_encoder_event of an event that is known to be as the event table says. */
gotrace_status gt_encoder_event(gotrace_encoder *encoder, int64_t proc,
                                const gotrace_event_spec *spec, uint64_t ticks, uint64_t seq,
                                const uint64_t *args, size_t arg_count, uint64_t stack,
                                const char *data, size_t data_size);
/* Memory for so many frames, until the next call; NULL (and the error is set) if there is none. */
gt_stack_frame *gt_encoder_frames(gotrace_encoder *encoder, size_t count);
gotrace_status gt_encoder_intern_stack(gotrace_encoder *encoder, const gt_stack_frame *frames,
                                       size_t count, uint64_t *id);

/* ---- v2: program counters (encoder_pcs.c) ---------------------------------------------------- */

/* All stacks of the generation are known: decide which frames keep their PCs. False (and the error
 * is set) if there is no memory. */
bool gt_pcs_claim(gotrace_encoder *encoder);
/* The PC with which to write a frame of the stacks' pool, after that; false as before. */
bool gt_pcs_of(gotrace_encoder *encoder, size_t at, uint64_t *pc);
/* The generation is written. */
void gt_pcs_clear(gotrace_encoder *encoder);

/* ---- v2, by event (write/v2/encoder.c) ----------------------------------------------------- */

/* The thread of what is on none. */
#define GT_V2_NO_THREAD UINT64_MAX

/* 64 KiB less the buffer's header: link, last ticks, position, position of the length. */
#define GT_V2_BUFFER_CAPACITY (65536 - 32)

/* Room for size bytes in a buffer that has too little, or no batch. */
uint8_t *gt_v2_refill(gotrace_encoder *encoder, gt_v2_buffer *buffer, uint64_t thread,
                      uint64_t ticks, size_t size);

/* Room for size bytes in a buffer: where it has none it is written, and a batch is begun at that
 * time. Returns where they go, or NULL (and the error is set). */
static inline uint8_t *gt_v2_room(gotrace_encoder *encoder, gt_v2_buffer *buffer, uint64_t thread,
                                  uint64_t ticks, size_t size)
{
    if (buffer->used > 0 && buffer->capacity - buffer->used >= size &&
        GT_V2_BUFFER_CAPACITY - buffer->used >= size)
        return buffer->bytes + buffer->used;
    return gt_v2_refill(encoder, buffer, thread, ticks, size);
}

/* What stands in that room ends there. */
static inline void gt_v2_keep(gt_v2_buffer *buffer, const uint8_t *end)
{
    buffer->used = (size_t)(end - buffer->bytes);
}

/* Write a buffer as a batch. */
gotrace_status gt_v2_flush(gotrace_encoder *encoder, gt_v2_buffer *buffer);
void gt_v2_buffer_free(gotrace_encoder *encoder, gt_v2_buffer *buffer);

/* Begin the record of an event of a thread: type and time. equal: it may happen at the same tick as
 * the last one, else it is a tick later, as with the tracers. The ticks it got are in event_ticks.
 * Returns where its count arguments go, behind which stands what gt_v2_keep is told, or NULL (and
 * the error is set). */
static inline uint8_t *gt_v2_event(gotrace_encoder *encoder, gt_v2_buffer *buffer, uint64_t thread,
                                   unsigned code, uint64_t ticks, bool equal, size_t count)
{
    uint64_t least = buffer->last_ticks + (buffer->stamped && !equal);
    if (ticks < least)
        ticks = least;
    /* A batch begins shortly before its first event, whose stamp has to differ. */
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

/* Ids of this generation; the string's record is written when it is first seen. */
gotrace_status gt_v2_string(gotrace_encoder *encoder, uint64_t ticks, const char *bytes,
                            size_t size, uint64_t *id);
gotrace_status gt_v2_stack(gotrace_encoder *encoder, uint64_t ticks, const gotrace_frame *frames,
                           size_t count, uint64_t *id);
gotrace_status gt_v2_sample(gotrace_encoder *encoder, uint64_t ticks, const uint64_t *args,
                            size_t count);

/* A batch of an experiment's own data. */
gotrace_status gt_v2_experiment(gotrace_encoder *encoder, uint64_t experiment, uint64_t thread,
                                uint64_t ticks, const char *data, size_t size);

/* The clocks of a generation: up to 1.24 the frequency, then the clock snapshot too. */
gotrace_status gt_v2_sync(gotrace_encoder *encoder, uint64_t ticks, uint64_t frequency,
                          const gotrace_clocks *clocks);

/* The samples and tables of the generation, and (from 1.26) its end; then begin the next one. */
gotrace_status gt_v2_end_generation(gotrace_encoder *encoder, uint64_t ticks);

void gt_encoder_free_v2(gotrace_encoder *encoder);

/* Called by gotrace_encoder_new and _free. */
void gt_encoder_init_events(gotrace_encoder *encoder);
void gt_encoder_free_events(gotrace_encoder *encoder);

#endif
