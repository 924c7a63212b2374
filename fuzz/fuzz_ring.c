/*
 * fuzz_ring.c - what a process may write to the memory that it shares with `gotrace record`:
 * records that are valid or not, in any order, and anything else; it becomes a sound trace.
 *
 * The input is the version, and then a list of steps: each is a byte with its kind, and its values.
 */
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "common.h"
#include "cmd/record/record.h"
#include "cmd/repair/verdict.h"
#include "cmd/verb.h"

enum { SLOTS = 4, SECOND_NS = 1000000000 };

typedef struct steps {
    const uint8_t *p, *end;
    ring *ring;
    uint64_t time; /* of the last record */
} steps;

static uint64_t next(steps *s, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size && s->p < s->end; i++)
        value |= (uint64_t)*s->p++ << 8 * i;
    return value;
}

static ring_slot *next_slot(steps *s)
{
    return &s->ring->slots[next(s, 1) % SLOTS];
}

/* Begins a thread in a slot, as the library does. */
static void take_slot(steps *s)
{
    ring_slot *slot = next_slot(s);
    slot->image = s->ring->images > 0 ? s->ring->images - 1 : 0;
    slot->state = RING_TAKEN;
    if (s->ring->used < SLOTS)
        s->ring->used = SLOTS;
}

static void put_in(ring_slot *slot, ring_record record)
{
    slot->records[slot->head % RING_RECORDS] = record;
    slot->head++;
}

static void put(steps *s, ring_record record)
{
    put_in(next_slot(s), record);
}

static void put_record(steps *s)
{
    const uint8_t type = (uint8_t)(next(s, 1) % (RING_NAME + 2));
    s->time += 1 + next(s, 1) * 1000;
    put(s, (ring_record){.time = s->time,
                         .type = type,
                         .kind = (uint8_t)(next(s, 1) % (RING_CHILD + 2)),
                         .flags = (uint16_t)next(s, 1),
                         .stack = (uint16_t)(next(s, 1) % 4),
                         .object = next(s, type == RING_DELAY ? 3 : 1)});
}

/* What a file descriptor is, and a call that reads from it, writes to it or polls. */
static void put_descriptor(steps *s)
{
    static const uint8_t kinds[] = {RING_POLL, RING_NETWORK, RING_RECEIVE, RING_SEND, RING_NO_WAIT};
    ring_slot *slot = next_slot(s);
    ring_descriptor d = {.type = next(s, 1) % (RING_FD_SOCKET + 2)};
    const uint16_t fd = (uint16_t)(next(s, 1) % 4),
                   parts = (uint16_t)(next(s, 1) % (RING_FD_PARTS + 1));
    char *const members[] = {d.socket.own, d.socket.peer};
    for (unsigned i = 0; i < 2; i++) {
        const uint64_t address = next(s, 3);
        memcpy(members[i], &address, sizeof address);
    }
    for (uint16_t n = 0; n < parts; n++) {
        ring_record part = {
            .time = s->time, .type = RING_FD, .kind = (uint8_t)n, .flags = fd, .stack = parts};
        memcpy(&part.object, (const char *)&d + n * sizeof part.object, sizeof part.object);
        put_in(slot, part);
    }
    s->time += next(s, 1) * 1000;
    put_in(slot, (ring_record){.time = s->time,
                               .type = RING_BLOCK,
                               .kind = kinds[next(s, 1) % sizeof kinds],
                               .object = fd | (next(s, 1) & 7) * RING_FROM});
}

static void put_any(steps *s)
{
    uint8_t any[sizeof(ring_record)];
    ring_record record;
    for (size_t i = 0; i < sizeof any; i++)
        any[i] = (uint8_t)next(s, 1);
    memcpy(&record, any, sizeof record);
    put(s, record);
}

/* Writes to one of the members. */
static void damage(steps *s)
{
    ring_slot *slot = next_slot(s);
    const uint8_t member = (uint8_t)next(s, 1);
    const uint64_t value = next(s, 1 + member / 16 % 8);
    switch (member % 16) {
    case 0: s->ring->closed = (uint32_t)value; break;
    case 1: s->ring->images = (uint32_t)value; break;
    case 2: s->ring->used = (uint32_t)value; break;
    case 3: s->ring->mains[value % RING_IMAGES] = value << 32; break;
    case 4: s->ring->maps[0][value % RING_MAPS] = (char)(value >> 16); break;
    case 5: slot->state = (uint32_t)value; break;
    case 6: slot->image = (uint32_t)value; break;
    case 7: slot->busy = (uint32_t)value; break;
    case 8: slot->head = value; break;
    case 9: slot->head += value; break;
    case 10: slot->tail = value; break;
    case 11: slot->state = RING_FINISHED; break;
    case 12: s->ring->images++; break;
    default: put_record(s); break;
    }
}

static void take_ahead(void *ctx)
{
    source_take_ahead(ctx);
}

static void run(steps *s, source *from, replay *r)
{
    while (s->p < s->end) {
        switch (next(s, 1) % 8) {
        case 0: take_slot(s); break;
        case 1: damage(s); break;
        case 2: put_any(s); break;
        case 3: {
            const uint64_t until = source_take(from) - next(s, 1) * 1000;
            replay_until(r, until, until - next(s, 1) * 1000);
            break;
        }
        case 4: put_descriptor(s); break;
        default: put_record(s); break;
        }
    }
}

static uint64_t begin_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return ((uint64_t)t.tv_sec - 1) * SECOND_NS + (uint64_t)t.tv_nsec;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int versions[] = {26, 19, 22, 5};
    source from = {.fault = NULL};
    size_t backlog = 0;
    bytes trace = {0};
    out to;
    uint64_t problems;
    verdict found;
    gotrace_error error = GOTRACE_INIT(gotrace_error);
    gotrace_config config = fuzz_config(&problems);
    if (size == 0)
        return 0;
    names n = {.files = files_new(), .wait = {take_ahead, &from, signals_want_end_now}};
    const int fd = source_create(true, 0);
    REQUIRE(n.files && fd >= 0 && source_open(&from, fd, getpid(), &n, &backlog));
    REQUIRE(out_init(&to, bytes_write, &trace));
    steps s = {data + 1, data + size, from.shared, begin_time()};
    replay *r = replay_new(&n, versions[data[0] % 4], s.time, 0, &to);
    REQUIRE(r && replay_add(r, &from));
    s.ring->images = 1;
    run(&s, &from, r);
    source_take_last(&from);
    replay_until(r, UINT64_MAX, UINT64_MAX);
    REQUIRE(!from.failed);
    REQUIRE(replay_end(r, data[0] & 4 ? s.time + SECOND_NS : 0) == EXIT_SOUND);
    REQUIRE(out_flush(&to));
    out_free(&to);
    source_close(&from);
    names_free(&n);
    files_free(n.files);
    close(fd);
    REQUIRE(backlog == 0);
    config.on_problem = NULL;
    REQUIRE(verdict_of(trace.data, trace.size, &config, &found, &error));
    REQUIRE(found.sound || found.events == 0);
    bytes_free(&trace);
    return 0;
}
