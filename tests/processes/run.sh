#!/usr/bin/env bash
# Checks the trace of `gotrace record --follow-forks` that is of several processes: which process has which goroutines,
# their ends, and who wakes whom.
set -u
cd "$(dirname "$0")/../.." || exit 1
BUILD="${BUILD:-build}"
gotrace=$(realpath "$BUILD")/gotrace

# shellcheck disable=SC1091
. tests/checks.bash

# gotrace ARGUMENT...: runs the program, with a limit against hangs.
gotrace() { timeout -k 1 "$HANG" "$gotrace" "$@"; }

if ! readelf -d "$BUILD/libgotrace.so" | grep -q 'NEEDED.*libdw'; then
    skip 'processes' 'the library was built without libdw: functions have no names'
    end_checks
    exit
fi

read -ra compiler <<<"${CC:-cc}"
for program in family channels; do
    "${compiler[@]}" -O1 -g -pthread -o "$work/$program" testdata/record/$program.c || exit 1
done
cd "$work" || exit 1

# prints TRACE: the trace is sound; its events are in events.txt, and its processes in processes.txt, as
# "PID PARENT FIRST-GOROUTINE LAST-GOROUTINE PROGRAM", as often as it names them.
prints() {
    gotrace validate "$1" && gotrace print "$1" >events.txt || return 1
    sed -nE 's/.*log "process" "pid ([0-9]+), parent ([0-9]+), goroutines ([0-9]+) to ([0-9]+), (.*)"$/\1 \2 \3 \4 \5/p' \
        events.txt >processes.txt
}

# has_calls PID COUNT: the process has the goroutines 1 to 4 of its range, and called write so often.
has_calls() {
    local first found
    first=$(awk -v pid="$1" '$1 == pid { print $3; exit }' processes.txt)
    [ -n "$first" ] || { echo "process $1 is not named"; return 1; }
    found=$(awk -v first="$first" '$5 ~ /^Go(SyscallBegin|Block)$/ && / at write$/ { g = substr($4, 2) - first
        if (g > 0 && g < 5) n++ } END { print n + 0 }' events.txt)
    [ "$found" -eq "$2" ] || { echo "process $1: $found calls instead of $2"; return 1; }
}

# ended PROCESSES: of each, all four goroutines ended.
ended() {
    local created gone
    created=$(grep -c ' GoCreate ' events.txt)
    gone=$(grep -cE ' Go(Destroy|DestroySyscall) ' events.txt)
    echo "$created goroutines, of which $gone ended"
    [ "$created" -eq $((1 + 4 * $1)) ] && [ "$gone" -eq "$created" ]
}

family() {
    local pid count children=$1
    shift
    gotrace record --follow-forks "$@" -o family.trace -- ./family "$children" >family.out
    [ $? -eq 7 ] && [ "$(wc -l <family.out)" -eq "$children" ] && [ "$(echo family.trace*)" = family.trace ] &&
        prints family.trace || return 1
    while read -r pid count; do
        has_calls "$pid" "$count" || return 1
    done <family.out
    [ "$(cut -d ' ' -f 1 processes.txt | sort -u | wc -l)" -eq $((children + 1)) ] &&
        [ "$(cut -d ' ' -f 5 processes.txt | sort -u)" = family ] && ended "$children" &&
        grep -qE ' G[0-9]+000001 +GoUnblock +G1 waiting -> runnable at sem_post$' events.txt
}
check 'a family' family 3
check 'a family of version 1.22' family 3 --go 1.22
check 'a large family' family 300 --no-stacks

# Before 1.22 system calls of processes that end have no end, and before 1.11 there are no messages.
old() {
    gotrace record --follow-forks --go "$1" -o old.trace -- ./family 3 >family.out
    [ $? -eq 7 ] && prints old.trace && [ "$(grep -c . processes.txt)" -eq "$2" ]
}
check 'version 1.21' old 1.21 4
check 'version 1.11' old 1.11 4
check 'version 1.10' old 1.10 0

# Each program has its own name and that of its main; a process keeps its goroutines when it executes another program.
pipeline() {
    local pids
    gotrace record --follow-forks -o pipeline.trace -- sh -c 'printf "b\na\n" | sort; env true' >pipeline.out || return 1
    [ "$(tr '\n' ' ' <pipeline.out)" = 'a b ' ] && prints pipeline.trace || return 1
    cat processes.txt
    pids=$(awk '$5 == "sort" { print $1 }' processes.txt | sort -u)
    [ "$(grep -c "^$pids " processes.txt)" -ge 2 ] && [ "$(awk -v pid="$pids" '$1 == pid { print $3 }' processes.txt | sort -u | wc -l)" -eq 1 ] &&
        grep -q 'not-exist -> runnable start=sort.main$' events.txt && grep -q 'start=env.main$' events.txt &&
        awk 'NR == 1 { first = $1 } $5 == "sort" && $2 == first { found = 1 } END { exit !found }' processes.txt
}
check 'programs of a shell' pipeline

# wakes WAKER FUNCTION WOKEN REASON: a goroutine of that program is woken in the function by one of the other program, from
# a wait for that reason.
wakes() {
    local waker woken
    waker=$(awk -v program="$1" '$5 == program { print substr($3, 1, length($3) - 6) }' processes.txt | sort -u)
    woken=$(awk -v program="$3" '$5 == program { print substr($3, 1, length($3) - 6) }' processes.txt | sort -u)
    grep -E "^ +[0-9.]+ .* G${woken:-0}[0-9]{6} +(GoBlock|UserLog)" events.txt | tail -n 4
    grep -qE " G${woken:-0}[0-9]{6} +GoBlock .* waiting\\($4\\) at" events.txt &&
        grep -qE " G${waker:-0}[0-9]{6} +GoUnblock +G${woken:-0}[0-9]{6} waiting -> runnable at $2\$" events.txt
}

# A pipe is empty and then full, as its reader and its writer wait.
pipes() {
    gotrace record --follow-forks -o pipes.trace -- bash -c '
        (sleep 1; exec dd bs=100000 count=3 if=/dev/zero 2>dd.err) | (exec 4<&0; exec cat <&4) | (sleep 3; exec wc -c)' >pipes.out &&
        [ "$(cat pipes.out)" -eq 300000 ] && prints pipes.trace || return 1
    wakes dd write cat 'chan receive' && wakes wc read cat 'chan send'
}
check 'wake-ups through pipes' pipes

# woken WAKER-IN CALLS: each goroutine that waits in one of the calls, for at least 5 milliseconds, is woken by another one
# in WAKER-IN. Up to three times, and less often than that, it is not known: it went on more than 100 milliseconds later.
woken() {
    awk -v waker=" at $1$" -v calls=" at ($2)$" '
        $5 == "GoBlock" { begin[$4] = $0 ~ calls ? $1 : 0 }
        $5 == "GoUnblock" && begin[$6] {
            if ($0 ~ waker && $4 != $6 && $4 != "-") good++
            else if ($1 - begin[$6] > 0.005) { bad++; print }
            begin[$6] = 0
        }
        END { print good + 0; exit bad > 3 || good <= bad }' events.txt
}

channel() {
    gotrace record --follow-forks -o channel.trace -- ./channels "$1" "$2" >channel.out && prints channel.trace &&
        woken '(write|connect)' 'read|poll|select|epoll_wait|accept'
}
for pair in inet/recv inet6/epoll unix/recv unix/poll pair/select event/recv event/poll event/epoll; do
    check "wake-ups through $pair" channel "${pair%/*}" "${pair#*/}"
done

# A call that reads makes room, but not enough each time.
full() {
    gotrace record --follow-forks -o full.trace -- ./channels "$1" full >channel.out && prints full.trace && woken read write
}
check 'wake-ups of a thread that sends' full unix
check 'wake-ups of a thread that sends to the network' full inet

# Each process is one of Perfetto's, named after its last program.
perfetto() {
    local program
    gotrace convert --to perfetto -o pipeline.pftrace pipeline.trace || return 1
    for program in sh sort true; do
        grep -aq "$program (pid [0-9]*)" pipeline.pftrace || { echo "no $program"; return 1; }
    done
}
check 'processes in Perfetto' perfetto

# Each generation names the processes that there are: those of a snapshot are named, too.
flight() {
    # shellcheck disable=SC2016
    gotrace record --follow-forks --flight 1.5 -o flight.trace -- bash -c '
        pause() { read -t 0.1 <> <(:); }
        (for i in {1..45}; do pause; done; exit 3) & wait $!'
    [ $? -eq 3 ] && prints flight.trace || return 1
    grep -c ' Sync ' events.txt
    [ "$(cut -d ' ' -f 3 processes.txt | sort -un | head -n 2 | tr '\n' ' ')" = '0 1000000 ' ]
}
check 'a flight recorder of several processes' flight

# Processes that go on are recorded until the end, with all that they did before.
stopped() {
    local pid
    rm -f going still gone
    # shellcheck disable=SC2016
    "$gotrace" record --follow-forks -o stopped.trace -- \
        bash -c '(until [ -e still ]; do : >going; sleep 0.05; done; : >gone) & exit 4' &
    pid=$!
    wait_until [ -e going ] && sleep 0.3
    kill -TERM $pid
    wait $pid
    [ $? -eq 4 ] && prints stopped.trace && rm -f going || return 1
    wait_until [ -e going ] && : >still && wait_until [ -e gone ] || return 1
    [ "$(cut -d ' ' -f 5 processes.txt | grep -c sleep)" -ge 2 ]
}
check 'processes that go on' stopped

separate_alone() {
    gotrace record --separate -o a.trace -- true 2>separate.err
    [ $? -eq 2 ] && grep -q 'add --follow-forks' separate.err
}
check 'no children' separate_alone
end_checks
