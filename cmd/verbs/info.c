/* info.c - summarise a trace. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/diag.h"
#include "cmd/human.h"
#include "cmd/input.h"
#include "cmd/recovery.h"
#include "formats/common/plural.h"
#include "formats/common/utf8.h"

typedef struct info_options {
    settings common;
    bool json, no_recover;
} info_options;

enum { TYPES = 256 };

typedef struct figure {
    const char *label, *member; /* in text and in JSON */
    size_t field;               /* a uint64_t of gotrace_summary */
    int since;                  /* first version that has it */
} figure;

static const figure figures[] = {
    {"events", "events", offsetof(gotrace_summary, events), 0},
    {"records", "records", offsetof(gotrace_summary, records), 0},
    {"  with a time", "timed_records", offsetof(gotrace_summary, timed_records), GOTRACE_FIRST_V2},
    {"batches", "batches", offsetof(gotrace_summary, batches), 0},
    {"generations", "generations", offsetof(gotrace_summary, generations), GOTRACE_FIRST_V2},
    {"threads", "threads", offsetof(gotrace_summary, threads), GOTRACE_FIRST_V2},
    {"procs", "procs", offsetof(gotrace_summary, procs), 0},
    {"goroutines created", "goroutines_created", offsetof(gotrace_summary, goroutines_created), 0},
    {"  existing at start", "goroutines_initial", offsetof(gotrace_summary, goroutines_initial), 0},
    {"  ended", "goroutines_ended", offsetof(gotrace_summary, goroutines_ended), 0},
    {"strings", "strings", offsetof(gotrace_summary, strings), 0},
    {"  bytes in total", "string_bytes", offsetof(gotrace_summary, string_bytes), 0},
    {"stacks", "stacks", offsetof(gotrace_summary, stacks), 0},
    {"  frames in total", "stack_frames", offsetof(gotrace_summary, stack_frames), 0},
    {"tasks", "tasks", offsetof(gotrace_summary, tasks), 0},
    {"regions", "regions", offsetof(gotrace_summary, regions), 0},
    {"logs", "logs", offsetof(gotrace_summary, logs), 0},
    {"CPU samples", "samples", offsetof(gotrace_summary, samples), 0},
};
enum { FIGURES = sizeof figures / sizeof *figures };

/* Returns the next figure, from the n-th on, that the version has; NULL past the last. */
static const figure *next_figure(const gotrace_summary *sum, size_t *n, uint64_t *value)
{
    while (*n < FIGURES) {
        const figure *f = &figures[(*n)++];
        if (sum->version < f->since)
            continue;
        memcpy(value, (const char *)sum + f->field, sizeof *value);
        return f;
    }
    return NULL;
}

static const char *type_name(const gotrace_summary *sum, unsigned code)
{
    const gotrace_event_spec *spec = gotrace_event_spec_of(sum->version, code);
    return spec ? spec->name : "(unknown)";
}

/* Collect the codes that occur, most bytes first, into codes[TYPES]; returns their number. */
static size_t sort_types(const gotrace_summary *sum, unsigned *codes)
{
    size_t count = 0;
    for (unsigned code = 0; code < TYPES; code++) {
        if (sum->type_records[code] == 0 && sum->type_bytes[code] == 0)
            continue;
        size_t at = count++;
        for (; at > 0 && sum->type_bytes[codes[at - 1]] < sum->type_bytes[code]; at--)
            codes[at] = codes[at - 1];
        codes[at] = code;
    }
    return count;
}

static void text_type(out *o, const gotrace_summary *sum, const char *name, uint64_t records,
                      uint64_t bytes)
{
    out_printf(o, "%-20s %12" PRIu64 " %14" PRIu64 " %6.2f%%\n", name, records, bytes,
               sum->size ? 100.0 * (double)bytes / (double)sum->size : 0.0);
}

static void text_types(out *o, const gotrace_summary *sum, const char *all)
{
    unsigned codes[TYPES];
    size_t count = sort_types(sum, codes);
    uint64_t records = 0, bytes = sum->header_bytes + sum->unread_bytes;
    out_printf(o, "\n%-20s %12s %14s %7s\n", "type", "records", "bytes", "share");
    for (size_t i = 0; i < count; i++) {
        records += sum->type_records[codes[i]];
        bytes += sum->type_bytes[codes[i]];
        text_type(o, sum, type_name(sum, codes[i]), sum->type_records[codes[i]],
                  sum->type_bytes[codes[i]]);
    }
    text_type(o, sum, "(header)", 0, sum->header_bytes);
    if (sum->unread_bytes)
        text_type(o, sum, "(not readable)", 0, sum->unread_bytes);
    text_type(o, sum, all, records, bytes);
}

static void text_procs(out *o, const gotrace_reader *reader)
{
    const gotrace_proc_summary *p;
    out_printf(o, "\n%-20s %12s %14s %12s\n", "proc", "batches", "bytes", "events");
    for (size_t n = 0; (p = gotrace_reader_proc(reader, n)); n++) {
        char name[32];
        snprintf(name, sizeof name, "%" PRId64 "%s", p->proc, p->proc == -1 ? " (global)" : "");
        out_printf(o, "%-20s %12" PRIu64 " %14" PRIu64 " %12" PRIu64 "\n", name, p->batches,
                   p->bytes, p->events);
    }
}

/* The duration of a generation in ns: until the next one begins, or the trace ends. */
static int64_t generation_duration(const gotrace_reader *reader, size_t n,
                                   const gotrace_generation_summary *g)
{
    const gotrace_summary *sum = gotrace_reader_summary(reader);
    const gotrace_generation_summary *other = gotrace_reader_generation(reader, n + 1);
    double second = (double)g->frequency, ns;

    if (g->frequency == 0)
        return 0;
    if (other) {
        ns = ((double)other->begin - (double)g->begin) / second * 1e9;
    } else {
        other = gotrace_reader_generation(reader, 0);
        ns = (double)sum->duration - ((double)g->begin - (double)other->begin) / second * 1e9;
    }
    /* Clocks of a damaged trace can have any value. */
    return ns > 0 && ns < (double)INT64_MAX ? (int64_t)ns : 0;
}

static void text_generations(out *o, const gotrace_reader *reader)
{
    const gotrace_generation_summary *g;
    out_printf(o, "\n%-10s %8s %12s %14s %8s %7s %7s %12s  %s\n", "generation", "batches", "bytes",
               "timed records", "strings", "stacks", "samples", "duration", "clocks");
    for (size_t n = 0; (g = gotrace_reader_generation(reader, n)); n++) {
        char duration[32];
        human_duration(duration, sizeof duration, generation_duration(reader, n, g));
        out_printf(o,
                   "%-10" PRIu64 " %8" PRIu64 " %12" PRIu64 " %14" PRIu64 " %8" PRIu64 " %7" PRIu64
                   " %7" PRIu64 " %12s  ",
                   g->generation, g->batches, g->bytes, g->timed_records, g->strings, g->stacks,
                   g->samples, duration);
        if (g->has_clocks)
            out_wall_clock(o, g->wall_seconds, g->wall_nanoseconds);
        else
            out_char(o, '-');
        out_str(o, g->complete ? "\n" : " (unfinished)\n");
    }
}

static void print_text(out *o, const input *in)
{
    const gotrace_summary *sum = gotrace_reader_summary(in->reader);
    uint64_t size = gotrace_source_size(input_file(in));
    uint64_t packed = gotrace_source_compressed_size(input_file(in));
    char name[4096], duration[32];
    utf8_escape(name, sizeof name, in->name);
    human_duration(duration, sizeof duration, sum->duration);
    out_printf(o, "%-20s %s\n", "file", name);
    out_printf(o, "%-20s %" PRIu64 " byte%s", "size", size, plural(size));
    if (packed)
        out_printf(o, " (compressed: %" PRIu64 ")", packed);
    if (in->damaged)
        out_printf(o, "\n%-20s %" PRIu64 " byte%s", "recovered", sum->size, plural(sum->size));
    out_printf(o, "\n%-20s %s\n", "verdict", findings_verdict(&in->found));
    out_printf(o, "%-20s go 1.%d\n", "version", sum->version);
    out_printf(o, "%-20s %s\n", "writer", sum->writer ? sum->writer : "unknown");
    out_printf(o, "%-20s %s\n", "duration", duration);
    if (sum->frequency)
        out_printf(o, "%-20s %" PRIu64 " ticks per second\n", "frequency", sum->frequency);
    else
        out_printf(o, "%-20s missing\n", "frequency");
    size_t n = 0;
    uint64_t value;
    for (const figure *f; (f = next_figure(sum, &n, &value)) != NULL;)
        out_printf(o, "%-20s %" PRIu64 "\n", f->label, value);
    text_types(o, sum, in->damaged ? "all recovered" : "all of the file");
    if (sum->version < GOTRACE_FIRST_V2)
        text_procs(o, in->reader);
    else
        text_generations(o, in->reader);
}

static void json_types(out *o, const gotrace_summary *sum)
{
    unsigned codes[TYPES];
    size_t count = sort_types(sum, codes);
    out_printf(o, ",\"header_bytes\":%" PRIu64 ",\"unread_bytes\":%" PRIu64 ",\"types\":[",
               sum->header_bytes, sum->unread_bytes);
    for (size_t i = 0; i < count; i++)
        out_printf(o,
                   "%s{\"name\":\"%s\",\"code\":%u,\"records\":%" PRIu64 ",\"bytes\":%" PRIu64 "}",
                   i ? "," : "", type_name(sum, codes[i]), codes[i], sum->type_records[codes[i]],
                   sum->type_bytes[codes[i]]);
    out_char(o, ']');
}

static void json_procs(out *o, const gotrace_reader *reader)
{
    const gotrace_proc_summary *p;
    out_str(o, ",\"batches_by_proc\":[");
    for (size_t n = 0; (p = gotrace_reader_proc(reader, n)); n++)
        out_printf(o,
                   "%s{\"proc\":%" PRId64 ",\"batches\":%" PRIu64 ",\"bytes\":%" PRIu64
                   ",\"events\":%" PRIu64 "}",
                   n ? "," : "", p->proc, p->batches, p->bytes, p->events);
    out_char(o, ']');
}

static void json_generation(out *o, const gotrace_generation_summary *g, int64_t duration)
{
    out_printf(o,
               "{\"generation\":%" PRIu64 ",\"offset\":%" PRIu64 ",\"batches\":%" PRIu64
               ",\"bytes\":%" PRIu64 ",\"timed_records\":%" PRIu64 ",\"strings\":%" PRIu64
               ",\"stacks\":%" PRIu64 ",\"samples\":%" PRIu64 ",\"complete\":%s"
               ",\"frequency\":%" PRIu64 ",\"begin\":%" PRIu64 ",\"duration_ns\":%" PRId64,
               g->generation, g->offset, g->batches, g->bytes, g->timed_records, g->strings,
               g->stacks, g->samples, g->complete ? "true" : "false", g->frequency, g->begin,
               duration);
    if (g->has_clocks) {
        out_printf(o, ",\"clocks\":{\"ticks\":%" PRIu64 ",\"monotonic\":%" PRIu64 ",\"wall\":\"",
                   g->clock_ticks, g->monotonic_ns);
        out_wall_clock(o, g->wall_seconds, g->wall_nanoseconds);
        out_printf(o, "\",\"wall_seconds\":%" PRIu64 ",\"wall_nanoseconds\":%" PRIu64 "}",
                   g->wall_seconds, g->wall_nanoseconds);
    }
    out_char(o, '}');
}

static void json_generations(out *o, const gotrace_reader *reader)
{
    const gotrace_generation_summary *g;
    out_str(o, ",\"by_generation\":[");
    for (size_t n = 0; (g = gotrace_reader_generation(reader, n)); n++) {
        if (n)
            out_char(o, ',');
        json_generation(o, g, generation_duration(reader, n, g));
    }
    out_char(o, ']');
}

static void print_json(out *o, const input *in)
{
    const gotrace_summary *sum = gotrace_reader_summary(in->reader);
    out_str(o, "{\"type\":\"info\",\"file\":");
    out_json_string(o, in->name, strlen(in->name));
    out_printf(o,
               ",\"size\":%" PRIu64 ",\"compressed_size\":%" PRIu64 ",\"verdict\":\"%s\""
               ",\"version\":\"1.%d\"",
               gotrace_source_size(input_file(in)), gotrace_source_compressed_size(input_file(in)),
               findings_verdict(&in->found), sum->version);
    if (in->damaged)
        out_printf(o, ",\"recovered_size\":%" PRIu64, sum->size);
    out_str(o, ",\"writer\":");
    if (sum->writer)
        out_json_string(o, sum->writer, strlen(sum->writer));
    else
        out_str(o, "null");
    out_printf(o, ",\"duration_ns\":%" PRId64 ",\"frequency\":%" PRIu64, sum->duration,
               sum->frequency);
    size_t n = 0;
    uint64_t value;
    for (const figure *f; (f = next_figure(sum, &n, &value)) != NULL;)
        out_printf(o, ",\"%s\":%" PRIu64, f->member, value);
    json_types(o, sum);
    if (sum->version < GOTRACE_FIRST_V2)
        json_procs(o, in->reader);
    else
        json_generations(o, in->reader);
    out_str(o, "}\n");
}

static int run_info(session *s)
{
    const info_options *set = (const info_options *)s->set;
    int status = output_open(&s->output, s->set->output, false);
    if (status != EXIT_SOUND)
        return status;
    s->report = set->json ? &s->output.out : NULL;
    input in;
    if (recovery_open(&in, s, input_path(s), set->no_recover)) {
        if (gotrace_reader_check(in.reader) == GOTRACE_ERROR)
            findings_add(&in.found, gotrace_reader_error(in.reader));
        if (set->json)
            print_json(&s->output.out, &in);
        else
            print_text(&s->output.out, &in);
    }
    return input_close(&in);
}

static const option_spec options[] = {
    {0, "json", OPTION_FLAG, NULL, offsetof(info_options, json), NULL,
     "write problems and figures as JSON Lines"},
    NO_RECOVER_OPTION(info_options, no_recover),
    {.name = NULL},
};

const verb verb_info = {
    .name = "info",
    .args = "[FILE]",
    .max_args = 1,
    .input = "FILE",
    .summary = "summarise a trace: version, writer, counts, size by event type",
    .details = "The sizes by type, with those of the header and of data that could not be read,\n"
               "add up to the size of the trace.",
    .options = options,
    .options_size = sizeof(info_options),
    .limited = true,
    .run = run_info,
};
