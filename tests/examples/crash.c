/*
 * crash.c - ends in the middle of a trace, as if it was killed. The crash file has its events.
 *
 *   cc -o crash crash.c $(pkg-config --cflags --libs gotrace)
 *   ./crash app.crash
 *   gotrace repair -o app.trace app.crash
 */
#include <gotrace_record.h>
#include <stdio.h>
#include <unistd.h>

/* Nothing is written while the program runs. */
static bool discard(void *ctx, const void *bytes, size_t size)
{
    (void)ctx, (void)bytes, (void)size;
    return true;
}

int main(int argc, char **argv)
{
    const gotrace_recorder_options options = {
        .size = sizeof options,
        .crash_file = argc > 1 ? argv[1] : "app.crash",
        .crash_bytes = 8 << 20,
    };
    gotrace_error error = GOTRACE_INIT(gotrace_error);
    gotrace_recorder *recorder;
    if (gotrace_recorder_new(&options, NULL, &recorder, &error) < 0) {
        fprintf(stderr, "crash: %s\n", error.message);
        return 1;
    }
    gotrace_rec_thread *thread = gotrace_rec_thread_new(recorder, 1);
    gotrace_rec_proc_start(thread, gotrace_rec_proc_new(recorder, 0));
    gotrace_rec_go_start(thread, gotrace_rec_go_create(thread, 1, (uint64_t)main, NULL, 0));
    if (gotrace_recorder_start(recorder, 26, discard, NULL) < 0) {
        fprintf(stderr, "crash: %s\n", gotrace_recorder_error(recorder)->message);
        return 1;
    }
    for (uint64_t i = 0; i < 1000; i++)
        gotrace_rec_heap_alloc(thread, i);
    _exit(0); /* without gotrace_recorder_stop */
}
