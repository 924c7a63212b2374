/*
 * trial.c - run a command on a trace.
 *
 * The command is run by a shell, in a process group of its own, which is ended as a whole: when its
 * time is up, when a signal arrives, and when the command has ended but processes of it remain.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmd/diag.h"
#include "cmd/reduce/reduce.h"

static volatile sig_atomic_t arrived;
static volatile sig_atomic_t group; /* of the command that runs; 0: none */

static void on_signal(int number)
{
    arrived = number;
    if (group)
        kill(-group, SIGKILL);
}

int trial_signal(void)
{
    return arrived;
}

bool trial_open(trial *t, const char *command, int64_t ns)
{
    const char *parent = getenv("TMPDIR");
    *t = (trial){.milliseconds = 1 + (ns - 1) / 1000000};
    /* First: a signal after mkdtemp would leave the folder behind. */
    const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &(struct sigaction){.sa_handler = on_signal}, NULL);
    t->text = malloc(TRIAL_TEXT);
    if (asprintf(&t->folder, "%s/gotrace-reduce-XXXXXX", parent && *parent ? parent : "/tmp") < 0)
        t->folder = NULL;
    if (!t->text || !t->folder || !mkdtemp(t->folder)) {
        diag_error("cannot make a folder for the traces to test: %s [system.write]",
                   strerror(errno));
        free(t->folder);
        t->folder = NULL;
        return false;
    }
    if (asprintf(&t->path, "%s/candidate.trace", t->folder) < 0)
        t->path = NULL;
    if (asprintf(&t->script, "%s \"$1\"", command) < 0)
        t->script = NULL;
    if (!t->path || !t->script) {
        diag_error("out of memory [system.memory]");
        return false;
    }
    return true;
}

void trial_close(trial *t)
{
    if (t->path)
        unlink(t->path);
    if (t->folder)
        rmdir(t->folder);
    free(t->path);
    free(t->script);
    free(t->folder);
    free(t->text);
}

/* Always a new file: the command may have put something else there, as a link to another file. */
static bool write_trace(const trial *t, const void *bytes, size_t size)
{
    const char *from = bytes;
    unlink(t->path);
    int file = open(t->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool done = file >= 0;
    while (done && size > 0) {
        ssize_t count = write(file, from, size);
        if (count < 0 && errno == EINTR)
            continue;
        done = count > 0;
        from += done ? count : 0;
        size -= done ? (size_t)count : 0;
    }
    if (!done)
        diag_error("%s: cannot write: %s [system.write]", t->path, strerror(errno));
    if (file >= 0)
        close(file);
    return done;
}

_Noreturn static void execute(const trial *t, int said)
{
    setpgid(0, 0);
    int null = open("/dev/null", O_RDWR);
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    if (null >= 0 && dup2(null, 0) >= 0 && dup2(null, 1) >= 0 && dup2(said, 2) >= 0)
        execl("/bin/sh", "sh", "-c", t->script, "sh", t->path, (char *)NULL);
    _exit(127);
}

/* Reads what the command says, without waiting: the beginning is kept, and of the rest as much is
 * read as a pipe holds. */
static void read_said(trial *t, int said)
{
    char rest[TRIAL_TEXT];
    ssize_t count = 1;
    while (count > 0 && t->text_size < TRIAL_TEXT) {
        count = read(said, t->text + t->text_size, TRIAL_TEXT - t->text_size);
        t->text_size += count > 0 ? (size_t)count : 0;
    }
    if (count > 0)
        count = read(said, rest, sizeof rest);
}

/* Waits for the process, at most as long as it may run. False if its time is up. */
static bool wait_until(trial *t, pid_t pid, int said)
{
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    bool ended = false;
    for (int64_t left = t->milliseconds; left > 0 && !arrived && !ended;) {
        struct pollfd wait[] = {{.fd = said, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
        siginfo_t info = {.si_pid = 0};
        /* Without a descriptor (an old kernel): look every few milliseconds. */
        poll(wait, fd < 0 ? 1 : 2, fd < 0 ? 2 : left > INT_MAX ? INT_MAX : (int)left);
        ended = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
                info.si_pid != 0;
        read_said(t, said);
        clock_gettime(CLOCK_MONOTONIC, &now);
        left = t->milliseconds -
               ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000);
    }
    if (fd >= 0)
        close(fd);
    return ended;
}

/* Runs the command. said: the two ends of the pipe for what it prints on standard error. */
static bool run_command(trial *t, const int said[2])
{
    pid_t pid = fork();
    if (pid < 0) {
        diag_error("cannot start a process: %s [system.limit]", strerror(errno));
        return false;
    }
    if (pid == 0)
        execute(t, said[1]);
    setpgid(pid, pid); /* whichever of both is first */
    group = pid;
    bool ended = wait_until(t, pid, said[0]);
    kill(-pid, SIGKILL);
    group = 0;
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    t->status = !ended              ? TRIAL_TIMEOUT
                : WIFEXITED(status) ? WEXITSTATUS(status)
                                    : 128 + WTERMSIG(status);
    return !arrived;
}

bool trial_run(trial *t, const void *bytes, size_t size)
{
    int said[2];
    t->text_size = 0;
    if (arrived || !write_trace(t, bytes, size))
        return false;
    if (pipe2(said, O_CLOEXEC) != 0) {
        diag_error("cannot make a pipe: %s [system.limit]", strerror(errno));
        return false;
    }
    fcntl(said[0], F_SETFL, O_NONBLOCK);
    bool done = run_command(t, said);
    close(said[0]);
    close(said[1]);
    return done;
}
