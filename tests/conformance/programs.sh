#!/usr/bin/env bash
# programs.sh: the programs of programs.bash, and memcached, do the same while they are recorded. The traces are sound, Go's
# reader accepts them, they have the threads, what these executed is the processor time that the kernel counted, and their
# states are those of its scheduler.
# Prints results in the form of lib.sh.
set -u
# shellcheck disable=SC1091
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/conformance/programs.bash
. "$(dirname "$0")/programs.bash"
WORK=$(mktemp -d) || exit 1
FTRACE=/sys/kernel/tracing/instances/gotrace-$$
trap 'rm -rf "$WORK"; rmdir "$FTRACE" 2>/dev/null' EXIT
cd "$WORK" || exit 1

# goroutines TRACE: how many are created.
goroutines() { "$GOTRACE" print -q --format jsonl "$1" 2>/dev/null | grep -c '"from":"not-exist"'; }

# check_trace THREADS: that of the recorded program, which creates at least so many.
check_trace() {
    local created
    "$GOREAD_V2" recorded.trace >verdict 2>&1
    fail_if $? 'accepted by goread-v2' 'rejected' verdict
    "$GOTRACE" validate recorded.trace >verdict 2>&1
    fail_if $? 'sound' 'it is not' verdict
    created=$(goroutines recorded.trace)
    [ "$created" -ge "$1" ]
    fail_if $? "at least $1 threads" "the trace has $created"
}

# The shell's figures are in ticks of the kernel, of up to 10 ms.
ALLOWED_MS=10

# check_times TRACE TIMES: execution in the trace is within 5 % of the processor time of the children in TIMES, which
# times of the shell wrote. How much of a system call a thread was on a processor is not known: all of it, or nothing.
check_times() {
    local kernel executed calls
    kernel=$(tail -n 1 "$2" | tr ms '  ' | awk '{ printf "%.0f", ($1 * 60 + $2 + $3 * 60 + $4) * 1000 }')
    read -r executed calls < <("$GOTRACE" stat -q --json --top 0 "$1" | jq -nr '[inputs | select(.kind == "function")] |
        map(.exec_ns.sum), map(.syscall_ns.sum + .syscall_block_ns.sum) | add / 1e6 | floor' | paste - -)
    [ "$((100 * executed))" -le $((105 * kernel + 100 * ALLOWED_MS)) ] &&
        [ $((100 * (executed + calls))) -ge $((95 * kernel - 100 * ALLOWED_MS)) ]
    fail_if $? 'execution is the processor time' "execution $executed ms, system calls $calls ms, processor time $kernel ms"
}

# Whether ftrace can write the scheduler's events.
has_ftrace() {
    local event
    command -v python3 >/dev/null && mkdir "$FTRACE" 2>/dev/null || return 1
    echo mono >"$FTRACE/trace_clock" && echo 0 >"$FTRACE/tracing_on" && echo 20000 >"$FTRACE/buffer_size_kb" || return 1
    for event in sched_switch sched_waking; do
        echo 1 >"$FTRACE/events/sched/$event/enable" || return 1
    done
} 2>/dev/null
has_ftrace && ftrace=yes || ftrace=no

# with_events COMMAND...: runs it while ftrace writes them, to events.
with_events() {
    local status
    [ "$ftrace" = yes ] || { "$@"; return; }
    echo >"$FTRACE/trace"
    echo 1 >"$FTRACE/tracing_on"
    "$@"
    status=$?
    echo 0 >"$FTRACE/tracing_on"
    cat "$FTRACE/trace" >events
    return $status
}

# check_states TRACE: they are those of the scheduler's events. When a thread becomes runnable that waits in a way which is not
# recorded, for another program, is not known: so what programs write is not for a pipe here.
check_states() {
    if [ "$ftrace" = no ]; then
        skip "states are the scheduler's" 'ftrace needs root, and tracefs at /sys/kernel/tracing'
        return
    fi
    "$GOTRACE" print -q --format jsonl "$1" >recorded.jsonl && python3 "$CONFORMANCE/scheduler.py" recorded.jsonl events >states 2>&1
    fail_if $? "states are the scheduler's" 'they differ' states
}

# compare THREADS COMMAND [FILTER]: the command, run by a shell, has the same output and status when it is recorded.
# The trace is that of the shell's child, of which the shell writes the processor time.
compare() {
    local alone recorded filter=${3:-cat} script="$2; status=\$?; times >times; exit \$status"
    export TRACE_NAME
    TRACE_NAME=record/$(basename "${2%% *}")
    for need in "${2%% *}" jq; do
        command -v "$need" >/dev/null || { skip 'the same output' "no $need"; return; }
    done
    rm -f recorded.trace*
    bash -c "$script" 2>alone.err | $filter >alone.out
    alone=${PIPESTATUS[0]}
    with_events "$GOTRACE" record -q --follow-forks --separate -o recorded.trace -- bash -c "$script" >recorded.all 2>recorded.err
    recorded=$?
    $filter <recorded.all >recorded.out
    [ "$recorded" -eq "$alone" ] && cmp alone.out recorded.out >difference 2>&1 && cmp alone.err recorded.err >>difference 2>&1
    fail_if $? 'the same output and status' "status $recorded instead of $alone" difference
    mv recorded.trace.* recorded.trace
    check_trace "$1"
    check_times recorded.trace times
    check_states recorded.trace
}

# answers COMMAND...: what memcached answers to 500 requests of each of four clients.
answers() {
    local server status
    rm -f socket
    "$@" memcached -s "$WORK/socket" -t 4 -u "$(id -un)" &
    server=$!
    timeout "$HANG" python3 - "$WORK/socket" <<'END'
import socket, sys, threading, time
while True:
    try:
        socket.socket(socket.AF_UNIX).connect(sys.argv[1])
        break
    except OSError:
        time.sleep(.1)
said = [None] * 4
def client(number):
    s = socket.socket(socket.AF_UNIX)
    s.connect(sys.argv[1])
    lines = s.makefile('rwb')
    for i in range(500):
        lines.write(b'set k%d.%d 0 0 3\r\n%03d\r\nget k%d.%d\r\n' % (number, i, i, number, i))
    lines.flush()
    said[number] = [lines.readline() for _ in range(4 * 500)]
clients = [threading.Thread(target=client, args=[number]) for number in range(4)]
for one in clients:
    one.start()
for one in clients:
    one.join()
print(said)
END
    kill $server
    wait $server
    status=$?
    echo "status $status"
}

prepare_programs
for program in "${PROGRAMS[@]}"; do
    IFS='|' read -r threads command filter <<<"$program"
    compare "$threads" "$command" "$filter"
done

export TRACE_NAME=record/memcached
if command -v memcached >/dev/null; then
    answers env >alone.out 2>alone.err
    answers "$GOTRACE" record -q -o recorded.trace -- >recorded.out 2>recorded.err
    grep -q END alone.out && cmp alone.out recorded.out >difference 2>&1
    fail_if $? 'the same answers' 'they differ' difference
    check_trace 4
else
    skip 'the same answers' 'no memcached'
fi

export TRACE_NAME=record/pipeline
# shellcheck disable=SC2016
pipeline='pigz -p 4 -c numbers | pigz -dc | sort -S 50M -r | head -n 3; exit ${PIPESTATUS[0]}'
if command -v pigz >/dev/null; then
    bash -c "$pipeline" >alone.out 2>alone.err
    "$GOTRACE" record -q --follow-forks -o recorded.trace -- bash -c "$pipeline" >recorded.out 2>recorded.err &&
        cmp alone.out recorded.out >difference 2>&1 && cmp alone.err recorded.err >>difference 2>&1
    fail_if $? 'the same output and status of several processes' 'they differ' difference
    check_trace 9
    if have_engine; then
        rm -f recorded.pftrace
        "$GOTRACE" convert -q --to perfetto -o recorded.pftrace recorded.trace &&
            node "$TPQ" recorded.pftrace \
                "select p.name, count(*) tracks from process p join process_track using (upid) join track t
                 on t.parent_id = process_track.id where t.name like 'G%main' group by p.upid" \
                "select name, value from stats where severity != 'info' and value > 0" >processes 2>/dev/null
        [ "$(grep -cE '"(pigz|sort|head) \(pid [0-9]+\)"' processes)" -eq 4 ] && ! grep -q '"value"' processes
        fail_if $? 'a process of Perfetto for each' 'they differ' processes
    else
        skip 'a process of Perfetto for each' 'no engine'
    fi
else
    skip 'the same output and status of several processes' 'no pigz'
fi
