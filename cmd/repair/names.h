/* names.h - v2: names that other generations have for lost strings. */
#ifndef REPAIR_NAMES_H
#define REPAIR_NAMES_H

#include "cmd/repair/repair.h"
#include "formats/common/idmap.h"

typedef struct repair_names {
    repair_batch *const *batches; /* of the trace, by generation */
    size_t count;
    bool collected;
    idmap by_id;
} repair_names;

/* The list of batches is borrowed. */
void repair_names_init(repair_names *names, repair_batch *const *batches, size_t count);
void repair_names_free(repair_names *names);

/* Read the strings of all generations, the first time. False if memory runs out. */
bool repair_names_collect(repair *r, repair_names *names);

/* The name that the string of that id has in all other generations; NULL: it is not certain. */
const uint8_t *repair_names_find(const repair_names *names, uint64_t id, size_t *size);

#endif
