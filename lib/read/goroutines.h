/*
 * goroutines.h - the goroutines that are alive, by id.
 *
 * The memory of a goroutine that ended is reused but not freed while reading. A stale pointer can
 * be detected, because its id changes.
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

/* gt_goroutine.status and .state, if they are not known; see assume.h. */
enum { GT_UNKNOWN = 255 };

typedef struct gt_region {
    uint64_t task, name;
} gt_region;

/* The fields that every event needs are in the first cache line. */
typedef struct gt_goroutine {
    uint64_t id;
    uint64_t seq;        /* order.c: sequence number in merge order */
    uint32_t parked;     /* order.c: number of cursors that wait for it to change */
    uint8_t status;      /* order.c: GT_DEAD ..., in merge order */
    uint8_t state;       /* state.c: GT_DEAD ..., in the final order */
    uint8_t shown;       /* gotrace_state */
    uint8_t last_type;   /* code of the event that stopped it or made it runnable, 0: none */
    uint64_t cause;      /* offset of the event that made it runnable */
    int64_t since;       /* ticks of its last change of state */
    int64_t blocked;     /* order.c: ticks of its last blocking system call */
    uint64_t generation; /* v2: generation of seq */
    bool known;          /* it was created or had an event */
    bool complete;       /* it was created in the trace, so that nothing of it is before */
    uint8_t contact;     /* GT_CONTACT_* */
    uint32_t outer_ends; /* number of ended regions that began in earlier pieces; see assume.h */
    uint8_t assisting;   /* v1: or GT_UNKNOWN */
    bool assisted;       /* v1: an assist began or ended */
    bool futile;
    /* Less frequently used fields follow. */
    uint32_t region_count, region_capacity;
    gt_region *regions; /* open regions, innermost last */
    uint64_t start_stack, creator;
    const char *stopping; /* v2: reason of its stop-the-world; NULL: none */
    int64_t created;      /* ticks */
    uint64_t wakeup;      /* futile.c: 1 + position of its last wake-up; 0: none */
} gt_goroutine;

typedef struct gt_goroutines {
    gt_heap *heap;
    gt_map by_id; /* value: pointer */
    gt_map ended; /* key: id / 64; value: bit set */
    gt_arena arena;
    gt_goroutine **free;
    size_t free_count, free_capacity;
    uint64_t limit;
    size_t most;          /* largest number at the same time */
    uint64_t unknown_seq; /* if `unknown`: sequence number of new goroutines, which no event has */
    bool unknown;         /* v1: nothing is known of goroutines that were not created here */
    bool forgets;         /* v2: ids may be reused after the end */
    bool limited;         /* the last failure was due to the limit */
} gt_goroutines;

void gt_goroutines_init(gt_goroutines *table, gt_heap *heap, uint64_t limit);

/* A goroutine with that id before its first event. One that ended is running again, as in Go's
 * reader, so that no later event fits. */
gt_goroutine gt_goroutine_initial(const gt_goroutines *table, uint64_t id);

/* The goroutine with that id, created if necessary. NULL if memory is refused. */
gt_goroutine *gt_goroutine_get(gt_goroutines *table, uint64_t id);

/* The goroutine with that id, or NULL. */
static inline gt_goroutine *gt_goroutine_find(const gt_goroutines *table, uint64_t id)
{
    return (gt_goroutine *)(uintptr_t)gt_map_get(&table->by_id, id);
}

/* Removes a goroutine that ended. */
bool gt_goroutine_end(gt_goroutines *table, gt_goroutine *goroutine);

/* Removes all goroutines. */
void gt_goroutines_free(gt_goroutines *table);

#endif
