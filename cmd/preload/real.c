/*
 * real.c - finds the functions of the C library that are interposed.
 */
#include "cmd/preload/real.h"

#include <dlfcn.h>
#include <string.h>

trace_real trace_reals;

/* x86-64 has these in two versions, and dlsym returns the old one. */
static const char *version_of(const char *name)
{
    static const char *const names[] = {"pthread_cond_wait", "pthread_cond_timedwait",
                                        "pthread_cond_signal", "pthread_cond_broadcast"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return "GLIBC_2.3.2";
    return NULL;
}

void *trace_look_up(void *where, const char *name)
{
    const char *version = version_of(name);
    void *found = version ? dlvsym(where, name, version) : NULL;
    return found ? found : dlsym(where, name);
}

/* Must not fail for what the caller needs: the error message would be allocated, which an allocator
 * that is being initialised, and needs the function for that, does not allow. */
void trace_find(const char *name, void *function)
{
    void *found = trace_look_up(RTLD_NEXT, name);
    /* ISO C does not convert pointers to objects to pointers to functions. */
    memcpy(function, &found, sizeof found);
}

void trace_find_all(void)
{
#define FIND_BLOCKING(result, name, kind, object, parameters, arguments)                           \
    trace_find(#name, &trace_reals.name);
#define FIND_OTHER(result, name, parameters) trace_find(#name, &trace_reals.name);
    BLOCKING_CALLS(FIND_BLOCKING)
    OTHER_CALLS(FIND_OTHER)
}
