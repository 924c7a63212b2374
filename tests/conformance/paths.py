#!/usr/bin/env python3
"""paths.py GOTRACE TRACE: compare `gotrace why` with the definition of the critical path.

The paths of all goroutines, tasks and regions of a trace of Go 1.22 or later are computed from the events
that `gotrace print --format jsonl` prints, by the definition: the time of a goroutine is executed,
runnable, in a system call or waited; a wait that another goroutine ended is that goroutine's path
until then, and what is before a goroutine's creation is its creator's path. Each must have the same parts in
`gotrace why --json` (interval, goroutine, state, reason and the goroutine that caused it). Its parts, and
its rows at the top, must add up to the interval, and to the sums of the path. Of v1 traces, whose events
differ from those that the path is made from, only the sums are checked.

Prints the differences; exit status 1 if there are any.
"""
import bisect
import collections
import json
import subprocess
import sys

KINDS = {"running": "execution", "assisting": "gc_assist", "runnable": "scheduling", "syscall": "syscall",
         "waiting": "waiting"}
ENDED_BY_NOBODY = ("network", "sleep")
SUMS = {"exec_ns": "execution", "gc_assist_ns": "gc_assist", "sched_wait_ns": "scheduling",
        "syscall_ns": "syscall", "unknown_ns": "unknown"}
ALL = "1000000"
MOST = 25  # queries of a kind, and differences that are printed

Part = collections.namedtuple("Part", "begin end goroutine state reason cause")
Printed = collections.namedtuple("Printed", "head parts own others")  # own: rows at the top; others: parts in their waits
Path = collections.namedtuple("Path", "of name task goroutine begin end life step")


class State:
    """A state of a goroutine, from its time until that of the next one."""

    def __init__(self, time, kind, reason, step):
        self.time, self.kind, self.reason, self.step = time, kind, reason, step
        self.by = None  # the goroutine that caused it, if known
        self.cause = None  # its life, and the step of the state that it had then; None: not known


class Life:
    """The states of a goroutine from its creation, or the beginning of the trace, until its end."""

    def __init__(self, id, created, begin):
        self.id, self.created, self.begin = id, created, begin
        self.states, self.assists, self.regions = [], False, []


class Trace:
    def __init__(self, events):
        self.lives, self.tasks, self.forever = {}, {}, {}
        self.paths = []
        self.time, self.sync, self.step = 0, 0, 0
        self.last = (None, None)  # the life that ended last, and when
        for e in events:
            self.step += 1
            if e["kind"] == "sync":
                self.sync = e["time"]
                continue
            self.time = max(self.time, e["time"])
            self.event(e)
        self.end()

    def event(self, e):
        kind = e["kind"]
        if kind == "transition" and e["resource"] == "goroutine":
            if e["from"] != e["to"]:
                self.change(e)
        elif kind in ("range-begin", "range-end", "range-active"):
            if e["range"] == "GC mark assist":
                self.assist(e)
        elif kind == "task-begin":
            self.tasks[number(e, "task")] = (e.get("text", ""), self.time, number(e, "g"))
        elif kind == "task-end":
            name, begin, _ = self.tasks.pop(number(e, "task"), (e.get("text", ""), 0, 0))
            self.add_path("task", name, number(e, "task"), self.lives.get(number(e, "g")), begin)
        elif kind == "region-begin" and number(e, "g") in self.lives:
            region = (e.get("text", ""), number(e, "task"), self.time)
            self.lives[number(e, "g")].regions.append(region)
        elif kind == "region-end" and number(e, "g") in self.lives:
            life = self.lives[number(e, "g")]
            open_region = (e.get("text", ""), number(e, "task"), life.begin)
            name, task, begin = life.regions.pop() if life.regions else open_region
            self.add_path("region", name, task, life, begin)

    def add_path(self, of, name, task, life, begin):
        """Until now."""
        begin = min(begin, self.time)
        self.paths.append(Path(of, name, task, life.id if life else None, begin, self.time, life, self.step))

    def change(self, e):
        id, by = number(e, "subject"), number(e, "g")
        life = self.lives.get(id)
        if life and e["from"] == "not-exist":
            self.end_life(life)
            life = None
        known = life is not None
        if not life:
            created = e["from"] == "not-exist"
            life = self.lives[id] = Life(id, created, self.time if created else self.sync)
        if e["to"] == "not-exist":
            self.end_life(life)
            return
        began = life.begin if not life.states and not life.created else self.time
        state = State(began, e["to"], e.get("reason") or None, self.step)
        if e["from"] != "undetermined" and (known or life.created):
            if by != id:
                state.cause = self.cause(by)
            if by == id or state.cause:
                state.by = by
        self.add_state(life, state)
        if e["to"] == "waiting" and e.get("reason") == "forever":
            self.end_life(life)
            self.forever[id] = life

    def cause(self, by):
        life, ended = self.last
        if by in self.lives:
            life = self.lives[by]
        elif not life or life.id != by or ended != self.time:
            return None
        return (life, self.step) if life.states else None

    @staticmethod
    def add_state(life, state):
        if life.assists and state.kind == "running":
            state.kind = "assisting"
        life.states.append(state)

    def assist(self, e):
        life = self.lives.get(number(e, "subject" if e["kind"] == "range-active" else "g"))
        begins = e["kind"] != "range-end"
        if not life or life.assists == begins:
            return
        life.assists = begins
        if life.states and life.states[-1].kind in ("running", "assisting"):
            self.add_state(life, State(self.time, "running", None, self.step))

    def end_life(self, life):
        for name, task, begin in life.regions:
            self.add_path("region", name, task, life, begin)
        life.regions = []
        self.add_path("goroutine", None, None, life, life.begin)
        self.lives.pop(life.id, None)
        self.last = (life, self.time)

    def end(self):
        for id, (name, begin, g) in self.tasks.items():
            self.add_path("task", name, id, self.forever.get(g) or self.lives.get(g), begin)
        for life in list(self.lives.values()):
            self.end_life(life)


def number(e, member):
    return int(e.get(member, 0))


def parts_of(path):
    """The parts of a path, the last one first."""
    if not path.life or not path.life.states:
        return [Part(path.begin, path.end, path.goroutine, "unknown", None, None)] if path.begin < path.end else []
    parts, todo = [], [(path.life, path.step, path.begin, path.end)]
    while todo:
        item = todo.pop()
        if isinstance(item, Part):
            parts.append(item)
        else:
            todo.extend(reversed(explain(*item)))
    return parts


def explain(life, step, begin, end):
    """What a goroutine did from begin to end, as known at that step, the last first: parts, and the
    intervals (arguments of this function) in which other goroutines explain it."""
    found, next = [], None
    for n in range(bisect.bisect_right(life.states, step, key=lambda s: s.step) - 1, -1, -1):
        s = life.states[n]
        since = max(s.time, begin)
        if since < end:
            other = s.kind == "waiting" and next and next.cause and s.reason not in ENDED_BY_NOBODY
            found.append((*next.cause, since, end) if other else part_of(life, s, next, since, end))
            end = since
        next = s
        if end <= begin:
            return found
    creation = next.cause if next else None
    found.append((*creation, begin, end) if creation else Part(begin, end, life.id, "unknown", None, None))
    return found


def part_of(life, s, next, since, end):
    executes = s.kind in ("running", "assisting")
    cause = next.by if s.kind == "waiting" and next else s.by if s.kind == "runnable" else None
    return Part(since, end, life.id, KINDS[s.kind], None if executes else s.reason, cause)


# ---- gotrace why ----------------------------------------------------------------------------------


def lines(*command):
    # One trace is damaged on purpose: what was read is printed also if the status is 1.
    output = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout
    return [json.loads(line) for line in output.decode("utf-8", "replace").splitlines()]


def paths_of(rows):
    """The paths that gotrace printed, with the last part first."""
    paths = []
    for row in rows:
        if row.get("kind") == "path":
            paths.append(Printed(row, [], [], []))
        elif row.get("kind") in ("part", "wait"):
            goroutine, cause = (int(row[m]) if row[m] is not None else None for m in ("goroutine", "cause"))
            part = Part(row["begin"], row["end"], goroutine, row["state"], row["reason"], cause)
            if row["kind"] == "part":
                paths[-1].parts.insert(0, part)
            if row["depth"] == 0:
                paths[-1].own.insert(0, part)
            elif row["kind"] == "part":
                paths[-1].others.insert(0, part)
    return paths


def check_partition(query, path, parts):
    """The parts, the last one first, are a partition of the interval."""
    at = path["end"]
    for part in parts:
        if part.end != at or part.begin >= part.end:
            return differ(query, f"path until {path['end']}: a part ends at {part.end}, not at {at}")
        at = part.begin
    if at != path["begin"] and parts or path["end"] - path["begin"] != path["total_ns"]:
        differ(query, f"path until {path['end']}: its parts begin at {at}, not at {path['begin']}")


def add_up(parts):
    sums = collections.Counter()
    for part in parts:
        sums[(part.state, part.reason if part.state == "waiting" else None)] += part.end - part.begin
    return sums


def check_sums(query, path, parts, own, others):
    """The sums are those of the rows at the top, and of the parts in their waits."""
    check_partition(query, path, parts)
    check_partition(query, path, own)
    for sums, object in (add_up(own), path), (add_up(others), path["others"]):
        printed = {(state, None): object[member] for member, state in SUMS.items()}
        printed.update({("waiting", reason or None): ns for reason, ns in object["block_ns"].items()})
        for key in sums.keys() | printed.keys():
            if sums[key] != printed.get(key, 0):
                differ(query, f"path until {path['end']}: {key} adds up to {sums[key]}, not {printed.get(key, 0)}")


differences = 0


def differ(query, what):
    global differences
    differences += 1
    if differences <= MOST:
        print(f"{' '.join(query)}: {what}")


def check(gotrace, file, query, expected):
    """expected: the paths, or None if only the sums are to be checked."""
    paths = paths_of(lines(gotrace, "why", "-q", "--json", "--slowest", ALL, *query, file))
    for path in paths:
        check_sums(query, *path)
    if expected is None:
        return len(paths)
    found = sorted(((path["begin"], path["end"], parts) for path, parts, *_ in paths), key=repr)
    wanted = sorted(((path.begin, path.end, parts_of(path)) for path in expected), key=repr)
    if len(found) != len(wanted):
        differ(query, f"{len(found)} paths, expected {len(wanted)}")
    for a, b in zip(found, wanted):
        if a[:2] != b[:2]:
            differ(query, f"a path from {a[0]} to {a[1]}, expected from {b[0]} to {b[1]}")
        for x, y in zip(a[2], b[2]):
            if x != y:
                differ(query, f"path until {a[1]}: {x}, expected {y}")
                break
        else:
            if len(a[2]) != len(b[2]):
                differ(query, f"path until {a[1]}: {len(a[2])} parts, expected {len(b[2])}")
    return len(paths)


def main():
    gotrace, file = sys.argv[1:]
    trace = Trace(lines(gotrace, "print", "-q", "--format", "jsonl", file))
    with open(file, "rb") as f:
        is_v2 = int(f.read(16).split(b".")[1].split()[0]) >= 22
    queries = collections.defaultdict(list)
    for path in sorted(trace.paths, key=lambda p: len(p.life.states) if p.life else 0, reverse=True):
        if path.of == "goroutine":
            queries["--goroutine", str(path.goroutine)].append(path)
        elif path.name and path.name.isprintable():
            queries["--" + path.of, path.name].append(path)
    asked = collections.Counter()
    count = 0
    for query, expected in queries.items():
        asked[query[0]] += 1
        if asked[query[0]] <= MOST:
            count += check(gotrace, file, query, expected if is_v2 else None)
    print(f"{count} paths, {differences} differences")
    return differences > 0


if __name__ == "__main__":
    sys.exit(main())
