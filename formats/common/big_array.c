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
    a->closed = a->error;
}

void big_array_free(big_array *a)
{
    big_array_clear(a);
    free(a->tail);
    free(a->packed);
    free(a->ends);
    free(a->fetched);
    if (a->fd >= 0)
        close(a->fd);
    *a = (big_array){.fd = -1};
}

static bool fail(big_array *a, int error)
{
    a->error = error ? error : EIO;
    a->closed = true;
    return false;
}

/* ---- packed blocks ----------------------------------------------------------------------------
 */

/* The most that a packed block takes. */
static size_t block_bytes(const big_array *a)
{
    return BIG_ARRAY_ITEMS * (a->packing ? a->packing->most : a->size);
}

static bool write_packed(big_array *a)
{
    if (a->fd < 0 && (a->fd = spool_file(NULL)) < 0)
        return fail(a, errno);
    for (size_t done = 0; done < a->packed_size;) {
        ssize_t n = pwrite(a->fd, a->packed + done, a->packed_size - done,
                           (off_t)(a->written + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return fail(a, n < 0 ? errno : EIO);
        done += (size_t)n;
    }
    a->written += a->packed_size;
    a->packed_size = 0;
    return true;
}

static bool read_packed(big_array *a, size_t size, uint64_t at)
{
    if (!a->fetched && !(a->fetched = malloc(block_bytes(a))))
        return fail(a, ENOMEM);
    for (size_t done = 0; done < size;) {
        ssize_t n = pread(a->fd, a->fetched + done, size - done, (off_t)(at + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return fail(a, n < 0 ? errno : EIO);
        done += (size_t)n;
    }
    return true;
}

/* Makes room for one more packed block. */
static bool reserve_packed(big_array *a)
{
    const size_t needed = a->packed_size + block_bytes(a);
    if (needed > a->packed_room) {
        size_t room = a->packed_room ? 2 * a->packed_room : PACKED_BYTES;
        while (room < needed)
            room *= 2;
        unsigned char *packed = realloc(a->packed, room);
        if (!packed)
            return fail(a, ENOMEM);
        a->packed = packed;
        a->packed_room = room;
    }
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

/* Packs the block to which items were appended. */
static bool store_tail(big_array *a)
{
    if (!reserve_packed(a))
        return false;
    unsigned char *to = a->packed + a->packed_size;
    if (a->packing) {
        a->packed_size += a->packing->pack(to, a->tail, a->stored * BIG_ARRAY_ITEMS);
    } else {
        memcpy(to, a->tail, block_bytes(a));
        a->packed_size += block_bytes(a);
    }
    a->ends[a->stored++] = a->written + a->packed_size;
    size_t most = a->fd < 0 ? (size_t)BIG_ARRAY_MEMORY : (size_t)PACKED_BYTES;
    return a->packed_size < most || write_packed(a);
}

bool big_array_begin_block(big_array *a)
{
    if (a->closed)
        return a->error ? false : fail(a, EINVAL);
    /* Zeroed, because the last block is packed as a whole. */
    if (!a->tail && !(a->tail = calloc(BIG_ARRAY_ITEMS, a->size)))
        return fail(a, ENOMEM);
    return a->count == 0 || store_tail(a);
}

/* ---- reading ----------------------------------------------------------------------------------
 */

static bool fetch_block(big_array *a, const big_array_slot *slot)
{
    const uint64_t begin = slot->block ? a->ends[slot->block - 1] : 0;
    const unsigned char *from;
    if (begin >= a->written) {
        from = a->packed + (begin - a->written);
    } else {
        if (!read_packed(a, (size_t)(a->ends[slot->block] - begin), begin))
            return false;
        from = a->fetched;
    }
    if (a->packing)
        a->packing->unpack(slot->bytes, from, slot->block * BIG_ARRAY_ITEMS);
    else
        memcpy(slot->bytes, from, block_bytes(a));
    return true;
}

/* Begins to read. */
static bool begin_reading(big_array *a)
{
    if (a->stored * BIG_ARRAY_ITEMS < a->count && !store_tail(a))
        return false;
    a->closed = true;
    a->slots = calloc(BIG_ARRAY_SLOTS, sizeof *a->slots);
    return a->slots || fail(a, ENOMEM);
}

/* Puts a block into its slot; NULL on failure. */
static const big_array_slot *load(big_array *a, uint64_t block)
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
    }
    slot->block = block;
    return fetch_block(a, slot) ? slot : NULL;
}

const void *big_array_at(big_array *a, uint64_t index)
{
    if (a->error)
        return NULL;
    /* The items of one block, such as the parts of a short path, are read where they were added:
     * storing and fetching them took longer than finding the path. */
    if (a->count <= BIG_ARRAY_ITEMS) {
        a->closed = true;
        return a->tail + index * a->size;
    }
    if (!a->slots && !begin_reading(a))
        return NULL;
    const big_array_slot *slot = load(a, index / BIG_ARRAY_ITEMS);
    return slot ? slot->bytes + index % BIG_ARRAY_ITEMS * a->size : NULL;
}
