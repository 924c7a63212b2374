/* run.c - the entry point of the Chrome exporter. */
#include "formats/chrome/chrome.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *chrome_view_name(size_t n)
{
    static const char *const names[] = {
        [BY_PROC] = "proc", [BY_GOROUTINE] = "goroutine", [BY_THREAD] = "thread", NULL};
    return names[n];
}

/* The view that was asked for. */
static chrome_view view_of(const convert_job *job)
{
    const chrome_options *options = job->options;
    chrome_view by = BY_PROC;
    while (options && options->by && strcmp(chrome_view_name(by), options->by) != 0)
        by++;
    return by;
}

/* Handles the events up to job->to; returns the status of the last one. *beyond: events after the
 * time range are left. */
static gotrace_status take_events(chrome *c, const convert_job *job, bool *beyond)
{
    chrome_timeline *t = &c->timeline;
    gotrace_status status = GOTRACE_END;
    const gotrace_event *event;

    while (t->error == 0 && !t->stopped &&
           (status = feed_next(&c->feed, &event)) == GOTRACE_EVENT) {
        if (job->to != 0 && event->time >= job->to) {
            t->now = job->to;
            *beyond = true;
            return status;
        }
        if (!system_goroutines_skip(&c->system, event))
            chrome_take_event(c, event);
        chrome_drain(t);
    }
    return status;
}

static gotrace_status write_document(chrome *c, const convert_job *job)
{
    chrome_timeline *t = &c->timeline;
    chrome_window window;

    chrome_write_begin(&t->writer);
    chrome_window_init(&window, job->from, chrome_emit, t);
    t->window = job->from > 0 ? &window : NULL;
    chrome_name_rows(&c->rows, job->reader);
    bool beyond = false;
    gotrace_status status = take_events(c, job, &beyond);
    chrome_finish(c);
    chrome_window_free(&window);
    chrome_write_end(&t->writer);
    /* Check the rest: the verdict must not depend on the time range. This frees the names of the
     * feed, which what was written needs. */
    return beyond ? feed_check(&c->feed) : status;
}

/* Prepares the state for the first event; the timeline is initialized. */
static void start(chrome *c, const convert_job *job)
{
    int version = c->timeline.version;

    c->v2 = version >= GOTRACE_FIRST_V2;
    c->generation_index = CHROME_NO_GENERATION;
    c->stw_row = 0;
    c->counts = (chrome_counts){0};
    chrome_rows_init(&c->rows, &c->timeline, view_of(job));
    chrome_user_init(&c->user, &c->timeline);
    idmap_init(&c->goroutines, sizeof(chrome_goroutine));
    system_goroutines_init(&c->system, job, &c->feed, false);
    if (c->system.failed)
        c->timeline.error = ENOMEM;
}

static void stop(chrome *c)
{
    size_t cursor = 0;
    uint64_t id;
    void *value;

    while (idmap_next(&c->goroutines, &cursor, &id, &value))
        chrome_end_regions(&c->user, &((chrome_goroutine *)value)->regions);
    system_goroutines_free(&c->system);
    chrome_user_free(&c->user);
    chrome_rows_free(&c->rows);
    idmap_free(&c->goroutines);
}

static gotrace_status convert_to_chrome(const convert_job *job)
{
    chrome c = {0};
    gotrace_status status = GOTRACE_END;

    feed_init(&c.feed, job->reader, false, job->threads);
    /* If indexing fails, reading reports the same error. */
    gotrace_reader_index(job->reader);
    if (chrome_timeline_init(&c.timeline, job->out, &c.feed)) {
        c.timeline.shown = job->parts;
        start(&c, job);
        status = write_document(&c, job);
        stop(&c);
    }
    feed_free(&c.feed);
    /* If memory or disk space ran out the output is incomplete; the caller reports it. */
    if (c.timeline.error != 0)
        out_fail(job->out, c.timeline.error);
    chrome_timeline_free(&c.timeline);
    return status == GOTRACE_ERROR ? GOTRACE_ERROR : GOTRACE_END;
}

static unsigned narrows(const convert_job *job)
{
    return chrome_parts_possible(job->parts, view_of(job));
}

static const char *const extensions[] = {".json", NULL};

const format format_chrome = {
    .name = "chrome",
    .extensions = extensions,
    .summary = "JSON for chrome://tracing, as go tool trace shows it",
    .large = true,
    .narrows = narrows,
    /* chrome://tracing loads the file into one string; V8's have at most 2^29 - 24 characters
     * (String::kMaxLength). */
    .viewer_bytes = (1 << 29) - 24,
    .viewer = "chrome://tracing",
    /* Traces of 12 to 48 MB of Go 1.19 to 1.27 at a load of 4: 26 to 40, which is 2.9 to 3.6 times
     * as much as perfetto. The first number is that of perfetto times 2.9. */
    .growth = {14, 40},
    .instead = "use --to perfetto, which shows several traces in one timeline",
    .run = convert_to_chrome,
};
