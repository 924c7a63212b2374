/* raw.c - damage bytes as disks, crashes and interleaved output do. */
#include "cmd/mutate/mutate.h"

enum { SPANS = 4 };

static size_t span(mutate *m, size_t at)
{
    static const size_t sizes[SPANS] = {1, 16, 300, 5000};
    size_t size = sizes[mutate_below(m, SPANS)], left = m->result.count - at;
    return size < left ? size : left;
}

/* Replace drop bytes by size others. */
static bool splice(mutate *m, size_t at, size_t drop, const uint8_t *bytes, size_t size)
{
    parts_bytes *b = &m->result;
    if (!mutate_grow(m, &b->bytes, &b->capacity, b->count + size, 1))
        return false;
    memmove(b->bytes + at + size, b->bytes + at + drop, b->count - at - drop);
    if (size > 0)
        memcpy(b->bytes + at, bytes, size);
    b->count = b->count - drop + size;
    return true;
}

static bool flip(mutate *m, size_t at, mutate_change *change)
{
    change->what = "bit flipped";
    change->size = 1;
    uint8_t from = m->result.bytes[at];
    m->result.bytes[at] ^= (uint8_t)(1u << mutate_below(m, 8));
    mutate_set_values(change, from, m->result.bytes[at]);
    return true;
}

static bool byte(mutate *m, size_t at, mutate_change *change)
{
    change->what = "byte changed";
    change->size = 1;
    uint8_t from = m->result.bytes[at];
    m->result.bytes[at] = (uint8_t)(from + 1 + mutate_below(m, 255));
    mutate_set_values(change, from, m->result.bytes[at]);
    return true;
}

static bool zeroes(mutate *m, size_t at, mutate_change *change)
{
    change->what = "zeroes";
    change->size = mutate_chance(m, 4) ? m->result.count - at : span(m, at);
    memset(m->result.bytes + at, 0, (size_t)change->size);
    return true;
}

static bool truncated(mutate *m, size_t at, mutate_change *change)
{
    change->what = "cut off";
    change->size = m->result.count - at;
    m->result.count = at;
    return true;
}

static bool left_out(mutate *m, size_t at, mutate_change *change)
{
    change->what = "bytes left out";
    change->size = span(m, at);
    return splice(m, at, (size_t)change->size, NULL, 0);
}

static bool noise(mutate *m, size_t at, mutate_change *change)
{
    uint8_t bytes[300];
    change->what = "noise put in";
    change->size = 1 + mutate_below(m, sizeof bytes);
    for (size_t i = 0; i < change->size; i++)
        bytes[i] = (uint8_t)mutate_below(m, 256);
    return splice(m, at, 0, bytes, (size_t)change->size);
}

static bool foreign(mutate *m, size_t at, mutate_change *change)
{
    static const char text[] = "2026/11/21 09:00:00 http: panic serving 127.0.0.1: boom\n";
    change->what = "text put in";
    change->size = sizeof text - 1;
    return splice(m, at, 0, (const uint8_t *)text, sizeof text - 1);
}

/* Copy a range of bytes to a random place. */
static bool duplicate_bytes(mutate *m, size_t at, mutate_change *change)
{
    uint8_t bytes[5000];
    size_t size = span(m, at), to = mutate_below(m, m->result.count);
    change->what = "bytes doubled";
    change->size = size;
    mutate_set_values(change, at, to);
    memcpy(bytes, m->result.bytes + at, size);
    return splice(m, to, 0, bytes, size);
}

static bool twice(mutate *m, size_t at, mutate_change *change)
{
    (void)at;
    change->what = "the whole trace again";
    change->offset = m->result.count;
    change->size = m->size;
    return splice(m, m->result.count, 0, m->bytes, m->size);
}

static bool (*const kinds[])(mutate *m, size_t at, mutate_change *change) = {
    flip,   flip,      flip,     byte,  byte,    byte,
    zeroes, truncated, left_out, noise, foreign, duplicate_bytes,
    twice,
};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

bool mutate_raw(mutate *m)
{
    parts_bytes *b = &m->result;
    if (!mutate_grow(m, &b->bytes, &b->capacity, m->size, 1))
        return false;
    b->count = m->size;
    if (m->size > 0)
        memcpy(b->bytes, m->bytes, m->size);
    unsigned wanted = 1 + (mutate_chance(m, 3) ? mutate_below(m, 3) : 0);
    while (wanted-- > 0 && b->count > 0) {
        size_t at = mutate_below(m, b->count);
        mutate_change *change = mutate_note(m, "", NULL);
        change->offset = at;
        if (!kinds[mutate_below(m, KINDS)](m, at, change))
            return false;
    }
    return true;
}
