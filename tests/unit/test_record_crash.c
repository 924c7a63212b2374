/*
 * test_record_crash.c - crash files: after a kill at a random moment the file has every event that
 * a thread had counted.
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

#include "crash_files.h"
#include "gotrace_record.h"
#include "reading.h"
#include "recording.h"
#include "writing.h"

enum { THREADS = 2, WAITING = 8, DEPTH = 8 };

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

/* Until it is killed. */
static void run_program(int version, bool flight, uint64_t seed)
{
    static worker workers[THREADS];
    const gotrace_recorder_options options = crash_options(flight);
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

/* ---- what a crash file has ---------------------------------------------------------------------
 */

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
                          end_ns - counted->heap_ns[i] >= CRASH_FLIGHT_NS,
                      "1.%d, thread %u: %llu of %llu", version, i, (unsigned long long)last[i],
                      (unsigned long long)counted->counts[i][HEAP]);
    gotrace_reader_close(reader);
    gotrace_source_close(source);
}

/* ---- kills ----------------------------------------------------------------------------------- */

static void begin(void)
{
    crash_folder_make();
    counted = mmap(NULL, sizeof *counted, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                   0);
    ck_assert_ptr_ne(counted, MAP_FAILED);
}

static void end(void)
{
    crash_folder_remove();
    munmap(counted, sizeof *counted);
}

/* Returns the time when it is dead. */
static uint64_t kill_program(int version, bool flight, uint64_t seed)
{
    int status;
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0)
        run_program(version, flight, seed);
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
        const int version = crash_versions[i % CRASH_VERSIONS];
        const bool flight = version >= 22 && i / CRASH_VERSIONS % 2;
        const uint64_t seed = random_next(&random) % 1000000;
        begin();
        const uint64_t end_ns = kill_program(version, flight, seed);
        blob trace = crash_recovered(version);
        keep_trace(&trace, "crash-", version, i);
        crash_check(&trace, version);
        if (flight)
            compare_last(&trace, version, end_ns);
        else
            compare(&trace, version);
        blob_free(&trace);
        end();
    }
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("record_crash");
    TCase *t = tcase_create("kills");
    tcase_add_test(t, killed);
    suite_add_tcase(s, t);
    return s;
}

int main(void)
{
    return run_suite(suite());
}
