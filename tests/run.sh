#!/usr/bin/env bash
# Runs every part of the tests that needs no Go toolchain, and adds up the totals. A part is a program
# tests/NAME/run.sh whose last line is "N passed, N failed, N skipped".
#
#   BUILD=build tests/run.sh [--stop] [PART...]     --stop: end at the first failure
set -u
cd "$(dirname "$0")/.." || exit 1
export BUILD="${BUILD:-build}"
export LC_ALL=C.UTF-8
# The output of a test must not depend on the user.
unset NO_COLOR

# The sanitizers end a program with a status that gotrace does not use. Freed memory is kept for less time, which
# halves the time of the search for leaks.
export ASAN_OPTIONS="${ASAN_OPTIONS:-exitcode=99:allocator_may_return_null=1:quarantine_size_mb=16}"
export UBSAN_OPTIONS="${UBSAN_OPTIONS:-exitcode=99:print_stacktrace=1}"
export TSAN_OPTIONS="${TSAN_OPTIONS:-exitcode=99}"

# The parts read STOP.
[ "${1:-}" != --stop ] || { export STOP=1; shift; }

if [ $# -eq 0 ]; then
    for part in tests/*/run.sh; do
        name=$(basename "$(dirname "$part")")
        case $name in
        conformance | mutants | drill) ;;
        *) set -- "$@" "$name" ;;
        esac
    done
fi

passed=0 failed=0 skipped=0
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
for name in "$@"; do
    "tests/$name/run.sh" 2>&1 | tee "$log" | sed -e '$d'
    status=${PIPESTATUS[0]}
    last=$(tail -n 1 "$log")
    if [[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]]; then
        printf '%-12s %s\n' "$name:" "$last"
        passed=$((passed + BASH_REMATCH[1]))
        failed=$((failed + BASH_REMATCH[2]))
        skipped=$((skipped + BASH_REMATCH[3]))
        if [ "$status" -ne 0 ] && [ "${BASH_REMATCH[2]}" -eq 0 ]; then
            echo "FAIL $name: status $status though nothing failed"
            failed=$((failed + 1))
        fi
    else
        printf '%s\n' "$last"
        echo "FAIL $name: did not come to its end (status $status)"
        failed=$((failed + 1))
    fi
    [ -z "${STOP:-}" ] || [ "$failed" -eq 0 ] || break
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
