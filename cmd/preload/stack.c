/*
 * stack.c - the callers of an interposed function.
 *
 * Unwinding takes microseconds, but programs call from the same places again and again. For each
 * stack that was unwound, a thread keeps where its return addresses lie. When the same function is
 * called with the same stack pointer, and all return addresses are where they were, then the
 * callers are the same: the first return address determines the size of its frame, hence where the
 * next one is, and so on. (A function whose frame has a variable size could be missed, if an old
 * return address happens to lie in its new frame.)
 */
#include <gnu/libc-version.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "cmd/preload/real.h"
#include "cmd/preload/trace.h"
#include "cmd/preload/unwind.h"

typedef struct known {
    uint64_t leaf;
    const uintptr_t *frame;
    uint32_t depth;
    bool fixed;                           /* every PC is at its place */
    uint64_t pcs[RING_FRAMES];            /* pcs[0] is leaf */
    const uintptr_t *places[RING_FRAMES]; /* of pcs[1] and so on */
} known;

struct trace_stacks {
    known entries[RING_STACKS];
};

static bool is_same(const known *k, uint64_t leaf, const uintptr_t *frame)
{
    if (k->leaf != leaf || k->frame != frame || !k->fixed)
        return false;
    for (uint32_t i = 1; i < k->depth; i++)
        if (*k->places[i] != k->pcs[i])
            return false;
    return true;
}

static bool add(known *k, const uintptr_t *place, uintptr_t pc)
{
    if (pc == 0 || k->depth == RING_FRAMES)
        return false;
    k->fixed = k->fixed && *place == pc;
    k->places[k->depth] = place;
    k->pcs[k->depth++] = pc;
    return true;
}

static _Unwind_Reason_Code add_frame(struct _Unwind_Context *context, void *arg)
{
    known *k = arg;
    const uintptr_t *place = (const uintptr_t *)_Unwind_GetCFA(context) - 1, *next;
    bool described;
    /* Others are of this library. */
    if (place > k->frame && !add(k, place, _Unwind_GetIP(context)))
        return _URC_END_OF_STACK;
    if (!trace_next_frame(context, &next, &described))
        return _URC_END_OF_STACK;
    if (described)
        return _URC_NO_REASON;
    if (next > k->frame)
        add(k, next, *next);
    return _URC_END_OF_STACK;
}

/* The unwinder has locks, out of which no signal handler may jump. */
static void unwind(_Unwind_Trace_Fn see, void *arg)
{
    sigset_t all, before;
    sigfillset(&all);
    REAL(pthread_sigmask)(SIG_BLOCK, &all, &before);
    _Unwind_Backtrace(see, arg);
    REAL(pthread_sigmask)(SIG_SETMASK, &before, NULL);
}

/* A stack that a signal has interrupted. */
typedef struct interrupted {
    uintptr_t pc;
    uint64_t *pcs;
    unsigned depth; /* 0: that function is not found yet */
} interrupted;

static _Unwind_Reason_Code add_interrupted(struct _Unwind_Context *context, void *arg)
{
    interrupted *i = arg;
    const uintptr_t *next, pc = _Unwind_GetIP(context);
    bool described;
    if (i->depth > 0 && pc > 0 && i->depth < RING_FRAMES)
        i->pcs[i->depth++] = pc;
    else if (i->depth > 0)
        return _URC_END_OF_STACK;
    else if (pc == i->pc)
        i->pcs[i->depth++] = pc + 1;
    if (!trace_next_frame(context, &next, &described))
        return _URC_END_OF_STACK;
    if (described)
        return _URC_NO_REASON;
    const uintptr_t last = *next;
    if (i->depth > 0 && i->depth < RING_FRAMES && last > 0)
        i->pcs[i->depth++] = last;
    return _URC_END_OF_STACK;
}

/* 0: not known on this machine. */
static uintptr_t interrupted_pc(const mcontext_t *m)
{
#if defined __x86_64__
    return (uintptr_t)m->gregs[REG_RIP];
#elif defined __aarch64__
    return (uintptr_t)m->pc;
#else
    (void)m;
    return 0;
#endif
}

unsigned trace_interrupted(const void *context, uint64_t pcs[RING_FRAMES], bool callers)
{
    const ucontext_t *u = context;
    interrupted i = {.pc = interrupted_pc(&u->uc_mcontext), .pcs = pcs};
    if (i.pc == 0)
        return 0;
    if (callers)
        unwind(add_interrupted, &i);
    if (i.depth == 0)
        pcs[i.depth++] = i.pc + 1;
    return i.depth;
}

trace_stacks *trace_stacks_new(void)
{
    void *memory = mmap(NULL, sizeof(trace_stacks), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

uint16_t trace_stack(trace_stacks *stacks, uint64_t leaf, const uintptr_t *frame, bool callers,
                     bool *added)
{
    *added = false;
    if (!callers)
        frame = NULL;
    uint64_t hash = (leaf ^ (uintptr_t)frame << 16 ^ (frame ? frame[1] : 0)) *
                    UINT64_C(0x9e3779b97f4a7c15);
    uint16_t number = (uint16_t)(1 + (hash >> 32) % (RING_STACKS - 2));
    known *k = &stacks->entries[number];
    if (is_same(k, leaf, frame))
        return number;
    k->leaf = 0; /* unknown, if a signal handler jumps out of this function or its caller */
    atomic_signal_fence(memory_order_seq_cst);
    k->pcs[0] = leaf;
    k->frame = frame;
    k->depth = 1;
    k->fixed = true;
    if (callers)
        unwind(add_frame, k);
    *added = true;
    return number;
}

void trace_stack_recorded(trace_stacks *stacks, uint16_t stack)
{
    known *k = &stacks->entries[stack];
    atomic_signal_fence(memory_order_seq_cst);
    k->leaf = k->pcs[0];
}

unsigned trace_stack_frames(const trace_stacks *stacks, uint16_t stack, const uint64_t **pcs)
{
    *pcs = stacks->entries[stack].pcs;
    return stacks->entries[stack].depth;
}

void trace_stacks_free(trace_stacks *stacks)
{
    if (stacks)
        munmap(stacks, sizeof *stacks);
}

/* ---- start routines -------------------------------------------------------------------------- */

static uintptr_t libc_begin, libc_end;

/* Sets them if the function is of that object. */
static int find_object(struct dl_phdr_info *object, size_t size, void *function)
{
    (void)size;
    uintptr_t begin = UINTPTR_MAX, end = 0;
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        const uintptr_t at = object->dlpi_addr + part->p_vaddr;
        if (part->p_type != PT_LOAD)
            continue;
        begin = at < begin ? at : begin;
        end = at + part->p_memsz > end ? at + part->p_memsz : end;
    }
    if ((uintptr_t)function < begin || (uintptr_t)function >= end)
        return 0;
    libc_begin = begin;
    libc_end = end;
    return 1;
}

void trace_find_libc(void)
{
    dl_iterate_phdr(find_object, __extension__(void *) gnu_get_libc_version);
}

/* What is seen of the stack so far. */
typedef struct outermost {
    const uintptr_t *frame;
    unsigned depth;
    uintptr_t routine; /* the last function that is not of the C library ... */
    uintptr_t called;  /* ... and the last one that was called by it */
    bool libc;         /* whether the last frame is of the C library */
} outermost;

static _Unwind_Reason_Code see_frame(struct _Unwind_Context *context, void *arg)
{
    enum { MOST_FRAMES = 1 << 12 }; /* so that it ends */
    outermost *o = arg;
    const uintptr_t *next, pc = _Unwind_GetIP(context);
    bool described;
    o->libc = pc >= libc_begin && pc < libc_end;
    if (!o->libc && (const uintptr_t *)_Unwind_GetCFA(context) - 1 > o->frame)
        o->routine = _Unwind_GetRegionStart(context);
    if (o->libc)
        o->called = o->routine;
    if (!trace_next_frame(context, &next, &described))
        return _URC_END_OF_STACK;
    if (!described && (o->libc = *next >= libc_begin && *next < libc_end))
        o->called = o->routine;
    return described && ++o->depth < MOST_FRAMES ? _URC_NO_REASON : _URC_END_OF_STACK;
}

/* A thread begins in the C library, which calls the routine: it is that of the last frame that is
 * not of the library, if unwinding came to the end. The first thread begins at the entry of the
 * program, which calls the library. */
uintptr_t trace_start_routine(const uintptr_t *frame)
{
    outermost o = {.frame = frame};
    unwind(see_frame, &o);
    return o.libc || o.routine == getauxval(AT_ENTRY) ? o.called : 0;
}
