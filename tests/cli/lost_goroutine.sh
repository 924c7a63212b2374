# shellcheck shell=bash
# From Go 1.22 on, damaged bytes that are read as the end of a goroutine's run, or as the start of another, do
# not leave all later events of the thread without their goroutine.

# Goroutine 1 creates goroutines without a break; line 16 is to be altered.
{
    echo 'Trace Go1.26'
    echo 'EventBatch gen=1 m=18446744073709551615 time=1000000'
    echo 'Sync'
    echo 'Frequency freq=1000000000'
    echo 'ClockSnapshot dt=1 mono=1 sec=1 nsec=1'
    echo 'EventBatch gen=1 m=1 time=1000000'
    echo 'ProcStatus dt=1 p=0 pstatus=1'
    echo 'GoStatus dt=1 g=1 m=1 gstatus=2'
    for ((g = 2; g < 18; g++)); do
        echo "GoCreate dt=1000 new_g=$g new_stack=1 stack=1"
    done
    echo 'EventBatch gen=1 m=18446744073709551615 time=1100000'
    echo 'Stacks'
    echo 'Stack id=1 nframes=1'
    printf '\tpc=1 func=0 file=0 line=1\n'
    echo 'EndOfGeneration'
} >source

# creators FILE: the number of goroutines that each goroutine creates.
creators() {
    gotrace print --format jsonl "$1" 2>/dev/null |
        jq -r 'select(.type == "GoCreate") | "\(.g) creates"' | sort | uniq -c
}

# altered NAME LINE...: replaces line 16.
altered() {
    local name=$1
    shift
    { sed -n 1,15p source; printf '%s\n' "$@"; sed 1,16d source; } | grep -v EndOf | sized_script >raw
    { cat raw; echo EndOfGeneration; } | gotrace synth -q -o "$name.trace"
    run gotrace validate "$name.trace"
    creators "$name.trace"
}

echo '== undamaged'
altered sound "$(sed -n 16p source)"
echo '== the goroutine is read to stop, after another event that does not fit'
altered stop 'GoUnblock dt=1 g=70 g_seq=1 stack=1' 'GoBlock dt=1 reason_string=0 stack=1'
echo '== to end'
altered end 'GoUnblock dt=1 g=70 g_seq=1 stack=1' 'GoDestroy dt=1'
echo '== an event that needs a goroutine follows'
altered label 'GoBlock dt=1 reason_string=0 stack=1' 'GoLabel dt=1 label_string=0'

# misread NAME TYPE [PLACE]: the record of line 16 (GoCreate) gets that type, so that its last value is read as a record.
# One of its stacks is changed to one that does not exist, so that no single bit explains this.
misread() {
    cp sound.trace "$1.trace"
    # shellcheck disable=SC2059
    printf "\\$(printf %o "$2")" | dd of="$1.trace" bs=1 seek=$((0x78)) conv=notrunc status=none
    printf '\011' | dd of="$1.trace" bs=1 seek=$((${3:-0x7c})) conv=notrunc status=none
    run gotrace validate "$1.trace"
    creators "$1.trace"
}

echo '== a goroutine that does not exist is read to start, and the next record cannot be read'
misread start 16
echo '== to be switched to'
misread switch 45
echo '== to be switched to, and the first one to end'
misread switch_destroy 46
echo '== to appear in a system call'
misread syscall 15 0x7d
echo '== repair continues the batch after the damage'
run gotrace repair -o repaired.trace switch_destroy.trace
run gotrace validate repaired.trace

echo '== after sound records the same start is accepted as recorded'
altered accepted 'GoStart dt=1 g=70 g_seq=9'
