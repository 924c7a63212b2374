#!/usr/bin/env python3
"""gaps.py EVENTS BEGIN END ANSWER: whether events that were in the bytes from BEGIN to END are in the gaps of an answer.

EVENTS is the output of `gotrace print --format jsonl` for the sound trace, ANSWER that to `trace` for one in which these
bytes are zero. Prints how many events there are, and those in no gap.
"""
import json
import sys

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
sys.exit(len(outside) > 0)
