/* test_sized.c - structs of the caller: of older and newer programs, and of garbage. */
#include <string.h>

#include "core/sized.h"
#include "support.h"

enum { SURPLUS = 24 };

/* A struct as a newer program has it. */
#define NEWER(type)                                                                                \
    struct {                                                                                       \
        type known;                                                                                \
        uint8_t more[SURPLUS];                                                                     \
    }

/* A decoder is the simplest handle. */
static gotrace_status open_with(const gotrace_config *config, gotrace_error *error)
{
    gotrace_decoder *d;
    gotrace_status status = gotrace_decoder_new(config, &d, error);
    ck_assert_int_eq(d == NULL, status < 0);
    gotrace_decoder_free(d);
    return status;
}

static void check_rejected(const gotrace_error *error, const char *name)
{
    ck_assert_int_eq(error->rule, GOTRACE_RULE_USAGE);
    ck_assert_msg(strstr(error->message, name) != NULL, "%s", error->message);
}

START_TEST(older_config)
{
    NEWER(gotrace_config) config = {.known.size = offsetof(gotrace_config, window)};
    gotrace_error error = GOTRACE_INIT(gotrace_error);
    gotrace_reader *reader;
    gotrace_source *source;
    config.known.window = 1; /* not in the struct of that program */
    config.known.spool_dir = "/nowhere";
    ck_assert_int_eq(gotrace_source_memory("", 0, &config.known, &source, &error), GOTRACE_OK);
    ck_assert_int_eq(gotrace_reader_open(source, &config.known, &reader, &error), GOTRACE_ERROR);
    ck_assert_int_eq(error.rule, GOTRACE_RULE_HEADER_SHORT);
    gotrace_source_close(source);
    ck_assert_int_eq(open_with(&(gotrace_config){0}, &error), GOTRACE_OK);
}
END_TEST

START_TEST(newer_config)
{
    NEWER(gotrace_config) config = {.known.size = sizeof config};
    NEWER(gotrace_limits) limits = {.known.size = sizeof limits};
    gotrace_error error = GOTRACE_INIT(gotrace_error);
    config.known.limits = &limits.known;
    ck_assert_int_eq(open_with(&config.known, &error), GOTRACE_OK);
    limits.more[SURPLUS - 1] = 1;
    ck_assert_int_eq(open_with(&config.known, &error), GOTRACE_ERROR);
    check_rejected(&error, "gotrace_limits");
    config.known.limits = NULL;
    config.more[0] = 1;
    ck_assert_int_eq(open_with(&config.known, &error), GOTRACE_ERROR);
    check_rejected(&error, "gotrace_config");
}
END_TEST

/* A struct that nobody initialised. */
START_TEST(absurd_sizes)
{
    static const size_t sizes[] = {1, sizeof(size_t) - 1, 1 << 20, SIZE_MAX};
    gotrace_error error = GOTRACE_INIT(gotrace_error);
    gotrace_config config = {.size = sizes[_i]};
    ck_assert_int_eq(open_with(&config, &error), GOTRACE_ERROR);
    check_rejected(&error, "gotrace_config");
}
END_TEST

START_TEST(errors_are_filled_as_far_as_they_go)
{
    NEWER(gotrace_error) error;
    gotrace_source *source;
    static const size_t sizes[] = {
        0, sizeof error.known, offsetof(gotrace_error, batch), sizeof error, sizeof(size_t), 1};
    size_t size = sizes[_i], end = size ? size : sizeof error.known;
    memset(&error, 0x5a, sizeof error);
    error.known.size = size;
    ck_assert_int_eq(gotrace_source_open("/nowhere/at all", NULL, &source, &error.known),
                     GOTRACE_ERROR);
    ck_assert_uint_eq(error.known.size, size);
    if (end > offsetof(gotrace_error, rule))
        ck_assert_int_eq(error.known.rule, GOTRACE_RULE_SYSTEM_OPEN);
    if (end < sizeof error.known)
        ck_assert_uint_eq(((uint8_t *)&error)[end > sizeof size ? end : sizeof size], 0x5a);
    ck_assert_uint_eq(error.more[0], 0x5a);
}
END_TEST

START_TEST(options_and_events)
{
    blob written = {0};
    gotrace_writer *w;
    gotrace_error error = GOTRACE_INIT(gotrace_error);
    NEWER(gotrace_writer_options) options = {.known.size = sizeof options};
    options.more[3] = 1;
    ck_assert_int_eq(gotrace_writer_new(26, &options.known, blob_write, &written, NULL, &w, &error),
                     GOTRACE_ERROR);
    ck_assert_ptr_null(w);
    check_rejected(&error, "gotrace_writer_options");
    options.more[3] = 0;
    ck_assert_int_eq(gotrace_writer_new(26, &options.known, blob_write, &written, NULL, &w, &error),
                     GOTRACE_OK);
    const uint64_t proc = 3;
    NEWER(gotrace_event_data)
    event = {.known = {.size = sizeof event,
                       .spec = gotrace_event_spec_named(26, "ProcStart"),
                       .proc = GOTRACE_NO_PROC,
                       .thread = 7,
                       .args = &proc,
                       .arg_count = 1}};
    event.more[0] = 1;
    ck_assert_int_eq(gotrace_writer_event(w, &event.known), GOTRACE_ERROR);
    check_rejected(gotrace_writer_error(w), "gotrace_event_data");
    event.more[0] = 0;
    ck_assert_int_eq(gotrace_writer_event(w, &event.known), GOTRACE_OK);
    event.known.spec = gotrace_event_spec_named(26, "ProcStop");
    event.known.arg_count = 0;
    event.known.stack = 99; /* not in the struct of that program */
    event.known.size = offsetof(gotrace_event_data, stack);
    ck_assert_int_eq(gotrace_writer_event(w, &event.known), GOTRACE_OK);
    ck_assert_int_eq(gotrace_writer_finish(w), GOTRACE_OK);
    gotrace_writer_free(w);
    blob_free(&written);
}
END_TEST

START_TEST(records)
{
    blob written = {0};
    gotrace_encoder *e;
    const uint64_t args[] = {0, 1};
    NEWER(gotrace_record)
    record = {.known = {.size = sizeof record,
                        .spec = gotrace_event_spec_named(21, "Batch"),
                        .args = args,
                        .arg_count = 2,
                        .form = 0xff}};
    ck_assert_int_eq(gotrace_encoder_new(21, blob_write, &written, NULL, &e, NULL), GOTRACE_OK);
    ck_assert_int_eq(gotrace_encoder_record(e, &record.known), GOTRACE_OK);
    record.more[SURPLUS - 1] = 1;
    ck_assert_int_eq(gotrace_encoder_record(e, &record.known), GOTRACE_ERROR);
    check_rejected(gotrace_encoder_error(e), "gotrace_record");
    gotrace_encoder_free(e);
    blob_free(&written);
}
END_TEST

/* Every rule is at one place of the list, and is found by its number. */
START_TEST(rules_are_listed)
{
    const gotrace_rule_info *rule;
    bool seen[GOTRACE_RULE_LIMIT] = {false};
    ck_assert_int_eq(gotrace_rule_at(0)->rule, GOTRACE_RULE_NONE);
    for (size_t n = 0; (rule = gotrace_rule_at(n)); n++) {
        ck_assert(!seen[rule->rule]);
        seen[rule->rule] = true;
        ck_assert_ptr_eq(gotrace_rule_describe(rule->rule), rule);
    }
    for (unsigned number = 0; number < GOTRACE_RULE_LIMIT; number++)
        if (!seen[number])
            ck_assert_ptr_eq(gotrace_rule_describe((gotrace_rule)number), gotrace_rule_at(0));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sized");
    TCase *cases = tcase_create("sized");
    tcase_add_test(cases, older_config);
    tcase_add_test(cases, newer_config);
    tcase_add_loop_test(cases, absurd_sizes, 0, 4);
    tcase_add_loop_test(cases, errors_are_filled_as_far_as_they_go, 0, 6);
    tcase_add_test(cases, options_and_events);
    tcase_add_test(cases, records);
    tcase_add_test(cases, rules_are_listed);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
