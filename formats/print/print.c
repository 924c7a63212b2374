/* print.c - print all events of a reader. */
#include "formats/common/feed_stacks.h"
#include "formats/print/print.h"

size_t print_stack(const print_source *from, uint64_t id, gotrace_frame *frames, size_t max)
{
    if (from->reader)
        return gotrace_reader_stack(from->reader, id, frames, max);
    const feed_stack_copy *copy = from->stack && from->stack->id == id ? from->stack
                                                                       : from->start_stack;
    return copy && copy->id == id ? feed_stack_frames(copy, frames, max) : 0;
}

gotrace_status print_all(const printer *how, gotrace_reader *reader, size_t threads, out *o)
{
    /* Fewer events are printed in less time than threads need to start. */
    enum { EVENTS_FOR_THREADS = 256 };
    const print_source from = {.version = gotrace_reader_summary(reader)->version,
                               .reader = reader};
    const gotrace_event *event;
    gotrace_status status = GOTRACE_EVENT;

    for (uint64_t n = 0; !o->failed; n++) {
        if (n == EVENTS_FOR_THREADS && threads > 1 &&
            print_in_threads(how, reader, threads, o, &status))
            return status;
        status = gotrace_reader_next(reader, &event);
        if (status != GOTRACE_EVENT)
            return status;
        how->event(o, &from, event);
    }
    return GOTRACE_EVENT;
}
