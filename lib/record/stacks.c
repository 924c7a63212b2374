/*
 * stacks.c - stacks: program counters while recording, frames when an era ends.
 */
#include "record/record.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

/* ---- taken by the recorder ------------------------------------------------------------------- */

#if defined __x86_64__ || defined __aarch64__
/* A frame of a function that keeps a frame pointer. */
typedef struct frame {
    const struct frame *caller;
    uint64_t pc; /* to which it returns */
} frame;

/* No frame is larger: what is farther away is not of the same stack. */
enum { FRAME_MAX = 1 << 20 };

static bool is_caller(const frame *f, const frame *caller)
{
    return caller > f && (uintptr_t)caller - (uintptr_t)f <= FRAME_MAX &&
           (uintptr_t)caller % _Alignof(frame) == 0;
}

static bool can_read(const void *address)
{
    /* The kernel reads the set of signals before it rejects what is to be done with it. */
    return syscall(SYS_rt_sigprocmask, -1, address, NULL, sizeof(uint64_t)) == 0 || errno != EFAULT;
}

/* Whether a frame can be read. *page: one that can be, which is set. */
static bool can_read_frame(const frame *f, uintptr_t *page)
{
    enum { PAGE = 4096 }; /* the smallest */
    const uintptr_t first = (uintptr_t)f / PAGE, last = (uintptr_t)&f->pc / PAGE;
    if ((first != *page && !can_read(f)) || (last != first && !can_read(&f->pc)))
        return false;
    *page = last;
    return true;
}

/* checked: the frame pointer of code that may use the register for something else.
 * Source: Go 1.21, runtime/trace.go, fpTracebackPCs. The sanitizer does not know frames as objects.
 */
__attribute__((no_sanitize("address"))) static size_t walk(const frame *f, uint64_t *pcs,
                                                           size_t max, bool checked)
{
    size_t depth = 0;
    uintptr_t page = 0;
    while (depth < max && (!checked || can_read_frame(f, &page)) && f->pc != 0) {
        pcs[depth++] = f->pc;
        if (!is_caller(f, f->caller))
            break;
        f = f->caller;
    }
    return depth;
}
#endif

static size_t take(const gotrace_recorder *r, const void *frame_address, uint64_t *pcs, size_t max,
                   bool checked)
{
    size_t depth = 0;
    if (r->options.stack)
        depth = r->options.stack(r->options.stack_ctx, frame_address, pcs, max);
#if defined __x86_64__ || defined __aarch64__
    else if (frame_address)
        depth = walk(frame_address, pcs, max, checked);
#endif
    (void)checked;
    return depth < max ? depth : max;
}

size_t gt_rec_take_stack(const gotrace_recorder *r, const void *frame_address, uint64_t *pcs,
                         size_t max)
{
    return take(r, frame_address, pcs, max, false);
}

size_t gt_rec_take_interrupted(const gotrace_recorder *r, const void *context, uint64_t *pcs,
                               size_t max)
{
#if defined __x86_64__ || defined __aarch64__
    const mcontext_t *m = &((const ucontext_t *)context)->uc_mcontext;
#if defined __x86_64__
    const uint64_t pc = (uint64_t)m->gregs[REG_RIP], sp = (uint64_t)m->gregs[REG_RSP];
    const frame *f = (const frame *)m->gregs[REG_RBP];
#else
    const uint64_t pc = m->pc, sp = m->sp;
    const frame *f = (const frame *)m->regs[29];
#endif
    const int error = errno;
    uintptr_t page = 0;
    size_t depth = 1;
    pcs[0] = pc + 1; /* as a return address */
    /* The frame of a function that has none yet is that of its caller, so it may be at sp. */
    if (is_caller((const frame *)(sp - sizeof f), f) && can_read_frame(f, &page))
        depth += take(r, f, pcs + 1, max - 1, true);
    errno = error;
    return depth;
#else
    (void)r, (void)context, (void)pcs, (void)max;
    return 0;
#endif
}

/* ---- entries --------------------------------------------------------------------------------- */

static const gt_rec_entry *entry_of(gotrace_recorder *r, uint64_t era, uint64_t start_pc,
                                    const uint64_t *pcs, size_t depth, bool locked)
{
    const bool named = r->options.resolve || r->crash; /* else functions are not compared */
    const gt_rec_key key = {pcs, depth * sizeof *pcs, named && start_pc ? start_pc + 1 : 0};
    return depth == 0 ? NULL : gt_rec_table_entry(r, era, false, &key, locked, NULL);
}

static const gt_rec_entry *taken_entry(gotrace_recorder *r, uint64_t era, uint64_t start_pc,
                                       const void *frame_address, bool locked)
{
    uint64_t pcs[GT_REC_STACK_MAX];
    const size_t depth = gt_rec_take_stack(r, frame_address, pcs, GT_REC_STACK_MAX);
    return entry_of(r, era, start_pc, pcs, depth, locked);
}

const gt_rec_entry *gt_rec_stack_entry(gotrace_recorder *r, uint64_t era, uint64_t start_pc,
                                       const uint64_t *pcs, size_t depth, bool locked)
{
    if (__builtin_expect(depth > GT_REC_STACK_MAX, 0)) {
        if (depth == GOTRACE_REC_FRAMES)
            return taken_entry(r, era, start_pc, pcs, locked);
        depth = GT_REC_STACK_MAX;
    }
    return entry_of(r, era, start_pc, pcs, depth, locked);
}

const gt_rec_entry *gt_rec_start_entry(gotrace_recorder *r, uint64_t era, uint64_t start_pc,
                                       bool locked)
{
    const uint64_t entry = start_pc + 1;
    return start_pc == 0 || r->numbers ? NULL : entry_of(r, era, 0, &entry, 1, locked);
}

uint64_t gt_rec_start_id(const gotrace_recorder *r, const gt_rec_entry *start, uint64_t start_pc)
{
    return r->numbers ? start_pc : gt_rec_id(start);
}

/* ---- frames ---------------------------------------------------------------------------------- */

static bool has_names(const gotrace_recorder *r)
{
    return r->options.resolve && !r->numbers;
}

/* Frames of a PC, with the functions that were inlined there. */
static size_t resolve(const gotrace_recorder *r, uint64_t pc, gotrace_frame *frames)
{
    memset(frames, 0, GT_REC_STACK_MAX * sizeof *frames);
    size_t count = r->options.resolve(r->options.resolve_ctx, pc, frames, GT_REC_STACK_MAX);
    if (count == 0 || count > GT_REC_STACK_MAX)
        count = 1;
    if (frames[count - 1].pc == 0) /* inlined functions get PCs of their own */
        frames[count - 1].pc = pc;
    return count;
}

static const char *copy_text(char **copies, const char *text, size_t size)
{
    if (!text)
        return NULL;
    char *copy = *copies;
    memcpy(copy, text, size);
    *copies += size;
    return copy;
}

/* Copies the frames, because the texts of a callback are valid until it is called again. The caller
 * holds the lock. NULL: memory is refused. */
static const gt_rec_named *add_named(gotrace_recorder *r, gt_rec_names *names, uint64_t pc,
                                     const gotrace_frame *frames, size_t count)
{
    size_t size = sizeof(gt_rec_named) + count * sizeof *frames;
    for (size_t i = 0; i < count; i++)
        size += (frames[i].function ? frames[i].function_size : 0) +
                (frames[i].file ? frames[i].file_size : 0);
    gt_rec_named *n = gt_resize(&r->heap, NULL, 0, size);
    if (!n || !gt_map_put(&names->by_pc, pc, (uintptr_t)n)) {
        gt_free(&r->heap, n, size);
        gt_rec_fail_memory(r);
        return NULL;
    }
    *n = (gt_rec_named){.next = names->first, .size = size, .count = count};
    names->first = n;
    memcpy(n->frames, frames, count * sizeof *frames);
    char *copies = (char *)&n->frames[count];
    for (size_t i = 0; i < count; i++) {
        n->frames[i].function = copy_text(&copies, frames[i].function, frames[i].function_size);
        n->frames[i].file = copy_text(&copies, frames[i].file, frames[i].file_size);
    }
    return n;
}

/* The names of a PC in an era that no event uses any more; NULL: memory is refused. locked: the
 * caller holds the lock, under which memory is requested. */
static const gt_rec_named *names_of(gotrace_recorder *r, uint64_t era, uint64_t pc, bool locked)
{
    gt_rec_names *names = &r->tables[era % GT_REC_OPEN].names;
    const gt_rec_named *n = (const gt_rec_named *)(uintptr_t)gt_map_get(&names->by_pc, pc);
    if (n)
        return n;
    gotrace_frame frames[GT_REC_STACK_MAX];
    const size_t count = resolve(r, pc, frames);
    if (!locked)
        pthread_mutex_lock(&r->lock);
    n = add_named(r, names, pc, frames, count);
    if (!locked)
        pthread_mutex_unlock(&r->lock);
    return n;
}

void gt_rec_names_clear(gotrace_recorder *r, gt_rec_names *names)
{
    for (gt_rec_named *n = names->first, *next; n; n = next) {
        next = n->next;
        gt_free(&r->heap, n, n->size);
    }
    names->first = NULL;
    gt_map_free(&names->by_pc);
}

static uint64_t pc_at(const gt_rec_entry *stack, size_t i)
{
    uint64_t pc;
    memcpy(&pc, stack->bytes + i * sizeof pc, sizeof pc);
    return pc;
}

static size_t depth_of(const gt_rec_entry *stack)
{
    return stack->size / sizeof(uint64_t);
}

/* ---- without the lock ------------------------------------------------------------------------ */

static bool name(gotrace_recorder *r, uint64_t era, const gt_rec_entry *stack)
{
    for (size_t i = 0; i < depth_of(stack); i++)
        if (!names_of(r, era, pc_at(stack, i), false))
            return false;
    return stack->start == 0 || names_of(r, era, stack->start, false);
}

/* Twice, because CPU samples may add stacks meanwhile; gt_rec_stacks_end names the rest. Not with a
 * crash file: the trace could not end when that is full. */
void gt_rec_stacks_name(gotrace_recorder *r, uint64_t era)
{
    enum { ROUNDS = 2 };
    const gt_rec_table *table = &r->tables[era % GT_REC_OPEN].stacks;
    const gt_rec_entry *stack = NULL;
    uint32_t done = 0;
    if (!has_names(r) || r->crash)
        return;
    pthread_mutex_lock(&r->lock);
    r->naming = true;
    for (int i = 0; i < ROUNDS && done < table->count && !r->failed; i++) {
        const uint32_t count = table->count; /* entries up to this one do not change */
        stack = stack ? stack->younger : table->first;
        pthread_mutex_unlock(&r->lock);
        while (name(r, era, stack) && ++done < count)
            stack = stack->younger;
        pthread_mutex_lock(&r->lock);
    }
    r->naming = false;
    pthread_cond_broadcast(&r->room);
    pthread_mutex_unlock(&r->lock);
}

/* ---- under the lock -------------------------------------------------------------------------- */

static bool define(gotrace_recorder *r, const gotrace_frame *frames, size_t count, uint64_t ticks,
                   uint64_t *id)
{
    return (r->v2 ? gt_v2_stack(r->encoder, ticks, frames, count, id)
                  : gt_encoder_stack(r->encoder, frames, count, id)) == GOTRACE_OK;
}

/* Appends the frames of a PC, as many as there is room for. False: memory is refused. */
static bool append(gotrace_recorder *r, uint64_t era, uint64_t pc, gotrace_frame *frames,
                   size_t *count)
{
    if (!has_names(r)) {
        frames[(*count)++] = (gotrace_frame){.pc = pc};
        return true;
    }
    const gt_rec_named *n = names_of(r, era, pc, true);
    for (size_t i = 0; n && i < n->count && *count < GT_REC_STACK_MAX; i++)
        frames[(*count)++] = n->frames[i];
    return n;
}

static bool is_same_function(const gotrace_frame *a, const gotrace_frame *b)
{
    return a->function_size == b->function_size && a->function_size > 0 &&
           memcmp(a->function, b->function, a->function_size) == 0;
}

/* The function that the goroutine starts with is the outermost frame, as in Go: what called it is
 * the runtime. Returns the number of frames up to it; all, if it is not there. False: memory is
 * refused. */
static bool end_at_start(gotrace_recorder *r, uint64_t era, uint64_t start,
                         const gotrace_frame *frames, size_t *count)
{
    if (start == 0 || !has_names(r))
        return true;
    const gt_rec_named *n = names_of(r, era, start, true);
    for (size_t i = *count; n && i-- > 0;)
        if (is_same_function(&frames[i], &n->frames[n->count - 1])) {
            *count = i + 1;
            break;
        }
    return n;
}

static bool put_stack(gotrace_recorder *r, uint64_t era, const gt_rec_entry *stack, uint64_t ticks)
{
    gotrace_frame frames[GT_REC_STACK_MAX];
    uint64_t id = 0;
    size_t count = 0;
    for (size_t i = 0; i < depth_of(stack) && count < GT_REC_STACK_MAX; i++)
        if (!append(r, era, pc_at(stack, i), frames, &count))
            return false;
    if (!end_at_start(r, era, stack->start, frames, &count) ||
        !define(r, frames, count, ticks, &id))
        return false;
    /* Of two stacks that differ, the frames that are kept may be the same. */
    return id == stack->id || gt_encoder_repeat_stack(r->encoder, &id) == GOTRACE_OK;
}

bool gt_rec_stacks_end(gotrace_recorder *r, uint64_t era, uint64_t ticks)
{
    const gt_rec_table *table = &r->tables[era % GT_REC_OPEN].stacks;
    for (const gt_rec_entry *s = table->first; s; s = s->younger)
        if (!put_stack(r, era, s, ticks))
            return false;
    return true;
}
