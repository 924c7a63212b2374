"""A copy of the tree, its tests one by one, and their results for one mutant."""
import filecmp
import hashlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

FILE_BYTES = 16 << 30
ADDRESS_BYTES = 16 << 30
BUILD_SECONDS = 1200
# The time limit of a test is ten times its time without a fault, and a minute: the machine may be busy.
SLOWER, GRACE_SECONDS = 10, 60
AT_A_TIME = 2
CCACHE = "ccache " if shutil.which("ccache") else ""
# Debug information takes most of the time of compiling and linking; lld links in a tenth of the time.
PLAIN = {"BUILD": "build", "CC": CCACHE + os.environ.get("CC", "gcc"), "CFLAGS": "-O2",
         "LDFLAGS": "-fuse-ld=lld" if shutil.which("ld.lld") else ""}
# Clang's coverage: one file for each process, merged quickly.
COVER = "build/cover"
COVERED = {"BUILD": COVER, "CC": CCACHE + "clang-14", "CFLAGS": "-O1 -fprofile-instr-generate -fcoverage-mapping",
           "LDFLAGS": "", "STOP": ""}


def limits():
    os.setsid()
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_BYTES, ADDRESS_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def session_members(session):
    """Processes of a session: timeout(1) and Check put theirs into groups of their own."""
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat") as file:
                    fields = file.read().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == session and fields[0] != "Z":
                yield int(entry)


def end_session(process):
    """End a process and all its children, first in a way that lets tests clean up."""
    for sign, seconds in ((signal.SIGTERM, 5), (signal.SIGKILL, 5)):
        deadline = time.time() + seconds
        sent = set()
        while members := list(session_members(process.pid)):
            for pid in members:
                if pid not in sent or sign == signal.SIGKILL:
                    sent.add(pid)
                    try:
                        os.kill(pid, sign)
                    except ProcessLookupError:
                        pass
            if time.time() > deadline:
                break
            time.sleep(0.05)
    process.wait()


class Tree:
    """A copy of the working tree in which one mutant at a time is built and tested."""

    def __init__(self, root, work):
        self.folder, self.work = os.path.join(work, "tree"), work
        self.tests, self.seconds, self.covered, self.measured, self.objects = [], {}, {}, {}, {}
        names = subprocess.run(["git", "ls-files", "-z", "-c", "-o", "--exclude-standard"], cwd=root, check=True,
                               capture_output=True).stdout.decode().split("\0")
        self.digest = self.copy(root, sorted(filter(None, names)))
        os.makedirs(os.path.join(work, "tmp"), exist_ok=True)
        self.environment = {**os.environ, **PLAIN, "STOP": "1", "TMPDIR": os.path.join(work, "tmp")}

    def copy(self, root, names):
        """Update the copy; returns the digest of all files. Changed files get the present time, for make."""
        digest, present = hashlib.sha256(), set()
        for name in names:
            source, target = os.path.join(root, name), os.path.join(self.folder, name)
            if not os.path.isfile(source):
                continue
            present.add(target)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(source, "rb") as file:
                digest.update(name.encode() + file.read())
            if not os.path.exists(target) or not filecmp.cmp(source, target, shallow=False):
                shutil.copy(source, target)
        for folder, folders, files in os.walk(self.folder):
            if folder == self.folder and "build" in folders:
                folders.remove("build")
            for name in files:
                if os.path.join(folder, name) not in present:
                    os.remove(os.path.join(folder, name))
        return digest.hexdigest()

    def start(self, command, log, **environment):
        with open(log, "w") as output:
            return subprocess.Popen(command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=output,
                                    stderr=subprocess.STDOUT, preexec_fn=limits,
                                    env={**self.environment, **environment})

    def build(self, **environment):
        """Whether it builds; the output is in build.log."""
        process = self.start(["make", "-s", "-j2", "tests"], os.path.join(self.work, "build.log"), **environment)
        try:
            return process.wait(BUILD_SECONDS) == 0
        except subprocess.TimeoutExpired:
            end_session(process)
            return False

    def list_tests(self):
        """Every test of `make check` that can be run by itself: (part, names)."""
        def stems(folder, pattern):
            return sorted(m.group(1) for m in map(re.compile(pattern).match, os.listdir(os.path.join(self.folder, folder))) if m)
        known = {
            "cli": [s for s in stems("tests/cli", r"(\w+)\.sh$") if s != "run"],
            "unit": stems("tests/unit", r"(test_\w+)\.c$") + stems("fuzz", r"(fuzz_\w+)\.c$"),
            "scale": subprocess.run([sys.executable, "tests/scale/traps.py"], cwd=self.folder, check=True,
                                    capture_output=True, text=True).stdout.split(),
        }
        for part in sorted(os.listdir(os.path.join(self.folder, "tests"))):
            if part in ("conformance", "mutants") or not os.path.exists(f"{self.folder}/tests/{part}/run.sh"):
                continue
            self.tests += [f"{part} {name}" for name in known[part]] if part in known else [part]

    def run_tests(self, names, allowed, at_end=None, **environment):
        """Run tests, AT_A_TIME of them at once, until one fails: (its name, reason) or None."""
        waiting, running, failure, number = list(names), [], None, 0
        while (waiting or running) and not failure:
            while waiting and len(running) < AT_A_TIME:
                name, number = waiting.pop(0), number + 1
                log = os.path.join(self.work, f"test.{number % 8}.log")
                process = self.start([f"tests/{name.split()[0]}/run.sh"] + name.split()[1:], log,
                                     **{k: v.format(name.replace(" ", ".")) for k, v in environment.items()})
                running.append((name, process, log, time.time()))
            time.sleep(0.02)
            for entry in list(running):
                name, process, log, begun = entry
                status, seconds = process.poll(), time.time() - begun
                if status is None and seconds < allowed(name):
                    continue
                running.remove(entry)
                if status is None:
                    end_session(process)
                why = None
                if status != 0:
                    with open(log, errors="replace") as file:
                        lines = file.read().split("\n")
                    why = next((line for line in lines if line.startswith("FAIL")),
                               f"no end after {seconds:.0f} s" if status is None else f"status {status}")
                if at_end:
                    at_end(name, seconds, why)
                elif why:
                    failure = (name, why)
                    break
        for _, process, _, _ in running:
            end_session(process)
        self.clean_up()
        return failure

    def clean_up(self):
        """Tests that were ended leave files, and small file systems."""
        folder = os.path.join(self.work, "tmp")
        with open("/proc/mounts") as file:
            mounts = [line.split()[1] for line in file if line.split()[1].startswith(folder + "/")]
        for mount in mounts:
            subprocess.run(["umount", "-l", mount], check=False)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder, exist_ok=True)

    def prepare(self, say, parts, coverage):
        """Build, and measure the unchanged tree: time of each test and the lines that it runs."""
        if not self.build():
            sys.exit(f"mutants: the tree does not build: see {self.work}/build.log")
        self.list_tests()
        if parts:
            self.tests = [t for t in self.tests if t in parts or t.split()[0] in parts]
        cache = os.path.join(self.work, "measured.json")
        if os.path.exists(cache):
            with open(cache) as file:
                known = json.load(file)
            if known["digest"] == self.digest and set(self.tests) <= set(known["seconds"]):
                self.seconds, self.covered, self.measured = known["seconds"], known["covered"], known["measured"]
                return
        failures = []

        def at_end(name, seconds, why):
            self.seconds[name] = seconds
            if why:
                failures.append(f"{name}: {why}")
        say(f"running {len(self.tests)} tests of the unchanged tree")
        self.run_tests(self.tests, lambda name: 900, at_end)
        if failures:
            sys.exit("mutants: the unchanged tree does not pass:\n  " + "\n  ".join(failures))
        if coverage:
            self.measure_coverage(say)
        with open(cache, "w") as file:
            json.dump({"digest": self.digest, "seconds": self.seconds, "covered": self.covered,
                       "measured": self.measured}, file)

    def measure_coverage(self, say):
        """The lines of each file that each test runs. Without clang, every test counts for every line."""
        tools = ["clang-14", "llvm-profdata-14", "llvm-cov-14"]
        if not all(map(shutil.which, tools)):
            return
        say("building for coverage")
        if not self.build(**COVERED):
            sys.exit(f"mutants: the tree does not build for coverage: see {self.work}/build.log")

        def at_end(name, seconds, why):
            folder = os.path.join(self.work, "profiles", name.replace(" ", "."))
            # A test that fails with coverage counts for every line.
            if not why:
                lines = self.lines_of_profiles(folder, name)
                for path, (ran, known) in lines.items():
                    self.measured[path] = sorted(set(self.measured.get(path, [])) | known)
                    self.covered.setdefault(name, {})[path] = sorted(ran)
            shutil.rmtree(folder, ignore_errors=True)
        say("measuring which lines each test runs")
        self.run_tests([t for t in self.tests if t != "tree"], lambda name: 1800, at_end, **COVERED,
                       LLVM_PROFILE_FILE=os.path.join(self.work, "profiles", "{}", "%m.profraw"))
        shutil.rmtree(os.path.join(self.folder, COVER), ignore_errors=True)

    def lines_of_profiles(self, folder, name):
        """{path: (lines that ran, lines that can)} of the profiles in a folder."""
        raw = [os.path.join(folder, n) for n in os.listdir(folder)] if os.path.isdir(folder) else []
        merged = os.path.join(self.work, "merged.profdata")
        if not raw or subprocess.run(["llvm-profdata-14", "merge", "-sparse", "-o", merged] + raw,
                                     capture_output=True).returncode != 0:
            return {}
        # A unit test contains the code; every other one runs the program.
        part, _, rest = name.partition(" ")
        binaries = [f"{COVER}/gotrace", "--object", f"{COVER}/libgotrace.so"]
        if part == "unit":
            binaries = [f"{COVER}/tests/{rest}" if rest.startswith("test_") else f"{COVER}/fuzz/replay_{rest[5:]}"]
        command = ["llvm-cov-14", "export", "--format=lcov", f"--instr-profile={merged}"] + binaries
        output = subprocess.run(command, cwd=self.folder, capture_output=True, text=True).stdout
        result, path = {}, None
        for line in output.split("\n"):
            if line.startswith("SF:"):
                path = os.path.relpath(line[3:], os.path.realpath(self.folder))
            elif line.startswith("DA:") and path.endswith(".c"):
                number, count = map(int, line[3:].split(",")[:2])
                ran, known = result.setdefault(path, (set(), set()))
                known.add(number)
                if count:
                    ran.add(number)
        return result

    def tests_for(self, mutant, kills):
        """The tests that may detect a mutant, likely and fast ones first."""
        path, line = mutant["path"], mutant["line"]
        known = line in self.measured.get(path, [])
        private = self.is_private(mutant)
        words = [w for w in re.split(r"\W|_", os.path.splitext(path)[0])[1:] if len(w) > 2]

        def covers(name):
            if name not in self.covered or not (known or private):
                return True
            ran = self.covered[name].get(path, [])
            return line in ran if known else bool(ran)

        def merit(name):
            likely = 1 + 3 * sum(w in name for w in words) + 2 * kills.get((path, name), 0) + kills.get(name, 0) / 2
            return likely / (self.seconds[name] + 0.5)
        return sorted(filter(covers, self.tests), key=merit, reverse=True)

    def is_private(self, mutant):
        """Whether only functions of its file can use the line: it is not in a table with external linkage."""
        with open(os.path.join(self.folder, mutant["path"])) as file:
            heads = [line for line in file.read().split("\n")[:mutant["line"]] if re.match(r"\w", line)]
        return bool(heads) and (heads[-1].startswith("static") or not heads[-1].rstrip().endswith("= {"))

    def object_code(self, path):
        """The contents of the object of a source, without debug information."""
        name = os.path.join(self.folder, "build/obj", os.path.splitext(path)[0] + ".o")
        if not os.path.exists(name):
            return b""
        stripped = os.path.join(self.work, "stripped.o")
        subprocess.run(["objcopy", "--strip-debug", name, stripped], check=True)
        with open(stripped, "rb") as file:
            return file.read()

    def time_limit(self, name):
        return SLOWER * self.seconds[name] + GRACE_SECONDS

    def try_out(self, mutant, change, kills):
        """Add the result: 'outcome', 'by' and 'tests'."""
        path = mutant["path"]
        full = os.path.join(self.folder, path)
        with open(full) as file:
            original = file.read()
        if path not in self.objects:
            self.objects[path] = self.object_code(path)
        try:
            with open(full, "w") as file:
                file.write(change(original, mutant))
            if not self.build():
                return {**mutant, "outcome": "invalid"}
            if self.object_code(path) == self.objects[path]:
                return {**mutant, "outcome": "same code"}
            names = self.tests_for(mutant, kills)
            failure, waiting = None, names
            while waiting and not failure:
                failure = self.run_tests(waiting, self.time_limit)
                if failure and not self.run_tests([failure[0]], self.time_limit):
                    # It failed by chance, as on a busy machine. Two tests ran at once: go on with all others.
                    waiting, failure = [name for name in waiting if name != failure[0]], None
                else:
                    break
            if failure:
                return {**mutant, "outcome": "killed", "by": failure[0], "why": failure[1]}
            return {**mutant, "outcome": "survived", "tests": len(names)}
        finally:
            with open(full, "w") as file:
                file.write(original)
