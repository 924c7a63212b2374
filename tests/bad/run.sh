#!/usr/bin/env bash
# Bad input. Each case makes a file, and defines the exit status with which `validate` must reject it,
# the rule and the words of the message. Every other verb that reads traces must also end with a
# documented status and a message; a crash or a sanitizer ends with another status.
#
#   tests/bad/run.sh [NAME...]
set -u
cd "$(dirname "$0")/../.." || exit 1
traces=$PWD/testdata/traces
cases=$PWD/tests/bad/cases.sh
# shellcheck source=tests/hang.bash
. tests/hang.bash
scripts=$PWD/tests/bad/scripts.py
PATH=$(realpath "${BUILD:-build}"):$PATH
export LC_ALL=C.UTF-8
unset NO_COLOR

passed=0 failed=0 skipped=0
wanted=" $* "
work=$(mktemp -d) || exit 1
trap 'cd /; [ ! -d "$work/small" ] || umount "$work/small" 2>/dev/null; rm -rf "$work"' EXIT
cd "$work" || exit 1

end_tests() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ] || exit 1
}

fail() {
    echo "FAIL $1"
    [ ! -s log ] || sed 's/^/  /' log | cut -c 1-300 | tail -n 20
    failed=$((failed + 1))
    [ -z "${STOP:-}" ] || end_tests
}

# is_wanted NAME: whether that case was requested.
is_wanted() {
    [ "$wanted" = "  " ] || [[ $wanted = *" $1 "* ]]
}

# expect NAME STATUS PATTERN COMMAND...: the expected status and message of a command.
expect() {
    local name=$1 status=$2 pattern=$3 ended
    shift 3
    timeout "$HANG" "$@" >log 2>&1 </dev/null
    ended=$?
    if [ $ended -ne "$status" ]; then
        fail "$name: $* ended with status $ended, expected $status"
    elif ! grep -qE -- "$pattern" log; then
        fail "$name: $* did not say $pattern"
    else
        passed=$((passed + 1))
    fi
}

# end_well NAME STATUSES COMMAND...: it may end with any of these; if that is not 0, with a message.
end_well() {
    local name=$1 statuses=" $2 " ended
    shift 2
    timeout "$HANG" "$@" >/dev/null 2>log </dev/null
    ended=$?
    if [[ $statuses != *" $ended "* ]]; then
        fail "$name: $* ended with status $ended, expected one of$statuses"
    elif [ $ended -ne 0 ] && [ ! -s log ]; then
        fail "$name: $* ended with status $ended, and said nothing"
    else
        passed=$((passed + 1))
    fi
}

# other_verbs NAME STATUS: the records of an inconsistent trace can still be dumped.
other_verbs() {
    local verb
    for verb in info print 'print --format go' 'print --format jsonl' 'convert --to perfetto -o out' \
        'convert --to chrome -o out' 'print --stacks --function . --region r --from 1ns -o out' \
        'stat --function . --task 1,t --until 1s' 'convert --to folded --goroutine 1-9 --region r -o out'; do
        # shellcheck disable=SC2086
        end_well "$1" "$2" gotrace $verb trace
    done
    end_well "$1" "0 $2" gotrace dump -o out trace
}

# bad NAME STATUS RULE WORDS: the case whose file is written by make_NAME.
bad() {
    local name=$1 status=$2 rule=$3 words=$4
    is_wanted "$name" || return 0
    rm -f trace out
    "make_$name" >trace || fail "$name: the file could not be made"
    expect "$name" "$status" "^trace(:0x[0-9a-f]+)?: error: .*$words.*\[$rule\]" \
        gotrace validate trace
    other_verbs "$name" "$status"
    #     The same from a pipe.
    expect "$name" "$status" "\[$rule\]" bash -c 'gotrace validate - <trace'
    expect "$name" "$status" "\[$rule\]" bash -c 'cat trace | gotrace validate -'
}

skip() {
    echo "SKIP $1: $2"
    skipped=$((skipped + 1))
}

# shellcheck source=tests/bad/cases.sh
. "$cases"

# refused NAME SCRIPT WORDS: synth rejects a script with place and reason, and leaves no trace.
refused() {
    rm -f made
    expect "$1" 1 "^$2(:[0-9]+|:0x[0-9a-f]+)?(:[0-9]+)?: error: .*($3)" gotrace synth -o made "$2"
    [ ! -e made ] || fail "$1: something was written"
}

# Sanitizers start slowly: test each seventh byte only.
step=1
! nm "$(command -v gotrace)" 2>/dev/null | grep -qE '__(asan|tsan|ubsan)' || step=7

# cut_script ENCODING STATUSES: a valid script, truncated at each byte. If lines or items are independent
# and the cut is after one, the rest is a script.
cut_script() {
    local size at
    size=$(stat -c %s "good.$1")
    end_well "good.$1" 0 gotrace synth -o made "good.$1"
    for ((at = 0; at < size; at += step)); do
        rm -f made
        head -c $at "good.$1" >script
        end_well "$1 script cut at $at" "$2" gotrace synth -o made script
        if [ -e made ]; then
            end_well "$1 script cut at $at" '0 1' gotrace validate -q made
        elif ! grep -qE '^script(:[0-9]+|:0x[0-9a-f]+)?(:[0-9]+)?: error: ' log; then
            fail "$1 script cut at $at: where is not said"
        fi
    done
}

scripts_by_meaning() {
    local file words
    is_wanted scripts || return 0
    if ! command -v python3 >/dev/null; then
        skip scripts 'no python3 to write them'
        return
    fi
    python3 "$scripts" . >list || fail 'scripts: they could not be written'
    while IFS=$'\t' read -r file words; do refused "$file" "$file" "$words"; done <list
    cut_script text '0 1'
    cut_script jsonl '0 1'
    cut_script json 1
    cut_script cbor '0 1'
    cut_script cbordoc 1
}
scripts_by_meaning

end_tests
