/*
 * store.c - traces that are larger than memory.
 *
 * A trace that repair reads or makes is at most SMALL bytes in memory; otherwise it is written to a
 * temporary file without a name, which is mapped when it is complete. So the steps use pointers
 * wherever the bytes are. Pages of the mapping that were read are released, and the reader reads
 * the file through its windows, so that what is resident does not depend on the size of the trace.
 * Space is allocated by writing, before the file is mapped: a full disk is an error of a write. */
#include <assert.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cmd/repair/repair.h"
#include "formats/common/spool.h"

enum {
    SMALL = 4 << 20,   /* bytes kept in memory before they are written */
    RELEASED = 8 << 20 /* bytes read between two calls of madvise */
};

static bool fail(repair *r, const char *what)
{
    int why = errno;
    fill_error(r->error, GOTRACE_RULE_SYSTEM_WRITE, GOTRACE_NO_OFFSET, "%s: %s", what,
               strerror(why));
    r->error->os_error = why;
    return false;
}

static uint64_t limit_of(const repair *r)
{
    const uint64_t usual = UINT64_C(64) << 30; /* the library's default */
    const gotrace_limits *limits = r->job->config->limits;
    return limits && limits->input ? limits->input : usual;
}

static bool check_limit(repair *r, const repair_spill *s)
{
    uint64_t limit = limit_of(r);
    if (s->bytes->count <= limit && s->stored <= limit - s->bytes->count)
        return true;
    fill_error(r->error, GOTRACE_RULE_SYSTEM_LIMIT, GOTRACE_NO_OFFSET,
               "a temporary file needs more than %llu bytes, the limit", (unsigned long long)limit);
    r->error->limit = GOTRACE_LIMIT_INPUT;
    return false;
}

/* Move the bytes from memory to the file. */
static bool store(repair *r, repair_spill *s)
{
    if (!check_limit(r, s))
        return false;
    if (s->stored == 0) {
        s->fd = spool_file(r->job->config->spool_dir);
        if (s->fd < 0)
            return fail(r, "cannot create a temporary file");
    }
    bool written = spool_write_file(&s->fd, s->bytes->bytes, s->bytes->count);
    if (!written)
        fail(r, "cannot write a temporary file");
    s->stored += s->bytes->count;
    s->bytes->count = 0;
    return written;
}

bool repair_spill_some(repair *r, repair_spill *s)
{
    return s->bytes->count < SMALL || store(r, s);
}

static repair_mapping *mapping_of(repair *r, const uint8_t *bytes)
{
    for (size_t i = 0; i < REPAIR_MAPPINGS; i++)
        if (r->mapped[i].bytes == bytes)
            return &r->mapped[i];
    return NULL;
}

/* Map the file, which the mapping owns then. */
static bool map(repair *r, repair_spill *s)
{
    repair_mapping *place = mapping_of(r, NULL);
    assert(place); /* REPAIR_MAPPINGS says what they are for */
    void *bytes = mmap(NULL, s->stored, PROT_READ, MAP_SHARED, s->fd, 0);
    if (bytes == MAP_FAILED)
        return fail(r, "cannot map a temporary file");
    /* A source reads a file in place only if nobody has moved its position. */
    lseek(s->fd, 0, SEEK_SET);
    *place = (repair_mapping){bytes, s->stored, s->fd};
    *s->bytes = (parts_bytes){.bytes = bytes, .count = s->stored};
    return true;
}

bool repair_spill_end(repair *r, repair_spill *s, bool complete)
{
    if (s->stored == 0)
        return complete;
    bool done = complete && store(r, s);
    repair_drop(r, s->bytes);
    done = done && map(r, s);
    if (!done)
        close(s->fd);
    s->stored = 0;
    return done;
}

void repair_drop(repair *r, parts_bytes *b)
{
    repair_mapping *m = b->capacity == 0 && b->bytes ? mapping_of(r, b->bytes) : NULL;
    if (m) {
        munmap(m->bytes, m->size);
        close(m->fd);
        *m = (repair_mapping){0};
    } else {
        parts_drop(r->memory, b->bytes, b->capacity, 1);
    }
    *b = (parts_bytes){0};
}

void repair_release(repair *r, size_t read)
{
    r->unreleased += read;
    if (r->unreleased < RELEASED)
        return;
    r->unreleased = 0;
    for (size_t i = 0; i < REPAIR_MAPPINGS; i++)
        if (r->mapped[i].bytes)
            madvise(r->mapped[i].bytes, r->mapped[i].size, MADV_DONTNEED);
}

gotrace_status repair_source(repair *r, const uint8_t *bytes, size_t size,
                             const gotrace_config *config, gotrace_source **source)
{
    const repair_mapping *m = mapping_of(r, bytes);
    return m && m->size == size ? gotrace_source_fd(m->fd, config, source, r->error)
                                : gotrace_source_memory(bytes, size, config, source, r->error);
}
