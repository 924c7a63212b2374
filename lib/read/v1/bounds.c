/*
 * bounds.c - keeps the times of a proc's events within those of its batches.
 *
 * An altered difference of times moves all later events of the batch, and an altered time of a
 * batch all its events. If they come too late they hold back the proc's later batches, and with
 * these the events of other procs that wait for one of them. But a proc's batches follow each other
 * in time, so that the beginning of the next one shows by how much the times are wrong. Until 1.6
 * the same applies to sequence numbers.
 */
#include "read/v1/cursor.h"

#include "core/times.h"

/* For each the rest of the run is decoded once more. */
enum { MOST_CORRECTIONS = 8 };

static int64_t clock_of(const gt_cursor *c, int clock)
{
    return clock == GT_TICKS ? c->ticks : (int64_t)c->seq;
}

static int64_t clock_of_event(const gt_event *e, int clock)
{
    return clock == GT_TICKS ? e->ticks : (int64_t)e->seq;
}

static void set_clock(gt_event *e, int clock, int64_t value)
{
    if (clock == GT_TICKS)
        e->ticks = value;
    else
        e->seq = (uint64_t)value;
}

/* Whether the altered time or number is that of this run, not that of a run that ends when it
 * begins: the one after it does not fit that one either. */
static bool is_altered(const gt_run *runs, const gt_run *run, int clock, int64_t begin)
{
    return run->first[clock] < begin && run->next != GT_NONE &&
           runs[run->next].first[clock] >= begin;
}

/* When the run ends: when the proc's next one begins, or the trace ends. INT64_MAX: unknown. */
static int64_t find_end(const gotrace_reader *reader, const gt_run *run, int clock, int64_t low)
{
    const gt_run *runs = reader->index.runs;
    int64_t begin = run->first[clock] > low ? run->first[clock] : low;
    if (run->next == GT_NONE)
        return clock == GT_TICKS && reader->index.end_ticks >= low ? reader->index.end_ticks
                                                                   : INT64_MAX;
    run = &runs[run->next];
    if (is_altered(runs, run, clock, begin))
        run = &runs[run->next];
    return run->first[clock] >= low ? run->first[clock] : INT64_MAX;
}

static void set_range(const gotrace_reader *reader, gt_cursor *c, const gt_run *run, int clock)
{
    gt_range *range = &c->ranges[clock];
    int64_t slack = clock == GT_SEQ ? 0 : gt_time((double)GT_MAX_WAIT_NS / reader->ns_per_tick);
    int64_t least = clock == GT_SEQ; /* difference */
    int64_t before = clock_of(c, clock);
    if (c->last && gt_is_outside(range, before))
        before = range->end;
    range->low = c->last ? gt_time_add(before, least - slack) : 0;
    range->end = gt_time_add(find_end(reader, run, clock, range->low), -least);
    range->width = (uint64_t)gt_time_add(range->end, slack) - (uint64_t)range->low;
    range->before = c->last ? before : run->first[clock] <= range->end ? run->first[clock] : 0;
}

void gt_cursor_bound(const gotrace_reader *reader, gt_cursor *c, const gt_run *run)
{
    set_range(reader, c, run, GT_TICKS);
    if (c->with_seq)
        set_range(reader, c, run, GT_SEQ);
    c->mended = 0;
    c->first = c->end;
}

/* The event before which the most time passes, and that time. */
static gt_event *find_step(const gt_cursor *c, int clock, int64_t *step)
{
    gt_event *found = NULL;
    uint64_t most = 0;
    uint64_t before = (uint64_t)c->ranges[clock].before;
    for (gt_event *e = c->first; e < c->end; e++) {
        uint64_t now = (uint64_t)clock_of_event(e, clock);
        if (now - before > most) { /* back: a large number */
            most = now - before;
            found = e;
        }
        before = now;
    }
    *step = (int64_t)most;
    return found;
}

static bool report_number(gotrace_reader *reader, const gt_event *e, int64_t by)
{
    return gt_report(reader, GOTRACE_RULE_ORDER_GLOBAL, gt_event_place(e),
                     "sequence number %lld is %s by about %llu: it does not fit those of the "
                     "proc's other batches",
                     (long long)e->seq, by < 0 ? "increased" : "reduced",
                     (unsigned long long)(by < 0 ? 0 - (uint64_t)by : (uint64_t)by));
}

static bool report(gotrace_reader *reader, const gt_event *e, int clock, int64_t by)
{
    if (clock == GT_SEQ)
        return report_number(reader, e, by);
    bool back = by < 0;
    int64_t ticks = back ? gt_time_between(by, 0) : by;
    int64_t ns = gt_time((double)ticks * reader->ns_per_tick + 0.5);
    return gt_report(reader, GOTRACE_RULE_TIME_ORDER, gt_event_place(e),
                     "%s has a time stamp %lld ticks (%lld ns) too %s: it does not fit those of "
                     "the proc's other batches, and is corrected with those after it",
                     gotrace_event_spec_of(reader->summary.version, e->type)->name,
                     (long long)ticks, (long long)ns, back ? "early" : "late");
}

/* Makes the rest of a batch earlier, from that event on. */
static void move(gt_cursor *c, gt_event *from, int clock, int64_t by)
{
    for (gt_event *e = from; e < c->end && e->batch == from->batch; e++)
        set_clock(e, clock, (int64_t)((uint64_t)clock_of_event(e, clock) - (uint64_t)by));
    if (c->batch != from->batch)
        return;
    if (clock == GT_TICKS)
        c->ticks = (int64_t)((uint64_t)c->ticks - (uint64_t)by);
    else
        c->seq -= (uint64_t)by;
}

/* Corrects the event that is the likely cause, so that the run ends where the next one begins.
 * NULL: none is. */
static bool correct(gotrace_reader *reader, gt_cursor *c, int clock, gt_event **cause)
{
    int64_t last[GT_CLOCKS], step;
    *cause = find_step(c, clock, &step);
    if (!*cause || !gt_cursor_last(reader, c, last))
        return !*cause;
    int64_t end = c->ranges[clock].end, over = gt_time_between(end, last[clock]);
    if (step >= 0 && (over <= 0 || step < over / 2)) {
        *cause = NULL;
        return true;
    }
    int64_t by = step < over || end == INT64_MAX ? step : over;
    move(c, *cause, clock, by);
    return report(reader, *cause, clock, by);
}

/* The cause is in events that were returned before: the others are moved into the range. */
static bool limit(gotrace_reader *reader, gt_cursor *c, int clock)
{
    bool first = c->mended == 0;
    int64_t end = c->ranges[clock].end;
    for (gt_event *e = c->first; e < c->end; e++) {
        int64_t over = gt_time_between(end, clock_of_event(e, clock));
        if (over <= 0)
            continue;
        if (first && !report(reader, e, clock, over))
            return false;
        first = false;
        set_clock(e, clock, end);
    }
    if (c->mended < MOST_CORRECTIONS)
        c->mended++;
    return true;
}

static bool mend(gotrace_reader *reader, gt_cursor *c, int clock)
{
    gt_event *cause = c->first;
    const gt_range *range = &c->ranges[clock];
    while (cause && c->mended < MOST_CORRECTIONS && gt_is_outside(range, clock_of(c, clock))) {
        if (!correct(reader, c, clock, &cause))
            return false;
        if (cause)
            c->mended++;
    }
    return !gt_is_outside(range, clock_of(c, clock)) || limit(reader, c, clock);
}

bool gt_cursor_mend(gotrace_reader *reader, gt_cursor *c)
{
    return mend(reader, c, GT_TICKS) && (!c->with_seq || mend(reader, c, GT_SEQ));
}
