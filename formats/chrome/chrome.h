/*
 * chrome.h - internal interface of the Chrome exporter.
 *
 *   run.c             entry point: reads the events and drives the parts below
 *   chrome.c          tracks state: events to slices, instants and flows
 *   timeline_rows.c   the rows: one for each proc, goroutine or thread
 *   counts.c          counters
 *   user.c            tasks, regions and logs
 *   timeline.c        records in order of time, and properly nested slices on rows
 *   thread.c          a thread that writes blocks of records
 *   write.c           records to JSON
 *   window.c          selected parts, or a time range
 *   frames.c          the tree of stack frames that records refer to
 *
 * Records are queued in a spool until all earlier ones are complete: a record whose end is not
 * known yet is open, and is completed in place. A separate thread writes blocks of complete
 * records, unless there are several documents. It uses what is declared below "writing", the window
 * and the output; everything else belongs to the thread that tracks state, until
 * chrome_timeline_finish has returned. Frames and texts that exist do not change, and both threads
 * read them.
 */
#ifndef CHROME_H
#define CHROME_H

#include "formats/formats.h"
#include "formats/chrome/options.h"
#include "formats/common/idmap.h"
#include "core/lookup.h"
#include "formats/common/system_goroutines.h"
#include "formats/common/spool.h"
#include "formats/common/segment_list.h"

/* Row and section numbers of Go's tool, which scripts rely on. */
enum {
    CHROME_PID_PROCS = 0,
    CHROME_PID_STATS = 1,
    CHROME_PID_TASKS = 2,
    CHROME_LANE_NO_PROC = 1000000, /* events without a proc */
    CHROME_LANE_TIMERS = 1000001,
    CHROME_LANE_NETWORK = 1000002,
    CHROME_LANE_SYSCALLS = 1000003,
    CHROME_LANE_GC = 1000004,
};

/* The kind of a record, with its phase in the Trace Event Format and its values other than
 * CHROME_TID and CHROME_STACK. */
typedef enum chrome_op {
    CHROME_SLICE,   /* X: END, END_STACK, SUBJECT, START, A, B */
    CHROME_TASK,    /* X in the section of tasks: END, END_STACK, SUBJECT, START, A, B */
    CHROME_ROW,     /* M: name of a row; PLACE instead of STACK; for a goroutine, values of a run */
    CHROME_SECTION, /* M: name of a section: PLACE, PID */
    CHROME_INSTANT, /* I: THREAD, where a proc starts; on the row of a thread, the proc */
    CHROME_FLOW_START,   /* s: ID, PID */
    CHROME_FLOW_END,     /* t: ID, PID */
    CHROME_REGION_BEGIN, /* b: ID, REGION_TASK, possibly REGION_UNBEGUN */
    CHROME_REGION_END,   /* e: ID, REGION_TASK */
    CHROME_HEAP,         /* C: the values of the counters */
    CHROME_GOROUTINES,
    CHROME_THREADS,
    CHROME_ROW_END, /* not written: the row is no longer needed */
} chrome_op;

enum { CHROME_COUNTERS = CHROME_THREADS - CHROME_HEAP + 1 };

/* The name of a record. */
typedef enum chrome_name {
    CHROME_NAME_TEXT,    /* the record's text */
    CHROME_NAME_RUN,     /* "G7 main.worker", with the record's text, a label, in parentheses */
    CHROME_NAME_STW,     /* "stop-the-world (text)" */
    CHROME_NAME_UNBLOCK, /* "unblock (text)" */
    CHROME_NAME_GC,
    CHROME_NAME_SWEEP,
    CHROME_NAME_ASSIST,
    CHROME_NAME_SYSCALL,
    CHROME_NAME_SYSEXIT,
    CHROME_NAME_GO,
    CHROME_NAME_NEW_TASK,
    CHROME_NAME_PROC_START,
    CHROME_NAME_PROC_STOP,
    CHROME_NAME_TASK_START,
    CHROME_NAME_TASK_END,
    CHROME_NAME_SAMPLE,
} chrome_name;

/* Index of a record's values: some are common to all, the rest depend on the kind. */
enum {
    CHROME_TID = 0, /* the row */
    CHROME_STACK = 1,
    CHROME_PLACE = 1,

    CHROME_END = 2, /* ns */
    CHROME_END_STACK = 3,
    CHROME_SUBJECT = 4, /* the goroutine or task */
    /* the frame (until 1.6 the PC) where the goroutine starts; task: 1 if its begin is not in the
     * trace */
    CHROME_START = 5,
    /* sweep: bytes swept; task: the goroutine that started it; system call: 1 if it kept the proc;
     * v2 run: the frame that names the goroutine */
    CHROME_A = 6,
    /* sweep: bytes reclaimed; task: the goroutine that ended it; v2 run: the goroutine's label, a
     * text number */
    CHROME_B = 7,

    CHROME_THREAD = 2,
    CHROME_ID = 2,
    CHROME_PID = 3,
    CHROME_REGION_TASK = 3,
    CHROME_REGION_UNBEGUN = 4, /* there is such a value if its begin is not in the trace */
    CHROME_VALUES = 8,
};

typedef enum chrome_state {
    CHROME_DONE,
    CHROME_OPEN,    /* incomplete: some values follow */
    CHROME_DROPPED, /* not to be written */
} chrome_state;

/* In a spool: the first `count` values only, then the text, padded to 8 bytes. */
typedef struct chrome_record {
    uint8_t op, name, state;
    uint8_t count; /* number of values */
    uint32_t text_size;
    int64_t time;
    uint64_t values[CHROME_VALUES];
} chrome_record;

#define CHROME_HEAD_SIZE offsetof(chrome_record, values)

/* Appends a record with count values to a spool. Returns its position, or SPOOL_NONE. */
uint64_t chrome_append(spool *s, const chrome_record *head, const uint64_t *values,
                       const char *text);

/* The next record of a block and its text; NULL after the last. *at is 0 at first. */
static inline const chrome_record *chrome_next_record(const spool_taken *block, size_t *at,
                                                      const char **text)
{
    const chrome_record *record = (const chrome_record *)(const void *)(block->bytes + *at);

    if (*at >= block->used)
        return NULL;
    *text = (const char *)(record->values + record->count);
    *at += (CHROME_HEAD_SIZE + record->count * sizeof record->values[0] + record->text_size + 7) /
           8 * 8;
    return record;
}

/* ---- frames -------------------------------------------------------------------------------- */

typedef struct chrome_node chrome_node;

enum { CHROME_RECENT = 512, CHROME_SHORT = 108 };

typedef struct chrome_frames {
    const feed *source;
    idmap stacks;       /* stack id to number of its innermost frame */
    segment_list texts; /* text_entry by number */
    segment_list nodes;
    gt_lookup by_text, by_frame; /* numbers of texts, and of nodes by frame and parent */
    bool by_generation;          /* v2: ids are valid for one generation */
    gotrace_frame *buffer;       /* frames of one stack */
    size_t buffer_size;
    /* Used by the writing thread: */
    uint32_t last_used;
    size_t used_count;
    struct {
        uint64_t stack; /* 0: empty */
        uint32_t number;
    } recent[CHROME_RECENT]; /* cache of look-ups */
    bool failed;             /* allocation failed */
} chrome_frames;

void chrome_frames_init(chrome_frames *frames, const feed *source);

/* The number of a stack's innermost frame, from 1; 0 if the stack has none. */
uint32_t chrome_frames_of(chrome_frames *frames, uint64_t stack);

/* A new generation: ids change their meaning. */
void chrome_frames_new_generation(chrome_frames *frames);

/* Copies a text, which lives until the end. Returns its number, 0 if memory is refused. */
uint64_t chrome_frames_add_text(chrome_frames *frames, const char *bytes, size_t size);

/* The text with that number, NUL-terminated; NULL if there is none. */
const char *chrome_frames_text(const chrome_frames *frames, uint64_t number, size_t *size);

/* The outermost caller of a frame; 0 for 0. */
uint32_t chrome_frames_outermost(const chrome_frames *frames, uint32_t number);

/* The function name of a frame; size 0 if there is none. */
const char *chrome_frames_function(const chrome_frames *frames, uint32_t number, size_t *size);

/* Marks a frame as used by a record: the frame and its callers will be written. */
void chrome_frames_use(chrome_frames *frames, uint32_t number);

/* Writes the members of "stackFrames", one per line. */
void chrome_frames_write(const chrome_frames *frames, out *o);

void chrome_frames_free(chrome_frames *frames);

/* ---- writing ------------------------------------------------------------------------------- */

/* Cache entry: the rest of a run's name, after the goroutine's number. */
typedef struct chrome_run_name {
    uint64_t start, label;
    uint32_t size; /* 0: empty */
    char text[CHROME_SHORT];
} chrome_run_name;

typedef struct chrome_writer {
    out *o;
    int version;
    chrome_view by;
    bool started; /* something was written, so a comma is needed */
    chrome_frames *frames;
    chrome_run_name names[CHROME_RECENT]; /* cache */
    uint64_t time;                        /* the last time, and its text */
    uint32_t time_size;
    char time_text[28];
} chrome_writer;

/* The part before the events. */
void chrome_write_begin(chrome_writer *w);

void chrome_write_record(chrome_writer *w, const chrome_record *record, const char *text);

/* The part after the events. */
void chrome_write_end(chrome_writer *w);

/* ---- selected parts and time ranges ---------------------------------------------------------- */

/* Of these parts (bits 1 << PART_*), the ones that have an effect in that view. */
unsigned chrome_parts_possible(unsigned parts, chrome_view by);

/* Whether a record belongs to these parts. */
bool chrome_shows(unsigned parts, chrome_view by, chrome_op op, chrome_name name,
                  const uint64_t *values);

typedef void (*chrome_emit_fn)(void *ctx, const chrome_record *record, const char *text);

typedef struct chrome_window {
    int64_t from;
    bool reached;                            /* the time `from` is reached */
    idmap rows;                              /* records by key that name rows */
    idmap regions;                           /* regions that are open at `from`, by id */
    idmap flows;                             /* ids of flows that began earlier */
    chrome_record counters[CHROME_COUNTERS]; /* the last ones before `from` */
    chrome_emit_fn emit;                     /* receives the records that are shown */
    void *ctx;
    int error; /* errno if memory was refused */
} chrome_window;

void chrome_window_init(chrome_window *w, int64_t from, chrome_emit_fn emit, void *ctx);

/* Passes the record to emit if it is to be shown. May change the record. */
void chrome_window_take(chrome_window *w, chrome_record *record, const char *text);

/* Call after the last record; end is the time when the trace ends. */
void chrome_window_finish(chrome_window *w, int64_t end);

void chrome_window_free(chrome_window *w);

/* ---- the timeline -------------------------------------------------------------------------- */

/* The kinds of slices. A row has at most one open slice of each kind. */
typedef enum chrome_slice {
    CHROME_RUN,
    CHROME_ASSIST,
    CHROME_SYSCALL,
    CHROME_SWEEP,
    CHROME_STW,
    CHROME_GC,
    CHROME_SLICES
} chrome_slice;

/* What a slice shows at its beginning. */
typedef struct chrome_label {
    chrome_name name;
    uint64_t stack;
    uint64_t subject, start; /* for a run, which is never split */
    const char *text;        /* for slices that may be split: a static string */
    size_t text_size;
} chrome_label;

typedef struct chrome_open {
    uint64_t position; /* of its record */
    int64_t begin;
    uint64_t stack;
    const char *text; /* static string or NULL */
    uint8_t slice;    /* chrome_slice */
    uint8_t name;     /* chrome_name */
} chrome_open;

typedef struct chrome_row {
    chrome_open *open; /* outermost first */
    uint8_t depth, capacity;
    bool used;          /* a goroutine ran there, or a slice ended there */
    uint64_t goroutine; /* the goroutine that runs there, 0: none */
} chrome_row;

/* A block of records for the writer. */
typedef struct chrome_block {
    spool_taken records;
    spool *home;
    int64_t end; /* end time of open records; open flows are not written */
} chrome_block;

typedef struct chrome_thread chrome_thread;

typedef bool (*chrome_block_fn)(void *ctx, const chrome_block *block);

/* Starts a thread that calls write for each block passed to it; NULL on failure. */
chrome_thread *chrome_thread_start(chrome_block_fn write, void *ctx);

/* Passes a block, which is returned to its home afterwards. Waits while the queue is full. False if
 * a write failed; further blocks are dropped. */
bool chrome_thread_queue(chrome_thread *thread, const chrome_block *block);

/* Returns the blocks that were written to their homes. With `wait`, and if there are none, waits
 * for some of those in the queue. */
void chrome_thread_return(chrome_thread *thread, bool wait);

/* Waits until everything is written, and ends the thread. */
bool chrome_thread_end(chrome_thread *thread);

enum { CHROME_LINES = 128 };

typedef struct chrome_timeline {
    spool spool;
    spool head;              /* records backdated to the start of the trace */
    chrome_thread *thread;   /* the writing thread, NULL if there is none */
    bool no_thread;          /* none could be started */
    uint64_t blocks_checked; /* spool.end at the last check for complete blocks */
    chrome_view by;
    int version;
    chrome_frames frames;
    unsigned shown;      /* bits 1 << PART_*; 0: all */
    idmap rows;          /* chrome_row by number */
    int64_t now;         /* time of the current event; never decreases */
    uint64_t flows;      /* the last id */
    int64_t resume_time; /* the time to return to after backdating */
    bool holding;        /* nothing is written yet, so slices can be backdated */
    bool backdating;     /* backdating: now is the beginning of the trace */
    bool ended;          /* no more records follow */
    bool stopped;        /* writing failed */
    int error;           /* errno if memory or disk space was refused */
    /* For the writing thread. On cache lines of their own, because both threads modify their data
     * all the time. */
    _Alignas(CHROME_LINES) chrome_writer writer;
    chrome_window *window; /* NULL if there is no time range */
    _Alignas(CHROME_LINES) char end[CHROME_LINES];
} chrome_timeline;

bool chrome_timeline_init(chrome_timeline *t, out *o, const feed *source);

/* Writes a record to the document or part; ctx is the timeline. */
void chrome_emit(void *ctx, const chrome_record *record, const char *text);

/* Appends a record at the current time, with its values and text. Returns its position, or
 * SPOOL_NONE (also if it is not to be shown). */
uint64_t chrome_push(chrome_timeline *t, chrome_op op, chrome_name name, chrome_state state,
                     const uint64_t *values, size_t count, const char *text, size_t text_size);

/* Changes the state of a record and `count` of its values, from `first` on. */
void chrome_update(chrome_timeline *t, uint64_t position, chrome_state state, size_t first,
                   const uint64_t *values, size_t count);

/* Sets the current time to the beginning of the trace, for a slice that has lasted since then.
 * False, without effect, if records were already written. */
bool chrome_backdate(chrome_timeline *t);

/* Ends backdating, if it is active. */
void chrome_backdate_end(chrome_timeline *t);

/* The row with that number; NULL if memory is refused. Valid until the next call. */
chrome_row *chrome_row_of(chrome_timeline *t, uint64_t number);

/* Closes a row that is no longer used, with its open slices. */
void chrome_close_row(chrome_timeline *t, uint64_t number);

/* Begins a slice now; ends one of the same kind. A run is always outermost: open slices are split
 * there and continue inside it. */
void chrome_begin_slice(chrome_timeline *t, uint64_t row, chrome_slice slice,
                        const chrome_label *label);

bool chrome_has_slice(const chrome_row *row, chrome_slice slice);

/* Sets CHROME_A and CHROME_B of an open slice. */
void chrome_mark_slice(chrome_timeline *t, uint64_t row, chrome_slice slice, uint64_t a,
                       uint64_t b);

/* Ends a slice now, if it is open. Open slices inside it are split and continue after it. For a and
 * b see CHROME_A and CHROME_B. */
void chrome_end_slice(chrome_timeline *t, uint64_t row, chrome_slice slice, uint64_t stack,
                      uint64_t a, uint64_t b);

void chrome_instant(chrome_timeline *t, uint64_t row, chrome_name name, uint64_t stack,
                    const char *text, size_t text_size);

/* The beginning of a flow. It is written only if the flow is finished. All zero: no flow. */
typedef struct chrome_flow {
    uint64_t position;  /* position of the record */
    const char *reason; /* static string */
    uint8_t name;       /* chrome_name */
    bool pending;
} chrome_flow;

void chrome_begin_flow(chrome_timeline *t, chrome_flow *flow, uint64_t row, chrome_name name,
                       const char *reason, uint64_t stack);

/* Ends the flow in the last slice on that row, or drops it. */
void chrome_finish_flow(chrome_timeline *t, chrome_flow *flow, uint64_t row);
void chrome_drop_flow(chrome_timeline *t, chrome_flow *flow);

void chrome_write_complete(chrome_timeline *t);

/* Writes complete blocks, if there are any. Call it often. */
static inline void chrome_drain(chrome_timeline *t)
{
    if (t->blocks_checked != t->spool.end)
        chrome_write_complete(t);
}

/* Ends all open slices and writes everything. */
void chrome_timeline_finish(chrome_timeline *t);

void chrome_timeline_free(chrome_timeline *t);

/* ---- counters ------------------------------------------------------------------------------ */

/* How a goroutine is counted. */
typedef enum chrome_count_class {
    CHROME_CLASS_NONE,
    CHROME_CLASS_RUNNING, /* has a proc, possibly in a system call */
    CHROME_CLASS_RUNNABLE,
    CHROME_CLASS_GC_WAITING, /* waits to assist the GC */
    CHROME_CLASS_IN_SYSCALL, /* without a proc */
    CHROME_CLASS_SYSTEM_IN_SYSCALL,
    CHROME_CLASS_COUNT
} chrome_count_class;

typedef struct chrome_counts {
    uint64_t goroutines[CHROME_CLASS_COUNT];
    uint64_t heap_alloc, heap_goal, procs_running;
    /* The values written last. */
    uint64_t shown_heap[2], shown_goroutines[3], shown_threads[2];
} chrome_counts;

/* Counts a goroutine in another class than before. */
void chrome_count_as(chrome_counts *counts, uint8_t *counted_as, chrome_count_class as);

void chrome_count_proc(chrome_counts *counts, bool *running, bool runs);

void chrome_count_metric(chrome_counts *counts, const gotrace_event *event);

/* Writes the counters that changed. */
void chrome_show_counts(chrome_counts *counts, chrome_timeline *t);

/* ---- the rows of section 0 ------------------------------------------------------------------ */

typedef struct chrome_proc {
    uint64_t goroutine; /* v2: the goroutine that has it, possibly in a system call; 0: none */
    uint64_t sweep_row; /* where its last sweep began */
    bool running;
} chrome_proc;

typedef struct chrome_rows {
    chrome_timeline *timeline;
    chrome_view by;
    idmap procs; /* chrome_proc by number */
} chrome_rows;

void chrome_rows_init(chrome_rows *rows, chrome_timeline *timeline, chrome_view by);

/* NULL if memory is refused. Valid until the next call. */
chrome_proc *chrome_proc_of(chrome_rows *rows, uint64_t number);

/* The row of the proc, goroutine or thread of an event. */
uint64_t chrome_row_of_event(const chrome_rows *rows, const gotrace_event *event);

/* The row on which the event's goroutine runs. */
uint64_t chrome_row_of_run(const chrome_rows *rows, const gotrace_event *event);

/* If rows are goroutines: the row of this one. */
uint64_t chrome_row_of_goroutine(uint64_t id);

/* Names the sections, the rows that every trace has, and those known in advance. */
void chrome_name_rows(chrome_rows *rows, gotrace_reader *reader);

/* Names a new row. */
void chrome_name_new_row(chrome_timeline *t, uint64_t number);

/* Names a goroutine's row, again if more becomes known. For start and label see CHROME_START and
 * CHROME_B. */
void chrome_name_goroutine(chrome_timeline *t, uint64_t id, uint64_t start, uint64_t label);

void chrome_rows_free(chrome_rows *rows);

/* ---- tasks, regions and logs --------------------------------------------------------------- */

typedef struct chrome_user {
    chrome_timeline *timeline;
    idmap tasks; /* open tasks: position of the slice */
    idmap names; /* names of open regions, by hash */
    uint64_t seed;
    uint64_t regions, rows;
} chrome_user;

/* An open region, linked to the one around it. */
typedef struct chrome_region chrome_region;

void chrome_user_init(chrome_user *u, chrome_timeline *t);

/* Handles an event of a task, region or log on that row. */
void chrome_user_event(chrome_user *u, chrome_region **regions, uint64_t row,
                       const gotrace_event *event);

/* Ends all of a goroutine's regions. */
void chrome_end_regions(chrome_user *u, chrome_region **regions);

void chrome_user_free(chrome_user *u);

/* ---- goroutines ---------------------------------------------------------------------------- */

/* There may be millions. */
typedef struct chrome_goroutine {
    uint64_t start;      /* where it starts: a frame (until 1.6 a PC) */
    uint64_t stopped;    /* stack where it last stopped */
    uint64_t row;        /* row on which it runs */
    uint64_t label;      /* v2: a text number, 0: none */
    uint64_t proc;       /* v2: its proc */
    uint64_t stw_reason; /* v2: reason of its stop-the-world, a text number; 0: none */
    chrome_flow flow;    /* from the event that made it runnable */
    const char *wait_reason;
    chrome_region *regions;
    uint8_t counted_as;
    bool running; /* has a row */
    bool has_proc;
    bool is_named; /* its row is named after the current start and label */
    bool assists;  /* is in a mark assist */
    bool system;   /* belongs to the runtime */
} chrome_goroutine;

/* ---- state tracking -------------------------------------------------------------------------- */

#define CHROME_NO_GENERATION UINT64_MAX

/* The state after the events so far. */
typedef struct chrome {
    feed feed;
    chrome_timeline timeline;
    chrome_user user;
    chrome_rows rows;
    idmap goroutines;
    system_goroutines system;
    bool v2;
    uint64_t generation_index; /* v2: of the last event; CHROME_NO_GENERATION: none */
    uint64_t stw_row;          /* where the last stop-the-world began */
    chrome_counts counts;
} chrome;

/* Handles the next event. */
void chrome_take_event(chrome *c, const gotrace_event *event);

/* Ends everything that is open at the end of the trace. */
void chrome_finish(chrome *c);

#endif
