#include "cmd/find/hit.h"

#include <inttypes.h>
#include <string.h>

#include "cmd/names.h"

/* Bytes of a message that are shown as text. */
enum { LONGEST_MESSAGE = 200 };

static void put_time(out *o, int64_t ns)
{
    out_printf(o, "%" PRId64 ".%09" PRId64 "s", ns / 1000000000, ns % 1000000000);
}

/* The same of the wall clock. A clock of a damaged trace may be anything. */
static void put_wall(out *o, const select_clock *clock, int64_t ns)
{
    out_wall_clock(o, (uint64_t)clock->seconds,
                   (uint64_t)clock->nanoseconds + (uint64_t)ns - (uint64_t)clock->time);
}

static void put_quoted(out *o, const char *text, size_t size)
{
    size_t shown = names_cut(text, size, LONGEST_MESSAGE);
    out_str(o, " \"");
    out_go_text(o, text, shown);
    out_str(o, shown < size ? "...\"" : "\"");
}

/* What a moment is: its kind, and what it is called or how high. */
static void put_what(out *o, const stacks *names, const moment *m)
{
    size_t size;
    const char *text;
    out_str(o, moment_name((moment_kind)m->kind));
    switch ((moment_kind)m->kind) {
    case MOMENT_TASK:
    case MOMENT_REGION: text = stacks_text(names, m->name, &size); break;
    case MOMENT_LOG: text = moment_message(names, m, &size); break;
    case MOMENT_GOROUTINES: out_printf(o, " %" PRIu64, m->value); return;
    case MOMENT_HEAP:
        out_printf(o, " %" PRIu64 ".%03" PRIu64 " MB", m->value / 1000000, m->value / 1000 % 1000);
        return;
    case MOMENT_RUN:
    case MOMENT_SCHED:
    case MOMENT_WAIT:
    case MOMENT_SYSCALL:
    case MOMENT_STW:
    case MOMENT_GC:
    case MOMENT_SILENCE:
    case MOMENT_KIND_COUNT: return;
    default: return;
    }
    put_quoted(o, text, size);
}

/* The name that is not in what a moment is: a reason, or the category of a log. */
static uint32_t reason_of(const moment *m)
{
    return m->kind == MOMENT_TASK || m->kind == MOMENT_REGION ? 0 : m->name;
}

/* A column has one unit, so that lines can be compared and sorted. */
void hit_text(out *o, const char *file, const select_clock *clock, const stacks *names,
              const moment *m)
{
    const int64_t ns = moment_duration(m);
    out_go_text(o, file, strlen(file));
    out_char(o, ':');
    if (clock)
        put_wall(o, clock, m->begin);
    else
        put_time(o, m->begin);
    out_printf(o, ": %5" PRId64 ".%06" PRId64 " ms%s, ", ns / 1000000, ns % 1000000,
               m->begun && m->ended ? "" : " or more");
    put_what(o, names, m);
    if (m->goroutine)
        out_printf(o, ", goroutine %" PRIu64, m->goroutine);
    if (m->function) {
        out_str(o, ", ");
        names_write(o, names, m->function);
    }
    names_write_label(o, names, m->label);
    if (m->stack) {
        out_str(o, ", ");
        names_write(o, names, stacks_frame_at(names, m->stack, 0)->function);
    }
    if (reason_of(m)) {
        out_str(o, " [");
        names_write(o, names, reason_of(m));
        out_char(o, ']');
    }
    out_char(o, '\n');
}

/* ---- JSON -------------------------------------------------------------------------------------
 */

static void put_name(out *o, const char *member, const stacks *names, uint32_t name)
{
    out_printf(o, ",\"%s\":", member);
    if (name)
        names_write_json(o, names, name);
    else
        out_str(o, "null");
}

static void put_id(out *o, const char *member, uint64_t id)
{
    out_printf(o, ",\"%s\":", member);
    if (id)
        out_json_u64(o, id);
    else
        out_str(o, "null");
}

/* The members that only some kinds have. */
static void put_own(out *o, const stacks *names, const moment *m)
{
    size_t size;
    const char *text;
    switch ((moment_kind)m->kind) {
    case MOMENT_RUN:
    case MOMENT_WAIT:
    case MOMENT_STW: put_name(o, "reason", names, m->name); break;
    case MOMENT_SCHED:
        put_name(o, "reason", names, m->name);
        put_id(o, "cause", m->cause);
        break;
    case MOMENT_TASK:
        put_name(o, "name", names, m->name);
        put_id(o, "task", m->id);
        break;
    case MOMENT_REGION: put_name(o, "name", names, m->name); break;
    case MOMENT_LOG:
        text = moment_message(names, m, &size);
        put_name(o, "category", names, m->name);
        out_str(o, ",\"message\":");
        out_json_string(o, text, size);
        break;
    case MOMENT_GOROUTINES:
    case MOMENT_HEAP:
        out_str(o, ",\"value\":");
        out_json_u64(o, m->value);
        break;
    case MOMENT_SYSCALL:
    case MOMENT_GC:
    case MOMENT_SILENCE:
    case MOMENT_KIND_COUNT: break;
    }
}

void hit_json(out *o, const char *file, const select_clock *clock, const stacks *names,
              const moment *m)
{
    out_str(o, "{\"kind\":\"moment\",\"file\":");
    out_json_string(o, file, strlen(file));
    out_printf(o,
               ",\"what\":\"%s\",\"begin\":%" PRId64 ",\"end\":%" PRId64 ",\"duration_ns\":%" PRId64
               ",\"begun\":%s,\"ended\":%s",
               moment_name((moment_kind)m->kind), m->begin, m->end, moment_duration(m),
               m->begun ? "true" : "false", m->ended ? "true" : "false");
    if (clock) {
        out_str(o, ",\"wall\":\"");
        put_wall(o, clock, m->begin);
        out_char(o, '"');
    }
    put_id(o, "goroutine", m->goroutine);
    put_name(o, "function", names, m->function);
    names_write_json_label(o, names, m->label);
    put_own(o, names, m);
    names_write_json_stack(o, names, m->stack);
    out_str(o, "}\n");
}
