/*
 * signals.c - signals that `gotrace record` gets.
 *
 * A signal is passed to the program, if it does not have it as a member of the process group, as
 * long as a thread of it can handle signals. Later ones end
 * recording, except that which ends the program, if its sender sends it to both, as terminals and
 * timeout(1) do. So do those that come while the program is stopped, which gets them when it goes
 * on.
 */
#include "cmd/record/record.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    TOGETHER_NS = 200000000, /* of signals that are sent to both at the same time */
    REPLAY_NS = 400000000,   /* of recording after a signal that ends it */
    TRACE_NS = 1000000000,   /* in which the trace is complete */
};

static const int caught[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
enum { CAUGHT = sizeof caught / sizeof *caught };

static struct sigaction usual[CAUGHT]; /* what they did before */

static volatile sig_atomic_t child;          /* 0: none, or it was waited for */
static volatile sig_atomic_t alone;          /* there is none to which signals are passed */
static volatile sig_atomic_t killed_by;      /* how it ended; 0: by itself, or it has not */
static volatile sig_atomic_t threads = -1;   /* descriptor of /proc/PID/task */
static _Atomic uint64_t end_time;            /* of the program; 0: unknown */
static volatile sig_atomic_t doubtful;       /* a signal that may be what ends the program, ... */
static _Atomic uint64_t doubtful_time;       /* ... when it came; 0: none */
static volatile sig_atomic_t doubts_stop;    /* ... and the program was stopped then */
static volatile sig_atomic_t ends_recording; /* a signal that came later ... */
static _Atomic uint64_t wants_end;           /* ... at that time; 0: none */
static volatile sig_atomic_t keeps_snapshot_signal, wants_snapshot;

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void signals_keep_snapshot(void)
{
    keeps_snapshot_signal = 1;
}

bool signals_want_snapshot(void)
{
    bool wanted = wants_snapshot;
    wants_snapshot = 0;
    return wanted;
}

/* ---- the program ----------------------------------------------------------------------------- */

/* A field of /proc/PID/stat, see proc(5); 0: there is none. */
static uint64_t stat_field(const char *text, unsigned number)
{
    const char *p = strrchr(text, ')'); /* the second one ends there */
    uint64_t value = 0;
    for (unsigned i = 2; p && i < number; i++)
        p = strchr(p + 1, ' ');
    while (p && p[1] >= '0' && p[1] <= '9')
        value = 10 * value + (uint64_t)(*++p - '0');
    return value;
}

/* Whether a thread, or any thread, can handle signals. */
typedef enum handling { ENDS, STOPPED, HANDLES } handling;

/* A thread ends, too, if SIGKILL is pending, in a process that does not know that yet. It is
 * stopped by a signal, or by a tracer, which may be where it ends. */
static handling handling_of(const char *id)
{
    enum { FLAGS = 9, PENDING = 31, EXITING = 0x4, SIGNALED = 0x400 }; /* PF_ of the kernel */
    char path[512], text[1024];
    stpcpy(stpcpy(path, id), "/stat");
    int fd = openat(threads, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return ENDS;
    const ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0)
        return ENDS;
    text[n] = '\0';
    if (stat_field(text, FLAGS) & (EXITING | SIGNALED) ||
        stat_field(text, PENDING) & UINT64_C(1) << (SIGKILL - 1))
        return ENDS;
    const char *name_end = strrchr(text, ')');
    return name_end && (strncmp(name_end, ") T", 3) == 0 || strncmp(name_end, ") t", 3) == 0)
               ? STOPPED
               : HANDLES;
}

/* In a signal handler, so that opendir cannot be used. */
static handling program_handling(void)
{
    char list[4096] __attribute__((aligned(8)));
    handling best = ENDS;
    ssize_t n;
    if (threads < 0)
        return HANDLES; /* unknown */
    /* Its own position: a handler may interrupt this function. */
    const int folder = openat(threads, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (best < HANDLES && (n = getdents64(folder, list, sizeof list)) > 0) {
        for (ssize_t at = 0; at < n && best < HANDLES;) {
            const struct dirent64 *entry = (const struct dirent64 *)(const void *)(list + at);
            const handling own = entry->d_name[0] != '.' ? handling_of(entry->d_name) : ENDS;
            best = own > best ? own : best;
            at += entry->d_reclen;
        }
    }
    if (folder >= 0)
        close(folder);
    return best;
}

/* ---- the end of recording -------------------------------------------------------------------- */

/* Since when a signal is in doubt; 0: none is. A program that was stopped may go on, and has the
 * signal. */
static uint64_t doubt_begin(void)
{
    const uint64_t since = doubtful_time;
    if (!since || !doubts_stop || now() - since <= TOGETHER_NS)
        return since;
    const int error = errno;
    if (program_handling() == HANDLES)
        doubtful_time = 0;
    errno = error;
    return doubtful_time;
}

bool signals_want_end(void)
{
    const uint64_t since = doubt_begin();
    return wants_end || (since && now() - since > TOGETHER_NS);
}

bool signals_want_end_now(void)
{
    const uint64_t doubt = doubt_begin(), since = wants_end ? wants_end : doubt + TOGETHER_NS;
    return (wants_end || doubt) && !alone && now() > since + REPLAY_NS;
}

int signals_that_ended(void)
{
    return wants_end ? ends_recording : doubtful;
}

/* If the trace cannot be written, a further signal has the action that it had before. */
static void want_end(int number)
{
    if (!wants_end) {
        ends_recording = number;
        wants_end = now();
    } else if (now() - wants_end > TRACE_NS) {
        for (size_t i = 0; i < CAUGHT; i++)
            if (caught[i] == number)
                sigaction(number, &usual[i], NULL);
        raise(number);
    }
}

/* The program may not handle the signal. */
static void doubt(int number, bool stopped)
{
    if (!doubtful_time) {
        doubtful = number;
        doubts_stop = stopped;
        doubtful_time = now();
    } else if (number != doubtful || now() - doubtful_time > TOGETHER_NS) {
        want_end(number);
    }
}

/* sent: whoever sent the signal sent it to the program, too. */
static void pass_on(int number, bool sent)
{
    const handling how = program_handling();
    if (how != ENDS && !sent)
        kill(child, number);
    if (how == ENDS || (how == STOPPED && number != SIGUSR1 && number != SIGUSR2))
        doubt(number, how == STOPPED);
}

static void catch_signal(int number, siginfo_t *info, void *context)
{
    (void)context;
    const int error = errno;
    const bool sent = group_got(number) || info->si_code == SI_KERNEL; /* of a terminal */
    if (number == SIGUSR2 && keeps_snapshot_signal) {
        wants_snapshot = 1;
    } else if (end_time || !child) {
        if (number != killed_by || now() - end_time > TOGETHER_NS)
            want_end(number);
    } else {
        pass_on(number, sent);
    }
    errno = error;
}

/* The program was ended by that signal; 0: by itself. */
static void settle(int by)
{
    killed_by = by;
    if (doubtful_time && doubtful != by)
        want_end(doubtful);
    doubtful_time = 0;
}

/* Interrupts waiting, too. */
static void note_end(int number)
{
    siginfo_t how = {.si_pid = 0};
    const int error = errno;
    (void)number;
    const bool waited_for = !child ||
                            waitid(P_PID, (id_t)child, &how, WEXITED | WNOHANG | WNOWAIT) < 0;
    if (!end_time && (waited_for || how.si_pid != 0))
        end_time = now();
    if (how.si_pid != 0)
        settle(how.si_code == CLD_EXITED ? 0 : how.si_status);
    errno = error;
}

void signals_child_ended(int status)
{
    child = 0;
    settle(WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

uint64_t signals_end_time(void)
{
    return end_time;
}

/* ---- begin and end --------------------------------------------------------------------------- */

void signals_catch(pid_t pid)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    threads = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    child = pid;
    alone = pid == 0;
    group_watch();
    struct sigaction action = {.sa_sigaction = catch_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGCHLD);
    for (size_t i = 0; i < CAUGHT; i++)
        sigaddset(&action.sa_mask, caught[i]);
    for (size_t i = 0; i < CAUGHT; i++) {
        sigaction(caught[i], NULL, &usual[i]);
        if (usual[i].sa_handler != SIG_IGN)
            sigaction(caught[i], &action, NULL);
    }
    struct sigaction ended = {.sa_handler = note_end, .sa_flags = SA_NOCLDSTOP};
    ended.sa_mask = action.sa_mask;
    if (!alone)
        sigaction(SIGCHLD, &ended, NULL);
}
