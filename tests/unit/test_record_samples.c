/*
 * test_record_samples.c - CPU samples of what a signal has interrupted.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "gotrace_record.h"
#include "recording.h"

#if defined __x86_64__ || defined __aarch64__
/* As functions with frame pointers leave them on a stack. */
typedef struct frame {
    const struct frame *caller;
    uint64_t pc;
} frame;

static void set_pointers(ucontext_t *context, const void *stack, const void *f)
{
    mcontext_t *m = &context->uc_mcontext;
#if defined __x86_64__
    m->gregs[REG_RSP] = (greg_t)stack;
    m->gregs[REG_RBP] = (greg_t)f;
#else
    m->sp = (uint64_t)stack;
    m->regs[29] = (uint64_t)f;
#endif
}

/* The stack of the only sample in a trace. */
static size_t read_sample(const blob *trace, gotrace_frame frames[8])
{
    gotrace_source *source;
    gotrace_reader *reader;
    const gotrace_event *e;
    size_t depth = 0, samples = 0;
    ck_assert_int_eq(gotrace_source_memory(trace->bytes, trace->size, NULL, &source, NULL),
                     GOTRACE_OK);
    ck_assert_int_eq(gotrace_reader_open(source, NULL, &reader, NULL), GOTRACE_OK);
    while (gotrace_reader_next(reader, &e) == GOTRACE_EVENT)
        if (e->kind == GOTRACE_KIND_SAMPLE) {
            depth = gotrace_reader_stack(reader, e->stack, frames, 8);
            samples++;
        }
    ck_assert_uint_eq(samples, 1);
    gotrace_reader_close(reader);
    gotrace_source_close(source);
    return depth;
}

/* The stack of a sample of that context. */
static size_t sample_of(const ucontext_t *context, gotrace_stack_fn stack, gotrace_frame frames[8])
{
    blob trace = {0};
    const gotrace_recorder_options options = {.size = sizeof options, .stack = stack};
    gotrace_recorder *r = recorder_of(&options);
    gotrace_rec_thread *t = gotrace_rec_thread_new(r, 7);
    gotrace_rec_cpu_sample_context(r, t, context); /* nothing is recorded */
    record_start(r, 26, blob_write, &trace);
    errno = ENOTTY;
    gotrace_rec_cpu_sample_context(r, t, context);
    ck_assert_int_eq(errno, ENOTTY);
    record_stop(r);
    gotrace_recorder_free(r);
    record_check(&trace, 26);
    const size_t depth = read_sample(&trace, frames);
    blob_free(&trace);
    return depth;
}

/* A gotrace_stack_fn. */
static size_t take_frame(void *ctx, const void *place, uint64_t *pcs, size_t max)
{
    (void)ctx;
    ck_assert_uint_eq(max, 63);
    pcs[0] = ((const frame *)place)->pc + 1000;
    return 1;
}

/* Takes a sample of itself. */
static __attribute__((noinline)) void interrupted(ucontext_t *context)
{
    gotrace_frame frames[8];
    ck_assert_ptr_nonnull(__builtin_frame_address(0)); /* it keeps a frame pointer */
    ck_assert_int_eq(getcontext(context), 0);
    ck_assert_uint_ge(sample_of(context, NULL, frames), 2);
    ck_assert_uint_gt(frames[0].pc, (uint64_t)(uintptr_t)interrupted);
    ck_assert_uint_lt(frames[0].pc, (uint64_t)(uintptr_t)interrupted + 4096);
    ck_assert_uint_eq(frames[1].pc, (uint64_t)(uintptr_t)__builtin_return_address(0));
}

START_TEST(stack)
{
    gotrace_frame frames[8];
    ucontext_t context;
    const frame f[2] = {{&f[1], 70}, {NULL, 80}};
    interrupted(&context);
    set_pointers(&context, f, f);
    ck_assert_uint_eq(sample_of(&context, NULL, frames), 3);
    ck_assert_uint_eq(frames[1].pc, 70);
    ck_assert_uint_eq(frames[2].pc, 80);
    ck_assert_uint_eq(sample_of(&context, take_frame, frames), 2);
    ck_assert_uint_eq(frames[1].pc, 1070);
}
END_TEST

/* The register of the frame pointer may have anything. */
START_TEST(no_frame)
{
    enum { PAGE = 64 << 10 }; /* the largest */
    gotrace_frame frames[8];
    ucontext_t context;
    char *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert(pages != MAP_FAILED && mprotect(pages + PAGE, PAGE, PROT_NONE) == 0);
    frame *f = (frame *)(pages + PAGE) - 1;
    *f = (frame){(const frame *)(pages + PAGE), 70};
    const void *const wrong[] = {NULL,
                                 (char *)f + 1,
                                 f - 1,
                                 pages + PAGE,
                                 pages + PAGE - 8,
                                 (char *)f + (1 << 20) + 16,
                                 (void *)(uintptr_t)-16,
                                 (void *)(UINT64_C(1) << 62)};
    ck_assert_int_eq(getcontext(&context), 0);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        set_pointers(&context, f, wrong[i]);
        ck_assert_uint_eq(sample_of(&context, NULL, frames), 1);
        ck_assert_uint_eq(sample_of(&context, take_frame, frames), 1);
    }
    set_pointers(&context, f, f); /* its caller cannot be read */
    ck_assert_uint_eq(sample_of(&context, NULL, frames), 2);
    munmap(pages, 2 * PAGE);
}
END_TEST
#endif

static Suite *suite(void)
{
    Suite *s = suite_create("record_samples");
    TCase *t = tcase_create("record_samples");
#if defined __x86_64__ || defined __aarch64__
    tcase_add_test(t, stack);
    tcase_add_test(t, no_frame);
#endif
    suite_add_tcase(s, t);
    return s;
}

int main(void)
{
    return run_suite(suite());
}
