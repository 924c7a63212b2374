/*
 * v2.h - reads traces of Go 1.22 and later, one generation at a time:
 *
 *   header.h      the header of a batch
 *   index.c       reads the batch headers of the whole file: thread and generation of each batch
 *   whole.c       finds out whether reading the batches would lose bytes
 *   clocks.c      the batch of clocks of each generation, and the frequency
 *   tables.c      loads the tables of a generation: strings, stacks, samples, clocks
 *   cursor.c      decodes the events of one thread, several at a time
 *   order.c       merges the events of all threads. In v2 order and state cannot be separated,
 *                 because an event is ready when the states fit:
 *   follow.c      requirements and effects of events
 *   status.c      statuses, ranges, tasks and regions
 *   output.c      the events that are returned
 *   model.c       names that outlive a generation; begin and end of reading
 *
 * Memory is needed for the tables of one generation and the live state, independent of file size.
 */
#ifndef GT_V2_H
#define GT_V2_H

#include "read/block.h"
#include "read/goroutines.h"
#include "read/assume.h"
#include "read/handle.h"
#include "core/times.h"
#include "read/cursor_heap.h"
#include "read/waits.h"
#include "read/window.h"

enum {
    GT_V2_MAX_BATCH = 64 << 10, /* tracev2.MaxBatchSize */
    GT_V2_MAX_FRAMES = 128,     /* tracev2.MaxFramesPerStack */
    GT_V2_MAX_STRING = 1 << 10, /* tracev2.MaxEventTrailerDataSize */
    GT_V2_VALUES = 5,           /* of an event: its time, and at most four arguments */
};

/* Content of a batch, determined by its first record. */
typedef enum gt_batch_kind {
    GT_BATCH_EVENTS,
    GT_BATCH_STRINGS,
    GT_BATCH_STACKS,
    GT_BATCH_SAMPLES,
    GT_BATCH_SYNC,
    GT_BATCH_EXPERIMENT,
    GT_BATCH_END, /* not a batch: the record that ends a generation */
} gt_batch_kind;

typedef struct gt_batch {
    uint64_t offset; /* of its header */
    uint64_t data;   /* of its data */
    uint64_t m, time;
    uint32_t size; /* bytes of data */
    uint32_t next; /* the thread's next batch of the generation, or GT_NONE */
    uint8_t kind;
} gt_batch;

/* A generation: consecutive batches in the file. */
typedef struct gt_generation {
    gotrace_generation_summary summary;
    size_t first, count; /* index in gt_v2.batches, and number */
    uint64_t frequency;  /* as recorded; 0: none is found */
    size_t clocks;       /* index in gt_v2.batches of the batch of clocks; first + count: none */
    uint32_t kinds;      /* bits of gt_batch_kind: those of its batches */
    bool clocks_readable;
    bool own_frequency; /* it is right, although the others have another one */
    bool sync;          /* it has a frequency */
    bool damaged;       /* its events are inconsistent */
} gt_generation;

/* A timed event as decoded. */
typedef struct gt_v2_event {
    int64_t time; /* ns on the trace's clock, as Go's reader computes it */
    uint64_t offset;
    uint64_t args[4];
    uint64_t batch; /* index of its batch in the file */
    uint8_t type;
} gt_v2_event;

typedef struct gt_v2_proc {
    uint64_t id, seq, generation;
    struct gt_v2_thread *holder; /* the thread it was last bound to; NULL: none */
    uint8_t status;              /* GT_P_* */
    bool sweeping;
    bool holder_known, sweep_known; /* they do not depend on earlier generations; see assume.h */
} gt_v2_proc;

/* A thread and its current context. */
typedef struct gt_v2_thread {
    uint64_t id;
    gt_goroutine *g; /* NULL: none, or the one with id GT_V2_NO_ID */
    uint64_t g_id; /* its id, because g's memory may be reused; if there is none, the last one's */
    gt_v2_proc *p; /* NULL: none */
    bool seen;     /* an event refers to it */
    uint8_t known; /* GT_KNOWN_*: set in this generation */
    uint8_t assumed; /* GT_KNOWN_*: used before that */
} gt_v2_thread;

/* The events of one thread in the current generation. */
typedef struct gt_v2_cursor {
    gt_v2_event *head, *end, *events; /* buffer of two halves, see v1/cursor.h */
    uint32_t half, number;
    bool has_head, forced;
    gt_v2_thread *thread; /* NULL: events without a thread */
    gt_file_window w;     /* of the current batch */
    uint64_t batch;       /* of the current batch */
    uint32_t next_batch;
    int64_t time; /* of the last event decoded, 0 at the start of a batch */
} gt_v2_cursor;

typedef struct gt_v2_sample {
    int64_t time;
    uint64_t offset, m, p, g, stack;
} gt_v2_sample;

/* An open task. */
typedef struct gt_v2_task {
    uint64_t parent;
    const char *name; /* from gt_v2.names */
} gt_v2_task;

/* Events of a generation with times before those of earlier events in the order. */
typedef struct gt_v2_disorder {
    uint64_t count, offset; /* number, and offset of the first */
    int64_t latest;         /* latest time of any event */
    int64_t most;           /* maximum difference in ns */
} gt_v2_disorder;

typedef struct gt_names gt_names;

/* The event being handled, with the context of its thread before it. Only one exists, as a part of
 * gt_v2. */
typedef struct gt_follow {
    gotrace_reader *reader;
    struct gt_v2 *v2;
    gt_v2_cursor *c;
    const gt_v2_event *e;
    gt_v2_thread *t; /* NULL: no thread */
    gt_goroutine *g; /* NULL: none */
    gt_v2_proc *p;   /* NULL: none */
    uint64_t generation;
    bool initial; /* the first generation with events. Source: ordering.initialGen */
    bool suspect;
    bool no_begin; /* GOTRACE_EVENT_NO_BEGIN */
} gt_follow;

/* The batches of the file: index.c, clocks.c. */
typedef struct gt_v2_batches {
    gt_batch *batches;
    size_t batch_count, batch_capacity;
    gt_generation *generations;
    size_t generation_count, generation_capacity;
    uint64_t common_frequency; /* of more than half of those that have one; 0: there is none */
} gt_v2_batches;

/* What a generation has in addition to its events: tables.c. */
typedef struct gt_v2_tables {
    gt_uses strings, stacks;
    gt_v2_sample *samples;
    size_t sample_count, sample_capacity, next_sample;
    const char **kept; /* by id: copies of strings of this generation, see gt_v2_name */
    size_t kept_count; /* the larger ids are not in the array of the table */
} gt_v2_tables;

/* The events of each thread: cursor.c. */
typedef struct gt_v2_cursors {
    gt_v2_cursor *list;
    size_t count, capacity;
    gt_v2_event *events; /* of all cursors */
    size_t event_count;
} gt_v2_cursors;

/* Which of them is next: order.c. */
typedef struct gt_v2_order {
    gt_cursor_heap heap;
    gt_v2_cursor *current; /* the cursor being read, which is not in the heap; NULL: none */
    gt_waits waits;
} gt_v2_order;

/* The state after the events so far: follow.c, status.c. */
typedef struct gt_v2_states {
    gt_goroutines goroutines;
    gt_map procs, threads, tasks; /* values: pointers */
    gt_arena arena;               /* procs and threads; never freed individually */
    gt_names *names;
    uint64_t gc_seq;
    enum { GT_GC_UNDETERMINED, GT_GC_OFF, GT_GC_ON } gc;
} gt_v2_states;

/* The events that are returned: output.c. */
typedef struct gt_v2_output {
    gt_block *block;   /* where events are put */
    uint32_t kinds;    /* 1 << gotrace_kind of those that are; 0: nobody reads them */
    int64_t last_time; /* of the last event; times strictly increase */
    uint64_t count;    /* of events */
    gt_v2_disorder disorder;
} gt_v2_output;

struct gt_v2 {
    gt_v2_shape shapes[GT_CODES];
    gt_v2_batches index;
    /* The current generation. */
    size_t current;      /* in index.generations */
    uint64_t generation; /* its number; 0 after the last one */
    uint64_t initial;    /* number of the first generation with events; 0 before that */
    double ns_per_tick;
    int64_t rounding; /* ns by which rounding may make an event of the generation too early */
    int64_t frame_begin, frame_end; /* ns: an event outside is far from those of the generation */
    /* What gt_v2_find_damage would find of times, in this and earlier generations; and the number
     * of warnings that say nothing of it. */
    bool times_altered;
    uint64_t clock_warnings;
    bool entered;    /* a generation has begun */
    uint8_t *buffer; /* a batch of a table, or one that is read ahead */
    gt_v2_tables tables;
    gt_v2_cursors cursors;
    gt_v2_order order;
    gt_v2_states states;
    gt_follow follow;
    gt_v2_output output;
    gt_assumptions *assumed; /* the state before this generation is not known; NULL: it is known */
    struct gt_ahead *ahead;  /* threads that check later generations; NULL: none */
};

enum { GT_P_RUNNING = 1, GT_P_IDLE, GT_P_SYSCALL, GT_P_ABANDONED };
enum { GT_G_RUNNABLE = 1, GT_G_RUNNING, GT_G_SYSCALL, GT_G_WAITING };

#define GT_V2_NO_ID UINT64_MAX /* no thread, proc or task */

/* Converts ticks to nanoseconds. */
static inline int64_t gt_v2_ns(uint64_t ticks, double ns_per_tick)
{
    return gt_time((double)ticks * ns_per_tick);
}

/* Indexes the file. False if reading cannot continue. */
bool gt_v2_index(gotrace_reader *reader);

/* Finds the clocks of each generation, and the common frequency. False if reading must stop. */
bool gt_v2_find_clocks(gotrace_reader *reader);

/* Frees the tables of the current generation, unless blocks refer to them. */
void gt_v2_forget_tables(gotrace_reader *reader);

/* Loads the tables of a generation and opens its cursors. */
bool gt_v2_load(gotrace_reader *reader, struct gt_v2 *v2, gt_generation *generation);
bool gt_v2_open_cursors(gotrace_reader *reader, struct gt_v2 *v2, gt_generation *generation);
void gt_v2_close_cursors(gotrace_reader *reader, struct gt_v2 *v2);

/* Decodes the next events, or clears has_head. False if reading cannot continue. */
bool gt_v2_cursor_fill(gotrace_reader *reader, gt_v2_cursor *cursor);

static inline bool gt_v2_cursor_advance(gotrace_reader *reader, gt_v2_cursor *c)
{
    return ++c->head < c->end || gt_v2_cursor_fill(reader, c);
}

/* Reads the data of a batch into v2->buffer. False if reading must stop. */
bool gt_v2_read_batch(gotrace_reader *reader, struct gt_v2 *v2, const gt_batch *batch,
                      size_t *size);
/* Reads the timed record at p: its difference of time and its arguments. Returns its end, or NULL
 * if it is not one. */
const uint8_t *gt_v2_read_record(const struct gt_v2 *v2, const uint8_t *p, const uint8_t *end,
                                 uint64_t values[GT_V2_VALUES]);

/* Sets *damage to the first damage that makes reading lose bytes or tables, if there is any. False
 * if reading must stop. */
bool gt_v2_find_damage(gotrace_reader *reader, gotrace_error *damage);
/* Ticks between which the events of a generation are, with the same time again before and after
 * them: an event outside is far from them. All ticks if that is not known. */
void gt_v2_find_frame(const struct gt_v2 *v2, const gt_generation *g, uint64_t *begin,
                      uint64_t *end);

/* Whether times of a thread's batch, from `begin` to `last`, or of its next one are altered. Clocks
 * that differ make batches overlap a little, altered times by any amount: what counts is an overlap
 * larger than the time from one to the next. */
static inline bool gt_v2_overlaps(uint64_t begin, uint64_t last, uint64_t next)
{
    return last > next && (next <= begin || last - next > next - begin);
}

/* gt_v2_start initialises the state. gt_v2_thread_of: the thread with that id, created if
 * necessary. */
bool gt_v2_start(gotrace_reader *reader);
gt_v2_thread *gt_v2_thread_of(gotrace_reader *reader, struct gt_v2 *v2, uint64_t id);

/* Puts the next events of one generation into an empty block. *end: there are none. False if
 * reading cannot continue after those in the block. */
bool gt_v2_fill(gotrace_reader *reader, gt_block *block, bool *end);
/* Checks all remaining events, without returning them. */
bool gt_v2_check(gotrace_reader *reader);

/* Checks the only generation of a reader that does not know the state before it. */
bool gt_v2_check_alone(gotrace_reader *reader);

/* Checks that no clock is earlier than in the generation before. */
bool gt_v2_check_clocks(gotrace_reader *reader, const gt_generation *g);

/* Converts a time on the trace's clock to gotrace_event.time. */
int64_t gt_v2_since_start(const gotrace_reader *reader, int64_t time);

/* A copy of a string of the generation that outlives it: the same pointer for equal strings; an
 * unknown one is "". NULL if memory is refused. */
const char *gt_v2_name(gotrace_reader *reader, struct gt_v2 *v2, uint64_t string);

/* The same, but NULL for an unknown string. */
const char *gt_v2_reason(gotrace_reader *reader, struct gt_v2 *v2, uint64_t string);

size_t gt_names_size(const char *name);

/* For such copies of different readers: whether they are equal; a copy of one. */
bool gt_names_equal(const char *a, const char *b);
const char *gt_names_copy(gotrace_reader *reader, struct gt_v2 *v2, const char *name);

void gt_v2_end(gotrace_reader *reader); /* frees the state */
void gt_v2_free(gotrace_reader *reader);

#endif
