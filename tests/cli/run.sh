#!/usr/bin/env bash
# Golden tests of the program. A test is NAME.sh; its expected output is in NAME.stdout.exact and
# NAME.stderr.exact, its exit status in NAME.exit (missing files: empty, empty, 0). It
# runs in an empty directory, with `gotrace` on the PATH, $TRACES set to the folder of the sample traces, and the
# functions of prelude.bash.
#
#   tests/cli/run.sh [NAME...]     UPDATE=1 writes the actual output into the golden files,
#                                  STOP=1 starts no test after a failed one
#   CLI_EVERY=3 TURN=N             only every third test, for another N others
set -u
cd "$(dirname "$0")/../.." || exit 1
here=$PWD/tests/cli
# shellcheck source=tests/hang.bash
. tests/hang.bash
export TRACES=$PWD/testdata/traces
PATH=$(realpath "${BUILD:-build}"):$PATH
export LC_ALL=C.UTF-8 TZ=UTC
unset NO_COLOR

n=${TURN:-0}
[ $# -gt 0 ] || for test in "$here"/*.sh; do
    [ "$test" = "$here/run.sh" ] || [ $((n++ % ${CLI_EVERY:-1})) -ne 0 ] || set -- "$@" "$(basename "$test" .sh)"
done

passed=0 failed=0 skipped=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# check NAME KIND: compare $work/NAME.KIND with the golden file.
check() {
    local golden="$here/$1.$2.exact"
    if [ -n "${UPDATE:-}" ]; then
        if [ -s "$work/$1.$2" ]; then cp "$work/$1.$2" "$golden"; else rm -f "$golden"; fi
    fi
    [ -e "$golden" ] || golden=/dev/null
    diff -u --label "$1.$2.exact" --label "$1 now" "$golden" "$work/$1.$2"
}

# run_test NAME: writes $work/NAME.{stdout,stderr,status}.
run_test() {
    mkdir "$work/$1"
    (cd "$work/$1" && exec timeout "$HANG" bash -c ". '$here/prelude.bash'; . '$here/$1.sh'") \
        >"$work/$1.stdout" 2>"$work/$1.stderr" </dev/null
    echo $? >"$work/$1.status"
    rm -rf "${work:?}/$1"
    #     This status ends xargs.
    [ -z "${STOP:-}" ] || judge_test "$1" >/dev/null || return 255
}

# judge_test NAME: compare output and status with the expected ones; print the difference.
judge_test() {
    local status expected bad=
    status=$(cat "$work/$1.status" 2>/dev/null || echo none)
    expected=$(cat "$here/$1.exit" 2>/dev/null || echo 0)
    [ "$status" != 77 ] || return 0
    check "$1" stdout || bad=1
    check "$1" stderr || bad=1
    if [ "$status" != "$expected" ]; then
        echo "exit status $status, expected $expected"
        bad=1
    fi
    [ -z "$bad" ]
}
export -f run_test judge_test check
export work here

# As many at a time as there are processors.
printf '%s\n' "$@" | xargs -P "$(nproc)" -I{} bash -c 'run_test {}' 2>"$work/stopped"

for name in "$@"; do
    [ -z "${STOP:-}" ] || [ -e "$work/$name.status" ] || continue
    if [ "$(cat "$work/$name.status" 2>/dev/null)" = 77 ]; then
        echo "SKIP $name: $(tail -n 1 "$work/$name.stderr")"
        skipped=$((skipped + 1))
    elif judge_test "$name"; then
        passed=$((passed + 1))
    else
        echo "FAIL $name"
        failed=$((failed + 1))
    fi
done

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
