/*
 * generations.c - copy a sound trace, or the generations of it that are selected as a whole.
 *
 * First the whole trace is checked, which shows when generations begin. Of the generations before
 * and after those that are copied only a part may be selected. Such a part is read from a temporary
 * trace, which also has the generation before it, with the states with which the part begins. Both
 * parts are written to temporary files first, because a part may turn out not to fit.
 *
 * A generation repeats the states of goroutines and procs. It can be copied if the events before it
 * lead to these states, if its number and the numbers of its GC events continue those before, and
 * if the world is not stopped when it begins, because no status records that.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmd/cut/cut.h"
#include "formats/common/fill_error.h"
#include "formats/common/spool.h"

typedef struct generation {
    uint64_t number, offset, bytes;
    int64_t begins;    /* earlier than its first event, and later than those before */
    uint64_t first_gc; /* number of its first GC event; 0: none */
    bool gc_active;    /* that event only reports that a cycle is active */
    bool stopped;      /* the world is stopped when it begins */
    uint64_t alive;    /* goroutines, when it begins */
} generation;

/* A part of a generation, written to a file. */
typedef struct part_file {
    int fd; /* -1: none */
    uint64_t size, alive;
    cut_result result;
} part_file;

typedef struct plan {
    const cut_job *job;
    gotrace_error *error;
    generation *list;
    size_t count, capacity;
    int64_t ends;       /* later than the last event */
    uint64_t origin;    /* ticks at time 0 */
    size_t first, end;  /* the generations that are copied */
    bool before, after; /* parts of others are written */
    size_t low;         /* the first of which a part is written before them */
} plan;

static bool no_memory(const plan *p)
{
    fill_error(p->error, GOTRACE_RULE_SYSTEM_MEMORY, GOTRACE_NO_OFFSET, "out of memory");
    return false;
}

static bool no_file(const plan *p)
{
    fill_error(p->error, GOTRACE_RULE_SYSTEM_WRITE, GOTRACE_NO_OFFSET,
               "cannot write a temporary file: %s", strerror(errno));
    return false;
}

static bool not_read(const plan *p, const char *why)
{
    fill_error(p->error, GOTRACE_RULE_SYSTEM_READ, GOTRACE_NO_OFFSET, "%s", why);
    return false;
}

/* ---- the first reading ----------------------------------------------------------------------- */

static uint64_t count_alive(const gotrace_reader *reader)
{
    const gotrace_summary *sum = gotrace_reader_summary(reader);
    return sum->goroutines_initial + sum->goroutines_created - sum->goroutines_ended;
}

static bool add_generation(plan *p, const gotrace_event *e, bool stopped)
{
    if (p->count == p->capacity) {
        size_t capacity = p->capacity ? 2 * p->capacity : 64;
        void *list = realloc(p->list, capacity * sizeof *p->list);
        if (!list)
            return no_memory(p);
        p->list = list;
        p->capacity = capacity;
    }
    p->list[p->count++] = (generation){.number = e->subject,
                                       .begins = e->time,
                                       .stopped = stopped,
                                       .alive = count_alive(p->job->reader)};
    return true;
}

static void note_range(plan *p, const gotrace_event *e, uint64_t *stops)
{
    generation *g = &p->list[p->count - 1];
    if (e->range == GOTRACE_RANGE_STW) {
        if (e->kind == GOTRACE_KIND_RANGE_BEGIN)
            ++*stops;
        else if (e->kind == GOTRACE_KIND_RANGE_END && *stops > 0)
            --*stops;
    } else if (e->range == GOTRACE_RANGE_GC && g->first_gc == 0) {
        g->first_gc = gotrace_event_details(e)->args[0];
        g->gc_active = e->kind == GOTRACE_KIND_RANGE_ACTIVE;
    }
}

/* Checks the trace, and notes when its generations begin. */
static bool survey(plan *p)
{
    gotrace_reader *reader = p->job->reader;
    const uint32_t ranges = 1U << GOTRACE_KIND_RANGE_BEGIN | 1U << GOTRACE_KIND_RANGE_END |
                            1U << GOTRACE_KIND_RANGE_ACTIVE;
    const gotrace_event *e;
    gotrace_status status;
    uint64_t stops = 0;
    gotrace_reader_select(reader, ranges | 1U << GOTRACE_KIND_SYNC);
    while ((status = gotrace_reader_next(reader, &e)) == GOTRACE_EVENT) {
        if (e->kind != GOTRACE_KIND_SYNC) {
            if (p->count > 0 && (1U << e->kind & ranges))
                note_range(p, e, &stops);
        } else if (e->subject) {
            if (!add_generation(p, e, stops > 0))
                return false;
        } else {
            p->ends = e->time;
            p->origin = gotrace_reader_raw(reader)->ticks - (uint64_t)e->time;
        }
    }
    if (status < 0)
        *p->error = *gotrace_reader_error(reader);
    return status >= 0;
}

/* Whether the file consists of a header and of the generations, one after the other. */
static bool find_bytes(plan *p)
{
    const gotrace_summary *sum = gotrace_reader_summary(p->job->reader);
    uint64_t at = sum->header_bytes;
    for (size_t i = 0; i < p->count; i++) {
        const gotrace_generation_summary *g = gotrace_reader_generation(p->job->reader, i);
        if (!g || g->generation != p->list[i].number || g->offset != at)
            return false;
        p->list[i].offset = at;
        p->list[i].bytes = g->bytes;
        at += g->bytes;
    }
    return at == gotrace_source_size(p->job->source);
}

/* ---- what is copied -------------------------------------------------------------------------- */

static bool is_chosen(const plan *p, size_t i)
{
    const selection *what = p->job->what;
    return !(what->given & SELECT_BIT(SELECT_GENERATION)) ||
           select_has_id(&what->ids[SELECT_GENERATION], p->list[i].number);
}

static int64_t end_of(const plan *p, size_t i)
{
    return i + 1 < p->count ? p->list[i + 1].begins : p->ends;
}

static bool is_whole(const plan *p, size_t i)
{
    return is_chosen(p, i) && p->list[i].begins >= p->job->range.from &&
           end_of(p, i) <= p->job->range.until;
}

/* No generation is selected as a whole: decides of which ones parts are. False if these, with the
 * one before them, are all. */
static bool choose_part(plan *p)
{
    while (p->low < p->count && (!is_chosen(p, p->low) || end_of(p, p->low) <= p->job->range.from))
        p->low++;
    for (p->end = p->low;
         p->end < p->count && is_chosen(p, p->end) && p->list[p->end].begins < p->job->range.until;)
        p->end++;
    p->first = p->end;
    p->before = p->low < p->end;
    return p->before && p->end - p->low + 1 < p->count;
}

/* Decides what is copied and of what parts are written; false if that needs all of the trace. */
static bool choose(plan *p)
{
    while (p->first < p->count && !is_whole(p, p->first))
        p->first++;
    for (p->end = p->first; p->end < p->count && is_whole(p, p->end); p->end++)
        ;
    if (p->first == p->count)
        return choose_part(p);
    p->before = p->first > 0 && is_chosen(p, p->first - 1) &&
                p->list[p->first].begins > p->job->range.from;
    /* Only a part can begin with a stopped world, or at the time at which the trace starts. */
    if (!p->before && p->first > 0 && (p->job->keep_times || p->list[p->first].stopped)) {
        p->first++;
        p->before = true;
    }
    p->after = p->end < p->count && is_chosen(p, p->end) &&
               p->list[p->end].begins < p->job->range.until;
    p->low = p->first - p->before;
    if (p->first == p->end) { /* nothing is left to copy */
        p->first = p->end += p->after;
        p->after = false;
    }
    return true;
}

/* ---- parts ----------------------------------------------------------------------------------- */

static bool copy_bytes(const plan *p, out *to, uint64_t offset, uint64_t size)
{
    char buffer[1 << 14];
    while (size > 0 && !to->failed) {
        size_t got = 0, wanted = size < sizeof buffer ? (size_t)size : sizeof buffer;
        if (gotrace_source_read(p->job->source, offset, buffer, wanted, &got, p->error) < 0)
            return false;
        if (got == 0)
            return not_read(p, "the trace has become shorter");
        out_bytes(to, buffer, got);
        offset += got;
        size -= got;
    }
    return true;
}

static bool copy_header(const plan *p, out *to)
{
    return copy_bytes(p, to, 0, gotrace_reader_summary(p->job->reader)->header_bytes);
}

static bool copy_generations(const plan *p, out *to, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        if (!copy_bytes(p, to, p->list[i].offset, p->list[i].bytes))
            return false;
    return true;
}

/* Makes a trace of generations and the one before them, as a file; -1 on failure. */
static int make_trace(const plan *p, size_t first, size_t end)
{
    int fd = spool_file(p->job->config->spool_dir);
    out to;
    if (fd < 0)
        return no_file(p), -1;
    bool good = out_init(&to, spool_write_file, &fd) || no_memory(p);
    if (good) {
        good = copy_header(p, &to) && copy_generations(p, &to, first > 0 ? first - 1 : 0, end) &&
               ((out_flush(&to) && lseek(fd, 0, SEEK_SET) == 0) || no_file(p));
        out_free(&to);
    }
    if (good)
        return fd;
    close(fd);
    return -1;
}

/* Writes what is selected of that trace. *fits: it is a sound trace. */
static bool write_from(plan *p, gotrace_source *source, const cut_part *part, part_file *file,
                       bool *fits)
{
    gotrace_config config = *p->job->config;
    cut_job job = *p->job;
    out to;
    config.on_problem = NULL;
    job.source = source;
    job.config = &config;
    job.part = part;
    job.to = &to;
    if (gotrace_reader_open(source, &config, &job.reader, p->error) < 0)
        return false;
    bool good = out_init(&to, spool_write_file, &file->fd) || no_memory(p);
    if (good) {
        good = cut_write_events(&job, &file->result, p->error) >= 0 &&
               (out_flush(&to) || no_file(p));
        file->size = to.written;
        out_free(&to);
    }
    file->alive = count_alive(job.reader);
    *fits = gotrace_reader_summary(job.reader)->problems == 0 && file->result.impossible == 0 &&
            !file->result.gc_lost && file->size > 0;
    gotrace_reader_close(job.reader);
    return good;
}

/* Writes what is selected of generations to a file. */
static bool write_part(plan *p, size_t first, size_t end, part_file *file, bool *fits)
{
    const generation *g = &p->list[first];
    const cut_part part = {.generation = g->number,
                           .origin = p->origin,
                           .first_gc = g->first_gc,
                           .gc_active = g->gc_active,
                           .continues = first >= p->first};
    gotrace_source *source;
    int fd = make_trace(p, first, end);
    if (fd < 0)
        return false;
    file->fd = spool_file(p->job->config->spool_dir);
    bool good = file->fd >= 0 || no_file(p);
    if (good) {
        good = gotrace_source_fd(fd, p->job->config, &source, p->error) >= 0 &&
               write_from(p, source, &part, file, fits);
        gotrace_source_close(source);
    }
    close(fd);
    return good;
}

/* Copies a part to the output. */
static bool put_part(const plan *p, const part_file *file)
{
    char buffer[1 << 14];
    for (uint64_t at = 0; at < file->size && !p->job->to->failed;) {
        ssize_t got = pread(file->fd, buffer, sizeof buffer, (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return not_read(p, "cannot read a temporary file");
        out_bytes(p->job->to, buffer, (size_t)got);
        at += (uint64_t)got;
    }
    return true;
}

/* ---- both ------------------------------------------------------------------------------------ */

/* Writes the parts, and copies what is between them. *done is false if they do not fit. */
static bool write_all(plan *p, bool *done, cut_result *result)
{
    part_file before = {.fd = -1}, after = {.fd = -1};
    bool fits = true;
    bool good = !p->before || write_part(p, p->low, p->first, &before, &fits);
    fits &= !p->before || p->first == p->end || before.alive == p->list[p->first].alive;
    if (good && fits && p->after)
        good = write_part(p, p->end, p->end + 1, &after, &fits);
    if (good && fits) {
        *done = true;
        result->count = before.result.count + after.result.count;
        for (size_t i = p->first; i < p->end; i++)
            result->count += gotrace_reader_generation(p->job->reader, i)->timed_records;
        good = (p->before ? put_part(p, &before) : copy_header(p, p->job->to)) &&
               copy_generations(p, p->job->to, p->first, p->end) &&
               (!p->after || put_part(p, &after));
    }
    if (before.fd >= 0)
        close(before.fd);
    if (after.fd >= 0)
        close(after.fd);
    return good;
}

/* Copies the trace. */
static bool copy_all(plan *p, bool *done, cut_result *result)
{
    const gotrace_summary *sum = gotrace_reader_summary(p->job->reader);
    if (gotrace_reader_check(p->job->reader) < 0) {
        *p->error = *gotrace_reader_error(p->job->reader);
        return false;
    }
    *done = sum->problems == 0 && sum->unread_bytes == 0;
    result->count = sum->timed_records;
    return !*done || copy_bytes(p, p->job->to, 0, gotrace_source_size(p->job->source));
}

gotrace_status cut_copy(const cut_job *job, bool *done, cut_result *result, gotrace_error *error)
{
    plan p = {.job = job, .error = error};
    bool good;
    *done = false;
    *result = (cut_result){.count = 0};
    if (job->what->given == 0) {
        good = copy_all(&p, done, result);
    } else {
        good = survey(&p);
        if (good && gotrace_reader_summary(job->reader)->problems == 0 && find_bytes(&p) &&
            choose(&p))
            good = write_all(&p, done, result);
    }
    free(p.list);
    return good ? GOTRACE_END : GOTRACE_ERROR;
}
