#include "formats/common/fill_error.h"

#include <stdarg.h>
#include <stdio.h>

void fill_error(gotrace_error *error, gotrace_rule rule, uint64_t offset, const char *text, ...)
{
    const gotrace_rule_info *info = gotrace_rule_describe(rule);
    *error = (gotrace_error){.rule = rule,
                             .severity = info->severity,
                             .class_ = info->class_,
                             .offset = offset,
                             .limit = rule == GOTRACE_RULE_SYSTEM_LIMIT ? GOTRACE_LIMIT_MEMORY : 0,
                             .batch = GOTRACE_NO_OFFSET,
                             .event = GOTRACE_NO_OFFSET};
    va_list args;
    va_start(args, text);
    vsnprintf(error->message, sizeof error->message, text, args);
    va_end(args);
}
