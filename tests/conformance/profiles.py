#!/usr/bin/env python3
"""profiles.py GOTRACE TOOL FILE: compare the profiles net, sync, syscall and sched with those of
`go tool trace -pprof=KIND` (TOOL), sample for sample: the same stacks by PC, with the same count and
delay, and the same function and line of each PC. Labels, which only gotrace has, are ignored: its samples with the
same stack and other labels are added up. No two have the same stack and labels.

Go has one frame for each PC: of frames that are inlined there (gccgo) it repeats one. gotrace has all.
Events of different threads at the same tick may come in either order; Go's reader puts them a
nanosecond apart. So a delay may differ by 64 ns or a 10000th."""
import collections
import gzip
import os
import subprocess
import sys
import tempfile

gotrace, tool, path = sys.argv[1:4]


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        else:
            assert tag & 7 == 2, tag
            size, at = varint(data, at)
            value = data[at:at + size]
            at += size
        yield tag >> 3, value


def numbers(values):
    """A repeated number, packed or not."""
    for value in values:
        if isinstance(value, int):
            yield value
            continue
        at = 0
        while at < len(value):
            number, at = varint(value, at)
            yield number


def message(data):
    result = collections.defaultdict(list)
    for number, value in fields(data):
        result[number].append(value)
    return result


def samples(data):
    """Count and delay by stack of addresses; what is at each address."""
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    top = message(data)
    strings = [s.decode("utf-8", "replace") for s in top[6]]
    functions, places = {}, collections.defaultdict(set)
    addresses = {}
    for function in map(message, top[5]):
        functions[function[1][0]] = (strings[(function[2] or [0])[0]], strings[(function[4] or [0])[0]])
    for location in map(message, top[4]):
        line = message(location[4][0])
        # Go has a function for each file; gotrace for each name.
        address = (location[3] or [0])[0]
        addresses[location[1][0]] = address
        places[address].add((functions[line[1][0]][0], (line[2] or [0])[0]))
    result = collections.Counter()
    different = {(tuple(numbers(m[1])), tuple(m[3])) for m in map(message, top[2])}
    if len(different) != len(top[2]):
        sys.exit(f"{len(top[2])} samples, {len(different)} of which are different")
    for sample in map(message, top[2]):
        stack = tuple(addresses[n] for n in numbers(sample[1]))
        # A frame without anything: Go takes it for no stack, and has the one that was first.
        stack = () if stack == (0,) else stack
        count, delay = numbers(sample[2])
        result[stack, "count"] += count
        result[stack, "delay"] += delay
    return result, places


def equals(key, a, b):
    return a == b or (key[1] == "delay" and abs(a - b) <= max(64, b // 10000))


def run(command):
    done = subprocess.run(command, capture_output=True, check=False,
                          env=dict(os.environ, GOTOOLCHAIN="local"))
    return done.returncode, done.stdout, done.stderr.decode()


status = 0
equal = 0
with tempfile.TemporaryDirectory() as folder:
    for kind in ["net", "sync", "syscall", "sched"]:
        code, theirs, error = run([tool, f"-pprof={kind}", path])
        if code:
            sys.exit(f"{tool}: {error}")
        code, ours, error = run([gotrace, "convert", "-q", "--to", "pprof", "--profile", kind, "-o",
                                 f"{folder}/{kind}.pb", path])
        if code:
            sys.exit(f"{gotrace}: {error}")
        with open(f"{folder}/{kind}.pb", "rb") as file:
            ours, own_places = samples(file.read())
        theirs, places = samples(theirs)
        equal += len(theirs) // 2
        for address, place in places.items():
            if address and not place <= own_places[address]:
                print(f"{kind}: {own_places[address]}, not {place}, at {address:x}")
                status = 1
        for key in sorted(ours.keys() | theirs.keys()):
            if not equals(key, ours[key], theirs[key]):
                print(f"{kind}: {key[1]} {ours[key]}, not {theirs[key]}, at {key[0]}")
                status = 1
                break
print(f"{equal} samples")
sys.exit(status)
