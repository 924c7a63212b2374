/* spool.c - see spool.h. */
#include "spool.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { READ_AHEAD = 256 * 1024, FIRST_YOUNG = 512 * 1024 };

bool spool_init(spool *s, size_t window)
{
    size_t first = window < FIRST_YOUNG ? window : FIRST_YOUNG;

    *s = (spool){.window = window, .young_capacity = first, .fd = -1, .young = malloc(first)};
    if (!s->young)
        s->error = ENOMEM;
    return s->young != NULL;
}

void spool_free(spool *s)
{
    if (s->fd >= 0)
        close(s->fd);
    free(s->young);
    free(s->old);
    *s = (spool){.fd = -1, .error = EINVAL};
}

static bool fail(spool *s, int error)
{
    if (s->error == 0)
        s->error = error;
    return false;
}

/* Make a file and take its name away, without a signal between. */
static int make_and_unlink(const char *folder)
{
    char path[4096];
    sigset_t all, before;
    int length = snprintf(path, sizeof path, "%s/gotrace-XXXXXX", folder);
    if (length < 0 || (size_t)length >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int fd = mkostemp(path, O_CLOEXEC);
    int error = errno;
    if (fd >= 0)
        unlink(path);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return fd;
}

int spool_file(const char *folder)
{
    if (!folder)
        folder = getenv("TMPDIR");
    if (!folder || !*folder)
        folder = "/var/tmp";
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    /* Not every file system has files without a name. */
    if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT))
        fd = make_and_unlink(folder);
    return fd;
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

static bool write_at(spool *s, const unsigned char *bytes, size_t size, uint64_t position)
{
    while (size > 0) {
        ssize_t n = pwrite(s->fd, bytes, size, (off_t)(position - s->file_start));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return fail(s, n < 0 ? errno : EIO);
        bytes += n;
        size -= (size_t)n;
        position += (uint64_t)n;
    }
    return true;
}

/* Move what is in memory to the file. */
static bool store(spool *s)
{
    if (s->fd < 0 && !open_file(s))
        return false;
    if (s->front == s->stored)
        s->file_start = s->stored;
    if (!write_at(s, s->young, (size_t)(s->end - s->stored), s->stored))
        return false;
    s->stored = s->end;
    return true;
}

/* Twice as much memory, and that many bytes at least. What fits into the processor's cache is
 * faster than what does not, so that it does not have the whole window from the start. */
static bool more_memory(spool *s, size_t least)
{
    size_t capacity = 2 * s->young_capacity < s->window ? 2 * s->young_capacity : s->window;

    if (capacity < least)
        capacity = least;
    unsigned char *larger = realloc(s->young, capacity);
    if (!larger)
        return fail(s, ENOMEM);
    s->young = larger;
    s->young_capacity = capacity;
    return true;
}

/* Make room in memory for size bytes more. */
static bool make_room(spool *s, size_t size)
{
    /* Bytes already taken from the front, if that lies in memory. */
    size_t taken = s->front > s->stored ? (size_t)(s->front - s->stored) : 0;
    size_t used = (size_t)(s->end - s->stored);

    if (taken >= s->young_capacity / 4 || taken == used) {
        memmove(s->young, s->young + taken, used - taken);
        s->stored += taken;
        used -= taken;
        if (s->young_capacity - used >= size)
            return true;
    }
    if (s->young_capacity < s->window)
        return more_memory(s, used + size);
    if (used > 0) {
        /* The taken bytes at its start go to the file too, which is simpler and does no harm. */
        uint64_t front = s->front;
        if (front > s->stored)
            s->front = s->stored;
        bool stored = store(s);
        s->front = front;
        if (!stored)
            return false;
    }
    if (size > s->young_capacity) {
        unsigned char *larger = realloc(s->young, size);
        if (!larger)
            return fail(s, ENOMEM);
        s->young = larger;
        s->young_capacity = size;
    }
    return true;
}

unsigned char *spool_more(spool *s, size_t size)
{
    if (s->error != 0)
        return NULL;
    if (s->young_capacity - (size_t)(s->end - s->stored) < size && !make_room(s, size))
        return NULL;
    unsigned char *at = s->young + (s->end - s->stored);
    s->end += size;
    return at;
}

uint64_t spool_push(spool *s, const void *bytes, size_t size, const void *more, size_t more_size)
{
    size_t whole = (size + more_size + 7) / 8 * 8;
    unsigned char *at = spool_reserve(s, whole);

    if (!at)
        return SPOOL_NONE;
    memcpy(at, bytes, size);
    if (more_size > 0)
        memcpy(at + size, more, more_size);
    memset(at + size + more_size, 0, whole - size - more_size);
    return s->end - whole;
}

/* Copy to buffer, which holds [start, start + length), what of bytes at position falls into it. */
static void overlay(unsigned char *buffer, uint64_t start, uint64_t length, uint64_t position,
                    const unsigned char *bytes, size_t size)
{
    uint64_t from = position > start ? position : start;
    uint64_t to = position + size < start + length ? position + size : start + length;

    if (from < to)
        memcpy(buffer + (from - start), bytes + (from - position), (size_t)(to - from));
}

void spool_patch(spool *s, uint64_t position, const void *bytes, size_t size)
{
    if (s->error != 0 || position < s->front || position + size > s->end)
        return;
    overlay(s->young, s->stored, s->end - s->stored, position, bytes, size);
    if (position < s->stored) {
        /* Entries are stored whole, so that nothing of it is in memory. */
        write_at(s, bytes, size, position);
        overlay(s->old, s->old_start, s->old_size, position, bytes, size);
    }
}

/* Read ahead in the file from the front on, size bytes at least. */
static bool read_old(spool *s, size_t size)
{
    size_t want = size > READ_AHEAD ? size : READ_AHEAD;

    if (want > s->old_capacity) {
        unsigned char *larger = realloc(s->old, want);
        if (!larger)
            return fail(s, ENOMEM);
        s->old = larger;
        s->old_capacity = want;
    }
    if (want > s->stored - s->front)
        want = (size_t)(s->stored - s->front);
    s->old_start = s->front;
    s->old_size = 0;
    while (s->old_size < want) {
        ssize_t n = pread(s->fd, s->old + s->old_size, want - s->old_size,
                          (off_t)(s->front + s->old_size - s->file_start));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return fail(s, n < 0 ? errno : EIO);
        s->old_size += (size_t)n;
    }
    return true;
}

const void *spool_front(spool *s, size_t size)
{
    if (s->error != 0 || s->end - s->front < size)
        return NULL;
    if (s->front >= s->stored)
        return s->young + (s->front - s->stored);
    if (s->stored - s->front < size)
        return NULL;
    if (s->front < s->old_start || s->front + size > s->old_start + s->old_size)
        if (!read_old(s, size))
            return NULL;
    return s->old + (s->front - s->old_start);
}

void spool_pop(spool *s, size_t size)
{
    s->front += size;
    /* When all that was stored is gone its place on the disk is used again. */
    if (s->fd >= 0 && s->front == s->stored) {
        s->file_start = s->stored;
        s->old_size = 0;
        if (ftruncate(s->fd, 0) != 0)
            fail(s, errno);
    }
}

bool spool_crowded(const spool *s)
{
    uint64_t used = s->end - (s->front > s->stored ? s->front : s->stored);
    return used > s->young_capacity / 2;
}
