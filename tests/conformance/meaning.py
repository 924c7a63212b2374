#!/usr/bin/env python3
"""meaning.py GOTRACE A B: compare the events of two traces, as far as scripts of level meaning contain them.

Compared are order, type, time (to the tick), proc, thread, goroutine, states, reasons, texts, flags,
values and all frames of stacks. Ignored are offsets and values that a writer assigns:
offset, cause, ids of strings and stacks, sequence numbers, and the number of the first generation.
Two threads' events at the same tick may change places. In v2 a reader raises equal times by a nanosecond;
if there are more events at a tick than it has nanoseconds (64 on some machines), the last of
them get the time of the next tick, depending on those places: there a difference of a tick is ignored.

Tracers sometimes write an event of a goroutine in a generation before the goroutine's status there; a
writer writes the status first. Such statuses are ignored.
"""
import json
import subprocess
import sys

PLACES = ("offset", "cause", "stack", "start", "time")
STATUSES = ("GoStatus", "GoStatusStack")
DRAWN = ("seq", "g_seq", "p_seq", "gc_seq", "stack", "new_stack", "typeid", "keyid", "labelid")


def lines_of(gotrace, *command):
    """The output of gotrace print of a trace, as objects."""
    with subprocess.Popen([gotrace, *command], stdout=subprocess.PIPE) as made:
        for line in made.stdout:
            yield json.loads(line)


def late_statuses(gotrace, trace):
    """The goroutines whose status follows another of their events, in some generation."""
    seen, late = set(), set()
    for event in lines_of(gotrace, "print", "-q", "--format", "jsonl", trace):
        generation = event.get("generation")
        subject = event["subject"] if event.get("resource") == "goroutine" else None
        if event["type"] not in STATUSES:
            seen.add((generation, event.get("g")))
        elif (generation, subject) in seen:
            late.add(subject)
        seen.add((generation, subject))
    return late


def events_of(gotrace, trace, head, late):
    """An event at a time: its tick, and the rest as text."""
    v2 = int(head["trace"].split(".")[1]) >= 22
    first = None
    for event in lines_of(gotrace, "print", "-q", "--format", "jsonl", trace):
        if event["type"] in STATUSES and event["subject"] in late:
            continue
        tick = int(event.pop("ticks"))
        if v2:
            tick = (tick * head["frequency"] + 500000000) // 1000000000
        for key in PLACES:
            event.pop(key, None)
        args = event.get("args", {})
        for key in list(args):
            if key in DRAWN or key.endswith("_string"):
                del args[key]
        if not args:
            event.pop("args", None)
        if "generation" in event:
            first = first or event["generation"]
            event["generation"] -= first - 1
        yield tick, json.dumps(event, sort_keys=True)


def script_of(gotrace, trace):
    """The lines of a script of level meaning: the header, and an event each."""
    return subprocess.run([gotrace, "dump", "-q", "--level", "meaning", "--format", "jsonl", trace],
                          stdout=subprocess.PIPE, check=False).stdout.splitlines()


def recorded_by(script, late):
    """A script's events: tick, and the rest as text."""
    for event in map(json.loads, script[1:]):
        if event["event"] in STATUSES and event["g"] in late:
            continue
        time = event.pop("t") if "t" in event else event.pop("ticks")
        yield time, json.dumps(event, sort_keys=True)


def by_event(events):
    """The ticks of each event, as text, in their order."""
    ticks = {}
    for tick, event in events:
        ticks.setdefault(event, []).append(tick)
    return {event: sorted(at) for event, at in ticks.items()}


def near(before, after, slack):
    return len(before) == len(after) and all(abs(a - b) <= slack for a, b in zip(before, after))


def compare(before, after, what, slack):
    """Compare two lists sorted by time, with a tolerance in ticks; events at one tick are a set."""
    before, after = list(before), list(after)
    one, other = by_event(before), by_event(after)
    differ = [event for event in {**one, **other}
              if not near(one.get(event, []), other.get(event, []), slack)]
    if differ:
        sys.exit("%s: %d became %d; %d differ, as\n  %s\n  at %s, and now at %s"
                 % (what, len(before), len(after), len(differ), differ[0],
                    one.get(differ[0], [])[:8], other.get(differ[0], [])[:8]))
    if not near([tick for tick, _ in before], [tick for tick, _ in after], slack):
        sys.exit("%s: order changed" % what)


def main():
    gotrace, before, after = sys.argv[1:]
    late = late_statuses(gotrace, before)
    one, other = script_of(gotrace, before), script_of(gotrace, after)
    head, other_head = json.loads(one[0]), json.loads(other[0])
    if head != other_head:
        sys.exit("the header became %s" % other_head)
    slack = 1 if int(head["trace"].split(".")[1]) >= 22 else 0
    compare(events_of(gotrace, before, head, late), events_of(gotrace, after, head, late), "events",
            slack)
    if one == other:  # the usual case, found faster
        return
    # Times of a script are in nanoseconds.
    tick_ns = 1 + 1000000000 // head["frequency"]
    compare(recorded_by(one, late), recorded_by(other, late), "events by meaning", slack * tick_ns)


main()
