/*
 * encoder_pcs.c - the program counters (PCs) of frames.
 *
 * Go's readers identify frames by PC. Go 1.27's reader of v2 shows the first frame with a PC in all
 * stacks of the generation that contain that PC (internal/trace/generation.go, addStacks); Go
 * 1.21's tool groups goroutines by the PC where they start (cmd/trace, goroutines.go). So a frame
 * without a PC gets one computed from its content; and in v2 no two different frames are written
 * with the same PC, as in traces of real programs. In v1 they may be: inlined functions have the PC
 * of their caller (gccgo, Go 1.9), which is preserved.
 */
#include <string.h>

#include "write/encoder.h"

/* Made-up PCs are exact in a double. PCs from SPARE on are used if two frames would get the
 * same. */
#define SPARE (2 * GOTRACE_FRAME_PC_MADE)

static uint64_t mix(uint64_t hash, uint64_t word)
{
    return (hash ^ word) * 0x100000001b3u;
}

/* Only the part of a name that is written. */
static uint64_t mix_name(uint64_t hash, const char *name, size_t size)
{
    size_t kept = !name ? 0 : size < GT_NAME_MAX ? size : GT_NAME_MAX;
    for (size_t i = size - kept; i < size && kept > 0; i++)
        hash = mix(hash, (uint8_t)name[i]);
    return mix(hash, UINT64_C(256) + kept);
}

/* FNV-1a without a seed: a frame has the same PC in every trace. */
uint64_t gotrace_frame_pc(const gotrace_frame *f)
{
    if (f->pc != 0 || (f->function_size == 0 && f->file_size == 0 && f->line == 0))
        return f->pc;
    uint64_t hash = mix_name(0xcbf29ce484222325u, f->function, f->function_size);
    hash = mix(mix_name(hash, f->file, f->file_size), f->line);
    return GOTRACE_FRAME_PC_MADE | (hash ^ hash >> 32) % GOTRACE_FRAME_PC_MADE;
}

static gt_stack_frame frame_at(const gotrace_encoder *e, size_t at)
{
    gt_stack_frame frame;
    memcpy(&frame, e->stacks.pool + at, sizeof frame);
    return frame;
}

/* Whether the PC is free or belongs to that frame. */
static bool may_have(const gotrace_encoder *e, const gt_stack_frame *frame, uint64_t pc)
{
    uint64_t owner = gt_map_get(&e->pcs.owners, pc);
    if (owner == 0)
        return true;
    gt_stack_frame other = frame_at(e, (size_t)owner - 1);
    return other.function == frame->function && other.file == frame->file &&
           other.line == frame->line;
}

static bool claim(gotrace_encoder *e, size_t at, uint64_t pc)
{
    return gt_map_get(&e->pcs.owners, pc) != 0 || gt_map_put(&e->pcs.owners, pc, at + 1) ||
           (gt_encoder_fail_memory(e), false);
}

bool gt_pcs_claim(gotrace_encoder *e)
{
    e->pcs.owners.heap = &e->heap;
    for (size_t i = 0; i < e->stacks.count; i++) {
        const gt_entry *stack = &e->stacks.entries[i];
        for (size_t at = stack->offset; at < stack->offset + stack->size;
             at += sizeof(gt_stack_frame))
            if (!claim(e, at, frame_at(e, at).pc))
                return false;
    }
    return true;
}

static void set_name(const gotrace_encoder *e, uint64_t number, const char **name, size_t *size)
{
    const gt_entry *entry = number ? &e->strings.entries[number - 1] : NULL;
    *name = entry ? (const char *)gt_intern_bytes(&e->strings, entry) : "";
    *size = entry ? entry->size : 0;
}

/* A PC for a frame whose own PC belongs to another frame. */
static uint64_t make_pc(gotrace_encoder *e, const gt_stack_frame *frame)
{
    gotrace_frame named = {.line = frame->line};
    set_name(e, frame->function, &named.function, &named.function_size);
    set_name(e, frame->file, &named.file, &named.file_size);
    uint64_t pc = gotrace_frame_pc(&named);
    if (may_have(e, frame, pc))
        return pc;
    while (gt_map_get(&e->pcs.owners, SPARE + e->pcs.spare) != 0)
        e->pcs.spare++;
    return SPARE + e->pcs.spare;
}

bool gt_pcs_of(gotrace_encoder *e, size_t at, uint64_t *pc)
{
    gt_stack_frame frame = frame_at(e, at);
    *pc = frame.pc;
    if (may_have(e, &frame, frame.pc))
        return true;
    size_t number;
    frame.pc = 0;
    if (!gt_intern_put(&e->heap, &e->pcs.frames, &frame, sizeof frame, &number))
        return gt_encoder_fail_memory(e), false;
    gt_entry *entry = &e->pcs.frames.entries[number];
    if (entry->id == 0) {
        uint64_t invented = make_pc(e, &frame);
        if (!claim(e, at, invented))
            return false;
        entry->id = invented;
    }
    *pc = entry->id;
    return true;
}

void gt_pcs_clear(gotrace_encoder *e)
{
    if (e->pcs.owners.heap)
        gt_map_free(&e->pcs.owners);
    gt_intern_free(&e->heap, &e->pcs.frames);
    e->pcs.spare = 0;
}
