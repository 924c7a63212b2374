/*
 * test_losses.c - what a conversion to another version reports as left out.
 */
#include "support.h"

#include "formats/trace/convert.h"

static void expect(const version_losses *losses, size_t n, const char *line)
{
    char text[200] = "";
    ck_assert(version_loss(losses, 19, n, text, sizeof text));
    ck_assert_str_eq(text, line);
}

START_TEST(each_once)
{
    version_losses losses = {.source = 26, .impossible = 7};
    char text[200];
    losses.counts[0] = 3;
    losses.events[GOTRACE_V2_GoBlock] = 4;
    losses.events[GOTRACE_V2_GoStop] = 5;
    losses.events[255] = 6;
    strcpy(losses.first.message, "a reason");
    ck_assert(version_loss(&losses, 19, 0, text, sizeof text));
    ck_assert_ptr_nonnull(strstr(text, ": 3 left out, go 1.19 has none"));
    expect(&losses, 1 + (GOTRACE_V2_GoBlock > GOTRACE_V2_GoStop),
           "GoBlock: 4 left out, go 1.19 has nothing like it");
    expect(&losses, 1 + (GOTRACE_V2_GoStop > GOTRACE_V2_GoBlock),
           "GoStop: 5 left out, go 1.19 has nothing like it");
    expect(&losses, 3, "unknown events: 6 left out, go 1.19 has nothing like it");
    expect(&losses, 4, "events that cannot have happened: 7 left out, the first: a reason");
    ck_assert(!version_loss(&losses, 19, 5, text, sizeof text));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("losses");
    TCase *cases = tcase_create("losses");
    tcase_add_test(cases, each_once);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
