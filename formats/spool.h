/*
 * spool.h - a queue of bytes that may be longer than memory, and whose contents can be changed
 * while they wait.
 *
 * A timeline is written in the order in which things begin, but much of what is to be written is
 * known only when they end. So it waits here, each thing at its beginning, and the ends are
 * filled in. What lies in the queue is kept in memory up to a window; the older part of more than
 * that goes to a temporary file without a name.
 */
#ifndef SPOOL_H
#define SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Open a file without a name, to write and to read, in that folder (NULL: $TMPDIR, else /var/tmp).
 * Returns its descriptor, or -1 with errno set. */
int spool_file(const char *folder);

/* Write to a file at its position: a gotrace_write_fn, whose ctx points to the descriptor. */
bool spool_write_file(void *fd, const void *bytes, size_t size);

#define SPOOL_NONE UINT64_MAX

/* Positions count the bytes ever pushed. [front, stored) lies in the file, [stored, end) in
 * memory at young. */
typedef struct spool {
    size_t window;
    unsigned char *young;
    size_t young_capacity;
    uint64_t stored, end, front;
    int fd;              /* -1 until the file is needed */
    uint64_t file_start; /* position of the file's first byte */
    unsigned char *old;  /* a piece of the file, read ahead */
    size_t old_capacity, old_size;
    uint64_t old_start; /* position of old's first byte */
    int error;          /* errno of the first failure; nothing more is done after it */
} spool;

/* False when memory is refused. */
bool spool_init(spool *s, size_t window);

/* Append some bytes and then some more, filled up to a multiple of 8: an entry. Returns the
 * position of its first byte, or SPOOL_NONE on failure. */
uint64_t spool_push(spool *s, const void *bytes, size_t size, const void *more, size_t more_size);

/* What spool_reserve does where there is no room. */
unsigned char *spool_more(spool *s, size_t size);

/* Append an entry to be filled in, before anything else is done with the queue: size bytes, a
 * multiple of 8, which end at s->end. NULL on failure. */
static inline unsigned char *spool_reserve(spool *s, size_t size)
{
    size_t used = (size_t)(s->end - s->stored);

    if (s->error != 0 || s->young_capacity - used < size)
        return spool_more(s, size);
    s->end += size;
    return s->young + used;
}

/* Overwrite bytes of an entry that is still in the queue. */
void spool_patch(spool *s, uint64_t position, const void *bytes, size_t size);

/* The first size bytes of the queue, at most an entry; NULL if it is empty, or on failure. Valid
 * until the next call other than spool_patch. */
const void *spool_front(spool *s, size_t size);

/* Take away a whole entry. */
void spool_pop(spool *s, size_t size);

/* Whether half the memory is full: what can be taken away should be taken now. */
bool spool_crowded(const spool *s);

void spool_free(spool *s);

#endif
