/*
 * hello.c - write a small trace of Go 1.26: one goroutine works, sleeps and works again.
 *
 *   cc -o hello hello.c $(pkg-config --cflags --libs gotrace)
 *   ./hello >hello.trace
 */
#include <gotrace.h>
#include <stdio.h>
#include <string.h>

enum { VERSION = 26, THREAD = 1000, PROC = 0, GOROUTINE = 1 };

/* What happens, at which time in nanoseconds, with which arguments (gotrace-format(5)). */
typedef struct step {
    uint64_t time;
    const char *event;
    uint64_t args[2];
    size_t arg_count;
    const char *reason; /* the string that is the first argument, if any */
} step;

static const step steps[] = {
    {1000, "ProcStart", {PROC}, 1, NULL},         {2000, "GoCreate", {GOROUTINE, 0}, 2, NULL},
    {3000, "GoStart", {GOROUTINE}, 1, NULL},      {503000, "GoBlock", {0}, 1, "sleep"},
    {1503000, "GoUnblock", {GOROUTINE}, 1, NULL}, {1504000, "GoStart", {GOROUTINE}, 1, NULL},
    {2004000, "GoDestroy", {0}, 0, NULL},         {2005000, "ProcStop", {0}, 0, NULL},
};

static gotrace_status write_step(gotrace_writer *writer, const step *s)
{
    uint64_t args[2] = {s->args[0], s->args[1]};
    if (gotrace_writer_at(writer, s->time) < 0)
        return GOTRACE_ERROR;
    if (s->reason &&
        gotrace_writer_string(writer, GOTRACE_NO_PROC, s->reason, strlen(s->reason), &args[0]) < 0)
        return GOTRACE_ERROR;
    const gotrace_event_data event = {.size = sizeof event,
                                      .spec = gotrace_event_spec_named(VERSION, s->event),
                                      .proc = GOTRACE_NO_PROC, /* the proc that the thread has */
                                      .thread = THREAD,
                                      .args = args,
                                      .arg_count = s->arg_count};
    return gotrace_writer_event(writer, &event);
}

static bool write_bytes(void *file, const void *bytes, size_t size)
{
    return fwrite(bytes, 1, size, file) == size;
}

int main(void)
{
    gotrace_writer *writer;
    gotrace_error error = GOTRACE_INIT(gotrace_error);
    gotrace_status status = gotrace_writer_new(VERSION, NULL, write_bytes, stdout, NULL, &writer,
                                               &error);
    if (status < 0) {
        fprintf(stderr, "hello: %s\n", error.message);
        return 1;
    }
    for (size_t i = 0; i < sizeof steps / sizeof *steps && status == GOTRACE_OK; i++)
        status = write_step(writer, &steps[i]);
    if (status == GOTRACE_OK)
        status = gotrace_writer_finish(writer);
    if (status < 0)
        fprintf(stderr, "hello: %s\n", gotrace_writer_error(writer)->message);
    gotrace_writer_free(writer);
    return status < 0 || fflush(stdout) != 0;
}
