/*
 * measure.c - run a program and report its time and memory.
 *
 *   measure REPORT PROGRAM [ARGUMENT...]
 *
 * Writes "SECONDS CPU_SECONDS MAXRSS_KIB" to the file REPORT; exits with the program's status, 127
 * if it could not be run, or 128 + the signal that ended it.
 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double seconds_of(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
    struct rusage usage;
    int status;
    pid_t child;
    FILE *report;
    double start;

    if (argc < 3) {
        fprintf(stderr, "usage: measure REPORT PROGRAM [ARGUMENT...]\n");
        return 2;
    }
    start = now();
    child = fork();
    if (child == 0) {
        execvp(argv[2], argv + 2);
        perror(argv[2]);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) < 0) {
        perror("measure");
        return 127;
    }
    report = fopen(argv[1], "w");
    if (!report ||
        fprintf(report, "%.3f %.3f %ld\n", now() - start,
                seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime), usage.ru_maxrss) < 0 ||
        fclose(report) != 0) {
        perror(argv[1]);
        return 127;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
