/*
 * timeline_rows.c - the rows of section 0: one for each proc, goroutine or thread.
 *
 * Go's tool numbers rows by id, and special rows from 1000000 on. In a long-lived system,
 * goroutines and threads may have such ids too; MOVED is added to them.
 */
#include "formats/chrome/chrome.h"
#include "formats/common/lane.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Added to an id that equals the number of a special row. */
#define MOVED ((uint64_t)1 << 40)

void chrome_rows_init(chrome_rows *rows, chrome_timeline *timeline, chrome_view by)
{
    *rows = (chrome_rows){.timeline = timeline, .by = by};
    idmap_init(&rows->procs, sizeof(chrome_proc));
    timeline->by = by;
    timeline->writer.by = by;
}

void chrome_rows_free(chrome_rows *rows)
{
    idmap_free(&rows->procs);
}

chrome_proc *chrome_proc_of(chrome_rows *rows, uint64_t number)
{
    chrome_proc *proc = idmap_insert(&rows->procs, number);

    if (!proc)
        rows->timeline->error = ENOMEM;
    return proc;
}

/* ---- numbers ------------------------------------------------------------------------------- */

static uint64_t number_of(uint64_t id)
{
    /* No runtime has such ids, and most JSON readers cannot represent them. */
    if (id > INT64_MAX)
        return CHROME_LANE_NO_PROC;
    return id >= CHROME_LANE_NO_PROC && id <= CHROME_LANE_GC ? id | MOVED : id;
}

uint64_t chrome_row_of_event(const chrome_rows *rows, const gotrace_event *event)
{
    const int64_t lane = lane_of(event, rows->timeline->version);
    if (rows->by == BY_PROC || lane >= CHROME_LANE_TIMERS)
        return lane >= 0 ? (uint64_t)lane : (uint64_t)CHROME_LANE_NO_PROC;
    if (rows->by == BY_GOROUTINE)
        return event->goroutine != 0 ? number_of(event->goroutine) : CHROME_LANE_NO_PROC;
    return number_of((uint64_t)event->thread); /* an event without a thread has a negative one */
}

uint64_t chrome_row_of_run(const chrome_rows *rows, const gotrace_event *event)
{
    return rows->by == BY_GOROUTINE ? number_of(event->subject) : chrome_row_of_event(rows, event);
}

uint64_t chrome_row_of_goroutine(uint64_t id)
{
    return number_of(id);
}

/* ---- names --------------------------------------------------------------------------------- */

static void name_section(chrome_timeline *t, uint64_t pid, uint64_t place, const char *name)
{
    uint64_t values[] = {0, place, 0, pid};
    chrome_push(t, CHROME_SECTION, CHROME_NAME_TEXT, CHROME_DONE, values, 4, name, strlen(name));
}

static void name_row(chrome_timeline *t, uint64_t number, int64_t place, const char *name)
{
    uint64_t values[] = {number, (uint64_t)place, 0, CHROME_PID_PROCS};
    chrome_push(t, CHROME_ROW, CHROME_NAME_TEXT, CHROME_DONE, values, 4, name, strlen(name));
}

void chrome_name_rows(chrome_rows *rows, gotrace_reader *reader)
{
    static const char *const sections[] = {"PROCS", "G", "OS THREADS"};
    chrome_timeline *t = rows->timeline;
    const gotrace_proc_summary *proc;
    char name[32];

    name_section(t, CHROME_PID_STATS, 0, "STATS");
    name_section(t, CHROME_PID_PROCS, 2, sections[rows->by]);
    name_row(t, CHROME_LANE_GC, -6, "GC");
    name_row(t, CHROME_LANE_NETWORK, -5, "Network");
    name_row(t, CHROME_LANE_TIMERS, -4, "Timers");
    name_row(t, CHROME_LANE_SYSCALLS, -3, "Syscalls");
    if (rows->by != BY_PROC)
        return;
    for (size_t i = 0; (proc = gotrace_reader_proc(reader, i)) && t->error == 0; i++) {
        if (proc->proc < 0)
            continue;
        snprintf(name, sizeof name, "Proc %lld", (long long)proc->proc);
        name_row(t, (uint64_t)proc->proc, proc->proc, name);
        chrome_drain(t);
    }
}

void chrome_name_new_row(chrome_timeline *t, uint64_t number)
{
    static const char *const measuring[] = {"No proc", "No goroutine", "No thread"};
    char name[32];

    if (number >= CHROME_LANE_NO_PROC && number <= CHROME_LANE_GC) {
        if (number == CHROME_LANE_NO_PROC)
            name_row(t, number, -2, measuring[t->by]);
        return;
    }
    /* Goroutines are named as more is known about them, and procs of v1 at the start. */
    if (t->by == BY_GOROUTINE || (t->by == BY_PROC && t->version < GOTRACE_FIRST_V2))
        return;
    unsigned long long id = number & ~(t->by == BY_THREAD ? MOVED : 0);
    snprintf(name, sizeof name, t->by == BY_PROC ? "Proc %llu" : "Thread %llu", id);
    name_row(t, number, (int64_t)id, name);
}

void chrome_name_goroutine(chrome_timeline *t, uint64_t id, uint64_t start, uint64_t label)
{
    uint64_t values[CHROME_VALUES] = {[CHROME_TID] = number_of(id),
                                      [CHROME_PLACE] = id,
                                      [CHROME_PID] = CHROME_PID_PROCS,
                                      [CHROME_SUBJECT] = id,
                                      [CHROME_START] = start,
                                      [CHROME_A] = start,
                                      [CHROME_B] = label};

    if (values[CHROME_TID] == CHROME_LANE_NO_PROC)
        return;
    chrome_push(t, CHROME_ROW, CHROME_NAME_RUN, CHROME_DONE, values, CHROME_VALUES, NULL, 0);
}
