/*
 * stacks.h - names, frames and stacks, each stored once, of all generations and traces.
 *
 * Ids of a trace are valid in one generation only. Here equal names and equal stacks have the same
 * number, from 1 on; 0 is the empty name and no stack.
 */
#ifndef ANALYSE_STACKS_H
#define ANALYSE_STACKS_H

#include "formats/common/feed.h"
#include "formats/common/id_numbers.h"

typedef struct stacks_frame {
    uint64_t pc, line;
    uint32_t function, file; /* names */
} stacks_frame;

/* A sequence of items of another array, of which there are less than 2^32. */
typedef struct stacks_span {
    uint32_t first, size;
} stacks_span;

/* What makes frames, and so stacks, different: where the figures of stacks are added up, those that
 * look the same are one. */
typedef enum stacks_detail {
    STACKS_BY_ADDRESS,
    STACKS_BY_LINE, /* function, file and line; the address of a frame without a function */
    STACKS_BY_FUNCTION
} stacks_detail;

/* Frames that are shown of a stack where there is room for a few. */
enum { STACK_FRAMES = 3 };

enum { STACKS_KEPT_REASONS = 64 };

/* Different reasons that have names: Go has about 50, but a damaged trace may have any number, and
 * times are stored and searched by reason. */
enum { STACKS_MOST_REASONS = 250 };

typedef struct stacks {
    stacks_detail detail;
    char *text;         /* of all names */
    stacks_span *names; /* in text */
    stacks_frame *frames;
    uint32_t *numbers;   /* of frames, of all stacks */
    stacks_span *stacks; /* in numbers, innermost frame first */
    size_t text_room, name_room, frame_room, number_room, stack_room;
    size_t text_size, name_count, frame_count, number_count, stack_count;
    gt_lookup name_lookup, frame_lookup, stack_lookup;
    gotrace_frame *buffer; /* frames of one stack */
    uint32_t *made;        /* the numbers of its frames */
    size_t buffer_room;
    struct {
        const char *reason;
        uint32_t name;
    } reasons[STACKS_KEPT_REASONS]; /* by the last bits of the address */
    uint32_t reason_names[STACKS_MOST_REASONS];
    size_t reason_count;
    /* Of the current generation of the current trace: */
    const feed *source;
    const char *lost_of; /* its name, which is added to placeholders: ids that are lost mean
                          * something else in another trace; NULL: there is no other one */
    uint64_t generation_index;
    id_numbers ids; /* numbers of stacks + 1 */
    bool failed;    /* memory was refused; all further numbers are 0 */
} stacks;

/* Returns NULL if memory is refused. */
stacks *stacks_new(stacks_detail detail);
void stacks_free(stacks *s);

/* Begins a trace: ids are those of its feed, which is borrowed. */
void stacks_begin(stacks *s, const feed *source);

/* Whether the name is a placeholder to which that of the trace is added. */
bool stacks_is_lost(const stacks *s, const char *bytes, size_t size);

/* The number of a name. */
uint32_t stacks_name(stacks *s, const char *bytes, size_t size);

/* stacks_reason for one that is not among those found last. */
uint32_t stacks_search_reason(stacks *s, const char *reason);

/* The number of a reason of the trace, which keeps its address; 0 for NULL. All after the first
 * STACKS_MOST_REASONS are "other reasons". */
static inline uint32_t stacks_reason(stacks *s, const char *reason)
{
    const size_t i = (uintptr_t)reason / 8 % STACKS_KEPT_REASONS;
    if (!reason)
        return 0;
    return s->reasons[i].reason == reason ? s->reasons[i].name : stacks_search_reason(s, reason);
}

const char *stacks_text(const stacks *s, uint32_t name, size_t *size);

/* Whether that is the name; whether it contains that text. */
bool stacks_name_is(const stacks *s, uint32_t name, const char *text);
bool stacks_name_has(const stacks *s, uint32_t name, const char *text);

/* stacks_of for an id that is not known yet. */
uint32_t stacks_make(stacks *s, uint64_t id);

/* The number of a stack of the current event. */
static inline uint32_t stacks_of(stacks *s, uint64_t id)
{
    if (id == 0)
        return 0;
    const uint32_t known = s->source->generation_index == s->generation_index
                               ? id_numbers_find(&s->ids, id)
                               : 0;
    return known != 0 ? known - 1 : stacks_make(s, id);
}

/* The number of a frame, of which the detail counts; of a stack of such frames, innermost first. 0
 * if memory is refused. */
uint32_t stacks_frame_of(stacks *s, const gotrace_frame *frame);
uint32_t stacks_of_frames(stacks *s, const uint32_t *frames, size_t depth);

size_t stacks_depth(const stacks *s, uint32_t stack);
/* The n-th frame, from the innermost. */
const stacks_frame *stacks_frame_at(const stacks *s, uint32_t stack, size_t n);

/* The outermost of the frames from the n-th on that are of the packages runtime and internal/poll,
 * which are between what the program called and the event; n if there are no two. */
size_t stacks_run_end(const stacks *s, uint32_t stack, size_t n);

/* The function in which the stack begins; 0 for no stack. */
uint32_t stacks_root(const stacks *s, uint32_t stack);

#endif
