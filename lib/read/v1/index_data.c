#include "read/v1/index.h"

#include <stdlib.h>
#include <string.h>

void gt_index_init(gotrace_reader *reader)
{
    gt_index *index = &reader->index;
    int version = reader->summary.version;
    gt_v1_shapes_init(index->shapes, version);
    gt_table_init(&index->proc_by_id, &reader->heap);
    gt_tables_init(&index->tables, &reader->heap, version);
    gt_table_init(&index->timers, &reader->heap);
    gt_spill_init(&index->exits, &reader->heap, &reader->config);
    gt_spill_init(&index->samples, &reader->heap, &reader->config);
    index->longest_record = GT_VARINT_MAX *
                            (2 + reader->limits.frames * gotrace_frame_values(version));
}

void gt_index_forget(gotrace_reader *reader, uint64_t text)
{
    gotrace_summary *summary = &reader->summary;
    gt_index_free(&reader->index);
    reader->index = (gt_index){0};
    memset(summary->type_records, 0, sizeof summary->type_records);
    memset(summary->type_bytes, 0, sizeof summary->type_bytes);
    summary->unread_bytes = 0;
    reader->progress_done = 0;
    reader->reported = text;
}

int64_t gt_find_first(const gotrace_reader *reader, const uint64_t *v, const uint8_t *p,
                      const uint8_t *end)
{
    enum { MOST = 32 }; /* bytes that are there for every size of the window */
    gt_frame frame;
    uint64_t difference = 0;
    const gt_v1_shape *shapes = reader->index.shapes;
    int version = reader->summary.version;
    size_t size = end - p > MOST ? MOST : (size_t)(end - p);
    if (gt_wire_frame(shapes, version, reader->limits.string_bytes, p, size, &frame) !=
            GT_WIRE_OK ||
        !(shapes[frame.type].flags & GOTRACE_SPEC_TIMED))
        return INT64_MAX;
    p = frame.values;
    bool numbered = version < GT_FIRST_NUMBERED; /* a sequence number precedes the time */
    if (numbered)
        gt_varint(&p, frame.values_end, &difference);
    return gt_varint(&p, frame.values_end, &difference) > 0
               ? (int64_t)(v[numbered ? 2 : 1] + difference)
               : INT64_MAX;
}

static int compare_ids(const void *x, const void *y)
{
    int64_t a = ((const gt_proc_index *)x)->summary.proc;
    int64_t b = ((const gt_proc_index *)y)->summary.proc;
    return a < b ? -1 : a > b;
}

/* Sorts the procs by id, for gotrace_reader_proc. */
static bool rank_procs(gotrace_reader *reader)
{
    gt_index *index = &reader->index;
    size_t bytes = index->proc_count * sizeof *index->procs;
    if (index->proc_count == 0)
        return true;
    gt_proc_index *sorted = gt_resize(&reader->heap, NULL, 0, bytes);
    index->by_id = gt_calloc(&reader->heap, index->proc_count, sizeof *index->by_id);
    if (sorted && index->by_id) {
        memcpy(sorted, index->procs, bytes);
        qsort(sorted, index->proc_count, sizeof *sorted, compare_ids);
        for (size_t i = 0; i < index->proc_count; i++)
            index->by_id[i] = gt_table_find(&index->proc_by_id, (uint64_t)sorted[i].summary.proc)
                                  ->count;
    }
    bool ok = sorted && index->by_id;
    gt_free(&reader->heap, sorted, bytes);
    return ok || gt_fail_memory(reader);
}

/* libgo's runtime frames are in source files below a folder libgo/; its traces have no other
 * distinguishing feature. */
static bool is_gccgo(const gotrace_reader *reader)
{
    const gt_index *index = &reader->index;
    if (reader->summary.version != GT_GCCGO)
        return false;
    for (uint64_t id = 1; id <= index->tables.strings.entries; id++) {
        const gt_entry *entry = gt_table_find(&index->tables.strings, id);
        if (entry && memmem(entry->bytes, entry->size, "/libgo/", 7))
            return true;
    }
    return false;
}

bool gt_index_finish(gotrace_reader *reader)
{
    gt_index *index = &reader->index;
    if (!rank_procs(reader))
        return false;
    if (!reader->summary.writer && index->tables.strings.entries) /* 1.5 has no strings */
        reader->summary.writer = is_gccgo(reader) ? "gccgo" : "Go";
    if (!gt_table_settle(&index->tables.strings) || !gt_table_settle(&index->tables.stacks))
        return gt_fail_memory(reader);
    return (gt_spill_rewind(&index->exits, &reader->error) &&
            gt_spill_rewind(&index->samples, &reader->error)) ||
           gt_fail(reader);
}

void gt_index_free(gt_index *index)
{
    gt_heap *heap = index->tables.strings.heap;
    if (!heap)
        return;
    gt_free(heap, index->runs, index->run_capacity * sizeof *index->runs);
    gt_free(heap, index->procs, index->proc_capacity * sizeof *index->procs);
    gt_free(heap, index->by_id, index->proc_count * sizeof *index->by_id);
    gt_table_free(&index->proc_by_id);
    gt_tables_free(&index->tables);
    gt_table_free(&index->timers);
    gt_spill_free(&index->exits);
    gt_spill_free(&index->samples);
}
