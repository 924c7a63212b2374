/* formats.c - the lists of formats and printers, and how to find one. */
#include "formats/formats.h"

#include <string.h>
#include <strings.h>

#include "formats/common/packing.h"
#include "formats/print/print.h"
#include "formats/print/printer.h"

/* The endings of speedscope come before those of chrome, which end in the same way. */
const format *const formats[] = {
    &format_perfetto, &format_pprof, &format_folded,  &format_speedscope,
    &format_chrome,   &format_html,  &format_parquet, NULL};

const printer *const printers[] = {&printer_text, &printer_go, &printer_jsonl, NULL};

const char *convert_part_name(size_t n)
{
    static const char *const names[] = {
#define CONVERT_NAME(name, text) [PART_##name] = (text),
        CONVERT_PARTS(CONVERT_NAME)
#undef CONVERT_NAME
    };

    return n < PART_COUNT ? names[n] : NULL;
}

const format *format_by_name(const char *name)
{
    for (size_t i = 0; formats[i]; i++)
        if (strcmp(formats[i]->name, name) == 0)
            return formats[i];
    return NULL;
}

static bool has_ending(const char *path, size_t size, const char *ending)
{
    size_t length = strlen(ending);
    return size > length && strncasecmp(path + size - length, ending, length) == 0;
}

const format *format_by_path(const char *path)
{
    size_t size;

    /* Compressed output: the ending before .zst or .gz decides. */
    packing_of_path(path, &size);
    for (size_t i = 0; formats[i]; i++)
        for (const char *const *ending = formats[i]->extensions; *ending; ending++)
            if (has_ending(path, size, *ending))
                return formats[i];
    return NULL;
}

const printer *printer_by_name(const char *name)
{
    for (size_t i = 0; printers[i]; i++)
        if (strcmp(printers[i]->name, name) == 0)
            return printers[i];
    return NULL;
}

/* The wall-clock time at monotonic time 0, from the first generation of a trace; false if the
 * generation has no clocks. */
static bool clock_offset(gotrace_source *source, int64_t *offset)
{
    enum { NANO = 1000000000, MOST_SECONDS = INT32_MAX };
    gotrace_generation_summary g = {0};
    const gotrace_generation_summary *first;
    gotrace_reader *reader;
    const gotrace_event *e;

    if (gotrace_reader_open(source, NULL, &reader, NULL) != GOTRACE_OK)
        return false;
    /* The tables of a generation are available from its first event on. */
    if (gotrace_reader_next(reader, &e) == GOTRACE_EVENT &&
        (first = gotrace_reader_generation(reader, 0)))
        g = *first;
    gotrace_reader_close(reader);
    if (!g.has_clocks || g.wall_seconds > MOST_SECONDS || g.wall_nanoseconds >= NANO ||
        g.monotonic_ns > INT64_MAX)
        return false;
    *offset = (int64_t)(g.wall_seconds * NANO + g.wall_nanoseconds - g.monotonic_ns);
    return true;
}

convert_alignment convert_align(gotrace_source *const *sources, size_t count)
{
    /* Wall clocks are adjusted while a machine runs, but by less than a reboot takes. */
    enum { SAME_START = 1000000000 };
    convert_alignment alignment = ALIGNED_MONOTONIC;
    int64_t first = 0, offset = 0;

    for (size_t i = 0; i < count; i++) {
        if (!clock_offset(sources[i], &offset))
            return ALIGNED_NOT;
        if (i == 0)
            first = offset;
        if (offset - first > SAME_START || first - offset > SAME_START)
            alignment = ALIGNED_REALTIME;
    }
    return alignment;
}
