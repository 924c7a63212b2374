/* fill_error.h - errors that do not come from the library. */
#ifndef FILL_ERROR_H
#define FILL_ERROR_H

#include "gotrace.h"

/* Sets *error to an error of that rule with this message. offset may be GOTRACE_NO_OFFSET. */
void fill_error(gotrace_error *error, gotrace_rule rule, uint64_t offset, const char *text, ...)
    __attribute__((format(printf, 4, 5)));

#endif
