/*
 * big_array.h - an array of items of one size that may be larger than memory.
 *
 * Items are appended, and then read in any order. Blocks of them are packed: the owner may provide
 * functions that make them smaller. When the packed blocks are more than BIG_ARRAY_MEMORY, they go
 * to a temporary file without a name, which is created only then.
 */
#ifndef BIG_ARRAY_H
#define BIG_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Items of a block; blocks that were read last. Small blocks, because what is read next is often
 * far away: reading 10 KiB from the page cache takes 2 us. */
enum { BIG_ARRAY_ITEMS = 256, BIG_ARRAY_SLOTS = 512, BIG_ARRAY_MEMORY = 1024 * 1024 };

/* How the items of a block, of which the first has that index, are stored. */
typedef struct big_array_packing {
    size_t most; /* bytes of a packed item */
    /* Returns the size. */
    size_t (*pack)(unsigned char *to, const void *items, uint64_t first);
    void (*unpack)(void *items, const unsigned char *from, uint64_t first);
} big_array_packing;

typedef struct big_array_slot {
    unsigned char *bytes; /* NULL: not used yet */
    uint64_t block;
} big_array_slot;

typedef struct big_array {
    size_t size;    /* of an item, in bytes */
    uint64_t count; /* of items */
    const big_array_packing *packing;
    unsigned char *tail;   /* the block to which items are appended; it stays in the CPU's cache */
    unsigned char *packed; /* blocks that are not in the file */
    size_t packed_size, packed_room;
    uint64_t *ends; /* of the packed blocks, in the file and then in memory */
    size_t stored, ends_room;
    uint64_t written;       /* bytes of the file */
    big_array_slot *slots;  /* blocks that were read */
    unsigned char *fetched; /* a packed block of the file */
    bool closed;            /* nothing can be appended until all is removed: an item was read */
    int fd;                 /* -1 until the file is needed */
    int error;              /* errno of the first failure; afterwards nothing is appended or read */
} big_array;

/* packing: NULL to store items as they are. */
void big_array_init(big_array *a, size_t item_size, const big_array_packing *packing);
void big_array_free(big_array *a);

/* Removes all items. */
void big_array_clear(big_array *a);

/* Makes room for the first item of a block; false on failure. */
bool big_array_begin_block(big_array *a);

/* Appends an item. Returns it, to be set as a whole until the next call; NULL on failure. Inline,
 * because there is one for each state of a goroutine. */
static inline void *big_array_add(big_array *a)
{
    const size_t n = a->count % BIG_ARRAY_ITEMS;
    if ((n == 0 || a->closed) && !big_array_begin_block(a))
        return NULL;
    a->count++;
    return a->tail + n * a->size;
}

/* An item, valid until the next call; NULL on failure. */
const void *big_array_at(big_array *a, uint64_t index);

#endif
