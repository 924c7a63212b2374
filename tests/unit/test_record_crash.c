/*
 * test_record_crash.c - crash files: after a kill at a random moment the file has every event that
 * a thread had counted; what is not a sound file is rejected.
 *
 * KILLS in the environment: how many processes are killed, 20 by default. SEED repeats a run.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "gotrace_record.h"
#include "reading.h"
#include "recording.h"
#include "record/crash.h"
#include "writing.h"

static const int versions[] = {26, 19, 22, 21, 25, 5, 23, 11, 24, 7};
enum { VERSIONS = sizeof versions / sizeof *versions };
enum { THREADS = 2, WAITING = 8, DEPTH = 8, GENERATION_NS = 3000000 };
enum { FLIGHT_NS = 5 * GENERATION_NS };

/* ---- what is counted ------------------------------------------------------------------------- */

enum { HEAP, STACK, YIELD, PARK, UNPARK, CREATE, CALL, REGION, LOG, SAMPLE, KINDS };

/* The records of each, of one of these codes. */
static const struct {
    uint8_t v1[3], v2;
} records_of[KINDS] = {
    [HEAP] = {{GOTRACE_V1_HeapAlloc}, GOTRACE_V2_HeapAlloc},
    [STACK] = {{GOTRACE_V1_Gomaxprocs}, GOTRACE_V2_ProcsChange},
    [YIELD] = {{GOTRACE_V1_GoSched}, GOTRACE_V2_GoStop},
    [PARK] = {{GOTRACE_V1_GoBlockSend}, GOTRACE_V2_GoBlock},
    [UNPARK] = {{GOTRACE_V1_GoUnblock, GOTRACE_V1_GoUnblockLocal}, GOTRACE_V2_GoUnblock},
    [CREATE] = {{GOTRACE_V1_GoCreate}, GOTRACE_V2_GoCreate},
    [CALL] = {{GOTRACE_V1_GoSysCall}, GOTRACE_V2_GoSyscallBegin},
    [REGION] = {{GOTRACE_V1_UserRegion}, GOTRACE_V2_UserRegionBegin},
    [LOG] = {{GOTRACE_V1_UserLog}, GOTRACE_V2_UserLog},
    [SAMPLE] = {{GOTRACE_V1_CPUSample}, GOTRACE_V2_CPUSample},
};

/* In memory that outlives the process. */
typedef struct shared {
    _Atomic uint64_t counts[THREADS][KINDS];
    _Atomic uint64_t heap_ns[THREADS]; /* just before the last event that HEAP counts */
    _Atomic bool ready;
} shared;

static shared *counted;

/* ---- a program ------------------------------------------------------------------------------- */

typedef struct worker {
    unsigned number;
    gotrace_rec_thread *t;
    gotrace_rec_go *g;
    uint64_t random;
    uint64_t pcs[DEPTH];
} worker;

static gotrace_recorder *recorder;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static gotrace_rec_go *waiting[WAITING]; /* goroutines that are blocked */
static _Atomic uint64_t next_id = 1;

static void count(const worker *w, unsigned kind)
{
    atomic_fetch_add_explicit(&counted->counts[w->number][kind], 1, memory_order_relaxed);
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Some stacks are new. */
static const uint64_t *stack(worker *w)
{
    const uint64_t kind = random_next(&w->random) % 4 ? 0 : random_next(&w->random) % 3000;
    for (unsigned i = 0; i < DEPTH; i++)
        w->pcs[i] = 0x400000 + 64 * i + kind;
    return w->pcs;
}

static void yield(worker *w)
{
    gotrace_rec_go_sched(w->t, stack(w), DEPTH);
    count(w, YIELD);
    gotrace_rec_go_start(w->t, w->g);
}

/* Goes on in a goroutine that blocked on any thread. */
static void change(worker *w)
{
    pthread_mutex_lock(&lock);
    gotrace_rec_go **place = &waiting[random_next(&w->random) % WAITING], *next = *place;
    gotrace_rec_go_park(w->t, GOTRACE_REC_SEND, stack(w), DEPTH);
    count(w, PARK);
    *place = w->g;
    pthread_mutex_unlock(&lock);
    gotrace_rec_go_unpark(w->t, next, NULL, 0);
    count(w, UNPARK);
    gotrace_rec_go_start(w->t, next);
    w->g = next;
}

static void replace(worker *w)
{
    gotrace_rec_go *g = gotrace_rec_go_create(w->t, ++next_id, 0x500000, stack(w), DEPTH);
    count(w, CREATE);
    gotrace_rec_go_end(w->t);
    gotrace_rec_go_start(w->t, g);
    w->g = g;
}

static void annotate(worker *w)
{
    char text[16];
    snprintf(text, sizeof text, "text %u", (unsigned)(random_next(&w->random) % 2000));
    gotrace_rec_region(w->t, 0, GOTRACE_REC_BEGIN, text, NULL, 0);
    count(w, REGION);
    gotrace_rec_log(w->t, 0, "category", text, NULL, 0);
    count(w, LOG);
    gotrace_rec_region(w->t, 0, GOTRACE_REC_END, text, NULL, 0);
}

static void allocate_heap(const worker *w)
{
    const uint64_t before = now_ns();
    gotrace_rec_heap_alloc(w->t, counted->counts[w->number][HEAP] << 1 | w->number);
    counted->heap_ns[w->number] = before;
    count(w, HEAP);
}

static void step(worker *w)
{
    switch (random_next(&w->random) % 8) {
    case 0: yield(w); break;
    case 1: change(w); break;
    case 2: replace(w); break;
    case 3: annotate(w); break;
    case 4:
        gotrace_rec_go_sys_call(w->t, NULL, 0);
        count(w, CALL);
        gotrace_rec_go_sys_exit(w->t);
        break;
    case 5:
        gotrace_rec_gomaxprocs(w->t, THREADS, stack(w), DEPTH);
        count(w, STACK);
        break;
    default: allocate_heap(w);
    }
    /* As seldom as a signal: no more samples than the ring has room for. */
    if (random_next(&w->random) % 256 == 0) {
        gotrace_rec_cpu_sample(recorder, w->t, stack(w), DEPTH);
        count(w, SAMPLE);
    }
}

static void *work(void *arg)
{
    worker *w = arg;
    gotrace_rec_proc_start(w->t, gotrace_rec_proc_new(recorder, w->number));
    w->g = gotrace_rec_go_create(w->t, ++next_id, 0x500000, NULL, 0);
    gotrace_rec_go_start(w->t, w->g);
    counted->ready = true;
    for (;;)
        step(w);
    return NULL;
}

static bool drop(void *ctx, const void *bytes, size_t size)
{
    (void)ctx, (void)bytes, (void)size;
    return true;
}

static gotrace_recorder_options options_for(const char *path, bool flight)
{
    return (gotrace_recorder_options){
        .size = sizeof(gotrace_recorder_options),
        .generation_ns = GENERATION_NS,
        .flight_ns = flight ? FLIGHT_NS : 0,
        .crash_file = path,
    };
}

/* Until it is killed. */
static void run_program(const char *path, int version, bool flight, uint64_t seed)
{
    static worker workers[THREADS];
    const gotrace_recorder_options options = options_for(path, flight);
    recorder = recorder_of(&options);
    gotrace_rec_thread *main_thread = gotrace_rec_thread_new(recorder, 100);
    for (unsigned i = 0; i < WAITING; i++)
        waiting[i] = gotrace_rec_go_create_blocked(main_thread, ++next_id, 0, NULL, 0);
    if (gotrace_recorder_start(recorder, version, flight ? NULL : drop, NULL) != GOTRACE_OK)
        _exit(1);
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_t thread;
        workers[i] = (worker){
            .number = i, .t = gotrace_rec_thread_new(recorder, i), .random = seed * 64 + i + 1};
        pthread_create(&thread, NULL, work, &workers[i]);
    }
    for (;;)
        pause();
}

/* ---- the trace of a crash file --------------------------------------------------------------- */

static size_t no_names(void *ctx, uint64_t pc, gotrace_frame *frames, size_t max)
{
    (void)ctx, (void)max;
    frames[0] = (gotrace_frame){.pc = pc};
    return 1;
}

static gotrace_status recover(gotrace_source *file, gotrace_resolve_fn resolve, blob *trace,
                              gotrace_error *error)
{
    gotrace_status status = gotrace_recover(file, resolve, NULL, blob_write, trace, NULL, error);
    gotrace_source_close(file);
    return status;
}

static gotrace_source *open_file(const char *path)
{
    gotrace_source *file;
    ck_assert_int_eq(gotrace_source_open(path, NULL, &file, NULL), GOTRACE_OK);
    ck_assert(gotrace_is_crash_file(file));
    return file;
}

/* An entry of a table may be left whose event is not complete, which is a warning. */
static void check_trace(const blob *trace, int version)
{
    reading got = reading_of(trace->bytes, trace->size, NULL, READING_CHECK);
    ck_assert_msg(
        got.opened == GOTRACE_OK && got.status == GOTRACE_END && got.summary.problems == 0,
        "1.%d: %s", version, got.problem_count ? got.problems[0].message : got.error.message);
    ck_assert_int_eq(got.summary.version, gotrace_release_version(version));
}

static blob recovered(const char *path, int version)
{
    blob trace = {0};
    gotrace_error error = GOTRACE_INIT(gotrace_error);
    ck_assert_msg(recover(open_file(path), no_names, &trace, &error) == GOTRACE_OK, "1.%d: %s",
                  version, error.message);
    return trace;
}

static void compare(const blob *trace, int version)
{
    uint64_t counts[GT_CODES];
    count_records(trace, counts);
    for (unsigned kind = 0; kind < KINDS; kind++) {
        const uint8_t *codes = version < 22 ? records_of[kind].v1 : &records_of[kind].v2;
        uint64_t expected = 0, got = 0;
        if (!gotrace_event_spec_of(gotrace_release_version(version), codes[0]))
            continue;
        for (unsigned i = 0; i < THREADS; i++)
            expected += counted->counts[i][kind];
        for (unsigned i = 0; i < (version < 22 ? 3 : 1); i++)
            got += codes[i] ? counts[codes[i]] : 0;
        ck_assert_msg(got >= expected, "1.%d, type %u: %llu records of %llu", version, codes[0],
                      (unsigned long long)got, (unsigned long long)expected);
    }
}

/* A flight recorder has the last events of each thread: here those with their numbers. If the
 * kernel did not run a thread for as long as events are kept, its last ones may be too old. */
static void compare_last(const blob *trace, int version, uint64_t end_ns)
{
    uint64_t last[THREADS] = {0};
    gotrace_source *source;
    gotrace_reader *reader;
    const gotrace_event *e;
    ck_assert_int_eq(gotrace_source_memory(trace->bytes, trace->size, NULL, &source, NULL),
                     GOTRACE_OK);
    ck_assert_int_eq(gotrace_reader_open(source, NULL, &reader, NULL), GOTRACE_OK);
    while (gotrace_reader_next(reader, &e) == GOTRACE_EVENT)
        if (e->kind == GOTRACE_KIND_METRIC && e->type == GOTRACE_V2_HeapAlloc)
            last[gotrace_event_value(e) & 1] = (gotrace_event_value(e) >> 1) + 1;
    for (unsigned i = 0; i < THREADS; i++)
        ck_assert_msg(last[i] >= counted->counts[i][HEAP] ||
                          end_ns - counted->heap_ns[i] >= FLIGHT_NS,
                      "1.%d, thread %u: %llu of %llu", version, i, (unsigned long long)last[i],
                      (unsigned long long)counted->counts[i][HEAP]);
    gotrace_reader_close(reader);
    gotrace_source_close(source);
}

/* ---- kills ----------------------------------------------------------------------------------- */

static char folder[] = "/tmp/gotrace-crash-XXXXXX";
static char path[64];

static void make_folder(void)
{
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/file", folder);
    counted = mmap(NULL, sizeof *counted, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                   0);
    ck_assert_ptr_ne(counted, MAP_FAILED);
}

static void remove_folder(void)
{
    unlink(path);
    rmdir(folder);
    munmap(counted, sizeof *counted);
}

/* Returns the time when it is dead. */
static uint64_t kill_program(int version, bool flight, uint64_t seed)
{
    int status;
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0)
        run_program(path, version, flight, seed);
    while (!counted->ready && waitpid(pid, &status, WNOHANG) == 0)
        usleep(50);
    usleep((useconds_t)(seed % 3 == 0 ? seed % 300 : seed % 30000));
    kill(pid, SIGKILL);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    return now_ns();
}

static unsigned kills(void)
{
    const char *value = getenv("KILLS");
    return value ? (unsigned)atoi(value) : 20;
}

/* A run is repeated by its seed. */
static uint64_t seed_of_run(void)
{
    const char *value = getenv("SEED");
    return value ? (uint64_t)atoll(value) : (uint64_t)getpid() * 2654435761;
}

START_TEST(killed)
{
    uint64_t random = seed_of_run();
    for (unsigned i = 0; i < kills(); i++) {
        const int version = versions[i % VERSIONS];
        const bool flight = version >= 22 && i / VERSIONS % 2;
        const uint64_t seed = random_next(&random) % 1000000;
        make_folder();
        const uint64_t end_ns = kill_program(version, flight, seed);
        blob trace = recovered(path, version);
        keep_trace(&trace, "crash-", version, i);
        check_trace(&trace, version);
        if (flight)
            compare_last(&trace, version, end_ns);
        else
            compare(&trace, version);
        blob_free(&trace);
        remove_folder();
    }
}
END_TEST

/* ---- one thread ------------------------------------------------------------------------------ */

enum { LITTLE = 4 << 20, EVENTS = 1000, CHILDREN = 20, LEAST_ROOM = 1 << 20 };

typedef struct single {
    gotrace_recorder *r;
    gotrace_rec_thread *t;
    blob trace; /* its output */
} single;

static bool write_until_full(void *ctx, const void *bytes, size_t size)
{
    blob *trace = ctx;
    return trace->size < 100000 && blob_write(trace, bytes, size);
}

static single single_of(const gotrace_recorder_options *options)
{
    single s = {.r = recorder_of(options)};
    s.t = gotrace_rec_thread_new(s.r, 1);
    gotrace_rec_proc_start(s.t, gotrace_rec_proc_new(s.r, 0));
    gotrace_rec_go_start(s.t, gotrace_rec_go_create(s.t, 1, 0, NULL, 0));
    return s;
}

/* The file is read while the recorder exists, so generations must not end by themselves. */
static single single_new(uint64_t bytes)
{
    gotrace_recorder_options options = options_for(path, false);
    options.crash_bytes = bytes;
    options.generation_ns = UINT64_MAX;
    return single_of(&options);
}

static void start(single *s, int version, gotrace_write_fn write)
{
    blob_free(&s->trace);
    ck_assert_int_eq(gotrace_recorder_start(s->r, version, write, &s->trace), GOTRACE_OK);
}

static void single_free(single *s)
{
    gotrace_recorder_free(s->r);
    blob_free(&s->trace);
}

static void allocate(const single *s, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        gotrace_rec_heap_alloc(s->t, i);
}

static uint64_t allocations(const blob *trace, int version)
{
    uint64_t counts[GT_CODES];
    count_records(trace, counts);
    return counts[version < 22 ? GOTRACE_V1_HeapAlloc : GOTRACE_V2_HeapAlloc];
}

static uint64_t recovered_allocations(int version)
{
    blob trace = recovered(path, version);
    check_trace(&trace, version);
    const uint64_t count = allocations(&trace, version);
    blob_free(&trace);
    return count;
}

/* The file is full: the trace ends, and the file has what the output has. */
START_TEST(full)
{
    const int version = versions[_i];
    single s = single_new(LITTLE);
    start(&s, version, blob_write);
    allocate(&s, 3000000);
    ck_assert_uint_gt(recovered_allocations(version), 100000);
    ck_assert_int_eq(gotrace_recorder_stop(s.r), GOTRACE_OK);
    ck_assert_uint_eq(gotrace_recorder_lost(s.r)->cut, 1);
    check_trace(&s.trace, version);
    const uint64_t count = allocations(&s.trace, version);
    ck_assert_uint_gt(count, 100000);
    ck_assert_uint_eq(recovered_allocations(version), count);
    single_free(&s);
    ck_assert_int_eq(access(path, F_OK), -1);
}
END_TEST

static bool is_due(gotrace_recorder *r)
{
    pthread_mutex_lock(&r->lock);
    const bool due = gt_rec_monotonic() >= r->era_due;
    pthread_mutex_unlock(&r->lock);
    return due;
}

enum { PORTION = 10000 };

/* In portions, after each of which the thread that ends generations has ended one that is due: on a
 * busy machine it may wait for a processor while more is recorded than fits into the file, which
 * then has only the generation after that. */
static void allocate_slowly(single *s, unsigned count)
{
    for (; count > PORTION; count -= PORTION) {
        allocate(s, PORTION);
        do {
            pthread_mutex_lock(&s->r->control); /* it is not at work */
            pthread_mutex_unlock(&s->r->control);
        } while (is_due(s->r));
    }
    allocate(s, count);
}

static void run_flight(int version, unsigned count)
{
    gotrace_recorder_options options = options_for(path, true);
    options.crash_bytes = LITTLE;
    options.flight_ns = UINT64_MAX;
    single s = single_of(&options);
    if (gotrace_recorder_start(s.r, version, NULL, NULL) != GOTRACE_OK)
        _exit(1);
    allocate_slowly(&s, count);
    if (gotrace_recorder_lost(s.r)->generations == 0 && count > 1000000)
        _exit(2);
    raise(SIGKILL);
}

/* Generations are dropped: the file has at least what came after the last portion, because no
 * generation ends then. */
START_TEST(full_flight)
{
    const int version = versions[_i];
    int status;
    for (unsigned count = 100000; version >= 22 && count < 4000000;
         count += count / (SWEEP_STEP == 1 ? 3 : 1)) {
        pid_t pid = fork();
        if (pid == 0)
            run_flight(version, count);
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert(WIFSIGNALED(status));
        ck_assert_uint_ge(recovered_allocations(version), (count - 1) % PORTION + 1);
        ck_assert_int_eq(unlink(path), 0);
    }
}
END_TEST

/* One trace after the other: the file has the last one, also after its end. */
START_TEST(restarted)
{
    const int version = versions[_i];
    single s = single_new(0);
    for (unsigned round = 1; round <= 3; round++) {
        start(&s, version, blob_write);
        allocate(&s, round * EVENTS);
        ck_assert_uint_eq(recovered_allocations(version), round * EVENTS);
        ck_assert_int_eq(gotrace_recorder_advance(s.r), GOTRACE_OK);
        ck_assert_uint_eq(recovered_allocations(version), round * EVENTS);
        allocate(&s, 5);
        ck_assert_uint_eq(recovered_allocations(version), round * EVENTS + 5);
        ck_assert_int_eq(gotrace_recorder_stop(s.r), GOTRACE_OK);
        ck_assert_uint_eq(recovered_allocations(version), round * EVENTS + 5);
    }
    single_free(&s);
}
END_TEST

/* The output fails: the file has what it lacks, and stays. */
START_TEST(output_fails)
{
    const int version = versions[_i];
    single s = single_new(0);
    start(&s, version, write_until_full);
    allocate(&s, 200000);
    ck_assert_int_eq(gotrace_recorder_stop(s.r), GOTRACE_ERROR);
    single_free(&s);
    ck_assert_uint_gt(recovered_allocations(version), 20000);
}
END_TEST

/* Creates children at moments when the thread that writes may have a lock. What they record is in
 * no file, and needs no room, which nothing would make. They do not remove the file. */
static void run_children(single *s)
{
    for (unsigned i = 0; i < CHILDREN; i++) {
        int status;
        allocate(s, EVENTS);
        pid_t pid = fork();
        ck_assert_int_ge(pid, 0);
        if (pid == 0) {
            const void *bytes;
            size_t size;
            allocate(s, 200 * EVENTS);
            if (gotrace_recorder_read(s->r, &bytes, &size) != GOTRACE_END ||
                gotrace_recorder_stop(s->r) != GOTRACE_OK)
                _exit(1);
            if (!is_sanitized()) /* its allocator's locks may be held for ever */
                gotrace_recorder_free(s->r);
            _exit(0);
        }
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert_int_eq(status, 0);
    }
}

START_TEST(forked)
{
    const int version = versions[_i];
    single s = single_new(0);
    start(&s, version, blob_write);
    run_children(&s);
    allocate(&s, 1);
    ck_assert_uint_eq(recovered_allocations(version), CHILDREN * EVENTS + 1);
    ck_assert_int_eq(gotrace_recorder_stop(s.r), GOTRACE_OK);
    ck_assert_uint_eq(allocations(&s.trace, version), CHILDREN * EVENTS + 1);
    single_free(&s);
}
END_TEST

START_TEST(forked_without_file)
{
    const int version = versions[_i];
    const gotrace_recorder_options options = {.size = sizeof options, .max_bytes = LEAST_ROOM};
    single s = single_of(&options);
    start(&s, version, blob_write);
    run_children(&s);
    ck_assert_int_eq(gotrace_recorder_stop(s.r), GOTRACE_OK);
    check_trace(&s.trace, version);
    ck_assert_uint_eq(allocations(&s.trace, version), CHILDREN * EVENTS);
    single_free(&s);
}
END_TEST

__attribute__((noinline)) static uint64_t here(void)
{
    return (uint64_t)(uintptr_t)__builtin_return_address(0);
}

/* Names are found after the end of the process, in the files that it had mapped. */
START_TEST(names)
{
    const int version = versions[_i];
    gotrace_error error = GOTRACE_INIT(gotrace_error);
    blob trace = {0};
    single s = single_new(0);
    start(&s, version, blob_write);
    const uint64_t pcs[] = {here()};
    gotrace_rec_gomaxprocs(s.t, 1, pcs, 1);
    ck_assert_int_eq(recover(open_file(path), NULL, &trace, &error), GOTRACE_OK);
    check_trace(&trace, version);
    /* The function, or without libdw the file. */
    ck_assert(version < 7 || memmem(trace.bytes, trace.size, "names_fn", 8) ||
              memmem(trace.bytes, trace.size, "test_record_crash+", 18));
    blob_free(&trace);
    single_free(&s);
}
END_TEST

/* ---- errors ---------------------------------------------------------------------------------- */

START_TEST(not_created)
{
    gotrace_error error = GOTRACE_INIT(gotrace_error);
    gotrace_recorder *r;
    gotrace_recorder_options options = options_for(path, false);
    options.crash_bytes = LITTLE - 1;
    ck_assert_int_eq(gotrace_recorder_new(&options, NULL, &r, &error), GOTRACE_ERROR);
    ck_assert_int_eq(error.rule, GOTRACE_RULE_USAGE);
    options.crash_bytes = 0;
    options.crash_file = folder; /* it exists */
    ck_assert_int_eq(gotrace_recorder_new(&options, NULL, &r, &error), GOTRACE_ERROR);
    ck_assert_int_eq(error.rule, GOTRACE_RULE_SYSTEM_OPEN);
    ck_assert_int_eq(error.os_error, EEXIST);
    options.crash_file = path;
    options.crash_bytes = INT64_MAX;
    ck_assert_int_eq(gotrace_recorder_new(&options, NULL, &r, &error), GOTRACE_ERROR);
    ck_assert_int_eq(error.rule, GOTRACE_RULE_SYSTEM_WRITE);
    ck_assert_ptr_null(r);
    ck_assert_int_eq(access(path, F_OK), -1);
}
END_TEST

/* A crash file of a trace with two open generations' worth of everything. */
static blob crash_file(int version)
{
    blob file = {0};
    const uint64_t pcs[] = {0x401000, 0x402000};
    single s = single_new(LITTLE);
    start(&s, version, blob_write);
    allocate(&s, EVENTS);
    gotrace_recorder_advance(s.r);
    allocate(&s, EVENTS);
    gotrace_rec_region(s.t, 0, GOTRACE_REC_BEGIN, "a region", pcs, 2);
    gotrace_rec_timer_go(s.r, 7);
    gotrace_rec_cpu_sample(s.r, s.t, pcs, 2);
    blob_read(&file, path);
    single_free(&s);
    return file;
}

static gotrace_status recover_blob(const blob *file, size_t size, const gotrace_config *config,
                                   gotrace_error *error)
{
    gotrace_source *source;
    blob trace = {0};
    ck_assert_int_eq(gotrace_source_memory(file->bytes, size, NULL, &source, NULL), GOTRACE_OK);
    gotrace_status status = gotrace_recover(source, no_names, NULL, blob_write, &trace, config,
                                            error);
    gotrace_source_close(source);
    blob_free(&trace);
    return status;
}

static void check_rejected(const blob *file, size_t size, gotrace_rule rule)
{
    gotrace_error error = GOTRACE_INIT(gotrace_error);
    ck_assert_int_eq(recover_blob(file, size, NULL, &error), GOTRACE_ERROR);
    ck_assert_msg(error.rule == rule, "%s", error.message);
    ck_assert_uint_ne(error.offset, GOTRACE_NO_OFFSET);
}

START_TEST(rejected)
{
    blob file = crash_file(26);
    gt_crash_head *head = (gt_crash_head *)file.bytes, good = *head;
    static const size_t sizes[] = {16, 1000, GT_CRASH_MAPS_AT, GT_CRASH_SLOTS_AT, LITTLE / 2};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        check_rejected(&file, sizes[i], GOTRACE_RULE_WIRE_TRUNCATED);
    check_rejected(&file, 15, GOTRACE_RULE_HEADER_MAGIC);
    head->layout++;
    check_rejected(&file, file.size, GOTRACE_RULE_HEADER_VERSION);
    *head = good;
    head->version = 4;
    check_rejected(&file, file.size, GOTRACE_RULE_HEADER_VERSION);
    head->version = 0;
    check_rejected(&file, file.size, GOTRACE_RULE_TRACE_EMPTY);
    *head = good;
    head->first_era = 0;
    check_rejected(&file, file.size, GOTRACE_RULE_GENERATION_NUMBER);
    *head = good;
    head->maps = 2;
    check_rejected(&file, file.size, GOTRACE_RULE_WIRE_LENGTH);
    *head = good;
    head->kept_era = UINT64_MAX;
    check_rejected(&file, file.size, GOTRACE_RULE_TRACE_EMPTY);
    *head = good;
    head->address += 1 << 20;
    check_rejected(&file, file.size, GOTRACE_RULE_BATCH_HEADER);
    blob_free(&file);
}
END_TEST

/* Damage anywhere: an error with a message, or a trace, which may be damaged. */
START_TEST(damaged)
{
    uint64_t random = 1;
    blob file = crash_file(versions[_i]);
    const size_t bytes_used = GT_CRASH_SLOTS_AT + 8 * GT_REC_BUFFER_SIZE;
    for (unsigned i = 0; i < 600; i++) {
        gotrace_error error = GOTRACE_INIT(gotrace_error);
        const size_t slot = GT_CRASH_SLOTS_AT + random_next(&random) % 8 * GT_REC_BUFFER_SIZE;
        const size_t at = i % 3 == 0   ? random_next(&random) % sizeof(gt_crash_head)
                          : i % 3 == 1 ? slot + random_next(&random) % (sizeof(gt_rec_buffer) + 64)
                                       : random_next(&random) % bytes_used;
        uint64_t before, value = absurd_numbers[random_next(&random) % ABSURD_NUMBERS];
        memcpy(&before, file.bytes + at, sizeof before);
        value = i % 2 ? value : before + random_next(&random) % 9 - 4;
        memcpy(file.bytes + at, &value, sizeof value);
        if (recover_blob(&file, file.size, NULL, &error) != GOTRACE_OK)
            ck_assert(error.rule != GOTRACE_RULE_NONE && error.message[0] != '\0');
        memcpy(file.bytes + at, &before, sizeof before);
    }
    blob_free(&file);
}
END_TEST

START_TEST(refused_memory)
{
    gotrace_error error = GOTRACE_INIT(gotrace_error);
    blob file = crash_file(versions[_i]);
    gotrace_status status = GOTRACE_ERROR;
    failing_allocator a = {0};
    for (uint64_t fail_at = 0; status != GOTRACE_OK; fail_at++) {
        a = (failing_allocator){.fail_at = fail_at};
        const gotrace_config config = failing_config(&a);
        status = recover_blob(&file, file.size, &config, &error);
        ck_assert_msg(status == GOTRACE_OK || error.rule == GOTRACE_RULE_SYSTEM_MEMORY, "%llu: %s",
                      (unsigned long long)fail_at, error.message);
        ck_assert_int_eq(a.bytes, 0);
    }
    ck_assert_uint_gt(a.fail_at, 5);
    for (uint64_t fail_at = 0; fail_at < 3; fail_at++) {
        gotrace_recorder *r;
        a = (failing_allocator){.fail_at = fail_at};
        const gotrace_config config = failing_config(&a);
        const gotrace_recorder_options options = options_for(path, false);
        ck_assert_int_eq(gotrace_recorder_new(&options, &config, &r, &error), GOTRACE_ERROR);
        ck_assert_int_eq(a.bytes, 0);
    }
    blob_free(&file);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("record_crash");
    TCase *t = tcase_create("record_crash");
    tcase_add_checked_fixture(t, make_folder, remove_folder);
    tcase_add_loop_test(t, full, 0, VERSIONS);
    tcase_add_loop_test(t, full_flight, 0, VERSIONS);
    tcase_add_loop_test(t, restarted, 0, VERSIONS);
    tcase_add_loop_test(t, output_fails, 0, VERSIONS);
    tcase_add_loop_test(t, forked, 0, VERSIONS);
    tcase_add_loop_test(t, forked_without_file, 0, VERSIONS);
    tcase_add_loop_test(t, names, 0, VERSIONS);
    tcase_add_test(t, not_created);
    tcase_add_test(t, rejected);
    tcase_add_loop_test(t, damaged, 0, VERSIONS);
    tcase_add_loop_test(t, refused_memory, 0, VERSIONS);
    suite_add_tcase(s, t);
    t = tcase_create("kills");
    tcase_add_test(t, killed);
    suite_add_tcase(s, t);
    return s;
}

int main(void)
{
    return run_suite(suite());
}
