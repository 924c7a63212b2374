/* spool.c - see spool.h. */
#include "formats/common/spool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/temp_file.h"

enum { FIRST_BLOCKS = 16 };

bool spool_init(spool *s, size_t window, unsigned shift)
{
    *s = (spool){.window = window,
                 .shift = shift,
                 .fd = -1,
                 .capacity = FIRST_BLOCKS,
                 .blocks = malloc(FIRST_BLOCKS * sizeof *s->blocks)};
    if (!s->blocks)
        s->error = ENOMEM;
    return s->blocks != NULL;
}

static spool_block *block_of(const spool *s, uint64_t number)
{
    return &s->blocks[number & (s->capacity - 1)];
}

void spool_free(spool *s)
{
    for (uint64_t number = s->stored; number < s->end; number++)
        free(block_of(s, number)->bytes);
    while (s->spares > 0)
        free(s->spare[--s->spares]);
    free(s->spare);
    free(s->blocks);
    if (s->fd >= 0)
        close(s->fd);
    *s = (spool){.fd = -1, .error = EINVAL};
}

static bool fail(spool *s, int error)
{
    if (s->error == 0)
        s->error = error;
    return false;
}

/* ---- the file ------------------------------------------------------------------------------ */

int spool_file(const char *folder)
{
    return gt_temp_file(gt_temp_folder(folder));
}

bool spool_write_file(void *fd, const void *bytes, size_t size)
{
    const char *p = bytes;
    while (size > 0) {
        ssize_t put = write(*(int *)fd, p, size);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        p += put;
        size -= (size_t)put;
    }
    return true;
}

static bool open_file(spool *s)
{
    s->fd = spool_file(NULL);
    return s->fd >= 0 || fail(s, errno);
}

/* Copies bytes from memory to that offset of the file, or (from is NULL) from the file to
 * memory. */
static bool move_bytes(spool *s, const unsigned char *from, unsigned char *to, size_t size,
                       uint64_t at)
{
    for (size_t done = 0; done < size;) {
        off_t place = (off_t)(at + done);
        ssize_t n = from ? pwrite(s->fd, from + done, size - done, place)
                         : pread(s->fd, to + done, size - done, place);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return fail(s, n < 0 ? errno : EIO);
        done += (size_t)n;
    }
    return true;
}

/* ---- memory -------------------------------------------------------------------------------- */

/* Reuses the spare block that was released last, because it is likely in the CPU cache. */
static unsigned char *memory_for(spool *s, size_t capacity)
{
    bool usual = capacity == (size_t)1 << s->shift;
    unsigned char *bytes = usual && s->spares > 0 ? s->spare[--s->spares] : malloc(capacity);

    if (!bytes)
        fail(s, ENOMEM);
    return bytes;
}

static void no_memory_for(spool *s, unsigned char *bytes, size_t capacity)
{
    if (capacity == (size_t)1 << s->shift && s->spares == s->spare_capacity) {
        size_t more = s->spares > 0 ? 2 * s->spares : FIRST_BLOCKS;
        unsigned char **larger = realloc(s->spare, more * sizeof *larger);
        s->spare = larger ? larger : s->spare;
        s->spare_capacity = larger ? more : s->spare_capacity;
    }
    if (capacity == (size_t)1 << s->shift && s->spares < s->spare_capacity)
        s->spare[s->spares++] = bytes;
    else
        free(bytes);
}

/* Moves the oldest block in memory to the file. */
static bool store(spool *s)
{
    spool_block *block = block_of(s, s->stored);

    if (s->fd < 0 && !open_file(s))
        return false;
    if (s->stored == s->front)
        s->file_end = 0;
    if (!move_bytes(s, block->bytes, NULL, block->used, s->file_end))
        return false;
    block->at = s->file_end;
    s->file_end += block->used;
    no_memory_for(s, block->bytes, block->capacity);
    block->bytes = NULL;
    s->in_memory -= block->capacity;
    s->stored++;
    return true;
}

static bool more_blocks(spool *s)
{
    spool_block *blocks = malloc(2 * s->capacity * sizeof *blocks);

    if (!blocks)
        return fail(s, ENOMEM);
    for (uint64_t number = s->front; number < s->end; number++)
        blocks[number & (2 * s->capacity - 1)] = *block_of(s, number);
    free(s->blocks);
    s->blocks = blocks;
    s->capacity *= 2;
    return true;
}

/* Ends the last block: no more entries go into it. */
static void close_last(spool *s)
{
    if (s->last)
        block_of(s, s->end - 1)->used = (size_t)(s->fill - s->last);
    s->last = s->fill = s->limit = NULL;
}

unsigned char *spool_reserve_slow(spool *s, size_t size, uint64_t *position)
{
    size_t usual = (size_t)1 << s->shift, capacity = size > usual ? size : usual;

    *position = SPOOL_NONE;
    if (s->error != 0)
        return NULL;
    close_last(s);
    while (s->stored < s->end && s->in_memory + capacity > s->window)
        if (!store(s))
            return NULL;
    if (s->end - s->front == s->capacity && !more_blocks(s))
        return NULL;
    unsigned char *bytes = memory_for(s, capacity);
    if (!bytes)
        return NULL;
    *block_of(s, s->end) = (spool_block){.bytes = bytes, .capacity = capacity};
    s->in_memory += capacity;
    s->last = bytes;
    s->fill = bytes + size;
    s->limit = bytes + capacity;
    *position = s->end++ << s->shift;
    return bytes;
}

/* ---- access to entries ----------------------------------------------------------------------- */

/* Whether the entry's block is in the file, and the entry's offset there. */
static bool in_file(const spool *s, uint64_t position, uint64_t *at)
{
    uint64_t number = position >> s->shift;

    if (s->error != 0 || number < s->front || number >= s->stored)
        return false;
    *at = block_of(s, number)->at + (position & (((uint64_t)1 << s->shift) - 1));
    return true;
}

bool spool_patch_stored(spool *s, uint64_t position, size_t offset, const void *bytes, size_t size)
{
    uint64_t at;

    return in_file(s, position, &at) && move_bytes(s, bytes, NULL, size, at + offset);
}

/* Reads the first block from the file. */
static bool fetch(spool *s, spool_block *block)
{
    unsigned char *bytes = memory_for(s, block->capacity);

    if (!bytes || !move_bytes(s, NULL, bytes, block->used, block->at)) {
        free(bytes);
        return false;
    }
    block->bytes = bytes;
    return true;
}

bool spool_take(spool *s, bool all, bool open, spool_taken *taken)
{
    spool_block *block = block_of(s, s->front);

    if (s->error != 0 || s->front == s->end || (block->open > 0 && !open))
        return false;
    if (s->front + 1 == s->end && s->last) {
        if (!all)
            return false;
        close_last(s);
    }
    if (s->front < s->stored) {
        if (!fetch(s, block))
            return false;
    } else {
        s->in_memory -= block->capacity;
        s->stored++;
    }
    *taken = (spool_taken){block->bytes, block->used, block->capacity};
    s->taken += block->capacity;
    s->front++;
    /* When no stored block is left, its space on disk is reused. */
    if (s->front == s->stored && s->file_end > 0) {
        s->file_end = 0;
        if (ftruncate(s->fd, 0) != 0)
            fail(s, errno);
    }
    return true;
}

void spool_release(spool *s, const spool_taken *taken)
{
    s->taken -= taken->capacity;
    no_memory_for(s, taken->bytes, taken->capacity);
}
