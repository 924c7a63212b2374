# expected.awk - facts that a timeline must show, computed from the output of Go's own reader
# (goread-v1 -print). One fact a line:
#
#   runs P N          goroutines were started N times on proc P
#   running G NS      goroutine G had a proc for that time: from a start to the next stop
#   onproc G NS       as running, without system calls that blocked, from when they did
#   state G STATE NS  goroutine G was runnable, waiting or in a system call that blocked for that time;
#                     durations of 0 are omitted
#   metric NAME N V T a counter was set N times; sums of values and of times since the first one,
#                     each modulo 1000003; values beyond 2^53 count as 0
#   arrows N          runs with a known cause: created, unblocked or back from a system call
#   heap BYTES        a last value of the heap counter (several lines for equal times)
#   tasks N, regions N, logs N, gc N, samples N
#
# Starts and stops of the same time may come in any order: the sums do not depend on it.

# Lines of the text of log messages are skipped.
!/^[0-9]+ [A-Z][A-Za-z]+ p=-?[0-9]+ g=[0-9]+ off=[0-9]+/ { next }

{
    time = $1
    type = $2
    proc = substr($3, 3)
    g = substr($4, 3)
    if (time > end)
        end = time
}

# What exists when tracing starts is reported before the first proc starts.
type == "ProcStart" { started = 1 }
(type == "GoCreate" && started) || type == "GoUnblock" || type == "GoSysExit" {
    cause[substr($6, 3)] = 1
}

type == "GoStart" || type == "GoStartLabel" {
    g = substr($6, 3)
    arrows += cause[g]
    cause[g] = 0
    runs[proc]++
    open[g]++
    running[g] -= time
}

type ~ /^(GoEnd|GoStop|GoSched|GoPreempt|GoSleep|GoBlock.*|GoSysBlock)$/ {
    open[g]--
    running[g] += time
}

# A system call blocks if that event is the next one of its goroutine.
type == "GoSysBlock" { called = (g in call) ? call[g] : time }
type == "GoSysBlock" && (g in call) { calling[g] += time - call[g] }
{ delete call[g] }
type == "GoSysCall" { call[g] = time }

function become(who, what) {
    if (who in state)
        total[who, state[who]] += time - since[who]
    state[who] = what
    since[who] = time
}

type ~ /^(GoCreate|GoUnblock|GoSysExit)$/ { become(substr($6, 3), "runnable") }
type ~ /^(GoSched|GoPreempt)$/ { become(substr($4, 3), "runnable") }
type == "GoWaiting" { become(substr($6, 3), "waiting") }
type ~ /^(GoStop|GoSleep|GoBlock.*)$/ { become(substr($4, 3), "waiting") }
type ~ /^GoStart(Label)?$/ { become(substr($6, 3), "other") }
type == "GoInSyscall" { become(substr($6, 3), "in") }
type == "GoEnd" { become(substr($4, 3), "other") }
type == "GoSysBlock" {
    become(substr($4, 3), "in")
    since[substr($4, 3)] = called
}

type == "HeapAlloc" { metric("heap allocated", substr($6, 5)) }
type ~ /^(HeapGoal|NextGC)$/ { metric("heap goal", substr($6, 5)) }
type == "Gomaxprocs" { metric("GOMAXPROCS", substr($6, 7)) }

function metric(name, value) {
    if (!(name in metrics))
        first_metric[name] = time
    metrics[name]++
    metric_values[name] += (value + 0 < 2 ^ 53) ? value % 1000003 : 0
    metric_times[name] += (time - first_metric[name]) % 1000003
}

type == "HeapAlloc" {
    if (time > heap_time || heaps == 0)
        heaps = 0
    heap_time = time
    heap[heaps++] = substr($6, 5)
}

# Also what began before the trace.
type == "UserTaskCreate" { tasks++; active[$6] = 1 }
type == "UserTaskEnd" { tasks += !($6 in active); delete active[$6] }
type == "UserRegion" && / mode=0 / { regions++; depth[$4]++ }
type == "UserRegion" && / mode=1 / { if (depth[$4] > 0) depth[$4]--; else regions++ }
type == "UserLog" { logs++ }
type == "GCStart" { gcs++ }
type == "CPUSample" { samples++ }

END {
    for (p in runs)
        print "runs", p, runs[p]
    for (g in running) {
        printf "running %s %.0f\n", g, running[g] + open[g] * end
        printf "onproc %s %.0f\n", g, running[g] + open[g] * end - calling[g]
    }
    for (g in state) {
        total[g, state[g]] += end - since[g]
        if (total[g, "runnable"] > 0)
            printf "state %s runnable %.0f\n", g, total[g, "runnable"]
        if (total[g, "waiting"] > 0)
            printf "state %s waiting %.0f\n", g, total[g, "waiting"]
        if (total[g, "in"] > 0)
            printf "state %s in %.0f\n", g, total[g, "in"]
    }
    for (name in metrics)
        printf "metric %s %d %.0f %.0f\n", name, metrics[name], metric_values[name], metric_times[name]
    print "arrows", arrows + 0
    for (i = 0; i < heaps; i++)
        print "heap", heap[i]
    print "tasks", tasks + 0
    print "regions", regions + 0
    print "logs", logs + 0
    print "gc", gcs + 0
    print "samples", samples + 0
}
