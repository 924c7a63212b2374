/* pprof.c - a protocol buffer as `go tool pprof` reads it (profile.proto of google/pprof). */
#include <errno.h>
#include <stdlib.h>

#include "formats/common/protobuf.h"
#include "formats/profile/write.h"

/* Fields of the messages. */
enum {
    FIELD_SAMPLE_TYPE = 1,
    FIELD_SAMPLE = 2,
    FIELD_MAPPING = 3,
    FIELD_LOCATION = 4,
    FIELD_FUNCTION = 5,
    FIELD_STRING_TABLE = 6,
    FIELD_TIME_NANOS = 9,
    FIELD_DURATION_NANOS = 10,
    FIELD_PERIOD_TYPE = 11,
    FIELD_PERIOD = 12,
    VALUE_TYPE = 1,
    VALUE_UNIT = 2,
    SAMPLE_LOCATION = 1,
    SAMPLE_VALUE = 2,
    SAMPLE_LABEL = 3,
    LABEL_KEY = 1,
    LABEL_STRING = 2,
    MAPPING_ID = 1,
    MAPPING_LIMIT = 3,
    MAPPING_FILE = 5,
    MAPPING_HAS_FUNCTIONS = 7,
    MAPPING_HAS_FILES = 8,
    MAPPING_HAS_LINES = 9,
    LOCATION_ID = 1,
    LOCATION_MAPPING = 2,
    LOCATION_ADDRESS = 3,
    LOCATION_LINE = 4,
    LINE_FUNCTION = 1,
    LINE_NUMBER = 2,
    FUNCTION_ID = 1,
    FUNCTION_NAME = 2,
    FUNCTION_SYSTEM_NAME = 3,
    FUNCTION_FILE = 4,
};

/* Strings that are not names of the trace. They follow the empty string. */
#define STRINGS(X)                                                                                 \
    X(CONTENTIONS, "contentions")                                                                  \
    X(COUNT, "count")                                                                              \
    X(DELAY, "delay")                                                                              \
    X(NANOSECONDS, "nanoseconds")                                                                  \
    X(SAMPLES, "samples")                                                                          \
    X(CPU, "cpu")                                                                                  \
    X(WALL, "wall")                                                                                \
    X(TRACE, "trace")                                                                              \
    X(FUNCTION, "start function")                                                                  \
    X(STATE, "state")                                                                              \
    X(BASE, "pprof::base")                                                                         \
    X(TRUE, "true")

enum {
    STRING_EMPTY,
#define STRING_NUMBER(name, text) STRING_##name,
    STRINGS(STRING_NUMBER) STRING_PROGRAM,
    STRING_STATES,                                     /* the first state */
    STRING_NAMES = STRING_STATES + GOTRACE_STATE_IDLE, /* the first name of the trace, less 1 */
#undef STRING_NUMBER
};

/* Go cuts stacks there; nested ones are of many. */
enum { MOST_FRAMES = 128 };

/* The index of a name of the trace in the string table. */
static uint64_t string_of(uint32_t name)
{
    return name ? (uint64_t)STRING_NAMES + name - 1 : STRING_EMPTY;
}

static void put_type(protobuf *w, unsigned field, unsigned type, unsigned unit)
{
    size_t mark = protobuf_open(w, field);
    protobuf_uint(w, VALUE_TYPE, type);
    protobuf_uint(w, VALUE_UNIT, unit);
    protobuf_close(w, mark);
}

static void put_types(protobuf *w, const profile *p)
{
    bool waits = p->kind < PROFILE_CPU;
    bool cpu = p->kind == PROFILE_CPU;
    put_type(w, FIELD_SAMPLE_TYPE, waits ? STRING_CONTENTIONS : STRING_SAMPLES, STRING_COUNT);
    put_type(w, FIELD_SAMPLE_TYPE,
             waits ? STRING_DELAY
             : cpu ? STRING_CPU
                   : STRING_WALL,
             STRING_NANOSECONDS);
}

static void put_label(protobuf *w, unsigned key, uint64_t string)
{
    if (string == STRING_EMPTY)
        return;
    size_t mark = protobuf_open(w, SAMPLE_LABEL);
    protobuf_uint(w, LABEL_KEY, key);
    protobuf_uint(w, LABEL_STRING, string);
    protobuf_close(w, mark);
}

/* trace: a name; 0: there is only one. */
static void put_sample(protobuf *w, const profile *p, const profile_sample *s, uint32_t trace)
{
    size_t depth = stacks_depth(p->stacks, s->stack), mark = protobuf_open(w, FIELD_SAMPLE);
    if (depth > MOST_FRAMES && !p->nested)
        depth = MOST_FRAMES;
    const uint32_t *numbers = depth ? p->stacks->numbers + p->stacks->stacks[s->stack - 1].first
                                    : NULL;
    for (size_t i = 0; i < depth; i++)
        protobuf_uint(w, SAMPLE_LOCATION, numbers[i]);
    protobuf_uint(w, SAMPLE_VALUE, s->count);
    protobuf_uint(w, SAMPLE_VALUE, (uint64_t)s->ns);
    put_label(w, STRING_FUNCTION, string_of(s->function));
    put_label(w, STRING_STATE,
              s->reason ? string_of(s->reason) : (uint64_t)STRING_STATES + s->state);
    /* So pprof knows of what changes are shares. */
    if (p->difference && s->ns < 0)
        put_label(w, STRING_BASE, STRING_TRUE);
    put_label(w, STRING_TRACE, string_of(trace));
    protobuf_close(w, mark);
    protobuf_flush(w);
}

/* One mapping with all addresses: a trace does not say where the program was loaded. */
static void put_mapping(protobuf *w)
{
    size_t mark = protobuf_open(w, FIELD_MAPPING);
    protobuf_uint(w, MAPPING_ID, 1);
    protobuf_uint(w, MAPPING_LIMIT, INT64_MAX);
    protobuf_uint(w, MAPPING_FILE, STRING_PROGRAM);
    protobuf_uint(w, MAPPING_HAS_FUNCTIONS, 1);
    protobuf_uint(w, MAPPING_HAS_FILES, 1);
    protobuf_uint(w, MAPPING_HAS_LINES, 1);
    protobuf_close(w, mark);
}

/* A location for each frame, and a function for each name, with the file of its first frame. */
static void put_locations(protobuf *w, const profile *p, bool *has_function)
{
    for (size_t i = 0; i < p->stacks->frame_count; i++) {
        const stacks_frame *frame = &p->stacks->frames[i];
        size_t mark = protobuf_open(w, FIELD_LOCATION);
        protobuf_uint(w, LOCATION_ID, i + 1);
        protobuf_uint(w, LOCATION_MAPPING, 1);
        protobuf_uint(w, LOCATION_ADDRESS, frame->pc);
        size_t line = protobuf_open(w, LOCATION_LINE);
        protobuf_uint(w, LINE_FUNCTION, (uint64_t)frame->function + 1);
        protobuf_uint(w, LINE_NUMBER, frame->line);
        protobuf_close(w, line);
        protobuf_close(w, mark);
        if (!has_function[frame->function]) {
            has_function[frame->function] = true;
            mark = protobuf_open(w, FIELD_FUNCTION);
            protobuf_uint(w, FUNCTION_ID, (uint64_t)frame->function + 1);
            protobuf_uint(w, FUNCTION_NAME, string_of(frame->function));
            protobuf_uint(w, FUNCTION_SYSTEM_NAME, string_of(frame->function));
            protobuf_uint(w, FUNCTION_FILE, string_of(frame->file));
            protobuf_close(w, mark);
        }
        protobuf_flush(w);
    }
}

static void put_string(protobuf *w, const char *text, size_t size)
{
    protobuf_string(w, FIELD_STRING_TABLE, text, size);
    protobuf_flush(w);
}

static void put_strings(protobuf *w, const convert_job *job, const profile *p)
{
    static const char *const own[] = {"",
#define STRING_TEXT(name, text) text,
                                      STRINGS(STRING_TEXT)
#undef STRING_TEXT
    };
    size_t size;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        put_string(w, own[i], strlen(own[i]));
    if (p->trace_count > 0) {
        const char *first = stacks_text(p->stacks, p->traces[0].name, &size);
        put_string(w, first, size);
    } else {
        put_string(w, job->name, strlen(job->name));
    }
    for (unsigned i = 0; i < GOTRACE_STATE_IDLE; i++) {
        const char *name = gotrace_state_name((gotrace_state)i);
        put_string(w, name, strlen(name));
    }
    for (uint32_t i = 1; i <= p->stacks->name_count; i++) {
        const char *text = stacks_text(p->stacks, i, &size);
        put_string(w, text, size);
    }
}

/* The time at which the trace began; 0: it is not known. */
static uint64_t wall_time(const convert_job *job)
{
    enum { NANO = 1000000000 };
    const gotrace_generation_summary *g = job->reader ? gotrace_reader_generation(job->reader, 0)
                                                      : NULL;
    return g && g->has_clocks && g->wall_seconds < INT64_MAX / NANO
               ? g->wall_seconds * NANO + g->wall_nanoseconds
               : 0;
}

static void write_pprof(const convert_job *job, const profile *p)
{
    protobuf w;
    bool *has_function = calloc(p->stacks->name_count + 1, sizeof *has_function);
    if (!has_function || !protobuf_init(&w, job->out)) {
        free(has_function);
        out_fail(job->out, ENOMEM);
        return;
    }
    put_types(&w, p);
    for (size_t i = 0, trace = 0; i < p->count; i++) {
        while (trace < p->trace_count && i >= p->traces[trace].end)
            trace++;
        put_sample(&w, p, &p->samples[i], trace < p->trace_count ? p->traces[trace].name : 0);
    }
    put_mapping(&w);
    put_locations(&w, p, has_function);
    put_strings(&w, job, p);
    if (!job->series && wall_time(job))
        protobuf_uint(&w, FIELD_TIME_NANOS, wall_time(job));
    protobuf_uint(&w, FIELD_DURATION_NANOS, (uint64_t)p->duration);
    bool cpu = p->kind == PROFILE_CPU;
    put_type(&w, FIELD_PERIOD_TYPE, cpu ? STRING_CPU : STRING_TRACE,
             cpu ? STRING_NANOSECONDS : STRING_COUNT);
    protobuf_uint(&w, FIELD_PERIOD, cpu ? PROFILE_SAMPLE_NS : 1);
    protobuf_flush(&w);
    protobuf_free(&w);
    free(has_function);
}

static gotrace_status convert_to_pprof(const convert_job *job)
{
    return profile_convert(job, STACKS_BY_ADDRESS, 0, true, write_pprof);
}

static void end_series(const convert_job *job)
{
    profile_convert_end(job, write_pprof);
}

const format format_pprof = {
    .name = "pprof",
    .extensions = (const char *const[]){".pb", ".pprof", NULL},
    .summary = "profile for go tool pprof; OUT.pb.gz is compressed",
    .binary = true,
    .several = true,
    .profiles = true,
    .viewer_bytes = UINT64_MAX,
    .run = convert_to_pprof,
    .end_series = end_series,
};
