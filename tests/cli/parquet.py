"""Reads Parquet files, and compares the tables of traces with what print and stat write.

    parquet.py check GOTRACE TRACE...     prints what differs
    parquet.py rows FILE [COLUMN...]      prints the rows as JSON Lines
    parquet.py footer FILE                prints the columns, and what the row groups have

An independent reader of the subset that gotrace writes: columns of INT64 and BYTE_ARRAY, required or
optional, in pages of the first version, compressed with zstd; it follows the specification of apache/parquet-format.
"""
import ctypes
import json
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ZSTD = ctypes.CDLL('libzstd.so.1')
ZSTD.ZSTD_decompress.restype = ctypes.c_size_t
ZSTD.ZSTD_decompress.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
PLAIN, RLE, DELTA, DICTIONARY = 0, 3, 5, 8
INT64, BYTES, ZSTD_CODEC = 2, 6, 6


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def signed(data, at):
    value, at = varint(data, at)
    return (value >> 1) ^ -(value & 1), at


class Thrift:
    """A struct in the compact protocol, as a dictionary by the ids of the fields."""

    def __init__(self, data, at):
        self.data, self.at = data, at

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def value(self, kind):
        if kind == 3:
            return struct.unpack('b', bytes([self.byte()]))[0]
        if kind in (4, 5, 6):
            value, self.at = signed(self.data, self.at)
            return value
        if kind == 8:
            size, at = varint(self.data, self.at)
            self.at = at + size
            assert self.at <= len(self.data)
            return self.data[at:self.at]
        if kind == 9:
            head = self.byte()
            size = head >> 4
            if size == 15:
                size, self.at = varint(self.data, self.at)
            return [self.value(head & 15) for _ in range(size)]
        if kind == 12:
            return self.struct()
        raise ValueError(f'type {kind}')

    def struct(self):
        fields, last = {}, 0
        while True:
            head = self.byte()
            if head == 0:
                return fields
            if head >> 4:
                last += head >> 4
            else:
                last, self.at = signed(self.data, self.at)
            kind = head & 15
            assert last not in fields
            fields[last] = kind == 1 if kind in (1, 2) else self.value(kind)


def hybrid(data, at, width, count):
    """Runs of equal numbers, and packed ones."""
    values, size = [], (width + 7) // 8
    while len(values) < count:
        head, at = varint(data, at)
        if head & 1:
            total = (head >> 1) * width
            packed = int.from_bytes(data[at:at + total], 'little')
            assert at + total <= len(data)
            at += total
            for i in range((head >> 1) * 8):
                values.append(packed >> (i * width) & ((1 << width) - 1))
                if len(values) == count:
                    break
        else:
            values += [int.from_bytes(data[at:at + size], 'little')] * (head >> 1)
            at += size
    assert len(values) == count
    return values, at


def delta(data, at):
    block, at = varint(data, at)
    miniblocks, at = varint(data, at)
    count, at = varint(data, at)
    value, at = signed(data, at)
    values, size = [value] if count else [], block // miniblocks
    assert block % 128 == 0 and size % 32 == 0
    while len(values) < count:
        least, at = signed(data, at)
        widths = data[at:at + miniblocks]
        at += miniblocks
        for width in widths:
            if len(values) == count:
                break
            packed = int.from_bytes(data[at:at + size * width // 8], 'little')
            at += size * width // 8
            for i in range(size):
                if len(values) == count:
                    break
                value = (value + least + (packed >> (i * width) & ((1 << width) - 1))) & (2**64 - 1)
                value -= 2**64 if value >> 63 else 0
                values.append(value)
    assert at == len(data), 'bytes after the values'
    return values


class File:
    def __init__(self, path):
        self.data = Path(path).read_bytes()
        assert self.data[:4] == self.data[-4:] == b'PAR1'
        size = struct.unpack('<I', self.data[-8:-4])[0]
        reader = Thrift(self.data[:-8], len(self.data) - 8 - size)
        self.footer = reader.struct()
        assert reader.at == len(self.data) - 8
        self.columns = [(c[4].decode(), c[1], c[3] == 1, c.get(6)) for c in self.footer[2][1:]]
        assert self.footer[2][0][5] == len(self.columns)
        self.metadata = {p[1].decode(): p[2].decode() for p in self.footer.get(5, [])}
        self.groups = self.footer[4]
        assert sum(g[3] for g in self.groups) == self.footer[3]
        self.at = 4

    def page(self, at):
        reader = Thrift(self.data, at)
        head = reader.struct()
        packed = self.data[reader.at:reader.at + head[3]]
        plain = ctypes.create_string_buffer(head[2] + 1)
        assert ZSTD.ZSTD_decompress(plain, head[2] + 1, packed, len(packed)) == head[2]
        return head, plain.raw[:head[2]], reader.at + head[3]

    def plain(self, data, at, kind, unsigned):
        values = []
        if kind == INT64:
            return list(struct.unpack('<%d%s' % ((len(data) - at) // 8, 'Q' if unsigned else 'q'), data[at:]))
        while at < len(data):
            size = struct.unpack('<I', data[at:at + 4])[0]
            values.append(data[at + 4:at + 4 + size].decode())
            at += 4 + size
        return values

    def chunk(self, group, index):
        name, kind, optional, converted = self.columns[index]
        unsigned = converted == 14
        assert kind == INT64 or converted == 0
        meta = group[1][index][3]
        assert meta[1] == kind and meta[3] == [name.encode()] and meta[4] == ZSTD_CODEC
        start, dictionary = meta.get(11, meta[9]), None
        assert start == self.at, 'the chunks are one after another'
        plain_size = 0
        if 11 in meta:
            head, data, end = self.page(meta[11])
            assert head[1] == 2 and head[7][2] == PLAIN and end == meta[9]
            dictionary = self.plain(data, 0, kind, unsigned)
            assert len(dictionary) == head[7][1] == len(set(dictionary))
            plain_size += len(data) + end - start - head[3]
        head, data, self.at = self.page(meta[9])
        plain_size += len(data) + self.at - meta[9] - head[3]
        assert (self.at - start, plain_size) == (meta[7], meta[6])
        assert head[1] == 0 and head[5][1] == meta[5] == group[3]
        at, present = 0, [1] * group[3]
        if optional:
            size = struct.unpack('<I', data[:4])[0]
            present, end = hybrid(data[:4 + size], 4, 1, group[3])
            assert end == 4 + size
            at = end
        count, encoding = sum(present), head[5][2]
        assert encoding in meta[2] and head[5][3] == RLE
        if encoding == DICTIONARY:
            numbers, end = hybrid(data, at + 1, data[at], count) if count else ([], len(data))
            assert end == len(data)
            values = [dictionary[n] for n in numbers]
        elif encoding == DELTA:
            values = delta(data, 0) if at == 0 else delta(data[at:], 0)
            values = [v & (2**64 - 1) for v in values] if unsigned else values
        else:
            assert encoding == PLAIN
            values = self.plain(data, at, kind, unsigned)
        assert len(values) == count
        self.bounds(meta.get(12), values, group[3] - count, kind, unsigned)
        values = iter(values)
        return [next(values) if p else None for p in present]

    @staticmethod
    def bounds(stats, values, nulls, kind, unsigned):
        assert stats[3] == nulls
        keys = [v.encode() for v in values] if kind == BYTES else values
        if not keys:
            assert 5 not in stats and 6 not in stats
        elif kind == BYTES and 5 not in stats:
            assert max(len(min(keys)), len(max(keys))) > 256
        else:
            high, low = stats[5], stats[6]
            if kind == INT64:
                form = '<Q' if unsigned else '<q'
                high, low = struct.unpack(form, high)[0], struct.unpack(form, low)[0]
            assert (low, high) == (min(keys), max(keys))

    def read(self):
        """All columns; checks everything that the footer says."""
        columns = {c[0]: [] for c in self.columns}
        self.at = 4
        for group in self.groups:
            assert len(group[1]) == len(self.columns)
            for i, c in enumerate(self.columns):
                columns[c[0]] += self.chunk(group, i)
        return columns

    def rows(self):
        columns = self.read()
        return [dict(zip(columns, row)) for row in zip(*columns.values())]


# ---- comparison -----------------------------------------------------------------------------------


def lines(*args):
    done = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return [json.loads(line) for line in done.stdout.splitlines()]


def number(value, none=None):
    """JSON has ids that do not fit into a double as strings; tables have them as signed numbers."""
    if value is None:
        return none
    value = int(value)
    return value - 2**64 if value >= 2**63 else value


def order(value):
    """The place of a number in a sorted row group: null is first."""
    return (value is not None, value or 0)


def in_groups(rows, text, time):
    """Rows in the order of row groups: equal texts together, as they first occur, then by a time."""
    places = {None: -1}
    rows = [(places.setdefault(text(r), len(places)), order(time(r)), r) for r in rows]
    groups = [rows[i:i + 65536] for i in range(0, len(rows), 65536)]
    return [r for group in groups for _, _, r in sorted(group, key=lambda r: r[:2])]


class Trace:
    def __init__(self, gotrace, path, folder):
        self.path, self.wrong = path, 0
        self.tables = {p.stem: File(p) for p in Path(folder).glob('*.parquet')}
        self.rows = {name: f.rows() for name, f in self.tables.items()}
        self.events = [e for e in lines(gotrace, 'print', '--format', 'jsonl', path) if 'time' in e]
        self.stat = [s for s in lines(gotrace, 'stat', '--json', '--each', '--top', '0', path) if 'kind' in s]
        self.version = self.rows['trace'][0]['version']
        self.frames = {f['frame_id']: f for f in self.rows['frames']}
        self.stacks = {}
        for row in self.rows['stacks']:
            stack = self.stacks.setdefault(row['stack_id'], [])
            if row['position'] != len(stack):
                self.differ('stacks', row, 'position')
            stack.append(self.frames[row['frame_id']])

    def differ(self, table, got, wanted):
        self.wrong += 1
        if self.wrong < 6:
            print(f'{Path(self.path).name}: {table}: {got}, not {wanted}')

    def compare(self, table, got, wanted):
        if len(got) != len(wanted):
            self.differ(table, f'{len(got)} rows', len(wanted))
        for a, b in zip(got, wanted):
            if a != b:
                self.differ(table, a, b)

    def leaf(self, stack):
        return (self.stacks[stack][0]['function'] or '') if stack is not None else ''

    def at_event(self, table, kind, more):
        """A table with a row for each event of that kind."""
        rows, events = self.rows[table], [e for e in self.events if e['kind'] == kind]
        got, wanted = [], []
        for row, e in zip(rows, events):
            got.append((row['time_ns'], row['g'], row['m'], row['p'], self.leaf(row['stack_id'])) +
                       tuple(row[m] for m in more))
            wanted.append((e['time'], number(e.get('g')), number(e.get('thread')),
                           number(e.get('proc')), e.get('func', '')) +
                          tuple(e.get(name, '') if kind == 'log' and name != 'task' else
                                number(e.get(name)) if name in ('task',) else
                                int(e[name]) if name == 'value' else e.get(name) for name in more.values()))
        if len(rows) != len(events):
            self.differ(table, f'{len(rows)} rows', len(events))
        self.compare(table, got, wanted)

    def by_time(self, table, column):
        """The rows of row groups that are sorted by a column; rows of one time by that column too."""
        rows = self.rows[table]
        groups = [rows[i:i + 65536] for i in range(0, len(rows), 65536)]
        for group in groups:
            keys = [(order(r[column]), r['end_time_ns']) for r in group]
            if keys != sorted(keys):
                self.differ(table, 'a row group', f'sorted by {column} and time')
        for group, after in zip(groups, groups[1:]):
            if max(r['end_time_ns'] for r in group) > min(r['end_time_ns'] for r in after):
                self.differ(table, 'row groups', 'sorted by time')
        # What goroutines do at the end of the trace is after its last event.
        return sorted(rows, key=lambda r: (r['end_time_ns'], r['to_state'] is None, order(r[column])))

    def transitions(self):
        rows = self.by_time('g_transitions', 'src_p')
        live, last = {}, 0
        durations = {}
        syscalls = sum(e['kind'] == 'syscall' for e in self.events)
        events = [e for e in self.events if e['kind'] == 'transition' and e['resource'] == 'goroutine' and
                  e['from'] != e['to'] and int(e['subject'])]
        if self.version >= 22:
            got, wanted, timed = [], [], []
            for e in events:
                last = max(e['time'], last)
                timed.append((last, order(number(e.get('proc'))), e))
            timed.sort(key=lambda t: t[:2])
            for row, (time, _, e) in zip((r for r in rows if r['to_state']), timed):
                src = e.get('func', '')
                got.append((row['g'], row['to_state'], row['end_time_ns'], row['reason'], row['src_g'],
                            row['src_m'], row['src_p']))
                wanted.append((number(e['subject']), e['to'], time, e.get('reason') or None,
                               number(e.get('g')), number(e.get('thread')), number(e.get('proc'))))
                # A call from C may use the goroutine of an earlier one.
                if e['from'] not in ('undetermined', row['from_state']) and row['from_state'] != 'not-exist':
                    self.differ('g_transitions', row, e['from'])
                stack = row['src_stack_id'] if row['src_stack_id'] is not None else row['stack_id']
                if row['from_state'] != 'not-exist' and self.leaf(stack) != src:
                    self.differ('g_transitions', self.leaf(stack), src)
            self.compare('g_transitions', got, wanted)
        # Each row continues the one before of its goroutine.
        for row in rows:
            before = live.get(row['g'])
            if before and row['from_state'] != 'not-exist':
                if row['from_state'] != before['to_state'] or \
                        row['end_time_ns'] - row['duration_ns'] != before['end_time_ns'] or \
                        row['from_reason'] != before['reason']:
                    self.differ('g_transitions', row, before)
            live[row['g']] = row if row['to_state'] not in (None, 'not-exist') else None
            key = (row['from_state'], row['from_reason'])
            durations[key] = durations.get(key, 0) + row['duration_ns']
        self.sums(durations)
        return syscalls

    def sums(self, durations):
        """By state: the sums that stat has of goroutines."""
        wanted = {}
        for g in self.stat:
            if g['kind'] != 'goroutine':
                continue
            for state, name in (('running', 'exec_ns'), ('runnable', 'sched_wait_ns')):
                wanted[state] = wanted.get(state, 0) + g[name]
            wanted['syscall'] = wanted.get('syscall', 0) + g['syscall_ns'] + g['syscall_block_ns']
            for reason, ns in g['block_ns'].items():
                wanted['waiting', reason] = wanted.get(('waiting', reason), 0) + ns
        got = {}
        for (state, reason), ns in durations.items():
            key = ('waiting', reason or '') if state == 'waiting' else state
            got[key] = got.get(key, 0) + ns
        for key in set(got) | set(wanted):
            if got.get(key, 0) != wanted.get(key, 0):
                self.differ('g_transitions', f'{key}: {got.get(key)}', wanted.get(key))

    def each(self):
        """goroutines, tasks and regions: the rows of stat --each, whose times are absolute in v2."""
        first = next((e for e in self.events if e['kind'] != 'sync'), None)
        base = int(first['ticks']) - first['time'] if first and self.version >= 22 else 0

        def time(value):
            return None if value is None else value - base
        times = ('total_ns', 'exec_ns', 'sched_wait_ns', 'syscall_ns', 'syscall_block_ns', 'unknown_ns')
        sums = {'block_ns': 'block_ns', 'range_ns': 'range_ns'}

        def both(row, s, names):
            got = [row[n] for n in times] + [row[n] for n in sums]
            wanted = [s[n] for n in times] + [sum(s[n].values()) for n in sums.values()]
            for mine, theirs in names:
                got.append(row[mine])
                wanted.append(theirs(s))
            return got, wanted
        for table, names in (
                ('goroutines', (('g', lambda s: number(s['id'])), ('function', lambda s: s['name'] or None), ('label', lambda s: s.get('label')),
                                ('created_ns', lambda s: time(s['created'])),
                                ('started_ns', lambda s: time(s['started'])),
                                ('ended_ns', lambda s: time(s['ended'])))),
                ('regions', (('name', lambda s: s['name']), ('g', lambda s: number(s['goroutine'])),
                             ('task', lambda s: number(s['task']) or None),
                             ('start_time_ns', lambda s: time(s['begin'])),
                             ('end_time_ns', lambda s: time(s['end']))))):
            wanted = [s for s in self.stat if s['kind'] == table[:-1] and (table != 'regions' or s['name'])]
            wanted = in_groups(wanted, lambda s: s['name'] or None,
                               lambda s: time(s['created' if table == 'goroutines' else 'begin']))
            rows = [r for r in self.rows[table] if table != 'regions' or r['name']]
            pairs = [both(r, s, names) for r, s in zip(rows, wanted)]
            if len(rows) != len(wanted):
                self.differ(table, f'{len(rows)} rows', len(wanted))
            self.compare(table, [p[0] for p in pairs], [p[1] for p in pairs])
        tasks = [(number(s['id']), number(s.get('parent')), s['name'], time(s['begin']), time(s['end']),
                  s['logs'], s['regions']) for s in in_groups(
                      (s for s in self.stat if s['kind'] == 'task'), lambda s: None, lambda s: time(s['begin']))]
        self.compare('tasks', [(r['task'], r['parent'], r['name'], r['start_time_ns'], r['end_time_ns'],
                                r['logs'], r['regions']) for r in self.rows['tasks']], tasks)
        for table in ('tasks', 'regions', 'ranges'):
            for r in self.rows[table]:
                known = r['start_time_ns'] is not None and r['end_time_ns'] is not None
                if r['duration_ns'] != (r['end_time_ns'] - r['start_time_ns'] if known else None):
                    self.differ(table, r, 'the duration')

    def ranges(self):
        ends = [e for e in self.events if e['kind'] == 'range-end']
        rows = [r for r in self.rows['ranges'] if r['end_time_ns'] is not None]
        self.compare('ranges', [(r['name'], r['end_time_ns'],) for r in rows],
                     [(e['range'], e['time']) for r, e in zip(rows, ends)])
        begins = [e for e in self.events if e['kind'] == 'range-begin']
        starts = [r for r in self.rows['ranges'] if r['start_time_ns'] is not None]
        if len(rows) != len(ends) or len(starts) > len(begins):
            self.differ('ranges', (len(rows), len(starts)), (len(ends), len(begins)))

    def procs(self):
        events = [e for e in self.events if e['kind'] == 'transition' and e['resource'] == 'proc' and
                  e['from'] != e['to']]
        rows = [r for r in self.rows['p_transitions'] if r['to_state'] is not None]
        self.compare('p_transitions',
                     [(r['p'], r['from_state'], r['to_state'], r['end_time_ns'], r['src_g'], r['src_m'],
                       r['src_p'])
                      for r in rows],
                     [(number(e['subject']), e['from'], e['to'], e['time'], number(e.get('g')),
                       number(e.get('thread')), number(e.get('proc'))) for _, e in zip(rows, events)])
        if len(rows) != len(events):
            self.differ('p_transitions', len(rows), len(events))

    def check(self):
        name = Path(self.path).name
        for table, rows in self.rows.items():
            if any(r['trace'] != name for r in rows):
                self.differ(table, 'trace', name)
        self.transitions()
        self.procs()
        self.each()
        self.ranges()
        self.at_event('logs', 'log', {'task': 'task', 'category': 'text', 'message': 'message'})
        self.at_event('samples', 'sample', {})
        self.at_event('metrics', 'metric', {'name': 'metric', 'value': 'value'})
        row, = self.rows['trace']
        for table in ('tasks', 'regions', 'logs', 'samples', 'goroutines'):
            if row[table] != len(self.rows[table]):
                self.differ('trace', row, table)
        start = {f.metadata.get('gotrace.start_unix_ns') for f in self.tables.values()}
        if start != {None if row['start_unix_ns'] is None else str(row['start_unix_ns'])}:
            self.differ('trace', start, row['start_unix_ns'])
        return {t: len(r) for t, r in self.rows.items()}


def check(gotrace, paths):
    schemas, counts = {}, {}
    for path in paths:
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([gotrace, 'convert', '-q', '--to', 'parquet', '-o', folder, path],
                           stderr=subprocess.DEVNULL, check=False)
            trace = Trace(gotrace, path, folder)
        for table, rows in trace.check().items():
            counts[table] = counts.get(table, 0) + rows
        for name, f in trace.tables.items():
            if schemas.setdefault(name, f.columns) != f.columns:
                print(f'{path}: {name} has other columns')
    empty = [t for t, rows in counts.items() if rows == 0]
    print(f'{len(schemas)} tables' + (f', without a row: {empty}' if empty else ''))


def main():
    what, args = sys.argv[1], sys.argv[2:]
    if what == 'check':
        check(args[0], args[1:])
    elif what == 'rows':
        for row in File(args[0]).rows():
            print(json.dumps({c: row[c] for c in args[1:] or row}, ensure_ascii=False))
    else:
        f = File(args[0])
        for column in f.columns:
            print(*column)
        print([g[3] for g in f.groups], f.metadata, f.footer[6].decode())


if __name__ == '__main__':
    main()
