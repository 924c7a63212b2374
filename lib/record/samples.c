/*
 * samples.c - CPU samples, which signal handlers take: a ring that any thread can append to without
 * a lock, and that is emptied under gotrace_recorder.lock. Source: Go 1.19, runtime/trace.go,
 * traceCPUSample and traceReadCPU.
 */
#include "record/crash.h"
#include "record/event.h"

bool gt_rec_samples_begin(gotrace_recorder *r)
{
    if (r->crash)
        r->samples = gt_crash_samples(r->crash);
    else if (!r->samples)
        r->samples = gt_calloc(&r->heap, GT_REC_SAMPLES, sizeof *r->samples);
    return r->samples != NULL;
}

/* The next free entry of the ring; NULL: it is full. */
static gt_rec_sample *reserve(gotrace_recorder *r, uint64_t *number)
{
    uint64_t n = atomic_load_explicit(&r->sample_end, memory_order_relaxed);
    do
        if (n - atomic_load_explicit(&r->sample_begin, memory_order_acquire) >= GT_REC_SAMPLES) {
            atomic_fetch_add_explicit(&r->samples_lost, 1, memory_order_relaxed);
            return NULL;
        }
    while (!atomic_compare_exchange_weak_explicit(&r->sample_end, &n, n + 1, memory_order_relaxed,
                                                  memory_order_relaxed));
    *number = n;
    return &r->samples[n % GT_REC_SAMPLES];
}

/* A sample without a stack, for complete. NULL: nothing is recorded, or the ring is full. */
static gt_rec_sample *begin(gotrace_recorder *r, const gotrace_rec_thread *t, uint64_t *number)
{
    const uint64_t era = r ? atomic_load_explicit(&r->era, memory_order_acquire) : 0;
    gt_rec_sample *s = era ? reserve(r, number) : NULL;
    if (!s)
        return NULL;
    const gotrace_rec_go *g = t ? t->go : NULL;
    if (g && !gt_rec_is_described(&g->state, era)) /* v1: it must not be before the creation */
        g = NULL;
    s->era = era;
    s->ticks = gt_rec_now(r);
    s->thread = t ? t->id : UINT64_MAX;
    s->proc = t ? atomic_load_explicit(&t->proc_id, memory_order_relaxed) : UINT64_MAX;
    s->go = g ? g->state.id : 0;
    s->start_pc = t && t->go ? t->go->start_pc : 0;
    return s;
}

static void complete(gt_rec_sample *s, uint64_t number)
{
    atomic_store_explicit(&s->complete, number + 1, memory_order_release);
}

void gotrace_rec_cpu_sample(gotrace_recorder *r, const gotrace_rec_thread *t, const uint64_t *pcs,
                            size_t depth)
{
    uint64_t number;
    gt_rec_sample *s = begin(r, t, &number);
    if (!s)
        return;
    if (depth == GOTRACE_REC_FRAMES) {
        s->depth = (uint32_t)gt_rec_take_stack(r, pcs, s->pcs, GT_REC_SAMPLE_FRAMES);
    } else {
        s->depth = depth < GT_REC_SAMPLE_FRAMES ? (uint32_t)depth : GT_REC_SAMPLE_FRAMES;
        if (s->depth > 0)
            memcpy(s->pcs, pcs, s->depth * sizeof *pcs);
    }
    complete(s, number);
}

void gotrace_rec_cpu_sample_context(gotrace_recorder *r, const gotrace_rec_thread *t,
                                    const void *context)
{
    uint64_t number;
    gt_rec_sample *s = begin(r, t, &number);
    if (!s)
        return;
    s->depth = (uint32_t)gt_rec_take_interrupted(r, context, s->pcs, GT_REC_SAMPLE_FRAMES);
    complete(s, number);
}

/* v2: as a record without a time of its own. */
static void put_v2(gt_rec_place *w, const uint64_t args[5])
{
    gt_rec_buffer *b = gt_rec_room(w, 1 + 5 * GT_VARINT_MAX);
    if (!b)
        return;
    uint8_t *p = b->p;
    *p++ = GOTRACE_V2_CPUSample;
    for (unsigned i = 0; i < 5; i++)
        p = gt_put(p, args[i]);
    gt_rec_commit();
    b->p = p;
}

/* A sample that was taken before the era, but is complete only now, belongs to it. */
static void put_sample(gotrace_recorder *r, uint64_t era, const gt_rec_sample *s)
{
    const uint64_t stack = gt_rec_id(
        gt_rec_stack_entry(r, era, s->start_pc, s->pcs, s->depth, true));
    const uint64_t args[5] = {s->ticks, s->thread, s->proc, s->go, stack};
    gt_rec_place w = {r, &r->sample_stream, NULL, era, gt_rec_now(r), 0, true, false};
    if (r->v2) {
        w.ticks = s->ticks;
        put_v2(&w, args);
    } else if (r->version >= gt_rec_rows_v1[GOTRACE_V1_CPUSample].since) {
        const uint64_t args_v1[4] = {s->ticks, s->proc, s->go, stack};
        gt_rec_put_record(&w, GOTRACE_V1_CPUSample, args_v1, 4, NULL, 0);
    }
}

void gt_rec_samples_put(gotrace_recorder *r, uint64_t era)
{
    uint64_t n = atomic_load_explicit(&r->sample_begin, memory_order_relaxed);
    for (; r->samples; n++) {
        const gt_rec_sample *s = &r->samples[n % GT_REC_SAMPLES];
        if (atomic_load_explicit(&s->complete, memory_order_acquire) != n + 1 || s->era > era)
            break;
        if (s->era >= r->first_era)
            put_sample(r, era, s);
        atomic_store_explicit(&r->sample_begin, n + 1, memory_order_release);
        if (r->crash)
            gt_crash_note_samples(r->crash, n + 1);
    }
}
