/* test_threads.c - handles share no state: threads with their own handles run at the same time.
 * ThreadSanitizer (make check-tsan) reports shared state. */
#include <pthread.h>
#include <string.h>

#include "formats/formats.h"
#include "reading.h"
#include "scripting.h"
#include "formats/print/printer.h"

enum { THREADS = 64 };

static const char *const names[] = {"go1.19-http.trace", "go1.21-gc.trace", "go1.26-gens.trace",
                                    "go1.26-net.trace"};
enum { NAMES = sizeof names / sizeof *names };

/* The result of processing a trace, which must not depend on other threads. */
typedef struct outcome {
    uint64_t events, digest, problems, chrome, perfetto, text, again;
} outcome;

typedef struct worker {
    pthread_t thread;
    const blob *traces;
    outcome made[NAMES];
    unsigned number;
} worker;

static uint64_t hash(const blob *b)
{
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < b->size; i++)
        h = (h ^ b->bytes[i]) * 1099511628211u;
    return h;
}

/* Processes a trace with its own reader. */
typedef gotrace_status (*look)(gotrace_reader *reader, gotrace_source *source, out *o);

static gotrace_status as_chrome(gotrace_reader *reader, gotrace_source *source, out *o)
{
    convert_job job = {.reader = reader, .source = source, .out = o, .name = "trace"};
    return format_by_name("chrome")->run(&job);
}

static gotrace_status as_perfetto(gotrace_reader *reader, gotrace_source *source, out *o)
{
    convert_job job = {.reader = reader, .source = source, .out = o, .name = "trace"};
    return format_by_name("perfetto")->run(&job);
}

static gotrace_status as_text(gotrace_reader *reader, gotrace_source *source, out *o)
{
    (void)source;
    return print_all(&(print_job){.how = printers[0], .reader = reader, .threads = 1, .out = o});
}

static gotrace_status as_script(gotrace_reader *reader, gotrace_source *source, out *o)
{
    const gotrace_limits limits = {0};
    const script_dump_job dumping = {source, reader, &limits, script_by_name("json"), o};
    gotrace_error error = {0};
    return script_dump_meaning(&dumping, &error) < 0 ? GOTRACE_ERROR : GOTRACE_END;
}

static blob look_at(const blob *trace, look how)
{
    blob made = {0};
    gotrace_source *source = NULL;
    gotrace_reader *reader = NULL;
    out o;
    if (gotrace_source_memory(trace->bytes, trace->size, NULL, &source, NULL) == GOTRACE_OK &&
        gotrace_reader_open(source, NULL, &reader, NULL) == GOTRACE_OK &&
        out_init(&o, blob_write, &made)) {
        if (how(reader, source, &o) != GOTRACE_END || !out_flush(&o))
            made.size = 0;
        out_free(&o);
    }
    gotrace_reader_close(reader);
    gotrace_source_close(source);
    return made;
}

static uint64_t digest_of(const blob *trace, look how)
{
    blob made = look_at(trace, how);
    uint64_t h = made.size ? hash(&made) : 0;
    blob_free(&made);
    return h;
}

static outcome work(const blob *trace)
{
    reading r = reading_of(trace->bytes, trace->size, NULL, READING_NEXT);
    outcome o = {.events = r.events,
                 .digest = r.digest,
                 .problems = r.problem_count,
                 .chrome = digest_of(trace, as_chrome),
                 .perfetto = digest_of(trace, as_perfetto),
                 .text = digest_of(trace, as_text)};
    /* the reverse: a script is converted to a trace */
    blob script = look_at(trace, as_script), again = {0};
    script_error error;
    if (script.size && synth(script.bytes, script.size, &again, NULL, &error) >= 0)
        o.again = hash(&again);
    blob_free(&script);
    blob_free(&again);
    return o;
}

static void *run(void *ctx)
{
    worker *w = ctx;
    for (unsigned i = 0; i < NAMES; i++) {
        unsigned which = (w->number + i) % NAMES;
        w->made[which] = work(&w->traces[which]);
    }
    return NULL;
}

START_TEST(handles_share_nothing)
{
    static worker workers[THREADS];
    blob traces[NAMES];
    outcome alone[NAMES];
    for (unsigned i = 0; i < NAMES; i++) {
        traces[i] = trace_sample(names[i]);
        alone[i] = work(&traces[i]);
        ck_assert_uint_gt(alone[i].events, 0);
        ck_assert(alone[i].chrome && alone[i].perfetto && alone[i].text && alone[i].again);
    }
    for (unsigned n = 0; n < THREADS; n++) {
        workers[n] = (worker){.traces = traces, .number = n};
        ck_assert_int_eq(pthread_create(&workers[n].thread, NULL, run, &workers[n]), 0);
    }
    for (unsigned n = 0; n < THREADS; n++)
        ck_assert_int_eq(pthread_join(workers[n].thread, NULL), 0);
    for (unsigned n = 0; n < THREADS; n++)
        ck_assert_int_eq(memcmp(workers[n].made, alone, sizeof alone), 0);
    for (unsigned i = 0; i < NAMES; i++)
        blob_free(&traces[i]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("threads");
    TCase *cases = tcase_create("all");
    tcase_add_test(cases, handles_share_nothing);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
