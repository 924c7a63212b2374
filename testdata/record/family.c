/*
 * family.c - family CHILDREN: creates so many processes, each with two threads that wait for ever
 * and one that counts; the first one ends by a signal, which is sent when all have counted. Prints
 * "PID COUNT" of each. For tests/processes.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 500 };

static sem_t *counted; /* of all processes */
static sem_t never;

static void *wait_here(void *arg)
{
    (void)arg;
    sem_wait(&never);
    return NULL;
}

static void *count_calls(void *arg)
{
    const unsigned count = *(unsigned *)arg;
    for (unsigned i = 0; i < count; i++)
        if (write(-1, "", 0) == 0)
            abort();
    return NULL;
}

static void live(unsigned number, bool last)
{
    pthread_t waiting[2], counting;
    unsigned count = 100 + number;
    pthread_create(&waiting[0], NULL, wait_here, NULL);
    pthread_create(&waiting[1], NULL, wait_here, NULL);
    pthread_create(&counting, NULL, count_calls, &count);
    pthread_join(counting, NULL);
    if (last) /* the first process waits then */
        usleep(500000);
    sem_post(counted);
    if (number == 0)
        pause();
}

int main(int count, char **arguments)
{
    const unsigned children = count > 1 ? (unsigned)atoi(arguments[1]) : 3;
    pid_t pids[MOST];
    counted = mmap(NULL, sizeof *counted, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                   0);
    if (children > MOST || counted == MAP_FAILED || sem_init(counted, 1, 0) ||
        sem_init(&never, 0, 0))
        return 2;
    for (unsigned i = 0; i < children; i++) {
        pids[i] = fork();
        if (pids[i] < 0)
            return 2;
        if (pids[i] == 0) {
            live(i, i + 1 == children);
            _exit(0);
        }
    }
    for (unsigned i = 0; i < children; i++)
        while (sem_wait(counted) < 0 && errno == EINTR)
            continue;
    kill(pids[0], SIGKILL);
    for (unsigned i = 0; i < children; i++) {
        waitpid(pids[i], NULL, 0);
        printf("%d %u\n", (int)pids[i], 100 + i);
    }
    return 7;
}
