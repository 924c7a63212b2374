/* history_pack.c - states in fewer bytes: as differences to the state before in the block, or to
 * its own number; what is 0 or does not differ in most has a bit. Written and read by one run of
 * the program. */
#include "formats/analyse/path.h"

/* Numbers of a state, the flags aside, and bytes of a number. */
enum { NUMBERS = 7, NUMBER = 10, MOST = 1 + NUMBERS * NUMBER };

/* The flags: state, CAUSE_*, assist, whether the reason is not 0, and whether the function is that
 * of the state before in the block. The cause is stored if another goroutine is it. */
enum {
    STATE_MASK = 7,
    CAUSED_SHIFT = 3,
    CAUSED_MASK = 3,
    ASSIST = 1 << 5,
    HAS_REASON = 1 << 6,
    SAME_FUNCTION = 1 << 7
};

static unsigned char *put_varint(unsigned char *at, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        *at++ = (unsigned char)(v | 0x80);
    *at++ = (unsigned char)v;
    return at;
}

static uint64_t get(const unsigned char **at)
{
    uint64_t v = 0;
    for (unsigned shift = 0;; shift += 7) {
        unsigned char byte = *(*at)++;
        v |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return v;
    }
}

/* Small differences of both signs as small numbers; differences wrap. */
static uint64_t fold(uint64_t difference)
{
    return difference << 1 ^ (difference >> 63 ? UINT64_MAX : 0);
}

static uint64_t unfold(uint64_t folded)
{
    return folded >> 1 ^ (folded & 1 ? UINT64_MAX : 0);
}

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
                                (s->reason ? HAS_REASON : 0) | (same ? SAME_FUNCTION : 0));
        at = put_varint(at, fold((uint64_t)s->time - time));
        at = put_varint(at, fold(s->goroutine - id));
        at = put_varint(at, s->before ? number - s->before : 0);
        if (s->caused == CAUSE_OTHER)
            at = put_varint(at, s->cause ? number - s->cause : 0);
        at = put_varint(at, s->stack);
        if (!same)
            at = put_varint(at, s->function);
        if (s->reason)
            at = put_varint(at, s->reason);
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
        s->time = (int64_t)((uint64_t)last.time + unfold(get(&from)));
        s->goroutine = last.goroutine + unfold(get(&from));
        uint64_t before = get(&from), cause = s->caused == CAUSE_OTHER ? get(&from) : 0;
        s->before = before ? (uint32_t)(number - before) : 0;
        s->cause = cause ? (uint32_t)(number - cause) : 0;
        s->stack = (uint32_t)get(&from);
        s->function = flags & SAME_FUNCTION ? last.function : (uint32_t)get(&from);
        s->reason = flags & HAS_REASON ? (uint32_t)get(&from) : 0;
        last = *s;
    }
}

const big_array_packing path_state_packing = {MOST, pack, unpack};
