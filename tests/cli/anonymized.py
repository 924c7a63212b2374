"""Compares traces with what gotrace anonymize makes of them, record by record.

    anonymized.py GOTRACE KEY TRACE...

Prints what differs: anything but names and PCs; a name with two pseudonyms, or the reverse; statistics; a
replaced name, or a word of one, whose bytes are in the output.
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


def types_of(r):
    """The types in the data of allocations, Go's own experiment: four numbers and the name of each."""
    data, at, found = data_of(r), 1, []
    if r['event'] != 'ExperimentalBatch' or int(r['exp']) != 1 or data[:1] != b'\0':
        return []

    def number():
        nonlocal at
        value = shift = 0
        while True:
            value |= (data[at] & 0x7f) << shift
            at, shift = at + 1, shift + 7
            if data[at - 1] < 0x80:
                return value
    while at < len(data):
        numbers, size = [number() for _ in range(4)], number()
        found.append((numbers, data[at:at + size].decode(errors='surrogateescape')))
        at += size
    return found


def data_of(r):
    return r.get('data', '').encode(errors='surrogateescape')


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

    def experiment(self, before, after, where):
        old, new = types_of(before), types_of(after)
        if int(before['exp']) != 1:
            if data_of(after) != bytes(len(data_of(before))):
                print(f'{where}: the data of an experiment became {data_of(after)}')
        elif len(old) != len(new) or (not old and data_of(before) != data_of(after)):
            print(f'{where}: {before} became {after}')
        for (numbers, name), (now, made) in zip(old, new):
            self.pc(numbers[1], now[1], where)
            self.name('type ' + name, 'type ' + made, where)
            if name == made or [numbers[0], *numbers[2:]] != [now[0], *now[2:]]:
                print(f'{where}: type {name} {numbers} became {made} {now}')

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
        if event == 'ExperimentalBatch':
            self.experiment(before, after, where)
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
        for _, name in types_of(r):
            yield name


def search(before, after, path, where):
    """Names of which something remains in the file, that is not in a name that stays."""
    with open(path, 'rb') as file:
        content = file.read()
    now = set(texts(after))
    words = set()
    for name in set(texts(before)) - now:
        words |= {name} | set(re.findall(r'\w{6,}', name))
    for word in words:
        seen = word.encode(errors='surrogateescape')
        if len(seen) >= 6 and seen in content and not any(word in kept for kept in now):
            print(f'{where}: {word!r} remains')


def named(value, names):
    """The value with the names of pseudonyms."""
    if isinstance(value, list):
        return [named(item, names) for item in value]
    if isinstance(value, dict):
        return {key: named(item, names) for key, item in value.items()}
    return names.get(value, value) if isinstance(value, str) else value


def statistics(gotrace, path, names):
    """The lines of stat, without the problems of the trace, whose offsets may differ."""
    _, text, _ = run(gotrace, 'stat', '--json', '--each', path)
    lines = [named(json.loads(line), names) for line in text.decode(errors='replace').splitlines()]
    return sorted(json.dumps(line, sort_keys=True) for line in lines if 'type' not in line)


def compare_statistics(gotrace, path, out, names, where):
    before, after = statistics(gotrace, path, {}), statistics(gotrace, out, names)
    for line in sorted(set(before) ^ set(after)):
        print(f'{where}: stat: {line}')
    if len(before) != len(after):
        print(f'{where}: stat: {len(before)} lines became {len(after)}')


def verdict(gotrace, path):
    status, text, _ = run(gotrace, 'validate', path)
    return status, text.decode().split(': ', 1)[-1]


def main():
    gotrace, key, *paths = sys.argv[1:]
    common = Comparison()
    kept = set()
    with tempfile.TemporaryDirectory() as folder:
        out, names = os.path.join(folder, 'out.trace'), os.path.join(folder, 'names.json')
        for path in paths:
            where = os.path.basename(path)
            before = records(gotrace, path)
            status, _, error = run(gotrace, 'anonymize', '--key', key, '--map', names, '-o', out, path)
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
            with open(names, encoding='utf-8') as file:
                compare_statistics(gotrace, path, out, {**json.load(file), out: path}, where)
            common.pcs = {}
            for n, (x, y) in enumerate(zip(before, after)):
                common.record(x, y, f'{where}, record {n}')
            if len(set(common.pcs.values())) != len(common.pcs):
                print(f'{where}: different PCs became one')
    for name in filter(OWN.match, sorted(kept)):
        print(f'{name!r} was kept')


main()
