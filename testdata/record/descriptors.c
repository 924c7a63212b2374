/*
 * descriptors.c - uses its descriptors while other threads wait long: the lowest free one, and then
 * all numbers up to the limit. Exits with 1 if they are not as without recording. For tests/calls.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 200, WAITS = 10 };

static atomic_bool ends;
static atomic_int ready; /* how many threads have waited WAITS times */

static void *waits(void *unused)
{
    for (int i = 1; !ends; i++) {
        usleep(500);
        ready += i == WAITS;
    }
    return unused;
}

static void require(bool is, const char *what)
{
    if (is)
        return;
    perror(what);
    exit(1);
}

int main(void)
{
    static const char text[] = "1 2 3\n";
    pthread_t threads[THREADS];
    struct rlimit limit = {256, 256};
    char name[] = "descriptors.XXXXXX";
    const int file = mkstemp(name), first = file + 1;
    require(file >= 0 && unlink(name) == 0 && write(file, text, sizeof text) > 0, name);
    require(setrlimit(RLIMIT_NOFILE, &limit) == 0, "setrlimit");
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, waits, NULL);
    /* While a thread opens its file, the lowest descriptor is another one. */
    while (ready < THREADS)
        usleep(1000);
    for (int i = 0; i < ROUNDS; i++) {
        const int fd = open("/dev/null", O_RDONLY);
        require(fd == first && close(fd) == 0, "the lowest descriptor");
        usleep(100);
    }
    for (int fd = first; fd < (int)limit.rlim_cur; fd++)
        require(dup2(file, fd) == fd, "dup2");
    usleep(20000);
    ends = true;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int fd = first; fd < (int)limit.rlim_cur; fd++)
        require(lseek(fd, 0, SEEK_CUR) == sizeof text && close(fd) == 0, "a descriptor");
    return 0;
}
