/* test_encoder.c - the encoder: exact records, and the decisions of the by-event functions. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "write/encoder.h"
#include "layout.h"

/* ---- records -------------------------------------------------------------------------------- */

/* Decode and encode a trace. Without widths, the encoder must choose those of the tracer. */
static void rewrite(const blob *content, bool with_widths, blob *written)
{
    gotrace_decoder *d;
    gotrace_encoder *e = NULL;
    const gotrace_record *record;
    gotrace_status status;
    ck_assert_int_eq(gotrace_decoder_new(NULL, &d, NULL), GOTRACE_OK);
    ck_assert_int_eq(gotrace_decoder_feed(d, content->bytes, content->size), GOTRACE_OK);
    gotrace_decoder_finish(d);
    while ((status = gotrace_decoder_next(d, &record)) == GOTRACE_EVENT) {
        if (!e)
            ck_assert_int_eq(gotrace_encoder_new(gotrace_decoder_version(d), blob_write, written,
                                                 NULL, &e, NULL),
                             GOTRACE_OK);
        gotrace_record copy = *record;
        if (!with_widths) {
            copy.widths = NULL;
            copy.form = 0xff;
        }
        status = gotrace_encoder_record(e, &copy);
        ck_assert_msg(status == GOTRACE_OK, "%s", gotrace_encoder_error(e)->message);
    }
    ck_assert_int_eq(status, GOTRACE_END);
    ck_assert_int_eq(gotrace_encoder_finish(e), GOTRACE_OK);
    gotrace_encoder_free(e);
    gotrace_decoder_free(d);
}

START_TEST(records_are_exact)
{
    trace_file *files = traces_load(500000);
    for (trace_file *f = files; f->path[0]; f++)
        for (int with_widths = 0; with_widths <= 1 && !strstr(f->path, "overlong"); with_widths++) {
            blob written = {0};
            rewrite(&f->content, with_widths, &written);
            ck_assert_msg(written.size == f->content.size &&
                              memcmp(written.bytes, f->content.bytes, written.size) == 0,
                          "%s: not the same, widths %d", f->path, with_widths);
            blob_free(&written);
        }
    traces_free(files);
}
END_TEST

/* Forms and widths that no tracer writes are preserved. */
START_TEST(deviations_are_exact)
{
    static const uint8_t odd[] = "go 1.19 trace\0\0\0"
                                 "\x41\x80\x80\x00\x85\x00" /* Batch, padded */
                                 "\xc1\x03\x01\x85\x00"     /* Batch with a length */
                                 "\xc6\x81\x80\x00\x01"     /* ProcStop with a long length */
                                 "\xe5\x81\x00\x82\x00hi"   /* String in another form */
                                 "\x43\x01\x00"             /* Stack inline, no frames */
                                 "\xf0\x05\x81\x00\x01\x02\x00\x83\x00log";
    blob content = {0}, written = {0};
    blob_write(&content, odd, sizeof odd - 1);
    rewrite(&content, true, &written);
    ck_assert_uint_eq(written.size, content.size);
    ck_assert_mem_eq(written.bytes, content.bytes, content.size);
    blob_free(&content);
    blob_free(&written);
}
END_TEST

/* Every record of a v2 version, also with padded numbers. */
START_TEST(v2_records_are_exact)
{
    blob content = {0}, written = {0};
    trace_of_all(v2_versions[_i], &content);
    rewrite(&content, true, &written);
    ck_assert_uint_eq(written.size, content.size);
    ck_assert_mem_eq(written.bytes, content.bytes, content.size);
    blob_free(&content);
    blob_free(&written);
}
END_TEST

static gotrace_rule try_record(int version, const char *name, const uint64_t *args, size_t count,
                               size_t data_size, uint8_t form, const uint8_t *widths,
                               size_t width_count)
{
    blob written = {0};
    gotrace_encoder *e;
    static char data[1000001];
    gotrace_record record = {
        .spec = gotrace_event_spec_named(version, name),
        .args = args,
        .arg_count = count,
        .data = data,
        .data_size = data_size,
        .form = form,
        .widths = widths,
        .width_count = width_count,
    };
    gotrace_status status = gotrace_encoder_new(version, blob_write, &written, NULL, &e, NULL);
    ck_assert_int_eq(status, GOTRACE_OK);
    status = gotrace_encoder_record(e, &record);
    gotrace_rule rule = gotrace_encoder_error(e)->rule;
    ck_assert_int_eq(status, rule == GOTRACE_RULE_NONE ? GOTRACE_OK : GOTRACE_ERROR);
    ck_assert_int_eq(gotrace_encoder_finish(e), status);
    gotrace_encoder_free(e);
    blob_free(&written);
    return rule;
}

START_TEST(records_are_checked)
{
    uint64_t args[4100] = {300, 0, 0};
    uint8_t widths[3] = {0, 1, 0};
    ck_assert_int_eq(try_record(19, "Batch", args, 2, 0, 0xff, NULL, 0), GOTRACE_RULE_NONE);
    ck_assert_int_eq(try_record(19, "Batch", args, 3, 0, 0xff, NULL, 0), GOTRACE_RULE_EVENT_ARITY);
    ck_assert_int_eq(try_record(5, "Batch", args, 3, 0, 0xff, NULL, 0), GOTRACE_RULE_NONE);
    ck_assert_int_eq(try_record(19, "Batch", args, 2, 0, 2, NULL, 0), GOTRACE_RULE_USAGE);
    ck_assert_int_eq(try_record(19, "Batch", args, 2, 0, 3, NULL, 0), GOTRACE_RULE_NONE);
    ck_assert_int_eq(try_record(19, "Batch", args, 2, 0, 7, NULL, 0), GOTRACE_RULE_USAGE);
    ck_assert_int_eq(try_record(19, "Batch", args, 2, 3, 0xff, NULL, 0), GOTRACE_RULE_USAGE);
    ck_assert_int_eq(try_record(19, "Batch", args, 2, 0, 1, widths, 3), GOTRACE_RULE_USAGE);
    ck_assert_int_eq(try_record(19, "Batch", args, 2, 0, 1, widths, 2), GOTRACE_RULE_NONE);
    widths[0] = 1;
    ck_assert_int_eq(try_record(19, "Batch", args, 2, 0, 1, widths, 2), GOTRACE_RULE_USAGE);
    widths[0] = 11;
    ck_assert_int_eq(try_record(19, "Batch", args, 2, 0, 1, widths, 2), GOTRACE_RULE_USAGE);
    ck_assert_int_eq(try_record(19, "String", args, 1, 0, 0, NULL, 0), GOTRACE_RULE_STRING_LENGTH);
    ck_assert_int_eq(try_record(19, "String", args, 1, 1000000, 0, NULL, 0), GOTRACE_RULE_NONE);
    ck_assert_int_eq(try_record(19, "String", args, 1, 1000001, 0, NULL, 0),
                     GOTRACE_RULE_STRING_LENGTH);
    ck_assert_int_eq(try_record(19, "UserLog", args, 4, 0, 3, NULL, 0), GOTRACE_RULE_NONE);
    ck_assert_int_eq(try_record(19, "UserLog", args, 4, 1000001, 3, NULL, 0),
                     GOTRACE_RULE_LOG_LENGTH);
    ck_assert_int_eq(try_record(19, "Stack", args, 2, 0, 3, NULL, 0), GOTRACE_RULE_NONE);
    ck_assert_int_eq(try_record(19, "Stack", args, 1, 0, 3, NULL, 0), GOTRACE_RULE_EVENT_ARITY);
    ck_assert_int_eq(try_record(19, "Stack", args, 6, 0, 3, NULL, 0), GOTRACE_RULE_EVENT_ARITY);
    args[1] = 1000;
    ck_assert_int_eq(try_record(19, "Stack", args, 4002, 0, 3, NULL, 0), GOTRACE_RULE_NONE);
    args[1] = 1001;
    ck_assert_int_eq(try_record(19, "Stack", args, 4006, 0, 3, NULL, 0), GOTRACE_RULE_STACK_FRAMES);
    /* CPUSample does not exist in 1.11, although the table has a row for it. */
    ck_assert_ptr_null(gotrace_event_spec_named(11, "CPUSample"));
}
END_TEST

START_TEST(v2_records_are_checked)
{
    uint64_t args[4010] = {300, 0, 0};
    uint8_t widths[5] = {0, 0, 0, 1, 0};
    ck_assert_int_eq(try_record(22, "EventBatch", args, 4, 0, 0xff, NULL, 0), GOTRACE_RULE_NONE);
    ck_assert_int_eq(try_record(22, "EventBatch", args, 4, 0, 0, widths, 4), GOTRACE_RULE_NONE);
    ck_assert_int_eq(try_record(22, "EventBatch", args, 4, 0, 0, widths, 5), GOTRACE_RULE_USAGE);
    ck_assert_int_eq(try_record(22, "EventBatch", args, 4, 0, 3, NULL, 0), GOTRACE_RULE_USAGE);
    ck_assert_int_eq(try_record(22, "EventBatch", args, 3, 0, 0, NULL, 0),
                     GOTRACE_RULE_EVENT_ARITY);
    ck_assert_int_eq(try_record(22, "Stacks", args, 0, 0, 0, NULL, 0), GOTRACE_RULE_NONE);
    ck_assert_int_eq(try_record(22, "Stacks", args, 1, 0, 0, NULL, 0), GOTRACE_RULE_EVENT_ARITY);
    ck_assert_int_eq(try_record(22, "Stacks", args, 0, 1, 0, NULL, 0), GOTRACE_RULE_USAGE);
    ck_assert_int_eq(try_record(22, "String", args, 1, 0, 0, NULL, 0), GOTRACE_RULE_NONE);
    ck_assert_int_eq(try_record(22, "String", args, 1, 1000000, 0, NULL, 0), GOTRACE_RULE_NONE);
    ck_assert_int_eq(try_record(22, "String", args, 1, 1000001, 0, NULL, 0),
                     GOTRACE_RULE_STRING_LENGTH);
    ck_assert_int_eq(try_record(23, "ExperimentalBatch", args, 4, 65536, 0, NULL, 0),
                     GOTRACE_RULE_NONE);
    ck_assert_int_eq(try_record(23, "ExperimentalBatch", args, 4, 65537, 0, NULL, 0),
                     GOTRACE_RULE_BATCH_HEADER);
    args[1] = 1000;
    ck_assert_int_eq(try_record(26, "Stack", args, 4002, 0, 0, NULL, 0), GOTRACE_RULE_NONE);
    ck_assert_int_eq(try_record(26, "Stack", args, 4001, 0, 0, NULL, 0), GOTRACE_RULE_EVENT_ARITY);
    args[1] = 1001;
    ck_assert_int_eq(try_record(26, "Stack", args, 4006, 0, 0, NULL, 0), GOTRACE_RULE_STACK_FRAMES);
    /* an event that the version lacks, and the other format's event with the same code */
    ck_assert_ptr_null(gotrace_event_spec_named(22, "GoSwitch"));
    ck_assert_ptr_null(gotrace_event_spec_named(22, "Span"));
    ck_assert_ptr_null(gotrace_event_spec_named(25, "EndOfGeneration"));
    ck_assert_int_eq(try_record(23, "Span", args, 4, 0, 0, NULL, 0), GOTRACE_RULE_NONE);
    blob written = {0};
    gotrace_encoder *e;
    gotrace_record batch = {
        .spec = gotrace_event_spec_named(19, "Batch"), .args = args, .arg_count = 2};
    ck_assert_int_eq(gotrace_encoder_new(22, blob_write, &written, NULL, &e, NULL), GOTRACE_OK);
    ck_assert_int_eq(gotrace_encoder_record(e, &batch), GOTRACE_ERROR);
    ck_assert_int_eq(gotrace_encoder_error(e)->rule, GOTRACE_RULE_USAGE);
    gotrace_encoder_free(e);
    blob_free(&written);
}
END_TEST

/* The tracer reserves ten bytes for the size of a batch. */
START_TEST(v2_sizes_are_padded)
{
    static const uint8_t wanted[] = "go 1.26 trace\0\0\0\x01\x01\x02\x03"
                                    "\x81\x80\x80\x80\x80\x80\x80\x80\x80\x00\x34";
    uint64_t args[] = {1, 2, 3, 1};
    blob written = {0};
    gotrace_encoder *e;
    gotrace_record batch = {.spec = gotrace_event_spec_named(26, "EventBatch"),
                            .args = args,
                            .arg_count = 4,
                            .form = 0xff};
    gotrace_record end = {.spec = gotrace_event_spec_named(26, "EndOfGeneration")};
    ck_assert_int_eq(gotrace_encoder_new(26, blob_write, &written, NULL, &e, NULL), GOTRACE_OK);
    ck_assert_int_eq(gotrace_encoder_record(e, &batch), GOTRACE_OK);
    ck_assert_int_eq(gotrace_encoder_record(e, &end), GOTRACE_OK);
    ck_assert_int_eq(gotrace_encoder_finish(e), GOTRACE_OK);
    ck_assert_uint_eq(written.size, sizeof wanted - 1);
    ck_assert_mem_eq(written.bytes, wanted, written.size);
    ck_assert_uint_eq(gotrace_record_width(batch.spec, 26, 3), 10);
    ck_assert_uint_eq(gotrace_record_width(batch.spec, 26, 2), 0);
    gotrace_encoder_free(e);
    blob_free(&written);
}
END_TEST

START_TEST(versions_are_checked)
{
    blob written = {0};
    gotrace_encoder *e;
    gotrace_error error = {0};
    const int unknown[] = {-1, 0, 4, 28, 256 + 19, INT_MAX, INT_MIN};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        ck_assert_int_eq(gotrace_encoder_new(unknown[i], blob_write, &written, NULL, &e, &error),
                         GOTRACE_ERROR);
        ck_assert_int_eq(error.rule, GOTRACE_RULE_HEADER_VERSION);
        ck_assert_ptr_null(e);
        ck_assert_uint_eq(written.size, 0);
        ck_assert_int_eq(gotrace_release_version(unknown[i]), 0);
        ck_assert_ptr_null(gotrace_event_spec_of(unknown[i], GOTRACE_V1_Batch));
    }
    gotrace_encoder_free(NULL);
}
END_TEST

/* A release number is accepted as a version, and means the version of its traces. */
START_TEST(releases_as_versions)
{
    size_t version_count, v = 0;
    const int *versions = gotrace_versions(&version_count);
    const gotrace_release *r;
    for (size_t i = 0; (r = gotrace_release_at(i)); i++) {
        char name[16], header[32] = "";
        snprintf(name, sizeof name, "go1.%d", r->minor);
        ck_assert_str_eq(r->name, name);
        ck_assert_int_eq(r->minor, gotrace_release_at(0)->minor + (int)i);
        v += v + 1 < version_count && versions[v + 1] <= r->minor;
        ck_assert_int_eq(r->version, versions[v]);
        ck_assert_int_eq(gotrace_release_version(r->minor), r->version);

        blob by_encoder = {0}, by_writer = {0};
        gotrace_encoder *e;
        gotrace_writer *w;
        ck_assert_int_eq(gotrace_encoder_new(r->minor, blob_write, &by_encoder, NULL, &e, NULL),
                         GOTRACE_OK);
        ck_assert_int_eq(gotrace_writer_new(r->minor, NULL, blob_write, &by_writer, NULL, &w, NULL),
                         GOTRACE_OK);
        snprintf(header, sizeof header, "go 1.%d trace", r->version);
        ck_assert_mem_eq(by_encoder.bytes, header, GT_HEADER_SIZE);
        ck_assert_mem_eq(by_writer.bytes, header, GT_HEADER_SIZE);
        for (unsigned code = 0; code < GT_CODES; code++) {
            const gotrace_event_spec *spec = gotrace_event_spec_of(r->minor, code);
            const gotrace_arg_spec *args[GOTRACE_MAX_ARGS];
            ck_assert_ptr_eq(spec, gotrace_event_spec_of(r->version, code));
            if (spec) {
                ck_assert_uint_eq(gotrace_event_args(spec, r->minor, args),
                                  gotrace_event_args(spec, r->version, args));
                ck_assert_uint_eq(gotrace_writer_args(spec, r->minor, args),
                                  gotrace_writer_args(spec, r->version, args));
                ck_assert_uint_eq(gotrace_record_form(spec, r->minor),
                                  gotrace_record_form(spec, r->version));
            }
        }
        gotrace_encoder_free(e);
        gotrace_writer_free(w);
        blob_free(&by_encoder);
        blob_free(&by_writer);
    }
    ck_assert_uint_eq(v + 1, version_count);
}
END_TEST

/* ---- a failing write ------------------------------------------------------------------------ */

/* Accepts *left bytes, then fails with ENOSPC. */
static bool write_some(void *ctx, const void *bytes, size_t size)
{
    size_t *left = ctx;
    (void)bytes;
    if (size > *left) {
        errno = ENOSPC;
        return false;
    }
    *left -= size;
    return true;
}

START_TEST(failed_write_remains)
{
    gotrace_encoder *e;
    gotrace_error error = {0};
    size_t left = 15;
    ck_assert_int_eq(gotrace_encoder_new(19, write_some, &left, NULL, &e, &error), GOTRACE_ERROR);
    ck_assert_int_eq(error.rule, GOTRACE_RULE_SYSTEM_WRITE);
    ck_assert_int_eq(error.os_error, ENOSPC);

    left = 100000;
    uint64_t args[2] = {1, UINT64_MAX};
    gotrace_record record = {
        .spec = gotrace_event_spec_named(19, "Batch"), .args = args, .arg_count = 2, .form = 0xff};
    ck_assert_int_eq(gotrace_encoder_new(19, write_some, &left, NULL, &e, &error), GOTRACE_OK);
    int written = 0;
    while (gotrace_encoder_record(e, &record) == GOTRACE_OK)
        ck_assert_int_lt(written++, 20000);
    ck_assert_int_eq(gotrace_encoder_error(e)->os_error, ENOSPC);
    ck_assert_int_eq(gotrace_encoder_record(e, &record), GOTRACE_ERROR);
    ck_assert_int_eq(gt_encoder_finish(e, 1, 1), GOTRACE_ERROR);
    gotrace_encoder_free(e);
}
END_TEST

/* ---- decisions of the by-event functions ----------------------------------------------------- */

static gotrace_encoder *new_encoder(int version, gotrace_tracer tracer, blob *written,
                                    const gotrace_config *config)
{
    gotrace_encoder *e;
    ck_assert_int_eq(gotrace_encoder_new(version, blob_write, written, config, &e, NULL),
                     GOTRACE_OK);
    ck_assert_int_eq(gt_encoder_tracer(e, tracer), GOTRACE_OK);
    return e;
}

/* An event without arguments except its stack, if it has one. */
static gotrace_status event(gotrace_encoder *e, int64_t proc, const char *name, uint64_t ticks)
{
    return gt_encoder_event(e, proc, gotrace_event_spec_named(e->version, name), ticks, ticks, NULL,
                            0, 0, NULL, 0);
}

/* The names of the records written, each followed by a space; for Batch with proc and ticks. */
static void names_of(const blob *written, blob *names)
{
    trace_file file = {.content = *written};
    layout l = layout_of(&file);
    for (size_t i = 0; i < l.count; i++) {
        char text[80];
        const item *it = &l.items[i];
        if (item_is(it, GOTRACE_V1_Batch))
            snprintf(text, sizeof text, "Batch:%lld@%llu ", (long long)it->args[0],
                     (unsigned long long)it->args[it->arg_count - 1]);
        else
            snprintf(text, sizeof text, "%s ", it->spec->name);
        blob_write(names, text, strlen(text));
    }
    blob_write(names, "", 1);
    layout_free(&l);
}

typedef struct tracer_case {
    int version;
    gotrace_tracer tracer;
    size_t capacity; /* of a buffer, in bytes */
    const char *footer;
} tracer_case;

#define STACK_1_7 "String String Stack String Stack "

static const tracer_case tracer_cases[] = {
    {5, GOTRACE_TRACER_GO, 64464, "Stack Stack Frequency TimerGoroutine "},
    {7, GOTRACE_TRACER_GO, 64488, "Frequency TimerGoroutine " STACK_1_7},
    {8, GOTRACE_TRACER_GO, 64488, "Frequency TimerGoroutine " STACK_1_7},
    {9, GOTRACE_TRACER_GO, 64488, "Frequency TimerGoroutine " STACK_1_7},
    {10, GOTRACE_TRACER_GO, 64488, "Frequency TimerGoroutine " STACK_1_7},
    {11, GOTRACE_TRACER_GO, 64488, "Frequency TimerGoroutine Batch:0@9000 " STACK_1_7},
    {11, GOTRACE_TRACER_GCCGO, 59368, "Frequency TimerGoroutine Batch:0@9000 " STACK_1_7},
    {19, GOTRACE_TRACER_GO, 64488, "Frequency TimerGoroutine Batch:0@9000 " STACK_1_7},
    {19, GOTRACE_TRACER_GO_2023, 64488, "Batch:0@9000 Frequency TimerGoroutine " STACK_1_7},
    {21, GOTRACE_TRACER_GO, 64488, "Batch:0@9000 Frequency TimerGoroutine " STACK_1_7},
};

START_TEST(footers)
{
    const tracer_case *c = &tracer_cases[_i];
    blob written = {0}, names = {0};
    char wanted[256];
    uint64_t id, timer = 7;
    gotrace_encoder *e = new_encoder(c->version, c->tracer, &written, NULL);
    gotrace_frame frames[2] = {
        {.pc = 1, .line = 2, .function = "f", .function_size = 1, .file = "a.go", .file_size = 4},
        {.pc = 3, .line = 4, .function = "g", .function_size = 1, .file = "a.go", .file_size = 4},
    };
    ck_assert_int_eq(gt_encoder_stack(e, frames, 1, &id), GOTRACE_OK);
    ck_assert_uint_eq(id, 1);
    ck_assert_int_eq(gt_encoder_stack(e, frames, 2, &id), GOTRACE_OK);
    ck_assert_uint_eq(id, 2);
    ck_assert_int_eq(gt_encoder_stack(e, frames, 1, &id), GOTRACE_OK);
    ck_assert_uint_eq(id, 1);
    ck_assert_int_eq(gt_encoder_stack(e, frames, 0, &id), GOTRACE_OK);
    ck_assert_uint_eq(id, 0);
    ck_assert_int_eq(event(e, -1, "ProcStop", 50), GOTRACE_OK);
    ck_assert_int_eq(event(e, 1, "ProcStop", 60), GOTRACE_OK);
    ck_assert_int_eq(event(e, 0, "ProcStop", 70), GOTRACE_OK);
    ck_assert_int_eq(gt_encoder_event(e, 0, gotrace_event_spec_named(c->version, "TimerGoroutine"),
                                      0, 0, &timer, 1, 0, NULL, 0),
                     GOTRACE_OK);
    ck_assert_int_eq(gt_encoder_finish(e, 1000, 9000), GOTRACE_OK);
    gotrace_encoder_free(e);
    names_of(&written, &names);
    /* from 1.19 a batch starts one tick before its first event */
    unsigned d = c->version >= 19;
    snprintf(wanted, sizeof wanted,
             "Batch:0@%u ProcStop Batch:1@%u ProcStop Batch:-1@%u ProcStop %s", 70 - d, 60 - d,
             50 - d, c->footer);
    ck_assert_str_eq((char *)names.bytes, wanted);
    blob_free(&written);
    blob_free(&names);
}
END_TEST

/* A batch ends when less space is left than the tracer requires, and not earlier. */
START_TEST(buffers_fill)
{
    const tracer_case *c = &tracer_cases[_i];
    blob written = {0};
    uint64_t args[1] = {3}, ticks = 1000;
    gotrace_encoder *e = new_encoder(c->version, c->tracer, &written, NULL);
    const gotrace_event_spec *spec = gotrace_event_spec_named(c->version, "GoWaiting");
    for (int i = 0; i < 60000; i++) {
        ticks += (uint64_t)i % 300;
        args[0] = (uint64_t)i * (uint64_t)i;
        ck_assert_int_eq(gt_encoder_event(e, 4, spec, ticks, (uint64_t)i, args, 1, 0, NULL, 0),
                         GOTRACE_OK);
    }
    ck_assert_int_eq(gotrace_encoder_finish(e), GOTRACE_OK);
    gotrace_encoder_free(e);
    trace_file file = {.content = written};
    layout l = layout_of(&file);
    ck_assert_uint_eq(l.lane_count, 1);
    ck_assert_uint_ge(l.lanes[0].count, 5);
    for (size_t i = 0; i + 1 < l.lanes[0].count; i++) {
        uint64_t size = l.items[l.lanes[0].first[i + 1]].offset -
                        l.items[l.lanes[0].first[i]].offset;
        const item *last = &l.items[l.lanes[0].last[i] - 1];
        ck_assert_uint_le(size, c->capacity);
        ck_assert_uint_gt(size, c->capacity - 52);
        ck_assert_uint_le(size - last->size, c->capacity - 52);
    }
    layout_free(&l);
    blob_free(&written);
}
END_TEST

/* Strings and messages that are too long for a buffer are truncated, and the trace stays sound. */
START_TEST(oversized_strings_are_truncated)
{
    enum { LONG = 70000 };
    char *text = malloc(LONG);
    memset(text, 'x', LONG);
    for (size_t c = 5; c < sizeof tracer_cases / sizeof tracer_cases[0]; c++) {
        blob written = {0};
        uint64_t id, args[2] = {1, 0};
        int version = tracer_cases[c].version;
        gotrace_encoder *e = new_encoder(version, tracer_cases[c].tracer, &written, NULL);
        for (uint64_t size = 40000; size <= LONG; size += 1000) {
            ck_assert_int_eq(gt_encoder_string(e, 0, size, text, size, &id), GOTRACE_OK);
            ck_assert_int_eq(gt_encoder_event(e, 0, gotrace_event_spec_named(version, "UserLog"),
                                              size, 0, args, 2, 0, text, size),
                             GOTRACE_OK);
        }
        ck_assert_int_eq(gt_encoder_finish(e, 1, 80000), GOTRACE_OK);
        gotrace_encoder_free(e);
        trace_file file = {.content = written};
        layout l = layout_of(&file);
        size_t texts = 0;
        for (size_t i = 0; i < l.count; i++) {
            const item *it = &l.items[i];
            if (!(it->spec->flags & GOTRACE_SPEC_DATA))
                continue;
            uint64_t size = 40000 + texts++ / 2 * 1000;
            ck_assert(it->data_size == size || (size > 59000 && it->data_size > 59000));
            ck_assert_uint_le(it->size, tracer_cases[c].capacity);
        }
        ck_assert_uint_eq(texts, 62);
        layout_free(&l);
        blob_free(&written);
    }
    free(text);
}
END_TEST

START_TEST(names_keep_their_end)
{
    char name[3000];
    uint64_t id;
    blob written = {0};
    gotrace_encoder *e = new_encoder(19, GOTRACE_TRACER_GO, &written, NULL);
    for (size_t i = 0; i < sizeof name; i++)
        name[i] = (char)('a' + i % 26);
    gotrace_frame frame = {.pc = 1, .function = name, .function_size = sizeof name};
    ck_assert_int_eq(gt_encoder_stack(e, &frame, 1, &id), GOTRACE_OK);
    ck_assert_int_eq(gt_encoder_finish(e, 1, 1), GOTRACE_OK);
    gotrace_encoder_free(e);
    trace_file file = {.content = written};
    layout l = layout_of(&file);
    ck_assert_uint_eq(l.strings[1]->data_size, 1024);
    ck_assert_mem_eq(l.strings[1]->data, name + sizeof name - 1024, 1024);
    ck_assert_uint_eq(l.items[l.count - 1].args[4], 0); /* no file */
    layout_free(&l);
    blob_free(&written);
}
END_TEST

START_TEST(ticks_are_raised)
{
    blob written = {0}, names = {0};
    gotrace_encoder *e = new_encoder(19, GOTRACE_TRACER_GO, &written, NULL);
    ck_assert_int_eq(event(e, 0, "ProcStop", 10), GOTRACE_OK);
    ck_assert_int_eq(event(e, 0, "ProcStop", 10), GOTRACE_OK);
    ck_assert_int_eq(event(e, 0, "ProcStop", 5), GOTRACE_OK);
    ck_assert_int_eq(gt_encoder_flush(e, 0), GOTRACE_OK);
    ck_assert_int_eq(event(e, 0, "ProcStop", 12), GOTRACE_OK);
    ck_assert_int_eq(event(e, 7, "ProcStop", 0), GOTRACE_OK);
    ck_assert_int_eq(gotrace_encoder_finish(e), GOTRACE_OK);
    gotrace_encoder_free(e);
    static const uint8_t bytes[] = {0x41, 0,  9,    0x06, 1,    0x06, 1, 0x06, 1, 0x41,
                                    0,    12, 0x06, 1,    0x41, 7,    0, 0x06, 1};
    ck_assert_uint_eq(written.size, 16 + sizeof bytes);
    ck_assert_mem_eq(written.bytes + 16, bytes, sizeof bytes);
    blob_free(&written);
    blob_free(&names);

    e = new_encoder(11, GOTRACE_TRACER_GO, &written, NULL);
    ck_assert_int_eq(event(e, 0, "ProcStop", 10), GOTRACE_OK);
    ck_assert_int_eq(event(e, 0, "ProcStop", 10), GOTRACE_OK);
    ck_assert_int_eq(event(e, 0, "ProcStop", 9), GOTRACE_ERROR);
    ck_assert_int_eq(gotrace_encoder_error(e)->rule, GOTRACE_RULE_USAGE);
    gotrace_encoder_free(e);
    blob_free(&written);
}
END_TEST

START_TEST(samples_have_a_buffer)
{
    blob written = {0}, names = {0};
    uint64_t sample[3] = {5, 1, 2};
    gotrace_encoder *e = new_encoder(21, GOTRACE_TRACER_GO, &written, NULL);
    ck_assert_int_eq(gt_encoder_batch_ticks(e, GT_PROC_SAMPLES, 3), GOTRACE_OK);
    ck_assert_int_eq(gt_encoder_event(e, 0, gotrace_event_spec_named(21, "CPUSample"), 9, 0, sample,
                                      3, 1, NULL, 0),
                     GOTRACE_OK);
    ck_assert_int_eq(event(e, 0, "ProcStop", 20), GOTRACE_OK);
    ck_assert_int_eq(event(e, 2, "ProcStop", 20), GOTRACE_OK);
    ck_assert_int_eq(gotrace_encoder_finish(e), GOTRACE_OK);
    gotrace_encoder_free(e);
    names_of(&written, &names);
    ck_assert_str_eq((char *)names.bytes,
                     "Batch:0@19 ProcStop Batch:2@19 ProcStop Batch:0@3 CPUSample ");
    blob_free(&written);
    blob_free(&names);
}
END_TEST

/* ---- misuse and limits ----------------------------------------------------------------------- */

/* Each case fails with rule usage, and later calls fail too. */
static gotrace_status misuse(gotrace_encoder *e, int n)
{
    uint64_t id;
    switch (n) {
    case 0: return gt_encoder_tracer(e, GOTRACE_TRACER_GO_2023);
    case 1: event(e, 0, "ProcStop", 1); return gt_encoder_tracer(e, GOTRACE_TRACER_GCCGO);
    case 2: gt_encoder_finish(e, 1, 1); return gt_encoder_flush(e, 0);
    case 3: gt_encoder_finish(e, 1, 1); return gt_encoder_finish(e, 1, 1);
    default: gt_encoder_finish(e, 1, 1); return gt_encoder_string(e, 0, 1, "x", 1, &id);
    }
}

START_TEST(misuse_is_rejected)
{
    blob written = {0};
    gotrace_encoder *e = new_encoder(11, GOTRACE_TRACER_GO, &written, NULL);
    ck_assert_int_eq(misuse(e, _i), GOTRACE_ERROR);
    ck_assert_int_eq(gotrace_encoder_error(e)->rule, GOTRACE_RULE_USAGE);
    ck_assert_int_eq(gt_encoder_batch_ticks(e, 0, 100), GOTRACE_ERROR);
    gotrace_encoder_free(e);
    blob_free(&written);
}
END_TEST

/* By-event functions reject v2. */
START_TEST(no_events_in_v2)
{
    uint64_t id;
    blob written = {0};
    gotrace_encoder *e;
    gotrace_frame frame = {.pc = 1};
    gotrace_status status = GOTRACE_OK;
    ck_assert_int_eq(gotrace_encoder_new(26, blob_write, &written, NULL, &e, NULL), GOTRACE_OK);
    switch (_i) {
    case 0: status = gt_encoder_tracer(e, GOTRACE_TRACER_GO); break;
    case 1: status = gt_encoder_string(e, 0, 1, "x", 1, &id); break;
    case 2: status = gt_encoder_stack(e, &frame, 1, &id); break;
    case 3: status = gt_encoder_flush(e, 0); break;
    case 4: status = gt_encoder_batch_ticks(e, 0, 1); break;
    default: status = gt_encoder_finish(e, 1, 1); break;
    }
    ck_assert_int_eq(status, GOTRACE_ERROR);
    ck_assert_int_eq(gotrace_encoder_error(e)->rule, GOTRACE_RULE_USAGE);
    ck_assert_ptr_nonnull(strstr(gotrace_encoder_error(e)->message, "1.22"));
    gotrace_encoder_free(e);
    blob_free(&written);
}
END_TEST

START_TEST(no_strings_in_1_5)
{
    uint64_t id;
    blob written = {0};
    gotrace_encoder *e = new_encoder(5, GOTRACE_TRACER_GO, &written, NULL);
    ck_assert_int_eq(gt_encoder_string(e, 0, 1, "x", 1, &id), GOTRACE_ERROR);
    ck_assert_int_eq(gotrace_encoder_error(e)->rule, GOTRACE_RULE_USAGE);
    gotrace_encoder_free(e);
    blob_free(&written);
}
END_TEST

static gotrace_status exceed(gotrace_encoder *e, int n)
{
    uint64_t id;
    gotrace_status status = GOTRACE_OK;
    gotrace_frame frames[5] = {{.pc = 1}, {.pc = 2}, {.pc = 3}, {.pc = 4}, {.pc = 5}};
    for (int i = 0; i < 4 && status == GOTRACE_OK; i++)
        switch (n) {
        case 0: status = event(e, i, "ProcStop", 1); break;
        case 1: status = gt_encoder_string(e, 0, 1, &"abcd"[i], 1, &id); break;
        case 2: status = gt_encoder_stack(e, frames + i, 1, &id); break;
        case 3: status = gt_encoder_stack(e, frames, (size_t)i + 1, &id); break;
        default: status = gt_encoder_string(e, 0, 1, "abcd", (size_t)i + 1, &id); break;
        }
    return status;
}

START_TEST(limits_hold)
{
    blob written = {0};
    gotrace_config config;
    memset(&config, 0, sizeof config);
    gotrace_limits limits = {0};
    config.limits = &limits;
    limits.procs = _i == 0 ? 3 : 0;
    limits.strings = _i == 1 ? 3 : 0;
    limits.stacks = _i == 2 ? 3 : 0;
    limits.frames = _i == 3 ? 3 : 0;
    limits.string_bytes = _i == 4 ? 3 : 0;
    gotrace_encoder *e = new_encoder(19, GOTRACE_TRACER_GO, &written, &config);
    ck_assert_int_eq(exceed(e, _i), GOTRACE_ERROR);
    ck_assert_int_eq(gotrace_encoder_error(e)->rule, GOTRACE_RULE_SYSTEM_LIMIT);
    gotrace_encoder_free(e);
    blob_free(&written);
}
END_TEST

/* With many strings and stacks, each is found again, and ids are unique. */
START_TEST(tables_grow)
{
    enum { MANY = 20000 };
    blob written = {0};
    gotrace_encoder *e = new_encoder(21, GOTRACE_TRACER_GO, &written, NULL);
    for (int round = 0; round < 2; round++)
        for (uint64_t i = 1; i <= MANY; i++) {
            char text[32];
            uint64_t id;
            int size = snprintf(text, sizeof text, "string %llu", (unsigned long long)i);
            ck_assert_int_eq(gt_encoder_string(e, (int64_t)i % 5, i, text, (size_t)size, &id),
                             GOTRACE_OK);
            ck_assert_uint_eq(id, i);
            gotrace_frame frames[2] = {{.pc = i, .line = i % 7}, {.pc = i / 100}};
            ck_assert_int_eq(gt_encoder_stack(e, frames, 2, &id), GOTRACE_OK);
            ck_assert_uint_eq(id, i);
        }
    ck_assert_int_eq(gt_encoder_finish(e, 1, 1), GOTRACE_OK);
    gotrace_encoder_free(e);
    trace_file file = {.content = written};
    layout l = layout_of(&file);
    size_t stacks = 0;
    for (size_t i = 0; i < l.count; i++)
        stacks += item_is(&l.items[i], GOTRACE_V1_Stack);
    ck_assert_uint_eq(stacks, MANY);
    ck_assert_uint_eq(l.string_count, MANY + 1);
    layout_free(&l);
    blob_free(&written);
}
END_TEST

/* ---- memory --------------------------------------------------------------------------------- */

/* Write events of every sort; GOTRACE_ERROR if an allocation failed. */
static gotrace_status write_all(failing_allocator *a, blob *written)
{
    gotrace_config config = failing_config(a);
    gotrace_encoder *e;
    gotrace_error error = {0};
    uint64_t id = 0, args[2] = {1, 2};
    gotrace_frame frame = {.pc = 9, .function = "main.main", .function_size = 9};
    if (gotrace_encoder_new(21, blob_write, written, &config, &e, &error) != GOTRACE_OK) {
        ck_assert_int_eq(error.rule, GOTRACE_RULE_SYSTEM_MEMORY);
        return GOTRACE_ERROR;
    }
    gotrace_record record = {.spec = gotrace_event_spec_named(21, "ProcStop"),
                             .args = args,
                             .arg_count = 1,
                             .form = 0xff};
    const gotrace_event_spec *create = gotrace_event_spec_named(21, "GoCreate");
    gotrace_status status = gotrace_encoder_record(e, &record);
    for (int64_t i = 0; i < 40 && status == GOTRACE_OK; i++) {
        frame.pc = (uint64_t)i;
        status = gt_encoder_stack(e, &frame, 1, &id);
        for (int k = 0; k < 60 && status == GOTRACE_OK; k++)
            status = gt_encoder_event(e, i, create, 1, 0, args, 2, id, NULL, 0);
        if (status == GOTRACE_OK)
            status = gt_encoder_string(e, i, 1, "abcdefghijklmnopqrstuvwxyz", (size_t)i % 26, &id);
    }
    if (status == GOTRACE_OK)
        status = gt_encoder_finish(e, 1, 1);
    if (status != GOTRACE_OK)
        ck_assert_int_eq(gotrace_encoder_error(e)->rule, GOTRACE_RULE_SYSTEM_MEMORY);
    gotrace_encoder_free(e);
    return status;
}

START_TEST(memory_refused)
{
    for (uint64_t n = 0;; n++) {
        failing_allocator a = {.fail_at = n};
        blob written = {0};
        gotrace_status status = write_all(&a, &written);
        ck_assert_int_eq(a.bytes, 0);
        blob_free(&written);
        if (status == GOTRACE_OK)
            break;
        ck_assert_uint_lt(n, 1000);
    }
}
END_TEST

int main(void)
{
    int tracers = (int)(sizeof tracer_cases / sizeof tracer_cases[0]);
    Suite *suite = suite_create("encoder");
    TCase *cases = tcase_create("encoder");
    tcase_add_test(cases, records_are_exact);
    tcase_add_test(cases, deviations_are_exact);
    tcase_add_loop_test(cases, v2_records_are_exact, 0, 4);
    tcase_add_test(cases, records_are_checked);
    tcase_add_test(cases, v2_records_are_checked);
    tcase_add_test(cases, v2_sizes_are_padded);
    tcase_add_test(cases, versions_are_checked);
    tcase_add_test(cases, releases_as_versions);
    tcase_add_test(cases, failed_write_remains);
    tcase_add_loop_test(cases, footers, 0, tracers);
    tcase_add_loop_test(cases, buffers_fill, 0, tracers);
    tcase_add_test(cases, oversized_strings_are_truncated);
    tcase_add_test(cases, names_keep_their_end);
    tcase_add_test(cases, ticks_are_raised);
    tcase_add_test(cases, samples_have_a_buffer);
    tcase_add_loop_test(cases, misuse_is_rejected, 0, 13);
    tcase_add_test(cases, no_strings_in_1_5);
    tcase_add_loop_test(cases, no_events_in_v2, 0, 6);
    tcase_add_loop_test(cases, limits_hold, 0, 5);
    tcase_add_test(cases, tables_grow);
    tcase_add_test(cases, memory_refused);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
