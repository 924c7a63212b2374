/*
 * big_array.h - an array of items of one size that may be larger than memory.
 *
 * Items are appended, and read in any order. Blocks of them are kept in a cache; those that leave
 * it go to a temporary file without a name, which is created only then.
 */
#ifndef BIG_ARRAY_H
#define BIG_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct big_array_slot {
    unsigned char *bytes; /* NULL: not used yet */
    uint64_t block;
    bool dirty; /* not in the file */
} big_array_slot;

typedef struct big_array {
    size_t size;    /* of an item, in bytes */
    uint64_t count; /* of items */
    big_array_slot *slots;
    int fd;    /* -1 until the file is needed */
    int error; /* errno of the first failure; afterwards nothing is appended or read */
} big_array;

/* Items of a block; blocks in memory. Small blocks, because what is read next is often far away:
 * reading 10 KiB from the page cache takes 2 us. */
enum { BIG_ARRAY_ITEMS = 256, BIG_ARRAY_SLOTS = 512 };

void big_array_init(big_array *a, size_t item_size);
void big_array_free(big_array *a);

/* Removes all items. */
void big_array_clear(big_array *a);

/* Appends an item. Returns it, zeroed, valid until the next call; NULL on failure. */
void *big_array_add(big_array *a);

/* An item, valid until the next call; NULL on failure. */
const void *big_array_at(big_array *a, uint64_t index);

#endif
