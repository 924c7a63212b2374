/* test_deselected.c - gotrace_reader_deselect_*: which transitions are not returned. */
#include <stdlib.h>
#include <string.h>

#include "gotrace_experimental.h"
#include "reading.h"

enum {
    MOST = 4000, /* goroutines */
    STATES = 1U << GOTRACE_STATE_RUNNING | 1U << GOTRACE_STATE_RUNNABLE |
             1U << GOTRACE_STATE_WAITING | 1U << GOTRACE_STATE_SYSCALL,
    LIVES = 1U << GOTRACE_STATE_UNDETERMINED | 1U << GOTRACE_STATE_NOT_EXIST,
};

/* What is deselected: of goroutines with an odd id all; the ends of waits with an odd stack; odd
 * stacks and none; waits for reasons of odd length; the first
 * also if transitions are selected by their kind. */
typedef enum way { WAY_GOROUTINES, WAY_STATES, WAY_STACKS, WAY_REASONS, WAY_KINDS } way;

typedef struct events {
    gotrace_event *items;
    size_t count, room;
    gotrace_status status;
    uint64_t returned;
} events;

static bool changes_goroutine(const gotrace_event *e)
{
    return e->kind == GOTRACE_KIND_TRANSITION && e->resource == GOTRACE_RESOURCE_GOROUTINE &&
           e->from != e->to;
}

static bool waits_odd(const gotrace_event *e)
{
    return changes_goroutine(e) && e->to == GOTRACE_STATE_WAITING && e->reason &&
           strlen(e->reason) % 2;
}

/* A number for the reason, 0 for those that are not deselected: its text ends with the reader. */
static uint64_t number_of_reason(const gotrace_event *e)
{
    uint64_t number = waits_odd(e);
    for (size_t i = 0; number && e->reason[i]; i++)
        number = number * 31 + (uint8_t)e->reason[i];
    return number ? number * 256 + e->type : 0;
}

static void deselect(gotrace_reader *reader, const gotrace_event *e, way how)
{
    if (how == WAY_STACKS) {
        gotrace_reader_deselect_stack(reader, 0);
        if (e->stack % 2)
            gotrace_reader_deselect_stack(reader, e->stack);
    }
    if (!changes_goroutine(e))
        return;
    if ((how == WAY_GOROUTINES || how == WAY_KINDS) && e->subject % 2)
        gotrace_reader_deselect_goroutine(reader, e->subject, true);
    if (how == WAY_REASONS && waits_odd(e))
        gotrace_reader_deselect_reason(reader, e);
    if (how == WAY_STATES && e->to == GOTRACE_STATE_WAITING && e->stack % 2)
        gotrace_reader_deselect_state(reader, e->subject);
}

static events read_events(const blob *trace, way how, bool deselects)
{
    events all = {0};
    gotrace_source *source = NULL;
    gotrace_reader *reader = NULL;
    const gotrace_event *e;
    gotrace_source_memory(trace->bytes, trace->size, NULL, &source, NULL);
    ck_assert_int_eq(gotrace_reader_open(source, NULL, &reader, NULL), GOTRACE_OK);
    const uint32_t waiting = 1U << GOTRACE_STATE_WAITING;
    const uint32_t begins = how == WAY_STATES || how == WAY_REASONS
                                ? waiting
                                : STATES ^ 1U << GOTRACE_STATE_RUNNING;
    gotrace_reader_select(reader, 1U << GOTRACE_KIND_SYSCALL | 1U << GOTRACE_KIND_METRIC,
                          LIVES | begins);
    if (how == WAY_KINDS)
        gotrace_reader_select(reader, UINT32_MAX, UINT32_MAX);
    for (int state = 0; state < 8 && how != WAY_KINDS; state++)
        if ((how == WAY_REASONS ? waiting : STATES) >> state & 1)
            gotrace_reader_select_lasting(reader, (gotrace_state)state, 0);
    while ((all.status = gotrace_reader_next(reader, &e)) == GOTRACE_EVENT) {
        if (all.count == all.room) {
            all.room = all.room * 2 + 100;
            all.items = realloc(all.items, all.room * sizeof *all.items);
            ck_assert(all.items);
        }
        all.items[all.count] = *e;
        all.items[all.count++].value = number_of_reason(e);
        if (deselects)
            deselect(reader, e, how);
    }
    all.returned = gotrace_reader_summary(reader)->events;
    gotrace_reader_close(reader);
    gotrace_source_close(source);
    return all;
}

/* What is deselected of a goroutine: all, or the end of its state. */
typedef struct follower {
    bool deselected;
} follower;

/* Stacks and reasons are deselected by the first event that is returned with them, in each
 * generation; a reason of v1 is one of its type. */
typedef struct seen_stacks {
    bool odd[4096], any;
    uint64_t reasons[64];
    size_t reason_count;
    uint64_t generation;
} seen_stacks;

static bool has_seen_reason(const seen_stacks *seen, const gotrace_event *e)
{
    for (size_t i = 0; i < seen->reason_count && e->value; i++)
        if (seen->reasons[i] == e->value)
            return true;
    return false;
}

static void see_reason(seen_stacks *seen, const gotrace_event *e)
{
    if (e->value == 0 || has_seen_reason(seen, e))
        return;
    ck_assert_uint_lt(seen->reason_count, 64);
    seen->reasons[seen->reason_count++] = e->value;
}

static bool is_hidden(seen_stacks *seen, const gotrace_event *e, way how)
{
    if (seen->generation != e->generation_index) {
        memset(seen->odd, 0, sizeof seen->odd);
        seen->reason_count = 0;
    }
    seen->generation = e->generation_index;
    ck_assert_uint_lt(e->stack, 4096);
    if (how == WAY_REASONS)
        return has_seen_reason(seen, e);
    return e->stack ? seen->odd[e->stack] : seen->any;
}

static bool is_between(const gotrace_event *e)
{
    return changes_goroutine(e) && !(LIVES >> e->from & 1) && !(LIVES >> e->to & 1);
}

/* Whether an event that is returned without deselection must not be with it. */
static bool is_deselected(follower *g, const gotrace_event *e, bool hidden, way how)
{
    bool call = e->kind == GOTRACE_KIND_SYSCALL, odd = e->stack % 2, was = g->deselected;
    if (how == WAY_GOROUTINES || how == WAY_KINDS) {
        g->deselected = g->deselected || (changes_goroutine(e) && e->subject % 2);
        return was && (call || is_between(e));
    }
    if (how == WAY_STATES) {
        if (changes_goroutine(e))
            g->deselected = e->to == GOTRACE_STATE_WAITING && odd;
        return was && is_between(e);
    }
    if (how == WAY_REASONS) {
        g->deselected = is_between(e) && hidden;
        return is_between(e) && (e->to != GOTRACE_STATE_WAITING || hidden) &&
               (e->from != GOTRACE_STATE_WAITING || was);
    }
    if (!call && !is_between(e)) {
        g->deselected = false;
        return false;
    }
    bool runs = call || e->from == GOTRACE_STATE_RUNNING;
    g->deselected = hidden && !call && e->to != GOTRACE_STATE_RUNNING;
    if (call)
        return hidden;
    /* The begin of a run is returned only as the end of a state. */
    bool begins = !hidden && e->to != GOTRACE_STATE_RUNNING;
    bool ends = !was && !(hidden && runs);
    return !begins && !ends;
}

/* Whether the event may show where its goroutine starts, and so is returned anyway. */
static bool may_start(const gotrace_event *e)
{
    return e->flags & (GOTRACE_EVENT_INITIAL | GOTRACE_EVENT_SUSPECT) ||
           (changes_goroutine(e) && e->goroutine == e->subject && e->stack);
}

static size_t check(const blob *trace, const events *all, way how)
{
    static follower goroutines[MOST];
    seen_stacks stacks = {.any = false};
    events some = read_events(trace, how, true);
    size_t n = 0, missing = 0;
    bool beginning = all->count > 0 && all->items[0].generation == 0; /* v1 */
    memset(goroutines, 0, sizeof goroutines);
    ck_assert_int_eq(some.status, all->status);
    ck_assert_uint_eq(some.returned, all->returned);
    for (size_t i = 0; i < all->count; i++) {
        const gotrace_event *e = &all->items[i], *other = &some.items[n];
        bool returned = n < some.count && other->offset == e->offset && other->time == e->time &&
                        other->type == e->type && other->from == e->from && other->to == e->to;
        uint64_t id = changes_goroutine(e) ? e->subject : e->goroutine;
        ck_assert_uint_lt(id, MOST);
        n += returned;
        missing += !returned;
        bool gone = is_deselected(&goroutines[id], e, is_hidden(&stacks, e, how), how);
        if (returned)
            ck_assert_int_eq(other->since, e->since);
        stacks.any = stacks.any || returned;
        if (returned)
            see_reason(&stacks, e);
        stacks.odd[e->stack] = stacks.odd[e->stack] || (returned && e->stack % 2);
        if (!gone)
            ck_assert_msg(returned, "way %d: event %zu is not returned", how, i);
        else if (!may_start(e) && !beginning)
            ck_assert_msg(!returned, "way %d: event %zu is returned", how, i);
        beginning = beginning && e->kind != GOTRACE_KIND_METRIC;
    }
    ck_assert_uint_eq(n, some.count);
    free(some.items);
    return missing;
}

START_TEST(deselected)
{
    trace_file *files = traces_load(12000);
    size_t missing = 0;
    for (trace_file *file = files; file->path[0]; file++) {
        events all = read_events(&file->content, (way)_i, false);
        missing += check(&file->content, &all, (way)_i);
        free(all.items);
    }
    ck_assert_uint_gt(missing, 1500 / SWEEP_STEP);
    traces_free(files);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("deselected");
    TCase *cases = tcase_create("deselected");
    tcase_add_loop_test(cases, deselected, WAY_GOROUTINES, WAY_KINDS + 1);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
