/*
 * gotrace_events.h - codes of the events, as gotrace_event.type and gotrace_event_spec.code have
 * them. Made from events_v1.def and events_v2.def by `make codes`; names are those of Go.
 */
#ifndef GOTRACE_EVENTS_H
#define GOTRACE_EVENTS_H

/* clang-format off */

/* The v1 format: Go 1.5 to 1.21. */
typedef enum gotrace_v1_code {
    GOTRACE_V1_Batch = 1, /* start of a batch of events of one proc */
    GOTRACE_V1_Frequency = 2, /* the tracer's ticks per second */
    GOTRACE_V1_Stack = 3, /* a stack, innermost frame first */
    GOTRACE_V1_Gomaxprocs = 4, /* GOMAXPROCS changes */
    GOTRACE_V1_ProcStart = 5, /* a thread starts to run a proc */
    GOTRACE_V1_ProcStop = 6, /* a proc stops running */
    GOTRACE_V1_GCStart = 7, /* a GC cycle starts */
    GOTRACE_V1_GCDone = 8, /* the GC cycle is done */
    GOTRACE_V1_STWStart = 9, /* the world stops (1.5: a GC scan starts) */
    GOTRACE_V1_STWDone = 10, /* the world restarts (1.5: the GC scan is done) */
    GOTRACE_V1_GCSweepStart = 11, /* a proc starts to sweep */
    GOTRACE_V1_GCSweepDone = 12, /* the proc's sweep is done */
    GOTRACE_V1_GoCreate = 13, /* a goroutine is created */
    GOTRACE_V1_GoStart = 14, /* a goroutine starts to run */
    GOTRACE_V1_GoEnd = 15, /* the running goroutine ends */
    GOTRACE_V1_GoStop = 16, /* the goroutine blocks forever */
    GOTRACE_V1_GoSched = 17, /* the goroutine yields */
    GOTRACE_V1_GoPreempt = 18, /* the goroutine is preempted */
    GOTRACE_V1_GoSleep = 19, /* the goroutine sleeps */
    GOTRACE_V1_GoBlock = 20, /* the goroutine blocks */
    GOTRACE_V1_GoUnblock = 21, /* a goroutine is made runnable */
    GOTRACE_V1_GoBlockSend = 22, /* the goroutine blocks on a channel send */
    GOTRACE_V1_GoBlockRecv = 23, /* the goroutine blocks on a channel receive */
    GOTRACE_V1_GoBlockSelect = 24, /* the goroutine blocks on a select */
    GOTRACE_V1_GoBlockSync = 25, /* the goroutine blocks on a mutex */
    GOTRACE_V1_GoBlockCond = 26, /* the goroutine waits for a condition */
    GOTRACE_V1_GoBlockNet = 27, /* the goroutine waits for the network */
    GOTRACE_V1_GoSysCall = 28, /* the goroutine enters a system call */
    GOTRACE_V1_GoSysExit = 29, /* a goroutine has left a system call that blocked */
    GOTRACE_V1_GoSysBlock = 30, /* the goroutine's system call blocks: its proc is freed */
    GOTRACE_V1_GoWaiting = 31, /* a goroutine was waiting when tracing started */
    GOTRACE_V1_GoInSyscall = 32, /* a goroutine was in a system call when tracing started */
    GOTRACE_V1_HeapAlloc = 33, /* the size of the live heap changes, in bytes */
    GOTRACE_V1_HeapGoal = 34, /* the heap goal of the GC changes, in bytes */
    GOTRACE_V1_TimerGoroutine = 35, /* the goroutine that runs timers */
    GOTRACE_V1_FutileWakeup = 36, /* the goroutine was woken in vain and blocks again */
    GOTRACE_V1_String = 37, /* an entry of the string table */
    GOTRACE_V1_GoStartLocal = 38, /* GoStart on the proc of the goroutine's last event */
    GOTRACE_V1_GoUnblockLocal = 39, /* GoUnblock on the proc of the goroutine's last event */
    GOTRACE_V1_GoSysExitLocal = 40, /* GoSysExit on the proc of the goroutine's last event */
    GOTRACE_V1_GoStartLabel = 41, /* GoStart with a label */
    GOTRACE_V1_GoBlockGC = 42, /* the goroutine blocks on GC assist */
    GOTRACE_V1_GCMarkAssistStart = 43, /* the goroutine starts to assist the GC */
    GOTRACE_V1_GCMarkAssistDone = 44, /* the goroutine's assist is done */
    GOTRACE_V1_UserTaskCreate = 45, /* a task starts */
    GOTRACE_V1_UserTaskEnd = 46, /* a task ends */
    GOTRACE_V1_UserRegion = 47, /* a region starts (mode 0) or ends (mode 1) */
    GOTRACE_V1_UserLog = 48, /* a message is logged */
    GOTRACE_V1_CPUSample = 49, /* a CPU profile sample */
} gotrace_v1_code;

/* The v2 format: Go 1.22 and later. */
typedef enum gotrace_v2_code {
    GOTRACE_V2_EventBatch = 1, /* start of a batch of one thread's events, or of a table */
    GOTRACE_V2_Stacks = 2, /* the batch contains stacks */
    GOTRACE_V2_Stack = 3, /* a stack, innermost frame first */
    GOTRACE_V2_Strings = 4, /* the batch contains strings */
    GOTRACE_V2_String = 5, /* an entry of the string table */
    GOTRACE_V2_CPUSamples = 6, /* the batch contains CPU profile samples */
    GOTRACE_V2_CPUSample = 7, /* a CPU profile sample */
    GOTRACE_V2_Frequency = 8, /* the tracer's ticks per second */
    GOTRACE_V2_ProcsChange = 9, /* GOMAXPROCS changes */
    GOTRACE_V2_ProcStart = 10, /* the thread starts to run a proc */
    GOTRACE_V2_ProcStop = 11, /* the thread's proc stops */
    GOTRACE_V2_ProcSteal = 12, /* a proc is taken from a thread that is in a system call */
    GOTRACE_V2_ProcStatus = 13, /* a proc's state at the start of a generation */
    GOTRACE_V2_GoCreate = 14, /* a goroutine is created */
    GOTRACE_V2_GoCreateSyscall = 15, /* a goroutine appears in a system call (a call from C) */
    GOTRACE_V2_GoStart = 16, /* a goroutine starts to run */
    GOTRACE_V2_GoDestroy = 17, /* the running goroutine ends */
    GOTRACE_V2_GoDestroySyscall = 18, /* the goroutine ends in a system call (a call from C returns) */
    GOTRACE_V2_GoStop = 19, /* the goroutine stops running and stays runnable */
    GOTRACE_V2_GoBlock = 20, /* the goroutine blocks */
    GOTRACE_V2_GoUnblock = 21, /* a goroutine is made runnable */
    GOTRACE_V2_GoSyscallBegin = 22, /* the goroutine enters a system call */
    GOTRACE_V2_GoSyscallEnd = 23, /* the goroutine leaves its system call, with its proc */
    GOTRACE_V2_GoSyscallEndBlocked = 24, /* the goroutine leaves its system call, without its proc */
    GOTRACE_V2_GoStatus = 25, /* a goroutine's state at the start of a generation */
    GOTRACE_V2_STWBegin = 26, /* the world stops */
    GOTRACE_V2_STWEnd = 27, /* the world restarts */
    GOTRACE_V2_GCActive = 28, /* a GC cycle is active at the start of a generation */
    GOTRACE_V2_GCBegin = 29, /* a GC cycle starts */
    GOTRACE_V2_GCEnd = 30, /* the GC cycle is done */
    GOTRACE_V2_GCSweepActive = 31, /* a proc is sweeping at the start of a generation */
    GOTRACE_V2_GCSweepBegin = 32, /* the proc starts to sweep */
    GOTRACE_V2_GCSweepEnd = 33, /* the proc's sweep is done */
    GOTRACE_V2_GCMarkAssistActive = 34, /* a goroutine assists the GC at the start of a generation */
    GOTRACE_V2_GCMarkAssistBegin = 35, /* the goroutine starts to assist the GC */
    GOTRACE_V2_GCMarkAssistEnd = 36, /* the goroutine's assist is done */
    GOTRACE_V2_HeapAlloc = 37, /* the size of the live heap changes, in bytes */
    GOTRACE_V2_HeapGoal = 38, /* the heap goal of the GC changes, in bytes */
    GOTRACE_V2_GoLabel = 39, /* the goroutine is given a label */
    GOTRACE_V2_UserTaskBegin = 40, /* a task starts */
    GOTRACE_V2_UserTaskEnd = 41, /* a task ends */
    GOTRACE_V2_UserRegionBegin = 42, /* a region starts */
    GOTRACE_V2_UserRegionEnd = 43, /* a region ends */
    GOTRACE_V2_UserLog = 44, /* a message is logged */
    GOTRACE_V2_GoSwitch = 45, /* the goroutine blocks and another runs in its place */
    GOTRACE_V2_GoSwitchDestroy = 46, /* the goroutine ends and another runs in its place */
    GOTRACE_V2_GoCreateBlocked = 47, /* a goroutine is created, waiting */
    GOTRACE_V2_GoStatusStack = 48, /* a goroutine's state at the start of a generation, with its stack */
    GOTRACE_V2_ExperimentalBatch = 49, /* a batch of data of an experiment */
    GOTRACE_V2_Sync = 50, /* the batch contains the clocks */
    GOTRACE_V2_ClockSnapshot = 51, /* the clocks of the trace and of the system at the same time */
    GOTRACE_V2_EndOfGeneration = 52, /* the generation is complete */
    GOTRACE_V2_Span = 128, /* a span of the heap exists */
    GOTRACE_V2_SpanAlloc = 129, /* a span of the heap is allocated */
    GOTRACE_V2_SpanFree = 130, /* a span of the heap is freed */
    GOTRACE_V2_HeapObject = 131, /* a heap object exists */
    GOTRACE_V2_HeapObjectAlloc = 132, /* a heap object is allocated */
    GOTRACE_V2_HeapObjectFree = 133, /* a heap object is freed */
    GOTRACE_V2_GoroutineStack = 134, /* a goroutine's stack exists */
    GOTRACE_V2_GoroutineStackAlloc = 135, /* a goroutine's stack is allocated */
    GOTRACE_V2_GoroutineStackFree = 136, /* a goroutine's stack is freed */
} gotrace_v2_code;

/* The first versions of v2 whose batches and generations differ. */
enum {
    GOTRACE_FIRST_EXPERIMENTS = 23, /* batches of data of experiments */
    GOTRACE_FIRST_SYNC = 25, /* Sync begins a generation's clocks; before, a Frequency is all */
    GOTRACE_FIRST_GENERATION_END = 26, /* EndOfGeneration ends a generation */
};

/* clang-format on */

#endif
