/*
 * stacks.c - stacks: program counters while recording, frames when an era ends.
 */
#include "record/record.h"

#include <string.h>

uint64_t gt_rec_stack_id(gotrace_recorder *r, uint64_t era, const uint64_t *pcs, size_t depth,
                         bool locked)
{
    if (depth > GT_REC_STACK_MAX)
        depth = GT_REC_STACK_MAX;
    return depth == 0 ? 0 : gt_rec_table_id(r, era, false, pcs, depth * sizeof *pcs, locked, NULL);
}

uint64_t gt_rec_start_id(gotrace_recorder *r, uint64_t era, uint64_t start_pc, bool locked)
{
    if (start_pc == 0 || r->numbers)
        return start_pc;
    start_pc++;
    return gt_rec_stack_id(r, era, &start_pc, 1, locked);
}

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

static bool put(gotrace_recorder *r, const gt_rec_entry *stack, uint64_t ticks)
{
    gotrace_frame frames[GT_REC_STACK_MAX];
    uint64_t id = 0, pc = 0;
    size_t count = 0;
    for (size_t at = 0; at < stack->size && count < GT_REC_STACK_MAX; at += sizeof pc) {
        memcpy(&pc, stack->bytes + at, sizeof pc);
        count += resolve(r, pc, frames + count, GT_REC_STACK_MAX - count);
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
    bool good = true;
    for (const gt_rec_entry *s = table->first; s && good; s = s->younger)
        good = put(r, s, ticks);
    return good;
}
