/* test_writer.c - writing events: every event, implied context, generations, limits. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "writing.h"

/* ---- every event ----------------------------------------------------------------------------- */

/* Go 1.22 has no coroutines. */
static const test_event v2_old[] = {{"ProcsChange", 0, 10, 1, {4}},
                                    {"GoSyscallBegin", 0, 10, 1, {0}},
                                    {"GoSyscallEnd", 0, 10, 1, {0}},
                                    {"GoCreate", 0, 10, 1, {2, 1}},
                                    {"GoBlock", 0, 10, 1, {1}},
                                    {"GoStart", 0, 10, 0, {2}},
                                    {0}};

START_TEST(every_event)
{
    size_t count;
    int version = gotrace_versions(&count)[_i];
    blob written = {0};
    uint64_t counts[GT_CODES];
    gotrace_writer *w = writer_of(version, NULL, &written, NULL);
    const test_event *events = version == 22 ? v2_old : all_events(version);
    ck_assert_msg(write_events(w, version, events) == GOTRACE_OK, "1.%d: %s", version,
                  gotrace_writer_error(w)->message);
    ck_assert_int_eq(gotrace_writer_finish(w), GOTRACE_OK);
    gotrace_writer_free(w);
    check_sound(&written);
    count_records(&written, counts);
    for (unsigned code = 0; code < GT_CODES && version != 22; code++) {
        const gotrace_event_spec *spec = gotrace_event_spec_of(version, code);
        bool never = !gt_is_v2(version) &&
                     code == GOTRACE_V1_GoSysExitLocal; /* no tracer writes it */
        ck_assert_msg(!spec || never || counts[code] > 0, "1.%d: no %s", version, spec->name);
    }
    blob_free(&written);
}
END_TEST

/* ---- implied context ------------------------------------------------------------------------- */

START_TEST(v1_implied_context)
{
    static const test_event events[] = {
        {"GoBlockRecv", 3, 7, 1, {0}}, {"GoStart", 3, 7, 0, {2}},
        {"GoUnblock", 3, 7, 2, {4}},   {"GoSysExit", NOWHERE, 0, 0, {5, 0}},
        {"GoEnd", 3, 7, 2, {0}},       {"GoStart", 3, 7, 0, {5}},
        {"GoSched", 3, 7, 5, {0}},     {"ProcStop", 3, 7, 0, {0}},
        {"ProcStop", 4, 8, 0, {0}},    {0},
    };
    const int versions[] = {5, 7, 11, 19, 21};
    int version = versions[_i];
    blob written = {0};
    uint64_t counts[GT_CODES];
    gotrace_writer *w = writer_of(version, NULL, &written, NULL);
    ck_assert_msg(write_events(w, version, events) == GOTRACE_OK, "%s",
                  gotrace_writer_error(w)->message);
    ck_assert_int_eq(gotrace_writer_finish(w), GOTRACE_OK);
    gotrace_writer_free(w);
    check_sound(&written);
    count_records(&written, counts);
    ck_assert_uint_eq(counts[GOTRACE_V1_GoCreate], 4);
    ck_assert_uint_eq(counts[GOTRACE_V1_GoWaiting], 1);
    ck_assert_uint_eq(counts[GOTRACE_V1_GoInSyscall], 1);
    ck_assert_uint_eq(counts[GOTRACE_V1_ProcStart], 2);
    blob_free(&written);
}
END_TEST

/* All events at one tick: timestamps are raised, and a system call still ends after it began. */
START_TEST(v1_calls_of_no_length)
{
    static const test_event events[] = {
        {"GoCreate", 3, 7, 0, {2, 0}}, {"GoInSyscall", 3, 7, 0, {2}},
        {"GoCreate", 3, 7, 0, {1, 0}}, {"GoSysExit", NOWHERE, 0, 0, {2, 10}},
        {"GoStart", 3, 7, 0, {2}},     {"GoSysCall", 3, 7, 2, {0}},
        {"GoSysBlock", 3, 7, 2, {0}},  {"GoSysExit", 3, 7, 0, {2, 10}},
        {"GoStart", 3, 7, 0, {2}},     {0},
    };
    const int versions[] = {5, 7, 11, 19, 21};
    blob written = {0};
    gotrace_writer *w = writer_of(versions[_i], NULL, &written, NULL);
    ck_assert_int_eq(gotrace_writer_at(w, 10), GOTRACE_OK);
    for (const test_event *s = events; s->name; s++)
        ck_assert_msg(write_event(w, versions[_i], s) == GOTRACE_OK, "%s: %s", s->name,
                      gotrace_writer_error(w)->message);
    ck_assert_int_eq(gotrace_writer_finish(w), GOTRACE_OK);
    gotrace_writer_free(w);
    check_sound(&written);
    blob_free(&written);
}
END_TEST

START_TEST(v2_implied_context)
{
    static const test_event events[] = {
        {"GoBlock", 0, 10, 1, {1}},
        {"GoStart", 0, 10, 2, {2}},
        {"GoUnblock", 0, 10, 2, {1}},
        {"GoSyscallEnd", 1, 11, 3, {0}},
        {"GCSweepEnd", 1, 11, 3, {1, 2}},
        {"GCMarkAssistEnd", 1, 11, 3, {0}},
        {"GCEnd", 1, 11, 3, {0}},
        {"ProcStart", NOWHERE, 12, 0, {2}},
        {"ProcSteal", NOWHERE, 13, 0, {3, 99}},
        {"GoSyscallEndBlocked", NOWHERE, 14, 4, {0}},
        {0},
    };
    int version = v2_versions[_i];
    blob written = {0};
    uint64_t counts[GT_CODES];
    gotrace_writer *w = writer_of(version, NULL, &written, NULL);
    ck_assert_msg(write_events(w, version, events) == GOTRACE_OK, "%s",
                  gotrace_writer_error(w)->message);
    ck_assert_int_eq(gotrace_writer_finish(w), GOTRACE_OK);
    gotrace_writer_free(w);
    check_sound(&written);
    count_records(&written, counts);
    ck_assert_uint_eq(counts[GOTRACE_V2_GoStatus], 4);
    ck_assert_uint_eq(counts[GOTRACE_V2_ProcStatus], 4);
    ck_assert_uint_eq(counts[GOTRACE_V2_GCActive], 1);
    ck_assert_uint_eq(counts[GOTRACE_V2_GCSweepActive], 1);
    ck_assert_uint_eq(counts[GOTRACE_V2_GCMarkAssistActive], 1);
    blob_free(&written);
}
END_TEST

/* ---- states of goroutines, procs and threads ------------------------------------------------- */

static void check_goroutine(gotrace_writer *w, uint64_t id, gotrace_state state, int64_t proc,
                            int64_t thread)
{
    int64_t p, m;
    gotrace_state found = gotrace_writer_goroutine(w, id, &p, &m);
    ck_assert_msg(found == state, "goroutine %llu is %s", (unsigned long long)id,
                  gotrace_state_name(found));
    ck_assert_int_eq(p, proc);
    ck_assert_int_eq(m, thread);
    ck_assert_int_eq(gotrace_writer_goroutine(w, id, NULL, NULL), state);
}

static void check_proc(gotrace_writer *w, int64_t id, gotrace_state state, int64_t thread,
                       uint64_t goroutine)
{
    int64_t m;
    uint64_t g;
    gotrace_state found = gotrace_writer_proc(w, id, &m, &g);
    ck_assert_msg(found == state, "proc %lld is %s", (long long)id, gotrace_state_name(found));
    ck_assert_int_eq(m, thread);
    ck_assert_uint_eq(g, goroutine);
    ck_assert_int_eq(gotrace_writer_proc(w, id, NULL, NULL), state);
}

static void check_thread(gotrace_writer *w, int64_t id, int64_t proc, uint64_t goroutine)
{
    int64_t p;
    uint64_t g;
    ck_assert(gotrace_writer_thread(w, id, &p, &g));
    ck_assert_int_eq(p, proc);
    ck_assert_uint_eq(g, goroutine);
    ck_assert(gotrace_writer_thread(w, id, NULL, NULL));
}

static void report_one(gotrace_writer *w, int version, test_event s)
{
    ck_assert_msg(write_event(w, version, &s) == GOTRACE_OK, "%s: %s", s.name,
                  gotrace_writer_error(w)->message);
}

START_TEST(v1_states)
{
    const int64_t none = GOTRACE_NO_PROC, nowhere = GOTRACE_NO_THREAD;
    blob written = {0};
    gotrace_writer *w = writer_of(11, NULL, &written, NULL);
    check_goroutine(w, 2, GOTRACE_STATE_UNDETERMINED, none, nowhere);
    check_proc(w, 3, GOTRACE_STATE_UNDETERMINED, nowhere, 0);
    report_one(w, 11, (test_event){"GoStart", 3, 7, 0, {2}});
    check_goroutine(w, 2, GOTRACE_STATE_RUNNING, 3, nowhere);
    check_proc(w, 3, GOTRACE_STATE_RUNNING, nowhere, 2);
    report_one(w, 11, (test_event){"GoUnblock", 3, 7, 2, {4}});
    check_goroutine(w, 4, GOTRACE_STATE_RUNNABLE, none, nowhere);
    report_one(w, 11, (test_event){"GoSysBlock", 3, 7, 2, {0}});
    check_goroutine(w, 2, GOTRACE_STATE_SYSCALL, none, nowhere);
    report_one(w, 11, (test_event){"GoStart", 3, 7, 0, {4}});
    report_one(w, 11, (test_event){"GoEnd", 3, 7, 4, {0}});
    check_goroutine(w, 4, GOTRACE_STATE_NOT_EXIST, none, nowhere);
    report_one(w, 11, (test_event){"GoStart", 3, 7, 0, {5}});
    report_one(w, 11, (test_event){"GoStop", 3, 7, 5, {0}});
    check_goroutine(w, 5, GOTRACE_STATE_WAITING, none, nowhere);
    report_one(w, 11, (test_event){"ProcStop", 3, 7, 0, {0}});
    check_proc(w, 3, GOTRACE_STATE_IDLE, nowhere, 0);
    ck_assert(!gotrace_writer_thread(w, 7, NULL, NULL));
    ck_assert_int_eq(gotrace_writer_finish(w), GOTRACE_OK);
    gotrace_writer_free(w);
    blob_free(&written);
}
END_TEST

START_TEST(v2_states)
{
    const int64_t none = GOTRACE_NO_PROC, nowhere = GOTRACE_NO_THREAD;
    blob written = {0};
    gotrace_writer *w = writer_of(26, NULL, &written, NULL);
    check_goroutine(w, 1, GOTRACE_STATE_UNDETERMINED, none, nowhere);
    ck_assert(!gotrace_writer_thread(w, 10, NULL, NULL));
    report_one(w, 26, (test_event){"GoCreate", 0, 10, 1, {2, 0}});
    check_goroutine(w, 1, GOTRACE_STATE_RUNNING, 0, 10);
    check_goroutine(w, 2, GOTRACE_STATE_RUNNABLE, none, nowhere);
    check_proc(w, 0, GOTRACE_STATE_RUNNING, 10, 1);
    check_thread(w, 10, 0, 1);
    report_one(w, 26, (test_event){"GoSyscallBegin", 0, 10, 1, {0}});
    check_goroutine(w, 1, GOTRACE_STATE_SYSCALL, 0, 10);
    check_proc(w, 0, GOTRACE_STATE_SYSCALL, 10, 1);
    report_one(w, 26, (test_event){"ProcSteal", NOWHERE, 11, 0, {0, 10}});
    check_goroutine(w, 1, GOTRACE_STATE_SYSCALL, none, 10);
    check_proc(w, 0, GOTRACE_STATE_IDLE, nowhere, 0);
    check_thread(w, 10, none, 1);
    report_one(w, 26, (test_event){"GoDestroySyscall", NOWHERE, 10, 1, {0}});
    check_goroutine(w, 1, GOTRACE_STATE_UNDETERMINED, none, nowhere);
    check_thread(w, 10, none, 0);
    report_one(w, 26, (test_event){"GoSyscallBegin", 1, 12, 3, {0}});
    report_one(w, 26, (test_event){"GoDestroySyscall", 1, 12, 3, {0}});
    check_proc(w, 1, GOTRACE_STATE_ABANDONED, nowhere, 0);
    report_one(w, 26, (test_event){"GoUnblock", NOWHERE, 12, 0, {4}});
    check_goroutine(w, 4, GOTRACE_STATE_RUNNABLE, none, nowhere);
    report_one(w, 26, (test_event){"ProcStart", NOWHERE, 10, 0, {0}});
    report_one(w, 26, (test_event){"GoStart", 0, 10, 0, {4}});
    report_one(w, 26, (test_event){"GoBlock", 0, 10, 4, {1}});
    check_goroutine(w, 4, GOTRACE_STATE_WAITING, none, nowhere);
    ck_assert_int_eq(gotrace_writer_finish(w), GOTRACE_OK);
    gotrace_writer_free(w);
    check_sound(&written);
    blob_free(&written);
}
END_TEST

/* ---- generations ----------------------------------------------------------------------------- */

/* Two goroutines run in turn for some seconds; a third has no events. */
static void report_seconds(gotrace_writer *w, int version, uint64_t frequency)
{
    static const test_event begin[] = {{"GoCreateBlocked", 0, 10, 1, {3, 0}},
                                       {"GoCreate", 0, 10, 1, {2, 0}},
                                       {"GCBegin", 0, 10, 1, {0}},
                                       {"GCSweepBegin", 0, 10, 1, {0}},
                                       {0}};
    static const test_event turns[] = {{"GoStop", 0, 10, 1, {1}},
                                       {"GoStart", 0, 10, 0, {2}},
                                       {"GoStop", 0, 10, 2, {1}},
                                       {"GoStart", 0, 10, 0, {1}}};
    ck_assert_int_eq(write_events(w, version, begin), GOTRACE_OK);
    for (uint64_t i = 1; i <= 35; i++) {
        ck_assert_int_eq(gotrace_writer_at(w, 2000 + i * frequency / 10), GOTRACE_OK);
        ck_assert_msg(write_event(w, version, &turns[(i - 1) % 4]) == GOTRACE_OK, "%s",
                      gotrace_writer_error(w)->message);
    }
}

START_TEST(generations)
{
    int version = v2_versions[_i];
    blob written = {0};
    uint64_t counts[GT_CODES];
    gotrace_writer_options options = {
        .frequency = 15625000,
        .clocks = {
            .ticks = 1000, .monotonic_ns = 5, .wall_seconds = 7, .wall_nanoseconds = 999999999}};
    gotrace_writer *w = writer_of(version, &options, &written, NULL);
    report_seconds(w, version, options.frequency);
    ck_assert_uint_eq(gotrace_writer_generation(w), 4);
    ck_assert_int_eq(gotrace_writer_finish(w), GOTRACE_OK);
    gotrace_writer_free(w);
    check_sound(&written);
    count_records(&written, counts);
    ck_assert_uint_eq(counts[GOTRACE_V2_Frequency], 4);
    ck_assert_uint_eq(counts[GOTRACE_V2_Sync], version >= 25 ? 4 : 0);
    ck_assert_uint_eq(counts[GOTRACE_V2_EndOfGeneration], version >= 26 ? 4 : 0);
    /* each of the four generations has the status of each goroutine, unless it was created in it */
    ck_assert_uint_eq(counts[GOTRACE_V2_GoStatus], version >= 23 ? 4 * 3 - 2 : 4 * 2 - 1);
    ck_assert_uint_eq(counts[GOTRACE_V2_ProcStatus], 4);
    ck_assert_uint_eq(counts[GOTRACE_V2_GCActive], 3);
    ck_assert_uint_eq(counts[GOTRACE_V2_GCSweepActive], 3);
    blob_free(&written);
}
END_TEST

/* Generations that replace others of a trace have their numbers, and those of their GC events. */
START_TEST(numbers)
{
    int version = v2_versions[_i];
    blob written = {0};
    gotrace_writer_options options = {.size = sizeof options,
                                      .frequency = 15625000,
                                      .clocks = {.ticks = 1000},
                                      .first_generation = 5,
                                      .gc_events = 41};
    gotrace_source *source;
    gotrace_reader *reader;
    const gotrace_event *e;
    uint64_t gc = 41, generation = 4;
    gotrace_writer *w = writer_of(version, &options, &written, NULL);
    ck_assert_uint_eq(gotrace_writer_generation(w), 5);
    report_seconds(w, version, options.frequency);
    ck_assert_uint_eq(gotrace_writer_generation(w), 8);
    ck_assert_int_eq(gotrace_writer_finish(w), GOTRACE_OK);
    gotrace_writer_free(w);
    check_sound(&written);
    ck_assert_int_eq(gotrace_source_memory(written.bytes, written.size, NULL, &source, NULL),
                     GOTRACE_OK);
    ck_assert_int_eq(gotrace_reader_open(source, NULL, &reader, NULL), GOTRACE_OK);
    while (gotrace_reader_next(reader, &e) == GOTRACE_EVENT) {
        if (e->kind == GOTRACE_KIND_SYNC && e->subject)
            ck_assert_uint_eq(e->subject, ++generation);
        if ((e->kind == GOTRACE_KIND_RANGE_BEGIN || e->kind == GOTRACE_KIND_RANGE_ACTIVE) &&
            e->range == GOTRACE_RANGE_GC)
            ck_assert_uint_eq(gotrace_event_details(e)->args[0], ++gc);
    }
    ck_assert_uint_eq(generation, 8);
    ck_assert_uint_gt(gc, 42);
    gotrace_reader_close(reader);
    gotrace_source_close(source);
    blob_free(&written);
}
END_TEST

/* Create a reader and read to the end. */
static gotrace_reader *read_to_end(const blob *written, gotrace_source **source)
{
    gotrace_reader *reader;
    const gotrace_event *e;
    ck_assert_int_eq(gotrace_source_memory(written->bytes, written->size, NULL, source, NULL),
                     GOTRACE_OK);
    ck_assert_int_eq(gotrace_reader_open(*source, NULL, &reader, NULL), GOTRACE_OK);
    while (gotrace_reader_next(reader, &e) == GOTRACE_EVENT)
        ;
    return reader;
}

START_TEST(clocks_follow)
{
    blob written = {0};
    gotrace_source *source;
    const gotrace_generation_summary *g;
    gotrace_writer_options options = {.clocks = {1000, 5, 7, 999999999}};
    const gotrace_clocks given = {3000002000, 77, 88, 99};
    gotrace_writer *w = writer_of(26, &options, &written, NULL);
    report_seconds(w, 26, 1000000000);
    ck_assert_int_eq(gotrace_writer_at(w, 5000000000), GOTRACE_OK);
    ck_assert_int_eq(gotrace_writer_advance(w, &given), GOTRACE_OK);
    ck_assert_int_eq(write_event(w, 26, &(test_event){"HeapAlloc", 0, 10, 0, {1}}), GOTRACE_OK);
    ck_assert_int_eq(gotrace_writer_finish(w), GOTRACE_OK);
    gotrace_writer_free(w);
    gotrace_reader *reader = read_to_end(&written, &source);
    ck_assert_ptr_nonnull(g = gotrace_reader_generation(reader, 0));
    ck_assert_uint_eq(g->clock_ticks, 1000);
    ck_assert_uint_eq(g->monotonic_ns, 5);
    ck_assert_ptr_nonnull(g = gotrace_reader_generation(reader, 1));
    ck_assert_uint_eq(g->clock_ticks, 1000002000);
    ck_assert_uint_eq(g->monotonic_ns, 1000001005);
    ck_assert_uint_eq(g->wall_seconds, 9);
    ck_assert_uint_eq(g->wall_nanoseconds, 999);
    ck_assert_ptr_nonnull(g = gotrace_reader_generation(reader, 4));
    ck_assert_uint_eq(g->clock_ticks, given.ticks);
    ck_assert_uint_eq(g->wall_nanoseconds, 99);
    gotrace_reader_close(reader);
    gotrace_source_close(source);
    blob_free(&written);
}
END_TEST

/* Clocks set for a time after the first event. */
START_TEST(clocks_before)
{
    static const struct {
        gotrace_clocks given;
        uint64_t ticks; /* of the first event */
        uint64_t monotonic_ns, wall_seconds, wall_nanoseconds;
    } cases[] = {
        {{5000000000, 9000000000, 100, 250}, 3000000000, 7000000000, 98, 250},
        {{5000000000, 9000000000, 100, 250}, 2999999000, 6999999000, 97, 999999250},
        {{5000000000, 9000000000, 100, 1000}, 2999999000, 6999999000, 98, 0},
        {{5000000000, 1000, 1, 999999999},
         1000000000,
         0,
         0,
         999999999}, /* before the clocks' zero */
    };
    blob written = {0};
    gotrace_source *source;
    const gotrace_generation_summary *g;
    gotrace_writer_options options = {.clocks = cases[_i].given};
    gotrace_writer *w = writer_of(26, &options, &written, NULL);
    ck_assert_int_eq(gotrace_writer_at(w, cases[_i].ticks), GOTRACE_OK);
    ck_assert_int_eq(write_event(w, 26, &(test_event){"HeapAlloc", 0, 10, 0, {1}}), GOTRACE_OK);
    ck_assert_int_eq(gotrace_writer_finish(w), GOTRACE_OK);
    gotrace_writer_free(w);
    gotrace_reader *reader = read_to_end(&written, &source);
    ck_assert_ptr_nonnull(g = gotrace_reader_generation(reader, 0));
    ck_assert_uint_eq(g->clock_ticks, cases[_i].ticks);
    ck_assert_uint_eq(g->monotonic_ns, cases[_i].monotonic_ns);
    ck_assert_uint_eq(g->wall_seconds, cases[_i].wall_seconds);
    ck_assert_uint_eq(g->wall_nanoseconds, cases[_i].wall_nanoseconds);
    gotrace_reader_close(reader);
    gotrace_source_close(source);
    blob_free(&written);
}
END_TEST

/* ---- invalid calls --------------------------------------------------------------------------- */

/* The event is rejected with that rule and message, and the writer continues. */
static void refuse(gotrace_writer *w, const gotrace_event_data *h, gotrace_rule rule,
                   const char *why)
{
    ck_assert_int_eq(gotrace_writer_event(w, h), GOTRACE_ERROR);
    ck_assert_int_eq(gotrace_writer_error(w)->rule, rule);
    ck_assert_msg(strstr(gotrace_writer_error(w)->message, why) != NULL, "%s",
                  gotrace_writer_error(w)->message);
}

START_TEST(misuse)
{
    const uint64_t args[2] = {1, 2};
    blob written = {0};
    uint64_t string;
    gotrace_writer *w = writer_of(26, NULL, &written, NULL);
    gotrace_event_data h = {.proc = 0, .thread = 10, .goroutine = 1, .args = args, .arg_count = 1};
    refuse(w, &h, GOTRACE_RULE_USAGE, "nothing is not an event of go 1.26");
    h.spec = gotrace_event_spec_named(21, "GoSched");
    refuse(w, &h, GOTRACE_RULE_USAGE, "GoSched is not an event of go 1.26");
    h.spec = gotrace_event_spec_named(26, "EventBatch");
    refuse(w, &h, GOTRACE_RULE_USAGE, "written by the writer itself");
    h.spec = gotrace_event_spec_named(26, "HeapAlloc");
    h.arg_count = 2;
    refuse(w, &h, GOTRACE_RULE_EVENT_ARITY, "HeapAlloc with 2 arguments; 1 are expected");
    h.arg_count = 1;
    h.stack = 1;
    refuse(w, &h, GOTRACE_RULE_USAGE, "HeapAlloc cannot have a stack");
    h.stack = 0;
    h.data_size = 1;
    h.data = "x";
    refuse(w, &h, GOTRACE_RULE_USAGE, "HeapAlloc cannot have a message");
    h.data_size = 0;
    ck_assert_int_eq(gotrace_writer_event(w, &h), GOTRACE_OK);
    ck_assert_int_eq(gotrace_writer_finish(w), GOTRACE_OK);
    gotrace_writer_free(w);
    check_sound(&written);
    blob_free(&written);
    w = writer_of(5, NULL, &written, NULL);
    ck_assert_int_eq(gotrace_writer_string(w, 0, "x", 1, &string), GOTRACE_ERROR);
    ck_assert_int_eq(gotrace_writer_error(w)->rule, GOTRACE_RULE_USAGE);
    gotrace_writer_free(w);
    blob_free(&written);
    w = writer_of(21, NULL, &written, NULL);
    ck_assert_int_eq(gotrace_writer_string(w, GOTRACE_NO_PROC, "x", 1, &string), GOTRACE_ERROR);
    ck_assert_int_eq(gotrace_writer_error(w)->rule, GOTRACE_RULE_USAGE);
    gotrace_writer_free(w);
    blob_free(&written);
}
END_TEST

/* ---- truncation ------------------------------------------------------------------------------ */

START_TEST(long_strings_are_truncated)
{
    static char text[70000];
    static gotrace_frame frames[1200];
    const int versions[] = {7, 19, 22, 26};
    int version = versions[_i];
    blob written = {0};
    memset(text, 'x', sizeof text);
    for (size_t i = 0; i < 1200; i++)
        frames[i] = (gotrace_frame){.pc = i + 1, .function = text, .function_size = 2000};
    gotrace_writer *w = writer_of(version, NULL, &written, NULL);
    uint64_t string, stack, again;
    ck_assert_int_eq(gotrace_writer_string(w, 0, text, sizeof text, &string), GOTRACE_OK);
    ck_assert_int_eq(gotrace_writer_string(w, 0, text, sizeof text - 1, &again), GOTRACE_OK);
    ck_assert_uint_eq(string, again);
    ck_assert_int_eq(gotrace_writer_stack(w, frames, 1200, &stack), GOTRACE_OK);
    ck_assert_int_eq(gotrace_writer_string(w, 0, NULL, 0, &again), GOTRACE_OK);
    ck_assert_uint_eq(again, 0);
    const gotrace_event_spec *spec = gotrace_event_spec_named(
        version, gt_is_v2(version) ? "STWBegin" : "GoSched");
    gotrace_event_data h = {.spec = spec,
                            .proc = 0,
                            .thread = 1,
                            .goroutine = 1,
                            .args = &string,
                            .arg_count = gt_is_v2(version),
                            .stack = stack};
    ck_assert_int_eq(gotrace_writer_event(w, &h), GOTRACE_OK);
    ck_assert_int_eq(gotrace_writer_finish(w), GOTRACE_OK);
    gotrace_writer_free(w);
    gotrace_decoder *d;
    const gotrace_record *r;
    uint64_t longest = 0, deepest = 0;
    ck_assert_int_eq(gotrace_decoder_new(NULL, &d, NULL), GOTRACE_OK);
    gotrace_decoder_feed(d, written.bytes, written.size);
    gotrace_decoder_finish(d);
    while (gotrace_decoder_next(d, &r) == GOTRACE_EVENT) {
        if (strcmp(r->spec->name, "String") == 0 && r->data_size > longest)
            longest = r->data_size;
        if (strcmp(r->spec->name, "Stack") == 0)
            deepest = r->args[1];
    }
    gotrace_decoder_free(d);
    if (gt_is_v2(version))
        ck_assert_uint_eq(longest, 1024);
    else
        ck_assert(longest > 64000 && longest < 65536);
    ck_assert_uint_eq(deepest, gt_is_v2(version) ? 128 : 1000);
    check_sound(&written);
    blob_free(&written);
}
END_TEST

/* A goroutine that runs timers is recorded once. */
START_TEST(v1_timers)
{
    static const test_event events[] = {{"TimerGoroutine", 0, 1, 0, {1}},
                                        {"TimerGoroutine", 0, 1, 0, {2}},
                                        {"TimerGoroutine", 0, 1, 0, {2}},
                                        {"TimerGoroutine", 0, 1, 0, {1}},
                                        {0}};
    blob written = {0};
    uint64_t counts[GT_CODES];
    gotrace_writer *w = writer_of(19, NULL, &written, NULL);
    ck_assert_int_eq(write_events(w, 19, events), GOTRACE_OK);
    ck_assert_int_eq(gotrace_writer_finish(w), GOTRACE_OK);
    gotrace_writer_free(w);
    count_records(&written, counts);
    ck_assert_uint_eq(counts[GOTRACE_V1_TimerGoroutine], 2);
    blob_free(&written);
}
END_TEST

/* ---- limits, memory, output errors ----------------------------------------------------------- */

START_TEST(limits_hold)
{
    static const gotrace_limits limits[] = {
        {.goroutines = 3}, {.procs = 1}, {.strings = 4}, {.stacks = 1}, {.memory = 16000}};
    const int versions[] = {19, 26};
    for (size_t i = 0; i < 2; i++) {
        blob written = {0};
        gotrace_config config = {.limits = &limits[_i]};
        gotrace_writer *w = NULL;
        gotrace_error error = {0};
        if (gotrace_writer_new(versions[i], NULL, blob_write, &written, &config, &w, &error) ==
            GOTRACE_OK) {
            ck_assert_int_eq(write_events(w, versions[i], all_events(versions[i])), GOTRACE_ERROR);
            error = *gotrace_writer_error(w);
            ck_assert_int_eq(gotrace_writer_finish(w), GOTRACE_ERROR);
            gotrace_writer_free(w);
        }
        ck_assert_int_eq(error.rule, GOTRACE_RULE_SYSTEM_LIMIT);
        blob_free(&written);
    }
}
END_TEST

START_TEST(memory_refused)
{
    const int versions[] = {5, 19, 25, 26};
    for (uint64_t n = 0;; n++) {
        failing_allocator a = {.fail_at = n};
        gotrace_config config = failing_config(&a);
        gotrace_writer *w;
        gotrace_error error = {0};
        blob written = {0};
        gotrace_status status = gotrace_writer_new(versions[_i], NULL, blob_write, &written,
                                                   &config, &w, &error);
        if (status == GOTRACE_OK) {
            status = write_events(w, versions[_i], all_events(versions[_i]));
            if (status == GOTRACE_OK)
                status = gotrace_writer_advance(w, NULL);
            if (status == GOTRACE_OK)
                status = gotrace_writer_finish(w);
            error = *gotrace_writer_error(w);
            gotrace_writer_free(w);
        }
        ck_assert_int_eq(a.bytes, 0);
        blob_free(&written);
        if (status == GOTRACE_OK) {
            ck_assert_uint_gt(n, 10);
            ck_assert_msg(a.calls <= n, "allocation %llu is refused, and not reported",
                          (unsigned long long)n);
            break;
        }
        ck_assert_msg(error.rule == GOTRACE_RULE_SYSTEM_MEMORY || a.calls <= n, "%s",
                      error.message);
        ck_assert_uint_lt(n, 1000);
    }
}
END_TEST

/* Accepts *left bytes, then fails with ENOSPC. */
static bool write_some(void *ctx, const void *bytes, size_t size)
{
    size_t *left = ctx;
    (void)bytes;
    if (size > *left) {
        errno = ENOSPC;
        return false;
    }
    *left -= size;
    return true;
}

START_TEST(failed_write_remains)
{
    const int versions[] = {5, 19, 25, 26};
    for (size_t room = 0; room < 2000; room += 3) {
        size_t left = room;
        gotrace_writer *w;
        gotrace_error error = {0};
        gotrace_status status = gotrace_writer_new(versions[_i], NULL, write_some, &left, NULL, &w,
                                                   &error);
        if (status == GOTRACE_OK) {
            status = write_events(w, versions[_i], all_events(versions[_i]));
            if (status == GOTRACE_OK)
                status = gotrace_writer_advance(w, NULL);
            /* The call that fails reports it. */
            ck_assert(status != GOTRACE_OK || gotrace_writer_error(w)->rule == GOTRACE_RULE_NONE);
            if (status == GOTRACE_OK)
                status = gotrace_writer_finish(w);
            error = *gotrace_writer_error(w);
            if (status != GOTRACE_OK)
                ck_assert_int_eq(gotrace_writer_at(w, 1000000), GOTRACE_ERROR);
            gotrace_writer_free(w);
        }
        if (status != GOTRACE_OK) {
            ck_assert_int_eq(error.rule, GOTRACE_RULE_SYSTEM_WRITE);
            ck_assert_int_eq(error.os_error, ENOSPC);
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("writer");
    TCase *cases = tcase_create("writer");
    tcase_add_loop_test(cases, every_event, 0, 12);
    tcase_add_loop_test(cases, v1_implied_context, 0, 5);
    tcase_add_loop_test(cases, v1_calls_of_no_length, 0, 5);
    tcase_add_loop_test(cases, v2_implied_context, 0, 4);
    tcase_add_test(cases, v1_states);
    tcase_add_test(cases, v1_timers);
    tcase_add_test(cases, v2_states);
    tcase_add_loop_test(cases, generations, 0, 4);
    tcase_add_loop_test(cases, numbers, 0, 4);
    tcase_add_test(cases, clocks_follow);
    tcase_add_loop_test(cases, clocks_before, 0, 4);
    tcase_add_test(cases, misuse);
    tcase_add_loop_test(cases, long_strings_are_truncated, 0, 4);
    tcase_add_loop_test(cases, limits_hold, 0, 5);
    tcase_add_loop_test(cases, memory_refused, 0, 4);
    tcase_add_loop_test(cases, failed_write_remains, 0, 4);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
