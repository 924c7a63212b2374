# shellcheck shell=bash
# What the runtime of 1.26 reports while the GC works. G1 has its state before the number of procs is
# known, and reports that G2, which waits, is in a mark assist. G3 is no worker, but gets a worker's
# label; it runs on P1, then on P2 inside an assist, then there again. G4 is a worker.
# The go_utilization of a window is that of goread-v2.
gotrace synth -o labels.trace <<'TRACE'
Trace Go1.26 level=meaning
ProcStatus t=0 m=7 p=0 pstatus=running
GoStatus t=0 on_m=7 p=0 g=1 m=7 gstatus=running
ProcsChange t=100 m=7 p=0 g=1 procs_value=4
GoStatus t=500 on_m=7 p=0 on_g=1 g=2 gstatus=waiting
GCMarkAssistActive t=500 m=7 p=0 on_g=1 g=2
GoCreate t=600 m=7 p=0 g=1 new_g=3 new_stack="main.work /src/a.go:7"
GoCreate t=700 m=7 p=0 g=1 new_g=4 new_stack="runtime.gcBgMarkWorker /src/a.go:7"
ProcStatus t=1000 m=8 p=1 pstatus=running
GoStart t=1100 m=8 p=1 g=3
GoLabel t=1100 m=8 p=1 g=3 label_string="GC (dedicated)"
GCMarkAssistBegin t=2100 m=8 p=1 g=3
GoBlock t=3100 m=8 p=1 g=3 reason_string="GC mark assist wait for work"
GoStart t=3200 m=8 p=1 g=4
GoLabel t=3200 m=8 p=1 g=4 label_string="GC (dedicated)"
GoUnblock t=3700 m=8 p=1 on_g=4 g=3
ProcStatus t=3800 m=9 p=2 pstatus=running
GoStart t=4000 m=9 p=2 g=3
GoBlock t=4200 m=8 p=1 g=4 reason_string="system goroutine wait"
GCMarkAssistEnd t=5000 m=9 p=2 g=3
GoStop t=5500 m=9 p=2 g=3 reason_string="preempted"
GoStart t=5600 m=9 p=2 g=3
GoStop t=8600 m=9 p=2 g=3 reason_string="preempted"
GoDestroy t=9700 m=7 p=0 g=1
ProcStop t=9800 m=7 p=0
TRACE
run gotrace validate labels.trace
gotrace stat --full labels.trace | sed -n '1,/^$/p;/workers:/p'
gotrace stat --json labels.trace | jq -c 'select(.kind == "mmu" and .window_ns >= 100000) |
    [.sweep, .utilization, .go_utilization]' | sort -u
