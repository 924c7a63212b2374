/*
 * callers.c - takes GOTRACE_REC_CALLERS in the last statement of functions, where a compiler could
 * make a sibling call, and reads the stacks from the trace. Prints the functions whose event lacks
 * the callers; the status is their number. C99 and C++11.
 */
#include <gotrace_record.h>
#include <stdio.h>
#include <string.h>

#define KEEP           __attribute__((noinline)) /* a function with a frame of its own */
#define RETURN_ADDRESS ((uint64_t)(uintptr_t)__builtin_return_address(0))

typedef enum function { LOG, LOG_OR_END, CREATE, SAMPLE, PARK, FUNCTIONS } function;
enum { MOST = 1 << 16 };

typedef struct blob {
    char bytes[MOST];
    size_t size;
} blob;

static gotrace_recorder *recorder;
static gotrace_rec_thread *thread;
static uint64_t inner, outer; /* where the function, and its caller, return to */
static gotrace_rec_go *volatile made;
static volatile int calls;

KEEP static void log_message(void)
{
    inner = RETURN_ADDRESS;
    gotrace_rec_log(thread, 0, "category", "message", GOTRACE_REC_CALLERS);
}

KEEP static void log_or_end(void)
{
    inner = RETURN_ADDRESS;
    if (calls >= 0)
        gotrace_rec_log(thread, 1, "category", "message", GOTRACE_REC_CALLERS);
    else
        gotrace_rec_task_end(thread, 1, GOTRACE_REC_CALLERS);
}

KEEP static gotrace_rec_go *create(void)
{
    inner = RETURN_ADDRESS;
    return gotrace_rec_go_create(thread, 2, 1, GOTRACE_REC_CALLERS);
}

KEEP static void sample(void)
{
    inner = RETURN_ADDRESS;
    gotrace_rec_cpu_sample(recorder, thread, GOTRACE_REC_CALLERS);
}

KEEP static void park(void)
{
    inner = RETURN_ADDRESS;
    gotrace_rec_go_park(thread, GOTRACE_REC_SYNC, GOTRACE_REC_CALLERS);
}

KEEP static void call(function which)
{
    outer = RETURN_ADDRESS;
    switch (which) {
    case LOG: log_message(); break;
    case LOG_OR_END: log_or_end(); break;
    case CREATE: made = create(); break;
    case SAMPLE: sample(); break;
    case PARK: park(); break;
    case FUNCTIONS: break;
    }
    calls = calls + 1; /* so that none of these is a sibling call */
}

static bool append(void *ctx, const void *bytes, size_t size)
{
    blob *to = (blob *)ctx;
    if (size > sizeof to->bytes - to->size)
        return false;
    memcpy(to->bytes + to->size, bytes, size);
    to->size += size;
    return true;
}

/* Whether an event of the trace has that stack, followed by the frames of main. */
static bool has_callers(const blob *trace)
{
    gotrace_source *source;
    gotrace_reader *reader;
    const gotrace_event *event;
    gotrace_frame frames[3];
    bool found = false;
    if (gotrace_source_memory(trace->bytes, trace->size, NULL, &source, NULL) < 0)
        return false;
    if (gotrace_reader_open(source, NULL, &reader, NULL) == GOTRACE_OK) {
        while (gotrace_reader_next(reader, &event) == GOTRACE_EVENT)
            found |= gotrace_reader_stack(reader, event->stack, frames, 3) == 3 &&
                     frames[0].pc == inner && frames[1].pc == outer;
        gotrace_reader_close(reader);
    }
    gotrace_source_close(source);
    return found;
}

static bool record(function which)
{
    static blob trace;
    gotrace_recorder_options options = GOTRACE_INIT(gotrace_recorder_options);
    trace.size = 0;
    if (gotrace_recorder_new(&options, NULL, &recorder, NULL) < 0)
        return false;
    thread = gotrace_rec_thread_new(recorder, 1);
    gotrace_rec_proc_start(thread, gotrace_rec_proc_new(recorder, 0));
    gotrace_rec_go_start(thread, gotrace_rec_go_create(thread, 1, 1, NULL, 0));
    bool good = gotrace_recorder_start(recorder, 26, append, &trace) == GOTRACE_OK;
    call(which);
    good = gotrace_recorder_stop(recorder) == GOTRACE_OK && good;
    gotrace_recorder_free(recorder);
    return good && has_callers(&trace);
}

int main(void)
{
    static const char *const names[] = {"log_message", "log_or_end", "create", "sample", "park"};
    int missing = 0;
    for (int i = 0; i < FUNCTIONS; i++)
        if (!record((function)i)) {
            printf("%s: the stack lacks its callers\n", names[i]);
            missing++;
        }
    return missing;
}
