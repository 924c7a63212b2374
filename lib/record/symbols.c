/*
 * symbols.c - functions, files and lines of addresses: mapped files, and results that are kept,
 * because an address is resolved once for each generation of a trace.
 */
#include "record/symbols.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/errors.h"
#include "core/map.h"
#include "core/sized.h"
#include "gotrace_symbols.h"

/* Inlined functions have no address of their own. */
#define FIRST_INLINED (UINT64_C(1) << 63)

/* A part of a file that is mapped with code. */
typedef struct mapping {
    struct mapping *next;
    uint64_t start, end, offset;
    size_t size; /* of the path */
    char path[];
} mapping;

/* The frames of an address. */
typedef struct place {
    gotrace_frame *frames;
    size_t count;
} place;

/* A string that frames have. */
typedef struct text {
    struct text *next;
    size_t size;
    char bytes[];
} text;

struct gotrace_symbols {
    gt_heap heap;
    gt_dwarf *dwarf;
    mapping *mappings;
    gt_map known; /* from a PC to the number of its place, from 1 */
    place *places;
    size_t place_count, place_capacity;
    text *texts;
    uint64_t inlined; /* number of frames of inlined functions */
};

gotrace_status gotrace_symbols_new(const gotrace_config *config, gotrace_symbols **symbols,
                                   gotrace_error *error)
{
    gt_call call;
    gt_heap heap;
    *symbols = NULL;
    if (gt_call_begin(&call, config) < 0)
        return gt_call_end(&call, GOTRACE_ERROR, error);
    gt_heap_init(&heap, &call.config);
    gotrace_symbols *s = gt_calloc(&heap, 1, sizeof *s);
    if (!s)
        return gt_call_end(&call, gt_error_memory(&call.error, &heap), error);
    s->heap = heap;
    s->known.heap = &s->heap;
    s->dwarf = gt_dwarf_new();
    *symbols = s;
    return GOTRACE_OK;
}

void gotrace_symbols_free(gotrace_symbols *s)
{
    if (!s)
        return;
    gt_dwarf_free(s->dwarf);
    for (mapping *m = s->mappings, *next; m; m = next) {
        next = m->next;
        gt_free(&s->heap, m, sizeof *m + m->size + 1);
    }
    for (text *t = s->texts, *next; t; t = next) {
        next = t->next;
        gt_free(&s->heap, t, sizeof *t + t->size);
    }
    for (size_t i = 0; i < s->place_count; i++)
        gt_free(&s->heap, s->places[i].frames, s->places[i].count * sizeof(gotrace_frame));
    gt_free(&s->heap, s->places, s->place_capacity * sizeof *s->places);
    gt_map_free(&s->known);
    gt_heap heap = s->heap;
    gt_free(&heap, s, sizeof *s);
}

/* ---- mapped files ---------------------------------------------------------------------------- */

static const mapping *find_mapping(const gotrace_symbols *s, uint64_t address)
{
    const mapping *m = s->mappings;
    while (m && (address < m->start || address >= m->end))
        m = m->next;
    return m;
}

bool gotrace_symbols_has(const gotrace_symbols *s, uint64_t pc)
{
    return find_mapping(s, pc - 1) != NULL;
}

/* Adds the mapping of a line "START-END PERMISSIONS OFFSET DEVICE INODE PATH", if it is one of code
 * that is new. */
static gotrace_status add_line(gotrace_symbols *s, char *line, gotrace_error *error)
{
    uint64_t start, end, offset;
    char permissions[5];
    int path = 0;
    line[strcspn(line, "\n")] = '\0';
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &start, &end,
               permissions, &offset, &path) < 4 ||
        path == 0 || permissions[2] != 'x' || line[path] == '\0')
        return GOTRACE_OK;
    const mapping *known = find_mapping(s, start);
    if (known && strcmp(known->path, line + path) == 0)
        return GOTRACE_OK;
    size_t size = strlen(line + path);
    mapping *m = gt_resize(&s->heap, NULL, 0, sizeof *m + size + 1);
    if (!m)
        return gt_error_memory(error, &s->heap);
    *m = (mapping){s->mappings, start, end, offset, size};
    memcpy(m->path, line + path, size + 1);
    s->mappings = m;
    return GOTRACE_OK;
}

gotrace_status gotrace_symbols_read_maps(gotrace_symbols *s, const char *path, gotrace_error *error)
{
    gt_call call;
    char *line = NULL;
    size_t room = 0;
    gotrace_status status = gt_call_begin(&call, NULL);
    FILE *maps = fopen(path, "re");
    if (!maps)
        return gt_call_end(
            &call, gt_error_system(&call.error, GOTRACE_RULE_SYSTEM_OPEN, errno, "%s", path),
            error);
    while (status == GOTRACE_OK && getline(&line, &room, maps) > 0)
        status = add_line(s, line, &call.error);
    free(line);
    if (status == GOTRACE_OK && s->dwarf) {
        rewind(maps);
        gt_dwarf_read_maps(s->dwarf, maps);
    }
    fclose(maps);
    return gt_call_end(&call, status, error);
}

/* ---- addresses ------------------------------------------------------------------------------- */

/* A copy of the string; NULL: memory is refused. */
static const char *keep(gotrace_symbols *s, const char *string, size_t size)
{
    text *t = gt_resize(&s->heap, NULL, 0, sizeof *t + size);
    if (!t)
        return NULL;
    t->next = s->texts;
    t->size = size;
    memcpy(t->bytes, string, size);
    s->texts = t;
    return t->bytes;
}

/* "FILE+0xOFFSET" of an address without symbol. */
static size_t name_offset(const gotrace_symbols *s, uint64_t address, gt_symbol *symbol)
{
    const mapping *m = find_mapping(s, address);
    if (!m)
        return 0;
    const char *slash = strrchr(m->path, '/');
    snprintf(symbol->function, sizeof symbol->function, "%.200s+0x%" PRIx64,
             slash ? slash + 1 : m->path, address - m->start + m->offset);
    symbol->file = NULL;
    symbol->line = 0;
    return 1;
}

static bool put_frame(gotrace_symbols *s, gotrace_frame *frame, const gt_symbol *symbol)
{
    frame->function_size = strlen(symbol->function);
    frame->function = keep(s, symbol->function, frame->function_size);
    frame->line = symbol->line;
    if (symbol->file) {
        frame->file_size = strlen(symbol->file);
        frame->file = keep(s, symbol->file, frame->file_size);
    }
    return frame->function && (frame->file || !symbol->file);
}

/* Finds the frames of a PC. False: memory is refused; *found is empty. */
static bool find(gotrace_symbols *s, uint64_t pc, place *found)
{
    gt_symbol symbols[GT_SYMBOL_FRAMES];
    size_t count = s->dwarf ? gt_dwarf_find(s->dwarf, pc - 1, symbols) : 0;
    if (count == 0)
        count = name_offset(s, pc - 1, symbols);
    *found = (place){0};
    if (count == 0)
        return true;
    gotrace_frame *frames = gt_calloc(&s->heap, count, sizeof *frames);
    bool good = frames != NULL;
    for (size_t i = 0; i < count && good; i++) {
        good = put_frame(s, &frames[i], &symbols[i]);
        frames[i].pc = i + 1 == count ? pc : FIRST_INLINED + s->inlined++;
    }
    if (good)
        *found = (place){frames, count};
    else
        gt_free(&s->heap, frames, count * sizeof *frames);
    return good;
}

/* The place of a PC; NULL: memory is refused. */
static const place *place_of(gotrace_symbols *s, uint64_t pc)
{
    uint64_t number = gt_map_get(&s->known, pc);
    if (number > 0)
        return &s->places[number - 1];
    if (!gt_grow(&s->heap, (void **)&s->places, &s->place_capacity, s->place_count + 1,
                 sizeof *s->places))
        return NULL;
    place found;
    if (!find(s, pc, &found))
        return NULL;
    s->places[s->place_count++] = found;
    return gt_map_put(&s->known, pc, s->place_count) ? &s->places[s->place_count - 1] : NULL;
}

size_t gotrace_symbols_resolve(void *ctx, uint64_t pc, gotrace_frame *frames, size_t max)
{
    gotrace_symbols *s = ctx;
    const place *known = place_of(s, pc);
    if (max == 0)
        return 0;
    if (!known || known->count == 0) {
        frames[0] = (gotrace_frame){.pc = pc};
        return 1;
    }
    size_t count = known->count < max ? known->count : max;
    /* The function that was not inlined is the last one, and is needed. */
    memcpy(frames, known->frames + known->count - count, count * sizeof *frames);
    return count;
}
