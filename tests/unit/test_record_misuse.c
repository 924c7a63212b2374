/*
 * test_record_misuse.c - the recorder's checking mode: each misuse is reported once, with its
 * function and the reason, and has no effect: the trace is sound.
 */
#include <pthread.h>
#include <string.h>

#include "gotrace_record.h"
#include "reading.h"
#include "writing.h"

/* ---- a small scheduler ------------------------------------------------------------------------
 */

typedef struct scene {
    gotrace_recorder *r, *other_r;
    gotrace_rec_thread *t, *idle; /* runs goroutine 1 on proc 1; has neither */
    gotrace_rec_proc *p, *q;      /* q: idle */
    gotrace_rec_go *running, *runnable, *waiting, *blocked; /* blocked: so created */
    gotrace_rec_go *foreign;                                /* of other_r */
    blob trace;
    unsigned reports;
    char function[64], message[200];
} scene;

static void keep_report(void *ctx, const char *function, const char *message)
{
    scene *s = ctx;
    s->reports++;
    snprintf(s->function, sizeof s->function, "%s", function);
    snprintf(s->message, sizeof s->message, "%s", message);
}

static gotrace_recorder *new_recorder(scene *s)
{
    gotrace_recorder *r;
    gotrace_error error = GOTRACE_INIT(gotrace_error);
    const gotrace_recorder_options options = {
        .size = sizeof options, .on_misuse = keep_report, .misuse_ctx = s};
    ck_assert_int_eq(gotrace_recorder_new(&options, NULL, &r, &error), GOTRACE_OK);
    return r;
}

static gotrace_rec_go *create(gotrace_rec_thread *t, uint64_t id)
{
    return gotrace_rec_go_create(t, id, 77, NULL, 0);
}

/* version 0: nothing is recorded. */
static void scene_open(scene *s, int version)
{
    s->r = new_recorder(s);
    s->other_r = new_recorder(s);
    if (version)
        ck_assert_int_eq(gotrace_recorder_start(s->r, version, blob_write, &s->trace), GOTRACE_OK);
    s->t = gotrace_rec_thread_new(s->r, 10);
    s->idle = gotrace_rec_thread_new(s->r, 11);
    s->p = gotrace_rec_proc_new(s->r, 1);
    s->q = gotrace_rec_proc_new(s->r, 2);
    gotrace_rec_proc_start(s->t, s->p);
    s->running = create(s->t, 1);
    s->runnable = create(s->t, 2);
    s->waiting = create(s->t, 3);
    s->blocked = gotrace_rec_go_create_blocked(s->t, 4, 77, NULL, 0);
    s->foreign = create(gotrace_rec_thread_new(s->other_r, 1), 1);
    gotrace_rec_go_start(s->t, s->waiting);
    gotrace_rec_go_park(s->t, GOTRACE_REC_SEND, NULL, 0);
    gotrace_rec_go_start(s->t, s->running);
    ck_assert_msg(s->reports == 0, "%s: %s", s->function, s->message);
}

static void scene_close(scene *s, int version)
{
    if (version) {
        ck_assert_int_eq(gotrace_recorder_stop(s->r), GOTRACE_OK);
        reading got = reading_of(s->trace.bytes, s->trace.size, NULL, READING_CHECK);
        ck_assert_msg(got.status == GOTRACE_END && got.problem_count == 0, "%s: 1.%d: %s",
                      s->function, version,
                      got.problem_count ? got.problems[0].message : got.error.message);
    }
    gotrace_recorder_free(s->r);
    gotrace_recorder_free(s->other_r);
    blob_free(&s->trace);
}

static void end_thread_of(scene *s)
{
    gotrace_rec_thread_end(s->idle);
}

static void park(scene *s)
{
    gotrace_rec_go_park(s->t, GOTRACE_REC_SEND, NULL, 0);
}

static void sys_call(scene *s)
{
    gotrace_rec_go_sys_call(s->t, NULL, 0);
}

static void *use_thread(void *s)
{
    gotrace_rec_heap_alloc(((scene *)s)->t, 1);
    return NULL;
}

static void use_by_two(scene *s)
{
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, use_thread, s), 0);
    pthread_join(thread, NULL);
}

/* ---- misuse -----------------------------------------------------------------------------------
 */

/* do: the last call is misuse, and is of `function`. */
typedef struct misuse {
    void (*prepare)(scene *s); /* NULL: nothing */
    void (*do_it)(scene *s);
    const char *function, *message;
} misuse;

#define CASES(X)                                                                                   \
    X(end_with_proc, park, gotrace_rec_thread_end(s->t), "thread_end", "thread 10 has a proc")     \
    X(ended, end_thread_of, gotrace_rec_thread_end(s->idle), "thread_end", "thread 11 has ended")  \
    X(two, NULL, use_by_two(s), "heap_alloc", "thread 10 is used by a second thread")              \
    X(thread_id, NULL, gotrace_rec_thread_new(s->r, 10), "thread_new", "thread 10 exists already") \
    X(proc_id, NULL, gotrace_rec_proc_new(s->r, 2), "proc_new", "proc 2 exists already")           \
    X(second_proc, NULL, gotrace_rec_proc_start(s->t, s->q), "proc_start", "thread 10 has a proc") \
    X(taken_proc, NULL, gotrace_rec_proc_start(s->idle, s->p), "proc_start", "proc 1 is not idle") \
    X(not_a_proc, NULL, gotrace_rec_proc_start(s->idle, (gotrace_rec_proc *)(void *)s),            \
      "proc_start", "thread 11 passes a handle that has ended or is not of this recorder")         \
    X(no_proc, NULL, gotrace_rec_proc_stop(s->idle), "proc_stop", "thread 11 has no proc")         \
    X(stop_running, NULL, gotrace_rec_proc_stop(s->t), "proc_stop", "thread 10 runs a goroutine")  \
    X(free_running, NULL, gotrace_rec_proc_free(s->t, s->p), "proc_free", "proc 1 is not idle")    \
    X(free_twice, free_proc, free_proc(s), "proc_free",                                            \
      "thread 10 passes a handle that has ended or is not of this recorder")                       \
    X(go_id, NULL, create(s->t, 2), "go_create", "goroutine 2 exists already")                     \
    X(go_id_0, NULL, create(s->t, 0), "go_create", "thread 10 creates a goroutine with the id 0")  \
    X(blocked_id, NULL, gotrace_rec_go_create_blocked(s->t, 1, 0, NULL, 0), "go_create_blocked",   \
      "goroutine 1 exists already")                                                                \
    X(start_without_proc, NULL, gotrace_rec_go_start(s->idle, s->runnable), "go_start",            \
      "thread 11 has no proc")                                                                     \
    X(start_second, NULL, gotrace_rec_go_start(s->t, s->runnable), "go_start",                     \
      "thread 10 has a goroutine")                                                                 \
    X(start_waiting, park, gotrace_rec_go_start(s->t, s->waiting), "go_start",                     \
      "goroutine 3 is not runnable")                                                               \
    X(start_blocked, park, gotrace_rec_go_start(s->t, s->blocked), "go_start",                     \
      "goroutine 4 is not runnable")                                                               \
    X(start_foreign, park, gotrace_rec_go_start(s->t, s->foreign), "go_start",                     \
      "thread 10 passes a handle that has ended or is not of this recorder")                       \
    X(start_garbage, park, gotrace_rec_go_start(s->t, (gotrace_rec_go *)(void *)s), "go_start",    \
      "thread 10 passes a handle that has ended or is not of this recorder")                       \
    X(start_label, park, gotrace_rec_go_start_label(s->t, s->waiting, "x"), "go_start_label",      \
      "goroutine 3 is not runnable")                                                               \
    X(end_nothing, park, gotrace_rec_go_end(s->t), "go_end", "thread 10 runs no goroutine")        \
    X(end_in_call, sys_call, gotrace_rec_go_end(s->t), "go_end", "thread 10 runs no goroutine")    \
    X(sched, park, gotrace_rec_go_sched(s->t, NULL, 0), "go_sched", "thread 10 runs no goroutine") \
    X(preempt, park, gotrace_rec_go_preempt(s->t, NULL, 0), "go_preempt",                          \
      "thread 10 runs no goroutine")                                                               \
    X(park_nothing, park, park(s), "go_park", "thread 10 runs no goroutine")                       \
    X(park_reason, NULL, gotrace_rec_go_park(s->t, (gotrace_rec_reason)10, NULL, 0), "go_park",    \
      "thread 10 passes a value that the enumeration does not have")                               \
    X(unpark_runnable, NULL, gotrace_rec_go_unpark(s->t, s->runnable, NULL, 0), "go_unpark",       \
      "goroutine 2 is not waiting")                                                                \
    X(unpark_running, NULL, gotrace_rec_go_unpark(s->idle, s->running, NULL, 0), "go_unpark",      \
      "goroutine 1 is not waiting")                                                                \
    X(unpark_twice, unpark_blocked, unpark_blocked(s), "go_unpark", "goroutine 4 is not waiting")  \
    X(ended_go, end, gotrace_rec_go_unpark(s->t, s->running, NULL, 0), "go_unpark",                \
      "thread 10 passes a handle that has ended or is not of this recorder")                       \
    X(switch_runnable, NULL, gotrace_rec_go_switch(s->t, s->runnable), "go_switch",                \
      "goroutine 2 is not waiting")                                                                \
    X(switch_from_none, park, gotrace_rec_go_switch(s->t, s->waiting), "go_switch",                \
      "thread 10 runs no goroutine")                                                               \
    X(switch_to_self, NULL, gotrace_rec_go_switch_destroy(s->t, s->running), "go_switch_destroy",  \
      "goroutine 1 is not waiting")                                                                \
    X(call_twice, sys_call, sys_call(s), "go_sys_call", "thread 10 runs no goroutine")             \
    X(exit_without_call, NULL, gotrace_rec_go_sys_exit(s->t), "go_sys_exit",                       \
      "thread 10 is not in a system call")                                                         \
    X(block_running, NULL, gotrace_rec_go_sys_block(s->idle, s->t), "go_sys_block",                \
      "thread 10 is not another one in a system call with its proc")                               \
    X(block_itself, sys_call, gotrace_rec_go_sys_block(s->t, s->t), "go_sys_block",                \
      "thread 10 is not another one in a system call with its proc")                               \
    X(block_garbage, NULL, gotrace_rec_go_sys_block(s->t, (gotrace_rec_thread *)(void *)s->p),     \
      "go_sys_block", "thread 10 passes a handle that has ended or is not of this recorder")       \
    X(create_in_call, NULL, gotrace_rec_go_create_sys_call(s->t, 9), "go_create_sys_call",         \
      "thread 10 has a goroutine")                                                                 \
    X(create_call_id, NULL, gotrace_rec_go_create_sys_call(s->idle, 3), "go_create_sys_call",      \
      "goroutine 3 exists already")                                                                \
    X(destroy_running, NULL, gotrace_rec_go_destroy_sys_call(s->t), "go_destroy_sys_call",         \
      "thread 10 is not in a system call")                                                         \
    X(gomaxprocs, NULL, gotrace_rec_gomaxprocs(s->idle, 1, NULL, 0), "gomaxprocs",                 \
      "thread 11 runs no goroutine")                                                               \
    X(heap_alloc, NULL, gotrace_rec_heap_alloc(s->idle, 1), "heap_alloc", "thread 11 has no proc") \
    X(heap_goal, NULL, gotrace_rec_heap_goal(s->idle, 1), "heap_goal", "thread 11 has no proc")    \
    X(gc_twice, begin_gc, begin_gc(s), "gc_start",                                                 \
      "thread 10 begins a garbage collection during another one")                                  \
    X(gc_end, NULL, gotrace_rec_gc_done(s->t), "gc_done",                                          \
      "thread 10 ends a garbage collection that has not begun")                                    \
    X(stw_twice, stop_world, stop_world(s), "stw_start",                                           \
      "thread 10 stops the world, which is stopped already")                                       \
    X(stw_end, NULL, gotrace_rec_stw_done(s->t), "stw_done",                                       \
      "thread 10 starts the world, which its goroutine has not stopped")                           \
    X(stw_kind, NULL, gotrace_rec_stw_start(s->t, (gotrace_rec_stw)99, NULL, 0), "stw_start",      \
      "thread 10 passes a value that the enumeration does not have")                               \
    X(sweep_twice, sweep, sweep(s), "sweep_start",                                                 \
      "thread 10 begins to sweep, which its proc does already")                                    \
    X(sweep_span, NULL, gotrace_rec_sweep_span(s->t, 1, NULL, 0), "sweep_span",                    \
      "thread 10 sweeps, which its proc has not begun")                                            \
    X(sweep_end, NULL, gotrace_rec_sweep_done(s->t, 1), "sweep_done",                              \
      "thread 10 sweeps, which its proc has not begun")                                            \
    X(scan_twice, scan, scan(s), "gc_scan_start",                                                  \
      "thread 10 begins a GC scan, which its proc does already")                                   \
    X(scan_end, NULL, gotrace_rec_gc_scan_done(s->t), "gc_scan_done",                              \
      "thread 10 ends a GC scan, which its proc has not begun")                                    \
    X(assist_twice, assist, assist(s), "mark_assist_start",                                        \
      "thread 10 begins to assist, which its goroutine does already")                              \
    X(assist_end, NULL, gotrace_rec_mark_assist_done(s->t), "mark_assist_done",                    \
      "thread 10 ends to assist, which its goroutine has not begun")                               \
    X(task, NULL, gotrace_rec_task_create(s->idle, 1, 0, "x", NULL, 0), "task_create",             \
      "thread 11 runs no goroutine")                                                               \
    X(task_end, NULL, gotrace_rec_task_end(s->idle, 1, NULL, 0), "task_end",                       \
      "thread 11 runs no goroutine")                                                               \
    X(region, NULL, gotrace_rec_region(s->idle, 0, GOTRACE_REC_BEGIN, "x", NULL, 0), "region",     \
      "thread 11 runs no goroutine")                                                               \
    X(region_edge, NULL, gotrace_rec_region(s->t, 0, (gotrace_rec_edge)2, "x", NULL, 0), "region", \
      "thread 10 passes a value that the enumeration does not have")                               \
    X(log, NULL, gotrace_rec_log(s->idle, 0, "x", "x", NULL, 0), "log",                            \
      "thread 11 runs no goroutine")                                                               \
    X(label, NULL, gotrace_rec_go_label(s->idle, "x"), "go_label", "thread 11 runs no goroutine")

static void unpark_blocked(scene *s)
{
    gotrace_rec_go_unpark(s->t, s->blocked, NULL, 0);
}

static void end(scene *s)
{
    gotrace_rec_go_end(s->t);
}

static void begin_gc(scene *s)
{
    gotrace_rec_gc_start(s->t, NULL, 0);
}

static void stop_world(scene *s)
{
    gotrace_rec_stw_start(s->t, GOTRACE_REC_STW_MARK_TERMINATION, NULL, 0);
}

static void sweep(scene *s)
{
    gotrace_rec_sweep_start(s->t, NULL, 0);
}

static void free_proc(scene *s)
{
    gotrace_rec_proc_free(s->t, s->q);
}

static void scan(scene *s)
{
    gotrace_rec_gc_scan_start(s->t);
}

static void assist(scene *s)
{
    gotrace_rec_mark_assist_start(s->t, NULL, 0);
}

#define FUNCTION(name, prepare, call, function, message)                                           \
    static void case_##name(scene *s)                                                              \
    {                                                                                              \
        call;                                                                                      \
    }
CASES(FUNCTION)

static const misuse cases[] = {
#define CASE(name, prepare, call, function, message)                                               \
    {prepare, case_##name, "gotrace_rec_" function, message},
    CASES(CASE)};
enum { COUNT = sizeof cases / sizeof *cases };

START_TEST(reported_once)
{
    static const int versions[] = {0, 5, 21, 22, 26};
    const misuse *m = &cases[_i];
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        scene s = {0};
        scene_open(&s, versions[i]);
        if (m->prepare)
            m->prepare(&s);
        ck_assert_msg(s.reports == 0, "%s: %s", s.function, s.message);
        m->do_it(&s);
        ck_assert_str_eq(s.message, m->message);
        ck_assert_str_eq(s.function, m->function);
        ck_assert_uint_eq(s.reports, 1);
        scene_close(&s, versions[i]);
    }
}
END_TEST

/* Every function that has a row is in a case. */
START_TEST(every_row)
{
    static const char *const names[] = {
#define C(name, handle, values, needs) "gotrace_rec_" #name,
#include "record/calls.def"
#undef C
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t k = 0;
        while (k < COUNT && strcmp(cases[k].function, names[i]) != 0)
            k++;
        ck_assert_msg(k < COUNT, "no misuse of %s", names[i]);
    }
}
END_TEST

/* Handles and ids may be used again after their end. */
START_TEST(used_again)
{
    scene s = {0};
    scene_open(&s, 0);
    gotrace_rec_go_end(s.t);
    gotrace_rec_go_start(s.t, create(s.t, 1));
    gotrace_rec_go_switch_destroy(s.t, s.blocked);
    gotrace_rec_go_switch_destroy(s.t, gotrace_rec_go_create_blocked(s.t, 1, 0, NULL, 0));
    gotrace_rec_proc_free(s.t, s.q);
    s.q = gotrace_rec_proc_new(s.r, 2);
    gotrace_rec_proc_start(s.idle, s.q);
    gotrace_rec_proc_stop(s.idle);
    gotrace_rec_thread_end(s.idle);
    s.idle = gotrace_rec_thread_new(s.r, 11);
    ck_assert_ptr_nonnull(gotrace_rec_go_create_sys_call(s.idle, 4));
    gotrace_rec_go_destroy_sys_call(s.idle);
    ck_assert_ptr_nonnull(gotrace_rec_go_create_sys_call(s.idle, 4));
    ck_assert_msg(s.reports == 0, "%s: %s", s.function, s.message);
    scene_close(&s, 0);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("record_misuse");
    TCase *t = tcase_create("record_misuse");
    tcase_add_loop_test(t, reported_once, 0, COUNT);
    tcase_add_test(t, every_row);
    tcase_add_test(t, used_again);
    suite_add_tcase(s, t);
    return s;
}

int main(void)
{
    return run_suite(suite());
}
