/*
 * folded.c - the CPU samples of a trace as folded stacks, for flamegraph.pl or speedscope.
 *
 *   cc -o folded folded.c $(pkg-config --cflags --libs gotrace)
 *   ./folded app.trace | sort | uniq -c | awk '{ print $2, $1 }' >app.folded
 */
#include <gotrace.h>
#include <stdio.h>

enum { DEPTH = 128 };

/* Print the stack of a sample, outermost frame first. */
static void print_stack(const gotrace_frame *frames, size_t count)
{
    for (size_t i = count; i > 0; i--)
        printf("%.*s%c", (int)frames[i - 1].function_size, frames[i - 1].function,
               i > 1 ? ';' : '\n');
}

/* Traces of Go 1.5 and 1.6 have program counters instead of names, and a name may be missing. */
static bool has_names(const gotrace_frame *frames, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!frames[i].function)
            return false;
    return count > 0;
}

int main(int argc, char **argv)
{
    gotrace_source *source = NULL;
    gotrace_reader *reader = NULL;
    gotrace_error error = GOTRACE_INIT(gotrace_error);
    const gotrace_event *event;
    gotrace_status status;
    gotrace_frame frames[DEPTH];

    if (argc != 2) {
        fprintf(stderr, "usage: folded TRACE\n");
        return 2;
    }
    if (gotrace_source_open(argv[1], NULL, &source, &error) < 0 ||
        gotrace_reader_open(source, NULL, &reader, &error) < 0) {
        fprintf(stderr, "%s: %s\n", argv[1], error.message);
        gotrace_source_close(source);
        return 1;
    }
    while ((status = gotrace_reader_next(reader, &event)) == GOTRACE_EVENT) {
        if (event->kind != GOTRACE_KIND_SAMPLE)
            continue;
        size_t count = gotrace_reader_stack(reader, event->stack, frames, DEPTH);
        if (has_names(frames, count))
            print_stack(frames, count);
    }
    if (status == GOTRACE_ERROR)
        fprintf(stderr, "%s: %s\n", argv[1], gotrace_reader_error(reader)->message);

    gotrace_reader_close(reader);
    gotrace_source_close(source);
    return status != GOTRACE_END;
}
