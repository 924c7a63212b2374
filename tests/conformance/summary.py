#!/usr/bin/env python3
"""summary.py GOREAD GOTRACE FILE: compare the figures of `gotrace stat --json --each` with those of
Go's own analyses (`goread-v2 -summary`). Prints the number of rows that are equal; exits 1 after the
first rows that differ.

Known differences, in which Go's figure is wrong and gotrace's is right:
- When a record is closed while a system call is blocked, Go adds its blocked time to that of the
  scheduler wait, and counts it in the system call too (summary.go, near line 212).
- Go forgets that a proc is in a system call when another goroutine, whose call began on the same
  proc earlier, returns: the time after the loss of the proc counts as system call.
- Events of different procs or threads at the same tick may come in either order. Go's reader puts
  them a nanosecond apart; in v1 also, in a random order, the states of goroutines that are runnable
  at the start. Such rows are counted separately. Each tie may add to the difference, so that it is
  allowed to grow with the time of a goroutine.
- A window of Go's utilization may end up to 1000 ns after the trace, where there is none
  (mkBandUtil in gc.go rounds the length of its bands up).
- What exists when the trace begins is counted from the first event on by gotrace, and from the Sync record of
  the first generation on by Go, up to 97 ms before. So the total and one of the times (and active ranges) of
  such a goroutine, or of a region that began before, are longer in Go's by that difference, the LEAD.
- Go takes time 0 for no time: what begins with the trace's first event counts as unknown. This can
  be one goroutine, in v1, where the first event may be the state of a goroutine.
Rows that gotrace does not have: task 0, which is not a task; and the utilization of v1 traces, of
which Go's converter drops the first GOMAXPROCS."""
import collections
import json
import subprocess
import sys

goread, gotrace, path = sys.argv[1:4]
TIMES = ["total_ns", "exec_ns", "sched_wait_ns", "syscall_ns", "syscall_block_ns", "unknown_ns"]
counts = collections.Counter()
shown = 0


def rows(command):
    run = subprocess.run(command, capture_output=True, check=False)
    if run.returncode > 1:
        sys.exit(f"{command[0]}: {run.stderr.decode()}")
    return [json.loads(line) for line in run.stdout.splitlines()]


def nonzero(times):
    return {name: ns for name, ns in (times or {}).items() if ns}


def differs(kind, theirs, ours, what):
    global shown
    counts[kind + " different"] += 1
    if shown < 5:
        shown += 1
        print(f"{path}: {kind}: {what}\n  Go      {theirs}\n  gotrace {ours}", file=sys.stderr)


def name_of(row):
    """Go has no name for what has no stack."""
    return row["name"].encode("utf-8", "surrogatepass")


def close_in(a, b, total):
    """Whether times are equal but for the order of events at the same tick."""
    tie = max(TIE, total // PART)
    return a == b or (a is not None and b is not None and abs(a - b) <= tie)


def close(a, b):
    return close_in(a, b, 0)


def begins_at_0(kind, theirs, ours):
    waits = sum(ours["block_ns"].values()) - sum(theirs["block_ns"].values())
    return kind == "goroutine" and counts["goroutine from time 0"] == 0 and trace_version < 22 and \
        close(theirs["total_ns"], ours["total_ns"]) and waits > 0 and \
        close(theirs["unknown_ns"], ours["unknown_ns"] + waits)


def without_lead(theirs, ours):
    """Go's times from the first event on, of what began before it: the LEAD may be in any one of them."""
    def shorter(a, b):
        return a - LEAD if abs(a - LEAD - b) < abs(a - b) else a

    waits = theirs["block_ns"] or {}
    times = {**theirs, "total_ns": theirs["total_ns"] - LEAD,
             "range_ns": {n: shorter(ns, ours["range_ns"].get(n, 0)) for n, ns in (theirs["range_ns"] or {}).items()}}
    yield from ({**times, key: theirs[key] - LEAD} for key in TIMES[1:] if theirs[key] >= LEAD)
    yield from ({**times, "block_ns": {**waits, n: waits[n] - LEAD}} for n in waits if waits[n] >= LEAD)


def how_same(kind, theirs, ours):
    """What the row is counted as; or None, and the times that differ."""
    total = ours["total_ns"] or 0

    def near(a, b):
        return close_in(a, b, total)

    exact = True
    for key in ["block_ns", "range_ns"]:
        a, b = nonzero(theirs[key]), nonzero(ours[key])
        exact = exact and a == b
        if any(not near(a.get(n, 0), b.get(n, 0)) for n in a.keys() | b.keys()):
            return None, key
    if all(near(theirs[key], ours[key]) for key in TIMES):
        exact = exact and all(theirs[key] == ours[key] for key in TIMES)
        return kind if exact else kind + " but for ties", ""
    wrong = theirs["sched_wait_ns"] - ours["sched_wait_ns"]
    in_call = sum(theirs[k] - ours[k] for k in ["syscall_ns", "syscall_block_ns"])
    if near(theirs["total_ns"], ours["total_ns"]) and near(theirs["exec_ns"], ours["exec_ns"]) and near(in_call, 0):
        return kind + (" with forgotten proc" if near(wrong, 0) else " with blocked call at the end"), ""
    return None, "times"


def same_times(kind, theirs, ours):
    if begins_at_0(kind, theirs, ours):
        counts["goroutine from time 0"] += 1
        return
    same, what = how_same(kind, theirs, ours)
    if ours["created" if kind == "goroutine" else "begin"] in (None, FIRST):
        for times in without_lead(theirs, ours):
            same = same or how_same(kind, times, ours)[0]
    if same:
        counts[same] += 1
    else:
        differs(kind, theirs, ours, what)


def by_id(all_rows, kind):
    """The last of each id: Go has one record of each."""
    return {row["id"]: row for row in all_rows if row.get("kind") == kind}


def compare_goroutines(theirs, ours):
    a, b = by_id(theirs, "goroutine"), by_id(ours, "goroutine")
    if a.keys() != b.keys():
        differs("goroutine", sorted(a.keys() - b.keys())[:5], sorted(b.keys() - a.keys())[:5], "ids")
    for number in a.keys() & b.keys():
        x, y = a[number], b[number]
        if name_of(x) and x["name"] != y["name"]:
            differs("goroutine", x, y, "name")
        elif not close(x["started"] or None, y["started"]) or not close(x["ended"] or None, y["ended"]):
            differs("goroutine", x, y, "started, ended")
        else:
            same_times("goroutine", x, y)


def compare_regions(theirs, ours):
    def key(row):
        return (row["goroutine"], row["begin"] or -1, row["end"] or -1)

    a = sorted((row for row in theirs if row.get("kind") == "region"), key=key)
    b = sorted((row for row in ours if row.get("kind") == "region"), key=key)
    if len(a) != len(b):
        differs("region", len(a), len(b), "number")
    for x, y in zip(a, b):
        if any(x[k] != y[k] for k in ["goroutine", "name", "task"]) or \
                any(not close(x[k], y[k]) for k in ["begin", "end"]):
            differs("region", x, y, "begin, end")
        else:
            same_times("region", x, y)


def compare_tasks(theirs, ours):
    a, b = by_id(theirs, "task"), by_id(ours, "task")
    for number in a.keys() - {0}:
        x, y = a[number], b.get(number)
        if x["begin"] is None and x["end"] is None and y is None:
            counts["task only mentioned"] += 1
            continue
        if y is None or any(x[k] != y[k] for k in ["name", "logs", "regions"]) or \
                any(not close(x[k], y[k]) for k in ["begin", "end"]):
            differs("task", x, y, "task")
        else:
            counts["task"] += 1
    if b.keys() - a.keys():
        differs("task", [], sorted(b.keys() - a.keys()), "ids")


def goes_beyond_the_end(value, own, window):
    return window >= 100000 and 0 < own - value <= 1000 / window


def compare_utilization(theirs, ours):
    def table(all_rows, figure):
        return {(r["sweep"], r["window_ns"]): r[figure] for r in all_rows if r.get("kind") == "mmu"}

    a, b = table(theirs, "utilization"), table(ours, "go_utilization")
    for key, value in a.items():
        if key in b and abs(value - b[key]) > 1e-6 and goes_beyond_the_end(value, b[key], key[1]):
            counts["utilization beyond the end"] += 1
        elif key not in b or abs(value - b[key]) > 1e-6:
            differs("utilization", (key, value), b.get(key), "")
        else:
            counts["utilization"] += 1


go_rows = rows([goread, "-summary", path])
own_rows = rows([gotrace, "stat", "--json", "--each", path])
trace = next(row for row in own_rows if row.get("kind") == "trace")
trace_version = int(trace["version"].split(".")[1])
TIE = 64  # ns, or
PART = 10000  # a part of the time
FIRST = min((row["created"] for row in own_rows if row.get("kind") == "goroutine"), default=0)
LEAD = FIRST - min((row["created"] for row in go_rows if row.get("kind") == "goroutine"), default=0)
compare_goroutines(go_rows, own_rows)
compare_regions(go_rows, own_rows)
compare_tasks(go_rows, own_rows)
if trace_version >= 22:
    compare_utilization(go_rows, own_rows)
print(", ".join(f"{n} {kind}" for kind, n in sorted(counts.items())))
sys.exit(1 if any(kind.endswith("different") for kind in counts) else 0)
