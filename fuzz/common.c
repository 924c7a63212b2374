/* common.c - see common.h. */
#include "common.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

/* A run must depend only on the input. Hash seeds are random: jansson's, and ours, which are the
 * random bytes that the kernel passes to a process (lib/core/hash.c, formats/common/idmap.c). */
__attribute__((constructor)) static void fix_hash_seeds(void)
{
    enum { GIVEN = 16 };
    void *given = (void *)(uintptr_t)getauxval(AT_RANDOM);
    if (given)
        memset(given, 1, GIVEN);
    json_object_seed(1);
}

void fuzz_failed(const char *condition, const char *file, int line)
{
    fprintf(stderr, "%s:%d: broken: %s\n", file, line, condition);
    abort();
}

bool bytes_write(void *ctx, const void *data, size_t size)
{
    bytes *b = ctx;
    if (size > b->capacity - b->size) {
        b->capacity = 2 * (b->size + size);
        b->data = realloc(b->data, b->capacity);
        REQUIRE(b->data != NULL);
    }
    if (size > 0)
        memcpy(b->data + b->size, data, size);
    b->size += size;
    return true;
}

void bytes_free(bytes *b)
{
    free(b->data);
    *b = (bytes){NULL, 0, 0};
}

bool digest_write(void *ctx, const void *data, size_t size)
{
    uint64_t *digest = ctx;
    const uint8_t *p = data;
    for (size_t i = 0; i < size; i++)
        *digest = (*digest ^ p[i]) * 1099511628211u;
    return true;
}

uint64_t fuzz_seed(const uint8_t *data, size_t size)
{
    uint64_t seed = 14695981039346656037u;
    digest_write(&seed, data, size);
    return seed | 1;
}

uint64_t fuzz_random(uint64_t *state)
{
    uint64_t x = *state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return *state = x;
}

bool fuzz_is_packed(const uint8_t *data, size_t size)
{
    static const uint8_t zstd[] = {0x28, 0xb5, 0x2f, 0xfd}, skippable[] = {0x2a, 0x4d, 0x18};
    return (size >= 4 && memcmp(data, zstd, sizeof zstd) == 0) ||
           (size >= 4 && data[0] >> 4 == 5 && memcmp(data + 1, skippable, sizeof skippable) == 0) ||
           (size >= 2 && data[0] == 0x1f && data[1] == 0x8b);
}

bool fuzz_all_ways;

bool fuzz_turn(const uint8_t *data, size_t size, unsigned which, unsigned of)
{
    /* not the numbers that a target takes from the input */
    uint64_t state = fuzz_seed(data, size) ^ 0x9e3779b97f4a7c14u;
    return fuzz_all_ways || fuzz_random(&state) % of == which;
}

unsigned fuzz_encoding_count(void)
{
    unsigned count = 0;
    while (script_formats[count])
        count++;
    return count;
}

static bool count_problem(void *ctx, const gotrace_error *problem)
{
    uint64_t *problems = ctx;
    REQUIRE(problem->rule != GOTRACE_RULE_NONE && problem->rule < GOTRACE_RULE_LIMIT);
    REQUIRE(problem->message[0] != '\0' && !strchr(problem->message, '\n'));
    REQUIRE(memchr(problem->message, '\0', sizeof problem->message));
    ++*problems;
    return true;
}

gotrace_config fuzz_config(uint64_t *problems)
{
    gotrace_config config = {0};
    static const gotrace_limits limits = {.memory = 256 << 20};
    config.limits = &limits;
    config.on_problem = count_problem;
    config.callback_ctx = problems;
    *problems = 0;
    return config;
}

bool fuzz_dump(const uint8_t *data, size_t size, const script_format *encoding, bytes *script)
{
    uint64_t problems;
    gotrace_config config = fuzz_config(&problems);
    gotrace_decoder *decoder;
    const gotrace_record *record;
    gotrace_status status;
    out o;
    bool first = true;
    REQUIRE(gotrace_decoder_new(&config, &decoder, NULL) == GOTRACE_OK);
    REQUIRE(out_init(&o, bytes_write, script));
    REQUIRE(gotrace_decoder_feed(decoder, data, size) == GOTRACE_OK);
    gotrace_decoder_finish(decoder);
    while ((status = gotrace_decoder_next(decoder, &record)) == GOTRACE_EVENT) {
        int version = gotrace_decoder_version(decoder);
        if (first)
            encoding->begin(&o, version);
        encoding->record(&o, version, record, first);
        first = false;
    }
    if (first && gotrace_decoder_version(decoder))
        encoding->begin(&o, gotrace_decoder_version(decoder));
    encoding->end(&o);
    REQUIRE(out_flush(&o));
    out_free(&o);
    gotrace_decoder_free(decoder);
    return status == GOTRACE_END && problems == 0;
}

/* With this function, reading continues after each error. */
static void pass_error(void *ctx, const script_error *error)
{
    (void)ctx;
    REQUIRE(error->error.message[0] != '\0');
}

static gotrace_status synthesize(const uint8_t *script, size_t size, bool force, bytes *trace,
                                 script_error *error)
{
    uint64_t problems;
    gotrace_config config = fuzz_config(&problems);
    const script_options options = {.force = force, .report = pass_error};
    /* fmemopen rejects a size of 0 */
    FILE *input = size ? fmemopen((void *)(uintptr_t)script, size, "rb") : fopen("/dev/null", "rb");
    REQUIRE(input != NULL);
    gotrace_status status = script_synthesize(input, bytes_write, trace, &config, &options, error);
    fclose(input);
    return status;
}

gotrace_status fuzz_synthesize(const uint8_t *script, size_t size, bytes *trace,
                               script_error *error)
{
    return synthesize(script, size, false, trace, error);
}

gotrace_status fuzz_synthesize_forced(const uint8_t *script, size_t size, bytes *trace,
                                      script_error *error)
{
    return synthesize(script, size, true, trace, error);
}

void fuzz_dump_meaning(const uint8_t *data, size_t size, const script_format *encoding,
                       bytes *script)
{
    uint64_t problems;
    gotrace_config config = fuzz_config(&problems);
    gotrace_source *source;
    gotrace_reader *reader;
    out o;
    REQUIRE(out_init(&o, bytes_write, script));
    REQUIRE(gotrace_source_memory(data, size, &config, &source, NULL) == GOTRACE_OK);
    if (gotrace_reader_open(source, &config, &reader, NULL) == GOTRACE_OK) {
        const script_dump_job dumping = {source, reader, config.limits, encoding, &o};
        gotrace_error error = {0};
        script_dump_meaning(&dumping, &error);
        gotrace_reader_close(reader);
    }
    REQUIRE(out_flush(&o));
    out_free(&o);
    gotrace_source_close(source);
}
