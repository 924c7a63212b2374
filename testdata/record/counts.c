/*
 * counts.c - counts FILE [MICROSECONDS]: threads call functions that `gotrace record` sees, and
 * count in FILE, which is mapped, the calls that have returned. For tests/record.
 *
 * With a time another process kills this one so long after all threads have begun. Without it each
 * thread waits until there is a file "go", makes CALLS calls, and then the last number of FILE
 * becomes 1.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, CALLS = 50000 };

typedef struct counts {
    _Atomic uint64_t returned[THREADS], begun, ended;
} counts;

static counts *shared;
static int null;
static uint64_t most;

static void *count(void *arg)
{
    _Atomic uint64_t *returned = arg;
    const struct timespec none = {0};
    shared->begun++;
    while (most == CALLS && access("go", F_OK) != 0)
        sched_yield();
    for (uint64_t i = 0; i < most; i++) {
        if (i % 8 == 0)
            nanosleep(&none, NULL);
        else if (write(null, "", 1) != 1)
            abort();
        atomic_store(returned, i + 1);
    }
    return NULL;
}

/* The child is not recorded. */
static void kill_later(long microseconds)
{
    pid_t program = getpid();
    if (fork() != 0)
        return;
    while (shared->begun < THREADS)
        usleep(100);
    usleep((useconds_t)microseconds);
    kill(program, SIGKILL);
    _exit(0);
}

int main(int argc, char **argv)
{
    int fd = argc > 1 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0666) : -1;
    if (fd < 0 || ftruncate(fd, sizeof *shared) < 0)
        return 1;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    null = open("/dev/null", O_WRONLY);
    if (shared == MAP_FAILED || null < 0)
        return 1;
    most = argc > 2 ? UINT64_MAX : CALLS;
    if (argc > 2)
        kill_later(atol(argv[2]));
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, count, &shared->returned[i]) != 0)
            return 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    shared->ended = 1;
    return 0;
}
