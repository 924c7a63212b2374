/*
 * test_record_threads.c - threads that do all that a scheduler can do, at random, while traces
 * start and stop: each trace is sound, and has exactly the events that the threads counted.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gotrace_record.h"
#include "reading.h"
#include "recording.h"
#include "record/record.h"
#include "writing.h"

static const int versions[] = {5, 7, 8, 9, 10, 11, 19, 21, 22, 23, 25, 26};
enum { VERSIONS = sizeof versions / sizeof *versions };
enum { MACHINES = 64, FEW = 4, GOROUTINES = 300, ERAS = 4096, DEPTH = 8, ROUNDS = 5 };

/* Traces of each kind: fewer without ALL, as sweeps are. */
static unsigned rounds(void)
{
    return SWEEP_STEP == 1 ? ROUNDS : 2;
}

/* ---- what is counted ---------------------------------------------------------------------------
 */

typedef enum counted_event {
    PROC_START,
    PROC_STOP,
    STEAL,
    CREATE,
    START,
    END,
    SCHED,
    PREEMPT,
    PARK,
    UNPARK,
    SYS_CALL,
    SWITCH,
    SWITCH_DESTROY,
    GC_START,
    GC_DONE,
    STW_START,
    SWEEP_START,
    SWEEP_DONE,
    ASSIST_START,
    ASSIST_DONE,
    HEAP_ALLOC,
    HEAP_GOAL,
    GOMAXPROCS,
    TASK_CREATE,
    TASK_END,
    REGION,
    REGION_END,
    LOG,
    LABEL,
    COUNTED_EVENTS
} counted_event;

/* The records of each. v1 may have more (at_least), which describe states from before the trace. */
static const struct {
    uint8_t v1[3], v2[2];
    bool at_least;
} records_of[COUNTED_EVENTS] = {
    [PROC_START] = {{GOTRACE_V1_ProcStart}, {GOTRACE_V2_ProcStart}, true},
    [PROC_STOP] = {{GOTRACE_V1_ProcStop}, {GOTRACE_V2_ProcStop}, false},
    [STEAL] = {{0}, {GOTRACE_V2_ProcSteal}, false},
    [CREATE] = {{GOTRACE_V1_GoCreate}, {GOTRACE_V2_GoCreate, GOTRACE_V2_GoCreateBlocked}, true},
    [START] = {{GOTRACE_V1_GoStart, GOTRACE_V1_GoStartLocal, GOTRACE_V1_GoStartLabel},
               {GOTRACE_V2_GoStart},
               true},
    [END] = {{GOTRACE_V1_GoEnd}, {GOTRACE_V2_GoDestroy}, false},
    [SCHED] = {{GOTRACE_V1_GoSched}, {0}, false},
    [PREEMPT] = {{GOTRACE_V1_GoPreempt}, {0}, false},
    [PARK] = {{GOTRACE_V1_GoBlockSend, GOTRACE_V1_GoBlockSelect, GOTRACE_V1_GoBlockNet},
              {GOTRACE_V2_GoBlock},
              false},
    [UNPARK] = {{GOTRACE_V1_GoUnblock, GOTRACE_V1_GoUnblockLocal}, {GOTRACE_V2_GoUnblock}, false},
    [SYS_CALL] = {{GOTRACE_V1_GoSysCall}, {GOTRACE_V2_GoSyscallBegin}, false},
    [SWITCH] = {{0}, {GOTRACE_V2_GoSwitch}, false},
    [SWITCH_DESTROY] = {{0}, {GOTRACE_V2_GoSwitchDestroy}, false},
    [GC_START] = {{GOTRACE_V1_GCStart}, {GOTRACE_V2_GCBegin}, true},
    [GC_DONE] = {{GOTRACE_V1_GCDone}, {0}, false},
    [STW_START] = {{GOTRACE_V1_STWStart}, {GOTRACE_V2_STWBegin}, false},
    [SWEEP_START] = {{GOTRACE_V1_GCSweepStart}, {GOTRACE_V2_GCSweepBegin}, false},
    [SWEEP_DONE] = {{0}, {GOTRACE_V2_GCSweepEnd}, false},
    [ASSIST_START] = {{GOTRACE_V1_GCMarkAssistStart}, {GOTRACE_V2_GCMarkAssistBegin}, false},
    [ASSIST_DONE] = {{GOTRACE_V1_GCMarkAssistDone}, {GOTRACE_V2_GCMarkAssistEnd}, false},
    [HEAP_ALLOC] = {{GOTRACE_V1_HeapAlloc}, {GOTRACE_V2_HeapAlloc}, false},
    [HEAP_GOAL] = {{GOTRACE_V1_HeapGoal}, {GOTRACE_V2_HeapGoal}, false},
    [GOMAXPROCS] = {{GOTRACE_V1_Gomaxprocs}, {GOTRACE_V2_ProcsChange}, false},
    [TASK_CREATE] = {{GOTRACE_V1_UserTaskCreate}, {GOTRACE_V2_UserTaskBegin}, false},
    [TASK_END] = {{GOTRACE_V1_UserTaskEnd}, {GOTRACE_V2_UserTaskEnd}, false},
    [REGION] = {{GOTRACE_V1_UserRegion}, {GOTRACE_V2_UserRegionBegin}, false},
    [REGION_END] = {{0}, {GOTRACE_V2_UserRegionEnd}, false},
    [LOG] = {{GOTRACE_V1_UserLog}, {GOTRACE_V2_UserLog}, false},
    [LABEL] = {{0}, {GOTRACE_V2_GoLabel}, false},
};

static _Atomic uint32_t tallies[ERAS][COUNTED_EVENTS];

/* ---- shared by the machines --------------------------------------------------------------------
 */

typedef enum call_state { NO_CALL, IN_CALL, TAKEN, RELEASED } call_state;

/* A thread of the system that runs goroutines. */
typedef struct machine {
    pthread_t thread;
    gotrace_rec_thread *t;
    gotrace_rec_proc *p;
    _Atomic int call; /* call_state */
    uint64_t random;
    uint64_t pcs[DEPTH];
} machine;

typedef struct pool {
    void *items[GOROUTINES + 2 * MACHINES];
    size_t count;
} pool;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pool runnable, waiting, idle;
static gotrace_recorder *recorder;
static int version;
static machine machines[MACHINES];
static unsigned machine_count;
static _Atomic bool done;
static _Atomic uint64_t next_id, live, next_task, next_thread;
static _Atomic bool gc_busy, gc_on, stw_busy;
static _Thread_local machine *self;

static unsigned below(machine *m, unsigned limit)
{
    return (unsigned)(random_next(&m->random) % limit);
}

static void put_into(pool *p, void *item)
{
    pthread_mutex_lock(&lock);
    p->items[p->count++] = item;
    pthread_mutex_unlock(&lock);
}

static void *take_from(pool *p, machine *m)
{
    void *item = NULL;
    pthread_mutex_lock(&lock);
    if (p->count > 0) {
        size_t i = below(m, (unsigned)p->count);
        item = p->items[i];
        p->items[i] = p->items[--p->count];
    }
    pthread_mutex_unlock(&lock);
    return item;
}

/* Whether the machine's last call was recorded. */
static bool is_recorded(const machine *m)
{
    return m->t->era != 0 && !m->t->closing;
}

static void count(const machine *m, counted_event what)
{
    if (is_recorded(m))
        atomic_fetch_add(&tallies[m->t->era % ERAS][what], 1);
}

/* A stack; some are frequent. */
static const uint64_t *stack(machine *m)
{
    unsigned kind = below(m, 2) ? below(m, 4) : below(m, 5000);
    for (unsigned i = 0; i < DEPTH; i++)
        m->pcs[i] = 0x400000 + 64 * i + kind;
    return m->pcs;
}

/* ---- procs and system calls
 * ---------------------------------------------------------------------- */

static void get_proc(machine *m)
{
    while (!(m->p = take_from(&idle, m)))
        sched_yield();
    gotrace_rec_proc_start(m->t, m->p);
    count(m, PROC_START);
}

static void put_proc(machine *m)
{
    gotrace_rec_proc_stop(m->t);
    count(m, PROC_STOP);
    put_into(&idle, m->p);
}

/* Takes the proc of a machine that is in a system call. */
static void steal(machine *m)
{
    machine *from = &machines[below(m, machine_count)];
    int expected = IN_CALL;
    if (from == m || !atomic_compare_exchange_strong(&from->call, &expected, TAKEN))
        return;
    gotrace_rec_go_sys_block(m->t, from->t);
    count(m, version < 22 ? PROC_STOP : STEAL);
    put_into(&idle, from->p);
    atomic_store(&from->call, RELEASED);
}

static void call(machine *m)
{
    gotrace_rec_go_sys_call(m->t, stack(m), DEPTH);
    count(m, SYS_CALL);
}

/* Returns whether the goroutine still runs. */
static bool call_that_may_block(machine *m, gotrace_rec_go *g)
{
    int expected = IN_CALL;
    call(m);
    atomic_store(&m->call, IN_CALL);
    for (unsigned i = below(m, 20); i > 0; i--)
        sched_yield();
    bool kept = atomic_compare_exchange_strong(&m->call, &expected, NO_CALL);
    while (!kept && atomic_load(&m->call) != RELEASED)
        sched_yield();
    atomic_store(&m->call, NO_CALL);
    gotrace_rec_go_sys_exit(m->t);
    if (kept)
        return true;
    put_into(&runnable, g);
    get_proc(m);
    return false;
}

static void call_that_blocks(machine *m, gotrace_rec_go *g)
{
    call(m);
    put_proc(m);
    gotrace_rec_go_sys_exit(m->t);
    put_into(&runnable, g);
    get_proc(m);
}

/* ---- goroutines
 * ---------------------------------------------------------------------------------- */

static void create(machine *m)
{
    if (atomic_fetch_add(&live, 1) >= GOROUTINES) {
        atomic_fetch_sub(&live, 1);
        return;
    }
    gotrace_rec_go *g = gotrace_rec_go_create(m->t, ++next_id, 0x500000 + below(m, 9), stack(m),
                                              DEPTH);
    count(m, CREATE);
    put_into(&runnable, g);
}

static void unpark(machine *m)
{
    gotrace_rec_go *g = take_from(&waiting, m);
    if (!g)
        return;
    gotrace_rec_go_unpark(m->t, g, stack(m), DEPTH);
    count(m, UNPARK);
    put_into(&runnable, g);
}

/* The goroutine goes on in a new one, which goes on in it and ends. */
static void switch_twice(machine *m, gotrace_rec_go *g)
{
    if (version < 23)
        return;
    gotrace_rec_go *b = gotrace_rec_go_create_blocked(m->t, ++next_id, 0, stack(m), DEPTH);
    count(m, CREATE);
    gotrace_rec_go_switch(m->t, b);
    count(m, SWITCH);
    gotrace_rec_go_switch_destroy(m->t, g);
    count(m, SWITCH_DESTROY);
}

static void stop(machine *m, gotrace_rec_go *g)
{
    static const gotrace_rec_reason reasons[] = {GOTRACE_REC_SEND, GOTRACE_REC_SELECT,
                                                 GOTRACE_REC_NETWORK};
    switch (below(m, 5)) {
    case 0:
        gotrace_rec_go_sched(m->t, stack(m), DEPTH);
        count(m, SCHED);
        put_into(&runnable, g);
        break;
    case 1:
        gotrace_rec_go_preempt(m->t, stack(m), DEPTH);
        count(m, PREEMPT);
        put_into(&runnable, g);
        break;
    case 2:
        gotrace_rec_go_end(m->t);
        count(m, END);
        atomic_fetch_sub(&live, 1);
        break;
    default:
        gotrace_rec_go_park(m->t, reasons[below(m, 3)], stack(m), DEPTH);
        count(m, PARK);
        put_into(&waiting, g);
    }
}

/* ---- the rest
 * ------------------------------------------------------------------------------------ */

static void collect(machine *m)
{
    if (atomic_exchange(&gc_busy, true))
        return;
    if (gc_on) {
        gotrace_rec_gc_done(m->t);
        count(m, GC_DONE);
    } else {
        gotrace_rec_gc_start(m->t, stack(m), DEPTH);
        count(m, GC_START);
    }
    gc_on = !gc_on;
    atomic_store(&gc_busy, false);
}

static void stop_world(machine *m)
{
    if (atomic_exchange(&stw_busy, true))
        return;
    gotrace_rec_stw_start(m->t, GOTRACE_REC_STW_SWEEP_TERMINATION, stack(m), DEPTH);
    count(m, STW_START);
    gotrace_rec_heap_goal(m->t, 1 << 20);
    count(m, HEAP_GOAL);
    gotrace_rec_stw_done(m->t);
    atomic_store(&stw_busy, false);
}

static void sweep(machine *m)
{
    gotrace_rec_sweep_start(m->t, stack(m), DEPTH);
    bool started = version < 9 && is_recorded(m);
    if (started)
        count(m, SWEEP_START);
    gotrace_rec_sweep_span(m->t, 4096, stack(m), DEPTH);
    if (!started)
        count(m, SWEEP_START);
    gotrace_rec_heap_alloc(m->t, 1000);
    count(m, HEAP_ALLOC);
    gotrace_rec_sweep_done(m->t, 4096);
    count(m, SWEEP_DONE);
}

static void assist(machine *m)
{
    gotrace_rec_mark_assist_start(m->t, stack(m), DEPTH);
    count(m, ASSIST_START);
    gotrace_rec_gomaxprocs(m->t, machine_count, stack(m), DEPTH);
    count(m, GOMAXPROCS);
    gotrace_rec_mark_assist_done(m->t);
    count(m, ASSIST_DONE);
}

static void annotate(machine *m)
{
    static const char *const texts[] = {"one", "a longer text", "", "main.run"};
    const char *text = texts[below(m, 4)];
    uint64_t task = ++next_task;
    char message[12];
    snprintf(message, sizeof message, "%u", below(m, 1000));
    gotrace_rec_task_create(m->t, task, 0, text, stack(m), DEPTH);
    count(m, TASK_CREATE);
    gotrace_rec_region(m->t, task, GOTRACE_REC_BEGIN, text, stack(m), DEPTH);
    count(m, REGION);
    gotrace_rec_log(m->t, task, text, message, stack(m), DEPTH);
    count(m, LOG);
    gotrace_rec_go_label(m->t, text);
    count(m, LABEL);
    gotrace_rec_region(m->t, task, GOTRACE_REC_END, text, stack(m), DEPTH);
    count(m, version < 22 ? REGION : REGION_END);
    gotrace_rec_task_end(m->t, task, stack(m), DEPTH);
    count(m, TASK_END);
}

/* ---- a machine
 * ------------------------------------------------------------------------------------ */

/* One step of the goroutine. Returns whether it still runs. */
static bool step(machine *m, gotrace_rec_go *g)
{
    switch (below(m, 14)) {
    case 0:
    case 1: create(m); break;
    case 2:
    case 3: unpark(m); break;
    case 4:
        call(m);
        gotrace_rec_go_sys_exit(m->t);
        break;
    case 5: call_that_blocks(m, g); return false;
    case 6: return call_that_may_block(m, g);
    case 7: steal(m); break;
    case 8: collect(m); break;
    case 9: stop_world(m); break;
    case 10: sweep(m); break;
    case 11: assist(m); break;
    case 12: annotate(m); break;
    case 13: switch_twice(m, g); break;
    }
    return true;
}

static void run(machine *m)
{
    gotrace_rec_go *g = take_from(&runnable, m);
    if (!g) {
        steal(m);
        unpark(m);
        create(m);
        return;
    }
    if (below(m, 8) == 0) {
        gotrace_rec_go_start_label(m->t, g, "GC (idle)");
        count(m, LABEL);
    } else {
        gotrace_rec_go_start(m->t, g);
    }
    count(m, START);
    for (unsigned i = below(m, 8); i > 0; i--)
        if (!step(m, g))
            return;
    stop(m, g);
}

/* From now on samples are without the handle. */
static void end_handle(machine *m)
{
    gotrace_rec_thread *t = m->t;
    m->t = NULL;
    atomic_signal_fence(memory_order_seq_cst);
    gotrace_rec_thread_end(t);
}

/* Handles of threads come and go. */
static void renew(machine *m)
{
    put_proc(m);
    end_handle(m);
    m->t = gotrace_rec_thread_new(recorder, ++next_thread);
    get_proc(m);
}

static void *work(void *arg)
{
    machine *m = self = arg;
    get_proc(m);
    while (!done) {
        run(m);
        if (below(m, 500) == 0)
            renew(m);
    }
    put_proc(m);
    end_handle(m);
    return NULL;
}

static void sample(int signal)
{
    const uint64_t pcs[] = {0x600000, 0x600010};
    const int saved = errno;
    (void)signal;
    if (self)
        gotrace_rec_cpu_sample(recorder, self->t, pcs, 2);
    errno = saved;
}

/* ---- traces
 * --------------------------------------------------------------------------------------- */

static bool write_slowly(void *trace, const void *bytes, size_t size)
{
    usleep(200);
    return blob_write(trace, bytes, size);
}

/* Slower than threads record, also on a busy machine. */
static bool write_too_slowly(void *trace, const void *bytes, size_t size)
{
    usleep(5000);
    return blob_write(trace, bytes, size);
}

/* Every record of these eras is in the trace once. */
static void compare(const blob *trace, uint64_t first, uint64_t last)
{
    uint64_t counts[GT_CODES];
    count_records(trace, counts);
    for (unsigned what = 0; what < COUNTED_EVENTS; what++) {
        const uint8_t *codes = version < 22 ? records_of[what].v1 : records_of[what].v2;
        uint64_t expected = 0, got = 0;
        for (uint64_t era = first; era <= last; era++)
            expected += tallies[era % ERAS][what];
        for (unsigned i = 0; i < (version < 22 ? 3 : 2); i++)
            got += codes[i] ? counts[codes[i]] : 0;
        if (!codes[0] || !gotrace_event_spec_of(version, codes[0]))
            continue;
        bool good = got == expected ||
                    (version < 22 && records_of[what].at_least && got > expected);
        ck_assert_msg(good, "1.%d, type %u: %llu records of %llu", version, codes[0],
                      (unsigned long long)got, (unsigned long long)expected);
    }
}

typedef struct recording {
    blob trace;
    uint64_t first, last, dropped; /* eras; generations */
} recording;

/* What the recorder does with the traces. CHECKED: every call is checked for misuse; not in the
 * other modes, because the locks of the checks would hide races. CROWD: with many threads; in every
 * third trace nobody reads before it has ended. COARSE: by a clock with long ticks. */
typedef enum mode { STREAM, LIMITED, CUT, FLIGHT, CHECKED, CROWD, DROP, COARSE, MODES } mode;

static void read_all(recording *made)
{
    const void *bytes;
    size_t size;
    while (gotrace_recorder_read(recorder, &bytes, &size) == GOTRACE_OK)
        ck_assert(blob_write(&made->trace, bytes, size));
}

static void record(recording *made, mode how, unsigned round)
{
    enum { LEAST = 5 };
    const bool absent = how == CROWD && round % 3 == 0;
    gotrace_write_fn write = absent ? NULL : how == DROP ? write_too_slowly : write_slowly;
    ck_assert_msg(gotrace_recorder_start(recorder, version, write, &made->trace) == GOTRACE_OK,
                  "%s", gotrace_recorder_error(recorder)->message);
    made->first = recorder->first_era;
    /* The last generation that is dropped may be the last one of the trace, and then be empty. */
    for (unsigned i = 0;
         i < LEAST || (how == DROP && gotrace_recorder_lost(recorder)->generations < 2); i++) {
        usleep(2000);
        for (unsigned k = 0; k < machine_count; k++)
            pthread_kill(machines[k].thread, SIGUSR1);
        if (round % 2 && i < LEAST)
            gotrace_recorder_advance(recorder);
    }
    ck_assert_msg(gotrace_recorder_stop(recorder) == GOTRACE_OK, "%s",
                  gotrace_recorder_error(recorder)->message);
    if (absent)
        read_all(made);
    made->last = recorder->last_era;
    made->dropped = gotrace_recorder_lost(recorder)->generations;
}

static void check_recording(const recording *made)
{
    reading got = reading_of(made->trace.bytes, made->trace.size, NULL, READING_CHECK);
    ck_assert_msg(got.status == GOTRACE_END && got.summary.problems == 0, "1.%d: %s", version,
                  got.problem_count ? got.problems[0].message : got.error.message);
    compare(&made->trace, made->first, made->last);
}

/* Adds a record to those of its generation. Returns whether it is of the message about a loss. */
static bool tally_record(uint64_t counts[COUNTED_EVENTS], const gotrace_record *r)
{
    for (unsigned what = 0; what < COUNTED_EVENTS; what++)
        for (unsigned i = 0; i < 2; i++)
            counts[what] += records_of[what].v2[i] == r->spec->code;
    return r->spec->code == GOTRACE_V2_GoCreate && r->args[1] == GT_REC_MESSENGER;
}

enum { GENERATIONS = 512 };
static struct {
    uint64_t counts[COUNTED_EVENTS];
    bool dropped, exists;
} generations[GENERATIONS];

static void tally_generations(const blob *trace)
{
    gotrace_decoder *d;
    const gotrace_record *r;
    uint64_t number = 0;
    memset(generations, 0, sizeof generations);
    ck_assert_int_eq(gotrace_decoder_new(NULL, &d, NULL), GOTRACE_OK);
    gotrace_decoder_feed(d, trace->bytes, trace->size);
    gotrace_decoder_finish(d);
    while (gotrace_decoder_next(d, &r) == GOTRACE_EVENT) {
        if (r->spec->code == GOTRACE_V2_EventBatch)
            number = r->args[0];
        ck_assert_uint_lt(number, GENERATIONS);
        generations[number].exists |= r->spec->code != GOTRACE_V2_EventBatch;
        generations[number].dropped |= tally_record(generations[number].counts, r);
    }
    gotrace_decoder_free(d);
}

/* The trace is sound; generations that were not dropped have all their records. Returns the number
 * of those that were. */
static uint64_t check_dropping(const recording *made)
{
    reading got = reading_of(made->trace.bytes, made->trace.size, NULL, READING_CHECK);
    ck_assert_msg(got.status == GOTRACE_END && got.summary.problems == 0, "1.%d: %s", version,
                  got.problem_count ? got.problems[0].message : got.error.message);
    tally_generations(&made->trace);
    uint64_t dropped = 0, last = made->last - made->first; /* the last era is not recorded */
    for (uint64_t i = 1; i <= last; i++) {
        dropped += generations[i].dropped;
        if (generations[i].dropped || (i == last && dropped < made->dropped))
            continue;
        for (unsigned what = 0; what < COUNTED_EVENTS; what++)
            if (records_of[what].v2[0] && gotrace_event_spec_of(version, records_of[what].v2[0]))
                ck_assert_msg(
                    generations[i].counts[what] == tallies[(made->first + i - 1) % ERAS][what],
                    "1.%d, generation %llu, event %u: %llu records of %u", version,
                    (unsigned long long)i, what, (unsigned long long)generations[i].counts[what],
                    tallies[(made->first + i - 1) % ERAS][what]);
    }
    ck_assert(dropped == made->dropped || dropped + 1 == made->dropped);
    return dropped;
}

/* Takes snapshots while the machines run. */
static void record_flight(recording *made)
{
    ck_assert_int_eq(gotrace_recorder_start(recorder, version, NULL, NULL), GOTRACE_OK);
    for (unsigned i = 0; i < 5; i++) {
        blob snapshot = {0};
        usleep(3000);
        ck_assert_int_eq(gotrace_recorder_snapshot(recorder, blob_write, &snapshot), GOTRACE_OK);
        reading got = reading_of(snapshot.bytes, snapshot.size, NULL, READING_CHECK);
        ck_assert_msg(got.status == GOTRACE_END && got.summary.problems == 0, "1.%d: %s", version,
                      got.problem_count ? got.problems[0].message : got.error.message);
        blob_free(&made->trace);
        made->trace = snapshot;
    }
    ck_assert_int_eq(gotrace_recorder_stop(recorder), GOTRACE_OK);
}

/* A clock whose ticks are longer than many events. */
static uint64_t read_milliseconds(void *ctx)
{
    (void)ctx;
    return gt_rec_monotonic() / 1000000;
}

static void start_machines(mode how)
{
    const gotrace_recorder_options options = {
        .size = sizeof options,
        .generation_ns = 4000000,
        .max_bytes = how == LIMITED || how == CUT || how == FLIGHT || how == DROP ? 300000 : 0,
        .when_full = how == CUT    ? GOTRACE_REC_CUT
                     : how == DROP ? GOTRACE_REC_DROP
                                   : GOTRACE_REC_WAIT,
        .flight_ns = how == FLIGHT ? 8000000 : 0,
        .on_misuse = how == CHECKED ? fail_on_misuse : NULL,
        .clock = how == COARSE ? read_milliseconds : NULL,
        .frequency = 1000,
    };
    gotrace_error error = GOTRACE_INIT(gotrace_error);
    ck_assert_int_eq(gotrace_recorder_new(&options, NULL, &recorder, &error), GOTRACE_OK);
    for (unsigned i = 0; i < machine_count; i++) {
        machines[i].random = i + 1;
        machines[i].t = gotrace_rec_thread_new(recorder, ++next_thread);
        put_into(&idle, gotrace_rec_proc_new(recorder, i));
    }
    for (unsigned i = 0; i < machine_count; i++)
        ck_assert_int_eq(pthread_create(&machines[i].thread, NULL, work, &machines[i]), 0);
    while (live <= machine_count) /* so that no trace is empty, however busy the processors are */
        sched_yield();
}

START_TEST(threads)
{
    static const char *const kept[MODES] = {
        [STREAM] = "", [DROP] = "dropped-", [COARSE] = "coarse-"};
    const mode how = (mode)(_i / VERSIONS);
    uint64_t dropped = 0;
    recording made[ROUNDS] = {0};
    const unsigned count = rounds();
    struct sigaction action = {.sa_handler = sample, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    version = versions[_i % VERSIONS];
    if ((how == FLIGHT || how == DROP) && version < 22)
        return;
    machine_count = how == CROWD ? MACHINES : FEW;
    start_machines(how);
    for (unsigned round = 0; round < count; round++) {
        usleep(1000);
        if (how == FLIGHT)
            record_flight(&made[round]);
        else
            record(&made[round], how, round);
    }
    done = true;
    for (unsigned i = 0; i < machine_count; i++)
        pthread_join(machines[i].thread, NULL);
    for (unsigned round = 0; round < count; round++) {
        if (kept[how])
            keep_trace(&made[round].trace, kept[how], version, round);
        if (how == DROP)
            dropped += check_dropping(&made[round]);
        else if (how != FLIGHT)
            check_recording(&made[round]);
        blob_free(&made[round].trace);
    }
    ck_assert(how != DROP || dropped > 0);
    gotrace_recorder_free(recorder);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("record_threads");
    TCase *t = tcase_create("record_threads");
    tcase_add_loop_test(t, threads, 0, MODES * VERSIONS);
    suite_add_tcase(s, t);
    return s;
}

int main(void)
{
    return run_suite(suite());
}
