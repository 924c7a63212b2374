# shellcheck shell=bash
# The critical path: of traces whose path is known, of every sample trace (its parts add up), and what cannot be found.

# Goroutine 1 waits for 7, which is in a system call, is preempted, waits for 8, and assists the GC; 8 waits for the network.
gotrace synth -q -o chain.trace <<'END'
Trace Go1.26 level=meaning procs=2
GoCreate t=1000 g=1 p=0 new_g=7
	new_stack="main.worker /src/main.go:20"
	stack="main.main /src/main.go:9"
GoCreate t=1100 g=1 p=0 new_g=8
	new_stack="main.helper /src/main.go:40"
UserTaskBegin t=2000 g=1 p=0 task=1 parent_task=0 name_string="request"
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
GoBlock t=8400 p=0 g=7 reason_string="sync"
	stack="sync.Lock /src/sync.go:7"
GoUnblock t=9500 p=0 g=8
GoStart t=9900 p=0 g=8
GoUnblock t=10400 p=0 on_g=8 g=7
	stack="sync.Unlock /src/sync.go:9"
GoBlock t=10500 p=0 g=8 reason_string="sleep"
	stack="time.Sleep /src/time.go:1"
GoStart t=10600 p=0 g=7
GCMarkAssistBegin t=10800 p=0 g=7
	stack="main.alloc /src/main.go:24"
GCMarkAssistEnd t=11100 p=0 g=7
GoUnblock t=11200 p=0 on_g=7 g=1
	stack="main.send /src/main.go:25"
GoDestroy t=11300 p=0 g=7
GoStart t=11500 p=0 g=1
UserTaskEnd t=12000 p=0 g=1 task=1
	stack="main.handle /src/main.go:12"
GoDestroy t=12100 p=0 g=1
END
run gotrace why --task request chain.trace
run gotrace why --task 1 --top 3 chain.trace
run gotrace why --task 1 --from 2200ns --until 6us chain.trace
run gotrace why --goroutine main.helper --from 10us chain.trace
run gotrace why --task request --until 1us chain.trace
run gotrace why --task other --from 2us chain.trace
run gotrace why --region x --from 11us chain.trace
run gotrace why --task 1 --from 12us chain.trace
run gotrace why --task 1 --from 3us --until 2us chain.trace
run gotrace why --task 1 --from 2026-11-22T10:00:00Z chain.trace
run gotrace why --task 1 --proc 0 chain.trace
gotrace why --task 1 --from 2200ns --until 6us --to perfetto -o part.pftrace chain.trace
strings -n 3 part.pftrace | grep -oE 'critical path.*|G[0-9]+ (execution|scheduling|waiting|syscall).*'
# The packets of the path are in a sequence of their own, 3, which never clears its state.
LC_ALL=C grep -aq $'\x50\x03' part.pftrace && ! LC_ALL=C grep -aqP '\x50\x03\x68' part.pftrace
echo "path without incremental state: $?"
run gotrace why --task 1 --top 1 --stacks chain.trace
run gotrace why --goroutine main.helper chain.trace
gotrace why --task 1 --json chain.trace
gotrace why --task 1 - <chain.trace >piped
gotrace why --task 1 chain.trace | cmp - piped

# Go 1.21: a timer, a goroutine that creates the next, a region without a begin, and one without an end.
gotrace synth -q -o next.trace <<'END'
Trace Go1.21 level=meaning procs=2
UserTaskCreate t=100 on_g=1 p=0 taskid=5 pid=0 typeid="job"
UserRegion t=150 on_g=1 p=0 taskid=5 mode=1 typeid="before"
GoSleep t=500 p=0 on_g=1
	stk="time.Sleep /src/time.go:1"
GoUnblock t=900 p=0 g=1
GoStart t=1000 p=0 g=1
UserRegion t=1100 on_g=1 p=0 taskid=5 mode=0 typeid="open"
GoCreate t=1200 p=0 on_g=1 g=9
	stack="main.next /src/main.go:30"
	stk="main.first /src/main.go:29"
GoBlockRecv t=1300 p=0 on_g=1
	stk="main.first /src/main.go:31"
GoStart t=1500 p=0 g=9
UserTaskEnd t=1900 on_g=9 p=0 taskid=5
GoBlockSend t=2000 p=0 on_g=9
	stk="main.next /src/main.go:32"
END
run gotrace why --task job next.trace
run gotrace why --region before next.trace
run gotrace why --region open next.trace
run gotrace why --goroutine 9 next.trace

# Goroutines that switch to each other, one that unblocks itself, and one that waits forever. The writer does not accept that
# a goroutine unblocks itself, but there are such traces: see gotrace-record(1).
gotrace synth -q --force -o odd.trace <<'END'
Trace Go1.26 level=meaning procs=2
GoCreateBlocked t=1000 p=0 g=1 new_g=7
	new_stack="iter.next /src/iter.go:5"
	stack="iter.Pull /src/iter.go:4"
UserTaskBegin t=1100 p=0 g=1 task=2 parent_task=0 name_string="iterate"
GoSwitch t=1500 p=0 on_g=1 g=7
GoSwitch t=1700 p=0 on_g=7 g=1
GoSwitch t=2000 p=0 on_g=1 g=7
GoSwitchDestroy t=2600 p=0 on_g=7 g=1
GoBlock t=3000 p=0 g=1 reason_string="sync"
	stack="main.self /src/main.go:3"
GoUnblock t=3400 p=0 on_g=1 g=1
GoStart t=3500 p=0 g=1
UserTaskEnd t=3600 p=0 g=1 task=2
UserTaskBegin t=3700 p=0 g=1 task=3 parent_task=0 name_string="forever"
GoBlock t=3800 p=0 g=1 reason_string="forever"
	stack="main.hang /src/main.go:8"
GoCreate t=4000 p=0 new_g=12
END
run gotrace why --task iterate odd.trace
run gotrace why --task forever odd.trace
run gotrace why --goroutine 7 odd.trace

# What is waited for is the message of a log that is the goroutine's last event before it waits: at 2000, 3500 and 6000,
# but not at 4500, after another log, and not at 5000.
gotrace synth -q -o locks.trace <<'END'
Trace Go1.26 level=meaning procs=2
GoCreate t=1000 g=1 p=0 new_g=7
	new_stack="main.worker /src/main.go:20"
GoStart t=1500 p=1 g=7
UserLog t=1900 p=1 g=7 task=0 key_string="waits for" value_string="mutex 0x10 held by goroutine 1"
GoBlock t=2000 p=1 g=7 reason_string="sync"
	stack="pthread_mutex_lock :0"
GoUnblock t=3000 p=0 on_g=1 g=7
GoStart t=3100 p=1 g=7
UserLog t=3400 p=1 g=7 task=0 key_string="waits for" value_string="semaphore 0x18"
GoBlock t=3500 p=1 g=7 reason_string="sync"
GoUnblock t=4000 p=0 g=7
GoStart t=4100 p=1 g=7
UserLog t=4300 p=1 g=7 task=0 key_string="waits for" value_string="mutex 0x10"
UserLog t=4400 p=1 g=7 task=0 key_string="waits" value_string="mutex 0x20"
GoBlock t=4500 p=1 g=7 reason_string="sync"
GoUnblock t=4600 p=0 on_g=1 g=7
GoStart t=4700 p=1 g=7
GoBlock t=5000 p=1 g=7 reason_string="sync"
GoUnblock t=5100 p=0 on_g=1 g=7
GoStart t=5200 p=1 g=7
UserLog t=5900 p=1 g=7 task=0 key_string="waits for" value_string="mutex 0x10 held by thread 12"
GoBlock t=6000 p=1 g=7 reason_string="sync"
	stack="pthread_mutex_lock :0"
GoStop t=7000 p=0 g=1 reason_string="preempted"
END
run gotrace why --goroutine 7 locks.trace
gotrace why --goroutine 7 --json locks.trace | jq -c 'select(.state == "waiting") | [.begin, .kind, .waits_for]'
gotrace why --goroutine 7 --to perfetto -o locks.pftrace locks.trace
strings -n 3 locks.pftrace | grep -o '; for .*'

cd "$TRACES" || exit 1
run gotrace why --task 1 --top 8 go1.26-user.trace
run gotrace why --region inner --slowest 2 go1.22-user.trace
run gotrace why --goroutine 1 --top 5 gccgo-user.trace
run gotrace why --task nope go1.26-user.trace
run gotrace why --region nope go1.26-user.trace
run gotrace why --goroutine nope go1.26-gens.trace
run gotrace why --task nope go1.19-http.trace
run gotrace why go1.26-user.trace
run gotrace why --task 1 --region x go1.26-user.trace
run gotrace why --task 1 --json --to perfetto go1.26-user.trace
run gotrace why --task 1 --slowest 0 go1.26-user.trace
run gotrace why --task 1 --to chrome go1.26-user.trace

# The parts of every path add up, follow each other without a gap, and are in the waits around them. (tests/unit/test_path.c
# checks the sums for all traces.)
for trace in *-user.trace *-net.trace go1.26-gens.trace; do
    names=$(gotrace stat --json --each --only overview "$trace" 2>/dev/null | jq -r '
        select(.kind == "goroutine" or .kind == "region" or .kind == "task") |
        "\(.kind) \(.name)"' | sort -u)
    while read -r kind name; do
        [ "$name" ] || continue
        gotrace why "--$kind" "$name" --slowest 1000000 --json "$trace" 2>/dev/null
    done <<<"$names" | jq -cn --arg name "$trace" '
        def check:
            [.rows[] | select(.kind == "part")] as $parts |
            if ([$parts[].ns] | add // 0) != .total_ns then "sum" else empty end,
            if .exec_ns + .gc_assist_ns + .sched_wait_ns + .syscall_ns + .unknown_ns + ([.block_ns[]] | add // 0) != .total_ns
                then "sums of states" else empty end,
            if ($parts | any(.ns <= 0 or .end - .begin != .ns)) then "empty part" else empty end,
            if ($parts | length) > 0 and ([$parts[].begin] != [.begin] + [$parts[:-1][].end] or $parts[-1].end != .end)
                then "gap" else empty end,
            (reduce .rows[] as $row ({open: [], bad: false};
                .open |= map(select(.depth < $row.depth)) |
                .bad = (.bad or $row.depth != (.open | length) or
                    ((.open | length) > 0 and ($row.begin < .open[-1].begin or $row.end > .open[-1].end))) |
                if $row.kind == "wait" then .open += [$row] else . end) | select(.bad) | "depth");
        foreach (inputs, null) as $row ({path: null, done: null};
            if $row == null or $row.kind == "path" then {path: (if $row then $row + {rows: []} else null end), done: .path}
            elif $row.kind == "part" or $row.kind == "wait" then .path.rows += [$row] | .done = null
            else .done = null end;
            .done | select(.) | check as $what | "\($name): \($what): \(del(.rows))")'
done

# The result does not depend on the threads or on where the trace is read from.
for trace in go1.22-user.trace go1.19-http.trace go1.26-gens.trace; do
    cmp <(gotrace why --goroutine 1 --json -j 1 "$trace" 2>&1) <(gotrace why --goroutine 1 --json -j 3 "$trace" 2>&1)
    cmp <(gotrace why --goroutine 1 --to perfetto -j 1 "$trace" 2>&1) <(gotrace why --goroutine 1 --to perfetto -j 3 "$trace" 2>&1)
    cmp <(gotrace why --goroutine 1 --top 0 --stacks "$trace" 2>&1) <(gotrace why --goroutine 1 --top 0 --stacks - 2>&1 <"$trace")
done

# Each part is what the definition gives.
for trace in go1.22-cgothread go1.22-user go1.26-lock; do
    python3 -B ../../tests/conformance/paths.py gotrace "$trace.trace"
done

# A damaged trace: what could be read, each problem once.
head -c $(($(stat -c %s go1.26-gens.trace) * 3 / 4)) go1.26-gens.trace >"$OLDPWD/cut.trace"
cd "$OLDPWD" || exit 1
gotrace why --goroutine 1 --top 2 cut.trace >out 2>err; echo "exit $?, $(wc -l <out) lines"
cmp <(gotrace validate cut.trace 2>&1 >/dev/null | grep -c 'error:') <(grep -c 'error:' err) || cat err
