/*
 * jumps.c - jumps HOW COUNT: leaves signal handlers, which interrupt any instruction of a recorded
 * call, with siglongjmp, so often. For tests/record.
 *
 * HOW: same: the next calls are of the same function; deeper: of a function that it calls; other:
 * handlers have another stack; inlined: the jump is an instruction, and not a call of the C
 * library; last: likewise, and the thread calls nothing afterwards while another one goes on.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { OTHER_CALLS = 20000, LAST_CALLS = 1000 };

static sigjmp_buf back;
static void *inlined_back[5];
static bool is_inlined, is_last;
static volatile sig_atomic_t armed, jumps;
static int null;

static void jump(int number)
{
    (void)number;
    if (!armed)
        return;
    armed = 0;
    jumps++;
    if (is_inlined)
        __builtin_longjmp(inlined_back, 1);
    siglongjmp(back, 1);
}

__attribute__((noinline)) static void call(void)
{
    (void)!write(null, "", 1);
}

__attribute__((noinline)) static void call_deeper(void)
{
    volatile char room[4096];
    room[0] = 0;
    call();
    room[1] = room[0];
}

/* The signal arrives after a random time. */
static void call_until_signal(void)
{
    struct itimerval soon = {.it_value = {.tv_usec = 10 + rand() % 40}};
    armed = 1;
    setitimer(ITIMER_REAL, &soon, NULL);
    while (armed)
        call();
}

__attribute__((noinline)) static void jump_once(void)
{
    if (is_inlined) {
        if (__builtin_setjmp(inlined_back) == 0)
            call_until_signal();
    } else if (sigsetjmp(back, 1) == 0) {
        call_until_signal();
    }
}

static void *call_often(void *arg)
{
    for (int i = 0; i < OTHER_CALLS; i++) {
        call();
        if (i % 16 == 0)
            usleep(1);
    }
    return arg;
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = jump, .sa_flags = SA_NODEFER};
    sigset_t alarms;
    pthread_t other;
    if (argc < 3 || (null = open("/dev/null", O_WRONLY)) < 0)
        return 1;
    const int count = atoi(argv[2]);
    if (strcmp(argv[1], "other") == 0) {
        stack_t stack = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
        sigaltstack(&stack, NULL);
        action.sa_flags |= SA_ONSTACK;
    }
    sigaction(SIGALRM, &action, NULL);
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarms, NULL); /* the other thread gets none */
    if (pthread_create(&other, NULL, call_often, NULL) != 0)
        return 1;
    pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
    is_last = strcmp(argv[1], "last") == 0;
    is_inlined = is_last || strcmp(argv[1], "inlined") == 0;
    for (int i = 0; i < count; i++) {
        jump_once();
        for (int k = 0; k < 3 && !is_last; k++)
            strcmp(argv[1], "deeper") == 0 ? call_deeper() : call();
    }
    for (int i = 0; i < LAST_CALLS && !is_last; i++)
        (void)!read(null, NULL, 0); /* fails, and is counted */
    pthread_join(other, NULL);
    return jumps == count ? 7 : 1;
}
