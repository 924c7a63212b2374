#!/usr/bin/env python3
"""One flipped bit is one fault: count the errors, and the events that keep their times.

    tests/repair/flips.py [-n FLIPS] [-b BITS] [-s SEED] [-j JOBS] [-v] [--check] [--keep DIR] [FILE ...]

Flips BITS bits (default 1) of a trace FILE (default: generated traces of Go 1.5 to 1.10 and those of
testdata/traces, each in turn that has 1000 bytes for each bit, so that every version is tried) at
places that the seed chooses, FLIPS times (default 214), and reads the result with `gotrace
validate`, `gotrace print` and `gotrace convert --to chrome`. Counts the errors, and the events of
the undamaged trace that the damaged one still has: of the same type, goroutine and proc (v2:
thread), within 1 % of the trace's duration of the same time, as a changed time delta is the recorded
one. Likewise the instants, and the beginnings and ends of slices, of the timeline: of the same row
and goroutine. -v prints a line for each flip, --keep keeps the traces with too many errors or too
few events.

A flip in the header of a batch or in a table (strings, stacks, samples, clocks) must leave 95 % of
the events, any other 99 %, and several flips at once 95 %. A batch of a small trace can be most of
it: then the events of the damaged batches may be lost, but no others.

With 1, 2 and 8 threads the verdict of validate, order and times of print, and another output (of each run another
verb or format) have to be the same.

With --check each of these is a test: 9 of 10 runs give at most 5 errors for each flip; 80 of 100 (of
runs with several flips 40) leave these shares of events, and of the others all but 1 of 25 runs (with
several flips, 1 of 10) the events of other batches: the reader does not correct altered times; no run gives more than 12 errors for each flip.
"""
import argparse, bisect, collections, concurrent.futures, json, os, random, re, subprocess, tempfile

import damage
from damage import GOTRACE, HANG, ROOT

TRACES = os.path.join(ROOT, 'testdata/traces')
MOST_ERRORS, MOST_OF_ALL, BYTES_PER_FLIP = 5, 12, 1000
TIMES_PER_EVENT = 3  # most times in a timeline that come from one event
DEPENDENT = 5  # events of other batches that may be lost with a damaged one
OUTPUTS = [words.split() for words in (
    'convert --to perfetto', 'convert --to chrome', 'convert --to pprof', 'convert --to html', 'convert --to folded',
    'convert --to go1.26', 'stat --json --each', 'print --format go', 'print --where wait', 'find wait', 'repair',
    'why --goroutine 1', 'dump --level meaning')]
GENERATED = [5, 7, 8, 9, 10]  # versions without a trace in testdata/traces


def output(*args):
    return subprocess.run([GOTRACE, *args], capture_output=True, timeout=HANG).stdout.splitlines()


def lines(*args):
    for line in output(*args):
        try:
            yield json.loads(line)
        except ValueError:
            pass


class Times:
    """Times of a trace, in ns, each with a key."""

    def __init__(self):
        self.times, self.count, self.span = collections.defaultdict(list), 0, 0

    def add(self, key, time):
        self.times[key].append(time)
        self.count += 1

    def kept(self, after, later=0):
        """The number of these times that another trace has with the same key; later: how much its times
        begin later."""
        near, found = max(1000, self.span // 100), 0
        for key, times in self.times.items():
            others, i = sorted(time + later for time in after.times.get(key, [])), 0
            for time in sorted(times):
                while i < len(others) and others[i] < time - near:
                    i += 1
                if i < len(others) and others[i] <= time + near:
                    found += 1
                    i += 1
        return found


class Timeline(Times):
    """Instants, and beginnings and ends of slices, by row and goroutine (the start of the name)."""
    LINE = re.compile(rb'"name":"([^ "]*).*?"ph":"([XI])",(?:"s":"t",)?"ts":([\d.]+)(?:,"dur":([\d.]+))?'
                      rb',"pid":(\d+),"tid":(\d+)')

    def __init__(self, path):
        super().__init__()
        for line in output('convert', '--to', 'chrome', path):
            m = self.LINE.search(line)
            if not m:
                continue
            begin = 1000 * float(m[3])
            self.add((m[1], m[2], m[5], m[6]), begin)
            if m[4]:
                self.add((m[1], b'end', m[5], m[6]), begin + 1000 * float(m[4]))
        self.span = max((max(times) for times in self.times.values()), default=0)


class Events(Times):
    """The times of a trace's events, by type, goroutine and proc or thread. The time is the latest so far,
    because an event that is late in the order is late for a reader of the events."""

    def __init__(self, path):
        super().__init__()
        first, last, self.offsets = None, -1 << 63, []
        self.first_key, self.clock = None, 0
        for event in lines('print', '--format', 'jsonl', path):
            if event.get('type') in (None, 'Sync') or 'time' not in event:
                continue
            owner = event.get('thread' if 'generation' in event else 'proc')
            key = event['type'], event.get('g'), owner
            if first is None:
                first, self.first_key = event['time'], key
                self.clock = event['ticks'] if 'generation' in event else 0
            last = max(last, event['time'])
            self.add(key, last)
            self.offsets.append(event.get('offset', 0))
        self.span = last - (first or 0)

    def start_after(self, before):
        """How much later this trace begins than the undamaged one (v2), if that one's first event is lost:
        times are counted from the first event."""
        lost = len(self.times.get(before.first_key, [])) < len(before.times[before.first_key])
        return self.clock - before.clock if lost and self.count else 0


class Sound:
    """An undamaged trace."""

    def __init__(self, path):
        self.path, self.bytes = path, open(path, 'rb').read()
        self.events, self.timeline = Events(path), Timeline(path)
        self.version, self.batches = damage.batches_of(self.bytes)
        self.offsets = sorted(self.events.offsets)
        assert self.events.count, f'{GOTRACE} reads no events of {path}'

    def batch_at(self, place):
        return next((b for b in self.batches if b.at <= place < b.end), None)

    def is_structural(self, place):
        """Whether a byte is in the header of a batch or in a table."""
        b = self.batch_at(place)
        if b is None or place < b.body:
            return True
        return b.tables if self.version >= 22 else any(x <= place < y for x, y in b.untimed)

    def events_within(self, places):
        """The number of events in the batches that contain these bytes."""
        found = {b.at: b for b in map(self.batch_at, places) if b}
        return sum(bisect.bisect_left(self.offsets, b.end) - bisect.bisect_left(self.offsets, b.at)
                   for b in found.values())


def errors(path):
    """The number of errors."""
    return sum(line['errors'] for line in lines('validate', '--json', '--max-errors', '0', path)
               if line.get('type') == 'trace')


def everything(*args):
    run = subprocess.run([GOTRACE, *args], capture_output=True, timeout=HANG)
    return run.returncode, run.stdout, run.stderr


def is_same(path, number):
    """Whether results are the same with each number of threads."""
    commands = [['validate', '--json', '--max-errors', '0'], ['print', '--format', 'jsonl'],
                OUTPUTS[number % len(OUTPUTS)]]
    return all(everything(*c, '-j', '1', path) == everything(*c, '-j', n, path)
               for c in commands for n in ('2', '8'))


class Run:
    """A trace with some bits flipped."""

    def __init__(self, sound, flips, work):
        self.sound, self.places, self.flips = sound, [place for place, _ in flips], flips
        self.bytes = bytearray(sound.bytes)
        for place, bit in flips:
            self.bytes[place] ^= 1 << bit
        with tempfile.NamedTemporaryFile(dir=work, suffix='.trace') as out:
            out.write(self.bytes)
            out.flush()
            self.errors, self.same = errors(out.name), is_same(out.name, sum(self.places))
            events = Events(out.name)
            later = events.start_after(sound.events)
            self.kept = sound.events.kept(events, later)
            self.shown = sound.timeline.kept(Timeline(out.name), later)
        structural = any(map(sound.is_structural, self.places))
        self.wanted = 0.99 if len(flips) == 1 and not structural else 0.95
        self.where = 'structural' if structural else 'event'

    @property
    def share(self):
        return self.kept / max(1, self.sound.events.count)

    @property
    def share_shown(self):
        return self.shown / max(1, self.sound.timeline.count)

    @property
    def only_batches(self):
        """Whether no more events are lost than the damaged batches have, with those that need them, and
        what these show."""
        most = self.sound.events_within(self.places) + DEPENDENT * len(self.places)
        return (self.sound.events.count - self.kept <= most and
                self.sound.timeline.count - self.shown <= TIMES_PER_EVENT * most)

    @property
    def few(self):
        return self.errors <= MOST_ERRORS * len(self.places)

    @property
    def verdict(self):
        if min(self.share, self.share_shown) >= self.wanted:
            return 'kept'
        return 'batch' if self.only_batches else 'LOST'

    def __str__(self):
        flips = ' '.join(f'{place}.{bit}' for place, bit in self.flips)
        return (f'{os.path.basename(self.sound.path)} {flips} {self.where}: {self.errors} errors, '
                f'{100 * self.share:.2f} % of events and {100 * self.share_shown:.2f} % of the timeline kept: '
                f'{self.verdict}')


def samples(work, least):
    paths = [os.path.join(work, f'go1.{version}.trace') for version in GENERATED]
    for version, path in zip(GENERATED, paths):
        subprocess.run([GOTRACE, 'gen', '--go', f'1.{version}', '--events', '3000', '-o', path], check=True)
    paths += [os.path.join(TRACES, f) for f in sorted(os.listdir(TRACES)) if f.endswith('.trace')]
    return [path for path in paths if os.path.getsize(path) >= least]


def make_plan(files, args):
    """The trace and the flipped bits of each run."""
    rng = random.Random(args.s)
    for i in range(args.n):
        path = files[i % len(files)]
        places = [rng.randrange(16, os.path.getsize(path)) for _ in range(args.b)]
        yield path, [(place, rng.randrange(8)) for place in places]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('-n', type=int, default=214)
    parser.add_argument('-b', type=int, default=1)
    parser.add_argument('-s', type=int, default=1)
    parser.add_argument('-j', type=int, default=2)
    parser.add_argument('-v', action='store_true')
    parser.add_argument('--check', action='store_true')
    parser.add_argument('--keep')
    parser.add_argument('file', nargs='*')
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as work, concurrent.futures.ThreadPoolExecutor(args.j) as pool:
        files = args.file or samples(work, BYTES_PER_FLIP * args.b if args.b > 1 else 0)
        sound = dict(zip(files, pool.map(Sound, files[:args.n])))
        runs = list(pool.map(lambda x: Run(sound[x[0]], x[1], work), make_plan(files, args)))
    for i, run in enumerate(runs):
        bad = run.verdict == 'LOST' or not run.few or not run.same
        if args.v or bad:
            print(run)
        if args.keep and bad:
            os.makedirs(args.keep, exist_ok=True)
            with open(os.path.join(args.keep, f'{i}-{os.path.basename(run.sound.path)}'), 'wb') as out:
                out.write(run.bytes)
    least_kept, most_lost = (0.4, 1 / 10) if args.b > 1 else (0.8, 1 / 25)
    few, most = sum(run.few for run in runs), max(run.errors for run in runs)
    same = sum(run.same for run in runs)
    verdicts = collections.Counter(run.verdict for run in runs)
    name = 'flip' if args.b == 1 else f'{args.b} flips'
    results = [(f'{name}: at most {MOST_ERRORS * args.b} errors in {few} of {args.n}', few >= 0.9 * args.n),
               (f'{name}: events at their times in {verdicts["kept"]} of {args.n}, and in {verdicts["batch"]} '
                'more, in which events of the damaged batches alone are lost',
                verdicts['kept'] >= least_kept * args.n and verdicts['LOST'] <= most_lost * args.n),
               (f'{name}: most errors: {most}', most <= MOST_OF_ALL * args.b),
               (f'{name}: the same with any number of threads in {same} of {args.n}', same == args.n)]
    for text, good in results:
        print(('ok  ' if good else 'FAIL') + ' ' + text if args.check else text)
    if args.check:
        failed = sum(not good for _, good in results)
        print(f'{len(results) - failed} passed, {failed} failed, 0 skipped')
        return failed > 0
    return 0


if __name__ == '__main__':
    raise SystemExit(main())
