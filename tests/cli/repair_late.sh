# shellcheck shell=bash
# An event is later than the next batch of its proc: its time is corrected, and nothing else changes.

# late VERSION: two batches of proc 0; a record of the first, one with a length, has dt=@.
late() {
    echo "Trace Go$1"
    if [ "$1" = 1.5 ]; then
        cat <<'END'
Batch p=0 seq=1 ticks=1000
ProcStart dseq=0 dt=0 thread=7
GoCreate dseq=1 dt=1 g=1 stack=1 stk=1
GoStart dseq=1 dt=1 g=1
GoCreate dseq=1 dt=@ g=2 stack=1 stk=1
GoSched dseq=1 dt=4 stk=1
Batch p=0 seq=6 ticks=1100
GoStart dseq=1 dt=1 g=1
GoSched dseq=1 dt=5 stk=1
Frequency freq=1000000000 unused=0
Stack id=1 nframes=1
	pc=4096
END
    else
        cat <<'END'
Batch p=0 ticks=1000
ProcStart dt=0 thread=7
GoCreate dt=1 g=1 stack=1 stk=1
GoStart dt=1 g=1 seq=1
UserTaskCreate dt=@ taskid=1 pid=0 typeid=1 stk=1
GoSched dt=4 stk=1
Batch p=0 ticks=1100
String id=1
	data="task"
GoStart dt=1 g=1 seq=2
GoSched dt=5 stk=1
Frequency freq=1000000000
Stack id=1 nframes=1
	pc=4096 func=1 file=1 line=1
END
    fi
}

for version in 1.5 1.11 1.21; do
    echo "== $version"
    for dt in 50 7000000; do
        late $version | sed "s/@/$dt/" | gotrace synth -q --force -o $dt.trace
    done
    gotrace validate -q 50.trace || echo 'not sound before'
    run gotrace repair -o good.trace 7000000.trace
    gotrace validate -q good.trace || echo 'not sound'
    diff <(gotrace dump 50.trace) <(gotrace dump good.trace) || :
done
