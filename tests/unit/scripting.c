#include "scripting.h"

gotrace_status synth(const void *script, size_t size, blob *trace, const gotrace_config *config,
                     script_error *error)
{
    FILE *input = size ? fmemopen((void *)(uintptr_t)script, size, "rb") : fopen("/dev/null", "rb");
    ck_assert_ptr_nonnull(input);
    gotrace_status status = script_synthesize(input, blob_write, trace, config, NULL, error);
    fclose(input);
    return status;
}

void synth_refused(const void *script, size_t size, uint64_t most)
{
    gotrace_status status;
    uint64_t n = 0;
    do {
        failing_allocator a = {.fail_at = n};
        gotrace_config config = failing_config(&a);
        blob trace = {0};
        script_error error;
        status = synth(script, size, &trace, &config, &error);
        ck_assert_int_eq(a.bytes, 0);
        blob_free(&trace);
        if (status != GOTRACE_OK)
            ck_assert_int_eq(error.error.rule, GOTRACE_RULE_SYSTEM_MEMORY);
        ck_assert_uint_le(n++, most);
    } while (status != GOTRACE_OK);
    /* the first allocation always fails */
    ck_assert_uint_gt(n, 1);
}
