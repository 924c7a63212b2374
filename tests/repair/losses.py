#!/usr/bin/env python3
"""One lost batch, table or clock is one fault: how many errors does it give?

    tests/repair/losses.py [-n PLACES] [-s SEED] [-v] [--check] [--keep DIR] [FILE ...]

Damages each FILE (default: all of testdata/traces) in these ways, each at PLACES places (default 2)
that the seed chooses, and counts the errors of `gotrace validate`. -v prints a line for each, --keep
keeps the traces with more than 5 errors. With --check each way is a test: 19 of 20 traces give at
most 5 errors, and none more than 12.
"""
import argparse, collections, os, random, tempfile

import damage
from flips import MOST_ERRORS, MOST_OF_ALL, errors, samples


def without(data, batches):
    """The trace without these batches."""
    for b in sorted(batches, key=lambda b: -b.at):
        data = data[:b.at] + data[b.end:]
    return data


def retagged(data, b, **changes):
    """The trace with other values in the header of a batch of v2."""
    size, at = b.end - b.body, b.at + 1
    head = data[b.at:at] + b''.join(damage.put(changes.get(name, getattr(b, name)))
                                    for name in ('gen', 'owner', 'time'))
    return data[:b.at] + head + damage.put(size) + data[b.body:]


def tables(data, batches, marker):
    """Without the tables of that kind of one generation, or of all."""
    found = [b for b in batches if b.marker == marker]
    return without(data, found) if found else None


def lost_strings(data, version, batches, rng):
    return tables(data, batches, 4) if version >= 22 else None


def lost_stacks(data, version, batches, rng):
    return tables(data, batches, 2) if version >= 22 else None


def lost_clock(data, version, batches, rng):
    found = [b for b in batches if version >= 22 and b.marker in (8, 50)]
    return without(data, [rng.choice(found)]) if found else None


def lost_batch(data, version, batches, rng):
    return without(data, [rng.choice([b for b in batches if b.events])])


def lost_first_batch(data, version, batches, rng):
    gen = rng.choice(batches).gen
    return without(data, [next(b for b in batches if b.gen == gen)])


def other_thread(data, version, batches, rng):
    b, other = rng.choice([b for b in batches if b.events]), rng.choice(batches)
    return retagged(data, b, owner=other.owner or 0) if version >= 22 else None


def other_generation(data, version, batches, rng):
    b = rng.choice([b for b in batches if b.events])
    return retagged(data, b, gen=b.gen + rng.choice([-1, 1, 16])) if version >= 22 else None


def truncated(data, version, batches, rng):
    return data[:rng.randrange(len(data) // 4, len(data))]


WAYS = [lost_strings, lost_stacks, lost_clock, lost_batch, lost_first_batch, other_thread, other_generation,
        truncated]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('-n', type=int, default=2)
    parser.add_argument('-s', type=int, default=1)
    parser.add_argument('-v', action='store_true')
    parser.add_argument('--check', action='store_true')
    parser.add_argument('--keep')
    parser.add_argument('file', nargs='*')
    args = parser.parse_args()
    found = collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, 'damaged.trace')
        for file in args.file or samples(work, 0):
            data = open(file, 'rb').read()
            version, batches = damage.batches_of(data)
            for way in WAYS:
                rng = random.Random(f'{args.s} {os.path.basename(file)} {way.__name__}')
                for i in range(args.n):
                    made = way(data, version, batches, rng)
                    if made is None:
                        continue
                    with open(path, 'wb') as out:
                        out.write(made)
                    count = errors(path)
                    found[way].append(count)
                    if args.v or count > MOST_ERRORS:
                        print(f'{way.__name__} {os.path.basename(file)} {i}: {count} errors')
                    if args.keep and count > MOST_ERRORS:
                        os.makedirs(args.keep, exist_ok=True)
                        name = f'{way.__name__}-{i}-{os.path.basename(file)}'
                        with open(os.path.join(args.keep, name), 'wb') as out:
                            out.write(made)
    failed = 0
    for way, counts in found.items():
        bad = sum(count > MOST_ERRORS for count in counts)
        good = bad <= len(counts) // 20 and max(counts) <= MOST_OF_ALL
        failed += not good
        verdict = ('ok   ' if good else 'FAIL ') if args.check else ''
        print(f'{verdict}{way.__name__}: at most {MOST_ERRORS} errors in {len(counts) - bad} of {len(counts)}, '
              f'most: {max(counts)}')
    if args.check:
        print(f'{len(found) - failed} passed, {failed} failed, 0 skipped')
    return args.check and failed > 0


if __name__ == '__main__':
    raise SystemExit(main())
