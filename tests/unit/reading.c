/* reading.c - see reading.h. */
#include "reading.h"

#include <stdlib.h>
#include <string.h>

static bool keep_problem(void *ctx, const gotrace_error *problem)
{
    reading *r = ctx;
    if (r->problem_count < READING_PROBLEMS)
        r->problems[r->problem_count] = *problem;
    r->problem_count++;
    ck_assert(problem->message[0] != '\0');
    ck_assert_int_ne(problem->rule, GOTRACE_RULE_NONE);
    return true;
}

static void add(reading *r, const void *bytes, size_t size)
{
    const uint8_t *p = bytes;
    for (size_t i = 0; i < size; i++)
        r->digest = (r->digest ^ p[i]) * 1099511628211u;
}

static void add_number(reading *r, uint64_t n)
{
    r->digest = (r->digest ^ n) * 0x9e3779b97f4a7c15u;
    r->digest ^= r->digest >> 29;
}

static void add_stack(reading *r, const gotrace_reader *reader, uint64_t id)
{
    gotrace_frame frames[8];
    size_t depth = gotrace_reader_stack_depth(reader, id);
    size_t count = gotrace_reader_stack(reader, id, frames, 8);
    ck_assert_uint_eq(count, depth < 8 ? depth : 8);
    add_number(r, depth);
    for (size_t i = 0; i < count; i++) {
        add_number(r, frames[i].pc + frames[i].line);
        add(r, frames[i].function, frames[i].function_size);
        add(r, frames[i].file, frames[i].file_size);
    }
}

/* Read all fields, so that sanitizers detect invalid ones. */
static void add_event(reading *r, gotrace_reader *reader, const gotrace_event *e)
{
    const gotrace_raw *raw = gotrace_reader_raw(reader);
    const uint64_t numbers[] = {
        (uint64_t)e->time,
        raw->ticks,
        e->offset,
        e->type,
        e->kind,
        e->resource,
        e->from,
        e->to,
        e->range,
        e->flags,
        raw->arg_count,
        (uint64_t)e->proc,
        (uint64_t)e->thread,
        e->goroutine,
        e->subject,
        gotrace_event_value(e),
        e->stack,
        gotrace_event_start_stack(e),
        gotrace_event_cause(e),
        gotrace_event_details(e)->arg_count,
        raw->generation,
        raw->generation_index,
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        add_number(r, numbers[i]);
    for (size_t i = 0; i < raw->arg_count; i++)
        add_number(r, raw->args[i]);
    for (size_t i = 0; i < gotrace_event_details(e)->arg_count; i++)
        add_number(r, gotrace_event_details(e)->args[i]);
    if (gotrace_event_reason(e))
        add(r, gotrace_event_reason(e), strlen(gotrace_event_reason(e)));
    add(r, gotrace_event_details(e)->text, gotrace_event_details(e)->text_size);
    add(r, gotrace_event_details(e)->message, gotrace_event_details(e)->message_size);
    add_stack(r, reader, e->stack);
    r->events++;
    const gotrace_goroutine *g = gotrace_reader_goroutine(reader, e->goroutine);
    if (g)
        add_number(r, g->state + (uint64_t)g->since + g->creator);
}

reading reading_of_source(gotrace_source *source, const gotrace_config *config,
                          enum reading_way way)
{
    reading r = {.digest = 14695981039346656037u};
    gotrace_reader *reader;
    const gotrace_event *event;
    gotrace_config own = {0};
    if (config)
        own = *config;
    own.on_problem = keep_problem;
    own.callback_ctx = &r;
    r.opened = r.status = gotrace_reader_open(source, &own, &reader, &r.error);
    if (r.opened < 0) {
        ck_assert_ptr_null(reader);
        ck_assert_int_ne(r.error.rule, GOTRACE_RULE_NONE);
        return r;
    }
    if (way == READING_CHECK)
        r.status = gotrace_reader_check(reader);
    else
        while ((r.status = gotrace_reader_next(reader, &event)) == GOTRACE_EVENT)
            add_event(&r, reader, event);
    /* later calls return the same status */
    ck_assert_int_eq(gotrace_reader_next(reader, &event), r.status);
    ck_assert_int_eq(gotrace_reader_check(reader), r.status);
    r.summary = *gotrace_reader_summary(reader);
    for (unsigned c = 0; c <= GOTRACE_CLASS_USAGE; c++)
        r.by_class[c] = gotrace_reader_problems(reader, (gotrace_class)c);
    if (r.status < 0)
        r.error = *gotrace_reader_error(reader);
    gotrace_reader_close(reader);
    return r;
}

reading reading_of(const void *bytes, size_t size, const gotrace_config *config,
                   enum reading_way way)
{
    gotrace_source *source;
    reading r = {.opened = GOTRACE_ERROR, .status = GOTRACE_ERROR};
    if (gotrace_source_memory(bytes, size, config, &source, &r.error) < 0)
        return r;
    r = reading_of_source(source, config, way);
    gotrace_source_close(source);
    return r;
}

bool reading_has(const reading *r, gotrace_rule rule)
{
    for (size_t i = 0; i < r->problem_count && i < READING_PROBLEMS; i++)
        if (r->problems[i].rule == rule)
            return true;
    return r->status < 0 && r->error.rule == rule;
}

void reading_check_sum(const reading *r)
{
    uint64_t sum = r->summary.header_bytes + r->summary.unread_bytes;
    for (unsigned type = 0; type < 256; type++)
        sum += r->summary.type_bytes[type];
    ck_assert_uint_eq(sum, r->summary.size);
}

uint64_t reading_records(const uint8_t *bytes, size_t size, gotrace_status *status)
{
    gotrace_decoder *d;
    const gotrace_record *record;
    uint64_t count = 0;
    ck_assert_int_eq(gotrace_decoder_new(NULL, &d, NULL), GOTRACE_OK);
    ck_assert_int_eq(gotrace_decoder_feed(d, bytes, size), GOTRACE_OK);
    gotrace_decoder_finish(d);
    while ((*status = gotrace_decoder_next(d, &record)) == GOTRACE_EVENT)
        count++;
    gotrace_decoder_free(d);
    return count;
}

void reading_check_damaged(const blob *content)
{
    gotrace_status decoded;
    reading read = reading_of(content->bytes, content->size, NULL, READING_NEXT);
    reading checked = reading_of(content->bytes, content->size, NULL, READING_CHECK);
    reading_records(content->bytes, content->size, &decoded);
    ck_assert_int_eq(read.opened, checked.opened);
    ck_assert_int_eq(read.status, checked.status);
    ck_assert_uint_eq(read.problem_count, checked.problem_count);
    ck_assert_uint_eq(read.summary.problems, checked.summary.problems);
    if (read.opened < 0)
        return;
    ck_assert_int_eq(read.status, GOTRACE_END);
    reading_check_sum(&read);
    /* a trace that the decoder rejects is not sound */
    if (decoded < 0)
        ck_assert_uint_gt(read.summary.problems, 0);
}
