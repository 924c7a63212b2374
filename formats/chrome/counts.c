/* counts.c - the counters of section 1. */
#include "formats/chrome/chrome.h"

#include <string.h>

/* A larger heap goal means that there is none (GOGC=off). */
#define NO_HEAP_GOAL ((uint64_t)1 << 50)

void chrome_count_as(chrome_counts *c, uint8_t *counted_as, chrome_count_class as)
{
    c->goroutines[*counted_as]--;
    c->goroutines[as]++;
    *counted_as = (uint8_t)as;
}

void chrome_count_proc(chrome_counts *c, bool *running, bool runs)
{
    if (*running != runs)
        c->procs_running += runs ? 1 : UINT64_MAX;
    *running = runs;
}

void chrome_count_metric(chrome_counts *c, const gotrace_event *event)
{
    if (gotrace_event_metric(event) == GOTRACE_METRIC_HEAP_ALLOCATED)
        c->heap_alloc = gotrace_event_value(event);
    if (gotrace_event_metric(event) == GOTRACE_METRIC_HEAP_GOAL)
        c->heap_goal = gotrace_event_value(event);
}

static void show_counter(chrome_timeline *t, chrome_op op, uint64_t *shown, const uint64_t *values,
                         size_t count)
{
    memcpy(shown, values, count * sizeof *values);
    chrome_push(t, op, CHROME_NAME_TEXT, CHROME_DONE, values, count, NULL, 0);
}

void chrome_show_counts(chrome_counts *c, chrome_timeline *t)
{
    /* The viewer stacks the values: the second one is the rest up to the goal. */
    uint64_t goal = c->heap_goal < NO_HEAP_GOAL ? c->heap_goal : 0;
    uint64_t heap[] = {c->heap_alloc, goal > c->heap_alloc ? goal - c->heap_alloc : 0};
    uint64_t goroutines[] = {c->goroutines[CHROME_CLASS_RUNNING],
                             c->goroutines[CHROME_CLASS_RUNNABLE],
                             c->goroutines[CHROME_CLASS_GC_WAITING]};
    uint64_t threads[] = {c->procs_running, c->goroutines[CHROME_CLASS_IN_SYSCALL]};

    /* This comparison is made for each event. */
    if (((threads[0] ^ c->shown_threads[0]) | (threads[1] ^ c->shown_threads[1])) != 0)
        show_counter(t, CHROME_THREADS, c->shown_threads, threads, 2);
    if (((heap[0] ^ c->shown_heap[0]) | (heap[1] ^ c->shown_heap[1])) != 0)
        show_counter(t, CHROME_HEAP, c->shown_heap, heap, 2);
    if (((goroutines[0] ^ c->shown_goroutines[0]) | (goroutines[1] ^ c->shown_goroutines[1]) |
         (goroutines[2] ^ c->shown_goroutines[2])) != 0)
        show_counter(t, CHROME_GOROUTINES, c->shown_goroutines, goroutines, 3);
}
