/*
 * fuzz_find.c - search any trace with an expression that depends on the input: each moment is of a
 * kind that was searched for and does not end before it begins, an expression joined to itself
 * finds the same ones, counting them reads enough of the trace, and the longest ones are in order.
 */
#include <inttypes.h>
#include <string.h>

#include "common.h"
#include "formats/analyse/moments.h"

enum { TEXT_ROOM = 8192, LONGEST = 5 };

/* What was found. */
typedef struct findings_of {
    const expression *what;
    bool ranked;
    int64_t longest, last; /* of all; ranked: of the one before */
    uint64_t count, digest;
} findings_of;

static void add_text(char *text, const char *more)
{
    REQUIRE(strlen(text) + strlen(more) < TEXT_ROOM);
    strcat(text, more);
}

/* Append an expression. A comparison of a level is a kind of its own, so that an expression joined
 * to itself finds a level twice: there is none unless wanted. */
static void add_expression(char *text, uint64_t *state, bool levels, unsigned depth)
{
    static const char *const tests[] = {
        "run",
        "run > 1us",
        "sched",
        "sched >= 10ns",
        "wait",
        "wait(sync) > 1us",
        "wait(network)",
        "wait(\"select\")",
        "syscall",
        "syscall < 1ms",
        "stw",
        "stw > 1us",
        "gc",
        "gc <= 1s",
        "task",
        "task(\"rpc\")",
        "region",
        "region > 1ns",
        "silence > 1us",
        "silence <= 10ns",
        "log ~ \"1\"",
        "log ~ .",
        "goroutine == 1",
        "function ~ main",
        "stack ~ \"^runtime\\.\"",
        "not function ~ .",
        "goroutine == 7",
    };
    static const char *const of_levels[] = {"goroutines > 1", "goroutines >= 10",
                                            "goroutines ~ main > 1", "heap > 1M"};
    enum { TESTS = sizeof tests / sizeof *tests, LEVELS = sizeof of_levels / sizeof *of_levels };
    uint64_t form = fuzz_random(state) % (depth > 0 ? 6 : 1);
    if (form == 0) {
        bool level = levels && fuzz_random(state) % 4 == 0;
        add_text(text, level ? of_levels[fuzz_random(state) % LEVELS]
                             : tests[fuzz_random(state) % TESTS]);
        return;
    }
    add_text(text, form == 1 ? "not (" : form == 2 ? "during (" : "(");
    add_expression(text, state, levels, depth - 1);
    add_text(text, ")");
    if (form > 2) {
        add_text(text, form == 3 ? " or (" : " and (");
        add_expression(text, state, levels, depth - 1);
        add_text(text, ")");
    }
}

static bool found(void *ctx, const stacks *names, const moment *m)
{
    findings_of *all = ctx;
    size_t size = 0;
    REQUIRE(m->kind < MOMENT_KIND_COUNT && MOMENT_BIT(m->kind) & all->what->queries[0].kinds);
    REQUIRE(m->begin <= m->end);
    if (m->kind == MOMENT_SILENCE)
        REQUIRE(m->begin < m->end && m->begun && m->ended && m->goroutine == 0 && m->stack == 0);
    if (m->kind == MOMENT_LOG) {
        REQUIRE(m->begin == m->end);
        REQUIRE(moment_message(names, m, &size) != NULL);
    }
    REQUIRE(!all->ranked || all->count == 0 || moment_duration(m) <= all->last);
    all->last = moment_duration(m);
    if (all->count++ == 0 || all->last > all->longest)
        all->longest = all->last;
    const uint64_t facts[] = {m->kind,       (uint64_t)m->begin, (uint64_t)m->end, m->begun,
                              m->ended,      m->goroutine,       m->cause,         m->id,
                              (uint64_t)size};
    digest_write(&all->digest, facts, sizeof facts);
    return true;
}

static findings_of find(const uint8_t *data, size_t size, const char *text, bool counts,
                        uint64_t longest)
{
    uint64_t problems;
    gotrace_config config = fuzz_config(&problems);
    gotrace_source *source;
    gotrace_reader *reader;
    expression what;
    expression_error wrong;
    findings_of all = {.what = &what, .ranked = longest > 0};
    if (!expression_parse(&what, text, &wrong)) {
        fprintf(stderr, "%s\n%zu: %s\n", text, wrong.at, wrong.message);
        REQUIRE(false);
    }
    REQUIRE(gotrace_source_memory(data, size, &config, &source, NULL) == GOTRACE_OK);
    if (gotrace_reader_open(source, &config, &reader, NULL) == GOTRACE_OK) {
        find_job job = {.what = &what,
                        .found = found,
                        .ctx = &all,
                        .longest = longest,
                        .by_duration = true,
                        .threads = 1,
                        .counts = counts};
        moments_find(&job, reader);
        REQUIRE(!job.failed && !job.error && !job.too_hard);
        gotrace_reader_close(reader);
    }
    gotrace_source_close(source);
    expression_free(&what);
    return all;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { DEPTH = 3 };
    char text[TEXT_ROOM] = "", joined[TEXT_ROOM] = "";
    uint64_t state = fuzz_seed(data, size);
    bool levels = fuzz_random(&state) % 2 == 0;
    if (fuzz_is_packed(data, size))
        return 0;
    add_expression(text, &state, levels, DEPTH);
    findings_of once = find(data, size, text, false, 0);
    findings_of counted = find(data, size, text, true, 0);
    findings_of ranked = find(data, size, text, false, LONGEST);
    if (counted.count != once.count)
        fprintf(stderr, "%s: %" PRIu64 " listed, %" PRIu64 " counted\n", text, once.count,
                counted.count);
    REQUIRE(counted.count == once.count);
    REQUIRE(ranked.count == (once.count < LONGEST ? once.count : LONGEST));
    REQUIRE(ranked.longest == once.longest);
    if (!levels) {
        add_text(joined, "(");
        add_text(joined, text);
        add_text(joined, fuzz_random(&state) % 2 ? ") or (" : ") and (");
        add_text(joined, text);
        add_text(joined, ")");
        findings_of both = find(data, size, joined, false, 0);
        REQUIRE(both.count == once.count && both.digest == once.digest);
    }
    return 0;
}
