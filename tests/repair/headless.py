#!/usr/bin/env python3
"""How often is a file mistaken for a trace without a header, and how often is such a trace recognised?

    tests/repair/headless.py [-n FILES] [-k KIND] [-s SEED] [--most BYTES] [-v] [--keep DIR] [FILE ...]

Makes FILES files of each kind below, from 100 bytes to --most, chosen by the seed, that are not
traces: `gotrace validate` must call each of them "not a trace", and `gotrace repair` must write
nothing. Then it removes the header of each trace FILE (default: all in testdata/traces), damages the
rest, and counts how many of these both accept as a trace. A table has a row for each kind; with --check a row is a test, and the last line adds them up.

The files that are not traces have no magic number that the program recognises, except if the kind says
so: this measures the criterion of cmd/repair/headless.c, not the table of lib/core/foreign.c.
"""
import argparse, base64, bz2, gzip, json, lzma, math, os, random, struct, subprocess, sys, tempfile
import zlib

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GOTRACE = os.environ.get('GOTRACE', os.path.join(ROOT, 'build/gotrace'))
TRACES = os.path.join(ROOT, 'testdata/traces')
HEADER = 16


# ---- files that are not traces --------------------------------------------------------------------

class Maker:
    """Parameters of a file: its size, random numbers, and the available traces."""
    def __init__(self, rng, size, traces):
        self.rng, self.size, self.traces = rng, size, traces

    def trace(self):
        """Bytes of traces without their headers, concatenated, up to the size."""
        b = b''
        while len(b) < self.size:
            b += self.rng.choice(self.traces)[HEADER:]
        return b[:self.size]

    def words(self):
        letters = 'etaoinshrdlucmfwypvbgkjqxz'
        lexicon = [''.join(self.rng.choices(letters, range(26, 0, -1), k=self.rng.randint(1, 11)))
                   for _ in range(500)]
        text = []
        n = 0
        while n < self.size:
            word = self.rng.choice(lexicon)
            if self.rng.random() < 0.1:
                word = word.capitalize()
            word += self.rng.choices([' ', ', ', '. ', '\n'], [85, 7, 5, 3])[0]
            text.append(word)
            n += len(word)
        return ''.join(text).encode()[:self.size]

    def compressible(self):
        return self.words() + self.trace()


def noise(m):
    return m.rng.randbytes(m.size)


def compressed(pack, skip):
    """A compressed file's bytes after its magic number: their content may be large."""
    def make(m):
        m.size *= 3
        return pack(m.compressible())[skip:]
    return make


def zstd(b):
    return subprocess.run(['zstd', '-qc'], input=b, capture_output=True, check=True).stdout


def text(m):
    return m.words()


def capitals(m):
    """Text with many of the letters with which v1's records and batches begin."""
    return bytes(m.rng.choices(b'ABCDEFGHIJKLMNOP 0123456789', k=m.size))


def csv(m):
    rows = ['A%d,%d,%.3f,%s' % (i, m.rng.randrange(1000), m.rng.random(), m.rng.choice('ABC'))
            for i in range(m.size // 12)]
    return '\n'.join(rows).encode()[:m.size]


def hexadecimal(m):
    return m.rng.randbytes(m.size // 2).hex().upper().encode()


def base_64(m):
    return base64.encodebytes(m.rng.randbytes(m.size * 3 // 4))


def program(m):
    """A piece of an executable file."""
    path = m.rng.choice([sys.executable, GOTRACE, '/bin/bash', '/bin/sh'])
    with open(path, 'rb') as f:
        b = f.read()
    at = m.rng.randrange(max(1, len(b) - m.size))
    return b[at:at + m.size]


def repeated(m):
    """A short pattern, repeated."""
    pattern = m.rng.randbytes(m.rng.randint(1, 40))
    return (pattern * (m.size // len(pattern) + 1))[:m.size]


def repeated_record(m):
    """A piece of a trace, possibly a batch, repeated."""
    b = m.trace()
    at = m.rng.choice([0, m.rng.randrange(len(b))])
    pattern = b[at:at + m.rng.randint(1, 60)]
    return (pattern * (m.size // len(pattern) + 1))[:m.size]


def xor_key(m):
    """A trace with each byte changed by the same key."""
    key = m.rng.randrange(1, 256)
    return bytes(c ^ key for c in m.trace())


def xor_stream(m):
    """A trace encrypted with a key of a few bytes, or with one that does not repeat."""
    b = m.trace()
    key = m.rng.randbytes(m.rng.choice([4, 16, len(b)]))
    return bytes(c ^ key[i % len(key)] for i, c in enumerate(b))


def backwards(m):
    return m.trace()[::-1]


def shuffled(m):
    b = list(m.trace())
    m.rng.shuffle(b)
    return bytes(b)


def utf_16(m):
    return m.trace().hex().encode('utf-16-le')[:m.size]


def integers(m):
    """Numbers of a table, increasing or random."""
    form = m.rng.choice(['<I', '<Q', '>I', '>H'])
    step, n, out = m.rng.randint(1, 300), 0, []
    for _ in range(m.size // struct.calcsize(form) + 1):
        n += m.rng.randint(0, step)
        out.append(struct.pack(form, n % 65536))
    return b''.join(out)[:m.size]


def varints(m):
    """Small numbers as encoded by protobuf, traces and gob."""
    b = bytearray()
    while len(b) < m.size:
        v = int(m.rng.expovariate(1 / 40.0)) if m.rng.random() < 0.9 else m.rng.getrandbits(40)
        while v >= 128:
            b.append(v & 127 | 128)
            v >>= 7
        b.append(v)
    return bytes(b)


def sound(m):
    """A wave, 16 bits a sample."""
    f = m.rng.uniform(0.001, 0.5)
    return b''.join(struct.pack('<h', int(9000 * math.sin(i * f) + m.rng.randint(-20, 20)))
                    for i in range(m.size // 2 + 1))


def sparse(m):
    """Zeroes with a few other bytes."""
    b = bytearray(m.size)
    for _ in range(m.size // 20):
        b[m.rng.randrange(m.size)] = m.rng.randrange(256)
    return bytes(b)


def long_string(m):
    """Noise that resembles a batch with an event and a string of the maximum length."""
    size = min(m.size, 900000)
    b = bytearray(b'\x41\x01\x05\x52\x01\x01\x25\x01')
    v = size
    while v >= 128:
        b.append(v & 127 | 128)
        v >>= 7
    b.append(v)
    return bytes(b) + m.rng.randbytes(size)


FALSE = {
    'noise': noise, 'gzip': compressed(gzip.compress, 10), 'zlib': compressed(zlib.compress, 0),
    'xz': compressed(lzma.compress, 12), 'bzip2': compressed(bz2.compress, 10),
    'zstd': compressed(zstd, 4), 'text': text, 'capitals': capitals, 'csv': csv,
    'hexadecimal': hexadecimal, 'base64': base_64, 'program': program, 'repeated': repeated,
    'repeated record': repeated_record, 'xor key': xor_key, 'xor stream': xor_stream,
    'backwards': backwards, 'shuffled': shuffled, 'utf-16': utf_16, 'integers': integers,
    'varints': varints, 'sound': sound, 'sparse': sparse, 'long string': long_string,
}


# ---- traces without their header ------------------------------------------------------------------

def whole(b, rng):
    return b


def end_lost(b, rng):
    return b[:rng.randrange(len(b) // 2, len(b))]


def start_lost(b, rng):
    """The beginning is lost, up to a quarter of it."""
    return b[rng.randrange(len(b) // 4):]


def zeroes(b, rng):
    n = rng.randrange(1, len(b) // 4)
    at = rng.randrange(len(b) - n)
    return b[:at] + bytes(n) + b[at + n:]


def flip(b, rng):
    """A few bytes are changed."""
    b = bytearray(b)
    for _ in range(rng.randint(1, 3)):
        b[rng.randrange(len(b))] ^= 1 << rng.randrange(8)
    return bytes(b)


def overwritten(b, rng):
    n = rng.randrange(1, len(b) // 4)
    at = rng.randrange(len(b) - n)
    return b[:at] + rng.randbytes(n) + b[at + n:]


def header_zeroed(b, rng):
    return bytes(HEADER) + b


def preceded(b, rng):
    """A program printed text first, which replaced the header."""
    return b'starting server on :8080\n' * rng.randint(1, 20) + b


# The least share that is recognised. The traces are small: if the beginning of their only large
# batch is lost, less than half of the bytes is valid.
TRUE = {whole: 1, end_lost: 0.95, start_lost: 0.65, zeroes: 0.9, flip: 0.95, overwritten: 0.85,
        header_zeroed: 1, preceded: 1}


# ---- results --------------------------------------------------------------------------------------

def run(*command):
    r = subprocess.run([GOTRACE] + list(command), capture_output=True)
    if r.returncode not in (0, 1):
        sys.exit('gotrace ends with %d: %s' % (r.returncode, r.stderr.decode()[:500]))
    return r


def validated(paths):
    """path -> whether `validate` accepts it as a trace."""
    found = {}
    for i in range(0, len(paths), 200):
        for line in run('validate', '--json', *paths[i:i + 200]).stdout.splitlines():
            record = json.loads(line)
            if record['type'] == 'trace':
                found[record['file']] = record['verdict'] != 'not a trace'
    return found


def repaired(path):
    """Whether `repair` writes a trace."""
    good = path + '.good'
    run('repair', '-q', '-o', good, path)
    if not os.path.exists(good):
        return False
    os.unlink(good)
    return True


def keep(args, path, name):
    if args.keep:
        os.makedirs(args.keep, exist_ok=True)
        os.rename(path, os.path.join(args.keep, name))


def mistaken(kind, traces, args):
    """The number of files of a kind accepted as traces."""
    rng = random.Random('%s %d' % (kind, args.s))
    paths = []
    for i in range(args.n):
        size = int(100 * (args.most / 100) ** rng.random())
        paths.append(os.path.join(args.work, '%s-%d' % (kind.replace(' ', '-'), i)))
        with open(paths[-1], 'wb') as f:
            f.write(FALSE[kind](Maker(rng, size, traces)))
    wrong = [p for p, taken in validated(paths).items() if taken or repaired(p)]
    for p in wrong:
        if args.verbose:
            print('  %s of %d bytes' % (os.path.basename(p), os.path.getsize(p)))
        keep(args, p, os.path.basename(p))
    for p in paths:
        if os.path.exists(p):
            os.unlink(p)
    return len(wrong)


def recognised(damage, files, traces, args):
    """The number of damaged traces without a header that are recognised."""
    rng = random.Random('%s %d' % (damage.__name__, args.s))
    paths = []
    for name, trace in zip(files, traces):
        paths.append(os.path.join(args.work, '%s-%s' % (damage.__name__, os.path.basename(name))))
        with open(paths[-1], 'wb') as f:
            f.write(damage(trace[HEADER:], rng))
    missed = [p for p, taken in validated(paths).items() if not taken or not repaired(p)]
    for p in missed:
        if args.verbose:
            print('  %s' % os.path.basename(p))
        keep(args, p, os.path.basename(p))
    return len(paths) - len(missed)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('-n', type=int, default=50)
    parser.add_argument('-k', action='append', help='of this kind alone')
    parser.add_argument('-s', type=int, default=1)
    parser.add_argument('--most', type=int, default=2000000)
    parser.add_argument('-v', '--verbose', action='store_true')
    parser.add_argument('--keep')
    parser.add_argument('--check', action='store_true')
    parser.add_argument('files', nargs='*')
    args = parser.parse_args()
    files = args.files or sorted(os.path.join(TRACES, f) for f in os.listdir(TRACES)
                                 if f.endswith('.trace'))
    traces = [open(f, 'rb').read() for f in files]
    passed = failed = wrong = 0
    with tempfile.TemporaryDirectory() as args.work:
        for kind in (k for k in FALSE if not args.k or k in args.k):
            count = mistaken(kind, traces, args)
            wrong += count
            passed, failed = passed + (count == 0), failed + (count != 0)
            if count or not args.check:
                print('%-16s %5d of %5d mistaken for a trace' % (kind, count, args.n), flush=True)
        if not args.check:
            print('%-16s %5d of %5d' % ('all', wrong, args.n * len(args.k or FALSE)))
        for damage in (d for d in TRUE if not args.k or d.__name__ in args.k):
            count = recognised(damage, files, traces, args)
            enough = count >= TRUE[damage] * len(files)
            passed, failed = passed + enough, failed + (not enough)
            if not enough or not args.check:
                print('%-16s %5d of %5d recognised' % (damage.__name__, count, len(files)), flush=True)
    if args.check:
        print('%d passed, %d failed, 0 skipped' % (passed, failed))
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
