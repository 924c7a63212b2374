/*
 * big_array.h - an array of items of one size that may be larger than memory.
 *
 * Items are appended, and then read in any order. Blocks of them are kept in a cache; those that
 * leave it go to a temporary file without a name, which is created only then. The owner may provide
 * functions that make the blocks in the file smaller.
 */
#ifndef BIG_ARRAY_H
#define BIG_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Items of a block; blocks in memory. Small blocks, because what is read next is often far away:
 * reading 10 KiB from the page cache takes 2 us. */
enum { BIG_ARRAY_ITEMS = 256, BIG_ARRAY_SLOTS = 512 };

/* How the items of a block, of which the first has that index, are in the file. */
typedef struct big_array_packing {
    size_t most; /* bytes of a packed item */
    /* Returns the size. */
    size_t (*pack)(unsigned char *to, const void *items, uint64_t first);
    void (*unpack)(void *items, const unsigned char *from, uint64_t first);
} big_array_packing;

typedef struct big_array_slot {
    unsigned char *bytes; /* NULL: not used yet */
    uint64_t block;
    bool is_new; /* never left the cache */
} big_array_slot;

typedef struct big_array {
    size_t size;    /* of an item, in bytes */
    uint64_t count; /* of items */
    const big_array_packing *packing;
    big_array_slot *slots;
    unsigned char *packed; /* blocks that are not in the file yet; also used to unpack one */
    size_t packed_size;
    uint64_t *ends; /* of the blocks, in the file */
    size_t stored, ends_room;
    uint64_t written; /* bytes of the file */
    bool reads;       /* an item was read: nothing can be appended until all are removed */
    int fd;           /* -1 until the file is needed */
    int error;        /* errno of the first failure; afterwards nothing is appended or read */
} big_array;

/* packing: NULL to store items as they are. */
void big_array_init(big_array *a, size_t item_size, const big_array_packing *packing);
void big_array_free(big_array *a);

/* Removes all items. */
void big_array_clear(big_array *a);

/* Appends an item. Returns it, zeroed, valid until the next call; NULL on failure. */
void *big_array_add(big_array *a);

/* An item, valid until the next call; NULL on failure. */
const void *big_array_at(big_array *a, uint64_t index);

#endif
