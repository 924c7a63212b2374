/*
 * test_record_several.c - several recorders in one process: threads record with all of them in
 * turn, while each starts and stops at its own times. Each trace has the events of its recorder.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "gotrace_record.h"
#include "record/record.h"
#include "recording.h"
#include "writing.h"

static const int versions[] = {7, 21, 22, 26};
enum { RECORDERS = sizeof versions / sizeof *versions };
enum { THREADS = 4, ROUNDS = 6, LEAST = 20, ERAS = 4096, TAG = 1000000 };

/* A trace that a recorder made. */
typedef struct recording {
    blob trace;
    uint64_t first, last; /* eras */
} recording;

static struct {
    gotrace_recorder *recorder;
    pthread_t thread; /* starts and stops it */
    _Atomic uint64_t next_id;
    _Atomic uint32_t sizes[ERAS], all_sizes; /* heap sizes that were recorded */
    recording made[ROUNDS];
} recorders[RECORDERS];

static _Atomic bool done;

/* One goroutine, from its creation to its end. The heap's size says which recorder it was. */
static void run_goroutine(unsigned i, gotrace_rec_thread *t, gotrace_rec_proc *p)
{
    const uint64_t pcs[] = {0x1000 + i, 0x2000};

    gotrace_rec_proc_start(t, p);
    gotrace_rec_go *g = gotrace_rec_go_create(t, ++recorders[i].next_id, 0x3000 + i, pcs, 2);
    gotrace_rec_go_start(t, g);
    gotrace_rec_heap_alloc(t, TAG + i);
    if (t->era != 0 && !t->closing) {
        recorders[i].sizes[t->era % ERAS]++;
        recorders[i].all_sizes++;
    }
    gotrace_rec_go_end(t);
    gotrace_rec_proc_stop(t);
}

/* Its handles of all recorders have the same ids. */
static void *work(void *number)
{
    const uint64_t id = (uint64_t)(uintptr_t)number;
    gotrace_rec_thread *threads[RECORDERS];
    gotrace_rec_proc *procs[RECORDERS];

    for (unsigned i = 0; i < RECORDERS; i++) {
        threads[i] = gotrace_rec_thread_new(recorders[i].recorder, id + 1);
        procs[i] = gotrace_rec_proc_new(recorders[i].recorder, id);
        ck_assert(threads[i] && procs[i]);
    }
    while (!done)
        for (unsigned i = 0; i < RECORDERS; i++)
            run_goroutine(i, threads[i], procs[i]);
    for (unsigned i = 0; i < RECORDERS; i++)
        gotrace_rec_thread_end(threads[i]);
    return NULL;
}

static void *start_and_stop(void *number)
{
    const unsigned i = (unsigned)(uintptr_t)number;
    gotrace_recorder *r = recorders[i].recorder;

    for (unsigned round = 0; round < ROUNDS; round++) {
        recording *made = &recorders[i].made[round];
        uint32_t before = recorders[i].all_sizes;
        usleep(500 + 700 * i);
        record_start(r, versions[i], blob_write, &made->trace);
        made->first = r->first_era;
        do
            usleep(2000 + 1100 * i * round);
        while (recorders[i].all_sizes - before < LEAST);
        record_stop(r);
        made->last = r->last_era;
    }
    return NULL;
}

/* The heap sizes of the trace are those of its recorder, as many as were recorded. */
static void check_sizes(const blob *trace, unsigned i, uint64_t expected)
{
    gotrace_decoder *d;
    const gotrace_record *record;
    uint64_t got = 0;

    ck_assert_int_eq(gotrace_decoder_new(NULL, &d, NULL), GOTRACE_OK);
    gotrace_decoder_feed(d, trace->bytes, trace->size);
    gotrace_decoder_finish(d);
    while (gotrace_decoder_next(d, &record) == GOTRACE_EVENT) {
        if (strcmp(record->spec->name, "HeapAlloc") != 0)
            continue;
        ck_assert_uint_eq(record->args[1], TAG + i);
        got++;
    }
    gotrace_decoder_free(d);
    ck_assert_uint_eq(got, expected);
}

START_TEST(at_the_same_time)
{
    pthread_t threads[THREADS];
    uint64_t recorded = 0;
    const gotrace_recorder_options options = {.size = sizeof options, .generation_ns = 2000000};

    for (unsigned i = 0; i < RECORDERS; i++)
        recorders[i].recorder = recorder_of(&options);
    for (uintptr_t i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, work, (void *)i), 0);
    for (uintptr_t i = 0; i < RECORDERS; i++)
        ck_assert_int_eq(pthread_create(&recorders[i].thread, NULL, start_and_stop, (void *)i), 0);
    for (unsigned i = 0; i < RECORDERS; i++)
        pthread_join(recorders[i].thread, NULL);
    done = true;
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < RECORDERS; i++) {
        for (unsigned round = 0; round < ROUNDS; round++) {
            recording *made = &recorders[i].made[round];
            uint64_t expected = 0;
            for (uint64_t era = made->first; era <= made->last; era++)
                expected += recorders[i].sizes[era % ERAS];
            record_check(&made->trace, versions[i]);
            check_sizes(&made->trace, i, expected);
            keep_trace(&made->trace, "several-", versions[i], round);
            blob_free(&made->trace);
            recorded += expected;
        }
        gotrace_recorder_free(recorders[i].recorder);
    }
    ck_assert_uint_ge(recorded, RECORDERS * ROUNDS * LEAST);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("record_several");
    TCase *t = tcase_create("record_several");
    tcase_add_test(t, at_the_same_time);
    suite_add_tcase(s, t);
    return s;
}

int main(void)
{
    return run_suite(suite());
}
