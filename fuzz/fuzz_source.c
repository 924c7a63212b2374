/*
 * fuzz_source.c - sources: bytes from memory, a file and a pipe are the same, compressed or not,
 * and can be read at any offset.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common.h"

typedef struct outcome {
    gotrace_status status;
    gotrace_rule rule; /* of the error, or of the damage of the compressed data */
    uint64_t size, compressed, digest;
} outcome;

static void read_all(gotrace_source *source, outcome *o)
{
    uint8_t buffer[4096], again[64];
    uint64_t state = o->size | 1;
    size_t got;
    for (uint64_t at = 0; at < o->size; at += got) {
        REQUIRE(gotrace_source_read(source, at, buffer, sizeof buffer, &got, NULL) == GOTRACE_OK);
        REQUIRE(got == (o->size - at < sizeof buffer ? o->size - at : sizeof buffer));
        digest_write(&o->digest, buffer, got);
        size_t from = (size_t)(fuzz_random(&state) % got), some;
        REQUIRE(gotrace_source_read(source, at + from, again, sizeof again, &some, NULL) ==
                GOTRACE_OK);
        size_t common = some < got - from ? some : got - from;
        REQUIRE(memcmp(again, buffer + from, common) == 0);
    }
    REQUIRE(gotrace_source_read(source, o->size, buffer, 1, &got, NULL) == GOTRACE_OK);
    REQUIRE(got == 0);
    REQUIRE(gotrace_source_read(source, UINT64_MAX, buffer, 1, &got, NULL) == GOTRACE_OK);
    REQUIRE(got == 0);
}

static outcome finish(gotrace_status status, gotrace_source *source, const gotrace_error *error)
{
    outcome o = {.status = status, .digest = 14695981039346656037u};
    if (status < 0) {
        REQUIRE(source == NULL);
        o.rule = error->rule;
        return o;
    }
    o.size = gotrace_source_size(source);
    o.compressed = gotrace_source_compressed_size(source);
    const gotrace_error *damage = gotrace_source_error(source);
    if (damage) {
        REQUIRE(o.compressed > 0 && o.size > 0 && damage->offset == o.size);
        o.rule = damage->rule;
    }
    read_all(source, &o);
    gotrace_source_close(source);
    return o;
}

static outcome from_memory(const uint8_t *data, size_t size)
{
    gotrace_source *source;
    gotrace_error error = {0};
    gotrace_status status = gotrace_source_memory(data, size, NULL, &source, &error);
    return finish(status, source, &error);
}

static outcome from_file(const uint8_t *data, size_t size)
{
    gotrace_source *source;
    gotrace_error error = {0};
    int fd = memfd_create("fuzz", 0);
    REQUIRE(fd >= 0);
    REQUIRE(pwrite(fd, data, size, 0) == (ssize_t)size);
    gotrace_status status = gotrace_source_fd(fd, NULL, &source, &error);
    outcome o = finish(status, source, &error);
    close(fd);
    return o;
}

/* Read from a pipe, if the data fits into its buffer. */
static outcome from_pipe(const uint8_t *data, size_t size)
{
    gotrace_source *source;
    gotrace_error error = {0};
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    REQUIRE(write(ends[1], data, size) == (ssize_t)size);
    close(ends[1]);
    gotrace_status status = gotrace_source_fd(ends[0], NULL, &source, &error);
    outcome o = finish(status, source, &error);
    close(ends[0]);
    return o;
}

static void same(const outcome *a, const outcome *b)
{
    REQUIRE(a->status == b->status && a->rule == b->rule);
    REQUIRE(a->size == b->size && a->compressed == b->compressed && a->digest == b->digest);
}

static void compare(const uint8_t *data, size_t size)
{
    outcome memory = from_memory(data, size), file = from_file(data, size);
    same(&memory, &file);
    if (size <= 60000) {
        outcome pipe = from_pipe(data, size);
        same(&memory, &pipe);
    }
    if (memory.status == GOTRACE_OK && memory.compressed == 0)
        REQUIRE(memory.size == size);
}

/* Compare the same bytes after the magic number of a compressed format. */
static void compare_after(const void *magic, size_t magic_size, const uint8_t *data, size_t size)
{
    bytes packed = {NULL, 0, 0};
    bytes_write(&packed, magic, magic_size);
    bytes_write(&packed, data, size);
    compare(packed.data, packed.size);
    bytes_free(&packed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t zstd[] = {0x28, 0xb5, 0x2f, 0xfd};
    static const uint8_t gzip[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3}; /* no flags, no time */
    if (fuzz_turn(data, size, 0, 3))
        compare(data, size);
    if (fuzz_turn(data, size, 1, 3))
        compare_after(zstd, sizeof zstd, data, size);
    if (fuzz_turn(data, size, 2, 3))
        compare_after(gzip, sizeof gzip, data, size);
    return 0;
}
