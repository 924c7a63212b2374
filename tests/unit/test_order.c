/* test_order.c - the order of v1 events: sequence numbers, times, futile wake-ups. */
#include <string.h>

#include "forged.h"
#include "formats/common/lane.h"

/* ---- order --------------------------------------------------------------------------------- */

/* Proc 1 starts the goroutine that proc 0 unblocks; its batch comes first in the file. */
START_TEST(sequence_numbers_order)
{
    open_trace t;
    forge f = forge_new(21);
    FORGE(&f, Batch, 1, 10);
    FORGE(&f, GoStart, 5, 7, 3);
    FORGE(&f, GoEnd, 1);
    FORGE(&f, Batch, 0, 1);
    FORGE(&f, GoCreate, 1, 7, 0, 0);
    FORGE(&f, GoStart, 1, 7, 1);
    FORGE(&f, GoBlock, 1, 0);
    FORGE(&f, GoUnblock, 1, 7, 2, 0);
    forge_finish(&f);
    open_forged(&t, &f);
    expect(&t, GOTRACE_V1_GoCreate, 0, 2, 0);
    expect(&t, GOTRACE_V1_GoStart, 0, 3, 7);
    expect(&t, GOTRACE_V1_GoBlock, 0, 4, 7);
    expect(&t, GOTRACE_V1_GoUnblock, 0, 5, 0);
    gotrace_event e = expect(&t, GOTRACE_V1_GoStart, 1, 15, 7);
    ck_assert_int_eq(e.time, 13);
    expect(&t, GOTRACE_V1_GoEnd, 1, 16, 7);
    end(&t);
    ck_assert_int_eq(gotrace_reader_summary(t.reader)->duration, 14);
    close_forged(&t, &f);
}
END_TEST

/* The same, but the clock of proc 1 is slow: the order is kept, and the clocks are reported. */
START_TEST(sequence_numbers_against_clocks)
{
    open_trace t;
    forge f = forge_new(21);
    FORGE(&f, Batch, 1, 1);
    FORGE(&f, GoStart, 1, 7, 1);
    FORGE(&f, Batch, 0, 100);
    FORGE(&f, GoCreate, 1, 7, 0, 0);
    forge_finish(&f);
    open_forged(&t, &f);
    expect(&t, GOTRACE_V1_GoCreate, 0, 101, 0);
    expect(&t, GOTRACE_V1_GoStart, 1, 2, 7);
    ck_assert_uint_eq(t.problems, 1);
    ck_assert_int_eq(t.problem.rule, GOTRACE_RULE_TIME_ORDER);
    ck_assert_int_eq(t.problem.class_, GOTRACE_CLASS_CLOCKS);
    ck_assert_ptr_nonnull(strstr(t.problem.message, "99 ticks"));
    close_forged(&t, &f);
}
END_TEST

/* The same with clocks that differ by much more than the time for which events wait after a loss.
 */
START_TEST(sequence_numbers_against_distant_clocks)
{
    enum { FAR = 1000000000 };
    open_trace t;
    forge f = forge_new(21);
    FORGE(&f, Batch, 1, 1);
    FORGE(&f, GoStart, 1, 7, 1);
    FORGE(&f, Batch, 0, FAR);
    FORGE(&f, GCSweepStart, 1, 0);
    FORGE(&f, GoCreate, 1, 7, 0, 0);
    FORGE(&f, GCSweepDone, 1, 0, 0);
    forge_finish(&f);
    open_forged(&t, &f);
    expect(&t, GOTRACE_V1_GCSweepStart, 0, FAR + 1, 0);
    expect(&t, GOTRACE_V1_GoCreate, 0, FAR + 2, 0);
    expect(&t, GOTRACE_V1_GoStart, 1, 2, 7);
    expect(&t, GOTRACE_V1_GCSweepDone, 0, FAR + 3, 0);
    ck_assert_uint_eq(t.problems, 1);
    ck_assert_int_eq(t.problem.rule, GOTRACE_RULE_TIME_ORDER);
    close_forged(&t, &f);
}
END_TEST

/* Once an event waited in vain until all others waited too, a loss delays only the events after it
 * on its proc, which keep their times. */
START_TEST(second_loss_delays_no_others)
{
    open_trace t;
    forge f = forge_new(21);
    FORGE(&f, Batch, 0, 0);
    FORGE(&f, GoCreate, 1000, 7, 0, 0);
    FORGE(&f, GoStart, 1000, 7, 1);
    FORGE(&f, GoBlock, 1000, 0); /* the unblocking event is lost */
    FORGE(&f, GoStart, 10000, 9, 1);
    FORGE(&f, GCSweepStart, 90000, 0);
    FORGE(&f, GCSweepDone, 100000, 0, 0);
    FORGE(&f, Batch, 1, 10000);
    FORGE(&f, GoStart, 1000, 7, 3);
    FORGE(&f, GoCreate, 1000, 9, 0, 0);
    FORGE(&f, GoBlock, 500, 0); /* here too */
    FORGE(&f, GoStart, 107500, 7, 5);
    FORGE(&f, Frequency, 1000000000);
    open_forged(&t, &f);
    expect(&t, GOTRACE_V1_GoCreate, 0, 1000, 0);
    expect(&t, GOTRACE_V1_GoStart, 0, 2000, 7);
    expect(&t, GOTRACE_V1_GoBlock, 0, 3000, 7);
    ck_assert_uint_eq(t.problems, 0);
    expect(&t, GOTRACE_V1_GoStart, 1, 11000, 7);
    ck_assert_uint_gt(t.problems, 0);
    ck_assert_int_eq(t.problem.rule, GOTRACE_RULE_ORDER_SEQUENCE);
    expect(&t, GOTRACE_V1_GoCreate, 1, 12000, 7);
    expect(&t, GOTRACE_V1_GoBlock, 1, 12500, 7);
    expect(&t, GOTRACE_V1_GoStart, 0, 13000, 9);
    expect(&t, GOTRACE_V1_GCSweepStart, 0, 103000, 9);
    expect(&t, GOTRACE_V1_GoStart, 1, 120000, 7);
    expect(&t, GOTRACE_V1_GCSweepDone, 0, 203000, 9);
    close_forged(&t, &f);
}
END_TEST

/* Local variants are read as the full events, without a sequence number. */
START_TEST(local_variants)
{
    open_trace t;
    forge f = forge_new(21);
    FORGE(&f, Batch, 0, 1);
    FORGE(&f, GoCreate, 1, 7, 0, 0);
    FORGE(&f, GoStartLocal, 1, 7);
    FORGE(&f, GoBlock, 1, 0);
    FORGE(&f, GoUnblockLocal, 1, 7, 0);
    FORGE(&f, GoStartLocal, 1, 7);
    FORGE(&f, GoSysCall, 1, 0);
    FORGE(&f, GoSysBlock, 1);
    FORGE(&f, GoSysExitLocal, 1, 7, 0);
    FORGE(&f, GoStart, 1, 7, 5);
    forge_finish(&f);
    open_forged(&t, &f);
    expect(&t, GOTRACE_V1_GoCreate, 0, 2, 0);
    expect(&t, GOTRACE_V1_GoStart, 0, 3, 7);
    expect(&t, GOTRACE_V1_GoBlock, 0, 4, 7);
    expect(&t, GOTRACE_V1_GoUnblock, 0, 5, 0);
    expect(&t, GOTRACE_V1_GoStart, 0, 6, 7);
    expect(&t, GOTRACE_V1_GoSysCall, 0, 7, 7);
    expect(&t, GOTRACE_V1_GoSysBlock, 0, 8, 7);
    expect(&t, GOTRACE_V1_GoSysExit, 0, 9, 7);
    expect(&t, GOTRACE_V1_GoStart, 0, 10, 7);
    end(&t);
    close_forged(&t, &f);
}
END_TEST

/* The end of a system call is moved to the time at which the call returned. */
START_TEST(system_calls_end_at_their_time)
{
    open_trace t;
    forge f = forge_new(21);
    FORGE(&f, Batch, 0, 0);
    FORGE(&f, GoCreate, 10, 7, 0, 0);
    FORGE(&f, GoStart, 10, 7, 1);
    FORGE(&f, GoSysCall, 10, 0);
    FORGE(&f, GoSysBlock, 10);          /* 40 */
    FORGE(&f, HeapAlloc, 10, 1);        /* 50 */
    FORGE(&f, HeapAlloc, 10, 2);        /* 60 */
    FORGE(&f, GoSysExit, 40, 7, 2, 55); /* 100 */
    FORGE(&f, GoStart, 10, 7, 3);
    forge_finish(&f);
    open_forged(&t, &f);
    expect(&t, GOTRACE_V1_GoCreate, 0, 10, 0);
    expect(&t, GOTRACE_V1_GoStart, 0, 20, 7);
    gotrace_event e = expect(&t, GOTRACE_V1_GoSysCall, 0, 30, 7);
    ck_assert_int_eq(e.kind, GOTRACE_KIND_TRANSITION);
    ck_assert_int_eq(e.to, GOTRACE_STATE_SYSCALL);
    expect(&t, GOTRACE_V1_GoSysBlock, 0, 40, 7);
    expect(&t, GOTRACE_V1_HeapAlloc, 0, 50, 0);
    e = expect(&t, GOTRACE_V1_GoSysExit, 0, 55, 7);
    ck_assert_uint_ne(e.flags & GOTRACE_EVENT_MOVED, 0);
    ck_assert_int_eq(e.from, GOTRACE_STATE_SYSCALL);
    ck_assert_int_eq(e.to, GOTRACE_STATE_RUNNABLE);
    ck_assert_int_eq(lane_of(&e, 21), LANE_SYSCALLS);
    expect(&t, GOTRACE_V1_HeapAlloc, 0, 60, 0);
    e = expect(&t, GOTRACE_V1_GoStart, 0, 110, 7);
    ck_assert_uint_ne(gotrace_event_cause(&e), 0);
    end(&t);
    close_forged(&t, &f);
}
END_TEST

/* A time before the trace, which is damage, does not change when the trace begins. */
START_TEST(system_calls_end_within_the_trace)
{
    open_trace t;
    const gotrace_event *event;
    unsigned count = 0;
    forge f = forge_new(21);
    FORGE(&f, Batch, 0, 1000);
    FORGE(&f, GoCreate, 10, 7, 0, 0);
    FORGE(&f, GoStart, 10, 7, 1);
    FORGE(&f, GoSysCall, 10, 0);
    FORGE(&f, GoSysBlock, 10);
    FORGE(&f, GoSysExit, 10, 7, 2, 5); /* at tick 5 */
    forge_finish(&f);
    open_forged(&t, &f);
    for (; gotrace_reader_next(t.reader, &event) == GOTRACE_EVENT; count++)
        ck_assert_uint_ge(ticks_now(&t), 1010);
    ck_assert_uint_eq(count, 5);
    ck_assert_uint_gt(t.problems, 0);
    close_forged(&t, &f);
}
END_TEST

START_TEST(system_calls_that_do_not_block)
{
    open_trace t;
    forge f = forge_new(21);
    FORGE(&f, Batch, 0, 0);
    FORGE(&f, GoCreate, 1, 7, 0, 0);
    FORGE(&f, GoStart, 1, 7, 1);
    FORGE(&f, GoSysCall, 1, 0);
    FORGE(&f, GoSched, 1, 0);
    forge_finish(&f);
    open_forged(&t, &f);
    next(&t);
    next(&t);
    gotrace_event e = expect(&t, GOTRACE_V1_GoSysCall, 0, 3, 7);
    ck_assert_int_eq(e.kind, GOTRACE_KIND_SYSCALL);
    e = expect(&t, GOTRACE_V1_GoSched, 0, 4, 7);
    ck_assert_int_eq(e.from, GOTRACE_STATE_RUNNING);
    end(&t);
    close_forged(&t, &f);
}
END_TEST

/* Samples are ordered by their own time, in any batch. */
START_TEST(samples_by_their_own_time)
{
    open_trace t;
    forge f = forge_new(19);
    FORGE(&f, Batch, 0, 1000);
    FORGE(&f, CPUSample, 1, 25, 3, 7, 0);
    FORGE(&f, CPUSample, 1, 15, (uint64_t)-1, 0, 0);
    FORGE(&f, Batch, 1, 0);
    FORGE(&f, HeapAlloc, 10, 1);
    FORGE(&f, HeapAlloc, 10, 2);
    FORGE(&f, HeapAlloc, 10, 3);
    forge_finish(&f);
    open_forged(&t, &f);
    expect(&t, GOTRACE_V1_HeapAlloc, 1, 10, 0);
    gotrace_event e = expect(&t, GOTRACE_V1_CPUSample, GOTRACE_NO_PROC, 15, 0);
    ck_assert_int_eq(e.kind, GOTRACE_KIND_SAMPLE);
    ck_assert_int_eq(lane_of(&e, 21), -1);
    expect(&t, GOTRACE_V1_HeapAlloc, 1, 20, 0);
    expect(&t, GOTRACE_V1_CPUSample, 3, 25, 7);
    expect(&t, GOTRACE_V1_HeapAlloc, 1, 30, 0);
    end(&t);
    ck_assert_uint_eq(gotrace_reader_summary(t.reader)->samples, 2);
    close_forged(&t, &f);
}
END_TEST

/* Until 1.6 the global sequence number determines the order. */
START_TEST(global_numbers_order)
{
    open_trace t;
    forge f = forge_new(5);
    FORGE(&f, Batch, 1, 2, 100);
    FORGE(&f, GoStart, 1, 20, 7); /* 3 at 120 */
    FORGE(&f, Batch, 0, 0, 50);
    FORGE(&f, GoCreate, 1, 10, 7, 0, 0); /* 1 at 60 */
    FORGE(&f, HeapAlloc, 1, 10, 5);      /* 2 at 70 */
    FORGE(&f, HeapAlloc, 2, 100, 6);     /* 4 at 170 */
    forge_finish(&f);
    open_forged(&t, &f);
    expect(&t, GOTRACE_V1_GoCreate, 0, 60, 0);
    expect(&t, GOTRACE_V1_HeapAlloc, 0, 70, 0);
    expect(&t, GOTRACE_V1_GoStart, 1, 120, 7);
    expect(&t, GOTRACE_V1_HeapAlloc, 0, 170, 0);
    end(&t);
    close_forged(&t, &f);
}
END_TEST

/* Two events with one number are an error. */
START_TEST(equal_global_numbers)
{
    open_trace t;
    forge f = forge_new(5);
    FORGE(&f, Batch, 0, 1, 1);
    FORGE(&f, HeapAlloc, 1, 10, 5); /* 2 at 11 */
    FORGE(&f, Batch, 1, 1, 1);
    FORGE(&f, HeapAlloc, 1, 10, 6); /* 2 at 11 */
    FORGE(&f, HeapAlloc, 1, 10, 7);
    forge_finish(&f);
    open_forged(&t, &f);
    for (int i = 0; i < 3; i++)
        next(&t);
    ck_assert_uint_eq(t.problems, 1);
    ck_assert_int_eq(t.problem.rule, GOTRACE_RULE_ORDER_GLOBAL);
    ck_assert_ptr_nonnull(strstr(t.problem.message, "sequence number 2 is that of"));
    close_forged(&t, &f);
}
END_TEST

/* The batches of a proc are one stream, wherever they are in the file. */
START_TEST(batches_of_a_proc_follow_each_other)
{
    open_trace t;
    forge f = forge_new(21);
    for (uint64_t i = 0; i < 100; i++) {
        FORGE(&f, Batch, i % 3, 10 * i);
        FORGE(&f, HeapAlloc, 1, i);
    }
    forge_finish(&f);
    open_forged(&t, &f);
    for (uint64_t i = 0; i < 100; i++)
        ck_assert_uint_eq(
            value_of(expect(&t, GOTRACE_V1_HeapAlloc, (int64_t)(i % 3), 10 * i + 1, 0)), i);
    end(&t);
    const gotrace_proc_summary *proc = gotrace_reader_proc(t.reader, 0);
    ck_assert_int_eq(proc->proc, 0);
    ck_assert_uint_eq(proc->batches, 34);
    ck_assert_uint_eq(proc->events, 34);
    ck_assert_int_eq(gotrace_reader_proc(t.reader, 2)->proc, 2);
    ck_assert_ptr_null(gotrace_reader_proc(t.reader, 3));
    close_forged(&t, &f);
}
END_TEST

/* ---- futile wake-ups ----------------------------------------------------------------------- */

START_TEST(futile_wakeups_change_nothing)
{
    static const bool futile[] = {false, false, false, true, true, true, true, false, false};
    open_trace t;
    forge f = forge_new(10);
    FORGE(&f, Batch, 0, 1);
    FORGE(&f, GoCreate, 1, 7, 0, 0);
    FORGE(&f, GoStart, 1, 7, 1);
    FORGE(&f, GoBlockSync, 1, 0);
    FORGE(&f, GoUnblockLocal, 1, 7, 0); /* the futile wake-up begins here */
    FORGE(&f, GoStartLocal, 1, 7);
    FORGE(&f, FutileWakeup, 1);
    FORGE(&f, GoBlockSync, 1, 0); /* and ends here */
    FORGE(&f, GoUnblockLocal, 1, 7, 0);
    FORGE(&f, GoStartLocal, 1, 7);
    forge_finish(&f);
    open_forged(&t, &f);
    for (size_t i = 0; i < sizeof futile; i++) {
        gotrace_event e = next(&t);
        const gotrace_goroutine *g = gotrace_reader_goroutine(t.reader, 7);
        ck_assert_int_eq((e.flags & GOTRACE_EVENT_FUTILE) != 0, futile[i]);
        ck_assert_ptr_nonnull(g);
        if (futile[i]) {
            ck_assert_int_eq(g->state, GOTRACE_STATE_WAITING);
            ck_assert_int_eq(e.kind, GOTRACE_KIND_NONE);
        }
    }
    end(&t);
    close_forged(&t, &f);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("order");
    TCase *order = tcase_create("order");
    tcase_add_test(order, sequence_numbers_order);
    tcase_add_test(order, sequence_numbers_against_clocks);
    tcase_add_test(order, sequence_numbers_against_distant_clocks);
    tcase_add_test(order, second_loss_delays_no_others);
    tcase_add_test(order, local_variants);
    tcase_add_test(order, system_calls_end_at_their_time);
    tcase_add_test(order, system_calls_end_within_the_trace);
    tcase_add_test(order, system_calls_that_do_not_block);
    tcase_add_test(order, samples_by_their_own_time);
    tcase_add_test(order, global_numbers_order);
    tcase_add_test(order, equal_global_numbers);
    tcase_add_test(order, batches_of_a_proc_follow_each_other);
    tcase_add_test(order, futile_wakeups_change_nothing);
    suite_add_tcase(suite, order);
    return run_suite(suite);
}
