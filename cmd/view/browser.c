#include "cmd/view/browser.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/diag.h"
#include "cmd/memory.h"

/* In the child: standard output is that of this program alone. */
static void begin_browser(const char *program, const char *address)
{
    const int nothing = open("/dev/null", O_RDWR);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        dup2(nothing, fd);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    memory_unbound();
    execlp(program, program, address, (char *)NULL);
}

void browser_open(const char *address)
{
    const char *chosen = getenv("BROWSER");
    const char *program = chosen && *chosen ? chosen : "xdg-open";
    int failed[2], error = 0;
    if (pipe2(failed, O_CLOEXEC) != 0) {
        diag_note("--open: %s", strerror(errno));
        return;
    }
    const pid_t child = fork();
    if (child == 0) {
        setsid(); /* an interrupt in the terminal is not for the browser */
        begin_browser(program, address);
        error = errno;
        (void)!write(failed[1], &error, sizeof error);
        _exit(1);
    }
    error = child < 0 ? errno : 0;
    close(failed[1]);
    /* Ends when the program has begun. */
    if (child > 0 && read(failed[0], &error, sizeof error) < 0)
        error = errno;
    close(failed[0]);
    if (error)
        diag_note("--open: cannot start %s: %s", program, strerror(error));
}
