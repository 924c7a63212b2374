/* stacks.c - interning of names, frames and stacks. */
#include "formats/analyse/stacks.h"

#include <stdlib.h>
#include <string.h>

#include "core/malloc.h"
#include "formats/common/functions.h"
#include "formats/common/vector.h"
#include "formats/common/placeholder.h"

stacks *stacks_new(stacks_detail detail)
{
    stacks *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->detail = detail;
    id_numbers_init(&s->ids);
    return s;
}

void stacks_free(stacks *s)
{
    if (!s)
        return;
    gt_lookup_free(&s->name_lookup, gt_malloc());
    gt_lookup_free(&s->frame_lookup, gt_malloc());
    gt_lookup_free(&s->stack_lookup, gt_malloc());
    id_numbers_free(&s->ids);
    free(s->text);
    free(s->names);
    free(s->frames);
    free(s->numbers);
    free(s->stacks);
    free(s->buffer);
    free(s->made);
    free(s);
}

void stacks_begin(stacks *s, const feed *source)
{
    id_numbers_clear(&s->ids);
    memset(s->reasons, 0, sizeof s->reasons);
    s->source = source;
    s->generation_index = UINT64_MAX;
}

static uint32_t failed(stacks *s)
{
    s->failed = true;
    return 0;
}

/* ---- names ------------------------------------------------------------------------------------
 */

static bool same_name(const stacks *s, uint32_t number, const char *bytes, size_t size)
{
    const stacks_span *name = &s->names[number - 1];
    return name->size == size && memcmp(s->text + name->first, bytes, size) == 0;
}

static bool add_text(stacks *s, const char *bytes, size_t size)
{
    if (size > UINT32_MAX - s->text_size)
        return false;
    while (size > s->text_room - s->text_size) {
        char *text = vector_room(s->text, &s->text_room, s->text_room, 1);
        if (!text)
            return false;
        s->text = text;
    }
    memcpy(s->text + s->text_size, bytes, size);
    s->text_size += size;
    return true;
}

static uint32_t intern_name(stacks *s, const char *bytes, size_t size)
{
    if (size == 0)
        return 0;
    if (!gt_lookup_reserve(&s->name_lookup, gt_malloc()))
        return failed(s);
    size_t slot;
    uint64_t hash = gt_hash_bytes(s->name_lookup.seed, bytes, size);
    uint32_t number = gt_lookup_first(&s->name_lookup, hash, &slot);
    while (number && !same_name(s, number, bytes, size))
        number = gt_lookup_next(&s->name_lookup, hash, &slot);
    if (number)
        return number;
    stacks_span *names = vector_room(s->names, &s->name_room, s->name_count, sizeof *names);
    if (!names)
        return failed(s);
    s->names = names;
    if (!add_text(s, bytes, size))
        return failed(s);
    names[s->name_count++] = (stacks_span){(uint32_t)(s->text_size - size), (uint32_t)size};
    gt_lookup_put(&s->name_lookup, slot, hash, (uint32_t)s->name_count);
    return (uint32_t)s->name_count;
}

static bool begins_with(const char *bytes, size_t size, const char *prefix)
{
    return size > strlen(prefix) && memcmp(bytes, prefix, strlen(prefix)) == 0;
}

/* A placeholder, with the name of the trace. */
static uint32_t intern_lost(stacks *s, const char *bytes, size_t size)
{
    static const char of[] = " of ";
    const size_t own = strlen(s->lost_of), length = size + strlen(of) + own;
    char *text = malloc(length);
    if (!text)
        return failed(s);
    memcpy(text, bytes, size);
    memcpy(text + size, of, strlen(of));
    memcpy(text + size + strlen(of), s->lost_of, own);
    uint32_t number = intern_name(s, text, length);
    free(text);
    return number;
}

bool stacks_is_lost(const stacks *s, const char *bytes, size_t size)
{
    return s->lost_of && (begins_with(bytes, size, PLACEHOLDER_STRING) ||
                          begins_with(bytes, size, PLACEHOLDER_STACK));
}

uint32_t stacks_name(stacks *s, const char *bytes, size_t size)
{
    if (stacks_is_lost(s, bytes, size))
        return intern_lost(s, bytes, size);
    return intern_name(s, bytes, size);
}

static uint32_t name_of_reason(stacks *s, const char *reason)
{
    uint32_t name = stacks_name(s, reason, strlen(reason));
    for (size_t i = 0; i < s->reason_count; i++)
        if (s->reason_names[i] == name)
            return name;
    if (s->reason_count == STACKS_MOST_REASONS)
        return stacks_name(s, "other reasons", strlen("other reasons"));
    s->reason_names[s->reason_count++] = name;
    return name;
}

uint32_t stacks_search_reason(stacks *s, const char *reason)
{
    size_t i = (uintptr_t)reason / 8 % STACKS_KEPT_REASONS;
    s->reasons[i].reason = reason;
    s->reasons[i].name = name_of_reason(s, reason);
    return s->reasons[i].name;
}

const char *stacks_text(const stacks *s, uint32_t name, size_t *size)
{
    *size = name ? s->names[name - 1].size : 0;
    return name ? s->text + s->names[name - 1].first : "";
}

bool stacks_name_is(const stacks *s, uint32_t name, const char *text)
{
    size_t size;
    const char *bytes = stacks_text(s, name, &size);
    return size == strlen(text) && memcmp(bytes, text, size) == 0;
}

bool stacks_name_has(const stacks *s, uint32_t name, const char *text)
{
    size_t size;
    const char *bytes = stacks_text(s, name, &size);
    return memmem(bytes, size, text, strlen(text)) != NULL;
}

/* ---- frames and stacks ------------------------------------------------------------------------
 */

static bool same_frame(const stacks_frame *a, const stacks_frame *b)
{
    return a->pc == b->pc && a->line == b->line && a->function == b->function && a->file == b->file;
}

/* What is stored of a frame. */
static stacks_frame detail_of(stacks *s, const gotrace_frame *frame)
{
    stacks_frame made = {.function = stacks_name(s, frame->function, frame->function_size)};
    if (s->detail == STACKS_BY_FUNCTION)
        return made;
    made.file = stacks_name(s, frame->file, frame->file_size);
    made.line = frame->line;
    if (s->detail == STACKS_BY_ADDRESS || made.function == 0)
        made.pc = frame->pc;
    return made;
}

uint32_t stacks_frame_of(stacks *s, const gotrace_frame *frame)
{
    const stacks_frame made = detail_of(s, frame);
    if (!gt_lookup_reserve(&s->frame_lookup, gt_malloc()))
        return failed(s);
    size_t slot;
    uint64_t seed = s->frame_lookup.seed, hash = gt_hash(seed, made.pc);
    hash = gt_hash_add(seed, hash, made.line);
    hash = gt_hash_add(seed, hash, (uint64_t)made.function << 32 | made.file);
    uint32_t number = gt_lookup_first(&s->frame_lookup, hash, &slot);
    while (number && !same_frame(&s->frames[number - 1], &made))
        number = gt_lookup_next(&s->frame_lookup, hash, &slot);
    if (number)
        return number;
    stacks_frame *frames = vector_room(s->frames, &s->frame_room, s->frame_count, sizeof *frames);
    if (!frames)
        return failed(s);
    s->frames = frames;
    frames[s->frame_count++] = made;
    gt_lookup_put(&s->frame_lookup, slot, hash, (uint32_t)s->frame_count);
    return (uint32_t)s->frame_count;
}

static bool same_stack(const stacks *s, uint32_t number, const uint32_t *frames, size_t depth)
{
    const stacks_span *stack = &s->stacks[number - 1];
    return stack->size == depth &&
           memcmp(s->numbers + stack->first, frames, depth * sizeof *frames) == 0;
}

static bool add_stack(stacks *s, const uint32_t *frames, size_t depth)
{
    stacks_span *list = vector_room(s->stacks, &s->stack_room, s->stack_count, sizeof *list);
    if (!list)
        return false;
    s->stacks = list;
    if (depth > UINT32_MAX - s->number_count)
        return false;
    while (depth > s->number_room - s->number_count) {
        uint32_t *numbers = vector_room(s->numbers, &s->number_room, s->number_room,
                                        sizeof *numbers);
        if (!numbers)
            return false;
        s->numbers = numbers;
    }
    memcpy(s->numbers + s->number_count, frames, depth * sizeof *frames);
    list[s->stack_count++] = (stacks_span){(uint32_t)s->number_count, (uint32_t)depth};
    s->number_count += depth;
    return true;
}

uint32_t stacks_of_frames(stacks *s, const uint32_t *frames, size_t depth)
{
    if (!gt_lookup_reserve(&s->stack_lookup, gt_malloc()))
        return failed(s);
    size_t slot;
    uint64_t hash = gt_hash_bytes(s->stack_lookup.seed, frames, depth * sizeof *frames);
    uint32_t number = gt_lookup_first(&s->stack_lookup, hash, &slot);
    while (number && !same_stack(s, number, frames, depth))
        number = gt_lookup_next(&s->stack_lookup, hash, &slot);
    if (number)
        return number;
    if (!add_stack(s, frames, depth))
        return failed(s);
    gt_lookup_put(&s->stack_lookup, slot, hash, (uint32_t)s->stack_count);
    return (uint32_t)s->stack_count;
}

static bool reserve_buffer(stacks *s, size_t depth)
{
    if (depth <= s->buffer_room)
        return true;
    gotrace_frame *buffer = realloc(s->buffer, depth * sizeof *buffer);
    s->buffer = buffer ? buffer : s->buffer;
    uint32_t *made = realloc(s->made, depth * sizeof *made);
    s->made = made ? made : s->made;
    if (buffer && made)
        s->buffer_room = depth;
    return buffer && made;
}

/* Whether that is all a tracer wrote because it found no stack. */
static bool is_empty(const gotrace_frame *frames, size_t depth)
{
    return depth == 1 && frames->pc == 0 && frames->function_size == 0 && frames->file_size == 0;
}

static uint32_t intern_stack(stacks *s, uint64_t id)
{
    size_t depth = feed_stack_depth(s->source, id);
    if (depth == 0)
        return 0;
    if (!reserve_buffer(s, depth))
        return failed(s);
    depth = feed_stack(s->source, id, s->buffer, depth);
    if (is_empty(s->buffer, depth))
        return 0;
    for (size_t i = 0; i < depth; i++)
        s->made[i] = stacks_frame_of(s, &s->buffer[i]);
    return s->failed ? 0 : stacks_of_frames(s, s->made, depth);
}

uint32_t stacks_make(stacks *s, uint64_t id)
{
    if (s->source->generation_index != s->generation_index) {
        id_numbers_clear(&s->ids);
        s->generation_index = s->source->generation_index;
    }
    uint32_t number = id_numbers_find(&s->ids, id);
    if (number == 0) {
        number = intern_stack(s, id) + 1;
        if (!id_numbers_put(&s->ids, id, number))
            return failed(s);
    }
    return number - 1;
}

size_t stacks_depth(const stacks *s, uint32_t stack)
{
    return stack ? s->stacks[stack - 1].size : 0;
}

const stacks_frame *stacks_frame_at(const stacks *s, uint32_t stack, size_t n)
{
    return &s->frames[s->numbers[s->stacks[stack - 1].first + n] - 1];
}

static bool is_inner(const stacks *s, uint32_t stack, size_t n)
{
    size_t size;
    const char *name = stacks_text(s, stacks_frame_at(s, stack, n)->function, &size);
    return function_is_inner(name, size);
}

size_t stacks_run_end(const stacks *s, uint32_t stack, size_t n)
{
    const size_t depth = stacks_depth(s, stack);
    size_t end = n;
    while (end < depth && is_inner(s, stack, end))
        end++;
    return end > n ? end - 1 : n;
}

uint32_t stacks_root(const stacks *s, uint32_t stack)
{
    size_t depth = stacks_depth(s, stack);
    return depth ? stacks_frame_at(s, stack, depth - 1)->function : 0;
}
