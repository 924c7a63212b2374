/*
 * scheduler.c - a scheduler of fibers on several threads, which records what it does.
 *
 *   cc -o scheduler scheduler.c $(pkg-config --cflags --libs gotrace) -lpthread
 *   ./scheduler 26 >scheduler.trace
 *   go tool trace scheduler.trace
 *
 * A fiber is shown as a goroutine. Each worker is a thread with a proc of its own. The scheduler's
 * lock is held while a worker changes to a fiber, and back: nobody can run a fiber before it is
 * saved.
 */
#include <gotrace_record.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum { WORKERS = 3, FIBERS = 8, LETTERS = 200, STACK = 64 * 1024 };

typedef struct worker {
    pthread_t thread;
    gotrace_rec_thread *rec; /* only this thread uses it */
    gotrace_rec_proc *proc;
    ucontext_t context;
} worker;

typedef struct fiber {
    gotrace_rec_go *go;
    worker *on; /* that runs it */
    void (*run)(struct fiber *);
    ucontext_t context;
    struct fiber *next; /* in a queue */
    char stack[STACK];
} fiber;

typedef struct queue {
    fiber *first, *last;
} queue;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static gotrace_recorder *recorder;
static queue runnable, readers; /* fibers that can run; that wait for a letter */
static int mail, sent, alive;

/* ---- stacks ---------------------------------------------------------------------------------- */

static void send_letters(fiber *self);
static void read_letters(fiber *self);

/* Called when a generation ends, and not while events are recorded. */
static size_t resolve(void *ctx, uint64_t pc, gotrace_frame *frames, size_t max)
{
    (void)ctx, (void)max;
    const uint64_t sender = (uint64_t)send_letters, reader = (uint64_t)read_letters;
    const bool sends = sender < reader ? pc >= sender && pc < reader : pc >= sender || pc < reader;
    frames[0].function = sends ? "send_letters" : "read_letters";
    frames[0].function_size = strlen(frames[0].function);
    frames[0].file = __FILE__;
    frames[0].file_size = strlen(__FILE__);
    return 1;
}

/* The stack of a function that a fiber calls is its return address. A deeper stack would be found
 * by frame pointers or by an unwinder. */
#define CALLER ((const uint64_t[]){(uint64_t)__builtin_return_address(0)})

/* ---- the scheduler: functions that take a fiber are called by it, with the lock held --------- */

static void append(queue *q, fiber *f)
{
    f->next = NULL;
    if (q->first)
        q->last->next = f;
    else
        q->first = f;
    q->last = f;
}

static fiber *take(queue *q)
{
    fiber *f = q->first;
    if (f)
        q->first = f->next;
    return f;
}

static __attribute__((noinline)) void yield(fiber *self)
{
    gotrace_rec_go_sched(self->on->rec, CALLER, 1);
    append(&runnable, self);
    swapcontext(&self->context, &self->on->context);
}

static __attribute__((noinline)) void wait_in(fiber *self, queue *q)
{
    gotrace_rec_go_park(self->on->rec, GOTRACE_REC_COND, CALLER, 1);
    append(q, self);
    swapcontext(&self->context, &self->on->context);
}

static __attribute__((noinline)) void wake(fiber *self, queue *q)
{
    fiber *f = take(q);
    if (!f)
        return;
    gotrace_rec_go_unpark(self->on->rec, f->go, CALLER, 1);
    append(&runnable, f);
    pthread_cond_signal(&changed);
}

static void begin(unsigned high, unsigned low)
{
    fiber *self = (fiber *)(uintptr_t)((uint64_t)high << 32 | low);
    self->run(self);
    gotrace_rec_go_end(self->on->rec);
    alive--;
    pthread_cond_broadcast(&changed);
    setcontext(&self->on->context);
}

static void create(fiber *f, gotrace_rec_thread *by, uint64_t id, void (*run)(fiber *))
{
    const uint64_t address = (uint64_t)(uintptr_t)f;
    f->run = run;
    getcontext(&f->context);
    f->context.uc_stack.ss_sp = f->stack;
    f->context.uc_stack.ss_size = STACK;
    makecontext(&f->context, (void (*)(void))begin, 2, (unsigned)(address >> 32),
                (unsigned)address);
    f->go = gotrace_rec_go_create(by, id, (uint64_t)run, NULL, 0);
    append(&runnable, f);
    alive++;
}

/* A worker that has nothing to do has no proc. */
static void wait_for_work(worker *w)
{
    gotrace_rec_proc_stop(w->rec);
    while (!runnable.first && alive > 0)
        pthread_cond_wait(&changed, &lock);
    gotrace_rec_proc_start(w->rec, w->proc);
}

static void *work(void *arg)
{
    worker *w = arg;
    pthread_mutex_lock(&lock);
    gotrace_rec_proc_start(w->rec, w->proc);
    while (alive > 0) {
        fiber *f = take(&runnable);
        if (!f) {
            wait_for_work(w);
            continue;
        }
        f->on = w;
        gotrace_rec_go_start(w->rec, f->go);
        swapcontext(&w->context, &f->context);
    }
    gotrace_rec_proc_stop(w->rec);
    gotrace_rec_thread_end(w->rec);
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* ---- the fibers ------------------------------------------------------------------------------ */

/* Without the scheduler's lock, as what a program does. */
static void compute(fiber *self)
{
    pthread_mutex_unlock(&lock);
    gotrace_rec_region(self->on->rec, 0, GOTRACE_REC_BEGIN, "compute", NULL, 0);
    for (volatile int i = 0; i < 20000; i++)
        continue;
    gotrace_rec_region(self->on->rec, 0, GOTRACE_REC_END, "compute", NULL, 0);
    pthread_mutex_lock(&lock);
}

static void send_letters(fiber *self)
{
    while (sent < LETTERS) {
        sent++;
        mail++;
        wake(self, &readers);
        compute(self);
        yield(self);
    }
    while (readers.first)
        wake(self, &readers);
}

static void read_letters(fiber *self)
{
    while (mail > 0 || sent < LETTERS) {
        if (mail == 0) {
            wait_in(self, &readers);
            continue;
        }
        mail--;
        compute(self);
    }
}

/* ---- main ------------------------------------------------------------------------------------ */

static bool write_bytes(void *file, const void *bytes, size_t size)
{
    return fwrite(bytes, 1, size, file) == size;
}

int main(int argc, char **argv)
{
    static fiber fibers[FIBERS];
    static worker workers[WORKERS];
    const gotrace_recorder_options options = {.size = sizeof options, .resolve = resolve};
    gotrace_error error = GOTRACE_INIT(gotrace_error);
    if (gotrace_recorder_new(&options, NULL, &recorder, &error) < 0) {
        fprintf(stderr, "scheduler: %s\n", error.message);
        return 1;
    }
    gotrace_rec_thread *main_thread = gotrace_rec_thread_new(recorder, 1);
    for (int i = 0; i < FIBERS; i++)
        create(&fibers[i], main_thread, (uint64_t)i + 1, i % 2 ? send_letters : read_letters);
    /* What exists already is described in the trace. */
    bool good = gotrace_recorder_start(recorder, argc > 1 ? atoi(argv[1]) : 26, write_bytes,
                                       stdout) == GOTRACE_OK;
    for (int i = 0; i < WORKERS; i++) {
        workers[i].rec = gotrace_rec_thread_new(recorder, (uint64_t)i + 2);
        workers[i].proc = gotrace_rec_proc_new(recorder, (uint64_t)i);
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    }
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i].thread, NULL);
    good = gotrace_recorder_stop(recorder) == GOTRACE_OK && good && fflush(stdout) == 0;
    if (!good)
        fprintf(stderr, "scheduler: %s\n", gotrace_recorder_error(recorder)->message);
    gotrace_recorder_free(recorder);
    return !good;
}
