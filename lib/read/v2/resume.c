/*
 * resume.c - the proc of a thread whose record of its start is lost.
 *
 * The starts and losses of a proc in a generation are numbered, and say which proc they are of. So
 * the proc is the idle one whose next number is not among the rest of the generation's records.
 */
#include "read/v2/follow.h"

enum { MOST_SEARCHES = 8 }; /* in a generation, to keep the work linear */

#define EACH_PROC(v2, p)                                                                           \
    for (size_t slot_ = 0; slot_ < (v2)->procs.capacity; slot_++)                                  \
        for (gt_v2_proc *p = (gt_v2_proc *)(uintptr_t)(v2)->procs.slots[slot_].value; p; p = NULL)

/* Notes a number of a proc that is still to come. */
static void note(const struct gt_v2 *v2, uint8_t type, const uint64_t *args)
{
    if (type != GOTRACE_V2_ProcStart && type != GOTRACE_V2_ProcSteal)
        return;
    gt_v2_proc *p = (gt_v2_proc *)(uintptr_t)gt_map_get(&v2->procs, args[0]);
    if (p && args[1] > p->seq && (p->next == 0 || args[1] < p->next))
        p->next = args[1];
}

static bool read_batch(gotrace_reader *reader, struct gt_v2 *v2, const gt_batch *batch)
{
    size_t size;
    uint64_t values[GT_V2_VALUES];
    if (!gt_v2_read_batch(reader, v2, batch, &size))
        return false;
    const uint8_t *p = v2->buffer, *end = p + size, *next;
    for (; p && p < end; p = next) {
        next = gt_v2_read_record(v2, p, end, values);
        if (next)
            note(v2, *p, values + 1);
        else
            next = gt_v2_find_next(v2, p, end);
    }
    return true;
}

/* The proc whose next number is missing; without one, that which has no more records. NULL: there
 * is none, or there are several. */
static gt_v2_proc *choose(const struct gt_v2 *v2)
{
    gt_v2_proc *found[2] = {NULL};
    unsigned count[2] = {0};
    EACH_PROC(v2, p)
    {
        bool idle = p->status == GT_P_IDLE && p->generation == v2->generation;
        if (!idle || p->next == p->seq + 1)
            continue;
        found[p->next == 0] = p;
        count[p->next == 0]++;
    }
    unsigned last = count[0] == 0;
    return count[last] == 1 ? found[last] : NULL;
}

bool gt_v2_find_lost_proc(gt_follow *f, gt_v2_proc **lost)
{
    struct gt_v2 *v2 = f->v2;
    const gt_generation *g = &v2->generations[v2->current];
    *lost = NULL;
    if (v2->assumed || !g->summary.complete || v2->proc_searches == MOST_SEARCHES)
        return true;
    v2->proc_searches++;
    EACH_PROC(v2, p) p->next = 0;
    for (size_t i = g->first; i < g->first + g->count; i++)
        if (v2->batches[i].kind == GT_BATCH_EVENTS && !read_batch(f->reader, v2, &v2->batches[i]))
            return false;
    *lost = choose(v2);
    return true;
}
