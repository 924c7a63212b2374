/* absurd.c - see absurd.h. */
#include "absurd.h"

#include <string.h>

#include "forge.h"

/* v2 batches have their size in the header, less than 64 KiB. */
enum { BATCH_ENOUGH = 60000, START = 1000, THREAD = 7 };

struct builder {
    bool v2;
    forge file;  /* v1: the whole trace; v2: finished batches */
    forge batch; /* v2: events of the current batch */
    uint64_t ticks, batch_ticks;
    uint64_t seq;
    unsigned step; /* ticks between events */
};

#define TEXT(bytes, shown)                                                                         \
    {                                                                                              \
        bytes, sizeof(bytes) - 1, shown                                                            \
    }
const absurd_text absurd_names[ABSURD_NAMES] = {
    TEXT("say \"hello\" \\ 'now'", NULL),
    TEXT("a\0b\001c\nd\te\x1b[0m\x7f", NULL),
    TEXT("bad \xff utf \xc3( and \xed\xa0\x80 and \xf4\x90\x80\x80.",
         "bad \xef\xbf\xbd utf \xef\xbf\xbd( and "),
    TEXT("\xe4\xb8\x96\xe7\x95\x8c \xf0\x9f\x98\x80 </script>", NULL),
    {NULL, ABSURD_LONG, NULL},
    TEXT("", NULL),
};

/* ---- records ------------------------------------------------------------------------------- */

static void v2_record(forge *f, unsigned code, const uint64_t *values, size_t count)
{
    forge_byte(f, (uint8_t)code);
    for (size_t i = 0; i < count; i++)
        forge_varint(f, values[i]);
}
#define V2(f, code, ...)                                                                           \
    v2_record(f, GOTRACE_V2_##code, (const uint64_t[]){__VA_ARGS__},                               \
              sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

/* Finish a batch of v2, of that thread. */
static void put_batch(builder *t, forge *batch, uint64_t thread, uint64_t ticks)
{
    if (batch->out.size == 0)
        return;
    V2(&t->file, EventBatch, 1, thread, ticks, batch->out.size);
    blob_write(&t->file.out, batch->out.bytes, batch->out.size);
    batch->out.size = 0;
}

/* Advance the time; returns the delta for the next event. */
static uint64_t pass(builder *t)
{
    if (t->v2 && t->batch.out.size > BATCH_ENOUGH) {
        put_batch(t, &t->batch, THREAD, t->batch_ticks);
        t->batch_ticks = t->ticks;
    }
    t->ticks += t->step;
    return t->step;
}

/* events of both formats, with different arguments */
static void create(builder *t, uint64_t id, uint64_t start)
{
    if (t->v2)
        V2(&t->batch, GoCreate, pass(t), id, start, 0);
    else
        FORGE(&t->file, GoCreate, pass(t), id, start, 0);
}

/* The goroutine stops, and runs again. */
static void stop_and_go(builder *t)
{
    if (t->v2) {
        V2(&t->batch, GoStop, pass(t), 0, 0);
        V2(&t->batch, GoStart, pass(t), 1, ++t->seq);
    } else {
        FORGE(&t->file, GoSched, pass(t), 0);
        FORGE(&t->file, GoStartLocal, pass(t), 1);
    }
}

/* Another goroutine runs for a moment, and ends. */
static void run_and_end(builder *t, uint64_t id)
{
    if (t->v2) {
        V2(&t->batch, GoStop, pass(t), 0, 0);
        V2(&t->batch, GoStart, pass(t), id, 1);
        V2(&t->batch, GoDestroy, pass(t));
        V2(&t->batch, GoStart, pass(t), 1, ++t->seq);
    } else {
        FORGE(&t->file, GoSched, pass(t), 0);
        FORGE(&t->file, GoStartLocal, pass(t), id);
        FORGE(&t->file, GoEnd, pass(t));
        FORGE(&t->file, GoStartLocal, pass(t), 1);
    }
}

static void region(builder *t, uint64_t task, uint64_t name, bool ends)
{
    if (t->v2 && ends)
        V2(&t->batch, UserRegionEnd, pass(t), task, name, 0);
    else if (t->v2)
        V2(&t->batch, UserRegionBegin, pass(t), task, name, 0);
    else
        FORGE(&t->file, UserRegion, pass(t), task, ends, name, 0);
}

static void task_begin(builder *t, uint64_t id, uint64_t parent, uint64_t name)
{
    if (t->v2)
        V2(&t->batch, UserTaskBegin, pass(t), id, parent, name, 0);
    else
        FORGE(&t->file, UserTaskCreate, pass(t), id, parent, name, 0);
}

static void task_end(builder *t, uint64_t id)
{
    if (t->v2)
        V2(&t->batch, UserTaskEnd, pass(t), id, 0);
    else
        FORGE(&t->file, UserTaskEnd, pass(t), id, 0);
}

static const char *bytes_of(const absurd_text *text)
{
    static char longest[ABSURD_LONG];

    memset(longest, 'x', sizeof longest);
    return text->bytes ? text->bytes : longest;
}

static void logs(builder *t, uint64_t task, uint64_t key, size_t message)
{
    const absurd_text *text = &absurd_names[message];

    if (t->v2) {
        V2(&t->batch, UserLog, pass(t), task, key, message + 1, 0);
        return;
    }
    FORGE(&t->file, UserLog, pass(t), task, key, 0);
    forge_varint(&t->file, text->size);
    blob_write(&t->file.out, bytes_of(text), text->size);
}

static void metrics(builder *t, uint64_t value)
{
    if (t->v2) {
        V2(&t->batch, HeapAlloc, pass(t), value);
        V2(&t->batch, HeapGoal, pass(t), value);
        V2(&t->batch, ProcsChange, pass(t), value, 0);
    } else {
        FORGE(&t->file, HeapAlloc, pass(t), value);
        FORGE(&t->file, HeapGoal, pass(t), value);
        FORGE(&t->file, Gomaxprocs, pass(t), value, 0);
    }
}

/* ---- contents of the traces ------------------------------------------------------------------ */

enum { MANY = 20000, NESTED = 3000 };

static void build_changes(builder *t)
{
    for (unsigned i = 0; i < MANY; i++)
        stop_and_go(t);
}

static void report_goroutines(builder *t)
{
    for (uint64_t id = 2; id < MANY; id++)
        create(t, id, 0);
}

static void report_ends(builder *t)
{
    for (uint64_t id = 2; id < MANY / 4; id++) {
        create(t, id, 0);
        run_and_end(t, id);
    }
}

/* Regions that never end, of goroutines that end and of one that does not. */
static void build_regions(builder *t)
{
    for (uint64_t i = 0; i < NESTED; i++)
        region(t, i % 3, 1 + i % ABSURD_NAMES, false);
    stop_and_go(t);
}

/* Ends of tasks, regions and logs of tasks that never began, and a task that begins twice. */
static void build_tasks(builder *t)
{
    for (uint64_t id = 100; id < 110; id++) {
        task_end(t, id);
        logs(t, id, 1, 0);
        region(t, id, 1, false);
        region(t, id, 1, true);
    }
    task_begin(t, 200, 199, 1);
    task_begin(t, 201, 201, 1);
    task_begin(t, UINT64_MAX - 1, 200, 1);
    task_end(t, 200);
    task_end(t, 200);
}

static void report_names(builder *t)
{
    for (uint64_t i = 0; i < ABSURD_NAMES; i++) {
        task_begin(t, 10 + i, 0, 1 + i);
        region(t, 10 + i, 1 + i, false);
        logs(t, 10 + i, 1 + i, ABSURD_NAMES - 1 - i);
        stop_and_go(t);
        region(t, 10 + i, 1 + i, true);
        task_end(t, 10 + i);
        create(t, 20 + i, 1 + i);
        run_and_end(t, 20 + i);
    }
}

static void report_counters(builder *t)
{
    static const uint64_t values[] = {0, UINT64_MAX, (uint64_t)1 << 63, INT64_MAX, 1};

    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        metrics(t, values[i]);
}

/* All events have the same time. */
static void build_no_time(builder *t)
{
    t->step = 0;
    for (unsigned i = 0; i < 100; i++) {
        stop_and_go(t);
        metrics(t, i);
        create(t, 2 + i, 0);
        region(t, 0, 1, false);
        run_and_end(t, 2 + i);
        region(t, 0, 1, true);
    }
}

const absurd absurds[] = {
    {"changes", build_changes},
    {"goroutines", report_goroutines},
    {"ends", report_ends},
    {"regions", build_regions},
    {"tasks", build_tasks},
    {"names", report_names},
    {"counters", report_counters},
    {"no time", build_no_time},
    {NULL, NULL},
};

const absurd *absurd_named(const char *name)
{
    const absurd *a = absurds;

    while (a->name && strcmp(a->name, name) != 0)
        a++;
    ck_assert_ptr_nonnull(a->name);
    return a;
}

/* ---- the file ------------------------------------------------------------------------------ */

static void begin(builder *t)
{
    t->ticks = t->batch_ticks = START;
    t->step = 3;
    if (!t->v2) {
        FORGE(&t->file, Batch, 0, START);
        FORGE(&t->file, GoCreate, 1, 1, 0, 0);
        FORGE(&t->file, ProcStart, 0, THREAD);
        FORGE(&t->file, GoStart, 1, 1, 1);
        return;
    }
    V2(&t->batch, Frequency, 1000000000);
    put_batch(t, &t->batch, UINT64_MAX, START);
    V2(&t->batch, ProcStatus, 0, 0, 1);
    V2(&t->batch, GoStatus, 0, 1, THREAD, 2);
}

/* A stack of one frame for each function name. */
static void put_stacks(builder *t)
{
    for (uint64_t i = 1; i <= ABSURD_NAMES; i++) {
        if (t->v2)
            V2(&t->batch, Stack, i, 1, 0x1000 + i, i, 1, i);
        else
            FORGE(&t->file, Stack, i, 1, 0x1000 + i, i, 1, i);
    }
}

/* Strings, numbered from 1, and stacks. */
static void finish(builder *t)
{
    forge *strings = t->v2 ? &t->batch : &t->file;

    if (t->v2) {
        put_batch(t, &t->batch, THREAD, t->batch_ticks);
        forge_byte(&t->batch, GOTRACE_V2_Strings);
    }
    for (uint64_t i = 0; i < ABSURD_NAMES; i++) {
        const absurd_text *text = &absurd_names[i];
        if (t->v2) {
            V2(strings, String, i + 1, text->size);
            blob_write(&strings->out, bytes_of(text), text->size);
        } else if (text->size > 0) {
            /* v1 has no empty strings; references to this one show nothing */
            forge_string(strings, i + 1, bytes_of(text), text->size);
        }
    }
    if (t->v2) {
        put_batch(t, &t->batch, UINT64_MAX, START);
        forge_byte(&t->batch, GOTRACE_V2_Stacks);
    }
    put_stacks(t);
    if (t->v2)
        put_batch(t, &t->batch, UINT64_MAX, START);
    else
        forge_finish(&t->file);
}

blob absurd_trace(const absurd *what, bool v2)
{
    builder t = {.v2 = v2, .file = forge_new(v2 ? 22 : 21), .batch = {.version = 22}};

    begin(&t);
    what->build(&t);
    finish(&t);
    blob_free(&t.batch.out);
    return t.file.out;
}
