# shellcheck shell=bash
# Labels of goroutines are names, where goroutines are shown one by one: not those of the workers of the garbage
# collector, and not empty ones. The last one counts, also for what was before. A label comes with the start of a
# goroutine (1.21) or as an event (1.26); a long one is cut at a character.
long=$(printf 'ä%.0s' {1..40})
gotrace synth -o 26.trace <<TRACE
Trace Go1.26 level=meaning
ProcStatus t=0 m=7 p=0 pstatus=running
GoStatus t=0 on_m=7 p=0 g=1 m=7 gstatus=running
ProcsChange t=100 m=7 p=0 g=1 procs_value=2
GoLabel t=150 m=7 p=0 g=1 label_string="boss"
GoCreate t=200 m=7 p=0 g=1 new_g=2 new_stack="main.work /src/a.go:7"
GoCreate t=300 m=7 p=0 g=1 new_g=3 new_stack="main.work /src/a.go:7"
GoCreate t=400 m=7 p=0 g=1 new_g=4 new_stack="runtime.gcBgMarkWorker /src/a.go:7"
ProcStatus t=1000 m=8 p=1 pstatus=running
GoStart t=1100 m=8 p=1 g=2
GoLabel t=1100 m=8 p=1 g=2 label_string="first"
GoBlock t=2000 m=8 p=1 g=2 reason_string="sync"
GoStart t=2100 m=8 p=1 g=3
GoLabel t=2200 m=8 p=1 g=3 label_string="$long"
GoLabel t=2300 m=8 p=1 g=3 label_string=""
GoUnblock t=2400 m=8 p=1 on_g=3 g=2
GoDestroy t=2500 m=8 p=1 g=3
GoStart t=3200 m=8 p=1 g=4
GoLabel t=3200 m=8 p=1 g=4 label_string="GC (dedicated)"
GoBlock t=4200 m=8 p=1 g=4 reason_string="system goroutine wait"
GoStart t=6400 m=8 p=1 g=2
GoLabel t=6400 m=8 p=1 g=2 label_string="second"
GoDestroy t=9600 m=8 p=1 g=2
GoDestroy t=9700 m=7 p=0 g=1
ProcStop t=9800 m=7 p=0
TRACE
gotrace convert -q --to go1.21 -o 21.trace 26.trace
for trace in 26.trace 21.trace; do
    run gotrace validate $trace
    gotrace stat --json --each $trace | jq -c 'select(.kind == "goroutine") | [.id, .name, .label]'
    gotrace stat --json --only scheduling $trace | jq -c 'select(.kind == "delay") | [.goroutine, .name, .label]'
    gotrace stat --full --only scheduling $trace | grep -oE ', goroutine [0-9]+ .*'
    gotrace why --goroutine 2 $trace | grep -oE 'goroutine [0-9]+ [^,]*:'
    gotrace why --json --goroutine 2 $trace | jq -c '[.kind, .goroutine, .label]'
    gotrace find run $trace | grep -oE 'goroutine.*'
    gotrace find --json run $trace | jq -c '[.goroutine, .label]'
    gotrace convert -q --to perfetto -o - $trace | grep -aoE 'G[0-9] [a-z.A-Z]+ [(][^)]*[)]' | sort | uniq -c | awk '{ $1 = ""; print }'
    gotrace convert -q --to html -o - $trace | grep -oE 'main.work [(][a-z]*[)]' | sort -u
done
