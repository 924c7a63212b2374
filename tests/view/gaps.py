#!/usr/bin/env python3
"""gaps.py EVENTS BEGIN END ANSWER REPORT: whether events that were in the bytes from BEGIN to END are in the gaps.

EVENTS is the output of `gotrace print --format jsonl` for the sound trace, ANSWER that to `trace` for one in which these
bytes are zero, and REPORT its HTML report, which must have the same gaps. Prints what is wrong.
"""
import base64
import json
import re
import sys
import zlib

events, begin, end, answer = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), json.load(open(sys.argv[4]))
RAISE = 200  # ns: what has the same time as another event may be moved by some ticks
with open(events) as lines:
    lost = [e for e in map(json.loads, lines) if e.get("kind") in ("transition", "range-begin", "metric") and begin <= e["offset"] < end]
outside = [e for e in lost if not any(a - RAISE <= e["time"] <= b + RAISE for a, b in answer["gaps"])]
for e in outside[:3]:
    print(f"the {e['type']} at {e['time']} ns is in no gap: {answer['gaps']}")
if bool(lost) != bool(answer["gaps"]):
    print(f"{len(lost)} events are lost, but the gaps are {answer['gaps']}")
    sys.exit(1)
with open(sys.argv[5]) as report:
    data = re.search('id="timeline-data">([^<]*)<', report.read())[1]
if b'"gaps":' + json.dumps(answer["gaps"], separators=(",", ":")).encode() + b',"states":' not in zlib.decompress(base64.b64decode(data)):
    print(f"the report has other gaps than {answer['gaps']}")
    sys.exit(1)
sys.exit(len(outside) > 0)
