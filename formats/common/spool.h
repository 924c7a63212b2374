/*
 * spool.h - a queue of bytes that may be longer than memory, and whose contents can be changed
 * while they wait.
 *
 * A timeline is written in the order in which things begin, but much of what is to be written is
 * known only when they end. So it waits here, each thing at its beginning, and the ends are
 * filled in. The queue consists of blocks, which are taken away whole, each when nothing in it is
 * open any more: whoever takes one may read it in another thread. Blocks are kept in memory up to a
 * window; the older part of more than that goes to a temporary file without a name.
 */
#ifndef SPOOL_H
#define SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Open a file without a name, to write and to read, in that folder (NULL: $TMPDIR, else /var/tmp).
 * Returns its descriptor, or -1 with errno set. */
int spool_file(const char *folder);

/* Write to a file at its position: a gotrace_write_fn, whose ctx points to the descriptor. */
bool spool_write_file(void *fd, const void *bytes, size_t size);

#define SPOOL_NONE UINT64_MAX

/* A block that was taken away: whole entries. */
typedef struct spool_taken {
    unsigned char *bytes;
    size_t used, capacity;
} spool_taken;

typedef struct spool_block {
    unsigned char *bytes; /* NULL: in the file */
    uint64_t at;          /* there */
    size_t used, capacity;
    uint64_t open; /* entries of it that are not complete */
} spool_block;

/* An entry's position is its block's number, and its place there in the lowest bits. Blocks
 * [front, stored) lie in the file, [stored, end) in memory; the last one is being filled. */
typedef struct spool {
    size_t window, in_memory;
    unsigned shift;      /* a block has 1 << shift bytes, unless it has one entry that is larger */
    spool_block *blocks; /* by the lowest bits of their numbers */
    size_t capacity;     /* a power of two */
    uint64_t front, stored, end;
    unsigned char *fill, *limit; /* what is free of the last block */
    unsigned char *last;         /* that block's bytes */
    unsigned char **spare;       /* memory of blocks that were taken, given back */
    size_t spares, spare_capacity;
    int fd; /* -1 until the file is needed */
    uint64_t file_end;
    int error; /* errno of the first failure; nothing more is done after it */
} spool;

/* False when memory is refused. */
bool spool_init(spool *s, size_t window, unsigned shift);

/* What spool_reserve does where the last block has no room. */
unsigned char *spool_more(spool *s, size_t size, uint64_t *position);

/* Append an entry to be filled in, before anything else is done with the queue: size bytes. NULL on
 * failure. */
static inline unsigned char *spool_reserve(spool *s, size_t size, uint64_t *position)
{
    if ((size_t)(s->limit - s->fill) < size)
        return spool_more(s, size, position);
    unsigned char *at = s->fill;
    s->fill += size;
    *position = (s->end - 1) << s->shift | (uint64_t)(at - s->last);
    return at;
}

/* An entry of the queue in memory; NULL if it is not there (any more). */
static inline unsigned char *spool_at(const spool *s, uint64_t position)
{
    uint64_t number = position >> s->shift;

    if (number < s->stored || number >= s->end)
        return NULL;
    return s->blocks[number & (s->capacity - 1)].bytes +
           (position & (((uint64_t)1 << s->shift) - 1));
}

/* Say that an entry of the queue is not complete yet, and that it is. */
static inline void spool_open(spool *s, uint64_t position)
{
    s->blocks[position >> s->shift & (s->capacity - 1)].open++;
}

static inline void spool_close(spool *s, uint64_t position)
{
    s->blocks[position >> s->shift & (s->capacity - 1)].open--;
}

/* What spool_patch does where the entry is not in memory. */
bool spool_patch_stored(spool *s, uint64_t position, size_t offset, const void *bytes, size_t size);

/* Overwrite bytes of an entry, from offset on, wherever it lies; false if it was taken, or on
 * failure. */
static inline bool spool_patch(spool *s, uint64_t position, size_t offset, const void *bytes,
                               size_t size)
{
    unsigned char *entry = spool_at(s, position);

    if (!entry)
        return spool_patch_stored(s, position, offset, bytes, size);
    memcpy(entry + offset, bytes, size);
    return true;
}

/* Take away the first block, to be given back, if it is complete; the last one, which may still be
 * filled, only if all is to be taken. open: also what is not complete. */
bool spool_take(spool *s, bool all, bool open, spool_taken *taken);
void spool_give_back(spool *s, const spool_taken *taken);

static inline bool spool_is_empty(const spool *s)
{
    return s->front == s->end;
}

void spool_free(spool *s);

#endif
