/*
 * files.c - the files with code that recorded processes have mapped, and the functions in them.
 *
 * Reading the symbols of a file takes up to a second, and processes map the same files. So there is
 * one table of symbols for all processes and all programs that they execute. It has each file once,
 * at an address of its own, and what was found for an address in the file is found for all.
 */
#include "cmd/record/record.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/diag.h"
#include "core/hash.h"

enum {
    MOST_FILES = 256, /* in the table; then another one begins */
    ALIGN = 1 << 21,  /* of a file in the table */
    EPOCH_SHIFT = 32, /* inlined functions of a table are numbered: below that bit */
    EPOCHS = 1 << 16,
};

/* A line of /proc/PID/maps. */
typedef struct part {
    uint64_t start, end, offset;
    char permissions[5];
} part;

static bool is_code(const part *p)
{
    return p->permissions[2] == 'x';
}

/* What the symbols depend on: a file that was changed is another one. */
typedef struct file_key {
    char device[16];
    uint64_t inode;
    dev_t found_device; /* of the path, which may be that of a newer file */
    ino_t found_inode;
    off_t size;
    struct timespec changed;
} file_key;

typedef struct file {
    struct file *next;
    file_key key;
    unsigned uses;  /* by images */
    uint64_t base;  /* in the table, of parts[0].start; 0: the table does not have it */
    unsigned epoch; /* of that table */
    bool unreadable;
    bool seen;    /* `cache` is set */
    cache *cache; /* NULL: none */
    part *parts;
    size_t part_count;
    char path[];
} file;

/* Code that an image has mapped. */
struct mapping {
    part at;
    file *file;
};

struct files {
    symbols *symbols; /* NULL: none */
    file *list;
    uint64_t end; /* of the files in the table */
    unsigned in_table, epoch;
    uint64_t inlined; /* see cache_open */
    char name[512];   /* of an address in an unreadable file */
};

/* Memory that is shared by processes that have mapped the same file, or were forked. */
struct shared_part {
    uint64_t start, end;
    uint64_t number; /* of what is at the start */
};

static void free_file(file *f)
{
    cache_close(f->cache);
    free(f->parts);
    free(f);
}

void files_free(files *all)
{
    if (!all)
        return;
    for (file *f = all->list, *next; f; f = next) {
        next = f->next;
        free_file(f);
    }
    symbols_free(all->symbols);
    free(all);
}

/* ---- the table ------------------------------------------------------------------------------- */

static bool has_file(const files *all, const file *f)
{
    return f->base > 0 && f->epoch == all->epoch;
}

/* Frees files that no image and no table has. */
static void forget_files(files *all)
{
    for (file **at = &all->list, *f; (f = *at);) {
        if (f->uses > 0 || has_file(all, f)) {
            at = &f->next;
            continue;
        }
        *at = f->next;
        free_file(f);
    }
}

static void end_table(files *all)
{
    symbols_free(all->symbols);
    all->symbols = NULL;
    all->epoch = (all->epoch + 1) % EPOCHS;
    all->in_table = 0;
    all->end = ALIGN;
    forget_files(all);
}

/* Begins another table if there is none, or it is full. */
static bool make_room(files *all)
{
    if (all->symbols && all->in_table < MOST_FILES)
        return true;
    end_table(all);
    return (all->symbols = symbols_new());
}

/* The first table begins before there are threads: the process that has it allocates memory, which
 * AddressSanitizer does not allow after a fork while another thread does. */
files *files_new(void)
{
    files *all = calloc(1, sizeof *all);
    if (all)
        make_room(all);
    return all;
}

static void write_maps(FILE *maps, const file *f, uint64_t base)
{
    for (size_t i = 0; i < f->part_count; i++) {
        const part *p = &f->parts[i];
        const uint64_t start = base + (p->start - f->parts[0].start);
        fprintf(maps, "%" PRIx64 "-%" PRIx64 " %s %" PRIx64 " %s %" PRIu64 " %s\n", start,
                start + (p->end - p->start), p->permissions, p->offset, f->key.device, f->key.inode,
                f->path);
    }
}

/* Adds a file to the table. */
static bool add_to_table(files *all, file *f)
{
    char *text = NULL;
    size_t text_size = 0;
    if (has_file(all, f))
        return true;
    FILE *maps = make_room(all) ? open_memstream(&text, &text_size) : NULL;
    if (!maps)
        return false;
    const uint64_t size = f->parts[f->part_count - 1].end - f->parts[0].start;
    write_maps(maps, f, all->end);
    const bool good = fclose(maps) == 0 && symbols_read_maps(all->symbols, text, text_size);
    free(text);
    if (!good)
        return false;
    f->base = all->end;
    f->epoch = all->epoch;
    all->in_table++;
    all->end = (all->end + size + 2 * ALIGN - 1) / ALIGN * ALIGN; /* a gap: PCs are one more */
    return true;
}

/* ---- images ---------------------------------------------------------------------------------- */

/* The part with that code; NULL: the file is mapped in another way. */
static const part *find_part(const file *f, const part *code)
{
    for (size_t i = 0; i < f->part_count; i++) {
        const part *p = &f->parts[i];
        if (is_code(p) && code->offset >= p->offset &&
            code->offset - p->offset + (code->end - code->start) <= p->end - p->start)
            return p;
    }
    return NULL;
}

static bool is_same(const file *f, const file_key *key, const char *path, const part *parts,
                    size_t count)
{
    if (memcmp(&f->key, key, sizeof *key) != 0 || strcmp(f->path, path) != 0)
        return false;
    for (size_t i = 0; i < count; i++)
        if (is_code(&parts[i]) && !find_part(f, &parts[i]))
            return false;
    return true;
}

/* The file, which is new if its key, its path or its parts are. NULL: memory is refused. */
static file *get_file(files *all, const file_key *key, const char *path, const part *parts,
                      size_t count)
{
    for (file *f = all->list; f; f = f->next)
        if (is_same(f, key, path, parts, count))
            return f;
    const size_t size = strlen(path) + 1;
    file *f = calloc(1, sizeof *f + size);
    part *copy = f ? reallocarray(NULL, count, sizeof *copy) : NULL;
    if (!copy) {
        free(f);
        return NULL;
    }
    memcpy(copy, parts, count * sizeof *copy);
    memcpy(f->path, path, size);
    f->key = *key;
    f->parts = copy;
    f->part_count = count;
    f->next = all->list;
    all->list = f;
    return f;
}

static const mapping *find_mapping(const mapped *m, uint64_t address)
{
    for (size_t i = m->count; i-- > 0;) /* later ones first */
        if (address >= m->list[i].at.start && address < m->list[i].at.end)
            return &m->list[i];
    return NULL;
}

/* Adds the code of a file that is mapped there, except what is known. */
static void add_mappings(files *all, mapped *m, file_key *key, const char *path, const part *parts,
                         size_t count)
{
    struct stat found;
    if (stat(path, &found) == 0) {
        if (!S_ISREG(found.st_mode))
            return; /* reading a pipe or device may not end */
        key->found_device = found.st_dev;
        key->found_inode = found.st_ino;
        key->size = found.st_size;
        key->changed = found.st_mtim;
    }
    for (size_t i = 0; i < count; i++) {
        const mapping *known = find_mapping(m, parts[i].start);
        if (!is_code(&parts[i]) || (known && strcmp(known->file->path, path) == 0))
            continue;
        file *f = get_file(all, key, path, parts, count);
        mapping *larger = f ? reallocarray(m->list, m->count + 1, sizeof *larger) : NULL;
        if (!larger)
            return;
        m->list = larger;
        m->list[m->count++] = (mapping){parts[i], f};
        f->uses++;
    }
}

/* Reads a line "START-END PERMISSIONS OFFSET DEVICE INODE PATH". Returns its path; NULL: none. */
static char *read_line(char *line, part *p, file_key *key)
{
    int path = 0;
    line[strcspn(line, "\n")] = '\0';
    memset(p, 0, sizeof *p);
    memset(key, 0, sizeof *key); /* also what is between members: keys are compared as bytes */
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %15s %" SCNu64 " %n", &p->start,
               &p->end, p->permissions, &p->offset, key->device, &key->inode, &path) < 6 ||
        path == 0 || line[path] == '\0' || p->end <= p->start)
        return NULL;
    return line + path;
}

static void add_shared(mapped *m, const part *p, const file_key *key)
{
    for (size_t i = 0; i < m->shared_count; i++)
        if (m->shared[i].start == p->start && m->shared[i].end == p->end)
            return;
    shared_part *larger = reallocarray(m->shared, m->shared_count + 1, sizeof *larger);
    if (!larger)
        return;
    m->shared = larger;
    const uint64_t hash = gt_hash_bytes(0, key->device, sizeof key->device) ^
                          gt_hash_bytes(0, &key->inode, sizeof key->inode);
    m->shared[m->shared_count++] = (shared_part){p->start, p->end, hash + p->offset};
}

uint64_t mapped_key(const mapped *m, uint64_t address)
{
    for (size_t i = m->shared_count; i-- > 0;) { /* later ones first */
        const shared_part *p = &m->shared[i];
        if (address >= p->start && address < p->end)
            return (p->number + (address - p->start)) | NAMES_SHARED;
    }
    return 0;
}

void mapped_read(files *all, mapped *m, FILE *maps)
{
    enum { MOST_PARTS = 64 }; /* of a file; those of the linker are five */
    part parts[MOST_PARTS], p;
    char *line = NULL, *last = NULL;
    file_key key = {0}, last_key = {0};
    size_t room = 0, count = 0;
    bool more = true;
    while (more) {
        more = getline(&line, &room, maps) > 0;
        const char *path = more ? read_line(line, &p, &key) : NULL;
        if (path && p.permissions[3] == 's')
            add_shared(m, &p, &key);
        const bool goes_on = path && count > 0 && count < MOST_PARTS &&
                             memcmp(&key, &last_key, sizeof key) == 0 && strcmp(path, last) == 0;
        if (!goes_on && count > 0) {
            file_key whole = last_key;
            add_mappings(all, m, &whole, last, parts, count);
            count = 0;
        }
        if (!path)
            continue;
        if (!goes_on) {
            free(last);
            last = strdup(path);
            last_key = key;
        }
        if (last)
            parts[count++] = p;
    }
    free(line);
    free(last);
}

bool mapped_has(const mapped *m, uint64_t pc)
{
    return find_mapping(m, pc - 1) != NULL;
}

const char *mapped_path(const mapped *m, uint64_t pc)
{
    const mapping *at = find_mapping(m, pc - 1);
    return at ? at->file->path : NULL;
}

void mapped_free(files *all, mapped *m)
{
    for (size_t i = 0; i < m->count; i++)
        m->list[i].file->uses--;
    free(m->list);
    free(m->shared);
    *m = (mapped){0};
    if (all)
        forget_files(all);
}

/* "FILE+0xOFFSET", as of an address without symbol. */
static size_t name_offset(files *all, const mapping *at, uint64_t pc, gotrace_frame *frame)
{
    const char *slash = strrchr(at->file->path, '/');
    snprintf(all->name, sizeof all->name, "%.200s+0x%" PRIx64, slash ? slash + 1 : at->file->path,
             pc - 1 - at->at.start + at->at.offset);
    *frame = (gotrace_frame){.pc = pc, .function = all->name, .function_size = strlen(all->name)};
    return 1;
}

/* The file is damaged, or has changed while it was read. */
static void leave_file(files *all, file *f)
{
    f->unreadable = true;
    end_table(all);
    diag_warning(f->path, "the symbols of this file cannot be read: it is damaged, or has changed "
                          "since the program loaded it");
}

static cache *get_cache(files *all, file *f)
{
    const struct stat expected = {.st_mode = S_IFREG,
                                  .st_dev = f->key.found_device,
                                  .st_ino = f->key.found_inode,
                                  .st_size = f->key.size,
                                  .st_mtim = f->key.changed};
    if (!f->seen)
        f->cache = cache_open(f->path, &expected, &all->inlined);
    f->seen = true;
    return f->cache;
}

/* Reads what is not known. */
static size_t read_frames(files *all, const mapping *at, uint64_t pc, gotrace_frame *frames,
                          size_t max, const waiting *w)
{
    file *f = at->file;
    const part *p = find_part(f, &at->at);
    const uint64_t address = f->base + (p->start - f->parts[0].start) +
                             (at->at.offset - p->offset) + (pc - at->at.start);
    const size_t count = symbols_resolve(all->symbols, address, frames, max, w);
    if (count == 0) {
        if (w->stops())
            end_table(all);
        else
            leave_file(all, f);
        return name_offset(all, at, pc, frames);
    }
    for (size_t i = 0; i + 1 < count; i++)
        frames[i].pc += (uint64_t)all->epoch << EPOCH_SHIFT;
    if (f->cache && count < max)
        cache_add(f->cache, pc - at->at.start + at->at.offset, frames, count);
    return count;
}

size_t mapped_resolve(files *all, const mapped *m, uint64_t pc, gotrace_frame *frames, size_t max,
                      const waiting *w)
{
    const mapping *found = find_mapping(m, pc - 1);
    frames[0] = (gotrace_frame){.pc = pc};
    if (!found)
        return 1;
    const mapping at = *found; /* while an answer is waited for, the list may grow */
    if (at.file->unreadable)
        return name_offset(all, &at, pc, frames);
    const cache *known = get_cache(all, at.file);
    size_t count = known ? cache_find(known, pc - at.at.start + at.at.offset, frames, max) : 0;
    if (count == 0 && !add_to_table(all, at.file))
        return 1;
    if (count == 0)
        count = read_frames(all, &at, pc, frames, max, w);
    frames[count - 1].pc = pc;
    return count;
}
