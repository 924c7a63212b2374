#!/usr/bin/env bash
# kills.sh COUNT GOTRACE PROGRAM [READER [VERSION]]: records a program (testdata/record/counts.c) that another
# process kills at random moments, so often. Each trace must be sound, also for Go's READER, and have
# every call that the program counted as returned. In every third run the program is killed within a
# millisecond of its beginning. SEED in the environment repeats a run.
set -u
# shellcheck source=tests/hang.bash
. "$(dirname "$0")/../hang.bash"
count=$1 gotrace=$(realpath "$2") program=$(realpath "$3") reader=${4:-} version=${5:-1.26}
RANDOM=${SEED:=$RANDOM}
gotrace() { timeout -k 1 "$HANG" "$gotrace" "$@"; }
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1

# Counted calls of each thread, and those in the trace; the n-th thread is goroutine n+1.
compare() {
    od -An -v -t u8 -w8 -N 32 counts >counted || return 1
    gotrace print killed.trace | awk '
        NR == FNR { counted[NR] = $1; total += $1; next }
        / at (write|nanosleep)$/ && match($0, / G[2-5] +Go(Block|Sleep|SysCall|SyscallBegin) /) {
            found[substr($0, RSTART + 2, 1) - 1]++
        }
        END {
            for (n = 1; n <= 4; n++)
                if (found[n] < counted[n]) {
                    printf "thread %d: %d calls counted, %d in the trace\n", n, counted[n], found[n]
                    bad = 1
                }
            print total > "total"
            exit bad
        }' counted -
}

kill_once() {
    local delay=$1 status
    gotrace record --quiet --go "$version" -o killed.trace -- "$program" counts "$delay"
    status=$?
    [ $status -eq 137 ] || { echo "status $status"; return 1; }
    gotrace validate --quiet killed.trace && compare || return 1
    [ -z "$reader" ] || "$reader" killed.trace >answer 2>&1 || { tail -3 answer; return 1; }
}

failed=0 calls=0
for ((i = 0; i < count; i++)); do
    delay=$((i % 3 == 0 ? RANDOM % 1000 : RANDOM))
    if ! kill_once $delay; then
        echo "kill $i, after $delay us (SEED=$SEED)"
        failed=$((failed + 1))
    fi
    calls=$((calls + $(cat total 2>/dev/null || echo 0)))
    rm -f total killed.trace
done
echo "$count kills, $calls calls counted, $failed traces with faults"
[ "$failed" -eq 0 ] && [ "$calls" -gt 0 ]
