/*
 * exec.c - interposed functions that execute a program. The name of the program is noted before,
 * and deleted by the library in the new program: `record` reports a name that is left as a program
 * that did not load this library.
 */
#include "cmd/preload/real.h"
#include "cmd/preload/trace.h"

#include <stdarg.h>
#include <stdio.h>

#define EXECUTING(name, path, parameters, arguments)                                               \
    EXPORT int name parameters                                                                     \
    {                                                                                              \
        bool recorded = trace_execute(path) && trace_call(RING_NO_WAIT, 0);                        \
        int failed = REAL(name) arguments;                                                         \
        trace_resume(recorded, RING_DONE);                                                         \
        trace_not_executed();                                                                      \
        return failed;                                                                             \
    }

typedef char *const *strings;

EXECUTING(execve, path, (const char *path, strings args, strings env), (path, args, env))
EXECUTING(execv, path, (const char *path, strings args), (path, args))
EXECUTING(execvp, path, (const char *path, strings args), (path, args))
EXECUTING(execvpe, path, (const char *path, strings args, strings env), (path, args, env))

EXPORT int fexecve(int fd, strings args, strings env)
{
    char path[32];
    snprintf(path, sizeof path, "file descriptor %d", fd);
    bool recorded = trace_execute(path) && trace_call(RING_NO_WAIT, 0);
    int failed = REAL(fexecve)(fd, args, env);
    trace_resume(recorded, RING_DONE);
    trace_not_executed();
    return failed;
}

#define SPAWNING(name)                                                                             \
    EXPORT int name(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,       \
                    const posix_spawnattr_t *how, strings args, strings env)                       \
    {                                                                                              \
        pid_t created = 0;                                                                         \
        int error = REAL(name)(&created, path, actions, how, args, env);                           \
        if (!error) {                                                                              \
            trace_spawned(created, path);                                                          \
            if (pid)                                                                               \
                *pid = created;                                                                    \
        }                                                                                          \
        return error;                                                                              \
    }

SPAWNING(posix_spawn)
SPAWNING(posix_spawnp)

/* The number of arguments with the NULL at their end. */
static size_t count_args(const char *first, va_list list)
{
    size_t count = 1;
    for (const char *arg = first; arg; arg = va_arg(list, const char *))
        count++;
    return count;
}

static strings take_args(const char **args, const char *first, va_list list)
{
    const char **end = args;
    for (*end = first; *end; *end = va_arg(list, const char *))
        end++;
    return (strings)(uintptr_t)args;
}

/* LIST(name, what follows the arguments, call): the arguments are `args`. They are on the stack,
 * because a child by vfork has no memory of its own. */
#define LIST(name, after, call)                                                                    \
    EXPORT int name(const char *path, const char *first, ...)                                      \
    {                                                                                              \
        va_list list, counted;                                                                     \
        va_start(list, first);                                                                     \
        va_copy(counted, list);                                                                    \
        size_t size = count_args(first, counted) * sizeof first;                                   \
        va_end(counted);                                                                           \
        strings args = take_args(__builtin_alloca(size), first, list);                             \
        after;                                                                                     \
        va_end(list);                                                                              \
        return call;                                                                               \
    }

LIST(execl, , execv(path, args))
LIST(execlp, , execvp(path, args))
LIST(execle, strings env = va_arg(list, strings), execve(path, args, env))
