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

struct executed {
    ring *shared;    /* NULL: the process has ended */
    uint32_t number; /* there */
    int32_t pid;
    uint64_t main;      /* its address, once the process has ended; 0: unknown */
    bool past;          /* the process has ended, or executes another program */
    bool read;          /* `mapped` has what was mapped at the beginning */
    uint64_t next_read; /* its maps are not read before, a time of CLOCK_MONOTONIC */
    mapped mapped;
    char program[RING_NAME_SIZE];
    char main_name[RING_NAME_SIZE + sizeof ".main"];
};

uint32_t names_add(names *n, ring *shared, uint32_t number, int32_t pid)
{
    executed *added = n->image_count < NAMES_NO_IMAGE ? malloc(sizeof *added) : NULL;
    executed **grown = added ? vector_room(n->images, &n->image_capacity, n->image_count,
                                           sizeof *grown)
                             : NULL;
    if (!grown) {
        free(added);
        return NAMES_NO_IMAGE;
    }
    *added = (executed){.shared = shared, .number = number, .pid = pid};
    n->images = grown;
    n->images[n->image_count] = added;
    return (uint32_t)n->image_count++;
}

static executed *image_at(const names *n, uint64_t number)
{
    return number < n->image_count ? n->images[number] : NULL;
}

/* Reads the files that the image had mapped at its beginning, from a copy: the process can write to
 * the list. */
static void read_first(names *n, executed *i)
{
    char *text = !i->read && i->shared ? malloc(RING_MAPS) : NULL;
    i->read = true;
    if (!text)
        return;
    memcpy(text, i->shared->maps[i->number], RING_MAPS);
    FILE *maps = fmemopen(text, strnlen(text, RING_MAPS), "r");
    if (maps) {
        mapped_read(n->files, &i->mapped, maps);
        fclose(maps);
    }
    free(text);
}

/* Reads what the process has mapped now, unless it executes another program: libraries that were
 * loaded since, for example. */
static void read_present(names *n, executed *i, uint64_t begin)
{
    char path[32];
    if (i->past || begin < i->next_read)
        return;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)i->pid);
    FILE *maps = fopen(path, "re");
    if (!maps)
        return;
    mapped_read(n->files, &i->mapped, maps);
    fclose(maps);
}

/* Addresses of which nothing is found, as of a compiler in the program, must not take much time. */
static void delay_reading(executed *i, uint64_t begin)
{
    enum { PART = 10 }; /* of the time */
    const uint64_t end = now();
    if (begin >= i->next_read)
        i->next_read = end + PART * (end - begin);
}

void names_see(names *n, uint32_t number, uint64_t pc)
{
    executed *i = image_at(n, number);
    if (!i)
        return;
    read_first(n, i);
    if (mapped_has(&i->mapped, pc))
        return;
    const uint64_t begin = now();
    read_present(n, i, begin);
    if (!mapped_has(&i->mapped, pc))
        delay_reading(i, begin);
}

/* Memory may have been mapped since it was looked at last. */
uint64_t names_key(names *n, uint32_t number, uint64_t address)
{
    executed *i = image_at(n, number);
    if (!i)
        return 0;
    read_first(n, i);
    const uint64_t begin = now();
    uint64_t key = mapped_key(&i->mapped, address);
    if (key)
        return key;
    read_present(n, i, begin);
    key = mapped_key(&i->mapped, address);
    if (!key)
        delay_reading(i, begin);
    return key;
}

static uint64_t main_of(const executed *i)
{
    return i->shared ? i->shared->mains[i->number] : i->main;
}

uint64_t names_main(const names *n, uint32_t number)
{
    const executed *i = image_at(n, number);
    return i ? main_of(i) : 0;
}

/* Without what a file cannot have in its name, or what affects a terminal. */
static void copy_name(char *to, const char *name, size_t size)
{
    size_t i = 0;
    for (; i + 1 < size && name[i]; i++)
        to[i] = name[i] == '/' || iscntrl((unsigned char)name[i]) ? '_' : name[i];
    to[i] = '\0';
}

const char *names_program(names *n, uint32_t number)
{
    executed *i = image_at(n, number);
    if (i && i->shared)
        copy_name(i->program, i->shared->programs[i->number], sizeof i->program);
    return i ? i->program : "";
}

void names_past(names *n, uint32_t number)
{
    executed *i = image_at(n, number);
    if (i)
        i->past = true;
}

void names_end(names *n, uint32_t number)
{
    executed *i = image_at(n, number);
    if (!i)
        return;
    i->past = true;
    i->main = main_of(i);
    names_program(n, number);
    read_first(n, i);
    i->shared = NULL;
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
static bool is_of_file(const executed *i, uint64_t pc, const char *begin)
{
    const char *path = i ? mapped_path(&i->mapped, pc) : NULL;
    const char *name = path ? strrchr(path, '/') : NULL;
    return name && strncmp(name + 1, begin, strlen(begin)) == 0;
}

/* Whether the code is that of the preloaded library: its sources are not the user's. */
static bool is_of_preload(const executed *i, uint64_t pc)
{
    return is_of_file(i, pc, "libgotrace-preload.so");
}

/* Python packages have libgomp under names such as libgomp-a34b3233.so.1. LLVM's libomp is seen: it
 * waits in pthread_cond_wait. */
bool names_wait_unseen(names *n, uint32_t image, uint64_t pc)
{
    names_see(n, image, pc);
    return is_of_file(image_at(n, image), pc, "libgomp");
}

static void hide_source(gotrace_frame *frame)
{
    frame->file = NULL;
    frame->file_size = 0;
    frame->line = 0;
}

/* The image of addresses that stand for names of threads: their number, from 0 on. */
enum { THREADS_IMAGE = NAMES_NO_IMAGE + 1 };

static uint64_t thread_address(size_t number)
{
    return (uint64_t)THREADS_IMAGE << PC_IMAGE_SHIFT | number;
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

/* In a trace of several processes, each program has its own name for main. */
static void name_main(names *n, uint32_t number, gotrace_frame *frame)
{
    executed *i = image_at(n, number);
    if (frame->function_size != strlen("main") || memcmp(frame->function, "main", 4) != 0)
        return;
    snprintf(i->main_name, sizeof i->main_name, "%s.main", names_program(n, number));
    name_frame(frame, i->main_name);
}

size_t names_resolve(void *ctx, uint64_t tagged, gotrace_frame *frames, size_t max)
{
    names *n = ctx;
    const uint64_t number = tagged >> PC_IMAGE_SHIFT, pc = tagged & PC_MASK;
    n->wait.pause(n->wait.ctx);
    frames[0] = (gotrace_frame){.pc = tagged};
    if (number == THREADS_IMAGE && pc > 0 && pc <= n->thread_count)
        name_frame(&frames[0], n->threads[pc - 1]);
    names_see(n, (uint32_t)number, pc);
    executed *i = image_at(n, number);
    if (!i || n->wait.stops())
        return 1;
    const size_t count = mapped_resolve(n->files, &i->mapped, pc, frames, max, &n->wait);
    const bool hides = is_of_preload(i, pc);
    for (size_t f = 0; f < count; f++) {
        frames[f].pc |= number << PC_IMAGE_SHIFT;
        if (hides)
            hide_source(&frames[f]);
    }
    if (pc == main_of(i) + 1 && is_offset(&frames[count - 1]))
        name_frame(&frames[count - 1], "main");
    if (n->several)
        name_main(n, (uint32_t)number, &frames[count - 1]);
    return count;
}

static void free_image(const names *n, executed *i)
{
    mapped_free(n->files, &i->mapped);
    free(i);
}

void names_free(names *n)
{
    for (size_t i = 0; i < n->image_count; i++)
        free_image(n, n->images[i]);
    free(n->images);
    free(n->threads);
}
