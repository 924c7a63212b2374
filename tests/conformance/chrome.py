#!/usr/bin/env python3
"""chrome.py VERSION GO-TRACE TRACE VIEW=OURS ...: compare our Chrome JSON with that of `go tool trace -http`.

VIEW is proc, goroutine or thread, OURS the output of `convert --to chrome --by VIEW`. Slices (name,
row, begin, duration), counters and arrows must be equal, except for the faults of Go's tool,
each of which has a function below. Prints the differences; status 1 if there are any.
"""

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections import Counter

NOWHERE, LAST_LANE = 1000000, 1000004
NO_PROC = 2**64 - 1
FOCUSED = 3  # goroutines whose own view is compared
SHOWN = 6  # differences shown of a kind
TICK = 3  # ns by which events of the same tick may differ
TIMES = {"slices": (2, 3), "arrows": (2, 4), "counters": (0,), "calls that blocked": (0, 1)}


class Server:
    """`go tool trace`, on its own port, while the with statement runs."""

    def __init__(self, program, trace):
        command = [program, "-http=127.0.0.1:0", trace]
        # It tries to open a browser, which is disabled.
        environment = dict(os.environ, PATH="/nonexistent", BROWSER="/bin/true")
        self.process = subprocess.Popen(
            command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )

    def __enter__(self):
        for line in self.process.stderr:
            found = re.search(r"http://127\.0\.0\.1:\d+", line)
            if found:
                self.address = found.group()
                return self
        self.__exit__()
        raise SystemExit("go tool trace did not start")

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()

    def page(self, path):
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(self.address + path) as answer:
            return answer.read()

    def fetch(self, query):
        return json.loads(self.page(f"/jsontrace?{query}"))


def ns(event, key):
    return round(event.get(key, 0) * 1000)


class Timeline:
    def __init__(self, document, shift=0):
        self.slices, self.counters, self.arrows = [], [], []
        begins = {}
        self.rows = {}
        # Go's events are not in order of time: the ends of an arrow are paired in any order.
        for e in document["traceEvents"]:
            ts, pid, tid = ns(e, "ts") + shift, e.get("pid", 0), e.get("tid", 0)
            args = e.get("args") or {}
            # Go's tool treats "no proc" as a number.
            tid = NOWHERE if tid == NO_PROC else tid
            if e["ph"] == "X" and pid == 0:
                blocked = args.get("blocked", "")
                # Go's name of a goroutine whose function has no name, a C function, is a space.
                self.slices.append((e["name"].rstrip(), tid, ts, ns(e, "dur"), blocked))
            elif e["ph"] == "C":
                self.counters.append((e["name"], ts, tuple(sorted(args.items()))))
            elif e["ph"] == "s" and pid == 0:
                begins[e["id"]] = (tid, ts)
            elif e["ph"] == "M" and e["name"] == "thread_name" and pid == 0:
                self.rows[tid] = args["name"]
        for e in document["traceEvents"]:
            if e["ph"] == "t" and e.get("pid", 0) == 0:
                tid, ts = begins[e["id"]]
                self.arrows.append((e["name"], tid, ts, e.get("tid", 0), ns(e, "ts") + shift))


def runs(timeline):
    return [s for s in timeline.slices if re.match(r"G\d", s[0])]


def shift_between(go, ours):
    """Go counts from its first event, which may be one that only Go has."""
    found = Counter()
    begins = [{}, {}]
    for of, timeline in zip(begins, (go, ours)):
        for name, _, ts, dur, _ in sorted(timeline.slices, key=lambda s: s[2]):
            of.setdefault((name, dur), []).append(ts)
    for key, one in begins[0].items():
        two = begins[1].get(key, [])
        found.update(a - b for a, b in zip(one, two) if len(one) == len(two))
    return found.most_common(1)[0][0] if found else 0


def within_a_tick(times, one, two):
    """Whether all differences come from events of the same tick: each is a nanosecond later than the
    previous one, so that their times depend on the order of the reader."""
    if sum(one.values()) != sum(two.values()):
        return False
    for a, b in zip(*(sorted(of.elements(), key=str) for of in (one, two))):
        for i, (x, y) in enumerate(zip(a, b)):
            if x != y and not (i in times and abs(x - y) <= TICK):
                return False
    return True


def report(view, what, go, ours):
    """Whether two lists have the same members; prints the differences."""
    go, ours = Counter(go), Counter(ours)
    if within_a_tick(TIMES[what], go - ours, ours - go):
        return True
    for side, left in (("Go only", go - ours), ("ours only", ours - go)):
        if left:
            print(f"{view}: {sum(left.values())} {what} of {sum(go.values())} are {side}:")
            for entry in sorted(left, key=str)[:SHOWN]:
                print("   ", entry)
    return False


# ---- the faults of Go's tool, and what its views omit -----------------------------------------


def from_the_beginning(slices, shift):
    """Go's time begins with the first record; ours with the first event, and ranges that were active
    before the trace are drawn from there."""
    for name, tid, ts, dur, blocked in slices:
        late = max(0, shift - ts)
        yield name, tid, ts + late, max(0, dur - late), blocked


def without_rows_of_blocked_calls(slices):
    """Except in the view by proc, Go draws a system call that blocked only when its goroutine stops
    the next time, on the thread that it has then, if there is a next time."""
    calls = Counter(s for s in slices if s[0] == "syscall" and s[4] == "yes")
    rest = [s for s in slices if not (s[0] == "syscall" and s[4] == "yes")]
    return rest, Counter((s[2], s[3]) for s in calls.elements())


def corrected(go, ours):
    """Go's slices, with corrections. A mark assist that is active
    when a generation begins is drawn by Go from the beginning of the run, even if it began later. A
    C thread that calls Go again is a new goroutine with the same id: Go gives it the name of the
    previous one, before anything is known about it."""
    begins = {(s[1], s[2] + s[3]): s for s in ours if s[0] == "GC mark assist"}
    nameless = {s for s in ours if re.fullmatch(r"G\d+", s[0])}
    for s in go:
        begun = begins.get((s[1], s[2] + s[3]), s)
        unnamed = (s[0].split(" ")[0], *s[1:])
        if s[0] == "GC mark assist" and begun[2] > s[2]:
            yield begun
        else:
            yield unnamed if unnamed in nameless else s


def joined(slices):
    """Our slices of ranges are cut where a goroutine starts to run, so that slices nest;
    Go draws a stop-the-world across."""
    found = {}
    for s in sorted(slices, key=lambda s: s[2]):
        before = found.get((s[0], s[1], s[2])) if s[0].startswith("stop-the-world") else None
        if before:
            s = (*before[:3], before[3] + s[3], s[4])
        found[s[0], s[1], s[2] + s[3]] = s
    return list(found.values())


def without_sweeps(slices):
    """By goroutine and thread, Go omits sweeps; its source has a note to change that."""
    return [s for s in slices if s[0] != "GC incremental sweep"]


def without_arrows_from_nowhere(arrows):
    """Go 1.27 has no arrows from proc 0 for unblocking, and none without a source for creation."""
    return [
        a
        for a in arrows
        if not (a[0].startswith("unblock") and a[1] == 0) and not (a[0] == "go" and a[1] == NOWHERE)
    ]


def steps(timeline, of, shift):
    """A counter's values over time, at each time the last one. Go 1.27 counts goroutines
    in a system call as running, even without a proc, and never counts them with the
    threads; ours are counted with the threads, as in Go 1.21, so they are added up here."""
    values, found = {}, []
    # Ours do not count the runtime's own goroutines, including coroutines, in system calls.
    own = any(re.match(r"G\d+ runtime\.(?!main$)", s[0]) for s in timeline.slices)
    counters = [c for c in timeline.counters if c[0] in (of, "Threads")]
    for name, ts, args in counters:
        values.update({(name, key): value for key, value in args})
        if of == "Goroutines":
            running = values.get((of, "Running"), 0) + values.get(("Threads", "InSyscall"), 0)
            now = (0 if own else running, values.get((of, "Runnable"), 0), values.get((of, "GCWaiting"), 0))
        elif of == "Threads":
            now = (values.get((of, "Running"), 0),)
        else:
            now = (values.get((of, "Allocated"), 0), values.get((of, "NextGC"), 0))
        # Keep all values of threads, for without_times.
        ts = max(ts, shift)
        if found and of != "Threads" and ts - TICK <= found[-1][0] <= ts:
            found.pop()
        # Before the first value, all are 0.
        if now != (found[-1][1] if found else (0,) * len(now)):
            found.append((ts, now))
    return found


def without_times(go, ours, shift):
    """Go counts a proc that runs since before the trace when it learns of it, which is after the events that
    it has counted already: then only the values can be compared."""
    if all(a[0] <= b[0] and b[0] > shift for a, b in zip(go, go[1:])):
        return go, ours
    return [list(enumerate(c[1] for c in of)) for of in (go, ours)]


# ---- what Go 1.21 names differently -------------------------------------------------------------

RENAMED = [
    (r"^STW \(", "stop-the-world ("),
    (r"^MARK ASSIST.*", "GC mark assist"),
    (r"^SWEEP$", "GC sweep"),
    (r"^sysexit$", "exit blocked syscall"),
    # Ours include the reason, as Go does since 1.22, and a goroutine in addition to its label.
    (r"^unblock \(.*", "unblock"),
    (r"^G\d+ [^ ]+ \((.*)\)$", r"\1"),
]


def renamed(entries):
    for entry in entries:
        name = entry[0]
        for pattern, by in RENAMED:
            name = re.sub(pattern, by, name)
        yield name, *entry[1:]


def of_1_21(timeline, rows_of_goroutines):
    """The part that can be compared with Go 1.21. It draws no system calls, omits stop-the-world from the
    view of goroutines, and gives arrows to the goroutines that existed before the trace."""
    first = min((s[2] for s in runs(timeline)), default=0)
    timeline.slices = [
        s
        for s in renamed(timeline.slices)
        if s[0] != "syscall" and not (rows_of_goroutines and s[0].startswith("stop-the-world"))
    ]
    timeline.arrows = [a for a in renamed(timeline.arrows) if not (a[0] == "go" and a[2] <= first)]


# ---- the views -----------------------------------------------------------------


def compare_whole(view, go, ours, shift):
    go_slices = list(from_the_beginning(go.slices, shift))
    our_slices = ours.slices
    stops = [s for s in our_slices if s[0].startswith("stop-the-world")]
    if any(Counter(stops) - Counter(go_slices)):
        our_slices = [s for s in our_slices if s not in set(stops)] + joined(stops)
    same = True
    if view == "thread":
        our_slices = without_sweeps(our_slices)
        go_slices, go_calls = without_rows_of_blocked_calls(go_slices)
        our_slices, our_calls = without_rows_of_blocked_calls(our_slices)
        same &= report(view, "calls that blocked", go_calls, go_calls & our_calls)
    same &= report(view, "slices", corrected(go_slices, our_slices), our_slices)
    same &= report(view, "arrows", go.arrows, ours.arrows)
    for of in ("Goroutines", "Threads", "Heap"):
        counters = steps(go, of, shift), steps(ours, of, shift)
        if of == "Threads":
            counters = without_times(*counters, shift)
        same &= report(f"{view}, {of}", "counters", *counters)
    return same


def most_active(timeline):
    count = Counter(int(re.match(r"G(\d+)", s[0]).group(1)) for s in runs(timeline))
    return [g for g, _ in sorted(count.items(), key=lambda x: (-x[1], x[0]))[:FOCUSED]]


def compare_goroutine(goid, go, ours, shift):
    """Go shows a goroutine and related ones during its lifetime: the time between
    its first and its last run is compared."""
    go_slices = list(from_the_beginning(go.slices, shift))
    own = [s for s in go_slices if s[1] == goid]
    if not own:
        print(f"goroutine {goid}: Go shows nothing of it")
        return False
    first, last = min(s[2] for s in own), max(s[2] + s[3] for s in own)
    # Rows that it does not show have no arrows, and neither have the special ones, which are empty.
    rows = {row for row in go.rows if not NOWHERE <= row <= LAST_LANE}
    slices = [
        [s for s in of if s[1] in rows and s[2] >= first and s[2] + s[3] <= last]
        for of in (go_slices, without_sweeps(ours.slices))
    ]
    arrows = [
        [a for a in of if {a[1], a[3]} <= rows and first <= a[2] and a[4] <= last]
        for of in (go.arrows, ours.arrows)
    ]
    (go_left, go_calls), (our_left, our_calls) = map(without_rows_of_blocked_calls, slices)
    same = report(f"goroutine {goid}", "calls that blocked", go_calls, go_calls & our_calls)
    same &= report(f"goroutine {goid}", "slices", corrected(go_left, our_left), our_left)
    return report(f"goroutine {goid}", "arrows", *arrows) and same


def main():
    version, program, trace = sys.argv[1:4]
    same = True
    # The server stops on this request too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with Server(program, trace) as server:
        for view, path in (argument.split("=", 1) for argument in sys.argv[4:]):
            with open(path, encoding="utf-8") as file:
                document = json.load(file)
            ours = Timeline(document)
            whole = Timeline(server.fetch(f"view={'proc' if view == 'goroutine' else view}"))
            shift = shift_between(whole, ours)
            ours = Timeline(document, shift)
            if version != "1.21":
                ours.arrows = without_arrows_from_nowhere(ours.arrows)
            active = most_active(ours)
            if version == "1.21":
                of_1_21(whole, False)
                of_1_21(ours, view == "goroutine")
            if view != "goroutine":
                same &= compare_whole(view, whole, ours, shift)
                continue
            for goid in active:
                go = Timeline(server.fetch(f"goid={goid}"))
                if version == "1.21":
                    of_1_21(go, True)
                same &= compare_goroutine(goid, go, ours, shift)
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
