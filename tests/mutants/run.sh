#!/usr/bin/env bash
# Mutation tests: makes one-line faults (mutants) in a copy of the tree, one at
# a time, builds it, and runs the tests of `make check` until one fails. See README.md in this
# folder. Not part of `make check` or CI.
#
#   tests/mutants/run.sh [--seed N] [--count N] [--resume] [--again RESULTS] [--parts PART,...]
#                        [--no-coverage] [--work DIR] [--list] [FILE...]
set -u
cd "$(dirname "$0")/../.." || exit 1
command -v python3 >/dev/null || {
    echo 'mutants: needs python3 (run "make deps-test")' >&2
    exit 1
}
exec python3 tests/mutants/mutants.py "$@"
