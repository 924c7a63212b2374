/* tracks.c - tracks: their ids, names and order. */
#include <stdio.h>
#include <stdlib.h>

#include "formats/perfetto/perfetto.h"
#include "formats/common/labels.h"
#include "formats/common/utf8.h"
#include "core/hash.h"
#include "formats/common/vector.h"

/* Order of the groups below the process. */
enum {
    RANK_ADDED,
    RANK_PROCS,
    RANK_GOROUTINES,
    RANK_SYSTEM_GOROUTINES,
    RANK_GC,
    RANK_TASKS,
    RANK_STATS
};

enum { ORDER_LEXICOGRAPHIC = 1, ORDER_CHRONOLOGICAL, ORDER_EXPLICIT };
enum { MERGE_BY_NAME = 1, MERGE_NONE };
enum { UNIT_COUNT = 2, UNIT_BYTES = 3 };

enum {
    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PROCESS_DESCRIPTOR = 3,
    TRACK_THREAD_DESCRIPTOR = 4,
    TRACK_PARENT_UUID = 5,
    TRACK_COUNTER_DESCRIPTOR = 8,
    TRACK_CHILD_ORDERING = 11,
    TRACK_SIBLING_ORDER_RANK = 12,
    TRACK_SIBLING_MERGE_BEHAVIOR = 15,

    PROCESS_PID = 1,
    PROCESS_NAME = 6,
    THREAD_PID = 1,
    THREAD_TID = 2,
    THREAD_NAME = 5,
    COUNTER_UNIT = 3,
};

enum { LONGEST_FUNCTION = 1024 };

/* A name made of a number and the shortened name of a function. */
typedef struct label {
    char text[LONGEST_FUNCTION + LABEL_MOST + 64];
    size_t size;
} label;

/* Writes the number in decimal; returns the number of digits. Traces may have a goroutine for each
 * few events, and snprintf takes longer than the rest of its label. */
static size_t put_number(char *text, uint64_t number)
{
    char digits[20];
    size_t count = 0;

    do
        digits[count++] = (char)('0' + number % 10);
    while (number /= 10);
    for (size_t i = 0; i < count; i++)
        text[i] = digits[count - 1 - i];
    return count;
}

/* "G12 main.worker", then its label in parentheses; a long name is cut at a rune boundary. Until
 * Go 1.6 only the address where a goroutine starts is known. */
static label goroutine_label(const perfetto *p, uint64_t id, const perfetto_goroutine *g)
{
    label l;

    l.text[0] = 'G';
    l.size = 1 + put_number(l.text + 1, id);
    if (p->version < FIRST_START_STACK && g->start_stack)
        l.size += (size_t)snprintf(l.text + l.size, sizeof l.text - l.size, " 0x%llx",
                                   (unsigned long long)g->start_stack);
    if (p->version < FIRST_START_STACK)
        return l;
    if (g->function) {
        l.text[l.size++] = ' ';
        memcpy(l.text + l.size, g->function->text + g->function->size, g->function->short_size);
        l.size += g->function->short_size;
    }
    if (g->label)
        l.size += (size_t)sprintf(l.text + l.size, " (%.*s)", (int)g->label->size, g->label->text);
    return l;
}

/* The function with this name, allocated once and kept until the end; NULL if memory is refused. */
static const perfetto_function *shared_function(perfetto *p, const char *text, size_t size)
{
    uint64_t key = gt_hash_bytes(p->interned.seed, text, size);

    for (;; key++) {
        perfetto_function *const *kept = idmap_find(&p->functions, key);
        if (!kept)
            break;
        if ((*kept)->size == size && memcmp((*kept)->text, text, size) == 0)
            return *kept;
    }
    perfetto_function *function = malloc(sizeof *function + 2 * size);
    perfetto_function **slot = function ? idmap_insert(&p->functions, key) : NULL;
    if (!slot) {
        free(function);
        protobuf_fail(&p->w);
        return NULL;
    }
    function->size = size;
    memcpy(function->text, text, size);
    function->short_size = function_short(function->text + size, size, text, size);
    function->clean = utf8_valid_prefix(function->text + size, function->short_size) ==
                      function->short_size;
    return *slot = function;
}

/* The function of a stack's outermost frame; NULL if there is none. */
static const perfetto_function *function_of(perfetto *p, uint64_t stack)
{
    gotrace_frame frame;

    if (!feed_outermost(&p->feed, stack, &frame) || frame.function_size == 0)
        return NULL;
    return shared_function(p, frame.function,
                           frame.function_size < LONGEST_FUNCTION ? frame.function_size
                                                                  : LONGEST_FUNCTION);
}

void goroutine_starts(perfetto *p, uint64_t id, perfetto_goroutine *g, uint64_t stack, bool shared)
{
    const perfetto_function **known = shared ? idmap_find(&p->starts, stack) : NULL;
    const char *before = stack ? NULL : system_goroutines_start(&p->system, id);

    if (before)
        g->function = shared_function(p, before, strlen(before));
    else if (stack)
        g->function = known ? *known : function_of(p, stack);
    if (known || !stack || !g->function || !shared)
        return;
    known = idmap_insert(&p->starts, stack);
    if (known)
        *known = g->function;
    else
        protobuf_fail(&p->w);
}

void functions_free(perfetto *p)
{
    size_t cursor = 0;
    uint64_t key;
    void *value;

    while (idmap_next(&p->functions, &cursor, &key, &value))
        free(*(perfetto_function **)value);
    idmap_free(&p->functions);
}

static void descriptor_open(perfetto *p, unsigned sequence, uint64_t uuid, uint64_t parent)
{
    p->detail.has_data = p->entries;
    packet_open(p, sequence, 0);
    p->detail.rest = p->w.used;
    p->event = protobuf_open(&p->w, PACKET_TRACK_DESCRIPTOR);
    protobuf_uint(&p->w, TRACK_UUID, p->base + uuid);
    if (parent)
        protobuf_uint(&p->w, TRACK_PARENT_UUID, p->base + parent);
}

static void descriptor_close(perfetto *p)
{
    protobuf_close(&p->w, p->event);
    packet_close(p);
}

/* With --detail the track is described as soon as something is written on it. */
static void descriptor_hold(perfetto *p, uint32_t track, uint64_t parent)
{
    if (p->detail.least)
        detail_hold(p, track, parent);
    else
        descriptor_close(p);
}

/* Ranks are non-negative 32-bit integers; larger ones are clamped. */
static void descriptor_rank(perfetto *p, uint64_t rank)
{
    protobuf_uint(&p->w, TRACK_SIBLING_ORDER_RANK, rank < INT32_MAX ? rank : INT32_MAX);
}

static void describe_in(perfetto *p, uint64_t uuid, const char *name, unsigned rank,
                        unsigned ordering, uint64_t parent)
{
    descriptor_open(p, SEQUENCE_EVENTS, uuid, parent);
    protobuf_string(&p->w, TRACK_NAME, name, strlen(name));
    descriptor_rank(p, rank);
    protobuf_uint(&p->w, TRACK_CHILD_ORDERING, ordering);
    descriptor_close(p);
}

static void describe_group(perfetto *p, uint64_t uuid, const char *name, unsigned rank,
                           unsigned ordering)
{
    describe_in(p, uuid, name, rank, ordering, TRACK_PROCESS);
}

static void describe_counter(perfetto *p, uint64_t uuid, const char *name, unsigned unit)
{
    descriptor_open(p, SEQUENCE_EVENTS, uuid, TRACK_STATS);
    protobuf_string(&p->w, TRACK_NAME, name, strlen(name));
    size_t counter = protobuf_open(&p->w, TRACK_COUNTER_DESCRIPTOR);
    protobuf_uint(&p->w, COUNTER_UNIT, unit);
    protobuf_close(&p->w, counter);
    descriptor_rank(p, uuid);
    descriptor_close(p);
}

static void describe_counters(perfetto *p)
{
    describe_group(p, TRACK_STATS, "Stats", RANK_STATS, ORDER_EXPLICIT);
    describe_counter(p, TRACK_RUNNABLE, "goroutines runnable", UNIT_COUNT);
    describe_counter(p, TRACK_RUNNING, "goroutines running", UNIT_COUNT);
    describe_counter(p, TRACK_WAITING, "goroutines waiting", UNIT_COUNT);
    describe_counter(p, TRACK_SYSCALL, "goroutines in syscall", UNIT_COUNT);
    if (p->version >= GOTRACE_FIRST_V2)
        describe_counter(p, TRACK_THREADS, "threads busy", UNIT_COUNT);
    describe_counter(p, TRACK_HEAP_ALLOCATED, "heap allocated", UNIT_BYTES);
    describe_counter(p, TRACK_HEAP_GOAL, "heap goal", UNIT_BYTES);
    describe_counter(p, TRACK_GOMAXPROCS, "GOMAXPROCS", UNIT_COUNT);
}

/* Regions and logs are below the track of their goroutine. */
static bool wants_goroutine_tracks(const perfetto *p)
{
    return wants(p, PART_GOROUTINES) || wants(p, PART_REGIONS) || wants(p, PART_LOGS);
}

/* Opens the description of a track that is not merged with others of the same name. */
static void single_open(perfetto *p, uint64_t uuid, uint64_t parent, const char *name, size_t size,
                        uint64_t rank)
{
    descriptor_open(p, SEQUENCE_EVENTS, uuid, parent);
    protobuf_string(&p->w, TRACK_NAME, name, size);
    descriptor_rank(p, rank);
    protobuf_uint(&p->w, TRACK_SIBLING_MERGE_BEHAVIOR, MERGE_NONE);
}

/* What --detail merges of several tracks. */
static void describe_short(perfetto *p)
{
    static const char goroutines[] = "short goroutines", tasks[] = "short tasks";

    single_open(p, TRACK_SHORT_GOROUTINES, TRACK_GOROUTINES, goroutines, sizeof goroutines - 1, 0);
    detail_hold(p, TRACK_SHORT_GOROUTINES, TRACK_GOROUTINES);
    single_open(p, TRACK_SHORT_TASKS, TRACK_TASKS, tasks, sizeof tasks - 1, 0);
    detail_hold(p, TRACK_SHORT_TASKS, TRACK_TASKS);
}

static void describe_process(perfetto *p, uint64_t track, uint64_t pid, const char *name)
{
    descriptor_open(p, SEQUENCE_EVENTS, track, 0);
    size_t descriptor = protobuf_open(&p->w, TRACK_PROCESS_DESCRIPTOR);
    protobuf_uint(&p->w, PROCESS_PID, pid);
    if (name)
        protobuf_string(&p->w, PROCESS_NAME, name, strlen(name));
    protobuf_close(&p->w, descriptor);
    protobuf_uint(&p->w, TRACK_CHILD_ORDERING, ORDER_EXPLICIT);
    descriptor_close(p);
}

/* "sort (pid 1234)"; NULL: not known. */
static const char *process_name(const perfetto *p, uint64_t number, char text[64])
{
    const process *known = processes_at(&p->system.processes, number);
    if (!known)
        return NULL;
    snprintf(text, 64, "%s (pid %d)", known->name, known->pid);
    return text;
}

/* The ids of processes are made up, as that of the first one, so that those of several traces
 * differ. */
static void describe_further(perfetto *p, uint64_t number, perfetto_process *of)
{
    char text[64];
    const char *name = process_name(p, number, text);
    describe_process(p, of->track, p->pid + 2 * THREAD_IDS + number, name);
    of->named = name;
    of->epoch = p->epoch;
    describe_in(p, of->track + 1, "Goroutines", RANK_GOROUTINES, ORDER_EXPLICIT, of->track);
}

/* The group of a goroutine's track. */
static uint64_t group_of(perfetto *p, uint64_t id, const perfetto_goroutine *g)
{
    const uint64_t number = processes_number(&p->system.processes, id);
    if (number == 0)
        return g->system ? TRACK_SYSTEM_GOROUTINES : TRACK_GOROUTINES;
    perfetto_process *of = idmap_insert(&p->process_tracks, number);
    if (!of) {
        protobuf_fail(&p->w);
        return TRACK_GOROUTINES;
    }
    if (!of->track) {
        of->track = p->tracks + 1;
        p->tracks += 2;
    }
    if (of->epoch != p->epoch && wants_goroutine_tracks(p))
        describe_further(p, number, of);
    return of->track + 1;
}

void track_process(perfetto *p, const gotrace_event *e)
{
    uint64_t number;
    if (processes_learn(&p->system.processes, e, &number)) {
        perfetto_process *of = idmap_find(&p->process_tracks, number);
        if (of && !of->named)
            describe_further(p, number, of);
    } else if (p->system.processes.failed) {
        protobuf_fail(&p->w);
    }
}

void tracks_restart(perfetto *p)
{
    char text[64];
    const char *name = process_name(p, 0, text);
    describe_process(p, TRACK_PROCESS, p->pid, name ? name : p->program);

    if (wants(p, PART_PROCS))
        describe_group(p, TRACK_PROCS, "Procs", RANK_PROCS, ORDER_EXPLICIT);
    if (wants_goroutine_tracks(p))
        describe_group(p, TRACK_GOROUTINES, "Goroutines", RANK_GOROUTINES, ORDER_EXPLICIT);
    if (wants_goroutine_tracks(p) && !p->system.left_out)
        describe_group(p, TRACK_SYSTEM_GOROUTINES, "System goroutines", RANK_SYSTEM_GOROUTINES,
                       ORDER_EXPLICIT);
    if (wants(p, PART_GC))
        describe_group(p, TRACK_GC, "GC", RANK_GC, ORDER_EXPLICIT);
    if (wants(p, PART_TASKS))
        describe_group(p, TRACK_TASKS, "Tasks", RANK_TASKS, ORDER_CHRONOLOGICAL);
    if (wants(p, PART_COUNTERS))
        describe_counters(p);
    if (p->detail.least)
        describe_short(p);
    p->assists.name = "mark assists";
    p->assists.rank = 2;
    p->stops.name = "stop-the-world";
    p->stops.rank = 1;
    p->assists.count = p->stops.count = 0;
    const uint32_t last = p->detail.least ? TRACK_LAST_DETAIL : TRACK_LAST;
    if (p->tracks < last)
        p->tracks = last;
    p->epoch_track = p->tracks;
}

static void describe_user(perfetto *p, const perfetto_goroutine *g)
{
    static const char name[] = "regions and logs";

    single_open(p, g->user_track, g->track, name, sizeof name - 1, 0);
    descriptor_hold(p, g->user_track, g->track);
}

static uint8_t *put_text(uint8_t *at, unsigned field, const label *l)
{
    at = protobuf_put_tag(at, field, PROTOBUF_BYTES);
    *at++ = (uint8_t)l->size;
    memcpy(at, l->text, l->size);
    return at + l->size;
}

/* Interns the name of a goroutine's runs and describes its track as track_goroutine otherwise does,
 * but in one go: some programs have a goroutine for each few events. False, and nothing is written,
 * if the name is long or something else is out of the ordinary. */
static bool describe_at_once(perfetto *p, const perfetto_goroutine *g, uint64_t id, uint64_t iid,
                             uint64_t group, const label *l)
{
    enum { LONGEST = 64 };
    bool runs = wants(p, PART_PROCS) || wants(p, PART_THREADS);

    if (p->w.used >= p->limit || l->size > LONGEST || !runs || !wants_goroutine_tracks(p) ||
        (g->function && !g->function->clean))
        return false;
    uint64_t rank = id < INT32_MAX ? id : INT32_MAX;
    protobuf_field entry = protobuf_field_of(INTERNED_IID, iid);
    protobuf_field fields[] = {protobuf_field_of(TRACK_UUID, p->base + g->track),
                               protobuf_field_of(TRACK_PARENT_UUID, p->base + group),
                               protobuf_field_of(TRACK_SIBLING_ORDER_RANK, rank),
                               protobuf_field_of(TRACK_SIBLING_MERGE_BEHAVIOR, MERGE_NONE)};
    size_t entry_size = (size_t)(entry >> 56) + 2 + l->size, size = 2 + l->size;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        size += fields[i] >> 56;
    /* The packet, with all except its size in p->head, then interned data, then the descriptor. */
    const perfetto_head *head = &p->head;
    size_t first = head->size - 3U; /* without tag and size before it, and the tag of the time */
    uint8_t *at = protobuf_at(&p->w);
    *at++ = head->bytes[0];
    at = protobuf_put_varint(at, first + 2 + 2 + entry_size + 3 + size);
    memcpy(at, head->bytes + 2, first);
    at = protobuf_put_tag(at + first, PACKET_INTERNED_DATA, PROTOBUF_BYTES);
    *at++ = (uint8_t)(entry_size + 2);
    at = protobuf_put_tag(at, INTERNED_EVENT_NAMES, PROTOBUF_BYTES);
    *at++ = (uint8_t)entry_size;
    at = put_text(protobuf_put_field(at, entry), INTERNED_TEXT, l);
    at = protobuf_put_tag(at, PACKET_TRACK_DESCRIPTOR, PROTOBUF_BYTES);
    *at++ = (uint8_t)size;
    at = protobuf_put_field(protobuf_put_field(at, fields[0]), fields[1]);
    at = put_text(at, TRACK_NAME, l);
    at = protobuf_put_field(protobuf_put_field(at, fields[2]), fields[3]);
    protobuf_end(&p->w, at);
    p->entry_bytes += entry_size + 1;
    return true;
}

void track_goroutine(perfetto *p, uint64_t id, perfetto_goroutine *g)
{
    label l = goroutine_label(p, id, g);

    if (!g->track) {
        g->system = system_goroutines_is(&p->system, id);
        g->track = ++p->tracks;
        g->track_field = refer_to_track(p, g->track);
    }
    uint64_t group = group_of(p, id, g);
    uint32_t iid = p->interned.next_name;
    if (describe_at_once(p, g, id, iid, group, &l)) {
        p->interned.next_name++;
        g->name = refer_to_name(iid);
    } else {
        /* The name is interned in the packet of the track, which comes next. */
        if (wants(p, PART_PROCS) || wants(p, PART_THREADS))
            g->name = refer_to_name(intern_new_name(p, l.text, l.size));
        if (wants_goroutine_tracks(p)) {
            single_open(p, g->track, group, l.text, l.size, id);
            descriptor_hold(p, g->track, group);
        }
    }
    if (g->user_track)
        describe_user(p, g);
}

void track_labelled(perfetto *p, uint64_t id, perfetto_goroutine *g, const char *text, size_t size)
{
    const size_t shown = label_shown(text, size);
    if (shown == 0)
        return;
    const perfetto_function *given = shared_function(p, text, shown);
    if (given != g->label) {
        g->label = given;
        track_goroutine(p, id, g);
    }
}

void track_user(perfetto *p, perfetto_goroutine *g)
{
    if (g->user_track)
        return;
    g->user_track = ++p->tracks;
    describe_user(p, g);
}

void track_proc(perfetto *p, int64_t id, perfetto_proc *proc)
{
    char name[32] = "no proc";

    if (!proc->track) {
        proc->track = ++p->tracks;
        proc->track_field = refer_to_track(p, proc->track);
    }
    if (id >= 0)
        snprintf(name, sizeof name, "P%lld", (long long)id);
    if (!wants(p, PART_PROCS))
        return;
    single_open(p, proc->track, TRACK_PROCS, name, strlen(name),
                id >= 0 ? (uint64_t)id : INT32_MAX);
    descriptor_close(p);
}

void track_task(perfetto *p, perfetto_task *task, uint64_t parent, const char *name, size_t size)
{
    enum { LONGEST = 1024 };

    task->track = ++p->tracks;
    descriptor_open(p, SEQUENCE_EVENTS, task->track, parent);
    protobuf_string(&p->w, TRACK_NAME, name, size < LONGEST ? size : LONGEST);
    protobuf_uint(&p->w, TRACK_CHILD_ORDERING, ORDER_CHRONOLOGICAL);
    protobuf_uint(&p->w, TRACK_SIBLING_MERGE_BEHAVIOR, MERGE_BY_NAME);
    descriptor_hold(p, task->track, parent);
}

void track_thread(perfetto *p, perfetto_thread *thread, const char *name)
{
    if (!thread->track)
        thread->track = ++p->tracks;
    if (!wants(p, PART_THREADS) && !wants(p, PART_SAMPLES))
        return;
    descriptor_open(p, SEQUENCE_THREADS, thread->track, TRACK_PROCESS);
    size_t descriptor = protobuf_open(&p->w, TRACK_THREAD_DESCRIPTOR);
    protobuf_uint(&p->w, THREAD_PID, p->pid);
    protobuf_uint(&p->w, THREAD_TID, thread->tid);
    protobuf_string(&p->w, THREAD_NAME, name, strlen(name));
    protobuf_close(&p->w, descriptor);
    descriptor_close(p);
}

uint32_t track_unbegun(perfetto *p, const perfetto_goroutine *g)
{
    static const char name[] = "regions without a begin";
    uint32_t track = ++p->tracks;

    detail_show_track(p, g->track);
    descriptor_open(p, SEQUENCE_EVENTS, track, g->track);
    protobuf_string(&p->w, TRACK_NAME, name, sizeof name - 1);
    protobuf_uint(&p->w, TRACK_SIBLING_MERGE_BEHAVIOR, MERGE_BY_NAME);
    descriptor_close(p);
    return track;
}

uint32_t track_added(perfetto *p, const char *name)
{
    uint32_t track = ++p->tracks;

    single_open(p, track, TRACK_PROCESS, name, strlen(name), RANK_ADDED);
    descriptor_close(p);
    return track;
}

uint32_t lane_take(perfetto *p, perfetto_lanes *lanes)
{
    if (lanes->count > 0)
        return lanes->free[--lanes->count];
    uint32_t track = ++p->tracks;
    descriptor_open(p, SEQUENCE_EVENTS, track, TRACK_GC);
    protobuf_string(&p->w, TRACK_NAME, lanes->name, strlen(lanes->name));
    descriptor_rank(p, lanes->rank);
    protobuf_uint(&p->w, TRACK_SIBLING_MERGE_BEHAVIOR, MERGE_BY_NAME);
    descriptor_close(p);
    return track;
}

void lane_release(perfetto *p, perfetto_lanes *lanes, uint32_t track)
{
    /* A reader that starts late does not know tracks of an earlier epoch. */
    if (track <= p->epoch_track)
        return;
    uint32_t *larger = vector_room(lanes->free, &lanes->capacity, lanes->count, sizeof *larger);
    if (!larger) {
        protobuf_fail(&p->w);
        return;
    }
    lanes->free = larger;
    lanes->free[lanes->count++] = track;
}
