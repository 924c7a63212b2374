/* layout.c - see layout.h. */
#include "layout.h"
#include "write/encoder.h"

#include <stdlib.h>
#include <string.h>

lane *layout_lane(layout *l, int64_t proc)
{
    for (size_t i = 0; i < l->lane_count; i++)
        if (l->lanes[i].proc == proc)
            return &l->lanes[i];
    ck_assert_uint_lt(l->lane_count, 64);
    l->lanes[l->lane_count] = (lane){.proc = proc};
    return &l->lanes[l->lane_count++];
}

static void read_items(layout *l)
{
    gotrace_decoder *d;
    const gotrace_record *r;
    size_t capacity = 0;
    ck_assert_int_eq(gotrace_decoder_new(NULL, &d, NULL), GOTRACE_OK);
    gotrace_decoder_feed(d, l->file->content.bytes, l->file->content.size);
    gotrace_decoder_finish(d);
    while (gotrace_decoder_next(d, &r) == GOTRACE_EVENT) {
        if (l->count == capacity) {
            capacity = 2 * capacity + 256;
            l->items = realloc(l->items, capacity * sizeof *l->items);
        }
        item *it = &l->items[l->count++];
        *it = (item){.spec = r->spec,
                     .arg_count = r->arg_count,
                     .data_size = r->data_size,
                     .offset = r->offset,
                     .size = r->length};
        it->args = malloc(r->arg_count * sizeof *it->args);
        memcpy(it->args, r->args, r->arg_count * sizeof *it->args);
        it->data = (const char *)l->file->content.bytes + r->offset + r->length - r->data_size;
    }
    l->version = gotrace_decoder_version(d);
    gotrace_decoder_free(d);
}

/* Find the first record of the footer. */
static size_t find_footer(const layout *l)
{
    size_t at = 0;
    while (at < l->count && !item_is(&l->items[at], GOTRACE_V1_Frequency) &&
           !item_is(&l->items[at], GOTRACE_V1_Stack))
        at++;
    if (l->version >= 21 && at > 0 && item_is(&l->items[at - 1], GOTRACE_V1_Batch))
        at--;
    return at;
}

static void read_lanes(layout *l)
{
    l->footer = find_footer(l);
    for (size_t i = 0; i < l->footer;) {
        size_t first = i++;
        bool samples = false;
        for (; i < l->footer && !item_is(&l->items[i], GOTRACE_V1_Batch); i++)
            samples |= item_is(&l->items[i], GOTRACE_V1_CPUSample);
        int64_t proc = (int64_t)l->items[first].args[0];
        lane *to = layout_lane(l, samples ? GT_PROC_SAMPLES : proc);
        to->first = realloc(to->first, (to->count + 1) * sizeof *to->first);
        to->last = realloc(to->last, (to->count + 1) * sizeof *to->last);
        to->first[to->count] = first;
        to->last[to->count++] = i;
    }
}

static void read_strings(layout *l)
{
    for (size_t i = 0; i < l->count; i++) {
        const item *it = &l->items[i];
        if (!item_is(it, GOTRACE_V1_String))
            continue;
        ck_assert_uint_lt(it->args[0], 1000000);
        while (it->args[0] >= l->string_count) {
            l->strings = realloc(l->strings, (l->string_count + 1) * sizeof *l->strings);
            l->strings[l->string_count++] = NULL;
        }
        l->strings[it->args[0]] = it;
    }
}

layout layout_of(const trace_file *file)
{
    layout l = {.file = file};
    read_items(&l);
    read_lanes(&l);
    read_strings(&l);
    return l;
}

void layout_free(layout *l)
{
    for (size_t i = 0; i < l->count; i++)
        free(l->items[i].args);
    for (size_t i = 0; i < l->lane_count; i++) {
        free(l->lanes[i].first);
        free(l->lanes[i].last);
    }
    free(l->items);
    free(l->strings);
}
