#!/usr/bin/env python3
"""facts.py FOLDER NAME...: extract the contents of exports as text that can be compared and read.

For each NAME reads FOLDER/NAME.pftrace, NAME.proc.json, NAME.goroutine.json, NAME.thread.json and
NAME.jsonl, those that exist, and writes FOLDER/NAME.facts, and contradictions to NAME.wrong (not for
an unsound trace, NAME.unsound). Facts do not depend on how a file
is encoded: not on ids, the order of packets or the order of JSON members. Long lists are shown
by their count, their first entries and a digest of all. Status 1 if an export contradicts another.
"""

import hashlib
import json
import os
import sys
from collections import Counter, defaultdict

import pftrace

SHOWN = 8  # entries of a long list
LIMIT = 24  # a list up to this size is shown whole
WIDTH = 400
UNBEGUN = ("begin", "not in the trace")  # an argument of slices whose begin is not in the trace


def digest(entries):
    """Shorten a list, in the given order."""
    text = "\n".join(str(entry) for entry in entries)
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:12]


def printable(text):
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)[:WIDTH]


class Report:
    def __init__(self):
        self.lines = []
        self.wrong = []

    def head(self, title):
        self.lines += ["", title] if self.lines else [title]

    def line(self, text):
        self.lines.append("  " + printable(text))

    def many(self, what, entries, limit=LIMIT):
        """A list: its count and a digest, and its first entries."""
        if not entries:
            return
        shown = entries if len(entries) <= limit else entries[:SHOWN]
        self.line(f"{what}: {len(entries)}, digest {digest(entries)}")
        for entry in shown:
            self.line(f"  {entry}")
        if len(shown) < len(entries):
            self.line(f"  ... and {len(entries) - len(shown)} more")

    def counter(self, name, values):
        """A counter's values in the order of the file: (time, value)."""
        only = [value for _, value in values]
        self.line(
            f"{name}: {len(only)} values, first {only[0]}, last {only[-1]}, min {min(only)}, "
            f"max {max(only)}, digest {digest(values)}"
        )


def sums(entries):
    """[(name, duration)] as "name COUNT times DURATION ns", sorted."""
    counts, total = Counter(), Counter()
    for name, duration in entries:
        counts[name] += 1
        total[name] += duration
    return "; ".join(f"{name} {counts[name]} for {total[name]} ns" for name in sorted(counts))


def natural(path):
    """Sort key that puts P2 before P10."""
    key = []
    for part in path:
        digits = "".join(c for c in part.split(" ")[0] if c.isdigit())
        key.append((int(digits) if digits else -1, part))
    return key


# ---- Perfetto ------------------------------------------------------------------------------------


def perfetto_groups(trace):
    """Tracks by group: {group: [(path, uuid)]}, in natural order."""
    groups = defaultdict(list)
    for uuid in trace.tracks:
        path = trace.path(uuid)
        if path:
            groups[path[0] if len(path) > 1 else "top"].append((path, uuid))
    return {group: sorted(tracks, key=lambda t: (natural(t[0]), t[1])) for group, tracks in groups.items()}


def perfetto_slices(report, trace, groups):
    for group in sorted(groups):
        lines = []
        for path, uuid in groups[group]:
            slices = trace.slices.get(uuid)
            if not slices:
                continue
            goroutines = "oroutines" in group and len(path) == 2
            names = [(s.name if goroutines else s.category or s.name, s.end - s.begin) for s in slices]
            lines.append(f"{'/'.join(path)}: {sums(names)}")
        report.many(f"slices of {group}", lines)
    everything = []
    for group in sorted(groups):
        for path, uuid in groups[group]:
            for s in trace.slices.get(uuid, []):
                everything.append((path, s.begin, s.end, s.name, s.category, s.annotations))
    report.line(f"all slices: {len(everything)}, digest {digest(sorted(everything, key=str))}")
    report.many("slices without a begin", [
        f"{path[-2]}/{path[-1]}: {name} from {begin} to {end}" for path, begin, end, name, _, notes in everything
        if UNBEGUN in notes
    ])
    stacks = [
        (s.begin, s.end, s.name, s.stack, s.end_stack) for slices in trace.slices.values() for s in slices
        if s.stack or s.end_stack
    ]
    stacks.sort()
    report.line(f"stacks, whole: digest {digest(stacks)}")
    report.many("slices with stacks", [
        f"{name} from {begin} {innermost(stack)} to {end} {innermost(end_stack)}"
        for begin, end, name, stack, end_stack in stacks
    ])


def innermost(stack):
    return f"({stack[0][0]}:{stack[0][1]}, {len(stack)} deep)" if stack else "(no stack)"


def perfetto_instants(report, trace):
    counts, everything = Counter(), []
    for uuid, instants in trace.instants.items():
        path = trace.path(uuid)
        for time, name, category, stack, notes in instants:
            counts[path[0], category or name] += 1
            everything.append((time, path, name, category, stack, notes))
    if everything:
        report.line(f"instants: {len(everything)}, digest {digest(sorted(everything, key=str))}")
        for (group, name), count in sorted(counts.items()):
            report.line(f"  {group}: {name} {count}")


def perfetto_flows(report, trace):
    def place(end):
        time, uuid, name = end
        return f"{name} on {trace.path(uuid)[-1]} at {time}"

    flows = sorted(trace.flows, key=lambda f: (f[0][0], f[1][0], place(f[0]), place(f[1])))
    report.many("flows", [f"{place(start)} -> {place(end)}" for start, end in flows])
    left = sorted(place(start) for start in trace.started.values())
    report.many("flows that lead nowhere", left)
    for start, end in flows:
        if end[0] < start[0]:
            report.wrong.append(f"perfetto: a flow runs back: {place(start)} -> {place(end)}")


def perfetto(report, data):
    trace = pftrace.Trace(data)
    groups = perfetto_groups(trace)
    report.head("perfetto")
    report.line("clocks: " + ", ".join(f"{clock} at {time}" for clock, time in sorted(trace.clocks.items())))
    report.line(f"incremental state cleared: {trace.clearings}")
    report.line("tracks: " + ", ".join(f"{group} {len(tracks)}" for group, tracks in sorted(groups.items())))
    counters = {}
    for path, uuid in groups.get("Stats", []):
        if trace.counters.get(uuid):
            counters[path[1]] = trace.counters[uuid]
            report.counter(path[1], trace.counters[uuid])
    perfetto_slices(report, trace, groups)
    perfetto_instants(report, trace)
    perfetto_flows(report, trace)
    if trace.samples:
        by = Counter(f"tid {tid} on cpu {cpu}" for _, cpu, tid, _ in trace.samples)
        report.line(f"samples: {len(trace.samples)}, digest {digest(trace.samples)}")
        for who, count in sorted(by.items()):
            report.line(f"  {who}: {count}")
    return counters, [(start[0], end[0]) for start, end in trace.flows]


# ---- Chrome --------------------------------------------------------------------------------------


def ns(event, key):
    return round(event.get(key, 0) * 1000)


class Chrome:
    def __init__(self, document):
        self.frames = document.get("stackFrames", {})
        self.rows, self.counters = {}, defaultdict(list)
        self.slices, self.instants, self.regions = [], [], []
        self.unbegun, self.without = {}, []
        begins, ends = {}, []
        for e in document["traceEvents"]:
            where, kind = (e.get("pid", 0), e.get("tid", 0)), e["ph"]
            if kind == "M" and e["name"] == "thread_name":
                self.rows[where] = e["args"]["name"]
            elif kind == "X":
                args = sorted((e.get("args") or {}).items())
                stacks = self.stack(e.get("sf")), self.stack(e.get("esf"))
                self.slices.append((where, e["name"], ns(e, "ts"), ns(e, "dur"), args, stacks))
                if UNBEGUN in args:
                    self.without.append(f"{e['name']} from {ns(e, 'ts')} to {ns(e, 'ts') + ns(e, 'dur')}")
            elif kind == "C":
                for key, value in e["args"].items():
                    self.counters[f"{e['name']}/{key}"].append((ns(e, "ts"), value))
            elif kind in "Ii":
                args = sorted((e.get("args") or {}).items())
                self.instants.append((ns(e, "ts"), where, e["name"], args, self.stack(e.get("sf"))))
            elif kind in "be":
                self.regions.append((ns(e, "ts"), kind, e["name"], e["id"], self.stack(e.get("sf"))))
                if kind == "b" and UNBEGUN in (e.get("args") or {}).items():
                    self.unbegun[e["id"]] = ns(e, "ts")
                elif kind == "e" and e["id"] in self.unbegun:
                    self.without.append(f"{e['name']} from {self.unbegun.pop(e['id'])} to {ns(e, 'ts')}")
            elif kind == "s":
                begins[e["id"]] = (ns(e, "ts"), where, e["name"])
            elif kind == "t":
                ends.append((e["id"], (ns(e, "ts"), where, e["name"])))
            elif kind != "M":
                raise ValueError(f"an event of phase {kind}")
        self.flows = sorted((begins.pop(which), end) for which, end in ends)
        self.left = sorted(begins.values())

    def stack(self, number):
        frames = []
        while number:
            frame = self.frames[str(number)]
            frames.append(frame["name"])
            number = frame.get("parent")
        return tuple(frames)

    def row(self, where):
        return self.rows.get(where) or f"{where[0]}/{where[1]}"


def chrome_flows(report, chrome):
    lines = []
    for start, end in chrome.flows:
        lines.append(f"{start[2]} on {chrome.row(start[1])} at {start[0]} -> {chrome.row(end[1])} at {end[0]}")
        if end[0] < start[0]:
            report.wrong.append(f"chrome: an arrow runs back: {lines[-1]}")
    report.many("arrows", lines)
    report.many("arrows that lead nowhere", [f"{s[2]} on {chrome.row(s[1])} at {s[0]}" for s in chrome.left])


def chrome(report, document, view):
    chrome = Chrome(document)
    report.head(f"chrome by {view}")
    if view == "proc":
        for name in sorted(chrome.counters):
            report.counter(name, chrome.counters[name])
        rows = defaultdict(list)
        for where, name, _, duration, _, _ in chrome.slices:
            kind = name.split(" ")[0] if name[:1] == "G" and name[1:2].isdigit() else name
            rows[chrome.row(where)].append((kind, duration))
        report.many("slices", [f"{row}: {sums(rows[row])}" for row in sorted(rows, key=lambda row: natural([row]))])
    everything = sorted(((chrome.row(w), *rest) for w, *rest in chrome.slices), key=str)
    report.line(f"all slices: {len(everything)}, digest {digest(everything)}")
    if chrome.instants:
        instants = sorted((time, chrome.row(where), *rest) for time, where, *rest in chrome.instants)
        report.line(f"instants: {len(instants)}, digest {digest(instants)}")
        for name, count in sorted(Counter(i[2] for i in instants).items()):
            report.line(f"  {name} {count}")
    if chrome.regions:
        report.line(f"regions: {len(chrome.regions)}, digest {digest(sorted(chrome.regions))}")
    report.many("slices without a begin", sorted(chrome.without))
    if view == "proc":
        chrome_flows(report, chrome)
    elif chrome.flows:
        flows = [(start[0], chrome.row(start[1]), end[0], chrome.row(end[1])) for start, end in chrome.flows]
        report.line(f"arrows: {len(flows)}, digest {digest(flows)}")
    # Arrows between tasks are not causes of events.
    return chrome.counters, [(start[0], end[0]) for start, end in chrome.flows if start[1][0] == 0]


# ---- events --------------------------------------------------------------------------------------


def event_kind(event):
    change = f" {event['from']}->{event['to']}" if "to" in event else ""
    return event["type"] + change


SAID = "time type generation proc lane thread g subject from to reason cause range metric value func label".split()


def said(event):
    """The contents of an event, except ids and the names of JSON members."""
    return [event.get(member) for member in SAID] + sorted((event.get("args") or {}).values(), key=str)


def shortly(event):
    words = [str(event["time"]), event["type"]]
    words += [f"{what} {event[what]}" for what in ("proc", "lane", "thread", "g") if what in event]
    if "to" in event:
        words.append(f"{event['resource']} {event['subject']} {event['from']}->{event['to']}")
    if "metric" in event:
        words.append(f"{event['metric']} {event['value']}")
    return " ".join(words)


def jsonl(report, lines):
    events = [json.loads(line) for line in lines]
    report.head("jsonl")
    report.line(f"everything said of events: digest {digest([said(event) for event in events])}")
    report.many("events", [shortly(event) for event in events], 2 * LIMIT)
    # A switch of coroutines is several events at one offset: the cause is that of the same goroutine.
    at = defaultdict(list)
    for event in events:
        at[event["offset"]].append(event)
    kinds, pairs = Counter(), []
    for event in events:
        if "cause" not in event:
            continue
        causes = [e for e in at[event["cause"]] if e.get("subject") == event.get("subject") and e is not event]
        if not causes:
            report.wrong.append(f"jsonl: no event of that goroutine is at {event['cause']}, the cause of {event}")
            continue
        cause = causes[0]
        kinds[event_kind(event), event_kind(cause)] += 1
        pairs.append((cause["time"], event["time"], event["subject"], cause["type"], event["type"]))
        if cause["time"] > event["time"]:
            report.wrong.append(f"jsonl: an effect before its cause: {cause} -> {event}")
    report.line(f"causes: {len(pairs)}, digest {digest(pairs)}")
    for (event, cause), count in sorted(kinds.items()):
        report.line(f"  {event} by {cause}: {count}")
    for kind, count in sorted(Counter(event["kind"] for event in events).items()):
        report.line(f"{kind}: {count}")
    metrics = defaultdict(list)
    for event in events:
        if event["kind"] == "metric":
            metrics[event["metric"]].append((event["time"], event["value"]))
    for name in sorted(metrics):
        report.counter(name, metrics[name])
    return metrics, [pair[:2] for pair in pairs]


# ---- consistency ---------------------------------------------------------------------------------


def values(series):
    return [value for _, value in series]


def compare_flows(report, what, causes, flows):
    """Each cause is an arrow of a timeline, and the reverse, by the times of both ends."""
    left, more = Counter(causes), Counter(flows)
    left, more = left - more, more - left
    for start, end in sorted(left)[:SHOWN]:
        report.wrong.append(f"{what}: no arrow from {start} to {end}, where the events have a cause")
    for start, end in sorted(more)[:SHOWN]:
        report.wrong.append(f"{what}: an arrow from {start} to {end}, where the events have no cause")


def compare_counters(report, metrics, perfetto_counters, chrome_counters):
    """The counters of the timelines agree with the events."""
    for name, series in metrics.items():
        shown = perfetto_counters.get(name)
        if shown is not None and values(shown) != [float(v) if v >> 63 else v for v in values(series)]:
            report.wrong.append(f"perfetto: the values of {name} are not those of the events")
    allocated = set(values(metrics.get("heap allocated", []))) | {0}
    goals = set(values(metrics.get("heap goal", []))) | {0}
    for value in values(chrome_counters.get("Heap/Allocated", [])):
        if value not in allocated:
            report.wrong.append(f"chrome: {value} allocated, which no event says")
    for value in values(chrome_counters.get("Heap/NextGC", [])):
        if value < 0 or value > max(goals):
            report.wrong.append(f"chrome: NextGC is {value}, the largest goal {max(goals)}")
    for what, series in (*perfetto_counters.items(), *chrome_counters.items()):
        if min(values(series)) < 0:
            report.wrong.append(f"the counter {what} is {min(values(series))}")
        if "eap" not in what and max(values(series)) > 1 << 32:
            report.wrong.append(f"the counter {what} is {max(values(series))}")


# ---- the program ---------------------------------------------------------------------------------


def read(path, mode="r"):
    if not os.path.exists(path):
        return None
    with open(path, mode, encoding=None if "b" in mode else "utf-8") as file:
        return file.read()


def facts(folder, name):
    report = Report()
    metrics, causes, counters = {}, None, {"perfetto": {}, "proc": {}}
    text = read(f"{folder}/{name}.jsonl")
    if text is not None:
        metrics, causes = jsonl(report, text.splitlines())
    data = read(f"{folder}/{name}.pftrace", "rb")
    flows = {}
    if data is not None:
        counters["perfetto"], flows["perfetto"] = perfetto(report, data)
    for view in ("proc", "goroutine", "thread"):
        document = read(f"{folder}/{name}.{view}.json")
        if document is not None:
            counters[view], flows[view] = chrome(report, json.loads(document), view)
    # For an unsound trace, the events and the timelines may contain different parts.
    if text is not None and not os.path.exists(f"{folder}/{name}.unsound"):
        compare_counters(report, metrics, counters["perfetto"], counters["proc"])
        for what in ("perfetto", "proc"):
            compare_flows(report, what, causes, flows.get(what, []))
    with open(f"{folder}/{name}.facts", "w", encoding="utf-8") as file:
        file.write("\n".join(report.lines) + "\n")
    with open(f"{folder}/{name}.wrong", "w", encoding="utf-8") as file:
        file.writelines(printable(line) + "\n" for line in report.wrong)
    return not report.wrong


def main():
    folder, *names = sys.argv[1:]
    good = True
    for name in names:
        good &= facts(folder, name)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
