/*
 * test_semantics.c - the semantics in the rows of the event tables are consistent, and reader and
 * writer follow them.
 *
 * A failure names the event and the component. The states that a row requires are reached by the
 * events whose rows lead to them, so that a new row is tested without a change here.
 */
#include <string.h>

#include "core/events.h"
#include "reading.h"
#include "writing.h"

static const int v1_versions[] = {5, 7, 8, 9, 10, 11, 19, 21};

enum { V1_VERSIONS = sizeof v1_versions / sizeof *v1_versions, V1_NEWEST = 21, V2_NEWEST = 26 };

/* The next row of that version with at least that code, or NULL. */
static const gotrace_event_spec *row_from(int version, unsigned code)
{
    const gotrace_event_spec *row = NULL;
    for (; code < 64 && !row; code++)
        row = gotrace_event_spec_of(version, code);
    return row;
}

#define EACH_ROW(row, version)                                                                     \
    const gotrace_event_spec *row = row_from(version, 0);                                          \
    row;                                                                                           \
    row = row_from(version, row->code + 1u)

static bool is_timed(const gotrace_event_spec *row)
{
    return row->flags & GOTRACE_SPEC_TIMED;
}

static bool is_goroutine_change(const gotrace_event_spec *row)
{
    return row->semantics->kind == GOTRACE_KIND_TRANSITION &&
           row->semantics->resource == GOTRACE_RESOURCE_GOROUTINE;
}

/* The change of the named goroutine, or else of the running one. */
static gotrace_change change_of(const gotrace_event_spec *row)
{
    return row->semantics->other.to ? row->semantics->other : row->semantics->self;
}

/* ---- the table ------------------------------------------------------------------------------- */

START_TEST(ranges_are_counted)
{
    ck_assert_str_eq(gotrace_range_name((gotrace_range)GOTRACE_RANGES), "unknown");
    for (int range = 0; range < GOTRACE_RANGES; range++)
        ck_assert_str_ne(gotrace_range_name((gotrace_range)range), "unknown");
}
END_TEST

/* Each row of the table of ranges is complete, and the newest version has events for it. */
START_TEST(ranges_have_events)
{
    for (int range = GOTRACE_RANGE_NONE + 1; range < GOTRACE_RANGES; range++) {
        const gotrace_range_spec *spec = gotrace_range_spec_of((gotrace_range)range);
        unsigned kinds = 0;
        for (unsigned code = 0; code < GT_CODES; code++) {
            const gotrace_event_spec *row = gotrace_event_spec_of(V2_NEWEST, code);
            if (row && row->semantics->range == range)
                kinds |= 1u << row->semantics->kind;
        }
        ck_assert_msg((kinds >> GOTRACE_KIND_RANGE_BEGIN & 1) &&
                          (kinds >> GOTRACE_KIND_RANGE_END & 1),
                      "%s: no event begins or ends it", spec->name);
        ck_assert_msg(spec->rules[0] && spec->rules[1], "%s: no rules", spec->name);
        ck_assert_msg(spec->owner == GOTRACE_RESOURCE_NONE || spec->owner == spec->subject,
                      "%s: its subject is not whose it is", spec->name);
    }
}
END_TEST

START_TEST(v1_every_row_is_followed)
{
    int version = v1_versions[_i];
    gt_v1_shape shapes[64];
    gt_v1_shapes_init(shapes, version);
    for (EACH_ROW(row, version)) {
        const gotrace_semantics *does = shapes[row->code].does;
        gotrace_kind kind = does->kind;
        bool begins = kind == GOTRACE_KIND_RANGE_BEGIN, ends = kind == GOTRACE_KIND_RANGE_END;
        ck_assert_msg(shapes[row->code].action != GT_ACTION_UNKNOWN,
                      "%s: reader and writer have no action for what its row states", row->name);
        ck_assert_msg(is_timed(row) || kind == GOTRACE_KIND_NONE,
                      "%s: no event, but its row states more than RECORD", row->name);
        ck_assert_msg(!is_timed(row) || kind != GOTRACE_KIND_NONE || does->futile,
                      "%s: an event whose row states nothing", row->name);
        ck_assert_msg((begins || ends) == (does->range != GOTRACE_RANGE_NONE),
                      "%s: which range begins or ends is not stated", row->name);
        ck_assert_msg(!(begins || ends) ||
                          gotrace_range_spec_of(does->range)->rules[begins] != GOTRACE_RULE_NONE,
                      "%s: no rule for ranges of that sort", row->name);
        ck_assert_msg((kind == GOTRACE_KIND_METRIC) == (does->metric != 0),
                      "%s: a metric without a name", row->name);
        ck_assert_msg(!does->needs && !does->numbered && !does->after_steal && !does->status,
                      "%s: its row states what is of v2", row->name);
    }
}
END_TEST

/* Whether some event leads to that state of a goroutine or proc, or (required) requires it. */
static bool is_named(int version, uint8_t state, bool proc, bool required)
{
    for (EACH_ROW(row, version)) {
        const gotrace_semantics *does = row->semantics;
        const gotrace_change changes[] = {does->self, does->other, does->proc};
        for (int i = proc ? 2 : 0; i < (proc ? 3 : 2); i++)
            if (changes[i].from != changes[i].to &&
                (required ? changes[i].from : changes[i].to) == state)
                return true;
    }
    return false;
}

START_TEST(v1_states_connect)
{
    int version = v1_versions[_i];
    ck_assert_msg(is_named(version, GOTRACE_STATE_NOT_EXIST, false, false), "no event ends one");
    for (EACH_ROW(row, version)) {
        const gotrace_semantics *does = row->semantics;
        const gotrace_change changes[] = {does->self, does->other, does->proc};
        for (int i = 0; i < 3; i++) {
            gotrace_change change = changes[i];
            if (!change.to)
                continue;
            ck_assert_msg(change.from == GOTRACE_STATE_NOT_EXIST ||
                              is_named(version, change.from, i == 2, false),
                          "%s: no event leaves the state %s, which it requires", row->name,
                          gotrace_state_name(change.from));
            ck_assert_msg(change.to == GOTRACE_STATE_NOT_EXIST || does->forever ||
                              is_named(version, change.to, i == 2, true),
                          "%s: no event follows the state %s, which it leaves", row->name,
                          gotrace_state_name(change.to));
        }
    }
}
END_TEST

/* Position of the event's argument of that kind, from 1 on, not counting times; 0: none. */
static size_t argument_of(const gotrace_event_spec *row, int version, gotrace_arg_kind kind)
{
    const gotrace_arg_spec *args[GOTRACE_MAX_ARGS];
    size_t count = gotrace_event_args(row, version, args), times = version < 7 ? 2 : 1;
    for (size_t i = times; i < count; i++)
        if (args[i]->kind == kind)
            return i - times + 1;
    return 0;
}

START_TEST(v1_contexts_and_arguments)
{
    int version = v1_versions[_i];
    for (EACH_ROW(row, version)) {
        const gotrace_semantics *does = row->semantics;
        bool subject = does->context == GOTRACE_CONTEXT_SUBJECT;
        bool nobody = does->context == GOTRACE_CONTEXT_NONE;
        bool gc = does->kind == GOTRACE_KIND_RANGE_BEGIN && does->range == GOTRACE_RANGE_GC;
        if (does->full || !is_timed(row))
            continue;
        ck_assert_msg(!(subject || nobody) || !does->self.to,
                      "%s: of no running goroutine, but it changes that", row->name);
        ck_assert_msg(!nobody || !does->other.to, "%s: of nobody, but it changes a goroutine",
                      row->name);
        ck_assert_msg(!subject || does->other.to, "%s: of a goroutine that it does not change",
                      row->name);
        ck_assert_msg(!does->other.to || argument_of(row, version, GOTRACE_ARG_GOROUTINE) == 1,
                      "%s: its first argument does not name the goroutine", row->name);
        ck_assert_msg(!does->initial || (subject && does->other.from == GOTRACE_STATE_RUNNABLE),
                      "%s: what was found when tracing started has just been created", row->name);
        ck_assert_msg(is_goroutine_change(row) == (change_of(row).from != change_of(row).to),
                      "%s: a change of a goroutine's state, and its row does not say so",
                      row->name);
        size_t number = argument_of(row, version, GOTRACE_ARG_SEQ);
        ck_assert_msg(number == 0 || (does->other.to && number == 2) || (gc && number == 1),
                      "%s: the order looks for the sequence number elsewhere", row->name);
        bool numbered = does->other.to && !does->initial &&
                        does->other.from != GOTRACE_STATE_NOT_EXIST;
        ck_assert_msg(version < 7 || !numbered || number != 0,
                      "%s: without a sequence number nothing orders it", row->name);
    }
}
END_TEST

static bool same_arg(const gotrace_arg_spec *a, const gotrace_arg_spec *b)
{
    return a->kind == b->kind && strcmp(a->name, b->name) == 0;
}

START_TEST(v1_local_forms)
{
    int version = v1_versions[_i], found = 0;
    for (EACH_ROW(row, version)) {
        const gotrace_arg_spec *local[GOTRACE_MAX_ARGS], *full[GOTRACE_MAX_ARGS];
        const gotrace_semantics only_that = {.full = row->semantics->full};
        if (!row->semantics->full)
            continue;
        found++;
        const gotrace_event_spec *form = gotrace_event_spec_of(version, row->semantics->full);
        ck_assert_msg(form && !form->semantics->full, "%s: a local form of what is none",
                      row->name);
        ck_assert_msg(strncmp(row->name, form->name, strlen(form->name)) == 0,
                      "%s: a local form of %s", row->name, form->name);
        ck_assert_msg(row->semantics->kind == only_that.kind && !row->semantics->self.to &&
                          !row->semantics->other.to && !row->semantics->text,
                      "%s: its row states what that of %s does", row->name, form->name);
        uint8_t flags = form->flags & (uint8_t)~GOTRACE_SPEC_ANYWHERE;
        ck_assert_msg(row->flags == flags, "%s: other flags than %s", row->name, form->name);
        size_t count = gotrace_event_args(row, version, local), next = 0;
        size_t full_count = gotrace_event_args(form, version, full);
        ck_assert_msg(full_count == count + 1, "%s: one argument less than %s", row->name,
                      form->name);
        for (size_t i = 0; i < full_count; i++)
            if (full[i]->kind != GOTRACE_ARG_SEQ)
                ck_assert_msg(next < count && same_arg(full[i], local[next++]),
                              "%s: %s of %s is missing", row->name, full[i]->name, form->name);
    }
    ck_assert_int_eq(found, version < 7 ? 0 : 3);
}
END_TEST

/* A futile wake-up begins when a goroutine is unblocked, and ends when it waits. */
START_TEST(v1_futile_wakeups)
{
    unsigned parts = 0;
    for (EACH_ROW(row, V1_NEWEST)) {
        const gotrace_semantics *does = row->semantics;
        parts |= 1u << does->futile;
        ck_assert_msg(does->futile != GOTRACE_FUTILE_FIRST ||
                          does->other.from == GOTRACE_STATE_WAITING,
                      "%s: no wake-up begins there", row->name);
        ck_assert_msg(does->futile != GOTRACE_FUTILE_LAST || does->self.to == GOTRACE_STATE_WAITING,
                      "%s: no wake-up ends there", row->name);
    }
    ck_assert_uint_eq(parts, (2u << GOTRACE_FUTILE_LAST) - 1);
}
END_TEST

/* ---- writer and reader ----------------------------------------------------------------------- */

enum { ACTOR = 1, SUBJECT = 2 };

/* Write an event about SUBJECT, which runs on proc 1 if it runs. ACTOR, on proc 0, acts on it. */
static gotrace_status emit(gotrace_writer *w, int version, const gotrace_event_spec *row)
{
    const gotrace_semantics *does = row->semantics;
    test_event s = {.name = row->name, .p = 1, .m = 8, .g = SUBJECT, .args = {SUBJECT}};
    if (does->context == GOTRACE_CONTEXT_SUBJECT) {
        s.g = 0;
    } else if (does->other.to) {
        s.p = 0;
        s.g = ACTOR;
    }
    return write_event(w, version, &s);
}

/* Bring SUBJECT into that state by the first events that lead to it. */
static void bring(gotrace_writer *w, int version, uint8_t state)
{
    if (state == GOTRACE_STATE_NOT_EXIST)
        return;
    for (EACH_ROW(row, version)) {
        gotrace_change change = change_of(row);
        if (!is_goroutine_change(row) || row->semantics->initial || row->semantics->forever ||
            change.to != state)
            continue;
        bring(w, version, change.from);
        ck_assert_msg(emit(w, version, row) == GOTRACE_OK, "%s (1.%d): the writer refuses it: %s",
                      row->name, version, gotrace_writer_error(w)->message);
        return;
    }
    ck_abort_msg("1.%d: no event leaves the state %s", version, gotrace_state_name(state));
}

static gotrace_writer *writer_in(int version, bool force, uint8_t state, blob *written)
{
    static const test_event before[] = {
        {"ProcStart", 0, 7, 0, {7}},   {"ProcStart", 1, 8, 0, {8}},
        {"Gomaxprocs", 0, 7, 0, {2}},  {"GoCreate", 0, 7, 0, {ACTOR, 0}},
        {"GoStart", 0, 7, 0, {ACTOR}}, {0}};
    const gotrace_writer_options options = {.force = force};
    gotrace_writer *w = writer_of(version, &options, written, NULL);
    ck_assert_int_eq(write_events(w, version, before), GOTRACE_OK);
    bring(w, version, state);
    return w;
}

static void finish(gotrace_writer *w)
{
    ck_assert_msg(gotrace_writer_finish(w) == GOTRACE_OK, "%s", gotrace_writer_error(w)->message);
    gotrace_writer_free(w);
}

/* Check that a reader reports the last event of that type as its row says. */
static void check_read(const blob *written, int version, const gotrace_event_spec *row)
{
    gotrace_source *source;
    gotrace_reader *reader;
    const gotrace_event *e;
    gotrace_event last = {0};
    ck_assert_int_eq(gotrace_source_memory(written->bytes, written->size, NULL, &source, NULL),
                     GOTRACE_OK);
    ck_assert_int_eq(gotrace_reader_open(source, NULL, &reader, NULL), GOTRACE_OK);
    while (gotrace_reader_next(reader, &e) == GOTRACE_EVENT)
        if (e->type == row->code)
            last = *e;
    gotrace_change change = change_of(row);
    ck_assert_msg(gotrace_reader_summary(reader)->problems == 0,
                  "%s (1.%d): the reader finds a problem with it", row->name, version);
    ck_assert_msg(last.kind == row->semantics->kind && last.resource == row->semantics->resource,
                  "%s (1.%d): the reader says it is %s", row->name, version,
                  gotrace_kind_name(last.kind));
    ck_assert_msg(last.subject == SUBJECT && last.from == change.from && last.to == change.to,
                  "%s (1.%d): to the reader goroutine %llu goes from %s to %s", row->name, version,
                  (unsigned long long)last.subject, gotrace_state_name(last.from),
                  gotrace_state_name(last.to));
    ck_assert_msg(!row->semantics->initial == !(last.flags & GOTRACE_EVENT_INITIAL),
                  "%s (1.%d): the reader does not see that it is initial", row->name, version);
    gotrace_reader_close(reader);
    gotrace_source_close(source);
}

/* An event in a state other than the required one is rejected; if options.force is set, it is
 * written, and the reader reports it. The reader treats a system call that blocks as waiting. */
static void check_refused(int version, const gotrace_event_spec *row, uint8_t state)
{
    blob written = {0};
    gotrace_writer *w = writer_in(version, false, state, &written);
    ck_assert_msg(emit(w, version, row) != GOTRACE_OK,
                  "%s (1.%d): the writer accepts it of a goroutine that is %s", row->name, version,
                  gotrace_state_name(state));
    finish(w);
    check_sound(&written);
    written.size = 0;
    w = writer_in(version, true, state, &written);
    ck_assert_int_eq(emit(w, version, row), GOTRACE_OK);
    finish(w);
    uint8_t wanted = change_of(row).from;
    bool waits = (wanted == GOTRACE_STATE_WAITING && state == GOTRACE_STATE_SYSCALL) ||
                 (wanted == GOTRACE_STATE_SYSCALL && state == GOTRACE_STATE_WAITING);
    reading r = reading_of(written.bytes, written.size, NULL, READING_NEXT);
    ck_assert_msg(waits || r.problem_count > 0,
                  "%s (1.%d): the reader accepts it of a goroutine that is %s", row->name, version,
                  gotrace_state_name(state));
    blob_free(&written);
}

START_TEST(v1_goroutine_events)
{
    static const uint8_t states[] = {GOTRACE_STATE_NOT_EXIST, GOTRACE_STATE_RUNNABLE,
                                     GOTRACE_STATE_RUNNING, GOTRACE_STATE_SYSCALL,
                                     GOTRACE_STATE_WAITING};
    int version = v1_versions[_i], tested = 0;
    for (EACH_ROW(row, version)) {
        uint8_t wanted = change_of(row).from;
        if (!is_goroutine_change(row))
            continue;
        tested++;
        blob written = {0};
        gotrace_writer *w = writer_in(version, false, wanted, &written);
        ck_assert_msg(emit(w, version, row) == GOTRACE_OK, "%s (1.%d): the writer refuses it: %s",
                      row->name, version, gotrace_writer_error(w)->message);
        finish(w);
        check_read(&written, version, row);
        blob_free(&written);
        for (size_t i = 0; i < sizeof states;
             i++) /* a goroutine that does not exist is unknown to the writer */
            if (states[i] != wanted && states[i] != GOTRACE_STATE_NOT_EXIST)
                check_refused(version, row, states[i]);
    }
    ck_assert_int_ge(tested, 19);
}
END_TEST

/* Beginning a range that is active, or ending one that is not, violates the rule of that range. */
static void check_range(int version, const gotrace_event_spec *row, const gotrace_event_spec *begin)
{
    bool begins = row == begin;
    gotrace_range range = row->semantics->range;
    gotrace_rule rule = gotrace_range_spec_of(range)->rules[begins];
    const test_event first = {.name = begin->name, .p = 0, .m = 7, .g = ACTOR};
    const test_event s = {.name = row->name, .p = 0, .m = 7, .g = ACTOR};
    for (int force = 0; force < 2; force++) {
        blob written = {0};
        gotrace_writer *w = writer_in(version, force, GOTRACE_STATE_NOT_EXIST, &written);
        if (begins)
            ck_assert_int_eq(write_event(w, version, &first), GOTRACE_OK);
        gotrace_status status = write_event(w, version, &s);
        /* an assist may have begun before the trace */
        bool wrong = begins || range != GOTRACE_RANGE_MARK_ASSIST;
        ck_assert_msg((status == GOTRACE_OK) == (force || !wrong),
                      "%s (1.%d): the writer and ranges of that sort", row->name, version);
        ck_assert_msg(status == GOTRACE_OK || gotrace_writer_error(w)->rule == rule,
                      "%s (1.%d): the writer refuses it by another rule", row->name, version);
        finish(w);
        reading r = reading_of(written.bytes, written.size, NULL, READING_NEXT);
        ck_assert_msg(reading_has(&r, rule) == (force && wrong),
                      "%s (1.%d): the reader and ranges of that sort", row->name, version);
        blob_free(&written);
    }
}

START_TEST(v1_ranges)
{
    int version = v1_versions[_i];
    for (EACH_ROW(row, version)) {
        const gotrace_event_spec *ends[2] = {NULL};
        gotrace_range range = row->semantics->range;
        for (EACH_ROW(other, version))
            if (range != GOTRACE_RANGE_NONE && other->semantics->range == range)
                ends[other->semantics->kind == GOTRACE_KIND_RANGE_END] = other;
        if (range == GOTRACE_RANGE_NONE)
            continue;
        ck_assert_msg(ends[0] && ends[1], "%s (1.%d): nothing begins or ends its range", row->name,
                      version);
        check_range(version, row, ends[0]);
    }
}
END_TEST

/* Every event of a version is read with the kind of its row. Whether a system call blocks, and the
 * mode of a region, are not known from the type. */
START_TEST(v1_kinds)
{
    int version = v1_versions[_i];
    bool seen[64] = {false};
    blob written = {0};
    gotrace_source *source;
    gotrace_reader *reader;
    const gotrace_event *e;
    gotrace_writer *w = writer_of(version, NULL, &written, NULL);
    ck_assert_int_eq(write_events(w, version, all_events(version)), GOTRACE_OK);
    finish(w);
    ck_assert_int_eq(gotrace_source_memory(written.bytes, written.size, NULL, &source, NULL),
                     GOTRACE_OK);
    ck_assert_int_eq(gotrace_reader_open(source, NULL, &reader, NULL), GOTRACE_OK);
    while (gotrace_reader_next(reader, &e) == GOTRACE_EVENT) {
        const gotrace_event_spec *row = gotrace_event_spec_of(version, e->type);
        const gotrace_semantics *does = row->semantics;
        seen[e->type] = true;
        ck_assert_msg(
            e->kind == does->kind || (e->flags & GOTRACE_EVENT_FUTILE) ||
                (does->kind == GOTRACE_KIND_SYSCALL && e->to == GOTRACE_STATE_SYSCALL) ||
                (does->kind == GOTRACE_KIND_REGION_BEGIN && e->kind == GOTRACE_KIND_REGION_END),
            "%s (1.%d): the reader says it is %s", row->name, version, gotrace_kind_name(e->kind));
        ck_assert_msg(e->range == does->range, "%s (1.%d): the reader says it is of another range",
                      row->name, version);
        ck_assert_msg(gotrace_event_metric(e) ==
                          (e->kind == GOTRACE_KIND_METRIC ? does->metric : 0),
                      "%s (1.%d): the reader says it is another metric", row->name, version);
        const char *text = gotrace_event_reason(e);
        ck_assert_msg(!does->text || (e->flags & GOTRACE_EVENT_FUTILE) ||
                          (text && strcmp(text, does->text) == 0),
                      "%s (1.%d): to the reader its name or reason is another", row->name, version);
    }
    for (EACH_ROW(row, version))
        ck_assert_msg(seen[row->code] || !is_timed(row) || row->semantics->full,
                      "%s (1.%d): the writer does not write it, or the reader does not see it",
                      row->name, version);
    gotrace_reader_close(reader);
    gotrace_source_close(source);
    blob_free(&written);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("semantics");
    TCase *cases = tcase_create("v1");

    tcase_add_test(cases, ranges_are_counted);
    tcase_add_test(cases, ranges_have_events);
    tcase_add_loop_test(cases, v1_every_row_is_followed, 0, V1_VERSIONS);
    tcase_add_loop_test(cases, v1_states_connect, 0, V1_VERSIONS);
    tcase_add_loop_test(cases, v1_contexts_and_arguments, 0, V1_VERSIONS);
    tcase_add_loop_test(cases, v1_local_forms, 0, V1_VERSIONS);
    tcase_add_test(cases, v1_futile_wakeups);
    tcase_add_loop_test(cases, v1_goroutine_events, 0, V1_VERSIONS);
    tcase_add_loop_test(cases, v1_ranges, 0, V1_VERSIONS);
    tcase_add_loop_test(cases, v1_kinds, 0, V1_VERSIONS);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
