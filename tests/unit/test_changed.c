/*
 * test_changed.c - a file that another process changes or truncates while it is read, at any time:
 * an error, or the events as they were. v1 is read twice; with two threads, the second one reads
 * ahead; compressed data is read once, to a temporary file.
 */
#include "reading.h"
#include "support.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

typedef enum change { CUT, EMPTIED, ZEROED, OTHER, FLIPPED, CHANGES } change;

enum {
    WINDOW = 16, /* small, so that there is something to read ahead */
    SOME = 50,   /* changes, with several threads */
};

/* A file that is changed at the n-th allocation of the reader. */
typedef struct changing {
    uint64_t calls, change_at;
    change how;
    int fd;
    size_t threads;
    pthread_mutex_t lock; /* of calls */
    blob before;
    const blob *other;
} changing;

static void write_at(const changing *c, const void *bytes, size_t size, size_t at)
{
    ck_assert_int_eq(pwrite(c->fd, bytes, size, (off_t)at), (ssize_t)size);
}

static void change_file(const changing *c)
{
    static const uint8_t zeros[1 << 16];
    const size_t half = c->before.size / 2;
    switch (c->how) {
    case CUT: ck_assert_int_eq(ftruncate(c->fd, (off_t)half), 0); break;
    case EMPTIED: ck_assert_int_eq(ftruncate(c->fd, 0), 0); break;
    case ZEROED: write_at(c, zeros, c->before.size - half, half); break;
    case OTHER: write_at(c, c->other->bytes, c->other->size, 0); break;
    case FLIPPED:
        for (size_t at = 16; at < c->before.size; at += 97) {
            const uint8_t byte = c->before.bytes[at] ^ (uint8_t)(1 << at % 8);
            write_at(c, &byte, 1, at);
        }
        break;
    case CHANGES: break;
    }
}

static void *resize(void *ctx, void *block, size_t old_size, size_t new_size)
{
    changing *c = ctx;
    (void)old_size;
    if (new_size == 0) {
        free(block);
        return NULL;
    }
    pthread_mutex_lock(&c->lock);
    if (c->calls++ == c->change_at)
        change_file(c);
    pthread_mutex_unlock(&c->lock);
    return realloc(block, new_size);
}

static reading read_changing(changing *c, enum reading_way way)
{
    gotrace_source *source;
    const gotrace_config config = {.allocator = {.resize = resize, .ctx = c},
                                   .threads = c->threads,
                                   .window = c->threads > 1 ? WINDOW : 0};
    ck_assert_int_eq(ftruncate(c->fd, 0), 0);
    write_at(c, c->before.bytes, c->before.size, 0);
    ck_assert_int_eq(lseek(c->fd, 0, SEEK_SET), 0);
    c->calls = 0;
    reading r = {.status = gotrace_source_fd(c->fd, &config, &source, &r.error)};
    if (r.status != GOTRACE_OK)
        return r; /* compressed */
    r = reading_of_source(source, &config, way);
    gotrace_source_close(source);
    return r;
}

static void compress(blob *b)
{
    const size_t room = ZSTD_compressBound(b->size);
    blob packed = {.bytes = malloc(room), .capacity = room};
    ck_assert_ptr_nonnull(packed.bytes);
    packed.size = ZSTD_compress(packed.bytes, room, b->bytes, b->size, 3);
    ck_assert(!ZSTD_isError(packed.size));
    blob_free(b);
    *b = packed;
}

static void read_all_changes(const char *name, const char *other_name, enum reading_way way,
                             size_t threads, bool packed)
{
    blob other = trace_sample(other_name);
    FILE *file = tmpfile();
    ck_assert_ptr_nonnull(file);
    changing c = {.fd = fileno(file),
                  .threads = threads,
                  .lock = PTHREAD_MUTEX_INITIALIZER,
                  .before = trace_sample(name),
                  .other = &other};
    if (packed) {
        compress(&c.before);
        compress(&other);
    }
    c.change_at = UINT64_MAX;
    const reading sound = read_changing(&c, way);
    const uint64_t calls = c.calls;
    const uint64_t step = threads > 1 ? 1 + calls / SOME : SWEEP_STEP;
    size_t seen = 0;
    ck_assert_int_eq(sound.status, GOTRACE_END);
    for (c.how = CUT; c.how < CHANGES; c.how++) {
        for (c.change_at = 0; c.change_at < calls; c.change_at += step) {
            const reading r = read_changing(&c, way);
            const bool found = r.status < 0 || r.problem_count > 0;
            ck_assert(r.status < 0 || r.status == GOTRACE_END);
            if (c.how <= ZEROED && !found) {
                ck_assert_uint_eq(r.digest, sound.digest);
                ck_assert_uint_eq(r.summary.events, sound.summary.events);
            }
            seen += found;
        }
    }
    ck_assert_uint_gt(seen, 0);
    fclose(file);
    blob_free(&c.before);
    blob_free(&other);
}

START_TEST(v1)
{
    read_all_changes("go1.21-restart-3.trace", "go1.19-http.trace", READING_NEXT, 1, false);
    read_all_changes("go1.19-http.trace", "go1.21-restart-3.trace", READING_CHECK, 1, false);
}
END_TEST

START_TEST(v2)
{
    read_all_changes("go1.25-gensprof.trace", "go1.22-gensgc.trace", READING_NEXT, 1, false);
    read_all_changes("go1.22-gensgc.trace", "go1.25-gensprof.trace", READING_CHECK, 1, false);
}
END_TEST

START_TEST(threads)
{
    read_all_changes("go1.19-http.trace", "go1.21-restart-3.trace", READING_CHECK, 2, false);
    read_all_changes("go1.22-gensgc.trace", "go1.25-gensprof.trace", READING_CHECK, 2, false);
}
END_TEST

START_TEST(compressed)
{
    read_all_changes("go1.19-http.trace", "go1.21-restart-3.trace", READING_CHECK, 1, true);
    read_all_changes("go1.22-gensgc.trace", "go1.25-gensprof.trace", READING_CHECK, 2, true);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("changed");
    TCase *cases = tcase_create("changed");
    tcase_add_test(cases, v1);
    tcase_add_test(cases, v2);
    tcase_add_test(cases, threads);
    tcase_add_test(cases, compressed);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
