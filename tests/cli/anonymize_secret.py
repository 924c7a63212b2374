"""Puts a secret into every kind of text of a trace, alone and after each name that Go itself has.

    anonymize_secret.py script PREFIXES             a script of go 1.26: each use of a string, after each prefix
    anonymize_secret.py replace PREFIXES <DUMP      every text of a raw dump (JSON), after one prefix or another
    anonymize_secret.py search TRACE                the parts of the secret that are in the trace

PREFIXES is cmd/anonymize/known.c, the lists of those names.
"""
import json
import re
import sys

SECRET = 'card 4111111111111111 of ann@example.com'
WORD = 'hunter2'  # what would be a good name of a function, were it not the user's
PARTS = (b'card 4', b'card+4', b'4111111111', b'ann@', b'@example', WORD.encode())


def texts(path):
    """The secret alone, and after each prefix as names and sentences are made."""
    with open(path, encoding='utf-8') as file:
        prefixes = re.findall(r'^    "(.*)",$', file.read(), re.M)
    yield SECRET
    for prefix in prefixes:
        for joint in ('.', ' ', '/', ''):
            yield prefix + joint + SECRET
    for prefix in ('main.main', 'main.init.0', 'go.shape.int', '/usr/lib/go/src/runtime/proc.go', 'runtime.goexit[...]',
                   'sync.(*Mutex).Lock', 'GC (idle)', 'x.func1'):
        yield prefix + SECRET
        yield prefix + ' ' + SECRET


def quoted(text):
    return text.replace('\\', '\\\\').replace('"', '\\"')


def script(path):
    events = (('UserRegionBegin', 'name_string="{0}"'), ('UserRegionEnd', 'name_string="{0}"'),
              ('UserTaskBegin', 'task={1} name_string="{0}"'), ('UserLog', 'task=0 key_string="{0}" value_string="{0}"'),
              ('GoLabel', 'label_string="{0}"'), ('STWBegin', 'kind_string="{0}"'), ('STWEnd', ''),
              ('GoStop', 'reason_string="{0}"'), ('GoStart', 'g=1'), ('GoBlock', 'reason_string="{0}"'),
              ('GoUnblock', 'g=1'), ('GoStart', 'g=1'))
    print('Trace Go1.26 level=meaning procs=2')
    time = 1000
    for n, text in enumerate(texts(path), 1):
        # A function or a file with this secret is not spelled like one of Go. In scripts they have no spaces.
        name = quoted(text.replace(' ', '+'))
        frame = f'\tstack="{name} /{name}.go:{n % 100}"'
        for use in (text, text.replace(SECRET, WORD), text.replace(SECRET, f'{WORD}("4111111111")')):
            for event, args in events:
                time += 10
                on = '' if event in ('GoStart', 'GoUnblock') else ' on_g=1'
                print(f'{event} t={time}{on} {args.format(quoted(use), time)}'.rstrip())
                if event in ('GoStop', 'GoBlock', 'UserLog'):
                    print('\tstack="runtime.main /usr/lib/go/src/runtime/proc.go:1"')
            if use is text:
                print(f'UserLog t={time + 1} on_g=1 task=0 key_string="k" value_string="v"\n{frame}')
                print(f'UserLog t={time + 2} on_g=1 task=0 key_string="k" value_string="v"')
                print(f'\tstack="runtime.main /{name}/runtime/proc.go:1"')


def size_of(data):
    """Of a text in the file, with its length."""
    size = len(data.encode(errors='surrogateescape'))
    return size + (max(size.bit_length(), 1) + 6) // 7


def replace(path):
    """Each text becomes another one, and the sizes of batches fit."""
    trace = json.load(sys.stdin)
    source = list(texts(path))
    batch, number = {}, 0
    for record in trace['records']:
        if 'size' in record:
            batch = record
        if record['event'] not in ('String', 'UserLog', 'ExperimentalBatch'):
            continue
        old = record.get('data', bytes.fromhex(record.get('data_hex', '')).decode(errors='surrogateescape'))
        if not old:
            continue
        record.pop('data_hex', None)
        record['data'] = source[number * 7 % len(source)]
        number += 1
        if 'size' in batch and record['event'] != 'ExperimentalBatch':
            batch['size'] = int(batch['size']) + size_of(record['data']) - size_of(old)
    json.dump(trace, sys.stdout)


def search(path):
    with open(path, 'rb') as file:
        content = file.read()
    print(' '.join(part.decode() for part in PARTS if part in content) or 'none')


{'script': script, 'replace': replace, 'search': search}[sys.argv[1]](sys.argv[2])
