/* history_pack.c - states in fewer bytes: as differences to the state before in the block, or to
 * its own number; what is 0 or does not differ in most has a bit. Written and read by one run of
 * the program. */
#include "formats/analyse/path.h"
#include "formats/common/numbers.h"

/* Numbers of a state, the flags aside. */
enum { NUMBERS = 8, MOST = 1 + NUMBERS * PACKED_MOST };

/* The flags: state, CAUSE_*, assist, whether there is a reason, and whether the function is that of
 * the state before in the block. The cause is stored if another goroutine is it. The lowest bit of
 * a reason says whether it is known what is waited for. */
enum {
    STATE_MASK = 7,
    CAUSED_SHIFT = 3,
    CAUSED_MASK = 3,
    ASSIST = 1 << 5,
    HAS_REASON = 1 << 6,
    SAME_FUNCTION = 1 << 7
};

static size_t pack(unsigned char *to, const void *items, uint64_t first)
{
    const path_state *list = items;
    uint64_t time = 0, id = 0;
    uint32_t function = 0;
    unsigned char *at = to;
    for (size_t i = 0; i < BIG_ARRAY_ITEMS; i++) {
        const path_state *s = &list[i];
        uint64_t number = first + i;
        const bool same = s->function == function;
        *at++ = (unsigned char)(s->state | s->caused << CAUSED_SHIFT | (s->assist ? ASSIST : 0) |
                                (s->reason || s->waits_for ? HAS_REASON : 0) |
                                (same ? SAME_FUNCTION : 0));
        at = pack_number(at, pack_difference((uint64_t)s->time - time));
        at = pack_number(at, pack_difference(s->goroutine - id));
        at = pack_number(at, s->before ? number - s->before : 0);
        if (s->caused == CAUSE_OTHER)
            at = pack_number(at, s->cause ? number - s->cause : 0);
        at = pack_number(at, s->stack);
        if (!same)
            at = pack_number(at, s->function);
        if (s->reason || s->waits_for)
            at = pack_number(at, (uint64_t)s->reason << 1 | (s->waits_for != 0));
        if (s->waits_for)
            at = pack_number(at, s->waits_for);
        time = (uint64_t)s->time;
        id = s->goroutine;
        function = s->function;
    }
    return (size_t)(at - to);
}

static void unpack(void *items, const unsigned char *from, uint64_t first)
{
    path_state *list = items, last = {0};
    for (size_t i = 0; i < BIG_ARRAY_ITEMS; i++) {
        path_state *s = &list[i];
        uint64_t number = first + i;
        unsigned flags = *from++;
        s->state = flags & STATE_MASK;
        s->caused = flags >> CAUSED_SHIFT & CAUSED_MASK;
        s->assist = flags & ASSIST;
        s->time = (int64_t)((uint64_t)last.time + unpack_difference(unpack_number(&from)));
        s->goroutine = last.goroutine + unpack_difference(unpack_number(&from));
        uint64_t before = unpack_number(&from),
                 cause = s->caused == CAUSE_OTHER ? unpack_number(&from) : 0;
        s->before = before ? (uint32_t)(number - before) : 0;
        s->cause = cause ? (uint32_t)(number - cause) : 0;
        s->stack = (uint32_t)unpack_number(&from);
        s->function = flags & SAME_FUNCTION ? last.function : (uint32_t)unpack_number(&from);
        const uint64_t reason = flags & HAS_REASON ? unpack_number(&from) : 0;
        s->reason = (uint32_t)(reason >> 1);
        s->waits_for = reason & 1 ? (uint32_t)unpack_number(&from) : 0;
        last = *s;
    }
}

const big_array_packing path_state_packing = {MOST, pack, unpack};
