/*
 * gotrace_rules.h - the rules that traces, scripts and calls can break: included by gotrace.h.
 */
#ifndef GOTRACE_RULES_H
#define GOTRACE_RULES_H

/* One row each: number, enum name, stable id, class, severity, what the rule wants, and where it
 * comes from ("Go" is Go 1.21's internal/trace, the reference reader of these versions). Numbers
 * and ids are never reused: a new rule has a number that none ever had, wherever its row is. The
 * row drives the enum gotrace_rule, the messages of `validate` and the man page. */
/* clang-format off */
#define GOTRACE_RULES(X) \
    X(0, NONE, "none", NONE, NOTE, "nothing", "") \
    X(1, SYSTEM_OPEN, "system.open", SYSTEM, FATAL, "the file can be opened", "the system") \
    X(2, SYSTEM_READ, "system.read", SYSTEM, FATAL, "the file can be read", "the system") \
    X(3, SYSTEM_WRITE, "system.write", SYSTEM, FATAL, "the output can be written", "the system") \
    X(4, SYSTEM_MEMORY, "system.memory", SYSTEM, FATAL, "memory is available", "the system") \
    X(5, SYSTEM_LIMIT, "system.limit", SYSTEM, FATAL, "the trace stays within the resource limits", "gotrace_limits") \
    X(6, SYSTEM_ZSTD, "system.zstd", MALFORMED, FATAL, "input that is compressed with zstd is intact and complete", "RFC 8878") \
    X(7, SYSTEM_GZIP, "system.gzip", MALFORMED, FATAL, "input that is compressed with gzip is intact and complete", "RFC 1952") \
    X(8, USAGE, "usage", USAGE, FATAL, "the call or the script is as documented", "gotrace") \
    X(9, HEADER_SHORT, "header.short", MALFORMED, FATAL, "a trace starts with a header of 16 bytes", "Go readTrace") \
    X(10, HEADER_MAGIC, "header.magic", MALFORMED, FATAL, "the header reads \"go 1.N trace\", padded with NUL", "Go parseHeader") \
    X(11, HEADER_FOREIGN, "header.foreign", MALFORMED, FATAL, "the file is a Go trace, not a file of another known type", "gotrace") \
    X(12, HEADER_VERSION, "header.version", UNSUPPORTED, FATAL, "the version exists", "Go readTrace") \
    X(13, TRACE_EMPTY, "trace.empty", UNFINISHED, PROBLEM, "a trace contains at least one event", "Go parseEvents") \
    X(14, WIRE_TYPE, "wire.type", MALFORMED, FATAL, "the low six bits of a record's first byte are an event type of this version", "Go readTrace") \
    X(15, WIRE_VARINT, "wire.varint", MALFORMED, FATAL, "a number takes at most ten bytes and 64 bits", "Go readVal; the tracers' traceBytesPerNumber") \
    X(16, WIRE_LENGTH, "wire.length", MALFORMED, FATAL, "a record's values end where its length says", "Go readTrace") \
    X(17, WIRE_TRUNCATED, "wire.truncated", UNFINISHED, FATAL, "the last record is complete", "Go readTrace") \
    X(72, WIRE_TEXT, "wire.text", MALFORMED, FATAL, "a trace contains nothing that the program prints", "gotrace") \
    X(18, BATCH_HEADER, "batch.header", MALFORMED, FATAL, "a batch starts with a batch record, and is at most 64 KiB long", "Go readBatch") \
    X(19, BATCH_EVENT, "batch.event", MALFORMED, PROBLEM, "a batch contains complete records of its own kind", "Go readTimedBaseEvent, addStrings, addStacks, addCPUSamples, setSyncBatch") \
    X(20, GENERATION_NUMBER, "generation.number", MALFORMED, PROBLEM, "generations are numbered from 1, consecutively, and are not mixed", "Go readGeneration") \
    X(21, GENERATION_END, "generation.end", UNFINISHED, PROBLEM, "a generation is complete: it has its tables, and in 1.26 and later its end record", "Go readGeneration") \
    X(22, GENERATION_CLOCK, "generation.clock", UNFINISHED, PROBLEM, "a generation has one frequency, above 0, and in 1.25 and later one clock snapshot", "Go setSyncBatch; above 0: gotrace") \
    X(23, GENERATION_MISSING, "generation.missing", INCONSISTENT, WARNING, "no generation is missing between two others", "gotrace; Go does not check this in 1.26 and later") \
    X(24, TRACE_AFTER, "trace.after", MALFORMED, PROBLEM, "a file contains one trace", "Go readBatch") \
    X(25, EVENT_ARITY, "event.arity", MALFORMED, PROBLEM, "a record has as many values as its type has in this version", "Go argNum") \
    X(26, STRING_ID, "string.id", MALFORMED, PROBLEM, "a string's id is not 0", "Go readTrace") \
    X(27, STRING_DUPLICATE, "string.duplicate", MALFORMED, PROBLEM, "a string's id is defined once", "Go readTrace") \
    X(28, STRING_LENGTH, "string.length", MALFORMED, FATAL, "a string is 1 to 1000000 bytes long", "Go readTrace") \
    X(29, STRING_MISSING, "string.missing", INCONSISTENT, WARNING, "a string that is referred to is defined", "gotrace; Go shows it as empty") \
    X(30, LOG_LENGTH, "log.length", MALFORMED, FATAL, "a log message is at most 1000000 bytes long", "Go readStr") \
    X(31, STACK_FRAMES, "stack.frames", MALFORMED, PROBLEM, "a stack has at most 1000 frames, and as many as its frame count", "Go parseEvents") \
    X(32, STACK_DUPLICATE, "stack.duplicate", MALFORMED, WARNING, "a stack's id is defined once", "gotrace; Go takes the last one") \
    X(33, STACK_MISSING, "stack.missing", INCONSISTENT, WARNING, "a stack that is referred to is defined", "gotrace; Go shows it as empty") \
    X(34, STACK_PC, "stack.pc", INCONSISTENT, WARNING, "in 1.22 and later, a PC has the same function, file and line in all stacks of a generation", "gotrace; Go addStacks uses the first frame with a PC for all frames with that PC") \
    X(35, TABLE_REFERENCE, "table.reference", INCONSISTENT, PROBLEM, "every string and stack that a generation refers to is in its tables", "Go validateTableIDs, validateStackStrings") \
    X(36, TABLE_UNUSED, "table.unused", INCONSISTENT, WARNING, "every string and stack of a generation is referred to", "gotrace; Go does not check this") \
    X(37, FOOTER_MISSING, "footer.missing", UNFINISHED, PROBLEM, "the trace ends with its frequency", "Go parseEvents") \
    X(38, FOOTER_FREQUENCY, "footer.frequency", CLOCKS, PROBLEM, "the frequency is above 0 and below 2^63", "Go parseEvents") \
    X(39, ORDER_SEQUENCE, "order.sequence", INCONSISTENT, PROBLEM, "sequence numbers and states of goroutines permit an order of all events", "Go order1007") \
    X(40, ORDER_CONSEQUENCE, "order.consequence", INCONSISTENT, NOTE, "inconsistencies that may follow from damage are counted, not reported one by one", "gotrace") \
    X(41, ORDER_GLOBAL, "order.global", INCONSISTENT, PROBLEM, "sequence numbers increase within a proc, and no two events have the same number", "Go 1.5, runtime/trace.go, tracestamp") \
    X(42, ORDER_CUT, "order.cut", UNFINISHED, PROBLEM, "an event that another one waits for is in the trace", "gotrace; Go does not read truncated traces") \
    X(43, TIME_ORDER, "time.order", CLOCKS, PROBLEM, "timestamps do not decrease in the order given by the sequence numbers", "Go order1005, order1007") \
    X(44, TIME_SYSCALL, "time.syscall", CLOCKS, PROBLEM, "a system call ends after it blocks", "Go order1007") \
    X(45, TIME_SPAN, "time.span", CLOCKS, WARNING, "a trace spans less than a year", "gotrace; Go does not check this") \
    X(46, CLOCK_BACK, "clock.back", CLOCKS, WARNING, "timestamps never decrease along cause and effect, no clock decreases from one generation to the next, and all generations have one frequency", "gotrace; Go increases the time of the later event") \
    X(47, PROC_START, "proc.start", INCONSISTENT, PROBLEM, "a proc is stopped before it starts", "Go postProcessTrace") \
    X(48, PROC_STOP, "proc.stop", INCONSISTENT, PROBLEM, "a proc that stops was started and runs no goroutine", "Go postProcessTrace") \
    X(49, GC_START, "gc.start", INCONSISTENT, PROBLEM, "a GC cycle ends before the next starts", "Go postProcessTrace") \
    X(50, GC_DONE, "gc.done", INCONSISTENT, PROBLEM, "a GC cycle that ends was started", "Go postProcessTrace") \
    X(51, STW_START, "stw.start", INCONSISTENT, PROBLEM, "a stop-the-world ends before the next starts", "Go postProcessTrace") \
    X(52, STW_DONE, "stw.done", INCONSISTENT, PROBLEM, "a stop-the-world that ends was started", "Go postProcessTrace") \
    X(53, STW_KIND, "stw.kind", INCONSISTENT, PROBLEM, "up to 1.20 a stop-the-world has kind 0 or 1", "Go parseEvents") \
    X(54, SWEEP_START, "sweep.start", INCONSISTENT, PROBLEM, "a proc's sweep ends before its next starts", "Go postProcessTrace") \
    X(55, SWEEP_DONE, "sweep.done", INCONSISTENT, PROBLEM, "a proc's sweep that ends was started", "Go postProcessTrace") \
    X(56, ASSIST_START, "assist.start", INCONSISTENT, PROBLEM, "a goroutine's mark assist ends before its next starts", "Go postProcessTrace") \
    X(57, GO_CREATE, "goroutine.create", INCONSISTENT, PROBLEM, "a created goroutine did not exist before", "Go postProcessTrace") \
    X(58, GO_INITIAL, "goroutine.initial", INCONSISTENT, PROBLEM, "a goroutine found waiting or in a system call was just created", "Go postProcessTrace") \
    X(59, GO_START, "goroutine.start", INCONSISTENT, PROBLEM, "a goroutine that starts is runnable, and its proc runs no other", "Go postProcessTrace") \
    X(60, GO_RUNNING, "goroutine.running", INCONSISTENT, PROBLEM, "an event of a goroutine happens while it runs on that proc", "Go checkRunning") \
    X(61, GO_UNBLOCK, "goroutine.unblock", INCONSISTENT, PROBLEM, "a goroutine that is unblocked is waiting, and the goroutine that unblocks it is running", "Go postProcessTrace") \
    X(62, GO_SYSEXIT, "goroutine.sysexit", INCONSISTENT, PROBLEM, "a goroutine that leaves a system call is in one", "Go postProcessTrace, order1007") \
    X(63, CONTEXT, "context", INCONSISTENT, PROBLEM, "an event happens on a thread with the proc and the goroutine that it requires", "Go validateCtx") \
    X(64, STATUS_PROC, "status.proc", INCONSISTENT, PROBLEM, "the status of a proc at the start of a generation matches the end of the generation before", "Go advanceProcStatus") \
    X(65, STATUS_GOROUTINE, "status.goroutine", INCONSISTENT, PROBLEM, "the status of a goroutine at the start of a generation matches the end of the generation before", "Go advanceGoStatus") \
    X(66, PROC_STEAL, "proc.steal", INCONSISTENT, PROBLEM, "a proc is taken from the thread that has it", "Go advanceProcSteal") \
    X(67, RANGE, "range", INCONSISTENT, PROBLEM, "a range begins before it ends, and only once at a time", "Go rangeState") \
    X(71, BEGIN_MISSING, "begin.missing", INCONSISTENT, WARNING, "a region, task or mark assist that ends has begun: in the trace, or before it if that is possible", "gotrace; Go takes it to have begun before the trace") \
    X(68, TASK_CREATE, "task.create", INCONSISTENT, PROBLEM, "the id of a new task is not that of an active task", "Go postProcessTrace") \
    X(69, REGION_END, "region.end", INCONSISTENT, PROBLEM, "a region that ends is the innermost one of its goroutine", "Go postProcessTrace") \
    X(70, REGION_MODE, "region.mode", INCONSISTENT, PROBLEM, "a region's mode is 0 (start) or 1 (end)", "Go postProcessTrace")
/* clang-format on */

/* The number of every rule, of later releases too, is below this: for arrays by rule. */
#define GOTRACE_RULE_LIMIT 256

#endif
