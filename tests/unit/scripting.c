#include "scripting.h"

gotrace_status synth(const void *script, size_t size, blob *trace, const gotrace_config *config,
                     script_error *error)
{
    FILE *input = size ? fmemopen((void *)(uintptr_t)script, size, "rb") : fopen("/dev/null", "rb");
    ck_assert_ptr_nonnull(input);
    gotrace_status status = script_synthesize(input, blob_write, trace, config, error);
    fclose(input);
    return status;
}
