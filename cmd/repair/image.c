/* image.c - build a trace of the batches found, and add what is missing. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/common/placeholder.h"
#include "formats/common/plural.h"
#include "formats/common/rows_by_meaning.h"
#include "cmd/repair/names.h"

/* What a generation (v1: the trace) defines and refers to. */
typedef struct needs {
    idmap strings, stacks; /* id -> DEFINED, REFERRED */
    uint64_t most_string;
    uint64_t first, last; /* ticks */
    uint64_t events;
    bool timed;
    bool defines; /* contains a part of the tables that v2 writes at the end of a generation (v1:
                     stacks) */
} needs;

enum { DEFINED = 1, REFERRED = 2, SECOND = 1000000000 };

typedef struct clocks {
    uint64_t frequency, ticks, mono, seconds, nanoseconds;
    bool known;
} clocks;

/* What other generations have of what a generation lost. */
typedef struct other_generations {
    clocks like;
    repair_names names;
} other_generations;

/* ---- bytes ---------------------------------------------------------------------------------- */

static bool put_wide(repair *r, parts_bytes *b, uint64_t value, size_t width)
{
    uint8_t bytes[10];
    size_t n = 0;
    while (value >= 0x80 || n + 1 < width) {
        bytes[n++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    bytes[n++] = (uint8_t)value;
    return repair_put(r, b, bytes, n);
}

bool repair_put_varint(repair *r, parts_bytes *b, uint64_t value)
{
    return put_wide(r, b, value, 1);
}

static bool put_byte(repair *r, parts_bytes *b, unsigned byte)
{
    uint8_t c = (uint8_t)byte;
    return repair_put(r, b, &c, 1);
}

/* ---- definitions and references -------------------------------------------------------------- */

static bool note(repair *r, idmap *map, uint64_t id, uint8_t what)
{
    if (id == 0)
        return true;
    uint8_t *bits = idmap_insert(map, id);
    if (!bits) {
        fill_error(r->error, GOTRACE_RULE_SYSTEM_MEMORY, GOTRACE_NO_OFFSET, "out of memory");
        return false;
    }
    *bits |= what;
    return true;
}

static bool note_string(repair *r, needs *n, uint64_t id, uint8_t what)
{
    if (id > n->most_string)
        n->most_string = id;
    return note(r, &n->strings, id, what);
}

static bool note_frames(repair *r, needs *n, const repair_record *record)
{
    const uint8_t *p = record->frames, *end = record->at + record->size;
    size_t values = gotrace_frame_values(r->version);
    for (uint64_t i = 0; i < record->frame_values; i++) {
        uint64_t v;
        if (!parts_varint(&p, end, &v))
            break;
        if (values > 1 && (i % values == 1 || i % values == 2) && !note_string(r, n, v, REFERRED))
            return false;
    }
    return true;
}

static bool note_record(repair *r, needs *n, const repair_record *record)
{
    unsigned code = record->spec->code;
    bool v2 = repair_is_v2(r);
    n->defines = n->defines || code == (v2 ? GOTRACE_V2_Stack : GOTRACE_V1_Stack) ||
                 (v2 && code == GOTRACE_V2_String);
    if (code == (v2 ? GOTRACE_V2_String : GOTRACE_V1_String))
        return note_string(r, n, record->args[0], DEFINED);
    if (code == (v2 ? GOTRACE_V2_Stack : GOTRACE_V1_Stack))
        return note(r, &n->stacks, record->args[0], DEFINED) && note_frames(r, n, record);
    for (size_t i = 0; i < record->arg_count; i++) {
        parts_ref ref = r->shape.refs[code][i];
        if ((ref == PARTS_REF_STRING && !note_string(r, n, record->args[i], REFERRED)) ||
            (ref == PARTS_REF_STACK && !note(r, &n->stacks, record->args[i], REFERRED)))
            return false;
    }
    return true;
}

static bool note_batch(repair *r, needs *n, const repair_batch *b)
{
    const uint8_t *p = repair_records_of(r, b), *end = r->bytes + b->end;
    repair_record record;
    if (b->is_experiment)
        return true;
    if (!n->timed || b->time < n->first)
        n->first = b->time;
    if (!n->timed || b->last > n->last)
        n->last = b->last;
    n->timed = true;
    n->events += b->kind == PARTS_EVENTS ? b->events : 0;
    for (; p < end && repair_read_record(r, p, end, &record); p += record.size)
        if ((!b->tables || repair_is_table(&record)) && !note_record(r, n, &record))
            return false;
    return true;
}

static void needs_init(needs *n)
{
    *n = (needs){.events = 0};
    idmap_init(&n->strings, 1);
    idmap_init(&n->stacks, 1);
}

static void needs_free(needs *n)
{
    idmap_free(&n->strings);
    idmap_free(&n->stacks);
}

/* ---- batches -------------------------------------------------------------------------------- */

/* Copy a record with a smaller time delta. */
static bool put_with_smaller_delta(repair *r, parts_bytes *into, const repair_record *record,
                                   uint64_t less)
{
    const uint8_t *p = record->at + 1, *end = record->at + record->size;
    size_t n = !repair_is_v2(r) && r->version < 7; /* index of the delta */
    uint64_t v;
    parts_bytes values = {0};
    bool done = true;
    bool has_length = !repair_is_v2(r) && *record->at >> 6 == 3;
    if (has_length)
        parts_varint(&p, end, &v);
    const uint8_t *length_end = has_length ? p + v : end;
    for (size_t i = 0; done && i <= n; i++)
        done = parts_varint(&p, end, &v) && repair_put_varint(r, &values, i == n ? v - less : v);
    done = done && repair_put(r, &values, p, (size_t)(length_end - p)) &&
           put_byte(r, into, *record->at) &&
           (!has_length || repair_put_varint(r, into, values.count)) &&
           repair_put(r, into, values.bytes, values.count) &&
           repair_put(r, into, length_end, (size_t)(end - length_end));
    repair_drop(r, &values);
    return done;
}

static bool put_body(repair *r, parts_bytes *into, const repair_batch *b)
{
    const uint8_t *from = r->bytes + b->body, *end = r->bytes + b->end;
    repair_record record;
    if (b->tables) {
        for (; from < end && repair_read_record(r, from, end, &record); from += record.size)
            if (repair_is_table(&record) && !repair_put(r, into, from, record.size))
                return false;
        return true;
    }
    if (b->late == 0)
        return repair_put(r, into, from, (size_t)(end - from));
    const uint8_t *late = r->bytes + b->late;
    return repair_read_record(r, late, end, &record) &&
           repair_put(r, into, from, (size_t)(late - from)) &&
           put_with_smaller_delta(r, into, &record, b->less) &&
           repair_put(r, into, late + record.size, (size_t)(end - late) - record.size);
}

bool repair_put_v2_header(repair *r, parts_bytes *into, uint64_t generation, uint64_t owner,
                          uint64_t time, size_t size)
{
    return put_byte(r, into, GOTRACE_V2_EventBatch) && repair_put_varint(r, into, generation) &&
           repair_put_varint(r, into, owner) && repair_put_varint(r, into, time) &&
           put_wide(r, into, size, 10);
}

static bool put_v1_header(repair *r, parts_bytes *into, uint64_t owner, uint64_t seq, uint64_t time)
{
    return put_byte(r, into, GOTRACE_V1_Batch | 1 << 6) && repair_put_varint(r, into, owner) &&
           (r->version >= 7 || repair_put_varint(r, into, seq)) && repair_put_varint(r, into, time);
}

bool repair_put_experiment(repair *r, parts_bytes *into, const repair_batch *b, const uint8_t *body,
                           uint64_t generation)
{
    size_t size = b->end - b->body;
    return put_byte(r, into, GOTRACE_V2_ExperimentalBatch) &&
           repair_put_varint(r, into, b->experiment) && repair_put_varint(r, into, generation) &&
           repair_put_varint(r, into, b->owner) && repair_put_varint(r, into, b->time) &&
           repair_put_varint(r, into, size) && repair_put(r, into, body, size);
}

static bool put_batch(repair *r, parts_bytes *into, const repair_batch *b)
{
    if (!b->changed || b->kind == PARTS_END)
        return repair_put(r, into, r->bytes + b->offset, b->end - b->offset);
    if (b->is_experiment)
        return repair_put_experiment(r, into, b, r->bytes + b->body, b->generation);
    parts_bytes body = {0};
    bool done = put_body(r, &body, b) &&
                (repair_is_v2(r)
                     ? repair_put_v2_header(r, into, b->generation, b->owner, b->time, body.count)
                     : put_v1_header(r, into, b->owner, b->seq, b->time)) &&
                repair_put(r, into, body.bytes, body.count);
    repair_drop(r, &body);
    return done;
}

/* ---- placeholders --------------------------------------------------------------------------- */

static bool put_string(repair *r, parts_bytes *b, uint64_t id, const void *text, size_t size)
{
    return put_byte(r, b, repair_is_v2(r) ? GOTRACE_V2_String : GOTRACE_V1_String) &&
           repair_put_varint(r, b, id) && repair_put_varint(r, b, size) &&
           repair_put(r, b, text, size);
}

/* A stack of one frame; function and file have the given name, the line is 1. */
static bool put_stack(repair *r, parts_bytes *b, uint64_t id, uint64_t function, const char *name)
{
    parts_bytes v = {0};
    bool names = gotrace_frame_values(r->version) > 1;
    size_t size = strlen(name);
    const gotrace_frame frame = {
        .line = 1, .function = name, .function_size = size, .file = name, .file_size = size};
    bool done = repair_put_varint(r, &v, id) && repair_put_varint(r, &v, 1) &&
                repair_put_varint(r, &v, names ? gotrace_frame_pc(&frame) : id);
    if (names)
        done = done && repair_put_varint(r, &v, function) && repair_put_varint(r, &v, function) &&
               repair_put_varint(r, &v, 1);
    if (repair_is_v2(r))
        done = done && put_byte(r, b, GOTRACE_V2_Stack);
    else
        done = done && put_byte(r, b, GOTRACE_V1_Stack | 3 << 6) &&
               repair_put_varint(r, b, v.count);
    done = done && repair_put(r, b, v.bytes, v.count);
    repair_drop(r, &v);
    return done;
}

/* Ids that are referred to but not defined, ascending. */
static bool missing(repair *r, const idmap *map, uint64_t **ids, size_t *count)
{
    *count = 0;
    *ids = idmap_sorted_keys(map);
    if (!*ids && map->count > 0) {
        fill_error(r->error, GOTRACE_RULE_SYSTEM_MEMORY, GOTRACE_NO_OFFSET, "out of memory");
        return false;
    }
    for (size_t i = 0; i < map->count; i++)
        if (!(*(const uint8_t *)idmap_find(map, (*ids)[i]) & DEFINED))
            (*ids)[(*count)++] = (*ids)[i];
    return true;
}

/* An unused string id above id. Damage may have produced an id close to the maximum, so that not
 * every id above it is unused. */
static uint64_t next_free(const needs *n, uint64_t id)
{
    do
        id++;
    while (idmap_find(&n->strings, id));
    return id;
}

/* Report many missing strings and stacks, as after a cut, as one finding. generation: 0 in v1. */
static void report_tables(repair *r, const needs *n, uint64_t generation, size_t strings,
                          size_t stacks)
{
    char whose[40] = "the trace";
    const repair_batch *last = &r->batches[r->count - 1];
    bool ends = last->generation == generation && (last->cut || !n->defines);
    if (generation > 0)
        snprintf(whose, sizeof whose, "generation %" PRIu64, generation);
    char what[120];
    if (strings > 0 && stacks > 0)
        snprintf(what, sizeof what,
                 "names, texts and stacks are missing (%zu string%s, %zu stack%s)", strings,
                 plural(strings), stacks, plural(stacks));
    else if (strings > 0)
        snprintf(what, sizeof what, "names and texts are missing (%zu strings)", strings);
    else
        snprintf(what, sizeof what, "%zu stacks are missing", stacks);
    repair_report(r, REPAIR_TABLES, GOTRACE_NO_OFFSET, strings + stacks, "%s %s its tables: %s",
                  whose,
                  !ends        ? "lacks a part of"
                  : n->defines ? "ends within"
                               : "ends before",
                  what);
}

static void report_each(repair *r, repair_kind kind, const char *what, const uint64_t *ids,
                        size_t count)
{
    for (size_t i = 0; i < count; i++)
        repair_report(r, kind, GOTRACE_NO_OFFSET, ids[i], "%s %" PRIu64 " is lost", what, ids[i]);
}

/* Define the lost strings of which other generations have the name, and remove their ids. */
static bool put_names(repair *r, repair_names *names, uint64_t generation, parts_bytes *strings,
                      uint64_t *ids, size_t *count)
{
    size_t lost = 0, size;
    if (*count == 0)
        return true;
    if (!repair_names_collect(r, names))
        return false;
    for (size_t i = 0; i < *count; i++) {
        const uint8_t *name = repair_names_find(names, ids[i], &size);
        if (!name)
            ids[lost++] = ids[i];
        else if (!put_string(r, strings, ids[i], name, size))
            return false;
    }
    size_t found = *count - lost;
    *count = lost;
    if (found > 0)
        repair_report(r, REPAIR_NAMES, GOTRACE_NO_OFFSET, found,
                      "%zu name%s of the runtime, which generation %" PRIu64
                      " lost, %s copied from other generations",
                      found, plural(found), generation, found == 1 ? "is" : "are");
    return true;
}

/* Define the missing strings and stacks: names by other generations, or a text that contains the
 * id. names: NULL in v1. */
static bool placeholders(repair *r, needs *n, uint64_t generation, repair_names *names,
                         parts_bytes *strings, parts_bytes *stacks)
{
    enum { FEW = 4 }; /* up to this number each one is reported by itself */
    uint64_t *string_ids = NULL, *stack_ids = NULL;
    size_t string_count = 0, stack_count = 0;
    char text[64];
    bool done = missing(r, &n->strings, &string_ids, &string_count) &&
                missing(r, &n->stacks, &stack_ids, &stack_count);
    uint64_t next = n->most_string <= INT64_MAX ? n->most_string : 0;
    if (r->version < 7)
        string_count = 0;
    if (names)
        done = done && put_names(r, names, generation, strings, string_ids, &string_count);
    for (size_t i = 0; done && i < string_count; i++) {
        snprintf(text, sizeof text, PLACEHOLDER_STRING "%" PRIu64 ">", string_ids[i]);
        done = put_string(r, strings, string_ids[i], text, strlen(text));
    }
    for (size_t i = 0; done && i < stack_count; i++) {
        snprintf(text, sizeof text, PLACEHOLDER_STACK "%" PRIu64 ">", stack_ids[i]);
        next = next_free(n, next);
        done = (r->version < 7 || put_string(r, strings, next, text, strlen(text))) &&
               put_stack(r, stacks, stack_ids[i], next, text);
    }
    if (done && string_count + stack_count > FEW) {
        report_tables(r, n, generation, string_count, stack_count);
    } else if (done) {
        report_each(r, REPAIR_STRING, "string", string_ids, string_count);
        report_each(r, REPAIR_STACK, "stack", stack_ids, stack_count);
    }
    free(string_ids);
    free(stack_ids);
    return done;
}

/* ---- the clock's frequency ------------------------------------------------------------------ */

static int compare_numbers(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The interval of CPU samples, of which each thread has 100 per second. */
static uint64_t frequency_by_samples(const repair *r)
{
    enum { MOST = 512, ENOUGH = 16, RATE = 100 };
    uint64_t gaps[MOST], last[64] = {0};
    size_t count = 0;
    for (size_t i = 0; i < r->count; i++) {
        const repair_batch *b = &r->batches[i];
        const uint8_t *p = r->bytes + b->body, *end = r->bytes + b->end;
        repair_record record;
        if (!(b->contents & REPAIR_HAS_SAMPLES))
            continue;
        for (; p < end && repair_read_record(r, p, end, &record); p += record.size) {
            if (record.spec->code != GOTRACE_V1_CPUSample || record.arg_count < 3)
                continue;
            /* Arguments: time delta, time, proc, goroutine. */
            uint64_t *before = &last[record.args[2] % 64], ticks = record.args[1];
            if (*before != 0 && ticks > *before && count < MOST)
                gaps[count++] = ticks - *before;
            *before = ticks;
        }
    }
    if (count < ENOUGH)
        return 0;
    qsort(gaps, count, sizeof *gaps, compare_numbers);
    return gaps[count / 2] * RATE;
}

/* Estimate the frequency of a v1 trace that lost it. Without CPU samples nothing else depends on
 * it; tracers divide the processor's counter, mostly of 3 GHz, by 64. */
static uint64_t estimate_frequency(const repair *r, const char **how)
{
    uint64_t frequency = r->version >= 19 ? frequency_by_samples(r) : 0;
    *how = "by the CPU samples, a hundred a second";
    if (frequency > 0)
        return frequency;
    *how = "as a processor of 3 GHz has it";
    return UINT64_C(3) * SECOND / 64;
}

/* ---- v1 ------------------------------------------------------------------------------------- */

static bool has_frequency(const repair *r)
{
    for (size_t i = 0; i < r->count; i++) {
        const repair_batch *b = &r->batches[i];
        const uint8_t *p = r->bytes + b->body, *end = r->bytes + b->end;
        repair_record record;
        if (!(b->contents & REPAIR_HAS_FREQUENCY))
            continue;
        for (; p < end && repair_read_record(r, p, end, &record); p += record.size)
            if (record.spec->code == GOTRACE_V1_Frequency)
                return record.args[0] > 0 && record.args[0] < UINT64_C(1) << 63;
    }
    return false;
}

static bool put_frequency(repair *r, parts_bytes *into)
{
    const char *how;
    uint64_t frequency = estimate_frequency(r, &how);
    repair_report(r, REPAIR_FREQUENCY, GOTRACE_NO_OFFSET, frequency,
                  "the frequency is lost; %" PRIu64 " Hz are estimated, %s", frequency, how);
    return put_byte(r, into, GOTRACE_V1_Frequency) && repair_put_varint(r, into, frequency) &&
           (r->version >= 7 || repair_put_varint(r, into, 0));
}

/* A trace must have an event. If none is left, write one that sets the number of procs to 1. */
static bool put_only_event(repair *r, parts_bytes *into)
{
    repair_report(r, REPAIR_ADDED, GOTRACE_NO_OFFSET, 1,
                  "nothing is left of the trace; it is written with the number of procs only");
    if (r->totals)
        r->totals->added++;
    if (repair_is_v2(r)) {
        static const uint8_t status[] = {GOTRACE_V2_ProcStatus, 0, 0, STATUS_P_IDLE};
        return repair_put_v2_header(r, into, 1, 0, 1, sizeof status) &&
               repair_put(r, into, status, sizeof status);
    }
    /* (Sequence delta,) time delta, number of procs, no stack. */
    static const uint8_t procs[] = {GOTRACE_V1_Gomaxprocs | 2 << 6, 0, 1, 0};
    static const uint8_t procs_numbered[] = {GOTRACE_V1_Gomaxprocs | 2 << 6, 1, 0, 1, 0};
    return put_v1_header(r, into, 0, 0, 1) &&
           (r->version < 7 ? repair_put(r, into, procs_numbered, sizeof procs_numbered)
                           : repair_put(r, into, procs, sizeof procs));
}

static bool image_v1(repair *r, parts_bytes *image)
{
    needs n;
    bool done = true, frequency = has_frequency(r);
    needs_init(&n);
    for (size_t i = 0; done && i < r->count; i++) {
        const repair_batch *b = &r->batches[i];
        if (b->dropped)
            continue;
        done = put_batch(r, image, b) && note_batch(r, &n, b);
        repair_release(r, b->end - b->offset);
    }
    parts_bytes strings = {0}, stacks = {0};
    done = done && (n.events > 0 || put_only_event(r, image)) &&
           placeholders(r, &n, 0, NULL, &strings, &stacks);
    if (done && (!frequency || strings.count > 0 || stacks.count > 0))
        done = (r->version < 11 || put_v1_header(r, image, 0, 0, n.last)) &&
               repair_put(r, image, strings.bytes, strings.count) &&
               (frequency || put_frequency(r, image)) &&
               repair_put(r, image, stacks.bytes, stacks.count);
    repair_drop(r, &strings);
    repair_drop(r, &stacks);
    needs_free(&n);
    return done;
}

/* ---- v2 ------------------------------------------------------------------------------------- */

/* Read the clocks of a batch. */
static clocks clocks_of(const repair *r, const repair_batch *b)
{
    const uint8_t *p = repair_records_of(r, b), *end = r->bytes + b->end;
    clocks c = {.known = false};
    bool given = r->version < GOTRACE_FIRST_SYNC;
    repair_record record;
    for (; p < end && repair_read_record(r, p, end, &record); p += record.size) {
        if (record.spec->code == GOTRACE_V2_Frequency)
            c.frequency = record.args[0];
        if (record.spec->code == GOTRACE_V2_ClockSnapshot) {
            c.ticks = b->time + record.args[0];
            c.mono = record.args[1];
            c.seconds = record.args[2];
            c.nanoseconds = record.args[3];
            given = true;
        }
    }
    c.known = given && c.frequency > 0 && c.frequency < UINT64_C(1) << 62;
    return c;
}

/* Extrapolate another generation's clocks to the given time. */
static clocks extrapolate(clocks c, uint64_t ticks)
{
    __extension__ typedef unsigned __int128 wide;
    bool back = ticks < c.ticks;
    uint64_t ns = (uint64_t)((wide)(back ? c.ticks - ticks : ticks - c.ticks) * SECOND /
                             c.frequency);
    uint64_t wall = c.seconds % (UINT64_C(1) << 33) * SECOND + c.nanoseconds % SECOND;
    c.ticks = ticks;
    c.mono = !back ? c.mono + ns : c.mono > ns ? c.mono - ns : 0;
    wall = !back ? wall + ns : wall > ns ? wall - ns : 0;
    c.seconds = wall / SECOND;
    c.nanoseconds = wall % SECOND;
    return c;
}

/* Replace lost clocks by those of the last generation before, or else of the next one; without any,
 * assume the most common frequency. */
static bool put_clocks(repair *r, parts_bytes *into, uint64_t generation, uint64_t ticks,
                       const clocks *like)
{
    clocks best = {.frequency = SECOND / 64};
    if (like->known)
        best = *like;
    best = extrapolate(best, ticks);
    repair_report(
        r, like->known ? REPAIR_CLOCKS : REPAIR_FREQUENCY, GOTRACE_NO_OFFSET, best.frequency,
        "the clocks of generation %" PRIu64 " are lost; %" PRIu64 " Hz are estimated%s", generation,
        best.frequency, like->known ? ", and the rest by another generation" : "");
    parts_bytes body = {0};
    bool snapshot = r->version >= GOTRACE_FIRST_SYNC;
    bool done = (!snapshot || put_byte(r, &body, GOTRACE_V2_Sync)) &&
                put_byte(r, &body, GOTRACE_V2_Frequency) &&
                repair_put_varint(r, &body, best.frequency);
    if (snapshot)
        done = done && put_byte(r, &body, GOTRACE_V2_ClockSnapshot) &&
               repair_put_varint(r, &body, 0) && repair_put_varint(r, &body, best.mono) &&
               repair_put_varint(r, &body, best.seconds) &&
               repair_put_varint(r, &body, best.nanoseconds);
    done = done && repair_put_v2_header(r, into, generation, UINT64_MAX, ticks, body.count) &&
           repair_put(r, into, body.bytes, body.count);
    repair_drop(r, &body);
    return done;
}

/* Write records of a table in batches of at most PARTS_MAX_BATCH bytes. */
static bool put_table(repair *r, parts_bytes *into, unsigned marker, uint64_t generation,
                      uint64_t ticks, const parts_bytes *records)
{
    if (records->count == 0) /* bytes may be NULL */
        return true;
    const uint8_t *p = records->bytes, *end = records->bytes + records->count;
    const uint8_t *from = p;
    repair_record record;
    enum { ROOM = PARTS_MAX_BATCH - 2048 };
    while (from < end) {
        while (p < end && (size_t)(p - from) < ROOM && repair_read_record(r, p, end, &record))
            p += record.size;
        size_t size = (size_t)(p - from);
        if (size == 0 || !repair_put_v2_header(r, into, generation, UINT64_MAX, ticks, size + 1) ||
            !put_byte(r, into, marker) || !repair_put(r, into, from, size))
            return false;
        from = p;
    }
    return true;
}

/* Whether the batch is part of the image. */
static bool is_in_image(const repair *r, const repair_batch *b)
{
    if (b->dropped || b->kind == PARTS_END || (b->cut && b->end <= b->body + 1))
        return false;
    return b->kind != PARTS_SYNC || clocks_of(r, b).known;
}

/* Write a generation's batches, in the order of the file. */
static bool image_generation(repair *r, parts_bytes *image, repair_batch *const *list, size_t count,
                             other_generations *others)
{
    needs n;
    uint64_t generation = list[0]->generation;
    bool done = true, ended = false, synced = false, any = false;
    size_t begin = image->count;
    needs_init(&n);
    for (size_t i = 0; done && i < count; i++) {
        const repair_batch *b = list[i];
        ended = ended || b->kind == PARTS_END;
        if (!is_in_image(r, b))
            continue;
        any = true;
        synced = synced || b->kind == PARTS_SYNC;
        if (b->kind == PARTS_SYNC)
            others->like = clocks_of(r, b);
        done = put_batch(r, image, b) && note_batch(r, &n, b);
    }
    parts_bytes strings = {0}, stacks = {0};
    done = done && (!any || synced || put_clocks(r, image, generation, n.first, &others->like)) &&
           placeholders(r, &n, generation, &others->names, &strings, &stacks) &&
           put_table(r, image, GOTRACE_V2_Stacks, generation, n.last, &stacks) &&
           put_table(r, image, GOTRACE_V2_Strings, generation, n.last, &strings);
    if (done && any && r->version >= GOTRACE_FIRST_GENERATION_END) {
        done = put_byte(r, image, GOTRACE_V2_EndOfGeneration);
        if (!ended)
            repair_report(r, REPAIR_END, GOTRACE_NO_OFFSET, generation,
                          "the end of generation %" PRIu64 " is not there", generation);
    }
    size_t size = image->count - begin, from = list[0]->offset;
    bool whole = done && from <= r->size && size <= r->size - from &&
                 repair_equal(r, r->bytes + from, image->bytes + begin, size);
    done = done && (!any || repair_generation_put(r, (repair_generation){.number = generation,
                                                                         .begin = begin,
                                                                         .end = image->count,
                                                                         .whole = whole}));
    repair_drop(r, &strings);
    repair_drop(r, &stacks);
    needs_free(&n);
    return done;
}

/* Generations are numbered consecutively: write the lost ones empty, with the clocks of the one
 * before. */
static bool put_empty_generations(repair *r, parts_bytes *image, const repair_batch *before,
                                  const repair_batch *after, const clocks *like)
{
    enum { MOST = 64 };
    uint64_t first = before->generation + 1, ticks = like->ticks > 0 ? like->ticks : after->time;
    if (after->generation <= first || after->generation - first > MOST)
        return true;
    repair_report_generations(r, REPAIR_LOST, first, after->generation - 1, NULL);
    for (uint64_t number = first; number < after->generation; number++) {
        repair_generation lost = {.number = number, .begin = image->count};
        bool quiet = r->quiet;
        r->quiet = true; /* do not report the clocks of a lost generation */
        bool done = put_clocks(r, image, number, ticks, like) &&
                    (r->version < GOTRACE_FIRST_GENERATION_END ||
                     put_byte(r, image, GOTRACE_V2_EndOfGeneration));
        r->quiet = quiet;
        lost.end = image->count;
        if (!done || !repair_generation_put(r, lost))
            return false;
    }
    return true;
}

static int compare_generations(const void *a, const void *b)
{
    const repair_batch *x = *(repair_batch *const *)a, *y = *(repair_batch *const *)b;
    if (x->generation != y->generation)
        return x->generation < y->generation ? -1 : 1;
    return x < y ? -1 : x > y;
}

static bool image_v2(repair *r, parts_bytes *image)
{
    repair_batch **list = NULL;
    size_t capacity = 0;
    other_generations others = {.like = {.known = false}};
    if (!parts_grow(r->memory, &list, &capacity, r->count + 1, sizeof *list, r->error))
        return false;
    for (size_t i = 0; i < r->count; i++) {
        list[i] = &r->batches[i];
        if (list[i]->kind == PARTS_SYNC && !others.like.known)
            others.like = clocks_of(r, list[i]);
    }
    qsort(list, r->count, sizeof(repair_batch *), compare_generations);
    repair_names_init(&others.names, list, r->count);
    size_t before = image->count;
    bool done = true;
    for (size_t i = 0, next; done && i < r->count; i = next) {
        for (next = i + 1; next < r->count && list[next]->generation == list[i]->generation;)
            next++;
        done = (i == 0 || put_empty_generations(r, image, list[i - 1], list[i], &others.like)) &&
               image_generation(r, image, list + i, next - i, &others);
    }
    if (done && image->count == before)
        done = put_only_event(r, image) && put_clocks(r, image, 1, 1, &others.like) &&
               (r->version < GOTRACE_FIRST_GENERATION_END ||
                put_byte(r, image, GOTRACE_V2_EndOfGeneration));
    repair_names_free(&others.names);
    parts_drop(r->memory, list, capacity, sizeof *list);
    return done;
}

bool repair_image(repair *r, parts_bytes *image)
{
    char header[32] = "";
    snprintf(header, sizeof header, "go 1.%d trace", r->version);
    return repair_put(r, image, header, PARTS_HEADER) &&
           (repair_is_v2(r) ? image_v2(r, image) : image_v1(r, image)) && repair_complete(r, image);
}
