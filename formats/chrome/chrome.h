/*
 * chrome.h - the parts of the Chrome exporter.
 *
 *   run.c             the whole
 *   chrome.c          follows the events: what begins, what ends, what caused what
 *   rows.c            which rows there are: a row a proc, a goroutine or a thread
 *   counts.c          counters
 *   user.c            tasks, regions and logs among them
 *   timeline.c        records in order of time, and slices on rows, properly nested
 *   thread.c          a thread that takes blocks of records
 *   write.c           records to JSON
 *   parts.c           several documents instead of one
 *   window.c          less than all: some parts, a part of the time
 *   kept.c            what these two tell again
 *   frames.c          the tree of stack frames that records refer to
 *
 * Records wait in a spool until all of them that began earlier are complete: a record whose end
 * is not known yet is open, and is completed in its place. Blocks of what is complete are written
 * in a thread of their own, unless there are several documents. It uses what is below "writing",
 * the window and the output; all else is for the thread that follows the events, until
 * chrome_timeline_finish has returned. Of frames and texts both read what stays as it is.
 */
#ifndef CHROME_H
#define CHROME_H

#include "formats/formats.h"
#include "formats/common/idmap.h"
#include "formats/common/idpool.h"
#include "formats/common/narrow.h"
#include "formats/common/spool.h"
#include "formats/common/segment_list.h"

/* The rows and sections that scripts written for Go's tool know by number. */
enum {
    CHROME_PID_PROCS = 0,
    CHROME_PID_STATS = 1,
    CHROME_PID_TASKS = 2,
    CHROME_LANE_NOWHERE = 1000000, /* what happened on no proc */
    CHROME_LANE_TIMERS = 1000001,
    CHROME_LANE_NETWORK = 1000002,
    CHROME_LANE_SYSCALLS = 1000003,
    CHROME_LANE_GC = 1000004,
};

/* What a record becomes. The comment names its values beyond CHROME_TID and CHROME_STACK. */
typedef enum chrome_op {
    CHROME_SLICE,        /* X: END, END_STACK, SUBJECT, START, A, B */
    CHROME_TASK,         /* X in the tasks' section: END, END_STACK, SUBJECT, START, A, B */
    CHROME_ROW,          /* M: names a row; PLACE among the rows instead of STACK; as a run does,
                            if it is a goroutine's */
    CHROME_SECTION,      /* M: names a section: PLACE, PID */
    CHROME_INSTANT,      /* I: THREAD, where a proc starts; on a thread's row the proc */
    CHROME_ARROW_START,  /* s: ID, PID */
    CHROME_ARROW_END,    /* t: ID, PID */
    CHROME_REGION_BEGIN, /* b: ID, REGION_TASK */
    CHROME_REGION_END,   /* e: ID, REGION_TASK */
    CHROME_HEAP,         /* C: the values are the counters */
    CHROME_GOROUTINES,
    CHROME_THREADS,
    CHROME_ROW_END, /* nothing: the row is not needed any more */
} chrome_op;

enum { CHROME_COUNTERS = CHROME_THREADS - CHROME_HEAP + 1 };

/* What a record is called. */
typedef enum chrome_name {
    CHROME_NAME_TEXT,    /* its text */
    CHROME_NAME_RUN,     /* "G7 main.worker", with its text, a label, in parentheses */
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

/* Where a record's values stand: some are common to all, the rest depends on its op. */
enum {
    CHROME_TID = 0, /* the row */
    CHROME_STACK = 1,
    CHROME_PLACE = 1,

    CHROME_END = 2, /* ns */
    CHROME_END_STACK = 3,
    CHROME_SUBJECT = 4, /* the goroutine or task */
    CHROME_START = 5,   /* the frame, until 1.6 the PC, where the goroutine starts */
    CHROME_A = 6,       /* sweep: bytes swept; task: the goroutine that started it; system call:
                           1 if it kept the proc; v2 run: the frame that names the goroutine */
    CHROME_B = 7,       /* sweep: bytes reclaimed; task: the goroutine that ended it; v2 run: the
                           goroutine's label, a kept text */

    CHROME_THREAD = 2,
    CHROME_ID = 2,
    CHROME_PID = 3,
    CHROME_REGION_TASK = 3,
    CHROME_VALUES = 8,
};

typedef enum chrome_state {
    CHROME_DONE,
    CHROME_OPEN,    /* waits for what is still to come */
    CHROME_DROPPED, /* turned out to be nothing */
} chrome_state;

/* In a spool: this much of it as there are values, then the text, filled up to 8 bytes. */
typedef struct chrome_record {
    uint8_t op, name, state;
    uint8_t count; /* of values */
    uint32_t text_size;
    int64_t time;
    uint64_t values[CHROME_VALUES];
} chrome_record;

#define CHROME_HEAD_SIZE offsetof(chrome_record, values)

/* Append a record to a spool, with count of these values; its position, or SPOOL_NONE. */
uint64_t chrome_append(spool *s, const chrome_record *head, const uint64_t *values,
                       const char *text);

/* The next record of a block, and its text; NULL past the last one. At begins as 0. */
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
    gotrace_reader *reader;
    idmap stacks;       /* stack id to number of its innermost frame's node */
    idmap keys;         /* numbers of texts by what they say */
    segment_list texts; /* kept */
    segment_list nodes;
    uint64_t seed;
    bool by_generation; /* ids change their meaning */
    uint32_t *table;    /* nodes by parent and frame; 0 is a free place */
    size_t table_size;
    gotrace_frame *buffer; /* of one stack */
    size_t buffer_size;
    /* For the thread that writes: */
    uint32_t last_used;
    size_t used_count;
    uint64_t used_bytes;  /* about what is written of those used */
    uint64_t again_bytes; /* of these, what is in an earlier document as well */
    struct {
        uint64_t stack; /* 0: nothing here */
        uint32_t number;
    } recent[CHROME_RECENT]; /* what was looked up not long ago */
    bool failed;             /* memory was refused */
} chrome_frames;

void chrome_frames_init(chrome_frames *frames, gotrace_reader *reader);

/* The number of a stack's innermost frame, from 1; 0 if the stack has none. */
uint32_t chrome_frames_of(chrome_frames *frames, uint64_t stack);

/* A new generation: ids mean something else. */
void chrome_frames_forget(chrome_frames *frames);

/* Keep a copy of a text until the end; its number, 0 when memory is refused. */
uint64_t chrome_frames_keep(chrome_frames *frames, const char *bytes, size_t size);

/* A text that was kept, NUL-terminated; NULL if there is none. */
const char *chrome_frames_kept(const chrome_frames *frames, uint64_t number, size_t *size);

/* The outermost caller of a frame; 0 of 0. */
uint32_t chrome_frames_outermost(const chrome_frames *frames, uint32_t number);

/* The name of a frame's function; size 0 if there is none. */
const char *chrome_frames_function(const chrome_frames *frames, uint32_t number, size_t *size);

/* A record shows this frame, so that it and its callers are to be written. */
void chrome_frames_use(chrome_frames *frames, uint32_t number);

/* Begin anew to say which frames are shown. */
void chrome_frames_use_none(chrome_frames *frames);

/* The members of "stackFrames", each on a line. */
void chrome_frames_write(const chrome_frames *frames, out *o);

void chrome_frames_free(chrome_frames *frames);

/* ---- writing ------------------------------------------------------------------------------- */

/* What stands behind the number in the name of a run, as it is written. */
typedef struct chrome_run_name {
    uint64_t start, label;
    uint32_t size; /* 0: nothing here */
    char text[CHROME_SHORT];
} chrome_run_name;

typedef struct chrome_writer {
    out *o;
    int version;
    view_by by;
    bool started; /* something was written, so that a comma is needed */
    chrome_frames *frames;
    chrome_run_name names[CHROME_RECENT]; /* those written not long ago */
    uint64_t time;                        /* the last one, and how it is written */
    uint32_t time_size;
    char time_text[28];
} chrome_writer;

/* The part before the events. */
void chrome_write_begin(chrome_writer *w);

void chrome_write_record(chrome_writer *w, const chrome_record *record, const char *text);

/* The part behind the events. */
void chrome_write_end(chrome_writer *w);

/* ---- records that are told again ----------------------------------------------------------- */

/* What a row is called, a slice or region that goes on, the last value of a counter. */
typedef struct chrome_kept {
    chrome_record record;
    char *text;
    uint64_t part;  /* that had it last, from 1 */
    uint64_t bytes; /* parts: that it takes in a document */
    bool closed;    /* nothing more will happen on that row */
} chrome_kept;

/* Keep a copy by key, instead of what was kept by it; NULL when memory is refused. */
chrome_kept *chrome_keep(idmap *map, uint64_t key, const chrome_record *record, const char *text);
void chrome_forget(idmap *map, uint64_t key);
void chrome_forget_all(idmap *map);

/* The key of the row, or section, that a record names or stands on. */
uint64_t chrome_row_key(const chrome_record *record);

/* ---- less than all ------------------------------------------------------------------------- */

/* Those of some PART_* (bits) that come to something in that view. */
unsigned chrome_parts_possible(unsigned parts, view_by by);

/* Whether a record is among these parts. */
bool chrome_shows(unsigned parts, view_by by, chrome_op op, chrome_name name,
                  const uint64_t *values);

typedef void (*chrome_emit_fn)(void *ctx, const chrome_record *record, const char *text);

typedef struct chrome_window {
    int64_t from;
    bool reached;  /* that time */
    idmap rows;    /* chrome_kept by key; part is 1 once it was passed on */
    idmap regions; /* those going on before, by id */
    idmap arrows;  /* a set: those that began before, by id */
    chrome_record counters[CHROME_COUNTERS]; /* the last ones before */
    chrome_emit_fn emit;                     /* where what is shown goes */
    void *ctx;
    int error; /* errno, when memory was refused */
} chrome_window;

void chrome_window_init(chrome_window *w, int64_t from, chrome_emit_fn emit, void *ctx);

/* Take the next record, which may be changed, and pass it on if it belongs to what is shown. */
void chrome_window_take(chrome_window *w, chrome_record *record, const char *text);

/* That was the last one; the trace ends at that time. */
void chrome_window_finish(chrome_window *w, int64_t end);

void chrome_window_free(chrome_window *w);

/* ---- parts --------------------------------------------------------------------------------- */

typedef struct chrome_parts {
    chrome_writer *writer;
    const convert_job *job;
    spool waiting;         /* the records of the part at hand */
    out nowhere;           /* to measure them */
    uint64_t size;         /* about that of the part at hand */
    uint64_t fresh, again; /* bytes in it that are in no earlier part, and that are in one */
    uint64_t part;         /* how many were written */
    int64_t begin, last;   /* of the part; of the last record that waits */
    int64_t border;        /* where the part ends that is being written */
    idmap rows, regions;   /* written again in each part: by row and id */
    chrome_kept *slices;   /* likewise, in order of time */
    size_t slice_count, slice_capacity;
    uint64_t carried_bytes; /* what slices and regions take in each part */
    uint64_t *used_rows;    /* keys of those in the part at hand; some twice, or closed */
    size_t used_row_count, used_row_capacity;
    uint8_t region_op;
    idmap arrows;   /* ids of those that wait for their end */
    idmap crossing; /* ids of those that were left out, since they cross a border */
    chrome_record *counters[CHROME_COUNTERS];
    int error; /* errno, when memory or the disk was refused */
} chrome_parts;

bool chrome_parts_init(chrome_parts *p, chrome_writer *writer, const convert_job *job);

/* Take the next record. */
void chrome_parts_take(chrome_parts *p, const chrome_record *record, const char *text);

/* Write the last part. */
void chrome_parts_finish(chrome_parts *p);

void chrome_parts_free(chrome_parts *p);

/* ---- the timeline -------------------------------------------------------------------------- */

/* What a row can show at the same time, one of each. */
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
    uint64_t subject, start; /* of a run, which is never cut */
    const char *text;        /* of what may be cut: constant */
    size_t text_size;
} chrome_label;

typedef struct chrome_open {
    uint64_t position; /* of its record */
    int64_t begin;
    uint64_t stack;
    const char *text; /* NUL-terminated, or NULL */
    uint8_t slice;    /* chrome_slice */
    uint8_t name;     /* chrome_name */
} chrome_open;

typedef struct chrome_row {
    chrome_open *open; /* outermost first */
    uint8_t depth, capacity;
    bool used;          /* a goroutine has run there, or something has ended */
    uint64_t goroutine; /* that runs there, 0 for none */
} chrome_row;

/* Records on their way to where they are written. */
typedef struct chrome_block {
    spool_taken records;
    spool *home;
    int64_t end; /* of what is open still; arrows without an end are none */
} chrome_block;

typedef struct chrome_thread chrome_thread;

typedef bool (*chrome_block_fn)(void *ctx, const chrome_block *block);

/* A thread that calls write for each block that it is given; NULL if there can be none. */
chrome_thread *chrome_thread_start(chrome_block_fn write, void *ctx);

/* Give it a block, which will be given back to its home. Waits where too many are on their way.
 * False if a write failed: the rest is not written. */
bool chrome_thread_give(chrome_thread *thread, const chrome_block *block);

/* Wait until all is written, and end the thread. */
bool chrome_thread_end(chrome_thread *thread);

enum { CHROME_LINES = 128 };

typedef struct chrome_timeline {
    spool spool;
    spool head;            /* open since the start of the trace, but recorded later */
    chrome_thread *thread; /* that writes, NULL if there is none */
    bool alone;            /* there is to be none */
    uint64_t seen;         /* as many blocks the spool had when one looked what is complete */
    view_by by;
    int version;
    chrome_frames frames;
    unsigned shown;  /* a bit a PART_*; 0: all */
    idpool rows;     /* chrome_row by number */
    int64_t now;     /* time of the event at hand, never less than that of the one before */
    uint64_t arrows; /* the last one's id */
    int64_t present; /* the time to come back to */
    bool held;       /* nothing is written yet, so that one can go back to the beginning */
    bool back;       /* now is the beginning */
    bool ended;      /* nothing more comes */
    bool stopped;    /* nothing more can be written */
    int error;       /* errno, when memory or the disk was refused */
    /* For the thread that writes: in lines of the processor's cache that the other one leaves
     * alone, for both are busy with what is theirs all the time. */
    _Alignas(CHROME_LINES) chrome_writer writer;
    chrome_parts *parts;   /* NULL if there is only one */
    chrome_window *window; /* NULL if all of the time is shown */
    _Alignas(CHROME_LINES) char end[CHROME_LINES];
} chrome_timeline;

bool chrome_timeline_init(chrome_timeline *t, out *o, gotrace_reader *reader);

/* Write a record, to the document or its part; ctx is the timeline. */
void chrome_emit(void *ctx, const chrome_record *record, const char *text);

/* Append a record at the present time, its values and text; the position, or SPOOL_NONE also of
 * what is not shown. */
uint64_t chrome_push(chrome_timeline *t, chrome_op op, chrome_name name, chrome_state state,
                     const uint64_t *values, size_t count, const char *text, size_t text_size);

/* Change the state of a record, and count of its values from first on. */
void chrome_settle(chrome_timeline *t, uint64_t position, chrome_state state, size_t first,
                   const uint64_t *values, size_t count);

/* Go back to the beginning of the trace, for something that has lasted since then. False where
 * that cannot be done any more: then it is shown from now on. */
bool chrome_go_back(chrome_timeline *t);

/* Undo that, if it was done. */
void chrome_come_back(chrome_timeline *t);

/* The row of that number; NULL when memory is refused. Valid until the next one is asked for. */
chrome_row *chrome_row_of(chrome_timeline *t, uint64_t number);

/* Nothing more will happen on that row: end what goes on there. */
void chrome_close_row(chrome_timeline *t, uint64_t number);

/* Begin a slice now, ending one of the same kind. A run is always outermost: what goes on on the
 * row is cut where it begins and continued inside it. */
void chrome_begin_slice(chrome_timeline *t, uint64_t row, chrome_slice slice,
                        const chrome_label *label);

bool chrome_has_slice(const chrome_row *row, chrome_slice slice);

/* Set CHROME_A and CHROME_B of a slice that goes on. */
void chrome_mark_slice(chrome_timeline *t, uint64_t row, chrome_slice slice, uint64_t a,
                       uint64_t b);

/* End a slice now, if there is one. What began inside it and goes on is cut, and continued
 * behind it. a and b: see CHROME_A and CHROME_B. */
void chrome_end_slice(chrome_timeline *t, uint64_t row, chrome_slice slice, uint64_t stack,
                      uint64_t a, uint64_t b);

void chrome_instant(chrome_timeline *t, uint64_t row, chrome_name name, uint64_t stack,
                    const char *text, size_t text_size);

/* The beginning of an arrow, which shows only if it is finished. All zero is no arrow. */
typedef struct chrome_arrow {
    uint64_t position;  /* of its record */
    const char *reason; /* constant */
    uint8_t name;       /* chrome_name */
    bool pending;
} chrome_arrow;

void chrome_begin_arrow(chrome_timeline *t, chrome_arrow *arrow, uint64_t row, chrome_name name,
                        const char *reason, uint64_t stack);

/* Let the arrow end at what began last on that row, or drop it. */
void chrome_finish_arrow(chrome_timeline *t, chrome_arrow *arrow, uint64_t row);
void chrome_drop_arrow(chrome_timeline *t, chrome_arrow *arrow);

void chrome_write_complete(chrome_timeline *t);

/* Have written what is complete, if there may be anything. To be called often. */
static inline void chrome_drain(chrome_timeline *t)
{
    if (t->seen != t->spool.end)
        chrome_write_complete(t);
}

/* End what is open on all rows, and write everything. */
void chrome_timeline_finish(chrome_timeline *t);

void chrome_timeline_free(chrome_timeline *t);

/* ---- counters ------------------------------------------------------------------------------ */

/* How a goroutine is counted. */
typedef enum chrome_census {
    CHROME_CENSUS_NONE,
    CHROME_CENSUS_RUNNING, /* has a proc, be it in a system call */
    CHROME_CENSUS_RUNNABLE,
    CHROME_CENSUS_GC_WAITING, /* until GC can be assisted */
    CHROME_CENSUS_IN_SYSCALL, /* without a proc */
    CHROME_CENSUS_SYSTEM_IN_SYSCALL,
    CHROME_CENSUS_COUNT
} chrome_census;

typedef struct chrome_counts {
    uint64_t goroutines[CHROME_CENSUS_COUNT];
    uint64_t heap_alloc, heap_goal, procs_running;
    /* The counters as they were shown last. */
    uint64_t shown_heap[2], shown_goroutines[3], shown_threads[2];
} chrome_counts;

/* Count a goroutine as something else than before. */
void chrome_count_as(chrome_counts *counts, uint8_t *census, chrome_census as);

void chrome_count_proc(chrome_counts *counts, bool *running, bool runs);

void chrome_count_metric(chrome_counts *counts, const gotrace_event *event);

/* Show what has changed. */
void chrome_show_counts(chrome_counts *counts, chrome_timeline *t);

/* ---- the rows of section 0 ------------------------------------------------------------------ */

typedef struct chrome_proc {
    uint64_t goroutine; /* v2: that has it, be it in a system call; 0 for none */
    uint64_t sweep_row; /* where its last sweep began */
    bool running;
} chrome_proc;

typedef struct chrome_rows {
    chrome_timeline *timeline;
    view_by by;
    idmap procs; /* chrome_proc by number */
} chrome_rows;

void chrome_rows_init(chrome_rows *rows, chrome_timeline *timeline, view_by by);

/* NULL when memory is refused. Valid until the next one is asked for. */
chrome_proc *chrome_proc_of(chrome_rows *rows, uint64_t number);

/* The row of whoever an event happened to. */
uint64_t chrome_row_of_event(const chrome_rows *rows, const gotrace_event *event);

/* The row on which the goroutine runs that an event is about. */
uint64_t chrome_row_of_run(const chrome_rows *rows, const gotrace_event *event);

/* Where rows are goroutines: that of this one. */
uint64_t chrome_row_of_goroutine(uint64_t id);

/* Name the sections and rows that every trace has, and those that are known beforehand. */
void chrome_name_rows(chrome_rows *rows, gotrace_reader *reader);

/* Name a row that has just come to be. */
void chrome_name_new_row(chrome_timeline *t, uint64_t number);

/* Name a goroutine's row, again where more is known. start and label: see CHROME_START. */
void chrome_name_goroutine(chrome_timeline *t, uint64_t id, uint64_t start, uint64_t label);

void chrome_rows_free(chrome_rows *rows);

/* ---- tasks, regions and logs --------------------------------------------------------------- */

typedef struct chrome_user {
    chrome_timeline *timeline;
    idmap tasks; /* those going on: position of the slice */
    idmap names; /* of regions going on, by hash */
    uint64_t regions, rows;
} chrome_user;

/* A region going on, and the one around it. */
typedef struct chrome_region chrome_region;

void chrome_user_init(chrome_user *u, chrome_timeline *t);

/* Take an event of a task, region or log that happened on that row. */
void chrome_user_event(chrome_user *u, chrome_region **regions, uint64_t row,
                       const gotrace_event *event);

/* End all of a goroutine's regions. */
void chrome_end_regions(chrome_user *u, chrome_region **regions);

void chrome_user_free(chrome_user *u);

/* ---- goroutines ---------------------------------------------------------------------------- */

/* There may be millions. */
typedef struct chrome_goroutine {
    uint64_t start;     /* where it starts: a frame, until 1.6 a PC */
    uint64_t stopped;   /* the stack where it stopped last */
    uint64_t row;       /* where it runs */
    uint64_t label;     /* v2: a kept text, 0 for none */
    uint64_t proc;      /* v2: that it has */
    uint64_t stops_for; /* v2: stops the world, for this kept text; 0 if it does not */
    chrome_arrow arrow; /* from what made it runnable */
    const char *waits_for;
    chrome_region *regions;
    uint8_t census;
    bool running; /* has a row */
    bool has_proc;
    bool is_named; /* its row goes by the present start and label */
    bool assists;  /* marks for the GC */
    bool system;   /* of the runtime */
} chrome_goroutine;

/* ---- following ------------------------------------------------------------------------------ */

/* What is going on, as far as the events were taken. */
typedef struct chrome {
    chrome_timeline timeline;
    chrome_user user;
    chrome_rows rows;
    idpool goroutines;
    system_goroutines system;
    bool v2;
    uint64_t generation; /* v2: of the last event */
    uint64_t stw_row;    /* where the last stop-the-world began */
    chrome_counts counts;
} chrome;

/* Take the next event, which is changed. */
void chrome_take_event(chrome *c, gotrace_event *event);

/* End what goes on when the trace stops. */
void chrome_finish(chrome *c);

#endif
