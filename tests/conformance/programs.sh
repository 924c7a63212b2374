#!/usr/bin/env bash
# programs.sh: programs of Debian with threads (in C, C++ and Rust) do the same while they are recorded, and
# Go's reader accepts the traces, which have the threads. Prints results in the form of lib.sh.
set -u
# shellcheck disable=SC1091
. "$(dirname "$0")/lib.sh"
WORK=$(mktemp -d) || exit 1
trap 'rm -rf "$WORK"' EXIT
cd "$WORK" || exit 1

# goroutines TRACE: how many are created.
goroutines() { "$GOTRACE" print -q --format jsonl "$1" 2>/dev/null | grep -c '"from":"not-exist"'; }

# check_trace THREADS: that of the recorded program, which creates at least so many.
check_trace() {
    local created
    "$GOREAD_V2" recorded.trace >verdict 2>&1
    fail_if $? 'accepted by goread-v2' 'rejected' verdict
    created=$(goroutines recorded.trace)
    [ "$created" -ge "$1" ]
    fail_if $? "at least $1 threads" "the trace has $created"
}

# compare THREADS COMMAND [FILTER]: the command, run by a shell, has the same output and status when it is recorded.
compare() {
    local alone recorded filter=${3:-cat}
    export TRACE_NAME=record/${2%% *}
    TRACE_NAME=${TRACE_NAME/.\//}
    command -v "${2%% *}" >/dev/null || { skip 'the same output' "no ${2%% *}"; return; }
    bash -c "exec $2" 2>alone.err | $filter >alone.out
    alone=${PIPESTATUS[0]}
    "$GOTRACE" record -q -o recorded.trace -- bash -c "exec $2" 2>recorded.err | $filter >recorded.out
    recorded=${PIPESTATUS[0]}
    [ "$recorded" -eq "$alone" ] && cmp alone.out recorded.out >difference 2>&1 && cmp alone.err recorded.err >>difference 2>&1
    fail_if $? 'the same output and status' "status $recorded instead of $alone" difference
    check_trace "$1"
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

seq 2000000 >numbers
for i in {1..200}; do seq "$i" 10000 >"numbers-$i"; done
compare 4 'pigz -p 4 -c numbers'
compare 4 'zstd -q -T4 -c numbers'
compare 4 'rg -j 4 --count-matches 9 --glob numbers-*' sort

cat >pool.cc <<'END'
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>
int main() {
    std::mutex mutex;
    std::condition_variable ready;
    int waiting = 0;
    long sum = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; i++)
        threads.emplace_back([&, i] {
            std::unique_lock<std::mutex> lock(mutex);
            if (++waiting == 8)
                ready.notify_all();
            ready.wait(lock, [&] { return waiting == 8; });
            try {
                throw std::runtime_error("caught");
            } catch (const std::runtime_error &) {
                sum += i;
            }
        });
    for (auto &thread : threads)
        thread.join();
    std::printf("%ld\n", sum);
    return 7;
}
END
c++ -O1 -pthread -o pool pool.cc 2>/dev/null
compare 8 ./pool

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
