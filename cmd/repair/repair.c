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
        snprintf(f.message, sizeof f.message, "%s: %s, because: %s", which, rewritten(r), why);
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

void repair_report_bytes(repair *r, size_t at, size_t size, const char *where)
{
    const uint8_t *p = r->bytes + at, *end = p + size;
    char quote[GT_TEXT_QUOTE];
    if (repair_is_text(r, p, at + size)) {
        gt_text_quote(p, end, quote);
        repair_report(r, REPAIR_BYTES, at, size,
                      gt_text_run(p, end) == size
                          ? "%zu byte%s of text %s: \"%s\""
                          : "%zu byte%s %s, which begin with the text \"%s\"",
                      size, plural(size), where, quote);
    } else {
        repair_report(r, REPAIR_BYTES, at, size, "%zu byte%s %s", size, plural(size), where);
    }
}

bool repair_examine(repair *r, const uint8_t *bytes, size_t size, verdict_problem_fn each,
                    void *ctx, verdict *v)
{
    gotrace_source *source;
    if (repair_source(r, bytes, size, r->job->config, &source) < 0)
        return false;
    bool done = verdict_each(source, r->job->config, each, ctx, v, r->error);
    gotrace_source_close(source);
    return done;
}

/* ---- one trace ------------------------------------------------------------------------------ */

static bool write_trace(repair *r, const uint8_t *bytes, size_t size)
{
    out *o = r->job->next(r->job->ctx, r->trace);
    if (!o)
        return false;
    for (size_t at = 0, piece; at < size; at += piece) {
        piece = size - at < PARTS_PIECE ? size - at : PARTS_PIECE;
        out_bytes(o, bytes + at, piece);
        repair_release(r, piece);
    }
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
    repair_drop(r, &a->written);
    repair_generations_drop(r, &a->generations);
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
        repair_drop(r, &given);
    return done;
}

/* v1: whether the image turned out to be sound. */
static bool is_needless(const repair *r, const attempt *a)
{
    return !repair_is_v2(r) && a->rebuilt.image.sound;
}

static bool judge(repair *r, const parts_bytes *image, attempt *a)
{
    return put_kept(r, image, a) &&
           repair_generations_examine(r, &a->written, &a->generations, &a->verdict);
}

/* A lost event costs more than an added one. */
static uint64_t cost_of(const attempt *a)
{
    enum { WEIGHT = 4 };
    return a->rebuilt.changes.added + WEIGHT * a->rebuilt.changes.dropped;
}

/* v2: events whose times are raised, because in the reader's order they come after later ones. */
static uint64_t raised(const repair *r, const attempt *a)
{
    return repair_is_v2(r) ? a->rebuilt.changes.early : 0;
}

static bool is_cheaper(const repair *r, const attempt *a, const attempt *b)
{
    return cost_of(a) != cost_of(b) ? cost_of(a) < cost_of(b) : raised(r, a) < raised(r, b);
}

static bool is_better(const repair *r, const attempt *a, const attempt *b)
{
    return a->verdict.sound != b->verdict.sound ? a->verdict.sound : is_cheaper(r, a, b);
}

/* Whether the order of times would hardly give a better result. */
static bool is_good(const repair *r, const attempt *a)
{
    enum { FEW = 10000, SOME = 1000 }; /* one change in so many events is acceptable */
    const repair_changes *changes = &a->rebuilt.changes;
    if (!a->verdict.sound)
        return false;
    if (repair_is_v2(r))
        return changes->added + changes->dropped + changes->early <= changes->events / FEW;
    return changes->early == 0 ||
           (changes->dropped <= changes->events / FEW && changes->added <= changes->events / SOME);
}

/* Replace the result of rebuilding by that in the order of times, if it is better. */
static bool try_sorted(repair *r, const parts_bytes *image, attempt *best)
{
    attempt other = {.written = {0}};
    bool done = repair_rebuild(r, image, true, &other.written, &other.rebuilt);
    bool cheaper = !best->verdict.sound || is_cheaper(r, &other, best);
    done = done && (!cheaper || judge(r, image, &other));
    if (done && cheaper && is_better(r, &other, best)) {
        attempt worse = *best;
        *best = other;
        other = worse;
    }
    drop_attempt(r, &other);
    return done;
}

/* Rebuild in the reader's order, and if that changes much also in the order of times; take the
 * better result. */
static bool best_rebuild(repair *r, const parts_bytes *image, attempt *best)
{
    *best = (attempt){.written = {0}};
    bool done = repair_rebuild(r, image, false, &best->written, &best->rebuilt);
    if (done && is_needless(r, best))
        return true;
    done = done && judge(r, image, best) && (is_good(r, best) || try_sorted(r, image, best));
    if (!done)
        drop_attempt(r, best);
    return done;
}

/* Report which generations were rebuilt and which were kept. */
static void emit_runs(repair *r, const char *why)
{
    const repair_generations *g = &r->generations;
    if (g->count == 0)
        repair_report(r, REPAIR_REWRITTEN, GOTRACE_NO_OFFSET, 1, "all %s, because: %s",
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

static void report_rebuilt(repair *r, const repair_changes *rebuilt, const char *why)
{
    emit_runs(r, why);
    r->totals->added += rebuilt->added;
    r->totals->dropped += rebuilt->dropped;
    /* From 1.22 on the reader raises times too. */
    if (rebuilt->early > 0 && !repair_is_v2(r))
        repair_report(r, REPAIR_CLOCK, GOTRACE_NO_OFFSET, rebuilt->most_early,
                      "%" PRIu64 " event%s had earlier times than those before them, by at most "
                      "%" PRIu64 " tick%s; the times were raised",
                      rebuilt->early, plural(rebuilt->early), rebuilt->most_early,
                      plural(rebuilt->most_early));
    if (rebuilt->added > 0)
        repair_report(r, REPAIR_ADDED, GOTRACE_NO_OFFSET, rebuilt->added,
                      "added: %" PRIu64 " event%s without which others could not have happened",
                      rebuilt->added, plural(rebuilt->added));
    if (rebuilt->dropped > 0)
        repair_report(r, REPAIR_DROPPED, GOTRACE_NO_OFFSET, rebuilt->dropped,
                      "left out: %" PRIu64 " event%s that cannot have happened; the first: %s",
                      rebuilt->dropped, plural(rebuilt->dropped), rebuilt->why.message);
}

/* Replace the image by the result. */
static void accept(repair *r, parts_bytes *image, attempt *a, repair_changes *sum, verdict *v)
{
    const repair_changes *changes = &a->rebuilt.changes;
    if (sum->dropped == 0)
        sum->why = changes->why;
    sum->added += changes->added;
    sum->dropped += changes->dropped;
    sum->early += changes->early;
    sum->most_early = changes->most_early > sum->most_early ? changes->most_early : sum->most_early;
    repair_drop(r, image);
    repair_generations_drop(r, &r->generations);
    *image = a->written;
    *v = a->verdict;
    r->generations = a->generations;
    r->rebuilt_before = true;
}

/* v2: keep as many generations as possible. If the result is not sound, keep none. */
static bool rebuild_some(repair *r, parts_bytes *image, verdict *v, repair_changes *sum)
{
    enum { MOST_CHOICES = 6 };
    if (!repair_generations_keep(r, image))
        return false;
    for (int i = 0; i < MOST_CHOICES && r->generations.count > 0; i++) {
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

enum { MOST_TIMES = 4 };

/* Rebuild repeatedly, if it is not sound: added events may require further ones. */
static bool rebuild_again(repair *r, parts_bytes *image, verdict *v, repair_changes *sum, int times)
{
    for (int i = 0; i < times && !v->sound; i++) {
        attempt best;
        if (!best_rebuild(r, image, &best))
            return false;
        accept(r, image, &best, sum, v);
    }
    return true;
}

static bool rebuild_image(repair *r, parts_bytes *image, verdict *v, repair_changes *sum)
{
    r->rebuilt_before = false;
    return rebuild_some(r, image, v, sum) && rebuild_again(r, image, v, sum, MOST_TIMES);
}

/* v2: rebuild only the generations around the broken ones; if the whole is not sound then, change
 * nothing. */
static bool rebuild_window(repair *r, parts_bytes *image, verdict *v, repair_changes *sum)
{
    repair_window w;
    repair_changes own = {0};
    verdict now;
    parts_bytes whole = {0};
    bool inserted = false;
    bool done = repair_window_open(r, image, &w);
    if (done && w.open) {
        done = repair_examine(r, w.image.bytes, w.image.count, NULL, NULL, &now) &&
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
    repair_drop(r, &whole);
    return done;
}

/* v1: rebuild the image if it violates rules. Rebuilding shows whether it does, so that the image
 * is read once. */
static bool rebuild_v1(repair *r, parts_bytes *image, verdict *v)
{
    repair_changes sum = {0};
    attempt best;
    r->rebuilt_before = false;
    if (!best_rebuild(r, image, &best))
        return false;
    const verdict before = *v = best.rebuilt.image;
    if (before.sound) {
        drop_attempt(r, &best);
        return true;
    }
    accept(r, image, &best, &sum, v);
    if (!rebuild_again(r, image, v, &sum, MOST_TIMES - 1))
        return false;
    report_rebuilt(r, &sum, before.first.message);
    return true;
}

/* v2: rebuild the image if it violates rules. */
static bool rebuild_v2(repair *r, parts_bytes *image, verdict *v)
{
    repair_changes sum = {0};
    if (!repair_generations_examine(r, image, &r->generations, v))
        return false;
    const verdict before = *v;
    if (before.sound)
        return true;
    if (!rebuild_window(r, image, v, &sum) || (!v->sound && !rebuild_image(r, image, v, &sum)))
        return false;
    report_rebuilt(r, &sum, before.first.message);
    return true;
}

static void drop_file(repair *r)
{
    repair_drop(r, &r->file);
    r->bytes = NULL;
}

static void drop_batches(repair *r)
{
    parts_drop(r->memory, r->batches, r->capacity, sizeof *r->batches);
    repair_generations_drop(r, &r->generations);
    r->batches = NULL;
    r->count = r->capacity = 0;
}

static bool make_image(repair *r, parts_bytes *image)
{
    return repair_scan(r) && repair_mend(r) && repair_image(r, image);
}

static bool mend_trace(repair *r)
{
    parts_bytes image = {0};
    verdict v;
    bool done = make_image(r, &image);
    if (r->last)
        drop_file(r);
    done = done && (repair_is_v2(r) ? rebuild_v2(r, &image, &v) : rebuild_v1(r, &image, &v));
    if (done) {
        r->totals->timed_records += v.timed_records;
        r->totals->events += v.events;
        r->totals->sound = r->totals->sound && v.sound;
        r->totals->identical = false;
        if (!v.sound)
            repair_report(r, REPAIR_DROPPED, GOTRACE_NO_OFFSET, 0, "it still is not sound: %s",
                          v.first.message);
        done = write_trace(r, image.bytes, image.count);
    }
    repair_drop(r, &image);
    return done;
}

/* Whether times of a sound trace are altered. False only on a system error or an exceeded limit. */
static bool find_altered(repair *r, bool *altered)
{
    gotrace_source *source;
    gotrace_reader *reader = NULL;
    gotrace_error damage = {.rule = GOTRACE_RULE_NONE};
    gotrace_config config = *r->job->config;
    config.on_problem = NULL;
    config.on_progress = NULL;
    if (repair_source(r, r->bytes, r->size, &config, &source) < 0)
        return false;
    bool done = gotrace_reader_open(source, &config, &reader, r->error) >= 0;
    if (done && gotrace_reader_find_damage(reader, &damage) < 0) {
        *r->error = *gotrace_reader_error(reader);
        done = false;
    }
    gotrace_reader_close(reader);
    gotrace_source_close(source);
    *altered = damage.rule != GOTRACE_RULE_NONE;
    return done;
}

/* Whether the times of a sound trace can be corrected so that it stays sound. */
static bool try_image(repair *r, bool *better)
{
    const repair_totals totals = *r->totals;
    parts_bytes image = {0};
    verdict v = {.sound = false};
    r->quiet = true;
    bool done = make_image(r, &image) &&
                repair_examine(r, image.bytes, image.count, NULL, NULL, &v);
    r->quiet = false;
    *r->totals = totals;
    *better = v.sound;
    repair_drop(r, &image);
    drop_batches(r);
    return done;
}

static bool one_trace(repair *r)
{
    verdict v = {.sound = false};
    bool altered = false;
    r->totals->traces++;
    if (!r->headless && !repair_examine(r, r->bytes, r->size, NULL, NULL, &v))
        return false;
    if (v.sound && v.counts[GOTRACE_RULE_CLOCK_BACK] > 0 &&
        (!find_altered(r, &altered) || (altered && !try_image(r, &altered))))
        return false;
    bool done;
    if (v.sound && !altered) {
        r->totals->timed_records += v.timed_records;
        r->totals->events += v.events;
        done = write_trace(r, r->bytes, r->size);
    } else {
        done = mend_trace(r);
    }
    drop_batches(r);
    return done;
}

/* ---- the file ------------------------------------------------------------------------------- */

/* Offset of the next header at or after `at`. */
static size_t next_header(repair *r, const uint8_t *bytes, size_t size, size_t at)
{
    for (size_t stop; at + PARTS_HEADER <= size; at = stop) {
        stop = size - at < PARTS_PIECE ? size : at + PARTS_PIECE;
        for (const uint8_t *p = bytes + at; (p = memchr(p, 'g', (size_t)(bytes + stop - p))); p++)
            if (parts_header_at(p, (size_t)(bytes + size - p)))
                return (size_t)(p - bytes);
        repair_release(r, stop - at);
    }
    return size;
}

/* Append the next bytes of the source; their number is in *got. */
static bool load_piece(repair *r, uint64_t offset, size_t *got)
{
    parts_bytes *file = &r->file;
    *got = 0;
    return repair_reserve(r, file, PARTS_PIECE) &&
           gotrace_source_read(r->job->source, offset, file->bytes + file->count, PARTS_PIECE, got,
                               r->error) >= 0;
}

/* To read a damaged trace, one larger than the limit of memory is not copied to a file. */
static bool check_size(repair *r)
{
    uint64_t limit = r->memory->limit;
    if (!r->job->reading || gotrace_source_size(r->job->source) <= limit)
        return true;
    fill_error(r->error, GOTRACE_RULE_SYSTEM_LIMIT, GOTRACE_NO_OFFSET,
               "the tables need more than %" PRIu64 " bytes, the limit", limit);
    return false;
}

static bool load(repair *r)
{
    bool done = check_size(r);
    uint64_t offset = 0;
    size_t got = PARTS_PIECE;
    for (; done && got == PARTS_PIECE; offset += got) {
        done = load_piece(r, offset, &got);
        r->file.count += got;
        repair_release(r, got);
    }
    return done && repair_complete(r, &r->file);
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
    size_t at = next_header(r, bytes, size, 0);
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
        repair_report_bytes(r, 0, at, "before the trace");
    }
    r->headless = false;
    for (size_t next; at < size; at = next) {
        next = next_header(r, bytes, size, at + PARTS_HEADER);
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
        repair_set_version(r, parts_header_at(r->bytes, r->size));
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
    repair_store store = {.unreleased = 0};
    repair r = {.job = &own, .memory = &memory, .store = &store, .totals = totals, .error = error};
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
