/* functions.c - short names of functions, and which functions belong to the runtime. */
#include "formats/common/functions.h"

#include <stdint.h>
#include <string.h>

enum { FIRST_MODULE_VERSION = 2 };

/* End of the package path: the first bracket or space, where types begin, which have package paths
 * of their own. */
static size_t path_limit(const char *name, size_t size)
{
    size_t end = 0;

    while (end < size && !strchr("[({ ", name[end]))
        end++;
    return end;
}

/* Whether this is a module version such as "v2", the last path element of a module from version 2
 * on. */
static bool is_version(const char *text, size_t size)
{
    uint64_t number = 0;

    if (size < 2 || size > 9 || text[0] != 'v' || text[1] == '0')
        return false;
    for (size_t i = 1; i < size; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        number = number * 10 + (uint64_t)(text[i] - '0');
    }
    return number >= FIRST_MODULE_VERSION;
}

/* Undoes the linker's %-escapes (it writes a dot in the last path element as %2e). Control
 * characters stay escaped. Returns the number of bytes written; stops when dst is full. */
static size_t unescape(char *dst, size_t room, const char *text, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    size_t used = 0;

    for (size_t i = 0; i < size && used < room; i++) {
        const char *high = NULL, *low = NULL;
        if (text[i] == '%' && size - i > 2 && text[i + 1] && text[i + 2]) {
            high = strchr(digits, text[i + 1]);
            low = strchr(digits, text[i + 2]);
        }
        unsigned code = high && low ? (unsigned)((high - digits) * 16 + (low - digits)) : 0;
        if (code >= ' ' && code != 0x7f) {
            dst[used++] = (char)code;
            i += 2;
        } else {
            dst[used++] = text[i];
        }
    }
    return used;
}

size_t function_short(char *dst, size_t room, const char *name, size_t size)
{
    size_t limit = path_limit(name, size), start = 0, before = 0;

    for (size_t i = 0; i < limit; i++) {
        if (name[i] == '/') {
            before = start;
            start = i + 1;
        }
    }
    size_t end = start;
    while (end < limit && name[end] != '.')
        end++;
    const char *package = name + start;
    size_t length = end - start;
    if (is_version(package, length) && start > before + 1) {
        package = name + before;
        length = start - 1 - before;
    }
    size_t used = unescape(dst, room, package, length);
    size_t rest = size - end;
    if (rest > room - used) {
        /* Do not cut a rune in two. */
        rest = room - used;
        while (rest > 0 && ((unsigned char)name[end + rest] & 0xc0) == 0x80)
            rest--;
    }
    if (rest > 0)
        memcpy(dst + used, name + end, rest);
    return used + rest;
}

static bool begins_with(const char *name, size_t size, const char *prefix)
{
    return size >= strlen(prefix) && memcmp(name, prefix, strlen(prefix)) == 0;
}

bool function_is_inner(const char *name, size_t size)
{
    return begins_with(name, size, "runtime.") || begins_with(name, size, "internal/poll.");
}

bool function_is_system(const char *name, size_t size)
{
    static const char program[] = "runtime.main";

    return begins_with(name, size, "runtime.") &&
           (size != sizeof program - 1 || memcmp(name, program, sizeof program - 1) != 0);
}
