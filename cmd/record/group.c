/*
 * group.c - which signals were sent to the process group.
 *
 * kill(2) can send a signal to a process, or to all of a group, and what the process gets is the
 * same. So a process of `record` is in its group, with all signals blocked: a signal that is
 * pending there was sent to the group. It is pending before `record` has it, because the kernel
 * goes through a group from the newest process to the oldest one (__kill_pgrp_info in
 * kernel/signal.c, attach_pid in kernel/pid.c).
 */
#include "cmd/record/record.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <time.h>

enum { LONGEST_MS = 1000 }; /* of asking: the process may have been stopped */

static helper witness = {.fd = -1};

/* Says whether the signal that it is asked for was pending. It is no longer. */
static void serve(int fd)
{
    const struct timespec none = {0};
    unsigned char number;
    while (recv(fd, &number, 1, 0) == 1) {
        sigset_t one;
        sigemptyset(&one);
        sigaddset(&one, number);
        const char got = sigtimedwait(&one, NULL, &none) == number;
        if (send(fd, &got, 1, MSG_NOSIGNAL) != 1)
            break;
    }
}

void group_watch(void)
{
    if (!helper_start(&witness, "gotrace-signals", serve))
        witness.fd = -1;
}

bool group_got(int number)
{
    const unsigned char asked = (unsigned char)number;
    struct pollfd state = {.fd = witness.fd, .events = POLLIN};
    char got = 0;
    int ready;
    if (send(witness.fd, &asked, 1, MSG_NOSIGNAL) != 1)
        return false;
    do
        ready = poll(&state, 1, LONGEST_MS);
    while (ready < 0 && errno == EINTR);
    if (ready <= 0)
        witness.fd = -1; /* a late answer would be taken for that of the next question */
    return ready > 0 && recv(witness.fd, &got, 1, 0) == 1 && got;
}
