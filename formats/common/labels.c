#include "formats/common/labels.h"

#include <string.h>

#include "formats/common/utf8.h"

/* The runtime labels the workers of its garbage collector, for a run each; Go's reader finds them
 * by how the labels begin (internal/trace/gc.go). Others are names of threads, from `gotrace
 * record`. */
size_t label_shown(const char *text, size_t size)
{
    static const char worker[] = "GC ";

    if (size == 0 || (size >= sizeof worker - 1 && memcmp(text, worker, sizeof worker - 1) == 0))
        return 0;
    return utf8_valid_prefix(text, size < LABEL_MOST ? size : LABEL_MOST);
}
