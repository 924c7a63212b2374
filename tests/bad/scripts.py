#!/usr/bin/env python3
"""scripts.py FOLDER: write bad scripts of level meaning, and print the expected message of each.

A case is a script with one fault, in each encoding that can express it: FOLDER/CASE.ENCODING. A line is
printed for each: the file's name, and the words that the program's message must contain. There is also
a valid script, FOLDER/good.ENCODING, to be truncated at every byte.
"""
import json
import struct
import sys

HEADER = {'trace': 'go 1.26', 'level': 'meaning', 'frequency': 15625000}
CREATE = {'event': 'GoCreate', 't': 0, 'm': 1, 'p': 0, 'g': 1, 'new_g': 2,
          'stack': ['main.main main.go:7'], 'new_stack': ['main.work main.go:42']}
BLOCK = {'event': 'GoBlock', 't': 64, 'm': 1, 'p': 0, 'g': 1, 'reason_string': 'sleep'}
START = {'event': 'GoStart', 't': 128, 'm': 1, 'p': 0, 'g': 2}


class Raw:
    """A value in each encoding; None: that encoding cannot express it."""

    def __init__(self, text=None, js=None, cbor=None):
        self.text, self.json, self.cbor = text, js, cbor


NAN = Raw('NaN', 'NaN', b'\xf9\x7e\x00')
HALF = Raw('1.5', '1.5', b'\xf9\x3e\x00')
HUGE = Raw('18446744073709551616', '18446744073709551616', b'\xc2\x49\x01' + 8 * b'\0')
HUGER = Raw('1' + 40 * '0', '1' + 40 * '0', b'\xc2\x51\x01' + 16 * b'\0')
NOT_UTF8 = Raw(None, '"a\udcff"', b'\x62a\xff')
DEEP = Raw(None, 100000 * '[' + 100000 * ']', 100000 * b'\x81' + b'\x01')
DEEP_MAP = Raw(None, 100000 * '{"a":' + '1' + 100000 * '}', 100000 * b'\xa1\x61a' + b'\x01')
ENDLESS = Raw(None, None, b'\x9f' * 1000)
TEXT_AS_NUMBER = Raw('"two"', '"two"', b'\x63two')
MAP = Raw(None, '{"a":1}', b'\xa1\x61a\x01')
LIST = Raw(None, '[1]', b'\x81\x01')
NULL = Raw(None, 'null', b'\xf6')
NEGATIVE = Raw('-1', '-1', b'\x20')
NUMBER = Raw('7', '7', b'\x07')


def with_(members, /, **changes):
    return {**members, **changes}


def without(event, key):
    return {k: v for k, v in event.items() if k != key}


# The case, its header, its events, the words.
CASES = [
    ('no_header', None, [CREATE], 'a script begins with|trace'),
    ('header_version', with_(HEADER, trace='go 1.99'), [CREATE], '1.99'),
    ('header_level', with_(HEADER, level='meening'), [CREATE], 'meaning'),
    ('header_member', with_(HEADER, frequenzy=5), [CREATE], 'frequenzy|frequency'),
    ('header_frequency', with_(HEADER, frequency=TEXT_AS_NUMBER), [CREATE], 'frequency'),
    ('event_unknown', HEADER, [with_(CREATE, event='GoCraete')], 'did you mean GoCreate'),
    ('event_of_v1', HEADER, [with_(START, event='GoSysExit')], 'GoSysExit'),
    ('event_number', HEADER, [with_(START, event=NUMBER)], 'event|name'),
    ('event_missing', HEADER, [without(START, 'event')], 'event|name'),
    ('argument_unknown', HEADER, [with_(CREATE, new_gg=7)], 'its arguments are new_g, new_stack, stack'),
    ('argument_missing', HEADER, [without(CREATE, 'new_g')], 'new_g'),
    ('argument_text', HEADER, [with_(CREATE, new_g=TEXT_AS_NUMBER)], 'new_g'),
    ('argument_map', HEADER, [with_(CREATE, new_g=MAP)], 'new_g'),
    ('argument_list', HEADER, [with_(CREATE, new_g=LIST)], 'new_g'),
    ('argument_null', HEADER, [with_(CREATE, new_g=NULL)], 'new_g'),
    ('argument_negative', HEADER, [with_(CREATE, new_g=NEGATIVE)], 'new_g|negative|-1'),
    ('argument_fraction', HEADER, [with_(CREATE, new_g=HALF)], 'new_g'),
    ('argument_nan', HEADER, [with_(CREATE, new_g=NAN)], 'new_g|NaN'),
    ('argument_huge', HEADER, [with_(CREATE, new_g=HUGE)], 'new_g|large|range|big'),
    ('argument_huger', HEADER, [with_(CREATE, new_g=HUGER)], 'new_g|large|range|big'),
    ('time_text', HEADER, [with_(START, t=TEXT_AS_NUMBER)], "'?\\bt\\b"),
    ('time_nan', HEADER, [with_(START, t=NAN)], "\\bt\\b|NaN"),
    ('time_huge', HEADER, [with_(START, t=HUGE)], "\\bt\\b|large|range|big"),
    ('time_back', HEADER, [with_(CREATE, t=128), with_(BLOCK, t=64)], 'time runs back'),
    ('reason_number', HEADER, [CREATE, with_(BLOCK, reason_string=LIST)], 'reason'),
    ('reason_not_utf8', HEADER, [CREATE, with_(BLOCK, reason_string=NOT_UTF8)], 'UTF-8'),
    ('stack_number', HEADER, [with_(CREATE, stack=MAP)], 'stack'),
    ('frame_number', HEADER, [with_(CREATE, stack=LIST)], 'stack|frame'),
    ('frame_line', HEADER, [with_(CREATE, stack=['main.main main.go:x'])], 'stack|frame|line'),
    ('deep', HEADER, [with_(CREATE, new_g=DEEP)], 'deep|depth'),
    ('deep_map', HEADER, [with_(CREATE, new_g=DEEP_MAP)], 'deep|depth'),
    ('endless', HEADER, [with_(CREATE, new_g=ENDLESS)], '16 deep'),
    ('twice_running', HEADER, [CREATE, with_(START, m=2, p=1, g=2), with_(START, m=3, p=2, g=2)],
     'goroutine 2'),
    ('proc_twice', HEADER, [CREATE, with_(START, m=2)], 'proc 0'),
]


def text_of(value):
    if isinstance(value, Raw):
        return value.text
    return json.dumps(value) if isinstance(value, str) else str(value)


def text(header, events):
    lines = []
    if header is not None:
        number = header['trace'].split()[1]
        pairs = [(k, header[k]) for k in header if k != 'trace']
        lines.append(f'Trace Go{number} ' + ' '.join(f'{k}={plain(v)}' for k, v in pairs))
    for event in events:
        words, stacks = [], []
        for key, value in event.items():
            if key in ('stack', 'new_stack'):
                frames = value if isinstance(value, list) else None
                if frames is None:
                    return None
                stacks.append('\t' + key + '=' + ' '.join(json.dumps(f) for f in frames))
            elif key != 'event':
                words.append(f'{key}={text_of(value)}')
        name = event.get('event', '')
        lines.append(' '.join([name if isinstance(name, str) else text_of(name)] + words))
        lines += stacks
    return ('\n'.join(lines) + '\n').encode()


def plain(value):
    return value if isinstance(value, str) else text_of(value)


def json_of(value):
    return value.json if isinstance(value, Raw) else json.dumps(value)


def json_map(members):
    return '{' + ','.join(f'{json.dumps(k)}:{json_of(v)}' for k, v in members.items()) + '}'


def jsonl(header, events):
    return ''.join(json_map(m) + '\n' for m in ([header] if header else []) + events).encode(
        errors='surrogateescape')


def json_document(header, events):
    members = dict(header or {})
    members['events'] = Raw(js='[' + ',\n'.join(map(json_map, events)) + ']')
    return json_map(members).encode(errors='surrogateescape')


def cbor_head(major, n):
    for small, code, form in ((24, n, ''), (1 << 8, 24, 'B'), (1 << 16, 25, '>H'), (1 << 32, 26, '>I')):
        if n < small:
            return bytes([major << 5 | code]) + (struct.pack(form, n) if form else b'')
    return bytes([major << 5 | 27]) + struct.pack('>Q', n)


def cbor_of(value):
    if isinstance(value, Raw):
        return value.cbor
    if isinstance(value, int):
        return cbor_head(0, value) if value >= 0 else cbor_head(1, -1 - value)
    if isinstance(value, str):
        return cbor_head(3, len(value)) + value.encode()
    if isinstance(value, list):
        return cbor_head(4, len(value)) + b''.join(map(cbor_of, value))
    return cbor_map(value)


def cbor_map(members):
    pairs = (cbor_of(k) + cbor_of(v) for k, v in members.items())
    return cbor_head(5, len(members)) + b''.join(pairs)


def cbor(header, events):
    """A sequence."""
    return b''.join(cbor_map(m) for m in ([header] if header else []) + events)


def cbor_document(header, events):
    """A map of indefinite length, with a tag, as are the events."""
    members = b''.join(cbor_of(k) + cbor_of(v) for k, v in (header or {}).items())
    encoded = b''.join(map(cbor_map, events))
    return b'\xd9\xd9\xf7\xbf' + members + cbor_of('events') + b'\x9f' + encoded + b'\xff\xff'


ENCODINGS = {'text': (text, 'text'), 'jsonl': (jsonl, 'json'), 'json': (json_document, 'json'),
           'cbor': (cbor, 'cbor'), 'cbordoc': (cbor_document, 'cbor')}


def can_say(form, header, events):
    values = [v for m in [header or {}] + events for v in m.values()]
    return all(getattr(v, form) is not None for v in values if isinstance(v, Raw))


def write(path, content):
    with open(path, 'wb') as file:
        file.write(content)


def main():
    folder = sys.argv[1]
    for encoding, (make, form) in ENCODINGS.items():
        write(f'{folder}/good.{encoding}', make(HEADER, [CREATE, BLOCK, START]))
        for name, header, events, words in CASES:
            made = make(header, events) if can_say(form, header, events) else None
            if made is not None:
                write(f'{folder}/{name}.{encoding}', made)
                print(f'{name}.{encoding}\t{words}')


main()
