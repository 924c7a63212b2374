/*
 * refuse.c - makes allocations of the program fail. It is linked into a copy of the program, with
 * --wrap, because ThreadSanitizer has an allocator of its own, and tests/faults/refuse.c needs that
 * of the C library.
 *
 *   REFUSE_AT=N     call number N of malloc, calloc or realloc fails, counted from 1
 *   REFUSE_ALL=1    all later ones fail too
 *   REFUSE_COUNT=F  at the end, write the number of calls to file F
 *   REFUSE_SIZE=N   files cannot become larger than N bytes. ThreadSanitizer writes one before this
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

/* Names that the linker gives to the functions and to calls of them. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);

static atomic_ulong calls;
static unsigned long refuse_at;
static bool refuse_all;

__attribute__((constructor)) static void begin(void)
{
    const char *at = getenv("REFUSE_AT");
    refuse_at = at ? strtoul(at, NULL, 10) : 0;
    refuse_all = getenv("REFUSE_ALL") != NULL;
    const char *size = getenv("REFUSE_SIZE");
    if (size) {
        const rlim_t most = strtoul(size, NULL, 10);
        const struct rlimit limit = {.rlim_cur = most, .rlim_max = most};
        if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
            abort();
    }
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("REFUSE_COUNT");
    FILE *f = path ? fopen(path, "w") : NULL;
    if (!f)
        return;
    fprintf(f, "%lu\n", atomic_load(&calls));
    fclose(f);
}

static bool refused(void)
{
    unsigned long n = atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed) + 1;
    if (refuse_at == 0 || n < refuse_at || (n > refuse_at && !refuse_all))
        return false;
    errno = ENOMEM;
    return true;
}

void *__wrap_malloc(size_t size)
{
    return refused() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return refused() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *block, size_t size)
{
    return refused() ? NULL : __real_realloc(block, size);
}
