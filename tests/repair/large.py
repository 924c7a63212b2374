#!/usr/bin/env python3
"""Repair large traces: memory, bytes read, and what an interrupt leaves.

    tests/repair/large.py [-n EVENTS] [-v] [--check]

Damages a synthetic trace in ways with one and with many faults. Peak memory must not depend on the
size of the trace, and the number of times that it is read is bounded for any number of faults (v1). With
--check each of these is a test.
"""
import argparse, os, random, signal, subprocess, sys, tempfile, time

import damage

COUNT = os.path.join(os.path.dirname(damage.GOTRACE), 'tests/count')
MOST_KIB = 64 << 10  # peak memory, of which 50 MiB are for sorting
MOST_READ = 20  # times that all bytes are read


def cut(data, rng):
    return data[:len(data) * 3 // 5]


def zeroes(data, rng):
    at = len(data) // 2
    return data[:at] + bytes(20000) + data[at + 20000:]


def flips(count):
    def flip(data, rng):
        data = bytearray(data)
        for _ in range(count):
            data[rng.randrange(16, len(data))] ^= 1 << rng.randrange(8)
        return bytes(data)
    flip.__name__ = 'flips_%d' % count
    return flip


def holes(data, rng):
    for _ in range(20):
        at = rng.randrange(16, len(data) - 10000)
        data = data[:at] + data[at + rng.randrange(1, 10000):]
    return data


KINDS = [cut, zeroes, flips(1), flips(10), flips(100), holes]


class Tests:
    def __init__(self, work, verbose):
        self.work, self.verbose = work, verbose
        self.passed = self.failed = 0

    def path(self, name):
        return os.path.join(self.work, name)

    def check(self, good, text):
        self.passed += good
        self.failed += not good
        if not good or self.verbose:
            print('%s %s' % ('ok  ' if good else 'FAIL', text), flush=True)

    def trace(self, events, go='1.19'):
        path = self.path('whole')
        subprocess.run([damage.GOTRACE, 'gen', '--go', go, '--events', str(events), '-o', path],
                       check=True, stderr=subprocess.DEVNULL)
        with open(path, 'rb') as f:
            return f.read()

    def repair(self, data):
        """Peak memory in KiB, and how often the trace was read."""
        with open(self.path('bad'), 'wb') as f:
            f.write(data)
        status = subprocess.run([COUNT, self.path('report'), damage.GOTRACE, 'repair', '-q', '-o',
                                 self.path('good'), self.path('bad')],
                                stderr=subprocess.DEVNULL).returncode
        sound = subprocess.run([damage.GOTRACE, 'validate', '-q', self.path('good')],
                               stderr=subprocess.DEVNULL).returncode
        with open(self.path('report')) as f:
            report = f.read().split()
        self.check(status <= 1 and sound == 0, 'repair ends with %d, the result with %d' % (status, sound))
        return int(report[1]), int(report[2]) / len(data)

    def measure(self, events):
        small, large = self.trace(events), self.trace(4 * events)
        for kind in KINDS:
            kib, read = self.repair(kind(small, random.Random(kind.__name__)))
            self.check(kib <= MOST_KIB, '%s: %d KiB of memory' % (kind.__name__, kib))
            self.check(0 < read <= MOST_READ,
                       '%s: the trace is read %.1f times' % (kind.__name__, read))
        for large in large, self.trace(2 * events, '1.26'):
            kib = self.repair(cut(large, None))[0]
            self.check(kib <= MOST_KIB, '%d KiB of memory for %d MB' % (kib, len(large) / 1e6))

    def interrupt(self, events):
        """An interrupt at any time leaves no file."""
        folder, out = self.path('tmp'), self.path('out')
        os.mkdir(folder)
        with open(self.path('bad'), 'wb') as f:
            f.write(cut(self.trace(events), None))
        for delay in (0.02, 0.1, 0.3):
            child = subprocess.Popen([damage.GOTRACE, 'repair', '-q', '-o', out, self.path('bad')],
                                     env=dict(os.environ, TMPDIR=folder), stderr=subprocess.DEVNULL)
            time.sleep(delay)
            child.send_signal(signal.SIGINT)
            child.wait()
            self.check(not os.listdir(folder) and
                       (child.returncode == 1) == os.path.exists(out),
                       'interrupted after %.2f s: status %d' % (delay, child.returncode))
            if os.path.exists(out):
                os.unlink(out)


    def refuse(self):
        """Without temporary files, or above their limit, repair says so. Needs the trace of interrupt."""
        for options, folder, text in ((['--max-input', '1M'], self.work, b'[system.limit]'),
                                      ([], '/nonexistent', b'[system.write]')):
            r = subprocess.run([damage.GOTRACE, 'repair', '-q', *options, '-o', self.path('out'),
                                self.path('bad')], env=dict(os.environ, TMPDIR=folder),
                               stderr=subprocess.PIPE)
            self.check(r.returncode == 3 and text in r.stderr and not os.path.exists(self.path('out')),
                       'refused with status %d: %s' % (r.returncode, r.stderr.decode()[:200]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('-n', type=int, default=1500000)
    parser.add_argument('-v', '--verbose', action='store_true')
    parser.add_argument('--check', action='store_true')
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        tests = Tests(work, args.verbose or not args.check)
        tests.measure(args.n)
        tests.interrupt(args.n)
        tests.refuse()
    if args.check:
        print('%d passed, %d failed, 0 skipped' % (tests.passed, tests.failed))
    return 1 if tests.failed else 0


if __name__ == '__main__':
    sys.exit(main())
