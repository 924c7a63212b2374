#!/usr/bin/env python3
"""boundary.py GOTRACE GOREAD_V1 GOREAD_V2 KNOWN [--all] [--keep DIR] [--jobs N] [--seed N] [NAME...]

Make small traces with extreme values and compare gotrace with Go's readers: the verdict and, for
sound traces, `print --format go`. In a scenario in which every event of the format is valid, each
argument takes boundary values in turn; besides, batches and generations are empty, out of order,
duplicate or of extreme numbers.

A difference is an error unless a row of KNOWN covers it; each row there has its reason in
gotrace-differences(7). Without --all and names, a sample that depends on --seed is compared: as many
structural cases as --sample says (default 500), and twice as many of the others.
"""
import argparse
import itertools
import os
import random
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

MAX = 2**64 - 1
NONE = MAX  # v2: no thread, no proc, no goroutine
VALUES = (0, 1, 2, 3, 2**31, 2**32, 2**63 - 1, 2**63, MAX - 1, MAX)
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "lib")


def number(value):
    out = bytearray()
    value &= MAX
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def numbers(*values):
    return b"".join(map(number, values))


def header(version):
    return (b"go 1.%d trace" % version).ljust(16, b"\0")


class Event:
    """A row of lib/events_v1.def or lib/events_v2.def."""

    def __init__(self, kind, code, name, since, flags, args):
        self.timed = kind == "T"
        self.code, self.name, self.since = int(code), name, int(since)
        self.data = "SPEC_DATA" in flags
        self.args = []
        for macro, words in re.findall(r"\b(A|A_SINCE|A_UNTIL)\(([^)]*)\)", args):
            words = [w.strip() for w in words.split(",")]
            since = int(words[2]) if macro == "A_SINCE" else 0
            until = int(words[2]) if macro == "A_UNTIL" else 99
            self.args.append((words[0], words[1], since, until))
        if re.search(r"\bSTK\b", args):
            self.args.append(("STACK", "stack", 0, 99))

    def arguments(self, version):
        return [(kind, name) for kind, name, since, until in self.args if since <= version <= until]


def events(file):
    with open(os.path.join(SOURCE, file), encoding="utf-8") as source:
        text = re.sub(r"/\*.*?\*/", "", source.read(), flags=re.S)
    row = r"^([TE])\((\d+), (\w+), (\d+), ([^(]*?),\s*\((.*?)\),\s*\""
    return {found[2]: Event(*found) for found in re.findall(row, text, flags=re.S | re.M)}


# ---- v2 ------------------------------------------------------------------------------------------

V2 = events("events_v2.def")


def record(name, *values):
    return bytes([V2[name].code]) + numbers(*values)


def batch(generation, thread, time, data):
    return bytes([1]) + numbers(generation, thread, time, len(data)) + data


def sync(version, generation, frequency=10**9, thread=NONE, time=1000):
    if version < 25:
        return batch(generation, thread, time, record("Frequency", frequency))
    clocks = record("ClockSnapshot", 1, 5, 1700000000, 6)
    return batch(generation, thread, time, bytes([50]) + record("Frequency", frequency) + clocks)


def tables(generation):
    strings = b"".join(record("String", i, len(s)) + s for i, s in ((1, b"main.f"), (2, b"f.go"), (3, b"x")))
    stack = record("Stack", 1, 1) + numbers(0x1000, 1, 2, 7)
    return batch(generation, NONE, 1000, bytes([4]) + strings) + batch(generation, NONE, 1000, bytes([2]) + stack)


def end(version):
    return bytes([52]) if version >= 26 else b""


def generation(version, number_of_it, *batches):
    return sync(version, number_of_it) + tables(number_of_it) + b"".join(batches) + end(version)


# Records that give a thread the context that the event needs.
CONTEXTS = {
    "bare": b"",
    "proc": record("ProcStatus", 1, 0, 1),
    "running": record("ProcStatus", 1, 0, 1) + record("GoStatus", 1, 5, 1, 2),
    "syscall": record("ProcStatus", 1, 0, 3) + record("GoStatus", 1, 5, 1, 3),
    "others": record("ProcStatus", 1, 0, 1) + record("GoStatus", 1, 5, 1, 2)
    + record("ProcStatus", 1, 6, 2) + record("GoStatus", 1, 7, NONE, 1) + record("GoStatus", 1, 8, NONE, 4)
    + record("GoStatus", 1, 9, 3, 3) + record("ProcStatus", 1, 4, 4),
}
# Records after the event that show its effect.
PROBES = {
    "": b"",
    "proc": record("HeapAlloc", 1, 77),
    "user": record("GoLabel", 1, 3),
    "block": record("GoBlock", 1, 0, 0),
    "stop": record("ProcStop", 1),
    "exit": record("GoSyscallEnd", 1),
}
# A typical value for each kind of argument.
USUAL = {"PROC": 6, "SEQ": 1, "THREAD": 1, "PSTATUS": 1, "GOROUTINE": 7, "START": 1, "STACK": 1, "STRING": 3,
         "GSTATUS": 2, "VALUE": 9, "BYTES": 4096, "TASK": 12, "ID": 21}
USUAL_OF = {"GoUnblock": {"g": 8}, "GoSwitch": {"g": 8}, "GoSwitchDestroy": {"g": 8},
            "ProcSteal": {"p": 4}, "GoCreate": {"new_g": 11}, "GoCreateBlocked": {"new_g": 11},
            "GoCreateSyscall": {"new_g": 11}, "GCSweepActive": {"p": 0}, "GCMarkAssistActive": {"g": 5},
            "GoStatus": {"g": 13}, "GoStatusStack": {"g": 13}, "ProcStatus": {"p": 9}}


def v2_trace(version, body, after, generations=1):
    """A trace of that number of generations, in each of which a thread has these events."""
    before, code, *values = body
    events_of_it = before + code + numbers(*values) + after
    return header(version) + b"".join(generation(version, n, batch(n, 1, 1000 * n, events_of_it))
                                      for n in range(1, generations + 1))


def cases_of_v2_events(version):
    for event in V2.values():
        if not event.timed or event.since > version:
            continue
        arguments = event.arguments(version)
        usual = [USUAL_OF.get(event.name, {}).get(name, USUAL[kind]) for kind, name in arguments]
        rows = [("usual", usual, 1)]
        for i, (_, name) in enumerate(arguments):
            rows += [("%s=%d" % (name, v), usual[:i] + [v] + usual[i + 1:], 1) for v in VALUES if v != usual[i]]
        rows += [("dt=%d" % dt, usual, dt) for dt in VALUES]
        for (context, before), (what, values, dt), (probe, after) in itertools.product(
                CONTEXTS.items(), rows, PROBES.items()):
            body = (before, bytes([event.code]), dt, *values)
            yield "v2 %d %s %s %s %s" % (version, event.name, context, what, probe), v2_trace, (version, body, after)
            if probe == "" and what != "usual" and dt == 1:
                # The same event again in the next generation.
                yield "v2 %d %s %s %s again" % (version, event.name, context, what), v2_trace, (version, body, after, 2)


def cases_of_v2_structure(version):
    name = "v2 %d structure " % version
    body = CONTEXTS["running"] + record("HeapAlloc", 1, 5)
    plain = batch(1, 1, 1000, body)
    head = header(version)
    good = generation(version, 1, plain)

    def empty(n):  # a generation that has clocks, and no events
        return sync(version, n) + end(version)

    def second(n):
        return generation(version, n, batch(n, 1, 2000, body))

    yield name + "nothing", head
    yield name + "end only", head + end(version)
    yield name + "two ends", head + good + end(version)
    yield name + "only clocks", head + empty(1)
    yield name + "only tables", head + tables(1) + end(version)
    yield name + "first empty", head + empty(1) + second(2)
    yield name + "two first empty", head + empty(1) + empty(2) + second(3)
    yield name + "first empty, with tables", head + sync(version, 1) + tables(1) + end(version) + second(2)
    yield name + "first with an empty batch", head + sync(version, 1) + batch(1, 1, 5, b"") + end(version) + second(2)
    yield name + "first with a sample", head + sync(version, 1) + tables(1) + batch(
        1, NONE, 5, bytes([6]) + record("CPUSample", 5, 1, 0, 5, 1)) + end(version) + second(2)
    yield name + "middle empty", head + good + empty(2) + generation(version, 3, batch(3, 1, 3000, body))
    yield name + "last empty", head + good + empty(2)
    yield name + "no clocks", head + tables(1) + plain + end(version)
    yield name + "no clocks in the second", head + good + tables(2) + batch(2, 1, 2000, body) + end(version)
    for n in (0, 1, 2, 3, 4, 7, 2**32, 2**63, MAX - 1, MAX):
        yield name + "generation %d" % n, head + generation(version, n, batch(n, 1, 1000, body))
        yield name + "generation 3, then %d" % n, head + generation(version, 3, batch(3, 1, 1000, body)) + second(n)
        yield name + "generation %d, then its next" % n, head + generation(
            version, n, batch(n, 1, 1000, body)) + second(n + 1 & MAX)
        yield name + "generation 1, an empty %d" % n, head + good + empty(n)
    yield name + "interleaved", head + sync(version, 1) + tables(1) + sync(version, 2) + plain + tables(2) + end(version)
    for thread in VALUES:
        yield name + "thread %d" % thread, head + generation(version, 1, batch(1, thread, 1000, body))
        yield name + "clocks on thread %d" % thread, head + sync(version, 1, thread=thread) + tables(1) + plain + end(version)
        status = record("ProcStatus", 1, 0, 1) + record("GoStatus", 1, 5, thread, 3)
        yield name + "system call on thread %d" % thread, head + generation(version, 1, batch(1, 1, 1000, status))
        yield name + "system call on thread %d, which comes" % thread, head + generation(
            version, 1, batch(1, 1, 1000, status), batch(1, thread, 1100, record("GoSyscallEndBlocked", 1)))
        steal = record("ProcStatus", 1, 0, 3) + record("GoStatus", 1, 5, 1, 3)
        yield name + "steal from thread %d" % thread, head + generation(
            version, 1, batch(1, 1, 1000, steal + record("ProcSteal", 1, 0, 1, thread)))
        yield name + "another steals from thread %d" % thread, head + generation(
            version, 1, batch(1, thread, 1000, steal), batch(1, 2, 1100, record("ProcSteal", 1, 0, 1, thread)))
    for time in VALUES:
        yield name + "batch at %d" % time, head + generation(version, 1, batch(1, 1, time, body))
        yield name + "batches at 1000 and %d" % time, head + generation(
            version, 1, plain, batch(1, 1, time, record("HeapAlloc", 1, 5)))
        yield name + "clocks at %d" % time, head + sync(version, 1, time=time) + tables(1) + plain + end(version)
        yield name + "clocks at %d only" % time, head + sync(version, 1, time=time) + end(version)
    for frequency in VALUES + (10**6, 10**9 + 1, 3 * 10**9):
        yield name + "frequency %d" % frequency, head + sync(version, 1, frequency) + tables(1) + plain + end(version)
        yield name + "frequency %d of the second" % frequency, head + good + sync(
            version, 2, frequency) + tables(2) + batch(2, 1, 2000, body) + end(version)
    yield name + "clocks twice", head + sync(version, 1) + good
    yield name + "frequency twice", head + batch(
        1, NONE, 5, (b"" if version < 25 else bytes([50])) + 2 * record("Frequency", 10**9)) + tables(1) + plain + end(version)
    yield name + "clocks without a thread, with events", head + generation(version, 1, batch(1, NONE, 1000, body))
    yield name + "empty batch before", head + generation(version, 1, batch(1, 1, 1, b""), plain)
    yield name + "empty batch after", head + generation(version, 1, plain, batch(1, 1, 1, b""))
    yield name + "empty batch between", head + generation(
        version, 1, plain, batch(1, 1, 1, b""), batch(1, 1, 2000, record("HeapAlloc", 1, 5)))
    yield name + "empty batch of another", head + generation(version, 1, plain, batch(1, 2, 1, b""))
    yield name + "empty batch of none", head + generation(version, 1, plain, batch(1, NONE, 1, b""))
    yield name + "batches out of order", head + generation(
        version, 1, batch(1, 1, 5000, body), batch(1, 1, 1000, record("HeapAlloc", 1, 6)))
    for size in (1023, 1024, 1025):
        yield name + "string of %d bytes" % size, head + sync(version, 1) + batch(
            1, NONE, 5, bytes([4]) + record("String", 9, size) + size * b"x") + plain + end(version)
    for frames in (0, 1, 127, 128, 129):
        yield name + "stack of %d frames" % frames, head + sync(version, 1) + tables(1) + batch(
            1, NONE, 5, bytes([2]) + record("Stack", 9, frames) + b"".join(
                numbers(0x2000 + i, 1, 2, i) for i in range(frames))) + plain + end(version)
    for value in VALUES:
        strings = batch(1, NONE, 5, bytes([4]) + record("String", value, 1) + b"y")
        label = batch(1, 1, 1000, CONTEXTS["running"] + record("GoLabel", 1, value))
        yield name + "string %d" % value, head + sync(version, 1) + strings + label + end(version)
        yield name + "string %d twice" % value, head + sync(version, 1) + strings + strings + label + end(version)
        stacks = batch(1, NONE, 5, bytes([4]) + record("String", 1, 1) + b"y") + batch(
            1, NONE, 5, bytes([2]) + record("Stack", value, 1) + numbers(value, 1, 0, value))
        block = batch(1, 1, 1000, CONTEXTS["running"] + record("GoBlock", 1, 0, value))
        yield name + "stack %d" % value, head + sync(version, 1) + stacks + block + end(version)
        yield name + "stack with string %d" % value, head + sync(version, 1) + batch(
            1, NONE, 5, bytes([2]) + record("Stack", 1, 1) + numbers(1, value, 0, 2)) + plain + end(version)
        for i, what in enumerate(("time", "m", "p", "g", "stack")):
            sample = [1001, 1, 0, 5, 1]
            sample[i] = value
            yield name + "sample's %s %d" % (what, value), head + generation(
                version, 1, plain, batch(1, NONE, 5, bytes([6]) + record("CPUSample", *sample)))
        if version >= 25:
            for i, what in enumerate(("dt", "mono", "sec", "nsec")):
                clocks = [1, 5, 1700000000, 6]
                clocks[i] = value
                yield name + "clock's %s %d" % (what, value), head + batch(
                    1, NONE, 1000, bytes([50]) + record("Frequency", 10**9) + record("ClockSnapshot", *clocks)
                ) + tables(1) + plain + end(version)
    if version >= 25:
        snapshot = record("ClockSnapshot", 1, 5, 6, 7)
        yield name + "snapshot twice", head + batch(
            1, NONE, 5, bytes([50]) + record("Frequency", 10**9) + snapshot + snapshot) + plain + end(version)
        yield name + "no snapshot", head + batch(1, NONE, 5, bytes([50]) + record("Frequency", 10**9)) + plain + end(version)
        yield name + "no frequency", head + batch(1, NONE, 5, bytes([50]) + snapshot) + plain + end(version)
        yield name + "empty clocks", head + batch(1, NONE, 5, bytes([50])) + plain + end(version)
    for marker in (2, 4, 6):
        yield name + "empty table %d" % marker, head + sync(version, 1) + batch(1, NONE, 5, bytes([marker])) + plain + end(version)
        yield name + "table %d of a thread" % marker, head + sync(version, 1) + batch(1, 1, 5, bytes([marker])) + plain + end(version)
    if version >= 23:
        for value in (0, 1, 2, 255):
            yield name + "experiment %d" % value, head + good[:-1 if version >= 26 else None] + bytes(
                [49, value]) + numbers(1, 1, 5, 3) + b"abc" + end(version)
            yield name + "experiment %d, empty" % value, head + good[:-1 if version >= 26 else None] + bytes(
                [49, value]) + numbers(1, 1, 5, 0) + end(version)
    for code in (0, *range(53, 60), 127, *range(137, 140), 200, 255):
        yield name + "type %d" % code, head + generation(version, 1, batch(1, 1, 1000, body + bytes([code]) + 3 * b"\1"))
    for event in V2.values():
        if event.since > version and event.timed:
            values = [USUAL_OF.get(event.name, {}).get(n, USUAL[kind]) for kind, n in event.arguments(event.since)]
            yield name + "later %s" % event.name, head + generation(
                version, 1, batch(1, 1, 1000, CONTEXTS["others"] + bytes([event.code]) + numbers(1, *values)))
    # Goroutines, procs and threads that end, and are used again with the same id.
    for value in VALUES:
        ended = record("ProcStatus", 1, 0, 1) + 2 * (
            record("GoCreate", 1, value, 0, 0) + record("GoStart", 1, value, 1) + record("GoDestroy", 1))
        yield name + "goroutine %d twice" % value, head + generation(version, 1, batch(1, 1, 1000, ended))
        held = record("ProcStatus", 1, value, 3) + record("GoStatus", 1, 5, 1, 3)
        for thief in (1, 2):
            yield name + "proc %d, stolen by thread %d" % (value, thief), head + generation(
                version, 1, batch(1, 1, 1000, held), batch(1, thief, 1100, record("ProcSteal", 1, value, 1, 1)))
        cycle = record("GCActive", 1, value) if value % 2 else record("GCBegin", 1, value, 0)
        yield name + "GC cycle %d" % value, head + generation(
            version, 1, batch(1, 1, 1000, body + cycle + record("GCEnd", 1, value + 1)))


# ---- v1 ------------------------------------------------------------------------------------------

V1 = events("events_v1.def")


def record_v1(version, name, *values):
    """The values without the time delta, which is 1, except of a record that has none."""
    event = V1[name]
    if event.timed:
        values = ((1, 1) if version < 7 else (1,)) + values
    return framed_v1(version, event.code, values)


def framed_v1(version, code, values):
    least = 2 if version < 7 else 1
    payload = numbers(*values)
    if len(values) < least:
        return b""
    if len(values) - least < 3:
        return bytes([code | (len(values) - least) << 6]) + payload
    return bytes([code | 0xC0]) + number(len(payload)) + payload


def batch_v1(version, proc, time=1000, seq=0):
    return framed_v1(version, 1, (proc, seq, time) if version < 7 else (proc, time))


def tail_v1(version):
    stack = (1, 1, 0x1000) if version < 7 else (1, 1, 0x1000, 1, 2, 7)
    out = framed_v1(version, 3, stack)
    if version >= 7:
        for i, text in ((1, b"main.f"), (2, b"f.go"), (3, b"x")):
            out += bytes([37]) + numbers(i, len(text)) + text
    return out + framed_v1(version, 2, (10**9, 0) if version < 7 else (10**9,))


def go_start(version, g, seq):
    return record_v1(version, "GoStart", g, *(() if version < 7 else (seq,)))


def contexts_v1(version):
    create = [record_v1(version, "GoCreate", g, 1, 1) for g in (5, 7, 8, 9)]
    # When tracing starts, goroutine 8 waits, and 9 is in a system call.
    found = record_v1(version, "GoWaiting", 8) + record_v1(version, "GoInSyscall", 9)
    start = record_v1(version, "ProcStart", 1)
    return {"bare": b"", "proc": start, "others": b"".join(create) + found + start,
            "running": b"".join(create) + found + start + go_start(version, 5, 1)}


USUAL_V1 = {"VALUE": 1, "THREAD": 1, "SEQ": 1, "STACK": 1, "START": 1, "GOROUTINE": 7, "BYTES": 4096,
            "TICKS": 1010, "STRING": 3, "TASK": 12, "PROC": 0}
USUAL_V1_OF = {"GoUnblock": {"g": 8, "seq": 2}, "GoUnblockLocal": {"g": 8}, "GoSysExit": {"g": 9, "seq": 2},
               "GoSysExitLocal": {"g": 9}, "GoCreate": {"g": 11}, "GCStart": {"seq": 0}}


def v1_trace(version, before, event, dt, values, after):
    made = framed_v1(version, event.code, ([1, dt] if version < 7 else [dt]) + values)
    if event.data:
        made += number(2) + b"hi"
    return header(version) + batch_v1(version, 0) + before + made + after


def cases_of_v1_events(version):
    tail = tail_v1(version)
    probes = {"": b"", "user": record_v1(version, "GoSysCall", 1), "block": record_v1(version, "GoBlock", 1),
              "stop": record_v1(version, "ProcStop")}
    for event in V1.values():
        if event.since > version or not event.timed:
            continue
        arguments = event.arguments(version)
        usual = [USUAL_V1_OF.get(event.name, {}).get(name, USUAL_V1[kind]) for kind, name in arguments]
        rows = [("usual", usual, 1)]
        for i, (_, name) in enumerate(arguments):
            rows += [("%s=%d" % (name, v), usual[:i] + [v] + usual[i + 1:], 1) for v in VALUES if v != usual[i]]
        rows += [("dt=%d" % dt, usual, dt) for dt in VALUES]
        for (context, before), (what, values, dt), (probe, after) in itertools.product(
                contexts_v1(version).items(), rows, probes.items()):
            yield ("v1 %d %s %s %s %s" % (version, event.name, context, what, probe),
                   v1_trace, (version, before, event, dt, values, after + tail))


def cases_of_v1_structure(version):
    name = "v1 %d structure " % version
    head, tail = header(version), tail_v1(version)
    body = contexts_v1(version)["running"]
    yield name + "nothing", head
    yield name + "no events", head + tail
    yield name + "empty batch only", head + batch_v1(version, 0) + tail
    yield name + "two empty batches", head + 2 * batch_v1(version, 0) + tail
    yield name + "empty batch of another", head + batch_v1(version, 1) + batch_v1(version, 0) + body + tail
    yield name + "empty batch after", head + batch_v1(version, 0) + body + batch_v1(version, 0) + tail
    yield name + "events without a batch", head + body + tail
    yield name + "tables first", head + tail + batch_v1(version, 0) + body
    yield name + "no footer", head + batch_v1(version, 0) + body
    yield name + "footer twice", head + batch_v1(version, 0) + body + tail + framed_v1(
        version, 2, (5, 0) if version < 7 else (5,))
    for value in VALUES:
        frequency = framed_v1(version, 2, (value, 0) if version < 7 else (value,))
        yield name + "frequency %d" % value, head + batch_v1(version, 0) + body + frequency
        yield name + "two frequencies, %d last" % value, head + batch_v1(version, 0) + body + tail + frequency
        yield name + "proc %d" % value, head + batch_v1(version, value) + body + tail
        yield name + "procs 0 and %d" % value, head + batch_v1(version, 0) + body + batch_v1(
            version, value, 2000, 100) + record_v1(version, "ProcStart", 2) + tail
        yield name + "batch at %d" % value, head + batch_v1(version, 0, value) + body + tail
        yield name + "sequence %d" % value, head + batch_v1(version, 0, 1000, value) + body + tail
        timer = framed_v1(version, 35, (value, 0) if version < 7 else (value,))
        yield name + "timer goroutine %d" % value, head + timer + batch_v1(version, 0) + body + tail
        if version >= 7:
            for size in (0, 1):
                yield name + "string %d of %d bytes" % (value, size), head + batch_v1(
                    version, 0) + body + bytes([37]) + numbers(value, size) + size * b"y" + tail
            yield name + "string %d twice" % value, head + batch_v1(version, 0) + body + 2 * (
                bytes([37]) + numbers(value, 1) + b"y") + tail
            frame = (value, value, value, value)
        else:
            frame = (value,)
        yield name + "stack of %d" % value, head + batch_v1(version, 0) + body + framed_v1(
            version, 3, (7, 1) + frame) + tail
        yield name + "stack %d" % value, head + batch_v1(version, 0) + body + record_v1(
            version, "GoBlock", value) + framed_v1(version, 3, (value, 1) + (frame[0],) * len(frame)) + tail
        yield name + "stack says %d frames" % value, head + batch_v1(version, 0) + body + framed_v1(
            version, 3, (7, value) + frame) + tail
        if version >= 11:
            for size in (0, value):
                yield name + "log of %d bytes, key %d" % (size, value), head + batch_v1(
                    version, 0) + body + framed_v1(version, 48, (1, 12, value, 1)) + number(size) + tail
    for code in range(0, 64):
        if not any(e.code == code and e.since <= version for e in V1.values()):
            yield name + "type %d" % code, head + batch_v1(version, 0) + body + bytes([code]) + b"\1\1" + tail


# ---- comparing -----------------------------------------------------------------------------------

HANG = int(os.environ["HANG"]) if "HANG" in os.environ else None  # seconds


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=HANG, check=False)
    return done.returncode, done.stdout, done.stderr


def blocks(text):
    """The output, sorted: a block for each event, which in v2 is one or more lines."""
    return sorted(re.split(r"^(?=M=|-?\d+ \w+ p=)", text.decode("utf-8", "surrogateescape"), flags=re.M))


def compare(options, name, make, arguments):
    """"" if both agree, else the difference, in one or two lines."""
    go = options.goread_v2 if name.startswith("v2") else options.goread_v1
    with tempfile.NamedTemporaryFile(suffix=".trace") as file:
        file.write(make(*arguments))
        file.flush()
        theirs, printed, said = run(go, "-print", file.name)
        ours, judged, found = run(options.gotrace, "validate", file.name)
        if theirs > 1 and ours <= 1:
            return "crash: Go: %s" % said.decode().split("\n")[0]
        if theirs != ours:
            rules = re.findall(rb": error: .*\[([a-z0-9.]+)\]$", found, flags=re.M)
            return "verdict: Go %d (%s), gotrace %d (%s)" % (
                theirs, said.decode("utf-8", "replace").strip().split("\n")[0][:100], ours,
                (rules[0] if rules else judged).decode().strip()[-60:])
        if ours != 0:
            return ""
        status, mine, _ = run(options.gotrace, "print", "--format", "go", file.name)
        if status != 0:
            return "print: status %d" % status
        if mine != printed and blocks(mine) != blocks(printed):
            pairs = [(a, b) for a, b in zip(blocks(printed), blocks(mine)) if a != b]
            a, b = pairs[0] if pairs else ("%d lines" % printed.count(b"\n"), "%d lines" % mine.count(b"\n"))
            return "print: Go %r, gotrace %r" % (a, b)
    return ""


def every_case():
    """The cases: name, function that makes the trace, and its arguments."""
    for version in (22, 23, 25, 26):
        yield from ((name, bytes, (trace,)) for name, trace in cases_of_v2_structure(version))
    for version in (5, 7, 8, 9, 10, 11, 19, 21):
        yield from ((name, bytes, (trace,)) for name, trace in cases_of_v1_structure(version))
    for version in (22, 23, 25, 26):
        yield from cases_of_v2_events(version)
    for version in (5, 7, 8, 9, 10, 11, 19, 21):
        yield from cases_of_v1_events(version)


def known_rows(path):
    """Pairs of patterns, separated by a tab: of the case's name and of the difference."""
    if path == "-":
        return []
    with open(path, encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file if line.strip() and line[0] != "#"]
    return [(re.compile(row[0]), re.compile(row[1])) for row in rows]


def chosen(options):
    all_cases = [case for case in every_case()
                 if not options.names or any(n in case[0] for n in options.names)]
    if options.all or options.names:
        return all_cases
    chance = random.Random(options.seed)
    structure = [c for c in all_cases if " structure " in c[0]]
    others = [c for c in all_cases if " structure " not in c[0]]
    return chance.sample(structure, min(options.sample, len(structure))) + chance.sample(others, min(2 * options.sample, len(others)))


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    for name in ("gotrace", "goread_v1", "goread_v2", "known"):
        parser.add_argument(name)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--keep")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sample", type=int, default=500)
    options = parser.parse_args()
    known = known_rows(options.known)
    cases = chosen(options)
    expected = unexpected = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for (name, make, arguments), difference in zip(cases, pool.map(lambda c: compare(options, *c), cases)):
            if not difference:
                continue
            if any(n.search(name) and d.search(difference) for n, d in known):
                expected += 1
                continue
            unexpected += 1
            print("%s\t%s" % (name, difference), flush=True)
            if options.keep:
                with open(os.path.join(options.keep, re.sub(r"\W+", "_", name) + ".trace"), "wb") as file:
                    file.write(make(*arguments))
    print("%d traces; %d differences that are known, %d others" % (len(cases), expected, unexpected))
    return unexpected != 0


if __name__ == "__main__":
    sys.exit(main())
