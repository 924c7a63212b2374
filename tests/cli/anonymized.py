"""Compares traces with what gotrace anonymize makes of them, record by record.

    anonymized.py GOTRACE KEY TRACE...

Prints what differs: anything but names and PCs; a name with two pseudonyms, or the reverse; a replaced name
whose bytes are in the output.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

# Names of the programs that recorded the traces.
OWN = re.compile(r'main\.(?!main$|init)|\./|recorder/')


def run(*args):
    done = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return done.returncode, done.stdout, done.stderr


def records(gotrace, path):
    """The records, without the sizes of batches, or None where a record cannot be read."""
    status, text, _ = run(gotrace, 'dump', '--format', 'json', path)
    if status != 0:
        return None
    trace = json.loads(text)
    for r in trace['records']:
        if r['event'] == 'EventBatch':
            r.pop('size', None)
        if 'data_hex' in r:
            r['data'] = bytes.fromhex(r.pop('data_hex')).decode(errors='surrogateescape')
        if r['event'] == 'GoCreate' and trace['trace'] == 'go 1.5':
            r['pc'] = r.pop('stack')
    return trace['records']


class Comparison:
    def __init__(self):
        self.made, self.names, self.pcs = {}, {}, {}

    def name(self, before, after, where):
        if self.made.setdefault(before, after) != after:
            print(f'{where}: {before!r} became {after!r} and {self.made[before]!r}')
        if self.names.setdefault(after, before) != before:
            print(f'{where}: {after!r} stands for {before!r} and {self.names[after]!r}')

    def pc(self, before, after, where):
        if (before == 0) != (after == 0) or (before and before == after):
            print(f'{where}: PC {before} became {after}')
        if self.pcs.setdefault(before, after) != after:
            print(f'{where}: PC {before} became {after} and {self.pcs[before]}')

    def record(self, before, after, where):
        event = before['event']
        if event == 'Stack' and 'frames' in before:
            for x, y in zip(before['frames'], after['frames']):
                x, y = (x, y) if isinstance(x, list) else ([x], [y])
                self.pc(int(x[0]), int(y[0]), where)
                x[0] = y[0] = 0
        if 'data' in before and event in ('String', 'UserLog'):
            self.name(json.dumps(before['data']), json.dumps(after['data']), where)
            before['data'] = after['data'] = ''
        if event == 'GoCreate' and 'pc' in before:
            self.pc(int(before['pc']), int(after['pc']), where)
            before['pc'] = after['pc']
        if before != after:
            print(f'{where}: {before} became {after}')


def texts(found):
    for r in found:
        if r['event'] in ('String', 'UserLog') and isinstance(r.get('data'), str):
            yield r['data']


def search(before, after, path, where):
    """Names of which something remains in the file."""
    with open(path, 'rb') as file:
        content = file.read()
    now = set(texts(after))
    for name in set(texts(before)) - now:
        seen = name.encode(errors='surrogateescape')
        if len(seen) >= 6 and seen in content and not any(name in kept for kept in now):
            print(f'{where}: {name!r} remains')


def verdict(gotrace, path):
    status, text, _ = run(gotrace, 'validate', path)
    return status, text.decode().split(': ', 1)[-1]


def main():
    gotrace, key, *paths = sys.argv[1:]
    common = Comparison()
    kept = set()
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, 'out.trace')
        for path in paths:
            where = os.path.basename(path)
            before = records(gotrace, path)
            status, _, error = run(gotrace, 'anonymize', '--key', key, '-o', out, path)
            if before is None:
                continue
            after = records(gotrace, out)
            if status != 0 or after is None or len(before) != len(after):
                print(f'{where}: {status} {error.decode()}')
                continue
            if verdict(gotrace, path) != verdict(gotrace, out):
                print(f'{where}: {verdict(gotrace, path)} became {verdict(gotrace, out)}')
            kept |= set(texts(before)) & set(texts(after))
            search(before, after, out, where)
            common.pcs = {}
            for n, (x, y) in enumerate(zip(before, after)):
                common.record(x, y, f'{where}, record {n}')
            if len(set(common.pcs.values())) != len(common.pcs):
                print(f'{where}: different PCs became one')
    for name in filter(OWN.match, sorted(kept)):
        print(f'{name!r} was kept')


main()
