#!/usr/bin/env bash
# Checks `gotrace record`: how programs end, their children, and what cannot be recorded. What calls are recorded as
# is checked by tests/calls.
set -u
cd "$(dirname "$0")/../.." || exit 1
BUILD="${BUILD:-build}"
gotrace=$(realpath "$BUILD")/gotrace

# shellcheck disable=SC1091
. tests/checks.bash

# gotrace ARGUMENT...: runs the program, with a limit against hangs. Only tests that need its process id run "$gotrace"; they end
# with wait_for.
gotrace() { timeout -k 1 "$HANG" "$gotrace" "$@"; }

# wait_for PID: waits for a child, and returns its exit status. It is killed if it does not end.
wait_for() {
    wait_until is_gone "$1" || kill -KILL "$1"
    wait "$1"
}

if ! readelf -d "$BUILD/libgotrace.so" | grep -q 'NEEDED.*libdw'; then
    skip 'record' 'the library was built without libdw: functions have no names'
    end_checks
    exit
fi

read -ra compiler <<<"${CC:-cc}"
here=$PWD
kills=$(realpath tests/record/kills.sh)
truncates=$(realpath testdata/record/truncates.c) waits=$(realpath testdata/record/waits.c)
for program in waits ends forks counts jumps frames signals deadlocks; do
    "${compiler[@]}" -O1 -g -pthread -o "$work/$program" "testdata/record/$program.c" || exit 1
done
"${compiler[@]}" -O1 -g -pthread -Ilib -o "$work/plugins" testdata/record/plugins.c &&
    cp testdata/record/named.c "$work" &&
    "${compiler[@]}" -O1 -g -fPIC -shared -DPLUGIN -o "$work/plugin.so" testdata/record/plugins.c || exit 1
"${compiler[@]}" -O1 -g -fPIC -shared -o "$work/opens.so" testdata/record/opens.c || exit 1
"${compiler[@]}" -O1 -g -pthread -I. -o "$work/corrupts" testdata/record/corrupts.c || exit 1
library=$(realpath "$BUILD")/libgotrace.so
cd "$work" || exit 1

# ---- how programs end --------------------------------------------------------------------------

# ends HOW STATUS [OPTION...]: the exit status; the trace is sound.
ends() {
    local how=$1 status=$2 found
    shift 2
    gotrace record -o ends.trace "$@" -- ./ends "$how"
    found=$?
    [ $found -eq "$status" ] || { echo "status $found"; return 1; }
    gotrace validate ends.trace && gotrace print ends.trace >ends.txt
}

# has HOW STATUS WORDS: and the trace has a line that ends with the words.
has() {
    ends "$1" "$2" && { grep -q -- "$3\$" ends.txt || { cat ends.txt; return 1; }; }
}

blocks='GoBlock  *G2 running -> waiting(sync) at sem_wait'
destroys='GoDestroy  *G2 running -> not-exist'
check 'return' has '' 2 "$blocks"
check 'exit' has exit 10 "$blocks"
check '_exit' has _exit 11 "$blocks"
check 'quick_exit' has quick 12 "$blocks"
check 'abort' has abort 134 "$blocks"
check 'SIGTERM' has term 143 "$blocks"
check 'SIGKILL' has kill 137 "$blocks"
check 'cancellation' has cancelled 4 "$destroys"
check 'a detached thread' has detached 5 "$destroys"
check 'a C11 thread' has c11 6 'GoCreate  *G2 .* start=c11_thread at thrd_create'
check 'threads reuse slots' has many 7 'GoCreate  *G1501 .*'
check 'handlers of signals' ends signals 8
check 'fork' has fork 9 "$blocks"
check 'vfork' has vfork 9 "$blocks"
check 'exec' has exec 10 'GoCreate  *G3 not-exist -> runnable start=main'
check 'no stacks' ends exit 10 --no-stacks

# writer TRACE: who wrote it, according to info.
writer() { gotrace info "$1" | sed -n 's/^writer *//p'; }

# Each trace says that it was recorded, also one of a program that was killed, or one that is anonymous;
# 1.5 has no strings.
versions() {
    local version how expected='unknown'
    for version in 5 7 8 9 10 11 19 21 22 23 25 26; do
        for how in 'cancelled 4' 'kill 137'; do
            # shellcheck disable=SC2086
            ends $how --go "1.$version" && gotrace anonymize -q -o anonymous.trace ends.trace || return 1
            [ "$(writer ends.trace), $(writer anonymous.trace)" = "$expected, $expected" ] ||
                { echo "1.$version: $(writer ends.trace), $(writer anonymous.trace)"; return 1; }
        done
        expected='gotrace record'
    done
}
check 'all versions, and their writer' versions

# The callers of a function, with lines.
stacks() {
    ends exit 10 && gotrace print --format go ends.trace >ends.go &&
        grep -q 'wait_forever @' ends.go && grep -q 'ends\.c:' ends.go
}
check 'stacks' stacks

# Its functions have no names, but main is known.
stripped() {
    cp ends stripped && strip stripped || return 1
    gotrace record -o stripped.trace -- ./stripped exit
    [ $? -eq 10 ] && gotrace print stripped.trace >stripped.txt &&
        grep -q 'G1 not-exist -> runnable start=main$' stripped.txt &&
        grep -qE 'G2 not-exist -> runnable start=stripped\+0x[0-9a-f]+ at pthread_create$' stripped.txt
}
check 'a stripped program' stripped

# lasts_between MIN MAX TRACE: it lasts so many milliseconds. Prints it to lasts.txt.
lasts_between() {
    gotrace validate "$3" && gotrace print "$3" >lasts.txt || return 1
    cat lasts.txt
    awk -v min="$1" -v max="$2" '
        { last = $1 * 1000 }
        END { if (last < min || last > max) { print last " ms, not " min " to " max; exit 1 } }' lasts.txt
}

# The program goes on until the trace is written.
duration() {
    gotrace record --duration 1 -o duration.trace -- sh -c 'until [ -e duration.trace ]; do sleep 0.1; done; exit 3'
    [ $? -eq 3 ] && gotrace validate duration.trace
}
check 'duration' duration

# A program that sleeps 30 times 0.1 s: less is kept. It asks for a snapshot, and waits for it.
flight() {
    local blocks
    # shellcheck disable=SC2016
    gotrace record --flight 1 -o flight.trace -- bash -c '
        pause() { read -t 0.1 <> <(:); }
        for i in {1..30}; do
            /bin/true; pause
            [ $i -ne 15 ] || { kill -USR2 $PPID; until [ -e flight.trace.1 ]; do pause; done; }
        done
        exit 6'
    [ $? -eq 6 ] && gotrace validate flight.trace.1 && lasts_between 1000 inf flight.trace || return 1
    blocks=$(grep -c 'GoBlock' lasts.txt)
    echo "$blocks blocks"
    [ "$blocks" -lt 28 ] && [ ! -e flight.trace.2 ]
}
check 'flight recorder' flight

# A snapshot does not follow links that another user has made in a shared folder.
shared_snapshot() {
    local name found
    mkdir -p shared && chmod 1777 shared && echo secret >secret || return 1
    for name in shared/flight.trace.1 shared/flight.trace.1.part shared/flight.trace.part; do
        ln -sf ../secret $name && chown -h nobody $name || return 1
    done
    # shellcheck disable=SC2016
    gotrace record --flight 9 -o shared/flight.trace -- bash -c '
        until [ -e shared/flight.trace.2 ]; do kill -USR2 $PPID; read -t 0.1 <> <(:); done; exit 5' 2>shared.err
    found=$?
    cat shared.err
    [ $found -eq 5 ] && gotrace validate shared/flight.trace shared/flight.trace.2 && [ "$(cat secret)" = secret ] &&
        grep -q "shared/flight.trace.1': it is another user's link" shared.err && [ "$(wc -l <shared.err)" -eq 1 ]
}
if [ "$(id -u)" -eq 0 ]; then
    check 'a snapshot in a shared folder' shared_snapshot
else
    skip 'a snapshot in a shared folder' 'only root can make files of somebody else'
fi

# ---- how long a trace is -------------------------------------------------------------------------

# lasts MIN COMMAND...: runs the command, which records lasts.trace. That lasts so many milliseconds at least,
# and at most as long as the command runs. MIN may use late, the milliseconds after which the program made the folder
# started.
lasts() {
    local min=$1 begin late end
    shift
    rm -rf lasts.trace* started
    begin=$(milliseconds)
    "$@" &
    wait_until begins_or_ends $!
    late=$(($(milliseconds) - begin))
    wait $!
    end=$(milliseconds)
    echo "started after $late ms"
    lasts_between "$((min))" $((end - begin)) lasts.trace
}
milliseconds() { date +%s%3N; }
begins_or_ends() { [ -e started ] || is_gone "$1"; }

# lasts_in_versions MIN WORDS22 WORDS21 OPTION... -- PROGRAM...: in both formats, with a line that ends with the
# words, or with '' none that ends a goroutine.
lasts_in_versions() {
    local min=$1 version words
    local -A expected=([26]=$2 [21]=$3)
    shift 3
    for version in 26 21; do
        lasts "$min" gotrace record --go 1.$version -o lasts.trace "$@" || return 1
        words=${expected[$version]}
        if [ -n "$words" ]; then
            grep -q -- "$words\$" lasts.txt || return 1
        else
            ! grep -q 'not-exist$' lasts.txt || return 1
        fi
    done
}

check 'a program that calls nothing' lasts_in_versions 0 'GoDestroySyscall  *G1 syscall -> not-exist' '' -- true
check 'a thread that runs when the process is killed' lasts_in_versions 1150 'GoDestroy  *G1 .*' 'GoEnd  *G1 .*' \
    -- ./ends spin
no_event() { ! grep 'G2 waiting ->' lasts.txt; }
check 'a thread that waits then' no_event
# The last call of a program is the one that ends it, or executes another.
last_calls() {
    gotrace record --no-stacks -o calls.trace -- "${@:2}"
    gotrace validate calls.trace && gotrace print calls.trace >print.txt || return 1
    grep -oE 'GoSyscallBegin .* at (execv|execve|_exit|exit_group)$' print.txt | sed 's/.* at //' | paste -s -d ' ' >calls.txt
    cat calls.txt
    [ "$(cat calls.txt)" = "$1" ]
}
check 'exit' last_calls exit_group ./ends exit
check '_exit' last_calls _exit ./ends _exit
check 'a program that executes another' last_calls 'execv exit_group' ./ends exec
check 'a program that is not executed' last_calls 'execve _exit' sh -c 'exec /dev/null/no-such'
# The shell is killed while it waits for its child.
# shellcheck disable=SC2016
check 'a thread in a call then' lasts_in_versions 300 'GoDestroySyscall  *G1 syscall -> not-exist' '' \
    -- sh -c '(sleep 0.3; until grep -q "^State:.S" /proc/$$/status; do :; done; kill -KILL $$); :'
check 'a program that waits then' lasts_in_versions 300 '' '' -- timeout -s KILL 0.3 sleep 5
check 'a thread that runs when recording ends' lasts_in_versions '1000 - late' 'G1 runnable -> running' 'G1 runnable -> running' \
    --duration 1 -- ./ends spin lasts.trace
check 'threads that wait then' lasts_in_versions '1000 - late' '' '' --duration 1 -- ./ends sleep lasts.trace
check 'a thread in a call then' lasts_in_versions '1000 - late' '' '' \
    --duration 1 -- sh -c ': >started; until [ -e lasts.trace ]; do sleep 0.1; done'

# A snapshot too lasts until the present, less what is not replayed yet (AHEAD_NS of cmd/record/processes.c).
record_and_signal() {
    "$gotrace" record --flight 9 -o lasts.trace -- "$@" lasts.trace.1 &
    wait_until [ -e started ]
    sleep 0.5
    kill -USR2 $!
    wait_for $!
}
snapshot_lasts() {
    lasts 1150 record_and_signal ./ends "$1" && lasts_between 400 "$(awk 'END { print int($1 * 1000) }' lasts.txt)" lasts.trace.1
}
check 'a snapshot' snapshot_lasts sleep
check 'a snapshot of a running thread' snapshot_lasts spin

# Goroutines that were created before the trace have the names of the functions that they start with, also if the C library
# is outside of these in their stacks.
started_with() {
    gotrace validate "$1" && gotrace stat --json --only goroutines "$1" >functions.json || return 1
    jq -r 'select(.kind == "function") | .name' functions.json | sort | xargs >functions.txt
    cat functions.txt
    [ "$(cat functions.txt)" = "$2" ]
}
old_fibers() {
    "${compiler[@]}" -O1 -g -fno-omit-frame-pointer "-I$here/lib" -o flight "$here/testdata/record/flight.c" "$library" \
        -Wl,-rpath,"$(dirname "$library")" && ./flight >fibers.trace && started_with fibers.trace 'idle ping pong'
}
if nm "$library" | grep -qE '__(asan|tsan|ubsan)'; then
    skip 'functions of old fibers' 'the library has sanitizers'
else
    check 'functions of old fibers' old_fibers
fi

# is_dropped PID: the last snapshot of the recorder has no creation: the first generation is dropped.
is_dropped() {
    local snapshots
    rm -f old.trace.*[0-9]
    kill -USR2 "$1"
    sleep 0.2
    snapshots=(old.trace.*[0-9])
    [ -e "${snapshots[-1]}" ] && gotrace print "${snapshots[-1]}" >old.txt && ! grep -q GoCreate old.txt
}
old_threads() {
    rm -rf started later old.trace*
    "$gotrace" record --flight 0.1 -o old.trace -- ./ends sleep later &
    wait_until [ -e started ]
    wait_until is_dropped $!
    : >later
    wait_for $! && started_with old.trace 'main wait_forever'
}
check 'functions of old threads' old_threads

# A thread that goes on by itself after a wait has no scheduling latency but that of the kernel, which is read after long waits.
# One that another thread wakes has. Some ns are none.
goes_on() {
    local kind
    for kind in usleep mutex; do
        gotrace record -o goes.trace -- ./waits $kind && gotrace stat --json --only scheduling goes.trace >goes.json || return 1
        jq -r 'select(.kind == "latency-cause") | "\(.cause) \(.reason) \(.min)"' goes.json >goes.$kind
        cat goes.$kind
    done
    grep 'waited sync' goes.mutex && awk '$NF <= 5 { exit 1 }' goes.usleep goes.mutex || return 1
    gotrace record -o goes.trace -- sh -c 'sleep 0.1; :' && gotrace print goes.trace | grep GoSyscallEndBlocked || return 1
    ! gotrace stat --json --only scheduling goes.trace | grep '"cause":"syscall"'
}
check 'no latency of a thread that goes on by itself' goes_on

program_output() {
    [ "$(gotrace record -o out.trace -- ./waits | wc -l)" -gt 20 ] && gotrace validate out.trace
}
check 'the output of the program' program_output

default_name() { gotrace record -- ./ends exit; [ $? -eq 10 ] && gotrace validate ends.trace; }
check 'default name' default_name

# The function of a library that the program has unloaded has its name.
unloaded() {
    gotrace record -o unloaded.trace -- ./plugins wait ./plugin.so && gotrace validate unloaded.trace &&
        gotrace print --format go unloaded.trace | grep 'plugin_wait @'
}
check 'a library that is unloaded' unloaded

# The runtime wants to be the first library.
with_sanitizer() {
    local -x ASAN_OPTIONS
    "$1" -fsanitize=address -g -pthread -o asan "$waits" || return
    for ASAN_OPTIONS in '' detect_leaks=0; do
        gotrace record -o asan.trace -- ./asan mutex 2>asan.err || return
        cat asan.err
        [ ! -s asan.err ] && gotrace validate asan.trace && gotrace print asan.trace >asan.txt || return
        [ "$(grep -c 'GoBlock.*waiting(sync) at pthread_mutex_lock' asan.txt)" -eq 3 ] || return
    done
}
for name in gcc clang-14; do
    if command -v $name >/dev/null; then
        check "a program that $name built with AddressSanitizer" with_sanitizer $name
    else
        skip "a program built with AddressSanitizer" "no $name"
    fi
done
if readelf -d "$library" | grep -qE 'NEEDED.*lib[at]san'; then
    skip 'the recorder in a library that is unloaded' 'a sanitizer cannot be loaded later'
else
    check 'the recorder in a library that is unloaded' timeout -k 1 "$HANG" ./plugins record "$library"
fi

# ---- programs and recorders that are killed ------------------------------------------------------

check 'kills at random moments' "$kills" 20 "$gotrace" ./counts

# counted N: the N-th number of counts.
counted() { od -An -v -t u8 -w8 counted 2>/dev/null | sed -n "$1p" | tr -d ' '; }
has_begun() { [ "$(counted 5)" = 4 ]; }
# Each thread has filled its ring: a call has two of 8192 records.
has_filled() { [ "$(od -An -v -t u8 -w8 -N 32 counted | awk '$1 >= 4000' | wc -l)" -eq 4 ]; }
has_ended() { [ "$(counted 6)" = 1 ]; }

# The program waits for a recorder that is stopped, but not for one that is killed, even if that is a
# process until its parent waits for it, which `sleep` does not.
killed_recorder() {
    local recorder
    rm -f counted go
    local how=${1:-}
    if [ "$how" = zombie ]; then
        bash -c "'$gotrace' record -o lost.trace -- ./counts counted & echo \$! >recorder; exec sleep $HANG" &
    else
        "$gotrace" record -o lost.trace -- ./counts counted &
        echo $! >recorder
    fi
    disown
    wait_until has_begun || { echo 'not begun'; return 1; }
    recorder=$(cat recorder)
    kill -STOP "$recorder"
    wait_until has_state "$recorder" T
    : >go
    wait_until has_filled
    sleep 0.5 # a program that does not wait has time to go on
    ! has_ended || { echo 'it did not wait'; return 1; }
    kill -KILL "$recorder"
    wait_until has_ended || { od -v -t u8 -w8 counted; return 1; }
    [ "$how" != zombie ] || { grep -q '^State:.*Z' "/proc/$recorder/status" && kill "$(ps -o ppid= -p "$recorder")"; }
    [ ! -e lost.trace ]
}
check 'a recorder that is killed' killed_recorder
check 'a killed recorder whose parent does not wait' killed_recorder zombie

# ---- signals to the recorder -----------------------------------------------------------------------

# hangs HOW: records ./ends HOW; sets recorder and program, which waits.
hangs() {
    rm -f hang.trace
    "$gotrace" record -o hang.trace -- ./ends "$1" 2>hang.err &
    recorder=$!
    wait_until is_waiting && program=$(pgrep -P "$recorder" ends)
}
is_waiting() {
    local tasks=("/proc/$(pgrep -P "$recorder" ends)/task/"*)
    [ ${#tasks[@]} -ge 2 ]
}

# The first thread has ended, and a signal ends the other one.
first_thread() {
    hangs main && wait_until has_state "$program" Z && kill -TERM "$recorder"
    wait_for "$recorder"
    [ $? -eq 143 ] && [ ! -s hang.err ] && gotrace validate hang.trace
}
check 'signals are forwarded to other threads' first_thread

forwards() {
    hangs hang && kill -TERM "$recorder"
    wait_for "$recorder"
    [ $? -eq 143 ] && [ ! -s hang.err ] && gotrace validate hang.trace
}
check 'signals are forwarded' forwards

# As timeout(1) and a terminal do.
both() {
    set -m
    hangs hang
    set +m
    kill -TERM -- "-$recorder"
    wait_for "$recorder"
    [ $? -eq 143 ] && [ ! -s hang.err ] && gotrace validate hang.trace && cat hang.err
}
check 'a signal to the program and the recorder' both

# The program gets each signal once, whether it is sent to the group or to the recorder alone. The next one is sent when
# nobody has one pending: a signal that is sent again before it is handled comes once, too.
has_got() {
    is_gone "$recorder" || {
        [ "$(wc -l <got)" -eq "$1" ] && has_none_pending "$recorder" && has_none_pending "$(pgrep -P "$recorder" gotrace-signal)"
    }
}
has_none_pending() { grep -q '^ShdPnd:[[:space:]]*0*$' "/proc/$1/status"; }
once() {
    local to number=1
    : >got
    set -m
    "$gotrace" record -o got.trace -- ./signals >got &
    recorder=$!
    set +m
    for to in "-$recorder" "-$recorder" "$recorder" "-$recorder" "$recorder"; do
        wait_until has_got $number || return 1
        kill -USR1 -- "$to"
        number=$((number + 1))
    done
    wait_until has_got $number && kill -TERM "$recorder"
    wait_for "$recorder" && gotrace validate got.trace && cat got && [ "$(wc -l <got)" -eq $number ]
}
check 'each signal comes once' once

# The program has ended, but cannot be waited for.
held() {
    rm -f holder
    "$gotrace" record -o held.trace -- ./ends held 2>held.err &
    recorder=$!
    wait_until [ -s holder ] && program=$(pgrep -P "$recorder" ends) && wait_until has_state "$program" Z || return 1
    kill -TERM "$recorder"
    wait_until is_gone "$recorder"
    local ended=$?
    kill "$(cat holder)"
    wait_for "$recorder"
    [ $? -eq 143 ] && [ $ended -eq 0 ] && gotrace validate held.trace &&
        gotrace print held.trace >held.txt && cat held.txt && grep -q 'GoBlock .*G2 running -> waiting(sync)' held.txt
}
./ends held &
holds_or_ends() { [ -s holder ] || is_gone "$1"; }
wait_until holds_or_ends $!
if [ -s holder ]; then
    kill "$(cat holder)"
    check 'a signal while the program ends' held
else
    skip 'a signal while the program ends' 'ptrace is not permitted'
fi
wait_for $!

# The program is stopped: the recorder ends, and the program goes on when it continues: it does not wait for room.
stopped_program() {
    local ended
    rm -f counted go stopped.trace
    # shellcheck disable=SC2016
    "$gotrace" record -o stopped.trace -- bash -c 'trap "" TERM; exec ./counts counted' &
    recorder=$!
    wait_until has_begun && program=$(pgrep -P "$recorder" counts) && kill -STOP "$program" &&
        wait_until has_state "$program" T && kill -TERM "$recorder" && wait_until is_gone "$recorder"
    ended=$?
    [ $ended -eq 0 ] && has_state "$program" T && kill -CONT "$program" && : >go && wait_until has_ended || ended=1
    [ $ended -eq 0 ] || kill -KILL "$program" "$recorder"
    wait_for "$recorder"
    [ $? -eq 143 ] && [ $ended -eq 0 ] && gotrace validate stopped.trace
}
check 'a signal while the program is stopped' stopped_program

# It gets the signal when it continues.
continued() {
    hangs hang && kill -STOP "$program" && wait_until has_state "$program" T && kill -TERM "$recorder" &&
        wait_until is_gone "$recorder" && has_state "$program" T && kill -CONT "$program" && wait_until is_gone "$program"
    local ended=$?
    [ $ended -eq 0 ] || kill -KILL "$program"
    wait_for "$recorder"
    [ $? -eq 143 ] && [ $ended -eq 0 ] && gotrace validate hang.trace
}
check 'that signal when the program continues' continued

# ---- signal handlers that jump -------------------------------------------------------------------

# jumps HOW CALLS: the calls after the last jump are recorded, all of the other thread, and that calls are lost.
jumps() {
    gotrace record -o jumps.trace -- ./jumps "$1" 3000 2>jumps.err
    [ $? -eq 7 ] || return 1
    cat jumps.err
    grep -q 'jumped out of them' jumps.err && [ "$(wc -l <jumps.err)" -eq 1 ] || return 1
    gotrace validate jumps.trace && gotrace print jumps.trace >jumps.txt || return 1
    [ "$(grep -c ' G1  *Go.* at read$' jumps.txt)" -eq "$2" ] || { echo 'calls of read'; return 1; }
    [ "$(grep -c ' G2  *Go.* at write$' jumps.txt)" -eq 20000 ] || { echo 'calls of the other thread'; return 1; }
}
for how in same deeper other inlined; do
    check "jumps out of signal handlers: $how" jumps $how 1000
done
check 'jumps out of signal handlers: last' jumps last 0

# writes TRACE COUNT [THREAD]: the trace is sound, and has so many calls of write, of that goroutine.
writes() {
    local found
    gotrace validate "$1" && gotrace print "$1" >forks.txt || return 1
    found=$(grep -cE " ${3:-G[0-9]+}  *Go(SyscallBegin|Block)  .* at write\$" forks.txt)
    [ "$found" -eq "$2" ] || { echo "$1: $found calls"; return 1; }
}

# ---- stacks that are not as described ------------------------------------------------------------

# frames HOW WORDS: the program goes on, and a trace has a line that ends with the words.
frames() {
    ./frames "$1"
    [ $? -eq 5 ] || { echo 'without a recorder'; return 1; }
    gotrace record -o frames.trace -- ./frames "$1"
    [ $? -eq 5 ] && gotrace validate frames.trace && gotrace print --format go frames.trace | grep -q "$2"
}
check 'a frame with another base' frames base 'usleep @'
check 'a return address that is none' frames return 'usleep @'
check 'a handler that interrupts a jump to no code' frames signal 'usleep @'
check 'a path that cannot be read' frames exec 'StateTransition'

# ---- deadlocks -----------------------------------------------------------------------------------

# deadlock HOW GOROUTINE...: each waits for the next one, and so on. Without goroutines: there is none.
deadlock() {
    local how=$1 pattern goroutine
    shift
    gotrace record -o deadlock.trace -- ./deadlocks "$how"
    [ $? -eq 137 ] && gotrace validate deadlock.trace && gotrace diagnose deadlock.trace >deadlock.txt || return 1
    cat deadlock.txt
    if [ $# -eq 0 ]; then
        ! grep -q 'lock.deadlock' deadlock.txt
        return
    fi
    pattern="   goroutine $1 waits for"
    for goroutine in "${@:2}"; do pattern+=".* goroutine $goroutine, which waits for"; done
    grep -q '^1. lock.deadlock: ' deadlock.txt && grep -qE "^$pattern.* goroutine $1(;.*)?\$" deadlock.txt
}
check 'a deadlock of two threads' deadlock pair 3 4
# The trace goes on when its process has ended.
deadlock_of_child() {
    gotrace record --follow-forks -o deadlock.trace -- sh -c './deadlocks pair; sleep 0.1' && gotrace validate deadlock.trace &&
        gotrace diagnose deadlock.trace >deadlock.txt || return 1
    cat deadlock.txt
    grep -q '^1. lock.deadlock: ' deadlock.txt &&
        grep -qE '^   goroutine 1000003 waits for .* 1000004, which waits for .* goroutine 1000003$' deadlock.txt
}
check 'a deadlock of a child' deadlock_of_child
check 'a deadlock of five threads' deadlock ring 3 4 5 6 7
check 'a deadlock of read-write locks' deadlock rwlocks 3 4 5
check 'a thread that locks twice' deadlock self 1
check 'a deadlock with a thread that is joined' deadlock join 1 3
check 'a deadlock with a recursive mutex' deadlock recursive 1 3
check 'no deadlock: waits that end' deadlock timed
check 'no deadlock: a thread that waits for another one' deadlock line

# ---- programs that damage the shared memory ------------------------------------------------------

# damages HOW CALLS WARNINGS: the program goes on; what it recorded before is in the trace.
damages() {
    local status calls
    gotrace record -o damaged.trace -- ./corrupts "$1" 2>damaged.err
    status=$?
    cat damaged.err
    [ $status -eq 5 ] || { echo "status $status"; return 1; }
    gotrace validate damaged.trace || return 1
    calls=$(gotrace print damaged.trace | grep -c ' at write$')
    echo "$calls calls"
    [ "$calls" -ge "$2" ] && [ "$(grep -c 'has damaged the memory' damaged.err)" -eq "$3" ] &&
        [ "$(wc -l <damaged.err)" -eq "$3" ]
}
for how in used_all used_more head_far head_back images_many images_none state closed image type kind frame stack \
    created descriptor future random_records random_bytes; do
    check "a damaged ring: $how" damages $how 100 1
done
# This cannot be seen; nothing is lost, and the pipe that is named as a program is not waited for.
mkfifo pipe
for how in busy maps holder descriptors; do
    check "a damaged ring: $how" damages $how 400 0
done

late_records() {
    gotrace record -o late.trace -- ./corrupts late 2>late.err
    [ $? -eq 5 ] && gotrace validate late.trace || return 1
    cat late.err
    [ "$(cat late.err)" = 'late.trace: warning: events that are shown later than they were: 3' ]
}
check 'records that come late' late_records

# The traces of a process and its child are whole, and nothing else is waited for.
damages_session() {
    local found child
    rm -f damaged.trace*
    gotrace record --follow-forks --separate -o damaged.trace -- ./corrupts "$1" 2>damaged.err
    found=$?
    cat damaged.err
    [ $found -eq 5 ] || { echo "status $found"; return 1; }
    child=$(echo damaged.trace.*)
    [ "$(grep -c 'has damaged the list' damaged.err)" -eq 1 ] && [ "$(wc -l <damaged.err)" -eq 1 ] &&
        writes damaged.trace 101 && writes "$child" 201
}
for how in fds pids session; do
    check "a damaged list of processes: $how" damages_session $how
done

# Another process has got the pid of the recorder, which is killed.
reused_pid() {
    rm -f outlives stopped full outlived
    "$gotrace" record -o lost.trace -- ./corrupts recorder &
    disown
    wait_until [ -e outlives ] && kill -STOP $! && wait_until has_state $! T || return 1
    : >stopped
    wait_until [ -e full ]
    kill -KILL $!
    wait_until [ -e outlived ]
}
check 'a killed recorder whose pid is used again' reused_pid

# ---- children ------------------------------------------------------------------------------------

# forks HOW OPTION... -- [PROGRAM...]: records a program with a child; sets child to its trace.
forks() {
    local how=$1 options=()
    shift
    while [ "$1" != -- ]; do options+=("$1"); shift; done
    shift
    rm -f forks.trace forks.trace.*
    gotrace record "${options[@]}" -o forks.trace -- ./forks "$how" "$@" 2>forks.err
    found=$?
    cat forks.err
    child=$(echo forks.trace.*)
}

not_followed() {
    forks "$@"
    [ $found -eq 9 ] && [ ! -e "$child" ] && [ ! -s forks.err ] && writes forks.trace 300
}

followed() {
    forks "$1" --follow-forks --separate --
    [ $found -eq 9 ] && [ ! -s forks.err ] && writes forks.trace 300 && writes "$child" 5000 &&
        writes "$child" 2500 G1 && grep -q 'G1 not-exist -> runnable start=main$' forks.txt &&
        grep -q 'G2 .* start=call_in_thread' forks.txt
}

# The child executes a program, which sleeps; before that it is recorded only if it has memory of its own.
followed_exec() {
    local goroutine=$2
    forks "$1" --follow-forks --separate -- sh -c 'exec sleep 0.05'
    [ $found -eq 0 ] && [ ! -s forks.err ] && writes forks.trace 300 && writes "$child" 0 &&
        grep -qE "GoBlock +$goroutine running -> waiting\(sleep\) at (clock_)?nanosleep" forks.txt
}

for how in fork _Fork syscall clone; do
    check "a child by $how is not recorded" not_followed $how --
    check "a child by $how" followed $how
done
for how in vfork exec spawn; do
    check "a child by $how that is not recorded" not_followed $how -- sh -c 'exit 9'
done
check 'a child by vfork' followed_exec vfork G2
check 'a child by fork and exec' followed_exec exec G3
check 'a child by posix_spawn' followed_exec spawn G2

# 12 children of a handler that interrupts any instruction of the recording; if that is before a call of
# the parent is recorded, it is recorded in the child.
handler() {
    local traces trace
    forks handler "$@" --
    [ $found -eq 3 ] && [ ! -s forks.err ] && gotrace validate -q forks.trace || return 1
    [ $# -gt 0 ] || { [ ! -e "$child" ]; return; }
    traces=(forks.trace.*)
    [ ${#traces[@]} -eq 12 ] || { echo "${#traces[@]} traces"; return 1; }
    for trace in "${traces[@]}"; do
        writes "$trace" 10000 G1 || writes "$trace" 10001 G1 || return 1
    done
}
check 'children of a signal handler are not recorded' handler
check 'children of a signal handler' handler --follow-forks --separate

# Traces are named after the last program that a child has executed: that of a script is the script, and characters that
# affect a terminal are replaced. That of the program keeps its name.
named_traces() {
    local odd=$'odd\n\e[0m' name
    mkdir -p scripts && cp "$(type -P sleep)" "$odd" && printf '#!/bin/sh\n%s\n' 'sleep 0.01; :' >scripts/script &&
        printf '#!/bin/sh\n%s\n' 'exec sleep 0.01' >scripts/executes_another_program && chmod +x scripts/* || return 1
    rm -f named.trace*
    # shellcheck disable=SC2016
    ODD=./$odd gotrace record --follow-forks --separate -o named.trace -- \
        bash -c '(read -t 0.01 <> <(:)); "$ODD" 0.01; scripts/script; scripts/executes_another_program; :' || return 1
    gotrace validate -q named.trace named.trace.* || return 1
    printf '%s\n' named.trace* | sed 's/\.[0-9]*$//' | LC_ALL=C sort | uniq -c | awk '{ print $1, $2 }' | tee named.txt
    [ "$(cat named.txt)" = "1 named.trace
2 named.trace.bash
1 named.trace.odd__[0m
1 named.trace.script
2 named.trace.sleep" ]
}
check 'names of traces of children' named_traces

# The trace of a child whose parent ends first, and the number in all names. The child reads from a pipe, which its
# parent closes when it ends.
orphan() {
    rm -f orphan.* held_open
    mkfifo held_open
    gotrace record --follow-forks --separate --pid-suffix -o orphan.trace.zst -- \
        sh -c '(read -r _; sleep 0.1; exit 1) <held_open & exec 3>held_open; exit 7'
    [ $? -eq 7 ] && [ ! -e orphan.trace.zst ] || return 1
    local traces trace
    for trace in orphan.trace.zst.*; do
        gotrace validate "$trace" && zstd -tq <"$trace" || return 1
    done
    ls orphan.*
    traces=(orphan.trace.zst.*)
    [ ${#traces[@]} -ge 2 ]
}
check 'a child that goes on' orphan

# A signal ends recording when only children are left; they go on. That the first one is recorded is known when its
# own child has a trace.
stopped() {
    local pid program child
    rm -f stopped.* begun go still
    # shellcheck disable=SC2016
    "$gotrace" record --follow-forks --separate -o stopped.trace -- \
        sh -c '(until [ -e go ]; do sleep 0.1; done; : >still) & echo $$ $! >begun; exit 4' &
    pid=$!
    wait_until [ -s begun ] && read -r program child <begun && wait_until is_gone "$program"
    wait_until compgen -G 'stopped.trace.*' >/dev/null
    kill -TERM $pid
    wait_for $pid
    [ $? -eq 4 ] && [ ! -e still ] && gotrace validate stopped.trace "stopped.trace.sh.$child" || return 1
    : >go
    wait_until [ -e still ]
}
check 'a signal after the end of the program' stopped

follow_flight() {
    rm -f flying.* begun
    # shellcheck disable=SC2016
    gotrace record --follow-forks --separate --flight 1 -o flying.trace -- bash -c '
        pause() { read -t 0.1 <> <(:); }
        (pause; : >begun; until compgen -G "flying.trace.*[0-9].1" >/dev/null; do pause; done; exit 3) &
        child=$!
        until [ -e begun ]; do pause; done
        kill -USR2 $PPID; wait $child'
    [ $? -eq 3 ] && gotrace validate flying.trace flying.trace.* && ls flying.trace.*[0-9].1
}
check 'flight recorders of children' follow_flight

# Many, as of a shell: none is missing.
many() {
    rm -f many.*
    gotrace record --follow-forks --separate -o many.trace -- bash -c 'for i in {1..150}; do /bin/true & done; wait' || return 1
    local traces=(many.trace.*)
    [ ${#traces[@]} -eq 150 ] && gotrace validate -q many.trace many.trace.*
}
check 'many children' many

# ---- symbols -------------------------------------------------------------------------------------

# opens CHILDREN: how often the recorder opens the C library while so many children are recorded.
opens() {
    rm -f once.* opened
    echo text >once.txt
    # shellcheck disable=SC2016
    OPENED=$work/opened LD_PRELOAD=$work/opens.so gotrace record --follow-forks --separate -o once.trace -- \
        bash -c 'for ((i = 0; i < $1; i++)); do /bin/cat once.txt; done; :' bash "$1" >/dev/null || return 1
    [ "$(echo once.trace.* | wc -w)" -eq "$1" ] && grep -c '/libc\.so' opened
}
read_once() {
    local one many
    one=$(opens 1) && many=$(opens 60) || return 1
    echo "$one, $many times"
    [ "$one" -gt 0 ] && [ "$many" -le "$((one + 1))" ]
}
if readelf -d "$library" | grep -qE 'NEEDED.*lib[at]san'; then
    skip 'symbols are read once' 'a library cannot be loaded before a sanitizer'
else
    check 'symbols are read once' read_once
fi

# functions TRACE...: the functions that called usleep, in any order.
functions() {
    local trace
    for trace in "$@"; do
        gotrace print --format go "$trace" | grep -A 2 -m 1 'usleep @' | sed -n 's/^\t\(f_[a-z0-9]*\) @.*/\1/p'
    done | sort -u | tr '\n' ' '
}

# The source of an interposed function is not shown; that of the program is, whatever its path.
sources() {
    mkdir -p cmd/preload && cp named.c cmd/preload/calls.c &&
        "${compiler[@]}" -g -DFUNCTION=f_own -o own cmd/preload/calls.c &&
        gotrace record -o own.trace -- ./own && gotrace print --format go own.trace >own.txt || return 1
    cat own.txt
    [ "$(grep -A 1 'usleep @' own.txt | grep -c calls.c)" -eq 0 ] && grep -A 1 'f_own @' own.txt | grep -q 'cmd/preload/calls.c:'
}
check 'a program whose source has the path of a part of gotrace' sources

# Debug information in a file of its own, where it is named by a link, or found by the name of the program.
separate() {
    local from
    mkdir -p separate/.debug
    for from in linked.debug .debug/linked.debug unlinked.debug .debug/unlinked; do
        local program=separate/linked
        [[ $from = *unlinked* ]] && program=separate/unlinked
        rm -f separate/*linked* separate/.debug/*
        "${compiler[@]}" -g -DFUNCTION=f_apart -o $program named.c &&
            objcopy --only-keep-debug $program "separate/$from" && objcopy --strip-all $program || return 1
        [ $program = separate/unlinked ] || objcopy --add-gnu-debuglink="separate/$from" $program || return 1
        gotrace record -o apart.trace -- $program && gotrace print --format go apart.trace >apart.txt || return 1
        grep -A 1 'f_apart @' apart.txt | grep -q 'named\.c:' || { echo "not from $from"; return 1; }
    done
}
check 'debug information in another file' separate

# cached NAME: records ./cached, whose function is shown with that name; uses the folder of $GOTRACE_CACHE.
cached() {
    gotrace record -o cached.trace -- ./cached && gotrace print --format go cached.trace >cached.txt || return 1
    [ "$(functions cached.trace)" = "$1 " ] || { functions cached.trace; return 1; }
}

# cached_with FILE NAME: the same if FILE is what is kept.
cached_with() {
    echo "$1: $2" && cat "$1" >"$kept" && cached "$2"
}

cached_frames() { sed -n 's/ @.*//; s/^\t//p' cached.txt | sort -u; }

# What was found is used again: a name that is changed in the kept file is shown. Not if the program or the file is
# another one, or others can write to it. Then it is replaced.
cache() {
    local kept first size
    export GOTRACE_CACHE=$PWD/cache
    rm -rf cache && "${compiler[@]}" -O1 -g -Wl,--build-id=sha1 -DFUNCTION=f_true -o cached named.c &&
        cached f_true && kept=$(grep -l f_true cache/*.symbols) && cp "$kept" true.symbols || return 1
    first=$(cached_frames)
    sed 's/f_true/f_kept/' true.symbols >kept.symbols
    sed '2,$ { s/ 1$/:1/ }' kept.symbols >wrong.symbols
    cached_with kept.symbols f_kept && cached_with true.symbols f_true && [ "$(cached_frames)" = "$first" ] || return 1
    chmod g+w "$kept" && cached_with kept.symbols f_true && cmp "$kept" true.symbols || return 1
    chmod g+w cache && cached_with kept.symbols f_true && chmod g-w cache || return 1
    mv "$kept" moved && ln -s "$PWD/moved" "$kept" && cached_with kept.symbols f_true && [ ! -L "$kept" ] || return 1
    for size in 0 10 -1 +1; do
        cp kept.symbols cut.symbols && truncate -s "$size" cut.symbols && cached_with cut.symbols f_true &&
            cmp "$kept" true.symbols || return 1
    done
    cached_with wrong.symbols f_true && cmp "$kept" true.symbols || return 1
    touch -d '2020-01-01' cached && cached_with kept.symbols f_true && ! cmp -s "$kept" true.symbols
}
check 'functions that were found before' cache

# Where they are kept, and how many files.
cache_folder() {
    local i
    rm -rf folder home && mkdir home folder folder/none || return 1
    (unset GOTRACE_CACHE HOME XDG_CACHE_HOME; cd folder/none && cp ../../cached . && cached f_true) || return 1
    GOTRACE_CACHE='' HOME=$PWD/home cached f_true && [ -z "$(find home -mindepth 1)" ] || return 1
    (unset GOTRACE_CACHE XDG_CACHE_HOME; HOME=$PWD/home cached f_true) && compgen -G 'home/.cache/gotrace/*.symbols' || return 1
    (unset GOTRACE_CACHE; XDG_CACHE_HOME=$PWD/home/other cached f_true) && compgen -G 'home/other/gotrace/*.symbols' || return 1
    for i in {100..399}; do
        : >"folder/00000000000000$i.symbols"
    done
    touch -d '2020-01-01' folder/00000000000000250.symbols
    : >folder/another
    touch -d '2019-01-01' folder/another
    GOTRACE_CACHE=$PWD/folder cached f_true || return 1
    [ -e folder/another ] && [ ! -e folder/00000000000000250.symbols ]
}
check 'the folder of functions that were found' cache_folder

# A plugin is truncated after its symbols were read in part, as when it is installed again.
truncated() {
    local program=$1 found
    "${compiler[@]}" -O1 -g -fPIC -shared -DPLUGIN -o truncated.so "$program" &&
        "${compiler[@]}" -O1 -g -o truncates "$program" || return 1
    rm -f truncated.trace*
    gotrace record --flight 9 -o truncated.trace -- ./truncates ./truncated.so truncated.trace.1 2>truncated.err
    found=$?
    cat truncated.err
    [ $found -eq 5 ] && grep -q 'truncated.so: warning: the symbols of this file cannot be read' truncated.err &&
        gotrace validate truncated.trace truncated.trace.1 &&
        gotrace print --format go truncated.trace.1 | grep -q 'plugin_first @' &&
        gotrace print --format go truncated.trace | grep -q 'truncated\.so+0x[0-9a-f]* @'
}
check 'a library that is truncated' truncated "$truncates"

# Reading the symbols does not end: a signal ends recording, another one than that of the program. nohup ignores it.
endless_symbols() {
    local reader
    rm -f hang.trace*
    env --default-signal=HUP "$gotrace" record --flight 9 -o hang.trace -- ./ends hang 2>hang.err &
    recorder=$!
    wait_until is_waiting && program=$(pgrep -P "$recorder" ends) && kill -USR2 "$recorder" &&
        wait_until [ -e hang.trace.1 ] && reader=$(pgrep -P "$recorder" gotrace-symbols) &&
        kill -STOP "$reader" && kill -TERM "$program" && wait_until is_gone "$program" &&
        kill -HUP "$recorder" && wait_until is_gone "$recorder"
    local ended=$?
    [ $ended -eq 0 ] || kill -KILL "$recorder"
    wait_for "$recorder"
    [ $? -eq 143 ] && [ $ended -eq 0 ] && gotrace validate hang.trace hang.trace.1 && is_gone "$reader"
}
check 'a signal while symbols are read' endless_symbols

# The program has another function each time: as a new file, and in the same one. Its symbols are read before its
# trace is complete.
replaced() {
    local name
    for name in f_a f_b f_c; do
        "${compiler[@]}" -g -DFUNCTION=$name -o $name named.c || return 1
    done
    rm -f replaced replaced.*
    # shellcheck disable=SC2016
    gotrace record --follow-forks --separate -o replaced.trace -- bash -c '
        run() {
            ./replaced &
            child=$!
            until [ -e "replaced.trace.replaced.$child" ]; do sleep 0.1; done
        }
        cp f_a replaced; run
        mv f_b replaced; run
        cat f_c >replaced; ./replaced' || return 1
    functions replaced.trace replaced.trace.* | tee replaced.txt
    [ "$(cat replaced.txt)" = 'f_a f_b f_c ' ]
}
check 'a program that is replaced' replaced

# More programs than files whose symbols are kept.
programs() {
    local i
    rm -f programs.*
    for i in {1..300}; do cp f_a "program$i"; done
    # shellcheck disable=SC2016
    gotrace record --follow-forks --separate -o programs.trace -- bash -c 'for i in {1..300}; do "./program$i"; done; ./f_c' || return 1
    gotrace validate -q programs.trace programs.trace.* || return 1
    [ "$(functions programs.trace programs.trace.*)" = 'f_a f_c ' ] && [ "$(cat programs.trace.* | grep -c f_a)" -ge 300 ]
}
check 'many programs' programs

# ---- what fails ----------------------------------------------------------------------------------

# fails STATUS WORDS ARGUMENT...
fails() {
    local status=$1 words=$2 found
    shift 2
    gotrace record "$@" >fails.out 2>fails.err
    found=$?
    cat fails.err
    [ $found -eq "$status" ] && grep -q -- "$words" fails.err
}

itself() {
    cp ends itself && ! gotrace record -o ./itself -- ./itself exit 2>itself.err || return 1
    cat itself.err
    grep -q 'this is the program' itself.err && cmp ends itself || return 1
    printf '#! %s/itself exit\n' "$PWD" >script && chmod +x script
    ! gotrace record -o itself -- ./script 2>itself.err || return 1
    cat itself.err
    grep -q 'this is the program' itself.err && cmp ends itself
}
check 'a trace that would replace the program, or the interpreter of a script' itself
check 'no program' fails 2 'the program is missing'
check 'a program that does not exist' fails 127 'missing: No such file' -o a.trace -- ./missing
check 'one that is not in PATH' fails 127 'missing: No such file' -o a.trace -- missing
check 'an empty name' fails 127 'No such file' -o a.trace -- ''
check 'a folder' fails 126 'Is a directory' -o a.trace -- "$work"
check 'a file that is not a program' fails 126 'named.c: Permission denied' -o a.trace -- ./named.c
in_path() { PATH="$work:$PATH" fails "$@"; }
check 'such a file in PATH' in_path 126 'named.c: Permission denied' -o a.trace -- named.c
printf '#!/missing
' >script && chmod +x script
check 'a script without its interpreter' fails 127 'script: No such file' -o a.trace -- ./script
check 'standard output' fails 2 'name a file' -o - -- ./ends exit
check 'an unknown version' fails 2 '1.99' --go 1.99 -o a.trace -- ./ends exit
check 'a flight recorder of 1.21' fails 2 'only traces of 1.22' --go 1.21 --flight 1 -o a.trace -- ./ends exit
check 'full disk' fails 3 'No space left' -o /dev/full -- ./ends exit
check 'a folder that does not exist' fails 3 'No such file' -o missing/a.trace -- ./ends exit

echo 'int main(void) { return 0; }' >static.c
if "${compiler[@]}" -static -o static static.c 2>/dev/null; then
    check 'a static program' fails 126 'statically linked' -o a.trace -- ./static
    check 'executing a static program' fails 0 "executed './static'.*statically linked" -o b.trace -- sh -c 'exec ./static'
    check 'that trace' gotrace validate b.trace
    for how in vfork exec spawn; do
        check "a static child by $how" fails 0 "executed './static'.*statically linked" \
            --follow-forks --separate -o b.trace -- ./forks $how ./static
    done
else
    skip 'a static program' 'cannot be linked'
fi
if [ "$(id -u)" -eq 0 ]; then
    cp ends setuid && chown nobody setuid && chmod u+s,a+rx setuid
    check 'a set-user-ID program' fails 126 'set-user-ID' -o a.trace -- ./setuid exit
    check 'executing a set-user-ID program' fails 10 "executed './setuid'.*set-user-ID" -o b.trace -- sh -c 'exec ./setuid exit'
    check 'a set-user-ID child' fails 10 "executed './setuid'.*set-user-ID" --follow-forks --separate -o b.trace -- \
        ./forks exec ./setuid exit
else
    skip 'a set-user-ID program' 'needs root'
fi
# It is executed by the shell, as by other programs, also if it is in PATH.
shell_script() {
    local name
    # shellcheck disable=SC2016
    printf 'sleep 0.01; echo "$1"; exit 6\n' >plain && chmod +x plain || return 1
    for name in ./plain plain; do
        [ "$(PATH="$work:$PATH" gotrace record -o plain.trace -- "$name" 'a b'; echo $?)" = $'a b\n6' ] &&
            gotrace validate plain.trace || return 1
    done
}
check 'a script without "#!"' shell_script

# Long times do not overflow.
long_times() {
    local option
    for option in --flight --duration; do
        lasts 400 gotrace record $option 18446744074 -o lasts.trace -- sleep 0.5 || return 1
    done
}
check 'times of centuries' long_times

# It waits until the trace is written, which only a short time does.
short_times() {
    local time
    for time in 0.2 200ms .2 200000us; do
        rm -f short.trace
        gotrace record --duration $time -o short.trace -- sh -c 'until [ -e short.trace ]; do sleep 0.1; done' && gotrace validate -q short.trace || return
    done
    gotrace record --flight 0.5 -o short.trace -- true && gotrace validate -q short.trace
}
check 'parts of a second' short_times
for time in 0 -1 x 1h 1.2.3 '' 2026-11-28T00:00:00Z; do
    check "a duration of '$time'" fails 2 "takes a time above 0, such as 0.5 (seconds) or 500ms, not '$time'" --duration "$time" -o a.trace -- ./ends exit
done

nothing_left() { [ ! -e a.trace ]; }
check 'no trace is left' nothing_left

# The standard descriptors of the program are closed.
closed() {
    gotrace record -o closed.trace -- ./ends exit <&- >&- 2>&-
    [ $? -eq 10 ] && gotrace validate closed.trace
}
check 'closed output' closed

end_checks
