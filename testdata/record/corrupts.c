/*
 * corrupts.c - corrupts HOW: writes to the memory that the process shares with `gotrace record`, as
 * a fault of a program may. For tests/record.
 *
 * It calls write CALLS times, waits until that is taken, damages the memory, and calls it again,
 * also after the recorder has noticed that.
 * With the ways of the session a child does so too, while its parent damages the memory. recorder:
 * see outlive_recorder.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmd/preload/ring.h"

enum { CALLS = 100 };

static ring *rings[4];
static ring_session *session;
static unsigned ring_count;
static int null;

/* The memory with that size of which there are several: of this process and, in a child, of its
 * parent. */
static void find_memory(void)
{
    ring_count = 0;
    char line[512];
    uint64_t begin, end;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps && fgets(line, sizeof line, maps)) {
        if (!strstr(line, "memfd:gotrace") ||
            sscanf(line, "%" SCNx64 "-%" SCNx64, &begin, &end) != 2)
            continue;
        if (end - begin > sizeof(ring) / 2 && ring_count < 4)
            rings[ring_count++] = (ring *)(uintptr_t)begin;
        else
            session = (ring_session *)(uintptr_t)begin;
    }
    if (maps)
        fclose(maps);
}

/* Without <stdlib.h>'s functions, the same on every machine. */
static uint64_t number = 1;

static uint8_t random_byte(void)
{
    number = number * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint8_t)(number >> 56);
}

static void call(unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        (void)!write(null, "", 1);
}

/* What first threads have recorded. */
static void wait_until_taken(void)
{
    for (unsigned i = 0; i < ring_count; i++)
        while (rings[i]->slots[0].tail != rings[i]->slots[0].head)
            sched_yield();
}

/* Recording then ends. */
static void wait_until_noticed(void)
{
    while (!session->closed)
        sched_yield();
}

static void *call_in_thread(void *arg)
{
    call(CALLS);
    return arg;
}

/* ---- ways of a ring -------------------------------------------------------------------------- */

/* Writes a record, as the library does. */
static void put_in(ring_slot *slot, ring_record record)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    if (record.time == 0)
        record.time = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
    slot->records[slot->head % RING_RECORDS] = record;
    slot->head++;
}

static void put(ring *r, ring_record record)
{
    put_in(&r->slots[0], record);
}

static void used_all(ring *r)
{
    r->used = UINT32_MAX;
}
static void used_more(ring *r)
{
    r->used = 2 * RING_SLOTS;
}
static void head_far(ring *r)
{
    r->slots[0].head = UINT64_C(1) << 40;
}
/* It remains below the number of records that were taken. */
static void head_back(ring *r)
{
    call(5 * CALLS);
    wait_until_taken();
    r->slots[0].head = 3;
}
static void images_many(ring *r)
{
    r->images = UINT32_MAX;
}
static void images_none(ring *r)
{
    r->images = 0;
}
static void state(ring *r)
{
    r->slots[0].state = 77;
}
static void closed(ring *r)
{
    r->closed = 1;
}

static void image(ring *r)
{
    r->slots[5].image = 1 << 30;
    r->slots[5].state = RING_TAKEN;
    r->used = 6;
}

static void type(ring *r)
{
    put(r, (ring_record){.type = 200});
}
static void kind(ring *r)
{
    put(r, (ring_record){.type = RING_BLOCK, .kind = 255});
}

static void frame(ring *r)
{
    put(r, (ring_record){.type = RING_FRAME, .kind = 255, .flags = UINT16_MAX, .stack = 1});
}

static void stack(ring *r)
{
    put(r, (ring_record){.type = RING_WAKE, .stack = UINT16_MAX});
}

static void created(ring *r)
{
    put(r, (ring_record){.type = RING_CREATE, .flags = UINT16_MAX, .object = UINT64_MAX});
}

static void descriptor(ring *r)
{
    put(r, (ring_record){.type = RING_FD, .flags = UINT16_MAX});
}

static void future(ring *r)
{
    put(r, (ring_record){.type = RING_WAKE, .time = UINT64_MAX / 2});
}

/* This is no damage that can be seen: the slot seems to be that of a thread that writes a record.
 */
static void busy(ring *r)
{
    r->slots[9].state = RING_TAKEN;
    r->slots[9].busy = 1;
    r->used = 10;
}

/* Nor this: a thread whose records are older than the trace, as if it had not ended writing them.
 */
static void late(ring *r)
{
    ring_slot *slot = &r->slots[9];
    put_in(slot, (ring_record){.type = RING_ATTACH, .object = 1, .time = 1});
    put_in(slot, (ring_record){.type = RING_BLOCK, .kind = RING_FILE, .time = 2});
    put_in(slot, (ring_record){.type = RING_RESUME, .time = 3});
    slot->state = RING_TAKEN;
    r->used = 10;
}

/* Nor this: a frame with an address of no file, and a list of files with a pipe and no end. */
static void maps(ring *r)
{
    memset(r->maps[0], 'a', RING_MAPS);
    snprintf(r->maps[0], RING_MAPS, "1000-2000 r-xp 0 00:00 1 %s/pipe\n", getenv("PWD"));
    r->maps[0][strlen(r->maps[0])] = 'b';
    r->mains[0] = UINT64_MAX;
    put(r, (ring_record){.type = RING_FRAME, .flags = 1, .stack = 1, .object = UINT64_MAX - 5});
    put(r, (ring_record){.type = RING_FRAME, .flags = 1, .stack = 2, .object = 0x1800});
    put(r, (ring_record){.type = RING_BLOCK, .kind = RING_SLEEP, .stack = 1});
    put(r, (ring_record){.type = RING_BLOCK, .kind = RING_SLEEP, .stack = 2});
}

/* Nor this, of a lock that does not exist, and of a thread that was runnable for longer than it
 * waited. */
static void holder(ring *r)
{
    put(r, (ring_record){.type = RING_BLOCK, .kind = RING_SLEEP});
    put(r, (ring_record){.type = RING_DELAY, .object = UINT64_MAX - 1});
    put(r, (ring_record){.type = RING_RESUME});
    put(r, (ring_record){.type = RING_HOLDER, .object = UINT64_MAX});
    put(r, (ring_record){.type = RING_BLOCK,
                         .kind = RING_WRITE_LOCK,
                         .flags = UINT16_MAX,
                         .object = UINT64_MAX});
}

/* Nor this: names of file descriptors that do not end, or are of no known kind. */
static void descriptors(ring *r)
{
    for (uint16_t fd = 0; fd < RING_FDS; fd += RING_FDS / 5 + 1) {
        for (uint8_t n = 0; n < RING_FD_PARTS; n++)
            put(r, (ring_record){.type = RING_FD,
                                 .kind = n,
                                 .flags = fd,
                                 .stack = RING_FD_PARTS,
                                 .object = n > 0 ? UINT64_MAX : fd % 5});
        put(r, (ring_record){.type = RING_BLOCK, .kind = RING_NETWORK, .object = fd});
        put(r, (ring_record){.type = RING_BLOCK, .kind = RING_FILE_LOCK, .object = UINT64_MAX});
    }
}

static void random_records(ring *r)
{
    uint8_t *bytes = (uint8_t *)r->slots[0].records;
    for (size_t i = 0; i < sizeof r->slots[0].records; i++)
        bytes[i] = random_byte();
    r->slots[0].head += 100;
}

static void random_bytes(ring *r)
{
    uint8_t *bytes = (uint8_t *)r;
    for (size_t i = 0; i < offsetof(ring, slots) + 2 * sizeof(ring_slot); i++)
        bytes[i] = random_byte();
}

typedef struct way {
    const char *name;
    void (*damage)(ring *r);
    bool hidden; /* the recorder cannot see it */
} way;

static const way ways[] = {
    {"used_all", used_all, false},
    {"used_more", used_more, false},
    {"head_far", head_far, false},
    {"head_back", head_back, false},
    {"images_many", images_many, false},
    {"images_none", images_none, false},
    {"state", state, false},
    {"closed", closed, false},
    {"image", image, false},
    {"type", type, false},
    {"kind", kind, false},
    {"frame", frame, false},
    {"stack", stack, false},
    {"created", created, false},
    {"descriptor", descriptor, false},
    {"future", future, false},
    {"random_records", random_records, false},
    {"random_bytes", random_bytes, false},
    {"busy", busy, true},
    {"late", late, true},
    {"maps", maps, true},
    {"holder", holder, true},
    {"descriptors", descriptors, true},
};

/* ---- ways of the session --------------------------------------------------------------------- */

static void change_fds(void)
{
    for (int i = 0; i < RING_PROCESSES; i++)
        session->fds[i] = i % 8;
}

static void change_pids(void)
{
    for (int i = 0; i < RING_PROCESSES; i++)
        session->pids[i] = i % 3 - 1;
}

static void change_all(void)
{
    uint8_t *bytes = (uint8_t *)session;
    for (size_t i = 0; i < sizeof *session; i++)
        bytes[i] = random_byte();
}

/* A child is recorded while its parent damages the session. */
static int damage_session(const char *how)
{
    int go[2], done[2], status;
    char byte;
    if (pipe(go) < 0 || pipe(done) < 0)
        return 1;
    pid_t child = fork();
    if (child == 0) {
        call(CALLS);
        find_memory();
        wait_until_taken();
        (void)!write(done[1], "", 1);
        (void)!read(go[0], &byte, 1);
        call(CALLS);
        _exit(0);
    }
    if (read(done[0], &byte, 1) != 1)
        return 1;
    strcmp(how, "fds") == 0    ? change_fds()
    : strcmp(how, "pids") == 0 ? change_pids()
                               : change_all();
    (void)!write(go[1], "", 1);
    return waitpid(child, &status, 0) == child && status == 0 ? 5 : 1;
}

/* Creates a file when the ring of the first thread is full. */
static void *note_full(void *arg)
{
    const ring_slot *slot = &rings[0]->slots[0];
    while (slot->head - slot->tail < RING_RECORDS)
        sched_yield();
    close(creat("full", 0600));
    return arg;
}

/* The recorder's pid becomes that of a process that lives, as if it were used again. When the
 * recorder is stopped, the program calls write more often than the ring has room. */
static int outlive_recorder(void)
{
    enum { MANY = 100000 };
    pthread_t thread;
    session->recorder = 1;
    close(creat("outlives", 0600));
    while (access("stopped", F_OK) != 0)
        sched_yield();
    if (pthread_create(&thread, NULL, note_full, NULL) != 0)
        return 1;
    call(MANY);
    pthread_join(thread, NULL);
    close(creat("outlived", 0600));
    return 5;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    find_memory();
    if (argc < 2 || ring_count == 0 || !session || (null = open("/dev/null", O_WRONLY)) < 0)
        return 1;
    call(CALLS);
    wait_until_taken();
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (strcmp(ways[i].name, argv[1]) != 0)
            continue;
        ways[i].damage(rings[0]);
        call(CALLS);
        if (pthread_create(&thread, NULL, call_in_thread, NULL) != 0 ||
            pthread_join(thread, NULL) != 0)
            return 1;
        if (!ways[i].hidden)
            wait_until_noticed();
        call(CALLS);
        return 5;
    }
    return strcmp(argv[1], "recorder") == 0 ? outlive_recorder() : damage_session(argv[1]);
}
