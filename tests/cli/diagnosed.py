"""Computes the figures of findings from the events that print writes, and compares them with those of gotrace diagnose.

    diagnosed.py GOTRACE TRACE...

For traces of 1.22 and later, of which the states are followed by find.py, independently of the program. Times without an event are
not counted in the figures of other findings, so those of a trace that has long ones are not compared. Prints what differs, and at the
end how many figures were compared of each finding.
"""
import collections
import json
import sys

from find import Follower, run

SILENCE, LONG_SILENCE, MOST_SILENT = 22_000_000, 30_000_000, .85
LONG_CALL, LEAST_CALLS, LEAST_LEAKED, PARTS, LEAST_PARTS = 100_000, 20, 20, 8, 6
LEAST_TASKS, SHORT_RUN, SWITCH, FUTILE_RUN, LEAST_FUTILE, WAKE_UP = 10, 10_000, 1000, 20_000, 20, 200_000
OTHERS = ('join', 'channel', 'cond')  # do not have what is waited for, but make it


def is_system(function):
    return (function or '').startswith('runtime.') and function != 'runtime.main'


def kind_of(reason, frames):
    """What is waited for."""
    inner = [frame['func'] or '' for frame in frames[:6]]
    has = lambda prefix: any(name.startswith(prefix) for name in inner)
    if reason in ('network', 'sleep'):
        return reason
    if 'GC' in reason or has('runtime.gc'):
        return 'gc'
    if 'chan' in reason or reason == 'select':
        return 'channel'
    if 'Cond' in reason or has('sync.(*Cond)'):
        return 'cond'
    if 'sync' not in reason:
        return 'other'
    return 'join' if has('sync.(*WaitGroup)') else 'lock'


class Goroutine:
    """What one goroutine did."""

    def __init__(self):
        self.function = self.label = None
        self.mark = self.ran = self.ready = self.worker = 0
        self.assists, self.tasks, self.waited, self.sweeps = False, 0, None, None
        self.created, self.alive = None, False


class Function:
    """What the goroutines that start at it did. Where one starts may be known only later."""

    def __init__(self):
        self.runs, self.ns, self.task_ns = 0, collections.Counter(), collections.Counter()


class Measures(Follower):
    def __init__(self, events):
        self.of, self.functions = collections.defaultdict(Goroutine), collections.defaultdict(Function)
        self.calls, self.futile = collections.defaultdict(lambda: [0, 0, 0]), collections.defaultdict(lambda: [0, 0])
        self.caused = collections.Counter()  # waits for others, by the function that ended them
        self.silences, self.sweep_ns, self.stop_ns = [], 0, 0
        self.procs = self.depth = self.stop_begin = 0
        self.settled, self.waste_begin, self.waste, self.wasted = 0, None, 0, 0
        self.owners, self.task_count, self.simple = {}, 0, True
        super().__init__(events, 26, [])
        self.settle(self.now)
        self.end_waste()

    # -- what a goroutine does until now --

    def account(self, g, ends=False):
        own, ns = self.of[g.id], self.now - max(self.of[g.id].mark, g.since)
        own.mark, own.function = self.now, g.function or own.function
        kind = {'running': 'assist' if own.assists else 'run', 'runnable': 'runnable', 'syscall': 'syscall'}.get(g.state)
        waits = g.state == 'waiting'
        if waits:
            kind = kind_of(g.event.get('reason') or '', g.event.get('frames', []))
        if kind is None:
            return
        function, system = self.functions[g.function], is_system(g.function)
        function.ns[kind] += ns
        function.task_ns[kind] += ns if own.tasks else 0
        if g.state == 'runnable':
            own.ready += ns
        elif g.state == 'running':
            own.ran += ns
            function.runs += ends and kind == 'run'
            if own.label in ('GC (dedicated)', 'GC (fractional)') and g.function in (None, 'runtime.gcBgMarkWorker'):
                own.worker += ns
        place = str(g.event.get('frames', []))
        if g.state == 'syscall' and not system:
            for n, value in enumerate((1, ns, ns if own.tasks else 0)):
                self.calls[place][n] += value
        if waits and kind != 'lock' and not system:
            figure = (place, g.event.get('reason'))
            if own.waited == figure and own.ran < FUTILE_RUN:
                self.futile[figure][0] += 1
                self.futile[figure][1] += own.ran + own.ready
            own.waited = figure if kind == 'cond' else None
            own.ran = own.ready = 0

    def divide(self, number):
        if number in self.goroutines:
            self.account(self.goroutines[number])

    def state_ends(self, g, e):
        self.account(g, (e or {}).get('to') != 'syscall')
        by = self.goroutines.get(int((e or {}).get('g', 0)))
        if (g.state == 'waiting' and by and by is not g and by.state == 'running' and by.function != g.function and
                not is_system(g.function) and
                kind_of(g.event.get('reason') or '', g.event.get('frames', [])) in ('lock', *OTHERS)):
            self.caused[by.function] += 1
        super().state_ends(g, e)

    def goroutine_ends(self, g, ended):
        own = self.of[g.id]
        own.function = g.function or own.function
        own.alive = not ended or (g.state == 'waiting' and g.event.get('reason') == 'forever')
        super().goroutine_ends(g, ended)

    # -- procs --

    def count(self, state):
        return sum(g.state == state for g in self.goroutines.values())

    def end_waste(self):
        if self.waste_begin is not None and self.settled - self.waste_begin > WAKE_UP:
            self.wasted += self.waste
        self.waste_begin, self.waste = None, 0

    def settle(self, time):
        ns, running, runnable = time - self.settled, self.running, self.runnable
        if ns <= 0:
            return
        idle = max(self.procs - running, 0)
        if runnable and idle and self.depth == 0:
            self.waste_begin = self.settled if self.waste_begin is None else self.waste_begin
            self.waste += min(idle, runnable) * ns
        else:
            self.end_waste()
        self.settled = time

    running = runnable = 0

    def event(self, e):
        kind, number = e['kind'], int(e.get('g', 0))
        if kind != 'sync':
            gap = self.now - self.before if self.before is not None else 0
            if gap > SILENCE:
                self.silences.append((self.before, gap, self.depth == 0 and self.running + self.runnable > 0))
            self.settle(self.now)
            self.before = self.now
        begins = kind in ('range-begin', 'range-active')
        if e.get('range') == 'GC mark assist':
            subject = int(e['subject']) if kind == 'range-active' else number
            self.divide(subject)
            self.of[subject].assists = begins
        elif e.get('range') == 'GC sweep' and kind == 'range-begin' and number:
            self.of[number].sweeps = self.now
        elif e.get('range') == 'GC sweep' and kind == 'range-end' and self.of[number].sweeps is not None:
            self.sweep_ns += self.now - self.of[number].sweeps
            self.of[number].sweeps = None
        elif e.get('range') == 'stop-the-world':
            self.depth = max(self.depth + (1 if begins else -1), 0)
        elif kind == 'label':
            self.of[number].label = e.get('text')
        elif kind == 'metric' and e['metric'] == 'GOMAXPROCS':
            self.procs = int(e['value'])
        elif kind == 'task-begin':
            self.task_count += 1
            self.divide(number)
            self.of[number].tasks += 1
            self.owners[int(e['task'])] = number
        elif kind == 'task-end' and int(e['task']) in self.owners:
            owner = self.owners.pop(int(e['task']))
            self.divide(owner)
            self.of[owner].tasks -= 1
        elif kind == 'region-begin' and int(e.get('task', 0)) and self.owners.get(int(e['task']), number) != number:
            self.simple = False
        elif kind == 'transition' and e['resource'] == 'goroutine' and e['from'] == 'not-exist' and e['to'] != 'not-exist':
            self.of[int(e['subject'])].created = self.now
        super().event(e)
        if kind in ('transition', 'syscall'):
            self.running, self.runnable = self.count('running'), self.count('runnable')

    before = None


def frozen(m):
    """The number of silences of a frozen process, and their sum."""
    def period_of(every):
        chosen = [s for s in m.silences if s[2] or every]
        steps = sorted(b[0] - a[0] for a, b in zip(chosen, chosen[1:]))
        if len(steps) < 4:
            return 0
        period = steps[len(steps) // 4]
        regular = sum(1 <= (step + period // 2) // period <= 4 and
                      abs(step - (step + period // 2) // period * period) < period // 5 for step in steps)
        mean = sum(s[1] for s in chosen) // len(chosen)
        return period if regular * 10 >= len(steps) * 8 and mean / period < MOST_SILENT else 0
    due = sum(s[2] for s in m.silences)
    every = due >= 2 and due * 6 >= len(m.silences) and period_of(True) > 0
    period = period_of(every)
    counted = [s[1] for s in m.silences if (s[2] or every) and (period or s[1] >= LONG_SILENCE)]
    return {'process.frozen': (sum(counted), len(counted), period)}


def leaked(m):
    made, parts = collections.Counter(), collections.defaultdict(set)
    for g in m.of.values():
        if g.alive and g.created is not None and not is_system(g.function):
            made[g.function] += 1
            parts[g.function].add(min(int(g.created / max(m.now, 1) * PARTS), PARTS - 1))
    return max((n for f, n in made.items() if n >= LEAST_LEAKED and len(parts[f]) >= LEAST_PARTS), default=0)


def expected(m):
    """What findings cost: ns, or (leak) a number of goroutines."""
    ns, task_ns, switches = collections.Counter(), collections.Counter(), 0
    for name, function in m.functions.items():
        if not is_system(name):
            ns.update(function.ns)
            task_ns.update(function.task_ns)
            if function.runs and function.ns['run'] // function.runs < SHORT_RUN:
                switches += SWITCH * function.runs
    tasks = m.task_count >= LEAST_TASKS
    figures = {'goroutine.leak': leaked(m), 'procs.idle': m.wasted, 'goroutine.churn': switches,
               'gc.cpu': sum(g.worker for g in m.of.values()) + m.sweep_ns + ns['assist']}
    number, sum_of = max(m.futile.values(), key=lambda v: v[1], default=(0, 0))
    figures['wake.storm'] = sum_of if number >= LEAST_FUTILE else 0
    figures['stop.long'] = sum(s['end'] - s['begin'] for s in m.found if s['what'] == 'stw' and s['ended'] and s['begun'] and
                               s['reason'] not in ('start trace', 'stop trace'))
    long_calls = [c for c in m.calls.values() if c[0] >= LEAST_CALLS and c[1] // c[0] >= LONG_CALL]
    figures['syscall.blocking'] = sum(c[2 if tasks else 1] for c in long_calls)
    if not tasks:
        figures.update({'lock.contended': ns['lock'], 'cpu.saturated': ns['runnable'], 'network.wait': 0, 'timer.wait': 0})
    elif not any(task_ns[kind] for kind in OTHERS):
        # Nothing is added of what others do for whom tasks wait.
        figures.update({'lock.contended': task_ns['lock'], 'network.wait': task_ns['network'], 'timer.wait': task_ns['sleep'],
                        'gc.assist': task_ns['assist'] + task_ns['gc']})
    return figures


def main():
    gotrace, compared = sys.argv[1], collections.Counter()
    for path in sys.argv[2:]:
        done = run(gotrace, 'print', '--no-recover', '--stacks', '--format', 'jsonl', path)
        events = [json.loads(line) for line in done.stdout.splitlines()]
        if done.returncode or not events:
            continue
        m = Measures(events)
        if not m.simple:
            continue
        done = run(gotrace, 'diagnose', '--all', '--json', path)
        found = {f['id']: f for f in map(json.loads, done.stdout.splitlines()) if f.get('id')}
        figures = frozen(m)
        if not m.silences:
            figures.update(expected(m))
            stage = found['channel.bottleneck']['evidence']
            if stage.get('function') and 'stack' not in stage:
                figures['channel.bottleneck'] = m.caused[stage['function']]
        figures['trace.limits'] = m.now < 100_000_000
        for cause, figure in figures.items():
            f = found[cause]
            is_figure = f['ns']
            if cause == 'process.frozen':
                is_figure = (f['ns'], f['evidence']['count'], f['evidence'].get('period_ns', 0))
            elif cause in ('goroutine.leak', 'channel.bottleneck'):
                is_figure = f['evidence']['count']
            elif cause == 'trace.limits':
                is_figure = f['reported']
            compared[cause] += bool(figure)
            if is_figure != figure:
                print(f'{path}: {cause}: {is_figure}, not {figure}')
    for cause in sorted(compared):
        print(f'{compared[cause]:3} {cause}')


if __name__ == '__main__':
    main()
