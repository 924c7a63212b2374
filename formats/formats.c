/* formats.c - what there is to convert to and to print as, and how it is found. */
#include "formats.h"

#include <string.h>
#include <strings.h>

#include "print.h"

const format *const formats[] = {&format_perfetto, &format_chrome, NULL};

const printer *const printers[] = {&printer_text, &printer_go, &printer_jsonl, NULL};

const char *convert_part_name(size_t n)
{
    static const char *const names[] = {
#define CONVERT_NAME(name, text) [PART_##name] = (text),
        CONVERT_PARTS(CONVERT_NAME)
#undef CONVERT_NAME
    };

    return n < PART_COUNT ? names[n] : NULL;
}

const format *format_by_name(const char *name)
{
    for (size_t i = 0; formats[i]; i++)
        if (strcmp(formats[i]->name, name) == 0)
            return formats[i];
    return NULL;
}

static bool has_ending(const char *path, size_t size, const char *ending)
{
    size_t length = strlen(ending);
    return size > length && strncasecmp(path + size - length, ending, length) == 0;
}

const format *format_by_path(const char *path)
{
    size_t size = strlen(path);

    /* The ending before .zst tells what is compressed. */
    if (has_ending(path, size, ".zst"))
        size -= strlen(".zst");
    for (size_t i = 0; formats[i]; i++)
        for (const char *const *ending = formats[i]->extensions; *ending; ending++)
            if (has_ending(path, size, *ending))
                return formats[i];
    return NULL;
}

const printer *printer_by_name(const char *name)
{
    for (size_t i = 0; printers[i]; i++)
        if (strcmp(printers[i]->name, name) == 0)
            return printers[i];
    return NULL;
}
