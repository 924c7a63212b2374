/*
 * perfetto.h - the parts of the Perfetto exporter among themselves. See perfetto.c for what comes
 * out.
 *
 *   perfetto.c         the driver: each event of the trace becomes actions
 *   state.c            what is open now: goroutines, procs, their slices
 *   user.c             tasks, regions and logs
 *   window.c           a part of the trace's time
 *   tracks.c           tracks: their ids, names and order
 *   threads.c          threads, and what each runs
 *   program.c          what the program is called
 *   intern.c           names, frames and stacks, written once and then referred to
 *   protobuf.c         the wire
 */
#ifndef PERFETTO_H
#define PERFETTO_H

#include "formats/formats.h"
#include "formats/common/idmap.h"
#include "formats/common/idpool.h"
#include "formats/common/narrow.h"
#include "formats/common/protobuf.h"

/* Field numbers of Perfetto's protobuf messages, as of v55. */
enum {
    TRACE_PACKET = 1,

    PACKET_CLOCK_SNAPSHOT = 6,
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE_ID = 10,
    PACKET_TRACK_EVENT = 11,
    PACKET_INTERNED_DATA = 12,
    PACKET_SEQUENCE_FLAGS = 13,
    PACKET_DEFAULTS = 59,
    PACKET_TRACK_DESCRIPTOR = 60,
    PACKET_PERF_SAMPLE = 66,

    EVENT_CATEGORY_IIDS = 3,
    EVENT_DEBUG_ANNOTATIONS = 4,
    EVENT_TYPE = 9,
    EVENT_NAME_IID = 10,
    EVENT_TRACK_UUID = 11,
    EVENT_EXTRA_COUNTER_VALUES = 12,
    EVENT_NAME = 23,
    EVENT_COUNTER_VALUE = 30,
    EVENT_EXTRA_COUNTER_TRACK_UUIDS = 31,
    EVENT_DOUBLE_COUNTER_VALUE = 44,
    EVENT_FLOW_IDS = 47,
    EVENT_TERMINATING_FLOW_IDS = 48,
    EVENT_CORRELATION_ID = 52,
    EVENT_CALLSTACK_IID = 56,

    ANNOTATION_NAME_IID = 1,
    ANNOTATION_UINT = 3,
    ANNOTATION_INT = 4,
    ANNOTATION_STRING = 6,
    ANNOTATION_STRING_VALUE_IID = 17,

    INTERNED_EVENT_CATEGORIES = 1,
    INTERNED_EVENT_NAMES = 2,
    INTERNED_ANNOTATION_NAMES = 3,
    INTERNED_FUNCTION_NAMES = 5,
    INTERNED_FRAMES = 6,
    INTERNED_CALLSTACKS = 7,
    INTERNED_MAPPING_PATHS = 17,
    INTERNED_SOURCE_PATHS = 18,
    INTERNED_MAPPINGS = 19,
    INTERNED_ANNOTATION_STRINGS = 29,
    INTERNED_IID = 1,
    INTERNED_TEXT = 2,
};

/* Types of track events. */
enum { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3, COUNTER = 4 };

/* Packets on a sequence refer to what earlier ones of the same sequence interned. Descriptors of
 * threads stand on a sequence of their own: the viewer would take the other's events to belong to
 * the thread that was described last. */
enum { SEQUENCE_EVENTS = 1, SEQUENCE_THREADS = 2, SEQUENCES = 2 };
enum { FLAG_STATE_CLEARED = 1, FLAG_NEEDS_STATE = 2 };

/* Clocks. Time stamps are differences to the one before, on a clock of the sequence's own. */
enum { CLOCK_REALTIME_ID = 1, CLOCK_MONOTONIC_ID = 3, CLOCK_BOOTTIME_ID = 6, CLOCK_SEQUENCE = 64 };

/* The process id, which traces do not contain, and its distance to that of the next trace. */
enum { PERFETTO_PID = 1000000, PERFETTO_PIDS = 2000000 };

/* In earlier versions, the start of a goroutine is an address instead of a stack. */
enum { VERSION_WITH_FUNCTIONS = 7 };

/* Tracks that every file has; the others are numbered as they appear. */
enum {
    TRACK_PROCESS = 1,
    TRACK_PROCS,
    TRACK_GOROUTINES,
    TRACK_SYSTEM_GOROUTINES,
    TRACK_GC,
    TRACK_TASKS,
    TRACK_STATS,
    TRACK_RUNNABLE, /* four counters: goroutines in that state */
    TRACK_RUNNING,
    TRACK_WAITING,
    TRACK_SYSCALL,
    TRACK_THREADS, /* v2: with a goroutine */
    TRACK_HEAP_ALLOCATED,
    TRACK_HEAP_GOAL,
    TRACK_GOMAXPROCS,
    TRACK_LAST,
};

/* Names of slices and instants that do not depend on the trace. */
#define PERFETTO_NAMES(X)                                                                          \
    X(RUNNABLE, "runnable")                                                                        \
    X(RUNNING, "running")                                                                          \
    X(WAITING, "waiting")                                                                          \
    X(SYSCALL, "in syscall")                                                                       \
    X(UNBLOCK, "unblock")                                                                          \
    X(CREATE, "create goroutine")                                                                  \
    X(CALL, "syscall")                                                                             \
    X(SWEEP, "GC sweep")                                                                           \
    X(GC, "GC")                                                                                    \
    X(ASSIST, "GC mark assist")                                                                    \
    X(TASK_END, "end of a task that began before the trace")

#define PERFETTO_CATEGORIES(X)                                                                     \
    X(RUN, "run")                                                                                  \
    X(PROC, "proc")                                                                                \
    X(SYSCALL, "syscall")                                                                          \
    X(GC, "gc")                                                                                    \
    X(TASK, "task")                                                                                \
    X(REGION, "region")                                                                            \
    X(LOG, "log")

#define PERFETTO_ANNOTATIONS(X)                                                                    \
    X(FUNCTION, "function")                                                                        \
    X(GOROUTINE, "goroutine")                                                                      \
    X(LABEL, "label")                                                                              \
    X(SWEPT, "swept_bytes")                                                                        \
    X(RECLAIMED, "reclaimed_bytes")                                                                \
    X(TASK, "task")                                                                                \
    X(PARENT, "parent_task")                                                                       \
    X(LOG_CATEGORY, "category")                                                                    \
    X(LOG_MESSAGE, "message")

enum {
    NAME_NONE = 0,
#define PERFETTO_NUMBER(name, text) NAME_##name,
    PERFETTO_NAMES(PERFETTO_NUMBER) NAME_FIRST_FREE,
#undef PERFETTO_NUMBER
    CATEGORY_NONE = 0,
#define PERFETTO_NUMBER(name, text) CATEGORY_##name,
    PERFETTO_CATEGORIES(PERFETTO_NUMBER)
#undef PERFETTO_NUMBER
        ANNOTATE_NONE = 0,
#define PERFETTO_NUMBER(name, text) ANNOTATE_##name,
    PERFETTO_ANNOTATIONS(PERFETTO_NUMBER)
#undef PERFETTO_NUMBER
};

/* Names of states with a reason that are found without hashing their text. */
enum { STATE_NAMES = 64 };

/* What was written in the sequence's present incremental state. All of it is forgotten when that
 * is cleared, which also happens when there is too much of it to remember. */
typedef struct perfetto_interned {
    uint64_t seed;       /* of the hashes */
    size_t most_entries; /* of any table; with more, or more bytes of names, all is forgotten */
    size_t most_name_bytes;
    idmap names;            /* hash of a text to its iids and itself */
    size_t name_bytes;      /* of the texts in names */
    uint32_t next_name;     /* iid; also of annotations' values */
    idmap functions, files; /* string ids to iids */
    uint64_t next_string;   /* iid of a function or file, if its id is none */
    idmap frames;           /* hash of a frame to its iid and itself */
    uint64_t next_frame;    /* iid */
    idmap stacks;           /* stack ids to iids */
    idmap calls;            /* hash of a frame and the stack that called it to what both make */
    uint64_t next_stack;    /* iid, if its id is none */
    gotrace_frame *buffer;  /* for the frames of one stack */
    size_t buffer_size;
    struct {
        const char *reason;
        uint64_t iid;
        uint8_t state;
    } states[STATE_NAMES]; /* names of states with a reason, by the reason's address */
} perfetto_interned;

/* A name as an event refers to it: by iid, or in full where it is too long to be worth keeping. */
typedef struct perfetto_name {
    uint64_t iid;
    const char *text;
    size_t size;
} perfetto_name;

/* Tracks for things that do not nest: each begins on a track that is free. */
typedef struct perfetto_lanes {
    const char *name;
    unsigned rank;
    uint32_t *free;
    size_t count, capacity;
} perfetto_lanes;

/* The name of a function where goroutines start, kept beyond its generation. */
typedef struct perfetto_function {
    size_t size, short_size;
    char text[]; /* and behind it, shortened */
} perfetto_function;

/* A region that was opened before what is shown. */
typedef struct perfetto_region {
    struct perfetto_region *around;
    uint64_t task;
    size_t size;
    char name[];
} perfetto_region;

/* A goroutine that is alive. There may be millions: small numbers have small types. */
typedef struct perfetto_goroutine {
    uint64_t start_stack;              /* v1 */
    const perfetto_function *function; /* v2; NULL while it is not known */
    uint64_t stack;          /* where its next run starts: where it last stopped. v2: the iid */
    uint64_t cause;          /* a flow starts at the event of that offset; 0 for none */
    const char *reason;      /* of its state */
    perfetto_region *region; /* the innermost one open before what is shown */
    int64_t proc;            /* whose track its run is open on, or GOTRACE_NO_PROC */
    int64_t thread;          /* v2: whose track it is open on, or GOTRACE_NO_THREAD */
    uint32_t track;
    uint32_t user_track;  /* regions and logs; 0 while there were none */
    uint32_t name;        /* iid of "G12 main.worker" */
    uint32_t assist;      /* lane of its mark assist, 0 for none */
    uint32_t regions;     /* open ones */
    uint16_t epoch;       /* in which its tracks and its name were last written */
    uint16_t stack_epoch; /* v2: in which the stack was written */
    uint8_t state;        /* gotrace_state; UNDETERMINED while no slice is open */
    bool system;          /* of the runtime, as far as known when its track is written */
    bool named;           /* the full name of its function was written */
} perfetto_goroutine;

typedef struct perfetto_proc {
    uint64_t goroutine; /* whose run is open, if running */
    uint64_t samples;   /* CPU samples so far */
    int64_t thread;     /* v1: that ran its last goroutine */
    int64_t holder;     /* v2: the thread that has it, or GOTRACE_NO_THREAD */
    uint64_t label;     /* v2: iid of the run's label, 0 for none */
    uint32_t track;
    uint32_t stw; /* lane of its own stop-the-world (until 1.9), 0 for none */
    uint16_t epoch;
    uint16_t label_epoch; /* in which the label was written */
    bool running, sweeping;
} perfetto_proc;

/* What a thread's open slice is of. */
enum { SHOWS_NOTHING, SHOWS_GOROUTINE, SHOWS_PROC };

typedef struct perfetto_thread {
    uint64_t goroutine; /* that is on it, if busy */
    int64_t proc;       /* v2: that it has, or GOTRACE_NO_PROC */
    uint64_t shown;     /* the goroutine or proc of its open slice */
    uint64_t tid;
    uint32_t track;
    uint16_t epoch;
    uint8_t shows; /* SHOWS_* */
    bool busy;
} perfetto_thread;

typedef struct perfetto_task {
    uint32_t track;
    uint16_t epoch;
    uint16_t depth;
    /* Of one that began before what is shown. */
    uint64_t parent, goroutine;
    char *name;
    size_t name_size;
} perfetto_task;

/* The bytes that packets of events begin with, up to the tag of the time: length (as yet 0),
 * sequence and perhaps flags. */
typedef struct perfetto_head {
    uint8_t bytes[12];
    uint8_t size;
} perfetto_head;

typedef struct perfetto {
    gotrace_reader *reader;
    char program[256]; /* its name; UTF-8 or not */
    int version;
    unsigned parts;   /* wanted: 1 << PART_* */
    int64_t from, to; /* what is shown; to 0: until the end */
    bool silent;      /* before that: states are followed, and nothing is written */
    bool thread_runs; /* threads show goroutines, whether with a proc or without */
    protobuf w;
    size_t packet, event, entry; /* marks of the open ones */
    size_t entries; /* that of interned data which wait for the packet's rest; 0 for none */
    perfetto_head head, head_of_end;

    int64_t time;    /* of the present event, never less than the one before */
    int64_t written; /* time of the last packet that has one */

    unsigned clock;      /* that time is told on */
    uint64_t zero, wall; /* time 0 on that clock and, if not 0, on the real-time clock */
    uint64_t clocks[4];  /* arguments of the first snapshot of the clocks */
    bool has_clocks, started;
    system_goroutines system;
    uint64_t generation; /* whose strings and stacks the ids are */

    uint16_t epoch;       /* counts how often the incremental state was cleared */
    uint64_t epoch_start; /* bytes of output when it was last cleared */
    uint64_t entry_bytes; /* written since then to intern something */
    bool crowded;         /* too much is interned: clear soon */
    perfetto_interned interned;

    convert_alignment alignment;
    unsigned index; /* of the trace, where there are several */
    uint64_t base;  /* to be added to uuids */
    uint64_t pid;
    uint32_t tracks;      /* the last uuid given */
    uint32_t epoch_track; /* the last uuid given in earlier epochs */
    idpool threads;       /* v1: by tid */
    uint64_t made_tids;   /* threads whose ids are too large for a tid */
    idmap functions;      /* v2: hash of a name to a perfetto_function */
    idmap starts;         /* v2: a stack of the generation to the function where it starts */
    perfetto_lanes assists, stops;

    idpool goroutines, procs, tasks;
    uint64_t states[5]; /* goroutines by state, and threads, in the order of the counter tracks */
    struct {
        bool known;
        uint64_t value;
    } metrics[TRACK_LAST - TRACK_HEAP_ALLOCATED];
    unsigned changed; /* how many of these, from the first, are to be written */
    int64_t counted;  /* when they were last written */
    bool collecting;  /* a GC cycle is open */
    uint32_t stw;     /* lane of the stop-the-world, 0 for none */
    const char *stw_reason;
} perfetto;

static inline bool wants(const perfetto *p, unsigned part)
{
    return p->parts & 1U << part;
}

/* ---- packets and events ---------------------------------------------------------------------
 * One packet is open at a time, and in it at most one event. */

/* Interned data stand in the packet of what refers to them: whichever is opened next. */
void packet_open(perfetto *p, unsigned sequence, unsigned flags);
/* A packet that would hold nothing but interned data is one, too. */
void packet_settle(perfetto *p);

static inline void packet_timestamp(perfetto *p)
{
    protobuf_uint(&p->w, PACKET_TIMESTAMP, (uint64_t)(p->time - p->written));
    p->written = p->time;
}

static inline void packet_close(perfetto *p)
{
    enum { ENOUGH = 32 * 1024 };

    protobuf_close(&p->w, p->packet);
    /* Its tag, too, takes a byte. */
    if (p->silent && !p->w.failed)
        p->w.used = p->packet - 1;
    if (p->w.used >= ENOUGH)
        protobuf_flush(&p->w);
}

/* What comes before an event's time, up to that one's tag. */
static inline uint8_t *event_packet(perfetto *p, const perfetto_head *head)
{
    if (p->entries) {
        packet_open(p, SEQUENCE_EVENTS, FLAG_NEEDS_STATE);
        return protobuf_put_tag(protobuf_at(&p->w), PACKET_TIMESTAMP, PROTOBUF_VARINT);
    }
    uint8_t *at = protobuf_at(&p->w);
    p->packet = p->w.used + 1;
    memcpy(at, head->bytes, sizeof head->bytes);
    return at + head->size;
}

/* What comes between an event's time and the track's number. */
static inline uint8_t *event_put_type(perfetto *p, uint8_t *at, unsigned type)
{
    enum { VARINT = PROTOBUF_VARINT };

    at = protobuf_put_tag(at, PACKET_TRACK_EVENT, PROTOBUF_BYTES);
    p->event = (size_t)(at++ - p->w.bytes);
    at = protobuf_put_tag(at, EVENT_TYPE, VARINT);
    *at++ = (uint8_t)type;
    return protobuf_put_tag(at, EVENT_TRACK_UUID, VARINT);
}

/* No event takes more up to its stack; nor do two. */
enum { EVENT_MOST = 160 };

/* An event that happens now, up to its track. Most of the file is made of these: its bytes are put
 * down in one go. Whatever is interned for it must be so before. */
static inline uint8_t *event_put(perfetto *p, const perfetto_head *head, unsigned type,
                                 uint64_t track)
{
    protobuf_room(&p->w, EVENT_MOST);
    uint8_t *at = protobuf_put_varint(event_packet(p, head), (uint64_t)(p->time - p->written));
    p->written = p->time;
    return protobuf_put_varint(event_put_type(p, at, type), p->base + track);
}

static inline void event_open(perfetto *p, unsigned type, uint64_t track)
{
    protobuf_end(&p->w, event_put(p, &p->head, type, track));
}

static inline void event_close(perfetto *p)
{
    protobuf_close(&p->w, p->event);
    packet_close(p);
}

/* The same with what most events have, each unless 0: category, name and stack. */
static inline void event_open_named(perfetto *p, unsigned type, uint64_t track, unsigned category,
                                    uint64_t name, uint64_t stack)
{
    uint8_t *at = event_put(p, &p->head, type, track);

    if (category)
        at = protobuf_put_uint(at, EVENT_CATEGORY_IIDS, category);
    if (name)
        at = protobuf_put_uint(at, EVENT_NAME_IID, name);
    if (stack)
        at = protobuf_put_uint(at, EVENT_CALLSTACK_IID, stack);
    protobuf_end(&p->w, at);
}

/* What is the trace's own number, where there are several traces. */
static inline uint64_t own_id(const perfetto *p, uint64_t id)
{
    return id ^ (uint64_t)p->index << 48;
}

/* It refers to nothing that was interned, and to a reader that starts late and knows nothing of the
 * track it means nothing: so it does without the flag that makes that one pass over it. */
static inline void slice_end(perfetto *p, uint64_t track)
{
    protobuf_end(&p->w, event_put(p, &p->head_of_end, SLICE_END, track));
    event_close(p);
}

/* End the track's slice, and open the event that begins the next: of all pairs of events the most
 * frequent. */
static inline void slice_next(perfetto *p, uint64_t track, uint64_t name, uint64_t stack)
{
    if (p->entries || p->silent) {
        slice_end(p, track);
        event_open_named(p, SLICE_BEGIN, track, CATEGORY_NONE, name, stack);
        return;
    }
    uint8_t *at = event_put(p, &p->head_of_end, SLICE_END, track), *bytes = p->w.bytes;
    bytes[p->event] = (uint8_t)((size_t)(at - bytes) - p->event - 1);
    bytes[p->packet] = (uint8_t)((size_t)(at - bytes) - p->packet - 1);
    p->packet = (size_t)(at - bytes) + 1;
    memcpy(at, p->head.bytes, sizeof p->head.bytes);
    at += p->head.size;
    *at++ = 0; /* no time has passed */
    at = protobuf_put_varint(event_put_type(p, at, SLICE_BEGIN), p->base + track);
    at = protobuf_put_uint(at, EVENT_NAME_IID, name);
    if (stack)
        at = protobuf_put_uint(at, EVENT_CALLSTACK_IID, stack);
    protobuf_end(&p->w, at);
}

/* Into the open event. */
void event_annotate_uint(perfetto *p, unsigned name, uint64_t value);
void event_annotate_string(perfetto *p, unsigned name, perfetto_name value);
/* The name of the open event. */
void event_name(perfetto *p, perfetto_name name);

/* ---- program.c --------------------------------------------------------------------- */

/* Find the traced program's name: that of the file that has main.main, or of its folder where the
 * file is called main.go or only other files of package main are known; otherwise what the caller
 * says. */
void program_name(perfetto *p, const char *otherwise);

/* ---- intern.c ---------------------------------------------------------------------- */

void intern_init(perfetto *p);
void intern_free(perfetto *p);
/* Forget what was interned, and write what every epoch starts with. What goroutines refer to is
 * written again. */
void intern_restart(perfetto *p);
/* From here on ids of strings and stacks are others. */
void intern_generation(perfetto *p);
perfetto_name intern_name(perfetto *p, const char *text, size_t size);
/* The same for the value of an annotation. */
perfetto_name intern_value(perfetto *p, const char *text, size_t size);
/* An event name that nobody else will ask for. */
uint32_t intern_new_name(perfetto *p, const char *text, size_t size);
/* "waiting (chan receive)" */
uint64_t intern_state_name(perfetto *p, unsigned state, const char *reason);
/* The iid of a stack of the trace; 0 if it has no frames. */
uint64_t intern_stack(perfetto *p, uint64_t id);

/* ---- tracks.c ---------------------------------------------------------------------- */

/* The process, the groups and the counters. */
void tracks_restart(perfetto *p);
/* The goroutine's tracks, and the name of its runs. */
void track_goroutine(perfetto *p, uint64_t id, perfetto_goroutine *g);
void track_user(perfetto *p, perfetto_goroutine *g);
void track_proc(perfetto *p, int64_t id, perfetto_proc *proc);
void track_task(perfetto *p, perfetto_task *task, uint64_t parent, const char *name, size_t size);
void track_thread(perfetto *p, perfetto_thread *thread, const char *name);
/* v2: remember where the goroutine starts: at a frame of that stack, or where the beginning of the
 * trace tells that one from before does. */
void goroutine_starts(perfetto *p, uint64_t id, perfetto_goroutine *g, uint64_t stack,
                      bool outermost);
/* The name of the function where the goroutine starts, NULL if that is not known. */
const char *start_function(const perfetto *p, const perfetto_goroutine *g, size_t *size);
void functions_free(perfetto *p);
uint32_t lane_take(perfetto *p, perfetto_lanes *lanes);
void lane_give(perfetto *p, perfetto_lanes *lanes, uint32_t track);

/* ---- threads.c --------------------------------------------------------------------- */

/* The thread of an event that has that proc (v1: the thread that ran its last goroutine). NULL when
 * memory is refused; valid until the next one is got. */
perfetto_thread *thread_get(perfetto *p, int64_t thread, int64_t proc);
/* v2: show on the threads' tracks where the goroutine is after a transition of it. */
void thread_transition(perfetto *p, perfetto_goroutine *g, const gotrace_event *e);
/* v2: show there who has the proc after a transition of it. */
void thread_proc(perfetto *p, const gotrace_event *e);
void threads_reopen(perfetto *p);
/* The goroutine is on no thread any more. */
void thread_leave(perfetto *p, perfetto_goroutine *g);
/* Close what is open. */
void threads_end(perfetto *p);

/* ---- state.c ----------------------------------------------------------------------- */

void state_init(perfetto *p);
void state_free(perfetto *p);
/* NULL when memory is refused. Either is valid until the next one of its kind is got. */
perfetto_goroutine *goroutine_get(perfetto *p, uint64_t id, uint64_t start_stack);
perfetto_proc *proc_get(perfetto *p, int64_t id);
/* The same without a track. */
perfetto_proc *proc_find(perfetto *p, int64_t id);
void goroutine_transition(perfetto *p, const gotrace_event *e);
void proc_transition(perfetto *p, const gotrace_event *e);
/* v2: a goroutine that was there before the trace is named after the stack of what it does. */
void goroutine_name(perfetto *p, const gotrace_event *e);
/* Begin the slice of the state that the goroutine is in, again. */
void goroutine_reopen(perfetto *p, uint64_t id, perfetto_goroutine *g);
/* Begin the run and what else is open on the proc, again. */
void proc_reopen(perfetto *p, int64_t id);
void ranges_reopen(perfetto *p);
void label_event(perfetto *p, const gotrace_event *e);
void range_event(perfetto *p, const gotrace_event *e);
/* A thread got a goroutine, or lost it. */
void count_thread(perfetto *p, bool more);
/* Time goes on to that: write the counters of goroutines if it is time to. */
void state_advance(perfetto *p, int64_t time);
/* All ids of a pool, ascending, so that the output does not depend on the pool's order; to be
 * freed. NULL when there are none or memory is refused. */
uint64_t *sorted_ids(perfetto *p, const idpool *pool);
/* Close what is open. */
void state_end(perfetto *p);

/* ---- user.c ------------------------------------------------------------------------ */

void task_event(perfetto *p, const gotrace_event *e);
void region_event(perfetto *p, const gotrace_event *e);
void log_event(perfetto *p, const gotrace_event *e);
/* Begin them again. */
void regions_reopen(perfetto *p, uint64_t id, perfetto_goroutine *g);
void tasks_reopen(perfetto *p);
void user_free(perfetto *p);
/* End the goroutine's regions. */
void regions_end(perfetto *p, perfetto_goroutine *g);
void tasks_end(perfetto *p);

/* ---- perfetto.c, window.c ---------------------------------------------------------- */

/* Clear the incremental state, and write what everything after refers to. */
void perfetto_restart(perfetto *p);
void metric_write(perfetto *p, size_t metric);
/* From here on things are shown: what is open begins. */
void window_begin(perfetto *p);

#endif
