/* writing.c - see writing.h. */
#include "writing.h"

#include <string.h>

#include "reading.h"

uint64_t numbered_string(gotrace_writer *w, int64_t proc, uint64_t number)
{
    char text[32];
    uint64_t id = 0;
    int size = snprintf(text, sizeof text, "string %llu", (unsigned long long)number);
    return number == 0 || gotrace_writer_string(w, proc, text, (size_t)size, &id) != GOTRACE_OK
               ? 0
               : id;
}

static uint64_t stack_id(gotrace_writer *w, uint64_t number)
{
    gotrace_frame frames[2] = {{.pc = number, .line = 7, .function = "main.f", .function_size = 6},
                               {.pc = 9, .line = 1, .file = "main.go", .file_size = 7}};
    uint64_t id = 0;
    return number == 0 || gotrace_writer_stack(w, frames, 2, &id) != GOTRACE_OK ? 0 : id;
}

/* The event's row; its predecessor in versions without the event. */
static const gotrace_event_spec *spec_named(int version, const char *name)
{
    if (version < 8 && strcmp(name, "GoStartLabel") == 0)
        name = "GoStart";
    if (version < 8 && strcmp(name, "GoBlockGC") == 0)
        name = "GoBlock";
    return gotrace_event_spec_named(version, name);
}

gotrace_status write_event(gotrace_writer *w, int version, const test_event *s)
{
    const gotrace_event_spec *spec = spec_named(version, s->name);
    const gotrace_arg_spec *kinds[GOTRACE_MAX_ARGS];
    if (!spec)
        return GOTRACE_OK;
    uint64_t args[GOTRACE_MAX_ARGS];
    bool v2 = gt_is_v2(version), data = spec->flags & GOTRACE_SPEC_DATA;
    bool stack = (spec->flags & GOTRACE_SPEC_STACK) || (v2 && spec->code == GOTRACE_V2_CPUSample);
    gotrace_event_data h = {.spec = spec,
                            .proc = s->p,
                            .thread = s->m,
                            .goroutine = s->g,
                            .args = args,
                            .arg_count = gotrace_writer_args(spec, version, kinds),
                            .stack = stack ? stack_id(w, 3) : 0,
                            .data = data ? "a message" : NULL,
                            .data_size = data ? 9 : 0};
    for (size_t i = 0; i < h.arg_count; i++) {
        args[i] = s->args[i];
        if (kinds[i]->kind == GOTRACE_ARG_STRING)
            args[i] = numbered_string(w, s->p, args[i]);
        else if (kinds[i]->kind == GOTRACE_ARG_STACK || kinds[i]->kind == GOTRACE_ARG_START)
            args[i] = stack_id(w, args[i]);
    }
    return gotrace_writer_event(w, &h);
}

gotrace_writer *writer_of(int version, const gotrace_writer_options *options, blob *written,
                          const gotrace_config *config)
{
    gotrace_writer *w = NULL;
    gotrace_error error = {0};
    ck_assert_msg(gotrace_writer_new(version, options, blob_write, written, config, &w, &error) ==
                      GOTRACE_OK,
                  "%s", error.message);
    return w;
}

gotrace_status write_events(gotrace_writer *w, int version, const test_event *events)
{
    uint64_t ticks = 1000;
    for (const test_event *s = events; s->name; s++, ticks += 10)
        if (gotrace_writer_at(w, ticks) != GOTRACE_OK || write_event(w, version, s) != GOTRACE_OK)
            return GOTRACE_ERROR;
    return GOTRACE_OK;
}

void check_sound(const blob *written)
{
    reading r = reading_of(written->bytes, written->size, NULL, READING_NEXT);
    ck_assert_int_eq(r.status, GOTRACE_END);
    ck_assert_msg(r.problem_count == 0, "%s: %s", gotrace_rule_describe(r.problems[0].rule)->id,
                  r.problems[0].message);
}

void count_records(const blob *written, uint64_t counts[GT_CODES])
{
    gotrace_decoder *d;
    const gotrace_record *r;
    memset(counts, 0, GT_CODES * sizeof *counts);
    ck_assert_int_eq(gotrace_decoder_new(NULL, &d, NULL), GOTRACE_OK);
    gotrace_decoder_feed(d, written->bytes, written->size);
    gotrace_decoder_finish(d);
    while (gotrace_decoder_next(d, &r) == GOTRACE_EVENT)
        counts[r->spec->code]++;
    gotrace_decoder_free(d);
}

/* ---- lists of events ------------------------------------------------------------------------- */

/* Goroutine 5 on proc 1 unblocks goroutine 4, which runs on proc 0 and blocks with the given event.
 */
#define BLOCKS(how)                                                                                \
    {"GoStart", 0, 7, 0, {4}}, {how, 0, 7, 4, {0}},                                                \
    {                                                                                              \
        "GoUnblock", 1, 8, 5,                                                                      \
        {                                                                                          \
            4                                                                                      \
        }                                                                                          \
    }

static const test_event v1_events[] = {
    {"TimerGoroutine", NOWHERE, 0, 0, {9}},
    {"GoCreate", 0, 7, 0, {1, 1}},
    {"GoCreate", 0, 7, 0, {2, 1}},
    {"GoWaiting", 0, 7, 0, {2}},
    {"GoCreate", 0, 7, 0, {3, 2}},
    {"GoInSyscall", 0, 7, 0, {3}},
    {"ProcStart", 0, 7, 0, {7}},
    {"Gomaxprocs", 0, 7, 0, {4}},
    {"GoStart", 0, 7, 0, {1}},
    {"HeapAlloc", 0, 7, 1, {1 << 20}},
    {"HeapGoal", 0, 7, 1, {1 << 22}},
    {"GoCreate", 0, 7, 1, {4, 1}},
    {"GoUnblock", 0, 7, 1, {2}},
    {"GoSysExit", NOWHERE, 0, 0, {3, 0}},
    {"UserTaskCreate", 0, 7, 1, {1, 0, 1}},
    {"UserRegion", 0, 7, 1, {1, 0, 2}},
    {"UserLog", 0, 7, 1, {1, 3}},
    {"UserRegion", 0, 7, 1, {1, 1, 2}},
    {"UserTaskEnd", 0, 7, 1, {1}},
    {"STWStart", 0, 7, 0, {1}},
    {"GCStart", 0, 7, 0, {0}},
    {"STWDone", 0, 7, 0, {0}},
    {"GCMarkAssistStart", 0, 7, 1, {0}},
    {"GCMarkAssistDone", 0, 7, 1, {0}},
    {"GCDone", 0, 7, 0, {0}},
    {"GCSweepStart", 0, 7, 1, {0}},
    {"GCSweepDone", 0, 7, 1, {5, 6}},
    {"GCStart", 0, 7, 0, {0}},
    {"GCDone", 0, 7, 0, {0}},
    {"CPUSample", NOWHERE, 0, 0, {1100, 0, 1}},
    {"GoSysCall", 0, 7, 1, {0}},
    {"GoSysBlock", 0, 7, 1, {0}},
    {"GoStartLabel", 1, 8, 0, {2, 4}},
    {"GoPreempt", 1, 8, 0, {0}},
    {"GoStart", 0, 7, 0, {4}},
    {"GoSched", 0, 7, 4, {0}},
    {"HeapAlloc", 1, 8, 5, {1 << 20}},
    BLOCKS("GoSleep"),
    BLOCKS("GoBlock"),
    BLOCKS("GoBlockSend"),
    BLOCKS("GoBlockRecv"),
    BLOCKS("GoBlockSelect"),
    BLOCKS("GoBlockSync"),
    BLOCKS("GoBlockCond"),
    BLOCKS("GoBlockNet"),
    {"GoStart", 0, 7, 0, {4}},
    {"FutileWakeup", 0, 7, 4, {0}},
    {"GoBlock", 0, 7, 4, {0}},
    {"GoSysExit", 0, 7, 0, {1, 0}},
    {"GoStart", 0, 7, 0, {1}},
    {"GoBlockGC", 0, 7, 1, {0}},
    {"GoStart", 0, 7, 0, {2}},
    {"GoEnd", 0, 7, 2, {0}},
    {"GoStart", 0, 7, 0, {3}},
    {"GoStop", 0, 7, 3, {0}},
    {"ProcStop", 0, 7, 0, {0}},
    {"ProcStart", 0, 9, 0, {9}},
    {0},
};

static const test_event v2_events[] = {
    {"ProcStatus", NOWHERE, 10, 0, {0, 1}},
    {"GoStatus", NOWHERE, 10, 0, {1, 10, 2}},
    {"ProcsChange", 0, 10, 1, {4}},
    {"GCActive", 0, 10, 1, {0}},
    {"GCEnd", 0, 10, 1, {0}},
    {"GCSweepActive", 0, 10, 1, {0}},
    {"GCSweepEnd", 0, 10, 1, {1, 2}},
    {"GCMarkAssistActive", 0, 10, 1, {1}},
    {"GCMarkAssistEnd", 0, 10, 1, {0}},
    {"GoStatusStack", 0, 10, 1, {41, NONE, 4}},
    {"STWBegin", 0, 10, 1, {1}},
    {"STWEnd", 0, 10, 1, {0}},
    {"GCBegin", 0, 10, 1, {0}},
    {"HeapAlloc", 0, 10, 1, {1 << 20}},
    {"HeapGoal", 0, 10, 1, {1 << 22}},
    {"GCMarkAssistBegin", 0, 10, 1, {0}},
    {"GCMarkAssistEnd", 0, 10, 1, {0}},
    {"GCSweepBegin", 0, 10, 1, {0}},
    {"GCSweepEnd", 0, 10, 1, {1, 2}},
    {"GoCreate", 0, 10, 1, {2, 1}},
    {"GoCreateBlocked", 0, 10, 1, {3, 1}},
    {"GoUnblock", 0, 10, 1, {41}},
    {"GoLabel", 0, 10, 1, {2}},
    {"UserTaskBegin", 0, 10, 1, {1, 0, 3}},
    {"UserRegionBegin", 0, 10, 1, {1, 4}},
    {"UserLog", 0, 10, 1, {1, 5, 6}},
    {"UserRegionEnd", 0, 10, 1, {1, 4}},
    {"UserTaskEnd", 0, 10, 1, {1}},
    {"CPUSample", NOWHERE, 0, 0, {1100, 10, 0, 1}},
    {"ExperimentalBatch", NOWHERE, 10, 0, {1}},
    {"Span", 0, 10, 1, {1, 2, 3}},
    {"SpanAlloc", 0, 10, 1, {1, 2, 3}},
    {"SpanFree", 0, 10, 1, {1}},
    {"HeapObject", 0, 10, 1, {1, 2}},
    {"HeapObjectAlloc", 0, 10, 1, {1, 2}},
    {"HeapObjectFree", 0, 10, 1, {1}},
    {"GoroutineStack", 0, 10, 1, {1, 2}},
    {"GoroutineStackAlloc", 0, 10, 1, {1, 2}},
    {"GoroutineStackFree", 0, 10, 1, {1}},
    {"GoSyscallBegin", 0, 10, 1, {0}},
    {"GoSyscallEnd", 0, 10, 1, {0}},
    {"GoSyscallBegin", 0, 10, 1, {0}},
    {"ProcSteal", NOWHERE, 11, 0, {0, 10}},
    {"ProcStart", NOWHERE, 11, 0, {0}},
    {"GoStart", 0, 11, 0, {2}},
    {"GoSyscallEndBlocked", NOWHERE, 10, 1, {0}},
    {"GoStop", 0, 11, 2, {7}},
    {"GoStart", 0, 11, 0, {1}},
    {"GoSwitch", 0, 11, 1, {3}},
    {"GoSwitchDestroy", 0, 11, 3, {1}},
    {"GoCreate", 0, 11, 0, {5, 0}},
    {"GoDestroy", 0, 11, 0, {0}},
    {"GoStart", 0, 11, 0, {5}},
    {"GoBlock", 0, 11, 5, {8}},
    {"ProcStop", 0, 11, 0, {0}},
    {"ProcStart", NOWHERE, 11, 0, {1}},
    {"GoCreateSyscall", NOWHERE, 12, 0, {6}},
    {"GoDestroySyscall", NOWHERE, 12, 6, {0}},
    {0},
};

const test_event *all_events(int version)
{
    return gt_is_v2(version) ? v2_events : v1_events;
}
