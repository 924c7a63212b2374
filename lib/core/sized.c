#include "core/sized.h"

#include <string.h>

#include "core/errors.h"
#include "gotrace_record.h"

/* Rejected as garbage: no struct will ever be that large. */
#define SIZE_MOST 4096

/* The end of a member, which is where a struct ends that has no others. A struct has no padding at
 * its end: a member added there would have the place of bytes that older programs do not set. */
#define END_OF(type, member) (offsetof(type, member) + sizeof((type){0}.member))

/* One row each: the last member in the first release, and the last one now. */
#define SIZED(X)                                                                                   \
    X(error, message, file)                                                                        \
    X(limits, input, input)                                                                        \
    X(config, threads, threads)                                                                    \
    X(record, width_count, width_count)                                                            \
    X(writer_options, clocks, gc_events)                                                           \
    X(event_data, data_size, data_size)                                                            \
    X(recorder_options, misuse_ctx, stack_ctx)

#define SIZED_ROW(name, first, last)                                                               \
    _Static_assert(END_OF(gotrace_##name, last) == sizeof(gotrace_##name), "padding at the end");  \
    const gt_sized gt_sized_##name = {"gotrace_" #name, sizeof(gotrace_##name),                    \
                                      END_OF(gotrace_##name, first)};

SIZED(SIZED_ROW)

static gotrace_status check_surplus(const gt_sized *type, const uint8_t *given, size_t size,
                                    gotrace_error *error)
{
    bool zero = size >= sizeof size && size <= SIZE_MOST;
    for (size_t i = type->size; zero && i < size; i++)
        zero = given[i] == 0;
    if (zero)
        return GOTRACE_OK;
    return gt_error_set(error, GOTRACE_RULE_USAGE, GT_NO_PLACE,
                        "a %s of size %zu; libgotrace %s knows %zu bytes, and the others must be 0",
                        type->name, size, gotrace_version(), type->size);
}

gotrace_status gt_sized_take(const gt_sized *type, void *whole, const void *given,
                             gotrace_error *error)
{
    size_t size = type->first;
    memset(whole, 0, type->size);
    if (given && *(const size_t *)given != 0)
        size = *(const size_t *)given;
    if (check_surplus(type, given, size, error) < 0)
        return GOTRACE_ERROR;
    if (given)
        memcpy(whole, given, size < type->size ? size : type->size);
    *(size_t *)whole = type->size;
    return GOTRACE_OK;
}

gotrace_status gt_call_begin(gt_call *call, const gotrace_config *config)
{
    memset(&call->error, 0, sizeof call->error);
    if (gt_sized_take(&gt_sized_config, &call->config, config, &call->error) < 0 ||
        gt_sized_take(&gt_sized_limits, &call->limits, call->config.limits, &call->error) < 0)
        return GOTRACE_ERROR;
    call->config.limits = &call->limits;
    return GOTRACE_OK;
}

gotrace_status gt_call_end(const gt_call *call, gotrace_status status, gotrace_error *error)
{
    if (status >= 0 || !error)
        return status;
    size_t size = error->size ? error->size : gt_sized_error.first;
    if (size > sizeof *error)
        size = sizeof *error;
    if (size > sizeof error->size)
        memcpy((char *)error + sizeof error->size, (const char *)&call->error + sizeof error->size,
               size - sizeof error->size);
    return status;
}
