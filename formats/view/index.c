/* index.c - an index, and who may use it. */
#include "formats/view/index.h"

#include "formats/analyse/states.h"
#include "formats/view/levels.h"

#include <errno.h>
#include <stdlib.h>

view *view_new(void)
{
    view *v = calloc(1, sizeof *v);
    if (!v)
        return NULL;
    levels_init(&v->levels);
    pthread_mutex_init(&v->lock, NULL);
    pthread_cond_init(&v->none_waits, NULL);
    idmap_init(&v->labels, sizeof(uint32_t));
    v->names = stacks_new(STACKS_BY_LINE);
    if (v->names)
        return v;
    view_free(v);
    return NULL;
}

void view_free(view *v)
{
    if (!v)
        return;
    levels_free(&v->levels);
    if (v->names)
        stacks_free(v->names);
    idmap_free(&v->labels);
    pthread_cond_destroy(&v->none_waits);
    pthread_mutex_destroy(&v->lock);
    free(v);
}

bool view_failed(const view *v, int *error)
{
    *error = v->failed || v->names->failed ? ENOMEM : v->levels.error;
    return *error != 0;
}

void view_lock(view *v)
{
    atomic_fetch_add(&v->waiting, 1);
    pthread_mutex_lock(&v->lock);
    if (atomic_fetch_sub(&v->waiting, 1) == 1)
        pthread_cond_signal(&v->none_waits);
}

void view_unlock(view *v)
{
    pthread_mutex_unlock(&v->lock);
}

void view_give_way(view *v)
{
    while (atomic_load_explicit(&v->waiting, memory_order_relaxed) > 0)
        pthread_cond_wait(&v->none_waits, &v->lock);
}

view_progress view_progress_of(const view *v)
{
    view_progress p = v->progress;
    p.file_size = v->levels.written;
    return p;
}

const stacks *view_names(const view *v)
{
    return v->names;
}

uint32_t view_label(const view *v, uint64_t id)
{
    return states_label_in(&v->labels, id);
}
