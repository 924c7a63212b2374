/*
 * test_tracers.c - the by-event functions of the encoder, compared with real traces.
 *
 * The records of a trace, sorted by buffer, are passed to the encoder as events, strings and
 * stacks; it must write the same bytes in the same batches. What it cannot know is passed too: when
 * a buffer was flushed early, and the time at which a batch began. Buffers fill only in longer
 * traces: those of GOTRACE_PEERS, and of the folder GOTRACE_TRACES.
 */
#include <stdlib.h>
#include <string.h>

#include "write/encoder.h"
#include "layout.h"

/* Traces that cannot be compared: v2, clocks that run backwards, and (overlong) strings and
 * messages larger than their buffers, which tracers write with wrong lengths. */
static bool is_odd(const trace_file *file)
{
    return trace_version(&file->content) >= GOTRACE_FIRST_V2 || strstr(file->path, "unordered") ||
           strstr(file->path, "overlong");
}

/* ---- passing records to an encoder ----------------------------------------------------------- */

typedef struct boundaries {
    size_t full, early; /* batches that ended because they were full, and earlier */
} boundaries;

/* Whether the tracer had space for that record in the previous batch, by the rules of
 * runtime/trace.go. */
static bool had_room(const layout *l, const lane *of, const item *next)
{
    size_t header = l->version < 7 ? 48 + 128 * 8 : l->file->gccgo ? 24 + 128 * 48 : 24 + 128 * 8;
    const item *begin = &l->items[of->first[of->batch - 1]];
    const item *end = &l->items[of->last[of->batch - 1] - 1];
    size_t room = 65536 - header - (size_t)(end->offset + end->size - begin->offset);
    size_t need = 2 + 5 * 10;
    if (item_is(next, GOTRACE_V1_String))
        need = 1 + 2 * 10 + next->data_size;
    else if (item_is(next, GOTRACE_V1_UserLog))
        need += 10 + next->data_size;
    return room >= need;
}

static void begin_batch(const layout *l, lane *of, gotrace_encoder *e, boundaries *seen)
{
    const item *batch = &l->items[of->at++];
    of->ticks = batch->args[batch->arg_count - 1];
    of->seq = l->version < 7 ? batch->args[1] : 0;
    if (of->batch > 0 && of->at < of->last[of->batch]) {
        if (had_room(l, of, &l->items[of->at])) {
            ck_assert_int_eq(gt_encoder_flush(e, of->proc), GOTRACE_OK);
            seen->early++;
        } else {
            seen->full++;
        }
    }
    ck_assert_int_eq(gt_encoder_batch_ticks(e, of->proc, of->ticks), GOTRACE_OK);
}

static void report_event(const layout *l, lane *of, gotrace_encoder *e, const item *it)
{
    size_t differences = l->version < 7 ? 2 : 1;
    bool has_stack = it->spec->flags & GOTRACE_SPEC_STACK;
    size_t count = it->arg_count - differences - has_stack;
    of->ticks += it->args[differences - 1];
    of->seq += l->version < 7 ? it->args[0] : 0;
    int64_t proc = of->proc == GT_PROC_SAMPLES ? 0 : of->proc;
    gotrace_status status = gt_encoder_event(e, proc, it->spec, of->ticks, of->seq,
                                             it->args + differences, count,
                                             has_stack ? it->args[it->arg_count - 1] : 0,
                                             it->data_size ? it->data : NULL, it->data_size);
    ck_assert_msg(status == GOTRACE_OK, "%s: %s", l->file->path, gotrace_encoder_error(e)->message);
}

/* Encode a lane's records up to its end, or to a string whose turn has not come; false if there
 * were none. */
static bool encode_lane(const layout *l, lane *of, gotrace_encoder *e, boundaries *seen)
{
    bool given = false;
    for (; of->batch < of->count; of->batch++) {
        if (of->at < of->first[of->batch])
            of->at = of->first[of->batch];
        while (of->at < of->last[of->batch]) {
            const item *it = &l->items[of->at];
            /* a batch that starts with a string starts when it is the string's turn */
            bool begins = item_is(it, GOTRACE_V1_Batch) && of->at + 1 < of->last[of->batch];
            const item *string = begins ? it + 1 : it;
            if (item_is(string, GOTRACE_V1_String) && string->args[0] != e->last_string + 1)
                return given;
            given = true;
            if (item_is(it, GOTRACE_V1_Batch)) {
                begin_batch(l, of, e, seen);
                continue;
            }
            if (item_is(it, GOTRACE_V1_String)) {
                uint64_t id;
                ck_assert_int_eq(
                    gt_encoder_string(e, of->proc, of->ticks, it->data, it->data_size, &id),
                    GOTRACE_OK);
                ck_assert_uint_eq(id, it->args[0]);
            } else {
                report_event(l, of, e, it);
            }
            of->at++;
        }
    }
    return given;
}

/* Add a stack with the id and the place that it has in the footer. Stacks of the tracer's table may
 * have become equal when symbols were resolved: then a PC is changed, here and in the item. */
static void encode_stack(const layout *l, gotrace_encoder *e, item *it)
{
    size_t per_frame = gotrace_frame_values(l->version), depth = (size_t)it->args[1];
    gotrace_frame *frames = calloc(depth + 1, sizeof *frames);
    uint64_t id, *values = it->args + 2;
    for (size_t i = 0; i < depth; i++, values += per_frame) {
        frames[i].pc = values[0];
        if (per_frame == 1)
            continue;
        const item *function = l->strings[values[1]], *file = l->strings[values[2]];
        frames[i].function = values[1] ? function->data : NULL;
        frames[i].function_size = values[1] ? function->data_size : 0;
        frames[i].file = values[2] ? file->data : NULL;
        frames[i].file_size = values[2] ? file->data_size : 0;
        frames[i].line = values[3];
    }
    size_t before = e->stacks.count;
    for (uint64_t other = 1;; other++) {
        ck_assert_int_eq(gt_encoder_stack(e, frames, depth, &id), GOTRACE_OK);
        if (e->stacks.count > before)
            break;
        frames[0].pc ^= other % 64;
        it->args[2] = frames[0].pc;
    }
    e->stacks.entries[before].id = it->args[0];
    free(frames);
}

/* Encode the whole trace; false if it has no footer. */
static bool encode_trace(layout *l, gotrace_encoder *e, boundaries *seen)
{
    for (bool given = true; given;) {
        given = false;
        for (size_t i = 0; i < l->lane_count; i++)
            given |= encode_lane(l, &l->lanes[i], e, seen);
    }
    for (size_t i = 0; i < l->lane_count; i++)
        ck_assert_msg(l->lanes[i].batch == l->lanes[i].count, "%s: strings out of turn",
                      l->file->path);
    uint64_t frequency = 0, ticks = 0;
    for (size_t i = l->footer; i < l->count; i++) {
        item *it = &l->items[i];
        if (item_is(it, GOTRACE_V1_Stack))
            encode_stack(l, e, it);
        else if (item_is(it, GOTRACE_V1_Frequency))
            frequency = it->args[0];
        else if (item_is(it, GOTRACE_V1_Batch) && ticks == 0)
            ticks = it->args[1];
        else if (item_is(it, GOTRACE_V1_TimerGoroutine))
            ck_assert_int_eq(gt_encoder_event(e, 0, it->spec, 0, 0, it->args, 1, 0, NULL, 0),
                             GOTRACE_OK);
    }
    gotrace_status status = gt_encoder_finish(e, frequency, ticks);
    ck_assert_msg(status == GOTRACE_OK, "%s: %s", l->file->path, gotrace_encoder_error(e)->message);
    return frequency != 0;
}

static void same_lane(const layout *a, const lane *x, const layout *b, const lane *y)
{
    ck_assert_msg(x->count == y->count, "%s: proc %lld has %zu batches, not %zu", a->file->path,
                  (long long)x->proc, y->count, x->count);
    for (size_t i = 0; i < x->count; i++) {
        const item *p = &a->items[x->first[i]], *p_end = &a->items[x->last[i] - 1];
        const item *q = &b->items[y->first[i]], *q_end = &b->items[y->last[i] - 1];
        uint64_t size = p_end->offset + p_end->size - p->offset;
        ck_assert_msg(q_end->offset + q_end->size - q->offset == size &&
                          memcmp(a->file->content.bytes + p->offset,
                                 b->file->content.bytes + q->offset, (size_t)size) == 0,
                      "%s: batch %zu of proc %lld differs", a->file->path, i, (long long)x->proc);
    }
}

/* Footers are equal record by record, except for the times of their batches. */
static void same_footer(const layout *a, const layout *b)
{
    ck_assert_msg(a->count - a->footer == b->count - b->footer, "%s: footers differ in length",
                  a->file->path);
    for (size_t i = 0; i < a->count - a->footer; i++) {
        const item *p = &a->items[a->footer + i], *q = &b->items[b->footer + i];
        size_t args = item_is(p, GOTRACE_V1_Batch) ? 1 : p->arg_count;
        ck_assert_msg(p->spec == q->spec && p->size == q->size && p->arg_count == q->arg_count &&
                          memcmp(p->args, q->args, args * sizeof *p->args) == 0,
                      "%s: record %zu of the footer differs (%s, %s)", a->file->path, i,
                      p->spec->name, q->spec->name);
        ck_assert(p->data_size == q->data_size && memcmp(p->data, q->data, p->data_size) == 0);
    }
}

static void check_by_event(const trace_file *file, boundaries *seen)
{
    layout l = layout_of(file);
    trace_file again = {.gccgo = file->gccgo};
    gotrace_encoder *e;
    ck_assert_int_eq(gotrace_encoder_new(l.version, blob_write, &again.content, NULL, &e, NULL),
                     GOTRACE_OK);
    if (file->gccgo)
        ck_assert_int_eq(gt_encoder_tracer(e, GOTRACE_TRACER_GCCGO), GOTRACE_OK);
    bool whole = encode_trace(&l, e, seen);
    gotrace_encoder_free(e);
    snprintf(again.path, sizeof again.path, "what was made of %.400s", file->path);
    layout m = layout_of(&again);
    ck_assert_msg(l.lane_count == m.lane_count, "%s: other procs", file->path);
    for (size_t i = 0; i < l.lane_count; i++)
        same_lane(&l, &l.lanes[i], &m, layout_lane(&m, l.lanes[i].proc));
    if (whole)
        same_footer(&l, &m);
    layout_free(&l);
    layout_free(&m);
    blob_free(&again.content);
}

START_TEST(by_event_as_the_tracers)
{
    trace_file *files = traces_load((size_t)8 << 20);
    boundaries seen = {0};
    for (trace_file *f = files; f->path[0]; f++)
        if (!is_odd(f))
            check_by_event(f, &seen);
    /* few procs are destroyed while they have events */
    ck_assert_uint_le(seen.early, 8 + seen.full / 4);
    traces_free(files);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tracers");
    TCase *cases = tcase_create("tracers");
    tcase_add_test(cases, by_event_as_the_tracers);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
