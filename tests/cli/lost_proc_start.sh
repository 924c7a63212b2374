# shellcheck shell=bash
# If the record with which a proc starts cannot be read, the thread's events go on on that proc: it is the one
# whose next sequence number is missing.

# on_procs FILE: the events, with their thread, proc and goroutine.
on_procs() {
    gotrace print --no-recover --format jsonl "$1" 2>/dev/null |
        jq -r 'select(.type) | "\(.type) thread \(.thread) proc \(.proc) goroutine \(.g)"' | sort
}

# lost TRACE OFFSET: overwrites the type of the record there, and compares the events.
lost() {
    cp "$TRACES/$1.trace" lost.trace
    chmod u+w lost.trace
    echo ff | xxd -r -p | dd of=lost.trace bs=1 seek="$2" conv=notrunc status=none
    run gotrace validate --no-recover lost.trace
    gotrace validate --no-recover -j 2 lost.trace 2>&1 | diff - <(gotrace validate --no-recover -j 1 lost.trace 2>&1)
    diff <(on_procs "$TRACES/$1.trace") <(on_procs lost.trace) | grep '^[<>]' | uniq -c
}
echo '== the start of a proc, which GoStart needs'
lost go1.25-gensprof 8978
echo '== which the end of the proc needs'
lost go1.25-gensprof 21005
echo '== which GoSyscallBegin needs, whose own sequence number shows that it lost a system call too'
lost go1.26-net 174
echo '== which the end of a system call needs'
lost go1.27-syscall 280
echo '== several procs are possible'
lost go1.22-hundreds 5088
