#include "cmd/diag.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/progress.h"
#include "formats/common/utf8.h"

enum {
    DIAG_LINE = 8192, /* a path of PATH_MAX bytes and a message */
};

static struct {
    bool colour, quiet;
    diag_observer *observer; /* NULL: none */
    void *ctx;               /* of the observer */
} state;

static _Thread_local out *captured;
static pthread_mutex_t captured_lock = PTHREAD_MUTEX_INITIALIZER; /* of what any thread captures */

void diag_init(void)
{
    const char *no_colour = getenv("NO_COLOR"), *term = getenv("TERM");
    state.colour = isatty(STDERR_FILENO) && !(no_colour && *no_colour) && term &&
                   strcmp(term, "dumb") != 0;
}

out *diag_capture(out *o)
{
    out *before = captured;
    captured = o;
    return before;
}

out *diag_captured(void)
{
    return captured;
}

void diag_quiet(bool quiet)
{
    state.quiet = quiet;
}

void diag_observe(diag_observer *observer, void *ctx)
{
    state.observer = observer;
    state.ctx = ctx;
}

static const char *severity_name(gotrace_severity severity)
{
    switch (severity) {
    case GOTRACE_NOTE: return "note";
    case GOTRACE_WARNING: return "warning";
    case GOTRACE_PROBLEM:
    case GOTRACE_FATAL: break;
    }
    return "error";
}

static const char *severity_colour(gotrace_severity severity)
{
    switch (severity) {
    case GOTRACE_NOTE: return "\033[1;36m";
    case GOTRACE_WARNING: return "\033[1;35m";
    case GOTRACE_PROBLEM:
    case GOTRACE_FATAL: break;
    }
    return "\033[1;31m";
}

static void write_line(const char *line, size_t size)
{
    if (captured) {
        pthread_mutex_lock(&captured_lock);
        out_bytes(captured, line, size);
        pthread_mutex_unlock(&captured_lock);
        return;
    }
    progress_clear();
    fwrite(line, 1, size, stderr);
}

/* Each line is a single write, so that lines of several processes do not mix. */
static void print_line(const char *place, gotrace_severity severity, const char *message,
                       const char *rule)
{
    char text[DIAG_LINE / 2], where[DIAG_LINE / 2], line[DIAG_LINE + 256];
    const bool c = state.colour, quiet = state.quiet && severity < GOTRACE_PROBLEM;
    if (quiet && !state.observer)
        return;
    utf8_escape(text, sizeof text, message);
    utf8_escape(where, sizeof where, place);
    if (state.observer) {
        snprintf(line, sizeof line, "%s: %s%s%s%s", severity_name(severity), text, rule ? " [" : "",
                 rule ? rule : "", rule ? "]" : "");
        state.observer(state.ctx, place, severity, line);
    }
    if (quiet)
        return;
    int size = snprintf(line, sizeof line, "%s%s:%s %s%s:%s %s%s%s%s\n", c ? "\033[1m" : "", where,
                        c ? "\033[0m" : "", c ? severity_colour(severity) : "",
                        severity_name(severity), c ? "\033[0m" : "", text, rule ? " [" : "",
                        rule ? rule : "", rule ? "]" : "");
    if (size > 0)
        write_line(line, (size_t)size);
}

static bool continues_character(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* Copies and escapes what is from begin to end of a text. */
static void escape_part(char *dst, size_t size, const char *text, size_t begin, size_t end)
{
    char part[128];
    size_t count = end - begin < sizeof part ? end - begin : sizeof part - 1;
    memcpy(part, text + begin, count);
    part[count] = '\0';
    utf8_escape(dst, size, part);
}

void diag_excerpt(const char *text, size_t at)
{
    enum { BEFORE = 50, AFTER = 20 };
    size_t size = strlen(text), begin = at > BEFORE ? at - BEFORE : 0;
    size_t end = size - at > AFTER ? at + AFTER : size, column = 0;
    char before[1024], after[512], line[2048];
    while (begin < at && continues_character(text[begin]))
        begin++;
    while (end > at && end < size && continues_character(text[end]))
        end--;
    escape_part(before, sizeof before, text, begin, at);
    escape_part(after, sizeof after, text, at, end);
    for (const char *c = before; *c; c++)
        column += !continues_character(*c);
    const char *cut = begin ? "..." : "";
    int length = snprintf(line, sizeof line, "  %s%s%s%s\n  %*s^\n", cut, before, after,
                          end < size ? "..." : "", (int)(column + strlen(cut)), "");
    if (length > 0)
        write_line(line, (size_t)length);
}

static void print_list(const char *place, gotrace_severity severity, const char *message,
                       va_list list)
{
    char text[DIAG_LINE / 2];
    vsnprintf(text, sizeof text, message, list);
    print_line(place, severity, text, NULL);
}

void diag_error(const char *message, ...)
{
    va_list list;
    va_start(list, message);
    print_list("gotrace", GOTRACE_FATAL, message, list);
    va_end(list);
}

void diag_warning(const char *file, const char *message, ...)
{
    va_list list;
    va_start(list, message);
    print_list(file, GOTRACE_WARNING, message, list);
    va_end(list);
}

void diag_note(const char *message, ...)
{
    va_list list;
    va_start(list, message);
    print_list("gotrace", GOTRACE_NOTE, message, list);
    va_end(list);
}

static void place_of(char *place, size_t size, const char *file, uint64_t offset)
{
    if (offset == GOTRACE_NO_OFFSET)
        snprintf(place, size, "%s", file);
    else
        snprintf(place, size, "%s:0x%" PRIx64, file, offset);
}

/* The message and, of an event of the user's code, its place there. */
static void message_of(char *text, size_t size, const gotrace_error *error)
{
    char line[32] = "";
    size_t used = (size_t)snprintf(text, size, "%s", error->message);
    if (error->function[0] && used < size) {
        if (error->line)
            snprintf(line, sizeof line, ":%" PRIu64, error->line);
        used += (size_t)snprintf(text + used, size - used, "; in %s", error->function);
        if (error->file[0] && used < size)
            used += (size_t)snprintf(text + used, size - used, " (%s%s)", error->file, line);
    }
    /* In a damaged trace an event may be before the first one. */
    bool before = error->time < 0;
    uint64_t ns = before ? -(uint64_t)error->time : (uint64_t)error->time;
    if (error->goroutine && used < size)
        snprintf(text + used, size - used,
                 "%s goroutine %" PRIu64 ", at %s%" PRIu64 ".%09" PRIu64 "s",
                 error->function[0] ? "," : "; in", error->goroutine, before ? "-" : "",
                 ns / 1000000000, ns % 1000000000);
}

void diag_problem(const char *file, const gotrace_error *error)
{
    char place[DIAG_LINE / 2], text[2 * sizeof *error];
    place_of(place, sizeof place, file, error->offset);
    message_of(text, sizeof text, error);
    print_line(place, error->severity, text, gotrace_rule_describe(error->rule)->id);
}

void diag_script(const char *file, const script_error *where)
{
    char place[DIAG_LINE / 2];
    const gotrace_error *error = &where->error;
    if (where->line == 0)
        place_of(place, sizeof place, file, where->offset);
    else if (where->column == 0)
        snprintf(place, sizeof place, "%s:%" PRIu64, file, where->line);
    else
        snprintf(place, sizeof place, "%s:%" PRIu64 ":%" PRIu64, file, where->line, where->column);
    print_line(place, error->severity, error->message, gotrace_rule_describe(error->rule)->id);
}

void diag_problem_note(const char *file, uint64_t offset, const char *message, ...)
{
    char place[DIAG_LINE / 2];
    va_list list;
    place_of(place, sizeof place, file, offset);
    va_start(list, message);
    print_list(place, GOTRACE_NOTE, message, list);
    va_end(list);
}
