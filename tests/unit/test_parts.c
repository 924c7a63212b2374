/* test_parts.c - splitting and merging: ids, batches that grow, limits. */
#include <stdlib.h>
#include <string.h>

#include "cmd/parts/parts.h"
#include "cmd/parts/intern.h"
#include "support.h"

enum { MOST = 80 };

/* Parts in memory. */
typedef struct set {
    blob parts[MOST];
    out outs[MOST];
    size_t count;
    gotrace_config config;
    uint64_t opened, problems, misfits;
    char misfit[512];
} set;

static out *next_part(void *ctx, const char *name)
{
    set *s = ctx;
    ck_assert(*name);
    ck_assert_uint_lt(s->count, MOST);
    ck_assert(out_init(&s->outs[s->count], blob_write, &s->parts[s->count]));
    return &s->outs[s->count++];
}

static gotrace_status split(set *s, const blob *trace, parts_by by, gotrace_error *error)
{
    gotrace_source *source;
    ck_assert_int_eq(gotrace_source_memory(trace->bytes, trace->size, NULL, &source, error),
                     GOTRACE_OK);
    parts_split_job job = {
        .source = source, .config = &s->config, .by = by, .next = next_part, .ctx = s};
    gotrace_status status = parts_split(&job, error);
    for (size_t i = 0; i < s->count; i++) {
        ck_assert(out_flush(&s->outs[i]));
        out_free(&s->outs[i]);
    }
    gotrace_source_close(source);
    return status;
}

static const char *name_part(void *ctx, size_t part)
{
    static char name[16];
    (void)ctx;
    snprintf(name, sizeof name, "part%zu", part);
    return name;
}

static gotrace_source *open_part(void *ctx, size_t part, bool *again, gotrace_error *error)
{
    set *s = ctx;
    gotrace_source *source = NULL;
    *again = true;
    s->opened++;
    gotrace_source_memory(s->parts[part].bytes, s->parts[part].size, NULL, &source, error);
    return source;
}

static void on_problem(void *ctx, size_t part, const gotrace_error *problem)
{
    (void)part;
    ck_assert_int_ne(problem->rule, GOTRACE_RULE_NONE);
    ((set *)ctx)->problems++;
}

static void on_misfit(void *ctx, const char *message)
{
    set *s = ctx;
    s->misfits++;
    snprintf(s->misfit, sizeof s->misfit, "%s", message);
}

static gotrace_status merge(set *s, blob *whole, gotrace_error *error)
{
    parts_merge_job job = {.config = &s->config,
                           .count = s->count,
                           .name = name_part,
                           .open = open_part,
                           .problem = on_problem,
                           .misfit = on_misfit,
                           .ctx = s};
    parts_merge *m;
    bool fit;
    out o;
    ck_assert(out_init(&o, blob_write, whole));
    gotrace_status status = parts_merge_open(&job, &m, &fit, error);
    if (status == GOTRACE_OK && fit)
        status = parts_merge_write(m, &o, error);
    ck_assert(out_flush(&o));
    out_free(&o);
    parts_merge_close(m);
    return status;
}

static void free_set(set *s)
{
    for (size_t i = 0; i < s->count; i++)
        blob_free(&s->parts[i]);
    s->count = 0;
}

/* ---- ids ------------------------------------------------------------------------------------ */

START_TEST(equal_content_has_one_id)
{
    parts_intern in = {.count = 0};
    parts_memory memory = {.limit = 1 << 20};
    gotrace_error error = {0};
    parts_intern_clear(&in, &memory, 10);
    ck_assert_ptr_null(parts_intern_find(&in, 3));
    ck_assert_uint_eq(parts_intern_add(&in, &memory, 3, "a", 1, &error)->id, 3);
    ck_assert_uint_eq(parts_intern_add(&in, &memory, 4, "a", 1, &error)->id, 3);
    ck_assert_uint_eq(parts_intern_add(&in, &memory, 3, "b", 1, &error)->id, 10);
    ck_assert_uint_eq(parts_intern_add(&in, &memory, 11, "", 0, &error)->id, 11);
    ck_assert_uint_eq(parts_intern_add(&in, &memory, 3, "c", 1, &error)->id, 12);
    for (unsigned n = 0; n < 1000; n++)
        ck_assert_uint_eq(parts_intern_add(&in, &memory, 100 + n, &n, sizeof n, &error)->id,
                          100 + n);
    for (unsigned n = 0; n < 1000; n++)
        ck_assert_uint_eq(parts_intern_add(&in, &memory, 7, &n, sizeof n, &error)->id, 100 + n);
    ck_assert_ptr_nonnull(parts_intern_find(&in, 12));
    parts_intern_clear(&in, &memory, 1);
    ck_assert_ptr_null(parts_intern_find(&in, 3));
    ck_assert_uint_eq(parts_intern_add(&in, &memory, 9, "a", 1, &error)->id, 9);
    parts_intern_free(&in, &memory);
    ck_assert_uint_eq(memory.used, 0);
}
END_TEST

START_TEST(ids_run_out)
{
    parts_intern in = {.count = 0};
    parts_memory memory = {.limit = 4096};
    gotrace_error error = {0};
    unsigned n = 0;
    while (parts_intern_add(&in, &memory, n, &n, sizeof n, &error))
        n++;
    ck_assert_uint_gt(n, 10);
    ck_assert_int_eq(error.rule, GOTRACE_RULE_SYSTEM_LIMIT);
    ck_assert_uint_le(memory.used, memory.limit);
    parts_intern_free(&in, &memory);
}
END_TEST

/* ---- batches that grow ---------------------------------------------------------------------- */

static void record(gotrace_encoder *e, const char *name, const uint64_t *args, size_t count,
                   const char *data)
{
    gotrace_record r = {.spec = gotrace_event_spec_named(22, name),
                        .args = args,
                        .arg_count = count,
                        .data = data,
                        .data_size = data ? strlen(data) : 0,
                        .form = 0xff};
    ck_assert_int_eq(gotrace_encoder_record(e, &r), GOTRACE_OK);
}
#define RECORD(e, name, data, ...)                                                                 \
    record(e, name, (const uint64_t[]){__VA_ARGS__},                                               \
           sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), data)

/* Write a trace of one thread whose label events fill a batch, with that number of strings "NAME
 * NUMBER". */
static void labels(blob *trace, uint64_t thread, uint64_t time, unsigned events, unsigned strings,
                   const char *name)
{
    gotrace_encoder *e;
    char text[32];
    size_t size = 1;
    ck_assert_int_eq(gotrace_encoder_new(22, blob_write, trace, NULL, &e, NULL), GOTRACE_OK);
    RECORD(e, "EventBatch", NULL, 1, UINT64_MAX, 10, 2);
    RECORD(e, "Frequency", NULL, 100);
    RECORD(e, "EventBatch", NULL, 1, thread, time, 3 * events);
    for (unsigned i = 0; i < events; i++)
        RECORD(e, "GoLabel", NULL, 1, 1);
    for (unsigned i = 1; i <= strings; i++)
        size += 3u + (i > 127) + (size_t)snprintf(text, sizeof text, "%s %u", name, i);
    RECORD(e, "EventBatch", NULL, 1, UINT64_MAX, 10, size);
    gotrace_record marker = {.spec = gotrace_event_spec_named(22, "Strings"), .form = 0xff};
    ck_assert_int_eq(gotrace_encoder_record(e, &marker), GOTRACE_OK);
    for (unsigned i = 1; i <= strings; i++) {
        snprintf(text, sizeof text, "%s %u", name, i);
        RECORD(e, "String", text, i);
    }
    ck_assert_int_eq(gotrace_encoder_finish(e), GOTRACE_OK);
    gotrace_encoder_free(e);
}

/* A merged batch that is too long is split: labels and times of the thread's batches are the same.
 */
START_TEST(oversized_batch_is_split)
{
    enum { EVENTS = 21000, STRINGS = 200 };
    set s = {.count = 2};
    blob whole = {NULL, 0, 0};
    gotrace_error error = {0};
    labels(&s.parts[0], 7, 2000, EVENTS, 1, "late");
    labels(&s.parts[1], 8, 1000, EVENTS, STRINGS, "early");
    ck_assert_int_eq(merge(&s, &whole, &error), GOTRACE_OK);
    ck_assert_uint_eq(s.misfits + s.problems, 0);

    gotrace_decoder *d;
    const gotrace_record *r;
    uint64_t thread = 0, ticks = 0, batches[9] = {0}, events[9] = {0}, strings = 0;
    ck_assert_int_eq(gotrace_decoder_new(NULL, &d, NULL), GOTRACE_OK);
    ck_assert_int_eq(gotrace_decoder_feed(d, whole.bytes, whole.size), GOTRACE_OK);
    while (gotrace_decoder_next(d, &r) == GOTRACE_EVENT) {
        if (strcmp(r->spec->name, "EventBatch") == 0) {
            ck_assert_uint_le(r->args[3], 64 * 1024);
            thread = r->args[1] == UINT64_MAX ? 0 : r->args[1];
            ck_assert_uint_le(thread, 8);
            if (batches[thread]++ > 0 && thread)
                ck_assert_uint_eq(r->args[2], ticks);
            ticks = r->args[2];
        } else if (strcmp(r->spec->name, "GoLabel") == 0) {
            ticks += r->args[0];
            events[thread]++;
            ck_assert_uint_eq(r->args[1], thread == 8 ? 1 : STRINGS + 1);
        } else {
            strings += strcmp(r->spec->name, "String") == 0;
        }
    }
    gotrace_decoder_free(d);
    ck_assert_uint_eq(batches[7], 2);
    ck_assert_uint_eq(batches[8], 1);
    ck_assert_uint_eq(events[7], EVENTS);
    ck_assert_uint_eq(events[8], EVENTS);
    ck_assert_uint_eq(strings, STRINGS + 1);
    blob_free(&whole);
    free_set(&s);
}
END_TEST

/* ---- limits --------------------------------------------------------------------------------- */

START_TEST(many_parts)
{
    set s = {.count = 0};
    blob trace = trace_sample("go1.22-threads.trace"), whole = {NULL, 0, 0};
    gotrace_error error = {0};
    ck_assert_int_eq(split(&s, &trace, PARTS_BY_THREAD, &error), GOTRACE_OK);
    ck_assert_uint_gt(s.count, 60);
    ck_assert_int_eq(merge(&s, &whole, &error), GOTRACE_OK);
    ck_assert_uint_gt(s.opened, s.count); /* not all open at the same time */
    ck_assert_uint_eq(s.misfits, 0);
    ck_assert_uint_ge(whole.size, trace.size / 2);
    blob_free(&whole);
    blob_free(&trace);
    free_set(&s);
}
END_TEST

static const struct {
    const char *name;
    parts_by by;
} small_cases[] = {
    {"go1.21-http.trace", PARTS_BY_PROC},
    {"go1.26-gens.trace", PARTS_BY_THREAD},
    {"go1.26-gens.trace", PARTS_BY_GENERATION},
};

/* With any memory limit, merging succeeds or reports the limit. */
START_TEST(memory_limits)
{
    blob trace = trace_sample(small_cases[_i].name);
    bool done = false;
    for (uint64_t limit = 1; !done; limit += limit / 4 + 64) {
        set s = {.config.limits = &(gotrace_limits){.memory = limit}};
        blob whole = {NULL, 0, 0};
        gotrace_error error = {.rule = GOTRACE_RULE_NONE};
        gotrace_status status = split(&s, &trace, small_cases[_i].by, &error);
        if (status == GOTRACE_OK)
            status = merge(&s, &whole, &error);
        done = status == GOTRACE_OK;
        if (!done)
            ck_assert_int_eq(error.class_, GOTRACE_CLASS_SYSTEM);
        blob_free(&whole);
        free_set(&s);
        ck_assert_uint_lt(limit, 1 << 26);
    }
    blob_free(&trace);
}
END_TEST

/* With the trace truncated or a byte changed at any offset, the readable part is split, and the
 * parts merge. */
START_TEST(damaged)
{
    blob trace = trace_sample(small_cases[_i].name);
    uint64_t random = 1;
    for (size_t at = 0; at < trace.size; at += 1 + (size_t)(random_next(&random) % 97)) {
        blob changed = trace, whole = {NULL, 0, 0};
        uint8_t was = trace.bytes[at];
        set s = {.count = 0};
        gotrace_error error = {0};
        changed.size = random_next(&random) % 2 ? at : trace.size;
        trace.bytes[at] ^= (uint8_t)(1 + random_next(&random) % 255);
        (void)split(&s, &changed, small_cases[_i].by, &error);
        if (s.count > 0 && merge(&s, &whole, &error) == GOTRACE_OK && s.misfits == 0)
            ck_assert_uint_ge(whole.size, 16);
        trace.bytes[at] = was;
        blob_free(&whole);
        free_set(&s);
    }
    blob_free(&trace);
}
END_TEST

int main(void)
{
    enum { CASES = sizeof small_cases / sizeof *small_cases };
    Suite *suite = suite_create("parts");
    TCase *cases = tcase_create("parts");
    tcase_add_test(cases, equal_content_has_one_id);
    tcase_add_test(cases, ids_run_out);
    tcase_add_test(cases, oversized_batch_is_split);
    tcase_add_test(cases, many_parts);
    tcase_add_loop_test(cases, memory_limits, 0, CASES);
    tcase_add_loop_test(cases, damaged, 0, CASES);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
