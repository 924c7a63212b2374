/* Says which of SIGUSR1 and SIGTERM it gets, until it gets SIGTERM. */
#include <signal.h>
#include <stdio.h>

int main(void)
{
    sigset_t set;
    int number = 0;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    while (number != SIGTERM) {
        printf("%d\n", number);
        fflush(stdout);
        sigwait(&set, &number);
    }
    return 0;
}
