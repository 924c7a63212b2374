/*
 * tables.c - rows, arguments and reasons of both versions, and the target's ids for the source's
 * strings and stacks.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/trace/version.h"
#include "formats/common/vector.h"

/* ---- events and their arguments -------------------------------------------------------------- */

/* The role of the n-th argument of that kind. */
static uint8_t role_of(gotrace_arg_kind kind, unsigned n)
{
    switch (kind) {
    case GOTRACE_ARG_GOROUTINE: return ROLE_GOROUTINE;
    case GOTRACE_ARG_PROC: return ROLE_PROC;
    case GOTRACE_ARG_THREAD: return ROLE_THREAD;
    case GOTRACE_ARG_TICKS: return ROLE_TICKS;
    case GOTRACE_ARG_STRING: return n == 0 ? ROLE_TEXT : ROLE_MESSAGE;
    case GOTRACE_ARG_STACK:
    case GOTRACE_ARG_START: return ROLE_START;
    case GOTRACE_ARG_TASK: return n == 0 ? ROLE_TASK : ROLE_PARENT;
    case GOTRACE_ARG_ID: return ROLE_ID;
    case GOTRACE_ARG_PSTATUS:
    case GOTRACE_ARG_GSTATUS: return ROLE_STATUS;
    default: return n == 0 ? ROLE_VALUE : ROLE_MORE;
    }
}

static void set_roles(version_converter *c, const gotrace_event_spec *row)
{
    const gotrace_arg_spec *args[GOTRACE_MAX_ARGS];
    size_t count = gotrace_writer_args(row, c->to, args);
    unsigned seen[ROLE_START + 1] = {0};
    c->role_counts[row->code] = (uint8_t)count;
    for (size_t i = 0; i < count; i++) {
        uint8_t kind = role_of((gotrace_arg_kind)args[i]->kind, 0);
        c->roles[row->code][i] = role_of((gotrace_arg_kind)args[i]->kind, seen[kind]++);
    }
}

/* Copies gotrace_raw.args, which has the row's arguments in order, without the time. */
emission version_copy(const version_converter *c, const gotrace_event_spec *row)
{
    emission t = version_emission(c, row);
    unsigned seen[ROLE_START + 1] = {0};
    t.start = gotrace_event_start_stack(c->e);
    t.text = t.message = "";
    for (size_t i = 1; i < row->arg_count && i <= c->raw->arg_count; i++) {
        gotrace_arg_kind kind = (gotrace_arg_kind)row->args[i].kind;
        uint8_t role = role_of(kind, seen[role_of(kind, 0)]);
        if (kind == GOTRACE_ARG_SEQ || kind == GOTRACE_ARG_STACK)
            continue;
        seen[role_of(kind, 0)]++;
        if (role < ROLE_NUMBERS)
            t.numbers[role] = c->raw->args[i - 1];
        else if (role == ROLE_TEXT)
            t.text = gotrace_reader_string(c->reader, c->raw->args[i - 1], &t.text_size);
        else if (role == ROLE_MESSAGE)
            t.message = gotrace_reader_string(c->reader, c->raw->args[i - 1], &t.message_size);
    }
    return t;
}

void version_tables(version_converter *c)
{
    version_rows *rows = &c->rows;
    for (unsigned code = 0; code < VERSION_CODES; code++) {
        const gotrace_event_spec *row = gotrace_event_spec_of(c->from, code);
        rows->source[code] = row;
        rows->like[code] = row ? row_like(row, c->to) : NULL;
        row = gotrace_event_spec_of(c->to, code);
        if (!row)
            continue;
        set_roles(c, row);
        const gotrace_semantics *s = row->semantics;
        if (row_stops(s) && s->text && rows->stop_count < VERSION_STOPS)
            rows->stops[rows->stop_count++] = row;
        if (row_starts(s) && row_has(row, GOTRACE_ARG_STRING))
            rows->start_label = row;
        if (s->status && s->resource == GOTRACE_RESOURCE_PROC)
            rows->proc_status = row;
        else if (s->status && (row->flags & GOTRACE_SPEC_STACK))
            rows->status_stack = row;
        else if (s->status)
            rows->status = row;
    }
    for (unsigned from = 0; from < ROW_STATES; from++)
        for (unsigned to = 0; to < ROW_STATES; to++) {
            rows->changes[from][to] = row_of_change(c->to, GOTRACE_RESOURCE_GOROUTINE, from, to,
                                                    NULL);
            rows->procs[from][to] = row_of_change(c->to, GOTRACE_RESOURCE_PROC, from, to, NULL);
        }
    rows->syscall = row_of_kind(c->to, GOTRACE_KIND_SYSCALL, GOTRACE_RANGE_NONE);
    if (!rows->syscall)
        rows->syscall = rows->changes[GOTRACE_STATE_RUNNING][GOTRACE_STATE_SYSCALL];
    rows->region_begin = row_of_kind(c->to, GOTRACE_KIND_REGION_BEGIN, GOTRACE_RANGE_NONE);
    rows->region_end = row_of_kind(c->to, GOTRACE_KIND_REGION_END, GOTRACE_RANGE_NONE);
    rows->max_procs = row_of_metric(c->to, GOTRACE_METRIC_GOMAXPROCS);
}

/* ---- reasons -------------------------------------------------------------------------------- */

static bool has_reason(const char *reason)
{
    return reason && *reason && strcmp(reason, "unspecified") != 0;
}

const gotrace_event_spec *version_v1_stop(version_converter *c, gotrace_state to,
                                          const char *reason)
{
    for (size_t i = 0; reason && i < c->rows.stop_count; i++) {
        const gotrace_event_spec *row = c->rows.stops[i];
        if (row->semantics->self.to == to && strcmp(row->semantics->text, reason) == 0)
            return row;
    }
    if (has_reason(reason))
        version_lose(c, to == GOTRACE_STATE_WAITING ? LOST_WAIT_REASONS : LOST_YIELD_REASONS);
    return c->rows.changes[GOTRACE_STATE_RUNNING][to];
}

/* Since 1.21 a stop-the-world has many kinds, 0 for an unknown one. Until 1.20 there are two kinds,
 * numbered in this order. */
enum { ALL_STOPS_SINCE = 21 };
enum { NO_STOP = 0, MARK_TERMINATION, SWEEP_TERMINATION };

static bool is_unknown(const char *reason)
{
    return strcmp(reason, "unknown") == 0;
}

const char *version_v2_stop(const version_converter *c, const char *reason)
{
    if (c->from >= ALL_STOPS_SINCE)
        return reason && !is_unknown(reason) ? reason : "";
    bool sweep = reason && strcmp(reason, "sweep termination") == 0;
    return gotrace_stw_reason(ALL_STOPS_SINCE, sweep ? SWEEP_TERMINATION : MARK_TERMINATION);
}

/* The kind in 1.21 for that reason. */
static uint64_t kind_of_stop(const char *reason)
{
    const char *name;
    for (uint64_t kind = NO_STOP + 1; !is_unknown(name = gotrace_stw_reason(ALL_STOPS_SINCE, kind));
         kind++)
        if (strcmp(name, reason) == 0)
            return kind;
    return NO_STOP;
}

bool version_stop_kind(const version_converter *c, const char *reason, uint64_t *kind)
{
    *kind = kind_of_stop(version_v2_stop(c, reason));
    if (c->to >= ALL_STOPS_SINCE)
        return true;
    *kind -= MARK_TERMINATION;
    return *kind <= SWEEP_TERMINATION - MARK_TERMINATION;
}

/* ---- strings and stacks --------------------------------------------------------------------- */

/* Ids are valid for one generation, in source and target. */
static void refresh(version_converter *c)
{
    uint64_t target = gotrace_writer_generation(c->writer);
    if (c->raw->generation_index == c->source_index && target == c->target_generation)
        return;
    c->source_index = c->raw->generation_index;
    c->target_generation = target;
    idmap_free(&c->stacks);
    idmap_free(&c->starts);
}

bool version_text(version_converter *c, int64_t proc, const char *bytes, size_t size, uint64_t *id)
{
    enum { V2_LONGEST = 1024 };
    *id = 0;
    /* Only in a damaged trace; the writer will refuse the event. */
    if (proc == GOTRACE_NO_PROC && !version_is_v2(c->to))
        return true;
    if (size > V2_LONGEST && version_is_v2(c->to))
        version_lose(c, LOST_STRING_ENDS);
    return gotrace_writer_string(c->writer, proc, bytes, size, id) >= 0 ||
           version_fail(c, gotrace_writer_error(c->writer));
}

static bool load_frames(version_converter *c, uint64_t source, size_t *count)
{
    *count = 0;
    size_t depth = gotrace_reader_stack_depth(c->reader, source);
    if (depth == 0)
        return true;
    gotrace_frame *frames = vector_fit(c->frames, &c->frame_capacity, depth, sizeof *frames);
    if (!frames)
        return version_no_memory(c);
    c->frames = frames;
    *count = gotrace_reader_stack(c->reader, source, c->frames, depth);
    return true;
}

static bool make_stack(version_converter *c, const gotrace_frame *frames, size_t count,
                       uint64_t *id)
{
    for (size_t i = 0; i < count; i++)
        if (gotrace_frame_values(c->to) == 1 && frames[i].function_size > 0) {
            version_lose(c, LOST_FUNCTIONS);
            break;
        }
    return gotrace_writer_stack(c->writer, frames, count, id) >= 0 ||
           version_fail(c, gotrace_writer_error(c->writer));
}

bool version_stack(version_converter *c, uint64_t source, uint64_t *id)
{
    size_t count;
    *id = 0;
    if (source == 0)
        return true;
    refresh(c);
    uint64_t *known = idmap_find(&c->stacks, source);
    if (known) {
        *id = *known;
        return true;
    }
    if (!load_frames(c, source, &count) || (count > 0 && !make_stack(c, c->frames, count, id)))
        return false;
    known = idmap_insert(&c->stacks, source);
    if (!known)
        return version_no_memory(c);
    *known = *id;
    return true;
}

/* The start of a goroutine: until 1.6 a PC, later a stack. */
bool version_start(version_converter *c, const emission *t, uint64_t *id)
{
    bool from_pc = gotrace_frame_values(c->from) == 1, to_pc = gotrace_frame_values(c->to) == 1;
    size_t count;
    *id = t->start;
    if (t->start == 0 || (from_pc && to_pc))
        return true;
    if (!from_pc && !to_pc && !t->start_outermost)
        return version_stack(c, t->start, id);
    refresh(c);
    uint64_t *known = idmap_find(&c->starts, t->start);
    if (known) {
        *id = *known;
        return true;
    }
    *id = 0;
    if (from_pc) {
        gotrace_frame frame = {.pc = t->start, .function = "", .file = ""};
        if (!make_stack(c, &frame, 1, id))
            return false;
    } else {
        if (!load_frames(c, t->start, &count))
            return false;
        const gotrace_frame *frame = count > 0 ? &c->frames[t->start_outermost ? count - 1 : 0]
                                               : NULL;
        if (frame && to_pc)
            *id = gotrace_frame_pc(frame);
        else if (frame && !make_stack(c, frame, 1, id))
            return false;
    }
    known = idmap_insert(&c->starts, t->start);
    if (!known)
        return version_no_memory(c);
    *known = *id;
    return true;
}
