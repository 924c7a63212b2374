"""stretches.py TRACE...: check the time that `gotrace why --slowest N --to perfetto` writes, for the traces' goroutines, tasks and regions.

The timeline without its critical paths is that of `gotrace convert --to perfetto --from --until` for each stretch, one after
another: a stretch is the time of one or more paths, from `why --json`, with the event that ends it. Nothing is between two
stretches, and no slice spans two. Prints what differs, and whether there were timelines with one stretch, with several, and with
the most.
"""
import collections
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "facts"))
import pftrace  # noqa: E402

KINDS = ("goroutine", "task", "region")
NAMES = 5  # of a kind and trace
MOST = 100  # stretches


def output(*command):
    found = subprocess.run(("gotrace",) + command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return found.stdout


def contents(data):
    """What the timeline shows, without uuids: (begin, end, what), except critical paths."""
    trace = pftrace.Trace(data)
    shown = []
    # The start function of a goroutine may be known only after the stretch.
    paths = {uuid: tuple(re.sub(r"^(G\d+) .*", r"\1", name) for name in trace.path(uuid)) for uuid in trace.tracks}
    for uuid, slices in trace.slices.items():
        if not paths[uuid][0].startswith("critical path of "):
            shown += [(s.begin, s.end, ("slice", paths[uuid], s.name, s.category, s.stack, s.end_stack, tuple(s.annotations)))
                      for s in slices]
    for uuid, instants in trace.instants.items():
        shown += [(i[0], i[0], ("instant", paths[uuid], *i[1:4], tuple(i[4]))) for i in instants]
    for uuid, values in trace.counters.items():
        shown += [(time, time, ("counter", paths[uuid], value)) for time, value in values]
    for start, end in trace.flows:
        shown.append((start[0], end[0], ("flow", paths[start[1]], start[2], paths[end[1]], end[2])))
    shown += [(sample[0], sample[0], ("sample", *sample[1:])) for sample in trace.samples]
    return shown


def joined(stretches, gap):
    found = []
    for begin, end in stretches:
        if found and begin - found[-1][1] <= gap:
            found[-1][1] = max(end, found[-1][1])
        else:
            found.append([begin, end])
    return found


def stretches_of(paths):
    found = joined(sorted((max(p["begin"], 0), p["end"] + 1) for p in paths), 0)
    if len(found) > MOST:
        gaps = sorted(later[0] - earlier[1] for earlier, later in zip(found, found[1:]))
        found = joined(found, gaps[-MOST])
    return found


def check(trace, query):
    rows = map(json.loads, output("why", *query, "--json", trace).splitlines())
    stretches = stretches_of([row for row in rows if row.get("kind") == "path"])
    shown = contents(output("why", *query, "--to", "perfetto", trace))
    for begin, end in stretches:
        inside = collections.Counter(s for s in shown if begin <= s[0] and s[1] <= end)
        alone = collections.Counter(
            contents(output("convert", "--to", "perfetto", "--from", f"{begin}ns", "--until", f"{end}ns", trace)))
        for sign, difference in (("-", alone - inside), ("+", inside - alone)):
            for what in list(difference)[:3]:
                print(f"{os.path.basename(trace)} {' '.join(query)}: {begin} to {end}: {sign}{what}")
        shown = [s for s in shown if not (begin <= s[0] and s[1] <= end)]
    for what in shown[:3]:
        print(f"{os.path.basename(trace)} {' '.join(query)}: in no stretch: {what}")
    return "most" if len(stretches) == MOST else "several" if len(stretches) > 1 else "one"


def check_trace(trace):
    names = collections.defaultdict(dict)
    for line in output("stat", "--json", "--each", "--only", "overview", trace).splitlines():
        row = json.loads(line)
        if row.get("kind") in KINDS and row.get("name"):
            names[row["kind"]][row["name"]] = True
    for kind, found in names.items():
        for name in list(found)[:NAMES]:
            for slowest in ("2", "1000"):
                yield check(trace, ("--" + kind, name, "--slowest", slowest))


if __name__ == "__main__":
    print("timelines with the following numbers of stretches:",
          ", ".join(sorted({number for trace in sys.argv[1:] for number in check_trace(trace)})))
