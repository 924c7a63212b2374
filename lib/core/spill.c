#include "core/spill.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/source.h"

enum {
    RUN_ROWS = 16384, /* rows sorted at a time: 640 KiB */
    READ_ROWS = 64,   /* rows of a run read at a time while merging */
};

struct gt_spill_run {
    uint64_t at, end; /* next row in the file, and end of the run */
    uint64_t first;   /* first row of the run */
    size_t next, have;
    gt_row rows[READ_ROWS];
};

void gt_spill_init(gt_spill *spill, gt_heap *heap, const gotrace_config *config)
{
    *spill = (gt_spill){.heap = heap, .config = config, .fd = -1};
}

static bool before(const gt_row *x, const gt_row *y)
{
    return x->key != y->key ? x->key < y->key : x->offset < y->offset;
}

static int compare(const void *x, const void *y)
{
    return before(x, y) ? -1 : before(y, x);
}

/* Rows of one proc are nearly sorted already; checking first saves most of the sorting. */
static void sort_rows(gt_spill *spill)
{
    for (size_t i = 1; i < spill->count; i++)
        if (before(&spill->rows[i], &spill->rows[i - 1])) {
            qsort(spill->rows, spill->count, sizeof *spill->rows, compare);
            return;
        }
}

/* Writes the collected rows as a sorted run. */
static bool spill_run(gt_spill *spill, gotrace_error *error)
{
    void *runs = spill->runs;
    if (spill->fd < 0 && (spill->fd = gt_spool_open(spill->config, error)) < 0)
        return false;
    if (!gt_grow(spill->heap, &runs, &spill->run_capacity, spill->run_count + 1,
                 sizeof *spill->runs)) {
        gt_error_memory(error, spill->heap);
        return false;
    }
    spill->runs = runs;
    sort_rows(spill);
    if (!gt_write_all(spill->fd, spill->rows, spill->count * sizeof *spill->rows, error))
        return false;
    gt_spill_run *run = &spill->runs[spill->run_count++];
    run->first = spill->total - spill->count;
    run->end = spill->total;
    spill->count = 0;
    return true;
}

bool gt_spill_add(gt_spill *spill, const gt_row *row, gotrace_error *error)
{
    if (spill->count == RUN_ROWS && !spill_run(spill, error))
        return false;
    void *rows = spill->rows;
    if (!gt_grow(spill->heap, &rows, &spill->capacity, spill->count + 1, sizeof *row)) {
        gt_error_memory(error, spill->heap);
        return false;
    }
    spill->rows = rows;
    spill->rows[spill->count++] = *row;
    spill->total++;
    return true;
}

static bool run_fill(gt_spill *spill, gt_spill_run *run, gotrace_error *error)
{
    uint64_t left = run->end - run->at;
    size_t wanted = left < READ_ROWS ? (size_t)left : READ_ROWS;
    size_t bytes = wanted * sizeof *run->rows, got = 0;
    while (got < bytes) {
        ssize_t n = pread(spill->fd, (char *)run->rows + got, bytes - got,
                          (off_t)(run->at * sizeof *run->rows + got));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            gt_error_system(error, GOTRACE_RULE_SYSTEM_READ, n < 0 ? errno : EIO,
                            "cannot read back a temporary file");
            return false;
        }
        got += (size_t)n;
    }
    run->at += wanted;
    run->have = wanted;
    run->next = 0;
    return true;
}

static const gt_row *head(const gt_spill *spill, size_t run)
{
    return &spill->runs[run].rows[spill->runs[run].next];
}

/* Restores the heap order from that position down. */
static void sink(gt_spill *spill, size_t at)
{
    for (;;) {
        size_t least = at, left = 2 * at + 1, right = left + 1;
        if (left < spill->live &&
            before(head(spill, spill->order[left]), head(spill, spill->order[least])))
            least = left;
        if (right < spill->live &&
            before(head(spill, spill->order[right]), head(spill, spill->order[least])))
            least = right;
        if (least == at)
            return;
        size_t moved = spill->order[at];
        spill->order[at] = spill->order[least];
        spill->order[least] = moved;
        at = least;
    }
}

/* Sorts the rows after the last one was added. */
static bool sort(gt_spill *spill, gotrace_error *error)
{
    spill->sorted = true;
    if (spill->fd < 0) {
        sort_rows(spill);
        return true;
    }
    if (spill->count && !spill_run(spill, error))
        return false;
    gt_free(spill->heap, spill->rows, spill->capacity * sizeof *spill->rows);
    spill->rows = NULL;
    spill->capacity = 0;
    spill->order = gt_calloc(spill->heap, spill->run_count, sizeof *spill->order);
    if (!spill->order)
        gt_error_memory(error, spill->heap);
    return spill->order != NULL;
}

/* Moves a run to its first row with that key or a greater one. */
static bool run_seek(gt_spill *spill, gt_spill_run *run, int64_t key, gotrace_error *error)
{
    uint64_t low = run->first, high = run->end;
    while (high - low > READ_ROWS) {
        uint64_t middle = low + (high - low) / 2;
        run->at = middle;
        if (!run_fill(spill, run, error))
            return false;
        if (run->rows[0].key < key)
            low = middle;
        else
            high = middle;
    }
    run->at = low;
    do {
        if (run->at == run->end)
            run->have = run->next = 0;
        else if (!run_fill(spill, run, error))
            return false;
        while (run->next < run->have && run->rows[run->next].key < key)
            run->next++;
    } while (run->next == run->have && run->at < run->end);
    return true;
}

bool gt_spill_seek(gt_spill *spill, int64_t key, gotrace_error *error)
{
    size_t low = 0, high = spill->fd < 0 ? spill->count : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (spill->rows[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    spill->next = low;
    spill->live = 0;
    for (size_t i = 0; i < spill->run_count; i++) {
        gt_spill_run *run = &spill->runs[i];
        if (!run_seek(spill, run, key, error))
            return false;
        if (run->next < run->have)
            spill->order[spill->live++] = i;
    }
    for (size_t i = spill->live / 2; i-- > 0;)
        sink(spill, i);
    return true;
}

bool gt_spill_rewind(gt_spill *spill, gotrace_error *error)
{
    return (spill->sorted || sort(spill, error)) && gt_spill_seek(spill, INT64_MIN, error);
}

bool gt_spill_fork(gt_spill *fork, const gt_spill *spill, gt_heap *heap, gotrace_error *error)
{
    *fork = *spill;
    fork->is_fork = true;
    fork->heap = heap;
    fork->run_capacity = fork->run_count;
    fork->runs = gt_calloc(heap, fork->run_count, sizeof *fork->runs);
    fork->order = gt_calloc(heap, fork->run_count, sizeof *fork->order);
    if (fork->run_count && (!fork->runs || !fork->order)) {
        gt_error_memory(error, heap);
        return false;
    }
    for (size_t i = 0; i < fork->run_count; i++) {
        fork->runs[i].first = spill->runs[i].first;
        fork->runs[i].end = spill->runs[i].end;
    }
    return true;
}

const gt_row *gt_spill_peek(const gt_spill *spill)
{
    if (spill->fd < 0)
        return spill->next < spill->count ? &spill->rows[spill->next] : NULL;
    return spill->live ? head(spill, spill->order[0]) : NULL;
}

bool gt_spill_advance(gt_spill *spill, gotrace_error *error)
{
    if (spill->fd < 0) {
        spill->next++;
        return true;
    }
    gt_spill_run *run = &spill->runs[spill->order[0]];
    if (++run->next == run->have) {
        if (run->at < run->end) {
            if (!run_fill(spill, run, error))
                return false;
        } else {
            spill->order[0] = spill->order[--spill->live];
        }
    }
    sink(spill, 0);
    return true;
}

void gt_spill_free(gt_spill *spill)
{
    if (!spill->heap)
        return;
    if (!spill->is_fork)
        gt_free(spill->heap, spill->rows, spill->capacity * sizeof *spill->rows);
    gt_free(spill->heap, spill->runs, spill->run_capacity * sizeof *spill->runs);
    gt_free(spill->heap, spill->order, spill->run_count * sizeof *spill->order);
    if (spill->fd >= 0 && !spill->is_fork)
        close(spill->fd);
    *spill = (gt_spill){.fd = -1};
}
