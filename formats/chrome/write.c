/*
 * write.c - records to the JSON of the Trace Event Format.
 *
 * The members of an event have the order in which Go's tool writes them. Each event is on one line,
 * so that line-oriented tools can process large files.
 */
#include "formats/chrome/chrome.h"
#include "formats/common/functions.h"
#include "gotrace_experimental.h"

#include <string.h>

/* Times are microseconds with three decimals. */
static void write_time(out *o, uint64_t ns)
{
    unsigned rest = (unsigned)(ns % 1000);

    out_u64(o, ns / 1000);
    if (rest > 0) {
        char decimals[4] = {'.', (char)('0' + rest / 100), (char)('0' + rest / 10 % 10),
                            (char)('0' + rest % 10)};
        out_bytes(o, decimals, sizeof decimals);
    }
}

/* The time of an event. Its text is cached, because consecutive events often have the same time. */
static void write_ts(chrome_writer *w, uint64_t ns)
{
    out *o = w->o;

    if (ns == w->time && w->time_size > 0) {
        out_bytes(o, w->time_text, w->time_size);
        return;
    }
    uint64_t written = o->written;
    size_t before = o->used;
    write_time(o, ns);
    /* The text is still in the buffer unless the buffer was flushed meanwhile. */
    bool there = o->written == written && o->used > before;
    w->time = ns;
    w->time_size = there ? (uint32_t)(o->used - before) : 0;
    memcpy(w->time_text, o->buffer + o->used - w->time_size, w->time_size);
}

/* Go's tools for v1 and v2 have different names for the same things. */
static const char *range_name(gotrace_range range, bool v2)
{
    const gotrace_range_spec *spec = gotrace_range_spec_of(range);
    return v2 ? spec->go_name : spec->name;
}

static const char *fixed_name(chrome_name name, bool v2)
{
    switch (name) {
    case CHROME_NAME_TEXT:
    case CHROME_NAME_RUN: return "";
    case CHROME_NAME_STW: return range_name(GOTRACE_RANGE_STW, v2);
    case CHROME_NAME_UNBLOCK: return "unblock";
    case CHROME_NAME_GC: return range_name(GOTRACE_RANGE_GC, v2);
    case CHROME_NAME_SWEEP: return range_name(GOTRACE_RANGE_SWEEP, v2);
    case CHROME_NAME_ASSIST: return range_name(GOTRACE_RANGE_MARK_ASSIST, v2);
    case CHROME_NAME_SYSCALL: return "syscall";
    case CHROME_NAME_SYSEXIT: return "exit blocked syscall";
    case CHROME_NAME_GO: return "go";
    case CHROME_NAME_NEW_TASK: return "newTask";
    case CHROME_NAME_PROC_START: return "proc start";
    case CHROME_NAME_PROC_STOP: return "proc stop";
    case CHROME_NAME_TASK_START: return "task start";
    case CHROME_NAME_TASK_END: return "task end";
    case CHROME_NAME_SAMPLE: return "CPU profile sample";
    }
    return "";
}

/* The text after a goroutine's number: its start function and label. */
static void write_start(chrome_writer *w, uint64_t start, uint64_t label_text)
{
    size_t size, label_size;
    const char *label = chrome_frames_text(w->frames, label_text, &label_size);

    if (w->version < FIRST_START_STACK) {
        if (start != 0) {
            out_str(w->o, " 0x");
            out_hex(w->o, start);
        }
        return;
    }
    const char *function = chrome_frames_function(w->frames, (uint32_t)start, &size);
    if (size > 0) {
        out_char(w->o, ' ');
        out_json_text(w->o, function, size);
    }
    if (label_size > 0) {
        out_str(w->o, " (");
        out_json_text(w->o, label, label_size);
        out_char(w->o, ')');
    }
}

/* "G7 main.worker": a goroutine's number and start function. */
static void write_run(chrome_writer *w, const chrome_record *record)
{
    bool v2 = w->frames->by_generation;
    uint64_t start = record->values[v2 ? CHROME_A : CHROME_START];
    uint64_t label = v2 ? record->values[CHROME_B] : 0;
    chrome_run_name *known = &w->names[(start ^ label) % CHROME_RECENT];
    out *o = w->o;

    out_char(o, 'G');
    out_u64(o, record->values[CHROME_SUBJECT]);
    if (known->size > 0 && known->start == start && known->label == label) {
        out_bytes(o, known->text, known->size);
        return;
    }
    uint64_t written = o->written;
    size_t before = o->used;
    write_start(w, start, label);
    /* Cache the text if it is short and still in the buffer. */
    if (o->written != written || o->used <= before || o->used - before > CHROME_SHORT)
        return;
    *known = (chrome_run_name){start, label, (uint32_t)(o->used - before), ""};
    memcpy(known->text, o->buffer + before, known->size);
}

/* The name of a record, without quotes. */
static void write_name(chrome_writer *w, const chrome_record *record, const char *text)
{
    bool task = record->op == CHROME_TASK ||
                (record->op == CHROME_ROW && record->values[CHROME_PID] == CHROME_PID_TASKS);

    if (record->name == CHROME_NAME_TEXT) {
        /* A task without a name is named by its number. */
        if (record->op == CHROME_ROW && task) {
            out_char(w->o, 'T');
            out_u64(w->o, record->values[CHROME_TID]);
            out_char(w->o, ' ');
        } else if (task && record->text_size == 0) {
            out_char(w->o, 'T');
            out_u64(w->o, record->values[CHROME_SUBJECT]);
        }
        out_json_text(w->o, text, record->text_size);
        return;
    }
    if (record->name == CHROME_NAME_RUN)
        write_run(w, record);
    else
        out_str(w->o, fixed_name((chrome_name)record->name, w->frames->by_generation));
    if (record->text_size > 0) {
        out_str(w->o, " (");
        out_json_text(w->o, text, record->text_size);
        out_char(w->o, ')');
    }
}

/* Most JSON readers reject integers above 63 bits, or round them to doubles. */
static inline void write_number(out *o, uint64_t value)
{
    if (value <= INT64_MAX)
        out_u64(o, value);
    else
        out_printf(o, "%.17g", (double)value);
}

/* Inline, so that the compiler knows the length of the constant key. */
#define WRITE_KEY(o, key, value) (out_str(o, ",\"" key "\":"), write_number(o, value))

static inline uint32_t frame_of(chrome_writer *w, uint64_t stack)
{
    chrome_frames_use(w->frames, (uint32_t)stack);
    return (uint32_t)stack;
}

static void write_stack(chrome_writer *w, uint64_t stack)
{
    uint32_t frame = frame_of(w, stack);

    if (frame != 0)
        WRITE_KEY(w->o, "sf", frame);
}

static void write_place(out *o, uint64_t pid, uint64_t tid)
{
    WRITE_KEY(o, "pid", pid);
    WRITE_KEY(o, "tid", tid);
}

static inline void write_start_of_line(chrome_writer *w)
{
    if (w->started)
        out_str(w->o, ",\n{\"name\":\"");
    else
        out_str(w->o, "\n{\"name\":\"");
    w->started = true;
}

/* The start of an event: a new line, name, phase and the other members before the time. */
static inline void write_head(chrome_writer *w, const chrome_record *record, const char *text,
                              const char *phase)
{
    write_start_of_line(w);
    write_name(w, record, text);
    out_str(w->o, phase);
    write_ts(w, (uint64_t)record->time);
}
#define PHASE(letter) "\",\"ph\":\"" letter "\",\"ts\":"

/* A member of args: a task or region that ended, but whose begin is not in the trace. */
#define UNBEGUN "\"begin\":\"not in the trace\""

static void write_slice(chrome_writer *w, const chrome_record *record, const char *text)
{
    const uint64_t *v = record->values;
    out *o = w->o;

    write_head(w, record, text, PHASE("X"));
    out_str(o, ",\"dur\":");
    write_time(o, v[CHROME_END] - (uint64_t)record->time);
    write_place(o, record->op == CHROME_TASK ? CHROME_PID_TASKS : CHROME_PID_PROCS, v[CHROME_TID]);
    write_stack(w, v[CHROME_STACK]);
    uint32_t end_frame = frame_of(w, v[CHROME_END_STACK]);
    if (end_frame != 0)
        WRITE_KEY(o, "esf", end_frame);
    if (record->op == CHROME_TASK) {
        out_str(o, ",\"args\":{\"id\":");
        write_number(o, v[CHROME_SUBJECT]);
        if (v[CHROME_A] != 0)
            WRITE_KEY(o, "start_g", v[CHROME_A]);
        if (v[CHROME_B] != 0)
            WRITE_KEY(o, "end_g", v[CHROME_B]);
        if (v[CHROME_START] != 0)
            out_str(o, "," UNBEGUN);
        out_char(o, '}');
    } else if (record->name == CHROME_NAME_SWEEP && v[CHROME_A] != 0) {
        out_str(o, ",\"args\":{\"Swept bytes\":");
        write_number(o, v[CHROME_A]);
        WRITE_KEY(o, "Reclaimed bytes", v[CHROME_B]);
        out_char(o, '}');
    } else if (record->name == CHROME_NAME_SYSCALL) {
        out_str(o, v[CHROME_A] != 0 ? ",\"args\":{\"blocked\":\"no\"}"
                                    : ",\"args\":{\"blocked\":\"yes\"}");
    }
    out_char(o, '}');
}

static void write_instant(chrome_writer *w, const chrome_record *record, const char *text)
{
    bool user = record->name == CHROME_NAME_TEXT || record->name == CHROME_NAME_TASK_START ||
                record->name == CHROME_NAME_TASK_END;

    write_head(w, record, text, "\",\"ph\":\"I\",\"s\":\"t\",\"ts\":");
    write_place(w->o, CHROME_PID_PROCS, record->values[CHROME_TID]);
    write_stack(w, record->values[CHROME_STACK]);
    if (record->count > CHROME_THREAD) {
        out_str(w->o, w->by == BY_THREAD ? ",\"args\":{\"proc\":" : ",\"args\":{\"thread\":");
        write_number(w->o, record->values[CHROME_THREAD]);
        out_char(w->o, '}');
    }
    out_str(w->o, user ? ",\"cat\":\"user event\"}" : "}");
}

static inline void write_flow(chrome_writer *w, const chrome_record *record, const char *text,
                              const char *phase)
{
    const uint64_t *v = record->values;

    write_head(w, record, text, phase);
    write_place(w->o, v[CHROME_PID], v[CHROME_TID]);
    WRITE_KEY(w->o, "id", v[CHROME_ID]);
    write_stack(w, v[CHROME_STACK]);
    out_char(w->o, '}');
}

static void write_region(chrome_writer *w, const chrome_record *record, const char *text,
                         char phase)
{
    static const char digits[] = "0123456789abcdef";
    const uint64_t *v = record->values;
    char scope[17];
    size_t at = sizeof scope - 1;

    /* Go's tool identifies regions by task, in hexadecimal, and number. */
    scope[at] = '\0';
    for (uint64_t task = v[CHROME_REGION_TASK]; at == sizeof scope - 1 || task != 0; task >>= 4)
        scope[--at] = digits[task & 15];
    write_start_of_line(w);
    write_name(w, record, text);
    out_str(w->o, "\",\"ph\":\"");
    out_char(w->o, phase);
    out_str(w->o, "\",\"s\":\"");
    out_bytes(w->o, scope + at, sizeof scope - 1 - at);
    out_str(w->o, "\",\"ts\":");
    write_ts(w, (uint64_t)record->time);
    write_place(w->o, CHROME_PID_PROCS, v[CHROME_TID]);
    WRITE_KEY(w->o, "id", v[CHROME_ID]);
    write_stack(w, v[CHROME_STACK]);
    if (phase == 'e' && v[CHROME_REGION_TASK] != 0) {
        out_str(w->o, ",\"args\":{\"taskid\":");
        write_number(w->o, v[CHROME_REGION_TASK]);
        out_char(w->o, '}');
    } else if (phase == 'b' && record->count > CHROME_REGION_UNBEGUN) {
        out_str(w->o, ",\"args\":{" UNBEGUN "}");
    }
    out_str(w->o, ",\"cat\":\"Region\"}");
}

static inline void write_counters(chrome_writer *w, const chrome_record *record, const char *title,
                                  const char *first, const char *second, const char *third)
{
    out *o = w->o;

    write_start_of_line(w);
    out_str(o, title);
    write_ts(w, (uint64_t)record->time);
    out_str(o, first);
    write_number(o, record->values[0]);
    out_str(o, second);
    write_number(o, record->values[1]);
    if (third) {
        out_str(o, third);
        write_number(o, record->values[2]);
    }
    out_str(o, "}}");
}
#define COUNTERS(name)      name "\",\"ph\":\"C\",\"ts\":"
#define FIRST_COUNTER(name) ",\"pid\":1,\"tid\":0,\"args\":{\"" name "\":"
#define NEXT_COUNTER(name)  ",\"" name "\":"

/* Two metadata events: the name of a row or section, and its position. */
static void write_metadata(chrome_writer *w, const chrome_record *record, const char *text)
{
    bool section = record->op == CHROME_SECTION;
    const uint64_t *v = record->values;
    out *o = w->o;

    for (int part = 0; part < 2; part++) {
        write_start_of_line(w);
        out_str(o, section ? "process" : "thread");
        out_str(o, part == 0 ? "_name" : "_sort_index");
        out_str(o, "\",\"ph\":\"M\",\"ts\":");
        write_time(o, (uint64_t)record->time);
        write_place(o, v[CHROME_PID], v[CHROME_TID]);
        if (part == 0) {
            out_str(o, ",\"args\":{\"name\":\"");
            write_name(w, record, text);
            out_str(o, "\"}}");
        } else {
            out_str(o, ",\"args\":{\"sort_index\":");
            out_i64(o, (int64_t)v[CHROME_PLACE]);
            out_str(o, "}}");
        }
    }
}

void chrome_write_record(chrome_writer *w, const chrome_record *record, const char *text)
{
    switch ((chrome_op)record->op) {
    case CHROME_SLICE:
    case CHROME_TASK: write_slice(w, record, text); break;
    case CHROME_ROW:
    case CHROME_SECTION: write_metadata(w, record, text); break;
    case CHROME_INSTANT: write_instant(w, record, text); break;
    case CHROME_FLOW_START: write_flow(w, record, text, PHASE("s")); break;
    case CHROME_FLOW_END: write_flow(w, record, text, PHASE("t")); break;
    case CHROME_REGION_BEGIN: write_region(w, record, text, 'b'); break;
    case CHROME_REGION_END: write_region(w, record, text, 'e'); break;
    case CHROME_HEAP:
        write_counters(w, record, COUNTERS("Heap"), FIRST_COUNTER("Allocated"),
                       NEXT_COUNTER("NextGC"), NULL);
        break;
    case CHROME_GOROUTINES:
        write_counters(w, record, COUNTERS("Goroutines"), FIRST_COUNTER("Running"),
                       NEXT_COUNTER("Runnable"), NEXT_COUNTER("GCWaiting"));
        break;
    case CHROME_THREADS:
        write_counters(w, record, COUNTERS("Threads"), FIRST_COUNTER("Running"),
                       NEXT_COUNTER("InSyscall"), NULL);
        break;
    case CHROME_ROW_END: break;
    }
}

void chrome_write_begin(chrome_writer *w)
{
    out_str(w->o, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
}

void chrome_write_end(chrome_writer *w)
{
    out_str(w->o, "\n],\"stackFrames\":{");
    chrome_frames_write(w->frames, w->o);
    out_str(w->o, "\n}}\n");
}
