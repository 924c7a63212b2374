#!/usr/bin/env python3
"""corpus.py FOLDER FILE...: decode corpus files of Go's fuzzer, `go test fuzz v1` and one []byte("...").

Writes the bytes of each to FOLDER/FIRST-PART-OF-ITS-NAME, files with the same bytes once.
"""
import os
import re
import sys

ESCAPE = re.compile(rb'\\(?:x([0-9a-fA-F]{2})|([0-7]{3})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))', re.S)
SIMPLE = {b'a': b'\a', b'b': b'\b', b'f': b'\f', b'n': b'\n', b'r': b'\r', b't': b'\t', b'v': b'\v',
          b'\\': b'\\', b"'": b"'", b'"': b'"'}


def plain(match):
    byte, octal, short, long, simple = match.groups()
    if byte:
        return bytes([int(byte, 16)])
    if octal:
        return bytes([int(octal, 8)])
    if simple:
        return SIMPLE[simple]
    return chr(int(short or long, 16)).encode()


seen = set()
for path in sys.argv[2:]:
    with open(path, 'rb') as file:
        content = file.read()
    literal = re.fullmatch(rb'go test fuzz v1\r?\n\[\]byte\("(.*)"\)\r?\n?', content, re.S)
    if not literal:
        sys.exit(f'{path}: not a corpus file of one []byte')
    data = ESCAPE.sub(plain, literal.group(1))
    if data not in seen:
        seen.add(data)
        with open(os.path.join(sys.argv[1], os.path.basename(path)[:16]), 'wb') as file:
            file.write(data)
