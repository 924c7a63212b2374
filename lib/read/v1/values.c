#include "read/v1/values.h"

bool gt_v1_wrong_values(const gotrace_reader *reader, const gt_frame *frame, gt_place place,
                        gotrace_error *error)
{
    uint64_t ignored;
    unsigned count = 0, expected = reader->index.shapes[frame->type].values;
    const gotrace_event_spec *spec = gotrace_event_spec_of(reader->summary.version, frame->type);
    for (const uint8_t *p = frame->values; p < frame->values_end; count++) {
        int used = gt_varint(&p, frame->values_end, &ignored);
        if (used < 0)
            gt_error_set(error, GOTRACE_RULE_WIRE_VARINT, place,
                         "%s: a number runs over ten bytes or 64 bits", spec->name);
        else if (used == 0)
            gt_error_set(error, GOTRACE_RULE_WIRE_LENGTH, place,
                         "%s says it is %llu byte%s long, but its last value goes on beyond that",
                         spec->name, (unsigned long long)frame->length, gt_plural(frame->length));
        if (used <= 0)
            return true;
    }
    if (count != expected)
        gt_error_set(error, GOTRACE_RULE_EVENT_ARITY, place,
                     "%s has %u value%s, %u expected in version 1.%d", spec->name, count,
                     gt_plural(count), expected, reader->summary.version);
    return count != expected;
}
