"""why_total.py TRACE...: check what `gotrace why` prints in total, for the goroutines, tasks and regions of the traces.

The rows of the single paths, from --json, are added up here: by what is done at depth 0 (own), by parts (leaf), and by parts
within the waits around them. The two tables, as JSON and as text, and the profiles (folded, speedscope, pprof) are exactly that,
and each adds up to the sum of the intervals. A percentage is that share of the longest, rounded up. Prints what differs, and
how many queries were checked.
"""
import collections
import fractions
import json
import math
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "facts"))
import pftrace  # noqa: E402

KINDS = ("goroutine", "task", "region")
NAMES = 6  # of a kind and trace
MOST = "1000000"
NESTED = 64  # waits that a stack of a profile has
TITLES = {"execution": "execution", "gc_assist": "GC mark assist", "scheduling": "scheduling delay", "syscall": "system call",
          "waiting": "waiting", "unknown": "unknown"}
UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
TEXT = re.compile(r" {4}( *)(\S.*?)? +([0-9.]+) (ns|us|ms|s) +([0-9.]+)% +([0-9]+) parts?(?:  +(at .*|\(no stack\)|\([0-9]+ other stacks?\)))?$")


def output(*command):
    found = subprocess.run(("gotrace",) + command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return found.stdout


def lines(*command):
    return [json.loads(line) for line in output(*command).decode("utf-8", "replace").splitlines()]


def differ(what, message):
    print(f"{' '.join(what)}: {message}")


# ---- the paths, added up --------------------------------------------------------------------------


def key_of(row):
    """What rows of the tables differ by."""
    stack = tuple((f["func"], f["file"], f["line"]) for f in row["stack"]) if row["state"] in ("waiting", "syscall") else ()
    return row["state"], (row["reason"] or "") if row["state"] == "waiting" else None, stack


def title_of(row):
    reason = row["reason"] if row["state"] == "waiting" else None
    return TITLES[row["state"]] + (f" ({reason})" if reason else "")


def frames_of(row, before):
    """Frames of one row, outermost first: its stack if it is that of the goroutine, or where it waited before, or where it
    starts; and the state. before: the last row of the same wait."""
    stack = row["stack"]
    if row["state"] == "scheduling":
        waited = before and row["depth"] <= NESTED and before["state"] == "waiting" and before["goroutine"] == row["goroutine"]
        other = row["cause"] is not None and row["cause"] != row["goroutine"]
        stack = before["stack"] if waited else None if other else stack
    if stack:
        frames = [frame["func"] or "?" for frame in reversed(stack)]
    else:
        frames = [row["function"]] if row["function"] else []
    return frames + [title_of(row)]


class Sums:
    def __init__(self):
        self.own, self.leaf, self.nested = (collections.defaultdict(lambda: [0, 0]) for _ in range(3))
        self.divided = False

    @staticmethod
    def add(sums, key, row):
        sums[key][0] += row["ns"]
        sums[key][1] += 1

    def add_path(self, rows):
        waits, last = [], [None]
        for row in rows:
            waits = waits[:row["depth"]]
            last = last[:row["depth"] + 1]
            frames = frames_of(row, last[-1])
            last[-1] = row
            if row["depth"] == 0:
                self.add(self.own, key_of(row), row)
            if row["kind"] == "part":
                self.add(self.leaf, key_of(row), row)
                shown = waits[:NESTED] + ([["..."]] if len(waits) > NESTED else []) + [frames]
                self.add(self.nested, tuple(frame for of in shown for frame in of), row)
            else:
                waits.append(frames)
                last.append(None)


def read_paths(*query):
    paths = []
    for row in lines(*query, "--json"):
        if row["kind"] == "path":
            paths.append((row, []))
        elif row["kind"] in ("part", "wait"):
            paths[-1][1].append(row)
    return paths


# ---- the tables -----------------------------------------------------------------------------------


def check_json(what, paths, matched, sums, printed):
    lengths = [path["total_ns"] for path, _ in paths]
    total, rows = printed[0], printed[1:]
    expected = {"count": len(paths), "matched": matched, "total_ns": sum(lengths), "shortest_ns": min(lengths),
                "longest_ns": max(lengths),
                "divided_ns": sum(row["ns"] for _, rows in paths for row in rows if row["kind"] == "wait" and row["depth"] == 0)}
    if total["kind"] != "total" or any(total[member] != value for member, value in expected.items()):
        differ(what, f"{total}, expected {expected}")
    for kind, of in ("own", sums.own), ("leaf", sums.leaf):
        found = collections.defaultdict(lambda: [0, 0])
        for row in rows:
            if row["kind"] == kind:
                found[key_of(row)][0] += row["ns"]
                found[key_of(row)][1] += row["parts"]
        if found != of:
            differ(what, f"rows {kind} differ")
        if sum(ns for ns, _ in found.values()) != sum(lengths):
            differ(what, f"rows {kind} do not add up")
        order = [row["ns"] for row in rows if row["kind"] == kind and row["state"] == "syscall"]
        if order != sorted(order, reverse=True):
            differ(what, f"rows {kind} are not in order")


def check_text(what, sums, printed):
    """The rows by state are the sums, and what is below one of them adds up to it."""
    tables, total = [], sum(ns for ns, _ in sums.own.values())
    for line in printed[1:]:
        row = TEXT.match(line)
        if not row:
            tables.append([])
            continue
        _, title, number, unit, share, parts, stack = row.groups()
        tables[-1].append((title, float(number) * UNITS[unit], UNITS[unit], int(parts), stack))
        if total and abs(float(share) - 100 * float(number) * UNITS[unit] / total) > 0.06 + 0.1 * UNITS[unit] / total:
            differ(what, f"share of {line}")
    if len(tables) != (2 if sums.divided else 1):
        differ(what, f"{len(tables)} tables")
    for table, of in zip(tables, (sums.own, sums.leaf)):
        expected = collections.defaultdict(lambda: [0, 0])
        for (state, reason, _), (ns, parts) in of.items():
            title = title_of({"state": state, "reason": reason})
            expected[title][0] += ns
            expected[title][1] += parts
        found, below = {}, []
        for title, ns, unit, parts, stack in table + [("", 0, 1, 0, None)]:
            if title is not None:
                if below and (sum(p for _, p in below) != found[last][1] or
                              abs(sum(n for n, _ in below) - found[last][0]) > 0.01 * found[last][0] + len(below)):
                    differ(what, f"rows below {last} do not add up")
                last, below = title, []
                found[title] = (ns, parts)
            else:
                below.append((ns, parts))
        found.pop("")
        if found.keys() != expected.keys() or any(
                found[t][1] != expected[t][1] or abs(found[t][0] - expected[t][0]) > 0.001 * expected[t][0] + 1 for t in found):
            differ(what, f"text: {found}, expected {dict(expected)}")


# ---- the profiles ---------------------------------------------------------------------------------


def folded_name(name):
    data = name.encode("utf-8", "replace")
    return bytes(ord(":") if c == ord(";") else ord("_") if c < 32 or c == 127 else c for c in data)


def check_folded(what, sums, data):
    expected = collections.Counter()
    for frames, (ns, _) in sums.nested.items():
        expected[b";".join(map(folded_name, frames))] += ns
    found = collections.Counter()
    for line in data.splitlines():
        stack, ns = line.rsplit(b" ", 1)
        if stack in found:
            differ(what, f"{stack} occurs twice")
        found[stack] += int(ns)
    if found != expected:
        differ(what, f"{len(found - expected)} of {len(found)} stacks differ from {len(expected)} expected")


def check_speedscope(what, sums, data):
    file = json.loads(data.decode("utf-8", "replace"))
    frames, profile = file["shared"]["frames"], file["profiles"][0]
    found, expected = collections.Counter(), collections.Counter()
    for sample, weight in zip(profile["samples"], profile["weights"]):
        found[tuple(frames[n]["name"] for n in sample)] += weight
    for stack, (ns, _) in sums.nested.items():
        expected[stack] += ns
    if found != expected or profile["endValue"] != sum(expected.values()) or len(profile["weights"]) != len(profile["samples"]):
        differ(what, "samples differ")


def varints(values):
    """Repeated integers, packed or not."""
    for value in values:
        if isinstance(value, int):
            yield value
            continue
        at = 0
        while at < len(value):
            number, at = pftrace.varint(value, at)
            yield number


def check_pprof(what, sums, data):
    file = pftrace.grouped(data)
    texts = [text.decode("utf-8", "replace") for text in file[6]]
    functions = {m[1][0]: texts[m[2][0]] if 2 in m else "?" for m in map(pftrace.grouped, file[5])}
    locations = {}
    for location in map(pftrace.grouped, file[4]):
        line = pftrace.grouped(location[4][0])
        locations[location[1][0]] = functions[line[1][0]] or "?"
    found, expected = (collections.defaultdict(lambda: [0, 0]) for _ in range(2))
    for sample in map(pftrace.grouped, file[2]):
        stack = tuple(locations[n] for n in reversed(list(varints(sample[1]))))
        count, ns = varints(sample[2])
        found[stack][0] += ns
        found[stack][1] += count
    for stack, of in sums.nested.items():
        expected[stack][0] += of[0]
        expected[stack][1] += of[1]
    if found != expected:
        differ(what, f"{len(found)} stacks, expected {len(expected)}")


# ---- traces ---------------------------------------------------------------------------------------


def check_choice(query, trace, paths, matched, slowest):
    """Those intervals, which are the first of the list of paths."""
    what = query + ("--slowest", slowest, "--total", trace)
    sums = Sums()
    for _, rows in paths:
        sums.add_path(rows)
    sums.divided = any(row["kind"] == "wait" for _, rows in paths for row in rows)
    check_json(what + ("--json",), paths, matched, sums, lines(*what, "--json"))
    if all((reason or "").isascii() for _, reason, _ in sums.leaf):
        check_text(what, sums, output(*what).decode("utf-8", "replace").splitlines())
    for target, check in ("folded", check_folded), ("speedscope", check_speedscope), ("pprof", check_pprof):
        check(what + ("--to", target), sums, output(*what, "--to", target))


def check_query(trace, kind, name):
    query = ("why", "--" + kind, name)
    paths = read_paths(*query, "--slowest", MOST, trace)
    if not paths:
        return 0
    matched = len(paths)
    check_choice(query, trace, paths, matched, MOST)
    for percent in ("20", "0.7"):
        check_choice(query, trace, paths[:math.ceil(matched * fractions.Fraction(percent) / 100)], matched, percent + "%")
    return 1


def check_trace(trace):
    names = collections.defaultdict(dict)
    for row in lines("stat", "--json", "--each", "--only", "overview", trace):
        if row.get("kind") in KINDS and row.get("name"):
            names[row["kind"]][row["name"]] = True
    return sum(check_query(trace, kind, name) for kind in names for name in list(names[kind])[:NAMES])


if __name__ == "__main__":
    total = sum(check_trace(trace) for trace in sys.argv[1:])
    print("many" if total > 3 * len(sys.argv[1:]) else total, "queries")
