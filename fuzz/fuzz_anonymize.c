/*
 * fuzz_anonymize.c - anonymize any input: what is sound stays sound and has as many events, the
 * output depends on input and key alone, and a name that was replaced is not in it.
 */
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "cmd/anonymize/anonymize.h"
#include "cmd/repair/verdict.h"

/* Returns whether a trace was written. */
static bool anonymize(const uint8_t *data, size_t size, const gotrace_config *config, unsigned how,
                      bytes *made)
{
    static names n;
    gotrace_source *source;
    gotrace_reader *reader;
    gotrace_error error = {.rule = GOTRACE_RULE_NONE};
    REQUIRE(gotrace_source_memory(data, size, config, &source, &error) == GOTRACE_OK);
    bool good = gotrace_reader_open(source, config, &reader, &error) == GOTRACE_OK;
    if (good) {
        out to, map;
        bytes mapped = {0};
        REQUIRE(out_init(&to, bytes_write, made) && out_init(&map, bytes_write, &mapped));
        names_init(&n, "key", 3);
        n.all = how & 1;
        const anonymize_job job = {.source = source,
                                   .version = gotrace_reader_summary(reader)->version,
                                   .config = config,
                                   .names = &n,
                                   .drop_logs = how & 2,
                                   .to = &to,
                                   .map = &map};
        good = anonymize_write(&job, &error) == GOTRACE_OK;
        REQUIRE(out_flush(&to) && out_flush(&map));
        out_free(&to);
        out_free(&map);
        bytes_free(&mapped);
        gotrace_reader_close(reader);
    }
    REQUIRE(good || (error.rule != GOTRACE_RULE_NONE && error.message[0] != '\0'));
    gotrace_source_close(source);
    return good;
}

/* Names of the mutator and of the samples. */
static void search(const uint8_t *data, size_t size, const bytes *made)
{
    static const char *const secrets[] = {"a name that is longer than", "main.annotated",
                                          "/sched.go", "message 012"};
    for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++) {
        size_t length = strlen(secrets[i]);
        if (memmem(data, size, secrets[i], length))
            REQUIRE(!memmem(made->data, made->size, secrets[i], length));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t problems;
    gotrace_config config = fuzz_config(&problems);
    gotrace_error error = {0};
    verdict before, after;
    bytes made = {0}, again = {0};
    unsigned how = (unsigned)(fuzz_seed(data, size) % 4);
    if (fuzz_is_packed(data, size))
        return 0;
    config.on_problem = NULL;
    REQUIRE(verdict_of(data, size, &config, &before, &error));
    if (anonymize(data, size, &config, how, &made)) {
        REQUIRE(verdict_of(made.data, made.size, &config, &after, &error));
        if (before.sound) {
            REQUIRE(after.sound && after.events == before.events &&
                    after.timed_records == before.timed_records);
            search(data, size, &made);
        }
        REQUIRE(anonymize(data, size, &config, how, &again));
        REQUIRE(again.size == made.size && memcmp(again.data, made.data, made.size) == 0);
    }
    bytes_free(&made);
    bytes_free(&again);
    return 0;
}
