# shellcheck shell=bash
# What is active when a trace begins, and ends in it: a GC cycle, a sweep, an assist, a region, a task.
gotrace synth -o before.trace <<'END'
Trace Go1.22
EventBatch gen=1 m=18446744073709551615 time=1000 size=6
Frequency freq=1000000000
EventBatch gen=1 m=18446744073709551615 time=1000 size=10
Strings
String id=2 data="decode"
EventBatch gen=1 m=7 time=1000 size=42
ProcStatus dt=0 p=0 pstatus=1
GoStatus dt=0 g=1 m=7 gstatus=2
GCActive dt=0 gc_seq=2
GCSweepActive dt=0 p=0
GCMarkAssistActive dt=0 g=1
GCSweepEnd dt=100 swept_value=8192 reclaimed_value=4096
GCMarkAssistEnd dt=100
GCEnd dt=100 gc_seq=3
UserRegionEnd dt=100 task=5 name_string=2 stack=0
UserTaskEnd dt=100 task=5 stack=0
GoDestroy dt=100
ProcStop dt=100
END
run gotrace validate before.trace
for from in 50 150 250; do
    run gotrace cut --from ${from}ns -o cut.trace before.trace
    run gotrace validate cut.trace
    run gotrace print cut.trace
done
for version in go1.21 go1.26; do
    run gotrace convert --to $version -o other.trace before.trace
    run gotrace validate other.trace
    run gotrace print other.trace
done
run gotrace stat --full before.trace
run gotrace why --task 5 before.trace
run gotrace why --region decode before.trace
# In Chrome's timeline they begin with the trace.
gotrace convert --to chrome before.trace |
    jq -c '.traceEvents[] | select(.name | test("GC|decode|task")) | [.name, .ph, .ts, .dur]'
