#!/usr/bin/env bash
# Bad input to the program. Each case makes a file and says with which exit status `validate` has to
# refuse it, by which rule and in which words; every other verb that reads traces has to end with a
# status of ours too, and to say why. What a crash or a sanitizer ends with is none of these.
#
#   tests/bad/run.sh [NAME...]
set -u
cd "$(dirname "$0")/../.." || exit 1
traces=$PWD/testdata/traces
cases=$PWD/tests/bad/cases.sh
PATH=$(realpath "${BUILD:-build}"):$PATH
export LC_ALL=C.UTF-8
unset NO_COLOR

passed=0 failed=0 skipped=0
wanted=" $* "
work=$(mktemp -d) || exit 1
trap 'cd /; [ ! -d "$work/small" ] || umount "$work/small" 2>/dev/null; rm -rf "$work"' EXIT
cd "$work" || exit 1

fail() {
    echo "FAIL $1"
    [ ! -s log ] || sed 's/^/  /' log | cut -c 1-300 | tail -n 20
    failed=$((failed + 1))
}

# is_wanted NAME: whether that case was asked for.
is_wanted() {
    [ "$wanted" = "  " ] || [[ $wanted = *" $1 "* ]]
}

# expect NAME STATUS PATTERN COMMAND...: how a command has to end, and what it has to say.
expect() {
    local name=$1 status=$2 pattern=$3 ended
    shift 3
    timeout 120 "$@" >log 2>&1 </dev/null
    ended=$?
    if [ $ended -ne "$status" ]; then
        fail "$name: $* ended with status $ended, expected $status"
    elif ! grep -qE -- "$pattern" log; then
        fail "$name: $* did not say $pattern"
    else
        passed=$((passed + 1))
    fi
}

# end_well NAME STATUSES COMMAND...: it may end with any of these; where that is not 0, it says why.
end_well() {
    local name=$1 statuses=" $2 " ended
    shift 2
    timeout 120 "$@" >/dev/null 2>log </dev/null
    ended=$?
    if [[ $statuses != *" $ended "* ]]; then
        fail "$name: $* ended with status $ended, expected one of$statuses"
    elif [ $ended -ne 0 ] && [ ! -s log ]; then
        fail "$name: $* ended with status $ended, and said nothing"
    else
        passed=$((passed + 1))
    fi
}

# other_verbs NAME STATUS: the records of a trace that does not make sense can still be dumped.
other_verbs() {
    local verb
    for verb in info print 'print --format go' 'print --format jsonl' 'convert --to perfetto -o out' \
        'convert --to chrome -o out'; do
        # shellcheck disable=SC2086
        end_well "$1" "$2" gotrace $verb trace
    done
    end_well "$1" "0 $2" gotrace dump -o out trace
}

# bad NAME STATUS RULE WORDS: the case whose file make_NAME writes.
bad() {
    local name=$1 status=$2 rule=$3 words=$4
    is_wanted "$name" || return 0
    rm -f trace out
    "make_$name" >trace || fail "$name: the file could not be made"
    expect "$name" "$status" "^trace(:0x[0-9a-f]+)?: error: .*$words.*\[$rule\]" \
        gotrace validate trace
    other_verbs "$name" "$status"
    # From a pipe, it is the same.
    expect "$name" "$status" "\[$rule\]" bash -c 'gotrace validate - <trace'
    expect "$name" "$status" "\[$rule\]" bash -c 'cat trace | gotrace validate -'
}

skip() {
    echo "SKIP $1: $2"
    skipped=$((skipped + 1))
}

# shellcheck source=tests/bad/cases.sh
. "$cases"

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
