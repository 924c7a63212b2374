#!/usr/bin/env python3
"""wording.py [REVISION]: check that golden files differ from REVISION (HEAD) in wording only.

Compares, for each golden file below tests/ that differs, everything that is not a word: numbers,
offsets, rule ids and punctuation of JSON. Prints one line per file and exits with 1 if any of
them changed. Files whose name contains "help" are listed but not compared: help texts may lose or
gain options. A renamed file is compared with its old content.
"""
import re
import subprocess
import sys

TOKEN = re.compile(
    r"\[[a-z]+(?:\.[a-z]+)+\]"  # rule id
    r"|0x[0-9a-f]+|\b[0-9a-f]{16,}\b"
    r"|\d+(?:\.\d+)*")  # number, version


def git(*args):
    return subprocess.run(["git", *args], capture_output=True, text=True, errors="replace",
                          check=True).stdout


def facts(text):
    return TOKEN.findall(text)


def main():
    revision = sys.argv[1] if len(sys.argv) > 1 else "HEAD"
    changed = git("diff", "-M30%", "--name-status", revision, "--", "tests").splitlines()
    bad = compared = tokens = 0
    for line in changed:
        status, *names = line.split("\t")
        old, new = names[0], names[-1]
        if not new.endswith(".exact") or status[0] in "AD":
            if new.endswith(".exact"):
                print(f"{status} {new}")
            continue
        if "help" in new:
            print(f"not compared: {new}")
            continue
        before = facts(git("show", f"{revision}:{old}"))
        with open(new, encoding="utf-8", errors="replace") as file:
            after = facts(file.read())
        compared += 1
        tokens += len(before)
        if before != after:
            bad += 1
            first = next((i for i, (a, b) in enumerate(zip(before, after)) if a != b),
                         min(len(before), len(after)))
            print(f"{new}: {len(before)} -> {len(after)} numbers and ids; from number {first}: "
                  f"{before[first:first + 4]} -> {after[first:first + 4]}")
    print(f"{compared} golden files changed, {tokens} numbers and ids compared, "
          f"{bad} files with other changes than words")
    return bad > 0


sys.exit(main())
