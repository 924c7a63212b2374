/* writer.c - writing by meaning: the public face. */
#include "writer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A v1 tracer cuts a string to the room in its buffer, which is no more than this. */
#define V1_STRING_MAX 65536
/* Go's readers refuse more frames. */
#define V1_FRAMES_MAX 1000

/* ---- errors --------------------------------------------------------------------------------- */

gotrace_status gt_w_broken(gotrace_writer *w)
{
    w->error = *gotrace_encoder_error(w->encoder);
    return w->status = GOTRACE_ERROR;
}

gotrace_status gt_w_no_memory(gotrace_writer *w)
{
    return w->status = gt_error_memory(&w->error, w->heap);
}

bool gt_w_refuse(gotrace_writer *w, gotrace_rule rule, const char *format, ...)
{
    if (w->options.believe)
        return true;
    char text[sizeof w->error.message];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    gt_error_set(&w->error, rule, GT_NOWHERE, "%s", text);
    return false;
}

/* What was told is not what the call wants; the writer can go on. */
static gotrace_status misused(gotrace_writer *w, const char *what)
{
    return gt_error_set(&w->error, GOTRACE_RULE_USAGE, GT_NOWHERE, "%s", what);
}

static gotrace_status check_open(gotrace_writer *w)
{
    if (w->status < 0)
        return w->status;
    return w->finished ? misused(w, "a call to a writer that has finished its trace") : GOTRACE_OK;
}

const gotrace_error *gotrace_writer_error(const gotrace_writer *writer)
{
    return &writer->error;
}

const char *gt_w_name(const gt_w_step *s)
{
    return gotrace_event_spec_of(s->w->version, s->code)->name;
}

const char *gt_w_state_name(uint8_t state)
{
    static const char *const names[] = {"not there",        "runnable", "running",
                                        "in a system call", "waiting",  "stopped for good"};
    return names[state];
}

const char *gt_w_proc_state_name(uint8_t state)
{
    static const char *const names[] = {"not known", "running", "idle", "in a system call",
                                        "left in a system call"};
    return names[state];
}

/* ---- beginning and end ---------------------------------------------------------------------- */

/* Whether an event of that type can be told: tables, batches and clocks are the writer's. */
static bool is_told(const gotrace_event_spec *spec, int version)
{
    if (spec->flags & GOTRACE_SPEC_TIMED)
        return true;
    return gt_is_v2(version)
               ? spec->code == GT_V2_CPUSample || spec->code == GT_V2_ExperimentalBatch
               : spec->code == GT_V1_TimerGoroutine;
}

static bool has_stack(const gotrace_event_spec *spec, int version)
{
    return (spec->flags & GOTRACE_SPEC_STACK) ||
           (gt_is_v2(version) && spec->code == GT_V2_CPUSample);
}

size_t gotrace_writer_args(const gotrace_event_spec *spec, int version,
                           const gotrace_arg_spec **args)
{
    const gotrace_arg_spec *all[GOTRACE_MAX_ARGS];
    if (!is_told(spec, version))
        return 0;
    size_t count = gotrace_event_args(spec, version, all), n = 0;
    bool v2 = gt_is_v2(version), apart = spec->flags & GOTRACE_SPEC_STACK;
    if (v2 ? spec->code == GT_V2_ExperimentalBatch : spec->code == GT_V1_TimerGoroutine)
        count = 1; /* the experiment; the goroutine */
    else if (apart || (v2 && spec->code == GT_V2_CPUSample))
        count--;
    for (size_t i = 0; i < count; i++)
        if (all[i]->kind != GOTRACE_ARG_DSEQ && all[i]->kind != GOTRACE_ARG_DT &&
            all[i]->kind != GOTRACE_ARG_SEQ)
            args[n++] = all[i];
    return n;
}

gotrace_status gotrace_writer_new(int version, const gotrace_writer_options *options,
                                  gotrace_write_fn write, void *ctx, const gotrace_config *config,
                                  gotrace_writer **writer, gotrace_error *error)
{
    *writer = NULL;
    gotrace_encoder *encoder;
    if (gotrace_encoder_new(version, write, ctx, config, &encoder, error) != GOTRACE_OK)
        return GOTRACE_ERROR;
    gotrace_writer *w = gt_calloc(&encoder->heap, 1, sizeof *w);
    if (!w) {
        gotrace_status status = gt_error_memory(error, &encoder->heap);
        gotrace_encoder_free(encoder);
        return status;
    }
    w->encoder = encoder;
    w->heap = &encoder->heap;
    w->version = version;
    if (options)
        w->options = *options;
    if (w->options.frequency == 0)
        w->options.frequency = 1000000000;
    w->generation = 1;
    encoder->clamps = true;
    w->clocks = w->options.clocks;
    const gotrace_arg_spec *args[GOTRACE_MAX_ARGS];
    for (unsigned code = 0; code < GT_CODES; code++)
        if (encoder->specs[code] && is_told(encoder->specs[code], version))
            w->shapes[code] = (gt_w_shape){
                .spec = encoder->specs[code],
                .arg_count = (uint8_t)gotrace_writer_args(encoder->specs[code], version, args),
                .stack = has_stack(encoder->specs[code], version),
                .data = encoder->specs[code]->flags & GOTRACE_SPEC_DATA};
    gt_w_state_init(w, config);
    if (w->options.tracer != GOTRACE_TRACER_GO &&
        gotrace_encoder_tracer(encoder, w->options.tracer) != GOTRACE_OK) {
        if (error)
            *error = *gotrace_encoder_error(encoder);
        gotrace_writer_free(w);
        return GOTRACE_ERROR;
    }
    *writer = w;
    return GOTRACE_OK;
}

void gotrace_writer_free(gotrace_writer *w)
{
    if (!w)
        return;
    gotrace_encoder *encoder = w->encoder;
    gt_w_state_free(w);
    gt_free(&encoder->heap, w, sizeof *w);
    gotrace_encoder_free(encoder);
}

gotrace_status gotrace_writer_finish(gotrace_writer *w)
{
    if (check_open(w) != GOTRACE_OK)
        return GOTRACE_ERROR;
    w->finished = true;
    return gt_is_v2(w->version) ? gt_w_v2_finish(w) : gt_w_v1_finish(w);
}

/* ---- time and tables ------------------------------------------------------------------------ */

static uint64_t generation_ticks(const gotrace_writer *w)
{
    return w->options.generation_ticks ? w->options.generation_ticks : w->options.frequency;
}

gotrace_status gotrace_writer_at(gotrace_writer *w, uint64_t ticks)
{
    if (check_open(w) != GOTRACE_OK)
        return GOTRACE_ERROR;
    if (ticks < w->told &&
        !gt_w_refuse(w, GOTRACE_RULE_TIME_ORDER, "time runs back from %llu to %llu ticks",
                     (unsigned long long)w->told, (unsigned long long)ticks))
        return GOTRACE_ERROR;
    if (w->begun && ticks > w->began && ticks - w->began >= generation_ticks(w)) {
        if (w->open && gt_w_v2_begin_due(w, ticks) != GOTRACE_OK)
            return GOTRACE_ERROR;
        w->began = ticks;
    }
    if (ticks < w->told || ticks > w->now)
        w->now = ticks;
    w->told = ticks;
    return GOTRACE_OK;
}

gotrace_status gotrace_writer_advance(gotrace_writer *w, const gotrace_clocks *clocks)
{
    if (check_open(w) != GOTRACE_OK)
        return GOTRACE_ERROR;
    return gt_is_v2(w->version) ? gt_w_v2_advance(w, clocks, w->now) : GOTRACE_OK;
}

uint64_t gotrace_writer_generation(const gotrace_writer *w)
{
    return w->generation;
}

gotrace_status gotrace_writer_string(gotrace_writer *w, int64_t proc, const char *bytes,
                                     size_t size, uint64_t *id)
{
    *id = 0;
    if (check_open(w) != GOTRACE_OK)
        return GOTRACE_ERROR;
    if (size == 0)
        return GOTRACE_OK;
    if (gt_is_v2(w->version))
        return gt_v2_string(w->encoder, gt_w_began(w), bytes, size, id) == GOTRACE_OK
                   ? GOTRACE_OK
                   : gt_w_broken(w);
    if (w->version < 7)
        return misused(w, "traces of go 1.5 have no strings");
    if (proc == GOTRACE_NO_PROC)
        return misused(w, "a string needs the proc in whose buffer it is written");
    if (size > V1_STRING_MAX)
        size = V1_STRING_MAX;
    return gotrace_encoder_string(w->encoder, proc, w->now, bytes, size, id) == GOTRACE_OK
               ? GOTRACE_OK
               : gt_w_broken(w);
}

gotrace_status gotrace_writer_stack(gotrace_writer *w, const gotrace_frame *frames, size_t count,
                                    uint64_t *id)
{
    *id = 0;
    if (check_open(w) != GOTRACE_OK)
        return GOTRACE_ERROR;
    if (gt_is_v2(w->version))
        return gt_v2_stack(w->encoder, gt_w_began(w), frames, count, id) == GOTRACE_OK
                   ? GOTRACE_OK
                   : gt_w_broken(w);
    if (count > V1_FRAMES_MAX)
        count = V1_FRAMES_MAX;
    return gotrace_encoder_stack(w->encoder, frames, count, id) == GOTRACE_OK ? GOTRACE_OK
                                                                              : gt_w_broken(w);
}

/* ---- events --------------------------------------------------------------------------------- */

/* Whether it is told as the event table says. */
static bool fits(const gotrace_writer *w, const gotrace_happening *h)
{
    if (!h->spec)
        return false;
    const gt_w_shape *shape = &w->shapes[h->spec->code];
    return shape->spec == h->spec && shape->arg_count == h->arg_count &&
           (shape->stack || h->stack == 0) && (shape->data || h->data_size == 0);
}

/* Why it does not. */
__attribute__((cold)) static gotrace_status misfit(gotrace_writer *w, const gotrace_happening *h)
{
    const gotrace_event_spec *spec = h->spec;
    if (!spec || w->encoder->specs[spec->code] != spec)
        return gt_error_set(&w->error, GOTRACE_RULE_USAGE, GT_NOWHERE,
                            "%s is not an event of go 1.%d", spec ? spec->name : "nothing",
                            w->version);
    const gt_w_shape *shape = &w->shapes[spec->code];
    if (!shape->spec)
        return gt_error_set(&w->error, GOTRACE_RULE_USAGE, GT_NOWHERE,
                            "%s is written by the writer itself, not told", spec->name);
    if (h->arg_count != shape->arg_count)
        return gt_error_set(&w->error, GOTRACE_RULE_EVENT_ARITY, GT_NOWHERE,
                            "%s with %zu arguments; %u are expected in go 1.%d", spec->name,
                            h->arg_count, shape->arg_count, w->version);
    return gt_error_set(&w->error, GOTRACE_RULE_USAGE, GT_NOWHERE, "%s with a %s, which it has not",
                        spec->name, h->stack != 0 && !shape->stack ? "stack" : "message");
}

gotrace_status gotrace_writer_event(gotrace_writer *w, const gotrace_happening *h)
{
    if (check_open(w) != GOTRACE_OK)
        return GOTRACE_ERROR;
    if (!fits(w, h))
        return misfit(w, h);
    gt_w_step s = {.w = w, .h = h, .code = h->spec->code};
    gotrace_status status = gt_is_v2(w->version) ? gt_w_v2_event(&s) : gt_w_v1_event(&s);
    w->events += status == GOTRACE_OK;
    return status;
}
