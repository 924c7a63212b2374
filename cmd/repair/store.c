/*
 * store.c - traces that are larger than memory.
 *
 * A trace that repair reads or makes is in memory while it is small. A larger one is in a temporary
 * file without a name that is mapped into memory, so that the steps use pointers wherever the bytes
 * are. Pages of the mapping that were read or written are released, and the reader reads the file
 * through its windows, so that what is resident does not depend on the size of the trace. Space is
 * allocated before it is used: a full disk is an error, not a signal.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cmd/repair/repair.h"
#include "formats/common/spool.h"

enum {
    SMALL = 4 << 20,    /* bytes kept in memory */
    RELEASED = 8 << 20, /* bytes read or written between two calls of madvise */
    GROWTH = 4          /* a file grows by this part of its size */
};

static bool fail(repair *r, const char *what)
{
    int why = errno;
    fill_error(r->error, GOTRACE_RULE_SYSTEM_WRITE, GOTRACE_NO_OFFSET, "%s: %s", what,
               strerror(why));
    r->error->os_error = why;
    return false;
}

static size_t limit_of(const repair *r)
{
    const size_t usual = (size_t)64 << 30; /* the library's default */
    const gotrace_limits *limits = r->job->config->limits;
    return limits && limits->input ? limits->input : usual;
}

static bool fail_limit(repair *r, size_t limit)
{
    fill_error(r->error, GOTRACE_RULE_SYSTEM_LIMIT, GOTRACE_NO_OFFSET,
               "a temporary file needs more than %zu bytes, the limit", limit);
    r->error->limit = GOTRACE_LIMIT_INPUT;
    return false;
}

/* The mapping that begins at bytes; of NULL: an unused one. NULL: there is none. */
static repair_mapping *mapping_of(repair *r, const uint8_t *bytes)
{
    for (size_t i = 0; i < REPAIR_MAPPINGS; i++)
        if (r->store->mapped[i].bytes == bytes)
            return &r->store->mapped[i];
    return NULL;
}

static void close_mapping(repair_mapping *m)
{
    if (m->bytes)
        munmap(m->bytes, m->size);
    close(m->fd);
    *m = (repair_mapping){0};
}

/* Makes the file and its mapping larger; a new one is mapped. */
static bool extend(repair *r, repair_mapping *m, size_t need)
{
    size_t limit = limit_of(r), size = need + need / GROWTH;
    if (need > limit)
        return fail_limit(r, limit);
    size = size > limit ? limit : size;
    errno = posix_fallocate(m->fd, (off_t)m->size, (off_t)(size - m->size));
    if (errno != 0)
        return fail(r, "cannot write a temporary file");
    void *bytes = m->bytes ? mremap(m->bytes, m->size, size, MREMAP_MAYMOVE)
                           : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, m->fd, 0);
    if (bytes == MAP_FAILED)
        return fail(r, "cannot map a temporary file");
    m->bytes = bytes;
    m->size = size;
    return true;
}

/* Moves bytes from memory to a file. */
static bool move_to_file(repair *r, repair_mapping *m, parts_bytes *b, size_t need)
{
    m->fd = spool_file(r->job->config->spool_dir);
    if (m->fd < 0)
        return fail(r, "cannot create a temporary file");
    if (!extend(r, m, need)) {
        close_mapping(m);
        return false;
    }
    if (b->count > 0)
        memcpy(m->bytes, b->bytes, b->count);
    parts_drop(r->memory, b->bytes, b->capacity, 1);
    return true;
}

bool repair_reserve(repair *r, parts_bytes *b, size_t size)
{
    size_t need = b->count + size;
    if (need <= b->capacity)
        return true;
    repair_mapping *m = b->bytes ? mapping_of(r, b->bytes) : NULL, *unused = mapping_of(r, NULL);
    if (!m && (need < SMALL || !unused))
        return parts_grow(r->memory, &b->bytes, &b->capacity, need, 1, r->error);
    if (m ? !extend(r, m, need) : !move_to_file(r, m = unused, b, need))
        return false;
    b->bytes = m->bytes;
    b->capacity = m->size;
    return true;
}

static size_t piece_of(size_t size)
{
    return size < RELEASED ? size : RELEASED;
}

bool repair_put(repair *r, parts_bytes *b, const void *bytes, size_t size)
{
    if (!repair_reserve(r, b, size))
        return false;
    const uint8_t *from = bytes;
    for (size_t piece; size > 0; size -= piece, from += piece) {
        piece = piece_of(size);
        memcpy(b->bytes + b->count, from, piece);
        b->count += piece;
        repair_release(r, piece);
    }
    return true;
}

bool repair_equal(const repair *r, const uint8_t *a, const uint8_t *b, size_t size)
{
    for (size_t piece; size > 0; size -= piece, a += piece, b += piece) {
        piece = piece_of(size);
        if (memcmp(a, b, piece) != 0)
            return false;
        repair_release(r, piece);
    }
    return true;
}

bool repair_complete(repair *r, parts_bytes *b)
{
    repair_mapping *m = b->bytes ? mapping_of(r, b->bytes) : NULL;
    if (!m)
        return true;
    void *bytes = mremap(m->bytes, m->size, b->count, 0);
    if (bytes == MAP_FAILED || ftruncate(m->fd, (off_t)b->count) < 0)
        return fail(r, "cannot write a temporary file");
    b->capacity = m->size = b->count;
    return true;
}

void repair_drop(repair *r, parts_bytes *b)
{
    repair_mapping *m = b->bytes ? mapping_of(r, b->bytes) : NULL;
    if (m)
        close_mapping(m);
    else
        parts_drop(r->memory, b->bytes, b->capacity, 1);
    *b = (parts_bytes){0};
}

void repair_release(const repair *r, size_t used)
{
    repair_store *store = r->store;
    store->unreleased += used;
    if (store->unreleased < RELEASED)
        return;
    store->unreleased = 0;
    for (size_t i = 0; i < REPAIR_MAPPINGS; i++)
        if (store->mapped[i].bytes)
            madvise(store->mapped[i].bytes, store->mapped[i].size, MADV_DONTNEED);
}

gotrace_status repair_source(repair *r, const uint8_t *bytes, size_t size,
                             const gotrace_config *config, gotrace_source **source)
{
    const repair_mapping *m = mapping_of(r, bytes);
    return m && m->size == size ? gotrace_source_fd(m->fd, config, source, r->error)
                                : gotrace_source_memory(bytes, size, config, source, r->error);
}
