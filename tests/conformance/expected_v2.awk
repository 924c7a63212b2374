# expected_v2.awk - facts that the timeline of a v2 trace must show, computed from the output of Go
# 1.27's reader (goread-v2 -print). One fact a line:
#
#   state G STATE NS  goroutine G was running, runnable, waiting or in a system call for that time
#   thread G NS       a thread had goroutine G for that time: running, or in a system call
#   held P NS         a thread had proc P for that time
#   alone G NS        goroutine G was on a thread without a proc for that time
#   tid M             the thread whose id is M got a proc; or a goroutine started to run there, or was
#                     in a system call there when the trace began
#   onproc G NS       it had a proc: from a start to the next stop, including system calls until
#                     the proc is taken; not computed for a goroutine found in a system call, because
#                     the reader does not print whose proc that is
#   viewed G NS       as onproc, as Go's viewer shows it: runs that were active when tracing
#                     started begin with the first event except Sync; unfinished ones end with the last such
#                     event (in Go's viewer with the last Sync, which Go adds 1 ns later)
#   arrows N          runs with a known cause: created, unblocked or back from a system call
#   last STATE N      number of goroutines in that state at the end, if there was one
#   metric NAME N V T a counter was set N times; sums of values and of times since the first one,
#                     each modulo 1000003; values beyond 2^53 count as 0
#   unknown G         onproc and viewed of this goroutine are not computed
#   runs P N          goroutines started to run on proc P N times
#   heap BYTES        a last value of the heap counter
#   tasks N, regions N, logs N, stw N, gc N, samples N
#   stops N           stop-the-world, once for every occurrence on a proc
#
# Durations of 0 are omitted.

!/^M=-?[0-9]+ P=-?[0-9]+ G=-?[0-9]+ [A-Z]/ { next }

function close_run(p) {
    if (p in on) {
        onproc[on[p]] += time - since_run[p]
        viewed[on[p]] += time - viewed_since[p]
        delete at[on[p]]
        delete on[p]
    }
}

{
    time = substr($5, 6)
    # The last Sync is not in the trace: Go adds it, 1 ns after the end.
    if (time > end && $4 != "Sync")
        end = time
    proc = substr($2, 3)
    if (!first && $4 != "Sync")
        first = time
}

# Add the time of the previous state of a thread.
function settle(m) {
    if (m in rider && !(m in has))
        alone[rider[m]] += time - settled[m]
    settled[m] = time
}

function drop_proc(p, m) {
    if (!(p in holder))
        return
    m = holder[p]
    settle(m)
    held[p] += time - held_since[p]
    delete has[m]
    delete holder[p]
}

function leave_thread(g, m) {
    if (!(g in ridden))
        return
    m = ridden[g]
    settle(m)
    delete rider[m]
    delete ridden[g]
}

$4 == "StateTransition" && $6 ~ /^ProcID=/ {
    # Statuses that are repeated at the start of a generation change nothing.
    split($7, states, "->")
    p = substr($6, 8)
    m = substr($1, 3)
    if (states[2] != "Running")
        drop_proc(p)
    else if (!(p in holder)) {
        settle(m)
        has[m] = p
        holder[p] = m
        held_since[p] = time
        tids[m] = 1
    }
    if (states[1] != states[2] && states[2] == "Idle")
        close_run(substr($6, 8))
}

$4 == "StateTransition" && $6 ~ /^GoID=/ {
    g = substr($6, 6)
    split($7, states, "->")
    if (states[1] == states[2])
        next
    if (g in state)
        total[g, state[g]] += time - since[g]
    state[g] = states[2]
    since[g] = time
    if (states[2] == "Runnable")
        cause[g] = states[1] ~ /^(NotExist|Waiting|Syscall)$/
    else if (states[1] == "Runnable" && states[2] == "Running") {
        arrows += cause[g]
        cause[g] = 0
    }
    if (states[2] != "Running" && states[2] != "Syscall")
        leave_thread(g)
    else if (!(g in ridden)) {
        m = substr($1, 3)
        settle(m)
        rider[m] = g
        ridden[g] = m
    }
    if (states[1] == "Undetermined" && states[2] == "Syscall") {
        unknown[g] = 1
        tids[substr($1, 3)] = 1
    }
    if (states[2] == "Running" && !(g in at)) {
        runs[proc]++
        tids[substr($1, 3)] = 1
        on[proc] = g
        at[g] = proc
        since_run[proc] = time
        viewed_since[proc] = (states[1] == "Undetermined") ? first : time
    } else if (states[2] != "Running" && states[2] != "Syscall" && (g in at))
        close_run(at[g])
}

$4 == "Metric" && $6 == "Name=\"/memory/classes/heap/objects:bytes\"" {
    heap = $7
    gsub(/[^0-9]/, "", heap)
    sub(/^64/, "", heap)
}

$4 == "Metric" {
    name = $6 ~ /objects/ ? "heap allocated" : $6 ~ /goal/ ? "heap goal" : "GOMAXPROCS"
    match($7, /\([0-9]+\)/)
    value = substr($7, RSTART + 1, RLENGTH - 2)
    if (!(name in metrics))
        first_metric[name] = time
    metrics[name]++
    metric_values[name] += (value + 0 < 2 ^ 53) ? value % 1000003 : 0
    metric_times[name] += (time - first_metric[name]) % 1000003
}

# Also what began before the trace.
$4 == "TaskBegin" { tasks++; active[$6] = 1 }
$4 == "TaskEnd" { tasks += !($6 in active); delete active[$6] }
$4 == "RegionBegin" { regions++; depth[$3]++ }
$4 == "RegionEnd" { if (depth[$3] > 0) depth[$3]--; else regions++ }
$4 == "Log" { logs++ }
$4 == "StackSample" { samples++ }
/^M=[^ ]+ P=[^ ]+ G=[^ ]+ Range(Begin|Active) [^ ]+ Name="GC concurrent mark phase"/ && !gc { gc = 1; gcs++ }
/^M=[^ ]+ P=[^ ]+ G=[^ ]+ RangeEnd [^ ]+ Name="GC concurrent mark phase"/ { gc = 0 }
/^M=[^ ]+ P=[^ ]+ G=[^ ]+ Range(Begin|End) [^ ]+ Name="stop-the-world/ {
    match($0, / Scope=Goroutine\([0-9]+\)/)
    g = substr($0, RSTART + 17, RLENGTH - 18)
    if ($4 == "RangeBegin") {
        stws++
        stops++
        stopping[g] = 1
    } else
        delete stopping[g]
}
$4 == "StateTransition" && /->Running / && $6 ~ /^GoID=/ && substr($6, 6) in stopping { stops++ }

function fact(name, value) {
    if (value > 0)
        printf "%s %.0f\n", name, value
}

END {
    time = end
    for (g in state)
        total[g, state[g]] += end - since[g]
    for (p in holder)
        held[p] += end - held_since[p]
    for (m in rider)
        settle(m)
    for (p in on) {
        onproc[on[p]] += end - since_run[p]
        viewed[on[p]] += end - viewed_since[p]
    }
    for (g in state) {
        fact("state " g " running", total[g, "Running"])
        fact("state " g " runnable", total[g, "Runnable"])
        fact("state " g " waiting", total[g, "Waiting"])
        fact("state " g " in", total[g, "Syscall"])
        fact("thread " g, total[g, "Running"] + total[g, "Syscall"])
        fact("alone " g, alone[g])
        if (!(g in unknown)) {
            fact("onproc " g, onproc[g])
            fact("viewed " g, viewed[g])
        }
    }
    for (p in held)
        fact("held " p, held[p])
    for (g in state)
        final[state[g]]++
    for (s in final)
        if (s != "NotExist")
            print "last", tolower(s), final[s]
    for (name in metrics)
        printf "metric %s %d %.0f %.0f\n", name, metrics[name], metric_values[name], metric_times[name]
    print "arrows", arrows + 0
    for (g in unknown)
        print "unknown", g
    for (p in runs)
        print "runs", p, runs[p]
    for (m in tids)
        print "tid", m
    if (heap)
        print "heap", heap
    print "tasks", tasks + 0
    print "regions", regions + 0
    print "logs", logs + 0
    print "stw", stws + 0
    print "stops", stops + 0
    print "gc", gcs + 0
    print "samples", samples + 0
}
