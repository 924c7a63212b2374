"""differing.py GOTRACE TRACE...: each figure of `diff` is the one that `stat` gives of that trace, to the nanosecond.

Each trace is compared with the next one. Prints the number of figures.
"""
import collections
import json
import subprocess
import sys

SECOND = 10**9
PARTS = {"running": ["exec_ns"], "runnable": ["sched_wait_ns"], "syscalls": ["syscall_ns", "syscall_block_ns"]}


def lines(*args):
    out = subprocess.run([gotrace, *args], capture_output=True, text=True, check=False).stdout
    return [json.loads(line) for line in out.splitlines()]


def stack_of(row):
    return tuple(frame["func"] for frame in row.get("stack", []))


class Figures(dict):
    """The figures of a trace, by kind, name, stack and figure."""

    def __init__(self, trace):
        super().__init__()
        waits = collections.Counter()
        rows = lines("stat", "--json", "--full", "--top", "0", "--stacks", "0", trace)
        self.whole = next(row for row in rows if row.get("kind") == "trace")
        self.seconds = self.whole["duration_ns"] / SECOND
        for row in rows:
            kind, name = row.get("kind"), row.get("name", row.get("reason", ""))
            if kind in ("tasks", "regions"):
                self.values((kind[:-1], name, ()), row, ["count", "mean", "p50", "p99"])
            elif kind == "latency" or kind == "latency-function" and name:
                self.values(("sched", name, ()), row, ["time", "p50", "p99"])
            elif kind == "stop":
                self.values(("stop", name, ()), row, ["count", "time", "p99"])
            elif kind in ("blocking-stack", "syscall-stack"):
                key = "block" if kind == "blocking-stack" else "syscall", name, stack_of(row)
                waits[*key, "time"] += row["sum"]
                waits[*key, "count"] += row["count"]
            elif kind == "function":
                self.function(("goroutine", name, ()), row)
            elif kind == "gc":
                self.collector(row)
        for key, value in waits.items():
            self[key] = value / self.seconds

    def values(self, key, row, figures):
        if row["count"] == 0:
            return
        found = {"count": row["count"] / self.seconds, "time": row["sum"] / self.seconds, "mean": row["sum"] / row["count"],
                 "p50": row["median"], "p99": row["p99"]}
        for figure in figures:
            self[*key, figure] = found[figure]

    def function(self, key, row):
        for figure, names in PARTS.items():
            self[*key, figure] = sum(row.get(name, {"sum": 0})["sum"] for name in names) / self.seconds
        blocked = row.get("block_ns", {})
        self[*key, "blocked"] = sum(values["sum"] for values in blocked.values()) / self.seconds
        self[*key, "count"] = row["created"] / self.seconds
        self[*key, "alive"] = row["alive"]

    def collector(self, row):
        procs = self.whole["procs_ns"]
        key, every = ("gc", "", ()), sum(procs.values())
        if row["cycles"] == 0 and procs["gc"] + procs["assist"] == 0:
            return
        self[*key, "count"] = row["cycles"] / self.seconds
        self[*key, "share"] = (procs["gc"] + procs["assist"]) / every if every else 0
        self[*key, "assists"] = procs["assist"] / every if every else 0
        if row["heap"]:
            self[*key, "heap"] = row["heap"]["max"]


def check(old, new, sides):
    seen = set()
    for row in lines("diff", "--json", "--all", "--top", "0", old, new):
        if row.get("kind") != "difference" or row["of"] in ("cpu", "silence"):
            continue
        key = row["of"], row["name"], stack_of(row), row["figure"]
        seen.add(key)
        for side, name in zip(sides, ("old", "new")):
            want, got = side.get(key, 0), row[name] or 0
            # Shares are exact to 1e-12, all else to a nanosecond or a part of 1e-12.
            if abs(want - got) > max(1e-12, 1e-12 * abs(want)):
                sys.exit(f"{old} {new}: {key}: {name} {got}, stat has {want}")
    for side in sides:
        for key, value in side.items():
            if value and key not in seen:
                sys.exit(f"{old} {new}: {key} is missing")
    return len(seen)


gotrace, traces = sys.argv[1], sys.argv[2:]
figures = [Figures(trace) for trace in traces]
print(sum(check(traces[i], traces[i + 1], figures[i:i + 2]) for i in range(len(traces) - 1)), "figures")
