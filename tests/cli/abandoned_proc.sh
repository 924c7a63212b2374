# shellcheck shell=bash
# A proc that a generation's status gives as left in a system call: its status is reported on the
# thread that has it, in whosever batch it is. (Go's reader: advanceProcStatus)
gotrace synth -o abandoned.trace <<'END'
Trace Go1.22
EventBatch gen=1 m=18446744073709551615 time=1000 size=6
Frequency freq=1000000000
EventBatch gen=1 m=7 time=1000 size=13
ProcStatus dt=0 p=0 pstatus=1
GoStatus dt=0 g=1 m=7 gstatus=2
GoSyscallBegin dt=5 p_seq=1 stack=0
EventBatch gen=2 m=18446744073709551615 time=2000 size=6
Frequency freq=1000000000
EventBatch gen=2 m=8 time=2000 size=9
ProcStatus dt=1 p=0 pstatus=4
ProcSteal dt=1 p=0 p_seq=1 m=7
EventBatch gen=2 m=7 time=2000 size=7
GoStatus dt=0 g=1 m=7 gstatus=3
GoSyscallEndBlocked dt=9
END
run gotrace validate abandoned.trace
run gotrace print abandoned.trace
