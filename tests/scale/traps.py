#!/usr/bin/env python3
"""Traces and scripts made to use time or memory that grows faster than their size.

    traps.py                 list them
    traps.py NAME N          write one of size N to standard output
    traps.py NAME N other    and the part that is merged with it
"""
import sys


def number(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def numbers(values):
    return b"".join(map(number, values))


# ---- v1: Go 1.21 ----------------------------------------------------------------------------------

BATCH, FREQUENCY, STACK, GO_CREATE, GO_START, GO_SCHED, PROC_START, STRING = 1, 2, 3, 13, 14, 17, 5, 37
HEAP_ALLOC, TIMER_GOROUTINE, PROC_STOP, GOMAXPROCS = 33, 35, 6, 4
NO_TYPE = b"\x3f"
USER_LOG = 48


def v1(code, *values):
    """A record: up to three values are counted in the first byte, more by a length."""
    body = numbers(values)
    if len(values) - 1 < 3:
        return bytes([code | (len(values) - 1) << 6]) + body
    return bytes([code | 3 << 6]) + number(len(body)) + body


def v1_trace(parts):
    yield b"go 1.21 trace\0\0\0"
    yield from parts
    yield v1(FREQUENCY, 1000000000)


def v1_procs(n):
    """As many procs as events."""
    for p in range(n):
        yield v1(BATCH, p, 1000 + p) + v1(PROC_START, 1, p)


def v1_batches(n):
    """A batch for each event."""
    yield v1(BATCH, 0, 1000) + v1(PROC_START, 1, 7)
    yield v1(GO_CREATE, 1, 1, 0, 0) + v1(GO_START, 1, 1, 1)
    for i in range(n):
        yield v1(BATCH, 0, 2000 + i) + (v1(GO_START, 0, 1, 2 + i // 2) if i % 2 else v1(GO_SCHED, 0, 0))


def v1_waits(n):
    """Each proc waits for the next one in the file: a goroutine moves from the last to the first."""
    for p in range(n, 0, -1):
        yield v1(BATCH, p, 1000 + 3 * p)
        if p == 1:
            yield v1(GO_CREATE, 0, 1, 0, 0)
        yield v1(GO_START, 1, 1, p) + v1(GO_SCHED, 1, 0)


def v1_crossed(n):
    """Two procs, and n goroutines that move from one to the other and back, in the opposite order."""
    a, b = bytearray(v1(BATCH, 0, 1000)), bytearray(v1(BATCH, 1, 1000 + 10 * n))
    for g in range(1, n + 1):
        a += v1(GO_CREATE, 1, g, 0, 0)
    for g in range(1, n + 1):
        a += v1(GO_START, 1, g, 1) + v1(GO_SCHED, 1, 0)
    for g in range(n, 0, -1):
        b += v1(GO_START, 1, g, 2) + v1(GO_SCHED, 1, 0)
    a += v1(BATCH, 0, 1000 + 20 * n)
    for g in range(1, n + 1):
        a += v1(GO_START, 1, g, 3) + v1(GO_SCHED, 1, 0)
    yield bytes(b)
    yield bytes(a)


def v1_never(n):
    """Each proc waits for an event that does not exist."""
    for p in range(n):
        yield v1(BATCH, p, 1000) + v1(GO_START, 1, 1 + p, 1000000) + v1(GO_SCHED, 1, 0)


def v1_claims(n):
    """Records with sizes far larger than the file."""
    yield v1(BATCH, 0, 1000)
    for i in range(n):
        yield bytes([STACK | 3 << 6]) + number(12) + number(1 + i) + number(1 << 40) + bytes(12 - len(number(1 + i)) - 6)


def v1_running(n):
    """n procs that run goroutines, and n events on one that does not."""
    for p in range(n):
        yield v1(BATCH, p, 1000) + v1(PROC_START, 1, p) + v1(GO_CREATE, 1, p + 1, 0, 0) + v1(GO_START, 1, p + 1, 1)
    yield v1(BATCH, n, 5000) + v1(HEAP_ALLOC, 1, 7) * n


def v1_quiet(n):
    """n goroutines that run and wait, then n events with a second between them."""
    yield v1(BATCH, 0, 1000) + v1(PROC_START, 1, 0)
    for g in range(1, n + 1):
        yield v1(GO_CREATE, 1, g, 0, 0) + v1(GO_START, 1, g, 1) + v1(GO_SCHED, 1, 0)
    yield v1(GO_START, 1, 1, 2) + v1(HEAP_ALLOC, 1000000001, 7) * n


# Batches of 64 KB, so that there are pieces that are checked ahead (lib/read/v1/ahead.c).
LOGS, PER_BATCH = 2800, 360


def v1_logs(proc, ticks, count, start=b""):
    """A batch with so many messages."""
    log = v1(USER_LOG, 1, 0, 0, 0) + number(16) + bytes(16)
    return v1(BATCH, proc, ticks) + start + log * count


def v1_strings(n):
    """Two procs with n / 360 batches each, most of which begin with a string, so that their first times are unknown."""
    for i in range(n // PER_BATCH):
        for proc in range(2):
            start = v1(PROC_START, 1, 7 + proc) if i == 0 else b"" if i % 20 == 19 else bytes([STRING]) + numbers([2 * i + proc, 1]) + b"x"
            yield v1_logs(proc, 1000 + 2 * LOGS * i + proc, LOGS, start)


def v1_long(n):
    """A proc with one long batch, and one with n / 360 batches at the same time."""
    count = n // PER_BATCH
    yield v1_logs(0, 1000, count * LOGS, v1(PROC_START, 1, 7))
    for i in range(count):
        yield v1_logs(1, 1000 + LOGS * i, LOGS, v1(PROC_START, 1, 8) if i == 0 else b"")


def v1_timers(n):
    """n goroutines that run timers."""
    yield v1(BATCH, 0, 1000) + v1(PROC_START, 1, 1)
    for g in range(n):
        yield v1(TIMER_GOROUTINE, 1 + g)


def v1_gomaxprocs(n):
    """An event waits, so that procs are missing, and n events set the number of procs."""
    yield v1(BATCH, 0, 1000) + v1(PROC_START, 1, 7) + v1(GOMAXPROCS, 1, 4096, 0) * n
    yield v1(BATCH, 1, 2000) + v1(GO_START, 1, 1, 1000000)


def v1_stopped(n):
    """n damaged batches with the same time."""
    for _ in range(n):
        yield v1(BATCH, 1, 0) + v1(PROC_START, 0, 1) * 22 + NO_TYPE  # 66 bytes are not chance


def v1_damaged(n):
    """n damaged batches of a proc without events."""
    for i in range(n):
        yield v1(BATCH, 1, 1000 + i) + bytes([STRING]) + numbers([1 + i, 64]) + bytes(64) + NO_TYPE


def v1_chance(n):
    """n batches after damage, at impossible times."""
    for p in range(3):
        yield v1(BATCH, p, 1 << 40) + v1(PROC_START, 1, 1)
    for p in range(n):
        yield NO_TYPE + v1(BATCH, p, 7) + v1(PROC_STOP, 1) * 33


# ---- v2: Go 1.22 ----------------------------------------------------------------------------------

V2_BATCH, V2_FREQUENCY, V2_PROC_STATUS, V2_GO_STATUS, V2_GO_START, V2_GO_STOP = 1, 8, 13, 25, 16, 19
V2_CPU_SAMPLES, V2_CPU_SAMPLE, V2_ASSIST_ACTIVE, V2_HEAP_ALLOC = 6, 7, 34, 37
V2_EXPERIMENTAL_BATCH, V2_SPAN, V2_USER_LOG, V2_GO_BLOCK = 49, 130, 44, 20
V2_USER_TASK_BEGIN, V2_USER_REGION_BEGIN = 40, 42
V2_STACKS, V2_STACK, V2_STRINGS, V2_STRING, V2_PROC_START, V2_PROC_STOP = 2, 3, 4, 5, 10, 11
V2_GO_CREATE, V2_GO_DESTROY, V2_GO_UNBLOCK = 14, 17, 21
NOBODY = (1 << 64) - 1
RUNNABLE, RUNNING, IN_SYSCALL, WAITING = 1, 2, 3, 4
PROC_RUNNING, PROC_IN_SYSCALL, PROC_ABANDONED = 1, 3, 4


def record(code, *values):
    return bytes([code]) + numbers(values)


def batch(generation, thread, time, body):
    return record(V2_BATCH, generation, thread, time, len(body)) + body


def batches(generation, thread, time, events):
    """Events of one thread, in as few batches as possible."""
    yield from tables(b"", generation, thread, time, events)


def tables(first, generation, thread, time, events):
    """The same for batches that begin with a type byte."""
    body = bytearray(first)
    for event in events:
        if len(body) + len(event) > 60000:
            yield batch(generation, thread, time, body)
            body = bytearray(first)
        body += event
    yield batch(generation, thread, time, body)


def v2_trace(parts):
    yield b"go 1.22 trace\0\0\0"
    yield from parts


def v2_trace_23(parts):
    yield b"go 1.23 trace\0\0\0"
    yield from parts


def v2_begin(generation=1, time=1000):
    return batch(generation, NOBODY, time, record(V2_FREQUENCY, 1000000000))


def v2_threads(n):
    """As many threads as events."""
    yield v2_begin()
    for m in range(n):
        yield batch(1, m, 1000 + m, record(V2_PROC_STATUS, 0, m, 1))


def v2_holes(n):
    """Of each of n threads one batch, which is damaged."""
    yield v2_begin()
    for m in range(n):
        yield batch(1, m, 1000 + m, record(V2_PROC_STATUS, 0, m, 1) + bytes(8))


def v2_batches(n):
    """A batch for each event."""
    yield v2_begin()
    yield batch(1, 7, 1000, record(V2_PROC_STATUS, 0, 0, 1) + record(V2_GO_STATUS, 0, 1, 7, RUNNING))
    for i in range(n):
        event = record(V2_GO_START, 0, 1, 1 + i // 2) if i % 2 else record(V2_GO_STOP, 0, 0, 0)
        yield batch(1, 7, 2000 + i, event)


def v2_waits(n):
    """Each thread waits for the next one in the file."""
    yield v2_begin()
    for m in range(n, 0, -1):
        body = record(V2_PROC_STATUS, 0, m, 1)
        if m == 1:
            body += record(V2_GO_STATUS, 0, 1, NOBODY, RUNNABLE)
        yield batch(1, m, 1000 + 3 * m, body + record(V2_GO_START, 1, 1, m) + record(V2_GO_STOP, 1, 0, 0))


def v2_never(n):
    """Each thread waits for an event that does not exist."""
    yield v2_begin()
    for m in range(n):
        yield batch(1, m, 1000, record(V2_PROC_STATUS, 0, m, 1) + record(V2_GO_START, 1, 1 + m, 1000000))


def v2_generations(n):
    """As many generations as events."""
    for g in range(1, n + 1):
        yield v2_begin(g, 1000 * g)
        yield batch(g, 7, 1000 * g, record(V2_PROC_STATUS, 0, 0, 1))


def v2_borders(n):
    """As many generations, and the states at their boundaries do not match."""
    for g in range(1, n + 1):
        yield v2_begin(g, 1000 * g)
        yield batch(g, 7, 1000 * g, record(V2_PROC_STATUS, 0, 0, 1 + g % 2))


def v2_sample(n):
    """n threads wait during n events, and a sample is later than all."""
    yield v2_begin()
    yield batch(1, 1, 1000, record(V2_PROC_STATUS, 0, 0, PROC_RUNNING) + record(V2_GO_STATUS, 0, 5, NOBODY, RUNNABLE))
    for m in range(n):
        yield batch(1, 100 + m, 1000, record(V2_PROC_STATUS, 0, 100 + m, PROC_RUNNING)
                    + record(V2_GO_START, 1, 5, 2 + m) + record(V2_GO_STOP, 1, 0, 0))
    yield from batches(1, 1, 3000, [record(V2_HEAP_ALLOC, 1, 7)] * n
                       + [record(V2_GO_START, 1, 5, 1), record(V2_GO_STOP, 1, 0, 0)])
    yield batch(1, NOBODY, 1000, bytes([V2_CPU_SAMPLES]) + record(V2_CPU_SAMPLE, 1 << 40, 1, 0, 5, 0))


def v2_abandoned(n):
    """n threads, and n times the status of a proc that none of them has."""
    yield v2_begin()
    yield batch(1, 1, 1000, record(V2_PROC_STATUS, 1, 0, PROC_IN_SYSCALL))
    yield from batches(1, 2, 2000, [record(V2_GO_STATUS, 0, 10 + g, 10 + g, IN_SYSCALL) for g in range(n)]
                       + [record(V2_PROC_STATUS, 1, 0, PROC_ABANDONED)] * n)


def v2_assists(n):
    """n goroutines that assist the GC when the trace begins."""
    yield v2_begin()
    yield from batches(1, 1, 1000, [record(V2_PROC_STATUS, 1, 0, PROC_RUNNING), record(V2_GO_STATUS, 0, 1, 1, RUNNING)]
                       + [record(V2_GO_STATUS, 0, 2 + g, NOBODY, WAITING) for g in range(n)]
                       + [record(V2_ASSIST_ACTIVE, 0, 2 + g) for g in range(n)])


def v2_experiments(n):
    """n generations, and a batch of an experiment's data in each."""
    for g in range(1, n + 1):
        yield v2_begin(g, 1000 * g)
        yield batch(g, 1, 1000 * g, record(V2_PROC_STATUS, 1, 0, PROC_RUNNING) + (record(V2_SPAN, 1, 7) if g == 1 else b""))
        yield record(V2_EXPERIMENTAL_BATCH, 1, g, NOBODY, 1000 * g, 0)


def v2_frames(n):
    """n stacks of one frame, whose address differs from its line by the same bits."""
    yield v2_begin()
    yield from batches(1, 1, 1000, [record(V2_PROC_STATUS, 1, 0, PROC_RUNNING), record(V2_GO_STATUS, 0, 5, 1, RUNNING)]
                       + [record(V2_USER_LOG, 1, 0, 0, 0, 1 + i) for i in range(n)])
    yield from tables(bytes([V2_STACKS]), 1, NOBODY, 1000,
                      [record(V2_STACK, 1 + i, 1, 1 + i, 0, 0, 1 + i) for i in range(n)])


def v2_names(n):
    """Goroutines that block in functions with long names, more than are stored, and n events after it."""
    functions = range(1, 1 + n // 16)
    yield v2_begin()
    yield from batches(1, 1, 1000, [record(V2_PROC_STATUS, 1, 0, PROC_RUNNING)]
                       + [record(V2_GO_STATUS, 0, f, NOBODY, RUNNABLE) for f in functions]
                       + [record(V2_GO_START, 1, f, 1) + record(V2_GO_BLOCK, 1, 0, f) for f in functions]
                       + [record(V2_HEAP_ALLOC, 1, 7)] * n)
    yield from tables(bytes([V2_STACKS]), 1, NOBODY, 1000, [record(V2_STACK, f, 1, f, f, 0, 1) for f in functions])
    yield from tables(bytes([V2_STRINGS]), 1, NOBODY, 1000,
                      [record(V2_STRING, f, 1000) + b"%1000d" % f for f in functions])


def v2_functions(n):
    """n / 4 goroutines, each with a start function and stacks of its own; they run, wait and end."""
    count = n // 4
    first = 10  # goroutines, strings and stacks

    def life(g, turn):
        yield record(V2_GO_CREATE, 100, g, g, count + g)
        yield record(V2_GO_STOP, 100, 1, 0)
        yield record(V2_GO_START, 100 + turn % 1000, g, 1)
        yield record(V2_GO_BLOCK, 100 + turn % 999, 2, g)
        yield record(V2_GO_START, 100, 1, 1 + 2 * turn)
        yield record(V2_GO_UNBLOCK, 100 + turn % 998, g, 2, 0)
        yield record(V2_GO_STOP, 100, 1, 0)
        yield record(V2_GO_START, 100 + turn % 997, g, 3)
        yield record(V2_GO_DESTROY, 100 + turn % 996)
        yield record(V2_GO_START, 100, 1, 2 + 2 * turn)

    yield v2_begin()
    events = [record(V2_PROC_STATUS, 1, 0, PROC_RUNNING), record(V2_GO_STATUS, 0, 1, 1, RUNNING)]
    for turn in range(count):
        events += life(first + turn, turn)
    yield from batches(1, 1, 1000, events)
    yield from tables(bytes([V2_STACKS]), 1, NOBODY, 1000,
                      [record(V2_STACK, g, 1, 2 * g, g, 1, 1) for g in range(first, first + count)]
                      + [record(V2_STACK, count + g, 1, 2 * g + 1, g, 1, 2) for g in range(first, first + count)])
    yield from tables(bytes([V2_STRINGS]), 1, NOBODY, 1000,
                      [string(1, b"preempted"), string(2, b"sync")]
                      + [string(g, b"main.function%d" % g) for g in range(first, first + count)])


def v2_reasons(n):
    """A goroutine that blocks n / 8 times, each time for another reason."""
    count = n // 8
    turn = [record(V2_GO_BLOCK, 1, 2 + i, 0) + record(V2_GO_UNBLOCK, 1, 5, 1 + 2 * i, 0) + record(V2_GO_START, 1, 5, 2 + 2 * i)
            for i in range(count)]
    yield v2_begin()
    yield from batches(1, 1, 1000, [record(V2_PROC_STATUS, 1, 0, PROC_RUNNING), record(V2_GO_STATUS, 0, 5, 1, RUNNING)] + turn)
    yield from tables(bytes([V2_STRINGS]), 1, NOBODY, 1000, [string(2 + i, b"reason %d" % i) for i in range(count)])


def v2_open(n):
    """Tasks that never end, regions in them, and n events during them."""
    yield v2_begin()
    yield from batches(1, 1, 1000, [record(V2_PROC_STATUS, 1, 0, PROC_RUNNING), record(V2_GO_STATUS, 0, 5, 1, RUNNING)]
                       + [record(V2_USER_TASK_BEGIN, 1, 1 + t, 0, 0, 0) + record(V2_USER_REGION_BEGIN, 1, 1 + t, 0, 0)
                          for t in range(n // 8)]
                       + [record(V2_HEAP_ALLOC, 1, 7 + i % 2) for i in range(n)])


def v2_stacks(n):
    """n / 4 stacks, chosen to collide in a hash that multiplies and folds words; and many
    frames with one PC."""
    count, bits = n // 4, 16
    top, fold = 1 << 63, 1 << 63 | 1 << 31
    yield v2_begin()
    yield from batches(1, 1, 2000, [record(V2_PROC_STATUS, 1, 0, PROC_RUNNING), record(V2_GO_STATUS, 0, 1, 1, RUNNING)]
                       + [record(V2_GO_CREATE, 1, 2 + i, 0, 1 + i) for i in range(count)])
    for i in range(count):
        values = [1 + i, bits + 1]
        for b in range(bits + 1):
            pc = 1 ^ (fold if b > 0 and i >> (b - 1) & 1 else 0)
            values += [pc, 0, 0, 1 + b ^ (top if i >> b & 1 else 0)]
        yield batch(1, NOBODY, 1000, bytes([V2_STACKS]) + record(V2_STACK, *values))


def v2_shrinking(n):
    """A generation with n names, and n generations with one each."""
    for g in range(1, n + 1):
        names = [b"%07d" % i for i in range(n if g == 1 else 1)]
        yield v2_begin(g, 1000 * g)
        yield from batches(g, 1, 1000 * g, [record(V2_PROC_STATUS, 1, 0, PROC_RUNNING), record(V2_GO_STATUS, 0, 5, 1, RUNNING)]
                           + [record(V2_USER_LOG, 1, 0, 0, 1 + i, 0) for i in range(len(names))])
        yield from tables(bytes([V2_STRINGS]), g, NOBODY, 1000 * g,
                          [record(V2_STRING, 1 + i, len(name)) + name for i, name in enumerate(names)])


def part_of_two(n, events):
    """Both parts of a trace have a thread and a proc of their own, with which this generation begins."""
    yield v2_begin()
    yield batch(1, 1 + OTHER, 1000, record(V2_PROC_STATUS, 0, OTHER, PROC_RUNNING))
    yield from events(n)


def string(id, text):
    return record(V2_STRING, id, len(text)) + text


def v2_tables(n):
    """A batch for each string."""
    for i in range(n):
        yield batch(1, NOBODY, 1000, bytes([V2_STRINGS]) + string(1 + i, b"x"))


def v2_ids(n):
    """Ids whose hashes had the same low bits when the hash had no seed."""
    mask, factors = (1 << 64) - 1, (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53)
    inverse = [pow(factor, -1, 1 << 64) for factor in factors]

    def id_of(hash):
        for factor in reversed(inverse):
            hash = (hash ^ hash >> 33) * factor & mask
        return hash ^ hash >> 33

    yield from tables(bytes([V2_STRINGS]), 1, NOBODY, 1000, (string(id_of((1 + i) << 32), b"%d" % i) for i in range(n)))


def v2_cleared(n):
    """A generation with many strings, and n without."""
    yield from tables(bytes([V2_STRINGS]), 1, NOBODY, 1000, (string(1 + i, b"%d" % i) for i in range(8 * n)))
    for g in range(2, n):
        yield v2_begin(g, 1000 + g) + batch(g, 1 + OTHER, 1000 + g, record(V2_PROC_STATUS, 0, OTHER, PROC_RUNNING))


def v2_samples(n):
    """n samples, 25 of each thread."""
    threads = n // 25
    yield from v2_threads(threads)
    yield from tables(bytes([V2_CPU_SAMPLES]), 1, NOBODY, 1000,
                      [record(V2_CPU_SAMPLE, 1 + i, i % threads, 0, 5, 0) for i in range(n)])


def v2_procs(n):
    """n procs, and n events of one that is later than all."""
    yield v2_begin()
    for p in range(n):
        yield batch(1, 10 + p, 1000 + p, record(V2_PROC_STATUS, 0, p, PROC_RUNNING))
    yield from batches(1, 1, 10000000, [record(V2_PROC_STATUS, 0, n, PROC_RUNNING)]
                       + [record(V2_PROC_STOP, 1) + record(V2_PROC_START, 1, n, 1 + i) for i in range(n)])


def v2_claims(n):
    """Consecutive batches with sizes far larger than the file."""
    yield v2_begin()
    for i in range(n):
        yield record(V2_BATCH, 1, 7, 1000, 1 << 40)


# ---- scripts: JSON documents ----------------------------------------------------------------------


def json_list(last):
    """A function of n: n events and the last one, before the header."""

    def parts(n):
        yield b'{"records":['
        for _ in range(n):
            yield b'{"event":"GoEnd","dt":1},\n'
        yield last + b'],"trace":"go 1.21"}'

    return parts


def json_open(n):
    """An array in an array, and so on."""
    yield b'{"trace":"go 1.21","records":['
    for _ in range(n):
        yield b"[[[[[[[["


def json_lists(n):
    """Several arrays, each of which has to be checked, because the document is malformed."""
    yield b"{"
    for i in range(8):
        yield b'"%d":[' % i
        for _ in range(n):
            yield b"{},"
        yield b"{}],"


def json_event(n):
    """One event with many members."""
    yield b'{"trace":"go 1.21","records":[{'
    for i in range(n):
        yield b'"%d":[{}],' % i
    yield b'"event":"GoEnd"}]}'


def zeros(n):
    """The header, and only zeros: a decompressed bomb."""
    yield b"go 1.26 trace\0\0\0"
    for _ in range(0, 64 * n, 1 << 16):
        yield bytes(1 << 16)


TRAPS = {
    "v1-procs": (v1_trace, v1_procs),
    "v1-batches": (v1_trace, v1_batches),
    "v1-waits": (v1_trace, v1_waits),
    "v1-crossed": (v1_trace, v1_crossed),
    "v1-never": (v1_trace, v1_never),
    "v1-claims": (v1_trace, v1_claims),
    "v2-threads": (v2_trace, v2_threads),
    "v2-holes": (v2_trace, v2_holes),
    "v2-batches": (v2_trace, v2_batches),
    "v2-waits": (v2_trace, v2_waits),
    "v2-never": (v2_trace, v2_never),
    "v2-generations": (v2_trace, v2_generations),
    "v2-borders": (v2_trace, v2_borders),
    "v2-claims": (v2_trace, v2_claims),
    "v1-running": (v1_trace, v1_running),
    "v1-quiet": (v1_trace, v1_quiet),
    "v2-sample": (v2_trace, v2_sample),
    "v2-abandoned": (v2_trace, v2_abandoned),
    "v2-assists": (v2_trace, v2_assists),
    "v2-experiments": (v2_trace_23, v2_experiments),
    "v2-frames": (v2_trace, v2_frames),
    "v2-names": (v2_trace, v2_names),
    "v2-functions": (v2_trace, v2_functions),
    "v2-reasons": (v2_trace, v2_reasons),
    "v2-shrinking": (v2_trace, v2_shrinking),
    "v2-open": (v2_trace, v2_open),
    "v2-stacks": (v2_trace, v2_stacks),
    "v1-strings": (v1_trace, v1_strings),
    "v1-long": (v1_trace, v1_long),
    "v1-timers": (v1_trace, v1_timers),
    "v1-gomaxprocs": (v1_trace, v1_gomaxprocs),
    "v1-stopped": (v1_trace, v1_stopped),
    "v1-damaged": (v1_trace, v1_damaged),
    "v1-chance": (v1_trace, v1_chance),
    "v2-procs": (v2_trace, v2_procs),
    "v2-samples": (v2_trace, v2_samples),
    "v2-tables": (v2_trace, lambda n: part_of_two(n, v2_tables)),
    "v2-ids": (v2_trace, lambda n: part_of_two(n, v2_ids)),
    "v2-cleared": (v2_trace, lambda n: part_of_two(n, v2_cleared)),
    "json-events": (iter, json_list(b'{"event":"Frequency","freq":1}')),
    "json-wrong": (iter, json_list(b"{},{")),
    "json-open": (iter, json_open),
    "json-lists": (iter, json_lists),
    "json-event": (iter, json_event),
    "zeros": (iter, zeros),
}
OTHER = int(len(sys.argv) > 3)  # the number of the part

if len(sys.argv) == 1:
    print("\n".join(TRAPS))
else:
    whole, make = TRAPS[sys.argv[1]]
    sys.stdout.buffer.writelines(whole(make(int(sys.argv[2]))))
