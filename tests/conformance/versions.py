#!/usr/bin/env python3
"""versions.py VERSION A.jsonl FREQUENCY VERSION B.jsonl FREQUENCY [VERSION ...]: compare two traces.

A and B are the output of `gotrace print --format jsonl` for a trace and for the same trace after conversion
to another version, or to another one and back. VERSIONs are N of go 1.N; the ones at the end are the versions
in between. A projection of each trace contains what all the versions can represent: see `project`.
The projections must be equal, except for times, which may differ by LATE ns: in a version in which no two
events have the same time, simultaneous events are a nanosecond apart.

Beside A.jsonl and B.jsonl are A.tables and B.tables, the records of strings and stacks printed by `gotrace
dump --format jsonl`, which contain all frames of stacks; those of v2 with the headers
of batches, which contain the generation.

FREQUENCY is the clock's ticks per second in a v1 trace, 0 for v2, whose times are in ns. Prints the
differences; exit status 1 if there are any.
"""
import collections
import json
import sys

LATE = 1000     # ns, and two ticks of a slower clock
LONGEST = 256   # characters of strings, which v2 truncates at 1024 bytes
V1_REASONS = {'chan send', 'chan receive', 'select', 'sync', 'sync.(*Cond).Wait', 'network', 'sleep',
              'forever'}
GC_STOPS = {'GC mark termination', 'GC sweep termination'}


def events(path):
    with open(path, encoding='utf-8') as lines:
        for line in lines:
            yield json.loads(line)


class Projection:
    """The contents of a trace, by subject: lists of (time, what)."""

    def __init__(self, least, v1, each_proc, as_runnable, stacks):
        self.least, self.v1 = least, v1     # the oldest of all versions; whether one is v1
        self.stacks = stacks                # frames by generation and id
        self.rows = collections.defaultdict(list)
        self.started = False                # v1: the initial state has been reported
        self.each_proc = each_proc          # each proc stops the world by itself
        self.stopping = None                # the proc that does
        self.as_runnable = as_runnable      # go 1.22 has no goroutines that are created waiting
        self.created_waiting = set()
        self.going_on = set()               # assists and sweeps that have begun

    def add(self, key, time, *what):
        self.rows[key].append((time, what))

    def reason(self, event):
        reason = event.get('reason', '')
        if reason == 'unspecified':
            return ''
        if self.v1 and event['to'] == 'waiting' and reason not in V1_REASONS and not (
                reason == 'GC mark assist wait for work' and self.least >= 8):
            return ''
        return reason

    def frames(self, event, name='stack'):
        """The whole stack; until 1.6 only program counters."""
        if self.least < 7:
            return ()
        return self.stacks.get((event.get('generation', 0), event.get(name, 0)), ())

    def transition(self, event, time):
        g, source, target = event['subject'], event['from'], event['to']
        if event['resource'] == 'proc':
            if source == target or event.get('initial') or not self.started:
                return
            rows = self.rows['P', g]
            if target == 'running' and rows and rows[-1][1] == ('running',):
                return
            if target == 'running' and rows and time - rows[-1][0] <= 2:
                # Given to another thread, which v1 does not record.
                rows.pop()
            else:
                self.add(('P', g), time, target)
            return
        kind = event['type']
        if kind == 'GoInSyscall' and self.started:
            # A call from C is recorded as the creation of a goroutine in a system call.
            self.rows['G', g].pop()
        if self.as_runnable and kind in ('GoCreateBlocked', 'GoWaiting') and self.started:
            self.created_waiting.add(g)
        if target == 'runnable' and source == 'waiting' and g in self.created_waiting:
            self.created_waiting.remove(g)
            return
        if event.get('initial') or kind == 'GoSysBlock' and source != 'running':
            return
        if kind.startswith('GoStart') and not self.started:
            return
        if self.v1 and kind in ('GoCreateSyscall', 'GoDestroySyscall'):
            return
        # Only the end of a call that blocks is recorded in all versions.
        if kind in ('GoSyscallBegin', 'GoSysCall', 'GoSysBlock'):
            self.add(('call', g), time, self.frames(event))
            return
        if kind == 'GoSyscallEnd':
            if not self.v1:
                self.add(('G', g), time, target)
            return
        what = [target, self.reason(event)]
        if source == 'running':
            what.append(self.frames(event))
        if kind in ('GoCreate', 'GoCreateBlocked'):
            what = ['created', self.frames(event, 'start')]
        if target == 'running':
            what.append(event.get('proc'))
        self.add(('G', g), time, *what)

    def busy(self, proc, time):
        """Until 1.6 the heap may grow on a proc that has stopped; in later versions that proc runs."""
        rows = self.rows['P', proc]
        if rows and rows[-1][1] == ('idle',):
            self.add(('P', proc), time, 'running')

    def is_seen_whole(self, name, whose, begins):
        """The end of what began before the trace is recorded in some versions only."""
        if begins:
            self.going_on.add((name, whose))
        elif (name, whose) not in self.going_on:
            return False
        else:
            self.going_on.remove((name, whose))
        return True

    def is_one_stop(self, event, begins):
        """Until 1.9 each proc may stop the world; later only one at a time."""
        if self.least >= 10:
            return True
        whose = event.get('subject', event.get('proc') if self.each_proc else 0)
        if begins and self.stopping is None:
            self.stopping = whose
            return True
        if not begins and self.stopping == whose:
            self.stopping = None
        return False

    def range(self, event, time):
        name, begins = event['range'], event['kind'] == 'range-begin'
        reason = event.get('reason', '').replace('unknown', '')
        if not self.started:
            return
        if not reason.startswith('GC ') and reason.endswith(' termination'):
            reason = 'GC ' + reason
        if name == 'GC mark assist':
            if self.least >= 9 and self.is_seen_whole(name, event['g'], begins):
                self.add(('assist', event['g']), time, begins)
        elif name == 'stop-the-world':
            if not self.is_one_stop(event, begins):
                return
            # Its end has no reason in v1.
            if begins and (self.least >= 21 or reason in GC_STOPS or reason == ''):
                self.add('stop', time, reason if self.least >= 10 else '')
        elif name == 'GC sweep':
            if not self.is_seen_whole(name, event.get('proc'), begins):
                return
            args = event.get('args', {})
            swept = [v for k, v in sorted(args.items()) if k.startswith(('swept', 'reclaimed'))]
            self.add(('sweep', event.get('proc')), time, begins,
                     tuple(swept) if self.least >= 9 else ())
        else:
            self.add(name, time, begins)

    def event(self, event, time):
        kind = event['kind']
        self.started |= 'generation' in event or event['type'] == 'Gomaxprocs'
        if event.get('futile'):
            return
        if kind == 'transition':
            self.transition(event, time)
            if event.get('text') and self.least >= 8:
                self.add(('label', event['subject']), time, event['text'])
        elif kind == 'syscall':
            self.add(('call', event['g']), time, self.frames(event))
        elif kind == 'metric':
            self.busy(event.get('proc'), time)
            # The first GOMAXPROCS of a v1 trace may be synthetic.
            if event['metric'] != 'GOMAXPROCS':
                self.add(event['metric'], time, event['value'])
        elif kind == 'label' and self.least >= 8:
            # In v1 a run begins with it.
            runs = [row for row in self.rows['G', event['g']][-1:] if row[1][0] == 'running']
            self.add(('label', event['g']), runs[0][0] if self.v1 and runs else time, event['text'])
        elif kind in ('range-begin', 'range-end'):
            self.range(event, time)
        elif kind.startswith(('task', 'region')) and self.least >= 11:
            self.add((kind, event['g']), time, event.get('task'), event.get('parent'),
                     event.get('text', '')[:LONGEST] if kind != 'task-end' else '', self.frames(event))
        elif kind == 'log' and self.least >= 11:
            self.add(('log', event['g']), time, event.get('task'), event.get('text', '')[:LONGEST],
                     event.get('message', '')[:LONGEST])
        elif kind == 'sample' and self.least >= 19:
            self.add('sample', time, event.get('g'), event.get('proc'), self.frames(event))
        elif kind == 'experiment' and self.least >= 23:
            self.add('experiment', time, event['type'], str(event.get('args')))


def stacks_of(path):
    """All stacks of a trace: the frames, by generation and id."""
    generation, strings, stacks = 0, {}, {}
    for record in events(path):
        if record['event'] == 'EventBatch':
            generation = record['gen']
        elif record['event'] == 'String':
            strings[generation, record['id']] = record.get('data', '')
        else:
            stacks[generation, record['id']] = record['frames']
    return {(g, stack): tuple(frame_of(g, frame, strings) for frame in frames)
            for (g, stack), frames in stacks.items()}


def frame_of(generation, frame, strings):
    if not isinstance(frame, list) or len(frame) < 4:
        return ''   # until 1.6
    _, function, file, line = frame
    return f'{strings.get((generation, function), "")} {strings.get((generation, file), "")}:{line}'


def project(path, frequency, version, versions):
    projection = Projection(min(versions), min(versions) < 22, version < 10, 22 in versions,
                            stacks_of(path.removesuffix('.jsonl') + '.tables'))
    for event in events(path):
        ticks = int(event['ticks'])
        time = ticks * 10**9 // frequency if frequency else ticks
        projection.event(event, time)
    return projection


def differences(a, b, late):
    for key in sorted(set(a) | set(b), key=str):
        ours, theirs = a.get(key, []), b.get(key, [])
        for n in range(max(len(ours), len(theirs))):
            x = ours[n] if n < len(ours) else (0, None)
            y = theirs[n] if n < len(theirs) else (0, None)
            if x[1] != y[1] or abs(x[0] - y[0]) > late:
                yield f'{key}, {n}: {x} before, {y} after'
                break


def main():
    versions = [int(v) for v in (sys.argv[1], sys.argv[4], *sys.argv[7:])]
    frequencies = int(sys.argv[3]), int(sys.argv[6])
    before = project(sys.argv[2], frequencies[0], versions[0], versions)
    after = project(sys.argv[5], frequencies[1], versions[1], versions)
    late = LATE + max(2 * 10**9 // f if f else 0 for f in frequencies)
    found = list(differences(before.rows, after.rows, late))
    for difference in found[:20]:
        print(difference)
    sys.exit(1 if found else 0)


main()
