#!/usr/bin/env python3
"""view.py GOTRACE FILE [STEPS]: how fast `gotrace view` answers.

Starts the server, waits for the first picture and for the whole index, and then lets two clients pan and zoom
through the trace as the page does: STEPS windows each (default 500), with the lists, intervals and critical paths
that users ask for between. Prints lines "NAME NUMBER [NUMBER ...]": first and complete, seconds from the start;
memory, KiB at most; file, bytes of the temporary file; and for each question its number, and p50, p99 and the
maximum in ms.
"""
import concurrent.futures
import http.client
import json
import os
import random
import re
import subprocess
import sys
import time
from pathlib import Path

GOROUTINE, PROC, RANGE, METRIC, GROUP, ALL = 0, 1, 8, 9, 10, 12
CLIENTS = 2
ROWS = 40  # of a page that is 1280 by 720
PIXELS = 1000


class Client:
    def __init__(self, address):
        port, token = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\?token=([0-9a-f]+)", address).groups()
        self.address = address
        self.connection = http.client.HTTPConnection("127.0.0.1", int(port))
        self.headers = {"Cookie": f"gotrace-{port}={token}"}
        self.times = {}

    def ask(self, question, **arguments):
        begun = time.monotonic()
        query = "&".join(f"{name}={value}" for name, value in arguments.items())
        self.connection.request("GET", f"/api/1/{question}?{query}", headers=self.headers)
        answer = self.connection.getresponse()
        body = answer.read()
        self.times.setdefault(question, []).append(time.monotonic() - begun)
        if answer.status not in (200, 404):  # 404: nothing is there
            raise RuntimeError(f"{question}?{query}: {answer.status} {body[:200]!r}")
        return body

    def ask_json(self, question, **arguments):
        return json.loads(self.ask(question, **arguments))

    def window(self, begin, end, tracks):
        return self.ask("window", **{"from": begin, "until": end, "pixel": max(1, (end - begin) // PIXELS)},
                        tracks=",".join(f"{kind}:{track}" for kind, track in tracks))


def pan(client, trace, seed, steps):
    """Wander through the trace: mostly a little to the side, sometimes nearer or farther."""
    rng = random.Random(seed)
    first, last = trace["begin"], max(trace["end"], trace["begin"] + 1000)
    begin, end = first, last
    pinned = [(RANGE, 1), (RANGE, 2), (METRIC, 1), (METRIC, 2)]
    pinned += [(PROC, t["id"]) for t in client.ask_json("tracks", kind=PROC, limit=8)["tracks"]]
    groups = client.ask_json("tracks", kind=GROUP, limit=10)["tracks"]
    rows = [(GROUP, t["id"]) for t in groups]
    for step in range(steps):
        width = end - begin
        width = min(last - first, max(1000, int(width * rng.choice((0.2, 0.5, 1, 1, 1, 1, 2, 4)))))
        begin = min(last - width, max(first, begin + int(width * rng.uniform(-0.5, 0.5))))
        end = begin + width
        client.window(begin, end, (pinned + rows)[:ROWS])
        if step % 10 == 0 and groups:
            group = rng.choice(groups)
            listed = client.ask_json("tracks", kind=GOROUTINE, group=group["group"], limit=ROWS,
                                     **{"from": begin, "until": end})["tracks"]
            rows = [(GOROUTINE, t["id"]) for t in listed] or rows
        elif step % 10 == 5 and rows[0][0] == GOROUTINE:
            client.ask("interval", kind=GOROUTINE, id=rng.choice(rows)[1], at=rng.randrange(begin, end))
        elif step % 50 == 7 and rows[0][0] == GOROUTINE:
            client.ask("path", goroutine=rng.choice(rows)[1], **{"from": begin, "until": end})


def unnamed_bytes(pid):
    """Of the process's largest deleted file."""
    sizes = [0]
    for fd in Path(f"/proc/{pid}/fd").iterdir():
        try:
            status = fd.stat()
            if "(deleted)" in os.readlink(fd):
                sizes.append(status.st_size)
        except OSError:
            pass
    return max(sizes)


def measure(server, begun, path, steps):
    client = Client(server.stdout.readline().strip())
    first = None
    while not (trace := client.ask_json("trace"))["complete"]:
        if first is None and trace["end"] > trace["begin"]:
            client.window(trace["begin"], trace["end"], [(ALL, 0), (RANGE, 1), (METRIC, 2)])
            first = time.monotonic() - begun
        time.sleep(0.02)
    complete = time.monotonic() - begun
    while not client.ask_json("findings")["ready"] and not trace["failed"]:
        time.sleep(0.05)
    clients = [Client(client.address) for _ in range(CLIENTS)]
    with concurrent.futures.ThreadPoolExecutor() as threads:
        list(threads.map(pan, clients, [trace] * CLIENTS, range(CLIENTS), [steps] * CLIENTS))
    memory = re.search(r"VmHWM:\s*(\d+)", Path(f"/proc/{server.pid}/status").read_text()).group(1)
    print(f"first {first or complete:.3f}\ncomplete {complete:.3f}\nmemory {memory}")
    print(f"file {unnamed_bytes(server.pid)}")
    for question in sorted(set().union(*(c.times for c in clients))):
        times = sorted(1000 * t for c in clients for t in c.times.get(question, []))
        print(f"{question} {len(times)} {times[len(times) // 2]:.1f} {times[len(times) * 99 // 100]:.1f} {times[-1]:.1f}")


def main():
    gotrace, path = sys.argv[1:3]
    steps = int(sys.argv[3]) if len(sys.argv) > 3 else 500
    begun = time.monotonic()
    server = subprocess.Popen([gotrace, "view", "-q", path], stdout=subprocess.PIPE, text=True)
    try:
        measure(server, begun, path, steps)
    finally:
        server.terminate()
        server.wait()


main()
