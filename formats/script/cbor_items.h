/*
 * cbor_items.h - reads the items of a CBOR script (RFC 8949) one head at a time, without building a
 * tree of values, so that a script may be larger than memory.
 */
#ifndef CBOR_ITEMS_H
#define CBOR_ITEMS_H

#include "formats/script/script.h"

typedef enum item_kind {
    ITEM_NUMBER = 0, /* non-negative */
    ITEM_NEGATIVE,
    ITEM_BYTES,
    ITEM_TEXT,
    ITEM_ARRAY,
    ITEM_MAP,
    ITEM_REAL,
    ITEM_WORD,  /* true, false, null or undefined */
    ITEM_BIG,   /* a byte string tagged as a number, which may have more than 64 bits */
    ITEM_BREAK, /* ends an item of indefinite length */
} item_kind;

/* The head of an item. Tags are skipped, except those that make a number of a byte string. */
typedef struct script_item {
    item_kind kind;
    bool open;       /* a string, array or map of indefinite length: items follow until a break */
    uint64_t offset; /* offset of the head in the script */
    uint64_t value; /* the number n; negative: -1 - value; array or map: number of items or pairs */
    double real;
    const char *bytes; /* of a string (not open) or word; until the next call */
    size_t size;
} script_item;

/* Reads the next head: GOTRACE_EVENT, or GOTRACE_END at the end of the script. */
gotrace_status item_next(script_job *job, script_item *item);

/* Reads the head of an item that must follow: GOTRACE_OK. A break is an error. */
gotrace_status item_value(script_job *job, script_item *item);

/* The unread part of an array or map. */
typedef struct item_list {
    bool open;
    uint64_t left; /* items or pairs, unless it is open */
} item_list;

static inline item_list item_list_of(const script_item *item)
{
    return (item_list){item->open, item->value};
}

/* The next item, or the name of the next pair: GOTRACE_EVENT, or GOTRACE_END at the end. */
gotrace_status item_list_next(script_job *job, item_list *list, script_item *item);

/* Finds the value with that name in the map whose head was read last: GOTRACE_EVENT if it exists
 * and is a text of definite length, GOTRACE_END if there is none. Does not advance the read
 * position: the caller still reads the map from its start. */
gotrace_status item_find(script_job *job, const script_item *map, const char *name,
                         script_item *found);

/* Goes back to an item that is still buffered, and skips all of it. */
gotrace_status item_skip_from(script_job *job, const script_item *item);

/* Whether the item is that text. */
bool item_is(const script_item *item, const char *text);

/* An item for use in a message: its value if that is short, else its kind. */
typedef struct item_shown {
    char text[64];
} item_shown;
item_shown item_show(const script_item *item);

#endif
