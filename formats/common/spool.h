/*
 * spool.h - a queue of bytes that may be larger than memory, and whose entries can be changed while
 * they are in it.
 *
 * A timeline is written in the order of begin times, but much of a slice is known only when it
 * ends. So each slice is queued at its beginning, and its end is filled in later. The queue
 * consists of blocks. A block is taken from the queue as a whole when none of its entries is open;
 * another thread may then read it. Blocks are kept in memory up to a window; older blocks go to a
 * temporary file without a name.
 */
#ifndef SPOOL_H
#define SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Opens a file without a name for reading and writing in that folder (NULL: $TMPDIR, else
 * /var/tmp). Returns its descriptor, or -1 with errno set. */
int spool_file(const char *folder);

/* Writes to a file at its position: a gotrace_write_fn, whose ctx points to the descriptor. */
bool spool_write_file(void *fd, const void *bytes, size_t size);

#define SPOOL_NONE UINT64_MAX

/* A block that was taken from the queue: whole entries. */
typedef struct spool_taken {
    unsigned char *bytes;
    size_t used, capacity;
} spool_taken;

typedef struct spool_block {
    unsigned char *bytes; /* NULL: in the file */
    uint64_t at;          /* offset in the file */
    size_t used, capacity;
    uint64_t open; /* number of its entries that are not complete */
} spool_block;

/* An entry's position is the number of its block, with the offset in the block in the lowest bits.
 * Blocks [front, stored) are in the file, [stored, end) in memory; the last block is being
 * filled. */
typedef struct spool {
    size_t window, in_memory;
    size_t taken;        /* memory of blocks that were taken and not released */
    unsigned shift;      /* a block has 1 << shift bytes, or one larger entry */
    spool_block *blocks; /* indexed by the lowest bits of block numbers */
    size_t capacity;     /* a power of two */
    uint64_t front, stored, end;
    unsigned char *fill, *limit; /* free space of the last block */
    unsigned char *last;         /* bytes of the last block */
    unsigned char **spare;       /* memory of released blocks */
    size_t spares, spare_capacity;
    int fd; /* -1 until the file is needed */
    uint64_t file_end;
    int error; /* errno of the first failure; later calls do nothing */
} spool;

/* False if memory is refused. */
bool spool_init(spool *s, size_t window, unsigned shift);

/* The slow path of spool_reserve: the last block has no room. */
unsigned char *spool_reserve_slow(spool *s, size_t size, uint64_t *position);

/* Appends an entry of size bytes. The caller fills it before any other call. NULL on failure. */
static inline unsigned char *spool_reserve(spool *s, size_t size, uint64_t *position)
{
    if ((size_t)(s->limit - s->fill) < size)
        return spool_reserve_slow(s, size, position);
    unsigned char *at = s->fill;
    s->fill += size;
    *position = (s->end - 1) << s->shift | (uint64_t)(at - s->last);
    return at;
}

/* An entry in memory; NULL if its block is in the file or was taken. */
static inline unsigned char *spool_at(const spool *s, uint64_t position)
{
    uint64_t number = position >> s->shift;

    if (number < s->stored || number >= s->end)
        return NULL;
    return s->blocks[number & (s->capacity - 1)].bytes +
           (position & (((uint64_t)1 << s->shift) - 1));
}

/* spool_open marks an entry as incomplete; spool_close marks it as complete. */
static inline void spool_open(spool *s, uint64_t position)
{
    s->blocks[position >> s->shift & (s->capacity - 1)].open++;
}

static inline void spool_close(spool *s, uint64_t position)
{
    s->blocks[position >> s->shift & (s->capacity - 1)].open--;
}

/* The slow path of spool_patch: the entry is not in memory. */
bool spool_patch_stored(spool *s, uint64_t position, size_t offset, const void *bytes, size_t size);

/* Overwrites bytes of an entry from offset on, in memory or in the file. False on failure or if the
 * block was taken. */
static inline bool spool_patch(spool *s, uint64_t position, size_t offset, const void *bytes,
                               size_t size)
{
    unsigned char *entry = spool_at(s, position);

    if (!entry)
        return spool_patch_stored(s, position, offset, bytes, size);
    memcpy(entry + offset, bytes, size);
    return true;
}

/* Takes the first block if it is complete (with `open`: also if it is not). The last block, which
 * may still be filled, is taken only with `all`. Release the block with spool_release. */
bool spool_take(spool *s, bool all, bool open, spool_taken *taken);
void spool_release(spool *s, const spool_taken *taken);

static inline bool spool_is_empty(const spool *s)
{
    return s->front == s->end;
}

void spool_free(spool *s);

#endif
