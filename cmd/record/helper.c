/*
 * helper.c - processes of `gotrace record` itself.
 */
#include "cmd/record/record.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Signals are not for this process, and nobody looks for its core. */
static void begin(int fd, const char *name)
{
    const struct rlimit none = {0, 0};
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, name);
    setrlimit(RLIMIT_CORE, &none);
    if (fd > STDERR_FILENO + 1)
        close_range(STDERR_FILENO + 1, (unsigned)fd - 1, 0);
    close_range((unsigned)fd + 1, ~0U, 0);
}

bool helper_start(helper *h, const char *name, void (*serve)(int fd))
{
    int ends[2];
    const pid_t parent = getpid();
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return false;
    h->pid = fork();
    if (h->pid == 0) {
        begin(ends[1], name);
        if (getppid() == parent)
            serve(ends[1]);
        _exit(0);
    }
    close(ends[1]);
    h->fd = ends[0];
    if (h->pid < 0)
        close(h->fd);
    return h->pid > 0;
}

void helper_end(helper *h)
{
    close(h->fd);
    kill(h->pid, SIGKILL);
    while (waitpid(h->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
}
