# shellcheck shell=bash
# Times are counted from the first event, at 0. What began before it is unfinished at its start: it lasted "at least" as long as it
# is in the trace, and is not counted as complete. The Sync record of these traces is 100 ms before the first event.
gotrace synth -q -o gc.trace <<'END'
Trace Go1.26
EventBatch gen=1 m=18446744073709551615 time=1000000000 size=22
Sync
Frequency freq=15625000
ClockSnapshot dt=1563000 mono=64100000000 sec=1700000000 nsec=0
EventBatch gen=1 m=1 time=1001562500 size=20
ProcStatus dt=1 p=0 pstatus=1
GoStatus dt=1 g=1 m=1 gstatus=2
GCActive dt=10 gc_seq=1
GCEnd dt=15625 gc_seq=2
GoDestroy dt=1562500
EventBatch gen=1 m=18446744073709551615 time=1001562500 size=1
Strings
EventBatch gen=1 m=18446744073709551615 time=1001562500 size=1
Stacks
EndOfGeneration
END
# The same with an assist, a sweep, a region and a task; goroutine 2 waits, 3 is in a system call, and 4 is runnable.
gotrace synth -q -o all.trace <<'END'
Trace Go1.26
EventBatch gen=1 m=18446744073709551615 time=1000000000 size=22
Sync
Frequency freq=15625000
ClockSnapshot dt=1563000 mono=64100000000 sec=1700000000 nsec=0
EventBatch gen=1 m=1 time=1001562500 size=72
ProcStatus dt=1 p=0 pstatus=1
GoStatus dt=1 g=1 m=1 gstatus=2
GCActive dt=10 gc_seq=1
GCMarkAssistActive dt=1 g=1
GCSweepActive dt=1 p=0
GCSweepEnd dt=10 swept_value=8192 reclaimed_value=4096
GCMarkAssistEnd dt=10
GCEnd dt=15625 gc_seq=2
UserRegionEnd dt=10 task=5 name_string=1 stack=0
UserTaskEnd dt=10 task=5 stack=0
GoStatus dt=10 g=2 m=18446744073709551615 gstatus=4
GoStatus dt=10 g=3 m=2 gstatus=3
GoStatus dt=10 g=4 m=18446744073709551615 gstatus=1
EventBatch gen=1 m=18446744073709551615 time=1001562500 size=10
Strings
String id=1 data="decode"
EventBatch gen=1 m=18446744073709551615 time=1001562500 size=1
Stacks
EndOfGeneration
END
# v1: goroutine 1 runs, 2 waits, 3 is in a system call, and 4 is runnable. The first event is that of goroutine 1.
gotrace synth -q -o v1.trace <<'END'
Trace Go1.21
Batch p=0 ticks=1000000
GoCreate dt=0 g=1 stack=0 stk=0
GoCreate dt=10 g=2 stack=0 stk=0
GoWaiting dt=1 g=2
GoCreate dt=10 g=3 stack=0 stk=0
GoInSyscall dt=1 g=3
GoCreate dt=10 g=4 stack=0 stk=0
ProcStart dt=10 thread=1
GoStartLocal dt=3 g=1
Gomaxprocs dt=50 procs=1 stk=0
GoUnblockLocal dt=500 g=2 stk=0
GoEnd dt=500
Frequency freq=1000000000
END
anything='run or sched or wait or syscall or stw or gc or task or region'
for trace in gc all v1; do
    run gotrace validate $trace.trace
    run gotrace info --json $trace.trace | grep -o '"duration_ns":[0-9]*'
    run gotrace stat --only overview,goroutines,blocking,syscalls,gc,stops,tasks,regions $trace.trace
    run gotrace find "$anything" $trace.trace
    gotrace stat --json --each --only gc,stops $trace.trace | grep -E '"kind":"(goroutine|gc|stop|task|region)"'
    for goroutine in 1 2 3; do
        [ $trace$goroutine = gc2 ] || [ $trace$goroutine = gc3 ] || gotrace why --goroutine $goroutine $trace.trace
    done
    for profile in wall offcpu; do
        gotrace convert -q --open --to folded --profile $profile $trace.trace
    done
    gotrace convert -q --to chrome $trace.trace | grep '"dur"'
    gotrace convert -q --to html $trace.trace | grep -oE '(Complete GC cycles|[0-9]+ cycles? began|(Time of all|Longest|Unfinished) cycles?)[^/]*'
    gotrace convert -q --to parquet -o $trace.tables $trace.trace
    for table in g_transitions goroutines ranges tasks regions trace; do
        python3 -B "$TRACES/../../tests/cli/parquet.py" rows $trace.tables/$table.parquet |
            jq -c 'with_entries(select((.key | test("^(g|name|gc_cycles|.*state|.*_ns)$")) and .key != "start_unix_ns"))'
    done
done
# An interval that is only partly in the time range is no complete cycle either.
run gotrace stat --only gc --from 500us gc.trace

# No row, moment, part or slice begins before 0 or ends after the trace.
mapfile -t samples < <(all_samples)
python3 -B "$TRACES/../../tests/cli/origin.py" gotrace "${samples[@]}" gc.trace all.trace v1.trace
