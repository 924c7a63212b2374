/*
 * test_perfetto.c - properties of `convert --to perfetto` for every trace of the corpora, whole and
 * truncated: packets in order of time, no reference before its definition, slices that end, states
 * without gaps, flows that begin; with --detail, the same numbers and sums. make conformance checks
 * with Perfetto's engine that viewers accept it.
 */
#include <stdlib.h>
#include <string.h>

#include "absurd.h"
#include "formats/perfetto/perfetto.h"
#include "protobuf_reading.h"
#include "scripting.h"
#include "support.h"
#include "formats/common/utf8.h"
#include "formats/common/vector.h"

/* ---- the export ---------------------------------------------------------------------------- */

/* An open slice: when it began, and what it counts as. */
typedef struct open_slice {
    int64_t begin;
    unsigned merged;
} open_slice;

typedef struct track {
    uint64_t parent;
    int64_t ended;    /* end of the last slice, -1 for none */
    int64_t last;     /* time of the last event */
    int64_t begun[2]; /* begins of the last two slices and instants outside of slices */
    uint32_t open;    /* number of open slices */
    size_t room;
    open_slice *slices;
} track;

/* Of slices and instants, by what --detail merges them as. */
typedef struct totals {
    uint64_t counts[MERGED_COUNT];
    int64_t ns[MERGED_COUNT];
} totals;

typedef struct checker {
    int64_t detail;     /* of --detail; 0: everything is shown */
    int64_t time;       /* of the sequence */
    int64_t event_time; /* of the packet */
    bool cleared;       /* the sequence has begun */
    bool again;         /* its state was cleared after that */
    idmap tracks;       /* uuid -> track */
    idmap flows;        /* set of flows that have begun */
    idmap interned[32]; /* iids -> text, by field of InternedData */
    uint64_t samples, events;
    totals totals;
} checker;

/* Times before the first event. */
static const int64_t LONG_AGO = INT64_MIN / 2;

static void check_text(message text)
{
    size_t size = (size_t)(text.end - text.at);
    MUST(utf8_valid_prefix((const char *)text.at, size) == size);
}

static void check_known(const checker *c, unsigned table, uint64_t iid)
{
    if (!idmap_find(&c->interned[table], iid))
        ck_abort_msg("entry %llu of interned data %u is not defined before",
                     (unsigned long long)iid, table);
}

static void check_entry(checker *c, unsigned table, message entry)
{
    enum { FRAME_FUNCTION = 2, FRAME_MAPPING = 3, FRAME_SOURCE = 5, MAPPING_PATH = 7 };
    uint64_t iid = 0;
    message text = {0};
    field f;

    while (take(&entry, &f)) {
        if (f.number == INTERNED_IID)
            iid = f.value;
        else if (table == INTERNED_CALLSTACKS)
            check_known(c, INTERNED_FRAMES, f.value);
        else if (table == INTERNED_FRAMES && f.number == FRAME_FUNCTION)
            check_known(c, INTERNED_FUNCTION_NAMES, f.value);
        else if (table == INTERNED_FRAMES && f.number == FRAME_MAPPING)
            check_known(c, INTERNED_MAPPINGS, f.value);
        else if (table == INTERNED_FRAMES && f.number == FRAME_SOURCE)
            check_known(c, INTERNED_SOURCE_PATHS, f.value);
        else if (table == INTERNED_MAPPINGS && f.number == MAPPING_PATH)
            check_known(c, INTERNED_MAPPING_PATHS, f.value);
        else if (f.type == PROTOBUF_BYTES)
            check_text(f.content), text = f.content;
    }
    MUST(iid != 0);
    /* defined only once */
    MUST(!idmap_find(&c->interned[table], iid));
    message *entered = idmap_insert(&c->interned[table], iid);
    MUST(entered);
    *entered = text;
}

static bool holds_goroutines(uint64_t group)
{
    return group == TRACK_GOROUTINES || group == TRACK_SYSTEM_GOROUTINES;
}

static void check_track(checker *c, message descriptor)
{
    enum { UUID = 1, NAME = 2, PARENT = 5 };
    uint64_t uuid = 0, parent = 0;
    field f;

    while (take(&descriptor, &f)) {
        if (f.number == UUID)
            uuid = f.value;
        else if (f.number == PARENT)
            parent = f.value;
        else if (f.number == NAME)
            check_text(f.content);
    }
    MUST(uuid != 0);
    MUST(parent == 0 || idmap_find(&c->tracks, parent));
    /* A goroutine's track may be described again with its name. */
    const track *known = idmap_find(&c->tracks, uuid);
    if (known) {
        MUST((holds_goroutines(parent) || c->again) && known->parent == parent);
        return;
    }
    track *t = idmap_insert(&c->tracks, uuid);
    *t = (track){.parent = parent, .ended = -1, .last = LONG_AGO, .begun = {LONG_AGO, LONG_AGO}};
}

static bool is(message text, const char *word)
{
    return (size_t)(text.end - text.at) >= strlen(word) && memcmp(text.at, word, strlen(word)) == 0;
}

/* What a slice or instant counts as; MERGED_NONE: it is a merged one. */
static unsigned counts_as(const checker *c, const track *t, uint64_t category, uint64_t name)
{
    static const uint8_t by_category[] = {
        [CATEGORY_RUN] = MERGED_RUN,        [CATEGORY_PROC] = MERGED_THREAD,
        [CATEGORY_SYSCALL] = MERGED_THREAD, [CATEGORY_GC] = MERGED_GC,
        [CATEGORY_TASK] = MERGED_TASK,      [CATEGORY_REGION] = MERGED_REGION,
        [CATEGORY_LOG] = MERGED_LOG};

    if (category == CATEGORY_RUN && t->parent == TRACK_PROCESS)
        return MERGED_THREAD;
    if (category)
        return by_category[category];
    if (c->detail && name >= NAME_FIRST_FREE && name < NAME_FIRST_FREE + MERGED_COUNT)
        return MERGED_NONE;
    const message *text = idmap_find(&c->interned[INTERNED_EVENT_NAMES], name);
    MUST(text);
    return name == NAME_UNBLOCK      ? MERGED_UNBLOCK
           : name == NAME_CREATE     ? MERGED_CREATE
           : name == NAME_CALL       ? MERGED_CALL
           : is(*text, "runnable")   ? MERGED_RUNNABLE
           : is(*text, "running")    ? MERGED_RUNNING
           : is(*text, "waiting")    ? MERGED_WAITING
           : is(*text, "in syscall") ? MERGED_SYSCALL
                                     : MERGED_NONE;
}

static void check_slice(checker *c, unsigned type, track *t, unsigned merged)
{
    if (type == COUNTER)
        return;
    /* in order of time, unless the begin is not in the trace */
    MUST(c->event_time >= t->last || t->last == LONG_AGO);
    t->last = c->event_time;
    /* --detail: at most two of three begin within that time */
    if (t->open == 0 && type != SLICE_END) {
        MUST(t->begun[0] == LONG_AGO || c->again || c->event_time - t->begun[0] >= c->detail);
        t->begun[0] = t->begun[1];
        t->begun[1] = c->event_time;
    }
    if (type != SLICE_END)
        c->totals.counts[merged]++;
    /* a goroutine's state begins when the one before ends */
    if (type == SLICE_BEGIN && holds_goroutines(t->parent) && t->ended >= 0)
        MUST(t->ended == c->event_time || c->detail || c->again);
    if (type == SLICE_BEGIN) {
        t->slices = vector_room(t->slices, &t->room, t->open, sizeof *t->slices);
        MUST(t->slices);
        t->slices[t->open++] = (open_slice){c->event_time, merged};
    } else if (type == SLICE_END) {
        MUST(t->open > 0);
        const open_slice *slice = &t->slices[--t->open];
        c->totals.ns[slice->merged] += c->event_time - slice->begin;
        t->ended = c->event_time;
    }
    if (holds_goroutines(t->parent))
        MUST(t->open <= 1);
}

/* Adds the number or the sum of what was merged. */
static void add_annotation(checker *c, message annotation)
{
    uint64_t name = 0, value = 0;
    field f;

    while (take(&annotation, &f)) {
        if (f.number == ANNOTATION_NAME_IID)
            name = f.value;
        else if (f.number == ANNOTATION_UINT)
            value = f.value;
    }
    check_known(c, INTERNED_ANNOTATION_NAMES, name);
    if (!c->detail || name < annotation_of_merged(MERGED_NONE + 1))
        return;
    unsigned merged = (unsigned)(name - annotation_of_merged(0)) / 2;
    MUST(merged < MERGED_COUNT);
    if (name == annotation_of_merged(merged))
        c->totals.counts[merged] += value;
    else
        c->totals.ns[merged] += (int64_t)value;
}

/* Returns whether the event refers to more than a track. */
static bool check_event(checker *c, message event)
{
    unsigned type = 0;
    uint64_t uuid = 0, name = 0, category = 0;
    bool refers = false;
    field f;

    while (take(&event, &f)) {
        refers = refers || (f.number != EVENT_TYPE && f.number != EVENT_TRACK_UUID);
        switch (f.number) {
        case EVENT_TYPE: type = (unsigned)f.value; break;
        case EVENT_TRACK_UUID: uuid = f.value; break;
        case EVENT_NAME_IID:
            check_known(c, INTERNED_EVENT_NAMES, f.value);
            name = f.value;
            break;
        case EVENT_CATEGORY_IIDS:
            check_known(c, INTERNED_EVENT_CATEGORIES, f.value);
            category = f.value;
            break;
        case EVENT_DEBUG_ANNOTATIONS: add_annotation(c, f.content); break;
        case EVENT_CALLSTACK_IID: check_known(c, INTERNED_CALLSTACKS, f.value); break;
        case EVENT_NAME: check_text(f.content); break;
        case EVENT_FLOW_IDS:
            MUST(!idmap_find(&c->flows, f.value));
            idmap_insert(&c->flows, f.value);
            break;
        case EVENT_TERMINATING_FLOW_IDS:
            MUST(idmap_find(&c->flows, f.value));
            idmap_remove(&c->flows, f.value);
            break;
        default: break;
        }
    }
    track *t = idmap_find(&c->tracks, uuid);
    if (!t)
        ck_abort_msg("track %llu is not described", (unsigned long long)uuid);
    bool begins = type == SLICE_BEGIN || type == INSTANT;
    check_slice(c, type, t, begins ? counts_as(c, t, category, name) : MERGED_NONE);
    c->events++;
    return refers || type != SLICE_END;
}

/* The time on the clock of the file. */
static uint64_t clock_time(message snapshot)
{
    enum { CLOCKS = 1, TIMESTAMP = 2 };
    uint64_t time = 0;
    field f, g;

    MUST(take(&snapshot, &f) && f.number == CLOCKS);
    while (take(&f.content, &g))
        if (g.number == TIMESTAMP)
            time = g.value;
    return time;
}

static void clear_interned(checker *c)
{
    for (int i = 0; i < 32; i++) {
        idmap_free(&c->interned[i]);
        idmap_init(&c->interned[i], sizeof(message));
    }
}

static void check_packet(checker *c, message packet)
{
    uint64_t flags = 0, sequence = 0, time = 0, clock = 0;
    bool timed = false, event = false, refers = false;
    field f, entry;

    for (message m = packet; take(&m, &f);) {
        if (f.number == PACKET_SEQUENCE_FLAGS)
            flags = f.value;
        else if (f.number == PACKET_SEQUENCE_ID)
            sequence = f.value;
        else if (f.number == PACKET_TIMESTAMP)
            time = f.value, timed = true;
        else if (f.number == PACKET_CLOCK_ID)
            clock = f.value;
        else if (f.number == PACKET_CLOCK_SNAPSHOT)
            c->time = (int64_t)clock_time(f.content);
    }
    if (clock == 0)
        c->time += (int64_t)time;
    c->event_time = clock ? (int64_t)time : c->time;
    MUST(sequence != 0);
    MUST(c->cleared || flags == FLAG_STATE_CLEARED);
    if (flags == FLAG_STATE_CLEARED)
        clear_interned(c);
    c->again = c->again || (c->cleared && flags == FLAG_STATE_CLEARED);
    c->cleared = true;
    while (take(&packet, &f)) {
        if (f.number == PACKET_TRACK_DESCRIPTOR) {
            check_track(c, f.content);
        } else if (f.number == PACKET_INTERNED_DATA) {
            refers = true;
            while (take(&f.content, &entry))
                check_entry(c, entry.number, entry.content);
        } else if (f.number == PACKET_TRACK_EVENT) {
            refers = check_event(c, f.content) || refers;
            event = true;
        } else if (f.number == PACKET_PERF_SAMPLE) {
            c->samples++;
            event = refers = true;
        }
    }
    /* a reader that starts late ignores ends of slices */
    MUST(event == timed && (!refers || flags == FLAG_NEEDS_STATE));
}

static void check_trace(checker *c, const blob *b)
{
    message m = {b->bytes, b->bytes + b->size};
    field f;
    size_t cursor = 0;
    uint64_t uuid;
    void *t;

    idmap_init(&c->tracks, sizeof(track));
    idmap_init(&c->flows, 0);
    for (int i = 0; i < 32; i++)
        idmap_init(&c->interned[i], sizeof(message));
    while (take(&m, &f)) {
        MUST(f.number == TRACE_PACKET);
        check_packet(c, f.content);
    }
    while (idmap_next(&c->tracks, &cursor, &uuid, &t)) {
        MUST(((track *)t)->open == 0);
        free(((track *)t)->slices);
    }
    idmap_free(&c->tracks);
    idmap_free(&c->flows);
    for (int i = 0; i < 32; i++)
        idmap_free(&c->interned[i]);
}

/* Convert the first `size` bytes with that job; false if the header is rejected. */
static bool convert_as(const blob *trace, size_t size, convert_job job, blob *b, uint64_t *samples)
{
    gotrace_source *source;
    gotrace_reader *reader;
    out o;

    if (gotrace_source_memory(trace->bytes, size, NULL, &source, NULL) != GOTRACE_OK)
        return false;
    bool readable = gotrace_reader_open(source, NULL, &reader, NULL) == GOTRACE_OK;
    if (readable) {
        ck_assert(out_init(&o, blob_write, b));
        job.reader = reader;
        job.source = source;
        job.out = &o;
        job.name = "test";
        format_perfetto.run(&job);
        ck_assert(out_flush(&o));
        *samples = gotrace_reader_summary(reader)->samples;
        out_free(&o);
        gotrace_reader_close(reader);
    }
    gotrace_source_close(source);
    return readable;
}

static bool convert(const blob *trace, size_t size, blob *b, uint64_t *samples)
{
    return convert_as(trace, size, (convert_job){0}, b, samples);
}

static void check_prefix(const trace_file *file, size_t size)
{
    checker c = {0};
    blob b = {0};
    uint64_t samples;

    if (convert(&file->content, size, &b, &samples)) {
        check_trace(&c, &b);
        if (size == file->content.size) {
            ck_assert_uint_eq(c.samples, samples);
            ck_assert_uint_gt(c.events, 0);
        }
    }
    blob_free(&b);
}

START_TEST(whole_traces)
{
    trace_file *files = traces_load(400 * 1024);
    for (trace_file *f = files; f->path[0]; f++)
        check_prefix(f, f->content.size);
    traces_free(files);
}
END_TEST

/* Only some parts, a time range, and without the runtime's goroutines. */
START_TEST(narrowed)
{
    enum { MS = 1000000, US = 1000 };
    static const perfetto_options runs = {.thread_runs = true};
    static const convert_job jobs[] = {
        {.no_system = true},
        {.from = MS},
        {.from = 300 * US, .to = 3 * MS, .no_system = true},
        {.to = 100 * US},
        {.from = INT64_MAX},
        {.from = 1, .to = 2},
        {.parts = 1 << PART_PROCS},
        {.parts = 1 << PART_GOROUTINES | 1 << PART_FLOWS, .from = MS},
        {.parts = 1 << PART_REGIONS | 1 << PART_TASKS, .from = 200 * US},
        {.parts = 1 << PART_LOGS | 1 << PART_SAMPLES | 1 << PART_COUNTERS, .from = MS},
        {.parts = 1 << PART_THREADS | 1 << PART_GC, .from = MS},
        {.options = &runs, .from = 300 * US},
        {.options = &runs, .parts = 1 << PART_THREADS},
        {.parts = 1 << PART_THREADS, .no_system = true},
    };
    trace_file *files = traces_load(64 * 1024);

    for (trace_file *f = files; f->path[0]; f++) {
        for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
            checker c = {0};
            blob b = {0};
            uint64_t samples;
            if (convert_as(&f->content, f->content.size, jobs[i], &b, &samples))
                check_trace(&c, &b);
            blob_free(&b);
        }
    }
    traces_free(files);
}
END_TEST

/* With --detail less is shown, but the numbers and sums of slices and instants are the same. */
START_TEST(merged)
{
    static const int64_t details[] = {1, 1000, 100000, 20000000, INT64_MAX};
    static const perfetto_window windows[] = {{300000, 600000}, {700000, 2000000}, {3000000, 0}};
    static const struct {
        unsigned parts;
        int64_t from, to;
        bool thread_runs, several;
    } jobs[] = {{.parts = 0},
                {.from = 300000, .to = 3000000},
                {.thread_runs = true},
                {.several = true},
                {.parts = 1 << PART_REGIONS | 1 << PART_TASKS | 1 << PART_LOGS}};
    trace_file *files = traces_load(400 * 1024);

    for (trace_file *f = files; f->path[0]; f++) {
        for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
            checker whole = {0};
            for (size_t k = 0; k <= sizeof details / sizeof *details; k++) {
                perfetto_options options = {.thread_runs = jobs[i].thread_runs,
                                            .detail = k > 0 ? details[k - 1] : 0};
                if (jobs[i].several) {
                    options.windows = windows;
                    options.window_count = sizeof windows / sizeof *windows;
                }
                convert_job job = {.parts = jobs[i].parts,
                                   .from = jobs[i].from,
                                   .to = jobs[i].to,
                                   .options = &options};
                checker c = {.detail = options.detail};
                blob b = {0};
                uint64_t samples;
                if (convert_as(&f->content, f->content.size, job, &b, &samples))
                    check_trace(&c, &b);
                blob_free(&b);
                if (k == 0)
                    whole = c;
                /* Those of no kind are merged ones, and short goroutines are none of the whole. */
                for (unsigned n = MERGED_NONE + 1; n < MERGED_GOROUTINE; n++) {
                    if (c.totals.counts[n] != whole.totals.counts[n])
                        ck_abort_msg("%s, detail %lld: %llu of kind %u instead of %llu", f->path,
                                     (long long)options.detail,
                                     (unsigned long long)c.totals.counts[n], n,
                                     (unsigned long long)whole.totals.counts[n]);
                    ck_assert_int_eq(c.totals.ns[n], whole.totals.ns[n]);
                }
                ck_assert_uint_eq(c.samples, whole.samples);
            }
        }
    }
    traces_free(files);
}
END_TEST

START_TEST(cut_traces)
{
    trace_file *files = traces_load(8 * 1024);
    for (trace_file *f = files; f->path[0]; f++)
        for (size_t size = 16; size < f->content.size; size += 1 + f->content.size / 20)
            check_prefix(f, size);
    traces_free(files);
}
END_TEST

/* The same input produces the same bytes. */
START_TEST(deterministic)
{
    trace_file *files = traces_load(400 * 1024);
    for (trace_file *f = files; f->path[0]; f++) {
        blob one = {0}, two = {0};
        uint64_t samples;
        if (convert(&f->content, f->content.size, &one, &samples) &&
            convert(&f->content, f->content.size, &two, &samples)) {
            ck_assert_uint_eq(one.size, two.size);
            ck_assert_mem_eq(one.bytes, two.bytes, one.size);
        }
        blob_free(&one);
        blob_free(&two);
    }
    traces_free(files);
}
END_TEST

/* ---- absurd traces --------------------------------------------------------------------------- */

START_TEST(absurd_traces)
{
    for (const absurd *a = absurds; a->name; a++) {
        for (int v2 = 0; v2 <= 1; v2++) {
            trace_file file = {.content = absurd_trace(a, v2)};
            size_t size = file.content.size;
            check_prefix(&file, size);
            check_prefix(&file, size / 2);
            check_prefix(&file, size - 20);
            blob_free(&file.content);
        }
    }
}
END_TEST

/* Whether the output contains the text; all of the output is UTF-8. */
static bool holds(const blob *b, const absurd_text *text)
{
    static char longest[ABSURD_LONG];
    memset(longest, 'x', sizeof longest);
    const char *bytes = text->shown ? text->shown : text->bytes ? text->bytes : longest;

    return memmem(b->bytes, b->size, bytes, text->shown ? strlen(text->shown) : text->size) != NULL;
}

START_TEST(absurd_strings)
{
    static const unsigned parts[] = {PART_TASKS, PART_REGIONS, PART_LOGS, PART_GOROUTINES};
    for (int v2 = 0; v2 <= 1; v2++) {
        blob trace = absurd_trace(absurd_named("names"), v2);
        for (size_t part = 0; part < sizeof parts / sizeof *parts; part++) {
            blob b = {0};
            uint64_t samples;
            ck_assert(convert_as(&trace, trace.size, (convert_job){.parts = 1U << parts[part]}, &b,
                                 &samples));
            for (size_t i = 0; i < ABSURD_NAMES; i++)
                ck_assert_msg(holds(&b, &absurd_names[i]), "name %zu in part %s", i,
                              convert_part_name(parts[part]));
            blob_free(&b);
        }
        blob_free(&trace);
    }
}
END_TEST

/* Check counter values: one that does not fit a signed integer is a double. */
static void check_counters(const blob *b)
{
    message m = {b->bytes, b->bytes + b->size};
    field packet, event, f;
    unsigned largest = 0, half = 0, whole = 0;

    while (take(&m, &packet)) {
        while (take(&packet.content, &event)) {
            if (event.number != PACKET_TRACK_EVENT)
                continue;
            while (take(&event.content, &f)) {
                double value = 0;
                if (f.number == EVENT_DOUBLE_COUNTER_VALUE)
                    memcpy(&value, &f.value, sizeof value);
                largest += value == 0x1p64;
                half += value == 0x1p63;
                whole += f.number == EVENT_COUNTER_VALUE && f.value == INT64_MAX;
            }
        }
    }
    /* heap, heap goal and GOMAXPROCS */
    ck_assert_uint_ge(largest, 2);
    ck_assert_uint_ge(half, 2);
    ck_assert_uint_ge(whole, 2);
}

START_TEST(absurd_counters)
{
    for (int v2 = 0; v2 <= 1; v2++) {
        blob trace = absurd_trace(absurd_named("counters"), v2), b = {0};
        uint64_t samples;
        ck_assert(convert(&trace, trace.size, &b, &samples));
        check_counters(&b);
        blob_free(&b);
        blob_free(&trace);
    }
}
END_TEST

/* ---- several traces ------------------------------------------------------------------------- */

/* The time of clock `id` in a clock snapshot; sets *primary to the clock of the timeline. */
static uint64_t snapshot_time(message snapshot, uint64_t id, uint64_t *primary)
{
    enum { CLOCKS = 1, PRIMARY = 2, CLOCK_ID = 1, TIMESTAMP = 2 };
    uint64_t given = 0;
    field f, g;

    while (take(&snapshot, &f)) {
        uint64_t clock = 0, time = 0;
        if (f.number == PRIMARY)
            *primary = f.value;
        if (f.number != CLOCKS)
            continue;
        while (take(&f.content, &g)) {
            clock = g.number == CLOCK_ID ? g.value : clock;
            time = g.number == TIMESTAMP ? g.value : time;
        }
        if (clock == id)
            given = time;
    }
    return given;
}

/* Get the times of log messages by that clock; returns their number. */
static size_t logs_by(const blob *b, uint64_t clock, uint64_t *primary, uint64_t times[2])
{
    uint64_t now = 0;
    size_t count = 0;
    field f, g, h;

    for (message m = {b->bytes, b->bytes + b->size}; take(&m, &f);) {
        bool is_log = false;
        while (take(&f.content, &g)) {
            if (g.number == PACKET_CLOCK_SNAPSHOT)
                now = snapshot_time(g.content, clock, primary);
            else if (g.number == PACKET_TIMESTAMP)
                now += g.value;
            while (g.number == PACKET_TRACK_EVENT && take(&g.content, &h))
                is_log = is_log || (h.number == EVENT_CATEGORY_IIDS && h.value == CATEGORY_LOG);
        }
        if (is_log && count < 2)
            times[count++] = now;
    }
    return count;
}

/* Convert two traces to one timeline. */
static convert_alignment convert_both(const blob traces[2], blob out_of[2])
{
    gotrace_source *sources[2];
    convert_series series = {0};

    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(
            gotrace_source_memory(traces[i].bytes, traces[i].size, NULL, &sources[i], NULL),
            GOTRACE_OK);
    series.alignment = convert_align(sources, 2);
    for (int i = 0; i < 2; i++) {
        uint64_t samples;
        ck_assert(convert_as(&traces[i], traces[i].size, (convert_job){.series = &series},
                             &out_of[i], &samples));
        gotrace_source_close(sources[i]);
        series.index++;
    }
    return series.alignment;
}

/* A trace of a program that logs after 1 ms and after 5 ms, with the given clocks at time 0. */
static blob logging(uint64_t start, const char *clocks)
{
    char script[512];
    script_error error;
    blob trace = {0};
    int size = snprintf(script, sizeof script,
                        "Trace Go1.26 level=meaning start=%llu %s\nGoStart t=1000 g=1\n"
                        "UserLog t=1000000 g=1 value_string=\"one\"\n"
                        "UserLog t=5000000 g=1 value_string=\"two\"\nGoStop t=6000000\n",
                        (unsigned long long)start, clocks);
    ck_assert_int_eq(synth(script, (size_t)size, &trace, NULL, &error), GOTRACE_OK);
    return trace;
}

/* Two concurrent programs are aligned by their clocks, to the nanosecond: the second begins 3 ms
 * after the first, whatever the ticks of the traces. */
START_TEST(overlapping)
{
    enum { SECOND = 1000000000, MS = 1000000, REALTIME = 1, MONOTONIC = 3 };
    static const struct {
        const char *clocks[2];
        convert_alignment alignment;
        uint64_t clock, zero; /* start of the first trace by that clock */
    } cases[] = {
        /* one machine, whose wall clock is adjusted meanwhile */
        {{"monotonic=7000000000 wall_seconds=1700000000 wall_nanoseconds=998000000",
          "monotonic=7003000000 wall_seconds=1700000001 wall_nanoseconds=1000700"},
         ALIGNED_MONOTONIC,
         MONOTONIC,
         7ULL * SECOND},
        /* two machines; a new second begins in between */
        {{"monotonic=7000000000 wall_seconds=1700000000 wall_nanoseconds=998000000",
          "monotonic=900000000000 wall_seconds=1700000001 wall_nanoseconds=1000000"},
         ALIGNED_REALTIME,
         REALTIME,
         1700000000ULL * SECOND + 998 * MS},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        blob traces[2] = {logging(123456, cases[i].clocks[0]),
                          logging(987654321, cases[i].clocks[1])};
        blob shown[2] = {{0}};
        ck_assert_int_eq(convert_both(traces, shown), cases[i].alignment);
        for (uint64_t k = 0; k < 2; k++) {
            uint64_t times[2], primary = 0, zero = cases[i].zero + k * 3 * MS;
            ck_assert_uint_eq(logs_by(&shown[k], cases[i].clock, &primary, times), 2);
            ck_assert_uint_eq(primary, cases[i].clock);
            ck_assert_uint_eq(times[0], zero + 1 * MS);
            ck_assert_uint_eq(times[1], zero + 5 * MS);
            blob_free(&traces[k]);
            blob_free(&shown[k]);
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("perfetto");
    TCase *cases = tcase_create("all");

    tcase_add_test(cases, whole_traces);
    tcase_add_test(cases, narrowed);
    tcase_add_test(cases, merged);
    tcase_add_test(cases, cut_traces);
    tcase_add_test(cases, deterministic);
    tcase_add_test(cases, absurd_traces);
    tcase_add_test(cases, absurd_strings);
    tcase_add_test(cases, absurd_counters);
    tcase_add_test(cases, overlapping);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
