/* batches.c - see batches.h. */
#include "batches.h"

#include <stdlib.h>

/* Consecutive records of one proc. */
typedef struct part {
    uint64_t proc, ticks; /* ticks: before the first event */
    uint64_t at, size;
    size_t number, events;
} part;

typedef struct parts {
    part *list;
    size_t count;
} parts;

static part *begin_part(parts *p, uint64_t proc, uint64_t ticks, uint64_t at)
{
    p->list = realloc(p->list, (p->count + 1) * sizeof *p->list);
    ck_assert_ptr_nonnull(p->list);
    p->list[p->count] = (part){.proc = proc, .ticks = ticks, .at = at, .number = p->count};
    return &p->list[p->count++];
}

static int compare(const void *x, const void *y)
{
    const part *a = x, *b = y;
    if (a->ticks != b->ticks)
        return a->ticks < b->ticks ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

static void write_varint(blob *b, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        blob_write(b, &(uint8_t){(uint8_t)(value | 0x80)}, 1);
    blob_write(b, &(uint8_t){(uint8_t)value}, 1);
}

/* Finds the parts of all batches. Returns where the events end: at the frequency. */
static uint64_t find_parts(const blob *trace, size_t events, parts *p)
{
    gotrace_decoder *d;
    const gotrace_record *r;
    part *current = NULL;
    uint64_t ticks = 0, end = trace->size;
    ck_assert_int_eq(gotrace_decoder_new(NULL, &d, NULL), GOTRACE_OK);
    ck_assert_int_eq(gotrace_decoder_feed(d, trace->bytes, trace->size), GOTRACE_OK);
    gotrace_decoder_finish(d);
    while (gotrace_decoder_next(d, &r) == GOTRACE_EVENT) {
        if (r->spec->code == GOTRACE_V1_Frequency) {
            end = r->offset;
            break;
        }
        if (r->spec->code == GOTRACE_V1_Batch) {
            ticks = r->args[1];
            current = begin_part(p, r->args[0], ticks, r->offset + r->length);
            continue;
        }
        ck_assert_ptr_nonnull(current);
        bool timed = r->spec->flags & GOTRACE_SPEC_TIMED;
        if (timed && current->events == events)
            current = begin_part(p, current->proc, ticks, r->offset);
        current->events += timed;
        current->size += r->length;
        ticks += timed ? r->args[0] : 0;
    }
    gotrace_decoder_free(d);
    return end;
}

blob batches_divide(const blob *trace, size_t events)
{
    parts p = {0};
    blob divided = {0};
    uint64_t end = find_parts(trace, events, &p);
    qsort(p.list, p.count, sizeof *p.list, compare);
    blob_write(&divided, trace->bytes, 16);
    for (size_t i = 0; i < p.count; i++) {
        uint8_t batch = GOTRACE_V1_Batch | 1 << 6; /* two values, inline */
        blob_write(&divided, &batch, 1);
        write_varint(&divided, p.list[i].proc);
        write_varint(&divided, p.list[i].ticks);
        blob_write(&divided, trace->bytes + p.list[i].at, (size_t)p.list[i].size);
    }
    blob_write(&divided, trace->bytes + end, (size_t)(trace->size - end));
    free(p.list);
    return divided;
}
