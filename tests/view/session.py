#!/usr/bin/env python3
"""session.py COMMAND...: run `gotrace view` as a page does: ask until the trace was read, ask for a part of it, end it.

COMMAND may be another one that runs it (env, prlimit, count). With --diff it asks for parts of the first trace. Exits with its status. What the server cannot answer, for
instance because memory is refused to it, is no error here.
"""
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

command = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE)
address = command.stdout.readline().decode().strip()
site, _, token = address.partition("?token=")
cookie = f"gotrace-{urllib.parse.urlsplit(site).port if token else ''}={token}"


compares = "--diff" in sys.argv


def ask(question, of="1/" if compares else ""):
    """The bytes of the answer, or None."""
    request = urllib.request.Request(f"{site}{of}api/1/{question}", headers={"Cookie": cookie})
    try:
        with urllib.request.urlopen(request, timeout=float(os.environ.get("HANG", 3600))) as answer:
            return answer.read()
    except (OSError, ValueError):
        return None
    except Exception as error:  # http.client: a part of an answer
        if type(error).__module__ != "http.client":
            raise
        return None


def ask_json(question):
    answer = ask(question)
    return json.loads(answer) if answer else {}


def leaf(pid):
    """What the process runs, at the end."""
    with open(f"/proc/{pid}/task/{pid}/children") as children:
        first = children.read().split()
    return leaf(first[0]) if first else pid


def wait_for(question, is_done):
    while command.poll() is None and not is_done(answer := ask_json(question)) and not answer.get("failed"):
        time.sleep(0.01)


if token:
    wait_for("trace", lambda answer: answer.get("complete"))
    trace = ask_json("trace")
    if trace.get("complete") and not trace.get("failed"):
        wait_for("findings", lambda answer: answer.get("ready"))
    end = trace.get("end", 0)
    tracks = []
    for kind in range(15):
        tracks += [f"{kind}:{track['id']}" for track in ask_json(f"tracks?kind={kind}").get("tracks", [])[:10]]
    ask(f"window?from=0&until={end}&tracks={','.join(tracks)}")
    ask(f"path?goroutine=1&from=0&until={end}")
    for track in tracks:
        kind, name = track.split(":")
        ask(f"interval?kind={kind}&id={name}&at={end // 2}")
    while compares and command.poll() is None and b'"failed":null' in (ask("diff", "") or b'"failed":null'):
        time.sleep(0.01)
    for question in ("search?where=run", f"stat?from={end // 4}&until={end}", f"flame?from=0&until={end // 2}&profile=sched"):
        wait_for(question, lambda answer: answer.get("ready", True))
    if command.poll() is None:
        os.kill(int(leaf(command.pid)), signal.SIGTERM)
command.stdout.close()
sys.exit(command.wait() & 255)
