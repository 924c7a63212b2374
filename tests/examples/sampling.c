/*
 * sampling.c - takes a CPU sample of the running thread for every millisecond that it computes.
 *
 *   cc -fno-omit-frame-pointer -o sampling sampling.c $(pkg-config --cflags --libs gotrace)
 *   ./sampling >sampling.trace
 *   gotrace stat --only samples sampling.trace
 *   gotrace convert --to pprof -o sampling.pb.gz sampling.trace
 *
 * The signal interrupts any thread, at any instruction, so its handler uses nothing but what is
 * safe in a handler.
 */
#include <gotrace_record.h>
#include <gotrace_symbols.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

enum { SAMPLES = 10, PERIOD_US = 1000 };

static gotrace_recorder *recorder;
static _Thread_local gotrace_rec_thread *thread; /* NULL: the recorder does not know the thread */
static volatile sig_atomic_t samples;

static void take_sample(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)info;
    gotrace_rec_cpu_sample_context(recorder, thread, context);
    samples = samples + 1;
}

static bool set_timer(long period_us)
{
    const struct timeval period = {.tv_usec = period_us};
    return setitimer(ITIMER_PROF, &(struct itimerval){period, period}, NULL) == 0;
}

static __attribute__((noinline)) void compute(void)
{
    volatile unsigned table[1000] = {1};
    for (unsigned i = 0; samples < SAMPLES; i = (i + 1) % 1000)
        table[(i + 7) % 1000] += table[i];
}

static __attribute__((noinline)) void serve(void)
{
    compute();
    gotrace_rec_log(thread, 0, "served", "a request", GOTRACE_REC_CALLERS);
}

static bool write_bytes(void *file, const void *bytes, size_t size)
{
    return fwrite(bytes, 1, size, file) == size;
}

int main(void)
{
    const struct sigaction action = {.sa_sigaction = take_sample,
                                     .sa_flags = SA_SIGINFO | SA_RESTART};
    gotrace_symbols *symbols;
    gotrace_error error = GOTRACE_INIT(gotrace_error);
    if (gotrace_symbols_new(NULL, &symbols, &error) < 0 ||
        gotrace_symbols_read_maps(symbols, "/proc/self/maps", &error) < 0) {
        fprintf(stderr, "sampling: %s\n", error.message);
        return 1;
    }
    const gotrace_recorder_options options = {
        .size = sizeof options, .resolve = gotrace_symbols_resolve, .resolve_ctx = symbols};
    if (gotrace_recorder_new(&options, NULL, &recorder, &error) < 0) {
        fprintf(stderr, "sampling: %s\n", error.message);
        return 1;
    }
    thread = gotrace_rec_thread_new(recorder, 1);
    gotrace_rec_proc_start(thread, gotrace_rec_proc_new(recorder, 0));
    gotrace_rec_go_start(thread, gotrace_rec_go_create(thread, 1, (uint64_t)main, NULL, 0));
    bool good = gotrace_recorder_start(recorder, 26, write_bytes, stdout) == GOTRACE_OK;
    good = good && sigaction(SIGPROF, &action, NULL) == 0 && set_timer(PERIOD_US);
    serve();
    set_timer(0); /* no sample is taken after the recorder is freed */
    good = gotrace_recorder_stop(recorder) == GOTRACE_OK && good && fflush(stdout) == 0;
    gotrace_recorder_free(recorder);
    gotrace_symbols_free(symbols);
    return !good;
}
