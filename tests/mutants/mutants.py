#!/usr/bin/env python3
"""Puts seeded one-line faults into copies of the tree and reports which of them `make check` does not notice."""
import argparse
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

# Where faults are put, if no file is named.
TOPS = ("lib", "formats", "cmd/gen", "cmd/mutate", "cmd/parts", "cmd/repair")
# The parts of `make check`, in the order of faults found per second.
PARTS = ["house", "repair", "bad", "cli", "unit", "scale", "docs", "faults"]

# A test that hangs or eats the machine is a test that failed.
PART_SECONDS = 900
FILE_BYTES = 16 << 30
ADDRESS_BYTES = 16 << 30

SWAPS = [
    (r"(?<![<>=!\-&|+*/%^])<(?![<=])", "<", "<="),
    (r"(?<![<>=!\-])>(?![>=])", ">", ">="),
    (r"<=", "<=", "<"),
    (r"(?<!>)>=", ">=", ">"),
    (r"==", "==", "!="),
    (r"!=", "!=", "=="),
    (r"&&", "&&", "||"),
    (r"\|\|", "||", "&&"),
    (r" \+ ", " + ", " - "),
    (r" - ", " - ", " + "),
    (r"\+=", "+=", "-="),
    (r"-=", "-=", "+="),
    (r"\+\+", "++", "--"),
    (r"(?<!-)--(?!-)", "--", "++"),
    (r"<<(?!=)", "<<", ">>"),
    (r">>(?!=)", ">>", "<<"),
    (r" \| ", " | ", " & "),
    (r" & ", " & ", " | "),
    (r"\btrue\b", "true", "false"),
    (r"\bfalse\b", "false", "true"),
]
NUMBER = re.compile(r"(?<![\w.\"'])(\d+)(?![\w.xX\"'])")
CONDITION = re.compile(r"\b(if|while) \((.*)\)( \{)?$")
STATEMENT = re.compile(r"^\s+[^\s].*;$")
NOT_DROPPED = re.compile(r"^\s+(return|break|continue|goto|case|default|static|const|struct|enum|union|typedef)\b")


def blank_text(source):
    """The source with comments, strings and character constants blanked, so that columns stay the same."""
    pattern = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
    return pattern.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), source)


def changes_of(code, line, ended_before):
    """Every fault for one line: (what it is, the new line). CODE is LINE with text blanked."""
    found = []
    for pattern, old, new in SWAPS:
        for m in re.finditer(pattern, code):
            found.append((f"{old.strip()} -> {new.strip()}", line[: m.start()] + new + line[m.end():]))
    for m in NUMBER.finditer(code):
        value = int(m.group(1))
        found.append((f"{value} -> {value + 1}", line[: m.start()] + str(value + 1) + line[m.end():]))
        if value > 1:
            found.append((f"{value} -> {value - 1}", line[: m.start()] + str(value - 1) + line[m.end():]))
    m = CONDITION.search(code)
    if m and code.count("(") == code.count(")"):
        found.append(("negated condition", line[: m.start(2)] + "!(" + line[m.start(2): m.end(2)] + ")" + line[m.end(2):]))
    if STATEMENT.match(code) and ended_before and not NOT_DROPPED.match(code) and code.count("(") == code.count(")"):
        found.append((f"dropped {line.strip()}", re.match(r"\s*", line).group() + ";"))
    return found


def mutants_of(path):
    """All faults of a file, by line number: {number: [(what, new line)]}."""
    with open(path) as file:
        source = file.read()
    lines, codes = source.split("\n"), blank_text(source).split("\n")
    result, ended, directive = {}, True, False
    for number, (line, code) in enumerate(zip(lines, codes)):
        directive = code.startswith("#") or (directive and lines[number - 1].endswith("\\"))
        if not directive and code.startswith(" "):  # within a function or a table
            changes = changes_of(code, line, ended)
            if changes:
                result[number] = changes
        if code.strip():
            ended = code.rstrip().endswith((";", "{", "}", ":"))
    return result


def limits():
    os.setsid()
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_BYTES, ADDRESS_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(command, folder, seconds):
    """(status, output) of a command; status None where it took longer."""
    process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, preexec_fn=limits, text=True, errors="replace")
    try:
        output, _ = process.communicate(timeout=seconds)
        return process.returncode, output
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None, ""


class Tree:
    """A copy of the working tree, built, in which one fault at a time is tried."""

    def __init__(self, root, folder):
        self.folder = folder
        files = subprocess.run(["git", "ls-files", "-z", "-c", "-o", "--exclude-standard"], cwd=root, check=True,
                               capture_output=True).stdout.decode().split("\0")
        for name in filter(None, files):
            source, target = os.path.join(root, name), os.path.join(folder, name)
            if os.path.lexists(source):
                os.makedirs(os.path.dirname(target), exist_ok=True)
                shutil.copy2(source, target, follow_symlinks=False)
        self.make = ["make", "-s"]
        if shutil.which("ccache"):
            self.make.append("CC=ccache " + os.environ.get("CC", "gcc"))
        status, output = run(self.make + ["-j2", "tests"], folder, 1800)
        if status != 0:
            sys.exit(f"mutants: the tree does not build:\n{output}")

    def object_code(self, path):
        """What the object of a source holds, without what debuggers read."""
        name = os.path.join(self.folder, "build/obj", os.path.splitext(path)[0] + ".o")
        if not os.path.exists(name):
            return b""
        stripped = name + ".stripped"
        subprocess.run(["objcopy", "--strip-debug", name, stripped], check=True)
        with open(stripped, "rb") as file:
            return file.read()

    def first_failure(self):
        """The part that fails first and what it prints of that, or None."""
        for part in PARTS:
            status, output = run(["tests/run.sh", part], self.folder, PART_SECONDS)
            if status != 0:
                why = f"no end within {PART_SECONDS} s" if status is None else f"status {status}"
                return f"{part}: " + next((line for line in output.split("\n") if line.startswith("FAIL")), why)
        return None

    def try_out(self, path, number, new_line):
        """'invalid', 'same code', 'killed: ...' or 'survived'."""
        full = os.path.join(self.folder, path)
        with open(full) as file:
            original = file.read()
        lines = original.split("\n")
        lines[number] = new_line
        before = self.object_code(path)
        try:
            with open(full, "w") as file:
                file.write("\n".join(lines))
            status, output = run(self.make + ["-j2", "all"], self.folder, 600)
            if status != 0:
                return "invalid"
            if self.object_code(path) == before:
                return "same code"
            status, output = run(self.make + ["-j2", "tests"], self.folder, 600)
            if status != 0:
                return "invalid"
            failure = self.first_failure()
            return f"killed: {failure}" if failure else "survived"
        finally:
            with open(full, "w") as file:
                file.write(original)


def choose(files, seed):
    """Faults in the order of a seed, without end: a file by its lines, a line, one of its faults."""
    rng = random.Random(seed)
    places = [(path, number, changes) for path in files for number, changes in sorted(mutants_of(path).items())]
    rng.shuffle(places)
    for path, number, changes in places:
        what, new_line = rng.choice(changes)
        yield path, number, what, new_line


def main():
    parser = argparse.ArgumentParser(prog="tests/mutants/run.sh", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="which faults (default: 1)")
    parser.add_argument("--count", type=int, default=20, help="how many are tried (default: 20)")
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time (default: 2)")
    parser.add_argument("--list", action="store_true", help="list the faults, try none")
    parser.add_argument("files", nargs="*", metavar="FILE", help="sources (default: all of lib, formats, and cmd/gen, mutate, parts and repair)")
    options = parser.parse_args()

    files = options.files or sorted(
        os.path.join(folder, name) for top in TOPS for folder, _, names in os.walk(top)
        for name in names if name.endswith(".c"))
    chosen = choose(files, options.seed)
    if options.list:
        for _, (path, number, what, new_line) in zip(range(options.count), chosen):
            print(f"{path}:{number + 1}: {what}: {new_line.strip()}")
        return 0

    work = tempfile.mkdtemp(prefix="mutants.")
    root, lock = os.getcwd(), threading.Lock()
    counts, survivors, begun = {"killed": 0, "survived": 0, "invalid": 0, "same code": 0}, [], time.time()
    taken = 0

    def next_one():
        nonlocal taken
        with lock:
            if taken >= options.count:
                return None
            taken += 1
            return next(chosen, None)

    def worker(name):
        nonlocal taken
        tree = first if name == "tree0" else Tree(root, os.path.join(work, name))
        while (mutant := next_one()) is not None:
            path, number, what, new_line = mutant
            result = tree.try_out(path, number, new_line)
            with lock:
                kind = result.split(":")[0]
                counts[kind] += 1
                if kind in ("invalid", "same code"):
                    taken -= 1  # another one in its place
                    continue
                print(f"{path}:{number + 1}: {what}: {new_line.strip()}\n    {result}", flush=True)
                if kind == "survived":
                    survivors.append(f"{path}:{number + 1}: {what}: {new_line.strip()}")

    first = Tree(root, os.path.join(work, "tree0"))
    failure = first.first_failure()
    if failure:
        shutil.rmtree(work, ignore_errors=True)
        sys.exit(f"mutants: the tests fail without any fault: {failure}")
    threads = [threading.Thread(target=worker, args=(f"tree{n}",)) for n in range(options.jobs)]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        shutil.rmtree(work, ignore_errors=True)
    print(f"\nseed {options.seed}, {time.time() - begun:.0f} s; not counted: {counts['invalid']} that do not compile, "
          f"{counts['same code']} that compile to the same code")
    if survivors:
        print("survivors:")
        for line in survivors:
            print(f"  {line}")
    print(f"{counts['killed']} killed, {counts['survived']} survived")
    return 0


sys.exit(main())
