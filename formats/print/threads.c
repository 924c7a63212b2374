/*
 * threads.c - events are read and copied into blocks in the calling thread, and the text of a block
 * is made in any thread, because that takes three to five times as long as reading. The calling
 * thread writes the texts in order, and makes texts itself when all blocks are in use.
 *
 * The text of a block stays in its buffer until it is the block's turn. If the buffer is full
 * before, whichever thread makes the text waits for the turn, and then writes directly, so memory
 * does not depend on the length of texts.
 */
#include <errno.h>
#include <stdlib.h>

#include "core/thread.h"
#include "formats/common/event_block.h"
#include "formats/common/feed_stacks.h"
#include "formats/print/print.h"

enum { MOST_THREADS = 64, BLOCKS_PER_THREAD = 4 };

typedef struct print_block {
    struct printing *printing;
    uint64_t number;
    bool done;         /* the text is complete */
    feed_arena *arena; /* of the copies of stacks */
    event_block events;
    const feed_stack_copy *stacks[EVENT_BLOCK_EVENTS][2]; /* event.stack and event.start_stack */
    out text;
} print_block;

typedef struct printing {
    const printer *how;
    bool frames;
    const print_events *source;
    out *out; /* used by the thread that has the turn; the calling one has that of a done block */
    int version;
    pthread_t caller;
    pthread_mutex_t lock;
    pthread_cond_t work, turn;       /* a block was passed; a block is done or written */
    uint64_t passed, begun, written; /* numbers of blocks */
    bool ends;
    size_t thread_count;
    pthread_t threads[MOST_THREADS];
    /* Of the calling thread. */
    const gotrace_event *pending; /* an event for the next block */
    const gotrace_raw *raw;       /* the same */
    uint64_t generation_index;    /* of the last event */
    feed_copier copier;
    feed_arena *arena; /* of the block that was written last */
    size_t block_count;
    print_block *blocks;
} printing;

static print_block *block_of(const printing *p, uint64_t number)
{
    return &p->blocks[number % p->block_count];
}

/* ---- making and writing texts -------------------------------------------------------------- */

static void make_text(print_block *b)
{
    const printing *p = b->printing;

    for (size_t i = 0; i < b->events.count && !b->text.failed; i++) {
        const print_source from = {
            .version = p->version,
            .raw = &b->events.raw[i],
            .arena = b->arena,
            .stack = b->stacks[i][0],
            .start_stack = b->stacks[i][1],
            .frames = p->frames,
        };
        p->how->event(&b->text, &from, &b->events.events[i]);
    }
}

/* Begins the next block: the caller holds the lock, and releases it to make the text. */
static void make_next_text(printing *p)
{
    print_block *b = block_of(p, p->begun++);

    pthread_mutex_unlock(&p->lock);
    make_text(b);
    pthread_mutex_lock(&p->lock);
    b->done = true;
    pthread_cond_broadcast(&p->turn);
}

/* Frees the stacks of other generations than that of the block to be written. */
static void enter_generation(printing *p, feed_arena *arena)
{
    if (arena == p->arena)
        return;
    feed_arena_free(p->arena);
    p->arena = arena;
}

/* Writes the block that has the turn and is done. The calling thread holds the lock. */
static void write_block(printing *p)
{
    print_block *b = block_of(p, p->written);

    pthread_mutex_unlock(&p->lock);
    enter_generation(p, b->arena);
    out_bytes(p->out, b->text.buffer, b->text.used);
    if (b->text.failed)
        out_fail(p->out, b->text.error);
    bool failed = p->out->failed;
    b->text.used = 0;
    b->done = false;
    pthread_mutex_lock(&p->lock);
    p->written++;
    p->ends = p->ends || failed;
    pthread_cond_broadcast(&p->turn);
}

/* Writes a full buffer of a block (gotrace_write_fn). */
static bool write_in_turn(void *ctx, const void *bytes, size_t size)
{
    const print_block *b = ctx;
    printing *p = b->printing;
    bool is_caller = pthread_equal(p->caller, pthread_self());

    pthread_mutex_lock(&p->lock);
    while (p->written != b->number && !p->ends) {
        if (is_caller && block_of(p, p->written)->done)
            write_block(p);
        else
            pthread_cond_wait(&p->turn, &p->lock);
    }
    bool ends = p->ends;
    pthread_mutex_unlock(&p->lock);
    if (!ends)
        out_bytes(p->out, bytes, size);
    return !ends && !p->out->failed;
}

static void *make_texts(void *arg)
{
    printing *p = arg;

    pthread_mutex_lock(&p->lock);
    while (!p->ends) {
        if (p->begun == p->passed)
            pthread_cond_wait(&p->work, &p->lock);
        else
            make_next_text(p);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* Waits until at most that many blocks remain to be written; false if the output failed. */
static bool write_until(printing *p, uint64_t remaining)
{
    pthread_mutex_lock(&p->lock);
    while (p->passed - p->written > remaining && !p->ends) {
        if (block_of(p, p->written)->done)
            write_block(p);
        else if (p->begun < p->passed)
            make_next_text(p);
        else
            pthread_cond_wait(&p->turn, &p->lock);
    }
    bool ends = p->ends;
    pthread_mutex_unlock(&p->lock);
    return !ends;
}

/* ---- reading ------------------------------------------------------------------------------- */

/* Sets *copy to the copy of the stack. False if memory is refused. */
static bool copy_stack(printing *p, uint64_t id, const feed_stack_copy **copy)
{
    if (!feed_copy_stack(&p->copier, id))
        return false;
    *copy = feed_stack_copy_at(p->copier.arena, id_numbers_find(&p->copier.stacks, id));
    return true;
}

static bool block_add(printing *p, print_block *b)
{
    const gotrace_event *e = p->pending;
    const feed_stack_copy **stacks = b->stacks[b->events.count];

    if (b->events.count == 0 &&
        (!p->copier.arena || p->raw->generation_index != p->generation_index)) {
        bool made = feed_copier_restart(&p->copier);
        b->arena = p->copier.arena; /* to be freed with the block, also if it is incomplete */
        if (!made)
            return false;
        p->generation_index = p->raw->generation_index;
    }
    return copy_stack(p, e->stack, &stacks[0]) &&
           copy_stack(p, gotrace_event_start_stack(e), &stacks[1]) &&
           event_block_add(&b->events, e, p->raw);
}

/* A block belongs to one generation. */
static bool block_fits(const printing *p, const print_block *b)
{
    return b->events.count == 0 || (p->raw->generation_index == p->generation_index &&
                                    event_block_fits(&b->events, p->pending, p->raw));
}

/* Returns the status of the reader, GOTRACE_EVENT if the block is full. */
static gotrace_status block_fill(printing *p, print_block *b)
{
    while (!event_block_full(&b->events)) {
        gotrace_status status = p->pending ? GOTRACE_EVENT
                                           : print_next_event(p->source, &p->pending);
        if (status != GOTRACE_EVENT) {
            p->pending = NULL;
            return status;
        }
        p->raw = gotrace_reader_raw(p->source->reader);
        if (!block_fits(p, b))
            break;
        if (!block_add(p, b)) {
            out_fail(&b->text, ENOMEM);
            break;
        }
        p->pending = NULL;
    }
    return GOTRACE_EVENT;
}

static void pass(printing *p)
{
    pthread_mutex_lock(&p->lock);
    p->passed++;
    pthread_cond_signal(&p->work);
    pthread_mutex_unlock(&p->lock);
}

static gotrace_status read_blocks(printing *p)
{
    gotrace_status status = GOTRACE_EVENT;

    while (status == GOTRACE_EVENT && write_until(p, p->block_count - 1)) {
        print_block *b = block_of(p, p->passed);
        b->number = p->passed;
        b->arena = p->copier.arena;
        event_block_clear(&b->events);
        status = block_fill(p, b);
        pass(p);
    }
    return write_until(p, 0) ? status : GOTRACE_EVENT;
}

/* ---- begin and end --------------------------------------------------------------------------- */

static void end_threads(printing *p)
{
    pthread_mutex_lock(&p->lock);
    p->ends = true;
    pthread_cond_broadcast(&p->work);
    pthread_cond_broadcast(&p->turn);
    pthread_mutex_unlock(&p->lock);
    for (size_t i = 0; i < p->thread_count; i++)
        pthread_join(p->threads[i], NULL);
}

static void printing_free(printing *p)
{
    for (uint64_t n = p->written; n < p->passed; n++)
        enter_generation(p, block_of(p, n)->arena);
    enter_generation(p, p->copier.arena);
    enter_generation(p, NULL);
    feed_copier_free(&p->copier);
    for (size_t i = 0; i < p->block_count; i++) {
        event_block_free(&p->blocks[i].events);
        out_free(&p->blocks[i].text);
    }
    free(p->blocks);
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->work);
    pthread_cond_destroy(&p->turn);
    free(p);
}

static bool begin_threads(printing *p, size_t most)
{
    bool ready = true;

    if (most > MOST_THREADS)
        most = MOST_THREADS;
    p->block_count = BLOCKS_PER_THREAD * (most + 1);
    p->blocks = calloc(p->block_count, sizeof *p->blocks);
    if (!p->blocks)
        p->block_count = 0;
    for (size_t i = 0; i < p->block_count && ready; i++) {
        p->blocks[i].printing = p;
        ready = out_init(&p->blocks[i].text, write_in_turn, &p->blocks[i]);
    }
    while (p->block_count > 0 && ready && p->thread_count < most &&
           gt_thread_begin(&p->threads[p->thread_count], make_texts, p))
        p->thread_count++;
    return p->thread_count > 0;
}

bool print_in_threads(const print_job *job, const print_events *events, gotrace_status *status)
{
    printing *p = calloc(1, sizeof *p);

    if (!p)
        return false;
    p->how = job->how;
    p->frames = job->frames;
    p->source = events;
    p->out = job->out;
    p->version = gotrace_reader_summary(job->reader)->version;
    p->caller = pthread_self();
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, NULL);
    pthread_cond_init(&p->turn, NULL);
    feed_copier_init(&p->copier, job->reader);
    p->copier.most_frames = job->frames ? PRINT_FRAMES : job->how->most_frames;
    bool begun = begin_threads(p, job->threads - 1);
    if (begun)
        *status = read_blocks(p);
    end_threads(p);
    printing_free(p);
    return begun;
}
