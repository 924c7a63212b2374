/* test_stacks.c - frames are written unchanged for readers that identify a frame by its PC, as Go's
 * readers do. */
#include <string.h>

#include "reading.h"
#include "writing.h"

enum { FUNCTIONS = 12, FRAMES = 2, ROUNDS = 3 * FUNCTIONS };

/* ---- writing --------------------------------------------------------------------------------- */

static gotrace_frame frame_of(uint64_t pc, const char *function, const char *file, uint64_t line)
{
    return (gotrace_frame){.pc = pc,
                           .line = line,
                           .function = function,
                           .function_size = strlen(function),
                           .file = file,
                           .file_size = strlen(file)};
}

static void emit(gotrace_writer *w, int version, const char *name, uint64_t arg, uint64_t stack)
{
    const gotrace_event_spec *spec = gotrace_event_spec_named(version, name);
    const gotrace_arg_spec *kinds[GOTRACE_MAX_ARGS];
    gotrace_event_data h = {.spec = spec,
                            .proc = 0,
                            .thread = 1,
                            .args = &arg,
                            .arg_count = gotrace_writer_args(spec, version, kinds),
                            .stack = stack};
    ck_assert_msg(gotrace_writer_event(w, &h) == GOTRACE_OK, "%s",
                  gotrace_writer_error(w)->message);
}

/* Goroutine 1 runs and yields with each of these stacks. In v2, two generations have the same
 * stacks. */
static blob write_stacks(int version, gotrace_frame (*stacks)[FRAMES], size_t count)
{
    blob written = {0};
    gotrace_writer *w = writer_of(version, NULL, &written, NULL);
    uint64_t stack, ticks = 1000;
    for (int generation = 0; generation < 2; generation++) {
        for (size_t i = 0; i < count; i++) {
            ck_assert_int_eq(gotrace_writer_at(w, ticks += 10), GOTRACE_OK);
            ck_assert_int_eq(gotrace_writer_stack(w, stacks[i], FRAMES, &stack), GOTRACE_OK);
            emit(w, version, "GoStart", 1, 0);
            ck_assert_int_eq(gotrace_writer_at(w, ticks += 10), GOTRACE_OK);
            emit(w, version, gt_is_v2(version) ? "GoStop" : "GoSched", 0, stack);
        }
        ck_assert_int_eq(gotrace_writer_advance(w, NULL), GOTRACE_OK);
    }
    ck_assert_int_eq(gotrace_writer_finish(w), GOTRACE_OK);
    gotrace_writer_free(w);
    return written;
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool same_text(const char *a, size_t a_size, const char *b, size_t b_size)
{
    return a_size == b_size && (a_size == 0 || memcmp(a, b, a_size) == 0);
}

static bool same_frame(const gotrace_frame *a, const gotrace_frame *b)
{
    return a->line == b->line &&
           same_text(a->function, a->function_size, b->function, b->function_size) &&
           same_text(a->file, a->file_size, b->file, b->file_size);
}

/* Check that the trace has these stacks twice. unique: different frames have different PCs, and
 * equal frames without a PC have the same one. pcs: PCs of the first round. */
static void check_stacks(const blob *trace, gotrace_frame (*stacks)[FRAMES], size_t count,
                         bool unique, uint64_t (*pcs)[FRAMES])
{
    gotrace_source *source = NULL;
    gotrace_reader *reader = NULL;
    const gotrace_event *e;
    size_t n = 0;
    check_sound(trace);
    ck_assert_int_eq(gotrace_source_memory(trace->bytes, trace->size, NULL, &source, NULL),
                     GOTRACE_OK);
    ck_assert_int_eq(gotrace_reader_open(source, NULL, &reader, NULL), GOTRACE_OK);
    while (gotrace_reader_next(reader, &e) == GOTRACE_EVENT) {
        gotrace_frame frames[FRAMES];
        if (e->stack == 0)
            continue;
        ck_assert_uint_eq(gotrace_reader_stack(reader, e->stack, frames, FRAMES), FRAMES);
        size_t which = n++ % count;
        for (size_t i = 0; i < FRAMES; i++) {
            ck_assert_msg(same_frame(&frames[i], &stacks[which][i]), "stack %zu, frame %zu", n, i);
            if (n <= count)
                pcs[which][i] = frames[i].pc;
            else if (stacks[which][i].pc == 0)
                ck_assert_uint_eq(frames[i].pc, pcs[which][i]);
        }
    }
    ck_assert_uint_eq(n, 2 * count);
    for (size_t i = 0; unique && i < count * FRAMES; i++)
        for (size_t k = 0; k < i; k++) {
            const gotrace_frame *a = &stacks[i / FRAMES][i % FRAMES],
                                *b = &stacks[k / FRAMES][k % FRAMES];
            bool equal = pcs[i / FRAMES][i % FRAMES] == pcs[k / FRAMES][k % FRAMES];
            ck_assert_msg(!equal || same_frame(a, b), "PC 0x%llx of two frames",
                          (unsigned long long)pcs[i / FRAMES][i % FRAMES]);
            ck_assert(equal || a->pc != 0 || b->pc != 0 || !same_frame(a, b));
        }
    gotrace_reader_close(reader);
    gotrace_source_close(source);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static const int versions[] = {7, 11, 19, 21, 22, 23, 25, 26};
enum { VERSIONS = sizeof versions / sizeof *versions, V2 = 4 };

/* Functions 0, 1, ..., each called by one of three; some differ only in name, file or line. */
static void make_stacks(gotrace_frame stacks[ROUNDS][FRAMES], uint64_t pc)
{
    static const char *const names[] = {"main.a", "main.b", "main.c", "main.ab"};
    static const char *const files[] = {"/src/main.go", "/src/a.go", ""};
    for (size_t i = 0; i < ROUNDS; i++) {
        size_t k = i % FUNCTIONS;
        stacks[i][0] = frame_of(pc, names[k % 4], files[k / 4], 10);
        stacks[i][1] = frame_of(pc, "main.main", "/src/main.go", 20 + i % 3);
    }
}

START_TEST(frames_without_a_pc)
{
    gotrace_frame stacks[ROUNDS][FRAMES];
    uint64_t pcs[ROUNDS][FRAMES];
    make_stacks(stacks, 0);
    blob trace = write_stacks(versions[_i], stacks, ROUNDS);
    check_stacks(&trace, stacks, ROUNDS, true, pcs);
    for (size_t i = 0; i < ROUNDS; i++)
        for (size_t k = 0; k < FRAMES; k++)
            ck_assert_uint_eq(pcs[i][k], gotrace_frame_pc(&stacks[i][k]));
    blob_free(&trace);
}
END_TEST

/* Frames with a constant PC. In v1 each stack contains its own frames. */
START_TEST(frames_that_share_a_pc)
{
    gotrace_frame stacks[ROUNDS][FRAMES];
    uint64_t pcs[ROUNDS][FRAMES];
    make_stacks(stacks, 7);
    blob trace = write_stacks(versions[_i], stacks, ROUNDS);
    check_stacks(&trace, stacks, ROUNDS, _i >= V2, pcs);
    ck_assert_uint_eq(pcs[0][0], 7);
    ck_assert_int_eq(pcs[1][0] == 7, _i < V2);
    blob_free(&trace);
}
END_TEST

/* Given PCs that equal those that the writer would assign to others. */
START_TEST(pcs_in_use)
{
    const gotrace_frame bare = frame_of(0, "main.bare", "/src/main.go", 1);
    uint64_t taken = gotrace_frame_pc(&bare), pcs[4][FRAMES];
    gotrace_frame stacks[4][FRAMES] = {
        {frame_of(taken, "main.thief", "/src/main.go", 2), bare},
        {bare, frame_of(2 * GOTRACE_FRAME_PC_MADE, "main.spare", "/src/main.go", 3)},
        {bare, frame_of(taken, "main.second", "/src/main.go", 4)},
        {frame_of(0, "", "", 0), frame_of(9, "", "", 0)},
    };
    blob trace = write_stacks(versions[V2 + _i], stacks, 4);
    check_stacks(&trace, stacks, 4, true, pcs);
    ck_assert_uint_eq(pcs[0][0], taken);
    ck_assert_uint_eq(pcs[0][1], 2 * GOTRACE_FRAME_PC_MADE + 1);
    ck_assert_uint_eq(pcs[3][0], 0);
    ck_assert_uint_eq(pcs[3][1], 9);
    blob_free(&trace);
}
END_TEST

START_TEST(pc_depends_on_frame)
{
    gotrace_frame a = frame_of(0, "main.ab", "c", 1), b = frame_of(0, "main.a", "bc", 1);
    uint64_t pc = gotrace_frame_pc(&a);
    ck_assert_uint_ge(pc, GOTRACE_FRAME_PC_MADE);
    ck_assert_uint_lt(pc, 2 * GOTRACE_FRAME_PC_MADE);
    ck_assert_uint_ne(pc, gotrace_frame_pc(&b));
    a.line = 2;
    ck_assert_uint_ne(pc, gotrace_frame_pc(&a));
    a.pc = 5;
    ck_assert_uint_eq(gotrace_frame_pc(&a), 5);
    ck_assert_uint_eq(gotrace_frame_pc(&(gotrace_frame){0}), 0);
    ck_assert_uint_ne(gotrace_frame_pc(&(gotrace_frame){.line = 1}), 0);
}
END_TEST

/* Stack records with a shared PC: the reader reports it once per generation. */
START_TEST(a_shared_pc_is_reported)
{
    blob sound = trace_sample("go1.26-gens.trace"), trace = {0};
    gotrace_decoder *d;
    gotrace_encoder *e;
    const gotrace_record *r;
    ck_assert_int_eq(gotrace_decoder_new(NULL, &d, NULL), GOTRACE_OK);
    ck_assert_int_eq(gotrace_encoder_new(26, blob_write, &trace, NULL, &e, NULL), GOTRACE_OK);
    gotrace_decoder_feed(d, sound.bytes, sound.size);
    gotrace_decoder_finish(d);
    while (gotrace_decoder_next(d, &r) == GOTRACE_EVENT) {
        uint64_t args[2 + 4 * 128];
        memcpy(args, r->args, r->arg_count * sizeof *args);
        /* the same width, so that batches keep their sizes */
        for (size_t i = 2; strcmp(r->spec->name, "Stack") == 0 && i < r->arg_count; i += 4)
            args[i] = 1;
        gotrace_record copy = *r;
        copy.args = args;
        ck_assert_int_eq(gotrace_encoder_record(e, &copy), GOTRACE_OK);
    }
    ck_assert_int_eq(gotrace_encoder_finish(e), GOTRACE_OK);
    gotrace_encoder_free(e);
    gotrace_decoder_free(d);
    reading read = reading_of(trace.bytes, trace.size, NULL, READING_CHECK);
    ck_assert_int_eq(read.status, GOTRACE_END);
    ck_assert_uint_eq(read.problem_count, read.summary.generations);
    for (size_t i = 0; i < read.problem_count; i++) {
        ck_assert_int_eq(read.problems[i].rule, GOTRACE_RULE_STACK_PC);
        ck_assert_int_eq(read.problems[i].severity, GOTRACE_WARNING);
    }
    blob_free(&trace);
    blob_free(&sound);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("stacks");
    TCase *cases = tcase_create("stacks");
    tcase_add_loop_test(cases, frames_without_a_pc, 0, VERSIONS);
    tcase_add_loop_test(cases, frames_that_share_a_pc, 0, VERSIONS);
    tcase_add_loop_test(cases, pcs_in_use, 0, VERSIONS - V2);
    tcase_add_test(cases, pc_depends_on_frame);
    tcase_add_test(cases, a_shared_pc_is_reported);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
