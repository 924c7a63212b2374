/* program.c - derives the name of the traced program from its stacks. */
#include <stdio.h>
#include <stdlib.h>

#include "formats/perfetto/perfetto.h"

static bool is(const char *s, size_t size, const char *word)
{
    return size == strlen(word) && memcmp(s, word, size) == 0;
}

/* The last element of a path. *size becomes the length of the path without it. */
static const char *last_element(const char *path, size_t *size, size_t *length)
{
    size_t start = *size;

    while (start > 0 && path[start - 1] != '/' && path[start - 1] != '\\')
        start--;
    *length = *size - start;
    *size = start > 0 ? start - 1 : 0;
    return path + start;
}

/* A file of package main; has_main: it contains the main function. */
typedef struct main_file {
    const char *path;
    size_t size;
    bool has_main;
} main_file;

/* The program's name according to the file: the file's name if it contains the main function and is
 * not main.go, else the name of its folder. NULL if neither helps: a test's main function is in the
 * generated _testmain.go. */
static const char *name_of_file(const main_file *file, size_t *length)
{
    size_t size = file->size;
    const char *base = last_element(file->path, &size, length);

    if (is(base, *length, "_testmain.go"))
        return NULL;
    if (!file->has_main || is(base, *length, "main.go"))
        base = last_element(file->path, &size, length);
    else if (*length > 3 && memcmp(base + *length - 3, ".go", 3) == 0)
        *length -= 3;
    /* A build may shorten paths to "./main.go". */
    return *length > 0 && !is(base, *length, ".") ? base : NULL;
}

/* Examines a frame: a file of package main is a candidate, the one with the main function is
 * best. */
static void examine_frame(const gotrace_frame *frame, main_file *file)
{
    static const char package[] = "main.";
    size_t size = sizeof package - 1;

    if (frame->function_size <= size || memcmp(frame->function, package, size) != 0 ||
        frame->file_size == 0)
        return;
    bool has_main = is(frame->function, frame->function_size, "main.main");
    if (has_main || !file->path)
        *file = (main_file){frame->file, frame->file_size, has_main};
}

void program_name(perfetto *p, const char *otherwise)
{
    /* Tracers number stacks from 1. */
    enum { STACKS = 100000, FRAMES = 1000 };
    gotrace_frame *frames = calloc(FRAMES, sizeof *frames);
    /* v2 has stacks per generation; their number is unknown in advance. */
    uint64_t stacks = p->version < GOTRACE_FIRST_V2 ? gotrace_reader_summary(p->feed.reader)->stacks
                                                    : STACKS;
    main_file file = {0};

    if (!frames)
        protobuf_fail(&p->w);
    for (uint64_t id = 1; frames && !file.has_main && id <= stacks && id <= STACKS; id++) {
        size_t count = feed_stack(&p->feed, id, frames, FRAMES);
        for (size_t i = 0; i < count && !file.has_main; i++)
            examine_frame(&frames[i], &file);
    }
    size_t length = 0;
    const char *found = file.path ? name_of_file(&file, &length) : NULL;
    snprintf(p->program, sizeof p->program, "%.*s", found ? (int)length : (int)strlen(otherwise),
             found ? found : otherwise);
    free(frames);
}
