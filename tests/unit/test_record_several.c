/*
 * test_record_several.c - two recorders in one process: the same threads record with both, event
 * by event, while each is started and stopped by a thread of its own. Each trace is sound, has its
 * version, and has exactly the events of its recorder. Threads do not write to the same cache line.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gotrace_record.h"
#include "reading.h"
#include "record/record.h"
#include "recording.h"
#include "writing.h"

enum { TRACERS = 2, WORKERS = 4, GOROUTINES = 40, ROUNDS = 6, ERAS = 1024, DEPTH = 4 };

static const int pairs[][TRACERS] = {
    {5, 26}, {7, 22}, {11, 11}, {19, 25}, {21, 26}, {22, 23}, {26, 26},
};
enum { PAIRS = sizeof pairs / sizeof *pairs };

/* Events that are described in no other way than by the call. */
typedef enum counted_event {
    SCHED,
    PARK,
    UNPARK,
    END,
    SYS_CALL,
    LOG,
    ALLOC,
    COUNTED
} counted_event;

static const struct {
    uint8_t v1[2], v2;
} codes[COUNTED] = {
    [SCHED] = {{GOTRACE_V1_GoSched}, GOTRACE_V2_GoStop},
    [PARK] = {{GOTRACE_V1_GoBlockSync}, GOTRACE_V2_GoBlock},
    [UNPARK] = {{GOTRACE_V1_GoUnblock, GOTRACE_V1_GoUnblockLocal}, GOTRACE_V2_GoUnblock},
    [END] = {{GOTRACE_V1_GoEnd}, GOTRACE_V2_GoDestroy},
    [SYS_CALL] = {{GOTRACE_V1_GoSysCall}, GOTRACE_V2_GoSyscallBegin},
    [LOG] = {{GOTRACE_V1_UserLog}, GOTRACE_V2_UserLog},
    [ALLOC] = {{GOTRACE_V1_HeapAlloc}, GOTRACE_V2_HeapAlloc},
};

/* What was recorded in an era. sum: of mixed values of HeapAlloc, none of which occurs twice. */
typedef struct tally {
    _Atomic uint64_t counts[COUNTED], sum;
} tally;

typedef struct made {
    blob trace;
    uint64_t first, last; /* eras */
} made;

typedef struct pool {
    gotrace_rec_go *items[GOROUTINES];
    unsigned count;
} pool;

typedef struct tracer {
    unsigned number;
    int version;
    gotrace_recorder *r;
    pthread_t control;
    pthread_mutex_t lock; /* of the pools */
    pool ready, waiting;
    _Atomic uint64_t next_id, next_value;
    tally tallies[ERAS];
    made made[ROUNDS];
} tracer;

/* What a worker has in a tracer. */
typedef struct side {
    gotrace_rec_thread *t;
    gotrace_rec_proc *p;
    gotrace_rec_go *g; /* that runs; NULL: none */
} side;

typedef struct worker {
    pthread_t thread;
    uint64_t random;
    side sides[TRACERS];
} worker;

static tracer tracers[TRACERS];
static worker workers[WORKERS];
static _Atomic bool done;
static _Thread_local worker *self;

static uint64_t mix(uint64_t value)
{
    return random_next(&value);
}

/* ---- the workers ------------------------------------------------------------------------------
 */

static tally *tally_of(tracer *k, const side *s)
{
    return s->t->era != 0 && !s->t->closing ? &k->tallies[s->t->era % ERAS] : NULL;
}

static void count(tracer *k, const side *s, counted_event what)
{
    tally *at = tally_of(k, s);
    if (at)
        at->counts[what]++;
}

static void put_into(tracer *k, pool *p, gotrace_rec_go *g)
{
    pthread_mutex_lock(&k->lock);
    p->items[p->count++] = g;
    pthread_mutex_unlock(&k->lock);
}

static gotrace_rec_go *take_from(tracer *k, pool *p)
{
    pthread_mutex_lock(&k->lock);
    gotrace_rec_go *g = p->count ? p->items[--p->count] : NULL;
    pthread_mutex_unlock(&k->lock);
    return g;
}

static void wake(tracer *k, side *s, const uint64_t *pcs)
{
    gotrace_rec_go *g = take_from(k, &k->waiting);
    if (!g)
        return;
    gotrace_rec_go_unpark(s->t, g, pcs, DEPTH);
    count(k, s, UNPARK);
    put_into(k, &k->ready, g);
}

static void start_one(tracer *k, side *s)
{
    if (!(s->g = take_from(k, &k->ready)))
        return;
    gotrace_rec_go_start(s->t, s->g);
}

static void allocate(tracer *k, side *s)
{
    const uint64_t value = ((uint64_t)k->number + 1) << 40 | ++k->next_value;
    gotrace_rec_heap_alloc(s->t, value);
    count(k, s, ALLOC);
    if (tally_of(k, s))
        tally_of(k, s)->sum += mix(value);
}

static void write_message(tracer *k, side *s, uint64_t random)
{
    char text[32];
    snprintf(text, sizeof text, "recorder %u, %u", k->number, (unsigned)(random % 500));
    gotrace_rec_log(s->t, 0, "category", text, NULL, 0);
    count(k, s, LOG);
}

/* The goroutine ends, and another one takes its place. */
static void replace(tracer *k, side *s, const uint64_t *pcs)
{
    gotrace_rec_go *g = gotrace_rec_go_create(s->t, ++k->next_id, 0x500000, pcs, DEPTH);
    gotrace_rec_go_end(s->t);
    count(k, s, END);
    put_into(k, &k->ready, g);
    s->g = NULL;
}

/* An event of the goroutine that runs. */
static void step(worker *w, tracer *k, side *s)
{
    const uint64_t random = random_next(&w->random), pc = 0x400000 + 16 * (random % 200);
    const uint64_t pcs[DEPTH] = {pc, pc + 64, 0x500000 + k->number, 0x600000};
    switch (random >> 32 & 7) {
    case 0:
        gotrace_rec_go_sched(s->t, pcs, DEPTH);
        count(k, s, SCHED);
        put_into(k, &k->ready, s->g);
        s->g = NULL;
        break;
    case 1:
        gotrace_rec_go_park(s->t, GOTRACE_REC_SYNC, pcs, DEPTH);
        count(k, s, PARK);
        put_into(k, &k->waiting, s->g);
        s->g = NULL;
        break;
    case 2: wake(k, s, pcs); break;
    case 3: replace(k, s, pcs); break;
    case 4:
        gotrace_rec_go_sys_call(s->t, pcs, DEPTH);
        count(k, s, SYS_CALL);
        gotrace_rec_go_sys_exit(s->t);
        break;
    case 5: write_message(k, s, random); break;
    default: allocate(k, s);
    }
}

static void stop_one(tracer *k, side *s)
{
    if (!s->g)
        return;
    gotrace_rec_go_sched(s->t, NULL, 0);
    count(k, s, SCHED);
    put_into(k, &k->ready, s->g);
    s->g = NULL;
}

/* Which recorder an event goes to is random, so that each has events within runs of the other. */
static void *work(void *arg)
{
    worker *w = self = arg;
    for (unsigned i = 0; i < TRACERS; i++)
        gotrace_rec_proc_start(w->sides[i].t, w->sides[i].p);
    while (!done) {
        const unsigned i = random_next(&w->random) % TRACERS;
        tracer *k = &tracers[i];
        side *s = &w->sides[i];
        if (s->g)
            step(w, k, s);
        else
            start_one(k, s);
        if (!s->g)
            wake(k, s, (const uint64_t[DEPTH]){1, 2, 3, 4});
    }
    for (unsigned i = 0; i < TRACERS; i++) {
        stop_one(&tracers[i], &w->sides[i]);
        gotrace_rec_proc_stop(w->sides[i].t);
        gotrace_rec_thread_end(w->sides[i].t);
    }
    return NULL;
}

static void sample(int signal)
{
    const uint64_t pcs[] = {0x600000, 0x600010};
    (void)signal;
    for (unsigned i = 0; self && i < TRACERS; i++)
        gotrace_rec_cpu_sample(tracers[i].r, self->sides[i].t, pcs, 2);
}

/* ---- the recorders ----------------------------------------------------------------------------
 */

static void *control(void *arg)
{
    tracer *k = arg;
    uint64_t random = 77 + k->number;
    for (unsigned i = 0; i < ROUNDS; i++) {
        usleep((useconds_t)(random_next(&random) % 4000));
        record_start(k->r, k->version, blob_write, &k->made[i].trace);
        k->made[i].first = k->r->first_era;
        for (unsigned n = 0; n < 3; n++) {
            usleep((useconds_t)(1000 + random_next(&random) % 4000));
            pthread_kill(workers[random_next(&random) % WORKERS].thread, SIGUSR1);
            if (n == 1)
                gotrace_recorder_advance(k->r);
        }
        record_stop(k->r);
        k->made[i].last = k->r->last_era;
    }
    return NULL;
}

static void begin(tracer *k, unsigned number, int version)
{
    const gotrace_recorder_options options = {
        .size = sizeof options, .resolve = record_resolve, .generation_ns = 3000000};
    k->number = number;
    k->version = version;
    k->r = recorder_of(&options);
    pthread_mutex_init(&k->lock, NULL);
    gotrace_rec_thread *t = gotrace_rec_thread_new(k->r, 1000);
    gotrace_rec_proc *p = gotrace_rec_proc_new(k->r, 1000);
    gotrace_rec_proc_start(t, p);
    while (k->ready.count < GOROUTINES)
        put_into(k, &k->ready, gotrace_rec_go_create(t, ++k->next_id, 0x500000, NULL, 0));
    gotrace_rec_proc_stop(t);
    gotrace_rec_proc_free(t, p);
    gotrace_rec_thread_end(t);
    for (unsigned i = 0; i < WORKERS; i++) {
        workers[i].sides[number].t = gotrace_rec_thread_new(k->r, i + 1);
        workers[i].sides[number].p = gotrace_rec_proc_new(k->r, i);
    }
}

/* ---- what the traces have ---------------------------------------------------------------------
 */

static uint64_t sum_values(const blob *trace, unsigned code)
{
    gotrace_decoder *d;
    const gotrace_record *r;
    uint64_t sum = 0;
    ck_assert_int_eq(gotrace_decoder_new(NULL, &d, NULL), GOTRACE_OK);
    gotrace_decoder_feed(d, trace->bytes, trace->size);
    gotrace_decoder_finish(d);
    while (gotrace_decoder_next(d, &r) == GOTRACE_EVENT)
        if (r->spec->code == code)
            sum += mix(r->args[r->arg_count - 1]);
    gotrace_decoder_free(d);
    return sum;
}

/* Warnings are accepted: readers round the difference of time of each event, so that after
 * thousands of events of a batch it is microseconds early. */
static void check_sound_as(const blob *trace, int version)
{
    reading got = reading_of(trace->bytes, trace->size, NULL, READING_CHECK);
    ck_assert_msg(got.status == GOTRACE_END && got.summary.problems == 0, "1.%d: %s", version,
                  got.problem_count ? got.problems[0].message : got.error.message);
    ck_assert_int_eq(got.summary.version, version);
}

/* Returns the number of events that were compared. */
static uint64_t check_made(tracer *k, const made *m)
{
    uint64_t counts[GT_CODES], sum = 0, all = 0;
    check_sound_as(&m->trace, k->version);
    count_records(&m->trace, counts);
    for (unsigned what = 0; what < COUNTED; what++) {
        const uint8_t v2[2] = {codes[what].v2}, *of = k->version < 22 ? codes[what].v1 : v2;
        uint64_t expected = 0, found = counts[of[0]] + (of[1] ? counts[of[1]] : 0);
        if (!gotrace_event_spec_of(k->version, of[0]))
            continue;
        for (uint64_t era = m->first; era <= m->last; era++)
            expected += k->tallies[era % ERAS].counts[what];
        ck_assert_msg(found == expected, "1.%d: event %u: %llu records of %llu", k->version, what,
                      (unsigned long long)found, (unsigned long long)expected);
        all += found;
    }
    for (uint64_t era = m->first; era <= m->last; era++)
        sum += k->tallies[era % ERAS].sum;
    ck_assert_uint_eq(sum_values(&m->trace, k->version < 22 ? codes[ALLOC].v1[0] : codes[ALLOC].v2),
                      sum);
    return all;
}

START_TEST(at_the_same_time)
{
    struct sigaction action = {.sa_handler = sample, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    for (unsigned i = 0; i < TRACERS; i++)
        begin(&tracers[i], i, pairs[_i][i]);
    for (unsigned i = 0; i < WORKERS; i++) {
        workers[i].random = i + 1;
        ck_assert_int_eq(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (unsigned i = 0; i < TRACERS; i++)
        ck_assert_int_eq(pthread_create(&tracers[i].control, NULL, control, &tracers[i]), 0);
    for (unsigned i = 0; i < TRACERS; i++)
        pthread_join(tracers[i].control, NULL);
    done = true;
    for (unsigned i = 0; i < WORKERS; i++)
        pthread_join(workers[i].thread, NULL);
    for (unsigned i = 0; i < TRACERS; i++) {
        uint64_t events = 0;
        for (unsigned n = 0; n < ROUNDS; n++) {
            keep_trace(&tracers[i].made[n].trace, "several-", tracers[i].version,
                       (unsigned)_i * 100 + i * 10 + n);
            events += check_made(&tracers[i], &tracers[i].made[n]);
            blob_free(&tracers[i].made[n].trace);
        }
        ck_assert_uint_gt(events, 1000);
        gotrace_recorder_free(tracers[i].r);
        pthread_mutex_destroy(&tracers[i].lock);
    }
}
END_TEST

/* One recorder is freed, and made again, while the other one records. */
START_TEST(freed)
{
    const gotrace_recorder_options options = {.size = sizeof options};
    blob lasting = {0};
    gotrace_recorder *r = recorder_of(&options);
    gotrace_rec_thread *t = gotrace_rec_thread_new(r, 1);
    gotrace_rec_proc *p = gotrace_rec_proc_new(r, 0);
    gotrace_rec_proc_start(t, p);
    gotrace_rec_go_start(t, gotrace_rec_go_create(t, 1, 0, NULL, 0));
    record_start(r, 26, blob_write, &lasting);
    for (unsigned i = 0; i < 20; i++) {
        blob trace = {0};
        gotrace_recorder *other = recorder_of(&options);
        gotrace_rec_thread *u = gotrace_rec_thread_new(other, 1);
        record_start(other, i % 2 ? 21 : 25, blob_write, &trace);
        gotrace_rec_proc_start(u, gotrace_rec_proc_new(other, 0));
        gotrace_rec_heap_alloc(t, i);
        gotrace_rec_proc_stop(u);
        record_stop(other);
        gotrace_recorder_free(other);
        record_check(&trace, i % 2 ? 21 : 25);
        blob_free(&trace);
    }
    record_stop(r);
    uint64_t counts[GT_CODES];
    record_check(&lasting, 26);
    count_records(&lasting, counts);
    ck_assert_uint_eq(counts[GOTRACE_V2_HeapAlloc], 20);
    gotrace_recorder_free(r);
    blob_free(&lasting);
}
END_TEST

/* Of handles that different threads write to, none shares a cache line with another. */
START_TEST(lines)
{
    failing_allocator a = {.fail_at = UINT64_MAX};
    const gotrace_config config = failing_config(&a);
    gotrace_error error = GOTRACE_INIT(gotrace_error);
    gotrace_recorder *r;
    ck_assert_int_eq(gotrace_recorder_new(NULL, &config, &r, &error), GOTRACE_OK);
    ck_assert_uint_eq((uintptr_t)r % GT_LINE, 0);
    for (uint64_t id = 0; id < 20; id++) {
        ck_assert_uint_eq((uintptr_t)gotrace_rec_thread_new(r, id) % GT_LINE, 0);
        ck_assert_uint_eq((uintptr_t)gotrace_rec_proc_new(r, id) % GT_LINE, 0);
    }
    gotrace_recorder_free(r);
    ck_assert_int_eq(a.bytes, 0);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("record_several");
    TCase *t = tcase_create("record_several");
    tcase_add_loop_test(t, at_the_same_time, 0, PAIRS);
    tcase_add_test(t, freed);
    tcase_add_test(t, lines);
    suite_add_tcase(s, t);
    return s;
}

int main(void)
{
    return run_suite(suite());
}
