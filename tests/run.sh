#!/usr/bin/env bash
# Runs every part of the tests that needs no Go toolchain, and adds up the totals. A part is a program
# tests/NAME/run.sh whose last line is "N passed, N failed, N skipped".
#
#   BUILD=build tests/run.sh [--stop] [PART...]     --stop: end at the first failure
#   ALL=1 tests/run.sh [PART...]                    sweeps try every place, trace and fault, not only some
#   TURN=N tests/run.sh [PART...]                   faults, scale and threads: other commands for another N
set -u
cd "$(dirname "$0")/.." || exit 1
export BUILD="${BUILD:-build}"
export LC_ALL=C.UTF-8
# The output of a test must not depend on the user.
unset NO_COLOR
export GOTRACE_CACHE=

# The sanitizers end a program with a status that gotrace does not use. Freed memory is kept for less time, which
# halves the time of the search for leaks.
export ASAN_OPTIONS="${ASAN_OPTIONS:-exitcode=99:allocator_may_return_null=1:quarantine_size_mb=16}"
export UBSAN_OPTIONS="${UBSAN_OPTIONS:-exitcode=99:print_stacktrace=1}"
export TSAN_OPTIONS="${TSAN_OPTIONS:-exitcode=99}"

# The parts read STOP.
[ "${1:-}" != --stop ] || { export STOP=1; shift; }

# The longest parts start first, so that none of them runs alone at the end.
first='unit cli faults repair threads record docs'
if [ $# -eq 0 ]; then
    # shellcheck disable=SC2086
    set -- $first
    for part in tests/*/run.sh; do
        name=$(basename "$(dirname "$part")")
        case $name in
        conformance | mutants | drill | portability) ;;
        *) [[ " $first " = *" $name "* ]] || set -- "$@" "$name" ;;
        esac
    done
fi

parts_folder=$(mktemp -d) || exit 1
trap 'rm -rf "$parts_folder"' EXIT

# run_part NAME: print its output at once when it ends, and store its totals. With STOP and a failed
# test, return the status that ends xargs.
run_part() {
    local status last begun=$SECONDS
    "tests/$1/run.sh" >"$parts_folder/$1.log" 2>&1
    status=$?
    last=$(tail -n 1 "$parts_folder/$1.log")
    {
        flock 9
        if [[ ! $last =~ ^[0-9]+\ passed,\ ([0-9]+)\ failed,\ [0-9]+\ skipped$ ]]; then
            cat "$parts_folder/$1.log"
            echo "FAIL $1: did not come to its end (status $status)"
            last='0 passed, 1 failed, 0 skipped'
        else
            sed '$d' "$parts_folder/$1.log"
            printf '%-12s %s (%d s)\n' "$1:" "$last" $((SECONDS - begun))
            if [ $status -ne 0 ] && [ "${BASH_REMATCH[1]}" -eq 0 ]; then
                echo "FAIL $1: status $status though nothing failed"
                last='0 passed, 1 failed, 0 skipped'
            fi
        fi
        echo "$last" >>"$parts_folder/totals"
    } 9>"$parts_folder/lock"
    [ -z "${STOP:-}" ] || [[ $last = *' 0 failed'* ]] || return 255
}
export -f run_part
export parts_folder

# In parallel, as many as there are processors, but one after the other if the first failure ends them.
jobs=$(nproc)
[ -z "${STOP:-}" ] || jobs=1
printf '%s\n' "$@" | xargs -P "$jobs" -I{} bash -c 'run_part {}' 2>/dev/null
awk '{ p += $1; f += $3; s += $5 }
    END { printf "%d passed, %d failed, %d skipped\n", p, f, s; exit f > 0 || !NR }' "$parts_folder/totals"
