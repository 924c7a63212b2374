#!/usr/bin/env bash
# Measures how much the tests notice: puts one-line faults (mutants) into the code, one at a time,
# builds each, and runs the parts of `make check` until one fails. README.md beside this file has
# the details. Not part of `make check` or CI: most of a run is waiting for the tests, once for each mutant.
#
#   tests/mutants/run.sh [--seed N] [--count N] [--jobs N] [--list] [FILE...]
set -u
cd "$(dirname "$0")/../.." || exit 1
command -v python3 >/dev/null || {
    echo 'mutants: needs python3 (run "make deps-test")' >&2
    exit 1
}
exec python3 tests/mutants/mutants.py "$@"
