"""Computes the times of findings from the events that print writes, and compares them with those of gotrace diagnose.

    diagnosed.py GOTRACE TRACE...

For traces of 1.22 and later without tasks and without silences, of which the states are followed by find.py, independently of the
program. Prints what differs, and at the end how many figures were compared.
"""
import collections
import json
import sys

from find import Follower, run

SILENCE = 22_000_000
LONG_CALL, LEAST_CALLS, LEAST_LEAKED, PARTS, LEAST_PARTS = 100_000, 20, 20, 8, 6


def is_system(function):
    return (function or '').startswith('runtime.') and function != 'runtime.main'


def kind_of(wait):
    """What is waited for; only locks are told from the rest."""
    frames = [frame[0] or '' for frame in wait['stack'][:6]]
    reason = wait.get('reason') or ''
    if 'sync' not in reason or 'Cond' in reason:
        return None
    others = ('sync.(*Cond)', 'sync.(*WaitGroup)', 'runtime.gc')
    return None if any(name.startswith(others) for name in frames) else 'lock'


def expected(events):
    moments = [m for m in Follower(events, 26, []).found if not is_system(m['function'])]
    span = lambda found: sum(m['end'] - m['begin'] for m in found)
    locks = [m for m in moments if m['what'] == 'wait' and kind_of(m) == 'lock']
    calls = collections.defaultdict(list)
    for m in moments:
        if m['what'] == 'syscall':
            calls[str(m['stack'])].append(m)
    long_calls = [c for c in calls.values() if len(c) >= LEAST_CALLS and span(c) // len(c) >= LONG_CALL]
    stops = [m for m in Follower(events, 26, []).found
             if m['what'] == 'stw' and m['ended'] and m['begun'] and m['reason'] not in ('start trace', 'stop trace')]
    return {'lock.contended': span(locks), 'stop.long': span(stops), 'syscall.blocking': sum(map(span, long_calls)),
            'cpu.saturated': span(m for m in moments if m['what'] == 'sched')}


def main():
    gotrace, compared = sys.argv[1], 0
    for path in sys.argv[2:]:
        done = run(gotrace, 'print', '--no-recover', '--stacks', '--format', 'jsonl', path)
        events = [json.loads(line) for line in done.stdout.splitlines()]
        times = [e['time'] for e in events if e['kind'] != 'sync']
        if done.returncode or not times or max((b - a for a, b in zip(times, times[1:])), default=0) > SILENCE:
            continue
        if sum(e['kind'] == 'task-begin' for e in events) >= 10:
            continue
        done = run(gotrace, 'diagnose', '--all', '--json', path)
        found = {f['id']: f['ns'] for f in map(json.loads, done.stdout.splitlines()) if f.get('id')}
        for cause, ns in expected(events).items():
            compared += 1
            if found[cause] != ns:
                print(f'{path}: {cause}: {found[cause]} ns, not {ns}')
    print(f'{compared} figures')


if __name__ == '__main__':
    main()
