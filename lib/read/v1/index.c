/*
 * index.c - the first pass: an index of a v1 file.
 *
 * v1 batches have no length, and the data needed for the first event (frequency, stacks, most
 * strings) is at the end. So all records of the file are scanned once, with as little decoding as
 * possible: finding a record's end and counting its type.
 */
#include <string.h>

#include "core/times.h"
#include "core/tracer_names.h"
#include "read/text.h"
#include "read/v1/values.h"
#include "read/v1/index.h"

enum {
    WINDOW = 256 * 1024,
    /* Refill the window if fewer bytes than this are left. Enough for any record that the fast path
     * handles. */
    NEAR_END = 64,
};

typedef struct skim {
    gotrace_reader *reader;
    gt_index *index;
    uint8_t *window;
    size_t capacity, have; /* size of window; bytes of the file in it */
    uint64_t base;         /* offset in the file of window[0] */
    const uint8_t *p, *end;
    bool at_end;        /* the window reaches the end of the file */
    bool ended;         /* by damage */
    bool again;         /* text was found: the pass begins again */
    uint64_t text;      /* where a text begins; UINT64_MAX: none was found */
    bool no_text;       /* none is looked for */
    bool mixed;         /* the pass ended at a text */
    uint8_t counts[64]; /* number of values by type */
    unsigned inline_least;
    uint8_t skips[256]; /* see skim_fast */
    uint64_t record;
    uint64_t batches;
    uint32_t proc;      /* of the current batch, GT_NONE before the first */
    uint64_t run_start; /* start of the current run of that proc */
    uint64_t run_batch, run_record;
    uint64_t run_events; /* number of timed events in it so far */
    int64_t run_first;   /* time of the first of them */
} skim;

static uint64_t offset_of(const skim *s, const uint8_t *p)
{
    return s->base + (uint64_t)(p - s->window);
}

static gt_place place_of(const skim *s, const uint8_t *p)
{
    return (gt_place){offset_of(s, p), s->batches ? s->batches - 1 : GOTRACE_NO_OFFSET, s->record};
}

/* Reports damage at p and ends the pass there: nothing after p can be read. */
#define DAMAGED(s, at, rule, ...)                                                                  \
    (damage_at(s, at), gt_report((s)->reader, rule, place_of(s, at), __VA_ARGS__))

static void damage_at(skim *s, const uint8_t *p)
{
    s->ended = true;
    s->reader->summary.unread_bytes = s->reader->summary.size - offset_of(s, p);
}

/* Makes `need` bytes from p on available, or all that are left, by moving the rest to the front of
 * the window and reading on. */
static bool refill(skim *s, size_t need)
{
    gotrace_reader *reader = s->reader;
    size_t left = (size_t)(s->end - s->p), got;
    if (need > s->capacity) {
        size_t used = (size_t)(s->p - s->window);
        void *window = s->window;
        if (!gt_grow(&reader->heap, &window, &s->capacity, need, 1))
            return gt_fail_memory(reader);
        s->window = window;
        s->p = s->window + used;
    }
    s->base = offset_of(s, s->p);
    memmove(s->window, s->p, left);
    if (gt_read_bytes(reader, s->base + left, s->window + left, s->capacity - left, &got) < 0)
        return gt_fail(reader);
    s->p = s->window;
    s->end = s->window + left + got;
    s->at_end = got < s->capacity - left;
    gt_progress(reader, got);
    return true;
}

/* ---- text of the program --------------------------------------------------------------------- */

/* If text of the program is at s->p, the pass begins again and ends at the first record in it, so
 * that none of it is read as a record. A string may be text. False on failure. */
static bool find_text(skim *s)
{
    if (s->no_text || s->text != UINT64_MAX || *s->p == GOTRACE_V1_String)
        return true;
    if (s->end - s->p < GT_TEXT_LOOK && !s->at_end && !refill(s, GT_TEXT_LOOK))
        return false;
    if (!gt_text_begins(s->p, s->end, s->at_end))
        return true;
    if (!gt_text_find(s->reader, offset_of(s, s->p), &s->text))
        return false;
    s->again = s->ended = s->text != UINT64_MAX;
    return true;
}

/* The pass has arrived at the text. It may be in a record, such as a message, and end with it. */
static bool end_at_text(skim *s)
{
    char quote[GT_TEXT_QUOTE];
    s->text = UINT64_MAX;
    if (!gt_text_at(s->reader, offset_of(s, s->p), quote))
        return false;
    s->mixed = *quote != '\0';
    s->no_text = true;
    return !s->mixed || DAMAGED(s, s->p, GOTRACE_RULE_WIRE_TEXT, GT_TEXT_MESSAGE, quote);
}

/* ---- procs and runs ------------------------------------------------------------------------ */

static bool run_close(skim *s, uint64_t end)
{
    gt_index *index = s->index;
    if (s->proc == GT_NONE)
        return true;
    gt_proc_index *proc = &index->procs[s->proc];
    proc->summary.bytes += end - s->run_start;
    proc->summary.events += s->run_events;
    if (s->run_events == 0)
        return true;
    void *runs = index->runs;
    if (!gt_grow(&s->reader->heap, &runs, &index->run_capacity, index->run_count + 1,
                 sizeof *index->runs))
        return gt_fail_memory(s->reader);
    index->runs = runs;
    uint32_t n = (uint32_t)index->run_count++;
    index->runs[n] = (gt_run){.offset = s->run_start,
                              .end = end,
                              .batch = s->run_batch,
                              .record = s->run_record,
                              .first = s->run_first,
                              .next = GT_NONE};
    if (proc->last_run == GT_NONE)
        proc->first_run = n;
    else
        index->runs[proc->last_run].next = n;
    proc->last_run = n;
    s->run_events = 0;
    return true;
}

static bool find_proc(skim *s, int64_t id, uint32_t *found)
{
    gt_index *index = s->index;
    gotrace_reader *reader = s->reader;
    const gt_entry *entry = gt_table_find(&index->proc_by_id, (uint64_t)id);
    if (entry) {
        *found = entry->count;
        return true;
    }
    if (index->proc_count >= reader->limits.procs) {
        gt_error_limit(&reader->error, GOTRACE_LIMIT_PROCS, place_of(s, s->p),
                       reader->limits.procs);
        return gt_fail(reader);
    }
    void *procs = index->procs;
    uint32_t n = (uint32_t)index->proc_count;
    if (!gt_grow(&reader->heap, &procs, &index->proc_capacity, index->proc_count + 1,
                 sizeof *index->procs))
        return gt_fail_memory(reader);
    index->procs = procs;
    if (!gt_table_put(&index->proc_by_id, (uint64_t)id, NULL, 0, n))
        return gt_fail_memory(reader);
    index->procs[index->proc_count++] = (gt_proc_index){
        .summary.proc = id, .first_run = GT_NONE, .last_run = GT_NONE};
    *found = n;
    return true;
}

static bool start_batch(skim *s, int64_t id, uint64_t offset, int64_t first)
{
    enum { LARGE = 4096 }; /* bytes; a run has several smaller batches, to need less memory */
    uint32_t proc;
    gotrace_reader *reader = s->reader;
    if (s->batches >= reader->limits.batches) {
        gt_error_limit(&reader->error, GOTRACE_LIMIT_BATCHES, place_of(s, s->p),
                       reader->limits.batches);
        return gt_fail(reader);
    }
    if (!find_proc(s, id, &proc))
        return false;
    if (proc != s->proc || offset - s->run_start >= LARGE) {
        if (!run_close(s, offset))
            return false;
        s->proc = proc;
        s->run_start = offset;
        s->run_batch = s->batches;
        s->run_record = s->record;
    }
    if (s->run_events == 0)
        s->run_first = first;
    s->index->procs[proc].summary.batches++;
    s->batches++;
    return true;
}

/* ---- records that the index contains --------------------------------------------------------- */

enum { KEEP = 5 };

/* The second pass checks the values of timed events, except samples. */
static bool is_checked_later(const skim *s, uint8_t type)
{
    const gt_v1_shape *shape = &s->index->shapes[type];
    return (shape->flags & GOTRACE_SPEC_TIMED) && shape->action != GT_ACTION_SAMPLE;
}

/* Keeps the first record that does not have the values of its type. A Stack without a fixed number
 * of values is checked with its frames. */
static void note_values(skim *s, const gt_frame *frame)
{
    bool whole = (s->index->shapes[frame->type].flags & GOTRACE_SPEC_FRAMES) && frame->form == 3;
    if (!whole && s->index->damage.rule == GOTRACE_RULE_NONE)
        gt_v1_wrong_values(s->reader, frame, place_of(s, s->p), &s->index->damage);
}

/* Decodes the values of a record that is completely in the window: the first KEEP of them, and
 * their number. *fits: they end where they should; otherwise the problem was reported. */
static bool decode_values(skim *s, const gt_frame *frame, uint64_t values[KEEP], size_t *count,
                          bool *fits)
{
    const uint8_t *p = frame->values;
    *count = 0;
    *fits = true;
    while (p < frame->values_end) {
        uint64_t value;
        const uint8_t *at = p;
        int used = gt_varint(&p, frame->values_end, &value);
        if (used <= 0) {
            *fits = false;
            note_values(s, frame);
            if (is_checked_later(s, frame->type))
                return true;
            return used < 0
                       ? gt_report(s->reader, GOTRACE_RULE_WIRE_VARINT, place_of(s, at),
                                   "a number exceeds ten bytes or 64 bits")
                       : gt_report(s->reader, GOTRACE_RULE_WIRE_LENGTH, place_of(s, s->p),
                                   "the length of the record is %llu byte%s, but its "
                                   "last value continues after that",
                                   (unsigned long long)frame->length, gt_plural(frame->length));
        }
        if (*count < KEEP)
            values[*count] = value;
        ++*count;
    }
    return true;
}

static bool put_String(skim *s, const gt_frame *frame, const uint64_t *v, size_t count)
{
    gotrace_reader *reader = s->reader;
    uint64_t id = v[0];
    (void)count;
    if (id == 0)
        return gt_report(reader, GOTRACE_RULE_STRING_ID, place_of(s, s->p),
                         "a string has the id 0, which means the empty string");
    if (gt_table_find(&s->index->tables.strings, id))
        return gt_report(reader, GOTRACE_RULE_STRING_DUPLICATE, place_of(s, s->p),
                         "string %llu is defined again; the first definition is kept",
                         (unsigned long long)id);
    if (s->index->tables.strings.entries >= reader->limits.strings) {
        gt_error_limit(&reader->error, GOTRACE_LIMIT_STRINGS, place_of(s, s->p),
                       reader->limits.strings);
        return gt_fail(reader);
    }
    if (!gt_table_put(&s->index->tables.strings, id, frame->data, (size_t)frame->data_size, 0))
        return gt_fail_memory(reader);
    if (gt_is_recorder_name(frame->data, (size_t)frame->data_size))
        reader->summary.writer = GT_RECORDER_NAME;
    return true;
}

static bool put_Stack(skim *s, const gt_frame *frame, const uint64_t *values, size_t count)
{
    gotrace_reader *reader = s->reader;
    size_t per_frame = gotrace_frame_values(reader->summary.version);
    if (count < 2)
        return gt_report(reader, GOTRACE_RULE_EVENT_ARITY, place_of(s, s->p),
                         "Stack has %zu value%s, at least 2 expected", count, gt_plural(count));
    uint64_t id = values[0], frames = values[1];
    if (frames > reader->limits.frames)
        return gt_report(reader, GOTRACE_RULE_STACK_FRAMES, place_of(s, s->p),
                         "stack %llu says it has %llu frames, at most %llu expected",
                         (unsigned long long)id, (unsigned long long)frames,
                         (unsigned long long)reader->limits.frames);
    if (count != 2 + frames * per_frame)
        return gt_report(reader, GOTRACE_RULE_STACK_FRAMES, place_of(s, s->p),
                         "stack %llu says it has %llu frame%s, but has %zu value%s after that",
                         (unsigned long long)id, (unsigned long long)frames, gt_plural(frames),
                         count - 2, gt_plural(count - 2));
    if (id == 0 || frames == 0)
        return true;
    if (gt_table_find(&s->index->tables.stacks, id)) {
        if (!gt_report(reader, GOTRACE_RULE_STACK_DUPLICATE, place_of(s, s->p),
                       "stack %llu is defined again; the last definition is kept",
                       (unsigned long long)id))
            return false;
    } else if (s->index->tables.stacks.entries >= reader->limits.stacks) {
        gt_error_limit(&reader->error, GOTRACE_LIMIT_STACKS, place_of(s, s->p),
                       reader->limits.stacks);
        return gt_fail(reader);
    }
    const uint8_t *body = frame->values;
    uint64_t skipped;
    gt_varint(&body, frame->values_end, &skipped);
    gt_varint(&body, frame->values_end, &skipped);
    if (!gt_table_put(&s->index->tables.stacks, id, body, (size_t)(frame->values_end - body),
                      (size_t)frames))
        return gt_fail_memory(reader);
    return true;
}

static bool put_frequency(skim *s, uint64_t frequency)
{
    s->index->has_frequency = true;
    s->index->frequency = frequency;
    if (frequency == 0 || frequency > INT64_MAX) {
        s->index->frequency = 0;
        return gt_report(s->reader, GOTRACE_RULE_FOOTER_FREQUENCY, place_of(s, s->p),
                         "the frequency is %lld ticks per second: the clocks of the CPUs were "
                         "not synchronised; times are given in ticks",
                         (long long)(int64_t)frequency);
    }
    return true;
}

static bool put_row(skim *s, gt_spill *spill, gt_row row)
{
    row.offset = offset_of(s, s->p);
    if (!gt_spill_add(spill, &row, &s->reader->error))
        return gt_fail(s->reader);
    return true;
}

/* Events that are sorted separately. Samples are removed from their proc's events; exits are
 * not. */
static bool put_sample(skim *s, const uint64_t *v)
{
    gt_row row = {.key = (int64_t)v[1], .a = v[2], .b = v[3], .c = v[4]};
    return put_row(s, &s->index->samples, row);
}

static bool put_exit(skim *s, const uint64_t *v)
{
    gt_row row = {.key = (int64_t)v[3], .a = v[1], .b = v[2], .c = s->proc};
    if (s->reader->summary.version < GT_FIRST_NUMBERED)
        row = (gt_row){.key = (int64_t)v[3], .a = v[2], .b = v[4], .c = s->proc};
    else if (v[3] == 0) /* the real time is unknown: the event keeps its place */
        return true;
    return put_row(s, &s->index->exits, row);
}

/* ---- structural records: a function for each row --------------------------------------------- */

static bool put_Batch(skim *s, const gt_frame *frame, const uint64_t *v, size_t count)
{
    (void)count;
    int64_t first = gt_find_first(s->reader, v, s->p + frame->size, s->end);
    return start_batch(s, (int64_t)v[0], offset_of(s, s->p), first);
}

static bool put_Frequency(skim *s, const gt_frame *frame, const uint64_t *v, size_t count)
{
    (void)frame, (void)count;
    return put_frequency(s, v[0]);
}

static bool put_TimerGoroutine(skim *s, const gt_frame *frame, const uint64_t *v, size_t count)
{
    (void)frame, (void)count;
    return gt_table_put(&s->index->timers, v[0], NULL, 0, 0) || gt_fail_memory(s->reader);
}

static bool put_record(skim *s, const gt_frame *frame, const uint64_t *v, size_t count)
{
    switch (frame->type) {
#define E(code, name, since, flags, args, summary, does)                                           \
    case code:                                                                                     \
        return put_##name(s, frame, v, count);
#define T(code, name, since, flags, args, summary, does)
#include "events_v1.def"
#undef E
#undef T
    default: return true; /* a timed event */
    }
}

/* Handles a structural record, or one that is sorted separately. */
static bool special(skim *s, const gt_frame *frame)
{
    uint64_t v[KEEP] = {0};
    size_t count;
    bool fits;
    const gt_v1_shape *shape = &s->index->shapes[frame->type];
    if (!decode_values(s, frame, v, &count, &fits))
        return false;
    if (!fits)
        return true;
    bool frames = shape->flags & GOTRACE_SPEC_FRAMES;
    if (!frames && count != shape->values) {
        note_values(s, frame);
        if (is_checked_later(s, frame->type))
            return true;
        return gt_report(s->reader, GOTRACE_RULE_EVENT_ARITY, place_of(s, s->p),
                         "%s has %zu value%s, %u expected in version 1.%d",
                         gotrace_event_spec_of(s->reader->summary.version, frame->type)->name,
                         count, gt_plural(count), shape->values, s->reader->summary.version);
    }
    if (shape->action == GT_ACTION_SAMPLE)
        return put_sample(s, v);
    if (shape->action == GT_ACTION_EXIT)
        return put_exit(s, v);
    return put_record(s, frame, v, count);
}

/* Whether a record needs more than counting. The local form of an exit has no real time to sort
 * by. */
static bool is_special(const gt_v1_shape shapes[64], uint8_t type)
{
    const gt_v1_shape *shape = &shapes[type];
    bool exits = shape->action == GT_ACTION_EXIT && shape->full == type;
    return !(shape->flags & GOTRACE_SPEC_TIMED) || (shape->flags & GOTRACE_SPEC_DATA) || exits ||
           shape->action == GT_ACTION_SAMPLE;
}

/* ---- the loop ------------------------------------------------------------------------------ */

/* Events before the first batch belong to proc 0, as in Go's reader. */
static bool count_event(skim *s, uint8_t type)
{
    if (s->proc == GT_NONE) {
        if (!find_proc(s, 0, &s->proc))
            return false;
        s->run_start = offset_of(s, s->p);
        s->run_record = s->record;
        s->run_batch = GOTRACE_NO_OFFSET;
    }
    s->run_events += s->index->shapes[type].action != GT_ACTION_SAMPLE;
    return true;
}

static bool bad_frame(skim *s, gt_wire_status status, const gt_frame *frame)
{
    switch (status) {
    case GT_WIRE_TYPE:
        return DAMAGED(s, s->p, GOTRACE_RULE_WIRE_TYPE,
                       "unknown event type %u (byte 0x%02x) for version 1.%d; nothing after it can "
                       "be read",
                       frame->type, *s->p, s->reader->summary.version);
    case GT_WIRE_VARINT:
        return DAMAGED(s, s->p, GOTRACE_RULE_WIRE_VARINT,
                       "a number of this record, at 0x%llx, exceeds ten bytes or 64 bits",
                       (unsigned long long)offset_of(s, frame->bad));
    case GT_WIRE_STRING_LENGTH:
        return DAMAGED(s, s->p, GOTRACE_RULE_STRING_LENGTH,
                       "a string says it is %llu bytes long, 1 to %llu expected",
                       (unsigned long long)frame->data_size,
                       (unsigned long long)s->reader->limits.string_bytes);
    case GT_WIRE_LOG_LENGTH:
        return DAMAGED(s, s->p, GOTRACE_RULE_LOG_LENGTH,
                       "a log message says it is %llu bytes long, at most %llu expected",
                       (unsigned long long)frame->data_size,
                       (unsigned long long)s->reader->limits.string_bytes);
    default:
        return DAMAGED(s, s->p, GOTRACE_RULE_WIRE_TRUNCATED,
                       "the trace is cut off %llu byte%s into a record (%s)",
                       (unsigned long long)(s->end - s->p), gt_plural((uint64_t)(s->end - s->p)),
                       gotrace_event_spec_of(s->reader->summary.version, frame->type)->name);
    }
}

/* Skips a record whose length exceeds the maximum, without reading it. Not for a log, whose message
 * follows and is unlikely to be found. */
static bool skip_oversized(skim *s, const gt_frame *frame)
{
    gotrace_reader *reader = s->reader;
    uint8_t flags = s->index->shapes[frame->type].flags;
    bool is_log = flags & GOTRACE_SPEC_DATA;
    gotrace_rule rule = is_log                        ? GOTRACE_RULE_WIRE_LENGTH
                        : flags & GOTRACE_SPEC_FRAMES ? GOTRACE_RULE_STACK_FRAMES
                                                      : GOTRACE_RULE_EVENT_ARITY;
    if (is_log)
        damage_at(s, s->p);
    if (!gt_report(reader, rule, place_of(s, s->p),
                   "%s says it is %llu bytes long, at most %llu expected",
                   gotrace_event_spec_of(reader->summary.version, frame->type)->name,
                   (unsigned long long)frame->length, (unsigned long long)s->index->longest_record))
        return false;
    if (is_log)
        return true;
    reader->summary.type_records[frame->type]++;
    reader->summary.type_bytes[frame->type] += frame->size;
    s->record++;
    if (frame->size <= (uint64_t)(s->end - s->p)) {
        s->p += frame->size;
        return true;
    }
    s->base = offset_of(s, s->p) + frame->size;
    s->p = s->end = s->window;
    return refill(s, NEAR_END);
}

/* Handles one record of any kind. */
static bool skim_slowly(skim *s)
{
    gt_frame frame;
    gotrace_reader *reader = s->reader;
    if (!find_text(s) || s->again)
        return s->again;
    for (;;) {
        gt_wire_status status = gt_wire_frame(s->index->shapes, reader->summary.version,
                                              reader->limits.string_bytes, s->p,
                                              (size_t)(s->end - s->p), &frame);
        if (status == GT_WIRE_OK)
            break;
        uint64_t left = reader->summary.size - offset_of(s, s->p);
        if (status != GT_WIRE_MORE || s->at_end || frame.size > left)
            return bad_frame(s, status, &frame);
        if (frame.length > s->index->longest_record)
            return skip_oversized(s, &frame);
        if (!refill(s, (size_t)frame.size > NEAR_END ? (size_t)frame.size : NEAR_END))
            return false;
    }
    if (frame.length > s->index->longest_record)
        return skip_oversized(s, &frame);
    uint8_t flags = s->index->shapes[frame.type].flags;
    if ((flags & GOTRACE_SPEC_TIMED) && !count_event(s, frame.type))
        return false;
    if (!is_special(s->index->shapes, frame.type))
        note_values(s, &frame);
    else if (!special(s, &frame))
        return false;
    reader->summary.type_records[frame.type]++;
    reader->summary.type_bytes[frame.type] += frame.size;
    s->record++;
    s->p += frame.size;
    return true;
}

/* How skim_fast skips a record, by its first byte: a number of varints, LONG for a length, or
 * STOP. */
enum { STOP = 0, LONG = 5 };

static void init_skips(skim *s)
{
    for (unsigned first = 0; first < 256; first++) {
        unsigned type = first & 0x3f, form = first >> 6;
        const gt_v1_shape *shape = &s->index->shapes[type];
        s->counts[type] = shape->values;
        if (is_special(s->index->shapes, (uint8_t)type) || shape->values == 0 ||
            shape->inlined != form)
            s->skips[first] = STOP;
        else
            s->skips[first] = (uint8_t)(form < 3 ? form + s->inline_least : LONG);
    }
}

/* Whether `size` bytes, at most eight, are so many varints. */
static inline bool has_values(const uint8_t *p, unsigned size, unsigned count)
{
    uint64_t stops = ~gt_load_le64(p) & 0x8080808080808080u;
    stops <<= 8 * (8 - size); /* the first ones, the last of them highest */
    return stops >> 63 && (stops >> 7) * 0x0101010101010101u >> 56 == count;
}

/* Skips common records well inside the window: the end of one to four varints is found by the clear
 * high bits of the next eight bytes. Stops before any other record. */
static void skim_fast(skim *s)
{
    gotrace_summary *summary = &s->reader->summary;
    const uint8_t *p = s->p, *safe = s->end - NEAR_END;
    if (s->text != UINT64_MAX && s->text < offset_of(s, safe))
        safe = s->window + (s->text > s->base ? s->text - s->base : 0);
    uint64_t records = 0;
    while (p < safe) {
        uint8_t skip = s->skips[*p], type = *p & 0x3f;
        size_t size;
        if (skip < LONG) {
            uint64_t stops = ~gt_load_le64(p + 1) & 0x8080808080808080u;
            uint64_t second = stops & (stops - 1), third = second & (second - 1);
            stops = skip == 1 ? stops : skip == 2 ? second : third;
            if (skip == 4)
                stops &= stops - 1;
            if (skip == STOP || stops == 0)
                break;
            size = 2 + ((size_t)__builtin_ctzll(stops) >> 3);
        } else {
            if (p[1] - 1u > 7 || !has_values(p + 2, p[1], s->counts[type]))
                break;
            size = 2u + p[1];
        }
        summary->type_records[type]++;
        summary->type_bytes[type] += size;
        records++;
        p += size;
    }
    s->record += records;
    s->run_events += records;
    s->p = p;
}

static void fill_summary(skim *s)
{
    gotrace_summary *summary = &s->reader->summary;
    gt_index *index = s->index;
    summary->records = s->record;
    summary->batches = s->batches;
    for (unsigned type = 0; type < 64; type++) {
        if (index->shapes[type].flags & GOTRACE_SPEC_TIMED)
            summary->timed_records += summary->type_records[type];
        if (index->shapes[type].action == GT_ACTION_SAMPLE)
            summary->samples += summary->type_records[type];
    }
    for (size_t i = 0; i < index->proc_count; i++)
        summary->procs += index->procs[i].summary.events > 0 && index->procs[i].summary.proc != -1;
    summary->strings = index->tables.strings.entries;
    summary->string_bytes = index->tables.strings.bytes;
    summary->stacks = index->tables.stacks.entries;
    summary->stack_frames = index->tables.stacks.frames;
    summary->frequency = index->frequency;
}

static bool check_whole(skim *s)
{
    gotrace_summary *summary = &s->reader->summary;
    gt_place end = GT_AT(summary->size - summary->unread_bytes);
    if (s->mixed) /* that says why there is no more */
        return true;
    if (summary->timed_records == 0)
        return gt_report(s->reader, GOTRACE_RULE_TRACE_EMPTY, end, "the trace contains no events");
    if (!s->index->has_frequency)
        return gt_report(s->reader, GOTRACE_RULE_FOOTER_MISSING, end,
                         "%s; times are given in ticks",
                         s->ended ? "what could be read does not reach the footer"
                                  : "the trace stops without its footer: the program ended before "
                                    "tracing was stopped, or the file is cut off");
    return true;
}

static bool skim_all(skim *s)
{
    if (!refill(s, NEAR_END))
        return false;
    while (!s->ended) {
        if (s->proc != GT_NONE && s->end - s->p > NEAR_END)
            skim_fast(s);
        if (s->end - s->p <= NEAR_END && !s->at_end && !refill(s, NEAR_END))
            return false;
        if (s->p == s->end)
            break;
        if (offset_of(s, s->p) >= s->text ? !end_at_text(s) : !skim_slowly(s))
            return false;
    }
    return run_close(s, offset_of(s, s->p));
}

static bool begin_index(skim *s)
{
    gotrace_reader *reader = s->reader;
    gt_index_init(reader);
    s->base = GT_HEADER_SIZE;
    s->inline_least = reader->summary.version < GT_FIRST_NUMBERED ? 2 : 1;
    s->proc = GT_NONE;
    s->capacity = reader->summary.size < WINDOW ? (size_t)reader->summary.size + NEAR_END : WINDOW;
    s->window = gt_resize(&reader->heap, NULL, 0, s->capacity);
    if (!s->window)
        return gt_fail_memory(reader);
    s->p = s->end = s->window;
    init_skips(s);
    return true;
}

/* One pass. */
static bool pass(skim *s)
{
    bool ok = begin_index(s) && skim_all(s);
    if (s->window)
        gt_free(&s->reader->heap, s->window, s->capacity);
    return ok;
}

bool gt_index_build(gotrace_reader *reader)
{
    gt_index *index = &reader->index;
    skim s = {.reader = reader, .index = index, .text = UINT64_MAX};
    bool ok = pass(&s);
    while (ok && s.again) {
        gt_index_forget(reader, s.text);
        s = (skim){.reader = reader, .index = index, .text = s.text};
        ok = pass(&s);
    }
    reader->reported = 0;
    fill_summary(&s);
    return ok && check_whole(&s) && gt_index_finish(reader);
}
