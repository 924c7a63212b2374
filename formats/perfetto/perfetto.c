/*
 * perfetto.c - a trace as a Perfetto file, for https://ui.perfetto.dev and trace_processor.
 *
 * The output has one process, named after the program (program.c), with the tracks below. If the
 * trace is of several processes (processes.h), each of the others is a process with its goroutines.
 *
 *   added tracks        perfetto_options.tracks: slices (category path; annotation details)
 *   Procs               a group; in it, ordered by id:
 *     P0, P1, ...       a slice "G12 main.worker" (category run) for each run of a goroutine, with
 *                       the stacks where it resumed and where it stopped (annotation label: the
 *                       runtime's label, if any); inside it "GC sweep" (category gc; annotations
 *                       swept_bytes, reclaimed_bytes); instants "unblock", "create goroutine", and
 *                       "syscall" for calls that did not block. Events without a proc are on the
 *                       track "no proc". In v2 a run includes system calls as long as the goroutine
 *                       keeps the proc.
 *   Goroutines          a group; in it, ordered by id:
 *     G12 main.worker   its states as adjacent slices: "running", "runnable", "waiting", "in
 *                       syscall", with the reason in brackets if it is known ("waiting (chan
 *                       receive)"), and the stack where the goroutine stopped. If the function in
 *                       the track's name is shortened, the first slice has the full name as
 *                       annotation function
 *       regions and logs  nested regions (category region), and logs as instants "[category]
 *                       message" (category log; annotations category, message)
 *       regions without a begin  a track for each region whose begin is not in the trace: from the
 *                       start of the trace or of the goroutine (annotation begin), merged by name
 *   System goroutines   the same for goroutines of the runtime, as far as that is known at their
 *                       first event; can be omitted
 *   M12345, ...         v2: threads, by the operating system's id; a slice "P3" (category proc)
 *                       while the thread has that proc, and "G12 main.worker" (syscall) while its
 *                       goroutine has no proc, because it was taken during a system call.
 *                       Optionally only slices "G12 main.worker" (run) while the goroutine is on
 *                       the thread: its runs, and system calls to their ends
 *   GC                  GC cycles: slices "GC" (category gc); in it, merged by name:
 *     stop-the-world    "stop-the-world (reason)"; until Go 1.9 one for each proc
 *     mark assists      "GC mark assist" (annotation goroutine)
 *   Tasks               a group; in it a track for each task, named after its type and merged by
 *                       name, with the tracks of its child tasks below it; on each one slice (task;
 *                       annotations task, parent_task, goroutine). A task whose begin is not in the
 *                       trace is "task 12", from the start of the trace (annotation begin)
 *   Stats               counters: "goroutines runnable", "... running", "... waiting", "... in
 *                       syscall" (in bursts, written once every 0.2 ms); "heap allocated", "heap
 *                       goal" (bytes), "GOMAXPROCS"; v2: "threads busy", the number of threads that
 *                       have a goroutine, including those in system calls
 *
 * Tasks, their regions and their logs have the task id as annotation task and as correlation id.
 * Flows lead from "unblock" and "create goroutine", and from the end of a system call (the
 * "runnable" after it), to the resulting run. CPU samples are perf samples: cpu is the proc, the
 * thread is the runtime's M. No trace contains the process id, and v1 does not contain thread ids;
 * both are made up.
 *
 * Of several traces, each is a process with tracks, sequences and ids of its own; they follow each
 * other in the file.
 *
 * With a detail, what is shorter is merged with its neighbours (detail.c): "mostly waiting" (one of
 * the states), "short runs", ... (annotations waiting, waiting_ns, ...: their number and sum).
 * Tracks of which all is merged are on "short goroutines" and "short tasks". There are no flows.
 *
 * Times are nanoseconds since the first event. From Go 1.25 on, if the trace has clock snapshots,
 * they are times of the monotonic clock, and a snapshot relates it to real time, so that the trace
 * can be aligned with a kernel trace. Interned data are in the packet of the first event that
 * refers to them. The ends of slices do not have the flag that requires the incremental state,
 * because they do not refer to it. With --from, state is tracked from the start of the trace;
 * whatever is open when a time range begins or ends, begins or ends there. Timestamps never
 * decrease, except for slices without a begin: an event with an earlier time gets the time of the
 * packet before. Whatever is open when the trace ends is closed there.
 */
#include <errno.h>
#include <stdio.h>

#include "formats/perfetto/perfetto.h"

/* Output per epoch: the incremental state is then cleared, so that a reader can start there. */
static const uint64_t EPOCH_BYTES = 64 << 20;

/* ---- packets ------------------------------------------------------------------------------- */

_Static_assert(OUT_BUFFER - OUT_BLOCK > 3 * EVENT_MOST, "room for the events of one call");

static void head_init(perfetto *p, perfetto_head *head, unsigned flags)
{
    uint8_t bytes[sizeof head->bytes + PROTOBUF_NUMBER];
    uint8_t *at = protobuf_put_tag(bytes, TRACE_PACKET, PROTOBUF_BYTES);

    *at++ = 0;
    at = protobuf_put_uint(at, PACKET_SEQUENCE_ID, SEQUENCE_EVENTS + p->index * SEQUENCES);
    if (flags)
        at = protobuf_put_uint(at, PACKET_SEQUENCE_FLAGS, flags);
    at = protobuf_put_tag(at, PACKET_TIMESTAMP, PROTOBUF_VARINT);
    memcpy(head->bytes, bytes, sizeof head->bytes);
    head->size = (uint8_t)(at - bytes);
}

static void begin_now_init(perfetto *p)
{
    const uint8_t rest[5] = {0, PACKET_TRACK_EVENT << 3 | PROTOBUF_BYTES, 0,
                             EVENT_TYPE << 3 | PROTOBUF_VARINT, SLICE_BEGIN};

    memcpy(p->begin_now.bytes, p->head.bytes, p->head.size);
    memcpy(p->begin_now.bytes + p->head.size, rest, sizeof rest);
    p->begin_now.size = (uint8_t)(p->head.size + sizeof rest);
}

static void entries_close(perfetto *p)
{
    protobuf_close(&p->w, p->entries);
    p->entries = 0;
    packet_set_limit(p);
}

void packet_settle(perfetto *p)
{
    if (!p->entries)
        return;
    entries_close(p);
    packet_close(p);
}

void packet_open(perfetto *p, unsigned sequence, unsigned flags)
{
    if (p->entries && sequence == SEQUENCE_EVENTS && flags != FLAG_STATE_CLEARED) {
        entries_close(p);
        return;
    }
    packet_settle(p);
    p->packet = protobuf_open(&p->w, TRACE_PACKET);
    protobuf_uint(&p->w, PACKET_SEQUENCE_ID, sequence + p->index * SEQUENCES);
    if (flags)
        protobuf_uint(&p->w, PACKET_SEQUENCE_FLAGS, flags);
}

/* Passes blocks that are full, and ends the epoch if it is large enough. */
static void packet_flush(perfetto *p)
{
    protobuf_flush_block(&p->w);
    uint64_t bytes = p->w.out->written - p->epoch_start;
    /* Data in use is interned again, so not before events take as many bytes as interned data. */
    if (bytes >= EPOCH_BYTES && bytes / 2 >= p->entry_bytes)
        p->epoch_ends = true;
}

void packet_closed(perfetto *p)
{
    /* The tag before the length takes one byte. */
    if (p->before_window && !p->w.failed)
        p->w.used = p->packet - 1;
    if (p->w.used >= OUT_BLOCK)
        packet_flush(p);
}

perfetto_put event_put_slowly(perfetto *p, const perfetto_head *head, unsigned type,
                              protobuf_field track)
{
    bool waiting = p->entries;

    if (waiting)
        packet_open(p, SEQUENCE_EVENTS, FLAG_NEEDS_STATE);
    else if (p->w.used >= OUT_BLOCK)
        packet_flush(p);
    protobuf_room(&p->w, 2 * EVENT_MOST);
    p->detail.rest = p->w.used;
    p->detail.has_data = waiting;
    p->detail.written = p->written;
    uint8_t *at = protobuf_at(&p->w);
    if (waiting) {
        at = protobuf_put_tag(at, PACKET_TIMESTAMP, PROTOBUF_VARINT);
    } else {
        p->packet = (size_t)(at + 1 - p->w.bytes);
        memcpy(at, head->bytes, sizeof head->bytes);
        at += head->size;
    }
    perfetto_put put = event_put_track(p, at, type, track);
    if (p->detail.least) {
        p->detail.type = type;
        p->detail.track = protobuf_field_value(track) - p->base;
        p->detail.body = (size_t)(put.at - p->w.bytes);
    }
    return put;
}

void event_open(perfetto *p, unsigned type, protobuf_field track)
{
    event_hold(p, event_put(p, &p->head, type, track));
}

void event_open_named(perfetto *p, unsigned type, protobuf_field track, protobuf_field category,
                      protobuf_field name, protobuf_field stack)
{
    event_hold(p, event_put_named(p, type, track, category, name, stack));
}

void event_open_earlier(perfetto *p, int64_t time, unsigned type, uint64_t track)
{
    packet_open(p, SEQUENCE_EVENTS, FLAG_NEEDS_STATE);
    if (time == p->time) {
        packet_timestamp(p);
    } else {
        /* Not on the clock of the sequence, whose timestamps are deltas. */
        protobuf_uint(&p->w, PACKET_TIMESTAMP, p->zero + (uint64_t)time);
        protobuf_uint(&p->w, PACKET_CLOCK_ID, p->clock);
    }
    p->event = protobuf_open(&p->w, PACKET_TRACK_EVENT);
    protobuf_uint(&p->w, EVENT_TYPE, type);
    protobuf_uint(&p->w, EVENT_TRACK_UUID, p->base + track);
}

void event_annotate_uint(perfetto *p, unsigned name, uint64_t value)
{
    size_t annotation = protobuf_open(&p->w, EVENT_DEBUG_ANNOTATIONS);

    protobuf_uint(&p->w, ANNOTATION_NAME_IID, name);
    protobuf_uint(&p->w, ANNOTATION_UINT, value);
    protobuf_close(&p->w, annotation);
}

void event_annotate_string(perfetto *p, unsigned name, perfetto_name value)
{
    size_t annotation = protobuf_open(&p->w, EVENT_DEBUG_ANNOTATIONS);

    protobuf_uint(&p->w, ANNOTATION_NAME_IID, name);
    if (value.iid)
        protobuf_uint(&p->w, ANNOTATION_STRING_VALUE_IID, value.iid);
    else
        protobuf_string(&p->w, ANNOTATION_STRING, value.text, value.size);
    protobuf_close(&p->w, annotation);
}

void event_name(perfetto *p, perfetto_name name)
{
    if (name.iid)
        protobuf_uint(&p->w, EVENT_NAME_IID, name.iid);
    else
        protobuf_string(&p->w, EVENT_NAME, name.text, name.size);
}

/* ---- epochs -------------------------------------------------------------------------------- */

static void write_defaults(perfetto *p)
{
    enum {
        TIMESTAMP_CLOCK_ID = 58,
        TRACK_EVENT_DEFAULTS = 11,
        PERF_SAMPLE_DEFAULTS = 12,
        TIMEBASE = 1,
        TIMEBASE_COUNTER = 4,
        COUNTER_CPU_CLOCK = 1,
        TIMEBASE_NAME = 10,
    };
    static const char timebase[] = "CPU time";
    size_t defaults = protobuf_open(&p->w, PACKET_DEFAULTS);

    protobuf_uint(&p->w, TIMESTAMP_CLOCK_ID, CLOCK_SEQUENCE);
    size_t events = protobuf_open(&p->w, TRACK_EVENT_DEFAULTS);
    for (uint64_t track = TRACK_RUNNABLE; wants(p, PART_COUNTERS) && track <= TRACK_THREADS;
         track++)
        protobuf_uint(&p->w, EVENT_EXTRA_COUNTER_TRACK_UUIDS, p->base + track);
    protobuf_close(&p->w, events);
    size_t samples = protobuf_open(&p->w, PERF_SAMPLE_DEFAULTS);
    size_t clock = protobuf_open(&p->w, TIMEBASE);
    protobuf_uint(&p->w, TIMEBASE_COUNTER, COUNTER_CPU_CLOCK);
    protobuf_string(&p->w, TIMEBASE_NAME, timebase, sizeof timebase - 1);
    protobuf_close(&p->w, clock);
    protobuf_close(&p->w, samples);
    protobuf_close(&p->w, defaults);
}

static void write_clock(perfetto *p, unsigned id, uint64_t zero)
{
    enum { CLOCKS = 1, CLOCK_ID = 1, TIMESTAMP = 2, IS_INCREMENTAL = 3 };
    size_t clock = protobuf_open(&p->w, CLOCKS);

    protobuf_uint(&p->w, CLOCK_ID, id);
    protobuf_uint(&p->w, TIMESTAMP, zero + (uint64_t)p->time);
    if (id == CLOCK_SEQUENCE)
        protobuf_uint(&p->w, IS_INCREMENTAL, true);
    protobuf_close(&p->w, clock);
}

/* Describes the clock of the sequence, whose timestamps are deltas, starting at the current
 * time. */
static void write_clocks(perfetto *p)
{
    enum { PRIMARY_TRACE_CLOCK = 2 };
    size_t snapshot = protobuf_open(&p->w, PACKET_CLOCK_SNAPSHOT);

    write_clock(p, p->clock, p->zero);
    write_clock(p, CLOCK_SEQUENCE, 0);
    if (p->wall)
        write_clock(p, CLOCK_REALTIME_ID, p->wall);
    protobuf_uint(&p->w, PRIMARY_TRACE_CLOCK, p->clock);
    protobuf_close(&p->w, snapshot);
    p->written = p->time;
}

/* Finds the system clocks' times at time 0, from the clock snapshot and the ticks of this event.
 * Implausible values are ignored. */
static void find_zero(perfetto *p)
{
    enum { MOST_SECONDS = 1 << 30, NANO = 1000000000 };
    static const uint64_t most = (uint64_t)MOST_SECONDS * NANO;
    const uint64_t *c = p->clocks;
    uint64_t zero = gotrace_reader_summary(p->feed.reader)->start;

    if (p->alignment == ALIGNED_NOT)
        return;
    if (!p->has_clocks || zero > most || c[0] > most || c[1] > most)
        return;
    if (zero + c[1] < c[0])
        return;
    p->clock = CLOCK_MONOTONIC_ID;
    p->zero = zero + c[1] - c[0];
    uint64_t wall = c[2] < 4 * (uint64_t)MOST_SECONDS && c[3] < NANO ? c[2] * NANO + c[3] : 0;
    if (zero + wall > c[0])
        p->wall = wall ? zero + wall - c[0] : 0;
    if (p->alignment == ALIGNED_REALTIME) {
        p->clock = CLOCK_REALTIME_ID;
        p->zero = p->wall;
        p->wall = 0;
    }
}

void perfetto_restart(perfetto *p)
{
    detail_settle(p);
    p->epoch++;
    p->epoch_start = p->w.out->written;
    p->entry_bytes = 0;
    packet_open(p, SEQUENCE_EVENTS, FLAG_STATE_CLEARED);
    write_defaults(p);
    write_clocks(p);
    packet_close(p);
    intern_restart(p);
    tracks_restart(p);
}

/* ---- events -------------------------------------------------------------------------------- */

void metric_write(perfetto *p, size_t metric)
{
    uint64_t value = p->metrics[metric].value;

    event_open(p, COUNTER, refer_to_track(p, TRACK_HEAP_ALLOCATED + metric));
    /* Counter values are signed. */
    if (value <= INT64_MAX)
        protobuf_uint(&p->w, EVENT_COUNTER_VALUE, value);
    else
        protobuf_double(&p->w, EVENT_DOUBLE_COUNTER_VALUE, (double)value);
    event_close(p);
}

static void metric_event(perfetto *p, const gotrace_event *e)
{
    static const uint8_t tracks[GOTRACE_METRICS] = {
        [GOTRACE_METRIC_GOMAXPROCS] = TRACK_GOMAXPROCS,
        [GOTRACE_METRIC_HEAP_ALLOCATED] = TRACK_HEAP_ALLOCATED,
        [GOTRACE_METRIC_HEAP_GOAL] = TRACK_HEAP_GOAL,
    };
    const unsigned track = gotrace_event_metric(e) < GOTRACE_METRICS
                               ? tracks[gotrace_event_metric(e)]
                               : 0;

    if (track == 0 || !wants(p, PART_COUNTERS))
        return;
    p->metrics[track - TRACK_HEAP_ALLOCATED].known = true;
    p->metrics[track - TRACK_HEAP_ALLOCATED].value = gotrace_event_value(e);
    metric_write(p, track - TRACK_HEAP_ALLOCATED);
}

/* A system call that did not block. */
static void syscall_event(perfetto *p, const gotrace_event *e)
{
    const perfetto_proc *proc = wants(p, PART_PROCS) ? proc_get(p, e->proc) : NULL;

    if (!proc)
        return;
    protobuf_field stack = intern_stack(p, e->stack);
    p->detail.merged = MERGED_CALL;
    event_write(p, INSTANT, proc->track_field, 0, refer_to_name(NAME_CALL), stack);
}

static void sample_event(perfetto *p, const gotrace_event *e)
{
    enum { CPU = 1, SAMPLE_PID, TID, CALLSTACK_IID, CPU_MODE, TIMEBASE_COUNT, MODE_USER = 2 };
    perfetto_proc *proc = wants(p, PART_SAMPLES) ? proc_get(p, e->proc) : NULL;

    if (!proc)
        return;
    uint64_t stack = protobuf_field_value(intern_stack(p, e->stack));
    bool given = p->version >= GOTRACE_FIRST_V2;
    const perfetto_thread *thread = thread_get(p, given ? e->thread : proc->thread, e->proc);
    if (!thread)
        return;
    packet_open(p, SEQUENCE_EVENTS, FLAG_NEEDS_STATE);
    packet_timestamp(p);
    size_t sample = protobuf_open(&p->w, PACKET_PERF_SAMPLE);
    if (e->proc >= 0 && e->proc <= INT32_MAX)
        protobuf_uint(&p->w, CPU, (uint64_t)e->proc);
    protobuf_uint(&p->w, SAMPLE_PID, p->pid);
    protobuf_uint(&p->w, TID, thread->tid);
    if (stack)
        protobuf_uint(&p->w, CALLSTACK_IID, stack);
    protobuf_uint(&p->w, CPU_MODE, MODE_USER);
    protobuf_uint(&p->w, TIMEBASE_COUNT, ++proc->samples);
    protobuf_close(&p->w, sample);
    packet_close(p);
}

/* Starts the file at the first event, because only then are the stacks known that identify the
 * program. */
static void start(perfetto *p, const char *name)
{
    if (p->started)
        return;
    program_name(p, name);
    if (p->alignment != ALIGNED_ALONE && strcmp(p->program, name) != 0) {
        size_t used = strlen(p->program);
        snprintf(p->program + used, sizeof p->program - used, " (%s)", name);
    }
    perfetto_restart(p);
    p->started = true;
}

static void sync_event(perfetto *p, const gotrace_event *e)
{
    if (!(e->flags & GOTRACE_EVENT_CLOCKS) || p->has_clocks)
        return;
    memcpy(p->clocks, gotrace_event_details(e)->args, sizeof p->clocks);
    p->has_clocks = true;
}

/* v2: the event's stack is that of its goroutine or, of a status, its subject. */
static inline void name_goroutine(perfetto *p, const gotrace_event *e)
{
    bool status = e->flags & GOTRACE_EVENT_INITIAL;
    uint64_t id = status ? e->subject : e->goroutine;
    perfetto_goroutine *g = idmap_find(&p->goroutines, id);

    if (g && !g->function)
        goroutine_name(p, id, g, e->stack);
}

static void write_event(perfetto *p, const gotrace_event *e)
{
    if (e->time > p->time) {
        state_advance(p, e->time);
        p->time = e->time;
    }
    if (e->flags & GOTRACE_EVENT_FUTILE)
        return;
    if (p->feed.generation_index != p->generation_index)
        intern_generation(p);
    p->generation_index = p->feed.generation_index;
    if (p->epoch_ends)
        perfetto_restart(p);
    switch (e->flags & GOTRACE_EVENT_NO_BEGIN ? GOTRACE_KIND_NONE : (gotrace_kind)e->kind) {
    case GOTRACE_KIND_NONE:
    case GOTRACE_KIND_SYNC:
    case GOTRACE_KIND_EXPERIMENT: break;
    case GOTRACE_KIND_TRANSITION:
        /* A status "not existing" has no meaning. */
        if (e->to == GOTRACE_STATE_UNDETERMINED)
            break;
        if (e->resource == GOTRACE_RESOURCE_GOROUTINE)
            goroutine_transition(p, e);
        else if (e->resource == GOTRACE_RESOURCE_PROC)
            proc_transition(p, e);
        break;
    case GOTRACE_KIND_LABEL: label_event(p, e); break;
    case GOTRACE_KIND_SYSCALL: syscall_event(p, e); break;
    case GOTRACE_KIND_METRIC: metric_event(p, e); break;
    case GOTRACE_KIND_RANGE_BEGIN:
    case GOTRACE_KIND_RANGE_ACTIVE:
    case GOTRACE_KIND_RANGE_END: range_event(p, e); break;
    case GOTRACE_KIND_TASK_BEGIN:
    case GOTRACE_KIND_TASK_END: task_event(p, e); break;
    case GOTRACE_KIND_REGION_BEGIN:
    case GOTRACE_KIND_REGION_END: region_event(p, e); break;
    case GOTRACE_KIND_LOG: log_event(p, e); break;
    case GOTRACE_KIND_SAMPLE: sample_event(p, e); break;
    }
    if (e->stack && p->version >= GOTRACE_FIRST_V2 && e->kind != GOTRACE_KIND_SAMPLE)
        name_goroutine(p, e);
}

/* Whether the event is not after the end of the last time range. Begins and ends ranges: each
 * begins at the first event that is not before its start. */
static bool in_window(perfetto *p, const gotrace_event *e)
{
    int64_t time = e->time > p->time ? e->time : p->time;

    for (;;) {
        if (p->before_window && time >= p->from)
            window_begin(p);
        if (!p->to || time < p->to)
            return true;
        if (p->window_count == 0)
            break;
        window_end(p);
    }
    state_advance(p, p->to);
    p->time = p->to;
    return false;
}

/* *beyond: events after the time range are left. */
static gotrace_status write_events(perfetto *p, const convert_job *job, bool *beyond)
{
    const gotrace_event *event;
    gotrace_status status;
    bool whole = !window_follows(p) && p->to == 0;

    while ((status = feed_next(&p->feed, &event)) == GOTRACE_EVENT) {
        if (event->kind == GOTRACE_KIND_SYNC) {
            sync_event(p, event);
            continue;
        }
        if (!p->started) {
            find_zero(p);
            start(p, job->name);
        }
        if (!whole && !in_window(p, event)) {
            *beyond = true;
            return status;
        }
        if (!system_goroutines_pass(&p->system, event))
            write_event(p, event);
        /* The output has failed; the caller reports why. */
        if (p->w.out->failed)
            return GOTRACE_END;
    }
    return status;
}

static gotrace_status convert_to_perfetto(const convert_job *job)
{
    const perfetto_options *options = job->options;
    const perfetto_window of_job = {job->from, job->to};
    const bool given = options && options->windows;
    perfetto p = {.clock = CLOCK_BOOTTIME_ID};
    feed_init(&p.feed, job->reader, false, job->threads);
    p.pid = PERFETTO_PID;
    if (job->series) {
        p.alignment = job->series->alignment;
        p.index = job->series->index;
        p.base = job->series->tracks;
        p.pid += (uint64_t)p.index * PERFETTO_PIDS;
    }
    p.parts = job->parts ? job->parts : ~0U;
    p.windows = given ? options->windows : &of_job;
    p.window_count = given ? options->window_count : 1;
    window_next(&p);
    p.before_window = p.from > 0;
    p.thread_runs = options && options->thread_runs;
    gotrace_status status = GOTRACE_END;
    bool beyond = false;

    /* If indexing fails, reading reports the same error. */
    gotrace_reader_index(job->reader);
    p.version = gotrace_reader_summary(job->reader)->version;
    head_init(&p, &p.head, FLAG_NEEDS_STATE);
    head_init(&p, &p.head_of_end, 0);
    begin_now_init(&p);
    detail_init(&p, options ? options->detail : 0);
    packet_set_limit(&p);
    intern_init(&p);
    state_init(&p);
    idmap_init(&p.process_tracks, sizeof(perfetto_process));
    system_goroutines_init(&p.system, job, &p.feed, true);
    if (p.system.failed) {
        out_fail(job->out, ENOMEM);
    } else if (protobuf_init(&p.w, job->out)) {
        status = write_events(&p, job, &beyond);
        start(&p, job->name);
        state_end(&p);
        tasks_end(&p);
        detail_settle(&p);
        packet_settle(&p);
        /* No event is in the time range: show the state at its beginning. */
        if (p.before_window) {
            p.before_window = false;
            packet_set_limit(&p);
            perfetto_restart(&p);
            packet_settle(&p);
        }
        if (options && options->tracks)
            added_tracks(&p, options->tracks);
        protobuf_flush(&p.w);
    }
    /* Check the rest: the verdict must not depend on the time range. This frees the names of the
     * feed, which what was written needs. */
    if (beyond)
        status = feed_check(&p.feed);
    if (job->series)
        job->series->tracks += p.tracks;
    protobuf_free(&p.w);
    user_free(&p);
    state_free(&p);
    detail_free(&p);
    system_goroutines_free(&p.system);
    idmap_free(&p.process_tracks);
    intern_free(&p);
    feed_free(&p.feed);
    return status;
}

const format format_perfetto = {
    .name = "perfetto",
    .extensions = (const char *const[]){".pftrace", ".perfetto-trace", ".perfetto", NULL},
    .summary = "timeline for ui.perfetto.dev and trace_processor",
    .binary = true,
    .several = true,
    /* Measured with trace_processor v55: 5 to 7 bytes of memory per byte of timeline, for timelines
     * of 75 to 560 MB. It has 4 GiB, and 16 GiB in browsers with 64-bit WebAssembly; what is shown
     * needs some of it, too. */
    .viewer_bytes = 350000000,
    .viewer = "the Perfetto UI in a browser without 64-bit WebAssembly",
    /* Traces of 12 to 172 MB of Go 1.19 to 1.27: 8.8 to 13 at a load of 3 to 8, 4.8 at rest. */
    .growth = {4.8, 13},
    .run = convert_to_perfetto,
};
