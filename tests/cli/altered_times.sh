# shellcheck shell=bash
# From Go 1.22 on, an altered time moves its own record at most: it is reported once, and all other events
# keep their times.

# lines COUNT LINE
lines() {
    for ((i = 0; i < $1; i++)); do echo "$2"; done
}

# Two threads with two batches each; thread 2 runs the goroutines that thread 1 creates. A tick is 1 ns.
{
    echo 'Trace Go1.22'
    echo 'EventBatch gen=1 m=1 time=1000000'
    echo 'ProcStatus dt=1 p=0 pstatus=1'
    echo 'GoStatus dt=1 g=1 m=1 gstatus=2'
    lines 20 'HeapAlloc dt=20000 heapalloc_value=1'
    echo 'GoCreate dt=20000 new_g=2 new_stack=0 stack=0'
    echo 'EventBatch gen=1 m=2 time=1000010'
    echo 'ProcStatus dt=1 p=1 pstatus=1'
    lines 21 'HeapAlloc dt=20000 heapalloc_value=2'
    echo 'GoStart dt=300 g=2 g_seq=1'
    echo 'GoDestroy dt=1000'
    echo 'EventBatch gen=1 m=1 time=1440000'
    lines 20 'HeapAlloc dt=20000 heapalloc_value=3'
    echo 'GoCreate dt=20000 new_g=3 new_stack=0 stack=0'
    echo 'EventBatch gen=1 m=2 time=1460000'
    lines 20 'HeapAlloc dt=20000 heapalloc_value=4'
    echo 'GoStart dt=300 g=3 g_seq=1'
    echo 'GoDestroy dt=1000'
    echo 'EventBatch gen=1 m=18446744073709551615 time=1900000'
    echo 'Frequency freq=1000000000'
} >source
sized_script <source | gotrace synth -o sound.trace
run gotrace validate sound.trace

# The events with their thread, type, number of that type, and time.
events() {
    gotrace print --format jsonl "$1" 2>/dev/null | jq -r 'select(.type) | "\(.thread)/\(.type) \(.time)"' |
        awk '{ print $1 "/" n[$1]++, $2 }' | sort -k 1,1
}
events sound.trace >sound

# altered NAME: validate NAME.trace, and count the events that are lost or moved by more than 50 us.
altered() {
    run gotrace validate "$1.trace"
    events "$1.trace" | join -a 1 sound - |
        awk '{ lost += NF < 3; moved += NF == 3 && ($3 > $2 + 50000 || $3 < $2 - 50000) }
            END { print NR " events: " lost + 0 " lost, " moved + 0 " moved" }'
}

# line NAME NUMBER FROM TO: alters a line.
line() {
    sed "$2s/$3/$4/" source >changed
    cmp -s source changed && echo "nothing was changed for $1"
    sized_script <changed | gotrace synth -q -o "$1.trace"
    altered "$1"
}
echo '== a time difference that is 8.6 s longer'
line longest 10 dt=20000 dt=$((20000 + (1 << 33)))
echo '== 262 us longer, within the duration of the trace'
line longer 10 dt=20000 dt=$((20000 + (1 << 18)))
echo '== three of 8.6 s'
line three 10,12 dt=20000 dt=$((20000 + (1 << 33)))
echo '== in the last batch of a thread'
line last 60 dt=20000 dt=$((20000 + (1 << 18)))
echo '== timestamps of batches'
line first_later 2 time=1000000 time=$((1000000 + (1 << 33)))
line last_later 51 time=1440000 time=$((1440000 + (1 << 33)))
line last_earlier 51 time=1440000 time=$((1440000 - (1 << 20)))

echo '== a time difference of 8.6 s, and then a record that cannot be read, in the last batch'
sed "80s/dt=20000/dt=$((20000 + (1 << 33)))/" source | sized_script | gotrace synth -q -o unreadable.trace
at=$(gotrace print --format jsonl unreadable.trace 2>/dev/null |
    jq 'select(.type == "HeapAlloc" and .thread == 2) | .offset' | sed -n 29p)
printf '\76' | dd of=unreadable.trace bs=1 seek="$at" conv=notrunc status=none
altered unreadable

# flipped NAME TRACE BYTE.BIT...: a sample with these bits flipped, compared with the sample.
flipped() {
    local name=$1 sample=$TRACES/$2 at byte
    shift 2
    cp "$sample" "$name.trace"
    chmod u+w "$name.trace"
    for at in "$@"; do
        byte=$(od -An -tu1 -j "${at%.*}" -N 1 "$name.trace")
        byte=$(printf %x $((byte ^ 1 << ${at#*.})))
        echo "$byte" | xxd -r -p | dd of="$name.trace" bs=1 seek="${at%.*}" conv=notrunc status=none
    done
    events "$sample" >sound
    altered "$name"
}
echo '== the first batch of a thread, 4 s before the strings of the generation'
flipped early go1.22-threads.trace 805.5
echo '== 140737 s after the end of the generation'
flipped late go1.26-threads.trace 359.6
echo '== the same, with the header of another batch and with an event that does not fit'
flipped late_too go1.26-threads.trace 359.6 1224.4 3051.0
echo '== the frequency of one of four generations'
flipped frequency go1.26-gens.trace 5539.5

# The tables of the generation, written when its last event is there, are later than the next generation's first batch.
echo '== sound: a thread that is interrupted while it records the last event of a generation'
{
    sed '$d' source | sed '$d' | sed '$s/dt=1000/dt=200000/'
    echo 'EventBatch gen=1 m=18446744073709551615 time=2100000'
    echo 'Frequency freq=1000000000'
    echo 'EventBatch gen=2 m=1 time=1905000'
    echo 'ProcStatus dt=1 p=0 pstatus=1'
    echo 'GoStatus dt=1 g=1 m=1 gstatus=2'
    echo 'HeapAlloc dt=200000 heapalloc_value=5'
    echo 'EventBatch gen=2 m=18446744073709551615 time=2200000'
    echo 'Frequency freq=1000000000'
} | sized_script | gotrace synth -o interrupted.trace
run gotrace validate interrupted.trace

# A tick is 6.16 ns: readers round each difference down, so thread 1 is 1.5 us early when it starts goroutine 2.
echo '== sound: a tick is not a whole number of nanoseconds'
{
    echo 'Trace Go1.22'
    echo 'EventBatch gen=1 m=1 time=1000000'
    echo 'ProcStatus dt=1 p=0 pstatus=1'
    lines 2000 'HeapAlloc dt=17 heapalloc_value=1'
    echo 'GoStart dt=17 g=2 g_seq=1'
    echo 'GoDestroy dt=17'
    echo 'EventBatch gen=1 m=2 time=1034000'
    echo 'ProcStatus dt=1 p=1 pstatus=1'
    echo 'GoStatus dt=1 g=1 m=2 gstatus=2'
    echo 'GoCreate dt=9 new_g=2 new_stack=0 stack=0'
    echo 'EventBatch gen=1 m=18446744073709551615 time=1900000'
    echo 'Frequency freq=162257633'
} | sized_script | gotrace synth -o rounded.trace
run gotrace validate rounded.trace

echo '== a last batch that begins late, with no bit that can be flipped; one without events is early'
sized_script <<'END' | gotrace synth -q -o late.trace
Trace Go1.22
EventBatch gen=1 m=18446744073709551615 time=1000
Frequency freq=1000000000
EventBatch gen=1 m=1 time=1000
ProcStatus dt=1 p=0 pstatus=1
GoStatus dt=1 g=5 m=1 gstatus=2
HeapAlloc dt=1 heapalloc_value=5
EventBatch gen=1 m=1 time=1
EventBatch gen=1 m=1 time=2000
HeapAlloc dt=1 heapalloc_value=5
END
run gotrace print late.trace
