"""Cuts traces, and compares the events of each cut with those that this program selects from the whole.

    cut.py GOTRACE COUNT SEED TRACE...

COUNT random selections of each trace. The cut of a valid trace must be valid. Prints what differs. With READERS, a folder with
goread-v1 and goread-v2, Go's readers must accept it too.
"""
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter

import selected

RAISED = 100000000  # most ns by which a time is raised: a thread that had no processor may have ended the generation before that late

DROPPED = ('offset', 'args', 'cause', 'generation', 'time', 'stack', 'start', 'lane', 'initial', 'suspect', 'moved', 'raised')


def run(*args):
    return subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)


def events(gotrace, path):
    done = run(gotrace, 'print', '--no-recover', '--stacks', '--format', 'jsonl', path)
    return [json.loads(line) for line in done.stdout.splitlines()]


def goroutine(e):
    return int(e.get('g', 0))


def is_state(e, version):
    """Whether the event only reports a state: the cut has others."""
    return e['kind'] in ('sync', 'range-active') or e.get('initial', False) or \
        (version < 22 and e['kind'] == 'metric' and e['metric'] == 'GOMAXPROCS')


def changes_proc(e):
    return e['kind'] == 'transition' and e['resource'] == 'proc'


def keeps(e, wanted):
    if e['kind'] == 'none' and 'g' in e.get('args', {}):  # of a futile wake-up
        return int(e['args']['g']) in wanted
    if e['kind'] == 'transition':
        return changes_proc(e) or int(e['subject']) in wanted
    return goroutine(e) in wanted and e.get('range') not in ('GC', 'stop-the-world')


def normal(e, wanted, version):
    n = {k: v for k, v in e.items() if k not in DROPPED}
    # What a task was is not known if it began before the cut.
    if e['kind'] == 'task-end':
        n.pop('text', None)
        n.pop('parent', None)
    # v1: whether a call blocks is seen from later events; where it ended, from where the goroutine runs then.
    for key in {'GoSysCall': ('kind', 'from', 'to', 'resource', 'subject'), 'GoSysBlock': ('from',),
                'GoSysExit': ('proc', 'thread')}.get(e['type'], ()):
        n.pop(key, None)
    # v1: on a proc that has stopped, the thread is the one that it had before; the cut does not start that proc.
    if version < 22 and e.get('range') == 'stop-the-world':
        n.pop('thread', None)
    if version < 11:  # a part of a futile wake-up is none
        for key in ('kind', 'from', 'to', 'resource', 'subject', 'futile', 'g', 'reason'):
            n.pop(key, None)
    if changes_proc(e):  # v1: the first start of a proc is one from an unknown state
        n.pop('from', None)
    if wanted is not None:
        if goroutine(e) not in wanted:
            n.pop('g', None)
        if e['kind'] == 'transition' and version >= 22:  # of a record that changes several goroutines
            n.pop('type')
            n.pop('value', None)
    return json.dumps(n, sort_keys=True)


class Trace:
    def __init__(self, gotrace, path):
        self.gotrace, self.path = gotrace, path
        self.events = events(gotrace, path)
        with open(path, 'rb') as file:
            self.version = int(file.read(16).split(b' ')[1].split(b'.')[1])
        for before, e in zip(self.events, self.events[1:]):
            e['raised'] = e['ticks'] == before['ticks'] + 1
        timed = [e['time'] for e in self.events]
        self.end = timed[-1] if timed else 0
        self.generations = sorted({e['generation'] for e in self.events if e.get('generation')})
        self.ids = sorted({goroutine(e) for e in self.events} - {0})
        self.procs = sorted({e['proc'] for e in self.events if e.get('proc', -1) >= 0})
        self.tasks = sorted({str(e['task']) for e in self.events if e['kind'] == 'task-begin' and 'task' in e})

    def choose(self, rng):
        """A random selection: the options, and a query as of selected.py."""
        options, q = [], {'task': [], 'region': []}
        kind = rng.choice(['time', 'time', 'time', 'generation', 'goroutine', 'goroutine', 'proc', 'task', 'whole'])
        if kind == 'generation' and len(self.generations) > 1:
            a, b = sorted(rng.choices(self.generations, k=2))
            options += ['--generation', f'{a}-{b}']
            q['generations'] = (a, b)
        elif kind != 'whole' and (kind == 'time' or rng.random() < .5):
            a, b = sorted(rng.choices([e['time'] for e in self.events] or [0], k=2))
            if rng.random() < .8:
                options += ['--from', f'{a}ns']
                q['from'] = a
            if rng.random() < .8 and b > a:
                options += ['--until', f'{b}ns']
                q['until'] = b
        if kind == 'goroutine' and self.ids:
            q['goroutine'] = set(rng.sample(self.ids, rng.randint(1, min(4, len(self.ids)))))
            options += ['--goroutine', ','.join(str(g) for g in sorted(q['goroutine']))]
        if kind == 'proc' and self.procs:
            q['proc'] = rng.choice(self.procs)
            options += ['--proc', str(q['proc'])]
        if kind == 'task' and self.tasks:
            q['task'] = [rng.choice(self.tasks)]
            options += ['--task', q['task'][0]]
        if rng.random() < .3:
            options += ['--keep-times']
        return options, q

    def inside(self, q):
        """The events in the range; those of a record are where the first of them is."""
        found, offset, last = [], None, False
        for e in self.events:
            if e['kind'] == 'sync' or e['offset'] != offset:
                last = self.is_inside(e, q)
            offset = e['offset'] if e['kind'] != 'sync' else None
            if last:
                found.append(e)
        return found

    def is_inside(self, e, q):
        first, last = q.get('generations', (0, 1 << 64))
        return q.get('from', -1 << 63) <= e['time'] < q.get('until', 1 << 63) and \
            ('generations' not in q or first <= e.get('generation', 0) <= last)

    def wanted(self, q):
        """The goroutines that the selection wants; None: all."""
        if q.get('goroutine'):
            return q['goroutine']
        if q['task']:
            return selected.Follower(q, self.version).goroutines(self.events)
        if 'proc' not in q:
            return None
        found = set()
        for e in self.events:
            if self.is_inside(e, q) and e.get('proc') == q['proc']:
                found.add(goroutine(e))
                if e['kind'] == 'transition' and e['resource'] == 'goroutine' and e['to'] == 'running':
                    found.add(int(e['subject']))
        return found - {0}

    def expected(self, q, wanted):
        return [e for e in self.inside(q) if not is_state(e, self.version) and (wanted is None or keeps(e, wanted))]


def without_raised(trace, lost, more):
    """Removes the events of which only the time differs, because the reader raised it after the last event of the
    generation before. In the cut this event is gone, or its status was written at the start."""
    for key in list(lost):
        e = json.loads(key)
        if not e.pop('raised', False):
            continue
        for other in list(more):
            f = json.loads(other)
            if 0 < e['ticks'] - f['ticks'] < RAISED and {**e, 'ticks': 0} == {**f, 'ticks': 0}:
                del lost[key], more[other]
                break


def differs(trace, options, q, cut):
    """What is wrong with the cut, or None."""
    wanted = trace.wanted(q)
    expected = trace.expected(q, wanted)
    got = [e for e in events(trace.gotrace, cut) if not is_state(e, trace.version)]
    if wanted is not None:
        expected, got = ([e for e in some if not changes_proc(e)] for some in (expected, got))
        if trace.version < 22:  # who is created by no goroutine was there before
            expected, got = ([e for e in some if e.get('from') != 'not-exist' or goroutine(e) in wanted]
                             for some in (expected, got))
    copies = wanted is None and trace.version >= 22
    first = expected or [e for e in trace.inside(q) if e['kind'] != 'sync']
    if first:
        begin = first[0]['ticks']
        # What is added at the start: in v1 the starts of procs and goroutines, and active ranges.
        earlier = RAISED if copies and first[0].get('raised') else 0
        got = [e for e in got if e['ticks'] >= begin - earlier]
    a = Counter(normal(e, wanted, trace.version) for e in expected)
    b = Counter(normal(e, wanted, trace.version) for e in got)
    lost, more = a - b, b - a
    if copies and lost:
        raised = Counter(json.dumps({**json.loads(normal(e, wanted, trace.version)), 'raised': True}, sort_keys=True)
                         for e in expected if e.get('raised') and normal(e, wanted, trace.version) in lost)
        others = lost - Counter(normal(e, wanted, trace.version) for e in expected if e.get('raised'))
        without_raised(trace, raised, more)
        lost = others + raised
    for e in list(more):  # a stop-the-world that was going on
        d = json.loads(e)
        if d.get('range') == 'stop-the-world' and d.get('kind', 'range-begin') == 'range-begin' and expected and d['ticks'] <= begin:
            del more[e]
    if lost or more:
        return f'lost {sum(lost.values())}, more {sum(more.values())}: ' + \
            ' '.join(f'\n  - {k}' for k in list(lost)[:3]) + ' '.join(f'\n  + {k}' for k in list(more)[:3])
    timeless = [[normal({**e, 'ticks': 0}, wanted, trace.version) for e in some] for some in (expected, got)]
    if copies and timeless[0] != timeless[1]:
        ticks = Counter(e['ticks'] for e in expected if e['ticks'])
        if all(count == 1 for count in ticks.values()):
            return 'another order'
    shifts = {e['time'] - f['time'] for e, f in zip(expected, got) if e['ticks'] == f['ticks']}
    if len(shifts) > 1 or ('--keep-times' in options and shifts - {0}):
        if max(shifts) - min(shifts) > 1 or '--keep-times' in options:
            return f'times are shifted by {sorted(shifts)[:5]}'
    return None


def main():
    gotrace, count, seed = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    readers = os.environ.get('READERS')
    tried = Counter()
    with tempfile.TemporaryDirectory() as folder:
        cut, again = os.path.join(folder, 'cut'), os.path.join(folder, 'again')
        for path in sys.argv[4:]:
            trace = Trace(gotrace, path)
            rng = random.Random(f'{seed} {os.path.basename(path)}')
            sound = run(gotrace, 'validate', path).returncode == 0
            for _ in range(count):
                options, q = trace.choose(rng)
                if os.path.exists(cut):
                    os.unlink(cut)
                done = run(gotrace, 'cut', *options, '-o', cut, path)
                what = f'{os.path.basename(path)} {" ".join(options)}'
                if not os.path.exists(cut):
                    wanted = trace.wanted(q)
                    expected = [e for e in trace.expected(q, wanted) if wanted is None or keeps(e, wanted)]
                    if done.returncode != 1 or b'nothing is written' not in done.stderr or \
                            any(goroutine(e) in (wanted or []) and not changes_proc(e) for e in expected):
                        print(f'{what}: status {done.returncode}, no output: {done.stderr.decode()[:300]}')
                    tried['empty'] += 1
                    continue
                tried['cut'] += 1
                if sound and (done.returncode or b'cannot have happened' in done.stderr):
                    print(f'{what}: status {done.returncode}: {done.stderr.decode()[:300]}')
                checked = run(gotrace, 'validate', '-v', cut)
                if checked.returncode and not sound:
                    continue
                if checked.returncode:
                    print(f'{what}: not valid: {checked.stderr.decode()[:400]}')
                elif b'table.unused' in checked.stderr and b'table.unused' not in run(gotrace, 'validate', '-v', path).stderr:
                    print(f'{what}: {checked.stderr.decode()[:200]}')
                elif sound and (wrong := differs(trace, options, q, cut)):
                    print(f'{what}: {wrong}')
                if readers and checked.returncode == 0:
                    reader = os.path.join(readers, 'goread-v2' if trace.version >= 22 else 'goread-v1')
                    read = run(reader, cut)
                    if read.returncode:
                        print(f'{what}: rejected by Go: {read.stderr.decode()[:300]}')
                # A cut of the cut: all of it.
                if rng.random() < .2:
                    run(gotrace, 'cut', '-o', again, cut)
                    first, second = ([e for e in events(gotrace, name) if not is_state(e, trace.version)]
                                     for name in (cut, again))
                    if [normal(e, None, trace.version) for e in first] != [normal(e, None, trace.version) for e in second]:
                        print(f'{what}: the cut of the cut differs')
    print(f'{tried["cut"]} cuts')
    if not tried['cut']:
        print('nothing was compared')


if __name__ == '__main__':
    main()
