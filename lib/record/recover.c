/*
 * recover.c - makes a trace of a crash file: buffers are copied, and a recorder whose state is that
 * of the file writes what is missing at the end of an era.
 *
 * The file is not trusted: what is read is checked, and memory depends on its size only by a few
 * bytes for each buffer.
 */
#include "record/crash.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/errors.h"
#include "core/sized.h"
#include "core/source.h"
#include "core/times.h"
#include "gotrace_symbols.h"

/* A buffer in the file. */
typedef struct slot {
    uint64_t era, order;
    uint64_t at; /* offset of its bytes */
    uint64_t last_ticks;
    uint32_t kind, size, length; /* length: v2, position of the size of the batch */
} slot;

typedef struct recovery {
    gotrace_source *file;
    gotrace_write_fn write;
    void *ctx;
    gt_heap heap;
    gotrace_recorder *r;
    gotrace_symbols *symbols;
    gt_crash_head head;
    slot *slots; /* by era and order */
    size_t count, capacity;
    uint64_t ticks; /* the time at which an era ends */
    bool any;       /* there was an event */
    gotrace_error error;
    uint8_t bytes[GT_REC_ROOM];
} recovery;

static bool fail(recovery *v, gotrace_rule rule, uint64_t offset, const char *what)
{
    gt_error_set(&v->error, rule, GT_AT(offset), "%s", what);
    return false;
}

static bool fail_recorder(recovery *v)
{
    v->error = *gotrace_recorder_error(v->r);
    return false;
}

static bool read_at(recovery *v, uint64_t offset, void *to, size_t size)
{
    size_t got;
    if (gt_source_read(v->file, offset, to, size, &got, &v->error) < 0)
        return false;
    return got == size || fail(v, GOTRACE_RULE_WIRE_TRUNCATED, offset + got,
                               "the crash file ends, but its head says that it is longer");
}

/* ---- the head and the buffers ---------------------------------------------------------------- */

bool gotrace_is_crash_file(gotrace_source *file)
{
    char magic[GT_CRASH_MAGIC_SIZE];
    size_t got;
    return gotrace_source_read(file, 0, magic, sizeof magic, &got, NULL) == GOTRACE_OK &&
           got == sizeof magic && memcmp(magic, GT_CRASH_MAGIC, sizeof GT_CRASH_MAGIC) == 0;
}

static bool read_head(recovery *v)
{
    const gt_crash_head *h = &v->head;
    if (!gotrace_is_crash_file(v->file))
        return fail(v, GOTRACE_RULE_HEADER_MAGIC, 0, "it is not a crash file of a recorder");
    if (!read_at(v, 0, &v->head, sizeof v->head))
        return false;
    if (h->layout != GT_CRASH_LAYOUT)
        return fail(v, GOTRACE_RULE_HEADER_VERSION, offsetof(gt_crash_head, layout),
                    "the crash file is of another machine or release, which can recover it");
    if (h->version == 0)
        return fail(v, GOTRACE_RULE_TRACE_EMPTY, offsetof(gt_crash_head, version),
                    "no trace was being recorded");
    if (h->version > INT32_MAX || gotrace_release_version((int)h->version) != (int)h->version)
        return fail(v, GOTRACE_RULE_HEADER_VERSION, offsetof(gt_crash_head, version),
                    "the version of the trace is unknown");
    if (h->first_era == 0 || h->kept_era < h->first_era)
        return fail(v, GOTRACE_RULE_GENERATION_NUMBER, offsetof(gt_crash_head, first_era),
                    "the numbers of generations are impossible");
    if (h->maps > 1 || h->maps_size[h->maps] > GT_CRASH_MAPS)
        return fail(v, GOTRACE_RULE_WIRE_LENGTH, offsetof(gt_crash_head, maps),
                    "the list of mapped files is longer than its room");
    const uint64_t size = gotrace_source_size(v->file);
    if (size < GT_CRASH_SLOTS_AT || h->slot_count > (size - GT_CRASH_SLOTS_AT) / GT_REC_BUFFER_SIZE)
        return fail(v, GOTRACE_RULE_WIRE_TRUNCATED, size,
                    "the crash file ends, but its head says that it is longer");
    return true;
}

/* Whether an era is written as it is in the file. */
static bool is_complete(const recovery *v, uint64_t era)
{
    return era <= v->head.complete;
}

static bool add_slot(recovery *v, uint64_t at, const gt_rec_buffer *b)
{
    const uint64_t begin = v->head.address + at + sizeof *b,
                   size = (uint64_t)(uintptr_t)b->p - begin,
                   length = (uint64_t)(uintptr_t)b->length - begin;
    const bool v2 = gt_is_v2((int)v->head.version), batch = v2 && b->kind == GT_REC_EVENTS;
    if (b->kind < GT_REC_EVENTS || b->kind > GT_REC_TABLE || (!v2 && b->era != v->head.first_era))
        return fail(v, GOTRACE_RULE_BATCH_HEADER, at, "a buffer of an unknown kind or generation");
    if (size > GT_REC_ROOM || (batch && (length > size || size - length < GT_VARINT_MAX)))
        return fail(v, GOTRACE_RULE_BATCH_HEADER, at, "a buffer that is larger than its room");
    if (!gt_grow(&v->heap, (void **)&v->slots, &v->capacity, v->count + 1, sizeof *v->slots)) {
        gt_error_memory(&v->error, &v->heap);
        return false;
    }
    v->slots[v->count++] = (slot){b->era,
                                  b->order,
                                  at + sizeof *b,
                                  b->last_ticks,
                                  b->kind,
                                  (uint32_t)size,
                                  batch ? (uint32_t)length : 0};
    return true;
}

static int compare_slots(const void *a, const void *b)
{
    const slot *x = a, *y = b;
    if (x->era != y->era)
        return x->era < y->era ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static bool read_slots(recovery *v)
{
    gt_rec_buffer b;
    for (uint64_t i = 0; i < v->head.slot_count; i++) {
        const uint64_t at = GT_CRASH_SLOTS_AT + i * GT_REC_BUFFER_SIZE;
        if (!read_at(v, at, &b, sizeof b))
            return false;
        if (b.era >= v->head.kept_era && !add_slot(v, at, &b))
            return false;
    }
    if (v->count > 0)
        qsort(v->slots, v->count, sizeof *v->slots, compare_slots);
    return true;
}

/* ---- the output ------------------------------------------------------------------------------ */

static bool put_bytes(recovery *v, const void *bytes, size_t size)
{
    return v->write(v->ctx, bytes, size) || (gt_error_set(&v->error, GOTRACE_RULE_SYSTEM_WRITE,
                                                          GT_NO_PLACE, "the write function failed"),
                                             false);
}

/* Writes what the recorder has written. */
static bool drain(recovery *v)
{
    gotrace_recorder *r = v->r;
    bool good = !r->failed || fail_recorder(v);
    for (gt_rec_buffer *b; good && (b = gt_rec_next_full(r));) {
        good = put_bytes(v, b->bytes, (size_t)(b->p - b->bytes));
        gt_rec_give_back(r, b);
    }
    return good;
}

/* The header is written by the encoder. */
static size_t header_in(const recovery *v, const slot *s)
{
    static const char begin[] = "go 1.";
    return s->kind == GT_REC_OWN && s->size >= GT_HEADER_SIZE &&
                   memcmp(v->bytes, begin, sizeof begin - 1) == 0
               ? GT_HEADER_SIZE
               : 0;
}

/* The size of a batch without records. */
static size_t empty_size(const recovery *v, const slot *s)
{
    return v->r->v2 ? s->length + GT_VARINT_MAX : 0;
}

static bool put_slot(recovery *v, const slot *s)
{
    if (!read_at(v, s->at, v->bytes, s->size))
        return false;
    if (v->r->v2 && s->kind == GT_REC_EVENTS)
        gt_put_wide(v->bytes + s->length, s->size - s->length - GT_VARINT_MAX, GT_VARINT_MAX);
    const size_t skipped = header_in(v, s);
    v->any = v->any || s->kind == GT_REC_EVENTS;
    return put_bytes(v, v->bytes + skipped, s->size - skipped);
}

/* ---- a recorder in the state of the file ----------------------------------------------------- */

static uint64_t ticks_at_end(void *ctx)
{
    return ((const recovery *)ctx)->ticks;
}

static bool read_samples(recovery *v)
{
    gotrace_recorder *r = v->r;
    uint64_t count = 0;
    for (uint64_t i = 0; i < GT_REC_SAMPLES; i++) {
        const uint64_t number = v->head.sample_begin + i;
        gt_rec_sample *s = &r->samples[count];
        if (!read_at(v, GT_CRASH_SAMPLES_AT + number % GT_REC_SAMPLES * sizeof *s, s, sizeof *s))
            return false;
        if (s->complete == number + 1 && s->depth <= GT_REC_SAMPLE_FRAMES)
            s->complete = ++count;
    }
    if (count < GT_REC_SAMPLES)
        r->samples[count].complete = 0;
    r->sample_end = count;
    return true;
}

static bool begin_recorder(recovery *v, gotrace_resolve_fn resolve, void *resolve_ctx,
                           const gotrace_config *config)
{
    const gotrace_recorder_options options = {
        .size = sizeof options,
        .resolve = resolve,
        .resolve_ctx = resolve_ctx,
        .clock = ticks_at_end,
        .clock_ctx = v,
        .frequency = v->head.frequency,
    };
    if (gotrace_recorder_new(&options, config, &v->r, &v->error) < 0)
        return false;
    gotrace_recorder *r = v->r;
    if (gt_encoder_new((int)v->head.version, gt_rec_put_bytes, r, &r->config, &r->encoder,
                       &v->error) < 0)
        return r->failed && fail_recorder(v);
    r->v2 = gt_is_v2((int)v->head.version);
    gt_rec_set_version(r, (int)v->head.version);
    r->first_era = r->open_era = v->head.first_era;
    r->timer_count = v->head.timer_count < GT_REC_TIMERS ? v->head.timer_count : GT_REC_TIMERS;
    memcpy(r->timers, v->head.timers, sizeof r->timers);
    if (!gt_rec_samples_begin(r)) {
        gt_error_memory(&v->error, &r->heap);
        return false;
    }
    if (gt_encoder_flush_out(r->encoder) != GOTRACE_OK && !gt_rec_fail_encoder(r))
        return fail_recorder(v);
    gt_rec_flush_own(r);
    return drain(v) && read_samples(v);
}

static void end_recorder(recovery *v)
{
    if (!v->r)
        return;
    gotrace_encoder_free(v->r->encoder);
    v->r->encoder = NULL;
    gotrace_recorder_free(v->r);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static bool is_possible(const gt_crash_entry *e, uint32_t size)
{
    return e->size & GT_CRASH_STRING
               ? size > 0 && size <= GT_REC_STRING_MAX
               : size > 0 && size <= GT_REC_STACK_MAX * sizeof(uint64_t) && size % 8 == 0;
}

static bool add_entries(recovery *v, const slot *s)
{
    gt_crash_entry e;
    if (!read_at(v, s->at, v->bytes, s->size))
        return false;
    for (size_t at = 0; at < s->size;) {
        const size_t left = s->size - at;
        memcpy(&e, v->bytes + at, left < sizeof e ? left : sizeof e);
        const uint32_t size = e.size & ~GT_CRASH_STRING;
        if (left < sizeof e || !is_possible(&e, size) || left - sizeof e < size)
            return fail(v, GOTRACE_RULE_WIRE_LENGTH, s->at + at,
                        "a string or stack of an impossible size");
        const gt_rec_key key = {v->bytes + at + sizeof e, size, e.start};
        const uint64_t id = gt_rec_id(
            gt_rec_table_entry(v->r, s->era, e.size & GT_CRASH_STRING, &key, true, NULL));
        if (v->r->failed)
            return fail_recorder(v);
        if (id != e.id)
            return fail(v, GOTRACE_RULE_STRING_ID, s->at + at,
                        "a string or stack with the number of another one");
        at += sizeof e + (size + 7) / 8 * 8;
    }
    return true;
}

/* ---- eras ------------------------------------------------------------------------------------ */

/* The clocks of a generation that begins at these ticks. */
static gotrace_clocks clocks_at(const recovery *v, uint64_t ticks)
{
    enum { SECOND_NS = 1000000000 };
    gotrace_clocks c = v->head.clocks;
    if (ticks <= c.ticks || v->head.frequency == 0)
        return c;
    const uint64_t ns = (uint64_t)gt_time((double)(ticks - c.ticks) / (double)v->head.frequency *
                                          1e9);
    const uint64_t wall = c.wall_nanoseconds % SECOND_NS + ns % SECOND_NS;
    return (gotrace_clocks){ticks, c.monotonic_ns + ns,
                            c.wall_seconds + ns / SECOND_NS + wall / SECOND_NS, wall % SECOND_NS};
}

/* When the batch begins. False: its header is damaged. */
static bool batch_ticks(recovery *v, const slot *s, uint64_t *ticks)
{
    uint8_t header[1 + 3 * GT_VARINT_MAX];
    const size_t size = s->size < sizeof header ? s->size : sizeof header;
    const uint8_t *p = header + 1, *end = header + size;
    if (!read_at(v, s->at, header, size))
        return false;
    for (int i = 0; i < 3; i++)
        if (gt_varint(&p, end, ticks) <= 0)
            return fail(v, GOTRACE_RULE_BATCH_HEADER, s->at, "the header of a batch is damaged");
    return true;
}

/* 1.25 and later: a generation begins with its clocks. */
static bool put_clocks(recovery *v, const slot *first, const slot *end)
{
    gotrace_recorder *r = v->r;
    uint64_t ticks = 0, least = UINT64_MAX;
    if (r->version < GOTRACE_FIRST_SYNC)
        return true;
    for (const slot *s = first; s < end; s++) {
        if (s->kind != GT_REC_EVENTS)
            continue;
        if (!batch_ticks(v, s, &ticks))
            return false;
        least = ticks < least ? ticks : least;
    }
    const gotrace_clocks clocks = clocks_at(v, least < UINT64_MAX ? least : v->ticks);
    return gt_v2_sync(r->encoder, clocks.ticks, v->head.frequency, &clocks) == GOTRACE_OK ||
           gt_rec_fail_encoder(r) || fail_recorder(v);
}

static bool has_events(const recovery *v, const slot *s)
{
    return s->kind == GT_REC_EVENTS && s->size > empty_size(v, s);
}

/* The era was going on, or its end was being written: what the encoder wrote is not complete. */
static bool end_era(recovery *v, const slot *first, const slot *end)
{
    gotrace_recorder *r = v->r;
    bool good = true;
    r->open_era = first->era;
    r->encoder->generation = first->era - r->first_era + 1;
    for (const slot *s = first; s < end && good; s++) {
        v->ticks = s->last_ticks > v->ticks ? s->last_ticks : v->ticks;
        good = s->kind != GT_REC_TABLE || add_entries(v, s);
    }
    good = good && put_clocks(v, first, end);
    for (const slot *s = first; s < end && good; s++)
        good = !has_events(v, s) || put_slot(v, s);
    good = good && (gt_rec_end_era(r, first->era) || fail_recorder(v)) && drain(v);
    gt_rec_clear_tables(r, first->era);
    return good;
}

static bool copy_era(recovery *v, const slot *first, const slot *end)
{
    bool good = true;
    for (const slot *s = first; s < end && good; s++)
        good = s->kind == GT_REC_TABLE || put_slot(v, s);
    return good;
}

/* The end of the eras that are in the trace: after the last one that is complete or has events. */
static const slot *end_of_trace(const recovery *v)
{
    const slot *end = v->slots, *s = end;
    for (; s < v->slots + v->count; s++)
        if (is_complete(v, s->era) || has_events(v, s) || (end > v->slots && s->era == end[-1].era))
            end = s + 1;
    return end;
}

static bool put_eras(recovery *v)
{
    const slot *end = v->count > 0 ? end_of_trace(v) : v->slots, *next;
    for (const slot *s = v->slots; s < end; s = next) {
        for (next = s; next < end && next->era == s->era; next++)
            continue;
        if (!(is_complete(v, s->era) ? copy_era(v, s, next) : end_era(v, s, next)))
            return false;
    }
    return v->any || fail(v, GOTRACE_RULE_TRACE_EMPTY, GT_CRASH_SLOTS_AT, "no event was recorded");
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Whether a line of the maps names a file that can be opened: not a pipe or device. */
static bool has_file(const char *line)
{
    struct stat info;
    const char *path = strchr(line, '/');
    return path && stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

/* Removes the other lines. Returns the size of what is left. */
static size_t filter_maps(char *text)
{
    size_t used = 0;
    for (char *line = text, *next; *line; line = next) {
        const size_t size = strcspn(line, "\n");
        next = line + size + (line[size] == '\n');
        line[size] = '\0';
        if (!has_file(line))
            continue;
        memmove(text + used, line, size);
        used += size;
        text[used++] = '\n';
    }
    return used;
}

static bool read_symbols(recovery *v, int fd)
{
    char path[32];
    const size_t size = v->head.maps_size[v->head.maps], room = GT_CRASH_MAPS + 2;
    char *text = gt_calloc(&v->heap, room, 1);
    if (!text) {
        gt_error_memory(&v->error, &v->heap);
        return false;
    }
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    const bool good = read_at(v, GT_CRASH_MAPS_AT + v->head.maps * GT_CRASH_MAPS, text, size) &&
                      gt_write_all(fd, text, filter_maps(text), &v->error) &&
                      gotrace_symbols_read_maps(v->symbols, path, &v->error) == GOTRACE_OK;
    gt_free(&v->heap, text, room);
    return good;
}

/* Names are those of the files that the process had mapped. */
static bool open_symbols(recovery *v, const gotrace_config *config)
{
    if (gotrace_symbols_new(config, &v->symbols, &v->error) < 0)
        return false;
    const int fd = memfd_create("maps", MFD_CLOEXEC);
    if (fd < 0)
        return fail(v, GOTRACE_RULE_SYSTEM_OPEN, GOTRACE_NO_OFFSET,
                    "cannot create a file in memory");
    const bool good = read_symbols(v, fd);
    close(fd);
    return good;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static bool recover(recovery *v, gotrace_resolve_fn resolve, void *resolve_ctx,
                    const gotrace_config *config)
{
    if (!read_head(v) || !read_slots(v) || (!resolve && !open_symbols(v, config)))
        return false;
    return begin_recorder(v, resolve ? resolve : gotrace_symbols_resolve,
                          resolve ? resolve_ctx : v->symbols, config) &&
           put_eras(v);
}

gotrace_status gotrace_recover(gotrace_source *file, gotrace_resolve_fn resolve, void *resolve_ctx,
                               gotrace_write_fn write, void *ctx, const gotrace_config *config,
                               gotrace_error *error)
{
    gt_call call;
    gt_heap heap;
    if (gt_call_begin(&call, config) < 0)
        return gt_call_end(&call, GOTRACE_ERROR, error);
    gt_heap_init(&heap, &call.config);
    recovery *v = gt_calloc(&heap, 1, sizeof *v);
    if (!v)
        return gt_call_end(&call, gt_error_memory(&call.error, &heap), error);
    v->file = file;
    v->write = write;
    v->ctx = ctx;
    v->heap = heap;
    v->error = call.error;
    const gotrace_status status = recover(v, resolve, resolve_ctx, &call.config) ? GOTRACE_OK
                                                                                 : GOTRACE_ERROR;
    call.error = v->error;
    end_recorder(v);
    gotrace_symbols_free(v->symbols);
    gt_free(&v->heap, v->slots, v->capacity * sizeof *v->slots);
    heap = v->heap;
    gt_free(&heap, v, sizeof *v);
    return gt_call_end(&call, status, error);
}
