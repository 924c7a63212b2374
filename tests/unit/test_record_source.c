/*
 * test_record_source.c - what `gotrace record` takes out of the memory of a process, and replays.
 */
#include "reading.h"
#include "support.h"

#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "cmd/record/record.h"
#include "cmd/verb.h"

#define SECOND_NS UINT64_C(1000000000)
#define HOUR_NS   (3600 * SECOND_NS)

/* A process that writes records, and what records it. */
typedef struct fixture {
    source from;
    replay *replay;
    names names;
    size_t backlog;
    int fd;
    blob trace;
    out to;
    uint64_t time; /* of the last record */
    uint64_t logs; /* that the trace is to have */
} fixture;

static void keep_waiting(void *ctx)
{
    (void)ctx;
}

static void set_up(fixture *f)
{
    struct timespec t;
    memset(f, 0, sizeof *f);
    f->names.files = files_new();
    f->names.wait.pause = keep_waiting;
    f->names.wait.stops = signals_want_end_now;
    f->fd = source_create(true, 0);
    ck_assert(f->names.files && f->fd >= 0);
    ck_assert(source_open(&f->from, f->fd, getpid(), &f->names, &f->backlog));
    clock_gettime(CLOCK_MONOTONIC, &t);
    f->time = ((uint64_t)t.tv_sec - 1) * SECOND_NS + (uint64_t)t.tv_nsec;
    ck_assert(out_init(&f->to, blob_write, &f->trace));
    ck_assert_ptr_nonnull(f->replay = replay_new(&f->names, 26, f->time, 0, &f->to));
    ck_assert(replay_add(f->replay, &f->from));
    f->from.shared->images = 1;
}

static size_t room(const fixture *f, uint32_t number)
{
    const ring_slot *slot = &f->from.shared->slots[number];
    return RING_RECORDS - (slot->head - slot->tail);
}

static void put(fixture *f, uint32_t number, ring_record record)
{
    ring *shared = f->from.shared;
    ring_slot *slot = &shared->slots[number];
    ck_assert_uint_gt(room(f, number), 0);
    record.time = ++f->time;
    slot->records[slot->head % RING_RECORDS] = record;
    slot->head++;
    slot->state = RING_TAKEN;
    if (shared->used <= number)
        shared->used = number + 1;
}

/* The thread of the slot begins. */
static void begin(fixture *f, uint32_t slot)
{
    put(f, slot, (ring_record){.type = RING_ATTACH, .object = 1000 + slot});
}

/* Until the slot is full, at most so many calls, of two records each. Returns how many. */
static size_t call(fixture *f, uint32_t slot, size_t most)
{
    size_t calls = 0;
    for (; calls < most && room(f, slot) >= 2; calls++) {
        put(f, slot, (ring_record){.type = RING_BLOCK, .kind = RING_FILE});
        put(f, slot, (ring_record){.type = RING_RESUME});
    }
    return calls;
}

static uint64_t count_in(const blob *trace, unsigned code)
{
    gotrace_decoder *d;
    const gotrace_record *record;
    uint64_t count = 0;
    ck_assert_int_eq(gotrace_decoder_new(NULL, &d, NULL), GOTRACE_OK);
    ck_assert_int_eq(gotrace_decoder_feed(d, trace->bytes, trace->size), GOTRACE_OK);
    gotrace_decoder_finish(d);
    while (gotrace_decoder_next(d, &record) == GOTRACE_EVENT)
        count += record->spec->code == code;
    gotrace_decoder_free(d);
    return count;
}

/* Ends the trace, which is sound, and has so many calls, and f->logs. */
static void tear_down(fixture *f, size_t calls)
{
    ck_assert(!f->from.fault && !f->from.failed);
    ck_assert_int_eq(replay_end(f->replay, 0), EXIT_SOUND);
    ck_assert(out_flush(&f->to));
    out_free(&f->to);
    source_close(&f->from);
    names_free(&f->names);
    files_free(f->names.files);
    close(f->fd);
    ck_assert_uint_eq(f->backlog, 0);
    ck_assert_uint_eq(count_in(&f->trace, GOTRACE_V2_GoSyscallBegin), calls);
    ck_assert_uint_eq(count_in(&f->trace, GOTRACE_V2_UserLog), f->logs);
    const reading read = reading_of(f->trace.bytes, f->trace.size, NULL, READING_CHECK);
    ck_assert_int_eq(read.status, GOTRACE_END);
    ck_assert_uint_eq(read.problem_count, 0);
    blob_free(&f->trace);
}

/* ---- file descriptors ------------------------------------------------------------------------ */

static void put_part(fixture *f, uint8_t kind, uint16_t parts, uint64_t object)
{
    put(f, 0,
        (ring_record){.type = RING_FD, .kind = kind, .flags = 5, .stack = parts, .object = object});
}

/* A thread begins to record what a descriptor is, and gives that up: nothing of it is left. */
START_TEST(descriptor_given_up)
{
    fixture f;
    uint64_t bytes;
    set_up(&f);
    begin(&f, 0);
    for (uint8_t kind = 0; kind < 3; kind++)
        put_part(&f, kind, 4, UINT64_MAX);
    memcpy(&bytes, "/tmp/abc", sizeof bytes);
    put_part(&f, 0, 2, RING_FD_FILE);
    put_part(&f, 1, 2, bytes);
    source_take_last(&f.from);
    replay_until(f.replay, UINT64_MAX, UINT64_MAX);
    ck_assert_uint_eq(f.from.fd_count > 5, true);
    ck_assert_ptr_nonnull(f.from.fds[5]);
    ck_assert_uint_eq(f.from.fds[5]->is.type, RING_FD_FILE);
    ck_assert_str_eq(f.from.fds[5]->is.link, "/tmp/abc");
    tear_down(&f, 0);
}
END_TEST

/* ---- a slot that remains busy ---------------------------------------------------------------- */

/* Others wait for it as long as the recorder is patient; what it records later is counted. */
START_TEST(busy)
{
    fixture f;
    set_up(&f);
    f.from.patience_ns = HOUR_NS;
    begin(&f, 0);
    f.from.shared->slots[0].busy = 1;
    const uint64_t stopped = f.time;
    begin(&f, 1);
    call(&f, 1, 10);
    for (int i = 0; i < 3; i++) {
        ck_assert_uint_eq(source_take(&f.from), stopped);
        ck_assert(f.from.stalled);
    }
    replay_until(f.replay, stopped, UINT64_MAX);
    ck_assert_uint_eq(f.from.threads[1]->first, 0);

    f.from.patience_ns = 0;
    f.time += SECOND_NS / 2;
    call(&f, 1, 10);
    const uint64_t safe = source_take(&f.from);
    ck_assert_uint_ge(safe, f.time);
    ck_assert(!f.from.stalled);
    replay_until(f.replay, safe, UINT64_MAX);
    ck_assert_uint_eq(f.from.threads[1]->first, 41);
    ck_assert_uint_eq(replay_lost(f.replay).late, 0);

    f.time = stopped;
    call(&f, 0, 3);
    f.from.shared->slots[0].busy = 0;
    replay_until(f.replay, source_take(&f.from), UINT64_MAX);
    ck_assert_uint_eq(replay_lost(f.replay).late, 6);
    f.time = safe;
    tear_down(&f, 23);
}
END_TEST

/* A slot that is busy with one record after the other is not passed over. */
START_TEST(busy_with_others)
{
    fixture f;
    set_up(&f);
    f.from.patience_ns = 0;
    begin(&f, 0);
    begin(&f, 1);
    f.from.shared->slots[0].busy = 1;
    for (int i = 0; i < 10; i++) {
        call(&f, 0, 1);
        const uint64_t last = f.time;
        call(&f, 1, 1);
        ck_assert_uint_eq(source_take(&f.from), last);
        replay_until(f.replay, last, UINT64_MAX);
    }
    f.from.shared->slots[0].busy = 0;
    replay_until(f.replay, source_take(&f.from), UINT64_MAX);
    ck_assert_uint_eq(replay_lost(f.replay).late, 0);
    tear_down(&f, 20);
}
END_TEST

/* ---- much that cannot be replayed yet -------------------------------------------------------- */

/* Memory is bounded while a slot is busy: the others become full, so that their threads wait.
 * Nothing is lost. */
START_TEST(backlog)
{
    enum { MOST = 1 << 20 };
    fixture f;
    size_t calls = 0, rounds = 0, added;
    set_up(&f);
    f.from.patience_ns = HOUR_NS;
    f.from.most_backlog = MOST;
    begin(&f, 0);
    f.from.shared->slots[0].busy = 1;
    begin(&f, 1);
    do {
        calls += added = call(&f, 1, RING_RECORDS);
        source_take(&f.from);
        ck_assert_uint_lt(f.backlog, 2 * MOST);
    } while (added > 0 && ++rounds < 100);
    ck_assert_uint_eq(added, 0);
    ck_assert_uint_gt(calls * 2 * sizeof(item), MOST);

    f.from.shared->slots[0].busy = 0;
    for (int i = 0; i < 10; i++)
        replay_until(f.replay, source_take(&f.from), UINT64_MAX);
    calls += added = call(&f, 1, 5);
    ck_assert_uint_eq(added, 5);
    replay_until(f.replay, source_take(&f.from), UINT64_MAX);
    ck_assert_uint_eq(replay_lost(f.replay).late, 0);
    tear_down(&f, calls);
}
END_TEST

/* ---- threads that wait for a lock -------------------------------------------------------------
 */

/* Takes the records, replays those up to a time, and checks what the second thread does then. */
static void replays(fixture *f, uint64_t until, uint64_t decided, thread_state state)
{
    source_take(&f->from);
    replay_until(f->replay, until, decided);
    ck_assert_int_eq(f->from.threads[1]->state, state);
}

static uint64_t unlock(fixture *f, uint64_t lock)
{
    put(f, 0, (ring_record){.type = RING_WAKE, .flags = 1, .object = lock});
    return f->time;
}

/* Another thread takes the lock after the first unlock: the second one lets it in. */
START_TEST(lock)
{
    enum { LOCK = 0x1000 };
    fixture f;
    set_up(&f);
    begin(&f, 0);
    begin(&f, 1);
    put(&f, 1, (ring_record){.type = RING_BLOCK, .kind = RING_MUTEX, .object = LOCK});
    const uint64_t first = unlock(&f, LOCK);
    replays(&f, first, first - 1, THREAD_WAITS); /* which one does is not known yet */
    ck_assert_uint_eq(f.from.threads[0]->first, 1);
    const uint64_t second = unlock(&f, LOCK);
    put(&f, 1, (ring_record){.type = RING_RESUME, .object = second});
    replays(&f, second - 1, 0, THREAD_WAITS);
    ck_assert_uint_eq(f.from.threads[0]->first, 2);
    replays(&f, second, 0, THREAD_WOKEN);
    replays(&f, f.time, 0, THREAD_RUNNING);

    put(&f, 1, (ring_record){.type = RING_BLOCK, .kind = RING_WRITE_LOCK, .object = LOCK});
    const uint64_t third = unlock(&f, LOCK);
    replays(&f, third, third, THREAD_WAITS); /* it is not waited for any longer */
    ck_assert_uint_eq(f.from.threads[0]->first, f.from.threads[0]->end);
    f.logs = 2;
    tear_down(&f, 0);
}
END_TEST

/* That the holder has released the lock is said once, if the thread goes on waiting, and not of
 * another thread. */
START_TEST(released)
{
    enum { LOCK = 0x1000 };
    fixture f;
    set_up(&f);
    begin(&f, 0);
    begin(&f, 1);
    put(&f, 1, (ring_record){.type = RING_HOLDER, .object = 1000});
    put(&f, 1, (ring_record){.type = RING_BLOCK, .kind = RING_MUTEX, .object = LOCK});
    const uint64_t first = unlock(&f, LOCK);
    put(&f, 1, (ring_record){.type = RING_RESUME, .object = first});
    put(&f, 1, (ring_record){.type = RING_HOLDER, .object = 1000});
    put(&f, 1, (ring_record){.type = RING_BLOCK, .kind = RING_MUTEX, .object = LOCK});
    unlock(&f, LOCK + 8);
    replays(&f, f.time, f.time, THREAD_WAITS);
    ck_assert_uint_eq(f.from.threads[1]->held_by, 1000);
    unlock(&f, LOCK);
    replays(&f, f.time, f.time, THREAD_WAITS);
    ck_assert_uint_eq(f.from.threads[1]->held_by, 0);
    unlock(&f, LOCK);
    replays(&f, f.time, f.time, THREAD_WAITS);

    put(&f, 1, (ring_record){.type = RING_RESUME});
    put(&f, 1, (ring_record){.type = RING_HOLDER, .object = 1});
    put(&f, 1, (ring_record){.type = RING_BLOCK, .kind = RING_MUTEX, .object = LOCK});
    unlock(&f, LOCK);
    replays(&f, f.time, f.time, THREAD_WAITS);
    f.logs = 4;
    tear_down(&f, 0);
}
END_TEST

/* The second thread waits, and goes on after a time in which it was runnable for that long. */
static void wait_for(fixture *f, ring_kind kind, uint64_t object)
{
    put(f, 1, (ring_record){.type = RING_BLOCK, .kind = (uint8_t)kind, .object = object});
    f->time += SECOND_NS / 1000;
}

static void go_on(fixture *f, uint64_t delay, uint64_t wake)
{
    put(f, 1, (ring_record){.type = RING_DELAY, .object = delay});
    put(f, 1, (ring_record){.type = RING_RESUME, .object = wake});
}

/* What the kernel says decides when a thread became runnable, and which unlock made it so. */
START_TEST(delayed)
{
    enum { LOCK = 0x1000, SOON = 10000, LATER = 1000000 };
    fixture f;
    set_up(&f);
    begin(&f, 0);
    begin(&f, 1);
    wait_for(&f, RING_MUTEX, LOCK);
    const uint64_t zeroth = unlock(&f, LOCK);
    f.time += LATER;
    const uint64_t first = unlock(&f, LOCK);
    f.time += LATER;
    const uint64_t second = unlock(&f, LOCK);
    f.time += SOON;
    go_on(&f, f.time + 2 - (first + SOON), second);
    replays(&f, zeroth, 0, THREAD_WAITS);
    replays(&f, first, 0, THREAD_WOKEN); /* and waits for a processor, while others have the lock */
    replays(&f, f.time, 0, THREAD_RUNNING);

    wait_for(&f, RING_MUTEX, LOCK);
    const uint64_t early = unlock(&f, LOCK);
    f.time += LATER;
    const uint64_t late = unlock(&f, LOCK);
    go_on(&f, LATER / 2, late); /* of none of them */
    replays(&f, early, 0, THREAD_WAITS);
    replays(&f, late, 0, THREAD_WAITS);
    replays(&f, f.time, 0, THREAD_RUNNING);

    wait_for(&f, RING_COND, LOCK);
    const uint64_t signal = unlock(&f, LOCK);
    f.time += LATER;
    go_on(&f, SOON, 0);
    replays(&f, signal, 0, THREAD_WAITS); /* again, for the mutex */
    ck_assert_int_eq(f.from.threads[1]->wait.kind, RING_NO_WAIT);
    replays(&f, f.time, 0, THREAD_RUNNING);

    static const uint64_t impossible[] = {SECOND_NS, HOUR_NS * 10000, UINT64_MAX - 1, UINT64_MAX};
    for (size_t n = 0; n < sizeof impossible / sizeof *impossible; n++) {
        wait_for(&f, RING_SLEEP, 0);
        go_on(&f, impossible[n], 0);
        replays(&f, f.time, 0, THREAD_RUNNING);
    }
    f.logs = 3;
    tear_down(&f, 0);
}
END_TEST

/* ---- a signal ends recording ----------------------------------------------------------------- */

static unsigned before_stop; /* questions until recording stops */

static bool stops(void)
{
    return before_stop == 0 || --before_stop == 0;
}

/* However much is left, nothing is replayed and no slot is read after the signal. */
START_TEST(stopped)
{
    enum { SLOTS = 20 };
    fixture f;
    size_t replayed = 0, calls = 0, slots = 0;
    set_up(&f);
    f.names.wait.stops = stops;
    for (uint32_t i = 0; i < SLOTS; i++) {
        begin(&f, i);
        call(&f, i, 100);
    }
    before_stop = SLOTS + 1 + 50;
    const uint64_t safe = source_take(&f.from);
    ck_assert_uint_eq(before_stop, 1 + 50);
    for (uint32_t i = 0; i < SLOTS; i++)
        call(&f, i, 100);
    replay_until(f.replay, safe, UINT64_MAX);
    ck_assert_uint_eq(before_stop, 0);
    for (size_t i = 0; i < SLOTS; i++) {
        replayed += f.from.threads[i]->first;
        calls += f.from.threads[i]->first / 2;
    }
    ck_assert_uint_gt(replayed, 0);
    ck_assert_uint_le(replayed, 1 + 50);

    source_take(&f.from);
    replay_until(f.replay, UINT64_MAX, UINT64_MAX);
    for (size_t i = 0; i < SLOTS; i++) {
        replayed -= f.from.threads[i]->first;
        slots += f.from.tails[i] > 201;
    }
    ck_assert_uint_eq(replayed, 0);
    ck_assert_uint_eq(slots, 0);
    tear_down(&f, calls);
}
END_TEST

/* Half of the slots. */
START_TEST(stopped_while_taking)
{
    enum { SLOTS = 20 };
    fixture f;
    size_t slots = 0;
    set_up(&f);
    f.names.wait.stops = stops;
    for (uint32_t i = 0; i < SLOTS; i++)
        begin(&f, i);
    before_stop = SLOTS / 2;
    source_take(&f.from);
    for (size_t i = 0; i < SLOTS; i++)
        slots += f.from.tails[i] > 0;
    ck_assert_uint_lt(slots, SLOTS / 2);
    ck_assert_uint_gt(slots, 0);
    tear_down(&f, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("record_source");
    TCase *cases = tcase_create("record_source");
    tcase_add_test(cases, descriptor_given_up);
    tcase_add_test(cases, busy);
    tcase_add_test(cases, busy_with_others);
    tcase_add_test(cases, backlog);
    tcase_add_test(cases, lock);
    tcase_add_test(cases, released);
    tcase_add_test(cases, delayed);
    tcase_add_test(cases, stopped);
    tcase_add_test(cases, stopped_while_taking);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
