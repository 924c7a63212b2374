/* forged.c - see forged.h. */
#include <string.h>

#include "forged.h"

static bool note_problem(void *ctx, const gotrace_error *problem)
{
    open_trace *t = ctx;
    if (t->problems++ == 0)
        t->problem = *problem;
    return true;
}

void open_forged(open_trace *t, const forge *f)
{
    gotrace_error error = {0};
    gotrace_config config = {0};
    memset(t, 0, sizeof *t);
    config.on_problem = note_problem;
    config.callback_ctx = t;
    ck_assert_int_eq(gotrace_source_memory(f->out.bytes, f->out.size, NULL, &t->source, &error),
                     GOTRACE_OK);
    ck_assert_int_eq(gotrace_reader_open(t->source, &config, &t->reader, &error), GOTRACE_OK);
}

void close_forged(open_trace *t, forge *f)
{
    gotrace_reader_close(t->reader);
    gotrace_source_close(t->source);
    blob_free(&f->out);
}

gotrace_event next(open_trace *t)
{
    const gotrace_event *event;
    ck_assert_int_eq(gotrace_reader_next(t->reader, &event), GOTRACE_EVENT);
    return *event;
}

void end(open_trace *t)
{
    const gotrace_event *event;
    ck_assert_int_eq(gotrace_reader_next(t->reader, &event), GOTRACE_END);
    ck_assert_msg(t->problems == 0, "%s", t->problem.message);
}

uint64_t ticks_now(const open_trace *t)
{
    return gotrace_reader_raw(t->reader)->ticks;
}

uint64_t value_of(gotrace_event e)
{
    return gotrace_event_value(&e);
}

gotrace_event expect(open_trace *t, unsigned type, int64_t proc, uint64_t ticks, uint64_t g)
{
    gotrace_event e = next(t);
    ck_assert_uint_eq(e.type, type);
    ck_assert_int_eq(e.proc, proc);
    ck_assert_uint_eq(ticks_now(t), ticks);
    ck_assert_uint_eq(e.goroutine, g);
    return e;
}
