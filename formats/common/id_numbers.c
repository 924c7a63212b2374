#include "formats/common/id_numbers.h"

#include <stdlib.h>
#include <string.h>

enum { LEAST = 1024 };

void id_numbers_init(id_numbers *n)
{
    *n = (id_numbers){0};
    idmap_init(&n->high, sizeof(uint32_t));
}

void id_numbers_clear(id_numbers *n)
{
    if (n->room > LEAST) {
        free(n->low);
        n->low = NULL;
        n->room = 0;
    } else if (n->room > 0) {
        memset(n->low, 0, n->room * sizeof *n->low);
    }
    idmap_free(&n->high);
    n->count = 0;
}

void id_numbers_free(id_numbers *n)
{
    free(n->low);
    idmap_free(&n->high);
    n->low = NULL;
    n->room = n->count = 0;
}

uint32_t id_numbers_search(const id_numbers *n, uint64_t id)
{
    const uint32_t *number = idmap_find(&n->high, id);
    return number ? *number : 0;
}

static bool grow(id_numbers *n, uint64_t id)
{
    size_t room = n->room > 0 ? n->room : LEAST;
    while (room <= id)
        room *= 2;
    uint32_t *low = reallocarray(n->low, room, sizeof *low);
    if (!low)
        return false;
    memset(low + n->room, 0, (room - n->room) * sizeof *low);
    n->low = low;
    n->room = room;
    return true;
}

bool id_numbers_put(id_numbers *n, uint64_t id, uint32_t number)
{
    if (id >= n->room && id < LEAST + 2 * (uint64_t)n->count && !grow(n, id))
        return false;
    if (id < n->room) {
        n->low[id] = number;
    } else {
        uint32_t *slot = idmap_insert(&n->high, id);
        if (!slot)
            return false;
        *slot = number;
    }
    n->count++;
    return true;
}
