/* mutator.c - see mutator.h. */
#include "mutator.h"

#include <string.h>

#include "cmd/mutate/mutate.h"

size_t fuzz_variant(const uint8_t *data, size_t size, uint64_t seed, uint8_t *to, size_t room)
{
    uint64_t state = seed;
    /* variants that stay sound are checked with a reader, and change less */
    mutate_mode mode = splitmix_below(&state, 16) == 0 ? MUTATE_KEEP : MUTATE_ANY;
    mutate_job job = {.mode = mode, .seed = splitmix_next(&state), .most = room};
    gotrace_config config = {0};
    gotrace_error error = {0};
    mutate_variant variant;
    mutate *m;
    size_t made = 0;
    static const gotrace_limits limits = {.memory = 256 << 20};
    config.limits = &limits;
    if (mutate_new(data, size, &config, &m, &error) < 0)
        return 0;
    if (mutate_make(m, &job, &variant, &error) == GOTRACE_OK && variant.size <= room) {
        memcpy(to, variant.bytes, variant.size);
        made = variant.size;
    }
    mutate_free(m);
    return made;
}
