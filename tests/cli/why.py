"""why.py TRACE...: check that what `gotrace why` prints adds up, for the goroutines, tasks and regions of the traces.

--json: the rows in a wait are a partition of it, and those at the top one of the interval; the sums are those of the rows at
the top, and of the parts in their waits. Text: the rows that are shown and those that are left out are such partitions,
their shares add up to 100 %, and the sums are those of --json. The sums of goroutines and regions are those of `gotrace stat`.
Prints what does not add up, and how many paths were checked.
"""
import collections
import json
import re
import subprocess
import sys

KINDS = ("goroutine", "task", "region")
NAMES = 12  # of a kind and trace
TOPS = (1, 5, 17)
SUMS = {"exec_ns": "execution", "gc_assist_ns": "gc_assist", "sched_wait_ns": "scheduling", "syscall_ns": "syscall",
        "unknown_ns": "unknown"}
TITLES = {"execution": "exec_ns", "GC mark assist": "gc_assist_ns", "scheduling delay": "sched_wait_ns",
          "system call": "syscall_ns", "unknown": "unknown_ns"}
UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
DURATION = r" +([0-9.]+ (?:ns|us|ms|s))"
ROW = re.compile(DURATION + DURATION + r" (?: +([0-9.]+)%| {7})  ((?:  )*)(?:\[([0-9]+)\] )?(\S.*)$")
SUM = re.compile(r"( +)(\S.*?)" + DURATION + r" +([0-9.]+)%(?: +([0-9]+) parts?)?$")
OTHERS = re.compile(r"  what others did in ([0-9.]+ [a-z]+) of these waits:$")
HEADING = re.compile(r"(task|region|goroutine) .*: ([0-9.]+ (?:ns|us|ms|s)), from [^:]*$")

Row = collections.namedtuple("Row", "begin ns depth divided share text")


def output(*command):
    found = subprocess.run(("gotrace",) + command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return found.stdout.decode("utf-8", "replace").splitlines()


def differ(what, message):
    print(f"{' '.join(what)}: {message}")


# ---- partitions -----------------------------------------------------------------------------------


def check_partition(what, rows, begin, ns, slack):
    """Rows, in order, and all that is in them: those of the least depth are a partition of the ns since begin.
    slack(values): how far values may be off, because they are rounded."""
    top = rows[0].depth if rows else 0
    heads = [n for n, row in enumerate(rows) if row.depth <= top] + [len(rows)]
    at = begin
    for n, following in zip(heads, heads[1:]):
        row = rows[n]
        if row.depth < top or abs(row.begin - at) > slack((row.begin, at)) + slack((row.ns for row in rows)):
            differ(what, f"{row} begins where the one before it does not end, at {at}")
        at = row.begin + row.ns
        if row.divided:
            inner = rows[n + 1:following]
            if not inner or inner[0].depth != row.depth + 1:
                differ(what, f"nothing is in {row}")
            check_partition(what, inner, row.begin, row.ns, slack)
        elif following != n + 1:
            differ(what, f"something is in {row}")
    total = sum(rows[n].ns for n in heads[:-1])
    if abs(total - ns) > slack([ns] + [rows[n].ns for n in heads[:-1]]):
        differ(what, f"rows at depth {top} add up to {total} ns of {ns}")


def check_json(what, path, rows):
    check_partition(what, [Row(r["begin"], r["ns"], r["depth"], r["kind"] == "wait", None, r["state"]) for r in rows],
                    path["begin"], path["total_ns"], lambda values: 0)
    own = [r for r in rows if r["depth"] == 0]
    others = [r for r in rows if r["depth"] > 0 and r["kind"] == "part"]
    for name, sums, summed, total in (
            ("the interval", path, own, path["total_ns"]),
            ("others", path.get("others"), others, sum(r["ns"] for r in own if r["kind"] == "wait"))):
        if sums is None:
            differ(what, f"no sums of {name}")
            continue
        if sum(sums[member] for member in SUMS) + sum(sums["block_ns"].values()) != total:
            differ(what, f"sums of {name} do not add up to {total}")
        for member, state in SUMS.items():
            if sum(r["ns"] for r in summed if r["state"] == state) != sums[member]:
                differ(what, f"{member} of {name} is not that of its rows")
        reasons = collections.Counter()
        for r in summed:
            if r["state"] == "waiting":
                reasons[r["reason"] or ""] += r["ns"]
        if dict(reasons) != sums["block_ns"]:
            differ(what, f"block_ns of {name} is not that of its rows")


# ---- text -----------------------------------------------------------------------------------------


def ns_of(text):
    number, unit = text.split()
    return float(number) * UNITS[unit]


def rounding(values):
    """How far the sum of values that were printed may be off: half of the last digit of each."""
    return 0.01 + sum(0 if v < 1e3 else 0.51 if v < 1e6 else 510 if v < 1e9 else 510e3 for v in values)


def check_text_sums(what, sums, lines):
    """The sums of one object of --json, and how they are printed."""
    printed, indent, state = {}, None, None
    for spaces, title, ns, share, _ in lines:
        indent = indent or len(spaces)
        if len(spaces) > indent:
            printed[state, title] = ns_of(ns)
        else:
            state = title
            printed[state] = ns_of(ns)
    waiting = sum(sums["block_ns"].values())
    expected = {title: sums[member] for title, member in TITLES.items() if sums[member]}
    expected.update({"waiting": waiting} if waiting else {})
    for title in expected.keys() | {key for key in printed if isinstance(key, str)}:
        if abs(printed.get(title, 0) - expected.get(title, 0)) > rounding((expected.get(title, 0),)):
            differ(what, f"{title}: {printed.get(title)} where --json has {expected.get(title)}")
    reasons = [ns for key, ns in printed.items() if not isinstance(key, str)]
    if abs(sum(reasons) - waiting) > rounding(reasons + [waiting]):
        differ(what, f"reasons of waits add up to {sum(reasons)} of {waiting}")
    if abs(sum(float(share) for spaces, _, _, share, _ in lines if len(spaces) == indent) -
           (100 * sum(expected.values()) / sums["total_ns"] if sums["total_ns"] else 0)) > 0.06 * len(lines) + 0.06:
        differ(what, "shares of the sums do not add up")


def check_text(what, path, lines):
    rows, sums = [], ([], [])
    which = 0
    for line in lines:
        row, others, summed = ROW.match(line), OTHERS.match(line), SUM.match(line)
        if row:
            after, ns, share, indent, depth, text = row.groups()
            depth = int(depth) if depth else len(indent) // 2
            rows.append(Row(ns_of(after), ns_of(ns), depth, share is None, float(share or 0), text))
        elif others:
            which = 1
        elif summed and line != lines[0]:
            sums[which].append(summed.groups())
    check_partition(what, rows, 0, path["total_ns"], rounding)
    shares = sum(row.share for row in rows)
    if path["total_ns"] and abs(shares - 100) > 0.051 * len(rows):
        differ(what, f"shares of the rows add up to {shares} %")
    check_text_sums(what, path, sums[0])
    if "others" in path:
        check_text_sums(what, path["others"] | {"total_ns": path["total_ns"]}, sums[1])


# ---- traces ---------------------------------------------------------------------------------------


def figures(row, assists, syscalls):
    """What `stat` and `why` both say of a goroutine or region."""
    waits = sorted((reason, ns) for reason, ns in row["block_ns"].items() if ns)
    return (row["total_ns"], row["exec_ns"] + assists, row["sched_wait_ns"], row["syscall_ns"] + syscalls,
            row["unknown_ns"], waits)


def check_query(trace, kind, name, stat):
    """stat: the figures that `stat` has, or None if it has none of that kind."""
    query = ("why", "--" + kind, name, "--slowest", "1000000")
    paths = []
    for line in output(*query, "--json", trace):
        row = json.loads(line)
        if row["kind"] == "path":
            paths.append((row, []))
        elif row["kind"] in ("part", "wait"):
            paths[-1][1].append(row)
    for path, rows in paths:
        check_json(query + ("--json", trace), path, rows)
    if stat is not None and sorted(figures(path, path["gc_assist_ns"], 0) for path, _ in paths) != sorted(stat):
        differ(query + (trace,), "the sums are not those of stat")
    for top in TOPS:
        what = query + ("--top", str(top), trace)
        texts = []
        for line in output(*what):
            if HEADING.match(line):
                texts.append([])
            if texts:
                texts[-1].append(line)
        if len(texts) != len(paths):
            differ(what, f"{len(texts)} headings of {len(paths)} paths")
        for (path, _), lines in zip(paths, texts):
            check_text(what, path, lines)
    return len(paths)


def check_trace(trace):
    names = collections.defaultdict(list)
    for line in output("stat", "--json", "--each", "--only", "overview", trace):
        row = json.loads(line)
        if row.get("kind") in KINDS and row.get("name"):
            found = names[row["kind"], row["name"]]
            if row["kind"] != "task":
                found.append(figures(row, 0, row["syscall_block_ns"]))
    asked = collections.Counter()
    count = 0
    for (kind, name), stat in names.items():
        asked[kind] += 1
        if asked[kind] <= NAMES:
            count += check_query(trace, kind, name, None if kind == "task" else stat)
    return count


if __name__ == "__main__":
    total = sum(check_trace(trace) for trace in sys.argv[1:])
    print("many" if total > 5 * len(sys.argv[1:]) else total, "paths")
