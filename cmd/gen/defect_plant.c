/* defect_plant.c - for each rule, the change to a sound trace that violates this rule and no other.
 */
#include "cmd/gen/defect.h"

#include <stdio.h>
#include <string.h>

typedef gen_defect D;

/* An argument of a planted record is a number, or one relative to a value of the trace. */
enum { NOT_THERE = 123456789, ARGS = 6 };
typedef enum base {
    NUMBER,
    OF_GOROUTINE,
    OF_THREAD,
    OF_PROC,
    OF_SEQ,
    OF_GC,
    OF_TICKS,
    OF_PLACE
} base;
enum { BASE_SHIFT = 56 };
#define PLUS(base, n) ((uint64_t)(base) << BASE_SHIFT | (n))
#define GOROUTINE     PLUS(OF_GOROUTINE, 0)
#define THREAD        PLUS(OF_THREAD, 0)
#define PROC          PLUS(OF_PROC, 0)
#define SAME          PLUS(OF_PLACE, 0) /* the first argument of the record at the row's place */

/* A record; its arguments without deltas of time and sequence number, and without zeros at the end.
 */
typedef struct planted {
    const char *name, *data;
    uint64_t args[ARGS];
} planted;

/* Where a row changes the trace. */
typedef enum where {
    AFTER,   /* the record at the row's place */
    INSTEAD, /* of that record */
    APPEND,  /* at the end of the trace */
    OVER,    /* bytes of the header */
    CUT,     /* the trace ends after so many bytes */
} where;

typedef struct row {
    gotrace_rule rule;
    uint8_t since, until; /* range of versions */
    const char *what;
    where where;
    size_t place; /* of a gen_place in gen_defect; 0: the last event of a proc or thread */
    uint64_t at;  /* OVER, CUT: the offset */
    /* What is put there: records, or a hand-encoded one, which begins with `code` unless that is 0,
     * in v1 with the form in its two high bits. */
    const planted *records;
    const char *bytes;
    size_t size;
    uint8_t code;
    void (*change)(D *d); /* what else to do; NULL: nothing */
} row;

#define V1(since)    since, GOTRACE_FIRST_V2 - 1
#define SINCE(since) since, GEN_NEWEST

#define R(record, ...)                                                                             \
    {                                                                                              \
        .name = record, .args = { __VA_ARGS__ }                                                    \
    }
#define RECORDS(...)                                                                               \
    .records = (const planted[])                                                                   \
    {                                                                                              \
        __VA_ARGS__,                                                                               \
        {                                                                                          \
            .name = NULL                                                                           \
        }                                                                                          \
    }
#define AT(member)              .place = offsetof(gen_defect, member)
#define BYTES(string)           .bytes = (string), .size = sizeof(string) - 1
#define CODE(event, form, rest) .code = (uint8_t)(event | (form) << 6), BYTES(rest)
#define ELEVEN_BYTES            "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
/* 2^64-1 ticks, that is, one tick back. */
#define BACK "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"

/* ---- changes that no row expresses ----------------------------------------------------------- */

static void append_header(D *d)
{
    char header[16] = {0};
    snprintf(header, sizeof header, "go 1.%d trace", d->version);
    gen_defect_patch(d, d->size, 0, header, sizeof header, GOTRACE_NO_OFFSET);
}

static void renumber(D *d, uint64_t number)
{
    uint64_t last = d->batches[d->batch_count - 1].generation;
    bool first = true;
    for (size_t i = 0; i < d->batch_count; i++) {
        const gen_batch *batch = &d->batches[i];
        if (batch->generation != last)
            continue;
        gen_defect_number(d, batch->offset + 1, batch->generation_width, number);
        d->at = first ? batch->offset : d->at;
        first = false;
    }
}

static void renumber_as_0(D *d)
{
    renumber(d, 0);
}

static void skip_number(D *d)
{
    renumber(d, d->batches[d->batch_count - 1].generation + 1);
}

static void cut_last_record(D *d)
{
    d->at = d->last_record.offset;
    gen_defect_patch(d, d->at, d->size - d->at, NULL, 0, GOTRACE_NO_OFFSET);
}

/* A stack with a frame count of two, but one frame. */
static void plant_short_stack(D *d)
{
    gen_defect_record(d, "Stack", (const uint64_t[]){NOT_THERE, 1, 1, 1, 1, 1}, 6, NULL);
    d->at = d->stack.offset;
    gen_defect_put(d, d->at, 0, d->stack.batch);
    gen_patch *patch = &d->patches[d->patch_count - 1];
    patch->bytes[patch->size - (d->version < 7 ? 2 : 5)] = 2;
}

/* Insert two frames in front: PC 1, no names, lines 1 and 2. */
static void double_pc(D *d)
{
    enum { FRAMES_MAX = 128 };
    const uint8_t bytes[] = {(uint8_t)(d->stack.frames + 2), 1, 0, 0, 1, 1, 0, 0, 2};
    d->failed = d->failed || d->stack.frames + 2 >= FRAMES_MAX;
    gen_defect_patch(d, d->stack.frames_at, 1, bytes, sizeof bytes, d->stack.batch);
    d->at = d->stack.offset;
}

static void leave_out_frequency(D *d)
{
    gen_defect_patch(d, d->frequency.offset, d->frequency.size, NULL, 0, d->frequency.batch);
}

/* ---- table of defects ------------------------------------------------------------------------ */

static const row rows[] = {
    {GOTRACE_RULE_HEADER_SHORT, SINCE(5), "the trace ends within its header", .where = CUT,
     .at = 8},
    {GOTRACE_RULE_HEADER_MAGIC, SINCE(5), "the header begins with \"no\"", .where = OVER,
     BYTES("no")},
    {GOTRACE_RULE_HEADER_FOREIGN, SINCE(5), "the file begins like a zip archive", .where = OVER,
     BYTES("PK\3\4")},
    {GOTRACE_RULE_HEADER_VERSION, 5, 9, "the header has a version that does not exist",
     .where = OVER, .at = 5, BYTES("4")},
    {GOTRACE_RULE_HEADER_VERSION, SINCE(10), "the header has a version that does not exist",
     .where = OVER, .at = 5, BYTES("9")},
    {GOTRACE_RULE_TRACE_EMPTY, SINCE(5), "a header without any data", .where = CUT, .at = 16},
    {GOTRACE_RULE_WIRE_TYPE, V1(5), "a record of type 63", .where = APPEND, BYTES("\x3f")},
    {GOTRACE_RULE_WIRE_VARINT, V1(5), "a number of eleven bytes", .where = APPEND,
     CODE(GOTRACE_V1_ProcStop, 0, ELEVEN_BYTES)},
    {GOTRACE_RULE_WIRE_VARINT, SINCE(GOTRACE_FIRST_V2), "a number of eleven bytes", .where = APPEND,
     CODE(GOTRACE_V2_EventBatch, 0, ELEVEN_BYTES)},
    {GOTRACE_RULE_WIRE_LENGTH, V1(7), "a record whose length is too small",
     /* A GoUnblock of four bytes whose last number continues into the following String. */
     .where = APPEND, CODE(GOTRACE_V1_GoUnblock, 3, "\x04\x01\x01\x01\x81\x25\xff\xff\x7f\x01x")},
    {GOTRACE_RULE_WIRE_TRUNCATED, V1(5), "a record of which only the first byte exists",
     .where = APPEND, CODE(GOTRACE_V1_ProcStop, 0, "")},
    {GOTRACE_RULE_WIRE_TRUNCATED, SINCE(GOTRACE_FIRST_V2), "a batch of which only two bytes exist",
     .where = APPEND, CODE(GOTRACE_V2_EventBatch, 0, "\x01")},
    {GOTRACE_RULE_WIRE_TEXT, SINCE(5), "the report of a panic", .where = APPEND,
     BYTES("panic: boom\n\ngoroutine 1 [running]:\nmain.main()\n")},
    {GOTRACE_RULE_BATCH_HEADER, SINCE(GOTRACE_FIRST_V2), "a byte that does not begin a batch",
     .where = APPEND, CODE(GOTRACE_V2_Stack, 0, "")},
    {GOTRACE_RULE_BATCH_EVENT, SINCE(GOTRACE_FIRST_V2),
     "a record of type 127 among a thread's events", BYTES("\x7f")},
    {GOTRACE_RULE_GENERATION_NUMBER, GOTRACE_FIRST_V2, GOTRACE_FIRST_GENERATION_END - 1,
     "the number before the last generation's is left out",
     /* Until 1.25 generations are numbered consecutively. */
     .change = skip_number},
    {GOTRACE_RULE_GENERATION_NUMBER, SINCE(GOTRACE_FIRST_GENERATION_END),
     "the last generation has the number 0", .change = renumber_as_0},
    {GOTRACE_RULE_GENERATION_END, SINCE(GOTRACE_FIRST_GENERATION_END),
     "the last record is left out", .change = cut_last_record},
    {GOTRACE_RULE_GENERATION_CLOCK, SINCE(GOTRACE_FIRST_V2), "a second frequency", AT(frequency),
     RECORDS(R("Frequency", SAME))},
    {GOTRACE_RULE_GENERATION_MISSING, SINCE(GOTRACE_FIRST_GENERATION_END),
     "the number before the last generation's is left out", .change = skip_number},
    {GOTRACE_RULE_TRACE_AFTER, SINCE(GOTRACE_FIRST_V2), "the header of another trace",
     .where = APPEND, .change = append_header},
    {GOTRACE_RULE_EVENT_ARITY, V1(7), "a GoEnd with arguments",
     /* In inline form, with two arguments too many. */
     CODE(GOTRACE_V1_GoEnd, 2, "\x01\x01\x01")},
    {GOTRACE_RULE_STRING_ID, SINCE(7), "a string of id 0", AT(string),
     RECORDS({.name = "String", .data = "none"})},
    {GOTRACE_RULE_STRING_DUPLICATE, SINCE(7), "another string of the same id", AT(string),
     RECORDS({.name = "String", .data = "another", .args = {SAME}})},
    {GOTRACE_RULE_STRING_LENGTH, V1(7), "a string of 0 bytes", .where = APPEND,
     CODE(GOTRACE_V1_String, 0, "\x7f\x00")},
    {GOTRACE_RULE_STRING_MISSING, V1(11), "a UserLog that refers to string 123456789",
     RECORDS({.name = "UserLog", .data = "", .args = {0, NOT_THERE}})},
    {GOTRACE_RULE_LOG_LENGTH, V1(11), "a message of 1000001 bytes", .where = APPEND,
     CODE(GOTRACE_V1_UserLog, 3, "\x04\x01\x00\x00\x00\xc1\x84\x3d")},
    {GOTRACE_RULE_STACK_FRAMES, V1(7), "a stack with fewer frames than its number of frames",
     .change = plant_short_stack},
    {GOTRACE_RULE_STACK_DUPLICATE, V1(7), "another stack of the same id", AT(stack),
     RECORDS(R("Stack", SAME, 1, 1, 1, 1, 1))},
    {GOTRACE_RULE_STACK_MISSING, V1(7), "a GoSched that refers to stack 123456789",
     RECORDS(R("GoSched", NOT_THERE))},
    {GOTRACE_RULE_STACK_PC, SINCE(GOTRACE_FIRST_V2), "a stack in which two frames have the PC 1",
     .change = double_pc},
    {GOTRACE_RULE_TABLE_REFERENCE, SINCE(GOTRACE_FIRST_V2),
     "a UserTaskEnd that refers to stack 123456789",
     RECORDS(R("UserTaskEnd", NOT_THERE, NOT_THERE))},
    {GOTRACE_RULE_TABLE_UNUSED, SINCE(GOTRACE_FIRST_V2), "a string to which nothing refers",
     AT(string), RECORDS({.name = "String", .data = "for nobody", .args = {NOT_THERE}})},
    {GOTRACE_RULE_FOOTER_MISSING, V1(5), "the frequency is left out", .where = INSTEAD,
     AT(frequency)},
    {GOTRACE_RULE_FOOTER_FREQUENCY, V1(5), "the frequency is 0", .where = INSTEAD, AT(frequency),
     RECORDS(R("Frequency", 0))},
    {GOTRACE_RULE_ORDER_SEQUENCE, V1(7), "a GoStart whose sequence number is 99",
     RECORDS(R("GoSched", 0), R("GoStart", GOROUTINE, 99))},
    {GOTRACE_RULE_ORDER_SEQUENCE, SINCE(GOTRACE_FIRST_V2),
     "a GoSyscallBegin whose sequence number is 99", RECORDS(R("GoSyscallBegin", 99))},
    {GOTRACE_RULE_ORDER_GLOBAL, 5, 5, "a HeapAlloc with the sequence number of the event before it",
     /* The delta is 0: its sequence number is that of the event before. */
     CODE(GOTRACE_V1_HeapAlloc, 1, "\x00\x01\x01")},
    {GOTRACE_RULE_ORDER_CUT, V1(7), "a GoStart that waits for a missing event, and no footer",
     RECORDS(R("GoSched", 0), R("GoStart", GOROUTINE, 99)), .change = leave_out_frequency},
    {GOTRACE_RULE_TIME_ORDER, V1(7), "a GoSched whose time is before that of the event before it",
     CODE(GOTRACE_V1_GoSched, 1, BACK "\x00")},
    {GOTRACE_RULE_TIME_SYSCALL, V1(7), "a GoSysExit whose time is before the call",
     /* Two system calls with the times of their ends exchanged. */
     RECORDS(R("GoSysCall", 0), R("GoSysBlock", 0), R("GoSysExit", GOROUTINE, 2, PLUS(OF_TICKS, 7)),
             R("GoStart", GOROUTINE, 3), R("GoSysCall", 0), R("GoSysBlock", 0),
             R("GoSysExit", GOROUTINE, 4, PLUS(OF_TICKS, 3)))},
    {GOTRACE_RULE_TIME_SPAN, V1(7), "a HeapAlloc years after the event before it",
     /* A batch of proc 0 at 2^57 ticks, over four years at 10^9 ticks a second. */
     .where = APPEND,
     CODE(GOTRACE_V1_Batch, 1, "\x00\x80\x80\x80\x80\x80\x80\x80\x80\x02\x61\x01\x01")},
    {GOTRACE_RULE_CLOCK_BACK, SINCE(GOTRACE_FIRST_SYNC),
     "the clocks of the last generation are before those of the first", .where = INSTEAD,
     AT(clocks), RECORDS(R("ClockSnapshot", 1, 1, 1))},
    {GOTRACE_RULE_PROC_START, V1(5), "a ProcStart of a proc that runs",
     RECORDS(R("ProcStart", 4712))},
    {GOTRACE_RULE_PROC_STOP, V1(5), "a ProcStop of a proc that runs a goroutine",
     RECORDS(R("ProcStop", 0))},
    {GOTRACE_RULE_GC_START, 5, 6, "a GCStart during a cycle",
     RECORDS(R("GCStart", 0), R("GCStart", 0))},
    {GOTRACE_RULE_GC_START, V1(7), "a GCStart during a cycle",
     RECORDS(R("GCStart", PLUS(OF_GC, 0)), R("GCStart", PLUS(OF_GC, 1)))},
    {GOTRACE_RULE_GC_DONE, V1(5), "a GCDone without a cycle", RECORDS(R("GCDone", 0))},
    {GOTRACE_RULE_STW_START, V1(5), "an STWStart while the world is stopped",
     RECORDS(R("STWStart", 1), R("STWStart", 1))},
    {GOTRACE_RULE_STW_DONE, V1(5), "an STWDone where the world was not stopped",
     RECORDS(R("STWDone", 0))},
    {GOTRACE_RULE_STW_KIND, 10, 19, "an STWStart of kind 7", RECORDS(R("STWStart", 7))},
    {GOTRACE_RULE_SWEEP_START, V1(5), "a GCSweepStart while the proc sweeps",
     RECORDS(R("GCSweepStart", 0), R("GCSweepStart", 0))},
    {GOTRACE_RULE_SWEEP_DONE, V1(5), "a GCSweepDone where the proc did not sweep",
     RECORDS(R("GCSweepDone", 0))},
    {GOTRACE_RULE_ASSIST_START, V1(9), "a GCMarkAssistStart while the goroutine assists",
     RECORDS(R("GCMarkAssistStart", 0), R("GCMarkAssistStart", 0))},
    {GOTRACE_RULE_GO_CREATE, 5, 5, "a GoCreate of a goroutine that exists",
     RECORDS(R("GoCreate", GOROUTINE))},
    {GOTRACE_RULE_GO_CREATE, SINCE(GOTRACE_FIRST_V2), "a GoCreate of a goroutine that exists",
     RECORDS(R("GoCreate", GOROUTINE))},
    {GOTRACE_RULE_GO_INITIAL, 5, 5, "a GoWaiting of a goroutine that runs",
     RECORDS(R("GoWaiting", GOROUTINE))},
    {GOTRACE_RULE_GO_START, 5, 5, "a GoStart of a goroutine that has ended",
     RECORDS(R("GoEnd", 0), R("GoStart", GOROUTINE, 2))},
    {GOTRACE_RULE_GO_RUNNING, V1(5), "a GoEnd where no goroutine runs",
     RECORDS(R("GoSched", 0), R("GoEnd", 0))},
    {GOTRACE_RULE_GO_RUNNING, SINCE(GOTRACE_FIRST_V2), "a GoStop of a goroutine in a system call",
     RECORDS(R("GoSyscallBegin", PLUS(OF_SEQ, 1)), R("GoStop", 0))},
    {GOTRACE_RULE_GO_UNBLOCK, 5, 5, "a GoUnblock of a goroutine that runs",
     RECORDS(R("GoUnblock", GOROUTINE, 2))},
    {GOTRACE_RULE_GO_SYSEXIT, V1(7), "a GoSysExit of a goroutine that was not in a system call",
     RECORDS(R("GoCreate", NOT_THERE), R("GoWaiting", NOT_THERE),
             R("GoSysExit", NOT_THERE, 2, PLUS(OF_TICKS, 3)))},
    {GOTRACE_RULE_GO_SYSEXIT, SINCE(GOTRACE_FIRST_V2),
     "a GoSyscallEndBlocked of a goroutine that is not in a system call",
     RECORDS(R("GoSyscallEndBlocked", 0))},
    {GOTRACE_RULE_CONTEXT, SINCE(GOTRACE_FIRST_V2), "a GoDestroy where no goroutine runs",
     RECORDS(R("GoDestroy", 0), R("GoDestroy", 0))},
    {GOTRACE_RULE_STATUS_PROC, SINCE(GOTRACE_FIRST_V2), "a ProcStatus idle for a proc that runs",
     RECORDS(R("ProcStatus", PROC, 2))},
    {GOTRACE_RULE_STATUS_GOROUTINE, SINCE(GOTRACE_FIRST_V2),
     "a GoStatus waiting for a goroutine that runs", RECORDS(R("GoStatus", GOROUTINE, THREAD, 4))},
    {GOTRACE_RULE_PROC_STEAL, SINCE(GOTRACE_FIRST_V2),
     "a ProcSteal from a thread that does not exist",
     RECORDS(R("GoSyscallBegin", PLUS(OF_SEQ, 1)),
             R("ProcSteal", PROC, PLUS(OF_SEQ, 2), NOT_THERE))},
    {GOTRACE_RULE_RANGE, SINCE(GOTRACE_FIRST_V2),
     "a GCMarkAssistEnd where the goroutine did not assist", RECORDS(R("GCMarkAssistEnd", 0))},
    {GOTRACE_RULE_BEGIN_MISSING, SINCE(11), "a task that ends twice",
     RECORDS(R("UserTaskEnd", NOT_THERE), R("UserTaskEnd", NOT_THERE))},
    {GOTRACE_RULE_TASK_CREATE, V1(11), "two tasks of the same id",
     RECORDS(R("UserTaskCreate", NOT_THERE), R("UserTaskCreate", NOT_THERE))},
    {GOTRACE_RULE_TASK_CREATE, SINCE(GOTRACE_FIRST_V2), "two tasks of the same id",
     RECORDS(R("UserTaskBegin", NOT_THERE), R("UserTaskBegin", NOT_THERE))},
    {GOTRACE_RULE_REGION_END, V1(11), "the end of a region of another task than the one that began",
     RECORDS(R("UserRegion", 1, 0), R("UserRegion", 2, 1))},
    {GOTRACE_RULE_REGION_END, SINCE(GOTRACE_FIRST_V2),
     "the end of a region of another task than the one that began",
     RECORDS(R("UserRegionBegin", 1), R("UserRegionEnd", 2))},
    {GOTRACE_RULE_REGION_MODE, V1(11), "a UserRegion of mode 2", RECORDS(R("UserRegion", 1, 2))},
};

enum { ROWS = sizeof rows / sizeof rows[0] };

const char *gen_defect_name(size_t n)
{
    /* The rows of a rule are adjacent. */
    for (size_t i = 0; i < ROWS; i++)
        if ((i == 0 || rows[i].rule != rows[i - 1].rule) && n-- == 0)
            return gotrace_rule_describe(rows[i].rule)->id;
    return NULL;
}

int gen_defect_version(gotrace_rule rule, int asked)
{
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].rule == rule && (!asked || (rows[i].since <= asked && asked <= rows[i].until)))
            return asked ? asked : rows[i].since;
    return 0;
}

/* The value of an argument of a row's record. */
static uint64_t value_of(const D *d, uint64_t arg, const gen_place *place)
{
    const uint64_t bases[] = {
        [NUMBER] = 0,
        [OF_GOROUTINE] = d->tail.goroutine,
        [OF_THREAD] = d->tail.thread,
        [OF_PROC] = d->tail.proc,
        [OF_SEQ] = d->tail.proc_seq,
        [OF_GC] = d->gc_next,
        [OF_TICKS] = d->end_ticks,
        [OF_PLACE] = place->value,
    };
    return bases[arg >> BASE_SHIFT] + (arg & (((uint64_t)1 << BASE_SHIFT) - 1));
}

/* Put the row's records or bytes in place of drop bytes. */
static void put(D *d, const row *r, const gen_place *place, uint64_t drop, uint64_t batch)
{
    uint8_t bytes[GEN_PATCH_BYTES];
    size_t head = r->code != 0;
    for (const planted *record = r->records; record && record->name; record++) {
        uint64_t args[ARGS];
        for (size_t i = 0; i < ARGS; i++)
            args[i] = value_of(d, record->args[i], place);
        gen_defect_record(d, record->name, args, ARGS, record->data);
    }
    if (r->records) {
        gen_defect_put(d, d->at, drop, batch);
    } else if (drop > 0 || head + r->size > 0) {
        bytes[0] = r->code;
        if (r->size > 0)
            memcpy(bytes + head, r->bytes, r->size);
        gen_defect_patch(d, d->at, drop, bytes, head + r->size, batch);
    }
}

static void plant(D *d, const row *r)
{
    const gen_place *place = r->place ? (const gen_place *)((const char *)d + r->place) : &d->end;
    d->what = r->what;
    switch (r->where) {
    case AFTER:
        d->at = place->offset + place->size;
        put(d, r, place, 0, place->batch);
        break;
    case INSTEAD:
        d->at = place->offset;
        put(d, r, place, place->size, place->batch);
        break;
    case APPEND:
        d->at = d->size;
        put(d, r, place, 0, GOTRACE_NO_OFFSET);
        break;
    case OVER:
        d->at = r->at;
        put(d, r, place, r->size, GOTRACE_NO_OFFSET);
        break;
    case CUT:
        d->at = r->at;
        put(d, r, place, d->size - r->at, GOTRACE_NO_OFFSET);
        break;
    }
    if (r->change)
        r->change(d);
}

void gen_defect_plant(gen_defect *d, gotrace_rule rule)
{
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].rule == rule && rows[i].since <= d->version && d->version <= rows[i].until) {
            plant(d, &rows[i]);
            return;
        }
}
