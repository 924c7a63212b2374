/*
 * cbor_items.h - the items of a CBOR script (RFC 8949), one head at a time: no tree of values is
 * built, so that a script may be longer than memory.
 */
#ifndef CBOR_ITEMS_H
#define CBOR_ITEMS_H

#include "formats/script/script.h"

typedef enum item_kind {
    ITEM_NUMBER = 0, /* from 0 on */
    ITEM_NEGATIVE,
    ITEM_BYTES,
    ITEM_TEXT,
    ITEM_ARRAY,
    ITEM_MAP,
    ITEM_REAL,
    ITEM_WORD,  /* true, false, null or undefined */
    ITEM_BIG,   /* bytes that are tagged as a number, which may have more than 64 bits */
    ITEM_BREAK, /* ends what is open */
} item_kind;

/* An item's head. Tags before it are passed over, but for those that make a number of bytes. */
typedef struct script_item {
    item_kind kind;
    bool open;       /* of a string, an array or a map: items follow until a break */
    uint64_t offset; /* of the head in the script */
    uint64_t value;  /* the number; of a negative one -1 less it; how many items, or pairs */
    double real;
    const char *bytes; /* of a string that is not open, or the word's name; until the next call */
    size_t size;
} script_item;

/* The next head: GOTRACE_EVENT, or GOTRACE_END where the script ends before it begins. */
gotrace_status item_next(script_job *job, script_item *item);

/* The same where an item has to follow: GOTRACE_OK. A break is none. */
gotrace_status item_value(script_job *job, script_item *item);

/* What is left of an array or a map. */
typedef struct item_list {
    bool open;
    uint64_t left; /* items, or pairs, if it is not open */
} item_list;

static inline item_list item_list_of(const script_item *item)
{
    return (item_list){item->open, item->value};
}

/* Its next item, or a pair's first: GOTRACE_EVENT, or GOTRACE_END at its end. */
gotrace_status item_list_next(script_job *job, item_list *list, script_item *item);

/* Find the value that stands under a name in the map whose head was read last, as text that is not
 * open: GOTRACE_EVENT if it is there and is text, GOTRACE_END if there is none. Nothing is passed:
 * the map is read from its start after that. */
gotrace_status item_find(script_job *job, const script_item *map, const char *name,
                         script_item *found);

/* Go back to an item that was read, whose bytes are still there, and pass over all of it. */
gotrace_status item_pass_again(script_job *job, const script_item *item);

/* Whether an item is that text. */
bool item_is(const script_item *item, const char *text);

/* An item as a message may show it: what is short as it stands, otherwise its kind. */
typedef struct item_shown {
    char text[64];
} item_shown;
item_shown item_show(const script_item *item);

#endif
