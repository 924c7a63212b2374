/* test_blocks.c - what the events of a block refer to is valid until the block is released. */
#include <pthread.h>
#include <string.h>

#include "support.h"

enum { MOST_FRAMES = 1024 };

static const char *const names[] = {"gccgo-user.trace", "go1.19-user.trace", "go1.26-gens.trace",
                                    "go1.26-user.trace"};
enum { NAMES = sizeof names / sizeof *names };

/* An assertion for hot loops: Check writes a record for each of its own assertions. */
#define MUST(what)                                                                                 \
    do {                                                                                           \
        if (!(what))                                                                               \
            ck_abort_msg("%s", #what);                                                             \
    } while (0)

typedef struct trace {
    gotrace_source *source;
    gotrace_reader *reader;
} trace;

/* False if memory is refused. */
static bool trace_open(trace *t, const blob *content, const gotrace_config *config)
{
    gotrace_status opened = gotrace_source_memory(content->bytes, content->size, config, &t->source,
                                                  NULL);
    if (opened == GOTRACE_OK)
        opened = gotrace_reader_open(t->source, config, &t->reader, NULL);
    return opened == GOTRACE_OK;
}

static void trace_close(trace *t)
{
    gotrace_reader_close(t->reader);
    gotrace_source_close(t->source);
}

/* ---- the same as the reader has -------------------------------------------------------------- */

static void compare_strings(const gotrace_reader *reader, const gotrace_block *block, uint64_t id)
{
    size_t size, same;
    const char *expected = gotrace_reader_string(reader, id, &size);
    const char *found = gotrace_block_string(block, id, &same);
    MUST(!expected == !found && size == same);
    MUST(size == 0 || memcmp(expected, found, size) == 0);
}

static size_t compare_stacks(const gotrace_reader *reader, const gotrace_block *block, uint64_t id)
{
    gotrace_frame expected[MOST_FRAMES], found[MOST_FRAMES];
    size_t depth = gotrace_reader_stack_depth(reader, id);
    MUST(gotrace_block_stack_depth(block, id) == depth && depth < MOST_FRAMES);
    MUST(gotrace_reader_stack(reader, id, expected, depth) == depth);
    MUST(gotrace_block_stack(block, id, found, MOST_FRAMES) == depth);
    MUST(gotrace_block_stack(block, id, found, depth / 2) == depth / 2);
    for (size_t i = 0; i < depth; i++) {
        const gotrace_frame *a = &expected[i], *b = &found[i];
        MUST(a->pc == b->pc && a->line == b->line);
        MUST(a->function_id == b->function_id && a->file_id == b->file_id);
        MUST(a->function_size == b->function_size && a->file_size == b->file_size);
        MUST(a->function_size == 0 || memcmp(a->function, b->function, a->function_size) == 0);
        compare_strings(reader, block, a->function_id);
        compare_strings(reader, block, a->file_id);
    }
    return depth;
}

static void compare_text(const char *a, size_t a_size, const char *b, size_t b_size)
{
    MUST(!a == !b && a_size == b_size && (a_size == 0 || memcmp(a, b, a_size) == 0));
}

/* Compares a block with the events that the reader returns next. Returns the number of frames. */
static size_t compare(gotrace_reader *reader, const gotrace_block *block)
{
    const gotrace_event *e;
    size_t frames = 0;
    for (size_t i = 0; block && i < block->count; i++) {
        const gotrace_event *found = &block->events[i];
        MUST(gotrace_reader_next(reader, &e) == GOTRACE_EVENT && e->offset == found->offset);
        MUST(e->stack == found->stack);
        frames += compare_stacks(reader, block, found->stack);
        frames += compare_stacks(reader, block, gotrace_event_start_stack(found));
        const gotrace_details *a = gotrace_event_details(e), *b = gotrace_event_details(found);
        compare_text(a->text, a->text_size, b->text, b->text_size);
        compare_text(a->message, a->message_size, b->message, b->message_size);
    }
    return frames;
}

/* Also after the reader has gone on to other generations, and ended. */
START_TEST(kept)
{
    enum { KEPT = 5 };
    blob content = trace_sample(names[_i]);
    const gotrace_block *blocks[KEPT] = {NULL}, *block;
    trace one = {0}, other = {0};
    size_t frames = 0;
    ck_assert(trace_open(&one, &content, NULL) && trace_open(&other, &content, NULL));
    for (size_t n = 0, after = 0; after < KEPT; n++) {
        const gotrace_block **old = &blocks[n % KEPT];
        after += gotrace_reader_next_block(other.reader, &block) != GOTRACE_EVENT;
        frames += compare(one.reader, *old);
        gotrace_block_release(*old);
        *old = block;
    }
    ck_assert_uint_gt(frames, 20);
    trace_close(&one);
    trace_close(&other);
    blob_free(&content);
}
END_TEST

/* gotrace_reader_keep_raw, after some events were read one by one. */
START_TEST(raw)
{
    blob content = trace_sample(names[_i]);
    const gotrace_block *block;
    const gotrace_event *e;
    for (size_t before = 0; before < 40; before++) {
        trace one = {0}, other = {0};
        ck_assert(trace_open(&one, &content, NULL) && trace_open(&other, &content, NULL));
        for (size_t n = 0; n < before; n++)
            MUST(gotrace_reader_next(one.reader, &e) == GOTRACE_EVENT &&
                 gotrace_reader_next(other.reader, &e) == GOTRACE_EVENT);
        gotrace_reader_keep_raw(other.reader);
        while (gotrace_reader_next_block(other.reader, &block) == GOTRACE_EVENT) {
            for (size_t i = 0; i < block->count; i++) {
                MUST(gotrace_reader_next(one.reader, &e) == GOTRACE_EVENT);
                const gotrace_raw *a = gotrace_reader_raw(one.reader), *b = &block->raw[i];
                MUST(e->offset == block->events[i].offset && a->ticks == b->ticks);
                MUST(a->generation == b->generation && a->generation_index == b->generation_index);
                MUST(a->arg_count == b->arg_count);
                MUST(a->arg_count == 0 ||
                     memcmp(a->args, b->args, a->arg_count * sizeof *a->args) == 0);
            }
            gotrace_block_release(block);
        }
        MUST(gotrace_reader_next(one.reader, &e) == GOTRACE_END);
        trace_close(&one);
        trace_close(&other);
    }
    blob_free(&content);
}
END_TEST

/* ---- other threads --------------------------------------------------------------------------- */

enum { IN_USE = 8 };

typedef struct other_thread {
    pthread_t thread;
    const gotrace_block *blocks[IN_USE];
    size_t frames;
} other_thread;

/* Reads what events refer to, and releases the blocks. */
static void *use_blocks(void *arg)
{
    other_thread *t = arg;
    gotrace_frame frames[MOST_FRAMES];
    for (size_t i = 0; i < IN_USE; i++) {
        const gotrace_block *b = t->blocks[i];
        for (size_t k = 0; b && k < b->count; k++)
            t->frames += gotrace_block_stack(b, b->events[k].stack, frames, MOST_FRAMES);
        gotrace_block_release(b);
    }
    return NULL;
}

/* The allocator of the reader is used in its thread only. */
START_TEST(released_elsewhere)
{
    blob content = trace_sample(names[_i]);
    failing_allocator a = {.fail_at = UINT64_MAX};
    gotrace_config config = failing_config(&a);
    trace t = {0};
    other_thread threads[2] = {{.frames = 0}};
    size_t begun = 0;
    ck_assert(trace_open(&t, &content, &config));
    for (gotrace_status status = GOTRACE_EVENT; status == GOTRACE_EVENT; begun++) {
        other_thread *o = &threads[begun % 2];
        if (begun >= 2)
            ck_assert_int_eq(pthread_join(o->thread, NULL), 0);
        for (size_t i = 0; i < IN_USE; i++)
            status = gotrace_reader_next_block(t.reader, &o->blocks[i]);
        ck_assert_int_eq(pthread_create(&o->thread, NULL, use_blocks, o), 0);
    }
    for (size_t i = 0; i < 2 && i < begun; i++)
        ck_assert_int_eq(pthread_join(threads[i].thread, NULL), 0);
    ck_assert_uint_gt(threads[0].frames, 20);
    trace_close(&t);
    ck_assert_int_eq(a.bytes, 0);
    blob_free(&content);
}
END_TEST

/* ---- refused memory -------------------------------------------------------------------------- */

/* Reads with some blocks in use, while an allocation fails. False if there were fewer. */
static bool refuse(const blob *content, uint64_t n, bool with_raw)
{
    failing_allocator a = {.fail_at = n};
    gotrace_config config = failing_config(&a);
    const gotrace_block *blocks[IN_USE] = {NULL};
    trace t = {0};
    size_t next = 0;
    gotrace_status status = trace_open(&t, content, &config) ? GOTRACE_EVENT : GOTRACE_ERROR;
    if (status == GOTRACE_EVENT && with_raw)
        gotrace_reader_keep_raw(t.reader);
    while (status == GOTRACE_EVENT) {
        gotrace_block_release(blocks[next]);
        status = gotrace_reader_next_block(t.reader, &blocks[next]);
        next = (next + 1) % IN_USE;
    }
    MUST(status == (a.calls > n ? GOTRACE_ERROR : GOTRACE_END));
    /* Blocks that were returned before are valid. */
    gotrace_frame frame;
    for (size_t i = 0; i < IN_USE; i++)
        for (size_t k = 0; blocks[i] && k < blocks[i]->count; k++) {
            uint64_t id = blocks[i]->events[k].stack;
            MUST(gotrace_block_stack_depth(blocks[i], id) >=
                 gotrace_block_stack(blocks[i], id, &frame, 1));
        }
    trace_close(&t);
    MUST(a.bytes == 0);
    return a.calls > n;
}

START_TEST(refused)
{
    blob content = trace_sample(names[_i]);
    for (int with_raw = 0; with_raw < 2; with_raw++) {
        uint64_t n = 0;
        while (refuse(&content, n, with_raw))
            n += n < 100 ? 1 : SWEEP_STEP;
        ck_assert_uint_gt(n, 20);
    }
    blob_free(&content);
}
END_TEST

/* ---- memory ---------------------------------------------------------------------------------- */

/* The largest memory while `most` blocks are in use. */
static int64_t peak_of(const blob *content, size_t most)
{
    failing_allocator a = {.fail_at = UINT64_MAX};
    gotrace_config config = failing_config(&a);
    const gotrace_block *blocks[64] = {NULL};
    trace t = {0};
    size_t next = 0;
    ck_assert(trace_open(&t, content, &config));
    do {
        gotrace_block_release(blocks[next % most]);
    } while (gotrace_reader_next_block(t.reader, &blocks[next++ % most]) == GOTRACE_EVENT);
    trace_close(&t);
    ck_assert_int_eq(a.bytes, 0);
    return a.peak;
}

/* Tables of earlier generations are freed, so memory does not depend on their number. */
START_TEST(bounded)
{
    blob content = trace_sample("go1.26-gens.trace");
    int64_t least = peak_of(&content, 1);
    ck_assert_int_lt(peak_of(&content, 2), 2 * least);
    blob_free(&content);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("blocks");
    TCase *cases = tcase_create("blocks");
    tcase_add_loop_test(cases, kept, 0, NAMES);
    tcase_add_loop_test(cases, raw, 0, NAMES);
    tcase_add_loop_test(cases, released_elsewhere, 0, NAMES);
    tcase_add_loop_test(cases, refused, 0, NAMES);
    tcase_add_test(cases, bounded);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
