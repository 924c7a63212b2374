# shellcheck shell=bash
# Critical paths in total: tables and profiles of a lock convoy, and that they add up for sample and generated traces.

# Three requests wait for a mutex, whose holder, a fourth, waits for the network; then for each other.
gotrace synth -q -o convoy.trace <<'END'
Trace Go1.26 level=meaning procs=2
GoCreate t=100 g=1 p=0 new_g=10
	new_stack="main.serve /src/main.go:10"
	stack="main.main /src/main.go:5"
GoCreate t=110 g=1 p=0 new_g=11
	new_stack="main.serve /src/main.go:10"
	stack="main.main /src/main.go:5"
GoCreate t=120 g=1 p=0 new_g=12
	new_stack="main.serve /src/main.go:10"
	stack="main.main /src/main.go:5"
GoBlock t=200 g=1 p=0 reason_string="chan receive"
	stack="main.main /src/main.go:6"
GoStart t=300 p=0 g=10
UserTaskBegin t=310 g=10 p=0 task=1 parent_task=0 name_string="search"
GoBlock t=500 g=10 p=0 reason_string="network"
	stack="internal/poll.runtime_pollWait /go/netpoll.go:3"
	stack="internal/poll.(*FD).Read /go/fd.go:8"
	stack="main.fetch /src/main.go:40"
	stack="main.lookup /src/main.go:30"
	stack="main.serve /src/main.go:12"
GoStart t=600 p=0 g=11
UserTaskBegin t=610 g=11 p=0 task=2 parent_task=0 name_string="search"
GoBlock t=700 g=11 p=0 reason_string="sync"
	stack="sync.(*Mutex).Lock /go/mutex.go:7"
	stack="main.lookup /src/main.go:28"
	stack="main.serve /src/main.go:12"
GoStart t=800 p=0 g=12
UserTaskBegin t=810 g=12 p=0 task=3 parent_task=0 name_string="search"
GoBlock t=900 g=12 p=0 reason_string="sync"
	stack="sync.(*Mutex).Lock /go/mutex.go:7"
	stack="main.lookup /src/main.go:28"
	stack="main.other /src/main.go:18"
	stack="main.serve /src/main.go:13"
GoUnblock t=9000 g=10
GoStart t=9050 p=0 g=10
GoUnblock t=9100 p=0 on_g=10 g=11
	stack="sync.(*Mutex).Unlock /go/mutex.go:9"
	stack="main.lookup /src/main.go:33"
	stack="main.serve /src/main.go:12"
UserTaskEnd t=9200 p=0 g=10 task=1
GoDestroy t=9250 p=0 g=10
GoStart t=9300 p=0 g=11
GoSyscallBegin t=9400 p=0 g=11
	stack="syscall.write /go/sys.go:3"
	stack="main.log /src/main.go:50"
	stack="main.serve /src/main.go:14"
GoSyscallEnd t=9500 p=0 g=11
GoUnblock t=9600 p=0 on_g=11 g=12
	stack="sync.(*Mutex).Unlock /go/mutex.go:9"
	stack="main.lookup /src/main.go:33"
	stack="main.serve /src/main.go:12"
UserTaskEnd t=9650 p=0 g=11 task=2
GoDestroy t=9700 p=0 g=11
GoStart t=9800 p=0 g=12
GCMarkAssistBegin t=9850 p=0 g=12
	stack="main.alloc /src/main.go:60"
GCMarkAssistEnd t=9900 p=0 g=12
UserTaskEnd t=10000 p=0 g=12 task=3
	stack="main.serve /src/main.go:15"
GoUnblock t=10100 p=0 on_g=12 g=1
	stack="main.serve /src/main.go:16"
GoDestroy t=10200 p=0 g=12
END
run gotrace why --task search --slowest 100% convoy.trace
run gotrace why --task search --slowest 50% --stacks convoy.trace
run gotrace why --task search --slowest 1% --top 1 convoy.trace
run gotrace why --task search --slowest 2 --top 1 convoy.trace
run gotrace why --task search --slowest 9 --total --from 5us --until 9us convoy.trace
run gotrace why --task 1 --total convoy.trace
run gotrace why --task search --slowest 100% --json convoy.trace
run gotrace why --task search --slowest 100% --to folded convoy.trace
gotrace why --task search --slowest 100% --to speedscope convoy.trace | jq -c '.shared, .profiles[]'
gotrace why --task search --slowest 100% --to pprof convoy.trace | cksum
gotrace why --task search --slowest 100% --to perfetto convoy.trace | strings -n 3 | grep -c '^critical path'
gotrace why --task search --slowest 2 --json convoy.trace | jq -r .kind | uniq -c

# A chain of a hundred waits, of which the outer ones are shown.
{
    echo 'Trace Go1.26 level=meaning procs=2'
    for g in {2..100}; do printf 'GoCreate t=%d g=1 p=0 new_g=%d\n\tnew_stack="main.link /src/main.go:10"\n' $((g * 10)) "$g"; done
    echo 'UserTaskBegin t=2000 g=1 p=0 task=1 parent_task=0 name_string="chain"'
    for g in {1..99}; do
        printf 'GoBlock t=%d g=%d p=0 reason_string="sync"\n\tstack="main.wait /src/main.go:20"\nGoStart t=%d p=0 g=%d\n' \
            $((g * 20 + 2000)) "$g" $((g * 20 + 2010)) $((g + 1))
    done
    for g in {99..1}; do
        printf 'GoUnblock t=%d p=0 on_g=%d g=%d\nGoBlock t=%d g=%d p=0 reason_string="sleep"\nGoStart t=%d p=0 g=%d\n' \
            $((10000 - g * 20)) $((g + 1)) "$g" $((10001 - g * 20)) $((g + 1)) $((10010 - g * 20)) "$g"
    done
    echo 'UserTaskEnd t=10000 p=0 g=1 task=1'
} | gotrace synth -q -o chain.trace
gotrace why --task chain --to folded chain.trace >chain.folded
awk '{ sum += $NF; frames = gsub(";", ";") + 1; most = frames > most ? frames : most }
    END { print NR " stacks, at most " most " frames, " sum " ns" }' chain.folded
grep -cF ';...;' chain.folded
gotrace why --task chain --json chain.trace | jq -r 'select(.kind == "path").total_ns'

# Values of --slowest, and what excludes each other.
for value in 0 0% 100.1% -1% 1.% .5% 0.0000001% % 1x 5%% ''; do
    run gotrace why --task search --slowest "$value" convoy.trace
done
run gotrace why --task search --slowest 0.000001% convoy.trace
run gotrace why --task search --total --to perfetto convoy.trace
run gotrace why --task search --json --to folded convoy.trace

# The result does not depend on the threads or on where the trace is read from.
for option in --total --json '--to folded' '--to pprof' '--to speedscope'; do
    for trace in convoy.trace "$TRACES/go1.22-user.trace"; do
        # shellcheck disable=SC2086 # words
        cmp <(gotrace why --goroutine 1 --slowest 50% $option -j 1 "$trace" 2>&1) <(gotrace why --goroutine 1 --slowest 50% $option -j 3 "$trace" 2>&1)
    done
done
cmp <(gotrace why --task search --slowest 50% convoy.trace) <(gotrace why --task search --slowest 50% - <convoy.trace)

# Everything adds up.
for version in $(all_versions); do
    gotrace gen -q --go "$version" --profile http --events 2000 --procs 3 --goroutines 20 -o "$version.trace"
done
python3 -B "$TRACES/../../tests/cli/why_total.py" ./*.trace
cd "$TRACES" || exit 1
samples=(./*-user.trace)
[ -z "${ALL:-}" ] || samples=(./*-{user,net,lock,mutex,iter,gens}.trace)
python3 -B ../../tests/cli/why_total.py "${samples[@]}"
