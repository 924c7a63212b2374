/* read.c - decode records of byte ranges, and find their references to tables. */
#include <stdio.h>
#include <stdlib.h>

#include "cmd/parts/parts.h"

/* ---- memory --------------------------------------------------------------------------------- */

uint64_t parts_limit(const gotrace_config *config)
{
    const uint64_t usual = UINT64_C(1) << 30; /* the library's default */
    return config && config->limits && config->limits->memory ? config->limits->memory : usual;
}

bool parts_grow(parts_memory *memory, void *list, size_t *capacity, size_t count, size_t size,
                gotrace_error *error)
{
    if (count <= *capacity)
        return true;
    size_t wanted = *capacity < 16 ? 16 : *capacity + *capacity / 2;
    if (wanted < count)
        wanted = count;
    uint64_t more = (uint64_t)(wanted - *capacity) * size;
    if (wanted > SIZE_MAX / size || more > memory->limit - memory->used) {
        fill_error(error, GOTRACE_RULE_SYSTEM_LIMIT, GOTRACE_NO_OFFSET,
                   "the tables need more than %llu bytes, the limit",
                   (unsigned long long)memory->limit);
        return false;
    }
    void *block;
    memcpy(&block, list, sizeof block);
    block = realloc(block, wanted * size);
    if (!block) {
        fill_error(error, GOTRACE_RULE_SYSTEM_MEMORY, GOTRACE_NO_OFFSET, "out of memory");
        return false;
    }
    memcpy(list, &block, sizeof block);
    memory->used += more;
    *capacity = wanted;
    return true;
}

void parts_drop(parts_memory *memory, void *list, size_t capacity, size_t size)
{
    free(list);
    memory->used -= (uint64_t)capacity * size;
}

/* ---- references ----------------------------------------------------------------------------- */

void parts_shape_init(parts_shape *shape, int version)
{
    memset(shape, 0, sizeof *shape);
    shape->version = version;
    for (unsigned code = 0; code < 256; code++) {
        const gotrace_event_spec *spec = gotrace_event_spec_of(version, code);
        const gotrace_arg_spec *args[GOTRACE_MAX_ARGS];
        size_t count = spec ? gotrace_event_args(spec, version, args) : 0;
        for (size_t i = 0; i < count; i++) {
            /* Until 1.6 GoCreate has a program counter instead of a stack. */
            if (args[i]->kind == GOTRACE_ARG_STRING)
                shape->refs[code][i] = PARTS_REF_STRING;
            else if (args[i]->kind == GOTRACE_ARG_STACK ||
                     (args[i]->kind == GOTRACE_ARG_START && version >= 7))
                shape->refs[code][i] = PARTS_REF_STACK;
        }
    }
}

parts_ref parts_ref_of(const parts_shape *shape, const gotrace_record *record, size_t n)
{
    enum { BEFORE_FRAMES = 2 };
    if ((record->spec->flags & GOTRACE_SPEC_FRAMES) && n >= BEFORE_FRAMES) {
        size_t values = gotrace_frame_values(shape->version);
        size_t at = (n - BEFORE_FRAMES) % values; /* pc, function, file, line */
        return values > 1 && (at == 1 || at == 2) ? PARTS_REF_STRING : PARTS_REF_NONE;
    }
    return n < GOTRACE_MAX_ARGS ? shape->refs[record->spec->code][n] : PARTS_REF_NONE;
}

/* ---- decoding a range ------------------------------------------------------------------------ */

/* Convert offsets of the decoder to those of the source. */
static void convert_offset(const parts_walker *w, gotrace_error *error)
{
    if (error->offset != GOTRACE_NO_OFFSET)
        error->offset += w->shift;
    error->batch = error->event = GOTRACE_NO_OFFSET;
}

static bool on_problem(void *ctx, const gotrace_error *problem)
{
    parts_walker *w = ctx;
    gotrace_error placed = *problem;
    convert_offset(w, &placed);
    /* An error that ends the walk is returned, not reported here. */
    if (placed.rule != GOTRACE_RULE_EVENT_ARITY)
        return true;
    w->unsure = true;
    if (w->user && w->user->on_problem)
        return w->user->on_problem(w->user->callback_ctx, &placed);
    return true;
}

bool parts_walker_init(parts_walker *w, int version, const gotrace_config *config,
                       gotrace_error *error)
{
    *w = (parts_walker){.user = config, .version = version, .piece = malloc(PARTS_PIECE)};
    if (config)
        w->config = *config;
    w->config.on_problem = on_problem;
    w->config.on_progress = NULL;
    w->config.callback_ctx = w;
    if (!w->piece)
        fill_error(error, GOTRACE_RULE_SYSTEM_MEMORY, GOTRACE_NO_OFFSET, "out of memory");
    return w->piece != NULL;
}

static void forget_decoder(parts_walker *w)
{
    gotrace_decoder_free(w->decoder);
    w->decoder = NULL;
}

void parts_walker_free(parts_walker *w)
{
    forget_decoder(w);
    free(w->piece);
    w->piece = NULL;
}

/* Create a decoder, and set its version by feeding it a header. */
static gotrace_status get_decoder(parts_walker *w, gotrace_error *error)
{
    if (w->decoder)
        return GOTRACE_OK;
    if (gotrace_decoder_new(&w->config, &w->decoder, error) < 0)
        return GOTRACE_ERROR;
    char header[32] = "";
    const gotrace_record *record;
    snprintf(header, sizeof header, "go 1.%d trace", w->version);
    w->fed = PARTS_HEADER;
    w->shift = 0;
    if (gotrace_decoder_feed(w->decoder, header, PARTS_HEADER) < 0 ||
        gotrace_decoder_next(w->decoder, &record) < 0) {
        *error = *gotrace_decoder_error(w->decoder);
        forget_decoder(w);
        return GOTRACE_ERROR;
    }
    return GOTRACE_OK;
}

/* Pass the decoded records to fn; *end is the decoder's offset of the end of the last record. */
static gotrace_status pass_records(parts_walker *w, parts_record_fn fn, void *ctx, uint64_t *end,
                                   gotrace_error *error)
{
    const gotrace_record *decoded;
    gotrace_status status;
    while ((status = gotrace_decoder_next(w->decoder, &decoded)) == GOTRACE_EVENT) {
        gotrace_record record = *decoded;
        *end = record.offset + record.length;
        w->unsure = false;
        record.offset += w->shift;
        gotrace_status done = fn(ctx, &record, error);
        if (done != GOTRACE_OK) {
            forget_decoder(w);
            return done;
        }
    }
    if (status == GOTRACE_ERROR) {
        *error = *gotrace_decoder_error(w->decoder);
        convert_offset(w, error);
        forget_decoder(w);
    }
    return status == GOTRACE_ERROR ? GOTRACE_ERROR : GOTRACE_OK;
}

gotrace_status parts_walk(parts_walker *w, gotrace_source *source, uint64_t offset, uint64_t size,
                          parts_record_fn fn, void *ctx, gotrace_error *error)
{
    if (get_decoder(w, error) < 0)
        return GOTRACE_ERROR;
    uint64_t end = w->fed;
    w->shift = offset - w->fed;
    w->unsure = false;
    while (size > 0) {
        size_t got = 0, wanted = size < PARTS_PIECE ? (size_t)size : PARTS_PIECE;
        if (gotrace_source_read(source, offset, w->piece, wanted, &got, error) < 0 ||
            gotrace_decoder_feed(w->decoder, w->piece, got) < 0) {
            forget_decoder(w);
            return GOTRACE_ERROR;
        }
        w->fed += got;
        offset += got;
        size = got < wanted ? 0 : size - got;
        gotrace_status status = pass_records(w, fn, ctx, &end, error);
        if (status != GOTRACE_OK)
            return status;
    }
    if (end == w->fed)
        return GOTRACE_OK;
    /* Remaining bytes would be decoded as the start of the next range. */
    forget_decoder(w);
    if (w->unsure)
        return GOTRACE_OK;
    fill_error(error, GOTRACE_RULE_WIRE_TRUNCATED, end + w->shift, "the %s ends within a record",
               w->version < GOTRACE_FIRST_V2 ? "file" : "batch");
    return GOTRACE_ERROR;
}
