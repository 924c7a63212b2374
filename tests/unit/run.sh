#!/usr/bin/env bash
# Runs the unit tests (Check), and the fuzz targets on their corpora.
#
#   tests/unit/run.sh [NAME...]     test_NAME and fuzz_NAME; STOP=1 starts none after a failed one
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/hang.bash
. tests/hang.bash
BUILD="${BUILD:-build}"

passed=0 failed=0 skipped=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export BUILD work seeds
export CK_VERBOSITY=silent

# run_test NAME: write $work/NAME.{tap,log,status}.
run_test() {
    CK_TAP_LOG_FILE_NAME="$work/$1.tap" "$BUILD/tests/$1" >"$work/$1.log" 2>&1
    echo $? >"$work/$1.status"
    stop_after "$1"
}

# stop_after NAME: with STOP and a failed test, return the status that ends xargs.
stop_after() { [ -z "${STOP:-}" ] || [ "$(cat "$work/$1.status")" = 0 ] || return 255; }

# With the sanitizers `make fuzz` replays the seeds.
seeds="fuzz/corpus/seeds testdata/traces"
[ ! -e "$BUILD/gotrace" ] || ! nm "$BUILD/gotrace" | grep -qE '__(asan|tsan|ubsan)' || seeds=

# run_replay NAME: the same for a fuzz target.
run_replay() {
    local folder corpus=()
    for folder in "fuzz/corpus/${1#fuzz_}" fuzz/corpus/traces testdata/findings $seeds; do
        [ ! -d "$folder" ] || corpus+=("$folder")
    done
    timeout "$HANG" "$BUILD/fuzz/replay_${1#fuzz_}" "${corpus[@]}" >"$work/$1.log" 2>&1
    echo $? >"$work/$1.status"
    stop_after "$1"
}
export -f run_test run_replay stop_after

[ $# -gt 0 ] || for source in tests/unit/test_*.c fuzz/fuzz_*.c; do
    [ ! -e "$source" ] || set -- "$@" "$(basename "$source" .c)"
done

# In parallel, as many as there are processors.
for name in "$@"; do
    case $name in
    test_*) echo "run_test $name" ;;
    *) echo "run_replay $name" ;;
    esac
done | xargs -P "$(nproc)" -I{} bash -c '{}' 2>"$work/stopped"

# Report in the order of the names.
for status_file in "$work"/*.status; do
    [ -e "$status_file" ] || continue
    name=$(basename "$status_file" .status)
    status=$(cat "$status_file")
    ok=0 bad=0
    if [ "${name#fuzz_}" != "$name" ]; then
        [ "$status" -ne 0 ] || ok=1
    elif [ -e "$work/$name.tap" ]; then
        ok=$(grep -c '^ok ' "$work/$name.tap")
        bad=$(grep -c '^not ok ' "$work/$name.tap")
    fi
    passed=$((passed + ok))
    failed=$((failed + bad))
    if [ "$bad" -gt 0 ]; then
        sed -n "s/^not ok [0-9]* - /FAIL $name: /p" "$work/$name.tap"
    elif [ "$status" -ne 0 ] || [ "$ok" -eq 0 ]; then
        echo "FAIL $name: status $status after $ok tests"
        failed=$((failed + 1))
    else
        continue
    fi
    sed 's/^/  /' "$work/$name.log" | tail -n 40
done

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
