/*
 * tables.c - what versions call things: events, arguments and reasons; and the target's ids
 * of the source's strings and stacks.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/trace/version.h"

/* ---- events and their arguments ------------------------------------------------------------- */

static const char *const names[DO_COUNT][2] = {
#define VERSION_NAMES(id, v1, v2) [DO_##id] = {v1, v2},
    VERSION_EVENTS(VERSION_NAMES)
#undef VERSION_NAMES
};

/* The role of an argument, which is the n-th of its kind. */
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

static void set_roles(version_converter *c, unsigned what)
{
    const gotrace_arg_spec *args[GOTRACE_MAX_ARGS];
    size_t count = gotrace_writer_args(c->specs[what], c->to, args);
    unsigned seen[ROLE_START + 1] = {0};
    c->role_counts[what] = (uint8_t)count;
    for (size_t i = 0; i < count; i++) {
        uint8_t kind = role_of((gotrace_arg_kind)args[i]->kind, 0);
        c->roles[what][i] = role_of((gotrace_arg_kind)args[i]->kind, seen[kind]++);
    }
}

void version_tables(version_converter *c)
{
    bool from_v2 = version_is_v2(c->from), to_v2 = version_is_v2(c->to);
    memset(c->doing, DO_NONE, sizeof c->doing);
    for (unsigned what = 0; what < DO_COUNT; what++) {
        const char *name = names[what][from_v2];
        const gotrace_event_spec *spec = name ? gotrace_event_spec_named(c->from, name) : NULL;
        if (spec)
            c->doing[spec->code] = (uint8_t)what;
        name = names[what][to_v2];
        c->specs[what] = name ? gotrace_event_spec_named(c->to, name) : NULL;
        if (c->specs[what])
            set_roles(c, what);
    }
}

/* ---- reasons -------------------------------------------------------------------------------- */

/* v1 has an event a reason. These are also the words of Go 1.27's reader for v1's events. */
static const struct {
    unsigned what;
    const char *reason;
} blocks[] = {
    {DO_GO_BLOCK_SEND, "chan send"},
    {DO_GO_BLOCK_RECV, "chan receive"},
    {DO_GO_BLOCK_SELECT, "select"},
    {DO_GO_BLOCK_SYNC, "sync"},
    {DO_GO_BLOCK_COND, "sync.(*Cond).Wait"},
    {DO_GO_BLOCK_NET, "network"},
    {DO_GO_BLOCK_GC, "GC mark assist wait for work"},
    {DO_GO_SLEEP, "sleep"},
    {DO_GO_FOREVER, "forever"},
};
enum { BLOCKS = sizeof blocks / sizeof *blocks };

static bool has_reason(const char *reason)
{
    return reason && *reason && strcmp(reason, "unspecified") != 0;
}

unsigned version_v1_block(version_converter *c, const char *reason)
{
    for (size_t i = 0; reason && i < BLOCKS; i++)
        if (c->specs[blocks[i].what] && strcmp(reason, blocks[i].reason) == 0)
            return blocks[i].what;
    if (has_reason(reason))
        version_lose(c, LOST_WAIT_REASONS);
    return DO_GO_BLOCK;
}

unsigned version_v1_yield(version_converter *c, const char *reason)
{
    if (reason && strcmp(reason, "preempted") == 0)
        return DO_GO_PREEMPT;
    if (has_reason(reason) && strcmp(reason, "runtime.Gosched") != 0)
        version_lose(c, LOST_YIELD_REASONS);
    return DO_GO_SCHED;
}

const char *version_v2_reason(unsigned doing)
{
    for (size_t i = 0; i < BLOCKS; i++)
        if (blocks[i].what == doing)
            return blocks[i].reason;
    return doing == DO_GO_SCHED ? "runtime.Gosched" : doing == DO_GO_PREEMPT ? "preempted" : "";
}

/* Since 1.21 there are many kinds of stops, of which 0 is an unknown one. Until 1.20 there are two,
 * here in the order of their numbers. */
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

/* The kind of 1.21 that a reason tells of. */
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

/* Ids are valid within a generation, on both sides. */
static void refresh(version_converter *c)
{
    uint64_t target = gotrace_writer_generation(c->writer);
    if (c->e->generation == c->source_generation && target == c->target_generation)
        return;
    c->source_generation = c->e->generation;
    c->target_generation = target;
    idmap_free(&c->stacks);
    idmap_free(&c->starts);
}

bool version_text(version_converter *c, int64_t proc, const char *bytes, size_t size, uint64_t *id)
{
    enum { V2_LONGEST = 1024 };
    *id = 0;
    /* Only in a damaged trace; the event that says it is going to be refused. */
    if (proc == GOTRACE_NO_PROC && !version_is_v2(c->to))
        return true;
    if (size > V2_LONGEST && version_is_v2(c->to))
        version_lose(c, LOST_STRING_ENDS);
    return gotrace_writer_string(c->writer, proc, bytes, size, id) >= 0 ||
           version_fail(c, gotrace_writer_error(c->writer));
}

static bool load_frames(version_converter *c, uint64_t source, size_t *count)
{
    size_t depth = gotrace_reader_stack_depth(c->reader, source);
    if (depth > c->frame_capacity) {
        gotrace_frame *more = realloc(c->frames, depth * sizeof *more);
        if (!more)
            return version_no_memory(c);
        c->frames = more;
        c->frame_capacity = depth;
    }
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

/* Where a goroutine starts: until 1.6 a PC. */
bool version_start(version_converter *c, const telling *t, uint64_t *id)
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
