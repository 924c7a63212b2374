/*
 * v2.h - reading traces of Go 1.22 and later, a generation at a time:
 *
 *   index.c       skim the batch headers of the whole file: which batch is whose, and in what
 *                 generation
 *   tables.c      load what a generation's events refer to: strings, stacks, samples, clocks
 *   cursor.c      decode the events of one thread, a stretch at a time
 *   order.c       merge the threads' events, and follow goroutines, procs and threads: in v2 order
 *                 and state are one thing, for an event is ready when the states fit
 *   model.c       say what an event means, as a gotrace_event
 *
 * Memory is that of one generation's tables and of the live state, whatever the size of the file.
 */
#ifndef GT_V2_H
#define GT_V2_H

#include "read/goroutines.h"
#include "read/reader.h"
#include "core/times.h"
#include "read/waits.h"

enum {
    GT_V2_MAX_BATCH = 64 << 10, /* Go's tracev2.MaxBatchSize */
    GT_V2_MAX_FRAMES = 128,     /* Go's tracev2.MaxFramesPerStack */
    GT_V2_MAX_STRING = 1 << 10, /* Go's tracev2.MaxEventTrailerDataSize */
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

/* A generation: batches that follow each other in the file. */
typedef struct gt_generation {
    gotrace_generation_summary summary;
    size_t first, count; /* in gt_v2.batches */
    bool sync;           /* it has a frequency */
    bool damaged;        /* its events do not fit together */
} gt_generation;

/* A timed event, as its thread wrote it. */
typedef struct gt_v2_event {
    int64_t time; /* ns on the trace's clock, as Go's reader computes it */
    uint64_t offset;
    uint64_t args[4];
    uint64_t batch; /* index in the file */
    uint8_t type;
} gt_v2_event;

typedef struct gt_v2_proc {
    uint64_t id, seq, generation;
    struct gt_v2_thread *holder; /* the thread that it was bound to last; NULL: none has it */
    uint8_t status;              /* as on the wire: GT_P_* */
    bool sweeping;
} gt_v2_proc;

/* A thread: what it holds now. */
typedef struct gt_v2_thread {
    uint64_t id;
    gt_goroutine *g; /* NULL: none, or that of id GT_V2_NO_ID */
    uint64_t g_id;   /* whose memory may be another's by now */
    gt_v2_proc *p;   /* likewise */
    bool seen;       /* an event refers to it */
} gt_v2_thread;

/* The events of one thread in the current generation. */
typedef struct gt_v2_cursor {
    gt_v2_event *head, *end, *events; /* two halves, see cursor.h */
    uint32_t half, number;
    bool has_head, forced;
    gt_v2_thread *thread; /* NULL: events of no thread */
    const uint8_t *p, *limit;
    uint8_t *window;
    size_t window_size;
    uint64_t base; /* offset in the file of window[0] */
    uint64_t end_of_batch;
    uint64_t batch; /* index of the batch being read */
    uint32_t next_batch;
    uint32_t damaged; /* places of the batch at which no record could be read */
    int64_t time;     /* of the last event decoded, 0 at the start of a batch */
    uint64_t start;   /* the batch's time stamp */
} gt_v2_cursor;

typedef struct gt_v2_sample {
    int64_t time;
    uint64_t offset, m, p, g, stack;
} gt_v2_sample;

/* A user task going on. */
typedef struct gt_v2_task {
    uint64_t parent;
    const char *name; /* from gt_v2.names */
    size_t name_size;
} gt_v2_task;

/* What an event turned out to be: up to three of these come of one. */
typedef struct gt_v2_out {
    int64_t time;
    uint64_t offset;
    uint64_t args[4];
    uint64_t goroutine, subject, stack, cause;
    int64_t proc, thread;
    const gt_v2_task *task; /* UserTaskEnd */
    const char *text;       /* STWEnd: the reason */
    uint8_t type, from, to, flags;
    gt_v2_task ended;
} gt_v2_out;

/* Events of a generation whose times are before those of events that they follow. */
typedef struct gt_v2_back {
    uint64_t count, offset; /* of the first */
    int64_t latest;         /* time of any event */
    int64_t most;           /* ns */
} gt_v2_back;

typedef struct gt_names gt_names;

struct gt_v2 {
    gt_v2_shape shapes[GT_CODES];
    gt_batch *batches;
    size_t batch_count, batch_capacity;
    gt_generation *generations;
    size_t generation_count, generation_capacity;
    /* The current generation. */
    size_t current;      /* in generations */
    uint64_t generation; /* its number */
    uint64_t initial;    /* the number of the first one that has events; 0 before that */
    gt_table strings, stacks;
    gt_v2_sample *samples;
    size_t sample_count, sample_capacity, next_sample;
    double ns_per_tick;
    uint8_t *buffer; /* a table's batch */
    gt_v2_cursor *cursors;
    size_t cursor_count, cursor_capacity;
    gt_v2_event *events; /* of all cursors */
    size_t event_count;
    /* Following. */
    gt_goroutines goroutines;
    gt_map procs, threads, tasks; /* values: pointers */
    gt_arena arena;               /* procs and threads, for good */
    gt_names *names;
    gt_map reasons; /* of this generation: a string's id to the name kept of it */
    struct gt_v2_entry {
        int64_t key;
        gt_v2_cursor *cursor;
    } * heap;
    size_t heap_count;
    gt_v2_cursor *turn; /* the cursor being read, not in the heap; NULL if none */
    gt_waits waits;
    uint64_t gc_seq;
    enum { GT_GC_UNDETERMINED, GT_GC_OFF, GT_GC_ON } gc;
    gt_v2_out out[4]; /* what is to be delivered */
    size_t out_count, out_next;
    int64_t last_time; /* as recorded: later than any before */
    gt_v2_back back;
    uint64_t syncs;
    bool entered; /* a generation has been */
    bool patient; /* what waits in this generation gets what it waits for, however late */
    bool silent;  /* nobody looks at what is delivered */
};

enum { GT_P_RUNNING = 1, GT_P_IDLE, GT_P_SYSCALL, GT_P_ABANDONED };
enum { GT_G_RUNNABLE = 1, GT_G_RUNNING, GT_G_SYSCALL, GT_G_WAITING };

#define GT_V2_NO_ID UINT64_MAX /* no thread, no proc, no task */

/* Ticks to nanoseconds. */
static inline int64_t gt_v2_ns(uint64_t ticks, double ns_per_tick)
{
    return gt_time((double)ticks * ns_per_tick);
}

/* Skim the file. False when reading cannot go on. */
bool gt_v2_index(gotrace_reader *reader);

/* Load the tables of a generation and open its cursors. */
bool gt_v2_load(gotrace_reader *reader, struct gt_v2 *v2, gt_generation *generation);
bool gt_v2_open_cursors(gotrace_reader *reader, struct gt_v2 *v2, gt_generation *generation);
void gt_v2_close_cursors(gotrace_reader *reader, struct gt_v2 *v2);

/* Decode the next stretch, or clear has_head. False when reading cannot go on. */
bool gt_v2_cursor_fill(gotrace_reader *reader, gt_v2_cursor *cursor);

static inline bool gt_v2_cursor_advance(gotrace_reader *reader, gt_v2_cursor *c)
{
    return ++c->head < c->end || gt_v2_cursor_fill(reader, c);
}

/* Start to follow; the thread of an id, made if need be. */
bool gt_v2_start(gotrace_reader *reader);
gt_v2_thread *gt_v2_thread_of(gotrace_reader *reader, struct gt_v2 *v2, uint64_t id);

/* The next event in order, NULL at the end. False when reading cannot go on. */
bool gt_v2_next(gotrace_reader *reader, gt_v2_out **out);
/* All that are left, of which nothing is told. */
bool gt_v2_check(gotrace_reader *reader);

/* A time on the trace's clock as gotrace_event.time has it. */
int64_t gt_v2_since_start(const gotrace_reader *reader, int64_t time);

/* Say what it means. */
void gt_v2_fill(gotrace_reader *reader, const gt_v2_out *out, gotrace_event *event);

/* A string that outlives its generation: the same pointer for the same bytes. NULL when memory is
 * refused. */
const char *gt_names_keep(gotrace_reader *reader, struct gt_v2 *v2, const char *bytes, size_t size);
void gt_names_free(gotrace_reader *reader, struct gt_v2 *v2);

void gt_v2_end(gotrace_reader *reader); /* of following */
void gt_v2_free(gotrace_reader *reader);

#endif
