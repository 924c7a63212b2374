/* repair.c - repair each trace in a damaged file. */
#include "formats/common/plural.h"
#include "cmd/repair/repair.h"
#include "cmd/repair/verdict.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const kind_names[] = {
#define REPAIR_NAME(name, id, text) [REPAIR_##name] = id,
    REPAIR_KINDS(REPAIR_NAME)
#undef REPAIR_NAME
};

const char *repair_kind_name(repair_kind kind)
{
    return kind < REPAIR_KIND_COUNT ? kind_names[kind] : "";
}

static void emit_finding(repair *r, const repair_finding *finding)
{
    if (r->job->report && !r->quiet)
        r->job->report(r->job->ctx, finding);
}

static const char *rewritten(const repair *r)
{
    return r->job->reading ? "events are read as repair would rewrite them"
                           : "events are rewritten";
}

void repair_report_generations(repair *r, repair_kind kind, uint64_t first, uint64_t last,
                               const char *why)
{
    repair_finding f = {.kind = kind,
                        .trace = r->trace,
                        .offset = GOTRACE_NO_OFFSET,
                        .count = last - first + 1,
                        .first_generation = first,
                        .last_generation = last};
    char which[56];
    if (first == last)
        snprintf(which, sizeof which, "generation %" PRIu64, first);
    else
        snprintf(which, sizeof which, "generations %" PRIu64 " to %" PRIu64, first, last);
    if (kind == REPAIR_REWRITTEN)
        snprintf(f.message, sizeof f.message, "%s: %s, because: %.80s", which, rewritten(r), why);
    else
        snprintf(f.message, sizeof f.message, "%s: %s", which,
                 kind == REPAIR_KEPT ? "unchanged" : "nothing is left");
    emit_finding(r, &f);
}

void repair_report(repair *r, repair_kind kind, uint64_t offset, uint64_t count, const char *text,
                   ...)
{
    repair_finding finding = {.kind = kind,
                              .trace = r->trace,
                              .offset = offset == GOTRACE_NO_OFFSET ? offset : offset + r->base,
                              .count = count};
    va_list args;
    va_start(args, text);
    vsnprintf(finding.message, sizeof finding.message, text, args);
    va_end(args);
    emit_finding(r, &finding);
}

/* Read a trace in memory. False only on a system error or an exceeded limit. */
static bool examine(const repair *r, const uint8_t *bytes, size_t size, verdict *v)
{
    return verdict_of(bytes, size, r->job->config, v, r->error);
}

/* ---- one trace ------------------------------------------------------------------------------ */

static bool write_trace(repair *r, const uint8_t *bytes, size_t size)
{
    out *o = r->job->next(r->job->ctx, r->trace);
    if (!o)
        return false;
    out_bytes(o, bytes, size);
    r->totals->written++;
    return true;
}

/* A result of rebuilding. */
typedef struct attempt {
    parts_bytes written;
    repair_generations generations; /* v2: of `written` */
    repair_rebuilt rebuilt;
    verdict verdict;
} attempt;

static void drop_attempt(repair *r, attempt *a)
{
    parts_drop(r->memory, a->written.bytes, a->written.capacity, 1);
    repair_generations_drop(r, &a->generations);
    a->written = (parts_bytes){0};
}

/* Replace the generations that are kept by those of the image. */
static bool put_kept(repair *r, const parts_bytes *image, attempt *a)
{
    parts_bytes given = a->written;
    a->written = (parts_bytes){0};
    bool done = repair_generations_copy(r, &a->generations) &&
                (r->generations.count == 0 ||
                 repair_splice(r, image, &given, &a->written, &a->generations));
    if (done && r->generations.count == 0)
        a->written = given;
    else
        parts_drop(r->memory, given.bytes, given.capacity, 1);
    return done;
}

static bool try_rebuild(repair *r, const parts_bytes *image, bool sorted, attempt *a)
{
    *a = (attempt){.written = {0}};
    return repair_rebuild(r, image, sorted, &a->written, &a->rebuilt) && put_kept(r, image, a) &&
           repair_generations_examine(r, &a->written, &a->generations, &a->verdict);
}

/* A lost event costs more than an added one. */
static bool is_better(const attempt *a, const attempt *b)
{
    enum { WEIGHT = 4 };
    if (a->verdict.sound != b->verdict.sound)
        return a->verdict.sound;
    return a->rebuilt.added + WEIGHT * a->rebuilt.dropped <
           b->rebuilt.added + WEIGHT * b->rebuilt.dropped;
}

/* Rebuild in the reader's order, and if that changes much also in the order of times; take the
 * better result. */
static bool best_rebuild(repair *r, const parts_bytes *image, attempt *best)
{
    enum { FEW = 10000 }; /* one change in so many events is acceptable */
    attempt other;
    if (!try_rebuild(r, image, false, best)) {
        drop_attempt(r, best);
        return false;
    }
    if (best->verdict.sound &&
        best->rebuilt.added + best->rebuilt.dropped <= best->rebuilt.events / FEW)
        return true;
    bool done = try_rebuild(r, image, true, &other);
    if (done && is_better(&other, best)) {
        attempt worse = *best;
        *best = other;
        other = worse;
    }
    drop_attempt(r, &other);
    if (!done)
        drop_attempt(r, best);
    return done;
}

/* Report which generations were rebuilt and which were kept. */
static void emit_runs(repair *r, const char *why)
{
    const repair_generations *g = &r->generations;
    if (g->count == 0)
        repair_report(r, REPAIR_REWRITTEN, GOTRACE_NO_OFFSET, 1, "all %s, because: %.140s",
                      rewritten(r), why);
    for (size_t i = 0, next; i < g->count; i = next) {
        const repair_generation *first = &g->list[i];
        for (next = i + 1; next < g->count && g->list[next].rebuilt == first->rebuilt &&
                           g->list[next].whole == first->whole;)
            next++;
        uint64_t last = g->list[next - 1].number;
        if (first->rebuilt)
            repair_report_generations(r, REPAIR_REWRITTEN, first->number, last, why);
        else if (first->whole)
            repair_report_generations(r, REPAIR_KEPT, first->number, last, NULL);
    }
}

static void report_rebuilt(repair *r, const repair_rebuilt *rebuilt, const char *why)
{
    emit_runs(r, why);
    r->totals->added += rebuilt->added;
    r->totals->dropped += rebuilt->dropped;
    if (rebuilt->added > 0)
        repair_report(r, REPAIR_ADDED, GOTRACE_NO_OFFSET, rebuilt->added,
                      "made up: %" PRIu64 " event%s without which others could not have happened",
                      rebuilt->added, plural(rebuilt->added));
    if (rebuilt->dropped > 0)
        repair_report(r, REPAIR_DROPPED, GOTRACE_NO_OFFSET, rebuilt->dropped,
                      "left out: %" PRIu64 " event%s that cannot have happened; the first: %.100s",
                      rebuilt->dropped, plural(rebuilt->dropped), rebuilt->why.message);
}

/* Replace the image by the result. */
static void accept(repair *r, parts_bytes *image, attempt *a, repair_rebuilt *sum, verdict *v)
{
    if (sum->dropped == 0)
        sum->why = a->rebuilt.why;
    sum->added += a->rebuilt.added;
    sum->dropped += a->rebuilt.dropped;
    parts_drop(r->memory, image->bytes, image->capacity, 1);
    repair_generations_drop(r, &r->generations);
    *image = a->written;
    *v = a->verdict;
    r->generations = a->generations;
    r->rebuilt_before = true;
}

/* v2: keep as many generations as possible. If the result is not sound, keep none. */
static bool rebuild_some(repair *r, parts_bytes *image, verdict *v, repair_rebuilt *sum)
{
    enum { MOST_TIMES = 6 };
    if (!repair_generations_keep(r, image))
        return false;
    for (int i = 0; i < MOST_TIMES && r->generations.count > 0; i++) {
        attempt best;
        if (!best_rebuild(r, image, &best))
            return false;
        if (best.verdict.sound) {
            accept(r, image, &best, sum, v);
            return true;
        }
        bool less = repair_generations_blame(&r->generations, &best.generations);
        drop_attempt(r, &best);
        if (!less)
            break;
    }
    repair_generations_drop(r, &r->generations);
    return true;
}

/* Rebuild repeatedly: added events may require further ones. */
static bool rebuild_image(repair *r, parts_bytes *image, verdict *v, repair_rebuilt *sum)
{
    enum { MOST_TIMES = 4 };
    r->rebuilt_before = false;
    if (!rebuild_some(r, image, v, sum))
        return false;
    for (int i = 0; i < MOST_TIMES && !v->sound; i++) {
        attempt best;
        if (!best_rebuild(r, image, &best))
            return false;
        accept(r, image, &best, sum, v);
    }
    return true;
}

/* v2: rebuild only the generations around the broken ones; if the whole is not sound then, change
 * nothing. */
static bool rebuild_window(repair *r, parts_bytes *image, verdict *v, repair_rebuilt *sum)
{
    repair_window w;
    repair_rebuilt own = {0};
    verdict now;
    parts_bytes whole = {0};
    bool inserted = false;
    bool done = repair_window_open(r, image, &w);
    if (done && w.open) {
        done = examine(r, w.image.bytes, w.image.count, &now) &&
               (now.sound || rebuild_image(r, &w.image, &now, &own));
        if (done && now.sound && r->generations.count > 0) {
            done = repair_window_insert(r, image, &w, &whole) &&
                   repair_generations_examine(r, &whole, &r->generations, &now);
            inserted = done && now.sound;
        }
    }
    repair_window_close(r, &w, inserted);
    if (inserted) {
        parts_bytes before = *image;
        *image = whole;
        whole = before;
        *v = now;
        *sum = own;
    }
    parts_drop(r->memory, whole.bytes, whole.capacity, 1);
    return done;
}

static bool rebuild_all(repair *r, parts_bytes *image, verdict *v)
{
    const verdict before = *v;
    repair_rebuilt sum = {0};
    if (!rebuild_window(r, image, v, &sum) || (!v->sound && !rebuild_image(r, image, v, &sum)))
        return false;
    report_rebuilt(r, &sum, before.first.message);
    return true;
}

static void drop_file(repair *r)
{
    parts_drop(r->memory, r->file.bytes, r->file.capacity, 1);
    r->file = (parts_bytes){0};
    r->bytes = NULL;
}

static bool mend_trace(repair *r)
{
    parts_bytes image = {0};
    verdict v;
    bool done = repair_scan(r) && repair_mend(r) && repair_image(r, &image);
    if (r->last)
        drop_file(r);
    done = done && repair_generations_examine(r, &image, &r->generations, &v);
    if (done && !v.sound)
        done = rebuild_all(r, &image, &v);
    if (done) {
        r->totals->events += v.events;
        r->totals->given += v.given;
        r->totals->sound = r->totals->sound && v.sound;
        r->totals->identical = false;
        if (!v.sound)
            repair_report(r, REPAIR_DROPPED, GOTRACE_NO_OFFSET, 0, "it still is not sound: %.150s",
                          v.first.message);
        done = write_trace(r, image.bytes, image.count);
    }
    parts_drop(r->memory, image.bytes, image.capacity, 1);
    return done;
}

static bool one_trace(repair *r)
{
    verdict v = {.sound = false};
    r->totals->traces++;
    parts_shape_init(&r->shape, r->version);
    if (!r->headless && !examine(r, r->bytes, r->size, &v))
        return false;
    r->totals->readable += v.given;
    bool done;
    if (v.sound) {
        r->totals->events += v.events;
        r->totals->given += v.given;
        done = write_trace(r, r->bytes, r->size);
    } else {
        done = mend_trace(r);
    }
    parts_drop(r->memory, r->batches, r->capacity, sizeof *r->batches);
    repair_generations_drop(r, &r->generations);
    r->batches = NULL;
    r->count = r->capacity = 0;
    return done;
}

/* ---- the file ------------------------------------------------------------------------------- */

/* Offset of the next header at or after `at`. */
static size_t next_header(const uint8_t *bytes, size_t size, size_t at)
{
    while (at + PARTS_HEADER <= size) {
        const uint8_t *found = memchr(bytes + at, 'g', size - at);
        if (!found)
            break;
        at = (size_t)(found - bytes);
        if (parts_header_at(found, size - at))
            return at;
        at++;
    }
    return size;
}

static bool load(repair *r)
{
    parts_bytes *file = &r->file;
    uint64_t size = gotrace_source_size(r->job->source);
    return parts_grow(r->memory, &file->bytes, &file->capacity, (size_t)size + 1, 1, r->error) &&
           gotrace_source_read(r->job->source, 0, file->bytes, (size_t)size, &file->count,
                               r->error) >= 0;
}

/* Repair what precedes the first header; everything, if there is none. */
static bool headless(repair *r, bool *written)
{
    *written = false;
    if (r->size == 0)
        return true;
    if (!repair_guess_version(r))
        return false;
    if (r->version == 0)
        return true;
    *written = true;
    repair_report(r, REPAIR_HEADER, 0, (uint64_t)r->version,
                  "the header is lost; most of the bytes make sense as go 1.%d", r->version);
    return one_trace(r);
}

static bool all_traces(repair *r)
{
    const uint8_t *bytes = r->file.bytes;
    size_t size = r->file.count;
    size_t at = next_header(bytes, size, 0);
    bool written = false;
    r->bytes = bytes;
    r->size = at;
    r->trace = 1;
    r->last = at == size;
    if (at > 0 && !r->foreign && !headless(r, &written))
        return false;
    if (at > 0 && !written && at < size) {
        r->totals->bytes_lost += at;
        r->totals->identical = false;
        repair_report(r, REPAIR_BYTES, 0, at, "%zu byte%s before the trace", at, plural(at));
    }
    r->headless = false;
    for (size_t next; at < size; at = next) {
        next = next_header(bytes, size, at + PARTS_HEADER);
        if (r->totals->traces > 0) {
            r->trace++;
            r->base = at;
            r->totals->identical = false;
            repair_report(r, REPAIR_TRACE, 0, next - at, "another trace begins%s",
                          r->job->all       ? ""
                          : r->job->reading ? "; it is not read: gotrace repair --all writes each "
                                              "trace to its own file"
                                            : "; it is not written: --all writes each trace to its "
                                              "own file");
            if (!r->job->all)
                break;
        }
        r->bytes = bytes + at;
        r->base = at;
        r->size = next - at;
        r->last = next == size;
        r->version = parts_header_at(r->bytes, r->size);
        if (!one_trace(r))
            return false;
    }
    return true;
}

/* Detect by its beginning whether the file has another format; then *kind is the error to report.
 * It may still contain a trace with a header. False only on a system error or an exceeded limit. */
static bool find_kind(repair *r, gotrace_error *kind)
{
    gotrace_reader *reader;
    if (gotrace_reader_open(r->job->source, r->job->config, &reader, kind) == GOTRACE_OK) {
        gotrace_reader_close(reader);
        return true;
    }
    r->foreign = kind->rule == GOTRACE_RULE_HEADER_FOREIGN;
    if (kind->class_ == GOTRACE_CLASS_SYSTEM)
        *r->error = *kind;
    return kind->class_ != GOTRACE_CLASS_SYSTEM;
}

gotrace_status repair_write(const repair_job *job, repair_totals *totals, gotrace_error *error)
{
    static const gotrace_config usual;
    repair_job own = *job;
    parts_memory memory = {.limit = parts_limit(job->config)};
    own.config = job->config ? job->config : &usual;
    repair r = {.job = &own, .memory = &memory, .totals = totals, .error = error};
    *totals = (repair_totals){.identical = true, .sound = true};
    error->rule = GOTRACE_RULE_NONE;
    gotrace_error kind = {0};
    bool done = find_kind(&r, &kind) && load(&r) && all_traces(&r);
    parts_drop(&memory, r.batches, r.capacity, sizeof *r.batches);
    repair_generations_drop(&r, &r.generations);
    drop_file(&r);
    if (done && totals->traces == 0) {
        if (r.foreign)
            *error = kind;
        else
            fill_error(error, GOTRACE_RULE_HEADER_MAGIC, 0,
                       "the file contains no Go trace and no part of one");
        done = false;
    }
    return done ? GOTRACE_END : GOTRACE_ERROR;
}
