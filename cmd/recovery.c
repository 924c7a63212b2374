#include "cmd/recovery.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/diag.h"
#include "cmd/losses.h"
#include "formats/common/plural.h"
#include "formats/common/spool.h"
#include "formats/common/vector.h"
#include "gotrace_record.h"

enum {
    MAX_PER_KIND = 3, /* findings printed as text per kind, to keep the report short */
    MAX_FINDINGS = 1 << 16,
    MAX_GAPS = 1000,
};

typedef enum recovery {
    RECOVERY_DONE,
    RECOVERY_USELESS, /* nothing to gain, or the trace is larger than a repair may read */
    RECOVERY_FAILED,  /* a call of the operating system failed, or memory ran out; reported */
} recovery;

/* Findings are collected and reported only if the recovered trace is used. */
typedef struct recovering {
    int fd;
    int error; /* errno of the first failed write */
    out out;
    repair_finding *list;
    bool refused; /* memory for a finding or a gap was */
    size_t count, capacity;
    ticks_gap *gaps;
    size_t gap_count, gap_room;
    losses losses;
} recovering;

static out *next_trace(void *ctx, unsigned trace)
{
    (void)trace;
    return &((recovering *)ctx)->out;
}

static bool write_trace(void *ctx, const void *bytes, size_t size)
{
    recovering *r = ctx;
    bool done = spool_write_file(&r->fd, bytes, size);
    if (!done && r->error == 0)
        r->error = errno;
    return done;
}

/* Findings above the limit are only counted. */
static void collect_finding(void *ctx, const repair_finding *finding)
{
    recovering *r = ctx;
    bool wanted = r->losses.json
                      ? r->count < MAX_FINDINGS
                      : r->losses.limit == 0 || r->losses.found[finding->kind] < r->losses.limit;
    if (wanted && r->count == r->capacity) {
        size_t capacity = 2 * r->capacity + 16;
        repair_finding *list = realloc(r->list, capacity * sizeof *list);
        r->refused |= !list;
        r->list = list ? list : r->list;
        r->capacity = list ? capacity : r->capacity;
    }
    if (wanted && r->count < r->capacity)
        r->list[r->count++] = *finding;
    r->losses.found[finding->kind]++;
}

/* What is above the limit makes the last gap longer. */
static void collect_gap(void *ctx, uint64_t begin, uint64_t end)
{
    recovering *r = ctx;
    if (r->gap_count == MAX_GAPS) {
        ticks_gap *last = &r->gaps[MAX_GAPS - 1];
        last->begin = begin < last->begin ? begin : last->begin;
        last->end = end > last->end ? end : last->end;
        return;
    }
    ticks_gap *list = vector_room(r->gaps, &r->gap_room, r->gap_count, sizeof *list);
    r->refused |= !list;
    r->gaps = list ? list : r->gaps;
    if (list)
        r->gaps[r->gap_count++] = (ticks_gap){begin, end};
}

/* Returns false and sets *error if there is no trace or a system call fails. */
static bool repair_into(recovering *r, const input *in, repair_totals *totals, gotrace_error *error)
{
    gotrace_config config = input_quiet(in);
    repair_job job = {.source = in->source,
                      .config = &config,
                      .reading = true,
                      .next = next_trace,
                      .report = collect_finding,
                      .lost = collect_gap,
                      .ctx = r};
    bool done = repair_write(&job, totals, error) >= 0;
    if (done && out_flush(&r->out) && lseek(r->fd, 0, SEEK_SET) == 0)
        return true;
    if (done || r->error)
        fill_error(error, GOTRACE_RULE_SYSTEM_WRITE, GOTRACE_NO_OFFSET,
                   "cannot write a temporary file: %s", strerror(r->error ? r->error : errno));
    return false;
}

static void report_losses(recovering *r, const repair_totals *t)
{
    losses l = r->losses;
    memset(l.found, 0, sizeof l.found);
    for (size_t i = 0; i < r->count; i++)
        losses_report(&l, &r->list[i]);
    losses_end(&r->losses, t);
    if (!l.json)
        diag_problem_note(l.file, GOTRACE_NO_OFFSET,
                          "recovered: %" PRIu64 " event%s; %" PRIu64 " byte%s lost, %" PRIu64
                          " event%s added, %" PRIu64 " left out",
                          t->events, plural(t->events), t->bytes_lost, plural(t->bytes_lost),
                          t->added, plural(t->added), t->dropped);
}

/* Replace the damaged trace by the recovered one. */
static bool use_recovered(recovering *r, input *in, const repair_totals *totals,
                          gotrace_error *error)
{
    gotrace_source *source;
    gotrace_reader *reader;
    if (gotrace_source_fd(r->fd, &in->config, &source, error) < 0)
        return false;
    if (gotrace_reader_open(source, &in->config, &reader, error) < 0) {
        gotrace_source_close(source);
        return false;
    }
    gotrace_reader_close(in->reader);
    in->reader = reader;
    in->damaged = in->source;
    in->source = source;
    in->recovered = r->fd;
    in->found.recovered = true;
    in->lost_bytes = totals->bytes_lost;
    in->gaps = r->gaps;
    in->gap_count = r->gap_count;
    r->gaps = NULL;
    r->fd = -1;
    return true;
}

/* Whether the recovered trace has events, and data is lost or times are altered. If rules are
 * violated, and nothing else is wrong, events are read as recorded. */
static bool is_gain(const recovering *r, const repair_totals *t, const gotrace_error *damage)
{
    static const repair_kind none_lost[] = {REPAIR_REWRITTEN, REPAIR_KEPT, REPAIR_ADDED,
                                            REPAIR_DROPPED, REPAIR_CLOCK};
    uint64_t found = 0;
    for (unsigned kind = 0; kind < REPAIR_KIND_COUNT; kind++)
        found += r->losses.found[kind];
    for (size_t i = 0; i < sizeof none_lost / sizeof *none_lost; i++)
        found -= r->losses.found[none_lost[i]];
    if (damage->class_ == GOTRACE_CLASS_CLOCKS)
        found += r->losses.found[REPAIR_CLOCK];
    return t->timed_records > t->added && found > 0;
}

/* Returns RECOVERY_FAILED only with *error set. */
static recovery recover(recovering *r, input *in, const gotrace_error *damage, gotrace_error *error)
{
    repair_totals totals;
    if (r->fd < 0) {
        fill_error(error, GOTRACE_RULE_SYSTEM_WRITE, GOTRACE_NO_OFFSET,
                   "cannot create a temporary file: %s", strerror(errno));
        return RECOVERY_FAILED;
    }
    if (!out_init(&r->out, write_trace, r)) {
        fill_error(error, GOTRACE_RULE_SYSTEM_MEMORY, GOTRACE_NO_OFFSET, "out of memory");
        return RECOVERY_FAILED;
    }
    if (repair_into(r, in, &totals, error)) {
        if (r->refused) {
            fill_error(error, GOTRACE_RULE_SYSTEM_MEMORY, GOTRACE_NO_OFFSET, "out of memory");
            return RECOVERY_FAILED;
        }
        if (!is_gain(r, &totals, damage))
            return RECOVERY_USELESS;
        if (use_recovered(r, in, &totals, error)) {
            if (damage->rule != GOTRACE_RULE_NONE)
                findings_add(&in->found, damage);
            report_losses(r, &totals);
            return RECOVERY_DONE;
        }
    }
    if (error->class_ != GOTRACE_CLASS_SYSTEM)
        return RECOVERY_USELESS;
    if (error->rule != GOTRACE_RULE_SYSTEM_LIMIT)
        return RECOVERY_FAILED;
    if (in->reader)
        diag_problem_note(in->name, GOTRACE_NO_OFFSET, "not recovered: %s", error->message);
    return RECOVERY_USELESS;
}

/* Recovers the trace of in->source, reports the damage (rule GOTRACE_RULE_NONE: it was reported)
 * and what was lost, and reads the recovered trace from now on. If it is not recovered, in is
 * unchanged except for its findings. */
static recovery read_recovered(input *in, const gotrace_error *damage)
{
    recovering r = {.fd = spool_file(NULL),
                    .losses = {.file = in->name,
                               .json = in->found.json,
                               .type = "loss",
                               .total = "recovered",
                               .limit = in->found.verbose ? in->found.limit : MAX_PER_KIND}};
    gotrace_error error = {.rule = GOTRACE_RULE_NONE}, reported;
    recovery result = recover(&r, in, damage, &error);
    if (result == RECOVERY_FAILED) {
        fill_error(&reported, error.rule, GOTRACE_NO_OFFSET,
                   "not recovered: %s; with --no-recover the data before the damage is read",
                   error.message);
        findings_add(&in->found, &reported);
    }
    out_free(&r.out);
    free(r.list);
    free(r.gaps);
    if (r.fd >= 0)
        close(r.fd);
    return result;
}

/* Recovers the trace if it is damaged; false if the verb has nothing to read. */
static bool recover_if_damaged(input *in, bool opened, bool no_recover)
{
    if (!in->source || no_recover)
        return opened;
    /* Damage has to be known before the first event is read. The first pass is made only once; if
     * it fails, the first event returns the error. */
    gotrace_error damage = {.rule = GOTRACE_RULE_NONE};
    if (opened)
        gotrace_reader_index(in->reader);
    if (opened && !in->loses) {
        gotrace_reader_find_damage(in->reader, &damage);
        in->loses = damage.rule != GOTRACE_RULE_NONE;
    }
    switch (in->loses ? read_recovered(in, &damage) : RECOVERY_USELESS) {
    case RECOVERY_DONE: return true;
    case RECOVERY_USELESS: return opened;
    case RECOVERY_FAILED: break;
    }
    /* What can be read without a recovery is not what was asked for. */
    gotrace_reader_close(in->reader);
    in->reader = NULL;
    return false;
}

bool recovery_open(input *in, session *s, const char *path, bool no_recover)
{
    return recover_if_damaged(in, input_open_reader(in, s, path), no_recover);
}

/* Checks a trace of the second format before damage is searched for, which is needless if nothing
 * is found, as in most traces: in those it would take a fifth of the time. False: there is damage,
 * or it is not known; the trace is to be read again. */
static bool check_first(input *in)
{
    gotrace_error damage = {.rule = GOTRACE_RULE_NONE};
    in->collects = true;
    bool stands = gotrace_reader_index(in->reader) >= 0 && !in->loses &&
                  gotrace_reader_check(in->reader) == GOTRACE_END && !in->loses &&
                  gotrace_reader_find_damage(in->reader, &damage) >= 0 &&
                  damage.rule == GOTRACE_RULE_NONE;
    if (stands) {
        input_end_collecting(in, true);
        return true;
    }
    gotrace_error error = GOTRACE_INIT(gotrace_error);
    gotrace_reader_close(in->reader);
    in->reader = NULL;
    bool again = gotrace_reader_open(in->source, &in->config, &in->reader, &error) >= 0;
    input_end_collecting(in, false);
    in->loses = false;
    if (!again)
        findings_add(&in->found, &error);
    return false;
}

bool recovery_check(input *in, session *s, const char *path, bool no_recover)
{
    bool opened = input_open_reader(in, s, path);
    bool early = opened && !no_recover && !in->loses &&
                 gotrace_reader_summary(in->reader)->version >= GOTRACE_FIRST_V2;
    if (early && check_first(in))
        return true;
    if (!recover_if_damaged(in, opened && in->reader, no_recover))
        return false;
    if (gotrace_reader_check(in->reader) == GOTRACE_ERROR)
        findings_add(&in->found, gotrace_reader_error(in->reader));
    return true;
}

static bool discard(void *ctx, const void *bytes, size_t size)
{
    (void)ctx, (void)bytes, (void)size;
    return true;
}

static out *discard_trace(void *ctx, unsigned trace)
{
    (void)trace;
    return ctx;
}

static void ignore_finding(void *ctx, const repair_finding *finding)
{
    (void)ctx, (void)finding;
}

bool recovery_measure(const input *in, uint64_t *kept)
{
    gotrace_config config = input_quiet(in);
    gotrace_error error = {0};
    repair_totals totals;
    out o;
    if (!out_init(&o, discard, NULL))
        return false;
    repair_job job = {.source = in->source,
                      .config = &config,
                      .reading = true,
                      .next = discard_trace,
                      .report = ignore_finding,
                      .ctx = &o};
    bool done = repair_write(&job, &totals, &error) >= 0;
    out_free(&o);
    if (!done || totals.timed_records <= totals.added)
        return false;
    *kept = totals.events - totals.added;
    return true;
}

/* Makes the trace in a temporary file. Returns its descriptor, or -1 with *error set. */
static int recover_crash(const input *in, gotrace_error *error)
{
    int fd = spool_file(in->config.spool_dir);
    if (fd < 0) {
        fill_error(error, GOTRACE_RULE_SYSTEM_WRITE, GOTRACE_NO_OFFSET,
                   "cannot create a temporary file: %s", strerror(errno));
        return -1;
    }
    if (gotrace_recover(in->source, NULL, NULL, spool_write_file, &fd, &in->config, error) ==
            GOTRACE_OK &&
        lseek(fd, 0, SEEK_SET) == 0)
        return fd;
    close(fd);
    return -1;
}

bool recovery_of_crash(input *in)
{
    gotrace_error error = {.rule = GOTRACE_RULE_NONE};
    gotrace_source *source;
    if (!gotrace_is_crash_file(in->source))
        return true;
    int fd = recover_crash(in, &error);
    if (fd < 0 || gotrace_source_fd(fd, &in->config, &source, &error) < 0) {
        findings_add(&in->found, &error);
        if (fd >= 0)
            close(fd);
        return false;
    }
    in->damaged = in->source;
    in->recovered = fd;
    in->source = source;
    if (!in->found.json)
        diag_problem_note(in->name, GOTRACE_NO_OFFSET,
                          "a crash file of a recorder; the trace was made of its buffers");
    return true;
}
