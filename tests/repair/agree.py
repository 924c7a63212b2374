#!/usr/bin/env python3
"""All verbs read of a damaged trace what repair writes of it, and validate says truthfully how much that is.

    tests/repair/agree.py [-n PLACES] [-s SEED] [-k KIND] [-v] [--check] [--keep DIR] [FILE ...]

Damages each FILE (default: samples of v1 and v2, with older versions made of them) in each way, at PLACES places that the
seed chooses. If data is lost, print, stat, find and validate must give the same of the damaged file as of the one that
repair writes. If only rules are violated, events are read as recorded, and validate says how many of them repair keeps.
With --check a kind of damage to one file is a test.
"""
import argparse, json, os, random, re, shutil, sys, tempfile

import damage
from damage import ROOT, GOTRACE, run

FILES = ['go1.19-chan', 'go1.21-user', 'go1.22-gens', 'go1.23-gens', 'go1.25-gensprof', 'go1.26-net', 'go1.27-seconds']
OLDER = {'go1.19-chan': (9, 10, 11)}  # versions of which there is no sample
# Not single strings and stacks: only all events together show which are missing.
LOSSES = {'header.lost', 'bytes.lost', 'batch.cut', 'frequency', 'clocks', 'tables.lost', 'generation.lost'}


# ---- more ways of damage ------------------------------------------------------------------------

def overwrite(b, bs, rng, size):
    """In a batch of events."""
    x = bs[rng.choice([i for i in damage.events_of(bs) if bs[i].end - bs[i].body > 2])]
    at = rng.randrange(x.body + 1, x.end)
    size = min(size, x.end - at)
    return b[:at] + rng.randbytes(size) + b[at + size:], set()


def byte(b, bs, rng):
    return overwrite(b, bs, rng, 1)


def noise_inside(b, bs, rng):
    return overwrite(b, bs, rng, rng.choice([20, 300]))


def bad_table(b, bs, rng):
    """A string or stack cannot be read."""
    rows = [x for x in bs if x.tables and x.end - x.body > 8]
    if not rows:
        return damage.truncate(b, bs, rng)
    x = rng.choice(rows)
    at = rng.randrange(x.body + 1, x.end - 4)
    return b[:at] + b'\xff' * 4 + b[at + 4:], set()


def other_piece(b, bs, rng):
    """Batches of another trace of that version."""
    other = rng.randbytes(16) + b
    at, x = damage.place(b, rng), bs[rng.choice(damage.events_of(bs))]
    return b[:at] + other[x.at + 3:x.end] + b[at:], set()


KINDS = damage.KINDS + [byte, noise_inside, bad_table, other_piece]


# ---- what verbs see -----------------------------------------------------------------------------

def rows(text):
    return [json.loads(line) for line in text.splitlines()]


def shown(path):
    """What the verbs print, without what is said about the file itself."""
    stat = [{k: v for k, v in row.items() if k != 'file'} for row in
            json.loads('[%s]' % ','.join(re.sub(r'"file":"[^"]*",?', '', line) for line in
                                         run(GOTRACE, 'stat', '--json', path).stdout.decode().splitlines()
                                         if line.startswith('{"kind"')))]
    return {'print': run(GOTRACE, 'print', path).stdout, 'stat': stat,
            'find': run(GOTRACE, 'find', 'wait > 0ns', path).stdout.count(b'\n')}


def faults(bad, good):
    """What is wrong with what is read of `bad`."""
    if os.path.exists(good):
        os.unlink(good)
    repaired = rows(run(GOTRACE, 'repair', '-o', good, '--json', bad).stdout.decode())
    if not os.path.exists(good):
        return
    total, lost = repaired[-1], LOSSES & {row.get('kind') for row in repaired}
    verdict = rows(run(GOTRACE, 'validate', '--json', bad).stdout.decode())
    events = rows(run(GOTRACE, 'validate', '--json', good).stdout.decode())[-1]['events']
    recovered = any(row['type'] == 'recovered' for row in verdict)
    if events != total['events']:
        yield 'repair says that it wrote %d events, not %d' % (total['events'], events)
    if lost and not recovered and total['events'] > total['added']:
        yield 'not recovered: ' + ' '.join(sorted(lost))
    if recovered:
        a, b = shown(bad), shown(good)
        yield from ('%s: not what is repaired' % verb for verb in a if a[verb] != b[verb])
        if verdict[-1]['events'] != events:
            yield 'validate sees %d events of %d' % (verdict[-1]['events'], events)
        return
    promise = re.search(r'keeps (\d+) of (\d+)', run(GOTRACE, 'validate', bad).stderr.decode())
    if promise:
        kept, most = int(promise[1]), int(promise[2])
        if kept != min(most, total['events'] - total['added']):
            yield 'validate says that repair keeps %d, but it is %d' % (kept, total['events'] - total['added'])


# ---- the program --------------------------------------------------------------------------------

def samples(work):
    for name in FILES:
        path = os.path.join(ROOT, 'testdata/traces', name + '.trace')
        for version in OLDER.get(name, ()):
            older = os.path.join(work, 'go1.%d-%s' % (version, name.split('-')[1]))
            run(GOTRACE, 'convert', '-q', '--to', 'go1.%d' % version, '-o', older, path)
            yield older
        yield path


def damaged_file(path, kind, args, work):
    """The number of places at which something is wrong."""
    data, misses = open(path, 'rb').read(), 0
    _, batches = damage.batches_of(data)
    name = os.path.basename(path).removesuffix('.trace')
    rng = random.Random('%s %s %d' % (name, kind.__name__, args.s))
    bad, good = os.path.join(work, 'bad.trace'), os.path.join(work, 'good.trace')
    for n in range(args.n):
        open(bad, 'wb').write(kind(data, batches, rng)[0])
        found = list(faults(bad, good))
        misses += bool(found)
        for fault in found:
            print('  %s %s #%d: %s' % (name, kind.__name__, n, fault), flush=True)
        if args.keep and found:
            os.makedirs(args.keep, exist_ok=True)
            shutil.copy(bad, os.path.join(args.keep, '%s-%s-%d.trace' % (name, kind.__name__, n)))
    return misses


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('-n', type=int, default=4)
    parser.add_argument('-s', type=int, default=1)
    parser.add_argument('-k', action='append')
    parser.add_argument('--check', action='store_true')
    parser.add_argument('--keep')
    parser.add_argument('files', nargs='*')
    args = parser.parse_args()
    passed = failed = 0
    with tempfile.TemporaryDirectory() as work:
        for path in args.files or list(samples(work)):
            for kind in KINDS:
                if args.k and kind.__name__ not in args.k:
                    continue
                misses = damaged_file(path, kind, args, work)
                passed, failed = passed + (not misses), failed + bool(misses)
                if misses and args.check:
                    print('FAIL agree %s %s' % (kind.__name__, os.path.basename(path)), flush=True)
    print('%d passed, %d failed, 0 skipped' % (passed, failed))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
