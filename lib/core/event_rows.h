/* event_rows.h - the rows of an event table (events_v1.def, events_v2.def) as data. The table's
 * file defines A, an argument, and TIME, the arguments that every timed event has first. */
#ifndef GT_EVENT_ROWS_H
#define GT_EVENT_ROWS_H

#define STRIP(...)      __VA_ARGS__
#define ARGS(...)       ((const gotrace_arg_spec[]){__VA_ARGS__})
#define COUNT_ARGS(...) (sizeof ARGS(__VA_ARGS__) / sizeof(gotrace_arg_spec))
#define DOES(...)       (&(const gotrace_semantics){__VA_ARGS__})

#define ROW(code, name, since, flags, args, summary, does)                                         \
    [code] = {                                                                                     \
        #name,           summary, code, since, flags, COUNT_ARGS(STRIP args), ARGS(STRIP args),    \
        DOES(STRIP does)},
#define ROW_TIMED(code, name, since, flags, args, summary, does)                                   \
    [code] = {#name,                                                                               \
              summary,                                                                             \
              code,                                                                                \
              since,                                                                               \
              GOTRACE_SPEC_TIMED | (flags),                                                        \
              COUNT_ARGS(TIME, STRIP args),                                                        \
              ARGS(TIME, STRIP args),                                                              \
              DOES(STRIP does)},

#endif
