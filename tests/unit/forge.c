/* forge.c - see forge.h. */
#include "forge.h"

#include <string.h>

/* ---- records ------------------------------------------------------------------------------- */

forge forge_new(int version)
{
    char header[32] = "";
    forge f = {.version = version};
    snprintf(header, sizeof header, "go 1.%d trace", version);
    blob_write(&f.out, header, 16);
    return f;
}

void forge_byte(forge *f, uint8_t byte)
{
    blob_write(&f->out, &byte, 1);
}

static size_t put_varint(uint8_t *at, uint64_t value)
{
    size_t n = 0;
    for (; value >= 0x80; value >>= 7)
        at[n++] = (uint8_t)(value | 0x80);
    at[n++] = (uint8_t)value;
    return n;
}

void forge_varint(forge *f, uint64_t value)
{
    uint8_t bytes[10];
    blob_write(&f->out, bytes, put_varint(bytes, value));
}

void forge_record(forge *f, unsigned code, const uint64_t *values, size_t count)
{
    uint8_t bytes[16 * 10];
    size_t n = 0, least = f->version < 7 ? 2 : 1;
    ck_assert_uint_le(count, 16);
    for (size_t i = 0; i < count; i++)
        n += put_varint(bytes + n, values[i]);
    bool inlined = code != GOTRACE_V1_Stack && count >= least && count - least < 3;
    forge_byte(f, (uint8_t)(code | (inlined ? count - least : 3) << 6));
    if (!inlined)
        forge_varint(f, n);
    blob_write(&f->out, bytes, n);
}

void forge_string(forge *f, uint64_t id, const void *bytes, size_t size)
{
    forge_byte(f, GOTRACE_V1_String);
    forge_varint(f, id);
    forge_varint(f, size);
    blob_write(&f->out, bytes, size);
}

void forge_finish(forge *f)
{
    if (f->version < 7)
        FORGE(f, Frequency, 1000000000, 0);
    else
        FORGE(f, Frequency, 1000000000);
}

/* ---- hostile traces ------------------------------------------------------------------------ */

/* Scattered ids, and ids with equal low bits. */
static uint64_t scattered(uint64_t n)
{
    n = (n + 1) * 0x9e3779b97f4a7c15u;
    return n ^ n >> 29;
}

static uint64_t high(uint64_t n)
{
    return (n + 1) << 32;
}

/* Ids that collide in a hash that multiplies and shifts, if its factor is known; this is the
 * inverse of the usual factor. */
static uint64_t colliding(uint64_t n)
{
    uint64_t mixed = (n << 32 | n) * 0xf1de83e19937733du;
    return mixed ^ mixed >> 32;
}

static bool full(const forge *f, size_t size)
{
    return f->out.size + 16 >= size;
}

/* Create goroutine `id` on proc 0. */
static void create(forge *f, uint64_t id)
{
    FORGE(f, GoCreate, 1, id, 0, 0);
}

static void procs(forge *f, size_t size)
{
    for (uint64_t p = 0; !full(f, size); p++) {
        FORGE(f, Batch, p, 1);
        FORGE(f, HeapAlloc, 1, 1);
    }
}

static void empty_procs(forge *f, size_t size)
{
    for (uint64_t p = 0; !full(f, size); p++)
        FORGE(f, Batch, scattered(p), 1);
}

static void alternating(forge *f, size_t size)
{
    for (uint64_t i = 0; !full(f, size); i++) {
        FORGE(f, Batch, i & 1, i);
        FORGE(f, HeapAlloc, 1, 1);
    }
}

static void empty_batches(forge *f, size_t size)
{
    while (!full(f, size))
        FORGE(f, Batch, 0, 1);
}

static void goroutines_of(forge *f, size_t size, uint64_t (*id)(uint64_t n))
{
    FORGE(f, Batch, 0, 1);
    for (uint64_t n = 1; !full(f, size); n++)
        create(f, id ? id(n) : n);
}

static void goroutines(forge *f, size_t size)
{
    goroutines_of(f, size, NULL);
}

static void goroutines_scattered(forge *f, size_t size)
{
    goroutines_of(f, size, scattered);
}

static void goroutines_high(forge *f, size_t size)
{
    goroutines_of(f, size, high);
}

static void goroutines_colliding(forge *f, size_t size)
{
    goroutines_of(f, size, colliding);
}

/* The shortest record that introduces a goroutine. */
static void goroutines_found(forge *f, size_t size)
{
    FORGE(f, Batch, 0, 1);
    for (uint64_t n = 1; !full(f, size); n++)
        FORGE(f, GoStartLocal, 1, n);
}

static void goroutines_ended(forge *f, size_t size)
{
    FORGE(f, Batch, 0, 1);
    for (uint64_t n = 1; !full(f, size); n++) {
        create(f, 64 * n);
        FORGE(f, GoStartLocal, 1, 64 * n);
        FORGE(f, GoEnd, 1);
    }
}

static void one_goroutine(forge *f, size_t size)
{
    FORGE(f, Batch, 0, 1);
    create(f, 1);
    while (!full(f, size)) {
        FORGE(f, GoStartLocal, 1, 1);
        FORGE(f, GoSched, 1, 0);
    }
}

static void strings_of(forge *f, size_t size, uint64_t (*id)(uint64_t n))
{
    for (uint64_t n = 1; !full(f, size); n++)
        forge_string(f, id ? id(n) : n, "x", 1);
    FORGE(f, Batch, 0, 1);
}

static void strings(forge *f, size_t size)
{
    strings_of(f, size, NULL);
}

static uint64_t every_third(uint64_t n)
{
    return 3 * n;
}

static void strings_sparse(forge *f, size_t size)
{
    strings_of(f, size, every_third);
}

static void strings_scattered(forge *f, size_t size)
{
    strings_of(f, size, scattered);
}

static void strings_high(forge *f, size_t size)
{
    strings_of(f, size, high);
}

static void strings_colliding(forge *f, size_t size)
{
    strings_of(f, size, colliding);
}

static void strings_falling(forge *f, size_t size)
{
    for (uint64_t n = size / 6; !full(f, size); n--)
        forge_string(f, n, "x", 1);
    FORGE(f, Batch, 0, 1);
}

/* Long strings, each followed by a short one that does not fit any more. */
static void strings_long(forge *f, size_t size)
{
    static const char text[65537];
    for (uint64_t n = 1; !full(f, size); n += 2) {
        forge_string(f, n, text, sizeof text);
        forge_string(f, n + 1, "x", 1);
    }
    FORGE(f, Batch, 0, 1);
}

static void stacks(forge *f, size_t size)
{
    FORGE(f, Batch, 0, 1);
    for (uint64_t n = 1; !full(f, size); n++)
        FORGE(f, Stack, scattered(n), 1, 1, 0, 0, 1);
}

static void one_stack(forge *f, size_t size)
{
    FORGE(f, Batch, 0, 1);
    while (!full(f, size))
        FORGE(f, Stack, 1, 1, 1, 0, 0, 1);
}

static void missing(forge *f, size_t size)
{
    FORGE(f, Batch, 0, 1);
    for (uint64_t n = 1; !full(f, size); n++)
        FORGE(f, Gomaxprocs, 1, 1, n);
}

static void regions(forge *f, size_t size)
{
    FORGE(f, Batch, 0, 1);
    while (!full(f, size))
        FORGE(f, UserRegion, 1, 1, 0, 0, 0);
}

static void region_each(forge *f, size_t size)
{
    FORGE(f, Batch, 0, 1);
    for (uint64_t n = 1; !full(f, size); n++) {
        create(f, n);
        FORGE(f, GoStartLocal, 1, n);
        FORGE(f, UserRegion, 1, 1, 0, 0, 0);
        FORGE(f, GoSched, 1, 0);
    }
}

static void tasks(forge *f, size_t size)
{
    FORGE(f, Batch, 0, 1);
    for (uint64_t n = 1; !full(f, size); n++)
        FORGE(f, UserTaskCreate, 1, n, 0, 0, 0);
}

static void timers(forge *f, size_t size)
{
    FORGE(f, Batch, 0, 1);
    for (uint64_t n = 1; !full(f, size); n++)
        FORGE(f, TimerGoroutine, scattered(n));
}

static void logs(forge *f, size_t size)
{
    FORGE(f, Batch, 0, 1);
    while (!full(f, size)) {
        FORGE(f, UserLog, 1, 0, 0, 0);
        forge_varint(f, 0);
    }
}

/* Every proc waits for a goroutine that never becomes runnable. */
static void all_wait(forge *f, size_t size)
{
    for (uint64_t p = 1; !full(f, size); p++) {
        FORGE(f, Batch, p, p);
        FORGE(f, GoStart, 1, p, 5);
        FORGE(f, GoStart, 1, p + 1, 6);
    }
}

/* Every proc waits for the same goroutine; the sequence numbers are in reverse order of the procs.
 */
static void queue(forge *f, size_t size)
{
    uint64_t count = size / 14;
    for (uint64_t p = 1; p <= count; p++) {
        uint64_t turn = count - p;
        FORGE(f, Batch, p, 1 + 3 * turn);
        FORGE(f, GoStart, 1, 1, 1 + 2 * turn);
        FORGE(f, GoBlock, 1, 0);
        FORGE(f, GoUnblock, 1, 1, 2 + 2 * turn, 0);
    }
    FORGE(f, Batch, 0, 0);
    create(f, 1);
}

/* Every proc waits for the same goroutine and sequence number. */
static void crowd(forge *f, size_t size)
{
    for (uint64_t p = 1; !full(f, size); p++) {
        FORGE(f, Batch, p, 1);
        FORGE(f, GoStartLocal, 1, 1);
        FORGE(f, GoSched, 1, 0);
    }
    FORGE(f, Batch, 0, 1);
    create(f, 1);
}

/* A proc whose every event waits in vain, among many procs without further events. */
static void alone(forge *f, size_t size)
{
    for (uint64_t p = 1; !full(f, size / 2); p++) {
        FORGE(f, Batch, p, 1);
        FORGE(f, HeapAlloc, 1, 1);
    }
    FORGE(f, Batch, 0, 2);
    while (!full(f, size))
        FORGE(f, GoStart, 1, 1, 0);
}

/* Ends of system calls at the same time, in order and out of order. */
static void exits(forge *f, size_t size)
{
    FORGE(f, Batch, 0, 1000);
    for (uint64_t seq = 0; !full(f, size); seq++)
        FORGE(f, GoSysExit, 0, 1, seq, 1000);
}

static void exits_moved(forge *f, size_t size)
{
    FORGE(f, Batch, 0, 1000);
    for (uint64_t seq = 0; !full(f, size); seq++)
        FORGE(f, GoSysExit, 1, 1, seq, 999);
}

static void exits_backwards(forge *f, size_t size)
{
    FORGE(f, Batch, 0, 1000);
    for (uint64_t n = 1; !full(f, size); n++)
        FORGE(f, GoSysExit, 1, n, 0, INT64_MAX - n);
}

static void samples(forge *f, size_t size)
{
    FORGE(f, Batch, 0, 1);
    for (uint64_t n = 1; !full(f, size); n++)
        FORGE(f, CPUSample, 1, n ^ 0x55, n, 0, 0);
}

static void backwards(forge *f, size_t size)
{
    FORGE(f, Batch, 0, 1000000000);
    while (!full(f, size))
        FORGE(f, HeapAlloc, (uint64_t)-1, 1);
}

static void same_tick(forge *f, size_t size)
{
    for (uint64_t p = 0; p < 1000; p++) {
        FORGE(f, Batch, p, 1);
        for (size_t n = 0; n < size / 3000; n++)
            FORGE(f, HeapAlloc, 0, 1);
    }
}

/* Wake-ups that remain undecided to the end, and are then found to be futile. */
static void futile(forge *f, size_t size)
{
    FORGE(f, Batch, 0, 1);
    create(f, 1);
    while (!full(f, size)) {
        FORGE(f, GoStartLocal, 1, 1);
        FORGE(f, GoPreempt, 1, 0);
    }
    FORGE(f, GoStartLocal, 1, 1);
    FORGE(f, FutileWakeup, 1);
    FORGE(f, GoBlock, 1, 0);
}

static void futile_each(forge *f, size_t size)
{
    FORGE(f, Batch, 0, 1);
    for (uint64_t n = 1; !full(f, size); n++) {
        create(f, n);
        FORGE(f, GoStartLocal, 1, n);
        FORGE(f, FutileWakeup, 1);
        FORGE(f, GoBlock, 1, 0);
    }
}

static void old_procs(forge *f, size_t size)
{
    for (uint64_t p = 0; !full(f, size); p++) {
        FORGE(f, Batch, p, 1, 1);
        FORGE(f, HeapAlloc, 1, 1, 1);
    }
}

static void old_exits(forge *f, size_t size)
{
    FORGE(f, Batch, 0, 1, 1);
    for (uint64_t n = 1; !full(f, size); n++)
        FORGE(f, GoSysExit, 1, 1, n, 1, 1);
}

const hostile hostiles[] = {
    {"procs", procs, 21},
    {"empty procs", empty_procs, 21},
    {"alternating procs", alternating, 21},
    {"empty batches", empty_batches, 21},
    {"goroutines", goroutines, 21},
    {"scattered goroutines", goroutines_scattered, 21},
    {"high goroutines", goroutines_high, 21},
    {"colliding goroutines", goroutines_colliding, 21},
    {"found goroutines", goroutines_found, 21},
    {"ended goroutines", goroutines_ended, 21},
    {"one goroutine", one_goroutine, 21},
    {"strings", strings, 21},
    {"sparse strings", strings_sparse, 21},
    {"scattered strings", strings_scattered, 21},
    {"high strings", strings_high, 21},
    {"colliding strings", strings_colliding, 21},
    {"falling strings", strings_falling, 21},
    {"long strings", strings_long, 21},
    {"stacks", stacks, 21},
    {"one stack", one_stack, 21},
    {"missing stacks", missing, 21},
    {"regions", regions, 21},
    {"a region each", region_each, 21},
    {"tasks", tasks, 21},
    {"timers", timers, 11},
    {"logs", logs, 21},
    {"all wait", all_wait, 21},
    {"queue", queue, 21},
    {"crowd", crowd, 21},
    {"one waits alone", alone, 21},
    {"exits", exits, 21},
    {"moved exits", exits_moved, 21},
    {"exits backwards", exits_backwards, 21},
    {"samples", samples, 21},
    {"backwards", backwards, 21},
    {"same tick", same_tick, 21},
    {"futile", futile, 10},
    {"futile each", futile_each, 10},
    {"old procs", old_procs, 5},
    {"old exits", old_exits, 5},
    {NULL, NULL, 0},
};
