/*
 * stacks.c - stacks: program counters while recording, frames when an era ends.
 */
#include "record/record.h"

#include <string.h>

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

/* Source: Go 1.21, runtime/trace.go, fpTracebackPCs. The sanitizer does not know frames as objects.
 */
__attribute__((no_sanitize("address"))) static size_t walk(const frame *f, uint64_t *pcs,
                                                           size_t max)
{
    size_t depth = 0;
    while (depth < max && f->pc != 0) {
        pcs[depth++] = f->pc;
        if (!is_caller(f, f->caller))
            break;
        f = f->caller;
    }
    return depth;
}
#endif

size_t gt_rec_take_stack(const gotrace_recorder *r, const void *frame_address, uint64_t *pcs,
                         size_t max)
{
    size_t depth = 0;
    if (r->options.stack)
        depth = r->options.stack(r->options.stack_ctx, frame_address, pcs, max);
#if defined __x86_64__ || defined __aarch64__
    else if (frame_address)
        depth = walk(frame_address, pcs, max);
#endif
    return depth < max ? depth : max;
}

/* ---- entries --------------------------------------------------------------------------------- */

static const gt_rec_entry *entry_of(gotrace_recorder *r, uint64_t era, const uint64_t *pcs,
                                    size_t depth, bool locked)
{
    return depth == 0 ? NULL
                      : gt_rec_table_entry(r, era, false, pcs, depth * sizeof *pcs, locked, NULL);
}

static const gt_rec_entry *taken_entry(gotrace_recorder *r, uint64_t era, const void *frame_address,
                                       bool locked)
{
    uint64_t pcs[GT_REC_STACK_MAX];
    return entry_of(r, era, pcs, gt_rec_take_stack(r, frame_address, pcs, GT_REC_STACK_MAX),
                    locked);
}

const gt_rec_entry *gt_rec_stack_entry(gotrace_recorder *r, uint64_t era, const uint64_t *pcs,
                                       size_t depth, bool locked)
{
    if (__builtin_expect(depth > GT_REC_STACK_MAX, 0)) {
        if (depth == GOTRACE_REC_FRAMES)
            return taken_entry(r, era, pcs, locked);
        depth = GT_REC_STACK_MAX;
    }
    return entry_of(r, era, pcs, depth, locked);
}

const gt_rec_entry *gt_rec_start_entry(gotrace_recorder *r, uint64_t era, uint64_t start_pc,
                                       bool locked)
{
    const uint64_t entry = start_pc + 1;
    return start_pc == 0 || r->numbers ? NULL : entry_of(r, era, &entry, 1, locked);
}

uint64_t gt_rec_start_id(const gotrace_recorder *r, const gt_rec_entry *start, uint64_t start_pc)
{
    return r->numbers ? start_pc : gt_rec_id(start);
}

/* ---- frames ---------------------------------------------------------------------------------- */

/* Frames of a PC, with the functions that were inlined there. */
static size_t resolve(const gotrace_recorder *r, uint64_t pc, gotrace_frame *frames, size_t max)
{
    memset(frames, 0, max * sizeof *frames);
    size_t count = r->options.resolve && !r->numbers
                       ? r->options.resolve(r->options.resolve_ctx, pc, frames, max)
                       : 1;
    if (count == 0 || count > max)
        count = 1;
    if (frames[count - 1].pc == 0) /* inlined functions get PCs of their own */
        frames[count - 1].pc = pc;
    return count;
}

static bool define(gotrace_recorder *r, const gotrace_frame *frames, size_t count, uint64_t ticks,
                   uint64_t *id)
{
    return (r->v2 ? gt_v2_stack(r->encoder, ticks, frames, count, id)
                  : gt_encoder_stack(r->encoder, frames, count, id)) == GOTRACE_OK;
}

/* Strings of the frames of a stack: a callback's are valid until it is called again. */
typedef struct texts {
    char *bytes;
    size_t used, capacity;
    bool refused; /* memory */
    bool locked;  /* the caller holds the lock, under which memory is requested */
} texts;

/* As gt_grow, of the texts. */
static bool grow(gotrace_recorder *r, texts *t, size_t need)
{
    if (need <= t->capacity)
        return true;
    if (!t->locked)
        pthread_mutex_lock(&r->lock);
    const bool grown = gt_grow(&r->heap, (void **)&t->bytes, &t->capacity, need, 1);
    if (!t->locked)
        pthread_mutex_unlock(&r->lock);
    return grown;
}

/* Copies a string; returns where it is in the texts. */
static size_t copy_text(gotrace_recorder *r, texts *t, const char *string, size_t size)
{
    const size_t at = t->used;
    if (!string || size == 0)
        return at;
    if (!grow(r, t, at + size)) {
        t->refused = true;
        return at;
    }
    memcpy(t->bytes + at, string, size);
    t->used += size;
    return at;
}

/* Resolves the PCs of a stack, with names that are copies. Returns the number of frames; *last: of
 * the outermost one, its PC. */
static size_t resolve_all(gotrace_recorder *r, texts *t, const gt_rec_entry *stack,
                          gotrace_frame *frames, uint64_t *last)
{
    size_t count = 0, functions[GT_REC_STACK_MAX], files[GT_REC_STACK_MAX];
    t->used = 0;
    for (size_t at = 0; at < stack->size && count < GT_REC_STACK_MAX; at += sizeof *last) {
        memcpy(last, stack->bytes + at, sizeof *last);
        size_t i = count;
        count += resolve(r, *last, frames + count, GT_REC_STACK_MAX - count);
        for (; i < count; i++) {
            functions[i] = copy_text(r, t, frames[i].function, frames[i].function_size);
            files[i] = copy_text(r, t, frames[i].file, frames[i].file_size);
        }
    }
    for (size_t i = 0; i < count && t->bytes; i++) {
        frames[i].function = frames[i].function ? t->bytes + functions[i] : NULL;
        frames[i].file = frames[i].file ? t->bytes + files[i] : NULL;
    }
    return count;
}

/* ---- without the lock ------------------------------------------------------------------------ */

/* Where the copy of a text is; NULL if there is no text. */
static const char *text_in(const char *copies, const char *text, const char *from)
{
    return text ? copies + (from ? text - from : 0) : NULL;
}

/* Memory for the names of a stack; NULL: it is refused. */
static gt_rec_named *new_named(gotrace_recorder *r, const texts *t, size_t count)
{
    const size_t size = sizeof(gt_rec_named) + count * sizeof(gotrace_frame) + t->used;
    pthread_mutex_lock(&r->lock);
    gt_rec_named *made = t->refused ? NULL : gt_resize(&r->heap, NULL, 0, size);
    if (made)
        made->size = size;
    else
        gt_rec_fail_memory(r);
    pthread_mutex_unlock(&r->lock);
    return made;
}

static bool name(gotrace_recorder *r, texts *t, gt_rec_entry *stack)
{
    gotrace_frame frames[GT_REC_STACK_MAX];
    uint64_t pc = 0;
    const size_t count = resolve_all(r, t, stack, frames, &pc);
    gt_rec_named *made = new_named(r, t, count);
    if (!made)
        return false;
    char *copies = (char *)&made->frames[count];
    made->count = count;
    made->pc = pc;
    if (t->used > 0)
        memcpy(copies, t->bytes, t->used);
    for (size_t i = 0; i < count; i++) {
        made->frames[i] = frames[i];
        made->frames[i].function = text_in(copies, frames[i].function, t->bytes);
        made->frames[i].file = text_in(copies, frames[i].file, t->bytes);
    }
    stack->named = made;
    return true;
}

/* Twice, because CPU samples may add stacks meanwhile; gt_rec_stacks_end names the rest. Not with a
 * crash file: the trace could not end when that is full. */
void gt_rec_stacks_name(gotrace_recorder *r, uint64_t era)
{
    enum { ROUNDS = 2 };
    const gt_rec_table *table = &r->tables[era % GT_REC_OPEN].stacks;
    gt_rec_entry *stack = NULL;
    texts t = {0};
    uint32_t done = 0;
    if (!r->options.resolve || r->numbers || r->crash)
        return;
    pthread_mutex_lock(&r->lock);
    r->naming = true;
    for (int i = 0; i < ROUNDS && done < table->count && !r->failed; i++) {
        const uint32_t count = table->count; /* entries up to this one do not change */
        stack = stack ? stack->younger : table->first;
        pthread_mutex_unlock(&r->lock);
        while (name(r, &t, stack) && ++done < count)
            stack = stack->younger;
        pthread_mutex_lock(&r->lock);
    }
    gt_free(&r->heap, t.bytes, t.capacity);
    r->naming = false;
    pthread_cond_broadcast(&r->room);
    pthread_mutex_unlock(&r->lock);
}

/* ---- under the lock -------------------------------------------------------------------------- */

static bool put(gotrace_recorder *r, texts *t, const gt_rec_entry *stack, uint64_t ticks)
{
    gotrace_frame frames[GT_REC_STACK_MAX];
    uint64_t id = 0, pc = 0;
    size_t count = 0;
    if (stack->named) {
        count = stack->named->count;
        pc = stack->named->pc;
        memcpy(frames, stack->named->frames, count * sizeof *frames);
    } else {
        count = resolve_all(r, t, stack, frames, &pc);
    }
    if (t->refused) {
        gt_rec_fail_memory(r);
        return false;
    }
    if (!define(r, frames, count, ticks, &id))
        return false;
    if (id == stack->id)
        return true;
    /* So many functions are inlined that the frames kept are those of another stack: the line of
     * the last one makes it different.
     */
    frames[count - 1] = (gotrace_frame){.pc = pc, .line = stack->id};
    return define(r, frames, count, ticks, &id);
}

bool gt_rec_stacks_end(gotrace_recorder *r, uint64_t era, uint64_t ticks)
{
    const gt_rec_table *table = &r->tables[era % GT_REC_OPEN].stacks;
    texts t = {.locked = true};
    bool good = true;
    for (const gt_rec_entry *s = table->first; s && good; s = s->younger)
        good = put(r, &t, s, ticks);
    gt_free(&r->heap, t.bytes, t.capacity);
    return good;
}
