/* print.c - print all events of a reader. */
#include "formats/analyse/places.h"
#include "formats/analyse/selector.h"
#include "formats/common/feed.h"
#include "formats/print/print.h"

size_t print_stack(const print_source *from, uint64_t id, gotrace_frame *frames, size_t max)
{
    return from->block ? gotrace_block_stack(from->block, id, frames, max)
                       : gotrace_reader_stack(from->reader, id, frames, max);
}

bool print_selects(const print_events *events, const gotrace_event *event, bool *ends)
{
    bool selected = !events->selector || selector_event(events->selector, event);
    *ends = events->selector && selector_ends(events->selector);
    return selected && !*ends && (!events->where || places_has(events->where, event));
}

static gotrace_status print_events_of(const print_job *job, const print_events *events)
{
    /* Fewer events are printed in less time than threads need to start. */
    enum { EVENTS_FOR_THREADS = 256 };
    print_source from = {.version = gotrace_reader_summary(job->reader)->version,
                         .reader = job->reader,
                         .frames = job->frames};
    const gotrace_event *event;
    gotrace_status status = GOTRACE_EVENT;
    const bool all = !events->selector && !events->where;
    size_t threads = job->threads;
    bool ends = false;

    for (uint64_t n = 0; !job->out->failed;) {
        if (n == EVENTS_FOR_THREADS && threads > 1) {
            if (print_in_threads(job, events, &status))
                return status;
            threads = 1;
        }
        status = all ? gotrace_reader_next(job->reader, &event) : feed_next(events->source, &event);
        if (status != GOTRACE_EVENT)
            return status;
        if (all || print_selects(events, event, &ends)) {
            from.raw = gotrace_reader_raw(job->reader);
            job->how->event(job->out, &from, event);
            n++;
        } else if (ends) {
            return GOTRACE_END;
        }
    }
    return GOTRACE_EVENT;
}

gotrace_status print_all(const print_job *job)
{
    feed source;
    print_events events = {.reader = job->reader, .source = &source, .where = job->where};
    selector selected;
    stacks *names = NULL;

    feed_init(&source, job->reader, true, 1);
    if (!job->select)
        return print_events_of(job, &events);
    if (job->select->what->given & SELECT_BIT(SELECT_FUNCTION)) {
        names = stacks_new(STACKS_BY_ADDRESS);
        job->select->failed = !names;
        if (!names)
            return GOTRACE_END;
        stacks_begin(names, &source);
    }
    selector_init(&selected, job->select, gotrace_reader_summary(job->reader)->version, &source,
                  names);
    events.selector = &selected;
    gotrace_status status = print_events_of(job, &events);
    selector_end(&selected, job->select);
    stacks_free(names);
    feed_free(&source);
    return status;
}
