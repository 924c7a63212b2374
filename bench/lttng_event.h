/*
 * lttng_event.h - the event of lttng.c. LTTng's headers include it several times.
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER gotrace_bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "lttng_event.h"

#if !defined LTTNG_EVENT_H || defined LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ
#define LTTNG_EVENT_H

#include <lttng/tracepoint.h>
#include <stdint.h>

/* clang-format off */
LTTNG_UST_TRACEPOINT_EVENT(
    gotrace_bench, event,
    LTTNG_UST_TP_ARGS(uint64_t, value),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, value, value)))
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
