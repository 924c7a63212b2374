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

# check_exports_with_threads FILE: timelines, and one of the other outputs, by a hash of the trace.
check_exports_with_threads() {
    local n format others command
    others=('convert --to pprof' 'convert --to folded' 'convert --to html' 'convert --to speedscope' 'convert --to go1.26'
        'stat --json --each' 'find --json wait' 'print --format go' repair 'convert --to parquet')
    command=${others[$(cksum <"$1" | cut -d ' ' -f 1) % ${#others[@]}]}
    for n in 1 2 8; do
        # shellcheck disable=SC2086
        "$GOTRACE" $command -j $n -o "$WORK/threads.out" "$1" >"$WORK/threads.$n" 2>&1
        echo "status $?" >>"$WORK/threads.$n"
        find "$WORK/threads.out" -type f 2>/dev/null | sort | xargs -r cat | cksum >>"$WORK/threads.$n"
        rm -rf "$WORK/threads.out"
    done
    same "$command -j 2" "$WORK/threads.1" "$WORK/threads.2"
    same "$command -j 8" "$WORK/threads.1" "$WORK/threads.8"
    for format in perfetto chrome; do
        for n in 1 2 8; do
            "$GOTRACE" convert -q --to $format -j $n "$1" 2>"$WORK/threads.err" | cksum >"$WORK/threads.$n"
            cat "$WORK/threads.err" >>"$WORK/threads.$n"
        done
        same "convert --to $format -j 2" "$WORK/threads.1" "$WORK/threads.2"
        same "convert --to $format -j 8" "$WORK/threads.1" "$WORK/threads.8"
    done
}
