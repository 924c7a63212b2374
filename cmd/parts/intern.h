/* intern.h - what several parts define, once: equal content has one id. */
#ifndef PARTS_INTERN_H
#define PARTS_INTERN_H

#include "cmd/parts/parts.h"
#include "core/lookup.h"

typedef struct parts_item {
    uint64_t id;
    size_t at, size; /* its content, in bytes */
    bool placed;     /* v1: a string that stands among the events of a batch that is copied */
    uint32_t input;  /* the part it is placed in, and where there */
    uint64_t offset;
} parts_item;

typedef struct parts_intern {
    parts_item *items;
    size_t count, capacity;
    uint8_t *bytes;
    size_t used, room;
    gt_lookup by_content, by_id; /* an item's number is its place plus one */
    uint64_t fresh;              /* an id that nothing has */
} parts_intern;

/* The content's item, made if it is new: with that id if it is free, else with a fresh one. NULL
 * where memory ends. Valid until the next call. */
parts_item *parts_intern_add(parts_intern *in, parts_memory *memory, uint64_t id,
                             const void *content, size_t size, gotrace_error *error);

/* The item of that id, or NULL. */
const parts_item *parts_intern_find(const parts_intern *in, uint64_t id);

/* Have no items, and fresh ids from there on. */
void parts_intern_clear(parts_intern *in, parts_memory *memory, uint64_t fresh);
void parts_intern_free(parts_intern *in, parts_memory *memory);

#endif
