/*
 * chrome_frames.c - the tree of stack frames that records refer to.
 *
 * A stack is named by its innermost frame; the frames around it are that one's parents, so that
 * stacks share what they have in common. Only frames that a record shows are written.
 *
 * Where ids hold for a generation only (v2), stacks are looked up while their event is at hand,
 * names are copied, and frames are told apart by them. Else the tables outlive the reading, and a
 * stack is looked up when a record that shows it is written.
 */
#include "chrome.h"

#include <stdlib.h>
#include <string.h>

/* A frame with its callers. line is the PC in traces that tell nothing else. */
struct chrome_node {
    uint64_t function_id, line;
    const char *function;
    uint32_t function_size;
    uint32_t parent : 31; /* its number, 0 for an outermost frame */
    uint32_t used : 1;    /* a record shows it */
};

/* A name that outlives its generation. */
typedef struct kept_text {
    char *bytes; /* with a NUL behind them */
    size_t size;
} kept_text;

enum { FIRST_NODES = 256, NODES_MAX = 1 << 30, NODE_NUMBER = 0x7fffffff, FRAME_BYTES = 48 };

void chrome_frames_init(chrome_frames *frames, gotrace_reader *reader)
{
    *frames = (chrome_frames){
        .reader = reader, .by_generation = gotrace_reader_summary(reader)->version >= CHROME_V2};
    idmap_init(&frames->stacks, sizeof(uint32_t));
    idmap_init(&frames->texts, sizeof(kept_text));
    frames->seed = frames->stacks.seed;
}

void chrome_frames_forget(chrome_frames *frames)
{
    idmap_free(&frames->stacks);
    idmap_init(&frames->stacks, sizeof(uint32_t));
    memset(frames->recent, 0, sizeof frames->recent);
}

void chrome_frames_free(chrome_frames *frames)
{
    size_t cursor = 0;
    uint64_t key;
    void *value;

    while (idmap_next(&frames->texts, &cursor, &key, &value))
        free(((kept_text *)value)->bytes);
    idmap_free(&frames->texts);
    idmap_free(&frames->stacks);
    free(frames->nodes);
    free(frames->table);
    free(frames->buffer);
}

uint64_t chrome_frames_keep(chrome_frames *frames, const char *bytes, size_t size)
{
    uint64_t key = frames->seed ^ 0xcbf29ce484222325U;
    kept_text *text;

    for (size_t i = 0; i < size; i++)
        key = (key ^ (unsigned char)bytes[i]) * 0x100000001b3U;
    while (key == 0 || ((text = idmap_find(&frames->texts, key)) != NULL &&
                        (text->size != size || memcmp(text->bytes, bytes, size) != 0)))
        key++;
    if (text)
        return key;
    char *copy = malloc(size + 1);
    text = copy ? idmap_insert(&frames->texts, key) : NULL;
    if (!text) {
        free(copy);
        frames->failed = true;
        return 0;
    }
    if (size > 0)
        memcpy(copy, bytes, size);
    copy[size] = '\0';
    *text = (kept_text){copy, size};
    return key;
}

const char *chrome_frames_kept(const chrome_frames *frames, uint64_t key, size_t *size)
{
    const kept_text *text = key != 0 ? idmap_find(&frames->texts, key) : NULL;

    *size = text ? text->size : 0;
    return text ? text->bytes : NULL;
}

static bool same(const chrome_node *a, const chrome_node *b)
{
    return a->parent == b->parent && a->function_id == b->function_id && a->line == b->line;
}

/* The place in the table of a node, or the free one where it belongs. */
static size_t place_of(const chrome_frames *frames, const chrome_node *node)
{
    /* What the file chooses is mixed with what it cannot know, as in idmap. */
    uint64_t h = (node->function_id ^ frames->seed) * 0x9e3779b97f4a7c15U;
    h = (h ^ h >> 29 ^ node->line) * 0xbf58476d1ce4e5b9U;
    h = (h ^ h >> 32 ^ node->parent) * 0x94d049bb133111ebU;
    size_t i = (size_t)(h ^ h >> 31) & (frames->table_size - 1);

    while (frames->table[i] != 0 && !same(&frames->nodes[frames->table[i] - 1], node))
        i = (i + 1) & (frames->table_size - 1);
    return i;
}

/* Room for one node more; the table is twice as long as the nodes. */
static bool grow(chrome_frames *frames)
{
    if (frames->count < frames->capacity)
        return true;
    size_t capacity = frames->capacity ? 2 * frames->capacity : FIRST_NODES;
    if (capacity > NODES_MAX)
        return false;
    chrome_node *nodes = realloc(frames->nodes, capacity * sizeof *nodes);
    if (!nodes)
        return false;
    frames->nodes = nodes;
    uint32_t *table = calloc(2 * capacity, sizeof *table);
    if (!table)
        return false;
    free(frames->table);
    frames->table = table;
    frames->table_size = 2 * capacity;
    frames->capacity = capacity;
    for (size_t i = 0; i < frames->count; i++)
        table[place_of(frames, &nodes[i])] = (uint32_t)(i + 1);
    return true;
}

static uint32_t number_of(chrome_frames *frames, const chrome_node *node)
{
    if (!grow(frames)) {
        frames->failed = true;
        return 0;
    }
    size_t place = place_of(frames, node);
    if (frames->table[place] == 0) {
        frames->nodes[frames->count++] = *node;
        frames->table[place] = (uint32_t)frames->count;
    }
    return frames->table[place];
}

/* A stack's frames into the buffer; how many. */
static size_t read_stack(chrome_frames *frames, uint64_t stack)
{
    size_t depth = gotrace_reader_stack_depth(frames->reader, stack);

    if (depth > frames->buffer_size) {
        gotrace_frame *larger = realloc(frames->buffer, depth * sizeof *larger);
        if (!larger) {
            frames->failed = true;
            return 0;
        }
        frames->buffer = larger;
        frames->buffer_size = depth;
    }
    return depth > 0 ? gotrace_reader_stack(frames->reader, stack, frames->buffer, depth) : 0;
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
                            .parent = number & NODE_NUMBER};
        if (frames->by_generation && !bare) {
            size_t size;
            node.function_id = chrome_frames_keep(frames, frame->function, frame->function_size);
            node.function = chrome_frames_kept(frames, node.function_id, &size);
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
    while (number != 0 && frames->nodes[number - 1].parent != 0)
        number = frames->nodes[number - 1].parent;
    return number;
}

const char *chrome_frames_function(const chrome_frames *frames, uint32_t number, size_t *size)
{
    const chrome_node *node = number != 0 ? &frames->nodes[number - 1] : NULL;

    *size = node && node->function ? node->function_size : 0;
    return node ? node->function : NULL;
}

void chrome_frames_use(chrome_frames *frames, uint32_t number)
{
    while (number != 0 && !frames->nodes[number - 1].used) {
        frames->nodes[number - 1].used = 1;
        frames->used_bytes += FRAME_BYTES + frames->nodes[number - 1].function_size;
        number = frames->nodes[number - 1].parent;
    }
}

void chrome_frames_use_none(chrome_frames *frames)
{
    for (size_t i = 0; i < frames->count; i++)
        frames->nodes[i].used = 0;
    frames->used_bytes = 0;
}

void chrome_frames_write(const chrome_frames *frames, out *o)
{
    const char *before = "\n\"";

    for (size_t i = 0; i < frames->count; i++) {
        const chrome_node *node = &frames->nodes[i];
        if (!node->used)
            continue;
        out_str(o, before);
        before = ",\n\"";
        out_u64(o, i + 1);
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
}
