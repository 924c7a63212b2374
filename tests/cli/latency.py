#!/usr/bin/env python3
"""latency.py GOTRACE TRACE...: compare the section scheduling of `gotrace stat` with the printed events.

From the events that `gotrace print --format jsonl` prints, computes each wait from runnable to running, by
start function and by what made the goroutine runnable, and what the procs did during each, and the time in
which goroutines assist while they run. Prints the
differences; exit status 1 if there are any.
"""
import collections
import json
import subprocess
import sys

STATES = ("idle", "scheduler", "goroutine", "gc", "assist", "syscall")
WORKERS = ("GC (dedicated)", "GC (fractional)", "GC (idle)")

Wait = collections.namedtuple("Wait", "g begin end cause reason by place")
PLACES = ("proc", "thread", "generation")


def lines(*command):
    output = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout
    return [json.loads(line) for line in output.decode("utf-8", "replace").splitlines()]


def number(e, member, default=0):
    return int(e.get(member, default))


class Procs:
    """What the procs do: a list of changes, each the time, the proc and its state from then on."""

    def __init__(self):
        self.state, self.changes = {}, []

    def set(self, time, proc, state):
        if proc is not None and self.state.get(proc) != state:
            self.state[proc] = state
            self.changes.append((time, proc, state))

    def between(self, begin, end):
        """How long all procs were in each state."""
        sums, since = collections.Counter(), {}
        for time, proc, state in [*self.changes, *((end, proc, None) for proc in self.state)]:
            if proc in since:
                before, at = since[proc]
                sums[before] += max(0, min(time, end) - max(at, begin))
            since[proc] = (state, time)
        return {state: sums[state] for state in STATES}


class Trace:
    def __init__(self, events, is_v1):
        self.waits, self.procs = [], Procs()
        self.state, self.runnable, self.worker, self.assists = {}, {}, {}, set()
        self.time, self.is_v1 = -1 if is_v1 else 0, is_v1
        for e in events:
            # As in Go's reader, no two events of a v1 trace have the same time.
            self.time = max(self.time + self.is_v1, e["time"])
            proc = e.get("proc")
            if e["kind"] == "transition" and e["resource"] == "proc":
                self.change_proc(e)
            elif e["kind"] == "transition" and e["from"] != e["to"] and number(e, "subject"):
                self.change(e, proc)
            if e["kind"] == "label" or (e["kind"] == "transition" and e.get("text")):
                self.label(e, proc)
            if e.get("range") == "GC mark assist":
                self.assist(e, proc)

    def assist(self, e, proc):
        g = number(e, "subject") or number(e, "g")
        (self.assists.discard if e["kind"] == "range-end" else self.assists.add)(g)
        if self.state.get(g, (None, None))[0] == "running":
            self.procs.set(self.time, proc, self.runs(g))

    def runs(self, g):
        """What a proc does that runs a goroutine."""
        return "gc" if self.worker.get(g) else "assist" if g in self.assists else "goroutine"

    def change_proc(self, e):
        proc = number(e, "subject")
        if e["to"] == "idle":
            self.procs.set(self.time, proc, "idle")
        elif self.procs.state.get(proc) in (None, "idle"):
            self.procs.set(self.time, proc, "scheduler")

    def label(self, e, proc):
        g = number(e, "g")
        self.worker[g] = e.get("text") in WORKERS
        if self.worker[g] and self.state.get(g, (None, None))[0] == "running":
            self.procs.set(self.time, proc, "gc")

    def change(self, e, proc):
        g, to = number(e, "subject"), e["to"]
        before, reason = self.state.get(g, (None, None))
        self.state[g] = (to, e.get("reason", ""))
        if e["from"] == "not-exist":
            self.worker[g] = False
        if to == "running":
            wait = self.runnable.get(g)
            if before == "runnable" and wait:
                self.waits.append(wait._replace(end=self.time))
            self.procs.set(self.time, proc, self.runs(g))
        elif before == "running":
            self.procs.set(self.time, proc, "syscall" if to == "syscall" else "scheduler")
        self.runnable.pop(g, None)
        if to == "runnable" and e["from"] != "undetermined":
            cause = {"waiting": "waited", "syscall": "syscall", "running": "stopped"}.get(e["from"], "created")
            reason = reason if cause == "waited" else e.get("reason", "") if cause == "stopped" else ""
            place = tuple(e.get(member) for member in PLACES)
            self.runnable[g] = Wait(g, self.time, None, cause, reason, number(e, "g"), place)
        if to == "not-exist" or e.get("reason") == "forever":
            self.state.pop(g, None)


def figures(waits):
    ns = [wait.end - wait.begin for wait in waits]
    return (len(ns), sum(ns), min(ns), max(ns))


def same(found, want, is_v1):
    """A system call that does not block is one event of v1, and two events of Go's reader."""
    if not found or not want or not is_v1:
        return found == want
    return found[0] == want[0] and all(abs(a - b) <= want[0] + 1 for a, b in zip(found, want))


def same_procs(found, want, is_v1):
    if is_v1:
        found, want = ({**ns, "goroutine": ns["goroutine"] + ns["syscall"], "syscall": 0} for ns in (found, want))
    return all(abs(found[state] - want[state]) <= is_v1 for state in STATES)


def check(gotrace, file):
    """Returns the differences."""
    with open(file, "rb") as f:
        is_v1 = int(f.read(16).split(b".")[1].split()[0]) < 22
    trace = Trace(lines(gotrace, "print", "-q", "--format", "jsonl", file), is_v1)
    rows = [row for row in lines(gotrace, "stat", "-q", "--json", "--each", "--only", "scheduling,gc", file) if "kind" in row]
    assists = trace.procs.between(0, trace.time)["assist"]
    for row in rows:
        if row["kind"] == "gc" and not assists == row["assist_exec_ns"] <= row["assist_ns"]:
            yield f"assists of {row['assist_exec_ns']} while running, of {row['assist_ns']}, expected {assists}"
    names, twice = {}, set()
    for row in rows:
        if row["kind"] == "goroutine":
            if int(row["id"]) in names:
                twice.add(int(row["id"]))
            names[int(row["id"])] = row["name"]
    wanted = collections.defaultdict(list)
    for wait in trace.waits:
        wanted["all", None, None].append(wait)
        wanted["cause", wait.cause, wait.reason].append(wait)
        wanted["function", names.get(wait.g), None].append(wait)
    found = {}
    for row in rows:
        key = {"latency": ("all", None, None), "latency-cause": ("cause", row.get("cause"), row.get("reason")),
               "latency-function": ("function", row.get("name"), None)}.get(row["kind"])
        if key:
            found[key] = tuple(row[m] for m in ("count", "sum", "min", "max"))
            if sum(bucket["count"] for bucket in row["histogram"]) != row["count"]:
                yield f"{key}: the histogram does not have all"
    for key in wanted.keys() | found.keys():
        want = figures(wanted[key]) if key in wanted else None
        if not same(found.get(key), want, is_v1) and not (key[0] == "function" and twice):
            yield f"{key}: {found.get(key)}, expected {want}"
    yield from check_places(gotrace, file, trace.waits, is_v1)
    delays = [row for row in rows if row["kind"] == "delay"]
    longest = sorted((wait.end - wait.begin for wait in trace.waits), reverse=True)[:10]
    if [row["ns"] for row in delays] != longest:
        yield f"the longest: {[row['ns'] for row in delays]}, expected {longest}"
    by_place = {(wait.g, wait.begin): wait for wait in trace.waits}
    for row in delays:
        g = int(row["goroutine"])
        wait = by_place.get((g, row["begin"]))
        if not wait or wait.end - wait.begin != row["ns"] or wait.by != int(row["by"]):
            yield f"delay of {g} at {row['begin']}: {row['ns']} by {row['by']}, expected {wait}"
        elif not same_procs(row["procs_ns"], trace.procs.between(wait.begin, wait.end), is_v1):
            yield f"delay of {g} at {row['begin']}: {row['procs_ns']}, expected {trace.procs.between(wait.begin, wait.end)}"
        elif g not in twice and row["name"] != names[g]:
            yield f"delay of {g}: {row['name']}, expected {names[g]}"


def check_places(gotrace, file, waits, is_v1):
    """A wait is on the proc and thread, and in the generation, of the event with which it begins."""
    for n, place in enumerate(PLACES[:2 if is_v1 else 3]):
        by = collections.defaultdict(list)
        for wait in waits:
            if wait.place[n] is not None and wait.place[n] >= 0:
                by[wait.place[n]].append(wait)
        for value in sorted(by)[:2]:
            rows = lines(gotrace, "stat", "-q", "--json", "--only", "scheduling", f"--{place}={value}", file)
            found = [tuple(row[m] for m in ("count", "sum", "min", "max")) for row in rows if row.get("kind") == "latency"]
            if not same(found[0] if found else None, figures(by[value]), is_v1):
                yield f"--{place} {value}: {found}, expected {figures(by[value])}"


def main():
    gotrace, *files = sys.argv[1:]
    count = 0
    for file in files:
        for difference in check(gotrace, file):
            count += 1
            print(f"{file.split('/')[-1]}: {difference}")
    return count > 0


if __name__ == "__main__":
    sys.exit(main())
