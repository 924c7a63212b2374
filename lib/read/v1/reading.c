#include "read/v1/reading.h"

#include "read/v1/futile.h"
#include "read/v1/model.h"

/* State of reading in order, in addition to the index. */
struct gt_reading {
    gt_goroutines goroutines;
    gt_futile futile;
    gt_effect effect; /* of the last event */
};

bool gt_reading_new(gotrace_reader *reader)
{
    reader->reading = gt_calloc(&reader->heap, 1, sizeof *reader->reading);
    return reader->reading != NULL;
}

bool gt_reading_start(gotrace_reader *reader, int64_t until)
{
    gt_reading *reading = reader->reading;
    gt_goroutines_init(&reading->goroutines, &reader->heap, reader->limits.goroutines);
    if (!gt_futile_find(reader, &reading->futile))
        return false;
    reader->order = gt_order_new(reader, &reading->goroutines, until);
    reader->states = reader->order ? gt_states_new(reader, &reading->goroutines) : NULL;
    return reader->states != NULL;
}

/* Applies an event to the state, in final order. */
static inline bool follow(gotrace_reader *reader, gt_event *e, gt_effect *effect)
{
    gt_reading *reading = reader->reading;
    if (reading->futile.position == 0)
        reader->first_ticks = e->ticks;
    reader->last_ticks = e->ticks;
    if (!gt_futile_next(reader, &reading->futile, e))
        return false;
    if (e->flags & GOTRACE_EVENT_FUTILE) { /* no effect */
        *effect = (gt_effect){0};
        reader->states->current.p = gt_states_proc(reader->states, e);
        return true;
    }
    return gt_states_step(reader, reader->states, e, effect);
}

/* Call after an event was returned: removes the goroutine that it ended. */
static inline bool finish_event(gotrace_reader *reader, const gt_effect *effect)
{
    return effect->to != GOTRACE_STATE_NOT_EXIST ||
           gt_goroutine_end(&reader->reading->goroutines, effect->goroutine) ||
           gt_fail_memory(reader);
}

/* Puts an event into a block. Whether to go on to the next one. */
static bool take_event(gotrace_reader *reader, gt_event *e, void *ctx)
{
    gt_effect *effect = &reader->reading->effect;
    gt_block *b = ctx;
    if (!follow(reader, e, effect))
        return false;
    const size_t before = b->count;
    if (!gt_model_put(reader, e, effect, b) || !finish_event(reader, effect)) {
        b->count = before;
        return false;
    }
    return gt_block_has_room(b);
}

bool gt_reading_fill(gotrace_reader *reader, gt_block *block)
{
    return gt_order_each(reader, reader->order, take_event, block);
}

static bool check_event(gotrace_reader *reader, gt_event *e, void *ctx)
{
    gt_effect *effect = &reader->reading->effect;
    (void)ctx;
    reader->summary.events++;
    return follow(reader, e, effect) && finish_event(reader, effect);
}

bool gt_check_events(gotrace_reader *reader)
{
    return gt_order_each(reader, reader->order, check_event, NULL);
}

gt_goroutines *gt_begin_piece(gotrace_reader *reader)
{
    gt_reading *reading = reader->reading;
    gt_goroutines_init(&reading->goroutines, &reader->heap, reader->limits.goroutines);
    reading->goroutines.unknown = true;
    reading->goroutines.unknown_seq = gt_hash_seed();
    reading->futile = (gt_futile){.position = 1, .next = UINT64_MAX, .awake.heap = &reader->heap};
    reader->stage = GT_READING;
    return &reading->goroutines;
}

const gt_goroutines *gt_reading_goroutines(const gotrace_reader *reader)
{
    return reader->reading ? &reader->reading->goroutines : NULL;
}

void gt_reading_end(gotrace_reader *reader)
{
    gt_order_free(reader, reader->order);
    gt_states_free(reader, reader->states);
    reader->order = NULL;
    reader->states = NULL;
    if (reader->reading)
        gt_futile_free(&reader->reading->futile);
}

void gt_reading_free(gotrace_reader *reader)
{
    if (!reader->reading)
        return;
    if (reader->reading->goroutines.heap)
        gt_goroutines_free(&reader->reading->goroutines);
    gt_free(&reader->heap, reader->reading, sizeof *reader->reading);
}
