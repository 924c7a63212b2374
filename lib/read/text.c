#include "read/text.h"

#include <string.h>

#include "core/text.h"
#include "read/handle.h"

enum { BEFORE = 1024 }; /* bytes searched for the beginning of a text */

bool gt_text_find(gotrace_reader *reader, uint64_t at, uint64_t *begin)
{
    uint8_t bytes[BEFORE + GT_TEXT_LOOK];
    uint64_t from = at > GT_HEADER_SIZE + BEFORE ? at - BEFORE : GT_HEADER_SIZE;
    size_t got, wanted = (size_t)(at - from) + GT_TEXT_LOOK;
    *begin = UINT64_MAX;
    if (gt_read_bytes(reader, from, bytes, wanted, &got) < 0)
        return gt_fail(reader);
    const uint8_t *p = bytes, *end = bytes + got, *place = bytes + (at - from);
    while (p < end && p <= place) {
        size_t size = gt_text_run(p, end);
        if (p + size > place && gt_text_begins(p, end, got < wanted))
            *begin = from + (uint64_t)(p - bytes);
        p += size + 1;
    }
    return true;
}

bool gt_text_at(gotrace_reader *reader, uint64_t at, char quote[GT_TEXT_QUOTE])
{
    uint8_t bytes[GT_TEXT_LOOK];
    size_t got;
    quote[0] = '\0';
    if (gt_read_bytes(reader, at, bytes, sizeof bytes, &got) < 0)
        return gt_fail(reader);
    if (gt_text_begins(bytes, bytes + got, got < sizeof bytes))
        gt_text_quote(bytes, bytes + got, quote);
    return true;
}
