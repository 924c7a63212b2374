/* event_names.h - the names of one kind of event in v1 and in v2. */
#ifndef EVENT_NAMES_H
#define EVENT_NAMES_H

/* Kind, name in v1, name in v2; NULL: that format has no such event. Several rows may have the same
 * name in one of them. */
/* clang-format off */
#define VERSION_EVENTS(X) \
    X(PROCS, "Gomaxprocs", "ProcsChange") \
    X(PROC_START, "ProcStart", "ProcStart") \
    X(PROC_STOP, "ProcStop", "ProcStop") \
    X(PROC_STEAL, NULL, "ProcSteal") \
    X(PROC_STATUS, NULL, "ProcStatus") \
    X(GO_CREATE, "GoCreate", "GoCreate") \
    X(GO_CREATE_SYSCALL, NULL, "GoCreateSyscall") \
    X(GO_CREATE_BLOCKED, NULL, "GoCreateBlocked") \
    X(GO_WAITING, "GoWaiting", NULL) \
    X(GO_IN_SYSCALL, "GoInSyscall", NULL) \
    X(GO_STATUS, NULL, "GoStatus") \
    X(GO_STATUS_STACK, NULL, "GoStatusStack") \
    X(GO_START, "GoStart", "GoStart") \
    X(GO_START_LABEL, "GoStartLabel", NULL) \
    X(GO_LABEL, NULL, "GoLabel") \
    X(GO_END, "GoEnd", "GoDestroy") \
    X(GO_END_SYSCALL, NULL, "GoDestroySyscall") \
    X(GO_STOP, NULL, "GoStop") \
    X(GO_SCHED, "GoSched", NULL) \
    X(GO_PREEMPT, "GoPreempt", NULL) \
    X(GO_BLOCK, "GoBlock", "GoBlock") \
    X(GO_FOREVER, "GoStop", NULL) \
    X(GO_SLEEP, "GoSleep", NULL) \
    X(GO_BLOCK_SEND, "GoBlockSend", NULL) \
    X(GO_BLOCK_RECV, "GoBlockRecv", NULL) \
    X(GO_BLOCK_SELECT, "GoBlockSelect", NULL) \
    X(GO_BLOCK_SYNC, "GoBlockSync", NULL) \
    X(GO_BLOCK_COND, "GoBlockCond", NULL) \
    X(GO_BLOCK_NET, "GoBlockNet", NULL) \
    X(GO_BLOCK_GC, "GoBlockGC", NULL) \
    X(GO_UNBLOCK, "GoUnblock", "GoUnblock") \
    X(GO_SWITCH, NULL, "GoSwitch") \
    X(GO_SWITCH_END, NULL, "GoSwitchDestroy") \
    X(SYSCALL, "GoSysCall", "GoSyscallBegin") \
    X(SYSCALL_END, NULL, "GoSyscallEnd") \
    X(SYSCALL_BLOCK, "GoSysBlock", NULL) \
    X(SYSCALL_EXIT, "GoSysExit", "GoSyscallEndBlocked") \
    X(FUTILE, "FutileWakeup", NULL) \
    X(TIMER, "TimerGoroutine", NULL) \
    X(STW_BEGIN, "STWStart", "STWBegin") \
    X(STW_END, "STWDone", "STWEnd") \
    X(GC_BEGIN, "GCStart", "GCBegin") \
    X(GC_END, "GCDone", "GCEnd") \
    X(GC_ACTIVE, NULL, "GCActive") \
    X(SWEEP_BEGIN, "GCSweepStart", "GCSweepBegin") \
    X(SWEEP_END, "GCSweepDone", "GCSweepEnd") \
    X(SWEEP_ACTIVE, NULL, "GCSweepActive") \
    X(ASSIST_BEGIN, "GCMarkAssistStart", "GCMarkAssistBegin") \
    X(ASSIST_END, "GCMarkAssistDone", "GCMarkAssistEnd") \
    X(ASSIST_ACTIVE, NULL, "GCMarkAssistActive") \
    X(HEAP_ALLOC, "HeapAlloc", "HeapAlloc") \
    X(HEAP_GOAL, "HeapGoal", "HeapGoal") \
    X(TASK_BEGIN, "UserTaskCreate", "UserTaskBegin") \
    X(TASK_END, "UserTaskEnd", "UserTaskEnd") \
    X(REGION, "UserRegion", NULL) \
    X(REGION_BEGIN, NULL, "UserRegionBegin") \
    X(REGION_END, NULL, "UserRegionEnd") \
    X(LOG, "UserLog", "UserLog") \
    X(SAMPLE, "CPUSample", "CPUSample") \
    X(EXPERIMENT_DATA, NULL, "ExperimentalBatch")
/* clang-format on */

#endif
