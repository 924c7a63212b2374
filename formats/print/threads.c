/*
 * threads.c - blocks of events are read in the calling thread, and the text of a block is made in
 * any thread, because that takes three to five times as long as reading. The calling thread writes
 * the texts in order, and makes texts itself when all blocks are in use.
 *
 * The text of a block stays in its buffer until it is the block's turn. If the buffer is full
 * before, whichever thread makes the text waits for the turn, and then writes directly, so memory
 * does not depend on the length of texts. So this is not a ring (formats/common/ring.h), where one
 * thread takes what another one passes.
 */
#include <errno.h>
#include <stdlib.h>

#include "core/thread.h"
#include "formats/common/feed.h"
#include "formats/print/print.h"

enum { MOST_THREADS = 64, BLOCKS_PER_THREAD = 2 };

typedef struct print_block {
    struct printing *printing;
    uint64_t number;
    bool done;                   /* the text is complete */
    const gotrace_block *events; /* released when the text is complete */
    uint32_t *selected;          /* indexes of the events to print */
    size_t count, room;          /* of those */
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
    print_source from = {.version = p->version, .block = b->events, .frames = p->frames};

    for (size_t i = 0; i < b->count && !b->text.failed; i++) {
        from.raw = &b->events->raw[b->selected[i]];
        p->how->event(&b->text, &from, &b->events->events[b->selected[i]]);
    }
    gotrace_block_release(b->events);
    b->events = NULL;
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

/* Writes the block that has the turn and is done. The calling thread holds the lock. */
static void write_block(printing *p)
{
    print_block *b = block_of(p, p->written);

    pthread_mutex_unlock(&p->lock);
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

/* Selects the events of a block. Returns GOTRACE_END if no later one is to be printed. */
static gotrace_status select_events(printing *p, print_block *b)
{
    const size_t most = b->events->count;
    bool ends = false;

    b->count = 0;
    if (most > b->room) {
        uint32_t *selected = realloc(b->selected, most * sizeof *selected);
        if (!selected) {
            out_fail(&b->text, ENOMEM);
            return GOTRACE_EVENT;
        }
        b->selected = selected;
        b->room = most;
    }
    feed_show(p->source->source, b->events);
    for (size_t i = 0; i < most && !ends; i++) {
        b->selected[b->count] = (uint32_t)i;
        b->count += print_selects(p->source, &b->events->events[i], &ends);
    }
    return ends ? GOTRACE_END : GOTRACE_EVENT;
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
        status = gotrace_reader_next_block(p->source->reader, &b->events);
        if (status == GOTRACE_EVENT) {
            status = select_events(p, b);
            pass(p);
        }
    }
    feed_show(p->source->source, NULL);
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
    for (size_t i = 0; i < p->block_count; i++) {
        gotrace_block_release(p->blocks[i].events);
        free(p->blocks[i].selected);
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
    bool begun = begin_threads(p, job->threads - 1);
    if (begun) {
        gotrace_reader_keep_raw(job->reader);
        *status = read_blocks(p);
    }
    end_threads(p);
    printing_free(p);
    return begun;
}
