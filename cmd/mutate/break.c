/*
 * break.c - violate one rule in a sound trace, with the changes of gen (cmd/gen/defect.h).
 *
 * They need a goroutine that runs on a proc and thread and has no later events. The reader finds
 * the candidates; each is tried until the reader reports that rule and no other.
 */
#include <stdlib.h>

#include "cmd/gen/defect.h"
#include "gotrace_experimental.h"
#include "formats/common/idmap.h"
#include "cmd/mutate/mutate.h"
#include "cmd/gen/job.h"

/* The last goroutine on a proc (v1) or thread. */
typedef struct last {
    gen_tail tail;
    bool runs;
    bool ready; /* v1: it has yielded, as a goroutine that stops tracing does, and can be restarted
                   there */
    uint64_t order;  /* number of its last event */
    uint64_t offset; /* offset of that event */
} last;

/* v2: the last sequence number of a proc in a generation. */
typedef struct proc_numbering {
    uint64_t generation, seq;
} proc_numbering;

typedef struct last_goroutines {
    idmap owners; /* owner -> last */
    idmap procs;  /* v2: proc -> proc_numbering */
    uint64_t events;
    last *list; /* of all owners, in the order of attempts */
    size_t count, capacity;
} last_goroutines;

/* The value of that id, all zero if it is new. */
static void *value_of(mutate *m, idmap *map, uint64_t id)
{
    void *value = idmap_insert(map, id);
    if (!value)
        fill_error(m->error, GOTRACE_RULE_SYSTEM_MEMORY, GOTRACE_NO_OFFSET, "out of memory");
    return value;
}

/* The number of that proc in the current generation, in which it starts at 0. */
static proc_numbering *proc_number(mutate *m, last_goroutines *l, uint64_t proc,
                                   uint64_t generation)
{
    proc_numbering *n = value_of(m, &l->procs, proc);
    if (n && n->generation != generation)
        *n = (proc_numbering){.generation = generation};
    return n;
}

static bool follow_number(mutate *m, last_goroutines *l, const gotrace_event *event,
                          const gotrace_raw *raw)
{
    const gotrace_event_spec *spec = gotrace_event_spec_of(m->version, event->type);
    const gotrace_arg_spec *args[GOTRACE_MAX_ARGS];
    size_t count = spec ? gotrace_event_args(spec, m->version, args) : 0, seq = 0;
    /* A GoSyscallBegin has the sequence number of its proc. */
    bool is_call = event->resource != GOTRACE_RESOURCE_PROC && spec && spec->semantics->numbered &&
                   spec->semantics->proc.from != GOTRACE_STATE_UNDETERMINED;
    if (!is_call && event->resource != GOTRACE_RESOURCE_PROC)
        return true;
    /* Decoded arguments do not include the time delta. */
    for (size_t i = 1; i < count && i <= 4; i++)
        if (args[i]->kind == GOTRACE_ARG_SEQ)
            seq = i;
    uint64_t proc = is_call ? (uint64_t)event->proc : event->subject;
    proc_numbering *n = proc_number(m, l, proc, raw->generation);
    if (n && seq > 0)
        n->seq = raw->args[seq - 1];
    return n != NULL;
}

/* Update the last goroutine by a transition. */
static void follow_transition(last *who, const gotrace_event *event)
{
    bool goroutine = event->resource == GOTRACE_RESOURCE_GOROUTINE;
    if (goroutine && event->to == GOTRACE_STATE_RUNNING) {
        who->tail.goroutine = event->subject;
        who->runs = true;
        who->ready = false;
    } else if (goroutine && event->subject == who->tail.goroutine) {
        who->ready = who->runs && event->to == GOTRACE_STATE_RUNNABLE;
        who->runs = false;
    } else if (!goroutine && event->to != GOTRACE_STATE_RUNNING) {
        who->runs = who->ready = false;
    }
}

static bool follow(mutate *m, last_goroutines *l, const gotrace_event *event,
                   const gotrace_raw *raw)
{
    l->events++;
    if (m->v2 && !follow_number(m, l, event, raw))
        return false;
    if (event->proc == GOTRACE_NO_PROC || (m->v2 && event->thread == GOTRACE_NO_THREAD) ||
        event->kind == GOTRACE_KIND_SAMPLE || event->kind == GOTRACE_KIND_SYNC)
        return true;
    last *who = value_of(m, &l->owners, (uint64_t)(m->v2 ? event->thread : event->proc));
    if (!who)
        return false;
    who->order = l->events;
    who->offset = event->offset;
    who->tail.proc = (uint64_t)event->proc;
    who->tail.thread = (uint64_t)event->thread;
    if (event->kind == GOTRACE_KIND_TRANSITION) {
        follow_transition(who, event);
    } else if (event->goroutine != 0 && event->kind != GOTRACE_KIND_NONE) {
        who->tail.goroutine = event->goroutine;
        who->runs = true;
    }
    if (m->v2) {
        const proc_numbering *n = proc_number(m, l, who->tail.proc, raw->generation);
        if (!n)
            return false;
        who->tail.proc_seq = n->seq;
    }
    return true;
}

static int latest_first(const void *a, const void *b)
{
    const last *x = a, *y = b;
    if (x->runs != y->runs)
        return x->runs ? -1 : 1;
    if (x->ready != y->ready)
        return x->ready ? -1 : 1;
    return x->order > y->order ? -1 : x->order < y->order;
}

static bool list_lasts(mutate *m, last_goroutines *l)
{
    size_t cursor = 0;
    uint64_t owner;
    void *value;
    if (!mutate_grow(m, &l->list, &l->capacity, l->owners.count, sizeof *l->list))
        return false;
    while (idmap_next(&l->owners, &cursor, &owner, &value))
        l->list[l->count++] = *(const last *)value;
    if (l->count > 0)
        qsort(l->list, l->count, sizeof *l->list, latest_first);
    return true;
}

static bool find_lasts(mutate *m, gotrace_source *source, last_goroutines *l)
{
    gotrace_config config = {.limits = m->config ? m->config->limits : NULL};
    gotrace_reader *reader;
    const gotrace_event *event;
    gotrace_status status;
    if (gotrace_reader_open(source, &config, &reader, m->error) < 0)
        return false;
    while ((status = gotrace_reader_next(reader, &event)) == GOTRACE_EVENT)
        if (!follow(m, l, event, gotrace_reader_raw(reader)))
            break;
    if (status < 0)
        *m->error = *gotrace_reader_error(reader);
    gotrace_reader_close(reader);
    return status == GOTRACE_END && list_lasts(m, l);
}

static bool write_result(void *ctx, const void *bytes, size_t size)
{
    mutate *m = ctx;
    parts_bytes *b = &m->result;
    if (!mutate_grow(m, &b->bytes, &b->capacity, b->count + size, 1))
        return false;
    if (size > 0)
        memcpy(b->bytes + b->count, bytes, size);
    b->count += size;
    return true;
}

/* Whether the rule is violated and no other, except those that it implies. Warnings of the original
 * trace are ignored. */
static bool violates_only(const verdict *before, const verdict *after, gotrace_rule rule)
{
    if (after->counts[rule] <= before->counts[rule])
        return false;
    for (unsigned i = 0; i < GOTRACE_RULE_LIMIT; i++)
        if (i != rule && after->counts[i] > before->counts[i] &&
            !(rule == GOTRACE_RULE_ORDER_CUT && i == GOTRACE_RULE_FOOTER_MISSING))
            return false;
    return true;
}

static bool no_place(mutate *m, gotrace_rule rule, const char *why)
{
    fill_error(m->error, GOTRACE_RULE_USAGE, GOTRACE_NO_OFFSET,
               "the rule %s cannot be violated in this trace: %s", gotrace_rule_describe(rule)->id,
               why);
    return false;
}

/* Insert an event that starts the goroutine again after it yielded. */
static bool restart_goroutine(mutate *m, const last *who)
{
    enum { NO_DSEQ = 7 };
    const gotrace_event_spec *spec = gotrace_event_spec_named(
        m->version, m->version < NO_DSEQ ? "GoStart" : "GoStartLocal");
    const uint64_t values[] = {1, 1, who->tail.goroutine};
    size_t skipped = m->version < NO_DSEQ ? 0 : 1, at = 0;
    mutate_piece piece = {.offset = who->offset};
    uint64_t offset = m->header_size; /* in the output */
    while (at < m->now.count && offset < who->offset)
        offset += m->now.list[at++].size;
    return at < m->now.count && offset == who->offset &&
           mutate_set_record(m, &piece, spec, values + skipped, 3 - skipped, NULL, 0) &&
           mutate_insert(m, at + 1, &piece, 1);
}

/* Write the trace with the rule violated at that place, and read it. */
static bool try_place(mutate *m, gotrace_rule rule, const last *who, const verdict *before,
                      bool *broken)
{
    mutate_pieces *p = &m->now;
    size_t count = p->count, size = p->count * sizeof *p->list;
    mutate_piece *pieces = malloc(size ? size : 1);
    uint8_t *sound = NULL;
    gotrace_source *source = NULL;
    gen_planted planted;
    verdict after;
    bool done = pieces != NULL;
    *broken = false;
    if (done)
        memcpy(pieces, p->list, size);
    if (done && who->ready && !m->v2)
        done = restart_goroutine(m, who) || !m->failed;
    done = done && mutate_assemble(m) && (sound = malloc(m->result.count + 1)) != NULL;
    if (done) {
        memcpy(sound, m->result.bytes, m->result.count);
        size = m->result.count;
        m->result.count = 0;
        done = gotrace_source_memory(sound, size, NULL, &source, m->error) >= 0 &&
               gen_defect_write(source, m->version, &who->tail, rule, write_result, m, NULL,
                                &planted, m->error) >= 0 &&
               verdict_of(m->result.bytes, m->result.count, m->config, &after, m->error);
    }
    if (done && violates_only(before, &after, rule)) {
        *broken = true;
        mutate_note(m, planted.what, NULL)->offset = planted.offset;
    }
    if (pieces)
        memcpy(p->list, pieces, count * sizeof *p->list);
    p->count = count;
    if (!pieces || !sound)
        fill_error(m->error, GOTRACE_RULE_SYSTEM_MEMORY, GOTRACE_NO_OFFSET, "out of memory");
    gotrace_source_close(source);
    free(pieces);
    free(sound);
    return done;
}

enum { MOST_TRIES = 64 };

static bool plant(mutate *m, gotrace_rule rule, const last_goroutines *l, const verdict *before)
{
    const last nobody = {.runs = false};
    for (size_t i = 0; i < (l->count ? l->count : 1) && i < MOST_TRIES; i++) {
        bool broken;
        if (!try_place(m, rule, l->count ? &l->list[i] : &nobody, before, &broken)) {
            m->failed = true;
            return false;
        }
        if (broken)
            return true;
    }
    return no_place(m, rule,
                    "the changes that were tried violate other rules too, or do not violate it");
}

gotrace_status mutate_break(mutate *m, gotrace_rule rule)
{
    verdict before;
    last_goroutines l = {.list = NULL};
    gotrace_source *source = NULL;
    bool done = false;
    idmap_init(&l.owners, sizeof(last));
    idmap_init(&l.procs, sizeof(proc_numbering));
    /* Start from a sound variant, so that variants of the same trace differ. */
    if (!mutate_keep_sound(m))
        return m->failed ? GOTRACE_ERROR : GOTRACE_END;
    if (!verdict_of(m->result.bytes, m->result.count, m->config, &before, m->error))
        m->failed = true;
    else if (!m->version || !gen_defect_version(rule, m->version))
        no_place(m, rule, "its version does not have it");
    else if (gotrace_source_memory(m->result.bytes, m->result.count, NULL, &source, m->error) < 0 ||
             !find_lasts(m, source, &l))
        m->failed = true;
    else
        done = plant(m, rule, &l, &before);
    gotrace_source_close(source);
    parts_drop(&m->memory, l.list, l.capacity, sizeof *l.list);
    idmap_free(&l.owners);
    idmap_free(&l.procs);
    return m->failed ? GOTRACE_ERROR : done ? GOTRACE_OK : GOTRACE_END;
}
