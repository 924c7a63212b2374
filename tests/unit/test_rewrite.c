/* test_rewrite.c - events passed from a reader to a writer make an equivalent trace. */
#include <stdlib.h>
#include <string.h>

#include "core/events.h"
#include "rewrite.h"

/* ---- rewritten traces ------------------------------------------------------------------------ */

static int compare_listed(const void *x, const void *y)
{
    const listed_event *a = x, *b = y;
    if (a->ticks != b->ticks)
        return a->ticks < b->ticks ? -1 : 1;
    return strcmp(a->line, b->line);
}

/* Events at the same tick on different procs or threads have no order. */
static void sort_ties(listing *t)
{
    qsort(t->events, t->count, sizeof *t->events, compare_listed);
}

static void check_same(const char *path, listing *a, listing *b)
{
    sort_ties(a);
    sort_ties(b);
    for (size_t i = 0; i < a->count && i < b->count; i++)
        ck_assert_msg(compare_listed(&a->events[i], &b->events[i]) == 0,
                      "%s: event %zu\n  %llu %s\nbecame\n  %llu %s", path, i,
                      (unsigned long long)a->events[i].ticks, a->events[i].line,
                      (unsigned long long)b->events[i].ticks, b->events[i].line);
    ck_assert_msg(a->count == b->count, "%s: %zu events became %zu", path, a->count, b->count);
    ck_assert_uint_eq(a->frequency, b->frequency);
}

/* Whether the event is a status, which has another time and thread if the writer has to add it, or
 * a Sync, whose time readers compute from the last status before it. */
static bool is_status(const char *line)
{
    static const char *const names[] = {"GoStatus",      "ProcStatus",         "GCActive",
                                        "GCSweepActive", "GCMarkAssistActive", "Sync"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(line, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static void leave_statuses_out(listing *t)
{
    size_t count = 0;
    for (size_t i = 0; i < t->count; i++)
        if (is_status(t->events[i].line))
            free(t->events[i].line);
        else
            t->events[count++] = t->events[i];
    t->count = count;
}

/* A status that the writer adds does not move the event that needs it. (It is earlier if fewer
 * statuses are at its own tick now.) */
static void check_others_same(const char *path, listing *a, listing *b)
{
    leave_statuses_out(a);
    leave_statuses_out(b);
    check_same(path, a, b);
    for (size_t i = 0; i < a->count; i++)
        ck_assert_msg(b->events[i].returned <= a->events[i].returned,
                      "%s: %s\n  at %llu became %llu", path, a->events[i].line,
                      (unsigned long long)a->events[i].returned,
                      (unsigned long long)b->events[i].returned);
}

static void check_given_again(const trace_file *f, unsigned left_out)
{
    blob written = {0};
    listing before = listing_of(&f->content);
    if (before.problems == 0) {
        rewrite(&f->content, left_out, NULL, &written);
        listing after = listing_of(&written);
        ck_assert_msg(after.problems == 0, "%s: %s", f->path, after.problem.message);
        if (left_out == REWRITE_ALL)
            check_same(f->path, &before, &after);
        else if (left_out == REWRITE_NO_STATUSES)
            check_others_same(f->path, &before, &after);
        listing_free(&after);
    }
    listing_free(&before);
    blob_free(&written);
}

START_TEST(v1_rewritten)
{
    trace_file *files = traces_load((size_t)1 << 19);
    for (trace_file *f = files; f->path[0]; f++)
        if (!gt_is_v2(trace_version(&f->content)))
            check_given_again(f, REWRITE_ALL);
    traces_free(files);
}
END_TEST

START_TEST(v2_rewritten)
{
    trace_file *files = traces_load((size_t)1 << 19);
    for (trace_file *f = files; f->path[0]; f++)
        if (gt_is_v2(trace_version(&f->content)))
            check_given_again(f, REWRITE_ALL);
    traces_free(files);
}
END_TEST

START_TEST(v2_without_statuses)
{
    trace_file *files = traces_load((size_t)1 << 19);
    for (trace_file *f = files; f->path[0]; f++)
        if (gt_is_v2(trace_version(&f->content))) {
            check_given_again(f, REWRITE_NO_STATUSES);
            check_given_again(f, REWRITE_NO_STATUSES | REWRITE_NO_SYNCS);
        }
    traces_free(files);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rewrite");
    TCase *again = tcase_create("rewritten");
    tcase_add_test(again, v1_rewritten);
    tcase_add_test(again, v2_rewritten);
    tcase_add_test(again, v2_without_statuses);
    suite_add_tcase(suite, again);
    return run_suite(suite);
}
