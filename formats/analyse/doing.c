/* doing.c - see doing.h. */
#include "formats/analyse/doing.h"

#include <string.h>

/* Whether one of the innermost frames is of a function whose name begins like that. */
static bool is_in(const stacks *names, uint32_t stack, const char *prefix)
{
    enum { FRAMES = 6 };
    const size_t length = strlen(prefix), depth = stacks_depth(names, stack);
    for (size_t n = 0; n < depth && n < FRAMES; n++) {
        size_t size;
        const char *name = stacks_text(names, stacks_frame_at(names, stack, n)->function, &size);
        if (size >= length && memcmp(name, prefix, length) == 0)
            return true;
    }
    return false;
}

uint8_t doing_of_wait(const stacks *names, uint32_t reason, uint32_t stack)
{
    if (stacks_name_is(names, reason, "network"))
        return DO_NETWORK;
    if (stacks_name_is(names, reason, "sleep"))
        return DO_SLEEP;
    if (stacks_name_has(names, reason, "GC") || is_in(names, stack, "runtime.gc"))
        return DO_GC;
    if (stacks_name_has(names, reason, "chan") || stacks_name_is(names, reason, "select"))
        return DO_CHANNEL;
    /* It waits for the lock of the Cond, too. */
    if (stacks_name_has(names, reason, "Cond") || is_in(names, stack, "sync.(*Cond)"))
        return DO_COND;
    if (!stacks_name_has(names, reason, "sync"))
        return DO_OTHER;
    return is_in(names, stack, "sync.(*WaitGroup)") ? DO_JOIN : DO_LOCK;
}
