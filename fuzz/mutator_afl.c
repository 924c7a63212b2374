/* mutator_afl.c - a library for AFL_CUSTOM_MUTATOR_LIBRARY, with which AFL++ changes records in
 * addition to bytes. */
#include <stdlib.h>

#include "mutator.h"

/* Called by AFL++; see its docs/custom_mutators.md. */
void *afl_custom_init(void *afl, unsigned seed);
size_t afl_custom_fuzz(void *data, uint8_t *bytes, size_t size, uint8_t **out, uint8_t *other,
                       size_t other_size, size_t most);
void afl_custom_deinit(void *data);

typedef struct state {
    uint64_t seed;
    uint8_t *out;
    size_t room;
} state;

void *afl_custom_init(void *afl, unsigned seed)
{
    (void)afl;
    state *s = calloc(1, sizeof *s);
    if (s)
        s->seed = (uint64_t)seed << 32;
    return s;
}

size_t afl_custom_fuzz(void *data, uint8_t *bytes, size_t size, uint8_t **out, uint8_t *other,
                       size_t other_size, size_t most)
{
    (void)other;
    (void)other_size;
    state *s = data;
    *out = NULL;
    if (s->room < most) {
        uint8_t *more = realloc(s->out, most);
        if (!more)
            return 0;
        s->out = more;
        s->room = most;
    }
    *out = s->out;
    return fuzz_variant(bytes, size, s->seed++, s->out, most);
}

void afl_custom_deinit(void *data)
{
    state *s = data;
    free(s->out);
    free(s);
}
