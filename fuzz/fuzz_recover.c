/*
 * fuzz_recover.c - crash files with changed bytes: they are rejected with a reason, or become a
 * trace that can be read, in bounded memory and time; the unchanged one becomes a sound trace.
 *
 * The input is a list of changes: of which file, where, how many bytes, the bytes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common.h"
#include "cmd/repair/verdict.h"
#include "gotrace_record.h"
#include "record/crash.h"

enum { FILE_SIZE = 4 << 20, SLOTS = (FILE_SIZE - GT_CRASH_SLOTS_AT) / GT_REC_BUFFER_SIZE };

static const int versions[] = {26, 19, 22, 5};
enum { FILES = sizeof versions / sizeof *versions };

static uint8_t *files[FILES], *changed;

/* ---- crash files ----------------------------------------------------------------------------- */

static uint64_t tick(void *ctx)
{
    return *(uint64_t *)ctx += 100;
}

static bool drop(void *ctx, const void *data, size_t size)
{
    (void)ctx, (void)data, (void)size;
    return true;
}

static void record(gotrace_recorder *r, int version)
{
    gotrace_rec_thread *t = gotrace_rec_thread_new(r, 100);
    gotrace_rec_go *waits = gotrace_rec_go_create_blocked(t, 1, 0, NULL, 0);
    uint64_t pcs[] = {0x400010, 0x400020, 0x400030};
    REQUIRE(gotrace_recorder_start(r, version, drop, NULL) == GOTRACE_OK);
    gotrace_rec_proc_start(t, gotrace_rec_proc_new(r, 0));
    gotrace_rec_go_start(t, gotrace_rec_go_create(t, 2, 0x500000, pcs, 3));
    for (int i = 0; i < 3; i++) {
        pcs[0] += 16;
        gotrace_rec_go_unpark(t, waits, pcs, 3);
        gotrace_rec_go_sched(t, pcs, 2);
        gotrace_rec_go_start(t, waits);
        gotrace_rec_region(t, 0, GOTRACE_REC_BEGIN, "region", pcs, 2);
        gotrace_rec_log(t, 0, "category", "message", NULL, 0);
        gotrace_rec_region(t, 0, GOTRACE_REC_END, "region", NULL, 0);
        gotrace_rec_go_sys_call(t, pcs, 1);
        gotrace_rec_go_sys_exit(t);
        gotrace_rec_cpu_sample(r, t, pcs, 3);
        gotrace_rec_heap_alloc(t, 1000);
        gotrace_rec_go_park(t, GOTRACE_REC_SEND, pcs, 3);
        gotrace_rec_go_start(t, gotrace_rec_go_create(t, 3 + (uint64_t)i, 0x500000, pcs, 3));
        if (i < 2)
            gotrace_recorder_advance(r);
    }
}

/* The addresses in the file become the same in every process. */
static void rebase(uint8_t *file)
{
    gt_crash_head *head = (gt_crash_head *)file;
    const uint64_t wanted = UINT64_C(0x7f0000000000), shift = wanted - head->address;
    for (size_t i = 0; i < SLOTS; i++) {
        gt_rec_buffer *b = (gt_rec_buffer *)(void *)(file + GT_CRASH_SLOTS_AT +
                                                     i * GT_REC_BUFFER_SIZE);
        uint8_t **pointers[] = {&b->p, &b->end, &b->length};
        for (size_t n = 0; n < 3 && b->era != 0; n++)
            *pointers[n] = (uint8_t *)((uintptr_t)*pointers[n] + shift);
    }
    head->address = wanted;
}

static uint8_t *make_file(int version)
{
    char path[64];
    uint64_t now = 1000;
    gotrace_recorder *r;
    gotrace_error error = GOTRACE_INIT(gotrace_error);
    snprintf(path, sizeof path, "/tmp/gotrace-fuzz-recover.%d", (int)getpid());
    const gotrace_recorder_options options = {.size = sizeof options,
                                              .clock = tick,
                                              .clock_ctx = &now,
                                              .frequency = 1000000000,
                                              .generation_ns = UINT64_MAX,
                                              .crash_file = path,
                                              .crash_bytes = FILE_SIZE};
    REQUIRE(gotrace_recorder_new(&options, NULL, &r, &error) == GOTRACE_OK);
    record(r, version);
    uint8_t *made = calloc(1, FILE_SIZE);
    FILE *file = fopen(path, "re");
    REQUIRE(made && file && fread(made, 1, FILE_SIZE, file) > GT_CRASH_SLOTS_AT);
    fclose(file);
    REQUIRE(gotrace_recorder_stop(r) >= 0);
    gotrace_recorder_free(r);
    rebase(made);
    return made;
}

/* ---- changes --------------------------------------------------------------------------------- */

/* A place in one of the parts of the file. */
static size_t place_of(unsigned part, unsigned slot, unsigned at)
{
    const size_t begin = GT_CRASH_SLOTS_AT + slot % SLOTS * GT_REC_BUFFER_SIZE;
    switch (part % 8) {
    case 0: return at % sizeof(gt_crash_head);
    case 1: return GT_CRASH_MAPS_AT + at;
    case 2: return GT_CRASH_SAMPLES_AT + at;
    case 3:
    case 4: return begin + at % sizeof(gt_rec_buffer);
    default: return begin + sizeof(gt_rec_buffer) + at % 512;
    }
}

static void change(const uint8_t *data, size_t size)
{
    enum { BEFORE = 5 };
    while (size > BEFORE) {
        const size_t place = place_of(data[0], data[1], data[2] | (unsigned)data[3] << 8);
        size_t count = 1 + data[4] % 16;
        count = count < size - BEFORE ? count : size - BEFORE;
        memcpy(changed + place, data + BEFORE, count);
        data += BEFORE + count;
        size -= BEFORE + count;
    }
}

/* ---- recovery -------------------------------------------------------------------------------- */

static size_t resolve(void *ctx, uint64_t pc, gotrace_frame *frames, size_t max)
{
    (void)ctx, (void)max;
    frames[0] = (gotrace_frame){
        .pc = pc, .function = "main.f", .function_size = 6, .file = "f.go", .file_size = 4};
    return 1;
}

/* Returns whether it became a trace, and whether that is sound. */
static bool recover(size_t size, bool *sound)
{
    uint64_t problems;
    gotrace_config config = fuzz_config(&problems);
    gotrace_source *source;
    gotrace_error error = GOTRACE_INIT(gotrace_error);
    bytes trace = {0};
    verdict found;
    REQUIRE(gotrace_source_memory(changed, size, &config, &source, &error) == GOTRACE_OK);
    const bool good = gotrace_recover(source, resolve, NULL, bytes_write, &trace, &config,
                                      &error) == GOTRACE_OK;
    gotrace_source_close(source);
    REQUIRE(good || (error.rule != GOTRACE_RULE_NONE && error.message[0] != '\0'));
    REQUIRE(trace.size <= 2 * FILE_SIZE);
    if (good) {
        config.on_problem = NULL;
        REQUIRE(verdict_of(trace.data, trace.size, &config, &found, &error));
        *sound = found.sound;
    }
    bytes_free(&trace);
    return good;
}

static void make_files(void)
{
    bool sound;
    changed = malloc(FILE_SIZE + UINT16_MAX);
    REQUIRE(changed);
    for (size_t i = 0; i < FILES; i++) {
        files[i] = make_file(versions[i]);
        memcpy(changed, files[i], FILE_SIZE);
        REQUIRE(recover(FILE_SIZE, &sound) && sound);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bool sound;
    if (!changed)
        make_files();
    if (size == 0 || fuzz_is_packed(data, size))
        return 0;
    memcpy(changed, files[data[0] % FILES], FILE_SIZE);
    change(data + 1, size - 1);
    /* Some files are cut off among the slots. */
    const size_t slots = FILE_SIZE - GT_CRASH_SLOTS_AT;
    const bool whole = data[0] / FILES % 8 != 0;
    recover(whole ? FILE_SIZE : GT_CRASH_SLOTS_AT + size * 997 % slots, &sound);
    return 0;
}
