/*
 * source.c - sources of bytes: files and memory are read in place; pipes and compressed data are
 * copied to a temporary file.
 */
#include "core/sized.h"
#include "core/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/temp_file.h"
#include "core/unpack.h"

enum { CHUNK = 128 * 1024 };

struct gotrace_source {
    gt_heap heap;
    const uint8_t *memory; /* NULL: read fd */
    int fd;
    bool own_fd;
    uint64_t size, compressed_size;
    uint64_t limit;       /* of the size of the temporary file */
    gotrace_error damage; /* damage of the compressed data; rule NONE if undamaged */
};

int gt_spool_open(const gotrace_config *config, gotrace_error *error)
{
    const char *folder = gt_temp_folder(config ? config->spool_dir : NULL);
    int fd = gt_temp_file(folder);
    if (fd < 0)
        gt_error_system(error, GOTRACE_RULE_SYSTEM_WRITE, errno,
                        "cannot create a temporary file in %s", folder);
    return fd;
}

bool gt_write_all(int fd, const void *bytes, size_t size, gotrace_error *error)
{
    const char *at = bytes;
    while (size > 0) {
        ssize_t n = write(fd, at, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            gt_error_system(error, GOTRACE_RULE_SYSTEM_WRITE, errno,
                            "cannot write a temporary file");
            return false;
        }
        at += n;
        size -= (size_t)n;
    }
    return true;
}

/* Fills the buffer from the descriptor's position; returns less only at the end, -1 on failure. */
static ssize_t read_full(int fd, uint8_t *buffer, size_t size, gotrace_error *error)
{
    size_t got = 0;
    while (got < size) {
        ssize_t n = read(fd, buffer + got, size - got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            gt_error_system(error, GOTRACE_RULE_SYSTEM_READ, errno, "cannot read");
            return -1;
        }
        if (n == 0)
            break;
        got += (size_t)n;
    }
    return (ssize_t)got;
}

/* The input as a stream, before decompression, including the bytes read to recognise it. */
typedef struct stream {
    int fd;                /* -1: memory */
    const uint8_t *memory; /* the rest of it */
    size_t memory_size;
    uint64_t taken;
    uint8_t *buffer; /* CHUNK bytes */
    size_t have;
} stream;

static bool stream_fill(stream *s, gotrace_error *error)
{
    if (s->fd < 0) {
        s->have = s->memory_size < CHUNK ? s->memory_size : CHUNK;
        if (s->have)
            memcpy(s->buffer, s->memory, s->have);
        s->memory += s->have;
        s->memory_size -= s->have;
    } else {
        ssize_t n = read_full(s->fd, s->buffer, CHUNK, error);
        if (n < 0)
            return false;
        s->have = (size_t)n;
    }
    s->taken += s->have;
    return true;
}

/* Writes to the temporary file, up to the limit. */
static bool spool_write(gotrace_source *source, int out, const uint8_t *bytes, size_t size,
                        gotrace_error *error)
{
    if (size > source->limit - source->size) {
        gt_error_limit(error, GOTRACE_LIMIT_INPUT, GT_NO_PLACE, source->limit);
        return false;
    }
    source->size += size;
    return gt_write_all(out, bytes, size, error);
}

static bool spool_plain(gotrace_source *source, stream *s, int out, gotrace_error *error)
{
    while (s->have) {
        if (!spool_write(source, out, s->buffer, s->have, error))
            return false;
        if (!stream_fill(s, error))
            return false;
    }
    return true;
}

/* Decompresses everything. On failure returns false with *error set. If the data is damaged or cut
 * off, sets source->damage; the data before the damage was written. */
static bool unpack_all(gotrace_source *source, stream *s, gt_unpacker *u, uint8_t *plain, int out,
                       gotrace_error *error)
{
    gt_unpack_buffers b = {.out = plain, .out_size = CHUNK};
    gotrace_error damage = {.rule = GOTRACE_RULE_NONE};
    gotrace_status status = GOTRACE_OK;
    while (status == GOTRACE_OK) {
        if (b.in_used == b.in_size && b.out_used < b.out_size) {
            if (b.in_size > 0 && !stream_fill(s, error))
                return false;
            if (s->have == 0)
                break;
            b.in = s->buffer;
            b.in_size = s->have;
            b.in_used = 0;
        }
        b.out_used = 0;
        status = gt_unpack(u, &b, &damage);
        if (!spool_write(source, out, plain, b.out_used, error))
            return false;
    }
    if (status == GOTRACE_OK && gt_unpack_is_open(u))
        gt_unpack_cut_off(u, &damage);
    if (damage.class_ == GOTRACE_CLASS_SYSTEM) {
        if (error)
            *error = damage;
        return false;
    }
    damage.offset = source->size;
    source->damage = damage;
    return damage.rule == GOTRACE_RULE_NONE;
}

static bool spool_packed(gotrace_source *source, stream *s, gt_packing packing, int out,
                         gotrace_error *error)
{
    gt_heap *heap = &source->heap;
    gt_unpacker *u = gt_unpacker_new(packing, heap);
    uint8_t *plain = gt_resize(heap, NULL, 0, CHUNK);
    bool ok = u && plain;
    if (ok)
        ok = unpack_all(source, s, u, plain, out, error);
    else
        gt_error_memory(error, heap);
    gt_free(heap, plain, plain ? CHUNK : 0);
    gt_unpacker_free(u);
    source->compressed_size = s->taken;
    return ok;
}

/* Whether to read what was decompressed before the damage. */
static bool accept_damage(const gotrace_source *source, const gotrace_config *config,
                          gotrace_error *error)
{
    const gotrace_error *damage = &source->damage;
    if (damage->rule == GOTRACE_RULE_NONE)
        return false;
    if (error)
        *error = *damage;
    return source->size > 0 &&
           (!config || !config->on_problem || config->on_problem(config->callback_ctx, damage));
}

/* Decides, by first bytes and kind of file, whether to read the input in place or to copy it. */
static bool choose_input(gotrace_source *source, bool seekable, const gotrace_config *config,
                         gotrace_error *error)
{
    stream s = {.fd = source->memory ? -1 : source->fd,
                .memory = source->memory,
                .memory_size = (size_t)source->size};
    uint8_t magic[GT_MAGIC];
    size_t got = 0;
    if (seekable && (gt_source_read(source, 0, magic, sizeof magic, &got, error) < 0))
        return false;
    if (seekable && gt_packing_of(magic, got) == GT_PLAIN)
        return true;

    s.buffer = gt_resize(&source->heap, NULL, 0, CHUNK);
    if (!s.buffer) {
        gt_error_memory(error, &source->heap);
        return false;
    }
    int spool = -1;
    bool ok = stream_fill(&s, error) && (spool = gt_spool_open(config, error)) >= 0;
    source->size = 0;
    if (ok) {
        gt_packing packing = gt_packing_of(s.buffer, s.have);
        ok = packing == GT_PLAIN ? spool_plain(source, &s, spool, error)
                                 : spool_packed(source, &s, packing, spool, error) ||
                                       accept_damage(source, config, error);
    }
    gt_free(&source->heap, s.buffer, CHUNK);
    if (source->own_fd)
        close(source->fd);
    source->own_fd = spool >= 0;
    source->fd = spool;
    source->memory = NULL;
    return ok;
}

static gotrace_source *source_new(const gotrace_config *config, gotrace_error *error)
{
    gt_heap heap;
    gt_heap_init(&heap, config);
    gotrace_source *source = gt_calloc(&heap, 1, sizeof *source);
    if (!source) {
        gt_error_memory(error, &heap);
        return NULL;
    }
    source->heap = heap;
    source->limit = gt_limits(config).input;
    source->fd = -1;
    return source;
}

static gotrace_status source_finish(gotrace_source *made, bool ok, gotrace_source **source)
{
    if (!ok) {
        gotrace_source_close(made);
        return GOTRACE_ERROR;
    }
    *source = made;
    return GOTRACE_OK;
}

static gotrace_status source_from_fd(int fd, bool own, const gotrace_config *config,
                                     gotrace_source **source, gotrace_error *error)
{
    struct stat st;
    gotrace_source *made = source_new(config, error);
    if (!made) {
        if (own)
            close(fd);
        return GOTRACE_ERROR;
    }
    made->fd = fd;
    made->own_fd = own;
    if (fstat(fd, &st) != 0) {
        gt_error_system(error, GOTRACE_RULE_SYSTEM_READ, errno, "cannot read");
        return source_finish(made, false, source);
    }
    if (S_ISDIR(st.st_mode)) {
        gt_error_system(error, GOTRACE_RULE_SYSTEM_READ, EISDIR, "cannot read");
        return source_finish(made, false, source);
    }
    /* A shared descriptor may be at any position. The file is read in place, from offset 0, only if
     * nobody has read from it. */
    bool in_place = S_ISREG(st.st_mode) && lseek(fd, 0, SEEK_CUR) == 0;
    made->size = in_place ? (uint64_t)st.st_size : 0;
    return source_finish(made, choose_input(made, in_place, config, error), source);
}

static gotrace_status source_from_path(const char *path, const gotrace_config *config,
                                       gotrace_source **source, gotrace_error *error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return gt_error_system(error, GOTRACE_RULE_SYSTEM_OPEN, errno, "cannot open");
    return source_from_fd(fd, true, config, source, error);
}

static gotrace_status source_from_memory(const void *data, size_t size,
                                         const gotrace_config *config, gotrace_source **source,
                                         gotrace_error *error)
{
    gotrace_source *made = source_new(config, error);
    if (!made)
        return GOTRACE_ERROR;
    made->memory = data ? data : (const void *)"";
    made->size = size;
    return source_finish(made, choose_input(made, true, config, error), source);
}

gotrace_status gotrace_source_open(const char *path, const gotrace_config *config,
                                   gotrace_source **source, gotrace_error *error)
{
    gt_call call;
    *source = NULL;
    gotrace_status status = gt_call_begin(&call, config);
    if (status == GOTRACE_OK)
        status = source_from_path(path, &call.config, source, &call.error);
    return gt_call_end(&call, status, error);
}

gotrace_status gotrace_source_fd(int fd, const gotrace_config *config, gotrace_source **source,
                                 gotrace_error *error)
{
    gt_call call;
    *source = NULL;
    gotrace_status status = gt_call_begin(&call, config);
    if (status == GOTRACE_OK)
        status = source_from_fd(fd, false, &call.config, source, &call.error);
    return gt_call_end(&call, status, error);
}

gotrace_status gotrace_source_memory(const void *data, size_t size, const gotrace_config *config,
                                     gotrace_source **source, gotrace_error *error)
{
    gt_call call;
    *source = NULL;
    gotrace_status status = gt_call_begin(&call, config);
    if (status == GOTRACE_OK)
        status = source_from_memory(data, size, &call.config, source, &call.error);
    return gt_call_end(&call, status, error);
}

uint64_t gotrace_source_size(const gotrace_source *source)
{
    return source->size;
}

uint64_t gotrace_source_compressed_size(const gotrace_source *source)
{
    return source->compressed_size;
}

const gotrace_error *gotrace_source_error(const gotrace_source *source)
{
    return source->damage.rule != GOTRACE_RULE_NONE ? &source->damage : NULL;
}

gotrace_status gotrace_source_read(gotrace_source *source, uint64_t offset, void *buffer,
                                   size_t size, size_t *got, gotrace_error *error)
{
    gt_call call;
    gotrace_status status = gt_source_read(source, offset, buffer, size, got, &call.error);
    return gt_call_end(&call, status, error);
}

gotrace_status gt_source_read(gotrace_source *source, uint64_t offset, void *buffer, size_t size,
                              size_t *got, gotrace_error *error)
{
    *got = 0;
    if (offset >= source->size)
        return GOTRACE_OK;
    if (size > source->size - offset)
        size = (size_t)(source->size - offset);
    if (source->memory) {
        memcpy(buffer, source->memory + offset, size);
        *got = size;
        return GOTRACE_OK;
    }
    while (*got < size) {
        ssize_t n = pread(source->fd, (char *)buffer + *got, size - *got, (off_t)(offset + *got));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return gt_error_system(error, GOTRACE_RULE_SYSTEM_READ, errno, "cannot read");
        if (n == 0) /* the file shrank while being read */
            break;
        *got += (size_t)n;
    }
    return GOTRACE_OK;
}

void gotrace_source_close(gotrace_source *source)
{
    if (!source)
        return;
    if (source->own_fd)
        close(source->fd);
    gt_heap heap = source->heap;
    gt_free(&heap, source, sizeof *source);
}
