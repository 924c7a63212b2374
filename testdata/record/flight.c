/*
 * flight.c - a flight recorder of fibers that were created long before: `ping` and `pong`, which
 * wake each other, and `idle`, which never runs. The C library calls the function of a fiber, and
 * so is outside of it in its stacks. Writes the last generations to standard output.
 */
#include <gotrace_record.h>
#include <gotrace_symbols.h>
#include <stdio.h>
#include <ucontext.h>

enum { FIBERS = 3, TURNS = 100, STACK = 64 << 10 };

typedef struct fiber {
    gotrace_rec_go *go;
    ucontext_t context;
    char stack[STACK] __attribute__((aligned(16)));
} fiber;

static gotrace_recorder *recorder;
static gotrace_rec_thread *thread;
static fiber fibers[FIBERS];
static ucontext_t scheduler;

static __attribute__((noinline)) void wait_in(fiber *self)
{
    gotrace_rec_go_park(thread, GOTRACE_REC_RECEIVE, GOTRACE_REC_CALLERS);
    swapcontext(&self->context, &scheduler);
}

static __attribute__((noinline)) void wake(const fiber *other)
{
    gotrace_rec_go_unpark(thread, other->go, GOTRACE_REC_CALLERS);
}

static void ping(void)
{
    for (;;) {
        wait_in(&fibers[0]);
        wake(&fibers[1]);
    }
}

static void pong(void)
{
    for (;;) {
        wake(&fibers[0]);
        wait_in(&fibers[1]);
    }
}

static void idle(void)
{
}

static void create(fiber *f, uint64_t id, void (*run)(void))
{
    getcontext(&f->context);
    f->context.uc_stack.ss_sp = f->stack;
    f->context.uc_stack.ss_size = STACK;
    makecontext(&f->context, run, 0);
    f->go = gotrace_rec_go_create(thread, id, (uint64_t)(uintptr_t)run, GOTRACE_REC_CALLERS);
}

static void resume(fiber *f) /* until it waits */
{
    gotrace_rec_go_start(thread, f->go);
    swapcontext(&scheduler, &f->context);
}

static bool write_bytes(void *file, const void *bytes, size_t size)
{
    return fwrite(bytes, 1, size, (FILE *)file) == size;
}

int main(void)
{
    gotrace_symbols *symbols;
    gotrace_recorder_options options = {.size = sizeof options,
                                        .resolve = gotrace_symbols_resolve,
                                        .generation_ns = UINT64_MAX,
                                        .flight_ns = 1};
    if (gotrace_symbols_new(NULL, &symbols, NULL) < 0 ||
        gotrace_symbols_read_maps(symbols, "/proc/self/maps", NULL) < 0)
        return 1;
    options.resolve_ctx = symbols;
    if (gotrace_recorder_new(&options, NULL, &recorder, NULL) < 0)
        return 1;
    thread = gotrace_rec_thread_new(recorder, 1);
    gotrace_rec_proc_start(thread, gotrace_rec_proc_new(recorder, 0));
    if (gotrace_recorder_start(recorder, 26, NULL, NULL) < 0)
        return 1;
    create(&fibers[0], 1, ping);
    create(&fibers[1], 2, pong);
    create(&fibers[2], 3, idle);
    for (int i = 0; i < TURNS; i++) {
        resume(&fibers[0]);
        resume(&fibers[1]);
        if (i % 10 == 0)
            gotrace_recorder_advance(recorder);
    }
    const bool good = gotrace_recorder_snapshot(recorder, write_bytes, stdout) == GOTRACE_OK;
    gotrace_recorder_stop(recorder);
    gotrace_recorder_free(recorder);
    gotrace_symbols_free(symbols);
    return !good || fflush(stdout) != 0;
}
