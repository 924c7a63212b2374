/*
 * perfetto.h - internal interface of the Perfetto exporter. perfetto.c describes the output.
 *
 *   perfetto.c         reads the events and dispatches them
 *   state.c            open slices of goroutines and procs
 *   user.c             tasks, regions and logs
 *   window.c           the beginning and the end of a time range
 *   tracks.c           tracks: ids, names and order
 *   threads.c          threads, and what runs on each
 *   detail.c           merges what is shorter than a time (--detail)
 *   added.c            tracks that are not of the trace
 *   program.c          the name of the program
 *   intern.c           names, frames and stacks, written once and then referred to by number
 *   protobuf.c         protobuf encoding
 */
#ifndef PERFETTO_H
#define PERFETTO_H

#include "formats/formats.h"
#include "formats/common/feed.h"
#include "formats/common/functions.h"
#include "formats/common/idmap.h"
#include "formats/common/system_goroutines.h"
#include "formats/common/protobuf.h"
#include "formats/perfetto/merged.h"
#include "formats/perfetto/options.h"

/* Field numbers of Perfetto's protobuf messages, as of v55. */
enum {
    TRACE_PACKET = 1,

    PACKET_CLOCK_SNAPSHOT = 6,
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE_ID = 10,
    PACKET_TRACK_EVENT = 11,
    PACKET_INTERNED_DATA = 12,
    PACKET_SEQUENCE_FLAGS = 13,
    PACKET_CLOCK_ID = 58,
    PACKET_DEFAULTS = 59,
    PACKET_TRACK_DESCRIPTOR = 60,
    PACKET_PERF_SAMPLE = 66,

    EVENT_CATEGORY_IIDS = 3,
    EVENT_DEBUG_ANNOTATIONS = 4,
    EVENT_TYPE = 9,
    EVENT_NAME_IID = 10,
    EVENT_TRACK_UUID = 11,
    EVENT_CATEGORY = 22,
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
    ANNOTATION_NAME = 10,
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

/* Packets refer to interned data of the same sequence. Thread descriptors have a sequence of their
 * own: the viewer would otherwise assign later events to the thread described last. */
enum { SEQUENCE_EVENTS = 1, SEQUENCE_THREADS = 2, SEQUENCES = 2 };
/* Added tracks are written after the trace, in a sequence of their own; not with several traces. */
enum { SEQUENCE_ADDED = 3 };
enum { FLAG_STATE_CLEARED = 1, FLAG_NEEDS_STATE = 2 };

/* Clocks. Timestamps are deltas to the packet before, on a clock of the sequence's own. */
enum { CLOCK_REALTIME_ID = 1, CLOCK_MONOTONIC_ID = 3, CLOCK_BOOTTIME_ID = 6, CLOCK_SEQUENCE = 64 };

/* The process id of the first trace, and the difference to that of the next trace: ids are made up.
 * Before 1.22 those of threads are the process id and a number below twice THREAD_IDS; then come
 * the ids of further processes of the trace. */
enum { PERFETTO_PID = 1000000, PERFETTO_PIDS = 2000000, THREAD_IDS = 500000 };

/* Tracks that every file has; other tracks are numbered in order of appearance. */
enum {
    TRACK_PROCESS = 1,
    TRACK_PROCS,
    TRACK_GOROUTINES,
    TRACK_SYSTEM_GOROUTINES,
    TRACK_GC,
    TRACK_TASKS,
    TRACK_STATS,
    TRACK_RUNNABLE, /* counters of goroutines in these four states */
    TRACK_RUNNING,
    TRACK_WAITING,
    TRACK_SYSCALL,
    TRACK_THREADS, /* v2: threads with a goroutine */
    TRACK_HEAP_ALLOCATED,
    TRACK_HEAP_GOAL,
    TRACK_GOMAXPROCS,
    TRACK_LAST,
    /* With --detail. */
    TRACK_SHORT_GOROUTINES = TRACK_LAST,
    TRACK_SHORT_TASKS,
    TRACK_LAST_DETAIL,
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
    X(ASSIST, "GC mark assist")

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
    X(LOG_MESSAGE, "message")                                                                      \
    X(BEGIN, "begin")

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
    PERFETTO_ANNOTATIONS(PERFETTO_NUMBER) ANNOTATE_FIRST_FREE,
#undef PERFETTO_NUMBER
};

/* Cache of names of states with a reason, found without hashing their text. */
enum { STATE_NAMES = 64, STATE_PROBES = 8 };

/* A name of a state; the name is 0 in an empty place. */
typedef struct perfetto_state_name {
    const char *reason;
    protobuf_field name;
    uint8_t state;
} perfetto_state_name;

/* The data interned in the current incremental state. All of it is dropped when that state is
 * cleared, which also happens when a table gets too large. */
typedef struct perfetto_interned {
    uint64_t seed;       /* of the hashes */
    size_t most_entries; /* limits; beyond them the incremental state is cleared */
    size_t most_name_bytes;
    idmap names;            /* hash of a text to its iids and the text */
    size_t name_bytes;      /* total size of the texts in names */
    uint32_t next_name;     /* next iid of an event name or annotation value */
    idmap functions, files; /* string ids to iids */
    uint64_t next_string;   /* next iid of a function or file by content */
    idmap frames;           /* hash of a frame to its iid and itself */
    uint64_t next_frame;    /* iid */
    protobuf_field *low;    /* stack ids to fields that refer to them */
    size_t low_count;       /* a power of two; 0: none */
    idmap stacks;           /* the same for larger ids */
    size_t stack_count;     /* in both */
    idmap calls;            /* hash of a frame and the stack of its caller to the stack they make */
    uint64_t next_stack;    /* next iid of a stack by content */
    gotrace_frame *buffer;  /* frames of one stack */
    size_t buffer_size;
    perfetto_state_name states[STATE_NAMES + STATE_PROBES - 1]; /* by address of the reason */
} perfetto_interned;

/* A name as an event refers to it: by iid, or in full if it is too long to intern. */
typedef struct perfetto_name {
    uint64_t iid;
    const char *text;
    size_t size;
} perfetto_name;

/* Tracks for slices that do not nest: each slice begins on a free track. */
typedef struct perfetto_lanes {
    const char *name;
    unsigned rank;
    uint32_t *free;
    size_t count, capacity;
} perfetto_lanes;

/* The name of a start function. It outlives its generation. */
typedef struct perfetto_function {
    size_t size, short_size;
    bool clean;  /* the shortened name is UTF-8 */
    char text[]; /* the full name, then the shortened one */
} perfetto_function;

/* An open region that the next time range will begin again. */
typedef struct perfetto_region {
    struct perfetto_region *outer;
    uint64_t task;
    size_t size;
    char name[];
} perfetto_region;

/* A goroutine that is alive. There may be millions, so fields have the smallest possible types. */
/* A process of a trace of several. */
typedef struct perfetto_process {
    uint32_t track; /* the next one is the group of its goroutines */
    uint16_t epoch; /* in which they were last written */
    bool named;
} perfetto_process;

typedef struct perfetto_goroutine {
    uint64_t start_stack;              /* v1; until Go 1.6 an address */
    const perfetto_function *function; /* NULL while unknown */
    const perfetto_function *label;    /* that its program gave it; NULL: none */
    /* Where its next run starts: where it last stopped. v1: an id of the trace; v2: a field. */
    uint64_t stack;
    protobuf_field track_field, name; /* refer to its track, and to "G12 main.worker" */
    uint64_t cause;          /* offset of the event where a flow to its next run starts; 0: none */
    const char *reason;      /* of its state */
    perfetto_region *region; /* the innermost one to begin again */
    int64_t created;         /* 0: before the trace */
    struct perfetto_proc *proc;     /* on whose track its run is open, or NULL */
    struct perfetto_thread *thread; /* v2: on whose track it is open, or NULL */
    uint32_t track;
    uint32_t user_track;  /* regions and logs; 0 before the first */
    uint32_t assist;      /* lane of its mark assist, 0: none */
    uint32_t regions;     /* number of open regions */
    uint16_t epoch;       /* epoch in which its tracks and name were last written */
    uint16_t stack_epoch; /* v2: epoch in which the stack was written */
    uint8_t state;        /* gotrace_state; UNDETERMINED if no slice is open */
    bool system;          /* belongs to the runtime, as far as known when its track was written */
    bool named;           /* the full name of its function was written */
    uint8_t unbegun;      /* number of regions whose begin is not in the trace */
} perfetto_goroutine;

typedef struct perfetto_proc {
    int64_t id;         /* -1: no proc */
    uint64_t goroutine; /* the goroutine whose run is open, if running */
    uint64_t samples;   /* CPU samples so far */
    protobuf_field track_field;
    int64_t thread; /* v1: the thread that ran its last goroutine */
    int64_t holder; /* v2: the thread that has it, or GOTRACE_NO_THREAD */
    uint64_t label; /* v2: iid of the run's label, 0: none */
    uint32_t track;
    uint32_t stw; /* lane of its own stop-the-world (until 1.9), 0: none */
    uint16_t epoch;
    uint16_t label_epoch; /* epoch in which the label was written */
    bool running, sweeping;
} perfetto_proc;

/* What a thread's open slice shows. */
enum { SHOWS_NOTHING, SHOWS_GOROUTINE, SHOWS_PROC };

typedef struct perfetto_thread {
    int64_t id;         /* v2 */
    uint64_t goroutine; /* its goroutine, if busy */
    int64_t proc;       /* v2: its proc, or GOTRACE_NO_PROC */
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
    /* To begin it again in the next time range. */
    uint64_t parent, goroutine;
    char *name;
    size_t name_size;
} perfetto_task;

/* The first bytes of event packets, up to the tag of the time: length (0 until it is known),
 * sequence and possibly flags. */
typedef struct perfetto_head {
    uint8_t bytes[8];
    uint8_t size;
} perfetto_head;

/* The same up to the type of the event, of the beginning of a slice at the time of the packet
 * before. */
typedef struct perfetto_begin {
    uint8_t bytes[16];
    uint8_t size;
} perfetto_begin;

typedef struct perfetto {
    feed feed;
    char program[256]; /* name; possibly not UTF-8 */
    int version;
    unsigned parts;                 /* selected: 1 << PART_* */
    int64_t from, to;               /* the current or next time range; to 0: until the end */
    bool before_window;             /* before it: state is tracked, nothing is written */
    const perfetto_window *windows; /* the time ranges after it */
    size_t window_count;
    bool thread_runs; /* threads show goroutines, with or without a proc */
    perfetto_detail detail;
    protobuf w;
    size_t packet, event, entry; /* marks of the open messages */
    size_t entries; /* mark of interned data waiting for the rest of their packet; 0: none */
    /* If w.used is less, an event is written without further tests, in the room that every buffer
     * has: OUT_BLOCK, or 0 while interned data wait, nothing is to be written, or events are
     * examined (detail.c). */
    size_t limit;
    perfetto_head head, head_of_end;
    perfetto_begin begin_now;

    int64_t time;    /* of the current event; never decreases */
    int64_t written; /* time of the last packet that has one */

    unsigned clock;      /* clock of the timestamps */
    uint64_t zero, wall; /* time 0 on that clock and, if not 0, on the real-time clock */
    uint64_t clocks[4];  /* arguments of the first clock snapshot */
    bool has_clocks, started;
    system_goroutines system;
    uint64_t generation_index; /* of the last event: string and stack ids belong to it */

    uint16_t epoch;       /* number of times the incremental state was cleared */
    uint64_t epoch_start; /* bytes of output when it was last cleared */
    uint64_t entry_bytes; /* bytes of interned data since then */
    bool epoch_ends;      /* the state is to be cleared before the next event */
    perfetto_interned interned;

    convert_alignment alignment;
    unsigned index; /* of the trace, if there are several */
    uint64_t base;  /* offset of the track uuids of this trace */
    uint64_t pid;
    uint32_t tracks;      /* the last uuid used */
    uint32_t epoch_track; /* the last uuid of earlier epochs */
    idmap threads;        /* v1: by tid */
    uint64_t extra_tids;  /* number of threads whose ids do not fit into a tid */
    idmap functions;      /* hash of a name to a perfetto_function */
    idmap starts;         /* stack id of the generation to start function */
    perfetto_lanes assists, stops;

    idmap process_tracks; /* a perfetto_process by number; the first process has those of all */
    idmap goroutines, procs, tasks;
    /* Goroutines by state, and threads, in the order of the counter tracks; the first one counts
     * states without a track. */
    uint64_t states[6];
    struct {
        bool known;
        uint64_t value;
    } metrics[TRACK_LAST - TRACK_HEAP_ALLOCATED];
    unsigned changed; /* how many of these, from the first, must be written */
    int64_t counted;  /* when they were last written */
    bool collecting;  /* a GC cycle is open */
    uint32_t stw;     /* lane of the stop-the-world, 0: none */
    const char *stw_reason;
} perfetto;

/* Whether a time range is still to begin, so that what is open must be remembered. */
static inline bool window_follows(const perfetto *p)
{
    return p->before_window || p->window_count > 0;
}

static inline bool wants(const perfetto *p, unsigned part)
{
    return p->parts & 1U << part;
}

/* ---- packets and events ---------------------------------------------------------------------
 * One packet is open at a time, and in it at most one event. */

/* Call when interned data wait or no longer wait, and when a time range begins or ends. */
static inline void packet_set_limit(perfetto *p)
{
    p->limit = p->entries || p->before_window || p->detail.least ? 0 : OUT_BLOCK;
}

/* Opens a packet. Pending interned data become part of it. */
void packet_open(perfetto *p, unsigned sequence, unsigned flags);
/* Closes a packet that would contain only interned data. */
void packet_settle(perfetto *p);

static inline void packet_timestamp(perfetto *p)
{
    protobuf_uint(&p->w, PACKET_TIMESTAMP, (uint64_t)(p->time - p->written));
    p->written = p->time;
}

/* The rest of packet_close where something is to be done. */
void packet_closed(perfetto *p);

static inline void packet_close(perfetto *p)
{
    protobuf_close(&p->w, p->packet);
    if (p->w.used >= p->limit)
        packet_closed(p);
}

/* Fields that refer to a track or to interned data; an iid of 0 is none. */
static inline protobuf_field refer_to_track(const perfetto *p, uint64_t track)
{
    return protobuf_field_of(EVENT_TRACK_UUID, p->base + track);
}

static inline protobuf_field refer_to_name(uint64_t iid)
{
    return iid ? protobuf_field_of(EVENT_NAME_IID, iid) : 0;
}

static inline protobuf_field refer_to_category(unsigned category)
{
    return protobuf_field_of(EVENT_CATEGORY_IIDS, category);
}

static inline protobuf_field refer_to_stack(uint64_t iid)
{
    return iid ? protobuf_field_of(EVENT_CALLSTACK_IID, iid) : 0;
}

/* Upper bound of the size of an event up to its flow, and of its packet up to there. */
enum { EVENT_MOST = 96 };

/* An event at the current time that is being written. Most of the file consists of these, so their
 * bytes are written in one go. Data that they refer to must be interned before. */
typedef struct perfetto_put {
    uint8_t *at;
    uint8_t *event;  /* where its size goes */
    uint8_t *packet; /* where that of its packet goes; NULL: the packet is closed by packet_close */
} perfetto_put;

/* The time of the packet, and the event up to its track. */
static inline perfetto_put event_put_track(perfetto *p, uint8_t *at, unsigned type,
                                           protobuf_field track)
{
    enum { ONE_BYTE = 0x80 };
    uint64_t passed = (uint64_t)(p->time - p->written);
    uint32_t begin = PACKET_TRACK_EVENT << 3 | PROTOBUF_BYTES |
                     (EVENT_TYPE << 3 | PROTOBUF_VARINT) << 16 | type << 24;

    p->written = p->time;
    if (passed < ONE_BYTE)
        *at++ = (uint8_t)passed;
    else
        at = protobuf_put_varint(at, passed);
    begin = htole32(begin);
    memcpy(at, &begin, sizeof begin);
    return (perfetto_put){.at = protobuf_put_field(at + sizeof begin, track), .event = at + 1};
}

/* The same with the bytes before it. Requires EVENT_MOST bytes of room. */
static inline perfetto_put event_put_head(perfetto *p, uint8_t *at, const perfetto_head *head,
                                          unsigned type, protobuf_field track)
{
    memcpy(at, head->bytes, sizeof head->bytes);
    perfetto_put put = event_put_track(p, at + head->size, type, track);
    put.packet = at + 1;
    return put;
}

/* event_put if w.used has reached the limit. */
perfetto_put event_put_slowly(perfetto *p, const perfetto_head *head, unsigned type,
                              protobuf_field track);

/* An event up to its track. */
static inline perfetto_put event_put(perfetto *p, const perfetto_head *head, unsigned type,
                                     protobuf_field track)
{
    if (p->w.used >= p->limit)
        return event_put_slowly(p, head, type, track);
    return event_put_head(p, protobuf_at(&p->w), head, type, track);
}

/* The same with the fields of most events. 0 omits a field. */
static inline perfetto_put event_put_named(perfetto *p, unsigned type, protobuf_field track,
                                           protobuf_field category, protobuf_field name,
                                           protobuf_field stack)
{
    perfetto_put put = event_put(p, &p->head, type, track);

    put.at = protobuf_put_field(put.at, category);
    put.at = protobuf_put_field(put.at, name);
    put.at = protobuf_put_field(put.at, stack);
    return put;
}

static inline void event_put_sizes(perfetto_put put)
{
    *put.event = (uint8_t)(put.at - put.event - 1);
    *put.packet = (uint8_t)(put.at - put.packet - 1);
}

/* detail.c: takes the open event out of the output if it is to be merged; false: it is not. */
bool detail_take(perfetto *p);

/* Closes the open event. */
static inline void event_close(perfetto *p)
{
    if (p->detail.body && detail_take(p))
        return;
    protobuf_close(&p->w, p->event);
    packet_close(p);
}

/* Closes an event that has only fields of a bounded size. */
static inline void event_end(perfetto *p, perfetto_put put)
{
    protobuf_end(&p->w, put.at);
    if (put.packet) {
        event_put_sizes(put);
    } else {
        p->event = (size_t)(put.event - p->w.bytes);
        event_close(p);
    }
}

/* Leaves the event open: fields of any size can be added, until event_close. */
static inline void event_hold(perfetto *p, perfetto_put put)
{
    protobuf_end(&p->w, put.at);
    p->event = (size_t)(put.event - p->w.bytes);
    if (put.packet)
        p->packet = (size_t)(put.packet - p->w.bytes);
}

/* Open an event to which fields of any size are added. */
void event_open(perfetto *p, unsigned type, protobuf_field track);
void event_open_named(perfetto *p, unsigned type, protobuf_field track, protobuf_field category,
                      protobuf_field name, protobuf_field stack);
/* Opens an event at an earlier time. It is not merged. */
void event_open_earlier(perfetto *p, int64_t time, unsigned type, uint64_t track);

static inline void event_write(perfetto *p, unsigned type, protobuf_field track,
                               protobuf_field category, protobuf_field name, protobuf_field stack)
{
    event_end(p, event_put_named(p, type, track, category, name, stack));
}

/* A number of the trace, made unique among several traces. */
static inline uint64_t own_id(const perfetto *p, uint64_t id)
{
    return id ^ (uint64_t)p->index << 48;
}

/* Ends a slice. Without FLAG_NEEDS_STATE: it refers to no interned data, and a reader that starts
 * late and does not know the track ignores it. */
static inline void slice_end(perfetto *p, protobuf_field track)
{
    event_end(p, event_put(p, &p->head_of_end, SLICE_END, track));
}

/* Ends a slice of the track and begins the next at the same time, as goroutines do at each change
 * of state. The second event remains open. */
static inline perfetto_put event_put_next(perfetto *p, protobuf_field track, protobuf_field name,
                                          protobuf_field stack)
{
    if (p->w.used >= p->limit) {
        slice_end(p, track);
        return event_put_named(p, SLICE_BEGIN, track, 0, name, stack);
    }
    perfetto_put put = event_put_head(p, protobuf_at(&p->w), &p->head_of_end, SLICE_END, track);
    event_put_sizes(put);
    uint8_t *at = put.at;
    memcpy(at, p->begin_now.bytes, sizeof p->begin_now.bytes);
    put.packet = at + 1;
    at += p->begin_now.size;
    put.event = at - 3;
    at = protobuf_put_field(at, track);
    at = protobuf_put_field(at, name);
    put.at = protobuf_put_field(at, stack);
    return put;
}

/* Add annotations to the open event. */
void event_annotate_uint(perfetto *p, unsigned name, uint64_t value);
void event_annotate_string(perfetto *p, unsigned name, perfetto_name value);
/* Sets the name of the open event. */
void event_name(perfetto *p, perfetto_name name);

/* ---- program.c --------------------------------------------------------------------- */

/* Determines the program's name: that of the file with main.main, or of its folder if the file is
 * main.go or if only other files of package main are known; else `otherwise`. */
void program_name(perfetto *p, const char *otherwise);

/* ---- intern.c ---------------------------------------------------------------------- */

void intern_init(perfetto *p);
void intern_free(perfetto *p);
/* Drops all interned data, writes what every epoch starts with, and interns again what goroutines
 * refer to. */
void intern_restart(perfetto *p);
/* A new generation: ids of strings and stacks change their meaning. */
void intern_generation(perfetto *p);
perfetto_name intern_name(perfetto *p, const char *text, size_t size);
/* The same for an annotation value. */
perfetto_name intern_value(perfetto *p, const char *text, size_t size);
/* The iid of the name of a slice that is mostly of these, and of the annotation with their number;
 * the next one is that of the annotation with their sum. */
static inline unsigned name_of_merged(unsigned merged)
{
    return NAME_FIRST_FREE + merged;
}

static inline unsigned annotation_of_merged(unsigned merged)
{
    return ANNOTATE_FIRST_FREE + 2 * merged;
}

/* The iid of an event name that is used for one object only and not looked up again. */
uint32_t intern_new_name(perfetto *p, const char *text, size_t size);
/* intern_state_name and intern_stack if that is not known. */
protobuf_field intern_new_state_name(perfetto *p, unsigned state, const char *reason);
protobuf_field intern_new_stack(perfetto *p, uint64_t id);

/* Within a generation, a reason's address identifies it. */
static inline size_t intern_state_place(unsigned state, const char *reason)
{
    return ((uintptr_t)reason / 8 + state) % STATE_NAMES;
}

/* Refers to "waiting (chan receive)". */
static inline protobuf_field intern_state_name(perfetto *p, unsigned state, const char *reason)
{
    const perfetto_state_name *known = &p->interned.states[intern_state_place(state, reason)];

    return known->reason == reason && known->state == state && known->name
               ? known->name
               : intern_new_state_name(p, state, reason);
}

/* Refers to a stack of the trace; 0 if it has no frames. */
static inline protobuf_field intern_stack(perfetto *p, uint64_t id)
{
    if (id < p->interned.low_count && p->interned.low[id])
        return p->interned.low[id];
    return id ? intern_new_stack(p, id) : 0;
}

/* ---- tracks.c ---------------------------------------------------------------------- */

/* Describes the process, the groups and the counters. */
void tracks_restart(perfetto *p);
/* The process got a name, if the event contains that. */
void track_process(perfetto *p, const gotrace_event *e);
/* Describes the goroutine's tracks and interns the name of its runs. */
void track_goroutine(perfetto *p, uint64_t id, perfetto_goroutine *g);
/* The same, if its label is a new one. */
void track_labelled(perfetto *p, uint64_t id, perfetto_goroutine *g, const char *text, size_t size);
void track_user(perfetto *p, perfetto_goroutine *g);
/* A new track for one region of the goroutine whose begin is not in the trace. */
uint32_t track_unbegun(perfetto *p, const perfetto_goroutine *g);
void track_proc(perfetto *p, int64_t id, perfetto_proc *proc);
void track_task(perfetto *p, perfetto_task *task, uint64_t parent, const char *name, size_t size);
void track_thread(perfetto *p, perfetto_thread *thread, const char *name);
/* Sets the function where the goroutine starts: of the outermost frame of that stack or, without a
 * stack, the one found by reading ahead. shared: many goroutines have that stack. */
void goroutine_starts(perfetto *p, uint64_t id, perfetto_goroutine *g, uint64_t stack, bool shared);
void functions_free(perfetto *p);
/* Describes an added track. Returns its uuid. */
uint32_t track_added(perfetto *p, const char *name);
uint32_t lane_take(perfetto *p, perfetto_lanes *lanes);
void lane_release(perfetto *p, perfetto_lanes *lanes, uint32_t track);

/* ---- threads.c --------------------------------------------------------------------- */

/* The thread of an event that has that proc (v1: the thread that ran its last goroutine). NULL if
 * memory is refused; valid until the next call. */
perfetto_thread *thread_get(perfetto *p, int64_t thread, int64_t proc);
/* v2: updates the tracks of threads after a transition of the goroutine. */
void thread_transition(perfetto *p, perfetto_goroutine *g, const gotrace_event *e);
/* v2: updates the tracks of threads after a transition of a proc. */
void thread_proc(perfetto *p, const gotrace_event *e);
void threads_reopen(perfetto *p);
/* The goroutine leaves its thread, if it has one. */
void thread_leave(perfetto *p, perfetto_goroutine *g);
/* Ends all open slices; the state is not changed. */
void threads_end(perfetto *p);

/* ---- state.c ----------------------------------------------------------------------- */

void state_init(perfetto *p);
void state_free(perfetto *p);
/* NULL if memory is refused. The result is valid until the next call. */
perfetto_goroutine *goroutine_get(perfetto *p, uint64_t id, uint64_t start_stack);
perfetto_proc *proc_get(perfetto *p, int64_t id);
/* The same without creating a track. */
perfetto_proc *proc_find(perfetto *p, int64_t id);
void goroutine_transition(perfetto *p, const gotrace_event *e);
void proc_transition(perfetto *p, const gotrace_event *e);
/* v2: names a goroutine that existed before the trace after the stack of its event. */
void goroutine_name(perfetto *p, uint64_t id, perfetto_goroutine *g, uint64_t stack);
/* Begins the slice of the goroutine's state again. */
void goroutine_reopen(perfetto *p, uint64_t id, perfetto_goroutine *g);
/* Begins the run and the ranges of the proc again. */
void proc_reopen(perfetto *p, int64_t id);
void ranges_reopen(perfetto *p);
void label_event(perfetto *p, const gotrace_event *e);
void range_event(perfetto *p, const gotrace_event *e);
/* Nanoseconds between counter values in bursts. If written at every change of state, the counters
 * would be a large part of the file and most of the viewer's rows. The last value of a burst is
 * always written; outside bursts the counters are exact. */
enum { COUNTER_STEP = 200000 };

/* Writes the changed counters of goroutines, and those before them. */
void write_counters(perfetto *p);

/* Call before the time advances: writes the counters of goroutines if they are due. */
static inline void state_advance(perfetto *p, int64_t time)
{
    if (p->changed > 0 && time - p->counted >= COUNTER_STEP)
        write_counters(p);
}
/* All ids of a pool, ascending, so that the output does not depend on the pool's order; to be freed
 * by the caller. NULL if there are none or memory is refused. */
uint64_t *sorted_ids(perfetto *p, const idmap *pool);
/* Ends all open slices of goroutines, procs, threads and ranges; the state is not changed. */
void state_end(perfetto *p);

/* ---- detail.c ---------------------------------------------------------------------- */

/* least: ns; what is shorter is merged. 0: nothing is, and the other functions do nothing. */
void detail_init(perfetto *p, int64_t least);
void detail_free(perfetto *p);
/* Keeps the description of a track, which is open, until something is written on the track, so that
 * tracks of which all is merged with others are not described. */
void detail_hold(perfetto *p, uint32_t track, uint64_t parent);
/* Something is written on the track at once, or on one below it. */
void detail_show_track(perfetto *p, uint64_t track);
/* The track has no more events, and no open slice. If all of it was short, it becomes part of what
 * the other track merges, as one of these. */
void detail_end_track(perfetto *p, uint64_t track, uint64_t other, unsigned merged);
/* Writes what has been merged so far, and the begins of open slices. */
void detail_settle(perfetto *p);

/* ---- added.c ----------------------------------------------------------------------- */

/* Writes the tracks that are not of the trace, after all else. */
void added_tracks(perfetto *p, const perfetto_tracks *tracks);

/* ---- user.c ------------------------------------------------------------------------ */

void task_event(perfetto *p, const gotrace_event *e);
void region_event(perfetto *p, const gotrace_event *e);
void log_event(perfetto *p, const gotrace_event *e);
/* Begin the open slices again. */
void regions_reopen(perfetto *p, uint64_t id, perfetto_goroutine *g);
void tasks_reopen(perfetto *p);
void user_free(perfetto *p);
/* Ends the slices of the goroutine's regions; the state is not changed. */
void regions_end(perfetto *p, const perfetto_goroutine *g);
/* Call before the goroutine is removed. */
void regions_free(perfetto_goroutine *g);
/* Ends the slices of all tasks; the state is not changed. */
void tasks_end(perfetto *p);

/* ---- perfetto.c, window.c ---------------------------------------------------------- */

/* Clears the incremental state and writes what every epoch starts with. */
void perfetto_restart(perfetto *p);
void metric_write(perfetto *p, size_t metric);
/* Goes to the next time range, which must exist. */
void window_next(perfetto *p);
/* The time range begins: begins all open slices. */
void window_begin(perfetto *p);
/* The time range ends before the event: ends all open slices, without a change of the state, and
 * goes to the next time range. */
void window_end(perfetto *p);

#endif
