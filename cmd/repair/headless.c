/*
 * headless.c - decide whether bytes without a header are a trace, and of which version.
 *
 * Part of the bytes of any file can be read as records: a quarter of random bytes, and a single
 * string may cover a million bytes. So the size of the batches found proves nothing; what counts is
 * the number of bytes that are evidence. Evidence is a record
 *
 *   - that is not a string or message with bytes that are not text;
 *   - in a batch that is consistent with the others: its generation is that of a neighbour or the
 *     next, it starts after the previous batch of the same thread or proc ends (a repeating pattern
 *     has the same time again and again), there is one frequency, and each string id is defined
 *     once;
 *   - in a batch of at least ENOUGH records: the chance of so many in a row is one in 4^ENOUGH.
 *
 * The bytes are a trace of the version with the most evidence if that is at least half of the
 * bytes. tests/repair/headless.py measures the rate of wrong decisions of both kinds. */
#include "formats/common/idmap.h"
#include "cmd/repair/repair.h"
#include "formats/common/utf8.h"

enum { ENOUGH = 12 };

/* The evidence for one version. */
typedef struct survey {
    const repair *r;
    idmap written;      /* owner and kind -> index of the last batch + 1 */
    idmap strings;      /* id and generation of each string that is defined */
    uint64_t frequency; /* 0: none found */
    uint64_t bytes, records;
    bool memory; /* no allocation failed */
} survey;

static bool is_text(const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (data[i] < 0x20 && data[i] != '\t' && data[i] != '\n' && data[i] != '\r')
            return false;
    return utf8_valid_prefix((const char *)data, size) == size;
}

/* False if the record contradicts an earlier one: a second frequency, or a second string of the
 * same id in a generation. */
static bool record_agrees(survey *s, const repair_batch *b, const repair_record *record)
{
    bool v2 = repair_is_v2(s->r);
    unsigned code = record->spec->code;
    if (code == (unsigned)(v2 ? GOTRACE_V2_Frequency : GOTRACE_V1_Frequency)) {
        if (s->frequency == 0)
            s->frequency = record->args[0];
        return record->args[0] == s->frequency;
    }
    if (code != (unsigned)(v2 ? GOTRACE_V2_String : GOTRACE_V1_String))
        return true;
    bool *defined = idmap_insert(&s->strings, record->args[0] ^ b->generation << 32);
    s->memory = s->memory && defined;
    if (!defined || *defined)
        return false;
    *defined = true;
    return true;
}

/* Count a batch's records, unless one of them contradicts others. */
static void survey_records(survey *s, const repair_batch *b)
{
    const uint8_t *p = repair_records_of(s->r, b), *end = s->r->bytes + b->end;
    repair_record record;
    uint64_t noise = 0, records = 0;
    for (; p < end && repair_read_record(s->r, p, end, &record); p += record.size) {
        if (!record_agrees(s, b, &record))
            return;
        noise += is_text(record.data, record.data_size) ? 0 : record.data_size;
        records++;
    }
    s->bytes += b->end - b->offset - noise;
    s->records += records;
}

/* Batches are ordered by generation, and generations are consecutive. */
static bool are_neighbours(const repair_batch *before, const repair_batch *after)
{
    return after->generation == before->generation || after->generation == before->generation + 1;
}

static bool generation_agrees(const repair *r, size_t i)
{
    const repair_batch *b = &r->batches[i];
    return !repair_is_v2(r) || r->count == 1 || (i > 0 && are_neighbours(b - 1, b)) ||
           (i + 1 < r->count && are_neighbours(b, b + 1));
}

static bool same_bytes(const repair *r, const repair_batch *a, const repair_batch *b)
{
    size_t size = a->end - a->offset;
    return size == b->end - b->offset &&
           memcmp(r->bytes + a->offset, r->bytes + b->offset, size) == 0;
}

/* Whether the batch starts after the owner's previous batch of this kind. */
static bool time_agrees(survey *s, size_t i)
{
    enum { KINDS = 8 };
    const repair_batch *b = &s->r->batches[i];
    size_t *last = idmap_insert(&s->written, b->owner * KINDS + b->kind);
    s->memory = s->memory && last;
    if (!last)
        return false;
    const repair_batch *before = *last > 0 ? &s->r->batches[*last - 1] : NULL;
    *last = i + 1;
    if (!before || b->resumed || b->is_experiment)
        return true;
    uint64_t end = b->kind == PARTS_EVENTS ? before->last : before->time;
    return b->time >= end && !same_bytes(s->r, before, b);
}

static void survey_batch(survey *s, size_t i)
{
    const repair_batch *b = &s->r->batches[i];
    if (b->kind == PARTS_END) {
        /* An EndOfGeneration directly after a batch counts as one byte. */
        s->bytes += i > 0 && b[-1].kind != PARTS_END && b[-1].end == b->offset;
    } else if (generation_agrees(s->r, i) && time_agrees(s, i)) {
        if (b->is_experiment)
            s->bytes += b->padded ? b->end - b->offset : 0;
        else
            survey_records(s, b);
    }
}

/* Count the bytes of evidence for the repair's version; 0 if there are too few. False only on a
 * system error or an exceeded limit. */
static bool count_evidence(repair *r, uint64_t *bytes)
{
    survey s = {.r = r, .memory = true};
    if (!repair_scan(r) || (!repair_is_v2(r) && !repair_resume(r)))
        return false;
    idmap_init(&s.written, sizeof(size_t));
    idmap_init(&s.strings, sizeof(bool));
    for (size_t i = 0; s.memory && i < r->count; i++) {
        survey_batch(&s, i);
        repair_release(r, r->batches[i].end - r->batches[i].offset);
    }
    idmap_free(&s.written);
    idmap_free(&s.strings);
    if (!s.memory)
        fill_error(r->error, GOTRACE_RULE_SYSTEM_MEMORY, GOTRACE_NO_OFFSET, "out of memory");
    *bytes = s.records >= ENOUGH && s.bytes >= r->size / 2 ? s.bytes : 0;
    return s.memory;
}

bool repair_guess_version(repair *r)
{
    size_t count;
    const int *versions = gotrace_versions(&count);
    int best = 0;
    uint64_t most = 0, bytes;
    bool done = true;
    r->quiet = r->headless = true;
    for (size_t i = 0; done && i < count; i++) {
        repair_set_version(r, versions[i]);
        done = count_evidence(r, &bytes);
        if (done && bytes > most) {
            most = bytes;
            best = r->version;
        }
    }
    r->quiet = false;
    repair_set_version(r, best);
    return done;
}
