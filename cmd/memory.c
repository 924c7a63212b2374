#include "cmd/memory.h"

#include <stdbool.h>
#include <sys/resource.h>

#include "cmd/diag.h"

/* Memory of the program apart from data of the trace: buffers, and the stacks of threads. The limit
 * covers all else, of the reader and of what uses it; each handle of the library also has it. */
static const uint64_t program_overhead = UINT64_C(8) << 20, thread_overhead = UINT64_C(5) << 18;

static bool is_bounded;
static rlim_t usual; /* the limit before */

/* Sanitizers need far more memory than the program. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

void memory_bound(uint64_t bytes, uint64_t threads)
{
#ifndef SANITIZED
    struct rlimit limit;
    const uint64_t most_threads = UINT64_C(1) << 20;
    const uint64_t overhead = program_overhead +
                              thread_overhead * (threads < most_threads ? threads : most_threads);
    const rlim_t most = bytes > UINT64_MAX - overhead ? RLIM_INFINITY : bytes + overhead;
    if (getrlimit(RLIMIT_DATA, &limit) != 0 || limit.rlim_cur <= most)
        return;
    usual = limit.rlim_cur;
    limit.rlim_cur = most;
    is_bounded = setrlimit(RLIMIT_DATA, &limit) == 0;
#else
    (void)bytes, (void)threads, (void)program_overhead, (void)thread_overhead;
#endif
}

void memory_unbound(void)
{
    struct rlimit limit;
    if (!is_bounded || getrlimit(RLIMIT_DATA, &limit) != 0)
        return;
    limit.rlim_cur = usual;
    setrlimit(RLIMIT_DATA, &limit);
}

void memory_note(void)
{
    if (is_bounded)
        diag_note("--max-memory SIZE raises the limit");
}

void memory_report_refused(void)
{
    diag_error("out of memory [system.memory]");
    memory_note();
}
