#!/usr/bin/env bash
# Checks `gotrace record --pid`: a program that runs already is recorded, and goes on as if it were not.
#
#   ATTACHES=200 tests/attach/run.sh     records a program with threads that allocate memory so many times
set -u
cd "$(dirname "$0")/../.." || exit 1
BUILD="${BUILD:-build}"
gotrace=$(realpath "$BUILD")/gotrace
attaches=${ATTACHES:-25}

# shellcheck disable=SC1091
. tests/checks.bash

gotrace() { timeout -k 1 "$HANG" "$gotrace" "$@"; }

read -ra compiler <<<"${CC:-cc}"
"${compiler[@]}" -O1 -g -pthread -o "$work/attached" testdata/record/attached.c || exit 1
"${compiler[@]}" -O1 -g -pthread -static -o "$work/static" testdata/record/attached.c || exit 1
cd "$work" || exit 1

# starts COMMAND...: starts a program, whose process id is $program, and waits until it waits.
starts() {
    rm -f stop output
    "$@" >output &
    program=$!
    wait_until is_ready "$program"
}
is_ready() { grep -qs '^attached\|^ready' output || ! kill -0 "$1"; }

# ends STATUS: the program ends by itself, with that status and its usual output.
ends() {
    : >stop
    wait_until is_gone "$program" || kill -KILL "$program"
    wait "$program"
    local status=$?
    cat output
    [ $status -eq "$1" ] && ! grep -q 'bad\|failed' output
}

# records OPTION...: to a.trace.
records() {
    gotrace record --pid "$program" -o a.trace "$@" 2>err
    local status=$?
    cat err
    [ $status -eq 0 ] && gotrace validate -q a.trace && gotrace print a.trace >a.txt
}

# The program is recorded twice; then it ends. Lines with the WORDS are in the trace.
goes_on() {
    local kind=$1 words good=0
    shift
    starts ./attached "$kind" stop
    records --duration 100ms && records --duration 1s || good=1
    for words in "$@"; do
        grep -q -- "$words" a.txt || { echo "no line with '$words'"; good=1; }
    done
    ends 7 && [ $good -eq 0 ]
}

starts ./attached threads stop
if ! records --duration 50ms >log && grep -q 'not permitted\|for x86-64' log; then
    skip 'record --pid' "$(cat log)"
    ends 7
    end_checks
    exit
fi
ends 7 >/dev/null

check 'threads that wait for each other' goes_on threads 'GoCreate .* start=main$' 'GoCreate .* start=producer$' \
    'GoCreate .* start=consumer$' 'GoUnblock .* waiting -> runnable at pthread_cond_signal' 'waiting(sleep) at nanosleep'
check 'a thread that computes, and others' goes_on busy 'GoCreate .* start=sleeper$'
not_seen() { grep -q 'threads that are not in the trace.*: 1 of 3' err; }
check 'the thread that computes is not seen' not_seen
check 'results and errno' goes_on errno 'at epoll_wait' 'at poll'
check 'signals' goes_on mask 'at sigsuspend' 'at ppoll'

# Threads allocate memory, and are created and end.
often() {
    local i good=0
    starts ./attached memory stop
    for ((i = 0; i < attaches && good == 0; i++)); do
        gotrace record --pid "$program" --duration 20ms -o a.trace && gotrace validate -q a.trace || good=1
    done
    ends 7 && [ $good -eq 0 ]
}
check "$attaches times" often

# fails STATUS WORDS ARGUMENT...: a message with the words, and no trace.
fails() {
    local status=$1 words=$2 found
    shift 2
    rm -f no.trace
    gotrace record -o no.trace "$@" 2>err
    found=$?
    cat err
    [ $found -eq "$status" ] && grep -qF -- "$words" err && [ "$(grep -c error err)" -eq 1 ] && [ ! -e no.trace ]
}
# refused WORDS PID: that process is.
refused() { fails 126 "$1" --pid "$2"; }

# by_signal SIGNAL: ends recording; the program does not get it.
by_signal() {
    local good
    starts ./attached threads stop
    "$gotrace" record --pid "$program" -o a.trace &
    wait_until is_recorded "$program"
    sleep 0.2
    kill "-$1" $!
    wait_until is_gone $! || kill -KILL $!
    wait $!
    good=$?
    gotrace validate a.trace && ends 7 && [ $good -eq 0 ]
}
is_recorded() { grep -q 'memfd:gotrace' "/proc/$1/maps"; }
for signal in TERM HUP USR1; do
    check "SIG$signal" by_signal $signal
done

# The recorder is killed: the program goes on, and can be recorded again.
killed() {
    local good=0
    starts ./attached threads stop
    "$gotrace" record --pid "$program" -o b.trace &
    wait_until is_recorded "$program"
    sleep 0.2
    refused 'another gotrace record records it' "$program" || good=1
    kill -KILL $!
    wait $!
    records --duration 200ms || good=1
    grep -q 'waiting(sleep) at nanosleep' a.txt && ends 7 && [ $good -eq 0 ]
}
check 'a recorder that is killed' killed

ended() {
    starts ./attached threads stop
    "$gotrace" record --pid "$program" -o a.trace &
    local recorder=$!
    wait_until is_recorded "$program"
    ends 7 || return
    wait_until is_gone $recorder || kill -KILL $recorder
    wait $recorder && gotrace validate a.trace && gotrace print a.trace | grep 'GoDestroySyscall .*syscall -> not-exist'
}
check 'the program ends' ended

# It was started by `record`, whose recording has ended.
again() {
    local good=0
    rm -f stop output a.trace
    "$gotrace" record --duration 100ms -o a.trace -- ./attached threads stop >output &
    local recorder=$!
    wait_until [ -s a.trace ]
    program=$(pgrep -P $recorder attached)
    records --duration 200ms || good=1
    grep -q 'at pthread_cond_signal' a.txt || good=1
    : >stop
    wait_until is_gone $recorder || kill -KILL $recorder
    wait $recorder
    [ $? -eq 7 ] && grep 'threads: good' output && [ $good -eq 0 ]
}
check 'a program that was recorded from its beginning' again

options() {
    local good=0
    starts ./attached threads stop
    records --duration 300ms --sample 1000 && records --duration 300ms --no-stacks --go 1.21 &&
        records --duration 300ms --flight 0.2 || good=1
    ends 7 && [ $good -eq 0 ]
}
check 'other options' options

# ---- what cannot be recorded ---------------------------------------------------------------------


check 'no process' fails 127 'No such process' --pid 4194304
check 'not a number' fails 2 "takes a number, not 'x'" --pid x
check 'a program too' fails 2 '--pid and a program exclude each other' --pid 1 -- true
check 'children' fails 2 '--pid and --follow-forks exclude each other' --pid 1 --follow-forks
check 'a thread of the kernel' refused 'it is a thread of the kernel' 2
itself() { bash -c "exec '$gotrace' record --pid \$\$" 2>err; grep 'it is gotrace itself' err; }
check 'itself' itself

# refuses WORDS COMMAND...: that program.
refuses() {
    local words=$1 good=0
    shift
    starts "$@"
    refused "$words" "$program" || good=1
    ends 7 && [ $good -eq 0 ]
}
check 'a static program' refuses 'statically linked' ./static threads stop
stopped() {
    local good=0
    starts ./attached threads stop
    kill -STOP "$program"
    refused 'it is stopped' "$program" || good=1
    kill -CONT "$program"
    ends 7 && [ $good -eq 0 ]
}
check 'a stopped program' stopped
thread() {
    local good=0
    starts ./attached threads stop
    refused "is a thread: name its process, $program" "$(find "/proc/$program/task/" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort -n | tail -n 1)" ||
        good=1
    ends 7 && [ $good -eq 0 ]
}
check 'a thread' thread
traced() {
    local good=0
    starts ./attached threads stop
    strace -o /dev/null -p "$program" 2>strace.err &
    wait_until grep -q '^TracerPid:.[1-9]' /proc/$program/status
    refused 'it is traced by process' "$program" || good=1
    kill %strace
    wait %strace
    ends 7 && [ $good -eq 0 ]
}
if command -v strace >/dev/null; then
    check 'a traced program' traced
else
    skip 'a traced program' 'strace is not installed'
fi
computes() {
    local good=0
    starts bash -c 'echo ready; until [ -e stop ]; do :; done; exit 7'
    refused 'no thread of it waits in the C library' "$program" || good=1
    ends 7 && [ $good -eq 0 ]
}
check 'a program that only computes' computes

if [ "$(id -u)" -eq 0 ]; then
    nobody=(setpriv --reuid nobody --regid nogroup --clear-groups)
    chmod 755 .
    other_user() {
        local good=0
        starts "${nobody[@]}" ./attached threads stop
        records --duration 200ms || good=1
        grep -q 'at pthread_cond_signal' a.txt && ends 7 && [ $good -eq 0 ]
    }
    check 'a program of another user, by root' other_user
    not_root() {
        local good=0
        starts ./attached threads stop
        "${nobody[@]}" "$gotrace" record --pid "$program" -o no.trace 2>err && good=1
        cat err
        grep -q "it is another user's" err && ends 7 && [ $good -eq 0 ]
    }
    check 'a program of root, by another user' not_root
    check 'a program with its own file systems' refuses 'in a container, or has file systems of its own' \
        unshare -m ./attached threads stop
    check 'a program with seccomp' refuses 'seccomp(2) limits its system calls' ./attached seccomp stop
else
    skip 'programs of other users' 'only root can start them'
fi

end_checks
