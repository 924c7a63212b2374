#!/usr/bin/env bash
# Checks what `gotrace record` records of interposed functions: that each waits with the right reason, or is a system
# call, and that the thread that woke another one is recorded.
set -u
cd "$(dirname "$0")/../.." || exit 1
BUILD="${BUILD:-build}"
gotrace=$(realpath "$BUILD")/gotrace

# shellcheck disable=SC1091
. tests/checks.bash

# gotrace ARGUMENT...: runs the program, with a limit against hangs.
gotrace() { timeout -k 1 "$HANG" "$gotrace" "$@"; }

if ! readelf -d "$BUILD/libgotrace.so" | grep -q 'NEEDED.*libdw'; then
    skip 'calls' 'the library was built without libdw: functions have no names'
    end_checks
    exit
fi

read -ra compiler <<<"${CC:-cc}"
parallel=$(realpath testdata/record/parallel.c) threads=$(realpath testdata/record/threads.c)
for program in waits nonblocking barges crowded descriptors parallel threads names samples deadlocks peers; do
    "${compiler[@]}" -O1 -g -pthread -o "$work/$program" "testdata/record/$program.c" || exit 1
done
cd "$work" || exit 1

# count WORDS FILE: the number of lines that end with the words.
count() { grep -c -- "$1\$" "$2"; }

# Whether the kernel reports which thread woke which.
if [ -r /sys/kernel/tracing/events/sched/sched_waking/id ] && ./crowded permitted; then
    wakings=yes
else
    wakings=no
fi

# waits KIND REASON FUNCTION [WAKER]: three waits in the function, and as many wake-ups by the waker. kernel: it is the kernel
# that says which thread that is, or kernel:FUNCTION: in which call. A thread may go on too late for that.
waits() {
    local kind=$1 reason=$2 function=$3 waker=${4:-} own by
    gotrace record -o "$kind.trace" -- ./waits "$kind" || return 1
    gotrace validate "$kind.trace" && gotrace print "$kind.trace" >"$kind.txt" || return 1
    grep -E "Block|Unblock" "$kind.txt"
    [ "$(count " GoBlock  *G2 running -> waiting($reason) at $function" "$kind.txt")" -eq 3 ] || return 1
    if [[ $waker = kernel* ]]; then
        [[ $waker = kernel ]] && waker= || waker=" at ${waker#*:}"
        own=$(count "-  *GoUnblock  *G2 waiting -> runnable" "$kind.txt")
        by=$(count "G1  *GoUnblock  *G2 waiting -> runnable$waker" "$kind.txt")
        [ $((own + by)) -ge 3 ] && if [ $wakings = yes ]; then [ "$by" -ge 1 ]; else [ "$by" -eq 0 ]; fi
    elif [ -n "$waker" ]; then
        [ "$(count "G1  *GoUnblock  *G2 waiting -> runnable at $waker" "$kind.txt")" -ge 3 ]
    else
        [ "$(count "-  *GoUnblock  *G2 waiting -> runnable" "$kind.txt")" -ge 3 ]
    fi
}

sync=sync cond='sync.(\*Cond).Wait'
while read -r kind reason function waker; do
    [ "$reason" != cond ] || reason=$cond
    check "$kind" waits "$kind" "${reason//_/ }" "$function" "$waker"
done <<EOT
mutex sync pthread_mutex_lock pthread_mutex_unlock
timedlock sync pthread_mutex_timedlock pthread_mutex_unlock
clocklock sync pthread_mutex_clocklock pthread_mutex_unlock
rdlock sync pthread_rwlock_rdlock pthread_rwlock_unlock
timedrdlock sync pthread_rwlock_timedrdlock pthread_rwlock_unlock
wrlock sync pthread_rwlock_wrlock pthread_rwlock_unlock
timedwrlock sync pthread_rwlock_timedwrlock pthread_rwlock_unlock
sem sync sem_wait sem_post
semtimed sync sem_timedwait sem_post
cond cond pthread_cond_wait pthread_cond_signal
condtimed cond pthread_cond_timedwait pthread_cond_signal
condheld cond pthread_cond_wait pthread_cond_signal
broadcast cond pthread_cond_wait pthread_cond_broadcast
timeout cond pthread_cond_timedwait
mtx sync mtx_lock mtx_unlock
cnd cond cnd_wait cnd_signal
futex sync syscall syscall
pipe chan_receive read write
recv network recv send
readsocket network read send
poll select poll write
ppoll select ppoll write
select select select write
pselect select pselect write
epoll select epoll_wait write
epollp select epoll_pwait write
usleep sleep usleep
nanosleep sleep nanosleep
clocksleep sleep clock_nanosleep
thrdsleep sleep thrd_sleep
setlkw sync fcntl kernel
ofdsetlkw sync fcntl kernel
lockf sync lockf kernel
flock sync flock kernel:flock
semop sync semop kernel:semop
semtimedop sync semtimedop kernel:semop
mqreceive chan_receive mq_receive mq_send
mqtimedreceive chan_receive mq_timedreceive mq_send
mqsend chan_send mq_send mq_receive
mqtimedsend chan_send mq_timedsend mq_receive
msgrcv chan_receive msgrcv kernel:msgsnd
msgsnd chan_send msgsnd kernel:msgrcv
splice chan_receive splice write
splicesocket network splice send
splicefile chan_send splice read
tee chan_receive tee write
vmsplice chan_send vmsplice read
pollsend select poll kernel:read
sigwait unspecified sigwait kernel
aiosuspend select aio_suspend
EOT

# The barrier of the rounds is one too: there may be more waits.
barrier() {
    waits barrier "$sync" pthread_barrier_wait pthread_barrier_wait
    gotrace validate barrier.trace &&
        [ "$(count "G1  *GoUnblock  *G2 waiting -> runnable at pthread_barrier_wait" barrier.txt)" -ge 3 ]
}
check 'barrier' barrier

# A thread that was woken from a condition variable waits 20 ms for the mutex: until another one unlocks it, if the kernel says
# which thread that was.
held() {
    [ "$(count ' GoBlock  *G2 running -> waiting(sync)' condheld.txt)" -ge 3 ] &&
        [ "$(count 'G1  *GoUnblock  *G2 waiting -> runnable' condheld.txt)" -ge "$([ $wakings = yes ] && echo 1 || echo 0)" ]
}
check 'the mutex after a condition variable' held

# ---- what is waited for --------------------------------------------------------------------------

# waits_for TEXT GOROUTINE COUNT: in objects.txt, it waits for that so often, which is said right before.
waits_for() {
    local found
    found=$(grep -A 1 -E " $2  *UserLog  *log \"waits for\" \"$1\"\$" objects.txt | grep -c " $2  *GoBlock")
    echo "$1: $found"
    [ "$found" -eq "$3" ]
}

# Locks that the main thread has: of a read-write lock only if it has it to write.
objects() {
    local kind text address='0x[0-9a-f]{6,}' holder='held by goroutine 1'
    while read -r kind text; do
        grep -vE 'log "waits for" "barrier' "$kind.txt" >objects.txt
        waits_for "$text" G2 3 || { cat objects.txt; return 1; }
    done <<-EOT
	mutex mutex $address $holder
	timedlock mutex $address $holder, with a time-out
	clocklock mutex $address $holder, with a time-out
	mtx mutex $address $holder
	rdlock read-write lock $address $holder
	timedrdlock read-write lock $address $holder, with a time-out
	wrlock read-write lock $address
	sem semaphore $address
	semtimed semaphore $address, with a time-out
	cond condition variable $address
	condtimed condition variable $address, with a time-out
	futex futex $address
	pipe descriptor [0-9]+: pipe:\[[0-9]+\]
	recv descriptor [0-9]+: socket:\[[0-9]+\]
	splice descriptor [0-9]+: pipe:\[[0-9]+\]
	flock lock of descriptor [0-9]+: /.*/waits-.*
	setlkw lock of descriptor [0-9]+: /.*/waits-.*
	mqreceive descriptor [0-9]+: /waits-.*
	semop semaphores [0-9]+ of System V
	msgrcv message queue [0-9]+ of System V
	msgsnd message queue [0-9]+ of System V
	EOT
}
check 'what is waited for' objects

# The program, and its child, print what they wait for. Other calls may take long, too.
peers() {
    local status line
    gotrace record --follow-forks -o peers.trace -- ./peers >peers.txt
    status=$?
    cat peers.txt
    [ $status -eq 0 ] && gotrace validate peers.trace && gotrace print peers.trace >found.print || return 1
    sed -n 's/.* G1 .* log "waits for" "\(.*\)"$/\1/p; s/.* G1000001 .* log "waits for" "\(.*\)"$/child: \1/p' \
        found.print >found.txt
    cat found.txt
    while read -r line; do grep -qxF "$line" found.txt || { echo "no $line"; return 1; }; done <peers.txt
}
check 'files and peers' peers

why_names_holder() {
    gotrace why --goroutine 2 mutex.trace >why.txt || return 1
    cat why.txt
    [ "$(grep -cE 'waiting \(sync\) for mutex 0x[0-9a-f]+ held by goroutine 1 at .*, ended by goroutine 1$' why.txt)" -eq 3 ]
}
check 'why names the holder' why_names_holder

# holders VERSION HOW TEXT: a line of the text for each thread that waits.
holders() {
    local goroutine text
    gotrace record --go "1.$1" -o holders.trace -- ./deadlocks "$2"
    gotrace validate holders.trace && gotrace print holders.trace >objects.txt || return 1
    while read -r goroutine text; do
        waits_for "$text" "$goroutine" 1 || { cat objects.txt; return 1; }
    done <<<"$3"
}
mutex='mutex 0x[0-9a-f]+ held by'
for version in 11 21 22 26; do
    check "holders of locks, 1.$version" holders $version ring "G3 $mutex goroutine 4
G4 $mutex goroutine 5
G5 $mutex goroutine 6
G6 $mutex goroutine 7
G7 $mutex goroutine 3"
done
check 'a thread that is joined' holders 26 join "G1 the end of goroutine 3
G3 $mutex goroutine 1"
check 'a lock of a thread that has ended' holders 26 ended "G1 $mutex thread [0-9]+"
no_logs() {
    gotrace record --go 1.10 -o holders.trace -- ./deadlocks ring
    gotrace validate holders.trace && gotrace print holders.trace >objects.txt &&
        [ "$(grep -c 'GoBlock' objects.txt)" -ge 5 ] && ! grep -q 'waits for' objects.txt
}
check 'holders of locks, 1.10' no_logs

# ---- calls that cannot wait ----------------------------------------------------------------------

# nonblocking HOW CALLS: so many calls at least are recorded, all as system calls, though they take long: the kernel
# counts fewer times at which the thread gave up its processor.
nonblocking() {
    local switches calls
    switches=$(gotrace record -o nonblocking.trace -- ./nonblocking "$1") || return 1
    gotrace validate nonblocking.trace && gotrace print nonblocking.trace >nonblocking.txt || return 1
    grep 'GoBlock' nonblocking.txt
    calls=$(grep -cE ' G1  *GoSyscallBegin .* at (p?poll|p?select|epoll_wait|(read|write)v?|(recv|send)(from|to|m?msg)?)$' \
        nonblocking.txt)
    echo "$calls calls, $switches switches"
    [ "$calls" -ge "$2" ] && [ "$switches" -lt $(($2 / 2)) ] && ! grep -q 'GoBlock' nonblocking.txt
}
for how in socket ioctl kernel child dontwait; do
    check "a socket that does not block: $how" nonblocking $how 850
done
check 'a pipe that does not block' nonblocking pipe 550

# Of a thread that is woken for a lock which another one takes first, the time in which it waits for a processor is that of the
# kernel: within 20 %, and 1 ms of each of three threads, of which short waits are not read.
barges() {
    local kernel own woken waits
    gotrace record -o barges.trace -- ./barges >barges.txt && gotrace validate barges.trace || return 1
    kernel=$(awk '{ sum += $2 } END { printf "%.0f", sum }' barges.txt)
    own=$(gotrace stat --json barges.trace | sed -n 's/^{"kind":"function","name":"victim".*"sched_wait_ns":{"sum":\([0-9]*\).*/\1/p')
    gotrace print barges.trace >barges.print
    woken=$(grep -c 'GoUnblock.* at pthread_mutex_unlock$' barges.print)
    waits=$(grep -c 'GoBlock.*waiting(sync) at pthread_mutex_lock$' barges.print)
    echo "they wait $own ns, $kernel ns by the kernel; $woken of $waits are woken by an unlock"
    [ "$kernel" -gt 0 ] && [ $((own - kernel)) -le $((kernel / 5 + 3000000)) ] && [ $((kernel - own)) -le $((kernel / 5 + 3000000)) ] &&
        [ "$waits" -gt 0 ] && [ $((5 * woken)) -ge "$waits" ]
}
if [ -r /proc/self/schedstat ]; then
    check 'a lock that others take first' barges
else
    skip 'a lock that others take first' 'the kernel has no /proc/self/schedstat'
fi

check 'descriptors of the program' gotrace record -o descriptors.trace -- ./descriptors

# A file is read 150 times by a descriptor that was a socket. There are also six calls on sockets.
reuse() {
    gotrace record -o reuse.trace -- ./nonblocking reuse && gotrace print reuse.trace >reuse.txt || return 1
    grep 'GoBlock' reuse.txt
    [ "$(grep -c 'GoBlock' reuse.txt)" -le 6 ] && [ "$(grep -c 'GoSyscallBegin .* at read$' reuse.txt)" -ge 150 ]
}
check 'a file whose descriptor was a socket' reuse

# ---- waits that are not seen ---------------------------------------------------------------------

# parallel COMPILER VERSION: builds the library with its OpenMP, and records the program that loads it, to parallel.err.
parallel() {
    "$1" -O1 -g -fPIC -shared -fopenmp -DPARALLEL -o parallel.so "$parallel" || return 1
    gotrace record --go "$2" -o parallel.trace -- env OMP_WAIT_POLICY=passive ./parallel ./parallel.so 2>parallel.err || return 1
    cat parallel.err
    gotrace validate parallel.trace && gotrace print parallel.trace >parallel.txt &&
        [ "$(grep -c 'GoCreate' parallel.txt)" -ge 3 ]
}
no_warning() { [ ! -s parallel.err ] && [ -z "$(gotrace stat parallel.trace 2>&1 >/dev/null)" ]; }
# Its threads G3 and G4 wait, and nothing of it is recorded. Before 1.22 a trace cannot show what the kernel reports.
unseen() {
    parallel gcc 1.21 && ! grep -E 'G[34] running -> waiting' parallel.txt &&
        [ "$(wc -l <parallel.err)" -eq 1 ] && grep -q 'libgomp (OpenMP) are not seen.*: 2,' parallel.err || return 1
    gotrace stat parallel.trace 2>stat.err >/dev/null && cat stat.err &&
        grep -q 'libgomp (OpenMP) are not seen.*: 2,' stat.err
}
# They wait at four barriers for more than 20 ms, and then for less. Where the kernel says who wakes, that is another thread.
reported() {
    local number unblocks=' G[0-9]*  *GoUnblock'
    [ $wakings = yes ] || unblocks='GoUnblock'
    parallel gcc 1.26 && no_warning || return 1
    for number in 3 4; do
        grep -E "G$number running -> waiting|GoUnblock  *G$number " parallel.txt
        [ "$(grep -c "G$number running -> waiting(unspecified)" parallel.txt)" -ge 4 ] &&
            [ "$(grep -c "$unblocks  *G$number " parallel.txt)" -ge 4 ] || return 1
    done
}
# Those of libomp are recorded as any other.
seen() { parallel clang-14 1.26 && grep -q 'waiting(sync.(\*Cond).Wait)' parallel.txt && no_warning; }
for name in gcc clang-14; do
    if echo 'int main(void) { return 0; }' | $name -fopenmp -o openmp -xc - 2>/dev/null; then
        check "OpenMP of $name" "$([ $name = gcc ] && echo unseen || echo seen)"
        [ $name = gcc ] || continue
        if ./crowded permitted; then
            check "OpenMP of $name, as the kernel reports it" reported
        else
            skip "OpenMP of $name, as the kernel reports it" 'the kernel does not permit perf_event_open'
        fi
    else
        skip "OpenMP of $name" 'there is none'
    fi
done

# ---- threads that no interposed function creates -------------------------------------------------

# named PROGRAM HOW NAME [OPTION...]: its thread has that name, and its first thread is main.
named() {
    local program=$1 how=$2 name=$3
    shift 3
    gotrace record "$@" -o named.trace -- "$program" "$how" && gotrace validate named.trace &&
        gotrace print named.trace >named.txt || return 1
    cat named.txt
    grep -q 'G1 not-exist -> runnable start=main$' named.txt && grep -q "G2 not-exist -> runnable start=$name\$" named.txt
}
check 'a thread by dlsym' named ./threads plain plain_thread
check 'a thread by dlsym, without stacks' named ./threads plain plain_thread --no-stacks
check 'a thread whose first call has many callers' named ./threads deep deep_thread
check 'a thread of a timer' named ./threads timer expire
cp threads unnamed && strip unnamed
check 'a thread of a function without a name' named ./unnamed plain own_name
# The function is not known, because it cannot be unwound.
"${compiler[@]}" -O1 -fomit-frame-pointer -fno-asynchronous-unwind-tables -fno-exceptions -pthread -o opaque "$threads" || exit 1
check 'a thread of an unknown function' named ./opaque plain own_name

# named_later VERSION: names that threads are given, by themselves or by others, are labels of their goroutines, and
# shown by Perfetto and stat. Before 1.22 a label comes with the next start. Those of Go's garbage collector begin with "GC ".
named_later() {
    local name
    gotrace record --go "1.$1" -o names.trace -- ./names && gotrace validate names.trace &&
        gotrace print names.trace >names.txt && gotrace convert --to perfetto -o names.pftrace names.trace || return 1
    grep -i label names.txt
    for name in 'G1 main (main thread)' 'G2 names_itself (itself)' 'G3 uses_prctl (thread GC Thread#0)' \
        'G4 is_named (by another)' 'G5 renames (fifteen letters)' 'G6 parent (inherited)'; do
        grep -qaF "$name" names.pftrace || { echo "no $name"; return 1; }
    done
    gotrace stat --json --each names.trace | jq -r 'select(.kind == "goroutine" and .id < 7) | "G\(.id) \(.label)"' | sort >names.rows
    diff names.rows - <<'NAMES' || return 1
G1 main thread
G2 itself
G3 thread GC Thread#0
G4 by another
G5 fifteen letters
G6 inherited
NAMES
    [ "$(grep -aoE 'G[78] has_no_name [(][a-z]*[)]' names.pftrace | sort -u | wc -l)" -eq 1 ]
}
for version in 8 21 26; do
    check "threads that are named, 1.$version" named_later $version
done

# ---- CPU samples ---------------------------------------------------------------------------------

# samples HZ: so many a second of the processor time that the program says, a quarter of them in `small`, and no call of the
# program is interrupted by them. With 1000 a second the kernel lets one stand for several.
samples() {
    local used interrupted all small expected
    gotrace record --sample "$1" -o samples.trace -- ./samples >samples.out 2>samples.err || return 1
    read -r used interrupted <samples.out
    expected=$(awk -v hz="$1" '{ printf "%.0f", $1 / 1e9 * hz }' samples.out)
    gotrace validate samples.trace && gotrace convert --to folded --profile cpu -o - samples.trace >samples.txt || return 1
    cat samples.err samples.txt
    all=$(awk '{ sum += $NF } END { print int(sum / 1e7) }' samples.txt)
    small=$(awk '/;small;/ { sum += $NF } END { print int(sum / 1e7) }' samples.txt)
    echo "$all samples in $used ns, $small of them in small; $interrupted calls interrupted"
    [ "$interrupted" -eq 0 ] && [ $((10 * all)) -ge $((9 * expected)) ] && [ $((10 * all)) -le $((11 * expected + 30)) ] &&
        [ $((100 * small)) -ge $((20 * all)) ] && [ $((100 * small)) -le $((30 * all)) ] &&
        grep -q '^executes;large;work;' samples.txt
}
check '100 samples a second' samples 100
check '1000 samples a second' samples 1000

# Without callers, a sample has one function.
leaves() {
    gotrace record --sample 100 --no-stacks -o leaves.trace -- ./samples && gotrace validate leaves.trace &&
        gotrace print --stacks leaves.trace | grep -A 2 'CPUSample' >leaves.txt || return 1
    head -n 20 leaves.txt
    [ "$(grep -c ' at work$' leaves.txt)" -ge 20 ] &&
        [ "$(grep -cE '^ *at ' leaves.txt)" -le "$(grep -c ' CPUSample ' leaves.txt)" ]
}
check 'samples without callers' leaves

# Twice as many threads as processors: they run and wait for a processor as long as the kernel says, but for waits at the ends of
# sleeps, and before a generation of the trace began.
crowded() {
    local version=$1 ran waited own_ran own_waited
    gotrace record --go "1.$version" -o crowded.trace -- ./crowded >crowded.txt && gotrace validate crowded.trace || return 1
    read -r ran waited <<<"$(awk '{ ran += $1; waited += $2 } END { printf "%.0f %.0f\n", ran, waited }' crowded.txt)"
    read -r own_ran own_waited <<<"$(gotrace stat --json crowded.trace | sed -n \
        's/^{"kind":"function","name":"worker".*"exec_ns":{"sum":\([0-9]*\).*"sched_wait_ns":{"sum":\([0-9]*\).*/\1 \2/p')"
    echo "they run $own_ran ns, $ran ns by the kernel, and wait $own_waited ns, $waited ns by the kernel"
    gotrace stat crowded.trace | grep -q '^scheduling latency: [1-9][0-9]* waits' || { echo 'no latency'; return 1; }
    [ "$own_ran" -ge $((ran * 95 / 100)) ] && [ "$own_ran" -le $((ran * 105 / 100 + waited * 3 / 10)) ] &&
        [ "$own_waited" -ge $((waited / 2)) ] && [ "$own_waited" -le $((waited * 11 / 10)) ]
}

# Each time that a thread is preempted is in the trace, where it was. Short ones are left out.
preempted() {
    local all own
    crowded 26 || return 1
    all=$(awk '{ n += $3 } END { print n }' crowded.txt)
    own=$(gotrace print crowded.trace | grep -c ' GoStop .* runnable(preempted)')
    echo "$all preemptions by the kernel, $own in the trace"
    [ "$own" -le $((all + 20)) ] && [ "$own" -ge $((all / 2)) ]
}
if ./crowded permitted; then
    check 'when threads are preempted' preempted
else
    skip 'when threads are preempted' 'the kernel does not permit perf_event_open'
fi
for version in 7 19 21 22 26; do
    check "threads that wait for a processor, 1.$version" crowded $version
done

end_checks
