/* defect_plant.c - for each rule, the change to a sound trace that violates this rule and no other.
 */
#include "cmd/gen/defect.h"

#include <stdio.h>
#include <string.h>

typedef gen_defect D;

/* Encode a record with these arguments. */
#define RECORD(d, name, ...)                                                                       \
    gen_defect_record(d, name, (const uint64_t[]){__VA_ARGS__},                                    \
                      sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), NULL)
#define PLAIN(d, name) gen_defect_record(d, name, NULL, 0, NULL)

enum { NOT_THERE = 123456789 };

static void add(D *d, const char *what)
{
    gen_defect_add(d);
    d->what = what;
}

/* Append bytes to the trace. */
static void append(D *d, const void *bytes, size_t size, const char *what)
{
    gen_defect_patch(d, d->size, 0, bytes, size, GOTRACE_NO_OFFSET);
    d->at = d->size;
    d->what = what;
}

/* Encode a record by hand: its code, in v1 with the form in the two high bits, then the rest. */
static size_t record_bytes(uint8_t bytes[GEN_PATCH_BYTES], unsigned code, unsigned form,
                           const char *rest, size_t size)
{
    bytes[0] = (uint8_t)(code | form << 6);
    if (size > 0)
        memcpy(bytes + 1, rest, size);
    return 1 + size;
}

/* Append a hand-encoded record to the trace. */
static void append_record(D *d, unsigned code, unsigned form, const char *rest, size_t size,
                          const char *what)
{
    uint8_t bytes[GEN_PATCH_BYTES];
    append(d, bytes, record_bytes(bytes, code, form, rest, size), what);
}

/* Insert a hand-encoded record after the last event of a proc or thread. */
static void insert_record(D *d, unsigned code, unsigned form, const char *rest, size_t size,
                          const char *what)
{
    uint8_t bytes[GEN_PATCH_BYTES];
    d->at = d->end.offset + d->end.size;
    gen_defect_patch(d, d->at, 0, bytes, record_bytes(bytes, code, form, rest, size), d->end.batch);
    d->what = what;
}

static void cut(D *d, uint64_t offset, const char *what)
{
    gen_defect_patch(d, offset, d->size - offset, NULL, 0, GOTRACE_NO_OFFSET);
    d->at = offset;
    d->what = what;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static void header_short(D *d)
{
    cut(d, 8, "the trace ends within its header");
}

static void header_magic(D *d)
{
    gen_defect_patch(d, 0, 2, "no", 2, GOTRACE_NO_OFFSET);
    d->what = "the header begins with \"no\"";
}

static void header_foreign(D *d)
{
    gen_defect_patch(d, 0, 4, "PK\3\4", 4, GOTRACE_NO_OFFSET);
    d->what = "the file begins like a zip archive";
}

static void header_version(D *d)
{
    gen_defect_patch(d, 5, 1, d->version < 10 ? "4" : "9", 1, GOTRACE_NO_OFFSET);
    d->at = 5;
    d->what = "the header has a version that does not exist";
}

static void trace_empty(D *d)
{
    cut(d, 16, "a header without any data");
}

static void wire_type(D *d)
{
    append(d, "\x3f", 1, "a record of type 63");
}

#define ELEVEN_BYTES "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"

static void wire_varint(D *d)
{
    append_record(d, GOTRACE_V1_ProcStop, 0, ELEVEN_BYTES, 11, "a number of eleven bytes");
}

/* A GoUnblock of four bytes whose last number continues into the following String. */
static void wire_length(D *d)
{
    static const char rest[] = {4,      1,      1,      1, '\x81', GOTRACE_V1_String,
                                '\xff', '\xff', '\x7f', 1, 'x'};
    append_record(d, GOTRACE_V1_GoUnblock, 3, rest, sizeof rest,
                  "a record whose length is too small");
}

static void wire_truncated(D *d)
{
    append_record(d, GOTRACE_V1_ProcStop, 0, NULL, 0,
                  "a record of which only the first byte exists");
}

static void wire_truncated_v2(D *d)
{
    append_record(d, GOTRACE_V2_EventBatch, 0, "\x01", 1, "a batch of which only two bytes exist");
}

static void wire_varint_v2(D *d)
{
    append_record(d, GOTRACE_V2_EventBatch, 0, ELEVEN_BYTES, 11, "a number of eleven bytes");
}

static void batch_header(D *d)
{
    append_record(d, GOTRACE_V2_Stack, 0, NULL, 0, "a byte that does not begin a batch");
}

static void batch_event(D *d)
{
    gen_defect_patch(d, d->end.offset + d->end.size, 0, "\x7f", 1, d->end.batch);
    d->at = d->end.offset + d->end.size;
    d->what = "a record of type 127 among a thread's events";
}

static void trace_after(D *d)
{
    char header[16] = {0};
    snprintf(header, sizeof header, "go 1.%d trace", d->version);
    append(d, header, sizeof header, "the header of another trace");
}

static void wire_text(D *d)
{
    static const char text[] = "panic: boom\n\ngoroutine 1 [running]:\nmain.main()\n";
    append(d, text, sizeof text - 1, "the report of a panic");
}

static void event_arity(D *d)
{
    /* GoEnd in inline form, with two arguments too many. */
    insert_record(d, GOTRACE_V1_GoEnd, 2, "\x01\x01\x01", 3, "a GoEnd with arguments");
}

/* ---- generations ----------------------------------------------------------------------------- */

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

static void generation_number(D *d)
{
    renumber(d, 0);
    d->what = "the last generation has the number 0";
}

/* Until 1.25 generations are numbered consecutively. */
static void generation_number_v22(D *d)
{
    renumber(d, d->batches[d->batch_count - 1].generation + 1);
    d->what = "the number before the last generation's is left out";
}

static void generation_missing(D *d)
{
    renumber(d, d->batches[d->batch_count - 1].generation + 1);
    d->what = "the number before the last generation's is left out";
}

static void generation_end(D *d)
{
    cut(d, d->last_record.offset, "the last record is left out");
}

static void generation_clock(D *d)
{
    RECORD(d, "Frequency", d->frequency.value);
    d->at = d->frequency.offset + d->frequency.size;
    gen_defect_put(d, d->at, 0, d->frequency.batch);
    d->what = "a second frequency";
}

static void clock_back(D *d)
{
    RECORD(d, "ClockSnapshot", 1, 1, 1);
    d->at = d->clocks.offset;
    gen_defect_put(d, d->at, d->clocks.size, d->clocks.batch);
    d->what = "the clocks of the last generation are before those of the first";
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void string_id(D *d)
{
    gen_defect_record(d, "String", (const uint64_t[]){0}, 1, "none");
    d->at = d->string.offset + d->string.size;
    gen_defect_put(d, d->at, 0, d->string.batch);
    d->what = "a string of id 0";
}

static void string_duplicate(D *d)
{
    gen_defect_record(d, "String", (const uint64_t[]){d->string.value}, 1, "another");
    d->at = d->string.offset + d->string.size;
    gen_defect_put(d, d->at, 0, d->string.batch);
    d->what = "another string of the same id";
}

static void string_length(D *d)
{
    append_record(d, GOTRACE_V1_String, 0, "\x7f\x00", 2, "a string of 0 bytes");
}

static void string_missing(D *d)
{
    gen_defect_record(d, "UserLog", (const uint64_t[]){0, NOT_THERE}, 2, "");
    add(d, "a UserLog that refers to string 123456789");
}

static void log_length(D *d)
{
    append_record(d, GOTRACE_V1_UserLog, 3, "\x04\x01\x00\x00\x00\xc1\x84\x3d", 8,
                  "a message of 1000001 bytes");
}

static void stack_frames(D *d)
{
    /* A stack with a frame count of two, but one frame. */
    RECORD(d, "Stack", NOT_THERE, 1, 1, 1, 1, 1);
    gen_defect_put(d, d->stack.offset, 0, d->stack.batch);
    gen_patch *patch = &d->patches[d->patch_count - 1];
    patch->bytes[patch->size - (d->version < 7 ? 2 : 5)] = 2;
    d->at = d->stack.offset;
    d->what = "a stack with fewer frames than its number of frames";
}

static void stack_duplicate(D *d)
{
    RECORD(d, "Stack", d->stack.value, 1, 1, 1, 1, 1);
    d->at = d->stack.offset + d->stack.size;
    gen_defect_put(d, d->at, 0, d->stack.batch);
    d->what = "another stack of the same id";
}

static void stack_missing(D *d)
{
    RECORD(d, "GoSched", NOT_THERE);
    add(d, "a GoSched that refers to stack 123456789");
}

static void stack_pc(D *d)
{
    enum { FRAMES_MAX = 128 };
    /* Insert two frames in front: PC 1, no names, lines 1 and 2. */
    const uint8_t bytes[] = {(uint8_t)(d->stack.frames + 2), 1, 0, 0, 1, 1, 0, 0, 2};
    d->failed = d->failed || d->stack.frames + 2 >= FRAMES_MAX;
    gen_defect_patch(d, d->stack.frames_at, 1, bytes, sizeof bytes, d->stack.batch);
    d->at = d->stack.offset;
    d->what = "a stack in which two frames have the PC 1";
}

static void table_reference(D *d)
{
    RECORD(d, "UserTaskEnd", NOT_THERE, NOT_THERE);
    add(d, "a UserTaskEnd that refers to stack 123456789");
}

static void table_unused(D *d)
{
    gen_defect_record(d, "String", (const uint64_t[]){NOT_THERE}, 1, "for nobody");
    d->at = d->string.offset + d->string.size;
    gen_defect_put(d, d->at, 0, d->string.batch);
    d->what = "a string to which nothing refers";
}

/* ---- the footer ------------------------------------------------------------------------------ */

static void footer_missing(D *d)
{
    gen_defect_patch(d, d->frequency.offset, d->frequency.size, NULL, 0, d->frequency.batch);
    d->at = d->frequency.offset;
    d->what = "the frequency is left out";
}

static void footer_frequency(D *d)
{
    RECORD(d, "Frequency", 0);
    gen_defect_put(d, d->frequency.offset, d->frequency.size, d->frequency.batch);
    d->at = d->frequency.offset;
    d->what = "the frequency is 0";
}

/* ---- order and time -------------------------------------------------------------------------- */

static void order_sequence(D *d)
{
    PLAIN(d, "GoSched");
    RECORD(d, "GoStart", d->tail.goroutine, 99);
    add(d, "a GoStart whose sequence number is 99");
}

static void order_sequence_v2(D *d)
{
    RECORD(d, "GoSyscallBegin", 99);
    add(d, "a GoSyscallBegin whose sequence number is 99");
}

static void order_global(D *d)
{
    /* The delta is 0: its sequence number is that of the event before. */
    insert_record(d, GOTRACE_V1_HeapAlloc, 1, "\x00\x01\x01", 3,
                  "a HeapAlloc with the sequence number of the event before it");
}

static void order_cut(D *d)
{
    order_sequence(d);
    gen_defect_patch(d, d->frequency.offset, d->frequency.size, NULL, 0, d->frequency.batch);
    d->what = "a GoStart that waits for a missing event, and no footer";
}

/* 2^64-1 ticks, that is, one tick back. */
#define BACK "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"

static void time_order(D *d)
{
    insert_record(d, GOTRACE_V1_GoSched, 1, BACK "\x00", 11,
                  "a GoSched whose time is before that of the event before it");
}

/* A batch of proc 0 at 2^57 ticks, over four years at 10^9 ticks a second. */
static void time_span(D *d)
{
    static const char rest[] = {0,
                                '\x80',
                                '\x80',
                                '\x80',
                                '\x80',
                                '\x80',
                                '\x80',
                                '\x80',
                                '\x80',
                                2,
                                GOTRACE_V1_HeapAlloc | 1 << 6,
                                1,
                                1};
    append_record(d, GOTRACE_V1_Batch, 1, rest, sizeof rest,
                  "a HeapAlloc years after the event before it");
}

/* Two system calls with the times of their ends exchanged: the second end precedes its call. */
static void time_syscall(D *d)
{
    uint64_t g = d->tail.goroutine, t = d->end_ticks;
    PLAIN(d, "GoSysCall");
    PLAIN(d, "GoSysBlock");
    RECORD(d, "GoSysExit", g, 2, t + 7);
    RECORD(d, "GoStart", g, 3);
    PLAIN(d, "GoSysCall");
    PLAIN(d, "GoSysBlock");
    RECORD(d, "GoSysExit", g, 4, t + 3);
    add(d, "a GoSysExit whose time is before the call");
}

/* ---- v1: procs and goroutines ---------------------------------------------------------------- */

static void proc_start(D *d)
{
    RECORD(d, "ProcStart", 4712);
    add(d, "a ProcStart of a proc that runs");
}

static void proc_stop(D *d)
{
    PLAIN(d, "ProcStop");
    add(d, "a ProcStop of a proc that runs a goroutine");
}

static void go_create(D *d)
{
    RECORD(d, "GoCreate", d->tail.goroutine);
    add(d, "a GoCreate of a goroutine that exists");
}

static void go_initial(D *d)
{
    RECORD(d, "GoWaiting", d->tail.goroutine);
    add(d, "a GoWaiting of a goroutine that runs");
}

static void go_start(D *d)
{
    PLAIN(d, "GoEnd");
    RECORD(d, "GoStart", d->tail.goroutine, 2);
    add(d, "a GoStart of a goroutine that has ended");
}

static void go_running(D *d)
{
    PLAIN(d, "GoSched");
    PLAIN(d, "GoEnd");
    add(d, "a GoEnd where no goroutine runs");
}

static void go_running_v2(D *d)
{
    RECORD(d, "GoSyscallBegin", d->tail.proc_seq + 1);
    RECORD(d, "GoStop", 0);
    add(d, "a GoStop of a goroutine in a system call");
}

static void go_unblock(D *d)
{
    RECORD(d, "GoUnblock", d->tail.goroutine, 2);
    add(d, "a GoUnblock of a goroutine that runs");
}

static void go_sysexit(D *d)
{
    RECORD(d, "GoCreate", NOT_THERE);
    RECORD(d, "GoWaiting", NOT_THERE);
    RECORD(d, "GoSysExit", NOT_THERE, 2, d->end_ticks + 3);
    add(d, "a GoSysExit of a goroutine that was not in a system call");
}

static void go_sysexit_v2(D *d)
{
    PLAIN(d, "GoSyscallEndBlocked");
    add(d, "a GoSyscallEndBlocked of a goroutine that is not in a system call");
}

/* ---- the GC ---------------------------------------------------------------------------------- */

static void gc_start(D *d)
{
    if (d->version < 7) {
        PLAIN(d, "GCStart");
        PLAIN(d, "GCStart");
    } else {
        RECORD(d, "GCStart", d->gc_next);
        RECORD(d, "GCStart", d->gc_next + 1);
    }
    add(d, "a GCStart during a cycle");
}

static void gc_done(D *d)
{
    PLAIN(d, "GCDone");
    add(d, "a GCDone without a cycle");
}

static void stw_start(D *d)
{
    RECORD(d, "STWStart", 1);
    RECORD(d, "STWStart", 1);
    add(d, "an STWStart while the world is stopped");
}

static void stw_done(D *d)
{
    PLAIN(d, "STWDone");
    add(d, "an STWDone where the world was not stopped");
}

static void stw_kind(D *d)
{
    RECORD(d, "STWStart", 7);
    add(d, "an STWStart of kind 7");
}

static void sweep_start(D *d)
{
    PLAIN(d, "GCSweepStart");
    PLAIN(d, "GCSweepStart");
    add(d, "a GCSweepStart while the proc sweeps");
}

static void sweep_done(D *d)
{
    PLAIN(d, "GCSweepDone");
    add(d, "a GCSweepDone where the proc did not sweep");
}

static void assist_start(D *d)
{
    PLAIN(d, "GCMarkAssistStart");
    PLAIN(d, "GCMarkAssistStart");
    add(d, "a GCMarkAssistStart while the goroutine assists");
}

static void range(D *d)
{
    PLAIN(d, "GCMarkAssistEnd");
    add(d, "a GCMarkAssistEnd where the goroutine did not assist");
}

/* ---- v2: contexts and statuses --------------------------------------------------------------- */

static void context(D *d)
{
    PLAIN(d, "GoDestroy");
    PLAIN(d, "GoDestroy");
    add(d, "a GoDestroy where no goroutine runs");
}

static void status_proc(D *d)
{
    RECORD(d, "ProcStatus", d->tail.proc, 2);
    add(d, "a ProcStatus idle for a proc that runs");
}

static void status_goroutine(D *d)
{
    RECORD(d, "GoStatus", d->tail.goroutine, d->tail.thread, 4);
    add(d, "a GoStatus waiting for a goroutine that runs");
}

static void proc_steal(D *d)
{
    RECORD(d, "GoSyscallBegin", d->tail.proc_seq + 1);
    RECORD(d, "ProcSteal", d->tail.proc, d->tail.proc_seq + 2, NOT_THERE);
    add(d, "a ProcSteal from a thread that does not exist");
}

/* ---- tasks and regions ----------------------------------------------------------------------- */

static void task_create(D *d)
{
    const char *name = d->v2 ? "UserTaskBegin" : "UserTaskCreate";
    RECORD(d, name, NOT_THERE);
    RECORD(d, name, NOT_THERE);
    add(d, "two tasks of the same id");
}

static void begin_missing(D *d)
{
    RECORD(d, "UserTaskEnd", NOT_THERE);
    RECORD(d, "UserTaskEnd", NOT_THERE);
    add(d, "a task that ends twice");
}

static void region_end(D *d)
{
    if (d->v2) {
        RECORD(d, "UserRegionBegin", 1);
        RECORD(d, "UserRegionEnd", 2);
    } else {
        RECORD(d, "UserRegion", 1, 0);
        RECORD(d, "UserRegion", 2, 1);
    }
    add(d, "the end of a region of another task than the one that began");
}

static void region_mode(D *d)
{
    RECORD(d, "UserRegion", 1, 2);
    add(d, "a UserRegion of mode 2");
}

/* ---- table of defects ------------------------------------------------------------------------ */

enum { LAST_V1 = GOTRACE_FIRST_V2 - 1 };

static const struct {
    gotrace_rule rule;
    uint8_t since, until; /* range of versions */
    void (*plant)(D *d);
} rows[] = {
    {GOTRACE_RULE_HEADER_SHORT, 5, GEN_NEWEST, header_short},
    {GOTRACE_RULE_HEADER_MAGIC, 5, GEN_NEWEST, header_magic},
    {GOTRACE_RULE_HEADER_FOREIGN, 5, GEN_NEWEST, header_foreign},
    {GOTRACE_RULE_HEADER_VERSION, 5, GEN_NEWEST, header_version},
    {GOTRACE_RULE_TRACE_EMPTY, 5, GEN_NEWEST, trace_empty},
    {GOTRACE_RULE_WIRE_TYPE, 5, LAST_V1, wire_type},
    {GOTRACE_RULE_WIRE_VARINT, 5, LAST_V1, wire_varint},
    {GOTRACE_RULE_WIRE_VARINT, GOTRACE_FIRST_V2, GEN_NEWEST, wire_varint_v2},
    {GOTRACE_RULE_WIRE_LENGTH, 7, LAST_V1, wire_length},
    {GOTRACE_RULE_WIRE_TRUNCATED, 5, LAST_V1, wire_truncated},
    {GOTRACE_RULE_WIRE_TRUNCATED, GOTRACE_FIRST_V2, GEN_NEWEST, wire_truncated_v2},
    {GOTRACE_RULE_WIRE_TEXT, 5, GEN_NEWEST, wire_text},
    {GOTRACE_RULE_BATCH_HEADER, GOTRACE_FIRST_V2, GEN_NEWEST, batch_header},
    {GOTRACE_RULE_BATCH_EVENT, GOTRACE_FIRST_V2, GEN_NEWEST, batch_event},
    {GOTRACE_RULE_GENERATION_NUMBER, GOTRACE_FIRST_V2, GOTRACE_FIRST_GENERATION_END - 1,
     generation_number_v22},
    {GOTRACE_RULE_GENERATION_NUMBER, GOTRACE_FIRST_GENERATION_END, GEN_NEWEST, generation_number},
    {GOTRACE_RULE_GENERATION_END, GOTRACE_FIRST_GENERATION_END, GEN_NEWEST, generation_end},
    {GOTRACE_RULE_GENERATION_CLOCK, GOTRACE_FIRST_V2, GEN_NEWEST, generation_clock},
    {GOTRACE_RULE_GENERATION_MISSING, GOTRACE_FIRST_GENERATION_END, GEN_NEWEST, generation_missing},
    {GOTRACE_RULE_TRACE_AFTER, GOTRACE_FIRST_V2, GEN_NEWEST, trace_after},
    {GOTRACE_RULE_EVENT_ARITY, 7, LAST_V1, event_arity},
    {GOTRACE_RULE_STRING_ID, 7, GEN_NEWEST, string_id},
    {GOTRACE_RULE_STRING_DUPLICATE, 7, GEN_NEWEST, string_duplicate},
    {GOTRACE_RULE_STRING_LENGTH, 7, LAST_V1, string_length},
    {GOTRACE_RULE_STRING_MISSING, 11, LAST_V1, string_missing},
    {GOTRACE_RULE_LOG_LENGTH, 11, LAST_V1, log_length},
    {GOTRACE_RULE_STACK_FRAMES, 7, LAST_V1, stack_frames},
    {GOTRACE_RULE_STACK_DUPLICATE, 7, LAST_V1, stack_duplicate},
    {GOTRACE_RULE_STACK_MISSING, 7, LAST_V1, stack_missing},
    {GOTRACE_RULE_STACK_PC, GOTRACE_FIRST_V2, GEN_NEWEST, stack_pc},
    {GOTRACE_RULE_TABLE_REFERENCE, GOTRACE_FIRST_V2, GEN_NEWEST, table_reference},
    {GOTRACE_RULE_TABLE_UNUSED, GOTRACE_FIRST_V2, GEN_NEWEST, table_unused},
    {GOTRACE_RULE_FOOTER_MISSING, 5, LAST_V1, footer_missing},
    {GOTRACE_RULE_FOOTER_FREQUENCY, 5, LAST_V1, footer_frequency},
    {GOTRACE_RULE_ORDER_SEQUENCE, 7, LAST_V1, order_sequence},
    {GOTRACE_RULE_ORDER_SEQUENCE, GOTRACE_FIRST_V2, GEN_NEWEST, order_sequence_v2},
    {GOTRACE_RULE_ORDER_GLOBAL, 5, 5, order_global},
    {GOTRACE_RULE_ORDER_CUT, 7, LAST_V1, order_cut},
    {GOTRACE_RULE_TIME_ORDER, 7, LAST_V1, time_order},
    {GOTRACE_RULE_TIME_SYSCALL, 7, LAST_V1, time_syscall},
    {GOTRACE_RULE_TIME_SPAN, 7, LAST_V1, time_span},
    {GOTRACE_RULE_CLOCK_BACK, GOTRACE_FIRST_SYNC, GEN_NEWEST, clock_back},
    {GOTRACE_RULE_PROC_START, 5, LAST_V1, proc_start},
    {GOTRACE_RULE_PROC_STOP, 5, LAST_V1, proc_stop},
    {GOTRACE_RULE_GC_START, 5, LAST_V1, gc_start},
    {GOTRACE_RULE_GC_DONE, 5, LAST_V1, gc_done},
    {GOTRACE_RULE_STW_START, 5, LAST_V1, stw_start},
    {GOTRACE_RULE_STW_DONE, 5, LAST_V1, stw_done},
    {GOTRACE_RULE_STW_KIND, 10, 19, stw_kind},
    {GOTRACE_RULE_SWEEP_START, 5, LAST_V1, sweep_start},
    {GOTRACE_RULE_SWEEP_DONE, 5, LAST_V1, sweep_done},
    {GOTRACE_RULE_ASSIST_START, 9, LAST_V1, assist_start},
    {GOTRACE_RULE_GO_CREATE, 5, 5, go_create},
    {GOTRACE_RULE_GO_CREATE, GOTRACE_FIRST_V2, GEN_NEWEST, go_create},
    {GOTRACE_RULE_GO_INITIAL, 5, 5, go_initial},
    {GOTRACE_RULE_GO_START, 5, 5, go_start},
    {GOTRACE_RULE_GO_RUNNING, 5, LAST_V1, go_running},
    {GOTRACE_RULE_GO_RUNNING, GOTRACE_FIRST_V2, GEN_NEWEST, go_running_v2},
    {GOTRACE_RULE_GO_UNBLOCK, 5, 5, go_unblock},
    {GOTRACE_RULE_GO_SYSEXIT, 7, LAST_V1, go_sysexit},
    {GOTRACE_RULE_GO_SYSEXIT, GOTRACE_FIRST_V2, GEN_NEWEST, go_sysexit_v2},
    {GOTRACE_RULE_CONTEXT, GOTRACE_FIRST_V2, GEN_NEWEST, context},
    {GOTRACE_RULE_STATUS_PROC, GOTRACE_FIRST_V2, GEN_NEWEST, status_proc},
    {GOTRACE_RULE_STATUS_GOROUTINE, GOTRACE_FIRST_V2, GEN_NEWEST, status_goroutine},
    {GOTRACE_RULE_PROC_STEAL, GOTRACE_FIRST_V2, GEN_NEWEST, proc_steal},
    {GOTRACE_RULE_RANGE, GOTRACE_FIRST_V2, GEN_NEWEST, range},
    {GOTRACE_RULE_BEGIN_MISSING, 11, GEN_NEWEST, begin_missing},
    {GOTRACE_RULE_TASK_CREATE, 11, GEN_NEWEST, task_create},
    {GOTRACE_RULE_REGION_END, 11, GEN_NEWEST, region_end},
    {GOTRACE_RULE_REGION_MODE, 11, LAST_V1, region_mode},
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

void gen_defect_plant(gen_defect *d, gotrace_rule rule)
{
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].rule == rule && rows[i].since <= d->version && d->version <= rows[i].until) {
            rows[i].plant(d);
            return;
        }
}
