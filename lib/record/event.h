/*
 * event.h - the frame of every event, and its records in the buffer of the thread (v2) or proc
 * (v1).
 */
#ifndef GT_RECORD_EVENT_H
#define GT_RECORD_EVENT_H

#include "core/semantics.h"
#include "record/misuse.h"
#include "record/record.h"

/* Copied into each event, in which codes and numbers of arguments are constants: without it an
 * event takes 10 ns more. */
#define GT_REC_INLINE static inline __attribute__((always_inline))

/* ---- rows ------------------------------------------------------------------------------------ */

typedef struct gt_rec_row {
    uint8_t since; /* the first version that has the event */
    gotrace_semantics does;
} gt_rec_row;

/* Indexed by constants, so that the compiler reads them. */
#define STRIP(...)                                       __VA_ARGS__
#define E(code, name, since, flags, args, summary, does) [code] = {since, {STRIP does}},
#define T(code, name, since, flags, args, summary, does) [code] = {since, {STRIP does}},
#define N(code, name, since, summary)                    [code] = {since, {RECORD}},
static const gt_rec_row gt_rec_rows_v1[] = {
#include "events_v1.def"
};
static const gt_rec_row gt_rec_rows_v2[] = {
#include "events_v2.def"
};
#undef STRIP
#undef E
#undef T
#undef N

/* Whether the thread has what v2 requires for the event. Without it no reader accepts the event. */
static inline bool gt_rec_has_needs(const gotrace_rec_thread *t, unsigned code)
{
    const unsigned needs = gt_rec_rows_v2[code].does.needs;
    return !(needs & GOTRACE_NEEDS_PROC && !t->proc) &&
           !(needs & GOTRACE_NEEDS_NO_PROC && t->proc) &&
           !(needs & GOTRACE_NEEDS_GOROUTINE && !t->go) &&
           !(needs & GOTRACE_NEEDS_NO_GOROUTINE && t->go);
}

/* Whether the trace can have the event: v1's code, or v2's; 0: none. */
static inline bool gt_rec_can_put(const gotrace_rec_thread *t, unsigned v1, unsigned v2)
{
    const gotrace_recorder *r = t->recorder;
    return r->v2 ? v2 && r->version >= gt_rec_rows_v2[v2].since && gt_rec_has_needs(t, v2)
                 : v1 && r->version >= gt_rec_rows_v1[v1].since;
}

/* ---- records --------------------------------------------------------------------------------- */

/* Where and when a record is written. */
typedef struct gt_rec_place {
    gotrace_recorder *r;
    gt_rec_stream *stream;
    gotrace_rec_proc *proc; /* v1; NULL: none */
    uint64_t era, ticks, seq;
    bool locked; /* the caller holds the lock */
    bool
        waits; /* the record may wait for the output: the caller has nothing that others wait for */
} gt_rec_place;

/* For the current event of a thread. v1: on that proc; NULL: none. */
static inline gt_rec_place gt_rec_place_of(gotrace_rec_thread *t, gotrace_rec_proc *p)
{
    gotrace_recorder *r = t->recorder;
    gt_rec_stream *stream = r->v2 ? &t->stream : p ? &p->stream : &r->no_stream;
    return (gt_rec_place){r, stream, p, t->era, t->ticks, 0, false, false};
}

/* Makes room for a record of that size and takes its time into account. NULL: memory is refused. */
gt_rec_buffer *gt_rec_room_slow(gt_rec_place *w, size_t size);

static inline gt_rec_buffer *gt_rec_room(gt_rec_place *w, size_t size)
{
    gt_rec_buffer *b = w->stream->buffers[w->era % GT_REC_OPEN];
    if (__builtin_expect(b && (size_t)(b->end - b->p) >= size, 1))
        return b;
    return gt_rec_room_slow(w, size);
}

/* Room that tracers require for an event. */
static inline size_t gt_rec_room_for(const gotrace_recorder *r, unsigned count)
{
    return r->v2 ? 1 + (count + 1) * GT_VARINT_MAX : 2 + 5 * GT_VARINT_MAX;
}

/* Begins a record: everything before its arguments. Returns their address. */
GT_REC_INLINE uint8_t *gt_rec_begin(const gt_rec_place *w, gt_rec_buffer *b, unsigned code,
                                    unsigned count)
{
    const gotrace_recorder *r = w->r;
    uint64_t ticks = w->ticks, least = b->last_ticks + r->raises;
    if (__builtin_expect(ticks < least, 0))
        ticks = least;
    uint8_t *p = b->p;
    if (r->v2) {
        *p++ = (uint8_t)code;
    } else {
        unsigned form = count < 3 ? count : 3;
        *p++ = (uint8_t)(code | form << 6);
        p += form == 3;
        if (__builtin_expect(r->numbers, 0)) {
            p = gt_put(p, w->seq - b->last_seq);
            b->last_seq = w->seq;
        }
    }
    p = gt_put(p, ticks - b->last_ticks);
    b->last_ticks = ticks;
    return p;
}

/* Writes a record, and data after it if there is any (v1's messages). Returns its time; 0: memory
 * is refused. */
GT_REC_INLINE uint64_t gt_rec_record(gt_rec_place *w, unsigned code, const uint64_t *args,
                                     unsigned count, const char *data, size_t size)
{
    if (__builtin_expect(w->r->numbers, 0))
        gt_rec_number(w->r, &w->ticks, &w->seq);
    gt_rec_buffer *b = gt_rec_room(w, gt_rec_room_for(w->r, count) +
                                          (data ? GT_VARINT_MAX + size : 0));
    if (!b)
        return 0;
    uint8_t *p = gt_rec_begin(w, b, code, count);
    for (unsigned i = 0; i < count; i++)
        p = gt_put(p, args[i]);
    if (!w->r->v2 && count >= 3)
        b->p[1] = (uint8_t)(p - b->p - 2);
    if (data) {
        p = gt_put(p, size);
        memcpy(p, data, size);
        p += size;
    }
    gt_rec_commit();
    b->p = p;
    return b->last_ticks;
}

/* The same, for records that are rare, or whose stream several threads use. */
uint64_t gt_rec_put_record(gt_rec_place *w, unsigned code, const uint64_t *args, unsigned count,
                           const char *data, size_t size);

/* ---- the frame of an event ------------------------------------------------------------------- */

static inline bool gt_rec_is_described(const gt_rec_state *s, uint64_t era)
{
    return atomic_load_explicit(&s->described, memory_order_acquire) == era;
}

/* Takes the time of the event; after all that it depends on is described. */
static inline void gt_rec_stamp(gotrace_rec_thread *t)
{
    if (!t->recorder->numbers) /* else each record takes its own */
        t->ticks = gt_rec_now(t->recorder);
}

/* An event is not earlier than the one that it depends on: the processor may read the counter
 * before the thread sees what another one did. */
static inline void gt_rec_stamp_after(gotrace_rec_thread *t, uint64_t ticks)
{
    if (__builtin_expect(t->ticks < ticks, 0))
        t->ticks = ticks;
}

/* Call for goroutines and procs that the event changes. */
static inline void gt_rec_touch_go(gotrace_rec_thread *t, gotrace_rec_go *g)
{
    if (__builtin_expect(!gt_rec_is_described(&g->state, t->era), 0))
        gt_rec_describe_go(t, g);
}

/* status: what v2 writes. */
static inline void gt_rec_touch_proc(gotrace_rec_thread *t, gotrace_rec_proc *p, uint8_t status)
{
    if (__builtin_expect(!gt_rec_is_described(&p->state, t->era), 0))
        gt_rec_describe_proc(t, p, status);
}

/* Begins an event about that goroutine (NULL: none), followed by gt_rec_event_end; describes it,
 * and the thread's proc and goroutine. Returns whether the event is recorded. */
GT_REC_INLINE bool gt_rec_event_begin_on(gotrace_rec_thread *t, gotrace_rec_go *g)
{
    gotrace_recorder *r = t->recorder;
    t->busy_count++;
    if (__builtin_expect(r->fences, 0)) {
        atomic_store(&t->busy, t->busy_count);
        t->era = atomic_load(&r->era);
    } else { /* see barrier_everywhere */
        atomic_store_explicit(&t->busy, t->busy_count, memory_order_relaxed);
        atomic_signal_fence(memory_order_seq_cst);
        t->era = atomic_load_explicit(&r->era, memory_order_acquire);
    }
    if (t->era == 0)
        return false;
    const unsigned attention = atomic_load_explicit(&r->attention, memory_order_relaxed);
    t->closing = attention & GT_REC_CLOSING;
    if (t->proc)
        gt_rec_touch_proc(t, t->proc, t->proc->state.status);
    if (t->go)
        gt_rec_touch_go(t, t->go);
    if (g)
        gt_rec_touch_go(t, g);
    gt_rec_stamp(t);
    if (g)
        gt_rec_stamp_after(t, g->ticks);
    if (__builtin_expect(attention & GT_REC_GC_DUE, 0))
        gt_rec_describe_gc(t);
    return !t->closing;
}

static inline bool gt_rec_event_begin(gotrace_rec_thread *t)
{
    return gt_rec_event_begin_on(t, NULL);
}

static inline void gt_rec_event_end(gotrace_rec_thread *t)
{
    atomic_store_explicit(&t->busy, ++t->busy_count, memory_order_release);
}

/* Writes the current event of the thread; waits for the output if it can and must. */
GT_REC_INLINE uint64_t gt_rec_put_at(gotrace_rec_thread *t, unsigned code, const uint64_t *args,
                                     unsigned count, bool waits)
{
    gt_rec_place w = gt_rec_place_of(t, t->proc);
    if (__builtin_expect(w.stream == &w.r->no_stream, 0))
        return gt_rec_put_record(&w, code, args, count, NULL, 0);
    w.waits = waits;
    return gt_rec_record(&w, code, args, count, NULL, 0);
}

GT_REC_INLINE uint64_t gt_rec_put(gotrace_rec_thread *t, unsigned code, const uint64_t *args,
                                  unsigned count)
{
    return gt_rec_put_at(t, code, args, count, !t->in_world);
}

void gt_rec_reserve_slow(gotrace_rec_thread *t, size_t size);

/* Waits for the output, if an event with that many arguments must, before the thread has something
 * that others wait for. Then gt_rec_put_at need not wait. */
static inline void gt_rec_reserve(gotrace_rec_thread *t, unsigned count)
{
    const gotrace_recorder *r = t->recorder;
    const gt_rec_stream *stream = r->v2 ? &t->stream : t->proc ? &t->proc->stream : NULL;
    const gt_rec_buffer *b = stream ? stream->buffers[t->era % GT_REC_OPEN] : NULL;
    const size_t size = gt_rec_room_for(r, count);
    if (__builtin_expect(stream && !(b && (size_t)(b->end - b->p) >= size), 0))
        gt_rec_reserve_slow(t, size);
}

static inline const gt_rec_entry *gt_rec_entry_of(gotrace_rec_thread *t, const uint64_t *pcs,
                                                  size_t depth)
{
    const uint64_t start_pc = t->go ? t->go->start_pc : 0;
    return depth == 0 ? NULL : gt_rec_stack_entry(t->recorder, t->era, start_pc, pcs, depth, false);
}

static inline uint64_t gt_rec_stack(gotrace_rec_thread *t, const uint64_t *pcs, size_t depth)
{
    return gt_rec_id(gt_rec_entry_of(t, pcs, depth));
}

/* The goroutine stops with that stack in the event's era: gotrace_rec_go.stack. */
static inline void gt_rec_keep_stack(const gotrace_rec_thread *t, gotrace_rec_go *g,
                                     const gt_rec_entry *stack)
{
    g->stack = stack;
    g->stack_era = t->era;
}

/* Writes an event if the trace can have it: v1's code or v2's; 0: none. Returns its time or 0. */
GT_REC_INLINE uint64_t gt_rec_event(gotrace_rec_thread *t, unsigned v1, unsigned v2,
                                    const uint64_t *args, unsigned count)
{
    return gt_rec_can_put(t, v1, v2) ? gt_rec_put(t, t->recorder->v2 ? v2 : v1, args, count) : 0;
}

#endif
