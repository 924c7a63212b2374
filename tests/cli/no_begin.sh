# shellcheck shell=bash
# What ends twice, or on another goroutine than the one that began it, did not begin before the trace, in either
# format: a warning with its place in the program, and nothing that lasts. What goroutine 1 ends, which exists when
# the trace begins, may have begun before. A region that ends while another one is open is suspect.
gotrace synth --force -o v1.trace 2>/dev/null <<'END'
Trace Go1.21 level=meaning frequency=1000000000 start=1000
GoCreate t=0 p=0 g=1
	stack="main.main /src/main.go:10"
GoStart t=10 p=0 g=1
Gomaxprocs t=20 p=0 procs=1
GoCreate t=30 p=0 g=7
	stack="main.worker /src/main.go:30"
	stk="main.main /src/main.go:12"
GoCreate t=100 p=0 g=8
	stack="main.other /src/main.go:60"
	stk="main.main /src/main.go:13"
UserTaskCreate t=200 p=0 g=1 taskid=5 pid=0 typeid="req"
	stk="runtime/trace.NewTask annotation.go:40"
	stk="main.main /src/main.go:14"
UserTaskEnd t=1000 p=0 g=1 taskid=9
	stk="main.main /src/main.go:15"
UserRegion t=1100 p=0 g=1 taskid=0 mode=1 typeid="early"
	stk="main.main /src/main.go:16"
GCMarkAssistDone t=1150 p=0
GCMarkAssistDone t=1160 p=0
GoBlockSync t=2000 p=0
	stk="main.main /src/main.go:17"
GoStart t=49999000 p=0 g=7
UserRegion t=50000000 p=0 taskid=0 mode=0 typeid="load"
	stk="main.worker /src/main.go:31"
UserTaskEnd t=50899000 p=0 taskid=5
	stk="main.worker /src/main.go:39"
UserRegion t=50999000 p=0 taskid=0 mode=1 typeid="load"
	stk="main.worker /src/main.go:40"
UserRegion t=50999500 p=0 taskid=0 mode=1 typeid="load"
	stk="runtime/trace.Region.End annotation.go:160"
	stk="main.worker /src/main.go:41"
UserTaskEnd t=51000000 p=0 taskid=5
	stk="runtime/trace.(*Task).End annotation.go:60"
	stk="main.worker /src/main.go:42"
UserTaskEnd t=51001000 p=0 taskid=9
	stk="main.worker /src/main.go:43"
GCMarkAssistDone t=51001500 p=0
GoBlockSync t=51002000 p=0
	stk="main.worker /src/main.go:44"
GoStart t=51999000 p=0 g=8
UserRegion t=52000000 p=0 taskid=0 mode=0 typeid="a"
	stk="main.other /src/main.go:61"
UserRegion t=52001000 p=0 taskid=0 mode=1 typeid="b"
	stk="main.other /src/main.go:62"
UserRegion t=52002000 p=0 taskid=0 mode=1 typeid="a"
	stk="main.other /src/main.go:63"
STWDone t=52003000 p=0
GCDone t=52004000 p=0
GoBlockSync t=52999000 p=0
	stk="main.other /src/main.go:64"
END
gotrace synth --force -o v2.trace 2>/dev/null <<'END'
Trace Go1.26 level=meaning procs=1
GoCreate t=1000 g=1 new_g=7
	new_stack="main.worker /src/main.go:30"
	stack="main.main /src/main.go:12"
GoCreate t=1100 g=1 new_g=8
	new_stack="main.other /src/main.go:60"
	stack="main.main /src/main.go:13"
UserTaskBegin t=1200 task=5 parent_task=0 name_string="req"
	stack="runtime/trace.NewTask annotation.go:40"
	stack="main.main /src/main.go:14"
UserTaskEnd t=2000 task=9
	stack="main.main /src/main.go:15"
UserRegionEnd t=2100 name_string="early"
	stack="main.main /src/main.go:16"
GoBlock t=3000 reason_string="sync"
	stack="main.main /src/main.go:17"
GoStart t=50000000 g=7
UserRegionBegin t=50001000 name_string="load"
	stack="main.worker /src/main.go:31"
UserTaskEnd t=50900000 task=5
	stack="main.worker /src/main.go:39"
UserRegionEnd t=51000000 name_string="load"
	stack="main.worker /src/main.go:40"
UserRegionEnd t=51000500 name_string="load"
	stack="runtime/trace.Region.End annotation.go:160"
	stack="main.worker /src/main.go:41"
UserTaskEnd t=51001000 task=5
	stack="runtime/trace.(*Task).End annotation.go:60"
	stack="main.worker /src/main.go:42"
UserTaskEnd t=51002000 task=9
	stack="main.worker /src/main.go:43"
GoBlock t=51003000 reason_string="sync"
	stack="main.worker /src/main.go:44"
GoStart t=52000000 g=8
UserRegionBegin t=52001000 name_string="a"
	stack="main.other /src/main.go:61"
UserRegionEnd t=52002000 name_string="b"
	stack="main.other /src/main.go:62"
UserRegionEnd t=52003000 name_string="a"
	stack="main.other /src/main.go:63"
STWEnd t=52004000
GoBlock t=53000000 reason_string="sync"
	stack="main.other /src/main.go:64"
END
# Each verb reports the same problems.
quietly() {
    echo "\$ gotrace $*"
    gotrace "$@" 2>/dev/null
}
for trace in v1.trace v2.trace; do
    run gotrace validate $trace
    gotrace validate --json $trace | grep '"problem"' | sed -n 2,3p
    quietly print $trace
    gotrace print --format jsonl $trace 2>/dev/null | grep -c '"no_begin":true'
    quietly find 'region or task or gc or stw' $trace
    for region in early load b; do
        quietly why --top 1 --slowest 9 --region $region $trace
    done
    for task in 5 9; do
        quietly why --top 1 --slowest 9 --task $task $trace
    done
    gotrace stat --json --each $trace 2>/dev/null |
        jq -c 'select(.kind == "task" or .kind == "region") | [.kind, .id, .name, .begin != null]'
    quietly print --region load $trace
    gotrace convert --to chrome $trace 2>/dev/null |
        jq -c '.traceEvents[] | select(.ph | test("[beX]")) | [.name, .ph, .ts, .dur]'
done
