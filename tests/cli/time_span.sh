# shellcheck shell=bash
# Times beyond 64 bits are the largest possible time; a duration of years is reported.
width() { # of a number as a varint
    local n=1 v=$1
    while [ "$v" -ge 128 ]; do v=$((v / 128)) n=$((n + 1)); done
    echo $n
}

script() { # VERSION FREQUENCY DT
    if [ "$1" -lt 22 ]; then
        printf '%s\n' "Trace Go1.$1" 'Batch p=0 ticks=1' 'ProcStart dt=1 thread=1' \
            "HeapAlloc dt=$3 mem=1" "HeapAlloc dt=$3 mem=2" "Frequency freq=$2"
    else
        printf '%s\n' "Trace Go1.$1" "EventBatch gen=1 m=1 time=1 size=$((8 + 2 * $(width "$3")))" \
            'ProcStatus dt=1 p=0 pstatus=1' "HeapAlloc dt=$3 heapalloc_value=1" \
            "HeapAlloc dt=$3 heapalloc_value=2" \
            "EventBatch gen=1 m=18446744073709551615 time=1 size=$((1 + $(width "$2")))" "Frequency freq=$2"
    fi | gotrace synth -q -o "$1-$2-$3.trace"
}
year=$((365 * 86400))
for version in 21 22; do
    script $version 1 $((year / 2 - 2))
    script $version 1 $((year / 2 + 1))
    script $version 1 $((1 << 61))
    script $version 1000000000 $((1 << 62))
done
for trace in *.trace; do
    run gotrace validate "$trace"
    gotrace info "$trace" 2>&1 | grep -E '^duration'
    gotrace print "$trace" 2>/dev/null | grep HeapAlloc | tail -n 1
    gotrace print --format jsonl "$trace" 2>/dev/null | grep HeapAlloc | tail -n 1
    for verb in info 'info --json' 'validate --json' print 'print --format go' 'print --format jsonl' \
        'dump --level meaning' 'convert --to chrome' 'convert --to go1.26' 'convert --to go1.11'; do
        # shellcheck disable=SC2086
        if gotrace $verb "$trace" 2>&1 | grep -aqe -9223372036854775808; then echo "$verb $trace"; fi
    done
done
