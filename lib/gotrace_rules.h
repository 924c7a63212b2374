/*
 * gotrace_rules.h - the rules that traces, scripts and calls can break: included by gotrace.h.
 */
#ifndef GOTRACE_RULES_H
#define GOTRACE_RULES_H

/* One row each: enum name, stable id, class, severity, what the rule wants, and where it comes from
 * ("Go" is Go 1.21's internal/trace, the reference reader of these versions). The row drives the
 * enum gotrace_rule, the messages of `validate` and the man page. */
/* clang-format off */
#define GOTRACE_RULES(X) \
    X(NONE, "none", NONE, NOTE, "nothing", "") \
    X(SYSTEM_OPEN, "system.open", SYSTEM, FATAL, "the file can be opened", "the system") \
    X(SYSTEM_READ, "system.read", SYSTEM, FATAL, "the file can be read", "the system") \
    X(SYSTEM_WRITE, "system.write", SYSTEM, FATAL, "the output can be written", "the system") \
    X(SYSTEM_MEMORY, "system.memory", SYSTEM, FATAL, "there is memory", "the system") \
    X(SYSTEM_LIMIT, "system.limit", SYSTEM, FATAL, "the trace stays within the limits set for this reader", "gotrace_limits") \
    X(SYSTEM_ZSTD, "system.zstd", MALFORMED, FATAL, "input that is compressed with zstd is intact and complete", "RFC 8878") \
    X(SYSTEM_GZIP, "system.gzip", MALFORMED, FATAL, "input that is compressed with gzip is intact and complete", "RFC 1952") \
    X(USAGE, "usage", USAGE, FATAL, "the call or the script is as documented", "gotrace") \
    X(HEADER_SHORT, "header.short", MALFORMED, FATAL, "a trace starts with a header of 16 bytes", "Go readTrace") \
    X(HEADER_MAGIC, "header.magic", MALFORMED, FATAL, "the header reads \"go 1.N trace\", padded with NUL", "Go parseHeader") \
    X(HEADER_FOREIGN, "header.foreign", MALFORMED, FATAL, "the file is a Go trace, and not of another kind that is known by its beginning", "gotrace") \
    X(HEADER_VERSION, "header.version", UNSUPPORTED, FATAL, "the version is one that exists", "Go readTrace") \
    X(TRACE_EMPTY, "trace.empty", UNFINISHED, PROBLEM, "a trace holds at least one event", "Go parseEvents") \
    X(WIRE_TYPE, "wire.type", MALFORMED, FATAL, "the low six bits of a record's first byte are an event type of this version", "Go readTrace") \
    X(WIRE_VARINT, "wire.varint", MALFORMED, FATAL, "a number takes at most ten bytes and 64 bits", "Go readVal; the tracers' traceBytesPerNumber") \
    X(WIRE_LENGTH, "wire.length", MALFORMED, FATAL, "a record's values end where its length says", "Go readTrace") \
    X(WIRE_TRUNCATED, "wire.truncated", UNFINISHED, FATAL, "the last record is complete", "Go readTrace") \
    X(BATCH_HEADER, "batch.header", MALFORMED, FATAL, "a batch starts with a batch record, and is at most 64 KiB long", "Go readBatch") \
    X(BATCH_EVENT, "batch.event", MALFORMED, PROBLEM, "a batch holds records of its own kind, whole ones", "Go readTimedBaseEvent, addStrings, addStacks, addCPUSamples, setSyncBatch") \
    X(GENERATION_NUMBER, "generation.number", MALFORMED, PROBLEM, "generations are numbered from 1 on, one after another, and not mixed", "Go readGeneration") \
    X(GENERATION_END, "generation.end", UNFINISHED, PROBLEM, "a generation is whole: it has its tables, and from 1.26 on its end record", "Go readGeneration") \
    X(GENERATION_CLOCK, "generation.clock", UNFINISHED, PROBLEM, "a generation has its frequency, above 0, and from 1.25 on its clocks, once", "Go setSyncBatch; above 0: gotrace") \
    X(GENERATION_MISSING, "generation.missing", INCONSISTENT, WARNING, "no generation is left out between two others", "gotrace; from 1.26 on Go does not look") \
    X(TRACE_AFTER, "trace.after", MALFORMED, PROBLEM, "one file holds one trace", "Go readBatch") \
    X(EVENT_ARITY, "event.arity", MALFORMED, PROBLEM, "a record has as many values as its type has in this version", "Go argNum") \
    X(STRING_ID, "string.id", MALFORMED, PROBLEM, "a string's id is not 0", "Go readTrace") \
    X(STRING_DUPLICATE, "string.duplicate", MALFORMED, PROBLEM, "a string's id is defined once", "Go readTrace") \
    X(STRING_LENGTH, "string.length", MALFORMED, FATAL, "a string is 1 to 1000000 bytes long", "Go readTrace") \
    X(STRING_MISSING, "string.missing", INCONSISTENT, WARNING, "a string that is referred to is defined", "gotrace; Go shows it as empty") \
    X(LOG_LENGTH, "log.length", MALFORMED, FATAL, "a log message is at most 1000000 bytes long", "Go readStr") \
    X(STACK_FRAMES, "stack.frames", MALFORMED, PROBLEM, "a stack has at most 1000 frames, and as many as it says", "Go parseEvents") \
    X(STACK_DUPLICATE, "stack.duplicate", MALFORMED, WARNING, "a stack's id is defined once", "gotrace; Go takes the last one") \
    X(STACK_MISSING, "stack.missing", INCONSISTENT, WARNING, "a stack that is referred to is defined", "gotrace; Go shows it as empty") \
    X(STACK_PC, "stack.pc", INCONSISTENT, WARNING, "from 1.22 on, a PC has the same function, file and line in all stacks of a generation", "gotrace; Go addStacks shows the first frame of a PC in every stack that has the PC") \
    X(TABLE_REFERENCE, "table.reference", INCONSISTENT, PROBLEM, "every string and stack that a generation refers to is in its tables", "Go validateTableIDs, validateStackStrings") \
    X(TABLE_UNUSED, "table.unused", INCONSISTENT, WARNING, "every string and stack of a generation is referred to", "gotrace; Go does not look") \
    X(FOOTER_MISSING, "footer.missing", UNFINISHED, PROBLEM, "the trace ends with its frequency", "Go parseEvents") \
    X(FOOTER_FREQUENCY, "footer.frequency", CLOCKS, PROBLEM, "the frequency is above 0 and below 2^63", "Go parseEvents") \
    X(ORDER_SEQUENCE, "order.sequence", INCONSISTENT, PROBLEM, "sequence numbers and states of goroutines allow an order of all events", "Go order1007") \
    X(ORDER_GLOBAL, "order.global", INCONSISTENT, PROBLEM, "sequence numbers rise within a proc, and no two events have the same", "the seed of 1.5, tracestamp") \
    X(ORDER_CUT, "order.cut", UNFINISHED, PROBLEM, "what an event waits for is in the trace", "gotrace; Go reads no trace that is cut off") \
    X(TIME_ORDER, "time.order", CLOCKS, PROBLEM, "time stamps do not fall in the order that the sequence numbers give", "Go order1005, order1007") \
    X(TIME_SYSCALL, "time.syscall", CLOCKS, PROBLEM, "a system call ends after it began to block", "Go order1007") \
    X(TIME_SPAN, "time.span", CLOCKS, WARNING, "a trace spans less than a year", "gotrace; Go does not look") \
    X(CLOCK_BACK, "clock.back", CLOCKS, WARNING, "no event's time is before that of one that it follows, and no clock runs back from one generation to the next", "gotrace; Go moves the later event on") \
    X(PROC_START, "proc.start", INCONSISTENT, PROBLEM, "a proc is stopped before it starts", "Go postProcessTrace") \
    X(PROC_STOP, "proc.stop", INCONSISTENT, PROBLEM, "a proc that stops was started and runs no goroutine", "Go postProcessTrace") \
    X(GC_START, "gc.start", INCONSISTENT, PROBLEM, "a GC cycle ends before the next starts", "Go postProcessTrace") \
    X(GC_DONE, "gc.done", INCONSISTENT, PROBLEM, "a GC cycle that ends was started", "Go postProcessTrace") \
    X(STW_START, "stw.start", INCONSISTENT, PROBLEM, "a stop-the-world ends before the next starts", "Go postProcessTrace") \
    X(STW_DONE, "stw.done", INCONSISTENT, PROBLEM, "a stop-the-world that ends was started", "Go postProcessTrace") \
    X(STW_KIND, "stw.kind", INCONSISTENT, PROBLEM, "until 1.20 a stop-the-world is of kind 0 or 1", "Go parseEvents") \
    X(SWEEP_START, "sweep.start", INCONSISTENT, PROBLEM, "a proc's sweep ends before its next starts", "Go postProcessTrace") \
    X(SWEEP_DONE, "sweep.done", INCONSISTENT, PROBLEM, "a proc's sweep that ends was started", "Go postProcessTrace") \
    X(ASSIST_START, "assist.start", INCONSISTENT, PROBLEM, "a goroutine's mark assist ends before its next starts", "Go postProcessTrace") \
    X(GO_CREATE, "goroutine.create", INCONSISTENT, PROBLEM, "a goroutine that is created did not exist", "Go postProcessTrace") \
    X(GO_INITIAL, "goroutine.initial", INCONSISTENT, PROBLEM, "a goroutine found waiting or in a system call was just created", "Go postProcessTrace") \
    X(GO_START, "goroutine.start", INCONSISTENT, PROBLEM, "a goroutine that starts was runnable, and its proc free", "Go postProcessTrace") \
    X(GO_RUNNING, "goroutine.running", INCONSISTENT, PROBLEM, "what a goroutine does, it does while it runs on that proc", "Go checkRunning") \
    X(GO_UNBLOCK, "goroutine.unblock", INCONSISTENT, PROBLEM, "a goroutine that is unblocked was waiting, and who unblocks it was running", "Go postProcessTrace") \
    X(GO_SYSEXIT, "goroutine.sysexit", INCONSISTENT, PROBLEM, "a goroutine that leaves a system call was in one", "Go postProcessTrace, order1007") \
    X(CONTEXT, "context", INCONSISTENT, PROBLEM, "an event happens on a thread that has the proc and the goroutine that it needs", "Go validateCtx") \
    X(STATUS_PROC, "status.proc", INCONSISTENT, PROBLEM, "a proc's status at the start of a generation is the one it was left in", "Go advanceProcStatus") \
    X(STATUS_GOROUTINE, "status.goroutine", INCONSISTENT, PROBLEM, "a goroutine's status at the start of a generation is the one it was left in", "Go advanceGoStatus") \
    X(PROC_STEAL, "proc.steal", INCONSISTENT, PROBLEM, "a proc is taken from the thread that it is bound to", "Go advanceProcSteal") \
    X(RANGE, "range", INCONSISTENT, PROBLEM, "what lasts begins before it ends, and once at a time", "Go rangeState") \
    X(TASK_CREATE, "task.create", INCONSISTENT, PROBLEM, "a task's id is not that of a task going on", "Go postProcessTrace") \
    X(REGION_END, "region.end", INCONSISTENT, PROBLEM, "a region that ends is the innermost one of its goroutine", "Go postProcessTrace") \
    X(REGION_MODE, "region.mode", INCONSISTENT, PROBLEM, "a region's mode is 0 (start) or 1 (end)", "Go postProcessTrace")
/* clang-format on */

#endif
