/*
 * plugins.c - libraries that are loaded and unloaded again.
 *
 *   plugins record LIBGOTRACE   loads the library, records a trace with it, and unloads it, 20
 * times plugins wait PLUGIN         loads a library whose function plugin_wait waits, and unloads
 * it
 *
 * With -DPLUGIN it is that library.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#if defined PLUGIN

void plugin_wait(void);
void plugin_wait(void)
{
    usleep(300000);
    write(-1, NULL, 0); /* not a tail call */
}

#else

#include <dlfcn.h>
#include <pthread.h>

#include "gotrace_record.h"

/* The functions that are used. */
#define CALLS(X)                                                                                   \
    X(gotrace_recorder_new)                                                                        \
    X(gotrace_recorder_start)                                                                      \
    X(gotrace_recorder_stop)                                                                       \
    X(gotrace_recorder_free)                                                                       \
    X(gotrace_rec_thread_new)                                                                      \
    X(gotrace_rec_proc_new)                                                                        \
    X(gotrace_rec_proc_start)                                                                      \
    X(gotrace_rec_go_create)                                                                       \
    X(gotrace_rec_go_start)                                                                        \
    X(gotrace_rec_heap_alloc)

static struct {
#define MEMBER(name) __typeof__(name) *name;
    CALLS(MEMBER)
} calls;

static bool count(void *ctx, const void *bytes, size_t size)
{
    (void)bytes;
    *(size_t *)ctx += size;
    return true;
}

/* A thread that uses the library, and ends after it is unloaded. */
static pthread_barrier_t barrier;
static gotrace_recorder *recorder;

static void *use(void *unused)
{
    gotrace_rec_thread *t = calls.gotrace_rec_thread_new(recorder, 2);
    calls.gotrace_rec_proc_start(t, calls.gotrace_rec_proc_new(recorder, 1));
    calls.gotrace_rec_go_start(t, calls.gotrace_rec_go_create(t, 1, 1, NULL, 0));
    for (unsigned i = 0; i < 1000; i++)
        calls.gotrace_rec_heap_alloc(t, i);
    pthread_barrier_wait(&barrier); /* recorded */
    pthread_barrier_wait(&barrier); /* unloaded */
    return unused;
}

static int record_once(const char *path)
{
    pthread_t thread;
    size_t size = 0;
    void *library = dlopen(path, RTLD_NOW);
    if (!library)
        return 1;
#define FIND(name)                                                                                 \
    void *name##_found = dlsym(library, #name);                                                    \
    memcpy(&calls.name, &name##_found, sizeof name##_found);
    CALLS(FIND)
    if (calls.gotrace_recorder_new(NULL, NULL, &recorder, NULL) != GOTRACE_OK ||
        calls.gotrace_recorder_start(recorder, 26, count, &size) != GOTRACE_OK ||
        pthread_create(&thread, NULL, use, NULL) != 0)
        return 1;
    pthread_barrier_wait(&barrier);
    bool good = calls.gotrace_recorder_stop(recorder) == GOTRACE_OK && size > 1000;
    calls.gotrace_recorder_free(recorder);
    good = dlclose(library) == 0 && good && !dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    pthread_barrier_wait(&barrier);
    return pthread_join(thread, NULL) == 0 && good ? 0 : 1;
}

static int wait_in(const char *path)
{
    void *library = dlopen(path, RTLD_NOW), *found = library ? dlsym(library, "plugin_wait") : NULL;
    void (*function)(void) = NULL;
    memcpy(&function, &found, sizeof found);
    if (!function)
        return 1;
    function();
    return dlclose(library);
}

int main(int argc, char **argv)
{
    int failed = argc == 3 ? 0 : 2;
    if (failed == 0 && strcmp(argv[1], "wait") == 0)
        return wait_in(argv[2]);
    pthread_barrier_init(&barrier, NULL, 2);
    for (int i = 0; i < 20 && failed == 0; i++)
        failed = record_once(argv[2]);
    return failed;
}

#endif
