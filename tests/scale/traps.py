#!/usr/bin/env python3
"""Traces made to take time or memory that grows faster than they do.

    traps.py            lists them
    traps.py NAME N     writes one of size N to standard output
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
    """Each proc waits for the one after it in the file: a goroutine goes from the last to the first."""
    for p in range(n, 0, -1):
        yield v1(BATCH, p, 1000 + 3 * p)
        if p == 1:
            yield v1(GO_CREATE, 0, 1, 0, 0)
        yield v1(GO_START, 1, 1, p) + v1(GO_SCHED, 1, 0)


def v1_crossed(n):
    """Two procs, and n goroutines that go from one to the other and back, in the opposite order."""
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
    """Each proc waits for what never comes."""
    for p in range(n):
        yield v1(BATCH, p, 1000) + v1(GO_START, 1, 1 + p, 1000000) + v1(GO_SCHED, 1, 0)


def v1_claims(n):
    """Records that claim to hold far more than the file does."""
    yield v1(BATCH, 0, 1000)
    for i in range(n):
        yield bytes([STACK | 3 << 6]) + number(12) + number(1 + i) + number(1 << 40) + bytes(12 - len(number(1 + i)) - 6)


# ---- v2: Go 1.22 ----------------------------------------------------------------------------------

V2_BATCH, V2_FREQUENCY, V2_PROC_STATUS, V2_GO_STATUS, V2_GO_START, V2_GO_STOP = 1, 8, 13, 25, 16, 19
NOBODY = (1 << 64) - 1
RUNNABLE, RUNNING = 1, 2


def record(code, *values):
    return bytes([code]) + numbers(values)


def batch(generation, thread, time, body):
    return record(V2_BATCH, generation, thread, time, len(body)) + body


def v2_trace(parts):
    yield b"go 1.22 trace\0\0\0"
    yield from parts


def v2_begin(generation=1, time=1000):
    return batch(generation, NOBODY, time, record(V2_FREQUENCY, 1000000000))


def v2_threads(n):
    """As many threads as events."""
    yield v2_begin()
    for m in range(n):
        yield batch(1, m, 1000 + m, record(V2_PROC_STATUS, 0, m, 1))


def v2_batches(n):
    """A batch for each event."""
    yield v2_begin()
    yield batch(1, 7, 1000, record(V2_PROC_STATUS, 0, 0, 1) + record(V2_GO_STATUS, 0, 1, 7, RUNNING))
    for i in range(n):
        event = record(V2_GO_START, 0, 1, 1 + i // 2) if i % 2 else record(V2_GO_STOP, 0, 0, 0)
        yield batch(1, 7, 2000 + i, event)


def v2_waits(n):
    """Each thread waits for the one after it in the file."""
    yield v2_begin()
    for m in range(n, 0, -1):
        body = record(V2_PROC_STATUS, 0, m, 1)
        if m == 1:
            body += record(V2_GO_STATUS, 0, 1, NOBODY, RUNNABLE)
        yield batch(1, m, 1000 + 3 * m, body + record(V2_GO_START, 1, 1, m) + record(V2_GO_STOP, 1, 0, 0))


def v2_never(n):
    """Each thread waits for what never comes."""
    yield v2_begin()
    for m in range(n):
        yield batch(1, m, 1000, record(V2_PROC_STATUS, 0, m, 1) + record(V2_GO_START, 1, 1 + m, 1000000))


def v2_generations(n):
    """As many generations as events."""
    for g in range(1, n + 1):
        yield v2_begin(g, 1000 * g)
        yield batch(g, 7, 1000 * g, record(V2_PROC_STATUS, 0, 0, 1))


def v2_borders(n):
    """As many generations, and none begins as the one before ends."""
    for g in range(1, n + 1):
        yield v2_begin(g, 1000 * g)
        yield batch(g, 7, 1000 * g, record(V2_PROC_STATUS, 0, 0, 1 + g % 2))


def v2_claims(n):
    """Batches that claim to be far larger than the file, one behind the other."""
    yield v2_begin()
    for i in range(n):
        yield record(V2_BATCH, 1, 7, 1000, 1 << 40)


def zeros(n):
    """The header, and nothing but zeros: what a bomb becomes."""
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
    "v2-batches": (v2_trace, v2_batches),
    "v2-waits": (v2_trace, v2_waits),
    "v2-never": (v2_trace, v2_never),
    "v2-generations": (v2_trace, v2_generations),
    "v2-borders": (v2_trace, v2_borders),
    "v2-claims": (v2_trace, v2_claims),
    "zeros": (iter, zeros),
}

if len(sys.argv) == 1:
    print("\n".join(TRAPS))
else:
    whole, make = TRAPS[sys.argv[1]]
    sys.stdout.buffer.writelines(whole(make(int(sys.argv[2]))))
