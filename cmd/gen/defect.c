/* defect.c - find the places to change in a sound trace, and write the changed copy. */
#include "cmd/gen/defect.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "formats/common/spool.h"
#include "formats/common/out.h"
#include "formats/common/vector.h"

enum { PIECE = 256 * 1024, HEADER = 16 };

/* ---- varints --------------------------------------------------------------------------------- */

/* Encode in width bytes, or in as few as possible if width is 0; returns the number of bytes. */
static size_t put_number(uint8_t *bytes, uint64_t number, size_t width)
{
    size_t size = 0;
    while (number >= 0x80 || size + 1 < width) {
        bytes[size++] = (uint8_t)(0x80 | number);
        number >>= 7;
    }
    bytes[size++] = (uint8_t)number;
    return size;
}

static gotrace_status fail(gotrace_error *error, gotrace_rule rule, int number, const char *message)
{
    const gotrace_rule_info *info = gotrace_rule_describe(rule);
    *error = (gotrace_error){
        .rule = rule, .severity = info->severity, .class_ = info->class_, .os_error = number};
    snprintf(error->message, sizeof error->message, "%s%s%s", message, number ? ": " : "",
             number ? strerror(number) : "");
    return GOTRACE_ERROR;
}

/* ---- places in the sound trace --------------------------------------------------------------- */

static bool add_batch(gen_defect *d, const gotrace_record *record)
{
    gen_batch *batches = vector_room(d->batches, &d->batch_capacity, d->batch_count,
                                     sizeof *batches);
    if (!batches)
        return false;
    d->batches = batches;
    d->batches[d->batch_count++] = (gen_batch){.offset = record->offset,
                                               .header = record->length,
                                               .owner = record->args[d->v2 ? 1 : 0],
                                               .generation = record->args[0],
                                               .generation_width = record->widths[0],
                                               .size_width = record->widths[d->v2 ? 3 : 0],
                                               .size = d->v2 ? record->args[3] : 0};
    return true;
}

static void note(gen_defect *d, gen_place *place, const gotrace_record *record)
{
    *place = (gen_place){.offset = record->offset,
                         .size = record->length,
                         .batch = d->batch_count - 1,
                         .value = record->arg_count ? record->args[0] : 0};
}

static void note_stack(gen_defect *d, const gotrace_record *record)
{
    note(d, &d->stack, record);
    d->stack.frames_at = record->offset + 1 + record->widths[0];
    d->stack.frames = record->args[1];
}

/* Whether events of tail's goroutine can be added after this record. */
static bool can_insert_after(const gen_defect *d, const gotrace_record *record)
{
    if (!d->batch_count || !(record->spec->flags & GOTRACE_SPEC_TIMED) ||
        strcmp(record->spec->name, "CPUSample") == 0)
        return false;
    return d->batches[d->batch_count - 1].owner == (d->v2 ? d->tail.thread : d->tail.proc);
}

static bool inspect_record(gen_defect *d, const gotrace_record *record)
{
    const char *name = record->spec->name;
    note(d, &d->last_record, record);
    if (strcmp(name, d->v2 ? "EventBatch" : "Batch") == 0) {
        d->ticks = record->args[record->arg_count - 1];
        return add_batch(d, record);
    }
    if (record->spec->flags & GOTRACE_SPEC_TIMED)
        d->ticks += record->args[d->version < 7 ? 1 : 0];
    if (strcmp(name, "String") == 0)
        note(d, &d->string, record);
    else if (strcmp(name, "Stack") == 0)
        note_stack(d, record);
    else if (strcmp(name, "Frequency") == 0)
        note(d, &d->frequency, record);
    else if (strcmp(name, "ClockSnapshot") == 0)
        note(d, &d->clocks, record);
    else if (strcmp(name, "GCStart") == 0 && d->version >= 7)
        d->gc_next = record->args[1] >= d->gc_next ? record->args[1] + 1 : d->gc_next;
    if (can_insert_after(d, record)) {
        note(d, &d->end, record);
        d->end_ticks = d->ticks;
    }
    return true;
}

static gotrace_status scan(gen_defect *d, gotrace_source *source, const gotrace_config *config,
                           gotrace_error *error)
{
    gotrace_decoder *decoder;
    if (gotrace_decoder_new(config, &decoder, error) < 0)
        return GOTRACE_ERROR;
    char *piece = malloc(PIECE);
    const gotrace_record *record;
    gotrace_status status = GOTRACE_NEED_INPUT;
    bool read = true, memory = piece != NULL;
    while (memory && read && status >= 0 && status != GOTRACE_END) {
        if (status == GOTRACE_NEED_INPUT) {
            size_t got = 0;
            read = gotrace_source_read(source, d->size, piece, PIECE, &got, error) >= 0;
            if (got > 0)
                gotrace_decoder_feed(decoder, piece, got);
            else
                gotrace_decoder_finish(decoder);
            d->size += got;
        } else {
            memory = inspect_record(d, record);
        }
        status = gotrace_decoder_next(decoder, &record);
    }
    if (!memory)
        status = fail(error, GOTRACE_RULE_SYSTEM_MEMORY, 0, "out of memory");
    else if (read && status < 0)
        *error = *gotrace_decoder_error(decoder);
    free(piece);
    gotrace_decoder_free(decoder);
    return read && status == GOTRACE_END ? GOTRACE_OK : GOTRACE_ERROR;
}

/* ---- changes --------------------------------------------------------------------------------- */

void gen_defect_patch(gen_defect *d, uint64_t offset, uint64_t drop, const void *bytes, size_t size,
                      uint64_t batch)
{
    gen_patch *patches = vector_room(d->patches, &d->patch_capacity, d->patch_count,
                                     sizeof *patches);
    if (!patches) {
        d->failed = true;
        return;
    }
    d->patches = patches;
    gen_patch *patch = &d->patches[d->patch_count++];
    *patch = (gen_patch){.offset = offset, .drop = drop, .size = size};
    if (size > 0)
        memcpy(patch->bytes, bytes, size);
    if (d->v2 && batch != GOTRACE_NO_OFFSET)
        d->batches[batch].grown += (int64_t)size - (int64_t)drop;
}

void gen_defect_number(gen_defect *d, uint64_t offset, size_t width, uint64_t number)
{
    uint8_t bytes[10];
    size_t size = put_number(bytes, number, width);
    gen_defect_patch(d, offset, width, bytes, size, GOTRACE_NO_OFFSET);
}

static bool take_bytes(void *ctx, const void *bytes, size_t size)
{
    gen_defect *d = ctx;
    if (size > sizeof d->bytes - d->byte_count)
        return false;
    memcpy(d->bytes + d->byte_count, bytes, size);
    d->byte_count += size;
    return true;
}

void gen_defect_record(gen_defect *d, const char *name, const uint64_t *args, size_t count,
                       const char *data)
{
    const gotrace_event_spec *spec = gotrace_event_spec_named(d->version, name);
    const gotrace_arg_spec *specs[GOTRACE_MAX_ARGS];
    uint64_t values[GOTRACE_MAX_ARGS + 8];
    gotrace_error error = {0};
    if (!d->encoder &&
        gotrace_encoder_new(d->version, take_bytes, d, NULL, &d->encoder, &error) < 0)
        d->failed = true;
    if (!spec || d->failed) {
        d->failed = true;
        return;
    }
    size_t fixed = gotrace_event_args(spec, d->version, specs), given = 0, total = fixed;
    for (size_t i = 0; i < fixed; i++) {
        bool step = specs[i]->kind == GOTRACE_ARG_DT || specs[i]->kind == GOTRACE_ARG_DSEQ;
        values[i] = step ? 1 : given < count ? args[given++] : 0;
    }
    while (spec->flags & GOTRACE_SPEC_FRAMES && given < count)
        values[total++] = args[given++];
    gotrace_record record = {.spec = spec,
                             .args = values,
                             .arg_count = total,
                             .data = data,
                             .data_size = data ? strlen(data) : 0,
                             .form = 0xff};
    if (gotrace_encoder_record(d->encoder, &record) < 0)
        d->failed = true;
}

void gen_defect_put(gen_defect *d, uint64_t offset, uint64_t drop, uint64_t batch)
{
    if (d->failed || gotrace_encoder_finish(d->encoder) < 0 || d->byte_count < HEADER) {
        d->failed = true;
        return;
    }
    gen_defect_patch(d, offset, drop, d->bytes + HEADER, d->byte_count - HEADER, batch);
    gotrace_encoder_free(d->encoder);
    d->encoder = NULL;
    d->byte_count = 0;
}

/* Rewrite the sizes of batches that grew, in the same width (tracers write ten bytes). */
static void correct_sizes(gen_defect *d)
{
    for (size_t i = 0; i < d->batch_count; i++) {
        const gen_batch *batch = &d->batches[i];
        if (batch->grown)
            gen_defect_number(d, batch->offset + batch->header - batch->size_width,
                              batch->size_width, batch->size + (uint64_t)batch->grown);
    }
}

static int by_offset(const void *a, const void *b)
{
    const gen_patch *x = a, *y = b;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* ---- the copy -------------------------------------------------------------------------------- */

typedef struct copying {
    gotrace_source *source;
    gotrace_write_fn write;
    void *ctx;
    char *piece;
    gotrace_error *error;
} copying;

static bool put_bytes(copying *c, const void *bytes, size_t size)
{
    if (size == 0 || c->write(c->ctx, bytes, size))
        return true;
    fail(c->error, GOTRACE_RULE_SYSTEM_WRITE, 0, "cannot write the trace");
    return false;
}

static bool copy(copying *c, uint64_t from, uint64_t to)
{
    while (from < to) {
        size_t wanted = to - from < PIECE ? (size_t)(to - from) : PIECE, got = 0;
        if (gotrace_source_read(c->source, from, c->piece, wanted, &got, c->error) < 0)
            return false;
        if (got == 0) {
            fail(c->error, GOTRACE_RULE_SYSTEM_READ, EIO, "the trace has become shorter");
            return false;
        }
        if (!put_bytes(c, c->piece, got))
            return false;
        from += got;
    }
    return true;
}

static bool copy_changed(gen_defect *d, copying *c)
{
    uint64_t from = 0;
    correct_sizes(d);
    qsort(d->patches, d->patch_count, sizeof *d->patches, by_offset);
    for (size_t i = 0; i < d->patch_count; i++) {
        const gen_patch *patch = &d->patches[i];
        if (!copy(c, from, patch->offset) || !put_bytes(c, patch->bytes, patch->size))
            return false;
        from = patch->offset + patch->drop;
    }
    return copy(c, from, d->size);
}

/* ---- the job --------------------------------------------------------------------------------- */

static bool write_gathered(void *ctx, const void *bytes, size_t size)
{
    out_bytes(ctx, bytes, size);
    return !((out *)ctx)->failed;
}

/* Write the sound trace into the temporary file. */
static gotrace_status write_sound(const gen_job *job, gen_tail *tail, int fd,
                                  const gotrace_config *config, gotrace_error *error)
{
    out o;
    if (!out_init(&o, spool_write_file, &fd))
        return fail(error, GOTRACE_RULE_SYSTEM_MEMORY, 0, "out of memory");
    gotrace_status status = gen_run(job, tail, write_gathered, &o, config, error);
    if (!out_flush(&o))
        status = fail(error, GOTRACE_RULE_SYSTEM_WRITE, errno, "cannot write a temporary file");
    out_free(&o);
    return status;
}

gotrace_status gen_defect_write(gotrace_source *sound, int version, const gen_tail *tail,
                                gotrace_rule rule, gotrace_write_fn write, void *ctx,
                                const gotrace_config *config, gen_planted *planted,
                                gotrace_error *error)
{
    gen_defect d = {.version = version, .v2 = version >= GOTRACE_FIRST_V2, .tail = *tail};
    copying c = {
        .source = sound, .write = write, .ctx = ctx, .piece = malloc(PIECE), .error = error};
    gotrace_status status = GOTRACE_ERROR;
    if (!c.piece)
        fail(error, GOTRACE_RULE_SYSTEM_MEMORY, 0, "out of memory");
    else
        status = scan(&d, sound, config, error);
    if (status >= 0 && d.batch_count == 0)
        status = fail(error, GOTRACE_RULE_USAGE, 0,
                      "the trace has no batch in which a rule can be violated");
    if (status >= 0) {
        gen_defect_plant(&d, rule);
        if (d.failed)
            status = fail(error, GOTRACE_RULE_SYSTEM_MEMORY, 0, "out of memory");
        else if (!copy_changed(&d, &c))
            status = GOTRACE_ERROR;
    }
    *planted = (gen_planted){.offset = d.at, .what = d.what, .version = d.version};
    if (d.encoder)
        gotrace_encoder_free(d.encoder);
    free(c.piece);
    free(d.batches);
    free(d.patches);
    return status;
}

static gotrace_status refuse(gotrace_error *error, gotrace_rule rule, int version)
{
    char message[200];
    const char *id = gotrace_rule_describe(rule)->id;
    int first = gen_defect_version(rule, 0);
    if (first)
        snprintf(message, sizeof message,
                 "no trace of 1.%d can violate the rule %s; one of 1.%d can", version, id, first);
    else
        snprintf(message, sizeof message, "no trace can violate the rule %s", id);
    return fail(error, GOTRACE_RULE_USAGE, 0, message);
}

gotrace_status gen_write_defect(const gen_job *given, gotrace_rule rule, gotrace_write_fn write,
                                void *ctx, const gotrace_config *config, gen_planted *planted,
                                gotrace_error *error)
{
    gen_job job = *given;
    gen_tail tail = {0};
    gotrace_source *sound = NULL;
    job.version = gen_defect_version(rule, given->version);
    if (!job.version)
        return refuse(error, rule, given->version);
    int fd = spool_file(config ? config->spool_dir : NULL);
    if (fd < 0)
        return fail(error, GOTRACE_RULE_SYSTEM_WRITE, errno, "cannot open a temporary file");
    gotrace_status status = write_sound(&job, &tail, fd, config, error);
    if (status >= 0 && lseek(fd, 0, SEEK_SET) < 0)
        status = fail(error, GOTRACE_RULE_SYSTEM_READ, errno, "cannot read a temporary file");
    if (status >= 0)
        status = gotrace_source_fd(fd, config, &sound, error);
    if (status >= 0)
        status = gen_defect_write(sound, job.version, &tail, rule, write, ctx, config, planted,
                                  error);
    gotrace_source_close(sound);
    close(fd);
    return status;
}
