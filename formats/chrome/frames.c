/*
 * frames.c - the tree of stack frames that records refer to.
 *
 * A stack is identified by its innermost frame. The parent of a frame is its caller, so that stacks
 * share common callers. Only frames that a record shows are written.
 *
 * Stacks are looked up while their event is handled. Another thread writes the records; it reads
 * frames and texts that exist, and marks the ones in use. If ids are valid for one generation only
 * (v2), names are copied and frames are distinguished by name; else the reader's tables remain
 * valid until the end.
 */
#include "formats/chrome/chrome.h"
#include "formats/common/vector.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/malloc.h"

/* A frame with its callers. line is the PC in traces without names. */
struct chrome_node {
    uint64_t function_id, line;
    const char *function;
    uint32_t function_size;
    uint32_t parent; /* number of the caller, 0: outermost */
    /* Used by the writing thread: */
    uint32_t next_used; /* the frame marked before this one; 0: none */
    bool used;          /* a record shows it */
};

/* A text that outlives its generation. */
typedef struct text_entry {
    char *bytes; /* NUL-terminated */
    size_t size;
} text_entry;

void chrome_frames_init(chrome_frames *frames, const feed *source)
{
    *frames = (chrome_frames){.source = source,
                              .by_generation = gotrace_reader_summary(source->reader)->version >=
                                               GOTRACE_FIRST_V2};
    idmap_init(&frames->stacks, sizeof(uint32_t));
    frames->nodes.stride = sizeof(chrome_node);
    frames->texts.stride = sizeof(text_entry);
}

void chrome_frames_new_generation(chrome_frames *frames)
{
    idmap_free(&frames->stacks);
    memset(frames->recent, 0, sizeof frames->recent);
}

void chrome_frames_free(chrome_frames *frames)
{
    for (size_t i = 0; i < frames->texts.count; i++)
        free(((text_entry *)segment_list_at(&frames->texts, i))->bytes);
    segment_list_free(&frames->texts);
    segment_list_free(&frames->nodes);
    gt_lookup_free(&frames->by_text, gt_malloc());
    gt_lookup_free(&frames->by_frame, gt_malloc());
    idmap_free(&frames->stacks);
    free(frames->buffer);
}

static const text_entry *text_of(const chrome_frames *frames, uint64_t number)
{
    return number != 0 ? segment_list_at(&frames->texts, (size_t)(number - 1)) : NULL;
}

static bool add_text(chrome_frames *frames, const char *bytes, size_t size)
{
    text_entry *text = segment_list_next(&frames->texts);
    char *copy = text ? malloc(size + 1) : NULL;

    if (!copy)
        return false;
    if (size > 0)
        memcpy(copy, bytes, size);
    copy[size] = '\0';
    *text = (text_entry){copy, size};
    frames->texts.count++;
    return true;
}

static bool is_text(const text_entry *text, const char *bytes, size_t size)
{
    return text->size == size && memcmp(text->bytes, bytes, size) == 0;
}

uint64_t chrome_frames_add_text(chrome_frames *frames, const char *bytes, size_t size)
{
    gt_lookup *lookup = &frames->by_text;

    if (!gt_lookup_reserve(lookup, gt_malloc())) {
        frames->failed = true;
        return 0;
    }
    size_t slot;
    uint64_t hash = gt_hash_bytes(lookup->seed, bytes, size);
    uint32_t number = gt_lookup_first(lookup, hash, &slot);
    while (number && !is_text(text_of(frames, number), bytes, size))
        number = gt_lookup_next(lookup, hash, &slot);
    if (number)
        return number;
    if (!add_text(frames, bytes, size)) {
        frames->failed = true;
        return 0;
    }
    gt_lookup_put(lookup, slot, hash, (uint32_t)frames->texts.count);
    return frames->texts.count;
}

const char *chrome_frames_text(const chrome_frames *frames, uint64_t number, size_t *size)
{
    const text_entry *text = text_of(frames, number);

    *size = text ? text->size : 0;
    return text ? text->bytes : NULL;
}

static chrome_node *node_of(const chrome_frames *frames, uint32_t number)
{
    return segment_list_at(&frames->nodes, number - 1);
}

static bool same(const chrome_node *a, const chrome_node *b)
{
    return a->parent == b->parent && a->function_id == b->function_id && a->line == b->line;
}

static uint64_t hash_of(uint64_t seed, const chrome_node *node)
{
    uint64_t hash = gt_hash_add(seed, gt_hash(seed, node->function_id), node->line);
    return gt_hash_add(seed, hash, node->parent);
}

static uint32_t number_of(chrome_frames *frames, const chrome_node *node)
{
    gt_lookup *lookup = &frames->by_frame;
    chrome_node *next = segment_list_next(&frames->nodes);

    if (!next || !gt_lookup_reserve(lookup, gt_malloc())) {
        frames->failed = true;
        return 0;
    }
    size_t slot;
    uint64_t hash = hash_of(lookup->seed, node);
    uint32_t number = gt_lookup_first(lookup, hash, &slot);
    while (number && !same(node_of(frames, number), node))
        number = gt_lookup_next(lookup, hash, &slot);
    if (number)
        return number;
    *next = *node;
    number = (uint32_t)++frames->nodes.count;
    gt_lookup_put(lookup, slot, hash, number);
    return number;
}

/* Reads a stack's frames into the buffer; returns their number. */
static size_t read_stack(chrome_frames *frames, uint64_t stack)
{
    size_t depth = feed_stack_depth(frames->source, stack);

    if (depth == 0)
        return 0;
    gotrace_frame *larger = vector_fit(frames->buffer, &frames->buffer_size, depth, sizeof *larger);
    if (!larger) {
        frames->failed = true;
        return 0;
    }
    frames->buffer = larger;
    return feed_stack(frames->source, stack, larger, depth);
}

static uint32_t look_up(chrome_frames *frames, uint64_t stack)
{
    uint32_t number = 0;
    uint32_t *known = idmap_find(&frames->stacks, stack);

    if (known)
        return *known;
    for (size_t i = read_stack(frames, stack); i-- > 0;) {
        const gotrace_frame *frame = &frames->buffer[i];
        bool bare = frame->function_size == 0;
        chrome_node node = {.function_id = bare ? 0 : frame->function_id,
                            .line = bare ? frame->pc : frame->line,
                            .function = bare ? NULL : frame->function,
                            .function_size = (uint32_t)frame->function_size,
                            .parent = number};
        if (frames->by_generation && !bare) {
            size_t size;
            node.function_id = chrome_frames_add_text(frames, frame->function,
                                                      frame->function_size);
            node.function = chrome_frames_text(frames, node.function_id, &size);
            node.function_size = (uint32_t)size;
        }
        number = number_of(frames, &node);
    }
    known = idmap_insert(&frames->stacks, stack);
    if (known)
        *known = number;
    else
        frames->failed = true;
    return number;
}

uint32_t chrome_frames_of(chrome_frames *frames, uint64_t stack)
{
    size_t at = stack % CHROME_RECENT;

    if (stack == 0)
        return 0;
    if (frames->recent[at].stack != stack) {
        frames->recent[at].number = look_up(frames, stack);
        frames->recent[at].stack = stack;
    }
    return frames->recent[at].number;
}

uint32_t chrome_frames_outermost(const chrome_frames *frames, uint32_t number)
{
    while (number != 0 && node_of(frames, number)->parent != 0)
        number = node_of(frames, number)->parent;
    return number;
}

const char *chrome_frames_function(const chrome_frames *frames, uint32_t number, size_t *size)
{
    const chrome_node *node = number != 0 ? node_of(frames, number) : NULL;

    *size = node && node->function ? node->function_size : 0;
    return node ? node->function : NULL;
}

void chrome_frames_use(chrome_frames *frames, uint32_t number)
{
    while (number != 0) {
        chrome_node *node = node_of(frames, number);
        if (node->used)
            return;
        node->used = true;
        node->next_used = frames->last_used;
        frames->last_used = number;
        frames->used_count++;
        number = node->parent;
    }
}

static void write_node(const chrome_frames *frames, uint64_t number, out *o)
{
    const chrome_node *node = node_of(frames, (uint32_t)number);

    out_u64(o, number);
    out_str(o, "\":{\"name\":\"");
    if (node->function) {
        out_json_text(o, node->function, node->function_size);
        out_char(o, ':');
        out_u64(o, node->line);
    } else {
        out_str(o, "0x");
        out_hex(o, node->line);
    }
    out_char(o, '"');
    if (node->parent != 0) {
        out_str(o, ",\"parent\":");
        out_u64(o, node->parent);
    }
    out_char(o, '}');
}

void chrome_frames_write(const chrome_frames *frames, out *o)
{
    const char *before = "\n\"";
    size_t count = 0;
    uint64_t *numbers = calloc(frames->used_count + 1, sizeof *numbers);

    if (!numbers) {
        out_fail(o, ENOMEM);
        return;
    }
    for (uint32_t n = frames->last_used; n != 0; n = node_of(frames, n)->next_used)
        numbers[count++] = n;
    idmap_sort(numbers, count);
    for (size_t i = 0; i < count; i++) {
        out_str(o, before);
        before = ",\n\"";
        write_node(frames, numbers[i], o);
    }
    free(numbers);
}
