#!/usr/bin/env bash
# redis.sh: `go tool trace` of 1.21 and 1.27 shows all its pages of a recorded redis-server, which answers
# redis-benchmark meanwhile. Prints results in the form of lib.sh.
set -u
# shellcheck disable=SC1091
. "$(dirname "$0")/lib.sh"
WORK=$(mktemp -d) || exit 1
trap 'rm -rf "$WORK"' EXIT
socket=$WORK/socket trace=$WORK/redis.trace

ask() { redis-cli -s "$socket" "$@" >/dev/null 2>&1; }

# record VERSION: a trace of the server in $trace, of some thousand requests.
record() {
    local recorder status
    (cd "$WORK" && exec "$GOTRACE" record --go "1.$1" -o "$trace" -- \
        redis-server --port 0 --unixsocket "$socket" --save '' --appendonly no --daemonize no) >"$WORK/log" 2>&1 &
    recorder=$!
    until ask ping; do
        kill -0 $recorder || return
        sleep 0.1
    done
    timeout "$HANG" redis-benchmark -s "$socket" -t set,get -n 2000 -c 5 -q >>"$WORK/log" 2>&1
    status=$?
    ask shutdown nosave || kill $recorder
    wait $recorder && [ $status -eq 0 ]
}

# pages TOOL VERSION WORD...
pages() {
    local tool=$1 version=$2
    shift 2
    export TRACE_NAME=record/redis-1.$version
    for need in redis-server redis-benchmark redis-cli python3 "$tool"; do
        command -v "$need" >/dev/null || { skip 'pages of go tool trace' "no $need"; return; }
    done
    record "$version"
    fail_if $? 'redis-server and redis-benchmark' 'they failed' "$WORK/log"
    timeout "$HANG" python3 "$CONFORMANCE/pages.py" "$tool" "$trace" "$@" >"$WORK/wrong" 2>&1
    fail_if $? 'pages of go tool trace' 'something is missing' "$WORK/wrong"
}

words=(/goroutines=main /goroutines=bioProcessBackgroundJobs /block=epoll_wait /jsontrace=bioProcessBackgroundJobs)
pages "$GO_TRACE_V1" 21 "${words[@]}" /sched=pthread_create
# In 1.21 only calls that block have a duration.
pages "$GO_TRACE" 26 "${words[@]}" /syscall=read /syscall=write
