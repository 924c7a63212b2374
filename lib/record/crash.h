/*
 * crash.h - the crash file: the buffers and tables of a recorder, in a file that is mapped into
 * memory, so that they outlive the process.
 *
 *   head     gt_crash_head
 *   maps     two copies of /proc/self/maps, one of which is valid: where addresses have names
 *   samples  the ring of CPU samples
 *   slots    buffers: events, batches of the encoder (GT_REC_OWN), and the entries of tables
 *
 * What is in the file at any time is valid: a member that makes others valid is written last
 * (gt_rec_commit). Of an era that is complete (gt_crash_head.complete) the buffers have everything;
 * of the others those of events do, with the entries of the tables, and the rest is made by
 * recover.c. Between eras buffers are kept until the trace ends; a flight recorder frees those that
 * it drops.
 *
 * Numbers and pointers are those of the machine: the file is for the machine on which it was
 * written, and for the same release.
 */
#ifndef GT_RECORD_CRASH_H
#define GT_RECORD_CRASH_H

#include "record/record.h"

#define GT_CRASH_MAGIC "gotrace crash\n\x1a"

enum {
    GT_CRASH_MAGIC_SIZE = 16,
    GT_CRASH_LAYOUT = 2,       /* changes if a struct here or gt_rec_buffer does */
    GT_CRASH_MAPS = 256 << 10, /* bytes of a copy of the maps */
    GT_CRASH_LEAST = 4 << 20,  /* bytes of the smallest file */
    GT_CRASH_USUAL = 64 << 20,
};

typedef struct gt_crash_head {
    char magic[GT_CRASH_MAGIC_SIZE];
    uint64_t layout;
    uint64_t address;             /* at which the file was mapped: slots have pointers */
    uint64_t slot_count;          /* slots in the file */
    uint64_t version;             /* of the trace; 0: none is recorded */
    uint64_t first_era, kept_era; /* of the trace; the first one that was not dropped */
    uint64_t complete;            /* the last era that is complete */
    uint64_t frequency;
    gotrace_clocks clocks; /* at the beginning of the trace */
    uint64_t sample_begin; /* number of the first sample that waits */
    uint64_t maps;         /* which copy is valid */
    uint64_t maps_size[2];
    uint64_t timer_count, timers[GT_REC_TIMERS];
} gt_crash_head;

/* An entry of a table, in a buffer of kind GT_REC_TABLE. Its bytes follow, up to a multiple of 8.
 */
typedef struct gt_crash_entry {
    uint32_t id;
    uint32_t size; /* with GT_CRASH_STRING in a string */
    uint64_t start;
} gt_crash_entry;

#define GT_CRASH_STRING (UINT32_C(1) << 31)

/* Offsets in the file. */
enum {
    GT_CRASH_MAPS_AT = 4096,
    GT_CRASH_SAMPLES_AT = GT_CRASH_MAPS_AT + 2 * GT_CRASH_MAPS,
    GT_CRASH_SLOTS_AT = GT_CRASH_SAMPLES_AT + GT_REC_SAMPLES * sizeof(gt_rec_sample),
};
_Static_assert(sizeof(gt_crash_head) <= GT_CRASH_MAPS_AT, "the head is a page");
_Static_assert(GT_REC_BUFFER_SIZE % 8 == 0 && GT_CRASH_SLOTS_AT % 8 == 0, "slots are aligned");

/* Creates the file of gotrace_recorder.options. Sets gotrace_recorder.crash. */
gotrace_status gt_crash_open(gotrace_recorder *r, gotrace_error *error);
/* Removes the file, unless the trace failed. */
void gt_crash_close(gotrace_recorder *r);
/* In a child process: it does not change the file any more. */
void gt_crash_leave(gt_crash *c);

/* The caller holds the lock, also for the following functions. A trace begins: frees the buffers of
 * the last one. gt_crash_ready: from now on a kill leaves a trace. */
void gt_crash_begin(gotrace_recorder *r);
void gt_crash_ready(gotrace_recorder *r);

/* A free buffer for that era; NULL: there is none. */
gt_rec_buffer *gt_crash_take(gotrace_recorder *r, uint64_t era);
void gt_crash_give_back(gotrace_recorder *r, gt_rec_buffer *b);
/* Few buffers are free: ends the trace. Of a flight recorder, the generation that is open has many:
 * ends it. */
void gt_crash_limit(gotrace_recorder *r);
/* A flight recorder: whether the first of several complete generations is to be dropped; and a
 * generation begins, after that. */
bool gt_crash_keeps_too_much(const gt_crash *c);
void gt_crash_note_open(gt_crash *c);

/* A new entry of a table. After entries were lost no more are put: ids are without gaps. */
void gt_crash_put_entry(gotrace_recorder *r, uint64_t era, bool string, const gt_rec_entry *entry);
void gt_crash_clear_tables(gotrace_recorder *r, uint64_t era);

gt_rec_sample *gt_crash_samples(const gt_crash *c);
/* Samples before that one have been written. */
void gt_crash_note_samples(gt_crash *c, uint64_t begin);
void gt_crash_note_timer(gt_crash *c, uint64_t id);
/* The era is complete; it is no longer kept. */
void gt_crash_complete(gotrace_recorder *r, uint64_t era);
void gt_crash_drop(gt_crash *c, uint64_t era);

#endif
