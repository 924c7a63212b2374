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

enum { THREADS = 4, ROUNDS = 200 };

static atomic_bool ends;

static void *waits(void *unused)
{
    while (!ends)
        usleep(500);
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
    usleep(20000);
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
