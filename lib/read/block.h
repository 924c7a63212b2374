/*
 * block.h - the events that a reader returns, several at a time.
 *
 * gotrace_reader_next reads into a block of the reader's own, which has room for those of a record
 * and has their arguments; gotrace_reader_next_block into larger ones, which keep what an event
 * refers to: copies, and the tables of its generation.
 */
#ifndef GT_BLOCK_H
#define GT_BLOCK_H

#include <stdatomic.h>

#include "core/alloc.h"
#include "core/head.h"
#include "core/events.h"
#include "read/tables.h"

/* Of one record. */
enum { GT_MOST_EVENTS = 3 };

/* 32 KiB of events: as much as the first cache of a processor has. */
enum { GT_BLOCK_EVENTS = 512 };

typedef struct gt_chunk gt_chunk;

typedef struct gt_block {
    gotrace_block public; /* what the caller sees of it */
    gotrace_event *events;
    size_t count, capacity;
    gotrace_raw *raw; /* of each event; NULL: not wanted */
    bool lends_args;  /* arguments are not copied: they are valid until the next record is read */
    gt_heap *heap;
    gt_chunk *chunks;  /* details, arguments and messages; the first one is in use */
    gt_tables *tables; /* that the events refer to; NULL: none yet */
    bool failed;       /* memory was refused: */
    gotrace_details nowhere;
    atomic_bool used; /* by the caller */
    struct gt_block *next;
} gt_block;

/* Makes an empty block. NULL if memory is refused. */
gt_block *gt_block_new(gt_heap *heap, size_t capacity, bool raw);
void gt_block_free(gt_block *block);

/* Empties the block. */
void gt_block_clear(gt_block *block);

/* Memory that is valid until the block is emptied; NULL if it is refused. */
void *gt_block_alloc(gt_block *block, size_t size);

/* Events of the block refer to these tables, which it keeps until it has others. */
void gt_block_refer(gt_block *block, gt_tables *tables);

/* The blocks of the list that the caller has released keep no tables. */
void gt_blocks_forget_tables(gt_block *first);

/* Arguments as an event of the block has them. NULL if memory is refused. */
const uint64_t *gt_block_args(gt_block *block, const uint64_t *args, size_t count);

/* Gives the event details, with its arguments. If memory is refused, they are nowhere. */
gotrace_details *gt_block_details(gt_block *block, gotrace_event *event, const uint64_t *args,
                                  size_t arg_count);

static inline bool gt_block_has_room(const gt_block *block)
{
    return block->count + GT_MOST_EVENTS <= block->capacity;
}

/* The id of a proc as events have it. */
static inline int32_t gt_shown_proc(int64_t id)
{
    return id == (int32_t)id ? (int32_t)id : INT32_MAX;
}

/* The id of a stack as events have it. */
static inline uint32_t gt_shown_stack(uint64_t id)
{
    return id <= UINT32_MAX ? (uint32_t)id : 0;
}

#endif
