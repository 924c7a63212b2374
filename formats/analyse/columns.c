#include "formats/analyse/columns.h"

const time_column time_columns[TIME_COUNT] = {
#define TIME_ROW(a, b, time, member, label, place, heading) {#member, label, place},
    TIME_COLUMNS(TIME_ROW, , )
#undef TIME_ROW
};

#define VALUE_OF(member, value)                                                                    \
    static int64_t member##_of(const histogram *h, uint64_t zeros)                                 \
    {                                                                                              \
        (void)zeros; /* which some values do not depend on */                                      \
        return value;                                                                              \
    }
#define SHOWN_VALUE_OF(member, label, heading, value) VALUE_OF(member, value)
VALUE_COLUMNS(SHOWN_VALUE_OF, VALUE_OF)

const value_column value_columns[] = {
#define SHOWN(member, label, heading, value) {#member, label, member##_of},
#define HIDDEN(member, value)                {#member, NULL, member##_of},
    VALUE_COLUMNS(SHOWN, HIDDEN){NULL, NULL, NULL}};
