#!/usr/bin/env python3
"""Makes seeded one-line faults in a copy of the tree, one at a time, and reports those that `make check` does not detect."""
import argparse
import collections
import json
import os
import sys
import time

import mutations
from tree import Tree

FOLDERS = ("lib", "formats", "cmd/repair", "cmd/gen", "cmd/mutate", "cmd/parts")


def say(text):
    print(time.strftime("%H:%M:%S ") + text, flush=True)


def line_of(mutant):
    return f"{mutant['path']}:{mutant['line']}: {mutant['what']}: {mutant['before']}  =>  {mutant['after']}"


def identity(mutant):
    return mutant["path"], mutant["line"], mutant["after"]


def read_results(name):
    if not os.path.exists(name):
        return []
    with open(name) as file:
        return [json.loads(line) for line in file if line.endswith("\n")]


def report(results, seed, again):
    counts = collections.Counter(r["outcome"] for r in results)
    print(f"\nsurvivors of seed {seed}" + (", tried again:" if again else ":"))
    for r in results:
        if r["outcome"] == "survived":
            print(f"{r['path']}:{r['line']}: {r['what']} ({r['tests']} tests run this line)\n"
                  f"    - {r['before']}\n    + {r['after']}")
    print(f"not counted: {counts['invalid']} that do not compile, {counts['same code']} that compile to the same code"
          + (f", {counts['lost']} whose line is gone" if counts["lost"] else ""))
    print(f"{counts['killed']} killed, {counts['survived']} survived")


def parse_arguments():
    parser = argparse.ArgumentParser(prog="tests/mutants/run.sh", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="which mutants (default: 1)")
    parser.add_argument("--count", type=int, default=20, help="how many are tried (default: 20)")
    parser.add_argument("--list", action="store_true", help="list the mutants, try none")
    parser.add_argument("--resume", action="store_true", help="go on where an earlier run was interrupted")
    parser.add_argument("--again", metavar="RESULTS", help="try the survivors of an earlier run again, wherever their lines are now")
    parser.add_argument("--parts", metavar="PART,...", help="run only these tests: cli, or 'unit test_repair' (default: all)")
    parser.add_argument("--no-coverage", action="store_true", help="run every test, not only those that run the line of the mutant")
    parser.add_argument("--work", metavar="DIR", default="build/mutants", help="copy of the tree, and results (default: build/mutants)")
    parser.add_argument("files", nargs="*", metavar="FILE", help="sources (default: all of " + ", ".join(FOLDERS) + ")")
    return parser.parse_args()


def wanted(options):
    """The mutants to try, in order, and how many of them count."""
    files = options.files or mutations.sources(FOLDERS)
    if not options.again:
        return mutations.choose(files, options.seed), options.count
    survivors = [r for r in read_results(options.again) if r["outcome"] == "survived"]
    return [mutations.place_again(m, files) or {**m, "outcome": "lost"} for m in survivors], len(survivors)


def main():
    options = parse_arguments()
    chosen, count = wanted(options)
    if options.list:
        for _, mutant in zip(range(count), chosen):
            print(line_of(mutant))
        return 0

    work = os.path.abspath(options.work)
    os.makedirs(work, exist_ok=True)
    name = os.path.join(work, ("again" if options.again else f"seed-{options.seed}") + ".jsonl")
    if not options.resume and os.path.exists(name):
        os.rename(name, name + ".old")
    results = read_results(name)
    done = {identity(r): r for r in results}
    kills = collections.Counter()
    for r in results:
        kills.update([r.get("by"), (r["path"], r.get("by"))])

    tree = Tree(os.getcwd(), work)
    tree.prepare(say, options.parts.split(",") if options.parts else None, not options.no_coverage)
    say(f"results are appended to {name}")
    results, counted = [], 0
    for mutant in chosen:
        if counted >= count:
            break
        result = done.get(identity(mutant))
        if not result:
            begun = time.time()
            result = mutant if mutant.get("outcome") == "lost" else tree.try_out(mutant, mutations.with_change, kills)
            result["seconds"] = round(time.time() - begun)
            with open(name, "a") as file:
                file.write(json.dumps(result) + "\n")
            kills.update([result.get("by"), (result["path"], result.get("by"))])
        counted += result["outcome"] in ("killed", "survived")
        results.append(result)
        say(f"{counted}: {result['outcome']} after {result['seconds']} s: {line_of(result)}"
            + (f"\n    {result['by']}: {result['why']}" if "by" in result else ""))
    report(results, options.seed, options.again)
    return 0


sys.exit(main())
