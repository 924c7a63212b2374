/* Threads that are named in all ways. */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <sys/prctl.h>
#include <unistd.h>

static sem_t go, ready;

/* It starts to run again. */
static void wait_and_sleep(void)
{
    sem_wait(&go);
    usleep(1000);
}

static void *names_itself(void *unused)
{
    pthread_setname_np(pthread_self(), "itself");
    wait_and_sleep();
    return unused;
}

static void *uses_prctl(void *unused)
{
    prctl(PR_SET_NAME, "GC Thread#0");
    wait_and_sleep();
    return unused;
}

static void *is_named(void *unused)
{
    sem_post(&ready);
    wait_and_sleep();
    return unused;
}

static void *renames(void *unused)
{
    pthread_setname_np(pthread_self(), "first");
    usleep(1000);
    pthread_setname_np(pthread_self(), "fifteen letters");
    wait_and_sleep();
    return unused;
}

static void *has_no_name(void *unused)
{
    wait_and_sleep();
    return unused;
}

static void *parent(void *unused)
{
    pthread_t child;
    pthread_setname_np(pthread_self(), "inherited");
    usleep(1000);
    pthread_create(&child, NULL, has_no_name, NULL);
    pthread_join(child, NULL);
    return unused;
}

int main(void)
{
    static void *(*const routines[])(void *) = {names_itself, uses_prctl, is_named,
                                                renames,      parent,     has_no_name};
    enum { COUNT = sizeof routines / sizeof *routines };
    pthread_t threads[COUNT];
    for (int i = 0; i < COUNT; i++)
        pthread_create(&threads[i], NULL, routines[i], NULL);
    sem_wait(&ready);
    usleep(20000); /* it waits now */
    if (pthread_setname_np(threads[2], "by another") != 0 ||
        pthread_setname_np(threads[2], "a name that is too long") == 0)
        return 1;
    pthread_setname_np(pthread_self(), "main thread");
    usleep(1000);
    for (int i = 0; i < COUNT + 1; i++)
        sem_post(&go);
    for (int i = 0; i < COUNT; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
