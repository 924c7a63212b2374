/* test_refused.c - a writer rejects impossible events, or writes them if options.force is set. */
#include <string.h>

#include "reading.h"
#include "writing.h"

/* ---- rejected events ------------------------------------------------------------------------- */

typedef struct refusal {
    int version;
    test_event events[4]; /* the last one is rejected */
    gotrace_rule rule;
    bool unseen; /* our reader does not check this, or reports another rule */
} refusal;

static const refusal refusals[] = {
    {19, {{"GoStart", 0, 1, 0, {1}}, {"GoStart", 1, 1, 0, {1}}}, GOTRACE_RULE_GO_START, false},
    {19, {{"GoStart", 0, 1, 0, {1}}, {"GoStart", 0, 1, 0, {2}}}, GOTRACE_RULE_GO_START, false},
    {19, {{"GoStart", 0, 1, 0, {1}}, {"GoUnblock", 0, 1, 1, {1}}}, GOTRACE_RULE_GO_UNBLOCK, true},
    {19, {{"GoBlock", 0, 1, 0, {0}}}, GOTRACE_RULE_GO_RUNNING, true},
    {19, {{"GoStart", 0, 1, 0, {1}}, {"GoBlock", 0, 1, 2, {0}}}, GOTRACE_RULE_GO_RUNNING, true},
    {19,
     {{"GoStart", 0, 1, 0, {1}}, {"GoEnd", 0, 1, 1, {0}}, {"GoStart", 0, 1, 0, {1}}},
     GOTRACE_RULE_GO_START,
     true},
    {19,
     {{"GoStart", 0, 1, 0, {1}}, {"GoEnd", 0, 1, 1, {0}}, {"GoCreate", 0, 1, 0, {1}}},
     GOTRACE_RULE_GO_CREATE,
     true},
    {19, {{"GoCreate", 0, 1, 0, {1}}, {"GoCreate", 0, 1, 0, {1}}}, GOTRACE_RULE_GO_CREATE, true},
    {19, {{"GoCreate", 0, 1, 0, {0}}}, GOTRACE_RULE_GO_CREATE, false},
    {19, {{"GoStart", 0, 1, 0, {0}}}, GOTRACE_RULE_GO_CREATE, false},
    {19, {{"GoStart", 0, 1, 0, {1}}, {"GoUnblock", 0, 1, 1, {0}}}, GOTRACE_RULE_GO_CREATE, false},
    {19, {{"GoWaiting", 0, 1, 0, {0}}}, GOTRACE_RULE_GO_CREATE, false},
    {19,
     {{"GoStart", 0, 1, 0, {1}}, {"GoSysExit", 0, 1, 1, {0, 0}}},
     GOTRACE_RULE_GO_CREATE,
     false},
    {19, {{"GoStart", 0, 1, 0, {1}}, {"GoWaiting", 0, 1, 0, {1}}}, GOTRACE_RULE_GO_INITIAL, true},
    {19,
     {{"GoStart", 0, 1, 0, {1}}, {"GoSysExit", 0, 1, 0, {1, 0}}},
     GOTRACE_RULE_GO_SYSEXIT,
     true},
    {19,
     {{"GoSysBlock", 0, 1, 1, {0}}, {"GoSysExit", NOWHERE, 1, 0, {1, 1}}},
     GOTRACE_RULE_TIME_SYSCALL,
     true},
    {19,
     {{"ProcStart", 0, 1, 0, {1}}, {"ProcStart", 0, 1, 0, {1}}},
     GOTRACE_RULE_PROC_START,
     false},
    {19, {{"ProcStop", 0, 1, 0, {1}}, {"ProcStop", 0, 1, 0, {1}}}, GOTRACE_RULE_PROC_STOP, false},
    {19, {{"GoStart", 0, 1, 0, {1}}, {"ProcStop", 0, 1, 0, {1}}}, GOTRACE_RULE_PROC_STOP, false},
    {19, {{"GCStart", 0, 1, 0, {1}}, {"GCStart", 0, 1, 0, {1}}}, GOTRACE_RULE_GC_START, false},
    {19, {{"GCDone", 0, 1, 0, {1}}}, GOTRACE_RULE_GC_DONE, false},
    {19, {{"STWStart", 0, 1, 0, {1}}, {"STWStart", 1, 1, 0, {1}}}, GOTRACE_RULE_STW_START, false},
    {19, {{"STWDone", 0, 1, 0, {1}}}, GOTRACE_RULE_STW_DONE, false},
    {19, {{"STWStart", 0, 1, 0, {2}}}, GOTRACE_RULE_STW_KIND, false},
    {19,
     {{"GCSweepStart", 0, 1, 0, {1}}, {"GCSweepStart", 0, 1, 0, {1}}},
     GOTRACE_RULE_SWEEP_START,
     false},
    {19, {{"GCSweepDone", 0, 1, 0, {1, 1}}}, GOTRACE_RULE_SWEEP_DONE, false},
    {19,
     {{"GCMarkAssistStart", 0, 1, 1, {1}}, {"GCMarkAssistStart", 0, 1, 1, {1}}},
     GOTRACE_RULE_ASSIST_START,
     false},
    {19,
     {{"UserTaskCreate", 0, 1, 1, {1, 0, 1}}, {"UserTaskCreate", 0, 1, 1, {1, 0, 1}}},
     GOTRACE_RULE_TASK_CREATE,
     false},
    {19,
     {{"UserRegion", 0, 1, 1, {1, 0, 1}}, {"UserRegion", 0, 1, 1, {1, 1, 2}}},
     GOTRACE_RULE_REGION_END,
     false},
    {19, {{"UserRegion", 0, 1, 1, {1, 2, 1}}}, GOTRACE_RULE_REGION_MODE, false},

    {25, {{"GoBlock", 0, 1, 1, {1}}, {"GoBlock", 0, 1, 0, {1}}}, GOTRACE_RULE_CONTEXT, false},
    {25, {{"HeapAlloc", 0, 1, 1, {1}}, {"HeapAlloc", 1, 1, 1, {1}}}, GOTRACE_RULE_CONTEXT, true},
    {25, {{"HeapAlloc", 0, 1, 1, {1}}, {"HeapAlloc", 0, 1, 2, {1}}}, GOTRACE_RULE_CONTEXT, true},
    {25, {{"HeapAlloc", 0, 1, 1, {1}}, {"HeapAlloc", 0, 2, 0, {1}}}, GOTRACE_RULE_CONTEXT, true},
    {25, {{"HeapAlloc", 0, 1, 1, {1}}, {"HeapAlloc", 1, 2, 1, {1}}}, GOTRACE_RULE_CONTEXT, true},
    {25, {{"HeapAlloc", 0, GOTRACE_NO_THREAD, 1, {1}}}, GOTRACE_RULE_CONTEXT, true},
    {25, {{"GoStart", 0, 1, 0, {1}}, {"GoStart", 1, 2, 0, {1}}}, GOTRACE_RULE_GO_START, true},
    {25, {{"GoStart", 0, 1, 0, {1}}, {"GoStart", 0, 1, 0, {2}}}, GOTRACE_RULE_CONTEXT, false},
    {25, {{"GoStart", 0, 1, 0, {1}}, {"GoUnblock", 0, 1, 1, {1}}}, GOTRACE_RULE_GO_UNBLOCK, true},
    {25, {{"GoCreate", 0, 1, 1, {2}}, {"GoSwitch", 0, 1, 1, {2}}}, GOTRACE_RULE_GO_START, true},
    {25, {{"GoCreate", 0, 1, 1, {1}}}, GOTRACE_RULE_GO_CREATE, false},
    {25,
     {{"GoSyscallBegin", 0, 1, 1, {0}}, {"GoBlock", 0, 1, 1, {1}}},
     GOTRACE_RULE_GO_RUNNING,
     false},
    {25,
     {{"GoBlock", 0, 1, 1, {1}}, {"GoSyscallEnd", 0, 1, 2, {0}}},
     GOTRACE_RULE_GO_SYSEXIT,
     true},
    {25,
     {{"GoSyscallBegin", 0, 1, 1, {0}}, {"GoSyscallEndBlocked", 0, 1, 1, {0}}},
     GOTRACE_RULE_PROC_STEAL,
     true},
    {25,
     {{"GoBlock", 0, 1, 1, {1}}, {"ProcSteal", NOWHERE, 2, 0, {0, 1}}},
     GOTRACE_RULE_PROC_STEAL,
     true},
    {25,
     {{"GoSyscallBegin", 0, 1, 1, {1}}, {"ProcSteal", NOWHERE, 2, 0, {0, 3}}},
     GOTRACE_RULE_PROC_STEAL,
     false},
    {25,
     {{"GoBlock", 0, 1, 1, {1}}, {"ProcStart", NOWHERE, 2, 0, {0}}},
     GOTRACE_RULE_PROC_START,
     true},
    {25,
     {{"GoBlock", 0, 1, 1, {1}}, {"ProcStatus", NOWHERE, 2, 0, {1, 9}}},
     GOTRACE_RULE_STATUS_PROC,
     false},
    {25,
     {{"GoBlock", 0, 1, 1, {1}}, {"GoStatus", NOWHERE, 2, 0, {2, NONE, 9}}},
     GOTRACE_RULE_STATUS_GOROUTINE,
     false},
    {25,
     {{"GoBlock", 0, 1, 1, {1}}, {"ProcStatus", NOWHERE, 1, 0, {1, 1}}},
     GOTRACE_RULE_CONTEXT,
     true},
    {25, {{"GCBegin", 0, 1, 1, {0}}, {"GCBegin", 0, 1, 1, {0}}}, GOTRACE_RULE_GC_START, false},
    {25, {{"GCEnd", 0, 1, 1, {0}}, {"GCEnd", 0, 1, 1, {0}}}, GOTRACE_RULE_GC_DONE, true},
    {25, {{"STWBegin", 0, 1, 1, {1}}, {"STWBegin", 0, 1, 1, {1}}}, GOTRACE_RULE_RANGE, false},
    {25, {{"STWEnd", 0, 1, 1, {0}}}, GOTRACE_RULE_RANGE, false},
    {25,
     {{"GCSweepBegin", 0, 1, 1, {0}}, {"GCSweepBegin", 0, 1, 1, {0}}},
     GOTRACE_RULE_RANGE,
     false},
    {25, {{"GCSweepEnd", 0, 1, 1, {0}}, {"GCSweepEnd", 0, 1, 1, {0}}}, GOTRACE_RULE_RANGE, false},
    {25,
     {{"GCMarkAssistBegin", 0, 1, 1, {0}}, {"GCMarkAssistBegin", 0, 1, 1, {0}}},
     GOTRACE_RULE_RANGE,
     false},
    {25, {{"GCSweepActive", 0, 1, 1, {5}}}, GOTRACE_RULE_RANGE, false},
    {25, {{"GCMarkAssistActive", 0, 1, 1, {5}}}, GOTRACE_RULE_RANGE, false},
    {25,
     {{"UserTaskBegin", 0, 1, 1, {1, 0, 1}}, {"UserTaskBegin", 0, 1, 1, {1, 0, 1}}},
     GOTRACE_RULE_TASK_CREATE,
     false},
    {25,
     {{"UserRegionBegin", 0, 1, 1, {1, 1}}, {"UserRegionEnd", 0, 1, 1, {1, 2}}},
     GOTRACE_RULE_REGION_END,
     false},
    {25, {{"EventBatch", 0, 1, 1, {0}}}, GOTRACE_RULE_USAGE, true},
    {19, {{"Frequency", 0, 1, 1, {0}}}, GOTRACE_RULE_USAGE, true},
};

#define REFUSALS (int)(sizeof refusals / sizeof refusals[0])

/* The last event is rejected, and leaves the writer unchanged. */
START_TEST(impossible_is_rejected)
{
    const refusal *r = &refusals[_i];
    blob with = {0}, without = {0};
    gotrace_writer *w = writer_of(r->version, NULL, &with, NULL);
    gotrace_writer *v = writer_of(r->version, NULL, &without, NULL);
    const test_event after = {"GoCreate", 40, 40, gt_is_v2(r->version) ? 40 : 0, {41, 1}};
    for (size_t i = 0; r->events[i].name; i++) {
        bool bad = i == 3 || !r->events[i + 1].name;
        ck_assert_int_eq(gotrace_writer_at(w, 100 + i), GOTRACE_OK);
        ck_assert_int_eq(gotrace_writer_at(v, 100 + i), GOTRACE_OK);
        gotrace_status status = write_event(w, r->version, &r->events[i]);
        if (bad) {
            ck_assert_int_eq(status, GOTRACE_ERROR);
            ck_assert_msg(gotrace_writer_error(w)->rule == r->rule, "%d: %s, not %s: %s", _i,
                          gotrace_rule_describe(gotrace_writer_error(w)->rule)->id,
                          gotrace_rule_describe(r->rule)->id, gotrace_writer_error(w)->message);
            numbered_string(v, r->events[i].p, r->events[i].args[0]);
        } else {
            ck_assert_msg(status == GOTRACE_OK, "%d: %s", _i, gotrace_writer_error(w)->message);
            ck_assert_int_eq(write_event(v, r->version, &r->events[i]), GOTRACE_OK);
        }
    }
    ck_assert_int_eq(write_event(w, r->version, &after), GOTRACE_OK);
    ck_assert_int_eq(write_event(v, r->version, &after), GOTRACE_OK);
    ck_assert_int_eq(gotrace_writer_finish(w), GOTRACE_OK);
    ck_assert_int_eq(gotrace_writer_finish(v), GOTRACE_OK);
    gotrace_writer_free(w);
    gotrace_writer_free(v);
    uint64_t counts[2][GT_CODES];
    count_records(&with, counts[0]);
    count_records(&without, counts[1]);
    for (unsigned code = 0; code < GT_CODES; code++) {
        const gotrace_event_spec *spec = gotrace_event_spec_of(r->version, code);
        if (spec && (spec->flags & GOTRACE_SPEC_TIMED))
            ck_assert_msg(counts[0][code] == counts[1][code], "%d: %s", _i, spec->name);
    }
    reading read = reading_of(with.bytes, with.size, NULL, READING_NEXT);
    ck_assert_msg(read.problem_count == 0, "%d: %s", _i, read.problems[0].message);
    blob_free(&with);
    blob_free(&without);
}
END_TEST

/* With options.force the event is written, and a reader reports it. */
START_TEST(impossible_is_forced)
{
    const refusal *r = &refusals[_i];
    blob written = {0};
    gotrace_writer_options options = {.force = true};
    gotrace_writer *w = writer_of(r->version, &options, &written, NULL);
    for (size_t i = 0; i < 4 && r->events[i].name && r->rule != GOTRACE_RULE_USAGE; i++) {
        ck_assert_int_eq(gotrace_writer_at(w, 100 + i), GOTRACE_OK);
        ck_assert_msg(write_event(w, r->version, &r->events[i]) == GOTRACE_OK, "%d: %s", _i,
                      gotrace_writer_error(w)->message);
    }
    ck_assert_int_eq(gotrace_writer_finish(w), GOTRACE_OK);
    gotrace_writer_free(w);
    reading read = reading_of(written.bytes, written.size, NULL, READING_NEXT);
    ck_assert_msg(r->unseen || reading_has(&read, r->rule), "%d: %s", _i,
                  read.problem_count ? read.problems[0].message : "nothing was found");
    blob_free(&written);
}
END_TEST

START_TEST(time_cannot_decrease)
{
    const int versions[] = {5, 19, 22, 26};
    blob written = {0};
    gotrace_writer *w = writer_of(versions[_i], NULL, &written, NULL);
    ck_assert_int_eq(gotrace_writer_at(w, 100), GOTRACE_OK);
    ck_assert_int_eq(gotrace_writer_at(w, 99), GOTRACE_ERROR);
    ck_assert_int_eq(gotrace_writer_error(w)->rule, GOTRACE_RULE_TIME_ORDER);
    ck_assert_int_eq(gotrace_writer_at(w, 100), GOTRACE_OK);
    const test_event alloc = {"HeapAlloc", 0, 1, 1, {1}};
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(write_event(w, versions[_i], &alloc), GOTRACE_OK);
    ck_assert_int_eq(gotrace_writer_finish(w), GOTRACE_OK);
    ck_assert_int_eq(gotrace_writer_finish(w), GOTRACE_ERROR);
    ck_assert_int_eq(gotrace_writer_event(w, &(gotrace_event_data){0}), GOTRACE_ERROR);
    gotrace_writer_free(w);
    check_sound(&written);
    blob_free(&written);
}
END_TEST

static void refuses_id(gotrace_writer *w, const gotrace_event_data *h, const char *said)
{
    ck_assert_int_eq(gotrace_writer_event(w, h), GOTRACE_ERROR);
    ck_assert_ptr_nonnull(strstr(gotrace_writer_error(w)->message, said));
}

/* Ids that the writer did not return, or returned in an earlier generation. */
START_TEST(unknown_ids_are_rejected)
{
    const int versions[] = {7, 11, 19, 21, 22, 23, 26};
    int version = versions[_i];
    bool v2 = gt_is_v2(version);
    blob written = {0};
    gotrace_writer *w = writer_of(version, NULL, &written, NULL);
    const gotrace_frame frame = {.function = "main.f", .function_size = 6, .line = 3};
    const test_event alloc = {"HeapAlloc", 0, 1, 1, {1}};
    uint64_t stack, string = 0, create[2] = {40, 0}, region[3] = {0};
    gotrace_event_data h = {.spec = gotrace_event_spec_named(version, "GoCreate"),
                            .proc = 0,
                            .thread = 1,
                            .goroutine = 1,
                            .args = create,
                            .arg_count = 2};
    ck_assert_int_eq(write_event(w, version, &alloc), GOTRACE_OK);
    ck_assert_int_eq(gotrace_writer_stack(w, &frame, 1, &stack), GOTRACE_OK);
    h.stack = stack + 1;
    refuses_id(w, &h, "GoCreate: stack id 2 was not given");
    h.stack = stack;
    create[1] = stack + 76;
    refuses_id(w, &h, "GoCreate: stack id 77 was not given");
    create[1] = stack;
    ck_assert_int_eq(gotrace_writer_event(w, &h), GOTRACE_OK);
    if (version >= 11) {
        h.spec = gotrace_event_spec_named(version, v2 ? "UserRegionBegin" : "UserRegion");
        h.args = region;
        h.arg_count = v2 ? 2 : 3;
        ck_assert_int_eq(gotrace_writer_string(w, 0, "here", 4, &string), GOTRACE_OK);
        region[v2 ? 1 : 2] = string + 5;
        refuses_id(w, &h, "string id");
        region[v2 ? 1 : 2] = string;
        ck_assert_int_eq(gotrace_writer_event(w, &h), GOTRACE_OK);
    }
    if (v2) {
        ck_assert_int_eq(gotrace_writer_at(w, 5000000000), GOTRACE_OK);
        ck_assert_uint_eq(gotrace_writer_generation(w), 2);
        h.stack = 0;
        refuses_id(w, &h, "was not given in generation 2; get the id from gotrace_writer_string");
        region[1] = 0;
        h.stack = stack;
        refuses_id(w, &h, "gotrace_writer_stack again in each generation");
        ck_assert_int_eq(gotrace_writer_stack(w, &frame, 1, &h.stack), GOTRACE_OK);
        ck_assert_int_eq(gotrace_writer_event(w, &h), GOTRACE_OK);
        /* also if this generation has as many ids */
        uint64_t another = h.stack;
        h.stack = stack;
        refuses_id(w, &h, "gotrace_writer_stack again in each generation");
        ck_assert_int_eq(gotrace_writer_string(w, 0, "there", 5, &another), GOTRACE_OK);
        region[1] = string;
        h.stack = 0;
        refuses_id(w, &h, "gotrace_writer_string again in each generation");
        region[1] = another;
        ck_assert_int_eq(gotrace_writer_event(w, &h), GOTRACE_OK);
    }
    ck_assert_int_eq(gotrace_writer_finish(w), GOTRACE_OK);
    gotrace_writer_free(w);
    check_sound(&written);
    blob_free(&written);
}
END_TEST

START_TEST(later_generation_has_all_statuses)
{
    blob written = {0};
    gotrace_writer *w = writer_of(26, NULL, &written, NULL);
    const test_event alloc = {"HeapAlloc", 0, 1, 1, {1}}, unknown = {"GoUnblock", 0, 1, 1, {2}};
    const test_event stop = {"GoStop", 0, 1, 1, {1}};
    ck_assert_int_eq(write_event(w, 26, &alloc), GOTRACE_OK);
    ck_assert_int_eq(gotrace_writer_advance(w, NULL), GOTRACE_OK);
    ck_assert_uint_eq(gotrace_writer_generation(w), 2);
    ck_assert_int_eq(write_event(w, 26, &unknown), GOTRACE_ERROR);
    ck_assert_int_eq(gotrace_writer_error(w)->rule, GOTRACE_RULE_STATUS_GOROUTINE);
    ck_assert_int_eq(write_event(w, 26, &alloc), GOTRACE_OK);
    ck_assert_int_eq(write_event(w, 26, &stop), GOTRACE_OK);
    ck_assert_int_eq(gotrace_writer_finish(w), GOTRACE_OK);
    gotrace_writer_free(w);
    check_sound(&written);
    blob_free(&written);
}
END_TEST

/* ---- random events --------------------------------------------------------------------------- */

/* Readers ignore futile wake-ups and what follows from them. */
static bool is_futile(int version, unsigned code)
{
    return !gt_is_v2(version) && code == GOTRACE_V1_FutileWakeup;
}

/* An event of a random type with small numbers. */
static test_event random_event(int version, uint64_t *seed)
{
    const gotrace_event_spec *spec;
    const gotrace_arg_spec *kinds[GOTRACE_MAX_ARGS];
    size_t count;
    do {
        spec = gotrace_event_spec_of(version, random_next(seed) % GT_CODES);
        count = spec ? gotrace_writer_args(spec, version, kinds) : 0;
    } while (!spec || is_futile(version, spec->code) ||
             (count == 0 && !(spec->flags & GOTRACE_SPEC_TIMED)));
    test_event s = {.name = spec->name,
                    .p = (int64_t)(random_next(seed) % 3),
                    .m = (int64_t)(10 + random_next(seed) % 3),
                    .g = random_next(seed) % 6};
    if (random_next(seed) % 3 > 0)
        s.g = 0; /* often leave the goroutine to the writer */
    if (random_next(seed) % 3 > 0 && gt_is_v2(version))
        s.p = NOWHERE;
    if (random_next(seed) % 16 == 0)
        s.p = NOWHERE;
    for (size_t i = 0; i < count; i++)
        switch (kinds[i]->kind) {
        case GOTRACE_ARG_PROC: s.args[i] = random_next(seed) % 3; break;
        case GOTRACE_ARG_THREAD: s.args[i] = 10 + random_next(seed) % 3; break;
        case GOTRACE_ARG_TICKS: s.args[i] = 0; break;
        default: s.args[i] = 1 + random_next(seed) % 5; break;
        }
    return s;
}

/* Write random events: those that are not rejected make a sound trace. */
static void write_random(int version, bool force, uint64_t seed, blob *written)
{
    gotrace_writer_options options = {
        .force = force, .generation_ticks = 3000, .equal_ticks = seed & 1};
    gotrace_writer *w = writer_of(version, &options, written, NULL);
    uint64_t ticks = 1000, given = 0;
    for (int i = 0; i < 3000; i++) {
        test_event s = random_event(version, &seed);
        ticks += random_next(&seed) % 4;
        if (strcmp(s.name, "CPUSample") == 0)
            s.args[0] = ticks;
        ck_assert_int_eq(gotrace_writer_at(w, ticks), GOTRACE_OK);
        gotrace_status status = write_event(w, version, &s);
        given += status == GOTRACE_OK;
        ck_assert_int_ne(gotrace_writer_error(w)->class_, GOTRACE_CLASS_SYSTEM);
        ck_assert_msg(status == GOTRACE_OK || !force ||
                          gotrace_writer_error(w)->rule == GOTRACE_RULE_CONTEXT,
                      "%s: %s", s.name, gotrace_writer_error(w)->message);
    }
    ck_assert_uint_gt(given, 100);
    ck_assert_int_eq(gotrace_writer_finish(w), GOTRACE_OK);
    gotrace_writer_free(w);
}

START_TEST(random_events_are_sound_or_rejected)
{
    size_t count;
    int version = gotrace_versions(&count)[_i];
    for (uint64_t seed = 1; seed <= 5; seed++) {
        blob written = {0};
        write_random(version, false, seed, &written);
        reading r = reading_of(written.bytes, written.size, NULL, READING_NEXT);
        ck_assert_int_eq(r.status, GOTRACE_END);
        for (size_t i = 0; i < r.problem_count && i < READING_PROBLEMS; i++)
            ck_assert_msg(r.problems[i].rule == GOTRACE_RULE_BEGIN_MISSING, "1.%d, %d: %s", version,
                          (int)seed, r.problems[i].message);
        blob_free(&written);
        write_random(version, true, seed, &written);
        r = reading_of(written.bytes, written.size, NULL, READING_NEXT);
        ck_assert_int_eq(r.status, GOTRACE_END);
        blob_free(&written);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("refused");
    TCase *cases = tcase_create("refused");
    tcase_add_loop_test(cases, impossible_is_rejected, 0, REFUSALS);
    tcase_add_loop_test(cases, impossible_is_forced, 0, REFUSALS);
    tcase_add_loop_test(cases, time_cannot_decrease, 0, 4);
    tcase_add_loop_test(cases, unknown_ids_are_rejected, 0, 7);
    tcase_add_test(cases, later_generation_has_all_statuses);
    tcase_add_loop_test(cases, random_events_are_sound_or_rejected, 0, 12);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
