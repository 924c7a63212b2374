/* write.c - write records, tables and whole batches. */
#include <stdio.h>
#include <stdlib.h>

#include "cmd/parts/parts.h"

enum { VARINT_MAX = 10 };

static unsigned varint_size(uint64_t v)
{
    unsigned n = 1;
    for (; v >= 0x80; v >>= 7)
        n++;
    return n;
}

/* Encode v in width bytes; width must be sufficient. */
static uint8_t *put_varint(uint8_t *p, uint64_t v, unsigned width)
{
    for (unsigned i = 1; i < width; i++, v >>= 7)
        *p++ = (uint8_t)(v | 0x80);
    *p++ = (uint8_t)v;
    return p;
}

/* The width of the record's n-th varint, whose value changes from before to v. */
static unsigned width_of(int version, const gotrace_record *r, size_t n, uint64_t before,
                         uint64_t v)
{
    unsigned least = varint_size(v);
    unsigned usual = gotrace_record_width(r->spec, version, n);
    unsigned found = r->widths && n < r->width_count ? r->widths[n] : usual;
    /* Padded varints keep their width. */
    return found > varint_size(before) && found > least ? found : least;
}

bool parts_put_record(parts_bytes *b, parts_memory *memory, int version,
                      const gotrace_record *record, const uint64_t *args, gotrace_error *error)
{
    const gotrace_event_spec *spec = record->spec;
    const uint64_t *old = record->args;
    if (!args)
        args = old;
    unsigned form = record->form == UINT8_MAX ? gotrace_record_form(spec, version) : record->form;
    bool has_data = spec->flags & GOTRACE_SPEC_DATA;
    bool has_length = form == 3 && !(has_data && !(spec->flags & GOTRACE_SPEC_TIMED));
    size_t most = 1 + (record->arg_count + 2) * VARINT_MAX + record->data_size;
    if (!parts_grow(memory, &b->bytes, &b->capacity, b->count + most, 1, error))
        return false;
    uint64_t length = 0, length_before = 0;
    for (size_t i = 0; i < record->arg_count; i++) {
        unsigned width = width_of(version, record, i + has_length, old[i], args[i]);
        length += width;
        length_before += record->widths ? record->widths[i + has_length] : width;
    }
    uint8_t *p = b->bytes + b->count;
    *p++ = (uint8_t)(spec->code | form << 6);
    if (has_length)
        p = put_varint(p, length, width_of(version, record, 0, length_before, length));
    for (size_t i = 0; i < record->arg_count; i++)
        p = put_varint(p, args[i], width_of(version, record, i + has_length, old[i], args[i]));
    if (has_data) {
        size_t n = record->arg_count + has_length;
        p = put_varint(p, record->data_size,
                       width_of(version, record, n, record->data_size, record->data_size));
        if (record->data_size > 0)
            memcpy(p, record->data, record->data_size);
        p += record->data_size;
    }
    b->count = (size_t)(p - b->bytes);
    return true;
}

int parts_header_at(const uint8_t *bytes, size_t size)
{
    if (size < PARTS_HEADER || memcmp(bytes, "go 1.", 5) != 0)
        return 0;
    size_t count;
    const int *versions = gotrace_versions(&count);
    for (size_t i = 0; i < count; i++) {
        char header[32] = "";
        snprintf(header, sizeof header, "go 1.%d trace", versions[i]);
        if (memcmp(bytes, header, PARTS_HEADER) == 0)
            return versions[i];
    }
    return 0;
}

void parts_put_header(out *o, int version)
{
    char header[32] = "";
    snprintf(header, sizeof header, "go 1.%d trace", version);
    out_bytes(o, header, PARTS_HEADER);
}

gotrace_status parts_copy(out *o, gotrace_source *source, uint64_t offset, uint64_t size,
                          gotrace_error *error)
{
    enum { STEP = 32 * 1024 };
    char bytes[STEP];
    while (size > 0 && !o->failed) {
        size_t got = 0;
        if (gotrace_source_read(source, offset, bytes, size < STEP ? (size_t)size : STEP, &got,
                                error) < 0)
            return GOTRACE_ERROR;
        if (got == 0)
            break; /* the file was truncated meanwhile */
        out_bytes(o, bytes, got);
        offset += got;
        size -= got;
    }
    return GOTRACE_OK;
}

/* ---- tables --------------------------------------------------------------------------------- */

static void out_varint(out *o, uint64_t v, unsigned width)
{
    uint8_t bytes[VARINT_MAX];
    unsigned least = varint_size(v);
    size_t size = (size_t)(put_varint(bytes, v, width > least ? width : least) - bytes);
    out_bytes(o, bytes, size);
}

/* Until 1.10 the footer has no batch of its own, and v1 batches have no size. */
static void batch_header(const parts_pack *p)
{
    if (p->version >= GOTRACE_FIRST_V2) {
        out_char(p->o, GOTRACE_V2_EventBatch);
        out_varint(p->o, p->generation, 0);
        out_varint(p->o, p->thread, 0);
        out_varint(p->o, p->time, 0);
        out_varint(p->o, p->used, VARINT_MAX);
    } else if (p->version >= 11) {
        out_char(p->o, GOTRACE_V1_Batch | 1 << 6);
        out_varint(p->o, p->thread, 0);
        out_varint(p->o, p->time, 0);
    }
}

void parts_pack_begin(parts_pack *p, uint8_t marker)
{
    p->marker = marker;
    p->used = 0;
}

void parts_pack_end(parts_pack *p)
{
    if (p->used == 0)
        return;
    batch_header(p);
    out_bytes(p->o, p->bytes, p->used);
    p->used = 0;
}

void parts_pack_add(parts_pack *p, const void *bytes, size_t size)
{
    if (size > sizeof p->bytes - p->used)
        parts_pack_end(p);
    if (p->used == 0 && p->marker)
        p->bytes[p->used++] = p->marker;
    if (size > sizeof p->bytes - p->used) {
        /* Larger than the buffer: only in v1, whose batches have no size limit. */
        batch_header(p);
        out_bytes(p->o, bytes, size);
        return;
    }
    memcpy(p->bytes + p->used, bytes, size);
    p->used += size;
}
