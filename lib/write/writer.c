/* writer.c - the public interface of the writer. */
#include "core/sized.h"
#include "write/writer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A v1 tracer cuts a string to the room in its buffer; this is an upper bound. */
#define V1_STRING_MAX 65536
/* Go's readers reject more frames. */
#define V1_FRAMES_MAX 1000

/* ---- errors --------------------------------------------------------------------------------- */

gotrace_status gt_w_encoder_failed(gotrace_writer *w)
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
    if (w->options.force)
        return true;
    char text[sizeof w->error.message];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    gt_error_set(&w->error, rule, GT_NO_PLACE, "%s", text);
    return false;
}

/* The call has invalid arguments; the writer can continue. */
static gotrace_status misused(gotrace_writer *w, const char *what)
{
    return gt_error_set(&w->error, GOTRACE_RULE_USAGE, GT_NO_PLACE, "%s", what);
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

/* ---- creation and end ------------------------------------------------------------------------ */

/* Whether the caller may write events of that type: tables, batches and clocks are written by the
 * writer. */
static bool is_user_event(const gotrace_event_spec *spec, int version)
{
    if (spec->flags & GOTRACE_SPEC_TIMED)
        return true;
    return gt_is_v2(version)
               ? spec->code == GOTRACE_V2_CPUSample || spec->code == GOTRACE_V2_ExperimentalBatch
               : spec->code == GOTRACE_V1_TimerGoroutine;
}

static bool has_stack(const gotrace_event_spec *spec, int version)
{
    return (spec->flags & GOTRACE_SPEC_STACK) ||
           (gt_is_v2(version) && spec->code == GOTRACE_V2_CPUSample);
}

size_t gotrace_writer_args(const gotrace_event_spec *spec, int version,
                           const gotrace_arg_spec **args)
{
    const gotrace_arg_spec *all[GOTRACE_MAX_ARGS];
    if (gotrace_event_spec_of(version, spec->code) != spec || !is_user_event(spec, version))
        return 0;
    size_t count = gotrace_event_args(spec, version, all), n = 0;
    bool v2 = gt_is_v2(version), has_stack_arg = spec->flags & GOTRACE_SPEC_STACK;
    if (v2 ? spec->code == GOTRACE_V2_ExperimentalBatch : spec->code == GOTRACE_V1_TimerGoroutine)
        count = 1; /* the experiment (v2) or the goroutine (v1) */
    else if (has_stack_arg || (v2 && spec->code == GOTRACE_V2_CPUSample))
        count--;
    for (size_t i = 0; i < count; i++)
        if (all[i]->kind != GOTRACE_ARG_DSEQ && all[i]->kind != GOTRACE_ARG_DT &&
            all[i]->kind != GOTRACE_ARG_SEQ)
            args[n++] = all[i];
    return n;
}

static gt_w_shape shape_of(const gotrace_event_spec *spec, int version)
{
    const gotrace_arg_spec *args[GOTRACE_MAX_ARGS];
    gt_w_shape shape = {.spec = spec,
                        .arg_count = (uint8_t)gotrace_writer_args(spec, version, args),
                        .stack = has_stack(spec, version),
                        .data = spec->flags & GOTRACE_SPEC_DATA};
    for (unsigned i = 0; i < shape.arg_count; i++) {
        /* Until 1.6 the start of a goroutine is a program counter. */
        bool start = args[i]->kind == GOTRACE_ARG_START && version >= GT_FIRST_NUMBERED;
        if (args[i]->kind == GOTRACE_ARG_STRING)
            shape.string_args |= UINT32_C(1) << i;
        else if (args[i]->kind == GOTRACE_ARG_STACK || start)
            shape.stack_args |= UINT32_C(1) << i;
    }
    return shape;
}

static gotrace_status new_writer(int version, const gotrace_writer_options *options,
                                 gotrace_write_fn write, void *ctx, const gotrace_config *config,
                                 gotrace_writer **writer, gotrace_error *error)
{
    gotrace_encoder *encoder;
    if (gt_encoder_new(version, write, ctx, config, &encoder, error) != GOTRACE_OK)
        return GOTRACE_ERROR;
    gotrace_writer *w = gt_calloc(&encoder->heap, 1, sizeof *w);
    if (!w) {
        gotrace_status status = gt_error_memory(error, &encoder->heap);
        gotrace_encoder_free(encoder);
        return status;
    }
    w->encoder = encoder;
    w->heap = &encoder->heap;
    w->version = version = encoder->version; /* for a release, the version of its traces */
    w->options = *options;
    if (w->options.frequency == 0)
        w->options.frequency = 1000000000;
    if (w->options.first_generation == 0 || !gt_is_v2(version))
        w->options.first_generation = 1;
    w->generation = encoder->generation = w->options.first_generation;
    w->gc_seq = gt_is_v2(version) ? options->gc_events : 0;
    encoder->clamps = true;
    w->clocks = w->options.clocks;
    for (unsigned code = 0; code < GT_CODES; code++)
        if (encoder->specs[code] && is_user_event(encoder->specs[code], version))
            w->shapes[code] = shape_of(encoder->specs[code], version);
    gt_w_state_init(w, config);
    if (w->options.tracer != GOTRACE_TRACER_GO &&
        gt_encoder_tracer(encoder, w->options.tracer) != GOTRACE_OK) {
        *error = *gotrace_encoder_error(encoder);
        gotrace_writer_free(w);
        return GOTRACE_ERROR;
    }
    *writer = w;
    return GOTRACE_OK;
}

gotrace_status gotrace_writer_new(int version, const gotrace_writer_options *options,
                                  gotrace_write_fn write, void *ctx, const gotrace_config *config,
                                  gotrace_writer **writer, gotrace_error *error)
{
    gt_call call;
    gotrace_writer_options whole;
    *writer = NULL;
    gotrace_status status = gt_call_begin(&call, config);
    if (status == GOTRACE_OK)
        status = gt_sized_take(&gt_sized_writer_options, &whole, options, &call.error);
    if (status == GOTRACE_OK)
        status = new_writer(version, &whole, write, ctx, &call.config, writer, &call.error);
    return gt_call_end(&call, status, error);
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

void gotrace_writer_force(gotrace_writer *w, bool force)
{
    w->options.force = force;
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

/* Whether to begin a generation, which has the status of all goroutines and procs. To keep traces
 * of quiet programs small, at least as many events as statuses must have been written; the first
 * FREE statuses are free. */
static bool generation_is_due(gotrace_writer *w)
{
    enum { FREE = 4096 };
    uint64_t alive = w->goroutine_count + w->by_proc.count + w->by_thread.count;
    if (w->events + FREE < w->statuses + alive)
        return false;
    w->statuses += alive;
    return true;
}

gotrace_status gotrace_writer_at(gotrace_writer *w, uint64_t ticks)
{
    if (check_open(w) != GOTRACE_OK)
        return GOTRACE_ERROR;
    if (ticks < w->given &&
        !gt_w_refuse(w, GOTRACE_RULE_TIME_ORDER, "time decreases from %llu to %llu ticks",
                     (unsigned long long)w->given, (unsigned long long)ticks))
        return GOTRACE_ERROR;
    if (w->begun && ticks > w->began && ticks - w->began >= generation_ticks(w) &&
        (!w->open || generation_is_due(w))) {
        if (w->open && gt_w_v2_begin_due(w, ticks) != GOTRACE_OK)
            return GOTRACE_ERROR;
        w->began = ticks;
    }
    if (ticks < w->given || ticks > w->now)
        w->now = ticks;
    w->given = ticks;
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
    if (gt_is_v2(w->version)) {
        if (gt_v2_string(w->encoder, gt_w_began(w), bytes, size, id) != GOTRACE_OK)
            return gt_w_encoder_failed(w);
        *id += w->encoder->earlier_strings;
        return GOTRACE_OK;
    }
    if (w->version < GT_FIRST_NUMBERED)
        return misused(w, "traces of go 1.5 have no strings");
    if (proc == GOTRACE_NO_PROC)
        return misused(w, "a string needs the proc in whose buffer it is written");
    if (size > V1_STRING_MAX)
        size = V1_STRING_MAX;
    return gt_encoder_string(w->encoder, proc, w->now, bytes, size, id) == GOTRACE_OK
               ? GOTRACE_OK
               : gt_w_encoder_failed(w);
}

gotrace_status gotrace_writer_stack(gotrace_writer *w, const gotrace_frame *frames, size_t count,
                                    uint64_t *id)
{
    *id = 0;
    if (check_open(w) != GOTRACE_OK)
        return GOTRACE_ERROR;
    if (gt_is_v2(w->version)) {
        if (gt_v2_stack(w->encoder, gt_w_began(w), frames, count, id) != GOTRACE_OK)
            return gt_w_encoder_failed(w);
        *id += *id ? w->encoder->earlier_stacks : 0;
        return GOTRACE_OK;
    }
    if (count > V1_FRAMES_MAX)
        count = V1_FRAMES_MAX;
    return gt_encoder_stack(w->encoder, frames, count, id) == GOTRACE_OK ? GOTRACE_OK
                                                                         : gt_w_encoder_failed(w);
}

/* ---- events --------------------------------------------------------------------------------- */

/* Whether the event matches the event table. */
static bool fits(const gotrace_writer *w, const gotrace_event_data *h)
{
    if (!h->spec)
        return false;
    const gt_w_shape *shape = &w->shapes[h->spec->code];
    return shape->spec == h->spec && shape->arg_count == h->arg_count &&
           (shape->stack || h->stack == 0) && (shape->data || h->data_size == 0);
}

/* Explains why it does not. */
__attribute__((cold)) static gotrace_status misfit(gotrace_writer *w, const gotrace_event_data *h)
{
    const gotrace_event_spec *spec = h->spec;
    if (!spec || w->encoder->specs[spec->code] != spec)
        return gt_error_set(&w->error, GOTRACE_RULE_USAGE, GT_NO_PLACE,
                            "%s is not an event of go 1.%d", spec ? spec->name : "nothing",
                            w->version);
    const gt_w_shape *shape = &w->shapes[spec->code];
    if (!shape->spec)
        return gt_error_set(&w->error, GOTRACE_RULE_USAGE, GT_NO_PLACE,
                            "%s is written by the writer itself, not by callers", spec->name);
    if (h->arg_count != shape->arg_count)
        return gt_error_set(&w->error, GOTRACE_RULE_EVENT_ARITY, GT_NO_PLACE,
                            "%s with %zu arguments; %u are expected in go 1.%d", spec->name,
                            h->arg_count, shape->arg_count, w->version);
    return gt_error_set(&w->error, GOTRACE_RULE_USAGE, GT_NO_PLACE, "%s cannot have a %s",
                        spec->name, h->stack != 0 && !shape->stack ? "stack" : "message");
}

/* Ids passed by callers continue across generations, so that one of an earlier generation is
 * detected; in the file they start from 1 in each generation. */
typedef struct id_range {
    uint64_t earlier, count;
} id_range;

static id_range strings_of(const gotrace_writer *w)
{
    const gotrace_encoder *e = w->encoder;
    return (id_range){e->earlier_strings, gt_is_v2(w->version) ? e->strings.count : e->last_string};
}

static id_range stacks_of(const gotrace_writer *w)
{
    return (id_range){w->encoder->earlier_stacks, w->encoder->stacks.count};
}

static inline bool is_known(id_range range, uint64_t id)
{
    return id == 0 || id - range.earlier - 1 < range.count;
}

/* Converts an event's ids to those in the file. Returns the first unknown one, or NULL. */
static inline uint64_t *find_wire_ids(id_range range, uint64_t *args, uint32_t mask)
{
    uint64_t *unknown = NULL;
    for (; mask != 0; mask &= mask - 1) {
        uint64_t *id = &args[__builtin_ctz(mask)];
        if (!is_known(range, *id))
            unknown = unknown ? unknown : id;
        else if (*id != 0)
            *id -= range.earlier;
    }
    return unknown;
}

/* Names the unknown id and the remedy. True if the event is written nevertheless. */
__attribute__((cold)) static bool refuse_id(gotrace_writer *w, const gotrace_event_data *h,
                                            const char *kind, uint64_t id)
{
    char when[64] = "";
    if (gt_is_v2(w->version))
        snprintf(when, sizeof when, " in generation %llu", gt_w_num(w->generation));
    gotrace_rule rule = gt_is_v2(w->version)         ? GOTRACE_RULE_TABLE_REFERENCE
                        : strcmp(kind, "stack") == 0 ? GOTRACE_RULE_STACK_MISSING
                                                     : GOTRACE_RULE_STRING_MISSING;
    return gt_w_refuse(w, rule,
                       "%s: %s id %llu was not given%s; get the id from gotrace_writer_%s%s",
                       h->spec->name, kind, gt_w_num(id), when, kind,
                       gt_is_v2(w->version) ? " again in each generation" : "");
}

/* Converts an event's ids to those in the file, in h and args. If the event is forced, unknown ids
 * are kept. */
static inline bool take_ids(gotrace_writer *w, gotrace_event_data *h, uint64_t *args)
{
    const gt_w_shape *shape = &w->shapes[h->spec->code];
    id_range strings = strings_of(w), stacks = stacks_of(w);
    for (size_t i = 0; i < h->arg_count; i++) /* few: faster than memcpy */
        args[i] = h->args[i];
    h->args = args;
    const uint64_t *stack = find_wire_ids(stacks, &h->stack, 1);
    if (!stack)
        stack = find_wire_ids(stacks, args, shape->stack_args);
    if (stack && !refuse_id(w, h, "stack", *stack))
        return false;
    const uint64_t *string = find_wire_ids(strings, args, shape->string_args);
    return !string || refuse_id(w, h, "string", *string);
}

gotrace_status gotrace_writer_event(gotrace_writer *w, const gotrace_event_data *h)
{
    if (check_open(w) != GOTRACE_OK)
        return GOTRACE_ERROR;
    gotrace_event_data whole;
    if (!gt_sized_is_whole(&gt_sized_event_data, h->size)) {
        if (gt_sized_take(&gt_sized_event_data, &whole, h, &w->error) < 0)
            return GOTRACE_ERROR;
        h = &whole;
    }
    if (!fits(w, h))
        return misfit(w, h);
    const gt_w_shape *shape = &w->shapes[h->spec->code];
    uint64_t args[GOTRACE_MAX_ARGS];
    gotrace_event_data taken;
    if (h->stack != 0 || shape->stack_args || shape->string_args) {
        taken = *h;
        if (!take_ids(w, &taken, args))
            return GOTRACE_ERROR;
        h = &taken;
    }
    gt_w_step s = {.w = w, .h = h, .code = h->spec->code};
    gotrace_status status = gt_is_v2(w->version) ? gt_w_v2_event(&s) : gt_w_v1_event(&s);
    w->events += status == GOTRACE_OK;
    return status;
}
