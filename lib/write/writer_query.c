/* writer_query.c - queries of the current state of goroutines, procs and threads. */
#include "write/writer.h"

static gotrace_state state_of_goroutine(uint8_t state)
{
    switch (state) {
    case GT_W_RUNNABLE: return GOTRACE_STATE_RUNNABLE;
    case GT_W_RUNNING: return GOTRACE_STATE_RUNNING;
    case GT_W_SYSCALL: return GOTRACE_STATE_SYSCALL;
    case GT_W_WAITING:
    case GT_W_STOPPED: return GOTRACE_STATE_WAITING;
    default: return GOTRACE_STATE_UNDETERMINED;
    }
}

static gotrace_state state_of_proc(uint8_t state)
{
    switch (state) {
    case GT_W_BUSY: return GOTRACE_STATE_RUNNING;
    case GT_W_IDLE: return GOTRACE_STATE_IDLE;
    case GT_W_IN_SYSCALL: return GOTRACE_STATE_SYSCALL;
    case GT_W_ABANDONED: return GOTRACE_STATE_ABANDONED;
    default: return GOTRACE_STATE_UNDETERMINED;
    }
}

/* Any of the pointers may be NULL. */
static void put_place(const gt_w_proc *p, const gt_w_thread *t, int64_t *proc, int64_t *thread)
{
    if (proc)
        *proc = p ? p->id : GOTRACE_NO_PROC;
    if (thread)
        *thread = t ? t->id : GOTRACE_NO_THREAD;
}

gotrace_state gotrace_writer_goroutine(const gotrace_writer *w, uint64_t id, int64_t *proc,
                                       int64_t *thread)
{
    const gt_w_goroutine *g = (const gt_w_goroutine *)(uintptr_t)gt_map_get(&w->by_goroutine, id);
    const gt_w_thread *t = g ? g->thread : NULL;
    put_place(t ? t->proc : g ? g->proc : NULL, t, proc, thread);
    if (g)
        return state_of_goroutine(g->state);
    return gt_w_has_ended(w, id) ? GOTRACE_STATE_NOT_EXIST : GOTRACE_STATE_UNDETERMINED;
}

gotrace_state gotrace_writer_proc(const gotrace_writer *w, int64_t id, int64_t *thread,
                                  uint64_t *goroutine)
{
    const gt_w_proc *p = (const gt_w_proc *)(uintptr_t)gt_map_get(&w->by_proc, (uint64_t)id);
    const gt_w_thread *t = p ? p->thread : NULL;
    const gt_w_goroutine *g = t ? t->goroutine : p ? p->goroutine : NULL;
    put_place(NULL, t, NULL, thread);
    if (goroutine)
        *goroutine = g ? g->id : 0;
    return p ? state_of_proc(p->state) : GOTRACE_STATE_UNDETERMINED;
}

bool gotrace_writer_thread(const gotrace_writer *w, int64_t id, int64_t *proc, uint64_t *goroutine)
{
    const gt_w_thread *t = (const gt_w_thread *)(uintptr_t)gt_map_get(&w->by_thread, (uint64_t)id);
    put_place(t ? t->proc : NULL, NULL, proc, NULL);
    if (goroutine)
        *goroutine = t && t->goroutine ? t->goroutine->id : 0;
    return t != NULL;
}
