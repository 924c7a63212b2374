/* repair_retell.c - the events of a trace that breaks rules, told to a writer. */
#include "repair_retell.h"

#include <inttypes.h>
#include <stdlib.h>

enum { SECOND = 1000000000 };

static bool fail(retelling *t, const gotrace_error *error)
{
    *t->r->error = *error;
    t->failed = true;
    return false;
}

static bool write_bytes(void *ctx, const void *bytes, size_t size)
{
    retelling *t = ctx;
    return repair_put(t->r, t->written, bytes, size);
}

/* ---- times, strings and stacks -------------------------------------------------------------- */

/* v2's times are nanoseconds. */
static uint64_t ticks_of(const retelling *t, uint64_t ticks)
{
    __extension__ typedef unsigned __int128 wide;
    return repair_is_v2(t->r) ? (uint64_t)((wide)ticks * t->frequency / SECOND) : ticks;
}

static bool at(retelling *t, uint64_t ticks)
{
    if (ticks > t->now)
        t->now = ticks;
    return gotrace_writer_at(t->writer, t->now) >= 0 || fail(t, gotrace_writer_error(t->writer));
}

static uint64_t string_of(retelling *t, int64_t proc, uint64_t id)
{
    size_t size = 0;
    const char *bytes = gotrace_reader_string(t->reader, id, &size);
    uint64_t made = 0;
    if (gotrace_writer_string(t->writer, proc, bytes, bytes ? size : 0, &made) < 0)
        fail(t, gotrace_writer_error(t->writer));
    return made;
}

static uint64_t stack_of(retelling *t, uint64_t id)
{
    uint64_t made = 0;
    size_t count = gotrace_reader_stack(t->reader, id, t->frames, MOST_FRAMES);
    if (gotrace_writer_stack(t->writer, t->frames, count, &made) < 0)
        fail(t, gotrace_writer_error(t->writer));
    return made;
}

/* The arguments as a writer wants them. */
static size_t args_of(retelling *t, const gotrace_event *e, const gotrace_event_spec *spec,
                      uint64_t *values)
{
    const gotrace_arg_spec *all[GOTRACE_MAX_ARGS];
    int version = t->r->version;
    size_t count = gotrace_event_args(spec, version, all), n = 0, k = 0;
    if (repair_is_v2(t->r) && spec->code == V2_SAMPLE) {
        values[0] = ticks_of(t, e->ticks);
        memcpy(values + 1, e->args, 3 * sizeof *values);
        return 4;
    }
    if (spec->flags & GOTRACE_SPEC_STACK)
        count--;
    for (size_t i = 0; i < count && k < 4; i++) {
        unsigned kind = all[i]->kind;
        if (kind == GOTRACE_ARG_DSEQ || kind == GOTRACE_ARG_DT)
            continue;
        uint64_t v = e->args[k++];
        if (kind == GOTRACE_ARG_SEQ)
            continue;
        if (kind == GOTRACE_ARG_STRING)
            v = string_of(t, e->proc, v);
        else if (kind == GOTRACE_ARG_STACK || (kind == GOTRACE_ARG_START && version >= 7))
            v = stack_of(t, v);
        values[n++] = v;
    }
    return n;
}

/* ---- events --------------------------------------------------------------------------------- */

bool retell_hand(retelling *t, const gotrace_happening *h)
{
    if (t->failed)
        return false;
    if (gotrace_writer_event(t->writer, h) >= 0) {
        retell_follow(t, h);
        return !t->failed;
    }
    const gotrace_error *error = gotrace_writer_error(t->writer);
    if (error->class_ == GOTRACE_CLASS_SYSTEM)
        return fail(t, error);
    return false;
}

static bool sync(retelling *t, const gotrace_event *e)
{
    gotrace_clocks clocks = {ticks_of(t, e->args[0]), e->args[1], e->args[2], e->args[3]};
    if (!at(t, ticks_of(t, e->ticks)))
        return false;
    return gotrace_writer_advance(t->writer, e->flags & GOTRACE_EVENT_CLOCKS ? &clocks : NULL) >=
               0 ||
           fail(t, gotrace_writer_error(t->writer));
}

static bool is_status(const retelling *t, unsigned code)
{
    enum {
        PROC_STATUS = 13,
        GO_STATUS = 25,
        GC_ACTIVE = 28,
        SWEEP_ACTIVE = 31,
        ASSIST_ACTIVE = 34,
        GO_STATUS_STACK = 48
    };
    return repair_is_v2(t->r) &&
           (code == PROC_STATUS || code == GO_STATUS || code == GC_ACTIVE || code == SWEEP_ACTIVE ||
            code == ASSIST_ACTIVE || code == GO_STATUS_STACK);
}

/* Of up to three events that one record of v2 tells, the one that is the record. */
static bool is_record(const retelling *t, const gotrace_event *e)
{
    return !repair_is_v2(t->r) || e->type == 0 ||
           (e->offset < t->image->count && t->image->bytes[e->offset] == e->type);
}

/* A goroutine of no number, and a thread with two of them, no writer takes for what it is. */
static bool cannot_be(const retelling *t, const gotrace_happening *h)
{
    enum { STATUS = 25, STATUS_STACK = 48, RUNNING = 2, IN_SYSCALL = 3 };
    const gotrace_arg_spec *args[GOTRACE_MAX_ARGS];
    unsigned code = h->spec->code;
    bool v2 = repair_is_v2(t->r);
    size_t count = gotrace_writer_args(h->spec, t->r->version, args);
    if (code == (v2 ? V2_SAMPLE : V1_SAMPLE) || count == 0)
        return false;
    if (args[0]->kind == GOTRACE_ARG_GOROUTINE && h->args[0] == 0)
        return true;
    if (!v2 || (code != STATUS && code != STATUS_STACK) ||
        (h->args[2] != RUNNING && h->args[2] != IN_SYSCALL))
        return false;
    const m_life *m = idmap_find(&t->threads, h->args[1]);
    const g_life *g = idmap_find(&t->goroutines, h->args[0]);
    if (g && g->placed && (uint64_t)g->place != h->args[1])
        return true; /* it would be in two places */
    if (h->args[2] == RUNNING && (!m || !m->has_p))
        return true; /* the context of what it does will tell */
    return m && m->g != 0 && m->g != h->args[0];
}

static void drop(retelling *t, const gotrace_event *e)
{
    if (is_status(t, e->type))
        return;
    if (t->dropped++ == 0)
        t->why = *gotrace_writer_error(t->writer);
}

static bool tell(retelling *t, const gotrace_event *e)
{
    const gotrace_event_spec *spec = gotrace_event_spec_of(t->r->version, e->type);
    if (!spec || !at(t, ticks_of(t, e->ticks)))
        return !t->failed;
    uint64_t args[GOTRACE_MAX_ARGS] = {0};
    bool data = (spec->flags & GOTRACE_SPEC_DATA) != 0;
    gotrace_happening h = {.spec = spec,
                           .proc = e->flags & GOTRACE_EVENT_MOVED ? GOTRACE_NO_PROC : e->proc,
                           .thread = e->thread,
                           .goroutine = e->goroutine,
                           .args = args,
                           .stack = stack_of(t, e->stack),
                           .data = data ? e->message : NULL,
                           .data_size = data ? e->message_size : 0};
    h.arg_count = args_of(t, e, spec, args);
    if (t->failed)
        return false;
    bool possible = !cannot_be(t, &h);
    t->first_try = true;
    if (possible && (retell_hand(t, &h) || t->failed))
        return !t->failed;
    if (possible && retell_steer(t, &h) && (t->failed || retell_hand(t, &h)))
        return !t->failed;
    if (!t->failed)
        drop(t, e);
    return !t->failed;
}

/* v1: goroutines that run timers may do more than others. */
static bool tell_timers(retelling *t)
{
    const uint8_t *p = t->image->bytes + PARTS_HEADER, *end = t->image->bytes + t->image->count;
    repair_record record;
    if (repair_is_v2(t->r))
        return true;
    for (; repair_record_at(t->r->version, p, end, &record); p += record.size) {
        if (record.spec->code != V1_TIMER)
            continue;
        gotrace_happening h = {.spec = record.spec, .args = record.args, .arg_count = 1};
        if (!retell_hand(t, &h) && t->failed)
            return false;
    }
    return true;
}

static gotrace_status next_event(retelling *t, gotrace_event *e)
{
    gotrace_status status = gotrace_reader_next(t->reader, e);
    t->frequency = gotrace_reader_summary(t->reader)->frequency;
    if (status == GOTRACE_ERROR)
        fail(t, gotrace_reader_error(t->reader));
    return status;
}

static bool tell_all(retelling *t)
{
    gotrace_event e;
    gotrace_writer_options options = {.generation_ticks = UINT64_MAX, .equal_ticks = true};
    gotrace_status status = next_event(t, &e);
    options.frequency = t->frequency;
    if (status < 0)
        return false;
    if (gotrace_writer_new(t->r->version, &options, write_bytes, t, t->r->job->config, &t->writer,
                           t->r->error) < 0)
        return false;
    if (!tell_timers(t))
        return false;
    for (; status == GOTRACE_EVENT; status = next_event(t, &e)) {
        bool done = repair_is_v2(t->r) && e.type == 0 ? sync(t, &e)
                                                      : !is_record(t, &e) || tell(t, &e);
        if (!done)
            return false;
    }
    if (status != GOTRACE_END)
        return false;
    return gotrace_writer_finish(t->writer) >= 0 || fail(t, gotrace_writer_error(t->writer));
}

bool repair_retell(repair *r, const parts_bytes *image, parts_bytes *written)
{
    retelling *t = calloc(1, sizeof *t);
    gotrace_config config = {.limits = r->job->config->limits,
                             .spool_dir = r->job->config->spool_dir};
    if (!t) {
        parts_fail(r->error, GOTRACE_RULE_SYSTEM_MEMORY, GOTRACE_NO_OFFSET, "out of memory");
        return false;
    }
    t->r = r;
    t->image = image;
    t->written = written;
    idmap_init(&t->goroutines, sizeof(g_life));
    idmap_init(&t->procs, sizeof(p_life));
    idmap_init(&t->threads, sizeof(m_life));
    bool done = gotrace_source_memory(image->bytes, image->count, &config, &t->source, r->error) >=
                    0 &&
                gotrace_reader_open(t->source, &config, &t->reader, r->error) >= 0 && tell_all(t);
    gotrace_writer_free(t->writer);
    gotrace_reader_close(t->reader);
    gotrace_source_close(t->source);
    idmap_free(&t->goroutines);
    idmap_free(&t->procs);
    idmap_free(&t->threads);
    if (done && t->added > 0)
        repair_tell(r, REPAIR_ADDED, GOTRACE_NO_OFFSET, t->added,
                    "%" PRIu64 " events were made up, so that others can have happened", t->added);
    if (done && t->dropped > 0)
        repair_tell(r, REPAIR_DROPPED, GOTRACE_NO_OFFSET, t->dropped,
                    "%" PRIu64 " events cannot have happened, and were left out; the first: %.100s",
                    t->dropped, t->why.message);
    if (done) {
        r->totals->added += t->added;
        r->totals->dropped += t->dropped;
    }
    free(t);
    return done;
}
