/*
 * forks.c - forks HOW [PROGRAM]: a program with a thread has a child, created in some way. For
 * tests/record.
 *
 * At the same time the program makes PARENT calls that are recorded in its first thread, and the
 * child CHILD calls, in its first thread and another one.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PARENT = 300, CHILD = 5000, TIMES = 12 };

static int null;
static char *const *arguments;
extern char **environ;

static void call(int times)
{
    for (int i = 0; i < times; i++)
        if (write(null, "", 1) != 1)
            _exit(1);
}

static void *call_in_thread(void *arg)
{
    call(CHILD / 2);
    return arg;
}

static void *wait_in_thread(void *arg)
{
    pause();
    return arg;
}

static int child(void *arg)
{
    (void)arg;
    pthread_t thread;
    if (pthread_create(&thread, NULL, call_in_thread, NULL) != 0)
        _exit(1);
    call(CHILD / 2);
    pthread_join(thread, NULL);
    _exit(9);
}

/* ---- ways to create it ----------------------------------------------------------------------- */

static pid_t by_clone(void)
{
    static char stack[1 << 16] __attribute__((aligned(16)));
    return clone(child, stack + sizeof stack, SIGCHLD, NULL);
}

static pid_t by_vfork(void)
{
    pid_t created = vfork();
    if (created == 0) {
        execl("/does/not/exist", "/does/not/exist", (char *)NULL);
        execvp(arguments[0], arguments);
        _exit(1);
    }
    return created;
}

static pid_t by_exec(void)
{
    pid_t created = fork();
    if (created == 0) {
        execvp(arguments[0], arguments);
        _exit(1);
    }
    return created;
}

static pid_t by_spawn(void)
{
    pid_t created;
    return posix_spawnp(&created, arguments[0], NULL, NULL, arguments, environ) == 0 ? created : -1;
}

static pid_t in_child(pid_t created)
{
    if (created == 0)
        child(NULL);
    return created;
}

static pid_t create(const char *how)
{
    if (strcmp(how, "fork") == 0)
        return in_child(fork());
    if (strcmp(how, "_Fork") == 0)
        return in_child(_Fork());
    if (strcmp(how, "syscall") == 0)
        return in_child((pid_t)syscall(SYS_clone, (unsigned long)SIGCHLD, NULL, NULL, NULL, NULL));
    if (strcmp(how, "clone") == 0)
        return by_clone();
    if (strcmp(how, "vfork") == 0)
        return by_vfork();
    if (strcmp(how, "exec") == 0)
        return by_exec();
    return strcmp(how, "spawn") == 0 ? by_spawn() : -1;
}

/* ---- many children, of a signal handler that may interrupt the recording of a call ------------
 */

static volatile sig_atomic_t handled, is_child;

static void fork_in_handler(int number)
{
    (void)number;
    int error = errno;
    pid_t created = handled < TIMES ? fork() : 1;
    handled++;
    if (created == 0) {
        signal(SIGALRM, SIG_IGN);
        is_child = 1;
    }
    errno = error;
}

static int in_handler(void)
{
    const struct itimerval period = {{0, 997}, {0, 997}};
    sigset_t alarm;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
    signal(SIGALRM, fork_in_handler);
    setitimer(ITIMER_REAL, &period, NULL);
    while (handled < TIMES && !is_child)
        call(1);
    if (is_child) {
        call(10000); /* more than the parent's memory has room for */
        _exit(0);
    }
    signal(SIGALRM, SIG_IGN);
    for (int i = 0, status; i < TIMES; i++)
        while (wait(&status) < 0 || status != 0)
            if (errno != EINTR)
                return 1;
    return 3;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int status;
    sigset_t alarm;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm, NULL); /* it is this thread's */
    null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    arguments = argv + 2;
    if (argc < 2 || null < 0 || pthread_create(&thread, NULL, wait_in_thread, NULL) != 0)
        return 1;
    if (strcmp(argv[1], "handler") == 0)
        return in_handler();
    pid_t created = create(argv[1]);
    call(PARENT);
    if (created < 0 || waitpid(created, &status, 0) != created)
        return 1;
    return WEXITSTATUS(status);
}
