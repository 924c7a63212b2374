/* stretches.c - see stretches.h. */
#include "formats/view/stretches.h"

#include "formats/analyse/histogram.h"
#include "formats/common/numbers.h"
#include "formats/common/vector.h"

enum {
    STATE_BITS = 0x0f,
    HAS_SEVERAL = 0x10, /* count, longest one and sums follow */
    HAS_GAP = 0x20,     /* it does not begin where the one before ends */
    HAS_STACK = 0x40,
    HAS_OTHER = 0x80,
    /* A byte, five numbers of any stretch; of several, three and the sums. */
    MOST_BYTES = 1 + (8 + DO_KINDS) * PACKED_MOST
};

_Static_assert(DO_KINDS <= STATE_BITS + 1, "a state is stored in four bits");

static unsigned char *put_sums(unsigned char *at, const view_stretch *s)
{
    unsigned has = 0;
    for (unsigned k = 0; k < DO_KINDS; k++)
        has |= (unsigned)(s->ns[k] != 0) << k;
    at = pack_number(at, s->count);
    at = pack_number(at, (uint64_t)s->longest);
    at = pack_number(at, (uint64_t)s->longest_begin - (uint64_t)s->begin);
    at = pack_number(at, has);
    for (unsigned k = 0; k < DO_KINDS; k++)
        if (s->ns[k] != 0)
            at = pack_number(at, (uint64_t)s->ns[k]);
    return at;
}

static bool make_room(view_bytes *to)
{
    unsigned char *bytes = to->failed
                               ? NULL
                               : vector_fit(to->bytes, &to->room, 2 * to->size + MOST_BYTES, 1);
    if (bytes)
        to->bytes = bytes;
    else
        to->failed = true;
    return bytes != NULL;
}

void stretch_put(view_bytes *to, int64_t *time, const view_stretch *s)
{
    if (to->room - to->size < MOST_BYTES && !make_room(to))
        return;
    unsigned char *const head = to->bytes + to->size, *at = head + 1;
    *head = s->state;
    if (s->begin != *time) {
        *head |= HAS_GAP;
        at = pack_number(at, pack_difference((uint64_t)s->begin - (uint64_t)*time));
    }
    at = pack_number(at, (uint64_t)s->end - (uint64_t)s->begin);
    at = pack_number(at, s->reason);
    if (s->stack) {
        *head |= HAS_STACK;
        at = pack_number(at, s->stack);
    }
    if (s->other) {
        *head |= HAS_OTHER;
        at = pack_number(at, s->other);
    }
    if (s->summed) {
        *head |= HAS_SEVERAL;
        at = put_sums(at, s);
    }
    *time = s->end;
    to->size = (size_t)(at - to->bytes);
}

static void get_sums(const unsigned char **at, view_stretch *s)
{
    memset(s->ns, 0, sizeof s->ns);
    s->count = unpack_number(at);
    s->longest = (int64_t)unpack_number(at);
    s->longest_begin = (int64_t)((uint64_t)s->begin + unpack_number(at));
    const uint64_t has = unpack_number(at);
    for (unsigned k = 0; k < DO_KINDS; k++)
        if (has >> k & 1)
            s->ns[k] = (int64_t)unpack_number(at);
}

bool stretch_get(const unsigned char **at, const unsigned char *end, int64_t *time, view_stretch *s)
{
    if (*at >= end)
        return false;
    const unsigned head = *(*at)++;
    const uint64_t gap = head & HAS_GAP ? unpack_difference(unpack_number(at)) : 0;
    s->begin = (int64_t)((uint64_t)*time + gap);
    s->end = *time = (int64_t)((uint64_t)s->begin + unpack_number(at));
    s->state = (uint8_t)(head & STATE_BITS);
    s->reason = (uint32_t)unpack_number(at);
    s->stack = head & HAS_STACK ? (uint32_t)unpack_number(at) : 0;
    s->other = head & HAS_OTHER ? unpack_number(at) : 0;
    s->summed = head & HAS_SEVERAL;
    if (s->summed)
        get_sums(at, s);
    return true;
}

void stretch_add(view_stretch *sum, const view_stretch *s, bool highest)
{
    const int64_t longest = s->summed ? s->longest : s->end - s->begin;
    stretch_complete(sum);
    sum->summed = true;
    sum->count += s->summed ? s->count : 1;
    if (!s->summed)
        sum->ns[s->state] = sum_of_times(sum->ns[s->state], longest);
    for (unsigned k = 0; s->summed && k < DO_KINDS; k++)
        sum->ns[k] = sum_of_times(sum->ns[k], s->ns[k]);
    if (sum->end < s->end)
        sum->end = s->end;
    if (highest ? s->other <= sum->other : longest <= sum->longest)
        return;
    sum->longest = longest;
    sum->longest_begin = s->summed ? s->longest_begin : s->begin;
    sum->state = s->state;
    sum->reason = s->reason;
    sum->stack = s->stack;
    sum->other = s->other;
}

bool stretch_merge_end(stretch_merger *m)
{
    if (m->has_sum && !m->ends)
        m->ends = !m->each(m->ctx, &m->sum);
    m->has_sum = false;
    return !m->ends;
}

bool stretch_merge(stretch_merger *m, const view_stretch *s)
{
    const bool is_short = (uint64_t)s->end - (uint64_t)s->begin < (uint64_t)1 << m->shift;
    if (m->has_sum && is_short && m->sum.begin >> m->shift == s->begin >> m->shift) {
        stretch_add(&m->sum, s, m->highest);
        return true;
    }
    if (!stretch_merge_end(m))
        return false;
    if (is_short) {
        m->sum = *s;
        m->has_sum = true;
    } else {
        m->ends = !m->each(m->ctx, s);
    }
    return !m->ends;
}
