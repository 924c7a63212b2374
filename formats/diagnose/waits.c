/* waits.c - waits and system calls by stack, and what those did who ended them. */
#include "formats/diagnose/run.h"

enum {
    /* A goroutine that runs less than this before it waits at the same place found nothing there.
     */
    FUTILE_RUN = 20 * 1000 /* ns */
};

static wait_figure *wait_of(pass *p, uint8_t state, uint32_t reason, uint32_t stack)
{
    if (state == GOTRACE_STATE_SYSCALL)
        reason = UINT32_MAX; /* no name has that number */
    const uint64_t key = (uint64_t)stack << 32 | reason;
    wait_figure *f = idmap_find(&p->m->waits, key);
    if (f)
        return f;
    f = idmap_insert(&p->m->waits, key);
    if (!f) {
        p->m->failed = true;
        return NULL;
    }
    f->stack = stack;
    f->sends = state == GOTRACE_STATE_WAITING && stacks_name_is(p->m->stacks, reason, "chan send");
    f->kind = state == GOTRACE_STATE_SYSCALL ? DO_SYSCALL
                                             : doing_of_wait(p->m->stacks, reason, stack);
    return f;
}

/* What the goroutine that ended a wait did meanwhile. */
typedef struct meanwhile {
    int64_t works; /* it ran, could run, or was in a system call */
    int64_t waits; /* it waited for something else than time */
} meanwhile;

/* Adds what a goroutine did in a time that begins not before `begin`. */
static void add_during(wait_figure *f, meanwhile *sums, const past_state *s, int64_t begin)
{
    const int64_t ns = s->end - (s->begin > begin ? s->begin : begin);
    if (ns <= 0)
        return;
    f->during[s->kind] = sum_of_times(f->during[s->kind], ns);
    if (s->kind <= DO_SYSCALL)
        sums->works = sum_of_times(sums->works, ns);
    else if (s->kind != DO_SLEEP)
        sums->waits = sum_of_times(sums->waits, ns);
    if (s->kind > DO_RUNNABLE)
        majority_add(&f->during_stack, s->stack, ns);
}

/* A wait that began at `begin` was ended by that goroutine: what did it do meanwhile? Before it
 * waited for the same kind of thing itself, it did not yet have what is waited for. */
static meanwhile explain_wait(pass *p, wait_figure *f, const measured *by, int64_t begin)
{
    meanwhile sums = {0, 0};
    add_during(
        f, &sums,
        &(past_state){.begin = by->now, .end = now_of(p), .kind = by->assists ? DO_ASSIST : DO_RUN},
        begin);
    for (size_t n = 1; n <= PAST; n++) {
        const past_state *s = &by->past[(by->past_at + PAST - n) % PAST];
        if (s->end <= begin || (f->kind == DO_LOCK && s->kind == DO_LOCK))
            break;
        add_during(f, &sums, s, begin);
    }
    return sums;
}

/* A wait for others ends. One who waits to send, or in a task, is kept from work; one who waits to
 * receive may just have none, unless the other one works. */
static void add_cause(pass *p, measured *g, wait_figure *f, int64_t ns, const gotrace_event *e)
{
    const measured *by = e && e->goroutine != g->g.id ? find(p, e->goroutine) : NULL;
    if (e && e->goroutine == 0) /* a timer, which the runtime runs between goroutines */
        f->during[DO_SLEEP] = sum_of_times(f->during[DO_SLEEP], ns);
    if (!by || by->g.current.state != GOTRACE_STATE_RUNNING)
        return;
    const meanwhile did = explain_wait(p, f, by, g->now);
    stage *s = by->stage;
    if (s && s == g->stage && f->kind == DO_CHANNEL && g->chosen)
        f->same_ns = sum_of_times(f->same_ns, ns);
    if (!s || s == g->stage)
        return;
    /* Who waits for a Cond without a task has nothing to do: all of them are woken at once. */
    ns = g->chosen || f->sends ? sum_of_times(did.works, did.waits) : did.works;
    if (f->kind == DO_COND && !g->chosen)
        ns = 0;
    s->caused_ns = sum_of_times(s->caused_ns, ns);
    s->caused++;
    majority_add(&s->waiter, g->g.function, ns);
}

/* It waits again: for the same Cond, without having found something to do? */
static void note_cond(measured *g, wait_figure *f)
{
    if (g->waited == f && g->ran < FUTILE_RUN) {
        f->futile++;
        f->futile_ns = sum_of_times(f->futile_ns, sum_of_times(g->ran, g->ready));
    }
    g->waited = f->kind == DO_COND ? f : NULL;
    g->ran = g->ready = 0;
}

uint8_t measure_wait(pass *p, measured *g, const interval *i, int64_t ns, const gotrace_event *e)
{
    wait_figure *f = wait_of(p, i->state, i->reason, i->stack);
    if (!f)
        return DO_OTHER;
    f->count++;
    f->ns = sum_of_times(f->ns, ns);
    if (g->chosen)
        f->task_ns = sum_of_times(f->task_ns, ns);
    if (ns > f->longest) {
        f->longest = ns;
        f->longest_at = i->begin;
        f->longest_of = g->g.id;
    }
    if (DO_FOR_OTHERS >> f->kind & 1)
        add_cause(p, g, f, ns, e);
    /* A Cond is waited for with its lock. */
    if (f->kind != DO_LOCK && f->kind != DO_SYSCALL)
        note_cond(g, f);
    return f->kind;
}
