/* intern.c - names, frames and stacks: written once, then referred to by number.
 *
 * In v1 the trace's ids of strings and stacks are used as they are. In v2 each generation has ids
 * of its own; iids go by what they stand for, so that nothing is written twice.
 */
#include <stdlib.h>

#include "formats/perfetto/perfetto.h"
#include "formats/common/seeded_hash.h"

enum {
    /* When one table has so many entries that were not carried into the epoch, or the names so many
     * bytes, all is cleared; not before there are as many as were carried. */
    MOST_ENTRIES = 1 << 18,
    MOST_NAME_BYTES = 1 << 20,
    /* Names longer than this are written in full each time. */
    LONGEST_NAME = 1024,
    MAPPING = 1, /* the only one: there is one program */
};

typedef struct kept_name {
    char *text;
    size_t size;
    uint64_t iid, value_iid; /* as an event's name, as an annotation's value; 0 if not written */
    uint64_t function_iid, file_iid;
} kept_name;

typedef struct kept_frame {
    uint64_t pc, line, function, file, iid;
} kept_frame;

/* A stack: a frame, and the stack that called it. */
typedef struct kept_call {
    uint64_t caller, frame, iid;
    bool written;
} kept_call;

void intern_init(perfetto *p)
{
    perfetto_interned *in = &p->interned;

    idmap_init(&in->names, sizeof(kept_name));
    idmap_init(&in->functions, sizeof(uint64_t));
    idmap_init(&in->files, sizeof(uint64_t));
    idmap_init(&in->frames, sizeof(kept_frame));
    idmap_init(&in->stacks, sizeof(uint64_t));
    idmap_init(&in->calls, sizeof(kept_call));
    in->seed = hash_seed();
    in->most_entries = MOST_ENTRIES;
    in->most_name_bytes = MOST_NAME_BYTES;
    in->next_name = NAME_FIRST_FREE;
    in->next_string = in->next_frame = in->next_stack = 1;
}

void intern_generation(perfetto *p)
{
    perfetto_interned *in = &p->interned;

    idmap_free(&in->functions);
    idmap_free(&in->files);
    idmap_free(&in->stacks);
    idmap_init(&in->functions, sizeof(uint64_t));
    idmap_init(&in->files, sizeof(uint64_t));
    idmap_init(&in->stacks, sizeof(uint64_t));
    memset(in->states, 0, sizeof in->states);
    idmap_free(&p->starts);
}

static void interned_free(perfetto_interned *in)
{
    size_t cursor = 0;
    uint64_t key;
    void *value;

    while (idmap_next(&in->names, &cursor, &key, &value))
        free(((kept_name *)value)->text);
    idmap_free(&in->names);
    idmap_free(&in->functions);
    idmap_free(&in->files);
    idmap_free(&in->frames);
    idmap_free(&in->stacks);
    idmap_free(&in->calls);
    free(in->buffer);
    *in = (perfetto_interned){0};
}

void intern_free(perfetto *p)
{
    interned_free(&p->interned);
}

/* Open an entry in the interned data that wait for what refers to them. */
static void entry_open(perfetto *p, unsigned field, uint64_t iid)
{
    if (!p->entries) {
        packet_open(p, SEQUENCE_EVENTS, FLAG_NEEDS_STATE);
        p->entries = protobuf_open(&p->w, PACKET_INTERNED_DATA);
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

/* Add to a set or map; NULL, with the export failed, when memory is refused. */
static void *add(perfetto *p, idmap *map, uint64_t key)
{
    void *value = idmap_insert(map, key);

    if (!value)
        protobuf_fail(&p->w);
    if (map->count > p->interned.most_entries)
        p->crowded = true;
    return value;
}

uint32_t intern_new_name(perfetto *p, const char *text, size_t size)
{
    uint32_t iid = p->interned.next_name++;

    entry_text(p, INTERNED_EVENT_NAMES, iid, text, size);
    return iid;
}

/* The entry of a text, new ones without iid; NULL when memory is refused. */
static kept_name *keep(perfetto *p, const char *text, size_t size)
{
    uint64_t key = hash_bytes(p->interned.seed, text, size);

    for (;; key++) {
        kept_name *name = idmap_find(&p->interned.names, key);
        if (!name)
            break;
        if (name->size == size && (size == 0 || memcmp(name->text, text, size) == 0))
            return name;
    }
    char *copy = malloc(size + 1);
    kept_name *name = copy ? add(p, &p->interned.names, key) : NULL;
    if (!name) {
        free(copy);
        protobuf_fail(&p->w);
        return NULL;
    }
    if (size > 0)
        memcpy(copy, text, size);
    *name = (kept_name){.text = copy, .size = size};
    p->interned.name_bytes += size;
    if (p->interned.name_bytes > p->interned.most_name_bytes)
        p->crowded = true;
    return name;
}

perfetto_name intern_name(perfetto *p, const char *text, size_t size)
{
    kept_name *name = size <= LONGEST_NAME ? keep(p, text, size) : NULL;

    if (!name)
        return (perfetto_name){0, text, size};
    if (!name->iid)
        name->iid = intern_new_name(p, text, size);
    return (perfetto_name){name->iid, text, size};
}

perfetto_name intern_value(perfetto *p, const char *text, size_t size)
{
    kept_name *name = size > 0 && size <= LONGEST_NAME ? keep(p, text, size) : NULL;

    if (!name)
        return (perfetto_name){0, text, size};
    if (!name->value_iid) {
        name->value_iid = p->interned.next_name++;
        entry_text(p, INTERNED_ANNOTATION_STRINGS, name->value_iid, text, size);
    }
    return (perfetto_name){name->value_iid, text, size};
}

/* The iid of what a state is called without a reason. */
static uint64_t plain_state_name(unsigned state)
{
    switch ((gotrace_state)state) {
    case GOTRACE_STATE_RUNNABLE: return NAME_RUNNABLE;
    case GOTRACE_STATE_RUNNING: return NAME_RUNNING;
    case GOTRACE_STATE_SYSCALL: return NAME_SYSCALL;
    case GOTRACE_STATE_WAITING: return NAME_WAITING;
    /* No slice of a goroutine has them. */
    case GOTRACE_STATE_UNDETERMINED:
    case GOTRACE_STATE_NOT_EXIST:
    case GOTRACE_STATE_IDLE:
    case GOTRACE_STATE_ABANDONED: break;
    }
    return NAME_WAITING;
}

uint64_t intern_state_name(perfetto *p, unsigned state, const char *reason)
{
    static const char *const words[] = {
#define PERFETTO_WORD(name, text) [NAME_##name] = text,
        PERFETTO_NAMES(PERFETTO_WORD)
#undef PERFETTO_WORD
    };
    uint64_t plain = plain_state_name(state);

    if (!reason || !*reason)
        return plain;
    /* Within a generation their addresses identify reasons. */
    size_t slot = (size_t)hash_id(p->interned.seed, (uintptr_t)reason + state) % STATE_NAMES;
    if (p->interned.states[slot].reason != reason || p->interned.states[slot].state != state) {
        char text[256];
        int size = snprintf(text, sizeof text, "%s (%.200s)", words[plain], reason);
        p->interned.states[slot].reason = reason;
        p->interned.states[slot].state = (uint8_t)state;
        p->interned.states[slot].iid = intern_name(p, text, (size_t)size).iid;
    }
    return p->interned.states[slot].iid;
}

/* Write a string of the trace that has no iid as a function's name or a file's, under its own id
 * or, if that is valid for a generation only, one by content. */
static uint64_t write_string(perfetto *p, bool file, uint64_t id, const char *s, size_t size)
{
    unsigned field = file ? INTERNED_SOURCE_PATHS : INTERNED_FUNCTION_NAMES;

    if (p->version >= GOTRACE_FIRST_V2) {
        kept_name *name = size <= LONGEST_NAME ? keep(p, s, size) : NULL;
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

/* The iid of a string of the trace; 0 for the empty one, or when memory is refused. */
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

/* A number beyond those of strings for the function of a frame that has only an address (Go 1.5
 * and 1.6). */
static uint64_t intern_address(perfetto *p, uint64_t pc, uint64_t frame_iid)
{
    uint64_t iid = frame_iid | (uint64_t)1 << 63;
    char text[32];
    int size = snprintf(text, sizeof text, "0x%llx", (unsigned long long)pc);

    entry_text(p, INTERNED_FUNCTION_NAMES, iid, text, (size_t)size);
    return iid;
}

static void write_frame(perfetto *p, const kept_frame *frame)
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

/* The iid of a frame of these iids. */
static uint64_t intern_frame_of(perfetto *p, uint64_t pc, uint64_t line, uint64_t function,
                                uint64_t file)
{
    const uint64_t seed = p->interned.seed;
    uint64_t key = hash_add(seed, hash_id(seed, pc), line);

    key = hash_add(seed, hash_add(seed, key, function), file);

    for (;; key++) {
        const kept_frame *f = idmap_find(&p->interned.frames, key);
        if (!f)
            break;
        if (f->pc == pc && f->line == line && f->function == function && f->file == file)
            return f->iid;
    }
    kept_frame *f = add(p, &p->interned.frames, key);
    if (!f)
        return 0;
    *f = (kept_frame){pc, line, function, file, p->interned.next_frame++};
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

/* The frames of a stack; NULL when memory is refused. */
static gotrace_frame *stack_frames(perfetto *p, uint64_t id, size_t depth)
{
    perfetto_interned *in = &p->interned;

    if (depth > in->buffer_size) {
        gotrace_frame *larger = reallocarray(in->buffer, depth, sizeof *larger);
        if (!larger) {
            protobuf_fail(&p->w);
            return NULL;
        }
        in->buffer = larger;
        in->buffer_size = depth;
    }
    gotrace_reader_stack(p->reader, id, in->buffer, depth);
    return in->buffer;
}

/* The stack that is made of a frame and what called it; NULL when memory is refused. */
static kept_call *intern_call(perfetto *p, uint64_t caller, uint64_t frame)
{
    const uint64_t seed = p->interned.seed;
    uint64_t key = hash_add(seed, hash_id(seed, caller), frame);

    for (;; key++) {
        kept_call *call = idmap_find(&p->interned.calls, key);
        if (!call)
            break;
        if (call->caller == caller && call->frame == frame)
            return call;
    }
    kept_call *call = add(p, &p->interned.calls, key);
    if (call)
        *call = (kept_call){caller, frame, p->interned.next_stack++, false};
    return call;
}

/* The iid of a stack whose frames' iids stand in the place of their addresses, outermost last;
 * *written tells whether it was written. 0 when memory is refused. */
static uint64_t stack_iid(perfetto *p, const gotrace_frame *frames, size_t depth, bool *written)
{
    uint64_t iid = 0;
    kept_call *call = NULL;

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

/* Write a stack whose frames' iids stand in the place of their addresses. */
static void write_stack(perfetto *p, uint64_t iid, const gotrace_frame *frames, size_t depth)
{
    enum { FRAME_IDS = 2 };

    entry_open(p, INTERNED_CALLSTACKS, iid);
    while (depth > 0)
        protobuf_uint(&p->w, FRAME_IDS, frames[--depth].pc);
    entry_close(p);
}

uint64_t intern_stack(perfetto *p, uint64_t id)
{
    uint64_t *known = id ? idmap_find(&p->interned.stacks, id) : NULL;

    if (id == 0 || known)
        return known ? *known : 0;
    size_t depth = gotrace_reader_stack_depth(p->reader, id);
    gotrace_frame *frames = depth > 0 ? stack_frames(p, id, depth) : NULL;
    if (!frames || !(known = add(p, &p->interned.stacks, id)))
        return 0;
    /* Frames first: their iids take the place of their addresses. */
    for (size_t i = 0; i < depth; i++)
        frames[i].pc = intern_frame(p, &frames[i]);
    bool written = false;
    *known = p->version < GOTRACE_FIRST_V2 ? id : stack_iid(p, frames, depth, &written);
    uint64_t iid = *known;
    if (!iid || written)
        return iid;
    write_stack(p, iid, frames, depth);
    return iid;
}

/* ---- from one epoch to the next ------------------------------------------------------------ */

/* The interned data by iid: in v2 the trace may not contain it any more. */
typedef struct carried {
    const kept_call **stacks;
    const kept_frame **frames;
    const kept_name **functions, **files;
    uint64_t *iids; /* the stacks' new ones */
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
        c->stacks[((kept_call *)value)->iid] = value;
    for (cursor = 0; idmap_next(&in->frames, &cursor, &key, &value);)
        c->frames[((kept_frame *)value)->iid] = value;
    for (cursor = 0; idmap_next(&in->names, &cursor, &key, &value);) {
        const kept_name *name = value;
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

/* The same frame now; its iid. Names too long to be kept are lost. */
static uint64_t carry_frame(perfetto *p, const carried *c, const kept_frame *frame)
{
    const kept_name *function = frame->function ? c->functions[frame->function] : NULL;
    const kept_name *file = frame->file ? c->files[frame->file] : NULL;

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
    for (const kept_call *call = c->stacks[stack]; call && depth < FRAMES;
         call = c->stacks[call->caller])
        frames[depth++].pc = carry_frame(p, c, c->frames[call->frame]);
    uint64_t iid = depth > 0 ? stack_iid(p, frames, depth, &written) : 0;
    if (iid && !written)
        write_stack(p, iid, frames, depth);
    return c->iids[stack] = iid;
}

/* What was carried does not make the epoch end soon: what is written again is never more than what
 * is new. */
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
    p->crowded = false;
}

/* The stacks where goroutines go on, when the epoch has begun. */
static void carry_goroutines(perfetto *p, const perfetto_interned *before)
{
    carried c;
    size_t count = p->goroutines.count;
    uint64_t *ids = sorted_ids(p, &p->goroutines);
    bool done = carried_init(&c, before);

    for (size_t i = 0; done && ids && i < count; i++) {
        perfetto_goroutine *g = idpool_find(&p->goroutines, ids[i]);
        bool kept = g->stack && g->stack_epoch == (uint16_t)(p->epoch - 1);
        g->stack = kept ? carry_stack(p, &c, g->stack) : 0;
        g->stack_epoch = p->epoch;
    }
    if (!done)
        protobuf_fail(&p->w);
    carried_free(&c);
    free(ids);
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
    entry_word(p, INTERNED_MAPPING_PATHS, MAPPING, p->program);
    entry_open(p, INTERNED_MAPPINGS, MAPPING);
    protobuf_uint(&p->w, MAPPING_PATH_STRING_IDS, MAPPING);
    entry_close(p);
    if (p->version >= GOTRACE_FIRST_V2 && wants(p, PART_PROCS))
        carry_goroutines(p, &before);
    raise_limits(p);
    interned_free(&before);
}
