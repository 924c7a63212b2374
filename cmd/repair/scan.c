/* scan.c - find sound batches in a damaged trace. */
#include "cmd/repair/repair.h"

enum {
    FORM_LENGTH = 3, /* v1: the record contains its size */
    MOST_STRING = 1000000,
    MOST_FRAMES = 1000,
    WIDEST = 10, /* size of the longest varint */
};

/* ---- records -------------------------------------------------------------------------------- */

/* Nearly all values are below 128. */
static inline bool take_varint(const uint8_t **p, const uint8_t *end, uint64_t *value)
{
    if (*p == end || **p >= 0x80)
        return parts_varint(p, end, value);
    *value = *(*p)++;
    return true;
}

static bool take_data(const uint8_t **p, const uint8_t *end, repair_record *record)
{
    uint64_t size;
    if (!take_varint(p, end, &size) || size > MOST_STRING || size > (uint64_t)(end - *p))
        return false;
    record->data = *p;
    record->data_size = (size_t)size;
    *p += size;
    return true;
}

static bool take_frames(int version, const uint8_t **p, const uint8_t *end, repair_record *record)
{
    uint64_t value, count = record->args[1];
    if (count > MOST_FRAMES)
        return false;
    record->frames = *p;
    record->frame_values = count * gotrace_frame_values(version);
    for (uint64_t i = 0; i < record->frame_values; i++)
        if (!take_varint(p, end, &value))
            return false;
    return true;
}

static bool take_args(const uint8_t **p, const uint8_t *end, repair_record *record)
{
    for (size_t i = 0; i < record->arg_count; i++)
        if (!take_varint(p, end, &record->args[i]))
            return false;
    return true;
}

/* v1: two bits of the first byte give the number of values, or say that a size follows. Until 1.6
 * there is an additional sequence number. */
static bool take_v1(int version, const uint8_t **p, const uint8_t *end, unsigned form,
                    repair_record *record)
{
    if (record->spec->code == GOTRACE_V1_String)
        return take_args(p, end, record) && record->args[0] != 0 && take_data(p, end, record) &&
               record->data_size > 0;
    const uint8_t *stop = end;
    if (form == FORM_LENGTH) {
        uint64_t length;
        if (!take_varint(p, end, &length) || length > (uint64_t)(end - *p))
            return false;
        stop = *p + length;
    } else if (record->arg_count != form + 1 + (version < 7) ||
               (record->spec->flags & GOTRACE_SPEC_FRAMES)) {
        return false;
    }
    if (!take_args(p, stop, record))
        return false;
    if ((record->spec->flags & GOTRACE_SPEC_FRAMES) && !take_frames(version, p, stop, record))
        return false;
    if (form == FORM_LENGTH && *p != stop)
        return false;
    return !(record->spec->flags & GOTRACE_SPEC_DATA) || take_data(p, end, record);
}

/* Decode the record at p, which has that row and number of arguments; spec is NULL if there is no
 * such row. */
static inline bool take_record(int version, const gotrace_event_spec *spec, size_t arg_count,
                               const uint8_t *p, const uint8_t *end, repair_record *record)
{
    unsigned form = *p >> 6;
    record->at = p++;
    record->size = 1;
    record->spec = spec;
    record->arg_count = arg_count;
    record->frames = record->data = NULL;
    record->frame_values = record->data_size = 0;
    if (!spec)
        return false;
    bool whole;
    if (version < GOTRACE_FIRST_V2)
        whole = take_v1(version, &p, end, form, record);
    else
        whole = take_args(&p, end, record) &&
                (!(spec->flags & GOTRACE_SPEC_FRAMES) || take_frames(version, &p, end, record)) &&
                (!(spec->flags & GOTRACE_SPEC_DATA) || take_data(&p, end, record));
    record->size = (size_t)(p - record->at);
    return whole;
}

bool repair_record_at(int version, const uint8_t *p, const uint8_t *end, repair_record *record)
{
    const gotrace_arg_spec *args[GOTRACE_MAX_ARGS];
    record->size = 0;
    if (p >= end)
        return false;
    const gotrace_event_spec *spec = gotrace_event_spec_of(
        version, version < GOTRACE_FIRST_V2 ? *p & 0x3f : *p);
    size_t arg_count = spec ? gotrace_event_args(spec, version, args) : 0;
    return take_record(version, spec, arg_count, p, end, record);
}

bool repair_read_record(const repair *r, const uint8_t *p, const uint8_t *end,
                        repair_record *record)
{
    record->size = 0;
    if (p >= end)
        return false;
    unsigned code = repair_is_v2(r) ? *p : *p & 0x3f;
    return take_record(r->version, r->specs[code], r->arg_counts[code], p, end, record);
}

void repair_set_version(repair *r, int version)
{
    const gotrace_arg_spec *args[GOTRACE_MAX_ARGS];
    r->version = version;
    parts_shape_init(&r->shape, version);
    for (unsigned code = 0; code < 256; code++) {
        const gotrace_event_spec *spec = r->specs[code] = gotrace_event_spec_of(version, code);
        size_t count = spec ? gotrace_event_args(spec, version, args) : 0;
        r->arg_counts[code] = (uint8_t)count;
        r->goroutine_args[code] = 0;
        for (size_t i = 0; i < count; i++)
            if (args[i]->kind == GOTRACE_ARG_GOROUTINE)
                r->goroutine_args[code] |= (uint16_t)(1 << i);
    }
}

const uint8_t *repair_records_of(const repair *r, const repair_batch *b)
{
    bool marked = repair_is_v2(r) && (b->kind == PARTS_STRINGS || b->kind == PARTS_STACKS ||
                                      b->kind == PARTS_SAMPLES ||
                                      (b->kind == PARTS_SYNC && r->version >= GOTRACE_FIRST_SYNC));
    return r->bytes + b->body + (marked && b->end > b->body);
}

/* ---- batches of v2 -------------------------------------------------------------------------- */

static bool v2_header(const repair *r, size_t at, repair_batch *b, uint64_t *size)
{
    const uint8_t *p = r->bytes + at + 1, *end = r->bytes + r->size;
    uint8_t first = r->bytes[at];
    uint64_t v[4];
    *b = (repair_batch){.offset = at,
                        .is_experiment = first == GOTRACE_V2_ExperimentalBatch &&
                                         r->version >= GOTRACE_FIRST_EXPERIMENTS};
    if (first == GOTRACE_V2_EndOfGeneration && r->version >= GOTRACE_FIRST_GENERATION_END) {
        *size = 0;
        b->kind = PARTS_END;
        b->body = b->end = at + 1;
        return true;
    }
    if (first != GOTRACE_V2_EventBatch && !b->is_experiment)
        return false;
    if (b->is_experiment && !parts_varint(&p, end, &b->experiment))
        return false;
    const uint8_t *last = p;
    for (unsigned i = 0; i < 4; i++) {
        last = p;
        if (!parts_varint(&p, end, &v[i]))
            return false;
    }
    b->generation = v[0];
    b->owner = v[1];
    b->time = b->last = v[2];
    *size = v[3];
    b->body = (size_t)(p - r->bytes);
    b->padded = p - last >= WIDEST;
    /* No process has so many generations, and no machine is up for so long. An impossible size
     * is taken for damage if it is padded, as tracers do. */
    return v[0] > 0 && v[0] < UINT64_C(1) << 40 && v[2] < UINT64_C(1) << 62 &&
           (v[3] <= PARTS_MAX_BATCH || b->padded);
}

static parts_kind v2_kind(const repair *r, size_t at)
{
    switch (at < r->size ? r->bytes[at] : 0) {
    case GOTRACE_V2_Strings: return PARTS_STRINGS;
    case GOTRACE_V2_Stacks: return PARTS_STACKS;
    case GOTRACE_V2_CPUSamples: return PARTS_SAMPLES;
    case GOTRACE_V2_Frequency: return r->version < GOTRACE_FIRST_SYNC ? PARTS_SYNC : PARTS_EVENTS;
    case GOTRACE_V2_Sync: return r->version >= GOTRACE_FIRST_SYNC ? PARTS_SYNC : PARTS_EVENTS;
    default: return PARTS_EVENTS;
    }
}

static bool v2_belongs(const repair *r, parts_kind kind, const repair_record *record)
{
    unsigned code = record->spec->code;
    enum { MOST_V2_STRING = 1024, MOST_V2_FRAMES = 128 };
    switch (kind) {
    case PARTS_STRINGS:
        return code == GOTRACE_V2_String && record->args[0] != 0 &&
               record->data_size <= MOST_V2_STRING;
    case PARTS_STACKS:
        return code == GOTRACE_V2_Stack && record->args[0] != 0 &&
               record->args[1] <= MOST_V2_FRAMES;
    case PARTS_SAMPLES: return code == GOTRACE_V2_CPUSample;
    case PARTS_SYNC:
        return code == GOTRACE_V2_Frequency ||
               (code == GOTRACE_V2_ClockSnapshot && r->version >= GOTRACE_FIRST_SYNC);
    default: return (record->spec->flags & GOTRACE_SPEC_TIMED) && code != GOTRACE_V2_ClockSnapshot;
    }
}

/* Read records from the start of the batch up to `stop` or the first that does not belong to its
 * kind, and return where they end. The size in the header may be wrong. */
static size_t v2_records(const repair *r, repair_batch *b, size_t stop)
{
    const uint8_t *p = r->bytes + b->body, *end = r->bytes + stop;
    repair_record record;
    b->kind = (uint8_t)v2_kind(r, b->body);
    b->events = 0;
    b->last = b->time;
    if ((b->kind == PARTS_STRINGS || b->kind == PARTS_STACKS || b->kind == PARTS_SAMPLES ||
         (b->kind == PARTS_SYNC && r->version >= GOTRACE_FIRST_SYNC)) &&
        p < end)
        p++;
    while (p < end && !repair_is_text(r, p, stop) && repair_read_record(r, p, end, &record) &&
           v2_belongs(r, b->kind, &record)) {
        if (record.spec->flags & GOTRACE_SPEC_TIMED) {
            if (record.args[0] > UINT64_C(1) << 62 || b->last + record.args[0] > UINT64_C(1) << 62)
                break;
            b->last += record.args[0];
            b->events++;
        }
        p += record.size;
    }
    return (size_t)(p - r->bytes);
}

/* Whether a batch header, or the end of the file, is at this offset. */
static bool v2_boundary(const repair *r, size_t at)
{
    repair_batch b;
    uint64_t size;
    return at >= r->size || v2_header(r, at, &b, &size);
}

/* Offset of a batch's last record. */
static size_t last_record(const repair *r, const repair_batch *b)
{
    const uint8_t *p = r->bytes + b->body, *end = r->bytes + b->end;
    repair_record record;
    if (repair_is_v2(r) && b->kind != PARTS_EVENTS &&
        !(b->kind == PARTS_SYNC && r->version < GOTRACE_FIRST_SYNC) && p < end)
        p++;
    while (p < end && repair_read_record(r, p, end, &record) && p + record.size < end)
        p += record.size;
    return (size_t)(p - r->bytes);
}

/* Whether the file ends within the record at p. */
static bool is_cut_off(const repair *r, const uint8_t *p)
{
    const uint8_t *end = r->bytes + r->size;
    repair_record record;
    return r->specs[*p] && !repair_record_at(r->version, p, end, &record) && p + record.size == end;
}

/* The records of the batch end at damage. Other bytes seldom begin where a record does: the last
 * one has wrong values, and is left out. */
static void v2_leave_out_last(const repair *r, repair_batch *b)
{
    if (b->kind != PARTS_EVENTS || b->events == 0 || b->end >= r->size)
        return;
    if (repair_is_text(r, r->bytes + b->end, r->size) || is_cut_off(r, r->bytes + b->end))
        return;
    b->end = v2_records(r, b, last_record(r, b));
    b->cut = true;
}

/* Read a batch at this offset. sure: a batch is expected here, so that a part of one is accepted.
 */
static bool v2_batch(repair *r, size_t at, bool sure, repair_batch *b)
{
    uint64_t size;
    if (!v2_header(r, at, b, &size))
        return false;
    if (b->kind == PARTS_END)
        return sure;
    if (repair_is_text(r, r->bytes + at, r->size))
        return false;
    /* Go's tracers pad the size to ten bytes, so that other bytes rarely look like a header. Other
     * writers may not pad it. */
    bool first = sure && r->count == 0;
    if (!first && !b->padded && !r->unpadded)
        return false;
    if (!sure && r->spent / REPAIR_SEARCH_FACTOR > r->size)
        return false;
    bool inside = size <= PARTS_MAX_BATCH && size <= r->size - b->body;
    size_t claimed = inside ? b->body + (size_t)size : r->size;
    if (b->is_experiment) {
        b->end = claimed;
        return inside && (sure || v2_boundary(r, claimed));
    }
    b->end = v2_records(r, b, inside ? claimed : r->size);
    b->claimed = inside && b->kind == PARTS_EVENTS ? claimed : 0;
    r->spent += sure ? 0 : b->end - b->body;
    if (inside && b->end == claimed)
        return sure || size > 0;
    /* The size or the records are damaged. The size is right if another batch follows. */
    bool right = inside && claimed < r->size && v2_boundary(r, claimed);
    if (!right) {
        repair_batch other = *b;
        other.end = v2_records(
            r, &other, r->size - b->body > PARTS_MAX_BATCH ? b->body + PARTS_MAX_BATCH : r->size);
        if (other.end < r->size && v2_boundary(r, other.end))
            *b = other;
    }
    b->cut = b->end == b->body || !v2_boundary(r, b->end) || b->end >= r->size;
    b->changed = true;
    bool good = sure || (b->events > 0 && (right || b->end >= r->size || !b->cut ||
                                           repair_is_text(r, r->bytes + b->end, r->size)));
    if (right || b->cut)
        v2_leave_out_last(r, b);
    b->resized = !b->cut;
    return good;
}

/* ---- batches of v1 -------------------------------------------------------------------------- */

static bool v1_header(const repair *r, size_t at, repair_batch *b)
{
    repair_record record;
    if ((r->bytes[at] & 0x3f) != GOTRACE_V1_Batch ||
        !repair_read_record(r, r->bytes + at, r->bytes + r->size, &record))
        return false;
    *b = (repair_batch){.offset = at, .body = at + record.size, .owner = record.args[0]};
    b->time = b->last = record.args[record.arg_count - 1];
    b->seq = r->version < 7 ? record.args[1] : 0;
    enum { MOST_PROCS = 1 << 20 };
    return (b->owner < MOST_PROCS || b->owner + 1 < 2) && b->time < UINT64_C(1) << 62;
}

/* GoSysExit ends with a number and a time, like a batch header, and byte 0x41 (goroutine 65, or a
 * delta of 65 ticks) before them can be mistaken for the start of a header. It is a GoSysExit if
 * the record ends where the header would. */
static bool is_exit(const repair_record *record, const uint8_t *end)
{
    unsigned code = record->spec->code;
    return (code == GOTRACE_V1_GoSysExit || code == GOTRACE_V1_GoSysExitLocal) &&
           record->at + record->size == end;
}

/* Whether an apparent header is the end of a GoSysExit. */
static bool ends_exit(const repair *r, const repair_batch *b)
{
    enum { MOST_BEFORE = 8 }; /* bytes of code, size and time delta */
    const uint8_t *header = r->bytes + b->offset, *end = r->bytes + b->body;
    size_t most = b->offset < MOST_BEFORE ? b->offset : MOST_BEFORE;
    repair_record record;
    for (size_t before = 1; before <= most; before++)
        if (repair_read_record(r, header - before, end, &record) && is_exit(&record, end))
            return true;
    return false;
}

/* Whether a damaged record contains the header of the next batch, recognised by a similar time.
 * Times are large, so that this is rarely chance. */
static bool holds_header(const repair *r, const repair_batch *b, const repair_record *record)
{
    enum { LARGE = 1 << 28, USUAL_PROCS = 4096, HEADER = GOTRACE_V1_Batch | 1 << 6 };
    size_t at = (size_t)(record->at - r->bytes);
    repair_batch next;
    if (b->time < LARGE)
        return false;
    for (size_t i = at + 1; i < at + record->size; i++)
        if (r->bytes[i] == HEADER && v1_header(r, i, &next) && next.time / 2 < b->time &&
            b->time / 2 < next.time && next.owner + 1 < USUAL_PROCS &&
            !is_exit(record, r->bytes + next.body))
            return true;
    return false;
}

void repair_note_record(const repair *r, repair_batch *b, const repair_record *record)
{
    unsigned code = record->spec->code;
    for (unsigned mask = r->goroutine_args[code]; mask != 0; mask &= mask - 1) {
        uint64_t id = record->args[__builtin_ctz(mask)];
        b->goroutine = id > b->goroutine ? id : b->goroutine;
    }
    switch (code) {
    case GOTRACE_V1_String:
    case GOTRACE_V1_Stack: b->contents |= REPAIR_HAS_TABLES; break;
    case GOTRACE_V1_Frequency: b->contents |= REPAIR_HAS_FREQUENCY; break;
    case GOTRACE_V1_CPUSample: b->contents |= REPAIR_HAS_SAMPLES; break;
    default: break;
    }
}

/* Find again what a batch contains up to `stop`. */
static void v1_contents(const repair *r, repair_batch *b, size_t stop)
{
    const uint8_t *p = r->bytes + b->body, *end = r->bytes + stop;
    repair_record record;
    b->goroutine = b->contents = 0;
    for (; p < end && repair_read_record(r, p, end, &record); p += record.size)
        repair_note_record(r, b, &record);
}

/* Whether a batch header is an altered record of another type, or chance: its last number is then
 * mostly small and not a time, as that of the batch before it is. */
static bool is_false_header(const repair *r, const repair_batch *before, const repair_batch *b)
{
    enum { LARGE = 1 << 28, FAR = 256 };
    repair_record first;
    if (!repair_read_record(r, r->bytes + b->body, r->bytes + r->size, &first) ||
        !(first.spec->flags & GOTRACE_SPEC_TIMED))
        return false;
    uint64_t time = b->time + first.args[r->version < 7];
    return before->time >= LARGE && time < before->time / FAR && time >> 32 == 0 &&
           (b->owner != 0 || time != 0);
}

static bool ends_batch(const repair *r, const repair_batch *b, size_t at)
{
    repair_batch next;
    return (r->bytes[at] & 0x3f) == GOTRACE_V1_Batch &&
           !(v1_header(r, at, &next) && is_false_header(r, b, &next));
}

/* Read records up to the next batch or damage. */
static void v1_records(const repair *r, repair_batch *b)
{
    const uint8_t *p = r->bytes + b->body, *end = r->bytes + r->size;
    repair_record record;
    b->kind = PARTS_TABLES;
    while (p < end && !ends_batch(r, b, (size_t)(p - r->bytes)) &&
           (*p == GOTRACE_V1_String || !repair_is_text(r, p, r->size)) &&
           repair_read_record(r, p, end, &record) && !holds_header(r, b, &record)) {
        if (record.spec->flags & GOTRACE_SPEC_TIMED) {
            if (!repair_step(&b->last, record.args[r->version < 7]))
                break;
            b->events++;
            /* CPU samples are in batches of their own, with proc 0 and time 0. */
            if (b->kind != PARTS_EVENTS)
                b->kind = record.spec->code == GOTRACE_V1_CPUSample ? PARTS_SAMPLES : PARTS_EVENTS;
        }
        repair_note_record(r, b, &record);
        p += record.size;
    }
    b->end = (size_t)(p - r->bytes);
    repair_batch next;
    b->cut = b->end < r->size && !v1_header(r, b->end, &next) &&
             !repair_is_text(r, r->bytes + b->end, r->size);
}

static bool v1_batch(repair *r, size_t at, bool sure, repair_batch *b)
{
    enum { ENOUGH = 64 }; /* bytes of records; less can be chance */
    if ((!sure && r->spent / REPAIR_SEARCH_FACTOR > r->size) || !v1_header(r, at, b) ||
        repair_is_text(r, r->bytes + at, r->size))
        return false;
    if (!sure &&
        (ends_exit(r, b) || (r->count > 0 && is_false_header(r, &r->batches[r->count - 1], b))))
        return false;
    v1_records(r, b);
    r->spent += sure ? 0 : b->end - at;
    return sure || b->end - b->body >= ENOUGH || (!b->cut && b->end > b->body);
}

/* ---- v1 and v2 ------------------------------------------------------------------------------- */

/* After damage, the byte before a batch may be the code of ExperimentalBatch. Prefer the batch
 * after it if that contains whole records. */
static void prefer_records(repair *r, repair_batch *b, bool sure)
{
    repair_batch inner;
    bool damaged = !sure || (r->count > 0 && r->batches[r->count - 1].cut);
    if (b->is_experiment && damaged && v2_batch(r, b->offset + 1, false, &inner) &&
        !inner.is_experiment && !inner.cut)
        *b = inner;
}

static bool batch_at(repair *r, size_t at, bool sure, repair_batch *b)
{
    if (!repair_is_v2(r))
        return v1_batch(r, at, sure, b);
    if (!v2_batch(r, at, sure, b))
        return false;
    prefer_records(r, b, sure);
    return true;
}

static bool keep(repair *r, const repair_batch *b)
{
    if (!parts_grow(r->memory, &r->batches, &r->capacity, r->count + 1, sizeof *b, r->error))
        return false;
    r->batches[r->count++] = *b;
    r->sound += b->end - b->offset;
    repair_release(r, b->end - b->offset);
    return true;
}

/* Find the next batch at or after `at`; r->size if there is none. */
static size_t search(repair *r, size_t at, repair_batch *b)
{
    for (; at < r->size && !batch_at(r, at, false, b); at++)
        repair_release(r, 1);
    return at < r->size ? b->offset : at;
}

/* If bytes at the end of a batch are lost, its last record extends into the next batch's header.
 * Find that header, and remove the record. */
static bool search_back(repair *r, size_t at, repair_batch *found)
{
    repair_batch *b = r->count > 0 ? &r->batches[r->count - 1] : NULL;
    if (!b || b->end != at || b->is_experiment || b->kind == PARTS_END || b->end == b->body)
        return false;
    size_t from = last_record(r, b);
    for (size_t i = from + 1; i < at; i++) {
        if (!batch_at(r, i, false, found))
            continue;
        if (repair_is_v2(r))
            v2_records(r, b, from);
        else
            v1_contents(r, b, from);
        b->end = from;
        b->cut = b->changed = true;
        return true;
    }
    return false;
}

bool repair_scan(repair *r)
{
    size_t at = r->headless ? 0 : PARTS_HEADER;
    repair_batch b;
    r->count = 0;
    r->sound = 0;
    r->unpadded = false;
    r->spent = 0;
    bool sure = true;
    bool searched = false;
    while (at < r->size) {
        if (sure && batch_at(r, at, true, &b)) {
            if (b.kind == PARTS_END && r->count > 0)
                b.generation = r->batches[r->count - 1].generation;
            r->unpadded = r->unpadded || (r->count == 0 && !b.padded && b.kind != PARTS_END);
            b.searched = searched;
            searched = false;
            if (!keep(r, &b))
                return false;
            at = b.end > at ? b.end : at + 1;
            sure = b.end > b.offset;
            continue;
        }
        if (sure && search_back(r, at, &b)) {
            at = b.offset;
            searched = true;
            continue;
        }
        at = search(r, at + (sure ? 0 : 1), &b);
        sure = searched = true;
    }
    return true;
}
