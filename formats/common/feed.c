#include "formats/common/feed.h"

#include <stdlib.h>

#include "formats/common/event_data.h"
#include "formats/common/feed_stacks.h"
#include "core/thread.h"
#include "gotrace_experimental.h"

/* A thread that waits is woken when half of the blocks are ready for it. To wake it costs as much
 * as hundreds of events, or thousands in a virtual machine, so it must have work for many. */
enum { BLOCKS = 8, BLOCK_EVENTS = 4096, BLOCK_DATA = 128 * 1024 };

/* An event. Most are transitions, of which only this is copied: an event of 192 bytes takes longer
 * to move from one processor to another than to decode. Of the others extra.other is the copy. */
struct feed_record {
    gotrace_brief brief;
};

enum { WHOLE = GOTRACE_BRIEF_OTHER };

typedef struct feed_block {
    size_t count;
    gotrace_status status; /* after the last event; GOTRACE_EVENT: the next block has more */
    bool failed;           /* memory was refused */
    event_data data;       /* whole events, and their data */
    uint64_t generation, generation_index; /* of the events */
    feed_arena *arena;                     /* of the generation */
    size_t stacks_before, stack_count;     /* in the arena: before this block, and with its own */
    feed_record records[BLOCK_EVENTS];
} feed_block;

struct feed_thread {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t passed, done; /* blocks passed to the caller, and blocks that it has processed */
    bool ends;
    /* Of the thread. */
    gotrace_reader *reader;
    const gotrace_event *pending;          /* an event for the next block */
    uint64_t generation, generation_index; /* of the last event */
    feed_copier copier;
    /* Of the caller. */
    feed_block *block; /* NULL before the first one */
    feed_arena *arena;
    id_numbers stacks; /* in the arena */
    feed_block blocks[BLOCKS];
};

/* ---- records -----------------------------------------------------------------------------------
 */

_Static_assert(GOTRACE_NO_PROC == INT64_MIN && GOTRACE_NO_THREAD == INT64_MIN, "none, as widened");

static int32_t narrowed(int64_t id)
{
    return id == INT64_MIN ? GOTRACE_BRIEF_NONE : (int32_t)id;
}

static int64_t widened(int32_t id)
{
    return id == GOTRACE_BRIEF_NONE ? INT64_MIN : id;
}

/* Whether a record without a copy of the event represents all that the caller needs. */
static inline bool is_short(const gotrace_event *e)
{
    bool without_args = e->kind == GOTRACE_KIND_TRANSITION || e->kind == GOTRACE_KIND_SYSCALL ||
                        e->arg_count == 0;
    int extras = (e->cause != 0) + (e->start_stack != 0) + (e->reason != NULL);

    return without_args && extras <= 1 && !e->text && !e->message && e->value == 0 &&
           e->since == GOTRACE_NO_TIME && e->stack <= UINT32_MAX &&
           widened(narrowed(e->proc)) == e->proc && widened(narrowed(e->lane)) == e->lane &&
           widened(narrowed(e->thread)) == e->thread;
}

static void record_fill(feed_record *r, const gotrace_event *e)
{
    gotrace_brief *b = &r->brief;
    *b = (gotrace_brief){.time = e->time,
                         .offset = e->offset,
                         .type = e->type,
                         .kind = e->kind,
                         .resource = e->resource,
                         .from = e->from,
                         .to = e->to,
                         .range = e->range,
                         .flags = e->flags,
                         .given = GOTRACE_BRIEF_CAUSE,
                         .proc = narrowed(e->proc),
                         .lane = narrowed(e->lane),
                         .thread = narrowed(e->thread),
                         .stack = (uint32_t)e->stack,
                         .goroutine = e->goroutine,
                         .subject = e->subject,
                         .extra.cause = e->cause};
    if (e->reason) {
        b->extra.reason = e->reason;
        b->given = GOTRACE_BRIEF_REASON;
    } else if (e->start_stack) {
        b->extra.start_stack = e->start_stack;
        b->given = GOTRACE_BRIEF_START_STACK;
    }
}

/* Makes an event of a record that has no copy of it. Other members are 0 and remain so. */
static void record_expand(const feed_record *r, gotrace_event *e)
{
    const gotrace_brief *b = &r->brief;
    e->time = b->time;
    e->offset = b->offset;
    e->type = b->type;
    e->kind = b->kind;
    e->resource = b->resource;
    e->from = b->from;
    e->to = b->to;
    e->range = b->range;
    e->flags = b->flags;
    e->proc = widened(b->proc);
    e->lane = widened(b->lane);
    e->thread = widened(b->thread);
    e->stack = b->stack;
    e->goroutine = b->goroutine;
    e->subject = b->subject;
    e->cause = b->given == GOTRACE_BRIEF_CAUSE ? b->extra.cause : 0;
    e->start_stack = b->given == GOTRACE_BRIEF_START_STACK ? b->extra.start_stack : 0;
    e->reason = b->given == GOTRACE_BRIEF_REASON ? b->extra.reason : NULL;
}

/* ---- in the thread --------------------------------------------------------------------------- */

/* Bytes of data of an event that is copied as a whole. */
static size_t whole_size(const gotrace_event *e)
{
    return sizeof *e + event_data_size(e);
}

/* Whether the event can be added to the block. A block belongs to one generation. Its data may only
 * be moved while it is empty. */
static bool block_fits(const feed_thread *t, const feed_block *b, const gotrace_event *e)
{
    if (b->count == 0 && b->arena->stacks.count == b->stacks_before)
        return true;
    return e->generation_index == t->generation_index &&
           (b->count == 0 || event_data_fits(&b->data, whole_size(e)) || is_short(e));
}

/* False if memory is refused. */
static inline bool copy_stack(feed_thread *t, uint64_t id)
{
    return feed_has_copied(&t->copier, id) || feed_copy_stack(&t->copier, id);
}

static bool copy_stacks(feed_thread *t, const gotrace_event *e)
{
    return copy_stack(t, e->stack) && copy_stack(t, e->start_stack);
}

/* False if memory is refused. */
static bool put_whole(feed_block *b, feed_record *r, const gotrace_event *e)
{
    if (!event_data_reserve(&b->data, whole_size(e), BLOCK_DATA))
        return false;
    gotrace_event *copy = event_data_put(&b->data, e, sizeof *e);
    event_data_copy(&b->data, copy);
    r->brief = (gotrace_brief){.extra.other = copy, .given = WHOLE};
    return true;
}

static bool block_add(feed_thread *t, feed_block *b, const gotrace_event *e)
{
    if (e->generation_index != t->generation_index) {
        feed_arena *before = t->copier.arena;
        if (!feed_copier_restart(&t->copier))
            return false;
        if (t->passed == 0) /* no other block has it */
            feed_arena_free(before);
        t->generation = b->generation = e->generation;
        t->generation_index = b->generation_index = e->generation_index;
        b->arena = t->copier.arena;
        b->stacks_before = 0;
    }
    feed_record *r = &b->records[b->count];
    if (!copy_stacks(t, e))
        return false;
    if (is_short(e))
        record_fill(r, e);
    else if (!put_whole(b, r, e))
        return false;
    b->count++;
    return true;
}

static void block_begin(feed_thread *t, feed_block *b)
{
    b->count = b->data.used = 0;
    b->generation = t->generation;
    b->generation_index = t->generation_index;
    b->arena = t->copier.arena;
    b->stacks_before = b->arena->stacks.count;
}

/* Requests the memory of a later record. The other processor has it in its cache, and without this
 * the stores of each record wait for it: of 26 million events, 0.6 to 1 s in a virtual machine
 * whose processors are far from each other, now 0.25 s; nothing where they are near. */
static inline void expect_record(const feed_block *b)
{
    enum { AHEAD = 16 };
    const feed_record *later = &b->records[(b->count + AHEAD) % BLOCK_EVENTS];
#ifdef __x86_64__
    /* Processors that do not have it ignore it; the compiler's own one is for loads. */
    __asm__ volatile("prefetchw %0" : : "m"(*later));
#else
    __builtin_prefetch(later, 1);
#endif
}

static bool block_fail(feed_block *b)
{
    b->failed = true;
    b->status = GOTRACE_END;
    return false;
}

/* Reads an event. *event: it, if it has yet to be added. False: there is none, or memory is
 * refused. */
static inline bool block_read(feed_thread *t, feed_block *b, const gotrace_event **event)
{
    gotrace_brief *brief = &b->records[b->count].brief;
    expect_record(b);
    b->status = gotrace_reader_next_brief(t->reader, brief, event);
    if (b->status != GOTRACE_EVENT)
        return false;
    if (*event)
        return true;
    /* It is of the generation of the block, because a generation begins with a sync. */
    uint64_t start = brief->given == GOTRACE_BRIEF_START_STACK ? brief->extra.start_stack : 0;
    b->count++;
    return (copy_stack(t, brief->stack) && copy_stack(t, start)) || block_fail(b);
}

static void block_fill(feed_thread *t, feed_block *b)
{
    const gotrace_event *e = t->pending;
    b->status = GOTRACE_EVENT;
    t->pending = NULL;
    for (; b->count < BLOCK_EVENTS; e = NULL) {
        if (!e && !block_read(t, b, &e))
            return;
        if (!e)
            continue;
        if (!block_fits(t, b, e)) {
            t->pending = e;
            return;
        }
        if (!block_add(t, b, e)) {
            block_fail(b);
            return;
        }
    }
}

/* The next block to fill; NULL if the caller needs no more. */
static feed_block *wait_free(feed_thread *t)
{
    pthread_mutex_lock(&t->lock);
    while (t->passed - t->done == BLOCKS && !t->ends)
        pthread_cond_wait(&t->changed, &t->lock);
    feed_block *b = t->ends ? NULL : &t->blocks[t->passed % BLOCKS];
    pthread_mutex_unlock(&t->lock);
    return b;
}

/* Signals are sent without the lock: a thread that wakes would at once wait for it. */
static void pass(feed_thread *t, bool last)
{
    pthread_mutex_lock(&t->lock);
    t->passed++;
    bool wakes = last || t->passed - t->done >= BLOCKS / 2;
    pthread_mutex_unlock(&t->lock);
    if (wakes)
        pthread_cond_signal(&t->changed);
}

static void *read_events(void *arg)
{
    feed_thread *t = arg;
    feed_block *b = &t->blocks[0]; /* has the stacks of the event before the first */

    while (b) {
        block_fill(t, b);
        b->stack_count = b->arena->stacks.count;
        bool last = b->status != GOTRACE_EVENT;
        pass(t, last);
        b = last ? NULL : wait_free(t);
        if (b)
            block_begin(t, b);
    }
    return NULL;
}

/* ---- in the caller --------------------------------------------------------------------------- */

/* Frees the stacks of other generations. */
static void enter_generation(feed_thread *t, feed_arena *arena)
{
    if (arena == t->arena)
        return;
    feed_arena_free(t->arena);
    id_numbers_clear(&t->stacks);
    t->arena = arena;
}

/* False if memory is refused. */
static bool take_stacks(feed_thread *t)
{
    enter_generation(t, t->block->arena);
    for (size_t i = t->block->stacks_before; i < t->block->stack_count; i++) {
        const uint32_t number = (uint32_t)i + 1;
        if (!id_numbers_put(&t->stacks, feed_stack_copy_at(t->arena, number)->id, number))
            return false;
    }
    return true;
}

/* Returns the block that was processed and waits for the next. */
static void next_block(feed_thread *t)
{
    pthread_mutex_lock(&t->lock);
    t->done += t->block != NULL;
    bool wakes = t->passed - t->done <= BLOCKS / 2;
    while (t->passed == t->done) {
        wakes = false; /* the other thread does not wait, or has been woken */
        pthread_cond_wait(&t->changed, &t->lock);
    }
    pthread_mutex_unlock(&t->lock);
    if (wakes)
        pthread_cond_signal(&t->changed);
    t->block = &t->blocks[t->done % BLOCKS];
}

/* Makes the next block with events current. */
static gotrace_status enter_block(feed *f)
{
    feed_thread *t = f->thread;

    while (f->next == f->last) {
        if (t->block && t->block->status != GOTRACE_EVENT)
            return t->block->status;
        next_block(t);
        f->next = t->block->records;
        f->last = f->next + t->block->count;
        f->event.generation = t->block->generation;
        f->event.generation_index = t->block->generation_index;
        f->failed = !take_stacks(t) || t->block->failed;
        if (f->failed)
            return GOTRACE_END;
    }
    return GOTRACE_EVENT;
}

gotrace_status feed_next_record(feed *f, const gotrace_event **event)
{
    gotrace_status status = f->next == f->last ? enter_block(f) : GOTRACE_EVENT;

    if (status != GOTRACE_EVENT)
        return status;
    const feed_record *r = f->next++;
    if (r->brief.given == WHOLE) {
        *event = r->brief.extra.other;
    } else {
        record_expand(r, &f->event);
        *event = &f->event;
    }
    return GOTRACE_EVENT;
}

static const feed_stack_copy *stack_of(const feed_thread *t, uint64_t id)
{
    return feed_stack_copy_at(t->arena, id_numbers_find(&t->stacks, id));
}

size_t feed_stack_depth(const feed *f, uint64_t id)
{
    if (!f->thread)
        return gotrace_reader_stack_depth(f->reader, id);
    const feed_stack_copy *copy = stack_of(f->thread, id);
    return copy ? copy->depth : 0;
}

size_t feed_stack(const feed *f, uint64_t id, gotrace_frame *frames, size_t max)
{
    if (!f->thread)
        return gotrace_reader_stack(f->reader, id, frames, max);
    return feed_stack_frames(f->thread->arena, stack_of(f->thread, id), frames, max);
}

/* ---- begin and end --------------------------------------------------------------------------- */

void feed_init(feed *f, gotrace_reader *reader)
{
    *f = (feed){.reader = reader, .event.since = GOTRACE_NO_TIME};
}

/* Frees everything after the thread has ended. */
static void thread_free(feed_thread *t)
{
    for (uint64_t n = t->done; n < t->passed; n++)
        enter_generation(t, t->blocks[n % BLOCKS].arena);
    enter_generation(t, t->copier.arena);
    enter_generation(t, NULL);
    for (size_t i = 0; i < BLOCKS; i++)
        free(t->blocks[i].data.bytes);
    feed_copier_free(&t->copier);
    id_numbers_free(&t->stacks);
    pthread_mutex_destroy(&t->lock);
    pthread_cond_destroy(&t->changed);
    free(t);
}

/* A block has events of one generation, and passing it takes 2 us, as long as reading a generation
 * of 200 bytes. With 1 KiB on average a thread is worth it. */
static bool has_small_generations(const gotrace_reader *reader)
{
    enum { ENOUGH = 1024 };
    const gotrace_summary *s = gotrace_reader_summary(reader);

    return s->generations > 1 && s->size / s->generations < ENOUGH;
}

void feed_begin_thread(feed *f)
{
    bool use = !f->begun && !has_small_generations(f->reader);
    feed_thread *t = use ? calloc(1, sizeof *t) : NULL;

    f->begun = true;
    if (!t)
        return;
    t->reader = f->reader;
    t->generation = f->current->generation;
    t->generation_index = f->current->generation_index;
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->changed, NULL);
    id_numbers_init(&t->stacks);
    feed_copier_init(&t->copier, f->reader);
    bool ready = feed_copier_restart(&t->copier);
    if (ready)
        block_begin(t, &t->blocks[0]);
    if (ready && copy_stacks(t, f->current) && gt_thread_begin(&t->thread, read_events, t))
        f->thread = t;
    else
        thread_free(t);
}

/* Ends the thread. Returns the status of its last read. */
static gotrace_status end_thread(feed *f)
{
    feed_thread *t = f->thread;

    pthread_mutex_lock(&t->lock);
    t->ends = true;
    pthread_cond_signal(&t->changed);
    pthread_mutex_unlock(&t->lock);
    pthread_join(t->thread, NULL);
    const feed_block *last = &t->blocks[(t->passed - 1) % BLOCKS];
    gotrace_status status = last->status;
    f->failed = f->failed || last->failed;
    thread_free(t);
    f->thread = NULL;
    return status;
}

gotrace_status feed_check(feed *f)
{
    gotrace_status status = f->thread ? end_thread(f) : GOTRACE_EVENT;

    return status == GOTRACE_EVENT ? gotrace_reader_check(f->reader) : status;
}

void feed_free(feed *f)
{
    if (f->thread)
        end_thread(f);
}
