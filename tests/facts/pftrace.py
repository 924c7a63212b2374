"""Reads Perfetto traces (protobuf) without any code of gotrace.

Field numbers are those of Perfetto's public .proto files (protos/perfetto/trace). Only what the facts
need is decoded: track descriptors, track events, interned data, clocks and CPU samples.
"""

import struct
from collections import defaultdict

SLICE_BEGIN, SLICE_END, INSTANT, COUNTER = 1, 2, 3, 4
FLAG_CLEARED = 1

# InternedData: the fields whose entries are {iid = 1, text = 2}.
TEXTS = {1: "categories", 2: "names", 3: "annotation names", 5: "functions", 18: "sources", 29: "strings"}


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def fields(data):
    """The fields of a message: (number, value); the value of a nested message is its bytes."""
    at, end = 0, len(data)
    while at < end:
        tag, at = varint(data, at)
        kind = tag & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value, at = struct.unpack_from("<Q", data, at)[0], at + 8
        elif kind == 2:
            size, at = varint(data, at)
            if at + size > end:
                raise ValueError(f"field {tag >> 3} ends {at + size - end} bytes after its message")
            value, at = data[at : at + size], at + size
        else:
            raise ValueError(f"wire type {kind}")
        yield tag >> 3, value


def grouped(data):
    """The fields of a message as lists by number."""
    found = defaultdict(list)
    for number, value in fields(data):
        found[number].append(value)
    return found


def one(message, number, default=None):
    return message[number][-1] if number in message else default


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def text(value):
    return value.decode("utf-8")


class Sequence:
    """The incremental state of one writer."""

    def __init__(self):
        self.clear()
        self.clock = None
        self.offsets = {}  # by clock: from its times to those of the sequence's clock
        self.passed = 0  # the last time on the sequence's clock
        self.now = 0  # the time of the packet

    def clear(self):
        self.texts = {name: {} for name in TEXTS.values()}
        self.frames, self.stacks = {}, {}
        self.extra_tracks = []

    def intern(self, data):
        for number, entry in fields(data):
            entry = grouped(entry)
            iid = one(entry, 1, 0)
            if number in TEXTS:
                self.texts[TEXTS[number]][iid] = text(one(entry, 2, b""))
            elif number == 6:
                self.frames[iid] = (self.texts["functions"][one(entry, 2)], one(entry, 6, 0))
            elif number == 7:
                # Outermost first in the file.
                self.stacks[iid] = tuple(self.frames[frame] for frame in reversed(entry[2]))


class Slice:
    def __init__(self, begin, name, category, stack, flows):
        self.begin, self.end = begin, None
        self.name, self.category, self.stack = name, category, stack
        self.end_stack, self.annotations, self.flows = (), [], flows


class Trace:
    """The contents of a file, as a viewer would show them.

    tracks: uuid to {"name", "parent", "thread"}; slices and instants: uuid to lists; counters: uuid
    to [(time, value)]; flows: [(start, end)] of (time, uuid, name); samples: [(time, cpu, tid, stack)];
    clocks: {clock id: time} of the first snapshot; clearings: how often the incremental state was cleared. A stack is a tuple of (function, line), innermost first.
    """

    def __init__(self, data):
        self.tracks, self.clocks = {}, {}
        self.slices, self.instants, self.counters = (defaultdict(list) for _ in range(3))
        self.samples, self.flows = [], []
        self.clearings = 0
        self.sequences = defaultdict(Sequence)
        self.open, self.started = defaultdict(list), {}
        for number, packet in fields(data):
            if number != 1:
                raise ValueError(f"field {number} outside of packets")
            self.packet(grouped(packet))
        left = [uuid for uuid, slices in self.open.items() if slices]
        if left:
            raise ValueError(f"slices without an end on {[self.path(uuid) for uuid in left]}")

    def packet(self, packet):
        sequence = self.sequences[one(packet, 10, 0)]
        if one(packet, 13, 0) & FLAG_CLEARED:
            sequence.clear()
            self.clearings += 1
        if 59 in packet:
            self.defaults(sequence, grouped(one(packet, 59)))
        if 6 in packet:
            self.snapshot(sequence, grouped(one(packet, 6)))
        if 12 in packet:
            sequence.intern(one(packet, 12))
        if 60 in packet:
            self.describe(grouped(one(packet, 60)))
        if 8 in packet:
            clock = one(packet, 58, sequence.clock)
            # 64 and above are a sequence's own clocks; ours is incremental.
            if clock and clock >= 64:
                sequence.passed += one(packet, 8)
                sequence.now = sequence.passed
            else:
                sequence.now = one(packet, 8) + sequence.offsets.get(clock, 0)
        if 11 in packet:
            self.event(sequence, grouped(one(packet, 11)))
        if 66 in packet:
            sample = grouped(one(packet, 66))
            stack = sequence.stacks[one(sample, 4)] if 4 in sample else ()
            self.samples.append((sequence.now, one(sample, 1), one(sample, 3), stack))

    def defaults(self, sequence, defaults):
        sequence.clock = one(defaults, 58, sequence.clock)
        for event in defaults.get(11, []):
            sequence.extra_tracks = grouped(event).get(31, [])

    def snapshot(self, sequence, snapshot):
        for clock in map(grouped, snapshot[1]):
            self.clocks.setdefault(one(clock, 1), one(clock, 2))
            if one(clock, 1) == sequence.clock:
                sequence.passed = sequence.now = one(clock, 2)
        sequence.offsets = {one(c, 1): sequence.now - one(c, 2) for c in map(grouped, snapshot[1])}

    def describe(self, track):
        self.tracks[one(track, 1)] = {
            "name": text(one(track, 2, b"")),
            "parent": one(track, 5),
            "process": 3 in track,
            "thread": text(one(grouped(one(track, 4)), 5, b"")) if 4 in track else None,
        }

    def path(self, uuid):
        """The names of the track and of its parents, without the process."""
        track = self.tracks[uuid]
        if track["process"]:
            return ()
        around = self.path(track["parent"]) if track["parent"] else ()
        return (*around, track["name"] or track["thread"] or "")

    def event(self, sequence, event):
        kind, uuid = one(event, 9), one(event, 11)
        if uuid not in self.tracks:
            raise ValueError(f"an event on track {uuid}, which is not described")
        texts = sequence.texts
        name = text(one(event, 23, b"")) or texts["names"].get(one(event, 10, 0), "")
        category = ",".join(texts["categories"][iid] for iid in event.get(3, []))
        stack = sequence.stacks[one(event, 56)] if 56 in event else ()
        notes = [self.annotation(texts, grouped(note)) for note in event.get(4, [])]
        for extra, value in zip(sequence.extra_tracks, event.get(12, [])):
            self.counters[extra].append((sequence.now, signed(value)))
        if kind == COUNTER:
            double = one(event, 44)
            value = struct.unpack("<d", struct.pack("<Q", double))[0] if double is not None else None
            self.counters[uuid].append((sequence.now, value or signed(one(event, 30, 0))))
        elif kind == SLICE_BEGIN:
            found = Slice(sequence.now, name, category, stack, [])
            found.annotations = notes
            self.open[uuid].append(found)
            self.slices[uuid].append(found)
        elif kind == SLICE_END:
            if not self.open[uuid]:
                raise ValueError(f"a slice ends on {self.path(uuid)}, where none is open")
            found = self.open[uuid].pop()
            found.end, found.end_stack = sequence.now, stack
            found.annotations += notes
        elif kind == INSTANT:
            self.instants[uuid].append((sequence.now, name, category, stack, notes))
        else:
            raise ValueError(f"an event of type {kind}")
        place = (sequence.now, uuid, name)
        for flow in event.get(47, []):
            self.started[flow] = place
        for flow in event.get(48, []):
            self.flows.append((self.started.pop(flow), place))

    @staticmethod
    def annotation(texts, note):
        name = text(one(note, 10)) if 10 in note else texts["annotation names"][one(note, 1)]
        if 17 in note:
            return name, texts["strings"][one(note, 17)]
        if 6 in note:
            return name, text(one(note, 6))
        return name, one(note, 3, 0)
