/*
 * crash.c - the crash file, while the process lives.
 */
#include "record/crash.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "core/errors.h"

enum {
    RANGES = 512,             /* of code; if there are more, all addresses count as known */
    MAPS_PAUSE_NS = 10000000, /* between two readings of the maps */
    RESERVE = 8,              /* this part of the slots is for what ends the trace */
    /* The slots of a flight recorder, in eighths. After the first kept generation is dropped there
     * is still one eighth of them at least; what remains is for events until the thread that ends a
     * generation runs. */
    EIGHTHS = 8,
    KEPT_EIGHTHS = 3, /* complete generations have at most as many, or there is only one */
    OPEN_EIGHTHS = 2, /* a generation with that many ends */
};

typedef struct range {
    uint64_t start, end;
} range;

struct gt_crash {
    gt_crash_head *head;
    size_t size;
    int fd;
    char *path;
    size_t fresh;               /* slots from here on were never used */
    size_t free_count;          /* with those */
    size_t open_free;           /* free_count when the generation that is open began */
    gt_rec_buffer *free, *kept; /* kept: the output has them */
    gt_rec_buffer *tables[GT_REC_OPEN];
    uint64_t lost[GT_REC_OPEN]; /* eras with a buffer that is not in the file */
    bool ends;                  /* the trace ends in such an era, as far as it is in the file */
    range ranges[RANGES];
    size_t range_count;
    uint64_t maps_read; /* gt_rec_monotonic */
};

/* ---- the file -------------------------------------------------------------------------------- */

static void free_crash(gotrace_recorder *r, gt_crash *c)
{
    if (c->path)
        gt_free(&r->heap, c->path, strlen(c->path) + 1);
    gt_free(&r->heap, c, sizeof *c);
}

static char *copy_path(gotrace_recorder *r)
{
    const size_t size = strlen(r->options.crash_file) + 1;
    char *path = gt_resize(&r->heap, NULL, 0, size);
    return path ? memcpy(path, r->options.crash_file, size) : NULL;
}

/* Space is allocated now: on a full disk, a later write would be a signal. */
static gotrace_status map_file(gt_crash *c, gotrace_error *error)
{
    int why = posix_fallocate(c->fd, 0, (off_t)c->size);
    if (why != 0)
        return gt_error_system(error, GOTRACE_RULE_SYSTEM_WRITE, why, "%s", c->path);
    void *memory = mmap(NULL, c->size, PROT_READ | PROT_WRITE, MAP_SHARED, c->fd, 0);
    if (memory == MAP_FAILED)
        return gt_error_system(error, GOTRACE_RULE_SYSTEM_OPEN, errno, "%s", c->path);
    c->head = memory;
    return GOTRACE_OK;
}

static void init_head(gt_crash *c)
{
    c->free_count = (c->size - GT_CRASH_SLOTS_AT) / GT_REC_BUFFER_SIZE;
    c->head->address = (uint64_t)(uintptr_t)c->head;
    c->head->slot_count = c->free_count;
    c->head->layout = GT_CRASH_LAYOUT;
    memcpy(c->head->magic, GT_CRASH_MAGIC, sizeof GT_CRASH_MAGIC);
}

static gotrace_status create_file(gt_crash *c, gotrace_error *error)
{
    c->fd = open(c->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (c->fd < 0)
        return gt_error_system(error, GOTRACE_RULE_SYSTEM_OPEN, errno, "%s", c->path);
    if (map_file(c, error) == GOTRACE_OK)
        return GOTRACE_OK;
    unlink(c->path);
    close(c->fd);
    return GOTRACE_ERROR;
}

gotrace_status gt_crash_open(gotrace_recorder *r, gotrace_error *error)
{
    const uint64_t size = r->options.crash_bytes ? r->options.crash_bytes : GT_CRASH_USUAL;
    if (size < GT_CRASH_LEAST || size > INT64_MAX)
        return gt_error_set(error, GOTRACE_RULE_USAGE, GT_NO_PLACE,
                            "a crash file of %" PRIu64 " bytes; it needs %d at least", size,
                            GT_CRASH_LEAST);
    gt_crash *c = gt_calloc(&r->heap, 1, sizeof *c);
    if (!c || !(c->path = copy_path(r))) {
        if (c)
            free_crash(r, c);
        return gt_error_memory(error, &r->heap);
    }
    c->size = size;
    if (create_file(c, error) < 0) {
        free_crash(r, c);
        return GOTRACE_ERROR;
    }
    init_head(c);
    r->crash = c;
    return GOTRACE_OK;
}

void gt_crash_close(gotrace_recorder *r)
{
    gt_crash *c = r->crash;
    if (!r->failed && !r->forked)
        unlink(c->path);
    munmap(c->head, c->size);
    close(c->fd);
    free_crash(r, c);
    r->crash = NULL;
}

void gt_crash_leave(gt_crash *c)
{
    /* A copy of the memory in its place. */
    mmap(c->head, c->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, c->fd, 0);
}

/* ---- buffers --------------------------------------------------------------------------------- */

static gt_rec_buffer *slot_at(const gt_crash *c, size_t number)
{
    return (gt_rec_buffer *)((uint8_t *)c->head + GT_CRASH_SLOTS_AT + number * GT_REC_BUFFER_SIZE);
}

static void make_free(gt_crash *c, gt_rec_buffer *b)
{
    b->era = 0;
    gt_rec_commit();
    b->next = c->free;
    c->free = b;
    c->free_count++;
}

gt_rec_buffer *gt_crash_take(gotrace_recorder *r, uint64_t era)
{
    gt_crash *c = r->crash;
    gt_rec_buffer *b = c->free;
    if (b) {
        c->free = b->next;
    } else if (c->fresh < c->head->slot_count) {
        b = slot_at(c, c->fresh++);
        b->mapped = true;
    } else {
        c->lost[era % GT_REC_OPEN] = era;
        return NULL;
    }
    c->free_count--;
    return b;
}

void gt_crash_give_back(gotrace_recorder *r, gt_rec_buffer *b)
{
    gt_crash *c = r->crash;
    if (gt_rec_is_flight(r)) {
        make_free(c, b);
    } else {
        b->next = c->kept;
        c->kept = b;
    }
}

bool gt_crash_keeps_too_much(const gt_crash *c)
{
    return c->free_count < c->head->slot_count * (EIGHTHS - KEPT_EIGHTHS) / EIGHTHS;
}

void gt_crash_note_open(gt_crash *c)
{
    c->open_free = c->free_count;
}

void gt_crash_limit(gotrace_recorder *r)
{
    const gt_crash *c = r->crash;
    const size_t slots = c->head->slot_count;
    const bool is_reserve = c->free_count < slots / RESERVE;
    if (gt_rec_is_flight(r)) {
        if (!is_reserve && c->free_count + slots * OPEN_EIGHTHS / EIGHTHS > c->open_free)
            return;
        r->era_due = gt_rec_monotonic();
        pthread_cond_broadcast(&r->changed);
    } else if (is_reserve && !r->cut) {
        gt_rec_cut(r);
    }
}

/* ---- a trace --------------------------------------------------------------------------------- */

static void read_maps(gt_crash *c);

static gotrace_clocks clocks_now(const gotrace_recorder *r)
{
    struct timespec wall;
    clock_gettime(CLOCK_REALTIME, &wall);
    const gt_rec_moment moment = gt_rec_moment_now(r);
    return (gotrace_clocks){moment.ticks, moment.ns, (uint64_t)wall.tv_sec, (uint64_t)wall.tv_nsec};
}

void gt_crash_begin(gotrace_recorder *r)
{
    gt_crash *c = r->crash;
    c->head->version = 0;
    gt_rec_commit();
    for (gt_rec_buffer *b; (b = c->kept);) {
        c->kept = b->next;
        make_free(c, b);
    }
    c->ends = false;
    gt_crash_note_open(c);
    c->head->first_era = c->head->kept_era = r->first_era;
    c->head->complete = r->first_era - 1;
    c->head->frequency = gt_rec_frequency(r);
    if (r->v2)
        r->frequency = c->head->frequency;
    c->head->clocks = clocks_now(r);
    read_maps(c);
}

void gt_crash_ready(gotrace_recorder *r)
{
    gt_rec_commit();
    r->crash->head->version = (uint64_t)r->version;
}

/* If the file lacks buffers of the era, the trace of a flight recorder begins after it. */
void gt_crash_complete(gotrace_recorder *r, uint64_t era)
{
    gt_crash *c = r->crash;
    const bool lost = c->lost[era % GT_REC_OPEN] == era;
    gt_rec_commit();
    if (lost && gt_rec_is_flight(r))
        gt_crash_drop(c, era);
    else
        c->ends = c->ends || lost;
    if (!c->ends)
        c->head->complete = era;
}

void gt_crash_drop(gt_crash *c, uint64_t era)
{
    if (c->head->kept_era <= era)
        c->head->kept_era = era + 1;
    gt_rec_commit();
}

void gt_crash_note_timer(gt_crash *c, uint64_t id)
{
    c->head->timers[c->head->timer_count] = id;
    gt_rec_commit();
    c->head->timer_count++;
}

gt_rec_sample *gt_crash_samples(const gt_crash *c)
{
    return (gt_rec_sample *)((uint8_t *)c->head + GT_CRASH_SAMPLES_AT);
}

void gt_crash_note_samples(gt_crash *c, uint64_t begin)
{
    gt_rec_commit();
    c->head->sample_begin = begin;
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void see(gt_crash *c, const gt_rec_entry *stack);

/* The buffer of the tables of an era, with that much room; NULL: the file is full. */
static gt_rec_buffer *table_room(gotrace_recorder *r, uint64_t era, size_t size)
{
    gt_crash *c = r->crash;
    gt_rec_buffer *last = c->tables[era % GT_REC_OPEN];
    if (last && (size_t)(last->end - last->p) >= size)
        return last;
    gt_rec_buffer *b = gt_crash_take(r, era);
    if (!b)
        return NULL;
    b->p = b->bytes;
    b->end = b->bytes + GT_REC_ROOM;
    b->kind = GT_REC_TABLE;
    b->order = ++r->order;
    gt_rec_commit();
    b->era = era;
    b->next = last;
    return c->tables[era % GT_REC_OPEN] = b;
}

void gt_crash_put_entry(gotrace_recorder *r, uint64_t era, bool string, const gt_rec_entry *entry)
{
    gt_crash *c = r->crash;
    const gt_crash_entry put = {entry->id, entry->size | (string ? GT_CRASH_STRING : 0),
                                entry->start};
    const size_t size = sizeof put + (entry->size + 7) / 8 * 8;
    gt_rec_buffer *b = c->lost[era % GT_REC_OPEN] == era ? NULL : table_room(r, era, size);
    if (!b)
        return;
    memcpy(b->p, &put, sizeof put);
    memcpy(b->p + sizeof put, entry->bytes, entry->size);
    gt_rec_commit();
    b->p += size;
    if (!string)
        see(c, entry);
}

void gt_crash_clear_tables(gotrace_recorder *r, uint64_t era)
{
    gt_crash *c = r->crash;
    gt_rec_commit();
    for (gt_rec_buffer *b = c->tables[era % GT_REC_OPEN], *next; b; b = next) {
        next = b->next;
        if (b->era <= c->head->complete)
            make_free(c, b);
        else
            gt_crash_give_back(r, b);
    }
    c->tables[era % GT_REC_OPEN] = NULL;
}

/* ---- maps ------------------------------------------------------------------------------------ */

/* Notes the addresses of a line "START-END PERMISSIONS ...", if they are code. */
static void note_range(gt_crash *c, const char *line)
{
    uint64_t start, end;
    char permissions[5];
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &start, &end, permissions) == 3 &&
        permissions[2] == 'x' && c->range_count < RANGES)
        c->ranges[c->range_count++] = (range){start, end};
}

/* Copies the lines that name files. */
static void read_maps(gt_crash *c)
{
    const uint64_t which = 1 - c->head->maps;
    char *copy = (char *)c->head + GT_CRASH_MAPS_AT + which * GT_CRASH_MAPS, line[4352];
    size_t used = 0;
    FILE *maps = fopen("/proc/self/maps", "re");
    c->range_count = 0;
    c->maps_read = gt_rec_monotonic();
    while (maps && fgets(line, sizeof line, maps)) {
        const size_t size = strlen(line);
        note_range(c, line);
        if (!strchr(line, '/') || used + size > GT_CRASH_MAPS)
            continue;
        memcpy(copy + used, line, size);
        used += size;
    }
    if (maps)
        fclose(maps);
    c->head->maps_size[which] = used;
    gt_rec_commit();
    c->head->maps = which;
}

static bool has_code(const gt_crash *c, uint64_t pc)
{
    size_t i = 0;
    while (i < c->range_count && (pc < c->ranges[i].start || pc >= c->ranges[i].end))
        i++;
    return i < c->range_count || c->range_count == RANGES;
}

/* Libraries may have been loaded since. */
static void see(gt_crash *c, const gt_rec_entry *stack)
{
    uint64_t pc;
    for (size_t at = 0; at < stack->size; at += sizeof pc) {
        memcpy(&pc, stack->bytes + at, sizeof pc);
        if (!has_code(c, pc - 1)) {
            if (gt_rec_monotonic() - c->maps_read >= MAPS_PAUSE_NS)
                read_maps(c);
            return;
        }
    }
}
