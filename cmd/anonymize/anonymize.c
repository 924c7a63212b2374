/* anonymize.c - the two passes: what the strings are used as, and writing. */
#include "cmd/anonymize/anonymize.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/anonymize/roles.h"
#include "cmd/parts/parts.h"
#include "core/hash.h"
#include "formats/common/protobuf.h"

/* The batch that is being written (v2). */
typedef struct batch {
    bool open;
    gotrace_record head; /* args and widths are those below */
    uint64_t args[GOTRACE_MAX_ARGS];
    uint8_t widths[GOTRACE_MAX_ARGS + 2];
    uint8_t marker; /* code of its first record if that has no arguments, else 0 */
    parts_bytes body;
} batch;

typedef struct work {
    const anonymize_job *job;
    gotrace_config quiet; /* of the first pass: problems are reported in the second one */
    parts_memory memory;
    parts_walker walker;
    parts_input input;
    parts_batches batches; /* v2 */
    parts_record_fn pass;
    uint64_t seed;
    uint64_t generation; /* v2: number of the current one */
    role_table roles;
    idmap written;    /* by hash: pseudonyms that are in the map */
    uint64_t *values; /* changed arguments */
    size_t value_capacity;
    batch batch;
    parts_bytes scratch;
    parts_bytes data; /* of an experiment */
    bool writes;      /* the second pass */
} work;

static bool no_memory(gotrace_error *error)
{
    fill_error(error, GOTRACE_RULE_SYSTEM_MEMORY, GOTRACE_NO_OFFSET, "out of memory");
    return false;
}

static gotrace_status see_record(void *ctx, const gotrace_record *r, gotrace_error *error)
{
    work *w = ctx;
    return roles_add(&w->roles, r) || no_memory(error) ? GOTRACE_OK : GOTRACE_ERROR;
}

/* ---- batches of v2, which contain their size --------------------------------------------------
 */

static bool put_record(work *w, parts_bytes *to, const gotrace_record *r, const uint64_t *args,
                       gotrace_error *error)
{
    return parts_put_record(to, &w->memory, w->input.version, r, args, error);
}

static bool write_scratch(work *w)
{
    out_bytes(w->job->to, w->scratch.bytes, w->scratch.count);
    w->scratch.count = 0;
    return true;
}

static bool end_batch(work *w, gotrace_error *error)
{
    batch *b = &w->batch;
    if (!b->open)
        return true;
    uint64_t args[GOTRACE_MAX_ARGS];
    memcpy(args, b->args, sizeof args);
    args[b->head.arg_count - 1] = b->body.count;
    if (!put_record(w, &w->scratch, &b->head, args, error))
        return false;
    write_scratch(w);
    out_bytes(w->job->to, b->body.bytes, b->body.count);
    b->body.count = 0;
    b->open = false;
    return true;
}

static void begin_batch(work *w, const gotrace_record *head)
{
    batch *b = &w->batch;
    b->open = true;
    b->marker = 0;
    b->head = *head;
    memcpy(b->args, head->args, head->arg_count * sizeof *b->args);
    memcpy(b->widths, head->widths, head->width_count);
    b->head.args = b->args;
    b->head.widths = b->widths;
}

/* Adds the record to the batch or, if there is no room because names have become longer, to another
 * one like it. */
static bool add_to_batch(work *w, const gotrace_record *r, const uint64_t *args,
                         gotrace_error *error)
{
    batch *b = &w->batch;
    if (b->body.count == 0 && r->arg_count == 0)
        b->marker = r->spec->code;
    size_t before = b->body.count;
    if (!put_record(w, &b->body, r, args, error))
        return false;
    if (b->body.count <= PARTS_MAX_BATCH)
        return true;
    b->body.count = before;
    if (!end_batch(w, error))
        return false;
    b->open = true;
    if (b->marker)
        b->body.bytes[b->body.count++] = b->marker; /* there is room: it held a whole batch */
    return put_record(w, &b->body, r, args, error);
}

static bool write_record(work *w, const gotrace_record *r, const uint64_t *args,
                         gotrace_error *error)
{
    bool v2 = w->input.version >= GOTRACE_FIRST_V2;
    if (v2 && r->spec->code == GOTRACE_V2_EventBatch) {
        if (!end_batch(w, error))
            return false;
        begin_batch(w, r);
        return true;
    }
    if (w->batch.open && r->spec->code != GOTRACE_V2_ExperimentalBatch &&
        r->spec->code != GOTRACE_V2_EndOfGeneration)
        return add_to_batch(w, r, args, error);
    return end_batch(w, error) && put_record(w, &w->scratch, r, args, error) && write_scratch(w);
}

/* ---- records ----------------------------------------------------------------------------------
 */

static bool add_to_map(work *w, const char *name, size_t size, const char *made, size_t made_size,
                       gotrace_error *error)
{
    out *map = w->job->map;
    size_t known = w->written.count;
    if (!map || (size == made_size && memcmp(name, made, size) == 0))
        return true;
    if (!idmap_insert(&w->written, gt_hash_bytes(w->seed, made, made_size)))
        return no_memory(error);
    if (w->written.count == known)
        return true;
    out_str(map, known > 0 ? ",\n  " : "\n  ");
    out_json_string(map, made, made_size);
    out_str(map, ": ");
    out_json_string(map, name, size);
    return true;
}

/* Replaces the record's text. */
static bool replace_text(work *w, gotrace_record *r, unsigned roles, gotrace_error *error)
{
    const char *name = r->data;
    size_t size = r->data_size;
    r->data = names_replace(w->job->names, roles, name, &r->data_size);
    if (r->data_size != size && r->width_count > 0)
        r->width_count--; /* the last one is that of the text's size */
    if (w->job->names->no_memory)
        return no_memory(error);
    return add_to_map(w, name, size, r->data, r->data_size, error);
}

/* The changed arguments of the record; NULL after an error. */
static uint64_t *copy_values(work *w, const gotrace_record *r, gotrace_error *error)
{
    if (!parts_grow(&w->memory, &w->values, &w->value_capacity, r->arg_count, sizeof *w->values,
                    error))
        return NULL;
    memcpy(w->values, r->args, r->arg_count * sizeof *w->values);
    return w->values;
}

/* Until 1.6 GoCreate has a PC instead of a stack. */
static size_t start_pc_of(const work *w, const gotrace_record *r)
{
    const gotrace_arg_spec *args[GOTRACE_MAX_ARGS];
    enum { FIRST_START_STACK = 7 };
    if (w->input.version >= FIRST_START_STACK)
        return SIZE_MAX;
    size_t count = gotrace_event_args(r->spec, w->input.version, args);
    for (size_t i = 0; i < count; i++)
        if (args[i]->kind == GOTRACE_ARG_START)
            return i;
    return SIZE_MAX;
}

static void shift_pcs(const work *w, const gotrace_record *r, uint64_t *values)
{
    size_t step = gotrace_frame_values(w->input.version);
    for (size_t i = BEFORE_FRAMES; i < r->arg_count; i += step)
        values[i] = names_shift_pc(w->job->names, values[i]);
}

/* Removes the message of a UserLog. */
static void drop_message(const work *w, gotrace_record *r, uint64_t *values)
{
    enum { MESSAGE = 3 }; /* v2: dt, task, category, message, stack */
    if (w->input.version >= GOTRACE_FIRST_V2)
        values[MESSAGE] = 0;
    else
        r->data_size = 0;
}

static bool is_log(const work *w, const gotrace_record *r)
{
    return r->spec->code == (w->input.version >= GOTRACE_FIRST_V2 ? (int)GOTRACE_V2_UserLog
                                                                  : (int)GOTRACE_V1_UserLog);
}

/* ---- experiments ------------------------------------------------------------------------------
 */

/* What begins the data of Go's own experiment, allocations. */
enum { ALLOC_FREE = 1, ALLOC_TYPES = 0, ALLOC_INFO = 1 };

static uint8_t *reserve_data(work *w, size_t size, gotrace_error *error)
{
    parts_bytes *data = &w->data;
    return parts_grow(&w->memory, &data->bytes, &data->capacity, data->count + size, 1, error)
               ? data->bytes + data->count
               : NULL;
}

/* Replaces the record's data. */
static void set_data(gotrace_record *r, const void *data, size_t size)
{
    if (r->data_size != size && r->width_count > 0)
        r->width_count--; /* the last one is that of the data's size */
    r->data = data;
    r->data_size = size;
}

/* Adds a type, with another address and a pseudonym: if there is no room for it, after a record
 * with those before it. */
static bool add_type(work *w, const gotrace_record *r, const uint64_t *values, const char *name,
                     gotrace_error *error)
{
    enum { ADDRESS = 1, SIZE = 4, VALUES = 5, MOST = VALUES * 10 };
    size_t size = (size_t)values[SIZE];
    const char *made = names_replace(w->job->names, 0, name, &size);
    if (w->job->names->no_memory)
        return no_memory(error);
    if (!add_to_map(w, name, (size_t)values[SIZE], made, size, error))
        return false;
    if (w->data.count + MOST + size > PARTS_MAX_BATCH) {
        gotrace_record full = *r;
        set_data(&full, w->data.bytes, w->data.count);
        if (!write_record(w, &full, NULL, error))
            return false;
        w->data.count = 1;
    }
    uint8_t *at = reserve_data(w, MOST + size, error);
    if (!at)
        return false;
    for (size_t i = 0; i < SIZE; i++)
        at = protobuf_put_varint(at, i == ADDRESS ? names_shift_pc(w->job->names, values[i])
                                                  : values[i]);
    at = protobuf_put_varint(at, size);
    memcpy(at, made, size);
    w->data.count = (size_t)(at + size - w->data.bytes);
    return true;
}

/* The data of allocations: types, each its id, address, size, bytes with pointers, and name; or
 * four numbers. What follows anything else is lost. */
static bool replace_allocations(work *w, gotrace_record *r, gotrace_error *error)
{
    enum { INFO_VALUES = 4, TYPE_VALUES = 5, MOST = 1 + 10 * INFO_VALUES };
    const uint8_t *p = (const uint8_t *)r->data, *end = p + r->data_size;
    uint64_t values[TYPE_VALUES];
    w->data.count = 0;
    uint8_t *at = reserve_data(w, MOST, error);
    if (!at)
        return false;
    uint8_t kind = *at++ = *p++;
    for (size_t i = 0; kind == ALLOC_INFO && i < INFO_VALUES && parts_varint(&p, end, values); i++)
        at = protobuf_put_varint(at, *values);
    w->data.count = (size_t)(at - w->data.bytes);
    for (size_t i = 0; kind == ALLOC_TYPES && p < end; i = 0) {
        while (i < TYPE_VALUES && parts_varint(&p, end, &values[i]))
            i++;
        if (i < TYPE_VALUES || values[i - 1] > (uint64_t)(end - p))
            break;
        if (!add_type(w, r, values, (const char *)p, error))
            return false;
        p += values[i - 1];
    }
    set_data(r, w->data.bytes, w->data.count);
    return true;
}

/* The data of any other experiment may be anything. */
static bool hide_data(work *w, gotrace_record *r, gotrace_error *error)
{
    static const char zeros[PARTS_MAX_BATCH];
    if (r->args[0] == ALLOC_FREE && r->data_size > 0 && (uint8_t)*r->data <= ALLOC_INFO)
        return replace_allocations(w, r, error);
    if (r->data_size > sizeof zeros) {
        fill_error(error, GOTRACE_RULE_SYSTEM_LIMIT, r->offset,
                   "the data of an experiment is larger than %zu bytes", sizeof zeros);
        return false;
    }
    r->data = zeros;
    return true;
}

/* Writes an entry of the string table, a shared one also as the user's. */
static bool write_string(work *w, const gotrace_record *r, gotrace_error *error)
{
    bool shared;
    gotrace_record own = *r, users = *r;
    unsigned roles = roles_of(&w->roles, r, &shared);
    if (!replace_text(w, &own, roles, error) || !write_record(w, &own, NULL, error))
        return false;
    uint64_t id = r->args[0] + w->roles.shift;
    return !shared || (replace_text(w, &users, 0, error) && write_record(w, &users, &id, error));
}

/* Replaces the arguments and the data of a record other than a string, and writes it. */
static bool write_changed(work *w, gotrace_record *r, gotrace_error *error)
{
    size_t start_pc = start_pc_of(w, r);
    uint64_t *values = NULL;
    bool logs = w->job->drop_logs && is_log(w, r), frames = r->spec->flags & GOTRACE_SPEC_FRAMES;
    bool shifted = roles_is_shifted(&w->roles, r);
    if (logs || frames || shifted || start_pc != SIZE_MAX) {
        values = copy_values(w, r, error);
        if (!values)
            return false;
    }
    if (start_pc != SIZE_MAX)
        values[start_pc] = names_shift_pc(w->job->names, values[start_pc]);
    if (frames)
        shift_pcs(w, r, values);
    if (shifted)
        roles_shift(&w->roles, r, values);
    if (logs)
        drop_message(w, r, values);
    bool good = true;
    if (w->input.version >= GOTRACE_FIRST_V2 && r->spec->code == GOTRACE_V2_ExperimentalBatch)
        good = hide_data(w, r, error);
    else if (r->data_size > 0)
        good = replace_text(w, r, 0, error);
    return good && write_record(w, r, values, error);
}

static gotrace_status rewrite_record(void *ctx, const gotrace_record *record, gotrace_error *error)
{
    work *w = ctx;
    gotrace_record r = *record;
    bool good = roles_is_string(&w->roles, &r) ? write_string(w, &r, error)
                                               : write_changed(w, &r, error);
    return !good ? GOTRACE_ERROR : w->job->to->failed ? GOTRACE_END : GOTRACE_OK;
}

/* ---- passes -----------------------------------------------------------------------------------
 */

static void report(const work *w, const gotrace_error *problem)
{
    const gotrace_config *config = w->job->config;
    if (w->writes && config->on_problem)
        config->on_problem(config->callback_ctx, problem);
}

static void index_problem(void *ctx, uint32_t number, const gotrace_error *problem)
{
    (void)number;
    const work *w = ctx;
    if (w->job->config->on_problem)
        w->job->config->on_problem(w->job->config->callback_ctx, problem);
}

static void show_progress(const work *w, uint64_t done)
{
    const gotrace_config *config = w->job->config;
    uint64_t size = gotrace_source_size(w->job->source);
    if (config->on_progress)
        config->on_progress(config->callback_ctx, w->writes ? size + done : done, 2 * size);
}

/* Passes the records of a range on; damage in it is reported. */
static bool walk(work *w, uint64_t offset, uint64_t size, gotrace_error *error)
{
    gotrace_error found = {.rule = GOTRACE_RULE_NONE};
    if (parts_walk(&w->walker, w->job->source, offset, size, w->pass, w, &found) >= 0)
        return true;
    if (found.class_ == GOTRACE_CLASS_SYSTEM) {
        *error = found;
        return false;
    }
    report(w, &found);
    return true;
}

static bool walk_v1(work *w, gotrace_error *error)
{
    uint64_t size = gotrace_source_size(w->job->source);
    return walk(w, PARTS_HEADER, size - PARTS_HEADER, error);
}

static bool end_generation(work *w, gotrace_error *error)
{
    if (!w->writes)
        return roles_end_generation(&w->roles) || no_memory(error);
    roles_next_generation(&w->roles);
    return true;
}

/* Batch by batch, so that only the rest of a damaged one is lost. */
static bool walk_v2(work *w, gotrace_error *error)
{
    for (size_t i = 0; i < w->batches.count && !w->job->to->failed; i++) {
        const parts_batch *b = &w->batches.list[i];
        /* In a damaged trace the next generation may have the same number. */
        bool ends = b->kind == PARTS_END || b->generation != w->generation;
        if (ends && !end_generation(w, error))
            return false;
        w->generation = b->generation;
        if (!walk(w, b->offset, b->size, error))
            return false;
        show_progress(w, b->offset + b->size);
    }
    return true;
}

static bool run_pass(work *w, bool writes, gotrace_error *error)
{
    w->writes = writes;
    w->pass = writes ? rewrite_record : see_record;
    w->generation = 0;
    if (writes)
        roles_rewind(&w->roles);
    if (!parts_walker_init(&w->walker, w->input.version, writes ? w->job->config : &w->quiet,
                           error))
        return false;
    bool good = w->input.version < GOTRACE_FIRST_V2 ? walk_v1(w, error) : walk_v2(w, error);
    parts_walker_free(&w->walker);
    return good && (!writes || end_batch(w, error)) && end_generation(w, error);
}

static bool index_batches(work *w, gotrace_error *error)
{
    const parts_scan scan = {.input = &w->input,
                             .batches = &w->batches,
                             .memory = &w->memory,
                             .config = &w->quiet,
                             .problem = index_problem,
                             .ctx = w};
    return w->input.version < GOTRACE_FIRST_V2 || parts_index_v2(&scan, error) == GOTRACE_OK;
}

static bool write_all(work *w, gotrace_error *error)
{
    out *map = w->job->map;
    parts_put_header(w->job->to, w->input.version);
    if (map)
        out_char(map, '{');
    if (!run_pass(w, true, error))
        return false;
    if (map)
        out_str(map, "\n}\n");
    return true;
}

gotrace_status anonymize_write(const anonymize_job *job, gotrace_error *error)
{
    work w = {.job = job,
              .quiet = *job->config,
              .memory = {.limit = parts_limit(job->config)},
              .input = {.source = job->source, .version = job->version},
              .seed = gt_hash_seed()};
    w.quiet.on_problem = NULL;
    w.quiet.on_progress = NULL;
    roles_init(&w.roles, job->version);
    idmap_init(&w.written, sizeof(uint8_t));
    error->rule = GOTRACE_RULE_NONE;
    bool good = index_batches(&w, error) && run_pass(&w, false, error) && write_all(&w, error);
    roles_free(&w.roles);
    idmap_free(&w.written);
    parts_drop(&w.memory, w.values, w.value_capacity, sizeof *w.values);
    free(w.scratch.bytes);
    free(w.data.bytes);
    free(w.batch.body.bytes);
    parts_drop(&w.memory, w.batches.list, w.batches.capacity, sizeof *w.batches.list);
    parts_input_free(&w.input, &w.memory);
    return good ? GOTRACE_OK : GOTRACE_ERROR;
}
