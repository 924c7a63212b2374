/* test_repair.c - repair: what it preserves, what it reports, what it rejects. */
#include <stdlib.h>
#include <string.h>

#include "forge.h"
#include "reading.h"
#include "cmd/repair/repair.h"

enum { MOST = 4 };

/* Result of a repair. */
typedef struct repaired {
    gotrace_status status;
    gotrace_error error;
    repair_totals totals;
    blob traces[MOST];
    out outs[MOST];
    size_t count;
    uint64_t found[REPAIR_KIND_COUNT];
    size_t room;            /* limit of traces that can be written */
    gotrace_write_fn write; /* called with each trace's bytes */
} repaired;

static out *next_trace(void *ctx, unsigned trace)
{
    repaired *r = ctx;
    ck_assert_uint_eq(trace, r->count + 1);
    if (r->count == r->room)
        return NULL;
    ck_assert(out_init(&r->outs[r->count], r->write, &r->traces[r->count]));
    return &r->outs[r->count++];
}

static void on_finding(void *ctx, const repair_finding *finding)
{
    ck_assert_uint_lt(finding->kind, REPAIR_KIND_COUNT);
    ck_assert(finding->message[0]);
    ((repaired *)ctx)->found[finding->kind]++;
}

static bool repair_into(repaired *r, const uint8_t *bytes, size_t size, bool all,
                        const gotrace_config *config)
{
    gotrace_source *source;
    ck_assert_int_eq(gotrace_source_memory(bytes, size, NULL, &source, &r->error), GOTRACE_OK);
    repair_job job = {.source = source,
                      .config = config,
                      .all = all,
                      .next = next_trace,
                      .report = on_finding,
                      .ctx = r};
    r->status = repair_write(&job, &r->totals, &r->error);
    gotrace_source_close(source);
    bool written = true;
    for (size_t i = 0; i < r->count; i++) {
        written = out_flush(&r->outs[i]) && written;
        out_free(&r->outs[i]);
    }
    return written;
}

static repaired repair_bytes(const uint8_t *bytes, size_t size, bool all,
                             const gotrace_config *config)
{
    repaired r = {.room = MOST, .write = blob_write};
    ck_assert(repair_into(&r, bytes, size, all, config));
    return r;
}

static void drop(repaired *r)
{
    for (size_t i = 0; i < r->count; i++)
        blob_free(&r->traces[i]);
    r->count = 0;
}

/* Check that a reader finds no problem; returns the number of events. */
static uint64_t check_sound(const blob *trace)
{
    reading r = reading_of(trace->bytes, trace->size, NULL, READING_NEXT);
    ck_assert_int_eq(r.status, GOTRACE_END);
    for (size_t i = 0; i < r.problem_count && i < READING_PROBLEMS; i++)
        ck_assert_msg(r.problems[i].severity < GOTRACE_PROBLEM, "%s", r.problems[i].message);
    return r.summary.events;
}

/* Check that there is one trace, which is sound; returns the number of its events. */
static uint64_t check_one(const repaired *r)
{
    ck_assert_msg(r->status == GOTRACE_END, "%s", r->error.message);
    ck_assert_uint_eq(r->count, 1);
    ck_assert(r->totals.sound);
    uint64_t events = check_sound(&r->traces[0]);
    ck_assert_uint_eq(events, r->totals.events);
    return events;
}

/* ---- sound and damaged traces ---------------------------------------------------------------- */

START_TEST(sound_is_unchanged)
{
    trace_file *files = traces_load(20000);
    for (trace_file *f = files; f->path[0]; f++) {
        reading sound = reading_of(f->content.bytes, f->content.size, NULL, READING_CHECK);
        repaired r = repair_bytes(f->content.bytes, f->content.size, false, NULL);
        if (sound.status == GOTRACE_END && sound.summary.problems == 0) {
            ck_assert_msg(r.totals.identical, "%s", f->path);
            ck_assert_uint_eq(r.traces[0].size, f->content.size);
            ck_assert_mem_eq(r.traces[0].bytes, f->content.bytes, f->content.size);
        } else if (r.status == GOTRACE_END) {
            ck_assert(!r.totals.identical);
        }
        drop(&r);
    }
    traces_free(files);
}
END_TEST

static const char *const samples[] = {"gccgo-user.trace",  "go1.19-restart.trace",
                                      "go1.21-gc.trace",   "go1.22-gens.trace",
                                      "go1.25-many.trace", "go1.27-timer.trace"};

/* Truncated, overwritten, with inserted bytes: the result is sound. */
START_TEST(damaged_becomes_sound)
{
    blob trace = trace_sample(samples[_i]), changed = {NULL, 0, 0};
    uint64_t random = 7;
    for (size_t at = 20; at < trace.size; at += trace.size / 23) {
        uint64_t how = random_next(&random) % 3, size = random_next(&random) % 200;
        changed.size = 0;
        blob_write(&changed, trace.bytes, at);
        for (size_t i = 0; how > 0 && i < size; i++)
            blob_write(&changed, &(uint8_t){(uint8_t)random_next(&random)}, 1);
        size_t skip = how == 1 && at + size < trace.size ? (size_t)size : 0;
        if (how > 0)
            blob_write(&changed, trace.bytes + at + skip, trace.size - at - skip);
        repaired r = repair_bytes(changed.bytes, changed.size, false, NULL);
        check_one(&r);
        drop(&r);
    }
    blob_free(&changed);
    blob_free(&trace);
}
END_TEST

/* v1: a batch continues after damage. */
START_TEST(batch_continues_after_damage)
{
    enum { EVENTS = 400, HURT = 40 };
    forge f = forge_new(21);
    FORGE(&f, Batch, 0, 1000);
    FORGE(&f, GoCreate, 1, 7, 0, 0);
    FORGE(&f, GoStart, 1, 7, 1);
    for (unsigned i = 0; i < EVENTS; i++)
        FORGE(&f, HeapAlloc, 3, 1000 + i);
    forge_string(&f, 5, "main.lost.and.found", 19);
    FORGE(&f, Batch, 1, 1000000);
    FORGE(&f, Gomaxprocs, 1, 4, 0);
    forge_finish(&f);
    memset(f.out.bytes + 200, 0, HURT);
    repaired r = repair_bytes(f.out.bytes, f.out.size, false, NULL);
    uint64_t events = check_one(&r);
    ck_assert_uint_eq(r.found[REPAIR_RESUMED], 1);
    ck_assert_uint_ge(events, EVENTS + 3 - HURT / 2);
    ck_assert_uint_lt(r.totals.bytes_lost, 2 * HURT);
    ck_assert_ptr_nonnull(memmem(r.traces[0].bytes, r.traces[0].size, "lost.and.found", 14));
    drop(&r);
    blob_free(&f.out);
}
END_TEST

/* v1: what is between two damaged places of a batch is kept too. */
START_TEST(batch_continues_between_damage)
{
    enum { EVENTS = 400, HURT = 10 };
    forge f = forge_new(21);
    FORGE(&f, Batch, 0, 1000);
    FORGE(&f, GoCreate, 1, 7, 0, 0);
    FORGE(&f, GoStart, 1, 7, 1);
    for (unsigned i = 0; i < EVENTS; i++)
        FORGE(&f, HeapAlloc, 3, 1000 + i);
    FORGE(&f, Batch, 1, 1000000);
    FORGE(&f, Gomaxprocs, 1, 4, 0);
    forge_finish(&f);
    memset(f.out.bytes + 200, 0, HURT);
    memset(f.out.bytes + 1200, 0, HURT);
    repaired r = repair_bytes(f.out.bytes, f.out.size, false, NULL);
    uint64_t events = check_one(&r);
    ck_assert_uint_eq(r.found[REPAIR_RESUMED], 2);
    ck_assert_uint_ge(events, EVENTS + 3 - HURT);
    ck_assert_uint_lt(r.totals.bytes_lost, 6 * HURT);
    drop(&r);
    blob_free(&f.out);
}
END_TEST

/* Until 1.6 the rest of a batch gets the sequence numbers that the other procs' events do not have.
 */
START_TEST(rest_is_numbered)
{
    enum { EVENTS = 200, HURT = 10 };
    forge f = forge_new(5);
    FORGE(&f, Batch, 0, 0, 1000);
    for (unsigned i = 0; i < EVENTS; i++)
        FORGE(&f, HeapAlloc, 3, 30, 1000000);
    FORGE(&f, Batch, 1, 0, 1000);
    for (unsigned i = 0; i < EVENTS; i++) {
        FORGE(&f, HeapAlloc, 1 + (i > 0), 10 + 10 * (i > 0), 2000000);
        FORGE(&f, HeapAlloc, 1, 10, 3000000);
    }
    forge_finish(&f);
    memset(f.out.bytes + 200, 0, HURT);
    repaired r = repair_bytes(f.out.bytes, f.out.size, false, NULL);
    uint64_t events = check_one(&r);
    ck_assert_uint_eq(r.found[REPAIR_RESUMED], 1);
    ck_assert_uint_eq(r.totals.added + r.totals.dropped, 0);
    ck_assert_uint_ge(events, 3 * EVENTS - HURT);
    drop(&r);
    blob_free(&f.out);
}
END_TEST

/* v1: a record whose type was altered to that of a batch header divides no batch. */
START_TEST(false_header_inside_batch)
{
    enum { EVENTS = 200 };
    const uint64_t start = (uint64_t)1 << 40;
    forge f = forge_new(21);
    FORGE(&f, Batch, 0, start);
    FORGE(&f, GoCreate, 1, 7, 0, 0);
    FORGE(&f, GoStart, 1, 7, 1);
    for (unsigned i = 0; i < EVENTS; i++)
        FORGE(&f, HeapAlloc, 3, 1000 + i);
    FORGE(&f, Batch, 20, 77);
    for (unsigned i = 0; i < EVENTS; i++)
        FORGE(&f, HeapAlloc, 3, 1000 + i);
    FORGE(&f, Batch, 1, start + 10000);
    FORGE(&f, Gomaxprocs, 1, 4, 0);
    forge_finish(&f);
    memset(f.out.bytes + 200, 0, 1);
    repaired r = repair_bytes(f.out.bytes, f.out.size, false, NULL);
    ck_assert_uint_ge(check_one(&r), 2 * EVENTS - 3);
    reading found = reading_of(r.traces[0].bytes, r.traces[0].size, NULL, READING_CHECK);
    ck_assert_uint_eq(found.summary.procs, 2);
    ck_assert_int_lt(found.summary.duration, 20000);
    drop(&r);
    blob_free(&f.out);
}
END_TEST

/* Until 1.6 records have one more inline value. */
START_TEST(until_1_6)
{
    forge f = forge_new(5);
    FORGE(&f, Batch, 0, 1, 1);
    FORGE(&f, GoCreate, 1, 1, 1, 0, 0);
    for (unsigned i = 0; i < 50; i++) {
        FORGE(&f, GoStart, 1, 1, 1);
        FORGE(&f, GoSched, 1, 1, 0);
    }
    repaired r = repair_bytes(f.out.bytes, f.out.size, false, NULL);
    ck_assert_uint_eq(check_one(&r), 101);
    ck_assert_uint_eq(r.totals.bytes_lost, 0);
    ck_assert_uint_eq(r.found[REPAIR_FREQUENCY], 1);
    ck_assert_uint_eq(r.found[REPAIR_REWRITTEN], 0);
    drop(&r);
    /* only a header is left */
    r = repair_bytes(f.out.bytes, 16, false, NULL);
    ck_assert_uint_eq(check_one(&r), 1);
    drop(&r);
    blob_free(&f.out);
}
END_TEST

/* An event that became the end of a goroutine, which continues later, is replaced. */
START_TEST(restarted_goroutine_did_not_end)
{
    enum { ROUNDS = 30 };
    forge f = forge_new(21);
    FORGE(&f, Batch, 0, 1000);
    FORGE(&f, GoCreate, 1, 7, 0, 0);
    for (unsigned i = 0; i < ROUNDS; i++) {
        FORGE(&f, GoStart, 5, 7, 1 + i);
        if (i == 3)
            FORGE(&f, GoEnd, 5);
        else
            FORGE(&f, GoSched, 5, 0);
    }
    forge_finish(&f);
    repaired r = repair_bytes(f.out.bytes, f.out.size, false, NULL);
    check_one(&r);
    ck_assert_uint_eq(r.totals.dropped, 0);
    ck_assert_uint_eq(r.found[REPAIR_REWRITTEN], 1);
    drop(&r);
    blob_free(&f.out);
}
END_TEST

/* The header of the next batch is found inside a damaged record. */
START_TEST(header_inside_record)
{
    enum { EVENTS = 40, TASK_CREATE = 45, HEADER_SIZE = 8 };
    const uint64_t begin = UINT64_C(1) << 40;
    forge f = forge_new(21);
    for (unsigned proc = 0; proc < 3; proc++) {
        FORGE(&f, Batch, proc, begin + 1000 * proc);
        FORGE(&f, ProcStart, 1, 10 + proc);
        for (unsigned i = 0; i < EVENTS; i++)
            FORGE(&f, HeapAlloc, 3, 100 + i);
        /* two of five values; the header provides the rest */
        const uint8_t half[] = {3 << 6 | TASK_CREATE, 2 + HEADER_SIZE, 1, 9};
        if (proc == 0)
            blob_write(&f.out, half, sizeof half);
    }
    forge_finish(&f);
    repaired r = repair_bytes(f.out.bytes, f.out.size, false, NULL);
    ck_assert_uint_eq(check_one(&r), 3 * (EVENTS + 1));
    ck_assert_uint_eq(r.found[REPAIR_TRUNCATED], 1);
    ck_assert_uint_eq(r.totals.bytes_lost, 4);
    drop(&r);
    blob_free(&f.out);
}
END_TEST

/* The end of a system call resembles a batch header if it has goroutine 65 or a delta of 65 ticks.
 * It must not be taken for one, neither where a batch continues nor after damage. */
START_TEST(syscall_exit_resembles_header)
{
    enum { ROUNDS = 60, LIKE_A_HEADER = 65, AT = 300, HURT = 12, LOST = 12 };
    const uint64_t begin = UINT64_C(1) << 40;
    const unsigned round_ticks = LIKE_A_HEADER + 3;
    forge f = forge_new(19);
    FORGE(&f, Batch, 0, begin);
    FORGE(&f, GoCreate, 1, LIKE_A_HEADER, 0, 0);
    FORGE(&f, ProcStart, 1, 10);
    FORGE(&f, GoStart, 1, LIKE_A_HEADER, 1);
    for (unsigned i = 0; i < ROUNDS; i++) {
        uint64_t back = begin + 5 + LIKE_A_HEADER + round_ticks * i;
        FORGE(&f, GoSysCall, 1, 0);
        FORGE(&f, GoSysBlock, 1);
        if (i % 2)
            FORGE(&f, GoSysExit, LIKE_A_HEADER, LIKE_A_HEADER, 2 + 2 * i, back);
        else
            FORGE(&f, GoSysExitLocal, LIKE_A_HEADER, LIKE_A_HEADER, back);
        FORGE(&f, GoStart, 1, LIKE_A_HEADER, 3 + 2 * i);
    }
    repaired r = repair_bytes(f.out.bytes, f.out.size, false, NULL);
    ck_assert_uint_eq(check_one(&r), 3 + 4 * ROUNDS);
    ck_assert_uint_eq(r.found[REPAIR_FREQUENCY], 1);
    ck_assert_uint_eq(r.found[REPAIR_REWRITTEN], 0);
    ck_assert_uint_eq(r.totals.bytes_lost, 0);
    drop(&r);
    FORGE(&f, Batch, 1, begin + ROUNDS * round_ticks);
    FORGE(&f, Gomaxprocs, 1, 4, 0);
    forge_finish(&f);
    memset(f.out.bytes + AT, 0, HURT);
    r = repair_bytes(f.out.bytes, f.out.size, false, NULL);
    ck_assert_uint_ge(check_one(&r), 3 + 4 * ROUNDS - LOST);
    ck_assert_uint_eq(r.found[REPAIR_RESUMED], 1);
    ck_assert_uint_lt(r.totals.bytes_lost, 6 * HURT);
    drop(&r);
    blob_free(&f.out);
}
END_TEST

/* Ranges begin before they end, and end before they begin again. */
START_TEST(ranges_are_completed)
{
    forge f = forge_new(19);
    FORGE(&f, Batch, 0, 1000);
    FORGE(&f, GoCreate, 1, 7, 0, 0);
    FORGE(&f, GoStart, 1, 7, 1);
    FORGE(&f, STWDone, 1);
    FORGE(&f, GCStart, 1, 1, 0);
    FORGE(&f, GCSweepDone, 1, 10, 5);
    FORGE(&f, GCStart, 1, 2, 0);
    FORGE(&f, STWStart, 1, 0);
    FORGE(&f, STWStart, 1, 1);
    FORGE(&f, STWDone, 1);
    FORGE(&f, GCSweepStart, 1, 0);
    FORGE(&f, GCSweepStart, 1, 0);
    FORGE(&f, GCDone, 1);
    FORGE(&f, GCDone, 1);
    forge_finish(&f);
    repaired r = repair_bytes(f.out.bytes, f.out.size, false, NULL);
    uint64_t events = check_one(&r);
    ck_assert_uint_eq(r.totals.dropped, 0);
    ck_assert_uint_eq(r.totals.added, 6);
    ck_assert_uint_eq(events, 13 + 6 + 1); /* including the start of the proc */
    drop(&r);
    blob_free(&f.out);
}
END_TEST

/* ---- generations ---------------------------------------------------------------------------- */

/* A generation's place, and a batch of events in it. */
typedef struct extent {
    uint64_t number;
    size_t begin, end, lost, lost_size;
} extent;

static uint64_t varint_at(const blob *trace, size_t *at)
{
    const uint8_t *p = trace->bytes + *at;
    uint64_t value = 0;
    ck_assert(parts_varint(&p, trace->bytes + trace->size, &value));
    *at = (size_t)(p - trace->bytes);
    return value;
}

/* Find the generations of a sound trace, and the first batch of events of each. */
static size_t extents_of(const blob *trace, extent *list, size_t most)
{
    size_t count = 0;
    for (size_t at = PARTS_HEADER; at < trace->size;) {
        size_t begin = at++;
        if (trace->bytes[begin] == GOTRACE_V2_EndOfGeneration) {
            list[count - 1].end = at;
            continue;
        }
        ck_assert_uint_eq(trace->bytes[begin], GOTRACE_V2_EventBatch);
        uint64_t number = varint_at(trace, &at), owner = varint_at(trace, &at);
        varint_at(trace, &at);
        uint64_t size = varint_at(trace, &at);
        if (count == 0 || list[count - 1].number != number) {
            ck_assert_uint_lt(count, most);
            list[count++] = (extent){.number = number, .begin = begin};
        }
        at += size;
        list[count - 1].end = at;
        if (owner != UINT64_MAX && list[count - 1].lost == 0) {
            list[count - 1].lost = begin;
            list[count - 1].lost_size = at - begin;
        }
    }
    return count;
}

static bool stands_in(const blob *trace, const blob *whole, const extent *e)
{
    return memmem(trace->bytes, trace->size, whole->bytes + e->begin, e->end - e->begin) != NULL;
}

/* Repair a trace without the given bytes; returns the number of other generations that are
 * unchanged. */
static size_t kept_without(const blob *whole, const extent *list, size_t count, size_t without,
                           size_t from, size_t size, repaired *r)
{
    blob rest = {NULL, 0, 0};
    blob_write(&rest, whole->bytes, from);
    blob_write(&rest, whole->bytes + from + size, whole->size - from - size);
    *r = repair_bytes(rest.bytes, rest.size, false, NULL);
    check_one(r);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        kept += i != without && stands_in(&r->traces[0], whole, &list[i]);
    blob_free(&rest);
    return kept;
}

enum { MOST_GENERATIONS = 16 };
static const char *const long_ones[] = {"go1.22-gensgc.trace", "go1.25-gensprof.trace",
                                        "go1.27-gensiter.trace"};

/* With a batch of one generation lost, all others are unchanged, and GC cycles are numbered
 * consecutively. */
START_TEST(other_generations_unchanged)
{
    blob trace = trace_sample(long_ones[_i]);
    extent list[MOST_GENERATIONS];
    size_t count = extents_of(&trace, list, MOST_GENERATIONS), rewritten = 0;
    ck_assert_uint_ge(count, 4);
    for (size_t i = 0; i < count; i++) {
        repaired r;
        size_t kept = kept_without(&trace, list, count, i, list[i].lost, list[i].lost_size, &r);
        ck_assert_msg(kept == count - 1, "generation %zu: %zu others stay", i + 1, kept);
        rewritten += r.found[REPAIR_REWRITTEN] > 0;
        ck_assert_uint_eq(r.found[REPAIR_KEPT] > 0, r.found[REPAIR_REWRITTEN] > 0);
        drop(&r);
    }
    ck_assert_uint_gt(rewritten, count / 2);
    blob_free(&trace);
}
END_TEST

/* A generation that is lost completely is written empty, or with events that lead to the next one.
 */
START_TEST(a_generation_is_lost)
{
    blob trace = trace_sample(long_ones[_i]);
    extent list[MOST_GENERATIONS];
    size_t count = extents_of(&trace, list, MOST_GENERATIONS);
    for (size_t i = 1; i + 1 < count; i++) {
        repaired r;
        size_t kept = kept_without(&trace, list, count, i, list[i].begin,
                                   list[i].end - list[i].begin, &r);
        ck_assert_msg(kept + 2 >= count, "generation %zu: %zu others stay", i + 1, kept);
        ck_assert_uint_eq(r.found[REPAIR_LOST], 1);
        drop(&r);
    }
    blob_free(&trace);
}
END_TEST

/* A CPU sample names a thread and its context, which does not place the goroutine there. Most of
 * the batch of that thread is lost. */
START_TEST(samples_set_no_context)
{
    enum { FROM = 362, LOST = 512 };
    blob trace = trace_sample("go1.25-gensprof.trace");
    memset(trace.bytes + FROM, 0, LOST);
    repaired r = repair_bytes(trace.bytes, trace.size, false, NULL);
    check_one(&r);
    ck_assert_uint_eq(r.found[REPAIR_REWRITTEN], 1);
    ck_assert_uint_eq(r.totals.dropped, 0);
    ck_assert_uint_lt(r.totals.added, 20);
    drop(&r);
    blob_free(&trace);
}
END_TEST

START_TEST(each_of_several)
{
    blob one = trace_sample("go1.26-gens.trace"), two = trace_sample("go1.19-chan.trace");
    blob both = {NULL, 0, 0};
    blob_write(&both, one.bytes, one.size);
    blob_write(&both, two.bytes, two.size);
    repaired r = repair_bytes(both.bytes, both.size, true, NULL);
    ck_assert_int_eq(r.status, GOTRACE_END);
    ck_assert_uint_eq(r.count, 2);
    ck_assert_uint_eq(r.traces[1].size, two.size);
    ck_assert_mem_eq(r.traces[0].bytes, one.bytes, one.size);
    ck_assert_mem_eq(r.traces[1].bytes, two.bytes, two.size);
    ck_assert_uint_eq(r.found[REPAIR_TRACE], 1);
    drop(&r);
    blob_free(&both);
    blob_free(&one);
    blob_free(&two);
}
END_TEST

START_TEST(text_is_rejected)
{
    static const char text[] = "A text, which has no trace in it. AAAAAAAAAAAAAAAAAAAAAAAAA";
    for (size_t size = 0; size < sizeof text; size += 10) {
        repaired r = repair_bytes((const uint8_t *)text, size, false, NULL);
        ck_assert_int_eq(r.status, GOTRACE_ERROR);
        ck_assert_int_eq(r.error.rule, GOTRACE_RULE_HEADER_MAGIC);
        ck_assert_uint_eq(r.count, 0);
    }
}
END_TEST

/* ---- limits and errors ----------------------------------------------------------------------- */

static const char *const hurt_ones[] = {"go1.19-chan.trace", "go1.22-syscall.trace",
                                        "go1.22-gensgc.trace"};
enum { HURT_ONES = sizeof hurt_ones / sizeof *hurt_ones };

/* Damaged so that every step of repair is needed. */
static blob damaged_sample(size_t n)
{
    enum { LOST = 300 };
    blob trace = trace_sample(hurt_ones[n]);
    size_t cut = trace.size / 7;
    memmove(trace.bytes + cut, trace.bytes + cut + LOST, trace.size - cut - LOST);
    trace.size -= LOST;
    repaired r = repair_bytes(trace.bytes, trace.size, false, NULL);
    ck_assert_uint_ge(r.found[REPAIR_REWRITTEN], 1);
    drop(&r);
    return trace;
}

START_TEST(each_allocation_refused)
{
    blob trace = damaged_sample((size_t)_i);
    uint64_t n = 0;
    for (bool refused = true; refused; n++) {
        failing_allocator a = {.fail_at = n, .for_good = n % 2};
        gotrace_config config = failing_config(&a);
        repaired r = repair_bytes(trace.bytes, trace.size, false, &config);
        refused = a.calls > n;
        ck_assert_msg(a.bytes == 0, "allocation %llu: %lld bytes left", (unsigned long long)n,
                      (long long)a.bytes);
        if (refused) {
            ck_assert_int_eq(r.status, GOTRACE_ERROR);
            ck_assert_int_eq(r.error.rule, GOTRACE_RULE_SYSTEM_MEMORY);
        } else {
            check_one(&r);
        }
        drop(&r);
    }
    ck_assert_uint_gt(n, 100);
    blob_free(&trace);
}
END_TEST

/* With any memory limit, repair succeeds or reports the limit. */
START_TEST(memory_limits)
{
    blob trace = damaged_sample((size_t)_i);
    bool done = false;
    for (uint64_t limit = 1; !done; limit += limit / 16 + 64) {
        gotrace_config config = {.limits = &(gotrace_limits){.memory = limit}};
        repaired r = repair_bytes(trace.bytes, trace.size, false, &config);
        done = r.status == GOTRACE_END;
        if (done)
            check_one(&r);
        else
            ck_assert_int_eq(r.error.class_, GOTRACE_CLASS_SYSTEM);
        drop(&r);
        ck_assert_uint_lt(limit, 1 << 26);
    }
    blob_free(&trace);
}
END_TEST

static bool refuse_to_write(void *ctx, const void *bytes, size_t size)
{
    (void)ctx, (void)bytes, (void)size;
    return false;
}

START_TEST(output_unavailable)
{
    blob trace = damaged_sample((size_t)_i);
    repaired r = {.room = 0, .write = blob_write};
    repair_into(&r, trace.bytes, trace.size, false, NULL);
    ck_assert_int_eq(r.status, GOTRACE_ERROR);
    ck_assert_int_eq(r.error.rule,
                     GOTRACE_RULE_NONE); /* the callback that returns NULL knows why */
    r = (repaired){.room = 1, .write = refuse_to_write};
    ck_assert(!repair_into(&r, trace.bytes, trace.size, false, NULL));
    ck_assert_uint_eq(r.traces[0].size, 0);
    blob_free(&trace);
}
END_TEST

int main(void)
{
    enum { SAMPLES = sizeof samples / sizeof *samples };
    Suite *suite = suite_create("repair");
    TCase *kept = tcase_create("kept");
    tcase_add_test(kept, sound_is_unchanged);
    tcase_add_loop_test(kept, damaged_becomes_sound, 0, SAMPLES);
    tcase_add_test(kept, batch_continues_after_damage);
    tcase_add_test(kept, batch_continues_between_damage);
    tcase_add_test(kept, rest_is_numbered);
    tcase_add_test(kept, false_header_inside_batch);
    tcase_add_test(kept, until_1_6);
    tcase_add_test(kept, restarted_goroutine_did_not_end);
    tcase_add_test(kept, header_inside_record);
    tcase_add_test(kept, syscall_exit_resembles_header);
    tcase_add_test(kept, ranges_are_completed);
    tcase_add_loop_test(kept, other_generations_unchanged, 0, sizeof long_ones / sizeof *long_ones);
    tcase_add_loop_test(kept, a_generation_is_lost, 0, sizeof long_ones / sizeof *long_ones);
    tcase_add_test(kept, samples_set_no_context);
    tcase_add_test(kept, each_of_several);
    tcase_add_test(kept, text_is_rejected);
    suite_add_tcase(suite, kept);
    TCase *refused = tcase_create("refused");
    tcase_add_loop_test(refused, each_allocation_refused, 0, 2);
    tcase_add_loop_test(refused, memory_limits, 0, HURT_ONES);
    tcase_add_loop_test(refused, output_unavailable, 0, HURT_ONES);
    suite_add_tcase(suite, refused);
    return run_suite(suite);
}
