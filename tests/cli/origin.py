"""Checks that all times of a trace are counted from its first event, at 0, up to its last one.

    origin.py GOTRACE TRACE...    prints what is outside of that

No row, moment, part or slice begins before 0 or ends after the trace, and nothing takes longer than the trace. In v1 statistics
take the times of Go's reader, which moves events that have equal times by a nanosecond each: there the end is that of `stat`.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import parquet

sys.path.append(str(Path(__file__).parent.parent / 'facts'))
import pftrace  # noqa: E402  pylint: disable=wrong-import-position

STATES = 'run or sched or wait or syscall or stw or gc or task or region or log'
FIRST_V2 = 22


class Span:
    """The time that something may have."""

    def __init__(self, path, end):
        self.path, self.end, self.shown = path, end, 0

    def check(self, what, begin, end, row):
        if begin is None or end is None or 0 <= begin <= end <= self.end:
            return
        self.shown += 1
        if self.shown <= 3:
            print(f'{self.path}: {what}: from {begin} to {end} of {self.end}: {row}')

    def check_at(self, what, time, row):
        self.check(what, time, time, row)


def check_statistics(span, rows, first):
    for row in rows:
        kind = row.get('kind')
        if kind in ('goroutine', 'region'):
            for key in [k for k in row if k.endswith('_ns') and k not in ('block_ns', 'range_ns')]:
                span.check('total of ' + kind, 0, row[key], row)
            parts = sum(row['block_ns'].values()) + sum(v for k, v in row.items() if k.endswith('_ns') and
                                                        isinstance(v, int) and k != 'total_ns')
            if parts > row['total_ns']:
                span.check('parts of ' + kind, parts, row['total_ns'], row)
            for ns in row['range_ns'].values():
                span.check('range of ' + kind, 0, ns, row)
        if kind in ('goroutine', 'region', 'task'):
            for key in ('created', 'started', 'ended', 'begin', 'end'):
                if row.get(key) is not None:
                    span.check_at(key, row[key] - first, row)
        elif kind == 'proc':
            span.check('proc', 0, sum(row['procs_ns'].values()), row)
        elif kind == 'gc':
            span.check('cycles', 0, row['sum'] + row['unfinished_ns'], row)
        elif kind in ('blocking', 'syscall', 'blocking-stack', 'syscall-stack'):
            span.check('longest', 0, row['max'], row)
        elif kind == 'function':
            span.check('longest total', 0, row['total_ns']['max'], row)
        for one in [row, row.get('longest') or {}] + row.get('slowest', []):
            if 'begin' in one and 'ns' in one:
                span.check('begin', one['begin'], one['begin'] + one['ns'], one)


def check_tables(span, gotrace, path):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([gotrace, 'convert', '-q', '--to', 'parquet', '-o', folder + '/p', path], check=False, stderr=subprocess.DEVNULL)
        for file in sorted(Path(folder, 'p').glob('*.parquet')):
            for row in parquet.File(file).rows():
                name = file.name
                for key in ('time_ns', 'created_ns', 'started_ns', 'ended_ns', 'start_time_ns', 'end_time_ns'):
                    if row.get(key) is not None:
                        span.check_at(f'{name}: {key}', row[key], row)
                if 'start_time_ns' not in row and 'end_time_ns' in row:
                    span.check(name, row['end_time_ns'] - row['duration_ns'], row['end_time_ns'], row)
                span.check(name, 0, row.get('duration_ns') or row.get('total_ns') or 0, row)


def check_chrome(span, gotrace, path):
    made = subprocess.run([gotrace, 'convert', '-q', '--to', 'chrome', '-o', '-', path], check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL)
    for event in json.loads(made.stdout)['traceEvents']:
        if event.get('ph') != 'M' and 'ts' in event:
            begin = round(event['ts'] * 1000)
            span.check('chrome', begin, begin + round(event.get('dur', 0) * 1000), event)


def check_perfetto(span, gotrace, path):
    made = subprocess.run([gotrace, 'convert', '-q', '--to', 'perfetto', '-o', '-', path], check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL)
    trace = pftrace.Trace(made.stdout)
    for slices in trace.slices.values():
        for s in slices:
            span.check('perfetto', s.begin, s.end, (s.name, s.category))
    for rows in [*trace.instants.values(), *trace.counters.values()]:
        for row in rows:
            span.check_at('perfetto', row[0], row)


def check_paths(span, gotrace, path, rows):
    wanted = {(row['kind'], str(row['id'])) for row in rows if row.get('kind') in ('goroutine', 'task')}
    for kind, number in sorted(wanted)[:40]:
        for row in parquet.lines(gotrace, 'why', '--' + kind, number, '--json', path):
            if row.get('kind') in ('path', 'part', 'wait'):
                span.check('why ' + kind, row['begin'], row['end'], row)


def check_moments(span, gotrace, path):
    for row in parquet.lines(gotrace, 'find', '--max', '0', '--json', STATES, path):
        if row.get('kind') == 'moment':
            span.check('find', row['begin'], row['end'], row)


def check_trace(gotrace, path):
    events = [e for e in parquet.lines(gotrace, 'print', '--format', 'jsonl', path) if e.get('kind') not in ('sync', None)]
    span = Span(path, max(e['time'] for e in events))
    for e in events:
        span.check_at('print', e['time'], e)
    if not any(e['time'] == 0 for e in events):
        print(f'{path}: no event at time 0')
    info = parquet.lines(gotrace, 'info', '--json', path)[-1]
    if info['duration_ns'] != span.end:
        print(f'{path}: info: {info["duration_ns"]} instead of {span.end}')
    check_moments(span, gotrace, path)
    check_chrome(span, gotrace, path)
    check_perfetto(span, gotrace, path)
    rows = parquet.lines(gotrace, 'stat', '--json', '--each', path)
    trace = next(row for row in rows if row.get('kind') == 'trace')
    v2 = int(trace['version'].split('.')[1]) >= FIRST_V2
    if trace['duration_ns'] < span.end or (v2 and trace['duration_ns'] > span.end):
        print(f'{path}: stat: {trace["duration_ns"]} instead of {span.end}')
    span.end = trace['duration_ns']
    check_statistics(span, rows, events[0]['ticks'] - events[0]['time'] if v2 else 0)
    check_tables(span, gotrace, path)
    check_paths(span, gotrace, path, rows)


for name in sys.argv[2:]:
    check_trace(sys.argv[1], name)
