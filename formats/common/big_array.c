#include "formats/common/big_array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/common/spool.h"

void big_array_init(big_array *a, size_t item_size)
{
    *a = (big_array){.size = item_size, .fd = -1};
}

static void free_slots(big_array *a)
{
    for (size_t i = 0; a->slots && i < BIG_ARRAY_SLOTS; i++)
        free(a->slots[i].bytes);
    free(a->slots);
    a->slots = NULL;
}

void big_array_free(big_array *a)
{
    free_slots(a);
    if (a->fd >= 0)
        close(a->fd);
    a->fd = -1;
    a->count = 0;
}

void big_array_clear(big_array *a)
{
    free_slots(a);
    a->count = 0;
}

static bool fail(big_array *a, int error)
{
    a->error = error ? error : EIO;
    return false;
}

/* Moves a block between memory and the file. */
static bool transfer(big_array *a, const big_array_slot *slot, bool writes)
{
    size_t bytes = BIG_ARRAY_ITEMS * a->size;
    uint64_t at = slot->block * bytes;
    if (a->fd < 0 && (a->fd = spool_file(NULL)) < 0)
        return fail(a, errno);
    for (size_t done = 0; done < bytes;) {
        off_t place = (off_t)(at + done);
        ssize_t n = writes ? pwrite(a->fd, slot->bytes + done, bytes - done, place)
                           : pread(a->fd, slot->bytes + done, bytes - done, place);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return fail(a, n < 0 ? errno : EIO);
        done += (size_t)n;
    }
    return true;
}

/* Puts a block into its slot; is_new: it is not in the file. NULL on failure. */
static big_array_slot *load(big_array *a, uint64_t block, bool is_new)
{
    big_array_slot *slot = &a->slots[block % BIG_ARRAY_SLOTS];
    if (!slot->bytes) {
        slot->bytes = malloc(BIG_ARRAY_ITEMS * a->size);
        if (!slot->bytes) {
            fail(a, ENOMEM);
            return NULL;
        }
    } else if (slot->block == block) {
        return slot;
    } else if (slot->dirty && !transfer(a, slot, true)) {
        return NULL;
    }
    slot->block = block;
    slot->dirty = false;
    if (is_new)
        memset(slot->bytes, 0, BIG_ARRAY_ITEMS * a->size);
    else if (!transfer(a, slot, false))
        return NULL;
    return slot;
}

static bool reserve_slots(big_array *a)
{
    if (!a->slots)
        a->slots = calloc(BIG_ARRAY_SLOTS, sizeof *a->slots);
    return a->slots || fail(a, ENOMEM);
}

void *big_array_add(big_array *a)
{
    if (a->error || !reserve_slots(a))
        return NULL;
    big_array_slot *slot = load(a, a->count / BIG_ARRAY_ITEMS, a->count % BIG_ARRAY_ITEMS == 0);
    if (!slot)
        return NULL;
    slot->dirty = true;
    return slot->bytes + a->count++ % BIG_ARRAY_ITEMS * a->size;
}

const void *big_array_at(big_array *a, uint64_t index)
{
    if (a->error)
        return NULL;
    const big_array_slot *slot = load(a, index / BIG_ARRAY_ITEMS, false);
    return slot ? slot->bytes + index % BIG_ARRAY_ITEMS * a->size : NULL;
}
