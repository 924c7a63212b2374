#!/usr/bin/env python3
"""One flipped bit is one fault: how many errors does it give, and do events keep their times?

    tests/repair/flips.py [-n FLIPS] [-b BITS] [-s SEED] [-v] [--check] [FILE ...]

Flips BITS bits (default 1) of a trace FILE (default: each in testdata/traces in turn, so that every
version is tried) at places that the seed chooses, FLIPS times (default 214), and reads the result
with `gotrace validate` and `gotrace print --no-recover`. Counts the errors, and the events of the
undamaged trace that the damaged one still has at their time: within 1 % of the trace's duration, as
a changed difference of time is the recorded one. -v prints a line for each flip.

With --check each of these is a test: 9 of 10 flips give at most 5 errors; 17 of 20 leave at least
99 % of the events at their times (the samples are small: in some a batch or a table is most of the
trace); no flip gives more than 12 errors.
"""
import argparse, json, os, random, subprocess, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GOTRACE = os.environ.get('GOTRACE', os.path.join(ROOT, 'build/gotrace'))
TRACES = os.path.join(ROOT, 'testdata/traces')
MOST_ERRORS, LEAST_KEPT = 5, 0.99


def lines(*args):
    output = subprocess.run([GOTRACE, *args], capture_output=True, timeout=300).stdout
    for line in output.splitlines():
        try:
            yield json.loads(line)
        except ValueError:
            pass


def times(path):
    """The time of each event, by its place in the file and its type."""
    found = {}
    for event in lines('print', '--no-recover', '--format', 'jsonl', path):
        if 'time' in event and 'offset' in event:
            found.setdefault((event['offset'], event.get('type')), event['time'])
    return found


def errors(path):
    count = 0
    for line in lines('validate', '--json', '--max-errors', '1', '--no-recover', path):
        if line.get('type') == 'trace':
            count = line['errors']
    return count


def kept(before, after):
    if not before:
        return 1.0
    near = max(1000, (max(before.values()) - min(before.values())) // 100)
    return sum(k in after and abs(after[k] - t) <= near for k, t in before.items()) / len(before)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('-n', type=int, default=214)
    parser.add_argument('-b', type=int, default=1)
    parser.add_argument('-s', type=int, default=1)
    parser.add_argument('-v', action='store_true')
    parser.add_argument('--check', action='store_true')
    parser.add_argument('file', nargs='*')
    args = parser.parse_args()
    files = args.file or sorted(os.path.join(TRACES, f) for f in os.listdir(TRACES) if f.endswith('.trace'))
    rng = random.Random(args.s)
    whole, few, many, most = {}, 0, 0, 0
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, 'flipped.trace')
        for i in range(args.n):
            file = files[i % len(files)]
            data = bytearray(open(file, 'rb').read())
            places = [rng.randrange(16, len(data)) for _ in range(args.b)]
            for place in places:
                data[place] ^= 1 << rng.randrange(8)
            with open(path, 'wb') as out:
                out.write(data)
            if file not in whole:
                whole[file] = times(file)
            found, share = errors(path), kept(whole[file], times(path))
            few += found <= MOST_ERRORS
            many += share >= LEAST_KEPT
            most = max(most, found)
            if args.v:
                print(f'{os.path.basename(file)} {places} {found} errors, {100 * share:.1f} % kept')
    results = [(f'at most {MOST_ERRORS} errors: {few} of {args.n} flips', few >= 0.9 * args.n),
               (f'at least 99 % of the events at their times: {many} of {args.n} flips', many >= 0.85 * args.n),
               (f'most errors of a flip: {most}', most <= 12)]
    for text, good in results:
        print(('ok  ' if good else 'FAIL') + ' ' + text if args.check else text)
    if args.check:
        failed = sum(not good for _, good in results)
        print(f'{len(results) - failed} passed, {failed} failed, 0 skipped')
        return failed > 0
    return 0


raise SystemExit(main())
