#include "formats/common/big_array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/common/spool.h"

/* Bytes that are written at once. */
enum { PACKED_BYTES = 256 * 1024 };

void big_array_init(big_array *a, size_t item_size, const big_array_packing *packing)
{
    *a = (big_array){.size = item_size, .packing = packing, .fd = -1};
}

void big_array_clear(big_array *a)
{
    for (size_t i = 0; a->slots && i < BIG_ARRAY_SLOTS; i++)
        free(a->slots[i].bytes);
    free(a->slots);
    a->slots = NULL;
    a->count = a->written = 0;
    a->packed_size = a->stored = 0;
    a->reads = false;
}

void big_array_free(big_array *a)
{
    big_array_clear(a);
    free(a->packed);
    free(a->ends);
    if (a->fd >= 0)
        close(a->fd);
    *a = (big_array){.fd = -1};
}

static bool fail(big_array *a, int error)
{
    a->error = error ? error : EIO;
    return false;
}

/* ---- blocks in the file -----------------------------------------------------------------------
 */

/* The most that a block takes there. */
static size_t block_bytes(const big_array *a)
{
    return BIG_ARRAY_ITEMS * (a->packing ? a->packing->most : a->size);
}

static bool transfer(big_array *a, size_t size, uint64_t at, bool writes)
{
    if (a->fd < 0 && (a->fd = spool_file(NULL)) < 0)
        return fail(a, errno);
    for (size_t done = 0; done < size;) {
        off_t place = (off_t)(at + done);
        ssize_t n = writes ? pwrite(a->fd, a->packed + done, size - done, place)
                           : pread(a->fd, a->packed + done, size - done, place);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return fail(a, n < 0 ? errno : EIO);
        done += (size_t)n;
    }
    return true;
}

static bool write_packed(big_array *a)
{
    size_t size = a->packed_size;
    a->packed_size = 0;
    if (size > 0 && !transfer(a, size, a->written, true))
        return false;
    a->written += size;
    return true;
}

static bool reserve_store(big_array *a)
{
    if (!a->packed && !(a->packed = malloc(PACKED_BYTES + block_bytes(a))))
        return fail(a, ENOMEM);
    if (a->stored < a->ends_room)
        return true;
    size_t room = a->ends_room ? 2 * a->ends_room : BIG_ARRAY_SLOTS;
    uint64_t *ends = reallocarray(a->ends, room, sizeof *ends);
    if (!ends)
        return fail(a, ENOMEM);
    a->ends = ends;
    a->ends_room = room;
    return true;
}

static bool store_block(big_array *a, big_array_slot *slot)
{
    if (!reserve_store(a))
        return false;
    unsigned char *to = a->packed + a->packed_size;
    if (a->packing) {
        a->packed_size += a->packing->pack(to, slot->bytes, slot->block * BIG_ARRAY_ITEMS);
    } else {
        memcpy(to, slot->bytes, block_bytes(a));
        a->packed_size += block_bytes(a);
    }
    slot->is_new = false;
    a->ends[a->stored++] = a->written + a->packed_size;
    return a->packed_size < PACKED_BYTES || write_packed(a);
}

/* Stores the blocks until that one, which are all in the cache, so that they are in the file in
 * their order. */
static bool store_until(big_array *a, uint64_t block)
{
    while (a->stored <= block)
        if (!store_block(a, &a->slots[a->stored % BIG_ARRAY_SLOTS]))
            return false;
    return true;
}

static bool fetch_block(big_array *a, const big_array_slot *slot)
{
    uint64_t begin = slot->block ? a->ends[slot->block - 1] : 0;
    if (!write_packed(a) || !transfer(a, (size_t)(a->ends[slot->block] - begin), begin, false))
        return false;
    if (a->packing)
        a->packing->unpack(slot->bytes, a->packed, slot->block * BIG_ARRAY_ITEMS);
    else
        memcpy(slot->bytes, a->packed, block_bytes(a));
    return true;
}

/* ---- the cache --------------------------------------------------------------------------------
 */

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
    } else if (slot->is_new || is_new) {
        /* Among new blocks the last one, too: the processor still has it in its cache. */
        if (!store_until(a, is_new ? block - 1 : slot->block))
            return NULL;
    }
    slot->block = block;
    slot->is_new = is_new;
    if (is_new)
        memset(slot->bytes, 0, BIG_ARRAY_ITEMS * a->size);
    else if (!fetch_block(a, slot))
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
    if (a->reads)
        fail(a, EINVAL);
    if (a->error || !reserve_slots(a))
        return NULL;
    big_array_slot *slot = load(a, a->count / BIG_ARRAY_ITEMS, a->count % BIG_ARRAY_ITEMS == 0);
    if (!slot)
        return NULL;
    return slot->bytes + a->count++ % BIG_ARRAY_ITEMS * a->size;
}

const void *big_array_at(big_array *a, uint64_t index)
{
    a->reads = true;
    if (a->error)
        return NULL;
    const big_array_slot *slot = load(a, index / BIG_ARRAY_ITEMS, false);
    return slot ? slot->bytes + index % BIG_ARRAY_ITEMS * a->size : NULL;
}
