/*
 * count.c - measure a command: count REPORT COMMAND ARGUMENT...
 *
 * Writes to REPORT a line with the instructions executed in user mode by all threads (0 if the
 * system does not count them), the peak memory in KiB, the bytes that were read from files and
 * pipes (0 if the system does not count them), and the nanoseconds of processor time, of user and
 * system. Exits with the command's status.
 */
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Open a counter that starts at the exec of a child, and includes its threads. */
static int count_instructions(void)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE,
                                   .size = sizeof attr,
                                   .config = PERF_COUNT_HW_INSTRUCTIONS,
                                   .disabled = 1,
                                   .inherit = 1,
                                   .enable_on_exec = 1,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1};
    return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* The bytes that a process has read, which has ended and is not waited for yet. */
static unsigned long long count_read(pid_t child)
{
    char path[64];
    unsigned long long bytes = 0;
    siginfo_t info;
    if (waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) != 0)
        return 0;
    snprintf(path, sizeof path, "/proc/%ld/io", (long)child);
    FILE *io = fopen(path, "r");
    if (!io)
        return 0;
    if (fscanf(io, "rchar: %llu", &bytes) != 1)
        bytes = 0;
    fclose(io);
    return bytes;
}

static uint64_t nanoseconds(struct timeval time)
{
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_usec * 1000;
}

int main(int argc, char **argv)
{
    int ends[2], status;
    char byte = 0;
    if (argc < 3 || pipe(ends) != 0) {
        fprintf(stderr, "usage: count REPORT COMMAND ARGUMENT...\n");
        return 125;
    }
    /* the child inherits the counter */
    int counter = count_instructions();
    pid_t child = fork();
    if (child == 0) {
        if (counter >= 0)
            close(counter);
        close(ends[1]);
        if (read(ends[0], &byte, 1) != 1)
            _exit(125);
        execvp(argv[2], argv + 2);
        _exit(127);
    }
    if (write(ends[1], &byte, 1) != 1)
        return 125;
    unsigned long long bytes = count_read(child);
    if (waitpid(child, &status, 0) != child)
        return 125;
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    uint64_t cost = 0;
    if (counter < 0 || read(counter, &cost, sizeof cost) != sizeof cost)
        cost = 0;
    FILE *report = fopen(argv[1], "w");
    if (!report ||
        fprintf(report, "%llu %ld %llu %llu\n", (unsigned long long)cost, usage.ru_maxrss, bytes,
                (unsigned long long)(nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime))) <
            0 ||
        fclose(report) != 0)
        return 125;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
