/* intern.c - interned data: names, frames and stacks, written once and then referred to by number.
 *
 * In v1 the trace's ids of strings serve as iids. In v2 each generation has ids of its own; there,
 * iids are assigned by content, so that nothing is written twice. */
#include <stdio.h>
#include <stdlib.h>

#include "formats/perfetto/perfetto.h"
#include "core/hash.h"
#include "formats/common/vector.h"

enum {
    /* The incremental state is cleared when a table has this many entries, or names this many
     * bytes, in addition to those carried into the epoch, and at least as many as were carried. */
    MOST_ENTRIES = 1 << 18,
    MOST_NAME_BYTES = 1 << 20,
    /* Longer names are not interned. */
    LONGEST_NAME = 1024,
    MAPPING = 1, /* the only mapping: there is one program */
};

typedef struct name_entry {
    char *text;
    size_t size;
    uint64_t iid, value_iid; /* as event name and as annotation value; 0 if not written */
    uint64_t function_iid, file_iid;
} name_entry;

typedef struct frame_entry {
    uint64_t pc, line, function, file, iid;
} frame_entry;

/* A stack: its innermost frame, and the stack of the caller. */
typedef struct stack_entry {
    uint64_t caller, frame, iid;
    bool written;
} stack_entry;

void intern_init(perfetto *p)
{
    perfetto_interned *in = &p->interned;

    idmap_init(&in->names, sizeof(name_entry));
    idmap_init(&in->functions, sizeof(uint64_t));
    idmap_init(&in->files, sizeof(uint64_t));
    idmap_init(&in->frames, sizeof(frame_entry));
    idmap_init(&in->stacks, sizeof(protobuf_field));
    idmap_init(&in->calls, sizeof(stack_entry));
    in->seed = gt_hash_seed();
    in->most_entries = MOST_ENTRIES;
    in->most_name_bytes = MOST_NAME_BYTES;
    in->next_name = p->detail.least ? NAME_FIRST_FREE + MERGED_COUNT : NAME_FIRST_FREE;
    in->next_string = in->next_frame = in->next_stack = 1;
}

void intern_generation(perfetto *p)
{
    perfetto_interned *in = &p->interned;

    idmap_free(&in->functions);
    idmap_free(&in->files);
    idmap_free(&in->stacks);
    if (in->low)
        memset(in->low, 0, in->low_count * sizeof *in->low);
    in->stack_count = 0;
    idmap_init(&in->functions, sizeof(uint64_t));
    idmap_init(&in->files, sizeof(uint64_t));
    idmap_init(&in->stacks, sizeof(protobuf_field));
    memset(in->states, 0, sizeof in->states);
    idmap_free(&p->starts);
}

static void interned_free(perfetto_interned *in)
{
    size_t cursor = 0;
    uint64_t key;
    void *value;

    while (idmap_next(&in->names, &cursor, &key, &value))
        free(((name_entry *)value)->text);
    idmap_free(&in->names);
    idmap_free(&in->functions);
    idmap_free(&in->files);
    idmap_free(&in->frames);
    idmap_free(&in->stacks);
    idmap_free(&in->calls);
    free(in->low);
    free(in->buffer);
    *in = (perfetto_interned){0};
}

void intern_free(perfetto *p)
{
    interned_free(&p->interned);
}

/* Opens an entry of interned data. It is written with the next packet, whose event refers to it. */
static void entry_open(perfetto *p, unsigned field, uint64_t iid)
{
    if (!p->entries) {
        packet_open(p, SEQUENCE_EVENTS, FLAG_NEEDS_STATE);
        p->entries = protobuf_open(&p->w, PACKET_INTERNED_DATA);
        packet_set_limit(p);
    }
    p->entry = protobuf_open(&p->w, field);
    protobuf_uint(&p->w, INTERNED_IID, iid);
}

static void entry_close(perfetto *p)
{
    enum { MANY = 4096 };

    protobuf_close(&p->w, p->entry);
    p->entry_bytes += p->w.used - p->entry;
    if (p->w.used > p->entries + MANY)
        packet_settle(p);
}

static void entry_text(perfetto *p, unsigned field, uint64_t iid, const char *text, size_t size)
{
    entry_open(p, field, iid);
    protobuf_string(&p->w, INTERNED_TEXT, text, size);
    entry_close(p);
}

static void entry_word(perfetto *p, unsigned field, uint64_t iid, const char *word)
{
    entry_text(p, field, iid, word, strlen(word));
}

/* Adds to a set or map; if memory is refused, marks the export as failed and returns NULL. */
static void *add(perfetto *p, idmap *map, uint64_t key)
{
    void *value = idmap_insert(map, key);

    if (!value)
        protobuf_fail(&p->w);
    if (map->count > p->interned.most_entries)
        p->epoch_ends = true;
    return value;
}

uint32_t intern_new_name(perfetto *p, const char *text, size_t size)
{
    uint32_t iid = p->interned.next_name++;

    entry_text(p, INTERNED_EVENT_NAMES, iid, text, size);
    return iid;
}

/* The entry of a text, created without iids if it is new; NULL if memory is refused. */
static name_entry *name_entry_of(perfetto *p, const char *text, size_t size)
{
    uint64_t key = gt_hash_bytes(p->interned.seed, text, size);

    for (;; key++) {
        name_entry *name = idmap_find(&p->interned.names, key);
        if (!name)
            break;
        if (name->size == size && (size == 0 || memcmp(name->text, text, size) == 0))
            return name;
    }
    char *copy = malloc(size + 1);
    name_entry *name = copy ? add(p, &p->interned.names, key) : NULL;
    if (!name) {
        free(copy);
        protobuf_fail(&p->w);
        return NULL;
    }
    if (size > 0)
        memcpy(copy, text, size);
    *name = (name_entry){.text = copy, .size = size};
    p->interned.name_bytes += size;
    if (p->interned.name_bytes > p->interned.most_name_bytes)
        p->epoch_ends = true;
    return name;
}

perfetto_name intern_name(perfetto *p, const char *text, size_t size)
{
    name_entry *name = size <= LONGEST_NAME ? name_entry_of(p, text, size) : NULL;

    if (!name)
        return (perfetto_name){0, text, size};
    if (!name->iid)
        name->iid = intern_new_name(p, text, size);
    return (perfetto_name){name->iid, text, size};
}

perfetto_name intern_value(perfetto *p, const char *text, size_t size)
{
    name_entry *name = size > 0 && size <= LONGEST_NAME ? name_entry_of(p, text, size) : NULL;

    if (!name)
        return (perfetto_name){0, text, size};
    if (!name->value_iid) {
        name->value_iid = p->interned.next_name++;
        entry_text(p, INTERNED_ANNOTATION_STRINGS, name->value_iid, text, size);
    }
    return (perfetto_name){name->value_iid, text, size};
}

/* The iid of a state's name without a reason. */
static uint64_t plain_state_name(unsigned state)
{
    switch ((gotrace_state)state) {
    case GOTRACE_STATE_RUNNABLE: return NAME_RUNNABLE;
    case GOTRACE_STATE_RUNNING: return NAME_RUNNING;
    case GOTRACE_STATE_SYSCALL: return NAME_SYSCALL;
    case GOTRACE_STATE_WAITING: return NAME_WAITING;
    /* States without a slice. */
    case GOTRACE_STATE_UNDETERMINED:
    case GOTRACE_STATE_NOT_EXIST:
    case GOTRACE_STATE_IDLE:
    case GOTRACE_STATE_ABANDONED: break;
    }
    return NAME_WAITING;
}

protobuf_field intern_new_state_name(perfetto *p, unsigned state, const char *reason)
{
    static const char *const words[] = {
#define PERFETTO_WORD(name, text) [NAME_##name] = text,
        PERFETTO_NAMES(PERFETTO_WORD)
#undef PERFETTO_WORD
    };
    uint64_t iid = plain_state_name(state);
    perfetto_state_name *first = &p->interned.states[intern_state_place(state, reason)];
    perfetto_state_name *place = first, *end = first + STATE_PROBES;

    for (; place < end && place->name; place++)
        if (place->reason == reason && place->state == state)
            return place->name;
    if (place == end)
        place = first;
    if (reason && *reason) {
        char text[256];
        int size = snprintf(text, sizeof text, "%s (%.200s)", words[iid], reason);
        iid = intern_name(p, text, (size_t)size).iid;
    }
    *place = (perfetto_state_name){reason, refer_to_name(iid), (uint8_t)state};
    return place->name;
}

/* Writes a string of the trace, as the name of a function or file, if it has no iid yet. v1: under
 * its own id; v2, where ids are valid for one generation: under an iid by content. */
static uint64_t write_string(perfetto *p, bool file, uint64_t id, const char *s, size_t size)
{
    unsigned field = file ? INTERNED_SOURCE_PATHS : INTERNED_FUNCTION_NAMES;

    if (p->version >= GOTRACE_FIRST_V2) {
        name_entry *name = size <= LONGEST_NAME ? name_entry_of(p, s, size) : NULL;
        uint64_t *iid = !name ? NULL : file ? &name->file_iid : &name->function_iid;
        if (iid && *iid)
            return *iid;
        id = p->interned.next_string++;
        if (iid)
            *iid = id;
    }
    entry_text(p, field, id, s, size);
    return id;
}

/* The iid of a string of the trace; 0 for the empty string, or if memory is refused. */
static uint64_t intern_string(perfetto *p, bool file, uint64_t id, const char *s, size_t size)
{
    idmap *map = file ? &p->interned.files : &p->interned.functions;
    uint64_t *known = size > 0 ? idmap_find(map, id) : NULL;

    if (size == 0 || known)
        return known ? *known : 0;
    known = add(p, map, id);
    if (!known)
        return 0;
    return *known = write_string(p, file, id, s, size);
}

/* An iid outside the range of string ids, for the function of a frame that has only an address (Go
 * 1.5 and 1.6). */
static uint64_t intern_address(perfetto *p, uint64_t pc, uint64_t frame_iid)
{
    uint64_t iid = frame_iid | (uint64_t)1 << 63;
    char text[32];
    int size = snprintf(text, sizeof text, "0x%llx", (unsigned long long)pc);

    entry_text(p, INTERNED_FUNCTION_NAMES, iid, text, (size_t)size);
    return iid;
}

static void write_frame(perfetto *p, const frame_entry *frame)
{
    enum { FUNCTION_NAME_ID = 2, MAPPING_ID, REL_PC, SOURCE_PATH_IID, LINE_NUMBER };
    uint64_t function = frame->function ? frame->function
                                        : intern_address(p, frame->pc, frame->iid);

    entry_open(p, INTERNED_FRAMES, frame->iid);
    protobuf_uint(&p->w, FUNCTION_NAME_ID, function);
    protobuf_uint(&p->w, MAPPING_ID, MAPPING);
    protobuf_uint(&p->w, REL_PC, frame->pc);
    if (frame->file) {
        protobuf_uint(&p->w, SOURCE_PATH_IID, frame->file);
        protobuf_uint(&p->w, LINE_NUMBER, frame->line);
    }
    entry_close(p);
}

/* The iid of a frame with this content. */
static uint64_t intern_frame_of(perfetto *p, uint64_t pc, uint64_t line, uint64_t function,
                                uint64_t file)
{
    const uint64_t seed = p->interned.seed;
    uint64_t key = gt_hash_add(seed, gt_hash(seed, pc), line);

    key = gt_hash_add(seed, gt_hash_add(seed, key, function), file);

    for (;; key++) {
        const frame_entry *f = idmap_find(&p->interned.frames, key);
        if (!f)
            break;
        if (f->pc == pc && f->line == line && f->function == function && f->file == file)
            return f->iid;
    }
    frame_entry *f = add(p, &p->interned.frames, key);
    if (!f)
        return 0;
    *f = (frame_entry){pc, line, function, file, p->interned.next_frame++};
    write_frame(p, f);
    return f->iid;
}

static uint64_t intern_frame(perfetto *p, const gotrace_frame *frame)
{
    uint64_t function = intern_string(p, false, frame->function_id, frame->function,
                                      frame->function_size);
    uint64_t file = intern_string(p, true, frame->file_id, frame->file, frame->file_size);

    return intern_frame_of(p, frame->pc, frame->line, function, file);
}

/* The frames of a stack; NULL if memory is refused. */
static gotrace_frame *stack_frames(perfetto *p, uint64_t id, size_t depth)
{
    perfetto_interned *in = &p->interned;

    gotrace_frame *frames = vector_fit(in->buffer, &in->buffer_size, depth, sizeof *frames);
    if (!frames) {
        protobuf_fail(&p->w);
        return NULL;
    }
    in->buffer = frames;
    feed_stack(&p->feed, id, frames, depth);
    return frames;
}

/* The stack with this innermost frame and caller; NULL if memory is refused. */
static stack_entry *intern_call(perfetto *p, uint64_t caller, uint64_t frame)
{
    const uint64_t seed = p->interned.seed;
    uint64_t key = gt_hash_add(seed, gt_hash(seed, caller), frame);

    for (;; key++) {
        stack_entry *call = idmap_find(&p->interned.calls, key);
        if (!call)
            break;
        if (call->caller == caller && call->frame == frame)
            return call;
    }
    stack_entry *call = add(p, &p->interned.calls, key);
    if (call)
        *call = (stack_entry){caller, frame, p->interned.next_stack++, false};
    return call;
}

/* The iid of a stack. Each frame's pc field holds the frame's iid; the outermost frame is last.
 * Sets *written to whether the stack was written before. 0 if memory is refused. */
static uint64_t stack_iid(perfetto *p, const gotrace_frame *frames, size_t depth, bool *written)
{
    uint64_t iid = 0;
    stack_entry *call = NULL;

    while (depth > 0) {
        call = intern_call(p, iid, frames[--depth].pc);
        if (!call)
            return 0;
        iid = call->iid;
    }
    *written = call && call->written;
    if (call)
        call->written = true;
    return iid;
}

/* Writes a stack. Each frame's pc field holds the frame's iid. */
static void write_stack(perfetto *p, uint64_t iid, const gotrace_frame *frames, size_t depth)
{
    enum { FRAME_IDS = 2 };

    entry_open(p, INTERNED_CALLSTACKS, iid);
    while (depth > 0)
        protobuf_uint(&p->w, FRAME_IDS, frames[--depth].pc);
    entry_close(p);
}

/* Where to store the field that refers to a stack, 0 if it is new. NULL if memory is refused. */
static protobuf_field *stack_place(perfetto *p, uint64_t id)
{
    enum { FIRST = 256, MOST = 1 << 16 };
    perfetto_interned *in = &p->interned;
    size_t count = in->low_count ? in->low_count : FIRST;

    if (id >= MOST)
        return idmap_insert(&in->stacks, id);
    while (count <= id)
        count *= 2;
    if (count > in->low_count) {
        protobuf_field *larger = reallocarray(in->low, count, sizeof *larger);
        if (!larger)
            return NULL;
        memset(larger + in->low_count, 0, (count - in->low_count) * sizeof *larger);
        in->low = larger;
        in->low_count = count;
    }
    return &in->low[id];
}

/* Adds a stack that is not known. NULL if memory is refused. */
static protobuf_field *add_stack(perfetto *p, uint64_t id)
{
    protobuf_field *place = stack_place(p, id);

    if (!place)
        protobuf_fail(&p->w);
    if (++p->interned.stack_count > p->interned.most_entries)
        p->epoch_ends = true;
    return place;
}

protobuf_field intern_new_stack(perfetto *p, uint64_t id)
{
    protobuf_field *known = idmap_find(&p->interned.stacks, id);

    if (known)
        return *known;
    size_t depth = feed_stack_depth(&p->feed, id);
    gotrace_frame *frames = depth > 0 ? stack_frames(p, id, depth) : NULL;
    if (!frames || !(known = add_stack(p, id)))
        return 0;
    /* Write the frames first; their iids replace their addresses. */
    for (size_t i = 0; i < depth; i++)
        frames[i].pc = intern_frame(p, &frames[i]);
    bool written = false;
    uint64_t iid = p->version < GOTRACE_FIRST_V2 ? p->interned.next_stack++
                                                 : stack_iid(p, frames, depth, &written);
    *known = refer_to_stack(iid);
    if (iid && !written)
        write_stack(p, iid, frames, depth);
    return *known;
}

/* ---- from one epoch to the next -------------------------------------------------------------- */

/* The interned data by iid. In v2 the reader may no longer have the generation it came from. */
typedef struct carried {
    const stack_entry **stacks;
    const frame_entry **frames;
    const name_entry **functions, **files;
    uint64_t *iids; /* new iids of the stacks */
} carried;

static bool carried_init(carried *c, const perfetto_interned *in)
{
    size_t cursor = 0;
    uint64_t key;
    void *value;

    *c = (carried){.stacks = calloc(in->next_stack, sizeof *c->stacks),
                   .frames = calloc(in->next_frame, sizeof *c->frames),
                   .functions = calloc(in->next_string, sizeof *c->functions),
                   .files = calloc(in->next_string, sizeof *c->files),
                   .iids = calloc(in->next_stack, sizeof *c->iids)};
    if (!c->stacks || !c->frames || !c->functions || !c->files || !c->iids)
        return false;
    while (idmap_next(&in->calls, &cursor, &key, &value))
        c->stacks[((stack_entry *)value)->iid] = value;
    for (cursor = 0; idmap_next(&in->frames, &cursor, &key, &value);)
        c->frames[((frame_entry *)value)->iid] = value;
    for (cursor = 0; idmap_next(&in->names, &cursor, &key, &value);) {
        const name_entry *name = value;
        c->functions[name->function_iid] = name;
        c->files[name->file_iid] = name;
    }
    return true;
}

static void carried_free(carried *c)
{
    free(c->stacks);
    free(c->frames);
    free(c->functions);
    free(c->files);
    free(c->iids);
}

/* Interns the frame in the new epoch and returns its iid. Names too long to be interned are
 * lost. */
static uint64_t carry_frame(perfetto *p, const carried *c, const frame_entry *frame)
{
    const name_entry *function = frame->function ? c->functions[frame->function] : NULL;
    const name_entry *file = frame->file ? c->files[frame->file] : NULL;

    return intern_frame_of(p, frame->pc, frame->line,
                           function ? write_string(p, false, 0, function->text, function->size) : 0,
                           file ? write_string(p, true, 0, file->text, file->size) : 0);
}

static uint64_t carry_stack(perfetto *p, carried *c, uint64_t stack)
{
    enum { FRAMES = 1000 };
    gotrace_frame frames[FRAMES];
    size_t depth = 0;
    bool written = false;

    if (c->iids[stack])
        return c->iids[stack];
    for (const stack_entry *call = c->stacks[stack]; call && depth < FRAMES;
         call = c->stacks[call->caller])
        frames[depth++].pc = carry_frame(p, c, c->frames[call->frame]);
    uint64_t iid = depth > 0 ? stack_iid(p, frames, depth, &written) : 0;
    if (iid && !written)
        write_stack(p, iid, frames, depth);
    return c->iids[stack] = iid;
}

/* Excludes the carried entries from the limits, so that the volume rewritten in an epoch never
 * exceeds the volume that is new. */
static void raise_limits(perfetto *p)
{
    perfetto_interned *in = &p->interned;
    const size_t counts[] = {in->names.count, in->functions.count, in->files.count,
                             in->frames.count, in->calls.count};
    size_t most = 0;

    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        most = counts[i] > most ? counts[i] : most;
    in->most_entries = most + (most > MOST_ENTRIES ? most : MOST_ENTRIES);
    size_t bytes = in->name_bytes;
    in->most_name_bytes = bytes + (bytes > MOST_NAME_BYTES ? bytes : MOST_NAME_BYTES);
    p->epoch_ends = false;
}

/* At the beginning of an epoch, interns again the stacks at which goroutines will resume. */
static void carry_goroutines(perfetto *p, const perfetto_interned *before)
{
    carried c;
    size_t count = p->goroutines.count;
    uint64_t *ids = sorted_ids(p, &p->goroutines);
    bool done = carried_init(&c, before);

    for (size_t i = 0; done && ids && i < count; i++) {
        perfetto_goroutine *g = idmap_find(&p->goroutines, ids[i]);
        bool kept = g->stack && g->stack_epoch == (uint16_t)(p->epoch - 1);
        g->stack = kept ? refer_to_stack(carry_stack(p, &c, protobuf_field_value(g->stack))) : 0;
        g->stack_epoch = p->epoch;
    }
    if (!done)
        protobuf_fail(&p->w);
    carried_free(&c);
    free(ids);
}

/* The words of slices that --detail merges. */
static void intern_merged(perfetto *p)
{
#define PERFETTO_WRITE(kind, name, annotation)                                                     \
    entry_word(p, INTERNED_EVENT_NAMES, name_of_merged(MERGED_##kind), name);                      \
    entry_word(p, INTERNED_ANNOTATION_NAMES, annotation_of_merged(MERGED_##kind), annotation);     \
    entry_word(p, INTERNED_ANNOTATION_NAMES, annotation_of_merged(MERGED_##kind) + 1,              \
               annotation "_ns");
    PERFETTO_MERGED(PERFETTO_WRITE)
#undef PERFETTO_WRITE
}

void intern_restart(perfetto *p)
{
    enum { MAPPING_PATH_STRING_IDS = 7 };

    perfetto_interned before = p->interned;
    p->interned = (perfetto_interned){0};
    intern_init(p);
#define PERFETTO_WRITE(name, text) entry_word(p, INTERNED_EVENT_NAMES, NAME_##name, text);
    PERFETTO_NAMES(PERFETTO_WRITE)
#undef PERFETTO_WRITE
#define PERFETTO_WRITE(name, text) entry_word(p, INTERNED_EVENT_CATEGORIES, CATEGORY_##name, text);
    PERFETTO_CATEGORIES(PERFETTO_WRITE)
#undef PERFETTO_WRITE
#define PERFETTO_WRITE(name, text) entry_word(p, INTERNED_ANNOTATION_NAMES, ANNOTATE_##name, text);
    PERFETTO_ANNOTATIONS(PERFETTO_WRITE)
#undef PERFETTO_WRITE
    if (p->detail.least)
        intern_merged(p);
    entry_word(p, INTERNED_MAPPING_PATHS, MAPPING, p->program);
    entry_open(p, INTERNED_MAPPINGS, MAPPING);
    protobuf_uint(&p->w, MAPPING_PATH_STRING_IDS, MAPPING);
    entry_close(p);
    if (p->version >= GOTRACE_FIRST_V2 && wants(p, PART_PROCS))
        carry_goroutines(p, &before);
    raise_limits(p);
    interned_free(&before);
}
