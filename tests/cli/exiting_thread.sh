# shellcheck shell=bash
# A thread that exits while it has a proc has id 0 then: the status of the proc, in the next generation, is on another
# thread than its last event.
cat >script <<'END'
Trace Go1.25 level=meaning
ProcStart t=1000 m=7 p=0
GoStatus t=1010 on_m=7 p=0 g=1 m=7 gstatus=running
GoDestroy t=1020 m=7 p=0
Sync t=2000
ProcStatus t=2010 m=0 p=0 pstatus=running
ProcStop t=2020 m=0 p=0
END
run gotrace synth -o exits.trace script
run gotrace validate exits.trace
gotrace print exits.trace
gotrace dump --level meaning exits.trace | gotrace synth -o again.trace
cmp exits.trace again.trace
run gotrace convert --to go1.22 -o older.trace exits.trace
gotrace print older.trace
