/*
 * names.c - functions of the programs that the process executes, one after the other.
 */
#include "cmd/record/record.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "formats/common/vector.h"

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Reads the files that the image had mapped at its beginning, from a copy: the process can write to
 * the list. */
static void read_first(names *n, uint32_t image)
{
    char *text = malloc(RING_MAPS);
    if (!text)
        return;
    memcpy(text, n->shared->maps[image], RING_MAPS);
    FILE *maps = fmemopen(text, strnlen(text, RING_MAPS), "r");
    if (maps) {
        mapped_read(n->files, &n->images[image], maps);
        fclose(maps);
    }
    free(text);
}

/* Reads what the process has mapped now. */
static void read_present(names *n, uint32_t image)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/%d/maps", (int)n->pid);
    FILE *maps = fopen(path, "re");
    if (!maps)
        return;
    mapped_read(n->files, &n->images[image], maps);
    fclose(maps);
}

/* Libraries that were loaded since are mapped now, unless the process executes another program.
 * Addresses without a file, as of a compiler in the program, must not take much time. */
void names_see(names *n, uint32_t image, uint64_t pc)
{
    enum { PART = 10 }; /* of the time */
    if (n->images[image].count == 0 && !n->read[image])
        read_first(n, image);
    n->read[image] = true;
    if (image + 1 != n->image_count || mapped_has(&n->images[image], pc))
        return;
    const uint64_t begin = now();
    if (begin < n->next_read)
        return;
    read_present(n, image);
    if (!mapped_has(&n->images[image], pc)) {
        const uint64_t end = now();
        n->next_read = end + PART * (end - begin);
    }
}

/* Without what a file cannot have in its name, or what affects a terminal. */
static void copy_name(char *to, const char *name, size_t size)
{
    size_t i = 0;
    for (; i + 1 < size && name[i]; i++)
        to[i] = name[i] == '/' || iscntrl((unsigned char)name[i]) ? '_' : name[i];
    to[i] = '\0';
}

void names_program(const names *n, char name[RING_NAME_SIZE])
{
    name[0] = '\0';
    for (uint32_t image = n->image_count; image > 0 && !name[0]; image--)
        copy_name(name, n->shared->programs[image - 1], RING_NAME_SIZE);
}

static void name_frame(gotrace_frame *frame, const char *name)
{
    frame->function = name;
    frame->function_size = strlen(name);
}

static bool is_offset(const gotrace_frame *frame)
{
    return !frame->function || memmem(frame->function, frame->function_size, "+0x", 3);
}

/* Whether the code is of a file with such a name: without its folder, from its beginning. */
static bool is_of_file(const names *n, uint64_t image, uint64_t pc, const char *begin)
{
    const char *path = mapped_path(&n->images[image], pc), *name = path ? strrchr(path, '/') : NULL;
    return name && strncmp(name + 1, begin, strlen(begin)) == 0;
}

/* Whether the code is that of the preloaded library: its sources are not the user's. */
static bool is_of_preload(const names *n, uint64_t image, uint64_t pc)
{
    return is_of_file(n, image, pc, "libgotrace-preload.so");
}

/* Python packages have libgomp under names such as libgomp-a34b3233.so.1. LLVM's libomp is seen: it
 * waits in pthread_cond_wait. */
bool names_wait_unseen(names *n, uint32_t image, uint64_t pc)
{
    names_see(n, image, pc);
    return is_of_file(n, image, pc, "libgomp");
}

static void hide_source(gotrace_frame *frame)
{
    frame->file = NULL;
    frame->file_size = 0;
    frame->line = 0;
}

/* The image of addresses that stand for names of threads: their number, from 0 on. */
enum { NAMES_IMAGE = RING_IMAGES };

static uint64_t thread_address(size_t number)
{
    return (uint64_t)NAMES_IMAGE << PC_IMAGE_SHIFT | number;
}

/* The number of the name; SIZE_MAX: there is no room. */
static size_t number_of(names *n, const char *name)
{
    enum { MOST_NAMES = 4096 };
    size_t i = 0;
    while (i < n->thread_count && strcmp(n->threads[i], name) != 0)
        i++;
    if (i < n->thread_count)
        return i;
    void *grown = i < MOST_NAMES
                      ? vector_room(n->threads, &n->thread_capacity, i, sizeof *n->threads)
                      : NULL;
    if (!grown)
        return SIZE_MAX;
    n->threads = grown;
    strcpy(n->threads[n->thread_count++], name);
    return i;
}

uint64_t names_thread(names *n, uint64_t routine, const char *name)
{
    enum { MOST_INLINED = 32 };
    gotrace_frame frames[MOST_INLINED];
    if (routine) {
        const size_t count = names_resolve(n, routine + 1, frames, MOST_INLINED);
        if (!is_offset(&frames[count - 1]))
            return routine;
    }
    const size_t number = name[0] ? number_of(n, name) : SIZE_MAX;
    return number < SIZE_MAX ? thread_address(number) : routine;
}

size_t names_resolve(void *ctx, uint64_t tagged, gotrace_frame *frames, size_t max)
{
    names *n = ctx;
    uint64_t image = tagged >> PC_IMAGE_SHIFT, pc = tagged & PC_MASK;
    n->wait.pause(n->wait.ctx);
    frames[0] = (gotrace_frame){.pc = tagged};
    if (image == NAMES_IMAGE && pc > 0 && pc <= n->thread_count)
        name_frame(&frames[0], n->threads[pc - 1]);
    if (image >= RING_IMAGES || n->wait.stops())
        return 1;
    names_see(n, (uint32_t)image, pc);
    size_t count = mapped_resolve(n->files, &n->images[image], pc, frames, max, &n->wait);
    const bool hides = is_of_preload(n, image, pc);
    for (size_t i = 0; i < count; i++) {
        frames[i].pc |= image << PC_IMAGE_SHIFT;
        if (hides)
            hide_source(&frames[i]);
    }
    if (pc == n->shared->mains[image] + 1 && is_offset(&frames[count - 1]))
        name_frame(&frames[count - 1], "main");
    return count;
}

void names_free(names *n)
{
    for (size_t i = 0; i < RING_IMAGES; i++)
        mapped_free(n->files, &n->images[i]);
    free(n->threads);
}
