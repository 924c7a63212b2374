/*
 * cache.c - the functions that recordings found in a file, kept for later ones.
 *
 * Reading debug information can take longer than a program: that of the C library 60 ms, most of
 * it to unpack it. What was found is kept in a folder, in a file for each build ID. Kept are only
 * functions with a source line: others may get one, when debug information is installed.
 *
 * The folder and its files are used only if nobody else can write to them. A file that is not as
 * it was written, or of another release or another file with that build ID, is ignored, and
 * replaced. It has a line as begin_of writes it, and then for each address:
 *
 *     OFFSET COUNT                     in the file, in hexadecimal; number of frames
 *     LINE <tab> FUNCTION <tab> FILE   for each frame; the last one may be empty
 */
#include "cmd/record/record.h"

#include <ctype.h>
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/common/idmap.h"

enum {
    MOST_FILES = 256,     /* in the folder; then the oldest is removed */
    MOST_BYTES = 1 << 20, /* of a file */
    MOST_NOTES = 1 << 16, /* bytes of notes that are searched */
    MOST_FRAMES = 64,     /* of an address */
    MOST_ID = 64,         /* bytes of a build ID, of which SHA-1 has 20 */
    LEAST_ID = 8,         /* fewer may be equal by accident */
    MOST_BEGIN = 512,     /* bytes of the first line */
    NAME_SIZE = 2 * MOST_ID + 32,
};

static const char suffix[] = ".symbols";

/* Frames of inlined functions are numbered from there on: apart from those of gotrace_symbols. */
#define FIRST_INLINED (UINT64_C(3) << 62)

/* What was found at an address. */
typedef struct place {
    gotrace_frame *frames; /* with their strings in the same block of memory */
    size_t count;
} place;

struct cache {
    idmap places;
    size_t bytes;         /* at most, of the file without its first line */
    bool grown;           /* has what the file does not */
    struct stat read;     /* the file whose functions these are */
    uint64_t *inlined;    /* how many frames are numbered */
    char name[NAME_SIZE]; /* of the file in the folder */
    char path[];
};

/* ---- the folder ------------------------------------------------------------------------------ */

/* Its path; false: there is none. */
static bool folder_path(char path[PATH_MAX])
{
    const char *own = getenv("GOTRACE_CACHE"), *all = getenv("XDG_CACHE_HOME"),
               *home = getenv("HOME");
    int size = 0;
    if (own)
        size = snprintf(path, PATH_MAX, "%s", own);
    else if (all && all[0] == '/')
        size = snprintf(path, PATH_MAX, "%s/gotrace", all);
    else if (home && home[0] == '/')
        size = snprintf(path, PATH_MAX, "%s/.cache/gotrace", home);
    return size > 0 && size < PATH_MAX;
}

/* Whether only this user can write to it. */
static bool is_private(int fd, mode_t type)
{
    struct stat found;
    return fstat(fd, &found) == 0 && (found.st_mode & S_IFMT) == type &&
           found.st_uid == geteuid() && !(found.st_mode & (S_IWGRP | S_IWOTH));
}

/* A descriptor; -1: there is none that can be used. */
static int open_folder(bool creates)
{
    char path[PATH_MAX], parent[PATH_MAX];
    if (!folder_path(path))
        return -1;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT && creates) {
        const char *slash = strrchr(path, '/');
        snprintf(parent, sizeof parent, "%.*s", slash ? (int)(slash - path) : 0, path);
        if (parent[0])
            mkdir(parent, 0700);
        mkdir(path, 0700);
        fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
    if (fd >= 0 && !is_private(fd, S_IFDIR)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* Also what was left when `record` was killed. */
static bool is_of_cache(const char *name)
{
    return strcmp(name + strspn(name, "0123456789abcdef."), suffix + 1) == 0;
}

/* Removes the oldest file if there are too many. */
static void make_room(int folder)
{
    const int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = fd >= 0 ? fdopendir(fd) : NULL;
    char oldest[NAME_SIZE] = "";
    time_t least = 0;
    size_t count = 0;
    if (!entries && fd >= 0)
        close(fd);
    for (struct dirent *e; entries && (e = readdir(entries));) {
        struct stat found;
        if (!is_of_cache(e->d_name) || strlen(e->d_name) >= sizeof oldest ||
            fstatat(folder, e->d_name, &found, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        if (count++ == 0 || found.st_mtime < least) {
            least = found.st_mtime;
            strcpy(oldest, e->d_name);
        }
    }
    if (entries)
        closedir(entries);
    if (count >= MOST_FILES)
        unlinkat(folder, oldest, 0);
}

/* ---- build IDs ------------------------------------------------------------------------------- */

/* Sets the name to that of the build ID in these notes; false: they have none. */
static bool find_id(const char *notes, size_t size, char name[NAME_SIZE])
{
    Elf64_Nhdr note;
    for (size_t at = 0; size - at > sizeof note;) {
        memcpy(&note, notes + at, sizeof note);
        at += sizeof note;
        const size_t owner = ((size_t)note.n_namesz + 3) & ~(size_t)3,
                     id = ((size_t)note.n_descsz + 3) & ~(size_t)3;
        if (owner > size - at || id > size - at - owner)
            return false;
        const unsigned char *bytes = (const unsigned char *)notes + at + owner;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof ELF_NOTE_GNU &&
            memcmp(notes + at, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0 &&
            note.n_descsz >= LEAST_ID && note.n_descsz <= MOST_ID) {
            for (size_t i = 0; i < note.n_descsz; i++)
                sprintf(name + 2 * i, "%02x", bytes[i]);
            strcat(name, suffix);
            return true;
        }
        at += owner + id;
    }
    return false;
}

/* The same for the notes of an ELF file. */
static bool read_id(int fd, char name[NAME_SIZE])
{
    enum { MOST_PARTS = 64 };
    Elf64_Ehdr header;
    bool found = false;
    if (pread(fd, &header, sizeof header, 0) != (ssize_t)sizeof header ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_phentsize != sizeof(Elf64_Phdr))
        return false;
    for (unsigned i = 0; i < header.e_phnum && i < MOST_PARTS && !found; i++) {
        Elf64_Phdr part;
        if (pread(fd, &part, sizeof part, (off_t)(header.e_phoff + i * sizeof part)) !=
            (ssize_t)sizeof part)
            return false;
        char *notes = part.p_type == PT_NOTE && part.p_filesz <= MOST_NOTES ? malloc(part.p_filesz)
                                                                            : NULL;
        found = notes &&
                pread(fd, notes, part.p_filesz, (off_t)part.p_offset) == (ssize_t)part.p_filesz &&
                find_id(notes, part.p_filesz, name);
        free(notes);
    }
    return found;
}

/* ---- places ---------------------------------------------------------------------------------- */

static bool is_plain(const char *string, size_t size)
{
    size_t i = 0;
    while (i < size && !iscntrl((unsigned char)string[i]))
        i++;
    return i == size;
}

static bool is_kept(const gotrace_frame *frames, size_t count)
{
    bool kept = count > 0 && count <= MOST_FRAMES && frames[0].file && frames[0].line > 0;
    for (size_t i = 0; i < count && kept; i++)
        kept = frames[i].function && is_plain(frames[i].function, frames[i].function_size) &&
               is_plain(frames[i].file, frames[i].file_size);
    return kept;
}

/* A copy in one block of memory; NULL: memory is refused. */
static gotrace_frame *copy_frames(const gotrace_frame *frames, size_t count)
{
    size_t size = count * sizeof *frames;
    for (size_t i = 0; i < count; i++)
        size += frames[i].function_size + frames[i].file_size;
    gotrace_frame *copy = malloc(size);
    char *at = copy ? (char *)(copy + count) : NULL;
    for (size_t i = 0; i < count && copy; i++) {
        copy[i] = frames[i];
        copy[i].function = memcpy(at, frames[i].function, frames[i].function_size);
        at += frames[i].function_size;
        copy[i].file = NULL;
        if (frames[i].file_size > 0)
            copy[i].file = memcpy(at, frames[i].file, frames[i].file_size);
        at += frames[i].file_size;
    }
    return copy;
}

/* How many bytes it takes in a file, at most. */
static size_t size_of(const gotrace_frame *frames, size_t count)
{
    enum { NUMBERS = 40 };
    size_t size = NUMBERS;
    for (size_t i = 0; i < count; i++)
        size += NUMBERS + frames[i].function_size + frames[i].file_size;
    return size;
}

/* Returns whether it is there: there is not too much. */
static bool add_place(cache *c, uint64_t offset, const gotrace_frame *frames, size_t count)
{
    const size_t size = size_of(frames, count);
    if (c->bytes + size > MOST_BYTES || idmap_find(&c->places, offset))
        return false;
    gotrace_frame *copy = copy_frames(frames, count);
    place *p = copy ? idmap_insert(&c->places, offset) : NULL;
    if (!p) {
        free(copy);
        return false;
    }
    *p = (place){copy, count};
    c->bytes += size;
    for (size_t i = 0; i + 1 < count; i++)
        copy[i].pc = FIRST_INLINED + (*c->inlined)++;
    return true;
}

void cache_add(cache *c, uint64_t offset, const gotrace_frame *frames, size_t count)
{
    if (is_kept(frames, count) && add_place(c, offset, frames, count))
        c->grown = true;
}

size_t cache_find(const cache *c, uint64_t offset, gotrace_frame *frames, size_t max)
{
    const place *p = idmap_find(&c->places, offset);
    if (!p || p->count > max)
        return 0;
    memcpy(frames, p->frames, p->count * sizeof *frames);
    return p->count;
}

static void clear(cache *c)
{
    size_t at = 0;
    uint64_t offset;
    void *value;
    while (idmap_next(&c->places, &at, &offset, &value))
        free(((place *)value)->frames);
    idmap_free(&c->places);
    c->bytes = 0;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* The first line without its end: what the file is of, and how many bytes follow. */
static void begin_of(const cache *c, size_t bytes, char begin[MOST_BEGIN])
{
    snprintf(begin, MOST_BEGIN, "gotrace %s %s %jd %jd.%09ld %zu", gotrace_version(), c->name,
             (intmax_t)c->read.st_size, (intmax_t)c->read.st_mtim.tv_sec, c->read.st_mtim.tv_nsec,
             bytes);
}

/* Takes a line; NULL: there is none. */
static char *take_line(char **text)
{
    char *line = *text, *end = strchr(line, '\n');
    if (!end)
        return NULL;
    *end = '\0';
    *text = end + 1;
    return line;
}

static bool parse_frame(char *line, gotrace_frame *frame)
{
    char *function = line ? strchr(line, '\t') : NULL,
         *file = function ? strchr(function + 1, '\t') : NULL, *end;
    if (!file)
        return false;
    *function++ = *file++ = '\0';
    *frame = (gotrace_frame){.function = function,
                             .function_size = strlen(function),
                             .file = file,
                             .file_size = strlen(file),
                             .line = strtoull(line, &end, 10)};
    return isdigit((unsigned char)line[0]) && *end == '\0';
}

static bool parse(cache *c, char *text)
{
    gotrace_frame frames[MOST_FRAMES];
    while (*text) {
        uint64_t offset;
        size_t count;
        char more;
        const char *line = take_line(&text);
        if (!line || sscanf(line, "%" SCNx64 " %zu%c", &offset, &count, &more) != 2 ||
            count > MOST_FRAMES)
            return false;
        for (size_t i = 0; i < count; i++)
            if (!parse_frame(take_line(&text), &frames[i]))
                return false;
        if (!is_kept(frames, count) || !add_place(c, offset, frames, count))
            return false;
    }
    return true;
}

/* The content of the file, to be freed; NULL: there is none that can be used. */
static char *read_file(int folder, const char *name)
{
    struct stat found;
    const int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    const bool good = fd >= 0 && is_private(fd, S_IFREG) && fstat(fd, &found) == 0 &&
                      found.st_size <= MOST_BEGIN + MOST_BYTES;
    char *text = good ? calloc((size_t)found.st_size + 1, 1) : NULL;
    if (text && (pread(fd, text, (size_t)found.st_size, 0) != found.st_size ||
                 strlen(text) != (size_t)found.st_size)) {
        free(text);
        text = NULL;
    }
    if (fd >= 0)
        close(fd);
    return text;
}

static void load(cache *c)
{
    char begin[MOST_BEGIN];
    const int folder = open_folder(false);
    char *text = folder >= 0 ? read_file(folder, c->name) : NULL, *rest = text;
    const char *line = text ? take_line(&rest) : NULL;
    if (line)
        begin_of(c, strlen(rest), begin);
    if (line && strcmp(line, begin) == 0 && !parse(c, rest))
        clear(c);
    free(text);
    if (folder >= 0)
        close(folder);
}

/* Whether the file is still that one. */
static bool is_unchanged(const struct stat *before, const struct stat *now)
{
    return S_ISREG(now->st_mode) && before->st_dev == now->st_dev &&
           before->st_ino == now->st_ino && before->st_size == now->st_size &&
           before->st_mtim.tv_sec == now->st_mtim.tv_sec &&
           before->st_mtim.tv_nsec == now->st_mtim.tv_nsec;
}

cache *cache_open(const char *path, const struct stat *expected, uint64_t *inlined)
{
    char folder[PATH_MAX];
    struct stat found;
    const size_t size = strlen(path) + 1;
    const int fd = folder_path(folder) ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    cache *c = fd >= 0 ? calloc(1, sizeof *c + size) : NULL;
    const bool good = c && fstat(fd, &found) == 0 && is_unchanged(expected, &found) &&
                      read_id(fd, c->name);
    if (fd >= 0)
        close(fd);
    if (!good) {
        free(c);
        return NULL;
    }
    idmap_init(&c->places, sizeof(place));
    memcpy(c->path, path, size);
    c->read = found;
    c->inlined = inlined;
    load(c);
    return c;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* All places as text, to be freed; NULL: memory is refused. */
static char *print(const cache *c, size_t *size)
{
    char *text = NULL;
    uint64_t *offsets = idmap_sorted_keys(&c->places);
    FILE *to = offsets ? open_memstream(&text, size) : NULL;
    for (size_t n = 0; n < c->places.count && to; n++) {
        const place *p = idmap_find(&c->places, offsets[n]);
        fprintf(to, "%" PRIx64 " %zu\n", offsets[n], p->count);
        for (size_t i = 0; i < p->count; i++) {
            const gotrace_frame *f = &p->frames[i];
            fprintf(to, "%" PRIu64 "\t%.*s\t%.*s\n", f->line, (int)f->function_size, f->function,
                    (int)f->file_size, f->file ? f->file : "");
        }
    }
    free(offsets);
    if (to && fclose(to) == 0)
        return text;
    free(text);
    return NULL;
}

/* The file appears complete or not at all: another recording may write it too. */
static void write_file(const cache *c, int folder, const char *text, size_t size)
{
    char begin[MOST_BEGIN], temporary[NAME_SIZE + 16];
    snprintf(temporary, sizeof temporary, "%d.%s", (int)getpid(), c->name);
    unlinkat(folder, temporary, 0); /* of a recording that was killed */
    const int fd = openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    FILE *to = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (fd < 0)
        return;
    bool good = false;
    if (to) {
        begin_of(c, size, begin);
        fprintf(to, "%s\n", begin);
        good = fwrite(text, 1, size, to) == size;
        good = fclose(to) == 0 && good;
    } else {
        close(fd);
    }
    if (!good || renameat(folder, temporary, folder, c->name) != 0)
        unlinkat(folder, temporary, 0);
}

static void save(const cache *c)
{
    struct stat now;
    size_t size;
    if (stat(c->path, &now) != 0 || !is_unchanged(&c->read, &now))
        return; /* it may have been read while it changed */
    const int folder = open_folder(true);
    char *text = folder >= 0 ? print(c, &size) : NULL;
    if (text) {
        if (faccessat(folder, c->name, F_OK, 0) != 0)
            make_room(folder);
        write_file(c, folder, text, size);
    }
    free(text);
    if (folder >= 0)
        close(folder);
}

void cache_close(cache *c)
{
    if (!c)
        return;
    if (c->grown)
        save(c);
    clear(c);
    free(c);
}
