# shellcheck shell=bash
# Moments of traces that are known, expressions that are wrong, many files, and files that cannot be read.

# Goroutine 1 waits for 7, which is in a system call, is preempted and waits for a lock; 8 waits for the network; the world stops;
# a task, two regions and two logs; the heap grows.
gotrace synth -q -o known.trace <<'END'
Trace Go1.26 level=meaning procs=2
GoCreate t=1000 g=1 p=0 new_g=7
	new_stack="main.worker /src/main.go:20"
	stack="main.main /src/main.go:9"
GoCreate t=1100 g=1 p=0 new_g=8
	new_stack="main.helper /src/main.go:40"
UserTaskBegin t=2000 g=1 p=0 task=1 parent_task=0 name_string="request"
	stack="main.main /src/main.go:9"
HeapAlloc t=2100 g=1 p=0 heapalloc_value=5000000
UserRegionBegin t=2200 g=1 p=0 task=1 name_string="parse"
	stack="main.parse /src/main.go:70"
UserLog t=2300 g=1 p=0 task=1 key_string="level" value_string="timeout after 3 s"
UserRegionEnd t=2600 g=1 p=0 task=1 name_string="parse"
GoBlock t=3000 g=1 p=0 reason_string="chan receive"
	stack="main.handle /src/main.go:11"
	stack="main.main /src/main.go:10"
GoStart t=3500 p=0 g=7
GoSyscallBegin t=4500 p=0 g=7
	stack="syscall.read /src/sys.go:3"
GoSyscallEnd t=6500 p=0 g=7
GoStop t=7000 p=0 g=7 reason_string="preempted"
	stack="main.spin /src/main.go:23"
GoStart t=7300 p=0 g=8
GoBlock t=8000 p=0 g=8 reason_string="network"
	stack="net.read /src/net.go:7"
GoStart t=8200 p=0 g=7
GCBegin t=8250 p=0 g=7
	stack="main.alloc /src/main.go:24"
STWBegin t=8300 p=0 g=7 kind_string="GC sweep termination"
	stack="main.alloc /src/main.go:24"
STWEnd t=8350 p=0 g=7
HeapAlloc t=8360 g=7 p=0 heapalloc_value=9000000
GoBlock t=8400 p=0 g=7 reason_string="sync"
	stack="sync.Lock /src/sync.go:7"
GoUnblock t=9500 p=0 g=8
GoStart t=9900 p=0 g=8
GoUnblock t=10400 p=0 on_g=8 g=7
	stack="sync.Unlock /src/sync.go:9"
GCEnd t=10450 p=0 g=8
HeapAlloc t=10460 g=8 p=0 heapalloc_value=4000000
GoBlock t=10500 p=0 g=8 reason_string="sleep"
	stack="time.Sleep /src/time.go:1"
GoStart t=10600 p=0 g=7
GoUnblock t=11200 p=0 on_g=7 g=1
	stack="main.send /src/main.go:25"
GoDestroy t=11300 p=0 g=7
GoStart t=11500 p=0 g=1
UserRegionBegin t=11600 g=1 p=0 task=1 name_string="reply"
UserLog t=11700 g=1 p=0 task=1 key_string="" value_string="done \x1b[31m"
UserTaskEnd t=12000 p=0 g=1 task=1
GoDestroy t=12100 p=0 g=1
END
echo '== kinds'
while read -r expression; do
    run gotrace find "$expression" known.trace
done <<'END'
run
sched
wait
wait(sync)
wait(network)
wait("sleep")
syscall
stw
stw("other")
gc
task
task("request") > 10us
task("request") >= 10us
region
region("reply")
silence > 900ns
log
log ~ ^timeout
goroutines > 2
goroutines ~ "^main\.(worker|helper)$" >= 2
goroutines ~ "main.worker" > 0
heap > 4M
heap >= 9000000
heap > 4M or heap > 4M
END
echo '== durations'
while read -r expression; do
    run gotrace find "$expression" known.trace
done <<'END'
sched > 1200ns
sched >= 1.2us
wait < 2us
wait <= 2000ns
END
echo '== tests'
while read -r expression; do
    run gotrace find "$expression" known.trace
done <<'END'
goroutine == 8
goroutine == 8 and not run and not sched
function ~ worker and (syscall or wait)
stack ~ ^net\.
wait and not (stack ~ "^(net|time)\." or goroutine == 7)
not sched and function ~ main.helper
stw and gc
END
echo '== at the same time'
while read -r expression; do
    run gotrace find "$expression" known.trace
done <<'END'
stw and during (gc)
not during (gc)
log and during (region("parse"))
region and during (log ~ done)
wait and during (syscall > 1us and during (task("request")))
run and not during (wait(sync) or gc)
sched and (goroutine == 7 or during (syscall))
silence >= 700ns and during (wait(sync))
(run or sched) and during (silence >= 1us)
END
echo '== output'
run gotrace find --json 'stw or sched > 1us or log or task or heap > 4M or region or goroutines > 1 or silence > 1us' known.trace
run gotrace find --count wait known.trace
run gotrace find --count 'silence > 500ns' known.trace
run gotrace find --count --max 2 wait known.trace
run gotrace find --count --json 'wait or during (gc)' known.trace
run gotrace find --max 1 wait known.trace
run gotrace find --max 1 'wait and during (gc)' known.trace
echo '== the longest'
for options in '--sort duration' '--sort time' '--top 3' '--top 3 --sort time' '--sort duration --max 2' '--top 3 --max 2 --sort time' \
    '--top 2 --count' '--top 2 --json'; do
    # shellcheck disable=SC2086
    run gotrace find $options 'wait or log' known.trace
done
run gotrace find --top 2 'run and during (gc)' known.trace
run gotrace find --top 1 'task("reqest")' known.trace
run gotrace find --sort length wait known.trace
gotrace find wait <known.trace
gotrace find wait - <known.trace
gotrace find -o hits wait known.trace && cat hits

echo '== Go 1.21, and what began before the trace or does not end'
run gotrace find 'stw or gc or syscall' "$TRACES/go1.21-gc.trace" | sed "s|$TRACES/||"
cp "$TRACES/go1.26-user.trace" "$TRACES/go1.19-user.trace" .
run gotrace find 'task or region or log or gc' go1.26-user.trace
run gotrace find 'not during (gc) or task' go1.19-user.trace

echo '== the wall clock, and a time of it for --from'
run gotrace find --wall --top 2 wait go1.26-user.trace
run gotrace find --json --top 1 wait go1.26-user.trace
at=$(gotrace find --json --top 1 wait go1.26-user.trace | jq -r .wall)
cmp <(gotrace find --from "$at" --top 1 wait go1.26-user.trace) <(gotrace find --top 1 wait go1.26-user.trace)
run gotrace find --wall --max 1 wait go1.19-user.trace

echo '== wrong'
while IFS= read -r expression; do
    run gotrace find "$expression" known.trace
done <<'END'

sced > 10ms
stw > 10
stw > 10ms 5
(stw or gc
log ~ "a(b"
wait(disk)
task("x
heap
goroutine = 3
stw and
not during gc
"été" > 3 and x
log ~ été or y > 3
END
run gotrace find
run gotrace find --max x stw known.trace
long=$(head -c 100000 /dev/zero | tr '\0' '(')
gotrace find "$long" known.trace
echo "=> $?"
long=$(yes 'run or' | head -n 14000 | tr '\n' ' ')
gotrace find "$long run" known.trace
echo "=> $?"

echo '== hostile'
run gotrace find --count 'log ~ "(a*)*b"' known.trace
many=$(head -c 20000 /dev/zero | tr '\0' a)
printf 'Trace Go1.26 level=meaning procs=1\nUserLog t=1000 g=1 p=0 task=0 key_string="" value_string="%s"\n' "$many" |
    gotrace synth -q -o many.trace
gotrace find 'gc or log ~ "(.*)*(.*)*x|(.+)+\d"' many.trace known.trace 2>&1 | sed 's/aaaa*/a.../'

echo '== events in moments: of a goroutine, of the whole program, of an instant'
for expression in 'wait(sync)' stw 'log ~ timeout' 'goroutine == 8 and wait' 'task("request") and during (gc)' \
    'silence > 1us'; do
    run gotrace print --where "$expression" known.trace
done
run gotrace print --format jsonl --where 'stw or region' --from 1300ns --until 7340ns --goroutine 1 known.trace
run gotrace print --where gc - <known.trace
head -c 480 known.trace >cut.trace
run gotrace print --where 'wait or run' cut.trace
run gotrace print --where 'stw > 1s' known.trace
run gotrace print --where 'stw > 1' known.trace
gotrace print --where 'log ~ "(.*)*(.*)*x|(.+)+\d"' many.trace 2>&1 | sed 's/aaaa*/a.../'
run gotrace print --where

echo '== several files'
mkdir files
for n in 1 2 3 4 5 6 7 8; do cp known.trace "files/$n"; done
cp "$TRACES/go1.26-empty.trace" files/9
head -c 600 known.trace >files/7
gotrace dump --zstd -o files/3 known.trace
rm files/5
cd files || exit
run gotrace find -j 1 'syscall or stw' 1 2 3 4 5 6 7 8 9
for options in '-j 2' '-j 4' '-j 4 --json' '-j 2 --count' '-j 3 --max 1'; do
    # shellcheck disable=SC2086
    gotrace find ${options/-j ?/-j 1} 'stw or wait and during (gc)' 1 2 3 4 5 6 7 8 9 >../one 2>../one.err
    echo $? >>../one
    # shellcheck disable=SC2086
    gotrace find $options 'stw or wait and during (gc)' 1 2 3 4 5 6 7 8 9 >../several 2>../several.err
    echo $? >>../several
    cmp ../one ../several
    cmp ../one.err ../several.err
    wc -l <../one
done
run gotrace find --count stw 1 9
run gotrace find --count 'heap > 4G' 1 9
run gotrace find 'stack ~ nothing' 1 2 3

echo '== what an independent program finds'
checked=("$TRACES"/go1.{19,21,22,26}-user.trace)
count=2
[ -z "${ALL:-}" ] || is_slow || checked=("$TRACES"/*-{user,gc,net}.trace) count=4
# Stacks without names; a run that ends with the trace, after a short system call.
for version in 1.5 1.19; do
    gotrace gen --go $version --events 1500 -q -o gen-$version.trace
    checked+=("gen-$version.trace")
done
python3 -B "$TRACES/../../tests/cli/find.py" gotrace $count 1 "${checked[@]}" |
    sed 's/^[0-9]* comparisons, [0-9]* moments$/many comparisons/'
