#!/usr/bin/env python3
"""scheduler.py TRACE.jsonl EVENTS: compares the states of a recorded program's threads with the kernel's scheduler.

TRACE.jsonl is written by `gotrace print --format jsonl`. EVENTS are sched_switch and sched_waking of ftrace, by its clock
`mono`. Prints for how much of the time of all threads both have the same state, and for how long threads are runnable.
Exits with 1 if the former is less than 85 %, or the latter differs by more than 5 % and 5 ms. On a busy machine, the time for
which a thread was runnable is often known, and not when: it is then shown at the end of its wait.

Left out is time in system calls, of which a trace does not say whether the thread waits, and time for which events are
missing: some kernels do not report every switch.
"""
import json
import re
import sys
from collections import defaultdict

NS = {"run": "running", "runnable": "runnable", "blocked": "waiting"}  # the kernel's states, and the trace's
EVENT = re.compile(r"\s(\d+)\.(\d{6}): (sched_\w+): (.*)")
SWITCH = re.compile(r"prev_pid=(\d+) .*prev_state=(\S+) ==> .*next_pid=(\d+)")


def states_of_trace(path):
    """The stretches of each thread: begin, end, state."""
    state, thread, stretches = {}, {}, defaultdict(list)
    last = 0
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            event = json.loads(line)
            if event.get("resource") != "goroutine":
                continue
            goroutine, last = event["subject"], event["ticks"]
            if goroutine in state:
                stretches[goroutine].append((state[goroutine][1], last, state[goroutine][0]))
            if event["to"] == "running":
                thread[goroutine] = event["thread"]
            state[goroutine] = (event["to"], last)
    for goroutine, (name, since) in state.items():
        if name != "not-exist":
            stretches[goroutine].append((since, last, name))
    return {thread[g]: list_ for g, list_ in stretches.items() if g in thread}


def switch(states, time, text):
    """A thread leaves a processor to another one. If it was not on one, its switch to that is missing."""
    before, state, after = SWITCH.search(text).groups()
    if before in states:
        list_ = states[before]
        for i in range(len(list_) - 1, -1, -1):
            if list_[i][1] == "run":
                break
            list_[i] = (list_[i][0], "unknown")
        list_.append((time, "runnable" if state[0] == "R" else "blocked"))
    if after in states:
        states[after].append((time, "run"))


def states_of_kernel(path, threads):
    """The times from which on the threads have a state, and the states."""
    states = {str(thread): [] for thread in threads}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            found = EVENT.search(line)
            if not found:
                continue
            time = int(found[1] + found[2]) * 1000
            if found[3] == "sched_switch":
                switch(states, time, found[4])
                continue
            woken = re.search(r" pid=(\d+)", found[4])[1]
            if states.get(woken) and states[woken][-1][1] == "blocked":
                states[woken].append((time, "runnable"))
    return states


def add_common(times, trace, kernel):
    """How long the thread has each pair of states."""
    end = trace[-1][1]
    kernel = [(begin, after, state) for (begin, state), (after, _) in zip(kernel, kernel[1:] + [(end, "")])]
    i = 0
    for begin, after, state in trace:
        while i < len(kernel) and kernel[i][1] <= begin:
            i += 1
        for other in kernel[i:]:
            if other[0] >= after:
                break
            times[state, other[2]] += max(0, min(after, other[1]) - max(begin, other[0]))


def main():
    """Compares, and prints."""
    trace = states_of_trace(sys.argv[1])
    kernel = states_of_kernel(sys.argv[2], trace)
    times = defaultdict(int)
    for thread, stretches in trace.items():
        add_common(times, stretches, kernel[str(thread)])
    known = sum(time for (ours, theirs), time in times.items() if ours != "syscall" and theirs != "unknown")
    same = sum(times[ours, theirs] for theirs, ours in NS.items())
    ours = sum(times["runnable", theirs] for theirs in NS)
    theirs = sum(times[name, "runnable"] for name in NS.values())
    print(f"the same state in {100 * same / max(known, 1):.2f} % of {known / 1e6:.0f} ms;",
          f"runnable for {ours / 1e6:.1f} ms, by the kernel {theirs / 1e6:.1f}")
    return known == 0 or same < 0.85 * known or abs(ours - theirs) > 0.05 * theirs + 5e6


sys.exit(main())
