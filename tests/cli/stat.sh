# shellcheck shell=bash
# What stat reports of some traces; for every trace, the sums.
cd "$TRACES" || exit 1
run gotrace stat go1.26-user.trace
run gotrace stat --full --top 3 go1.26-user.trace
echo '== orders, stacks, and without the goroutines of the runtime'
for column in cost total execution scheduling sync blocking syscalls goroutines alive; do
    echo "$column: $(gotrace stat --only goroutines --sort $column --json go1.19-http.trace | jq -r .name | head -n 2 | paste -sd,)"
done
run gotrace stat --only goroutines --sort name go1.19-http.trace
run gotrace stat --only network,goroutines --stacks 3 --top 1 --no-system go1.19-http.trace
run gotrace stat --top 2 --only goroutines,blocking,syscalls,network go1.19-http.trace
run gotrace stat --only overview,scheduling,gc,stops,samples --top 3 go1.22-prof.trace
run gotrace stat --by file --only tasks,regions go1.22-user.trace gccgo-user.trace
echo '== each table and each object names its file'
gotrace stat --full --by file --top 1 go1.22-user.trace go1.26-prof.trace | grep '^go'
gotrace stat --by file --top 1 go1.22-user.trace go1.26-prof.trace | grep '^go'
gotrace stat --by file --json --each go1.22-user.trace go1.26-prof.trace | jq -r '"\(.file) \(.kind)"' | sort | uniq -c
run gotrace stat --only overview,tasks go1.22-user.trace gccgo-user.trace
gotrace stat --json --only tasks,regions,stops,gc go1.26-user.trace
gotrace stat --json --each --only network go1.26-net.trace | head -n 3
run gotrace stat --only overview,everything go1.26-user.trace
run gotrace stat --each go1.26-user.trace
run gotrace stat --by folder go1.26-user.trace

mapfile -t samples < <(all_samples)
for trace in "${samples[@]##*/}"; do
    gotrace stat --json --each "$trace" 2>/dev/null | grep -v '^{"type"' | jq -sr --arg name "$trace" '
        def sum_of(rows; field): [rows | field] | add // 0;
        def of($kind): .[] | select(.kind == $kind);
        . as $all |
        # The times of each goroutine and region add up to its total, and nothing is unknown.
        (.[] | select(.kind == "goroutine" or .kind == "region") |
            ([.exec_ns, .sched_wait_ns, .syscall_ns, .syscall_block_ns, .unknown_ns, .block_ns[]] | add) as $sum |
            select($sum != .total_ns or .unknown_ns != 0) | "\($name): \(.) adds up to \($sum)"),
        # Functions, reasons and stacks have the times of all goroutines.
        ([[of("goroutine")], [of("function")]] |
            [(.[0] | length), sum_of(.[0][]; .total_ns), sum_of(.[0][]; .exec_ns), sum_of(.[0][]; .block_ns[])] as $each |
            [sum_of(.[1][]; .goroutines), sum_of(.[1][]; .total_ns.sum), sum_of(.[1][]; .exec_ns.sum),
             sum_of(.[1][]; .block_ns[].sum)] as $functions |
            select($each != $functions) | "\($name): goroutines \($each), functions \($functions)"),
        ([sum_of(of("goroutine"); .block_ns[]), sum_of(of("blocking"); .sum), sum_of(of("blocking-stack"); .sum)] |
            select(unique | length != 1) | "\($name): blocking \(.)"),
        ([sum_of(of("goroutine"); .syscall_ns + .syscall_block_ns), sum_of(of("syscall"); .sum),
          sum_of(of("syscall-stack"); .sum)] | select(unique | length != 1) | "\($name): system calls \(.)"),
        # The figures of names have all tasks.
        ([sum_of(of("tasks"); .count + .unfinished), ([of("task") | select(.begin)] | length)] |
            select(unique | length != 1) | "\($name): tasks \(.)"),
        # A function costs what its goroutines execute, wait to run, and wait for each other.
        ([sum_of(of("goroutine"); .exec_ns + .sched_wait_ns +
            ([.block_ns | to_entries[] | select(.key | test("chan|sync|select")).value] | add // 0)), sum_of(of("function"); .cost_ns)] |
            select(unique | length != 1) | "\($name): cost \(.)"),
        ([of("function").cost_ns] | select(. != (sort | reverse)) | "\($name): costs \(.)"),
        # The spans of time have all that the procs did.
        (of("trace") | [(.procs_ns | add), ([.spans[][]] | add // 0)] |
            select(unique | length != 1) | "\($name): procs \(.)")'
    #     The result does not depend on the threads.
    cmp <(gotrace stat --json -j 1 "$trace" 2>&1) <(gotrace stat --json -j 3 "$trace" 2>&1)
done

# Goroutines created and ended, the heap and silences are those of the printed events; without the goroutines of the
# runtime, the other functions are the same.
for trace in "${samples[@]##*/}"; do
    {
        gotrace print --no-recover --format jsonl "$trace"
        gotrace stat --no-recover --json "$trace"
        gotrace stat --no-recover --json --no-system --only goroutines "$trace" | sed 's/"function"/"program-function"/'
    } 2>/dev/null | jq -sr --arg name "$trace" '
        def of($kind): map(select(.kind == $kind));
        of("transition") as $changes | (of("metric") | map(select(.metric == "heap allocated").value)) as $heap |
        [[$changes[] | select(.resource == "goroutine" and .from == "not-exist" and .subject != 0)] | length,
         ([$changes[] | select(.resource == "goroutine" and .to == "not-exist" and .subject != 0)] | length)] as $printed |
        (of("function") | [map(.created), map(.ended), map(.alive), map(.goroutines)] | map(add // 0)) as $functions |
        ($functions | select(.[:2] != $printed or .[2] != .[3] - .[1]) | "\($name): goroutines \(.), printed \($printed)"),
        (of("gc")[0].heap | [.max, .last] | select(. != [($heap | max), $heap[-1]]) | "\($name): heap \(.)"),
        ([foreach (.[] | select(.offset and .kind != "sync").time) as $t ([0, 0]; [$t, $t - .[0]]; .[1]) | select(. > 20000000)] as $gaps |
            of("trace")[0].silences | [.count, .sum, .max] |
            select(. != [($gaps | length), ($gaps | add // 0), ($gaps | max // 0)]) | "\($name): silences \(.), printed \($gaps)"),
        (of("program-function") as $program | of("function") | map(select(.name | startswith("runtime.") and . != "runtime.main" | not)) |
            select(map([.name, .goroutines, .total_ns]) != ($program | map([.name, .goroutines, .total_ns]))) |
            "\($name): of the program \(map(.name)), --no-system \($program | map(.name))")'
done

# Latencies by function and by cause, and what the procs did meanwhile, are those of the printed events. (The
# events before GOMAXPROCS of go1.19-restart are no statuses alone.)
if command -v python3 >/dev/null; then
    mapfile -t printed < <(printf '%s\n' "${samples[@]}" | grep -v go1.19-restart)
    python3 -B ../../tests/cli/latency.py gotrace "${printed[@]}"
fi
# Each proc, and all of them.
for trace in "${samples[@]##*/}"; do
    gotrace stat --json --only overview "$trace" 2>/dev/null | jq -sr --arg name "$trace" '
        (map(select(.kind == "trace"))[0].procs_ns) as $all |
        (map(select(.kind == "proc").procs_ns | to_entries[]) | group_by(.key) | map({(.[0].key): map(.value) | add}) | add) as $sums |
        select($all != $sums) | "\($name): procs \($sums), together \($all)"'
done

cd "$OLDPWD" || exit 1
# Numbers above 2^63-1 are strings in JSON; speedscope gets no such line.
gotrace synth -q -o large.trace <<'END'
Trace Go1.21
Batch p=0 ticks=1000
ProcStart dt=0 thread=7
GoCreate dt=1 g=18446744073709551614 stack=1 stk=1
GoStart dt=1 g=18446744073709551614 seq=1
GoBlock dt=5 stk=1
Frequency freq=1000000000
Stack id=1 nframes=1
	pc=4096 func=0 file=0 line=18446744073709551615
END
gotrace stat --json --each --only goroutines,blocking large.trace
gotrace convert --to speedscope --profile offcpu --open -o - large.trace
# A file that is no trace has no report.
echo text >text
run gotrace stat text
# Goroutine 0 is none.
gotrace synth -q -o zero.trace <<'END'
Trace Go1.21
Batch p=0 ticks=1000
GoCreate dt=1 g=0 stack=0 stk=0
GoCreate dt=1 g=1 stack=0 stk=0
Frequency freq=1000000000
END
run gotrace stat --only overview zero.trace

# Reports on several files at the same time: what one after the other gives, in the order of the arguments. (-q: how
# much of a trace was read before its function names are refused depends on the number of threads.)
head -c 3000 "$TRACES/go1.19-http.trace" >cut.trace
head -c 2500 "$TRACES/go1.26-gens.trace" >cut2.trace
set -- "$TRACES"/*-user.trace cut.trace nothere.trace text "$TRACES"/*-http.trace cut2.trace "$TRACES"/unsound/*.trace zero.trace .
for options in '' '--json --each' '--function main -v --only goroutines' '--from 100us --top 1' '--max-memory 1M' '--no-recover -q' \
    '--function (a*)*(a*)*(a*)*b|(.*)*(.*)*(.*)*! --only overview -q'; do
    for j in 1 2 16; do
        # shellcheck disable=SC2086
        (set -f; gotrace stat --by file -j $j $options "$@" >out.$j 2>err.$j; echo "status $?" >>err.$j)
        sed -i 's/ in [0-9.]* s, .*/ in .../' err.$j
        cmp out.1 out.$j
        cmp err.1 err.$j || diff err.1 err.$j | head -n 5
    done
    [ -s err.1 ] && tail -n 1 err.1
done
echo '== an id that lost its string means something else in another file'
head -c 2600 "$TRACES/go1.26-net.trace" >net.trace
head -c 2600 "$TRACES/go1.26-gens.trace" >gens.trace
lost() { jq -r 'select(.reason // "" | startswith("<lost")) | "\(.reason) \(.count)"'; }
gotrace stat -q --json --only blocking net.trace 2>/dev/null | lost | sort -u | head -n 2
gotrace stat -q --json --only blocking net.trace gens.trace 2>/dev/null | lost | sort -u
# Of the same reports one file each.
for file in "$@"; do
    gotrace stat --by file "$file" 2>/dev/null >one
    [ "$file" = "$1" ] || echo
    cat one
done >all
gotrace stat --by file -j 3 "$@" 2>/dev/null | cmp - all
gotrace stat --by file -j 3 --only overview --json zero.trace - cut.trace <"$TRACES/go1.26-user.trace" 2>/dev/null | jq -r 'select(.kind == "trace").file'

echo '== folded frames, unless rows differ only there; a goroutine that blocks forever is alive; silences of a part'
gotrace synth -q -o folded.trace <<'END'
Trace Go1.26 level=meaning procs=1
GoCreate t=1000 g=1 p=0 new_g=7
	new_stack="main.worker /src/main.go:20"
	stack="main.main /src/main.go:9"
GoCreate t=1100 g=1 p=0 new_g=8
	new_stack="main.worker /src/main.go:20"
	stack="main.main /src/main.go:9"
HeapAlloc t=1200 g=1 p=0 heapalloc_value=5000000
GoBlock t=2000 g=1 p=0 reason_string="network"
	stack="internal/poll.runtime_pollWait /go/poll.go:1"
	stack="internal/poll.(*FD).Read /go/poll.go:2"
	stack="net.read /go/net.go:3"
	stack="main.main /src/main.go:10"
GoStart t=2100 p=0 g=7
GoBlock t=2200 p=0 g=7 reason_string="network"
	stack="internal/poll.runtime_pollWait /go/poll.go:1"
	stack="internal/poll.(*FD).Write /go/poll.go:2"
	stack="net.read /go/net.go:3"
	stack="main.worker /src/main.go:21"
GoStart t=2300 p=0 g=8
GoUnblock t=2400 p=0 on_g=8 g=1
GoUnblock t=2500 p=0 on_g=8 g=7
GoBlock t=2600 p=0 g=8 reason_string="forever"
	stack="main.worker /src/main.go:30"
GoStart t=2700 p=0 g=1
HeapAlloc t=2800 g=1 p=0 heapalloc_value=4000000
GoBlock t=3000 g=1 p=0 reason_string="network"
	stack="internal/poll.other /go/poll.go:7"
	stack="internal/poll.(*FD).Read /go/poll.go:2"
	stack="net.read /go/net.go:3"
	stack="main.main /src/main.go:10"
GoStart t=30003000 p=0 g=7
GoDestroy t=30004000 p=0 g=7
GoUnblock t=80004000 p=0 g=1
GoStart t=80004100 p=0 g=1
END
run gotrace stat folded.trace
run gotrace stat --only goroutines,network --top 0 folded.trace
gotrace stat --json --only overview --from 10ms --until 60ms folded.trace | jq -c 'select(.kind == "trace").silences'
run gotrace find silence folded.trace
run gotrace find --from 10ms --until 29ms 'silence > 20ms' folded.trace
