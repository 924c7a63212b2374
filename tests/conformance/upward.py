#!/usr/bin/env python3
"""upward.py GO-OF-V1.events GO-OF-V2.events: is a v1 trace that was converted to v2 the same for Go?

Both are the output of `goread-v2 -print`: of a v1 trace, which Go 1.27 converts as it reads, and of the v2
trace that `gotrace convert --to go1.N` wrote. Every goroutine must go through the same states in
both, for the same reasons, and at the same times within LATE ns: in both no two events have the
same time, and ours has some more events, such as procs that are given to another thread.

Prints the differences; exit status 1 if there are any.
"""
import sys

from states import go_steps

LATE = 100


def goroutines(path):
    steps = go_steps(path)[0]
    # Each generation repeats the statuses.
    return {key[1]: [s for s in rows if s.source != s.target]
            for key, rows in steps.items() if key[0] == 'Go'}


def differences(theirs, ours):
    offset = None
    for g in sorted(set(theirs) | set(ours)):
        his, mine = theirs.get(g, []), ours.get(g, [])
        for n in range(max(len(his), len(mine))):
            x = his[n] if n < len(his) else None
            y = mine[n] if n < len(mine) else None
            if x is None or y is None or x[:3] != y[:3]:
                yield f'G{g}, transition {n}: {x} of v1, {y} of v2'
                break
            # Go reports that a goroutine was runnable at the first Gomaxprocs, we do before any
            # other event.
            if x.source == 'Undetermined' and x.target == 'Runnable':
                continue
            # Go's v1 times start at the first event; ours are absolute.
            offset = y.time - x.time if offset is None else offset
            if abs(y.time - x.time - offset) > LATE:
                yield f'G{g}, transition {n}: {x} of v1, {y.time - offset} of v2'
                break


def main():
    found = list(differences(goroutines(sys.argv[1]), goroutines(sys.argv[2])))
    for difference in found[:20]:
        print(difference)
    sys.exit(1 if found else 0)


main()
