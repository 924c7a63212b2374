/* intern.h - strings or stacks of several parts: equal content gets one id. */
#ifndef PARTS_INTERN_H
#define PARTS_INTERN_H

#include "cmd/parts/parts.h"
#include "core/lookup.h"

typedef struct parts_item {
    uint64_t id;
    size_t at, size; /* content: range of parts_intern.bytes */
    bool placed;     /* v1: a string that is defined in a batch of events that is copied */
    uint32_t input;  /* if placed: the part that defines it, and the offset there */
    uint64_t offset;
} parts_item;

typedef struct parts_intern {
    parts_item *items;
    size_t count, capacity;
    uint8_t *bytes;
    size_t used, room;
    gt_lookup by_content, by_id; /* lookups of item indices + 1 */
    uint64_t fresh;              /* an unused id */
} parts_intern;

/* Find or add the item with this content. A new one gets the given id, or a fresh one if that is in
 * use. Returns NULL if memory runs out. Valid until the next call. */
parts_item *parts_intern_add(parts_intern *in, parts_memory *memory, uint64_t id,
                             const void *content, size_t size, gotrace_error *error);

/* The item with that id, or NULL. */
const parts_item *parts_intern_find(const parts_intern *in, uint64_t id);

/* Remove all items; fresh ids start with `fresh`. */
void parts_intern_clear(parts_intern *in, parts_memory *memory, uint64_t fresh);
void parts_intern_free(parts_intern *in, parts_memory *memory);

#endif
