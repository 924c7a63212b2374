/* test_print.c - events that are rare in real traces, compared with Event.String of Go 1.27. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "formats/print/printer.h"
#include "support.h"

/* A reader of an empty v2 trace, which has no stacks. */
static gotrace_source *source;
static gotrace_reader *reader;

static void open_reader(void)
{
    static const char header[16] = "go 1.26 trace";

    ck_assert_int_eq(setenv("TZ", "UTC0", 1), 0);
    tzset();
    ck_assert_int_eq(gotrace_source_memory(header, sizeof header, NULL, &source, NULL), GOTRACE_OK);
    ck_assert_int_eq(gotrace_reader_open(source, NULL, &reader, NULL), GOTRACE_OK);
}

static void close_reader(void)
{
    gotrace_reader_close(reader);
    gotrace_source_close(source);
}

/* An event with its type and place; the test sets the rest. */
static gotrace_event event_of(const char *type, gotrace_kind kind)
{
    const gotrace_event_spec *spec = gotrace_event_spec_named(26, type);

    return (gotrace_event){.type = spec ? spec->code : 0,
                           .kind = (uint8_t)kind,
                           .thread = 5,
                           .proc = 2,
                           .goroutine = 9};
}

/* Gives the event details. */
static void give(gotrace_event *e, const gotrace_details *details)
{
    e->given = GOTRACE_GIVEN_DETAILS;
    e->extra.details = details;
}

static void expect(const char *name, const gotrace_event *event, const char *wanted)
{
    const gotrace_details *d = gotrace_event_details(event);
    const gotrace_raw raw = {
        .ticks = 70, .args = d->args, .arg_count = d->arg_count, .generation = 1};
    const print_source from = {.version = 26, .raw = &raw, .reader = reader};
    blob b = {0};
    out o;

    ck_assert(out_init(&o, blob_write, &b));
    printer_by_name(name)->event(&o, &from, event);
    ck_assert(out_flush(&o));
    ck_assert(blob_write(&b, "", 1));
    ck_assert_str_eq((const char *)b.bytes, wanted);
    out_free(&o);
    blob_free(&b);
}

START_TEST(none_is_minus_one)
{
    gotrace_event e = event_of("GoLabel", GOTRACE_KIND_LABEL);
    e.thread = GOTRACE_NO_THREAD;
    e.proc = GOTRACE_NO_PROC;
    e.goroutine = 0;
    give(&e, &(gotrace_details){.text = "a\"b\n", .text_size = 4});
    expect("go", &e, "M=-1 P=-1 G=-1 Label Time=70 Label=\"a\\\"b\\n\" Resource=Goroutine(-1)\n");
}
END_TEST

/* The creation of a goroutine and a sample print an unknown stack. */
START_TEST(empty_blocks)
{
    gotrace_event e = event_of("GoCreate", GOTRACE_KIND_TRANSITION);
    e.resource = GOTRACE_RESOURCE_GOROUTINE;
    e.subject = 10;
    e.from = GOTRACE_STATE_NOT_EXIST;
    e.to = GOTRACE_STATE_RUNNABLE;
    expect("go", &e,
           "M=5 P=2 G=9 StateTransition Time=70 GoID=10 NotExist->Runnable Reason=\"\"\n"
           "TransitionStack=\n\n");
    e = event_of("CPUSample", GOTRACE_KIND_SAMPLE);
    expect("go", &e, "M=5 P=2 G=9 StackSample Time=70\nStack=\n\n");
    /* an unblock has only the stack of the unblocking goroutine */
    e = event_of("GoUnblock", GOTRACE_KIND_TRANSITION);
    e.resource = GOTRACE_RESOURCE_GOROUTINE;
    e.subject = 10;
    e.from = GOTRACE_STATE_WAITING;
    e.to = GOTRACE_STATE_RUNNABLE;
    e.stack = 3;
    expect("go", &e,
           "M=5 P=2 G=9 StateTransition Time=70 GoID=10 Waiting->Runnable Reason=\"\"\n"
           "Stack=\n\n");
    e = event_of("GoStop", GOTRACE_KIND_TRANSITION);
    e.resource = GOTRACE_RESOURCE_GOROUTINE;
    e.subject = 9;
    e.from = GOTRACE_STATE_RUNNING;
    e.to = GOTRACE_STATE_RUNNABLE;
    e.given = GOTRACE_GIVEN_REASON;
    e.extra.reason = "preempted";
    e.stack = 3;
    expect("go", &e,
           "M=5 P=2 G=9 StateTransition Time=70 GoID=9 Running->Runnable Reason=\"preempted\"\n"
           "TransitionStack=\n\nStack=\n\n");
}
END_TEST

START_TEST(ranges)
{
    gotrace_event e = event_of("STWEnd", GOTRACE_KIND_RANGE_END);
    e.range = GOTRACE_RANGE_STW;
    e.subject = 9;
    e.given = GOTRACE_GIVEN_REASON;
    e.extra.reason = "why \"so\"";
    expect("go", &e,
           "M=5 P=2 G=9 RangeEnd Time=70 Name=\"stop-the-world (why \\\"so\\\")\" "
           "Scope=Goroutine(9) Attributes=[]\n");
    e = event_of("GCSweepEnd", GOTRACE_KIND_RANGE_END);
    e.range = GOTRACE_RANGE_SWEEP;
    e.subject = 2;
    give(&e, &(gotrace_details){.args = (const uint64_t[]){100, UINT64_MAX}, .arg_count = 2});
    expect("go", &e,
           "M=5 P=2 G=9 RangeEnd Time=70 Name=\"GC incremental sweep\" Scope=Proc(2) "
           "Attributes=[\"bytes swept\"=Value{Uint64(100)} "
           "\"bytes reclaimed\"=Value{Uint64(18446744073709551615)}]\n");
    /* an event about another goroutine than its context */
    e = event_of("GCMarkAssistActive", GOTRACE_KIND_RANGE_ACTIVE);
    e.range = GOTRACE_RANGE_MARK_ASSIST;
    e.subject = 44;
    expect("go", &e,
           "M=5 P=2 G=9 RangeActive Time=70 Name=\"GC mark assist\" Scope=Goroutine(44)\n");
    expect("text", &e,
           "   0.000000000  M5       P2   G9      GCMarkAssistActive GC mark assist goes on G44\n");
}
END_TEST

START_TEST(tasks_without_parent)
{
    gotrace_event e = event_of("UserTaskEnd", GOTRACE_KIND_TASK_END);
    e.subject = 3;
    give(&e, &(gotrace_details){.value = UINT64_MAX});
    expect("go", &e, "M=5 P=2 G=9 TaskEnd Time=70 ID=3 Parent=18446744073709551615 Type=\"\"\n");
    e = event_of("UserTaskBegin", GOTRACE_KIND_TASK_BEGIN);
    e.subject = 3;
    give(&e, &(gotrace_details){.text = "t", .text_size = 1});
    expect("go", &e, "M=5 P=2 G=9 TaskBegin Time=70 ID=3 Parent=18446744073709551615 Type=\"t\"\n");
    expect("text", &e,
           "   0.000000000  M5       P2   G9      UserTaskBegin     task begins T3 \"t\"\n");
}
END_TEST

START_TEST(syncs)
{
    gotrace_event e = event_of("", GOTRACE_KIND_SYNC);
    e.thread = GOTRACE_NO_THREAD;
    e.proc = GOTRACE_NO_PROC;
    e.goroutine = 0;
    e.subject = 1;
    e.flags = GOTRACE_EVENT_CLOCKS;
    give(&e, &(gotrace_details){.args = (const uint64_t[]){64, 65, 1700000000, 500000000},
                                .arg_count = 4,
                                .value = 1});
    expect("go", &e,
           "M=-1 P=-1 G=-1 Sync Time=70 N=2 Trace=64 Mono=65 Wall=2023-11-14T22:13:20.5Z\n");
    expect("text", &e,
           "   0.000000000  -        -    -       Sync              generation 1 begins "
           "trace=64 monotonic=65 wall=2023-11-14T22:13:20.5Z\n");
    expect("jsonl", &e,
           "{\"time\":0,\"ticks\":70,\"offset\":0,\"type\":\"Sync\",\"kind\":\"sync\","
           "\"generation\":1,\"clocks\":{\"trace\":64,\"monotonic\":65,"
           "\"wall\":\"2023-11-14T22:13:20.5Z\",\"wall_seconds\":1700000000,"
           "\"wall_nanoseconds\":500000000}}\n");
    e.flags = 0;
    e.subject = 0;
    expect("text", &e, "   0.000000000  -        -    -       Sync              the trace ends\n");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("print");
    TCase *cases = tcase_create("all");

    tcase_add_checked_fixture(cases, open_reader, close_reader);
    tcase_add_test(cases, none_is_minus_one);
    tcase_add_test(cases, empty_blocks);
    tcase_add_test(cases, ranges);
    tcase_add_test(cases, tasks_without_parent);
    tcase_add_test(cases, syncs);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
