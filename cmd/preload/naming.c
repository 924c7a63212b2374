/*
 * naming.c - interposed functions that name threads.
 */
#include "cmd/preload/real.h"
#include "cmd/preload/trace.h"

#include <stdarg.h>
#include <sys/prctl.h>

EXPORT int pthread_setname_np(pthread_t thread, const char *name)
{
    int error = REAL(pthread_setname_np)(thread, name);
    if (!error)
        trace_name_set();
    return error;
}

/* The C library passes four arguments to the kernel, however many there are. */
EXPORT int prctl(int option, ...)
{
    unsigned long a[4];
    va_list list;
    va_start(list, option);
    for (unsigned i = 0; i < 4; i++)
        a[i] = va_arg(list, unsigned long);
    va_end(list);
    int returned = REAL(prctl)(option, a[0], a[1], a[2], a[3]);
    if (option == PR_SET_NAME && returned == 0)
        trace_name_set();
    return returned;
}
