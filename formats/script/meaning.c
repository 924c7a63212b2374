/*
 * meaning.c - converts events of level meaning to input of the library's writer: names to rows of
 * the event table, and strings and stacks to ids.
 */
#include "formats/script/meaning.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/rows_by_meaning.h"

static const char *const common_names[SCRIPT_COMMON] = {
    [SCRIPT_ON_P] = "on_p",
    [SCRIPT_ON_M] = "on_m",
    [SCRIPT_ON_G] = "on_g",
    [SCRIPT_T] = "t",
    [SCRIPT_TICKS] = "ticks",
    [SCRIPT_CLOCK_T] = "clock_t",
    [SCRIPT_CLOCK_TICKS] = "clock_ticks",
    [SCRIPT_MONOTONIC] = "monotonic",
    [SCRIPT_WALL_SECONDS] = "wall_seconds",
    [SCRIPT_WALL_NANOSECONDS] = "wall_nanoseconds",
};

enum { STATES = 5 };
static const char *const goroutine_states[STATES] = {NULL, "runnable", "running", "syscall",
                                                     "waiting"};
static const char *const proc_states[STATES] = {NULL, "running", "idle", "syscall", "abandoned"};

const char *script_state_name(bool of_goroutine, uint64_t number)
{
    return number >= STATES ? NULL : (of_goroutine ? goroutine_states : proc_states)[number];
}

const char *script_tracer_name(size_t tracer)
{
    static const char *const names[] = {
        [GOTRACE_TRACER_GO] = "go",
        [GOTRACE_TRACER_GCCGO] = "gccgo",
        [GOTRACE_TRACER_GO_2023] = "go-2023",
    };
    return tracer < sizeof names / sizeof *names ? names[tracer] : NULL;
}

static bool is_name(const char *name, const char *s, size_t size)
{
    return strlen(name) == size && memcmp(name, s, size) == 0;
}

static const char *name_of(const script_meaning *m)
{
    return m->spec ? m->spec->name : "Sync";
}

/* ---- event names ----------------------------------------------------------------------------- */

/* Determines the values to pass to the writer: the event's arguments and its stack. */
static void set_spec(script_job *job, const gotrace_event_spec *spec)
{
    script_meaning *m = job->meaning;
    const gotrace_arg_spec *all[GOTRACE_MAX_ARGS];
    m->spec = spec;
    m->stack = NULL;
    m->arg_count = gotrace_writer_args(spec, job->version, m->args);
    size_t count = gotrace_event_args(spec, job->version, all);
    if (count > 0 && all[count - 1]->kind == GOTRACE_ARG_STACK)
        m->stack = all[count - 1];
}

/* Whether scripts may contain this event; other records are added by the writer. */
static bool is_user_event(const gotrace_event_spec *spec)
{
    return spec->flags & (GOTRACE_SPEC_TIMED | GOTRACE_SPEC_ANYWHERE);
}

gotrace_status script_event_begin(script_job *job, uint64_t line, const char *name, size_t size)
{
    script_meaning *m = job->meaning;
    script_record_reset(job, line);
    job->data_limit = SCRIPT_TEXT_MAX;
    m->line = line;
    m->seen = m->common_seen = 0;
    m->has_data = false;
    m->text_counts[0] = m->text_counts[1] = 0;
    m->arg_count = 0;
    m->stack = NULL;
    m->spec = NULL;
    m->open = true;
    m->raw_record = false;
    m->unknown = !is_name("Sync", name, size);
    script_follow_start(&m->follow, NULL);
    if (!m->unknown)
        return GOTRACE_OK;
    if (script_record_name(job, name, size) != GOTRACE_OK)
        return GOTRACE_ERROR;
    const gotrace_event_spec *spec = job->record.shape->spec;
    if (!is_user_event(spec))
        return script_fail(job, line,
                           "%s is not an event of level meaning: synth writes it itself; \"raw "
                           "%s\" adds such a record",
                           spec->name, spec->name);
    m->unknown = false;
    set_spec(job, spec);
    return GOTRACE_OK;
}

/* ---- values ---------------------------------------------------------------------------------- */

static gotrace_status fail_value(script_job *job, uint64_t line, const char *name,
                                 script_token value, const char *expected)
{
    return script_fail(job, line, "%s: %s: %s%s%s found, %s expected", name_of(job->meaning), name,
                       value.quoted ? "\"" : "", script_show(value.bytes, value.size).text,
                       value.quoted ? "\"" : "", expected);
}

/* Puts the event's name before the message. */
static gotrace_status prepend_event_name(script_job *job)
{
    gotrace_error *error = &job->error.error;
    const char *name = name_of(job->meaning);
    if (error->class_ != GOTRACE_CLASS_SYSTEM && strncmp(error->message, name, strlen(name)) != 0)
        script_prepend(error, "%s: ", name);
    return GOTRACE_ERROR;
}

static gotrace_status take_string(script_job *job, uint64_t line, const char *name,
                                  script_token value, script_span *span)
{
    if (!value.quoted)
        return fail_value(job, line, name, value, "a string in double quotes");
    *span = (script_span){job->record.data_size - value.size, value.size};
    if (value.size > job->string_limit)
        return script_fail(job, line, "%s: %s: a string of more than %llu bytes",
                           name_of(job->meaning), name, (unsigned long long)job->string_limit);
    return GOTRACE_OK;
}

/* Adds a frame to a stack: the event's own (0) or the one where a goroutine starts (1). */
static gotrace_status take_frame(script_job *job, uint64_t line, const char *name,
                                 script_token value, unsigned which)
{
    script_meaning *m = job->meaning;
    if (m->text_counts[which] >= job->frame_limit)
        return script_fail(job, line, "%s: %s: a stack of more than %llu frames", name_of(m), name,
                           (unsigned long long)job->frame_limit);
    void *texts = m->texts[which];
    gotrace_status status = script_grow(job, &texts, &m->text_capacities[which],
                                        m->text_counts[which] + 1, sizeof **m->texts);
    m->texts[which] = texts;
    if (status != GOTRACE_OK)
        return status;
    return take_string(job, line, name, value, &m->texts[which][m->text_counts[which]++]);
}

/* A state by name or number. */
static gotrace_status take_state(script_job *job, uint64_t line, const gotrace_arg_spec *arg,
                                 script_token value, uint64_t *state)
{
    bool of_goroutine = arg->kind == GOTRACE_ARG_GSTATUS;
    for (*state = 1; script_state_name(of_goroutine, *state); ++*state)
        if (is_name(script_state_name(of_goroutine, *state), value.bytes, value.size))
            return GOTRACE_OK;
    if (script_number(job, line, value.bytes, value.size, state) == GOTRACE_OK)
        return GOTRACE_OK;
    return fail_value(job, line, arg->name, value,
                      of_goroutine ? "runnable, running, syscall or waiting"
                                   : "running, idle, syscall or abandoned");
}

static gotrace_status take_arg(script_job *job, uint64_t line, size_t i, script_token value)
{
    script_meaning *m = job->meaning;
    const gotrace_arg_spec *arg = m->args[i];
    bool again = m->seen & 1u << i;
    m->seen |= 1u << i;
    /* The frames of a stack come one by one. */
    if (arg->kind == GOTRACE_ARG_START)
        return take_frame(job, line, arg->name, value, 1);
    if (again)
        return script_fail(job, line, "%s has its argument %s twice", name_of(m), arg->name);
    gotrace_status status = GOTRACE_OK;
    switch ((gotrace_arg_kind)arg->kind) {
    case GOTRACE_ARG_STRING: return take_string(job, line, arg->name, value, &m->strings[i]);
    case GOTRACE_ARG_PSTATUS:
    case GOTRACE_ARG_GSTATUS: return take_state(job, line, arg, value, &m->values[i]);
    case GOTRACE_ARG_PROC:
    case GOTRACE_ARG_THREAD:
        status = script_signed(job, line, arg->name, value, &m->values[i]);
        if (status != GOTRACE_OK)
            prepend_event_name(job);
        break;
    default:
        status = script_number(job, line, value.bytes, value.size, &m->values[i]);
        if (status != GOTRACE_OK)
            fail_value(job, line, arg->name, value,
                       "a whole number from 0 to 18446744073709551615");
    }
    if (status != GOTRACE_OK)
        m->seen &= ~(1u << i); /* the id is unknown */
    return status;
}

static gotrace_status take_common(script_job *job, uint64_t line, size_t which, script_token value)
{
    script_meaning *m = job->meaning;
    const char *name = common_names[which];
    uint64_t *slot = &m->common[which];
    if (m->common_seen & 1u << which)
        return script_fail(job, line, "%s has %s twice", name_of(m), name);
    m->common_seen |= 1u << which;
    gotrace_status status = which == SCRIPT_T || which == SCRIPT_CLOCK_T
                                ? script_when(job, line, name, value, slot)
                            : which <= SCRIPT_ON_M
                                ? script_signed(job, line, name, value, slot)
                                : script_number(job, line, value.bytes, value.size, slot);
    return status == GOTRACE_OK ? status : prepend_event_name(job);
}

/* Index of a common value. It has a short name unless an argument of the event has that name. */
static size_t common_named(const script_meaning *m, const char *name, size_t size)
{
    bool is_sync = !m->spec && !m->unknown;
    size_t first = is_sync ? SCRIPT_T : SCRIPT_ON_P;
    size_t end = is_sync ? SCRIPT_COMMON : SCRIPT_CLOCK_T;
    if (!is_sync && size == 1)
        for (size_t i = 0; i <= SCRIPT_ON_G; i++)
            if (common_names[i][3] == *name)
                return i;
    for (size_t i = first; i < end; i++)
        if (is_name(common_names[i], name, size))
            return i;
    return SCRIPT_COMMON;
}

static gotrace_status fail_name(script_job *job, uint64_t line, const char *name, size_t size)
{
    const script_meaning *m = job->meaning;
    script_shown shown = script_show(name, size);
    script_names list = {""};
    for (size_t i = 0; i < m->arg_count; i++)
        if (m->args[i]->kind != GOTRACE_ARG_TICKS)
            script_list(&list, m->args[i]->name);
    if (m->stack)
        script_list(&list, m->stack->name);
    if (m->spec && m->spec->flags & GOTRACE_SPEC_DATA)
        script_list(&list, "data");
    for (size_t i = SCRIPT_T; i < SCRIPT_COMMON && !m->spec; i++)
        script_list(&list, common_names[i]);
    if (!*list.text)
        return script_fail(job, line, "%s has no argument \"%s\"; it has only t, p, m and g",
                           name_of(m), shown.text);
    /* A script that mixes the levels. */
    for (size_t i = 0; m->spec && i < job->record.shape->arg_count; i++)
        if (is_name(job->record.shape->args[i]->name, name, size))
            return script_fail(job, line,
                               "%s has no argument \"%s\" at level meaning, where t is the time "
                               "and synth numbers events; %s%s",
                               name_of(m), shown.text, script_arguments_are(&list), list.text);
    return script_fail(job, line, "%s has no argument \"%s\"; %s%s", name_of(m), shown.text,
                       script_arguments_are(&list), list.text);
}

/* A value of an unknown event: a number may be an id. */
static void doubt_value(script_job *job, const char *name, size_t size, script_token value)
{
    script_meaning *m = job->meaning;
    size_t common = common_named(m, name, size);
    script_error error = job->error;
    uint64_t id;
    if (common <= SCRIPT_ON_G) {
        if (script_signed(job, m->line, "", value, &m->common[common]) == GOTRACE_OK)
            m->common_seen |= 1u << common;
    } else if (common < SCRIPT_COMMON) {
        m->common_seen |= 1u << common;
    } else if (script_number(job, m->line, value.bytes, value.size, &id) == GOTRACE_OK) {
        script_doubt_id(&m->follow, DOUBT_GOROUTINE, id);
        script_doubt_id(&m->follow, DOUBT_TASK, id);
    }
    job->error = error;
}

gotrace_status script_event_value(script_job *job, uint64_t line, const char *name, size_t size,
                                  script_token value)
{
    script_meaning *m = job->meaning;
    if (m->unknown)
        return doubt_value(job, name, size, value), GOTRACE_OK;
    for (size_t i = 0; i < m->arg_count; i++)
        if (m->args[i]->kind != GOTRACE_ARG_TICKS && is_name(m->args[i]->name, name, size))
            return take_arg(job, line, i, value);
    if (m->stack && is_name(m->stack->name, name, size))
        return take_frame(job, line, m->stack->name, value, 0);
    if (m->spec && m->spec->flags & GOTRACE_SPEC_DATA && is_name("data", name, size)) {
        if (m->has_data)
            return script_fail(job, line, "%s has its data twice", name_of(m));
        m->has_data = true;
        return take_string(job, line, "data", value, &m->data);
    }
    size_t common = common_named(m, name, size);
    return common < SCRIPT_COMMON ? take_common(job, line, common, value)
                                  : fail_name(job, line, name, size);
}

gotrace_status script_event_frames(script_job *job, uint64_t line, const char *name, size_t size)
{
    const script_meaning *m = job->meaning;
    if (m->unknown)
        return GOTRACE_OK;
    bool known = common_named(m, name, size) < SCRIPT_COMMON || is_name("data", name, size);
    const size_t *given = NULL;
    if (m->stack && is_name(m->stack->name, name, size))
        given = &m->text_counts[0];
    for (size_t i = 0; i < m->arg_count && !given; i++) {
        bool named = is_name(m->args[i]->name, name, size);
        if (named && m->args[i]->kind == GOTRACE_ARG_START)
            given = &m->text_counts[1];
        known = known || named;
    }
    if (!given && known)
        return script_fail(job, line, "%s: %s: an array found, which only a stack is", name_of(m),
                           script_show(name, size).text);
    if (!given)
        return fail_name(job, line, name, size);
    if (*given > 0)
        return script_fail(job, line, "%s has its argument %s twice", name_of(m),
                           script_show(name, size).text);
    return GOTRACE_OK;
}

/* ---- missing values -------------------------------------------------------------------------- */

static bool has(const script_meaning *m, unsigned common)
{
    return m->common_seen & 1u << common;
}

/* Whether an argument is optional; its default is 0 or none. */
static bool is_optional(const script_meaning *m, size_t i)
{
    const gotrace_semantics *s = m->spec->semantics;
    switch ((gotrace_arg_kind)m->args[i]->kind) {
    case GOTRACE_ARG_TICKS:
    case GOTRACE_ARG_STRING:
    case GOTRACE_ARG_START: return true;
    /* The thread that loses the proc is required. */
    case GOTRACE_ARG_THREAD: return !row_is(s->proc, GOTRACE_STATE_SYSCALL, GOTRACE_STATE_IDLE);
    case GOTRACE_ARG_PROC:
    case GOTRACE_ARG_GOROUTINE: return s->kind == GOTRACE_KIND_SAMPLE;
    /* A region, log or task need not belong to a task. */
    case GOTRACE_ARG_TASK:
        return i > 0 || (s->kind != GOTRACE_KIND_TASK_BEGIN && s->kind != GOTRACE_KIND_TASK_END);
    default: return false;
    }
}

/* Sets the missing values. */
static gotrace_status complete(script_job *job, const gotrace_event_data *h)
{
    script_meaning *m = job->meaning;
    for (size_t i = 0; i < m->arg_count; i++) {
        uint8_t kind = m->args[i]->kind;
        if (m->seen & 1u << i)
            continue;
        if (!is_optional(m, i))
            return script_fail(job, m->line, "%s lacks its argument %s", name_of(m),
                               m->args[i]->name);
        m->values[i] = kind == GOTRACE_ARG_PROC || kind == GOTRACE_ARG_THREAD ? UINT64_MAX : 0;
        m->strings[i] = (script_span){0, 0};
        /* Up to 1.21 a proc start has a thread; its default is the number of the proc. */
        if (job->version < GOTRACE_FIRST_V2 && kind == GOTRACE_ARG_THREAD)
            m->values[i] = has(m, SCRIPT_ON_M) ? m->common[SCRIPT_ON_M] : (uint64_t)h->proc;
        /* A sample, and the end of a system call that found no proc, have a time argument. */
        bool sample = m->spec->semantics->kind == GOTRACE_KIND_SAMPLE;
        if (kind == GOTRACE_ARG_TICKS && (h->proc == GOTRACE_NO_PROC || sample))
            m->values[i] = m->now;
    }
    return GOTRACE_OK;
}

/* v2: the default thread of a proc is the one that had it last, or a new one. */
static gotrace_status choose_thread(script_job *job, gotrace_event_data *h, int64_t proc)
{
    script_meaning *m = job->meaning;
    bool given = h->thread != GOTRACE_NO_THREAD;
    int64_t *last = proc < 0 ? NULL : idmap_find(&m->threads, (uint64_t)proc);
    if (proc < 0 || (last && given && *last == h->thread))
        return GOTRACE_OK;
    if (!given) {
        h->thread = last ? *last : proc;
        return GOTRACE_OK;
    }
    last = idmap_insert(&m->threads, (uint64_t)proc);
    if (!last)
        return script_fail_system(job, GOTRACE_RULE_SYSTEM_MEMORY, "out of memory");
    *last = h->thread;
    return GOTRACE_OK;
}

/* The context of the event. Default: proc 0 if the event requires a proc. */
static gotrace_status place(script_job *job, gotrace_event_data *h)
{
    script_meaning *m = job->meaning;
    bool v2 = job->version >= GOTRACE_FIRST_V2;
    bool elsewhere = (m->spec && m->spec->flags & GOTRACE_SPEC_ANYWHERE) ||
                     (v2 && has(m, SCRIPT_ON_M));
    bool starts = v2 && m->spec && m->spec->semantics->resource == GOTRACE_RESOURCE_PROC &&
                  m->spec->semantics->proc.to == GOTRACE_STATE_RUNNING;
    h->proc = has(m, SCRIPT_ON_P)   ? (int64_t)m->common[SCRIPT_ON_P]
              : elsewhere || starts ? GOTRACE_NO_PROC
                                    : 0;
    h->thread = has(m, SCRIPT_ON_M) ? (int64_t)m->common[SCRIPT_ON_M] : GOTRACE_NO_THREAD;
    h->goroutine = has(m, SCRIPT_ON_G) ? m->common[SCRIPT_ON_G] : 0;
    if (!v2)
        return GOTRACE_OK;
    if (h->proc < 0)
        h->proc = GOTRACE_NO_PROC;
    if (h->thread < 0)
        h->thread = GOTRACE_NO_THREAD;
    return choose_thread(job, h, starts ? (int64_t)m->values[0] : h->proc);
}

/* ---- output to the writer -------------------------------------------------------------------- */

/* Converts the writer's error. */
static gotrace_status refused(script_job *job)
{
    script_meaning *m = job->meaning;
    script_fail_as(job, m->line, gotrace_writer_error(m->writer));
    script_follow_explain(job, &m->follow, &job->error.error);
    return prepend_event_name(job);
}

/* Writes an event. If the writer refuses it, reports the error, unless it follows from an earlier
 * one, and then forces the event, so that later events are checked against what the script says. */
static gotrace_status write_event(script_job *job, const gotrace_event_data *h)
{
    script_meaning *m = job->meaning;
    gotrace_status status = gotrace_writer_event(m->writer, h);
    if (status != GOTRACE_OK) {
        refused(job);
        if (!job->options.report || job->error.error.class_ == GOTRACE_CLASS_SYSTEM)
            return GOTRACE_ERROR;
        if (!script_in_doubt(job, &m->follow, h) && script_recover(job) != GOTRACE_OK)
            return GOTRACE_ERROR;
        script_doubt_event(job, &m->follow, h, false);
        gotrace_writer_force(m->writer, true);
        status = gotrace_writer_event(m->writer, h);
        gotrace_writer_force(m->writer, job->options.force);
        if (status != GOTRACE_OK) {
            refused(job);
            m->follow.all_in_doubt = true;
        }
        if (job->error.error.class_ == GOTRACE_CLASS_SYSTEM)
            return GOTRACE_ERROR;
    }
    if (!script_follow_event(job, &m->follow, h, m->line))
        return script_fail_system(job, GOTRACE_RULE_SYSTEM_MEMORY, "out of memory");
    return GOTRACE_OK;
}

static bool write_without_header(void *ctx, const void *bytes, size_t size)
{
    enum { HEADER = 16 };
    script_job *job = ctx;
    size_t left = HEADER - job->meaning->raw_dropped, drop = size < left ? size : left;
    job->meaning->raw_dropped += drop;
    return size == drop || script_write(job, (const char *)bytes + drop, size - drop);
}

/* Raw records are written to the file before any event. */
static gotrace_status end_raw(script_job *job)
{
    script_meaning *m = job->meaning;
    gotrace_status status = GOTRACE_OK;
    if (!job->encoder)
        return status;
    if (gotrace_encoder_finish(job->encoder) != GOTRACE_OK)
        status = script_fail_as(job, m->line, gotrace_encoder_error(job->encoder));
    gotrace_encoder_free(job->encoder);
    job->encoder = NULL;
    return status;
}

/* Creates the writer. This is delayed until the first event, when it is known whether the script
 * has generations of its own. */
static gotrace_status begin(script_job *job)
{
    script_meaning *m = job->meaning;
    if (m->writer)
        return GOTRACE_OK;
    if (job->version < GOTRACE_FIRST_V2 && m->options.frequency > INT64_MAX)
        return script_fail(job, m->line,
                           "frequency: %" PRIu64
                           " found, at most 2^63 - 1 ticks per second expected "
                           "up to 1.21",
                           m->options.frequency);
    gotrace_error *error = script_error_of(job, GOTRACE_RULE_NONE, m->line);
    return gotrace_writer_new(job->version, &m->options, script_write, job, job->config, &m->writer,
                              error);
}

gotrace_status script_event_raw(script_job *job, uint64_t line)
{
    script_meaning *m = job->meaning;
    m->line = line;
    m->raw_record = true;
    job->data_limit = job->string_limit;
    if (begin(job) != GOTRACE_OK)
        return GOTRACE_ERROR;
    if (job->encoder)
        return GOTRACE_OK;
    m->raw_dropped = 0;
    gotrace_error *error = script_error_of(job, GOTRACE_RULE_NONE, line);
    return gotrace_encoder_new(job->version, write_without_header, job, job->config, &job->encoder,
                               error);
}

/* The writer's message has ticks and no line; replaces it by one in terms of the script. */
static void fail_time_order(script_job *job)
{
    const script_meaning *m = job->meaning;
    gotrace_error *error = &job->error.error;
    int size = snprintf(error->message, sizeof error->message,
                        "%s: time runs back by %" PRIu64 " ns from the event at ", name_of(m),
                        script_ns(m->latest - m->now, m->options.frequency));
    snprintf(error->message + size, sizeof error->message - (size_t)size,
             job->binary ? "byte 0x%" PRIx64 "; events must be in order of time"
                         : "line %" PRIu64 "; events must be in order of time",
             m->follow.latest_line);
}

/* Determines the event's time. */
static gotrace_status set_time(script_job *job)
{
    script_meaning *m = job->meaning;
    bool ns = has(m, SCRIPT_T);
    if (ns == has(m, SCRIPT_TICKS))
        return script_fail(job, m->line, ns ? "%s has both t and ticks" : "%s lacks its time t",
                           name_of(m));
    m->now = m->common[ns ? SCRIPT_T : SCRIPT_TICKS] + m->time_shift;
    return GOTRACE_OK;
}

/* Sets the writer's time. If it decreases, shifts all later times, so that the error is reported
 * once. */
static gotrace_status write_time(script_job *job)
{
    script_meaning *m = job->meaning;
    if (gotrace_writer_at(m->writer, m->now) != GOTRACE_OK) {
        bool order = gotrace_writer_error(m->writer)->rule == GOTRACE_RULE_TIME_ORDER;
        refused(job);
        if (order)
            fail_time_order(job);
        if (!order || script_recover(job) != GOTRACE_OK)
            return GOTRACE_ERROR;
        m->time_shift += m->latest - m->now;
        m->now = m->latest;
        return GOTRACE_OK;
    }
    m->latest = m->now;
    return GOTRACE_OK;
}

static bool sync_clocks(const script_meaning *m, gotrace_clocks *clocks)
{
    bool ticks = has(m, SCRIPT_CLOCK_TICKS), given = has(m, SCRIPT_MONOTONIC);
    *clocks = (gotrace_clocks){
        .ticks = ticks                    ? m->common[SCRIPT_CLOCK_TICKS]
                 : has(m, SCRIPT_CLOCK_T) ? m->common[SCRIPT_CLOCK_T]
                                          : m->now,
        .monotonic_ns = given ? m->common[SCRIPT_MONOTONIC] : 0,
        .wall_seconds = has(m, SCRIPT_WALL_SECONDS) ? m->common[SCRIPT_WALL_SECONDS] : 0,
        .wall_nanoseconds = has(m, SCRIPT_WALL_NANOSECONDS) ? m->common[SCRIPT_WALL_NANOSECONDS]
                                                            : 0,
    };
    return given;
}

/* Begins a generation. A script with a Sync before its first event determines all generations. */
static gotrace_status end_sync(script_job *job)
{
    script_meaning *m = job->meaning;
    gotrace_clocks clocks;
    bool given = sync_clocks(m, &clocks);
    if (job->version < GOTRACE_FIRST_V2)
        return script_fail(job, m->line, "Sync begins a generation, which go 1.%d does not have",
                           job->version);
    if (!m->writer)
        m->options.generation_ticks = UINT64_MAX;
    if (begin(job) != GOTRACE_OK)
        return GOTRACE_ERROR;
    if (write_time(job) != GOTRACE_OK)
        return GOTRACE_ERROR;
    m->follow.latest_line = m->line;
    return gotrace_writer_advance(m->writer, given ? &clocks : NULL) == GOTRACE_OK ? GOTRACE_OK
                                                                                   : refused(job);
}

/* The id of a stack whose frames were added one by one. */
static gotrace_status make_stack(script_job *job, unsigned which, uint64_t *id)
{
    script_meaning *m = job->meaning;
    size_t count = m->text_counts[which];
    *id = 0;
    if (count == 0)
        return GOTRACE_OK;
    void *frames = m->frames;
    gotrace_status status = script_grow(job, &frames, &m->frame_capacity, count, sizeof *m->frames);
    m->frames = frames;
    for (size_t i = 0; i < count && status == GOTRACE_OK; i++) {
        script_span span = m->texts[which][i];
        char none[] = "", *given = span.size > 0 ? job->record.data + span.at : none;
        status = script_frame_read(job, m->line, given, span.size, &m->frames[i]);
        if (status != GOTRACE_OK)
            return prepend_event_name(job);
    }
    if (status != GOTRACE_OK)
        return status;
    if (which == 1)
        script_follow_start(&m->follow, &m->frames[0]);
    /* Until 1.6 the start of a goroutine is a program counter. */
    if (which == 1 && job->version < 7) {
        *id = gotrace_frame_pc(&m->frames[0]);
        return GOTRACE_OK;
    }
    return gotrace_writer_stack(m->writer, m->frames, count, id) == GOTRACE_OK ? GOTRACE_OK
                                                                               : refused(job);
}

/* The bytes of a span. record.data may be NULL if all spans are empty. */
static const char *span_bytes(const script_job *job, script_span span)
{
    return span.size > 0 ? job->record.data + span.at : "";
}

/* Gets ids for the strings and stacks of the event. */
static gotrace_status make_ids(script_job *job, gotrace_event_data *h)
{
    script_meaning *m = job->meaning;
    for (size_t i = 0; i < m->arg_count; i++) {
        if (m->args[i]->kind == GOTRACE_ARG_START) {
            if (make_stack(job, 1, &m->values[i]) != GOTRACE_OK)
                return GOTRACE_ERROR;
        } else if (m->args[i]->kind == GOTRACE_ARG_STRING) {
            script_span span = m->strings[i];
            if (gotrace_writer_string(m->writer, h->proc, span_bytes(job, span), span.size,
                                      &m->values[i]) != GOTRACE_OK)
                return refused(job);
        }
    }
    return make_stack(job, 0, &h->stack);
}

/* Writes the header's GOMAXPROCS before the first event that has a proc. */
static gotrace_status write_procs(script_job *job, const gotrace_event_data *event)
{
    script_meaning *m = job->meaning;
    if (m->procs == 0 || event->proc == GOTRACE_NO_PROC)
        return GOTRACE_OK;
    gotrace_event_data h = *event;
    const uint64_t procs = m->procs;
    h.spec = row_of_metric(job->version, GOTRACE_METRIC_GOMAXPROCS);
    h.args = &procs;
    h.arg_count = 1;
    m->procs = 0;
    return write_event(job, &h);
}

static gotrace_status end_event(script_job *job)
{
    script_meaning *m = job->meaning;
    gotrace_event_data h = {.spec = m->spec, .args = m->values, .arg_count = m->arg_count};
    if (end_raw(job) != GOTRACE_OK || set_time(job) != GOTRACE_OK)
        return GOTRACE_ERROR;
    if (!m->spec)
        return end_sync(job);
    if (place(job, &h) != GOTRACE_OK || complete(job, &h) != GOTRACE_OK || begin(job) != GOTRACE_OK)
        return GOTRACE_ERROR;
    if (write_time(job) != GOTRACE_OK)
        return GOTRACE_ERROR;
    if (write_procs(job, &h) != GOTRACE_OK || make_ids(job, &h) != GOTRACE_OK)
        return GOTRACE_ERROR;
    if (m->has_data) {
        h.data = span_bytes(job, m->data);
        h.data_size = m->data.size;
    }
    if (write_event(job, &h) != GOTRACE_OK)
        return GOTRACE_ERROR;
    job->events++;
    return GOTRACE_OK;
}

/* Omits an event with an error, and marks its ids as doubtful. */
static void omit_event(script_job *job)
{
    script_meaning *m = job->meaning;
    gotrace_event_data h = {.spec = m->spec, .args = m->values, .arg_count = m->arg_count};
    if ((!m->spec && !m->unknown) || place(job, &h) != GOTRACE_OK)
        return;
    for (size_t i = 0; i < m->arg_count; i++) {
        bool seen = m->seen & 1u << i;
        bool is_subject = m->args[i]->kind == GOTRACE_ARG_GOROUTINE ||
                          m->args[i]->kind == GOTRACE_ARG_TASK;
        /* The subject is unknown, so any id may be affected. */
        if (!seen && is_subject && !is_optional(m, i))
            m->follow.all_in_doubt = true;
        if (!seen)
            m->values[i] = 0;
    }
    script_doubt_event(job, &m->follow, &h, true);
}

gotrace_status script_event_end(script_job *job)
{
    script_meaning *m = job->meaning;
    m->open = false;
    job->doubts_recorded = true;
    bool left_out = job->faulty;
    gotrace_status status = GOTRACE_OK;
    if (!left_out) {
        status = end_event(job);
        left_out = status != GOTRACE_OK;
    }
    if (left_out && job->options.report)
        omit_event(job);
    return status;
}

void script_event_skip(script_job *job)
{
    script_meaning *m = job->meaning;
    if (!script_is_event(job) || job->doubts_recorded)
        return;
    if (m->open && !m->unknown)
        script_event_end(job);
    else
        m->follow.all_in_doubt = true;
    m->open = false;
}

gotrace_status script_meaning_finish(script_job *job)
{
    script_meaning *m = job->meaning;
    if (end_raw(job) != GOTRACE_OK || begin(job) != GOTRACE_OK)
        return GOTRACE_ERROR;
    if (gotrace_writer_finish(m->writer) == GOTRACE_OK)
        return GOTRACE_OK;
    return script_fail_as(job, job->in.line, gotrace_writer_error(m->writer));
}

void script_meaning_free(script_job *job)
{
    script_meaning *m = job->meaning;
    if (!m)
        return;
    gotrace_writer_free(m->writer);
    script_follow_free(&m->follow);
    idmap_free(&m->threads);
    for (unsigned i = 0; i < 2; i++)
        script_release(job, m->texts[i], m->text_capacities[i], sizeof **m->texts);
    script_release(job, m->frames, m->frame_capacity, sizeof *m->frames);
    script_release(job, m, m->capacity, 1);
    job->meaning = NULL;
}
