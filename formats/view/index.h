/* index.h - the index as its parts see it. */
#ifndef VIEW_INDEX_H
#define VIEW_INDEX_H

#include <pthread.h>
#include <stdatomic.h>

#include "formats/view/tree.h"

struct view {
    levels levels;
    stacks *names;
    idmap labels; /* states.labels */
    view_progress progress;
    /* The builder has the lock, except while others wait. */
    pthread_mutex_t lock;
    pthread_cond_t none_waits;
    atomic_uint waiting;
    bool failed; /* memory was refused elsewhere than in levels */
};

/* To be called by the builder now and then: lets others look at the index. */
void view_give_way(view *v);

#endif
