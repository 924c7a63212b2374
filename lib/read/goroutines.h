/*
 * goroutines.h - the goroutines that are alive, found by id.
 *
 * The memory of a goroutine that ended is used again, never given back while reading: a pointer
 * kept too long is told by its id, which is then another's.
 */
#ifndef GT_GOROUTINES_H
#define GT_GOROUTINES_H

#include "core/events.h"
#include "core/map.h"
#include "read/tables.h"

static inline const char *gt_status_name(uint8_t status)
{
    static const char *const names[] = {"not there", "runnable", "running", "waiting"};
    return names[status];
}

typedef struct gt_region {
    uint64_t task, name;
} gt_region;

/* What every event needs comes first, in one cache line. */
typedef struct gt_goroutine {
    uint64_t id;
    uint64_t seq;        /* order.c: as the order stands */
    uint32_t parked;     /* order.c: cursors that wait for it to change */
    uint8_t status;      /* order.c: GT_DEAD ..., as the order stands */
    uint8_t state;       /* state.c: GT_DEAD ..., in the final order */
    uint8_t shown;       /* gotrace_state */
    uint8_t last_type;   /* the event that stopped it or made it runnable, 0 if none */
    uint64_t cause;      /* offset of what made it runnable */
    int64_t since;       /* ticks: when it came into its state */
    int64_t blocked;     /* order.c: ticks of its last blocking system call */
    uint64_t generation; /* v2: that of seq */
    bool known;          /* it has been created, or has done something */
    bool assisting;
    bool futile;
    /* The rest is needed now and then. */
    uint32_t region_count, region_capacity;
    gt_region *regions; /* going on, innermost last */
    uint64_t start_stack, creator;
    const char *stopping; /* v2: why it has stopped the world, NULL if it has not */
    int64_t created;      /* ticks */
    uint64_t wakeup;      /* futile.c: where its last wake-up begins, position + 1; 0: nowhere */
} gt_goroutine;

typedef struct gt_goroutines {
    gt_heap *heap;
    gt_map by_id; /* value: the pointer */
    gt_map ended; /* key: id / 64; value: a bit an id */
    gt_arena arena;
    gt_goroutine **free;
    size_t free_count, free_capacity;
    uint64_t limit;
    bool forgets; /* v2: an id may come again after its end */
    bool limited; /* the last failure was the limit's */
} gt_goroutines;

void gt_goroutines_init(gt_goroutines *table, gt_heap *heap, uint64_t limit);

/* The goroutine of that id, made if need be. One that has ended comes back as Go's reader would
 * see it: running, so that nothing it could do next fits. NULL when memory is refused. */
gt_goroutine *gt_goroutine_get(gt_goroutines *table, uint64_t id);

/* The goroutine of that id, or NULL. */
static inline gt_goroutine *gt_goroutine_find(const gt_goroutines *table, uint64_t id)
{
    return (gt_goroutine *)(uintptr_t)gt_map_get(&table->by_id, id);
}

/* It has ended. */
bool gt_goroutine_end(gt_goroutines *table, gt_goroutine *goroutine);

/* Forget all. */
void gt_goroutines_free(gt_goroutines *table);

#endif
