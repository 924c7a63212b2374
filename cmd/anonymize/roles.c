/* roles.c - what the strings of a trace are used as. */
#include "cmd/anonymize/roles.h"

#include <string.h>

#include "core/hash.h"
#include "formats/common/rows_by_meaning.h"

/* Beyond names_role: a text of the user. */
enum { OF_USER = 16 };

/* Whose functions are in a file. */
enum { OF_STD = 1, OF_OTHERS = 2 };

/* A string of the generation. */
typedef struct string {
    uint64_t hash;
    bool known;    /* it has a text, of that hash */
    bool reason;   /* of the runtime: tracers write all, whether they are used or not */
    uint8_t whose; /* if it is a function; 0: its package is unknown */
    uint8_t roles;
} string;

typedef struct frame {
    uint64_t function, file; /* ids of strings */
} frame;

/* What Go uses a text for. */
typedef struct use {
    uint64_t since; /* the generation that was the first to do so */
    uint8_t roles;
    uint8_t whose; /* of a file: of all its functions */
} use;

/* What is not listed here is the user's. */
static uint8_t role_of(const gotrace_semantics *s)
{
    bool starts = s->other.to == GOTRACE_STATE_RUNNING, stops = s->self.to != s->self.from;
    bool label = s->kind == GOTRACE_KIND_LABEL;
    bool world = s->kind == GOTRACE_KIND_RANGE_BEGIN && s->range == GOTRACE_RANGE_STW;
    return starts || stops || label || world ? NAMES_RUNTIME : OF_USER;
}

void roles_init(role_table *r, int version)
{
    memset(r, 0, sizeof *r);
    r->seed = gt_hash_seed();
    parts_shape_init(&r->shape, version);
    for (unsigned code = 0; code < sizeof r->of_event; code++) {
        const gotrace_event_spec *spec = gotrace_event_spec_of(version, code);
        if (spec && row_has(spec, GOTRACE_ARG_STRING))
            r->of_event[code] = role_of(spec->semantics);
    }
    idmap_init(&r->strings, sizeof(string));
    idmap_init(&r->frames, sizeof(frame));
    idmap_init(&r->uses, sizeof(use));
    idmap_init(&r->shared, sizeof(bool));
}

void roles_free(role_table *r)
{
    idmap_free(&r->strings);
    idmap_free(&r->frames);
    idmap_free(&r->uses);
    idmap_free(&r->shared);
}

static uint64_t hash_pair(const role_table *r, uint64_t a, uint64_t b)
{
    return gt_hash_add(r->seed, gt_hash_add(r->seed, r->seed, a), b);
}

/* ---- first pass ------------------------------------------------------------------------------ */

bool roles_is_string(const role_table *r, const gotrace_record *record)
{
    return record->spec->code ==
           (r->shape.version >= GOTRACE_FIRST_V2 ? (int)GOTRACE_V2_String : (int)GOTRACE_V1_String);
}

static bool add_string(role_table *r, const gotrace_record *record)
{
    string *s = idmap_insert(&r->strings, record->args[0]);
    if (!s)
        return false;
    s->hash = gt_hash_bytes(r->seed, record->data, record->data_size);
    s->known = true;
    s->reason = known_reason(record->data, record->data_size);
    s->whose = names_is_std(record->data, record->data_size)        ? OF_STD
               : names_has_package(record->data, record->data_size) ? OF_OTHERS
                                                                    : 0;
    if (record->args[0] > r->largest)
        r->largest = record->args[0];
    return true;
}

static bool add_role(role_table *r, uint64_t id, uint8_t role)
{
    string *s = id ? idmap_insert(&r->strings, id) : NULL;
    if (s)
        s->roles |= role;
    return s || !id;
}

static bool add_frames(role_table *r, const gotrace_record *record)
{
    size_t values = gotrace_frame_values(r->shape.version);
    for (size_t i = BEFORE_FRAMES; values > 1 && i + values <= record->arg_count; i += values) {
        uint64_t function = record->args[i + 1], file = record->args[i + 2];
        frame *f = idmap_insert(&r->frames, hash_pair(r, function, file));
        if (!f)
            return false;
        *f = (frame){function, file};
    }
    return true;
}

bool roles_add(role_table *r, const gotrace_record *record)
{
    if (roles_is_string(r, record))
        return add_string(r, record);
    if (record->spec->flags & GOTRACE_SPEC_FRAMES)
        return add_frames(r, record);
    uint8_t role = r->of_event[record->spec->code];
    for (size_t i = 0; role && i < record->arg_count; i++)
        if (parts_ref_of(&r->shape, record, i) == PARTS_REF_STRING &&
            !add_role(r, record->args[i], role))
            return false;
    return true;
}

/* The functions and files of the frames. */
static bool resolve_frames(role_table *r)
{
    size_t cursor = 0;
    uint64_t key;
    void *value;
    while (idmap_next(&r->frames, &cursor, &key, &value)) {
        const frame *f = value;
        if (!add_role(r, f->function, NAMES_FUNCTION) || !add_role(r, f->file, NAMES_FILE))
            return false;
        const string *function = idmap_find(&r->strings, f->function);
        const string *file = idmap_find(&r->strings, f->file);
        use *u = file && file->known ? idmap_insert(&r->uses, file->hash) : NULL;
        if (file && file->known && !u)
            return false;
        if (u)
            u->whose |= function && function->known ? function->whose : OF_OTHERS;
    }
    return true;
}

static bool resolve_uses(role_table *r)
{
    size_t cursor = 0;
    uint64_t key;
    void *value;
    while (idmap_next(&r->strings, &cursor, &key, &value)) {
        const string *s = value;
        uint8_t given = s->roles & (NAMES_RUNTIME | NAMES_FUNCTION | NAMES_FILE);
        if (s->roles == 0 && s->reason)
            given = NAMES_RUNTIME;
        use *u = s->known && given ? idmap_insert(&r->uses, s->hash) : NULL;
        if (s->known && given && !u)
            return false;
        if (u && !u->roles)
            u->since = r->generation;
        if (u)
            u->roles |= given;
    }
    return true;
}

static bool resolve_shared(role_table *r)
{
    size_t cursor = 0;
    uint64_t id;
    void *value;
    while (idmap_next(&r->strings, &cursor, &id, &value)) {
        const string *s = value;
        if (s->known && (s->roles & OF_USER) && idmap_find(&r->uses, s->hash) &&
            !idmap_insert(&r->shared, hash_pair(r, r->generation, id)))
            return false;
    }
    return true;
}

bool roles_end_generation(role_table *r)
{
    bool good = resolve_frames(r) && resolve_uses(r) && resolve_shared(r);
    idmap_free(&r->strings);
    idmap_free(&r->frames);
    r->generation++;
    return good;
}

/* ---- second pass ----------------------------------------------------------------------------- */

void roles_rewind(role_table *r)
{
    r->generation = 0;
    r->shift = r->largest < UINT64_MAX / 2 ? r->largest + 1 : 0;
}

void roles_next_generation(role_table *r)
{
    r->generation++;
}

static bool is_shared(const role_table *r, uint64_t id)
{
    return r->shared.count > 0 && idmap_find(&r->shared, hash_pair(r, r->generation, id));
}

unsigned roles_of(const role_table *r, const gotrace_record *record, bool *shared)
{
    const use *u = idmap_find(&r->uses, gt_hash_bytes(r->seed, record->data, record->data_size));
    *shared = false;
    if (!u || u->since > r->generation)
        return 0;
    bool users = is_shared(r, record->args[0]);
    if (users && r->shift == 0)
        return 0; /* there is no other id: it is the user's in all places */
    *shared = users;
    return u->roles | (u->whose == OF_STD ? (unsigned)NAMES_STD_FILE : 0);
}

static bool is_shifted(const role_table *r, const gotrace_record *record, size_t n)
{
    return parts_ref_of(&r->shape, record, n) == PARTS_REF_STRING && is_shared(r, record->args[n]);
}

bool roles_is_shifted(const role_table *r, const gotrace_record *record)
{
    bool found = false;
    bool possible = r->shared.count > 0 && r->of_event[record->spec->code] == OF_USER;
    for (size_t i = 0; possible && i < record->arg_count; i++)
        found = found || is_shifted(r, record, i);
    return found;
}

void roles_shift(const role_table *r, const gotrace_record *record, uint64_t *values)
{
    for (size_t i = 0; i < record->arg_count; i++)
        if (is_shifted(r, record, i))
            values[i] += r->shift;
}
