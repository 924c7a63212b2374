#!/usr/bin/env python3
"""Damage traces in the ways in which real ones are damaged, repair them, and report the results.

    tests/repair/damage.py [-n PLACES] [-k KIND] [-s SEED] [-v] [--keep DIR] [FILE ...]

Each kind of damage is done to each trace at PLACES places, chosen by the seed. `gotrace repair` must
write a trace that `gotrace validate` finds sound and Go's reader accepts (if GOTRACE_PEERS is
set), with nearly all events of the batches that were not damaged. A row for each kind
shows how often that was so, and the share of these events that was preserved; below 95 % is a miss.
From 1.22 on also the share of undamaged generations that are identical.
With --check a kind of damage to one trace is a test, and the last line adds them up.
"""
import argparse, collections, json, os, random, re, subprocess, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GOTRACE = os.environ.get('GOTRACE', os.path.join(ROOT, 'build/gotrace'))
PEERS = os.environ.get('GOTRACE_PEERS', '')
OLD = ['http_1_5', 'stress_start_stop_1_9', 'stress_start_stop_1_10']  # of Go's own tests
USUAL = ['gccgo-http', 'go1.19-gc', 'go1.21-user', 'go1.22-gens', 'go1.23-gens', 'go1.25-gensprof',
         'go1.27-seconds']
FEWEST = 0.95
HANG = int(os.environ['HANG']) if 'HANG' in os.environ else None  # seconds
THREADS = ('8', '2', '1')  # of repair, by turns


# ---- the formats, as far as needed --------------------------------------------------------------

def event_table(path):
    """code -> (flags, [(since, until, kind)]) of a table of lib/."""
    table = {}
    text = re.sub(r'/\*.*?\*/', '', open(path).read(), flags=re.S)
    for m in re.finditer(r'^([ETN])\((\d+), \w+, \d+(.*?)"', text, re.S | re.M):
        args = [(0, 255)] if m[1] == 'T' else []
        for a in re.finditer(r'\b(A|A_SINCE|A_UNTIL)\(\w+, \w+(?:, (\d+))?\)|\bSTK\b', m[3]):
            number = int(a[2] or 0)
            args.append((number, 255) if a[1] == 'A_SINCE' else (0, number) if a[1] == 'A_UNTIL'
                        else (0, 255))
        table[int(m[2])] = (m[1], args)
    return table


V2 = event_table(os.path.join(ROOT, 'lib/events_v2.def'))
V1_TIMED = {c for c, (k, _) in event_table(os.path.join(ROOT, 'lib/events_v1.def')).items()
            if k == 'T'}


def rows(path):
    """(code, name, semantics) of the rows of a table of lib/."""
    text = re.sub(r'/\*.*?\*/', '', open(os.path.join(ROOT, path)).read(), flags=re.S)
    for row in re.split(r'\n(?=[ETN]\()', text)[1:]:
        head = re.match(r'[ETN]\((\d+), (\w+)', row)
        yield int(head[1]), head[2], row.rsplit('"', 1)[-1]


CODES = {name: code for code, name, _ in rows('lib/events_v1.def')}
LOCAL = {code: CODES[m[1]]  # v1's short forms
         for code, _, does in rows('lib/events_v1.def')
         if (m := re.search(r'LOCAL_FORM_OF\((\w+)\)', does))}
V2_STATUS = {code for code, _, does in rows('lib/events_v2.def')
             if re.search(r'\bSTATUS\b|RANGE\(ACTIVE', does)}


def varint(b, p):
    v = shift = 0
    while True:
        c = b[p]
        p += 1
        v |= (c & 127) << shift
        if c < 128:
            return v, p
        shift += 7


def put(v):
    out = bytearray()
    while v >= 128:
        out.append(v & 127 | 128)
        v >>= 7
    out.append(v)
    return bytes(out)


class Batch:
    def __init__(self, **kw):
        self.codes = collections.Counter()
        self.__dict__.update(kw)


def batches_v1(b, version):
    found, p = [], 16
    while p < len(b):
        at, code, form = p, b[p] & 63, b[p] >> 6
        p += 1
        if code == 37:
            _, p = varint(b, p)
            n, p = varint(b, p)
            p += n
        elif form < 3:
            args = []
            for _ in range(form + 1 + (version < 7)):
                v, p = varint(b, p)
                args.append(v)
        else:
            n, p = varint(b, p)
            p += n
        if code == 48:
            n, p = varint(b, p)
            p += n
        if code == 1:
            found.append(Batch(at=at, body=p, owner=args[0], time=args[-1], args=args, gen=0,
                               events=0, tables=False, codes=collections.Counter(), untimed=[]))
        elif found and code not in V1_TIMED:
            found[-1].untimed.append((at, p))
        if found:
            found[-1].end = p
            if code in V1_TIMED:
                found[-1].events += 1
                found[-1].codes[LOCAL.get(code, code)] += 1
            found[-1].tables |= code in (2, 3, 37)
    return found


def batches_v2(b, version):
    found, p = [], 16
    while p < len(b):
        at, code = p, b[p]
        p += 1
        if code == 52:
            found.append(Batch(at=at, body=p, end=p, owner=None, time=0, gen=found[-1].gen, events=0,
                               tables=False, marker=52))
            continue
        if code == 49:
            _, p = varint(b, p)
        gen, p = varint(b, p)
        owner, p = varint(b, p)
        time, p = varint(b, p)
        size, p = varint(b, p)
        marker = 49 if code == 49 else b[p] if size else 0
        batch = Batch(at=at, body=p, end=p + size, owner=owner, time=time, gen=gen, events=0,
                      marker=marker, tables=marker in (2, 4, 6, 8, 50))
        if code == 1 and not batch.tables:
            batch.codes.update(c for c in records_v2(b, p, p + size, version)
                               if c not in V2_STATUS)
            batch.events = sum(batch.codes.values())
        found.append(batch)
        p += size
    return found


def records_v2(b, p, end, version):
    while p < end:
        code = b[p]
        p += 1
        yield code
        for since, until in V2[code][1]:
            if since <= version <= until:
                _, p = varint(b, p)


def batches_of(b):
    version = int(b[5:b.index(b' ', 5)])
    return version, (batches_v2 if version >= 22 else batches_v1)(b, version)


def generations_of(b, batches):
    """The bytes of each batch in the file."""
    spans = {}
    for x in batches:
        start, _ = spans.get(x.gen, (x.at, 0))
        spans[x.gen] = (start, x.end)
    return [b[start:end] for gen, (start, end) in spans.items() if gen]


def count_events(batches):
    """The number of events by type and thread or proc."""
    present = collections.Counter()
    for x in batches:
        for code, n in x.codes.items():
            present[x.owner, code] += n
    return present


# ---- damage: (bytes, indices of the damaged batches) --------------------------------------------

def touched(batches, start, end):
    return {i for i, x in enumerate(batches) if x.at < end and x.end > start}


def place(b, rng):
    return rng.randrange(16, len(b))


def truncate(b, bs, rng):
    at = place(b, rng)
    return b[:at], {i for i, x in enumerate(bs) if x.end > at}


def flip(b, bs, rng):
    at = place(b, rng)
    c = bytearray(b)
    c[at] ^= 1 << rng.randrange(8)
    return bytes(c), touched(bs, at, at + 1)


def zeroes(b, bs, rng):
    at, size = place(b, rng), rng.choice([1, 8, 64, 512, 4096])
    size = min(size, len(b) - at)
    return b[:at] + bytes(size) + b[at + size:], touched(bs, at, at + size)


def zero_tail(b, bs, rng):
    at = place(b, rng)
    return b[:at] + bytes(len(b) - at), {i for i, x in enumerate(bs) if x.end > at}


def foreign(b, bs, rng):
    at, size = place(b, rng), rng.choice([1, 16, 300, 5000])
    text = (b'2026/11/21 09:00:00 http: panic serving 127.0.0.1: boom\n' * 100)[:size]
    return b[:at] + text + b[at:], touched(bs, at, at + 1)


def noise(b, bs, rng):
    at, size = place(b, rng), rng.choice([1, 16, 300, 5000])
    return b[:at] + rng.randbytes(size) + b[at:], touched(bs, at, at + 1)


def delete(b, bs, rng):
    at, size = place(b, rng), rng.choice([1, 16, 300, 5000])
    size = min(size, len(b) - at)
    return b[:at] + b[at + size:], touched(bs, at, at + size)


def header(b, bs, rng):
    return bytes(16) + b[16:], set()


def events_of(bs):
    return [i for i, x in enumerate(bs) if x.events]


def lose(b, bs, rng):
    i = rng.choice(events_of(bs))
    return b[:bs[i].at] + b[bs[i].end:], {i}


def double(b, bs, rng):
    x = bs[rng.choice(events_of(bs))]
    return b[:x.end] + b[x.at:x.end] + b[x.end:], set()


def swap(b, bs, rng):
    """Two of the same thread or proc, if there are."""
    by = collections.defaultdict(list)
    for i in events_of(bs):
        by[bs[i].gen, bs[i].owner].append(i)
    rows = [r for r in by.values() if len(r) > 1] or [events_of(bs)]
    row = rng.choice(rows)
    if len(row) < 2:
        return b, set()
    n = rng.randrange(len(row) - 1)
    x, y = bs[row[n]], bs[row[n + 1]]
    return b[:x.at] + b[y.at:y.end] + b[x.end:y.at] + b[x.at:x.end] + b[y.end:], set()


def tables(b, bs, rng):
    rows = [i for i, x in enumerate(bs) if x.tables and not x.events]
    if not rows:
        return truncate(b, bs, rng)
    x = bs[rng.choice(rows)]
    return b[:x.at] + b[x.end:], set()


def clock(b, bs, rng):
    """All batches of an owner from one on are late or early."""
    i = rng.choice(events_of(bs))
    step = rng.choice([-1, 1]) * rng.choice([100, 10**4, 10**6, 10**8])
    c, last = b'', 0
    for k, x in enumerate(bs):
        if x.owner != bs[i].owner or k < i or not x.events:
            continue
        time = max(x.time + step, 1)
        head = bytearray(b[x.at:x.body])
        p = x.body - x.at
        if hasattr(x, 'marker'):  # v2: the time precedes the size
            q = 1
            for _ in range(2):
                _, q = varint(head, q)
            _, e = varint(head, q)
            head = head[:q] + put(time) + head[e:]
        else:
            q = 1
            for _ in range(len(x.args) - 1):
                _, q = varint(head, q)
            head = head[:q] + put(time)
        c += b[last:x.at] + bytes(head)
        last = x.body
    return c + b[last:], set()


def twice(b, bs, rng):
    return b + b, set()


def no_footer(b, bs, rng):
    last = max(events_of(bs))
    return b[:bs[last].end], set()


def both(b, bs, rng):
    """Two kinds at once."""
    one, other = rng.choice([lose, flip, zeroes, clock]), truncate
    c, hurt = one(b, bs, rng)
    at = rng.randrange(len(c) // 2, len(c))
    return c[:at], hurt | {i for i, x in enumerate(bs) if x.end > at - abs(len(c) - len(b))}


KINDS = [truncate, flip, zeroes, zero_tail, foreign, noise, delete, header, lose, double, swap,
         tables, clock, twice, no_footer, both]


# ---- results ------------------------------------------------------------------------------------

def run(*command):
    try:
        return subprocess.run(command, capture_output=True, timeout=HANG)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 99, b'', b'timeout')


class Tally:
    def __init__(self):
        self.runs = self.sound = self.go = self.enough = 0
        self.kept = self.wanted = self.kept_all = self.all = 0
        self.go_before = self.added = 0
        self.whole = self.same = 0  # generations

    def add(self, other):
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)

    def misses(self):
        return 3 * self.runs - self.sound - self.go - self.enough


def go_takes(path, version):
    reader = os.path.join(PEERS, 'bin', 'goread-v2' if version >= 22 else 'goread-v1')
    if not os.path.exists(reader):
        return True
    return run(reader, path).returncode == 0


def differs_with_one(r, bad, good):
    """Whether repair, which ended with r and wrote good, does something else with one thread."""
    other = good + '.one'
    one = run(GOTRACE, 'repair', '-j', '1', '-o', other, '--json', bad)
    same = (one.returncode, one.stdout) == (r.returncode, r.stdout) and os.path.exists(good) == os.path.exists(other)
    if os.path.exists(other):
        with open(good, 'rb') as a, open(other, 'rb') as b:
            same = same and a.read() == b.read()
        os.unlink(other)
    return not same


def try_one(b, version, bs, kind, rng, tally, args, name, n):
    damaged, hurt = kind(b, bs, rng)
    sound = count_events(x for i, x in enumerate(bs) if i not in hurt)
    wanted = sum(sound.values())
    bad, good = os.path.join(args.work, 'bad.trace'), os.path.join(args.work, 'good.trace')
    open(bad, 'wb').write(damaged)
    if os.path.exists(good):
        os.unlink(good)
    threads = THREADS[n % len(THREADS)]
    r = run(GOTRACE, 'repair', '-j', threads, '-o', good, '--json', bad)
    differs = n < len(THREADS) and differs_with_one(r, bad, good)
    tally.runs += 1
    tally.wanted += wanted
    every = count_events(bs)
    tally.all += sum(every.values())
    why = None
    if wanted == 0 and not os.path.exists(good):
        why = None
        tally.sound += 1; tally.go += 1; tally.enough += 1
        return
    if r.returncode not in (0, 1) or not os.path.exists(good):
        why = 'repair ends with %d: %s' % (r.returncode, r.stderr.decode()[:200])
    else:
        totals = json.loads(r.stdout.splitlines()[-1])
        v = run(GOTRACE, 'validate', '-q', good)
        go = go_takes(good, version)
        repaired = open(good, 'rb').read()
        whole = [g for g in generations_of(b, bs) if g in damaged]
        tally.whole += len(whole)
        tally.same += sum(g in repaired for g in whole)
        try:
            present = count_events(batches_of(repaired)[1])
            kept = sum((sound & present).values())
            tally.kept_all += sum((every & present).values())
        except (IndexError, ValueError, KeyError):
            kept = -1
        tally.added += totals['added']
        tally.kept += min(kept, wanted)
        tally.sound += v.returncode == 0
        tally.go += go
        enough = kept >= FEWEST * wanted
        tally.enough += enough
        if args.before:
            tally.go_before += go_takes(bad, version)
        if differs:
            tally.enough -= enough
            why = 'repair -j %s is not as -j 1' % threads
        elif v.returncode != 0:
            why = 'not sound: ' + v.stderr.decode().split('\n')[0]
        elif not go:
            why = "Go's reader does not take it"
        elif not enough:
            why = 'kept %d of %d, added %d' % (kept, wanted, totals['added'])
    if why and args.verbose:
        print('  %s %s #%d: %s' % (name, kind.__name__, n, why), flush=True)
    if why and args.keep:
        os.makedirs(args.keep, exist_ok=True)
        open(os.path.join(args.keep, '%s-%s-%d.trace' % (name, kind.__name__, n)), 'wb').write(damaged)


def damage_file(path, kind, args):
    tally = Tally()
    b = open(path, 'rb').read()
    version, bs = batches_of(b)
    base = os.path.basename(path)
    rng = random.Random('%s %s %d' % (base, kind.__name__, args.s))
    once = kind in (header, twice, no_footer)
    for n in range(1 if once else args.n):
        try_one(b, version, bs, kind, rng, tally, args, os.path.splitext(base)[0], n)
    return tally


def check(files, kinds, args):
    """One test for each kind and file; the last line is in the form of tests/run.sh."""
    passed = failed = 0
    args.verbose = True
    for kind in kinds:
        for f in files:
            misses = damage_file(f, kind, args).misses()
            passed += not misses
            failed += misses > 0
            if misses:
                print('FAIL %s %s' % (kind.__name__, os.path.basename(f)), flush=True)
    skipped = len(OLD) * len(kinds) if len(files) == len(USUAL) else 0
    print('%d passed, %d failed, %d skipped' % (passed, failed, skipped))
    return failed


def table(files, kinds, args):
    misses = 0
    print('%-10s %6s %6s %6s %6s %7s %7s %7s %12s%s' % (
        'damage', 'runs', 'valid', "Go's", '>=95%', 'kept', 'of all', 'added', 'generations',
        ' Go before' if args.before else ''))
    for kind in kinds:
        tally = Tally()
        for f in files:
            tally.add(damage_file(f, kind, args))
        print('%-10s %6d %6d %6d %6d %6.1f%% %6.1f%% %7d %11.1f%%%s' % (
            kind.__name__, tally.runs, tally.sound, tally.go, tally.enough,
            100 * tally.kept / max(tally.wanted, 1), 100 * tally.kept_all / max(tally.all, 1),
            tally.added, 100 * tally.same / max(tally.whole, 1),
            ' %9d' % tally.go_before if args.before else ''), flush=True)
        misses += tally.misses()
    return misses


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('-n', type=int, default=10)
    parser.add_argument('-k', action='append')
    parser.add_argument('-s', type=int, default=1)
    parser.add_argument('-v', '--verbose', action='store_true')
    parser.add_argument('--before', action='store_true', help="try Go's reader on the damaged too")
    parser.add_argument('--keep')
    parser.add_argument('--check', action='store_true')
    parser.add_argument('files', nargs='*')
    args = parser.parse_args()
    canned = os.path.join(PEERS, 'usr/share/go-1.21/src/internal/trace/testdata', '%s_good')
    files = args.files or ([canned % f for f in OLD if os.path.exists(canned % f)] +
                           [os.path.join(ROOT, 'testdata/traces', f + '.trace') for f in USUAL])
    kinds = [k for k in KINDS if not args.k or k.__name__ in args.k]
    with tempfile.TemporaryDirectory() as args.work:
        return 1 if (check if args.check else table)(files, kinds, args) else 0


if __name__ == '__main__':
    sys.exit(main())
