/* perfetto_program.c - what the traced program is called, as far as its stacks tell. */
#include <stdlib.h>

#include "perfetto.h"

static bool is(const char *s, size_t size, const char *word)
{
    return size == strlen(word) && memcmp(s, word, size) == 0;
}

/* The last element of a path, which becomes *size bytes long without it. */
static const char *last_element(const char *path, size_t *size, size_t *length)
{
    size_t start = *size;

    while (start > 0 && path[start - 1] != '/' && path[start - 1] != '\\')
        start--;
    *length = *size - start;
    *size = start > 0 ? start - 1 : 0;
    return path + start;
}

/* The program's name from the file of its main function; NULL if that says nothing: a test's main
 * function is generated, into _testmain.go. */
static const char *name_of_file(const char *file, size_t size, size_t *length)
{
    const char *base = last_element(file, &size, length);

    if (is(base, *length, "_testmain.go"))
        return NULL;
    if (is(base, *length, "main.go"))
        base = last_element(file, &size, length);
    else if (*length > 3 && memcmp(base + *length - 3, ".go", 3) == 0)
        *length -= 3;
    return *length > 0 ? base : NULL;
}

void program_name(gotrace_reader *reader, const char *otherwise, char *name, size_t size)
{
    /* Tracers number stacks from 1; the main goroutine's are among the first. */
    enum { STACKS = 100000, FRAMES = 1000 };
    gotrace_frame *frames = calloc(FRAMES, sizeof *frames);
    const char *found = NULL;
    size_t length = 0;
    uint64_t stacks = gotrace_reader_summary(reader)->stacks;

    for (uint64_t id = 1; frames && !found && id <= stacks && id <= STACKS; id++) {
        size_t count = gotrace_reader_stack(reader, id, frames, FRAMES);
        /* main.main is called by runtime.main, which older tracers leave out. */
        for (size_t i = count > 2 ? count - 2 : 0; i < count; i++)
            if (frames[i].function && is(frames[i].function, frames[i].function_size, "main.main")
                && frames[i].file)
                found = name_of_file(frames[i].file, frames[i].file_size, &length);
    }
    snprintf(name, size, "%.*s", found ? (int)length : (int)strlen(otherwise),
             found ? found : otherwise);
    free(frames);
}
