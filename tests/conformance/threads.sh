# threads.sh - results do not depend on the number of threads.
# shellcheck shell=bash

# check_threads FILE: findings, order and times with 1, 2 and 8 threads.
check_threads() {
    local n command
    for command in 'validate --json --max-errors 0' 'print --format jsonl'; do
        for n in 1 2 8; do
            # shellcheck disable=SC2086
            "$GOTRACE" $command -j $n "$1" >"$WORK/threads.$n" 2>"$WORK/threads.err"
            { echo "status $?"; cat "$WORK/threads.err"; } >>"$WORK/threads.$n"
        done
        same "$command -j 2" "$WORK/threads.1" "$WORK/threads.2"
        same "$command -j 8" "$WORK/threads.1" "$WORK/threads.8"
    done
}

# check_exports_with_threads FILE: timelines.
check_exports_with_threads() {
    local n format
    for format in perfetto chrome; do
        for n in 1 2 8; do
            "$GOTRACE" convert -q --to $format -j $n "$1" 2>"$WORK/threads.err" | cksum >"$WORK/threads.$n"
            cat "$WORK/threads.err" >>"$WORK/threads.$n"
        done
        same "convert --to $format -j 2" "$WORK/threads.1" "$WORK/threads.2"
        same "convert --to $format -j 8" "$WORK/threads.1" "$WORK/threads.8"
    done
}
