"""Finds moments in the events that print writes, and compares them with those of gotrace find.

    find.py GOTRACE COUNT SEED TRACE...

Fixed expressions of every kind, and COUNT random ones, for each trace. The moments are followed and the expressions tested
independently of the program. For some expressions also the events that print --where prints. Prints what differs, and at the end
the number of comparisons and that of moments found.
"""
import bisect
import collections
import itertools
import json
import os
import random
import re
import subprocess
import sys
import time

STATES = {'running': 'run', 'runnable': 'sched', 'waiting': 'wait', 'syscall': 'syscall'}
INSTANTS, LEVELS = {'log'}, {'goroutines', 'heap'}
REGEXES = ['main', 'runtime', r'^main\.', 'Wait', r'func\d', 'no.such', '', 'sync|net']
UNITS = (('s', 10**9), ('ms', 10**6), ('us', 10**3), ('ns', 1))


def run(*args):
    return subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)


# ---- moments of a trace ----

class Goroutine:
    def __init__(self, number, created):
        self.id, self.created = number, created
        self.state, self.since, self.begun = None, 0, False
        self.event = {}  # that began the state
        self.function, self.named = None, False
        self.regions = []


class Follower:
    """All moments of a trace in the order in which they end. Levels are followed for each (kind, compare, bound, regex)."""

    def __init__(self, events, version, levels):
        self.v1 = self.beginning = version < 22
        self.version, self.levels = version, levels
        self.now = self.sync = 0
        self.goroutines, self.tasks, self.ranges, self.active, self.alive = {}, {}, {}, {}, {}
        self.found = []
        for e in events:
            if e['kind'] != 'sync':
                before, self.now = self.now, e['time']
                if self.now > before:
                    self.add('silence', before, True, True)
            self.event(e)
        self.end()

    def add(self, what, begin, begun, ended, goroutine=None, function=None, event=None, **more):
        frames = [[f['func'], f.get('file', ''), f.get('line', 0)] for f in (event or {}).get('frames', [])]
        # Go 1.21 writes a stack of the PC 0 for an event without one.
        if frames == [['', '', 0]] and event['frames'][0]['pc'] == 0:
            frames = []
        self.found.append({'what': what, 'begin': min(begin, self.now), 'end': self.now, 'begun': begun, 'ended': ended,
                           'goroutine': goroutine or None, 'function': function, 'stack': frames, **more})

    def function_of(self, number):
        return self.goroutines[number].function if number in self.goroutines else None

    # -- goroutines --

    def state_ends(self, g, e):
        kind = STATES.get(g.state)
        if kind is None:
            return
        if kind == 'run':
            own = e is not None and int(e.get('g', 0)) == g.id
            self.add(kind, g.since, g.begun, e is not None, g.id, g.function, e if own else None,
                     reason=e.get('reason') if e else None)
            return
        more = {'reason': g.event.get('reason')} if kind != 'syscall' else {}
        if kind == 'sched':
            more['cause'] = int(g.event.get('g', 0)) or None
        self.add(kind, g.since, g.begun, e is not None, g.id, g.function, g.event, **more)

    def goroutine_ends(self, g, ended):
        while g.regions:
            begin, name, event = g.regions.pop()
            self.add('region', begin, True, ended, g.id, g.function, event, name=name)
        del self.goroutines[g.id]

    def name(self, g, e):
        frames = e.get('start_frames') if e.get('start') else None
        if frames is None and (int(e.get('g', 0)) == int(e.get('subject', 0)) or e.get('initial')):
            frames = e.get('frames')
        if frames and frames[-1]['func'] and not g.named:
            g.function, g.named = frames[-1]['func'], not self.beginning

    def change(self, number, before, after, e):
        g = self.goroutines.get(number)
        if g and before == 'not-exist':
            self.state_ends(g, e)
            self.goroutine_ends(g, True)
            g = None
        if g is None:
            g = self.goroutines[number] = Goroutine(number, self.now if before == 'not-exist' else self.sync)
        if before != 'not-exist' and g.state is None:
            since, begun = self.sync, False
        elif g.state == after:
            since, begun = g.since, g.begun
        else:
            self.state_ends(g, e)
            since, begun = self.now, True
        self.name(g, e)
        g.state, g.since, g.begun, g.event = after, since, begun, e
        if after == 'not-exist' or (after == 'waiting' and e.get('reason') == 'forever'):
            self.goroutine_ends(g, True)

    def transition(self, e):
        number = int(e['subject'])
        if number == 0:
            return
        if self.v1 and self.beginning:
            if e['from'] == 'undetermined' and e['to'] == 'runnable':
                if number not in self.goroutines:
                    self.goroutines[number] = Goroutine(number, self.sync)
                    self.name(self.goroutines[number], e)
            elif e['from'] != e['to']:
                self.change(number, 'undetermined', e['to'], e)
        elif e['from'] != e['to']:
            self.change(number, e['from'], e['to'], e)
        # Moments that end with the same event: first those of the goroutine.
        before, exists = dict(self.alive), e['to'] != 'not-exist'
        self.alive.pop(number, None)
        if exists:
            self.alive[number] = self.function_of(number) or before.get(number)
        if len(self.alive) != len(before):
            self.level('goroutines', len(self.alive), e)
        for key in (k for k in self.levels if k[0] == 'goroutines' and k[3] is not None):
            counts = [sum(f is not None and re.search(key[3], f) is not None for f in of.values()) for of in (before, self.alive)]
            if counts[0] != counts[1]:
                self.set_level(key, counts[1], e)

    # -- the rest --

    def start(self, e):
        return [self.now, True, int(e.get('g', 0)), self.function_of(int(e.get('g', 0))), e]

    def stops(self, what, opened, ended, **more):
        begin, begun, g, function, e = opened
        self.add(what, begin, begun, ended, g, self.function_of(g) or function, e, **more)

    def level(self, kind, value, e):
        for key in (k for k in self.levels if k[0] == kind and k[3] is None):
            self.set_level(key, value, e)

    def set_level(self, key, value, e):
        holds = value >= key[2] if key[1] == '>=' else value > key[2]
        if holds:
            opened = self.active.setdefault(key, (self.start(e), [0]))
            opened[1][0] = max(opened[1][0], value)
        elif key in self.active:
            opened, value_of = self.active.pop(key)
            self.stops(key[0], opened, True, value=value_of[0], level=key)

    def range(self, what, e):
        if e['kind'] == 'range-end':
            if what not in self.ranges:
                self.ranges[what] = [self.start(e), 1, self.reason(what, e)]
                self.ranges[what][0][:2] = [0, False]
            opened = self.ranges[what]
            opened[1] -= 1
            if opened[1] == 0:
                del self.ranges[what]
                self.stops(what, opened[0], True, **opened[2])
        elif what not in self.ranges:
            self.ranges[what] = [self.start(e), 1, self.reason(what, e)]
            if e['kind'] == 'range-active':
                self.ranges[what][0][:2] = [self.sync, False]
        elif self.v1:
            self.ranges[what][1] += 1

    def reason(self, what, e):
        if what == 'gc':
            return {}
        reason = e.get('reason')
        if self.v1 and reason in ('mark termination', 'sweep termination'):
            reason = 'GC ' + reason
        return {'reason': reason}

    def event(self, e):
        kind, g = e['kind'], int(e.get('g', 0))
        if kind == 'sync':
            self.sync = max(e['time'], 0)
        elif kind == 'metric':
            if self.beginning and e['metric'] == 'GOMAXPROCS':
                self.beginning = False
                for number in sorted(n for n, one in self.goroutines.items() if one.state is None):
                    self.change(number, 'undetermined', 'runnable', {})
            elif e['metric'] == 'heap allocated':
                self.level('heap', int(e['value']), e)
        elif kind == 'transition':
            if e['resource'] == 'goroutine':
                self.transition(e)
        elif kind == 'syscall':
            self.change(g, 'running', 'syscall', e)
            self.change(g, 'syscall', 'running', {'g': g})
        elif kind.startswith('range-'):
            if e['range'] in ('stop-the-world', 'GC'):
                self.range('stw' if e['range'] == 'stop-the-world' else 'gc', e)
        elif kind == 'task-begin':
            self.tasks[int(e['task'])] = (self.start(e), e.get('text'))
        elif kind == 'task-end':
            opened, name = self.tasks.pop(int(e['task']), (None, e.get('text')))
            opened = opened or [0, False, *self.start(e)[2:]]
            self.stops('task', opened, True, name=name, task=int(e['task']))
        elif kind == 'region-begin' and g in self.goroutines:
            self.goroutines[g].regions.append((self.now, e.get('text'), e))
        elif kind == 'region-end' and g in self.goroutines:
            own = self.goroutines[g]
            begun = bool(own.regions)
            begin, name, event = own.regions.pop() if begun else (own.created, e.get('text'), e)
            self.add('region', begin, begun, True, g, own.function, event, name=name)
        elif kind == 'log':
            self.add('log', self.now, True, True, g, self.function_of(g), e, category=e.get('text'),
                     message=e.get('message'))

    def end(self):
        for number in sorted(self.goroutines):
            self.state_ends(self.goroutines[number], None)
            self.goroutine_ends(self.goroutines[number], False)
        for number in sorted(self.tasks):
            self.stops('task', self.tasks[number][0], False, name=self.tasks[number][1], task=number)
        for what in ('stw', 'gc'):
            if what in self.ranges:
                self.stops(what, self.ranges[what][0], False, **self.ranges[what][2])
        for key in self.levels:
            if key in self.active:
                self.stops(key[0], self.active[key][0], False, value=self.active[key][1][0], level=key)


# ---- expressions: tuples ----

def quoted(text):
    return '"' + text.replace('\\', '\\\\').replace('"', '\\"') + '"'


def text_of(x):
    if x[0] in ('and', 'or'):
        return '(' + f' {x[0]} '.join(text_of(part) for part in x[1:]) + ')'
    if x[0] == 'not':
        return 'not ' + text_of(x[1])
    if x[0] == 'during':
        return f'during ({text_of(x[1])})'
    if x[0] == 'goroutine':
        return f'goroutine == {x[1]}'
    if x[0] in ('function', 'stack') or (x[0] == 'log' and x[1] is not None):
        return f"{x[0]} ~ '{x[1]}'"
    if x[0] == 'goroutines' and x[1] is not None:
        return f"goroutines ~ '{x[1]}' {x[2]} {x[3]}"
    what, argument, compare, bound = x if x[0] != 'log' else ('log', None, None, 0)
    argument = '' if argument is None else f'({argument})' if argument in ('sync', 'network') else f'({quoted(argument[1:])})'
    if compare is None:
        return what + argument
    if what not in LEVELS:
        unit, size = next(u for u in UNITS if bound % u[1] == 0)
        bound = f'{bound // size}{unit}'
    return f'{what}{argument} {compare} {bound}'


def kinds_of(x, positive=True):
    """The kinds that an expression names outside of during and not."""
    if x[0] in ('and', 'or'):
        return set().union(*(kinds_of(part, positive) for part in x[1:]))
    if x[0] == 'not':
        return kinds_of(x[1], not positive)
    if x[0] in ('during', 'function', 'stack', 'goroutine'):
        return set()
    return {x[0]} if positive else set()


def levels_of(x):
    """The levels in the order of the expression, also those in a during."""
    if x[0] in ('and', 'or', 'not', 'during'):
        return [level for part in x[1:] for level in levels_of(part)]
    return [(x[0], x[2], x[3], x[1])] if x[0] in LEVELS else []


class Times:
    """Stretches of time and instants, of many moments."""

    def __init__(self, moments):
        spans = sorted((m['begin'], m['end']) for m in moments if m['begin'] != m['end'])
        self.begins = [begin for begin, _ in spans]
        self.latest = list(itertools.accumulate((end for _, end in spans), max))
        self.instants = sorted(m['begin'] for m in moments if m['begin'] == m['end'])

    def overlap(self, m):
        begin, end = m['begin'], m['end']
        at = bisect.bisect_left(self.instants, begin)
        if at < len(self.instants) and self.instants[at] <= end:
            return True
        if begin == end:
            before = bisect.bisect_right(self.begins, end)
            return before > 0 and self.latest[before - 1] >= begin
        before = bisect.bisect_left(self.begins, end)
        return before > 0 and self.latest[before - 1] > begin


class Search:
    def __init__(self, moments):
        self.moments, self.inner = moments, {}

    def find(self, x):
        kinds = kinds_of(x) or set(STATES.values())
        return [m for m in self.moments if m['what'] in kinds and self.holds(x, m)]

    def holds(self, x, m):
        if x[0] == 'and':
            return all(self.holds(part, m) for part in x[1:])
        if x[0] == 'or':
            return any(self.holds(part, m) for part in x[1:])
        if x[0] == 'not':
            return not self.holds(x[1], m)
        if x[0] == 'during':
            if x[1] not in self.inner:
                self.inner[x[1]] = Times(self.find(x[1]))
            return self.inner[x[1]].overlap(m)
        if x[0] == 'goroutine':
            return m['goroutine'] == x[1]
        if x[0] == 'function':
            return m['function'] is not None and re.search(x[1], m['function']) is not None
        if x[0] == 'stack':
            # A frame without a name has no function.
            return any(frame[0] and re.search(x[1], frame[0]) for frame in m['stack'])
        return x[0] == m['what'] and self.is_kind(x, m)

    @staticmethod
    def is_kind(x, m):
        if x[0] == 'log':
            return x[1] is None or re.search(x[1], m['message']) is not None
        _, argument, compare, bound = x
        if x[0] == 'silence' and not compare:
            compare, bound = '>', 20_000_000
        if x[0] in LEVELS:
            return m['level'] == (x[0], compare, bound, argument)
        name = m.get('name', m.get('reason'))
        if argument == 'sync':
            named = name is not None and any(word in name for word in ('chan', 'sync', 'select'))
        elif argument == 'network':
            named = name == 'network'
        else:
            named = argument is None or name == argument[1:]
        lasts, whole = m['end'] - m['begin'], m['begun'] and m['ended']
        return named and {None: True, '>': lasts > bound, '>=': lasts >= bound, '<': whole and lasts < bound,
                          '<=': whole and lasts <= bound}[compare]


def fixed():
    kinds = [(kind, None, None, 0) for kind in ('run', 'sched', 'wait', 'syscall', 'stw', 'gc', 'task', 'region')]
    yield from kinds
    yield ('silence', None, None, 0)
    yield ('silence', None, '>', 20000)
    yield ('and', ('silence', None, '>=', 1000), ('during', kinds[5]))
    yield ('and', kinds[0], ('during', ('silence', None, '>', 5000)))
    yield ('log', None)
    yield ('or', *kinds, ('log', None), ('goroutines', None, '>', 3), ('heap', None, '>=', 1))
    yield ('wait', 'sync', None, 0)
    yield ('wait', 'network', None, 0)
    yield ('and', kinds[0], ('during', kinds[5]))
    yield ('and', ('log', None), ('during', ('wait', 'sync', None, 0)))
    yield ('goroutines', 'main', '>', 1)
    yield ('goroutines', 'runtime', '>=', 3)
    yield ('function', 'main')
    yield ('function', 'no.such')
    yield ('stack', 'main')
    yield ('stack', '')
    yield ('not', ('stack', 'main'))
    yield ('and', ('stack', 'runtime'), ('not', kinds[1]))
    yield ('and', ('goroutine', 1), ('not', kinds[0]))


class Random:
    def __init__(self, rng, moments):
        self.rng, self.moments = rng, moments

    def moment(self):
        return self.rng.choice(self.moments) if self.moments else {'what': 'run', 'begin': 0, 'end': 0, 'goroutine': 1}

    def kind(self):
        rng, m = self.rng, self.moment()
        what = rng.choice([m['what'], 'run', 'sched', 'wait', 'stw', 'gc', 'syscall', 'task', 'region', 'silence', 'log', 'goroutines', 'heap'])
        if what == 'log':
            return ('log', rng.choice([None, None, *REGEXES]))
        if what == 'goroutines':
            return (what, rng.choice([None, *REGEXES]), rng.choice(['>', '>=']), rng.randrange(20))
        if what == 'heap':
            return (what, None, rng.choice(['>', '>=']), rng.choice([0, 10**5, 10**6, 4 * 10**6]))
        argument, name = None, m.get('name', m.get('reason'))
        if what in ('wait', 'stw', 'task', 'region') and rng.random() < .4:
            usable = m['what'] == what and name and name.isprintable() and '\ufffd' not in name
            argument = rng.choice(['sync', 'network']) if what == 'wait' and not usable else '=' + (name if usable else 'x')
        compare = rng.choice([None, '>', '>', '>=', '<', '<='])
        bound = (m['end'] - m['begin']) * rng.choice([0, 1, 1, 1, 2]) if rng.random() < .8 else rng.choice([10**3, 10**5, 10**7])
        return (what, argument, compare, bound if compare else 0)

    def test(self, depth, inner):
        rng = self.rng
        roll = rng.random()
        if roll < .08:
            return ('function', rng.choice(REGEXES))
        if roll < .16:
            return ('stack', rng.choice(REGEXES))
        if roll < .22:
            return ('goroutine', self.moment()['goroutine'] or 1)
        if roll < .34 and inner < 2:
            return ('during', self.any(depth - 1, inner + 1))
        if roll < .5 and depth > 0:
            return self.any(depth - 1, inner)
        return self.kind()

    def any(self, depth, inner=0):
        parts = []
        for _ in range(self.rng.choice([1, 1, 2, 2, 3])):
            part = self.test(depth, inner)
            parts.append(('not', part) if self.rng.random() < .2 else part)
        return parts[0] if len(parts) == 1 else (self.rng.choice(['and', 'or']), *parts)


# ---- comparison ----

KEYS = ('what', 'begin', 'end', 'begun', 'ended', 'goroutine', 'function', 'reason', 'cause', 'name', 'task', 'category',
        'message', 'value')


def normal(m):
    # An empty name is null.
    return tuple((key, None if m.get(key) == '' and key != 'message' else m.get(key)) for key in KEYS) + (tuple(map(tuple, m['stack'])),)


def options_of(times):
    return ['--from', f'{times[0]}ns', '--until', f'{times[1]}ns'] if times else []


def expected_of(x, trace, times=None):
    """The moments that satisfy the expression and have some time in the range."""
    events, version = trace
    found = Search(Follower(events, version, list(dict.fromkeys(levels_of(x)))).found).find(x)
    return [m for m in found if not times or (m['begin'] < times[1] and (m['end'] > times[0] or m['begin'] >= times[0]))]


def ranked(moments, rank):
    """The longest ones, of equal ones the first, in the order of --sort."""
    if not rank:
        return moments
    top, order = rank
    longest = sorted(enumerate(moments), key=lambda m: m[1]['begin'] - m[1]['end'])[:top or None]
    return [m for _, m in (longest if order == 'duration' else sorted(longest, key=lambda m: m[0]))]


def ranks(rank):
    return ['--top', str(rank[0]), '--sort', rank[1]] if rank else []


def clock_of(events):
    """Nanoseconds from 1970 until the start of the trace; None: the trace has no wall clock."""
    first = next((e for e in events if e['kind'] != 'sync'), None)
    clocks = [e['clocks'] for e in events[:events.index(first)] if 'clocks' in e] if first else []
    if not clocks:
        return None
    start = int(first['ticks']) - first['time']
    return clocks[0]['wall_seconds'] * 10**9 + clocks[0]['wall_nanoseconds'] - (int(clocks[0]['trace']) - start)


def wrong_clock(events, found):
    clock = clock_of(events)
    for m in found:
        seconds, nanoseconds = divmod(m['begin'] + (clock or 0), 10**9)
        fraction = f'.{nanoseconds:09}'.rstrip('0') if nanoseconds else ''
        text = time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds)) + fraction + 'Z' if clock is not None else None
        if m.get('wall') != text:
            return f"wall {m.get('wall')}, {text} expected: {m}"
    return None


def found_by(gotrace, text, path, times, rank):
    done = run(gotrace, 'find', '--no-recover', '--json', *options_of(times), *ranks(rank), text, path)
    found = []
    for line in done.stdout.splitlines():
        m = json.loads(line)
        if m.get('kind') == 'moment':
            m['goroutine'], m['cause'], m['task'] = (int(m[k]) if m.get(k) is not None else None
                                                     for k in ('goroutine', 'cause', 'task'))
            if 'value' in m:
                m['value'] = int(m['value'])
            m['stack'] = [[f['func'] or '', f['file'] or '', int(f['line'])] for f in m['stack']]
            found.append(m)
    return done, found


def differs(gotrace, path, x, trace, times, rank):
    expected = ranked(expected_of(x, trace, times), rank)
    done, got = found_by(gotrace, text_of(x), path, times, rank)
    if done.returncode != (0 if expected else 1):
        return 0, f'status {done.returncode}, {len(expected)} expected: {done.stderr.decode()[:300]}'
    a, b = [normal(m) for m in expected], [normal(m) for m in got]
    if a == b:
        return len(a), wrong_clock(trace[0], got)
    lost, more = [m for m in a if m not in b], [m for m in b if m not in a]
    return len(a), f'{len(a)} expected, {len(b)} found' + ''.join(f'\n  - {m}' for m in lost[:2]) + \
        ''.join(f'\n  + {m}' for m in more[:2]) + ('' if lost or more else ': another order')


def counts_others(gotrace, path, x, trace, times):
    """--count does not need all that lines need, and takes other ways."""
    expected = len(expected_of(x, trace, times))
    done = run(gotrace, 'find', '--no-recover', '--count', *options_of(times), text_of(x), path)
    got = int(done.stdout.rsplit(b':', 1)[-1] or -1)
    return f'{expected} expected, {got} counted' if got != expected else None


class Places:
    """Which events print --where shows for moments."""

    def __init__(self, moments):
        whole, own = [], collections.defaultdict(list)
        for m in moments:
            every = m['goroutine'] is None or m['what'] in ('stw', 'gc', *LEVELS)
            (whole if every else own[m['goroutine']]).append(m)
        self.whole, self.own = Times(whole), {g: Times(of) for g, of in own.items()}

    def have(self, e):
        changed = int(e['subject']) if e['kind'] == 'transition' and e.get('resource') == 'goroutine' else 0
        at = {'begin': e['time'], 'end': e['time']}
        return self.whole.overlap(at) or any(self.own[g].overlap(at) for g in {int(e.get('g', 0)), changed} if g in self.own)


def prints_others(gotrace, path, x, trace):
    moments = expected_of(x, trace)
    places = Places(moments)
    expected = [e for e in trace[0] if places.have(e)]
    done = run(gotrace, 'print', '--no-recover', '--stacks', '--format', 'jsonl', '--where', text_of(x), path)
    got = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode or (b'nothing is shown' in done.stderr) != (not moments):
        return f'status {done.returncode}: {done.stderr.decode()[:300]}'
    return f'{len(expected)} events expected, {len(got)} printed' if got != expected else None


def main():
    gotrace, count, seed = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    compared = moments = 0
    for path in sys.argv[4:]:
        if run(gotrace, 'validate', '-q', path).returncode:
            continue
        done = run(gotrace, 'print', '--no-recover', '--stacks', '--format', 'jsonl', path)
        events = [json.loads(line) for line in done.stdout.splitlines()]
        with open(path, 'rb') as file:
            version = int(file.read(16).split(b' ')[1].split(b'.')[1].rstrip(b'\0'))
        everything = Follower(events, version, []).found
        rng = random.Random(f'{seed} {os.path.basename(path)}')
        choose = Random(rng, everything)
        for x in [*fixed(), *(choose.any(2) for _ in range(count))]:
            times = sorted(rng.sample(range(events[-1]['time'] + 2), 2)) if compared % 3 == 0 else None
            rank = (rng.choice([0, 1, 3, 10]), rng.choice(['time', 'duration'])) if compared % 4 == 1 else None
            found, wrong = differs(gotrace, path, x, (events, version), times, rank)
            compared += 1
            moments += found
            if not wrong and compared % 2 == 0:
                wrong = counts_others(gotrace, path, x, (events, version), times)
            if not wrong and compared % 5 == 0:
                wrong = prints_others(gotrace, path, x, (events, version))
            if wrong:
                print(f'{os.path.basename(path)} {options_of(times) + ranks(rank)} {text_of(x)}: {wrong}')
    print(f'{compared} comparisons, {moments} moments')


if __name__ == '__main__':
    main()
