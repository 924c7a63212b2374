/* head.c - the header of a script: its version, its level and, at level meaning, the clock. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "formats/script/meaning.h"

#define SECOND ((uint64_t)1000000000)

/* Members of the header other than the version. */
enum {
    LEVEL,
    FREQUENCY,
    START,
    TRACER,
    PROCS,
    EQUAL_TICKS,
    MONOTONIC,
    WALL_SECONDS,
    WALL_NANOSECONDS,
    NAMES
};

static const char *const names[NAMES] = {
    [LEVEL] = "level",
    [FREQUENCY] = "frequency",
    [START] = "start",
    [TRACER] = "tracer",
    [PROCS] = "procs",
    [EQUAL_TICKS] = "equal_ticks",
    [MONOTONIC] = "monotonic",
    [WALL_SECONDS] = "wall_seconds",
    [WALL_NANOSECONDS] = "wall_nanoseconds",
};

static bool is(script_token value, const char *word)
{
    return strlen(word) == value.size && memcmp(word, value.bytes, value.size) == 0;
}

/* Allocates the state of a script by meaning. */
static gotrace_status make(script_job *job)
{
    if (job->meaning)
        return GOTRACE_OK;
    void *made = NULL;
    size_t capacity = 0;
    gotrace_status status = script_grow(job, &made, &capacity, sizeof *job->meaning, 1);
    job->meaning = made;
    if (status == GOTRACE_OK) {
        *job->meaning = (script_meaning){.capacity = capacity};
        job->by_meaning = true;
        idmap_init(&job->meaning->threads, sizeof(int64_t));
        script_follow_init(&job->meaning->follow);
    }
    return status;
}

static gotrace_status set_level(script_job *job, uint64_t line, script_token value)
{
    job->by_meaning = !is(value, "raw");
    if (job->by_meaning && !is(value, "meaning"))
        return script_fail(job, line, "level: \"%s\" found, \"raw\" or \"meaning\" expected",
                           script_show(value.bytes, value.size).text);
    return GOTRACE_OK;
}

static gotrace_status set_tracer(script_job *job, uint64_t line, script_token value)
{
    for (size_t i = 0; script_tracer_name(i); i++)
        if (is(value, script_tracer_name(i))) {
            job->meaning->options.tracer = (gotrace_tracer)i;
            return GOTRACE_OK;
        }
    return script_fail(job, line, "tracer: \"%s\" found, \"go\", \"gccgo\" or \"go-2023\" expected",
                       script_show(value.bytes, value.size).text);
}

static gotrace_status set_equal_ticks(script_job *job, uint64_t line, script_token value)
{
    job->meaning->options.equal_ticks = is(value, "true");
    return is(value, "true") || is(value, "false")
               ? GOTRACE_OK
               : script_fail(job, line, "equal_ticks: \"%s\" found, true or false expected",
                             script_show(value.bytes, value.size).text);
}

static gotrace_status set_number(script_job *job, uint64_t line, size_t which, script_token value)
{
    script_meaning *m = job->meaning;
    gotrace_clocks *clocks = &m->options.clocks;
    uint64_t *const slots[NAMES] = {
        [FREQUENCY] = &m->options.frequency,
        [START] = &m->start,
        [PROCS] = &m->procs,
        [MONOTONIC] = &clocks->monotonic_ns,
        [WALL_SECONDS] = &clocks->wall_seconds,
        [WALL_NANOSECONDS] = &clocks->wall_nanoseconds,
    };
    m->has_clocks = m->has_clocks || which >= MONOTONIC;
    if (script_number(job, line, value.bytes, value.size, slots[which]) != GOTRACE_OK)
        return script_fail(job, line,
                           "%s: \"%s\" found, a whole number from 0 to 2^64 - 1 expected",
                           names[which], script_show(value.bytes, value.size).text);
    if (which == FREQUENCY && *slots[which] == 0)
        return script_fail(job, line, "frequency: 0 found, at least 1 tick per second expected");
    return GOTRACE_OK;
}

static gotrace_status fail_head_name(script_job *job, uint64_t line, const char *name, size_t size)
{
    const char *near = NULL;
    script_names list = {""};
    /* In text the version is not a member. */
    if (job->binary || job->column > 0)
        script_list(&list, "trace");
    for (size_t i = 0; i < NAMES; i++) {
        near = script_nearer_name(name, size, near, names[i]);
        script_list(&list, names[i]);
    }
    if (near)
        return script_fail(job, line, "a script's header has no \"%s\"; did you mean %s?",
                           script_show(name, size).text, near);
    return script_fail(job, line, "a script's header has no \"%s\"; its members are %s",
                       script_show(name, size).text, list.text);
}

gotrace_status script_head_value(script_job *job, uint64_t line, const char *name, size_t size,
                                 script_token value)
{
    size_t which = 0;
    while (which < NAMES && !is((script_token){name, size, false}, names[which]))
        which++;
    if (which == NAMES)
        return fail_head_name(job, line, name, size);
    if (make(job) != GOTRACE_OK)
        return GOTRACE_ERROR;
    script_meaning *m = job->meaning;
    unsigned bit = 1u << which;
    if (m->common_seen & bit)
        return script_fail(job, line, "%s is specified twice", names[which]);
    m->common_seen |= bit;
    if (which == LEVEL) {
        m->has_level = true;
        job->unreadable = set_level(job, line, value) != GOTRACE_OK;
        return job->unreadable ? GOTRACE_ERROR : GOTRACE_OK;
    }
    m->other = names[which];
    switch (which) {
    case TRACER: return set_tracer(job, line, value);
    case EQUAL_TICKS: return set_equal_ticks(job, line, value);
    default: return set_number(job, line, which, value);
    }
}

gotrace_status script_fail_head(script_job *job, uint64_t line)
{
    /* The version may be there under a wrong name, which was reported. */
    job->reported = job->errors > 0;
    return script_fail(job, line, "the script lacks \"trace\":\"go 1.N\"");
}

gotrace_status script_head_list(script_job *job, uint64_t line, bool is_events)
{
    if (is_events == job->by_meaning)
        return GOTRACE_OK;
    return script_fail(job, line,
                       is_events ? "\"events\" found, but no \"level\": \"meaning\" before it"
                                 : "\"records\" found, which a script of level raw has; a "
                                   "script of level meaning has \"events\"");
}

static gotrace_status end_head(script_job *job, uint64_t line)
{
    script_meaning *m = job->meaning;
    if (!m)
        return GOTRACE_OK;
    if (m->other && (!m->has_level || !job->by_meaning))
        return script_fail(job, line, "%s is specified, which only a script of level meaning has",
                           m->other);
    m->common_seen = 0;
    if (m->options.frequency == 0)
        m->options.frequency = SECOND;
    if (m->has_clocks)
        m->options.clocks.ticks = m->start;
    m->options.force = job->options.force;
    return GOTRACE_OK;
}

static gotrace_status fail_version(script_job *job, uint64_t line, uint64_t found)
{
    char known[128] = "";
    size_t count, used = 0;
    const int *versions = gotrace_versions(&count);
    for (size_t i = 0; i < count && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s1.%d",
                                 i == 0          ? ""
                                 : i + 1 < count ? ", "
                                                 : " and ",
                                 versions[i]);
    return script_fail(job, line, "go 1.%llu found; known trace versions are %s",
                       (unsigned long long)found, known);
}

gotrace_status script_version(script_job *job, uint64_t line, const char *number, size_t size)
{
    uint64_t minor = 0;
    job->unreadable = true;
    if (job->version != 0)
        return script_fail(job, line, "the version of the trace is specified twice");
    gotrace_status status = script_number(job, line, number, size, &minor);
    if (status != GOTRACE_OK)
        return status;
    int known = minor <= INT_MAX ? gotrace_release_version((int)minor) : 0;
    if (known == 0)
        return fail_version(job, line, minor);
    script_set_version(job, known);
    if (end_head(job, line) != GOTRACE_OK)
        return GOTRACE_ERROR;
    job->unreadable = false;
    if (job->by_meaning)
        return GOTRACE_OK;
    gotrace_error *error = script_error_of(job, GOTRACE_RULE_NONE, line);
    return gotrace_encoder_new(job->version, script_write, job, job->config, &job->encoder, error);
}

/* ---- numbers ------------------------------------------------------------------------------- */

gotrace_status script_signed(script_job *job, uint64_t line, const char *name, script_token value,
                             uint64_t *number)
{
    bool negative = value.size > 1 && value.bytes[0] == '-';
    bool ok = script_number(job, line, value.bytes + negative, value.size - negative, number) ==
              GOTRACE_OK;
    if (!ok || (negative && *number > INT64_MAX))
        return script_fail(job, line,
                           "%s: \"%s\" found, a whole number from -2^63 to 2^64 - 1 "
                           "expected",
                           name, script_show(value.bytes, value.size).text);
    if (negative)
        *number = 0 - *number;
    return GOTRACE_OK;
}

gotrace_status script_when(script_job *job, uint64_t line, const char *name, script_token value,
                           uint64_t *ticks)
{
    const script_meaning *m = job->meaning;
    script_time time;
    bool negative;
    if (!script_time_read(value.bytes, value.size, &time, &negative))
        return script_fail(job, line, "%s: \"%s\" found, nanoseconds (like 1500 or 0.25) expected",
                           name, script_show(value.bytes, value.size).text);
    bool fits = script_ticks_fit(time, m->options.frequency);
    uint64_t since = fits ? script_ticks(time, m->options.frequency) : 0;
    *ticks = negative ? m->start - since : m->start + since;
    if (!fits || (negative ? since > m->start : *ticks < since))
        return script_fail(job, line, "%s: %s ns is %s", name,
                           script_show(value.bytes, value.size).text,
                           negative ? "before tick 0 of the clock; \"start\" in the header sets "
                                      "the ticks at time 0"
                                    : "more than 2^64 ticks of the clock");
    return GOTRACE_OK;
}
