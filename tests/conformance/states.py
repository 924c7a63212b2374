#!/usr/bin/env python3
"""states.py GOTRACE.jsonl GO.events: compare the states in both.

GOTRACE.jsonl is the output of `gotrace print --format jsonl` for a trace of Go 1.11 or later, GO.events
that of `goread-v2 -print`, which is Go 1.27's reader. Every goroutine and proc must go through
the same states in both, for the same reasons, at the same times, and so be in each for the same time.

For v2 traces (1.22 and later) both are equal, except that two threads may have events of the same
tick: either may be first, and the other is a nanosecond later. The time of such a row of events is
that of its first. Go converts v1 traces to events of v2; these differ in the following points only, and
`expected` converts our events to what Go's must be:

  initial   What exists when tracing starts is recorded by GoCreate, and GoWaiting, GoInSyscall or
            GoStart for its state. We report each of them; Go reports only the last one, as the
            goroutine's first state, and if there is none, "runnable" at the first Gomaxprocs.
            So a waiting goroutine is runnable for some nanoseconds in our output.
  calls     A system call that did not block has no end in a v1 trace. We report an instant,
            Go a state that lasts 1 ns.
  blocked   GoSysBlock, at which the goroutine loses its proc within a system call, is a transition from
            "syscall" to itself in ours, and nothing in Go's. If there was no GoSysCall, the
            goroutine goes from "running" to "syscall" in ours; Go leaves it running until the call's
            end, which is then a transition from a state that the goroutine never had.
  times     Go moves an event by a nanosecond or more if it would not be later than the previous
            one. Checked exactly: each of its times is ours, or one more than its previous one.
  early     An event that the tracer wrote before the first Gomaxprocs although it is not about the
            initial state: Go takes a GoCreate for an initial one, and does not report it.

Prints the differences, and the time in each state where that differs; exit status 1 if there are any.
"""
import collections
import json
import re
import sys

TRANSITION = re.compile(r'M=\S+ P=\S+ G=\S+ StateTransition Time=(\d+) (Go|Proc)ID=(\d+) '
                        r'(\w+)->(\w+) Reason="(.*)"$')
TIMED = re.compile(r'M=\S+ P=\S+ G=\S+ \w+ Time=(-?\d+)')
NAMES = {'undetermined': 'Undetermined', 'not-exist': 'NotExist', 'runnable': 'Runnable',
         'running': 'Running', 'syscall': 'Syscall', 'waiting': 'Waiting', 'idle': 'Idle'}

# A transition of a subject; subjects are ("Go", 1), ("Proc", 0).
Step = collections.namedtuple('Step', 'source target reason time')


class Rows(dict):
    """The time of the first event of the row that an event is in, by the event's time."""

    def __init__(self):
        self.last = self.first = -2

    def add(self, time):
        if time != self.last + 1:
            self.first = time
        self.last = time
        self[time] = self.first


def go_steps(path):
    """Go's output: steps by subject; the time of any event before each; its times; the last."""
    steps, before, previous, rows = collections.defaultdict(list), {}, -1, Rows()
    with open(path, encoding='utf-8', errors='surrogateescape', newline='\n') as lines:
        for line in lines:
            timed = TIMED.match(line)
            if not timed:
                continue
            match = TRANSITION.match(line)
            if match:
                time, kind, subject, source, target, reason = match.groups()
                key = (kind, int(subject))
                before[key, len(steps[key])] = previous
                steps[key].append(Step(source, target, reason, int(time)))
            rows.add(int(timed.group(1)))
            previous = max(previous, int(timed.group(1)))
    return steps, before, rows, previous


def expected(path):
    """What Go's output must be, computed from our events; the rows of their times, for a v2 trace."""
    steps, rows = collections.defaultdict(list), Rows()
    found = {}          # goroutines without a state so far
    tracing = False     # the first Gomaxprocs was read
    end = 0
    with open(path, encoding='utf-8', errors='surrogateescape', newline='\n') as lines:
        for line in lines:
            event = json.loads(line)
            v2 = 'generation' in event
            tracing = tracing or v2
            # Go's times of v2 events are those of the trace's clock.
            time, kind = event['ticks' if v2 else 'time'], event['kind']
            end = max(end, time)
            if v2:
                rows.add(time)
            if event['type'] == 'Gomaxprocs' and not tracing:
                tracing = True
                for key in found:
                    steps[key].append(Step('Undetermined', 'Runnable', '', time))
            elif kind == 'syscall':
                key = ('Go', event['g'])
                steps[key].append(Step('Running', 'Syscall', '', time))
                steps[key].append(Step('Syscall', 'Running', '', time + 1))
            if kind != 'transition':
                continue
            key = ('Go' if event['resource'] == 'goroutine' else 'Proc', event['subject'])
            source, target = NAMES[event['from']], NAMES[event['to']]
            if event['type'] == 'GoSysBlock':
                continue
            if not tracing and event['type'] == 'GoCreate':
                found[key] = time
                continue
            if not tracing and key in found:
                found.pop(key)
                source = 'Undetermined'
            steps[key].append(Step(source, target, event.get('reason', ''), time))
    return steps, rows, end


def times_in_states(steps, end):
    total = collections.Counter()
    for step, following in zip(steps, steps[1:] + [None]):
        total[step.target] += (following.time if following else end) - step.time
    return total


def compare(key, ours, theirs, same_time):
    name = f"{'G' if key[0] == 'Go' else 'P'}{key[1]}"
    for n in range(max(len(ours), len(theirs))):
        mine = ours[n] if n < len(ours) else None
        his = theirs[n] if n < len(theirs) else None
        if mine is None or his is None or mine[:3] != his[:3]:
            yield f'{name}, transition {n}: Go {his}, gotrace {mine}'
            return
        if not same_time(mine.time, his.time, (key, n)):
            yield (f'{name}, transition {n}: {his.source}->{his.target} at {his.time} with Go, '
                   f'at {mine.time} with gotrace')


def main():
    ours, our_rows, our_end = expected(sys.argv[1])
    theirs, before, their_rows, their_end = go_steps(sys.argv[2])
    differences = []

    def same_time(mine, his, step):
        if our_rows:
            return our_rows[mine] == their_rows[his]
        return his in (mine, max(mine, before[step] + 1))

    for key in sorted(set(ours) | set(theirs)):
        found = list(compare(key, ours[key], theirs[key], same_time))
        if found:
            differences += found
            differences.append(f'    time in each state: Go {dict(times_in_states(theirs[key], their_end))}, '
                               f'gotrace {dict(times_in_states(ours[key], our_end))}')
    print(*differences, sep='\n', end='\n' if differences else '')
    return 1 if differences else 0


if __name__ == '__main__':
    sys.exit(main())
