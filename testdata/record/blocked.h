/*
 * blocked.h - waits until another thread sleeps in a call. For programs that `gotrace record`
 * records: none of this is recorded.
 */
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

/* The state of a thread of this process, as in proc(5); 0: the thread has ended. */
static char state_of(pid_t thread)
{
    char path[64], text[512] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)thread);
    FILE *file = fopen(path, "re");
    const size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    const char *name_end = size > 0 ? strrchr(text, ')') : NULL;
    return name_end && name_end[1] ? name_end[2] : '\0';
}

/* Waits until it sleeps, or has ended. */
static void wait_until_blocked(pid_t thread)
{
    for (char state; (state = state_of(thread)) != 'S' && state != '\0';)
        sched_yield();
}
