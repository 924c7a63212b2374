/*
 * id_numbers.h - numbers by the ids that strings or stacks have in a generation.
 *
 * Tracers assign ids from 1 on, so most are found in an array. Ids come from the file: the array
 * has at most a few times as many elements as there are ids, others are found by a hash.
 */
#ifndef ID_NUMBERS_H
#define ID_NUMBERS_H

#include "formats/common/idmap.h"

typedef struct id_numbers {
    uint32_t *low; /* by id; 0: none */
    size_t room;   /* elements of low */
    size_t count;  /* ids that have a number */
    idmap high;    /* those that were too large for low when they got it */
} id_numbers;

void id_numbers_init(id_numbers *n);

/* Removes all, and frees what a small generation does not need. */
void id_numbers_clear(id_numbers *n);
void id_numbers_free(id_numbers *n);

uint32_t id_numbers_search(const id_numbers *n, uint64_t id);

/* The number of the id; 0 if it has none. */
static inline uint32_t id_numbers_find(const id_numbers *n, uint64_t id)
{
    const uint32_t number = id < n->room ? n->low[id] : 0;
    return number != 0 || n->high.count == 0 ? number : id_numbers_search(n, id);
}

/* Sets the number, which is not 0, of an id that has none. False if memory is refused. */
bool id_numbers_put(id_numbers *n, uint64_t id, uint32_t number);

#endif
