/* arguments.c - see arguments.h. */
#include "formats/view/api/arguments.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { VALUE_SHOWN = 40 /* bytes of a wrong value */ };

void arguments_init(arguments *a, const view_argument *list, size_t count)
{
    *a = (arguments){.list = list, .count = count};
    if (count <= VIEW_ARGUMENTS_MOST)
        return;
    a->wrong = true;
    snprintf(a->message, sizeof a->message, "found %zu arguments, expected at most %d", count,
             VIEW_ARGUMENTS_MOST);
}

/* The value of the first argument of that name; NULL: none, or an error was found. */
static const char *find(arguments *a, const char *name)
{
    const char *found = NULL;
    for (size_t n = 0; !a->wrong && n < a->count; n++) {
        if (strcmp(a->list[n].name, name) != 0)
            continue;
        a->known |= 1U << n;
        if (!found)
            found = a->list[n].value ? a->list[n].value : "";
        else
            arguments_reject(a, name, "one value, not two");
    }
    return a->wrong ? NULL : found;
}

void arguments_refuse(arguments *a, const char *message, ...)
{
    va_list values;
    va_start(values, message);
    a->wrong = true;
    vsnprintf(a->message, sizeof a->message, message, values);
    va_end(values);
}

void arguments_reject(arguments *a, const char *name, const char *expected, ...)
{
    char text[128];
    const char *found = NULL;
    va_list values;
    if (a->wrong)
        return;
    a->wrong = true;
    for (size_t n = 0; !found && n < a->count; n++)
        if (strcmp(a->list[n].name, name) == 0)
            found = a->list[n].value;
    va_start(values, expected);
    vsnprintf(text, sizeof text, expected, values);
    va_end(values);
    snprintf(a->message, sizeof a->message, "%.*s: found \"%.*s%s\", expected %s", VALUE_SHOWN,
             name, VALUE_SHOWN, found ? found : "",
             found && strlen(found) > VALUE_SHOWN ? "..." : "", text);
}

bool arguments_need(arguments *a, const char *name)
{
    const bool found = find(a, name) != NULL;
    if (!found && !a->wrong) {
        a->wrong = true;
        snprintf(a->message, sizeof a->message, "the argument %s is missing", name);
    }
    return found;
}

/* Reads decimal digits at *at. False: there are none, or the number is more than `most`. */
static bool read_number(const char **at, uint64_t most, uint64_t *to)
{
    char *end;
    if (**at < '0' || **at > '9')
        return false;
    errno = 0;
    const unsigned long long v = strtoull(*at, &end, 10);
    if (errno != 0 || v > most)
        return false;
    *at = end;
    *to = v;
    return true;
}

void arguments_number(arguments *a, const char *name, uint64_t least, uint64_t most, uint64_t *to)
{
    const char *at = find(a, name);
    uint64_t v;
    if (!at)
        return;
    if (!read_number(&at, most, &v) || *at || v < least)
        arguments_reject(a, name, "a number from %" PRIu64 " to %" PRIu64, least, most);
    else
        *to = v;
}

void arguments_time(arguments *a, const char *name, int64_t *to)
{
    const char *at = find(a, name);
    uint64_t v;
    if (!at)
        return;
    const bool negative = *at == '-';
    at += negative;
    if (!read_number(&at, (uint64_t)INT64_MAX, &v) || *at)
        arguments_reject(a, name, "a number of ns");
    else
        *to = negative ? -(int64_t)v : (int64_t)v;
}

void arguments_word(arguments *a, const char *name, const char *const *words, size_t count,
                    unsigned *to)
{
    char list[64] = "";
    size_t used = 0;
    const char *value = find(a, name);
    if (!value)
        return;
    for (unsigned n = 0; n < count; n++) {
        if (strcmp(value, words[n]) == 0) {
            *to = n;
            return;
        }
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", n ? ", " : "", words[n]);
        if (used >= sizeof list)
            break;
    }
    arguments_reject(a, name, "one of %s", list);
}

void arguments_text(arguments *a, const char *name, char *to, size_t size)
{
    const char *value = find(a, name);
    if (!value)
        return;
    if (strlen(value) >= size)
        arguments_reject(a, name, "less than %zu bytes", size);
    else
        memcpy(to, value, strlen(value) + 1);
}

/* ---- lists ------------------------------------------------------------------------------------
 */

/* Reads one item of a list. */
typedef bool read_item(const char **at, uint64_t highest, void *list, size_t n);

static size_t read_list(arguments *a, const char *name, size_t most, const char *what,
                        read_item *read, uint64_t highest, void *list)
{
    const char *at = find(a, name);
    size_t count = 0;
    if (!at || !*at)
        return 0;
    for (bool more = true; more; at += more) {
        if (count == most) {
            arguments_reject(a, name, "at most %zu of them", most);
            return 0;
        }
        if (!read(&at, highest, list, count++) || (*at && *at != ',')) {
            arguments_reject(a, name, "%s with commas between them; number %zu is none", what,
                             count);
            return 0;
        }
        more = *at != 0;
    }
    return count;
}

static bool read_plain(const char **at, uint64_t highest, void *list, size_t n)
{
    return read_number(at, highest, (uint64_t *)list + n);
}

static bool read_track(const char **at, uint64_t highest, void *list, size_t n)
{
    uint64_t kind;
    view_track *to = (view_track *)list + n;
    *to = (view_track){0};
    if (!read_number(at, VIEW_KINDS - 1, &kind) || **at != ':')
        return false;
    ++*at;
    to->kind = (view_kind)kind;
    return read_number(at, highest, &to->id);
}

size_t arguments_numbers(arguments *a, const char *name, uint64_t highest, uint64_t *to,
                         size_t most)
{
    return read_list(a, name, most, "numbers", read_plain, highest, to);
}

size_t arguments_tracks(arguments *a, const char *name, view_track *to, size_t most)
{
    return read_list(a, name, most, "tracks KIND:ID", read_track, UINT64_MAX, to);
}

bool arguments_end(arguments *a)
{
    for (size_t n = 0; !a->wrong && n < a->count; n++) {
        if (a->known >> n & 1)
            continue;
        a->wrong = true;
        snprintf(a->message, sizeof a->message, "unknown argument %.*s", VALUE_SHOWN,
                 a->list[n].name);
    }
    return !a->wrong;
}
