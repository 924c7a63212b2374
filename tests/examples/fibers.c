/*
 * fibers.c - a small fiber scheduler that writes a trace of Go 1.26.
 *
 *   cc -o fibers fibers.c $(pkg-config --cflags --libs gotrace)
 *   ./fibers >fibers.trace
 *   go tool trace fibers.trace
 *
 * A fiber is shown as a goroutine, and a worker as a thread with its own proc. To keep the example
 * small, the workers take turns on one thread of the system. Real threads would make the same
 * calls, with a lock around the writer.
 */
#include <gotrace.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

enum { VERSION = 26, WORKERS = 2, FIBERS = 4, STACK = 64 * 1024, FIRST_THREAD = 1000, JOBS = 50 };

typedef struct fiber {
    uint64_t id; /* of the goroutine */
    void (*run)(void);
    const char *name;
    bool runnable, ended;
    ucontext_t context;
    char stack[STACK];
} fiber;

static gotrace_writer *writer;
static fiber fibers[FIBERS];
static fiber *current;       /* the running fiber */
static int worker;           /* index of the current worker */
static ucontext_t scheduler; /* the context to which fibers return */
static int mail;             /* a mailbox for one letter; 0: empty */
static fiber *waiting[2];    /* fibers that wait until the mailbox is empty, and until it is full */

/* ---- the trace ------------------------------------------------------------------------------ */

/* Ids of texts and stacks are valid for one generation: get them when they are needed. */
static uint64_t text(const char *text)
{
    uint64_t id = 0;
    gotrace_writer_string(writer, GOTRACE_NO_PROC, text, strlen(text), &id);
    return id;
}

/* .pc is not set: the writer computes a program counter for each different frame. */
static uint64_t stack(const char *function, uint64_t line)
{
    const gotrace_frame frame = {.line = line,
                                 .function = function,
                                 .function_size = strlen(function),
                                 .file = __FILE__,
                                 .file_size = strlen(__FILE__)};
    uint64_t id = 0;
    gotrace_writer_stack(writer, &frame, 1, &id);
    return id;
}

/* Set the time before getting ids, because a new generation may begin at that time. */
static void set_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    gotrace_writer_at(writer, (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec);
}

/* Write an event of the current worker. After a failed write all later calls fail, so main checks
 * only gotrace_writer_finish. */
static void emit(const char *event, const uint64_t *args, size_t count, uint64_t where)
{
    gotrace_event_data h = {.size = sizeof h,
                            .spec = gotrace_event_spec_named(VERSION, event),
                            .proc = GOTRACE_NO_PROC, /* the proc that the thread has */
                            .thread = FIRST_THREAD + worker,
                            .args = args,
                            .arg_count = count,
                            .stack = where};
    if (gotrace_writer_event(writer, &h) < 0)
        fprintf(stderr, "fibers: %s: %s\n", event, gotrace_writer_error(writer)->message);
}

#define EMIT(event, where, ...)                                                                    \
    emit(event, (const uint64_t[]){__VA_ARGS__}, sizeof((uint64_t[]){__VA_ARGS__}) / 8, where)

/* ---- the scheduler -------------------------------------------------------------------------- */

static void begin(void)
{
    current->run();
    set_time();
    emit("GoDestroy", NULL, 0, 0);
    current->ended = true;
}

static void create(fiber *f, uint64_t id, const char *name, void (*run)(void))
{
    f->id = id;
    f->run = run;
    f->name = name;
    f->runnable = true;
    getcontext(&f->context);
    f->context.uc_stack.ss_sp = f->stack;
    f->context.uc_stack.ss_size = STACK;
    f->context.uc_link = &scheduler;
    makecontext(&f->context, begin, 0);
    set_time();
    EMIT("GoCreate", 0, id, stack(name, 1));
}

/* Block until wake is called with the same place. */
static void block(fiber **place, const char *reason, uint64_t line)
{
    *place = current;
    current->runnable = false;
    set_time();
    EMIT("GoBlock", stack(current->name, line), text(reason));
    swapcontext(&current->context, &scheduler);
}

static void wake(fiber **place, uint64_t line)
{
    if (!*place)
        return;
    (*place)->runnable = true;
    set_time();
    EMIT("GoUnblock", stack(current->name, line), (*place)->id);
    *place = NULL;
}

/* Let another fiber run. */
static void yield(uint64_t line)
{
    set_time();
    EMIT("GoStop", stack(current->name, line), text("runtime.Gosched"));
    swapcontext(&current->context, &scheduler);
}

/* The next runnable fiber, round robin. */
static fiber *choose(void)
{
    static unsigned last;
    for (unsigned i = 1; i <= FIBERS; i++) {
        fiber *f = &fibers[(last + i) % FIBERS];
        if (f->runnable && !f->ended) {
            last = (last + i) % FIBERS;
            return f;
        }
    }
    return NULL;
}

static void schedule(void)
{
    while ((current = choose())) {
        worker = (worker + 1) % WORKERS;
        set_time();
        EMIT("GoStart", 0, current->id);
        swapcontext(&scheduler, &current->context);
    }
}

/* ---- the fibers ----------------------------------------------------------------------------- */

static void work(unsigned amount)
{
    for (volatile unsigned done = 0; done < amount; done++)
        continue;
}

static void send_letters(void)
{
    for (int i = 1; i <= JOBS; i++) {
        while (mail)
            block(&waiting[0], "mailbox full", __LINE__);
        mail = i;
        wake(&waiting[1], __LINE__);
    }
}

static void read_letters(void)
{
    for (int i = 1; i <= JOBS; i++) {
        while (!mail)
            block(&waiting[1], "mailbox empty", __LINE__);
        mail = 0;
        wake(&waiting[0], __LINE__);
        set_time();
        EMIT("UserRegionBegin", stack(current->name, __LINE__), 0, text("read a letter"));
        work(20000);
        set_time();
        EMIT("UserRegionEnd", stack(current->name, __LINE__), 0, text("read a letter"));
    }
}

static void count_sheep(void)
{
    for (int i = 0; i < JOBS; i++) {
        work(10000);
        yield(__LINE__);
    }
}

/* ---- main ----------------------------------------------------------------------------------- */

static bool write_bytes(void *file, const void *bytes, size_t size)
{
    return fwrite(bytes, 1, size, file) == size;
}

int main(void)
{
    gotrace_error error = GOTRACE_INIT(gotrace_error);
    if (gotrace_writer_new(VERSION, NULL, write_bytes, stdout, NULL, &writer, &error) < 0) {
        fprintf(stderr, "fibers: %s\n", error.message);
        return 1;
    }
    for (worker = 0; worker < WORKERS; worker++) {
        set_time();
        EMIT("ProcStart", 0, (uint64_t)worker);
    }
    worker = 0;
    create(&fibers[0], 1, "send_letters", send_letters);
    create(&fibers[1], 2, "read_letters", read_letters);
    create(&fibers[2], 3, "count_sheep", count_sheep);
    create(&fibers[3], 4, "count_sheep", count_sheep);
    schedule();
    for (worker = 0; worker < WORKERS; worker++) {
        set_time();
        emit("ProcStop", NULL, 0, 0);
    }
    bool good = gotrace_writer_finish(writer) == GOTRACE_OK && fflush(stdout) == 0;
    if (!good)
        fprintf(stderr, "fibers: %s\n", gotrace_writer_error(writer)->message);
    gotrace_writer_free(writer);
    return !good;
}
