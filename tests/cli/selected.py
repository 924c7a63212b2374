"""Compares what gotrace selects with what this program selects from the whole, printed as JSON Lines.

    selected.py GOTRACE TRACE...

One query a criterion, with values from the trace, and some that combine them. Prints what differs.
"""
import json
import re
import subprocess
import sys
from collections import Counter

TIMELINES = Counter()
PATHS = {}  # by trace: how many were compared
PLACES = Counter()
SUBJECTS = Counter()
SCOPED = ('stop-the-world', 'GC mark assist')


def run(*args):
    done = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return done.returncode, done.stdout, done.stderr


def subject(e):
    """The goroutine whose state the event changes, or to which its range belongs."""
    return int(e['subject']) if e.get('resource') == 'goroutine' else 0


def names(frames):
    return [f['func'] for f in frames if f['func']]


class Follower:
    """What is known of goroutines and tasks before and at each event."""

    def __init__(self, query, version):
        self.q, self.v1, self.beginning = query, version < 22, version < 22
        self.version = version
        self.regions, self.inherits, self.starts, self.tasks = {}, set(), {}, set()

    def is_task(self, task):
        return task in self.q['task'] or task in self.tasks

    def own_task(self, e):
        kind = e['kind']
        if kind in ('task-begin', 'task-end') and e.get('text') in self.q['task']:
            return True
        if kind in ('task-begin', 'task-end', 'region-begin', 'region-end', 'log'):
            return self.is_task(str(e.get('task', 0)))
        return False

    def own_region(self, e):
        return e['kind'] in ('region-begin', 'region-end') and e.get('text') in self.q['region']

    def before(self, e):
        q, g = self.q, int(e.get('g', 0))
        goroutine = e['kind'] == 'transition' and e['resource'] == 'goroutine'
        if goroutine and e['from'] == 'not-exist':
            made = int(e['subject'])
            top = self.regions.get(g)
            inherits = top[-1][0] if top else g in self.inherits
            self.forget(made)
            if inherits:
                self.inherits.add(made)
        if goroutine and e['from'] != e['to'] and q.get('function'):
            frames = e.get('start_frames') if e.get('start') else None
            if frames is None and (g == int(e['subject']) or e.get('initial')):
                frames = e.get('frames')
            # A stack without any information is none.
            if frames and frames[-1]['func'] and not self.starts.get(int(e['subject']), (0, 0))[1]:
                found = re.search(q['function'], frames[-1]['func']) is not None
                self.starts[int(e['subject'])] = (found, not self.beginning)
        if e['kind'] == 'metric' and e['metric'] == 'GOMAXPROCS':
            self.beginning = False
        if e['kind'] == 'task-begin' and 'task' in e:
            (self.tasks.add if e.get('text') in q['task'] else self.tasks.discard)(str(e['task']))
        if e['kind'] == 'region-begin' and g:
            self.regions.setdefault(g, []).append((self.own_task(e), self.own_region(e)))

    def forget(self, g):
        self.regions.pop(g, None)
        self.inherits.discard(g)
        self.starts.pop(g, None)

    def after(self, e):
        g = int(e.get('g', 0))
        if e['kind'] == 'region-end' and self.regions.get(g):
            self.regions[g].pop()
        elif e['kind'] == 'task-end':
            self.tasks.discard(str(e.get('task', 0)))
        elif e['kind'] == 'transition' and e['resource'] == 'goroutine' and e['to'] == 'not-exist':
            self.forget(int(e['subject']))

    def holds(self, e, g):
        q, regions = self.q, self.regions.get(g, [])
        if q.get('goroutine') and g not in q['goroutine']:
            return False
        if q.get('function'):
            stacks = names(e.get('frames', [])) + names(e.get('start_frames', []))
            if not any(re.search(q['function'], n) for n in stacks) and \
                    not self.starts.get(g, (False, 0))[0]:
                return False
        if q['task'] and not (self.own_task(e) or g in self.inherits or any(t for t, _ in regions)):
            return False
        return not q['region'] or self.own_region(e) or any(r for _, r in regions)

    def selects(self, e):
        q = self.q
        if not q.get('from', -1 << 63) <= e['time'] < q.get('until', 1 << 63):
            return False
        if q.get('proc') is not None and e.get('proc') != q['proc'] and \
                not (e.get('resource') == 'proc' and int(e['subject']) == q['proc']):
            return False
        if q.get('thread') is not None and e.get('thread') != q['thread']:
            return False
        if q.get('generation') is not None and e.get('generation') != q['generation']:
            return False
        return any(self.holds(e, g) for g in {int(e.get('g', 0)), subject(e) or int(e.get('g', 0))})

    def holds_at(self, e, g, own):
        """Whether a goroutine satisfies the criteria; own: whether a stack of its own matches."""
        q, regions = self.q, self.regions.get(g, [])
        mine = g == int(e.get('g', 0))
        return g != 0 and (not q.get('goroutine') or g in q['goroutine']) and \
            (not q.get('function') or own or self.starts.get(g, (False, 0))[0]) and \
            (not q['task'] or (mine and self.own_task(e)) or g in self.inherits or any(t for t, _ in regions)) and \
            (not q['region'] or (mine and self.own_region(e)) or any(r for _, r in regions))

    def goroutines(self, events):
        """The goroutines that satisfy the criteria at some moment of the time range."""
        found, begun = set(), False
        for e in events:
            if e['time'] >= self.q.get('until', 1 << 63):
                break
            inside = e['time'] >= self.q.get('from', -1 << 63)
            if inside and not begun:
                begun = True
                found |= {g for g in {*self.regions, *self.inherits, *self.starts} if self.holds_at({'kind': ''}, g, False)}
            self.before(e)
            g, other = int(e.get('g', 0)), 0
            if e['kind'] == 'transition' and e['resource'] == 'goroutine':
                other = int(e['subject'])
            frames = {g: e.get('frames', [])} if g == other or not e.get('initial') else {other: e.get('frames', [])}
            if other != g and e.get('start'):
                frames[other] = e.get('start_frames', [])
            for one in {g, other}:
                own = self.q.get('function') and any(re.search(self.q['function'], n) for n in names(frames.get(one, [])))
                if inside and self.holds_at(e, one, own):
                    found.add(one)
            self.after(e)
        return found

    def select(self, e):
        self.before(e)
        selected = self.selects(e)
        self.after(e)
        return selected


def queries(events):
    """The options and the values of each query."""
    last = max(e['time'] for e in events)
    g = Counter(e['g'] for e in events if 'g' in e).most_common()
    functions = Counter(f for e in events for f in names(e.get('frames', []))).most_common()
    tasks = [e for e in events if e['kind'] == 'task-begin']
    regions = [e for e in events if e['kind'] == 'region-begin']
    made = [('time', {'from': last // 4, 'until': last // 2 + 1})]
    if g:
        ids = sorted({int(g[0][0]), int(g[-1][0])})
        made.append(('goroutine', {'goroutine': ids}))
    if functions:
        for name, _ in functions[0], functions[len(functions) // 2]:
            made.append(('function', {'function': '^' + re.escape(name) + '$'}))
        made.append(('function', {'function': r'main\..*func|[Ll]ock$'}))
    if tasks:
        made.append(('task', {'task': [str(tasks[0]['task'])]}))
        made.append(('task', {'task': [tasks[-1].get('text', ''), str(tasks[0]['task'])]}))
    if regions:
        text = regions[-1].get('text', '')
        made.append(('region', {'region': [text]}))
        made.append(('both', {'region': [text], 'goroutine': [int(regions[0]['g'])],
                              'from': last // 3}))
        if tasks:
            made.append(('both', {'region': [text], 'task': [tasks[-1].get('text', '')]}))
    for key in 'proc', 'thread', 'generation':
        found = [e[key] for e in events if key in e and e[key] >= 0]
        if found:
            made.append((key, {key: found[len(found) // 2]}))
    return made


def escape(name):
    return re.sub(r'([\\,]|^(?=\d))', r'\\\1', name)


def options(query):
    made = []
    for key, value in query.items():
        if key in ('from', 'until'):
            value = f'{value}ns'
        elif key == 'goroutine':
            value = ','.join(map(str, value))
        elif key == 'task':
            value = ','.join(v if v.isdigit() else escape(v) for v in value)
        elif key == 'region':
            value = ','.join(map(escape, value))
        made.append(f'--{key}={value}')
    return made


def check(gotrace, trace):
    status, text, _ = run(gotrace, 'print', '--format', 'jsonl', '--stacks', trace)
    lines = text.splitlines()
    events = [json.loads(line) for line in lines]
    if not events:
        return 0
    with open(trace, 'rb') as f:
        version = int(f.read(16).split(b'.')[1].split()[0])
    asked = queries(events)
    for kind, query in asked:
        follower = Follower({'task': [], 'region': [], **query}, version)
        wanted = [line for line, e in zip(lines, events) if follower.select(e)]
        for threads in '1', '3':
            args = [gotrace, 'print', '-j', threads, '--format', 'jsonl', '--stacks', *options(query)]
            got = run(*args, trace)
            if got[1].splitlines() != wanted:
                print(f'{trace}: {kind}: {options(query)}: {len(got[1].splitlines())} events, '
                      f'not {len(wanted)} of {len(lines)}')
            if got[0] != status:
                print(f'{trace}: {kind}: status {got[0]}, without selection {status}')
            if (not wanted) != (b'nothing is shown' in got[2]):
                print(f'{trace}: {kind}: {options(query)}: {got[2]}')
    for number, (kind, query) in enumerate(asked):
        if kind in ('function', 'task', 'region', 'both'):
            check_timeline(gotrace, trace, query, events, version, ('chrome', 'perfetto')[number % 2])
    last = max(e['time'] for e in events)
    check_sums(gotrace, trace, last, len(lines))
    PATHS[trace] = check_paths(gotrace, trace, events, last)
    check_places(gotrace, trace, events)
    check_subjects(gotrace, trace, events)
    return len(asked)


def check_timeline(gotrace, trace, query, events, version, to):
    """A timeline has the same goroutines as one for which they are named."""
    TIMELINES[to] += 1
    for part in {}, {'from': events[-1]['time'] // 2}, {'until': events[-1]['time'] // 3}:
        asked = {'task': [], 'region': [], **query, **part}
        if asked.get('until', 1 << 63) <= asked.get('from', 0):
            continue
        ids = Follower(asked, version).goroutines(events)
        times = {k: v for k, v in asked.items() if k in ('from', 'until')}
        wanted = run(gotrace, 'convert', '--to', to, *options({**times, 'goroutine': sorted(ids) or [1 << 63]}), trace)
        got = run(gotrace, 'convert', '--to', to, *options({**query, **part}), trace)
        if got[:2] != wanted[:2] or (not ids) != (b'nothing is shown' in got[2]):
            print(f'{trace}: {to}: {options({**query, **part})}: not the goroutines {sorted(ids)}: {got[2]}')


def figures(gotrace, trace, *args):
    """Times that add up over adjacent ranges of time."""
    _, text, _ = run(gotrace, 'stat', '--json', *args, trace)
    sums = Counter()
    for line in text.splitlines():
        row = json.loads(line)
        if row.get('kind') == 'trace':
            sums['events'] = row['events']
            for state, ns in row.get('procs_ns', {}).items():
                sums['proc ' + state] = ns
        elif row.get('kind') == 'function':
            for key in 'total_ns', 'exec_ns', 'sched_wait_ns', 'syscall_ns', 'syscall_block_ns':
                sums[key] += row[key]['sum']
            for key in 'block_ns', 'range_ns':
                for name, part in row[key].items():
                    sums[key + name] += part['sum']
        elif row.get('kind') == 'sample':
            sums['samples'] += row['self']
        elif row.get('kind') == 'gc':
            sums['assist'] += row.get('assist_ns', 0)
    return sums


def check_sums(gotrace, trace, last, count):
    whole = figures(gotrace, trace)
    cuts = [last // 3, last * 2 // 3]
    if whole['events'] != count:
        print(f'{trace}: {whole["events"]} events of {count}')
    if last < 10:
        return
    a, b = (f'{c}ns' for c in cuts)
    parts = figures(gotrace, trace, '--until', a) + \
        figures(gotrace, trace, '--from', a, '--until', b) + figures(gotrace, trace, '--from', b)
    for key in whole.keys() | parts.keys():
        if whole[key] != parts[key]:
            print(f'{trace}: {key}: {parts[key]} ns in parts, {whole[key]} in the whole')


def check_places(gotrace, trace, events):
    """Times of one place and of the others add up to those of both; profiles of them too."""
    for place in 'proc', 'thread', 'generation':
        values = sorted({e[place] for e in events if e.get(place, -1) >= 0})
        if len(values) < 2:
            continue
        lists = [str(values[0]), ','.join(map(str, values[1:])), ','.join(map(str, values))]
        one, others, both = (figures(gotrace, trace, f'--{place}={ids}') for ids in lists)
        parts = one + others
        for key in 'samples', 'events':  # an event may concern two procs
            parts.pop(key, None)
            both.pop(key, None)
        for key in parts.keys() | both.keys():
            if parts[key] != both[key]:
                print(f'{trace}: --{place} {lists}: {key}: {one[key]} and {others[key]}, together {both[key]}')
        one, others, both = (folded(gotrace, trace, f'--{place}={ids}') for ids in lists)
        if one + others != both:
            print(f'{trace}: --{place} {lists}: profile: {one} and {others}, together {both}')
        PLACES[place] += both > 0


def folded(gotrace, trace, *args):
    """The sum of a profile of the time off the procs."""
    _, text, _ = run(gotrace, 'convert', '-q', '--to', 'folded', '--profile', 'offcpu', '-o', '-', *args, trace)
    return sum(int(line.rsplit(b' ', 1)[1]) for line in text.splitlines())


def paths(gotrace, trace, kind, name, *args):
    """Critical paths: the interval, what it went into, and the rows."""
    _, text, _ = run(gotrace, 'why', '--json', '--slowest', '1000000', f'--{kind}', name, *args, trace)
    made = []
    for line in text.splitlines():
        row = json.loads(line)
        if row.get('kind') == 'path':
            made.append((row, []))
        elif row.get('kind') in ('part', 'wait'):
            made[-1][1].append(row)
    return made


def restrict(path, begin, end):
    """The part of a path in a time range; None if there is none."""
    of, rows = path
    if of['begin'] >= end or (of['end'] <= begin and of['begin'] < begin):
        return None
    rows = [{**r, 'begin': max(r['begin'], begin), 'end': min(r['end'], end)} for r in rows
            if r['begin'] < end and r['end'] > begin]
    rows = [{**r, 'ns': r['end'] - r['begin']} for r in rows]
    states = {'execution': 'exec_ns', 'gc_assist': 'gc_assist_ns', 'scheduling': 'sched_wait_ns',
              'syscall': 'syscall_ns', 'unknown': 'unknown_ns'}

    def add_up(rows):
        sums, waits = Counter(), Counter()
        for r in rows:
            if r['state'] in states:
                sums[states[r['state']]] += r['ns']
            else:
                waits[r['reason'] or ''] += r['ns']
        return {**{s: sums[s] for s in states.values()}, 'block_ns': waits}

    made = {**of, **add_up(r for r in rows if r['depth'] == 0), 'rows': len(rows),
            'others': add_up(r for r in rows if r['depth'] > 0 and r['kind'] == 'part'),
            'begin': max(of['begin'], begin), 'end': min(of['end'], end)}
    made['total_ns'] = made['end'] - made['begin']
    return made, rows


def check_paths(gotrace, trace, events, last):
    """Critical paths of one goroutine, task and region each, in some ranges of time."""
    found = [('goroutine', e['g']) for e in events if 'g' in e][:1] + \
        [('task', e['text']) for e in events if e['kind'] == 'task-begin' and e.get('text')][:1] + \
        [('region', e['text']) for e in events if e['kind'] == 'region-begin' and e.get('text')][-1:]
    count = 0
    for kind, name in found:
        whole = paths(gotrace, trace, kind, str(name))
        for begin, end in (0, last // 3), (last // 3, last // 2), (last // 2, last + 1):
            if begin >= end:
                continue
            # The start includes what is before the first event.
            first = begin or -1 << 63
            wanted = [p for p in (restrict(w, first, end) for w in whole) if p]
            wanted.sort(key=lambda p: -p[0]['total_ns'])
            got = paths(gotrace, trace, kind, str(name), f'--from={begin}ns', f'--until={end}ns')
            count += len(got)
            if [p[0]['total_ns'] for p in got] != [p[0]['total_ns'] for p in wanted] or \
                    any(p not in wanted for p in got):
                print(f'{trace}: why {kind} {name} from {begin} until {end}: {len(got)} paths, '
                      f'not {len(wanted)} of {len(whole)}, or other ones')
    return count


def check_subjects(gotrace, trace, events):
    """Paths of the tasks and regions of one goroutine, proc or task, by the event with which they begin."""
    begins = {'task': {}, 'region': {}}  # by name, time and goroutine or task: the event
    for e in events:
        if e['kind'] == 'task-begin':
            begins['task'][e['text'], e['time'], str(e['task'])] = e
        elif e['kind'] == 'region-begin' and 'g' in e:
            begins['region'][e['text'], e['time'], str(e['g'])] = e
    for kind, made in begins.items():
        if not made:
            continue
        name = Counter(key[0] for key in made).most_common()[0][0]
        whole = [(made.get((name, p['begin'], str(p['task' if kind == 'task' else 'goroutine']))), p, rows)
                 for p, rows in paths(gotrace, trace, kind, name)]
        for by, member in ('goroutine', 'g'), ('proc', 'proc'), ('task', 'task'):
            if by == kind or any(e is None for e, _, _ in whole):
                continue
            for value in sorted({str(e.get(member, 0)) for e, _, _ in whole} - {'0'} if by != 'proc' else {'0', '1'}):
                wanted = [(p, rows) for e, p, rows in whole if str(e.get(member, -1)) == value]
                # A region may be within one of the task.
                if by == 'task' and len({str(e.get('g')) for e, _, _ in whole}) < len(whole):
                    continue
                got = paths(gotrace, trace, kind, name, f'--{by}={value}')
                SUBJECTS[kind, by] += len(got)
                if got != wanted:
                    print(f'{trace}: why --{kind} {name} --{by} {value}: {len(got)} paths, not {len(wanted)} of {len(whole)}')


def main():
    total = sum(check(sys.argv[1], trace) for trace in sys.argv[2:])
    print('timelines:', 'many' if min(TIMELINES['chrome'], TIMELINES['perfetto']) > len(PATHS) else TIMELINES)
    print('paths:', 'many' if sum(PATHS.values()) > 3 * len(PATHS) else PATHS)
    print('places:', 'many' if len(PLACES) == 3 and min(PLACES.values()) > 0 else PLACES)
    print('subjects:', 'many' if sum(SUBJECTS.values()) > 10 else SUBJECTS)
    print('queries:', 'many' if total > 5 * (len(sys.argv) - 2) else total)


if __name__ == '__main__':
    main()
